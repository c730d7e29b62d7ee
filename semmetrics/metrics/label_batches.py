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

from semmetrics.core.ragged import (
    Bools,
    Ints,
    cell_keys,
    first_occurrences,
    offsets,
    positions,
    prefixes,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.data.block import Block
from semmetrics.data.lists import Side
from semmetrics.data.tasks import LabelTask
from semmetrics.metrics.label_similarity import Similarities, label_vectors_of, written_codes
from semmetrics.metrics.matching import Cut, Ranked, Reference

__all__ = ["Batch", "BatchLayout", "Layout"]

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

    def similarities(self, source: Similarities) -> Any:
        """Gather those of rows with columns, shape (items, rows, references); -inf is padding."""
        return source.gather(self.rows, self.columns, by_term=self.continues is not None)

    def above(self, source: Similarities, threshold: float) -> tuple[Any, int]:
        """Decide which of them are above a threshold, and count those close to it."""
        by_term = self.continues is not None
        return source.above(self.rows, self.columns, threshold, by_term=by_term)

    def pairs(self, found: Ints) -> tuple[Ints, Ints]:
        """Return the places of the predictions that have a column, and of their references."""
        item, row = np.nonzero(found >= 0)
        return self.owner[item, row], self.goal[item, found[item, row]]


@dataclass(frozen=True)
class Layout:
    """Which predictions and references of a block take part, and where they stand."""

    duplicates: str
    model: str
    cut: Cut | None = None

    def compute(self, block: Block[LabelTask]) -> BatchLayout:
        """Leave out labels without a vector that takes part, and then repeats (under "once")."""
        if self.cut is not None:
            whole = block.get(Layout(self.duplicates, self.model))
            inside = prefixes(whole.pred.indptr, block.get(self.cut))
            return replace(whole, pred_kept=whole.pred_kept & inside)
        vectors = label_vectors_of(block.task, self.model)
        sides = block.get(Ranked()), block.get(Reference())
        included = np.logical_or.reduceat(vectors.included[vectors.rows], vectors.indptr[:-1])
        kept = [included[written_codes(side)] for side in sides]
        if self.duplicates == "once":
            width = max(1, len(block.task.classes))
            kept = [
                _keep_first(side, flags, width) for side, flags in zip(sides, kept, strict=True)
            ]
        return BatchLayout(sides[0], sides[1], kept[0], kept[1], vectors)


def _keep_first(side: Side, kept: Bools, width: int) -> Bools:
    """Keep the first label of each class of an item."""
    chosen = side if kept.all() else side.keep(kept)
    keys = cell_keys(chosen.indptr, chosen.codes, width)
    first = first_occurrences(keys, len(side) * width)
    if first is None:
        return kept
    flags = np.zeros(len(kept), np.bool_)
    flags[kept] = first
    return flags


@dataclass(frozen=True, eq=False)
class BatchLayout:
    """Both sides of a block, flags of what takes part in them, and the label vectors."""

    pred: Side
    ref: Side
    pred_kept: Bools
    ref_kept: Bools
    vectors: Any

    @property
    def has_synonyms(self) -> bool:
        """Whether a label has several terms."""
        return bool(self.vectors.has_synonyms)

    def batches(self, *, by_term: bool) -> Iterator[Batch]:
        """Yield the items that have something on both sides, those of like size together."""
        owner, goal = np.flatnonzero(self.pred_kept), np.flatnonzero(self.ref_kept)
        row, column = written_codes(self.pred)[owner], written_codes(self.ref)[goal]
        widths = sum_rows(self.pred_kept, self.pred.indptr)
        continues = None
        if by_term:
            tptr, flat = take_rows(self.vectors.indptr, row)
            owner, row = owner[row_numbers(tptr)], self.vectors.rows[flat]
            continues, widths = positions(tptr) > 0, np.diff(tptr[offsets(widths)])
        pred_ptr = offsets(widths)
        ref_ptr = offsets(sum_rows(self.ref_kept, self.ref.indptr))
        for items in _group_like_sizes(np.diff(pred_ptr), np.diff(ref_ptr)):
            mine, theirs = _flat_places(pred_ptr, items), _flat_places(ref_ptr, items)
            yield Batch(
                _take_padded(row, mine, -1),
                _take_padded(column, theirs, -1),
                _take_padded(owner, mine, -1),
                _take_padded(goal, theirs, -1),
                None if continues is None else _take_padded(continues, mine, False),
            )


def _take_padded(values: Any, places: Ints, filling: Any) -> Any:
    """Take the values at those places; the filling at -1."""
    return np.append(values, filling)[places]


def _group_like_sizes(rows: Ints, columns: Ints) -> Iterator[Ints]:
    """Yield items in groups of similar size, so that little is padding and a tensor stays small."""
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


def _flat_places(indptr: Ints, items: Ints) -> Ints:
    """Return flat places of the items' elements, shape (items, longest); -1 is padding."""
    widths = np.diff(indptr)[items]
    place = np.arange(int(widths.max()))
    padded: Ints = np.where(place < widths[:, None], indptr[items][:, None] + place, -1)
    return padded
