"""What stands beside the labels: class lists, numbers by id, and plain matrices."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.form import (
    DEFAULTS,
    TABLE_ROLES,
    ReadOptions,
    Role,
    assign,
    check_classes,
)
from semmetrics.data.readers.coco import category_names
from semmetrics.data.readers.formats import format_among
from semmetrics.data.readers.matrix import plain_array
from semmetrics.data.readers.strict_json import parse
from semmetrics.data.readers.table import Rows, field_limit
from semmetrics.data.source import Source, at, canonical_id, load, number, placed, shown
from semmetrics.errors import InputError

__all__ = ["read_class_list", "read_matrix", "read_numbers"]

_NUMBER_ROLES = {
    "id": TABLE_ROLES["id"],
    "score": Role(("weight", "weights", "sample_weight", "value", "number")),
}


def read_class_list(path: str | os.PathLike[str], options: ReadOptions = DEFAULTS) -> list[str]:
    """Read the names of classes, in the order of the columns of a matrix.

    Parameters
    ----------
    path : str or path
        A text with one class a line, kept exactly; or JSON (by extension, format or first
        character on standard input): a list of names, COCO categories, or an object with
        "categories", as a COCO file is.
    options : ReadOptions

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a class is empty or stands twice; names the line or position.
    """
    source = load(path, options.max_bytes)
    as_json = options.format in ("json", "coco") or source.suffix == ".json"
    if as_json or (source.suffix is None and source.text.lstrip()[:1] in ("[", "{")):
        classes = _json_classes(parse(source.text, source.name), source.name)
        check_classes(classes, source.name)
        return classes
    if source.suffix in (None, "", ".txt", ".names", ".lst", ".list"):
        classes = [line.removesuffix("\r") for line in source.text.rstrip("\r\n").split("\n")]
        check_classes(classes, source.name, "line {}", 1)
        return classes
    raise InputError(
        f"a class list is no {source.suffix} file",
        where=source.name,
        remedy="write one class a line in a .txt file, or a JSON list",
    )


def _json_classes(value: Any, name: str) -> list[str]:
    if isinstance(value, dict):
        value = value.get("categories")
    if not isinstance(value, list) or not value:
        raise InputError(
            "there is no list of classes",
            where=name,
            remedy='write ["cat", "dog"], or COCO "categories"',
        )
    return list(category_names(value, name).values()) if isinstance(value[0], dict) else value


def read_numbers(
    path: str | os.PathLike[str], options: ReadOptions = DEFAULTS
) -> dict[str, float] | NDArray[np.float64]:
    """Read a finite number for each item, such as its weight.

    Parameters
    ----------
    path : str or path
        JSON ``{id: number}`` or ``[number]``; CSV or TSV with an id and a number (a column
        "weight", "weights", "sample_weight", "value" or "number", or options.score_column);
        or a vector in .npy or .npz.
    options : ReadOptions

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
    kind = format_among(source, options, "numbers are", ("json", "csv", "tsv", "npy", "npz"))
    numbers: dict[str, float] | NDArray[np.float64]
    if kind in ("npy", "npz"):
        numbers = plain_array(source, options, 1).astype(np.float64)
    elif kind in ("csv", "tsv"):
        numbers = _table_numbers(source, options, tabs=kind == "tsv")
    else:
        numbers = _json_numbers(source)
    if not len(numbers):
        raise InputError("there are no items", where=source.name, remedy="check how it was written")
    return numbers


def _json_numbers(source: Source) -> dict[str, float] | NDArray[np.float64]:
    value = parse(source.text, source.name)
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


def _table_numbers(source: Source, options: ReadOptions, *, tabs: bool) -> dict[str, float]:
    numbers: dict[str, float] = {}
    with field_limit(options.max_line_bytes):
        rows = Rows(source, options, tabs=tabs)
        roles = assign(_NUMBER_ROLES, rows.header, options, at(source.name, "line 1"))
        for lines, batch in rows.batches():
            for line, row in zip(lines, batch, strict=True):
                id_ = row[roles["id"]]
                try:
                    if id_ in numbers:
                        raise InputError("the id stands twice", remedy="keep one row an id")
                    numbers[canonical_id(id_, "")] = number(row[roles["score"]], "", "number")
                except InputError as error:
                    raise placed(error, at(source.name, f"line {line}", id_)) from None
    return numbers


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
    format_among(source, options, "a matrix is", ("npy", "npz"))
    values = plain_array(source, options, 2)
    return values.astype(np.float32 if values.dtype == np.float32 else np.float64, copy=False)
