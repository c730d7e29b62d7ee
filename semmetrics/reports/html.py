"""Scores and records as notebooks show them: HTML without styles of its own, scripts or links.

Conventions
-----------
Colours are those of the notebook, so that light and dark ones are both readable. Everything that a
user or a file named is escaped. The best values of a row are bold where there are several systems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from semmetrics.messages import pluralize

__all__ = ["write_curves", "write_records", "write_table"]

_LEFT, _RIGHT = ' style="text-align: left"', ' style="text-align: right"'


def write_table(
    scores: Sequence[Any],
    lines: Sequence[str] = (),
    undefined: Sequence[Mapping[str, Any]] = (),
    differences: Sequence[str] = (),
) -> str:
    """Write measures as rows and systems as columns, then lines.

    Folded below stand what is undefined, differences from a signature, and the signatures.
    """
    place = {(score.system, score.heading): score for score in scores}
    systems = dict.fromkeys(score.system for score in scores)
    rows = []
    for heading in dict.fromkeys(score.heading for score in scores):
        row = [place.get((system, heading)) for system in systems]
        best = _best(row)
        cells = (_cell(one, bold=any(one is score for score in best)) for one in row)
        rows.append([escape(heading), *cells])
    head = ["measure", *map(escape, systems)]
    below = [_list(lines)]
    if undefined:
        causes = [[escape(_text(value)) for value in record.values()] for record in undefined]
        below.append(_fold("undefined", _draw(list(map(escape, undefined[0])), causes, _LEFT)))
    if differences:
        below.append(_fold("differences", _list(differences)))
    below.append(_fold("signatures", _signatures(scores)))
    return f"<div>{_draw(head, rows)}{''.join(below)}</div>"


def _list(lines: Sequence[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>" if lines else ""


def write_records(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], hidden: int) -> str:
    """Write records as rows, and how many more there are."""
    cells = [[escape(_text(value)) for value in row.values()] for row in rows]
    more = f"<p>… and {pluralize(hidden, 'row')} more</p>" if hidden else ""
    return f"<div>{_draw(list(map(escape, columns)), cells, _LEFT)}{more}</div>"


def write_curves(
    points: Sequence[float],
    values: Mapping[str, Sequence[float]],
    best: Mapping[str, tuple[float, float] | None],
) -> str:
    """Write the threshold and value that is best of each measure and, folded, all of them."""
    highest = [
        [escape(name), *(("", "undefined") if one is None else (f"{one[0]:g}", _number(one[1])))]
        for name, one in best.items()
    ]
    rows = [
        [f"{point:g}", *(_number(column[place]) for column in values.values())]
        for place, point in enumerate(points)
    ]
    every = _draw(["threshold", *map(escape, values)], rows)
    top = _draw(["measure", "threshold", "highest value"], highest)
    return f"<div>{top}{_fold(pluralize(len(rows), 'threshold'), every)}</div>"


def _best(row: Sequence[Any]) -> list[Any]:
    """The scores of a row with its best value; none where one system alone has a value."""
    known = [score for score in row if score is not None and math.isfinite(score.value)]
    if len(known) < 2:
        return []
    choose = max if known[0].measure.definition.higher_is_better else min
    value = choose(score.value for score in known)
    return [score for score in known if score.value == value]


def _cell(score: Any, *, bold: bool = False) -> str:
    if score is None:
        return ""
    value = _number(score.value)
    text = f"<strong>{value}</strong>" if bold else value
    if score.ci is None:
        return text
    return f"{text} <small>[{_number(score.ci.low)}, {_number(score.ci.high)}]</small>"


def _number(value: float) -> str:
    return f"{value:.4f}" if math.isfinite(value) else str(value)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return _number(value)
    return "" if value is None else str(value)


def _signatures(scores: Iterable[Any]) -> str:
    rows = [[escape(one.system), escape(one.heading), f"<code>{escape(one.signature)}</code>"]
            for one in scores]  # fmt: skip
    return _draw(["system", "measure", "signature"], rows, _LEFT)


def _draw(head: Sequence[str], rows: Iterable[Sequence[str]], align: str = _RIGHT) -> str:
    """Draw cells that are escaped; the first of a row is its head."""
    top = "".join(f'<th scope="col"{align if place else _LEFT}>{one}</th>'
                  for place, one in enumerate(head))  # fmt: skip
    body = "".join(
        f'<tr><th scope="row"{_LEFT}>{first}</th>'
        + "".join(f"<td{align}>{cell}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _fold(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"
