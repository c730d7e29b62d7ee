"""How similar labels are, and whether that is above a threshold.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have similarity 1 by
their text, whatever their vectors. A term without a vector that takes part (out-of-vocabulary
policy ``skip``) is left out, and a label without any other term with it. Two labels are *equal* if
they share a term that takes part.

A vector of zeros has the cosine 0 with every vector and is similar to nothing: a pair of different
terms with such a vector is above no threshold, not even one below 0.

Similarities are computed once for the distinct terms of the task, or of a block, and then gathered;
or pair by pair where that is less. A similarity has the same bits in all three, and a decision on
a threshold is that of the similarity, though numpy makes most of them in single precision.

Similarities that are computed on a device stay there, as torch tensors; decisions do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.backend import Backend, to_numpy
from semmetrics.core.ragged import (
    Bools,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    slices,
    sum_rows,
    take_rows,
)
from semmetrics.core.similarity import SplitVectors, cosine_table, is_close
from semmetrics.data.lists import Side
from semmetrics.data.tasks import Block, CaptionTask, LabelTask, kept, occurring
from semmetrics.errors import InputError
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Option
from semmetrics.metrics.matching import sides_of

EMBEDDING = Option(
    "embedding",
    "embedding",
    DEFAULT_EMBEDDING,
    help="which of the embeddings given is meant",
)
"""The option of every measure that compares labels by an embedding."""

_TABLE = 1 << 25  # cells of a table of similarities, terms by terms
_PAIR_COST = 16  # a similarity computed for a pair costs so many of a table
# numbers of vectors gathered at a time: in a cache; on a device
_GATHERED = (
    1 << 18,
    1 << 26,
)


def label_vectors_of(task: LabelTask | CaptionTask, key: str) -> Any:
    """Return the label vectors of a measure, by its ``model_key``; of captions their model.

    Raises
    ------
    InputError
        If the task has none under that key.
    """
    if key not in task.models:
        raise InputError("no-embedding", name=key)
    return task.models[key]


def first_key(task: LabelTask, key: str) -> str:
    """Return the first key with the same label vectors, so that they are compared once."""
    vectors = label_vectors_of(task, key)
    return next(other for other, model in task.models.items() if model is vectors)


def written_codes(side: Side) -> Any:
    """Return the codes of the labels as they were written."""
    return side.codes if side.written is None else side.written


@kept
def similarities_of_task(task: LabelTask, model: str) -> Similarities:
    """Return the table of similarities of a whole task; pairs where that is too large."""
    return choose_similarities(label_vectors_of(task, model), task.pred, task.ref)


def similarities_of(block: Block[LabelTask], model: str) -> Similarities:
    """Return the task's table of similarities, or the block's; pairs where both are too large."""
    return _similarities_of_block(block, first_key(block.task, model))


@kept
def _similarities_of_block(block: Block[LabelTask], model: str) -> Similarities:
    found = similarities_of_task(block.task, model)
    if isinstance(found, SimilarityTable):
        return found
    return choose_similarities(label_vectors_of(block.task, model), *sides_of(block))


def choose_similarities(vectors: Any, pred: Side, ref: Side) -> Similarities:
    """Return a table of similarities, or pairs where that is too large or more than is asked for.

    Parameters
    ----------
    vectors : LabelVectors
    pred, ref : Side
        The labels of both sides, as codes of the vectors.
    """
    size = len(vectors.indptr) - 1
    mine, theirs = (
        np.flatnonzero(occurring(written_codes(side), size)) for side in (pred, ref)
    )
    widths = lengths(vectors.indptr)
    cells = int(widths[mine].sum()) * int(widths[theirs].sum())
    pairs = int(lengths(pred.indptr) @ lengths(ref.indptr))
    if cells > _TABLE or (cells > _PAIR_COST * pairs and not vectors.has_synonyms):
        return PairwiseSimilarity(vectors)
    return SimilarityTable(vectors, mine, theirs)


def _positions(size: int, chosen: Ints) -> Ints:
    """Return the position of each number below ``size`` among those chosen.

    Of others, and of the number behind the last, it is how many are chosen: padding.
    """
    positions = np.full(size + 1, len(chosen))
    positions[chosen] = np.arange(len(chosen))
    return positions


# Of cells that stand for several, the largest decision is theirs.
_BELOW, _CLOSE_BELOW, _CLOSE_ABOVE, _ABOVE = np.arange(4, dtype=np.int8)


class SimilarityTable:
    """Similarities of distinct predicted labels with distinct reference labels.

    The last row and the last column of a table stand for padding: -inf, or not above.

    Parameters
    ----------
    vectors : LabelVectors
    predicted, referred : int arrays
        The labels, by rising codes.
    """

    def __init__(self, vectors: Any, predicted: Ints, referred: Ints) -> None:
        self._vectors, self._referred = vectors, referred
        self._backend = Backend(vectors.matrix)
        self._tptr, self._flat = take_rows(vectors.indptr, predicted)
        self._terms = np.flatnonzero(
            occurring(vectors.rows[self._flat], len(vectors.terms))
        )
        size = len(vectors.indptr) - 1
        self._term_row = _positions(len(vectors.terms), self._terms)
        self._single = len(self._flat) == len(predicted)
        label_row = _positions(size, predicted)
        if self._single:
            label_row = np.full(size + 1, len(self._terms))
            label_row[predicted] = self._term_row[vectors.rows[self._flat]]
        # by labels of the predictions and by their terms; the same where each has one
        self._rows = tuple(map(self._backend.array, (label_row, self._term_row)))
        self._columns = self._backend.array(_positions(size, referred))
        self._decided: tuple[float, tuple[Any, Any], bool] | None = None
        self._exact: dict[
            bool, tuple[Any, Any]
        ] = {}  # by whether zero vectors are left out
        self._n_gathered = 0  # cells asked for while there was no table

    def gather(
        self,
        rows: Ints,
        labels: Ints,
        *,
        by_term: bool = False,
        skip_zero_vectors: bool = False,
    ) -> Any:
        """Gather similarities of terms or predicted labels with reference labels.

        Parameters
        ----------
        rows, labels : int arrays, shapes (items, m) and (items, n)
            -1 is padding.
        by_term : bool
            Whether ``rows`` are terms.
        skip_zero_vectors : bool
            Whether pairs of different terms of which one has a vector of zeros are left out, so
            that labels without another pair have -inf.

        Returns
        -------
        float array or tensor, shape (items, m, n)
            -inf for padding.
        """
        skips = skip_zero_vectors and bool(self._vectors.zero.any())
        if skips not in self._exact:
            self._n_gathered += len(rows) * rows.shape[1] * labels.shape[1]
            if self._n_gathered * _PAIR_COST < len(self._terms) * len(self._referred):
                source = PairwiseSimilarity(self._vectors)
                return source.gather(
                    rows, labels, by_term=by_term, skip_zero_vectors=skips
                )
            table = _similarities(
                self._vectors, self._terms, self._referred, skips=skips
            )
            self._exact[skips] = self._views(table, -np.inf)
        table = self._exact[skips][by_term]
        cells = self._cells(table, rows, labels, by_term=by_term)
        return (
            table.reshape(-1)[cells] if self._backend.torch else np.take(table, cells)
        )

    def equal(self, rows: Ints, labels: Ints) -> Bools:
        """Return whether labels are equal; arrays of codes of shapes that broadcast."""
        return equal_labels(self._vectors, rows, labels)

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> tuple[Bools, int]:
        """Decide which similarities are above a threshold, and count those within 1e-6 of it.

        In numpy the first threshold asked for has a table of its own; further ones are compared
        with the similarities themselves.

        Parameters
        ----------
        rows, labels, by_term
            See ``gather``.
        threshold : float

        Returns
        -------
        bool array, shape (items, m, n)
            False for padding.
        int
        """
        if not self._backend.torch and self._decided is None and not self._exact:
            self._decided = self._decide(threshold)
        if self._decided is None or self._decided[0] != threshold:
            similarity = self.gather(
                rows, labels, by_term=by_term, skip_zero_vectors=threshold < 0
            )
            return _compare(similarity, threshold)
        _, decisions, any_close = self._decided
        table = decisions[by_term]
        found = np.take(table, self._cells(table, rows, labels, by_term=by_term))
        above, n_close = found >= _CLOSE_ABOVE, 0
        if any_close:
            n_close = int(
                np.count_nonzero((found == _CLOSE_BELOW) | (found == _CLOSE_ABOVE))
            )
        return above, n_close

    def _cells(self, table: Any, rows: Ints, labels: Ints, *, by_term: bool) -> Any:
        mine = self._rows[by_term][self._backend.array(rows)] * table.shape[1]
        theirs = self._columns[self._backend.array(labels)]
        return mine[:, :, None] + theirs[:, None, :]

    def _decide(self, threshold: float) -> tuple[float, tuple[Any, Any], bool]:
        """Return the threshold, views of the decisions, and whether any is close to it."""
        vectors = self._vectors
        indptr, flat = take_rows(vectors.indptr, self._referred)
        columns = vectors.rows[flat]
        above, places = vectors.threshold_test.test_table(
            self._terms, columns, threshold
        )
        cells = above.view(np.int8)
        cells *= _ABOVE
        cells.ravel()[places] = np.where(
            cells.ravel()[places], _CLOSE_ABOVE, _CLOSE_BELOW
        )
        if threshold < 0:
            cells[vectors.zero[self._terms]] = _BELOW
            cells[:, vectors.zero[columns]] = _BELOW
        cells[_equal_cells(vectors, self._terms, columns)] = (
            _ABOVE if threshold < 1.0 else _BELOW
        )
        cells[:, ~vectors.included[columns]] = _BELOW
        cells[~vectors.included[self._terms]] = _BELOW
        if len(columns) > len(self._referred):
            cells = self._backend.max_rows(cells, indptr, 1)
        return threshold, self._views(cells, _BELOW), len(places) > 0

    def _views(self, cells: Any, filling: Any) -> tuple[Any, Any]:
        """Return the best of the terms of each predicted label, and of each term; padded."""
        backend = self._backend
        by_term = backend.xp.full(
            (cells.shape[0] + 1, cells.shape[1] + 1),
            filling,
            dtype=cells.dtype,
            **backend.place,
        )
        by_term[:-1, :-1] = cells
        if self._single:
            return by_term, by_term
        rows = by_term[self._term_row[self._vectors.rows[self._flat]]]
        best = backend.max_rows(rows, self._tptr, 0)
        return backend.xp.concatenate([best, by_term[-1:]]), by_term


def _compare(similarity: Any, threshold: float) -> tuple[Bools, int]:
    backend, close = Backend(similarity), is_close(similarity, threshold)
    return to_numpy(similarity > threshold), int(backend.xp.count_nonzero(close))


def equal_labels(vectors: Any, rows: Ints, labels: Ints) -> Bools:
    """Return whether labels share a term that takes part.

    Parameters
    ----------
    vectors : LabelVectors
    rows, labels : int arrays of shapes that broadcast
        Codes of labels; -1 is padding, which is equal to nothing.

    Returns
    -------
    bool array
    """
    real = (rows >= 0) & (labels >= 0)
    if not vectors.has_synonyms:
        mine, theirs = (vectors.rows[np.maximum(codes, 0)] for codes in (rows, labels))
        equal: Bools = real & (mine == theirs) & vectors.included[mine]
        return equal
    n_terms = len(vectors.terms)
    mine, theirs = (side[real] for side in np.broadcast_arrays(rows, labels))
    indptr, flat = take_rows(vectors.indptr, mine)
    terms, pair = vectors.rows[flat], row_numbers(indptr)
    known = row_numbers(vectors.indptr) * np.int64(n_terms) + vectors.rows
    shared = np.isin(theirs[pair] * np.int64(n_terms) + terms, known)
    shared &= vectors.included[terms]
    equal = np.zeros(real.shape, np.bool_)
    equal[real] = sum_rows(shared, indptr) > 0
    return equal


def _similarities(
    vectors: Any, terms: Ints, labels: Ints, *, skips: bool = False
) -> Any:
    """Return similarities of distinct terms with labels, the best of the terms of a label.

    Parameters
    ----------
    vectors : LabelVectors
    terms, labels : int arrays, shapes (m,) and (n,)
    skips : bool
        Whether zero vectors are left out.

    Returns
    -------
    float array or tensor, shape (m, n)
        -inf where a term or a label does not take part.
    """
    indptr, flat = take_rows(vectors.indptr, labels)
    columns = vectors.rows[flat]
    table = cosine_table(vectors.matrix[terms], vectors.matrix[columns])
    if skips:
        table[np.flatnonzero(vectors.zero[terms])] = -np.inf
        table[:, np.flatnonzero(vectors.zero[columns])] = -np.inf
    table[_equal_cells(vectors, terms, columns)] = 1.0
    table[:, np.flatnonzero(~vectors.included[columns])] = -np.inf
    table[np.flatnonzero(~vectors.included[terms])] = -np.inf
    return (
        table
        if len(columns) == len(labels)
        else Backend(table).max_rows(table, indptr, 1)
    )


def _equal_cells(vectors: Any, terms: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return the cells of equal terms."""
    place = _positions(len(vectors.terms), terms)[columns]
    same = np.flatnonzero(place < len(terms))
    return place[same], same


@dataclass(frozen=True, eq=False, repr=False)
class PairwiseSimilarity:
    """Similarities of the items that are asked for, some at a time, where a table is too large."""

    vectors: Any

    def equal(self, rows: Ints, labels: Ints) -> Bools:
        """Do the same as ``SimilarityTable.equal``."""
        return equal_labels(self.vectors, rows, labels)

    def gather(
        self,
        rows: Ints,
        labels: Ints,
        *,
        by_term: bool = False,
        skip_zero_vectors: bool = False,
    ) -> Any:
        """Do the same as ``SimilarityTable.gather``."""
        skips = skip_zero_vectors and bool(self.vectors.zero.any())
        backend, vectors, (items, m) = (
            Backend(self.vectors.matrix),
            self.vectors,
            rows.shape,
        )
        table, padding = (
            backend.zeros(items, m, labels.shape[1]),
            _padding(rows, labels),
        )
        each = lengths(vectors.indptr)
        short = each.argmin()  # the label that stands for padding
        rows = np.where(rows < 0, 0 if by_term else short, rows)
        labels = np.where(labels < 0, short, labels)
        most = m if by_term else each[rows].sum(axis=1).max(initial=0)
        numbers = (
            most + each[labels].sum(axis=1).max(initial=0)
        ) * vectors.vectors.shape[1]
        for part in slices(
            items, int(_GATHERED[not backend.on_cpu] // max(1, numbers))
        ):
            mine, own = self._terms(rows[part], are_terms=by_term)
            theirs, other = self._terms(labels[part])
            pairs = self._pair_by_pair(mine, theirs, skips=skips)
            if vectors.has_synonyms:
                # the best of a label's terms, on either side
                for indptr in (
                    own,
                    other,
                ):
                    best = backend.max_rows(
                        pairs.reshape(-1, pairs.shape[2]), indptr, 0
                    )
                    pairs = best.reshape(len(pairs), -1, pairs.shape[2]).swapaxes(1, 2)
            table[part] = pairs
        table[backend.array(padding)] = -np.inf
        return table

    def _terms(self, labels: Ints, *, are_terms: bool = False) -> tuple[Ints, Ints]:
        """Return the terms of each item's labels, and the offsets of labels among all of them.

        The last term of an item is there again until all items have as many: no maximum changes.
        """
        vectors = self.vectors
        if are_terms or not vectors.has_synonyms:
            return labels if are_terms else vectors.rows[labels], np.arange(
                labels.size + 1
            )
        first, each = vectors.indptr[labels].ravel(), lengths(vectors.indptr)[labels]
        wide, total = each.copy(), each.sum(axis=1)
        wide[:, -1] += total.max() - total
        indptr = offsets(wide.ravel())
        place = np.minimum(positions(indptr), np.repeat(each.ravel() - 1, wide.ravel()))
        terms = vectors.rows[np.repeat(first, wide.ravel()) + place]
        return terms.reshape(len(labels), -1), indptr

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> tuple[Bools, int]:
        """Do the same as ``SimilarityTable.above``."""
        vectors = self.vectors
        if vectors.has_synonyms or Backend(vectors.matrix).torch:
            similarity = self.gather(
                rows, labels, by_term=by_term, skip_zero_vectors=threshold < 0
            )
            return _compare(similarity, threshold)
        mine, theirs = (vectors.rows[np.maximum(codes, 0)] for codes in (rows, labels))
        above, places = vectors.threshold_test.test_items(mine, theirs, threshold)
        if threshold < 0:
            above[~_both(~vectors.zero[mine], ~vectors.zero[theirs])] = False
        equal = mine[:, :, None] == theirs[:, None]
        above[equal] = threshold < 1.0
        left_out = ~_both(vectors.included[mine], vectors.included[theirs])
        left_out |= _padding(rows, labels)
        above[left_out] = False
        return above, int(np.count_nonzero(~(equal | left_out).ravel()[places]))

    def _pair_by_pair(self, rows: Ints, columns: Ints, *, skips: bool) -> Any:
        """Return similarities of terms, items by items."""
        vectors, split = self.vectors, rows.size
        terms = np.concatenate([rows.ravel(), columns.ravel()])
        used, place = np.unique(terms, return_inverse=True)
        backend = Backend(vectors.matrix)
        parts = SplitVectors.of(backend.array(vectors.matrix[used], "float64"))
        mine, theirs = (
            place[:split].reshape(rows.shape),
            place[split:].reshape(columns.shape),
        )
        table = parts[mine].cosines(parts[theirs])
        if skips:
            real = ~vectors.zero[used]
            table[backend.array(~_both(real[mine], real[theirs]))] = -np.inf
        table[backend.array(mine[:, :, None] == theirs[:, None])] = 1.0
        included = vectors.included[used]
        table[backend.array(~_both(included[mine], included[theirs]))] = -np.inf
        return table


Similarities: TypeAlias = SimilarityTable | PairwiseSimilarity


def _both(rows: Bools, columns: Bools) -> Bools:
    return rows[:, :, None] & columns[:, None]


def _padding(rows: Ints, labels: Ints) -> Bools:
    return ~_both(rows >= 0, labels >= 0)
