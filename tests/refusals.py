"""Refusals by code and place: what tests of errors assert."""

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
    """Expect an ``InputError``, perhaps of a code, where, and with values that it shows.

    ``where`` is all that the error says of its place, ``place`` the end of it.
    """
    with pytest.raises(InputError, match=None if code in MESSAGES else code) as caught:
        yield caught
    error = caught.value
    assert error.code == code or code not in MESSAGES, f"{error.code}: {error}"
    assert str(error)  # every value that its text needs is there
    assert where in (None, error.where)
    assert error.where.endswith(place)
    assert {name: error.values.get(name) for name in values} == values


def is_refusal(refusal: Any, code: str) -> bool:
    """Return whether a refusal of the command line has a code, or else contains a text."""
    return refusal.code == code or (code not in MESSAGES and code in refusal)


def codes(table: Any) -> list[str]:
    """Return the codes of the facts of a table, in their order; notes without one as they are."""
    return [fact.code if isinstance(fact, Fact) else fact for fact in table.facts]


def facts(table: Any, code: str) -> list[Fact]:
    """Return the facts of a code."""
    return [
        fact for fact in table.facts if isinstance(fact, Fact) and fact.code == code
    ]
