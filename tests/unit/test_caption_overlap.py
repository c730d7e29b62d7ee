"""BLEU against loops, and ROUGE-L against dynamic programming."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from oracles import captions_ngram as oracle
from oracles.captions_ngram import scored, task_of

from semmetrics.data.tasks.base import Block
from semmetrics.metrics.bleu import BLEU, BleuCounts
from semmetrics.metrics.caption_overlap import ROUGE_L

RULES = ("closest", "shortest", "average")
TEXT = st.lists(st.sampled_from("abc"), max_size=9).map(" ".join)
CANDIDATES_AND_REFERENCES = st.lists(
    st.tuples(TEXT, st.lists(TEXT, max_size=4)), min_size=1, max_size=6
)


def tokens_of(items):
    """Return the tokens of the candidate and the references of each item."""
    tokens = []
    for candidate, references in items:
        tokens.append((candidate.split(), [text.split() for text in references]))
    return tokens


def bleu_rows(items, rule):
    return [oracle.bleu_row(*item, rule) for item in tokens_of(items)]


@given(CANDIDATES_AND_REFERENCES, st.sampled_from(RULES))
def test_counts_of_bleu_are_those_of_loops(items, rule):
    task = task_of(*zip(*items, strict=True))

    columns = BleuCounts(rule).compute(Block(task, 0, len(task)))

    lengths, reference_lengths, ngrams, matches = zip(
        *bleu_rows(items, rule), strict=True
    )
    assert columns["testlen"].values.tolist() == list(lengths)
    assert_allclose(columns["reflen"].values, reference_lengths, rtol=1e-15)
    for n in range(1, 5):
        expected = [counts[n - 1] for counts in ngrams]
        assert columns[f"guess_{n}"].values.tolist() == expected
        expected = [counts[n - 1] for counts in matches]
        assert columns[f"correct_{n}"].values.tolist() == expected


@given(CANDIDATES_AND_REFERENCES, st.sampled_from(RULES))
def test_values_of_bleu_are_those_of_loops(items, rule):
    measures = [measure(reflen=rule) for measure in BLEU]

    scores = scored(*zip(*items, strict=True), measures)

    rows = bleu_rows(items, rule)
    has_references = np.array([bool(references) for _, references in items])
    n_missing = int((~has_references).sum())
    for n, score in enumerate(scores, 1):
        values = np.array([oracle.bleu([row], n) for row in rows])
        assert_allclose(
            score.items, np.where(has_references, values, np.nan), rtol=1e-12
        )
        value = oracle.bleu(rows, n) if has_references.any() else np.nan
        assert_allclose(score.value, value, rtol=1e-12)
        assert score.undefined.get("no_reference", 0) == n_missing


@given(CANDIDATES_AND_REFERENCES, st.sampled_from([1.2, 0.0, 1.0, 3.5]))
def test_rouge_l_is_that_of_dynamic_programming(items, beta):
    (score,) = scored(*zip(*items, strict=True), [ROUGE_L(beta=beta)])

    expected = [oracle.rouge_l(*item, beta) for item in tokens_of(items)]
    assert_allclose(score.items, expected, rtol=1e-14)
    defined = np.array(expected)[~np.isnan(expected)]
    assert_allclose(score.value, defined.mean() if len(defined) else np.nan, rtol=1e-12)
    assert score.undefined.get("no_reference", 0) == len(expected) - len(defined)
