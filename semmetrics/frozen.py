"""Dataclasses whose classes are made quickly.

The standard library's decorator compiles up to six methods for each class that it makes; for the
classes that one score needs that is a third of the time to start. Here a class compiles one,
``__init__``; what does not depend on the fields is written once, below.
"""

from __future__ import annotations

import dataclasses
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

__all__ = ["by_value", "dataclass", "with_arrays"]

C = TypeVar("C", bound=type)
_SPARSE = ("data", "indices", "indptr")


def _set(self: Any, name: str, value: object) -> None:
    """Set what ``__init__`` sets: each field, once."""
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = value


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel, _SHORT.maxdict = 2, 3
_MOST = 300


def _repr(self: Any) -> str:
    """Write the fields in one line, long values and long records cut."""
    shown = (f"{f.name}={_short(getattr(self, f.name, '…'))}" for f in fields(self) if f.repr)
    text = ", ".join(shown)
    return f"{type(self).__qualname__}({text if len(text) <= _MOST else text[:_MOST] + '…'})"


def _short(value: object) -> str:
    if hasattr(value, "dtype"):
        return f"<{value.dtype} {getattr(value, 'shape', '')}>"
    try:
        return " ".join(_SHORT.repr(value).split())
    except (RecursionError, ValueError):  # an object in itself, or a number of too many digits
        return f"<{type(value).__name__}>"


def _by_value(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """Equality and hash by the fields that are compared."""
    compared = [f.name for f in fields(cls) if f.compare]
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda self: ()

    may_be_nan = any("float" in str(f.type) for f in fields(cls))  # whose hash is its place

    def equal(self: Any, other: object) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        mine, theirs = values(self), values(other)
        return bool(mine == theirs) or (may_be_nan and _same(mine, theirs))

    def code(self: Any) -> int:
        try:
            if not may_be_nan:
                return hash(values(self))
        except TypeError:  # mappings and lists are compared, and give no part of the hash
            pass
        return hash(tuple(_hash_or_none(getattr(self, name)) for name in compared))

    return {"__eq__": equal, "__hash__": code}


def _hash_or_none(value: object) -> int | None:
    try:
        return hash(value) if value == value else None
    except TypeError:
        return None


def by_value(*more: str) -> Callable[[C], C]:
    """Let records be equal where the fields that are compared are, also arrays and nan.

    Parameters
    ----------
    *more : str
        Attributes that are compared beside the fields.
    """

    def make(cls: C) -> C:
        compared = [*(f.name for f in fields(cls) if f.compare), *more]

        def equal(self: Any, other: object) -> Any:
            if type(other) is not type(self):
                return NotImplemented
            pairs = ((getattr(self, name), getattr(other, name)) for name in compared)
            return all(_same(a, b) for a, b in pairs)

        def code(self: Any) -> int:
            parts = (_summary(getattr(self, name)) for name in compared)
            return hash((type(self).__qualname__, *parts))

        for name, method in {"__eq__": equal, "__hash__": code}.items():
            setattr(cls, name, method)
        return cls

    return make


def with_arrays(cls: C) -> C:
    """Let records that are tuples and hold arrays be compared, hashed and searched."""

    def equal(self: Any, other: object) -> bool:
        if type(other) is not type(self):
            return False
        pairs = zip(self, other, strict=True)  # type: ignore[call-overload]
        return all(a is b or _same(a, b) for a, b in pairs)

    def differ(self: Any, other: object) -> bool:
        return not equal(self, other)

    def code(self: Any) -> int:
        return hash((type(self).__qualname__, *(getattr(part, "shape", None) for part in self)))

    def contains(self: Any, value: object) -> bool:
        return any(value is part or _same(value, part) for part in self)

    made = {"__eq__": equal, "__ne__": differ, "__hash__": code, "__contains__": contains}
    for name, method in made.items():
        setattr(cls, name, method)
    return cls


def _summary(value: Any) -> Any:
    """Return what equal values have in common, and most others not: of much of it the ends."""
    value = _plain(value)
    if isinstance(value, (str, int, float, range, type(None))):
        return value if value == value else "nan"
    if hasattr(value, "dtype"):
        flat = () if hasattr(value, "indptr") else value.ravel()
        return value.shape, *(_summary(flat[place]) for place in (0, -1) if len(flat))
    if isinstance(value, (list, tuple)):
        return len(value), *(_summary(value[place]) for place in (0, -1) if value)
    if isinstance(value, Mapping):
        return len(value)
    try:
        return hash(value) if hasattr(value, "__dataclass_fields__") else None
    except TypeError:  # of a field that has none
        return None


def _plain(value: Any) -> Any:
    """Return a scalar of NumPy as Python's."""
    return value.item() if getattr(value, "shape", None) == () else value


def _same(one: Any, other: Any) -> bool:
    """Whether two values are equal, as arrays where they are some; nan is equal to nan."""
    one, other = _plain(one), _plain(other)
    if one is other:
        return True
    if hasattr(one, "dtype") or hasattr(other, "dtype"):
        return type(one) is type(other) and one.shape == other.shape and _same_array(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, (list, tuple)) and type(one) is type(other):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) or bool(one != one and other != other)


def _same_array(one: Any, other: Any) -> bool:
    if hasattr(one, "indptr"):  # sparse
        return all(_same(getattr(one, name), getattr(other, name)) for name in _SPARSE)
    return bool(((one == other) | ((one != one) & (other != other))).all())


if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(
        *, frozen: bool, eq: bool = True, kw_only: bool = False
    ) -> Callable[[type], type]:
        """Make a frozen dataclass, as `dataclasses.dataclass` does with the same arguments."""

        def make(cls: type) -> type:
            made = dataclasses.dataclass(cls, repr=False, eq=False, kw_only=kw_only)
            shared = {"__setattr__": _set, "__delattr__": _delete, "__repr__": _repr}
            for name, method in (shared | _by_value(made) if eq else shared).items():
                if name not in cls.__dict__:
                    setattr(made, name, method)
            return made

        return make
