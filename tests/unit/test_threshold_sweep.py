"""Semantic measures over thresholds, held to the scores at each."""

import csv
import io
import json
import math

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics import sweep

WORDS = [f"w{i}" for i in range(40)]
RNG = np.random.default_rng(7)
MODEL = Tiny({w: RNG.integers(-3, 6, 4).tolist() for w in WORDS[:36]})


def lists(n, size, seed):
    rng = np.random.default_rng(seed)
    return {
        f"i{i}": [WORDS[j] for j in rng.integers(0, len(WORDS), rng.integers(0, size))]
        for i in range(n)
    }


PREDS, GTS = lists(60, 6, 1), lists(60, 8, 2)
EVERY = [
    "SemF1", "SemPrecision", "SemRecall(match=any)", "SemJaccard(match=optimal)",
    "SemAP@3", "SemF1(average=micro,duplicates=each)", "SemF1(match=total)@2",
]  # fmt: skip


@pytest.mark.parametrize("oov", ["zero", "skip"])
def test_values_are_those_of_score(oov):
    found = sweep(PREDS, GTS, measures=EVERY, thresholds="-0.5:1:0.1", embedding=MODEL, oov=oov)
    assert list(found.scores) == EVERY
    for place, point in enumerate(found.points):
        texts = [
            str(measure.with_options(threshold=point))
            for text in EVERY
            for measure in semmetrics.parse(text)
        ]
        table = semmetrics.score(PREDS, GTS, measures=texts, embedding=MODEL, oov=oov)
        assert [s.value for s in table] == [column[place] for column in found.values.values()]
        assert [s.signature for s in table] == [
            found.scores[name][place].signature for name in EVERY
        ]


def test_labels_are_looked_up_once():
    model = Tiny(MODEL.vectors)
    sweep(PREDS, GTS, measures=["SemF1", "SemRecall"], embedding=model)
    assert len(model.asked) == len(set(model.asked))
    calls = []

    def lengths(texts):
        calls.append(texts)
        return [[float(len(text)), 1.0] for text in texts]

    sweep(PREDS, GTS, measures="SemF1", embedding=lengths)
    assert len(calls) == 1  # and nothing but the labels


def test_cutoffs_and_rules_are_measures_of_their_own():
    scored = {name: [(w, 0.5 - 0.1 * i) for i, w in enumerate(dict.fromkeys(some))]
              for name, some in PREDS.items()}  # fmt: skip
    found = sweep(scored, GTS, thresholds=[0.3, 0.6], top_k=[1, 3], embedding=MODEL)
    assert list(found.values) == ["SemF1@1", "SemF1@3"]
    ruled = sweep(scored, GTS, thresholds=[0.3], decode="threshold:0.35", embedding=MODEL)
    (name,) = ruled.values
    assert name == "SemF1(decode=threshold:0.35)"
    assert ruled.values[name] != found.values["SemF1@3"][:1]


@pytest.mark.parametrize(
    ("given", "points"),
    [
        (None, [i / 100 for i in range(101)]),
        ("-1:1:0.5", [-1.0, -0.5, 0.0, 0.5, 1.0]),
        ("0.5, 0.3", [0.3, 0.5]),
        (np.array([0.25]), [0.25]),
        ("0:0.99:0.3", [0.0, 0.3, 0.6, 0.9]),
        (0.4, [0.4]),
    ],
)
def test_points(given, points):
    assert list(sweep(PREDS, GTS, thresholds=given, embedding=MODEL).points) == points


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", "bad-thresholds"),
        ("0:1", "bad-thresholds"),
        ("1:0:0.1", "bad-thresholds"),
        ("0:1:0", "bad-thresholds"),
        ("0:1:0.00001", "bad-thresholds"),
        ("0,x", "bad-thresholds"),
        ("0:nan:1", "bad-thresholds"),
        ([0.1, 0.1], "duplicate"),
        ([2.0], "out-of-range"),
        ([], "bad-thresholds"),
        ([True], "bad-thresholds"),
        ([None], "bad-thresholds"),
    ],
)
def test_wrong_thresholds(wrong, message):
    with refused(message):
        sweep(PREDS, GTS, thresholds=wrong, embedding=MODEL)


def test_best_is_the_highest_of_equal_ones():
    preds, gts = [["a"], ["b"]], [["a"], ["c"]]
    model = Tiny({"a": [1, 0], "b": [0, 1], "c": [0.6, 0.8]})
    found = sweep(preds, gts, thresholds="0:1:0.2", embedding=model)
    assert found.values == {"SemF1": [1.0, 1.0, 1.0, 1.0, 0.5, 0.0]}
    assert found.best["SemF1"] == (0.6, 1.0)


def test_undefined_values():
    found = sweep([[]], [["a"]], measures="SemPrecision(no_prediction=nan)", thresholds=[0.1, 0.2])
    name = "SemPrecision(no_prediction=nan)"
    assert all(map(math.isnan, found.values[name]))
    assert found.best == {name: None}
    assert found.to_dict()["measures"][0] == {
        "measure": name, "values": [None, None], "best": None,
    }  # fmt: skip
    assert "undefined" in found.to_text()
    assert found.to_csv() == f"threshold,{name}\n0.1,\n0.2,\n"


def test_forms():
    found = sweep(PREDS, GTS, measures=["SemF1", "SemRecall"], thresholds="0:1:0.25",
                  embedding=MODEL, system="mine")  # fmt: skip
    entry = json.loads(found.to_json())
    assert (entry["schema"], entry["system"], entry["n"]) == ("semmetrics.sweep/1", "mine", 60)
    assert entry["thresholds"] == [0.0, 0.25, 0.5, 0.75, 1.0]
    for one in entry["measures"]:
        assert one["values"] == found.values[one["measure"]]
        best = found.best[one["measure"]]
        assert (one["best"]["threshold"], one["best"]["value"]) == best
        assert f"|thr:{best.threshold!r}|" in one["best"]["signature"]
    rows = list(csv.reader(io.StringIO(found.to_csv())))
    assert rows[0] == ["threshold", "SemF1", "SemRecall"]
    assert [float(row[1]) for row in rows[1:]] == found.values["SemF1"]
    assert str(found).splitlines()[0].split() == rows[0]
    assert found.render("table") == str(found)
    with refused("bad-choice"):
        found.render("xml")


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("F1", "no-threshold"),
        ("SoftF1", "no-threshold"),
        ("WMD", "no-threshold"),
        ("SemF1(threshold=0.4)", "not-applicable"),
    ],
)
def test_measures_without_a_threshold_to_sweep(measure, message):
    with refused(message):
        sweep(PREDS, GTS, measures=[measure])


def test_unknown_options_are_refused():
    with refused("unknown-name"):
        sweep(PREDS, GTS, embedding=MODEL, treshold=0.4)
    with refused("unknown-name"):
        sweep(PREDS, GTS, embedding=MODEL, xyzw=0.4)


def test_protocols_are_refused():
    with refused("measures-and-protocol"):
        sweep(PREDS, GTS, protocol="kubany2020")


def test_measures_of_ones_own_definition_can_be_swept():
    (measure,) = semmetrics.parse("SemF1@2")
    found = sweep(PREDS, GTS, measures=measure, thresholds=[0.4], embedding=MODEL)
    (score,) = semmetrics.score(PREDS, GTS, measures="SemF1(threshold=0.4)@2", embedding=MODEL)
    assert found.values == {"SemF1@2": [score.value]}
