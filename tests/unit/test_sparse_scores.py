"""Sparse matrices of scores: what is not stored has no score, in every kind that takes scores."""

import numpy as np
import pytest
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
    "labels": [["a"], ["b", "c"], ["d"], ["a"]],
    "classes": ["a", "c", "d", "a"],
    "retrieval": {"0": ["a"], "1": ["b", "c"], "2": ["d"], "3": ["a"]},
}


def test_stacking_needs_a_score_of_both_groups():
    matrix = sparse.csr_array(
        [[0.5, 0.2, 0, 0.2], [0, 0.3, 0.9, 0], [0, 0, 0, 0], [-1, 0, -2, 0]]
    )
    with refused("no-class-score"):
        semmetrics.score(
            matrix,
            TRUTH["classes"],
            measures="AUSUC",
            task="classes",
            classes=NAMES,
            seen=["a", "b"],
            unseen=["c", "d"],
        )


@pytest.mark.parametrize("kind", KINDS)
def test_whole_numbers_that_no_float_has_are_refused(kind):
    measures, options = KINDS[kind]
    big = sparse.csr_array(np.full((4, 4), 2**53, np.int64) + np.arange(4))
    truth = TRUTH[kind]
    with refused("out-of-range" if kind == "labels" else "inexact", value=big.data[0]):
        semmetrics.score(big, truth, measures=measures, **options)
    less = sparse.csr_array(np.full((4, 4), 2**53 - 4, np.int64) + np.arange(4))
    if kind != "labels":
        last = semmetrics.score(less, truth, measures=measures, **options)
        dense = semmetrics.score(less.toarray(), truth, measures=measures, **options)
        assert [one.value for one in last] == [one.value for one in dense]
