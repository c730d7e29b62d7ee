"""Similarities of distinct labels in tables, from which those of items are gathered."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.above import is_close
from semmetrics.core.ragged import Bools, Floats, Ints, take_rows
from semmetrics.core.similarity import cosine_table
from semmetrics.data.block import occurring

__all__ = ["Tables", "places_of", "present", "similarities"]


def present(codes: Any, size: int) -> Ints:
    """The codes that occur, rising."""
    return np.flatnonzero(occurring(codes, size))


def places_of(size: int, chosen: Ints) -> Ints:
    """The place of each chosen number; the number of them, which is padding, for the others."""
    places = np.full(size, len(chosen))
    places[chosen] = np.arange(len(chosen))
    return places


class _Pair(NamedTuple):
    """The same cells by terms and by labels of the predictions; equal where that is one."""

    by_term: NDArray[Any]
    by_label: NDArray[Any]


class _Decided(NamedTuple):
    threshold: float
    above: _Pair
    close: _Pair | None


class Tables:
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
        self._tptr, self._flat = take_rows(vectors.indptr, predicted)
        self._terms = present(vectors.rows[self._flat], len(vectors.terms))
        size = len(vectors.indptr) - 1
        self._term_row = places_of(len(vectors.terms), self._terms)
        self._single = len(self._flat) == len(predicted)
        if self._single:
            self._label_row = np.full(size, len(self._terms))
            self._label_row[predicted] = self._term_row[vectors.rows[self._flat]]
        else:
            self._label_row = places_of(size, predicted)
        self._label_column = places_of(size, referred)
        self._decided: _Decided | None = None

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
            -inf for padding.
        """
        table = self._exact[not by_term]
        return np.take(table, self._cells(table, rows, labels, by_term=by_term))

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> tuple[Bools, int]:
        """Which similarities are above a threshold, and how many are within 1e-6 of it.

        The first threshold asked for has a table of its own; further ones are compared with the
        similarities themselves.

        Parameters
        ----------
        rows, labels, by_term
            As for ``gather``.
        threshold : float

        Returns
        -------
        bool array, shape (items, m, n)
            False for padding.
        int
        """
        if self._decided is None and "_exact" not in self.__dict__:
            self._decided = self._decide(threshold)
        decided = self._decided
        if decided is None or decided.threshold != threshold:
            found = self.gather(rows, labels, by_term=by_term)
            return found > threshold, int(np.count_nonzero(is_close(found, threshold)))
        above = decided.above[not by_term]
        cells = self._cells(above, rows, labels, by_term=by_term)
        n_close = 0
        if decided.close is not None:
            n_close = int(np.count_nonzero(np.take(decided.close[not by_term], cells)))
        return np.take(above, cells), n_close

    def _cells(self, table: Any, rows: Ints, labels: Ints, *, by_term: bool) -> Ints:
        place, width = self._term_row if by_term else self._label_row, table.shape[1]
        mine = np.append(place, len(table) - 1)[rows] * width
        theirs = np.append(self._label_column, width - 1)[labels]
        cells: Ints = mine[:, :, None] + theirs[:, None, :]
        return cells

    @cached_property
    def _exact(self) -> _Pair:
        table = similarities(self._vectors, self._terms, self._referred)
        return self._pair(table, np.maximum, -np.inf)

    def _decide(self, threshold: float) -> _Decided:
        vectors = self._vectors
        indptr, flat = take_rows(vectors.indptr, self._referred)
        columns = vectors.rows[flat]
        above, places = vectors.deciding.table(self._terms, columns, threshold)
        equal = _equal(vectors, self._terms, columns)
        above[equal] = threshold < 1.0
        close = np.zeros(above.shape if len(places) else (0, 0), np.bool_)
        close.ravel()[places] = True
        if close.size:
            close[equal] = False
        for table in (above, close) if close.size else (above,):
            table[:, ~vectors.stands[columns]] = False
            table[~vectors.stands[self._terms]] = False
        if not close.any():
            return _Decided(threshold, self._reduced(above, indptr), None)
        far = self._reduced(above & ~close, indptr)
        near = self._reduced(close, indptr)
        only = _Pair(*(mine & ~other for mine, other in zip(near, far, strict=True)))
        return _Decided(threshold, self._reduced(above, indptr), only)

    def _reduced(self, cells: Bools, indptr: Ints) -> _Pair:
        if cells.shape[1] > len(self._referred):
            cells = np.logical_or.reduceat(cells, indptr[:-1], axis=1)
        return self._pair(cells, np.logical_or, False)

    def _pair(self, cells: NDArray[Any], best: np.ufunc, filling: Any) -> _Pair:
        """With padding, and the best over the terms of each predicted label."""
        by_term = np.full((cells.shape[0] + 1, cells.shape[1] + 1), filling, cells.dtype)
        by_term[:-1, :-1] = cells
        if self._single:
            return _Pair(by_term, by_term)
        rows = by_term[self._term_row[self._vectors.rows[self._flat]]]
        by_label = np.concatenate([best.reduceat(rows, self._tptr[:-1]), by_term[-1:]])
        return _Pair(by_term, by_label)


def similarities(vectors: Any, terms: Ints, labels: Ints) -> Floats:
    """Of distinct terms with labels, the best of the terms of a label.

    Parameters
    ----------
    vectors : LabelVectors
    terms, labels : int arrays, shapes (m,) and (n,)

    Returns
    -------
    float array, shape (m, n)
        -inf where a term or a label does not take part.
    """
    indptr, flat = take_rows(vectors.indptr, labels)
    columns = vectors.rows[flat]
    table: Floats = cosine_table(vectors.vectors[terms], vectors.vectors[columns])
    table[_equal(vectors, terms, columns)] = 1.0
    table[:, ~vectors.stands[columns]] = -np.inf
    table[~vectors.stands[terms]] = -np.inf
    if len(columns) == len(labels):
        return table
    best: Floats = np.maximum.reduceat(table, indptr[:-1], axis=1)
    return best


def _equal(vectors: Any, terms: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """The cells of equal terms."""
    place = places_of(len(vectors.terms), terms)[columns]
    same = np.flatnonzero(place < len(terms))
    return place[same], same
