"""Values of a state file: JSON with arrays, and the checks of values that are read.

The page "State files" of the documentation describes the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.parsing import parse
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.intervals import Bootstrap

T = TypeVar("T")

_MAX_ZERO_DIGITS = 4  # digits of the number of zeros at the end of an integer
_SCALARS = (bool, int, float, str)


class SchemaError(ValueError):
    """A value of a state file is not what the schema says."""


class Digest(str):
    """A hash that replaces the value of an option that no file can contain."""


# ---- writing ------------------------------------------------------------------------------------


class ValueWriter:
    """Converts values to JSON. Arrays are collected, and JSON contains their numbers.

    Attributes
    ----------
    arrays : list of array
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def array(self, array: NDArray[Any]) -> int:
        """Return the number under which an array is stored."""
        self.arrays.append(np.asarray(array))
        return len(self.arrays) - 1

    def sums(self, sums: Any) -> Any:
        """Convert an array of sums, which may contain integers of any size."""
        array = np.asarray(sums)
        if array.dtype == object:
            texts = [_write_integer(number) for number in array.ravel().tolist()]
            return {"shape": list(array.shape), "integers": texts}
        return self.array(array)

    def value(self, value: Any) -> Any:
        """Convert a value of an option or a note.

        Raises
        ------
        InputError
            If no file can contain it.
        """
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, Digest):
            return {"digest": str(value)}
        if value is None or type(value) in _SCALARS:
            return value
        if isinstance(value, np.ndarray) and value.dtype != object:
            return {"array": self.array(value)}
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, Mapping):
            pairs = [[self.value(key), self.value(one)] for key, one in value.items()]
            return {"mapping": pairs}
        for name, (kind, to_list) in _CONTAINERS.items():
            if type(value) is kind:
                return {name: [self.value(one) for one in to_list(value)]}
        return self._object(value)

    def _object(self, value: Any) -> dict[str, Any]:
        """Convert an object of the package."""
        if isinstance(value, Measure):
            return {"measure": write_measure(value)}
        if isinstance(value, Bootstrap):
            return {"bootstrap": asdict(value)}
        if isinstance(value, Calibration):
            return {"calibration": value.to_json()}
        if type(value) is ReadOptions:
            return {"read": self._read_options(value)}
        raise InputError("not-in-a-state", value=value)

    def _read_options(self, options: ReadOptions) -> dict[str, Any]:
        """Convert the options of reading that differ from the defaults."""
        converted: dict[str, Any] = {}
        for field in fields(options):
            value = getattr(options, field.name)
            if value == field.default:
                continue
            if isinstance(value, ReadOptions):
                converted[field.name] = self._read_options(value)
            else:
                converted[field.name] = self.value(value)
        return converted


_CONTAINERS: Mapping[str, tuple[type, Callable[[Any], list[Any]]]] = {
    "tuple": (tuple, list),
    "set": (set, lambda value: sorted(value, key=repr)),
    "frozenset": (frozenset, lambda value: sorted(value, key=repr)),
    "range": (range, lambda value: [value.start, value.stop, value.step]),
}


def can_hold(value: Any) -> bool:
    """Return whether a state file can contain a value."""
    try:
        ValueWriter().value(value)
    except InputError:
        return False
    return True


def write_measure(measure: Measure) -> dict[str, Any]:
    """Return a measure as JSON: its name, its kind, and the names that the user requested."""
    name = str(measure)
    kind = measure.definition.kind
    return {"name": name, "kind": kind, "asked": list(measure.asked)}


def _write_integer(number: int) -> str:
    """Write an integer in hexadecimal digits. "p" and the number of zeros replace its last zeros."""
    text = f"{number:x}"
    digits = text.rstrip("0")
    if not digits:
        return text
    return f"{digits}p{len(text) - len(digits)}"


def _read_integer(text: str) -> int:
    digits, _, zeros = text.partition("p")
    if len(zeros) > _MAX_ZERO_DIGITS:
        raise SchemaError(f"{text!r} is not an integer of a state")
    return int(digits, 16) << 4 * int(zeros or 0)


# ---- reading ------------------------------------------------------------------------------------


class Record:
    """An object of a state, whose fields are checked as they are read.

    Parameters
    ----------
    value : object
        As JSON has it.
    where : str
        The path to the object, for errors.
    arrays : mapping from number to array
    """

    def __init__(
        self, value: Any, where: str, arrays: Mapping[int, NDArray[Any]]
    ) -> None:
        if not isinstance(value, dict):
            raise SchemaError(f"{where} is not an object")
        self._value = value
        self._where = where
        self._arrays = arrays

    def _field(self, name: str) -> Any:
        if name not in self._value:
            raise SchemaError(f"{self._where} has no field {name!r}")
        return self._value[name]

    def _error(self, name: str, wanted: str) -> SchemaError:
        value = self._field(name)
        return SchemaError(f"{self._where}.{name} is {value!r:.40}, not {wanted}")

    def is_null(self, name: str) -> bool:
        """Return whether a field is null."""
        return self._field(name) is None

    def text(self, name: str, among: tuple[str, ...] | None = None) -> str:
        """Read a string, perhaps one of several."""
        value = self._field(name)
        if not isinstance(value, str):
            raise self._error(name, "a string")
        if among is not None and value not in among:
            raise self._error(name, f"one of {', '.join(map(repr, among))}")
        return value

    def integer(self, name: str, least: int = 0) -> int:
        """Read an integer."""
        value = self._field(name)
        if type(value) is not int or value < least:
            raise self._error(name, f"an integer from {least}")
        return value

    def hash(self, name: str) -> int:
        """Read a 64-bit hash, which is written in hexadecimal digits."""
        text = self.text(name)
        if len(text) > 16 or not text or any(c not in "0123456789abcdef" for c in text):
            raise self._error(name, "a hash of 64 bits")
        return int(text, 16)

    def boolean(self, name: str) -> bool:
        """Read a boolean."""
        value = self._field(name)
        if not isinstance(value, bool):
            raise self._error(name, "a boolean")
        return value

    def texts(self, name: str) -> list[str]:
        """Read a list of strings."""
        value = self._field(name)
        if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
            raise self._error(name, "a list of strings")
        return list(value)

    def text_by_name(self, name: str) -> dict[str, str]:
        """Read a mapping from string to string."""
        return self._mapping(name, str, "strings")

    def integer_by_name(self, name: str) -> dict[str, int]:
        """Read a mapping from string to integer."""
        return self._mapping(name, int, "integers")

    def _mapping(self, name: str, kind: type[T], wanted: str) -> dict[str, T]:
        value = self._field(name)
        if not isinstance(value, dict) or any(
            type(v) is not kind for v in value.values()
        ):
            raise self._error(name, f"an object of {wanted}")
        return dict(value)

    def record(self, name: str) -> Record:
        """Read an object."""
        return Record(self._field(name), f"{self._where}.{name}", self._arrays)

    def records(self, name: str) -> list[Record]:
        """Read a list of objects."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self._error(name, "a list")
        records = []
        for number, one in enumerate(value):
            where = f"{self._where}.{name}[{number}]"
            records.append(Record(one, where, self._arrays))
        return records

    def names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self._value)

    def array(self, name: str, kinds: str, size: int | None = None) -> NDArray[Any]:
        """Read an array of one axis.

        Parameters
        ----------
        name : str
        kinds : str
            The kinds of the data types, such as "iu".
        size : int, optional
        """
        array = self._any_array(self._field(name), name)
        is_right_size = size is None or (len(array.shape) == 1 and len(array) == size)
        if array.dtype.kind not in kinds or not is_right_size:
            raise self._error(name, "the number of a fitting array")
        return array

    def _any_array(self, number: Any, name: str) -> NDArray[Any]:
        if type(number) is not int or number not in self._arrays:
            raise self._error(name, "the number of an array")
        return self._arrays[number]

    def sums(self, name: str) -> NDArray[Any]:
        """Read an array of sums."""
        value = self._field(name)
        if not isinstance(value, dict):
            array = self._any_array(value, name)
            if array.dtype.kind not in "iuf":
                raise self._error(name, "the number of an array of numbers")
            return array
        record = self.record(name)
        shape = record.value("shape")
        numbers = [_read_integer(text) for text in record.texts("integers")]
        try:
            integers: NDArray[Any] = np.array(numbers, object).reshape(shape)
        except (TypeError, ValueError):
            raise self._error(name, "an array of integers") from None
        return integers

    def value(self, name: str) -> Any:
        """Read a value of an option or a note."""
        return self._decode(self._field(name), name)

    def _decode(self, value: Any, name: str) -> Any:
        if value is None or type(value) in _SCALARS:
            return value
        if isinstance(value, list):
            return [self._decode(one, name) for one in value]
        if not isinstance(value, dict) or len(value) != 1:
            raise self._error(name, "a value of the schema")
        ((kind, content),) = value.items()
        if kind == "array":
            return self._any_array(content, name)
        if kind == "digest" and isinstance(content, str):
            return Digest(content)
        if kind == "mapping" and isinstance(content, list):
            return self._decode_mapping(content, name)
        if kind in _CONTAINERS and isinstance(content, list):
            parts = [self._decode(one, name) for one in content]
            if kind == "range":
                return range(*parts)
            return _CONTAINERS[kind][0](parts)
        return self._decode_object(kind, content, name)

    def _decode_mapping(self, pairs: list[Any], name: str) -> dict[Any, Any]:
        decoded = {}
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._error(name, "a mapping of the schema")
            key, value = pair
            decoded[self._decode(key, name)] = self._decode(value, name)
        return decoded

    def _decode_object(self, kind: str, content: Any, name: str) -> Any:
        """Read an object of the package."""
        record = Record({kind: content}, f"{self._where}.{name}", self._arrays)
        if kind == "measure":
            return read_measure(record.record(kind))
        if kind == "calibration":
            return Calibration.from_json(record.text(kind))
        if kind == "bootstrap":
            values = record.record(kind)
            return Bootstrap(**{field: values.value(field) for field in values.names()})
        if kind == "read":
            return _decode_read_options(record.record(kind))
        raise self._error(name, "a value of the schema")


def _decode_read_options(record: Record) -> ReadOptions:
    """Read options of reading."""
    known = {field.name for field in fields(ReadOptions)}
    values: dict[str, Any] = {}
    for name in record.names():
        if name not in known:
            raise SchemaError(f"{name!r} is not an option of reading")
        if name in ("pred", "gt"):
            values[name] = _decode_read_options(record.record(name))
        else:
            values[name] = record.value(name)
    return ReadOptions(**values)


def read_measure(record: Record) -> Measure:
    """Read a measure."""
    from dataclasses import replace

    name = record.text("name")
    measures = parse(name, record.text("kind"))
    if len(measures) != 1:
        raise SchemaError(f"{name!r} is not one measure")
    return replace(measures[0], asked=tuple(record.texts("asked")))
