"""Assertions about errors and notes by their code and place."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from semmetrics.errors import Fact, InputError
from semmetrics.messages import MESSAGES


@contextlib.contextmanager
def refused(
    code: str | None, where: str | None = None, *, place: str = "", **values: Any
) -> Iterator[Any]:
    """Expect an ``InputError``.

    Parameters
    ----------
    code : str, optional
        Its code. Other text is a pattern that the message matches.
    where : str, optional
        Its place.
    place : str
        The end of its place.
    **values
        Values that the message shows.
    """
    pattern = None if code in MESSAGES else code
    with pytest.raises(InputError, match=pattern) as caught:
        yield caught
    error = caught.value
    assert str(error)  # The error has all values of its message.
    if code in MESSAGES:
        assert error.code == code, str(error)
    if where is not None:
        assert error.where == where
    assert error.where.endswith(place)
    assert {name: error.values.get(name) for name in values} == values


def codes(table: Any) -> list[str]:
    """Return the codes of the facts of a table, in their order, and notes without a code."""
    return [fact.code if isinstance(fact, Fact) else fact for fact in table.facts]


def facts(table: Any, code: str) -> list[Fact]:
    """Return the facts with a code."""
    found = []
    for fact in table.facts:
        if isinstance(fact, Fact) and fact.code == code:
            found.append(fact)
    return found
