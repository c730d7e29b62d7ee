"""CIDEr-D and CIDEr against loops over dicts, and what they do at the edges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from oracles import cider as oracle
from refusals import refused

from semmetrics.data.tasks import caption_task
from semmetrics.errors import Fact, InputError
from semmetrics.metrics.cider import (
    CIDEr,
    CIDErD,
    DocumentFrequencies,
    TfIdf,
    fit_document_frequencies,
    frequency_notes,
    length_penalty,
    tfidf_vectors,
)
from semmetrics.metrics.registry import parse
from semmetrics.scoring.evaluate import evaluate
from semmetrics.text.tokenizers import open_tokenizer, porter_stem

WORDS = ["a", "a", "man", "men", "rides", "ride", "on", "the", "bike", "bikes"]
CAPTION = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)
GROUPS = st.lists(
    st.tuples(st.lists(CAPTION, min_size=1, max_size=3), st.lists(CAPTION, min_size=1, max_size=3)),
    min_size=1,
    max_size=5,
)


def task_of(groups, **more):
    """The task of (candidates, references) of each image."""
    candidates, references = zip(*groups, strict=True)
    names = [f"i{number}" for number in range(len(groups))]
    return caption_task(candidates, references, names, open_tokenizer("whitespace"), **more)


def values(task, measure):
    """The value of each item; nan where there is none."""
    statistic = measure.definition.family.statistic(measure)
    rows = evaluate(task, [measure]).rows(statistic)
    return measure.definition.family.items(measure, rows, None)


def split(captions, stem="none"):
    change = porter_stem if stem == "porter" else str
    return [[change(word) for word in caption.split()] for caption in captions]


@settings(deadline=None, max_examples=60)
@given(
    GROUPS,
    st.sampled_from(["references", "rows", "given"]),
    st.sampled_from(["none", "porter"]),
    st.sampled_from([None, 0.5, 6.0]),
)
def test_equals_loops(groups, df, stem, sigma):
    documents = [split(refs, stem) for _, refs in groups]
    if df == "rows":
        documents = [d for d, (cands, _) in zip(documents, groups, strict=True) for _ in cands]
    fits = {}
    if df == "given":
        other = [["a man rides", "the bike"], ["a bike"], [], ["on the man"]]
        fits = {"df": fit_document_frequencies(other, "whitespace", stem)}
        documents = [split(refs, stem) for refs in other if refs]
    frequencies = oracle.document_frequencies(documents)
    measure = CIDEr(df=df, stem=stem) if sigma is None else CIDErD(df=df, stem=stem, sigma=sigma)
    found = values(task_of(groups, fits=fits), measure)
    options = {"sigma": sigma, "clip": sigma is not None}
    expected = [
        oracle.score(cand, split(refs, stem), frequencies, len(documents), **options)
        for cands, refs in groups
        for cand in split(cands, stem)
    ]
    assert_allclose(found, expected, rtol=0, atol=1e-12)


@settings(deadline=None, max_examples=25)
@given(GROUPS)
def test_equals_pycocoevalcap(groups):
    cider = pytest.importorskip("pycocoevalcap.cider.cider", reason="pycocoevalcap is not there")
    groups = [([cands[0]], refs) for cands, refs in groups]
    gts = {number: refs for number, (_, refs) in enumerate(groups)}
    res = {number: cands for number, (cands, _) in enumerate(groups)}
    if not any(word for refs in gts.values() for word in refs):
        return  # it takes the largest of no frequencies
    _, expected = cider.Cider().compute_score(gts, res)
    assert_allclose(values(task_of(groups), CIDErD()), expected, rtol=0, atol=1e-12)


OTHERS = [(["the bike"], ["men on the bike", "bikes"]), (["a man"], ["a man rides"])]


def test_bounds():
    same = "men on the bike rides"
    found = values(task_of([([same, "xyz"], [same]), *OTHERS]), CIDErD())
    assert_allclose(found[:2], [10.0, 0.0], rtol=0, atol=1e-12)
    assert values(task_of([([same], [same]), *OTHERS]), CIDEr())[0] == pytest.approx(10.0)


def test_repeated_words_are_clipped():
    task = task_of([(["bike bike bike bike"], ["bike on rides men"]), *OTHERS])
    clipped, plain = values(task, CIDErD())[0], values(task, CIDEr())[0]
    assert 0 < clipped < plain


def test_without_limits_it_is_cider():
    task = task_of([(["men on bikes"], ["the bike rides on men", "on bikes"]), *OTHERS])
    endless = CIDErD(sigma=np.inf)
    assert str(endless) == "CIDEr-D(sigma=inf)"
    assert_allclose(values(task, endless), values(task, CIDEr()), rtol=0, atol=1e-14)


@pytest.mark.parametrize(("sigma", "far"), [(1e-320, 0.0), (1e-200, 0.0), (1e200, 1.0)])
def test_extreme_sigmas(sigma, far):
    """Only captions of one length agree, or all of them, and nothing is lost on the way."""
    penalty = length_penalty(np.array([9, 9]), np.array([9, 3]), sigma)
    assert penalty.tolist() == [1.0, far]
    task = task_of([(["men on bikes"], ["men on bikes rides"]), (["a man"], ["a man"]), *OTHERS])
    found, endless = values(task, CIDErD(sigma=sigma)), values(task, CIDErD(sigma=np.inf))
    assert endless[0] > 0
    assert found[0] == far * endless[0]
    assert found[1] == endless[1]


def test_norms_of_texts_some_at_a_time():
    groups = [([a], [a, b]) for a, b in itertools.pairwise(" ".join(WORDS).split("e"))]
    for whole in tfidf_vectors(task_of(groups), "references", "none"):
        assert_array_equal(TfIdf(whole.ngrams, whole.weights, held=3).norms, whole.norms)
        assert whole.norms.any()


def test_length_counts_bigrams():
    """Captions of none and of one word are as long as each other: neither has a bigram."""
    task = task_of([(["bike"], ["bike"]), ([""], ["bike", ""]), *OTHERS])
    assert_allclose(values(task, CIDErD())[:2], [2.5, 0.0], rtol=0, atol=1e-12)


def test_candidates_without_references():
    task = task_of([(["a bike"], []), (["the bike"], ["the bike"]), (["x"], ["a"])])
    found = values(task, CIDErD())
    assert np.isnan(found[0])
    assert not np.isnan(found[1:]).any()
    for policy, expected in (("skip", found[1:].mean()), ("0", found[1:].sum() / 3)):
        measure = CIDErD(no_reference=policy)
        family = measure.definition.family
        sums = evaluate(task, [measure]).sums[family.statistic(measure)]
        assert family.aggregate(measure, sums, None) == pytest.approx(expected, abs=1e-15)
        assert family.undefined(measure, sums, None) == {"no_reference": 1}
    # and it is no document
    alone = task_of([(["the bike"], ["the bike"]), (["x"], ["a"])])
    assert_array_equal(found[1:], values(alone, CIDErD()))


@pytest.mark.parametrize("definition", [CIDErD, CIDEr])
def test_values_do_not_depend_on_other_captions(definition):
    """To the last bit, with frozen frequencies: parts of a run give what the whole gives."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]

    def caption():
        return " ".join(rng.choice(words, rng.integers(3, 14)))

    groups = [([caption()], [caption() for _ in range(5)]) for _ in range(60)]
    fits = {"df": fit_document_frequencies([refs for _, refs in groups], "whitespace")}
    measure = definition(df="given")
    whole = values(task_of(groups, fits=fits), measure)
    parts = [values(task_of(groups[at : at + 7], fits=fits), measure) for at in range(0, 60, 7)]
    assert_array_equal(np.concatenate(parts), whole)
    assert_array_equal(values(task_of(groups[::-1], fits=fits), measure)[::-1], whole)
    assert_array_equal(values(task_of(groups), definition()), whole)


def test_one_image():
    task = task_of([(["the bike", "a bike"], ["the bike rides"])])
    assert_array_equal(values(task, CIDErD()), [0.0, 0.0])
    lone = Fact("single-document", 1, ("CIDEr-D",))
    assert frequency_notes(task, [CIDErD(), CIDEr(df="given")]) == [lone]
    assert frequency_notes(task, [CIDErD(), CIDEr()])[0].examples == ("CIDEr-D", "CIDEr")
    # its two rows are two documents, with the same words
    assert frequency_notes(task, [CIDErD(df="rows")]) == []
    assert frequency_notes(task_of(OTHERS), [CIDErD(), CIDEr()]) == []


def test_images_and_rows():
    """An image with two candidates is one document, or two."""
    groups = [(["the bike", "men"], ["the bike"]), (["men"], ["men ride the", "on"]), OTHERS[1]]
    task = task_of(groups)
    by_image, by_row = (values(task, CIDErD(df=df)) for df in ("references", "rows"))
    assert by_image[0] == pytest.approx(5.0)  # a word and a bigram
    frequencies = oracle.document_frequencies(split(groups[number][1]) for number in (0, 0, 1, 2))
    expected = oracle.score(["men"], split(groups[1][1]), frequencies, 4)
    assert by_row[2] == pytest.approx(expected, abs=1e-12)
    assert by_row[2] != by_image[2]


@pytest.mark.parametrize("text", ["CIDEr-D(sigma=0)", "CIDEr-D(sigma=-1)", "CIDEr-D(sigma=x)",
                                  "CIDEr-D@3", "CIDEr(sigma=6)", "CIDEr(df=all)",
                                  "CIDEr(stem=snowball)"])  # fmt: skip
def test_options_are_checked(text):
    with pytest.raises(InputError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "CIDEr-D",
        "CIDEr",
        "CIDEr(stem=porter)",
        "CIDEr-D(sigma=4.5,df=rows,stem=porter,no_reference=nan)",
    ],
)
def test_names_read_back(text):
    (measure,) = parse(text)
    assert str(measure) == text
    assert parse(str(measure)) == [measure]


def test_given_frequencies_are_checked():
    with refused("needs-option", name="doc_freq"):
        values(task_of(OTHERS), CIDErD(df="given"))
    df = DocumentFrequencies.from_counts({("a",): 1}, documents=2, tokenizer="ptb", stem="none")
    with refused("other-tokens", mine="ptb", theirs="whitespace"):
        values(task_of(OTHERS, fits={"df": df}), CIDErD(df="given"))
    df = fit_document_frequencies([["a"]], "whitespace", "porter")
    with refused("other-tokens", name="stem"):
        values(task_of(OTHERS, fits={"df": df}), CIDEr(df="given"))
    values(task_of(OTHERS, fits={"df": df}), CIDEr(df="given", stem="porter"))
