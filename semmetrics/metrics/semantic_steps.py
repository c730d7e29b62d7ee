"""Which predicted labels mean the same as a reference label: matching on similarities.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have similarity 1 by
their text, whatever their vectors. A term without a vector that takes part (out-of-vocabulary
policy ``skip``) is left out, and a label without any other term with it.

Similarities are computed once for the distinct terms of the task, or of a block or of some of its
items where that table would be too large, and then gathered. A similarity has the same bits in
each of them.
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
from semmetrics.core.similarity import cosine_table
from semmetrics.data.block import Block
from semmetrics.data.labels import Side
from semmetrics.data.task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.matching import Matched, Ranked, Reference

__all__ = [
    "Batch",
    "Laid",
    "Layout",
    "Pairs",
    "SemanticMatched",
    "SemanticMatches",
    "Similar",
    "model_of",
    "written",
]

LabelBlock = Block[LabelTask]
_TABLE = 1 << 25  # cells of a table of similarities that is kept for the whole task
_TENSOR = 1 << 21  # cells of the padded tensor of some items
_LOCAL = 1 << 18  # cells of a table for some items alone, where others would be too large


def model_of(task: LabelTask, name: str) -> Any:
    """The label vectors of that name.

    Raises
    ------
    InputError
        If the task has none.
    """
    if name not in task.models:
        raise InputError(
            f"there is no embedding {name!r}",
            remedy="give embedding= (--embedding NAME|PATH); semmetrics embed list names some",
        )
    return task.models[name]


def written(side: Side) -> Any:
    """Codes of the labels as they were written."""
    return side.codes if side.written is None else side.written


@dataclass(frozen=True, eq=False)
class Pairs:
    """Similarities of distinct predicted labels with distinct reference labels.

    The last row and the last column of a table are -inf and stand for padding.

    Attributes
    ----------
    by_term : float array, shape (terms + 1, reference labels + 1)
        -inf where a term or a label does not take part.
    by_label : float array, shape (predicted labels + 1, reference labels + 1)
        The best over the terms of a label; the same array where every label has one term.
    term_row, label_row, label_column : int arrays
        Row or column for each term, or each label, of the model.
    """

    by_term: Floats
    by_label: Floats
    term_row: Ints
    label_row: Ints
    label_column: Ints

    def gather(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """Similarities of terms or predicted labels with reference labels; -1 is padding.

        Parameters
        ----------
        rows, labels : int arrays, shapes (items, m) and (items, n)
        by_term : bool
            Whether ``rows`` are terms.

        Returns
        -------
        float array, shape (items, m, n)
        """
        table, place = (self.by_term, self.term_row) if by_term else (self.by_label, self.label_row)
        mine, theirs = np.append(place, -1)[rows], np.append(self.label_column, -1)[labels]
        mine[rows < 0], theirs[labels < 0] = len(table) - 1, table.shape[1] - 1
        cells_: Ints = mine[:, :, None] * table.shape[1] + theirs[:, None, :]
        return np.take(table, cells_)


@dataclass(frozen=True)
class Similar:
    """The table of similarities that a block needs; one for the whole task where it fits."""

    model: str = "default"

    def compute(self, block: LabelBlock) -> Pairs | None:
        """The task's table, or the block's; None where both are too large."""
        task, vectors = block.task, model_of(block.task, self.model)
        key = ("similar", self.model)
        if key not in task.shared:
            task.shared[key] = _small_pairs(vectors, task.pred, task.ref)
        pairs: Pairs | None = task.shared[key]
        if pairs is None:
            pairs = _small_pairs(vectors, block.get(Ranked()), block.get(Reference()))
        return pairs


def _small_pairs(vectors: Any, pred: Side, ref: Side) -> Pairs | None:
    size = len(vectors.indptr) - 1
    mine, theirs = (_present(written(side), size) for side in (pred, ref))
    return _pairs(vectors, mine, theirs) if len(mine) * len(theirs) <= _TABLE else None


def _present(codes: Any, size: int) -> Ints:
    """The codes that occur, rising."""
    flags = np.zeros(size, np.bool_)
    flags[codes] = True
    return np.flatnonzero(flags)


def _pairs(vectors: Any, predicted: Ints, referred: Ints) -> Pairs:
    tptr, flat = take_rows(vectors.indptr, predicted)
    terms = _present(vectors.rows[flat], len(vectors.terms))
    by_term = _padded(_similarities(vectors, terms, referred))
    term_row = _places(len(vectors.terms), terms)
    by_label = by_term
    label_row = np.full(len(vectors.indptr) - 1, len(terms))
    if len(flat) == len(predicted):  # every label is one term
        label_row[predicted] = term_row[vectors.rows[flat]]
    else:
        rows = by_term[term_row[vectors.rows[flat]]]
        by_label = np.concatenate([np.maximum.reduceat(rows, tptr[:-1]), by_term[-1:]])
        label_row = _places(len(label_row), predicted)
    label_column = _places(len(label_row), referred)
    return Pairs(by_term, by_label, term_row, label_row, label_column)


def _places(size: int, chosen: Ints) -> Ints:
    """The place of each chosen number; the number of them, which is padding, for the others."""
    places = np.full(size, len(chosen))
    places[chosen] = np.arange(len(chosen))
    return places


def _padded(table: Floats) -> Floats:
    wide = np.full((table.shape[0] + 1, table.shape[1] + 1), -np.inf)
    wide[:-1, :-1] = table
    return wide


def _similarities(vectors: Any, terms: Ints, labels: Ints) -> Floats:
    indptr, flat = take_rows(vectors.indptr, labels)
    columns = vectors.rows[flat]
    table: Floats = cosine_table(vectors.vectors[terms], vectors.vectors[columns])
    place = _places(len(vectors.terms), terms)[columns]
    same = np.flatnonzero(place < len(terms))
    table[place[same], same] = 1.0
    table[:, ~vectors.stands[columns]] = -np.inf
    table[~vectors.stands[terms]] = -np.inf
    if len(columns) == len(labels):
        return table
    best: Floats = np.maximum.reduceat(table, indptr[:-1], axis=1)
    return best


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

    def batches(self, pairs: Pairs | None, *, by_term: bool) -> Iterator[Batch]:
        """Padded tensors of the items that have something on both sides.

        Without a table of pairs, each batch has its own.
        """
        owner, goal = np.flatnonzero(self.pred_kept), np.flatnonzero(self.ref_kept)
        item = row_numbers(self.pred.indptr)[owner]
        codes, column = written(self.pred)[owner], written(self.ref)[goal]
        row, continues = codes, np.zeros(len(codes), np.bool_)
        if by_term:
            tptr, flat = take_rows(self.vectors.indptr, codes)
            spread = row_numbers(tptr)
            owner, item, codes = owner[spread], item[spread], codes[spread]
            row, continues = self.vectors.rows[flat], positions(tptr) > 0
        n = len(self.pred)
        pred_ptr = offsets(np.bincount(item, minlength=n))
        ref_ptr = offsets(np.bincount(row_numbers(self.ref.indptr)[goal], minlength=n))
        for items in _like_sizes(np.diff(pred_ptr), np.diff(ref_ptr), alone=pairs is None):
            mine, theirs = _pad(pred_ptr, items), _pad(ref_ptr, items)
            here = pairs or _pairs(
                self.vectors,
                np.unique(codes[mine[mine >= 0]]),
                np.unique(column[theirs[theirs >= 0]]),
            )
            yield Batch(
                here.gather(_filled(row, mine, -1), _filled(column, theirs, -1), by_term=by_term),
                _filled(owner, mine, -1),
                _filled(goal, theirs, -1),
                _filled(continues, mine, False),
            )


def _filled(values: Any, places: Ints, filling: Any) -> Any:
    """Values at those places; the filling at -1."""
    return np.append(values, filling)[places]


def _like_sizes(rows: Ints, columns: Ints, *, alone: bool = False) -> Iterator[Ints]:
    """Items in groups of similar size, so that little is padding and a tensor stays small.

    ``alone``: so few that a table of their own similarities is small, too.
    """
    both = np.flatnonzero((rows > 0) & (columns > 0))
    order = both[np.lexsort((rows[both], columns[both]))]
    start = 0
    while start < len(order):
        stop = len(order)
        while True:  # halve until the padded tensor fits
            part = order[start:stop]
            size = len(part) * int(rows[part].max()) * int(columns[part].max())
            if len(part) == 1 or (size <= _TENSOR and not (alone and len(part) * size > _LOCAL)):
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
