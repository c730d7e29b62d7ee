"""Checks of arguments: against a list of choices, and against type annotations.

Conventions
-----------
- A bool does not count as a number.
- An integer is accepted where a float is expected. It must fit into 64 bits.
- Strings, bytes and mappings do not count as lists.
- Some annotations leave the type open: ``Any``, protocols, the items of an iterator, and names that
  only type checkers import. Values with such annotations are accepted here, and the function that
  uses them has to check them.
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
from functools import cache, partial
from numbers import Integral, Real
from typing import (
    Any,
    NamedTuple,
    TypeAlias,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from semmetrics.errors import InputError

_Test: TypeAlias = Callable[[Any], bool]


class _TypeName(NamedTuple):
    """What messages call one value of a type, and several of them."""

    singular: str
    plural: str


_TYPE_NAMES: dict[Any, _TypeName] = {
    str: _TypeName("a string", "strings"),
    int: _TypeName("an integer", "integers"),
    float: _TypeName("a number", "numbers"),
    bool: _TypeName("True or False", "booleans"),
    os.PathLike: _TypeName("a path", "paths"),
    Callable: _TypeName("a function", "functions"),
    Mapping: _TypeName("a mapping", "mappings"),
}


# ---- checks -----------------------------------------------------------------


def check_choice(name: str, value: object, choices: Collection[object]) -> None:
    """Check that a value is one of the choices.

    Raises
    ------
    InputError
        If it is not. The message lists the choices.

    Examples
    --------
    >>> check_choice("missing", "drop", ("error", "skip"))
    Traceback (most recent call last):
    semmetrics.errors.InputError: missing='drop' is not valid. Choose one of error, skip.
    """
    if value not in choices:
        raise InputError("bad-choice", name=name, value=value, choices=choices)


def check_once(
    names: Sequence[Any], code: str, where: object = "", **values: Any
) -> None:
    """Check that no name occurs twice.

    Parameters
    ----------
    names : sequence
    code : str
        The code of the error. Its message shows the repeated name as ``value``.
    where : object
        The place that the message names.
    **values
        Other values of the message.

    Raises
    ------
    InputError
        If a name occurs more than once.

    Examples
    --------
    >>> check_once(["a", "b", "a"], "duplicate-id", "gt.json")
    Traceback (most recent call last):
    semmetrics.errors.InputError: gt.json: the id 'a' appears twice. Keep one record per id.
    """
    if len(set(names)) == len(names):
        return
    [(repeated_name, _)] = Counter(names).most_common(1)
    raise InputError(code, where, value=repeated_name, **values)


def check_fields(record: Any) -> None:
    """Check the fields of a record against the annotations of its class.

    Raises
    ------
    InputError
        If a value has another type. The message names the field.
    """
    record_type: type = type(record)
    for name, hint in _read_hints(record_type).items():
        check_type(name, getattr(record, name), hint)


def check_type(name: str, value: Any, hint: Any) -> None:
    """Check a value against a type annotation.

    Raises
    ------
    InputError
        If the value has another type. The message names the argument and describes the type.

    Examples
    --------
    >>> check_type("top_k", (1, "3"), int | Sequence[int] | None)
    Traceback (most recent call last):
    semmetrics.errors.InputError: top_k=(1, '3') is not valid. Expected an integer or a list of
    integers.
    """
    has_type = _find_test(hint)
    if not has_type(value):
        wanted = describe_type(hint)
        raise InputError("bad-option", name=name, value=value, wanted=wanted)


def describe_type(hint: Any) -> str:
    """Return a type annotation in words.

    Examples
    --------
    >>> describe_type(str | os.PathLike[str] | None), describe_type(Sequence[int])
    ('a string or a path', 'a list of integers')
    """
    kind, arguments = _split_hint(hint)
    if kind in (Union, types.UnionType):
        return _describe_union(arguments)
    if kind in (Sequence, Iterable):
        return _describe_list(arguments)
    if kind in _TYPE_NAMES:
        return _TYPE_NAMES[kind].singular
    return getattr(kind, "__name__", str(kind))


def _describe_union(members: Iterable[Any]) -> str:
    """Return the types of a union in words, without None."""
    descriptions: list[str] = []
    for member in members:
        if member is type(None):
            continue
        description = describe_type(member)
        if description not in descriptions:
            descriptions.append(description)
    *first, last = descriptions
    if not first:
        return last
    return f"{', '.join(first)} or {last}"


def _describe_list(item_types: Sequence[Any]) -> str:
    """Return a list in words, with the type of its items if that has a plural."""
    if not item_types or item_types[0] not in _TYPE_NAMES:
        return "a list"
    return f"a list of {_TYPE_NAMES[item_types[0]].plural}"


def is_iterable(value: object) -> bool:
    """Return whether a value can be iterated. Arrays without dimensions cannot."""
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


# ---- tests of single types --------------------------------------------------


@cache
def _read_hints(record_type: type) -> dict[str, Any]:
    return get_type_hints(record_type)


def _split_hint(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return the type without its arguments, and its arguments: (Sequence, (int,))."""
    return get_origin(hint) or hint, get_args(hint)


@cache
def _find_test(hint: Any) -> _Test:
    """Return the function that tests whether a value has a type."""
    kind, arguments = _split_hint(hint)
    if kind in (Union, types.UnionType):
        # Most values are None, so None is tested first.
        members = sorted(arguments, key=_is_not_none_type)
        return partial(_passes_any, [_find_test(member) for member in members])
    if kind in (Sequence, Iterable):
        return partial(_is_list, kind, _find_item_test(arguments))
    if kind in _TESTS:
        return _TESTS[kind]
    if _can_test_instances(kind):
        return partial(_is_instance, kind)
    return _accept


def _find_item_test(item_types: Sequence[Any]) -> _Test | None:
    """Return the test of the items of a list, or None if they may have any type."""
    if not item_types or item_types[0] is Any:
        return None
    return _find_test(item_types[0])


def _can_test_instances(kind: Any) -> bool:
    """Return whether `isinstance` can test for a type."""
    if not isinstance(kind, type) or kind is Any:
        return False
    return not getattr(kind, "_is_protocol", False)


def _is_not_none_type(kind: Any) -> bool:
    return kind is not type(None)


def _passes_any(tests: Iterable[_Test], value: Any) -> bool:
    return any(test(value) for test in tests)


def _is_bool(value: Any) -> bool:
    """Return whether a value is a bool of Python or NumPy, without importing NumPy."""
    return type(value).__name__ in ("bool", "bool_")


def _is_number(kind: type, value: Any) -> bool:
    """Return whether a value is a number of a kind. Integers must fit into 64 bits."""
    if _is_bool(value) or not isinstance(value, kind):
        return False
    if not isinstance(value, Integral):
        return True
    return -(2**63) <= int(value) < 2**63


def _is_function(value: Any) -> bool:
    return callable(value) and not isinstance(value, type)


_TESTS: dict[Any, _Test] = {
    bool: _is_bool,
    int: partial(_is_number, Integral),
    float: partial(_is_number, Real),
    Callable: _is_function,
}


def _is_instance(kind: type, value: Any) -> bool:
    return isinstance(value, kind)


def _accept(value: Any) -> bool:
    return True


def _is_list(kind: Any, test_item: _Test | None, value: Any) -> bool:
    """Return whether a value is a list of valid items.

    Parameters
    ----------
    kind : Sequence or Iterable
        With Iterable, iterators and sets are also valid.
    test_item : callable or None
        None accepts all items.
    value : object
    """
    if isinstance(value, str | bytes | bytearray | Mapping | type):
        return False
    if isinstance(value, Iterator | Set):
        # The items of an iterator cannot be tested here: that would consume them.
        return kind is Iterable
    is_numpy_scalar = getattr(value, "shape", None) == ()
    if is_numpy_scalar:
        return False
    if not hasattr(value, "__len__") or not hasattr(value, "__iter__"):
        return False
    if test_item is None:
        return True
    return all(map(test_item, value))
