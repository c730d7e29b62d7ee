"""Functions on 0/1 matrices: the same values as from label lists, and clear errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import semmetrics
from semmetrics.errors import InputError
from semmetrics.metrics import arrays
from semmetrics.metrics.registry import find, parse

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
    table = semmetrics.score(PRED, REF, measures=[measure], classes=list("abcd"), weights=weights)
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: arrays.f1([[1, 2]], [[1, 0]]), r"pred holds 2 at row 0, column 1 \(from 0\)"),
        (lambda: arrays.f1(PRED, REF * 1.5), r"ref holds 1.5 at row 0, column 0 \(from 0\)"),
        (lambda: arrays.f1([[1, np.nan]], [[1, 0]]), "pred holds nan"),
        (lambda: arrays.f1([1, 0], [[1, 0]]), r"pred has shape \(2,\)"),
        (lambda: arrays.f1([["a"]], [[1]]), "pred holds <U1"),
        (lambda: arrays.f1(PRED, REF[:2]), r"shape \(3, 4\) and ref \(2, 4\)"),
        (lambda: arrays.f1(PRED[:0], REF[:0]), r"shape \(0, 4\)"),
        (lambda: arrays.f1(PRED, REF, weights=[1]), r"weights of shape \(1,\) for 3 items"),
        (lambda: arrays.f1(PRED, REF, weights=[1, -1, 1]), "finite weight"),
        (lambda: arrays.f1(PRED, REF, average="samples"), "average=samples is not allowed"),
        (lambda: arrays.f1(PRED, REF, absnet="0"), "no option 'absnet'"),
        (lambda: arrays.f1(PRED, REF, empty="0"), "empty means nothing"),
        (lambda: arrays.score(parse("F1@2")[0], PRED, REF), "F1@2 is not a set measure"),
        (lambda: arrays.score(parse("AP")[0], PRED, REF), "AP is not a set measure"),
        (lambda: arrays.score(parse("mAP")[0], PRED, REF), "mAP is not a set measure"),
        (lambda: arrays.per_item(find("AP")[0], PRED, REF), "AP is not a set measure"),
        (lambda: arrays.per_item(find("C-F1")[0], PRED, REF), "average=example is not"),
        (lambda: arrays.per_label(find("mAP")[0], PRED, REF), "is not a set measure"),
        (lambda: arrays.per_label(find("I-F1")[0], PRED, REF), "no option 'labels'"),
    ],
)
def test_wrong_input_is_one_clear_error(call, message):
    with pytest.raises(InputError, match=message):
        call()
