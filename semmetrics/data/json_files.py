"""Read JSON documents, JSON lines, and Python objects of the same shapes.

JSON is parsed strictly: repeated keys, NaN, lone surrogates and very deep nesting are errors.

A mapping has one item per id. A list has one item per position, or one per record. A record is an
object with an id, entries, and optionally a list of scores. Notes report other keys. If a form
has scores, an item may also be a mapping from entry to score, and a record may contain only one
entry of an item (see ``entry_records``).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain, islice
from numbers import Integral, Real
from typing import Any

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.data.form import Form
from semmetrics.data.formats import find_document
from semmetrics.data.input_columns import find_columns
from semmetrics.data.item_rows import ELEMENT, item_rows, without_blanks
from semmetrics.data.items import Items
from semmetrics.data.karpathy_files import as_coco_annotations, image_key
from semmetrics.data.read_options import ReadOptions, note_unused_options
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import ITEM, Fact, InputError, Places, format_place
from semmetrics.schema import not_a_number

_ELEMENT = re.compile(r"element \[(\d+)\]")
_RESULT_KEYS = ("image_id", "caption")
"""The keys of COCO results. COCO annotations also have an id."""
_STRING_OR_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
"""A string, or a constant that is not valid JSON, as the group."""
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
"""The escape sequence of one half of a surrogate pair."""


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, after checking that no key is repeated."""
    value = dict(pairs)
    if len(value) != len(pairs):
        check_once([key for key, _ in pairs], "duplicate", role="the key")
    return value


def _refuse_constant(name: str) -> Any:
    """Raise an error for NaN or Infinity, which json would accept. Its position is not known."""
    raise json.JSONDecodeError(f"{name} is not a JSON number", "", -1)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_make_object, parse_constant=_refuse_constant
)

_FIX_OF_CONSTANT = (
    "Write a number, or remove the entry. NaN usually comes from a missing value that "
    "pandas or json.dump wrote."
)
"""How to fix NaN and Infinity in JSON."""
_REASONS = {
    "Unterminated string starting at": "the string that starts here has no closing quote",
    "Invalid control character at": "a string contains a line break, a tab or another "
    "control character",
}
"""What is wrong, for messages of json that would end with the position."""
_FIXES = {
    "Unterminated string starting at": "Add the quote, or check whether the file is "
    "complete.",
    "Invalid control character at": "Write it as an escape sequence, such as \\n.",
}
"""How to fix the same errors."""


def parse(text: str, name: str, line: int = 1) -> Any:
    """Parse a JSON text.

    Parameters
    ----------
    text : str
    name : str
        The name of the file, for errors.
    line : int
        The line of the file on which the text begins.

    Raises
    ------
    InputError
        If the text is not strict JSON.

    Examples
    --------
    >>> parse('{"a": ["cat"], "a": []}', "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the key 'a' appears twice. Keep one.
    """
    try:
        return _decode(text)
    except InputError as error:
        problem = error
    except UnicodeEncodeError:
        problem = InputError("lone-surrogate", role="the string")
    except RecursionError:
        problem = InputError("not-json", why="it is nested too deeply")
    except json.JSONDecodeError as error:
        problem = _syntax_error(error, text, name, line)
    except ValueError:
        problem = InputError("not-json", why="an integer has thousands of digits")
    if problem.where:
        raise problem
    raise problem.placed(name if line == 1 else format_place(name, f"line {line}"))


def _decode(text: str) -> Any:
    """Decode a JSON text, after checking that its strings can be encoded as UTF-8."""
    value = _DECODER.decode(text)
    if _SURROGATE.search(text):
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _syntax_error(
    error: json.JSONDecodeError, text: str, name: str, first_line: int
) -> InputError:
    """Return the error for invalid JSON, with its line and column."""
    start = error.pos
    if start < 0:  # The decoder does not report the place of NaN and Infinity.
        start = _find_constant(text)
    line = first_line + text.count("\n", 0, start)
    column = start - text.rfind("\n", 0, start)
    place = format_place(name, f"line {line}, column {column}")
    # In a .json file with JSON lines, the decoder parses the first line and the rest is "extra".
    is_line_end = text[:start].rstrip(" \t\r").endswith("\n")
    if error.msg == "Extra data" and is_line_end:
        return InputError("json-lines", place, why=error.msg)
    if error.pos < 0:
        return InputError("not-json", place, why=error.msg, fix=_FIX_OF_CONSTANT)
    if error.msg in _REASONS:
        reason = _REASONS[error.msg]
        return InputError("not-json", place, why=reason, fix=_FIXES[error.msg])
    return InputError("not-json", place, why=error.msg)


def _find_constant(text: str) -> int:
    """Return the position of the first NaN or Infinity that is not in a string."""
    for match in _STRING_OR_CONSTANT.finditer(text):
        if match[1]:
            return match.start(1)
    raise ValueError("no constant")


def parse_source(source: Source) -> Any:
    """Parse a JSON file."""
    return parse(source.text, source.name)


def read_json(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read the items of a JSON file: a mapping, records, a list, or COCO annotations.

    Raises
    ------
    InputError
        If the file is not strict JSON, or contains something other than items.
    """
    value = source.parsed(parse_source)
    name = source.name
    source.forget()  # The value takes several times the memory of the file.
    if options.format != "coco":
        if isinstance(value, (dict, list)):
            return read_object(
                value, name, form, options, kind="JSON, ", place_format=ELEMENT
            )
        wanted = f'a JSON document such as {{"id": ["{form.noun}"]}}'
        raise InputError("wrong-type", name, value=value, wanted=wanted)
    if isinstance(value, dict) and form.coco is not None:
        return _read_annotations(value, name, form, options)
    if isinstance(value, list) and form.single:
        return read_object(
            value, name, form, options, kind="JSON, ", place_format=ELEMENT
        )
    raise InputError("wrong-type", name, value=value, wanted="an annotations file")


def read_object(
    value: Mapping[Any, Any] | Sequence[Any],
    name: str,
    form: Form,
    options: ReadOptions,
    *,
    kind: str = "",
    place_format: str = ITEM,
) -> Items:
    """Read the items of a mapping or a sequence.

    Parameters
    ----------
    value : mapping or sequence
        The ids of a mapping are strings.
    name : str
        The name of the input in messages.
    form : Form
    options : ReadOptions
    kind : str
        The format, for the description of how the input was read: "JSON, ".
    place_format : str
        The template for the place of an element.

    Raises
    ------
    InputError
        If an item, an id or a record is invalid.
    """
    public_format = find_document(value, form)
    if public_format is not None:
        items = public_format.read(value, name, form, options)
        items.notes += public_format.unused(options, form)
        return items
    if isinstance(value, Mapping):
        if form.coco is not None and form.is_coco(value):
            return _read_annotations(value, name, form, options)
        from semmetrics.data.record_shapes import find_records

        table = find_records(value, form, options, name)
        if table is not None:
            records = enumerate(table.records)
            items = _read_records(records, name, ELEMENT, form, options, kind)
            items.notes += table.notes
            return items
        items = _read_mapping(value, name, form)
    elif len(value) and isinstance(value[0], Mapping):
        return _read_records(enumerate(value), name, ELEMENT, form, options, kind)
    else:
        items = _read_by_position(value, name, form, place_format)
    items = _note_unused_columns(items, form, options)
    items.understood = f"{kind}{items.understood}"
    return items


def is_columns(
    value: Mapping[Any, Any], form: Form, options: ReadOptions, where: str
) -> bool:
    """Return whether a mapping is a table: columns of equal length, including ids and entries.

    Raises
    ------
    InputError
        If only a column of ids is missing.
    """
    columns = list(value.values())
    if not _may_be_columns(columns):
        return False
    names = list(map(str, value))
    folded_names = {name.strip().casefold() for name in names}
    role_names = _role_names(form)
    option_names = {options.column(role) for role in form.roles}
    if option_names.isdisjoint(names) and role_names.isdisjoint(folded_names):
        return False  # The keys are probably ids.
    try:
        positions = find_columns(form.table, names, options, where)
    except InputError:
        if role_names >= folded_names and _has_list_cell(columns):
            raise
        return False
    id_cells = columns[positions["id"]]
    return all(isinstance(cell, (str, Integral)) for cell in id_cells)


def _has_list_cell(columns: Iterable[Iterable[Any]]) -> bool:
    """Return whether a cell of a table is a list."""
    return any(isinstance(cell, (list, tuple)) for cell in chain(*columns))


def _role_names(form: Form) -> set[str]:
    """Return the known names of the columns of a table."""
    names: set[str] = set()
    for column in form.table.columns:
        names.update(column.known)
    return names


def _may_be_columns(values: list[Any]) -> bool:
    """Return whether all values are sequences or arrays of equal length."""
    types = set(map(type, values))
    if any(issubclass(kind, (str, Mapping, Set)) for kind in types):
        return False
    return _have_equal_lengths(values)


def _have_equal_lengths(columns: list[Any]) -> bool:
    """Return whether all values have a length, and the same one."""
    try:
        return len(set(map(len, columns))) == 1
    except TypeError:
        return False


def read_jsonl(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read JSON lines with one record per line.

    Raises
    ------
    InputError
        If a line is too long or not strict JSON, or if a record is invalid.
    """
    check_lines(source, options.max_line_bytes)
    notes: list[Fact] = []
    lines: Iterator[tuple[int, Any]] = json_lines(source, notes)
    first_line = next(lines, None)
    if first_line is not None:
        lines = chain([first_line], lines)
        public_format = find_document([first_line[1]], form)
        if public_format is not None:
            numbers, records = zip(*lines, strict=True)
            try:
                items = public_format.read(list(records), source.name, form, options)
            except InputError as error:
                raise _at_line(error, numbers) from None
            items.notes += public_format.unused(options, form) + notes
            return replace(items, where=_line_places(items.where, numbers))
    items = _read_records(lines, source.name, "line {}", form, options, "JSON lines, ")
    items.notes += notes
    return items


def _at_line(error: InputError, lines: Sequence[int]) -> InputError:
    """Replace the number of a record in the place of an error by the line of the record."""
    element = _ELEMENT.search(error.where)
    if element is None:
        return error
    before = error.where[: element.start()]
    after = error.where[element.end() :]
    where = f"{before}line {lines[int(element[1])]}{after}"
    return InputError(error.code, where, **error.values)


def _line_places(places: Places, lines: Sequence[int]) -> Places:
    """Replace the numbers of records by the lines of the file."""
    if places.place_format != ELEMENT:
        return places
    numbers = [lines[number] for number in places.numbers]
    return replace(places, place_format="line {}", numbers=numbers)


def json_lines(source: Source, notes: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each JSON line.

    After the last line, a note on blank lines between others is added to ``notes``.
    """
    lines = enumerate(text_lines(source.text), 1 + source.offset.n_lines)
    for line, text in without_blanks(lines, str.isspace, notes, "records"):
        yield line, parse(text, source.name, line)


def _read_mapping(value: Mapping[Any, Any], name: str, form: Form) -> Items:
    """Read a mapping from ids to items."""
    if "" in value:
        raise InputError("empty-id", format_place(name, "key ''"))
    ids = list(value)
    items = Items(ids, list(value.values()), Places(name, ids), name)
    n_mappings, value_kind = pair_mappings(items, form)
    if n_mappings and n_mappings == len(ids):
        item_shape = f"{{{form.noun}: {value_kind}}}"
    elif _are_single_entries(items.items, form):
        item_shape = form.noun
        items.has_single_entries = True
    else:
        item_shape = f"[{form.noun}s]"
    items.understood = f"{{id: {item_shape}}}"
    if 0 < n_mappings < len(ids):
        values = {"noun": form.noun}
        items.notes.append(Fact("scores-and-lists", n_mappings, values=values))
    return items


def pair_mappings(items: Items, form: Form) -> tuple[int, str]:
    """Replace mappings from entry to number by lists of pairs.

    The values of a mapping are either 0 or 1, which mean whether an item has the entry as in a row
    of a 0/1 matrix, or scores. They are 0/1 if every item is a mapping, all values are 0 or 1, and
    some are booleans. If scores are only 0 and 1, `Lists.chosen` decides later what they mean.

    Returns
    -------
    int
        The number of mappings.
    str
        The kind of their values: "0/1" or "score".
    """
    if not form.scored or not _has_mapping(items.items):
        return 0, "score"
    pairs = list(items.items)
    rows = [row for row, item in enumerate(pairs) if isinstance(item, Mapping)]
    values: list[Any] = []
    for row in rows:
        values.extend(pairs[row].values())
    value_types = set(map(type, values))
    if len(rows) == len(pairs) and _are_memberships(values, value_types):
        items.order = "keys"
        items.items = list(map(_pairs_of_memberships, pairs))
        return len(rows), "0/1"
    for row in rows:
        item = pairs[row]
        if not value_types <= {int, float}:
            item = _check_scores(item, form, items.where(row))
        pairs[row] = list(item.items())
    items.items = pairs
    return len(rows), "score"


def _has_mapping(items: Sequence[Any]) -> bool:
    """Return whether an item is a mapping."""
    # Few distinct types are tested faster than many items.
    return any(issubclass(kind, Mapping) for kind in set(map(type, items)))


def _pairs_of_memberships(item: Mapping[Any, Any]) -> list[tuple[Any, int]]:
    """Return the entries of an item, each with 0 or 1."""
    return [(entry, int(value)) for entry, value in item.items()]


def _are_memberships(values: Sequence[Any], value_types: Set[type]) -> bool:
    """Return whether all values are 0, 1 or booleans, and some are booleans."""
    if value_types.isdisjoint((bool, np.bool_)):
        return False
    if not all(issubclass(kind, (Real, np.bool_)) for kind in value_types):
        return False
    return all(value in (0, 1) for value in values)


def _check_scores(item: Mapping[Any, Any], form: Form, where: str) -> dict[Any, Any]:
    """Return a mapping from entry to number, with nan for null if the form allows nan.

    Raises
    ------
    InputError
        If a value is not a number.
    """
    numbers = {}
    for entry, score in item.items():
        value = math.nan if score is None and form.allows_nan else score
        if isinstance(value, bool) or not isinstance(value, Real):
            raise not_a_number("the score", value, where)
        numbers[entry] = value
    return numbers


def _are_single_entries(items: Sequence[Any], form: Form) -> bool:
    """Return whether items are single entries instead of lists, judging by the first item."""
    if not form.single or len(items) == 0:
        return False
    if form.single_integers:
        return isinstance(items[0], (str, Integral))
    return isinstance(items[0], str)


def _read_by_position(
    value: Sequence[Any], name: str, form: Form, place_format: str
) -> Items:
    """Read a sequence of items without ids."""
    places = Places(name, None, place_format, range(len(value)))
    items = Items(None, value, places, name)
    _check_no_mapping(items, form, places)
    if len(value) and all(map(_is_id_tuple, value)):
        raise InputError("id-pairs", name, noun=form.noun)
    if form.scored and _are_id_pairs(value):
        raise InputError("id-pairs", name, noun=form.noun)
    item_shape = f"[{form.noun}s]"
    if not _are_single_entries(value, form):
        item_shape = f"[{item_shape}]"
    items.understood = f"{item_shape} by position"
    return items


def _check_no_mapping(items: Items, form: Form, places: Places) -> None:
    """Raise an error if an item is a mapping, such as a record among lists."""
    if form.single:
        return
    mapping_types = [kind for kind in items.types if issubclass(kind, Mapping)]
    if not mapping_types:
        return
    for row, item in enumerate(items.items):
        if type(item) in mapping_types:
            wanted = f"a list of {form.noun}s, as other items have"
            raise InputError("wrong-type", places(row), value=item, wanted=wanted)


def _is_id_tuple(item: Any) -> bool:
    """Return whether an item is a tuple of an id and a collection of entries."""
    if not isinstance(item, tuple) or len(item) != 2:
        return False
    has_id = isinstance(item[0], (str, Integral))
    return has_id and isinstance(item[1], (list, tuple, Set, Mapping))


def _are_id_pairs(items: Sequence[Any]) -> bool:
    """Return whether items are lists of an id and a list: ``[["a.jpg", ["cat", "dog"]], ...]``.

    An item may also be a label and a label with synonyms, but then the first labels of all items
    would hardly be distinct.
    """
    if len(items) < 2:
        return False
    for item in items:
        is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)
        if not is_pair or not isinstance(item[1], list):
            return False
    return len({item[0] for item in items}) == len(items)


def _read_annotations(
    value: Mapping[Any, Any], name: str, form: Form, options: ReadOptions
) -> Items:
    """Read COCO annotations, or a public format that can be converted to them."""
    key = image_key(value, options)
    annotations, understood = as_coco_annotations(value, options.split, name, key)
    items: Items = form.coco(annotations, name)  # type: ignore[misc]
    if understood:
        items.understood = understood
        items.has_splits = True
    if key is not None:
        options = replace(options, id_column=None)
    return _note_unused_columns(items, form, options)


def _note_unused_columns(items: Items, form: Form, options: ReadOptions) -> Items:
    """Add a note on options that name columns, because the input has no columns."""
    column_options = [f"{role}_column" for role in form.roles]
    items.notes += note_unused_options(options, column_options, items.understood)
    return items


def _is_one_caption(item: Any) -> bool:
    """Return whether an item is a list of a single string, as each item of COCO results is."""
    return isinstance(item, list) and len(item) == 1 and isinstance(item[0], str)


def _read_records(
    records: Iterable[tuple[int, Any]],
    name: str,
    place_format: str,
    form: Form,
    options: ReadOptions,
    kind: str,
) -> Items:
    """Read numbered records with an id, entries, and optionally scores."""
    from semmetrics.data.entry_records import is_one_entry, read_entries

    records = iter(records)
    first_records = list(islice(records, 1))
    records = chain(first_records, records)
    if first_records and is_one_entry(first_records[0][1], form, options):
        return read_entries(
            records, name, place_format, form, options, kind.removesuffix(", ")
        )
    reader = _RecordReader(form, options)
    items = item_rows(records, reader.read, name, form, place_format)
    _, value_kind = pair_mappings(items, form)
    suffix = ", 0/1" if value_kind == "0/1" else ""
    items.understood = f"{kind}one record {items.understood}{suffix}"
    is_results = set(reader.keys_in_use) == {_RESULT_KEYS}
    if is_results and all(map(_is_one_caption, items.items)):
        items.content = "results"
    unused_keys = tuple(reader.unused_keys)
    if unused_keys:
        items.notes.append(Fact("unused-columns", len(unused_keys), unused_keys))
    return items


class _RecordReader:
    """Read the id, the entries and the scores of records.

    Attributes
    ----------
    keys_in_use : dict of tuple to list
        The keys of id, entries and scores (if any), by the tuple of all keys of a record.
    unused_keys : dict of str to None
        All keys without a role in order of appearance, as an ordered set.
    """

    def __init__(self, form: Form, options: ReadOptions) -> None:
        self.keys_in_use: dict[tuple[Any, ...], list[Any]] = {}
        self.unused_keys: dict[str, None] = {}
        self._form = form
        self._options = options

    def read(self, record: Any) -> list[Any]:
        """Return the id, the entries and the scores (if any) of a record."""
        if not isinstance(record, Mapping):
            example = f'a record such as {{"id": "7", "{self._form.keys[0]}": ...}}'
            raise InputError("wrong-type", value=record, wanted=example)
        keys = tuple(record)
        used = self.keys_in_use.get(keys)
        if used is None:
            if self._has_only_scores(record):
                raise InputError("scores-without-ids", noun=self._form.noun)
            used = self._find_keys(keys)
        return [record[key] for key in used]

    def _has_only_scores(self, record: Mapping[Any, Any]) -> bool:
        """Return whether a record is probably ``{entry: score}``, without an id."""
        if not record or not self._form.scored:
            return False
        option_names = [self._options.column(role) for role in self._form.roles]
        if any(name is not None for name in option_names):
            return False
        id_column, entry_column, *score_columns = self._form.table.columns
        usual_names = {name for column in score_columns for name in column.known}
        usual_names.update(id_column.known)
        if self._form.integers_as_names:
            usual_names.update(entry_column.known)  # The number may be the entry.
        for key, value in record.items():
            if str(key).strip().casefold() in usual_names:
                return False
            if value is not None and not isinstance(value, Real | np.bool_):
                return False
        return any(value is not None for value in record.values())

    def _find_keys(self, keys: tuple[Any, ...]) -> list[Any]:
        """Find and store the keys with a role, among the keys of a record."""
        names = list(map(str, keys))
        positions = find_columns(self._form.record, names, self._options, "")
        used = [keys[position] for position in positions.values()]
        self.keys_in_use[keys] = used
        for key in keys:
            if key not in used:
                self.unused_keys[str(key)] = None
        return used
