"""Convert values to the JSON of a state file.

The page "State files" of the documentation describes the schema. `state_records` reads the JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.intervals import Bootstrap

JsonObject: TypeAlias = dict[str, Any]
"""An object of the JSON of a state."""
SCALAR_TYPES = (bool, int, float, str)
"""The types of values that JSON also has."""
MAX_DEPTH = 100
"""The number of containers in each other that a value may have."""
MAX_RANGE_LENGTH = 1_000_000
"""A longer range would need much memory as a list, although its file is small."""


class Digest(str):
    """A hash in place of an option's value that a file cannot contain."""


class Container(NamedTuple):
    """A Python container that JSON does not have.

    Attributes
    ----------
    type : type
    to_list : callable
        Returns the elements of a container, or the bounds of a range.
    from_list : callable
        Returns the container of a list of elements.
    """

    type: type
    to_list: Callable[[Any], list[Any]]
    from_list: Callable[[list[Any]], Any]


def _sorted_elements(elements: set[Any] | frozenset[Any]) -> list[Any]:
    return sorted(elements, key=repr)


def _bounds(numbers: range) -> list[int]:
    return [numbers.start, numbers.stop, numbers.step]


def _range_between(bounds: list[int]) -> range:
    return range(*bounds)


CONTAINERS: Mapping[str, Container] = {
    "tuple": Container(tuple, list, tuple),
    "set": Container(set, _sorted_elements, set),
    "frozenset": Container(frozenset, _sorted_elements, frozenset),
    "range": Container(range, _bounds, _range_between),
}
"""The containers by the names of their fields in JSON."""


class ValueWriter:
    """Converts values to JSON. Arrays are collected, and JSON contains their numbers.

    Attributes
    ----------
    arrays : list of array

    Examples
    --------
    >>> writer = ValueWriter()
    >>> writer.value(["skip", ("a", 1)])
    ['skip', {'tuple': ['a', 1]}]
    >>> writer.value(np.array([0.5])), len(writer.arrays)
    ({'array': 0}, 1)
    """

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []

    def array(self, array: NDArray[Any]) -> int:
        """Return the number under which an array is stored."""
        self.arrays.append(np.asarray(array))
        return len(self.arrays) - 1

    def optional_array(self, array: NDArray[Any] | None) -> int | None:
        """Return the number under which an array is stored, or None if there is no array."""
        return None if array is None else self.array(array)

    def sums(self, sums: Any) -> int | JsonObject:
        """Convert an array of sums, which may contain integers of any size."""
        array = np.asarray(sums)
        if array.dtype != object:
            return self.array(array)
        integers = [_write_integer(number) for number in array.ravel().tolist()]
        return {"shape": list(array.shape), "integers": integers}

    def value(self, value: Any, depth: int = 0) -> Any:
        """Convert a value of an option or a note, which is in ``depth`` other containers.

        Raises
        ------
        InputError
            If a file cannot contain it.
        """
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in SCALAR_TYPES:
            return value
        if depth > MAX_DEPTH:
            raise InputError("not-in-a-state", value=type(value).__name__)
        if isinstance(value, list):
            return [self.value(element, depth + 1) for element in value]
        return self._object(value, depth)

    def value_by_name(self, values: Mapping[str, Any]) -> JsonObject:
        """Convert several values that have names."""
        return {name: self.value(value) for name, value in values.items()}

    def _object(self, value: Any, depth: int) -> JsonObject:
        """Convert a value to an object with one field, whose name is the type of the value."""
        if isinstance(value, Digest):
            return {"digest": str(value)}
        if isinstance(value, np.ndarray) and value.dtype != object:
            return {"array": self.array(value)}
        if isinstance(value, Mapping):
            return {"mapping": self._pairs(value, depth + 1)}
        if isinstance(value, range) and len(value) > MAX_RANGE_LENGTH:
            raise InputError("not-in-a-state", value=value)
        for name, container in CONTAINERS.items():
            if type(value) is container.type:
                elements = container.to_list(value)
                return {name: self.value(elements, depth)}
        return self._object_of_package(value)

    def _pairs(self, mapping: Mapping[Any, Any], depth: int) -> list[list[Any]]:
        """Convert the keys and values of a mapping."""
        pairs = []
        for key, value in mapping.items():
            pairs.append([self.value(key, depth), self.value(value, depth)])
        return pairs

    def _object_of_package(self, value: Any) -> JsonObject:
        """Convert an object of semmetrics."""
        if isinstance(value, Measure):
            return {"measure": write_measure(value)}
        if isinstance(value, Bootstrap):
            return {"bootstrap": asdict(value)}
        if isinstance(value, Calibration):
            return {"calibration": value.to_json()}
        if type(value) is ReadOptions:
            return {"read": self._read_options(value)}
        raise InputError("not-in-a-state", value=value)

    def _read_options(self, options: ReadOptions) -> JsonObject:
        """Convert the options of reading that differ from the defaults."""
        converted: JsonObject = {}
        for field in fields(options):
            value = getattr(options, field.name)
            if value == field.default:
                continue
            if isinstance(value, ReadOptions):
                converted[field.name] = self._read_options(value)
            else:
                converted[field.name] = self.value(value)
        return converted


def can_hold(value: Any) -> bool:
    """Return whether a state file can contain a value.

    Examples
    --------
    >>> can_hold(["cat", 0.5]), can_hold(print)
    (True, False)
    """
    try:
        ValueWriter().value(value)
    except InputError:
        return False
    return True


def write_measure(measure: Measure) -> JsonObject:
    """Convert a measure: its name, its kind, and the names that the user requested."""
    return {
        "name": str(measure),
        "kind": measure.definition.kind,
        "asked": list(measure.asked),
    }


def _write_integer(number: int) -> str:
    """Write an integer in hexadecimal digits. "p" and a number replace zeros at its end.

    Examples
    --------
    >>> _write_integer(0x2a00), _write_integer(0)
    ('2ap2', '0')
    """
    text = f"{number:x}"
    digits = text.rstrip("0")
    if not digits:
        return text
    n_zeros = len(text) - len(digits)
    return f"{digits}p{n_zeros}"
