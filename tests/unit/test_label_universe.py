"""Which labels an average runs over, and what is said of those that count nowhere."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics as peer
from sklearn.preprocessing import MultiLabelBinarizer

import semmetrics

PEERS = {"F1": peer.f1_score, "Precision": peer.precision_score, "Recall": peer.recall_score,
         "Jaccard": peer.jaccard_score}  # fmt: skip


def lists(seed):
    """Sets over two vocabularies that overlap; some are empty."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    names = np.array([f"l{i}" for i in range(12)])
    sides = []
    for first, last in ((0, 9), (3, 12)):
        kept = rng.random((n, 12)) < 0.25
        kept[:, :first] = kept[:, last:] = False
        sides.append([names[row].tolist() for row in kept])
    sides[1][0] = ["l3"]  # scikit-learn averages over nothing otherwise
    return sides


@pytest.mark.parametrize("average", ["macro", "weighted", "micro"])
@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("seed", range(6))
def test_it_is_what_scikit_learn_has(seed, name, average):
    preds, refs = lists(seed)
    columns = MultiLabelBinarizer().fit(preds + refs)  # the labels of both sides
    mine, true = columns.transform(preds), columns.transform(refs)
    want = PEERS[name](true, mine, average=average, zero_division=0)
    (got,) = semmetrics.score(preds, refs, measures=f"{name}(average={average})")
    assert got.value == pytest.approx(want, abs=1e-12)
    classes = [f"l{i}" for i in range(3, 14)]  # without three that are predicted, with two unseen
    every = MultiLabelBinarizer(classes=[f"l{i}" for i in range(14)]).fit(preds)
    mine, true = every.transform(preds), every.transform(refs)
    want = PEERS[name](true, mine, average=average, labels=range(3, 14), zero_division=0)
    measure = f"{name}(average={average}{',absent=0' if average == 'macro' else ''})"
    (got,) = semmetrics.score(preds, refs, measures=measure, classes=classes)
    assert got.value == pytest.approx(want, abs=1e-12)
    assert "|labels:given|" in got.signature
    assert "|L:11|" in got.signature
    outside = [label for row in preds for label in row if label not in classes]
    assert got.left_out == (len(set(outside)), len(outside), 0)
