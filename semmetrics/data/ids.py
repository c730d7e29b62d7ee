"""Ids of items of Python objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from semmetrics.errors import InputError

__all__ = ["index_ids", "is_numbering", "string_ids"]


def string_ids(names: Iterable[Any], source: str, *, repeats: bool = False) -> list[str]:
    """Ids as text; only strings and whole numbers are ids, and none may be there twice.

    Examples
    --------
    >>> string_ids([7, "a"], "input")
    ['7', 'a']
    """
    ids = []
    for name in names:
        if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
            raise InputError(
                f"the id {name!r} is a {type(name).__name__}",
                where=source,
                remedy="ids are strings or whole numbers",
            )
        ids.append(str(name))
    if not repeats and len(set(ids)) != len(ids):
        twice = Counter(ids).most_common(1)[0][0]
        raise InputError(f"the id {twice!r} is there twice", where=source, remedy="keep one")
    return ids


def is_numbering(index: Any) -> bool:
    """Whether an index is the plain numbering that pandas makes by itself."""
    return type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1)


def index_ids(index: Any, source: str) -> list[str] | None:
    """The ids of an index; None for the plain numbering that pandas makes by itself."""
    if is_numbering(index):
        return None
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise InputError(f"the id {twice!r} is there twice", where=source, remedy="keep one")
    return string_ids(index, source)
