"""Matching and counting against loops over items: lists and sets, synonyms, scores, cutoffs."""

from __future__ import annotations

import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import sets as oracle
from refusals import refused

import semmetrics
from semmetrics.kinds.labels import as_labels
from semmetrics.kinds.labels.task import label_task
from semmetrics.metrics.matching import Counts, Cut, Matches, PrecisionSums
from semmetrics.metrics.set_measures import LabelCounts

TERM = st.sampled_from("abcdef")
LABEL = st.one_of(
    TERM.map(lambda term: (term,)), st.lists(TERM, min_size=1, max_size=3, unique=True).map(tuple)
)
LABELS = st.lists(LABEL, max_size=6)


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
        str(n): [(list(label), score) if score is not None else list(label) for label, score in row]
        for n, row in reversed(list(enumerate(preds)))
    }
    truth = {str(n): [list(label) for label in labels] for n, labels in enumerate(refs)}
    return label_task(as_labels(written), as_labels(truth), classes=classes, **options)


def computed(task, step, memory):
    return [block.get(step) for block in task.blocks(memory)]


def check_items(problem, duplicates, k, above, memory):
    preds, refs, classes = problem
    task = task_of(preds, refs, classes)
    known = oracle.classes_of(refs, classes)
    cut = Cut("all" if above is None else f"threshold:{above}", k=k)
    rows = [
        oracle.item(pred, ref, known, duplicates=duplicates, k=k, above=above)
        for pred, ref in zip(preds, refs, strict=True)
    ]
    counts = computed(task, Counts(cut, Matches(duplicates)), memory)
    for place, name in enumerate(("hit", "n_pred", "n_ref")):
        got = [n for part in counts for n in getattr(part, name).tolist()]
        assert got == [row[place] for row in rows], name
    sums = computed(task, PrecisionSums(cut, Matches(duplicates)), memory)
    flat = np.concatenate([*sums, np.zeros(0)])
    assert_allclose(flat, [row[3] for row in rows], rtol=0, atol=1e-12)


def test_labels_that_all_share_a_term_take_little():
    """Time and memory grow with the labels, and not with the pairs of them."""
    tracemalloc.start()
    try:
        preds, refs = ([[f"{side}{n}", "thing"] for n in range(3000)] for side in "pr")
        many = semmetrics.score([[one] for one in preds], [[one] for one in refs], measures="F1")
        one = semmetrics.score([preds], [refs], measures="F1(duplicates=each)")
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    assert (many["F1"].value, one[0].value) == (1.0, 1.0)


K = st.one_of(st.none(), st.integers(1, 4))
MEMORY = st.sampled_from([1, 1000, 1 << 25])


@pytest.mark.parametrize("duplicates", ["once", "each"])
@pytest.mark.parametrize("plain", [False, True], ids=["synonyms", "plain"])
@settings(max_examples=250)
@given(data=st.data(), k=K, memory=MEMORY)
def test_counts_of_items(duplicates, plain, data, k, memory):
    check_items(data.draw(problems(plain=plain)), duplicates, k, None, memory)


@pytest.mark.parametrize("duplicates", ["once", "each"])
@given(problem=problems(scored=True), k=K, above=st.sampled_from([-1, 0, 1.5, 2, 9]), memory=MEMORY)
def test_counts_of_items_above_a_threshold(duplicates, problem, k, above, memory):
    if any(problem[0]):
        check_items(problem, duplicates, k, above, memory)


@given(problem=problems(), k=K, memory=MEMORY)
def test_counts_by_class(problem, k, memory):
    preds, refs, classes = problem
    task = task_of(preds, refs, classes)
    expected = oracle.by_class(preds, refs, oracle.classes_of(refs, classes), k=k)
    total = np.zeros((3, len(task.classes)), np.int64)
    for part in computed(task, LabelCounts(Cut(k=k)), memory):
        total += [part[name].sum() for name in ("hit", "n_pred", "n_ref")]
    got = {name: tuple(row) for name, row in zip(task.classes, total.T.tolist(), strict=True)}
    assert {name: row for name, row in got.items() if any(row)} == {
        name: row for name, row in expected.items() if any(row)
    }


@pytest.mark.parametrize(("duplicates", "kind"), [("once", set), ("each", Counter)])
def test_cells_too_many_for_a_table(duplicates, kind):
    rng = np.random.default_rng(3)  # 9,000 items x 9,000 labels
    preds, refs = (
        [[f"l{(n + code) % 9000}" for code in codes] for n, codes in enumerate(side.tolist())]
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


@given(refs=st.lists(LABELS, min_size=1, max_size=5))
def test_the_ground_truth_as_prediction_is_right(refs):
    """Every label is a class of its own, also where classes share terms."""
    task = task_of([[(label, None) for label in labels] for labels in refs], refs, None)
    (block,) = task.blocks()
    columns = block.get(LabelCounts(Cut()))
    assert columns["hit"].sum().tolist() == columns["n_ref"].sum().tolist()
    assert columns["n_pred"].sum().tolist() == columns["n_ref"].sum().tolist()


def counts(preds, refs, duplicates, classes=None, k=None):
    task = label_task(as_labels([preds]), as_labels([refs]), classes=classes)
    (block,) = task.blocks()
    found = block.get(Counts(Cut(k=k), Matches(duplicates)))
    return found.hit.item(), found.n_pred.item(), found.n_ref.item()


AB, BC, CD = ["a", "b"], ["b", "c"], ["c", "d"]


@pytest.mark.parametrize(
    ("preds", "refs", "classes", "as_list", "as_set"),
    [
        # repeats: each reference is used once
        (["a", "a", "a"], ["a", "a"], None, (2, 3, 2), (1, 1, 1)),
        # a term of two references takes the first of them, and then the other
        (["b"], [AB, BC], None, (1, 1, 2), (1, 1, 2)),
        (["b", "b"], [AB, BC], None, (2, 2, 2), (1, 1, 2)),
        (["b", "c"], [AB, BC], None, (2, 2, 2), (2, 2, 2)),
        # file order decides: b takes "b or c", and nothing is left for c
        (["b", "c"], [BC, AB], None, (1, 2, 2), (1, 2, 2)),
        # the prediction's own terms come first, then the order of the references
        ([["c", "a"], "c"], [AB, CD], None, (1, 2, 2), (1, 1, 2)),
        ([["a", "c"], "c"], [AB, CD], None, (2, 2, 2), (2, 2, 2)),
        # other words for one class
        (["a", "b"], [AB], None, (1, 2, 1), (1, 1, 1)),
        (["kitty"], ["cat"], [["cat", "kitty"]], (1, 1, 1), (1, 1, 1)),
        # also beside a label of a term that two classes share
        (["kitty", "x"], ["cat", "wolf"], [["cat", "kitty"], ["dog", "x"], ["wolf", "x"]],
         (2, 2, 2), (2, 2, 2)),
        # two written labels of one class
        (["cat"], ["cat", "kitty"], [["cat", "kitty"]], (1, 1, 2), (1, 1, 1)),
        ([], [AB, BC], None, (0, 0, 2), (0, 0, 2)),
        ([AB], [], None, (0, 1, 0), (0, 1, 0)),
        ([], [], None, (0, 0, 0), (0, 0, 0)),
    ],
)  # fmt: skip
def test_worked_cases(preds, refs, classes, as_list, as_set):
    assert counts(preds, refs, "each", classes) == as_list
    assert counts(preds, refs, "once", classes) == as_set


def test_a_cutoff_counts_entries_of_the_list():
    assert counts(["a", "a", "b"], ["a", "b"], "once", k=2) == (1, 1, 2)
    assert counts(["a", "a", "b"], ["a", "b"], "each", k=2) == (1, 2, 2)
    assert counts(["a"], ["a", "b"], "each", k=9) == (1, 1, 2)


def test_equal_scores_keep_their_order():
    preds = [("a", 1), ("b", 2), ("c", 2), ("d", 2), ("a", 3)]
    assert [counts(preds, ["c"], "each", k=k)[0] for k in (1, 2, 3, 4)] == [0, 0, 1, 1]


def test_matching_leaves_the_task_as_it_is():
    task = label_task(as_labels([["b", "b", "a"]]), as_labels([[AB, BC]]))
    before = task.pred.codes.tolist(), task.ref.codes.tolist(), task.pred.written.tolist()
    (block,) = task.blocks()
    by_class = block.get(Matches("each", "class")).hit.copy()
    block.get(Counts(Cut(), Matches("each")))
    assert block.get(Matches("each", "class")).hit.tolist() == by_class.tolist()
    assert (task.pred.codes.tolist(), task.ref.codes.tolist(), task.pred.written.tolist()) == before


def test_parts_of_a_task_match_as_the_whole():
    task = label_task(
        as_labels([["b", "c"], ["a"], ["b", "b"]]), as_labels([[BC, AB], ["a"], [AB, BC]])
    )
    step = Counts(Cut(), Matches("each"))
    whole = [part.hit.tolist() for part in computed(task, step, 1 << 25)]
    rows = computed(task.take(np.array([2, 0, 1])), step, 1 << 25)[0].hit.tolist()
    assert whole == [[1, 1, 2]]
    assert rows == [2, 1, 1]


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
