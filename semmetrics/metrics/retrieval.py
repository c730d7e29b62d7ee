"""Measures of retrieval: how early the positives of a query are ranked in a gallery.

Conventions
-----------
An item is a query. Ranks count from 1, and the task's rule decides how ties are ranked. A
query without positives has no value (``no_reference``). A query that ranks none of its
positives, or nothing at all, finds none of them: most of its values are 0, but it has no
rank to average (``undefined``).

Papers on image-text retrieval print ``HitRate@K`` as R@K: whether any positive is among
the first K. ``Recall@K`` is the fraction of the positives that are among the first K. They
differ if a query has several positives, such as an image with five captions.

Measures
--------
``Recall@K``     equation 1 of Biten et al. 2022
``Precision@K``  the fraction of the first K that are positives
``HitRate@K``    equation 2
``Rsum``         100 times the sum of HitRate@1, @5 and @10 of both directions
``MedR``         median rank of the first positive, rounded down
``MeanR``        mean rank of the first positive
``MRR``          mean reciprocal rank of the first positive
``MAP@K``        mean over the positives of the precision at their ranks, 0 beyond K
``R-Precision``  precision among the first R, with R the number of positives
``mAP@R``        mean over the first R ranks of the precision at ranks of positives
``PMRP``         R-Precision on plausible matches

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2, and the released
code, furkanbiten/ncs_metric.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import Bools, Floats, Ints, positions, row_numbers
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.retrieval import UNRANKED, Ranks, RetrievalTask
from semmetrics.metrics import families
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import Derived, ItemMeans
from semmetrics.metrics.formulas import divide, recall
from semmetrics.metrics.measure_options import MeasureOption
from semmetrics.metrics.registry import define

RankBlock: TypeAlias = Block[RetrievalTask]

_ANY_RANK = UNRANKED - 1
"""The cutoff that includes every ranked candidate."""
_LAST_SHARE = 0.75
"""Positives are last if they are ranked after this share of the candidates."""
_MIN_CANDIDATES = 10
"""With fewer candidates than this, no positives count as last."""

NO_POSITIVE = families.policy_option(
    "no_reference", "noref", "skip", "queries without positives"
)
UNFOUND = families.policy_option(
    "undefined", "undef", "nan", "queries with no positive in their list"
)
LEVEL = MeasureOption(
    "rel",
    "rel",
    kind=int,
    within=(1, np.inf),
    help="the lowest grade that counts as relevant. The default is any grade above 0",
)

# ---- ranks ---------------------------------------------------------------------------


@memoised
def rank_positives(block: RankBlock) -> Ranks:
    """Return the ranks of the positives of each query.

    The block gets notes on queries, ties, and positives that are missing or last.
    """
    ranks = block.task.ranks(block.start, block.stop)
    block.observations.count("queries", len(block))
    block.observations.count("undecided", int(ranks.undecided.sum()))
    block.observations.count("without_positives", int((ranks.n_positives == 0).sum()))
    block.observations.count("last", int(_are_last(ranks).sum()))
    return ranks


def _are_last(ranks: Ranks) -> Bools:
    """Return which queries rank all positives in the last quarter of many candidates."""
    is_last = (ranks.best > _LAST_SHARE * ranks.candidates) & (ranks.best < UNRANKED)
    is_last &= (ranks.candidates >= _MIN_CANDIDATES) & ~ranks.undecided
    return is_last


@memoised
def _task_at_level(task: RetrievalTask, rel: int) -> RetrievalTask:
    """Return the task without positives below a grade."""
    return task.at_level(rel)


@memoised
def rank_relevant(block: RankBlock, rel: int | None) -> Ranks:
    """Return the ranks of each query's positives that have at least a grade."""
    if rel is None:
        return rank_positives(block)
    ranks = _task_at_level(block.task, rel).ranks(block.start, block.stop)
    block.observations.count("undecided", int(ranks.undecided.sum()), rel)
    return ranks


def level_of(measure: Measure) -> int | None:
    """Return the lowest grade that a measure counts as relevant, None for any above 0."""
    rel = measure["rel"]
    if isinstance(rel, int):
        return rel
    return None


# ---- values of queries ---------------------------------------------------------------


def precision_at_r(ranks: Ranks) -> Floats:
    """Return the precision among the first R candidates, with R the number of positives.

    If a list has fewer than R candidates, the missing ones count as misses.

    Parameters
    ----------
    ranks : Ranks

    Returns
    -------
    float array, shape (queries,), in [0, 1]
        nan for queries without positives.

    Examples
    --------
    >>> indptr, n_candidates, is_tied = np.array([0, 2]), np.array([5]), np.array([False])
    >>> ranks = Ranks(indptr, np.array([1, 4]), n_candidates, is_tied)
    >>> precision_at_r(ranks), map_at_r(ranks)
    (array([0.5]), array([0.5]))
    """
    n_positives = ranks.n_positives
    return divide(ranks.hits(n_positives), n_positives)


def map_at_r(ranks: Ranks) -> Floats:
    """Return the mean over the first R ranks of the precision at ranks of positives.

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
    n_positives = ranks.n_positives
    cutoff_of_positive = np.repeat(n_positives, n_positives)
    return _average_precision(ranks, cutoff_of_positive)


def _recall(ranks: Ranks, k: int = _ANY_RANK) -> Floats:
    return np.asarray(recall(ranks.hits(k), ranks.n_positives))


def _precision(ranks: Ranks, k: int | None = None) -> Floats:
    """Precision. Without a cutoff, it is divided by the number of candidates."""
    if k is None:
        n_ranked = np.maximum(ranks.candidates, 1)
        return np.asarray(ranks.hits(_ANY_RANK) / n_ranked)
    return np.asarray(ranks.hits(k) / k)


def _average_precision(ranks: Ranks, k: int | Ints = _ANY_RANK) -> Floats:
    """Average precision, with one cutoff or a cutoff for each positive."""
    n_found = positions(ranks.indptr) + 1
    precisions = np.where(ranks.ranks <= k, n_found / ranks.ranks, 0.0)
    query = row_numbers(ranks.indptr)
    sums = np.bincount(query, precisions, len(ranks.candidates))
    return divide(sums, ranks.n_positives)


def _hit(ranks: Ranks, k: int = _ANY_RANK) -> Floats:
    return (ranks.best <= k).astype(np.float64)


def _reciprocal(ranks: Ranks, k: int = _ANY_RANK) -> Floats:
    return np.where(ranks.best <= k, 1.0 / ranks.best, 0.0)


def _first_rank(ranks: Ranks) -> Floats:
    return np.where(ranks.best < UNRANKED, ranks.best, np.nan)


# ---- means ---------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class QueryValues(Statistic):
    """A step: a value of each query, by a function of the ranks.

    Attributes
    ----------
    values : callable
        Takes `Ranks` and, if there is a cutoff, k. Observations are counted under its
        name.
    k : int, optional
        The cutoff.
    rel : int, optional
        The lowest grade of positives.
    """

    values: Callable[..., Floats]
    k: int | None = None
    rel: int | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        ranks = rank_relevant(block, self.rel)
        if self.k is None:
            values = self.values(ranks)
        else:
            values = self.values(ranks, self.k)
            n_fewer = int((ranks.candidates < self.k).sum())
            name = self.values.__name__
            leaves_out = False  # positives are candidates
            block.observations.count("fewer", n_fewer, self.k, name, leaves_out)
        values = np.where(ranks.n_positives > 0, values, np.nan)
        # Queries that rank nothing are "undefined" at most, and never "no_prediction".
        n_pred = np.ones(len(block), np.int64)
        return families.value_columns(values, n_pred, ranks.n_positives)


class QueryMeans(ItemMeans):
    """Means over queries of a function of the ranks of their positives.

    Parameters
    ----------
    values : callable
        As `QueryValues` takes it.
    """

    def __init__(self, values: Callable[..., Floats]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes the values of queries."""
        return QueryValues(self._values, measure.k, level_of(measure))


# ---- median --------------------------------------------------------------------------


def median_rank(ranks: Ints, weights: Floats) -> Floats:
    """Return the weighted median of ranks, rounded down.

    A sum of weights counts as half the total if rounding alone can explain the difference.

    Parameters
    ----------
    ranks : int array, shape (n,)
        `UNRANKED` for positives that were not found.
    weights : float array, shape (replicates, n)

    Returns
    -------
    float array, shape (replicates,)
        nan if nothing has a weight, or more than half was not found.

    Examples
    --------
    >>> median_rank(np.array([7, 2, 3, 1]), np.ones((1, 4)))
    array([2.])
    """
    order = np.argsort(ranks, kind="stable")
    sorted_ranks = ranks[order]
    running_sums = np.cumsum(weights[:, order], axis=1)
    medians = np.full(len(weights), np.nan)
    for replicate, sums in enumerate(running_sums):
        if not len(sums) or sums[-1] <= 0:
            continue
        half = sums[-1] / 2
        tolerance = _rounding_error(sums)
        # The two ranks next to the middle. They differ only if the weights up to a rank are
        # half of the total. Integer weights act as repeated ranks.
        low_place = np.searchsorted(sums, half - tolerance, "left")
        high_place = np.searchsorted(sums, half + tolerance, "right")
        last_place = len(sums) - 1
        low = sorted_ranks[low_place]
        high = sorted_ranks[min(high_place, last_place)]
        if high < UNRANKED:
            medians[replicate] = (int(low) + int(high)) // 2
    return medians


def _rounding_error(sums: Floats) -> float:
    """Return a bound on the rounding error of running sums of weights.

    Integer weights add up exactly. Other weights are rounded, and so is each sum.
    """
    if (sums == np.floor(sums)).all():
        return 0.0
    increments = np.diff(sums, prepend=0.0)
    n_rounded = np.count_nonzero(increments)
    max_spacing = np.spacing(2 * sums[-1])
    return float(n_rounded * max_spacing)


@dataclass(frozen=True, repr=False)
class FirstRanks(Statistic):
    """A step: the rank of the first positive of each query, column "rank".

    It is 0 without positives.
    """

    additive = False  # a median needs all rows, not only sums of them
    rel: int | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the column."""
        ranks = rank_relevant(block, self.rel)
        return {"rank": Dense(np.where(ranks.n_positives > 0, ranks.best, 0))}


class MedianFamily(Family):
    """The median over queries of the rank of the first positive."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes the ranks."""
        return FirstRanks(level_of(measure))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return the median over the queries with positives."""
        ranks = sums["rows"]["rank"].values
        weights = sums["weights"]
        has_positives = ranks > 0
        medians = median_rank(ranks[has_positives], weights[:, has_positives])
        if measure["no_reference"] == "nan" and not has_positives.all():
            is_undefined = (weights[:, ~has_positives] > 0).any(axis=1)
            medians = np.where(is_undefined, np.nan, medians)
        return medians

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the queries without positives."""
        ranks = sums["rows"]["rank"].values
        return {"no_reference": int((ranks == 0).sum())}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the rank of each query, nan if there is none."""
        ranks = rows["rank"].values
        return np.where((ranks > 0) & (ranks < UNRANKED), ranks, np.nan)


class SumOverDirections(Derived):
    """The sum over both directions of a measure @1, @5 and @10, in percent.

    Parameters
    ----------
    term : Definition
        The measure that is summed. It gets the options of the sum.
    """

    def __init__(self, term: Callable[..., Measure]) -> None:
        self._term = term

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that are added, for each direction."""
        options = dict(measure.options)
        terms = [self._term(k=k, **options) for k in (1, 5, 10)]
        return dict.fromkeys(("i2t", "t2i"), terms)

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Add the values, in percent."""
        return 100.0 * sum(values)


# ---- definitions ---------------------------------------------------------------------

retrieval_measure = partial(
    define,
    cutoff=False,
    options=(NO_POSITIVE, LEVEL),
    order_invariant=False,
    kind="retrieval",
)
"""Register a measure of queries. By default it has no cutoff, and needs ranks of positives."""

Recall = retrieval_measure(
    "Recall",
    QueryMeans(_recall),
    "Share of a query's positives that are among its first K candidates, "
    "averaged over the queries.",
    "|G_q ∩ Q_q,K| / |G_q|",
    "Biten et al. 2022, equation 1",
    cite=("biten2022",),
    cutoff=True,
)
Precision = retrieval_measure(
    "Precision",
    QueryMeans(_precision),
    "Share of a query's first K candidates that are positives, averaged over "
    "the queries.",
    "|G_q ∩ Q_q,K| / K",
    "Manning et al. 2008, section 8.4; P_K of trec_eval",
    cite=("manning2008",),
    cutoff=True,
)
HitRate = retrieval_measure(
    "HitRate",
    QueryMeans(_hit),
    "Share of the queries with a positive among their first K candidates, R@K "
    "in most papers.",
    "[G_q ∩ Q_q,K ≠ ∅]",
    "Biten et al. 2022, equation 2; Hodosh et al. 2013",
    cite=("biten2022",),
    cutoff=True,
)
MRR = retrieval_measure(
    "MRR",
    QueryMeans(_reciprocal),
    "Mean reciprocal rank of the first positive, 0 if it is beyond K.",
    "1 / min rank(G_q)",
    "Voorhees 1999, the TREC-8 question answering track report",
    cite=("voorhees1999",),
    cutoff=True,
)
MAP = retrieval_measure(
    "MAP",
    QueryMeans(_average_precision),
    "Mean over the queries of the average precision: the mean over the "
    "positives of the precision at their ranks.",
    "1/|G_q| Σ_{r≤K} P(r) [q_r ∈ G_q]",
    "Manning et al. 2008, section 8.4; map and map_cut_K of trec_eval",
    cite=("manning2008",),
    cutoff=True,
)
RPrecision = retrieval_measure(
    "R-Precision",
    QueryMeans(precision_at_r),
    "Precision among the first R candidates, for a query with R positives.",
    "|G_q ∩ Q_q,R| / R, R = |G_q|",
    "Chun et al. 2022, section 4; as eccv-caption computes it",
    cite=("chun2022",),
)
MAPAtR = retrieval_measure(
    "mAP@R",
    QueryMeans(map_at_r),
    "Mean over the first R ranks of the precision at the ranks that have a "
    "positive, for a query with R positives.",
    "(1/R) Σ_{r≤R} P(r) [q_r ∈ G_q], R = |G_q|",
    "Musgrave et al. 2020, section 4.1; as eccv-caption computes it",
    cite=("musgrave2020", "chun2022"),
)
PMRP = retrieval_measure(
    "PMRP",
    QueryMeans(precision_at_r),
    "R-Precision with plausible matches as positives.",
    "|G_q ∩ Q_q,R| / R, R = |G_q|",
    "Chun et al. 2021, section 4.2; as eccv-caption computes it",
    cite=("chun2021",),
)
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
    interval="hall",  # few queries whose positives come last dominate the mean
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
    interval="percentile",  # a jackknife is useless, as single items rarely move a median
)
Rsum = retrieval_measure(
    "Rsum",
    SumOverDirections(HitRate),
    "Sum of HitRate@1, @5 and @10 over both directions, in percent.",
    "100 Σ_{K=1,5,10} (HitRate@K(i2t) + HitRate@K(t2i))",
    "Faghri et al. 2018, the evaluation code of VSE++",
    options=(),
    bounds=(0.0, 600.0),
    cite=("faghri2018",),
)
