"""The command ``compare``, and what ``rank`` says of several data sets."""

import csv
import io
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from cli.test_commands import written

import semmetrics
from semmetrics.options import CORRECTIONS, TESTS


def test_compare_is_what_python_gives(ok, files):
    found = json.loads(
        ok("compare", "-m", "F1 MicroF1", "--resamples", 50, "--seed", 4, "--level", 0.9,
           "--format", "json", "a.json", "b.json", "gt.json")
    )  # fmt: skip
    expected = semmetrics.compare(
        {"a": "a.json", "b": "b.json"}, "gt.json", measures="F1 MicroF1", resamples=50, seed=4,
        level=0.9,
    )  # fmt: skip
    assert found == expected.to_dicts()
    assert {entry["schema"] for entry in found} == {"semmetrics.comparison/1"}
    text = ok("compare", "-m", "F1 MicroF1", "--resamples", 50, "a.json", "b.json", "gt.json")
    assert "p by the interval of the difference (jackknife), two-sided; p corrected by Holm" in text
    default = json.loads(
        ok("compare", "-m", "F1", "--format", "json", "a.json", "b.json", "gt.json")
    )
    assert default[0]["resamples"] == 10_000


@pytest.mark.parametrize("test", TESTS)
def test_every_test_is_an_option(ok, files, test):
    command = ("compare", "-m", "F1", "--resamples", 20, "--test", test, "--format", "json")
    (entry,) = json.loads(ok(*command, "a.json", "b.json", "gt.json"))
    assert (entry["test"], entry["system"], entry["baseline"]) == (test, "b", "a")
    (turned,) = json.loads(ok(*command, "--baseline", "b", "a.json", "b.json", "gt.json"))
    assert (turned["system"], turned["baseline"]) == ("a", "b")
    assert turned["difference"] == -entry["difference"]


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_every_correction_is_an_option(ok, files, correction):
    text = ok("compare", "-m", "F1 Recall", "--resamples", 20, "--correction", correction, "-q",
              "a.json", "b.json", "gt.json")  # fmt: skip
    assert (CORRECTIONS[correction] or "not corrected") in text


def test_what_is_written_and_what_is_said(run, files):
    command = ("compare", "-m", "F1", "--resamples", 20, "--ranks", "--differing", 1)
    result = run(*command, "--format", "csv", "-o", "out.csv", "a.json", "b.json", "gt.json")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "ranks by F1" in result.stderr
    assert "F1: b less a" in result.stderr
    (row,) = csv.DictReader(io.StringIO(Path("out.csv").read_text(encoding="utf-8")))
    assert float(row["difference"]) == pytest.approx(
        float(row["value"]) - float(row["baseline_value"])
    )
    quiet = run(*command, "-q", "--percent", "a.json", "b.json", "gt.json")
    assert quiet.stderr == ""
    assert "ranks by F1" in quiet.stdout
    assert "\n\nF1: b less a\n" in quiet.stdout


def test_compare_refuses(refused, files):
    assert refused("compare", "-m", "F1", "a.json", "gt.json").code == "too-few-compared"
    assert (
        refused("compare", "--baseline", "z", "a.json", "b.json", "gt.json").code == "unknown-name"
    )
    assert (
        refused("compare", "-m", "MicroF1", "--test", "t", "a.json", "b.json", "gt.json").code
        == "test-does-not-fit"
    )
    assert (
        refused("compare", "-o", "a.json", "a.json", "b.json", "gt.json").code == "output-is-input"
    )
    assert refused("compare", "gt.json").code == "UsageError"


@pytest.fixture
def five(files):
    return [
        written(f"set{n}.json", {"A": 0.9 - n / 50, "B": 0.7, "C": 0.4 + n / 50})
        for n in range(5)
    ]  # fmt: skip


def test_rank_tests_its_ranks(run, ok, five):
    text = ok("rank", *five)
    assert "data sets at rank  1  2  3" in text
    assert "Friedman test of 3 systems over 5 data sets: chi2 = 10.00" in text
    assert "more than 1.48 apart (Nemenyi, level 0.95)" in text
    assert "not told apart: A, B; B, C" in text
    assert "more than 1.30 apart" in ok("rank", "--level", 0.9, *five)
    beside = run("rank", "--format", "csv", *five)
    assert "Friedman" in beside.stderr
    assert "Friedman" not in beside.stdout
    assert run("rank", "-q", "--format", "csv", *five).stderr == ""
    entry = json.loads(ok("rank", "--by", "rank", "--format", "json", *five))[0]
    assert (entry["system"], entry["mean_rank"], entry["by"]) == ("A", 1.0, "rank")


def test_rank_differences_and_the_diagram(ok, refused, five):
    text = ok("rank", "--differences", "set0", "set4", *five).splitlines()
    assert text[0].split() == ["system", "set0", "rank", "on", "set0", "set4", "rank", "on",
                               "set4", "difference"]  # fmt: skip
    assert [line.split()[-1] for line in text[1:]] == ["0", "0", "0"]
    ok("rank", "--diagram", "ranks.svg", *five)
    assert ET.fromstring(Path("ranks.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    assert refused("rank", "--diagram", "ranks.png", *five).code == "wrong-ending"
    assert refused("rank", "--differences", "x", "set0", *five).code == "unknown-name"
    assert refused("rank", "--diagram", "set0.json", *five).code == "output-is-input"


def test_zero_is_a_value(ok, refused, files):
    (entry,) = json.loads(ok("compare", "-m", "F1", "--seed", 0, "--resamples", 20, "--format",
                             "json", "a.json", "b.json", "gt.json"))  # fmt: skip
    assert entry["seed"] == 0
    text = ok("score", "-m", "F1", "--ci", "--seed", 0, "--show-signatures", "a.json", "gt.json")
    assert "|ci:wilson,0.95,1000,0|" in text
    for command in ("compare", "score"):
        more = ["--ci"] if command == "score" else ["b.json"]
        said = refused(command, "-m", "F1", "--resamples", 0, "a.json", *more, "gt.json")
        assert said.code == "bad-option"


def test_what_was_asked_for_is_said_quietly_too(run, files):
    result = run("compare", "-q", "-m", "F1", "--resamples", 20, "--ranks", "--differing", 1,
                 "--format", "csv", "a.json", "b.json", "gt.json")  # fmt: skip
    assert "ranks by F1" in result.stderr
    assert "F1: b less a" in result.stderr
    assert "resamples, seed" not in result.stderr
    result = run("score", "-q", "-m", "F1", "--worst", 1, "--format", "csv", "a.json", "gt.json")
    assert "lowest F1" in result.stderr
    assert "read a.json" not in result.stderr


def test_signatures_are_shown(ok, run, files):
    command = ("-m", "F1 Recall", "--resamples", 20, "--show-signatures", "a.json", "b.json")
    entries = json.loads(ok("compare", *command, "gt.json", "--format", "json"))
    text = ok("compare", *command, "gt.json")
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ["F1", "Recall"]
    assert [line.split()[-1] for line in text.splitlines()[-2:]] == [
        entry["signature"] for entry in entries
    ]
    told = run("compare", "-q", *command, "gt.json", "--format", "markdown")
    assert [line.split()[-1] for line in told.stderr.splitlines()] == [
        entry["signature"] for entry in entries
    ]
    Path("c.json").write_bytes(Path("b.json").read_bytes())
    several = ok("compare", *command, "c.json", "gt.json").splitlines()[-4:]
    assert [tuple(line.split()[:2]) for line in several] == [
        (system, measure) for system in ("b", "c") for measure in ("F1", "Recall")
    ]


def test_references_go_last_and_are_no_system(refused, files):
    Path("b.json").write_text(Path("captions.json").read_text(encoding="utf-8"), encoding="utf-8")
    said = refused("compare", "-m", "BLEU-1", "references.json", "b.json", "captions.json")
    assert said.code == "references-as-system"
    said = refused("compare", "-m", "BLEU-1", "--score-references", "captions.json", "b.json",
                   "references.json")  # fmt: skip
    assert said.code == "UsageError"


def test_rank_names_what_it_leaves_out(run, files):
    written("first.json", {"s": 0.5, "t": 0.25, "u": 0.75}, "F1")
    written("second.json", {"s": 0.5, "t": 0.25}, "F1")
    result = run("rank", "-m", "F1", "--differences", "first", "second", "first.json",
                 "second.json")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "not on both data sets, and left out: u" in result.stderr
    result = run("rank", "-m", "F1", "--by", "rank", "--format", "json", "-q", "first.json")
    (best, *_) = json.loads(result.stdout)
    assert (best["system"], best["values"]) == ("u", {"first": 0.75})


def test_rank_of_files_that_hold_no_scores(ok, refused, files):
    ok("score", "--runs", "-m", "F1", "--format", "json", "-o", "runs.json", "a.json", "b.json",
       "gt.json")  # fmt: skip
    assert refused("rank", "runs.json").code == "not-scores"
    ok("score", "-m", "F1", "--format", "csv", "-o", "scores.csv", "a.json", "gt.json")
    assert refused("rank", "scores.csv").code == "not-scores"


def test_rank_asks_for_the_file_of_a_measure_of_ones_own(ok, refused, files):
    Path("own.py").write_text(
        "import semmetrics\n\n@semmetrics.measure(bounds=(0, 9), higher_is_better=False)\n"
        "def MissedHere(hit, n_ref):\n    return n_ref - hit\n",
        encoding="utf-8",
    )
    from semmetrics.metrics import registry

    ok("score", "--import", "own.py", "-m", "MissedHere", "--format", "json", "-o", "own.json",
       "a.json", "b.json", "gt.json")  # fmt: skip
    known = ok("rank", "-m", "MissedHere", "--by", "rank", "--import", "own.py", "own.json")
    registry.forget(registry.find("MissedHere")[0])
    said = refused("rank", "-m", "MissedHere", "--by", "rank", "own.json")
    assert said.code == "unknown-direction"
    values = [float(line.split()[-1]) for line in known.splitlines()[1:3]]
    assert values == sorted(values)


def test_one_run_has_no_standard_deviation(run, files):
    result = run("score", "--runs", "-m", "F1", "a.json", "gt.json")
    assert "of 1 run\n" in result.stdout
    assert "one run has no standard deviation" in result.stderr
