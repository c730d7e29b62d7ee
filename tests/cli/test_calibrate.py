"""``semmetrics calibrate``, ``semmetrics sweep`` and ``semmetrics score --calibration``."""

import csv
import io
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


def test_what_is_not_known_is_said(run, place):
    with Path("pairs.csv").open("a", encoding="utf-8") as file:
        file.write("emu,cat,0\n")
    result = run("calibrate", "--pairs", "pairs.csv", *WORDS)
    assert "unknown to words-2@" in result.stderr
    Path("preds.json").write_text(json.dumps({**PREDS, "i0": ["emu"]}), encoding="utf-8")
    result = run("calibrate", *LISTS, *WORDS, "--holdout", "1")
    assert "unknown to words-2@" in result.stderr
    assert "unknown" not in run("calibrate", "-q", *LISTS, *WORDS, "--holdout", "1").stderr


def test_an_embedding_that_nothing_uses_is_said(run, refused, place):
    named = ("--embedding", "w=words.vec", *WORDS)
    line = "1 embedding not used by any measure here: 'w'"
    for command in (("sweep", "--thresholds", "0.4"), ("calibrate", "--holdout", "1")):
        assert line in run(*command, *LISTS, *named).stderr
        assert line not in run(*command, *LISTS, *named, "-m", "SemF1(embedding=w)").stderr
    message = refused("calibrate", "--pairs", "pairs.csv", "--embedding", "w=words.vec")
    assert "--embedding ['w']; give one embedding without a name" in message


def test_options_of_pairs(ok, place):
    arguments = ("--criterion", "youden", "--oov", "skip", "--normalize", "lower")
    text = ok("calibrate", "--pairs", "pairs.csv", *WORDS, *arguments, "--format", "json")
    assert (
        json.loads(text)
        == semmetrics.calibrate_threshold_on_pairs(
            "pairs.csv", "words.vec", criterion="youden", oov="skip", normalize="lower"
        ).to_dict()
    )


def test_calibrate_on_data(run, place):
    arguments = ("--holdout", "0.6", "--seed", "5", "--thresholds", "0:1:0.1", "-m", "SemRecall")
    result = run("calibrate", *LISTS, *WORDS, *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout) == semmetrics.calibrate_threshold(
        PREDS, GT, embedding="words.vec", holdout=0.6, seed=5, thresholds="0:1:0.1",
        measure="SemRecall",
    ).to_dict()  # fmt: skip
    assert "read preds.json: JSON" in result.stderr
    assert "the calibration is not saved; give -o FILE" in result.stderr
    quiet = run("calibrate", *LISTS, *WORDS, *arguments, "-q", "-o", "c.json")
    assert quiet.stderr == ""
    assert quiet.stdout.splitlines()[1].startswith("contrast, SemRecall: ")


def test_a_calibration_is_used_and_named(run, ok, place):
    ok("calibrate", *LISTS, *WORDS, "-o", "c.json", "--holdout", "0.5")
    found = Calibration.load("c.json")
    result = run("score", "-m", "SemF1", *WORDS, "--calibration", "c.json", *LISTS, "--format",
                 "json")  # fmt: skip
    (score,) = json.loads(result.stdout)
    assert f"|thr:{found.threshold!r}|" in score["signature"]
    assert f"|{found.note}|" in score["signature"]
    told = f"{found.n} of 30 scored items also calibrated the threshold"
    assert told in result.stderr
    again = run("score", "--rescore", score["signature"], *WORDS, *LISTS, "--format", "json")
    assert again.exit_code == 0, again.stderr
    assert json.loads(again.stdout)[0]["value"] == score["value"]
    assert "warning" not in again.stderr


def test_calibrations_that_do_not_fit(ok, refused, place):
    ok("calibrate", *LISTS, *WORDS, "-o", "c.json", "--holdout", "0.5")
    use = ("--calibration", "c.json")
    assert refused("score", "-m", "SemF1", *use, *LISTS).code == "other-embedding"
    assert refused("score", "--calibration", "gt.json", *LISTS).code == "not-a-calibration"
    assert "--calibration is part of the signature" in refused(
        "score", "--rescore", "F1|avg:example|n:3|data:00ff|v:0.1.0", *use, *LISTS
    )
    assert refused("score", *use, "-o", "c.json", *LISTS).code == "output-is-input"


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
        ((*LISTS, "--criterion", "f1"), "needs-option"),
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


def test_sweep(ok, place):
    arguments = ("sweep", *LISTS, *WORDS, "--thresholds", "0:1:0.25", "--measure",
                 "SemF1 SemRecall(match=any)", "--top-k", "1")  # fmt: skip
    found = semmetrics.sweep(
        PREDS, GT, measures=["SemF1", "SemRecall(match=any)"], thresholds="0:1:0.25", top_k=1,
        embedding="words.vec", system="preds",
    )  # fmt: skip
    assert ok(*arguments).strip() == found.to_text().strip()
    assert json.loads(ok(*arguments, "--format", "json")) == found.to_dict()
    assert ok(*arguments, "--format", "csv", "-o", "out.csv") == ""
    text = Path("out.csv").read_text(encoding="utf-8")
    assert text == found.to_csv()
    rows = list(csv.reader(io.StringIO(text)))
    assert [float(row[0]) for row in rows[1:]] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert len(ok("sweep", *LISTS, *WORDS, "--format", "csv").splitlines()) == 102


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-m", "F1"), "no-threshold"),
        (("-m", " "), "nothing-given"),
        (("--thresholds", "0:1"), "gives no thresholds"),
        (("-o", "gt.json"), "output-is-input"),
        (("--embedding", "none.vec"), "none.vec"),
    ],
)
def test_sweep_refuses(refused, place, arguments, message):
    assert is_refusal(refused("sweep", *LISTS, *arguments), message)
    assert json.loads(Path("gt.json").read_text(encoding="utf-8")) == GT


@pytest.mark.parametrize("name", ["sweep", "calibrate"])
def test_help(ok, name):
    text = ok(name, "--help")
    assert "Examples:\n  " in text
    assert f"semmetrics {name}" in text
    assert f"  {name} " in ok("--help")
