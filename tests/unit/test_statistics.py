"""Statistics of disjoint items add up to the statistics of all, or raise an error."""

from __future__ import annotations

from dataclasses import replace

import laws
import numpy as np
import pytest
from batches import select
from refusals import refused

from semmetrics.data.join import Weights
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.parsing import parse_all
from semmetrics.scoring.evaluate import evaluate

PREDS = {
    "x": [("a", 0.9), ("b", 0.1)],
    "y": [("q", 0.5)],
    "z": [("c", 0.7), ("a", 0.2)],
}
REFS = {"x": ["a"], "y": ["b"], "z": ["c", "d"]}
MEASURES = parse_all(["F1", "MacroF1", "MicroF1", "AP", "RankingLoss", "mAP"])


def task_of(preds, refs, **options):
    resolved = resolve_options(options, "labels")
    return label_task(as_labels(preds), as_labels(refs), resolved)


def statistics_of(ids, measures=MEASURES, *, keep_rows=True, weights=None, **options):
    if weights is not None:
        options["weights"] = Weights(weights)
    task = task_of(select(PREDS, ids), select(REFS, ids), **options)
    return evaluate(task, measures, keep_rows=keep_rows)


def values(statistics):
    return laws.values(statistics, MEASURES)


def test_weighted_sums_of_parts_are_exact_in_any_order():
    whole = statistics_of("xyz", weights={"x": 0.1, "y": 0.2, "z": 0.3})
    first = statistics_of("x", weights={"x": 0.1})
    second = statistics_of("y", weights={"y": 0.2})
    third = statistics_of("z", weights={"z": 0.3})

    merged = third + (second + first)

    assert values(merged) == values(whole)
    assert merged.weights.tolist() == [0.3, 0.2, 0.1]


def test_items_by_position_keep_their_position_in_parts():
    task = label_task(as_labels([*PREDS.values()]), as_labels([*REFS.values()]))
    first = evaluate(task.take(np.array([2, 0])), MEASURES)
    second = evaluate(task.take(np.array([1])), MEASURES)

    merged = first + second

    assert values(merged) == values(statistics_of("xyz"))
    assert np.asarray(merged.ids).tolist() == [2, 0, 1]


def test_parts_with_a_common_item_raise_an_error():
    with refused("items-in-both"):
        statistics_of("xy") + statistics_of("yz")


@pytest.mark.parametrize(
    ("options", "other_options"),
    [
        ({}, {"normalize": "lower"}),
        ({}, {"missing": "skip"}),
        ({"classes": ["a", "b"]}, {"classes": ["b", "a"]}),
        ({"weights": {"x": 1}}, {}),
        ({}, {"measures": MEASURES[:3]}),
        ({}, {"keep_rows": False}),
    ],
)
def test_parts_with_different_options_raise_an_error(options, other_options):
    first = statistics_of("x", **options)
    second = statistics_of("y", **other_options)

    with refused("different-statistics"):
        first + second
    with refused("different-statistics"):
        second + first


def test_parts_of_different_versions_raise_an_error():
    first = statistics_of("x")
    second = replace(statistics_of("y"), version="0.0.1")

    with refused("different-statistics"):
        first + second


def test_parts_that_found_different_classes_of_synonyms_raise_an_error():
    measures = parse_all(["F1"])
    preds = [["a", "b"]]
    first = task_of({"x": preds}, {"x": ["a", "b"]}, ignore=["a"])
    second = task_of({"y": preds}, {"y": ["b"]}, ignore=["a"])

    with refused("classes-of-references"):
        evaluate(first, measures) + evaluate(second, measures)


def test_counts_of_labels_that_are_left_out_add_up():
    preds = {
        "x": [("a", 0.5), ("d", 0.5)],
        "y": [("q", 0.5), ("q", 0.5), ("d", 0.5)],
        "z": [("q", 0.5), ("r", 0.5)],
    }
    measures = parse_all(["F1", "MacroF1"])
    options = {"classes": ["a", "b", "c", "d"], "ignore": ["d"]}
    parts = []
    for ids in ("xy", "z"):
        task = task_of(select(preds, ids), select(REFS, ids), **options)
        parts.append(evaluate(task, measures))

    merged = parts[0] + parts[1]

    assert merged.ignored == {"d": (2, 1)}
    f1, macro_f1 = laws.scores(merged, measures)
    assert f1.left_out == (1, 2, 1)
    # The labels q and r are not in the class list.
    assert macro_f1.left_out == (3, 6, 1)
