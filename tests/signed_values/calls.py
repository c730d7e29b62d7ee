"""Scores of every measure on small data, with their signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

import semmetrics

LABEL_PREDS = {
    "1": ["cat", "dog", "couch"],
    "2": ["puppy", "dog", "puppy"],
    "3": ["tree"],
    "4": [],
    "5": ["car", "tree", "street light"],
    "6": ["cat", "tree", "zebra", "bus", "dog"],
}
LABEL_TRUTH = {
    "1": ["cat", "sofa"],
    "2": ["dog"],
    "3": [],
    "4": ["car", "tree"],
    "5": ["automobile", "tree"],
    "6": ["tree", "bus", "dog", "cat"],
}
SCORED_PREDS = {
    "1": {"cat": 0.875, "dog": 0.75, "bus": 0.125},
    "2": {"dog": 0.5, "cat": 0.5, "tree": 0.25},
    "3": {"tree": 0.75, "bus": 0.625, "dog": 0.0},
    "4": {"bus": 0.25, "car": 0.125, "tree": 1.0},
}
SCORED_TRUTH = {
    "1": ["cat"],
    "2": ["dog", "tree"],
    "3": ["bus"],
    "4": ["car", "tree"],
}
PARENTS = {
    "cat": "animal",
    "dog": "animal",
    "puppy": "dog",
    "zebra": "animal",
    "car": "vehicle",
    "automobile": "car",
    "bus": "vehicle",
    "vehicle": "thing",
    "couch": "thing",
    "sofa": "thing",
    "street light": "thing",
    "tree": "plant",
}
CAPTIONS = {
    "1": "a cat sleeps on the red sofa",
    "2": "two dogs run on the beach",
    "3": "a man rides a horse",
}
REFERENCES = {
    "1": ["a cat is asleep on a sofa", "the cat lies on a red couch"],
    "2": ["two dogs are running along the beach", "dogs play in the sand"],
    "3": ["a man is riding a brown horse", "a person on a horse"],
}
SIMILARITIES = np.array(
    [[(3 * i + 5 * j + i * j) % 8 / 8 for j in range(6)] for i in range(6)]
)
POSITIVES = [[0, 1], [2], [2, 3], [5], [0, 4], [5]]
CLASSES = ["ant", "bee", "cow", "dog"]
CLASS_SCORES = np.array(
    [[(3 * i + 5 * j + i * j) % 8 / 8 for j in range(4)] for i in range(8)]
)
CLASS_TRUTH = ["ant", "bee", "cow", "dog", "ant", "cow", "bee", "dog"]
CLASS_OPTIONS = {
    "task": "classes",
    "classes": CLASSES,
    "seen": CLASSES[:2],
    "unseen": CLASSES[2:],
}


class Call(NamedTuple):
    """One call of ``score``, with several measures."""

    preds: Any
    gts: Any
    options: dict[str, Any]


CALLS = {
    "label sets": Call(
        LABEL_PREDS,
        LABEL_TRUTH,
        {
            "measures": "Precision Recall F1 FBeta(beta=2) Jaccard SubsetAccuracy HammingLoss AP "
            "BalancedAccuracy(q=20) CardinalityError O-F1 C-F1(labels=reference) I-F1 MacroF1 "
            "MicroF1 F1(average=weighted) MacroPrecision MicroRecall F1@1 AP@2 AP(empty=0) "
            "F1(duplicates=each) F1(empty=skip) F1(average=macro,absent=1,labels=union)"
        },
    ),
    "labels by meaning": Call(
        LABEL_PREDS,
        LABEL_TRUTH,
        {
            "measures": "SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall "
            "SoftF1 SemF1(match=greedy) SemF1(average=micro) SemF1(threshold=0.75) WMD RWMD BagSim "
            "MeanSim"
        },
    ),
    "scores of labels": Call(
        SCORED_PREDS,
        SCORED_TRUTH,
        {
            "measures": "LRAP RankingLoss CoverageError mAP mAP(ties=ordered) "
            "mAP(interpolation=voc2010) ROC-AUC F1@2 F1(decode=threshold:0.5) "
            "F1(decode=threshold:best) F1(decode=cumulative:0.5)"
        },
    ),
    "hierarchy": Call(
        LABEL_PREDS,
        LABEL_TRUTH,
        {"measures": "hP hR hF LCADistance hF(average=example)", "taxonomy": PARENTS},
    ),
    "captions": Call(
        CAPTIONS,
        REFERENCES,
        {
            "task": "captions",
            "measures": "BLEU-1 BLEU-4 ROUGE-L CIDEr-D CIDEr NGSM CaptionLength LengthRatio "
            "Vocabulary UniqueCaptions DuplicatedCaption ReferenceCount "
            "BLEU-4(reflen=shortest) CIDEr-D(stem=porter)",
        },
    ),
    "retrieval": Call(
        SIMILARITIES,
        POSITIVES,
        {
            "task": "retrieval",
            "direction": "both",
            "measures": "Recall@2 Precision@2 HitRate@1 MedR MeanR MRR MAP R-Precision mAP@R PMRP "
            "Rsum",
        },
    ),
    "classes": Call(
        CLASS_SCORES,
        CLASS_TRUTH,
        {
            **CLASS_OPTIONS,
            "measures": "PerClassAccuracy SeenAccuracy UnseenAccuracy H Accuracy AUSUC BestH "
            "PerClassAccuracy@2 PerClassAccuracy(labels=unseen,candidates=unseen)",
        },
    ),
}
PROTOCOLS = {
    "kubany2020": Call(LABEL_PREDS, LABEL_TRUTH, {"embedding": "static"}),
    "pineda2019": Call(LABEL_PREDS, LABEL_TRUTH, {}),
    "coco-multilabel": Call(SCORED_PREDS, SCORED_TRUTH, {"threshold": 0.5}),
    "coco-caption": Call(CAPTIONS, REFERENCES, {}),
    "xian2018": Call(CLASS_SCORES, CLASS_TRUTH, CLASS_OPTIONS),
}


class SignedValue(NamedTuple):
    """A value under its signature."""

    version: str
    signature: str
    value: float | None


def signed_values() -> Iterator[tuple[str, SignedValue]]:
    """Yield the name and the signed value of each score."""
    for title, call in CALLS.items():
        table = semmetrics.score(call.preds, call.gts, **call.options)
        yield from _of_table(title, table)
    for protocol, call in PROTOCOLS.items():
        table = semmetrics.score(
            call.preds, call.gts, protocol=protocol, **call.options
        )
        yield from _of_table(protocol, table)


def _of_table(title: str, table: Any) -> Iterator[tuple[str, SignedValue]]:
    for score in table:
        value = None if np.isnan(score.value) else float(score.value)
        name = f"{title}: {score.heading}"
        yield name, SignedValue(semmetrics.__version__, score.signature, value)
