"""``--import`` loads own measures from a Python file."""

import sys
from pathlib import Path

import pytest

import semmetrics
from semmetrics.metrics.registry import all_definitions, forget, is_own

OWN_MEASURE = '''\
import semmetrics
from semmetrics.metrics.formulas import divide


@semmetrics.measure
def MyMeasure(hit, n_ref):
    """Hits over references."""
    return divide(hit, n_ref)
'''
# Without a decorator, for which Python 3.10 reports another line.
NAME_OF_A_MEASURE = """\
from semmetrics import measure
f = lambda hit: hit
measure(f, name='F1')
"""


@pytest.fixture(autouse=True)
def _forget_measures():
    yield
    for definition in all_definitions():
        if is_own(definition) and definition.name in ("MyMeasure", "Wrong"):
            forget(definition)
    for name in list(sys.modules):
        if name.startswith("semmetrics_import_"):
            del sys.modules[name]


@pytest.fixture
def own_file(files):
    """Write a file with a measure."""
    Path("own.py").write_text(OWN_MEASURE, encoding="utf-8")


def test_a_measure_of_a_file_is_scored(own_file, scores):
    own, recall = scores("score --import own.py -m 'MyMeasure Recall' a.json gt.json")

    assert own["value"] == recall["value"]


def test_the_signature_has_a_digest_of_the_file(own_file, scores):
    own, recall = scores("score --import own.py -m 'MyMeasure Recall' a.json gt.json")

    assert "|own:" in own["signature"]
    assert "own:" not in recall["signature"]
    table = semmetrics.score("a.json", "gt.json", measures="MyMeasure")
    assert table[0].signature == own["signature"]


@pytest.mark.parametrize("command", ["list measures", "explain MyMeasure"])
def test_a_measure_of_a_file_is_listed_and_explained(own_file, ok, command):
    assert "Hits over references." in ok(f"{command} --import own.py")


@pytest.mark.parametrize("command", ["sweep", "calibrate", "rank", "pairs"])
def test_commands_with_measures_import_files(ok, command):
    assert "--import FILE.py" in ok(f"{command} --help")


@pytest.mark.parametrize("command", ["score a.json gt.json", "list"])
@pytest.mark.parametrize(
    ("name", "text", "code", "place"),
    [
        ("fails.py", "x = 1\ny = x / 0\n", "own-code-failed", "fails.py, line 2"),
        ("syntax.py", "x = 1\ndef f(:\n", "own-code-failed", "syntax.py, line 2"),
        ("exits.py", "raise SystemExit(0)\n", "own-code-failed", "exits.py, line 1"),
        ("notes.txt", OWN_MEASURE, "wrong-format", "notes.txt"),
        ("taken.py", NAME_OF_A_MEASURE, "name-taken", "taken.py, line 3"),
    ],
)
def test_an_error_in_the_file_names_its_line(
    files, refused, command, name, text, code, place
):
    Path(name).write_text(text, encoding="utf-8")

    refusal = refused(f"{command} --import {name}")

    assert (refusal.code, refusal.where) == (code, place)


def test_an_error_in_a_formula_is_an_error_of_the_file(files, refused):
    text = OWN_MEASURE.replace("MyMeasure", "Wrong")
    text = text.replace("divide(hit, n_ref)", "hit / nothing")
    Path("wrong.py").write_text(text, encoding="utf-8")

    refusal = refused("score --import wrong.py -m Wrong a.json gt.json")

    assert refusal.code == "own-code-failed"


def test_a_missing_file_is_an_error(refused):
    assert refused("list --import no.py").code == "missing-file"


def test_a_measure_of_a_file_is_unknown_without_the_option(own_file, refused):
    assert refused("score -m MyMeasure a.json gt.json").code == "unknown-name"
