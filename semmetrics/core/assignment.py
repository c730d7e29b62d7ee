"""Which prediction goes with which reference: one-to-one matching in many small tables.

Conventions
-----------
Predictions are rows, references columns, items the first axis. Tables of the pairs that may match
are boolean, and False for padding. Every function returns, for each prediction, the reference that
it is matched with, or -1; an item's result depends on that item only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Ints


def greedy_matching(allowed: Bools, continues: Bools | None = None) -> Ints:
    """Match predictions in order, each with the first unused reference that it may have.

    First in the order of the references, not the most similar (Kubany et al. 2020, section 3.2).

    Parameters
    ----------
    allowed : bool array, shape (items, rows, references)
    continues : bool array, shape (items, rows), optional
        Rows that are a further term of the prediction of the row before. The terms of a prediction
        share one reference: the first of them that finds one takes it.

    Returns
    -------
    int64 array, shape (items, rows)

    Examples
    --------
    >>> table = np.array([[[0.5, 0.9], [0.8, 0.3]]])
    >>> greedy_matching(table > 0.4).tolist()
    [[0, -1]]
    >>> greedy_matching(table > 0.2, np.array([[False, True]])).tolist()
    [[0, -1]]
    """
    items, m, n = allowed.shape
    found = np.full((items, m), -1)
    if not n:
        return found
    free, matched = np.ones((items, n), np.bool_), np.zeros(items, np.bool_)
    at = np.arange(items)
    for row in range(m):
        open_ = allowed[:, row] & free
        if continues is not None:
            matched &= continues[:, row]
            open_ &= ~matched[:, None]
        place = open_.argmax(-1)
        matching = open_[at, place]
        free[at, place] &= ~matching
        found[:, row] = np.where(matching, place, -1)
        matched |= matching
    return found


def first_allowed(allowed: Bools) -> Ints:
    """Return the first reference that each prediction may have; one may serve several.

    Parameters
    ----------
    allowed : bool array, shape (items, predictions, references)

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> first_allowed(np.array([[[0.5, 0.9], [0.8, 0.3]]]) > 0.4).tolist()
    [[0, 0]]
    """
    if not allowed.shape[2]:
        return np.full(allowed.shape[:2], -1)
    place = allowed.argmax(-1)
    return np.where(np.take_along_axis(allowed, place[..., None], 2)[..., 0], place, -1)


def max_cardinality_matching(allowed: Bools) -> Ints:
    """Match as many pairs as there can be.

    Predictions in order, each taking the first unused reference where there is one, else
    lengthening the matching along an augmenting path (Kuhn 1955), for all items at once. A
    prediction once matched stays so: for every k, the first k have as many pairs as any matching
    of them alone. Which of several such matchings is found is fixed.

    Parameters
    ----------
    allowed : bool array, shape (items, predictions, references)

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> max_cardinality_matching(np.array([[[0.5, 0.9], [0.8, 0.3]]]) > 0.4).tolist()
    [[1, 0]]
    """
    items, m, n = allowed.shape
    found = np.full((items, m), -1)
    owner = np.full((items, n + 1), -1)  # of each reference, and one to spare
    at = np.arange(items)
    for row in range(m if n else 0):
        open_ = allowed[:, row] & (owner[:, :n] < 0)
        place = open_.argmax(-1)
        matching = open_[at, place]
        found[:, row] = np.where(matching, place, -1)
        owner[at, np.where(matching, place, n)] = row
        these = np.flatnonzero(~matching & allowed[:, row].any(1))
        if len(these):
            via, end = _search_paths(allowed[these], owner[these, :n], row)
            _augment(found, owner, these[end >= 0], via[end >= 0], end[end >= 0])
    return found


def max_similarity_matching(similarity: Any) -> Ints:
    """Match the pairs whose similarities have the largest sum.

    A pair adds its similarity and an unmatched prediction nothing, so no pair of a similarity of
    0 or less is matched. Where the best references of an item's predictions differ they are the
    solution; other items go to scipy's ``linear_sum_assignment``, one by one.

    Parameters
    ----------
    similarity : float array, shape (items, predictions, references)
        Finite, or -inf for padding.

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> max_similarity_matching(np.array([[[0.5, 0.9], [0.6, 0.8]]])).tolist()
    [[1, 0]]
    """
    if not min(similarity.shape):
        return first_allowed(similarity > 0)
    gain = np.where(similarity > 0, similarity, 0)
    best = np.amax(gain, 2)
    found = np.where(best > 0, first_allowed(gain == best[..., None]), -1)
    matching = found[..., None] == np.arange(gain.shape[2])
    clash = np.flatnonzero((matching.sum(1) > 1).any(1))
    if len(clash):
        from scipy.optimize import linear_sum_assignment

        tables = gain[clash]
        assigned = np.full(tables.shape[:2], -1)
        for table, places in zip(tables, assigned, strict=True):
            rows, columns = np.flatnonzero(table.any(1)), np.flatnonzero(table.any(0))
            row, column = linear_sum_assignment(table[np.ix_(rows, columns)], maximize=True)
            row, column = rows[row], columns[column]
            places[row] = np.where(table[row, column] > 0, column, -1)
        found[clash] = assigned
    return found


def rows_with_more_pairs(gain: Any) -> Any:
    """Find the predictions with which the matching of the largest sum has a pair more than before.

    Predictions are added in order, each along the shortest augmenting path from it (Jonker and
    Volgenant 1987), for all items at once. The path ends at a free reference, a pair more, or at a
    prediction that is better left without one.

    Parameters
    ----------
    gain : float array, shape (items, predictions, references)
        What a pair adds to the sum; 0 where there is none. Equal sums have as many pairs.

    Returns
    -------
    bool array, shape (items, predictions)

    Examples
    --------
    >>> rows_with_more_pairs(np.array([[[0.5, 0.9], [0.0, 0.8], [0.7, 0.0]]])).tolist()
    [[True, True, False]]
    """
    items, m, n = gain.shape
    more = np.zeros((items, m), np.bool_)
    cost = np.where(gain > 0, -gain, np.inf)
    rows, columns = np.zeros((items, m)), np.zeros((items, n))  # potentials
    found, owner = np.full((items, m), -1), np.full((items, n), -1)
    for row in range(m if n else 0):
        length = cost[:, row] - columns
        rows[:, row] = length.min(axis=1)
        these = np.flatnonzero(rows[:, row] < 0)  # it is better matched, if all are free
        if not len(these):
            continue
        length = length[these] - rows[these, row, None]
        via, end, last = _shortest_paths(cost, rows, columns, owner, these, row, length)
        lost = np.flatnonzero(end < 0)  # at the last prediction, which gives its reference up
        more[these, row] = end >= 0
        end[lost] = found[these[lost], last[lost]]
        found[these[lost], last[lost]] = -1
        walked = end >= 0
        _augment(found, owner, these[walked], via[walked], end[walked])
    return more


def _shortest_paths(
    cost: Any, rows: Any, columns: Any, owner: Any, these: Any, row: int, length: Any
) -> tuple[Any, Any, Any]:
    """Search the shortest path from one prediction of each of these items, and mend potentials.

    Return from which prediction each reference was reached, the free reference at the end or -1,
    and the prediction that is left without one in that case.
    """
    active = np.arange(len(these))
    via, last = np.full(length.shape, row), np.full(len(these), row)
    stop, end = -rows[these, row], np.full(len(these), -1)  # the shortest to give a reference up
    done = np.zeros(length.shape, np.bool_)
    while len(active):
        place = np.where(done[active], np.inf, length[active]).argmin(axis=1)
        near = (length[active, place] <= stop[active]) & ~done[active, place]
        free = near & (owner[these[active], place] < 0)
        end[active[free]] = place[free]
        stop[active[free]] = length[active[free], place[free]]
        on = near & ~free
        active, place = active[on], place[on]
        done[active, place] = True
        items, depth = these[active], length[active, place]
        next_row = owner[items, place]
        depth -= rows[items, next_row]
        shorter = depth < stop[active]
        stop[active[shorter]], last[active[shorter]] = depth[shorter], next_row[shorter]
        beyond = depth[:, None] + cost[items, next_row] - columns[items]
        closer = (beyond < length[active]) & ~done[active]
        length[active] = np.where(closer, beyond, length[active])
        via[active] = np.where(closer, next_row[:, None], via[active])
    item, place = np.nonzero(done)
    gap = stop[item] - length[item, place]
    rows[these[item], owner[these[item], place]] += gap
    columns[these[item], place] -= gap
    rows[these, row] += stop
    return via, end, last


def _search_paths(allowed: Any, owner: Any, row: int) -> tuple[Any, Any]:
    """Search breadth first from one prediction.

    Return from which prediction each reference was reached, and a free reference or -1.
    """
    items, m, n = allowed.shape
    via, end = np.full((items, n), row), np.full(items, -1)
    seen, front = np.zeros((items, n), np.bool_), np.zeros((items, m), np.bool_)
    front[:, row] = True
    for _ in range(m):
        reached = front[:, :, None] & allowed
        new = reached.any(1) & ~seen & (end < 0)[:, None]
        via = np.where(new, reached.swapaxes(1, 2).argmax(-1), via)
        seen = seen | new
        ends = new & (owner < 0)
        end = np.where(ends.any(1), ends.argmax(-1), end)
        front = np.zeros((items, m), np.bool_)
        item, place = np.nonzero(new & ~ends)
        front[item, owner[item, place]] = True
        if not len(item):
            break
    return via, end


def _augment(found: Any, owner: Any, these: Any, via: Any, end: Any) -> None:
    """Walk each path back to its free prediction and swap its pairs."""
    while len(these):
        at = np.arange(len(these))
        row = via[at, end]
        before = found[these, row]
        found[these, row], owner[these, end] = end, row
        more = before >= 0
        these, via, end = these[more], via[more], before[more]
