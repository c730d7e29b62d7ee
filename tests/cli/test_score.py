"""``semmetrics score``: what it computes is what the API computes."""

import csv
import gzip
import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from cli.data import GT, A
from refusals import is_refusal

import semmetrics
from semmetrics.scoring.protocols import PROTOCOLS

LISTS = ("a.json", "gt.json")
DEFAULTS = ["F1", "Precision", "Recall", "Jaccard", "SubsetAccuracy", "MicroF1", "MacroF1",
            "SemF1", "SemPrecision", "SemRecall"]  # fmt: skip
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


def test_several_systems(ok, files):
    text = ok("score", "a.json", "b.json", "gt.json", "--format", "json")
    assert json.loads(text) == api({"a": "a.json", "b": "b.json"})
    head = ok("score", "a.json", "b.json", "gt.json").split("\n")[0]
    assert head.split() == ["measure", "a", "b"]


def test_systems_with_equal_names_are_told_apart_by_folder(ok, files):
    for folder, name in (("one", "a.json"), ("two", "b.json")):
        Path(folder).mkdir()
        shutil.copy(name, f"{folder}/preds.json")
    text = ok("score", "one/preds.json", "two/preds.json", "gt.json", "--format", "json")
    assert json.loads(text) == api({"one/preds": "a.json", "two/preds": "b.json"})


def test_missing_ids(ok, refused, files):
    short = {name: labels for name, labels in A.items() if name != "2"}
    Path("short.json").write_text(json.dumps(short | {"9": ["cat"]}), encoding="utf-8")
    message = refused("score", "short.json", "gt.json")
    assert message.code == "missing-ids"
    assert message.code == "missing-ids"
    assert message.code == "missing-ids"
    for policy, n in (("skip", 3), ("empty", 5)):
        text = ok("score", "short.json", "gt.json", "--missing", policy, "--format", "json")
        assert json.loads(text) == api({"short": "short.json"}, missing=policy)
        assert json.loads(text)[0]["n"] == n


def test_ignored_labels_from_a_file(ok, files):
    Path("ignored.txt").write_text("cow\ndog\n", encoding="utf-8")
    from_file = ok("score", *LISTS, "--ignore", "@ignored.txt", "--format", "json")
    assert from_file == ok("score", *LISTS, "--ignore", "cow,dog", "--format", "json")


def test_weights(ok, files):
    weights = {"1": 1.0, "2": 0.5, "3": 0.0, "4": 2.0}
    Path("weights.json").write_text(json.dumps(weights), encoding="utf-8")
    text = ok("score", *LISTS, "--weights", "weights.json", "--format", "json")
    assert json.loads(text) == api({"a": "a.json"}, weights=weights)


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


def test_gzip_and_standard_input(ok, files):
    expected = ok("score", *LISTS, "--format", "json")
    with gzip.open("a.json.gz", "wt", encoding="utf-8") as out:
        out.write(Path("a.json").read_text(encoding="utf-8"))
    assert ok("score", "a.json.gz", "gt.json", "--format", "json") == expected
    piped = ok("score", "-", "gt.json", "--format", "json", stdin=Path("a.json").read_bytes())
    assert scores(piped) == scores(expected)
    piped = ok("score", "-", "gt.json", "--format", "json", stdin=Path("a.json.gz").read_bytes())
    assert scores(piped) == scores(expected)
    piped = ok("score", "a.json", "-", "--format", "json", stdin=json.dumps(GT))
    assert piped == expected


def test_columns_and_delimiters(ok, files):
    rows = [f"{name};{'/'.join(labels)}" for name, labels in A.items()]
    Path("a.csv").write_text("photo;seen\n" + "\n".join(rows) + "\n", encoding="utf-8")
    rows = [f"{name};{'/'.join(labels)}" for name, labels in GT.items()]
    Path("gt.csv").write_text("photo;seen\n" + "\n".join(rows) + "\n", encoding="utf-8")
    text = ok(
        "score", "a.csv", "gt.csv", "--id-column", "photo", "--label-column", "seen",
        "--delimiter", ";", "--label-delimiter", "/", "--format", "json",
    )  # fmt: skip
    assert text == ok("score", *LISTS, "--format", "json")


def test_limits(refused, files):
    assert refused("score", *LISTS, "--max-bytes", 10).code == "too-large"
    Path("a.jsonl").write_text('{"id": "1", "labels": ["cat", "dog", "bird"]}\n', encoding="utf-8")
    assert refused("score", "a.jsonl", "gt.json", "--max-line-bytes", 20).code == "line-too-long"


# ---- forms of the result ----------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_forms_are_those_of_the_table(ok, files, form):
    table = semmetrics.score("a.json", "gt.json")
    assert ok("score", *LISTS, "--format", form) == table.render(form) + "\n"


def test_digits_and_percent(ok, files):
    table = semmetrics.score("a.json", "gt.json", measures=["F1", "CardinalityError"])
    chosen = ("score", *LISTS, "-m", "F1 CardinalityError", "--format", "markdown")
    assert ok(*chosen, "--digits", 1) == table.to_markdown(digits=1) + "\n"
    percent = ok(*chosen, "--percent")
    assert percent == table.to_markdown(digits=2, scale=100) + "\n"
    assert f"| F1 | {table['F1'].value * 100:.2f} |" in percent
    assert f"| CardinalityError | {table['CardinalityError'].value:.2f} |" in percent


def test_the_table_says_what_was_undefined_and_not_computed(ok, files):
    text = ok("score", *LISTS, "--protocol", "kubany2020", "--top-k", 1)
    assert "Macro Precision@1: no prediction (labels), counted as 0" in text
    assert "not computed: Balanced Accuracy@1 - needs the number of labels" in text
    assert "signatures share: norm:kubany2020|missing:skip|emptypred:skip|n:4|data:" in text
    assert "F1|avg" not in text


def test_other_forms_say_so_on_standard_error(run, files):
    arguments = ("score", *LISTS, "--protocol", "kubany2020", "--top-k", 1, "--format", "csv")
    result = run(*arguments)
    assert "not computed" not in result.stdout
    assert "not computed: Balanced Accuracy@1 - " in result.stderr
    assert "Macro Precision@1: no prediction" in result.stderr
    assert run(*arguments, "--quiet").stderr == ""


def test_notes_go_to_standard_error(run, files):
    result = run("score", *LISTS)
    assert "read a.json: JSON, {id: [labels]}: 4 items, 7 labels" in result.stderr
    assert "JSON" not in result.stdout
    assert run("score", *LISTS, "--quiet").stderr == ""
    assert run("score", *LISTS, "--quiet").stdout == result.stdout


def test_what_a_reader_found_odd_is_said(run, files):
    Path("a.csv").write_text("id,label,colour\n1,cat,red\n", encoding="utf-8")
    assert "'colour'" in run("score", "a.csv", "gt.json", "--missing", "skip").stderr


def test_options_without_effect_are_said(run, files):
    assert "--seed has no effect without --ci" in run("score", *LISTS, "--seed", 3).stderr
    assert "full precision" in run("score", *LISTS, "--percent", "--format", "json").stderr


def test_signatures_are_shown_on_request(ok, run, files):
    text = ok("score", *LISTS, "-m", "F1", "--show-signatures")
    assert semmetrics.score("a.json", "gt.json", measures=["F1"])["F1"].signature in text
    assert "F1|avg" in run("score", *LISTS, "--show-signatures", "--format", "latex").stderr


def test_output_file(ok, run, files):
    expected = ok("score", *LISTS, "--format", "json")
    before = {path.name for path in files.iterdir()}
    result = run("score", *LISTS, "--format", "json", "-o", "out.json")
    assert (result.exit_code, result.stdout) == (0, "")
    assert Path("out.json").read_text(encoding="utf-8") == expected
    assert {path.name for path in files.iterdir()} == before | {"out.json"}


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


def test_items_known_by_position(ok, files):
    Path("p.json").write_text(json.dumps([["cat"], ["dog"]]), encoding="utf-8")
    Path("g.json").write_text(json.dumps([["cat"], ["cow"]]), encoding="utf-8")
    ok("score", "p.json", "g.json", "-m", "F1", "--per-item", "items.jsonl")
    rows = [json.loads(line) for line in Path("items.jsonl").read_text().splitlines()]
    assert [(row["id"], row["F1"]) for row in rows] == [(0, 1.0), (1, 0.0)]


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_label_values(ok, files, ending):
    name = f"labels.{ending}"
    ok("score", "a.json", "b.json", "gt.json", "-m", "F1 MacroPrecision", "--per-label", name)
    written = Path(name).read_text(encoding="utf-8")
    rows = json.loads(written) if ending == "json" else list(csv.DictReader(io.StringIO(written)))
    columns = ["system", "measure", "label", "value", "support", "predicted", "hit"]
    assert list(rows[0]) == columns
    assert [row["label"] for row in rows] == ["bird", "cat", "cow", "dog"] * 2
    assert {row["measure"] for row in rows} == {"Precision(average=macro)"}
    cat = rows[1]
    assert (float(cat["value"]), cat["support"], cat["predicted"], cat["hit"]) in (
        (2 / 3, 2, 3, 2),
        (2 / 3, "2", "3", "2"),
    )
    assert rows[0]["value"] in (None, "")  # nothing is predicted
    assert rows[0]["support"] in (1, "1")


def test_rows_need_measures_that_have_them(refused, files):
    assert "item values" in refused("score", *LISTS, "-m", "MacroF1", "--per-item", "i.csv")
    assert "values of labels" in refused("score", *LISTS, "-m", "F1", "--per-label", "l.csv")
    assert not Path("i.csv").exists()
    assert not Path("l.csv").exists()
    assert refused("score", *LISTS, "--per-item", "items.txt").code == "wrong-ending"
    assert refused("score", *LISTS, "--per-label", "labels").code == "wrong-ending"


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


OTHERS = ("HammingLoss", "AP@2", "BalancedAccuracy(q=9)", "CardinalityError", "O-F1", "I-F1",
          "Recall(duplicates=each)@1")  # fmt: skip


@pytest.mark.parametrize("name", [*DEFAULTS, *OTHERS])
def test_a_signature_is_computed_again(ok, run, files, name):
    (entry,) = json.loads(ok("score", *LISTS, "-m", name, "--format", "json"))
    found = again(run, entry, *LISTS)
    (measure,) = semmetrics.parse(entry["measure"])
    if measure["labels"] == "auto":  # the signature says what it was
        measure = measure.with_options(labels="union")
    assert found == entry | {"measure": str(measure), "heading": str(measure)}


@pytest.mark.parametrize("name", DEFAULTS_OF_SCORES)
def test_a_signature_of_scores_is_computed_again(ok, run, files, name):
    generator = np.random.default_rng(5)
    np.save("s.npy", generator.random((20, 4)))
    np.save("g.npy", (generator.random((20, 4)) < 0.5).astype(int))
    arguments = ("s.npy", "g.npy", "--classes", "classes.txt")
    (entry,) = json.loads(ok("score", *arguments, "-m", name, "--format", "json"))
    assert entry["value"] > 0
    found = again(run, entry, *arguments)
    assert found == entry | {"measure": found["measure"], "heading": found["heading"]}


@pytest.mark.parametrize(
    "options",
    [
        ["--ci", "--resamples", "20", "--seed", "9", "--level", "0.5"],
        ["--ci", "--ci-method", "jackknife"],
        ["--normalize", "lower", "--missing", "empty", "--empty-predictions", "skip"],
        ["--ignore", "cow,dog"],
        ["--top-k", "1"],
    ],
)
def test_settings_come_from_the_signature(ok, run, files, options):
    for entry in json.loads(ok("score", *LISTS, *options, "--format", "json")):
        assert again(run, entry, *LISTS)["signature"] == entry["signature"]


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
    for entry in json.loads(ok("score", *arguments, "--protocol", protocol, "--format", "json")):
        assert again(run, entry, *arguments)["signature"] == entry["signature"]


def test_a_fitted_threshold_is_taken_from_the_signature(ok, run, files):
    arguments = ("-m", "MicroF1", "--threshold", "best", "--format", "json")
    (entry,) = json.loads(ok("score", *SCORES, *arguments))
    assert "fit:" in entry["signature"]
    again(run, entry, *SCORES)


def test_differences_from_the_signature_are_said(ok, run, files):
    (entry,) = json.loads(ok("score", *LISTS, "-m", "MacroF1", "--format", "json"))
    Path("other.json").write_text(json.dumps({**GT, "1": ["cow"]}), encoding="utf-8")
    said = run("score", "a.json", "other.json", "--rescore", entry["signature"], "-q").stderr
    data = entry["signature"].partition("data:")[2].partition("|")[0]
    assert "warning: the ground truth differs from the signature's: data:" in said
    assert f"instead of data:{data}" in said
    Path("few.json").write_text(json.dumps({"1": ["cat"]}), encoding="utf-8")
    signature = entry["signature"].replace("missing:error", "missing:skip")
    said = run("score", "few.json", "gt.json", "--rescore", signature).stderr
    assert "the number of items differs from the signature's: n:1 instead of n:4" in said
    old = entry["signature"].rpartition("|")[0] + "|v:0.0.1"
    said = run("score", *LISTS, "--rescore", old).stderr
    assert f"v:{semmetrics.__version__} instead of v:0.0.1" in said


def test_the_class_list_must_be_given_again(ok, run, refused, files):
    arguments = (*LISTS, "-m", "C-F1", "--classes", "classes.txt", "--format", "json")
    (entry,) = json.loads(ok("score", *arguments))
    assert "--classes" in refused("score", *LISTS, "--rescore", entry["signature"])
    Path("more.txt").write_text("cat\ndog\nbird\ncow\nfish\n", encoding="utf-8")
    said = run("score", *LISTS, "--rescore", entry["signature"], "--classes", "more.txt").stderr
    assert "the class list differs from the signature's: classes:5@" in said


def test_weights_must_be_given_again(ok, run, refused, files):
    Path("w.json").write_text(json.dumps(dict.fromkeys(GT, 2.0)), encoding="utf-8")
    arguments = (*LISTS, "--weights", "w.json")
    entry = json.loads(ok("score", *arguments, "--format", "json"))[0]
    assert "--weights" in refused("score", *LISTS, "--rescore", entry["signature"])
    again(run, entry, *arguments)
    plain = json.loads(ok("score", *LISTS, "--format", "json"))[0]
    said = run("score", *arguments, "--rescore", plain["signature"]).stderr
    assert "weights" in said


def test_a_signature_and_its_parts_are_not_both_given(ok, refused, files):
    entry = json.loads(ok("score", *LISTS, "--format", "json"))[0]
    for option in (("-m", "F1"), ("--top-k", "1"), ("--ci",), ("--missing", "skip")):
        said = refused("score", *LISTS, "--rescore", entry["signature"], *option)
        assert said.code == "in-signature"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F1", "bad-signature"),
        ("F9|n:1|data:0|v:1", "there is no measure 'F9'"),
        ("F1|avg:example|n:x|data:0|v:1", "bad-signature"),
        ("F1|avg|n:1|data:0|v:1", "bad-signature"),
        ("F1|avg:median|n:1|data:0|v:1", "bad-choice"),
        ("F1|n:1|data:0|v:1|ci:percentile,2,3", "bad-signature"),
    ],
)
def test_bad_signatures(refused, files, text, message):
    assert is_refusal(refused("score", *LISTS, "--rescore", text), message)


def test_what_a_signature_does_not_say_is_said(run, files):
    said = run("score", *LISTS, "--rescore", "F1|n:4|data:0|v:0.1.0").stderr
    assert "warning: the signature does not say avg, dup, empty" in said
    assert "computed with avg:example" in said


def test_notes_of_many_systems_are_one_line(run, files):
    names = [f"s{n}.json" for n in range(5)]
    for name in names:
        Path(name).write_text('{"1": ["Cat"], "2": ["dog"]}', encoding="utf-8")
    Path("true.json").write_text('{"1": ["cat"], "2": ["dog"]}', encoding="utf-8")
    shown = run("score", *names, "true.json", "-m", "F1").stderr
    assert shown.count("join them with --normalize lower") == 1
    assert "all 5 systems: " in shown
