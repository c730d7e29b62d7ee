"""ROUGE-L of captions: the longest common subsequence with the reference it suits best.

Conventions
-----------
Precision is the length of the longest common subsequence over the candidate's tokens, recall over
the reference's. As in the COCO caption code the largest of each over all references counts, be it
of different ones, and an empty caption is one empty token, which another empty caption has too.
Values lie in [0, 1]; higher is better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ngrams import lcs_lengths
from semmetrics.core.ragged import Floats, lengths
from semmetrics.data.tasks import kept
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock
from semmetrics.metrics.definition import Option


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
    return np.where(top == 0, 0.0, top / np.where(bottom == 0, 1.0, bottom))


@kept
def _best_shares(block: CaptionBlock) -> tuple[Floats, Floats]:
    """Return the largest precision and recall of each candidate over its references; or nan."""
    table, captions = caption_steps.task_tokens(block.task), caption_steps.items_of(block)
    pairs = captions.pair_candidates, captions.references
    mine, theirs = (lengths(table.indptr)[side] for side in pairs)
    common = lcs_lengths(table.indptr, table.codes, *pairs) + ((mine == 0) & (theirs == 0))
    precision = caption_steps.largest_of_rows(common / np.maximum(mine, 1), captions.indptr)
    recall = caption_steps.largest_of_rows(common / np.maximum(theirs, 1), captions.indptr)
    return precision, recall


def _rouge_values(block: CaptionBlock, *, beta: float) -> Floats:
    return rouge_l(*_best_shares(block), beta)


ROUGE_L = caption_steps.caption_measure(
    "ROUGE-L",
    caption_steps.CaptionMeans(_rouge_values),
    "F of the longest common subsequence with the references, recall weighing more.",
    "(1 + β²) P R / (R + β² P); P = max LCS/|candidate|, R = max LCS/|reference|",
    "Lin 2004, equations 2 to 4; β and maxima of the COCO caption code (Chen et al. 2015)",
    cite=("lin2004", "chen2015"),
    options=(
        Option("beta", "beta", 1.2, kind=float, within=(0, 1e154), help="weight of recall"),
        NO_REFERENCE,
    ),
)
