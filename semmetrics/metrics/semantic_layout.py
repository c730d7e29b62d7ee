"""Which labels of a block take part in a matching, and their similarities in padded tensors.

Conventions
-----------
Items of like size stand in one tensor, predicted labels (or their terms) along its rows, reference
labels along its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semmetrics.core.keys import cells, first_occurrences
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    offsets,
    positions,
    prefixes,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.metrics.matching import Cut, Ranked, Reference
from semmetrics.metrics.similar import Source, model_of, written

__all__ = ["Batch", "Laid", "Layout"]

_TENSOR = 1 << 21  # cells of the padded tensor of some items


@dataclass(frozen=True, eq=False)
class Batch:
    """Items of like size, padded with -1.

    Attributes
    ----------
    rows : int array, shape (items, rows)
        Predicted labels, or their terms.
    columns : int array, shape (items, references)
        Reference labels.
    owner : int array, shape (items, rows)
        The place of the prediction that a row belongs to.
    goal : int array, shape (items, references)
        The place of the reference of a column.
    continues : bool array, shape (items, rows), or None
        Rows that are a further term of the prediction of the row before; None where rows are
        labels.
    """

    rows: Ints
    columns: Ints
    owner: Ints
    goal: Ints
    continues: Bools | None

    def similarities(self, source: Source) -> Floats:
        """Of rows with columns, shape (items, rows, references); -inf is padding."""
        return source.gather(self.rows, self.columns, by_term=self.continues is not None)

    def above(self, source: Source, threshold: float) -> tuple[Bools, int]:
        """Which of them are above a threshold, and how many are close to it."""
        by_term = self.continues is not None
        return source.above(self.rows, self.columns, threshold, by_term=by_term)

    def pairs(self, found: Ints) -> tuple[Ints, Ints]:
        """Places of the predictions that have a column, and of their references."""
        item, row = np.nonzero(found >= 0)
        return self.owner[item, row], self.goal[item, found[item, row]]


@dataclass(frozen=True)
class Layout:
    """Which predictions and references of a block take part, and where they stand."""

    count: str
    model: str
    cut: Cut | None = None

    def compute(self, block: Block[LabelTask]) -> Laid:
        """Leave out labels without a vector that takes part, and then repeats (under "set")."""
        if self.cut is not None:
            whole = block.get(Layout(self.count, self.model))
            inside = prefixes(whole.pred.indptr, block.get(self.cut))
            return replace(whole, pred_kept=whole.pred_kept & inside)
        vectors = model_of(block.task, self.model)
        sides = block.get(Ranked()), block.get(Reference())
        standing = np.logical_or.reduceat(vectors.stands[vectors.rows], vectors.indptr[:-1])
        kept = [standing[written(side)] for side in sides]
        if self.count == "set":
            width = max(1, len(block.task.classes))
            kept = [_once(side, flags, width) for side, flags in zip(sides, kept, strict=True)]
        return Laid(sides[0], sides[1], kept[0], kept[1], vectors)


def _once(side: Side, kept: Bools, width: int) -> Bools:
    """Of the labels kept, the first of each class of an item."""
    chosen = side if kept.all() else side.keep(kept)
    keys = cells(chosen.indptr, chosen.codes, width)
    first = first_occurrences(keys, len(side) * width)
    if first is None:
        return kept
    flags = np.zeros(len(kept), np.bool_)
    flags[kept] = first
    return flags


@dataclass(frozen=True, eq=False)
class Laid:
    """What a Layout gives: sides, flags of what takes part, and the model's vectors."""

    pred: Side
    ref: Side
    pred_kept: Bools
    ref_kept: Bools
    vectors: Any

    @property
    def split(self) -> bool:
        """Whether a label has several terms."""
        return bool(self.vectors.split)

    def batches(self, *, by_term: bool) -> Iterator[Batch]:
        """The items that have something on both sides, those of like size together."""
        owner, goal = np.flatnonzero(self.pred_kept), np.flatnonzero(self.ref_kept)
        row, column = written(self.pred)[owner], written(self.ref)[goal]
        widths = sum_rows(self.pred_kept, self.pred.indptr)
        continues = None
        if by_term:
            tptr, flat = take_rows(self.vectors.indptr, row)
            owner, row = owner[row_numbers(tptr)], self.vectors.rows[flat]
            continues, widths = positions(tptr) > 0, np.diff(tptr[offsets(widths)])
        pred_ptr = offsets(widths)
        ref_ptr = offsets(sum_rows(self.ref_kept, self.ref.indptr))
        for items in _like_sizes(np.diff(pred_ptr), np.diff(ref_ptr)):
            mine, theirs = _pad(pred_ptr, items), _pad(ref_ptr, items)
            yield Batch(
                _filled(row, mine, -1),
                _filled(column, theirs, -1),
                _filled(owner, mine, -1),
                _filled(goal, theirs, -1),
                None if continues is None else _filled(continues, mine, False),
            )


def _filled(values: Any, places: Ints, filling: Any) -> Any:
    """Values at those places; the filling at -1."""
    return np.append(values, filling)[places]


def _like_sizes(rows: Ints, columns: Ints) -> Iterator[Ints]:
    """Items in groups of similar size, so that little is padding and a tensor stays small."""
    both = np.flatnonzero((rows > 0) & (columns > 0))
    order = both[np.lexsort((rows[both], columns[both]))]
    start = 0
    while start < len(order):
        stop = len(order)
        while True:  # halve until the padded tensor fits
            part = order[start:stop]
            size = len(part) * int(rows[part].max()) * int(columns[part].max())
            if size <= _TENSOR or len(part) == 1:
                break
            stop = start + max(1, len(part) // 2)
        yield part
        start = stop


def _pad(indptr: Ints, items: Ints) -> Ints:
    """Flat places of the items' elements, shape (items, longest); -1 is padding."""
    widths = np.diff(indptr)[items]
    place = np.arange(int(widths.max()))
    padded: Ints = np.where(place < widths[:, None], indptr[items][:, None] + place, -1)
    return padded
