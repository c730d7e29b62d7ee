"""Rows gathered into items: the rows of an id are one item, in file order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.data.raw import RawItems
from semmetrics.data.source import Places, at, counted
from semmetrics.errors import InputError

__all__ = ["Groups"]


class Groups:
    """Items gathered from rows; `unit` is how the place of a row is written.

    Examples
    --------
    >>> groups = Groups("gt.csv")
    >>> groups.add([2, 3, 4], ["a", "b", "a"], ["x", "y", "z"])
    >>> groups.finish().items
    [['x', 'z'], ['y']]
    """

    def __init__(self, name: str, unit: str = "line {}") -> None:
        self.name, self.unit = name, unit
        self.groups: dict[str, list[Any]] = {}
        self.places: list[int] = []
        self._previous: str | None = None
        self._reopened: set[str] = set()

    def at(self, place: int, id_: str | None = None) -> str:
        """Write the place of a row."""
        return at(self.name, self.unit.format(place), id_)

    def check(self, places: Sequence[int], ids: Sequence[str]) -> None:
        """Refuse an empty id."""
        if "" in ids:
            where = self.at(places[list(ids).index("")])
            raise InputError("the id is empty", where=where, remedy="name the item")

    def add(self, places: Sequence[int], ids: Sequence[str], entries: Sequence[Any]) -> None:
        """Add rows: where they stand, their ids, and what each adds to its item."""
        self.check(places, ids)
        previous, groups = self._previous, self.groups
        current = groups[previous] if previous is not None else []
        for place, id_, entry in zip(places, ids, entries, strict=True):
            if id_ != previous:
                previous = id_
                if id_ in groups:
                    self._reopened.add(id_)
                    current = groups[id_]
                else:
                    self.places.append(place)
                    current = groups[id_] = []
            current.append(entry)
        self._previous = previous

    def finish(self) -> RawItems:
        """The items, in order of first appearance."""
        ids = list(self.groups)
        places = Places(self.name, ids, self.unit, self.places)
        raw = RawItems(ids, list(self.groups.values()), places, self.name)
        if self._reopened:
            ids_apart = counted(self._reopened, "id")
            raw.notes.append(f"{ids_apart} with rows that are not together; merged in file order")
        return raw
