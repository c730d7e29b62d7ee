"""The sums of statistics in a state file, and checks that measures can be computed from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.errors import InputError
from semmetrics.metrics.definition import Statistic
from semmetrics.metrics.families import CAUSES
from semmetrics.scoring.fits import FittedMeasure
from semmetrics.scoring.intervals import POISSON
from semmetrics.scoring.state_records import Record, SchemaError
from semmetrics.scoring.state_values import JsonObject, ValueWriter
from semmetrics.scoring.statistics import Statistics, SumsByStatistic, frame_of

_Columns: TypeAlias = dict[str, NDArray[Any]]

_UNWEIGHTED = "_items"
"""The suffix of columns of unweighted counts, which only states with weights have."""
_COLUMNS_OF_CAUSES = ("cause", f"cause{_UNWEIGHTED}")
_N_FLAG_VALUES = 2
"""A flag has the numbers of items without and with a mark."""
_COUNTS = frozenset((*_COLUMNS_OF_CAUSES, "hit", "n_pred", "n_ref", "items", "served"))
"""Columns that count, and therefore are not negative. Weights can make them floats."""
_COUNTS_OF_ITEMS = (*_COLUMNS_OF_CAUSES, "items")
"""Columns of integers that add up to the number of items. With weights, they are not integers."""
_N_PARTS_OF_RESAMPLED = 3
_N_TRIED_LABELS = 100
"""The number of labels of which measures are computed to check their sums."""
_ERRORS_OF_WRONG_SUMS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
)


def statistics_of(fitted: Sequence[FittedMeasure]) -> list[Statistic]:
    """Return the distinct statistics of measures, in the order of the measures."""
    statistics: list[Statistic] = []
    for measure, _ in fitted:
        statistics.append(measure.definition.family.statistic(measure))
    return list(dict.fromkeys(statistics))


def write_sums(
    sums: SumsByStatistic, needed: Sequence[Statistic], writer: ValueWriter
) -> list[JsonObject]:
    """Convert the sums of each statistic that is needed, by column."""
    return [_write_columns(sums[statistic], writer) for statistic in needed]


def _write_columns(
    columns: Mapping[str, NDArray[Any]], writer: ValueWriter
) -> JsonObject:
    return {name: writer.sums(column) for name, column in columns.items()}


# ---- reading ------------------------------------------------------------------------------------


def read_sums(
    record: Record, needed: Sequence[Statistic], n_labels: int
) -> dict[Statistic, _Columns]:
    """Read the sums of each statistic, by column."""
    sums = _read_columns(record, "sums", needed)
    for statistic, columns in sums.items():
        for name, column in columns.items():
            _check_shape(statistic, name, column, n_labels)
            _check_numbers(name, column)
    return sums


def read_resamples(
    record: Record, sums: SumsByStatistic
) -> dict[Statistic, _Columns] | None:
    """Read the sums of each resample, which have the columns of the sums of all items."""
    n_resamples = _read_n_resamples(record)
    if n_resamples is None:
        return None
    resamples = _read_columns(record, "resamples", list(sums))
    for statistic, columns in resamples.items():
        all_columns = sums[statistic]
        _check_resampled_names(columns, all_columns)
        for name, column in columns.items():
            if column.shape != (n_resamples, *all_columns[name].shape):
                raise SchemaError(f"resamples, {name} has the shape {column.shape}")
            # A sum of weights may be off by a rounding error, so it can be below 0.
            if column.dtype != object:
                _check_numbers(name, column)
    return resamples


def _read_n_resamples(record: Record) -> int | None:
    """Return the number of resamples, or None without resamples."""
    resampled = record.text("resampled")
    if record.is_null("resamples") and not resampled:
        return None
    parts = resampled.split(",")
    is_right_form = len(parts) == _N_PARTS_OF_RESAMPLED and parts[0] == POISSON
    if record.is_null("resamples") or not is_right_form:
        raise SchemaError(f"resampled is {resampled!r:.40}, which does not fit")
    return int(parts[1])


def _check_resampled_names(columns: _Columns, all_columns: Mapping[str, Any]) -> None:
    """Raise an error if a statistic has other columns in resamples than in all items."""
    names = set()
    for name in all_columns:
        base = name.removesuffix(_UNWEIGHTED)
        is_unweighted = base != name and base in all_columns
        if not is_unweighted:
            names.add(name)
    if columns.keys() != names:
        raise SchemaError("sums and resamples have different columns")


def _read_columns(
    record: Record, field: str, needed: Sequence[Statistic]
) -> dict[Statistic, _Columns]:
    """Read the columns of each statistic."""
    records = record.records(field)
    if len(records) != len(needed):
        raise SchemaError(f"{field} do not match the measures")
    sums = {}
    for statistic, columns in zip(needed, records, strict=True):
        sums[statistic] = {name: columns.sums(name) for name in columns.names()}
    return sums


# ---- checks -------------------------------------------------------------------------------------


def _check_shape(
    statistic: Statistic, name: str, column: NDArray[Any], n_labels: int
) -> None:
    """Raise an error for a column with the wrong shape for sums over items."""
    if name in statistic.labels:
        shapes: list[tuple[int, ...]] = [(n_labels,)]
    elif name in _COLUMNS_OF_CAUSES:
        shapes = [(len(CAUSES),)]
    else:
        shapes = [(), (_N_FLAG_VALUES,)]
    if column.shape not in shapes:
        raise SchemaError(f"sums, {name} has the shape {column.shape}")


def _check_numbers(name: str, column: NDArray[Any]) -> None:
    """Raise an error for negative counts, and for numbers that are not finite."""
    is_count = name in _COUNTS or column.dtype.kind in "iu"
    if is_count and (column < 0).any():
        raise SchemaError(f"the column {name!r} has a negative count")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        raise SchemaError(f"the column {name!r} has a number that is not finite")


def check_sums(statistics: Statistics, fitted: Sequence[FittedMeasure]) -> None:
    """Raise an error if sums have the wrong number of items, or do not fit the measures.

    A statistic does not list its columns. Therefore each measure is computed for a few labels,
    which shows whether a column is missing or has the wrong shape.
    """
    for columns in statistics.sums.values():
        for name in _COUNTS_OF_ITEMS:
            _check_n_items(name, columns, len(statistics))
    statistics = _with_first_labels(statistics)
    frame = frame_of([statistics])
    for measure, _ in fitted:
        family = measure.definition.family
        sums = statistics.sums[family.statistic(measure)]
        try:
            with np.errstate(all="ignore"):
                value = family.aggregate(measure, sums, frame)
                family.undefined(measure, sums, frame)
        except InputError:
            continue  # The measure raises it again when it is computed.
        except _ERRORS_OF_WRONG_SUMS as error:
            why = f"{type(error).__name__}: {error}"
            raise SchemaError(f"the sums do not fit {measure} ({why})") from None
        if np.size(value) != 1:
            raise SchemaError(f"the sums do not fit {measure}")


def _with_first_labels(statistics: Statistics) -> Statistics:
    """Return statistics with only the first labels, of which measures are computed quickly."""
    sums = {}
    for statistic, columns in statistics.sums.items():
        few_columns = dict(columns)
        for name in statistic.labels & columns.keys():
            few_columns[name] = columns[name][:_N_TRIED_LABELS]
        sums[statistic] = few_columns
    n_listed = statistics.n_listed
    if n_listed is not None:
        n_listed = min(n_listed, _N_TRIED_LABELS)
    in_columns = statistics.in_columns
    if in_columns is not None:
        in_columns = in_columns[:_N_TRIED_LABELS]
    return replace(
        statistics,
        sums=sums,
        labels=statistics.labels[:_N_TRIED_LABELS],
        n_reference=statistics.n_reference[:_N_TRIED_LABELS],
        n_prediction=statistics.n_prediction[:_N_TRIED_LABELS],
        n_listed=n_listed,
        in_columns=in_columns,
    )


def _check_n_items(
    name: str, columns: Mapping[str, NDArray[Any]], n_items: int
) -> None:
    """Raise an error if a column of counts does not add up to the number of items."""
    if name not in columns or columns[name].dtype.kind not in "iu":
        return
    n_counted = int(columns[name].sum())
    if n_counted != n_items:
        raise SchemaError(f"{name} counts {n_counted} items, not {n_items}")
