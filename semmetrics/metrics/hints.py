"""Hints for unknown names of measures, such as names of other libraries and papers."""

from __future__ import annotations

_ROC_AUC = "write ROC-AUC for labels, or AUSUC for classes"


def _measures_at(k: int | str) -> str:
    """Return what to write for the accuracy of the first k predictions."""
    return (
        f"write HitRate@{k} for retrieval, PerClassAccuracy@{k} or Accuracy@{k} for "
        "classes"
    )


HINTS = {
    "R": "write HitRate@K for whether any positive is among the first K, which most papers report, "
    "or Recall@K for the fraction of the positives among them",
    "HR": "write HitRate@K, or hR for hierarchical recall",
    "P": "write Precision@K",
    "Accuracy": "for label sets, write Jaccard (the example-based accuracy of kubany2020) "
    "or SubsetAccuracy (scikit-learn's accuracy_score)",
    "AUC": _ROC_AUC,
    "AUROC": _ROC_AUC,
    "F2": "write FBeta(beta=2)",
    "EMR": "write SubsetAccuracy, the exact match ratio",
    "B": "write BLEU-4, or another order",
    "ts": "write UnseenAccuracy, which protocol xian2018 calls ts",
    "tr": "write SeenAccuracy, which protocol xian2018 calls tr",
    "SPIDEr-FL": "write SPIDEr, which is SPIDEr-FL without the penalty for fluency errors. The "
    "package aac-metrics has the trained model that detects them",
    "ZSL": "write PerClassAccuracy(labels=unseen,candidates=unseen), which xian2018 calls ZSL",
}
"""What to write for names that are short or ambiguous."""

NAMES_ELSEWHERE = {
    "acc": "write Accuracy or PerClassAccuracy for classes, SubsetAccuracy or Jaccard for label sets",
    "averageprecision": "write mAP, the mean over classes, or AP, the mean over items",
    "averageprecisionscore": "write mAP, the mean over classes, or AP, the mean over items",
    "bertscore": "it is not computed. Write BagSim for captions, or SoftF1 for labels",
    "clipscore": "it is not computed. Score a matrix of similarities with --task retrieval",
    "exactmatch": "write SubsetAccuracy",
    "exactmatchratio": "write SubsetAccuracy",
    "fscore": "write F1 or FBeta(beta=2)",
    "fmeasure": "write F1 or FBeta(beta=2)",
    "hamming": "write HammingLoss",
    "hits": "write HitRate@K",
    "iou": "write Jaccard",
    "labelrankingaverageprecision": "write LRAP",
    "labelrankingaverageprecisionscore": "write LRAP",
    "meanaverageprecision": "write mAP for labels, or MAP for retrieval",
    "rouge": "write ROUGE-L",
    "topk": _measures_at("K"),
    "topkaccuracy": _measures_at("K"),
    "topkaccuracyscore": _measures_at("K"),
    "top1": _measures_at(1),
    "top3": _measures_at(3),
    "top5": _measures_at(5),
    "top10": _measures_at(10),
    "top1accuracy": _measures_at(1),
    "top3accuracy": _measures_at(3),
    "top5accuracy": _measures_at(5),
    "top10accuracy": _measures_at(10),
    "zerooneloss": "write SubsetAccuracy, which is 1 minus the zero-one loss",
}
"""What to write for names of other libraries and papers. Keys are names after `fold`."""

AVERAGES_ELSEWHERE = {
    "samples": "",
    "sample": "",
    "example": "",
    "weighted": "weighted",
}
"""What other libraries call averages, and the value of the option "average". "" is the default."""
CHOICES_ELSEWHERE = {
    (
        "average",
        "samples",
    ): "The average samples of scikit-learn is called example here.",
}
"""What the choices of other libraries are called here, by option and choice."""
SYNONYMS_OF_AVERAGE = ("avg", "mode", "reduction", "averaging")
"""What the option "average" is called elsewhere."""
