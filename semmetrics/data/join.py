"""Predictions and ground truth brought together, item by item.

Conventions
-----------
Items are matched by id, or by position where neither side has ids. An item that one side lacks is
an error, is left out ("skip"), or has an empty list there ("empty"). Joined items are in the order
of the ground truth.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice, check_once
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.form import is_iterable
from semmetrics.data.lists import Ids, Lists, Numbering, Side, Texts, take_ids
from semmetrics.errors import InputError
from semmetrics.messages import listing, pluralize

MISSING = ("error", "skip", "empty")


class Joined(NamedTuple):
    """Both sides with the same items in the same order.

    Attributes
    ----------
    ids : sequence of str, range or int array
    pred, ref : Side
        Codes into the vocabulary of each input.
    counts : dict
        Items that were missing on one side, and were left out or taken as empty:
        "missing_prediction" and "missing_reference", where there are any; "joined_names",
        predictions known by another name of the id, and "joined_cocoid", by Karpathy's cocoid.
    """

    ids: Ids
    pred: Side
    ref: Side
    counts: dict[str, int]


def join(
    pred: Lists,
    ref: Lists,
    *,
    missing: str = "error",
    noun: str = "label",
    gaps: bool = False,
) -> Joined:
    """Match the items of predictions and ground truth.

    Parameters
    ----------
    pred, ref : Lists
    missing : {"error", "skip", "empty"}
        What an item that only one side has is: an error that lists such ids, left out, or an
        empty list on the other side.
    noun : str
        What lists hold, for messages.
    gaps : bool
        Whether an item with an empty list is one that the side lacks.

    Returns
    -------
    Joined

    Raises
    ------
    InputError
        If ids are missing under "error", only one side has ids, or lists matched by position
        differ in length.
    """
    check_choice("missing", missing, MISSING)
    by_position = not pred.has_ids, not ref.has_ids
    renamed: dict[str, int] = {}
    if any(by_position) and not all(by_position):
        raise InputError("one-side-has-ids", (pred if by_position[0] else ref).source)
    if all(by_position):
        if len(pred) != len(ref):
            shorter = min(pred, ref, key=len)
            last = shorter.where(len(shorter) - 1) if len(shorter) else shorter.source
            raise InputError(
                "other-length",
                last,
                one=pred.source,
                n=len(pred),
                other=ref.source,
                m=len(ref),
            )
        joined = Joined(ref.ids, pred.side, ref.side, {})
    else:
        every = "empty" if gaps and missing == "skip" else missing
        pred, renamed = _under_ids(pred, ref)
        joined = _by_id(pred, ref, every)
    if gaps:
        joined = _without_gaps(joined, missing, noun, (pred.source, ref.source))
    return joined._replace(counts=joined.counts | renamed)


def join_rows(
    ids: Ids, ref: Lists, *, source: str, missing: str
) -> tuple[Joined, Ints]:
    """Match the rows of a run, or of scores, with the items of the ground truth, as `join`.

    Returns
    -------
    joined : Joined
    rows : int array, shape (items,)
        The row of each item, from 0; -1 for an item without one.
    """
    every = np.arange(len(ids) + 1)
    own = Lists(ids, [], Side(every, every[:-1].astype(np.int32)), source=source)
    joined = join(own, ref, missing=missing)
    rows = np.full(len(joined.ids), -1)
    rows[joined.pred.sizes > 0] = joined.pred.codes
    return joined, rows


def compared(found: Any, expression: str | None) -> Any:
    """Return lists or a matrix under the parts of their ids that an expression finds.

    Raises
    ------
    InputError
        If an id does not fit it, or two have the same part.

    Examples
    --------
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> compared(Lists(["img/7.jpg"], ["cat"], side), PARTS[0]).ids
    ['7']
    """
    if expression is None or not found.has_ids or found.id_part == expression:
        return found
    from semmetrics.data.id_parts import id_reader

    part_of = id_reader(expression)
    renamed = replace(_renamed(found, map(part_of, found.ids)), id_part=expression)
    if not isinstance(found, Lists):
        return renamed
    return replace(
        renamed,
        aliases=_aliases_of_parts(found.aliases, part_of),
        numbering=_numbering_of_parts(found.numbering, part_of),
    )


def _aliases_of_parts(
    aliases: Mapping[str, str], part_of: Callable[[str], str]
) -> dict[str, str]:
    """Return the parts of ids by the parts of their other names that name one item only."""
    items_by_part: dict[str, set[str]] = {}
    for name, own in aliases.items():
        with suppress(InputError):  # the expression does not fit this name
            items_by_part.setdefault(part_of(name), set()).add(part_of(own))
    return {
        part: next(iter(items))
        for part, items in items_by_part.items()
        if len(items) == 1
    }


def _numbering_of_parts(
    numbering: Numbering | None, part_of: Callable[[str], str]
) -> Numbering | None:
    """Return the numbering of the parts of ids; None if the expression does not fit all of it."""
    if numbering is not None:
        with suppress(InputError):
            return numbering.renamed(part_of)
    return None


def _renamed(found: Any, names: Iterable[str]) -> Any:
    first: dict[str, str] = {}
    for name, own in zip(found.ids, names, strict=True):
        if first.setdefault(own, name) != name:
            raise InputError(
                "equal-parts", found.source, names=[first[own], name], value=own
            )
    verified = getattr(found, "verified", None)
    if not verified:
        return replace(found, ids=list(first))
    own_names = {name: verified[old] for name, old in first.items() if old in verified}
    return replace(found, ids=list(first), verified=own_names)


PARTS = (
    "^(?:.*/)?(.+?)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
    "^(?:.*/)?(?:COCO_[A-Za-z0-9]+_)?0*([0-9]+)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
    r"^(?:.*[/\\])?(.+?)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
)
"""What finds an id in a path, the number in a name of COCO's, and an id in a path of Windows."""


def _joining(pred: Lists, ref: Lists) -> str | None:
    """Return the expression that makes most ids of both sides equal, if any does."""
    if ref.noun == "candidate":  # candidates of retrieval have ids, too
        return None
    best, most = None, len({*pred.ids} & {*ref.ids})
    for expression in PARTS:
        with suppress(InputError):
            same = {*compared(pred, expression).ids} & {*compared(ref, expression).ids}
            best, most = (expression, len(same)) if len(same) > most else (best, most)
    return best


def _under_ids(pred: Lists, ref: Lists) -> tuple[Lists, dict[str, int]]:
    """Return predictions under the ids of the ground truth, and count those that have others.

    Raises
    ------
    InputError
        If two are of the same item, or two numbers of the ground truth's images could be meant.
    """
    if ref.numbering is not None and _are_other_numbers(pred, ref.numbering):
        own = ref.numbering.own
        named = _renamed(
            pred, (own.get(name, f"cocoid {name}") for name in map(str, pred.ids))
        )
        return named, {"joined_cocoid": sum(map(own.__contains__, map(str, pred.ids)))}
    if not ref.aliases:
        return pred, {}
    known = {*ref.ids}
    others = {
        n: own for n, own in ref.aliases.items() if own in known and n not in known
    }
    named = _renamed(pred, (others.get(name, name) for name in map(str, pred.ids)))
    number = sum(map(others.__contains__, map(str, pred.ids)))
    return named, {"joined_names": number} if number else {}


def _are_other_numbers(pred: Lists, numbering: Numbering) -> bool:
    """Return whether the ids of predictions are the other numbers of the images.

    They are if all of them are among these numbers and not all among the ids of the file, or if
    some are among the numbers of the items that were read and none among the ids.

    Raises
    ------
    InputError
        If they could be either, which would give other pairs.
    """
    names = {*map(str, pred.ids)}
    are_ids, are_others = names <= numbering.ids, names <= numbering.others
    if are_ids != are_others:
        return are_others
    n_others = len(names & numbering.own.keys())
    n_ids = len(names & {*numbering.own.values()})
    if not n_others or not n_ids:
        return n_others > 0
    if all(numbering.own.get(name) == name for name in names):
        return False
    raise InputError("ambiguous-cocoid", pred.source, n=n_ids, m=n_others)


def _by_id(pred: Lists, ref: Lists, missing: str) -> Joined:
    if same_ids(pred.ids, ref.ids):
        return Joined(ref.ids, pred.side, ref.side, {})
    place = {name: number for number, name in enumerate(pred.ids)}
    taken = np.fromiter((place.pop(name, -1) for name in ref.ids), np.int64, len(ref))
    unpredicted = [ref.ids[i] for i in np.flatnonzero(taken < 0).tolist()]
    unreferenced = list(place)
    nothing_shared = len(unpredicted) == len(ref) and len(unreferenced) == len(pred)
    if unpredicted or unreferenced:
        if missing == "error":
            raise _other_ids(pred, ref, unpredicted, unreferenced)
        if nothing_shared and (expression := _joining(pred, ref)):
            lost = _lost_ids(pred, ref, unpredicted, unreferenced)
            raise InputError("joinable-ids", lost=lost, expression=expression)
    order = np.arange(len(ref))
    ids = list(ref.ids)
    if missing == "skip":
        order = np.flatnonzero(taken >= 0)
        ids, taken = [ids[i] for i in order.tolist()], taken[order]
    elif unreferenced:
        ids += unreferenced
        taken = np.concatenate(
            [taken, np.fromiter(place.values(), np.int64, len(place))]
        )
        order = np.concatenate([order, np.full(len(place), -1)])
    counts = _missing(len(unpredicted), len(unreferenced))
    return Joined(ids, pred.side.take(taken), ref.side.take(order), counts)


def _lost_ids(
    pred: Lists, ref: Lists, unpredicted: Sequence[str], unreferenced: Sequence[str]
) -> str:
    """Write which ids each side lacks."""
    parts = []
    for side, ids in ((pred, unpredicted), (ref, unreferenced)):
        if ids:
            parts.append(f"{side.source} lacks {len(ids)} of the ids: {listing(ids)}")
    return "; ".join(parts)


def _other_ids(
    pred: Lists, ref: Lists, unpredicted: Sequence[str], unreferenced: Sequence[str]
) -> InputError:
    """Return the error for ids that one side lacks, with the reason if there is a sign of it."""
    lost = _lost_ids(pred, ref, unpredicted, unreferenced)
    expression = _joining(pred, ref)
    if expression is not None:
        return InputError("joinable-ids", lost=lost, expression=expression)
    for difference, plain in _WRITTEN.items():
        others = {plain(name): name for name in unreferenced}
        for name in filter(plain, unpredicted):
            if other := others.get(plain(name)):
                return InputError(
                    "unlike-ids", lost=lost, names=[name, other], how=difference
                )
    return InputError(
        "other-ids" if len(unpredicted) == len(ref) else "missing-ids", lost=lost
    )


def same_ids(ids: Ids, others: Ids) -> bool:
    """Return whether both have the same ids in the same order."""
    if isinstance(ids, Texts) and isinstance(others, Texts):
        return ids is others or ids == others
    return ids is others or list(ids) == list(others)


def _missing(predictions: int, references: int) -> dict[str, int]:
    counts = {"missing_prediction": predictions, "missing_reference": references}
    return {name: number for name, number in counts.items() if number}


_WRITTEN: dict[str, Callable[[str], str]] = {
    "Unicode normal form": lambda name: unicodedata.normalize("NFC", name),
    "the .0 of a number": lambda name: re.sub(r"^(-?\d+)\.0+$", r"\1", name),
    "case or blanks": lambda name: name.strip().casefold(),
}


def _without_gaps(
    joined: Joined, missing: str, noun: str, sources: tuple[str, str]
) -> Joined:
    """Apply the policy to items with an empty list on one side."""
    empty = [side.sizes == 0 for side in (joined.pred, joined.ref)]
    if missing == "error" and (empty[0].any() or empty[1].any()):
        lost = [
            f"{source} has no {noun} for {int(bare.sum())} of the ids: "
            f"{listing(joined.ids[i] for i in np.flatnonzero(bare).tolist())}"
            for bare, source in zip(empty, sources, strict=True)
            if bare.any()
        ]
        raise InputError("missing-entries", lost="; ".join(lost), noun=noun)
    counts = _missing(int(empty[0].sum()), int(empty[1].sum()))
    if missing != "skip" or not counts:
        return Joined(joined.ids, joined.pred, joined.ref, counts)
    kept = np.flatnonzero(~(empty[0] | empty[1]))
    return Joined(
        take_ids(joined.ids, kept),
        joined.pred.take(kept),
        joined.ref.take(kept),
        counts,
    )


def aligned_rows(values: Floats, pred: Lists, ids: Ids) -> Floats:
    """Return the rows of a matrix beside the predictions, one for each joined item.

    Parameters
    ----------
    values : float array, shape (items of the predictions, columns)
    pred : Lists
    ids : sequence of str, or range
        Of the joined items.

    Raises
    ------
    InputError
        If there is not one row for each item of the predictions, or an item has none.
    """
    values = np.asarray(values)
    if values.ndim != 2 or len(values) != len(pred):
        wanted = f"one row of probabilities for each of {len(pred):,} items"
        raise InputError(
            "wrong-shape",
            role="the cardinality matrix",
            shape=values.shape,
            wanted=wanted,
        )
    if same_ids(ids, pred.ids):
        return values
    place = {name: number for number, name in enumerate(pred.ids)}
    if lost := [name for name in ids if name not in place]:
        raise InputError("no-rows", n=len(lost), what="cardinality", ids=lost)
    return values[[place[name] for name in ids]]


@dataclass(frozen=True, eq=False)
class Weights:
    """A number for each item, as the user gave them.

    Attributes
    ----------
    values : mapping from id to number, or sequence of numbers
        A sequence is in the order of the ground truth.
    source : str
        What messages call them.
    notes : sequence of Fact
        What was odd in their file.
    """

    values: Any
    source: str = "weights"
    notes: Sequence[Any] = ()

    @property
    def is_by_id(self) -> bool:
        """Whether the numbers have ids."""
        return isinstance(self.values, Mapping)

    def align(self, ref: Lists, ids: Ids) -> Floats:
        """Return the weight of each joined item.

        Parameters
        ----------
        ref : Lists
            The ground truth.
        ids : sequence of str, or range
            The ids of the joined items.

        Raises
        ------
        InputError
            If an item has no weight, or a weight is negative or not a finite number. The message
            names the item.
        """
        weight_by_id = self._by_id(ref)
        names = [str(name) for name in ids]
        lost = [name for name in names if name not in weight_by_id]
        if lost:
            values = {"n": len(lost), "noun": "item", "what": "weight", "names": lost}
            raise InputError("without-value", self.source, **values)
        weights = np.zeros(len(names))
        for row, name in enumerate(names):
            weights[row] = self._check_weight(name, weight_by_id[name])
        with np.errstate(over="ignore"):
            total = weights.sum()
        if not np.isfinite(total):
            raise InputError("infinite-sum", self.source, role="all sample weights")
        return weights

    def _by_id(self, ref: Lists) -> dict[str, Any]:
        """Return the weights by id. A sequence gets the ids of the ground truth."""
        values = self.values
        is_sized = hasattr(values, "__len__") and is_iterable(values)
        if isinstance(values, (str, bytes, Set)) or not is_sized:
            wanted = "weights in the order of the ground truth, or by id"
            raise InputError("wrong-type", self.source, value=values, wanted=wanted)
        if not isinstance(values, Mapping):
            if len(values) != len(ref):
                wanted = f"{pluralize(len(ref), 'item')} of the ground truth"
                number = pluralize(len(values), "weight")
                raise InputError(
                    "wrong-count", self.source, wanted=wanted, found=number
                )
            values = dict(zip(map(str, ref.ids), values, strict=True))
        ids = [str(name) for name in values]
        check_once(ids, "duplicate-id", self.source)
        return dict(zip(ids, values.values(), strict=True))

    def _check_weight(self, name: str, weight: Any) -> float:
        """Return a weight as a float; raise an error if it is negative or not finite."""
        number = math.nan
        # Older versions of NumPy convert an array of one element to a number.
        if not getattr(weight, "ndim", 0):
            try:
                number = float(weight)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
        if isinstance(weight, str) or not 0 <= number < math.inf:
            role = f"the weight of item {name!r}"
            wanted = "a finite number, not negative"
            raise InputError(
                "out-of-range", self.source, role=role, value=weight, wanted=wanted
            )
        return number


def weigh(
    joined: Joined, weights: Weights | None, ref: Lists
) -> tuple[Joined, Floats | None]:
    """Return the joined items with their weights, without items of weight 0.

    An item of weight 0 counts as if it was not there. ``counts["weight_0"]`` is their number.
    Without weights, nothing changes.
    """
    if weights is None:
        return joined, None
    values = weights.align(ref, joined.ids)
    rows = np.flatnonzero(values)
    n_left_out = len(values) - len(rows)
    if not n_left_out:
        return joined, values
    counts = {**joined.counts, "weight_0": n_left_out}
    pred = joined.pred.take(rows)
    ref_side = joined.ref.take(rows)
    return Joined(take_ids(joined.ids, rows), pred, ref_side, counts), values[rows]
