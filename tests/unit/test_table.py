"""Tables of scores: look-ups, every format, and the schema of the JSON."""

from __future__ import annotations

import csv
import io
import json
from importlib import resources

import jsonschema
import numpy as np
import pytest
from refusals import refused

import semmetrics
from semmetrics.options import OPTIONS, RESULT_FORMATS

SCHEMA = json.loads(
    resources.files("semmetrics.reports").joinpath("score.schema.json").read_text("utf-8")
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
    assert found.headings == ["F1", "F1(average=macro)", "Recall(empty=nan)"]
    assert [s.heading for s in found][:3] == found.headings
    assert float(found["two", "F1"]) == found["two", "F1"].value
    kubany = semmetrics.score(ONE, REFS, protocol="kubany2020", top_k=2)
    assert kubany["Micro F1@2"] is kubany["F1(average=micro,labels=reference,empty=0)@2"]


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("F1", "ambiguous-score"),
        ("F2", "unknown-name"),
        (("one", "xyz"), "unknown-name"),
        (("three", "F1"), "unknown-name"),
    ],
)
def test_look_ups_that_fail(key, message):
    with refused(message):
        table()[key]


def test_text():
    assert str(table()).splitlines() == [
        "measure               one     two",
        "F1                 0.8889  0.3333",
        "F1(average=macro)  0.6667  0.6667",
        "Recall(empty=nan)     nan  0.3333",
        "3 undefined values (.undefined())",
    ]
    lines = table(ci=True).render("table", digits=1, scale=100).splitlines()
    assert lines[1].startswith("F1                 88.9 [24.0, 99.5]   33.3 [1.1, ")


def test_a_measure_is_found_in_any_case():
    found = semmetrics.score(ONE, REFS, measures="F1 MacroF1@2 SemF1")
    assert found["f1"] is found[0]
    assert found["macrof1@2"] is found["F1(AVERAGE=macro)@2"] is found[1]
    assert found["semf1"] is found["SEMF1(threshold=0.5)"] is found[2]
    assert "recall" not in found
    kubany = semmetrics.score(ONE, REFS, protocol="kubany2020")
    assert kubany[kubany[0].heading.lower()] is kubany[0]


def test_markdown_and_latex():
    assert table().to_markdown(digits=2).splitlines() == [
        "| measure | one | two |",
        "|---|---:|---:|",
        "| F1 | 0.89 | 0.33 |",
        "| F1(average=macro) | 0.67 | 0.67 |",
        "| Recall(empty=nan) | nan | 0.33 |",
    ]
    assert table(measures=["Precision(decode=all,no_prediction=skip)"]).to_latex().splitlines() == [
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"measure & one & two \\",
        r"\midrule",
        r"Precision(no\_prediction=skip) & 1.0000 & 0.5000 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_names_are_escaped():
    systems = {"a|b_c&d": ONE, "50%\n#1": TWO, "$x^2~\\{y}": ONE}
    found = semmetrics.score_systems(systems, REFS, measures=["F1"])
    assert found.to_markdown().splitlines()[0].startswith(r"| measure | a\|b_c&d | 50% #1 | $x")
    assert len(found.to_markdown().splitlines()) == 3
    head = found.to_latex().splitlines()[2]
    assert r"a\textbar{}b\_c\&d & 50\% \#1 & " in head
    assert head.endswith(r"\$x\textasciicircum{}2\textasciitilde{}\textbackslash{}\{y\} \\")
    assert len(found.to_text().splitlines()) == 3
    assert len(list(csv.reader(io.StringIO(found.to_csv())))) == 4


def test_csv_and_pandas_have_full_precision():
    found = table(ci=True)
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [row["system"] for row in rows] == ["one"] * 3 + ["two"] * 3
    assert float(rows[0]["value"]) == found["one", "F1"].value
    assert float(rows[0]["ci_low"]) == found["one", "F1"].ci.low
    assert rows[2]["value"] == ""
    assert rows[2]["undefined"] == "empty=1"
    assert rows[0]["signature"] == found["one", "F1"].signature
    frame = found.to_pandas()
    assert list(rows[0]) == list(frame.columns)
    assert (rows[0]["ci_level"], rows[0]["ci_method"]) == ("0.95", "wilson")
    assert frame["value"][0] == found["one", "F1"].value
    assert np.isnan(frame["value"][2])


def test_json_keeps_every_digit_and_says_null_for_undefined():
    found = table(ci=True)
    entries = json.loads(found.to_json())
    assert [e["value"] for e in entries] == [None if np.isnan(s.value) else s.value for s in found]
    assert entries[2]["value"] is None
    assert entries[2]["undefined"] == {"empty": 1}
    assert entries[0]["ci"]["seed"] == 12345
    assert "NaN" not in found.to_json()
    wide = semmetrics.score_systems({"für": ONE}, REFS, measures=["F1"])
    assert "für" in wide.to_json()


ASKED = [
    {},
    {"ci": True},
    {"ci": True, "resamples": 2, "measures": ["F1(empty=nan)", "Recall(no_reference=nan)@1,3"]},
    {"protocol": "kubany2020", "measures": None, "ci": semmetrics.Bootstrap(0.5, 3, 0)},
    {"protocol": "pineda2019", "measures": None, "classes": ["cat", "dog", "bird", "cow"]},
    {"weights": {"1": 0.5, "2": 0, "3": 0.1}, "ignore": ["a|b", "x\n"], "missing": "empty"},
]


@pytest.mark.parametrize("options", ASKED)
def test_json_follows_its_schema(options):
    VALID.validate(json.loads(table(**options).to_json()))


def test_json_of_scores_follows_its_schema():
    scores = np.array([[0.5, 0.1, 0.7], [0.3, 0.3, 0.3], [0.1, 0.9, 0.2]])
    options = {"classes": ["cat", "dog", "bird"]}
    for more in ({"ci": True}, {"measures": ["MicroF1"], "decode": "threshold:best"}):
        found = semmetrics.score(scores, list(REFS.values()), **options, **more)
        VALID.validate(json.loads(found.to_json()))


def broken(**changes):
    entry = json.loads(table(ci=True).to_json())[0]
    for name, value in changes.items():
        if value is KeyError:
            del entry[name]
        else:
            entry[name] = value
    return [entry]


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
    VALID.validate(broken())
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate(broken(**changes))


def test_the_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    methods = SCHEMA["$defs"]["interval"]["properties"]["method"]["enum"]
    assert {"auto", *methods} == set(OPTIONS["ci_method"].choices)
    score = SCHEMA["$defs"]["score"]
    assert set(score["required"]) == set(score["properties"]) == set(table().to_dicts()[0])


@pytest.mark.parametrize("form", RESULT_FORMATS)
def test_every_format_can_be_rendered(form):
    found = table()
    text = found.render(form)
    assert text
    assert not text.endswith("\n")
    if form == "json":
        assert text == found.to_json()
    with refused("bad-choice"):
        found.render("xml")
