"""Rankings of a gallery for each query: similarities, products of vectors, and ranked lists.

Conventions
-----------
Rows are queries, and columns are the candidates of the gallery. Similarities are never sorted as a
whole, and similarities of vectors are never stored as a whole: rows are processed table by table.
phi is a second matrix that contains how similar in meaning queries and candidates are.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import Backend
from semmetrics.core.ragged import Codes, Ints
from semmetrics.core.ranks import (
    Counts,
    Nearest,
    count_down,
    count_nearer,
    find_nearest,
)
from semmetrics.core.top_k import first_places
from semmetrics.data.lists import Lists, Side
from semmetrics.errors import InputError

PHI = "phi"
"""The key of the matrices phi of a retrieval task, which are stored by name."""
DEPTH = "depth"
"""The key of the number of candidates per query that measures need."""
MOST_SIMILAR = "most similar"
"""The key of the number of most similar items that measures need."""
_MAX_BYTES_PER_TABLE = 1 << 26
_MAX_BYTES_PER_PRODUCT = 1 << 28
"""Larger than other tables, because products are faster for more rows."""
_MIN_ROWS_PER_TABLE = 64
_MAX_ROWS_PER_TABLE = 4096
_MAX_BYTES_PER_HASH = 1 << 26
_MAX_POSITIVES_TO_COUNT_DOWN = 3
"""A transposed matrix is read in its own order if no query has more positives."""
_OPTION_OF_KEY = {"tok": "tokenizer", "lookup": "lookup", "oov": "oov"}
"""The options that change a computed phi, by their keys in its identity."""
_ENTRY_BYTES = 64
"""The memory that an entry of a ranked list needs."""


class _RowsByTable(ABC):
    """Rankings that read or compute the similarities of some rows at a time, as a table.

    ``rows`` are the rows of a call, and ``columns`` are the candidates that they rank, ascending.
    None means all candidates.
    """

    shape: tuple[int, int]

    @abstractmethod
    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of ``rows`` to ``columns``."""

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count the candidates among ``columns`` that are nearer than given candidates.

        The given candidates of a row are in ``codes``, between its two offsets in ``indptr``.
        """
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
        return count_nearer(self.table(rows, columns), indptr, codes)

    def first(
        self, rows: Ints, columns: Ints | None, k: int, later: Any
    ) -> list[Codes]:
        """Return the first k candidates of each row, among ``columns``.

        ``later`` is None, or tells for each row and candidate whether the candidate comes after
        the others that are tied with it.
        """
        table = self.table(rows, columns)
        if later is not None and columns is not None:
            later = later[:, columns]
        places = first_places(table, min(k, table.shape[1]), later)
        if columns is None:
            return list(places)
        return list(columns[places])

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each row ranks, which is all of them."""
        _, n_candidates = self.shape
        if columns is not None:
            n_candidates = len(columns)
        return np.full(len(rows), n_candidates)


@dataclass(frozen=True, eq=False, repr=False)
class Similarities(_RowsByTable):
    """A matrix of similarities.

    Attributes
    ----------
    values : array
        Queries x gallery, or gallery x queries if ``transposed``. It may be memory-mapped.
    transposed : bool
    """

    values: Any
    transposed: bool = False

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The number of rows, and the size of the gallery."""
        rows, columns = self.values.shape
        return (columns, rows) if self.transposed else (rows, columns)

    @property
    def rows_per_table(self) -> int:
        """The number of rows that are processed together."""
        return _rows_per_table(_MAX_BYTES_PER_TABLE, 8 * self.shape[1])

    def transpose(self) -> Similarities:
        """Return the rankings of the queries for each candidate."""
        return Similarities(self.values, not self.transposed)

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count the candidates among ``columns`` that are nearer than given candidates.

        A transposed matrix is read in its own order if that is less work.
        """
        most_positives = int(ragged.lengths(indptr).max(initial=0))
        if not self.transposed or most_positives > _MAX_POSITIVES_TO_COUNT_DOWN:
            return super().count(rows, columns, indptr, codes)
        part = self.values
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
            part = part[ragged.as_slice(columns)]
        return count_down(part[:, ragged.as_slice(rows)], indptr, codes)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of ``rows`` to ``columns``.

        Half precision becomes single precision, which is exact.
        """
        row_index = ragged.as_slice(rows)
        column_index = slice(None)
        if columns is not None:
            column_index = ragged.as_slice(columns)
        if self.transposed:
            part = self.values[column_index][:, row_index].T
        else:
            part = self.values[row_index][:, column_index]
        dtype = np.float32 if part.dtype.itemsize < 4 else part.dtype
        return np.ascontiguousarray(part, dtype)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> Nearest:
        """Find the candidate that is nearest to each row, and whether it is a given one.

        Parameters
        ----------
        rows : int array
        columns : int array, rising, or None
        codes : int array
            The given candidate of each row, or -1.
        """
        if columns is None:
            return find_nearest(self.table(rows, None), codes)
        places = np.searchsorted(columns, codes)
        is_among_columns = np.append(columns, -1)[places] == codes
        codes_in_table = np.where(is_among_columns, places, -1)
        first = find_nearest(self.table(rows, columns), codes_in_table)
        return first._replace(
            places=columns[first.places].astype(np.int32),
            others=columns[first.others].astype(np.int32),
        )


def _rows_per_table(max_bytes: int, bytes_per_row: int) -> int:
    """Return how many rows of a table fit into memory, within limits."""
    n_rows = max_bytes // max(1, bytes_per_row)
    n_rows = max(_MIN_ROWS_PER_TABLE, n_rows)
    return int(min(_MAX_ROWS_PER_TABLE, n_rows))


@dataclass(frozen=True, eq=False, repr=False)
class Products(_RowsByTable):
    """Similarities that are inner products of vectors, computed table by table.

    Every table has the same number of rows, including the last one, so that the bits of a product
    do not depend on the rows that are computed together with it.

    Attributes
    ----------
    queries, gallery : arrays or tensors, shapes (queries, d) and (gallery, d)
    """

    queries: Any
    gallery: Any

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """The number of queries, and the size of the gallery."""
        return len(self.queries), len(self.gallery)

    @property
    def rows_per_table(self) -> int:
        """The number of rows that are multiplied together."""
        bytes_per_row = self.queries.dtype.itemsize * self.shape[1]
        return _rows_per_table(_MAX_BYTES_PER_PRODUCT, bytes_per_row)

    def transpose(self) -> Products:
        """Return the rankings of the queries for each candidate."""
        return Products(self.gallery, self.queries)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the inner products of the vectors of ``rows`` and ``columns``."""
        backend = Backend(self.queries)
        n_rows = len(rows)
        queries = self.queries[_as_index(backend, rows)]
        gallery = self.gallery
        if columns is not None:
            gallery = gallery[_as_index(backend, columns)]
        if n_rows < self.rows_per_table < self.shape[0]:
            shape = (self.rows_per_table, queries.shape[1])
            padded = backend.xp.zeros(
                shape, dtype=queries.dtype, **backend.device_options
            )
            padded[:n_rows] = queries
            queries = padded
        return (queries @ gallery.T)[:n_rows]


def _as_index(backend: Backend, numbers: Ints) -> Any:
    """Return numbers as an index of arrays of the backend, as a slice if possible."""
    index = ragged.as_slice(numbers)
    if isinstance(index, slice) or not backend.uses_torch:
        return index
    return backend.array(index)


def check_repeats(run: Lists, noun: str = "candidate") -> None:
    """Check that no ranked list has an entry twice.

    Raises
    ------
    InputError
        If one does. The message names the item and the entry.
    """
    side = run.side
    width = max(1, len(run.vocabulary))
    keys = ragged.cell_keys(side.indptr, side.codes, width)
    is_first = ragged.first_occurrences(keys, width * len(run))
    if is_first is None:
        return
    occurrence = int((~is_first).argmax())
    row = int(np.searchsorted(side.indptr, occurrence, side="right")) - 1
    value = run.vocabulary[side.codes[occurrence]]
    raise InputError("duplicate", run.where(row), role=f"the {noun}", value=value)


@dataclass(frozen=True, eq=False, repr=False)
class RankedLists:
    """Ranked lists of candidates, the nearest first.

    Attributes
    ----------
    side : Side
        The candidates of each row. Scores, if there are any, are in descending order.
    size : int
        The size of the gallery.
    """

    side: Side
    size: int

    @staticmethod
    def of(side: Side, size: int) -> RankedLists:
        """Return the rankings of lists, which are sorted by their scores if they have any."""
        if side.scores is not None:
            order = ragged.order_rows(side.indptr, side.scores)
            side = Side(side.indptr, side.codes[order], side.scores[order])
        return RankedLists(side, size)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of lists, and the size of the gallery."""
        return len(self.side), self.size

    @property
    def rows_per_table(self) -> int:
        """The number of lists that are processed together."""
        n_bytes = max(1, _ENTRY_BYTES * len(self.side.codes))
        return max(1, _MAX_BYTES_PER_TABLE * len(self.side) // n_bytes)

    def _select(self, rows: Ints, columns: Ints | None) -> Side:
        """Return some lists with only the candidates in ``columns``."""
        side = self.side.take(rows)
        if columns is None:
            return side
        is_chosen = np.zeros(self.size, np.bool_)
        is_chosen[columns] = True
        return side.keep(is_chosen[side.codes])

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count the entries before each given candidate in the list of its row.

        The number of nearer entries is -1 if the candidate is not in the list. Candidates with
        equal scores are tied. In the list, they are in the order of the gallery.
        """
        side = self._select(rows, columns)
        row_of_entry = ragged.row_numbers(side.indptr)
        # A key identifies a row and a candidate.
        keys = row_of_entry * self.size + side.codes
        order = np.argsort(keys, kind="stable")
        sorted_keys = keys[order]
        given_keys = ragged.row_numbers(indptr) * self.size + codes
        places = np.searchsorted(sorted_keys, given_keys)
        is_listed = np.append(sorted_keys, -1)[places] == given_keys
        entries = order[places[is_listed]]
        tie_starts, tie_ends = self._find_ties(side)
        list_starts = side.indptr[row_of_entry]
        counts = Counts.empty(len(codes))
        counts.nearer[:] = -1
        counts.nearer[is_listed] = (tie_starts - list_starts)[entries]
        counts.tied[is_listed] = (tie_ends - tie_starts)[entries] - 1
        counts.tied_before[is_listed] = entries - tie_starts[entries]
        return counts

    def _find_ties(self, side: Side) -> tuple[Ints, Ints]:
        """Return, for each entry, where the run of entries with its score starts and ends."""
        is_start = np.ones(len(side.codes), np.bool_)
        if side.scores is not None:
            is_start = ragged.starts_run(ragged.row_numbers(side.indptr))
            is_start |= ragged.starts_run(side.scores)
        starts = np.flatnonzero(is_start)
        widths = np.diff(starts, append=len(is_start))
        return np.repeat(starts, widths), np.repeat(starts + widths, widths)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> Nearest:
        """Find the first candidate of each list, as `Similarities.nearest` does."""
        side = self._select(rows, columns)
        first = Nearest.empty(len(rows))
        filled_rows = np.flatnonzero(side.sizes)
        heads = side.indptr[filled_rows]
        head_codes = side.codes[heads]
        first.places[filled_rows] = head_codes
        first.others[filled_rows] = head_codes
        if side.scores is not None:
            first.values[filled_rows] = side.scores[heads]
        _, tie_ends = self._find_ties(side)
        first.tied[filled_rows] = tie_ends[heads] - heads - 1
        first.reached[filled_rows] = head_codes == codes[filled_rows]
        # In these rows the first entry is tied, and any tied entry may be the given candidate.
        for row in np.flatnonzero(first.tied).tolist():
            head = side.indptr[row]
            tied_codes = side.codes[head : tie_ends[head]]
            is_reached = (tied_codes == codes[row]).any()
            first.reached[row] = is_reached
            if not is_reached:
                first.tied[row] = 0
            if tied_codes[0] == codes[row]:
                first.others[row] = tied_codes[1]
        return first

    def first(
        self, rows: Ints, columns: Ints | None, k: int, later: Any
    ) -> list[Codes]:
        """Return the first k candidates of each list, among ``columns``."""
        side = self._select(rows, columns)
        first_codes = []
        for row in range(len(side)):
            entries = side.rows(row, row + 1)
            codes = entries.codes
            if later is not None and entries.scores is not None:
                order = np.lexsort((later[row][codes], -entries.scores))
                codes = codes[order]
            first_codes.append(codes[:k])
        return first_codes

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each list has."""
        return self._select(rows, columns).sizes


Rows: TypeAlias = Similarities | Products | RankedLists
"""A ranking of the gallery for each query."""


class Phi(NamedTuple):
    """A matrix of similarities in meaning, and the rows or columns of a task's queries in it.

    Attributes
    ----------
    matrix : array, shape (rows, columns) of the run
    queries : {"rows", "columns"}
        Whether the queries of the task are its rows or its columns.
    places_of_run : int array
        The row or column of the matrix for each row of the run, and -1 for none.
    identity : str
        The shape of the matrix and a hash of its values. If the matrix was computed, also how.
    """

    matrix: Any
    queries: Literal["rows", "columns"]
    places_of_run: Ints
    identity: str

    def places(self, rows: Ints) -> Ints:
        """Return the rows or columns of queries by their rows in the run, and -1 for none."""
        return np.where(rows >= 0, self.places_of_run[rows], -1)

    def part(self, rows: Ints, candidates: Ints, identity: str) -> Phi:
        """Return the part for some rows of the run, and for some candidates in ascending order.

        It is a view if it is a block of the matrix.
        """
        places = self.places(rows)
        has_place = places >= 0
        queries = np.unique(places[has_place])
        query_index = ragged.as_slice(queries)
        candidate_index = ragged.as_slice(candidates)
        if self.queries == "rows":
            matrix = self.matrix[query_index][:, candidate_index]
        else:
            matrix = self.matrix[candidate_index][:, query_index]
        places_of_run = np.full(len(self.places_of_run), -1)
        places_of_run[rows[has_place]] = np.searchsorted(queries, places[has_place])
        return Phi(matrix, self.queries, places_of_run, identity)


def fingerprint(matrix: Any) -> str:
    """Return the shape of a matrix and twelve hex digits of a hash of its values, as float64.

    Examples
    --------
    >>> fingerprint(np.eye(2, dtype=np.float32)) == fingerprint(np.eye(2))
    True
    """
    # Imported here, because the import takes 5 ms and few scores need it.
    from concurrent.futures import ThreadPoolExecutor

    n_rows, n_columns = matrix.shape
    n_rows_per_part = max(1, _MAX_BYTES_PER_HASH // max(1, 8 * n_columns))
    starts = range(0, n_rows, n_rows_per_part)
    hash_part = partial(_hash_rows, matrix, n_rows_per_part)
    with ThreadPoolExecutor(2) as pool:
        digests = b"".join(pool.map(hash_part, starts))
    digest = hashlib.blake2b(digests, digest_size=6).hexdigest()
    return f"{n_rows}x{n_columns}@{digest}"


def _hash_rows(matrix: Any, n_rows: int, start: int) -> bytes:
    """Return a hash of the values of some rows of a matrix as float64."""
    values = np.ascontiguousarray(matrix[start : start + n_rows], "<f8")
    data = values.data if values.size else b""
    return hashlib.blake2b(data, digest_size=16).digest()


def options_of_computed_phi(identity: str, name: str) -> dict[str, Any]:
    """Return the options with which a phi was computed. There are none if it was read.

    Parameters
    ----------
    identity : str
        Its identity in a signature. Settings follow the hash, after semicolons or vertical bars.
    name : str
        The name of the phi in measures.

    Examples
    --------
    >>> options_of_computed_phi("3x6@0b6523f5e0c0;CIDEr;tok:13a;df@0c6416d5fdbd", "default")
    {'phi': {'default': 'CIDEr'}, 'tokenizer': '13a'}
    >>> options_of_computed_phi("3x6@0b6523f5e0c0", "default")
    {}
    """
    _, *settings = identity.split(";")
    if not settings:
        return {}
    measure, *settings = settings
    options: dict[str, Any] = {PHI: {name: measure}}
    for setting in re.split("[;|]", ";".join(settings)):
        key, _, value = setting.partition(":")
        if key in _OPTION_OF_KEY:
            options[_OPTION_OF_KEY[key]] = value
    return options
