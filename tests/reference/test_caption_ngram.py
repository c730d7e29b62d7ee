"""BLEU and ROUGE-L as pycocoevalcap gives them, and their published figures.

The figures are those of the COCO caption code's example, the README of aac-metrics, and the
correlations with the expert judgements of Flickr8k. Item values are compared where pycocoevalcap
can be imported.
"""

from __future__ import annotations

import gzip
import random

import laws
import pytest
from numpy.testing import assert_allclose
from oracles.captions_ngram import Blanks, task_of

from semmetrics.core.columns import as_floats
from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.tasks import caption_task
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
MEASURES = [*(definition() for definition in BLEU), ROUGE_L()]
# What tokens of the Penn Treebank leave of the captions of aac-metrics' example.
AAC = [
    (
        "a man is speaking",
        [
            "a man speaks",
            "someone speaks",
            "a man is speaking while a bird is chirping in the background",
        ],
    ),
    ("rain falls", ["rain is falling hard on a surface"]),
]


class Looked:
    """The tokens that a table has for each caption."""

    name = "looked up"

    def __init__(self, table):
        self.table = table

    def tokens(self, captions):
        return [self.table[caption].split() for caption in captions]


def scores(task, measures=MEASURES):
    return laws.scores(evaluate(task, measures), measures)


@pytest.fixture(scope="module")
def task(fakecap):
    references, candidates = fakecap
    return caption_task(
        list(candidates.values()),
        [references[i] for i in candidates],
        list(candidates),
        Blanks(),
    )


def test_fakecap(task):
    found = [score.value for score in scores(task)]
    assert_allclose(found, [*BLEU_OF_FAKECAP, 0.39625269357570847], rtol=0, atol=1e-12)


def test_counts_of_fakecap(task):
    statistics = evaluate(task, MEASURES)
    sums = {name: as_floats(s) for name, s in statistics.sums[BleuCounts()].items()}
    assert (sums["reflen"], sums["testlen"]) == (9855, 9893)
    assert [sums[f"guess_{n}"] for n in range(1, 5)] == [9893, 8893, 7893, 6893]
    assert [sums[f"correct_{n}"] for n in range(1, 5)] == [5732, 2510, 1043, 423]


def peer_values(candidates, references, rule="closest"):
    """Corpus values and item values of BLEU-1 to 4 and ROUGE-L."""
    scorer = pytest.importorskip("pycocoevalcap.bleu.bleu_scorer")
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge")
    bleu = scorer.BleuScorer(n=4)
    for name, texts in candidates.items():
        bleu += (texts[0], references[name])
    corpus, items = bleu.compute_score(option=rule)
    value, each = rouge.Rouge().compute_score(references, candidates)
    return [*corpus, value], [*items, each]


def agree(found, expected):
    for score, value, items in zip(found, *expected, strict=True):
        assert_allclose(score.value, value, rtol=0, atol=1e-12)
        assert_allclose(score.items, items, rtol=0, atol=1e-12)


def test_items_of_fakecap_are_those_of_pycocoevalcap(fakecap, task):
    agree(scores(task), peer_values(*fakecap[::-1]))


@pytest.mark.parametrize("rule", ["closest", "shortest", "average"])
def test_captions_of_few_words_are_those_of_pycocoevalcap(rule):
    """Many ties, repeated words, and empty captions."""
    rng = random.Random(0)

    def text():
        return " ".join(rng.choices("abc", k=rng.choice([0, 1, 2, 3, 5, 8, 90])))

    candidates = {str(number): [text()] for number in range(200)}
    references = {
        name: [text() for _ in range(rng.randint(1, 5))] for name in candidates
    }
    task = task_of(
        [texts[0] for texts in candidates.values()], list(references.values())
    )
    measures = [*(definition(reflen=rule) for definition in BLEU), ROUGE_L()]
    agree(scores(task, measures), peer_values(candidates, references, rule))


def test_the_example_of_aac_metrics():
    value = scores(task_of(*map(list, zip(*AAC, strict=True))))[0].value
    assert value == pytest.approx(0.4278, abs=5e-5)


def test_flickr8k_expert(reference_dir):
    with gzip.open(reference_dir / "coco" / "ptb_tokens_flickr8k.tsv.gz", "rt") as file:
        table = dict(line.rstrip("\n").split("\t") for line in file)
    judged = read_judgements(reference_dir / "flickr8k" / "flickr8k_expert.json")
    candidates, references, _ = judged.caption_sides()
    task = caption_task(
        list(candidates.values()),
        list(references.values()),
        list(candidates),
        Looked(table),
    )
    assert len(judged) == 16_992
    found = {str(s.measure): s.items for s in scores(task)}
    for name, expected in {
        "BLEU-1": 32.324,
        "BLEU-4": 30.776,
        "ROUGE-L": 32.314,
    }.items():
        tau = correlation(found[name], judged.values, "kendall-c")
        assert round(100 * tau, 3) == expected
