"""JSON documents, JSON lines, and Python objects of the same shapes: by id, by position, records.

Conventions
-----------
JSON is strict: repeated keys, NaN, lone surrogates and endless nesting are errors.
A mapping has an item for each id, a list one for each position or record. A record is an object
with an id and its entries, and perhaps a list of scores beside them; keys of other names are said
in the notes. Where a form has scores, an item may also be a mapping from entry to score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

from semmetrics.data.form import Form, ReadOptions, assign, canonical_id, unused
from semmetrics.data.items import Items, not_a_list
from semmetrics.data.public import annotations_of
from semmetrics.data.source import Room, Source, check_lines
from semmetrics.errors import ITEM, InputError, Places, at
from semmetrics.messages import counted, pluralize, shown

__all__ = ["BlankLines", "is_columns", "json_lines", "pair_mappings", "pair_scores", "parse",
           "parse_source", "read_json", "read_jsonl", "read_object"]  # fmt: skip

ELEMENT, LINE = "element [{}]", "line {}"
_INK = re.compile(r"\S")
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|(-?Infinity|NaN)', re.DOTALL)
# Bytes that Python takes, at most: of a value, a list or an object, a key, and half a text.
_SIZES = {",": 32, "[": 80, "{": 80, ":": 120, '"': 28}
_ENTRY, _RECORD = 64, 320
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InputError(
            f"the key {shown(twice)} stands twice in one object", remedy="keep one of them"
        )
    return made


class _NoNumberError(Exception):
    """NaN or Infinity, which no JSON text holds."""


def _constant(name: str) -> Any:
    raise _NoNumberError


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def parse(text: str, name: str, line: int = 1) -> Any:
    """Parse a JSON text that begins at a line of the file called name.

    Examples
    --------
    >>> parse('{"a": ["cat"], "a": []}', "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the key 'a' stands twice in one object; keep one of them
    """
    where = name if line == 1 else at(name, f"line {line}")
    try:
        value = _DECODER.decode(text)
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except InputError as error:
        raise InputError(error.problem, where=where, remedy=error.remedy) from None
    except _NoNumberError:
        found = next(match for match in _CONSTANT.finditer(text) if match[1])
        row, column = _position(text, found.start(1))
        raise InputError(
            f"{found[1]} is no JSON number",
            where=at(name, f"line {line + row}, column {column}"),
            remedy="write a finite number, or leave it out",
        ) from None
    except json.JSONDecodeError as error:
        # Of JSON lines in a .json file the first is parsed and the rest is "extra".
        lines = error.msg == "Extra data" and text[: error.pos].rstrip(" \t\r").endswith("\n")
        raise InputError(
            f"invalid JSON: {error.msg}",
            where=at(name, f"line {line + error.lineno - 1}, column {error.colno}"),
            remedy="for one object a line use format='jsonl' (--input-format jsonl)"
            if lines
            else "correct the JSON",
        ) from None
    except UnicodeEncodeError:
        problem, remedy = r"a \ud800-\udfff escape without its other half", "write the character"
    except RecursionError:
        problem, remedy = "it is nested too deeply", "labels need a few levels only"
    except ValueError:
        problem, remedy = "it holds an integer with thousands of digits", "shorten the number"
    raise InputError(problem, where=where, remedy=remedy)


def parse_source(source: Source) -> Any:
    """Parse a JSON file.

    Raises
    ------
    InputError
        If it is wrong, or what it holds has no room.
    """
    text, room = source.text, source.room()
    if len(text) * max(_SIZES.values()) > room.limit:
        room.take(len(text) + sum(size * text.count(sign) for sign, size in _SIZES.items()))
    return parse(text, source.name)


def _position(text: str, start: int) -> tuple[int, int]:
    """How many lines stand before a place, and its column, from 1."""
    return text.count("\n", 0, start), start - text.rfind("\n", 0, start)


def read_json(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read the items of a JSON file: by mapping, records or position, or COCO annotations."""
    value, name, coco = source.parsed(parse_source), source.name, options.format == "coco"
    source.forget()  # the value takes several times the memory of the file
    if coco and isinstance(value, dict) and form.coco is not None:
        return _read_annotations(value, name, form, options)
    if (not coco and isinstance(value, dict)) or (
        isinstance(value, list) and (form.single or not coco)
    ):
        return read_object(value, name, form, options, kind="JSON, ", unit=ELEMENT)
    raise InputError(
        f"{shown(value)} stands where {form.noun}s are expected",
        where=name,
        remedy="give the annotations file" if coco else f'write {{"id": ["{form.noun}"]}}',
    )


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
    if isinstance(value, Mapping):
        if form.coco is not None and form.is_coco(value):
            return _read_annotations(value, name, form, options)
        return _noting_columns(_by_id(value, name, form, kind), form, options)
    if len(value) and isinstance(value[0], Mapping):
        records = _Records(name, ELEMENT, form, options)
        records.gather(enumerate(value))
        return records.finish(f"{kind}one record ")
    return _noting_columns(_by_position(value, name, form, kind, unit), form, options)


def is_columns(value: Mapping[Any, Any], form: Form, options: ReadOptions, where: str) -> bool:
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
    known = {name for role in form.table.values() for name in role.known}
    named = {options.column(role) for role in form.table}
    if named.isdisjoint(names) and known.isdisjoint(map(str.casefold, map(str.strip, names))):
        return False  # of ids, as a rule
    try:
        roles = assign(form.table, names, options, where, form.first_id)
    except InputError:
        if known.issuperset(name.strip().casefold() for name in names) and any(
            isinstance(entry, (list, tuple)) for column in columns for entry in column
        ):
            raise
        return False  # of other names
    return all(isinstance(id_, (str, Integral)) for id_ in columns[roles["id"]])


def read_jsonl(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read JSON records, one a line."""
    notes: list[str] = []
    records = _Records(source.name, LINE, form, options, source.room())
    check_lines(source, options.max_line_bytes)
    records.gather(json_lines(source, notes))
    found = records.finish("JSON lines, one record ")
    found.notes += notes
    return found


def json_lines(source: Source, notes: list[str]) -> Iterator[tuple[int, Any]]:
    """Yield the values of JSON lines and their lines; blank ones between are noted at the end."""
    blank = BlankLines()
    lines, skipped = source.lines(), 0
    for number, text in enumerate(lines, 1):
        line = number + skipped
        if text.isspace():
            more = lines.skip(_INK)
            skipped += more
            blank.see(line, 1 + more)
            continue
        blank.go_on()
        yield line, parse(text, source.name, line)
    notes += blank.notes("records")


class BlankLines:
    """Counts the blank lines between others; those at the end mean nothing.

    Attributes
    ----------
    pending : int
        Those since the last line that is not blank.
    """

    def __init__(self) -> None:
        self._number = self._first = self.pending = 0

    def see(self, line: int, number: int = 1) -> None:
        """Count blank lines, of which that is the first."""
        self._first = self._first or line
        self.pending += number

    def go_on(self) -> None:
        """Say that a line follows that is not blank."""
        self._number += self.pending
        self.pending = 0

    def notes(self, between: str) -> list[str]:
        """Return the note on them, if there are any."""
        if not self._number:
            return []
        what = pluralize(self._number, "blank line")
        return [f"{what} between {between}, the first is line {self._first}"]


def _memory_of(entries: list[Any]) -> int:
    """Return about how many bytes a list of entries takes."""
    size = _ENTRY * len(entries)
    if not {*map(type, entries)} <= {str}:  # pairs, synonyms
        size += _ENTRY * sum(len(entry) for entry in entries if isinstance(entry, (list, dict)))
    return size


def pair_scores(entries: Any, scores: Any, form: Form) -> list[Any]:
    """Return entries and the list of their scores as pairs."""
    if isinstance(entries, Mapping):
        raise InputError(
            f"scores stand beside {form.noun}s that have scores", remedy="keep one of them"
        )
    if not isinstance(entries, (list, tuple)):
        raise not_a_list(entries, form, "")
    if not isinstance(scores, (list, tuple)) or len(scores) != len(entries):
        got = counted(scores, "score") if isinstance(scores, (list, tuple)) else shown(scores)
        raise InputError(
            f"beside {counted(entries, form.noun)} there is {got}",
            remedy=f"give one score a {form.noun}, in a list",
        )
    if texts := [score for score in scores if isinstance(score, str)]:
        raise InputError(
            f"the score {shown(texts[0])} is a text", remedy="write numbers, such as 0.9"
        )
    return list(zip(entries, scores, strict=True))


def _by_id(value: Mapping[Any, Any], name: str, form: Form, kind: str) -> Items:
    if "" in value:
        raise InputError("the id is empty", where=at(name, "key ''"), remedy="name the item")
    ids, items = list(value), list(value.values())
    places = Places(name, ids)
    scored, values = pair_mappings(items, form, places)
    if scored and scored == len(ids):
        shape = f"{{id: {{{form.noun}: {values}}}}}"
    else:
        shape = f"{{id: {_shape(items, form)}}}"
    found = Items(ids, items, places, name, f"{kind}{shape}")
    found.order = "keys" if values == "0/1" else ""
    if 0 < scored < len(ids):
        found.notes.append(
            f"{pluralize(scored, 'item')} written {{{form.noun}: score}}, the others as lists"
        )
    return found


def pair_mappings(items: list[Any], form: Form, where: Callable[[int], str]) -> tuple[int, str]:
    """Put lists in place of mappings from entry to number.

    Where every item is such a mapping, all values are 0 or 1 and some are booleans, they say which
    entries an item has, as the rows of a 0/1 matrix do. Otherwise they are scores; of those that
    are 0 or 1 see `Lists.chosen`.

    Returns
    -------
    int
        How many mappings there were.
    str
        What the numbers are: "0/1" or "score".
    """
    if not form.scored or not any(issubclass(kind, Mapping) for kind in set(map(type, items))):
        return 0, "score"
    chosen = [position for position, item in enumerate(items) if isinstance(item, Mapping)]
    if len(chosen) == len(items) and _are_booleans(items):
        items[:] = [[entry for entry, one in item.items() if one] for item in items]
        return len(chosen), "0/1"
    for position in chosen:
        items[position] = _scored_pairs(items[position], form, where(position))
    return len(chosen), "score"


def _are_booleans(items: Iterable[Mapping[Any, Any]]) -> bool:
    """Tell whether all values are 0 or 1, and some of them booleans."""
    found = False
    for item in items:
        for value in item.values():
            if not isinstance(value, (Real, np.bool_)) or value not in (0, 1):
                return False
            found = found or isinstance(value, (bool, np.bool_))
    return found


def _shape(items: Sequence[Any], form: Form) -> str:
    """Write what an item is."""
    return form.noun if _stands_alone(items, form) else f"[{form.noun}s]"


def _stands_alone(items: Sequence[Any], form: Form) -> bool:
    """Tell whether an entry alone is an item."""
    kinds = (str, Integral) if form.alone else str
    return form.single and len(items) > 0 and isinstance(items[0], kinds)


def _scored_pairs(item: Mapping[Any, Any], form: Form, where: str) -> list[tuple[Any, Any]]:
    for entry, score in item.items():
        if isinstance(score, bool) or not isinstance(score, Real):
            raise InputError(
                f"the {form.noun} {shown(entry)} has {shown(score)} for a score",
                where=where,
                remedy=f'write {{"{form.noun}": 0.5}}, or a list of {form.noun}s',
            )
    return list(item.items())


def _by_position(value: Sequence[Any], name: str, form: Form, kind: str, unit: str) -> Items:
    places = Places(name, None, unit, range(len(value)))
    found = Items(None, value, places, name)
    odd = [kind for kind in found.types if issubclass(kind, Mapping)]
    if odd and not form.single:  # a record among lists, or scores without an id
        position = next(n for n, item in enumerate(value) if type(item) in odd)
        raise InputError(
            "an object stands among lists",
            where=places(position),
            remedy="write all items alike",
        )
    if len(value) and all(map(_is_id_pair, value)):
        raise InputError(
            f"the items are pairs of an id and a list of {form.noun}s",
            where=name,
            remedy=f"give dict(pairs), which is {{id: [{form.noun}s]}}; where the first is a "
            f"{form.noun}, too, give lists in place of tuples",
        )
    one = _stands_alone(value, form)
    shape = f"[{form.noun}s]" if one else f"[[{form.noun}s]]"
    found.understood = f"{kind}{shape} by position"
    return found


def _is_id_pair(item: Any) -> bool:
    pair = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], (str, Integral))
    return pair and isinstance(item[1], (list, tuple, Set, Mapping))


def _read_annotations(
    value: Mapping[Any, Any], name: str, form: Form, options: ReadOptions
) -> Items:
    """Read COCO annotations, or what can be read as such."""
    value, said = annotations_of(value, options.split, name)
    found: Items = form.coco(value, name)  # type: ignore[misc]
    found.understood = said or found.understood
    return _noting_columns(found, form, options)


def _noting_columns(found: Items, form: Form, options: ReadOptions) -> Items:
    """Say that columns were named where there are none."""
    columns = [f"{role}_column" for role in form.record]
    found.notes += unused(options, columns, found.understood.removeprefix("JSON, "))
    return found


class _Records:
    """Items gathered from records; the columns of equal key lists are found once."""

    def __init__(
        self, name: str, unit: str, form: Form, options: ReadOptions, room: Room | None = None
    ) -> None:
        self.name, self.unit, self.form, self.options = name, unit, form, options
        self.room = room
        self.places: dict[str, int] = {}
        self.items: list[Any] = []
        self._single: dict[str, list[str]] = {}
        self._roles: dict[tuple[Any, ...], dict[str, int]] = {}
        self._extra: dict[str, None] = {}

    def gather(self, records: Iterable[tuple[int, Any]]) -> None:
        """Add records with their places."""
        for place, record in records:
            id_ = None
            try:
                if not isinstance(record, Mapping):
                    raise InputError(
                        f"{shown(record)} stands where a record is expected",
                        remedy=f'write {{"id": "7", "{self.form.keys[0]}": {self._like()}}}',
                    )
                keys = tuple(record)
                columns = self._columns(keys)
                id_ = canonical_id(record[keys[columns["id"]]], "")
                value = record[keys[columns[self.form.noun]]]
                if "score" in columns:
                    value = pair_scores(value, record[keys[columns["score"]]], self.form)
                self._add(id_, place, value)
            except InputError as error:
                raise error.placed(at(self.name, self.unit.format(place), id_)) from None

    def _like(self) -> str:
        return '"a cat"' if self.form.single else f'["{self.form.noun}"]'

    def _columns(self, keys: tuple[Any, ...]) -> dict[str, int]:
        found = self._roles.get(keys)
        if found is None:
            names = [str(key) for key in keys]
            found = assign(self.form.record, names, self.options, "", self.form.first_id)
            self._roles[keys] = found
            used = found.values()
            self._extra.update((key, None) for i, key in enumerate(names) if i not in used)
        return found

    def _add(self, id_: str, place: int, value: Any) -> None:
        """Take up an item; of a form with single texts, those of one id are one item."""
        if self.room is not None:
            self.room.take(_RECORD + (_memory_of(value) if isinstance(value, list) else 0))
        single = self.form.single and isinstance(value, str)
        if single and id_ in self._single:
            self._single[id_].append(value)
            return
        if self.places.setdefault(id_, place) != place:
            raise InputError(
                f"the id is also at {self.unit.format(self.places[id_])}",
                remedy="keep one record an id (1 and '1' are the same)",
            )
        if single:
            value = self._single[id_] = [value]
        self.items.append(value)

    def finish(self, understood: str) -> Items:
        """Return the items, in order of first appearance."""
        ids = list(self.places)
        places = Places(self.name, ids, self.unit, list(self.places.values()))
        all_single = self.form.single and len(self._single) == len(self.items)
        row_is = f"a {self.form.noun}" if all_single else "an item"
        member = pair_mappings(self.items, self.form, places)[1] == "0/1"
        found = Items(ids, self.items, places, self.name, f"{understood}{row_is}{', 0/1' * member}")
        found.order = "keys" * member
        if self._extra:
            found.notes.append(f"keys not used: {', '.join(map(shown, self._extra))}")
        return found
