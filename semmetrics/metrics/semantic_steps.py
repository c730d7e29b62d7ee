"""Which predicted labels mean the same as a reference label: matching on similarities.

Conventions
-----------
Similarities are those of ``metrics.similar``. Items of like size are matched together, in padded
tensors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.assignment import most_pairs
from semmetrics.core.keys import cells, first_occurrences
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    offsets,
    positions,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.data.block import Block
from semmetrics.data.labels import Side
from semmetrics.data.task import LabelTask
from semmetrics.metrics.matching import Matched, Ranked, Reference
from semmetrics.metrics.similar import Similar, Source, model_of, written

__all__ = [
    "Batch",
    "Laid",
    "Layout",
    "SemanticMatched",
    "SemanticMatches",
]

LabelBlock = Block[LabelTask]
_TENSOR = 1 << 21  # cells of the padded tensor of some items


@dataclass(frozen=True, eq=False)
class SemanticMatched(Matched):
    """Matching on similarities; besides what every matching has, who matched whom.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The reference, by its place in the flat list, that a prediction matched; -1 for none.
    similarity : float array, shape (predictions,)
        Of the pair matched; without a match that with the most similar reference that counts.
    first : int array, shape (references,)
        The place of the first prediction that matches a reference; the number of predictions
        where none does.
    """

    partner: Ints
    similarity: Floats
    first: Ints


@dataclass(frozen=True)
class SemanticMatches:
    """Match ranked predictions with references whose similarity is above a threshold.

    Attributes
    ----------
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"greedy", "optimal", "any"}
        "greedy": predictions in their order, the terms of one in theirs, each taking the first
        unused reference in the order of the list (Kubany et al. 2020); "optimal": as many
        matches as any one-to-one matching of the first k predictions has, for every k; "any": a
        reference may serve several predictions.
    count : {"set", "list"}
    model : str
    """

    threshold: float
    match: str = "greedy"
    count: str = "set"
    model: str = "default"

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the block, items of like size together."""
        layout = block.get(Layout(self.count, self.model))
        found = _Found.empty(layout)
        by_term = self.match == "greedy" and layout.split
        for batch in layout.batches(block.get(Similar(self.model)), by_term=by_term):
            taken = _RULES[self.match](batch, self.threshold)
            found.store(layout, batch, taken, self.threshold, shared=self.match == "any")
        return found.matched(layout)


@dataclass(frozen=True, eq=False)
class Batch:
    """Items of like size, padded.

    Attributes
    ----------
    table : float array, shape (items, rows, references)
        Similarities; -inf is padding.
    owner : int array, shape (items, rows)
        The place of the prediction that a row belongs to; -1 for padding.
    goal : int array, shape (items, references)
        The place of the reference of a column; -1 for padding.
    continues : bool array, shape (items, rows)
        Rows that are a further term of the prediction of the row before.
    """

    table: Floats
    owner: Ints
    goal: Ints
    continues: Bools


@dataclass(frozen=True)
class Layout:
    """Which predictions and references of a block take part, and where they stand."""

    count: str
    model: str

    def compute(self, block: LabelBlock) -> Laid:
        """Leave out labels without a vector that takes part, and then repeats (under "set")."""
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
        return len(self.vectors.rows) > len(self.vectors.indptr) - 1

    def batches(self, source: Source, *, by_term: bool) -> Iterator[Batch]:
        """Padded tensors of the items that have something on both sides."""
        owner, goal = np.flatnonzero(self.pred_kept), np.flatnonzero(self.ref_kept)
        item = row_numbers(self.pred.indptr)[owner]
        codes, column = written(self.pred)[owner], written(self.ref)[goal]
        row, continues = codes, np.zeros(len(codes), np.bool_)
        if by_term:
            tptr, flat = take_rows(self.vectors.indptr, codes)
            spread = row_numbers(tptr)
            owner, item = owner[spread], item[spread]
            row, continues = self.vectors.rows[flat], positions(tptr) > 0
        n = len(self.pred)
        pred_ptr = offsets(np.bincount(item, minlength=n))
        ref_ptr = offsets(np.bincount(row_numbers(self.ref.indptr)[goal], minlength=n))
        for items in _like_sizes(np.diff(pred_ptr), np.diff(ref_ptr)):
            mine, theirs = _pad(pred_ptr, items), _pad(ref_ptr, items)
            yield Batch(
                source.gather(_filled(row, mine, -1), _filled(column, theirs, -1), by_term=by_term),
                _filled(owner, mine, -1),
                _filled(goal, theirs, -1),
                _filled(continues, mine, False),
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


@dataclass(frozen=True, eq=False)
class _Found:
    """What has been matched so far, over the flat lists."""

    partner: Ints
    similarity: Floats
    first: Ints

    @staticmethod
    def empty(layout: Laid) -> _Found:
        n_pred, n_ref = len(layout.pred.codes), len(layout.ref.codes)
        return _Found(np.full(n_pred, -1), np.full(n_pred, -np.inf), np.full(n_ref, n_pred))

    def store(
        self, layout: Laid, batch: Batch, taken: Ints, threshold: float, *, shared: bool
    ) -> None:
        """Note the reference column that each row took, and how similar the pairs are."""
        item, row = np.nonzero(taken >= 0)
        column = taken[item, row]
        mine, theirs = batch.owner[item, row], batch.goal[item, column]
        self.partner[mine] = theirs
        real = batch.owner >= 0
        best = batch.table.max(axis=2)
        if batch.continues.any():  # several rows are one prediction
            np.maximum.at(self.similarity, batch.owner[real], best[real])
        else:
            self.similarity[batch.owner[real]] = best[real]
        self.similarity[mine] = batch.table[item, row, column]
        if shared:  # every reference above the threshold is served, by the first that can
            item, row, column = np.nonzero(batch.table > threshold)
            mine, theirs = batch.owner[item, row], batch.goal[item, column]
        np.minimum.at(self.first, theirs, mine)

    def matched(self, layout: Laid) -> SemanticMatched:
        """Everything over the flat lists, and how many references count."""
        kept_all = bool(layout.pred_kept.all())
        return SemanticMatched(
            counted=None if kept_all else layout.pred_kept,
            hit=self.partner >= 0,
            once=layout.ref_kept,
            n_ref=sum_rows(layout.ref_kept, layout.ref.indptr),
            partner=self.partner,
            similarity=self.similarity,
            first=self.first,
        )


def _greedy(batch: Batch, threshold: float) -> Ints:
    above = batch.table > threshold
    n, rows, columns = above.shape
    taken = np.full((n, rows), -1)
    free = np.ones((n, columns), np.bool_)
    matched = np.zeros(n, np.bool_)
    every = np.arange(n)
    for row in range(rows):
        matched &= batch.continues[:, row]
        open_ = above[:, row] & free & ~matched[:, None]
        column = open_.argmax(axis=1)
        found = open_[every, column]
        taken[found, row] = column[found]
        free[every[found], column[found]] = False
        matched |= found
    return taken


def _any(batch: Batch, threshold: float) -> Ints:
    best = batch.table.argmax(axis=2)
    value = np.take_along_axis(batch.table, best[:, :, None], axis=2)[:, :, 0]
    return np.where(value > threshold, best, -1)


def _optimal(batch: Batch, threshold: float) -> Ints:
    taken: Ints = most_pairs(batch.table, threshold)
    return taken


_RULES = {"greedy": _greedy, "optimal": _optimal, "any": _any}
