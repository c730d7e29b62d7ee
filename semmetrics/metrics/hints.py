"""What other libraries and papers call a measure, and what to write instead."""

from __future__ import annotations

HINTS = {
    "R": "write HitRate@K for whether any positive is among the first K, which most papers print, "
    "or Recall@K for the fraction of the positives that are",
    "HR": "write HitRate@K, or hR for the hierarchical recall",
    "P": "write Precision@K",
    "Accuracy": "for label sets write Jaccard (example-based accuracy, as in kubany2020) or "
    "SubsetAccuracy (accuracy_score of scikit-learn)",
    **dict.fromkeys(("AUC", "AUROC"), "write ROC-AUC of labels, or AUSUC of classes"),
    "F2": "write FBeta(beta=2)",
    "EMR": "write SubsetAccuracy, the exact match ratio",
    "B": "write BLEU-4, or another order",
    "ts": "write UnseenAccuracy, which protocol xian2018 prints as ts",
    "tr": "write SeenAccuracy, which protocol xian2018 prints as tr",
    "SPIDEr-FL": "write SPIDEr, which is SPIDEr-FL without its penalty for errors of fluency; a "
    "trained model finds those: see aac-metrics",
    "ZSL": "write PerClassAccuracy(labels=unseen,candidates=unseen), which xian2018 prints as ZSL",
}
_HITRATE_OR_TOP_K = (
    "write HitRate@K of retrieval, PerClassAccuracy@K or Accuracy@K of classes"
)
# What other libraries and papers call a measure, folded, and what to write instead.
NAMES_ELSEWHERE = {
    "acc": "write Accuracy or PerClassAccuracy of classes, SubsetAccuracy or Jaccard of label sets",
    "averageprecision": "write mAP, the mean over classes, or AP, the mean over items",
    "averageprecisionscore": "write mAP, the mean over classes, or AP, the mean over items",
    "bertscore": "it is not computed; of captions write BagSim, of labels SoftF1",
    "clipscore": "it is not computed; score a matrix of similarities with --task retrieval",
    "exactmatch": "write SubsetAccuracy",
    "exactmatchratio": "write SubsetAccuracy",
    "fscore": "write F1 or FBeta(beta=2)",
    "fmeasure": "write F1 or FBeta(beta=2)",
    "hamming": "write HammingLoss",
    "hits": "write HitRate@K",
    "iou": "write Jaccard",
    "labelrankingaverageprecision": "write LRAP",
    "labelrankingaverageprecisionscore": "write LRAP",
    "meanaverageprecision": "write mAP of labels, MAP of retrieval",
    "rouge": "write ROUGE-L",
    "topk": _HITRATE_OR_TOP_K,
    "topkaccuracy": _HITRATE_OR_TOP_K,
    "topkaccuracyscore": _HITRATE_OR_TOP_K,
    **{f"top{k}": _HITRATE_OR_TOP_K.replace("@K", f"@{k}") for k in (1, 3, 5, 10)},
    **{
        f"top{k}accuracy": _HITRATE_OR_TOP_K.replace("@K", f"@{k}")
        for k in (1, 3, 5, 10)
    },
    "zerooneloss": "write SubsetAccuracy, which is 1 minus the zero-one loss",
}
AVERAGES_ELSEWHERE = {
    "samples": "",
    "sample": "",
    "example": "",
    "weighted": "weighted",
}
