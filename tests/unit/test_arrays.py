"""Measures of 0/1 matrices: the values of label lists, and errors that name the place."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from refusals import refused

import semmetrics
from semmetrics.metrics import arrays
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
        "C-F1",
        "I-F1",
    ],
)
def test_a_measure_of_matrices_has_the_value_of_score(name, weights):
    (measure,) = parse(name)
    options = {"classes": list("abcd"), "weights": weights}
    table = semmetrics.score(PRED, REF, measures=[measure], **options)

    value = arrays.score(measure, PRED, REF, weights=weights)

    assert value == pytest.approx(table[str(measure)].value, abs=1e-15)


@pytest.mark.parametrize(
    "convert",
    [
        lambda matrix: matrix.astype(np.bool_),
        lambda matrix: matrix.astype(np.uint8),
        lambda matrix: matrix.astype(np.float32),
        np.asfortranarray,
        np.ndarray.tolist,
        pd.DataFrame,
        scipy.sparse.csr_array,
    ],
    ids=["bool", "bytes", "float32", "columns first", "lists", "data frame", "sparse"],
)
@pytest.mark.parametrize(
    ("average", "value"), [("macro", 5 / 12), ("example", 13 / 18)]
)
def test_a_matrix_may_have_any_type(convert, average, value):
    f1 = arrays.f1(convert(PRED), convert(REF), average=average)

    assert f1 == pytest.approx(value)


def test_undefined_values_are_nan():
    assert np.isnan(arrays.per_label(find("Recall")[0], PRED, REF)[1])
    assert np.isnan(arrays.per_item(find("F1")[0], PRED, REF)[1])
    assert np.isnan(arrays.f1([[0, 1]], [[0, 1]], absent="nan"))
    assert np.isnan(arrays.f1(PRED, REF, weights=[0, 0, 0]))


@pytest.mark.parametrize(
    ("pred", "ref", "code", "place"),
    [
        ([[1, 2]], [[1, 0]], "out-of-range", "pred, row 0, column 1 (from 0)"),
        ([[1, np.nan]], [[1, 0]], "out-of-range", "pred, row 0, column 1 (from 0)"),
        ([1, 0], [[1, 0]], "wrong-shape", "pred"),
        (np.ma.array(PRED, mask=PRED > 0), REF, "masked", "pred"),
        (PRED, REF[:2], "wrong-shape", ""),
        (PRED[:0], REF[:0], "wrong-shape", ""),
    ],
)
def test_wrong_matrices_are_an_error(pred, ref, code, place):
    with refused(code, place):
        arrays.f1(pred, ref)


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"weights": [1]}, "wrong-shape"),
        ({"weights": [1, -1, 1]}, "out-of-range"),
        ({"average": "samples"}, "bad-choice"),
        ({"absnet": "0"}, "unknown-name"),
        ({"empty": "0"}, "measure-option"),
    ],
)
def test_wrong_options_are_an_error(options, code):
    with refused(code):
        arrays.f1(PRED, REF, **options)


@pytest.mark.parametrize("name", ["F1@2", "AP", "mAP"])
def test_measures_of_rankings_are_an_error(name):
    (measure,) = parse(name)

    with refused("measure-option"):
        arrays.score(measure, PRED, REF)


def test_an_average_that_a_measure_does_not_have_is_an_error():
    with refused("bad-choice"):
        arrays.per_item(find("C-F1")[0], PRED, REF)
    with refused("unknown-name"):
        arrays.per_label(find("I-F1")[0], PRED, REF)
