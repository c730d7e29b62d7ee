"""The command meta: what it prints, its formats, and the same values as from Python."""

import csv
import io
import json
from pathlib import Path

import pytest

import semmetrics

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "agreement"
RATINGS, PAIRS = FOLDER / "ratings.json", FOLDER / "preferences.jsonl"
QUICK = ("--resamples", "50", "-m", "ROUGE-L BLEU-1")


def test_protocols_are_listed(ok):
    said = ok("list", "protocols")
    assert "Protocols of agreement with people (semmetrics meta --protocol)" in said
    assert "  flickr8k-expert  Flickr8k-Expert: ratings from 1 to 4" in said


def test_it_prints_what_python_has(run):
    done = run("meta", *QUICK, "--statistics", "kendall-c,pearson", "--format", "json", RATINGS)
    found = semmetrics.meta(
        RATINGS, measures="ROUGE-L BLEU-1", statistics="kendall-c,pearson", resamples=50
    )
    assert json.loads(done.stdout) == found.to_dicts()
    assert "36 ratings, 18 captions, 6 images" in done.stderr
    rows = list(csv.DictReader(io.StringIO(run("meta", *QUICK, "--format", "csv", PAIRS).stdout)))
    assert [row["statistic"] for row in rows] == ["accuracy"] * 2
    assert rows[0]["n"] == "11"


def test_the_table_says_variant_aggregation_and_n(run):
    done = run("meta", *QUICK, "--protocol", "flickr8k-expert", "--percent", "--quiet", RATINGS)
    assert done.stderr == ""
    assert "Kendall's tau-c: 36 ratings of 18 candidates of 6 images, unaggregated; protocol " in (
        done.stdout
    )
    assert "resamples of images" in done.stdout
    mean = run("meta", *QUICK, "--aggregate", "mean", "--format", "markdown", RATINGS)
    assert "| ROUGE-L | kendall-b | 18 |" in mean.stdout


def test_signatures_and_sentences(run):
    command = ("meta", *QUICK, "--statistics", "kendall-b,pearson", "--show-signatures", RATINGS)
    rows = json.loads(run(*command, "--format", "json").stdout)
    drawn = [[row["heading"], row["statistic"], row["signature"]] for row in rows]
    table = run(*command).stdout.splitlines()
    assert [line.split() for line in table[-4:]] == drawn
    told = run(*command, "--quiet", "--format", "markdown").stderr.splitlines()
    assert [line.split()[1:] for line in told] == drawn
    said = run("meta", *QUICK, "--format", "csv", RATINGS).stderr
    assert "unaggregated" in said
    assert "no difference from ROUGE-L holds" in said


def test_ratings_of_ids(run, tmp_path):
    (tmp_path / "r.csv").write_text("image name,stars\n1.jpg,5\n2.jpg,1\n3.jpg,4\n")
    sides = {"p": {"1": ["cat"], "2": ["dog", "bus"], "3": ["cow", "car"]},
             "g": {"1": ["cat"], "2": ["house"], "3": ["cow"]}}  # fmt: skip
    for name, value in sides.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value))
    files = [tmp_path / name for name in ("r.csv", "p.json", "g.json")]
    done = run("meta", "-m", "F1", "--columns", "id=image name,rating=stars", "--ids", r"\d+",
               "--statistics", "all", *files)  # fmt: skip
    assert "3 ratings of 3 candidates of 3 images" in done.stdout
    assert done.stdout.count("F1 ") == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--columns", "rating"], "--columns rating: not a valid"),
        (["--statistics", "tau"], "--statistics 'tau'"),
        (["--test", "williams", "--statistics", "spearman"], "--test 'williams'"),
        (["--baseline", "CIDEr"], "no baseline 'CIDEr'"),
    ],
)
def test_what_is_refused(run, words, message):
    done = run("meta", *QUICK, *words, RATINGS)
    assert done.exit_code == 2
    assert message in done.stderr


def test_two_files_are_one_too_few(run):
    done = run("meta", *QUICK, RATINGS, PAIRS)
    assert done.exit_code == 2
    assert "name PRED and GT, or neither" in done.stderr
