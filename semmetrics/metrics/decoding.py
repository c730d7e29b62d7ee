"""Decoding rules: from label scores to label sets.

Conventions
-----------
The labels of an item are ranked by descending score, and equal scores by column. A rule
decides how many of the first labels are the set.

The functions for rules take ragged rows that are already sorted by descending score and
contain no NaN. They return the number of labels to keep from the start of each row, int64,
shape (n,). The result for a row depends only on that row, never on other rows.

Rules
-----
``keep_above``                    the labels with a score above a threshold
``keep_cumulative``               labels until the sum of their scores reaches a threshold
``keep_cardinality``              the number that the cardinality head predicts
``keep_cardinality_with_scores``  the number that head and scores make most probable

References
----------
Pineda, Salvador et al., 2019, Elucidating image-to-set prediction, section 3.1.1.
"""

from __future__ import annotations

from typing import Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

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
from semmetrics.metrics.array_inputs import check_cells, score_matrix

Rule: TypeAlias = Literal[
    "threshold", "top", "cumulative", "cardinality", "cardinality+scores"
]
_THRESHOLD_RULES = ("threshold", "cumulative")
_HEAD_RULES = ("cardinality", "cardinality+scores")
_DEFAULT_THRESHOLD = 0.5


# ---- matrices -------------------------------------------------------------------------


def decode(
    scores: ArrayLike,
    rule: Rule = "threshold",
    *,
    threshold: float = _DEFAULT_THRESHOLD,
    k: int | None = None,
    head: ArrayLike | None = None,
    keep_at_least: int = 0,
    offset: int = 0,
) -> Bools:
    """Convert a matrix of label scores to label sets.

    Parameters
    ----------
    scores : array-like, shape (n, L)
        Equal scores rank in the order of the columns.
    rule : {"threshold", "top", "cumulative", "cardinality", "cardinality+scores"}
        The decoding rule. "top" keeps the first k labels.
    threshold : float
        For "threshold" and "cumulative". It is exclusive. An array of float32, float16 or
        bfloat16 scores is compared with it in that type, as NumPy and torch do.
    k : int, optional
        Only the k best labels of a row are considered. Required for "top", and a limit for
        the other rules (``maxnumlabels`` in the code of the paper).
    head : array-like, shape (n, C), optional
        The probabilities of cardinalities, for the rules "cardinality" and
        "cardinality+scores".
    keep_at_least : int
        For "threshold" and "cumulative": the least number of labels to keep.
    offset : int
        For the cardinality rules: 1 if the head has no column for the empty set.

    Returns
    -------
    bool array, shape (n, L)

    Raises
    ------
    InputError
        If a score is NaN, a shape is wrong (the message names the row), or an option is
        missing, out of range, or not used by the rule.

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
    _check_options(rule, threshold, k, head, keep_at_least, offset)
    n_items, n_labels = matrix.shape
    n_ranked = n_labels
    if k is not None:
        n_ranked = min(k, n_labels)
    order = np.argsort(-matrix, axis=1, kind="stable")[:, :n_ranked]
    ranked_scores = np.take_along_axis(matrix, order, axis=1).ravel()
    indptr = offsets(np.full(n_items, n_ranked))

    n_kept: Ints
    if rule == "top":
        n_kept = lengths(indptr)
    elif rule == "threshold":
        rounded_threshold = round_to(threshold, precision)
        n_kept = keep_above(indptr, ranked_scores, rounded_threshold, keep_at_least)
    elif rule == "cumulative":
        n_kept = keep_cumulative(indptr, ranked_scores, threshold, keep_at_least)
    else:
        head = cast("ArrayLike", head)  # _check_options requires it
        if rule == "cardinality":
            n_kept = keep_cardinality(indptr, head, offset)
        else:
            n_kept = keep_cardinality_with_scores(indptr, ranked_scores, head, offset)
    is_kept = np.arange(n_ranked) < n_kept[:, None]
    sets = np.zeros(matrix.shape, np.bool_)
    np.put_along_axis(sets, order, is_kept, axis=1)
    return sets


def _check_options(
    rule: str,
    threshold: float,
    k: int | None,
    head: object,
    keep_at_least: int,
    offset: int,
) -> None:
    """Check the options of `decode`, and that the rule uses all options that are set."""
    check_choice("rule", rule, get_args(Rule))
    if np.isnan(threshold):
        wanted = "a number"
        raise InputError("bad-option", name="threshold", value=threshold, wanted=wanted)
    _check_number("k", k or 0)
    _check_number("keep_at_least", keep_at_least)
    _check_number("offset", offset)

    subject = f"the rule {rule!r}"
    if rule == "top" and k is None:
        raise InputError("needs-option", what=subject, name="k")
    if rule in _HEAD_RULES and head is None:
        raise InputError("needs-option", what=subject, name="head")
    unused = _find_unused_option(rule, threshold, head, keep_at_least, offset)
    if unused is not None:
        raise InputError("not-applicable", name=unused, what=subject)


def _check_number(name: str, value: int) -> None:
    """Check that an option is an integer from 0."""
    if not isinstance(value, int | np.integer) or value < 0:
        wanted = "a non-negative integer"
        raise InputError("bad-option", name=name, value=value, wanted=wanted)


def _find_unused_option(
    rule: str, threshold: float, head: object, keep_at_least: int, offset: int
) -> str | None:
    """Return an option that is set although the rule does not use it, or None."""
    if rule not in _HEAD_RULES:
        if head is not None:
            return "head"
        if offset != 0:
            return "offset"
    if rule not in _THRESHOLD_RULES:
        if threshold != _DEFAULT_THRESHOLD:
            return "threshold"
        if keep_at_least != 0:
            return "keep_at_least"
    return None


# ---- activations ----------------------------------------------------------------------


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
    n_rows = len(indptr) - 1
    rows = row_numbers(indptr)
    row_maxima = np.full(n_rows, -np.inf)
    np.maximum.at(row_maxima, rows, scores)
    with np.errstate(over="ignore"):  # exp(-inf) is 0
        exponentials = np.exp(scores - row_maxima[rows])
    row_sums = np.bincount(rows, exponentials, minlength=n_rows)
    return np.asarray(exponentials / row_sums[rows])


# ---- rules ----------------------------------------------------------------------------


def keep_above(
    indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0
) -> Ints:
    """Count the labels of each row with a score above the threshold.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],)
        Descending in each row.
    threshold : float
        Exclusive: a label whose score equals the threshold is not kept. The released code
        of the paper does this, while its text says "at least".
    keep_at_least : int
        The least number to keep, if the row is that long.

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
    n_above = sum_rows(scores > threshold, indptr)
    return _raise_to_least(n_above, indptr, keep_at_least)


def keep_cumulative(
    indptr: Ints, scores: Floats, threshold: float, keep_at_least: int = 0
) -> Ints:
    """Count the labels of each row before the sum of scores reaches the threshold.

    A label is kept if the sum of the scores before it is below the threshold.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],), at least 0
        Probabilities of the labels, descending in each row.
    threshold : float
        Once the sum equals the threshold, no further label is kept.
    keep_at_least : int
        The least number to keep, if the row is that long.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If a score is negative. The message names the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1: the target-distribution model.

    Examples
    --------
    >>> keep_cumulative(np.array([0, 3, 4]), np.array([0.4, 0.3, 0.3, 0.2]), 0.5)
    array([2, 1])
    """
    _check_probabilities(scores < 0, indptr, scores)
    sum_before = np.zeros(len(scores))
    sum_before[1:] = _row_cumsum(indptr, scores)[:-1]
    row_starts = indptr[:-1][lengths(indptr) > 0]
    sum_before[row_starts] = 0.0
    n_kept = sum_rows(sum_before < threshold, indptr)
    return _raise_to_least(n_kept, indptr, keep_at_least)


def keep_cardinality(indptr: Ints, head: ArrayLike, offset: int = 0) -> Ints:
    """Return the most probable cardinality of each row by the cardinality head.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    head : array-like, shape (n, C)
        Probabilities or logits. Column c is for the cardinality c + offset. If columns are
        equal, the smaller cardinality is kept.
    offset : int
        1 if the head has no column for the empty set.

    Returns
    -------
    array, shape (n,), int64
        The cardinality, at most the length of the row.

    Raises
    ------
    InputError
        If the head has the wrong number of rows, no column, or a NaN. The message names
        the row.

    References
    ----------
    Pineda, Salvador et al., 2019, section 3.1.1, "Set cardinality".

    Examples
    --------
    >>> keep_cardinality(np.array([0, 3, 4]), [[0.1, 0.7, 0.2], [0.0, 0.1, 0.9]], offset=1)
    array([2, 1])
    """
    table = _check_head(head, indptr)
    is_wrong = np.isnan(table)
    check_cells("head", table, is_wrong, role="a value", wanted="a number")
    cardinality: Ints = table.argmax(axis=1) + offset
    return np.minimum(cardinality, lengths(indptr))


def keep_cardinality_with_scores(
    indptr: Ints, scores: Floats, head: ArrayLike, offset: int = 0, extra: int = 0
) -> Ints:
    r"""Return the cardinality of each row that head and scores make most probable.

    This is the cardinality c that maximises
    :math:`\log h_c + \sum_{i \le c} \log s_i`, among those that the row can fill. It is
    the smallest one if several are equal or all are impossible.

    Parameters
    ----------
    indptr : array, shape (n + 1,), int64
    scores : array, shape (indptr[-1],), at least 0, finite
        Label probabilities, descending in each row.
    head : array-like, shape (n, C), at least 0, finite
        *Probabilities* (not logits) of the cardinalities offset, offset + 1, ... They need
        not sum to 1.
    offset : int
        1 if the head has no column for the empty set.
    extra : int
        How many labels to sum beyond the first c. 0 is the rule of the text. The released
        code of the paper sums c + 1 labels if the empty set is allowed, which is
        ``offset=0, extra=1``.

    Returns
    -------
    array, shape (n,), int64

    Raises
    ------
    InputError
        If scores or head are negative or infinite, or the head contains a NaN or has the
        wrong shape. The message names the row.

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
    _check_probabilities((scores < 0) | np.isinf(scores), indptr, scores)
    table = _check_head(head, indptr)
    is_wrong = ~(np.isfinite(table) & (table >= 0.0))
    check_cells("head", table, is_wrong, role="a value", wanted="a probability")

    cardinalities = np.arange(table.shape[1]) + offset
    row_lengths = lengths(indptr)[:, None]
    with np.errstate(divide="ignore"):  # log(0) = -inf marks an impossible set
        log_head = np.log(table)
        log_scores = np.log(scores)
    # Sum the logarithms of the first scores of each row, shape (n, C).
    n_summed = np.minimum(cardinalities + extra, row_lengths)
    last_positions = indptr[:-1, None] + n_summed - 1
    # The position before an empty sum can be -1, which needs an entry even if there are
    # no scores at all.
    running_sums = np.append(_row_cumsum(indptr, log_scores), 0.0)
    log_sums = np.where(n_summed > 0, running_sums[last_positions], 0.0)
    totals = log_head + log_sums
    totals[cardinalities > row_lengths] = -np.inf
    best: Ints = totals.argmax(axis=1) + offset
    return np.minimum(best, row_lengths[:, 0])


def _row_cumsum(indptr: Ints, values: Floats) -> Floats:
    """Return the running sums within each row.

    Differences of one running sum over all rows would make the rounding of a row depend
    on the rows before it. Therefore all rows are summed in parallel, position by position.
    """
    row_lengths = lengths(indptr)
    n_rows = len(row_lengths)
    have_equal_lengths = n_rows > 0 and (row_lengths == row_lengths[0]).all()
    if have_equal_lengths and row_lengths[0]:
        return np.cumsum(values.reshape(n_rows, -1), axis=1).ravel()
    # The longest rows come first, so that the rows with a position are the first ones.
    longest_first = np.argsort(-row_lengths, kind="stable")
    starts = indptr[:-1][longest_first]
    negative_lengths = -row_lengths[longest_first]
    sums = np.array(values)
    for position in range(1, int(row_lengths.max(initial=0))):
        n_longer = int(np.searchsorted(negative_lengths, -position))
        cells = starts[:n_longer] + position
        sums[cells] += sums[cells - 1]
    return sums


def _raise_to_least(n_kept: Ints, indptr: Ints, keep_at_least: int) -> Ints:
    """Raise the numbers of labels to keep to a least number, if rows are that long."""
    least = np.minimum(keep_at_least, lengths(indptr))
    return np.maximum(n_kept, least)


def _check_head(head: ArrayLike, indptr: Ints) -> Floats:
    """Return a cardinality head as float64.

    It must have a row for each item, and at least one column.
    """
    table = dense_array(head, "head", np.float64)
    n_items = len(indptr) - 1
    if table.ndim != 2 or len(table) != n_items or not table.shape[1]:
        wanted = f"{pluralize(n_items, 'row')} and a column for each cardinality"
        raise InputError("wrong-shape", role="head", shape=table.shape, wanted=wanted)
    return table


def _check_probabilities(is_wrong: Bools, indptr: Ints, scores: Floats) -> None:
    """Raise an error that names the row of the first wrong score, if there is one."""
    if is_wrong.any():
        position = int(is_wrong.argmax())
        row = int(np.searchsorted(indptr, position, side="right")) - 1
        raise InputError(
            "out-of-range",
            f"scores, row {row}{FROM_0}",
            role="a score",
            value=scores[position],
            wanted="probabilities",
        )
