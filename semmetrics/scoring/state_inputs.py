"""The inputs of a system in a state file, and its sample item.

A state has sums over items instead of items. Only one item is stored, as a sample for notes.
"""

from __future__ import annotations

import numpy as np

from semmetrics.data.lists import Entry, Lists, Side
from semmetrics.errors import ITEM, Places
from semmetrics.scoring.batch_forms import FORM_NAMES
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.state_notes import read_notes, write_notes
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_values import JsonObject, ValueWriter

_ORDERS = ("", "sorted", "columns", "keys")
_PRECISIONS = ("float64", "float32", "float16", "bfloat16")
_MEANINGS_OF_CELLS = ("", "members", "either")
_COCO_INSTANCES = "COCO instances"
"""The words in the description of COCO instances by which `read_input` recognises them."""
_ONE_ITEM = range(1)


def write_input(buffer: InputBuffer, writer: ValueWriter) -> JsonObject:
    """Convert an input to JSON, after its items were summed and dropped."""
    return {
        "source": buffer.source,
        "noun": buffer.noun,
        "reading": buffer.reading,
        "notes": write_notes(buffer.notes, writer),
        "unlike": _write_unlike(buffer.unlike),
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


def read_input(record: Record) -> InputBuffer:
    """Read an input, which has no stored items."""
    buffer = InputBuffer()
    buffer.source = record.text("source")
    buffer.noun = record.text("noun")
    buffer.reading = record.text("reading")
    buffer.notes = read_notes(record, "notes")
    buffer.unlike = _read_unlike(record.record("unlike"))
    buffer.forms = set(record.texts("forms"))
    if not buffer.forms.issubset(FORM_NAMES):
        raise SchemaError(f"{sorted(buffer.forms)} are not forms of batches")
    buffer.only_ones = record.boolean("only_ones")
    buffer.readings = record.texts("readings")
    buffer.order = record.text("order", _ORDERS)
    buffer.precisions = set(record.texts("precisions"))
    if not buffer.precisions.issubset(_PRECISIONS):
        raise SchemaError(f"{sorted(buffer.precisions)} are not precisions")
    buffer.has_marks = record.boolean("has_marks")
    buffer.names_all = record.boolean("names_all")
    buffer.is_federated = record.boolean("is_federated")
    buffer.has_coco_instances = _are_coco_instances(buffer.understood)
    buffer.styles = record.text_by_name("styles")
    buffer.style_place = record.text("style_place")
    buffer.columns = _read_entries(record, "columns")
    buffer.has_unnamed_columns = record.boolean("has_unnamed_columns")
    buffer.ids = [] if record.boolean("has_ids") else None
    buffer.first_place = record.text("first_place")
    buffer.n_dropped = record.integer("n_items")
    buffer.n_dropped_entries = record.integer("n_entries")
    return buffer


def write_sample(lists: Lists, writer: ValueWriter) -> JsonObject:
    """Convert the sample item of an input to JSON."""
    return {
        "vocabulary": writer.value(list(lists.vocabulary)),
        "codes": writer.array(lists.side.codes),
        "scores": writer.optional_array(lists.side.scores),
        "noun": lists.noun,
        "ranked": lists.ranked,
        "cells": lists.cells,
        "source": lists.source,
        "understood": lists.understood,
        "notes": write_notes(lists.notes, writer),
        "columns": lists.columns,
        "order": lists.order,
        "unlike": _write_unlike(lists.unlike),
        "names_all": lists.names_all,
        "styles": dict(lists.styles),
        "is_federated": lists.is_federated,
        "precision": lists.precision,
        "has_marks": lists.has_marks,
    }


def read_sample(record: Record) -> Lists:
    """Read the sample item of an input."""
    vocabulary = _read_entries(record, "vocabulary")
    side = _read_sample_side(record, len(vocabulary))
    source = record.text("source")
    understood = record.text("understood")
    unlike = _read_unlike(record.record("unlike"))
    return Lists(
        _ONE_ITEM,
        vocabulary,
        side,
        noun=record.text("noun"),
        ranked=record.boolean("ranked"),
        cells=record.text("cells", _MEANINGS_OF_CELLS),
        source=source,
        understood=understood,
        notes=read_notes(record, "notes"),
        where=Places(source, None, ITEM, _ONE_ITEM),
        columns=None if record.is_null("columns") else record.integer("columns"),
        order=record.text("order", _ORDERS),
        unlike=unlike,
        names_all=record.boolean("names_all"),
        styles=record.text_by_name("styles"),
        is_federated=record.boolean("is_federated"),
        precision=record.text("precision", _PRECISIONS),
        has_marks=record.boolean("has_marks"),
        is_coco_instances=_are_coco_instances(understood),
    )


def _are_coco_instances(understood: str) -> bool:
    """Return whether an input consists of COCO instances, according to its description.

    The current schema of states has no field for this attribute. So the description of
    `read_coco_labels` must contain these words until the schema changes, which a test checks. No
    other attribute is inferred from a description.
    """
    return _COCO_INSTANCES in understood


def _read_sample_side(record: Record, n_entries: int) -> Side:
    """Read the codes and the scores of the sample item."""
    codes = record.array("codes", "i")
    is_in_vocabulary = (codes >= 0) & (codes < n_entries)
    if codes.ndim != 1 or not is_in_vocabulary.all():
        raise SchemaError("the codes of a sample are outside its vocabulary")
    scores = record.optional_array("scores", "f", size=len(codes))
    indptr = np.array([0, len(codes)])
    return Side(indptr, codes.astype(np.int32), scores)


def _write_unlike(unlike: tuple[int, int, str]) -> JsonObject:
    """Convert `Lists.unlike`: entries of one item with different scores."""
    n_entries, n_items, example = unlike
    return {"n": n_entries, "items": n_items, "example": example}


def _read_unlike(record: Record) -> tuple[int, int, str]:
    """Read what `_write_unlike` wrote."""
    return record.integer("n"), record.integer("items"), record.text("example")


def _read_entries(record: Record, name: str) -> list[Entry]:
    """Read a list of strings and of tuples of strings."""
    entries = record.value(name)
    if not isinstance(entries, list):
        raise SchemaError(f"{name} is not a list of entries")
    for entry in entries:
        terms = entry if isinstance(entry, tuple) else (entry,)
        if not terms or not all(isinstance(term, str) for term in terms):
            raise SchemaError(f"{entry!r} is not an entry of {name}")
    return entries
