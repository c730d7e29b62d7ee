"""Figures of CIDEr-D that others print, on their data, to the digits that are known.

Sources: coco-caption's own example (its PTB tokens); the README of aac-metrics; tau-c on
Flickr8k-Expert with the released code's document frequencies (every row counts) and with each image
counted once; and the released code itself on captions of COCO, where it is installed.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import cider as oracle
from reference_data import coco_test_captions, ptb_tokens

from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.tasks.captions import caption_task
from semmetrics.kinds.captions.matrix import caption_matrix
from semmetrics.metrics.cider import CIDErD, fit_document_frequencies
from semmetrics.scoring.evaluate import evaluate
from semmetrics.studies.correlations import correlation
from semmetrics.text.tokenizers import open_tokenizer


def values(candidates, references, measure, tokenizer="whitespace"):
    names = [str(number) for number in range(len(references))]
    task = caption_task(candidates, references, names, open_tokenizer(tokenizer))
    statistic = measure.definition.family.statistic(measure)
    return evaluate(task, [measure]).rows(statistic)["value"].values


def test_the_example_of_coco_caption_has_the_published_value(fakecap):
    gts, res = fakecap
    item_values = values([res[key] for key in gts], list(gts.values()), CIDErD())
    assert item_values.mean() == pytest.approx(0.5997905185184199, abs=1e-12)


def test_the_example_of_aac_metrics_has_the_printed_values():
    candidates = [["a man is speaking"], ["rain falls"]]
    references = [
        [
            "a man speaks.",
            "someone speaks.",
            "a man is speaking while a bird is chirping in the background",
        ],
        ["rain is falling hard on a surface"],
    ]
    item_values = values(candidates, references, CIDErD(), "ptb")
    assert item_values.round(4).tolist() == [1.3641, 0.5587]
    assert round(item_values.mean(), 4) == 0.9614


def tokenized(caption_lists, tokens):
    """The tokens of each caption in lists of captions."""
    token_lists = []
    for captions in caption_lists:
        token_lists.append([tokens[caption] for caption in captions])
    return token_lists


@pytest.mark.parametrize(("df", "expected"), [("rows", 43.891), ("references", 43.829)])
def test_tau_c_on_flickr8k_expert_is_the_published_one(reference_dir, df, expected):
    tokens = ptb_tokens(reference_dir, "flickr8k")
    judged = read_judgements(reference_dir / "flickr8k" / "flickr8k_expert.json")
    candidates, references, _ = judged.caption_sides()

    item_values = values(
        tokenized(candidates.values(), tokens),
        tokenized(references.values(), tokens),
        CIDErD(df=df),
    )

    assert len(judged) == 16_992
    tau = correlation(item_values, judged.values, "kendall-c")
    assert round(100 * tau, 3) == expected


@pytest.fixture(scope="module")
def coco(reference_dir):
    """The tokens of the captions of 1,000 images."""
    tokens = ptb_tokens(reference_dir, "coco_test5k")
    images = coco_test_captions(reference_dir).by_image
    return tokenized(list(images.values())[:1000], tokens)


@pytest.fixture(scope="module")
def captions(coco):
    """The tokens of all captions of the 1,000 images."""
    return list(itertools.chain.from_iterable(coco))


def random_pairs(n_images, n_captions, n_pairs):
    """Rows of random images and of random captions."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, n_images, n_pairs)
    return images, rng.integers(0, n_captions, n_pairs)


@pytest.mark.parametrize(
    ("measure", "options"),
    [
        ("CIDEr-D", {"sigma": 6.0, "clip": True}),
        ("CIDEr", {"sigma": None, "clip": False}),
    ],
)
def test_the_matrix_of_coco_has_the_oracles_values(coco, captions, measure, options):
    matrix = caption_matrix(coco, captions, measure=measure, tokenizer="whitespace")

    documents = [oracle.split(texts) for texts in coco]
    frequencies = oracle.document_frequencies(documents)
    own_pairs = [(row // 5, row) for row in range(500)]
    images, chosen = random_pairs(len(coco), len(captions), 1500)
    pairs = own_pairs + list(zip(images.tolist(), chosen.tolist(), strict=True))
    for image, caption in pairs:
        expected = oracle.score(
            captions[caption].split(),
            documents[image],
            frequencies,
            len(coco),
            **options,
        )
        assert matrix[image, caption] == pytest.approx(expected, abs=1e-9)


def test_the_matrix_of_coco_has_the_values_of_pycocoevalcap(coco, captions):
    """The released scorer gets as many pairs as there are documents."""
    released = pytest.importorskip("pycocoevalcap.cider.cider_scorer")
    images, chosen = random_pairs(len(coco), len(captions), len(coco))
    scorer = released.CiderScorer()
    for image, caption in zip(images, chosen, strict=True):
        scorer += (captions[caption], coco[image])
    frequencies = fit_document_frequencies(coco, "whitespace")
    scorer.document_frequency.update(frequencies.as_dict())

    matrix = caption_matrix(coco, captions, tokenizer="whitespace")

    assert_allclose(matrix[images, chosen], scorer.compute_cider(), rtol=0, atol=1e-9)


def test_items_of_coco_have_the_values_of_pycocoevalcap(coco):
    released = pytest.importorskip("pycocoevalcap.cider.cider")
    candidates = [texts[:1] for texts in coco]
    references = [texts[1:] for texts in coco]
    gts = dict(enumerate(references))
    res = dict(enumerate(candidates))
    mean, expected = released.Cider().compute_score(gts, res)

    item_values = values(candidates, references, CIDErD())

    assert_allclose(item_values, expected, rtol=0, atol=1e-12)
    assert item_values.mean() == pytest.approx(mean, abs=1e-12)
