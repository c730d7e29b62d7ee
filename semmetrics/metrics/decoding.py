"""Decoding: from label scores to label sets.

Conventions
-----------
The labels of an item are looked at by falling score, equal scores in the order of the columns. A
rule says how many of the first make the set. The rules work on ragged rows that are sorted by
falling score (stable: equal scores keep their order), without NaN; each returns, for each row, the
number of labels to keep from its start, int64, shape (n,). A result depends on its own row only,
never on the rows beside it.

Rules
-----
``keep_above``                    the labels with a score above a threshold
``keep_cumulative``               labels until their scores add up to a threshold
``keep_cardinality``              as many as a cardinality head says
``keep_cardinality_with_scores``  the cardinality that head and scores together make most probable

References
----------
Pineda, Salvador et al., 2019, Elucidating image-to-set prediction, section 3.1.1.
"""

from __future__ import annotations

import operator
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import Bools, Floats, Ints, lengths, offsets, sum_rows
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import pluralize

Rule: TypeAlias = Literal["threshold", "top", "cumulative", "cardinality", "cardinality+scores"]


@checked
def decode(
    scores: ArrayLike,
    rule: Rule = "threshold",
    *,
    threshold: float = 0.5,
    k: int | None = None,
    head: ArrayLike | None = None,
    keep_at_least: int = 0,
    offset: int = 0,
) -> Bools:
    """Turn a matrix of label scores into label sets.

    Parameters
    ----------
    scores : array-like, shape (n, L)
        Equal scores rank in the order of the columns.
    rule : {"threshold", "top", "cumulative", "cardinality", "cardinality+scores"}
        The rules of this module.
    threshold : float
        For "threshold" and "cumulative"; strict.
    k : int, optional
        Only the k best labels of a row take part; needed for "top", a cap for the other rules
        (``maxnumlabels`` of the paper's code).
    head : array-like, shape (n, C), optional
        The cardinality head, for the two rules named after it; probabilities.
    keep_at_least : int
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
    >>> decode([[0.9, 0.2, 0.6], [0.1, 0.3, 0.2]], keep_at_least=1).astype(int)
    array([[1, 0, 1],
           [0, 1, 0]])
    """
    matrix = score_matrix(scores)
    n, width = matrix.shape
    kept_columns = min(width if k is None else _whole_number(k, "k"), width)
    _check_options(rule, threshold, k, head, keep_at_least, offset)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :kept_columns]
    rows = offsets(np.full(n, kept_columns))
    flat = np.take_along_axis(matrix, order, axis=1).ravel()
    if rule == "top":
        counts = lengths(rows)
    elif rule == "threshold":
        counts = keep_above(rows, flat, threshold, keep_at_least)
    elif rule == "cumulative":
        counts = keep_cumulative(rows, flat, threshold, keep_at_least)
    elif head is None:
        raise InputError(f"the rule {rule!r} needs head")
    elif rule == "cardinality":
        counts = keep_cardinality(rows, head, offset)
    else:
        counts = keep_cardinality_with_scores(rows, flat, head, offset)
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
    semmetrics.errors.InputError: scores, row 1 (from 0): a score is NaN; give every label a number
    """
    matrix = np.asarray(scores, np.float64)
    if matrix.ndim != 2:
        raise InputError(
            f"scores have shape {matrix.shape}", remedy="give one row for each item: (n, L)"
        )
    bad = np.isnan(matrix).any(axis=1)
    if bad.any():
        where = f"scores, row {int(bad.argmax())}{FROM_0}"
        raise InputError("a score is NaN", where=where, remedy="give every label a number")
    return matrix


def _check_options(
    rule: str, threshold: float, k: int | None, head: object, keep_at_least: int, offset: int
) -> None:
    """Refuse an unknown rule, options out of range, and those that the rule would not look at."""
    if rule not in get_args(Rule):
        raise InputError(f"unknown rule {rule!r}", remedy=f"use one of {', '.join(get_args(Rule))}")
    if rule == "top" and k is None:
        raise InputError("the rule 'top' needs k")
    if np.isnan(threshold):
        raise InputError("the threshold is NaN")
    _whole_number(keep_at_least, "keep_at_least")
    _whole_number(offset, "offset")
    by_head = rule.startswith("cardinality")
    unused = {
        "head": head is not None and not by_head,
        "offset": offset != 0 and not by_head,
        "threshold": threshold != 0.5 and rule not in ("threshold", "cumulative"),
        "keep_at_least": keep_at_least != 0 and rule not in ("threshold", "cumulative"),
    }
    for name, given in unused.items():
        if given:
            raise InputError(f"the rule {rule!r} has no option {name}", remedy="leave it out")


def keep_above(indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0) -> Ints:
    """Keep the labels with a score above the threshold.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],)
        Falling in each row.
    threshold : float
        Strict: a label whose score equals it is left out (the released code of the paper; its
        text has "at least").
    keep_at_least : int
        Keep at least so many, where the row has them.

    Returns
    -------
    array, shape (n,), int64

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1, "Set cardinality".

    Examples
    --------
    >>> keep_above(np.array([0, 3, 4]), np.array([0.9, 0.5, 0.1, 0.2]), 0.5, keep_at_least=1)
    array([1, 1])
    """
    return _at_least(sum_rows(scores > threshold, indptr), indptr, keep_at_least)


def keep_cumulative(indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0) -> Ints:
    """Keep a label while the sum of the scores before it is below the threshold.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],), at least 0
        Probabilities over the labels, falling in each row.
    threshold : float
        Strict: once the sum equals it, no further label is kept.
    keep_at_least : int
        Keep at least so many, where the row has them.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If a score is negative; names the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1: the target-distribution model.

    Examples
    --------
    >>> keep_cumulative(np.array([0, 3, 4]), np.array([0.4, 0.3, 0.3, 0.2]), 0.5)
    array([2, 1])
    """
    _refuse_scores(scores < 0, indptr, "a score is negative")
    before = np.zeros(len(scores))
    before[1:] = _row_cumsum(indptr, scores)[:-1]
    before[indptr[:-1][lengths(indptr) > 0]] = 0.0
    return _at_least(sum_rows(before < threshold, indptr), indptr, keep_at_least)


def keep_cardinality(indptr: Ints, head: ArrayLike, offset: int = 0) -> Ints:
    """Keep as many labels as the cardinality head finds most probable.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    head : array-like, shape (n, C)
        Column c is for the cardinality c + offset; probabilities or logits. Of equal columns
        the first, so the smaller cardinality, is meant.
    offset : int
        1 where the head has no column for the empty set.

    Returns
    -------
    array, shape (n,), int64
        The cardinality, or the length of the row where that is less.

    Raises
    ------
    InputError
        If the head has another number of rows, no column, or a NaN; names the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1, "Set cardinality".

    Examples
    --------
    >>> keep_cardinality(np.array([0, 3, 4]), [[0.1, 0.7, 0.2], [0.0, 0.1, 0.9]], offset=1)
    array([2, 1])
    """
    best: Ints = _cardinality_head(head, indptr).argmax(axis=1) + offset
    return np.minimum(best, lengths(indptr))


def keep_cardinality_with_scores(
    indptr: Ints, scores: Floats, head: ArrayLike, offset: int = 0, extra: int = 0
) -> Ints:
    r"""Keep the cardinality that is most probable together with the labels it would keep.

    For each cardinality c that the row can fill, :math:`\log h_c + \sum_{i \le c} \log s_i` is
    formed; the arg max is kept (the smallest, where several are equal or all are impossible).

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],), at least 0, finite
        Label probabilities, falling in each row.
    head : array-like, shape (n, C), at least 0, finite
        *Probabilities* (not logs) of the cardinalities offset, offset + 1, ...; a common factor
        of a row changes nothing.
    offset : int
        1 where the head has no column for the empty set.
    extra : int
        Labels summed beyond the c kept. 0 is the rule as written; the paper's released code
        sums c + 1 labels where the empty set is allowed, so ``offset=0, extra=1`` is what it runs.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If scores or head are negative or infinite, or the head is NaN or of the wrong shape;
        names the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1: the Dirichlet-Categorical cardinality, after
    Rezatofighi et al., 2018, Joint learning of set cardinality and state distribution.

    Examples
    --------
    >>> rows = np.array([0, 3]), np.array([0.9, 0.8, 0.01])
    >>> keep_cardinality_with_scores(*rows, [[0.2, 0.3, 0.5]], offset=1)
    array([2])
    """
    _refuse_scores((scores < 0) | np.isinf(scores), indptr, "a score is no probability")
    table = _cardinality_head(head, indptr)
    _refuse_rows((table < 0) | np.isinf(table), "the cardinality head is no probability")
    sizes = np.arange(table.shape[1]) + offset
    widths = lengths(indptr)[:, None]
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant: such a set is impossible
        total = np.log(table)
        sums = np.append(_row_cumsum(indptr, np.log(scores)), 0.0)
    summed = np.minimum(sizes + extra, widths)
    total += np.where(summed > 0, sums[indptr[:-1, None] + summed - 1], 0.0)
    total[sizes > widths] = -np.inf
    best: Ints = total.argmax(axis=1) + offset
    return np.minimum(best, widths[:, 0])


def _row_cumsum(rows: Ints, flat: Floats) -> Floats:
    """Sum within each row as it runs, each added up from its own start.

    Differences of one running sum over all rows would let a row's rounding depend on its
    neighbours, so positions are walked instead: the rows shrink away as they end.
    """
    widths = lengths(rows)
    if len(widths) and widths[0] and (widths == widths[0]).all():
        return np.cumsum(flat.reshape(len(widths), -1), axis=1).ravel()
    sums = np.array(flat)
    longest = np.argsort(-widths, kind="stable")
    active = rows[:-1][longest]
    counts = np.searchsorted(-widths[longest], -np.arange(1, max(widths, default=0)))
    for position, count in enumerate(counts.tolist(), start=1):
        here = active[:count] + position
        sums[here] += sums[here - 1]
    return sums


def _at_least(counts: Ints, rows: Ints, keep_at_least: int) -> Ints:
    return np.maximum(counts, np.minimum(keep_at_least, lengths(rows)))


def _cardinality_head(head: ArrayLike, rows: Ints) -> Floats:
    """Check a head: a column for each cardinality, a row for each item, no NaN."""
    table = np.asarray(head, np.float64)
    if table.ndim != 2 or len(table) != len(rows) - 1 or not table.shape[1]:
        raise InputError(
            f"the cardinality head has shape {table.shape}",
            remedy=f"give {pluralize(len(rows) - 1, 'row')} and a column for each cardinality",
        )
    _refuse_rows(np.isnan(table), "the cardinality head is NaN")
    return table


def _whole_number(value: int, name: str) -> int:
    """Check an option that counts something."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r} is not an integer") from None
    if number < 0:
        raise InputError(f"{name} = {number} is negative", remedy="give 0 or more")
    return number


def _refuse_scores(bad: Bools, rows: Ints, problem: str) -> None:
    """Name the row of the first score that is wrong."""
    if bad.any():
        row = int(np.searchsorted(rows, bad.argmax(), side="right")) - 1
        raise InputError(problem, where=f"scores, row {row}{FROM_0}", remedy="give probabilities")


def _refuse_rows(bad: Bools, problem: str) -> None:
    """Name the first row of the cardinality head that is wrong."""
    if bad.any():
        row = int(bad.any(axis=1).argmax())
        raise InputError(problem, where=f"head, row {row}{FROM_0}")
