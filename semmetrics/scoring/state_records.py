"""Read the JSON of a state file, and check it field by field.

The page "State files" of the documentation describes the schema. `state_values` writes the JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.read_options import ReadOptions
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.parsing import parse
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.state_values import (
    CONTAINERS,
    MAX_DEPTH,
    MAX_RANGE_LENGTH,
    SCALAR_TYPES,
    Digest,
)

T = TypeVar("T")

_MAX_DIGITS_OF_ZERO_COUNT = 4
_MAX_HASH_DIGITS = 16
_MAX_INTEGER = 2**63 - 1
_HEXADECIMAL_DIGITS = frozenset("0123456789abcdef")


class SchemaError(ValueError):
    """A value of a state file does not follow the schema."""


class Record:
    """An object of a state, whose fields are checked as they are read.

    Parameters
    ----------
    value : object
        The object as ``json`` reads it.
    where : str
        The path to the object, for errors.
    arrays : mapping from number to array
    depth : int
        The number of containers of the value that it is in.

    Examples
    --------
    >>> record = Record({"n": 3, "noun": "label"}, "state", {})
    >>> record.integer("n"), record.text("noun")
    (3, 'label')
    >>> record.integer("noun")
    Traceback (most recent call last):
    semmetrics.scoring.state_records.SchemaError: state.noun is 'label', not an integer from 0
    """

    def __init__(
        self,
        value: Any,
        where: str,
        arrays: Mapping[int, NDArray[Any]],
        depth: int = 0,
    ) -> None:
        if not isinstance(value, dict):
            raise SchemaError(f"{where} is not an object")
        self._value = value
        self._where = where
        self._arrays = arrays
        self._depth = depth

    def _field(self, name: str) -> Any:
        if name not in self._value:
            raise SchemaError(f"{self._where} has no field {name!r}")
        return self._value[name]

    def _error(self, name: str, wanted: str) -> SchemaError:
        value = self._field(name)
        return SchemaError(f"{self._where}.{name} is {value!r:.40}, not {wanted}")

    def names(self) -> list[str]:
        """Return the names of the fields."""
        return list(self._value)

    def is_null(self, name: str) -> bool:
        """Return whether a field is null."""
        return self._field(name) is None

    # ---- strings and numbers --------------------------------------------------------------------

    def text(self, name: str, among: tuple[str, ...] | None = None) -> str:
        """Read a string, which must be one of ``among`` if this is given."""
        value = self._field(name)
        if not isinstance(value, str):
            raise self._error(name, "a string")
        if among is not None and value not in among:
            choices = ", ".join(map(repr, among))
            raise self._error(name, f"one of {choices}")
        return value

    def integer(self, name: str, least: int = 0) -> int:
        """Read an integer of 64 bits, which is at least ``least``."""
        value = self._field(name)
        if type(value) is not int or not least <= value <= _MAX_INTEGER:
            raise self._error(name, f"an integer from {least}")
        return value

    def hash(self, name: str) -> int:
        """Read a 64-bit hash, which is written in hexadecimal digits."""
        text = self.text(name)
        is_short = 0 < len(text) <= _MAX_HASH_DIGITS
        if not is_short or not _HEXADECIMAL_DIGITS.issuperset(text):
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
        are_strings = isinstance(value, list) and all(
            isinstance(element, str) for element in value
        )
        if not are_strings:
            raise self._error(name, "a list of strings")
        return list(value)

    def text_by_name(self, name: str) -> dict[str, str]:
        """Read a mapping from string to string."""
        return self._value_by_name(name, str, "strings")

    def count_by_name(self, name: str) -> dict[str, int]:
        """Read a mapping from string to an integer that is not negative."""
        counts = self._value_by_name(name, int, "integers")
        if not all(0 <= count <= _MAX_INTEGER for count in counts.values()):
            raise self._error(name, "an object of counts")
        return counts

    def _value_by_name(self, name: str, kind: type[T], wanted: str) -> dict[str, T]:
        value = self._field(name)
        is_of_kind = isinstance(value, dict) and all(
            type(element) is kind for element in value.values()
        )
        if not is_of_kind:
            raise self._error(name, f"an object of {wanted}")
        return dict(value)

    # ---- objects --------------------------------------------------------------------------------

    def record(self, name: str) -> Record:
        """Read an object."""
        value = self._field(name)
        return Record(value, f"{self._where}.{name}", self._arrays, self._depth)

    def records(self, name: str) -> list[Record]:
        """Read a list of objects."""
        value = self._field(name)
        if not isinstance(value, list):
            raise self._error(name, "a list")
        records = []
        for number, element in enumerate(value):
            where = f"{self._where}.{name}[{number}]"
            records.append(Record(element, where, self._arrays))
        return records

    # ---- arrays ---------------------------------------------------------------------------------

    def array(self, name: str, kinds: str, size: int | None = None) -> NDArray[Any]:
        """Read an array.

        Parameters
        ----------
        name : str
        kinds : str
            The kinds of the data types that it may have, such as "iu".
        size : int, optional
            The array must have one axis of this size.
        """
        array = self._numbered_array(self._field(name), name)
        is_right_size = size is None or array.shape == (size,)
        if array.dtype.kind not in kinds or not is_right_size:
            raise self._error(name, "the number of a fitting array")
        return array

    def optional_array(
        self, name: str, kinds: str, size: int | None = None
    ) -> NDArray[Any] | None:
        """Read an array, or return None if the field is null."""
        if self.is_null(name):
            return None
        return self.array(name, kinds, size)

    def _numbered_array(self, number: Any, name: str) -> NDArray[Any]:
        if type(number) is not int or number not in self._arrays:
            raise self._error(name, "the number of an array")
        return self._arrays[number]

    def sums(self, name: str) -> NDArray[Any]:
        """Read an array of sums."""
        value = self._field(name)
        if isinstance(value, dict):
            return self._integers(name)
        array = self._numbered_array(value, name)
        if array.dtype.kind not in "iuf":
            raise self._error(name, "the number of an array of numbers")
        return array

    def _integers(self, name: str) -> NDArray[Any]:
        """Read an array of integers of any size."""
        record = self.record(name)
        shape = record.value("shape")
        numbers = [_read_integer(text) for text in record.texts("integers")]
        try:
            integers: NDArray[Any] = np.array(numbers, object).reshape(shape)
        except (TypeError, ValueError):
            raise self._error(name, "an array of integers") from None
        return integers

    # ---- values of options and notes ------------------------------------------------------------

    def value(self, name: str) -> Any:
        """Read a value of an option or a note."""
        return self._decode(self._field(name), name, self._depth)

    def values(self) -> dict[str, Any]:
        """Read all fields as values of options or notes."""
        return {name: self.value(name) for name in self.names()}

    def mapping(self, name: str) -> dict[Any, Any]:
        """Read a value that is a mapping."""
        value = self.value(name)
        if not isinstance(value, dict):
            raise self._error(name, "a mapping of the schema")
        return value

    def _decode(self, value: Any, name: str, depth: int) -> Any:
        """Decode a value in the field with this name, which is in ``depth`` containers."""
        if value is None or type(value) in SCALAR_TYPES:
            return value
        if depth > MAX_DEPTH:
            raise SchemaError(f"{self._where}.{name} is nested too deeply")
        if isinstance(value, list):
            return [self._decode(element, name, depth + 1) for element in value]
        if not isinstance(value, dict) or len(value) != 1:
            raise self._error(name, "a value of the schema")
        ((type_name, content),) = value.items()
        return self._decode_object(type_name, content, name, depth)

    def _decode_object(
        self, type_name: str, content: Any, name: str, depth: int
    ) -> Any:
        """Decode an object with one field, whose name is the type of the value."""
        if type_name == "array":
            return self._numbered_array(content, name)
        if type_name == "digest" and isinstance(content, str):
            return Digest(content)
        if isinstance(content, list):
            if type_name == "mapping":
                return self._decode_mapping(content, name, depth + 1)
            if type_name in CONTAINERS:
                elements = self._decode(content, name, depth)
                container = CONTAINERS[type_name].from_list(elements)
                if isinstance(container, range) and len(container) > MAX_RANGE_LENGTH:
                    raise self._error(name, "a range that fits in memory")
                return container
        return self._decode_object_of_package(type_name, content, name, depth + 1)

    def _decode_mapping(
        self, pairs: list[Any], name: str, depth: int
    ) -> dict[Any, Any]:
        decoded = {}
        for pair in pairs:
            if not isinstance(pair, list) or len(pair) != 2:
                raise self._error(name, "a mapping of the schema")
            key, value = pair
            decoded_key = self._decode(key, name, depth)
            decoded[decoded_key] = self._decode(value, name, depth)
        return decoded

    def _decode_object_of_package(
        self, type_name: str, content: Any, name: str, depth: int
    ) -> Any:
        """Decode an object of semmetrics."""
        where = f"{self._where}.{name}"
        record = Record({type_name: content}, where, self._arrays, depth)
        if type_name == "measure":
            return read_measure(record.record(type_name))
        if type_name == "calibration":
            return Calibration.from_json(record.text(type_name))
        if type_name == "bootstrap":
            return Bootstrap(**record.record(type_name).values())
        if type_name == "read":
            return _read_read_options(record.record(type_name))
        raise self._error(name, "a value of the schema")


def _read_read_options(record: Record) -> ReadOptions:
    """Read the options of reading that differ from the defaults."""
    option_names = {field.name for field in fields(ReadOptions)}
    values: dict[str, Any] = {}
    for name in record.names():
        if name not in option_names:
            raise SchemaError(f"{name!r} is not an option of reading")
        if name in ("pred", "gt"):
            values[name] = _read_read_options(record.record(name))
        else:
            values[name] = record.value(name)
    return ReadOptions(**values)


def read_measure(record: Record) -> Measure:
    """Read a measure."""
    name = record.text("name")
    measures = parse(name, record.text("kind"))
    if len(measures) != 1:
        raise SchemaError(f"{name!r} is not one measure")
    return replace(measures[0], asked=tuple(record.texts("asked")))


def _read_integer(text: str) -> int:
    """Read an integer in hexadecimal digits. "p" and a number stand for zeros at its end.

    Examples
    --------
    >>> _read_integer("2ap2") == 0x2a00
    True
    """
    digits, _, n_zeros = text.partition("p")
    if len(n_zeros) > _MAX_DIGITS_OF_ZERO_COUNT:
        raise SchemaError(f"{text!r} is not an integer of a state")
    n_zero_bits = 4 * int(n_zeros or 0)
    return int(digits, 16) << n_zero_bits
