"""Values from label lists, matrices and arrays against scikit-learn, to 1e-12."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse
from sklearn import metrics as peer

import semmetrics
from semmetrics.metrics import arrays
from semmetrics.metrics.parsing import parse
from semmetrics.metrics.registry import find
from tests.refusals import refused

AVERAGES = {
    "example": "samples",
    "macro": "macro",
    "micro": "micro",
    "weighted": "weighted",
}
PEERS = {
    "Precision": peer.precision_score,
    "Recall": peer.recall_score,
    "F1": peer.f1_score,
    "Jaccard": peer.jaccard_score,
}
# FBeta is a measure for each beta
EVERY = PEERS | {
    f"FBeta(beta={beta})": partial(peer.fbeta_score, beta=beta) for beta in (0.5, 2)
}
CAUSES = {"Precision": ["no_prediction"], "Recall": ["no_reference"]}
POLICIES = {0.0: "0", 1.0: "1", np.nan: "skip"}  # scikit-learn leaves out what is nan


def table(seed):
    """0/1 predictions and references with empty rows, absent classes and exact answers; weights."""
    rng = np.random.default_rng(seed)
    n, width = int(rng.integers(1, 12)), int(rng.integers(2, 7))
    pred = (rng.random((n, width)) < rng.random()).astype(int)
    ref = (rng.random((n, width)) < rng.random()).astype(int)
    if seed % 3 == 0:
        pred[:, 0] = 0
    if seed % 4 == 0:
        ref[:, 0] = 0
    if seed % 5 == 0:
        pred[0] = 0
    if seed % 7 == 0:
        ref[0] = 0
    if seed % 2:
        pred[-1] = ref[-1]
    if seed % 11 == 10:
        pred[:] = 0
    weights = None if seed % 2 else rng.random(n) * rng.integers(0, 2, n) + 0.01
    return pred, ref, weights, [f"label {c}" for c in range(width)]


def lists(matrix, classes, seed):
    rng = np.random.default_rng(seed)
    return [
        [classes[c] for c in rng.permutation(np.flatnonzero(row))] for row in matrix
    ]


def expected(name, pred, ref, weights, average, zero_division):
    # of labels without any sample, which are there on purpose
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return EVERY[name](
            ref,
            pred,
            average=average,
            zero_division=zero_division,
            sample_weight=weights,
        )


def policies(name, average, zero_division):
    policy = POLICIES[zero_division]
    nothing = "absent" if average in ("macro", "weighted") else "empty"
    return dict.fromkeys([nothing, *CAUSES.get(name, [])], policy)


@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", range(24))
def test_set_measures(seed, name, average):
    pred, ref, weights, classes = table(seed)
    chosen = [0.0, 1.0] if name == "Jaccard" else list(POLICIES)
    labels = {} if average == "example" else {"labels": "given"}
    (plain,) = parse(name)
    measures = {
        z: plain.with_options(average=average, **policies(name, average, z), **labels)
        for z in chosen
    }
    every = list(dict.fromkeys(measures.values()))
    options = {"measures": every, "classes": classes, "weights": weights}
    from_lists = semmetrics.score(
        lists(pred, classes, 1), lists(ref, classes, 2), **options
    )
    from_matrix = semmetrics.score(scipy.sparse.csr_array(pred), ref, **options)
    for zero_division, m in measures.items():
        want = expected(name, pred, ref, weights, AVERAGES[average], zero_division)
        got = [
            from_lists[str(m)].value,
            from_matrix[str(m)].value,
            arrays.score(m, pred, ref, weights=weights),
        ]
        np.testing.assert_allclose(got, [want] * 3, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_subset_accuracy_and_hamming_loss(seed):
    pred, ref, weights, classes = table(seed)
    found = semmetrics.score(
        lists(pred, classes, 1),
        lists(ref, classes, 2),
        measures=[
            "SubsetAccuracy",
            "HammingLoss(labels=given)",
            "HammingLoss(average=macro,labels=given)",
        ],
        classes=classes,
        weights=weights,
    )
    exact = peer.accuracy_score(ref, pred, sample_weight=weights)
    wrong = peer.hamming_loss(ref, pred, sample_weight=weights)
    got = [score.value for score in found]
    got += [arrays.subset_accuracy(pred, ref, weights=weights)]
    got += [arrays.hamming_loss(pred, ref, weights=weights)]
    np.testing.assert_allclose(
        got, [exact, wrong, wrong, exact, wrong], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("seed", range(6))
def test_values_of_labels_and_items(seed):
    pred, ref, weights, _ = table(seed)
    for name in PEERS:
        labels = arrays.per_label(find(name)[0], pred, ref, weights=weights)
        want = expected(name, pred, ref, weights, None, 0.0)
        np.testing.assert_allclose(np.nan_to_num(labels), want, rtol=0, atol=1e-12)
        items = arrays.per_item(find(name)[0], pred, ref)
        want = [
            expected(name, p[None], r[None], None, "samples", 0.0)
            for p, r in zip(pred, ref, strict=True)
        ]
        np.testing.assert_allclose(np.nan_to_num(items), want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_denominator_of_the_cutoff_pads_short_lists(seed):
    rng = np.random.default_rng(seed)
    names = [f"l{i}" for i in range(9)]
    truth = {
        str(i): rng.permutation(names)[: rng.integers(0, 5)].tolist() for i in range(20)
    }
    preds = {
        str(i): rng.permutation(names)[: rng.integers(0, 8)].tolist() for i in range(20)
    }
    padded = {id_: row + [f"no {i}" for i in range(9)] for id_, row in preds.items()}
    measures = ["Precision", "F1", "MicroPrecision", "MicroF1"]
    want = semmetrics.score(padded, truth, measures=measures, top_k=[1, 5])
    chosen = ["Precision(denominator=cutoff)", "F1(denominator=cutoff)"]
    chosen += [
        f"{name}(average=micro,denominator=cutoff)" for name in ("Precision", "F1")
    ]
    got = semmetrics.score(preds, truth, measures=chosen, top_k=[1, 5], ci=True)
    assert [one.value for one in got] == pytest.approx([one.value for one in want])
    assert not [note for note in got.notes if "fewer than" in note]
    scorer = semmetrics.Scorer(measures=chosen, top_k=[1, 5], keep_rows=False)
    for id_, row in preds.items():
        scorer.update({id_: row}, {id_: truth[id_]})
    assert [one.value for one in scorer.compute()] == [one.value for one in got]
    again = semmetrics.rescore(got[1].signature, preds, truth)
    assert again[0].value == got[1].value
    assert not again.differences


def test_a_denominator_of_the_cutoff_needs_one():
    with refused("no-cutoff"):
        semmetrics.score([["a"]], [["a"]], measures="Precision(denominator=cutoff)")
    with refused("measure-option"):
        semmetrics.parse("Precision(average=macro,denominator=cutoff)@5")


@pytest.mark.parametrize(
    ("measures", "options", "noted"),
    [
        ("Precision@3", {}, [3]),
        ("Precision F1", {"top_k": [1, 2, 3]}, [2, 3]),
        ("Recall@3", {}, []),
        ("MacroF1@3", {}, []),
        ("Precision", {}, []),
        ("Precision@1", {}, []),
        ("Precision(denominator=cutoff)@3", {}, []),
        ("Precision(decode=threshold:0.5)@3", {}, []),
    ],
)
def test_lists_that_are_shorter_than_a_cutoff_are_noted(measures, options, noted):
    preds = {"a": [("x", 0.9), ("y", 0.8), ("z", 0.7)], "b": [("x", 0.9)]}
    truth = {"a": ["x"], "b": ["y"]}
    table = semmetrics.score(preds, truth, measures=measures.split(), **options)
    found = [note for note in table.notes if "fewer than" in note]
    assert len(found) == len(noted)
    for note, k in zip(found, noted, strict=True):
        assert f"1 of 2 items with fewer than {k} predictions" in note
    scorer = semmetrics.Scorer(measures=measures.split(), keep_rows=False, **options)
    for id_, row in preds.items():
        scorer.update({id_: row}, {id_: truth[id_]})
    assert [note for note in scorer.compute().notes if "fewer than" in note] == found
