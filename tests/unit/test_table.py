"""Tables of scores: looking up scores, the JSON schema, and tables as papers print them."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest
import sklearn.metrics
from click.testing import CliRunner
from refusals import refused

import semmetrics
from semmetrics import Bootstrap
from semmetrics.cli.app import program
from semmetrics.scoring.table_text import draw_systems

REFS = {"1": ["cat"], "2": ["dog", "bird"], "3": []}
SYSTEMS = {
    "one": {"1": ["cat"], "2": ["dog"], "3": []},
    "two": {"1": [], "2": ["dog", "bird"], "3": ["cat"]},
}


def table_of(measures="F1 MacroF1 Recall(empty=nan)", **options):
    return semmetrics.score_systems(SYSTEMS, REFS, measures=measures, **options)


# ---- looking up scores --------------------------------------------------------------------------


def test_a_score_is_found_by_system_and_measure():
    table = table_of()

    assert table["one", "F1"].value == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert float(table["one", "F1"]) == table["one", "F1"].value
    assert table["two", "F1(average=macro)"].system == "two"
    assert table.systems == ["one", "two"]
    assert table.headings == ["F1", "MacroF1", "Recall(empty=nan)"]
    assert len(table) == 6
    assert table[:3].systems == ["one"]


def test_a_score_of_a_protocol_is_found_by_its_heading_and_its_measure():
    table = semmetrics.score(SYSTEMS["one"], REFS, protocol="kubany2020", top_k=2)

    score = table["Micro F1@2"]
    assert table["F1(average=micro,labels=reference,empty=0)@2"] is score


@pytest.mark.parametrize(
    "options", [{}, {"threshold": 0.5}, {"threshold": "best", "ci": True}]
)
def test_headings_are_the_names_that_the_user_wrote(options):
    measures = ["MacroF1", "microf1", "F1(average=macro)@1"]
    preds = {name: {"cat": 0.9, "dog": 0.4} for name in REFS}

    table = semmetrics.score(preds, REFS, measures=measures, **options)

    assert list(table.to_dict()) == measures
    assert [table[name] for name in measures] == table.scores
    assert table["MACROF1"] is table["MacroF1"]
    assert table["micro-f1"] is table["microf1"]


def test_a_name_of_several_rules_raises_an_error_that_lists_the_headings():
    preds = {name: {"cat": 0.9, "dog": 0.4} for name in REFS}
    table = semmetrics.score(preds, REFS, measures="MacroF1", threshold=[0.3, 0.5])

    with refused("ambiguous-score") as caught:
        table["MacroF1"]

    assert all(heading in str(caught.value) for heading in table.headings)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("F1", "ambiguous-score"),
        ("F2", "unknown-name"),
        (("one", "xyz"), "unknown-name"),
        (("three", "F1"), "unknown-name"),
        (("one", "O-F1"), "unknown-name"),  # OF1 is another measure
    ],
)
def test_a_key_without_exactly_one_score_raises_an_error(key, code):
    table = table_of("F1 OF1")

    with refused(code):
        table[key]


def test_a_score_is_formatted_as_a_number():
    (score,) = semmetrics.score([["cat"]], [["cat", "dog"]], measures="F1")

    assert f"{score:.3f}" == "0.667"
    assert f"{score:>8.1%}" == "   66.7%"
    assert f"{score}" == str(score)


def test_an_undefined_score_is_formatted_as_nan():
    measure = "Precision(no_prediction=nan)"
    (score,) = semmetrics.score([[]], [["cat"]], measures=measure)

    assert f"{score:.2f}" == "nan"


# ---- JSON ---------------------------------------------------------------------------------------


def schema_validator():
    path = resources.files("semmetrics.reports").joinpath("score.schema.json")
    return jsonschema.Draft202012Validator(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"measures": "F1(empty=nan) Recall(no_reference=nan)@1,3", "ci": True},
        {"measures": None, "protocol": "kubany2020", "ci": Bootstrap(0.5, 3, 0)},
        {"measures": None, "protocol": "pineda2019"},
        {"weights": {"1": 0.5, "2": 0, "3": 0.1}, "ignore": ["a|b", "x\n"]},
    ],
)
def test_json_follows_its_schema(options):
    schema_validator().validate(json.loads(table_of(**options).to_json()))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "semmetrics.score/2"},
        {"value": "0.5"},
        {"ci": [0.1, 0.2]},
        {"ci": {"low": 0.1, "high": 0.2}},
        {"n": 0},
        {"undefined": {"empty": 0}},
        {"undefined": {"Empty set": 1}},
        {"signature": "F1"},
        {"signature": "F1|avg:example\n|n:3"},
        {"rows": []},
        {"more": 1},
    ],
)
def test_the_schema_rejects_wrong_fields(changes):
    document = json.loads(table_of(ci=True).to_json())
    document["scores"][0].update(changes)

    with pytest.raises(jsonschema.ValidationError):
        schema_validator().validate(document)


# ---- tables of systems --------------------------------------------------------------------------


GTS = {"1": ["cat"], "2": ["dog", "bird"], "3": ["cow"]}
RANKED_SYSTEMS = {
    "a": GTS,
    "b": {"1": [], "2": ["dog"], "3": ["cow"]},
    "c": {name: ["cat"] for name in GTS},
}


def test_systems_are_rows_or_columns():
    table = semmetrics.score_systems(
        RANKED_SYSTEMS, GTS, measures="F1 MicroF1", headings={"MicroF1": "µ"}
    )

    rows = table.to_markdown(systems="rows", digits=1).split("\n")
    columns = table.to_markdown(systems="columns", digits=1).split("\n")

    assert rows[0] == "| system | F1 | µ |"
    assert rows[2] == "| a | **1.0** | **1.0** |"
    assert rows[4] == "| c | 0.3 | 0.3 |"
    assert columns[2] == "| F1 | **1.0** | 0.6 | 0.3 |"
    assert columns[3] == "| µ | **1.0** | 0.7 | 0.3 |"


@pytest.mark.parametrize(
    ("width", "first_column", "n_blocks"),
    [(None, "measure", 1), (60, "system", 1), (50, "measure", 2)],
)
def test_a_wide_table_is_transposed_or_split_to_fit(width, first_column, n_blocks):
    systems = {"long" * 9 + "a": GTS, "long" * 9 + "b": GTS}
    table = semmetrics.score_systems(systems, GTS, measures="F1 Recall")

    text = draw_systems(table, width=width)

    assert text.startswith(first_column)
    assert text.count("F1") == n_blocks


@pytest.mark.parametrize(
    ("headings", "code"),
    [({"Recall": "R"}, "unknown-name"), ({"F1": "F1@3"}, "duplicate")],
)
def test_wrong_headings_raise_an_error(headings, code):
    with refused(code):
        semmetrics.score(GTS, GTS, measures="F1 F1@3", headings=headings)


@pytest.mark.parametrize(
    ("form", "cell", "comment"),
    [
        ("latex", "C-F1 & -", "% "),
        ("markdown", "| C-F1 | - |", "<!-- "),
        ("html", "C-F1</th><td", "<p>"),
    ],
)
def test_a_measure_that_was_not_computed_is_in_every_format(form, cell, comment):
    # C-F1 needs a list of classes.
    table = semmetrics.score(GTS, GTS, protocol="pineda2019")

    text = table.render(form)

    assert cell in text
    assert f"\n{comment}not computed: C-F1 - " in text


# ---- classification report ----------------------------------------------------------------------


LETTERS = [*"abcdef", "absent"]


def draw_sides():
    """Draw members of six labels on both sides."""
    rng = np.random.default_rng(0)
    members = rng.random((2, 40, len(LETTERS))) < 0.4
    members[:, :, -1] = False
    return members


def names_of(members):
    return [np.array(LETTERS)[row].tolist() for row in members]


@pytest.mark.parametrize("classes", [None, LETTERS])
def test_the_classification_report_equals_that_of_sklearn(classes):
    preds, gts = draw_sides()
    names = classes or LETTERS[:-1]
    options = {"classes": classes, "ci": True, "resamples": 50}

    table = semmetrics.score(names_of(preds), names_of(gts), measures="F1", **options)
    report = {row["label"]: row for row in table.classification_report()}

    expected = sklearn.metrics.classification_report(
        gts[:, : len(names)],
        preds[:, : len(names)],
        target_names=names,
        output_dict=True,
        zero_division=0,
    )
    assert list(report) == list(expected)
    for label, expected_row in expected.items():
        row = {name: report[label][name] for name in expected_row}
        assert row == pytest.approx(expected_row)
    assert (report[names[-1]]["recall_low"] is None) == (classes is not None)


@pytest.mark.parametrize("form", ["table", "csv", "json", "latex", "markdown"])
def test_the_program_writes_the_classification_report_in_any_format(tmp_path, form):
    path = tmp_path / "gt.json"
    path.write_text(json.dumps(GTS))
    options = ["--classification-report", "--ci", "--format", form]

    result = CliRunner().invoke(
        program, ["score", "-q", *options, f"B={path}", str(path)]
    )

    assert "samples avg" in result.stdout
    assert result.stderr == ""


def test_the_program_takes_names_of_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gt.json", "x=y.json"):
        (tmp_path / name).write_text(json.dumps(GTS))
    systems = ["in=-", "x=y.json", "B=x=y.json"]

    result = CliRunner().invoke(
        program, ["score", "-q", "-m", "F1", *systems, "gt.json"], input=json.dumps(GTS)
    )

    first_words = [line.split()[0] for line in result.stdout.splitlines()[:4]]
    assert first_words == ["system", "in", "x=y", "B"]
