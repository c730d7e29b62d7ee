"""What ``semmetrics calibrate`` refuses; the golden cases have what it prints."""

from pathlib import Path

import pytest
from refusals import is_refusal

LISTS = ("preds.json", "gt.json")


@pytest.fixture
def place(tmp_path, monkeypatch):
    """The working directory, with lists and labelled pairs."""
    monkeypatch.chdir(tmp_path)
    for name in LISTS:
        Path(name).write_text('{"a": ["cat"], "b": ["dog"]}', encoding="utf-8")
    Path("pairs.csv").write_text("a,b,same\ncat,kitten,1\ncow,dog,0\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--pairs", "pairs.csv", "--seed", "3"), "not-applicable"),
        (("--pairs", "pairs.csv", "-o", "pairs.csv"), "output-is-input"),
        (("--pairs", "pairs.csv", "-o", "-"), "wrong-ending"),
        (("--pairs", "pairs.csv", "-o", "no/c.json"), "there is no such folder"),
        ((*LISTS, "--normalize", "x"), "x"),
        (("-", "-"), "stdin-twice"),
    ],
)
def test_calibrate_refuses(refused, place, arguments, message):
    before = sorted(path.name for path in place.iterdir())
    assert is_refusal(refused("calibrate", *arguments), message)
    assert sorted(path.name for path in place.iterdir()) == before
