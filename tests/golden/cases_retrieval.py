"""Retrieval: three images and six captions, by every direction and form, by Python and command."""

from __future__ import annotations

from typing import Any

import numpy as np
from golden.harness import EXACT, QUANTILE, Case, cli, scored
from golden.inputs import POSITIVES, SIMILARITIES

_IMAGES = list(POSITIVES)
_CAPTIONS = [name for some in POSITIVES.values() for name in some]
_NAMED = {"queries": _IMAGES, "gallery": _CAPTIONS, "task": "retrieval"}
_EVERY = "Recall@1,2 HitRate@1,2 MRR MRR@2 MeanR MedR R-Precision mAP@R PMRP"
_TABLE = np.array(SIMILARITIES)
_RANKED = {
    image: [_CAPTIONS[j] for j in np.argsort(-row, kind="stable")[:4]]
    for image, row in zip(_IMAGES, _TABLE, strict=True)
}


def _case(
    name: str,
    preds: Any = _TABLE,
    gts: Any = POSITIVES,
    tolerance: float = EXACT,
    **options: Any,
) -> Case:
    options = {"measures": _EVERY, **_NAMED, **options}
    return Case(f"retrieval, {name}", lambda: scored(preds, gts, **options), tolerance)


_SCORED = [
    _case("all measures"),
    _case("default measures", measures=None),
    _case("both directions", direction="both", measures=f"{_EVERY} Rsum"),
    _case("columns", direction="t2i"),
    _case("optimistic", ties="optimistic"),
    _case("pessimistic", ties="pessimistic"),
    _case(
        "intervals",
        tolerance=QUANTILE,
        direction="both",
        measures="HitRate@1 MedR Rsum",
        ci=True,
        resamples=50,
    ),
    _case("folds", direction="both", folds=3, measures="HitRate@1 Rsum"),
    _case("ranked lists", _RANKED, queries=None, gallery=None),
    _case(
        "grades", gts={"im0": {"c0": 2, "c3": 0}, "im1": {"c2": 1}, "im2": {"c5": -1}}
    ),
    _case("left out", gts={"im0": ["c0"], "im7": ["c1"]}, missing="skip"),
    _case("taken as empty", gts={"im0": ["c0"], "im7": ["c1"]}, missing="empty"),
    _case("weights", weights={"im0": 1.0, "im1": 2.0, "im2": 0.5}),
    _case(
        "vectors", None, queries_embeddings=_TABLE[:, :3], gallery_embeddings=_TABLE.T
    ),
    _case(
        "dot products",
        None,
        queries_embeddings=_TABLE[:, :3],
        gallery_embeddings=_TABLE.T,
        similarity="dot",
    ),
    *(
        _case(name, protocol=name, measures=None, task=None)
        for name in ("f30k", "coco-5k", "eccv")
    ),
    _case("R@K", measures="R@5"),
    _case("Rsum of one direction", measures="Rsum"),
    _case("turned", _TABLE.T),
    _case("not finite", _TABLE * np.nan),
    _case("outside the gallery", gts={**POSITIVES, "im0": ["c9"]}),
    _case("ranked twice", {**_RANKED, "im1": ["c0", "c0"]}),
    _case("lists in both directions", _RANKED, direction="both"),
    _case("no predictions", None),
]
_FILES = "--queries images.txt --gallery texts.txt similarities.json positives.json"
_COMMANDS = [
    cli(f"score --task retrieval {_FILES}"),
    cli(
        f"score -m 'HitRate@1,2 Recall@2' --direction both --worst 2 --show-signatures {_FILES}"
    ),
    cli(f"score --protocol f30k --format json {_FILES}"),
    cli(
        f"score -m 'HitRate@1 Rsum' --direction both --per-item items.csv --ci {_FILES}"
    ),
    cli("score --task retrieval run.trec truth.qrels"),
    cli("score --queries-embeddings similarities.json positives.json -m HitRate@1"),
    cli(
        "validate --task retrieval similarities.json positives.json run.trec truth.qrels"
    ),
    cli("explain HitRate mAP@R coco-1k"),
    cli("cite eccv mAP@R"),
]
GROUPS = {"retrieval": [*_SCORED, *_COMMANDS]}
