"""Values and support of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.reports.figures.display import (
    COLORS,
    MARKERS,
    MAX_ROWS,
    Display,
    Panels,
    draw_legend,
)
from semmetrics.reports.figures.dots import name_rows
from semmetrics.reports.figures.figure_text import hidden_note, join_notes, shorten
from semmetrics.reports.figures.result_values import (
    arrange,
    scores_of,
    select_measure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_HATCHES = ("", "////", r"\\\\\\\\", "xxxx")
_MAX_SYSTEMS_WITH_BARS = len(_HATCHES)
_GREY = "0.55"


@dataclass(kw_only=True, eq=False, repr=False)
class LabelsDisplay(Display):
    """Bars of the value and the support of each label, best value first.

    With more than four systems, the values of all systems are ticks on one line, with a
    dot at the median.

    Attributes
    ----------
    labels : list of str
        The most frequent labels, by falling value of the first system, or by falling
        median if there are more than four systems.
    systems : list of str
    value : float array, shape (labels, systems)
    support : float array, shape (labels,)

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat", "dog"]], measures=["MacroRecall"])
    >>> display = LabelsDisplay.from_scores(table)
    >>> display.labels, display.value.tolist(), display.support.tolist()
    (['cat', 'dog'], [[1.0], [0.0]], [1.0, 1.0])
    """

    labels: list[str]
    systems: list[str]
    value: Floats
    support: Floats

    @classmethod
    def of(
        cls, result: Any, *, measure: str | None = None, most: int = MAX_ROWS
    ) -> Self:
        """Show a measure with values of labels, by default the first.

        Parameters
        ----------
        result : table of scores, or a result that has one
        measure : str, optional
        most : int
            The number of labels that are shown at most.
        """
        table = scores_of(result)
        records = table.per_label()
        heading = select_measure(measure, records.column("measure"), table)
        rows = [record for record in records if record["measure"] == heading]
        grid = arrange(rows, "label", "system", ("value", "support"))
        labels, systems, (value, support_by_system) = grid
        # nan if a system has no record of a label
        support = np.nan_to_num(support_by_system).max(axis=1)
        true_labels = np.flatnonzero(support > 0)
        if not len(true_labels):
            raise InputError(
                "other-result", what="labels", of="labels in the ground truth"
            )
        order = _order_labels(value, support, true_labels, most)
        n_only_predicted = len(support) - len(true_labels)
        only_predicted = ""
        if n_only_predicted:
            only_predicted = (
                f"{pluralize(n_only_predicted, 'label')} in predictions alone"
            )
        note = join_notes(
            hidden_note(most, len(true_labels), "label", "most frequent"),
            only_predicted,
        )
        measure_of_label = shorten(_measure_of_one_label(table, heading), 60)
        return cls(
            title=f"{measure_of_label} by label",
            note=note,
            labels=[labels[index] for index in order.tolist()],
            systems=systems,
            value=value[order],
            support=support[order],
        )

    from_scores = of

    @property
    def _has_bars(self) -> bool:
        return len(self.systems) <= _MAX_SYSTEMS_WITH_BARS

    def _size(self) -> tuple[float, float]:
        """Return the width and the height in inches. A row is high enough for its bars."""
        legend_width = 1.6 if len(self.systems) > 1 else 0
        n_bars = len(self.systems) if self._has_bars else 1
        row_factor = max(1, n_bars / 2.2)
        height = 1.3 + 0.22 * len(self.labels) * row_factor
        return 6.8 + legend_width, height

    def _panels(self) -> Panels:
        return Panels(1, 2, width_ratios=(3, 1))

    def _draw(self, axes: Sequence[Axes]) -> None:
        value_axes, support_axes = axes
        y = np.arange(len(self.labels))
        if self._has_bars:
            self._draw_bars(value_axes, y)
        else:
            self._draw_ticks(value_axes, y)
        support_axes.barh(y, self.support, 0.8, color=_GREY)
        for ax, name in ((value_axes, "value"), (support_axes, "support")):
            name_rows(ax, self.labels)
            ax.set_xlabel(name)
        support_axes.tick_params(labelleft=False)
        support_axes.locator_params(axis="x", nbins=3)
        if not self._has_bars:
            handles, _ = value_axes.get_legend_handles_labels()
            draw_legend(support_axes, handles=handles)
        elif len(self.systems) > 1:
            draw_legend(support_axes, handles=value_axes.containers)

    def _draw_bars(self, ax: Axes, y: Ints) -> None:
        """Draw a bar for each label and system."""
        height = 0.8 / len(self.systems)  # all bars of a label, around its y
        for column, system in enumerate(self.systems):
            middle = y - 0.4 + height * (column + 0.5)
            ax.barh(
                middle,
                self.value[:, column],
                height,
                color=COLORS[column],
                hatch=_HATCHES[column],
                edgecolor="white",
                label=shorten(system),
            )

    def _draw_ticks(self, ax: Axes, y: Ints) -> None:
        """Draw a tick for each label and system, and a dot at the median of a label."""
        label: str | None = f"each of {len(self.systems)} systems"
        for values in self.value.T:
            ax.plot(values, y, "|", color=_GREY, markersize=9, label=label)
            label = None  # one entry in the legend for all systems
        medians = []
        for values in self.value:
            defined = values[~np.isnan(values)]
            median = float(np.median(defined)) if len(defined) else math.nan
            medians.append(median)
        ax.plot(medians, y, MARKERS[0], color=COLORS[0], markersize=5, label="median")


def _order_labels(value: Floats, support: Floats, true_labels: Ints, most: int) -> Ints:
    """Return the indices of the most frequent labels, in the order of `LabelsDisplay.labels`.

    In medians, undefined values count as 0. In values of one system, they come last.

    Parameters
    ----------
    value : float array, shape (labels, systems)
    support : float array, shape (labels,)
    true_labels : int array
        The indices of the labels in the ground truth.
    most : int
    """
    by_support = np.argsort(-support[true_labels], kind="stable")
    frequent: Ints = true_labels[by_support[:most]]
    n_systems = value.shape[1]
    sort_values = value[frequent, 0]
    if n_systems > _MAX_SYSTEMS_WITH_BARS:
        sort_values = np.median(np.nan_to_num(value[frequent], nan=0.0), axis=1)
    by_value = np.argsort(-np.nan_to_num(sort_values, nan=-np.inf), kind="stable")
    order: Ints = frequent[by_value]
    return order


def _measure_of_one_label(table: Any, heading: str) -> str:
    """Return the name of the measure whose values single labels have: F1 for MacroF1."""
    measure = table.find(heading)[0].measure
    if measure.k is None:
        return str(measure.definition.name)
    return f"{measure.definition.name}@{measure.k}"
