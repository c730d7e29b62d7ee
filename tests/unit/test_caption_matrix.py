"""CIDEr and CIDEr-D of all pairs of images and captions, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from caption_pairs import matrix, random_images
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import cider as oracle
from oracles.cider import split
from refusals import refused

from semmetrics.core import sparse_pairs
from semmetrics.kinds.captions.matrix import caption_top_k
from semmetrics.metrics.cider import CIDEr, CIDErD, fit_document_frequencies

WORD = st.sampled_from(["a", "the", "man", "men", "rides", "bike"])
CAPTION = st.lists(WORD, max_size=9).map(" ".join)
IMAGES = st.lists(st.lists(CAPTION, min_size=1, max_size=3), min_size=1, max_size=5)
CAPTIONS = st.lists(CAPTION, min_size=1, max_size=7)
OTHER_DOCUMENTS = [["a man rides", "the bike"], ["the men"], ["the man"]]


@given(
    IMAGES,
    CAPTIONS,
    st.sampled_from([None, 0.5, 6.0, np.inf]),
    st.sampled_from(["none", "porter"]),
    st.booleans(),
)
def test_values_are_those_of_loops(images, captions, sigma, stem, with_frequencies):
    documents = images
    doc_freq = None
    if with_frequencies:
        documents = OTHER_DOCUMENTS
        doc_freq = fit_document_frequencies(documents, "whitespace", stem)
    measure = CIDEr(stem=stem) if sigma is None else CIDErD(stem=stem, sigma=sigma)

    values = matrix(images, captions, measure=measure, doc_freq=doc_freq)

    tokens_of_documents = [split(texts, stem) for texts in documents]
    frequencies = oracle.document_frequencies(tokens_of_documents)
    options = {"sigma": sigma, "clip": sigma is not None}
    for row, references in enumerate(images):
        tokens = split(references, stem)
        for column, caption in enumerate(split(captions, stem)):
            expected = oracle.score(
                caption, tokens, frequencies, len(documents), **options
            )
            assert values[row, column] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("gain", "max_bytes"), [(0, 1 << 27), (1 << 40, 1 << 27), (1 << 40, 7 * 83 * 8)]
)
def test_dense_and_sparse_products_agree(monkeypatch, gain, max_bytes):
    images, captions = random_images()
    expected = matrix(images, captions)
    monkeypatch.setattr(sparse_pairs, "DENSE_GAIN", gain)
    monkeypatch.setattr(sparse_pairs, "MAX_DENSE_BYTES", max_bytes)

    assert_allclose(matrix(images, captions), expected, rtol=0, atol=1e-13)


def test_blocks_have_the_values_of_the_whole():
    images, captions = random_images()
    progress = []

    values = matrix(
        images,
        captions,
        memory=16 * len(captions) * 9,
        progress=lambda *call: progress.append(call),
    )

    assert_allclose(values, matrix(images, captions), rtol=0, atol=1e-13)
    assert progress == [(9, 40), (18, 40), (27, 40), (36, 40), (40, 40)]


def test_texts_may_be_arrays():
    images, captions = random_images()

    values = matrix(np.array(images), np.array(captions))

    assert_array_equal(values, matrix(images, captions))


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        ({"references": [["a"], []]}, "nothing-given", "references[1]"),
        ({"references": {"1": ["a"]}}, "wrong-type", "references"),
        ({"references": "a man"}, "wrong-type", "references"),
        ({"references": ["a man"]}, "wrong-type", "references[0]"),
        ({"references": [["a"], ["a", 3]]}, "wrong-type", "references[1][1]"),
        ({"captions": {"1": "a"}}, "wrong-type", "captions"),
        ({"captions": ["a", ["b"]]}, "wrong-type", "captions[1]"),
        ({"captions": []}, "empty", "captions"),
        ({"measure": "BLEU-4"}, "no-matrix", ""),
        ({"measure": "CIDEr-D(df=rows)"}, "no-matrix", ""),
        ({"measure": "CIDEr-D(df=given)"}, "needs-option", ""),
        ({"rows": "reference"}, "bad-choice", ""),
    ],
)
def test_a_wrong_input_is_an_error(change, code, where):
    options = {"references": [["a man"], ["a bike"]], "captions": ["a"], **change}

    with refused(code, where):
        matrix(options.pop("references"), options.pop("captions"), **options)


@pytest.mark.parametrize(
    ("k", "axis", "code"),
    [
        (0, "captions", "bad-option"),
        (3, "captions", "bad-option"),
        (1.0, "captions", "bad-option"),
        (2, "images", "bad-option"),
        (1, "rows", "bad-choice"),
    ],
)
def test_a_wrong_k_or_axis_is_an_error(k, axis, code):
    with refused(code):
        caption_top_k([["a man"]], ["a", "b"], k, axis=axis, tokenizer="whitespace")
