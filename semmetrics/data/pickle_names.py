"""Names in pickles that are allowed, and what stands for them: nothing of Python or NumPy."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

__all__ = ["MADE", "Name", "kind_of"]

_TYPES = frozenset(["float", "int", "long", "str", "unicode", "bytes", "list", "dict", "tuple"])
_MAPPINGS = frozenset(["defaultdict", "OrderedDict", "Counter"])
_ARRAYS = frozenset(["numpy.core.multiarray", "numpy._core.multiarray"])
_NUMBERS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
_NUMBERS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}
_WIDEST = 16  # bytes of a number


class Name:
    """What stands for a name."""

    __slots__ = ("kind",)

    def __init__(self, kind: str) -> None:
        self.kind = kind


class _Kind:
    """What stands for a NumPy type: how the bytes of a number are read."""

    __slots__ = ("letter", "order")

    def __init__(self, letter: str) -> None:
        self.letter, self.order = letter, "<"


def kind_of(module: str, name: str) -> str:
    """Which of the names that are allowed it is; "" for any other."""
    if module in ("builtins", "__builtin__") and name in _TYPES:
        return "type"  # only named, as what a defaultdict makes
    if module == "collections" and name in _MAPPINGS:
        return "mapping"
    if module in _ARRAYS and name == "scalar":
        return "scalar"
    return {("numpy", "dtype"): "dtype", ("_codecs", "encode"): "encode"}.get((module, name), "")


def _mapping(*given: Any) -> dict[Any, Any]:
    """A new dict, or the one that is given; it is not copied, as many may be made of one."""
    if len(given) > 1 or not all(
        type(one) is dict or one is None or _is_type(one) for one in given
    ):
        raise TypeError
    return given[0] if given and type(given[0]) is dict else {}


def _is_type(value: Any) -> bool:
    return type(value) is Name and value.kind == "type"


def _dtype(kind: Any, *_: Any) -> _Kind:
    if type(kind) is not str:
        raise TypeError
    return _Kind(_NUMBERS[kind])


def _scalar(kind: Any, raw: Any) -> Any:
    """The number in those bytes, which Python 2 wrote as a text."""
    if len(raw) > _WIDEST:
        raise ValueError
    raw = raw.encode("utf-8", "surrogateescape") if type(raw) is str else raw
    return struct.unpack(kind.order + kind.letter, raw)[0]


def _encoded(text: Any, *_: Any) -> bytes:
    """Bytes of a number, as protocols 0 to 2 of Python 3 write them."""
    if len(text) > _WIDEST:
        raise ValueError
    return bytes(text.encode("latin-1"))


MADE: dict[str, Callable[..., Any]] = {
    "mapping": _mapping,
    "dtype": _dtype,
    "scalar": _scalar,
    "encode": _encoded,
}
"""What calling a name makes, by its kind."""
