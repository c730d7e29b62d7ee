"""Arguments of the wrong type, refused by what the annotations of a function say.

Conventions
-----------
A bool is no number. A whole number fits where a number is expected, and must fit 64 bits. Texts,
bytes and mappings are no lists. What an annotation leaves open (``Any``, the items of an iterator,
names that only type checkers import) is for the function itself to check.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from functools import cache, update_wrapper
from numbers import Integral, Real
from typing import Any, Literal, TextIO, TypeVar, Union, get_args, get_origin

from semmetrics.errors import InputError
from semmetrics.messages import brief

__all__ = ["check_fields", "check_type", "checked", "checked_but", "describe_type",
           "foreign_errors"]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
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
_ARRAYS = "ArrayLike"


def checked_but(*names: str) -> Callable[[F], F]:
    """Return `checked` for functions that say more of some arguments themselves."""
    return lambda function: checked(function, names)


def checked(function: F, unchecked: Sequence[str] = ()) -> F:
    """Check the arguments of each call of a function against its annotations.

    Raises
    ------
    InputError
        By the function that is made, for an argument of the wrong type.

    Examples
    --------
    >>> @checked
    ... def cut(text: str, *, most: int = 3) -> str:
    ...     return text[:most]
    >>> cut("kitten"), cut("kitten", most=2)
    ('kit', 'ki')
    >>> cut("kitten", most="2")
    Traceback (most recent call last):
    semmetrics.errors.InputError: most='2'; give a whole number
    """
    read = cache(lambda: _parameters(function))

    def check(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        positional, hints, choices = read()
        given = {**dict(zip(positional, args, strict=False)), **kwargs}
        for name, value in given.items():
            if name in hints and name not in unchecked:
                check_type(name, value, hints[name], choices.get(name, ()))
        arrays = {name: value for name, value in given.items() if _is_array(hints.get(name))}
        for name, value in arrays.items():
            refuse_masked(value, name)
        return arrays

    blame = _blame_arrays

    def call(*args: Any, **kwargs: Any) -> Any:
        given = check(args, kwargs)
        try:
            return function(*args, **kwargs)
        except (TypeError, ValueError, OverflowError) as error:
            blame(error, given)
            raise

    # with the function's own globals, by which doctest knows the module that it is of
    made = types.FunctionType(
        call.__code__, function.__globals__, function.__name__, None, call.__closure__
    )
    update_wrapper(made, function)
    return made  # type: ignore[return-value]


def _parameters(
    function: Callable[..., Any],
) -> tuple[list[str], dict[str, Any], dict[str, list[str]]]:
    """Return the arguments that may be given by position, what can be checked, and choices.

    An argument that is missing, unknown or given twice is Python's own error.
    """
    positional, hints = [], {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(name)
        hint = _evaluate(parameter.annotation, function.__globals__)
        if hint not in (Any, parameter.empty):
            hints[name] = hint
    choices = _choices(function.__doc__ or "")
    return positional, hints, {name: some for name, some in choices.items()
                               if hints.get(name) in (str, str | None)}  # fmt: skip


def _choices(documented: str) -> dict[str, list[str]]:
    r"""Return the texts that each argument may be, as a docstring lists them.

    Examples
    --------
    >>> _choices("    side : {'left', 'right'}, optional\n".replace("'", '"'))
    {'side': ['left', 'right']}
    """
    found = re.findall(r"^ *(\w+) : \{(.*?)\}", documented, re.M | re.S)
    return {name: re.findall(r'"([^"]*)"', listed) for name, listed in found}


def _evaluate(hint: Any, names: Mapping[str, Any]) -> Any:
    """Return what an annotation means; Any where it names what is not imported."""
    if isinstance(hint, str) and _ARRAYS in hint:  # NumPy's own is a union too wide to check
        return _Array | None if "None" in hint else _Array
    while isinstance(hint, str):
        try:
            hint = eval(hint, dict(names))
        except NameError:
            return Any
    return hint


@contextmanager
def foreign_errors(name: str) -> Iterator[None]:
    """Say of an error in an object's own code which input that is; our own errors stay faults."""
    try:
        yield
    except (InputError, MemoryError):
        raise
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        module = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
        if str(module).startswith("semmetrics.") and "__len__()" not in str(error):
            raise
        raise InputError(
            f"reading it raises {type(error).__name__}: {error}",
            where=name,
            remedy="mend the object, or give lists",
        ) from error


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


class _Array:
    """What may become an array."""


def _is_array(hint: Any) -> bool:
    return hint is _Array or _Array in get_args(hint)


def refuse_masked(value: object, where: str) -> None:
    """Refuse masked values, which NumPy would take for the numbers below the mask.

    Raises
    ------
    InputError
        If there are some.
    """
    import numpy as np

    if np.ma.is_masked(value):
        raise InputError("masked", where)


def _blame_arrays(error: Exception, given: Mapping[str, Any]) -> None:
    """Say which array of a call that failed holds no numbers; that costs nothing where none does.

    Raises
    ------
    InputError
        If one does; otherwise the error is of another cause.
    """
    import numpy as np

    for name, value in () if isinstance(error, InputError) else given.items():
        try:
            if value is not None and not hasattr(value, "toarray"):
                np.asarray(value, np.float64)
        except (TypeError, ValueError, OverflowError) as cause:
            raise InputError(f"{name}={brief(value)}", remedy=f"give numbers: {cause}") from None


def check_type(name: str, value: Any, hint: Any, choices: Sequence[str] = ()) -> None:
    """Refuse a value that is not of a type.

    ``choices`` are the texts that are allowed, where not all are; another text is not refused here.

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
    try:
        fits = _test(hint)(value)
    except Exception:
        with foreign_errors(name):
            raise
    if not fits:
        remedy = describe_type(Literal[tuple(choices)] if choices else hint)
        raise InputError(f"{name}={brief(value)}", remedy=f"give {remedy}")


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


def _may_be_array(value: Any) -> bool:
    if hasattr(value, "__array__") or hasattr(value, "toarray"):  # NumPy, torch, scipy.sparse
        return not isinstance(value, type)
    return _is_list(value, Sequence, ())


_FITS: Mapping[Any, Callable[[Any, tuple[Any, ...]], Any]] = {
    Any: lambda value, inner: True,
    None: lambda value, inner: value is None,
    Literal: lambda value, inner: isinstance(value, str | int) and value in inner,
    int: lambda value, inner: _is_number(value, Integral),
    float: lambda value, inner: _is_number(value, Real),
    bool: lambda value, inner: _is_bool(value),
    Callable: lambda value, inner: callable(value) and not isinstance(value, type),
    TextIO: lambda value, inner: hasattr(value, "write") and not isinstance(value, type),
    _Array: lambda value, inner: _may_be_array(value),
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
    if kind is _Array:
        return ["an array, or a list of numbers"]
    if kind in _LISTS:
        items = _NAMES.get(inner[0], ("", ""))[1] if inner else ""
        return [f"a list of {items}" if items else "a list"]
    return [_NAMES[kind][0] if kind in _NAMES else getattr(kind, "__name__", str(kind))]
