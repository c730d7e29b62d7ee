"""Captions of many items, checked once and then immutable."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.ragged import Ints, offsets
from semmetrics.data.raw import RawItems
from semmetrics.errors import InputError, brief

__all__ = ["Captions", "captions_of"]


@dataclass(frozen=True, eq=False)
class Captions:
    """One or several captions of each item, as one input gave them.

    Attributes
    ----------
    ids : sequence of str, or range
        A range where the input has no ids.
    indptr : int array, shape (items + 1,)
        The captions of item ``i`` are ``texts[indptr[i]:indptr[i + 1]]``.
    texts : sequence of str
        All captions in order, as they were written.
    source, understood : str
        The name of the input, and how it was read.
    notes : list of str
        What was odd and nevertheless accepted.
    where : callable
        The place of item ``i``, for messages; it names the input, too.
    """

    ids: Sequence[str] | range
    indptr: Ints
    texts: Sequence[str]
    source: str = "input"
    understood: str = "captions"
    notes: list[str] = field(default_factory=list)
    where: Callable[[int], str] = "item {}".format

    def __len__(self) -> int:
        return len(self.indptr) - 1


def captions_of(raw: RawItems) -> Captions:
    """Check raw captions.

    Parameters
    ----------
    raw : RawItems
        Each item is a caption, or a list of captions.

    Returns
    -------
    Captions

    Raises
    ------
    InputError
        If a caption is not a string or cannot be encoded, or some items are lists and others
        are not; names the item.

    Examples
    --------
    >>> captions = captions_of(RawItems(["a", "b"], [["a cat", "the cat"], ["a dog"]]))
    >>> captions.texts, captions.indptr.tolist()
    (['a cat', 'the cat', 'a dog'], [0, 2, 3])
    """
    notes = list(raw.notes)
    items = _lists(raw, notes)
    indptr = offsets(np.fromiter(map(len, items), np.int64, len(items)))
    texts = list(chain.from_iterable(items))
    if not set(map(type, texts)) <= {str}:
        texts = [
            _text(caption, raw, position, f", caption {number}")
            for position, item in enumerate(items)
            for number, caption in enumerate(item, 1)
        ]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise _not_encoded(raw, texts, indptr) from None
    return Captions(
        ids=range(len(items)) if raw.ids is None else raw.ids,
        indptr=indptr,
        texts=texts,
        source=raw.source,
        understood=raw.understood,
        notes=notes,
        where=raw.where,
    )


def _lists(raw: RawItems, notes: list[str]) -> Sequence[Sequence[Any]]:
    """Items as lists of captions."""
    kinds = set(map(type, raw.items))
    if kinds <= {list, tuple}:
        return raw.items
    if all(issubclass(kind, str) for kind in kinds):
        return [[caption] for caption in raw.items]
    lists = [_list(item) for item in raw.items]
    if any(isinstance(item, Set) for item in raw.items):
        notes.append("sets of captions were taken in sorted order")
    some = any(isinstance(item, (list, tuple)) for item in lists)
    for position, item in enumerate(lists):
        if some and isinstance(item, str):
            raise InputError(
                f"the caption {brief(item)} stands where other items have lists",
                where=raw.where(position),
                remedy='write ["a caption"], also for one caption',
            )
        if not isinstance(item, (list, tuple)):
            _text(item, raw, position)
    return lists


def _list(item: Any) -> Any:
    if isinstance(item, Set):
        return sorted(item, key=lambda caption: (str(type(caption)), str(caption)))
    return item.tolist() if isinstance(item, np.ndarray) else item


def _text(caption: Any, raw: RawItems, position: int, number: str = "") -> str:
    if isinstance(caption, str):
        return str(caption)
    raise InputError(
        f"{brief(caption)} is a {type(caption).__name__}, not a caption",
        where=f"{raw.where(position)}{number}",
        remedy='write "a caption" or ["a caption", ...]; an empty text for an empty caption',
    )


def _not_encoded(raw: RawItems, texts: Sequence[str], indptr: Ints) -> InputError:
    number = next(i for i, text in enumerate(texts) if _has_surrogate(text))
    position = int(np.searchsorted(indptr, number, side="right")) - 1
    return InputError(
        "the caption has half of a surrogate pair (\\ud800 to \\udfff), which is no character",
        where=f"{raw.where(position)}, caption {number - indptr[position] + 1}",
        remedy="write the character",
    )


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= char <= "\udfff" for char in text)
