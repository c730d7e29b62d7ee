"""``semmetrics compare`` and ``semmetrics rank``."""

import json
from pathlib import Path

import pytest

import semmetrics
from semmetrics.metrics import registry


def test_a_comparison_equals_the_one_of_python(ok, files):
    text = ok(
        "compare -m 'F1 MicroF1' --resamples 50 --seed 4 --level 0.9 --format json "
        "a.json b.json gt.json"
    )

    expected = semmetrics.compare(
        {"a": "a.json", "b": "b.json"},
        "gt.json",
        measures="F1 MicroF1",
        resamples=50,
        seed=4,
        level=0.9,
    )
    assert json.loads(text)["differences"] == expected.to_dicts()
    assert json.loads(text)["understood"] == expected.understood


def test_references_in_place_of_a_system_are_an_error(refused, files):
    refusal = refused("compare -m BLEU-1 references.json captions.json captions.json")

    assert refusal.code == "references-as-system"


def test_a_comparison_has_no_option_for_references_as_a_system(refused, files):
    refusal = refused(
        "compare -m BLEU-1 --score-references captions.json captions.json references.json"
    )

    assert refusal.code == "UsageError"


def test_a_system_with_other_items_is_named(refused, files):
    Path("few.json").write_text('{"1": ["cat"], "2": ["dog"]}', encoding="utf-8")

    refusal = refused("compare --missing skip -m F1 a.json few.json gt.json")

    assert refusal.code == "unlike-items"


@pytest.fixture
def streams(tmp_path, monkeypatch):
    """Work in a folder with JSON lines of a complete system, a shorter one and the truth."""
    monkeypatch.chdir(tmp_path)
    labels = {"a": ["cat"], "b": ["dog"], "c": ["cow"]}
    for name, ids in (("full", "abc"), ("short", "a"), ("gt", "abc")):
        lines = [json.dumps({"id": id_, "labels": labels[id_]}) for id_ in ids]
        Path(f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "code", "place", "fix"),
    [
        ("", "missing-ids", "", "--missing common without --stream to leave them out"),
        (
            "--missing skip",
            "scored-on-other-items",
            "short",
            "(without --stream and states), and set --missing common",
        ),
        (
            "--missing common",
            "needs-all-items",
            "",
            "in one call (without --stream,",
        ),
    ],
)
def test_missing_items_of_a_streamed_system_are_an_error_with_an_option_that_helps(
    refused, streams, options, code, place, fix
):
    refusal = refused(
        f"compare -m F1 --stream {options} full.jsonl short.jsonl gt.jsonl"
    )

    assert refusal.code == code
    assert refusal.where == place
    assert fix in refusal


def test_states_of_systems_with_other_items_are_an_error_with_their_numbers(
    ok, refused, streams
):
    for name in ("full", "short"):
        ok(
            f"score -m F1 --ci --stream --missing skip --state {name}.state "
            f"{name}.jsonl gt.jsonl"
        )

    refusal = refused("compare full.state short.state")

    assert refusal.code == "scored-on-other-items"
    assert refusal.startswith("semmetrics: error: short: ")
    assert "differ from full (1 item here, 3 there)" in refusal


def test_a_note_on_merged_systems_with_other_items_names_options_that_help(
    ok, run, streams
):
    for name in ("full", "short"):
        ok(
            f"score -m F1 --stream --missing skip --state {name}.state "
            f"{name}.jsonl gt.jsonl"
        )

    result = run("merge full.state short.state")

    assert "set --missing common, and score all systems in one call" in result.stderr
    assert "short: 2 items without a prediction, left out" in result.stderr


def test_merged_states_with_other_options_are_an_error_that_names_the_option(
    ok, refused, streams
):
    ok("score -m F1 --stream --state full.state full.jsonl gt.jsonl")
    ok("score -m F1 --stream --missing skip --state short.state short.jsonl gt.jsonl")

    refusal = refused("merge full.state short.state")

    assert refusal.code == "different-scorers"
    assert refusal.where == "short.state"
    assert "differ from before: --missing." in refusal


def save_scores(ok, name, measures, options=""):
    ok(
        f"score -m '{measures}' --format json -o {name}.json {options} "
        "a.json b.json gt.json"
    )


def test_scores_of_another_file_are_an_error(ok, refused, files):
    ok("score -m F1 --format csv -o scores.csv a.json gt.json")

    assert refused("rank scores.csv").code == "not-scores"


def test_a_ranking_is_of_the_only_common_measure(ok, files):
    save_scores(ok, "one", "Recall")
    save_scores(ok, "two", "F1 Recall")

    ranking = ok("rank one.json two.json")

    assert ranking == ok("rank -m Recall one.json two.json")


def test_a_ranking_is_of_o_f1_if_there_is_a_choice(ok, files):
    save_scores(ok, "both", "F1 O-F1")

    assert ok("rank both.json") == ok("rank -m O-F1 both.json")


def test_a_ranking_of_one_of_several_measures_needs_its_name(ok, refused, files):
    save_scores(ok, "two", "F1 Recall")

    refusal = refused("rank two.json")

    assert refusal.code == "needs-option"
    assert "F1, Recall" in refusal


@pytest.fixture
def two_datasets(ok, files):
    """Write the scores of two systems on one dataset, and of one of them on another."""
    save_scores(ok, "first", "F1")
    ok("score -m F1 --format json -o second.json b.json gt.json")


def test_differences_of_ranks_leave_out_systems_of_one_dataset(run, two_datasets):
    result = run("rank --differences first second first.json second.json")

    assert result.exit_code == 0, result.stderr
    assert "not in both datasets, left out: a" in result.stderr


def test_a_diagram_of_ranks_is_written(ok, files):
    save_scores(ok, "first", "F1")
    save_scores(ok, "second", "F1", "--normalize lower")

    ok("rank --diagram ranks.svg first.json second.json")

    assert "<svg" in Path("ranks.svg").read_text(encoding="utf-8")


OWN_MEASURE = """
import semmetrics

@semmetrics.measure(bounds=(0, 9), higher_is_better=False)
def MissedHere(hit, n_ref):
    return n_ref - hit
"""


@pytest.fixture
def own_scores(ok, files):
    """Write the scores of a measure of a file. The measure is forgotten after the test."""
    Path("own.py").write_text(OWN_MEASURE, encoding="utf-8")
    save_scores(ok, "own", "MissedHere", "--import own.py")
    definition = registry.find("MissedHere")[0]
    yield definition
    if definition in registry.all_definitions():
        registry.forget(definition)


def test_a_ranking_of_an_unknown_measure_needs_its_file(refused, own_scores):
    registry.forget(own_scores)

    refusal = refused("rank -m MissedHere --by rank own.json")

    assert refusal.code == "unknown-direction"


def test_a_ranking_has_the_direction_of_an_imported_measure(ok, own_scores):
    text = ok("rank -m MissedHere --by rank --import own.py own.json")

    values = [float(line.split()[-1]) for line in text.splitlines()[1:3]]
    assert values == sorted(values)
