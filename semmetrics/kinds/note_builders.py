"""Build notes to the user, for the kinds and for studies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from semmetrics.errors import FROM_0, MAX_EXAMPLES, Fact


def counted(
    code: str, n: int, examples: Iterable[Any] = (), where: str = "", **values: Any
) -> list[Fact]:
    """Return a note on something that occurs ``n`` times, or no note if ``n`` is 0.

    Parameters
    ----------
    code : str
        The key of the message.
    n : int
    examples : iterable of str
        Only the first ones are stored.
    where : str
        The input or task that the note is about.
    **values
        Other values of the message.
    """
    if not n:
        return []
    return [Fact(code, n, tuple(examples)[:MAX_EXAMPLES], where, values)]


def named(
    code: str, names: Iterable[Any], where: str = "", **values: Any
) -> list[Fact]:
    """Return a note that counts names and shows the first ones, or no note without names.

    The other parameters are as for `counted`.
    """
    all_names = list(names)
    return counted(code, len(all_names), all_names, where, **values)


def of_items(code: str, lists: Any, rows: Any, **values: Any) -> list[Fact]:
    """Return a note that counts items and shows the first ids or positions.

    Parameters
    ----------
    code : str
        The key of the message.
    lists : Lists
    rows : int array
        The rows of the items. If there are none, there is no note.
    **values
        Other values of the message.
    """
    numbered = ""
    if isinstance(lists.ids, (range, np.ndarray)):
        numbered = FROM_0
    examples = []
    for row in rows[:MAX_EXAMPLES].tolist():
        item_id = lists.ids[row]
        if isinstance(item_id, np.generic):
            item_id = item_id.item()
        examples.append(item_id)
    values |= {"total": len(lists), "noun": lists.noun, "numbered": numbered}
    return counted(code, len(rows), examples, **values)


def no_effect(option: str, why: str) -> Fact:
    """Return the note that an option has no effect."""
    return Fact("no-effect", values={"option": option, "why": why})
