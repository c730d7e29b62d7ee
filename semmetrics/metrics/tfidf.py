"""Tf-idf vectors of captions over n-grams, and their products for all pairs of captions.

Conventions
-----------
A vector has one component per n-gram of one order: how often the caption contains the
n-gram, times the n-gram's weight. Sums over n-grams are computed exactly and then rounded
once, so the value of a pair does not depend on the other captions of the task.

All pairs
---------
`multiply_pairs` scores every candidate against the references of every image as a
product of sparse matrices. Let an n-gram of weight w occur h times in the candidate and r
times in the reference, and let |h| and |r| be the lengths of the two vectors. The n-gram
adds min(h, r) r w² / (|h| |r|) to their clipped cosine. The minimum is a sum over levels
t = 1, 2, …: min(h, r) = Σ_t [h ≥ t] [r ≥ t]. So an n-gram together with a level is one
feature. Up to level h a candidate has the value 1/|h|, and up to level r a reference has
r w²/|r|.

The length penalty depends only on the two lengths. References of one length share the
penalty, so their values are added up for each image before the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.ngrams import NGrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.sparse_pairs import Cells, SparsePairs
from semmetrics.data.tasks.captions import CaptionTask

# A squared weight is split into two parts, rounded to multiples of 1/_HIGH_GRID and
# 1/_LOW_GRID. These steps are so coarse that a sum of parts, each times a product of counts,
# is less than 2**53 steps and therefore exact. This holds for captions that contain a word
# up to 500 times.
_HIGH_GRID = 2.0**24
_LOW_GRID = 2.0**60

_MAX_NGRAMS_PER_BATCH = 1 << 20
"""How many n-grams are squared at a time. One caption may have more."""


def length_penalty(candidates: Ints, references: Ints, sigma: float) -> Floats:
    """Return exp(-Δ²/2σ²) for the differences Δ of lengths, elementwise.

    Examples
    --------
    >>> length_penalty(np.array([9, 3]), np.array([9, 9]), 6.0).round(4).tolist()
    [1.0, 0.6065]
    """
    difference = (candidates - references).astype(np.float64)
    with np.errstate(over="ignore"):  # very large differences have the penalty 0
        return np.asarray(np.exp(-0.5 * (difference / sigma) ** 2))


@dataclass(frozen=True, eq=False, repr=False)
class TfIdf:
    """The tf-idf vectors of all captions of a task, over the n-grams of one order.

    Attributes
    ----------
    ngrams : NGrams
    weights : float array, shape (distinct n-grams,)
        Not negative.
    """

    ngrams: NGrams
    weights: Floats

    @cached_property
    def norms(self) -> Floats:
        """The Euclidean length of each vector, shape (captions,)."""
        ngrams = self.ngrams
        squares = np.empty(len(ngrams.indptr) - 1)
        for batch in ragged.runs_within(ngrams.indptr, _MAX_NGRAMS_PER_BATCH):
            indptr = ngrams.indptr[batch.start : batch.stop + 1]
            cells = slice(indptr[0], indptr[-1])
            codes = ngrams.codes[cells]
            counts = ngrams.counts[cells].astype(np.int64)
            captions = ragged.row_numbers(indptr - indptr[0])
            n_captions = len(indptr) - 1
            squares[batch] = self.sum_products(
                captions, codes, counts * counts, n_captions
            )
        return np.sqrt(squares, out=squares)

    def split_squares(self, codes: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return the squared weights of n-grams as two parts, a high and a low one.

        Their sum is the square. The parts are multiples of 1/_HIGH_GRID and 1/_LOW_GRID.
        """
        squares = self.weights[codes] ** 2
        high = np.rint(squares * _HIGH_GRID) / _HIGH_GRID
        low = np.rint((squares - high) * _LOW_GRID) / _LOW_GRID
        return high, low

    def sum_products(
        self, rows: Ints, codes: NDArray[np.integer], counts: Ints, n_rows: int
    ) -> Floats:
        """Sum count · weight² over the n-grams of each row.

        Parameters
        ----------
        rows, codes, counts : int arrays, shape (n,)
            The row of each summand, its n-gram, and the product of two counts.
        n_rows : int

        Returns
        -------
        float array, shape (n_rows,)
        """
        high, low = self.split_squares(codes)
        high_sums = np.bincount(rows, counts * high, n_rows)
        low_sums = np.bincount(rows, counts * low, n_rows)
        return np.asarray(high_sums + low_sums)


# ---- all pairs -----------------------------------------------------------------------


def multiply_pairs(
    task: CaptionTask, vectors: Sequence[TfIdf], *, sigma: float | None, scale: float
) -> SparsePairs:
    """Return products whose entry (image, candidate) is CIDEr of a pair.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images.
    vectors : sequence of TfIdf
        One per order of n-grams.
    sigma : float, optional
        The length difference, in bigrams, at which the penalty is exp(-1/2). Without it,
        counts are not clipped and lengths do not matter.
    scale : float
        Factor of the mean over orders and references.

    Returns
    -------
    SparsePairs
        Rows are images. An image without references has zeros.
    """
    features = _list_features(vectors, clip=sigma is not None)
    candidates = features.select(task.candidates, features.candidate_values)
    references = features.select(task.references, features.reference_values)

    # Add up the references of each image
    n_refs = ragged.lengths(task.indptr)
    factors = np.repeat(scale / len(vectors) / np.maximum(n_refs, 1), n_refs)
    reference_of_cell = ragged.row_numbers(references.indptr)
    values = references.values * factors[reference_of_cell]
    # The references of an image follow each other, so their cells do too.
    image_indptr = references.indptr[task.indptr]
    images = Cells(image_indptr, references.features, values)

    if sigma is None:
        no_kinds = np.zeros(len(values), np.int64)
        no_classes = np.zeros(len(task), np.int64)
        no_penalty = np.ones((1, 1))
        return SparsePairs(
            images, candidates, kinds=no_kinds, classes=no_classes, scale=no_penalty
        )
    # A length is a number of bigrams. References of one length have the same kind, and
    # candidates of one length the same class.
    n_bigrams = vectors[1].ngrams.totals
    reference_lengths, kinds = np.unique(
        n_bigrams[task.references], return_inverse=True
    )
    candidate_lengths, classes = np.unique(
        n_bigrams[task.candidates], return_inverse=True
    )
    penalties = length_penalty(candidate_lengths[:, None], reference_lengths, sigma)
    kind_of_cell = kinds.ravel()[reference_of_cell]
    return SparsePairs(
        images,
        candidates,
        kinds=kind_of_cell,
        classes=classes.ravel(),
        scale=penalties,
    )


class _Features(NamedTuple):
    """The features of captions, and their values as candidate and as reference.

    Attributes
    ----------
    indptr, features : int arrays, shapes (captions + 1,) and (cells,)
        The features of each caption.
    candidate_values, reference_values : float arrays, shape (cells,)
    """

    indptr: Ints
    features: Ints
    candidate_values: Floats
    reference_values: Floats

    def select(self, captions: Ints, values: Floats) -> Cells:
        """Return the features of some captions with their values, one row each."""
        indptr, cells = ragged.take_rows(self.indptr, captions)
        return Cells(indptr, self.features[cells], values[cells])


def _list_features(vectors: Sequence[TfIdf], *, clip: bool) -> _Features:
    """Return the features of all captions, over all orders of n-grams.

    A feature is an n-gram, or an n-gram and a level if counts are clipped.
    """
    orders = []
    n_features = 0
    for tfidf in vectors:
        order = _list_features_of_order(tfidf, n_features, clip=clip)
        n_features += order.n_features
        orders.append(order)
    captions = np.concatenate([order.captions for order in orders])
    n_captions = len(vectors[0].ngrams.indptr) - 1
    indptr = ragged.offsets(np.bincount(captions, minlength=n_captions))
    by_caption = np.argsort(captions, kind="stable")
    features = np.concatenate([order.features for order in orders])
    candidate_values = np.concatenate([order.candidate_values for order in orders])
    reference_values = np.concatenate([order.reference_values for order in orders])
    return _Features(
        indptr,
        features[by_caption],
        candidate_values[by_caption],
        reference_values[by_caption],
    )


class _OrderFeatures(NamedTuple):
    """The features of captions over the n-grams of one order.

    Attributes
    ----------
    captions, features : int arrays, shape (cells,)
    candidate_values, reference_values : float arrays, shape (cells,)
    n_features : int
        The number of distinct features.
    """

    captions: Ints
    features: Ints
    candidate_values: Floats
    reference_values: Floats
    n_features: int


def _list_features_of_order(
    tfidf: TfIdf, first_feature: int, *, clip: bool
) -> _OrderFeatures:
    """Return the features of one order, numbered from ``first_feature``."""
    ngrams = tfidf.ngrams
    n_ngrams = len(ngrams)
    n_cells = len(ngrams.codes)
    cells = np.arange(n_cells)
    levels = np.zeros(n_cells, np.int64)
    if clip:
        # An n-gram that a caption contains n times becomes n cells, of levels 0 to n - 1.
        indptr = ragged.offsets(ngrams.counts)
        cells = ragged.row_numbers(indptr)
        levels = ragged.positions(indptr)
    codes = ngrams.codes[cells]

    # Level 0 of an n-gram has the code of the n-gram as its number. The higher levels that
    # occur are numbered after all of these.
    features = codes.astype(np.int64)
    is_higher = levels > 0
    keys = (levels * n_ngrams + codes)[is_higher]
    higher_features, numbers = np.unique(keys, return_inverse=True)
    features[is_higher] = n_ngrams + numbers.ravel()

    captions = ragged.row_numbers(ngrams.indptr)[cells]
    counts = ngrams.counts[cells]
    norms = tfidf.norms[captions]
    inverse_norms: Floats = np.zeros_like(norms)
    np.divide(1.0, norms, out=inverse_norms, where=norms > 0)
    # With levels, the cells of a candidate add up to its count.
    candidate_values = inverse_norms
    if not clip:
        candidate_values = counts * inverse_norms
    high, low = tfidf.split_squares(codes)  # Their sum is the squared weight.
    reference_values = counts * np.add(high, low) * inverse_norms
    return _OrderFeatures(
        captions,
        first_feature + features,
        candidate_values,
        reference_values,
        n_ngrams + len(higher_features),
    )
