"""``--import``: measures of one's own from a Python file, on the command line."""

import json
import sys
from pathlib import Path

import pytest

import semmetrics
from semmetrics.metrics.registry import all_definitions, forget, is_own

OWN = '''\
import semmetrics
from semmetrics.metrics.formulas import divide


@semmetrics.measure
def MyMeasure(hit, n_ref):
    """Hits over references."""
    return divide(hit, n_ref)
'''
BROKEN = {
    "fails.py": ("x = 1\ny = x / 0\n", "own-code-failed", "fails.py, line 2"),
    "syntax.py": ("x = 1\ndef f(:\n", "own-code-failed", "syntax.py, line 2"),
    "leaves.py": ("raise SystemExit(0)\n", "own-code-failed", "leaves.py, line 1"),
    "notes.txt": (OWN, "wrong-format", "notes.txt"),
    # without @, to which Python 3.10 gives the line of def
    "taken.py": (
        "from semmetrics import measure\nf = lambda hit: hit\nmeasure(f, name='F1')\n",
        "name-taken",
        "taken.py, line 3",
    ),
}


@pytest.fixture(autouse=True)
def _forget():
    yield
    for definition in all_definitions():
        if is_own(definition) and definition.name in ("MyMeasure", "Wrong"):
            forget(definition)
    for name in [name for name in sys.modules if name.startswith("semmetrics_import_")]:
        del sys.modules[name]


@pytest.fixture
def own(files):
    Path("my_metrics.py").write_text(OWN, encoding="utf-8")
    return files / "my_metrics.py"


def test_a_measure_of_a_file_is_scored_and_signed(own, ok):
    text = ok(
        "score",
        "--import",
        "my_metrics.py",
        "-m",
        "MyMeasure Recall",
        "--format",
        "json",
        "a.json",
        "gt.json",
    )
    mine, recall = json.loads(text)["scores"]
    assert mine["value"] == recall["value"]
    assert "|own:" in mine["signature"]
    assert "own:" not in recall["signature"]
    table = semmetrics.score("a.json", "gt.json", measures="MyMeasure")
    assert table[0].signature == mine["signature"]


def test_other_commands_know_it(own, ok):
    assert "Hits over references." in ok("list", "measures", "--import", own)
    assert "MyMeasure: Hits over references." in ok(
        "explain", "MyMeasure", "--import", own
    )
    assert ok("cite", "MyMeasure", "--import", own).strip() == ""
    for name in ("sweep", "calibrate", "rank", "pairs"):
        assert "--import FILE.py" in ok(name, "--help")


@pytest.mark.parametrize("name", BROKEN)
def test_errors_of_the_file_are_shown_with_its_name_and_line(files, refused, name):
    text, code, where = BROKEN[name]
    Path(name).write_text(text, encoding="utf-8")
    for words in (("score", "a.json", "gt.json"), ("list",)):
        refusal = refused(*words, "--import", name)
        assert (refusal.code, refusal.where) == (code, where)


def test_an_error_of_the_formula_is_shown_with_its_name_and_line(files, refused):
    Path("wrong.py").write_text(
        OWN.replace("MyMeasure", "Wrong").replace(
            "divide(hit, n_ref)", "hit / nothing"
        ),
        encoding="utf-8",
    )
    text = refused("score", "--import", "wrong.py", "-m", "Wrong", "a.json", "gt.json")
    assert text.code == "own-code-failed"


def test_a_file_that_is_not_there_or_not_named_is_not_run(own, refused):
    assert refused("list", "--import", "no.py").code == "missing-file"
    assert (
        refused("score", "-m", "MyMeasure", "a.json", "gt.json").code == "unknown-name"
    )
