"""Rules that cut an item's labels: how many of the best ones make its predicted set.

Conventions
-----------
Rows are ragged and sorted by falling score (stable: equal scores keep their order). A rule
returns, for each row, the number of labels to keep from its start, int64, shape (n,). A result
depends on its own row only, never on the rows beside it.

Rules
-----
``keep_top``                      the first k labels
``keep_above``                    the labels with a score above a threshold
``keep_cumulative``               labels until their scores add up to a threshold
``keep_cardinality``              as many as a cardinality head says
``keep_cardinality_with_scores``  the cardinality that head and scores together make most probable

References
----------
Pineda, Salvador et al., 2019, Elucidating image-to-set prediction, section 3.1.1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Floats, Ints, lengths, sum_rows
from semmetrics.metrics.decoding_checks import (
    cardinality_head,
    refuse,
    refuse_rows,
    row_offsets,
    sorted_scores,
    starts,
    threshold_number,
    whole_number,
)

__all__ = [
    "keep_above",
    "keep_cardinality",
    "keep_cardinality_with_scores",
    "keep_cumulative",
    "keep_top",
]


def keep_top(indptr: ArrayLike, k: int) -> Ints:
    """Keep the first k labels of each row.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    k : int, at least 0

    Returns
    -------
    array, shape (n,), int64
        ``k``, or the length of the row where that is less.

    Raises
    ------
    InputError
        If k is negative or not an integer.

    Examples
    --------
    >>> keep_top([0, 3, 4], 2)
    array([2, 1])
    """
    return np.minimum(lengths(row_offsets(indptr)), whole_number(k, "k"))


def keep_above(indptr: ArrayLike, scores: ArrayLike, threshold: float, min_labels: int = 0) -> Ints:
    """Keep the labels with a score above the threshold.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    scores : array-like, shape (indptr[-1],)
        Falling in each row.
    threshold : float
        Strict: a label whose score equals it is left out (the released code of the paper; its
        text has "at least").
    min_labels : int
        Keep at least so many, where the row has them.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If a score is NaN or rises in a row, naming the row; if an option is out of range.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1, "Set cardinality".

    Examples
    --------
    >>> keep_above([0, 3, 4], [0.9, 0.5, 0.1, 0.2], 0.5, min_labels=1)
    array([1, 1])
    """
    rows, flat = sorted_scores(indptr, scores)
    return _at_least(sum_rows(flat > threshold_number(threshold), rows), rows, min_labels)


def keep_cumulative(
    indptr: ArrayLike, scores: ArrayLike, threshold: float, min_labels: int = 0
) -> Ints:
    """Keep a label while the sum of the scores before it is below the threshold.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    scores : array-like, shape (indptr[-1],), at least 0
        Probabilities over the labels, falling in each row.
    threshold : float
        Strict: once the sum equals it, no further label is kept.
    min_labels : int
        Keep at least so many, where the row has them.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If a score is NaN, negative, or rises in a row, naming the row; if an option is out of
        range.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1: the target-distribution model.

    Examples
    --------
    >>> keep_cumulative([0, 3, 4], [0.4, 0.3, 0.3, 0.2], 0.5)
    array([2, 1])
    """
    rows, flat = sorted_scores(indptr, scores)
    refuse(flat < 0, rows, "a score is negative", "give probabilities")
    before = np.zeros(len(flat))
    before[1:] = _row_cumsum(rows, flat)[:-1]
    before[starts(rows)] = 0.0
    return _at_least(sum_rows(before < threshold_number(threshold), rows), rows, min_labels)


def keep_cardinality(indptr: ArrayLike, head: ArrayLike, offset: int = 0) -> Ints:
    """Keep as many labels as the cardinality head finds most probable.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
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
    >>> keep_cardinality([0, 3, 4], [[0.1, 0.7, 0.2], [0.0, 0.1, 0.9]], offset=1)
    array([2, 1])
    """
    rows = row_offsets(indptr)
    best: Ints = cardinality_head(head, rows).argmax(axis=1) + whole_number(offset, "offset")
    return np.minimum(best, lengths(rows))


def keep_cardinality_with_scores(
    indptr: ArrayLike, scores: ArrayLike, head: ArrayLike, offset: int = 0, extra: int = 0
) -> Ints:
    r"""Keep the cardinality that is most probable together with the labels it would keep.

    For each cardinality c that the row can fill, :math:`\log h_c + \sum_{i \le c} \log s_i` is
    formed; the arg max is kept (the smallest, where several are equal or all are impossible).

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    scores : array-like, shape (indptr[-1],), at least 0, finite
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
        If scores or head are NaN, negative or infinite, or of the wrong shape; names the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1: the Dirichlet-Categorical cardinality, after
    Rezatofighi et al., 2018, Joint learning of set cardinality and state distribution.

    Examples
    --------
    >>> keep_cardinality_with_scores([0, 3], [0.9, 0.8, 0.01], [[0.2, 0.3, 0.5]], offset=1)
    array([2])
    """
    rows, flat = sorted_scores(indptr, scores)
    refuse((flat < 0) | np.isinf(flat), rows, "a score is no probability", "give probabilities")
    table = cardinality_head(head, rows)
    refuse_rows((table < 0) | np.isinf(table), "the cardinality head is no probability")
    sizes = np.arange(table.shape[1]) + whole_number(offset, "offset")
    widths = lengths(rows)[:, None]
    with np.errstate(divide="ignore"):  # log 0 = -inf is meant: such a set is impossible
        total = np.log(table)
        sums = np.append(_row_cumsum(rows, np.log(flat)), 0.0)
    summed = np.minimum(sizes + whole_number(extra, "extra"), widths)
    total += np.where(summed > 0, sums[rows[:-1, None] + summed - 1], 0.0)
    total[sizes > widths] = -np.inf
    best: Ints = total.argmax(axis=1) + offset
    return np.minimum(best, widths[:, 0])


def _row_cumsum(rows: Ints, flat: Floats) -> Floats:
    """Running sums within each row, each added up from its own start.

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


def _at_least(counts: Ints, rows: Ints, min_labels: int) -> Ints:
    floor = np.minimum(whole_number(min_labels, "min_labels"), lengths(rows))
    return np.maximum(counts, floor)
