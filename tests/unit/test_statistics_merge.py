"""Statistics of parts: they add up to the whole, or say why they cannot be added."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused
from tiny import Tiny, with_vectors

import semmetrics
from semmetrics.core.columns import UNIT, as_floats
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.registry import parse_all
from semmetrics.scoring.evaluate import evaluate, frame_of, merged_labels
from semmetrics.scoring.result import left_out_notes, score_statistics

PREDS = {"x": [("a", 0.9), ("b", 0.1)], "y": [("q", 0.5)], "z": [("c", 0.7), ("a", 0.2)]}
REFS = {"x": ["a"], "y": ["b"], "z": ["c", "d"]}
MEASURES = parse_all(["F1", "MacroF1", "MicroF1", "AP", "RankingLoss", "mAP"])


def part(ids, measures=MEASURES, *, keep_rows=True, **options):
    pred, ref = ({i: side[i] for i in ids} for side in (PREDS, REFS))
    task = label_task(as_labels(pred), as_labels(ref), **options)
    return evaluate(task, measures, keep_rows=keep_rows)


def values(statistics, measures=MEASURES):
    pairs = {"s": [(m, "") for m in measures]}
    scores = score_statistics({"s": statistics}, pairs, headings=list(map(str, measures)))
    return [score.value for score in scores]


def test_parts_with_other_labels_add_up():
    parts = [part("z"), part("x"), part("y")]
    assert [p.labels for p in parts] == [("a", "c", "d"), ("a", "b"), ("b", "q")]
    total = parts[0] + parts[1] + parts[2]
    whole = part("xyz")
    assert total.labels == whole.labels == ("a", "b", "c", "d", "q")
    assert total.n_reference.tolist() == whole.n_reference.tolist() == [1, 1, 1, 1, 0]
    assert total.n_prediction.tolist() == whole.n_prediction.tolist() == [2, 1, 1, 0, 1]
    assert total.fingerprint == whole.fingerprint
    assert list(total.ids) == ["z", "x", "y"]
    assert len(total) == 3
    assert values(total) == values(whole)
    assert [p.labels for p in parts] == [("a", "c", "d"), ("a", "b"), ("b", "q")]  # not changed


def test_given_classes_keep_their_order():
    options = {"classes": ["d", "c", "b", "a"]}
    total = part("z", **options) + part("xy", **options)
    assert total.labels == part("xyz", **options).labels == ("d", "c", "b", "a", "q")
    assert total.given == 4
    assert merged_labels([part("z", **options), part("y", **options)])[:4] == tuple("dcba")


def test_sums_of_floats_are_exact():
    weights = {"x": 0.1, "y": 0.2, "z": 0.3}
    whole = part("xyz", weights=weights)
    parts = [part(i, weights={i: weights[i]}) for i in "zyx"]
    total = parts[0] + (parts[1] + parts[2])
    for statistic, sums in whole.sums.items():
        for name, array in sums.items():
            assert array.dtype == total.sums[statistic][name].dtype
            assert array.tolist() == total.sums[statistic][name].tolist()
    assert values(total) == values(whole)
    heavy = next(s for name, s in next(iter(whole.sums.values())).items() if name == "value")
    assert isinstance(heavy.item(), int)
    assert as_floats(heavy) == heavy.item() / UNIT
    assert total.weights.tolist() == [0.3, 0.2, 0.1]


def test_parts_without_rows_add_up_but_for_measures_that_need_them():
    additive = [m for m in MEASURES if m.definition.family.statistic(m).additive]
    total = part("xy", additive, keep_rows=False) + part("z", additive, keep_rows=False)
    assert total.parts is None
    assert values(total, additive) == values(part("xyz"), additive)
    mixed = part("xy", keep_rows=False) + part("z", keep_rows=False)
    assert values(mixed) == values(part("xyz"))
    with refused("rows-not-kept"):
        mixed.rows(MEASURES[0].definition.family.statistic(MEASURES[0]))


def test_statistics_cross_processes():
    parts = [pickle.loads(pickle.dumps(part(i))) for i in "xyz"]
    assert values(parts[0] + parts[1] + parts[2]) == values(part("xyz"))


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
    ("left", "right", "message"),
    [
        (lambda: part("xy"), lambda: part("yz"), "items-in-both"),
        (lambda: part("x"), lambda: part("y", normalize="lower"), "different-statistics"),
        (lambda: part("x"), lambda: part("y", missing="skip"), "different-statistics"),
        (
            lambda: part("x", classes=["a", "b"]),
            lambda: part("y", classes=["b", "a"]),
            "different-statistics",
        ),
        (lambda: part("x", weights={"x": 1}), lambda: part("y"), "different-statistics"),
        (lambda: part("x"), lambda: part("y", MEASURES[:3]), "different-statistics"),
        (lambda: part("x", MEASURES[:5]), lambda: part("y"), "different-statistics"),
        (lambda: part("x"), lambda: part("y", keep_rows=False), "different-statistics"),
        (lambda: part("x"), lambda: replace(part("y"), version="0.0.1"), "different-statistics"),
    ],
)
def test_what_cannot_be_added(left, right, message):
    with refused(message):
        left() + right()
    with refused(message):
        right() + left()


def test_what_differs_is_named_with_both_values():
    one, other = part("x"), part("y", normalize="lower", classes=["a", "b"])
    with refused("different-statistics") as caught:
        one + other
    listed = f"classes is not given and {other.settings['classes']}"
    assert {"norm is none and lower", listed} <= {*caught.value.values["why"].split("; ")}


LABEL = st.sampled_from(["a", "b", "c", ["a", "b"], ["b", "a"], ["c", "a"]])
ITEMS = st.lists(st.tuples(st.lists(LABEL, max_size=3), st.lists(LABEL, max_size=3)), min_size=2,
                 max_size=5)  # fmt: skip
MEANT = parse_all(["F1", "Precision", "Jaccard", "MacroF1", "SemF1(threshold=0.5)"])
MODEL = Tiny({"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]})


def named_task(items, **options):
    """The task of items by id; each has predictions and references."""
    sides = ({name: item[side] for name, item in items.items()} for side in (0, 1))
    task = label_task(*map(as_labels, sides), **options)
    return with_vectors(task, MEANT, MODEL)


def meant(items, **options):
    return evaluate(named_task(items, **options), MEANT)


def has_synonyms(items):
    return any(
        isinstance(label, list) for item in items.values() for side in item for label in side
    )


@settings(max_examples=150, deadline=None)
@given(items=ITEMS, cut=st.integers(1, 4), back=st.booleans())
def test_parts_with_synonyms_give_the_whole_or_are_refused(items, cut, back):
    named = {f"i{number}": item for number, item in enumerate(items)}
    names = list(named)
    cut = min(cut, len(names) - 1)
    halves = [{name: named[name] for name in some} for some in (names[:cut], names[cut:])]
    halves = halves[::-1] if back else halves
    listed = {"classes": [["c"], ["a"], "b", ["a", "b"], ["b", "a"], ["c", "a"]]}
    one, other = (meant(half, **listed) for half in halves)
    assert repr(values(one + other, MEANT)) == repr(values(meant(named, **listed), MEANT))
    one, other = map(meant, halves)
    found = [
        {tuple(label) for _, ref in half.values() for label in ref} if has_synonyms(half) else None
        for half in halves
    ]
    if found[0] == found[1]:
        assert repr(values(one + other, MEANT)) == repr(values(meant(named), MEANT))
    else:
        with refused("classes-of-references"):
            one + other


def test_parts_whose_references_give_other_classes_are_refused():
    # in the whole, "a" is a class, and both predictions of "x" belong to it
    items = {"x": ([["a", "b"], "a"], ["b"]), "y": (["a"], ["a"])}
    one, other = (meant({name: items[name]}) for name in "xy")
    assert [values(part, MEANT[:1])[0] for part in (one, other)] == [pytest.approx(2 / 3), 1]
    assert values(meant(items), MEANT)[0] == 1
    saved = [pickle.loads(pickle.dumps(part)) for part in (one, other)]
    for left, right in ((one, other), (other, one), saved):
        with refused("classes-of-references"):
            left + right
    listed = {"classes": ["a", "b"]}
    saved = [pickle.loads(pickle.dumps(meant({name: items[name]}, **listed))) for name in "xy"]
    assert values(saved[0] + saved[1], MEANT) == values(meant(items, **listed), MEANT)


def test_an_ignored_class_is_one_of_the_classes_found():
    items = {"x": ([["a", "b"]], ["a", "b"]), "y": ([["a", "b"]], ["b"])}
    one, other = (meant({name: items[name]}, ignore=["a"]) for name in "xy")
    assert one.labels == ("b",)
    with refused("classes-of-references"):
        one + other


def test_parts_of_one_task_with_synonyms_add_up():
    task = named_task({"x": ([["b", "a"]], ["a"]), "y": ([["c", "b"]], ["b"]), "z": ([], ["c"])})
    parts = [evaluate(task.take(np.array(rows)), MEANT) for rows in ([2, 0], [1])]
    assert values(parts[0] + parts[1], MEANT) == values(evaluate(task, MEANT), MEANT)


def test_counts_of_what_was_left_out_add_up():
    pred = {"x": ["a", "d"], "y": ["q", "q", "d"], "z": ["q", "r"]}
    measures = parse_all(["F1", "MacroF1", "MacroF1(labels=reference)", "LRAP"])

    def made(ids):
        sides = ({i: [(x, 0.5) for x in pred[i]] for i in ids}, {i: REFS[i] for i in ids})
        return label_task(*map(as_labels, sides), classes=["a", "b", "c", "d"], ignore=["d"])

    def scores(statistics):
        pairs = {"s": [(m, "") for m in measures]}
        return score_statistics({"s": statistics}, pairs, headings=list(map(str, measures)))

    whole = evaluate(made("xyz"), measures)
    parts = [evaluate(made(ids), measures) for ids in ("xy", "z")]
    rows = [evaluate(made("xyz").take(np.array(rows)), measures) for rows in ([1, 2], [0])]
    for total in (whole, parts[0] + parts[1], rows[0] + rows[1]):
        assert total.ignored == {"d": (2, 1)}
        # "q" and "r" are outside the class list; and all other labels are true
        assert [one.left_out for one in scores(total)] == [(1, 2, 1), *[(3, 6, 1)] * 3]
        assert list(map(str, left_out_notes(total, scores(total)))) == [
            "1 label ignored (predicted 2 times, true 1 time)",
            "2 labels outside the ground truth, counted nowhere in "
            "F1(average=macro,labels=reference) (predicted 4 times, true 0 times)",
            "2 labels outside the class list, counted nowhere in F1(average=macro), LRAP "
            "(predicted 4 times, true 0 times)",
        ]


def test_the_union_is_over_all_systems():
    one, two = part("xy"), part("z")
    labels = merged_labels([one, two])
    frame = frame_of([one.aligned(labels), two.aligned(labels)])
    assert frame.labels == ("a", "b", "c", "d", "q")
    assert frame.in_union.all()
    refs = {"x": ["a"], "y": ["b"]}
    systems = {"one": {"x": ["a"], "y": ["c"]}, "two": {"x": ["d"], "y": ["b"]}}
    table = semmetrics.score_systems(
        systems, refs, measures=["F1(average=macro,labels=union,absent=0)"]
    )
    assert [score.value for score in table] == [0.25, 0.25]
    assert all("|L:4|" in score.signature for score in table)
    alone = semmetrics.score(
        systems["one"], refs, measures=["F1(average=macro,labels=union,absent=0)"]
    )
    assert alone.scores[0].value == pytest.approx(1 / 3)
    ranked = {
        "one": {"x": [("a", 0.5)], "y": [("c", 0.5)]},
        "two": {"x": [("d", 0.5)], "y": [("b", 0.5)]},
    }
    coverage = semmetrics.score_systems(ranked, refs, measures=["CoverageError"])
    assert [score.items.tolist() for score in coverage] == [[1, 4], [4, 1]]


def test_nothing_to_evaluate():
    with refused("no-items"):
        part("")


@pytest.mark.parametrize("average", ["micro", "macro", "weighted"])
def test_reference_labels_are_those_of_a_systems_own_items(average):
    refs = {"x": ["a"], "y": ["b"]}
    systems = {"one": {"x": ["a", "b"], "y": []}, "two": {"x": ["a"], "y": ["b"]}}
    options = {
        "measures": f"Jaccard(average={average},labels=reference)",
        "empty_predictions": "skip",
    }
    beside = semmetrics.score_systems(systems, refs, **options)[0]
    alone = semmetrics.score(systems["one"], refs, **options, system="one")[0]
    assert (beside.value, beside.signature) == (alone.value, alone.signature)
    assert beside.value == 1.0
