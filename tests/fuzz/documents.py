"""Wrong documents: a valid one with another value in each of its places, one at a time."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

DEEP = "@deep@"  # stands for brackets in brackets, which json cannot write
HUGE = "@huge@"  # and for a number of more digits than Python reads

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**400,
    1e308,
    -1e308,
    2**63,
    0.5,
    "",
    "x",
    "x" * 10**6,
    "\ud800",
    [],
    {},
    [[]],
    {"": {}},
    float("nan"),
    float("inf"),
    DEEP,
    HUGE,
)


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value in a document, its own first."""
    yield path
    inside: Any = ()
    if isinstance(document, dict):
        inside = document.items()
    elif isinstance(document, list):
        inside = list(enumerate(document))[:3]
    for key, value in inside:
        yield from places(value, (*path, key))


def changed(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """Return a copy with another value in one place."""
    if not path:
        return value
    found = copy.deepcopy(document)
    owner = found
    for key in path[:-1]:
        owner = owner[key]
    owner[path[-1]] = value
    return found


def without(document: Any, path: tuple[Any, ...]) -> Any:
    """Return a copy without one key or element."""
    found = copy.deepcopy(document)
    owner = found
    for key in path[:-1]:
        owner = owner[key]
    del owner[path[-1]]
    return found


def wrong_documents(document: Any) -> Iterator[tuple[str, str]]:
    """Yield what was changed, and the text of the document, as JSON."""
    for path in places(document):
        for value in VALUES:
            text = json.dumps(changed(document, path, value))
            text = text.replace(f'"{DEEP}"', "[" * 2000 + "]" * 2000)
            yield f"{path} = {str(value)[:20]}", text.replace(f'"{HUGE}"', "9" * 10_000)
        if path:
            yield f"{path} left out", json.dumps(without(document, path))
