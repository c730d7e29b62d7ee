"""Measures of label sets, compared with scikit-learn."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from refusals import refused
from scipy.sparse import csr_array
from sklearn import metrics as sklearn_metrics

import semmetrics
from semmetrics.metrics import arrays
from semmetrics.metrics.parsing import parse
from semmetrics.metrics.registry import find

SKLEARN_AVERAGES = {
    "example": "samples",
    "macro": "macro",
    "micro": "micro",
    "weighted": "weighted",
}
SKLEARN_SCORES = {
    "Precision": sklearn_metrics.precision_score,
    "Recall": sklearn_metrics.recall_score,
    "F1": sklearn_metrics.f1_score,
    "Jaccard": sklearn_metrics.jaccard_score,
    "FBeta(beta=0.5)": partial(sklearn_metrics.fbeta_score, beta=0.5),
    "FBeta(beta=2)": partial(sklearn_metrics.fbeta_score, beta=2),
}
CAUSES = {"Precision": ["no_prediction"], "Recall": ["no_reference"]}
CLASSES = [f"label {place}" for place in range(6)]


def draw_tables(seed):
    """Draw predictions and references with empty rows and absent classes, and weights."""
    rng = np.random.default_rng(seed)
    n_items = rng.integers(1, 12)
    pred, ref = (rng.random((2, n_items, 6)) < rng.random()).astype(int)
    pred[:, seed % 3 : 2] = 0
    ref[:, seed % 4 : 3] = 0
    pred[seed % 5 : 1] = 0
    ref[seed % 7 : 1] = 0
    if seed % 2:
        pred[-1] = ref[-1]
        return pred, ref, None
    return pred, ref, rng.random(n_items) * rng.integers(0, 2, n_items) + 0.01


def to_lists(table):
    """Return the labels of each row, in reverse order."""
    return [np.take(CLASSES, np.flatnonzero(row)[::-1]).tolist() for row in table]


def sklearn_score(name, pred, ref, average, weights=None, zero_division=0.0):
    options = {"average": average, "zero_division": zero_division}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some labels do not occur
        return SKLEARN_SCORES[name](ref, pred, sample_weight=weights, **options)


@pytest.mark.sampled(60)
@pytest.mark.parametrize("average", SKLEARN_AVERAGES)
@pytest.mark.parametrize("name", SKLEARN_SCORES)
@pytest.mark.parametrize("policy", ["0", "1", "skip"])
@pytest.mark.parametrize("seed", range(12))
def test_lists_matrices_and_arrays_have_the_value_of_scikit_learn(
    seed, policy, name, average
):
    if name == "Jaccard" and policy == "skip":
        pytest.skip("scikit-learn does not skip undefined values of Jaccard")
    pred, ref, weights = draw_tables(seed)
    empty = "absent" if average in ("macro", "weighted") else "empty"
    policies = dict.fromkeys([empty, *CAUSES.get(name, [])], policy)
    if average != "example":
        policies["labels"] = "given"
    measure = parse(name)[0].with_options(average=average, **policies)

    options = {"measures": [measure], "classes": CLASSES, "weights": weights}
    from_lists = semmetrics.score(to_lists(pred), to_lists(ref), **options)
    from_matrix = semmetrics.score(csr_array(pred), ref, **options)
    from_arrays = arrays.score(measure, pred, ref, weights=weights)

    zero_division = np.nan if policy == "skip" else float(policy)
    expected = sklearn_score(
        name, pred, ref, SKLEARN_AVERAGES[average], weights, zero_division
    )
    values = [from_lists[0].value, from_matrix[0].value, from_arrays]
    np.testing.assert_allclose(values, 3 * [expected], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_subset_accuracy_and_hamming_loss_have_the_values_of_scikit_learn(seed):
    pred, ref, weights = draw_tables(seed)
    measures = "SubsetAccuracy HammingLoss(labels=given)"
    measures += " HammingLoss(average=macro,labels=given)"

    table = semmetrics.score(
        to_lists(pred),
        to_lists(ref),
        measures=measures,
        classes=CLASSES,
        weights=weights,
    )

    accuracy = sklearn_metrics.accuracy_score(ref, pred, sample_weight=weights)
    loss = sklearn_metrics.hamming_loss(ref, pred, sample_weight=weights)
    values = [score.value for score in table]
    assert values == pytest.approx([accuracy, loss, loss], abs=1e-12)
    value = arrays.subset_accuracy(pred, ref, weights=weights)
    assert value == pytest.approx(accuracy, abs=1e-12)
    value = arrays.hamming_loss(pred, ref, weights=weights)
    assert value == pytest.approx(loss, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["Precision", "Recall", "F1", "Jaccard"])
def test_values_of_labels_and_of_items_are_those_of_scikit_learn(seed, name):
    pred, ref, weights = draw_tables(seed)

    of_labels = arrays.per_label(find(name)[0], pred, ref, weights=weights)
    of_items = arrays.per_item(find(name)[0], pred, ref)

    expected = sklearn_score(name, pred, ref, None, weights)
    np.testing.assert_allclose(np.nan_to_num(of_labels), expected, atol=1e-12)
    for item, value in enumerate(np.nan_to_num(of_items)):
        row = slice(item, item + 1)
        expected = sklearn_score(name, pred[row], ref[row], "samples")
        assert value == pytest.approx(expected, abs=1e-12)


# ---- cutoffs ------------------------------------------------------------------------


def score_in_batches(preds, refs, **options):
    scorer = semmetrics.Scorer(keep_rows=False, **options)
    for name in preds:
        scorer.update({name: preds[name]}, {name: refs[name]})
    return scorer.compute()


@pytest.mark.parametrize("average", ["example", "micro"])
@pytest.mark.parametrize("name", ["Precision", "F1"])
def test_the_denominator_may_be_the_cutoff_as_if_lists_were_padded(name, average):
    rng = np.random.default_rng(0)
    preds = {}
    padded = {}
    refs = {}
    for item in map(str, range(20)):
        preds[item] = rng.permutation(CLASSES)[: rng.integers(0, 6)].tolist()
        padded[item] = preds[item] + [f"padding {place}" for place in range(6)]
        refs[item] = rng.permutation(CLASSES)[: rng.integers(0, 5)].tolist()
    measure = f"{name}(average={average},denominator=cutoff)@5"

    (score,) = semmetrics.score(preds, refs, measures=measure)

    measure_of_padded = f"{name}(average={average})@5"
    expected = semmetrics.score(padded, refs, measures=measure_of_padded)[0].value
    assert score.value == pytest.approx(expected)
    assert score_in_batches(preds, refs, measures=measure)[0].value == score.value
    rescored = semmetrics.rescore(score.signature, preds, refs)
    assert (rescored[0].value, rescored.differences) == (score.value, [])


def test_the_denominator_is_a_cutoff_only_if_there_is_one():
    with refused("no-cutoff"):
        semmetrics.score([["a"]], [["a"]], measures="Precision(denominator=cutoff)")
    with refused("measure-option"):
        semmetrics.parse("Precision(average=macro,denominator=cutoff)@5")


@pytest.mark.parametrize(
    ("measures", "cutoffs"),
    [
        ("Precision@3", [3]),
        ("Precision@1,2,3 F1@1,2,3", [2, 3]),
        ("Recall@3", []),
        ("MacroF1@3", []),
        ("Precision", []),
        ("Precision(denominator=cutoff)@3", []),
        ("Precision(decode=threshold:0.5)@3", []),
    ],
)
def test_notes_count_lists_that_are_shorter_than_a_cutoff(measures, cutoffs):
    preds = {"a": [("x", 0.9), ("y", 0.8), ("z", 0.7)], "b": [("x", 0.9)]}
    refs = {"a": ["x"], "b": ["y"]}

    table = semmetrics.score(preds, refs, measures=measures)
    of_batches = score_in_batches(preds, refs, measures=measures)

    notes = [note for note in table.notes if "fewer than" in note]
    assert notes == [note for note in of_batches.notes if "fewer than" in note]
    for note, k in zip(notes, cutoffs, strict=True):
        assert f"1 of 2 items with fewer than {k} predictions" in note
