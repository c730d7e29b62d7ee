"""Agreement of phi, NCS or binary relevance with ratings by people, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from semmetrics.api.scores import system_name
from semmetrics.arguments import checked_but
from semmetrics.comparison.correlations import NAMES, Correlation, correlate_values
from semmetrics.core.ragged import Bools
from semmetrics.data.form import ReadOptions
from semmetrics.data.side_inputs import (
    PairMatrix,
    PairScores,
    PairValues,
    open_pair_values,
    read_pair_scores,
)
from semmetrics.errors import InputError
from semmetrics.messages import brief, listing, pluralize
from semmetrics.reports.records import Records
from semmetrics.scoring.intervals import Bootstrap

__all__ = ["Correlations", "correlate"]

ALL = "all"


class Correlations(Records):
    """A row for each phi and group of pairs, of `semmetrics.correlate`.

    Attributes
    ----------
    notes : list of str
        What there is to say of the input.
    """

    __slots__ = ("notes",)

    def __init__(self, columns: Mapping[str, Any], notes: Sequence[str] = ()) -> None:
        super().__init__(columns)
        self.notes = list(notes)


@checked_but("ratings", "phi")
def correlate(
    ratings: Any,
    phi: Any,
    *,
    columns: Sequence[str] | None = None,
    group_by: str | None = None,
    ids: str | None = None,
    ncs: Literal["none", "rows", "columns"] = "none",
    ci: bool | Bootstrap = False,
    read: ReadOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Correlations:
    r"""Correlate scores of pairs with what people say of the same pairs.

    Parameters
    ----------
    ratings : path, frame, or sequence of (id, id, score) or of mappings
        CSV, TSV, JSON or JSONL.
    phi : mapping from name to scores, or scores
        Scores are the path of a matrix ``phi.npy`` with ``phi.npy.ids.json`` beside it, as
        ``semmetrics pairs`` writes both, or (matrix, ids of rows, ids of columns); a relation,
        which gives 1 to pairs of ids that belong together and 0 to others, as a mapping from id
        to ids, or the path of a JSON file of it; or scores of pairs, in the forms of ``ratings``.
        Columns of ratings called "image" or "caption", or as those of a table of scores, tell which
        id of a pair is which; otherwise the ids do.
    columns : sequence of three str, optional
        The columns of ratings with both ids and the score; the first three where left out.
    group_by : str, optional
        A column of ratings: each of its values has rows of its own, behind that of all pairs.
    ids : str, optional
        A regular expression for ids that are written differently: what its group finds is compared,
        such as ``r"0*(\d+)(?:[.]jpg)?$"`` for the number at the end.
    ncs : {"none", "rows", "columns"}
        Correlate NCS@1 in place of phi: each value of a matrix over the largest one of its row
        (images are queries) or column (captions are).
    ci : bool or Bootstrap
        Whether to compute percentile intervals, from resamples of pairs.
    read : ReadOptions, optional
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    Correlations
        Records with the columns "phi", "group", "n" (pairs), "lacking" (pairs that this phi does
        not have), "pearson", "spearman" and "kendall" (tau-b), all in [-1, 1] and None where one
        side is the same for all pairs; with ``ci`` also each with "_low" and "_high". ``notes``
        says what is odd.

    Raises
    ------
    InputError
        If a file or an option is wrong, or a phi has none of the pairs.

    References
    ----------
    Biten et al., 2022, table 1; ratings: Parekh et al., 2021, Crisscrossed Captions, EACL.

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
    options = ReadOptions() if read is None else read
    if columns is not None and len(columns) != 3:
        raise InputError(
            f"columns= names {pluralize(len(columns), 'column')}",
            remedy="name those of both ids and of the score",
        )
    bootstrap = ci if isinstance(ci, Bootstrap) else Bootstrap() if ci else None
    given = read_pair_scores(
        ratings, columns=columns, group=group_by, ids=ids, options=options, name="ratings"
    )
    notes = list(map(str, given.notes))
    groups = _groups(given)
    rows: list[dict[str, Any]] = []
    for name, data in _named(phi).items():
        opened = open_pair_values(data, ids=ids, options=options, name=name)
        values = _values(opened, given, ncs, name)
        if isinstance(opened, PairScores):
            notes += map(str, opened.notes)
        heading = name if ncs == "none" else f"NCS(phi={name})@1"
        for group, chosen in groups.items():
            known = chosen & ~np.isnan(values)
            found = correlate_values(
                values[known], given.values[known], bootstrap=bootstrap, progress=progress
            )
            lacking = int(chosen.sum() - known.sum())
            rows.append({"phi": heading, "group": group, "lacking": lacking, **_cells(found)})
    names = ["phi", "group", "n", "lacking", *NAMES]
    limits = [f"{name}_{end}" for name in NAMES for end in ("low", "high")]
    table = Records.from_rows(names + (limits if bootstrap else []), rows)
    return Correlations({name: table.column(name) for name in table.columns}, notes)


def _named(phi: Any) -> dict[str, Any]:
    """Return each phi under its name; a mapping to lists of ids is itself one phi."""
    if isinstance(phi, Mapping) and not all(map(_is_list_of_ids, phi.values())):
        wrong = [name for name in phi if not isinstance(name, str)]
        if wrong:
            raise InputError(f"phi= has the name {brief(wrong[0])}", remedy="give {name: scores}")
        return dict(phi)
    if isinstance(phi, Mapping) and not phi:
        raise InputError("no phi is given", remedy="give {name: scores}")
    return {system_name(phi) if isinstance(phi, str | os.PathLike) else "phi": phi}


def _is_list_of_ids(value: Any) -> bool:
    """Tell whether it lists ids, and is neither a path, scores of pairs nor a matrix."""
    if isinstance(value, str | os.PathLike | Mapping | tuple) or not isinstance(value, Iterable):
        return False
    return all(isinstance(one, str | int | np.integer) for one in value)


def _groups(given: PairScores) -> dict[str, Bools]:
    """Return which pairs belong to each group, all of them first."""
    groups: dict[str, Bools] = {ALL: np.ones(len(given), np.bool_)}
    if given.groups is not None:
        own = np.array(given.groups)
        groups |= {name: own == name for name in dict.fromkeys(given.groups)}
    return groups


def _values(opened: PairValues, given: PairScores, ncs: str, name: str) -> Any:
    """Return the value of each rated pair; nan where there is none.

    Raises
    ------
    InputError
        If all are lacking, or NCS is asked of something that is no matrix.
    """
    pairs = given.first, given.second, given.names
    if isinstance(opened, PairMatrix):
        values = opened.of_pairs(*pairs, ncs)
        has = (
            f"has rows {listing(opened.rows, most=2)} and columns {listing(opened.columns, most=2)}"
        )
    elif ncs != "none":
        raise InputError(
            f"ncs={ncs} needs a matrix, and {name} is none", remedy="leave ncs= (--ncs) out"
        )
    else:
        values, has = opened.of_pairs(*pairs), "has others"
    if np.isnan(values).all():
        raise InputError(
            f"none of the pairs, such as {given.first[0]!r} and {given.second[0]!r}, is in {name}, "
            f"which {has}",
            remedy="name the columns of both ids with columns= (--columns), or give ids= (--ids), "
            "an expression for the part of an id that is compared",
        )
    return values


def _cells(found: Correlation) -> dict[str, Any]:
    """Return the numbers of a row."""
    cells: dict[str, Any] = {"n": found.n}
    numbers = {name: getattr(found, name) for name in NAMES}
    for name, interval in found.intervals.items():
        numbers |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return cells | {name: None if np.isnan(one) else one for name, one in numbers.items()}
