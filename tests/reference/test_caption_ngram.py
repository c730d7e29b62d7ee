"""BLEU and ROUGE-L compared with pycocoevalcap and with published figures.

The figures are from the example of the COCO caption code, the README of aac-metrics, and the
correlations with the expert judgements of Flickr8k. Item values are compared if pycocoevalcap is
installed.
"""

from __future__ import annotations

import random

import laws
import pytest
from numpy.testing import assert_allclose
from oracles.captions_ngram import task_of
from reference_data import ptb_tokens

from semmetrics.core.columns import as_floats
from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.tasks.captions import caption_task
from semmetrics.metrics.bleu import BLEU, BleuCounts
from semmetrics.metrics.caption_overlap import ROUGE_L
from semmetrics.scoring.evaluate import evaluate
from semmetrics.studies.correlations import correlation

BLEU_OF_FAKECAP = [
    0.5793995754573356,
    0.40439129741018104,
    0.2785363856619147,
    0.1908290437674253,
]
ROUGE_L_OF_FAKECAP = 0.39625269357570847
MEASURES = [*(definition() for definition in BLEU), ROUGE_L()]


class TokenTable:
    """A tokenizer that looks captions up."""

    name = "looked up"

    def __init__(self, tokens_by_caption):
        self.tokens_by_caption = tokens_by_caption

    def tokens(self, captions):
        return [self.tokens_by_caption[caption].split() for caption in captions]


def scores(task, measures=MEASURES):
    return laws.scores(evaluate(task, measures), measures)


def first_captions(candidates):
    """Return the only caption of each image."""
    return [caption for (caption,) in candidates.values()]


@pytest.fixture(scope="module")
def task(fakecap):
    references, candidates = fakecap
    ordered_references = [references[image] for image in candidates]
    return task_of(first_captions(candidates), ordered_references, list(candidates))


def test_the_example_has_the_published_values(task):
    values = [score.value for score in scores(task)]

    expected = [*BLEU_OF_FAKECAP, ROUGE_L_OF_FAKECAP]
    assert_allclose(values, expected, rtol=0, atol=1e-12)


def test_the_example_has_the_published_counts(task):
    statistics = evaluate(task, MEASURES)

    sums = {}
    for name, column in statistics.sums[BleuCounts()].items():
        sums[name] = as_floats(column)
    assert sums["reflen"] == 9855
    assert sums["testlen"] == 9893
    assert [sums[f"guess_{n}"] for n in range(1, 5)] == [9893, 8893, 7893, 6893]
    assert [sums[f"correct_{n}"] for n in range(1, 5)] == [5732, 2510, 1043, 423]


# ---- pycocoevalcap ------------------------------------------------------------------------------


def peer_values(candidates, references, rule="closest"):
    """Return the corpus values and the item values of BLEU-1 to 4 and ROUGE-L."""
    bleu_scorer = pytest.importorskip("pycocoevalcap.bleu.bleu_scorer")
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge")
    bleu = bleu_scorer.BleuScorer(n=4)
    for name, (caption,) in candidates.items():
        bleu += (caption, references[name])
    bleu_values, bleu_items = bleu.compute_score(option=rule)
    rouge_value, rouge_items = rouge.Rouge().compute_score(references, candidates)
    return [*bleu_values, rouge_value], [*bleu_items, rouge_items]


def assert_equal_to_peer(our_scores, candidates, references, rule="closest"):
    values, items = peer_values(candidates, references, rule)
    assert_allclose([score.value for score in our_scores], values, rtol=0, atol=1e-12)
    assert_allclose([score.items for score in our_scores], items, rtol=0, atol=1e-12)


def test_items_of_the_example_are_equal_to_pycocoevalcap(fakecap, task):
    references, candidates = fakecap

    assert_equal_to_peer(scores(task), candidates, references)


@pytest.mark.parametrize("rule", ["closest", "shortest", "average"])
def test_captions_of_few_different_words_are_equal_to_pycocoevalcap(rule):
    """They have many ties and repeated words, and some are empty."""
    rng = random.Random(0)

    def draw_caption():
        n_words = rng.choice([0, 1, 2, 3, 5, 8, 90])
        return " ".join(rng.choices("abc", k=n_words))

    candidates = {str(number): [draw_caption()] for number in range(200)}
    references = {}
    for name in candidates:
        references[name] = [draw_caption() for _ in range(rng.randint(1, 5))]
    task = task_of(first_captions(candidates), list(references.values()))
    measures = [definition(reflen=rule) for definition in BLEU]
    measures.append(ROUGE_L())

    assert_equal_to_peer(scores(task, measures), candidates, references, rule)


# ---- other published figures --------------------------------------------------------------------


def test_the_example_of_aac_metrics_has_its_bleu_1():
    # The captions after Penn Treebank tokenization.
    candidates = ["a man is speaking", "rain falls"]
    references = [
        [
            "a man speaks",
            "someone speaks",
            "a man is speaking while a bird is chirping in the background",
        ],
        ["rain is falling hard on a surface"],
    ]

    bleu_1, *_ = scores(task_of(candidates, references))

    assert bleu_1.value == pytest.approx(0.4278, abs=5e-5)


def test_correlations_with_the_experts_of_flickr8k_are_the_published_ones(
    reference_dir,
):
    judged = read_judgements(reference_dir / "flickr8k" / "flickr8k_expert.json")
    candidates, references, _ = judged.caption_sides()
    task = caption_task(
        list(candidates.values()),  # several candidates per image
        list(references.values()),
        list(candidates),
        TokenTable(ptb_tokens(reference_dir, "flickr8k")),
    )

    taus = {}
    for score in scores(task):
        tau = correlation(score.items, judged.values, "kendall-c")
        taus[str(score.measure)] = round(100 * tau, 3)

    assert len(judged) == 16_992
    assert taus["BLEU-1"] == 32.324
    assert taus["BLEU-4"] == 30.776
    assert taus["ROUGE-L"] == 32.314
