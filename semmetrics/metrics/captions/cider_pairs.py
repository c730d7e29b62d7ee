"""CIDEr-D and CIDEr of every caption against the references of every image.

Conventions
-----------
Clipped counts are sums over levels t = 1, 2, …: min(h, r) = Σ_t [h ≥ t] [r ≥ t]. So an n-gram and a
level together are one feature; a caption has 1/|h| there and a reference r w²/|r|, and CIDEr-D is a
product of sparse rows. The length penalty depends on the two lengths alone: captions of one length
share the references' values times their penalties, added up for each image before the product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Floats, Ints, lengths, offsets, positions, row_numbers, take_rows
from semmetrics.core.sparse_pairs import Cells, SparsePairs
from semmetrics.data.caption_task import CaptionTask
from semmetrics.metrics.captions.cider import SCALE, length_penalty, task_vectors
from semmetrics.metrics.captions.cider_vectors import Vectors, caption_lengths
from semmetrics.metrics.captions.documents import tokens_of
from semmetrics.metrics.definition import Measure

__all__ = ["cider_pairs"]


class _Features(NamedTuple):
    """Features of all texts, text after text, and what their values are made of."""

    indptr: Ints
    codes: Ints
    counts: Ints
    squares: Floats
    inverse: Floats

    def rows(self, texts: Ints, values: Floats) -> Cells:
        """The features of some texts, with values."""
        indptr, flat = take_rows(self.indptr, texts)
        return Cells(indptr, self.codes[flat], values[flat])


def cider_pairs(task: CaptionTask, measure: Measure) -> SparsePairs:
    """Products whose entry (image, candidate) is the measure of that candidate for that image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images.
    measure : Measure
        Of CIDEr-D or CIDEr.

    Returns
    -------
    SparsePairs
        Rows are images; one without references has zeros.
    """
    df, stem, sigma = str(measure["df"]), str(measure["stem"]), measure["sigma"]
    made = _features(task_vectors(task, df, stem), clip=sigma is not None)
    columns = made.rows(
        task.candidates, made.inverse if sigma is not None else made.counts * made.inverse
    )
    references = made.rows(task.references, made.counts * made.squares * made.inverse)
    n_refs = lengths(task.indptr)
    share = np.repeat(SCALE / 4 / np.maximum(n_refs, 1), n_refs)
    reference = row_numbers(references.indptr)
    values = references.values * share[reference]
    rows = Cells(references.indptr[task.indptr], references.features, values)
    if sigma is None:
        one = np.zeros(len(values), np.int64), np.zeros(len(task), np.int64)
        return SparsePairs(rows, columns, *one, np.ones((1, 1)))
    length = caption_lengths(tokens_of(task, stem).indptr)
    theirs, kinds = np.unique(length[task.references], return_inverse=True)
    mine, classes = np.unique(length[task.candidates], return_inverse=True)
    scale = length_penalty(mine[:, None], theirs, float(sigma))
    return SparsePairs(rows, columns, kinds.ravel()[reference], classes.ravel(), scale)


def _features(vectors: Sequence[Vectors], *, clip: bool) -> _Features:
    """Each n-gram of each order, and where counts are clipped each of its levels, as a feature."""
    texts, codes, counts, squares, inverse = [], [], [], [], []
    first = 0
    for one in vectors:
        ngrams = one.ngrams
        level, cell = np.zeros(len(ngrams.codes), np.int64), np.arange(len(ngrams.codes))
        if clip:
            indptr = offsets(ngrams.counts)
            level, cell = positions(indptr), row_numbers(indptr)
        grams, size = ngrams.codes[cell], len(ngrams)
        names = grams.astype(np.int64)
        higher, number = np.unique((level * size + grams)[level > 0], return_inverse=True)
        names[level > 0] = size + number.ravel()
        text = row_numbers(ngrams.indptr)[cell]
        texts.append(text)
        codes.append(first + names)
        counts.append(ngrams.counts[cell])
        squares.append(np.add(*one.squares(grams)))
        norms = one.norms[text]
        inverse.append(np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0))
        first += size + len(higher)
    row = np.concatenate(texts)
    order = np.argsort(row, kind="stable")
    indptr = offsets(np.bincount(row, minlength=len(vectors[0].ngrams.indptr) - 1))
    parts = (np.concatenate(part)[order] for part in (codes, counts, squares, inverse))
    return _Features(indptr, *parts)
