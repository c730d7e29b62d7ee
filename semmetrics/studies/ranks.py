"""Rank systems over several datasets, by normalised values or by their mean rank.

Conventions
-----------
A normalised value is the value of a system divided by the best value on the same
dataset, so that every dataset counts equally (Pineda, Salvador et al. 2019, section 4.1
and table 3). A mean rank is the mean over datasets. Equal values share the mean of
their ranks (Xian et al. 2018, figure 5, and Demšar 2006). A system without a value on
some dataset is listed, but it is neither ranked nor tested.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.errors import InputError
from semmetrics.options import RANKED_BY
from semmetrics.studies import value_tables
from semmetrics.studies.rank_tests import Ties, rank_rows
from semmetrics.studies.ranked_scores import check_direction, read_scores
from semmetrics.studies.ranking import Rank, Ranking


def rank_systems(
    datasets: Any,
    measure: str | None = None,
    *,
    by: str = "normalized",
    level: float = 0.95,
    max_bytes: int = DEFAULTS.max_bytes,
) -> Ranking:
    """Rank systems over several datasets, by normalised values or by their mean rank.

    Parameters
    ----------
    datasets : mapping from name to scores, path or frame
        For each dataset a ScoreTable or other Scores, their dictionaries, or the path
        of a file of scores (``semmetrics score --format json -o FILE``). Or a mapping
        from system to the path of its output of ``score --runs``, to rank the means of
        the runs. Otherwise a table of values with one row per dataset, as for
        `semmetrics.studies.compare_values`.
    measure : str, optional
        The measure, one of its aliases or its heading, in any case as in a ScoreTable.
        Default: the only measure of the first dataset, or O-F1. For a table of values,
        it only sets whether lower is better.
    by : {"normalized", "rank"}
        The mean of value divided by best value, for which higher must be better, or the
        mean rank.
    level : float
        The confidence level of the critical difference.
    max_bytes : int
        The maximum size of a file, after decompression, and of its content in memory.

    Returns
    -------
    Ranking

    Raises
    ------
    InputError
        If the scores are invalid, or lower values of the measure are better and values
        are to be normalised.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"A": [["cat"], ["dog"]], "B": [["cat"], ["cow"]]}
    >>> table = semmetrics.score_systems(systems, [["cat"], ["dog"]], measures=["O-F1"])
    >>> ranking = rank_systems({"VOC": table})
    >>> [(place.system, place.rank, round(place.value, 4)) for place in ranking]
    [('A', 1, 1.0), ('B', 2, 0.5)]
    """
    check_choice("by", by, RANKED_BY)
    measure = (measure or "").strip()
    if not isinstance(datasets, Mapping):
        return _rank_table(datasets, measure, by, level, max_bytes)
    check_direction(measure, [measure], by)
    values = {}
    directions = set()  # whether lower is better
    for name, scores in datasets.items():
        dataset = read_scores(scores, name, measure, by, max_bytes)
        measure = dataset.measure
        values[name] = dataset.values
        directions.add(dataset.lower_is_better)
    if len(directions) > 1:
        raise InputError("mixed-directions", measure=measure)
    lower_is_better = any(directions)
    return _rank_values(
        values, measure, by, level, higher_is_better=not lower_is_better
    )


def _rank_table(
    data: Any, measure: str, by: str, level: float, max_bytes: int
) -> Ranking:
    """Rank the systems of a table of values."""
    options = ReadOptions(max_bytes=max_bytes)
    table = value_tables.read_table(data, None, options)
    for values_of_row in table.values.values():
        # Systems without any value are listed.
        for system in table.systems:
            values_of_row.setdefault(system, math.nan)
    lower_is_better = value_tables.is_lower_better(measure, table.values)
    if lower_is_better and by == "normalized":
        # Without a measure, the rows are named after measures.
        name = measure or next(iter(table.values))
        raise InputError("lower-is-better", measure=name)
    return _rank_values(
        table.values, measure, by, level, higher_is_better=not lower_is_better
    )


def rank_normalized(
    values: Mapping[str, Mapping[str, float]], *, measure: str = "", level: float = 0.95
) -> Ranking:
    """Rank systems by their mean normalised value over datasets.

    Parameters
    ----------
    values : mapping from dataset to mapping from system to value
        Higher is better. nan is a missing value.
    measure : str
        The measure of the values.
    level : float
        The confidence level of the critical difference.

    Returns
    -------
    Ranking
        Ranked systems, best first, then systems without a value on some dataset. As in
        the paper, the best value of a dataset may be from such a system.

    Raises
    ------
    InputError
        If values are missing, or the best value of a dataset is not positive.

    References
    ----------
    Pineda, Salvador et al., 2019, section 4.1 and table 3.

    Examples
    --------
    >>> values = {"VOC": {"A": 0.8, "B": 0.9}, "COCO": {"A": 0.7, "B": 0.6}}
    >>> ranking = rank_normalized(values)
    >>> [(place.system, place.rank, round(place.value, 4)) for place in ranking]
    [('A', 1, 0.9444), ('B', 2, 0.9286)]
    """
    return _rank_values(values, measure, "normalized", level, higher_is_better=True)


def _rank_values(
    values: Mapping[str, Mapping[str, float]],
    measure: str,
    by: str,
    level: float,
    *,
    higher_is_better: bool,
) -> Ranking:
    """Rank the systems that have all datasets, by normalised values or by mean rank."""
    systems = _list_systems(values.values())
    datasets = list(values)
    table = _tabulate(values.values(), systems)
    is_missing = np.isnan(table)
    is_complete: Bools = np.all(~is_missing, axis=0)
    if by == "normalized":
        normalized, is_usable = _normalize(table)
    else:
        normalized = np.full(table.shape, np.nan)
        # The values of systems that are not ranked may be missing or infinite.
        is_usable = ~is_complete | np.isfinite(table)
    _check_usable(is_usable, table, datasets, systems)

    means = [_mean_without_nan(column) for column in normalized.T]
    signed_table = table if higher_is_better else -table
    ranks_on_datasets = _rank_selected(signed_table, is_complete, "mean")
    mean_ranks = ranks_on_datasets.mean(axis=0)
    criterion = np.array(means) if by == "normalized" else -mean_ranks
    (ranks,) = _rank_selected(criterion[None], is_complete, "best")

    order = np.argsort(ranks, kind="stable")  # Systems without a rank are last.
    entries = []
    for i in order.tolist():
        rank = None
        if is_complete[i]:
            rank = int(ranks[i])
        entry = Rank(
            systems[i],
            rank,
            means[i],
            normalized=_by_dataset(datasets, normalized[:, i]),
            lacking=_select(datasets, is_missing[:, i]),
            mean_rank=mean_ranks[i].item(),
            ranks=_by_dataset(datasets, ranks_on_datasets[:, i]),
        )
        entries.append(entry)
    copied_values = {name: dict(row) for name, row in values.items()}
    return Ranking(tuple(entries), measure, copied_values, by, higher_is_better, level)


def _list_systems(rows: Iterable[Mapping[str, float]]) -> list[str]:
    """Return the systems of all rows, in the order of first appearance.

    Raises
    ------
    InputError
        If there are none.
    """
    systems: dict[str, None] = {}
    for row in rows:
        systems |= dict.fromkeys(row)
    if not systems:
        raise InputError(
            "nothing-given", what="values to rank", remedy="give at least one"
        )
    return list(systems)


def _tabulate(rows: Iterable[Mapping[str, float]], systems: Sequence[str]) -> Floats:
    """Return an array of values, shape (datasets, systems), nan if missing."""
    table = []
    for row in rows:
        table.append([row.get(system, math.nan) for system in systems])
    return np.array(table)


def _normalize(table: Floats) -> tuple[Floats, Bools]:
    """Divide the values of each dataset by the best.

    Returns
    -------
    normalized : float64 array, shape (datasets, systems)
    is_usable : bool array, shape (datasets, systems)
        Whether a value is missing, or can be divided by a positive best value.
    """
    best = np.fmax.reduce(table, axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        normalized = table / best
    is_usable = (np.isnan(table) | np.isfinite(normalized)) & (best > 0)
    return normalized, is_usable


def _check_usable(
    is_usable: Bools, table: Floats, datasets: Sequence[str], systems: Sequence[str]
) -> None:
    """Raise an error that names the first value that is not usable."""
    if is_usable.all():
        return
    row, column = np.argwhere(~is_usable)[0].tolist()
    raise InputError(
        "out-of-range",
        datasets[row],
        role=f"the value of {systems[column]}",
        value=float(table[row, column]),
        wanted="scores to rank by",
    )


def _rank_selected(table: Floats, is_selected: Bools, ties: Ties) -> Floats:
    """Rank the selected columns of each row. Ranks of other columns are nan."""
    ranks = np.full(table.shape, np.nan)
    if is_selected.any():
        ranks[:, is_selected] = rank_rows(table[:, is_selected], ties=ties)
    return ranks


def _mean_without_nan(values: Floats) -> float:
    """Return the exact mean of the values that are not nan, or nan."""
    defined = values[~np.isnan(values)].tolist()
    if not defined:
        return math.nan
    return math.fsum(defined) / len(defined)


def _by_dataset(datasets: Iterable[str], values: Floats) -> dict[str, float]:
    """Return the values that are not nan, by dataset."""
    by_dataset = {}
    for dataset, value in zip(datasets, values.tolist(), strict=True):
        if not math.isnan(value):
            by_dataset[dataset] = value
    return by_dataset


def _select(datasets: Iterable[str], is_selected: Bools) -> tuple[str, ...]:
    """Return the selected datasets."""
    pairs = zip(datasets, is_selected, strict=True)
    return tuple(dataset for dataset, selected in pairs if selected)
