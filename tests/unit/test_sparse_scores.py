"""Sparse matrices of scores: what is not stored has no score, in every kind that takes scores."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from refusals import refused
from scipy import sparse

import semmetrics

NAMES = ["a", "b", "c", "d"]
KINDS = {
    "labels": ("F1 mAP Recall@2", {"decode": "threshold:0.1", "classes": NAMES}),
    "classes": ("Accuracy PerClassAccuracy@2", {"task": "classes", "classes": NAMES}),
    "retrieval": (
        "HitRate@1 Recall@2 MRR",
        {"task": "retrieval", "queries": list("0123"), "gallery": NAMES},
    ),
}
TRUTH = {
    "labels": {"0": ["a"], "1": ["b", "c"], "2": ["d"], "3": ["a"]},
    "classes": {"0": "a", "1": "c", "2": "d", "3": "a"},
    "retrieval": {"0": ["a"], "1": ["b", "c"], "2": ["d"], "3": ["a"]},
}
SCORES = np.array(
    [[0.5, 0.2, 0.0, 0.2], [0.0, 0.3, 0.9, 0.0], [0.0, 0.0, 0.0, 0.0], [-1.5, 0.0, -0.5, 0.0]]
)


def stored(form):
    """The cells that are not 0, and one 0 in the first row."""
    held = SCORES != 0
    held[0, 2] = True
    rows, columns = np.nonzero(held)
    return form((SCORES[held], (rows, columns)), shape=SCORES.shape), held


def by_place(kind):
    """The ground truth beside a matrix; queries have names."""
    return TRUTH[kind] if kind == "retrieval" else list(TRUTH[kind].values())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "form", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array, sparse.csc_matrix]
)
def test_what_is_not_stored_is_not_ranked(kind, form, tmp_path):
    measures, options = KINDS[kind]
    matrix, held = stored(form)
    sparse.save_npz(tmp_path / "preds.npz", matrix)
    lists = {
        str(i): {NAMES[j]: float(SCORES[i, j]) for j in np.flatnonzero(row)}
        for i, row in enumerate(held)
    }
    expected = semmetrics.score(
        lists, TRUTH[kind], measures=measures, **{**options, "queries": None}
    )
    for given in (matrix, tmp_path / "preds.npz"):
        found = semmetrics.score(given, by_place(kind), measures=measures, **options)
        for one, other in zip(found, expected, strict=True):
            assert_array_equal(one.items, other.items)
            assert one.value == pytest.approx(other.value, rel=1e-12, nan_ok=True)
        (note,) = (note for note in found.notes if "not stored" in note)
        assert "sparse: 8 of 16 cells not stored: without a score" in note
        assert "4 items, 8 " in found.understood[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_matrix_that_stores_all_is_the_dense_one(kind):
    measures, options = KINDS[kind]
    full = SCORES + 2.0
    truth = by_place(kind)
    found = semmetrics.score(sparse.csr_array(full), truth, measures=measures, **options)
    dense = semmetrics.score(full, truth, measures=measures, **options)
    assert [one.value for one in found] == [one.value for one in dense]
    assert not [note for note in found.notes if "sparse" in note]


def test_membership_that_is_not_stored_is_0():
    ones = np.array([[1, 0, 1], [0, 1, 0]])
    found = semmetrics.score(
        sparse.csr_array(ones), sparse.csr_array(ones), measures="F1", classes=NAMES[:3]
    )
    assert found["F1"].value == 1.0
    assert found.notes == []


def test_classes_given_as_a_sparse_matrix_of_0_and_1():
    truth = sparse.csr_array(np.eye(4, dtype=int))
    found = semmetrics.score(SCORES, truth, measures="Accuracy", task="classes", classes=NAMES)
    assert not [note for note in found.notes if "sparse" in note]
    assert found["Accuracy"].value == 0.25


def test_stacking_needs_a_score_of_both_groups():
    matrix, _ = stored(sparse.csr_array)
    with refused("no-class-score"):
        semmetrics.score(matrix, ["a", "c", "d", "a"], measures="AUSUC", task="classes",
                         classes=NAMES, seen=["a", "b"], unseen=["c", "d"])  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_that_no_float_has_are_refused(kind):
    measures, options = KINDS[kind]
    big = sparse.csr_array(np.full((4, 4), 2**53, np.int64) + np.arange(4))
    truth = by_place(kind)
    with refused("out-of-range" if kind == "labels" else "inexact", value=big.data[0]):
        semmetrics.score(big, truth, measures=measures, **options)
    less = sparse.csr_array(np.full((4, 4), 2**53 - 4, np.int64) + np.arange(4))
    if kind != "labels":
        last = semmetrics.score(less, truth, measures=measures, **options)
        dense = semmetrics.score(less.toarray(), truth, measures=measures, **options)
        assert [one.value for one in last] == [one.value for one in dense]
