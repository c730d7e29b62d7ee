"""Which predicted labels mean the same as a reference label: matching on similarities.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have similarity 1 by
their text, whatever their vectors. A term without a vector that takes part (out-of-vocabulary
policy ``skip``) is left out, and a label without any other term with it.

Similarities are computed once for the distinct terms of the task, or of a block where that table
would be too large, and then gathered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from semmetrics.metrics.matching import Matched, Matches, Ranked, Reference

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


@dataclass(frozen=True)
class Similar:
    """The table of similarities that a block needs; one for the whole task where it fits."""

    model: str = "default"

    def compute(self, block: LabelBlock) -> Pairs:
        """The task's table, or the block's."""
        task, vectors = block.task, model_of(block.task, self.model)
        key = ("similar", self.model)
        if key not in task.shared:
            mine, theirs = np.unique(written(task.pred)), np.unique(written(task.ref))
            small = len(mine) * len(theirs) <= _TABLE
            task.shared[key] = _pairs(vectors, mine, theirs) if small else None
        pairs: Pairs | None = task.shared[key]
        if pairs is None:
            side, ref = block.get(Ranked()), block.get(Reference())
            pairs = _pairs(vectors, np.unique(written(side)), np.unique(written(ref)))
        return pairs


def _pairs(vectors: Any, predicted: Ints, referred: Ints) -> Pairs:
    tptr, flat = take_rows(vectors.indptr, predicted)
    terms = np.unique(vectors.rows[flat])
    by_term = _padded(_similarities(vectors, terms, referred))
    term_row = _places(len(vectors.terms), terms)
    by_label = by_term
    label_row = np.full(len(vectors.indptr) - 1, len(terms))
    if len(flat) == len(predicted):  # a label is one term
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
    table: Floats = cosine_table(vectors.units[terms], vectors.units[columns])
    place = np.minimum(np.searchsorted(terms, columns), len(terms) - 1)
    same = np.flatnonzero(terms[place] == columns)
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
        """Leave out repeats (under "set") and labels without a vector that takes part."""
        vectors = model_of(block.task, self.model)
        ranked, ref = block.get(Ranked()), block.get(Reference())
        exact = block.get(Matches(self.count, "class"))
        standing = np.logical_or.reduceat(vectors.stands[vectors.rows], vectors.indptr[:-1])
        mine, theirs = standing[written(ranked)], standing[written(ref)]
        if exact.counted is not None:
            mine = mine & exact.counted
        if self.count == "set" and exact.once is not None:
            theirs = theirs & exact.once
        return Laid(ranked, ref, mine, theirs, vectors)


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

    def batches(self, pairs: Pairs, *, by_term: bool) -> Iterator[Batch]:
        """Padded tensors of the items that have something on both sides."""
        owner = np.flatnonzero(self.pred_kept)
        item = row_numbers(self.pred.indptr)[owner]
        codes = written(self.pred)[owner]
        row, continues = pairs.label_row[codes], np.zeros(len(codes), np.bool_)
        if by_term:
            tptr, flat = take_rows(self.vectors.indptr, codes)
            spread = row_numbers(tptr)
            owner, item = owner[spread], item[spread]
            row, continues = pairs.term_row[self.vectors.rows[flat]], positions(tptr) > 0
        goal = np.flatnonzero(self.ref_kept)
        column = pairs.label_column[written(self.ref)[goal]]
        table = pairs.by_term if by_term else pairs.by_label
        n = len(self.pred)
        pred_ptr = offsets(np.bincount(item, minlength=n))
        ref_ptr = offsets(np.bincount(row_numbers(self.ref.indptr)[goal], minlength=n))
        for items in _like_sizes(np.diff(pred_ptr), np.diff(ref_ptr)):
            mine = _pad(pred_ptr, items)
            theirs = _pad(ref_ptr, items)
            rows = np.append(row, len(table) - 1)[mine]
            columns = np.append(column, table.shape[1] - 1)[theirs]
            yield Batch(
                table[rows[:, :, None], columns[:, None, :]],
                np.append(owner, -1)[mine],
                np.append(goal, -1)[theirs],
                np.append(continues, False)[mine],
            )


def _like_sizes(rows: Ints, columns: Ints) -> Iterator[Ints]:
    """Items in groups of similar size, so that little is padding and a tensor stays small."""
    both = np.flatnonzero((rows > 0) & (columns > 0))
    order = both[np.lexsort((rows[both], columns[both]))]
    start = 0
    while start < len(order):
        stop = len(order)
        while True:  # halve until the padded tensor fits
            part = order[start:stop]
            cells = len(part) * int(rows[part].max()) * int(columns[part].max())
            if cells <= _TENSOR or len(part) == 1:
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
        np.maximum.at(self.similarity, batch.owner[real], batch.table.max(axis=2)[real])
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


_RULES = {"greedy": _greedy, "any": _any}
