"""Wrong documents: a valid document with another value in one of its places."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

# Placeholders of values that json cannot write.
NESTED_LISTS = "@nested@"
LONG_NUMBER = "@long@"
TEXT_OF_PLACEHOLDER = {
    f'"{NESTED_LISTS}"': "[" * 2000 + "]" * 2000,
    f'"{LONG_NUMBER}"': "9" * 10_000,
}

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 10**400, 1e308, -1e308, 2**63, 0.5),
    *("", "x", "x" * 10**6, "\ud800", [], {}, [[]], {"": {}}),
    *(float("nan"), float("inf"), NESTED_LISTS, LONG_NUMBER),
)

Path = tuple[Any, ...]


def paths_of_values(document: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of the document, and of each value in it."""
    yield path
    children: Any = ()
    if isinstance(document, dict):
        children = document.items()
    elif isinstance(document, list):
        children = list(enumerate(document))[:3]
    for key, value in children:
        yield from paths_of_values(value, (*path, key))


def copy_with_parent(document: Any, path: Path) -> tuple[Any, Any]:
    """Return a copy of a document, and the object in it that contains the value at a path."""
    changed = copy.deepcopy(document)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    return changed, parent


def replace_value(document: Any, path: Path, value: Any) -> Any:
    """Return a copy with another value at a path."""
    if not path:
        return value
    changed, parent = copy_with_parent(document, path)
    parent[path[-1]] = value
    return changed


def remove_value(document: Any, path: Path) -> Any:
    """Return a copy without a key or an element."""
    changed, parent = copy_with_parent(document, path)
    del parent[path[-1]]
    return changed


def wrong_documents(document: Any) -> Iterator[tuple[str, str]]:
    """Yield a description of a change, and the changed document as JSON."""
    for path in paths_of_values(document):
        for value in VALUES:
            text = json.dumps(replace_value(document, path, value))
            for placeholder, replacement in TEXT_OF_PLACEHOLDER.items():
                text = text.replace(placeholder, replacement)
            yield f"{path} = {str(value)[:20]}", text
        if path:
            yield f"{path} removed", json.dumps(remove_value(document, path))
