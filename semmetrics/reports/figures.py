"""Figures of results: displays that hold the numbers that they draw.

Conventions
-----------
As in scikit-learn, a display is made by ``from_…(result)``, has its values as attributes, and
``plot(ax=None)`` draws it and sets ``ax_`` and ``figure_``. Without axes it makes a figure of its
own, which no window shows. Colours are those of Okabe and Ito (2008); marks, lines and hatches
differ, too, so that a figure can be read in grey. Texts of input are written as they are, long ones
without their middle. What is too much for a figure is left out, and a line below it says so.

Displays call methods and read records that results have, whatever their class.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import math
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from html import escape
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError, MissingDependencyError, require
from semmetrics.messages import pluralize, visible
from semmetrics.store import files

if TYPE_CHECKING:
    from typing_extensions import Self

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
FORMATS = (".png", ".svg", ".pdf")
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS, _LINES, _HATCHES = (
    "os^DvPX",
    ("-", "--", "-.", ":"),
    ("", "////", r"\\\\\\\\", "xxxx"),
)
_SERIES, _ROWS, _CURVES, _LABELS, _CELLS, _PANELS, _MARKED = 7, 30, 14, 12, 20, 4, 8
_PIXELS_PER_INCH = 100  # of a picture in a notebook
_INSIDE = 4  # curves whose legend stands among them
_LESS = " less "
_POINTS = 2000  # of a scatter, beyond which those that are near each other are one
_AT = re.compile(r"(.*)@(\d+)(.*)", re.DOTALL)
_THRESHOLD = re.compile(r",?(?:decode=(threshold):|(threshold)=)([-+.\de]+|best)")
_METADATA = {
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None},
    ".svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}


class Display:
    """A figure of a result; what it draws are its attributes.

    Attributes
    ----------
    title : str
    note : str
        What is left out; written below the figure.
    ax_ : Axes, or array of Axes
        What was drawn in; set by ``plot``.
    figure_ : Figure
    """

    title, note = "", ""
    ax_: Any = None
    figure_: Any = None
    _size: Any = (6.4, 4.2)
    _grid: Any = (1, 1)

    def __init__(self, **values: Any) -> None:
        vars(self).update(values)

    def __getattr__(
        self, name: str
    ) -> Any:  # for type checkers: attributes are those given
        raise AttributeError(name)

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take from a result what the figure shows; the public ``from_…`` are this.

        Raises
        ------
        InputError
            If the result has no such numbers.
        """
        raise NotImplementedError

    def _draw(self, axes: Sequence[Any]) -> None:
        raise NotImplementedError

    def plot(self, ax: Any = None) -> Self:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; panels divide it. Without it a new figure is made. In a notebook it
            appears below the cell, elsewhere no window opens.

        Returns
        -------
        Display
            Itself, with ``ax_`` and ``figure_``.

        Raises
        ------
        MissingDependencyError
            If matplotlib is not installed.
        """
        if ax is not None:
            self._draw_on(ax)
        else:
            self._draw_figure(_new_figure(self._size))
        return self

    def _draw_figure(self, figure: Any) -> None:
        """Draw on a new figure, with a title."""
        self._draw_on(figure.subplots())
        axes = np.ravel(self.ax_)[0]
        axes.set_title(
            self.title or axes.get_title("left"), loc="left", fontsize="medium"
        )
        _write_dollars(figure)
        # The layout is computed once, so that every drawing of the figure is the same.
        with _any_script():
            figure.draw_without_rendering()
        figure.set_layout_engine("none")

    def _draw_on(self, outer: Any) -> None:
        """Draw in axes, which several panels divide."""
        rows, columns, *ratios = self._grid
        self.figure_, axes = outer.figure, [outer]
        if rows * columns > 1:
            outer.set_axis_off()
            spec = outer.get_subplotspec().subgridspec(rows, columns, **dict(*ratios))
            axes = [
                self.figure_.add_subplot(spec[place]) for place in range(rows * columns)
            ]
        self.ax_ = axes[0] if len(axes) == 1 else np.array(axes, dtype=object)
        self._draw(axes)
        lowest = axes[-1] if rows > 1 else axes[0]
        lowest.set_xlabel(f"{lowest.get_xlabel()}\n{self.note}".strip())
        for one in axes:
            one.spines[["top", "right"]].set_visible(False)
            one.set_axisbelow(True)
            _write_dollars(one)

    def __repr__(self) -> str:
        title = f": {self.title}" if self.title else ""
        return f"<{type(self).__name__}{title}>"

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        """Return the picture that a notebook shows, and its size.

        A figure that pyplot still has open is shown by the notebook itself, at the end of the
        cell, so None is returned for it. It is also returned if matplotlib is not installed.
        """
        try:
            load()
        except MissingDependencyError:
            return None
        if _is_open(self.figure_):
            return None
        picture = render(self, ".png")
        width, height = self.figure_.get_size_inches() * _PIXELS_PER_INCH
        return picture, {"width": round(width), "height": round(height)}


def _new_figure(size: Any) -> Any:
    """Return a new figure, which a notebook shows and closes at the end of the cell."""
    load()
    # Jupyter's kernel sets MPLBACKEND to its inline backend.
    if not os.environ.get("MPLBACKEND", "").endswith("inline"):
        from matplotlib.figure import Figure

        return Figure(size, layout="constrained")
    from matplotlib import pyplot

    return pyplot.figure(figsize=size, layout="constrained")


def _is_open(figure: Any) -> bool:
    """Return whether pyplot has a figure, so that the notebook will show it."""
    number = getattr(figure, "number", None)
    if number is None:
        return False
    from matplotlib import pyplot

    return bool(pyplot.fignum_exists(number))


def _write_dollars(artist: Any) -> None:
    """Write dollars in texts as dollars, not as marks of mathematics."""
    from matplotlib.text import Text

    for text in artist.findobj(Text):
        text.set_parse_math(False)


def load() -> Any:
    """Import matplotlib.

    Raises
    ------
    MissingDependencyError
        If it is not installed.
    """
    return require("matplotlib", "drawing", extra="plots")


@contextmanager
def _any_script() -> Iterator[None]:
    """Say nothing of letters that the font lacks, which are drawn as boxes."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")
        yield


def _short(text: object, most: int = 32) -> str:
    """Return a name that fits a figure.

    Examples
    --------
    >>> _short("a name that goes on and on", 12)
    'a name …d on'
    """
    name, end = visible(str(text)), most // 3
    return name if len(name) <= most else f"{name[: most - end - 1]}…{name[-end:]}"


def _name(text: object, most: int) -> str:
    """Shorten a name, or both of a difference."""
    parts = str(text).split(_LESS)
    return _LESS.join(_short(part, 24 if parts[1:] else most) for part in parts)


def _join(*parts: str) -> str:
    return "; ".join(filter(None, parts))


def _hidden(most: int, every: int, noun: str, which: str = "first") -> str:
    """Say what a figure leaves out."""
    if most >= every:
        return ""
    number = "" if most == 1 else f" {most:,}"
    return f"the {which}{number} of {pluralize(every, noun)}"


def _table(result: Any) -> Any:
    """Return the table of scores of a result: itself, or what was compared."""
    for table in (result, getattr(result, "scores", ())):
        if hasattr(table, "per_label") and len(table):
            return table
    raise InputError("other-result", what="scores", of="score")


def _grid(
    every: Iterable[Mapping[str, Any]], row: str, series: str, *names: str
) -> Any:
    """Return names of rows and series, and columns as (rows, series); nan for no value."""
    found = {(one[row], one[series]): [one[name] for name in names] for one in every}
    rows, columns = (
        list(dict.fromkeys(pair[side] for pair in found)) for side in (0, 1)
    )
    lacking = [math.nan] * len(names)
    cells = [[found.get((one, other), lacking) for other in columns] for one in rows]
    return rows, columns, np.array(cells, np.float64).transpose(2, 0, 1)


def _legend(ax: Any, least: int = 2, **how: Any) -> None:
    """Put a legend beside the axes, where there are so many entries."""
    if len(how.get("handles", ax.get_legend_handles_labels()[1])) >= least:
        ax.legend(
            **{
                "loc": "upper left",
                "bbox_to_anchor": (1.01, 1),
                "frameon": False,
                "fontsize": "small",
                "borderaxespad": 0,
            }
            | how
        )


# ---- values with intervals ------------------------------------------------------------------


class Dots(Display):
    """Values with whiskers: rows of a figure, each with the values of a few series.

    Attributes
    ----------
    rows, series : list of str
        At most 30 and 7; more than seven series are rows, and rows are series.
    value, low, high : float arrays, shape (rows, series)
        nan where undefined; low and high are those of intervals.
    significant : float array, shape (rows, series)
        1 where a mark is filled.
    scales : mapping from name to str
        Rows or series of another scale have a panel of their own.
    """

    @classmethod
    def _of(
        cls,
        every: Iterable[Mapping[str, Any]],
        row: str,
        series: str,
        names: Sequence[str],
        title: str,
        scales: Mapping[str, str] | None = None,
        note: str = "",
    ) -> Self:
        """Arrange records."""
        rows, columns, grids = _grid(every, row, series, *names)
        nouns = ["row", "series"] if series == "series" else ["measure", series]
        if len(columns) > _SERIES:
            rows, columns, grids, nouns = (
                columns,
                rows,
                grids.transpose(0, 2, 1),
                nouns[::-1],
            )
        lacking = int(np.isnan(grids[0]).sum())
        note = _join(
            note,
            _hidden(_ROWS, len(rows), nouns[0]),
            _hidden(_SERIES, len(columns), nouns[1]),
            f"{pluralize(lacking, 'value')} undefined" if lacking else "",
        )
        rows, columns, grids = (
            rows[:_ROWS],
            columns[:_SERIES],
            grids[:, :_ROWS, :_SERIES],
        )
        value, low, high, *significant = grids
        filled = significant[0] if significant else np.ones(value.shape)
        scales = {
            name: scale
            for name, scale in (scales or {}).items()
            if name in rows + columns
        }
        panels = list(dict.fromkeys(scales.values())) or [""]
        sizes = [
            max(1, len(columns) / 3)
            * sum(scales.get(name, one) == one for name in rows)
            for one in panels
        ]
        grid = len(panels), 1, {"height_ratios": [one + 0.5 for one in sizes]}
        return cls(
            rows=rows,
            series=columns,
            value=value,
            low=low,
            high=high,
            significant=filled,
            scales=scales,
            title=title,
            note=note,
            _panels=panels,
            _grid=grid,
            _size=(6.8, 1 + 0.45 * len(panels) + 0.28 * sum(sizes)),
        )

    def _draw(self, axes: Sequence[Any]) -> None:
        for ax, scale in zip(axes, self._panels, strict=True):
            rows, series = (
                [
                    n
                    for n, name in enumerate(names)
                    if self.scales.get(name, scale) == scale
                ]
                for names in (self.rows, self.series)
            )
            for place in series:
                y = np.arange(len(rows)) + 0.7 * (
                    (place + 0.5) / len(self.series) - 0.5
                )
                style = {"color": _COLOURS[place], "markersize": 5.5}
                ax.hlines(
                    y, self.low[rows, place], self.high[rows, place], style["color"]
                )
                value = self.value[rows, place]
                label = _name(self.series[place], 32)
                ax.plot(value, y, _MARKS[place], label=label, **style)
                hollow = np.where(self.significant[rows, place] == 1, math.nan, value)
                ax.plot(hollow, y, _MARKS[place], markerfacecolor="white", **style)
            _name_rows(ax, [self.rows[place] for place in rows])
            if isinstance(self, DifferencesDisplay):
                ax.axvline(0, color="0.4", linewidth=1)
        _legend(axes[0])


def _name_rows(ax: Any, names: Sequence[Any]) -> None:
    """Name rows, the first at the top."""
    ax.set_yticks(range(len(names)), [_name(name, 26) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.grid(axis="x", color="0.9")


def _scales(result: Any) -> dict[str, str]:
    """Return what tells the scale of each measure: that of shares, or its own."""
    measures = {
        one.heading: one.measure.definition for one in getattr(result, "scores", ())
    }
    return {
        name: "" if one.bounds[1] == 1 else one.name for name, one in measures.items()
    }


def _level(records: Any, name: str) -> str:
    level = next(filter(None, records.column(name)), None)
    return f", {level * 100:g}% intervals" if level else ""


class ValuesDisplay(Dots):
    """Values of systems by measures, with their intervals where there are any.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures="F1 Recall")
    >>> ValuesDisplay.from_scores(table).value.tolist()
    [[0.5], [0.5]]
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the values of a table of scores, or of the systems of a comparison."""
        table = _table(result)
        records, systems = table.to_records(), table.systems
        title = _short(systems[0]) if len(systems) == 1 else "values"
        computed = [one for one in records if one["reason"] is None]
        return cls._of(
            computed,
            "heading",
            "system",
            ("value", "ci_low", "ci_high"),
            title + _level(records, "ci_level"),
            _scales(table),
        )

    from_scores = of


class DifferencesDisplay(Dots):
    """Differences of systems from a baseline, with intervals; marks of those that hold are filled.

    Examples
    --------
    >>> import semmetrics
    >>> gts, old = [["cat"], ["dog"], ["cow"]], [["cat"], ["cow"], ["dog"]]
    >>> found = semmetrics.compare({"old": old, "new": gts}, gts, measures="F1", test="t")
    >>> DifferencesDisplay.from_comparison(found).value.round(4).tolist()
    [[0.6667]]
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the differences of what ``compare`` or ``compare_values`` found."""
        records = _records(
            result, "differences", "compare", "difference", "significant"
        )
        row = "heading" if "heading" in records.columns else "measure"
        every = [one | {row: one[row] or "value"} for one in records]
        names, systems = (
            ("difference", "low", "high", "significant"),
            {*records.column("system")},
        )
        if len(baselines := {*records.column("baseline")}) > 1:
            every = [
                one | {"pair": one["system"] + _LESS + one["baseline"]} for one in every
            ]
        less = f"{_short(*systems)} less " if len(systems) == 1 else "differences from "
        title = "differences" if len(baselines) > 1 else f"{less}{_short(*baselines)}"
        title += _level(records, "level")
        note = "" if all(records.column("significant")) else "hollow: not significant"
        return cls._of(
            every,
            row,
            "pair" if len(baselines) > 1 else "system",
            names,
            title,
            _scales(getattr(result, "scores", None)),
            note,
        )

    from_comparison = of


def _records(result: Any, what: str, of: str, *needed: str) -> Any:
    """Return the records of a result that has some columns."""
    found = getattr(result, "to_records", lambda: result)()
    if not (found and {*needed} <= {*getattr(found, "columns", ())}):
        raise InputError("other-result", what=what, of=of)
    return found


class AgreementDisplay(Dots):
    """How well measures agree with people, by statistic and group, with intervals.

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
        """Take the agreement of what ``meta`` or ``correlate`` found."""
        every = list(_records(result, "agreement with people", "meta", "group"))
        if "phi" in every[0]:  # of correlate: a column for each statistic
            every = [
                {
                    "heading": one["phi"],
                    "group": one["group"],
                    "statistic": name,
                    "value": one[name],
                    "low": one.get(f"{name}_low"),
                    "high": one.get(f"{name}_high"),
                }
                for one in every
                for name in ("pearson", "spearman", "kendall")
            ]
        keys = [
            key
            for key in ("group", "statistic")
            if len({one[key] for one in every}) > 1
        ]
        shared = f" ({every[0]['statistic']})" if "statistic" not in keys else ""
        every = [
            one | {"series": ", ".join(one[key] for key in keys or ["statistic"])}
            for one in every
        ]
        return cls._of(
            every,
            "heading",
            "series",
            ("value", "low", "high"),
            f"agreement with people{shared}",
        )

    from_agreement = of


# ---- ranks ----------------------------------------------------------------------------------


def rank_lines(n: int) -> list[tuple[bool, int]]:
    """Return for each of n systems, best first, whether it is named on the left, and its line.

    Examples
    --------
    >>> rank_lines(3)
    [(True, 0), (True, 1), (False, 0)]
    """
    left = math.ceil(n / 2)
    return [
        (place < left, place if place < left else n - 1 - place) for place in range(n)
    ]


def _ranked_values(result: Any) -> str:
    """Return what is ranked: the measure, or the values of a table that does not name one."""
    if result.measure:
        return _short(result.measure)
    return "the values of the table"


class CriticalDifferenceDisplay(Display):
    """Mean ranks of systems, and bars that join those that are not told apart (Demšar 2006).

    Attributes
    ----------
    systems : list of str
        Best first; at most 60.
    means : list of float
    groups : list of tuple of str
    critical_difference : float
        nan where there is none.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {f"set {n}": {"A": 0.9, "B": 0.6, "C": 0.3} for n in range(5)}
    >>> display = CriticalDifferenceDisplay.from_ranking(rank_normalized(values))
    >>> display.means, display.groups
    ([1.0, 2.0, 3.0], [['A', 'B'], ['B', 'C']])
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the mean ranks of what ``rank_systems`` found."""
        if not hasattr(result, "critical_difference") or len(result.ranked) < 2:
            raise InputError(
                "other-result", what="mean ranks of systems", of="rank_systems"
            )
        means = {one.system: one.mean_rank for one in result if not one.lacking}
        systems = sorted(means, key=means.__getitem__)[: 2 * _ROWS]
        known = ([one for one in group if one in systems] for group in result.groups)
        groups = [group for group in known if len(group) > 1]
        by = _ranked_values(result)
        return cls(
            title=f"mean ranks by {by} over {pluralize(len(result.values), 'data set')}",
            systems=systems,
            means=[means[name] for name in systems],
            groups=groups,
            critical_difference=result.critical_difference,
            note=_hidden(2 * _ROWS, len(means), "system", "best"),
            _size=(7.2, 1.6 + 0.13 * (len(systems) + len(groups))),
        )

    from_ranking = of

    def _draw(self, axes: Sequence[Any]) -> None:
        (ax,), where = axes, dict(zip(self.systems, self.means, strict=True))
        most = max(math.ceil(self.means[-1]), 2)
        first, step = 1 + 0.5 * len(self.groups), (most - 1) / 40
        last = first + math.ceil(len(where) / 2)
        for number, group in enumerate(self.groups):
            ends = where[group[0]] - step / 4, where[group[-1]] + step / 4
            ax.plot(ends, [0.6 + 0.5 * number] * 2, color="black", linewidth=3.5)
        for name, (left, line) in zip(
            self.systems, rank_lines(len(where)), strict=True
        ):
            x, y, end = where[name], first + line, 1 - step if left else most + step
            ax.plot([x, x, end], [0, y, y], color="black", linewidth=0.8)
            text = (
                f"{_short(name, 24)}  {x:.2f}"
                if left
                else f"{x:.2f}  {_short(name, 24)}"
            )
            how = "right" if left else "left"
            ax.text(end, y, f" {text} ", ha=how, va="center", fontsize="small")
        if (apart := self.critical_difference) <= most - 1:
            ax.plot([1, 1 + apart], [last + 0.4] * 2, "|-", color=_COLOURS[1])
            text = f"  critical difference {apart:.2f}"
            ax.text(1 + apart, last + 0.4, text, va="center", fontsize="small")
        ax.set(ylim=(last + 1, 0), xlim=(1 - step, most + step))
        ax.xaxis.set_ticks_position("top")
        ax.set(xticks=range(1, most + 1, math.ceil(most / 15)), yticks=[])
        ax.spines[["left", "bottom"]].set_visible(False)
        ax.axhline(0, color="black", linewidth=2)


# ---- heat maps ------------------------------------------------------------------------------


class Heat(Display):
    """Heat maps with the numbers of their cells.

    Attributes
    ----------
    panels : list of (title, rows, columns, values, shades)
        Names of rows and columns, what is written into cells, and what their shades are.
    axis : tuple of str
        What columns and rows are.
    digits : int
        After the point.
    """

    axis, digits = ("", ""), 2

    def __init__(self, panels: list[Any], **values: Any) -> None:
        height, width = np.max([one[3].shape for one in panels], axis=0).tolist()
        cell = 0.52 if max(height, width) <= _CELLS else 0.24
        size = 2.2 + cell * width, (1.7 + 0.62 * cell * height) * len(panels)
        super().__init__(panels=panels, _grid=(len(panels), 1), _size=size, **values)

    def _draw(self, axes: Sequence[Any]) -> None:
        for ax, (title, rows, columns, values, shades) in zip(
            axes, self.panels, strict=True
        ):
            mesh = ax.pcolormesh(
                np.ma.masked_invalid(shades), cmap="Blues", edgecolors="white"
            )
            written = values if max(values.shape) <= _CELLS else np.empty((0, 0))
            for (y, x), value in np.ndenumerate(written):
                text = (
                    "–"
                    if math.isnan(value)
                    else f"{value:,.{self.digits}f}"
                    if value
                    else ""
                )
                dark = mesh.norm(shades[y, x]) > 0.55
                ax.text(
                    x + 0.5,
                    y + 0.5,
                    text,
                    ha="center",
                    va="center",
                    fontsize="x-small",
                    color="white" if dark else "black",
                )
            turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}
            ax.set_xticks(
                np.arange(len(columns)) + 0.5,
                [_short(one, 20) for one in columns],
                **turned if max(map(len, columns)) > 3 else {},
            )
            ax.set_yticks(np.arange(len(rows)) + 0.5, [_short(one, 24) for one in rows])
            ax.invert_yaxis()
            ax.tick_params(length=0, labelsize="small")
            ax.set(xlabel=self.axis[0], ylabel=self.axis[1])
            ax.set_title(_short(title, 48), loc="left", fontsize="medium")


class ConfusionDisplay(Heat):
    """Which label was taken for which: the labels of the largest confusions, exact and by meaning.

    Numbers are counts; shades are shares of all of the true label.

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
        """Count confusions of a system, or the first, by its first measure and first by meaning."""
        table, found = _table(result), dict[bool, Any]()
        of = next(iter(table.systems), None) if system is None else system
        check_choice("system", of, table.systems)
        for place, score in enumerate(table):
            by_meaning = score.measure["match"] is not None
            if score.system == of and by_meaning not in found:
                with suppress(InputError):
                    found[by_meaning] = table[place : place + 1].confusion()
        if not any(found.values()):
            table.confusion()  # which may say why
            raise InputError("other-result", what="labels", of="labels")
        panels: list[Any] = []
        labels = 0
        shown: list[Any] = []  # all panels have the labels of the first
        for by_meaning, records in found.items():
            counts = {(one["true"], one["predicted"]): one["count"] for one in records}
            labels = max(
                labels, len({name for pair in counts for name in pair} - {None})
            )
            shown = shown or _most_confused(counts)
            how = ", by meaning" if by_meaning else ""
            title = f"{records[0]['system']}, {records[0]['measure']}{how}"
            panels.append((title, *_counts_of(counts, shown)))
        note = _join(
            "shades: shares of the true label (row)",
            _hidden(1, 1 if system else len(table.systems), "system"),
            _hidden(_LABELS, labels, "label", "most confused"),
        )
        return cls(panels, axis=("taken for", "true"), digits=0, note=note)

    from_scores = of


def _most_confused(counts: Mapping[tuple[Any, Any], int]) -> list[Any]:
    """Return the labels of the largest confusions."""
    labels: list[Any] = []
    for pair in sorted(counts, key=lambda p: (p[0] == p[1], None in p, -counts[p])):
        new = [
            name
            for name in dict.fromkeys(pair)
            if name is not None and name not in labels
        ]
        if len(labels) + len(new) <= _LABELS:
            labels += new
    return labels


def _counts_of(
    counts: Mapping[tuple[Any, Any], int], labels: Sequence[Any]
) -> tuple[Any, ...]:
    """Return the names of rows and columns, the counts of cells, and shares of the true label."""
    rows, columns = [*labels], [*labels]
    totals: Counter[Any] = Counter()
    for (true, predicted), n in counts.items():
        totals[true] += n
        if true is None and None not in rows:
            rows.append(None)
        if predicted is None and None not in columns:
            columns.append(None)
    values = np.array(
        [[counts.get((one, other), 0) for other in columns] for one in rows]
    )
    shares = values / np.maximum([totals[name] for name in rows], 1)[:, None]
    return _shown(rows), _shown(columns), values.astype(np.float64), shares


def _shown(names: Sequence[Any]) -> list[Any]:
    return ["(nothing)" if name is None else name for name in names]


class RankMatrixDisplay(Heat):
    """How often each system has each rank: in resamples, or over data sets.

    Examples
    --------
    >>> from semmetrics.studies import rank_normalized
    >>> values = {"VOC": {"A": 0.9, "B": 0.6}, "COCO": {"A": 0.8, "B": 0.5}}
    >>> RankMatrixDisplay.from_ranking(rank_normalized(values)).panels[0][3].tolist()
    [[2.0, 0.0], [0.0, 2.0]]
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the rank matrix of what ``rank_systems`` or ``compare`` found."""
        if not hasattr(result, "rank_matrix"):
            raise InputError("other-result", what="ranks", of="compare or rank_systems")
        values, of, by = result.rank_matrix(), "data sets", ""
        systems = list(getattr(result, "ranked", ()))
        if hasattr(values, "column"):
            of, by = "share of resamples", result.scores.headings[0]
            systems = values.column("system")
            values = np.array([[*one.values()][2:] for one in values], np.float64)
        else:
            by = _ranked_values(result)
        if not systems:
            raise InputError(
                "other-result", what="ranks", of="rank_systems with such data sets"
            )
        names, few = systems[:_ROWS], values[:_ROWS, :_ROWS]
        panel = (
            f"{of} at each rank, {by}",
            names,
            [str(n + 1) for n in range(len(names))],
            few,
            few,
        )
        return cls(
            [panel],
            axis=("rank", ""),
            digits=2 * bool((few % 1).any()),
            note=_hidden(_ROWS, len(systems), "system", "best"),
        )

    from_comparison = from_ranking = of


class DominanceDisplay(Heat):
    """The dominance of each system (row) over each other, by each measure.

    Systems are in the order of their global rank; shades are logarithms.
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the dominances of what ``rank_competition`` found."""
        if not hasattr(result, "rankings"):
            raise InputError("other-result", what="dominances", of="rank_competition")
        panels, every = list[Any](), len(result.systems)
        for one in result.rankings[:_PANELS]:
            order = np.argsort(-np.array(one.rank.scores), kind="stable")[:_ROWS]
            names, values = (
                [result.systems[n] for n in order],
                one.dominance[order][:, order],
            )
            shades = np.log2(np.where(values > 0, values, math.nan))
            panels.append((f"dominance, {one.measure}", names, names, values, shades))
        note = _join(
            "shades: logarithms",
            _hidden(_ROWS, every, "system", "best"),
            _hidden(_PANELS, len(result.rankings), "measure"),
        )
        return cls(panels, axis=("over", ""), note=note)

    from_competition = of


# ---- curves ---------------------------------------------------------------------------------


def curve_style(place: int) -> tuple[str, str, str]:
    """Return the colour, the mark and the line of a curve.

    The first fourteen pairs of a mark and a line differ, so that curves differ also in grey.

    Examples
    --------
    >>> curve_style(0), curve_style(7)
    (('#0072B2', 'o', '-'), ('#0072B2', 'D', '--'))
    """
    cycle, number = divmod(place, _SERIES)
    mark = _MARKS[(number + 3 * cycle) % len(_MARKS)]
    line = _LINES[(number + cycle) % len(_LINES)]
    return _COLOURS[number], mark, line


class Curves(Display):
    """Lines of several names.

    Attributes
    ----------
    curves : mapping from name to float array, shape (2 or 4, points)
        x, y, and the limits of y where there are any; 14 are drawn.
    chosen : mapping from name to (x, y)
        The points that are marked.
    pale : list of float array
        Curves without a name.
    axis : tuple of str
        What x and y are.
    """

    chosen: Mapping[str, tuple[float, float]] = {}
    pale: Sequence[Any] = ()
    axis, is_square, is_stepped, is_whole = ("", ""), False, False, False
    _size = (7.2, 4.2)

    def __init__(
        self, curves: Mapping[str, Any], note: str = "", **values: Any
    ) -> None:
        note = _join(note, _hidden(_CURVES, len(curves), "curve"))
        super().__init__(curves=curves, note=note, **values)
        if self.is_square:
            self._size = (4.8 if len(curves) <= _INSIDE else 6.4, 4.4)

    def _draw(self, axes: Sequence[Any]) -> None:
        (ax,) = axes
        for one in self.pale:
            ax.plot(*one, color="0.8", linewidth=0.7)
        for place, (name, one) in enumerate(
            itertools.islice(self.curves.items(), _CURVES)
        ):
            x, y, *limits = one
            colour, mark, line = curve_style(place)
            every = (len(x) * (place + 1) // 100, max(1, len(x) // 8))
            ax.plot(
                x,
                y,
                mark,
                color=colour,
                markersize=5,
                label=_short(name, 48),
                markevery=every if len(x) > _CELLS else 1,
                drawstyle="steps-post" if self.is_stepped else None,
                linestyle=line,
            )
            if limits:
                ax.fill_between(x, *limits, color=colour, alpha=0.15, linewidth=0)
            if name in self.chosen:
                ax.plot(
                    *self.chosen[name],
                    "*",
                    color=colour,
                    markersize=14,
                    zorder=3,
                    markeredgecolor="black",
                )
        ax.set(xlabel=self.axis[0], ylabel=self.axis[1])
        if self.is_square:
            ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
        if self.is_whole:
            _name_whole_numbers(ax, self.curves.values())
        ax.grid(color="0.9")
        inside = (
            {"loc": "best", "bbox_to_anchor": None}
            if len(self.curves) <= _INSIDE
            else {}
        )
        _legend(ax, 1, **inside)


_MAX_TICKS = 12


def _name_whole_numbers(ax: Any, curves: Iterable[Any]) -> None:
    """Put ticks only at the whole numbers that curves have; at some of them if they are many."""
    numbers = sorted({float(x) for curve in curves for x in curve[0]})
    if len(numbers) <= _MAX_TICKS:
        ax.set_xticks(numbers)
    else:
        ax.locator_params(axis="x", integer=True)


def _curves(every: Iterable[Mapping[str, Any]], x: str) -> dict[str, Floats]:
    """Return the curves of records by name, each of at least two points."""
    found: dict[str, list[list[Any]]] = {}
    for one in sorted(every, key=itemgetter(x)):
        point = [one.get(name) for name in (x, "value", "ci_low", "ci_high")]
        found.setdefault(one["name"], []).append(point)
    curves = {
        name: np.array(some, np.float64).T for name, some in found.items() if some[1:]
    }
    return {
        name: one[: 2 if np.isnan(one[2:]).all() else 4] for name, one in curves.items()
    }


class PrecisionRecallDisplay(Curves):
    """Precision over recall of each class, and their mean; of several systems the means.

    The mean is that of the best precision at each recall or a higher one, at 101 recalls.

    Examples
    --------
    >>> import semmetrics
    >>> scores, truth = np.array([[0.9, 0.2], [0.6, 0.7], [0.3, 0.1]]), [["cat"], ["dog"], ["cat"]]
    >>> table = semmetrics.score(scores, truth, measures="mAP", classes=["cat", "dog"])
    >>> list(PrecisionRecallDisplay.from_scores(table).curves)
    ['preds, mean (mAP 0.917)', 'cat', 'dog']
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the curves of the first measure that ranks items by class, such as mAP."""
        table, found, curves, classes = (
            _table(result),
            dict[Any, Any](),
            dict[str, Any](),
            [],
        )
        for one in table.precision_recall():
            points = found.setdefault((one["system"], one["measure"]), {})
            points.setdefault(one["label"], []).append(
                (one["recall"], one["precision"])
            )
        for (system, heading), points in found.items():
            lines = {label: np.array(some).T for label, some in points.items()}
            value = f"{_short(heading, 14)} {table[system, heading].value:.3f}"
            name = f"{system}, mean ({value})"
            curves[name] = (
                lines[None] if None in lines else _mean_curve(list(lines.values()))
            )
            frequent = sorted(lines, key=lambda label: -lines[label].shape[1])
            classes = [(label, lines[label]) for label in frequent if label is not None]
        classes = classes if len(found) == 1 else []
        curves |= classes[: _SERIES - 1]
        pale = [one for _, one in classes[_SERIES - 1 : 10 * _ROWS]]
        note = "named: the mean, and the most frequent classes" if pale else ""
        return cls(
            curves=curves,
            pale=pale,
            axis=("recall", "precision"),
            is_square=True,
            title="precision and recall",
            note=note,
        )

    from_scores = of


def _mean_curve(curves: Sequence[Floats]) -> Floats:
    """Average the best precision at each recall or a higher one; of a recall not reached, 0."""
    points, total = np.linspace(0, 1, 101), np.zeros(101)
    for recall, precision in curves:
        best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
        total += best[np.searchsorted(np.round(recall, 12), np.round(points, 12))]
    return np.stack([points, total / len(curves)])


class ThresholdDisplay(Curves):
    """Values over thresholds, of scores or of similarity.

    A star marks the threshold that was chosen, and of scores the highest value. The highest value
    over thresholds of similarity is not marked: lower thresholds always match more.

    Examples
    --------
    >>> from semmetrics import sweep
    >>> found = sweep([["bike"], ["cat"]], [["bicycle"], ["car"]], thresholds="0.1:0.9:0.4")
    >>> display = ThresholdDisplay.from_sweep(found)
    >>> list(display.curves), display.chosen
    (['SemF1'], {})
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take a sweep, or a table of scores with several thresholds."""
        every, fitted, of, lower = list[Any](), dict[str, Any](), set[str](), set[str]()
        # of a calibration
        if isinstance(curve := getattr(result, "curve", None), Mapping):
            points = curve["threshold"]
            every = [
                {"name": name, "threshold": x, "value": value}
                for name in ("f1", "youden", "accuracy", "own", "other", "contrast")
                for x, value in zip(points, curve.get(name, ()), strict=False)
            ]
            by = "contrast" if "contrast" in curve else result.criterion
            fitted[by] = result.threshold, result.value
        elif hasattr(result, "points"):
            names = {one.system for some in result.scores.values() for one in some}
            every = [
                one | {"name": f"{one['system']} " * (len(names) > 1) + one["measure"]}
                for one in result.to_records()
            ]
        else:
            table = _table(result)
            for score, one in zip(table, table.to_records(), strict=False):
                if option := _THRESHOLD.search(one["measure"]):
                    of_rule = _THRESHOLD.search(one["heading"])
                    name = _THRESHOLD.sub(
                        "", one["heading"] if of_rule else one["measure"]
                    )
                    name = name.replace("(,", "(")
                    name = _of_system(table, one, name.replace("()", ""))
                    point = float(option[3])
                    of.add("scores" if option[1] else "similarity")
                    every.append(one | {"name": name, "threshold": point})
                    lower |= set() if score.measure.higher_is_better else {name}
                    if score.best_threshold is not None:
                        fitted[name] = point, one["value"]
        curves, chosen = {}, {}
        for name, curve in _curves(every, "threshold").items():
            sign, end = (-1, "lowest") if name in lower else (1, "highest")
            values = np.nan_to_num(sign * curve[1], nan=-np.inf)
            point, value = max(zip(curve[0], values, strict=True), key=itemgetter(1, 0))
            if name not in fitted and "scores" not in of:
                # The lower a threshold of similarity, the more labels match: no point is best.
                curves[name] = curve
                continue
            at = fitted.get(name, (float(point), float(sign * value)))
            text = f"{name}: {'chosen' if name in fitted else end} at {at[0]:.3g}"
            curves[text], chosen[text] = curve, at
        if not curves:
            example = "F1 at several of threshold="
            raise InputError(
                "lacks-measure", what="several thresholds", example=example
            )
        axis = f"threshold of {' or '.join(sorted(of or {'similarity'}))}"
        return cls(
            curves=curves,
            chosen=chosen,
            axis=(axis, name if len(curves) == 1 else "value"),
        )

    from_sweep = from_scores = of


def _of_system(table: Any, record: Mapping[str, Any], name: str) -> str:
    return f"{record['system']} {name}" if len(table.systems) > 1 else name


class TopKDisplay(Curves):
    """Values over the cutoffs of measures, such as F1@1, F1@3 and F1@5.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat", "cow"]], [["cow"]], measures="Recall@1 Recall@2")
    >>> TopKDisplay.from_scores(table).curves["Recall"].tolist()
    [[1.0, 2.0], [0.0, 1.0]]
    """

    _measures: ClassVar[Sequence[str]] = ()
    is_whole = True

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the values of a table of scores by their cutoffs."""
        table, every, measures = _table(result), [], set[str]()
        for one in table.to_records():
            cut, name = (
                _AT.fullmatch(one["heading"]),
                re.split("[@(]", one["measure"])[0],
            )
            if cut and name in (cls._measures or [name]):
                measures.add(name)
                name = _of_system(table, one, cut[1] + cut[3])
                every.append(one | {"name": name, "k": int(cut[2])})
        curves = _curves(every, "k")
        if not curves or not {*cls._measures} <= measures:
            example = "@5 and ".join(cls._measures or ("F1@1 and F1",)) + "@5"
            raise InputError("lacks-measure", what="several cutoffs", example=example)
        return cls(curves=curves, axis=("K", "value at K"))

    from_scores = of


class NCSDisplay(TopKDisplay):
    """NCS beside HitRate over their cutoffs (Biten et al. 2022)."""

    _measures = ("NCS", "HitRate")


class SeenUnseenDisplay(Curves):
    """Accuracy on seen over that on unseen classes, with AUSUC and the highest H.

    Examples
    --------
    >>> import semmetrics
    >>> scores, truth = [[0.75, 0.25], [0.75, 0.5]], ["cat", "dog"]
    >>> table = semmetrics.score(scores, truth, measures=["AUSUC"], classes=["cat", "dog"],
    ...                          seen=["cat"], unseen=["dog"])
    >>> list(SeenUnseenDisplay.from_scores(table).curves)
    ['preds: AUSUC 1.000, highest H 1.000']
    """

    @classmethod
    def of(cls, result: Any) -> Self:
        """Take the curve of a table of scores with AUSUC or BestH."""
        table, found, curves, chosen = _table(result), dict[str, Any](), {}, {}
        for one in table.curve():
            found.setdefault(one["system"], []).append(
                [one["unseen"], one["seen"], one["H"]]
            )
        areas = {
            one["system"]: f"AUSUC {np.float64(one['value']):.3f}, "
            for one in table.to_records()
            if one["measure"].startswith("AUSUC")
        }
        for system, points in found.items():
            unseen, seen, harmonic = np.array(points, np.float64).T
            best = int(np.argmax(np.nan_to_num(harmonic, nan=-1)))
            name = f"{system}: {areas.get(system, '')}highest H {harmonic[best]:.3f}"
            curves[name], chosen[name] = (
                np.stack([unseen, seen]),
                (unseen[best], seen[best]),
            )
        return cls(
            curves=curves,
            chosen=chosen,
            is_square=True,
            axis=("accuracy on unseen classes", "accuracy on seen classes"),
        )

    from_scores = of


# ---- labels and items -----------------------------------------------------------------------


def _choose(measure: str | None, known: Iterable[str], table: Any = ()) -> str:
    """Return a measure that is known, by any name that its table has; the first without one."""
    known = list(dict.fromkeys(known))
    if not known:
        raise InputError("other-result", what="values", of="measures that have any")
    if measure is not None and table:
        named = {score.heading for score in table.find(measure)}
        measure = next((one for one in known if one in named), measure)
    check_choice("measure", measure or known[0], known)
    return measure or known[0]


class LabelsDisplay(Display):
    """Bars of the value and the support of each label, the best first.

    Attributes
    ----------
    labels, systems : list of str
        The most frequent labels, by falling value of the first system.
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

    @classmethod
    def of(cls, result: Any, *, measure: str | None = None, most: int = _ROWS) -> Self:
        """Take the values of labels of a measure, by default the first that has them."""
        records = _table(result).per_label()
        heading = _choose(measure, records.column("measure"), _table(result))
        every = (one for one in records if one["measure"] == heading)
        labels, systems, (value, support) = _grid(
            every, "label", "system", "value", "support"
        )
        support, shown = np.nan_to_num(support).max(axis=1), systems
        known = np.flatnonzero(support > 0)  # others are nowhere in the ground truth
        if not len(known):
            raise InputError(
                "other-result", what="labels", of="labels in the ground truth"
            )
        frequent = known[np.argsort(-support[known], kind="stable")[:most]]
        by = value[frequent, 0]
        if len(shown) > _PANELS:
            by = np.median(np.nan_to_num(value[frequent], nan=0.0), axis=1)
        order = frequent[np.argsort(-np.nan_to_num(by, nan=-np.inf), kind="stable")]
        alone = len(support) - len(known)
        elsewhere = f"{pluralize(alone, 'label')} in predictions alone" if alone else ""
        note = _join(_hidden(most, len(known), "label", "most frequent"), elsewhere)
        bars = len(shown) if len(shown) <= _PANELS else 1
        size = (
            6.8 + 1.6 * (len(shown) > 1),
            1.3 + 0.22 * len(order) * max(1, bars / 2.2),
        )
        return cls(
            labels=[labels[n] for n in order.tolist()],
            systems=shown,
            note=note,
            title=f"{_short(_of_one_label(result, heading), 60)} by label",
            value=value[order],
            support=support[order],
            _size=size,
            _grid=(1, 2, {"width_ratios": (3, 1)}),
        )

    from_scores = of

    def _draw(self, axes: Sequence[Any]) -> None:
        y = np.arange(len(self.labels))
        if len(self.systems) > _PANELS:
            self._draw_range(axes[0], y)
        else:
            self._draw_bars(axes[0], y)
        axes[1].barh(y, self.support, 0.8, color="0.55")
        for ax, name in zip(axes, ("value", "support"), strict=True):
            _name_rows(ax, self.labels)
            ax.set_xlabel(name)
        axes[1].tick_params(labelleft=False)
        axes[1].locator_params(axis="x", nbins=3)
        if len(self.systems) > _PANELS:
            _legend(axes[1], handles=axes[0].get_legend_handles_labels()[0])
        elif len(self.systems) > 1:
            _legend(axes[1], handles=axes[0].containers)

    def _draw_bars(self, ax: Any, y: Ints) -> None:
        """Draw a bar for each label and system."""
        thick = 0.8 / len(self.systems)
        for place, system in enumerate(self.systems):
            ax.barh(
                y - 0.4 + thick * (place + 0.5),
                self.value[:, place],
                thick,
                color=_COLOURS[place],
                hatch=_HATCHES[place],
                edgecolor="white",
                label=_short(system),
            )

    def _draw_range(self, ax: Any, y: Ints) -> None:
        """Draw the values of many systems as ticks, with a dot at the median."""
        for place in range(len(self.systems)):
            label = f"each of {len(self.systems)} systems" if place == 0 else None
            ax.plot(
                self.value[:, place], y, "|", color="0.55", markersize=9, label=label
            )
        known = [row[~np.isnan(row)] for row in self.value]
        median = [float(np.median(row)) if len(row) else math.nan for row in known]
        ax.plot(median, y, _MARKS[0], color=_COLOURS[0], markersize=5, label="median")


def _of_one_label(result: Any, heading: str) -> str:
    """Return what the value of one label is: of MacroF1 it is F1."""
    measure = _table(result).find(heading)[0].measure
    cutoff = "" if measure.k is None else f"@{measure.k}"
    return f"{measure.definition.name}{cutoff}"


def _item_values(
    result: Any, measure: str | None
) -> tuple[str, list[Any], list[str], Floats]:
    """Return a heading, the ids, the systems, and values of items, shape (items, systems)."""
    records = _table(result).per_item()
    heading = _choose(
        measure, records.drop("id", "system", "part").columns, _table(result)
    )
    part = _table(result).find(heading)[0].part
    every = (
        {"key": (part, one["id"]), **one}
        for one in records
        if one.get("part", part) == part
    )
    keys, systems, (values,) = _grid(every, "key", "system", heading)
    return heading, [id for _, id in keys], systems, values


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
        """Take the values of items of a measure, by default the first that has them."""
        heading, _, systems, values = _item_values(result, measure)
        table, curves, lacking = _table(result), {}, int(np.isnan(values).sum())
        for system, column in zip(systems, values.T, strict=True):
            known = column[~np.isnan(column)]
            x, counts = np.unique(known, return_counts=True)
            share = np.append(0, np.cumsum(counts) / max(1, len(known)))
            if len(x):
                name = f"{system}: {table[system, heading].value:.3f}"
                curves[name] = np.stack([np.append(x[0], x), share])
        return cls(
            curves=curves,
            axis=(_short(heading), "share of items up to"),
            note=f"{pluralize(lacking, 'value')} undefined" if lacking else "",
        )

    from_scores = of


class SystemPairDisplay(Display):
    """Values of items of one system over those of another; the most different have numbers.

    Attributes
    ----------
    systems : list of str
        On x and on y.
    ids : list
    x, y : float arrays, shape (items,)
        Of the items that have a value in both.
    marked : list of int
        Places of the items that differ most.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"A": [["cat"], ["dog"]], "B": [["cat"], ["cow"]]}
    >>> table = semmetrics.score_systems(systems, [["cat"], ["dog"]], measures=["F1"])
    >>> display = SystemPairDisplay.from_scores(table)
    >>> display.systems, display.x.tolist(), display.y.tolist(), display.marked
    (['A', 'B'], [1.0, 1.0], [1.0, 0.0], [1])
    """

    _size = (7.2, 4.6)

    @classmethod
    def of(
        cls,
        result: Any,
        *,
        systems: Sequence[str] | None = None,
        measure: str | None = None,
    ) -> Self:
        """Take the values of items of two systems, by default the first two."""
        heading, ids, known, values = _item_values(result, measure)
        if len(known) < 2:
            raise InputError("other-result", what="second system", of="two systems")
        for name in systems or ():
            check_choice("systems", name, known)
        pair = [known.index(name) for name in systems or known[:2]]
        both = np.flatnonzero(~np.isnan(values[:, pair]).any(axis=1))
        x, y = values[both][:, pair].T
        gaps, lacking = np.abs(y - x), len(values) - len(both)
        marked = [
            n for n in np.argsort(-gaps, kind="stable")[:_MARKED].tolist() if gaps[n]
        ]
        above, on, below = (
            f"{int((np.sign(y - x) == sign).sum()):,}" for sign in (1, 0, -1)
        )
        note = _join(
            "larger: more items" if len({*zip(x, y, strict=True)}) < len(x) else "",
            _hidden(2, 2 if systems else len(known), "system"),
        )
        note = _join(
            note, f"{pluralize(lacking, 'item')} without a value" if lacking else ""
        )
        title = f"{_short(heading)}: {above} above, {on} on and {below} below the line"
        return cls(
            title=title,
            systems=[known[place] for place in pair],
            x=x,
            y=y,
            marked=marked,
            ids=[ids[place] for place in both.tolist()],
            note=note,
        )

    from_scores = of

    def _draw(self, axes: Sequence[Any]) -> None:
        (ax,), every = axes, np.stack([self.x, self.y], axis=1)
        points, counts = np.unique(every, axis=0, return_counts=True)
        if len(points) > _POINTS:
            step = np.ptp(points, axis=0).max() / 60
            points, counts = np.unique(
                np.round(every / step) * step, axis=0, return_counts=True
            )
        size = 20 + 200 * np.sqrt((counts - 1) / counts.max(initial=1))
        ax.scatter(*points.T, s=size, color=_COLOURS[0], alpha=0.45, linewidth=0)
        ax.axline((0, 0), slope=1, color="0.5", linestyle="--", linewidth=1)
        at: dict[Any, list[str]] = {}
        for number, place in enumerate(self.marked, 1):
            x, y = every[place].tolist()
            at.setdefault((x, y), []).append(str(number))
            ax.plot(
                [],
                [],
                " ",
                label=f"{number}  {_short(self.ids[place])}: {x:.2f}, {y:.2f}",
            )
        for point, numbers in at.items():
            ax.annotate(
                ", ".join(numbers),
                point,
                (6, 6),
                textcoords="offset points",
                fontsize="small",
                fontweight="bold",
            )
        ax.set(xlabel=_short(self.systems[0]), ylabel=_short(self.systems[1]))
        ax.grid(color="0.9")
        if at:
            _legend(ax, 1, title="most different", handlelength=0)


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
"""The figures by the names that ``--plot`` takes; the first that suits a result suits it best."""


def suiting(result: Any) -> Iterator[tuple[str, Display]]:
    """Yield the figures of a result behind their names, the most suitable first."""
    for name, kind in FIGURES.items():
        with suppress(InputError):
            yield name, kind.of(result)


def suitable(result: Any) -> list[str]:
    """Return the names of the figures of a result, the most suitable first.

    Examples
    --------
    >>> import semmetrics
    >>> suitable(semmetrics.score([["cat"]], [["cat", "dog"]], measures=["Recall"]))
    ['values', 'items', 'confusion']
    """
    return [name for name, _ in suiting(result)]


def choose(result: Any, name: str = "") -> Display:
    """Return a figure of a result by its name; without one the most suitable.

    Raises
    ------
    InputError
        If it does not suit the result; lists those that do.
    """
    if name:
        check_choice("plot", name, FIGURES)
    try:
        return FIGURES[name].of(result) if name else next(suiting(result))[1]
    except StopIteration:
        raise InputError(
            "other-result", what="numbers of a figure", of="another"
        ) from None
    except InputError as error:
        known = ", ".join(suitable(result))
        raise InputError(
            "no-figure",
            name=name,
            why=error.problem,
            fix=error.remedy,
            known=known or "no figure",
        ) from error


def render(display: Display, form: str) -> bytes:
    """Return a figure as ".png", ".svg" or ".pdf", always the same bytes; drawn if it was not."""
    if form not in FORMATS:
        raise InputError("wrong-ending", form, known=FORMATS)
    if display.figure_ is None:
        load()
        from matplotlib.figure import Figure

        display._draw_figure(Figure(display._size, layout="constrained"))
    figure = display.figure_
    out, fixed = (
        io.BytesIO(),
        dict[Any, Any]({"svg.fonttype": "none", "svg.hashsalt": "figure"}),
    )
    with load().rc_context(fixed), _any_script():
        figure.savefig(out, format=form[1:], dpi=150, metadata=_METADATA[form])
    return out.getvalue()


def save(display: Display, path: Any) -> None:
    """Write a figure to a file that ends in .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the ending is another one, or the file cannot be written.
    """
    content = render(display, "." + str(path).lower().rpartition(".")[2])
    with files.open_output(path, binary=True) as out:
        out.write(content)


def svg_text(display: Display) -> str:
    """Return a figure as an SVG element for a page of HTML.

    It has no prolog and no date, its texts are texts, and its ids are those of no other figure.
    """
    text = render(display, ".svg").decode()
    text = text[text.index("<svg") :]
    mark = hashlib.sha256(text.encode()).hexdigest()[:10]
    for tag in {*re.findall(r"<[^>]+>", text)}:  # texts of input stay
        text = text.replace(
            tag, re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>f{mark}-", tag)
        )
    title = np.ravel(display.ax_)[0].get_title(loc="left")
    title = title or type(display).__name__.removesuffix("Display")
    style = re.search(r"<style.*?\*\{(.*?)\}</style>", text)
    if style:  # which would be that of the whole page
        text = text.replace(style[0], "").replace("<svg", f'<svg style="{style[1]}"', 1)
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
