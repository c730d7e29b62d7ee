"""What stands beside predictions and ground truth: class lists, numbers, matrices, pairs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.coco import category_names
from semmetrics.data.form import (
    DEFAULTS,
    IDS,
    ReadOptions,
    Role,
    assign,
    canonical_id,
    check_classes,
    is_iterable,
    number,
)
from semmetrics.data.inputs import format_among
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.numpy_files import plain_array
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, columns_not_used, field_limit
from semmetrics.errors import FROM_0, ROW, InputError, at
from semmetrics.messages import a_kind, listing, misfit, shown

__all__ = ["Pair", "as_pairs", "frame_numbers", "read_class_list", "read_matrix", "read_names",
           "read_numbers"]  # fmt: skip

_CLASS = 250  # bytes that a class takes, at most
_NUMBERS = ("weight", "weights", "sample_weight", "value", "number")
_NUMBER_ROLES = {"id": Role(IDS), "score": Role(_NUMBERS, what="weight")}
_CLASS_NAMES = ("class", "classes", "label", "labels", "category", "name")
_CLASS_NUMBERS = {
    "populations": ("images", "count", "counts", "population", "populations"),
    "hops": ("hops", "hop", "distance"),
}
_PLURAL = {"class": "classes", "id": "ids", "class name": "class names"}


def read_class_list(
    path: str | os.PathLike[str], options: ReadOptions = DEFAULTS, noun: str = "class"
) -> list[str]:
    """Read the names of classes, in the order of the columns of a matrix.

    Parameters
    ----------
    path : str or path
        A text with one class a line, kept exactly; or JSON (by extension, format or first
        character on standard input): a list of names, COCO categories, or an object with
        "categories", as a COCO file is.
    options : ReadOptions
    noun : {"class", "id"}
        What the names are; ids may be whole numbers.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a class is empty or stands twice; names the line or position.
    """
    source = load(path, options.max_bytes)
    with enough_memory(source.name, options.max_bytes):
        return _read_classes(source, options, noun)


def read_names(given: Any, options: ReadOptions, option: str, noun: str = "id") -> list[str] | None:
    """Return names, or numbers as names, that an option gives; read where they are a path.

    Raises
    ------
    InputError
        If they are no list of names, it is empty, or a name is empty or stands twice.

    Examples
    --------
    >>> read_names([3, "cat"], DEFAULTS, "seen"), read_names(None, DEFAULTS, "seen")
    (['3', 'cat'], None)
    """
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return list(read_class_list(given, options.beside(), noun))
    if not is_iterable(given) or isinstance(given, (bytes, bytearray, Mapping)):
        raise InputError(
            f"{option}= is {a_kind(given)}", remedy=f"give a list of {noun}s, or a path"
        )
    found = list(given)
    if not found:
        raise InputError(f"{option}= is empty", remedy=f"give a list of {noun}s, or leave it out")
    for place, name in enumerate(found):
        if not isinstance(name, (str, int, np.integer)) or isinstance(name, bool):
            raise InputError(
                misfit(name, "a string"),
                where=at(option, f"position {place}{FROM_0}"),
                remedy=f"write a {noun} as text, or as a whole number",
            )
    names = [str(name) for name in found]
    check_classes(names, option, noun=noun)
    return names


def _read_classes(source: Source, options: ReadOptions, noun: str) -> list[str]:
    as_json = options.format in ("json", "coco") or source.suffix == ".json"
    if as_json or (source.suffix is None and source.text.lstrip()[:1] in ("[", "{")):
        classes = _json_classes(parse_source(source), source.name, noun)
        check_classes(classes, source.name, noun=noun)
        return classes
    if source.suffix in (None, "", ".txt", ".names", ".lst", ".list"):
        source.room().take(_CLASS * source.text.count("\n"))
        classes = [line.removesuffix("\r") for line in source.text.rstrip("\r\n").split("\n")]
        check_classes(classes, source.name, "line {}", 1, noun)
        return classes
    raise InputError(
        f"a list of {_PLURAL[noun]} is no {source.suffix} file"
        if noun != "class"
        else f"a class list is no {source.suffix} file",
        where=source.name,
        remedy=f"write one {noun} a line in a .txt file, or a JSON list",
    )


def _json_classes(value: Any, name: str, noun: str) -> list[str]:
    if isinstance(value, dict) and noun == "class":
        value = value.get("categories")
    if not isinstance(value, list) or not value:
        raise InputError(
            f"there is no list of {_PLURAL[noun]}",
            where=name,
            remedy='write ["cat", "dog"]' + (', or COCO "categories"' if noun == "class" else ""),
        )
    if noun != "class":  # 7 and "7" are one
        return [str(one) if type(one) is int else one for one in value]
    return list(category_names(value, name).values()) if isinstance(value[0], dict) else value


def read_numbers(
    path: str | os.PathLike[str],
    options: ReadOptions = DEFAULTS,
    notes: list[str] | None = None,
    of: str = "weights",
) -> dict[str, float] | NDArray[np.float64]:
    """Read a finite number for each item, such as its weight, or for each class.

    Parameters
    ----------
    path : str or path
        JSON ``{id: number}`` or ``[number]``; CSV or TSV with an id and a number (a column
        "weight", "weights", "sample_weight", "value" or "number", or options.score_column);
        or a vector in .npy or .npz.
    options : ReadOptions
    notes : list of str, optional
        What there is to say of the file is added, such as columns that are not used.
    of : {"weights", "populations", "hops"}
        The option that gives them; the last two are of classes, whose columns have names such as
        "class" and "number", "images" or "hops".

    Returns
    -------
    dict of str to float, or array, shape (items,)
        The array where there are no ids.

    Raises
    ------
    InputError
        If a number is missing or not finite, or an id stands twice.
    """
    source = load(path, options.max_bytes)
    with enough_memory(source.name, options.max_bytes):
        return _read_numbers(source, options, [] if notes is None else notes, of)


def _read_numbers(
    source: Source, options: ReadOptions, notes: list[str], of: str
) -> dict[str, float] | NDArray[np.float64]:
    kind = format_among(source, options, "numbers are", ("json", "csv", "tsv", "npy", "npz"))
    numbers: dict[str, float] | NDArray[np.float64]
    if kind in ("npy", "npz"):
        numbers = plain_array(source, options, 1).astype(np.float64)
    elif kind in ("csv", "tsv"):
        numbers = _table_numbers(source, options, notes, of, tabs=kind == "tsv")
    else:
        numbers = _json_numbers(source)
    if not len(numbers):
        raise InputError("there are no items", where=source.name, remedy="check how it was written")
    return numbers


def _json_numbers(source: Source) -> dict[str, float] | NDArray[np.float64]:
    value = parse_source(source)
    if isinstance(value, list):
        places = (at(source.name, f"element [{i}]") for i in range(len(value)))
        return np.array([_json_number(*pair) for pair in zip(value, places, strict=True)])
    if not isinstance(value, dict) or "" in value:
        raise InputError(
            "an id is empty" if isinstance(value, dict) else f"{shown(value)} holds no items",
            where=source.name,
            remedy='write {"id": 0.5}',
        )
    return {id_: _json_number(one, at(source.name, "", id_)) for id_, one in value.items()}


def _json_number(value: object, where: str) -> float:
    # A text such as "0.5" is a slip of the writer's types: said, not repaired.
    return number(None if isinstance(value, str) else value, where, "number")


def _table_numbers(
    source: Source, options: ReadOptions, notes: list[str], of: str, *, tabs: bool
) -> dict[str, float]:
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        named, chosen = _number_roles(of, rows.header, options)
        roles = assign(named, rows.header, chosen, at(source.name, "line 1"))
        notes += _of_file(source.name, columns_not_used(rows.header, roles.values()))
        pairs = ((line, row[roles["id"]], row[roles["score"]]) for line, row in rows)
        return _by_id(pairs, source.name, "line {}")


def _number_roles(
    of: str, names: Sequence[str], options: ReadOptions
) -> tuple[dict[str, Role], ReadOptions]:
    """Return the roles of columns; of classes, ids of items are no names of them."""
    if of not in _CLASS_NUMBERS:
        return _NUMBER_ROLES, options
    if options.id_column not in names:
        named = [name for name in names if name.strip().casefold() in _CLASS_NAMES]
        options = replace(options, id_column=named[0] if len(named) == 1 else None)
    known = (*_NUMBERS, *_CLASS_NUMBERS[of])
    return {
        "id": Role((*_CLASS_NAMES, *IDS), what="class"), "score": Role(known, what="number")
    }, options  # fmt: skip


def frame_numbers(
    frame: Any,
    options: ReadOptions = DEFAULTS,
    notes: list[str] | None = None,
    of: str = "weights",
) -> dict[str, float]:
    """Return a finite number for each item from a frame with the columns of a table in a file.

    The index of a pandas frame has the ids if no column does and it is no plain numbering; a
    column that is then alone has the numbers, whatever its name.

    Raises
    ------
    InputError
        If a column is missing, a number is missing or not finite, or an id stands twice.
    """
    from semmetrics.data.objects import column_names, frame_table

    named, options = _number_roles(of, column_names(frame), options)
    table = frame_table(frame, options, of, named["score"].what)
    names = table.column_names
    roles = assign(named, names, options, of)
    if notes is not None:
        notes += _of_file(of, columns_not_used(names, roles.values()))
    ids, numbers = (table.column(roles[role]).to_pylist() for role in ("id", "score"))
    return _by_id(zip(range(len(ids)), ids, numbers, strict=True), of, ROW)


def _by_id(rows: Iterable[tuple[int, Any, Any]], name: str, unit: str) -> dict[str, float]:
    """Gather the number of each id from rows: place, id and number."""
    numbers: dict[str, float] = {}
    for place, value, weight in rows:
        try:
            id_ = canonical_id(value, "")
            if id_ in numbers:
                raise InputError("the id stands twice", remedy="keep one row an id")
            numbers[id_] = number(weight, "", "number")
        except InputError as error:
            raise error.placed(at(name, unit.format(place), str(value))) from None
    return numbers


def _of_file(name: str, notes: Iterable[str]) -> list[str]:
    return [f"{name}: {note}" for note in notes]


def read_matrix(
    path: str | os.PathLike[str], options: ReadOptions = DEFAULTS
) -> NDArray[np.floating[Any]]:
    """Read a dense matrix of finite numbers from .npy or .npz, such as a cardinality head.

    Returns
    -------
    array, shape (rows, columns), float32 or float64

    Raises
    ------
    InputError
        If it is no matrix, or a number is not finite; names row and column.
    """
    source = load(path, options.max_bytes)
    with enough_memory(source.name, options.max_bytes):
        format_among(source, options, "a matrix is", ("npy", "npz"))
        values = plain_array(source, options, 2)
        return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)


_PAIR = f"pair {{}}{FROM_0}"
_PAIR_COLUMNS = {
    "a": ("a", "first", "left", "label_a", "text_a", "label1", "text1", "word1", "prediction"),
    "b": ("b", "second", "right", "label_b", "text_b", "label2", "text2", "word2", "reference"),
    "same": ("same", "match", "matches", "equal", "gold", "label", "target"),
}
_YES = ("1", "true", "yes", "same", "y", "t")
_NO = ("0", "false", "no", "different", "n", "f")


class Pair(NamedTuple):
    """Two labels, and whether they mean the same."""

    a: str
    b: str
    same: bool


def as_pairs(
    pairs: str | os.PathLike[str] | Iterable[Any],
    options: ReadOptions = DEFAULTS,
    notes: list[str] | None = None,
) -> list[Pair]:
    """Labelled pairs from a file or from Python objects.

    Parameters
    ----------
    pairs : path, or iterable of (a, b, same) or of mappings with such keys
        A CSV or TSV file with a header, JSON lines of objects, or a JSON list of objects or of
        lists of three. Columns are known by name: ``a``, ``b`` and ``same``, or others such as
        ``word1``, ``word2`` and ``match``. ``same`` is true or false, 1 or 0, yes or no.
    options : ReadOptions
    notes : list of str, optional
        What there is to say is added, such as columns and keys that are not used.

    Returns
    -------
    list of Pair

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a label is empty or an answer is neither yes nor
        no; names the place.

    Examples
    --------
    >>> as_pairs([("car", "automobile", True), {"a": "car", "b": "tree", "same": 0}])
    [Pair(a='car', b='automobile', same=True), Pair(a='car', b='tree', same=False)]
    """
    said = [] if notes is None else notes
    if isinstance(pairs, str | os.PathLike):
        source = load(pairs, options.max_bytes)
        with enough_memory(source.name, options.max_bytes):
            name, found = source.name, list(_read_pairs(source, options, said))
    else:
        if not isinstance(pairs, Iterable) or getattr(pairs, "shape", None) == ():
            raise InputError(
                f"{a_kind(pairs)} holds no pairs",
                remedy="give a path, or a list of (a, b, same)",
            )
        name, extra = "pairs", dict[str, None]()
        found = [
            _of_value(value, at(name, _PAIR.format(place)), extra)
            for place, value in enumerate(pairs)
        ]
        said += _keys_not_used(name, extra)
    if not found:
        raise InputError("there are no pairs", where=name, remedy="write a,b,same a line")
    return found


def _read_pairs(source: Source, options: ReadOptions, notes: list[str]) -> Iterator[Pair]:
    kinds = ("csv", "tsv", "json", "jsonl")
    kind = format_among(source, options, "pairs are", kinds, told=True)
    extra = dict[str, None]()
    if kind in ("csv", "tsv"):
        yield from _pair_table(source, options, notes, tabs=kind == "tsv")
    elif kind == "jsonl":
        for line, value in json_lines(source, []):
            yield _of_value(value, at(source.name, f"line {line}"), extra)
    else:
        values = parse_source(source)
        if not isinstance(values, list):
            raise InputError(
                f"{shown(values)} is no list of pairs",
                where=source.name,
                remedy='write [{"a": "car", "b": "automobile", "same": true}, ...]',
            )
        for place, value in enumerate(values):
            yield _of_value(value, at(source.name, _PAIR.format(place)), extra)
    notes += _keys_not_used(source.name, extra)


def _pair_table(
    source: Source, options: ReadOptions, notes: list[str], *, tabs: bool
) -> Iterator[Pair]:
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        columns = _columns(rows.header, at(source.name, "line 1"))
        notes += _of_file(source.name, columns_not_used(rows.header, columns))
        for line, row in rows:
            yield _pair([row[column] for column in columns], at(source.name, f"line {line}"))


def _columns(names: Sequence[str], where: str) -> list[int]:
    """The columns of a, b and same."""
    plain = [name.strip().casefold() for name in names]
    found = []
    for role, known in _PAIR_COLUMNS.items():
        hits = [plain.index(name) for name in known if name in plain]
        if not hits:
            raise InputError(
                f"there is no column {role!r}: found {listing(names, most=12)}",
                where=where,
                remedy="begin with the header a,b,same",
            )
        found.append(hits[0])
    return found


def _keys_not_used(name: str, extra: Mapping[str, None]) -> list[str]:
    return [f"{name}: keys not used: {', '.join(map(shown, extra))}"] if extra else []


def _of_value(value: Any, where: str, extra: dict[str, None]) -> Pair:
    """Return the pair of a record or a list; keys that nothing is read from go into extra."""
    if isinstance(value, Mapping):
        names = [str(name) for name in value]
        cells, columns = list(value.values()), _columns(names, where)
        extra.update((name, None) for i, name in enumerate(names) if i not in columns)
        return _pair([cells[column] for column in columns], where)
    if (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and len(value) == len(_PAIR_COLUMNS)
    ):
        return _pair(value, where)
    raise InputError(
        f"{shown(value)} is no pair", where=where, remedy="write two labels, and true or false"
    )


def _pair(cells: Sequence[Any], where: str) -> Pair:
    a, b, same = cells
    for text in (a, b):
        if not isinstance(text, str) or not text.strip():
            raise InputError(f"{shown(text)} is no label", where=where, remedy="write a text")
    scalar = getattr(same, "shape", None) == ()  # of numpy or torch
    answer = str(same.item() if scalar else same).strip().casefold().removesuffix(".0")
    if answer not in (*_YES, *_NO):
        raise InputError(
            f"{shown(same)} does not say whether they mean the same",
            where=where,
            remedy="write true or false, 1 or 0, yes or no",
        )
    return Pair(a, b, answer in _YES)
