"""CIDEr and CIDEr-D against loops over dicts, and against pycocoevalcap."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import cider as oracle
from oracles.cider import split

from semmetrics.data.tasks.captions import caption_task
from semmetrics.errors import InputError
from semmetrics.metrics.cider import (
    CIDEr,
    CIDErD,
    DocumentFrequencies,
    fit_document_frequencies,
)
from semmetrics.metrics.parsing import parse
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.tokenizers import open_tokenizer

WORDS = ["a", "a", "man", "men", "rides", "ride", "on", "the", "bike", "bikes"]
CAPTION = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
CAPTIONS = st.lists(CAPTION, min_size=1, max_size=3)
IMAGES = st.lists(st.tuples(CAPTIONS, CAPTIONS), min_size=1, max_size=5)
OTHER_DOCUMENTS = [["a man rides", "the bike"], ["a bike"], ["on the man"]]


def item_values(images, measure, **options):
    """Return the value of each candidate of images: (candidates, references)."""
    candidates, references = zip(*images, strict=True)
    ids = [str(place) for place in range(len(images))]
    tokenizer = open_tokenizer("whitespace")
    task = caption_task(candidates, references, ids, tokenizer, **options)
    family = measure.definition.family
    rows = evaluate(task, [measure]).rows(family.statistic(measure))
    return family.items(measure, rows, None)


def documents_of(images, df, stem):
    """Return the documents whose frequencies count, as lists of tokens."""
    documents = []
    for candidates, references in images:
        n_documents = len(candidates) if df == "rows" else 1
        documents += [split(references, stem)] * n_documents
    return documents


@given(
    IMAGES,
    st.sampled_from(["references", "rows", "given"]),
    st.sampled_from(["none", "porter"]),
    st.sampled_from([None, 0.5, 6.0]),
)
def test_values_are_those_of_loops(images, df, stem, sigma):
    documents = documents_of(images, df, stem)
    fits = {}
    if df == "given":
        documents = [split(captions, stem) for captions in OTHER_DOCUMENTS]
        fits["df"] = fit_document_frequencies(OTHER_DOCUMENTS, "whitespace", stem)
    measure = CIDEr(df=df, stem=stem)
    if sigma is not None:
        measure = CIDErD(df=df, stem=stem, sigma=sigma)

    values = item_values(images, measure, fits=fits)

    frequencies = oracle.document_frequencies(documents)
    options = {"sigma": sigma, "clip": sigma is not None}
    expected = []
    for candidates, references in images:
        tokens = split(references, stem)
        for candidate in split(candidates, stem):
            expected.append(
                oracle.score(candidate, tokens, frequencies, len(documents), **options)
            )
    assert_allclose(values, expected, rtol=0, atol=1e-12)


@given(IMAGES)
def test_values_are_those_of_pycocoevalcap(images):
    theirs = pytest.importorskip(
        "pycocoevalcap.cider.cider", reason="pycocoevalcap is not installed"
    )
    first_candidates = [
        (candidates[:1], references) for candidates, references in images
    ]
    references = dict(enumerate(references for _, references in images))
    assume(any("".join(captions) for captions in references.values()))
    candidates = dict(enumerate(candidates for candidates, _ in first_candidates))

    values = item_values(first_candidates, CIDErD())

    _, expected = theirs.Cider().compute_score(references, candidates)
    assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_an_image_is_one_document_and_each_row_may_be_one():
    images = [
        (["the bike", "men"], ["the bike"]),
        (["men"], ["men ride the", "on"]),
        (["a man"], ["a man rides"]),
    ]

    by_image = item_values(images, CIDErD(df="references"))
    by_row = item_values(images, CIDErD(df="rows"))

    assert by_image[0] == pytest.approx(5.0)  # one word and one bigram
    assert by_row[2] != by_image[2]


def test_an_empty_fit_for_a_stemmer_is_used():
    images = [(["the bike"], ["the bike", "a man"])]
    empty = DocumentFrequencies.from_counts({}, documents=3)
    general = fit_document_frequencies(OTHER_DOCUMENTS, "whitespace", "none")
    measure = CIDErD(df="given")

    values = item_values(images, measure, fits={"df/none": empty, "df": general})

    assert values == item_values(images, measure, fits={"df": empty})
    assert values != item_values(images, measure, fits={"df": general})


@pytest.mark.parametrize(
    "text",
    ["CIDEr-D(sigma=0)", "CIDEr-D@3", "CIDEr(sigma=6)", "CIDEr(stem=snowball)"],
)
def test_a_wrong_option_is_an_error(text):
    with pytest.raises(InputError):
        parse(text)
