"""Retrieval on COCO's test split with original, CxC and ECCV positives.

Similarities are those of random vectors. An image and its captions have similar ones.
Values are compared with the definitions, and with eccv-caption if it is installed.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from oracles import retrieval as oracle
from reference_data import read_json

import semmetrics

N_RANKED_IMAGES = 40  # the oracle ranks 25,000 captions for each of them


class Split(NamedTuple):
    images: list
    captions: list
    similarities: np.ndarray
    folder: object

    def positives(self, name, direction):
        return read_json(self.folder / f"{name}_{direction}.json")


@pytest.fixture(scope="module")
def split(reference_dir):
    folder = reference_dir / "eccv"
    captions = np.load(folder / "coco_test_ids.npy").tolist()
    image_of = read_json(folder / "original_caption_to_image.json")
    caption_images = [image_of[str(caption)][0] for caption in captions]
    images = list(dict.fromkeys(caption_images))
    rows = {image: row for row, image in enumerate(images)}

    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(len(images), 48)).astype(np.float32)
    caption_rows = [rows[image] for image in caption_images]
    caption_vectors = vectors[caption_rows]
    noise = rng.normal(size=caption_vectors.shape).astype(np.float32)
    caption_vectors = caption_vectors + 1.3 * noise
    return Split(images, captions, vectors @ caption_vectors.T, folder)


def test_the_split_has_5000_images_and_25000_captions(split):
    assert len(split.images) == 5000
    assert len(split.captions) == 25000


@pytest.mark.parametrize("name", ["original", "cxc", "eccv"])
def test_values_of_images_are_the_oracles(split, name):
    positives = split.positives(name, "image_to_caption")
    rows = [row for row, image in enumerate(split.images) if str(image) in positives]
    rows = rows[:N_RANKED_IMAGES]
    images = [split.images[row] for row in rows]
    image_positives = {str(image): positives[str(image)] for image in images}
    similarities = split.similarities[rows]

    scores = semmetrics.score(
        similarities,
        image_positives,
        queries=images,
        gallery=split.captions,
        measures="HitRate@1,5,10 Recall@10 R-Precision mAP@R MRR@10",
        task="retrieval",
        missing="skip",
    )

    columns = {caption: column for column, caption in enumerate(split.captions)}
    for row, captions in enumerate(image_positives.values()):
        ranked = oracle.ranking(similarities[row].tolist(), set())
        # Two positives are not in the gallery.
        wanted = {columns.get(caption, -1 - n) for n, caption in enumerate(captions)}
        for k in (1, 5, 10):
            expected = oracle.values(ranked, wanted, k)
            assert scores[f"HitRate@{k}"].items[row] == expected["HitRate"]
        for measure in ("Recall@10", "R-Precision", "mAP@R", "MRR@10"):
            value = expected[measure.removesuffix("@10")]
            assert scores[measure].items[row] == pytest.approx(value, abs=1e-12)


def ranked_ids(similarities, queries, gallery):
    """The ids of the gallery for each query, most similar first."""
    orders = np.argsort(-similarities, axis=1, kind="stable")
    gallery = np.array(gallery)
    rankings = {}
    for query, order in zip(queries, orders, strict=True):
        rankings[query] = gallery[order].tolist()
    return rankings


@pytest.fixture(scope="module")
def released_values(split):
    """The values of the released code."""
    eccv_caption = pytest.importorskip("eccv_caption")
    image_rankings = ranked_ids(split.similarities, split.images, split.captions)
    caption_rankings = ranked_ids(split.similarities.T, split.captions, split.images)
    measures = "eccv_r1 eccv_map_at_r eccv_rprecision coco_5k_recalls cxc_recalls"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eccv_caption.Metrics().compute_all_metrics(
            image_rankings,
            caption_rankings,
            target_metrics=tuple(measures.split()),
            Ks=(1, 5, 10),
        )


@pytest.mark.parametrize(
    ("name", "headings", "options"),
    [
        (
            "eccv",
            {"eccv_r1": "R@1", "eccv_map_at_r": "mAP@R", "eccv_rprecision": "R-P"},
            {"protocol": "eccv"},
        ),
        (
            "original",
            {"coco_5k_r1": "R@1", "coco_5k_r5": "R@5", "coco_5k_r10": "R@10"},
            {"protocol": "coco-5k"},
        ),
        (
            "cxc",
            {"cxc_r1": "HitRate@1", "cxc_r5": "HitRate@5", "cxc_r10": "HitRate@10"},
            {"measures": "HitRate@1,5,10", "direction": "both", "missing": "skip"},
        ),
    ],
)
def test_values_are_those_of_eccv_caption(
    split, released_values, name, headings, options
):
    scores = semmetrics.score(
        split.similarities,
        split.positives(name, "image_to_caption"),
        reverse_positives=split.positives(name, "caption_to_image"),
        queries=split.images,
        gallery=split.captions,
        task="retrieval",
        **options,
    )

    for released_name, heading in headings.items():
        for direction in ("i2t", "t2i"):
            expected = released_values[released_name][direction]
            value = scores[f"{direction} {heading}"].value
            assert value == pytest.approx(expected, abs=1e-9)
