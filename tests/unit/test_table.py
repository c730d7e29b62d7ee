"""Tables of scores: look-ups, every format, and the schema of the JSON."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest
from refusals import refused

import semmetrics

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


@pytest.mark.parametrize(("key", "message"), [
    ("F1", "ambiguous-score"),
    ("F2", "unknown-name"),
    (("one", "xyz"), "unknown-name"),
    (("three", "F1"), "unknown-name"),
])  # fmt: skip
def test_look_ups_that_fail(key, message):
    with refused(message):
        table()[key]


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


@pytest.mark.parametrize("changes", [
    {"schema": "semmetrics.score/2"}, {"value": "0.5"}, {"value": KeyError}, {"ci": KeyError},
    {"ci": [0.1, 0.2]}, {"ci": {"low": 0.1, "high": 0.2}}, {"n": 0}, {"n": 3.5},
    {"undefined": {"empty": 0}}, {"undefined": {"Empty set": 1}}, {"undefined": None},
    {"signature": "F1"}, {"signature": "F1|avg:example\n|n:3"}, {"rows": []}, {"more": 1},
])  # fmt: skip
def test_the_schema_refuses_what_is_wrong(changes):
    found = json.loads(table(ci=True).to_json())
    (entry, *_) = found["scores"]
    entry = {k: v for k, v in {**entry, **changes}.items() if v is not KeyError}
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate({**found, "scores": [entry]})
