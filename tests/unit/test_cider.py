"""CIDEr-D and CIDEr against loops over dicts, and what they do at the edges."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import cider as oracle
from oracles.cider import split

from semmetrics.data.tasks import caption_task
from semmetrics.errors import InputError
from semmetrics.metrics.cider import CIDEr, CIDErD, fit_document_frequencies
from semmetrics.metrics.parsing import parse
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.tokenizers import open_tokenizer

WORDS = ["a", "a", "man", "men", "rides", "ride", "on", "the", "bike", "bikes"]
CAPTION = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
GROUPS = st.lists(
    st.tuples(
        st.lists(CAPTION, min_size=1, max_size=3),
        st.lists(CAPTION, min_size=1, max_size=3),
    ),
    min_size=1,
    max_size=5,
)


def task_of(groups, **more):
    """The task of (candidates, references) of each image."""
    candidates, references = zip(*groups, strict=True)
    names = [f"i{number}" for number in range(len(groups))]
    return caption_task(
        candidates, references, names, open_tokenizer("whitespace"), **more
    )


def values(task, measure):
    """The value of each item; nan where there is none."""
    statistic = measure.definition.family.statistic(measure)
    rows = evaluate(task, [measure]).rows(statistic)
    return measure.definition.family.items(measure, rows, None)


@given(
    GROUPS,
    st.sampled_from(["references", "rows", "given"]),
    st.sampled_from(["none", "porter"]),
    st.sampled_from([None, 0.5, 6.0]),
)
def test_equals_loops(groups, df, stem, sigma):
    documents = [split(refs, stem) for _, refs in groups]
    if df == "rows":
        documents = [
            d for d, (cands, _) in zip(documents, groups, strict=True) for _ in cands
        ]
    fits = {}
    if df == "given":
        other = [["a man rides", "the bike"], ["a bike"], [], ["on the man"]]
        fits = {"df": fit_document_frequencies(other, "whitespace", stem)}
        documents = [split(refs, stem) for refs in other if refs]
    frequencies = oracle.document_frequencies(documents)
    measure = (
        CIDEr(df=df, stem=stem)
        if sigma is None
        else CIDErD(df=df, stem=stem, sigma=sigma)
    )
    found = values(task_of(groups, fits=fits), measure)
    options = {"sigma": sigma, "clip": sigma is not None}
    expected = [
        oracle.score(cand, split(refs, stem), frequencies, len(documents), **options)
        for cands, refs in groups
        for cand in split(cands, stem)
    ]
    assert_allclose(found, expected, rtol=0, atol=1e-12)


@given(GROUPS)
def test_equals_pycocoevalcap(groups):
    cider = pytest.importorskip(
        "pycocoevalcap.cider.cider", reason="pycocoevalcap is not there"
    )
    groups = [([cands[0]], refs) for cands, refs in groups]
    gts = {number: refs for number, (_, refs) in enumerate(groups)}
    res = {number: cands for number, (cands, _) in enumerate(groups)}
    if not any(word for refs in gts.values() for word in refs):
        return  # it takes the largest of no frequencies
    _, expected = cider.Cider().compute_score(gts, res)
    assert_allclose(values(task_of(groups), CIDErD()), expected, rtol=0, atol=1e-12)


OTHERS = [(["the bike"], ["men on the bike", "bikes"]), (["a man"], ["a man rides"])]


def test_images_and_rows():
    """An image with two candidates is one document, or two."""
    groups = [
        (["the bike", "men"], ["the bike"]),
        (["men"], ["men ride the", "on"]),
        OTHERS[1],
    ]
    task = task_of(groups)
    by_image, by_row = (values(task, CIDErD(df=df)) for df in ("references", "rows"))
    assert by_image[0] == pytest.approx(5.0)  # a word and a bigram
    frequencies = oracle.document_frequencies(
        split(groups[number][1]) for number in (0, 0, 1, 2)
    )
    expected = oracle.score(["men"], split(groups[1][1]), frequencies, 4)
    assert by_row[2] == pytest.approx(expected, abs=1e-12)
    assert by_row[2] != by_image[2]


@pytest.mark.parametrize(
    "text",
    [
        "CIDEr-D(sigma=0)",
        "CIDEr-D(sigma=-1)",
        "CIDEr-D(sigma=x)",
        "CIDEr-D@3",
        "CIDEr(sigma=6)",
        "CIDEr(df=all)",
        "CIDEr(stem=snowball)",
    ],
)
def test_options_are_checked(text):
    with pytest.raises(InputError):
        parse(text)
