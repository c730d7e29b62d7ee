"""Values of items: their distribution, and two systems against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.reports.figures.curves import Curves
from semmetrics.reports.figures.display import COLORS, Display, draw_legend
from semmetrics.reports.figures.figure_text import (
    hidden_note,
    join_notes,
    shorten,
    undefined_note,
)
from semmetrics.reports.figures.result_values import (
    arrange,
    scores_of,
    select_measure,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_MAX_MARKED_ITEMS = 8
_MAX_POINTS = 2000
"""If a scatter plot has more points, points near each other are merged."""
_CELLS_PER_SIDE = 60
"""The size of the grid on which they are merged."""


class _ItemValues(NamedTuple):
    """The values of a measure by item.

    Attributes
    ----------
    heading : str
    ids : list of str or int
    systems : list of str
    values : float array, shape (items, systems)
    """

    heading: str
    ids: list[Any]
    systems: list[str]
    values: Floats


def _read_item_values(result: Any, measure: str | None) -> _ItemValues:
    """Return the values of items of a measure, by default the first that has any."""
    table = scores_of(result)
    records = table.per_item()
    headings = records.drop("id", "system", "part").columns
    heading = select_measure(measure, headings, table)
    part = table.find(heading)[0].part
    rows = [record for record in records if record.get("part", part) == part]
    ids, systems, (values,) = arrange(rows, "id", "system", [heading])
    return _ItemValues(heading, ids, systems, values)


class ItemsDisplay(Curves):
    """The share of items up to each value, by system.

    Attributes
    ----------
    curves : mapping from system to float array, shape (2, points)

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
    >>> ItemsDisplay.from_scores(table).curves["preds: 0.500"].tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.5, 1.0]]
    """

    is_stepped = True

    @classmethod
    def of(cls, result: Any, *, measure: str | None = None) -> Self:
        """Show a measure with values of items, by default the first."""
        heading, _, systems, values = _read_item_values(result, measure)
        table = scores_of(result)
        curves = {}
        for system, column in zip(systems, values.T, strict=True):
            defined = column[~np.isnan(column)]
            if not len(defined):
                continue
            x, counts = np.unique(defined, return_counts=True)
            shares = np.cumsum(counts) / len(defined)
            name = f"{system}: {table[system, heading].value:.3f}"
            curves[name] = np.stack([np.append(x[0], x), np.append(0, shares)])
        n_undefined = int(np.isnan(values).sum())
        return cls(
            curves,
            axis=(shorten(heading), "share of items up to"),
            note=undefined_note(n_undefined),
        )

    from_scores = of


@dataclass(kw_only=True, eq=False, repr=False)
class SystemPairDisplay(Display):
    """Values of items of one system against another, with numbers at large differences.

    Attributes
    ----------
    systems : list of str
        The system on the x axis and the system on the y axis.
    ids : list of str or int
        The items that have a value for both systems.
    x, y : float arrays, shape (items,)
    marked : list of int
        The indices of the items with the largest differences.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"A": [["cat"], ["dog"]], "B": [["cat"], ["cow"]]}
    >>> table = semmetrics.score_systems(systems, [["cat"], ["dog"]], measures=["F1"])
    >>> display = SystemPairDisplay.from_scores(table)
    >>> display.systems, display.x.tolist(), display.y.tolist(), display.marked
    (['A', 'B'], [1.0, 1.0], [1.0, 0.0], [1])
    """

    systems: list[str]
    ids: list[Any]
    x: Floats
    y: Floats
    marked: list[int]

    @classmethod
    def of(
        cls,
        result: Any,
        *,
        systems: Sequence[str] | None = None,
        measure: str | None = None,
    ) -> Self:
        """Show the values of items of two systems, by default the first two."""
        heading, ids, known_systems, values = _read_item_values(result, measure)
        if len(known_systems) < 2:
            raise InputError("other-result", what="second system", of="two systems")
        for name in systems or ():
            check_choice("systems", name, known_systems)
        pair = list(systems or known_systems[:2])
        columns = [known_systems.index(name) for name in pair]
        values = values[:, columns]
        rows = np.flatnonzero(~np.isnan(values).any(axis=1))
        x, y = values[rows].T
        n_systems = 2 if systems else len(known_systems)
        n_undefined = len(values) - len(rows)
        n_points = len(set(zip(x, y, strict=True)))
        notes = []
        if n_points < len(x):
            notes.append("larger: more items")
        notes.append(hidden_note(2, n_systems, "system"))
        if n_undefined:
            notes.append(f"{pluralize(n_undefined, 'item')} without a value")
        return cls(
            title=f"{shorten(heading)}: {_count_sides(x, y)} the line",
            note=join_notes(*notes),
            systems=pair,
            ids=[ids[row] for row in rows.tolist()],
            x=x,
            y=y,
            marked=_find_largest_differences(x, y),
        )

    from_scores = of

    def _size(self) -> tuple[float, float]:
        return 7.2, 4.6

    def _draw(self, axes: Sequence[Axes]) -> None:
        (ax,) = axes
        points, counts = _merge_points(self.x, self.y)
        most = counts.max(initial=1)
        sizes = 20 + 200 * np.sqrt((counts - 1) / most)
        x, y = points.T
        ax.scatter(x, y, s=sizes, color=COLORS[0], alpha=0.45, linewidth=0)
        ax.axline((0, 0), slope=1, color="0.5", linestyle="--", linewidth=1)
        self._number_marked_items(ax)
        ax.set(xlabel=shorten(self.systems[0]), ylabel=shorten(self.systems[1]))
        ax.grid(color="0.9")
        if self.marked:
            draw_legend(ax, min_entries=1, title="most different", handlelength=0)

    def _number_marked_items(self, ax: Axes) -> None:
        """Write numbers next to the marked items, and explain them in the legend."""
        numbers_by_point: dict[tuple[float, float], list[str]] = {}
        for number, index in enumerate(self.marked, start=1):
            x = float(self.x[index])
            y = float(self.y[index])
            numbers_by_point.setdefault((x, y), []).append(str(number))
            label = f"{number}  {shorten(self.ids[index])}: {x:.2f}, {y:.2f}"
            ax.plot([], [], " ", label=label)
        for point, numbers in numbers_by_point.items():
            ax.annotate(
                ", ".join(numbers),
                point,
                (6, 6),
                textcoords="offset points",
                fontsize="small",
                fontweight="bold",
            )


def _count_sides(x: Floats, y: Floats) -> str:
    """Count the items above, on and below the diagonal."""
    sides = np.sign(y - x)
    n_above = int((sides == 1).sum())
    n_on = int((sides == 0).sum())
    n_below = int((sides == -1).sum())
    return f"{n_above:,} above, {n_on:,} on and {n_below:,} below"


def _find_largest_differences(x: Floats, y: Floats) -> list[int]:
    """Return the indices of the items with the largest differences, largest first."""
    differences = np.abs(y - x)
    order = np.argsort(-differences, kind="stable")
    indices: list[int] = order[:_MAX_MARKED_ITEMS].tolist()
    return [index for index in indices if differences[index]]


def _merge_points(x: Floats, y: Floats) -> tuple[Floats, Any]:
    """Return the distinct points of a scatter plot, and how many items each one has.

    If there are too many points, they are rounded to a grid first.
    """
    items = np.stack([x, y], axis=1)
    points, counts = np.unique(items, axis=0, return_counts=True)
    if len(points) <= _MAX_POINTS:
        return points, counts
    step = np.ptp(points, axis=0).max() / _CELLS_PER_SIDE
    rounded = np.round(items / step) * step
    return np.unique(rounded, axis=0, return_counts=True)
