"""Arguments of the wrong type, refused by what the annotations of a function say.

Conventions
-----------
A bool is no number. A whole number fits where a number is expected, and must fit 64 bits. Texts,
bytes and mappings are no lists. What an annotation leaves open (``Any``, protocols, the items of an
iterator, names that only type checkers import) is for the function itself to check.
"""

from __future__ import annotations

import os
import types
from collections import Counter
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from functools import cache
from numbers import Integral, Real
from typing import Any, Union, get_args, get_origin, get_type_hints

from semmetrics.errors import InputError

_NAMES: dict[Any, tuple[str, str]] = {
    str: ("a text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("True or False", "booleans"),
    os.PathLike: ("a path", "paths"),
    Callable: ("a function", "functions"),
    Mapping: ("a mapping", "mappings"),
}
_hints = cache(get_type_hints)


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Refuse a value that is not one of some choices.

    Examples
    --------
    >>> check_choice("missing", "drop", ("error", "skip"))
    Traceback (most recent call last):
    semmetrics.errors.InputError: missing='drop'; choose one of error, skip
    """
    if value not in choices:
        raise InputError("bad-choice", name=name, value=value, choices=choices)


def check_once(
    names: Sequence[Any], code: str, where: object = "", **values: Any
) -> None:
    """Refuse names of which one appears twice; the message shows it as ``value``.

    Examples
    --------
    >>> check_once(["a", "b", "a"], "duplicate-id", "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the id 'a' appears twice; keep one record for each id
    """
    if len(set(names)) != len(names):
        raise InputError(
            code, where, value=Counter(names).most_common(1)[0][0], **values
        )


def check_fields(record: Any) -> None:
    """Refuse values of another type than the annotations of a record's fields.

    Raises
    ------
    InputError
        Names the field.
    """
    kind: type = type(record)
    for name, hint in _hints(kind).items():
        check_type(name, getattr(record, name), hint)


def check_type(name: str, value: Any, hint: Any) -> None:
    """Refuse a value that is not of a type.

    Raises
    ------
    InputError
        Names the argument, and says what is allowed.

    Examples
    --------
    >>> check_type("top_k", (1, "3"), int | Sequence[int] | None)
    Traceback (most recent call last):
    semmetrics.errors.InputError: top_k=(1, '3'); give a whole number or a list of whole numbers
    """
    if not _test(hint)(value):
        raise InputError(
            "bad-option", name=name, value=value, wanted=describe_type(hint)
        )


@cache
def _test(hint: Any) -> Callable[[Any], bool]:
    """Return the function that tells whether a value is of a type."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        # what most arguments are
        first = sorted(inner, key=lambda one: one is not type(None))
        tests = [_test(one) for one in first]
        return lambda value: any(test(value) for test in tests)
    if kind in (Sequence, Iterable):
        item = _test(inner[0]) if inner and inner[0] is not Any else None
        return lambda value: _is_list(value, kind, item)
    if kind is bool:
        return _is_bool
    if kind in (int, float):
        return lambda value: _is_number(value, Integral if kind is int else Real)
    if kind is Callable:
        return lambda value: callable(value) and not isinstance(value, type)
    known = (
        isinstance(kind, type)
        and kind is not Any
        and not getattr(kind, "_is_protocol", False)
    )
    return lambda value: not known or isinstance(value, kind)


def _is_bool(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # NumPy's, too


def _is_number(value: Any, kind: type) -> bool:
    if _is_bool(value) or not isinstance(value, kind):
        return False
    return not isinstance(value, Integral) or -(2**63) <= int(value) < 2**63


def _is_list(value: Any, kind: Any, item: Callable[[Any], bool] | None) -> bool:
    if isinstance(value, str | bytes | bytearray | Mapping | type):
        return False
    # the items of an iterator are seen when they are used
    if isinstance(value, Iterator | Set):
        return kind is Iterable
    scalar = getattr(value, "shape", None) == ()  # of NumPy
    if scalar or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        return False
    return item is None or all(map(item, value))


def describe_type(hint: Any) -> str:
    """Say in words which values a type has.

    Examples
    --------
    >>> describe_type(str | os.PathLike[str] | None), describe_type(Sequence[int])
    ('a text or a path', 'a list of whole numbers')
    """
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        words = dict.fromkeys(
            describe_type(one) for one in inner if one is not type(None)
        )
        *first, last = words
        return f"{', '.join(first)} or {last}" if first else last
    if kind in (Sequence, Iterable):
        items = _NAMES.get(inner[0], ("", ""))[1] if inner else ""
        return f"a list of {items}".removesuffix(" of ")
    return _NAMES[kind][0] if kind in _NAMES else getattr(kind, "__name__", str(kind))
