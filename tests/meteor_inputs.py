"""Captions for tests of METEOR, and the counts that its oracle gives for them."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import strategies as st
from oracles import meteor as oracle
from stand_ins import METEOR_LISTS, PARAPHRASES

from semmetrics.text.java import METEOR_LISTS as JAR_WITH_LISTS
from semmetrics.text.porter2 import english_stem
from semmetrics.text.synonyms import open_synonyms


def words_of(text):
    """Return the words of a text, which are separated by spaces."""
    return text.split(" ")


WORDS = words_of(
    "a the man men guy horse pony dog dogs puppy rides is riding runs jogs on upon "
    "big large animal"
)
"""Words of the small tables in ``stand_ins``, and some others."""

UNUSUAL_TOKENS = words_of(
    "dog Dog don't u.s. U.S. Mr. No. 5 1,000 3.5 's s' '90s 5's x-ray a-b-c -- – — ... "
    ". , ! \" '' ` ‘ ’ “ ” é Ž Ÿ Ё 中 ß ( | ||| _ ſ × \U0001f600 İ Σ"
)
UNUSUAL_TOKENS += ["\u00a0", "\x01", "\x1c", "\u1680", "\t", " "]


def random_captions(number, seed=0, max_words=14, vocabulary=WORDS):
    """Return that many candidates, and one to three references for each."""
    rng = random.Random(seed)

    def caption(min_words):
        n_words = rng.randint(min_words, max_words)
        return " ".join(rng.choices(vocabulary, k=n_words))

    candidates = [caption(0) for _ in range(number)]
    references = []
    for _ in range(number):
        n_refs = rng.randint(1, 3)
        references.append([caption(1) for _ in range(n_refs)])
    return candidates, references


def oracle_data(paraphrases=PARAPHRASES):
    """Return the oracle on the small tables in ``stand_ins``."""
    synonyms = open_synonyms(JAR_WITH_LISTS)
    function_words = METEOR_LISTS["function/english.words"]
    return oracle.Data(english_stem, synonyms.synsets, paraphrases, function_words)


def best_lines(data, candidates, references):
    """Return the oracle's counts for each candidate and its best reference."""
    best = []
    for candidate, own_references in zip(candidates, references, strict=True):
        words = candidate.split()
        lines = [data.line(words, reference.split()) for reference in own_references]
        best.append(max(lines, key=lambda line: oracle.meteor([line])))
    return best


def parse_counts(line):
    """Return the counts in a line that the program printed."""
    return [int(number) for number in line.split()]


@st.composite
def possible_counts(draw):
    """Counts that a matcher can give for two captions of up to six words."""
    n_pred = draw(st.integers(0, 6))
    n_ref = draw(st.integers(0, 6))
    most = min(n_pred, n_ref)
    matched = draw(st.just(most) | st.integers(0, most))
    matched_function = draw(st.integers(0, matched))
    stages = np.zeros((4, 2, 2), int)
    for place in range(matched):
        is_function_word = int(place < matched_function)
        stages[draw(st.integers(0, 3)), is_function_word] += 1
    unmatched = matched - matched_function
    function_pred = draw(st.integers(matched_function, n_pred - unmatched))
    function_ref = draw(st.integers(matched_function, n_ref - unmatched))
    chunks = draw(st.integers(1, matched)) if matched else 0
    words = [n_pred, n_ref, function_pred, function_ref]
    return [*words, *stages.ravel().tolist(), chunks, matched, matched]
