"""CSV and TSV: one row an entry, one row an item, or a column for each label (one-hot).

Conventions
-----------
The first line is a header. With one row an entry, the rows of an id are merged in file order; where
entries cannot be blank, a row with an empty one is an item without entries, if it is the id's only
row. With a ``label_delimiter`` a row is an item, and an empty cell an item without entries. Cells
are kept exactly as they are, blanks included.

A table is one-hot if it has a column of ids, at least one other, and none that is named as scores
or labels are. Its cells are 0 or 1, "true" or "false", or scores from 0 to 1; other numbers are
refused, because they are not those of labels.
"""

from __future__ import annotations

import csv
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from semmetrics.data.form import (
    MATRICES,
    Form,
    ReadOptions,
    assign,
    canonical_id,
    is_one_hot,
    number,
)
from semmetrics.data.items import Items
from semmetrics.data.json_files import BlankLines, pair_scores
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_named
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import Fact, InputError, Places, at
from semmetrics.messages import pluralize

_BATCH, _CELLS = 2**14, 2**20  # rows, and their cells, that are looked at together
_LOCK = threading.Lock()
_WORDS = {"true": 1.0, "false": 0.0}
_WHOLE = {"0", "1", *_WORDS}
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
    notes : list of Fact
        Says how many blank lines are between rows, once these have been read.
    """

    def __init__(self, source: Source, options: ReadOptions, *, tabs: bool = False) -> None:
        check_lines(source, options.max_line_bytes)
        self.name, self.notes = source.name, list[Any]()
        self._reader = _reader(source.text, options, tabs=tabs)
        self.header: list[str] = []
        _, self.header = next(iter(self))
        if not self.header:
            remedy = "begin with a header, such as id,label"
            raise InputError("empty", at(self.name, "line 1"), role="the header", remedy=remedy)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row behind its line."""
        blank, width, end = BlankLines(), len(self.header), self._reader.line_num
        try:
            for row in self._reader:
                if not row and width:
                    blank.see(end + 1, is_blank=True)
                elif width in (0, len(row)):
                    if blank.pending:
                        blank.see(end + 1, is_blank=False)
                    yield end + 1, row
                else:
                    where = at(self.name, f"line {end + 1}")
                    raise InputError(
                        "wrong-width", where, found=len(row), wanted=width, first=row[0]
                    )
                end = self._reader.line_num
        except csv.Error as error:
            raise InputError("not-csv", at(self.name, f"line {end + 1}"), why=error) from None
        self.notes += blank.notes("rows")

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield lines and rows, many at once so that columns are taken at the speed of C."""
        rows, size = iter(self), max(1, min(_BATCH, _CELLS // len(self.header)))
        while batch := list(islice(rows, size)):
            yield [line for line, _ in batch], [row for _, row in batch]


def _reader(text: str, options: ReadOptions, *, tabs: bool) -> Any:
    delimiter = options.delimiter or ("\t" if tabs else ",")
    return csv.reader(text_lines(text, newline=""), delimiter=delimiter, strict=True)


def first_row(source: Source, options: ReadOptions, *, tabs: bool = False) -> list[str]:
    """Return the header of a table as `Rows` reads it; none where that refuses it.

    Of a large input only the beginning is read, unless the header does not end there.
    """
    for text in (source.beginning, "" if not source.is_large else source.text):
        try:
            found = next(_reader(text, options, tabs=tabs), None)
        except csv.Error:  # also where a quoted newline is cut off
            continue
        if found is not None:
            return list(found)
    return []


class RowTable:
    """Items gathered from rows of one entry each: the rows of an id are one item, in file order.

    Parameters
    ----------
    name, unit : str
        The input, and how the place of a row is written.
    form : Form

    Examples
    --------
    >>> table = RowTable("gt.csv", Form(noun="label", columns=("label",), keys=("labels",)))
    >>> table.add([2, 3, 4], ["a", "b", "a"], ["x", "y", "z"])
    >>> table.finish().items
    [['x', 'z'], ['y']]
    """

    def __init__(self, name: str, form: Form, unit: str = "line {}") -> None:
        self.name, self.form, self.unit = name, form, unit
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
            raise InputError("empty-id", self._at(places[list(ids).index("")]))
        if not self.form.blank and "" in entries:
            for row, entry in enumerate(entries):
                if entry == "":
                    self.empty.setdefault(ids[row], places[row])
                    if scores is not None and scores[row] not in ("", None):
                        where = self._at(places[row], ids[row])
                        raise InputError("score-alone", where, noun=self.form.noun)
        if scores is not None:
            numbers = self._numbers(places, ids, entries, scores)
            entries = list(zip(entries, numbers, strict=True))
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

    def finish(self) -> Items:
        """Return the items, in order of first appearance."""
        for id_, place in self.empty.items():
            if len(self.groups[id_]) > 1:
                rows = len(self.groups[id_])
                raise InputError("empty-cell", self._at(place, id_), noun=self.form.noun, n=rows)
            self.groups[id_] = []
        ids = list(self.groups)
        places = Places(self.name, ids, self.unit, self.places)
        found = Items(ids, list(self.groups.values()), places, self.name)
        found.notes += row_notes(len(self.empty), len(self._reopened), self.form)
        return found

    def _at(self, place: int, id_: str | None = None) -> str:
        return at(self.name, self.unit.format(place), id_)

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
            values.append(0.0 if entry == "" else number(score, self._at(place, id_)))
        return values


def row_notes(empty: int, scattered: int, form: Form) -> list[Fact]:
    """Note how many items have an empty cell, and how many ids rows that are not together."""
    facts = (
        Fact("empty-cells", empty, values={"noun": form.noun}),
        Fact("scattered-rows", scattered),
    )
    return [fact for fact in facts if fact.n]


def split_text(several: int, rows: int, split: str) -> str:
    """Write how many cells were split: the delimiter may be part of a label on one of two sides."""
    sign = "a tab" if split == "\t" else repr(split)
    return f", split at {sign} in {several:,} of {pluralize(rows, 'row')}"


def item_rows(rows: Iterable[tuple[int, str, Any, Any]], name: str, form: Form, unit: str) -> Items:
    """Gather items from rows of one item each: place, id, entries, and scores or None."""
    first: dict[str, int] = {}
    items: list[Any] = []
    for place, id_, entries, scores in rows:
        try:
            if first.setdefault(id_, place) != place:
                raise InputError("duplicate-at", role="the id", other=unit.format(first[id_]))
            if entries is None:
                remedy = f"write an empty list for no {form.noun}s"
                raise InputError("null", role=f"the list of {form.noun}s", remedy=remedy)
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
            table = RowTable(rows.name, form)
            share: dict[str, str] = {}  # one string for each label, however many rows have it
            for lines, batch in rows.batches():
                ids, entries, *scores = ([row[i] for row in batch] for i in roles.values())
                table.add(lines, ids, [share.setdefault(one, one) for one in entries], *scores)
            found = table.finish()
        else:
            found = item_rows(_cells(rows, form, roles, split), source.name, form, "line {}")
            found.notes += row_notes(sum(not item for item in found.items), 0, form)
    kind = "TSV" if tabs else "CSV"
    found = describe_table(found, kind, rows.header, roles, form, split is not None)
    found.notes += rows.notes
    if split is not None:
        several = sum(len(item) > 1 for item in found.items)
        found.understood += split_text(several, len(found.items), split)
    return found


def columns_not_used(names: Sequence[str], used: Iterable[int]) -> list[Any]:
    """Note the columns that nothing is read from, if there are any.

    Examples
    --------
    >>> print(*columns_not_used(["id", "weight", "by"], [0, 1]))
    1 column not used: 'by'
    """
    chosen = set(used)
    unused = tuple(name for i, name in enumerate(names) if i not in chosen)
    return [Fact("unused-columns", len(unused), unused)] if unused else []


def describe_table(
    found: T, kind: str, names: Sequence[str], roles: Mapping[str, int], form: Form, wide: bool
) -> T:
    """Write how a table was read, and note the columns without a role."""
    used = ", ".join(f"{role} {names[i]!r}" for role, i in roles.items())
    row_is = "an item" if wide else f"a {form.noun}"
    notes = [*found.notes, *columns_not_used(names, roles.values())]
    understood = f"{kind}, one row {row_is}: {used}"
    return replace(found, understood=understood, notes=notes)


def _cells(
    rows: Rows, form: Form, roles: dict[str, int], split: str
) -> Iterator[tuple[int, str, Any, Any]]:
    """Yield the rows of a table whose cells have several entries."""
    for line, row in rows:
        id_, *cells = (row[i] for i in roles.values())
        try:
            canonical_id(id_)
            entries, *scores = (cell.split(split) if cell else [] for cell in cells)
            if "" in entries:
                remedy = "remove the extra delimiter"
                raise InputError("empty", role=f"a {form.noun} of the cell", remedy=remedy)
            numbers = [number(score) for score in scores[0]] if scores else None
        except InputError as error:
            raise error.placed(at(rows.name, f"line {line}", id_)) from None
        yield line, id_, entries, numbers


def read_one_hot(source: Source, kind: str, form: Form, options: ReadOptions) -> Matrix | None:
    """Read a CSV or TSV as a matrix; None where it has not a column for each label.

    Raises
    ------
    InputError
        If a cell is neither 0 or 1 nor a score, or an id is empty or appears twice; names the
        place.
    """
    if not one_hot_allowed(form, options):
        return None
    with field_limit(options.max_line_bytes):
        header = first_row(source, options, tabs=kind == "tsv")
        id_place = one_hot_ids(header, form, options)
        if id_place is None:
            return None
        rows = Rows(source, options, tabs=kind == "tsv")
        names = [name for column, name in enumerate(rows.header) if column != id_place]
        check_named(rows.header, at(source.name, "line 1"))
        places, parts, whole = dict[str, int](), list[Any](), True
        for lines, batch in rows.batches():
            ids = [row.pop(id_place) for row in batch]
            for line, id_ in zip(lines, ids, strict=True):
                canonical_id(id_, at(source.name, f"line {line}"))
                if places.setdefault(id_, line) != line:
                    where, other = at(source.name, f"line {line}", id_), f"line {places[id_]}"
                    raise InputError("duplicate-at", where, role="the id", other=other)
            values = dict.fromkeys(chain.from_iterable(batch), 0.0)
            for text in values:
                value = _cell_value(text, form)
                if value is None:
                    if len(names) == 1:  # the reader of tables says what it lacks
                        return None
                    row = next(i for i, cells in enumerate(batch) if text in cells)
                    column = names[batch[row].index(text)]
                    where = at(source.name, f"line {lines[row]}, column {column!r}", ids[row])
                    raise not_a_label_column(text, form).placed(where)
                values[text] = value
            whole = whole and {text.strip().casefold() for text in values} <= _WHOLE
            flat = map(values.__getitem__, chain.from_iterable(batch))
            found = np.fromiter(flat, np.float64, len(batch) * len(names))
            parts.append(found.reshape(len(batch), -1).astype(np.int8 if whole else np.float64))
    ids = list(places)
    made = as_matrix(
        np.concatenate([np.zeros((0, len(names)), np.int8), *parts]), names, ids,
        source=source.name, notes=rows.notes,
        understood=f"{kind.upper()}, {one_hot_text(form, rows.header[id_place])}",
    )  # fmt: skip
    return replace(made, where=Places(source.name, ids, "line {}", list(places.values())))


def one_hot_allowed(form: Form, options: ReadOptions) -> bool:
    """Tell whether a table may have a column for each label."""
    return MATRICES[0] in form.formats and options.label_delimiter is None


def one_hot_ids(
    names: Sequence[str], form: Form, options: ReadOptions, numbers: Set[str] = frozenset()
) -> int | None:
    """Find the column of ids of a table with a column for each label; None where it is no such."""
    if not one_hot_allowed(form, options) or not is_one_hot(names, form, options, numbers):
        return None
    try:
        return assign({"id": form.table["id"]}, names, options, "", form.first_id)["id"]
    except InputError:  # the reader of tables raises it
        return None


def one_hot_text(form: Form, id_: str) -> str:
    """Write how a table with a column for each label was read."""
    return f"one row an item, one column a {form.noun}: id {id_!r}"


def not_a_label_column(value: object, form: Form) -> InputError:
    """Return the error for a cell, or a column, that is not that of a label."""
    known, flag = ", ".join(form.columns), f"{form.noun}_column (--{form.noun}-column)"
    return InputError("not-a-label-column", value=value, noun=form.noun, known=known, flag=flag)


def _cell_value(text: str, form: Form) -> float | None:
    value = _WORDS.get(text.strip().casefold())
    try:
        value = number(text) if value is None else value
    except InputError:
        return None
    return value + 0.0 if form.numbered or 0 <= value <= 1 else None
