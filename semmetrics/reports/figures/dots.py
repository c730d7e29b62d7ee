"""Values with intervals: of systems, of differences and of agreement with people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.reports.figures.display import (
    COLORS,
    MARKERS,
    MAX_ROWS,
    Display,
    Panels,
    draw_legend,
)
from semmetrics.reports.figures.figure_text import (
    MINUS,
    hidden_note,
    join_notes,
    shorten,
    shorten_difference,
    undefined_note,
)
from semmetrics.reports.figures.result_values import arrange, records_of, scores_of
from semmetrics.reports.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_MAX_SERIES = len(COLORS)
_CORRELATIONS = ("pearson", "spearman", "kendall")


@dataclass(kw_only=True, eq=False, repr=False)
class Dots(Display):
    """Values with whiskers: each row of the figure has one value per series.

    Attributes
    ----------
    rows, series : list of str
        At most 30 rows and 7 series. If there are more series, they become the rows.
    value, low, high : float arrays, shape (rows, series)
        The values and the limits of their intervals. nan if undefined.
    significant : float array, shape (rows, series)
        1 if the mark is filled.
    scales : mapping from name to str
        The scales of rows or series. Each scale has its own panel.
    """

    rows: list[str]
    series: list[str]
    value: Floats
    low: Floats
    high: Floats
    significant: Floats
    scales: Mapping[str, str]
    _marks_zero: ClassVar[bool] = False

    @classmethod
    def _arrange(
        cls,
        records: Iterable[Mapping[str, Any]],
        row: str,
        series: str,
        names: Sequence[str],
        title: str,
        scales: Mapping[str, str] | None = None,
        note: str = "",
    ) -> Self:
        """Create a display from records.

        Parameters
        ----------
        records : iterable of records
        row, series : str
            The columns with the names of rows and series.
        names : sequence of str
            The columns with the value, its limits and, optionally, its significance.
        title : str
        scales : mapping from name to str, optional
        note : str
        """
        grid = arrange(records, row, series, names)
        row_names, series_names, values = grid
        # The column "series" is made up (see `AgreementDisplay`). Otherwise rows are measures.
        row_noun = "row" if series == "series" else "measure"
        series_noun = series
        if len(series_names) > _MAX_SERIES:
            row_names, series_names = series_names, row_names
            row_noun, series_noun = series_noun, row_noun
            values = values.transpose(0, 2, 1)
        n_undefined = int(np.isnan(values[0]).sum())
        note = join_notes(
            note,
            hidden_note(MAX_ROWS, len(row_names), row_noun),
            hidden_note(_MAX_SERIES, len(series_names), series_noun),
            undefined_note(n_undefined),
        )
        row_names = row_names[:MAX_ROWS]
        series_names = series_names[:_MAX_SERIES]
        value, low, high, *flags = values[:, :MAX_ROWS, :_MAX_SERIES]
        significant = flags[0] if flags else np.ones(value.shape)
        shown_scales = {}
        for name, scale in (scales or {}).items():
            if name in row_names or name in series_names:
                shown_scales[name] = scale
        return cls(
            title=title,
            note=note,
            rows=row_names,
            series=series_names,
            value=value,
            low=low,
            high=high,
            significant=significant,
            scales=shown_scales,
        )

    def _panel_scales(self) -> list[str]:
        """Return the scale of each panel."""
        return list(dict.fromkeys(self.scales.values())) or [""]

    def _panel_heights(self) -> list[float]:
        """Return the height of each panel in rows. Three series need one row."""
        heights = []
        for scale in self._panel_scales():
            n_rows = len(self._select(self.rows, scale))
            heights.append(max(1, len(self.series) / 3) * n_rows)
        return heights

    def _select(self, names: Sequence[str], scale: str) -> list[int]:
        """Return the indices of the rows or series that are in the panel of a scale."""
        indices = []
        for index, name in enumerate(names):
            if self.scales.get(name, scale) == scale:
                indices.append(index)
        return indices

    def _panels(self) -> Panels:
        heights = self._panel_heights()
        return Panels(len(heights), 1, height_ratios=[h + 0.5 for h in heights])

    def _size(self) -> tuple[float, float]:
        heights = self._panel_heights()
        return 6.8, 1 + 0.45 * len(heights) + 0.28 * sum(heights)

    def _draw(self, axes: Sequence[Axes]) -> None:
        for ax, scale in zip(axes, self._panel_scales(), strict=True):
            rows = self._select(self.rows, scale)
            for series in self._select(self.series, scale):
                self._draw_series(ax, rows, series)
            name_rows(ax, [self.rows[row] for row in rows])
            if self._marks_zero:
                ax.axvline(0, color="0.4", linewidth=1)
        draw_legend(axes[0])

    def _draw_series(self, ax: Axes, rows: Sequence[int], series: int) -> None:
        """Draw the values of a series, each in the middle of its share of the row."""
        share = (series + 0.5) / len(self.series)
        y = np.arange(len(rows)) + 0.7 * (share - 0.5)
        color = COLORS[series]
        marker = MARKERS[series]
        ax.hlines(y, self.low[rows, series], self.high[rows, series], color)
        value = self.value[rows, series]
        label = shorten_difference(self.series[series], 32)
        ax.plot(value, y, marker, label=label, color=color, markersize=5.5)
        is_filled = self.significant[rows, series] == 1
        hollow = np.where(is_filled, math.nan, value)
        ax.plot(hollow, y, marker, markerfacecolor="white", color=color, markersize=5.5)


def name_rows(ax: Axes, names: Sequence[Any]) -> None:
    """Write the names of rows next to the y axis, the first at the top."""
    ax.set_yticks(range(len(names)), [shorten_difference(name, 26) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="0.9")


def _scales_of(table: Any) -> dict[str, str]:
    """Return the scale of each measure: empty for values up to 1, or its own."""
    scales = {}
    for score in getattr(table, "scores", ()):
        definition = score.measure.definition
        _, upper_bound = definition.bounds
        scales[score.heading] = "" if upper_bound == 1 else definition.name
    return scales


def _interval_title(records: Records, column: str) -> str:
    """Return the end of a title that names the level of intervals, if there are any."""
    for level in records.column(column):
        if level:
            return f", {level * 100:g}% intervals"
    return ""


class ValuesDisplay(Dots):
    """Values of systems by measure, with intervals if there are any.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures="F1 Recall")
    >>> ValuesDisplay.from_scores(table).value.tolist()
    [[0.5], [0.5]]
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the values of a table of scores, or of the systems of a comparison."""
        table = scores_of(result)
        records = table.to_records()
        systems = table.systems
        title = shorten(systems[0]) if len(systems) == 1 else "values"
        return cls._arrange(
            [record for record in records if record["reason"] is None],
            "heading",
            "system",
            ("value", "ci_low", "ci_high"),
            title=title + _interval_title(records, "ci_level"),
            scales=_scales_of(table),
        )

    from_scores = of


class DifferencesDisplay(Dots):
    """Differences between systems and a baseline, with intervals.

    The marks of significant differences are filled.

    Examples
    --------
    >>> import semmetrics
    >>> gts, old = [["cat"], ["dog"], ["cow"]], [["cat"], ["cow"], ["dog"]]
    >>> comparison = semmetrics.compare({"old": old, "new": gts}, gts, measures="F1", test="t")
    >>> DifferencesDisplay.from_comparison(comparison).value.round(4).tolist()
    [[0.6667]]
    """

    _marks_zero = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the differences in a result of ``compare`` or ``compare_values``."""
        records = records_of(
            result, "differences", "compare", "difference", "significant"
        )
        measure_column = "heading" if "heading" in records.columns else "measure"
        baselines = set(records.column("baseline"))
        series_column = "pair" if len(baselines) > 1 else "system"
        rows = []
        for record in records:
            row = {**record, measure_column: record[measure_column] or "value"}
            if len(baselines) > 1:
                row["pair"] = record["system"] + MINUS + record["baseline"]
            rows.append(row)
        note = ""
        if not all(records.column("significant")):
            note = "hollow: not significant"
        systems = set(records.column("system"))
        title = _title_of_differences(systems, baselines)
        return cls._arrange(
            rows,
            measure_column,
            series_column,
            ("difference", "low", "high", "significant"),
            title=title + _interval_title(records, "level"),
            scales=_scales_of(getattr(result, "scores", None)),
            note=note,
        )

    from_comparison = of


def _title_of_differences(systems: set[str], baselines: set[str]) -> str:
    """Return a title that names the baseline, and the system, if there is only one."""
    if len(baselines) > 1:
        return "differences"
    (baseline,) = baselines
    if len(systems) > 1:
        return f"differences from {shorten(baseline)}"
    (system,) = systems
    return f"{shorten(system)}{MINUS}{shorten(baseline)}"


class AgreementDisplay(Dots):
    """Agreement of measures with people, by statistic and group, with intervals.

    Examples
    --------
    >>> from semmetrics import correlate
    >>> ratings = [("c1", "i1", 4.0), ("c2", "i1", 3.0), ("c2", "i2", 1.0)]
    >>> phi = [("c1", "i1", 0.9), ("c2", "i1", 0.5), ("c2", "i2", 0.1)]
    >>> display = AgreementDisplay.from_agreement(correlate(ratings, {"phi": phi}))
    >>> display.series, display.value.round(2).tolist()
    (['pearson', 'spearman', 'kendall'], [[0.98, 1.0, 1.0]])
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the agreement in a result of ``meta`` or ``correlate``."""
        records = list(records_of(result, "agreement with people", "meta", "group"))
        if "phi" in records[0]:
            records = _statistic_records(records)
        series_columns = []
        for column in ("group", "statistic"):
            if len({record[column] for record in records}) > 1:
                series_columns.append(column)
        title = "agreement with people"
        if "statistic" not in series_columns:
            title += f" ({records[0]['statistic']})"
        rows = []
        for record in records:
            names = [record[column] for column in series_columns or ["statistic"]]
            rows.append({**record, "series": ", ".join(names)})
        return cls._arrange(
            rows, "heading", "series", ("value", "low", "high"), title=title
        )

    from_agreement = of


def _statistic_records(records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a record for each statistic in the records of ``correlate``."""
    rows = []
    for record in records:
        for statistic in _CORRELATIONS:
            row = {
                "heading": record["phi"],
                "group": record["group"],
                "statistic": statistic,
                "value": record[statistic],
                "low": record.get(f"{statistic}_low"),
                "high": record.get(f"{statistic}_high"),
            }
            rows.append(row)
    return rows
