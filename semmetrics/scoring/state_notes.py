"""Notes and observations in a state file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from semmetrics.data.observations import Observations
from semmetrics.errors import Fact
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_values import SCALAR_TYPES, JsonObject, ValueWriter


def write_notes(notes: Iterable[Fact], writer: ValueWriter) -> list[JsonObject]:
    """Convert notes to JSON."""
    return [_write_note(note, writer) for note in notes]


def read_notes(record: Record, name: str) -> list[Fact]:
    """Read the notes in a field."""
    return [_read_note(note) for note in record.records(name)]


def _write_note(note: Fact, writer: ValueWriter) -> JsonObject:
    return {
        "code": note.code,
        "n": writer.value(note.n),
        "examples": writer.value(list(note.examples)),
        "where": note.where,
        "values": writer.value_by_name(note.values),
    }


def _read_note(record: Record) -> Fact:
    from semmetrics.messages.catalog import MESSAGES  # loads all messages

    code = record.text("code")
    if code not in MESSAGES:
        raise SchemaError(f"{code!r} is not the code of a note")
    examples = record.value("examples")
    if not isinstance(examples, list):
        raise SchemaError(f"the examples of {code!r} are not a list")
    return Fact(
        code,
        n=record.integer("n"),
        examples=tuple(examples),
        where=record.text("where"),
        values=record.record("values").values(),
    )


# ---- observations -------------------------------------------------------------------------------


def write_observations(observations: Observations) -> JsonObject:
    """Convert observations to JSON."""
    counts = []
    for key, n in observations.counts.items():
        counts.append({"key": list(key), "n": n})
    name_sets = []
    for key, names in observations.names.items():
        name_sets.append({"key": list(key), "names": sorted(names)})
    requirements = {}
    for name, identities in observations.requirements.items():
        requirements[name] = sorted(identities)
    return {
        "counts": counts,
        "names": name_sets,
        "requirements": requirements,
        "of_whole_data": sorted(observations.of_whole_data),
    }


def read_observations(record: Record) -> Observations:
    """Read observations."""
    observations = Observations()
    for count in record.records("counts"):
        observations.counts[_read_key(count)] = count.integer("n")
    for name_set in record.records("names"):
        observations.names[_read_key(name_set)] = frozenset(name_set.texts("names"))
    requirements = record.record("requirements")
    for name in requirements.names():
        observations.requirements[name] = frozenset(requirements.texts(name))
    observations.of_whole_data = set(record.texts("of_whole_data"))
    return observations


def _read_key(record: Record) -> tuple[Hashable, ...]:
    """Read the code and the details of an observation."""
    key = record.value("key")
    if not _is_key(key):
        raise SchemaError(f"{key!r} is not the key of an observation")
    return tuple(key)


def _is_key(key: Any) -> bool:
    """Return whether a value is a list of a code and details."""
    if not isinstance(key, list) or not key or not isinstance(key[0], str):
        return False
    return all(detail is None or type(detail) in SCALAR_TYPES for detail in key)
