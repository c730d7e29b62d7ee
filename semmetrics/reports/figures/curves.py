"""Curves: precision and recall, cutoffs, and accuracies on seen and unseen classes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.reports.figures.display import (
    COLORS,
    MARKERS,
    MAX_ROWS,
    Display,
    draw_legend,
)
from semmetrics.reports.figures.figure_text import hidden_note, join_notes, shorten
from semmetrics.reports.figures.result_values import scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from typing_extensions import Self

_LINE_STYLES = ("-", "--", "-.", ":")
_MAX_CURVES = 14
_MAX_CURVES_WITH_LEGEND_INSIDE = 4
_MAX_POINTS_WITH_MARKERS = 20
_MAX_TICKS = 12
_MAX_NAMED_CLASSES = len(COLORS) - 1
_MAX_CLASSES = 10 * MAX_ROWS
_CUTOFF = re.compile(r"(.*)@(\d+)(.*)", re.DOTALL)


def curve_style(place: int) -> tuple[str, str, str]:
    """Return the color, the marker and the line style of a curve.

    The first 14 pairs of marker and line style differ, so that curves also differ
    without color.

    Examples
    --------
    >>> curve_style(0), curve_style(7)
    (('#0072B2', 'o', '-'), ('#0072B2', 'D', '--'))
    """
    cycle, number = divmod(place, len(COLORS))
    marker = MARKERS[(number + 3 * cycle) % len(MARKERS)]
    line_style = _LINE_STYLES[(number + cycle) % len(_LINE_STYLES)]
    return COLORS[number], marker, line_style


@dataclass(eq=False, repr=False)
class Curves(Display):
    """Curves with names.

    Attributes
    ----------
    curves : mapping from name to float array, shape (2 or 4, points)
        x, y and, if there are any, the limits of y. At most 14 curves are drawn.
    chosen : mapping from name to (x, y)
        The points that are marked by a star.
    pale : sequence of float array, shape (2, points)
        Curves without a name.
    axis : (str, str)
        The labels of the x axis and the y axis.
    is_square : bool
        Whether both axes show values in [0, 1].
    is_stepped : bool
        Whether curves are step functions.
    has_integer_x : bool
        Whether x is an integer.
    """

    curves: Mapping[str, Floats]
    chosen: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    pale: Sequence[Floats] = ()
    axis: tuple[str, str] = ("", "")
    is_square: ClassVar[bool] = False
    is_stepped: ClassVar[bool] = False
    has_integer_x: ClassVar[bool] = False

    def __post_init__(self) -> None:
        hidden_curves = hidden_note(_MAX_CURVES, len(self.curves), "curve")
        self.note = join_notes(self.note, hidden_curves)

    @property
    def _has_legend_inside(self) -> bool:
        return len(self.curves) <= _MAX_CURVES_WITH_LEGEND_INSIDE

    def _size(self) -> tuple[float, float]:
        if not self.is_square:
            return 7.2, 4.2
        if self._has_legend_inside:
            return 4.8, 4.4
        return 6.4, 4.4

    def _draw(self, axes: Sequence[Axes]) -> None:
        (ax,) = axes
        for x, y in self.pale:
            ax.plot(x, y, color="0.8", linewidth=0.7)
        for place, name in enumerate(itertools.islice(self.curves, _MAX_CURVES)):
            self._draw_curve(ax, place, name)
        ax.set(xlabel=self.axis[0], ylabel=self.axis[1])
        if self.is_square:
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        if self.has_integer_x:
            _set_integer_ticks(ax, self.curves.values())
        ax.grid(color="0.9")
        if self._has_legend_inside:
            draw_legend(ax, min_entries=1, loc="best", bbox_to_anchor=None)
        else:
            draw_legend(ax, min_entries=1)

    def _draw_curve(self, ax: Axes, place: int, name: str) -> None:
        x, y, *limits = self.curves[name]
        color, marker, line_style = curve_style(place)
        n_points = len(x)
        marked_points: int | tuple[int, int] = 1
        if n_points > _MAX_POINTS_WITH_MARKERS:
            # About 8 points. The first one depends on the curve, so that markers on curves that
            # coincide do not hide each other.
            first_marked_point = n_points * (place + 1) // 100
            marked_points = first_marked_point, max(1, n_points // 8)
        draw_style = "steps-post" if self.is_stepped else None
        ax.plot(
            x,
            y,
            marker,
            color=color,
            markersize=5,
            label=shorten(name, 48),
            markevery=marked_points,
            drawstyle=draw_style,
            linestyle=line_style,
        )
        if limits:
            low, high = limits
            ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0)
        if name in self.chosen:
            chosen_x, chosen_y = self.chosen[name]
            ax.plot(
                chosen_x,
                chosen_y,
                "*",
                color=color,
                markersize=14,
                zorder=3,
                markeredgecolor="black",
            )


def _set_integer_ticks(ax: Axes, curves: Iterable[Floats]) -> None:
    """Put ticks at the integers of x only, or at some of them if there are many."""
    numbers: set[float] = set()
    for curve in curves:
        numbers.update(map(float, curve[0]))
    if len(numbers) <= _MAX_TICKS:
        ax.set_xticks(sorted(numbers))
    else:
        ax.locator_params(axis="x", integer=True)


def read_curves(records: Iterable[Mapping[str, Any]], x: str) -> dict[str, Floats]:
    """Return the curves of records by name. Each has at least two points.

    Parameters
    ----------
    records : iterable of records
        With a "name", a "value" and, optionally, the limits "ci_low" and "ci_high".
    x : str
        The column with the x coordinate.

    Returns
    -------
    dict from name to float array, shape (2 or 4, points)
        4 if there are limits.
    """
    points_by_name: dict[str, list[list[Any]]] = {}
    for record in sorted(records, key=itemgetter(x)):
        columns = (x, "value", "ci_low", "ci_high")
        point = [record.get(column) for column in columns]
        points_by_name.setdefault(record["name"], []).append(point)
    curves: dict[str, Floats] = {}
    for name, points in points_by_name.items():
        if len(points) < 2:
            continue
        curve = np.array(points, np.float64).T
        has_limits = not np.isnan(curve[2:]).all()
        curves[name] = curve if has_limits else curve[:2]
    return curves


def prefix_system(table: Any, record: Mapping[str, Any], name: str) -> str:
    """Put the system before the name of a curve if the table has several systems."""
    if len(table.systems) > 1:
        return f"{record['system']} {name}"
    return name


class PrecisionRecallDisplay(Curves):
    """Precision against recall for each class and on average.

    For several systems only the averages are shown. The average at a recall is the mean
    over classes of the best precision at this or a higher recall, at 101 recalls.

    Examples
    --------
    >>> import semmetrics
    >>> scores, truth = np.array([[0.9, 0.2], [0.6, 0.7], [0.3, 0.1]]), [["cat"], ["dog"], ["cat"]]
    >>> table = semmetrics.score(scores, truth, measures="mAP", classes=["cat", "dog"])
    >>> list(PrecisionRecallDisplay.from_scores(table).curves)
    ['preds, mean (mAP 0.917)', 'cat', 'dog']
    """

    is_square = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the curves of the first measure that ranks items by class, such as mAP."""
        table = scores_of(result)
        lines_by_measure = _precision_recall_lines(table)
        curves: dict[str, Floats] = {}
        for (system, heading), lines in lines_by_measure.items():
            value = table[system, heading].value
            name = f"{system}, mean ({shorten(heading, 14)} {value:.3f})"
            if None in lines:  # all classes are ranked together
                curves[name] = lines[None]
            else:
                curves[name] = _mean_curve(list(lines.values()))
        pale: list[Floats] = []
        if len(lines_by_measure) == 1:
            (lines,) = lines_by_measure.values()
            classes = _most_frequent(lines)
            curves.update(classes[:_MAX_NAMED_CLASSES])
            pale = [line for _, line in classes[_MAX_NAMED_CLASSES:]]
        note = "labelled: the mean and the most frequent classes" if pale else ""
        return cls(
            curves,
            pale=pale,
            axis=("recall", "precision"),
            title="precision and recall",
            note=note,
        )

    from_scores = of


def _precision_recall_lines(
    table: Any,
) -> dict[tuple[str, str], dict[str | None, Floats]]:
    """Return recall and precision by system and measure, then by label."""
    points_by_measure: dict[tuple[str, str], dict[str | None, list[Any]]] = {}
    for record in table.precision_recall():
        measure = record["system"], record["measure"]
        points_by_label = points_by_measure.setdefault(measure, {})
        point = record["recall"], record["precision"]
        points_by_label.setdefault(record["label"], []).append(point)
    lines_by_measure = {}
    for measure, points_by_label in points_by_measure.items():
        lines = {}
        for label, points in points_by_label.items():
            lines[label] = np.array(points).T
        lines_by_measure[measure] = lines
    return lines_by_measure


def _most_frequent(lines: Mapping[str | None, Floats]) -> list[tuple[str, Floats]]:
    """Return the curves of the classes with most items, which have most points."""
    classes = [(label, line) for label, line in lines.items() if label is not None]
    classes.sort(key=_n_points, reverse=True)
    return classes[:_MAX_CLASSES]


def _n_points(curve_of_class: tuple[str, Floats]) -> int:
    _, line = curve_of_class
    _, n_points = line.shape
    return int(n_points)


def _mean_curve(curves: Sequence[Floats]) -> Floats:
    """Average the best precision at 101 recalls, or at a higher recall, over curves.

    The precision of a curve is 0 above its highest recall.
    """
    recalls = np.linspace(0, 1, 101)
    total = np.zeros(101)
    for recall, precision in curves:
        best_precision = np.maximum.accumulate(precision[::-1])[::-1]
        best_precision = np.append(best_precision, 0.0)
        places = np.searchsorted(np.round(recall, 12), np.round(recalls, 12))
        total += best_precision[places]
    return np.stack([recalls, total / len(curves)])


class TopKDisplay(Curves):
    """Values at the cutoffs of measures, such as F1@1, F1@3 and F1@5.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat", "cow"]], [["cow"]], measures="Recall@1 Recall@2")
    >>> TopKDisplay.from_scores(table).curves["Recall"].tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """

    _measures: ClassVar[Sequence[str]] = ()
    """The measures that are shown, all of them required. Empty: any measures."""
    has_integer_x = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the values of a table of scores by their cutoffs."""
        table = scores_of(result)
        rows = []
        measures = set()
        for record in table.to_records():
            cutoff = _CUTOFF.fullmatch(record["heading"])
            measure, *_ = re.split("[@(]", record["measure"])
            if cutoff is None or (cls._measures and measure not in cls._measures):
                continue
            measures.add(measure)
            before, k, after = cutoff.groups()
            name = prefix_system(table, record, before + after)
            rows.append({**record, "name": name, "k": int(k)})
        curves = read_curves(rows, "k")
        if not curves or not measures.issuperset(cls._measures):
            example = "@5 and ".join(cls._measures or ("F1@1 and F1",)) + "@5"
            raise InputError("lacks-measure", what="several cutoffs", example=example)
        return cls(curves, axis=("K", "value at K"))

    from_scores = of


class NCSDisplay(TopKDisplay):
    """NCS and HitRate at their cutoffs (Biten et al. 2022)."""

    _measures = ("NCS", "HitRate")


class SeenUnseenDisplay(Curves):
    """Accuracy on seen against accuracy on unseen classes, with AUSUC and the highest H.

    Examples
    --------
    >>> import semmetrics
    >>> scores, truth = [[0.75, 0.25], [0.75, 0.5]], ["cat", "dog"]
    >>> table = semmetrics.score(scores, truth, measures=["AUSUC"], classes=["cat", "dog"],
    ...                          seen=["cat"], unseen=["dog"])
    >>> list(SeenUnseenDisplay.from_scores(table).curves)
    ['preds: AUSUC 1.000, highest H 1.000']
    """

    is_square = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Show the curve of a table of scores with AUSUC or BestH."""
        table = scores_of(result)
        points_by_system: dict[str, list[list[Any]]] = {}
        for record in table.curve():
            point = [record["unseen"], record["seen"], record["H"]]
            points_by_system.setdefault(record["system"], []).append(point)
        areas = {}
        for record in table.to_records():
            if record["measure"].startswith("AUSUC"):
                areas[record["system"]] = np.float64(record["value"])
        curves = {}
        chosen = {}
        for system, points in points_by_system.items():
            unseen, seen, harmonic = np.array(points, np.float64).T
            best = int(np.argmax(np.nan_to_num(harmonic, nan=-1)))
            name = f"{system}: "
            if system in areas:
                name += f"AUSUC {areas[system]:.3f}, "
            name += f"highest H {harmonic[best]:.3f}"
            curves[name] = np.stack([unseen, seen])
            chosen[name] = unseen[best], seen[best]
        return cls(
            curves,
            chosen=chosen,
            axis=("accuracy on unseen classes", "accuracy on seen classes"),
        )

    from_scores = of
