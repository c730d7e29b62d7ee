"""Find the columns of a table: ids, entries and scores, or one column per label."""

from __future__ import annotations

from collections.abc import Sequence, Set

from semmetrics.data.form import Form
from semmetrics.data.read_options import ReadOptions, is_truth
from semmetrics.errors import InputError
from semmetrics.schema import Schema


def column_among(options: ReadOptions, role: str, names: Sequence[str]) -> str | None:
    """Return the column that the options name for a role, or None.

    A score column that only the predictions have is ignored in the ground truth.
    """
    name = options.column(role)
    if role == "score" and is_truth(options) and name not in names:
        return None
    return name


def is_one_hot(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
) -> bool:
    """Return whether a table has one column per label, judging by the names of its columns.

    A one-hot table has a column whose name is not a known name of ids, labels or scores. It has no
    column of scores, and none of labels unless that column contains numbers. No option names either.

    Parameters
    ----------
    names : sequence of str
    form : Form
    options : ReadOptions
    numbers : set of str
        Columns that contain numbers. Empty for text files, whose cells are all strings.
    classes : set of str
        Columns whose cells show that they are classes, whatever their name.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> is_one_hot(["id", "cat"], form, ReadOptions()), is_one_hot(["id", "label"], form, ReadOptions())
    (True, False)
    """
    if not form.takes_matrices:
        return False
    for role in form.roles[1:]:
        if column_among(options, role, names) is not None:
            return False
    has_label_column = False
    for name in names:
        if name in classes:
            has_label_column = True
            continue
        roles = _roles_of_name(name, form)
        if "score" in roles or (form.noun in roles and name not in numbers):
            return False
        if not roles and name != options.id_column:
            has_label_column = True
    return has_label_column


def _roles_of_name(name: str, form: Form) -> list[str]:
    """Return the roles whose columns usually have this name."""
    folded = name.strip().casefold()
    return [column.role for column in form.table.columns if folded in column.known]


def find_id(
    names: Sequence[str], form: Form, options: ReadOptions, where: str
) -> int | None:
    """Return the position of the column of ids, or None if there is none."""
    id_column = form.table.columns[0]._replace(required=False)
    schema = form.table._replace(columns=(id_column,))
    return find_columns(schema, names, options, where).get("id")


def find_columns(
    schema: Schema, names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Return the position of the column of each role. Options may name columns.

    Examples
    --------
    >>> form = Form(noun="caption", columns=("caption",), keys=("caption",), first_id="image_id")
    >>> find_columns(form.table, ["id", "image_id", "caption"], ReadOptions(), "a.csv")
    {'id': 1, 'caption': 2}
    """
    chosen = {}
    for column in schema.columns:
        name = column_among(options, column.role, names)
        if name is not None:
            chosen[column.role] = name
    if chosen and options.side:
        # The other side may have other names, so the error proposes the option of this side.
        schema = schema._replace(flag=f"{options.side}_{schema.flag}")
    try:
        return schema.find(names, chosen, where)
    except InputError as error:
        if error.code == "other-delimiter" and options.side:
            error.values["option"] = f"{options.side}_delimiter"
        raise
