"""The form of a batch: whether it has scores, and what scores of 0 and 1 mean.

Conventions
-----------
A batch has one of these forms:

- "plain": lists without scores.
- "empty": lists without entries.
- "zeros": every score is 0 or 1, and some are 0. They mark the labels of each item.
- "members": a matrix or mapping of 0 and 1, or of booleans, which mark the labels of each item.
- "cells": a matrix of 0 and 1 whose cells could also be scores.
- "scores": lists with scores.
- "table": a matrix of scores.
- "whole": a matrix or a part of the items that was evaluated directly, so its form is unknown.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace

import numpy as np

from semmetrics.core.ragged import row_numbers
from semmetrics.data.lists import Lists, Side

FORM_NAMES = {
    "table": "a matrix of scores",
    "cells": "a matrix of 0 and 1",
    "empty": "empty lists",
    "plain": "lists without scores",
    "members": "0/1",
    "zeros": "scores of 0 and 1",
    "scores": "scores",
    "whole": "a matrix, or a part of the items",
}
"""The names of the forms in messages."""
_MEMBER_FORMS = frozenset({"zeros", "members", "cells"})
"""Forms in which 1 marks a label of an item."""
_SCORE_FORMS = frozenset({"scores", "table"})
_INCOMPATIBLE_FORMS = {
    "plain": frozenset({"zeros", "scores"}),
    "table": frozenset(FORM_NAMES) - {"table", "cells"},
    "whole": frozenset(FORM_NAMES) - {"whole"},
}
"""The forms that one call of ``score`` would not accept together with a form."""


def form_of(lists: Lists) -> str:
    """Return the form of a batch.

    Examples
    --------
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> form_of(Lists(range(1), ["cat"], side))
    'plain'
    >>> form_of(Lists(range(1), ["cat"], replace(side, scores=np.array([0.5]))))
    'scores'
    """
    if lists.ranked:
        return "table"
    if lists.cells == "either":
        return "cells"
    if lists.whole is not None and lists.side.scores is None:
        return "zeros"
    if not len(lists.side.codes):
        return "empty"
    if lists.side.scores is not None:
        return "scores"
    return "members" if lists.order in ("columns", "keys") else "plain"


def marks_members(forms: Set[str]) -> bool:
    """Return whether 1 marks a label of an item in one of the forms."""
    return not _MEMBER_FORMS.isdisjoint(forms)


def has_scores(forms: Set[str]) -> bool:
    """Return whether entries have scores in one of the forms."""
    return not _SCORE_FORMS.isdisjoint(forms)


def are_compatible(forms: Set[str]) -> bool:
    """Return whether one call of ``score`` would accept all of the forms together."""
    for form in forms:
        incompatible = _INCOMPATIBLE_FORMS.get(form, frozenset())
        if not incompatible.isdisjoint(forms):
            return False
    return True


def describe_forms(forms: Set[str]) -> str:
    """Return the names of some forms for messages.

    Examples
    --------
    >>> describe_forms({"scores", "empty"})
    'empty lists and scores'
    """
    return " and ".join(name for form, name in FORM_NAMES.items() if form in forms)


# ---- reading a batch in another form ------------------------------------------------------------


def has_only_ones(side: Side) -> bool:
    """Return whether entries have scores, and all of them are 1."""
    return side.scores is not None and bool((side.scores == 1).all())


def as_table(lists: Lists) -> Lists:
    """Return a matrix of 0 and 1 as a matrix of scores, with a score in every cell."""
    n_items = len(lists)
    n_columns = len(lists.vocabulary)
    scores = np.zeros((n_items, n_columns))
    rows = row_numbers(lists.side.indptr)
    scores[rows, lists.side.codes] = 1.0
    indptr = np.arange(n_items + 1) * n_columns
    columns = np.arange(n_columns, dtype=np.int32)
    codes = np.tile(columns, n_items)
    return replace(
        lists,
        side=Side(indptr, codes, scores.ravel()),
        ranked=True,
        cells="",
        order="",
        understood=lists.understood_as_scores or lists.understood,
        understood_as_scores="",
    )


def as_members(lists: Lists) -> Lists:
    """Return lists whose scores are all 1 as lists in which 1 marks the labels of an item."""
    return replace(
        lists,
        side=replace(lists.side, scores=None),
        order=lists.order or "keys",
        understood=f"{lists.understood}, 0/1",
        whole=lists,
        names_all=True,
    )
