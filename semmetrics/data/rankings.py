"""What ranks a gallery, a row for each query: similarities, products of vectors, ranked lists.

Conventions
-----------
Columns are the candidates of the gallery. Similarities are never sorted whole, and those of vectors
never held whole: rows are looked at a table at a time. phi says how similar in meaning queries and
candidates are: a matrix beside their scores.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.backend import Backend
from semmetrics.core.ragged import Codes, Ints
from semmetrics.core.ranks import Counts, First, count_down, count_nearer, find_first
from semmetrics.core.top_k import first_places
from semmetrics.data.lists import Lists, Side
from semmetrics.errors import InputError

PHI, DEPTH, MOST = "phi", "depth", "most similar"
"""What a retrieval task has beside it: matrices by name, how deep rankings and lists of the most
similar items are needed."""
_MEMORY = 1 << 26  # bytes of a table
_PRODUCTS = 1 << 28  # the same of products, which are faster the more rows they have
_LEAST_ROWS, _MOST_ROWS = 64, 4096  # rows of a table
_PART = 1 << 26  # bytes that are hashed at a time
_FEW = 3  # positives of a query up to which a table is read as it lies


class _Tables(ABC):
    """Rows whose similarities to all candidates are computed, or read, a table at a time."""

    shape: tuple[int, int]

    @abstractmethod
    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of some rows to some candidates."""

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count what is nearer than some candidates, among the columns given."""
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
        return count_nearer(self.table(rows, columns), indptr, codes)

    def first(
        self, rows: Ints, columns: Ints | None, k: int, later: Any
    ) -> list[Codes]:
        """Return the first k candidates of each row."""
        table = self.table(rows, columns)
        if later is not None and columns is not None:
            later = later[:, columns]
        found = first_places(table, min(k, table.shape[1]), later)
        return list(found if columns is None else columns[found])

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each row ranks: all."""
        return np.full(len(rows), self.shape[1] if columns is None else len(columns))


@dataclass(frozen=True, eq=False, repr=False)
class Similarities(_Tables):
    """A matrix of similarities.

    Attributes
    ----------
    values : array
        Queries x gallery, or gallery x queries where ``transposed``; perhaps memory-mapped.
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
    def step(self) -> int:
        """How many rows are looked at together."""
        return min(_MOST_ROWS, max(_LEAST_ROWS, _MEMORY // max(1, 8 * self.shape[1])))

    def transpose(self) -> Similarities:
        """Return the same with the gallery as queries."""
        return Similarities(self.values, not self.transposed)

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count what is nearer than some candidates; down the columns where that is less work."""
        if not self.transposed or int(ragged.lengths(indptr).max(initial=0)) > _FEW:
            return super().count(rows, columns, indptr, codes)
        part = self.values
        if columns is not None:
            codes = np.searchsorted(columns, codes).astype(np.int32)
            part = part[ragged.as_slice(columns)]
        return count_down(part[:, ragged.as_slice(rows)], indptr, codes)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the similarities of some rows; of half precision as single, which is exact."""
        mine = ragged.as_slice(rows)
        theirs = slice(None) if columns is None else ragged.as_slice(columns)
        first, second = (theirs, mine) if self.transposed else (mine, theirs)
        part = self.values[first][:, second]
        kind = np.float32 if part.dtype.itemsize < 4 else part.dtype
        return np.ascontiguousarray(part.T if self.transposed else part, kind)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> First:
        """Find what is nearest to each row among the columns given, beside one candidate of each.

        Parameters
        ----------
        rows : int array
        columns : int array, rising, or None
        codes : int array
            The candidate of each row that is asked for; -1 for none.
        """
        if columns is None:
            return find_first(self.table(rows, None), codes)
        place = np.searchsorted(columns, codes)
        inside = np.append(columns, -1)[place] == codes
        found = find_first(self.table(rows, columns), np.where(inside, place, -1))
        return found._replace(
            places=columns[found.places].astype(np.int32),
            others=columns[found.others].astype(np.int32),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Products(_Tables):
    """Similarities that are inner products of vectors, computed a table at a time.

    Every table has the same number of rows, the last one too, so that the bits of a product do not
    depend on the rows computed with it.

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
    def step(self) -> int:
        """How many rows are multiplied together."""
        size = self.queries.dtype.itemsize
        return int(
            min(_MOST_ROWS, max(_LEAST_ROWS, _PRODUCTS // max(1, size * self.shape[1])))
        )

    def transpose(self) -> Products:
        """Return the same with the gallery as queries."""
        return Products(self.gallery, self.queries)

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Multiply some rows with some of the gallery."""
        backend = Backend(self.queries)
        part = self.queries[_chosen(backend, rows)]
        gallery = (
            self.gallery if columns is None else self.gallery[_chosen(backend, columns)]
        )
        if len(rows) < self.step < self.shape[0]:
            full = backend.xp.zeros(
                (self.step, part.shape[1]), dtype=part.dtype, **backend.place
            )
            full[: len(rows)] = part
            part = full
        return (part @ gallery.T)[: len(rows)]


def _chosen(backend: Backend, numbers: Ints) -> Any:
    found = ragged.as_slice(numbers)
    return (
        found if isinstance(found, slice) or not backend.torch else backend.array(found)
    )


def check_repeats(run: Lists, noun: str = "candidate") -> None:
    """Refuse a ranked list that has an entry twice.

    Raises
    ------
    InputError
        Names the item and the entry.
    """
    side, width = run.side, max(1, len(run.vocabulary))
    keys = ragged.cell_keys(side.indptr, side.codes, width)
    first = ragged.first_occurrences(keys, width * len(run))
    if first is None:
        return
    occurrence = int((~first).argmax())
    row = int(np.searchsorted(side.indptr, occurrence, side="right")) - 1
    value = run.vocabulary[side.codes[occurrence]]
    raise InputError("duplicate", run.where(row), role=f"the {noun}", value=value)


@dataclass(frozen=True, eq=False, repr=False)
class RankedLists:
    """Ranked lists of candidates, the nearest first.

    Attributes
    ----------
    side : Side
        Candidates of each row; where they have scores these fall.
    size : int
        Of the gallery.
    """

    side: Side
    size: int

    @staticmethod
    def of(side: Side, size: int) -> RankedLists:
        """Put lists with scores in the order of these."""
        if side.scores is not None:
            order = ragged.order_rows(side.indptr, side.scores)
            side = Side(side.indptr, side.codes[order], side.scores[order])
        return RankedLists(side, size)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of lists, and the size of the gallery."""
        return len(self.side), self.size

    @property
    def step(self) -> int:
        """How many lists are looked at together."""
        return max(1, _MEMORY * len(self.side) // max(1, 64 * len(self.side.codes)))

    def _select(self, rows: Ints, columns: Ints | None) -> Side:
        side = self.side.take(rows)
        if columns is None:
            return side
        inside = np.zeros(self.size, np.bool_)
        inside[columns] = True
        return side.keep(inside[side.codes])

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Find each candidate in its list, and count what stands before it; -1 if it is not there.

        Candidates with equal scores are tied; their order in the list is that of the gallery.
        """
        side = self._select(rows, columns)
        keys = ragged.row_numbers(side.indptr) * self.size + side.codes
        order = np.argsort(keys, kind="stable")
        sought = ragged.row_numbers(indptr) * self.size + codes
        place = np.searchsorted(keys[order], sought)
        there = np.append(keys[order], -1)[place] == sought
        found = Counts.empty(len(codes))
        flat = order[place[there]]
        first, last = self._runs(side)
        starts = side.indptr[ragged.row_numbers(side.indptr)]
        found.nearer[:] = -1
        found.nearer[there] = (first - starts)[flat]
        found.tied[there] = (last - first)[flat] - 1
        found.tied_before[there] = flat - first[flat]
        return found

    def _runs(self, side: Side) -> tuple[Ints, Ints]:
        """Return where the run of equal scores begins and ends that each entry is in."""
        new = np.ones(len(side.codes), np.bool_)
        if side.scores is not None:
            new = ragged.starts_run(ragged.row_numbers(side.indptr))
            new |= ragged.starts_run(side.scores)
        starts = np.flatnonzero(new)
        widths = np.diff(starts, append=len(new))
        return np.repeat(starts, widths), np.repeat(starts + widths, widths)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> First:
        """Find what each list has first among the candidates given; see `Similarities.nearest`."""
        side, found = self._select(rows, columns), First.empty(len(rows))
        some = np.flatnonzero(side.sizes)
        heads = side.indptr[some]
        found.places[some] = found.others[some] = side.codes[heads]
        if side.scores is not None:
            found.values[some] = side.scores[heads]
        ends = self._runs(side)[1]
        found.tied[some] = ends[heads] - heads - 1
        found.reached[some] = side.codes[heads] == codes[some]
        for row in np.flatnonzero(found.tied).tolist():
            head = side.indptr[row]
            tied = side.codes[head : ends[head]]
            found.reached[row] = (tied == codes[row]).any()
            found.tied[row] *= found.reached[row]
            found.others[row] = tied[int(tied[0] == codes[row])]
        return found

    def first(
        self, rows: Ints, columns: Ints | None, k: int, later: Any
    ) -> list[Codes]:
        """Return the first k candidates of each list."""
        side = self._select(rows, columns)
        found = []
        for row in range(len(side)):
            one = side.rows(row, row + 1)
            codes = one.codes
            if later is not None and one.scores is not None:
                codes = codes[np.lexsort((later[row][codes], -one.scores))]
            found.append(codes[:k])
        return found

    def sizes(self, rows: Ints, columns: Ints | None) -> Ints:
        """Return how many candidates each list has."""
        return ragged.lengths(self._select(rows, columns).indptr)


Rows: TypeAlias = Similarities | Products | RankedLists
"""What ranks the gallery, a row for each query."""


class Phi(NamedTuple):
    """A matrix of similarities in meaning, and how a task's queries lie in it.

    Attributes
    ----------
    matrix : array, shape (rows, columns) of the run
    queries : {"rows", "columns"}
        What of it the queries of the task are.
    place : int array
        The row (or column) of each row of the run; -1 for none.
    identity : str
        Its shape and a hash of its values; of one that was computed also how.
    """

    matrix: Any
    queries: Literal["rows", "columns"]
    place: Ints
    identity: str

    def places(self, rows: Ints) -> Ints:
        """Return where queries lie that have those rows of the run; -1 for none."""
        return np.where(rows >= 0, self.place[rows], -1)

    def part(self, rows: Ints, candidates: Ints, identity: str) -> Phi:
        """Return the part of some rows of the run, and of some candidates, which rise.

        It is looked at where it lies, if it is a block.
        """
        places = self.places(rows)
        kept = np.unique(places[places >= 0])
        sides = (kept, candidates) if self.queries == "rows" else (candidates, kept)
        first, second = map(ragged.as_slice, sides)
        matrix = self.matrix[first][:, second]
        place = np.full(len(self.place), -1)
        place[rows[places >= 0]] = np.searchsorted(kept, places[places >= 0])
        return Phi(matrix, self.queries, place, identity)


def fingerprint(matrix: Any) -> str:
    """Return the shape of a matrix and twelve hex digits of a hash of its values, as float64.

    Examples
    --------
    >>> fingerprint(np.eye(2, dtype=np.float32)) == fingerprint(np.eye(2))
    True
    """
    # not for every score: it takes 5 ms
    from concurrent.futures import (
        ThreadPoolExecutor,
    )

    rows, columns = matrix.shape
    step = max(1, _PART // max(1, 8 * columns))

    def digest(start: int) -> bytes:
        part = np.ascontiguousarray(matrix[start : start + step], "<f8")
        return hashlib.blake2b(part.data if part.size else b"", digest_size=16).digest()

    with ThreadPoolExecutor(2) as pool:
        parts = b"".join(pool.map(digest, range(0, rows, step)))
    return f"{rows}x{columns}@{hashlib.blake2b(parts, digest_size=6).hexdigest()}"


def computed_as(identity: str, name: str) -> dict[str, Any]:
    """Return the options by which a phi of that identity was computed; none of one that was read.

    Parameters
    ----------
    identity : str
    name : str
        What measures call it.

    Examples
    --------
    >>> computed_as("3x6@0b6523f5e0c0;CIDEr;tok:13a;df@0c6416d5fdbd", "default")
    {'phi': {'default': 'CIDEr'}, 'tokenizer': '13a'}
    >>> computed_as("3x6@0b6523f5e0c0", "default")
    {}
    """
    _, *how = identity.split(";")
    if not how:
        return {}
    names = {"tok": "tokenizer", "lookup": "lookup", "oov": "oov"}
    parts = [part.partition(":") for text in how[1:] for part in text.split("|")]
    return {
        PHI: {name: how[0]},
        **{names[key]: value for key, _, value in parts if key in names},
    }
