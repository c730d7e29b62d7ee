"""State files of a `Scorer`.

The page "State files" of the documentation describes the schema. It has its own version number, and
its field names do not depend on the names of attributes. If a field changes, raise the version in
`SCHEMA`, and add a file of the new version to ``tests/unit/states``.

This module writes and reads the file. The modules ``state_systems``, ``state_inputs``,
``state_measures``, ``state_statistics``, ``state_sums`` and ``state_notes`` write and read the
objects in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics._version import __version__
from semmetrics.data.source import Source, load
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_systems import read_system, write_system
from semmetrics.scoring.state_values import ValueWriter
from semmetrics.scoring.system_items import SystemItems
from semmetrics.store.files import open_output

SCHEMA = "semmetrics.scorer-state/1"
"""The version of the schema."""
_DOCUMENT = "state"
_CHECKSUM = "checksum"
"""The names of the arrays with the JSON document and with the checksum."""
_TOO_DEEP = "its JSON is nested too deeply"
_COLLECTIONS = (list, tuple, set, frozenset, dict)
_ZIP_SIGNATURE = b"PK\x03\x04"


@dataclass
class ScorerState:
    """The content of a state file.

    Attributes
    ----------
    kind : str or None
    options : dict
    systems : dict from name to SystemItems
        Without stored items.
    """

    kind: str | None
    options: dict[str, Any]
    systems: dict[str, SystemItems]


# ---- writing ------------------------------------------------------------------------------------


def write_scorer_state(target: Any, state: ScorerState) -> None:
    """Write a state to a path or a binary file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    writer = ValueWriter()
    options = writer.value_by_name(state.options)
    systems = []
    for name, items in state.systems.items():
        systems.append(write_system(name, items, writer))
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "kind": state.kind,
        "options": options,
        "systems": systems,
    }
    arrays: dict[str, Any] = {}
    for number, array in enumerate(writer.arrays):
        arrays[str(number)] = array
    arrays[_DOCUMENT] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    arrays[_CHECKSUM] = checksum_of(arrays)
    if hasattr(target, "write"):
        np.savez_compressed(target, **arrays)
        return
    with open_output(target, binary=True) as out:
        np.savez_compressed(out, **arrays)


def checksum_of(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return a hash of all arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


# ---- reading ------------------------------------------------------------------------------------


def read_scorer_state(target: Any, max_bytes: int) -> ScorerState:
    """Read a state from a path or a binary file.

    Raises
    ------
    InputError
        If it is not a state, was written by another version, or does not follow the schema.
    """
    if hasattr(target, "read"):
        if target.seekable():
            target.seek(0)  # it may have been written just before
        source = Source("a state", target.read(), max_bytes=max_bytes)
    else:
        source = load(target, max_bytes)
    arrays = _read_arrays(source)
    document = _read_document(arrays.pop(_DOCUMENT), source.name)
    numbered = {int(name): array for name, array in arrays.items() if name.isdecimal()}
    try:
        return _read_state(Record(document, "state", numbered))
    except InputError as error:
        if error.code == "other-measure":
            raise
        raise InputError("damaged", source.name, why=str(error)) from None
    except (SchemaError, ValueError, TypeError, OverflowError) as error:
        raise InputError("damaged", source.name, why=str(error)) from None
    except RecursionError:
        raise InputError("damaged", source.name, why=_TOO_DEEP) from None


def _read_arrays(source: Source) -> dict[str, NDArray[Any]]:
    """Return the arrays of a state by name, after the check of the checksum."""
    arrays: dict[str, NDArray[Any]] = {}
    if source.head.startswith(_ZIP_SIGNATURE):
        from semmetrics.data.arrays import read_arrays

        arrays.update(read_arrays(source, source.max_bytes))
    if _DOCUMENT not in arrays or _CHECKSUM not in arrays:
        raise InputError("no-state", source.name)
    checksum = arrays.pop(_CHECKSUM)
    if not np.array_equal(checksum, checksum_of(arrays)):
        raise InputError("damaged", source.name, why="the checksum differs")
    return arrays


def _read_document(text: NDArray[Any], source_name: str) -> Any:
    """Return the JSON document of a state, after the check of the version."""
    try:
        document = json.loads(text.tobytes())
        schema = document["schema"]
        version = document["version"]
    except RecursionError:
        raise InputError("damaged", source_name, why=_TOO_DEEP) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError("damaged", source_name, why=why) from None
    if schema != SCHEMA or version != __version__:
        written_by = f"semmetrics {version} ({schema})"
        current = f"{__version__} ({SCHEMA})"
        raise InputError("other-version", source_name, by=written_by, now=current)
    return document


def _read_state(record: Record) -> ScorerState:
    kind = None if record.is_null("kind") else record.text("kind")
    options = record.record("options").values()
    _check_options(options)
    systems: dict[str, SystemItems] = {}
    for system in record.records("systems"):
        name = system.text("name")
        if name in systems:
            raise SchemaError(f"there are two systems {name!r}")
        systems[name] = read_system(system)
    return ScorerState(kind, options, systems)


def _check_options(options: Mapping[str, Any]) -> None:
    """Raise an error for options that no scorer has, and for measures without a name."""
    for name in options:
        if name not in OPTIONS:
            raise SchemaError(f"{name!r} is not an option of a scorer")
    measures = options.get("measures")
    if measures is None or isinstance(measures, (str, Measure)):
        return
    is_collection = isinstance(measures, _COLLECTIONS)
    if not is_collection or not all(isinstance(m, (str, Measure)) for m in measures):
        raise SchemaError("the option measures does not contain measures")
