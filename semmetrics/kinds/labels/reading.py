"""How label sets are written, and label sets from whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.form import JSON_ROLES, TABLE_ROLES, Form, ReadOptions
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import is_membership, members
from semmetrics.data.reading import as_data

__all__ = ["FORM", "as_labels"]

FORM = Form(
    noun="label",
    columns=TABLE_ROLES["label"].known,
    keys=JSON_ROLES["label"].known,
    synonyms=True,
)


def as_labels(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists:
    """Read label lists from whatever holds them.

    Parameters
    ----------
    data : path, Loaded, mapping, sequence, pandas Series, array or sparse matrix
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        of label lists is known by position. An array or scipy.sparse matrix of items x classes
        holds 0/1, or scores as floats. A set of labels is taken in sorted order.
    source : str
        What messages call it.
    classes : sequence, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files are read.

    Returns
    -------
    Lists
        ``ranked`` where every class has a score, and nothing says which are predicted.

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_labels({"a": ["cat", "dog"], "b": []}).to_list()
    [['cat', 'dog'], []]
    """
    found = as_data(data, FORM, source=source, classes=classes, options=options)
    if isinstance(found, Lists):
        return found
    member = is_membership(found)
    found = replace(found, understood=f"{found.understood}, {'0/1' if member else 'scores'}")
    return members(found) if member else found.ranked()
