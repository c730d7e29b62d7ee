"""Lengths, repeated words and vocabulary of captions, against plain Python."""

from __future__ import annotations

import math
from itertools import chain
from statistics import fmean

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
def test_repeated_words_equal_loops(captions, times):
    codes = np.array(list(map(ord, chain(*captions))), np.int64)
    lengths = list(map(len, captions))
    indptr = offsets(np.array(lengths))

    texts, _ = find_repeated_words(indptr, codes, times)

    expected = set()
    for place, words in enumerate(captions):
        if oracle.duplicated(words, times):
            expected.add(place)
    assert set(texts.tolist()) == expected


def score_items(items):
    """Return the scores of candidates and references by measure."""
    candidates = [" ".join(candidate) for candidate, _ in items]
    references = [list(map(" ".join, references)) for _, references in items]
    scores = scored(candidates, references, MEASURES)
    return {str(score.measure): score for score in scores}


@given(ITEMS)
def test_means_equal_loops(items):
    scores = score_items(items)

    n_words = []
    n_references = []
    is_duplicated = []
    for candidate, references in items:
        n_words.append(len(candidate))
        n_references.append(len(references))
        is_duplicated.append(oracle.duplicated(candidate))
    assert scores["CaptionLength"].value == pytest.approx(fmean(n_words))
    assert scores["ReferenceCount"].value == pytest.approx(fmean(n_references))
    assert scores["DuplicatedCaption"].value == pytest.approx(fmean(is_duplicated))


@given(ITEMS)
def test_vocabulary_and_unique_captions_equal_sets(items):
    scores = score_items(items)

    captions = {tuple(candidate) for candidate, _ in items}
    words_of_items = [set(candidate) for candidate, _ in items]
    all_words = set().union(*words_of_items)
    assert scores["UniqueCaptions"].value == pytest.approx(len(captions) / len(items))
    assert scores["UniqueCaptions"].items is None
    assert scores["Vocabulary"].value == len(all_words)
    assert scores["Vocabulary"].items.tolist() == list(map(len, words_of_items))


def ratio(length, reference_length):
    """Divide two lengths. No references have the length 0."""
    return length / reference_length if reference_length else math.nan


@given(ITEMS)
def test_the_length_ratio_has_the_lengths_of_bleu(items):
    score = score_items(items)["LengthRatio"]

    total = total_reference = n_missing = 0
    ratios = []
    for candidate, references in items:
        length, reference_length, *_ = oracle.bleu_row(candidate, references)
        ratios.append(ratio(length, reference_length))
        total += length
        total_reference += reference_length
        if not references:
            n_missing += 1
    assert_allclose(score.items, ratios)
    assert_allclose(score.value, ratio(total, total_reference))
    assert score.undefined.get("no_reference", 0) == n_missing
