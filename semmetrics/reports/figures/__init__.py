"""Figures of results, in scikit-learn's convention.

Conventions
-----------
A display is created by ``from_…(result)``. Its values are attributes, and
``plot(ax=None)`` draws it and sets ``ax_`` and ``figure_``. Without axes it creates a
figure that no window shows.

Colors are from Okabe and Ito (2008). Markers, lines and hatches also differ, so that a
figure can be read in grey. Names are written as in the input, but long ones without their
middle. A note below the figure lists what does not fit into it.

Displays call methods and read records of results, whatever their class.
"""

from semmetrics.reports.figures.curves import (
    NCSDisplay,
    PrecisionRecallDisplay,
    SeenUnseenDisplay,
    TopKDisplay,
)
from semmetrics.reports.figures.display import Display, load, render
from semmetrics.reports.figures.dots import (
    AgreementDisplay,
    DifferencesDisplay,
    ValuesDisplay,
)
from semmetrics.reports.figures.export import save, svg_text
from semmetrics.reports.figures.heat_maps import (
    ConfusionDisplay,
    DominanceDisplay,
    RankMatrixDisplay,
)
from semmetrics.reports.figures.item_figures import ItemsDisplay, SystemPairDisplay
from semmetrics.reports.figures.label_bars import LabelsDisplay
from semmetrics.reports.figures.rank_diagram import (
    CriticalDifferenceDisplay,
    rank_lines,
)
from semmetrics.reports.figures.selection import (
    FIGURES,
    choose,
    iter_suitable,
    suitable,
)
from semmetrics.reports.figures.threshold_curves import ThresholdDisplay

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
    "load",
    "rank_lines",
    "render",
    "save",
    "suitable",
    "iter_suitable",
    "svg_text",
]
