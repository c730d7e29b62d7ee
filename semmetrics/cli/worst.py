"""The items of --worst: those with the worst values, with what was predicted and what is true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semmetrics.cli.rows import item_headings
from semmetrics.data.block import Block
from semmetrics.data.caption_task import CaptionTask
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import cut_of
from semmetrics.metrics.matching import Ranked, Reference
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.score import Score
from semmetrics.scoring.statistics import Task

__all__ = ["worst_text"]

_MOST = 20  # labels of a list that are shown
_LONGEST = 500  # letters of a caption that are shown
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))} | {9: " "}


def worst_text(table: ScoreTable, number: int, *, digits: int = 4, scale: float = 1.0) -> str:
    """The worst items of each system by the first measure that has item values.

    Items without a value are left out; of equal ones those that come first are taken.

    Raises
    ------
    InputError
        If no measure has item values.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"], ["cow"]], [["cat"], ["dog"]], measures=["F1"])
    >>> print(worst_text(table, 1))
    lowest F1
      0.0000  1
        predicted  cow
        true       dog
    """
    heading = item_headings(table, "--worst")[0]
    several = len(table.systems) > 1
    parts = []
    for system in table.systems:
        score = table[system, heading]
        worst = "lowest" if score.measure.definition.higher_is_better else "highest"
        lines = [f"{worst} {heading}{f' of {system}' if several else ''}"]
        rows = _worst(score, number)
        lines += _shown(score, table.tasks[system], rows, digits, scale)
        parts.append("\n".join(lines if len(rows) else [*lines, "  no item has a value"]))
    return "\n\n".join(parts)


def _worst(score: Score, number: int) -> Any:
    """Places of the items, the worst first."""
    values = np.full(score.n, np.nan) if score.items is None else score.items
    signed = values if score.measure.definition.higher_is_better else -values
    order = np.argsort(signed, kind="stable")  # nan last
    return order[: min(number, int((~np.isnan(values)).sum()))]


def _shown(score: Score, task: Task, rows: Any, digits: int, scale: float) -> list[str]:
    if max(map(abs, score.measure.definition.bounds)) > 1:
        scale = 1.0
    values = np.zeros(0) if score.items is None else score.items[rows] * scale
    chosen = task.take(rows)
    lines = _captions(chosen) if isinstance(chosen, CaptionTask) else _labels(score, chosen)
    heads = [
        f"  {value:.{digits}f}  {_line(str(name))}"
        for value, name in zip(values, chosen.ids, strict=True)
    ]
    return [line for head, rest in zip(heads, lines, strict=True) for line in (head, *rest)]


def _captions(task: CaptionTask) -> list[list[str]]:
    """The candidate and the references of each item."""
    indptr, references = task.pairs(0, len(task))
    return [
        [f"    caption    {_cut(task.texts[candidate])}"]
        + [f"    reference  {_cut(task.texts[code])}" for code in references[start:stop].tolist()]
        for candidate, start, stop in zip(
            task.candidates.tolist(), indptr[:-1].tolist(), indptr[1:].tolist(), strict=True
        )
    ]


def _labels(score: Score, task: LabelTask) -> list[list[str]]:
    """The labels of each item on both sides."""
    lines = []
    for block in task.blocks():
        pred, ref = block.get(Ranked()), block.get(Reference())
        kept = _kept(score.measure, block, pred)
        for item in range(len(block)):
            first = int(pred.indptr[item])
            true = ref.codes[ref.indptr[item] : ref.indptr[item + 1]]
            lines.append(
                [
                    f"    predicted  {_listed(task, pred.codes[first : first + int(kept[item])])}",
                    f"    true       {_listed(task, true)}",
                ]
            )
    return lines


def _kept(measure: Measure, block: Block[LabelTask], pred: Side) -> Any:
    """How many predictions of each item the measure keeps; all, for one that has no rule."""
    if measure["decode"] is not None:
        return block.get(cut_of(measure))
    sizes = np.diff(pred.indptr)
    return sizes if measure.k is None else np.minimum(sizes, measure.k)


def _listed(task: LabelTask, codes: Any) -> str:
    names: Sequence[str] = [_line(task.classes[code]) for code in codes[:_MOST].tolist()]
    more = f" and {len(codes) - _MOST:,} more" if len(codes) > _MOST else ""
    return ", ".join(names) + more if names else "nothing"


def _cut(text: str) -> str:
    line = _line(text[: 2 * _LONGEST])
    more = len(text) - _LONGEST
    return f"{line[:_LONGEST]} ... and {more:,} more letters" if more > 0 else line


def _line(text: str) -> str:
    """The text on one line; what would command a terminal is written out."""
    return " ".join(text.splitlines()).translate(_CONTROLS)
