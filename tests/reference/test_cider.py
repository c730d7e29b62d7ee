"""Figures of CIDEr-D that others print, on their data, to the digits that are known.

Sources: coco-caption's own example (its PTB tokens); the README of aac-metrics; tau-c on
Flickr8k-Expert with the released code's document frequencies (every row counts) and with each image
counted once; and the released code itself on captions of COCO, where it is installed.
"""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from numpy.testing import assert_allclose
from oracles import cider as oracle

from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.tasks import caption_task
from semmetrics.kinds.captions.matrix import caption_matrix
from semmetrics.metrics.cider import CIDErD, fit_document_frequencies
from semmetrics.scoring.evaluate import evaluate
from semmetrics.studies.correlations import correlation
from semmetrics.text.tokenizers import open_tokenizer


def values(candidates, references, measure, tokenizer="whitespace"):
    names = [str(number) for number in range(len(references))]
    task = caption_task(candidates, references, names, open_tokenizer(tokenizer))
    return (
        evaluate(task, [measure])
        .rows(measure.definition.family.statistic(measure))["value"]
        .values
    )


def ptb_tokens(path):
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return dict(line.rstrip("\n").split("\t") for line in lines)


def test_coco_caption_example(fakecap):
    gts, res = fakecap
    found = values([res[key] for key in gts], list(gts.values()), CIDErD())
    assert found.mean() == pytest.approx(0.5997905185184199, abs=1e-12)


def test_aac_metrics_readme():
    candidates = [["a man is speaking"], ["rain falls"]]
    references = [
        [
            "a man speaks.",
            "someone speaks.",
            "a man is speaking while a bird is chirping in the background",
        ],
        ["rain is falling hard on a surface"],
    ]
    found = values(candidates, references, CIDErD(), "ptb")
    assert found.round(4).tolist() == [1.3641, 0.5587]
    assert round(found.mean(), 4) == 0.9614


@pytest.mark.parametrize(("df", "expected"), [("rows", 43.891), ("references", 43.829)])
def test_flickr8k_expert(reference_dir, df, expected):
    """Each judgement of a caption is a candidate; the tokens are the released tokenizer's."""
    tokens = ptb_tokens(reference_dir / "coco" / "ptb_tokens_flickr8k.tsv.gz")
    judged = read_judgements(reference_dir / "flickr8k" / "flickr8k_expert.json")
    sides = judged.caption_sides()[:2]
    candidates, references = (
        [[tokens[text] for text in some] for some in one.values()] for one in sides
    )
    found = values(candidates, references, CIDErD(df=df))
    assert len(judged) == 16_992
    assert round(100 * correlation(found, judged.values, "kendall-c"), 3) == expected


@pytest.fixture(scope="module")
def coco(reference_dir):
    """The tokens of the captions of 1,000 images."""
    tokens = ptb_tokens(reference_dir / "coco" / "ptb_tokens_coco_test5k.tsv.gz")
    path = reference_dir / "coco" / "coco_karpathy_test5k.tsv"
    images: dict[str, list[str]] = {}
    with path.open(encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            image, _, text = line.rstrip("\n").split("\t")
            images.setdefault(image, []).append(tokens[text])
    return list(images.values())[:1000]


def sampled(coco, number):
    """Random images and captions of other ones."""
    rng = np.random.default_rng(0)
    images, captions = (
        rng.integers(0, len(coco), number),
        rng.integers(0, 5 * len(coco), number),
    )
    return images, captions


@pytest.mark.parametrize("measure", ["CIDEr-D", "CIDEr"])
def test_matrix_of_coco(coco, measure):
    captions = [text for texts in coco for text in texts]
    found = caption_matrix(coco, captions, measure=measure, tokenizer="whitespace")
    documents = [[text.split() for text in texts] for texts in coco]
    frequencies = oracle.document_frequencies(documents)
    options = (
        {"sigma": 6.0, "clip": True}
        if measure == "CIDEr-D"
        else {"sigma": None, "clip": False}
    )
    own = np.arange(500) // 5, np.arange(500)
    for image, caption in np.concatenate(
        [np.array(own), sampled(coco, 1500)], axis=1
    ).T.tolist():
        expected = oracle.score(
            captions[caption].split(),
            documents[image],
            frequencies,
            len(coco),
            **options,
        )
        assert found[image, caption] == pytest.approx(expected, abs=1e-9)


def test_matrix_of_coco_as_pycocoevalcap(coco):
    """The released scorer, given the same document frequencies: as many rows as documents."""
    released = pytest.importorskip(
        "pycocoevalcap.cider.cider_scorer", reason="pycocoevalcap is not installed"
    )
    captions = [text for texts in coco for text in texts]
    found = caption_matrix(coco, captions, tokenizer="whitespace")
    images, chosen = sampled(coco, len(coco))
    scorer = released.CiderScorer()
    for image, caption in zip(images, chosen, strict=True):
        scorer += (captions[caption], coco[image])
    scorer.document_frequency.update(
        fit_document_frequencies(coco, "whitespace").as_dict()
    )
    assert_allclose(found[images, chosen], scorer.compute_cider(), rtol=0, atol=1e-9)


def test_candidates_of_coco_as_pycocoevalcap(coco):
    released = pytest.importorskip(
        "pycocoevalcap.cider.cider", reason="pycocoevalcap is not installed"
    )
    candidates, references = (
        [texts[:1] for texts in coco],
        [texts[1:] for texts in coco],
    )
    gts, res = (dict(enumerate(side)) for side in (references, candidates))
    mean, expected = released.Cider().compute_score(gts, res)
    found = values(candidates, references, CIDErD())
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert found.mean() == pytest.approx(mean, abs=1e-12)
