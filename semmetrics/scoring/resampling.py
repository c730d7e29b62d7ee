"""Replicates and jackknife values: measures computed again with other weights of items.

Conventions
-----------
Resamples are described in `draws`, and their sums in `weighted_sums`. Systems with the
same items share one set of resamples.

The jackknife leaves out one item, or group of items, after the other. If there are many,
it leaves out parts of equal size. A part consists of neighbours in the order of hashes,
which amounts to a random choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.core.columns import as_floats
from semmetrics.core.prefetch import prefetch
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.metrics.definition import Frame, Measure, Statistic
from semmetrics.scoring.draws import MAX_DRAWS_AT_ONCE, MAX_POISSON_COUNT, Draws
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import POISSON, Bootstrap, Replicates, default_method
from semmetrics.scoring.statistics import Statistics, SumsByStatistic, merged_labels
from semmetrics.scoring.weighted_sums import ExactPart, Stack, WeightedSums

MAX_CHUNK_BYTES = 1 << 26
MAX_CHUNK_COUNTS = 1 << 20
"""Items times resamples of one chunk, unless that gives too few resamples."""
_MIN_CHUNK_RESAMPLES = 128
_MAX_CHUNK_RESAMPLES = 1024
MAX_BYTES_OF_RESAMPLES = 1 << 30
"""Bytes of the stored sums of all resamples."""
_MAX_JACKKNIFE_PARTS = 1000
_MAX_JACKKNIFE_PARTS_OF_ROWS = 100
"""Fewer, since statistics that are not additive cost more."""


def chunk_size(systems: Sequence[Statistics]) -> int:
    """Return how many resamples are computed at a time, within the memory budget."""
    n_items = len(systems[0])
    n_labels = sum(len(statistics.labels) for statistics in systems)
    bytes_of_counts = 2 * n_items
    bytes_of_label_sums = 8 * 4 * n_labels  # about four columns of labels per system
    bytes_of_draws = 8 * min(n_items, MAX_DRAWS_AT_ONCE)
    bytes_per_resample = max(bytes_of_counts, bytes_of_label_sums, bytes_of_draws, 1)
    wanted = max(_MIN_CHUNK_RESAMPLES, MAX_CHUNK_COUNTS // max(n_items, 1))
    fitting = MAX_CHUNK_BYTES // bytes_per_resample
    return max(1, min(_MAX_CHUNK_RESAMPLES, wanted, fitting))


# ---- stored sums of resamples ---------------------------------------------------------


def resampled_by(bootstrap: Bootstrap) -> str:
    """Return what determines the draws of ``poisson``, in addition to the ids.

    `check_added` parses it.
    """
    return f"{POISSON},{bootstrap.resamples},{bootstrap.seed}"


def with_resamples(statistics: Statistics, bootstrap: Bootstrap) -> Statistics:
    """Return statistics with the sums of their rows in each resample by ``poisson``.

    Parameters
    ----------
    statistics : Statistics
        With rows, and only additive statistics.
    bootstrap : Bootstrap

    Raises
    ------
    InputError
        If the sums take too much memory. The message names the possible number of
        resamples.
    """
    _check_size(statistics, len(statistics.labels), bootstrap.resamples)
    draws = Draws.of(statistics)
    stack = Stack(MAX_POISSON_COUNT)
    weighted = WeightedSums(statistics, statistics.sums, draws, stack)
    chunks: dict[Statistic, dict[str, list[Any]]] = {}
    for statistic in statistics.sums:
        chunks[statistic] = {}
    for counts in draws.counts(bootstrap, chunk_size([statistics])):
        product = stack.multiply(counts)
        for statistic, sums in weighted.sums(counts, product, exact=True).items():
            for name, part in sums.items():
                chunks[statistic].setdefault(name, []).append(part)
    resamples: dict[Statistic, dict[str, Any]] = {}
    for statistic, columns in chunks.items():
        resamples[statistic] = {}
        for name, parts in columns.items():
            resamples[statistic][name] = np.concatenate(parts)
    return replace(
        statistics,
        resamples=resamples,
        resampled=resampled_by(bootstrap),
        n_drawn=len(draws.hashes),
    )


def check_added(first: Statistics, second: Statistics) -> None:
    """Check that the sums of resamples fit into memory after two statistics are added."""
    if not first.resampled:
        return
    n_labels = len(merged_labels([first, second]))
    _, resamples, _ = first.resampled.split(",")
    _check_size(first, n_labels, int(resamples))


def _check_size(statistics: Statistics, n_labels: int, resamples: int) -> None:
    """Check that the sums of resamples fit into memory."""
    n_sums = 0
    for statistic, sums in statistics.sums.items():
        for name, column in sums.items():
            if name in statistic.labels:
                n_sums += n_labels
            else:
                n_sums += column.size
    bytes_per_resample = 8 * n_sums
    if bytes_per_resample * resamples > MAX_BYTES_OF_RESAMPLES:
        possible_resamples = MAX_BYTES_OF_RESAMPLES // bytes_per_resample
        raise InputError("too-many-resamples", sums=n_sums, fit=possible_resamples)


# ---- replicates -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Subject:
    """A system whose measures are computed in each resample.

    Attributes
    ----------
    statistics : Statistics
        With rows, or with the sums of each resample.
    frame : Frame
    points : mapping from measure to value
        The values of all items.
    """

    statistics: Statistics
    frame: Frame
    points: Mapping[Measure, float]

    @cached_property
    def draws(self) -> Draws:
        """The units that are drawn."""
        return Draws.of(self.statistics)

    @cached_property
    def needed(self) -> dict[Measure, Statistic]:
        """The statistic of each measure."""
        return {m: m.definition.family.statistic(m) for m in self.points}


@dataclass(frozen=True)
class _Origin:
    """How the replicates of a measure were drawn, and its jackknife values.

    The attributes are described in `Replicates`.
    """

    drawn: str
    sizes: Ints
    items: float
    left_out: Floats
    method: str = "multinomial"


def replicate(
    systems: Sequence[Subject], bootstrap: Bootstrap, progress: Progress = None
) -> list[dict[Measure, Replicates]]:
    """Compute the replicates and jackknife values of all measures of systems.

    Systems with the same items share one set of resamples.

    Parameters
    ----------
    systems : sequence of Subject
    bootstrap : Bootstrap
        Its level is not used. Its method matters only if it is "poisson", which has no
        jackknife.
    progress : callable, optional
        Called with the number of resamples done and the total number.

    Returns
    -------
    list of dict from measure to Replicates
        One for each system.

    Raises
    ------
    InputError
        If rows were not stored.
    """
    indices_by_draws: dict[str, list[int]] = {}
    replicates: dict[int, dict[Measure, Replicates]] = {}
    for index, subject in enumerate(systems):
        resamples = subject.statistics.resamples
        if resamples is None:
            fingerprint = subject.draws.fingerprint(bootstrap)
            indices_by_draws.setdefault(fingerprint, []).append(index)
        else:
            replicates[index] = _replicate_from_sums(subject, resamples, bootstrap)
    for fingerprint, indices in indices_by_draws.items():
        subjects = [systems[index] for index in indices]
        results = _replicate_together(subjects, bootstrap, fingerprint, progress)
        replicates.update(zip(indices, results, strict=True))
    return [replicates[index] for index in range(len(systems))]


def _replicate_from_sums(
    subject: Subject, sums: SumsByStatistic, bootstrap: Bootstrap
) -> dict[Measure, Replicates]:
    """Return replicates from the stored sums of resamples."""
    values = []
    for measure, statistic in subject.needed.items():
        family = measure.definition.family
        values.append(family.aggregate(measure, sums[statistic], subject.frame))
    origins = _poisson_origins(subject, bootstrap)
    return _make_replicates(subject, values, bootstrap, origins)


def _replicate_together(
    systems: Sequence[Subject], bootstrap: Bootstrap, drawn: str, progress: Progress
) -> list[dict[Measure, Replicates]]:
    """Compute the replicates of systems that have the same items."""
    is_poisson = bootstrap.method == POISSON
    max_count = MAX_POISSON_COUNT if is_poisson else 1
    stack = Stack(max_count)
    weighted = []
    values = []
    for subject in systems:
        needed = subject.needed.values()
        weighted_sums = WeightedSums(subject.statistics, needed, subject.draws, stack)
        weighted.append(weighted_sums)
        values.append(np.empty((len(subject.points), bootstrap.resamples)))
    chunk = chunk_size([subject.statistics for subject in systems])
    draws = systems[0].draws
    n_done = 0
    for counts in prefetch(draws.counts(bootstrap, chunk), in_thread=draws.are_many):
        product = stack.multiply(counts)
        stop = n_done + len(counts)
        for subject, weighted_sums, rows in zip(systems, weighted, values, strict=True):
            sums_by_statistic = weighted_sums.sums(counts, product)
            _aggregate(subject, sums_by_statistic, rows[:, n_done:stop])
        n_done = stop
        report_progress(progress, n_done, bootstrap.resamples, "bootstrap", "resample")
    replicates = []
    for subject, weighted_sums, rows in zip(systems, weighted, values, strict=True):
        if is_poisson:
            origins = _poisson_origins(subject, bootstrap)
        else:
            origins = _jackknife_origins(subject, weighted_sums, drawn)
        replicates.append(_make_replicates(subject, rows, bootstrap, origins))
    return replicates


def _aggregate(
    subject: Subject, sums_by_statistic: Mapping[Statistic, Any], out: Floats
) -> None:
    """Write the value of each measure in each resample to a row of ``out``."""
    for row, (measure, statistic) in zip(out, subject.needed.items(), strict=True):
        sums = sums_by_statistic[statistic]
        row[:] = measure.definition.family.aggregate(measure, sums, subject.frame)


def _make_replicates(
    subject: Subject,
    values: Iterable[Floats],
    bootstrap: Bootstrap,
    origins: Mapping[Measure, _Origin],
) -> dict[Measure, Replicates]:
    """Return the replicates of the measures of a system, given their values."""
    replicates = {}
    for (measure, point), row in zip(subject.points.items(), values, strict=True):
        origin = origins[measure]
        replicates[measure] = Replicates(
            row,
            bootstrap.seed,
            subject.statistics.unit,
            grouped=subject.statistics.groups is not None,
            drawn=origin.drawn,
            method=origin.method,
            value=point,
            left_out=origin.left_out,
            sizes=origin.sizes,
            bounds=measure.definition.bounds,
            default=default_method(measure),
            items=origin.items,
        )
    return replicates


def _poisson_origins(subject: Subject, bootstrap: Bootstrap) -> dict[Measure, _Origin]:
    """Return how each measure was resampled by ``poisson``."""
    statistics = subject.statistics
    n_drawn = np.array([statistics.n_drawn or len(subject.draws.hashes)])
    origins = {}
    for measure, statistic in subject.needed.items():
        sums = statistics.sums.get(statistic, {})
        # If items have weights, "cause" is weighted, and "cause_items" is not.
        n_by_cause = sums.get("cause_items", sums.get("cause", n_drawn))
        n_with_value = as_floats(n_by_cause)[0]  # the first cause means a defined value
        origins[measure] = _Origin(
            drawn=resampled_by(bootstrap),
            sizes=n_drawn,
            items=float(n_with_value),
            left_out=np.zeros(0),
            method=POISSON,
        )
    return origins


# ---- jackknife ------------------------------------------------------------------------


def _jackknife_origins(
    subject: Subject, weighted: WeightedSums, drawn: str
) -> dict[Measure, _Origin]:
    """Return how each measure was resampled, with its jackknife values."""
    measures_by_statistic: dict[Statistic, list[Measure]] = {}
    for measure, statistic in subject.needed.items():
        measures_by_statistic.setdefault(statistic, []).append(measure)
    origins = {}
    for statistic, measures in measures_by_statistic.items():
        exact_parts = weighted.exact.get(statistic)
        rows, sizes = _leave_out(subject, statistic, measures, exact_parts)
        for measure, row in zip(measures, rows, strict=True):
            items = 0.0
            if subject.points[measure] in measure.definition.bounds:
                items = _count_items_with_value(subject, measure)
            origins[measure] = _Origin(drawn, sizes, items, row)
    return origins


def _count_items_with_value(subject: Subject, measure: Measure) -> float:
    """Return how many items or groups have a value, 0 if unknown.

    With weights, this is the effective sample size of Kish 1965: the number of items with
    equal weights that give the same precision.
    """
    rows = subject.statistics.rows(subject.needed[measure])
    values = measure.definition.family.items(measure, rows, subject.frame)
    if values is None:
        return 0.0
    weights = subject.statistics.item_weights
    relative_weights = np.where(np.isnan(values), 0.0, weights / weights.max())
    weights_of_units = subject.draws.sum_items(relative_weights)
    if not weights_of_units.any():
        return 0.0
    return float(weights_of_units.sum() ** 2 / (weights_of_units**2).sum())


def _leave_out(
    subject: Subject,
    statistic: Statistic,
    measures: Sequence[Measure],
    exact_parts: Sequence[ExactPart] | None,
) -> tuple[Floats, Ints]:
    """Compute measures without each part of the items.

    Parameters
    ----------
    subject : Subject
    statistic : Statistic
    measures : sequence of Measure
        Measures of this statistic.
    exact_parts : sequence of ExactPart or None
        None for a statistic that is not additive.

    Returns
    -------
    values : float array, shape (measures, parts)
        nan if there is only one part.
    sizes : int array, shape (parts,)
        The number of units in each part.
    """
    n_units = len(subject.draws.hashes)
    max_parts = _MAX_JACKKNIFE_PARTS
    if exact_parts is None:
        max_parts = _MAX_JACKKNIFE_PARTS_OF_ROWS
    n_parts = min(n_units, max_parts)
    part_of_unit = np.arange(n_units) * n_parts // n_units
    part_of_item = part_of_unit[subject.draws.unit_of_item]
    sizes = np.bincount(part_of_unit)
    values = np.full((len(measures), n_parts), np.nan)
    if n_parts == 1:
        return values, sizes
    if exact_parts is None:
        chunks = _rows_without_parts(subject, statistic, part_of_item, n_parts)
    else:
        chunks = _sums_without_parts(subject, exact_parts, part_of_item, n_parts)
    for parts, sums in chunks:
        for row, measure in zip(values, measures, strict=True):
            family = measure.definition.family
            row[parts] = family.aggregate(measure, sums, subject.frame)
    return values, sizes


def _list_chunks(n_parts: int, numbers_per_part: int) -> Iterator[slice]:
    """Yield the parts that are left out at the same time, within the memory budget."""
    size = max(1, MAX_CHUNK_BYTES // (8 * max(numbers_per_part, 1)))
    for start in range(0, n_parts, size):
        yield slice(start, min(start + size, n_parts))


def _rows_without_parts(
    subject: Subject, statistic: Statistic, part_of_item: Ints, n_parts: int
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Yield a range of parts, and all rows with the weights without each of these parts."""
    statistics = subject.statistics
    for parts in _list_chunks(n_parts, len(part_of_item)):
        part_numbers = np.arange(parts.start, parts.stop)
        is_outside = part_of_item != part_numbers[:, None]
        weights = is_outside * statistics.item_weights
        yield parts, statistics.weighted_rows(statistic, weights)


def _sums_without_parts(
    subject: Subject,
    exact_parts: Sequence[ExactPart],
    part_of_item: Ints,
    n_parts: int,
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Yield a range of parts, and the sums of all items without each of these parts.

    The sum of all items less the sum of a part is exact, so the order does not matter.
    """
    all_in_one_group = np.zeros(len(part_of_item), np.int64)
    totals = []
    for exact in exact_parts:
        totals.append(exact.column.group_sums(all_in_one_group, 1, exact.weights))
    for parts in _list_chunks(n_parts, 4 * len(subject.statistics.labels)):
        n_left_out = parts.stop - parts.start
        groups = part_of_item - parts.start
        sums: dict[str, Any] = {}
        for exact, total in zip(exact_parts, totals, strict=True):
            sums_of_parts = exact.column.group_sums(groups, n_left_out, exact.weights)
            rest = total - sums_of_parts
            if exact.name in sums:
                rest = sums[exact.name] + rest
            sums[exact.name] = rest
        yield parts, sums
