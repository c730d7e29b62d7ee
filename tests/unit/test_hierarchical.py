"""Measures on a taxonomy, compared with sets of ancestors found by recursion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import hierarchical as oracle

import semmetrics
from semmetrics.metrics.hierarchical import LCADistance
from semmetrics.metrics.parsing import parse

NAMES = [f"n{place}" for place in range(8)]
FLAT_MEASURES = {"hP": "Precision", "hR": "Recall", "hF": "F1"}


@pytest.fixture(autouse=True, scope="module")
def accept_files_without_common_labels():
    """Accept random data in which no label occurs on both sides."""
    with pytest.MonkeyPatch.context() as patch:
        check = "semmetrics.kinds.side_input_checks.check_shared"
        patch.setattr(check, lambda *arguments: None)
        yield


@st.composite
def graphs(draw):
    """Parents of some names, often several, without cycles."""
    parents = {"n0": set()}
    for place in range(1, draw(st.integers(1, 8))):
        candidates = st.sampled_from(NAMES[:place])
        parents[NAMES[place]] = draw(st.sets(candidates, max_size=3))
    return parents


LABELS = st.lists(st.sampled_from([*NAMES, "other"]), max_size=4)
ITEMS = st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=6)
CUTOFFS = st.sampled_from([None, 1, 2])


def score(measure, items, parents):
    preds, refs = zip(*items, strict=True)
    graph = {name: sorted(above or ()) for name, above in parents.items()}
    return semmetrics.score(preds, refs, measures=[measure], taxonomy=graph)[0]


def approx(values):
    return pytest.approx(values, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("average", ["micro", "example"])
@pytest.mark.parametrize("root", ["exclude", "include"])
@pytest.mark.parametrize("name", FLAT_MEASURES)
@given(parents=graphs(), items=ITEMS, k=CUTOFFS)
def test_precision_recall_and_f_equal_the_oracle(
    name, root, average, parents, items, k
):
    (measure,) = parse(f"{name}(average={average},root={root},unknown=own)")

    result = score(measure.with_options(k=k), items, parents)

    counts = [oracle.counts(parents, pred[:k], ref, root) for pred, ref in items]
    values = [oracle.ratio(name, *row) for row in counts]
    assert result.items.tolist() == approx(values)
    hits, n_pred, n_ref = np.sum(counts, axis=0).tolist()
    if average == "micro":
        values = [oracle.ratio(name, hits, n_pred, n_ref)]
    empty = [float(n_pred == n_ref == 0)]
    if average == "example":
        empty = [float(row[1] == row[2] == 0) for row in counts]
    assert result.value == approx(np.where(np.isnan(values), empty, values).mean())


@pytest.mark.parametrize("unconnected", ["root", "skip"])
@pytest.mark.parametrize("normalize", ["none", "depth"])
@pytest.mark.parametrize("measure", ["edges", "height"])
@pytest.mark.parametrize("duplicates", ["each", "once"])
@given(parents=graphs(), items=ITEMS)
def test_distances_equal_the_oracle(
    measure, normalize, unconnected, duplicates, parents, items
):
    options = {"measure": measure, "unconnected": unconnected, "normalize": normalize}
    distance = LCADistance(
        unknown="own", empty="skip", duplicates=duplicates, **options
    )

    result = score(distance, items, parents)

    values = []
    n_unconnected = 0
    for pred, ref in items:
        if duplicates == "once":
            pred = list(dict.fromkeys(pred))
        value, n_apart = oracle.item_distance(parents, pred, ref, **options)
        values.append(value)
        n_unconnected += n_apart > 0
    assert result.items.tolist() == approx(values)
    assert result.value == approx(oracle.mean(values))
    assert result.undefined.get("unconnected", 0) == n_unconnected


@pytest.mark.parametrize("average", ["micro", "example"])
@pytest.mark.parametrize("name", FLAT_MEASURES)
@pytest.mark.parametrize("parent", [None, "thing"])
@given(items=ITEMS, k=CUTOFFS)
def test_a_flat_taxonomy_gives_the_measures_without_one(
    name, average, parent, items, k
):
    parents = dict.fromkeys([*NAMES, "other"], parent and [parent])
    at = "" if k is None else f"@{k}"

    in_taxonomy = score(f"{name}(average={average}){at}", items, parents)
    exact = score(f"{FLAT_MEASURES[name]}(average={average}){at}", items, parents)

    assert in_taxonomy.value == exact.value
    assert in_taxonomy.undefined == exact.undefined
    np.testing.assert_array_equal(in_taxonomy.items, exact.items)


def test_items_with_labels_outside_the_taxonomy_are_counted():
    items = [(["n0", "other"], ["n0"]), (["n0"], ["n0"])]

    result = score("hF(unknown=own)", items, {"n0": None})

    assert result.undefined == {"outside_taxonomy": 1}
    assert math.isclose(result.value, 4 / 5)
