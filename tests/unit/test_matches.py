"""Which prediction matched which reference, item by item."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from refusals import refused
from tiny import Tiny, one_hot

import semmetrics
from semmetrics.scoring.table_text import draw_worst

PLANE = Tiny({"x": [1, 0], "near": [3, 4], "up": [0, 1], "far": [-1, 0]}, threshold=0.5)


def score(preds, refs, measure, model=PLANE):
    return semmetrics.score(preds, refs, measures=measure, embedding=model, oov="zero")


def list_pairs(table, *more_columns):
    """Return the prediction and the reference of each row, and more columns."""
    columns = ["prediction", "reference", *more_columns]
    return [tuple(row[name] for name in columns) for row in table.matches()]


@pytest.mark.parametrize(
    ("measure", "pairs"),
    [
        ("SemF1(threshold=0.5)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.5)@1", [("near", "up", 0.8), (None, "x", None)]),
        (
            "SemF1(threshold=0.5,match=greedy)",
            [("near", "x", 0.6), ("x", None, 1.0), (None, "up", None)],
        ),
        ("SemF1(threshold=0.5,match=optimal)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        ("SemF1(threshold=0.7,match=any)", [("near", "up", 0.8), ("x", "x", 1.0)]),
        # "x" also matches "near", and is not missed.
        ("SemF1(threshold=0.5,match=any)@1", [("near", "up", 0.8)]),
    ],
)
def test_matches_follow_the_rule_and_the_cutoff(measure, pairs):
    table = score([["near", "x"]], [["x", "up"]], measure)

    assert list_pairs(table, "similarity") == pairs


def test_an_unmatched_prediction_has_a_nearest_reference():
    preds = {"a": ["near", "far"], "b": ["x"], "c": []}
    refs = {"a": ["x", "up"], "b": [], "c": ["up"]}

    table = score(preds, refs, "SemF1(threshold=0.9)")

    assert list_pairs(table, "nearest") == [
        ("near", None, "up"),
        ("far", None, "up"),
        (None, "x", None),
        (None, "up", None),
        ("x", None, None),
        (None, "up", None),
    ]


def test_synonyms_are_shown_together():
    preds = [[["near", "n"], "x"]]
    refs = [[["x", "y"], "up"]]

    table = score(preds, refs, "SemF1(threshold=0.7)")

    assert list_pairs(table) == [("near | n", "up"), ("x", "x | y")]


@pytest.mark.parametrize(
    ("measure", "lines"),
    [
        ("F1", ["missed     x, up", "wrong      near, far"]),
        ("SemF1(threshold=0.5)", ["missed     x", "wrong      far"]),
        ("SoftF1", []),
    ],
)
def test_the_worst_items_name_missed_and_wrong_labels(measure, lines):
    table = score([["near", "far"]], [["x", "up"]], measure)

    text = [line.strip() for line in draw_worst(table, 1).splitlines()]

    assert [line for line in text if line.startswith(("missed", "wrong"))] == lines


@pytest.mark.parametrize(
    "measure", ["SemF1(threshold=0.5)", "SemF1(threshold=0.5,match=total)"]
)
def test_of_several_best_pairings_the_same_is_shown_for_any_order(measure):
    # "x" and "y" are equally similar to "u" and "v".
    vectors = {name: [1, place % 2 / 100] for place, name in enumerate("xuyvzw")}
    pairings = set()

    for pred in itertools.permutations("xyz"):
        for ref in itertools.permutations("uvw"):
            table = score([list(pred)], [list(ref)], measure, Tiny(vectors))
            pairings.add(frozenset(list_pairs(table)))

    assert len(pairings) == 1


@pytest.mark.parametrize("measure", ["F1", "SoftF1", "WMD"])
def test_measures_without_pairs_have_no_matches(measure):
    table = score([["a"]], [["a"]], measure, one_hot("ab"))

    with refused("lacks-measure"):
        table.matches()


@pytest.mark.parametrize("match", ["exact-first", "total", "greedy", "optimal", "any"])
@pytest.mark.parametrize("at", ["", "@3"])
def test_the_share_of_matched_predictions_is_the_precision(match, at):
    rng = np.random.default_rng(5)
    names = [f"w{place}" for place in range(20)]
    model = Tiny(dict(zip(names, rng.normal(size=(20, 4)).tolist(), strict=True)))
    sizes = rng.integers(0, 7, (2, 60))
    preds = [rng.choice(names, size).tolist() for size in sizes[0]]
    refs = [rng.choice(names, size).tolist() for size in sizes[1]]

    table = score(preds, refs, f"SemPrecision(threshold=0.4,match={match}){at}", model)

    predicted = np.zeros(60)
    matched = np.zeros(60)
    for row in table.matches():
        item = int(row["id"])
        predicted[item] += row["prediction"] is not None
        matched[item] += None not in (row["prediction"], row["reference"])
    has_predictions = predicted > 0
    precision = matched[has_predictions] / predicted[has_predictions]
    np.testing.assert_allclose(table[0].items[has_predictions], precision)
