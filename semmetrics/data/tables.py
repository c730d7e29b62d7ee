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
import math
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import chain, islice
from operator import not_
from typing import Any, TypeVar

import numpy as np

from semmetrics.data.cells import CutListError, are_lists_of_scores, pair_lists
from semmetrics.data.class_columns import (
    BINARY,
    SHARE,
    find_id_beside_classes,
    find_named_classes,
)
from semmetrics.data.form import Form, ReadOptions, find_columns, find_id, is_one_hot
from semmetrics.data.item_rows import item_rows, row_notes, without_blanks
from semmetrics.data.items import Items
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, as_matrix, check_named
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import Fact, InputError, Places, at
from semmetrics.messages import pluralize, shown
from semmetrics.schema import TRUTHS, as_id, as_number

_BATCH, _CELLS = 2**14, 2**20  # rows, and their cells, that are looked at together
_LOCK = threading.Lock()
_BLANKS = frozenset({"", "nan", "na", "null", "none"})  # cells without a value
# cells that often mean that nobody verified a label
_UNVERIFIED = _BLANKS | {
    "-1",
    "-1.0",
}
_WHOLE = {"0", "1", *TRUTHS}
_LETTER, _DIGITS = re.compile(r"[^\W\d_]"), re.compile(r"\d+")
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

    def __init__(
        self, source: Source, options: ReadOptions, *, tabs: bool = False
    ) -> None:
        check_lines(source, options.max_line_bytes)
        self.name, self.notes = source.name, list[Any]()
        self._delimiter = _delimiter_of(options, tabs=tabs)
        self._numbered = self._read(source, options, tabs=tabs)
        _, self.header = next(self._numbered)
        if not self.header:
            remedy = "begin with a header, such as id,label"
            raise InputError(
                "empty", at(self.name, "line 1"), role="the header", remedy=remedy
            )

    def _read(
        self, source: Source, options: ReadOptions, *, tabs: bool
    ) -> Iterator[Any]:
        reader, end = _reader(source.text, options, tabs=tabs), 0
        try:
            for row in reader:
                yield end + 1, row
                end = reader.line_num + source.before[0]
        except csv.Error as error:
            raise InputError(
                "not-csv", at(self.name, f"line {end + 1}"), why=error
            ) from None

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row behind its line."""
        width = len(self.header)
        for line, row in without_blanks(self._numbered, not_, self.notes, "rows"):
            if len(row) != width:
                where = at(self.name, f"line {line}")
                raise InputError(
                    "wrong-width", where, found=len(row), wanted=width, first=row[0]
                )
            if any("\n" in cell for cell in row) and are_joined_rows(
                row, self._delimiter
            ):
                raise InputError("joined-rows", at(self.name, f"line {line}"))
            yield line, row

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Yield lines and rows, many at once so that columns are taken at the speed of C."""
        rows, size = iter(self), max(1, min(_BATCH, _CELLS // len(self.header)))
        while batch := list(islice(rows, size)):
            yield [line for line, _ in batch], [row for _, row in batch]


def are_joined_rows(row: Sequence[str], delimiter: str) -> bool:
    r"""Tell whether the lines of a row look like rows of their own, with a quote as part of a text.

    Each line then has as many cells as the row, and a column such as the ids has values that look
    the same in all lines.

    Examples
    --------
    >>> are_joined_rows(["7.jpg", "The Scream\n8.jpg,a bus"], ",")
    True
    >>> are_joined_rows(["7.jpg", "a dog\nand then, a bus"], ",")
    False
    """
    lines = delimiter.join(row).split("\n")
    cells = [line.split(delimiter) for line in lines]
    if any(len(line) != len(row) for line in cells):
        return False
    for column in zip(*cells, strict=True):
        shapes = {_DIGITS.sub("0", _LETTER.sub("a", cell)) for cell in column}
        is_word = all(cell and not any(map(str.isspace, cell)) for cell in column)
        if len(shapes) == 1 and is_word:
            return True
    return False


def _delimiter_of(options: ReadOptions, *, tabs: bool) -> str:
    return options.delimiter or ("\t" if tabs else ",")


def _reader(text: str, options: ReadOptions, *, tabs: bool) -> Any:
    delimiter = _delimiter_of(options, tabs=tabs)
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


def entry_rows(
    batches: Iterable[Sequence[Any]], name: str, form: Form, unit: str
) -> Items:
    """Gather items from rows of one entry each: the rows of an id are one item, in file order.

    Parameters
    ----------
    batches : iterable of (places, ids, entries) or (places, ids, entries, scores)
        Scores are numbers or texts.
    name, unit : str
        The input, and how the place of a row is written.
    form : Form

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> rows = [([2, 3, 4], ["a", "b", "a"], ["x", "y", "z"])]
    >>> entry_rows(rows, "gt.csv", form, "line {}").items
    [['x', 'z'], ['y']]
    """
    groups: dict[str, list[Any]] = {}
    firsts, empty, scattered = list[int](), dict[str, int](), set[str]()
    previous, current = None, list[Any]()
    for places, ids, entries, *scores in _spread_lists(batches, name, unit):
        if "" in ids:
            raise InputError(
                "empty-id", at(name, unit.format(places[list(ids).index("")]))
            )
        if not form.blank and "" in entries:
            bare = (row for row, entry in enumerate(entries) if entry == "")
            empty = {**{ids[row]: places[row] for row in reversed([*bare])}, **empty}
        if scores:
            entries = _pair_columns(places, ids, entries, scores[0], name, form, unit)
        for place, id_, entry in zip(places, ids, entries, strict=True):
            if id_ != previous:
                previous = id_
                if id_ in groups:
                    scattered.add(id_)
                else:
                    firsts.append(place)
                current = groups.setdefault(id_, [])
            current.append(entry)
    for id_, place in empty.items():
        if len(groups[id_]) > 1:
            where = at(name, unit.format(place), id_)
            raise InputError("empty-cell", where, noun=form.noun, n=len(groups[id_]))
        groups[id_] = []
    names = list(groups)
    found = Items(names, list(groups.values()), Places(name, names, unit, firsts), name)
    found.notes += row_notes(
        len(empty), [id_ for id_ in names if id_ in scattered], form
    )
    return found


def _pair_columns(
    places: Any, ids: Any, entries: Any, scores: Any, name: str, form: Form, unit: str
) -> list[tuple[Any, float]]:
    """Return entries with their scores; an entry that says that an item has none has none."""

    def where(row: int) -> str:
        return at(name, unit.format(places[row]), ids[row])

    if not form.blank and "" in entries:
        for row, (entry, score) in enumerate(zip(entries, scores, strict=True)):
            if entry == "" and score not in ("", None):
                raise InputError("score-alone", where(row), noun=form.noun)
        scores = [
            0.0 if entry == "" else one
            for entry, one in zip(entries, scores, strict=True)
        ]
    return list(zip(entries, form.table.columns[2].values(scores, where), strict=True))


def _spread_lists(
    batches: Iterable[Sequence[Any]], name: str, unit: str
) -> Iterator[Any]:
    """Yield batches of rows with one entry each, also if cells have lists and their scores.

    The first score that is not empty decides. A row whose lists are empty keeps its place, with an
    empty entry.
    """
    is_first, has_lists = True, False
    for batch in batches:
        if is_first and len(batch) == 4:
            has_lists = are_lists_of_scores(batch[3])
            is_first = False
        yield _spread_batch(batch, name, unit) if has_lists else batch


def _spread_batch(batch: Sequence[Any], name: str, unit: str) -> list[list[Any]]:
    """Return a row for each entry of the lists of a batch: places, ids, entries and scores."""
    columns: list[list[Any]] = [[], [], [], []]
    for place, id_, labels, scores in zip(*batch, strict=True):
        where = at(name, unit.format(place), id_)
        try:
            pairs = pair_lists(labels, scores or "")
        except InputError as error:
            raise error.placed(where) from None
        except CutListError:
            raise InputError(
                "cut-list", where, noun="label", value=shown(labels)
            ) from None
        rows: list[tuple[Any, Any]] = [*pairs] or [("", "")]
        for label, score in rows:
            for column, cell in zip(
                columns, (place, id_, str(label), score), strict=True
            ):
                column.append(cell)
    return columns


def split_text(several: int, rows: int, split: str) -> str:
    """Write how many cells were split: the delimiter may be part of a label on one of two sides."""
    sign = "a tab" if split == "\t" else repr(split)
    return f", split at {sign} in {several:,} of {pluralize(rows, 'row')}"


def read_table(
    source: Source, form: Form, options: ReadOptions, *, tabs: bool = False
) -> Items:
    """Read CSV or TSV: one row an entry, or one row an item where a cell has several."""
    split = options.label_delimiter if form.scored else None
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        roles = find_columns(
            form.table, rows.header, options, at(source.name, "line 1")
        )
        if split is None:
            found = entry_rows(
                _columns(rows, roles.values()), rows.name, form, "line {}"
            )
        else:

            def cells(row: list[str]) -> Iterator[Any]:
                id_, *several = (row[i] for i in roles.values())
                yield id_
                entries, *scores = (
                    cell.split(split) if cell else [] for cell in several
                )
                if "" in entries:
                    remedy = "remove the extra delimiter"
                    raise InputError(
                        "empty", role=f"a {form.noun} of the cell", remedy=remedy
                    )
                yield entries
                for some in scores:
                    yield [as_number(one, "the score") for one in some]

            found = item_rows(rows, cells, source.name, form, "line {}")
            found.notes += row_notes(sum(not item for item in found.items), (), form)
    kind = "TSV" if tabs else "CSV"
    found = describe_table(found, kind, rows.header, roles, form, split is not None)
    found.notes += rows.notes
    if split is not None:
        several = sum(len(item) > 1 for item in found.items)
        found.understood += split_text(several, len(found.items), split)
    return found


def describe_table(
    found: T,
    kind: str,
    names: Sequence[str],
    roles: Mapping[str, int],
    form: Form,
    wide: bool,
) -> T:
    """Write how a table was read, and note the columns without a role."""
    used = ", ".join(f"{role} {names[i]!r}" for role, i in roles.items())
    row_is = "an item" if wide else f"a {form.noun}"
    extra: tuple[str, ...] = tuple(
        name for i, name in enumerate(names) if i not in roles.values()
    )
    notes: list[Fact] = list(found.notes)
    if extra:
        notes.append(Fact("unused-columns", len(extra), extra))
    return replace(
        found,
        understood=f"{kind}, one row {row_is}: {used}",
        notes=notes,
        column_names={role: names[place] for role, place in roles.items()},
    )


def _columns(rows: Rows, places: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Yield lines, ids, entries and perhaps scores of many rows."""
    share: dict[str, str] = {}  # one string for each label, however many rows have it
    for lines, batch in rows.batches():
        ids, entries, *scores = ([row[i] for row in batch] for i in places)
        yield lines, ids, [share.setdefault(one, one) for one in entries], *scores


def read_one_hot(
    source: Source, kind: str, form: Form, options: ReadOptions
) -> Matrix | None:
    """Read a CSV or TSV as a matrix; None where it has not a column for each label.

    Raises
    ------
    InputError
        If a cell is neither 0 or 1 nor a score, or an id is empty or appears twice; names the
        place.
    """
    with field_limit(options.max_line_bytes):
        header = first_row(source, options, tabs=kind == "tsv")
        classes = _named_classes(source, kind, header, form, options)
        id_place = one_hot_ids(header, form, options, classes=classes)
        if id_place is None:
            return None
        rows = Rows(source, options, tabs=kind == "tsv")
        names = [name for column, name in enumerate(rows.header) if column != id_place]
        check_named(rows.header, at(source.name, "line 1"))
        places, parts, whole = dict[str, int](), list[Any](), True
        for lines, batch in rows.batches():
            ids = [row.pop(id_place) for row in batch]
            for line, id_ in zip(lines, ids, strict=True):
                as_id(id_, where=at(source.name, f"line {line}"))
                if places.setdefault(id_, line) != line:
                    where, other = (
                        at(source.name, f"line {line}", id_),
                        f"line {places[id_]}",
                    )
                    raise InputError("duplicate-at", where, role="the id", other=other)
            values = dict.fromkeys(chain.from_iterable(batch), 0.0)
            for text in values:
                value = _cell_value(text, form)
                if value is None:
                    if len(names) == 1:  # the reader of tables says what it lacks
                        return None
                    row = next(i for i, cells in enumerate(batch) if text in cells)
                    column = names[batch[row].index(text)]
                    where = at(
                        source.name, f"line {lines[row]}, column {column!r}", ids[row]
                    )
                    raise not_a_label_column(text, form).placed(where)
                values[text] = value
            whole = whole and {text.strip().casefold() for text in values} <= _WHOLE
            flat = map(values.__getitem__, chain.from_iterable(batch))
            found = np.fromiter(flat, np.float64, len(batch) * len(names))
            parts.append(
                found.reshape(len(batch), -1).astype(np.int8 if whole else np.float64)
            )
    ids = list(places)
    made = as_matrix(
        np.concatenate([np.zeros((0, len(names)), np.int8), *parts]),
        names,
        ids,
        source=source.name,
        notes=rows.notes,
        finite=not form.allows_nan,
        understood=f"{kind.upper()}, {one_hot_text(form, rows.header[id_place])}",
    )
    return replace(
        made, where=Places(source.name, ids, "line {}", list(places.values()))
    )


def _named_classes(
    source: Source, kind: str, header: Sequence[str], form: Form, options: ReadOptions
) -> frozenset[str]:
    """Return the columns called as labels or scores whose cells show that they are classes."""
    id_place = find_id_beside_classes(header, form, options)
    if id_place is None:
        return frozenset()
    names = [name for place, name in enumerate(header) if place != id_place]
    first_cells = _second_row(source, options, tabs=kind == "tsv")
    if len(first_cells) == len(header):
        del first_cells[id_place]
        if _kind_of_cells(first_cells) == "":
            return frozenset()
    rows = Rows(source, options, tabs=kind == "tsv")
    kinds = dict.fromkeys(names, BINARY)
    ids: set[str] = set()
    n_rows = 0
    for _, batch in rows.batches():
        columns = list(zip(*batch, strict=True))
        ids.update(columns.pop(id_place))
        n_rows += len(batch)
        for name, cells in zip(names, columns, strict=True):
            cell_kind = _kind_of_cells(cells)
            if cell_kind == "":
                return frozenset()
            if cell_kind == SHARE:
                kinds[name] = SHARE
    if not n_rows:
        return frozenset()
    repeats = len(ids) < n_rows
    where = at(source.name, "line 1")
    return find_named_classes(kinds, form, options, where, repeats=repeats)


def _second_row(source: Source, options: ReadOptions, *, tabs: bool) -> list[str]:
    """Return the row below the header, if the beginning of the file contains a whole one."""
    reader = _reader(source.beginning, options, tabs=tabs)
    try:
        rows = [list(row) for row in islice(reader, 3)]
    except csv.Error:  # also where a quoted newline is cut off
        return []
    return rows[1] if len(rows) > 2 else []


def _kind_of_cells(cells: Sequence[str]) -> str:
    """Return what the cells of a column are, as `find_named_classes` takes it."""
    is_binary = True
    for text in set(cells):
        folded = text.strip().casefold()
        value = TRUTHS.get(folded)
        if value is None:
            try:
                value = float(folded)
            except ValueError:
                return ""
        if not 0 <= value <= 1:
            return ""
        is_binary = is_binary and value in (0.0, 1.0)
    return BINARY if is_binary else SHARE


def one_hot_ids(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
) -> int | None:
    """Find the column of ids of a table with a column for each label; None where it is no such."""
    is_split = options.label_delimiter is not None
    if not is_split and is_one_hot(names, form, options, numbers, classes):
        with suppress(InputError):  # the reader of tables raises it
            return find_id(names, form, options, "")
    return None


def one_hot_text(form: Form, id_: str) -> str:
    """Write how a table with a column for each label was read."""
    return f"one row an item, one column a {form.noun}: id {id_!r}"


def not_a_label_column(value: object, form: Form) -> InputError:
    """Return the error for a cell, or a column, that is not that of a label."""
    if (
        form.scored
        and not form.unknown
        and str(value).strip().casefold() in _UNVERIFIED
    ):
        return InputError("unverified-cell", value=value)
    known, flag = ", ".join(form.columns), f"{form.noun}_column"
    return InputError(
        "not-a-label-column", value=value, noun=form.noun, known=known, flag=flag
    )


def _cell_value(text: str, form: Form) -> float | None:
    folded = text.strip().casefold()
    if form.allows_nan and folded in _BLANKS:
        return math.nan
    value = TRUTHS.get(folded)
    try:
        value = as_number(text, "") if value is None else value
    except InputError:
        return None
    is_cell = form.numbered or 0 <= value <= 1 or value in form.unknown
    return value + 0.0 if is_cell else None
