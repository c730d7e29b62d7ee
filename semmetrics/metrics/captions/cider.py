"""CIDEr-D and CIDEr: agreement with the references in n-grams, rare ones weighing more.

Conventions
-----------
Captions are tf-idf vectors over the n-grams of one order. A value is the mean over orders 1 to 4
and over references of the cosine of candidate and reference, times 10. ``CIDEr-D`` clips the
candidate's counts to the reference's and multiplies by exp(-Δ²/2σ²), Δ the difference of the
lengths of the two; length counts the bigrams, as the released code does. ``CIDEr`` does neither.

Weights come from document frequencies: of the references of the run, each image once
(``df=references``) or once for each candidate (``df=rows``), or of a fit (``df=given``). With the
references of a single image every weight is 0, and so is the value.

An n-gram that no document holds weighs as one that is in a single document. An empty caption has
value 0; a candidate without references has none (``no_reference``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints, row_numbers
from semmetrics.data.caption_task import CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.captions.cider_vectors import (
    Vectors,
    caption_lengths,
    pair_cosines,
)
from semmetrics.metrics.captions.documents import SOURCES, frequency_weights, tokens_of
from semmetrics.metrics.captions.families import NO_REFERENCE, References, caption_values
from semmetrics.metrics.captions.tokens import CaptionBlock
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic, Value
from semmetrics.metrics.policies import ItemMeans
from semmetrics.metrics.registry import add

__all__ = ["CIDEr", "CIDErD", "CiderFamily", "CiderValues", "length_penalty"]

SCALE = 10.0


def length_penalty(candidates: Ints, references: Ints, sigma: float) -> Floats:
    """exp(-Δ²/2σ²) of lengths, elementwise.

    Examples
    --------
    >>> length_penalty(np.array([9, 3]), np.array([9, 9]), 6.0).round(4).tolist()
    [1.0, 0.6065]
    """
    difference = (candidates - references).astype(np.float64)
    with np.errstate(over="ignore"):  # of lengths very far from each other, whose penalty is 0
        penalty: Floats = np.exp(-0.5 * (difference / sigma) ** 2)
    return penalty


@dataclass(frozen=True)
class CiderValues:
    """CIDEr-D of each candidate, or CIDEr where ``sigma`` is None: columns "value" and "cause"."""

    sigma: float | None
    df: str
    stem: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Compare each candidate with its references."""
        beside = block.get(References())
        vectors = task_vectors(block.task, self.df, self.stem)
        item, clip = row_numbers(beside.indptr), self.sigma is not None
        penalty = self._penalty(block.task, beside.first, beside.references)
        sides = beside.candidates, beside.indptr, beside.references
        total = np.zeros(len(block))
        for one in vectors:
            scores = pair_cosines(one, *sides, clip=clip) * penalty
            total += np.bincount(item, scores, len(block))
        n_refs = beside.n_refs
        values = SCALE * (total / len(vectors) / np.maximum(n_refs, 1))
        return caption_values(np.where(n_refs > 0, values, np.nan), n_refs)

    def _penalty(self, task: CaptionTask, candidates: Ints, references: Ints) -> Floats | float:
        if self.sigma is None:
            return 1.0
        length = caption_lengths(tokens_of(task, self.stem).indptr)
        return length_penalty(length[candidates], length[references], self.sigma)


def task_vectors(task: CaptionTask, df: str, stem: str) -> list[Vectors]:
    """The vectors of all captions of a task, for each order; made at their first use."""
    key = ("tf-idf", df, stem)
    if key not in task.shared:
        weights = frequency_weights(task, df, stem)
        ngrams = tokens_of(task, stem).ngrams
        task.shared[key] = [Vectors(*one) for one in zip(ngrams, weights, strict=True)]
    vectors: list[Vectors] = task.shared[key]
    return vectors


class CiderFamily(ItemMeans):
    """Means over candidates of CIDEr-D or CIDEr."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        sigma = measure["sigma"]
        return CiderValues(
            None if sigma is None else float(sigma), str(measure["df"]), str(measure["stem"])
        )


def _check_sigma(value: Value) -> None:
    if not isinstance(value, float) or not value > 0:
        raise InputError(f"sigma={value} is not above 0", remedy="the released code has sigma=6")


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
        family=CiderFamily(),
        summary="Clipped tf-idf cosine of n-grams with the references, less for other lengths.",
        equation="10/4 Σ_n mean_j exp(-(l_c - l_j)²/2σ²) Σ min(g_c, g_j) g_j / (|g_c| |g_j|)",
        source="Vedantam et al. 2015, section 7; coco-caption",
        cite=("vedantam2015",),
        options=(_SIGMA, *_SHARED),
        bounds=_BOUNDS,
        cutoff=False,
        kind="captions",
    )
)
CIDEr = add(
    Definition(
        name="CIDEr",
        family=CiderFamily(),
        summary="Cosine of the tf-idf vectors of n-grams with the references.",
        equation="10/4 Σ_n mean_j g_c · g_j / (|g_c| |g_j|)",
        source="Vedantam et al. 2015, equations 2 and 3; the authors' code",
        cite=("vedantam2015",),
        options=_SHARED,
        bounds=_BOUNDS,
        cutoff=False,
        kind="captions",
    )
)
