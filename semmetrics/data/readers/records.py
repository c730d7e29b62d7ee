"""JSON records gathered into items, from a list or one a line."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from semmetrics.data.form import ReadOptions
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.strict_json import parse
from semmetrics.data.source import (
    Places,
    Source,
    at,
    canonical_id,
    check_lines,
    counted,
    placed,
    shown,
)
from semmetrics.errors import InputError

__all__ = ["ELEMENT", "LINE", "Assigning", "Records", "json_lines"]

ELEMENT, LINE = "element [{}]", "line {}"

Assigning: TypeAlias = Callable[[Sequence[str], ReadOptions, str], dict[str, int]]


def json_lines(source: Source, options: ReadOptions, notes: list[str]) -> Iterator[tuple[int, Any]]:
    """The values of JSON lines and their lines; blank lines between them are noted at the end."""
    check_lines(source, options.max_line_bytes)
    blank, pending = list[int](), list[int]()
    for line, text in enumerate(io.StringIO(source.text, newline="\n"), 1):
        if text.isspace():
            pending.append(line)
            continue
        blank += pending
        pending.clear()
        yield line, parse(text, source.name, line)
    if blank:
        notes.append(
            f"{counted(blank, 'blank line')} between records, the first is line {blank[0]}"
        )


class Records:
    """Items gathered from records; the columns of equal key lists are found once.

    Parameters
    ----------
    name, unit : str
        The input, and how the place of a record is written.
    options : ReadOptions
    assigning : callable
        From the keys of a record to the place of each role among them.
    """

    like = '{"id": "7", "labels": ["label"]}'

    def __init__(self, name: str, unit: str, options: ReadOptions, assigning: Assigning) -> None:
        self.name, self.unit, self.options = name, unit, options
        self.places: dict[str, int] = {}
        self.items: list[Any] = []
        self._assign = assigning
        self._roles: dict[tuple[str, ...], dict[str, int]] = {}
        self._extra: dict[str, None] = {}

    def gather(self, records: Iterable[tuple[int, Any]]) -> None:
        """Add records with their places."""
        for place, record in records:
            id_ = None
            try:
                if not isinstance(record, dict):
                    raise InputError(
                        f"{shown(record)} stands where a record is expected",
                        remedy=f"write {self.like}",
                    )
                keys = tuple(record)
                columns = self._columns(keys)
                id_ = canonical_id(record[keys[columns["id"]]], "")
                self.add(id_, place, self.content(record, keys, columns))
            except InputError as error:
                raise placed(error, at(self.name, self.unit.format(place), id_)) from None

    def _columns(self, keys: tuple[str, ...]) -> dict[str, int]:
        found = self._roles.get(keys)
        if found is None:
            found = self._roles[keys] = self._assign(keys, self.options, "")
            used = found.values()
            self._extra.update((key, None) for i, key in enumerate(keys) if i not in used)
        return found

    def content(
        self, record: dict[str, Any], keys: tuple[str, ...], columns: dict[str, int]
    ) -> Any:
        """What a record says of its item."""
        raise NotImplementedError

    def add(self, id_: str, place: int, content: Any) -> None:
        """Take up a new item."""
        if self.places.setdefault(id_, place) != place:
            raise InputError(
                f"the id is also at {self.unit.format(self.places[id_])}",
                remedy="keep one record an id (1 and '1' are the same)",
            )
        self.items.append(content)

    def finish(self, understood: str) -> RawItems:
        """The items, in order of first appearance."""
        ids = list(self.places)
        places = Places(self.name, ids, self.unit, list(self.places.values()))
        raw = RawItems(ids, self.items, places, self.name, understood)
        if self._extra:
            raw.notes.append(f"keys not used: {', '.join(map(shown, self._extra))}")
        return raw
