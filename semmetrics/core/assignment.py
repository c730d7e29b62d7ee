"""Which prediction goes with which reference: one-to-one assignment for many small tables.

Conventions
-----------
Predictions are rows, references columns, items the first axis. A pair may be matched when its
similarity is strictly above the threshold, compared in the precision of the similarities. Tables
are padded with -inf, or with anything beyond the sizes given. Every function returns, for each
prediction, the reference that it is matched with, or -1; an item's result depends on that item
only. Arrays may be numpy's or torch's; the result is of the same kind, on the same device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.core.space import Space
from semmetrics.errors import InputError

__all__ = ["any_reference", "assign", "greedy", "most_pairs", "most_similar"]


def assign(
    similarity: Any, threshold: float, *, match: str, n_pred: Any = None, n_ref: Any = None
) -> Any:
    """Match by name.

    Parameters
    ----------
    similarity : float array or tensor, shape (items, predictions, references)
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"greedy", "optimal", "total", "any"}
        ``greedy``, ``most_pairs``, ``most_similar`` or ``any_reference``.
    n_pred, n_ref : int arrays, shape (items,), optional
        Sizes; cells beyond them are padding.

    Returns
    -------
    int64 array or tensor, shape (items, predictions)

    Raises
    ------
    InputError
        If a similarity is NaN, or a shape or an option wrong; names the item.

    Examples
    --------
    >>> table = np.array([[[0.9, 0.8], [0.7, 0.1]]])
    >>> {name: assign(table, 0.4, match=name).tolist() for name in ("greedy", "optimal", "any")}
    {'greedy': [[0, -1]], 'optimal': [[1, 0]], 'any': [[0, 0]]}
    """
    chosen = {
        "greedy": greedy,
        "optimal": most_pairs,
        "total": most_similar,
        "any": any_reference,
    }.get(match)
    if chosen is None:
        raise InputError(f"match is {match!r}", remedy="give greedy, optimal, total or any")
    return chosen(similarity, threshold, n_pred=n_pred, n_ref=n_ref)


def greedy(similarity: Any, threshold: float, *, n_pred: Any = None, n_ref: Any = None) -> Any:
    """Predictions in order, each taking the first unused reference above the threshold.

    First in the order of the references, not the most similar (Kubany et al. 2020, section 3.2).
    Parameters, result and errors are those of ``assign``.

    Examples
    --------
    >>> greedy(np.array([[[0.5, 0.9], [0.8, 0.3]]]), 0.4).tolist()
    [[0, -1]]
    """
    space, allowed = _allowed(similarity, threshold, n_pred, n_ref)
    return _greedy(space, allowed)


def any_reference(
    similarity: Any, threshold: float, *, n_pred: Any = None, n_ref: Any = None
) -> Any:
    """The first reference above the threshold; one may serve several predictions.

    Parameters, result and errors are those of ``assign``.

    Examples
    --------
    >>> any_reference(np.array([[[0.5, 0.9], [0.8, 0.3]]]), 0.4).tolist()
    [[0, 0]]
    """
    space, allowed = _allowed(similarity, threshold, n_pred, n_ref)
    return _first(space, allowed)


def most_pairs(similarity: Any, threshold: float, *, n_pred: Any = None, n_ref: Any = None) -> Any:
    """As many pairs above the threshold as there can be: a maximum matching.

    Predictions in order, each taking the first unused reference where there is one, else
    lengthening the matching along an augmenting path (Kuhn 1955), for all items at once. A
    prediction once matched stays so: for every k, the first k have as many pairs as any matching
    of them alone. Which of several such matchings is found is fixed. Parameters, result and errors
    are those of ``assign``.

    Examples
    --------
    >>> most_pairs(np.array([[[0.5, 0.9], [0.8, 0.3]]]), 0.4).tolist()
    [[1, 0]]
    """
    space, allowed = _allowed(similarity, threshold, n_pred, n_ref)
    items, m, n = allowed.shape
    found = space.zeros(items, m, dtype="int64") - 1
    owner = space.zeros(items, n + 1, dtype="int64") - 1  # of each reference, and one to spare
    at = space.arange(items)
    for row in range(m if n else 0):
        open_ = allowed[:, row] & (owner[:, :n] < 0)
        place = space.first_true(open_)
        taken = open_[at, place]
        found[:, row] = space.xp.where(taken, place, -1)
        owner[at, space.xp.where(taken, place, n)] = row
        these = space.nonzero(~taken & allowed[:, row].any(1))
        if len(these):
            via, end = _search(space, allowed[these], owner[these, :n], row)
            _augment(space, found, owner, these[end >= 0], via[end >= 0], end[end >= 0])
    return found


def most_similar(
    similarity: Any, threshold: float, *, n_pred: Any = None, n_ref: Any = None
) -> Any:
    """The pairs above the threshold whose similarities have the largest sum.

    A pair adds its similarity and an unmatched prediction nothing, so no pair of a similarity of
    0 or less is matched. Where the best references of an item's predictions differ they are the
    solution; other items go to scipy's ``linear_sum_assignment``, one by one. Parameters, result
    and errors are those of ``assign``.

    Examples
    --------
    >>> most_similar(np.array([[[0.5, 0.9], [0.6, 0.8]]]), 0.4).tolist()
    [[1, 0]]
    """
    space, allowed = _allowed(similarity, threshold, n_pred, n_ref)
    if not min(allowed.shape):
        return _first(space, allowed)
    gain = space.xp.where(allowed & (similarity > 0), space.array(similarity), 0)
    best = space.xp.amax(gain, 2)
    if (best == np.inf).any():
        item = int(space.nonzero((best == np.inf).any(1))[0])
        raise InputError("a similarity is inf", where=f"item {item}", remedy="check its vectors")
    found = space.xp.where(best > 0, _first(space, gain == best[..., None]), -1)
    taken = found[..., None] == space.arange(gain.shape[2])
    clash = space.nonzero((taken.sum(1) > 1).any(1))
    if len(clash):
        from scipy.optimize import linear_sum_assignment

        tables = space.numpy(gain[clash])
        result = np.full(tables.shape[:2], -1)
        for table, places in zip(tables, result, strict=True):
            rows, columns = np.flatnonzero(table.any(1)), np.flatnonzero(table.any(0))
            row, column = linear_sum_assignment(table[np.ix_(rows, columns)], maximize=True)
            row, column = rows[row], columns[column]
            places[row] = np.where(table[row, column] > 0, column, -1)
        found[clash] = space.array(result)
    return found


def _allowed(similarity: Any, threshold: float, n_pred: Any, n_ref: Any) -> tuple[Space, Any]:
    """Pairs above the threshold and within the sizes."""
    space = Space(similarity)
    if getattr(similarity, "ndim", None) != 3:
        raise InputError(
            f"similarity has shape {tuple(np.shape(similarity))}",
            remedy="give (items, predictions, references)",
        )
    threshold = float(threshold)  # a number of numpy's would set the precision
    if threshold != threshold:
        raise InputError("the threshold is NaN", remedy="give a number")
    allowed = similarity > threshold
    missing = similarity != similarity
    for axis, sizes in ((1, n_pred), (2, n_ref)):
        if sizes is not None:
            real = space.arange(similarity.shape[axis]) < space.array(sizes)[:, None]
            real = real[:, :, None] if axis == 1 else real[:, None]
            allowed, missing = allowed & real, missing & real
    if missing.any():
        item = int(space.nonzero(missing.any(2).any(1))[0])
        raise InputError("a similarity is NaN", where=f"item {item}", remedy="check its vectors")
    return space, allowed


def _first(space: Space, allowed: Any) -> Any:
    """The first reference of each prediction, or -1."""
    if not allowed.shape[2]:
        return space.zeros(*allowed.shape[:2], dtype="int64") - 1
    place = space.first_true(allowed)
    some = space.xp.take_along_dim if space.torch else np.take_along_axis
    return space.xp.where(some(allowed, place[..., None], 2)[..., 0], place, -1)


def _greedy(space: Space, allowed: Any) -> Any:
    items, m, n = allowed.shape
    found = space.zeros(items, m, dtype="int64") - 1
    if not n:
        return found
    free = space.zeros(items, n, dtype="bool") | True
    at = space.arange(items)
    for row in range(m):
        open_ = allowed[:, row] & free
        place = space.first_true(open_)
        taken = open_[at, place]
        free[at, place] &= ~taken
        found[:, row] = space.xp.where(taken, place, -1)
    return found


def _search(space: Space, allowed: Any, owner: Any, row: int) -> tuple[Any, Any]:
    """Breadth first from one prediction: how each reference was reached, and a free one or -1."""
    items, m, n = allowed.shape
    via = space.zeros(items, n, dtype="int64") + row
    seen = space.zeros(items, n, dtype="bool")
    front = space.zeros(items, m, dtype="bool")
    front[:, row] = True
    end = space.zeros(items, dtype="int64") - 1
    for _ in range(m):
        reached = front[:, :, None] & allowed
        new = reached.any(1) & ~seen & (end < 0)[:, None]
        via = space.xp.where(new, space.first_true(reached.swapaxes(1, 2)), via)
        seen = seen | new
        ends = new & (owner < 0)
        end = space.xp.where(ends.any(1), space.first_true(ends), end)
        front = space.zeros(items, m, dtype="bool")
        item, place = space.xp.where(new & ~ends)
        front[item, owner[item, place]] = True
        if not len(item):
            break
    return via, end


def _augment(space: Space, found: Any, owner: Any, these: Any, via: Any, end: Any) -> None:
    """Walk each path back to its free prediction and swap its pairs."""
    while len(these):
        at = space.arange(len(these))
        row = via[at, end]
        before = found[these, row]
        found[these, row], owner[these, end] = end, row
        more = before >= 0
        these, via, end = these[more], via[more], before[more]
