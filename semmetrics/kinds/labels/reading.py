"""How label sets are written, and label sets from whatever holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.coco import is_coco, read_coco_labels
from semmetrics.data.form import FORMATS, Form, ReadOptions
from semmetrics.data.inputs import as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import is_membership, members

__all__ = ["FORM", "as_labels"]

FORM = Form(
    noun="label",
    columns=("label", "labels", "name", "names", "class", "category", "tag", "tags"),
    keys=("labels", "names", "tags", "categories"),
    formats=tuple(name for name in FORMATS if name != "txt"),
    coco=read_coco_labels,
    is_coco=is_coco,
    scored=True,
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
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. A mapping or a Series has ids; a sequence
        of label lists is known by position; a sequence of records, a frame or a mapping of columns
        has ids and labels. An array, tensor or scipy.sparse matrix of items x classes, and a frame
        of numbers, hold 0/1, or scores as floats. A set of labels is taken in sorted order.
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
    found = as_data(data, FORM, source=source, names=classes, options=options)
    if isinstance(found, Lists):
        return found
    member = is_membership(found)
    found = replace(found, understood=f"{found.understood}, {'0/1' if member else 'scores'}")
    return members(found) if member else found.ranked()
