"""Read CSV and TSV files with one row per entry or one row per item.

The first line is a header. With one row per entry, the rows of an id are merged in file order. If
entries cannot be blank, a row with an empty entry means that the item has no entries, and it must
be the only row of its id. With a ``label_delimiter`` each row is an item, and an empty cell is an
item without entries. Cells are used exactly as they are, spaces included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from semmetrics.data.cells import CutListError, are_lists_of_scores, pair_lists
from semmetrics.data.csv_rows import Rows, field_limit
from semmetrics.data.form import Form
from semmetrics.data.input_columns import find_columns
from semmetrics.data.item_rows import item_rows, row_notes
from semmetrics.data.items import Items
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import Fact, InputError, Places, at
from semmetrics.messages import pluralize, shown
from semmetrics.schema import as_number

T = TypeVar("T", Items, Lists)


def entry_rows(
    batches: Iterable[Sequence[Any]], name: str, form: Form, unit: str
) -> Items:
    """Gather items from rows with one entry each. The rows of an id are one item.

    Parameters
    ----------
    batches : iterable of (places, ids, entries) or (places, ids, entries, scores)
        Columns of some rows. Scores are numbers or strings.
    name : str
        The name of the input in messages.
    form : Form
    unit : str
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
    for places, ids, entries, *score_columns in _spread_lists(batches, name, unit):
        if "" in ids:
            place = places[list(ids).index("")]
            raise InputError("empty-id", at(name, unit.format(place)))
        pairs = entries
        if score_columns:
            scores = score_columns[0]
            pairs = _pair_columns(places, ids, entries, scores, name, form, unit)
        groups.add_empty(places, ids, entries)
        groups.add(places, ids, pairs)
    return groups.finish(name, unit)


class _ItemGroups:
    """Entries gathered by the id of their item."""

    def __init__(self, form: Form) -> None:
        self._form = form
        self._groups: dict[str, list[Any]] = {}
        self._first_places: list[int] = []
        # The first place of an empty entry of each id, ordered by the id's last empty entry.
        self._empty_places: dict[str, int] = {}
        self._scattered_ids: set[str] = set()
        self._previous_id: str | None = None

    def add_empty(
        self, places: Sequence[int], ids: Sequence[str], entries: Sequence[Any]
    ) -> None:
        """Remember the places of empty entries, which mean that an item has no entries."""
        if self._form.blank or "" not in entries:
            return
        for place, id_, entry in zip(places, ids, entries, strict=True):
            if entry == "":
                first_place = self._empty_places.pop(id_, place)
                self._empty_places[id_] = first_place

    def add(
        self, places: Sequence[int], ids: Sequence[str], entries: Sequence[Any]
    ) -> None:
        """Add rows with one entry each, or with a pair of entry and score."""
        groups = self._groups
        previous_id = self._previous_id
        group = [] if previous_id is None else groups[previous_id]
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

    def finish(self, name: str, unit: str) -> Items:
        """Return the items.

        Raises
        ------
        InputError
            If an item with an empty entry has several rows.
        """
        groups = self._groups
        for id_, place in reversed(self._empty_places.items()):
            n_rows = len(groups[id_])
            if n_rows > 1:
                where = at(name, unit.format(place), id_)
                noun = self._form.noun
                raise InputError("empty-cell", where, noun=noun, n=n_rows)
            groups[id_] = []
        ids = list(groups)
        places = Places(name, ids, unit, self._first_places)
        items = Items(ids, list(groups.values()), places, name)
        scattered = [id_ for id_ in ids if id_ in self._scattered_ids]
        items.notes += row_notes(len(self._empty_places), scattered, self._form)
        return items


def _pair_columns(
    places: Any, ids: Any, entries: Any, scores: Any, name: str, form: Form, unit: str
) -> list[tuple[Any, float]]:
    """Return pairs of entry and score. An empty entry, for an item without entries, gets 0.

    Raises
    ------
    InputError
        If a score is not a number, or an empty entry has a score.
    """

    def where(row: int) -> str:
        return at(name, unit.format(places[row]), ids[row])

    if not form.blank and "" in entries:
        filled_scores = []
        for row, (entry, score) in enumerate(zip(entries, scores, strict=True)):
            if entry != "":
                filled_scores.append(score)
                continue
            if score not in ("", None):
                raise InputError("score-alone", where(row), noun=form.noun)
            filled_scores.append(0.0)
        scores = filled_scores
    numbers = form.table.columns[2].values(scores, where)
    return list(zip(entries, numbers, strict=True))


def _spread_lists(
    batches: Iterable[Sequence[Any]], name: str, unit: str
) -> Iterator[Any]:
    """Yield batches of rows with one entry each, also if cells are lists of labels and scores.

    The first score that is not empty decides. A row with empty lists gets one empty entry.
    """
    is_first = True
    has_lists = False
    for batch in batches:
        if is_first and len(batch) == 4:
            has_lists = are_lists_of_scores(batch[3])
            is_first = False
        if has_lists:
            yield _spread_batch(batch, name, unit)
        else:
            yield batch


def _spread_batch(batch: Sequence[Any], name: str, unit: str) -> list[list[Any]]:
    """Return the columns of a batch (places, ids, entries, scores) with a row for each entry."""
    places: list[Any] = []
    ids: list[Any] = []
    entries: list[Any] = []
    scores: list[Any] = []
    for place, id_, label_cell, score_cell in zip(*batch, strict=True):
        where = at(name, unit.format(place), id_)
        try:
            pairs: list[tuple[Any, Any]] = [*pair_lists(label_cell, score_cell or "")]
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
    return [places, ids, entries, scores]


def split_text(several: int, rows: int, split: str) -> str:
    """Describe how many cells were split.

    The reader can then notice a delimiter that is part of a label on one of the two sides.
    """
    sign = "a tab" if split == "\t" else repr(split)
    return f", split at {sign} in {several:,} of {pluralize(rows, 'row')}"


def read_table(
    source: Source, form: Form, options: ReadOptions, *, tabs: bool = False
) -> Items:
    """Read a CSV or TSV file, with one row per item if there is a label delimiter.

    Raises
    ------
    InputError
        If the file is not CSV, a column is missing, or a cell is invalid.
    """
    split = options.label_delimiter if form.scored else None
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        where = at(source.name, "line 1")
        roles = find_columns(form.table, rows.header, options, where)
        if split is None:
            batches = _column_batches(rows, roles.values())
            items = entry_rows(batches, rows.name, form, "line {}")
        else:
            splitter = _CellSplitter(list(roles.values()), split, form)
            items = item_rows(rows, splitter.split_row, source.name, form, "line {}")
            n_empty = sum(not item for item in items.items)
            items.notes += row_notes(n_empty, (), form)
    kind = "TSV" if tabs else "CSV"
    items = describe_table(items, kind, rows.header, roles, form, split is not None)
    items.notes += rows.notes
    if split is not None:
        n_split = sum(len(item) > 1 for item in items.items)
        items.understood += split_text(n_split, len(items.items), split)
    return items


class _CellSplitter:
    """Split the cells of rows at a label delimiter.

    Parameters
    ----------
    places : list of int
        The columns of ids, entries and scores (if any).
    delimiter : str
    form : Form
    """

    def __init__(self, places: list[int], delimiter: str, form: Form) -> None:
        self._places = places
        self._delimiter = delimiter
        self._form = form

    def split_row(self, row: list[str]) -> Iterator[Any]:
        """Yield the id of a row, the list of its entries, and the list of their scores (if any).

        The id comes before any check of other cells, so that errors can name it.
        """
        id_place, entry_place, *score_places = self._places
        yield row[id_place]
        entries = self._split(row[entry_place])
        if "" in entries:
            role = f"a {self._form.noun} of the cell"
            remedy = "remove the extra delimiter"
            raise InputError("empty", role=role, remedy=remedy)
        yield entries
        for place in score_places:
            yield [as_number(score, "the score") for score in self._split(row[place])]

    def _split(self, cell: str) -> list[str]:
        return cell.split(self._delimiter) if cell else []


def describe_table(
    found: T,
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
    found : Items or Lists
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
    used = ", ".join(f"{role} {names[place]!r}" for role, place in roles.items())
    row_noun = "item" if wide else form.noun
    notes: list[Fact] = list(found.notes)
    used_places = set(roles.values())
    unused = [name for place, name in enumerate(names) if place not in used_places]
    if unused:
        notes.append(Fact("unused-columns", len(unused), tuple(unused)))
    return replace(
        found,
        understood=f"{kind}, one row per {row_noun}: {used}",
        notes=notes,
        column_names={role: names[place] for role, place in roles.items()},
    )


def _column_batches(rows: Rows, places: Iterable[int]) -> Iterator[tuple[Any, ...]]:
    """Yield lines, ids, entries and scores (if any) of many rows at once."""
    # One string object for each distinct label saves memory.
    interned: dict[str, str] = {}
    id_place, entry_place, *score_places = places
    for lines, batch in rows.batches():
        ids = [row[id_place] for row in batch]
        cells = [row[entry_place] for row in batch]
        entries = [interned.setdefault(cell, cell) for cell in cells]
        if score_places:
            score_place = score_places[0]
            yield lines, ids, entries, [row[score_place] for row in batch]
        else:
            yield lines, ids, entries
