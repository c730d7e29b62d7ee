"""Counts of labels, compared with loops over items."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sets as oracle
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.matching import Cut
from semmetrics.metrics.set_families import LabelCounts

LABELS = st.lists(st.sampled_from("abcdef"), min_size=1, max_size=3, unique=True)
LABELS = LABELS.map(tuple)
SCORES = st.sampled_from([0.5, 1.5, 2.0, 3.0])


def to_lists(labels):
    return [list(label) for label in labels]


def to_predictions(pairs):
    """Return labels with scores, or labels if the scores are None."""
    labels = to_lists(label for label, _ in pairs)
    scores = [score for _, score in pairs]
    if None in scores:
        return labels
    return list(zip(labels, scores, strict=True))


def remove_unknown(refs, classes):
    """Remove the reference labels without a term of a class, which are errors."""
    terms = {term for label in classes for term in label}
    return [[label for label in ref if terms & {*label}] for ref in refs]


@pytest.mark.parametrize("max_bytes", [1, 1000, 1 << 25])
@pytest.mark.parametrize("scores", [st.none(), SCORES], ids=["sets", "scored"])
@given(data=st.data(), k=st.none() | st.integers(1, 4))
def test_hits_predictions_and_references_of_classes_equal_loops(
    max_bytes, scores, data, k
):
    refs = data.draw(st.lists(st.lists(LABELS, max_size=5), max_size=5))
    pairs = st.lists(st.tuples(LABELS, scores), max_size=6)
    preds = [data.draw(pairs) for _ in refs]
    listed = data.draw(st.none() | st.lists(LABELS, max_size=6, unique_by=oracle.name))
    if listed is not None:
        refs = remove_unknown(refs, listed)

    task = label_task(
        as_labels([to_predictions(pred) for pred in preds]),
        as_labels([to_lists(ref) for ref in refs]),
        resolve_options({"classes": listed}, "labels"),
    )
    counts = np.zeros((3, len(task.classes)), int)
    for block in task.blocks(max_bytes):
        part = block.get(LabelCounts(Cut(k=k)))
        counts += [part["hit"].sum(), part["n_pred"].sum(), part["n_ref"].sum()]

    expected = oracle.by_class(preds, refs, oracle.classes_of(refs, listed), k=k)
    for name, row in zip(task.classes, counts.T.tolist(), strict=True):
        assert tuple(row) == expected.get(name, (0, 0, 0))


@pytest.mark.parametrize(
    ("preds", "cut", "code"),
    [
        ([["a"]], Cut("threshold:0.5"), "no-scores"),
        ([["a"]], Cut("cardinality"), "no-scores"),
        ([[("a", 0.5)]], Cut("cardinality"), "needs-option"),
        (np.array([[0.5]]), Cut(), "no-rule"),
    ],
)
def test_cuts_that_lack_scores_or_a_rule_are_errors(preds, cut, code):
    task = label_task(as_labels(preds, classes=["a"]), as_labels([["a"]]))
    (block,) = task.blocks()

    with refused(code):
        block.get(cut)


@pytest.mark.parametrize(("duplicates", "count"), [("once", set), ("each", list)])
def test_counts_are_right_for_more_cells_than_a_table_can_have(duplicates, count):
    codes = np.random.default_rng(3).integers(0, 6, (2, 9000, 5))
    codes += np.arange(9000)[:, None]  # 9,000 items and labels
    names = np.array([f"l{code}" for code in range(9005)])
    preds, refs = names[codes].tolist()

    (score,) = semmetrics.score(preds, refs, measures=f"F1(duplicates={duplicates})")

    values = []
    for pred, ref in zip(preds, refs, strict=True):
        pred_counts = Counter(count(pred))
        ref_counts = Counter(count(ref))
        size = pred_counts.total() + ref_counts.total()
        values.append(2 * (pred_counts & ref_counts).total() / size)
    assert score.value == pytest.approx(np.mean(values), abs=1e-14)


def test_an_error_names_the_measure_that_needs_label_sets():
    # given scores, a measure of sets and a measure of scores
    scores = np.array([[0.9, 0.2]])

    # then the error names the measure of sets
    with refused("no-rule", measure="F1"):
        semmetrics.score(scores, np.array([[1, 0]]), measures="mAP F1")
