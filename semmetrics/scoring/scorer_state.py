"""State files of a `Scorer`.

The schema is written down on the page "State files" of the documentation. It has a version of its
own, and its field names do not depend on the names of attributes. If a field changes, raise the
version in `SCHEMA`, and store a file of the new version in ``tests/unit/states``.
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
from semmetrics.data.lists import Lists, Side
from semmetrics.data.observations import Observations
from semmetrics.data.source import Source, load
from semmetrics.errors import ITEM, Fact, InputError, Places
from semmetrics.metrics.definition import Definition, Statistic
from semmetrics.metrics.registry import is_own, own_identity, registered
from semmetrics.scoring.batch_forms import FORM_NAMES
from semmetrics.scoring.fits import FittedMeasure
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.state_values import (
    Record,
    SchemaError,
    ValueWriter,
    read_measure,
    write_measure,
)
from semmetrics.scoring.statistics import Statistics
from semmetrics.scoring.system_items import DroppedItems, LoadedPart, SystemItems
from semmetrics.store.files import open_output

SCHEMA = "semmetrics.scorer-state/1"
"""The version of the schema."""
_TEXT = "state"
_CHECKSUM = "checksum"
_ORDERS = ("", "sorted", "columns", "keys")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16")


@dataclass
class ScorerState:
    """What a state file contains.

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


def write_scorer_state(target: Any, state: ScorerState) -> None:
    """Write a state to a path or a binary file.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    writer = ValueWriter()
    document = {
        "schema": SCHEMA,
        "version": __version__,
        "kind": state.kind,
        "options": {n: writer.value(value) for n, value in state.options.items()},
        "systems": [
            _write_system(name, items, writer) for name, items in state.systems.items()
        ],
    }
    arrays = {str(number): array for number, array in enumerate(writer.arrays)}
    arrays[_TEXT] = np.frombuffer(json.dumps(document).encode(), np.uint8)
    arrays[_CHECKSUM] = checksum_of(arrays)
    contents: dict[str, Any] = arrays
    if hasattr(target, "write"):
        np.savez_compressed(target, **contents)
        return
    with open_output(target, binary=True) as out:
        np.savez_compressed(out, **contents)


def read_scorer_state(target: Any, max_bytes: int) -> ScorerState:
    """Read a state from a path or a binary file.

    Raises
    ------
    InputError
        If it is not a state, was written by another version, or does not follow the schema.
    """
    if hasattr(target, "read"):
        target.seek(0)
        source = Source("a state", target.read(), max_bytes=max_bytes)
    else:
        source = load(target, max_bytes)
    document, arrays = _read_document(source)
    try:
        return _read_state(Record(document, "state", arrays))
    except InputError as error:
        if error.code == "other-measure":
            raise
        raise InputError("damaged", source.name, why=str(error)) from None
    except (SchemaError, ValueError, TypeError, OverflowError) as error:
        raise InputError("damaged", source.name, why=str(error)) from None


def _read_document(source: Source) -> tuple[Any, dict[int, NDArray[Any]]]:
    """Return the JSON of a state and its arrays, after the checks of version and checksum."""
    contents: dict[str, Any] = {}
    if source.head[:4] == b"PK\x03\x04":
        from semmetrics.data.arrays import read_arrays

        contents.update(read_arrays(source, source.max_bytes))
    if _TEXT not in contents or _CHECKSUM not in contents:
        raise InputError("no-state", source.name)
    checksum = contents.pop(_CHECKSUM)
    if not np.array_equal(checksum, checksum_of(contents)):
        raise InputError("damaged", source.name, why="its checksum is another")
    try:
        document = json.loads(contents.pop(_TEXT).tobytes())
        schema = document["schema"]
        version = document["version"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"{type(error).__name__}: {error}"
        raise InputError("damaged", source.name, why=why) from None
    if schema != SCHEMA or version != __version__:
        by = f"semmetrics {version} ({schema})"
        now = f"{__version__} ({SCHEMA})"
        raise InputError("other-version", source.name, by=by, now=now)
    arrays = {int(name): array for name, array in contents.items() if name.isdecimal()}
    return document, arrays


def checksum_of(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """Return a hash of all arrays."""
    digest = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), np.uint8)


def _read_state(record: Record) -> ScorerState:
    kind = None if record.is_null("kind") else record.text("kind")
    options_record = record.record("options")
    options = {name: options_record.value(name) for name in options_record.names()}
    systems = {}
    for system in record.records("systems"):
        systems[system.text("name")] = _read_system(system)
    return ScorerState(kind, options, systems)


# ---- systems ------------------------------------------------------------------------------------


def _write_system(name: str, items: SystemItems, writer: ValueWriter) -> dict[str, Any]:
    dropped = items.dropped
    parts = []
    for part, statistics in dropped.statistics.items():
        fitted = dropped.fitted[part]
        parts.append(
            {
                "name": part,
                "fitted": [_write_fitted(one) for one in fitted],
                "statistics": _write_statistics(statistics, fitted, writer),
            }
        )
    without_items = []
    for part, observations in dropped.without_items.items():
        written = _write_observations(observations)
        without_items.append({"part": part, "observations": written})
    columns = {}
    for option, values in items.by_item.items():
        columns[option] = writer.array(values[0]) if values else None
    return {
        "name": name,
        "preds": _write_input(items.preds, writer),
        "gts": _write_input(items.gts, writer),
        "columns_of_options": columns,
        "measures": _write_chosen(dropped.chosen, writer),
        "own_measures": _write_own_measures(dropped),
        "parts": parts,
        "without_items": without_items,
        "counts_of_parts": dropped.counts,
        "sample": [_write_sample(lists, writer) for lists in dropped.sample],
        "notes": [_write_note(note, writer) for note in dropped.notes],
        "stored_notes": [_write_note(note, writer) for note in dropped.stored_notes],
        "shard_sizes": dropped.shard_sizes,
        "identified_by": sorted(dropped.identified_by),
        "loaded_parts": [_write_loaded_part(part) for part in dropped.parts],
    }


def _read_system(record: Record) -> SystemItems:
    _check_own_measures(record)
    items = SystemItems(keep_rows=False)
    items.preds = _read_input(record.record("preds"))
    items.gts = _read_input(record.record("gts"))
    columns = record.record("columns_of_options")
    for option in columns.names():
        items.by_item[option] = []
        if not columns.is_null(option):
            items.by_item[option] = [columns.array(option, "biuf")]
    dropped = items.dropped
    if not record.is_null("measures"):
        dropped.chosen = _read_chosen(record.record("measures"))
    for part in record.records("parts"):
        name = part.text("name")
        fitted = [_read_fitted(one) for one in part.records("fitted")]
        dropped.fitted[name] = fitted
        dropped.statistics[name] = _read_statistics(part.record("statistics"), fitted)
    counts = record.record("counts_of_parts")
    dropped.counts = {name: counts.integer_by_name(name) for name in counts.names()}
    for one in record.records("without_items"):
        observations = _read_observations(one.record("observations"))
        dropped.without_items[one.text("part")] = observations
    dropped.sample = [_read_sample(one) for one in record.records("sample")]
    dropped.notes = [_read_note(one) for one in record.records("notes")]
    dropped.stored_notes = [_read_note(one) for one in record.records("stored_notes")]
    dropped.shard_sizes = record.integer_by_name("shard_sizes")
    dropped.identified_by = frozenset(record.texts("identified_by"))
    dropped.parts = [_read_loaded_part(one) for one in record.records("loaded_parts")]
    return items


def _write_loaded_part(part: LoadedPart) -> dict[str, Any]:
    return {
        "shard": part.shard,
        "n": part.n,
        "fingerprint": f"{part.fingerprint:x}",
        "key": f"{part.key:x}",
    }


def _read_loaded_part(record: Record) -> LoadedPart:
    return LoadedPart(
        record.text("shard"),
        record.integer("n"),
        record.hash("fingerprint"),
        record.hash("key"),
    )


# ---- inputs -------------------------------------------------------------------------------------


def _write_input(buffer: InputBuffer, writer: ValueWriter) -> dict[str, Any]:
    n_unlike, n_items, example = buffer.unlike
    return {
        "source": buffer.source,
        "noun": buffer.noun,
        "reading": buffer.reading,
        "notes": [_write_note(note, writer) for note in buffer.notes],
        "unlike": {"n": n_unlike, "items": n_items, "example": example},
        "forms": sorted(buffer.forms),
        "only_ones": buffer.only_ones,
        "readings": list(buffer.readings),
        "order": buffer.order,
        "precisions": sorted(buffer.precisions),
        "has_marks": buffer.has_marks,
        "names_all": buffer.names_all,
        "is_federated": buffer.is_federated,
        "styles": dict(buffer.styles),
        "style_place": buffer.style_place,
        "columns": writer.value(list(buffer.columns)),
        "has_unnamed_columns": buffer.has_unnamed_columns,
        "has_ids": buffer.ids is not None,
        "first_place": buffer.first_place,
        "n_items": buffer.n_dropped,
        "n_entries": buffer.n_dropped_entries,
    }


def _read_input(record: Record) -> InputBuffer:
    buffer = InputBuffer(
        record.text("source"), record.text("noun"), record.text("reading")
    )
    buffer.notes = [_read_note(one) for one in record.records("notes")]
    unlike = record.record("unlike")
    n_unlike = unlike.integer("n")
    buffer.unlike = n_unlike, unlike.integer("items"), unlike.text("example")
    buffer.forms = set(record.texts("forms"))
    if not buffer.forms <= set(FORM_NAMES):
        raise SchemaError(f"{sorted(buffer.forms)} are not forms of batches")
    buffer.only_ones = record.boolean("only_ones")
    buffer.readings = record.texts("readings")
    buffer.order = record.text("order", _ORDERS)
    buffer.precisions = set(record.texts("precisions"))
    if not buffer.precisions <= set(_PRECISIONS):
        raise SchemaError(f"{sorted(buffer.precisions)} are not precisions")
    buffer.has_marks = record.boolean("has_marks")
    buffer.names_all = record.boolean("names_all")
    buffer.is_federated = record.boolean("is_federated")
    buffer.styles = record.text_by_name("styles")
    buffer.style_place = record.text("style_place")
    buffer.columns = _read_entries(record, "columns")
    buffer.has_unnamed_columns = record.boolean("has_unnamed_columns")
    buffer.ids = [] if record.boolean("has_ids") else None
    buffer.first_place = record.text("first_place")
    buffer.n_dropped = record.integer("n_items")
    buffer.n_dropped_entries = record.integer("n_entries")
    return buffer


def _read_entries(record: Record, name: str) -> list[Any]:
    """Read a list of strings and of tuples of strings."""
    entries = record.value(name)
    if not isinstance(entries, list):
        raise SchemaError(f"{name} is not a list of entries")
    for entry in entries:
        terms = entry if isinstance(entry, tuple) else (entry,)
        if not terms or not all(isinstance(term, str) for term in terms):
            raise SchemaError(f"{entry!r} is not an entry of {name}")
    return entries


def _write_sample(lists: Lists, writer: ValueWriter) -> dict[str, Any]:
    """Convert the sample item of an input."""
    scores = lists.side.scores
    n_unlike, n_items, example = lists.unlike
    return {
        "vocabulary": writer.value(list(lists.vocabulary)),
        "codes": writer.array(lists.side.codes),
        "scores": None if scores is None else writer.array(scores),
        "noun": lists.noun,
        "ranked": lists.ranked,
        "cells": lists.cells,
        "source": lists.source,
        "understood": lists.understood,
        "notes": [_write_note(note, writer) for note in lists.notes],
        "columns": lists.columns,
        "order": lists.order,
        "unlike": {"n": n_unlike, "items": n_items, "example": example},
        "names_all": lists.names_all,
        "styles": dict(lists.styles),
        "is_federated": lists.is_federated,
        "precision": lists.precision,
        "has_marks": lists.has_marks,
    }


def _read_sample(record: Record) -> Lists:
    vocabulary = _read_entries(record, "vocabulary")
    codes = record.array("codes", "i")
    if codes.ndim != 1 or (codes >= len(vocabulary)).any() or (codes < 0).any():
        raise SchemaError("the codes of a sample are outside its vocabulary")
    scores = None
    if not record.is_null("scores"):
        scores = record.array("scores", "f", size=len(codes))
    source = record.text("source")
    unlike = record.record("unlike")
    n_unlike = unlike.integer("n")
    return Lists(
        range(1),
        vocabulary,
        Side(np.array([0, len(codes)]), codes.astype(np.int32), scores),
        noun=record.text("noun"),
        ranked=record.boolean("ranked"),
        cells=record.text("cells", ("", "members", "either")),
        source=source,
        understood=record.text("understood"),
        notes=[_read_note(one) for one in record.records("notes")],
        where=Places(source, None, ITEM, range(1)),
        columns=None if record.is_null("columns") else record.integer("columns"),
        order=record.text("order", _ORDERS),
        unlike=(n_unlike, unlike.integer("items"), unlike.text("example")),
        names_all=record.boolean("names_all"),
        styles=record.text_by_name("styles"),
        is_federated=record.boolean("is_federated"),
        precision=record.text("precision", _PRECISIONS),
        has_marks=record.boolean("has_marks"),
    )


# ---- measures -----------------------------------------------------------------------------------


def _write_chosen(
    chosen: ChosenMeasures | None, writer: ValueWriter
) -> dict[str, Any] | None:
    if chosen is None:
        return None
    not_computed = []
    for one in chosen.not_computed:
        entry = {"heading": one.heading, "reason": one.reason, "measure": one.measure}
        not_computed.append(entry)
    return {
        "measures": [write_measure(measure) for measure in chosen.measures],
        "headings": list(chosen.headings),
        "not_computed": not_computed,
        "notes": [_write_note(note, writer) for note in chosen.notes],
    }


def _read_chosen(record: Record) -> ChosenMeasures:
    measures = [read_measure(one) for one in record.records("measures")]
    headings = record.texts("headings")
    if len(headings) != len(measures):
        raise SchemaError("the measures and their headings differ in number")
    not_computed = []
    for one in record.records("not_computed"):
        name = None if one.is_null("measure") else one.text("measure")
        not_computed.append(NotComputed(one.text("heading"), one.text("reason"), name))
    notes = [_read_note(one) for one in record.records("notes")]
    return ChosenMeasures(measures, headings, not_computed, notes)


def _write_fitted(fitted: FittedMeasure) -> dict[str, Any]:
    return {"measure": write_measure(fitted.measure), "note": fitted.note}


def _read_fitted(record: Record) -> FittedMeasure:
    return FittedMeasure(read_measure(record.record("measure")), record.text("note"))


def _write_own_measures(dropped: DroppedItems) -> list[dict[str, str]]:
    """Return the source of each measure that the user defined, as a hash."""
    definitions = dict.fromkeys(measure.definition for measure in dropped.measures)
    return [
        {"kind": one.kind, "name": one.name, "identity": own_identity(one)}
        for one in definitions
        if is_own(one)
    ]


def _check_own_measures(record: Record) -> None:
    """Raise an error if a measure that the user defined has another source now."""
    for one in record.records("own_measures"):
        definition: Definition = registered(one.text("kind"), one.text("name"))
        if own_identity(definition) != one.text("identity"):
            raise InputError("other-measure", measure=definition.name)


# ---- statistics ---------------------------------------------------------------------------------


def _statistics_of(fitted: list[FittedMeasure]) -> list[Statistic]:
    """Return the statistics of measures, each once, in the order of the measures."""
    statistics = []
    for measure, _ in fitted:
        statistics.append(measure.definition.family.statistic(measure))
    return list(dict.fromkeys(statistics))


def _write_statistics(
    statistics: Statistics, fitted: list[FittedMeasure], writer: ValueWriter
) -> dict[str, Any]:
    needed = _statistics_of(fitted)
    ignored = {name: list(counts) for name, counts in statistics.ignored.items()}
    named = {name: sorted(labels) for name, labels in statistics.named.items()}
    resamples = None
    if statistics.resamples is not None:
        resamples = [
            _write_columns(statistics.resamples[one], writer) for one in needed
        ]
    return {
        "n": len(statistics),
        "unit": statistics.unit,
        "labels": list(statistics.labels),
        "n_reference": writer.array(statistics.n_reference),
        "n_prediction": writer.array(statistics.n_prediction),
        "n_listed": statistics.given,
        "ignored": writer.value(ignored),
        "named": writer.value(named),
        "in_columns": _write_optional(statistics.in_columns, writer),
        "groups": _write_optional(statistics.groups, writer),
        "fingerprint": f"{statistics.fingerprint:x}",
        "weighting": f"{statistics.weighting:x}",
        "settings": dict(statistics.settings),
        "counts": dict(statistics.counts),
        "models": dict(statistics.models),
        "observations": _write_observations(statistics.observations),
        "sums": [_write_columns(statistics.sums[one], writer) for one in needed],
        "resamples": resamples,
        "resampled": statistics.resampled,
        "n_drawn": statistics.n_drawn,
    }


def _read_statistics(record: Record, fitted: list[FittedMeasure]) -> Statistics:
    needed = _statistics_of(fitted)
    labels = tuple(record.texts("labels"))
    n_labels = len(labels)
    sums = _read_columns(record, "sums", needed, n_labels)
    resamples = None
    if not record.is_null("resamples"):
        resamples = _read_columns(record, "resamples", needed, n_labels)
    in_columns = groups = None
    if not record.is_null("in_columns"):
        in_columns = record.array("in_columns", "b", size=n_labels)
    if not record.is_null("groups"):
        groups = record.array("groups", "u")
    n_listed = None if record.is_null("n_listed") else record.integer("n_listed")
    if n_listed is not None and n_listed > n_labels:
        raise SchemaError("the class list is longer than the labels")
    return Statistics(
        sums=sums,
        parts=None,
        labels=labels,
        n_reference=record.array("n_reference", "iu", size=n_labels),
        n_prediction=record.array("n_prediction", "iu", size=n_labels),
        given=n_listed,
        ignored=_read_ignored(record),
        ids=range(record.integer("n")),
        hashes=np.zeros(0, np.uint64),
        weights=None,
        fingerprint=record.hash("fingerprint"),
        settings=record.text_by_name("settings"),
        counts=record.integer_by_name("counts"),
        unit=record.text("unit"),
        groups=groups,
        models=record.text_by_name("models"),
        observations=_read_observations(record.record("observations")),
        weighting=record.hash("weighting"),
        named=_read_named(record),
        in_columns=in_columns,
        resamples=resamples,
        resampled=record.text("resampled"),
        n_drawn=record.integer("n_drawn"),
    )


def _write_optional(array: NDArray[Any] | None, writer: ValueWriter) -> int | None:
    return None if array is None else writer.array(array)


def _write_columns(sums: Mapping[str, Any], writer: ValueWriter) -> dict[str, Any]:
    return {name: writer.sums(array) for name, array in sums.items()}


def _read_columns(
    record: Record, name: str, needed: list[Statistic], n_labels: int
) -> dict[Statistic, dict[str, NDArray[Any]]]:
    """Read the sums of each statistic, by column."""
    records = record.records(name)
    if len(records) != len(needed):
        raise SchemaError(f"{name} are not those of the measures")
    columns: dict[Statistic, dict[str, NDArray[Any]]] = {}
    for statistic, one in zip(needed, records, strict=True):
        arrays = {}
        for column in one.names():
            array = one.sums(column)
            is_by_label = column in statistic.labels
            if is_by_label and array.shape[-1:] != (n_labels,):
                raise SchemaError(f"{name}, {column} does not have a value per label")
            arrays[column] = array
        columns[statistic] = arrays
    return columns


def _read_ignored(record: Record) -> dict[str, tuple[int, int]]:
    ignored = {}
    for name, counts in record.value("ignored").items():
        n_predicted, n_true = map(int, counts)
        ignored[str(name)] = n_predicted, n_true
    return ignored


def _read_named(record: Record) -> dict[str, frozenset[str]]:
    named = {}
    for name, labels in record.value("named").items():
        named[str(name)] = frozenset(map(str, labels))
    return named


# ---- observations and notes ---------------------------------------------------------------------


def _write_observations(observations: Observations) -> dict[str, Any]:
    requirements = {}
    for name, identities in observations.requirements.items():
        requirements[name] = sorted(identities)
    counts = [{"key": list(key), "n": n} for key, n in observations.counts.items()]
    names = [
        {"key": list(key), "names": sorted(values)}
        for key, values in observations.names.items()
    ]
    return {
        "counts": counts,
        "names": names,
        "requirements": requirements,
        "of_whole_data": sorted(observations.of_whole_data),
    }


def _read_observations(record: Record) -> Observations:
    observations = Observations()
    for one in record.records("counts"):
        observations.counts[_read_key(one)] = one.integer("n")
    for one in record.records("names"):
        observations.names[_read_key(one)] = frozenset(one.texts("names"))
    requirements = record.record("requirements")
    for name in requirements.names():
        observations.requirements[name] = frozenset(requirements.texts(name))
    observations.of_whole_data = set(record.texts("of_whole_data"))
    return observations


def _read_key(record: Record) -> tuple[Any, ...]:
    """Read the code and the details of an observation."""
    key = record.value("key")
    is_key = isinstance(key, list) and bool(key) and isinstance(key[0], str)
    if not is_key or any(isinstance(detail, (list, dict)) for detail in key):
        raise SchemaError(f"{key!r} is not the key of an observation")
    return tuple(key)


def _write_note(note: Fact, writer: ValueWriter) -> dict[str, Any]:
    return {
        "code": note.code,
        "n": writer.value(note.n),
        "examples": writer.value(list(note.examples)),
        "where": note.where,
        "values": {name: writer.value(value) for name, value in note.values.items()},
    }


def _read_note(record: Record) -> Fact:
    from semmetrics.messages import MESSAGES

    code = record.text("code")
    if code not in MESSAGES:
        raise SchemaError(f"{code!r} is not the code of a note")
    values_record = record.record("values")
    values = {name: values_record.value(name) for name in values_record.names()}
    examples = tuple(record.value("examples"))
    return Fact(code, record.integer("n"), examples, record.text("where"), values)
