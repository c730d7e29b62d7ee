"""The formula of METEOR 1.5 for English, and its parts, as functions of counts.

Conventions
-----------
Counts are a mapping from the names in ``COUNTS`` to arrays of one shape. They may be the
counts of one pair of captions, or sums over pairs.

References
----------
Denkowski and Lavie, 2014, Meteor Universal: language specific translation evaluation for
any target language, section 2.
Banerjee and Lavie, 2005, METEOR: an automatic metric for MT evaluation with improved
correlation with human judgments.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.metrics.formulas import divide
from semmetrics.text.meteor import STAGES

# Parameters of METEOR 1.5 for English
WEIGHTS = {"exact": 1.0, "stem": 0.6, "synonym": 0.8, "paraphrase": 0.6}
"""The weight of a match by its stage, in the order of ``STAGES``."""
ALPHA = 0.85
BETA = 0.2
GAMMA = 0.6
DELTA = 0.75

_WORD_KINDS = ("content", "function")
_SIDES = ("pred", "ref")
COUNTS = (
    "n_pred",
    "n_ref",
    "function_pred",
    "function_ref",
    *map("_".join, product(STAGES, _WORD_KINDS, _SIDES)),
    "chunks",
    "matched_pred",
    "matched_ref",
)
"""Names of the counts of a pair, in the order in which the program prints them.

They are words and function words of both sides, then matched words such as
"stem_content_pred" for each stage, the number of chunks, and all matched words.
"""


def meteor_value(counts: Any) -> Floats:
    r"""Compute METEOR 1.5 for English from counts, or from sums of counts.

    ``(1 - gamma (chunks / matches)^beta) P R / (alpha P + (1 - alpha) R)``. In precision
    P and recall R, a content word weighs ``delta``, a function word ``1 - delta``, and a
    match the weight of its stage. ``matches`` is the mean number of matched words of
    both sides.

    Parameters
    ----------
    counts : mapping from name to float arrays of one shape
        The names are ``COUNTS``.

    Returns
    -------
    float array of that shape, in [0, 1]
        0 if nothing matches.

    References
    ----------
    Denkowski and Lavie 2014, section 2, with the program's parameters for English.
    Banerjee and Lavie 2005 for chunks.

    Examples
    --------
    Four words match in one chunk. The sides have five and six words, all of them content
    words.

    >>> counts = dict.fromkeys(COUNTS, np.array(0.0))
    >>> counts |= {"n_pred": np.array(5.0), "n_ref": np.array(6.0), "chunks": np.array(1.0)}
    >>> counts |= dict.fromkeys(("matched_pred", "matched_ref"), np.array(4.0))
    >>> counts |= dict.fromkeys(("exact_content_pred", "exact_content_ref"), np.array(4.0))
    >>> round(float(meteor_value(counts)), 4)
    0.3728
    """
    precision = _share(counts, "pred")
    recall = _share(counts, "ref")
    has_matches = (precision > 0) & (recall > 0)
    precision = np.where(has_matches, precision, 1.0)
    recall = np.where(has_matches, recall, 1.0)
    mean = 1 / ((1 - ALPHA) / precision + ALPHA / recall)
    mean = np.where(has_matches, mean, 0.0)
    n_matched = (counts["matched_pred"] + counts["matched_ref"]) / 2
    fragmentation = counts["chunks"] / np.where(n_matched > 0, n_matched, 1.0)
    penalty = GAMMA * _power(fragmentation, BETA)
    return np.asarray(mean * (1 - penalty))


def _power(base: Floats, exponent: float) -> Floats:
    """Raise to a power with the C library.

    The last bit of NumPy's own result depends on the processor.
    """
    distinct, places = np.unique(base, return_inverse=True)
    powers = np.array([math.pow(value, exponent) for value in distinct.tolist()])
    return np.asarray(powers[places].reshape(np.shape(base)))


def _share(counts: Any, side: str) -> Floats:
    """Return weighted matches over weighted words of one side, 0 without words.

    The order of the sum is the program's. Another order can change the last bit, and
    with it the choice between two equally good references.
    """
    n_function = counts[f"function_{side}"]
    n_content = counts[f"n_{side}"] - n_function
    weighted_words = DELTA * n_content + (1 - DELTA) * n_function
    weighted_matches = 0
    for stage, weight in WEIGHTS.items():
        n_matches = counts[f"{stage}_content_{side}"]
        weighted_matches = weighted_matches + weight * DELTA * n_matches
    for stage, weight in WEIGHTS.items():
        n_matches = counts[f"{stage}_function_{side}"]
        weighted_matches = weighted_matches + weight * (1 - DELTA) * n_matches
    divisor = np.where(weighted_words > 0, weighted_words, 1.0)
    return np.asarray(weighted_matches / divisor)


def _fragmentation(counts: Any) -> Floats:
    """Return chunks over the mean number of matched words of both sides.

    Without matched words it is 1.
    """
    n_matched = counts["matched_pred"] + counts["matched_ref"]
    return divide(2 * counts["chunks"], n_matched, 1.0)


def _stage_share(counts: Any, stage: str) -> Floats:
    """Return the share of all words, of both sides together, that match at a stage."""
    n_matched = 0
    for kind, side in product(_WORD_KINDS, _SIDES):
        n_matched = n_matched + counts[f"{stage}_{kind}_{side}"]
    return divide(n_matched, counts["n_pred"] + counts["n_ref"], 0.0)


PARTS: dict[str, Callable[[Any], Floats]] = {
    "score": meteor_value,
    "precision": partial(_share, side="pred"),
    "recall": partial(_share, side="ref"),
    "fragmentation": _fragmentation,
    "exact": partial(_stage_share, stage="exact"),
    "stem": partial(_stage_share, stage="stem"),
    "synonym": partial(_stage_share, stage="synonym"),
    "paraphrase": partial(_stage_share, stage="paraphrase"),
}
"""METEOR and its parts, by the measure's option ``part``: functions of counts."""
