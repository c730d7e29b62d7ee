"""Pages of the documentation that list options, keys and public names."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import semmetrics
from semmetrics import metrics, plots, scale, studies, text

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_options_is_up_to_date():
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)

    page = generator.PAGE.read_text(encoding="utf-8")

    assert page == generator.page(), "run: python docs/generate.py"


def test_the_generator_imports_the_package_next_to_it(tmp_path):
    # given a copy of the generator next to another package
    (tmp_path / "docs").mkdir()
    generator = shutil.copy(DOCS / "generate.py", tmp_path / "docs")
    package = tmp_path / "semmetrics"
    package.mkdir()
    (package / "__init__.py").write_text("raise SystemExit('the neighbour')")

    # when
    process = subprocess.run(
        [sys.executable, generator], capture_output=True, encoding="utf-8", check=False
    )

    # then
    assert process.stderr.strip() == "the neighbour"


def test_each_key_of_scores_in_json_is_explained():
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    _, _, section = page.partition("Values have full precision")
    first_cells = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)

    keys = re.findall(r"`(\w+)`", " ".join(first_cells))

    (score,) = semmetrics.score({"a": ["cat"]}, {"a": ["cat"]}, measures="F1")
    assert sorted(keys) == sorted(score.to_dict())


def test_each_public_name_has_a_page():
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")

    listed = re.findall(r"^ +semmetrics\.(?:\S+\.)?(\w+)$", page, re.MULTILINE)

    public = set()
    for module in (semmetrics, metrics, plots, scale, studies, text):
        public.update(module.__all__)
    assert public - {"__version__"} <= set(listed)
