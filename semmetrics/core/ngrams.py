"""N-grams of coded texts, counted for all texts at once, and tables of distinct n-grams.

Conventions
-----------
Texts are ragged rows of token codes. The n-grams of each order have codes of their own, from 0
without gaps. Equal n-grams of different texts have equal codes.

In a table of n-grams, each row contains the token codes of one n-gram, which are below ``width``.
Rows are compared two columns at a time: the first two columns are replaced by one column of codes
of their pairs, and so on. Therefore long n-grams with large token codes do not overflow 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ragged import Ints

_KEY_BITS = 63  # of a 64-bit integer that is not negative
_MAX_32_BIT_TOKENS = 1 << 30  # tokens up to which codes have 32 bits
_NGRAMS_PER_STEP = 1 << 20


@dataclass(frozen=True, eq=False, repr=False)
class NGrams:
    """How often each text contains each n-gram of one order.

    Attributes
    ----------
    order : int
    indptr : int array, shape (texts + 1,)
    codes : int array, shape (cells,)
        The distinct n-grams of each text, in increasing order.
    counts : int array, shape (cells,)
        How often the text contains them, at least 1.
    places : int array, shape (distinct n-grams,)
        The start of one occurrence of each n-gram, as an index of the flat tokens.

    Codes, counts and places have 32 bits, or 64 bits if there are more than 2³⁰ tokens.
    """

    order: int
    indptr: Ints
    codes: NDArray[np.integer]
    counts: NDArray[np.integer]
    places: NDArray[np.integer]

    def __len__(self) -> int:
        return len(self.places)

    @cached_property
    def totals(self) -> Ints:
        """Return the number of n-grams of each text, shape (texts,)."""
        totals = np.zeros(len(self.indptr) - 1, np.int64)
        has_ngrams = ragged.lengths(self.indptr) > 0
        if has_ngrams.any():
            starts = self.indptr[:-1][has_ngrams]
            totals[has_ngrams] = np.add.reduceat(self.counts, starts, dtype=np.int64)
        return totals

    def tokens(self, flat: NDArray[Any]) -> NDArray[Any]:
        """Return the tokens of each distinct n-gram.

        Parameters
        ----------
        flat : array, shape (tokens,)
            The tokens of all texts.

        Returns
        -------
        array, shape (distinct n-grams, order)
        """
        tokens: NDArray[Any] = flat[self.places[:, None] + np.arange(self.order)]
        return tokens


# ---- counts -----------------------------------------------------------------


def count_ngrams(
    indptr: Ints, codes: NDArray[np.integer], orders: int = 4
) -> list[NGrams]:
    """Count the n-grams of the orders 1 to ``orders``.

    Parameters
    ----------
    indptr : int array, shape (texts + 1,)
    codes : int array, shape (tokens,)
        Not negative.
    orders : int

    Returns
    -------
    list of NGrams

    Examples
    --------
    >>> unigrams, bigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 8, 7, 8, 7]), 2)
    >>> unigrams.codes.tolist(), unigrams.counts.tolist()
    ([0, 1, 0, 1], [2, 1, 1, 1])
    >>> bigrams.tokens(np.array([7, 8, 7, 8, 7])).tolist()
    [[7, 8], [8, 7]]
    """
    int_type = _choose_int_type(len(codes))
    n_texts = len(indptr) - 1
    width = int(codes.max(initial=0)) + 1
    # The n-grams of the current order that end within their text: the text, the place of the first
    # token, and the code. They begin with the single n-gram of order 0.
    texts = ragged.row_numbers(indptr).astype(int_type)
    starts = np.arange(len(codes), dtype=int_type)
    ngram_codes = np.zeros(len(codes), int_type)
    ngrams = []
    for order in range(1, orders + 1):
        is_inside = starts + order <= indptr[1:][texts]
        starts = starts[is_inside]
        texts = texts[is_inside]
        ngram_codes = ngram_codes[is_inside]
        last_tokens = codes[starts + (order - 1)]
        keys = ngram_codes.astype(np.int64) * width + last_tokens
        ngram_codes, places = _assign_codes(keys, starts)
        del keys, last_tokens  # memory that the next step needs
        row_indptr = ragged.offsets(np.bincount(texts, minlength=n_texts))
        counts = _count_codes(row_indptr, ngram_codes, len(places))
        ngrams.append(NGrams(order, counts.indptr, counts.codes, counts.counts, places))
    return ngrams


def _choose_int_type(size: int) -> type[np.signedinteger[Any]]:
    """Return the integer type for numbers below ``size``."""
    if size <= _MAX_32_BIT_TOKENS:
        return np.int32
    return np.int64


def _assign_codes(
    keys: Ints, starts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Assign codes from 0 to distinct keys.

    Parameters
    ----------
    keys : int array, shape (n-grams,)
        Not negative.
    starts : int array, shape (n-grams,)
        The place of each n-gram.

    Returns
    -------
    codes : int array, shape (n-grams,)
        In the order of the keys.
    places : int array, shape (distinct n-grams,)
        The place of one n-gram with each code.
    """
    sorted_keys, order = _sort_keys(keys)
    is_new = ragged.starts_run(sorted_keys)
    del sorted_keys  # memory that the next step needs
    codes = np.empty(len(order), starts.dtype)
    codes[order] = np.cumsum(is_new, dtype=starts.dtype) - 1
    return codes, starts[order[is_new]]


def _sort_keys(keys: Ints) -> tuple[Ints, NDArray[Any]]:
    """Sort keys that are not negative. Return the sorted keys and their places before."""
    place_bits = len(keys).bit_length()
    key_bits = int(keys.max(initial=0)).bit_length()
    if key_bits + place_bits > _KEY_BITS:
        order = np.argsort(keys)  # a stable sort would take longer
        return keys[order], order
    # Sorting numbers of a key and its place is several times faster than finding an order.
    keys_and_places = keys << place_bits
    keys_and_places |= np.arange(len(keys))
    keys_and_places.sort()
    places = keys_and_places & ((1 << place_bits) - 1)
    return keys_and_places >> place_bits, places.astype(_choose_int_type(len(keys)))


class _CodeCounts(NamedTuple):
    """The distinct codes of each row, and how often each occurs.

    Attributes
    ----------
    indptr : int array, shape (rows + 1,)
    codes, counts : int arrays, shape (cells,)
    """

    indptr: Ints
    codes: NDArray[Any]
    counts: NDArray[Any]


def _count_codes(indptr: Ints, codes: NDArray[Any], n_codes: int) -> _CodeCounts:
    """Count the distinct codes of each row, for a limited number of elements at a time."""
    row_lengths = [np.zeros(0, np.int64)]
    # Cells that are not written do not use memory.
    cell_codes = np.empty(len(codes), codes.dtype)
    cell_counts = np.empty(len(codes), codes.dtype)
    n_cells = 0
    for rows in ragged.runs_within(indptr, _NGRAMS_PER_STEP):
        step_indptr = indptr[rows.start : rows.stop + 1]
        step_codes = codes[step_indptr[0] : step_indptr[-1]]
        distinct_indptr, distinct_codes, counts = ragged.distinct_codes(
            step_indptr - step_indptr[0], step_codes, max(1, n_codes)
        )
        row_lengths.append(ragged.lengths(distinct_indptr))
        cells = slice(n_cells, n_cells + len(distinct_codes))
        cell_codes[cells] = distinct_codes
        cell_counts[cells] = counts
        n_cells = cells.stop
    return _CodeCounts(
        ragged.offsets(np.concatenate(row_lengths)),
        cell_codes[:n_cells],
        cell_counts[:n_cells],
    )


# ---- tables of n-grams ------------------------------------------------------


def find_rows(
    table: NDArray[np.integer], rows: NDArray[np.integer], width: int
) -> Ints:
    """Return the index of each row in a table of distinct rows, or -1 if it is not there.

    Parameters
    ----------
    table : int array, shape (table rows, length)
    rows : int array, shape (rows, length)
        A row with a negative code is not found.
    width : int
        All codes are below this number.

    Returns
    -------
    int array, shape (rows,)

    Examples
    --------
    >>> find_rows(np.array([[0, 2], [1, 1]]), np.array([[1, 1], [2, 0], [-1, 2]]), 3).tolist()
    [1, -1, -1]
    """
    if not len(table):
        return np.full(len(rows), -1)
    # The codes of the columns so far, in the table and in the rows to find.
    table_codes = table[:, 0].astype(np.int64)
    row_codes = rows[:, 0].astype(np.int64)
    for table_column, row_column in zip(table.T[1:], rows.T[1:], strict=True):
        distinct_keys, table_codes = _number_keys(table_codes * width + table_column)
        is_possible = (row_codes >= 0) & (row_column >= 0)
        row_keys = np.where(is_possible, row_codes * width + row_column, -1)
        row_codes = _find_sorted(distinct_keys, row_keys)
    distinct_codes, first_rows = np.unique(table_codes, return_index=True)
    places = _find_sorted(distinct_codes, row_codes)
    return np.where(places >= 0, first_rows[places], -1)


def sum_equal_rows(
    rows: NDArray[np.integer], counts: Ints, width: int
) -> tuple[NDArray[np.integer], Ints]:
    """Return the distinct rows, in the order of their first places, and their summed counts.

    Parameters
    ----------
    rows : int array, shape (rows, length)
        Codes in [0, width).
    counts : int array, shape (rows,)
    width : int

    Returns
    -------
    rows : int array, shape (distinct rows, length)
    counts : int array, shape (distinct rows,)

    Examples
    --------
    >>> rows, counts = sum_equal_rows(np.array([[1, 2], [0, 1], [1, 2]]), np.array([3, 4, 5]), 3)
    >>> rows.tolist(), counts.tolist()
    ([[1, 2], [0, 1]], [8, 4])
    """
    row_codes = rows[:, 0].astype(np.int64)
    for column in rows.T[1:]:
        _, row_codes = _number_keys(row_codes * width + column)
    _, first_places, numbers = np.unique(
        row_codes, return_index=True, return_inverse=True
    )
    sums = np.zeros(len(first_places), np.int64)
    np.add.at(sums, numbers.ravel(), counts)
    order = np.argsort(first_places, kind="stable")
    return rows[first_places[order]], sums[order]


def _number_keys(keys: Ints) -> tuple[Ints, Ints]:
    """Return the distinct keys in increasing order, and the place of each key among them."""
    distinct_keys, numbers = np.unique(keys, return_inverse=True)
    return distinct_keys, numbers.ravel()


def _find_sorted(sorted_keys: Ints, keys: Ints) -> Ints:
    """Return the place of each key in sorted distinct keys, or -1 if it is not there."""
    places = np.searchsorted(sorted_keys, keys)
    places = np.minimum(places, len(sorted_keys) - 1)
    return np.where(sorted_keys[places] == keys, places, -1)
