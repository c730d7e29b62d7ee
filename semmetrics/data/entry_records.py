"""JSON records that are one entry of an item each, as the rows of a table are.

Conventions
-----------
``DataFrame.to_json(orient="records")`` writes a run as ``{"qid": 1, "docno": "d7", "score": 0.5}``
for each document. The first record decides. The keys are found as the columns of a table are, and
the records of an id are one item.
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
from semmetrics.errors import InputError, at
from semmetrics.schema import as_id


def is_one_entry(record: Any, form: Form, options: ReadOptions) -> bool:
    """Return whether a record is one entry of an item.

    A string under a plural key such as "labels" may be several labels. It is one entry only if the
    record has a number as its score.

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
        roles = find_columns(form.table, names, options, "")
    except InputError:
        return False
    cells = list(record.values())
    if not _may_be_entry(cells[roles[form.noun]], form):
        return False
    name = names[roles[form.noun]].strip().casefold()
    is_plural = name.endswith("s") and not name.endswith("ss")  # "class" is not
    has_score = "score" in roles and isinstance(cells[roles["score"]], Real)
    return has_score or not is_plural


def read_entries(
    records: Iterable[tuple[int, Any]],
    name: str,
    unit: str,
    form: Form,
    options: ReadOptions,
    kind: str,
) -> Items:
    """Read records of one entry each.

    Parameters
    ----------
    records : iterable of (place, record)
    name, unit : str
        The input, and how the place of a record is written.
    form : Form
    options : ReadOptions
    kind : str
        What they were read from: "JSON".

    Raises
    ------
    InputError
        If a record has other keys than the first one for its id, entry or score, or a value is of
        another type; names the place.
    """
    known: dict[tuple[Any, ...], dict[str, Any]] = {}
    names: dict[str, None] = {}
    keys_by_role: dict[str, Any] = {}
    places: list[int] = []
    columns: dict[str, list[Any]] = {}
    for place, record in records:
        where = at(name, unit.format(place))
        if not isinstance(record, Mapping):
            raise InputError(
                "wrong-type", where, value=record, wanted="a record, like the others"
            )
        keys = tuple(record)
        if keys not in known:
            roles = find_columns(form.table, list(map(str, keys)), options, where)
            known[keys] = {role: keys[i] for role, i in roles.items()}
            names.update(dict.fromkeys(map(str, keys)))
            keys_by_role = keys_by_role or known[keys]
        if known[keys] != keys_by_role:
            raise InputError("mixed-rows", where)
        places.append(place)
        for role, key in keys_by_role.items():
            cell = _read_cell(record[key], role, form, where)
            columns.setdefault(role, []).append(cell)
    found = entry_rows([(places, *columns.values())], name, form, unit)
    order = list(names)
    roles = {role: order.index(str(key)) for role, key in keys_by_role.items()}
    return describe_table(found, kind, order, roles, form, wide=False)


def _may_be_entry(value: Any, form: Form) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, str) or (
        form.integers_as_names and isinstance(value, Integral)
    )


def _read_cell(value: Any, role: str, form: Form, where: str) -> Any:
    """Return the id, entry or score of a record as the cell of a table; null is an empty cell."""
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
