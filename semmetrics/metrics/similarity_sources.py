"""Sources of label similarities: a table of distinct labels, or pairs on demand.

Conventions
-----------
Two labels are as similar as the most similar pair of their terms. Equal terms have
similarity 1 by their text, whatever their vectors. A term without a vector can be left
out (out-of-vocabulary policy ``skip``), and so is a label that has no other term. Two
labels are *equal* if they share a term that is not left out.

A zero vector has cosine 0 with every vector and is similar to nothing: a pair of
different terms with such a vector is above no threshold, not even a negative one.

A similarity has the same bits in both sources. NumPy compares most similarities with a
threshold in single precision, but every decision is the same as for those bits.
Similarities that are computed on a device stay there as torch tensors, but decisions do
not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

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
from semmetrics.data.tasks.base import occurring

if TYPE_CHECKING:
    from semmetrics.embed.label_vectors import LabelVectors

COST_OF_PAIR = 16
"""How many cells of a table cost as much as one similarity computed for a pair."""

MAX_GATHERED_ON_CPU = 1 << 18
"""Numbers of gathered vectors at a time, which fit in the processor's cache."""
MAX_GATHERED_ON_DEVICE = 1 << 26
"""Numbers of gathered vectors at a time on a device."""

# Decisions on cells. The decision on several terms of a label is the largest one.
_BELOW = np.int8(0)
_CLOSE_BELOW = np.int8(1)
_CLOSE_ABOVE = np.int8(2)
_ABOVE = np.int8(3)


class ThresholdDecisions(NamedTuple):
    """Which similarities are above a threshold.

    Attributes
    ----------
    above : bool array, shape (items, m, n)
        False for padding.
    n_close : int
        How many similarities are within 1e-6 of the threshold.
    """

    above: Bools
    n_close: int


class _PaddedTables(NamedTuple):
    """Tables whose last row and last column are padding.

    Attributes
    ----------
    by_label : array or tensor
        Rows are predicted labels, with the best of their terms.
    by_term : array or tensor
        Rows are terms of predicted labels. The same object if each label has one term.
    """

    by_label: Any
    by_term: Any


class _DecisionTables(NamedTuple):
    """The decisions on one threshold, and whether any is close to it."""

    threshold: float
    tables: _PaddedTables
    any_close: bool


class SimilarityTable:
    """Similarities of distinct predicted labels with distinct reference labels.

    Parameters
    ----------
    vectors : LabelVectors
    predicted, references : int arrays
        The codes of the labels, ascending.
    """

    def __init__(
        self, vectors: LabelVectors, predicted: Ints, references: Ints
    ) -> None:
        self._vectors = vectors
        self._references = references
        self._backend = Backend(vectors.matrix)
        self._term_indptr, self._term_places = take_rows(vectors.indptr, predicted)
        predicted_terms = vectors.rows[self._term_places]
        self._terms = np.flatnonzero(occurring(predicted_terms, len(vectors.terms)))
        self._row_of_term = _index_of(len(vectors.terms), self._terms)
        self._has_single_terms = len(self._term_places) == len(predicted)
        # The rows and columns of labels and terms in the padded tables.
        n_labels = len(vectors.indptr) - 1
        row_of_label = _index_of(n_labels, predicted)
        if self._has_single_terms:
            # A label has the row of its only term, so that one table serves both.
            row_of_label = np.full(n_labels + 1, len(self._terms))
            row_of_label[predicted] = self._row_of_term[predicted_terms]
        self._label_rows = self._backend.array(row_of_label)
        self._term_rows = self._backend.array(self._row_of_term)
        self._columns = self._backend.array(_index_of(n_labels, references))
        self._decided: _DecisionTables | None = None
        self._similarities: dict[bool, _PaddedTables] = {}  # by "skips zero vectors"
        self._n_gathered = 0  # cells gathered before there was a table

    def gather(
        self,
        rows: Ints,
        labels: Ints,
        *,
        by_term: bool = False,
        skip_zero_vectors: bool = False,
    ) -> Any:
        """Gather similarities of predicted labels, or of terms, with reference labels.

        Parameters
        ----------
        rows, labels : int arrays, shapes (items, m) and (items, n)
            Codes, with -1 for padding.
        by_term : bool
            Whether ``rows`` are terms.
        skip_zero_vectors : bool
            Whether to leave out pairs of different terms if one has a zero vector.
            Labels without another pair then have -inf.

        Returns
        -------
        float array or tensor, shape (items, m, n)
            -inf for padding.
        """
        skips_zeros = skip_zero_vectors and bool(self._vectors.is_zero.any())
        if skips_zeros not in self._similarities:
            # Compute the table as soon as pairs would cost more than the table.
            self._n_gathered += len(rows) * rows.shape[1] * labels.shape[1]
            n_cells = len(self._terms) * len(self._references)
            if self._n_gathered * COST_OF_PAIR < n_cells:
                pairs = PairwiseSimilarity(self._vectors)
                return pairs.gather(
                    rows, labels, by_term=by_term, skip_zero_vectors=skips_zeros
                )
            self._similarities[skips_zeros] = self._compute_similarities(skips_zeros)
        tables = self._similarities[skips_zeros]
        return self._take(tables, rows, labels, by_term=by_term)

    def equal(self, rows: Ints, labels: Ints) -> Bools:
        """Return whether labels are equal, as `equal_labels`."""
        return equal_labels(self._vectors, rows, labels)

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> ThresholdDecisions:
        """Decide which similarities are above a threshold, strictly.

        With NumPy, the first threshold has a table of decisions. Further thresholds are
        compared with the similarities themselves.

        Parameters
        ----------
        rows, labels, by_term
            As for `gather`.
        threshold : float
        """
        if (
            not self._backend.uses_torch
            and self._decided is None
            and not self._similarities
        ):
            self._decided = self._decide(threshold)
        decided = self._decided
        if decided is None or decided.threshold != threshold:
            similarity = self.gather(
                rows, labels, by_term=by_term, skip_zero_vectors=threshold < 0
            )
            return _compare(similarity, threshold)
        cells = self._take(decided.tables, rows, labels, by_term=by_term)
        n_close = 0
        if decided.any_close:
            is_close_cell = (cells == _CLOSE_BELOW) | (cells == _CLOSE_ABOVE)
            n_close = int(np.count_nonzero(is_close_cell))
        return ThresholdDecisions(cells >= _CLOSE_ABOVE, n_close)

    def _take(
        self, tables: _PaddedTables, rows: Ints, labels: Ints, *, by_term: bool
    ) -> Any:
        """Take the cells of rows and labels, shape (items, m, n)."""
        table = tables.by_label
        index = self._label_rows
        if by_term:
            table = tables.by_term
            index = self._term_rows
        row_starts = index[self._backend.array(rows)] * table.shape[1]
        columns = self._columns[self._backend.array(labels)]
        cells = row_starts[:, :, None] + columns[:, None, :]
        if self._backend.uses_torch:
            return table.reshape(-1)[cells]
        return np.take(table, cells)

    def _compute_similarities(self, skips_zeros: bool) -> _PaddedTables:
        """Return the similarities of all terms with all reference labels."""
        vectors = self._vectors
        indptr, places = take_rows(vectors.indptr, self._references)
        columns = vectors.rows[places]
        table = cosine_table(vectors.matrix[self._terms], vectors.matrix[columns])
        if skips_zeros:
            table[np.flatnonzero(vectors.is_zero[self._terms])] = -np.inf
            table[:, np.flatnonzero(vectors.is_zero[columns])] = -np.inf
        table[self._find_equal_cells(columns)] = 1.0
        table[:, np.flatnonzero(~vectors.included[columns])] = -np.inf
        table[np.flatnonzero(~vectors.included[self._terms])] = -np.inf
        if len(columns) > len(self._references):
            table = Backend(table).max_rows(table, indptr, 1)
        return self._pad(table, -np.inf)

    def _decide(self, threshold: float) -> _DecisionTables:
        """Return the decisions on all terms with all reference labels."""
        vectors = self._vectors
        indptr, places = take_rows(vectors.indptr, self._references)
        columns = vectors.rows[places]
        above, close_places = vectors.threshold_test.test_table(
            self._terms, columns, threshold
        )
        # Turn False and True into _BELOW and _ABOVE, in place to save memory.
        cells = above.view(np.int8)
        cells *= _ABOVE
        flat_cells = cells.ravel()
        close_cells = np.where(flat_cells[close_places], _CLOSE_ABOVE, _CLOSE_BELOW)
        flat_cells[close_places] = close_cells
        if threshold < 0:
            cells[vectors.is_zero[self._terms]] = _BELOW
            cells[:, vectors.is_zero[columns]] = _BELOW
        equal_cells = self._find_equal_cells(columns)
        cells[equal_cells] = _BELOW
        if threshold < 1.0:
            cells[equal_cells] = _ABOVE
        cells[:, ~vectors.included[columns]] = _BELOW
        cells[~vectors.included[self._terms]] = _BELOW
        if len(columns) > len(self._references):
            cells = self._backend.max_rows(cells, indptr, 1)
        tables = self._pad(cells, _BELOW)
        return _DecisionTables(threshold, tables, any_close=len(close_places) > 0)

    def _find_equal_cells(self, columns: Ints) -> tuple[Ints, Ints]:
        """Return the rows and columns of cells whose terms are equal."""
        row_of_column = self._row_of_term[columns]
        equal_columns = np.flatnonzero(row_of_column < len(self._terms))
        return row_of_column[equal_columns], equal_columns

    def _pad(self, cells: Any, fill_value: Any) -> _PaddedTables:
        """Add padding, and take the best of the terms of each predicted label."""
        backend = self._backend
        n_rows, n_columns = cells.shape
        by_term = backend.xp.full(
            (n_rows + 1, n_columns + 1),
            fill_value,
            dtype=cells.dtype,
            **backend.device_options,
        )
        by_term[:-1, :-1] = cells
        if self._has_single_terms:
            return _PaddedTables(by_term, by_term)
        term_rows = self._row_of_term[self._vectors.rows[self._term_places]]
        best = backend.max_rows(by_term[term_rows], self._term_indptr, 0)
        by_label = backend.xp.concatenate([best, by_term[-1:]])
        return _PaddedTables(by_label, by_term)


class PairwiseSimilarity:
    """Similarities that are computed when they are needed, for some items at a time.

    Parameters
    ----------
    vectors : LabelVectors
    """

    def __init__(self, vectors: LabelVectors) -> None:
        self._vectors = vectors

    def equal(self, rows: Ints, labels: Ints) -> Bools:
        """Return whether labels are equal, as `equal_labels`."""
        return equal_labels(self._vectors, rows, labels)

    def gather(
        self,
        rows: Ints,
        labels: Ints,
        *,
        by_term: bool = False,
        skip_zero_vectors: bool = False,
    ) -> Any:
        """Compute the same as `SimilarityTable.gather`."""
        vectors = self._vectors
        skips_zeros = skip_zero_vectors and bool(vectors.is_zero.any())
        backend = Backend(vectors.matrix)
        n_items, n_rows = rows.shape
        table = backend.zeros(n_items, n_rows, labels.shape[1])
        padding = _find_padding(rows, labels)

        # The label with the fewest terms replaces padding, which is overwritten below
        shortest_label = lengths(vectors.indptr).argmin()
        replacement = shortest_label
        if by_term:
            replacement = np.int64(0)
        rows = np.where(rows < 0, replacement, rows)
        labels = np.where(labels < 0, shortest_label, labels)
        step = self._count_items_at_once(rows, labels, backend, by_term=by_term)
        for part in slices(n_items, step):
            table[part] = self._gather_together(
                rows[part], labels[part], by_term=by_term, skips_zeros=skips_zeros
            )
        table[backend.array(padding)] = -np.inf
        return table

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> ThresholdDecisions:
        """Compute the same as `SimilarityTable.above`."""
        vectors = self._vectors
        if vectors.has_synonyms or Backend(vectors.matrix).uses_torch:
            similarity = self.gather(
                rows, labels, by_term=by_term, skip_zero_vectors=threshold < 0
            )
            return _compare(similarity, threshold)
        row_terms = vectors.rows[np.maximum(rows, 0)]
        label_terms = vectors.rows[np.maximum(labels, 0)]
        above, close_places = vectors.threshold_test.test_items(
            row_terms, label_terms, threshold
        )
        if threshold < 0:
            are_nonzero = _both(
                ~vectors.is_zero[row_terms], ~vectors.is_zero[label_terms]
            )
            above[~are_nonzero] = False
        are_equal = row_terms[:, :, None] == label_terms[:, None]
        above[are_equal] = threshold < 1.0
        left_out = ~_both(vectors.included[row_terms], vectors.included[label_terms])
        left_out |= _find_padding(rows, labels)
        above[left_out] = False
        not_compared = (are_equal | left_out).ravel()
        n_close = int(np.count_nonzero(~not_compared[close_places]))
        return ThresholdDecisions(above, n_close)

    def _count_items_at_once(
        self, rows: Ints, labels: Ints, backend: Backend, *, by_term: bool
    ) -> int:
        """Return for how many items the gathered vectors fit in memory or cache."""
        n_terms = lengths(self._vectors.indptr)
        if by_term:
            most_row_terms = rows.shape[1]
        else:
            most_row_terms = n_terms[rows].sum(axis=1).max(initial=0)
        most_label_terms = n_terms[labels].sum(axis=1).max(initial=0)
        dimension = self._vectors.vectors.shape[1]
        n_numbers = (most_row_terms + most_label_terms) * dimension
        most_numbers = MAX_GATHERED_ON_DEVICE
        if backend.on_cpu:
            most_numbers = MAX_GATHERED_ON_CPU
        return int(most_numbers // max(1, n_numbers))

    def _gather_together(
        self, rows: Ints, labels: Ints, *, by_term: bool, skips_zeros: bool
    ) -> Any:
        """Return the similarities of some items, whose padding has been replaced."""
        if by_term:
            row_terms = _ItemTerms(rows, np.arange(rows.size + 1))
        else:
            row_terms = self._list_terms(rows)
        label_terms = self._list_terms(labels)
        pairs = self._compare_terms(
            row_terms.terms, label_terms.terms, skips_zeros=skips_zeros
        )
        if not self._vectors.has_synonyms:
            return pairs
        # The best of the terms of each row, then of each label. Each step swaps the axes.
        backend = Backend(pairs)
        for indptr in (row_terms.indptr, label_terms.indptr):
            n_items, _, n_columns = pairs.shape
            best = backend.max_rows(pairs.reshape(-1, n_columns), indptr, 0)
            pairs = best.reshape(n_items, -1, n_columns).swapaxes(1, 2)
        return pairs

    def _list_terms(self, labels: Ints) -> _ItemTerms:
        """Return the terms of each item's labels.

        The last term of an item is repeated until all items have the same number of
        terms. This changes no maximum.
        """
        vectors = self._vectors
        if not vectors.has_synonyms:
            return _ItemTerms(vectors.rows[labels], np.arange(labels.size + 1))
        # The numbers of terms of each label, before and after the repeats, shape (items, labels).
        n_terms = lengths(vectors.indptr)[labels]
        n_terms_of_item = n_terms.sum(axis=1)
        n_repeated = n_terms.copy()
        n_repeated[:, -1] += n_terms_of_item.max() - n_terms_of_item
        n_repeated = n_repeated.ravel()
        indptr = offsets(n_repeated)
        # Positions after the last term of a label are replaced by the last one.
        last_position = np.repeat(n_terms.ravel() - 1, n_repeated)
        position = np.minimum(positions(indptr), last_position)
        first_place = np.repeat(vectors.indptr[labels].ravel(), n_repeated)
        terms = vectors.rows[first_place + position]
        return _ItemTerms(terms.reshape(len(labels), -1), indptr)

    def _compare_terms(self, rows: Ints, columns: Ints, *, skips_zeros: bool) -> Any:
        """Return similarities of terms, item by item.

        Parameters
        ----------
        rows, columns : int arrays, shapes (items, m) and (items, n)

        Returns
        -------
        float array or tensor, shape (items, m, n)
        """
        vectors = self._vectors
        all_terms = np.concatenate([rows.ravel(), columns.ravel()])
        terms, place_of_term = np.unique(all_terms, return_inverse=True)
        row_places = place_of_term[: rows.size].reshape(rows.shape)
        column_places = place_of_term[rows.size :].reshape(columns.shape)
        backend = Backend(vectors.matrix)
        split = SplitVectors.of(backend.array(vectors.matrix[terms], "float64"))
        table = split[row_places].cosines(split[column_places])
        if skips_zeros:
            is_nonzero = ~vectors.is_zero[terms]
            are_nonzero = _both(is_nonzero[row_places], is_nonzero[column_places])
            table[backend.array(~are_nonzero)] = -np.inf
        are_equal = row_places[:, :, None] == column_places[:, None]
        table[backend.array(are_equal)] = 1.0
        is_included = vectors.included[terms]
        are_included = _both(is_included[row_places], is_included[column_places])
        table[backend.array(~are_included)] = -np.inf
        return table


class _ItemTerms(NamedTuple):
    """The terms of the labels of items.

    Attributes
    ----------
    terms : int array, shape (items, terms)
    indptr : int array, shape (labels of all items + 1,)
        The offsets of each label's terms among the terms of all items.
    """

    terms: Ints
    indptr: Ints


SimilaritySource: TypeAlias = SimilarityTable | PairwiseSimilarity
"""Both have the methods ``gather``, ``equal`` and ``above``."""


def equal_labels(vectors: LabelVectors, rows: Ints, labels: Ints) -> Bools:
    """Return whether labels share a term that is not left out.

    Parameters
    ----------
    vectors : LabelVectors
    rows, labels : int arrays of shapes that broadcast
        Codes of labels. -1 is padding, which is equal to nothing.

    Returns
    -------
    bool array
    """
    is_pair = (rows >= 0) & (labels >= 0)
    if not vectors.has_synonyms:
        row_terms = vectors.rows[np.maximum(rows, 0)]
        label_terms = vectors.rows[np.maximum(labels, 0)]
        are_equal: Bools = (
            is_pair & (row_terms == label_terms) & vectors.included[row_terms]
        )
        return are_equal
    all_rows, all_labels = np.broadcast_arrays(rows, labels)
    first = all_rows[is_pair]
    second = all_labels[is_pair]
    # The first label's terms are shared if they are also terms of the second label. A pair of
    # a label and a term is coded as one number.
    n_terms = np.int64(len(vectors.terms))
    indptr, places = take_rows(vectors.indptr, first)
    terms = vectors.rows[places]
    other_label = second[row_numbers(indptr)]
    label_of_term = row_numbers(vectors.indptr)
    known_keys = label_of_term * n_terms + vectors.rows
    is_shared = np.isin(other_label * n_terms + terms, known_keys)
    is_shared &= vectors.included[terms]
    are_equal = np.zeros(is_pair.shape, np.bool_)
    are_equal[is_pair] = sum_rows(is_shared, indptr) > 0
    return are_equal


def _compare(similarity: Any, threshold: float) -> ThresholdDecisions:
    """Compare similarities with a threshold."""
    xp = Backend(similarity).xp
    n_close = int(xp.count_nonzero(is_close(similarity, threshold)))
    return ThresholdDecisions(to_numpy(similarity > threshold), n_close)


def _index_of(size: int, chosen: Ints) -> Ints:
    """Return the index of each number below ``size`` in ``chosen``.

    Numbers that are not chosen have ``len(chosen)``, and so has one more number at the
    end, which -1 finds. This is the row or column of padding.
    """
    index = np.full(size + 1, len(chosen))
    index[chosen] = np.arange(len(chosen))
    return index


def _both(rows: Bools, columns: Bools) -> Bools:
    """Return whether both flags of each pair are set, shape (items, m, n)."""
    return rows[:, :, None] & columns[:, None]


def _find_padding(rows: Ints, labels: Ints) -> Bools:
    """Return which pairs are padding, shape (items, m, n)."""
    return ~_both(rows >= 0, labels >= 0)
