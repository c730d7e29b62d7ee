"""Measures of retrieval: how early the positives of a query stand in the ranking of a gallery.

Conventions
-----------
An item is a query. Ranks count from 1; how ties are ranked is the rule of the task. A query
without positives has no value (``no_reference``); one that ranks nothing, or a list that lacks
the positives, finds none of them, and has no mean rank (``undefined``).

What papers on image-text retrieval print as R@K is ``HitRate@K``: whether any positive stands among
the first K. ``Recall@K`` is the fraction of the positives that do. They differ where a query has
several positives, such as an image with five captions.

Measures
--------
``Recall@K``     equation 1 of Biten et al. 2022
``Precision@K``  the fraction of the first K that are positives
``HitRate@K``    equation 2
``Rsum``         100 times the sum of HitRate@1, @5 and @10 of both directions
``MedR``         median rank of the first positive, rounded down
``MeanR``        mean rank of the first positive
``MRR``          mean reciprocal rank of the first positive
``MAP@K``        mean over the positives of the precision at their ranks; 0 where it is beyond K
``R-Precision``  precision among the first R, R being the number of positives
``mAP@R``        mean over the first R ranks of the precision at those that hold a positive
``PMRP``         R-Precision on plausible matches

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2; their released code,
furkanbiten/ncs_metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints, positions, row_numbers
from semmetrics.data.tasks import UNRANKED, Block, Ranks, RetrievalTask, kept
from semmetrics.metrics import families
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import CAUSES, Derived, ItemMeans
from semmetrics.metrics.formulas import divide, recall
from semmetrics.metrics.registry import define

RankBlock: TypeAlias = Block[RetrievalTask]

_LAST = 0.75  # of the candidates, after which positives are last
_LEAST_CANDIDATES = 10  # of which some can be said to be last

NO_POSITIVE = families.policy_option(
    "no_reference", "noref", "skip", "queries without positives"
)
UNFOUND = families.policy_option(
    "undefined", "undef", "nan", "queries whose list has none of their positives"
)


LEVEL = Option(
    "rel",
    "rel",
    kind=int,
    within=(1, np.inf),
    help="the lowest grade that counts as relevant; without it, every grade above 0",
)


@kept
def rank_positives(block: RankBlock) -> Ranks:
    """Return the ranks of the positives of each query."""
    ranks = block.task.ranks(block.start, block.stop)
    block.note("queries", len(block))
    block.note("undecided", int(ranks.undecided.sum()))
    block.note("without_positives", int((ranks.number == 0).sum()))
    block.note("last", int(_are_last(ranks).sum()))
    return ranks


def _are_last(ranks: Ranks) -> Bools:
    """Return which queries rank all their positives in the last quarter of many candidates."""
    is_last = (ranks.best > _LAST * ranks.candidates) & (ranks.best < UNRANKED)
    is_last &= (ranks.candidates >= _LEAST_CANDIDATES) & ~ranks.undecided
    return is_last


@kept
def _task_at_level(task: RetrievalTask, rel: int) -> RetrievalTask:
    return task.at_level(rel)


@kept
def rank_relevant(block: RankBlock, rel: int | None) -> Ranks:
    """Return the ranks of the positives of each query that have at least a grade."""
    if rel is None:
        return rank_positives(block)
    ranks = _task_at_level(block.task, rel).ranks(block.start, block.stop)
    block.note(("undecided", rel), int(ranks.undecided.sum()))
    return ranks


def level_of(measure: Measure) -> int | None:
    """Return the lowest grade that a measure counts as relevant; None for any above 0."""
    rel = measure["rel"]
    return rel if isinstance(rel, int) else None


def precision_at_r(ranks: Ranks) -> Floats:
    """Return the precision among the first R candidates, R being the number of positives.

    A list of fewer than R candidates is not excused: the others are misses.

    Parameters
    ----------
    ranks : Ranks

    Returns
    -------
    float array, shape (queries,), in [0, 1]
        nan for queries without positives.

    Examples
    --------
    >>> ranks = Ranks(np.array([0, 2]), np.array([1, 4]), np.array([5]), np.array([False]))
    >>> precision_at_r(ranks), map_at_r(ranks)
    (array([0.5]), array([0.5]))
    """
    return divide(ranks.hits(ranks.number), ranks.number)


def map_at_r(ranks: Ranks) -> Floats:
    """Return the mean, over the first R ranks, of the precision at those that hold a positive.

    Parameters
    ----------
    ranks : Ranks

    Returns
    -------
    float array, shape (queries,), in [0, 1]
        nan for queries without positives.

    References
    ----------
    Musgrave, Belongie, Lim 2020, "A metric learning reality check", section 4.1.
    """
    return _average_precision(ranks, np.repeat(ranks.number, ranks.number))


def median_rank(ranks: Ints, weights: Floats) -> Floats:
    """Return the median of ranks, rounded down, in which each rank counts by its weight.

    Sums of weights within rounding of half the total count as half of it.

    Parameters
    ----------
    ranks : int array, shape (n,)
        `UNRANKED` for what was not found.
    weights : float array, shape (B, n)

    Returns
    -------
    float array, shape (B,)
        nan where nothing has a weight, or most was not found.

    Examples
    --------
    >>> median_rank(np.array([7, 2, 3, 1]), np.ones((1, 4)))
    array([2.])
    """
    order = np.argsort(ranks, kind="stable")
    ordered, sums = ranks[order], np.cumsum(weights[:, order], axis=1)
    found = np.full(len(weights), np.nan)
    for place, line in enumerate(sums):
        if not len(line) or line[-1] <= 0:
            continue
        # whole weights add up exactly; others are rounded, and so is each of their sums
        whole = (line == np.floor(line)).all()
        rounded = 0 if whole else np.count_nonzero(np.diff(line, prepend=0.0))
        near = rounded * np.spacing(2 * line[-1])
        # the two ranks beside the middle; of whole weights those of the repeated ranks
        low = ordered[np.searchsorted(line, line[-1] / 2 - near, "left")]
        high = ordered[
            min(np.searchsorted(line, line[-1] / 2 + near, "right"), len(line) - 1)
        ]
        if high < UNRANKED:
            found[place] = (int(low) + int(high)) // 2
    return found


@dataclass(frozen=True, repr=False)
class QueryValues(Statistic):
    """A step: a value of each query, by a function of the ranks and perhaps of a cutoff."""

    values: Callable[..., Floats]
    k: int | None = None
    rel: int | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        ranks = rank_relevant(block, self.rel)
        values = self.values(ranks) if self.k is None else self.values(ranks, self.k)
        if self.k is not None:
            fewer = "fewer", self.k, self.values.__name__, False
            block.note(fewer, int((ranks.candidates < self.k).sum()))
        values = np.where(ranks.number > 0, values, np.nan)
        return families.value_columns(
            values, np.ones(len(block), np.int64), ranks.number
        )


class QueryMeans(ItemMeans):
    """Means over queries of a function of the ranks of their positives."""

    def __init__(self, values: Callable[..., Floats]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the values of queries."""
        return QueryValues(self._values, measure.k, level_of(measure))


def _recall(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    return np.asarray(recall(ranks.hits(k), ranks.number))


def _precision(ranks: Ranks, k: int | None = None) -> Floats:
    return np.asarray(
        ranks.hits(k or UNRANKED - 1) / (k or np.maximum(ranks.candidates, 1))
    )


def _average_precision(ranks: Ranks, k: int | Ints = UNRANKED - 1) -> Floats:
    found = np.where(ranks.ranks <= k, (positions(ranks.indptr) + 1) / ranks.ranks, 0.0)
    rows = row_numbers(ranks.indptr)
    return divide(np.bincount(rows, found, len(ranks.candidates)), ranks.number)


def _hit(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    return (ranks.best <= k).astype(np.float64)


def _reciprocal(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    return np.where(ranks.best <= k, 1.0 / ranks.best, 0.0)


def _first_rank(ranks: Ranks) -> Floats:
    return np.where(ranks.best < UNRANKED, ranks.best, np.nan)


@dataclass(frozen=True, repr=False)
class FirstRanks(Statistic):
    """A step: the rank of the first positive of each query, column "rank"; 0 without positives."""

    additive = False
    rel: int | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the column."""
        ranks = rank_relevant(block, self.rel)
        return {"rank": Dense(np.where(ranks.number > 0, ranks.best, 0))}


class MedianFamily(Family):
    """The median over queries of the rank of the first positive."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the ranks."""
        return FirstRanks(level_of(measure))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return the median of the queries with positives."""
        ranks, weights = sums["rows"]["rank"].values, sums["weights"]
        found = median_rank(ranks[ranks > 0], weights[:, ranks > 0])
        if measure["no_reference"] == "nan" and (ranks == 0).any():
            found = np.where((weights[:, ranks == 0] > 0).any(axis=1), np.nan, found)
        return found

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the queries without positives."""
        return {CAUSES[3]: int((sums["rows"]["rank"].values == 0).sum())}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the rank of each query; nan where there is none."""
        ranks = rows["rank"].values
        return np.where((ranks > 0) & (ranks < UNRANKED), ranks, np.nan)


class SumOverDirections(Derived):
    """The sum of a measure, with the options of the sum, @1, @5 and @10 of both directions."""

    def __init__(self, term: Callable[..., Measure]) -> None:
        self._term = term

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that are added."""
        terms = [self._term(k=k, **dict(measure.options)) for k in (1, 5, 10)]
        return dict.fromkeys(("i2t", "t2i"), terms)

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Add them up, in percent."""
        return 100.0 * sum(values)


retrieval_measure = partial(
    define,
    cutoff=False,
    options=(NO_POSITIVE, LEVEL),
    order_invariant=False,
    kind="retrieval",
)
"""Register a measure of queries: of ranks of positives, without a cutoff, if nothing else."""


# Name, function of the ranks, summary, equation, source, and keys of the sources.
_MEANS: tuple[tuple[Any, ...], ...] = (
    (
        "Recall",
        _recall,
        "Share of a query's positives among its first K candidates, mean over queries.",
        "|G_q ∩ Q_q,K| / |G_q|",
        "Biten et al. 2022, equation 1",
        ("biten2022",),
    ),
    (
        "Precision",
        _precision,
        "Share of a query's first K candidates that are positives, mean over queries.",
        "|G_q ∩ Q_q,K| / K",
        "Manning et al. 2008, section 8.4; P_K of trec_eval",
        ("manning2008",),
    ),
    (
        "HitRate",
        _hit,
        "Share of queries with a positive among their first K candidates: R@K in most papers.",
        "[G_q ∩ Q_q,K ≠ ∅]",
        "Biten et al. 2022, equation 2; Hodosh et al. 2013",
        ("biten2022",),
    ),
    (
        "MRR",
        _reciprocal,
        "Mean reciprocal rank of the first positive; 0 where it is beyond K.",
        "1 / min rank(G_q)",
        "Voorhees 1999, the TREC-8 question answering track report",
        ("voorhees1999",),
    ),
    (
        "MAP",
        _average_precision,
        "Mean over queries of average precision: over positives, of the precision at their ranks.",
        "1/|G_q| Σ_{r≤K} P(r) [q_r ∈ G_q]",
        "Manning et al. 2008, section 8.4; map and map_cut_K of trec_eval",
        ("manning2008",),
    ),
    (
        "R-Precision",
        precision_at_r,
        "Precision among the first R candidates, R being the number of the query's positives.",
        "|G_q ∩ Q_q,R| / R, R = |G_q|",
        "Chun et al. 2022, section 4; as eccv-caption computes it",
        ("chun2022",),
    ),
    (
        "mAP@R",
        map_at_r,
        "Mean over the first R ranks of the precision at those that hold a positive.",
        "(1/R) Σ_{r≤R} P(r) [q_r ∈ G_q], R = |G_q|",
        "Musgrave et al. 2020, section 4.1; as eccv-caption computes it",
        ("musgrave2020", "chun2022"),
    ),
    (
        "PMRP",
        precision_at_r,
        "R-Precision where the positives are plausible matches.",
        "|G_q ∩ Q_q,R| / R, R = |G_q|",
        "Chun et al. 2021, section 4.2; as eccv-caption computes it",
        ("chun2021",),
    ),
)
_DEFINED = {
    name: retrieval_measure(
        name, QueryMeans(values), *described, cutoff="k" in signature(values).parameters
    )
    for name, values, *described in _MEANS
}
Recall, HitRate = _DEFINED["Recall"], _DEFINED["HitRate"]
MeanR = retrieval_measure(
    "MeanR",
    QueryMeans(_first_rank),
    "Mean rank of the first positive, from 1.",
    "min rank(G_q)",
    "Faghri et al. 2018, the evaluation code of VSE++",
    cite=("faghri2018",),
    options=(NO_POSITIVE, UNFOUND, LEVEL),
    bounds=(1.0, np.inf),
    higher_is_better=False,
    interval="hall",  # a few queries whose positives come last make the mean
)
MedR = retrieval_measure(
    "MedR",
    MedianFamily(),
    "Median rank of the first positive, from 1, rounded down.",
    "⌊median of min rank(G_q)⌋",
    "Faghri et al. 2018, the evaluation code of VSE++",
    cite=("faghri2018",),
    options=(NO_POSITIVE._replace(choices=("skip", "nan")), LEVEL),
    bounds=(1.0, np.inf),
    higher_is_better=False,
    interval="percentile",  # a median that few items move has no jackknife
)
Rsum = retrieval_measure(
    "Rsum",
    SumOverDirections(HitRate),
    "Sum over both directions of HitRate@1, @5 and @10, in percent.",
    "100 Σ_{K=1,5,10} (HitRate@K(i2t) + HitRate@K(t2i))",
    "Faghri et al. 2018, the evaluation code of VSE++",
    options=(),
    bounds=(0.0, 600.0),
    cite=("faghri2018",),
)
