"""Inputs other than predictions and ground truth: class lists, numbers, matrices, labelled pairs.

Conventions
-----------
Tables are read as in ``semmetrics.data.side_tables``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics import schema as schemas
from semmetrics.arguments import is_iterable
from semmetrics.data.arrays import plain_array
from semmetrics.data.class_lists import check_classes
from semmetrics.data.coco_files import category_names
from semmetrics.data.frames import column_names
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_tables import opened, read_side_table
from semmetrics.data.source import Source
from semmetrics.errors import InputError, format_place
from semmetrics.schema import Table, as_real

_NUMBER_FORMATS = ("json", "csv", "tsv", "npy", "npz")
_TEXT_SUFFIXES = ("", ".txt", ".names", ".lst", ".list")
"""The extensions of files with one name per line."""
_JSON_LIST = 'a list such as ["cat", "dog"]'

# ---- names --------------------------------------------------------------------------------------


def read_class_list(
    path: str | os.PathLike[str], options: ReadOptions = DEFAULTS
) -> list[str]:
    """Read the names of classes, in the order of the columns of a matrix.

    Parameters
    ----------
    path : str or path
        A text file with one class per line, read verbatim, or JSON (by extension, format, or the
        first character of standard input): a list of names, COCO categories, an object with
        "categories" such as a COCO file, ``{"cat": 0, "dog": 1}`` or ``{"0": "cat", "1": "dog"}``.
    options : ReadOptions

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a class is empty or occurs twice. The message names the line or position.
    """
    return _read_name_file(path, options, "class", _json_classes)


def _read_name_file(
    path: str | os.PathLike[str],
    options: ReadOptions,
    noun: str,
    read_json: Callable[[Source], list[Any]],
) -> list[str]:
    """Read a file of names: text with one name per line, or JSON.

    Parameters
    ----------
    path : str or path
    options : ReadOptions
    noun : str
        What messages call a name.
    read_json : callable
        Returns the names in a JSON file, which are not yet checked.
    """
    with opened(path, options) as source:
        if _is_json(source, options):
            names = read_json(source)
            check_classes(names, source.name, noun=noun)
            return names
        suffix = source.suffix
        if suffix is not None and suffix not in _TEXT_SUFFIXES:
            raise InputError(
                "wrong-format",
                source.name,
                what=f"a list of names ({noun})",
                format=suffix,
                wanted=f"a .txt file with one {noun} per line, or a JSON list",
            )
        lines = source.text.rstrip("\r\n").split("\n")
        names = [line.removesuffix("\r") for line in lines]
        check_classes(names, source.name, "line {}", 1, noun)
        return names


def _is_json(source: Source, options: ReadOptions) -> bool:
    """Return whether a list of names is JSON. The first character decides for standard input."""
    if options.format in ("json", "coco") or source.suffix == ".json":
        return True
    if source.suffix is not None:
        return False
    return source.text.lstrip()[:1] in ("[", "{")


def _json_classes(source: Source) -> list[Any]:
    """Return the classes in a JSON file, in one of the forms of `read_class_list`."""
    classes = _list_classes(parse_source(source))
    wanted = f'{_JSON_LIST}, or COCO "categories"'
    _check_is_list(classes, source.name, wanted)
    if isinstance(classes[0], dict):
        return list(category_names(classes, source.name).values())
    return list(classes)


def _json_names(source: Source) -> list[Any]:
    """Return the names in a JSON file, which contains a list of strings and integers."""
    names = parse_source(source)
    _check_is_list(names, source.name, _JSON_LIST)
    return list(map(_integer_to_name, names))


def _check_is_list(value: Any, where: str, wanted: str) -> None:
    """Raise an error that states what is wanted, unless a value is a list with elements."""
    if not isinstance(value, list) or not value:
        raise InputError("wrong-type", where, value=value, wanted=wanted)


def _integer_to_name(name: Any) -> Any:
    """Return an integer as a string, so that the ids 7 and "7" are equal."""
    return str(name) if type(name) is int else name


def _list_classes(value: Any) -> Any:
    """Return the classes of a JSON object in their order, and other values unchanged.

    The object is a COCO file, ``{"cat": 0}`` or ``{"0": "cat"}``.
    """
    if not isinstance(value, dict) or not value:
        return value
    if "categories" in value:
        return value["categories"]
    indices = list(range(len(value)))
    index_names = list(map(str, indices))
    if sorted(value, key=_number_order) == index_names:
        return [value[name] for name in index_names]
    numbers = list(value.values())
    are_integers = all(type(number) is int for number in numbers)
    if are_integers and sorted(numbers) == indices:
        return sorted(value, key=value.__getitem__)
    return value


def _number_order(name: str) -> tuple[int, str]:
    """Return a sort key that puts names of non-negative integers in numerical order."""
    return len(name), name


def read_names(
    value: Any, options: ReadOptions, option: str, noun: str = "id"
) -> list[str] | None:
    """Return the names that an option lists.

    Parameters
    ----------
    value : list of str or int, path, or None
        The value of the option. A file contains one name per line, or a list in JSON.
    options : ReadOptions
    option : str
        The name of the option, for messages.
    noun : {"id", "class name"}
        What messages call a name.

    Returns
    -------
    list of str or None
        None if the option is not set.

    Raises
    ------
    InputError
        If the value is not a list of names or is empty, or a name is empty or occurs twice.

    Examples
    --------
    >>> read_names([3, "cat"], DEFAULTS, "seen"), read_names(None, DEFAULTS, "seen")
    (['3', 'cat'], None)
    """
    if value is None:
        return None
    if isinstance(value, (str, os.PathLike)):
        return _read_name_file(value, options.for_side_inputs(), noun, _json_names)
    values: list[Any] = []
    if is_iterable(value) and not isinstance(value, bytes | Mapping):
        values = list(value)
    if not values:
        wanted = f"a list of names ({noun}), or a path"
        raise InputError("bad-option", name=option, value=value, wanted=wanted)
    names: list[Any] = []
    for name in values:
        is_integer = isinstance(name, (int, np.integer))
        if is_integer and not isinstance(name, bool):
            names.append(str(name))
        else:
            names.append(name)
    check_classes(names, option, noun=noun)
    return list(map(str, names))


# ---- numbers and matrices -----------------------------------------------------------------------


def read_numbers(
    data: Any,
    options: ReadOptions = DEFAULTS,
    notes: list[Any] | None = None,
    option: str = "weights",
) -> dict[str, float] | NDArray[np.float64]:
    """Read a finite number for each item, such as its weight, or for each class.

    Parameters
    ----------
    data : path or frame
        One of these:

        - JSON: ``{id: number}`` or ``[number]``
        - CSV, TSV or a frame with a column of ids and a column of numbers, which is
          ``options.score_column`` or is called "weight", "weights", "sample_weight", "value" or
          "number"
        - a pandas frame with ids in its index, which is not the default numbering, and one column
        - a vector in .npy or .npz
    options : ReadOptions
    notes : list, optional
        Receives notes on the file, such as columns that are not used.
    option : {"weights", "populations", "hops"}
        The option that names the data. Populations and hops belong to classes. Their columns have
        names such as "class" and "number", "images" or "hops".

    Returns
    -------
    dict of str to float, or array, shape (items,)
        An array if the input has no ids.

    Raises
    ------
    InputError
        If a number is missing or not finite, or an id occurs twice.
    """
    with opened(data, options) as source:
        if isinstance(source, Source):
            numbers = _read_number_file(source, options, option)
        else:
            options = _choose_class_column(source, options, option)
            numbers = _read_number_table(source, options, option)
    if not isinstance(numbers, Table):
        return numbers
    if notes is not None:
        notes += numbers.notes
    ids = numbers.columns["id"]
    return dict(zip(ids, numbers.columns["score"], strict=True))


def _read_number_file(
    source: Source, options: ReadOptions, option: str
) -> Table | NDArray[np.float64]:
    """Read numbers from a file, with their ids if it has any."""
    file_format = format_among(source, options, "numbers are", _NUMBER_FORMATS)
    if file_format in ("npy", "npz"):
        return plain_array(source, options, 1).astype(np.float64)
    if file_format != "json":
        return _read_number_table(source, options, option)
    schema = schemas.NUMBERS[option].with_readers(score=as_real)
    numbers = parse_source(source)
    if isinstance(numbers, list):
        _, score_column = schema.columns
        cells = score_column.values(
            numbers, lambda i: format_place(source.name, f"element [{i}]")
        )
        return np.array(cells, np.float64)
    if isinstance(numbers, dict):
        rows = (("", None, pair) for pair in numbers.items())
        return schema.read(rows, source.name, "")
    wanted = 'numbers such as {"id": 0.5}'
    raise InputError("wrong-type", source.name, value=numbers, wanted=wanted)


def _read_number_table(data: Any, options: ReadOptions, option: str) -> Table:
    """Read a table of ids and numbers."""
    schema = schemas.NUMBERS[option]
    chosen = {}
    for role in ("id", "score"):
        column = options.column(role)
        if column is not None:
            chosen[role] = column
    number_name = schema.columns[1].noun
    return read_side_table(
        data, schema, options, option, chosen=chosen, alone=number_name
    )


def _choose_class_column(frame: Any, options: ReadOptions, option: str) -> ReadOptions:
    """Return options that name the column of classes, if the numbers belong to classes."""
    names = column_names(frame)
    if not names or option == "weights" or options.id_column in names:
        return options
    for name in names:
        if name.strip().casefold() in schemas.CLASS_NAMES:
            return replace(options, id_column=name)
    return replace(options, id_column=None)


def read_dense(
    path: Any, options: ReadOptions, what: str, formats: Collection[str]
) -> NDArray[Any]:
    """Read a dense matrix of finite numbers, such as a cardinality head.

    Parameters
    ----------
    path : path
    options : ReadOptions
    what : str
        The content, for messages: "a matrix is".
    formats : collection of str
        The formats that the file may have.

    Returns
    -------
    array, shape (rows, columns)

    Raises
    ------
    InputError
        If the file does not contain a matrix, or a number is not finite. The message names the row
        and the column.
    """
    with opened(path, options) as source:
        format_among(source, options, what, formats)
        return plain_array(source, options, 2)


# ---- labelled pairs -----------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two labels, and whether they mean the same."""

    a: str
    b: str
    same: bool


def as_pairs(
    pairs: str | os.PathLike[str] | Iterable[Any],
    options: ReadOptions = DEFAULTS,
    notes: list[Any] | None = None,
) -> list[Pair]:
    """Read labelled pairs from a file or from Python objects.

    Parameters
    ----------
    pairs : path, frame, or iterable of (a, b, same) or of mappings with such keys
        A CSV or TSV file with a header, JSON lines of objects, or a JSON list of objects or of
        lists of three. Columns are found by name: ``a``, ``b`` and ``same``, or others such as
        ``word1``, ``word2`` and ``match``. ``same`` is true or false, 1 or 0, yes or no.
    options : ReadOptions
    notes : list, optional
        Receives notes on the file, such as columns and keys that are not used.

    Returns
    -------
    list of Pair

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a label is empty, or an answer is neither yes nor
        no. The message names the place.

    Examples
    --------
    >>> as_pairs([("car", "automobile", True), {"a": "car", "b": "tree", "same": 0}])
    [Pair(a='car', b='automobile', same=True), Pair(a='car', b='tree', same=False)]
    """
    table = read_side_table(pairs, schemas.SAME_PAIRS, options, "pairs")
    if notes is not None:
        notes += table.notes
    columns = [table.columns[role] for role in Pair._fields]
    return [Pair(*row) for row in zip(*columns, strict=True)]
