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
    assert "paired bootstrap test, two-sided; 50 resamples, seed 12345; p corrected by Holm" in text
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
    assert "at least two systems" in refused("compare", "-m", "F1", "a.json", "gt.json")
    assert "no system 'z'" in refused("compare", "--baseline", "z", "a.json", "b.json", "gt.json")
    assert "no mean over items" in refused(
        "compare", "-m", "MicroF1", "--test", "t", "a.json", "b.json", "gt.json"
    )
    assert "overwrite" in refused("compare", "-o", "a.json", "a.json", "b.json", "gt.json")
    assert "name files of predictions" in refused("compare", "gt.json")


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
    assert "end the name with .svg" in refused("rank", "--diagram", "ranks.png", *five)
    assert "no data set 'x'" in refused("rank", "--differences", "x", "set0", *five)
    assert "overwrite" in refused("rank", "--diagram", "set0.json", *five)
