"""Lengths, repeated words and vocabulary of captions, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
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
MEASURES = [
    CaptionLength(),
    DuplicatedCaption(),
    LengthRatio(),
    ReferenceCount(),
    UniqueCaptions(),
    Vocabulary(),
]


@given(st.lists(TOKENS, min_size=1, max_size=6), st.integers(1, 4))
def test_repeated_words_are_those_of_loops(captions, times):
    codes = np.array([ord(word) for word in "".join(map("".join, captions))], np.int64)
    indptr = offsets(np.array([len(caption) for caption in captions]))

    texts, _ = find_repeated_words(indptr, codes, times)

    numbered = enumerate(captions)
    expected = {place for place, words in numbered if oracle.duplicated(words, times)}
    assert set(texts.tolist()) == expected


def score_items(items):
    """Return the scores of candidates and references by measure."""
    candidates = [" ".join(candidate) for candidate, _ in items]
    references = [list(map(" ".join, references)) for _, references in items]
    scores = scored(candidates, references, MEASURES)
    return {str(score.measure): score for score in scores}


@given(ITEMS)
def test_means_are_those_of_loops(items):
    scores = score_items(items)

    candidates = [tuple(candidate) for candidate, _ in items]
    expected = {
        "CaptionLength": np.mean([len(candidate) for candidate in candidates]),
        "DuplicatedCaption": np.mean(list(map(oracle.duplicated, candidates))),
        "ReferenceCount": np.mean([len(references) for _, references in items]),
        "UniqueCaptions": len(set(candidates)) / len(items),
        "Vocabulary": len(set().union(*candidates)),
    }
    values = {name: scores[name].value for name in expected}
    assert values == pytest.approx(expected)
    distinct_words = [len(set(candidate)) for candidate in candidates]
    assert scores["Vocabulary"].items.tolist() == distinct_words
    assert scores["UniqueCaptions"].items is None


@given(ITEMS)
def test_the_length_ratio_is_that_of_bleu(items):
    score = score_items(items)["LengthRatio"]

    rows = np.array([oracle.bleu_row(*item)[:2] for item in items], float)
    total = rows.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratios = np.where(rows[:, 1] > 0, rows[:, 0] / rows[:, 1], np.nan)
        assert_allclose(score.value, total[0] / total[1] if total[1] else np.nan)
    assert_allclose(score.items, ratios)
    n_missing = sum(not references for _, references in items)
    assert score.undefined.get("no_reference", 0) == n_missing
