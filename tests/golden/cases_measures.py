"""Measures of labels and captions, with each value of each option that changes the result."""

from __future__ import annotations

from typing import Any

from golden.harness import EXACT, FLOAT32, Case, scored
from golden.inputs import (
    CANDIDATES,
    CLASSES,
    GT,
    PREDS,
    RANKED,
    REFERENCES,
    SCORES,
    SIZES,
    TAXONOMY,
    TRUTH,
)

SETS = """
Precision Recall F1 Jaccard SubsetAccuracy HammingLoss AP BalancedAccuracy(q=20)
CardinalityError O-F1 C-F1(labels=reference) I-F1
MacroF1 MicroF1 F1(average=macro,labels=reference)
AP@2 Jaccard@2 HammingLoss@2
F1(duplicates=each) AP(duplicates=each) BalancedAccuracy(q=20,duplicates=each)
AP(normalize=hits)@2
F1(empty=0) F1(empty=skip) F1(empty=nan) F1(no_prediction=1) F1(no_prediction=skip)
F1(no_reference=skip) F1(undefined=0) Recall(no_reference=nan)
F1(average=macro,absent=0,labels=union) CardinalityError(empty=skip)
"""
SEMANTIC = """
SemPrecision SemRecall SemF1 SemJaccard SemAP SemF1@2
SemF1(threshold=0.25) SemF1(match=optimal,threshold=0.25) SemF1(match=total,threshold=0.25)
SemF1(match=any,threshold=0.25) SemAP(match=total,threshold=0.4) SemAP(normalize=hits)
SemF1(average=micro) SemF1(duplicates=each) SemF1(empty=skip) SemRecall(no_reference=skip)
SoftPrecision SoftRecall SoftF1 SoftF1(match=total) SoftF1@2 SoftRecall(no_reference=nan)
"""
DISTANCES = """
WMD RWMD MeanSim WMD@2 WMD(build=text) WMD(empty=0) WMD(no_prediction=0)
RWMD(no_reference=nan) MeanSim(undefined=skip)
"""
STATIC = "SemF1 SoftF1 WMD BagSim BagSim@2"
RANKINGS = """
LRAP RankingLoss CoverageError mAP mAP(average=weighted) mAP(ties=ordered)
mAP(interpolation=voc2007) mAP(interpolation=voc2010) mAP(interpolation=coco101)
mAP(labels=union,no_reference=0) LRAP(no_reference=0) CoverageError(undefined=skip)
F1(decode=threshold:0.5) F1(decode=threshold:best) F1(decode=cumulative:0.5)
F1(decode=threshold:0.9,keep_at_least=1) MacroF1(decode=threshold:best)
SemF1(decode=threshold:best)
"""
MATRICES = """
mAP(labels=given) MacroF1(decode=threshold:0.5)
F1(average=macro,labels=given,decode=threshold:0.5) C-F1(decode=threshold:0.5)
HammingLoss(decode=threshold:0.5) F1(decode=cardinality) F1(decode=cardinality+scores)
F1(decode=cardinality,keep_at_least=1)
"""
HIERARCHY = """
hP hR hF hF(average=example) hF@1 hF(root=include) LCADistance LCADistance(measure=height)
LCADistance(normalize=depth) LCADistance(unconnected=skip) LCADistance(duplicates=each)
"""
UNKNOWN_CLASSES = "hF(unknown=own) LCADistance(unknown=own)"
CAPTIONS = """
BLEU-4 BLEU-4(reflen=shortest) BLEU-4(reflen=average) CIDEr-D CIDEr-D(sigma=2.5)
CIDEr-D(df=rows) CIDEr CIDEr-D(stem=porter) ROUGE-L ROUGE-L(beta=1) NGSM NGSM(order=1)
NGSM(refs=max) LengthRatio LengthRatio(reflen=shortest) CaptionLength ReferenceCount
Vocabulary UniqueCaptions DuplicatedCaption
"""
PREDS_IN_TAXONOMY = PREDS | {"10": ["couch"]}


def parse_pairs(captions: list[str]) -> list[list[tuple[str, ...]]]:
    """Parse every second word as an object and the word before it as its attribute."""
    graphs = []
    for caption in captions:
        words = caption.split()
        graph = []
        for start in range(0, len(words), 2):
            graph.append(tuple(reversed(words[start : start + 2])))
        graphs.append(graph)
    return graphs


def measures(
    names: str, preds: Any, gts: Any, tolerance: float = EXACT, **options: Any
) -> list[Case]:
    """Return one case for each measure."""
    return [_measure(name, preds, gts, tolerance, options) for name in names.split()]


def _measure(
    name: str, preds: Any, gts: Any, tolerance: float, options: dict[str, Any]
) -> Case:
    return Case(name, lambda: scored(preds, gts, measures=name, **options), tolerance)


GROUPS = {
    "measures_of_labels": [
        *measures(SETS, PREDS, GT),
        *measures(RANKINGS, RANKED, GT, embedding="words.vec"),
        *measures(MATRICES, SCORES, TRUTH, classes=CLASSES, set_size_probs=SIZES),
        *measures(HIERARCHY, PREDS_IN_TAXONOMY, GT, taxonomy=TAXONOMY),
        *measures(UNKNOWN_CLASSES, PREDS, GT, taxonomy=TAXONOMY),
    ],
    "measures_of_meaning": [
        *measures(SEMANTIC, PREDS, GT, embedding="words.vec"),
        *measures(DISTANCES, PREDS, GT, FLOAT32, embedding="words.vec"),
    ],
    "measures_of_static_vectors": measures(STATIC, PREDS, GT, FLOAT32),
    "measures_of_captions": [
        *measures(CAPTIONS, CANDIDATES, REFERENCES),
        *measures("BagSim BagSim(references=mean)", CANDIDATES, REFERENCES, FLOAT32),
        *measures(
            "Soft-SPICE(parser=given) Soft-SPICE(parser=given,bidirectional=yes)",
            CANDIDATES,
            REFERENCES,
            FLOAT32,
            tuples=parse_pairs,
        ),
    ],
}
