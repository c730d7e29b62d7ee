"""Recognise columns that are classes although they are called as labels or scores are.

A table with a column for each class (one-hot) may have a class called ``label``, ``tag`` or
``score``. The cells decide whether such a table has one row per item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from semmetrics.data.form import Form
from semmetrics.data.input_columns import column_among, find_id
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError

BINARY, SHARE = "binary", "share"
"""What all cells of a column are: 0 or 1, or numbers from 0 to 1 of which some are neither."""
_MIN_CLASSES = (
    2  # further columns, so that a table of labels with one flag is not one-hot
)


def find_id_beside_classes(
    names: Sequence[str], form: Form, options: ReadOptions
) -> int | None:
    """Return the place of the ids if the other columns may be classes of such names, else None."""
    if len(set(names)) < len(names) or not _may_be_classes(names, form, options):
        return None
    try:
        return find_id(names, form, options, "")
    except InputError:  # the reader of tables raises it
        return None


def _may_be_classes(names: Sequence[str], form: Form, options: ReadOptions) -> bool:
    """Return whether some columns are called as labels or scores are, and others are not."""
    if not form.takes_matrices or options.label_delimiter is not None:
        return False
    for role in form.roles[1:]:
        if column_among(options, role, names) is not None:
            return False
    roles = [_role_of(name, form, options) for name in names]
    is_known = form.noun in roles or "score" in roles
    return is_known and "id" in roles and "" in roles


def find_named_classes(
    kinds: Mapping[str, str],
    form: Form,
    options: ReadOptions,
    where: str,
    *,
    repeats: bool,
    numbers_are_labels: bool = True,
) -> frozenset[str]:
    """Return the columns called as labels or scores that are classes.

    Parameters
    ----------
    kinds : mapping of str to str
        For each column besides the id `BINARY`, `SHARE`, or "" for other cells.
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
    if "" in kinds.values():
        return frozenset()
    roles = {name: _role_of(name, form, options) for name in kinds}
    labels = _names_of(form.noun, roles)
    others = _names_of("", roles)
    with_role = frozenset(kinds).difference(others)
    is_binary = SHARE not in kinds.values()
    if {*map(kinds.get, labels)} == {BINARY} and not is_binary:
        return frozenset()  # labels that are numbers, and other columns of numbers
    if len(others) >= _MIN_CLASSES and not repeats:
        return with_role
    if not labels or not is_binary:
        return frozenset()
    if numbers_are_labels:
        values = {"noun": form.noun, "column": labels[0], "flag": f"{form.noun}_column"}
        raise InputError("rows-or-columns", where, **values)
    return with_role


def _names_of(role: str, roles: Mapping[str, str]) -> list[str]:
    return [name for name in roles if roles[name] == role]


def _role_of(name: str, form: Form, options: ReadOptions) -> str:
    """Return the role that a column has by its name, or "" if it has none."""
    if name == options.id_column:
        return "id"
    folded = name.strip().casefold()
    for column in form.table.columns:
        if folded in column.known:
            return "" if column.role == "id" and options.id_column else column.role
    return ""
