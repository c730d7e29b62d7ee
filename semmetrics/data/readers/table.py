"""CSV and TSV: one row a label, or one row an item.

Conventions
-----------
The first line is a header. With one row a label, the rows of an id are merged in file order, and a
row with an empty label is an item without labels, if it is the id's only row. With a
``label_delimiter`` a row is an item, and an empty cell an item without labels. Cells are kept
exactly as they are, blanks included.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

from semmetrics.data.form import (
    TABLE_ROLES,
    ReadOptions,
    assign,
    columns_not_used,
    columns_used,
)
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.groups import Groups
from semmetrics.data.readers.json_items import pair_scores
from semmetrics.data.source import (
    Places,
    Source,
    at,
    canonical_id,
    check_lines,
    counted,
    number,
    placed,
    shown,
)
from semmetrics.errors import InputError

__all__ = ["LongTable", "Rows", "field_limit", "read_table"]

_BATCH = 2**14
_LOCK = threading.Lock()


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
        text = io.StringIO(source.text, newline="")
        self._reader = csv.reader(text, delimiter=delimiter, strict=True)
        _, self.header = next(self._lines())
        if not self.header:
            raise InputError(
                "the line is blank",
                where=at(self.name, "line 1"),
                remedy="begin with a header, such as id,label",
            )

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        end = self._reader.line_num
        try:
            for row in self._reader:
                yield end + 1, row
                end = self._reader.line_num
        except csv.Error as error:
            raise InputError(
                f"the row that begins here is no valid CSV: {error}",
                where=at(self.name, f"line {end + 1}"),
                remedy="check its quotes, the delimiter and max_line_bytes (--max-line-bytes)",
            ) from None

    def batches(self) -> Iterator[tuple[list[int], list[list[str]]]]:
        """Rows and their lines, many at once so that columns are taken at the speed of C."""
        blank, pending = list[int](), list[int]()
        lines = self._lines()
        while batch := list(islice(lines, _BATCH)):
            for line, row in batch if not all(row for _, row in batch) else ():
                if not row:
                    pending.append(line)
                elif pending:
                    blank += pending
                    pending = []
            blank += pending if batch[-1][1] else []
            numbers = [line for line, row in batch if row]
            rows = [row for _, row in batch if row]
            self._check_widths(numbers, rows)
            yield numbers, rows
        if blank:
            self.notes.append(
                f"{counted(blank, 'blank line')} between rows, the first is line {blank[0]}"
            )

    def _check_widths(self, lines: list[int], rows: list[list[str]]) -> None:
        width = len(self.header)
        if set(map(len, rows)) <= {width}:
            return
        line, row = next(pair for pair in zip(lines, rows, strict=True) if len(pair[1]) != width)
        raise InputError(
            f"the row has {len(row)} cells, the header {width}; the first is {shown(row[0])}",
            where=at(self.name, f"line {line}"),
            remedy="quote cells that contain the delimiter",
        )


class LongTable(Groups):
    """Items gathered from rows of one label each."""

    def __init__(self, name: str, unit: str = "line {}") -> None:
        super().__init__(name, unit)
        self.empty: dict[str, int] = {}

    def add(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        entries: Sequence[Any],
        scores: Sequence[object] | None = None,
    ) -> None:
        """Add rows of labels; scores are numbers or the text of cells."""
        self.check(places, ids)
        if "" in entries:
            self._note_empty(places, ids, entries, scores)
        if scores is not None:
            numbers = self._numbers(places, ids, entries, scores)
            entries = list(zip(entries, numbers, strict=True))
        super().add(places, ids, entries)

    def _note_empty(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        labels: Sequence[Any],
        scores: Sequence[object] | None,
    ) -> None:
        for row, label in enumerate(labels):
            if label == "":
                self.empty.setdefault(ids[row], places[row])
                if scores is not None and scores[row] not in ("", None):
                    raise InputError(
                        "a score stands beside an empty label",
                        where=self.at(places[row], ids[row]),
                        remedy="name the label, or empty the score, too",
                    )

    def _numbers(
        self,
        places: Sequence[int],
        ids: Sequence[str],
        labels: Sequence[Any],
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
        for place, id_, label, score in zip(places, ids, labels, scores, strict=True):
            try:
                values.append(0.0 if label == "" else number(score, ""))
            except InputError as error:
                raise placed(error, self.at(place, id_)) from None
        return values

    def finish(self) -> RawItems:
        """The items, in order of first appearance."""
        for id_, place in self.empty.items():
            if len(self.groups[id_]) > 1:
                raise InputError(
                    f"the label is empty, and the id has {counted(self.groups[id_], 'row')}",
                    where=self.at(place, id_),
                    remedy="only the sole row of an id may have no label: it has none then",
                )
            self.groups[id_] = []
        raw = super().finish()
        if self.empty:
            empty = f"{counted(self.empty, 'item')} with an empty label cell: no labels"
            raw.notes.insert(0, empty)
        return raw


def read_table(source: Source, options: ReadOptions, *, tabs: bool = False) -> RawItems:
    """Read labels from CSV or TSV."""
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        roles = assign(TABLE_ROLES, rows.header, options, at(source.name, "line 1"))
        split = options.label_delimiter
        raw = _long(rows, roles) if split is None else _wide(rows, roles, split)
    row_is = "a label" if split is None else "an item"
    raw.understood = f"{'TSV' if tabs else 'CSV'}, one row {row_is}: "
    raw.understood += columns_used(rows.header, roles)
    raw.notes += columns_not_used(rows.header, roles) + rows.notes
    return raw


def _long(rows: Rows, roles: dict[str, int]) -> RawItems:
    table = LongTable(rows.name)
    share: dict[str, str] = {}  # one string for each label, however many rows have it
    for lines, batch in rows.batches():
        ids, labels, *scores = ([row[i] for row in batch] for i in roles.values())
        table.add(lines, ids, [share.setdefault(label, label) for label in labels], *scores)
    return table.finish()


def _wide(rows: Rows, roles: dict[str, int], split: str) -> RawItems:
    first: dict[str, int] = {}
    items: list[list[Any]] = []
    for lines, batch in rows.batches():
        for line, row in zip(lines, batch, strict=True):
            id_, *cells = (row[i] for i in roles.values())
            try:
                if first.setdefault(canonical_id(id_, ""), line) != line:
                    raise InputError(
                        f"the id is also in line {first[id_]}",
                        remedy="keep one row an id, or leave out label_delimiter "
                        "(--label-delimiter)",
                    )
                items.append(_wide_labels(*(cell.split(split) if cell else [] for cell in cells)))
            except InputError as error:
                raise placed(error, at(rows.name, f"line {line}", id_)) from None
    ids = list(first)
    places = Places(rows.name, ids, "line {}", list(first.values()))
    raw = RawItems(ids, items, places, rows.name)
    if empty := [labels for labels in items if not labels]:
        raw.notes.append(f"{counted(empty, 'item')} with an empty label cell: no labels")
    return raw


def _wide_labels(labels: list[str], scores: list[str] | None = None) -> list[Any]:
    if "" in labels:
        raise InputError("a label of the cell is empty", remedy="remove the extra delimiter")
    if scores is None:
        return labels
    return pair_scores(labels, [number(score, "") for score in scores], "")
