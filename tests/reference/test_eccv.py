"""Retrieval on COCO's test split under original, CxC and ECCV positives.

Similarities are made of random vectors, those of an image and its captions alike. Values are held
to the definitions, and to eccv-caption's own code where it is installed.
"""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from oracles import retrieval as oracle

import semmetrics

ROWS = 40  # images that plain Python ranks 25,000 captions for


@pytest.fixture(scope="module")
def coco(reference_dir):
    """Images and captions in the order of the split, the positives of each, and similarities."""
    folder = reference_dir / "eccv"
    captions = np.load(folder / "coco_test_ids.npy").tolist()
    maps = {
        (name, way): json.loads(
            (folder / f"{name}_{way}.json").read_text(encoding="utf-8")
        )
        for name in ("original", "cxc", "eccv")
        for way in ("image_to_caption", "caption_to_image")
    }
    image_of = {
        int(c): some[0] for c, some in maps["original", "caption_to_image"].items()
    }
    images = list(dict.fromkeys(image_of[c] for c in captions))
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(len(images), 48)).astype(np.float32)
    place = {image: row for row, image in enumerate(images)}
    texts = vectors[[place[image_of[c]] for c in captions]]
    texts = texts + 1.3 * rng.normal(size=texts.shape).astype(np.float32)
    return images, captions, maps, vectors, texts


def test_the_split_has_5000_images(coco):
    images, captions, _, _, _ = coco
    assert (len(images), len(captions)) == (5000, 25000)


@pytest.mark.parametrize("name", ["original", "cxc", "eccv"])
def test_images_rank_captions_as_defined(coco, name):
    images, captions, maps, vectors, texts = coco
    positives = maps[name, "image_to_caption"]
    rows = [row for row, image in enumerate(images) if str(image) in positives][:ROWS]
    table = vectors[rows] @ texts.T
    found = semmetrics.score(
        table,
        {str(images[row]): positives[str(images[row])] for row in rows},
        queries=[images[row] for row in rows],
        gallery=captions,
        measures="HitRate@1,5,10 Recall@10 R-Precision mAP@R MRR@10",
        task="retrieval",
        missing="skip",
    )
    place = {caption: column for column, caption in enumerate(captions)}
    for line, row in enumerate(rows):
        own = positives[str(images[row])]
        ranked = oracle.ranking(table[line].tolist(), set())
        # two have no place
        ours = {place.get(caption, -1 - n) for n, caption in enumerate(own)}
        for k in (1, 5, 10):
            wanted = oracle.values(ranked, ours, k)
            assert found[f"HitRate@{k}"].items[line] == wanted["HitRate"]
        for measure in ("Recall@10", "R-Precision", "mAP@R", "MRR@10"):
            assert found[measure].items[line] == pytest.approx(
                wanted[measure.partition("@1")[0]], abs=1e-12
            )


def test_values_are_those_of_eccv_caption(coco):
    eccv_caption = pytest.importorskip("eccv_caption")
    images, captions, maps, vectors, texts = coco
    table = vectors @ texts.T
    options = {"queries": images, "gallery": captions, "task": "retrieval"}
    order = np.argsort(-table, axis=1, kind="stable")
    i2t = {image: [captions[j] for j in order[row]] for row, image in enumerate(images)}
    order = np.argsort(-table.T, axis=1, kind="stable")
    t2i = {
        caption: [images[i] for i in order[row]] for row, caption in enumerate(captions)
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = eccv_caption.Metrics()
        theirs = peer.compute_all_metrics(
            i2t,
            t2i,
            target_metrics=(
                "eccv_r1",
                "eccv_map_at_r",
                "eccv_rprecision",
                "coco_5k_recalls",
                "cxc_recalls",
            ),
            Ks=(1, 5, 10),
        )
    names = {"eccv_r1": "R@1", "eccv_map_at_r": "mAP@R", "eccv_rprecision": "R-P"}
    for name, headings, chosen in (
        ("eccv", names, {"protocol": "eccv"}),
        (
            "original",
            {f"coco_5k_r{k}": f"R@{k}" for k in (1, 5, 10)},
            {"protocol": "coco-5k"},
        ),
        (
            "cxc",
            {f"cxc_r{k}": f"HitRate@{k}" for k in (1, 5, 10)},
            {"measures": "HitRate@1,5,10", "direction": "both", "missing": "skip"},
        ),
    ):
        found = semmetrics.score(
            table,
            maps[name, "image_to_caption"],
            reverse_positives=maps[name, "caption_to_image"],
            **options,
            **chosen,
        )
        for key, heading in headings.items():
            for part in ("i2t", "t2i"):
                assert found[f"{part} {heading}"].value == pytest.approx(
                    theirs[key][part], abs=1e-9
                )
