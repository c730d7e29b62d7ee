"""Recognise classes whose columns have a name that usually means labels or scores.

A table with one column per class (one-hot) may have a class called ``label``, ``tag`` or ``score``.
The cells decide whether such a table has one row per item.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from semmetrics.data.form import Form
from semmetrics.data.input_columns import (
    chosen_column,
    column_flag,
    find_id,
    role_of,
)
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError

BINARY = "binary"
"""The cells of a column are all 0 or 1."""
SHARE = "share"
"""The cells of a column are all from 0 to 1, and some are neither 0 nor 1."""
_MIN_CLASSES = 2
"""How many other columns a one-hot table needs. A table of labels may also have one flag."""


def find_id_beside_classes(
    names: Sequence[str], form: Form, options: ReadOptions
) -> int | None:
    """Return the position of the column of ids if there may be a class called "label" or "score".

    Return None for tables without such a class, and if the column of ids cannot be found.
    """
    if len(set(names)) < len(names) or not _may_be_classes(names, form, options):
        return None
    try:
        return find_id(names, form, options, "")
    except InputError:  # The reader of tables raises it again.
        return None


def _may_be_classes(names: Sequence[str], form: Form, options: ReadOptions) -> bool:
    """Return whether some names usually mean labels or scores, and other names mean nothing."""
    if not form.takes_matrices or options.label_delimiter is not None:
        return False
    for role in form.roles[1:]:
        if chosen_column(options, role, names) is not None:
            return False
    roles = [role_of(name, form, options) for name in names]
    has_labels_or_scores = form.noun in roles or "score" in roles
    return has_labels_or_scores and "id" in roles and "" in roles


def find_named_classes(
    cell_kinds: Mapping[str, str],
    form: Form,
    options: ReadOptions,
    where: str,
    *,
    repeats: bool,
    numbers_are_labels: bool = True,
) -> frozenset[str]:
    """Return the columns that are classes although their names usually mean labels or scores.

    Parameters
    ----------
    cell_kinds : mapping of str to str
        `BINARY`, `SHARE`, or "" for other cells, for each column except the ids.
    form : Form
    options : ReadOptions
    where : str
        The place of the header, for errors.
    repeats : bool
        Whether an id occurs in several rows.
    numbers_are_labels : bool
        Whether the cells may be names of labels, as in text files.

    Raises
    ------
    InputError
        If the cells are all 0 or 1, and the table may have one row per label or one row per item.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> cells = dict.fromkeys(["label", "dog", "bus"], BINARY)
    >>> find_named_classes(cells, form, ReadOptions(), "gt.csv", repeats=False)
    frozenset({'label'})
    """
    if "" in cell_kinds.values():
        return frozenset()
    roles = _roles_by_name(cell_kinds, form, options)
    label_columns = _names_with_role(form.noun, roles)
    other_columns = _names_with_role("", roles)
    role_columns = frozenset(cell_kinds).difference(other_columns)
    is_binary = SHARE not in cell_kinds.values()
    label_kinds = {cell_kinds[name] for name in label_columns}
    if label_kinds == {BINARY} and not is_binary:
        return frozenset()  # labels 0 and 1, next to scores and other numbers
    if len(other_columns) >= _MIN_CLASSES and not repeats:
        return role_columns
    if not label_columns or not is_binary:
        return frozenset()
    if numbers_are_labels:
        raise InputError(
            "rows-or-columns",
            where,
            noun=form.noun,
            column=label_columns[0],
            flag=column_flag(form.noun, options),
        )
    return role_columns


def _roles_by_name(
    names: Iterable[str], form: Form, options: ReadOptions
) -> dict[str, str]:
    return {name: role_of(name, form, options) for name in names}


def _names_with_role(role: str, roles: Mapping[str, str]) -> list[str]:
    return [name for name, own_role in roles.items() if own_role == role]
