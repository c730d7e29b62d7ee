"""Statistics of parts: they add up to the whole, or say why they cannot be added."""

from __future__ import annotations

from dataclasses import replace

import laws
import numpy as np
import pytest
from refusals import refused
from tiny import Tiny, with_vectors

from semmetrics.core.columns import UNIT, as_floats
from semmetrics.data.join import Weights
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.parsing import parse_all
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.score_notes import left_out_notes

PREDS = {
    "x": [("a", 0.9), ("b", 0.1)],
    "y": [("q", 0.5)],
    "z": [("c", 0.7), ("a", 0.2)],
}
REFS = {"x": ["a"], "y": ["b"], "z": ["c", "d"]}
MEASURES = parse_all(["F1", "MacroF1", "MicroF1", "AP", "RankingLoss", "mAP"])


def part(ids, measures=MEASURES, *, keep_rows=True, weights=None, **options):
    if weights is not None:
        options["weights"] = Weights(weights)
    pred, ref = ({i: side[i] for i in ids} for side in (PREDS, REFS))
    task = label_task(
        as_labels(pred), as_labels(ref), resolve_options(options, "labels")
    )
    return evaluate(task, measures, keep_rows=keep_rows)


def values(statistics):
    return laws.values(statistics, MEASURES)


def test_sums_of_floats_are_exact():
    whole = part("xyz", weights={"x": 0.1, "y": 0.2, "z": 0.3})
    heavy = next(
        s for name, s in next(iter(whole.sums.values())).items() if name == "value"
    )
    assert isinstance(heavy.item(), int)
    assert as_floats(heavy) == heavy.item() / UNIT
    parts = [part(i, weights={i: w}) for i, w in (("z", 0.3), ("y", 0.2), ("x", 0.1))]
    total = parts[0] + (parts[1] + parts[2])
    assert values(total) == values(whole)
    assert total.weights.tolist() == [0.3, 0.2, 0.1]


def test_items_by_position_are_the_same_items():
    def by_position(ids):
        pred, ref = ([side[i] for i in ids] for side in (PREDS, REFS))
        return evaluate(label_task(as_labels(pred), as_labels(ref)), MEASURES)

    with refused("items-in-both"):
        by_position("x") + by_position("yz")
    pred, ref = (as_labels([side[i] for i in "xyz"]) for side in (PREDS, REFS))
    task = label_task(pred, ref)
    halves = [evaluate(task.take(np.array(rows)), MEASURES) for rows in ([2, 0], [1])]
    assert values(halves[0] + halves[1]) == values(part("xyz"))
    assert np.asarray((halves[0] + halves[1]).ids).tolist() == [2, 0, 1]
    assert list((part("x") + halves[1]).ids) == ["x", "1"]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({}, {"normalize": "lower"}),
        ({}, {"missing": "skip"}),
        ({"classes": ["a", "b"]}, {"classes": ["b", "a"]}),
        ({"weights": {"x": 1}}, {}),
        ({}, {"measures": MEASURES[:3]}),
        ({"measures": MEASURES[:5]}, {}),
        ({}, {"keep_rows": False}),
        ({}, {}),  # made by another version
    ],
)
def test_what_cannot_be_added(left, right):
    one, other = part("x", **left), part("y", **right)
    if not left and not right:
        other = replace(other, version="0.0.1")
    for first, second in ((one, other), (other, one)):
        with refused("different-statistics"):
            first + second
    with refused("items-in-both"):
        part("xy") + part("yz")


MEANT = parse_all(["F1", "Precision", "Jaccard", "MacroF1", "SemF1(threshold=0.5)"])
MODEL = Tiny({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]})


def named_task(items, **options):
    """The task of items by id; each has predictions and references."""
    sides = ({name: item[side] for name, item in items.items()} for side in (0, 1))
    task = label_task(*map(as_labels, sides), resolve_options(options, "labels"))
    return with_vectors(task, MEANT, MODEL)


def meant(items, **options):
    return evaluate(named_task(items, **options), MEANT)


def test_an_ignored_class_is_one_of_the_classes_found():
    items = {"x": ([["a", "b"]], ["a", "b"]), "y": ([["a", "b"]], ["b"])}
    one, other = (meant({name: items[name]}, ignore=["a"]) for name in "xy")
    assert one.labels == ("b",)
    with refused("classes-of-references"):
        one + other


def test_counts_of_what_was_left_out_add_up():
    pred = {"x": ["a", "d"], "y": ["q", "q", "d"], "z": ["q", "r"]}
    measures = parse_all(["F1", "MacroF1", "MacroF1(labels=reference)", "LRAP"])

    def made(ids):
        sides = (
            {i: [(x, 0.5) for x in pred[i]] for i in ids},
            {i: REFS[i] for i in ids},
        )
        options = {"classes": ["a", "b", "c", "d"], "ignore": ["d"]}
        return label_task(*map(as_labels, sides), resolve_options(options, "labels"))

    whole = evaluate(made("xyz"), measures)
    parts = [evaluate(made(ids), measures) for ids in ("xy", "z")]
    rows = [
        evaluate(made("xyz").take(np.array(rows)), measures) for rows in ([1, 2], [0])
    ]
    for total in (whole, parts[0] + parts[1], rows[0] + rows[1]):
        assert total.ignored == {"d": (2, 1)}
        # "q" and "r" are outside the class list; and all other labels are true
        scores = laws.scores(total, measures)
        assert [one.left_out for one in scores] == [(1, 2, 1), *[(3, 6, 1)] * 3]
        assert list(map(str, left_out_notes(total, scores))) == [
            "1 label ignored (predicted 2 times, true 1 time)",
            "2 labels outside the ground truth, ignored by "
            "F1(average=macro,labels=reference) (predicted 4 times, true 0 times)",
            "2 labels outside the class list, ignored by F1(average=macro), LRAP "
            "(predicted 4 times, true 0 times)",
        ]
