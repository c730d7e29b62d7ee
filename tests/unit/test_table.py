"""Tables of scores: look-ups, every format, the schema of the JSON, and as papers print them."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from refusals import refused

import semmetrics
from semmetrics.cli.app import program
from semmetrics.scoring.table_text import draw_systems

SCHEMA = json.loads(
    resources.files("semmetrics.reports")
    .joinpath("score.schema.json")
    .read_text("utf-8")
)
VALID = jsonschema.Draft202012Validator(SCHEMA)
REFS = {"1": ["cat"], "2": ["dog", "bird"], "3": []}
ONE = {"1": ["cat"], "2": ["dog"], "3": []}
TWO = {"1": [], "2": ["dog", "bird"], "3": ["cat"]}


def table(**options):
    options = {"measures": ["F1", "MacroF1", "Recall(empty=nan)"], **options}
    return semmetrics.score_systems({"one": ONE, "two": TWO}, REFS, **options)


def test_look_ups():
    found = table()
    assert found["one", "F1"].value == pytest.approx((1 + 2 / 3 + 1) / 3)
    assert found["two", "F1(average=macro)"].system == "two"
    assert (found.systems, len(found)) == (["one", "two"], 6)
    assert found.headings == ["F1", "MacroF1", "Recall(empty=nan)"]
    assert [s.heading for s in found][:3] == found.headings
    assert float(found["two", "F1"]) == found["two", "F1"].value
    assert table(measures="OF1")["one", "of1"].heading == "OF1"
    kubany = semmetrics.score(ONE, REFS, protocol="kubany2020", top_k=2)
    assert (
        kubany["Micro F1@2"] is kubany["F1(average=micro,labels=reference,empty=0)@2"]
    )


@pytest.mark.parametrize(
    "options", [{}, {"top_k": 2}, {"threshold": 0.5}, {"threshold": "best", "ci": True}]
)
def test_names_that_were_asked_for(options):
    options = {"measures": ["MacroF1", "microf1", "F1(average=macro)@1"], **options}
    cut = "@2" if "top_k" in options else ""
    names = [f"MacroF1{cut}", f"microf1{cut}", "F1(average=macro)@1"]
    preds = {name: {"cat": 0.9, "dog": 0.4} for name in REFS}
    scorer = semmetrics.Scorer(**options)
    scorer.update(preds, REFS)
    for found in (semmetrics.score(preds, REFS, **options), scorer.compute()):
        assert list(found.to_dict()) == names
        assert [found[name] for name in names] == found.scores
        assert found["MACROF1"] is found["MacroF1"] is found[0]
        assert found["micro-f1"] is found[1]
    options.pop("ci", None)
    compared = semmetrics.compare(
        {"a": preds, "b": preds}, REFS, **options, resamples=10
    )
    assert [compared[name].heading for name in names] == found.headings


def test_a_name_of_several_rules_or_parts():
    preds = {name: {"cat": 0.9, "dog": 0.4} for name in REFS}
    found = semmetrics.score(preds, REFS, measures="MacroF1", threshold=[0.3, 0.5])
    assert list(found.to_dict()) == found.headings
    with refused(
        "ambiguous-score",
        remedy=f"choose one of {', '.join(map(repr, found.headings))}",
    ):
        found["MacroF1"]
    sides = [[0.9, 0.1], [0.2, 0.3]], [[0], [1]]
    both = semmetrics.score(
        *sides, measures="hitrate@1", task="retrieval", direction="both"
    )
    assert list(both.to_dict()) == ["i2t hitrate@1", "t2i hitrate@1"]
    assert both["t2i hitrate@1"].part == "t2i"
    swept = semmetrics.sweep(REFS, REFS, measures="semf1", thresholds="0.5,0.6")
    assert swept["semf1"] is swept["SemF1"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("F1", "ambiguous-score"),
        ("F2", "unknown-name"),
        (("one", "xyz"), "unknown-name"),
        (("three", "F1"), "unknown-name"),
        (("one", "O-F1"), "unknown-name"),  # OF1 is another measure
    ],
)
def test_look_ups_that_fail(key, message):
    with refused(message):
        table(measures="F1 Recall" if key == "F1" or key[1] == "F1" else "F1 OF1")[key]


ASKED = [
    {},
    {"ci": True},
    {
        "ci": True,
        "resamples": 2,
        "measures": ["F1(empty=nan)", "Recall(no_reference=nan)@1,3"],
    },
    {"protocol": "kubany2020", "measures": None, "ci": semmetrics.Bootstrap(0.5, 3, 0)},
    {
        "protocol": "pineda2019",
        "measures": None,
        "classes": ["cat", "dog", "bird", "cow"],
    },
    {
        "weights": {"1": 0.5, "2": 0, "3": 0.1},
        "ignore": ["a|b", "x\n"],
        "missing": "empty",
    },
]


@pytest.mark.parametrize("options", ASKED)
def test_json_follows_its_schema(options):
    VALID.validate(json.loads(table(**options).to_json()))


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": "semmetrics.score/2"},
        {"value": "0.5"},
        {"value": KeyError},
        {"ci": KeyError},
        {"ci": [0.1, 0.2]},
        {"ci": {"low": 0.1, "high": 0.2}},
        {"n": 0},
        {"n": 3.5},
        {"undefined": {"empty": 0}},
        {"undefined": {"Empty set": 1}},
        {"undefined": None},
        {"signature": "F1"},
        {"signature": "F1|avg:example\n|n:3"},
        {"rows": []},
        {"more": 1},
    ],
)
def test_the_schema_refuses_what_is_wrong(changes):
    found = json.loads(table(ci=True).to_json())
    (entry, *_) = found["scores"]
    entry = {k: v for k, v in {**entry, **changes}.items() if v is not KeyError}
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate({**found, "scores": [entry]})


GT = {"1": ["cat"], "2": ["dog", "bird"], "3": ["cow"]}
SYSTEMS = {
    "a": GT,
    "b": {"1": [], "2": ["dog"], "3": ["cow"]},
    "c": {key: ["cat"] for key in GT},
}
KINDS, WIDTHS = ("rows", "columns"), (None, 60, 50)
LETTERS = np.array([*"abcdef", "absent"])


def test_systems_are_rows_or_columns():
    table = semmetrics.score_systems(
        SYSTEMS, GT, measures="F1 MicroF1", headings={"MicroF1": "µ"}
    )
    assert table["a", "MicroF1"] is table["a", "µ"]
    rows, columns = (table.to_markdown(systems=s, digits=1) for s in KINDS)
    assert rows.split("\n")[::2] == [
        "| system | F1 | µ |",
        "| a | **1.0** | **1.0** |",
        "| c | 0.3 | 0.3 |",
    ]
    assert columns.split("\n")[2:] == [
        "| F1 | **1.0** | 0.6 | 0.3 |",
        "| µ | **1.0** | 0.7 | 0.3 |",
    ]
    two = semmetrics.score_systems(
        {f"{'long' * 9}{n}": GT for n in "ab"}, GT, measures="F1 Recall"
    )
    shown = [
        (draw_systems(two, width=n)[:7], draw_systems(two, width=n).count("F1"))
        for n in WIDTHS
    ]
    assert shown == [("measure", 1), ("system ", 1), ("measure", 2)]  # or in parts
    for wrong, code in (
        ({"Recall": "R"}, "unknown-name"),
        ({"F1": "F1@3"}, "duplicate"),
    ):
        with refused(code):
            semmetrics.score(GT, GT, measures="F1 F1@3", headings=wrong)
    cut = semmetrics.score(
        GT, GT, measures="F1", top_k="1,3", headings={"F1": "Example F1"}
    )
    assert cut.headings == ["Example F1@1", "Example F1@3"]


def test_what_is_not_computed_is_in_every_format():
    table = semmetrics.score(GT, GT, protocol="pineda2019")  # C-F1 needs a class list
    (absent,) = table.not_computed
    for form, row, sign in (
        ("latex", "C-F1 & -", "% "),
        ("markdown", "| C-F1 | - |", "<!-- "),
        ("html", "C-F1</th><td", "<p>"),
    ):
        assert row in (text := table.render(form))
        assert f"\n{sign}not computed: C-F1 - {absent.reason[:9]}" in text
    last = table.to_records()[-1]
    assert (last["heading"], last["value"], last["reason"]) == (
        "C-F1",
        None,
        absent.reason,
    )
    (entry,) = json.loads(table.to_json())["not_computed"]
    assert entry == {**vars(absent), "value": None}


@pytest.mark.parametrize("classes", [None, LETTERS.tolist()])
def test_the_classification_report_is_that_of_sklearn(classes):
    rng = np.random.default_rng(0)
    gts, preds = (
        [LETTERS[:6][rng.random(6) < 0.4].tolist() for _ in range(40)] for _ in "ab"
    )
    table = semmetrics.score(
        preds, gts, measures="F1", classes=classes, ci=True, resamples=50
    )
    names = classes or [*"abcdef"]
    sides = [
        np.array([[name in one for name in names] for one in s], int)
        for s in (gts, preds)
    ]
    made = pytest.importorskip("sklearn.metrics").classification_report
    expected = made(*sides, target_names=names, output_dict=True, zero_division=0)
    found = {row.pop("label"): row for row in table.classification_report()}
    assert [*found] == [*expected]
    for label, values in expected.items():
        assert {name: found[label][name] for name in values} == pytest.approx(values)
    micro = semmetrics.score(preds, gts, measures="MicroF1", ci=True, resamples=50)[
        0
    ].ci
    assert found["micro avg"]["f1-score_low"] == micro.low
    assert (found[names[-1]]["recall_low"] is None) is bool(classes)


def test_names_and_formats_of_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("gt", "x=y"):
        (tmp_path / f"{name}.json").write_text(json.dumps(GT))

    def run(*arguments, stdin=None):
        return CliRunner().invoke(
            program, ["score", "-q", *arguments, "gt.json"], input=stdin
        )

    done = run("-m", "F1", "in=-", "x=y.json", "B=x=y.json", stdin=json.dumps(GT))
    assert [line.split()[0] for line in done.stdout.split("\n")[:4]] == [
        "system",
        "in",
        "x=y",
        "B",
    ]
    starts = {
        "csv": "system,",
        "json": "{",
        "tex": "\\begin",
        "md": "|",
        "html": "<",
        "txt": "mea",
    }
    for ending, start in starts.items():
        assert run("-m", "F1", "-o", f"o.{ending}", "B=x=y.json").exit_code == 0
        assert (tmp_path / f"o.{ending}").read_text().startswith(start)
    assert (
        "together"
        in run("-m", "F1", "--format", "csv", "-o", "o.tex", "B=x=y.json").stderr
    )
    assert "overwrite" in run("-m", "F1", "-o", "x=y.json", "B=x=y.json").stderr
    done = run(
        "-m",
        "MacroF1",
        "--per-label",
        "-",
        "-o",
        "o.tex",
        "B=x=y.json",
        "--digits",
        "1",
    )
    assert " & bird & 1.0 &" in done.stdout
    for form in ("table", "csv", "json", "latex", "markdown"):
        done = run("--classification-report", "--ci", "--format", form, "B=x=y.json")
        assert ("samples avg" in done.stdout, done.stderr) == (True, "")
