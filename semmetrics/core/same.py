"""Equality of records that hold arrays."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

C = TypeVar("C", bound=type)
_SPARSE = ("shape", "data", "indices", "indptr")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel, _SHORT.maxdict = 2, 3
_MOST = 300  # characters of a repr


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays are compared whole, and nan equals nan.

    Examples
    --------
    >>> import numpy as np
    >>> same([np.array([1.0, np.nan])], [np.array([1.0, np.nan])]), same([0.5], (0.5,))
    (True, False)
    """
    if hasattr(one, "toarray") and type(one) is type(other):  # sparse
        return all(same(getattr(one, part), getattr(other, part)) for part in _SPARSE)
    if hasattr(one, "dtype") or hasattr(other, "dtype"):
        if getattr(one, "shape", ()) != getattr(other, "shape", ()):
            return False
        return bool(((one == other) | ((one != one) & (other != other))).all())
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(same, one, other))
    return one is other or bool(one == other) or bool(one != one and other != other)


def by_value(*more: str) -> Callable[[C], C]:
    """Compare records by the fields that are compared, arrays and nan too, and shorten their repr.

    Parameters
    ----------
    *more : str
        Attributes that are compared beside the fields.
    """

    def make(cls: C) -> C:
        names = getattr(cls, "_fields", None) or [f.name for f in fields(cls) if f.compare]

        def equal(self: Any, other: object) -> bool:
            return type(other) is type(self) and all(
                same(getattr(self, name), getattr(other, name)) for name in (*names, *more)
            )

        def differ(self: Any, other: object) -> bool:
            return not equal(self, other)

        def code(self: Any) -> int:
            values = (getattr(self, name) for name in names)
            return hash((type(self).__qualname__, *(one for one in values if isinstance(one, str))))

        methods: dict[str, Any] = {"__eq__": equal, "__ne__": differ, "__hash__": code}
        if hasattr(cls.__repr__, "__wrapped__"):  # that of a dataclass, which writes all values
            methods["__repr__"] = short_repr
        for name, method in methods.items():
            setattr(cls, name, method)
        return cls

    return make


def short_repr(self: Any) -> str:
    """Write the fields of a record in one line, long values and long records cut."""

    def short(value: object) -> str:
        if hasattr(value, "dtype"):
            return f"<{value.dtype} {getattr(value, 'shape', '')}>"
        return " ".join(_SHORT.repr(value).split())

    text = ", ".join(f"{f.name}={short(getattr(self, f.name))}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({text if len(text) <= _MOST else text[:_MOST] + '…'})"
