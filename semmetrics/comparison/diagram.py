"""The diagram of mean ranks with a critical difference, as SVG.

Conventions
-----------
The best rank is on the left. A bar joins systems that the critical difference does not tell apart
(Demšar 2006, figure 1). Colours are those of the text around it, so that light and dark pages can
both show it; names are escaped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

from semmetrics.arguments import checked
from semmetrics.errors import InputError
from semmetrics.messages import pluralize, visible

__all__ = ["draw_mean_ranks"]

_WIDTH, _MARGIN, _LINE, _AXIS = 720, 180, 22, 70
_LETTER = 7.5  # of the width of a letter, about


@checked
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
        The critical difference; not drawn where it is nan.
    groups : sequence of sequences of str
        Systems that are not told apart.
    title : str

    Returns
    -------
    str
        An SVG document.

    Raises
    ------
    InputError
        If there are fewer than two systems, or other numbers of names and ranks.

    Examples
    --------
    >>> text = draw_mean_ranks(["A", "B"], [1.25, 1.75], 0.7, [["A", "B"]])
    >>> text.startswith("<svg"), text.count("<text")
    (True, 5)
    """
    if len(names) < 2 or len(names) != len(means):
        drawn, several = pluralize(len(names), "system"), pluralize(len(means), "mean rank")
        raise InputError(
            f"{drawn} with {several} to draw",
            remedy="give a mean rank for each of at least two systems",
        )
    order = sorted(range(len(names)), key=lambda place: means[place])
    where = dict(zip(names, means, strict=True))
    margin = max(_MARGIN, 60 + _LETTER * max(map(len, names)))
    scale = _Scale(len(names), margin)
    first = _AXIS + 24 + 10 * len(groups)
    left = math.ceil(len(order) / 2)
    parts = [_text(scale.width / 2, 18, title, "middle")] if title else []
    parts += [*_axis(scale, len(names)), *_critical(scale, apart)]
    for number, group in enumerate(groups):
        ranks = [where[name] for name in group]
        y = _AXIS + 12 + 10 * number
        parts.append(_line(scale(min(ranks)) - 4, y, scale(max(ranks)) + 4, y, 4))
    for number, place in enumerate(order):
        is_left = number < left
        row = number if is_left else len(order) - 1 - number
        parts += _leader(scale, names[place], means[place], first + _LINE * row, is_left)
    height = first + _LINE * left
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{scale.width:g}" height="{height:g}" '
        f'viewBox="0 0 {scale.width:g} {height:g}" font-family="sans-serif" font-size="13" '
        f'fill="currentColor" stroke="none">{"".join(parts)}</svg>\n'
    )


class _Scale:
    """From a rank to its place on the axis."""

    def __init__(self, systems: int, margin: float) -> None:
        self.margin, self.width = margin, 2 * margin + max(_WIDTH - 2 * _MARGIN, 40 * systems)
        self.step = (self.width - 2 * margin) / (systems - 1)

    def __call__(self, rank: float) -> float:
        return self.margin + (rank - 1) * self.step


def _axis(scale: _Scale, systems: int) -> list[str]:
    parts = [_line(scale(1), _AXIS, scale(systems), _AXIS)]
    for rank in range(1, systems + 1):
        parts += [_line(scale(rank), _AXIS - 6, scale(rank), _AXIS),
                  _text(scale(rank), _AXIS - 10, str(rank), "middle")]  # fmt: skip
    return parts


def _critical(scale: _Scale, apart: float) -> list[str]:
    if math.isnan(apart):
        return []
    y, start, stop = 34, scale(1), scale(1) + apart * scale.step
    ends = [_line(x, y - 4, x, y + 4) for x in (start, stop)]
    return [_line(start, y, stop, y), *ends, _text(stop + 8, y + 4, f"CD = {apart:.2f}", "start")]


def _leader(scale: _Scale, name: str, mean: float, y: float, is_left: bool) -> list[str]:
    """A line from a system's mean rank down and out to its name."""
    x, end = scale(mean), scale.margin - 12 if is_left else scale.width - scale.margin + 12
    text = f"{name} {mean:.2f}" if is_left else f"{mean:.2f} {name}"
    out = end - 4 if is_left else end + 4
    return [_line(x, _AXIS, x, y), _line(x, y, end, y),
            _text(out, y + 4, text, "end" if is_left else "start")]  # fmt: skip


def _line(x1: float, y1: float, x2: float, y2: float, width: float = 1) -> str:
    return (f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" stroke="currentColor" '
            f'stroke-width="{width:g}"/>')  # fmt: skip


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(visible(text))}</text>'
