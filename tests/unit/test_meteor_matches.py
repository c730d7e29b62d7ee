"""METEOR's matches and counts of pairs of captions, without Java."""

import numpy as np
import pytest
from meteor_inputs import WORDS, oracle_data, random_captions
from refusals import refused
from stand_ins import PARAPHRASES, meteor_programs

from semmetrics.text.meteor import Sentences
from semmetrics.text.paraphrases import open_paraphrases

FIRST = np.array([0])
SECOND = np.array([1])


@pytest.fixture(autouse=True)
def small_tables():
    with meteor_programs():
        yield


def repeat(word, times):
    return " ".join([word] * times)


def first_references(references):
    return [own_references[0] for own_references in references]


@pytest.mark.parametrize("with_paraphrases", [True, False])
@pytest.mark.parametrize(
    ("n", "max_words", "vocabulary"),
    [(100, 14, WORDS), (50, 30, WORDS[:6]), (12, 150, WORDS)],
)
def test_counts_are_the_oracles(with_paraphrases, n, max_words, vocabulary):
    candidates, references = random_captions(n, 3, max_words, vocabulary)
    candidates.append("big dog")
    targets = [*first_references(references), "big dog"]
    oracle = oracle_data(PARAPHRASES if with_paraphrases else ())
    table = open_paraphrases() if with_paraphrases else None
    sentences = Sentences([*candidates, *targets], table)

    counts = sentences.counts(np.arange(n + 1), np.arange(n + 1, 2 * n + 2))

    pairs = zip(candidates, targets, strict=True)
    expected = [oracle.line(pred.split(), ref.split()) for pred, ref in pairs]
    assert counts.tolist() == expected


def test_pairs_in_several_batches_are_counted_as_single_pairs():
    candidates, references = random_captions(80, 5, max_words=200)
    targets = first_references(references)
    sentences = Sentences([*candidates, *targets], open_paraphrases())
    pairs = np.arange(80), np.arange(80, 160)
    assert len(list(sentences.runs(*pairs))) > 1

    counts = sentences.counts(*pairs)

    for row in range(80):
        single = sentences.counts(pairs[0][[row]], pairs[1][[row]])
        assert single.tolist() == [counts[row].tolist()]


@pytest.mark.parametrize(
    ("candidate", "reference"),
    [
        (repeat("dog", 1025), repeat("dog", 1025)),
        (repeat("horse", 1025), repeat("pony", 1025)),
    ],
    ids=["equal words", "paraphrases"],
)
def test_words_that_are_repeated_too_often_are_an_error(candidate, reference):
    sentences = Sentences([candidate, reference], open_paraphrases())

    with refused("too-many-matches"):
        sentences.counts(FIRST, SECOND)


@pytest.mark.parametrize(
    ("n_pred", "n_ref"), [(16_385, 1), (1, 16_385), (5_793, 5_793)]
)
def test_captions_that_are_too_long_are_an_error(n_pred, n_ref):
    candidate = " ".join(f"a{place}" for place in range(n_pred))
    reference = " ".join(f"b{place}" for place in range(n_ref))
    sentences = Sentences([candidate, reference], None)

    with refused("caption-too-long", n_pred=n_pred, n_ref=n_ref):
        sentences.counts(FIRST, SECOND)


@pytest.mark.parametrize(("n_pred", "n_ref"), [(16_384, 2), (20_000, 0)])
def test_a_long_caption_with_a_short_or_empty_one_has_counts(n_pred, n_ref):
    sentences = Sentences([repeat("dog", n_pred), repeat("dog", n_ref)], None)

    counts = sentences.counts(FIRST, SECOND)[0].tolist()

    n_matched = min(n_pred, n_ref)
    assert counts[:2] == [n_pred, n_ref]
    assert counts[21:] == [n_matched, n_matched]
