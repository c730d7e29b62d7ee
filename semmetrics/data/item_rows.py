"""Gather rows of tables and records into items.

Conventions
-----------
A row has an id, its entries, and perhaps their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from semmetrics.data.cells import may_be_structured, pair_lists
from semmetrics.data.entries import not_a_list
from semmetrics.data.form import Form
from semmetrics.data.items import Items
from semmetrics.errors import MAX_EXAMPLES, Fact, InputError, Places, format_place
from semmetrics.messages import counted
from semmetrics.schema import as_id, not_a_number

ELEMENT = "element [{}]"
"""The place of a record in a JSON array."""
T = TypeVar("T")


def without_blanks(
    rows: Iterable[tuple[int, T]],
    is_blank: Callable[[T], bool],
    notes: list[Any],
    between: str,
) -> Iterator[tuple[int, T]]:
    """Yield the rows that are not blank, with their lines.

    A note reports blank rows between others. Blank rows at the end are ignored.

    Parameters
    ----------
    rows : iterable of (line, row)
    is_blank : callable
    notes : list
        The note is appended after the last row.
    between : str
        Noun for the rows, for the note.
    """
    first_blank_line = 0
    n_blank = 0
    n_blank_since_row = 0
    for line, row in rows:
        if is_blank(row):
            first_blank_line = first_blank_line or line
            n_blank_since_row += 1
        else:
            n_blank += n_blank_since_row
            n_blank_since_row = 0
            yield line, row
    if n_blank:
        values = {"between": between}
        notes.append(
            Fact("blank-lines", n_blank, (str(first_blank_line),), values=values)
        )


def pair_scores(entries: Any, scores: Any, form: Form) -> list[Any]:
    """Return pairs of an entry and its score from two lists, which may be written as text.

    Raises
    ------
    InputError
        If one of them is not a list, they have different lengths, or a score is a string.
    """
    are_written = isinstance(entries, str) and isinstance(scores, str)
    if are_written and may_be_structured(scores):
        return list(pair_lists(entries, scores))
    if isinstance(entries, Mapping):
        raise InputError("scored-twice", noun=form.noun)
    if not isinstance(entries, (list, tuple)):
        raise not_a_list(entries, form)
    if not isinstance(scores, (list, tuple)):
        wanted = f"a list with one score for each {form.noun}"
        raise InputError("wrong-type", value=scores, wanted=wanted)
    if len(scores) != len(entries):
        wanted = counted(entries, form.noun)
        raise InputError("wrong-count", found=counted(scores, "score"), wanted=wanted)
    for score in scores:
        # A pair of two strings would later be read as a label and its synonym.
        if isinstance(score, str):
            raise not_a_number("the score", score)
    return list(zip(entries, scores, strict=True))


def row_notes(empty: int, scattered: Sequence[str], form: Form) -> list[Fact]:
    """Return notes on empty cells, and on ids whose rows are not consecutive.

    Parameters
    ----------
    empty : int
        Number of items with an empty cell.
    scattered : sequence of str
        Ids whose rows are not consecutive.
    form : Form
    """
    notes = []
    if empty:
        notes.append(Fact("empty-cells", empty, values={"noun": form.noun}))
    if scattered:
        examples = tuple(scattered[:MAX_EXAMPLES])
        notes.append(Fact("scattered-rows", len(scattered), examples))
    return notes


def item_rows(
    rows: Iterable[tuple[int, T]],
    read: Callable[[T], Iterable[Any]],
    name: str,
    form: Form,
    place_format: str,
) -> Items:
    """Gather items from rows with one item each.

    If the form allows it, rows that contain a single string are gathered by id.

    Parameters
    ----------
    rows : iterable of (place, row)
        The place is the number of the line or element.
    read : callable
        Returns the id of a row, its entries, and perhaps their scores.
    name : str
        Name of the input.
    form : Form
    place_format : str
        How messages write a place: "line {}".

    Raises
    ------
    InputError
        If a row is invalid or its id occurs twice. The message names the row.
    """
    collector = _ItemCollector(form, place_format)
    for place, row in rows:
        row_id: str | None = None
        try:
            cells = iter(read(row))
            row_id = as_id(next(cells))
            entries, *scores = cells
            if scores:
                entries = pair_scores(entries, scores[0], form)
            if form.single and not scores and isinstance(entries, str):
                collector.add_string(place, row_id, entries)
            else:
                collector.add(place, row_id, entries)
        except InputError as error:
            raise error.placed(
                format_place(name, place_format.format(place), row_id)
            ) from None
    return collector.finish(name)


class _ItemCollector:
    """The items of the rows so far.

    Parameters
    ----------
    form : Form
    place_format : str
        How messages write a place.
    """

    def __init__(self, form: Form, place_format: str) -> None:
        self._form = form
        self._place_format = place_format
        self._first_places: dict[str, int] = {}
        self._items: list[Any] = []
        # The items whose rows contain single strings.
        self._strings_by_id: dict[str, list[str]] = {}
        # The ids with rows that are not consecutive.
        self._scattered: set[str] = set()
        self._previous_id: str | None = None

    def add(self, place: int, row_id: str, entries: Any) -> None:
        """Add a row that contains a whole item.

        Raises
        ------
        InputError
            If the id occurs twice. The error has no place.
        """
        self._previous_id = row_id
        first_place = self._first_places.setdefault(row_id, place)
        if first_place != place:
            other = self._place_format.format(first_place)
            raise InputError("duplicate-at", role="the id", other=other)
        self._items.append(entries)

    def add_string(self, place: int, row_id: str, text: str) -> None:
        """Add a row that contains one entry of an item."""
        strings = self._strings_by_id.get(row_id)
        if strings is None:
            strings = [text]
            self._strings_by_id[row_id] = strings
            self.add(place, row_id, strings)
            return
        strings.append(text)
        if row_id != self._previous_id:
            self._scattered.add(row_id)
            self._previous_id = row_id

    def finish(self, name: str) -> Items:
        """Return the items of all rows."""
        ids = list(self._first_places)
        places = Places(
            name, ids, self._place_format, list(self._first_places.values())
        )
        items = Items(ids, self._items, places, name, "per item")
        if self._form.single and len(self._strings_by_id) == len(ids):
            items.understood = f"per {self._form.noun}"
        if self._place_format != ELEMENT:
            # The order of the records in a JSON document has no meaning.
            scattered_ids = [item_id for item_id in ids if item_id in self._scattered]
            items.notes += row_notes(0, scattered_ids, self._form)
        return items
