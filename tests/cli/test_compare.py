"""The command ``compare``, and what ``rank`` says of several data sets."""

import json
from pathlib import Path

import semmetrics


def test_compare_is_what_python_gives(ok, files):
    found = json.loads(
        ok(
            "compare",
            "-m",
            "F1 MicroF1",
            "--resamples",
            50,
            "--seed",
            4,
            "--level",
            0.9,
            "--format",
            "json",
            "a.json",
            "b.json",
            "gt.json",
        )
    )
    expected = semmetrics.compare(
        {"a": "a.json", "b": "b.json"},
        "gt.json",
        measures="F1 MicroF1",
        resamples=50,
        seed=4,
        level=0.9,
    )
    assert found["differences"] == expected.to_dicts()
    assert found["understood"] == expected.understood


def test_references_go_last_and_are_no_system(refused, files):
    Path("b.json").write_text(
        Path("captions.json").read_text(encoding="utf-8"), encoding="utf-8"
    )
    said = refused(
        "compare", "-m", "BLEU-1", "references.json", "b.json", "captions.json"
    )
    assert said.code == "references-as-system"
    said = refused(
        "compare",
        "-m",
        "BLEU-1",
        "--score-references",
        "captions.json",
        "b.json",
        "references.json",
    )
    assert said.code == "UsageError"


def test_rank_of_files_that_hold_no_scores(ok, refused, files):
    ok("score", "-m", "F1", "--format", "csv", "-o", "scores.csv", "a.json", "gt.json")
    assert refused("rank", "scores.csv").code == "not-scores"


def test_rank_takes_the_only_measure_and_asks_which_of_several(ok, refused, files):
    for name, measures in (
        ("one", "Recall"),
        ("two", "F1 Recall"),
        ("default", "F1 O-F1"),
    ):
        ok(
            "score",
            "-m",
            measures,
            "--format",
            "json",
            "-o",
            f"{name}.json",
            "a.json",
            "b.json",
            "gt.json",
        )
    assert ok("rank", "one.json", "two.json") == ok(
        "rank", "-m", "Recall", "one.json", "two.json"
    )
    assert ok("rank", "default.json") == ok("rank", "-m", "O-F1", "default.json")
    for given in (["two.json", "one.json"], ["two.json"]):
        said = refused("rank", *given)
        assert (said.code, "F1, Recall" in said) == ("needs-option", True)


def test_rank_asks_for_the_file_of_a_measure_of_ones_own(ok, refused, files):
    Path("own.py").write_text(
        "import semmetrics\n\n@semmetrics.measure(bounds=(0, 9), higher_is_better=False)\n"
        "def MissedHere(hit, n_ref):\n    return n_ref - hit\n",
        encoding="utf-8",
    )
    from semmetrics.metrics import registry

    ok(
        "score",
        "--import",
        "own.py",
        "-m",
        "MissedHere",
        "--format",
        "json",
        "-o",
        "own.json",
        "a.json",
        "b.json",
        "gt.json",
    )
    known = ok(
        "rank", "-m", "MissedHere", "--by", "rank", "--import", "own.py", "own.json"
    )
    registry.forget(registry.find("MissedHere")[0])
    said = refused("rank", "-m", "MissedHere", "--by", "rank", "own.json")
    assert said.code == "unknown-direction"
    values = [float(line.split()[-1]) for line in known.splitlines()[1:3]]
    assert values == sorted(values)
