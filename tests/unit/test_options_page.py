"""The pages of docs that list what the code declares."""

import importlib.util
import re
from pathlib import Path

import semmetrics
from semmetrics import metrics, plots, scale, studies, text

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_of_options_is_that_of_the_tables():
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    assert made.page() == made.PAGE.read_text(encoding="utf-8"), (
        "run: python docs/generate.py"
    )


def test_every_key_of_scores_as_json_is_a_row():
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    section = page.partition("Values have full precision")[2]
    heads = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    listed = [key for head in heads for key in re.findall(r"`(\w+)`", head)]
    (found,) = semmetrics.score(
        {"a": ["cat"]}, {"a": ["cat"]}, measures="F1"
    ).to_dicts()
    assert sorted(listed) == sorted(found)


def test_every_public_name_has_a_page():
    page = (DOCS / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"^ +semmetrics\.(?:\S+\.)?(\w+)$", page, re.MULTILINE)
    rooms = (semmetrics, metrics, plots, scale, studies, text)
    public = {name for room in rooms for name in room.__all__}
    assert public - {"__version__"} <= {*listed}
