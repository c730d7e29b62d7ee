"""What captions look like: lengths, repeated words, vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored

from semmetrics.core.ragged import offsets
from semmetrics.metrics.caption_statistics import (
    CaptionLength,
    DuplicatedCaption,
    LengthRatio,
    ReferenceCount,
    UniqueCaptions,
    Vocabulary,
    find_repeated_words,
)

TOKENS = st.lists(st.sampled_from("abc"), max_size=7)
ITEMS = st.lists(
    st.tuples(TOKENS, st.lists(TOKENS, max_size=3)), min_size=1, max_size=6
)
ALL = [
    one()
    for one in (
        CaptionLength,
        DuplicatedCaption,
        LengthRatio,
        ReferenceCount,
        UniqueCaptions,
        Vocabulary,
    )
]


def sides(items):
    candidates = [" ".join(mine) for mine, _ in items]
    return candidates, [[" ".join(other) for other in theirs] for _, theirs in items]


def by_name(scores):
    return {str(score.measure): score for score in scores}


@given(st.lists(TOKENS, min_size=1, max_size=6), st.integers(1, 4))
def test_repeated_words(captions, times):
    codes = np.array([ord(word) for caption in captions for word in caption], np.int64)
    texts, _ = find_repeated_words(
        offsets(np.array([*map(len, captions)])), codes, times
    )
    duplicated = [
        place for place, one in enumerate(captions) if oracle.duplicated(one, times)
    ]
    assert sorted(set(texts.tolist())) == duplicated


@given(ITEMS)
def test_values(items):
    got = by_name(scored(*sides(items), ALL))
    mine = [candidate for candidate, _ in items]
    rows = [oracle.bleu_row(*item) for item in items]
    testlen, reflen = (sum(row[place] for row in rows) for place in (0, 1))
    n = len(items)
    expected = {
        "CaptionLength": sum(map(len, mine)) / n,
        "DuplicatedCaption": sum(map(oracle.duplicated, mine)) / n,
        "LengthRatio": testlen / reflen if reflen else np.nan,
        "ReferenceCount": sum(len(theirs) for _, theirs in items) / n,
        "UniqueCaptions": len(set(map(tuple, mine))) / n,
        "Vocabulary": len({word for candidate in mine for word in candidate}),
    }
    assert {name: score.value for name, score in got.items()} == pytest.approx(
        expected, nan_ok=True
    )
    assert got["CaptionLength"].items.tolist() == [*map(len, mine)]
    assert got["Vocabulary"].items.tolist() == [
        len(set(candidate)) for candidate in mine
    ]
    assert got["UniqueCaptions"].items is None
    assert_array_equal(
        got["LengthRatio"].items,
        [
            row[0] / row[1] if theirs and row[1] else np.nan
            for row, (_, theirs) in zip(rows, items, strict=True)
        ],
    )
    missing = sum(not theirs for _, theirs in items)
    assert got["LengthRatio"].undefined == (
        {"no_reference": missing} if missing else {}
    )
    assert got["ReferenceCount"].undefined == {}
