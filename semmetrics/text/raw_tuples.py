"""Raw tuples, the output of caption parsers for SPICE.

Conventions
-----------
A raw tuple is ``(object,)``, ``(object, attribute)`` or ``(subject, object,
relation)``, with the words in this order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from semmetrics.errors import InputError
from semmetrics.messages import brief

RawTuple: TypeAlias = Sequence[str]
Parsed: TypeAlias = list[list[str]]
"""The raw tuples of a caption."""


def check_tuples(tuples: object, where: str) -> None:
    """Check that the parse of a caption is a list of raw tuples.

    Raises
    ------
    InputError
        If it is not. The message shows the first element that is not a raw tuple.
    """
    if not isinstance(tuples, list | tuple):
        raise _not_a_tuple(tuples, where)
    for raw in tuples:
        if not _is_raw_tuple(raw):
            raise _not_a_tuple(raw, where)


def _is_raw_tuple(raw: object) -> bool:
    """Return whether a value is a list of one to three non-empty words."""
    if not isinstance(raw, list | tuple) or not 1 <= len(raw) <= 3:
        return False
    return all(isinstance(word, str) and word.strip() for word in raw)


def _not_a_tuple(value: object, where: str) -> InputError:
    """Return the error for a value that is not a raw tuple."""
    return InputError(
        "wrong-content",
        where,
        value=brief(value),
        wanted="a tuple of a scene graph",
        example='["dog"] or ["dog", "small"]',
    )
