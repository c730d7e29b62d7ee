"""Predictions and ground truth brought together, item by item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from semmetrics.data.labels import Ids, Labels, Side
from semmetrics.errors import InputError, listing

__all__ = ["MISSING", "Joined", "join"]

MISSING = ("error", "skip", "empty")


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
    return _by_id(pred, ref, missing)


def _by_position(pred: Labels, ref: Labels) -> Joined:
    if len(pred) != len(ref):
        raise InputError(
            f"{pred.source} has {len(pred)} items and {ref.source} has {len(ref)}",
            remedy="items without ids are matched by position: give lists of equal length, or ids",
        )
    return Joined(ref.ids, pred.side, ref.side)


def _by_id(pred: Labels, ref: Labels, missing: str) -> Joined:
    if list(pred.ids) == list(ref.ids):
        return Joined(ref.ids, pred.side, ref.side)
    place = {name: number for number, name in enumerate(pred.ids)}
    taken = np.fromiter((place.pop(name, -1) for name in ref.ids), np.int64, len(ref))
    unpredicted = [ref.ids[i] for i in np.flatnonzero(taken < 0).tolist()]
    unreferenced = list(place)
    if missing == "error" and (unpredicted or unreferenced):
        _report(pred, ref, unpredicted, unreferenced)
    order = np.arange(len(ref))
    ids = list(ref.ids)
    if missing == "skip":
        order = np.flatnonzero(taken >= 0)
        ids, taken = [ids[i] for i in order.tolist()], taken[order]
    elif unreferenced:
        ids += unreferenced
        taken = np.concatenate([taken, np.fromiter(place.values(), np.int64, len(place))])
        order = np.concatenate([order, np.full(len(place), -1)])
    return Joined(
        ids, pred.side.take(taken), ref.side.take(order), len(unpredicted), len(unreferenced)
    )


def _report(pred: Labels, ref: Labels, unpredicted: list[str], unreferenced: list[str]) -> None:
    lost = []
    if unpredicted:
        lost.append(f"{pred.source} lacks {len(unpredicted)} of the ids: {listing(unpredicted)}")
    if unreferenced:
        lost.append(f"{ref.source} lacks {len(unreferenced)} of the ids: {listing(unreferenced)}")
    hint = "add them, or say missing='skip' to leave them out, missing='empty' for empty sets"
    if len(unpredicted) == len(ref):
        hint = "check that both sides use the same ids"
    raise InputError("; ".join(lost), remedy=f"{hint} (on the command line --missing)")
