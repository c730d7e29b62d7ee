"""The table of the measures that come with semmetrics."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

MeasureKey: TypeAlias = "tuple[str, str]"
"""The kind of data and the name of a measure or an alias."""


class MeasureRow(NamedTuple):
    """A measure or an alias in the table.

    Attributes
    ----------
    group : str
        The heading under which lists show it.
    module : str
        The module of `semmetrics.metrics` that registers it.
    """

    group: str
    module: str


# Kind of data, heading of the group, module, names and aliases that the module registers.
_TABLE = (
    (
        "labels",
        "Sets of labels",
        "sets",
        "Precision MacroPrecision MicroPrecision CP OP Recall MacroRecall MicroRecall CR OR F1 "
        "MacroF1 MicroF1 OF1 CF1 FBeta Jaccard MacroJaccard MicroJaccard SubsetAccuracy HammingLoss "
        "AP BalancedAccuracy CardinalityError O-F1 C-F1 I-F1",
    ),
    (
        "labels",
        "Meanings of labels (--embedding)",
        "semantic",
        "SemPrecision SemRecall SemF1 SemJaccard SemAP SoftPrecision SoftRecall SoftF1",
    ),
    (
        "labels",
        "Bags of labels and transport (--embedding)",
        "bags",
        "WMD RWMD BagSim MeanSim",
    ),
    (
        "labels",
        "Rankings of labels",
        "ranking",
        "LRAP RankingLoss CoverageError mAP ROC-AUC",
    ),
    (
        "labels",
        "Hierarchies of labels (--taxonomy)",
        "hierarchical",
        "hP hR hF LCADistance",
    ),
    (
        "captions",
        "Captions (--task captions)",
        "bleu",
        "BLEU-1 BLEU-2 BLEU-3 BLEU-4",
    ),
    ("captions", "Captions (--task captions)", "cider", "CIDEr-D CIDEr"),
    (
        "captions",
        "Captions (--task captions)",
        "caption_statistics",
        "DuplicatedCaption CaptionLength LengthRatio ReferenceCount Vocabulary UniqueCaptions",
    ),
    ("captions", "Captions (--task captions)", "meteor", "METEOR METEOR-nltk"),
    ("captions", "Captions (--task captions)", "caption_overlap", "NGSM ROUGE-L"),
    ("captions", "Captions (--task captions)", "spice", "SPICE SPIDEr"),
    (
        "captions",
        "Captions (--task captions)",
        "caption_similarity",
        "Soft-SPICE BagSim",
    ),
    (
        "retrieval",
        "Retrieval (--task retrieval)",
        "retrieval",
        "Recall Precision HitRate Rsum MedR MeanR MRR MAP R-Precision mAP@R PMRP",
    ),
    (
        "retrieval",
        "Retrieval (--task retrieval)",
        "semantic_retrieval",
        "NCS SR nDCG Nsum",
    ),
    (
        "classes",
        "Classes (--task classes)",
        "classes",
        "PerClassAccuracy SeenAccuracy UnseenAccuracy H Accuracy AUSUC BestH",
    ),
)

KINDS_OF_MEASURES = tuple(dict.fromkeys(kind for kind, *_ in _TABLE))
"""The kinds of data, in the order of the table."""


def _rows() -> dict[MeasureKey, MeasureRow]:
    rows = {}
    for kind, group, module, names in _TABLE:
        for name in names.split():
            rows[kind, name] = MeasureRow(group, module)
    return rows


ROWS = _rows()
"""The measures and aliases of the table, in its order."""
