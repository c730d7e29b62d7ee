"""Images that are similar to each other, and the extended ground truth of their captions.

`phi_matrix` describes phi, and `relations` describes rankings and relations.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2, and the released
code, furkanbiten/ncs_metric.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core import ragged
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import as_cutoffs
from semmetrics.metrics.nearest_items import MostSimilar, most_similar
from semmetrics.metrics.phi_matrix import as_matrix
from semmetrics.metrics.relations import Relation, check_ranking, check_relation


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
        The most similar images of each caption, at least ``depth`` of them. They must be
        chosen among all images. Default: find them.
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
    keys, first_pairs, key_of_pair = np.unique(
        image * n_images + other, return_index=True, return_inverse=True
    )
    sums = np.bincount(key_of_pair, values, len(keys))
    images, others = np.divmod(keys, n_images)
    tie_breaker = first_pairs
    if ties == "last":
        tie_breaker = -first_pairs
    order = np.lexsort((tie_breaker, -sums, images))
    images = images[order]
    others = others[order]
    n_others = np.bincount(images, minlength=n_images)
    ranks = ragged.positions(ragged.offsets(n_others))
    is_included = ranks < m
    similar = np.full((n_images, min(m, n_images)), -1)
    similar[images[is_included], ranks[is_included]] = others[is_included]
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
    caption_numbers = indices[positions]
    n_captions = int(caption_numbers.max(initial=-1)) + 1
    keys = query_of_caption * n_captions + caption_numbers
    _, firsts = np.unique(keys, return_index=True)
    firsts.sort()  # in the order of the images
    sizes = np.bincount(query_of_caption[firsts], minlength=len(table))
    return ragged.offsets(sizes), caption_numbers[firsts]


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
    # A caption of several images has the similar images of all of them.
    by_caption = np.argsort(indices, kind="stable")
    image_of_caption = ragged.row_numbers(indptr)[by_caption]
    similar = table[image_of_caption]
    is_image = similar >= 0  # not padding
    caption_of_similar = np.repeat(indices[by_caption], is_image.sum(axis=1))
    n_similar = np.bincount(caption_of_similar, minlength=n_captions)
    distinct_indptr, distinct_images, _ = ragged.distinct_codes(
        ragged.offsets(n_similar), similar[is_image], n_images
    )
    return distinct_indptr, distinct_images
