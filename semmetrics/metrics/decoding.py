"""Decoding: from a matrix of label scores to label sets.

Conventions
-----------
The labels of an item are looked at by falling score, equal scores in the order of the columns. A
rule says how many of the first make the set; the rules themselves, on ragged rows, are those of
`semmetrics.metrics.decoding_rules`, and have their names here, too.

References
----------
Pineda, Salvador et al., 2019, Elucidating image-to-set prediction, section 3.1.1.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Bools, Floats, offsets
from semmetrics.errors import InputError
from semmetrics.metrics.decoding_checks import whole_number
from semmetrics.metrics.decoding_rules import (
    keep_above,
    keep_cardinality,
    keep_cardinality_with_scores,
    keep_cumulative,
    keep_top,
)

__all__ = [
    "Rule",
    "decode",
    "keep_above",
    "keep_cardinality",
    "keep_cardinality_with_scores",
    "keep_cumulative",
    "keep_top",
    "score_matrix",
]

Rule: TypeAlias = Literal["threshold", "top", "cumulative", "cardinality", "cardinality+scores"]


def decode(
    scores: ArrayLike,
    rule: Rule = "threshold",
    *,
    threshold: float = 0.5,
    k: int | None = None,
    head: ArrayLike | None = None,
    min_labels: int = 0,
    offset: int = 0,
) -> Bools:
    """Turn a matrix of label scores into label sets.

    Parameters
    ----------
    scores : array-like, shape (n, L)
        Equal scores rank in the order of the columns.
    rule : {"threshold", "top", "cumulative", "cardinality", "cardinality+scores"}
        The rules of `semmetrics.metrics.decoding_rules`.
    threshold : float
        For "threshold" and "cumulative"; strict.
    k : int, optional
        Only the k best labels of a row take part; needed for "top", a cap for the other rules
        (``maxnumlabels`` of the paper's code).
    head : array-like, shape (n, C), optional
        The cardinality head, for the two rules named after it; probabilities.
    min_labels : int
        For "threshold" and "cumulative": keep at least so many.
    offset : int
        For the cardinality rules: 1 where the head has no column for the empty set.

    Returns
    -------
    array, shape (n, L), bool

    Raises
    ------
    InputError
        If a score is NaN, a shape is wrong (names the row), or an option is missing, out of
        range or unknown to the rule.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1.

    Examples
    --------
    >>> decode([[0.9, 0.2, 0.6], [0.1, 0.3, 0.2]], min_labels=1).astype(int)
    array([[1, 0, 1],
           [0, 1, 0]])
    """
    matrix = score_matrix(scores)
    _check_options(rule, threshold, k, head, min_labels, offset)
    n, width = matrix.shape
    kept_columns = width if k is None else min(whole_number(k, "k"), width)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :kept_columns]
    rows = offsets(np.full(n, kept_columns))
    flat = np.take_along_axis(matrix, order, axis=1).ravel()
    if rule == "top":
        counts = keep_top(rows, kept_columns)
    elif rule == "threshold":
        counts = keep_above(rows, flat, threshold, min_labels)
    elif rule == "cumulative":
        counts = keep_cumulative(rows, flat, threshold, min_labels)
    elif rule == "cardinality":
        counts = keep_cardinality(rows, _given(head, rule), offset)
    else:
        counts = keep_cardinality_with_scores(rows, flat, _given(head, rule), offset)
    chosen = np.zeros(matrix.shape, np.bool_)
    np.put_along_axis(chosen, order, np.arange(kept_columns) < counts[:, None], axis=1)
    return chosen


def score_matrix(scores: ArrayLike) -> Floats:
    """Check a dense score matrix and give it as float64, shape (n, L).

    Raises
    ------
    InputError
        If it is not two-dimensional or has a NaN; names the row.

    Examples
    --------
    >>> score_matrix([[0.5], [float("nan")]])
    Traceback (most recent call last):
    semmetrics.errors.InputError: scores, row 1: a score is NaN; give every label a number
    """
    matrix = np.asarray(scores, np.float64)
    if matrix.ndim != 2:
        raise InputError(
            f"scores have shape {matrix.shape}", remedy="give one row for each item: (n, L)"
        )
    bad = np.isnan(matrix).any(axis=1)
    if bad.any():
        where = f"scores, row {int(bad.argmax())}"
        raise InputError("a score is NaN", where=where, remedy="give every label a number")
    return matrix


def _check_options(
    rule: str, threshold: float, k: int | None, head: object, min_labels: int, offset: int
) -> None:
    """Refuse an unknown rule, and options that the rule would not look at."""
    if rule not in get_args(Rule):
        raise InputError(f"unknown rule {rule!r}", remedy=f"use one of {', '.join(get_args(Rule))}")
    if rule == "top" and k is None:
        raise InputError("the rule 'top' needs k")
    by_head = rule.startswith("cardinality")
    unused = {
        "head": head is not None and not by_head,
        "offset": offset != 0 and not by_head,
        "threshold": threshold != 0.5 and rule not in ("threshold", "cumulative"),
        "min_labels": min_labels != 0 and rule not in ("threshold", "cumulative"),
    }
    for name, given in unused.items():
        if given:
            raise InputError(f"the rule {rule!r} has no option {name}", remedy="leave it out")


def _given(head: ArrayLike | None, rule: str) -> ArrayLike:
    if head is None:
        raise InputError(f"the rule {rule!r} needs head")
    return head
