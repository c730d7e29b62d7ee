"""Figures of results, in scikit-learn's convention. They need the extra ``plots``.

A display holds the values of a figure. ``display.plot()`` draws it, and `save` writes it
to a file.

>>> import semmetrics
>>> from semmetrics.plots import ValuesDisplay
>>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures="F1 Recall")
>>> display = ValuesDisplay.from_scores(table)
>>> display.rows, display.value.tolist()
(['F1', 'Recall'], [[0.5], [0.5]])
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
    "FIGURES",
    "AgreementDisplay",
    "ConfusionDisplay",
    "CriticalDifferenceDisplay",
    "DifferencesDisplay",
    "Display",
    "DominanceDisplay",
    "ItemsDisplay",
    "LabelsDisplay",
    "NCSDisplay",
    "PrecisionRecallDisplay",
    "RankMatrixDisplay",
    "SeenUnseenDisplay",
    "SystemPairDisplay",
    "ThresholdDisplay",
    "TopKDisplay",
    "ValuesDisplay",
    "choose",
    "save",
    "suitable",
    "svg_text",
]
