"""Functions on 0/1 matrices: the same values as from label lists, and clear errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import statistics as oracle
from refusals import refused

import semmetrics
from semmetrics.core.ragged import offsets
from semmetrics.metrics import arrays, label_statistics, sweeps
from semmetrics.metrics.class_precision import average_precision
from semmetrics.metrics.decoding import decode
from semmetrics.metrics.item_ranking import coverage_error, ranking_loss
from semmetrics.metrics.parsing import parse
from semmetrics.metrics.registry import find

PRED = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]])
REF = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1]])


@pytest.mark.parametrize("weights", [None, [0.5, 2.0, 1.0]])
@pytest.mark.parametrize(
    "name",
    [
        "F1(average=micro,labels=reference)",
        "F1(average=micro,labels=union)",
        "F1(average=macro)",
        "F1(average=macro,labels=union,absent=0)",
        "F1(average=macro,labels=given,absent=1)",
        "F1(average=weighted)",
        "F1(empty=skip)",
        "HammingLoss",
        "HammingLoss(average=macro)",
        "CardinalityError",
        "BalancedAccuracy(q=4)",
        "O-F1",
        "C-F1",
        "I-F1",
    ],
)
def test_a_measure_has_the_value_that_score_gives(name, weights):
    (measure,) = parse(name)
    table = semmetrics.score(
        PRED, REF, measures=[measure], classes=list("abcd"), weights=weights
    )
    got = arrays.score(measure, PRED, REF, weights=weights)
    assert got == pytest.approx(table[str(measure)].value, abs=1e-15)


KINDS = {
    "bool": lambda values: values.astype(np.bool_),
    "bytes": lambda values: values.astype(np.uint8),
    "float32": lambda values: values.astype(np.float32),
    "columns first": np.asfortranarray,
    "lists": lambda values: values.tolist(),
    "data frame": pd.DataFrame,
    "sparse": scipy.sparse.csr_array,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("average", ["macro", "example"])
def test_every_kind_of_matrix(kind, average):
    made = KINDS[kind]
    expected = {"macro": 5 / 12, "example": 13 / 18}[average]
    options = {"average": average, "weights": None}
    plain = arrays.f1(PRED, REF, **options)
    assert arrays.f1(made(PRED), made(REF), **options) == plain
    assert plain == pytest.approx(expected)


def test_undefined_values_are_nan():
    assert np.isnan(arrays.per_label(find("Recall")[0], PRED, REF)[1])
    assert np.isnan(arrays.per_item(find("F1")[0], PRED, REF)[1])
    assert np.isnan(arrays.f1([[0, 1]], [[0, 1]], absent="nan"))
    assert np.isnan(arrays.f1([[0]], [[0]]))
    assert np.isnan(arrays.f1(PRED, REF, weights=[0, 0, 0]))


HEAD, ONE = "cardinality", [[0.1]]
OFFERED = [  # what a function is given, the code of the error, and where it is
    (
        lambda: arrays.f1([[1, 2]], [[1, 0]]),
        "out-of-range",
        "pred, row 0, column 1 (from 0)",
    ),
    (
        lambda: arrays.f1(PRED, REF * 1.5),
        "out-of-range",
        "ref, row 0, column 0 (from 0)",
    ),
    (
        lambda: arrays.f1([[1, np.nan]], [[1, 0]]),
        "out-of-range",
        "pred, row 0, column 1 (from 0)",
    ),
    (lambda: arrays.f1([1, 0], [[1, 0]]), "wrong-shape", "pred"),
    (
        lambda: arrays.f1([["a"]], [[1]]),
        "out-of-range",
        "pred, row 0, column 0 (from 0)",
    ),
    (lambda: arrays.f1(np.ma.array(PRED, mask=PRED > 0), REF), "masked", "pred"),
    (lambda: arrays.f1(PRED, REF[:2]), "wrong-shape", ""),
    (lambda: arrays.f1(PRED[:0], REF[:0]), "wrong-shape", ""),
    (lambda: arrays.f1(PRED, REF, weights=[1]), "wrong-shape", ""),
    (lambda: arrays.f1(PRED, REF, weights=[1, -1, 1]), "out-of-range", ""),
    (lambda: arrays.f1(PRED, REF, average="samples"), "bad-choice", ""),
    (lambda: arrays.f1(PRED, REF, absnet="0"), "unknown-name", ""),
    (lambda: arrays.f1(PRED, REF, empty="0"), "measure-option", ""),
    (lambda: arrays.score(parse("F1@2")[0], PRED, REF), "measure-option", ""),
    (lambda: arrays.score(parse("AP")[0], PRED, REF), "measure-option", ""),
    (lambda: arrays.score(parse("mAP")[0], PRED, REF), "measure-option", ""),
    (lambda: arrays.per_item(find("C-F1")[0], PRED, REF), "bad-choice", ""),
    (lambda: arrays.per_label(find("I-F1")[0], PRED, REF), "unknown-name", ""),
    (lambda: decode(ONE, "top", k=-1), "bad-option", ""),
    (lambda: decode(ONE, "top", k=1.5), "bad-option", ""),
    (lambda: decode(ONE, threshold=np.nan), "bad-option", ""),
    (lambda: decode(ONE, keep_at_least=1.5), "bad-option", ""),
    (lambda: decode(ONE, HEAD, head=[[1]], offset=-1), "bad-option", ""),
    (
        lambda: decode([[0.1], [-0.2]], "cumulative"),
        "out-of-range",
        "scores, row 1 (from 0)",
    ),
    (
        lambda: decode(ONE * 2, HEAD, head=[[1], [np.nan]]),
        "out-of-range",
        "head, row 1 (from 0)",
    ),
    (lambda: decode(ONE * 2, HEAD, head=ONE), "wrong-shape", ""),
    (lambda: decode(ONE * 2, HEAD, head=[[], []]), "wrong-shape", ""),
    (
        lambda: decode(ONE * 2, f"{HEAD}+scores", head=[[0.1], [-0.1]]),
        "out-of-range",
        "head, row 1 (from 0)",
    ),
    (
        lambda: decode([[np.inf], [0.1]], f"{HEAD}+scores", head=[[1], [1]]),
        "out-of-range",
        "scores, row 0 (from 0)",
    ),
    (lambda: decode([0.1, 0.2]), "wrong-shape", ""),
    (lambda: decode([[0.1], [np.nan]]), "out-of-range", "scores, row 1 (from 0)"),
    (lambda: decode(ONE, "best"), "bad-choice", ""),
    (lambda: decode(ONE, "top"), "needs-option", ""),
    (lambda: decode(ONE, HEAD), "needs-option", ""),
    (lambda: decode(ONE, offset=1), "not-applicable", ""),
    (lambda: decode(ONE, head=[[1]]), "not-applicable", ""),
    (lambda: decode(ONE, "top", k=1, threshold=0.3), "not-applicable", ""),
    (lambda: decode(ONE, "top", k=1, keep_at_least=1), "not-applicable", ""),
    (lambda: label_statistics.label_frequencies([0, 3], 3), "out-of-range", ""),
    (lambda: label_statistics.label_frequencies([0, -1], 3), "bad-option", ""),
    (lambda: label_statistics.label_frequencies([0.5], 3), "bad-option", ""),
    (lambda: label_statistics.label_order([0, 2], [1]), "wrong-shape", ""),
    (
        lambda: coverage_error([[0.1], [np.nan]], ONE * 2),
        "out-of-range",
        "scores, row 1 (from 0)",
    ),
    (
        lambda: ranking_loss([[0.1], [0.2]], [[1], [2]]),
        "out-of-range",
        "targets, row 1 (from 0)",
    ),
    (lambda: ranking_loss(np.ma.array(ONE, mask=True), [[1]]), "masked", "scores"),
    (lambda: ranking_loss(ONE, [[1, 0]]), "wrong-shape", ""),
    (lambda: ranking_loss(ONE, [[1]], weights=[1, 2]), "wrong-shape", ""),
    (lambda: ranking_loss(ONE, [[1]], weights=[-1]), "out-of-range", ""),
    (lambda: average_precision(ONE, [[1]], interpolation="voc"), "bad-choice", ""),
    (lambda: average_precision(ONE, [[1]], ties="no"), "bad-choice", ""),
    (lambda: average_precision(ONE, [[1]], weights=[np.inf]), "out-of-range", ""),
    (lambda: sweeps.sweep_top_k(ONE, [[1]], [1, -2]), "bad-option", ""),
    (lambda: sweeps.sweep_top_k(ONE, [[1]], [1.5]), "bad-option", ""),
    (
        lambda: sweeps.sweep_thresholds(ONE, [[3]], [1]),
        "out-of-range",
        "targets, row 0 (from 0)",
    ),
    (lambda: sweeps.sweep_thresholds(ONE, [[1]], [np.nan]), "bad-option", ""),
    (lambda: sweeps.best_threshold(ONE, [[1]], average="all"), "bad-choice", ""),
    (
        lambda: sweeps.best_threshold(np.zeros((0, 1)), np.zeros((0, 1))),
        "nothing-given",
        "",
    ),
    (lambda: sweeps.best_threshold(ONE, [[1]], thresholds=[]), "nothing-given", ""),
]


@pytest.mark.parametrize(("call", "code", "where"), OFFERED)
def test_what_gives_a_wrong_number_is_refused(call, code, where):
    with refused(code, where):
        call()


LISTS = st.lists(st.lists(st.integers(0, 5), max_size=7), max_size=9)


def ragged_lists(lists):
    flat = np.array([label for labels in lists for label in labels], np.int32)
    return offsets(np.array([len(labels) for labels in lists], np.int64)), flat


@given(lists=LISTS)
def test_cardinality_counts_list_sizes(lists):
    got = label_statistics.cardinality(ragged_lists(lists)[0])
    n, mean, std, histogram = oracle.cardinality(lists)
    assert got.n == n
    assert_allclose([got.mean, got.std], [mean, std], rtol=0, atol=1e-12)
    assert got.histogram.tolist() == histogram


@given(lists=LISTS, more=st.integers(0, 2))
def test_label_frequencies_fall(lists, more):
    got = label_statistics.label_frequencies(ragged_lists(lists)[1], 6 + more)
    pairs = list(zip(got.labels.tolist(), got.counts.tolist(), strict=True))
    assert pairs == oracle.label_frequencies(lists, 6 + more)


def as_rows(found):
    columns = [
        *found.pairs.T.tolist(),
        found.a.tolist(),
        found.b.tolist(),
        found.order.tolist(),
    ]
    return list(zip(*columns, strict=True))


@pytest.mark.parametrize("cells", [1, 1 << 22])
@given(lists=LISTS)
def test_label_order_equals_counting(cells, lists):
    whole, label_statistics._MAX_PAIRS_PER_COUNT = (
        label_statistics._MAX_PAIRS_PER_COUNT,
        cells,
    )  # pairs are counted in several parts
    try:
        found = label_statistics.label_order(*ragged_lists(lists))
    finally:
        label_statistics._MAX_PAIRS_PER_COUNT = whole
    expected = oracle.label_order(lists)
    assert as_rows(found) == expected
    assert found.pairs.shape == (len(expected), 2)
    mean = sum(row[4] for row in expected) / len(expected) if expected else np.nan
    assert_allclose(found.mean, mean, rtol=0, atol=1e-12)
