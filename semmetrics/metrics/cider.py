"""CIDEr-D and CIDEr: agreement with the references in n-grams, rare ones weighing more.

Conventions
-----------
Captions are tf-idf vectors over the n-grams of one order: how often a caption holds an n-gram,
times the n-gram's weight. A value is the mean over orders 1 to 4 and over references of the cosine
of candidate and reference, times 10. ``CIDEr-D`` clips the candidate's counts to the reference's
and multiplies by exp(-Δ²/2σ²), Δ the difference of the lengths of the two; length counts the
bigrams, as the released code does. ``CIDEr`` does neither.

Weights come from document frequencies: of the references of the run, each image once
(``df=references``) or once for each candidate (``df=rows``), or of a fit (``df=given``). With the
references of a single image every weight is 0, and so is the value.

An n-gram that no document holds weighs as one that is in a single document. An empty caption has
value 0; a candidate without references has none (``no_reference``). Sums over n-grams are exact
before one rounding, so that a value does not depend on what other captions there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ngrams import NGrams
from semmetrics.core.ragged import (
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.core.sparse import Cells, SparsePairs
from semmetrics.data.tasks import CaptionTask
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CaptionBlock,
    CaptionMeans,
    References,
    task_tokens,
)
from semmetrics.metrics.definition import Definition, Measure, Option
from semmetrics.metrics.document_frequencies import SOURCES, frequency_hash, frequency_weights
from semmetrics.metrics.registry import add

__all__ = [
    "CIDEr",
    "CIDErD",
    "TfIdf",
    "bigram_counts",
    "cider_pairs",
    "cider_values",
    "length_penalty",
    "pair_cosines",
    "tfidf_vectors",
]

SCALE = 10.0
# A squared weight is cut in two parts on grids so coarse that sums of them, each times a product of
# counts, stay whole multiples within 53 bits: exact for captions that hold a word up to 500 times.
_HIGH, _LOW = 2.0**24, 2.0**60


def length_penalty(candidates: Ints, references: Ints, sigma: float) -> Floats:
    """Return exp(-Δ²/2σ²) of lengths, elementwise.

    Examples
    --------
    >>> length_penalty(np.array([9, 3]), np.array([9, 9]), 6.0).round(4).tolist()
    [1.0, 0.6065]
    """
    difference = (candidates - references).astype(np.float64)
    with np.errstate(over="ignore"):  # of lengths very far from each other, whose penalty is 0
        penalty: Floats = np.exp(-0.5 * (difference / sigma) ** 2)
    return penalty


@dataclass(frozen=True, eq=False)
class TfIdf:
    """The tf-idf vectors of all captions of a task, over the n-grams of one order.

    Attributes
    ----------
    ngrams : NGrams
    weights : float array, shape (distinct n-grams,)
        Not negative.
    held : int
        How many n-grams are squared at a time; a caption may have more.
    """

    ngrams: NGrams
    weights: Floats
    held: int = 1 << 20

    @cached_property
    def norms(self) -> Floats:
        """Euclidean lengths of the vectors, shape (texts,)."""
        ngrams = self.ngrams
        found = np.empty(len(ngrams.indptr) - 1)
        for rows in runs_within(ngrams.indptr, self.held):
            indptr = ngrams.indptr[rows.start : rows.stop + 1]
            flat = slice(indptr[0], indptr[-1])
            counts = ngrams.counts[flat].astype(np.int64)
            texts = row_numbers(indptr - indptr[0])
            found[rows] = self.sums(texts, ngrams.codes[flat], counts * counts, len(indptr) - 1)
        return np.sqrt(found, out=found)

    def squares(self, codes: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return squared weights of n-grams, as two parts whose sum they are."""
        squares = self.weights[codes] ** 2
        high = np.rint(squares * _HIGH) / _HIGH
        return high, np.rint((squares - high) * _LOW) / _LOW

    def sums(self, rows: Ints, codes: NDArray[np.integer], times: Ints, n_rows: int) -> Floats:
        """Return the sum over the n-grams of each row of times · weight²."""
        high, low = (np.bincount(rows, times * part, n_rows) for part in self.squares(codes))
        total: Floats = np.add(high, low)
        return total


def pair_cosines(
    vectors: TfIdf, candidates: Ints, indptr: Ints, references: Ints, *, clip: bool
) -> Floats:
    """Return the cosines of each candidate and its references; 0 where a vector is zero.

    Parameters
    ----------
    vectors : TfIdf
    candidates : int array, shape (items,)
        Texts.
    indptr, references : int arrays, shapes (items + 1,) and (pairs,)
        The texts of each item's references.
    clip : bool
        An n-gram counts for the candidate at most as often as the reference holds it.

    Returns
    -------
    float array, shape (pairs,)
        In [0, 1].
    """
    ngrams, size = vectors.ngrams, len(vectors.ngrams)
    item = row_numbers(indptr)
    rows, mine = take_rows(ngrams.indptr, candidates)
    held = row_numbers(rows) * size + ngrams.codes[mine]
    rows, theirs = take_rows(ngrams.indptr, references)
    wanted = np.repeat(item * size, lengths(rows)) + ngrams.codes[theirs]
    place = np.searchsorted(held, wanted)
    both = np.flatnonzero(np.append(held, -1)[place] == wanted)
    theirs = theirs[both]
    hits, counts = (ngrams.counts[cells].astype(np.int64) for cells in (mine[place[both]], theirs))
    times = (np.minimum(hits, counts) if clip else hits) * counts
    pairs = np.searchsorted(rows, both, "right") - 1
    products = vectors.sums(pairs, ngrams.codes[theirs], times, len(references))
    norms = vectors.norms[candidates[item]] * vectors.norms[references]
    return np.where(norms > 0, products / np.where(norms > 0, norms, 1.0), 0.0)


def bigram_counts(indptr: Ints) -> Ints:
    """Return how many bigrams each caption has: the length that the penalty compares.

    Examples
    --------
    >>> bigram_counts(np.array([0, 0, 1, 6])).tolist()
    [0, 0, 4]
    """
    bigrams: Ints = np.maximum(np.diff(indptr) - 1, np.int64(0))
    return bigrams


def tfidf_vectors(task: CaptionTask, source: str, stem: str) -> list[TfIdf]:
    """Return the vectors of all captions of a task, for each order; made at their first use."""
    key = ("tf-idf", source, stem)
    if key not in task.shared:
        weights = frequency_weights(task, source, stem)
        ngrams = task_tokens(task, stem).ngrams
        task.shared[key] = [TfIdf(*one) for one in zip(ngrams, weights, strict=True)]
    vectors: list[TfIdf] = task.shared[key]
    return vectors


def cider_values(block: CaptionBlock, *, df: str, stem: str, sigma: float | None = None) -> Floats:
    """Return CIDEr-D of each candidate, or CIDEr without a sigma; notes the fit that is used."""
    task, captions = block.task, block.get(References())
    vectors = tfidf_vectors(task, df, stem)
    block.note(f"#df={df}/{stem}", frozenset([frequency_hash(task, df, stem)]))
    item, n_refs = row_numbers(captions.indptr), captions.n_refs
    penalty: Any = 1.0
    if sigma is not None:
        length = bigram_counts(task_tokens(task, stem).indptr)
        mine, theirs = captions.pair_candidates, captions.references
        penalty = length_penalty(length[mine], length[theirs], sigma)
    sides = captions.candidates, captions.indptr, captions.references
    total = np.zeros(len(block))
    for one in vectors:
        scores = pair_cosines(one, *sides, clip=sigma is not None) * penalty
        total += np.bincount(item, scores, len(block))
    values = SCALE * (total / len(vectors) / np.maximum(n_refs, 1))
    return np.where(n_refs > 0, values, np.nan)


# CIDEr-D of every caption against the references of every image: clipped counts are sums over
# levels t = 1, 2, …: min(h, r) = Σ_t [h ≥ t] [r ≥ t]. So an n-gram and a level together are one
# feature; a caption has 1/|h| there and a reference r w²/|r|, and CIDEr-D is a product of sparse
# rows. The length penalty depends on the two lengths alone: captions of one length share the
# references' values times their penalties, added up for each image before the product.


class _Features(NamedTuple):
    """Features of all texts, text after text, and what their values are made of."""

    indptr: Ints
    codes: Ints
    counts: Ints
    squares: Floats
    inverse: Floats

    def rows(self, texts: Ints, values: Floats) -> Cells:
        """Return the features of some texts, with values."""
        indptr, flat = take_rows(self.indptr, texts)
        return Cells(indptr, self.codes[flat], values[flat])


def cider_pairs(task: CaptionTask, measure: Measure) -> SparsePairs:
    """Return products whose entry (image, candidate) is the measure of the candidate for the image.

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
    source, stem, sigma = str(measure["df"]), str(measure["stem"]), measure["sigma"]
    features = _count_features(tfidf_vectors(task, source, stem), clip=sigma is not None)
    columns = features.rows(
        task.candidates,
        features.inverse if sigma is not None else features.counts * features.inverse,
    )
    references = features.rows(
        task.references, features.counts * features.squares * features.inverse
    )
    n_refs = lengths(task.indptr)
    share = np.repeat(SCALE / 4 / np.maximum(n_refs, 1), n_refs)
    reference = row_numbers(references.indptr)
    values = references.values * share[reference]
    rows = Cells(references.indptr[task.indptr], references.features, values)
    if sigma is None:
        one = np.zeros(len(values), np.int64), np.zeros(len(task), np.int64)
        return SparsePairs(rows, columns, *one, np.ones((1, 1)))
    length = bigram_counts(task_tokens(task, stem).indptr)
    theirs, kinds = np.unique(length[task.references], return_inverse=True)
    mine, classes = np.unique(length[task.candidates], return_inverse=True)
    scale = length_penalty(mine[:, None], theirs, float(sigma))
    return SparsePairs(rows, columns, kinds.ravel()[reference], classes.ravel(), scale)


def _count_features(vectors: Sequence[TfIdf], *, clip: bool) -> _Features:
    """Return each n-gram of each order, or each level of it if counts are clipped, as a feature."""
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


def _check_sigma(sigma: float) -> None:
    if not sigma > 0:
        raise InputError(f"sigma={sigma} is not above 0", remedy="the released code has sigma=6")


_SHARED = (
    Option(
        "df",
        "df",
        "references",
        SOURCES,
        help="what document frequencies are counted on: the images of the run, its rows, or a "
        "fit that is given",
    ),
    Option("stem", "stem", "none", ("none", "porter"), help="stem words (Porter 1980)"),
    NO_REFERENCE,
)
_SIGMA = Option(
    "sigma",
    "sigma",
    6.0,
    kind=float,
    help="length difference at which the penalty is exp(-1/2), in bigrams",
    check=_check_sigma,
)
_BOUNDS = (0.0, SCALE)

CIDErD = add(
    Definition(
        name="CIDEr-D",
        family=CaptionMeans(cider_values),
        summary="Clipped tf-idf cosine of n-grams with the references, less for other lengths.",
        equation="10/4 Σ_n mean_j exp(-(l_c - l_j)²/2σ²) Σ min(g_c, g_j) g_j / (|g_c| |g_j|)",
        source="Vedantam et al. 2015, section 7; coco-caption",
        cite=("vedantam2015",),
        options=(_SIGMA, *_SHARED),
        bounds=_BOUNDS,
        cutoff=False,
        kind="captions",
        needs=frozenset({"document_frequencies"}),
        extra={"pairs": cider_pairs, "percent": True},
    )
)
CIDEr = add(
    Definition(
        name="CIDEr",
        family=CaptionMeans(cider_values),
        summary="Cosine of the tf-idf vectors of n-grams with the references.",
        equation="10/4 Σ_n mean_j g_c · g_j / (|g_c| |g_j|)",
        source="Vedantam et al. 2015, equations 2 and 3; the authors' code",
        cite=("vedantam2015",),
        options=_SHARED,
        bounds=_BOUNDS,
        cutoff=False,
        kind="captions",
        needs=frozenset({"document_frequencies"}),
        extra={"pairs": cider_pairs, "percent": True},
    )
)
