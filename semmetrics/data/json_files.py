"""JSON documents, JSON lines, and Python objects of the same shapes: by id, by position, records.

Conventions
-----------
JSON is strict: repeated keys, NaN, lone surrogates and endless nesting are errors.
A mapping has an item for each id, a list one for each position or record. A record is an object
with an id and its entries, and perhaps a list of scores beside them; keys of other names are said
in the notes. Where a form has scores, an item may also be a mapping from entry to score, and a
record may be one entry of an item (``entry_records``).
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
from semmetrics.data.form import Form, ReadOptions, find_columns, unused
from semmetrics.data.formats import find_document
from semmetrics.data.item_rows import ELEMENT, item_rows, without_blanks
from semmetrics.data.items import Items
from semmetrics.data.public import annotations_of, image_key
from semmetrics.data.source import Source, check_lines, text_lines
from semmetrics.errors import ITEM, Fact, InputError, Places, at

_ELEMENT = re.compile(r"element \[(\d+)\]")
_RESULT_KEYS = ("image_id", "caption")
"""The keys of COCO's results; its annotations have an id as well."""
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        check_once([key for key, _ in pairs], "duplicate", role="the key")
    return made


def _constant(name: str) -> Any:
    raise json.JSONDecodeError(f"{name} is not a JSON number", "", -1)


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def parse(text: str, name: str, line: int = 1) -> Any:
    """Parse a JSON text that begins at a line of the file called name.

    Examples
    --------
    >>> parse('{"a": ["cat"], "a": []}', "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the key 'a' appears twice; keep one
    """
    problem: InputError | None = None
    try:
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except InputError as error:
        problem = error
    except UnicodeEncodeError:
        problem = InputError("lone-surrogate", role="the text")
    except RecursionError:
        problem = InputError("not-json", why="it is nested too deeply")
    except json.JSONDecodeError as error:
        start, why = error.pos, error.msg
        if start < 0:  # NaN or Infinity, whose place the decoder does not tell
            start = next(match for match in _CONSTANT.finditer(text) if match[1]).start(
                1
            )
    except ValueError:
        problem = InputError("not-json", why="an integer has thousands of digits")
    if problem is not None:
        raise problem.placed(name if line == 1 else at(name, f"line {line}"))
    row, column = text.count("\n", 0, start), start - text.rfind("\n", 0, start)
    # Of JSON lines in a .json file the first is parsed and the rest is "extra".
    lines = why == "Extra data" and text[:start].rstrip(" \t\r").endswith("\n")
    place = at(name, f"line {line + row}, column {column}")
    raise InputError("json-lines" if lines else "not-json", place, why=why)


def parse_source(source: Source) -> Any:
    """Parse a JSON file."""
    return parse(source.text, source.name)


def read_json(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read the items of a JSON file: by mapping, records or position, or COCO annotations."""
    value, name, coco = (
        source.parsed(parse_source),
        source.name,
        options.format == "coco",
    )
    source.forget()  # the value takes several times the memory of the file
    if coco and isinstance(value, dict) and form.coco is not None:
        return _read_annotations(value, name, form, options)
    kinds: Any = (list,) * form.single if coco else (dict, list)
    if isinstance(value, kinds):
        return read_object(value, name, form, options, kind="JSON, ", unit=ELEMENT)
    wanted = (
        "an annotations file"
        if coco
        else f'a JSON document such as {{"id": ["{form.noun}"]}}'
    )
    raise InputError("wrong-type", name, value=value, wanted=wanted)


def read_object(
    value: Mapping[Any, Any] | Sequence[Any],
    name: str,
    form: Form,
    options: ReadOptions,
    *,
    kind: str = "",
    unit: str = ITEM,
) -> Items:
    """Read the items of a mapping or a sequence.

    Parameters
    ----------
    value : mapping or sequence
        A mapping has ids that are text.
    name : str
        What messages call it.
    form : Form
    options : ReadOptions
    kind : str
        What it was read from, for what was understood: "JSON, ".
    unit : str
        How the place of an element is written.
    """
    public_format = find_document(value, form)
    if public_format is not None:
        found = public_format.read(value, name, form, options)
        found.notes += public_format.unused(options, form)
        return found
    if isinstance(value, Mapping):
        if form.coco is not None and form.is_coco(value):
            return _read_annotations(value, name, form, options)
        from semmetrics.data.record_shapes import find_records

        records = find_records(value, form, options)
        if records is not None:
            return _read_records(enumerate(records), name, ELEMENT, form, options, kind)
        return _noting_columns(_by_id(value, name, form, kind), form, options)
    if len(value) and isinstance(value[0], Mapping):
        return _read_records(enumerate(value), name, ELEMENT, form, options, kind)
    return _noting_columns(_by_position(value, name, form, kind, unit), form, options)


def is_columns(
    value: Mapping[Any, Any], form: Form, options: ReadOptions, where: str
) -> bool:
    """Tell whether a mapping is a table: columns of ids and of entries, of the same length.

    Raises
    ------
    InputError
        If all that lacks is a column of ids.
    """
    columns = list(value.values())
    others = (str, Mapping, Set)  # a set has no order
    if any(issubclass(kind, others) for kind in set(map(type, columns))):
        return False
    try:
        if len(set(map(len, columns))) != 1:
            return False
    except TypeError:  # without a length
        return False
    names = list(map(str, value))
    folded = {name.strip().casefold() for name in names}
    known = {name for column in form.table.columns for name in column.known}
    named = {options.column(role) for role in form.roles}
    if named.isdisjoint(names) and known.isdisjoint(folded):
        return False  # of ids, as a rule
    try:
        roles = find_columns(form.table, names, options, where)
    except InputError:
        if known >= folded and any(
            isinstance(e, (list, tuple)) for e in chain(*columns)
        ):
            raise
        return False  # of other names
    return all(isinstance(id_, (str, Integral)) for id_ in columns[roles["id"]])


def read_jsonl(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read JSON records, one a line."""
    check_lines(source, options.max_line_bytes)
    notes = list[Fact]()
    lines: Iterator[tuple[int, Any]] = json_lines(source, notes)
    first = next(lines, None)
    if first is not None:
        lines = chain([first], lines)
        public_format = find_document([first[1]], form)
        if public_format is not None:
            numbers, records = zip(*lines, strict=True)
            try:
                found = public_format.read(list(records), source.name, form, options)
            except InputError as error:
                raise _at_line(error, numbers) from None
            found.notes += public_format.unused(options, form) + notes
            return replace(found, where=_line_places(found.where, numbers))
    found = _read_records(lines, source.name, "line {}", form, options, "JSON lines, ")
    found.notes += notes
    return found


def _at_line(error: InputError, lines: Sequence[int]) -> InputError:
    """Return an error of a format with the line of a record in place of its number."""
    element = _ELEMENT.search(error.where)
    if element is None:
        return error
    before, after = error.where[: element.start()], error.where[element.end() :]
    where = f"{before}line {lines[int(element[1])]}{after}"
    return InputError(error.code, where, **error.values)


def _line_places(places: Places, lines: Sequence[int]) -> Places:
    """Return the places of records that a format has numbered, as lines of the file."""
    if places.unit != ELEMENT:
        return places
    return replace(
        places, unit="line {}", numbers=[lines[number] for number in places.numbers]
    )


def json_lines(source: Source, notes: list[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines and their lines; blank ones between are noted at the end."""
    lines = enumerate(text_lines(source.text), 1 + source.before[0])
    for line, text in without_blanks(lines, str.isspace, notes, "records"):
        yield line, parse(text, source.name, line)


def _by_id(value: Mapping[Any, Any], name: str, form: Form, kind: str) -> Items:
    if "" in value:
        raise InputError("empty-id", at(name, "key ''"))
    ids, items = list(value), list(value.values())
    found = Items(ids, items, Places(name, ids), name)
    scored, values = pair_mappings(found, form)
    if scored and scored == len(ids):
        shape = f"{{id: {{{form.noun}: {values}}}}}"
    else:
        shape = (
            f"{{id: {form.noun if _stands_alone(items, form) else f'[{form.noun}s]'}}}"
        )
    found.understood = f"{kind}{shape}"
    if 0 < scored < len(ids):
        found.notes.append(Fact("scores-and-lists", scored, values={"noun": form.noun}))
    return found


def pair_mappings(found: Items, form: Form) -> tuple[int, str]:
    """Put lists in place of mappings from entry to number.

    If every item is such a mapping, all values are 0 or 1 and some are booleans, they say which
    entries an item has, as the rows of a 0/1 matrix do. Otherwise they are scores, and
    `Lists.chosen` decides what scores of 0 and 1 mean.

    Returns
    -------
    int
        How many mappings there were.
    str
        What the numbers are: "0/1" or "score".
    """
    items: Any = found.items
    if not form.scored or not any(
        issubclass(kind, Mapping) for kind in set(map(type, items))
    ):
        return 0, "score"
    chosen = [
        position for position, item in enumerate(items) if isinstance(item, Mapping)
    ]
    cells = [value for position in chosen for value in items[position].values()]
    kinds = set(map(type, cells))
    if (
        len(chosen) == len(items)
        and not kinds.isdisjoint((bool, np.bool_))
        and all(issubclass(kind, (Real, np.bool_)) for kind in kinds)
        and all(value in (0, 1) for value in cells)
    ):
        found.order = "keys"
        items[:] = [
            [(entry, int(one)) for entry, one in item.items()] for item in items
        ]
        return len(chosen), "0/1"
    for position in chosen:
        if not kinds <= {int, float}:
            items[position] = _numbers_of(items[position], form, found.where(position))
        items[position] = list(items[position].items())
    return len(chosen), "score"


def _numbers_of(item: Mapping[Any, Any], form: Form, where: str) -> dict[Any, Any]:
    """Return a mapping from entry to number, with nan in place of null if the form allows nan.

    Raises
    ------
    InputError
        If a value is not a number.
    """
    numbers = {}
    for entry, score in item.items():
        value = math.nan if score is None and form.allows_nan else score
        if isinstance(value, bool) or not isinstance(value, Real):
            raise InputError("not-a-number", where, role="the score", value=value)
        numbers[entry] = value
    return numbers


def _stands_alone(items: Sequence[Any], form: Form) -> bool:
    """Tell whether an entry alone is an item."""
    kinds = (str, Integral) if form.alone else str
    return form.single and len(items) > 0 and isinstance(items[0], kinds)


def _by_position(
    value: Sequence[Any], name: str, form: Form, kind: str, unit: str
) -> Items:
    places = Places(name, None, unit, range(len(value)))
    found = Items(None, value, places, name)
    odd = [kind for kind in found.types if issubclass(kind, Mapping)]
    if odd and not form.single:  # a record among lists, or scores without an id
        position = next(n for n, item in enumerate(value) if type(item) in odd)
        wanted = f"a list of {form.noun}s, as other items have"
        raise InputError(
            "wrong-type", places(position), value=value[position], wanted=wanted
        )
    if len(value) and all(
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], (str, Integral))
        and isinstance(item[1], (list, tuple, Set, Mapping))
        for item in value
    ):
        raise InputError("id-pairs", name, noun=form.noun)
    if form.scored and _are_id_pairs(value):
        raise InputError("id-pairs", name, noun=form.noun)
    shape = f"[{form.noun}s]" if _stands_alone(value, form) else f"[[{form.noun}s]]"
    found.understood = f"{kind}{shape} by position"
    return found


def _are_id_pairs(items: Sequence[Any]) -> bool:
    """Tell whether items are lists of an id and a list: ``[["a.jpg", ["cat", "dog"]], ...]``.

    An item may be a label and a label with synonyms, but hardly all of them with other labels.
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
    """Read COCO annotations, or what can be read as such."""
    key = image_key(value, options)
    value, said = annotations_of(value, options.split, name, key)
    found: Items = form.coco(value, name)  # type: ignore[misc]
    found.understood = said or found.understood
    return _noting_columns(
        found, form, options if key is None else replace(options, id_column=None)
    )


def _noting_columns(found: Items, form: Form, options: ReadOptions) -> Items:
    """Say that columns were named where there are none."""
    columns = [f"{role}_column" for role in form.roles]
    found.notes += unused(options, columns, found.understood.removeprefix("JSON, "))
    return found


def _is_one_caption(item: Any) -> bool:
    return isinstance(item, list) and len(item) == 1 and isinstance(item[0], str)


def _read_records(
    records: Iterable[tuple[int, Any]],
    name: str,
    unit: str,
    form: Form,
    options: ReadOptions,
    kind: str,
) -> Items:
    """Read records; the columns of equal key lists are found once."""
    from semmetrics.data.entry_records import is_one_entry, read_entries

    records = iter(records)
    first = list(islice(records, 1))
    records = chain(first, records)
    if first and is_one_entry(first[0][1], form, options):
        return read_entries(records, name, unit, form, options, kind.removesuffix(", "))
    known: dict[tuple[Any, ...], list[Any]] = {}
    extra: dict[str, None] = {}

    def read(record: Any) -> list[Any]:
        if not isinstance(record, Mapping):
            example = f'a record such as {{"id": "7", "{form.keys[0]}": ...}}'
            raise InputError("wrong-type", value=record, wanted=example)
        keys = tuple(record)
        used = known.get(keys)
        if used is None:
            found = find_columns(form.record, list(map(str, keys)), options, "")
            used = known[keys] = [keys[place] for place in found.values()]
            extra.update((str(key), None) for key in keys if key not in used)
        return [record[key] for key in used]

    found = item_rows(records, read, name, form, unit)
    _, values = pair_mappings(found, form)
    member = ", 0/1" if values == "0/1" else ""
    found.understood = f"{kind}one record {found.understood}{member}"
    if set(known) == {_RESULT_KEYS} and all(map(_is_one_caption, found.items)):
        found.holds = "results"
    if extra:
        found.notes.append(Fact("unused-columns", len(extra), tuple(extra)))
    return found
