"""What one side says about the labels of the other: names of category ids, and verified labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths, row_numbers
from semmetrics.data.lists import Lists, Terms
from semmetrics.errors import Fact, InputError, at
from semmetrics.messages import listing


def name_categories(preds: Mapping[str, Any], ref: Any) -> tuple[dict[str, Any], Any]:
    """Name the labels of sides that are category ids by the categories of the other side.

    Sides that have names are returned as they are. If no side has categories, ids are compared with
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
    >>> import numpy as np
    >>> from semmetrics.data.lists import Side
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> results = Lists(["7"], ["18"], side, by_category=True)
    >>> instances = Lists(["7"], ["dog"], side, categories={"18": "dog"})
    >>> preds, _ = name_categories({"model": results}, instances)
    >>> preds["model"].to_list()
    [['dog']]
    """
    named = {}
    for system, pred in preds.items():
        named[system] = _named(pred, ref)
    for pred in preds.values():
        ref = _named(ref, pred)
    return named, ref


def _named(side: Any, other: Any) -> Any:
    """Return a side with names in place of category ids, which the other side names.

    Raises
    ------
    InputError
        If the other side does not name them.
    """
    if not isinstance(side, Lists) or not side.by_category:
        return side
    categories = getattr(other, "categories", {})
    if not categories:
        if _has_ids(other):
            return side
        raise InputError("unnamed-categories", side.source, other=other.source)
    for code, entry in enumerate(side.vocabulary):
        if entry not in categories:
            # An item has the place of its first annotation, which may be another one.
            where = at(side.source, "", str(side.ids[side.first_item(code)]))
            example = listing(list(categories))
            raise InputError(
                "unknown-category", where, value=entry, other=other.source, example=example
            )
    names = [categories[str(entry)] for entry in side.vocabulary]
    return replace(side.renamed(names), by_category=False)


def _has_ids(side: Any) -> bool:
    """Return whether the labels of a side are numbers too."""
    if getattr(side, "by_category", False):
        return True
    return all(isinstance(entry, str) and entry.isdecimal() for entry in side.vocabulary)


def leave_out_unverified(pred: Any, ref: Any, clean: Callable[[str], Terms]) -> Any:
    """Leave the labels out of predictions of which nobody knows whether the item has them.

    The ground truth says for each item which labels were verified. A label that is none of its
    categories is left as it is.

    Parameters
    ----------
    pred, ref : Lists or Matrix
    clean : callable
        Normalises a label, as the join does.

    Returns
    -------
    Lists or Matrix
        With a note of how many labels were left out.

    Examples
    --------
    >>> from semmetrics.data.lists import Side
    >>> side = Side(np.array([0, 2]), np.array([0, 1]))
    >>> pred = Lists(["7"], ["cat", "dog"], side)
    >>> truth = {"verified": {"7": frozenset(["cat"])}, "categories": {"1": "cat", "2": "dog"}}
    >>> ref = Lists(["7"], ["cat"], Side(np.array([0, 1]), np.array([0])), **truth)
    >>> leave_out_unverified(pred, ref, lambda label: (label,)).to_list()
    [['cat']]
    """
    if not isinstance(ref, Lists) or not ref.verified or not isinstance(pred, Lists):
        return pred
    every = {clean(name) for name in ref.categories.values()}
    labels = [clean(terms[0]) for terms in pred.terms]
    codes = pred.side.codes.tolist()
    keep = np.ones(len(codes), np.bool_)
    rows = row_numbers(pred.side.indptr).tolist()
    known_ids = [ref.aliases.get(str(id_), str(id_)) for id_ in pred.ids]
    verified = {}
    for id_ in set(known_ids):
        verified[id_] = {clean(name) for name in ref.verified.get(id_, ())}
    for place, (row, code) in enumerate(zip(rows, codes, strict=True)):
        label = labels[code]
        keep[place] = label not in every or label in verified[known_ids[row]]
    n_left_out = int((~keep).sum())
    if not n_left_out:
        return pred
    n_items = int((lengths(pred.side.keep(keep).indptr) < lengths(pred.side.indptr)).sum())
    values = {"items": n_items, "other": ref.source}
    note = Fact("unverified-labels", n_left_out, values=values)
    return replace(pred, side=pred.side.keep(keep), notes=[*pred.notes, note], whole=None)
