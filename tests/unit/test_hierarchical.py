"""Measures on a taxonomy against sets of ancestors found by recursion."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import hierarchical as oracle

import semmetrics
from semmetrics.metrics import sets
from semmetrics.metrics.hierarchical import LCADistance, hF, hP, hR


@pytest.fixture(autouse=True, scope="module")
def nothing_shared_is_accepted():
    """Random data of a few names may share none with what is given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "semmetrics.kinds.side_input_checks.check_shared", lambda *given: None
        )
        yield


FAMILY = {"hP": hP, "hR": hR, "hF": hF}
FLAT = {"hP": sets.Precision, "hR": sets.Recall, "hF": sets.F1}


def scored(measure, pred, ref, parents, **options):
    table = semmetrics.score(pred, ref, measures=[measure], taxonomy=parents, **options)
    return table.scores[0]


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
        FAMILY[name](average="example", **skipped, **options),
        *arguments(parents, items),
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
    each = [
        oracle.item_distance(parents, pred[:k], ref, **chosen) for pred, ref in items
    ]
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
