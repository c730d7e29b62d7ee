"""ROUGE-L of captions: the longest common subsequence with the reference it suits best.

Conventions
-----------
Precision is the length of the longest common subsequence over the candidate's tokens, recall over
the reference's. As in the COCO caption code the largest of each over all references counts, be it
of different ones, and an empty caption is one empty token, which another empty caption has too.
Values lie in [0, 1]; higher is better.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ngrams import lcs_lengths
from semmetrics.core.ragged import Floats, Ints, lengths
from semmetrics.errors import InputError
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CaptionBlock,
    CaptionMeans,
    References,
    largest_of_rows,
    task_tokens,
)
from semmetrics.metrics.definition import Definition, Option
from semmetrics.metrics.registry import add


def rouge_l(precision: NDArray[Any], recall: NDArray[Any], beta: float = 1.2) -> Floats:
    """Return F of precision and recall with a weight on recall; 0 where either is 0.

    Parameters
    ----------
    precision, recall : arrays of one shape, in [0, 1]
        nan stays nan.
    beta : float
        Not negative.

    Returns
    -------
    float array, in [0, 1]

    References
    ----------
    Lin, 2004, ROUGE: a package for automatic evaluation of summaries, equation 4.

    Examples
    --------
    >>> rouge_l(np.array([0.5, 0.0]), np.array([0.25, 0.0])).round(4).tolist()
    [0.3144, 0.0]
    """
    weight = beta**2
    top = (1 + weight) * precision * recall
    bottom = recall + weight * precision
    values: Floats = np.where(top == 0, 0.0, top / np.where(bottom == 0, 1.0, bottom))
    return values


def subsequence_shares(
    indptr: Ints, codes: NDArray[np.integer], first: Ints, second: Ints
) -> tuple[Floats, Floats]:
    """Return the longest common subsequence of pairs of texts as a share of each of them.

    Parameters
    ----------
    indptr, codes : int arrays
        Tokens of each text.
    first, second : int arrays, shape (pairs,)

    Returns
    -------
    tuple of two float arrays, shape (pairs,), in [0, 1]

    Examples
    --------
    >>> indptr, codes = np.array([0, 4, 6]), np.array([1, 2, 3, 2, 2, 1])
    >>> shares = subsequence_shares(indptr, codes, np.array([0]), np.array([1]))
    >>> [share.tolist() for share in shares]
    [[0.25], [0.5]]
    """
    common = lcs_lengths(indptr, codes, first, second)
    mine, theirs = (lengths(indptr)[side] for side in (first, second))
    common = common + ((mine == 0) & (theirs == 0))
    return common / np.maximum(mine, 1), common / np.maximum(theirs, 1)


@dataclass(frozen=True)
class BestShares:
    """A step: largest precision and recall of each candidate over its references; or nan."""

    def compute(self, block: CaptionBlock) -> tuple[Floats, Floats]:
        """Return precision and recall, shape (items,)."""
        table, captions = task_tokens(block.task), block.get(References())
        precision, recall = subsequence_shares(
            table.indptr, table.codes, captions.pair_candidates, captions.references
        )
        return largest_of_rows(precision, captions.indptr), largest_of_rows(recall, captions.indptr)


def _rouge_values(block: CaptionBlock, *, beta: float) -> Floats:
    return rouge_l(*block.get(BestShares()), beta)


def _check_beta(beta: float) -> None:
    if beta < 0 or not math.isfinite(beta * beta):
        raise InputError("bad-option", name="beta", value=beta, wanted="a finite number from 0")


ROUGE_L = add(
    Definition(
        name="ROUGE-L",
        family=CaptionMeans(_rouge_values),
        summary="F of the longest common subsequence with the references, recall weighing more.",
        equation="(1 + β²) P R / (R + β² P); P = max LCS/|candidate|, R = max LCS/|reference|",
        source="Lin 2004, equations 2 to 4; β and maxima of the COCO caption code (Chen et al. "
        "2015)",
        cite=("lin2004", "chen2015"),
        options=(
            Option("beta", "beta", 1.2, kind=float, help="weight of recall", check=_check_beta),
            NO_REFERENCE,
        ),
        cutoff=False,
        kind="captions",
    )
)
