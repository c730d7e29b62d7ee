"""Measures of rankings that are judged by a matrix phi of semantic similarity.

Conventions
-----------
An item is a query. phi is an additional matrix with the shape of the run. The values are
computed by `semmetrics.metrics.phi_scores`. The measures count an undefined
value as 0, as the released code of Biten et al. does, unless a policy says otherwise. A query
without a ranking has retrieved nothing, so its value is 0.

Measures
--------
``NCS@K``     normalised cumulative semantic score: `semmetrics.metrics.ncs`
``SR(m=)@K``  semantic recall: `semmetrics.metrics.semantic_recall`
``nDCG@K``    with phi as the gain: `semmetrics.metrics.ndcg`
``Nsum``      100 times the sum of NCS@1, @5 and @10 of both directions

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, sections 3.2 and 4.1, and the
released code, furkanbiten/ncs_metric.
Järvelin and Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS
20.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast

import numpy as np

from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.data.rankings import DEPTH, PHI
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.retrieval import UNRANKED
from semmetrics.errors import InputError
from semmetrics.metrics import phi_scores, phi_views, retrieval
from semmetrics.metrics.definition import Measure, Statistic
from semmetrics.metrics.families import policy_option, value_columns
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import MeasureOption, choice_option, is_cutoff
from semmetrics.metrics.nearest_items import MostSimilar
from semmetrics.metrics.phi_matrix import Queries
from semmetrics.metrics.phi_scores import Counted, Discount, Gain, Variant
from semmetrics.metrics.phi_views import LEFT_OUT, PhiKey, PhiView
from semmetrics.metrics.relations import Relation, is_related
from semmetrics.metrics.retrieval import QueryMeans, RankBlock, retrieval_measure

# ---- rankings ------------------------------------------------------------------------


def needed_depth(measure: Measure, positives: int) -> tuple[int, int]:
    """Return how many ranks, and how many most similar items, a measure needs.

    Parameters
    ----------
    measure : Measure
    positives : int
        The largest number of positives of a query, which may be left out.

    Raises
    ------
    InputError
        If the measure has no cutoff.
    """
    if measure.k is None:
        wanted = f"{measure.definition.name}@10"
        raise InputError("no-cutoff", measure=measure, wanted=wanted)
    n_ranks = measure.k
    if measure["ground_truth"] == LEFT_OUT:
        n_ranks += positives
    n_similar = int(measure["m"] or 0)
    extended = str(measure["extended"])
    if not n_similar and extended.isdecimal():
        n_similar = int(extended)
    return n_ranks, max(measure.k, n_similar)


@memoised
def _first_candidates(block: RankBlock) -> Ints:
    """Return the first candidates of each query, as many as any measure needs.

    Shorter rankings are padded with -1. There is one more column than the longest
    ranking needs, so each ranking visibly ends.

    Returns
    -------
    int array, shape (queries, ranks)
    """
    task = block.task
    rankings = task.first(block.start, block.stop, task.extra_inputs[DEPTH])
    longest = max(map(len, rankings), default=0)
    table = np.full((len(block), longest + 1), -1)
    for row, candidates in zip(table, rankings, strict=True):
        row[: len(candidates)] = candidates
    return table


class JudgedRankings(NamedTuple):
    """The rankings of some queries of one fold, and the phi that judges them.

    Attributes
    ----------
    key : PhiKey
    k : int
        The cutoff.
    top : int array, shape (queries, ranks)
        Columns of phi (or rows, if queries are columns), best first. -1 at the end of a
        ranking.
    phi : array, shape (images, captions), or an object that gives rows by slices
    queries : {"rows", "columns"}
        Which axis of phi the queries are.
    rows : int array, shape (queries,)
        The query of phi for each row of ``top``.
    best : MostSimilar
        The most similar items of these queries.
    leave_out : pair of int arrays, or None
        The positives of each query, if they are left out.
    """

    key: PhiKey
    k: int
    top: Ints
    phi: Any
    queries: Queries
    rows: Ints
    best: MostSimilar
    leave_out: Relation | None

    def count_ranked(self, width: int) -> Ints:
        """Count the candidates that each query ranks, without ``leave_out``.

        Parameters
        ----------
        width : int
            The number of candidates in the gallery.
        """
        is_ranked = self.top >= 0
        if self.leave_out is not None:
            is_ranked &= ~is_related(self.top, self.leave_out, width)
        return np.asarray(is_ranked.sum(axis=1))


def _judge_by_fold(
    block: RankBlock, measure: Measure
) -> Iterator[tuple[Ints, JudgedRankings]]:
    """Yield the queries of each fold that phi judges, and their rankings.

    Queries are numbered from 0 in the block.
    """
    task = block.task
    # The row of each query in the run, -1 without a ranking.
    rows = task.rows[block.start : block.stop]
    folds: list[int | None] = [None]
    fold_of_query = None
    if task.folds is not None:
        fold_of_query = task.folds[0][block.start : block.stop]
        folds = np.unique(fold_of_query[rows >= 0]).tolist()
    for fold in folds:
        rows_of_fold = rows
        if fold_of_query is not None:
            rows_of_fold = np.where(fold_of_query == fold, rows, -1)
        if not (rows_of_fold >= 0).any():
            continue
        key = PhiKey(task, str(measure["phi"]), fold, str(measure["ground_truth"]))
        view = phi_views.phi_view(key.task, key.name, key.fold)
        places = view.phi.places(rows_of_fold)
        queries = np.flatnonzero(places >= 0)
        yield queries, _judge(block, measure, key, view, queries, places[queries])


def _judge(
    block: RankBlock,
    measure: Measure,
    key: PhiKey,
    view: PhiView,
    queries: Ints,
    places: Ints,
) -> JudgedRankings:
    """Return the rankings of some queries, with the phi that judges them."""
    top = view.columns(_first_candidates(block)[queries])
    leave_out = None
    if key.ground_truth == LEFT_OUT:
        leave_out = view.positives_of(queries + block.start)
    return JudgedRankings(
        key=key,
        k=_cutoff_of(measure),
        top=top,
        phi=view.phi.matrix,
        queries=view.phi.queries,
        rows=places,
        best=phi_views.most_similar_items(*key).part(places),
        leave_out=leave_out,
    )


def _cutoff_of(measure: Measure) -> int:
    return int(measure.k or 1)


@dataclass(frozen=True, repr=False)
class PhiValues(Statistic):
    """A step: a value of each query, by a function of its ranking and phi.

    Without phi, nDCG takes the grades of the positives.

    Attributes
    ----------
    values, ties : callables
        As `PhiMeans` takes them.
    measure : Measure
    """

    values: Callable[..., Floats]
    measure: Measure
    ties: Callable[..., Bools] | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        task = block.task
        measure = self.measure
        n_queries = len(block)
        # With counts of 1, the cause of every missing value is "undefined".
        ones = np.ones(n_queries, np.int64)
        if str(measure[PHI]) not in task.extra_inputs.get(PHI, {}):
            return value_columns(_ndcg_of_grades(block, measure), ones, ones)
        values = np.zeros(n_queries)
        n_ranked = np.zeros(n_queries, np.int64)
        n_tied = 0
        for queries, rankings in _judge_by_fold(block, measure):
            n_ranked[queries] = rankings.count_ranked(task.scores.shape[1])
            fold_values = self.values(rankings, measure)[:, 0]
            if self.ties is not None:
                is_tied = self.ties(rankings, measure) & ~np.isnan(fold_values)
                n_tied += int(is_tied.sum())
            values[queries] = fold_values
        k = _cutoff_of(measure)
        leaves_out = str(measure["ground_truth"]) == LEFT_OUT
        n_fewer = int((n_ranked < k).sum())
        block.observations.count("fewer", n_fewer, k, str(measure), leaves_out)
        block.observations.count("tied-phi", n_tied, str(measure))
        return value_columns(values, ones, ones)


class PhiMeans(QueryMeans):
    """Means over queries of a function of phi.

    Parameters
    ----------
    values : callable
        Takes `JudgedRankings` and the measure, and returns values of shape (queries, 1).
    ties : callable, optional
        Takes the same, and returns for which queries a tie of phi decides the value.
    """

    def __init__(
        self, values: Callable[..., Floats], ties: Callable[..., Bools] | None = None
    ) -> None:
        super().__init__(values)
        self._ties = ties

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes the values of queries."""
        return PhiValues(self._values, measure, self._ties)


# ---- NCS -----------------------------------------------------------------------------


def _ncs(rankings: JudgedRankings, measure: Measure) -> Floats:
    """Return NCS of each query."""
    return phi_scores.ncs(
        rankings.top,
        rankings.phi,
        rankings.k,
        queries=rankings.queries,
        leave_out=rankings.leave_out,
        extended=_extended_of(measure),
        best=rankings.best,
        rows=rankings.rows,
    )


def _ncs_ties(rankings: JudgedRankings, measure: Measure) -> Bools:
    """Return for which queries a tie of phi decides NCS.

    Only the extended ground truth has ties.
    """
    extended = _extended_of(measure)
    if extended is None:
        return np.zeros(len(rankings.top), np.bool_)
    m = rankings.k
    if isinstance(extended, int):
        m = extended
    return _tied_queries(rankings, m, "phi")


def _extended_of(measure: Measure) -> int | Literal["k"] | None:
    """Return the size of the extended ground truth, "k" for the cutoff."""
    extended = str(measure["extended"])
    if extended == "none":
        return None
    if extended == "k":
        return "k"
    return int(extended)


def _tied_queries(rankings: JudgedRankings, m: int, counts: Counted) -> Bools:
    """Return for which queries a tie decides which m items are the most similar."""
    return phi_scores.tied_queries(
        rankings.top,
        rankings.phi,
        rankings.k,
        m,
        counts=counts,
        queries=rankings.queries,
        leave_out=rankings.leave_out,
        best=rankings.best,
        rows=rankings.rows,
    )


# ---- semantic recall -----------------------------------------------------------------

_COUNTED_BY_VARIANT: dict[Variant, Counted] = {
    "hard": "number",
    "soft": "phi",
    "weighted": "phi",
    "hit": "any",
}


def _recall(rankings: JudgedRankings, measure: Measure) -> Floats:
    """Return the semantic recall of each query."""
    m = int(str(measure["m"]))
    if measure["similar"] == "items":
        relevant = rankings.best.relation(m)
    else:
        relevant = _items_of_images(rankings, measure, "first")
    values = _recall_of(rankings, measure, relevant)
    # Without any phi above 0, the most similar items would be arbitrary.
    has_similar = rankings.best.values[:, :m].sum(axis=1) > 0
    return np.where(has_similar[:, None], values, np.nan)


def _recall_of(
    rankings: JudgedRankings, measure: Measure, relevant: Relation
) -> Floats:
    """Return the semantic recall of each query, given its extended ground truth."""
    return phi_scores.semantic_recall(
        rankings.top,
        relevant,
        rankings.k,
        variant=cast("Variant", measure["variant"]),
        phi=rankings.phi,
        queries=rankings.queries,
        leave_out=rankings.leave_out,
        rows=rankings.rows,
    )


def _items_of_images(
    rankings: JudgedRankings, measure: Measure, ties: Literal["first", "last"]
) -> Relation:
    """Return the extended ground truth of some queries by similar images."""
    m = int(str(measure["m"]))
    depth = int(str(measure["depth"]))
    all_indptr, all_items = phi_views.items_of_similar_images(
        *rankings.key, m, depth, ties
    )
    indptr, places = take_rows(all_indptr, rankings.rows)
    return indptr, all_items[places]


def _recall_ties(rankings: JudgedRankings, measure: Measure) -> Bools:
    """Return for which queries a tie of phi, or of sums of phi, decides the value."""
    if measure["similar"] == "items":
        counts = _COUNTED_BY_VARIANT[cast("Variant", measure["variant"])]
        return _tied_queries(rankings, int(str(measure["m"])), counts)
    first_items = _items_of_images(rankings, measure, "first")
    first_values = _recall_of(rankings, measure, first_items)
    last_items = _items_of_images(rankings, measure, "last")
    last_values = _recall_of(rankings, measure, last_items)
    is_close = np.isclose(
        first_values, last_values, rtol=1e-12, atol=0.0, equal_nan=True
    )
    return np.asarray(~is_close[:, 0])


# ---- nDCG ----------------------------------------------------------------------------


def _ndcg(rankings: JudgedRankings, measure: Measure) -> Floats:
    """Return nDCG of each query by phi."""
    return phi_scores.ndcg(
        rankings.top,
        rankings.phi,
        rankings.k,
        gain=cast("Gain", measure["gain"]),
        discount=cast("Discount", measure["discount"]),
        queries=rankings.queries,
        leave_out=rankings.leave_out,
        best=rankings.best,
        rows=rankings.rows,
    )


def _ndcg_of_grades(block: RankBlock, measure: Measure) -> Floats:
    """Return nDCG of each query by the grades of its positives, by default 1."""
    ranks = retrieval.rank_positives(block)
    grades = np.ones(len(ranks.ranks))
    if ranks.grades is not None:
        grades = ranks.grades
    query = row_numbers(ranks.indptr)
    by_falling_grade = np.lexsort((-grades, query))
    ideal_ranks = positions(ranks.indptr) + 1
    sums = _sum_gains(block, measure, query, grades, ranks.ranks)
    ideal_sums = _sum_gains(
        block, measure, query, grades[by_falling_grade], ideal_ranks
    )
    if not np.isfinite([sums, ideal_sums]).all():
        raise InputError(
            "infinite-sum",
            role="the gain of a candidate: the grade, or 2 to the power of the grade",
        )
    return divide(sums, ideal_sums)


def _sum_gains(
    block: RankBlock, measure: Measure, query: Ints, grades: Floats, ranks: Ints
) -> Floats:
    """Sum the discounted gains of each query up to the cutoff."""
    gains = phi_scores.discounted_gains(
        grades,
        ranks,
        cast("Gain", measure["gain"]),
        cast("Discount", measure["discount"]),
    )
    is_inside = ranks <= (measure.k or UNRANKED - 1)
    sums = np.bincount(query, np.where(is_inside, gains, 0.0), len(block))
    return sums.astype(np.float64, copy=False)


# ---- definitions ---------------------------------------------------------------------


def _check_extended(value: str) -> None:
    """Raise an error unless a value is "none", "k" or a number of items."""
    if value in ("none", "k"):
        return
    is_short = value.isdecimal() and len(value) < 11
    if not is_short or not is_cutoff(int(value)):
        wanted = "none, k or a positive integer"
        raise InputError("bad-option", name="extended", value=value, wanted=wanted)


_PHI = MeasureOption(
    "phi",
    "phi",
    "default",
    help="the name of one of the matrices given as phi, or the measure that "
    "computes phi from captions= (--captions): CIDEr-D, CIDEr, METEOR, SPICE "
    "or BagSim",
)
_GROUND_TRUTH = choice_option(
    "ground_truth",
    f"kept {LEFT_OUT}",
    "whether the query's own positives count like all other candidates, or are "
    "left out of the retrieved and of the most similar ones",
    short="gt",
)
_NOTHING_SIMILAR = policy_option(
    "undefined", "undef", "0", "queries for which no candidate has a phi above 0"
)
_NCS_OPTIONS = (
    _PHI,
    _GROUND_TRUTH,
    MeasureOption(
        "extended",
        "ext",
        "none",
        check=_check_extended,
        help="none is the released code; a number such as 20, or k, is equation 5 as it is "
        "written, with so many most similar items for the extended ground truth",
    ),
    _NOTHING_SIMILAR,
)
NCS = retrieval_measure(
    "NCS",
    PhiMeans(_ncs, _ncs_ties),
    "Normalised cumulative semantic score: the sum of phi over the retrieved "
    "candidates, divided by the largest possible sum.",
    "Σ_{j∈Q_q,K} φ_qj / Σ_{l∈B_q,K} φ_ql, B_q,K the K most similar",
    "Biten et al. 2022, equation 5, as the released code computes it",
    cite=("biten2022",),
    options=_NCS_OPTIONS,
    cutoff=True,
    needs=frozenset({PHI}),
)
SR = retrieval_measure(
    "SR",
    PhiMeans(_recall, _recall_ties),
    "Semantic recall: the share of the extended ground truth that is among the "
    "first K candidates.",
    "|G̃_q ∩ Q_q,K| / |G̃_q|",
    "Biten et al. 2022, equation 4, and the released code",
    cite=("biten2022",),
    options=(
        MeasureOption(
            "m",
            "m",
            kind=int,
            required=True,
            within=(1, np.inf),
            help="the number of items, or images, that extend the ground truth",
        ),
        _PHI,
        choice_option(
            "variant",
            "hard soft weighted hit",
            "how items of the extended ground truth count: equally (hard), by phi "
            "(weighted), by phi divided by their number (soft), or whether any is "
            "retrieved (hit)",
        ),
        choice_option(
            "similar",
            "items images",
            "the extended ground truth is the m most similar items "
            "(equation 4), or all captions of the m most similar images (the released code)",
        ),
        MeasureOption(
            "depth",
            "depth",
            10,
            kind=int,
            within=(1, np.inf),
            help="for similar=images, the number of images that each caption lists",
        ),
        _GROUND_TRUTH,
        _NOTHING_SIMILAR,
    ),
    cutoff=True,
    needs=frozenset({PHI}),
)
NDCG = retrieval_measure(
    "nDCG",
    PhiMeans(_ndcg),
    "Normalised discounted cumulative gain, with phi as the relevance, or the "
    "grades of the positives without phi.",
    "Σ_{r≤K} g(φ_r) d(r) / Σ_{r≤K} g(φ*_r) d(r), φ* the largest",
    "Järvelin and Kekäläinen 2002, section 2",
    cite=("jarvelin2002",),
    options=(
        _PHI,
        choice_option("gain", "linear exponential", "phi, or 2^phi - 1"),
        choice_option(
            "discount",
            "log2 jarvelin2002",
            "the discount of rank r: 1/log2(r + 1), or 1/log2 r from rank 2",
        ),
        _GROUND_TRUTH,
        _NOTHING_SIMILAR,
    ),
    cutoff=True,
    needs=frozenset({PHI}),
)
Nsum = retrieval_measure(
    "Nsum",
    retrieval.SumOverDirections(NCS),
    "Sum of NCS@1, @5 and @10 over both directions, in percent.",
    "100 Σ_{K=1,5,10} (NCS@K(i2t) + NCS@K(t2i))",
    "Biten et al. 2022, table 3",
    cite=("biten2022",),
    options=_NCS_OPTIONS,
    bounds=(0.0, 600.0),
    needs=frozenset({PHI}),
)
