"""The statistics of a part of the data in a state file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.scoring.fits import FittedMeasure
from semmetrics.scoring.state_notes import read_observations, write_observations
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_sums import (
    check_sums,
    read_resamples,
    read_sums,
    statistics_of,
    write_sums,
)
from semmetrics.scoring.state_values import JsonObject, ValueWriter
from semmetrics.scoring.statistics import Statistics


def write_statistics(
    statistics: Statistics, fitted: Sequence[FittedMeasure], writer: ValueWriter
) -> JsonObject:
    """Convert the statistics of measures to JSON."""
    needed = statistics_of(fitted)
    ignored = {name: list(counts) for name, counts in statistics.ignored.items()}
    named = {name: sorted(labels) for name, labels in statistics.named.items()}
    resamples = None
    if statistics.resamples is not None:
        resamples = write_sums(statistics.resamples, needed, writer)
    return {
        "n": len(statistics),
        "unit": statistics.unit,
        "labels": list(statistics.labels),
        "n_reference": writer.array(statistics.n_reference),
        "n_prediction": writer.array(statistics.n_prediction),
        "n_listed": statistics.n_listed,
        "ignored": writer.value(ignored),
        "named": writer.value(named),
        "in_columns": writer.optional_array(statistics.in_columns),
        "groups": writer.optional_array(statistics.groups),
        "fingerprint": f"{statistics.fingerprint:x}",
        "weighting": f"{statistics.weighting:x}",
        "settings": dict(statistics.settings),
        "counts": dict(statistics.counts),
        "models": dict(statistics.models),
        "observations": write_observations(statistics.observations),
        "sums": write_sums(statistics.sums, needed, writer),
        "resamples": resamples,
        "resampled": statistics.resampled,
        "n_drawn": statistics.n_drawn,
    }


def read_statistics(record: Record, fitted: Sequence[FittedMeasure]) -> Statistics:
    """Read the statistics of measures."""
    needed = statistics_of(fitted)
    labels = tuple(record.texts("labels"))
    n_labels = len(labels)
    if len(set(labels)) != n_labels:
        raise SchemaError("a label is repeated")
    sums = read_sums(record, needed, n_labels)
    resamples = read_resamples(record, sums)
    in_columns = record.optional_array("in_columns", "b", size=n_labels)
    groups = record.optional_array("groups", "u")
    if groups is not None and groups.ndim != 1:
        raise SchemaError("the groups do not have one axis")
    statistics = Statistics(
        sums=sums,
        parts=None,
        labels=labels,
        n_listed=_read_n_listed(record, n_labels),
        n_reference=_read_label_counts(record, "n_reference", n_labels),
        n_prediction=_read_label_counts(record, "n_prediction", n_labels),
        ignored=_read_ignored(record),
        ids=range(record.integer("n")),
        hashes=np.zeros(0, np.uint64),
        weights=None,
        fingerprint=record.hash("fingerprint"),
        settings=record.text_by_name("settings"),
        counts=record.count_by_name("counts"),
        unit=record.text("unit"),
        groups=groups,
        models=record.text_by_name("models"),
        observations=read_observations(record.record("observations")),
        weighting=record.hash("weighting"),
        named=_read_named(record),
        in_columns=in_columns,
        resamples=resamples,
        resampled=record.text("resampled"),
        n_drawn=record.integer("n_drawn"),
    )
    check_sums(statistics, fitted)
    return statistics


# ---- labels -------------------------------------------------------------------------------------


def _read_n_listed(record: Record, n_labels: int) -> int | None:
    """Read the length of the class list, or return None if there is none."""
    if record.is_null("n_listed"):
        return None
    n_listed = record.integer("n_listed")
    if n_listed > n_labels:
        raise SchemaError("the class list is longer than the labels")
    return n_listed


def _read_label_counts(record: Record, name: str, n_labels: int) -> NDArray[Any]:
    """Read how often each label occurs on a side."""
    counts = record.array(name, "iu", size=n_labels)
    if (counts < 0).any():
        raise SchemaError(f"{name} has a negative count")
    return counts


def _read_ignored(record: Record) -> dict[str, tuple[int, int]]:
    """Read how often ignored labels were predicted and true."""
    ignored = {}
    for name, counts in record.mapping("ignored").items():
        n_predicted, n_true = map(int, counts)
        if min(n_predicted, n_true) < 0:
            raise SchemaError(f"the ignored label {name!r} has a negative count")
        ignored[str(name)] = n_predicted, n_true
    return ignored


def _read_named(record: Record) -> dict[str, frozenset[str]]:
    """Read the label universes that have a name."""
    named = {}
    for name, labels in record.mapping("named").items():
        named[str(name)] = frozenset(map(str, labels))
    return named
