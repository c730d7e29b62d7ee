"""``decode=threshold:best`` against every threshold, scored one by one, and against fractions."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny

import semmetrics
from semmetrics.metrics.sweeps import candidate_thresholds

LABELS = [f"w{number}" for number in range(12)]
MODEL = Tiny({label: np.random.default_rng(n).integers(-2, 5, 3).tolist()
              for n, label in enumerate(LABELS)})  # fmt: skip


def data(seed, levels, n=14):
    """Scored lists with repeats and equal scores, and reference lists with repeats and none."""
    rng = np.random.default_rng(seed)
    preds = [
        [(LABELS[code], float(rng.integers(0, levels)) / levels)
         for code in rng.integers(0, 10, rng.integers(0, 9))]
        for _ in range(n)
    ]  # fmt: skip
    refs = [[LABELS[code] for code in rng.integers(2, 12, rng.integers(0, 5))] for _ in range(n)]
    return preds, refs


def every_threshold(preds):
    return [float(t) for t in candidate_thresholds([s for row in preds for _, s in row])]


def chosen(score):
    return float(str(score.measure["decode"]).partition(":")[2])


EXACT = [
    "F1", "F1@3", "F1(duplicates=each)", "F1(empty=0)", "F1(empty=skip)", "F1(keep_at_least=1)",
    "F1(average=micro)", "F1(average=micro)@2", "F1(average=micro,labels=reference)",
    "F1(average=macro)", "F1(average=macro,labels=reference)", "F1(average=macro,absent=1)",
    "F1(average=macro,keep_at_least=2)@4", "F1(average=weighted)",
    "F1(average=weighted,labels=reference)@3",
]  # fmt: skip
MEANING = [
    f"SemF1({options})"
    for options in ("threshold=0.5", "threshold=0.5,match=any", "threshold=0.7,match=optimal",
                    "threshold=0.6,match=total", "threshold=0.6,match=any,average=micro",
                    "threshold=0.5,average=micro,empty=0", "threshold=0.5,duplicates=each",
                    "threshold=0.5,match=any,keep_at_least=1")
] + ["SemF1(threshold=0.5,match=any)@3"]  # fmt: skip


@pytest.mark.parametrize("text", EXACT + MEANING)
@pytest.mark.parametrize(("seed", "levels"), [(1, 4), (2, 1000), (3, 20)])
def test_no_threshold_is_better_and_no_higher_one_as_good(text, seed, levels):
    preds, refs = data(seed, levels)
    (measure,) = semmetrics.parse(text)
    points = every_threshold(preds)
    every = [measure.with_options(decode=f"threshold:{point!r}") for point in points]
    table = semmetrics.score(preds, refs, measures=every, embedding=MODEL)
    values = np.array([score.value for score in table])
    found = semmetrics.score(
        preds, refs, measures=measure.with_options(decode="threshold:best"), embedding=MODEL
    ).scores[0]
    assert found.value == pytest.approx(values.max(), abs=1e-15)
    assert found.best_threshold == chosen(found)
    as_good = [point for point, v in zip(points, values, strict=True) if v > values.max() - 1e-15]
    assert found.best_threshold == max(as_good)


def weights_of(kind, n=14):
    rng = np.random.default_rng(n)
    return {
        "whole": rng.integers(0, 4, n) + (np.arange(n) == 0),
        "any": rng.random(n) * 10.0 ** rng.integers(-3, 4, n),
        "one": (np.arange(n) == n // 2).astype(float),
    }[kind]


@pytest.mark.parametrize("text", EXACT + MEANING)
@pytest.mark.parametrize("kind", ["whole", "any", "one"])
@pytest.mark.parametrize(("seed", "levels"), [(1, 4), (2, 1000)])
def test_with_weights_no_threshold_is_better_and_no_higher_one_as_good(text, kind, seed, levels):
    preds, refs = data(seed, levels)
    weights = weights_of(kind)
    (measure,) = semmetrics.parse(text)
    points = every_threshold([item for item, w in zip(preds, weights, strict=True) if w])
    every = [measure.with_options(decode=f"threshold:{point!r}") for point in points]
    given = {"embedding": MODEL, "weights": weights}
    values = np.array([score.value for score in semmetrics.score(
        preds, refs, measures=every, **given)])  # fmt: skip
    found = semmetrics.score(
        preds, refs, measures=measure.with_options(decode="threshold:best"), **given
    ).scores[0]
    if np.isnan(values).all():  # the one item that counts is undefined at any threshold
        assert np.isnan(found.value)
        return
    best = np.nanmax(values)
    assert found.value == pytest.approx(best, abs=2e-15)
    as_good = [point for point, v in zip(points, values, strict=True) if v > best - 2e-15]
    assert found.best_threshold == max(as_good)


@pytest.mark.parametrize("average", ["example", "micro", "macro", "weighted"])
def test_whole_weights_are_repeats(average):
    rng = np.random.default_rng(3)
    for seed in range(20):
        preds, refs = data(seed, 50)
        times = rng.integers(1, 4, len(preds))
        text = f"F1(average={average},decode=threshold:best)"
        weighted = semmetrics.score(preds, refs, measures=text, weights=times)[0]
        longer = ([row for row, n in zip(side, times, strict=True) for _ in range(n)]
                  for side in (preds, refs))  # fmt: skip
        repeated = semmetrics.score(*longer, measures=text)[0]
        assert weighted.best_threshold == repeated.best_threshold
        assert weighted.value == pytest.approx(repeated.value, abs=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_unit_of_weights_is_nothing(scale):
    preds, refs = data(5, 100)
    weights = np.random.default_rng(0).random(len(preds))
    for text in ("F1(decode=threshold:best)", "MacroF1(decode=threshold:best)"):
        one, other = (semmetrics.score(preds, refs, measures=text, weights=weights * unit)[0]
                      for unit in (1.0, scale))  # fmt: skip
        assert one.best_threshold == other.best_threshold


@pytest.mark.parametrize("average", ["example", "macro", "weighted"])
@pytest.mark.parametrize("seed", range(3))
def test_thousands_of_distinct_scores_are_all_looked_at(seed, average):
    rng = np.random.default_rng(seed)
    scores = rng.random((200, 20))
    refs = (rng.random(scores.shape) < scores * 0.4).astype(int)
    classes = [f"c{number}" for number in range(20)]
    text = f"F1(average={average},decode=threshold:best)"
    found = semmetrics.score(scores, refs, measures=text, classes=classes).scores[0]
    # F1 of one item or class at every threshold, from its own scores alone
    total = np.zeros(scores.size + 1)
    points = candidate_thresholds(scores)
    axis = 0 if average == "example" else 1
    weights = refs.sum(axis=0) if average == "weighted" else np.ones(scores.shape[axis])
    known = np.zeros(scores.size + 1)
    for group, weight in enumerate(weights):
        mine, true = (np.take(table, group, axis) for table in (scores, refs))
        order = np.argsort(mine)
        above = len(mine) - np.searchsorted(mine[order], points, side="right")
        hits = np.append(0, np.cumsum(true[order][::-1]))[above]
        size = above + true.sum()
        value = np.where(size > 0, 2 * hits / np.maximum(size, 1), 1.0)
        some = np.ones(len(points)) if average != "macro" else size > 0
        total += weight * np.where(some, value, 0.0)
        known += weight * some
    best = np.argmax(total / known)
    assert found.best_threshold == points[best]
    assert found.value == pytest.approx(total[best] / known[best], abs=1e-12)


def test_equally_good_in_fractions_is_equally_good():
    """1/3 + 2/3 at the one threshold and 1/2 + 1/2 at the other: the higher one is taken."""
    preds = [[("a", 0.9), ("x", 0.5)], [("b", 0.9), ("y", 0.9), ("c", 0.5)]]
    refs = [["a", "q", "r", "s", "t"], ["b", "c", "u", "v"]]
    values = {
        threshold: sum(
            Fraction(2 * len({x for x, s in row if s > threshold} & set(ref)),
                     sum(s > threshold for _, s in row) + len(ref))
            for row, ref in zip(preds, refs, strict=True)
        )
        for threshold in every_threshold(preds)
    }  # fmt: skip
    found = semmetrics.score(preds, refs, measures="F1(decode=threshold:best)").scores[0]
    best = max(values.values())
    assert found.best_threshold == max(t for t, value in values.items() if value == best)


def test_it_is_in_the_table_the_json_and_the_signature_and_can_be_scored_again():
    preds, refs = data(5, 50)
    other = [[(label, score / 3) for label, score in row] for row in preds]
    systems = {"one": preds, "other": other}
    measures = ["F1(decode=threshold:best)", "MicroF1", "SemF1(decode=threshold:best)"]
    table = semmetrics.score_systems(systems, refs, measures=measures, embedding=MODEL)
    *lines, beside = str(table).splitlines()
    assert beside.endswith("(.undefined())")
    assert [line.split()[0] for line in lines] == [
        "measure", measures[0], "threshold", "F1(average=micro)", measures[2], "threshold",
    ]  # fmt: skip
    for place, name in ((2, measures[0]), (5, measures[2])):
        found = [table[system, name].best_threshold for system in systems]
        assert found[0] != found[1]
        assert [float(cell) for cell in lines[place].split()[1:]] == found
    entries = json.loads(table.to_json())
    assert [one["best_threshold"] for one in entries] == [s.best_threshold for s in table]
    assert [s.best_threshold is None for s in table] == [False, True, False] * 2
    for score in table:
        again = semmetrics.rescore(score.signature, systems[score.system], refs, embedding=MODEL)
        assert [one.value for one in again] == [score.value]
        assert again.differences == []
        assert again.scores[0].best_threshold is None  # the number is given then


def test_a_repeated_reference_counts_once_for_a_label():
    preds = [[("a", 0.9), ("b", 0.4)], [("a", 0.2)]]
    refs = [["b", "b", "b"], ["a"]]
    measure = "F1(average=macro,decode=threshold:best)"
    found = semmetrics.score(preds, refs, measures=measure).scores[0]
    every = [f"F1(average=macro,decode=threshold:{t!r})" for t in every_threshold(preds)]
    table = semmetrics.score(preds, refs, measures=every)
    assert found.value == max(score.value for score in table)


def test_weights_too_far_from_each_other_are_refused():
    preds = [[], [("b", 1.0), ("c", 1.0), ("d", 0.5), ("a", 0.5)]]
    options = {"measures": "MicroF1", "decode": "threshold:best"}
    near = semmetrics.score(preds, [[], ["b", "c"]], weights=[1e15, 1], **options)
    assert near[0].value == 1.0
    with refused("weights-apart"):
        semmetrics.score(preds, [[], ["b", "c"]], weights=[1e20, 1], **options)


def test_a_threshold_below_all_scores_is_one_that_can_be_read():
    preds = [[("a", 0.4)], [("b", 0.0)], [("c", 0.7), ("d", 0.0)]]
    table = semmetrics.score(
        preds, [["a"], ["b"], ["c", "d"]], measures="F1(decode=threshold:best)"
    )
    assert (table[0].value, table[0].best_threshold) == (1.0, -1.0)
    table = semmetrics.score([[("a", 0.4)]], [["a"]], measures="F1(decode=threshold:best)")
    assert (table[0].value, table[0].best_threshold) == (1.0, 0.0)
