"""Arguments of the wrong type, refused by what the annotations of a function say.

Conventions
-----------
A bool is no number. A whole number fits where a number is expected, and must fit 64 bits. Texts,
bytes and mappings are no lists. What an annotation leaves open (``Any``, the items of an iterator,
names that only type checkers import) is for the function itself to check.
"""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, TextIO, Union, get_args, get_origin

from semmetrics.errors import InputError

_NAMES: dict[Any, tuple[str, str]] = {
    str: ("a text", "texts"),
    int: ("a whole number", "whole numbers"),
    float: ("a number", "numbers"),
    bool: ("True or False", "booleans"),
    os.PathLike: ("a path", "paths"),
    Callable: ("a function", "functions"),
    Mapping: ("a mapping", "mappings"),
    TextIO: ("a text stream", "text streams"),
    type(None): ("None", "None"),
}
_LISTS = (Sequence, Iterable, list, tuple, set, frozenset)


def _evaluate(hint: Any, names: Mapping[str, Any]) -> Any:
    """Return what an annotation means; Any where it names what is not imported."""
    while isinstance(hint, str):
        try:
            hint = eval(hint, dict(names))
        except NameError:
            return Any
    return hint


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


def check_fields(record: Any) -> None:
    """Refuse values of another type than the annotations of a record's fields.

    Raises
    ------
    InputError
        Names the field.
    """
    kind: type = type(record)
    for name, hint in _field_hints(kind):
        check_type(name, getattr(record, name), hint)


@cache
def _field_hints(kind: type) -> list[tuple[str, Any]]:
    """Return the fields of a class of records with what their annotations mean."""
    names = vars(sys.modules[kind.__module__])
    return [(name, _evaluate(hint, names)) for name, hint in kind.__annotations__.items()]


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
        raise InputError("bad-option", name=name, value=value, wanted=describe_type(hint))


@cache
def _test(hint: Any) -> Callable[[Any], bool]:
    """Return the function that tells whether a value is of a type."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        first = sorted(inner, key=lambda one: one is not type(None))  # what most arguments are
        tests = [_test(one) for one in first]
        return lambda value: any(test(value) for test in tests)
    if kind in _LISTS:
        return lambda value: _is_list(value, kind, inner)
    if kind in _FITS:
        fits = _FITS[kind]
        return lambda value: bool(fits(value, inner))
    return lambda value: not isinstance(kind, type) or isinstance(value, kind)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")  # NumPy's


def _is_number(value: Any, kind: type) -> bool:
    if _is_bool(value) or not isinstance(value, kind):
        return False
    return not isinstance(value, Integral) or -(2**63) <= int(value) < 2**63


def _is_list(value: Any, kind: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, str | bytes | bytearray | Mapping | type):
        return False
    if kind is list:  # which the function adds to
        return isinstance(value, list) and (not inner or all(map(_test(inner[0]), value)))
    if isinstance(value, Iterator | Set):  # the items of an iterator are seen when they are used
        return kind is Iterable or isinstance(value, kind)
    scalar = getattr(value, "shape", None) == ()  # of NumPy
    if scalar or not (hasattr(value, "__len__") and hasattr(value, "__iter__")):
        return False
    if kind is tuple and ... not in inner and inner:
        return len(value) == len(inner) and all(
            _test(each)(one) for each, one in zip(inner, value, strict=True)
        )
    return not inner or all(map(_test(inner[0]), value))


_FITS: Mapping[Any, Callable[[Any, tuple[Any, ...]], Any]] = {
    Any: lambda value, inner: True,
    None: lambda value, inner: value is None,
    Literal: lambda value, inner: isinstance(value, str | int) and value in inner,
    int: lambda value, inner: _is_number(value, Integral),
    float: lambda value, inner: _is_number(value, Real),
    bool: lambda value, inner: _is_bool(value),
    Callable: lambda value, inner: callable(value) and not isinstance(value, type),
    TextIO: lambda value, inner: hasattr(value, "write") and not isinstance(value, type),
}


def describe_type(hint: Any) -> str:
    """Say in words which values a type has.

    Examples
    --------
    >>> describe_type(str | os.PathLike[str] | None), describe_type(Literal["f1", "youden"])
    ('a text or a path', "'f1' or 'youden'")
    """
    inner = get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        words = dict.fromkeys(describe_type(one) for one in inner if one is not type(None))
    else:
        words = dict.fromkeys(_describe(hint, inner))
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last


def _describe(hint: Any, inner: tuple[Any, ...]) -> list[str]:
    kind = get_origin(hint) or hint
    if kind is Literal:
        return [repr(one) for one in inner]
    if kind in _LISTS:
        items = _NAMES.get(inner[0], ("", ""))[1] if inner else ""
        return [f"a list of {items}" if items else "a list"]
    return [_NAMES[kind][0] if kind in _NAMES else getattr(kind, "__name__", str(kind))]
