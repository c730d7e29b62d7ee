"""Which predicted labels mean the same as a reference label: matching on similarities.

Conventions
-----------
Similarities are those of ``metrics.similar``. Items of like size are matched together, in padded
tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semmetrics.core.assignment import most_pairs, most_similar
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
from semmetrics.data.labels import Side
from semmetrics.data.task import LabelTask
from semmetrics.metrics.matching import Cut, Matched, Ranked, Reference
from semmetrics.metrics.similar import Similar, Source, model_of, written

__all__ = [
    "Batch",
    "Laid",
    "Layout",
    "MatchedPairs",
    "SemanticMatched",
    "SemanticMatches",
    "pairs_near",
]

LabelBlock = Block[LabelTask]
_TENSOR = 1 << 21  # cells of the padded tensor of some items
_MORE = 5e-10  # half of the last place of a similarity
_NEAR = "pairs near a threshold"


@dataclass(frozen=True, eq=False)
class SemanticMatched(Matched):
    """Matching on similarities; besides what every matching has, who matched whom.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The reference, by its place in the flat list, that a prediction matched; -1 for none.
    first : int array, shape (references,)
        The place of the first prediction that matches a reference; the number of predictions
        where none does.
    """

    partner: Ints
    first: Ints


@dataclass(frozen=True)
class SemanticMatches:
    """Match ranked predictions with references whose similarity is above a threshold.

    Attributes
    ----------
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"greedy", "optimal", "total", "any"}
        "greedy": predictions in their order, the terms of one in theirs, each taking the first
        unused reference in the order of the list (Kubany et al. 2020); "optimal": as many
        matches as any one-to-one matching of the first k predictions has, for every k; "total":
        as many as the matching of the first k with the largest sum of similarities has, for
        every k; "any": a reference may serve several predictions.
    count : {"set", "list"}
    model : str
    cut : Cut, optional
        Match only the predictions kept. Counts are the same without it; who matched whom may not
        be.
    """

    threshold: float
    match: str = "greedy"
    count: str = "set"
    model: str = "default"
    cut: Cut | None = None

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the block, items of like size together."""
        layout = block.get(Layout(self.count, self.model, self.cut))
        source = block.get(Similar(self.model))
        n_pred, n_ref = len(layout.pred.codes), len(layout.ref.codes)
        partner, first = np.full(n_pred, -1), np.full(n_ref, n_pred)
        hit, close = np.zeros(n_pred, np.bool_), 0
        for batch in layout.batches(by_term=self.match == "greedy" and layout.split):
            above, near = batch.above(source, self.threshold)
            if self.match == "total":
                found, hits = _total(batch.similarities(source), above)
            else:
                found = _RULES[self.match](batch, above)
                hits = found >= 0
            mine, theirs = batch.pairs(found)
            partner[mine], hit[batch.owner[hits]] = theirs, True
            if self.match == "any":  # every reference above the threshold is served
                item, row, column = np.nonzero(above)
                np.minimum.at(first, batch.goal[item, column], batch.owner[item, row])
            else:
                first[theirs] = mine
            close += near
        block.task.shared.setdefault(_NEAR, {})[self, block.start] = close
        return SemanticMatched(
            counted=None if layout.pred_kept.all() else layout.pred_kept,
            hit=hit,
            once=layout.ref_kept,
            n_ref=sum_rows(layout.ref_kept, layout.ref.indptr),
            partner=partner,
            first=first,
        )


def pairs_near(task: LabelTask) -> dict[tuple[str, float], int]:
    """Pairs of an item's labels whose similarity is within 1e-6 of the threshold.

    Where labels have several terms, pairs of those may be counted.

    Returns
    -------
    dict from name of the embedding and threshold to int
        Of what has been matched so far.
    """
    sums: Counter[SemanticMatches] = Counter()
    for (step, _), close in task.shared.get(_NEAR, {}).items():
        sums[step] += close
    found: dict[tuple[str, float], int] = {}
    for step, close in sums.items():
        key = step.model, step.threshold
        found[key] = max(close, found.get(key, 0))
    return found


@dataclass(frozen=True)
class MatchedPairs:
    """The reference that each prediction matched, and how similar the two are.

    Where a reference may serve several predictions it is the most similar one. Without a match the
    similarity is that with the nearest reference, -inf where there is none.
    """

    matches: SemanticMatches

    def compute(self, block: LabelBlock) -> tuple[Ints, Floats]:
        """Places of references, -1 for none, and similarities, shape (predictions,)."""
        matches = self.matches
        matched = block.get(matches)
        layout = block.get(Layout(matches.count, matches.model, matches.cut))
        partner, similarity = matched.partner.copy(), np.full(len(matched.partner), -np.inf)
        for batch in layout.batches(by_term=False):
            table = batch.similarities(block.get(Similar(matches.model)))
            real = batch.owner >= 0
            mine, nearest = batch.owner[real], table.argmax(axis=2)
            if matches.match == "any":
                theirs = np.take_along_axis(batch.goal, nearest, axis=1)[real]
                partner[mine] = np.where(matched.hit[mine], theirs, -1)
            # a column of the partner where there is one
            column = (partner[batch.owner][..., None] == batch.goal[:, None]).argmax(axis=2)
            column = np.where(partner[batch.owner] >= 0, column, nearest)
            found = np.take_along_axis(table, column[..., None], axis=2)[..., 0]
            similarity[mine] = found[real]
        return partner, similarity


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

    def compute(self, block: LabelBlock) -> Laid:
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


def _greedy(batch: Batch, above: Bools) -> Ints:
    n, rows, columns = above.shape
    found = np.full((n, rows), -1)
    free = np.ones((n, columns), np.bool_)
    matched = np.zeros(n, np.bool_)
    every = np.arange(n)
    for row in range(rows):
        open_ = above[:, row] & free
        if batch.continues is not None:  # another term of a prediction that has its match
            matched &= batch.continues[:, row]
            open_ &= ~matched[:, None]
        column = open_.argmax(axis=1)
        taken = open_[every, column]
        found[taken, row] = column[taken]
        free[every[taken], column[taken]] = False
        matched |= taken
    return found


def _any(_: Batch, above: Bools) -> Ints:
    return np.where(above.any(axis=2), above.argmax(axis=2), -1)


def _optimal(_: Batch, above: Bools) -> Ints:
    found: Ints = most_pairs(above, 0.5)
    return found


def _total(table: Floats, above: Bools) -> tuple[Ints, Bools]:
    """The pairs with the largest sum, and the predictions that add one to those before them."""
    # of equal sums that with more pairs: then a prediction adds one pair or none
    gain = np.where(above & (table > 0), table + _MORE / (1 + table.shape[1]), 0.0)
    found, hits = np.full(table.shape[:2], -1), np.zeros(table.shape[:2], np.bool_)
    before = np.zeros(len(table), np.int64)
    for rows in range(1, table.shape[1] + 1):
        found[:, :rows] = most_similar(gain[:, :rows], 0.0)
        pairs = (found >= 0).sum(axis=1)
        hits[:, rows - 1], before = pairs > before, pairs
    return found, hits


_RULES = {"greedy": _greedy, "optimal": _optimal, "any": _any}
