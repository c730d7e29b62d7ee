"""What is most similar and what is retrieved: found once, for all cutoffs and measures.

Conventions
-----------
phi, rankings and relations are those of `semmetrics.metrics.relations`. Of equal numbers the first
in the gallery wins, in rankings and among the most similar items. The released code of Biten et al.
reverses an unstable sort, so that there another one may win.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2; their released code,
furkanbiten/ncs_metric.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import (
    Floats,
    Ints,
    cell_keys,
    distinct_codes,
    lengths,
    offsets,
    row_numbers,
    take_rows,
)
from semmetrics.core.ranks import top_k
from semmetrics.errors import InputError
from semmetrics.frozen import by_value, dataclass
from semmetrics.messages import pluralize
from semmetrics.metrics.relations import (
    Queries,
    Relation,
    Retrieved,
    as_matrix,
    check_places,
    check_relation,
    sides,
    without,
)

__all__ = ["MostSimilar", "best_of", "captions_of_images", "images_of_captions", "most_similar",
           "similar_images", "top_items"]  # fmt: skip


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
        _check_found(self, m, f"m={m}")
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
            places, came = without(places, leave_out, width)
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
    _check_found(best, depth, "depth")
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
    found = np.full((n_images, min(m, n_images)), -1)
    found[owner[rank < m], rank[rank < m]] = (cells % n_images)[order][rank < m]
    return found


@checked
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
    table = check_places(images, len(indptr) - 1, "images")
    kept = table >= 0
    found, flat = take_rows(indptr, table[kept])
    owner = np.nonzero(kept)[0]
    counts = np.bincount(owner, lengths(found), len(table)).astype(np.int64)
    rows, codes = row_numbers(offsets(counts)), indices[flat]
    keys = cell_keys(offsets(counts), codes, int(codes.max(initial=-1)) + 1)
    first = np.sort(np.unique(keys, return_index=True)[1])
    return offsets(np.bincount(rows[first], minlength=len(table))), codes[first]


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
    table = check_places(images, len(indptr) - 1, "images")
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


def best_of(retrieved: Retrieved, k: int, given: MostSimilar | None) -> MostSimilar:
    """Return the k most similar items of the queries of a ranking, found if they are not given.

    Raises
    ------
    InputError
        If fewer are given, or those of another number of queries.
    """
    k = max(1, min(k, retrieved.width))
    if given is None:
        rows, queries = retrieved.own_phi(), retrieved.queries
        given = most_similar(rows, k, queries=queries, leave_out=retrieved.leave_out)
    if len(given) != len(retrieved.places):
        raise InputError(
            f"best= is of {pluralize(len(given), 'query')}, and top of {len(retrieved.places):,}",
            remedy="give best.part(rows)",
        )
    _check_found(given, k, "the largest cutoff")
    return given


def _check_found(best: MostSimilar, k: int, what: str) -> None:
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
