"""Hashes and checksums that are equal on every machine, and equality of records with arrays.

Conventions
-----------
A fingerprint of a dataset is the sum of the 64-bit hashes of its items, modulo 2**64. It does not
depend on the order of the items, and the fingerprints of the parts of a dataset add up to the
fingerprint of the whole.
"""

from __future__ import annotations

import hashlib
import reprlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Ints, offsets

Hashes = NDArray[np.uint64]
C = TypeVar("C", bound=type)

UNVERSIONED = "@unversioned"
"""Part of the identity of a function without a version, which other functions may share."""

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)  # of splitmix64, an odd number
_SHIFTS_AND_FACTORS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_BYTES_PER_CHECKSUM = 1 << 13
_STRINGS_PER_BLOCK = 1 << 14
_TABLE_SIZE = (
    1 << 17
)  # hashes: one for each byte at the first 512 positions of a string

_SPARSE_ATTRIBUTES = ("shape", "data", "indices", "indptr")  # of a matrix of scipy
_MAX_REPR_LENGTH = 300
_BRIEF = reprlib.Repr()
_BRIEF.maxstring = 60
_BRIEF.maxother = 60
_BRIEF.maxlong = 60
_BRIEF.maxlevel = 2
_BRIEF.maxdict = 3


# ---- checksums and versions -------------------------------------------------


def row_checksums(rows: NDArray[Any]) -> Hashes:
    """Return a 64-bit checksum of each row, which changes if one of its words changes.

    Unlike a cryptographic hash, it is fast enough to check a mapped file at each start.

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
    n_words = rows.shape[1]
    # Modulo 2**64, different words have different products with an odd factor.
    multiples = np.arange(n_words, dtype=np.uint64) * _INCREMENT
    odd_factors = multiples | np.uint64(1)
    sums = np.einsum("ij,j->i", rows, odd_factors, dtype=np.uint64, casting="safe")
    return np.asarray(sums)


def bytes_checksum(*parts: NDArray[np.uint8]) -> str:
    """Return a checksum of 16 hex digits, which depends on how the bytes are divided into parts.

    Parameters
    ----------
    *parts : uint8 arrays

    Examples
    --------
    >>> data = np.arange(100, dtype=np.uint8)
    >>> bytes_checksum(data) == bytes_checksum(data[:50], data[50:])
    False
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        n_rows = len(part) // _BYTES_PER_CHECKSUM
        end_of_rows = n_rows * _BYTES_PER_CHECKSUM
        words = part[:end_of_rows].view(np.uint64)
        rows = words.reshape(-1, _BYTES_PER_CHECKSUM // 8)
        digest.update(row_checksums(rows).tobytes())
        digest.update(part[end_of_rows:].tobytes())
        digest.update(b"%d " % len(part))
    return digest.hexdigest()


def own_version(function: object) -> str | None:
    """Return the attribute ``version`` of a function or object, if it is an integer or a string.

    An empty string does not count as a version. The version becomes part of signatures and a key of
    cached results. Therefore "|", which separates the parts of a signature, and characters that
    cannot be printed are replaced by their code points.

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
    if isinstance(version, bool) or not isinstance(version, str | int):
        return None
    if version == "":
        return None
    return "".join(map(_escape, str(version)))


def _escape(character: str) -> str:
    """Replace a character that may not be part of a signature by its code point."""
    if character.isprintable() and character != "|":
        return character
    return f"%{ord(character):02X}"


def qualified_name(function: object) -> str:
    """Return the qualified name of a function, or the class of a callable object."""
    return str(getattr(function, "__qualname__", type(function).__qualname__))


# ---- hashes of numbers and strings ------------------------------------------


def mix(numbers: NDArray[np.integer]) -> Hashes:
    """Return the hashes of 64-bit integers: the finaliser of splitmix64 (Steele et al. 2014).

    Examples
    --------
    >>> mix(np.array([0, 1])).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    with np.errstate(over="ignore"):
        state: Hashes = numbers.astype(np.uint64) + _INCREMENT
        for shift, factor in _SHIFTS_AND_FACTORS:
            state ^= state >> np.uint64(shift)
            state *= np.uint64(factor)
        state ^= state >> np.uint64(31)
    return state


def hash_strings(strings: Sequence[str]) -> Hashes:
    """Return a 64-bit hash of each string, computed from its UTF-8 bytes.

    Parameters
    ----------
    strings : sequence of str
        Its method ``utf8(start, stop)``, if it has one, returns the bytes of some strings and
        their offsets. Otherwise the strings are encoded here.

    Returns
    -------
    uint64 array, shape (strings,)

    Examples
    --------
    >>> a, b, c = hash_strings(["cat", "act", "cat"])
    >>> bool(a == c), bool(a == b)
    (True, False)
    """
    encode = getattr(strings, "utf8", None)
    if encode is None:
        encode = partial(_encode, strings)
    blocks = []
    for start in range(0, len(strings), _STRINGS_PER_BLOCK):
        data, indptr = encode(start, start + _STRINGS_PER_BLOCK)
        blocks.append(_hash_block(data, indptr))
    if not blocks:
        return np.zeros(0, np.uint64)
    return np.concatenate(blocks)


def _encode(
    strings: Sequence[str], start: int, stop: int
) -> tuple[NDArray[np.uint8], Ints]:
    """Return the UTF-8 bytes of some strings, one after the other, and their offsets."""
    encoded = [
        string.encode("utf-8", "surrogatepass") for string in strings[start:stop]
    ]
    sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.frombuffer(b"".join(encoded), np.uint8), offsets(sizes)


def _hash_block(data: NDArray[np.uint8], indptr: Ints) -> Hashes:
    """Return the hash of each string in a block.

    The hash of a string is computed from its length and the sum of the hashes of its bytes, each of
    them together with its position.

    Parameters
    ----------
    data : uint8 array
        The bytes of all strings.
    indptr : int array, shape (strings + 1,)
        Their offsets.

    Returns
    -------
    uint64 array, shape (strings,)
    """
    sizes = np.diff(indptr)
    # The number of a byte is 256 * position + byte. Positions are counted from the start of the
    # block first, and then from the start of the string.
    numbers = np.arange(0, 256 * int(indptr[-1]), 256)
    numbers -= np.repeat(256 * indptr[:-1], sizes)
    numbers += data
    # For fewer numbers than the table has, it would cost more to compute the table.
    if len(numbers) >= _TABLE_SIZE and int(numbers.max()) < _TABLE_SIZE:
        byte_hashes = _hash_table().take(numbers)
    else:
        byte_hashes = mix(numbers)
    with np.errstate(over="ignore"):
        running_sums = np.zeros(len(numbers) + 1, np.uint64)
        np.cumsum(byte_hashes, out=running_sums[1:])
        byte_sums = running_sums[indptr[1:]] - running_sums[indptr[:-1]]
        return mix(byte_sums + mix(sizes))


@cache
def _hash_table() -> Hashes:
    """Return the hashes of small numbers, which are faster to look up than to compute."""
    return mix(np.arange(_TABLE_SIZE))


def hash_ids(ids: Sequence[str] | range | NDArray[np.int64]) -> Hashes:
    """Return the hashes of item ids. Items without ids are hashed by their numbers.

    If ``ids`` has an attribute ``hashes``, it contains hashes that were computed before.
    """
    if isinstance(ids, range):
        return mix(np.arange(ids.start, ids.stop, ids.step))
    if isinstance(ids, np.ndarray):
        return mix(ids)
    stored_hashes: Hashes | None = getattr(ids, "hashes", None)
    if stored_hashes is not None:
        return stored_hashes
    return hash_strings(ids)


def identity_of(names: Sequence[str]) -> str:
    """Return the number of names and a hash of them in their order, for signatures.

    Examples
    --------
    >>> identity_of(["cat", "dog"])
    '2@6b1375a0bc417538'
    """
    (name_hash,) = hash_strings(["\n".join(names)])
    return f"{len(names)}@{name_hash:016x}"


# ---- equality of records ----------------------------------------------------


def are_equal(left: Any, right: Any) -> bool:
    """Return whether two values are equal. Arrays are compared as a whole, and nan equals nan.

    Examples
    --------
    >>> are_equal([np.array([1.0, np.nan])], [np.array([1.0, np.nan])]), are_equal([0.5], (0.5,))
    (True, False)
    """
    have_same_type = type(left) is type(right)
    is_sparse = hasattr(left, "toarray")
    if have_same_type and is_sparse:
        return _have_equal_attributes(left, right, _SPARSE_ATTRIBUTES)
    if hasattr(left, "dtype") or hasattr(right, "dtype"):
        return _are_equal_arrays(left, right)
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        return _are_equal_mappings(left, right)
    if have_same_type and isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(are_equal, left, right))
    return _are_equal_numbers(left, right)


def _are_equal_numbers(left: Any, right: Any) -> bool:
    """Return whether two numbers, or values that are compared like numbers, are equal."""
    if left is right or bool(left == right):
        return True
    return bool(left != left and right != right)  # both are nan


def _have_equal_attributes(left: Any, right: Any, names: Iterable[str]) -> bool:
    """Return whether two objects have equal values of some attributes."""
    return all(are_equal(getattr(left, name), getattr(right, name)) for name in names)


def _are_equal_arrays(left: Any, right: Any) -> bool:
    """Return whether two arrays, or an array and a number, have equal shapes and values."""
    if getattr(left, "shape", ()) != getattr(right, "shape", ()):
        return False
    both_nan = (left != left) & (right != right)
    return bool(((left == right) | both_nan).all())


def _are_equal_mappings(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    """Return whether two mappings have equal keys and values."""
    if left.keys() != right.keys():
        return False
    return all(are_equal(left[key], right[key]) for key in left)


def by_value(*extra_names: str) -> Callable[[C], C]:
    """Return a class decorator that compares records by the values of their fields.

    The decorator sets ``__eq__``, ``__ne__`` and ``__hash__`` of a dataclass or NamedTuple, as
    `are_equal` compares values. It also shortens the generated ``__repr__`` of a dataclass.

    Parameters
    ----------
    *extra_names : str
        Attributes to compare in addition to the fields.
    """

    def decorate(cls: C) -> C:
        field_names = _compared_fields(cls)
        attributes: dict[str, Any] = {
            "_field_names": field_names,
            "_compared_names": (*field_names, *extra_names),
            "__eq__": _record_eq,
            "__ne__": _record_ne,  # because tuple has its own
            "__hash__": _record_hash,
        }
        # dataclass wraps the method that it generates, to stop at cycles.
        has_generated_repr = hasattr(cls.__repr__, "__wrapped__")
        if has_generated_repr:
            attributes["__repr__"] = short_repr
        for name, value in attributes.items():
            setattr(cls, name, value)
        return cls

    return decorate


def _compared_fields(cls: Any) -> tuple[str, ...]:
    """Return the names of the fields of a NamedTuple, or of the compared fields of a dataclass."""
    tuple_fields: tuple[str, ...] = getattr(cls, "_fields", ())
    if tuple_fields:
        return tuple_fields
    return tuple(field.name for field in fields(cls) if field.compare)


def _record_eq(self: Any, other: Any) -> bool:
    if type(other) is not type(self):
        return False
    return _have_equal_attributes(self, other, self._compared_names)


def _record_ne(self: Any, other: Any) -> bool:
    return not _record_eq(self, other)


def _record_hash(self: Any) -> int:
    """Return a hash of the fields that are strings. Other fields may not be hashable."""
    values = [getattr(self, name) for name in self._field_names]
    strings = [value for value in values if isinstance(value, str)]
    return hash((type(self).__qualname__, *strings))


def short_repr(self: Any) -> str:
    """Return the fields of a dataclass in one line. Long values and long records are cut off."""
    parts = []
    for field in fields(self):
        if field.repr:
            value = getattr(self, field.name)
            parts.append(f"{field.name}={_brief_repr(value)}")
    text = ", ".join(parts)
    if len(text) > _MAX_REPR_LENGTH:
        text = text[:_MAX_REPR_LENGTH] + "…"
    return f"{type(self).__qualname__}({text})"


def _brief_repr(value: object) -> str:
    """Return a short representation of a value in one line. Arrays show their type and shape."""
    if hasattr(value, "dtype"):
        return f"<{value.dtype} {getattr(value, 'shape', '')}>"
    return " ".join(_BRIEF.repr(value).split())
