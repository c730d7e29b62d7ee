"""Figures of results, in scikit-learn's convention; the extra ``plots`` brings matplotlib.

>>> import semmetrics
>>> from semmetrics.plots import ValuesDisplay
>>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures="F1 Recall")
>>> display = ValuesDisplay.from_scores(table)
>>> display.rows, display.value.tolist()
(['F1', 'Recall'], [[0.5], [0.5]])

``display.plot()`` draws it, and `save` writes it.
"""

from semmetrics.reports.figures import (
    FIGURES,
    AgreementDisplay,
    ConfusionDisplay,
    CriticalDifferenceDisplay,
    DifferencesDisplay,
    Display,
    DominanceDisplay,
    ItemsDisplay,
    LabelsDisplay,
    NCSDisplay,
    PrecisionRecallDisplay,
    RankMatrixDisplay,
    SeenUnseenDisplay,
    SystemPairDisplay,
    ThresholdDisplay,
    TopKDisplay,
    ValuesDisplay,
    choose,
    save,
    suitable,
    svg_text,
)

__all__ = [
    "FIGURES", "AgreementDisplay", "ConfusionDisplay", "CriticalDifferenceDisplay",
    "DifferencesDisplay", "Display", "DominanceDisplay", "ItemsDisplay", "LabelsDisplay",
    "NCSDisplay", "PrecisionRecallDisplay", "RankMatrixDisplay", "SeenUnseenDisplay",
    "SystemPairDisplay", "ThresholdDisplay", "TopKDisplay", "ValuesDisplay", "choose", "save",
    "suitable", "svg_text",
]  # fmt: skip
