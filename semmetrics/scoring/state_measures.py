"""The measures of a system in a state file."""

from __future__ import annotations

from collections.abc import Iterable

from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import is_own, own_identity, registered
from semmetrics.scoring.fits import FittedMeasure
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.state_notes import read_notes, write_notes
from semmetrics.scoring.state_records import Record, SchemaError, read_measure
from semmetrics.scoring.state_values import JsonObject, ValueWriter, write_measure


def write_chosen(chosen: ChosenMeasures, writer: ValueWriter) -> JsonObject:
    """Convert the measures of a score to JSON."""
    return {
        "measures": [write_measure(measure) for measure in chosen.measures],
        "headings": list(chosen.headings),
        "not_computed": list(map(_write_not_computed, chosen.not_computed)),
        "notes": write_notes(chosen.notes, writer),
    }


def read_chosen(record: Record) -> ChosenMeasures:
    """Read the measures of a score."""
    measures = [read_measure(measure) for measure in record.records("measures")]
    headings = record.texts("headings")
    if len(headings) != len(measures):
        raise SchemaError("the measures and their headings differ in number")
    not_computed = list(map(_read_not_computed, record.records("not_computed")))
    return ChosenMeasures(measures, headings, not_computed, read_notes(record, "notes"))


def _write_not_computed(absent: NotComputed) -> JsonObject:
    return {
        "heading": absent.heading,
        "reason": absent.reason,
        "measure": absent.measure,
    }


def _read_not_computed(record: Record) -> NotComputed:
    measure = None if record.is_null("measure") else record.text("measure")
    return NotComputed(record.text("heading"), record.text("reason"), measure)


def write_fitted(fitted: FittedMeasure) -> JsonObject:
    """Convert a fitted measure to JSON."""
    return {"measure": write_measure(fitted.measure), "note": fitted.note}


def read_fitted(record: Record) -> FittedMeasure:
    """Read a fitted measure."""
    return FittedMeasure(read_measure(record.record("measure")), record.text("note"))


def write_own_measures(measures: Iterable[Measure]) -> list[JsonObject]:
    """Return the measures that the user defined, each with a hash of its source."""
    definitions = dict.fromkeys(measure.definition for measure in measures)
    own_measures = []
    for definition in definitions:
        if is_own(definition):
            own_measures.append(
                {
                    "kind": definition.kind,
                    "name": definition.name,
                    "identity": own_identity(definition),
                }
            )
    return own_measures


def check_own_measures(records: Iterable[Record]) -> None:
    """Raise an error if a measure that the user defined has another source now."""
    for record in records:
        definition: Definition = registered(record.text("kind"), record.text("name"))
        if own_identity(definition) != record.text("identity"):
            raise InputError("other-measure", measure=definition.name)
