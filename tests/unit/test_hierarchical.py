"""Measures on a taxonomy against sets of ancestors found by recursion."""

from __future__ import annotations

import math
import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import hierarchical as oracle
from refusals import refused

import semmetrics
from semmetrics.data.tasks import LabelTask
from semmetrics.data.taxonomy import Taxonomy
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics import hierarchical as module
from semmetrics.metrics import sets
from semmetrics.metrics.hierarchical import LCADistance, hF, hP, hR
from semmetrics.metrics.registry import parse
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.result import score_statistics
from semmetrics.scoring.signature import read_signature

FLOWERS = {
    "rose": "flower",
    "tulip": "flower",
    "flower": "plant",
    "oak": "tree",
    "tree": "plant",
    "plant": "thing",
    "car": "thing",
}
FAMILY = {"hP": hP, "hR": hR, "hF": hF}
FLAT = {"hP": sets.Precision, "hR": sets.Recall, "hF": sets.F1}
EVERY = [hP(), hR(average="example"), hF() @ 2, LCADistance(), LCADistance(measure="height") @ 1]


def task_of(pred, ref, parents, **options):
    task = label_task(as_labels(pred, source="p"), as_labels(ref, source="r"), **options)
    return replace(task, taxonomy=Taxonomy.from_parents(parents))


def score(measure, *statistics):
    whole = sum(statistics[1:], start=statistics[0])
    return score_statistics({"s": whole}, {"s": [(measure, "")]}, headings=["m"])[0]


def scored(measure, pred, ref, parents, **options):
    table = semmetrics.score(pred, ref, measures=[measure], taxonomy=parents, **options)
    return table.scores[0]


def value(measure, pred, ref, parents, **options):
    return scored(measure, pred, ref, parents, **options).value


@st.composite
def cases(draw):
    """A graph without cycles, and items with predicted and true labels, some outside it."""
    size = draw(st.integers(1, 8))
    names = [f"n{i}" for i in range(size)]
    parents = {
        name: draw(st.sets(st.sampled_from(names[:i]), max_size=3)) if i else set()
        for i, name in enumerate(names)
    }
    lists = st.lists(st.sampled_from([*names, "new", "other"]), max_size=4)
    items = draw(st.lists(st.tuples(lists, lists), min_size=1, max_size=6))
    return parents, items


def arguments(parents, items):
    graph = {name: sorted(above) for name, above in parents.items()}
    return [pred for pred, _ in items], [ref for _, ref in items], graph


def same(left, right):
    return left == pytest.approx(right, abs=1e-12, nan_ok=True)


POLICY = {"hP": {"n_pred": 0}, "hR": {"n_ref": 0}, "hF": {}}


@pytest.mark.parametrize("root", ["exclude", "include"])
@pytest.mark.parametrize("name", FAMILY)
@given(case=cases(), k=st.sampled_from([None, 1, 2]))
def test_precision_recall_and_f_equal_the_oracle(name, root, case, k):
    parents, items = case
    counts = [oracle.counts(parents, pred[:k], ref, root) for pred, ref in items]
    options: dict[str, Any] = {"root": root, "unknown": "own", "k": k}
    micro = scored(FAMILY[name](**options), *arguments(parents, items))
    total = [sum(column) for column in zip(*counts, strict=True)]
    expected = oracle.ratio(name, *total)
    if math.isnan(expected):  # the policies: 1 for nothing on either side, otherwise 0
        expected = float(total[1] == total[2] == 0)
    assert same(micro.value, expected)
    each = [oracle.ratio(name, *one) for one in counts]
    assert same(micro.items.tolist(), each)
    cause = {"hP": ["no_prediction"], "hR": ["no_reference"], "hF": []}[name]
    skipped = dict.fromkeys(["empty", *cause], "skip")
    example = scored(
        FAMILY[name](average="example", **skipped, **options), *arguments(parents, items)
    )
    assert same(example.items.tolist(), each)
    assert same(example.value, oracle.mean(each))
    outside = sum(bool({"new", "other"} & {*pred[:k], *ref}) for pred, ref in items)
    for made in (micro, example):
        assert made.undefined.get("outside_taxonomy", 0) == outside


@pytest.mark.parametrize("unconnected", ["root", "skip"])
@pytest.mark.parametrize("normalize", ["none", "depth"])
@pytest.mark.parametrize("measure", ["edges", "height"])
@given(case=cases(), k=st.sampled_from([None, 1, 2]))
def test_distances_equal_the_oracle(measure, normalize, unconnected, case, k):
    parents, items = case
    chosen = {"measure": measure, "unconnected": unconnected, "normalize": normalize}
    made = LCADistance(unknown="own", empty="skip", duplicates="each", k=k, **chosen)
    got = scored(made, *arguments(parents, items))
    each = [oracle.item_distance(parents, pred[:k], ref, **chosen) for pred, ref in items]
    assert same(got.items.tolist(), [distance for distance, _ in each])
    assert same(got.value, oracle.mean([distance for distance, _ in each]))
    assert got.undefined.get("unconnected", 0) == sum(apart > 0 for _, apart in each)
    assert got.undefined.get("no_reference", 0) == sum(
        bool(pred) and not ref for pred, ref in items
    )
    once = scored(made.with_options(duplicates="once"), *arguments(parents, items))
    distinct = [
        oracle.item_distance(parents, list(dict.fromkeys(pred)), ref, **chosen)
        for pred, ref in items
    ]
    if k is None:
        assert same(once.items.tolist(), [distance for distance, _ in distinct])


@pytest.mark.parametrize("average", ["micro", "example"])
@pytest.mark.parametrize("name", FAMILY)
@given(case=cases(), above=st.booleans(), k=st.sampled_from([None, 1, 3]))
def test_a_flat_taxonomy_gives_the_exact_measures(name, average, case, above, k):
    _, items = case
    labels = [f"n{i}" for i in range(8)] + ["new", "other"]
    flat = dict.fromkeys(labels, "thing" if above else None)
    pred, ref = [p for p, _ in items], [r for _, r in items]
    got = scored(FAMILY[name](average=average, k=k), pred, ref, flat)
    exact = scored(FLAT[name](average=average, k=k), pred, ref, flat)
    assert got.value == exact.value
    assert got.undefined == exact.undefined
    assert np.array_equal(got.items, exact.items, equal_nan=True)


@given(case=cases(), cut=st.integers(0, 6), seed=st.integers(0, 99))
def test_parts_add_up_and_order_does_not_matter(case, cut, seed):
    parents, items = case
    pred, ref, graph = arguments(parents, items)
    own = [measure.with_options(unknown="own") for measure in EVERY]
    ids = [f"i{n}" for n in range(len(items))]
    both = [dict(zip(ids, side, strict=True)) for side in (pred, ref)]
    whole = evaluate(task_of(*both, graph), own)
    cut = min(cut, len(items) - 1)
    order = np.random.default_rng(seed).permutation(len(ids)).tolist()
    parts = [
        evaluate(task_of(*({ids[i]: side[ids[i]] for i in rows} for side in both), graph), own)
        for rows in (order[cut:], order[:cut])
        if rows
    ]
    for measure in own:
        one, other = score(measure, whole), score(measure, *parts)
        assert np.array_equal(one.value, other.value, equal_nan=True)
        assert one.undefined == other.undefined


@given(case=cases())
def test_blocks_and_parts_of_blocks_change_nothing(case):
    parents, items = case
    own = [measure.with_options(unknown="own") for measure in EVERY]
    task = task_of(*arguments(parents, items))
    whole = evaluate(task, own)

    class Small(LabelTask):
        def blocks(self, memory=1):
            return super().blocks(1)

    values = {f.name: getattr(task, f.name) for f in fields(task) if f.init}
    before = module._CELLS
    module._CELLS = 1
    try:
        parted = evaluate(Small(**values), own)
    finally:
        module._CELLS = before
    for measure in own:
        one, other = score(measure, whole), score(measure, parted)
        assert np.array_equal(one.items, other.items, equal_nan=True)


@given(case=cases())
def test_order_within_lists_and_swapped_sides(case):
    parents, items = case
    pred, ref, graph = arguments(parents, items)
    back = [labels[::-1] for labels in pred], [labels[::-1] for labels in ref]
    for measure in (hP, hR, hF, LCADistance):
        made = measure(unknown="own")
        assert same(value(made, pred, ref, graph), value(made, *back, graph))
    f, p, r = (made(unknown="own") for made in (hF, hP, hR))
    assert value(f, pred, ref, graph) == value(f, ref, pred, graph)
    assert same(scored(p, pred, ref, graph).items, scored(r, ref, pred, graph).items)


# --- by hand ---


def test_a_sibling_is_half_right():
    assert value(hP(), [["tulip"]], [["rose"]], FLOWERS) == 2 / 3
    assert value(hP(root="include"), [["tulip"]], [["rose"]], FLOWERS) == 3 / 4
    assert value(hR(), [["flower"]], [["rose"]], FLOWERS) == 2 / 3
    assert value(hF(), [["flower"]], [["rose"]], FLOWERS) == 0.8
    assert value(hP(), [["car"]], [["rose"]], FLOWERS) == 0.0


def test_micro_sums_and_example_averages():
    pred, ref = [["tulip"], ["car"]], [["rose"], ["car"]]
    assert value(hP(), pred, ref, FLOWERS) == 3 / 4
    assert value(hP(average="example"), pred, ref, FLOWERS) == pytest.approx(5 / 6)


def test_several_roots_are_categories():
    kinds = {"cat": "animal", "dog": "animal", "car": "vehicle"}
    assert value(hP(), [["dog"]], [["cat"]], kinds) == 0.5
    joined = {**kinds, "animal": "thing", "vehicle": "thing"}
    for pred in ("dog", "car", "animal"):
        for made in (hP(), hR(), hF()):
            one = value(made, [[pred]], [["cat"]], kinds)
            assert one == value(made, [[pred]], [["cat"]], joined)


def test_the_root_brings_nothing_unless_included():
    got = scored(hP(average="example"), [["thing"]], [["rose"]], FLOWERS)
    assert (got.value, got.undefined) == (0.0, {"no_prediction": 1})
    assert value(hP(root="include"), [["thing"]], [["rose"]], FLOWERS) == 1.0


def test_a_diamond_counts_once():
    diamond = {"cat": ["feline", "pet"], "feline": "animal", "pet": "animal", "animal": "thing"}
    assert value(hR(), [["feline"]], [["cat"]], diamond) == 2 / 4
    assert value(LCADistance(), [["pet"]], [["feline"]], diamond) == 2.0
    shorter = {"a": ["b", "top"], "b": "c", "c": "top", "d": "c"}
    assert value(LCADistance(), [["a"]], [["d"]], shorter) == 3.0  # by b and c: a-b-c-d
    assert value(LCADistance(measure="height"), [["a"]], [["d"]], shorter) == 2.0


def test_cuts_come_before_the_closure():
    pred, ref = [["car", "rose"]], [["rose"]]
    assert value(hR() @ 1, pred, ref, FLOWERS) == 0.0
    assert value(hR() @ 2, pred, ref, FLOWERS) == 1.0
    scores = {"x": {"rose": 0.9, "car": 0.4, "oak": 0.1}}
    truth = {"x": ["rose"]}
    decoded = [hP(decode=f"threshold:{t}") for t in (0.5, 0.3, 0.05)]
    got = [value(made, {"x": list(scores["x"].items())}, truth, FLOWERS) for made in decoded]
    assert got == [1.0, 3 / 4, 3 / 6]


def test_distances_by_hand():
    nearest = [["tulip", "rose", "car"]], [["rose", "oak"]]
    assert value(LCADistance(), *nearest, FLOWERS) == (2 + 0 + 4) / 3
    assert value(LCADistance(measure="height"), *nearest, FLOWERS) == (1 + 0 + 3) / 3
    assert value(LCADistance(), [["plant"]], [["rose"]], FLOWERS) == 2.0
    assert value(LCADistance(measure="height"), [["plant"]], [["plant"]], FLOWERS) == 0.0
    assert value(LCADistance(normalize="depth"), [["car"]], [["rose"]], FLOWERS) == 4 / 6
    tall = LCADistance(normalize="depth", measure="height")
    assert value(tall, [["car"]], [["rose"]], FLOWERS) == 1.0


def test_unconnected_labels():
    kinds = {"cat": "animal", "dog": "animal", "car": "vehicle"}
    pred, ref = [["car", "dog"], ["car"], ["cat"]], [["cat"], ["cat"], ["cat"]]
    got = scored(LCADistance(), pred, ref, kinds)
    assert got.items.tolist() == [3.0, 4.0, 0.0]
    assert got.undefined == {"unconnected": 2}
    joined = {**kinds, "animal": "thing", "vehicle": "thing"}
    for options in ({}, {"measure": "height"}, {"normalize": "depth"}):
        made = LCADistance(**options)
        assert value(made, pred, ref, kinds) == value(made, pred, ref, joined)
    left = scored(LCADistance(unconnected="skip"), pred, ref, kinds)
    assert np.array_equal(left.items, [2.0, math.nan, 0.0], equal_nan=True)
    assert left.value == 1.0
    assert left.undefined == {"undefined": 1, "unconnected": 2}


def test_empty_sets():
    pred, ref = [[], [], ["rose"], ["rose"]], [[], ["rose"], [], ["rose"]]
    causes = {"empty": 1, "no_prediction": 1, "no_reference": 1}
    got = scored(LCADistance(), pred, ref, FLOWERS)
    assert got.undefined == causes
    assert (got.value, got.items[3]) == (0.0, 0.0)
    assert np.isnan(got.items[:3]).all()
    assert math.isnan(value(LCADistance(no_reference="nan"), pred, ref, FLOWERS))
    precision = scored(hP(average="example"), pred, ref, FLOWERS)
    assert precision.undefined == {"empty": 1, "no_prediction": 1}
    assert precision.value == (1 + 0 + 0 + 1) / 4
    nothing = scored(hF(), [[]], [[]], FLOWERS)
    assert (nothing.value, nothing.undefined) == (1.0, {"empty": 1})
    assert math.isnan(value(hF(empty="skip"), [[]], [[]], FLOWERS))


def test_labels_outside_the_taxonomy():
    pred, ref = [["ufo", "rose"], ["ufo"]], [["rose"], ["ufo"]]
    for made in (hP(), LCADistance()):
        with refused("outside-taxonomy", names=["ufo"]):
            value(made, pred, ref, FLOWERS)
    assert value(hP() @ 1, [["rose", "ufo"]], [["rose"]], FLOWERS) == 1.0  # it takes no part
    got = scored(hP(unknown="own", average="example"), pred, ref, FLOWERS)
    assert got.items.tolist() == [3 / 4, 1.0]
    assert got.undefined == {"outside_taxonomy": 2}
    far = scored(LCADistance(unknown="own"), pred, ref, FLOWERS)
    assert far.items.tolist() == [(5 + 0) / 2, 0.0]
    assert far.undefined == {"unconnected": 1, "outside_taxonomy": 2}
    tall = LCADistance(unknown="own", measure="height")
    assert value(tall, [["ufo"]], [["rose"]], FLOWERS) == 4.0
    assert value(tall.with_options(normalize="depth"), [["ufo"]], [["rose"]], FLOWERS) == 1.0


def test_no_taxonomy():
    with refused("needs-option", name="taxonomy"):
        semmetrics.score([["a"]], [["a"]], measures=[hF()])


def test_synonyms_are_placed_at_their_first_term():
    got = scored(hP(), [[["briar", "rose", "car"]]], [["tulip"]], FLOWERS)
    assert got.task.classes == ("tulip", "briar | rose | car")
    assert [*got.task.terms] == [("tulip",), ("briar", "rose", "car")]
    assert got.value == 2 / 3
    pair = [[["briar", "rose"]]], [["tulip", "oak"]]
    assert value(hP(), *pair, FLOWERS, ignore=["oak"]) == 2 / 3
    assert value(hP(), [[["x", "rose"]]], [["tulip"]], {**FLOWERS, "x | rose": "tree"}) == 1 / 3
    assert scored(hP(), [["rose"]], [["tulip"]], FLOWERS).task.terms is None


def test_weights_and_intervals():
    pred, ref = [["tulip"], ["car"], ["ufo"]], [["rose"], ["car"], ["rose"]]
    ids = ["a", "b", "c"]
    both = [dict(zip(ids, side, strict=True)) for side in (pred, ref)]
    weights = {"a": 2.0, "b": 1.0, "c": 0.0}
    own = [measure.with_options(unknown="own") for measure in EVERY]
    table = semmetrics.score(
        *both, measures=own, taxonomy=FLOWERS, weights=weights, ci=Bootstrap(resamples=50)
    )
    twice = [[pred[i] for i in (0, 0, 1)], [ref[i] for i in (0, 0, 1)]]
    for measure, got in zip(own, table, strict=True):
        assert same(got.value, value(measure, *twice, FLOWERS))
        assert not got.undefined  # the item of weight 0 is not there
        assert got.ci.low <= got.value <= got.ci.high


def test_names_signatures_and_pickles():
    for measure in EVERY:
        assert parse(str(measure)) == [measure]
        statistic = measure.definition.family.statistic(measure)
        assert pickle.loads(pickle.dumps(statistic)) == statistic
        got = scored(measure, [["tulip"]], [["rose"]], FLOWERS)
        assert read_signature(got.signature).measure == measure
        assert got.per_label is None
    assert str(LCADistance(measure="height") @ 5) == "LCADistance(measure=height)@5"
    with refused("bad-choice"):
        hF(root="middle")
