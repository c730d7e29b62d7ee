"""Links from children to parents, as users write them, each with its place for messages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from semmetrics.data.places import at, shown
from semmetrics.errors import InputError, brief

__all__ = ["Links", "Placing", "checked", "of_pairs", "of_parents"]

Links: TypeAlias = "Iterable[tuple[str, str | None]]"
Placing: TypeAlias = "Iterator[tuple[Any, Any, str]]"


def of_parents(parents: Mapping[str, Any], source: str) -> Placing:
    """Links of ``{child: parent}``, ``{child: [parents]}`` or ``{root: None}``."""
    for child, given in parents.items():
        where = at(source, shown(child))
        several = given if isinstance(given, (list, tuple)) else [given]
        for parent in several or [None]:
            if parent is None and given is not None and several:
                raise InputError("a parent is null", where=where, remedy="leave it out")
            yield child, parent, where


def of_pairs(edges: Iterable[Any], source: str) -> Placing:
    """Links of (child, parent) pairs."""
    for number, edge in enumerate(edges):
        where = at(source, f"link {number} (from 0)")
        if not isinstance(edge, (list, tuple)) or len(edge) != 2:
            raise InputError(
                f"{brief(edge)} is no link", where=where, remedy='write ["cat", "animal"]'
            )
        yield edge[0], edge[1], where


def checked(links: Placing) -> Links:
    """Links whose ends are names.

    Raises
    ------
    InputError
        If a name is empty or no text, or its own parent.
    """
    for child, parent, where in links:
        for name in (child,) if parent is None else (child, parent):
            if not isinstance(name, str):
                raise InputError(
                    f"{brief(name)} is a {type(name).__name__}, not a name",
                    where=where,
                    remedy="write names as text",
                )
            if not name.strip():
                raise InputError("a name is empty", where=where, remedy="name it, or remove it")
        if child == parent:
            raise InputError(f"{child!r} is its own parent", where=where, remedy="remove the link")
        yield child, parent
