"""Equality of records that hold arrays, and fingerprints, the same on every machine, that add up.

The fingerprint of a data set is the sum, modulo 2**64, of the fingerprints of its items, so it
does not depend on their order and the parts of a split data set add to the whole.
"""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints, offsets

Hashes = NDArray[np.uint64]
C = TypeVar("C", bound=type)
UNVERSIONED = "@unversioned"
"""Stands in the identity of a function without a version, which another function may share."""

_ODD = np.uint64(0x9E3779B97F4A7C15)
_STEPS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_BLOCK = 1 << 14
_CHECKED_BYTES = 1 << 13  # that have one checksum
_KNOWN = 1 << 17  # bytes at the first 512 places of a string
_SPARSE = ("shape", "data", "indices", "indptr")
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60
_SHORT.maxlevel, _SHORT.maxdict = 2, 3
_MOST = 300  # characters of a repr


def row_checksums(rows: NDArray[Any]) -> Hashes:
    """Return 64 bits for each row that differ if one of its words was changed.

    It is fast enough to check a mapped file at each start, which no cryptographic hash is.

    Parameters
    ----------
    rows : array of unsigned integers, shape (n, words)

    Returns
    -------
    uint64 array, shape (n,)

    Examples
    --------
    >>> first, second = row_checksums(np.array([[1, 2], [2, 1]], np.uint64)).tolist()
    >>> first == second
    False
    """
    odd = np.arange(rows.shape[1], dtype=np.uint64) * _ODD | np.uint64(1)
    return np.asarray(np.einsum("ij,j->i", rows, odd, dtype=np.uint64, casting="safe"))


def bytes_checksum(*parts: NDArray[np.uint8]) -> str:
    """Return 16 hex digits that differ for almost all other bytes; see `row_checksums`.

    Examples
    --------
    >>> data = np.arange(100, dtype=np.uint8)
    >>> bytes_checksum(data) == bytes_checksum(data[:50], data[50:])
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        whole = len(part) // _CHECKED_BYTES * _CHECKED_BYTES
        words = part[:whole].view(np.uint64).reshape(-1, _CHECKED_BYTES // 8)
        digest.update(row_checksums(words).tobytes())
        digest.update(part[whole:].tobytes())
        digest.update(b"%d " % len(part))
    return digest.hexdigest()


def own_version(function: object) -> str | None:
    """Return the version that a function or an object names in its attribute ``version``.

    It stands in signatures and is a key of kept results: "|", which separates parts of a signature,
    and what cannot be printed are written as numbers.

    Examples
    --------
    >>> def lengths(texts): ...
    >>> lengths.version = 2
    >>> own_version(lengths), own_version(len)
    ('2', None)
    >>> lengths.version = "a|b"
    >>> own_version(lengths)
    'a%7Cb'
    """
    version = getattr(function, "version", None)
    plain = isinstance(version, str | int) and not isinstance(version, bool)
    if not plain or version == "":
        return None
    return "".join(
        c if c.isprintable() and c != "|" else f"%{ord(c):02X}" for c in str(version)
    )


def qualified_name(function: object) -> str:
    """Return the name of a function, or of the class of an object that can be called."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


def mix(numbers: NDArray[np.integer]) -> Hashes:
    """Scatter 64-bit numbers (the finaliser of splitmix64, Steele et al. 2014).

    Examples
    --------
    >>> mix(np.array([0, 1])).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    with np.errstate(over="ignore"):
        state: Hashes = numbers.astype(np.uint64) + _ODD
        for shift, factor in _STEPS:
            state ^= state >> np.uint64(shift)
            state *= np.uint64(factor)
        state ^= state >> np.uint64(31)
    return state


def hash_strings(strings: Sequence[str]) -> Hashes:
    """Return a 64-bit hash of each string, from its UTF-8 bytes.

    Examples
    --------
    >>> a, b, c = hash_strings(["cat", "act", "cat"])
    >>> bool(a == c), bool(a == b)
    (True, False)
    """

    def encode(start: int, stop: int) -> tuple[NDArray[np.uint8], Ints]:
        """Return the bytes of strings, and where each begins and ends."""
        coded = [
            string.encode("utf-8", "surrogatepass") for string in strings[start:stop]
        ]
        indptr = offsets(np.fromiter(map(len, coded), np.int64, len(coded)))
        return np.frombuffer(b"".join(coded), np.uint8), indptr

    utf8 = getattr(strings, "utf8", encode)  # of strings that are kept as bytes
    parts = [_hash_block(*utf8(k, k + _BLOCK)) for k in range(0, len(strings), _BLOCK)]
    return np.concatenate(parts) if parts else np.zeros(0, np.uint64)


def identity_of(names: Sequence[str]) -> str:
    """Return the number of names, and a hash of them in their order, for signatures.

    Examples
    --------
    >>> identity_of(["cat", "dog"])
    '2@6b1375a0bc417538'
    """
    (whole,) = hash_strings(["\n".join(names)])
    return f"{len(names)}@{whole:016x}"


def _hash_block(data: NDArray[np.uint8], indptr: Ints) -> Hashes:
    cells = np.arange(0, 256 * int(indptr[-1]), 256)
    cells -= np.repeat(indptr[:-1] * 256, np.diff(indptr))
    cells += data
    # then ``mix`` is looked up
    small = len(cells) >= _KNOWN and int(cells.max()) < _KNOWN
    with np.errstate(over="ignore"):
        total = np.zeros(len(cells) + 1, np.uint64)
        np.cumsum(_table().take(cells) if small else mix(cells), out=total[1:])
        return mix(total[indptr[1:]] - total[indptr[:-1]] + mix(np.diff(indptr)))


@cache
def _table() -> Hashes:
    return mix(np.arange(_KNOWN))


def hash_ids(ids: Sequence[str] | range | NDArray[np.int64]) -> Hashes:
    """Hash item ids; items known by position alone are hashed by their number."""
    if isinstance(ids, range):
        return mix(np.arange(ids.start, ids.stop, ids.step))
    if isinstance(ids, np.ndarray):
        return mix(ids)
    kept = getattr(ids, "hashes", None)  # of ids that keep theirs
    return hash_strings(ids) if kept is None else kept


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal; arrays are compared whole, and nan equals nan.

    Examples
    --------
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
        return one.keys() == other.keys() and all(
            same(one[key], other[key]) for key in one
        )
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
        names = getattr(cls, "_fields", None) or [
            f.name for f in fields(cls) if f.compare
        ]

        def equal(self: Any, other: object) -> bool:
            return type(other) is type(self) and all(
                same(getattr(self, name), getattr(other, name))
                for name in (*names, *more)
            )

        def differ(self: Any, other: object) -> bool:
            return not equal(self, other)

        def code(self: Any) -> int:
            values = (getattr(self, name) for name in names)
            return hash(
                (
                    type(self).__qualname__,
                    *(one for one in values if isinstance(one, str)),
                )
            )

        methods: dict[str, Any] = {"__eq__": equal, "__ne__": differ, "__hash__": code}
        # that of a dataclass, which writes all values
        if hasattr(cls.__repr__, "__wrapped__"):
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

    text = ", ".join(
        f"{f.name}={short(getattr(self, f.name))}" for f in fields(self) if f.repr
    )
    return f"{type(self).__qualname__}({text if len(text) <= _MOST else text[:_MOST] + '…'})"
