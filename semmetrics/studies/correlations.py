r"""Agreement of scores with people: correlations over the same items, and their intervals.

Conventions
-----------
Items that are equal on one side are *ties*. Of n items there are n(n-1)/2 pairs; C of them are in
the same order on both sides, D in opposite orders, T_x and T_y tied in the scores and in the
ratings.

========== =================================================================================
pearson    product-moment correlation of the values
spearman   that of the ranks; equal values share the mean of their ranks
kendall-b  :math:`(C - D) / \sqrt{(N - T_x)(N - T_y)}` with N = n(n-1)/2
kendall-c  :math:`2 (C - D) m / (n^2 (m - 1))`, m the smaller number of distinct values of a side
accuracy   of the pairs that people tell apart, the share that scores put in the same order; a
           pair tied in the scores counts half: :math:`1/2 + (C - D) / (2 (N - T_y))`
========== =================================================================================

A correlation with a constant is undefined (nan), and so is the accuracy if people tell no two items
apart.

A resample draws as many items, or groups of items, as there are, with replacement; items that are
drawn twice tie with themselves. All resamples are computed together, from sums of weights; C - D
is exact and takes O(n log n).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data import pair_values
from semmetrics.data.form import takes_options
from semmetrics.errors import Fact, InputError, render_facts
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import listing, report_progress
from semmetrics.options import AGREEMENT
from semmetrics.reports import Records
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import Bootstrap, Interval, Replicates
from semmetrics.scoring.notes import idle_intervals
from semmetrics.scoring.resampling import Draws
from semmetrics.scoring.score import interval_options, system_name
from semmetrics.studies.significance import as_floats

NAMES = ("pearson", "spearman", "kendall")
_STATISTICS = ("pearson", "spearman", "kendall-b")
_CELLS = 1 << 19  # weights at a time, so that they stay in the processor's cache


def correlation(
    scores: ArrayLike, ratings: ArrayLike, statistic: str = "kendall-b"
) -> float:
    """Return how well scores agree with ratings of the same items.

    Parameters
    ----------
    scores, ratings : array-like, shape (n,)
        Finite.
    statistic : {"pearson", "spearman", "kendall-b", "kendall-c", "accuracy"}

    Returns
    -------
    float
        In [-1, 1], an accuracy in [0, 1]; nan where not defined.

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or there is no such statistic.

    References
    ----------
    Kendall, 1945, The treatment of ties in ranking problems, Biometrika 33 (tau-b). Stuart, 1953,
    The estimation and comparison of strengths of association in contingency tables, Biometrika 40
    (tau-c).

    Examples
    --------
    >>> scores, ratings = [0.1, 0.4, 0.4, 0.9], [1, 2, 3, 3]
    >>> [round(correlation(scores, ratings, name), 4) for name in ("kendall-b", "kendall-c")]
    [0.8, 0.75]
    >>> correlation(scores, ratings, "accuracy")
    0.9
    """
    check_choice("statistic", statistic, AGREEMENT)
    return Correlated.of(scores, ratings).values([statistic])[statistic]


Half = tuple[Ints, Ints, tuple[Ints, Ints, Ints, Ints]]
"""The cells of a table, split by one binary digit of their level on one side.

The cells with 0 and with 1 at that digit, sorted by the higher digits, then by the level on the
other side. Then, for each cell with 1, places among the cells with 0 and the same higher digits:
where they begin, where those of an equal level on the other side begin and end, where they end.
"""


@dataclass(frozen=True, eq=False)
class Correlated:
    """Scores and ratings of the same items, ready to be correlated under any weights.

    A *cell* is a score and a rating that occur together; cells stand in the order of the scores,
    then of the ratings.

    Attributes
    ----------
    scores, ratings : float64 array
        The distinct values of either side, rising.
    score, rating : int array, shape (cells,)
        The place of the score and of the rating of each cell among them.
    table : sparse array, shape (cells, groups)
        How many items of each group are in a cell.
    """

    scores: Floats
    ratings: Floats
    score: Ints
    rating: Ints
    table: Any

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        ratings: ArrayLike,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> Correlated:
        """Tabulate scores and ratings of the same items.

        Parameters
        ----------
        scores, ratings : array-like, shape (n,)
            Finite.
        groups : int array-like, shape (n,), optional
            The group of each item, from 0. Without it, each item is a group of its own.
        n_groups : int, optional
            The number of groups, if some of them have no item here.

        Raises
        ------
        InputError
            If the shapes differ, or a number is not finite.
        """
        from scipy.sparse import csr_array

        one, other = as_floats(scores, "a score"), as_floats(ratings, "a rating")
        if len(one) != len(other):
            raise InputError(
                "wrong-count", found=f"{len(one)} scores", wanted="the ratings"
            )
        x, score = np.unique(one, return_inverse=True)
        y, rating = np.unique(other, return_inverse=True)
        cells, cell = np.unique(score * max(1, len(y)) + rating, return_inverse=True)
        of = np.arange(len(one)) if groups is None else np.asarray(groups, np.int64)
        width = int(of.max(initial=-1)) + 1 if n_groups is None else n_groups
        table = csr_array(
            (np.ones(len(one)), (cell.ravel(), of)), shape=(len(cells), width)
        )
        return cls(x, y, *np.divmod(cells, max(1, len(y))), table)

    @cached_property
    def halves(self) -> list[Half]:
        """The splits that count C - D, one for each binary digit of the side with fewer levels."""
        along, level = (self.score, self.rating)
        if len(self.ratings) > len(self.scores):
            along, level = level, along
        found = []
        for digit in range(int(level.max(initial=0)).bit_length()):
            before = level >> (digit + 1)
            rows = np.lexsort((along, before))
            is_one = ((level[rows] >> digit) & 1).astype(np.bool_)
            zeros, ones = rows[~is_one], rows[is_one]
            # the higher digits and the other level in one number, so that one search finds both
            wide = int(along.max(initial=0)) + 1
            keys, sought = (
                before[zeros] * wide + along[zeros],
                before[ones] * wide + along[ones],
            )
            group = before[ones] * wide
            low, high = (
                np.searchsorted(keys, sought),
                np.searchsorted(keys, sought, side="right"),
            )
            begin, end = (
                np.searchsorted(keys, group),
                np.searchsorted(keys, group + wide),
            )
            found.append((zeros, ones, (begin, low, high, end)))
        return found

    def values(self, statistics: Sequence[str]) -> dict[str, float]:
        """Return statistics of all items."""
        found = self.weighted(statistics, np.ones((1, self.table.shape[1]), np.uint8))
        return {name: float(row[0]) for name, row in found.items()}

    def weighted(
        self, statistics: Sequence[str], counts: NDArray[Any]
    ) -> dict[str, Floats]:
        """Return statistics of resamples.

        Parameters
        ----------
        statistics : sequence of str
        counts : int array, shape (resamples, groups)
            How often each group is drawn.

        Returns
        -------
        mapping from statistic to array, shape (resamples,)
            nan where not defined.
        """
        from scipy.sparse import csr_array

        found = {name: np.full(len(counts), np.nan) for name in statistics}
        step = max(1, _CELLS // max(1, len(self.score)))
        sides: list[Any] = [
            csr_array(
                (np.ones(len(of)), (of, np.arange(len(of)))), (len(levels), len(of))
            )
            for of, levels in ((self.score, self.scores), (self.rating, self.ratings))
        ]
        for start in range(0, len(counts), step):
            some = np.ascontiguousarray(counts[start : start + step].T, np.float64)
            cells = self.table @ some
            scores, ratings = (side @ cells for side in sides)
            for name, row in found.items():
                row[start : start + step] = self._statistic(
                    name, cells, scores, ratings
                )
        return found

    def _statistic(
        self, name: str, cells: Floats, scores: Floats, ratings: Floats
    ) -> Floats:
        """Return a statistic under the weights of some resamples; nan where it is not defined.

        The weights are those of cells and of the levels of either side: (cells or levels,
        resamples).
        """
        n, distinct = cells.sum(axis=0), (ratings > 0).sum(axis=0)

        def untied(weights: Floats) -> Any:  # pairs
            return (n**2 - (weights**2).sum(axis=0)) / 2

        with np.errstate(all="ignore"):
            if name == "accuracy":
                found = 0.5 + self._concordance(cells) / (2 * untied(ratings))
            else:
                distinct = np.minimum((scores > 0).sum(axis=0), distinct)
            if name == "kendall-c":
                found = (
                    2 * self._concordance(cells) * distinct / (n**2 * (distinct - 1))
                )
            elif name == "kendall-b":
                found = self._concordance(cells) / np.sqrt(
                    untied(scores) * untied(ratings)
                )
            elif name in ("pearson", "spearman"):
                sides = []
                for levels, weights in ((self.scores, scores), (self.ratings, ratings)):
                    # equal values share the mean of their ranks
                    side = np.cumsum(weights, axis=0) - (weights - 1) / 2
                    # at most 1, so that their squares do not overflow
                    if name == "pearson":
                        side = (levels / (np.abs(levels).max(initial=0.0) or 1.0))[
                            :, None
                        ]
                    side = side - (weights * side).sum(axis=0) / n
                    sides.append((side, (weights * side**2).sum(axis=0)))
                (x, of_x), (y, of_y) = sides
                found = (cells * x[self.score] * y[self.rating]).sum(axis=0) / np.sqrt(
                    of_x * of_y
                )
        return np.where(distinct > 1, np.clip(found, -1.0, 1.0), np.nan)

    def _concordance(self, cells: Floats) -> Floats:
        """Return C - D.

        Two different levels differ first at one binary digit. So for each digit, every cell with 1
        is compared with the cells that have 0 there and the same higher digits.
        """
        total = np.zeros(cells.shape[1])
        for zeros, ones, (begin, low, high, end) in self.halves:
            below = np.zeros((len(zeros) + 1, cells.shape[1]))
            np.cumsum(cells[zeros], axis=0, out=below[1:])
            beside = below[low]
            beside += below[high]
            beside -= below[begin]
            beside -= below[end]
            total += np.einsum("ij,ij->j", cells[ones], beside)
        return total


def resample(
    tables: Sequence[Any],
    statistics: Sequence[str],
    bootstrap: Bootstrap,
    draws: Draws,
    progress: Progress = None,
) -> list[dict[str, Floats]]:
    """Return statistics of each table, of each resample of the groups that all tables share."""
    found: list[dict[str, list[Floats]]] = [
        {name: [] for name in statistics} for _ in tables
    ]
    done = 0
    for counts in draws.counts(bootstrap, 256):
        for table, parts in zip(tables, found, strict=True):
            for name, row in table.weighted(statistics, counts).items():
                parts[name].append(row)
        done += len(counts)
        report_progress(progress, done, bootstrap.resamples, "bootstrap", "resample")
    return [
        {name: np.concatenate(rows) for name, rows in parts.items()} for parts in found
    ]


@dataclass(frozen=True)
class Correlation:
    """How one score agrees with another over n pairs.

    Attributes
    ----------
    n : int
    pearson, spearman, kendall : float
        In [-1, 1]; nan where not defined. Kendall's is tau-b.
    intervals : mapping from name to Interval
        Empty where none were asked for.
    """

    n: int
    pearson: float
    spearman: float
    kendall: float
    intervals: Mapping[str, Interval]


def correlate_values(
    scores: ArrayLike,
    ratings: ArrayLike,
    *,
    bootstrap: Bootstrap | None = None,
    progress: Progress = None,
) -> Correlation:
    """Correlate scores with ratings of the same pairs.

    Parameters
    ----------
    scores, ratings : array-like, shape (n,)
        Finite.
    bootstrap : Bootstrap, optional
        For intervals; its method must be "auto" or "percentile".
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    Correlation

    Raises
    ------
    InputError
        If the shapes differ, a number is not finite, or the method of intervals is another one.

    Examples
    --------
    >>> found = correlate_values([0.1, 0.4, 0.4, 0.9], [1, 2, 3, 5])
    >>> round(found.pearson, 4), round(found.spearman, 4), round(found.kendall, 4)
    (0.971, 0.9487, 0.9129)
    """
    table = Correlated.of(scores, ratings)
    if bootstrap is not None and bootstrap.method not in ("auto", "percentile"):
        raise InputError(
            "bad-option", name="method", value=bootstrap.method, wanted="percentile"
        )
    values, n = table.values(_STATISTICS), int(table.table.shape[1])
    intervals: dict[str, Interval] = {}
    if bootstrap is not None:
        places = np.arange(n)
        draws = Draws(places, n, places.astype(np.uint64))  # of items in their order
        (drawn,) = resample([table], _STATISTICS, bootstrap, draws, progress)
        for name, statistic in zip(NAMES, _STATISTICS, strict=True):
            intervals[name] = percentiles(
                drawn[statistic], values[statistic], bootstrap, n, "pair"
            )
    numbers = dict(zip(NAMES, values.values(), strict=True))
    return Correlation(n, **numbers, intervals=intervals)


def percentiles(
    values: Floats, whole: float, bootstrap: Bootstrap, groups: int, unit: str
) -> Interval:
    """Return the interval that the values of resamples make."""
    return Replicates(
        values,
        bootstrap.seed,
        unit,
        grouped=False,
        drawn="",
        value=whole,
        left_out=np.zeros(0),
        sizes=np.ones(groups, np.int64),
    ).interval(bootstrap.level)


class Correlations(Records):
    """A row for each phi and group of pairs, of `semmetrics.correlate`.

    Attributes
    ----------
    facts : list of Fact
        What is odd in the input.
    """

    __slots__ = ("facts",)

    def __init__(self, columns: Mapping[str, Any], facts: Sequence[Fact] = ()) -> None:
        super().__init__(columns)
        self.facts = list(facts)

    @property
    def notes(self) -> list[str]:
        """The facts as texts."""
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
    **options

    Returns
    -------
    Correlations
        Records with the columns "phi", "group", "n" (pairs), "lacking" (pairs that this phi does
        not have), "pearson", "spearman" and "kendall" (tau-b), all in [-1, 1] and None where one
        side is the same for all pairs; with ``ci`` also each with "_low" and "_high", percentiles
        of resamples of pairs. ``notes`` says what is odd.

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
    resolved = resolve_options(options, "retrieval")
    read, progress = resolved.read, resolved.progress
    check_choice("ncs", ncs, ("none", "rows", "columns"))
    if columns is not None and (isinstance(columns, str) or len(columns) != 3):
        raise InputError(
            "bad-option",
            name="columns",
            value=columns,
            wanted="the columns of both ids and of the score",
        )
    bootstrap = interval_options(resolved)
    given = pair_values.read_pair_scores(
        ratings, columns=columns, group=group_by, ids=ids, options=read, name="ratings"
    )
    facts = [*given.notes, *idle_intervals(resolved)]
    groups: dict[str, Bools] = {"all": np.ones(len(given), np.bool_)}
    if given.groups is not None:
        own = np.array(given.groups)
        groups |= {name: own == name for name in dict.fromkeys(given.groups)}
    rows: list[dict[str, Any]] = []
    for name, data in _named(phi).items():
        opened = pair_values.open_pair_values(data, ids=ids, options=read, name=name)
        values = _values(opened, given, ncs, name)
        if isinstance(opened, pair_values.PairScores):
            facts += opened.notes
        heading = name if ncs == "none" else f"NCS(phi={name})@1"
        for group, chosen in groups.items():
            known = chosen & ~np.isnan(values)
            sides = values[known], given.values[known]
            found = correlate_values(*sides, bootstrap=bootstrap, progress=progress)
            row = {
                "phi": heading,
                "group": group,
                "lacking": int(chosen.sum() - known.sum()),
            }
            row |= {"n": found.n, **{one: getattr(found, one) for one in NAMES}}
            for one, interval in found.intervals.items():
                row |= {f"{one}_low": interval.low, f"{one}_high": interval.high}
            rows.append(
                {one: None if value != value else value for one, value in row.items()}
            )
    names = ["phi", "group", "n", "lacking", *NAMES]
    limits = [f"{name}_{end}" for name in NAMES for end in ("low", "high")]
    table = Records.from_rows(names + (limits if bootstrap else []), rows)
    return Correlations({name: table.column(name) for name in table.columns}, facts)


def _named(phi: Any) -> dict[str, Any]:
    """Return each phi under its name; a mapping to lists of ids is itself one phi."""
    if isinstance(phi, Mapping) and not (
        phi and all(map(_is_list_of_ids, phi.values()))
    ):
        return dict(phi)
    return {system_name(phi) if isinstance(phi, str | os.PathLike) else "phi": phi}


def _is_list_of_ids(value: Any) -> bool:
    """Tell whether it lists ids, and is neither a path, scores of pairs nor a matrix."""
    if isinstance(value, str | os.PathLike | Mapping | tuple) or not isinstance(
        value, Iterable
    ):
        return False
    return all(isinstance(one, str | int | np.integer) for one in value)


def _values(
    opened: pair_values.PairValues, given: pair_values.PairScores, ncs: str, name: str
) -> Any:
    """Return the value of each rated pair; nan where there is none."""
    pairs = given.first, given.second, given.names
    if isinstance(opened, pair_values.PairMatrix):
        values = opened.of_pairs(*pairs, ncs)
        there = f"rows {listing(opened.rows, most=2)}, columns {listing(opened.columns, most=2)}"
    elif ncs != "none":
        raise InputError(
            "wrong-format", name, what=f"ncs={ncs}", format="pairs", wanted="a matrix"
        )
    else:
        values, there = opened.of_pairs(*pairs), "others"
    if np.isnan(values).all():
        pair = f"{given.first[0]!r} and {given.second[0]!r}"
        raise InputError("no-common-pairs", name, pair=pair, there=there)
    return values
