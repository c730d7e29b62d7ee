"""Correlations of scores of pairs with human ratings, for example image and caption."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.pair_values import (
    PairMatrix,
    PairScores,
    PairValues,
    open_pair_values,
    read_pair_scores,
)
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import listing
from semmetrics.reports import Records
from semmetrics.scoring.score import interval_options, system_name
from semmetrics.scoring.score_notes import idle_intervals
from semmetrics.studies.correlations import NAMES, Correlation, correlate_values

_ALL_PAIRS = "all"
"""The group of the rows for all pairs."""


class Correlations(Records):
    """The result of `semmetrics.correlate`: one row per phi and group of pairs.

    Attributes
    ----------
    facts : list of Fact
        Anything unusual in the input.
    """

    __slots__ = ("facts",)

    def __init__(self, columns: Mapping[str, Any], facts: Sequence[Fact] = ()) -> None:
        super().__init__(columns)
        self.facts = list(facts)

    @property
    def notes(self) -> list[str]:
        """The facts as strings."""
        return render_facts(self.facts)


@takes_options()
def correlate(
    ratings: Any,
    phi: Any,
    *,
    columns: Sequence[str] | None = None,
    group_by: str | None = None,
    ids: str | None = None,
    ncs: Literal["none", "rows", "columns"] = "none",
    **options: Any,
) -> Correlations:
    r"""Correlate scores of pairs with human ratings of the same pairs.

    Parameters
    ----------
    ratings : path, frame, or sequence of (id, id, score) or of mappings
        CSV, TSV, JSON or JSONL.
    phi : mapping from name to scores, or scores
        Scores are one of the following.

        - A matrix: the path of ``phi.npy``, with ``phi.npy.ids.json`` in the same
          folder, as ``semmetrics pairs`` writes them, or (matrix, ids of rows, ids of
          columns).
        - A relation, which scores 1 for pairs of ids that belong together and 0 for
          others: a mapping from id to ids, or the path of a JSON file with it.
        - Scores of pairs, in the formats of ``ratings``.

        Columns of ratings named "image" or "caption", or named as in a table of scores,
        identify the two ids of a pair. Otherwise the ids themselves do.
    columns : sequence of three str, optional
        The columns of ratings with both ids and the score. Default: the first three.
    group_by : str, optional
        A column of ratings. Each of its values gets its own rows, after the rows of all
        pairs.
    ids : str, optional
        A regular expression for ids that are written differently on the two sides. Its
        group is compared, for example ``r"0*(\d+)(?:[.]jpg)?$"`` for the number at the
        end.
    ncs : {"none", "rows", "columns"}
        Correlate NCS@1 in place of phi: each value of a matrix, divided by the largest
        value of its row (if images are queries) or column (if captions are).
    **options

    Returns
    -------
    Correlations
        Records with the columns "phi", "group", "n" (pairs), "lacking" (pairs without a
        value of this phi), "pearson", "spearman" and "kendall" (tau-b). Correlations
        are in [-1, 1], and None if one side is constant. With ``ci`` each also has
        "_low" and "_high", percentiles of resamples of pairs. ``notes`` reports
        anything unusual.

    Raises
    ------
    InputError
        If a file or an option is invalid, or a phi has none of the pairs.

    References
    ----------
    Biten et al., 2022, table 1. Ratings: Parekh et al., 2021, Crisscrossed Captions,
    EACL.

    Examples
    --------
    >>> import numpy as np
    >>> ratings = [("c1", "i1", 4.9), ("c2", "i1", 3.0), ("c2", "i2", 4.5), ("c9", "i2", 1.0)]
    >>> phi = np.array([[2.0, 0.5], [0.1, 1.5]]), ["i1", "i2"], ["c1", "c2"]
    >>> binary = {"i1": ["c1"], "i2": ["c2"]}
    >>> for row in correlate(ratings, {"phi": phi, "binary": binary}):
    ...     print(row["phi"], row["n"], row["lacking"], round(row["pearson"], 3))
    phi 3 1 0.991
    binary 4 0 0.882
    """
    resolved = resolve_options(options, "retrieval")
    read_options = resolved.read
    check_choice("ncs", ncs, ("none", "rows", "columns"))
    _check_columns(columns)
    bootstrap = interval_options(resolved)
    rated = read_pair_scores(
        ratings,
        columns=columns,
        group=group_by,
        ids=ids,
        options=read_options,
        name="ratings",
    )
    facts = [*rated.notes, *idle_intervals(resolved)]
    groups = _find_groups(rated)

    rows: list[dict[str, Any]] = []
    for name, data in _name_phis(phi).items():
        scored = open_pair_values(data, ids=ids, options=read_options, name=name)
        values = _look_up_pairs(scored, rated, ncs, name)
        if isinstance(scored, PairScores):
            facts += scored.notes
        heading = name
        if ncs != "none":
            heading = f"NCS(phi={name})@1"
        for group, in_group in groups.items():
            has_value = in_group & ~np.isnan(values)
            correlation = correlate_values(
                values[has_value],
                rated.values[has_value],
                bootstrap=bootstrap,
                progress=resolved.progress,
            )
            n_lacking = int(in_group.sum()) - correlation.n
            row = {"phi": heading, "group": group, "lacking": n_lacking}
            rows.append(row | _describe_correlation(correlation))

    return _tabulate(rows, facts, has_intervals=bootstrap is not None)


def _check_columns(columns: Sequence[str] | None) -> None:
    """Raise an error unless the columns are three names, or are left out."""
    if columns is None:
        return
    if isinstance(columns, str) or len(columns) != 3:
        raise InputError(
            "bad-option",
            name="columns",
            value=columns,
            wanted="the columns of both ids and of the score",
        )


def _find_groups(rated: PairScores) -> dict[str, Bools]:
    """Return which pairs belong to each group, with all pairs first."""
    groups: dict[str, Bools] = {_ALL_PAIRS: np.ones(len(rated), np.bool_)}
    if rated.groups is not None:
        if _ALL_PAIRS in rated.groups:
            raise InputError("reserved-group", rated.source, name=_ALL_PAIRS)
        group_of_pairs = np.array(rated.groups)
        for name in dict.fromkeys(rated.groups):
            groups[name] = group_of_pairs == name
    return groups


def _describe_correlation(correlation: Correlation) -> dict[str, Any]:
    """Return the cells of a correlation, with None for nan."""
    cells: dict[str, Any] = {"n": correlation.n}
    for name in NAMES:
        cells[name] = _none_if_nan(getattr(correlation, name))
    for name, interval in correlation.intervals.items():
        cells[f"{name}_low"] = _none_if_nan(interval.low)
        cells[f"{name}_high"] = _none_if_nan(interval.high)
    return cells


def _tabulate(
    rows: Sequence[Mapping[str, Any]], facts: Sequence[Fact], *, has_intervals: bool
) -> Correlations:
    """Return the records of all phis and groups."""
    names = ["phi", "group", "n", "lacking", *NAMES]
    if has_intervals:
        for name in NAMES:
            names += [f"{name}_low", f"{name}_high"]
    records = Records.from_rows(names, rows)
    columns = {name: records.column(name) for name in records.columns}
    return Correlations(columns, facts)


def _none_if_nan(value: float) -> float | None:
    if math.isnan(value):
        return None
    return value


def _name_phis(phi: Any) -> dict[str, Any]:
    """Return each phi by its name.

    A mapping from id to lists of ids is a single phi.
    """
    if isinstance(phi, Mapping) and not _is_relation(phi):
        return dict(phi)
    if isinstance(phi, str | os.PathLike):
        return {system_name(phi): phi}
    return {"phi": phi}


def _is_relation(phi: Mapping[Any, Any]) -> bool:
    """Return whether a mapping lists the ids that belong to each id."""
    return bool(phi) and all(map(_is_list_of_ids, phi.values()))


def _is_list_of_ids(value: Any) -> bool:
    """Return whether a value lists ids, and is not a path, pair scores or a matrix."""
    if isinstance(value, str | os.PathLike | Mapping | tuple):
        return False
    if not isinstance(value, Iterable):
        return False
    return all(isinstance(entry, str | int | np.integer) for entry in value)


def _look_up_pairs(
    scored: PairValues, rated: PairScores, ncs: str, name: str
) -> Floats:
    """Return the value of each rated pair, nan for pairs without a value.

    Raises
    ------
    InputError
        If no pair has a value, or NCS is requested for anything but a matrix.
    """
    if isinstance(scored, PairMatrix):
        values = scored.of_pairs(rated.first, rated.second, rated.names, ncs)
        rows = listing(scored.rows, most=2)
        columns = listing(scored.columns, most=2)
        known_ids = f"rows {rows}, columns {columns}"
    elif ncs != "none":
        raise InputError(
            "wrong-format", name, what=f"ncs={ncs}", format="pairs", wanted="a matrix"
        )
    else:
        values = scored.of_pairs(rated.first, rated.second, rated.names)
        known_ids = "others"
    if np.isnan(values).all():
        pair = f"{rated.first[0]!r} and {rated.second[0]!r}"
        raise InputError("no-common-pairs", name, pair=pair, there=known_ids)
    return values
