"""BLEU against loops, and ROUGE-L against dynamic programming."""

from __future__ import annotations

import laws
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored, task_of

from semmetrics.data.tasks import Block
from semmetrics.metrics.caption_overlap import BLEU, ROUGE_L, BleuCounts
from semmetrics.scoring.evaluate import evaluate

RULES = ("closest", "shortest", "average")
TEXT = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
ITEM = st.tuples(TEXT, st.lists(TEXT, max_size=4))
ITEMS = st.lists(ITEM, min_size=1, max_size=6)


@given(ITEMS, st.sampled_from(RULES))
def test_counts_and_values_are_those_of_loops(items, rule):
    task = task_of(*zip(*items, strict=True))
    columns = BleuCounts(rule).compute(Block(task, 0, len(task)))
    rows = [
        oracle.bleu_row(mine.split(), [t.split() for t in theirs], rule)
        for mine, theirs in items
    ]
    assert columns["testlen"].values.tolist() == [row[0] for row in rows]
    assert_allclose(columns["reflen"].values, [row[1] for row in rows], rtol=1e-15)
    for n in range(1, 5):
        assert columns[f"guess_{n}"].values.tolist() == [row[2][n - 1] for row in rows]
        assert columns[f"correct_{n}"].values.tolist() == [
            row[3][n - 1] for row in rows
        ]
    some = [bool(theirs) for _, theirs in items]
    measures = [one(reflen=rule) for one in BLEU]
    for n, score in enumerate(laws.scores(evaluate(task, measures), measures), 1):
        each = [
            oracle.bleu([row], n) if kept else np.nan
            for row, kept in zip(rows, some, strict=True)
        ]
        assert_allclose(score.items, each, rtol=1e-12)
        value = oracle.bleu(rows, n) if any(some) else np.nan
        assert_allclose(score.value, value, rtol=1e-12)
        missing = some.count(False)
        assert score.undefined == ({"no_reference": missing} if missing else {})
        defined = np.array(each)[some]
        assert ((defined >= 0) & (defined <= 1)).all()


@given(ITEMS, st.sampled_from([1.2, 0.0, 1.0, 3.5]))
def test_values_are_those_of_dynamic_programming(items, beta):
    got = scored(*zip(*items, strict=True), [ROUGE_L(beta=beta)])[0]
    expected = [
        oracle.rouge_l(mine.split(), [t.split() for t in theirs], beta)
        for mine, theirs in items
    ]
    assert_allclose(got.items, expected, rtol=1e-14)
    defined = [value for value in expected if value == value]
    mean = sum(defined) / len(defined) if defined else np.nan
    assert_allclose(got.value, mean, rtol=1e-12)
    assert all(0 <= value <= 1 for value in defined)
    missing = len(expected) - len(defined)
    assert got.undefined == ({"no_reference": missing} if missing else {})
