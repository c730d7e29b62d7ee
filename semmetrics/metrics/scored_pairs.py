"""Predicted labels with scores and hits, the input of measures of rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.metrics.class_curves import ClassCurves, TieRule, sort_by_class
from semmetrics.metrics.definition import Statistic
from semmetrics.metrics.matching import (
    Matched,
    Matches,
    match_classes,
    no_scores,
    sides_of,
    unranked_sides,
)


class ScoredLabels(NamedTuple):
    """The predictions of some items that count, with their scores.

    Attributes
    ----------
    side : Side
        Each label occurs once per item.
    scores : float array, shape (predictions,)
    hit : bool array, shape (predictions,)
    matched : Matched
        The matches of all predictions, including repeated ones.
    """

    side: Side
    scores: Floats
    hit: Bools
    matched: Matched

    def keep(self, is_kept: Bools) -> ScoredLabels:
        """Return some of the predictions, by a flag for each prediction."""
        side = self.side.keep(is_kept)
        return ScoredLabels(side, self.scores[is_kept], self.hit[is_kept], self.matched)


def scored_labels(block: Block[LabelTask], name: str) -> ScoredLabels:
    """Return the ranked predictions of a block that count.

    Parameters
    ----------
    block : Block
    name : str
        The measure, for messages.

    Raises
    ------
    InputError
        If there are predictions without scores.
    """
    ranked, _ = sides_of(block)
    matched = block.get(Matches("once", "class"))
    if not len(ranked.codes):
        # Without predictions, no score is missing.
        ranked = replace(ranked, scores=np.zeros(0))
    if ranked.scores is None:
        raise no_scores(name, block.task, "use another measure")
    labels = ScoredLabels(ranked, ranked.scores, matched.hit, matched)
    if matched.is_counted_pred is None:
        return labels
    return labels.keep(matched.is_counted_pred)


# ---- columns --------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class ScoredPairs(Statistic):
    """The scored predictions and the references of items: column "pairs".

    Measures of classes need the pairs themselves, because a ranking is not a function of
    sums over items.
    """

    additive = False

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Return the column."""
        labels = _distinct_labels(block)
        _, ref = unranked_sides(block)
        is_first_ref = labels.matched.is_first_ref
        if is_first_ref is not None:
            ref = ref.keep(is_first_ref)
        is_difficult = _find_difficult(block, labels.side)
        unverified = block.task.unverified
        if unverified is None:
            pairs = PairColumn(labels.side, labels.hit, ref, is_difficult)
        else:
            cells = unverified.cells.rows(block.start, block.stop)
            lists_verified = unverified.categories is not None
            pairs = PairColumn(
                labels.side, labels.hit, ref, is_difficult, cells, lists_verified
            )
        return {"pairs": pairs}


def _distinct_labels(block: Block[LabelTask]) -> ScoredLabels:
    """Return the predictions of a block that count, not necessarily ranked.

    If no label is repeated in an item, this does not sort the predictions of items.
    """
    pred, ref = unranked_sides(block)
    if pred.scores is not None:
        matched = match_classes(block, pred, ref, "once")
        if matched.is_counted_pred is None:
            return ScoredLabels(pred, pred.scores, matched.hit, matched)
    # One statistic serves both measures, so the message names both.
    return scored_labels(block, "mAP or ROC-AUC")


def _find_difficult(block: Block[LabelTask], side: Side) -> Bools | None:
    """Return which predictions the ground truth marks as difficult, if it has such marks."""
    task = block.task
    if task.difficult is None:
        return None
    difficult = task.difficult.rows(block.start, block.stop)
    width = len(task.classes)
    pred_cells = ragged.cell_keys(side.indptr, side.codes, width)
    difficult_cells = ragged.cell_keys(difficult.indptr, difficult.codes, width)
    return ragged.is_member(pred_cells, difficult_cells, width * len(block))


@dataclass(frozen=True, eq=False, repr=False)
class PairColumn:
    """A column of (item, label) pairs, with scores and hits.

    Attributes
    ----------
    pred : Side
        Predicted labels of each item, with scores.
    hit : bool array, shape (predictions,)
    ref : Side
        Distinct reference labels of each item.
    is_difficult : bool array, shape (predictions,), or None
        Predictions that are neither right nor wrong. None if the ground truth does not
        mark any.
    cells : Side or None
        Labels of each item that the ground truth lists as verified or unverified.
    lists_verified : bool
        Whether ``cells`` are the verified labels. Otherwise they are the unverified ones.
    """

    pred: Side
    hit: Bools
    ref: Side
    is_difficult: Bools | None = None
    cells: Side | None = None
    lists_verified: bool = False
    _reordered: list[tuple[Ints, PairColumn]] = field(default_factory=list, repr=False)
    _curves: dict[Any, ClassCurves] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.pred)

    @staticmethod
    def join(parts: Sequence[PairColumn]) -> PairColumn:
        """Concatenate parts over the items."""
        cells_of_parts = [part.cells for part in parts if part.cells is not None]
        cells = None
        if cells_of_parts:
            cells = _concatenate(cells_of_parts)
        return PairColumn(
            _concatenate([part.pred for part in parts]),
            np.concatenate([part.hit for part in parts]),
            _concatenate([part.ref for part in parts]),
            _join_flags(parts),
            cells,
            parts[0].lists_verified,
        )

    def take(self, order: Ints) -> PairColumn:
        """Return the items in another order. The result for the last order is stored."""
        if self._reordered:
            last_order, column = self._reordered[0]
            if np.array_equal(last_order, order):
                return column
        _, flat = ragged.take_rows(self.pred.indptr, order)
        is_difficult = self.is_difficult
        if is_difficult is not None:
            is_difficult = is_difficult[flat]
        cells = self.cells
        if cells is not None:
            cells = cells.take(order)
        column = PairColumn(
            self.pred.take(order),
            self.hit[flat],
            self.ref.take(order),
            is_difficult,
            cells,
            self.lists_verified,
        )
        self._reordered[:] = [(order, column)]
        return column

    def recoded(self, codes: NDArray[np.int32], width: int) -> PairColumn:
        """Return the same pairs with label c renamed to ``codes[c]``."""
        cells = self.cells
        if cells is not None:
            cells = replace(cells, codes=codes[cells.codes])
        return PairColumn(
            replace(self.pred, codes=codes[self.pred.codes]),
            self.hit,
            replace(self.ref, codes=codes[self.ref.codes]),
            self.is_difficult,
            cells,
            self.lists_verified,
        )

    def curves(
        self,
        n_classes: int,
        ties: TieRule,
        *,
        pooled: Bools | None = None,
        with_difficult: bool = True,
    ) -> ClassCurves:
        """Sort the pairs by class and score. Curves are stored, so each is sorted once.

        Parameters
        ----------
        n_classes : int
        ties : {"grouped", "ordered"}
        pooled : bool array, shape (n_classes,), optional
            Classes to pool into a single one. The others are left out.
        with_difficult : bool
            Whether difficult predictions count.
        """
        with_difficult = with_difficult or self.is_difficult is None
        pooled_key = None
        if pooled is not None:
            pooled_key = pooled.tobytes()
        key = (n_classes, ties, pooled_key, with_difficult)
        if key not in self._curves:
            pairs = _Pairs.of(self, with_difficult=with_difficult)
            if pooled is None:
                curves = pairs.curves(n_classes, ties)
            else:
                curves = pairs.pooled_curves(n_classes, ties, pooled)
            self._curves[key] = self._with_cells(curves, pooled)
        return self._curves[key]

    def _with_cells(self, curves: ClassCurves, pooled: Bools | None) -> ClassCurves:
        """Add the verified or unverified cells, sorted by class."""
        if self.cells is None:
            return curves
        items = ragged.row_numbers(self.cells.indptr)
        classes = self.cells.codes.astype(np.int64)
        if pooled is not None:
            is_pooled = pooled[classes]
            items = items[is_pooled]
            classes = np.zeros(len(items), np.int64)
        order = np.argsort(classes, kind="stable")
        return replace(
            curves,
            listed_classes=classes[order],
            listed_items=items[order],
            lists_verified=self.lists_verified,
        )


def _join_flags(parts: Sequence[PairColumn]) -> Bools | None:
    """Concatenate the flags of difficult predictions."""
    flags = []
    has_flags = False
    for part in parts:
        if part.is_difficult is None:
            flags.append(np.zeros(len(part.hit), np.bool_))
        else:
            flags.append(part.is_difficult)
            has_flags = True
    if not has_flags:
        return None
    return np.concatenate(flags)


def _concatenate(sides: Sequence[Side]) -> Side:
    """Concatenate sides over the items. The result has scores if all of them have."""
    indptr = ragged.offsets(np.concatenate([side.sizes for side in sides]))
    codes = np.concatenate([side.codes for side in sides])
    scores = [side.scores for side in sides if side.scores is not None]
    if len(scores) < len(sides):
        return Side(indptr, codes)
    return Side(indptr, codes, np.concatenate(scores))


class _Pairs(NamedTuple):
    """Flat arrays of pairs: scored ones, and those that are positive.

    Attributes
    ----------
    items, classes, scores, hit : arrays, shape (scored,)
    positive_items, positive_classes : arrays, shape (positives,)
    """

    items: Ints
    classes: NDArray[np.integer]
    scores: Floats
    hit: Bools
    positive_items: Ints
    positive_classes: NDArray[np.integer]

    @staticmethod
    def of(column: PairColumn, *, with_difficult: bool) -> _Pairs:
        """Return the pairs of a column."""
        pred = column.pred
        hit = column.hit
        if not with_difficult and column.is_difficult is not None:
            is_easy = ~column.is_difficult
            pred = pred.keep(is_easy)
            hit = hit[is_easy]
        return _Pairs(
            ragged.row_numbers(pred.indptr),
            pred.codes,
            cast("Floats", pred.scores),  # the pairs of a column have scores
            hit,
            ragged.row_numbers(column.ref.indptr),
            column.ref.codes,
        )

    def curves(self, n_classes: int, ties: TieRule) -> ClassCurves:
        """Sort the pairs of each class."""
        return sort_by_class(
            self.classes,
            self.scores,
            self.hit,
            self.items,
            self.positive_classes,
            self.positive_items,
            n_classes,
            ties=ties,
        )

    def pooled_curves(
        self, n_classes: int, ties: TieRule, pooled: Bools
    ) -> ClassCurves:
        """Sort the pairs of several classes together, as if they were one class.

        Each pair is then an item of its own: number ``item * n_classes + class``.
        """
        is_pooled = pooled[self.classes]
        is_pooled_positive = pooled[self.positive_classes]
        cells = (self.items * n_classes + self.classes)[is_pooled]
        positive_cells = self.positive_items * n_classes + self.positive_classes
        positive_cells = positive_cells[is_pooled_positive]
        curves = sort_by_class(
            np.zeros_like(cells),
            self.scores[is_pooled],
            self.hit[is_pooled],
            cells,
            np.zeros_like(positive_cells),
            positive_cells,
            n_classes=1,
            ties=ties,
        )
        return replace(
            curves,
            items=curves.items // n_classes,
            missed_items=curves.missed_items // n_classes,
        )
