"""The figures by name, and which of them suit a result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from semmetrics.arguments import check_choice
from semmetrics.errors import InputError
from semmetrics.reports.figures.curves import (
    NCSDisplay,
    PrecisionRecallDisplay,
    SeenUnseenDisplay,
    TopKDisplay,
)
from semmetrics.reports.figures.display import Display
from semmetrics.reports.figures.dots import (
    AgreementDisplay,
    DifferencesDisplay,
    ValuesDisplay,
)
from semmetrics.reports.figures.heat_maps import (
    ConfusionDisplay,
    DominanceDisplay,
    RankMatrixDisplay,
)
from semmetrics.reports.figures.item_figures import ItemsDisplay, SystemPairDisplay
from semmetrics.reports.figures.label_bars import LabelsDisplay
from semmetrics.reports.figures.rank_diagram import CriticalDifferenceDisplay
from semmetrics.reports.figures.threshold_curves import ThresholdDisplay

FIGURES: dict[str, type[Display]] = {
    "differences": DifferencesDisplay,
    "ranks": CriticalDifferenceDisplay,
    "agreement": AgreementDisplay,
    "dominance": DominanceDisplay,
    "thresholds": ThresholdDisplay,
    "seen-unseen": SeenUnseenDisplay,
    "ncs": NCSDisplay,
    "top-k": TopKDisplay,
    "values": ValuesDisplay,
    "labels": LabelsDisplay,
    "items": ItemsDisplay,
    "systems": SystemPairDisplay,
    "precision-recall": PrecisionRecallDisplay,
    "confusion": ConfusionDisplay,
    "rank-matrix": RankMatrixDisplay,
}
"""The figures by the names that ``--plot`` accepts, in order of preference."""


def iter_suitable(result: Any) -> Iterator[tuple[str, Display]]:
    """Yield the names and figures that suit a result, the most suitable first."""
    for name, figure_class in FIGURES.items():
        with suppress(InputError):
            yield name, figure_class.of(result)


def suitable(result: Any) -> list[str]:
    """Return the names of the figures that suit a result, the most suitable first.

    Examples
    --------
    >>> import semmetrics
    >>> suitable(semmetrics.score([["cat"]], [["cat", "dog"]], measures=["Recall"]))
    ['values', 'items', 'confusion']
    """
    return [name for name, _ in iter_suitable(result)]


def choose(result: Any, name: str = "") -> Display:
    """Return a figure of a result.

    Parameters
    ----------
    result : Any
    name : str
        A key of `FIGURES`. Default: the most suitable figure.

    Raises
    ------
    InputError
        If the figure does not suit the result. The message lists the figures that do.
    """
    if not name:
        return _choose_first(result)
    check_choice("plot", name, FIGURES)
    try:
        return FIGURES[name].of(result)
    except InputError as error:
        suitable_names = ", ".join(suitable(result)) or "no figure"
        raise InputError(
            "no-figure",
            name=name,
            why=error.problem,
            fix=error.remedy,
            known=suitable_names,
        ) from error


def _choose_first(result: Any) -> Display:
    """Return the most suitable figure of a result."""
    for _, display in iter_suitable(result):
        return display
    raise InputError("other-result", what="numbers of a figure", of="another")
