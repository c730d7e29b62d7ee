"""``semmetrics score``: what it computes is what the API computes."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from cli.data import GT
from stand_ins import meteor_programs

import semmetrics
from semmetrics.scoring.protocols import PROTOCOLS

LISTS = ("a.json", "gt.json")
DEFAULTS_OF_SCORES = ["mAP", "LRAP", "RankingLoss", "CoverageError"]
SCORES = ("b.json", "gt.json")


def scores(text):
    return {entry["heading"]: entry["value"] for entry in json.loads(text)}


def api(systems, gts="gt.json", **options):
    return semmetrics.score_systems(systems, gts, **options).to_dicts()


# ---- the same results as from Python ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ([], {}),
        (["-m", "F1", "-m", "MacroF1@1,2"], {"measures": ["F1", "MacroF1@1,2"]}),
        (["-m", "F1 MacroF1"], {"measures": ["F1", "MacroF1"]}),
        (["-m", "F1", "--top-k", "1,2"], {"measures": ["F1"], "top_k": [1, 2]}),
        (["--protocol", "kubany2020"], {"protocol": "kubany2020"}),
        (
            ["--protocol", "kubany2020", "--top-k", "2", "--classes", "classes.txt"],
            {"protocol": "kubany2020", "top_k": 2, "classes": "classes.txt"},
        ),
        (["--ci", "--resamples", "20"], {"ci": True, "resamples": 20}),
        (
            ["--ci", "--resamples", "20", "--seed", "7", "--level", "0.9"],
            {"ci": True, "resamples": 20, "seed": 7, "level": 0.9},
        ),
        (["--ci", "--ci-method", "bca"], {"ci": True, "ci_method": "bca"}),
        (["--normalize", "lower"], {"normalize": "lower"}),
        (["--empty-predictions", "skip"], {"empty_predictions": "skip"}),
        (["--ignore", "cow,dog"], {"ignore": ["cow", "dog"]}),
        (["--ignore", "cow", "--ignore", "dog"], {"ignore": ["cow", "dog"]}),
        (["--task", "labels"], {"task": "labels"}),
        (["--input-format", "json"], {}),
    ],
)
def test_json_is_what_the_api_gives(ok, files, arguments, options):
    text = ok("score", *LISTS, "--format", "json", *arguments)
    assert json.loads(text) == api({"a": "a.json"}, **options)


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--threshold", "0.15"], {"decode": "threshold:0.15"}),
        (["--threshold", "0.15,best"], {"decode": ["threshold:0.15", "threshold:best"]}),
        (["--decode", "cumulative:0.5"], {"decode": "cumulative:0.5"}),
        (
            ["--decode", "cumulative:0.5", "--threshold", "0.5", "--keep-at-least", "1"],
            {"decode": ["cumulative:0.5", "threshold:0.5"], "keep_at_least": 1},
        ),
        (
            ["--protocol", "pineda2019", "--threshold", "0.15", "--classes", "classes.txt"],
            {"protocol": "pineda2019", "decode": "threshold:0.15", "classes": "classes.txt"},
        ),
    ],
)
def test_decoding_is_what_the_api_gives(ok, files, arguments, options):
    measures = [] if "protocol" in options else ["-m", "F1", "-m", "MicroF1"]
    options = options if "protocol" in options else {**options, "measures": ["F1", "MicroF1"]}
    text = ok("score", *SCORES, "--format", "json", *measures, *arguments)
    assert json.loads(text) == api({"b": "b.json"}, **options)


def test_matrices_with_a_class_list_and_cardinalities(ok, refused, files):
    generator = np.random.default_rng(3)
    np.save("s.npy", generator.random((5, 4)))
    np.save("t.npy", generator.random((5, 4)))
    np.save("g.npy", generator.integers(0, 2, (5, 4)))
    np.save("heads.npy", generator.dirichlet(np.ones(3), 5))
    text = ok("score", "s.npy", "g.npy", "--classes", "classes.txt", "--format", "json")
    assert json.loads(text) == api({"s": "s.npy"}, "g.npy", classes="classes.txt")
    assert list(scores(text)) == DEFAULTS_OF_SCORES
    common = ("--classes", "classes.txt", "--decode", "cardinality", "-m", "F1", "--format", "json")
    text = ok("score", "s.npy", "t.npy", "g.npy", "--set-size-probs", "heads.npy", *common)
    options = {"classes": "classes.txt", "decode": "cardinality", "measures": ["F1"]}
    expected = api({"s": "s.npy", "t": "t.npy"}, "g.npy", set_size_probs="heads.npy", **options)
    assert json.loads(text) == expected
    each = ("--set-size-probs", "heads.npy") * 2
    assert json.loads(ok("score", "s.npy", "t.npy", "g.npy", *each, *common)) == expected
    assert refused(
        "score", "s.npy", "t.npy", "b.json", "g.npy", *each, *common
    ).code == "wrong-count"  # fmt: skip
    swept = ("--set-size-probs", "heads.npy", "--classes", "classes.txt", "--decode", "cardinality")
    text = ok("sweep", "s.npy", "g.npy", "--thresholds", "0.4", "--format", "json", *swept)
    (value,) = json.loads(text)["measures"][0]["values"]
    options["measures"] = "SemF1(threshold=0.4)"
    (one,) = semmetrics.score("s.npy", "g.npy", set_size_probs="heads.npy", **options)
    assert value == one.value


# ---- forms of the result ----------------------------------------------------------------------


def test_the_table_says_what_was_undefined_and_not_computed(ok, files):
    text = ok("score", *LISTS, "--protocol", "kubany2020", "--top-k", 1)
    assert "Macro Precision@1: no prediction (labels), counted as 0" in text
    assert "not computed: Balanced Accuracy@1 - needs the number of labels" in text
    assert "signatures share: norm:kubany2020|missing:skip|emptypred:skip|n:4|data:" in text
    assert "F1|avg" not in text


def test_options_without_effect_are_said(run, files):
    assert "--seed has no effect without --ci" in run("score", *LISTS, "--seed", 3).stderr
    assert "full precision" in run("score", *LISTS, "--percent", "--format", "json").stderr


def test_runs(ok, run, files):
    arguments = ("score", "a.json", "b.json", "gt.json", "-m", "O-F1 F1", "--runs")
    values = [entry["value"] for entry in api({"a": "a.json", "b": "b.json"}, measures=["F1"])]
    found = json.loads(ok(*arguments, "--format", "json"))[1]
    assert found["mean"] == pytest.approx(np.mean(values), abs=1e-15)
    assert found["std"] == pytest.approx(np.std(values, ddof=1), abs=1e-15)
    assert [entry["value"] for entry in found["runs"]] == values
    shown = f"{np.mean(values):.4f} ({np.std(values, ddof=1):.4f})"
    for form in ("table", "markdown", "latex"):
        assert shown in ok(*arguments, "--format", form)
    rows = list(csv.DictReader(io.StringIO(ok(*arguments, "--format", "csv"))))
    assert float(rows[1]["mean"]) == found["mean"]
    one = ok("score", *LISTS, "-m", "F1", "--runs", "--format", "json")
    assert json.loads(one)[0]["std"] is None


# ---- item and label values --------------------------------------------------------------------


# ---- signatures -------------------------------------------------------------------------------


def again(run, entry, *arguments):
    result = run("score", *arguments, "--rescore", entry["signature"], "--format", "json")
    assert result.exit_code == 0, result.stderr
    (found,) = json.loads(result.stdout)
    assert found["value"] == entry["value"]
    assert found["ci"] == entry["ci"]
    assert found["n"] == entry["n"]
    assert "warning" not in result.stderr
    return found


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_signatures_of_protocols(ok, run, files, protocol):
    arguments = (*LISTS, "--classes", "classes.txt")
    if PROTOCOLS[protocol].kind == "captions":
        arguments = ("captions.json", "references.json")
    if PROTOCOLS[protocol].kind == "retrieval":
        arguments = ("sims.json", "positives.json")
        table = [[(3 * i + 7 * j) % 11 / 4 for j in range(10)] for i in range(5)]
        positives = [[2 * i, 2 * i + 1] for i in range(5)]
        for name, value in zip(arguments, (table, positives), strict=True):
            Path(name).write_text(json.dumps(value), encoding="utf-8")
    if PROTOCOLS[protocol].kind == "classes":
        arguments = ("scores.json", "truth.json", "--seen", "seen.txt", "--unseen", "unseen.txt")
        scored = {str(i): {n: (3 * i + 7 * j) % 11 for j, n in enumerate("wxyz")} for i in range(8)}
        truth = {name: ["wxyz"[int(name) % 4]] for name in scored}
        for name, value in zip(arguments, (scored, truth), strict=False):
            Path(name).write_text(json.dumps(value), encoding="utf-8")
        for name, some in (("seen.txt", "w\nx\n"), ("unseen.txt", "y\nz\n")):
            Path(name).write_text(some, encoding="utf-8")
    with meteor_programs():
        table = ok("score", *arguments, "--protocol", protocol, "--format", "json")
        for entry in json.loads(table):
            assert again(run, entry, *arguments)["signature"] == entry["signature"]


def test_ignored_labels_from_a_file(ok, files):
    Path("ignored.txt").write_text("cow\ndog\n", encoding="utf-8")
    from_file = ok("score", *LISTS, "--ignore", "@ignored.txt", "--format", "json")
    assert from_file == ok("score", *LISTS, "--ignore", "cow,dog", "--format", "json")


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_item_values(ok, files, ending):
    name = f"items.{ending}"
    text = ok(
        "score", "a.json", "b.json", "gt.json", "-m", "Recall F1 MacroF1", "--per-item", name,
        "--format", "json",
    )  # fmt: skip
    written = Path(name).read_text(encoding="utf-8")
    if ending == "csv":
        rows = list(csv.DictReader(io.StringIO(written)))
        rows = [
            row | {m: float(row[m]) if row[m] else None for m in ("Recall", "F1")} for row in rows
        ]
    else:
        rows = [json.loads(line) for line in written.splitlines()]
    table = semmetrics.score_systems(
        {"a": "a.json", "b": "b.json"}, "gt.json", measures=["Recall", "F1"]
    )
    assert list(rows[0]) == ["id", "system", "Recall", "F1"]
    assert [(row["system"], row["id"]) for row in rows] == [(s, i) for s in "ab" for i in GT]
    for measure in ("Recall", "F1"):
        expected = [v for s in "ab" for v in table[s, measure].items.tolist()]
        found = [np.nan if row[measure] is None else row[measure] for row in rows]
        np.testing.assert_array_equal(found, expected)
    assert rows[2]["Recall"] is None  # nothing is true
    named = {entry["measure"]: entry["rows"] for entry in json.loads(text)}
    assert named == {"Recall": name, "F1": name, "F1(average=macro)": None}
