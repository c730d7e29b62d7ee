"""Measures of retrieval: how early the positives of a query stand in the ranking of a gallery.

Conventions
-----------
An item is a query. Ranks count from 1; how ties are ranked is the rule of the task. A query
without positives has no value (``no_reference``); one that ranks nothing, or a list that lacks
the positives, finds none of them, and has no mean rank (``undefined``).

What papers on image-text retrieval print as R@K is ``HitRate@K``: whether any positive stands among
the first K. ``Recall@K`` is the fraction of the positives that do. They differ where a query has
several positives, such as an image with five captions.

What is most similar by a matrix phi is found once, for all cutoffs and measures. phi, rankings and
relations are those of `semmetrics.metrics.relations`. Of equal numbers the first in the gallery
wins, in rankings and among the most similar items. The released code of Biten et al. reverses an
unstable sort, so that there another one may win.

Measures
--------
``Recall@K``     equation 1 of Biten et al. 2022
``HitRate@K``    equation 2
``Rsum``         100 times the sum of HitRate@1, @5 and @10 of both directions
``MedR``         median rank of the first positive, rounded down
``MeanR``        mean rank of the first positive
``MRR``          mean reciprocal rank of the first positive
``R-Precision``  precision among the first R, R being the number of positives
``mAP@R``        mean over the first R ranks of the precision at those that hold a positive
``PMRP``         R-Precision on plausible matches

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.2; their released code,
furkanbiten/ncs_metric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.columns import Dense
from semmetrics.core.ragged import (
    Floats,
    Ints,
    cell_keys,
    distinct_codes,
    lengths,
    offsets,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.core.ranks import top_k
from semmetrics.core.same import by_value
from semmetrics.data.tasks import UNRANKED, Block, Ranks, RetrievalTask
from semmetrics.errors import InputError
from semmetrics.messages import counted, pluralize
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Frame,
    ItemSums,
    Measure,
    Option,
    Statistic,
    Sums,
)
from semmetrics.metrics.families import (
    CAUSES,
    ItemMeans,
    SumOverParts,
    WithoutLabels,
    policy_option,
    value_columns,
)
from semmetrics.metrics.formulas import divide, recall
from semmetrics.metrics.registry import add
from semmetrics.metrics.relations import (
    Queries,
    Relation,
    Retrieved,
    as_matrix,
    check_cutoffs,
    check_places,
    check_relation,
    sides,
    without,
)


@by_value()
@dataclass(frozen=True, eq=False)
class MostSimilar:
    """The gallery's most similar items of each query: found once, used for every cutoff.

    Attributes
    ----------
    values : array, shape (queries, n), float64
        Their phi, falling; 0 where there are fewer items.
    places : array, shape (queries, n), int64
        Their places in the gallery; -1 where there are fewer items.
    sizes : array, shape (queries,), int64
        How many items each query can retrieve: the gallery without what is left out.
    """

    values: Floats
    places: Ints
    sizes: Ints

    def __len__(self) -> int:
        return len(self.values)

    def part(self, rows: Any) -> MostSimilar:
        """Return those of some queries: an int array, or a slice."""
        return MostSimilar(self.values[rows], self.places[rows], self.sizes[rows])

    def relation(self, m: int) -> Relation:
        """Return the m most similar items of each query: the extended ground truth of equation 4.

        Raises
        ------
        InputError
            If fewer were found.
        """
        _check_found(self, m)
        places = self.places[:, :m]
        return offsets((places >= 0).sum(axis=1)), places[places >= 0]


def top_items(
    similarities: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
) -> Ints:
    """Rank the gallery for each query, as far as its k best items.

    Parameters
    ----------
    similarities : array, shape (images, captions), or what gives rows by slices
        Higher is more similar.
    k : int
        From 1; a gallery with fewer items gives fewer.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that are not ranked, such as its ground truth.

    Returns
    -------
    array, shape (queries, k or the size of the gallery), int64
        Places in the gallery, best first; of equal similarities the first. -1 where none is left.

    Raises
    ------
    InputError
        If a similarity is NaN; names its row and column.

    Examples
    --------
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 2)
    array([[1, 2],
           [0, 2]])
    >>> top_items([[0.1, 0.9, 0.4], [0.5, 0.2, 0.5]], 1, queries="columns").ravel()
    array([1, 0, 1])
    """
    matrix = as_matrix(similarities, "similarities")
    return most_similar(matrix, k, queries=queries, leave_out=leave_out).places


def most_similar(
    phi: Any, k: int, *, queries: Queries = "rows", leave_out: Any = None
) -> MostSimilar:
    """Find the k items of the gallery that are most similar to each query.

    Parameters
    ----------
    phi : array, shape (images, captions), or what gives rows by slices
    k : int
        From 1: the largest cutoff, or m, that is needed.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        Items of each query that do not count: its ground truth, where that is left out.

    Returns
    -------
    MostSimilar

    Raises
    ------
    InputError
        If a number is NaN, or the relation does not fit the matrix.

    Examples
    --------
    >>> best = most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2)
    >>> best.values.tolist(), best.places.tolist()
    ([[2.0, 1.0], [3.0, 0.1]], [[0, 2], [1, 2]])
    >>> own = np.array([0, 1, 2]), np.array([0, 1])
    >>> most_similar([[2.0, 0.5, 1.0], [0.0, 3.0, 0.1]], 2, leave_out=own).places.tolist()
    [[2, 1], [2, 0]]
    """
    matrix = as_matrix(phi)
    n_queries, width = sides(matrix, queries)
    check_cutoffs(k=k)
    sizes = np.full(n_queries, width)
    most = 0
    if leave_out is not None:
        leave_out = check_relation(leave_out, n_queries, width, "leave_out")
        own = lengths(leave_out[0])
        sizes, most = sizes - own, int(own.max(initial=0))
    k = min(k, width)
    found = np.zeros((n_queries, k)), np.full((n_queries, k), -1)
    if n_queries and k:
        values, places = top_k(matrix, min(k + most, width), columns=queries == "columns")
        if leave_out is not None:
            places, came = without(places, leave_out, width)
            values = np.where(places >= 0, np.take_along_axis(values, came, axis=1), 0.0)
        n = min(k, places.shape[1])
        found[0][:, :n], found[1][:, :n] = values[:, :n], places[:, :n]
    return MostSimilar(*found, sizes)


def similar_images(
    phi: Any,
    captions: Any,
    m: int,
    *,
    depth: int = 10,
    itself: bool = False,
    best: MostSimilar | None = None,
) -> Ints:
    """Find the images that are similar to each image by its captions, as the released code does.

    Each caption of an image has a list of its ``depth`` most similar images. The phi of an image
    are added over the lists that it is in; the images with the largest sums are the similar ones,
    of equal sums the one that a list has first.

    Parameters
    ----------
    phi : array, shape (images, captions), or what gives rows by slices
    captions : pair of int arrays
        The captions of each image.
    m : int
        From 1: how many images are wanted; ``threshold`` there.
    depth : int
        From 1; in the released code the last of its cutoffs.
    itself : bool
        Whether an image may be similar to itself (``include_anns`` there).
    best : MostSimilar, optional
        The most similar images of each caption, at least ``depth`` of them and with nothing left
        out; found where it is not given.

    Returns
    -------
    array, shape (images, m or the number of images), int64
        Most similar first; -1 where the lists hold fewer images.

    Raises
    ------
    InputError
        If a number is NaN, or the relation does not fit the matrix.

    References
    ----------
    Biten et al., 2022, the method ``get_intersection`` of the released code.

    Examples
    --------
    >>> phi = np.array([[5.0, 4.0, 1.0, 0.0], [2.0, 0.0, 6.0, 3.0], [0.0, 3.0, 2.0, 7.0]])
    >>> captions = np.array([0, 2, 3, 4]), np.array([0, 1, 2, 3])
    >>> similar_images(phi, captions, 1, depth=2).ravel().tolist()
    [2, 2, 1]
    """
    matrix = as_matrix(phi)
    n_images, n_captions = matrix.shape
    check_cutoffs(m=m, depth=depth)
    indptr, indices = check_relation(captions, n_images, n_captions, "captions")
    depth = max(1, min(depth, n_images))
    if best is None:
        best = most_similar(matrix, depth, queries="columns")
    if len(best) != n_captions or (best.sizes != n_images).any():
        raise InputError("other-items", name="best", found=pluralize(len(best), "caption"),
                         wanted="all captions, with nothing left out")  # fmt: skip
    _check_found(best, depth)
    image = np.repeat(row_numbers(indptr), depth)
    other, values = (part[indices, :depth].ravel() for part in (best.places, best.values))
    if not itself:
        image, other, values = (part[other != image] for part in (image, other, values))
    cells, first, cell = np.unique(image * n_images + other, return_index=True, return_inverse=True)
    sums = np.bincount(cell, values, len(cells))
    order = np.lexsort((first, -sums, cells // n_images))
    owner = (cells // n_images)[order]
    counts = np.bincount(owner, minlength=n_images)
    rank = np.arange(len(owner)) - np.repeat(offsets(counts)[:-1], counts)
    found = np.full((n_images, min(m, n_images)), -1)
    found[owner[rank < m], rank[rank < m]] = (cells % n_images)[order][rank < m]
    return found


def captions_of_images(images: ArrayLike, captions: Any) -> Relation:
    """Return all captions of the images of each row: the extended ground truth of image queries.

    A caption of several images counts once.

    Parameters
    ----------
    images : int array, shape (queries, m)
        As `similar_images` gives them.
    captions : pair of int arrays
        The captions of each image.

    Returns
    -------
    pair of int arrays
        The captions of each query.

    Raises
    ------
    InputError
        If an image has no entry in the relation, or it is none.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in captions_of_images(np.array([[1], [0]]), captions)]
    [[0, 1, 3], [2, 0, 1]]
    """
    indptr, indices = check_relation(captions, None, None, "captions")
    table = check_places(images, len(indptr) - 1, "images")
    kept = table >= 0
    found, flat = take_rows(indptr, table[kept])
    owner = np.nonzero(kept)[0]
    counts = np.bincount(owner, lengths(found), len(table)).astype(np.int64)
    rows, codes = row_numbers(offsets(counts)), indices[flat]
    keys = cell_keys(offsets(counts), codes, int(codes.max(initial=-1)) + 1)
    first = np.sort(np.unique(keys, return_index=True)[1])
    return offsets(np.bincount(rows[first], minlength=len(table))), codes[first]


def images_of_captions(images: ArrayLike, captions: Any, n_captions: int) -> Relation:
    """Return the images similar to each caption's own: the extended ground truth of captions.

    Parameters
    ----------
    images : int array, shape (images, m)
        As `similar_images` gives them.
    captions : pair of int arrays
        The captions of each image.
    n_captions : int

    Returns
    -------
    pair of int arrays
        The images of each caption, rising.

    Raises
    ------
    InputError
        If the images are not those of the relation, or it is none.

    Examples
    --------
    >>> captions = np.array([0, 2, 3]), np.array([0, 1, 2])
    >>> [part.tolist() for part in images_of_captions(np.array([[1], [0]]), captions, 3)]
    [[0, 1, 2, 3], [1, 1, 0]]
    """
    indptr, indices = check_relation(captions, None, n_captions, "captions")
    table = check_places(images, len(indptr) - 1, "images")
    if len(table) != len(indptr) - 1:
        raise InputError("other-items", name="images", found=counted(table, "image"),
                         wanted=f"{len(indptr) - 1:,}, as captions= has")  # fmt: skip
    order = np.argsort(indices, kind="stable")
    wide = table[row_numbers(indptr)[order]]
    owner = np.repeat(indices[order], (wide >= 0).sum(axis=1))
    counts = np.bincount(owner, minlength=n_captions)
    of, found, _ = distinct_codes(offsets(counts), wide[wide >= 0], len(table))
    return of, found


def best_of(retrieved: Retrieved, k: int, given: MostSimilar | None) -> MostSimilar:
    """Return the k most similar items of the queries of a ranking, found if they are not given.

    Raises
    ------
    InputError
        If fewer are given, or those of another number of queries.
    """
    k = max(1, min(k, retrieved.width))
    if given is None:
        rows, queries = retrieved.own_phi(), retrieved.queries
        given = most_similar(rows, k, queries=queries, leave_out=retrieved.leave_out)
    if len(given) != len(retrieved.places):
        raise InputError("other-items", name="best", found=pluralize(len(given), "query"),
                         wanted=f"{len(retrieved.places):,}, as top has")  # fmt: skip
    _check_found(given, k)
    return given


def _check_found(best: MostSimilar, m: int) -> None:
    """Refuse to use more of the most similar items than were found; a smaller gallery is fine.

    Raises
    ------
    InputError
        If so.
    """
    found = best.values.shape[1]
    if m < 1 or (m > found and (best.sizes > found).any()):
        raise InputError("too-few-similar", found=found, wanted=m)


RankBlock: TypeAlias = Block[RetrievalTask]

NO_POSITIVE = policy_option("no_reference", "noref", "skip", "queries without positives")
UNFOUND = policy_option(
    "undefined", "undef", "nan", "queries whose list has none of their positives"
)


@dataclass(frozen=True)
class RanksOfPositives:
    """A step: the ranks of the positives of each query."""

    def compute(self, block: RankBlock) -> Ranks:
        """Count what is nearer than the positives."""
        ranks = block.task.ranks(block.start, block.stop)
        block.note("queries", len(block))
        block.note("undecided", int(ranks.undecided.sum()))
        block.note("without_positives", int((ranks.number == 0).sum()))
        return ranks


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
    rows = row_numbers(ranks.indptr)
    within = ranks.ranks <= ranks.number[rows]
    precisions = np.where(within, (positions(ranks.indptr) + 1) / ranks.ranks, 0.0)
    total = np.bincount(rows, precisions, len(ranks.candidates))
    return divide(total, ranks.number)


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
        high = ordered[min(np.searchsorted(line, line[-1] / 2 + near, "right"), len(line) - 1)]
        if high < UNRANKED:
            found[place] = (int(low) + int(high)) // 2
    return found


@dataclass(frozen=True)
class QueryValues(ItemSums):
    """A step: a value of each query, by a function of the ranks and perhaps of a cutoff."""

    values: Callable[..., Floats]
    k: int | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        ranks = block.get(RanksOfPositives())
        if self.k is None:
            values = self.values(ranks)
        else:
            values = self.values(ranks, self.k)
            fewer = "fewer", self.k, self.values.__name__, False
            block.note(fewer, int((ranks.candidates < self.k).sum()))
        values = np.where(ranks.number > 0, values, np.nan)
        return value_columns(values, np.ones(len(block), np.int64), ranks.number)


class QueryMeans(ItemMeans):
    """Means over queries of a function of the ranks of their positives."""

    def __init__(self, values: Callable[..., Floats]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the values of queries."""
        return QueryValues(self._values, measure.k)


def _recall(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    found: Floats = recall(ranks.hits(k), ranks.number)
    return found


def _hit(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    return (ranks.best <= k).astype(np.float64)


def _reciprocal(ranks: Ranks, k: int = UNRANKED - 1) -> Floats:
    return np.where(ranks.best <= k, 1.0 / ranks.best, 0.0)


def _first_rank(ranks: Ranks) -> Floats:
    return np.where(ranks.best < UNRANKED, ranks.best, np.nan)


@dataclass(frozen=True)
class FirstRanks:
    """A step: the rank of the first positive of each query, column "rank"; 0 without positives."""

    additive: bool = False
    labels: frozenset[str] = frozenset()

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the column."""
        ranks = block.get(RanksOfPositives())
        return {"rank": Dense(np.where(ranks.number > 0, ranks.best, 0))}


class MedianFamily(WithoutLabels):
    """The median over queries of the rank of the first positive."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the ranks."""
        return FirstRanks()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return the median of the queries with positives."""
        rows: Any = sums["rows"]
        ranks, weights = rows["rank"].values, sums["weights"]
        found = median_rank(ranks[ranks > 0], weights[:, ranks > 0])
        if measure["no_reference"] == "nan" and (ranks == 0).any():
            without = (weights[:, ranks == 0] > 0).any(axis=1)
            found = np.where(without, np.nan, found)
        return found

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the queries without positives."""
        rows: Any = sums["rows"]
        number = int((rows["rank"].values == 0).sum())
        return {CAUSES[3]: number} if number else {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the rank of each query; nan where there is none."""
        columns: Any = rows
        ranks = columns["rank"].values
        return np.where((ranks > 0) & (ranks < UNRANKED), ranks, np.nan)


def _add(
    name: str, family: Any, summary: str, equation: str, source: str, **more: Any
) -> Definition:
    settings = {"cutoff": False, "options": (NO_POSITIVE,), "order_invariant": False, **more}
    return add(
        Definition(
            name=name,
            family=family,
            summary=summary,
            equation=equation,
            source=source,
            kind="retrieval",
            **settings,
        )
    )


_BITEN: dict[str, Any] = {"cite": ("biten2022",)}
Recall = _add(
    "Recall",
    QueryMeans(_recall),
    "Share of a query's positives among its first K candidates, mean over queries.",
    "|G_q ∩ Q_q,K| / |G_q|",
    "Biten et al. 2022, equation 1",
    cutoff=True,
    **_BITEN,
)
HitRate = _add(
    "HitRate",
    QueryMeans(_hit),
    "Share of queries with a positive among their first K candidates: R@K in most papers.",
    "[G_q ∩ Q_q,K ≠ ∅]",
    "Biten et al. 2022, equation 2; Hodosh et al. 2013",
    cutoff=True,
    **_BITEN,
)
MRR = _add(
    "MRR",
    QueryMeans(_reciprocal),
    "Mean reciprocal rank of the first positive; 0 where it is beyond K.",
    "1 / min rank(G_q)",
    "Voorhees 1999, the TREC-8 question answering track report",
    cutoff=True,
    cite=("voorhees1999",),
)
RPrecision = _add(
    "R-Precision",
    QueryMeans(precision_at_r),
    "Precision among the first R candidates, R being the number of the query's positives.",
    "|G_q ∩ Q_q,R| / R, R = |G_q|",
    "Chun et al. 2022, section 4; as eccv-caption computes it",
    cite=("chun2022",),
)
MAPAtR = _add(
    "mAP@R",
    QueryMeans(map_at_r),
    "Mean over the first R ranks of the precision at those that hold a positive.",
    "(1/R) Σ_{r≤R} P(r) [q_r ∈ G_q], R = |G_q|",
    "Musgrave et al. 2020, section 4.1; as eccv-caption computes it",
    cite=("musgrave2020", "chun2022"),
)
PMRP = _add(
    "PMRP",
    QueryMeans(precision_at_r),
    "R-Precision where the positives are plausible matches.",
    "|G_q ∩ Q_q,R| / R, R = |G_q|",
    "Chun et al. 2021, section 4.2; as eccv-caption computes it",
    cite=("chun2021",),
)
MeanR = _add(
    "MeanR",
    QueryMeans(_first_rank),
    "Mean rank of the first positive, from 1.",
    "min rank(G_q)",
    "Faghri et al. 2018, the evaluation code of VSE++",
    options=(NO_POSITIVE, UNFOUND),
    bounds=(1.0, np.inf),
    higher_is_better=False,
    interval="hall",  # a few queries whose positives come last make the mean
    cite=("faghri2018",),
)
MedR = _add(
    "MedR",
    MedianFamily(),
    "Median rank of the first positive, from 1, rounded down.",
    "⌊median of min rank(G_q)⌋",
    "Faghri et al. 2018, the evaluation code of VSE++",
    options=(
        Option(
            "no_reference", "noref", "skip", ("skip", "nan"),
            help="policy for queries without positives",
        ),
    ),
    bounds=(1.0, np.inf),
    higher_is_better=False,
    interval="percentile",  # a median that few items move has no jackknife
    cite=("faghri2018",),
)  # fmt: skip
_RSUM = tuple(HitRate(k=k) for k in (1, 5, 10))
Rsum = _add(
    "Rsum",
    SumOverParts({"i2t": _RSUM, "t2i": _RSUM}, scale=100.0),
    "Sum over both directions of HitRate@1, @5 and @10, in percent.",
    "100 Σ_{K=1,5,10} (HitRate@K(i2t) + HitRate@K(t2i))",
    "Faghri et al. 2018, the evaluation code of VSE++",
    options=(),
    bounds=(0.0, 600.0),
    cite=("faghri2018",),
)
