"""Matching and counting against loops over items: lists and sets, synonyms, scores, cutoffs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import sets as oracle
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.kinds.options import resolve_options
from semmetrics.metrics.matching import Cut
from semmetrics.metrics.set_families import LabelCounts

TERM = st.sampled_from("abcdef")
LABEL = st.one_of(
    TERM.map(lambda term: (term,)),
    st.lists(TERM, min_size=1, max_size=3, unique=True).map(tuple),
)


@st.composite
def problems(draw, *, plain=False, listed=None, scored=None):
    """Predictions, references, and a class list or None."""
    label = TERM.map(lambda term: (term,)) if plain else LABEL
    classes = None
    if draw(st.booleans()) if listed is None else listed:
        classes = draw(st.lists(label, max_size=6, unique_by=oracle.name))
    refs = draw(st.lists(st.lists(label, max_size=5), max_size=5))
    if classes is not None:  # a reference label has a term of some class
        terms = {term for known in classes for term in known}
        refs = [[label for label in labels if terms & set(label)] for labels in refs]
    score = st.sampled_from([0.5, 1.5, 2.0, 3.0])  # 0 and 1 alone would be no scores
    with_scores = draw(st.booleans()) if scored is None else scored
    one = st.tuples(label, score if with_scores else st.none())
    preds = [draw(st.lists(one, max_size=6)) for _ in refs]
    return preds, refs, classes


def task_of(preds, refs, classes, **options):
    """The task, with the predictions given in another order than the references."""
    written = {
        str(n): [
            (list(label), score) if score is not None else list(label)
            for label, score in row
        ]
        for n, row in reversed(list(enumerate(preds)))
    }
    truth = {str(n): [list(label) for label in labels] for n, labels in enumerate(refs)}
    return label_task(
        as_labels(written),
        as_labels(truth),
        resolve_options({"classes": classes, **options}, "labels"),
    )


def computed(task, step, memory):
    return [block.get(step) for block in task.blocks(memory)]


K = st.one_of(st.none(), st.integers(1, 4))
MEMORY = st.sampled_from([1, 1000, 1 << 25])


@given(problem=problems(), k=K, memory=MEMORY)
def test_counts_by_class(problem, k, memory):
    preds, refs, classes = problem
    task = task_of(preds, refs, classes)
    expected = oracle.by_class(preds, refs, oracle.classes_of(refs, classes), k=k)
    total = np.zeros((3, len(task.classes)), np.int64)
    for part in computed(task, LabelCounts(Cut(k=k)), memory):
        total += [part[name].sum() for name in ("hit", "n_pred", "n_ref")]
    got = {
        name: tuple(row)
        for name, row in zip(task.classes, total.T.tolist(), strict=True)
    }
    assert {name: row for name, row in got.items() if any(row)} == {
        name: row for name, row in expected.items() if any(row)
    }


@pytest.mark.parametrize(
    ("preds", "cut", "code"),
    [
        ([["a"]], Cut("threshold:0.5"), "no-scores"),
        ([["a"]], Cut("cardinality"), "no-scores"),
        ([[("a", 0.5)]], Cut("cardinality"), "needs-option"),
        (np.array([[0.5]]), Cut(), "no-rule"),
    ],
)
def test_what_cannot_be_cut_is_refused(preds, cut, code):
    task = label_task(as_labels(preds, classes=["a"]), as_labels([["a"]]))
    (block,) = task.blocks()
    with refused(code):
        block.get(cut)


@pytest.mark.parametrize(("duplicates", "kind"), [("once", set), ("each", Counter)])
def test_cells_too_many_for_a_table(duplicates, kind):
    rng = np.random.default_rng(3)  # 9,000 items x 9,000 labels
    preds, refs = (
        [
            [f"l{(n + code) % 9000}" for code in codes]
            for n, codes in enumerate(side.tolist())
        ]
        for side in rng.integers(0, 6, (2, 9000, 5))
    )
    measure = f"F1(duplicates={duplicates})"
    sides = [[*map(Counter, map(kind, side))] for side in (preds, refs)]
    values = [
        2 * (pred & ref).total() / (pred.total() + ref.total())
        for pred, ref in zip(*sides, strict=True)
    ]
    (found,) = semmetrics.score(preds, refs, measures=[measure])
    assert_allclose(found.value, np.mean(values), rtol=0, atol=1e-14)
