"""Padded batches of items, in which labels are compared and matched by similarity.

Items of similar size are matched together, in padded tables. Their rows are predicted
labels (or their terms), and their columns are reference labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Bools, Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.metrics import label_similarity
from semmetrics.metrics.matching import Cut, sides_of

if TYPE_CHECKING:
    from semmetrics.embed.label_vectors import LabelVectors

LabelBlock = Block[LabelTask]

_MAX_CELLS_PER_BATCH = 1 << 21
"""Limit for the cells of the padded tables of a batch."""


class Batch(NamedTuple):
    """Items of similar size, padded with -1.

    Attributes
    ----------
    rows : int array, shape (items, rows)
        Predicted labels, or their terms.
    columns : int array, shape (items, columns)
        Reference labels.
    pred_places : int array, shape (items, rows)
        The place of each row's prediction in the predictions of the block.
    ref_places : int array, shape (items, columns)
        The place of each column's reference in the references of the block.
    continues : bool array, shape (items, rows), or None
        Whether a row is another term of the same prediction as the previous row. None if
        rows are labels.
    """

    rows: Ints
    columns: Ints
    pred_places: Ints
    ref_places: Ints
    continues: Bools | None


class BatchLayout(NamedTuple):
    """Both sides of a block, and which of their labels are compared.

    Attributes
    ----------
    pred, ref : Side
    pred_used, ref_used : bool arrays
        Labels that are compared: those with a vector, and only the first of equal labels
        if duplicates count once.
    vectors : LabelVectors
    """

    pred: Side
    ref: Side
    pred_used: Bools
    ref_used: Bools
    vectors: LabelVectors

    def batches(self, *, by_term: bool) -> Iterator[Batch]:
        """Yield the items that have labels on both sides, grouped by size.

        Parameters
        ----------
        by_term : bool
            Whether rows are the terms of predicted labels.
        """
        rows = _list_labels(self.pred, self.pred_used)
        if by_term:
            rows = _list_terms(rows, self.vectors)
        columns = _list_labels(self.ref, self.ref_used)
        n_rows = ragged.lengths(rows.indptr)
        n_columns = ragged.lengths(columns.indptr)
        non_empty = np.flatnonzero((n_rows > 0) & (n_columns > 0))
        groups = ragged.group_by_size(
            n_columns[non_empty], n_rows[non_empty], _MAX_CELLS_PER_BATCH
        )
        for group in groups:
            items = non_empty[group]
            # -1 finds the padding at the end of the entries.
            row_entries = _pad_indices(rows.indptr, items)
            column_entries = _pad_indices(columns.indptr, items)
            continues = None
            if rows.continues is not None:
                continues = rows.continues[row_entries]
            yield Batch(
                rows.codes[row_entries],
                columns.codes[column_entries],
                rows.places[row_entries],
                columns.places[column_entries],
                continues,
            )


class _Entries(NamedTuple):
    """The labels or terms of a side that are compared. The last entry is padding.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
        Offsets of each item's entries, without the padding.
    codes, places : int arrays, shape (entries + 1,)
        Codes of labels or terms, and the place of the label in the side. -1 for padding.
    continues : bool array, shape (entries + 1,), or None
        Whether a term is not the first of its label. None for labels.
    """

    indptr: Ints
    codes: Ints
    places: Ints
    continues: Bools | None = None


def _list_labels(side: Side, is_used: Bools) -> _Entries:
    """Return the labels of a side that are compared."""
    places = np.flatnonzero(is_used)
    codes = label_similarity.written_codes(side)[places]
    indptr = ragged.offsets(ragged.sum_rows(is_used, side.indptr))
    return _Entries(indptr, np.append(codes, -1), np.append(places, -1))


def _list_terms(labels: _Entries, vectors: LabelVectors) -> _Entries:
    """Return the terms of labels."""
    term_indptr, term_places = ragged.take_rows(vectors.indptr, labels.codes[:-1])
    label_of_term = ragged.row_numbers(term_indptr)
    terms = vectors.rows[term_places]
    places = labels.places[label_of_term]
    continues = ragged.positions(term_indptr) > 0
    return _Entries(
        term_indptr[labels.indptr],
        np.append(terms, -1),
        np.append(places, -1),
        np.append(continues, False),
    )


def _pad_indices(indptr: Ints, items: Ints) -> Ints:
    """Return indices of the items' entries, shape (items, longest), padded with -1."""
    sizes = ragged.lengths(indptr)[items]
    position = np.arange(int(sizes.max()))
    starts = indptr[items][:, None]
    return np.where(position < sizes[:, None], starts + position, -1)


def lay_out(
    block: LabelBlock, duplicates: str, model: str, cut: Cut | None = None
) -> BatchLayout:
    """Choose the labels of a block that are compared.

    Parameters
    ----------
    block : Block
    duplicates : {"once", "each"}
        Whether only the first of an item's equal labels is compared.
    model : str
        The ``model_key`` of the measure.
    cut : Cut, optional
        Compare only the predictions that the cut keeps.
    """
    first_key = label_similarity.first_key(block.task, model)
    if cut is None:
        return _lay_out(block, duplicates, first_key)
    return _lay_out_within(block, duplicates, first_key, cut)


@memoised
def _lay_out_within(
    block: LabelBlock, duplicates: str, model: str, cut: Cut
) -> BatchLayout:
    layout = _lay_out(block, duplicates, model)
    is_inside = ragged.prefixes(layout.pred.indptr, block.get(cut))
    return layout._replace(pred_used=layout.pred_used & is_inside)


@memoised
def _lay_out(block: LabelBlock, duplicates: str, model: str) -> BatchLayout:
    vectors: LabelVectors = label_similarity.label_vectors_of(block.task, model)
    # A label is compared if one of its terms is.
    is_included = np.logical_or.reduceat(
        vectors.included[vectors.rows], vectors.indptr[:-1]
    )
    pred, ref = sides_of(block)
    pred_used = is_included[label_similarity.written_codes(pred)]
    ref_used = is_included[label_similarity.written_codes(ref)]
    if duplicates == "once":
        n_classes = max(1, len(block.task.classes))
        pred_used = _without_repeats(pred, pred_used, n_classes)
        ref_used = _without_repeats(ref, ref_used, n_classes)
    return BatchLayout(pred, ref, pred_used, ref_used, vectors)


def _without_repeats(side: Side, is_used: Bools, n_classes: int) -> Bools:
    """Return which of the used labels are the first of their class in an item.

    Changes ``is_used``.
    """
    used_side = side
    if not is_used.all():
        used_side = side.keep(is_used)
    keys = ragged.cell_keys(used_side.indptr, used_side.codes, n_classes)
    is_first = ragged.first_occurrences(keys, len(side) * n_classes)
    if is_first is not None:
        is_used[is_used] = is_first
    return is_used
