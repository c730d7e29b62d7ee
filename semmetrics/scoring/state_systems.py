"""The systems of a `Scorer` in a state file."""

from __future__ import annotations

from collections.abc import Sequence

from semmetrics.scoring.dropped_items import DroppedItems, LoadedPart
from semmetrics.scoring.fits import FittedMeasure
from semmetrics.scoring.item_options import columns_of
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.state_inputs import (
    read_input,
    read_sample,
    write_input,
    write_sample,
)
from semmetrics.scoring.state_measures import (
    check_own_measures,
    read_chosen,
    read_fitted,
    write_chosen,
    write_fitted,
    write_own_measures,
)
from semmetrics.scoring.state_notes import (
    read_notes,
    read_observations,
    write_notes,
    write_observations,
)
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_statistics import read_statistics, write_statistics
from semmetrics.scoring.state_values import JsonObject, ValueWriter
from semmetrics.scoring.system_items import SystemItems

_N_SAMPLE_SIDES = (0, 2)
"""A sample has the predictions and the ground truth, or is empty."""


def write_system(name: str, items: SystemItems, writer: ValueWriter) -> JsonObject:
    """Convert the sums of a system to JSON."""
    dropped = items.dropped
    parts = _write_parts(dropped, writer)
    without_items = _write_without_items(dropped)
    columns = _write_columns_of_options(items, writer)
    return {
        "name": name,
        "preds": write_input(items.preds, writer),
        "gts": write_input(items.gts, writer),
        "columns_of_options": columns,
        "measures": _write_measures(dropped, writer),
        "own_measures": write_own_measures(dropped.measures),
        "parts": parts,
        "without_items": without_items,
        "counts_of_parts": dropped.counts,
        "sample": [write_sample(lists, writer) for lists in dropped.sample],
        "notes": write_notes(dropped.notes, writer),
        "stored_notes": write_notes(dropped.stored_notes, writer),
        "shard_sizes": dropped.shard_sizes,
        "identified_by": sorted(dropped.identified_by),
        "loaded_parts": list(map(_write_loaded_part, dropped.parts)),
    }


def read_system(record: Record) -> SystemItems:
    """Read the sums of a system."""
    check_own_measures(record.records("own_measures"))
    items = SystemItems(keep_rows=False)
    items.preds = read_input(record.record("preds"))
    items.gts = read_input(record.record("gts"))
    _read_columns_of_options(record.record("columns_of_options"), items)
    dropped = items.dropped
    if not record.is_null("measures"):
        dropped.chosen = read_chosen(record.record("measures"))
    for part in record.records("parts"):
        _read_part(part, dropped)
        _check_n_items(part.text("name"), items)
    counts = record.record("counts_of_parts")
    for part_name in counts.names():
        dropped.counts[part_name] = counts.count_by_name(part_name)
    for part in record.records("without_items"):
        observations = read_observations(part.record("observations"))
        dropped.without_items[part.text("part")] = observations
    for part_name in (*dropped.statistics, *dropped.without_items):
        if part_name not in dropped.counts:
            raise SchemaError(f"counts_of_parts does not have the part {part_name!r}")
    dropped.sample = list(map(read_sample, record.records("sample")))
    if len(dropped.sample) not in _N_SAMPLE_SIDES:
        raise SchemaError("the sample does not have two sides")
    dropped.notes = read_notes(record, "notes")
    dropped.stored_notes = read_notes(record, "stored_notes")
    dropped.shard_sizes = record.count_by_name("shard_sizes")
    dropped.identified_by = frozenset(record.texts("identified_by"))
    dropped.parts = list(map(_read_loaded_part, record.records("loaded_parts")))
    return items


# ---- parts of the data --------------------------------------------------------------------------


def _write_parts(dropped: DroppedItems, writer: ValueWriter) -> list[JsonObject]:
    """Convert the fitted measures and the sums of each part of the data."""
    parts = []
    for name, statistics in dropped.statistics.items():
        fitted = dropped.fitted[name]
        parts.append(
            {
                "name": name,
                "fitted": list(map(write_fitted, fitted)),
                "statistics": write_statistics(statistics, fitted, writer),
            }
        )
    return parts


def _read_part(record: Record, dropped: DroppedItems) -> None:
    """Read the fitted measures and the sums of a part of the data."""
    name = record.text("name")
    if name in dropped.statistics:
        raise SchemaError(f"there are two parts {name!r}")
    fitted = list(map(read_fitted, record.records("fitted")))
    _check_fitted(name, fitted, dropped.chosen)
    dropped.fitted[name] = fitted
    dropped.statistics[name] = read_statistics(record.record("statistics"), fitted)


def _check_fitted(
    part: str, fitted: Sequence[FittedMeasure], chosen: ChosenMeasures | None
) -> None:
    """Raise an error if the fitted measures of a part are not the chosen ones."""
    needed = [] if chosen is None else chosen.evaluated(part)
    definitions = [measure.definition for measure in needed]
    if [measure.definition for measure, _ in fitted] != definitions:
        raise SchemaError(f"the fitted measures of the part {part!r} are others")


def _check_n_items(part: str, items: SystemItems) -> None:
    """Raise an error if a part has more items than both inputs.

    Parts that have names are not checked. They may count queries, and an image has several
    captions.
    """
    n_items = len(items.dropped.statistics[part])
    if not part and n_items > max(len(items.preds), len(items.gts)):
        raise SchemaError(f"the inputs do not have {n_items} items")


def _write_without_items(dropped: DroppedItems) -> list[JsonObject]:
    """Convert the observations in batches without any remaining item."""
    without_items = []
    for part, observations in dropped.without_items.items():
        content = write_observations(observations)
        without_items.append({"part": part, "observations": content})
    return without_items


def _write_measures(dropped: DroppedItems, writer: ValueWriter) -> JsonObject | None:
    """Convert the measures, or return None if no items were summed."""
    if dropped.chosen is None:
        return None
    return write_chosen(dropped.chosen, writer)


# ---- options by item ----------------------------------------------------------------------------


def _write_columns_of_options(items: SystemItems, writer: ValueWriter) -> JsonObject:
    """Convert the columns of options that come with the items."""
    columns: JsonObject = {}
    for option, values in items.by_item.items():
        columns[option] = writer.optional_array(columns_of(values))
    return columns


def _read_columns_of_options(record: Record, items: SystemItems) -> None:
    """Read the columns of options that come with the items."""
    for option in record.names():
        columns = record.optional_array(option, "biuf")
        items.by_item[option] = [] if columns is None else [columns]


# ---- loaded parts -------------------------------------------------------------------------------


def _write_loaded_part(part: LoadedPart) -> JsonObject:
    return {
        "shard": part.shard,
        "n": part.n,
        "fingerprint": f"{part.fingerprint:x}",
        "key": f"{part.key:x}",
    }


def _read_loaded_part(record: Record) -> LoadedPart:
    return LoadedPart(
        shard=record.text("shard"),
        n=record.integer("n"),
        fingerprint=record.hash("fingerprint"),
        key=record.hash("key"),
    )
