"""CSV and TSV: one row an entry, or one row an item.

Conventions
-----------
The first line is a header. With one row an entry, the rows of an id are merged in file order; where
entries cannot be blank, a row with an empty one is an item without entries, if it is the id's only
row. With a ``label_delimiter`` a row is an item, and an empty cell an item without entries. Cells
are kept exactly as they are, blanks included.
"""

from __future__ import annotations

import csv
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, TypeVar

from semmetrics.data.form import (
    Form,
    ReadOptions,
    assign,
    canonical_id,
    number,
)
from semmetrics.data.formats import beginning
from semmetrics.data.items import Items
from semmetrics.data.json_files import BlankLines, pair_scores
from semmetrics.data.lists import Lists
from semmetrics.data.source import Lines, Room, Source, check_lines
from semmetrics.errors import InputError, Places, at
from semmetrics.messages import counted, pluralize, shown

__all__ = [
    "RowTable",
    "Rows",
    "columns_not_used",
    "describe_table",
    "field_limit",
    "first_row",
    "item_rows",
    "read_table",
    "row_notes",
    "split_text",
]

_BATCH, _CELLS = 2**14, 2**20  # rows, and their cells, that are looked at together
_ROW, _ITEM = 100, 320  # bytes that a row takes, at most, and an item
_FILLED = re.compile(r"[^\r\n]")
_LOCK = threading.Lock()
T = TypeVar("T", Items, Lists)


@contextmanager
def field_limit(limit: int) -> Iterator[None]:
    """Let the csv module read long cells; the process has one limit, so it is put back."""
    with _LOCK:
        before = csv.field_size_limit(min(limit, 2**31 - 1))
        try:
            yield
        finally:
            csv.field_size_limit(before)


class Rows:
    """The rows of a CSV text, each with its first line; all as wide as the header.

    Attributes
    ----------
    header : list of str
    notes : list of str
        Says how many blank lines stood between rows, once these have been read.
    """

    def __init__(self, source: Source, options: ReadOptions, *, tabs: bool = False) -> None:
        check_lines(source, options.max_line_bytes)
        self.name, self.notes = source.name, list[str]()
        delimiter = options.delimiter or ("\t" if tabs else ",")
        self._text = Lines(source.text, newline="")
        self._reader = csv.reader(self._text, delimiter=delimiter, strict=True)
        self.header: list[str] = []
        _, self.header = next(iter(self))
        if not self.header:
            raise InputError(
                "the line is blank",
                where=at(self.name, "line 1"),
                remedy="begin with a header, such as id,label",
            )

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Rows, each behind its line."""
        blank, width, end = BlankLines(), len(self.header), self._reader.line_num
        skipped = 0  # blank lines that the csv module did not see
        try:
            for row in self._reader:
                if not row and width:
                    more = self._text.skip(_FILLED)
                    blank.see(end + 1, 1 + more)
                    skipped += more
                elif width in (0, len(row)):
                    if blank.pending:
                        blank.go_on()
                    yield end + 1, row
                else:
                    raise self._wrong_width(end + 1, row)
                end = self._reader.line_num + skipped
        except csv.Error as error:
            raise InputError(
                f"the row that begins here is no valid CSV: {error}",
                where=at(self.name, f"line {end + 1}"),
                remedy="check its quotes, the delimiter and max_line_bytes (--max-line-bytes)",
            ) from None
        self.notes += blank.notes("rows")

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Rows and their lines, many at once so that columns are taken at the speed of C."""
        rows, size = iter(self), max(1, min(_BATCH, _CELLS // len(self.header)))
        while batch := list(islice(rows, size)):
            yield [line for line, _ in batch], [row for _, row in batch]

    def _wrong_width(self, line: int, row: list[str]) -> InputError:
        width = len(self.header)
        return InputError(
            f"the row has {pluralize(len(row), 'cell')}, the header {width}; the first is "
            f"{shown(row[0])}",
            where=at(self.name, f"line {line}"),
            remedy="quote cells that contain the delimiter",
        )


def first_row(source: Source, options: ReadOptions, *, tabs: bool = False) -> list[str]:
    """Return the header of a table as `Rows` reads it; none where that refuses it.

    Of a large input only the beginning is looked at, unless the header does not end there.
    """
    delimiter = options.delimiter or ("\t" if tabs else ",")
    for text in (beginning(source), "" if not source.is_large else source.text):
        try:
            found = next(
                csv.reader(Lines(text, newline=""), delimiter=delimiter, strict=True), None
            )
        except csv.Error:  # also where a quoted newline is cut off
            continue
        if found is not None:
            return found
    return []


class RowTable:
    """Items gathered from rows of one entry each: the rows of an id are one item, in file order.

    Parameters
    ----------
    name, unit : str
        The input, and how the place of a row is written.
    form : Form
    room : Room, optional
        What items may take.

    Examples
    --------
    >>> table = RowTable("gt.csv", Form(noun="label", columns=("label",), keys=("labels",)))
    >>> table.add([2, 3, 4], ["a", "b", "a"], ["x", "y", "z"])
    >>> table.finish().items
    [['x', 'z'], ['y']]
    """

    def __init__(
        self, name: str, form: Form, unit: str = "line {}", room: Room | None = None
    ) -> None:
        self.name, self.form, self.unit, self.room = name, form, unit, room
        self.groups: dict[str, list[Any]] = {}
        self.places: list[int] = []
        self.empty: dict[str, int] = {}
        self._previous: str | None = None
        self._reopened: set[str] = set()

    def add(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        entries: Sequence[Any],
        scores: Sequence[object] | None = None,
    ) -> None:
        """Add rows: where they stand, their ids and entries; scores are numbers or texts."""
        if "" in ids:
            where = self._at(places[list(ids).index("")])
            raise InputError("the id is empty", where=where, remedy="name the item")
        if not self.form.blank and "" in entries:
            self._note_empty(places, ids, entries, scores)
        if scores is not None:
            numbers = self._numbers(places, ids, entries, scores)
            entries = list(zip(entries, numbers, strict=True))
        previous, groups, before = self._previous, self.groups, len(self.groups)
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
        if self.room is not None:
            self.room.take(_ROW * len(ids) + _ITEM * (len(groups) - before))

    def finish(self) -> Items:
        """Return the items, in order of first appearance."""
        for id_, place in self.empty.items():
            if len(self.groups[id_]) > 1:
                raise InputError(
                    f"the {self.form.noun} is empty, and the id has "
                    f"{counted(self.groups[id_], 'row')}",
                    where=self._at(place, id_),
                    remedy=f"only the sole row of an id may have no {self.form.noun}: it has none "
                    "then",
                )
            self.groups[id_] = []
        ids = list(self.groups)
        places = Places(self.name, ids, self.unit, self.places)
        found = Items(ids, list(self.groups.values()), places, self.name)
        found.notes += row_notes(len(self.empty), len(self._reopened), self.form)
        return found

    def _at(self, place: int, id_: str | None = None) -> str:
        return at(self.name, self.unit.format(place), id_)

    def _note_empty(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        entries: Sequence[Any],
        scores: Sequence[object] | None,
    ) -> None:
        for row, entry in enumerate(entries):
            if entry == "":
                self.empty.setdefault(ids[row], places[row])
                if scores is not None and scores[row] not in ("", None):
                    raise InputError(
                        f"a score stands beside an empty {self.form.noun}",
                        where=self._at(places[row], ids[row]),
                        remedy=f"name the {self.form.noun}, or empty the score, too",
                    )

    def _numbers(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        entries: Sequence[Any],
        scores: Sequence[object],
    ) -> list[float]:
        try:
            values = [*map(float, scores)]  # type: ignore[arg-type]
            texts = [score for score in scores if isinstance(score, str)]
            if (total := sum(values)) - total == 0 and "_" not in "".join(texts):
                return values
        except (TypeError, ValueError):
            pass
        values = []  # something is wrong or empty: row by row, to name it
        for place, id_, entry, score in zip(places, ids, entries, scores, strict=True):
            try:
                values.append(0.0 if entry == "" else number(score, ""))
            except InputError as error:
                raise error.placed(self._at(place, id_)) from None
        return values


def row_notes(empty: int, apart: int, form: Form) -> list[str]:
    """Say how many items have an empty cell, and how many have rows that are not together."""
    notes = []
    if empty:
        notes.append(f"{pluralize(empty, 'item')} with an empty {form.noun} cell: no {form.noun}s")
    if apart:
        notes.append(
            f"{pluralize(apart, 'id')} with rows that are not together; merged in file order"
        )
    return notes


def split_text(several: int, rows: int, split: str) -> str:
    """Say how many cells were split: on one side of two the delimiter may be part of a label."""
    sign = "a tab" if split == "\t" else repr(split)
    return f", split at {sign} in {several:,} of {pluralize(rows, 'row')}"


def item_rows(
    rows: Iterable[tuple[int, str, Any, Any]],
    name: str,
    form: Form,
    unit: str,
    remedy: str = "keep one row an id",
) -> Items:
    """Gather items from rows of one item each: place, id, entries, and scores or None."""
    first: dict[str, int] = {}
    items: list[Any] = []
    for place, id_, entries, scores in rows:
        try:
            if first.setdefault(id_, place) != place:
                raise InputError(f"the id is also in {unit.format(first[id_])}", remedy=remedy)
            if entries is None:
                raise InputError(
                    f"the {form.noun}s are null",
                    remedy=f"write an empty list for no {form.noun}s",
                )
            items.append(entries if scores is None else pair_scores(entries, scores, form))
        except InputError as error:
            raise error.placed(at(name, unit.format(place), id_)) from None
    ids = list(first)
    return Items(ids, items, Places(name, ids, unit, list(first.values())), name)


def read_table(source: Source, form: Form, options: ReadOptions, *, tabs: bool = False) -> Items:
    """Read CSV or TSV: one row an entry, or one row an item where a cell has several."""
    split = options.label_delimiter if form.scored else None
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        where = at(source.name, "line 1")
        roles = assign(form.table, rows.header, options, where, form.first_id)
        if split is None:
            found = _entry_rows(rows, form, roles, source.room())
        else:
            remedy = "keep one row an id, or leave out label_delimiter (--label-delimiter)"
            cells = _cells(rows, form, roles, split, source.room())
            found = item_rows(cells, source.name, form, "line {}", remedy)
            found.notes += row_notes(sum(not item for item in found.items), 0, form)
    kind = "TSV" if tabs else "CSV"
    found = describe_table(found, kind, rows.header, roles, form, split is not None)
    found.notes += rows.notes
    if split is not None:
        several = sum(len(item) > 1 for item in found.items)
        found.understood += split_text(several, len(found.items), split)
    return found


def columns_not_used(names: Sequence[str], used: Iterable[int]) -> list[str]:
    """Name the columns that nothing is read from, in one note or none.

    Examples
    --------
    >>> columns_not_used(["id", "weight", "by"], [0, 1]), columns_not_used(["id"], [0])
    (["columns not used: 'by'"], [])
    """
    taken = set(used)
    unused = [shown(name) for i, name in enumerate(names) if i not in taken]
    return [f"columns not used: {', '.join(unused)}"] if unused else []


def describe_table(
    found: T, kind: str, names: Sequence[str], roles: Mapping[str, int], form: Form, wide: bool
) -> T:
    """Say how a table was read, and note the columns without a role."""
    used = ", ".join(f"{role} {names[i]!r}" for role, i in roles.items())
    row_is = "an item" if wide else f"a {form.noun}"
    notes: list[str] = columns_not_used(names, roles.values())
    understood = f"{kind}, one row {row_is}: {used}"
    return replace(found, understood=understood, notes=[*found.notes, *notes])


def _entry_rows(rows: Rows, form: Form, roles: dict[str, int], room: Room) -> Items:
    table = RowTable(rows.name, form, room=room)
    share: dict[str, str] = {}  # one string for each label, however many rows have it
    for lines, batch in rows.batches():
        ids, entries, *scores = ([row[i] for row in batch] for i in roles.values())
        table.add(lines, ids, [share.setdefault(entry, entry) for entry in entries], *scores)
    return table.finish()


def _cells(
    rows: Rows, form: Form, roles: dict[str, int], split: str, room: Room
) -> Iterator[tuple[int, str, Any, Any]]:
    """Yield the rows of a table whose cells have several entries."""
    for lines, batch in rows.batches():
        for line, row in zip(lines, batch, strict=True):
            id_, *cells = (row[i] for i in roles.values())
            try:
                canonical_id(id_, "")
                entries, *scores = (cell.split(split) if cell else [] for cell in cells)
                if "" in entries:
                    raise InputError(
                        f"a {form.noun} of the cell is empty", remedy="remove the extra delimiter"
                    )
                numbers = [number(score, "") for score in scores[0]] if scores else None
                room.take(_ITEM + _ROW * len(entries))
            except InputError as error:
                raise error.placed(at(rows.name, f"line {line}", id_)) from None
            yield line, id_, entries, numbers
