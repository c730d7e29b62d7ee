"""A diagram of mean ranks, as SVG.

Conventions
-----------
The best rank is on the left. A bar joins systems whose mean ranks differ by no more
than the critical difference (Demšar 2006, figure 1). Colours are inherited from the
surrounding text, so that light and dark pages can both show the diagram. Names are
escaped.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from semmetrics.errors import InputError
from semmetrics.messages import pluralize, visible
from semmetrics.reports.figures import rank_lines

# Lengths in SVG units.
_MIN_MARGIN = 180
_MIN_AXIS_WIDTH = 360
_MIN_AXIS_WIDTH_PER_SYSTEM = 40
_MEAN_LETTER_WIDTH = 7.5
_LINE_HEIGHT = 22
_GROUP_HEIGHT = 10
_TITLE_Y = 18
_CRITICAL_DIFFERENCE_Y = 34
_AXIS_Y = 70


@dataclass(frozen=True)
class _Axis:
    """The horizontal axis of ranks.

    Attributes
    ----------
    margin : float
        The position of rank 1, and the width to the right of the last rank.
    width : float
        The width of the diagram.
    step : float
        The distance of two ranks.
    """

    margin: float
    width: float
    step: float

    @classmethod
    def of(cls, names: Sequence[str]) -> _Axis:
        """Return an axis with room for the names of all systems."""
        longest_name = max(map(len, names))
        margin = max(_MIN_MARGIN, 60 + _MEAN_LETTER_WIDTH * longest_name)
        axis_width = max(_MIN_AXIS_WIDTH, _MIN_AXIS_WIDTH_PER_SYSTEM * len(names))
        width = 2 * margin + axis_width
        step = (width - 2 * margin) / (len(names) - 1)
        return cls(margin, width, step)

    def position_of(self, rank: float) -> float:
        """Return the x coordinate of a rank."""
        position_of_rank_0 = self.margin - self.step
        return position_of_rank_0 + rank * self.step


def draw_mean_ranks(
    names: Sequence[str],
    means: Sequence[float],
    apart: float,
    groups: Sequence[Sequence[str]] = (),
    title: str = "",
) -> str:
    """Draw systems on an axis of mean ranks.

    Parameters
    ----------
    names : sequence of str
    means : sequence of float
        Mean ranks, from 1 to the number of systems.
    apart : float
        The critical difference. It is not drawn if it is nan.
    groups : sequence of sequences of str
        Systems whose mean ranks do not differ significantly.
    title : str

    Returns
    -------
    str
        An SVG document.

    Raises
    ------
    InputError
        If there are fewer than two systems, or not one mean rank in the range per
        system.

    Examples
    --------
    >>> svg = draw_mean_ranks(["A", "B"], [1.25, 1.75], 0.7, [["A", "B"]])
    >>> svg.startswith("<svg"), svg.count("<text")
    (True, 5)
    """
    _check_means(names, means)
    order = sorted(range(len(names)), key=means.__getitem__)
    sorted_names = [names[index] for index in order]
    sorted_means = [means[index] for index in order]
    mean_of_system = dict(zip(names, means, strict=True))
    axis = _Axis.of(names)
    first_name_y = _AXIS_Y + 24 + _GROUP_HEIGHT * len(groups)
    height = first_name_y + _LINE_HEIGHT * math.ceil(len(names) / 2)

    elements = []
    if title:
        elements.append(_text(axis.width / 2, _TITLE_Y, title, "middle"))
    elements += _draw_axis(axis, len(names))
    if not math.isnan(apart):
        elements += _draw_critical_difference(axis, apart)
    elements += _draw_groups(axis, groups, mean_of_system)
    elements += _draw_names(axis, sorted_names, sorted_means, first_name_y)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{axis.width:g}" '
        f'height="{height:g}" viewBox="0 0 {axis.width:g} {height:g}" '
        f'font-family="sans-serif" font-size="13" fill="currentColor" '
        f'stroke="none">{"".join(elements)}</svg>\n'
    )


def _check_means(names: Sequence[str], means: Sequence[float]) -> None:
    """Raise an error if these are not the mean ranks of two or more systems."""
    if len(names) < 2:
        raise InputError("too-few-compared", n=len(names))
    if len(means) != len(names):
        values = {
            "found": pluralize(len(means), "mean rank"),
            "wanted": pluralize(len(names), "system"),
        }
        raise InputError("wrong-count", "means", **values)
    for name, mean in zip(names, means, strict=True):
        if not 1 <= mean <= len(names):
            role = f"the mean rank of {name!r}"
            wanted = f"a number from 1 to {len(names)}, the number of systems"
            raise InputError(
                "out-of-range", "means", role=role, value=mean, wanted=wanted
            )


def _draw_axis(axis: _Axis, n_systems: int) -> list[str]:
    """Draw the axis, with a number at each rank."""
    elements = [_line(axis.margin, _AXIS_Y, axis.width - axis.margin, _AXIS_Y)]
    for rank in range(1, n_systems + 1):
        x = axis.position_of(rank)
        elements.append(_line(x, _AXIS_Y - 6, x, _AXIS_Y))
        elements.append(_text(x, _AXIS_Y - 10, str(rank), "middle"))
    return elements


def _draw_critical_difference(axis: _Axis, difference: float) -> list[str]:
    """Draw the critical difference as a bar above the axis."""
    y = _CRITICAL_DIFFERENCE_Y
    start = axis.margin
    stop = axis.margin + difference * axis.step
    return [
        _line(start, y, stop, y),
        _line(start, y - 4, start, y + 4),
        _line(stop, y - 4, stop, y + 4),
        _text(stop + 8, y + 4, f"CD = {difference:.2f}", "start"),
    ]


def _draw_groups(
    axis: _Axis, groups: Sequence[Sequence[str]], mean_of_system: Mapping[str, float]
) -> list[str]:
    """Draw a thick bar below the axis for each group."""
    elements = []
    for number, group in enumerate(groups):
        positions = [axis.position_of(mean_of_system[name]) for name in group]
        y = _AXIS_Y + 12 + _GROUP_HEIGHT * number
        elements.append(_line(min(positions) - 4, y, max(positions) + 4, y, 4))
    return elements


def _draw_names(
    axis: _Axis, names: Sequence[str], means: Sequence[float], first_y: float
) -> list[str]:
    """Draw a line from each mean rank down and out to the name of its system.

    The better half of the systems is named on the left.
    """
    elements = []
    for name, mean, (is_left, line_number) in zip(
        names, means, rank_lines(len(names)), strict=True
    ):
        x = axis.position_of(mean)
        y = first_y + _LINE_HEIGHT * line_number
        if is_left:
            end = axis.margin - 12
            label = _text(end - 4, y + 4, f"{name} {mean:.2f}", "end")
        else:
            end = axis.width - axis.margin + 12
            label = _text(end + 4, y + 4, f"{mean:.2f} {name}", "start")
        elements += [_line(x, _AXIS_Y, x, y), _line(x, y, end, y), label]
    return elements


def _line(x1: float, y1: float, x2: float, y2: float, width: float = 1) -> str:
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="currentColor" '
        f'stroke-width="{width:g}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    shown = escape(visible(text))
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{shown}</text>'
