"""Find the columns of a table: ids, entries and scores, or one column per label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import contextmanager

from semmetrics.data.form import FILE_ID, Form
from semmetrics.data.read_options import ReadOptions, is_truth
from semmetrics.errors import InputError
from semmetrics.options import SIDES
from semmetrics.schema import ID_NAMES, Schema


def chosen_column(options: ReadOptions, role: str, names: Sequence[str]) -> str | None:
    """Return the name that the options give to the column of a role, or None.

    An option for the column of scores may apply to the predictions only. It is ignored for a
    ground truth without such a column.
    """
    name = options.column(role)
    if role == "score" and is_truth(options) and name not in names:
        return None
    return name


def column_flag(role: str, options: ReadOptions) -> str:
    """Return the option that names the column of a role, for one side if the side is known.

    Examples
    --------
    >>> column_flag("label", ReadOptions())
    'label_column'
    """
    if options.side:
        return f"{options.side}_{role}_column"
    return f"{role}_column"


@contextmanager
def proposing_shared_options() -> Iterator[None]:
    """Let errors propose options of both sides, for functions without options of one side.

    Examples
    --------
    >>> with proposing_shared_options():
    ...     raise InputError("ambiguous-column", role="id", found=["a"], flag="gt_id_column")
    Traceback (most recent call last):
    semmetrics.errors.InputError: several columns could be id: 'a'. Choose one with id_column=.
    """
    try:
        yield
    except InputError as error:
        for key in ("flag", "option"):
            side, _, name = str(error.values.get(key)).partition("_")
            if side in SIDES:
                error.values[key] = name
        raise


def is_one_hot(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
) -> bool:
    """Return whether a table has one column per label, judging by the names of its columns.

    A one-hot table has a column whose name does not usually mean ids, labels or scores. A table is
    not one-hot if an option names its column of labels or scores, or if it has a column called
    "score" or "label". A column called "label" may be the class of that name if it contains numbers.

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
    if _is_entry_column_chosen(names, form, options):
        return False
    has_class_column = False
    for name in names:
        if name in classes:
            has_class_column = True
            continue
        roles = _roles_of_name(name, form)
        contains_labels = form.noun in roles and name not in numbers
        if contains_labels or "score" in roles:
            return False
        if not roles and name != options.id_column:
            has_class_column = True
    return has_class_column


def _is_entry_column_chosen(
    names: Sequence[str], form: Form, options: ReadOptions
) -> bool:
    """Return whether an option names the column of labels or scores."""
    _, *roles_of_entries = form.roles
    for role in roles_of_entries:
        if chosen_column(options, role, names) is not None:
            return True
    return False


def role_of(name: str, form: Form, options: ReadOptions) -> str:
    """Return the role of a column: the first one that an option or the usual names give it.

    If an option names the column of ids, no other column has this role. Return "" for a column
    without a role.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label", "tag"), keys=("labels",))
    >>> names = ["id", "image", "Tag", "dog"]
    >>> [role_of(name, form, ReadOptions()) for name in names]
    ['id', 'id', 'label', '']
    >>> [role_of(name, form, ReadOptions(id_column="image")) for name in names]
    ['', 'id', 'label', '']
    """
    folded = name.strip().casefold()
    for column in form.table.columns:
        if name == options.column(column.role):
            return column.role
        if folded in column.known:
            is_other_id = column.role == "id" and options.id_column
            return "" if is_other_id else column.role
    return ""


def _roles_of_name(name: str, form: Form) -> list[str]:
    """Return all roles whose columns usually have this name, whatever the options name."""
    folded = name.strip().casefold()
    return [column.role for column in form.table.columns if folded in column.known]


def has_usual_id_name(names: Iterable[str]) -> bool:
    """Return whether one of the columns has a usual name of ids."""
    usual_names = {*ID_NAMES, FILE_ID}
    return any(name.strip().casefold() in usual_names for name in names)


def find_id(
    names: Sequence[str], form: Form, options: ReadOptions, where: str
) -> int | None:
    """Return the position of the column of ids, or None if the table has no such column."""
    id_column = form.table.columns[0]._replace(required=False)
    schema = form.table._replace(columns=(id_column,))
    return find_columns(schema, names, options, where).get("id")


def find_columns(
    schema: Schema, names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Return the position of the column of each role. Options may set the names.

    Examples
    --------
    >>> form = Form(noun="caption", columns=("caption",), keys=("caption",), first_id="image_id")
    >>> find_columns(form.table, ["id", "image_id", "caption"], ReadOptions(), "a.csv")
    {'id': 1, 'caption': 2}
    """
    chosen = {}
    for column in schema.columns:
        name = chosen_column(options, column.role, names)
        if name is not None:
            chosen[column.role] = name
    if options.side:
        # Errors propose an option. The other side may have other names and another delimiter, so it
        # is gt_label_column or gt_delimiter, for instance, not label_column or delimiter.
        schema = schema._replace(flag=f"{options.side}_{schema.flag}")
    try:
        return schema.find(names, chosen, where)
    except InputError as error:
        if error.code == "other-delimiter" and options.side:
            error.values["option"] = f"{options.side}_delimiter"
        raise
