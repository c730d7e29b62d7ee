"""Retrieval of three images and six captions, and classes of six images."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden.harness import EXACT, STUDENT_T, Case, scored
from golden.inputs import (
    ANIMALS,
    CLASS_SCORES,
    GALLERY,
    IMAGES,
    POSITIVES,
    SHOWN,
    SIMILARITIES,
)

RETRIEVAL = "Recall@1,2 HitRate@1,2 MRR MRR@2 MeanR MedR R-Precision mAP@R PMRP"
CLASSES = (
    "PerClassAccuracy@1,2 Accuracy SeenAccuracy UnseenAccuracy@2 H H@2 AUSUC BestH"
)
RANKED = {
    "im0": ["c0", "c1", "c4", "c2"],
    "im1": ["c4", "c2", "c0", "c3"],
    "im2": ["c2", "c3", "c4", "c1"],
}
TIED_SCORES = (CLASS_SCORES * 2).round() / 2


def retrieval(
    name: str,
    preds: Any = SIMILARITIES,
    gts: Any = POSITIVES,
    tolerance: float = EXACT,
    **changes: Any,
) -> Case:
    """Return a case of retrieval."""
    options = {
        "measures": RETRIEVAL,
        "task": "retrieval",
        "queries": IMAGES,
        "gallery": GALLERY,
        **changes,
    }
    return Case(f"retrieval, {name}", lambda: scored(preds, gts, **options), tolerance)


def vectors(name: str, **options: Any) -> Case:
    """Return a case of vectors of images and captions instead of similarities."""
    return retrieval(
        name,
        None,
        queries_embeddings=SIMILARITIES[:, :3],
        gallery_embeddings=SIMILARITIES.T,
        **options,
    )


def classes(name: str, preds: Any = CLASS_SCORES, **changes: Any) -> Case:
    """Return a case of classes."""
    options = {
        "measures": CLASSES,
        "task": "classes",
        "classes": ANIMALS,
        "seen": ANIMALS[:2],
        "unseen": ANIMALS[2:],
        **changes,
    }
    return Case(f"classes, {name}", lambda: scored(preds, SHOWN, **options))


GROUPS = {
    "retrieval": [
        retrieval("all measures"),
        retrieval("default measures", measures=None),
        retrieval("both directions", direction="both", measures=f"{RETRIEVAL} Rsum"),
        retrieval("optimistic ties", ties="optimistic"),
        retrieval("pessimistic ties", ties="pessimistic"),
        retrieval(
            "intervals",
            tolerance=STUDENT_T,
            direction="both",
            measures="HitRate@1 MedR Rsum",
            ci=True,
            resamples=50,
        ),
        retrieval("folds", direction="both", folds=3, measures="HitRate@1 Rsum"),
        retrieval("ranked lists", RANKED, queries=None, gallery=None),
        retrieval(
            "grades",
            gts={"im0": {"c0": 2, "c3": 0}, "im1": {"c2": 1}, "im2": {"c5": -1}},
        ),
        retrieval("missing=skip", gts={"im0": ["c0"], "im7": ["c1"]}, missing="skip"),
        retrieval("weights", weights={"im0": 1.0, "im1": 2.0, "im2": 0.5}),
        vectors("cosines of vectors"),
        vectors("dot products of vectors", similarity="dot"),
        retrieval("protocol f30k", protocol="f30k", measures=None, task=None),
        retrieval("protocol coco-5k", protocol="coco-5k", measures=None, task=None),
        retrieval("protocol eccv", protocol="eccv", measures=None, task=None),
    ],
    "classes": [
        classes("all measures"),
        classes("default measures", measures=None),
        classes("protocol xian2018", protocol="xian2018", measures=None),
        classes(
            "protocol xian2018 at cutoffs",
            protocol="xian2018",
            measures=None,
            top_k="1,2",
        ),
        classes("half precision and ties", TIED_SCORES.astype(np.float16)),
        classes("pessimistic ties", TIED_SCORES, ties="pessimistic"),
        classes("intervals", ci=True, resamples=50),
        classes("weights", weights=[1, 2, 1, 1, 0, 3]),
        classes(
            "lists of classes",
            measures="PerClassAccuracy(labels=M1) PerClassAccuracy(labels=1H) "
            "PerClassAccuracy(labels=mine,candidates=mine)",
            class_lists={"mine": ["horse", "llama"]},
            populations={"zebra": 240, "llama": 90},
            hops={"zebra": 1, "llama": 2},
        ),
        classes("pre-training on unseen classes", pretraining=["zebra", "mule"]),
        classes("without a list of unseen classes", unseen=None),
    ],
}
