"""Dataclasses whose classes are made quickly.

The standard library's decorator compiles up to six methods for each class that it makes; for the
classes that one score needs that is a third of the time to start. Here a class compiles one,
``__init__``; what does not depend on the fields is written once, below.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from operator import attrgetter
from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]


def _set(self: Any, name: str, value: object) -> None:
    """Set what ``__init__`` sets: each field, once."""
    if name in self.__dict__ or name not in self.__dataclass_fields__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = value


def _delete(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _repr(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _by_value(cls: type[Any]) -> dict[str, Callable[..., Any]]:
    """Equality and hash by the fields that are compared."""
    compared = [f.name for f in fields(cls) if f.compare]
    values: Callable[[Any], Any] = attrgetter(*compared) if compared else lambda self: ()

    def equal(self: Any, other: object) -> bool:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    return {"__eq__": equal, "__hash__": lambda self: hash(values(self))}


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
