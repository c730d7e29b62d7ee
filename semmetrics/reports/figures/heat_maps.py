"""Heat maps: confusions of labels, ranks of systems, and dominance among systems."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.reports.figures.display import MAX_ROWS, Display, Panels
from semmetrics.reports.figures.figure_text import hidden_note, join_notes, shorten
from semmetrics.reports.figures.rank_diagram import name_ranked_values
from semmetrics.reports.figures.result_values import scores_of
from semmetrics.reports.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_MAX_NUMBERED_ROWS = 20
"""Larger heat maps have small cells without numbers."""
_MAX_LABELS = 12
_MAX_PANELS = 4

_LabelPair: TypeAlias = "tuple[str | None, str | None]"
"""A true and a predicted label. None means that there is no label."""


class HeatMap(NamedTuple):
    """One panel of a figure of heat maps."""

    title: str
    rows: Sequence[str]
    columns: Sequence[str]
    values: Floats
    """The numbers in the cells, shape (rows, columns)."""
    shades: Floats
    """What the colors of the cells show, same shape."""


@dataclass(eq=False, repr=False)
class Heat(Display):
    """Heat maps with numbers in their cells.

    Attributes
    ----------
    panels : list of (title, rows, columns, values, shades)
        The names of rows and columns, the numbers in the cells, and what their colors
        show.
    axis : (str, str)
        The labels of the x axis and the y axis.
    digits : int
        The number of decimals.
    """

    panels: list[HeatMap]
    axis: tuple[str, str] = ("", "")
    digits: int = 2

    def _size(self) -> tuple[float, float]:
        shapes = [panel.values.shape for panel in self.panels]
        height, width = np.max(shapes, axis=0).tolist()
        cell_size = 0.52 if max(height, width) <= _MAX_NUMBERED_ROWS else 0.24
        panel_height = 1.7 + 0.62 * cell_size * height
        return 2.2 + cell_size * width, panel_height * len(self.panels)

    def _panels(self) -> Panels:
        return Panels(len(self.panels), 1)

    def _draw(self, axes: Sequence[Axes]) -> None:
        for ax, panel in zip(axes, self.panels, strict=True):
            self._draw_panel(ax, panel)

    def _draw_panel(self, ax: Axes, panel: HeatMap) -> None:
        shades = np.ma.masked_invalid(panel.shades)
        cells = ax.pcolormesh(shades, cmap="Blues", edgecolors="white")
        if max(panel.values.shape) <= _MAX_NUMBERED_ROWS:
            darkness = np.ma.filled(cells.norm(shades), 0.0)
            for (row, column), value in np.ndenumerate(panel.values):
                color = "white" if darkness[row, column] > 0.55 else "black"
                ax.text(
                    column + 0.5,
                    row + 0.5,
                    self._format(value),
                    ha="center",
                    va="center",
                    fontsize="x-small",
                    color=color,
                )
        rotation: dict[str, Any] = {}
        if max(map(len, panel.columns)) > 3:
            rotation = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
        x = np.arange(len(panel.columns)) + 0.5
        y = np.arange(len(panel.rows)) + 0.5
        ax.set_xticks(x, [shorten(name, 20) for name in panel.columns], **rotation)
        ax.set_yticks(y, [shorten(name, 24) for name in panel.rows])
        ax.invert_yaxis()
        ax.tick_params(length=0, labelsize="small")
        ax.set(xlabel=self.axis[0], ylabel=self.axis[1])
        ax.set_title(shorten(panel.title, 48), loc="left", fontsize="medium")

    def _format(self, value: float) -> str:
        """Format the number in a cell: a dash if it is undefined, and nothing for 0."""
        if math.isnan(value):
            return "–"
        if not value:
            return ""
        return f"{value:,.{self.digits}f}"


class ConfusionDisplay(Heat):
    """Predicted labels against true labels, by exact match and by meaning.

    The figure shows the labels of the largest confusions. Numbers are counts. Colors show
    shares of the true label.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score(["cat", "cat"], ["cat", "dog"], measures=["PerClassAccuracy"])
    >>> _, rows, columns, counts, _ = ConfusionDisplay.from_scores(table).panels[0]
    >>> rows, columns, counts.tolist()
    (['dog', 'cat'], ['dog', 'cat'], [[0.0, 1.0], [0.0, 1.0]])
    """

    @classmethod
    def of(cls, result: Any, system: str | None = None) -> Self:
        """Show the confusions of one system, by default the first.

        They are counted for its first exact measure and its first measure by meaning.
        """
        table = scores_of(result)
        confusions = _list_confusions(table, system)
        panels = []
        n_labels = 0
        labels: list[str] = []  # all panels show the labels of the first
        for records, is_by_meaning in confusions:
            counts = {}
            for record in records:
                counts[record["true"], record["predicted"]] = record["count"]
            all_labels = set(chain.from_iterable(counts))
            all_labels.discard(None)
            n_labels = max(n_labels, len(all_labels))
            labels = labels or _most_confused(counts)
            title = f"{records[0]['system']}, {records[0]['measure']}"
            if is_by_meaning:
                title += ", by meaning"
            panels.append(_count_confusions(title, counts, labels))
        n_systems = 1 if system else len(table.systems)
        note = join_notes(
            "shade: share of the true label (row)",
            hidden_note(1, n_systems, "system"),
            hidden_note(_MAX_LABELS, n_labels, "label", "most confused"),
        )
        return cls(panels, axis=("predicted", "true"), digits=0, note=note)

    from_scores = of


def _list_confusions(table: Any, system: str | None) -> list[tuple[Records, bool]]:
    """Return the confusions of a system, each with whether labels match by meaning."""
    if system is None and table.systems:
        system = table.systems[0]
    check_choice("system", system, table.systems)
    confusions: dict[bool, Records] = {}
    for place, score in enumerate(table):
        is_by_meaning = score.measure["match"] is not None
        if score.system == system and is_by_meaning not in confusions:
            with suppress(InputError):
                confusions[is_by_meaning] = table[place : place + 1].confusion()
    if not any(confusions.values()):
        table.confusion()  # may raise a more specific error
        raise InputError("other-result", what="labels", of="labels")
    return [(records, is_by_meaning) for is_by_meaning, records in confusions.items()]


def _most_confused(counts: Mapping[_LabelPair, int]) -> list[str]:
    """Return the labels of the largest confusions."""
    labels: list[str] = []
    for pair, _ in sorted(counts.items(), key=_confusion_order):
        new_labels = []
        for label in dict.fromkeys(pair):
            if label is not None and label not in labels:
                new_labels.append(label)
        if len(labels) + len(new_labels) <= _MAX_LABELS:
            labels += new_labels
    return labels


def _confusion_order(item: tuple[_LabelPair, int]) -> tuple[bool, bool, int]:
    """Return a sort key: confusions of two labels first, by falling count."""
    pair, count = item
    true, predicted = pair
    return true == predicted, None in pair, -count


def _count_confusions(
    title: str, counts: Mapping[_LabelPair, int], labels: Sequence[str]
) -> HeatMap:
    """Return the heat map of some labels, with counts and shares of the true label."""
    rows: list[str | None] = [*labels]
    columns: list[str | None] = [*labels]
    totals: Counter[str | None] = Counter()
    for (true, predicted), count in counts.items():
        totals[true] += count
        if true is None and None not in rows:
            rows.append(None)
        if predicted is None and None not in columns:
            columns.append(None)
    values = np.zeros((len(rows), len(columns)))
    for row, true in enumerate(rows):
        for column, predicted in enumerate(columns):
            values[row, column] = counts.get((true, predicted), 0)
    totals_of_rows = np.maximum([totals[true] for true in rows], 1)
    shares = values / totals_of_rows[:, None]
    return HeatMap(title, _name_labels(rows), _name_labels(columns), values, shares)


def _name_labels(labels: Sequence[str | None]) -> list[str]:
    return ["(nothing)" if label is None else label for label in labels]


class RankMatrixDisplay(Heat):
    """How often each system has each rank, in resamples or over datasets.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {"VOC": {"A": 0.9, "B": 0.6}, "COCO": {"A": 0.8, "B": 0.5}}
    >>> RankMatrixDisplay.from_ranking(rank_normalized(values)).panels[0][3].tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the rank matrix of a result of ``rank_systems`` or ``compare``."""
        if not hasattr(result, "rank_matrix"):
            raise InputError("other-result", what="ranks", of="compare or rank_systems")
        matrix = result.rank_matrix()
        if isinstance(matrix, Records):  # of a comparison
            title = f"share of resamples at each rank, {result.scores.headings[0]}"
            systems = matrix.column("system")
            matrix = _shares_of_ranks(matrix)
        else:
            title = f"datasets at each rank, {name_ranked_values(result)}"
            systems = list(getattr(result, "ranked", ()))
        if not systems:
            raise InputError(
                "other-result", what="ranks", of="rank_systems with such datasets"
            )
        shown_systems = systems[:MAX_ROWS]
        values = matrix[:MAX_ROWS, :MAX_ROWS]
        ranks = [str(rank) for rank in range(1, len(shown_systems) + 1)]
        panel = HeatMap(title, shown_systems, ranks, values, values)
        has_fractions = bool((values % 1).any())
        digits = 2 if has_fractions else 0
        return cls(
            [panel],
            axis=("rank", ""),
            digits=digits,
            note=hidden_note(MAX_ROWS, len(systems), "system", "best"),
        )

    from_ranking = of
    from_comparison = of


def _shares_of_ranks(records: Records) -> Floats:
    """Return the shares of ranks in records of a comparison, shape (systems, ranks)."""
    shares = []
    for record in records:
        _, _, *shares_of_system = record.values()  # after the system and its mean rank
        shares.append(shares_of_system)
    return np.array(shares, np.float64)


class DominanceDisplay(Heat):
    """The dominance of each system (row) over each other system, by measure.

    Systems are in the order of their global rank. Colors show logarithms.
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the dominances in a result of ``rank_competition``."""
        if not hasattr(result, "rankings"):
            raise InputError("other-result", what="dominances", of="rank_competition")
        panels = []
        for ranking in result.rankings[:_MAX_PANELS]:
            scores = np.array(ranking.rank.scores)
            order = np.argsort(-scores, kind="stable")[:MAX_ROWS]
            systems = [result.systems[index] for index in order]
            values = ranking.dominance[order][:, order]
            shades = np.log2(np.where(values > 0, values, math.nan))
            title = f"dominance, {ranking.measure}"
            panels.append(HeatMap(title, systems, systems, values, shades))
        note = join_notes(
            "shades: logarithms",
            hidden_note(MAX_ROWS, len(result.systems), "system", "best"),
            hidden_note(_MAX_PANELS, len(result.rankings), "measure"),
        )
        return cls(panels, axis=("over", ""), note=note)

    from_competition = of
