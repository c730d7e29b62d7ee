"""States of a scorer in files of arrays and JSON."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics._version import __version__
from semmetrics.data.source import Source, load
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import parse, registered
from semmetrics.store.files import open_output

SCHEMA = "semmetrics.state/4"
_PACKAGE = __name__.partition(".")[0]
_ZEROS = 4  # digits of the number of zeros that end an integer
_TEXT, _SUM = "state", "checksum"


class Identity(str):
    """Stands for the value of an option that no file can hold; equal values have equal ones."""


def can_hold(value: Any) -> bool:
    """Return whether a state can hold a value."""
    try:
        _pack(value, [])
    except InputError:
        return False
    return True


def write_state(target: Any, state: Mapping[str, Any]) -> None:
    """Write a state to a path or a binary file.

    Raises
    ------
    InputError
        If it cannot be written, or holds what no file can hold.
    """
    arrays: list[NDArray[Any]] = []
    text = {
        "schema": SCHEMA,
        "version": __version__,
        "state": _pack(dict(state), arrays),
    }
    found = {str(number): array for number, array in enumerate(arrays)}
    found[_TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    whole: dict[str, Any] = {**found, _SUM: _checksum(found)}
    if hasattr(target, "write"):
        np.savez_compressed(target, **whole)
        return
    with open_output(target, binary=True) as out:
        np.savez_compressed(out, **whole)


def read_state(target: Any, max_bytes: int) -> dict[str, Any]:
    """Read a state from a path or a binary file.

    Raises
    ------
    InputError
        If it is no state, of another version, or not as it was written.
    """
    if hasattr(target, "read"):
        target.seek(0)
        source = Source("a state", target.read(), max_bytes=max_bytes)
    else:
        source = load(target, max_bytes)
    arrays: dict[str, Any] = {}
    if source.head[:4] == b"PK\x03\x04":
        from semmetrics.data.arrays import read_arrays

        arrays |= read_arrays(source, source.max_bytes)
    if not {_TEXT, _SUM} <= arrays.keys():
        raise InputError("no-state", source.name)
    checksum = arrays.pop(_SUM)
    if not np.array_equal(checksum, _checksum(arrays)):
        raise InputError("damaged", source.name, why="its checksum is another")
    try:
        text = json.loads(arrays[_TEXT].tobytes())
        if text["schema"] != SCHEMA or text["version"] != __version__:
            by = f"semmetrics {text['version']} ({text['schema']})"
            now = f"{__version__} ({SCHEMA})"
            raise InputError("other-version", source.name, by=by, now=now)
        state: dict[str, Any] = _unpack(text["state"], arrays)
    except InputError:
        raise
    except Exception as error:  # somebody else wrote it
        raise InputError(
            "damaged", source.name, why=f"{type(error).__name__}: {error}"
        ) from None
    return state


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    hashed = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        hashed.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(hashed.digest(), np.uint8)


def _write_integer(number: int) -> str:
    """Write an integer in hexadecimal digits, with "p" and the number of zeros that end it."""
    text = f"{number:x}"
    digits = text.rstrip("0")
    return f"{digits}p{len(text) - len(digits)}" if digits else text


def _read_integer(text: str) -> int:
    digits, _, zeros = text.partition("p")
    if len(zeros) > _ZEROS:
        raise ValueError(text)
    return int(digits, 16) << 4 * int(zeros or 0)


_CODED: Mapping[str, tuple[type, Callable[[Any], list[Any]], Callable[..., Any]]] = {
    "measure": (
        Measure,
        lambda one: [str(one), one.definition.kind, *one.asked],
        lambda name, kind, *asked: replace(parse(name, kind)[0], asked=asked),
    ),
    "definition": (Definition, lambda one: [one.kind, one.name], registered),
    "identity": (Identity, lambda one: [str(one)], Identity),
    "range": (range, lambda one: [one.start, one.stop, one.step], range),
    "integers": (
        np.ndarray,
        lambda one: [one.shape, [*map(_write_integer, one.ravel().tolist())]],
        lambda shape, texts: np.array([*map(_read_integer, texts)], object).reshape(
            shape
        ),
    ),
}
"""What is written in a way of its own: its type, its parts, and what makes it of them."""
_GROUPS: Mapping[str, Callable[[Any], Any]] = {
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def _pack(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON has it; arrays are added to the list."""
    kind, of, parts = type(value).__name__, type(value), list[Any]()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    coded = next(
        (name for name, (one, _, _) in _CODED.items() if isinstance(value, one)), ""
    )
    if coded:
        return {coded: _CODED[coded][1](value)}
    if of.__module__.partition(".")[0] == _PACKAGE and _fields(of):
        kind = f"{of.__module__}:{of.__qualname__}"
        parts = [[name, getattr(value, name)] for name in _fields(of)]
    elif isinstance(value, Mapping):
        kind, parts = "dict", [list(pair) for pair in value.items()]
    elif kind in ("list", *_GROUPS):
        parts = sorted(value, key=repr) if "set" in kind else list(value)
    else:
        raise InputError("not-in-a-state", value=value)
    packed = [_pack(part, arrays) for part in parts]
    return packed if kind == "list" else {kind: packed}


def _fields(kind: Any) -> list[str]:
    """Return what a record is made of; nothing where it is none."""
    if is_dataclass(kind):
        return [one.name for one in fields(kind) if one.init]
    return list(getattr(kind, "_fields", ()))


def _unpack(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return what ``_pack`` packed."""
    if isinstance(value, list):
        return [_unpack(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, parts),) = value.items()
    if kind == "array":
        return arrays[str(parts)]
    if kind in _CODED:
        return _CODED[kind][2](*parts)
    inner = _unpack(parts, arrays)
    if kind not in _GROUPS:
        module, _, name = kind.partition(":")
        # and is no program
        own = module.startswith(f"{_PACKAGE}.") and "__" not in kind
        of: Any = getattr(importlib.import_module(module), name) if own else None
        if not isinstance(of, type) or not _fields(of):
            raise InputError("no-state", kind)
        return of(**dict(inner))
    return _GROUPS[kind](inner)
