"""``semmetrics calibrate``, ``semmetrics sweep`` and ``semmetrics score --calibration``."""

import json
from pathlib import Path

import pytest
from refusals import is_refusal

import semmetrics
from semmetrics import Calibration

VECTORS = {"cat": (4, 0), "kitten": (4, 1), "dog": (0, 4), "puppy": (1, 4), "cow": (3, 3)}
GT = {f"i{n}": [["kitten"], ["puppy"], ["cow", "dog"]][n % 3] for n in range(30)}
PREDS = {f"i{n}": [["cat"], ["dog"], ["cow"]][n % 3] for n in range(30)}
LISTS = ("preds.json", "gt.json")
WORDS = ("--embedding", "words.vec")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The working directory, with lists, word vectors and labelled pairs."""
    monkeypatch.chdir(tmp_path)
    for name, content in (("preds", PREDS), ("gt", GT)):
        Path(f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    lines = [f"{word} {x} {y}" for word, (x, y) in VECTORS.items()]
    Path("words.vec").write_text("\n".join(["5 2", *lines, ""]), encoding="utf-8")
    Path("pairs.csv").write_text(
        "a,b,same\ncat,kitten,1\ndog,puppy,1\ncat,dog,0\ncow,dog,0\ncow,kitten,0\n",
        encoding="utf-8",
    )
    return tmp_path


def test_calibrate_on_pairs(ok, place):
    text = ok("calibrate", "--pairs", "pairs.csv", *WORDS, "-o", "c.json")
    found = semmetrics.calibrate_threshold_on_pairs("pairs.csv", "words.vec")
    assert Calibration.load("c.json").to_dict() == found.to_dict()
    first, second, near, auc, *_ = text.splitlines()
    # one cut alone parts the pairs
    assert near == f"at least 95% of that from {found.threshold:.4f} to {found.threshold:.4f}"
    assert first == f"threshold {found.threshold!r} for {found.embedding}"
    assert (second, auc) == ("pairs, f1: 1.0000 on 5 pairs", "AUC 1.0000")
    assert text.count("*") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pairs", "pairs.csv", *LISTS), "conflicting-options"),
        (("--pairs", "pairs.csv", "--seed", "3"), "not-applicable"),
        (("--pairs", "none.csv"), "missing-file"),
        (("--pairs", "pairs.csv", "-o", "pairs.csv"), "output-is-input"),
        (("--pairs", "pairs.csv", "-o", "-"), "wrong-ending"),
        (("--pairs", "pairs.csv", "-o", "no/c.json"), "there is no such folder"),
        (("preds.json",), "UsageError"),
        ((*LISTS, "--criterion", "f1"), "not-applicable"),
        ((*LISTS, "--holdout", "2"), "bad-option"),
        ((*LISTS, "-m", "F1"), "no-threshold"),
        ((*LISTS, "--normalize", "x"), "x"),
        (("-", "-"), "stdin-twice"),
    ],
)
def test_calibrate_refuses(refused, place, arguments, message):
    before = sorted(path.name for path in place.iterdir())
    assert is_refusal(refused("calibrate", *arguments), message)
    assert sorted(path.name for path in place.iterdir()) == before


@pytest.mark.parametrize("name", ["sweep", "calibrate"])
def test_help(ok, name):
    text = ok(name, "--help")
    assert "Examples:\n  " in text
    assert f"semmetrics {name}" in text
    assert f"  {name} " in ok("--help")
