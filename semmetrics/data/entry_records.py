"""Read JSON records that each contain one entry of an item, like the rows of a table.

Conventions
-----------
``DataFrame.to_json(orient="records")`` writes a run as ``{"qid": 1, "docno": "d7", "score": 0.5}``
for each document. The first record decides whether records are read in this way. The rules for the
columns of a table also apply to the keys, and all records with the same id are one item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from semmetrics.data.entries import as_score
from semmetrics.data.form import Form
from semmetrics.data.input_columns import find_columns
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.tables import describe_table, entry_rows
from semmetrics.errors import InputError, format_place
from semmetrics.schema import as_id


def is_one_entry(record: Any, form: Form, options: ReadOptions) -> bool:
    """Return whether a record is one entry of an item.

    A string under a plural key such as "labels" may contain several labels. It is one entry only if
    the score of the record is a number.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label", "labels"), keys=("labels",), scored=True)
    >>> is_one_entry({"id": 1, "label": "cat"}, form, ReadOptions())
    True
    >>> is_one_entry({"id": 1, "labels": "cat, dog"}, form, ReadOptions())
    False
    """
    if form.single or not form.scored or not isinstance(record, Mapping):
        return False
    names = list(map(str, record))
    try:
        positions = find_columns(form.table, names, options, "")
    except InputError:
        return False
    cells = list(record.values())
    entry_position = positions[form.noun]
    if not _may_be_entry(cells[entry_position], form):
        return False
    name = names[entry_position].strip().casefold()
    is_plural = name.endswith("s") and not name.endswith("ss")  # "class" is singular.
    has_score = "score" in positions and isinstance(cells[positions["score"]], Real)
    return has_score or not is_plural


def read_entries(
    records: Iterable[tuple[int, Any]],
    name: str,
    place_format: str,
    form: Form,
    options: ReadOptions,
    kind: str,
) -> Items:
    """Read records of one entry each.

    Parameters
    ----------
    records : iterable of (number, record)
    name, place_format : str
        The name of the input, and the template for the place of a record: "line {}".
    form : Form
    options : ReadOptions
    kind : str
        The format, for the description of how the input was read: "JSON".

    Raises
    ------
    InputError
        If the id, entry or score of a record has another key than in the first record, or a value
        has the wrong type. The message names the record.
    """
    checked_keys: set[tuple[Any, ...]] = set()
    # The names of all keys in order of appearance, as an ordered set.
    names: dict[str, None] = {}
    keys_by_role: dict[str, Any] = {}
    numbers: list[int] = []
    columns: dict[str, list[Any]] = {}
    for number, record in records:
        where = format_place(name, place_format.format(number))
        if not isinstance(record, Mapping):
            wanted = "a record, like the others"
            raise InputError("wrong-type", where, value=record, wanted=wanted)
        keys = tuple(record)
        if keys not in checked_keys:
            own_keys_by_role = _find_keys(keys, form, options, where)
            keys_by_role = keys_by_role or own_keys_by_role
            if own_keys_by_role != keys_by_role:
                raise InputError("mixed-rows", where)
            checked_keys.add(keys)
            names.update(dict.fromkeys(map(str, keys)))
        numbers.append(number)
        for role, key in keys_by_role.items():
            cell = _read_cell(record[key], role, form, where)
            columns.setdefault(role, []).append(cell)
    items = entry_rows([(numbers, *columns.values())], name, form, place_format)
    header = list(names)
    positions = {}
    for role, key in keys_by_role.items():
        positions[role] = header.index(str(key))
    return describe_table(items, kind, header, positions, form, wide=False)


def _find_keys(
    keys: tuple[Any, ...], form: Form, options: ReadOptions, where: str
) -> dict[str, Any]:
    """Return the key of each role, by the rules for the columns of a table."""
    positions = find_columns(form.table, list(map(str, keys)), options, where)
    return {role: keys[position] for role, position in positions.items()}


def _may_be_entry(value: Any, form: Form) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (
        form.integers_as_names and isinstance(value, Integral)
    )


def _read_cell(value: Any, role: str, form: Form, where: str) -> Any:
    """Return the id, entry or score of a record as a cell of a table. Null is an empty cell."""
    if role == "id":
        return as_id(value, where=where)
    if value is None:
        return ""
    if role == "score":
        try:
            return as_score(value, form)
        except InputError as error:
            raise error.placed(where) from None
    if not _may_be_entry(value, form):
        wanted = f"a {form.noun}, as in other records"
        raise InputError("wrong-type", where, value=value, wanted=wanted)
    return str(value)
