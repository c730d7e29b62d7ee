"""Read CSV and TSV files with one row per entry or one row per item.

The first line is a header. With one row per entry, the rows of an id are merged in file order. A
row with an empty entry means that the item has no entries, and it must be the only row of its id.
Only captions may be empty strings themselves. With a ``label_delimiter`` each row is an item, and an
empty cell is an item without entries. Cells are used exactly as they are, spaces included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from semmetrics.data.cells import CutListError, are_lists_of_scores, pair_lists
from semmetrics.data.csv_rows import Rows, field_limit
from semmetrics.data.form import Form
from semmetrics.data.input_columns import find_columns
from semmetrics.data.item_rows import item_rows, row_notes
from semmetrics.data.items import Items
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import Fact, InputError, Places, format_place
from semmetrics.messages import pluralize, shown
from semmetrics.schema import as_number

T = TypeVar("T", Items, Lists)
_LINE = "line {}"
"""The place of a row in messages."""


class _EntryRows(NamedTuple):
    """Columns of some rows with one entry each.

    Attributes
    ----------
    places : sequence of int
        The line of each row, or its number.
    ids, entries : sequence of str
    scores : sequence of number or str, optional
    """

    places: Sequence[int]
    ids: Sequence[str]
    entries: Sequence[Any]
    scores: Sequence[Any] | None = None


def entry_rows(
    batches: Iterable[Sequence[Any]], name: str, form: Form, place_format: str
) -> Items:
    """Gather items from rows with one entry each. The rows of an id are one item.

    Parameters
    ----------
    batches : iterable of (places, ids, entries) or (places, ids, entries, scores)
        Columns of some rows. Scores are numbers or strings.
    name : str
        The name of the input in messages.
    form : Form
    place_format : str
        The template for the place of a row: "line {}".

    Raises
    ------
    InputError
        If an id is empty, a score is invalid, or an empty entry has a score or other entries next
        to it.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> rows = [([2, 3, 4], ["a", "b", "a"], ["x", "y", "z"])]
    >>> entry_rows(rows, "gt.csv", form, "line {}").items
    [['x', 'z'], ['y']]
    """
    groups = _ItemGroups(form)
    for rows in _spread_lists(batches, name, place_format):
        places, ids, entries, scores = rows
        if "" in ids:
            place = places[list(ids).index("")]
            raise InputError("empty-id", format_place(name, place_format.format(place)))
        groups.note_empty_entries(rows)
        if scores is None:
            groups.add(places, ids, entries)
        else:
            pairs = _pair_columns(rows, scores, name, form, place_format)
            groups.add(places, ids, pairs)
    return groups.finish(name, place_format)


class _ItemGroups:
    """Entries gathered by the id of their item."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._groups: dict[str, list[Any]] = {}
        self._first_places: list[int] = []
        # The place of the first empty entry of each id, in the order of the last empty entries.
        self._empty_places: dict[str, int] = {}
        self._scattered_ids: set[str] = set()
        self._previous_id: str | None = None
        self._previous_group: list[Any] = []

    def note_empty_entries(self, rows: _EntryRows) -> None:
        """Store the places of empty entries, which mean that an item has no entries."""
        if self._form.allows_empty or "" not in rows.entries:
            return
        for place, id_, entry in zip(rows.places, rows.ids, rows.entries, strict=True):
            if entry == "":
                # Removing the id first moves it to the end.
                first_place = self._empty_places.pop(id_, place)
                self._empty_places[id_] = first_place

    def add(
        self, places: Sequence[int], ids: Sequence[str], entries: Sequence[Any]
    ) -> None:
        """Add rows with one entry each, or with a pair of entry and score."""
        groups = self._groups
        previous_id = self._previous_id
        group = self._previous_group
        for place, id_, entry in zip(places, ids, entries, strict=True):
            if id_ != previous_id:
                previous_id = id_
                if id_ in groups:
                    self._scattered_ids.add(id_)
                else:
                    self._first_places.append(place)
                group = groups.setdefault(id_, [])
            group.append(entry)
        self._previous_id = previous_id
        self._previous_group = group

    def finish(self, name: str, place_format: str) -> Items:
        """Return the items.

        Raises
        ------
        InputError
            If an item with an empty entry has several rows.
        """
        groups = self._groups
        # Of several wrong items, the error names the one whose empty entry comes last.
        for id_, place in reversed(self._empty_places.items()):
            n_rows = len(groups[id_])
            if n_rows > 1:
                where = format_place(name, place_format.format(place), id_)
                noun = self._form.noun
                raise InputError("empty-cell", where, noun=noun, n=n_rows)
            groups[id_] = []
        ids = list(groups)
        places = Places(name, ids, place_format, self._first_places)
        items = Items(ids, list(groups.values()), places, name)
        scattered = [id_ for id_ in ids if id_ in self._scattered_ids]
        items.notes += row_notes(len(self._empty_places), scattered, self._form)
        return items


def _pair_columns(
    rows: _EntryRows, scores: Sequence[Any], name: str, form: Form, place_format: str
) -> list[tuple[Any, float]]:
    """Return pairs of entry and score. The empty entry of an item without entries gets 0.

    Raises
    ------
    InputError
        If a score is not a number, or an empty entry has a score.
    """

    def place_of(row: int) -> str:
        return format_place(name, place_format.format(rows.places[row]), rows.ids[row])

    if not form.allows_empty and "" in rows.entries:
        filled_scores = []
        for row, (entry, score) in enumerate(zip(rows.entries, scores, strict=True)):
            if entry != "":
                filled_scores.append(score)
                continue
            if score not in ("", None):
                raise InputError("score-alone", place_of(row), noun=form.noun)
            filled_scores.append(0.0)
        scores = filled_scores
    _, _, score_column = form.table.columns
    numbers = score_column.values(scores, place_of)
    return list(zip(rows.entries, numbers, strict=True))


def _spread_lists(
    batches: Iterable[Sequence[Any]], name: str, place_format: str
) -> Iterator[_EntryRows]:
    """Yield batches of rows with one entry each. Cells with lists are spread over several rows.

    The first score in the first batch that is not empty tells whether cells are lists.
    """
    has_lists: bool | None = None
    for columns in batches:
        rows = _EntryRows(*columns)
        if rows.scores is None:
            yield rows
            continue
        if has_lists is None:
            has_lists = are_lists_of_scores(rows.scores)
        if has_lists:
            yield _spread_rows(rows, rows.scores, name, place_format)
        else:
            yield rows


def _spread_rows(
    rows: _EntryRows, score_cells: Sequence[Any], name: str, place_format: str
) -> _EntryRows:
    """Return a row for each entry of cells with lists. Empty lists become one empty entry."""
    places: list[Any] = []
    ids: list[Any] = []
    entries: list[Any] = []
    scores: list[Any] = []
    for place, id_, label_cell, score_cell in zip(
        rows.places, rows.ids, rows.entries, score_cells, strict=True
    ):
        where = format_place(name, place_format.format(place), id_)
        try:
            pairs: list[Any] = pair_lists(label_cell, score_cell or "")
        except InputError as error:
            raise error.placed(where) from None
        except CutListError:
            value = shown(label_cell)
            raise InputError("cut-list", where, noun="label", value=value) from None
        if not pairs:
            pairs = [("", "")]
        for label, score in pairs:
            places.append(place)
            ids.append(id_)
            entries.append(str(label))
            scores.append(score)
    return _EntryRows(places, ids, entries, scores)


def describe_splits(n_split: int, n_rows: int, delimiter: str) -> str:
    """Describe how many cells were split.

    The reader can then notice a delimiter that is part of a label on one of the two sides.
    """
    delimiter_text = "a tab" if delimiter == "\t" else repr(delimiter)
    return f", split at {delimiter_text} in {n_split:,} of {pluralize(n_rows, 'row')}"


def read_table(
    source: Source, form: Form, options: ReadOptions, *, tabs: bool = False
) -> Items:
    """Read a CSV or TSV file, with one row per item if there is a label delimiter.

    Raises
    ------
    InputError
        If the file is not CSV, a column is missing, or a cell is invalid.
    """
    delimiter = options.label_delimiter if form.scored else None
    is_split = delimiter is not None
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        where = format_place(source.name, "line 1")
        roles = find_columns(form.table, rows.header, options, where)
        columns = list(roles.values())
        if delimiter is None:
            batches = _column_batches(rows, columns)
            items = entry_rows(batches, source.name, form, _LINE)
        else:
            items = _split_rows(rows, columns, delimiter, form)
    kind = "TSV" if tabs else "CSV"
    items = describe_table(items, kind, rows.header, roles, form, wide=is_split)
    items.notes += rows.notes
    if delimiter is not None:
        n_split = sum(len(item) > 1 for item in items.items)
        items.understood += describe_splits(n_split, len(items.items), delimiter)
    return items


def _split_rows(rows: Rows, columns: list[int], delimiter: str, form: Form) -> Items:
    """Read rows with one item each, and split their cells at the delimiter."""
    splitter = _CellSplitter(columns, delimiter, form)
    items = item_rows(rows, splitter.split_row, rows.name, form, _LINE)
    n_empty = sum(not item for item in items.items)
    items.notes += row_notes(n_empty, (), form)
    return items


class _CellSplitter:
    """Split the cells of rows at a label delimiter.

    Parameters
    ----------
    columns : list of int
        The positions of the columns of ids, entries and scores (if any).
    delimiter : str
    form : Form
    """

    def __init__(self, columns: list[int], delimiter: str, form: Form) -> None:
        self._columns = columns
        self._delimiter = delimiter
        self._form = form

    def split_row(self, row: list[str]) -> Iterator[Any]:
        """Yield the id of a row, the list of its entries, and the list of their scores (if any).

        The id comes before any check of other cells, so that errors can name it.
        """
        id_column, entry_column, *score_columns = self._columns
        yield row[id_column]
        entries = self._split(row[entry_column])
        if "" in entries:
            role = f"a {self._form.noun} of the cell"
            remedy = "remove the extra delimiter"
            raise InputError("empty", role=role, remedy=remedy)
        yield entries
        for column in score_columns:
            scores = self._split(row[column])
            yield [as_number(score, "the score") for score in scores]

    def _split(self, cell: str) -> list[str]:
        if not cell:
            return []
        return cell.split(self._delimiter)


def describe_table(
    data: T,
    kind: str,
    names: Sequence[str],
    roles: Mapping[str, int],
    form: Form,
    wide: bool,
) -> T:
    """Return items or lists with a description of how the table was read.

    A note reports the columns without a role.

    Parameters
    ----------
    data : Items or Lists
    kind : str
        The format: "CSV".
    names : sequence of str
        The names of the columns.
    roles : mapping of str to int
        The position of the column for each role.
    form : Form
    wide : bool
        Whether a row is an item, not an entry.
    """
    name_by_role = {role: names[column] for role, column in roles.items()}
    used = ", ".join(f"{role} {name!r}" for role, name in name_by_role.items())
    row_noun = "item" if wide else form.noun
    notes: list[Fact] = list(data.notes)
    used_columns = set(roles.values())
    unused = [name for column, name in enumerate(names) if column not in used_columns]
    if unused:
        notes.append(Fact("unused-columns", len(unused), tuple(unused)))
    return replace(
        data,
        understood=f"{kind}, one row per {row_noun}: {used}",
        notes=notes,
        column_names=name_by_role,
    )


def _column_batches(rows: Rows, columns: Sequence[int]) -> Iterator[_EntryRows]:
    """Yield the ids, entries and scores (if any) of many rows at once."""
    # One string object for each distinct label saves memory.
    interned: dict[str, str] = {}
    id_column, entry_column, *score_columns = columns
    for lines, batch in rows.batches():
        ids = [row[id_column] for row in batch]
        cells = [row[entry_column] for row in batch]
        entries = [interned.setdefault(cell, cell) for cell in cells]
        scores = None
        if score_columns:
            scores = [row[score_columns[0]] for row in batch]
        yield _EntryRows(lines, ids, entries, scores)
