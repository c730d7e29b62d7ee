"""Relations between queries and items, rankings, and phi: checked, read, and searched.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction: with
``queries="rows"`` images are the queries and captions the gallery, with ``queries="columns"`` the
other way round. It is an array, also a memory-mapped one, a sparse matrix (what it does not hold is
0), or anything with a shape whose slices of rows are arrays; it is read in blocks, and never copied
or transposed whole. Tensors of torch are moved to the processor.

A ranking is an array ``top`` of shape (queries, ranks): places in the gallery, best first; what a
short ranking lacks is -1, at its end. A relation between queries and items is a pair (indptr,
indices): the items of query q are ``indices[indptr[q]:indptr[q + 1]]``.

What is most similar by phi is found once, for all cutoffs and measures. Of equal numbers the first
in the gallery wins, in rankings and among the most similar items. The released code of Biten et al.
reverses an unstable sort, so that there another one may win.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2; their released code,
furkanbiten/ncs_metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.backend import is_torch, refuse_masked, to_numpy
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.top_k import read_rows, row_slices, top_k
from semmetrics.errors import FROM_0, ROW, InputError
from semmetrics.metrics.definition import is_cutoff

Queries: TypeAlias = Literal["rows", "columns"]
Relation: TypeAlias = tuple[Ints, Ints]

_MEMORY = 1 << 26  # bytes of a block of rows


class Retrieved:
    """The items that some queries retrieved, checked, without what is left out.

    Attributes
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    queries : {"rows", "columns"}
    rows : int array, shape (queries,)
        Which queries of the matrix they are.
    width : int
        Items of the gallery.
    places : array, shape (queries, k), int64
        Best first; -1 where a ranking is shorter.
    leave_out : pair of int arrays or None

    Raises
    ------
    InputError
        If a ranking does not fit the matrix, or has too few ranks.
    """

    def __init__(
        self, top: Any, matrix: Any, k: int, queries: Queries, leave_out: Any, rows: Any
    ) -> None:
        n_queries, width = sides(matrix, queries)
        places = check_ranking(top, width)
        rows = whole_numbers(
            np.arange(len(places)) if rows is None else rows, "rows", n_queries
        )
        if len(rows) != len(places):
            raise InputError(
                "wrong-count", "rows", found=len(rows), wanted=f"{len(places)} of top"
            )
        short, sizes = (places < 0).any(axis=1), np.full(len(places), width)
        if leave_out is not None:
            leave_out = check_relation(leave_out, len(places), width, "leave_out")
            places, _ = without(places, leave_out, width)
            sizes -= ragged.lengths(leave_out[0])
        found = (places >= 0).sum(axis=1)
        few = np.flatnonzero(~short & (found < np.minimum(k, sizes)))
        if len(few):
            where = f"query {rows[few[0]]}{FROM_0}"
            raise InputError("too-few-ranks", where, found=int(found[few[0]]), wanted=k)
        self.matrix, self.queries, self.leave_out = matrix, queries, leave_out
        self.rows: Ints = rows
        self.width = width
        self.places = np.full((len(places), min(k, width)), -1)
        self.places[:, : places.shape[1]] = places[:, : self.places.shape[1]]

    def phi(self) -> Floats:
        """Return phi of what is retrieved, shape (queries, k); 0 where a ranking is shorter."""
        found, kept = np.zeros(self.places.shape), self.places >= 0
        query = self.rows[np.nonzero(kept)[0]]
        found[kept] = take_phi(self.matrix, query, self.places[kept], self.queries)
        return found

    def among(self, relation: Relation) -> Bools:
        """Tell which of the items are in a relation, shape (queries, k)."""
        return is_related(self.places, relation, self.width)

    def best(self, k: int, given: MostSimilar | None) -> MostSimilar:
        """Return the k most similar items of the queries, found if they are not given.

        Raises
        ------
        InputError
            If fewer are given, or those of another number of queries.
        """
        k = max(1, min(k, self.width))
        if given is None:
            queries, matrix = self.queries, self.matrix
            # a part of phi
            if not np.array_equal(self.rows, np.arange(sides(matrix, queries)[0])):
                if queries == "rows":
                    runs = [
                        slice(0, 0),
                        *(slice(row, row + 1) for row in self.rows.tolist()),
                    ]
                    parts = [read_rows(matrix, run) for run in runs]
                else:
                    blocks = row_slices(matrix, _MEMORY)
                    parts = [read_rows(matrix, one)[:, self.rows] for one in blocks]
                matrix = np.concatenate(parts)
            given = most_similar(matrix, k, queries=queries, leave_out=self.leave_out)
        if len(given) != len(self.places):
            found, wanted = (
                f"{len(given):,} queries",
                f"the {len(self.places):,} of top",
            )
            raise InputError("other-items", name="best", found=found, wanted=wanted)
        given.check(k)
        return given


def as_matrix(values: Any) -> Any:
    """Return an array, or what gives rows by slices as it is.

    Raises
    ------
    InputError
        If it is masked.
    """
    if is_torch(values):
        return to_numpy(values)
    if hasattr(values, "tocsr"):
        return values.tocsr()
    refuse_masked(values, "phi")
    return (
        values
        if isinstance(getattr(values, "shape", None), tuple)
        else np.asarray(values)
    )


def sides(matrix: Any, queries: str) -> tuple[int, int]:
    """Return the numbers of queries and of items in the gallery.

    Raises
    ------
    InputError
        If queries are neither rows nor columns.
    """
    check_choice("queries", queries, ("rows", "columns"))
    rows, columns = matrix.shape
    return (rows, columns) if queries == "rows" else (columns, rows)


def take_phi(
    matrix: Any, query: Ints, place: Ints, queries: Queries = "rows"
) -> Floats:
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
                found[here] = read_rows(matrix, block)[
                    row[here] - block.start, column[here]
                ]
    wrong = np.flatnonzero(np.isnan(found))
    if len(wrong):
        where = f"row {row[wrong[0]]}, column {column[wrong[0]]}{FROM_0}"
        raise InputError("not-a-number", where, role="phi", value=np.nan)
    return found


def check_relation(
    relation: Any, n: int | None, width: int | None, name: str
) -> Relation:
    """Return a relation of n queries as int64 arrays; of any where it is None, and so the gallery.

    Raises
    ------
    InputError
        If its offsets are wrong, or it holds an item that is not in the gallery, or one twice in a
        row; names it and the query.
    """
    indptr, indices = (whole_numbers(part, name) for part in relation)
    n = max(0, len(indptr) - 1) if n is None else n
    rising = len(indptr) == n + 1 and not indptr[0] and indptr[-1] == len(indices)
    if not rising or (np.diff(indptr) < 0).any():
        sizes = {"offsets": len(indptr), "queries": n, "items": len(indices)}
        raise InputError("wrong-offsets", name, **sizes)
    width = int(indices.max(initial=-1)) + 1 if width is None else width
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    keys = ragged.cell_keys(indptr, indices, width)
    order = np.argsort(keys, kind="stable")
    twice = order[1:][keys[order][1:] == keys[order][:-1]]
    for bad, code in ((outside, "not-in-gallery"), (twice, "duplicate")):
        if len(bad):
            where = f"{name}, query {np.searchsorted(indptr, bad[0], side='right') - 1}{FROM_0}"
            raise InputError(
                code, where, role="place", value=int(indices[bad[0]]), size=width
            )
    return indptr, indices


def whole_numbers(values: Any, name: str, size: int | None = None) -> Ints:
    """Return an array as int64.

    Raises
    ------
    InputError
        If it holds other things, or numbers below 0 or from a size on, or is masked; names it.
    """
    refuse_masked(values, name)
    table = to_numpy(values)
    if table.size and table.dtype.kind not in "iu":
        raise InputError(
            "wrong-dtype", role=name, dtype=table.dtype, wanted="whole numbers"
        )
    if size is not None:
        outside = np.flatnonzero((table < 0) | (table >= size))
        if len(outside):
            where, value = f"{name}, {ROW.format(outside[0])}", int(table[outside[0]])
            wanted = f"one from 0 to {size - 1}"
            raise InputError(
                "out-of-range", where, role="the place", value=value, wanted=wanted
            )
    return table.astype(np.int64)


def check_ranking(top: Any, width: int, name: str = "top") -> Ints:
    """Return a ranking as int64.

    Raises
    ------
    InputError
        If it is none, or holds an item twice, or one that is not in the gallery; names the query.
    """
    places = whole_numbers(top, name)
    ordered = np.sort(places, axis=1)
    for values, bad, code in (
        (places, (places < -1) | (places >= width), "not-in-gallery"),
        (places[:, 1:], (places[:, 1:] >= 0) & (places[:, :-1] < 0), "item-after-end"),
        (
            ordered[:, 1:],
            (ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0),
            "duplicate",
        ),
    ):
        if bad.any():
            query, column = np.argwhere(bad)[0]
            raise InputError(
                code,
                f"{name}, query {query}{FROM_0}",
                role="place",
                value=int(values[query, column]),
                size=width,
            )
    return places


def without(places: Ints, relation: Relation, width: int) -> tuple[Ints, Ints]:
    """Leave items out of rankings; return the places, and the columns that they came from."""
    gone = is_related(places, relation, width) | (places < 0)
    columns = np.argsort(gone, axis=1, kind="stable")
    kept = np.take_along_axis(places, columns, axis=1)
    kept[np.take_along_axis(gone, columns, axis=1)] = -1
    return kept, columns


def is_related(places: Ints, relation: Relation, width: int) -> Bools:
    """Tell which places of a table, a row a query, are items of the query; -1 is none."""
    n = len(places)
    keys = (np.arange(n)[:, None] * width + np.maximum(places, 0)).ravel()
    found = ragged.is_member(keys, ragged.cell_keys(*relation, width), n * width or 1)
    return found.reshape(places.shape) & (places >= 0)


def as_cutoffs(k: Any, name: str = "k") -> list[int]:
    """Return a cutoff, or several, as a list.

    Raises
    ------
    InputError
        If there is none, or one is not a whole number from 1.
    """
    found = [*k] if np.iterable(k) else [k]
    if not found or not all(map(is_cutoff, found)):
        raise InputError(
            "bad-option", name=name, value=k, wanted="a whole number from 1"
        )
    return [int(one) for one in found]


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

    def part(self, rows: Any) -> MostSimilar:
        """Return those of some queries: an int array, or a slice."""
        return MostSimilar(self.values[rows], self.places[rows], self.sizes[rows])

    def relation(self, m: int) -> Relation:
        """Return the m most similar items of each query: the extended ground truth of equation 4.

        Raises
        ------
        InputError
            If fewer were found.
        """
        self.check(m)
        places = self.places[:, :m]
        return ragged.offsets((places >= 0).sum(axis=1)), places[places >= 0]

    def check(self, m: int) -> None:
        """Refuse to use more items than were found; a smaller gallery is fine."""
        found = self.values.shape[1]
        if m < 1 or (m > found and (self.sizes > found).any()):
            raise InputError("too-few-similar", found=found, wanted=m)


def count_equal(
    matrix: Any,
    query: Ints,
    values: Floats,
    queries: Queries,
    leave_out: Relation | None,
) -> Ints:
    """Count the items of the gallery with a given phi, for some queries.

    Parameters
    ----------
    matrix : array, shape (images, captions), or what gives rows by slices
    query : int array, shape (n,)
    values : array, shape (n,)
        The phi that is counted, of each query.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of these n queries that do not count.

    Returns
    -------
    int array, shape (n,)

    Examples
    --------
    >>> phi = np.array([[1.0, 0.5, 0.5], [0.5, 0.5, 0.0]])
    >>> count_equal(phi, np.array([0, 1]), np.array([0.5, 0.5]), "rows", None).tolist()
    [2, 2]
    >>> count_equal(phi, np.array([0]), np.array([0.5]), "columns", None).tolist()
    [1]
    """
    counts = np.zeros(len(query), np.int64)
    if queries == "rows":
        for place, row in enumerate(query.tolist()):
            counts[place] = (
                read_rows(matrix, slice(row, row + 1)) == values[place]
            ).sum()
    else:
        for block in row_slices(matrix, _MEMORY):
            counts += (read_rows(matrix, block)[:, query] == values).sum(axis=0)
    if leave_out is not None:
        owner = ragged.row_numbers(leave_out[0])
        phi = take_phi(matrix, query[owner], leave_out[1], queries)
        equal = owner[phi == values[owner]]
        counts -= np.bincount(equal, minlength=len(query))
    return counts


def top_items(
    similarities: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
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
    return most_similar(similarities, k, queries=queries, leave_out=leave_out).places


def most_similar(
    phi: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
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
    as_cutoffs(k)
    sizes = np.full(n_queries, width)
    most = 0
    if leave_out is not None:
        leave_out = check_relation(leave_out, n_queries, width, "leave_out")
        own = ragged.lengths(leave_out[0])
        sizes, most = sizes - own, int(own.max(initial=0))
    k = min(k, width)
    found = np.zeros((n_queries, k)), np.full((n_queries, k), -1)
    if n_queries and k:
        values, places = top_k(
            matrix, min(k + most, width), columns=queries == "columns"
        )
        if leave_out is not None:
            places, came = without(places, leave_out, width)
            values = np.where(
                places >= 0, np.take_along_axis(values, came, axis=1), 0.0
            )
        n = min(k, places.shape[1])
        found[0][:, :n], found[1][:, :n] = values[:, :n], places[:, :n]
    return MostSimilar(*found, sizes)


def similar_images(
    phi: Any,
    captions: Any,
    m: int,
    *,
    depth: int = 10,
    itself: bool = False,
    best: MostSimilar | None = None,
    ties: Literal["first", "last"] = "first",
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
    ties : {"first", "last"}
        Which of equal sums comes first: the image that a list has first, or last.

    Returns
    -------
    array, shape (images, m or the number of images), int64
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
    as_cutoffs([m, depth], "m or depth")
    indptr, indices = check_relation(captions, n_images, n_captions, "captions")
    depth = max(1, min(depth, n_images))
    if best is None:
        best = most_similar(matrix, depth, queries="columns")
    if len(best) != n_captions or (best.sizes != n_images).any():
        wanted = "all captions, with nothing left out"
        raise InputError(
            "other-items", name="best", found=f"{len(best):,}", wanted=wanted
        )
    best.check(depth)
    image = np.repeat(ragged.row_numbers(indptr), depth)
    other, values = (
        part[indices, :depth].ravel() for part in (best.places, best.values)
    )
    if not itself:
        image, other, values = (part[other != image] for part in (image, other, values))
    cells, first, cell = np.unique(
        image * n_images + other, return_index=True, return_inverse=True
    )
    sums = np.bincount(cell, values, len(cells))
    place = first if ties == "first" else -first
    order = np.lexsort((place, -sums, cells // n_images))
    owner = (cells // n_images)[order]
    rank = ragged.positions(ragged.offsets(np.bincount(owner, minlength=n_images)))
    found = np.full((n_images, min(m, n_images)), -1)
    found[owner[rank < m], rank[rank < m]] = (cells % n_images)[order][rank < m]
    return found


def captions_of_images(images: ArrayLike, captions: Any) -> Relation:
    """Return all captions of the images of each row: the extended ground truth of image queries.

    A caption of several images counts once.

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
    table = check_ranking(images, len(indptr) - 1, "images")
    kept = np.nonzero(table >= 0)
    found, flat = ragged.take_rows(indptr, table[kept])
    rows, codes = np.repeat(kept[0], ragged.lengths(found)), indices[flat]
    keys = rows * (int(codes.max(initial=-1)) + 1) + codes
    first = np.sort(np.unique(keys, return_index=True)[1])
    return ragged.offsets(np.bincount(rows[first], minlength=len(table))), codes[first]


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
    indptr, indices = check_relation(captions, None, n_captions, "captions")
    table = check_ranking(images, len(indptr) - 1, "images")
    if len(table) != len(indptr) - 1:
        values = {
            "found": f"{len(table):,}",
            "wanted": f"the {len(indptr) - 1:,} of captions=",
        }
        raise InputError("other-items", name="images", **values)
    order = np.argsort(indices, kind="stable")
    wide = table[ragged.row_numbers(indptr)[order]]
    owner = np.repeat(indices[order], (wide >= 0).sum(axis=1))
    counts = np.bincount(owner, minlength=n_captions)
    of, found, _ = ragged.distinct_codes(
        ragged.offsets(counts), wide[wide >= 0], len(table)
    )
    return of, found
