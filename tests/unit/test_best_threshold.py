"""``decode=threshold:best`` against every threshold, scored one by one, and against fractions."""

from __future__ import annotations

import json

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.metrics.sweeps import candidate_thresholds

LABELS = [f"w{number}" for number in range(12)]
MODEL = Tiny(
    {
        label: np.random.default_rng(n).integers(-2, 5, 3).tolist()
        for n, label in enumerate(LABELS)
    }
)


def data(seed, levels, n=14):
    """Scored lists with repeats and equal scores, and reference lists with repeats and none."""
    rng = np.random.default_rng(seed)
    preds = [
        [
            (LABELS[code], float(rng.integers(0, levels)) / levels)
            for code in rng.integers(0, 10, rng.integers(0, 9))
        ]
        for _ in range(n)
    ]
    refs = [
        [LABELS[code] for code in rng.integers(2, 12, rng.integers(0, 5))]
        for _ in range(n)
    ]
    return preds, refs


def every_threshold(preds):
    return [
        float(t) for t in candidate_thresholds([s for row in preds for _, s in row])
    ]


def chosen(score):
    return float(str(score.measure["decode"]).partition(":")[2])


def options_of(text):
    given = "given" in text or "-F1" in text
    return {"embedding": MODEL, **({"classes": LABELS} if given else {})}


EXACT = [
    "F1",
    "F1@3",
    "F1(duplicates=each)",
    "F1(empty=0)",
    "F1(empty=skip)",
    "F1(keep_at_least=1)",
    "F1(average=micro)",
    "F1(average=micro)@2",
    "F1(average=micro,labels=reference)",
    "F1(average=macro)",
    "F1(average=macro,labels=reference)",
    "F1(average=macro,absent=1)",
    "F1(average=macro,keep_at_least=2)@4",
    "F1(average=weighted)",
    "F1(average=weighted,labels=reference)@3",
    "F1(average=macro,labels=given,absent=1)",
    "F1(average=macro,labels=given,absent=nan)",
]
EPSILON = ["O-F1", "C-F1", "I-F1", "I-F1(keep_at_least=2)@3"]
MEANING = [
    f"SemF1({options})"
    for options in (
        "threshold=0.5",
        "threshold=0.5,match=any",
        "threshold=0.7,match=optimal",
        "threshold=0.6,match=total",
        "threshold=0.6,match=any,average=micro",
        "threshold=0.5,average=micro,empty=0",
        "threshold=0.5,duplicates=each",
        "threshold=0.5,match=any,keep_at_least=1",
    )
] + ["SemF1(threshold=0.5,match=any)@3"]


def weights_of(kind, n=14):
    rng = np.random.default_rng(n)
    return {
        "whole": rng.integers(0, 4, n) + (np.arange(n) == 0),
        "any": rng.random(n) * 10.0 ** rng.integers(-3, 4, n),
        "one": (np.arange(n) == n // 2).astype(float),
    }[kind]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        *[(text, None) for text in EXACT + EPSILON + MEANING],
        *[(text, kind) for text in EXACT + MEANING for kind in ("whole", "any", "one")],
    ],
)
@pytest.mark.parametrize(("seed", "levels"), [(1, 4), (2, 1000), (3, 20)])
def test_no_threshold_is_better_and_no_higher_one_as_good(text, kind, seed, levels):
    preds, refs = data(seed, levels)
    weights = None if kind is None else weights_of(kind)
    (measure,) = semmetrics.parse(text)
    counted = np.ones(len(preds)) if weights is None else weights
    points = every_threshold(
        [item for item, w in zip(preds, counted, strict=True) if w]
    )
    every = [measure.with_options(decode=f"threshold:{point!r}") for point in points]
    given = {"weights": weights, **options_of(text)}
    values = np.array(
        [
            score.value
            for score in semmetrics.score(preds, refs, measures=every, **given)
        ]
    )
    found = semmetrics.score(
        preds, refs, measures=measure.with_options(decode="threshold:best"), **given
    ).scores[0]
    if np.isnan(values).all():  # the one item that counts is undefined at any threshold
        assert np.isnan(found.value)
        return
    best, most = np.nanmax(values), 1e-15 if weights is None else 2e-15
    assert found.value == pytest.approx(best, abs=most)
    assert found.best_threshold == chosen(found)
    assert found.best_threshold == np.array(points)[values > best - most].max()


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_unit_of_weights_is_nothing(scale):
    preds, refs = data(5, 100)
    weights = np.random.default_rng(0).random(len(preds))
    for text in ("F1(decode=threshold:best)", "MacroF1(decode=threshold:best)"):
        one, other = (
            semmetrics.score(preds, refs, measures=text, weights=weights * unit)[0]
            for unit in (1.0, scale)
        )
        assert one.best_threshold == other.best_threshold


def test_weights_too_far_from_each_other_are_refused():
    preds = [[], [("b", 1.0), ("c", 1.0), ("d", 0.5), ("a", 0.5)]]
    options = {"measures": "MicroF1", "decode": "threshold:best"}
    near = semmetrics.score(preds, [[], ["b", "c"]], weights=[1e15, 1], **options)
    assert near[0].value == 1.0
    with refused("weights-apart"):
        semmetrics.score(preds, [[], ["b", "c"]], weights=[1e20, 1], **options)


def test_it_is_in_the_table_the_json_and_the_signature_and_can_be_scored_again():
    preds, refs = data(5, 50)
    other = [[(label, score / 3) for label, score in row] for row in preds]
    systems = {"one": preds, "other": other}
    measures = ["F1(decode=threshold:best)", "MicroF1", "SemF1(decode=threshold:best)"]
    table = semmetrics.score_systems(systems, refs, measures=measures, embedding=MODEL)
    *lines, beside = str(table).splitlines()
    assert beside.endswith("(.undefined())")
    assert [line.split()[0] for line in lines] == [
        "measure",
        measures[0],
        "threshold",
        "MicroF1",
        measures[2],
        "threshold",
    ]
    for place, name in ((2, measures[0]), (5, measures[2])):
        found = [table[system, name].best_threshold for system in systems]
        assert found[0] != found[1]
        assert [float(cell) for cell in lines[place].split()[1:]] == found
    entries = json.loads(table.to_json())["scores"]
    assert [one["best_threshold"] for one in entries] == [
        s.best_threshold for s in table
    ]
    assert [s.best_threshold is None for s in table] == [False, True, False] * 2
    for score in table:
        again = semmetrics.rescore(
            score.signature, systems[score.system], refs, embedding=MODEL
        )
        assert [one.value for one in again] == [score.value]
        assert again.differences == []
        assert again.scores[0].best_threshold is None  # the number is given then
