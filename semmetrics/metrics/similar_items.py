"""What is retrieved and what is most similar: rankings, phi, and the extended ground truth.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction: with
``queries="rows"`` images are the queries and captions the gallery, with ``queries="columns"`` the
other way round. It is an array, also a memory-mapped one, or anything with a shape whose slices of
rows are arrays; it is read in blocks, and never copied or transposed whole.

A ranking is an array ``top`` of shape (queries, ranks): places in the gallery, best first; what a
short ranking lacks is -1, at its end. A relation between queries and items is a pair (indptr,
indices): the items of query q are ``indices[indptr[q]:indptr[q + 1]]``.

Of equal numbers the first in the gallery wins, in rankings and among the most similar items. The
released code of Biten et al. reverses an unstable sort, so that there another one may win.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2; their released code,
furkanbiten/ncs_metric.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    cell_keys,
    distinct_codes,
    is_member,
    lengths,
    offsets,
    row_numbers,
    take_rows,
)
from semmetrics.core.top_k import row_slices, top_k
from semmetrics.errors import FROM_0, InputError, brief, pluralize
from semmetrics.frozen import by_value, dataclass

__all__ = [
    "MostSimilar", "Queries", "Relation", "Retrieved", "captions_of_images", "check_found",
    "check_relation", "images_of_captions", "most_similar", "similar_images", "take_phi",
    "top_items",
]  # fmt: skip

Queries: TypeAlias = Literal["rows", "columns"]
Relation: TypeAlias = tuple[Ints, Ints]

_MEMORY = 1 << 26
_PAIR = "give a pair of arrays (indptr, indices)"
_MATRIX = "give an array of numbers, with a row for each image and a column for each caption"


@by_value()
@dataclass(frozen=True, eq=False)
class MostSimilar:
    """The gallery's most similar items of each query: found once, used for every cutoff.

    Attributes
    ----------
    values : array, shape (queries, n), float64
        Their phi, falling; 0 where there are fewer items.
    places : array, shape (queries, n), int64
        Their places in the gallery; -1 where there are fewer items.
    sizes : array, shape (queries,), int64
        How many items each query can retrieve: the gallery without what is left out.
    """

    values: Floats
    places: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, stop: int) -> MostSimilar:
        """Return those of queries start to stop."""
        some = slice(start, stop)
        return MostSimilar(self.values[some], self.places[some], self.sizes[some])

    def relation(self, m: int) -> Relation:
        """Return the m most similar items of each query: the extended ground truth of equation 4.

        Raises
        ------
        InputError
            If fewer were found.
        """
        check_found(self, m, f"m={m}")
        places = self.places[:, :m]
        return offsets((places >= 0).sum(axis=1)), places[places >= 0]


@checked
def top_items(
    similarities: Any,
    k: int,
    *,
    queries: Queries = "rows",
    leave_out: Any = None,
) -> Ints:
    """Rank the gallery for each query, as far as its k best items.

    Parameters
    ----------
    similarities : array, shape (images, captions), or what gives rows by slices
        Higher is more similar.
    k : int
        From 1; a gallery with fewer items gives fewer.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that are not ranked, such as its ground truth.

    Returns
    -------
    array, shape (queries, k or the size of the gallery), int64
        Places in the gallery, best first; of equal similarities the first. -1 where none is left.

    Raises
    ------
    InputError
        If a similarity is NaN; names its row and column.

    Examples
    --------
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 2)
    array([[1, 2],
           [0, 2]])
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 1, queries="columns").ravel()
    array([1, 0, 1])
    """
    similarities = as_matrix(similarities, "similarities")
    return most_similar(similarities, k, queries=queries, leave_out=leave_out).places


@checked
def most_similar(
    phi: Any,
    k: int,
    *,
    queries: Queries = "rows",
    leave_out: Any = None,
) -> MostSimilar:
    """Find the k items of the gallery that are most similar to each query.

    Parameters
    ----------
    phi : array, shape (images, captions), or what gives rows by slices
    k : int
        From 1: the largest cutoff, or m, that is needed.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that do not count: its ground truth, where that is left out.

    Returns
    -------
    MostSimilar

    Raises
    ------
    InputError
        If a number is NaN, or the relation does not fit the matrix.

    Examples
    --------
    >>> best = most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2)
    >>> best.values.tolist(), best.places.tolist()
    ([[2.0, 1.0], [3.0, 0.1]], [[0, 2], [1, 2]])
    >>> own = np.array([0, 1, 2]), np.array([0, 1])
    >>> most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2, leave_out=own).places.tolist()
    [[2, 1], [2, 0]]
    """
    matrix = as_matrix(phi)
    n_queries, width = sides(matrix, queries)
    if k < 1:
        raise InputError(f"k={k}", remedy="give a whole number from 1")
    sizes = np.full(n_queries, width)
    most = 0
    if leave_out is not None:
        leave_out = check_relation(leave_out, n_queries, width, "leave_out")
        own = lengths(leave_out[0])
        sizes, most = sizes - own, int(own.max(initial=0))
    k = min(k, width)
    found = np.zeros((n_queries, k)), np.full((n_queries, k), -1)
    if n_queries and k:
        values, places = top_k(matrix, min(k + most, width), columns=queries == "columns")
        if leave_out is not None:
            places, came = _without(places, leave_out, width)
            values = np.where(places >= 0, np.take_along_axis(values, came, axis=1), 0.0)
        n = min(k, places.shape[1])
        found[0][:, :n], found[1][:, :n] = values[:, :n], places[:, :n]
    return MostSimilar(*found, sizes)


@checked
def similar_images(
    phi: Any,
    captions: Any,
    m: int,
    *,
    depth: int = 10,
    itself: bool = False,
    best: MostSimilar | None = None,
) -> Ints:
    """Find the images that are similar to each image by its captions, as the released code does.

    Each caption of an image has a list of its ``depth`` most similar images. The phi of an image
    are added over the lists that it is in; the images with the largest sums are the similar ones,
    of equal sums the one that a list has first.

    Parameters
    ----------
    phi : array, shape (images, captions), or what gives rows by slices
    captions : pair of int arrays
        The captions of each image.
    m : int
        From 1: how many images are wanted; ``threshold`` there.
    depth : int
        From 1; in the released code the last of its cutoffs.
    itself : bool
        Whether an image may be similar to itself (``include_anns`` there).
    best : MostSimilar, optional
        The most similar images of each caption, at least ``depth`` of them and with nothing left
        out; found where it is not given.

    Returns
    -------
    array, shape (images, m), int64
        Most similar first; -1 where the lists hold fewer images.

    Raises
    ------
    InputError
        If a number is NaN, or the relation does not fit the matrix.

    References
    ----------
    Biten et al., 2022, the method ``get_intersection`` of the released code.

    Examples
    --------
    >>> phi = np.array([[5.0, 4.0, 1.0, 0.0], [2.0, 0.0, 6.0, 3.0], [0.0, 3.0, 2.0, 7.0]])
    >>> captions = np.array([0, 2, 3, 4]), np.array([0, 1, 2, 3])
    >>> similar_images(phi, captions, 1, depth=2).ravel().tolist()
    [2, 2, 1]
    """
    matrix = as_matrix(phi)
    n_images, n_captions = matrix.shape
    for name, value in (("m", m), ("depth", depth)):
        if value < 1:
            raise InputError(f"{name}={value}", remedy="give a whole number from 1")
    indptr, indices = check_relation(captions, n_images, n_captions, "captions")
    depth = max(1, min(depth, n_images))
    if best is None:
        best = most_similar(matrix, depth, queries="columns")
    if len(best) != n_captions or (best.sizes != n_images).any():
        raise InputError("best= is not of all captions and images",
                         remedy="give most_similar(phi, depth, queries='columns')")  # fmt: skip
    check_found(best, depth, "depth")
    image = np.repeat(row_numbers(indptr), depth)
    other, values = (part[indices, :depth].ravel() for part in (best.places, best.values))
    if not itself:
        image, other, values = (part[other != image] for part in (image, other, values))
    cells, first, cell = np.unique(image * n_images + other, return_index=True, return_inverse=True)
    sums = np.bincount(cell, values, len(cells))
    order = np.lexsort((first, -sums, cells // n_images))
    owner = (cells // n_images)[order]
    counts = np.bincount(owner, minlength=n_images)
    rank = np.arange(len(owner)) - np.repeat(offsets(counts)[:-1], counts)
    found = np.full((n_images, m), -1)
    found[owner[rank < m], rank[rank < m]] = (cells % n_images)[order][rank < m]
    return found


@checked
def captions_of_images(images: ArrayLike, captions: Any) -> Relation:
    """Return all captions of the images of each row: the extended ground truth of image queries.

    Parameters
    ----------
    images : int array, shape (queries, m)
        As `similar_images` gives them.
    captions : pair of int arrays
        The captions of each image.

    Returns
    -------
    pair of int arrays
        The captions of each query.

    Raises
    ------
    InputError
        If an image has no entry in the relation, or it is none.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in captions_of_images(np.array([[1], [0]]), captions)]
    [[0, 1, 3], [2, 0, 1]]
    """
    indptr, indices = check_relation(captions, None, None, "captions")
    table = _check_places(images, len(indptr) - 1, "images")
    kept = table >= 0
    found, flat = take_rows(indptr, table[kept])
    owner = np.nonzero(kept)[0]
    counts = np.bincount(owner, lengths(found), len(table)).astype(np.int64)
    return offsets(counts), indices[flat]


@checked
def images_of_captions(images: ArrayLike, captions: Any, n_captions: int) -> Relation:
    """Return the images similar to each caption's own: the extended ground truth of captions.

    Parameters
    ----------
    images : int array, shape (images, m)
        As `similar_images` gives them.
    captions : pair of int arrays
        The captions of each image.
    n_captions : int

    Returns
    -------
    pair of int arrays
        The images of each caption, rising.

    Raises
    ------
    InputError
        If the images are not those of the relation, or it is none.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in images_of_captions(np.array([[1], [0]]), captions, 3)]
    [[0, 1, 2, 3], [1, 1, 0]]
    """
    if n_captions < 0:
        raise InputError(f"n_captions={n_captions}", remedy="give their number")
    indptr, indices = check_relation(captions, None, n_captions, "captions")
    table = _check_places(images, len(indptr) - 1, "images")
    if len(table) != len(indptr) - 1:
        raise InputError(
            f"images= has {pluralize(len(table), 'row')}, and captions= has "
            f"{pluralize(len(indptr) - 1, 'image')}",
            remedy="give those of all images, as similar_images does",
        )
    order = np.argsort(indices, kind="stable")
    wide = table[row_numbers(indptr)[order]]
    owner = np.repeat(indices[order], (wide >= 0).sum(axis=1))
    counts = np.bincount(owner, minlength=n_captions)
    of, found, _ = distinct_codes(offsets(counts), wide[wide >= 0], len(table))
    return of, found


@dataclass(frozen=True, eq=False)
class Retrieved:
    """The items that some queries in a row retrieved, without what is left out.

    Attributes
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    queries : {"rows", "columns"}
    start : int
        The first of the queries.
    places : array, shape (queries, k), int64
        Best first; -1 where a ranking is shorter.
    leave_out : pair of int arrays or None
    """

    matrix: Any
    queries: Queries
    start: int
    places: Ints
    leave_out: Relation | None

    @classmethod
    def of(
        cls,
        top: Any,
        matrix: Any,
        k: int,
        queries: Queries,
        leave_out: Relation | None,
        start: int,
    ) -> Retrieved:
        """Check a ranking, and keep the first k that count.

        Raises
        ------
        InputError
            If it does not fit the matrix, or has too few ranks.
        """
        n_queries, width = sides(matrix, queries)
        places = _check_ranking(top, width)
        if not 0 <= start <= n_queries - len(places):
            raise InputError(
                f"top has {pluralize(len(places), 'row')}, start={start}, and there are "
                f"{pluralize(n_queries, 'query')} ({queries} of phi)",
                remedy="give a row a query, and queries='columns' where captions are the queries",
            )
        short, sizes = (places < 0).any(axis=1), np.full(len(places), width)
        if leave_out is not None:
            leave_out = check_relation(leave_out, len(places), width, "leave_out")
            places, sizes = _without(places, leave_out, width)[0], sizes - lengths(leave_out[0])
        found = (places >= 0).sum(axis=1)
        few = np.flatnonzero(~short & (found < np.minimum(k, sizes)))
        if len(few):
            raise InputError(
                f"top has {pluralize(int(found[few[0]]), 'rank')} that count, and the largest "
                f"cutoff is {k}",
                where=f"query {few[0] + start}{FROM_0}",
                remedy="give more ranks; -1 marks the end of a short ranking",
            )
        wide = np.full((len(places), min(k, width)), -1)
        wide[:, : places.shape[1]] = places[:, : wide.shape[1]]
        return cls(matrix, queries, start, wide, leave_out)

    @property
    def width(self) -> int:
        """Items of the gallery."""
        return sides(self.matrix, self.queries)[1]

    def phi(self) -> Floats:
        """Return phi of what is retrieved, shape (queries, k); 0 where a ranking is shorter."""
        found, kept = np.zeros(self.places.shape), self.places >= 0
        query = np.nonzero(kept)[0] + self.start
        found[kept] = take_phi(self.matrix, query, self.places[kept], self.queries)
        return found

    def phi_of(self, relation: Relation) -> Floats:
        """Return phi of a relation's items, one after the other."""
        return take_phi(
            self.matrix, row_numbers(relation[0]) + self.start, relation[1], self.queries
        )

    def among(self, relation: Relation) -> Bools:
        """Tell which of the items are in a relation, shape (queries, k)."""
        return _is_in(self.places, relation, self.width)

    def best(self, k: int, given: MostSimilar | None) -> MostSimilar:
        """Return the k most similar items of these queries, found where they are not given.

        Raises
        ------
        InputError
            If fewer are given, or those of another number of queries.
        """
        k = max(1, min(k, self.width))
        if given is None:
            given = most_similar(
                self._own_rows(), k, queries=self.queries, leave_out=self.leave_out
            )
        if len(given) != len(self.places):
            raise InputError(
                f"best= is of {pluralize(len(given), 'query')}, and top of {len(self.places):,}",
                remedy="give best.part(start, stop)",
            )
        check_found(given, k, "the largest cutoff")
        return given

    def _own_rows(self) -> Any:
        """Return the part of phi that is of these queries."""
        some = slice(self.start, self.start + len(self.places))
        if len(self.places) == sides(self.matrix, self.queries)[0]:
            return self.matrix
        if self.queries == "rows":
            return self.matrix[some]
        if isinstance(self.matrix, np.ndarray):
            return self.matrix[:, some]
        rows = row_slices(self.matrix, _MEMORY)
        return np.concatenate([np.asarray(self.matrix[one])[:, some] for one in rows])


def as_matrix(values: Any, name: str = "phi") -> Any:
    """Return an array, or what gives rows by slices as it is.

    Raises
    ------
    InputError
        If it is no matrix of numbers.
    """
    table = values
    if not isinstance(getattr(values, "shape", None), tuple):
        try:
            table = np.asarray(values)
        except ValueError:  # rows of different lengths
            raise InputError(f"{name}={brief(values)}", remedy=_MATRIX) from None
    if len(table.shape) != 2 or getattr(table, "dtype", np.dtype(float)).kind not in "biuf":
        shape = f", of shape {table.shape}" if table.shape else ""
        raise InputError(f"{name}={brief(values)}{shape}", remedy=_MATRIX)
    return table


def sides(matrix: Any, queries: str) -> tuple[int, int]:
    """Return the numbers of queries and of items in the gallery.

    Raises
    ------
    InputError
        If queries are neither rows nor columns.
    """
    if queries not in ("rows", "columns"):
        raise InputError(f"queries={queries!r}", remedy="choose 'rows' or 'columns'")
    rows, columns = matrix.shape
    return (rows, columns) if queries == "rows" else (columns, rows)


def take_phi(matrix: Any, query: Ints, place: Ints, queries: Queries = "rows") -> Floats:
    """Return phi of pairs of a query and an item of the gallery.

    Parameters
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    query, place : int arrays, shape (n,)
    queries : {"rows", "columns"}

    Returns
    -------
    array, shape (n,), float64

    Raises
    ------
    InputError
        If one is NaN; names its row and column.

    Examples
    --------
    >>> take_phi(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), np.array([0, 0]), "columns")
    array([2., 1.])
    """
    row, column = (query, place) if queries == "rows" else (place, query)
    if isinstance(matrix, np.ndarray):
        found = matrix[row, column].astype(np.float64)
    else:
        found = np.empty(len(row))
        for block in row_slices(matrix, _MEMORY):
            here = np.flatnonzero((row >= block.start) & (row < block.stop))
            if len(here):
                found[here] = np.asarray(matrix[block])[row[here] - block.start, column[here]]
    wrong = np.flatnonzero(np.isnan(found))
    if len(wrong):
        where = f"row {row[wrong[0]]}, column {column[wrong[0]]}{FROM_0}"
        raise InputError("phi is NaN", where=where, remedy="replace it")
    return found


def check_found(best: MostSimilar, k: int, what: str) -> None:
    """Refuse to use more of the most similar items than were found.

    Raises
    ------
    InputError
        If so; an item that does not exist need not be found.
    """
    if k < 1 or (k > best.values.shape[1] and (best.sizes > best.values.shape[1]).any()):
        raise InputError(
            f"{what} is {k}, and {pluralize(best.values.shape[1], 'similar item')} a query "
            "were found",
            remedy="find more: most_similar(phi, k)",
        )


def check_relation(relation: Any, n: int | None, width: int | None, name: str) -> Relation:
    """Return a relation of n queries as int64 arrays; of any where it is None, and so the gallery.

    Raises
    ------
    InputError
        If it is no such pair, holds an item that is not in the gallery, or one twice in a row;
        names it and the query.
    """
    if not isinstance(relation, tuple | list) or len(relation) != 2:
        raise InputError(f"{name}={brief(relation)}", remedy=_PAIR)
    indptr, indices = (_whole_numbers(part, 1, name) for part in relation)
    n = max(0, len(indptr) - 1) if n is None else n
    if len(indptr) != n + 1 or not _is_rising(indptr, len(indices)):
        raise InputError(
            f"{name}= has {pluralize(len(indptr), 'offset')} for {pluralize(n, 'query')} and "
            f"{pluralize(len(indices), 'item')}",
            remedy="give offsets that rise from 0 to the number of items, one more than queries",
        )
    width = int(indices.max(initial=-1)) + 1 if width is None else width
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    keys = cell_keys(indptr, indices, width)
    order = np.argsort(keys, kind="stable")
    twice = order[1:][keys[order][1:] == keys[order][:-1]]
    for bad, what in ((outside, f"is not in the gallery of {width:,}"), (twice, "stands twice")):
        if len(bad):
            query = int(np.searchsorted(indptr, bad[0], side="right")) - 1
            raise InputError(
                f"item {indices[bad[0]]} {what}", where=f"{name}=, query {query}{FROM_0}",
                remedy="mend the relation",
            )  # fmt: skip
    return indptr, indices


def _is_rising(indptr: Ints, stop: int) -> bool:
    """Tell whether offsets rise from 0 to the number of items."""
    return not indptr[0] and indptr[-1] == stop and not (np.diff(indptr) < 0).any()


def _whole_numbers(values: Any, dimensions: int, name: str) -> Ints:
    """Return an array of so many dimensions as int64.

    Raises
    ------
    InputError
        If it is another one, or holds other things; names it.
    """
    try:
        table = np.asarray(values)
    except ValueError:  # rows of different lengths
        table = np.zeros(0, object)
    if table.ndim != dimensions or (table.size and table.dtype.kind not in "iu"):
        what = "a vector" if dimensions == 1 else "a table, with a row for each query"
        raise InputError(
            f"{name}={brief(values)} is no array of {dimensions} dimensions of whole numbers",
            remedy=f"give places as {what}",
        )
    return table.astype(np.int64)


def _check_places(values: Any, size: int, name: str) -> Ints:
    """Return a table of places, -1 for none.

    Raises
    ------
    InputError
        If one is outside; names the row.
    """
    table = _whole_numbers(values, 2, name)
    outside = ((table < -1) | (table >= size)).any(axis=1)
    if outside.any():
        raise InputError(
            f"a place is none of {size:,}",
            where=f"{name}=, row {outside.argmax()}{FROM_0}", remedy="mend it",
        )  # fmt: skip
    return table


def _check_ranking(top: Any, width: int) -> Ints:
    """Return a ranking as int64.

    Raises
    ------
    InputError
        If it is none, or holds an item twice, or one that is not in the gallery; names the query.
    """
    places = _whole_numbers(top, 2, "top")
    ordered = np.sort(places, axis=1)
    twice = ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any(axis=1)
    for bad, what in (
        (
            ((places < -1) | (places >= width)).any(axis=1),
            f"a place is not in the gallery of {width:,}",
        ),
        (((places[:, 1:] >= 0) & (places[:, :-1] < 0)).any(axis=1), "an item stands behind -1"),
        (twice, "an item stands twice"),
    ):
        if bad.any():
            where = f"top, query {bad.argmax()}{FROM_0}"
            raise InputError(what, where=where, remedy="mend the ranking")
    return places


def _without(places: Ints, relation: Relation, width: int) -> tuple[Ints, Ints]:
    """Leave items out of rankings; return the places, and the columns that they came from."""
    gone = _is_in(places, relation, width) | (places < 0)
    columns = np.argsort(gone, axis=1, kind="stable")
    kept = np.take_along_axis(places, columns, axis=1)
    kept[np.take_along_axis(gone, columns, axis=1)] = -1
    return kept, columns


def _is_in(places: Ints, relation: Relation, width: int) -> Bools:
    n = len(places)
    keys = (np.arange(n)[:, None] * width + np.maximum(places, 0)).ravel()
    found = is_member(keys, cell_keys(*relation, width), n * width).reshape(places.shape)
    return found & (places >= 0)
