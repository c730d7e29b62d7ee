"""ROUGE-L against dynamic programming."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored

from semmetrics.metrics.caption_overlap import ROUGE_L

TEXT = st.lists(st.sampled_from("abcd"), max_size=9).map(" ".join)
ITEMS = st.lists(st.tuples(TEXT, st.lists(TEXT, max_size=4)), min_size=1, max_size=6)


@given(ITEMS, st.sampled_from([1.2, 0.0, 1.0, 3.5]))
def test_values_are_those_of_dynamic_programming(items, beta):
    got = scored(*zip(*items, strict=True), [ROUGE_L(beta=beta)])[0]
    expected = [
        oracle.rouge_l(mine.split(), [t.split() for t in theirs], beta) for mine, theirs in items
    ]
    assert_allclose(got.items, expected, rtol=1e-14)
    defined = [value for value in expected if value == value]
    mean = sum(defined) / len(defined) if defined else np.nan
    assert_allclose(got.value, mean, rtol=1e-12)
    assert all(0 <= value <= 1 for value in defined)
    missing = len(expected) - len(defined)
    assert got.undefined == ({"no_reference": missing} if missing else {})
