"""Pickles of plain values, read without running anything that they name.

Conventions
-----------
A pickle is a program that may call whatever it names. Here it can name only containers and numbers,
and what it gets for those names are stand-ins made for this one reading: they build dicts, bytes
and floats, and nothing of Python or NumPy itself is handed to the pickle. Every other name is an
error before it is looked up.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Callable
from typing import Any

from semmetrics.errors import InputError

__all__ = ["read_plain_pickle"]

_TYPES = frozenset(["float", "int", "long", "str", "unicode", "bytes", "list", "dict", "tuple"])
_MAPPINGS = frozenset(["defaultdict", "OrderedDict", "Counter"])
_NUMBERS = {"f8": "d", "f4": "f", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b"}
_NUMBERS |= {"u8": "Q", "u4": "I", "u2": "H", "u1": "B"}


def read_plain_pickle(data: bytes, where: str) -> Any:
    """The value in a pickle of dicts, lists, tuples, texts and numbers.

    Texts of Python 2 are read as UTF-8. ``defaultdict``, ``OrderedDict`` and ``Counter`` become
    dicts; NumPy's numbers become Python's.

    Parameters
    ----------
    data : bytes
    where : str
        The file, for messages.

    Raises
    ------
    InputError
        If it names anything else, which is not loaded; or is no pickle.

    Examples
    --------
    >>> read_plain_pickle(pickle.dumps({("a", "man"): 2}), "df.p")
    {('a', 'man'): 2}
    >>> read_plain_pickle(pickle.dumps(print), "df.p")
    Traceback (most recent call last):
    semmetrics.errors.InputError: df.p: the pickle names builtins.print, which is not loaded; give
    a pickle of dicts, tuples, texts and numbers alone, or write JSON
    """
    try:
        return _Plain(data, where).load()
    except InputError:
        raise
    # What the unpickler raises for bytes that are no pickle is anything at all.
    except Exception as error:
        raise InputError(
            f"it is no pickle that can be read: {type(error).__name__}",
            where=where,
            remedy="give document frequencies as .npz, JSON or a pickle of a dict",
        ) from None


class _Plain(pickle.Unpickler):
    """Gives stand-ins for the names that are allowed."""

    def __init__(self, data: bytes, where: str) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", errors="surrogateescape")
        self._where = where

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in, or InputError."""
        made = _stand_in(module, name)
        if made is None:
            raise InputError(
                f"the pickle names {module[:60]}.{name[:60]}, which is not loaded",
                where=self._where,
                remedy="give a pickle of dicts, tuples, texts and numbers alone, or write JSON",
            )
        return made

    def persistent_load(self, pid: Any) -> Any:
        """InputError: nothing outside the pickle is loaded."""
        raise InputError(
            "the pickle refers to data outside it", where=self._where, remedy="write JSON"
        )


def _stand_in(module: str, name: str) -> Callable[..., Any] | None:
    """A new function for an allowed name; None for any other."""
    if module in ("builtins", "__builtin__") and name in _TYPES:
        return lambda *_: None  # only named, as what a defaultdict makes
    if module == "collections" and name in _MAPPINGS:
        return lambda *given: dict(given[0]) if given and isinstance(given[0], dict) else {}
    if module in ("numpy.core.multiarray", "numpy._core.multiarray") and name == "scalar":
        return lambda kind, raw: kind.number(raw)
    if (module, name) == ("numpy", "dtype"):
        return lambda kind, *_: _Kind(kind)
    if (module, name) == ("_codecs", "encode"):  # how protocol 2 writes bytes
        return lambda text, *_: text.encode("latin-1")
    return None


class _Kind:
    """What stands for a NumPy type: how the bytes of a number are read."""

    def __init__(self, kind: Any) -> None:
        self._letter, self._order = _NUMBERS[kind], "<"

    def __setstate__(self, state: Any) -> None:
        self._order = ">" if state[1] == ">" else "<"

    def number(self, raw: Any) -> Any:
        """The number in those bytes."""
        raw = raw.encode("latin-1") if isinstance(raw, str) else raw
        return struct.unpack(self._order + self._letter, raw)[0]
