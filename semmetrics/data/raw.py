"""What a reader hands over: the rows of a file as they were written, not yet checked as labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RawItems", "RawMatrix"]


def _nowhere(position: int) -> str:
    return f"item {position}"


@dataclass
class RawItems:
    """Items and their labels as a reader found them.

    Attributes
    ----------
    ids : sequence of str, or None
        One id an item, checked to be unique by the reader; None where the input has none and
        items are matched by position.
    items : sequence of sequences
        For each item its labels in order. A label is a str, a pair ``(label, number)``, a
        mapping with "label" (or "name") and optionally "score", or a list of synonyms.
    where : callable
        The place of item ``i`` for messages: "gt.json, id 'a'" or "gt.csv, line 7, id 'a'".
    source : str
        The name of the input for messages.
    understood : str
        How it was read: "JSON, {id: [labels]}".
    notes : list of str
        What is odd and was nevertheless accepted.
    """

    ids: Sequence[str] | None
    items: Sequence[Sequence[Any]]
    where: Callable[[int], str] = _nowhere
    source: str = "input"
    understood: str = "lists of labels"
    notes: list[str] = field(default_factory=list)


@dataclass
class RawMatrix:
    """A matrix of items x classes: 0/1 membership, or scores.

    Attributes
    ----------
    values : array, shape (items, classes), or scipy.sparse matrix
        bool or integer 0/1, or floats.
    classes : sequence of str or of synonym lists, or None
        The class of each column; None where the input does not say.
    ids : sequence of str, or None
    source, understood, notes
        As for RawItems.
    """

    values: NDArray[np.generic] | Any
    classes: Sequence[str | Sequence[str]] | None
    ids: Sequence[str] | None = None
    source: str = "matrix"
    understood: str = "matrix of items x classes"
    notes: list[str] = field(default_factory=list)
