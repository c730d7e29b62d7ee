"""Similarities of the pairs of labels that are asked for, where a table would be too large."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints, take_rows
from semmetrics.core.similarity import SplitVectors
from semmetrics.core.threshold_test import is_close
from semmetrics.metrics.similar_tables import similarities

__all__ = ["Apart"]

_LOCAL = 1 << 18  # cells of a table for some items alone
_NUMBERS = 1 << 18  # of vectors gathered for pairs at a time: they stay in a cache


@dataclass(frozen=True, eq=False)
class Apart:
    """Similarities of the items that are asked for, some at a time."""

    vectors: Any

    def gather(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """As ``Tables.gather``."""
        table = np.full((*rows.shape, labels.shape[1]), -np.inf)
        single = not self.vectors.split
        for part in self._parts(rows.shape, labels.shape[1], single=single):
            if single:
                table[part] = self._one_by_one(rows[part], labels[part])
            else:
                table[part] = self._tabled(rows[part], labels[part], by_term=by_term)
        table[_padding(rows, labels)] = -np.inf
        return table

    def above(
        self, rows: Ints, labels: Ints, threshold: float, *, by_term: bool
    ) -> tuple[Bools, int]:
        """As ``Tables.above``."""
        if self.vectors.split:
            table = self.gather(rows, labels, by_term=by_term)
            return table > threshold, int(np.count_nonzero(is_close(table, threshold)))
        vectors = self.vectors
        mine, theirs = (vectors.rows[np.maximum(codes, 0)] for codes in (rows, labels))
        above, places = vectors.threshold_test.test_items(mine, theirs, threshold)
        equal = mine[:, :, None] == theirs[:, None]
        above[equal] = threshold < 1.0
        left_out = ~_both(vectors.stands[mine], vectors.stands[theirs]) | _padding(rows, labels)
        above[left_out] = False
        return above, int(np.count_nonzero(~(equal | left_out).ravel()[places]))

    def _parts(self, shape: tuple[int, ...], n: int, *, single: bool) -> Iterator[slice]:
        items, m = shape
        numbers = (m + n) * self.vectors.vectors.shape[1]
        step = _NUMBERS // max(1, numbers) if single else int((_LOCAL / (m * n)) ** 0.5)
        for start in range(0, items, max(1, step)):
            yield slice(start, start + max(1, step))

    def _one_by_one(self, rows: Ints, labels: Ints) -> Floats:
        """Of labels of one term each; anything for padding."""
        vectors, split = self.vectors, rows.size
        terms = vectors.rows[np.maximum(np.concatenate([rows.ravel(), labels.ravel()]), 0)]
        used, place = np.unique(terms, return_inverse=True)
        parts = SplitVectors.of(vectors.vectors[used].astype(np.float64))
        mine, theirs = place[:split].reshape(rows.shape), place[split:].reshape(labels.shape)
        table: Floats = parts[mine].cosines(parts[theirs])
        table[mine[:, :, None] == theirs[:, None]] = 1.0
        stands = vectors.stands[used]
        table[~_both(stands[mine], stands[theirs])] = -np.inf
        return table

    def _tabled(self, rows: Ints, labels: Ints, *, by_term: bool) -> Floats:
        """From a table of these items alone."""
        mine, theirs = np.unique(rows[rows >= 0]), np.unique(labels[labels >= 0])
        vectors = self.vectors
        if by_term:
            table = similarities(vectors, mine, theirs)
        else:
            tptr, flat = take_rows(vectors.indptr, mine)
            terms, place = np.unique(vectors.rows[flat], return_inverse=True)
            table = similarities(vectors, terms, theirs)[place]
            table = np.maximum.reduceat(table, tptr[:-1])
        row, column = np.searchsorted(mine, rows), np.searchsorted(theirs, labels)
        found: Floats = table[row[:, :, None], column[:, None]]
        return found


def _both(rows: Bools, columns: Bools) -> Bools:
    both: Bools = rows[:, :, None] & columns[:, None]
    return both


def _padding(rows: Ints, labels: Ints) -> Bools:
    return ~_both(rows >= 0, labels >= 0)
