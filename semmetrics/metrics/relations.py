"""Relations between queries and items, rankings, and searches by a similarity phi.

Conventions
-----------
phi has one row per image and one column per caption, for both directions. With
``queries="rows"``, images are the queries and captions the gallery. With
``queries="columns"``, it is the other way round. phi is an array, which may be
memory-mapped, a sparse matrix (missing cells are 0), or any object with a shape whose
slices of rows are arrays. It is read in blocks, and never copied or transposed whole.
Tensors of torch are moved to the CPU.

A ranking is an array ``top`` of shape (queries, ranks). It contains positions in the
gallery, best first. A short ranking is padded with -1 at its end. A relation between
queries and items is a pair (indptr, indices): the items of query q are
``indices[indptr[q]:indptr[q + 1]]``.

The most similar items by phi are found once, for all cutoffs and measures. If numbers are
equal, the first in the gallery wins, both in rankings and among the most similar items.
The released code of Biten et al. reverses an unstable sort, so there another one may win.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2, and the released
code, furkanbiten/ncs_metric.
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
from semmetrics.errors import FROM_0, InputError
from semmetrics.metrics.array_inputs import integer_array
from semmetrics.metrics.definition import is_cutoff

Queries: TypeAlias = Literal["rows", "columns"]
Relation: TypeAlias = tuple[Ints, Ints]

MAX_BYTES_PER_BLOCK = 1 << 26


# ---- phi ------------------------------------------------------------------------------


def as_matrix(values: Any) -> Any:
    """Return phi as an array, a sparse matrix, or an object whose rows can be sliced.

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
    if isinstance(getattr(values, "shape", None), tuple):
        return values
    return np.asarray(values)


def count_queries_and_items(matrix: Any, queries: str) -> tuple[int, int]:
    """Return the number of queries, and of items in the gallery.

    Raises
    ------
    InputError
        If ``queries`` is neither "rows" nor "columns".
    """
    check_choice("queries", queries, ("rows", "columns"))
    n_rows, n_columns = matrix.shape
    if queries == "rows":
        return n_rows, n_columns
    return n_columns, n_rows


def take_phi(
    matrix: Any, query: Ints, place: Ints, queries: Queries = "rows"
) -> Floats:
    """Return phi of pairs of a query and an item of the gallery.

    Parameters
    ----------
    matrix : array, shape (images, captions), or an object whose rows can be sliced
    query, place : int arrays, shape (n,)
    queries : {"rows", "columns"}

    Returns
    -------
    array, shape (n,), float64

    Raises
    ------
    InputError
        If one is NaN. The message names its row and column.

    Examples
    --------
    >>> take_phi(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1, 0]), np.array([0, 0]), "columns")
    array([2., 1.])
    """
    row = query
    column = place
    if queries == "columns":
        row = place
        column = query
    if isinstance(matrix, np.ndarray):
        values = matrix[row, column].astype(np.float64)
    else:
        values = np.empty(len(row))
        for block in row_slices(matrix, MAX_BYTES_PER_BLOCK):
            in_block = np.flatnonzero((row >= block.start) & (row < block.stop))
            if len(in_block):
                block_rows = row[in_block] - block.start
                table = read_rows(matrix, block)
                values[in_block] = table[block_rows, column[in_block]]
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        first = missing[0]
        where = f"row {row[first]}, column {column[first]}{FROM_0}"
        raise InputError("not-a-number", where, role="phi", value=np.nan)
    return values


def count_equal(
    matrix: Any,
    query: Ints,
    values: Floats,
    queries: Queries,
    leave_out: Relation | None,
) -> Ints:
    """Count the items of the gallery that have a given phi, for some queries.

    Parameters
    ----------
    matrix : array, shape (images, captions), or an object whose rows can be sliced
    query : int array, shape (n,)
    values : array, shape (n,)
        The phi to count for each query.
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
    n_queries = len(query)
    counts = np.zeros(n_queries, np.int64)
    if queries == "rows":
        for number, row in enumerate(query.tolist()):
            line = read_rows(matrix, slice(row, row + 1))
            counts[number] = (line == values[number]).sum()
    else:
        for block in row_slices(matrix, MAX_BYTES_PER_BLOCK):
            columns = read_rows(matrix, block)[:, query]
            counts += (columns == values).sum(axis=0)
    if leave_out is not None:
        indptr, indices = leave_out
        owners = ragged.row_numbers(indptr)
        phi = take_phi(matrix, query[owners], indices, queries)
        is_equal = phi == values[owners]
        counts -= np.bincount(owners[is_equal], minlength=n_queries)
    return counts


# ---- relations and rankings -----------------------------------------------------------


def check_relation(
    relation: Any, n: int | None, width: int | None, name: str
) -> Relation:
    """Return a relation as two int64 arrays.

    Parameters
    ----------
    relation : pair of int arrays
    n : int or None
        The number of queries. None allows any number.
    width : int or None
        The size of the gallery. None allows any item.
    name : str
        The name of the relation in messages.

    Raises
    ------
    InputError
        If the offsets are wrong, or an item is not in the gallery or occurs twice for a
        query. The message names the relation and the query.
    """
    indptr, indices = [integer_array(part, name) for part in relation]
    n_queries = n
    if n_queries is None:
        n_queries = max(0, len(indptr) - 1)
    if not _are_offsets(indptr, n_queries, len(indices)):
        raise InputError(
            "wrong-offsets",
            name,
            offsets=len(indptr),
            queries=n_queries,
            items=len(indices),
        )
    if width is None:
        width = int(indices.max(initial=-1)) + 1
    outside = np.flatnonzero((indices < 0) | (indices >= width))
    _check_items(outside, "not-in-gallery", name, indptr, indices, width)
    keys = ragged.cell_keys(indptr, indices, width)
    order = np.argsort(keys, kind="stable")
    repeated = order[~ragged.starts_run(keys[order])]
    _check_items(repeated, "duplicate", name, indptr, indices, width)
    return indptr, indices


def _are_offsets(indptr: Ints, n_queries: int, n_items: int) -> bool:
    """Return whether an array contains ascending offsets from 0 to the number of items."""
    if len(indptr) != n_queries + 1:
        return False
    if indptr[0] != 0 or indptr[-1] != n_items:
        return False
    return not (np.diff(indptr) < 0).any()


def _check_items(
    wrong: Ints, code: str, name: str, indptr: Ints, indices: Ints, width: int
) -> None:
    """Raise an error for the first of the wrong positions in a relation, if there is one."""
    if len(wrong):
        first = wrong[0]
        query = np.searchsorted(indptr, first, side="right") - 1
        where = f"{name}, query {query}{FROM_0}"
        value = int(indices[first])
        raise InputError(code, where, role="place", value=value, size=width)


def check_ranking(top: Any, width: int, name: str = "top") -> Ints:
    """Return a ranking as int64.

    Raises
    ------
    InputError
        If it is not a ranking, an item occurs twice for a query, or an item is not in the
        gallery, whose size is ``width``. The message names the query.
    """
    places = integer_array(top, name)
    ordered = np.sort(places, axis=1)
    is_outside = (places < -1) | (places >= width)
    _check_places(is_outside, "not-in-gallery", name, places, width)
    following = places[:, 1:]
    follows_end = (following >= 0) & (places[:, :-1] < 0)
    _check_places(follows_end, "item-after-end", name, following, width)
    later = ordered[:, 1:]
    is_repeated = (later == ordered[:, :-1]) & (later >= 0)
    _check_places(is_repeated, "duplicate", name, later, width)
    return places


def _check_places(
    is_wrong: Bools, code: str, name: str, places: Ints, width: int
) -> None:
    """Raise an error for the first wrong place of a ranking, if there is one."""
    if is_wrong.any():
        query, column = np.argwhere(is_wrong)[0]
        where = f"{name}, query {query}{FROM_0}"
        value = int(places[query, column])
        raise InputError(code, where, role="place", value=value, size=width)


def leave_out_items(places: Ints, relation: Relation, width: int) -> tuple[Ints, Ints]:
    """Remove related items from rankings, and close the gaps.

    Returns
    -------
    places : array, same shape
        Padded with -1.
    columns : array, same shape
        The column that each place came from.
    """
    is_removed = is_related(places, relation, width) | (places < 0)
    columns = np.argsort(is_removed, axis=1, kind="stable")
    remaining = np.take_along_axis(places, columns, axis=1)
    remaining[np.take_along_axis(is_removed, columns, axis=1)] = -1
    return remaining, columns


def is_related(places: Ints, relation: Relation, width: int) -> Bools:
    """Return whether each place in a ranking is an item of the query. False for -1."""
    n_queries = len(places)
    indptr, indices = relation
    queries = np.arange(n_queries)[:, None]
    keys = (queries * width + np.maximum(places, 0)).ravel()
    related_keys = ragged.cell_keys(indptr, indices, width)
    n_cells = n_queries * width or 1
    is_member = ragged.is_member(keys, related_keys, n_cells)
    return is_member.reshape(places.shape) & (places >= 0)


def as_cutoffs(k: Any, name: str = "k") -> list[int]:
    """Return one or several cutoffs as a list.

    Raises
    ------
    InputError
        If the list is empty, or contains anything but integers from 1.
    """
    cutoffs = [k]
    if np.iterable(k):
        cutoffs = list(k)
    if not cutoffs or not all(map(is_cutoff, cutoffs)):
        wanted = "a whole number from 1"
        raise InputError("bad-option", name=name, value=k, wanted=wanted)
    return [int(cutoff) for cutoff in cutoffs]


# ---- most similar items ---------------------------------------------------------------


@by_value()
@dataclass(frozen=True, eq=False)
class MostSimilar:
    """The items of the gallery that are most similar to each query, for all cutoffs.

    Attributes
    ----------
    values : array, shape (queries, n), float64
        Their phi, in descending order. 0 if there are fewer items.
    places : array, shape (queries, n), int64
        Their positions in the gallery. -1 if there are fewer items.
    sizes : array, shape (queries,), int64
        How many items each query can retrieve: the size of the gallery without the items
        that are left out.
    """

    values: Floats
    places: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: Any) -> MostSimilar:
        """Return the items of some queries, given by an int array or a slice."""
        return MostSimilar(self.values[rows], self.places[rows], self.sizes[rows])

    def relation(self, m: int) -> Relation:
        """Return the m most similar items of each query.

        These are the extended ground truth of equation 4.

        Raises
        ------
        InputError
            If fewer were found.
        """
        self.check(m)
        places = self.places[:, :m]
        is_item = places >= 0
        return ragged.offsets(is_item.sum(axis=1)), places[is_item]

    def check(self, m: int) -> None:
        """Check that m items were found for each query, or the whole gallery."""
        n_found = self.values.shape[1]
        if m < 1 or (m > n_found and (self.sizes > n_found).any()):
            raise InputError("too-few-similar", found=n_found, wanted=m)


def top_items(
    similarities: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
) -> Ints:
    """Rank the k best items of the gallery for each query.

    Parameters
    ----------
    similarities : array, shape (images, captions), or an object whose rows can be sliced
        Higher is more similar.
    k : int
        At least 1. A gallery with fewer items returns fewer.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that are not ranked, such as its ground truth.

    Returns
    -------
    array, shape (queries, k or the size of the gallery), int64
        Positions in the gallery, best first. Equal similarities are in the order of the
        gallery. -1 if no item is left.

    Raises
    ------
    InputError
        If a similarity is NaN. The message names its row and column.

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
    phi : array, shape (images, captions), or an object whose rows can be sliced
    k : int
        At least 1: the largest cutoff, or m, that is needed.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that do not count, such as its ground truth.

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
    n_queries, width = count_queries_and_items(matrix, queries)
    as_cutoffs(k)
    sizes = np.full(n_queries, width)
    max_left_out = 0
    if leave_out is not None:
        leave_out = check_relation(leave_out, n_queries, width, "leave_out")
        n_left_out = ragged.lengths(leave_out[0])
        sizes = sizes - n_left_out
        max_left_out = int(n_left_out.max(initial=0))
    k = min(k, width)
    best_values = np.zeros((n_queries, k))
    best_places = np.full((n_queries, k), -1)
    if not n_queries or not k:
        return MostSimilar(best_values, best_places, sizes)

    n_searched = min(k + max_left_out, width)
    values, places = top_k(matrix, n_searched, columns=queries == "columns")
    if leave_out is not None:
        places, columns = leave_out_items(places, leave_out, width)
        values = np.take_along_axis(values, columns, axis=1)
        values = np.where(places >= 0, values, 0.0)
    n = min(k, places.shape[1])
    best_values[:, :n] = values[:, :n]
    best_places[:, :n] = places[:, :n]
    return MostSimilar(best_values, best_places, sizes)


# ---- similar images -------------------------------------------------------------------


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
    """Find the images that are similar to each image by its captions, like the released code.

    Each caption of an image has a list of its ``depth`` most similar images. The phi of
    another image is summed over the lists that contain it, and the images with the largest
    sums are the similar ones.

    Parameters
    ----------
    phi : array, shape (images, captions), or an object whose rows can be sliced
    captions : pair of int arrays
        The captions of each image.
    m : int
        At least 1: how many images to find (``threshold`` in the released code).
    depth : int
        At least 1. The released code uses the last of its cutoffs.
    itself : bool
        Whether an image may be similar to itself (``include_anns`` in the released code).
    best : MostSimilar, optional
        The most similar images of each caption, at least ``depth`` of them, with nothing
        left out. Default: find them.
    ties : {"first", "last"}
        Which of two images with equal sums comes first: the image that occurs first in
        the lists, or last.

    Returns
    -------
    array, shape (images, m or the number of images), int64
        Most similar first. -1 if the lists contain fewer images.

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
        found = f"{len(best):,}"
        raise InputError("other-items", name="best", found=found, wanted=wanted)
    best.check(depth)

    image = np.repeat(ragged.row_numbers(indptr), depth)
    other = best.places[indices, :depth].ravel()
    values = best.values[indices, :depth].ravel()
    if not itself:
        is_other = other != image
        image = image[is_other]
        other = other[is_other]
        values = values[is_other]
    return _rank_by_sum(image, other, values, n_images, m, ties)


def _rank_by_sum(
    image: Ints, other: Ints, values: Floats, n_images: int, m: int, ties: str
) -> Ints:
    """Rank the other images of each image by the sum of the values of the pair.

    Parameters
    ----------
    image, other, values : arrays, shape (pairs,)
        Pairs may be repeated.
    n_images, m, ties
        See `similar_images`.

    Returns
    -------
    array, shape (images, m or the number of images), int64
        Padded with -1.
    """
    cells, first, cell_of_pair = np.unique(
        image * n_images + other, return_index=True, return_inverse=True
    )
    sums = np.bincount(cell_of_pair, values, len(cells))
    owners = cells // n_images
    tie_breaker = first
    if ties == "last":
        tie_breaker = -first
    order = np.lexsort((tie_breaker, -sums, owners))
    owners = owners[order]
    others = (cells % n_images)[order]
    ranks = ragged.positions(ragged.offsets(np.bincount(owners, minlength=n_images)))
    is_shown = ranks < m
    similar = np.full((n_images, min(m, n_images)), -1)
    similar[owners[is_shown], ranks[is_shown]] = others[is_shown]
    return similar


def captions_of_images(images: ArrayLike, captions: Any) -> Relation:
    """Return all captions of the images of each row, each caption once.

    They are the extended ground truth of image queries.

    Parameters
    ----------
    images : int array, shape (queries, m)
        As `similar_images` returns them.
    captions : pair of int arrays
        The captions of each image.

    Returns
    -------
    pair of int arrays
        The captions of each query.

    Raises
    ------
    InputError
        If an image has no entry in the relation, or it is not a relation.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in captions_of_images(np.array([[1], [0]]), captions)]
    [[0, 1, 3], [2, 0, 1]]
    """
    indptr, indices = check_relation(captions, None, None, "captions")
    n_images = len(indptr) - 1
    table = check_ranking(images, n_images, "images")
    queries, columns = np.nonzero(table >= 0)
    caption_indptr, positions = ragged.take_rows(indptr, table[queries, columns])
    query_of_caption = np.repeat(queries, ragged.lengths(caption_indptr))
    codes = indices[positions]
    n_captions = int(codes.max(initial=-1)) + 1
    keys = query_of_caption * n_captions + codes
    _, firsts = np.unique(keys, return_index=True)
    firsts.sort()
    sizes = np.bincount(query_of_caption[firsts], minlength=len(table))
    return ragged.offsets(sizes), codes[firsts]


def images_of_captions(images: ArrayLike, captions: Any, n_captions: int) -> Relation:
    """Return the images that are similar to the image of each caption.

    They are the extended ground truth of caption queries.

    Parameters
    ----------
    images : int array, shape (images, m)
        As `similar_images` returns them.
    captions : pair of int arrays
        The captions of each image.
    n_captions : int

    Returns
    -------
    pair of int arrays
        The images of each caption, in ascending order.

    Raises
    ------
    InputError
        If the relation has another number of images, or is not a relation.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in images_of_captions(np.array([[1], [0]]), captions, 3)]
    [[0, 1, 2, 3], [1, 1, 0]]
    """
    indptr, indices = check_relation(captions, None, n_captions, "captions")
    n_images = len(indptr) - 1
    table = check_ranking(images, n_images, "images")
    if len(table) != n_images:
        raise InputError(
            "other-items",
            name="images",
            found=f"{len(table):,}",
            wanted=f"the {n_images:,} of captions=",
        )
    order = np.argsort(indices, kind="stable")
    image_of_caption = ragged.row_numbers(indptr)[order]
    similar = table[image_of_caption]
    is_image = similar >= 0
    owners = np.repeat(indices[order], is_image.sum(axis=1))
    n_similar = np.bincount(owners, minlength=n_captions)
    result_indptr, result, _ = ragged.distinct_codes(
        ragged.offsets(n_similar), similar[is_image], n_images
    )
    return result_indptr, result
