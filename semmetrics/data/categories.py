"""Labels of COCO's instances: names of category ids, and the verified labels of LVIS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import offsets
from semmetrics.data.lists import Lists, Side
from semmetrics.data.matrix import ABSENT, PRESENT
from semmetrics.errors import InputError, format_place
from semmetrics.messages import listing


def name_categories(preds: Mapping[str, Any], ref: Any) -> tuple[dict[str, Any], Any]:
    """Replace category ids by their names, which the other side defines.

    Sides that have names are returned unchanged. If no side has categories, ids are compared with
    ids.

    Parameters
    ----------
    preds : mapping from system to Lists or Matrix
    ref : Lists or Matrix

    Returns
    -------
    tuple of dict and Lists or Matrix
        Predictions and ground truth.

    Raises
    ------
    InputError
        If an id is not in the categories of the other side, or the other side has names and no
        categories.

    Examples
    --------
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> results = Lists(["7"], ["18"], side, by_category=True)
    >>> instances = Lists(["7"], ["dog"], side, categories={"18": "dog"})
    >>> preds, _ = name_categories({"model": results}, instances)
    >>> preds["model"].to_list()
    [['dog']]
    """
    named = {}
    for system, pred in preds.items():
        named[system] = _name_labels(pred, ref)
    for pred in preds.values():
        ref = _name_labels(ref, pred)
    return named, ref


def _name_labels(side: Any, other: Any) -> Any:
    """Return a side with names instead of category ids.

    Raises
    ------
    InputError
        If the other side does not name the category ids.
    """
    if not isinstance(side, Lists) or not side.by_category:
        return side
    categories = getattr(other, "categories", {})
    if not categories:
        if _may_be_category_ids(other):
            return side
        raise InputError("unnamed-categories", side.source, other=other.source)
    for code, entry in enumerate(side.vocabulary):
        if entry not in categories:
            # The items know only the line of their first annotation, so the error names the id.
            where = format_place(side.source, "", str(side.ids[side.first_item(code)]))
            example = listing(list(categories))
            raise InputError(
                "unknown-category",
                where,
                value=entry,
                other=other.source,
                example=example,
            )
    names = [categories[str(entry)] for entry in side.vocabulary]
    return replace(side.renamed(names), by_category=False)


def _may_be_category_ids(side: Any) -> bool:
    """Return whether the labels of a side are category ids, or at least integers."""
    if getattr(side, "by_category", False):
        return True
    for entry in side.vocabulary:
        if not isinstance(entry, str) or not entry.isdecimal():
            return False
    return True


def mark_verified(ref: Lists) -> Lists:
    """Mark the labels of a federated ground truth that are present and those that are absent.

    Parameters
    ----------
    ref : Lists
        Returned unchanged if it is not of a federated dataset.

    Returns
    -------
    Lists
        The scores are marks.

    Examples
    --------
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> lists = Lists(["7"], ["cat", "dog", "owl"], side, absent={"7": ["owl"]})
    >>> marked = mark_verified(lists)
    >>> marked.to_list(), marked.side.scores.tolist()
    ([['cat', 'owl']], [1.0, -1.0])
    """
    if not ref.absent:
        return ref
    code_of = {entry: code for code, entry in enumerate(ref.vocabulary)}
    present_codes = np.split(ref.side.codes, ref.side.indptr[1:-1])
    codes: list[int] = []
    marks: list[float] = []
    sizes: list[int] = []
    for id_, present in zip(ref.ids, present_codes, strict=True):
        absent_labels = dict.fromkeys(ref.absent[str(id_)])
        absent = [code_of[label] for label in absent_labels]
        codes.extend(present.tolist())
        codes.extend(absent)
        marks.extend([PRESENT] * len(present))
        marks.extend([ABSENT] * len(absent))
        sizes.append(len(present) + len(absent))
    side = Side(
        offsets(np.array(sizes)),
        np.array(codes, np.int32),
        np.array(marks, np.float64),
    )
    return replace(
        ref,
        side=side,
        has_marks=True,
        is_federated=True,
        absent={},
        whole=None,
    )
