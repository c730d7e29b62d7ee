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

from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.backend import dense_array, precision_of, round_to
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    row_numbers,
    sum_rows,
)
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import pluralize

Weights: TypeAlias = "ArrayLike | None"
"""A weight for each item; each counts once without them."""
Rule: TypeAlias = Literal[
    "threshold", "top", "cumulative", "cardinality", "cardinality+scores"
]


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
        For "threshold" and "cumulative"; strict. Scores of an array of float32, float16 or bfloat16
        are compared with it in their own type, as NumPy and torch do.
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
    precision = precision_of(scores)
    matrix = score_matrix(scores)
    n, width = matrix.shape
    _check_options(rule, threshold, k, head, keep_at_least, offset)
    kept_columns = width if k is None else min(k, width)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :kept_columns]
    rows = offsets(np.full(n, kept_columns))
    flat = np.take_along_axis(matrix, order, axis=1).ravel()
    sizes: Any = head
    if rule == "top":
        counts = lengths(rows)
    elif rule in ("threshold", "cumulative"):
        keep = keep_above if rule == "threshold" else keep_cumulative
        limit = round_to(threshold, precision) if rule == "threshold" else threshold
        counts = keep(rows, flat, limit, keep_at_least)
    elif rule == "cardinality":
        counts = keep_cardinality(rows, sizes, offset)
    else:
        counts = keep_cardinality_with_scores(rows, flat, sizes, offset)
    chosen = np.zeros(matrix.shape, np.bool_)
    np.put_along_axis(chosen, order, np.arange(kept_columns) < counts[:, None], axis=1)
    return chosen


def sigmoid(scores: Floats) -> Floats:
    """Return 1 / (1 + exp(-score)) of each score.

    Examples
    --------
    >>> sigmoid(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    with np.errstate(over="ignore"):  # 1 / inf is 0
        return np.asarray(1.0 / (1.0 + np.exp(-scores)))


def softmax(indptr: Ints, scores: Floats) -> Floats:
    """Return exp(score) over the sum of exp(score) of its row.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],)

    Returns
    -------
    array, shape (indptr[-1],)

    Examples
    --------
    >>> softmax(np.array([0, 2, 2, 3]), np.array([1000.0, 1000.0, -5.0]))
    array([0.5, 0.5, 1. ])
    >>> softmax(np.array([0, 2]), np.array([1e308, -1e308]))
    array([1., 0.])
    """
    if not len(scores):
        return scores
    rows = row_numbers(indptr)
    highest = np.full(len(indptr) - 1, -np.inf)
    np.maximum.at(highest, rows, scores)
    with np.errstate(over="ignore"):  # the exponential of -inf is 0
        exponentials = np.exp(scores - highest[rows])
    totals = np.bincount(rows, exponentials, minlength=len(indptr) - 1)
    return np.asarray(exponentials / totals[rows])


def score_matrix(scores: ArrayLike) -> Floats:
    """Check a dense score matrix and return it as float64, shape (n, L).

    Raises
    ------
    InputError
        If it is not two-dimensional, or holds a NaN; names the row.

    Examples
    --------
    >>> score_matrix([[0.5], [float("nan")]])
    Traceback (most recent call last):
    semmetrics.errors.InputError: scores, row 1 (from 0): a score is nan; give a number
    """
    matrix = dense_array(scores, "scores", np.float64)
    if matrix.ndim != 2:
        wanted = "one row for each item: (n, L)"
        raise InputError(
            "wrong-shape", role="scores", shape=matrix.shape, wanted=wanted
        )
    _refuse_cells("scores", np.isnan(matrix), matrix, "a score", "a number")
    return matrix


def target_matrix(targets: ArrayLike, shape: tuple[int, ...]) -> Bools:
    """Check a 0/1 matrix of reference labels against the shape of the scores; return booleans.

    Raises
    ------
    InputError
        If the shape differs or an entry is neither 0 nor 1; names the row.

    Examples
    --------
    >>> target_matrix([[0, 1], [2, 0]], (2, 2))
    Traceback (most recent call last):
    semmetrics.errors.InputError: targets, row 1 (from 0): an entry is 2; give 0 or 1
    """
    table = dense_array(targets, "targets")
    if table.shape != shape:
        wanted = f"the shape of the scores, {shape}"
        raise InputError(
            "wrong-shape", role="targets", shape=table.shape, wanted=wanted
        )
    _refuse_cells("targets", (table != 0) & (table != 1), table, "an entry", "0 or 1")
    return table.astype(np.bool_)


def _refuse_cells(
    name: str, bad: Bools, table: NDArray[Any], role: str, wanted: str
) -> None:
    """Name the row of the first cell that is wrong."""
    if bad.any():
        where = f"{name}, row {int(bad.any(axis=1).argmax())}{FROM_0}"
        raise InputError(
            "out-of-range", where, role=role, value=table[bad][0], wanted=wanted
        )


def integer_list(values: ArrayLike, name: str) -> Ints:
    """Check a list of integers from 0."""
    flat = dense_array(values, name)
    if (
        flat.ndim != 1
        or (flat.size and flat.dtype.kind not in "iu")
        or flat.min(initial=0) < 0
    ):
        raise InputError(
            "bad-option", name=name, value=flat, wanted="a list of integers from 0"
        )
    return flat.astype(np.int64)


def item_weights(weights: Weights, n: int) -> Floats:
    """Check the weights of n items; without any, return ones."""
    if weights is None:
        return np.ones(n)
    table = dense_array(weights, "weights", np.float64)
    if table.shape != (n,):
        wanted = pluralize(n, "number")
        raise InputError(
            "wrong-shape", role="weights", shape=table.shape, wanted=wanted
        )
    bad = ~(np.isfinite(table) & (table >= 0))
    if bad.any():
        wanted = "a finite number from 0"
        raise InputError(
            "out-of-range", role="a weight", value=table[bad][0], wanted=wanted
        )
    return table


def _check_options(
    rule: str,
    threshold: float,
    k: int | None,
    head: object,
    keep_at_least: int,
    offset: int,
) -> None:
    """Refuse an unknown rule, options out of range, and those that the rule would not use."""
    check_choice("rule", rule, get_args(Rule))
    if np.isnan(threshold):
        raise InputError(
            "bad-option", name="threshold", value=threshold, wanted="a number"
        )
    for name, value in (
        ("k", k or 0),
        ("keep_at_least", keep_at_least),
        ("offset", offset),
    ):
        if not isinstance(value, int | np.integer) or value < 0:
            raise InputError(
                "bad-option", name=name, value=value, wanted="a whole number from 0"
            )
    by_head, by_sum = (
        rule.startswith("cardinality"),
        rule in ("threshold", "cumulative"),
    )
    if (rule == "top" and k is None) or (by_head and head is None):
        name = "head" if by_head else "k"
        raise InputError("needs-option", what=f"the rule {rule!r}", name=name)
    unused = {
        "head": head is not None and not by_head,
        "offset": offset != 0 and not by_head,
        "threshold": threshold != 0.5 and not by_sum,
        "keep_at_least": keep_at_least != 0 and not by_sum,
    }
    for name, given in unused.items():
        if given:
            raise InputError("not-applicable", name=name, what=f"the rule {rule!r}")


def keep_above(
    indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0
) -> Ints:
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


def keep_cumulative(
    indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0
) -> Ints:
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
    _refuse_scores(scores < 0, indptr, scores)
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
    _refuse_scores((scores < 0) | np.isinf(scores), indptr, scores)
    table = _cardinality_head(head, indptr, least=0.0)
    sizes = np.arange(table.shape[1]) + offset
    widths = lengths(indptr)[:, None]
    # log 0 = -inf is meant: such a set is impossible
    with np.errstate(divide="ignore"):
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


def _cardinality_head(
    head: ArrayLike, rows: Ints, least: float | None = None
) -> Floats:
    """Check a head: a column for each cardinality, a row for each item, no NaN."""
    table, n = dense_array(head, "head", np.float64), len(rows) - 1
    if table.ndim != 2 or len(table) != n or not table.shape[1]:
        wanted = f"{pluralize(n, 'row')} and a column for each cardinality"
        raise InputError("wrong-shape", role="head", shape=table.shape, wanted=wanted)
    bad = np.isnan(table) if least is None else ~(np.isfinite(table) & (table >= least))
    wanted = "a number" if least is None else "a probability"
    _refuse_cells("head", bad, table, "a value", wanted)
    return table


def _refuse_scores(bad: Bools, rows: Ints, scores: Floats) -> None:
    """Name the row of the first score that is wrong."""
    if bad.any():
        place = int(bad.argmax())
        where = (
            f"scores, row {int(np.searchsorted(rows, place, side='right')) - 1}{FROM_0}"
        )
        values = {"role": "a score", "value": scores[place], "wanted": "probabilities"}
        raise InputError("out-of-range", where, **values)
