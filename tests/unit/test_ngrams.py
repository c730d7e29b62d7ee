"""Counts of n-grams against counters of tuples."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semmetrics.core import ngrams as module
from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import offsets

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=9), min_size=1, max_size=8)


def counters(texts, order):
    return [
        Counter(tuple(text[at : at + order]) for at in range(len(text) - order + 1))
        for text in texts
    ]


def counted(texts, scale=1):
    flat = np.array([code * scale for text in texts for code in text], np.int64)
    return flat, count_ngrams(offsets(np.array([*map(len, texts)])), flat)


def by_text(grams, flat, scale=1):
    names = [tuple(code // scale for code in name) for name in grams.tokens(flat).tolist()]
    bounds = grams.indptr.tolist()
    found = []
    for start, stop in pairwise(bounds):
        cells = grams.codes[start:stop].tolist()
        assert cells == sorted(set(cells))
        counts = grams.counts[start:stop].tolist()
        found.append({names[cell]: count for cell, count in zip(cells, counts, strict=True)})
    assert len(set(names)) == len(names) == len(grams)
    return found


@given(TEXTS, st.sampled_from([1, 1 << 40]))
def test_equals_counters(texts, scale):
    """Also where a key and its place are too large for one number."""
    flat, found = counted(texts, scale)
    for order, grams in enumerate(found, 1):
        expected = counters(texts, order)
        assert by_text(grams, flat, scale) == expected
        assert grams.totals.tolist() == [counter.total() for counter in expected]
        assert grams.order == order


@given(TEXTS)
def test_other_order_of_keys(texts):
    """Without keys and places in one number, and with few n-grams at a time, all is as it was."""
    flat, found = counted(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_BITS", 0)
        patch.setattr(module, "_CELLS", 3)
        patch.setattr(module, "_SMALL", -1)
        flat, others = counted(texts)
    for grams, other in zip(found, others, strict=True):
        for name in ("indptr", "codes", "counts"):
            assert getattr(grams, name).tolist() == getattr(other, name).tolist()
        assert grams.tokens(flat).tolist() == other.tokens(flat).tolist()
        assert {grams.codes.dtype, grams.counts.dtype, grams.places.dtype} == {np.dtype(np.int32)}
        assert {other.codes.dtype, other.counts.dtype, other.places.dtype} == {np.dtype(np.int64)}
