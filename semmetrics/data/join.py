"""Predictions and ground truth brought together, item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.labels import Ids, Labels, Side
from semmetrics.errors import InputError, brief, listing

__all__ = [
    "MISSING",
    "Alignment",
    "HasIds",
    "Joined",
    "align",
    "aligned_heads",
    "aligned_weights",
    "join",
]

MISSING = ("error", "skip", "empty")
_WEIGHTS = "give one weight an item in the order of the ground truth, or by id"


@dataclass(frozen=True)
class Joined:
    """Both sides with the same items in the same order.

    Attributes
    ----------
    ids : sequence of str, or range
    pred, ref : Side
        Codes into the vocabulary of each input.
    without_prediction, without_reference : int
        Items that were missing on one side, and were left out or taken as empty.
    """

    ids: Ids
    pred: Side
    ref: Side
    without_prediction: int = 0
    without_reference: int = 0


class HasIds(Protocol):
    """One side of a join: labels, or captions."""

    @property
    def ids(self) -> Ids:
        """One an item; a range where it has none."""

    @property
    def source(self) -> str:
        """The name of the input."""

    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Alignment:
    """Where each joined item stands on both sides.

    Attributes
    ----------
    ids : sequence of str, or range
    pred, ref : int arrays, shape (items,), or None
        Item numbers of each side, -1 where it lacks the item; None where both sides have the same
        items in the same order.
    without_prediction, without_reference : int
        Items that were missing on one side, and were left out or taken as empty.
    """

    ids: Ids
    pred: Ints | None = None
    ref: Ints | None = None
    without_prediction: int = 0
    without_reference: int = 0


def join(pred: Labels, ref: Labels, *, missing: str = "error") -> Joined:
    """Match the items of predictions and ground truth by id, or by position where both have none.

    Parameters
    ----------
    pred, ref : Labels
    missing : {"error", "skip", "empty"}
        What becomes of an id that only one side has: an error that lists such ids, leaving it
        out, or an empty label list on the other side.

    Returns
    -------
    Joined
        In the order of the ground truth.

    Raises
    ------
    InputError
        If ids are missing under "error", only one side has ids, or lists matched by position
        differ in length.
    """
    rows = align(pred, ref, missing=missing)
    return Joined(
        rows.ids,
        pred.side if rows.pred is None else pred.side.take(rows.pred),
        ref.side if rows.ref is None else ref.side.take(rows.ref),
        rows.without_prediction,
        rows.without_reference,
    )


def align(pred: HasIds, ref: HasIds, *, missing: str = "error", empty: str = "sets") -> Alignment:
    """Match the items of two sides of any kind, as ``join`` does; ``empty`` is for messages."""
    if missing not in MISSING:
        raise InputError(f"missing={missing!r}", remedy=f"choose one of {listing(MISSING)}")
    by_position = isinstance(pred.ids, range), isinstance(ref.ids, range)
    if all(by_position):
        return _by_position(pred, ref)
    if any(by_position):
        without = pred if by_position[0] else ref
        raise InputError(
            "this side has no ids and the other has",
            where=without.source,
            remedy="give both sides ids, or neither",
        )
    return _by_id(pred, ref, missing, empty)


def _by_position(pred: HasIds, ref: HasIds) -> Alignment:
    if len(pred) != len(ref):
        raise InputError(
            f"{pred.source} has {len(pred)} items and {ref.source} has {len(ref)}",
            remedy="items without ids are matched by position: give lists of equal length, or ids",
        )
    return Alignment(ref.ids)


def _by_id(pred: HasIds, ref: HasIds, missing: str, empty: str) -> Alignment:
    if list(pred.ids) == list(ref.ids):
        return Alignment(ref.ids)
    place = {name: number for number, name in enumerate(pred.ids)}
    taken = np.fromiter((place.pop(name, -1) for name in ref.ids), np.int64, len(ref))
    unpredicted = [ref.ids[i] for i in np.flatnonzero(taken < 0).tolist()]
    unreferenced = list(place)
    if missing == "error" and (unpredicted or unreferenced):
        _report(pred, ref, unpredicted, unreferenced, empty)
    order = np.arange(len(ref))
    ids = list(ref.ids)
    if missing == "skip":
        order = np.flatnonzero(taken >= 0)
        ids, taken = [ids[i] for i in order.tolist()], taken[order]
    elif unreferenced:
        ids += unreferenced
        taken = np.concatenate([taken, np.fromiter(place.values(), np.int64, len(place))])
        order = np.concatenate([order, np.full(len(place), -1)])
    return Alignment(ids, taken, order, len(unpredicted), len(unreferenced))


def _report(
    pred: HasIds, ref: HasIds, unpredicted: list[str], unreferenced: list[str], empty: str
) -> None:
    lost = []
    if unpredicted:
        lost.append(f"{pred.source} lacks {len(unpredicted)} of the ids: {listing(unpredicted)}")
    if unreferenced:
        lost.append(f"{ref.source} lacks {len(unreferenced)} of the ids: {listing(unreferenced)}")
    hint = f"add them, or say missing='skip' to leave them out, missing='empty' for empty {empty}"
    if len(unpredicted) == len(ref):
        hint = "check that both sides use the same ids"
    raise InputError("; ".join(lost), remedy=f"{hint} (on the command line --missing)")


def aligned_heads(heads: Floats, pred: Labels, joined: Joined) -> Floats:
    """Rows of the cardinality matrix, one for each joined item.

    Raises
    ------
    InputError
        If there is not one row for each item of the predictions, or an item has none.
    """
    heads = np.asarray(heads)
    if heads.ndim != 2 or len(heads) != len(pred):
        raise InputError(
            f"the cardinality matrix has shape {heads.shape} for {len(pred)} items",
            remedy="give one row of probabilities an item, in the order of the predictions",
        )
    if joined.ids is pred.ids or list(joined.ids) == list(pred.ids):
        return heads
    place = {name: number for number, name in enumerate(pred.ids)}
    lost = [name for name in joined.ids if name not in place]
    if lost:
        raise InputError(
            f"{len(lost)} items have no row in the cardinality matrix: {listing(lost)}",
            remedy="use missing='skip'",
        )
    return heads[[place[name] for name in joined.ids]]


def aligned_weights(
    weights: Mapping[str, float] | Sequence[float] | Floats,
    ref: HasIds,
    joined: Joined | Alignment,
) -> Floats:
    """The weight of each joined item, from weights by id or in the order of the ground truth.

    Raises
    ------
    InputError
        If an item has no weight, or a weight is negative or no finite number; names the item.
    """
    names = [str(name) for name in joined.ids]
    known = _by_name(weights, ref)
    lost = [name for name in names if name not in known]
    if lost:
        raise InputError(
            f"{len(lost)} items have no weight: {listing(lost)}", remedy="give every id one"
        )
    values = np.fromiter((_weight(name, known[name]) for name in names), np.float64, len(names))
    with np.errstate(over="ignore"):
        if not np.isfinite(values.sum()):
            raise InputError("the sum of all sample weights is infinite", remedy="scale them down")
    return values


def _by_name(
    weights: Mapping[str, float] | Sequence[float] | Floats, ref: HasIds
) -> Mapping[str, float]:
    if isinstance(weights, Mapping):
        known = {str(name): weight for name, weight in weights.items()}
        if len(known) < len(weights):
            twice = Counter(map(str, weights)).most_common(1)[0][0]
            raise InputError(f"the id {twice!r} has two weights", remedy="keep one")
        return known
    if not hasattr(weights, "__len__"):
        raise InputError(f"the weights are a {type(weights).__name__}", remedy=_WEIGHTS)
    if len(weights) != len(ref):
        raise InputError(
            f"{len(weights)} weights for {len(ref)} items of the ground truth", remedy=_WEIGHTS
        )
    return dict(zip(map(str, ref.ids), weights, strict=True))


def _weight(name: str, weight: Any) -> float:
    try:
        number = float(weight)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(weight, str) or not 0 <= number < math.inf:
        raise InputError(
            f"the weight of item {name!r} is {brief(weight)}",
            remedy="weights are finite numbers, and not negative",
        )
    return number
