"""Rankings judged by a matrix phi of semantic similarity.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction; it, rankings
(``top``) and relations are those of `semmetrics.metrics.relations`. Of equal numbers the first in
the gallery wins, unlike in the released code of Biten et al., where any may.

Values are those of each query, in [0, 1] where phi is not negative, higher is better; papers print
means in percent. nan stands for what is not defined, of which each function says the one cause. The
measures count it as 0, as the released code does, unless a policy says otherwise. An item of theirs
is a query; phi is a matrix beside the run, of its shape. A query that nothing ranks has retrieved
nothing: its value is 0.

Measures
--------
``NCS@K``     normalised cumulative semantic score: `semmetrics.metrics.ncs`
``SR(m=)@K``  semantic recall: `semmetrics.metrics.semantic_recall`
``nDCG@K``    with phi as the gain: `semmetrics.metrics.ndcg`
``Nsum``      100 times the sum of NCS@1, @5 and @10 of both directions

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, sections 3.2 and 4.1; their released
code, furkanbiten/ncs_metric.
Järvelin and Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.backend import refuse_masked, to_numpy
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.data.rankings import DEPTH, MOST, PHI, Phi
from semmetrics.data.tasks import UNRANKED, RetrievalTask, kept
from semmetrics.errors import InputError
from semmetrics.metrics import relations, retrieval
from semmetrics.metrics.definition import Measure, Option, Statistic, is_cutoff, one_of
from semmetrics.metrics.families import policy_option, value_columns
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.relations import MostSimilar, Queries, Relation
from semmetrics.metrics.retrieval import QueryMeans, RankBlock, retrieval_measure
from semmetrics.metrics.retrieved import Retrieved

_NCS_EPSILON, _SOFT_EPSILON = 1e-10, 1e-20  # of the released code


def ncs(
    top: ArrayLike,
    phi: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    queries: Queries = "rows",
    leave_out: Any = None,
    extended: int | Literal["k"] | None = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return the normalised cumulative semantic score of each query at each cutoff K.

    As the released code computes it, with :math:`Q_K` the K items retrieved and :math:`B_K` the K
    most similar ones:

    .. math:: \frac{\frac1K \sum_{j \in Q_K} \phi_j}{\frac1K \sum_{l \in B_K} \phi_l + 10^{-10}}

    Where the gallery has fewer than K items, all of them count in place of K. What a short ranking
    lacks adds nothing.

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        As `top_items` gives it, with the ranks that the largest K needs: as many more as a query
        has items that are left out.
    phi : array, shape (images, captions), or what gives rows by slices
    k : int or sequence of int
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to take it out of both lists (``include_anns=False`` in the
        released code).
    extended : int or "k", optional
        Equation 5 as it is written: the sum over retrieved items that are in the extended ground
        truth, over the sum of that; it holds so many most similar items, or as many as the cutoff.
    best : MostSimilar, optional
        Of these queries, and without what is left out; found where it is not given.
    rows : int array, shape (queries,), optional
        The query of phi that each row of ``top`` is of: with it, ``top``, ``leave_out`` and
        ``best`` may be those of some queries.

    Returns
    -------
    array, shape (queries, cutoffs), float64
        In [0, 1] where phi is not negative. nan for a query whose most similar items have no phi
        above 0 in sum; in the released code it counts as 0.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, an item twice or one that is not in the gallery, or a phi
        that is needed is NaN; names the query.

    References
    ----------
    Biten et al., 2022, equation 5, and the method ``NCS`` of the released code.

    Examples
    --------
    Two rankings with the same first hit; the second one goes on with similar captions.

    >>> phi = np.array([[10.0, 6.0, 5.0, 0.0, 1.0]])
    >>> ncs([[0, 3, 4]], phi, (1, 3)).round(4).tolist()
    [[1.0, 0.5238]]
    >>> ncs([[0, 1, 2]], phi, (1, 3)).round(4).tolist()
    [[1.0, 1.0]]
    """
    cutoffs = relations.as_cutoffs(k)
    most = max(cutoffs)
    size = extended if isinstance(extended, int) else most
    if size < 1 or extended not in (None, "k", size):
        wanted = "a whole number from 1, or 'k'"
        raise InputError("bad-option", name="extended", value=extended, wanted=wanted)
    got = Retrieved(top, relations.as_matrix(phi), most, queries, leave_out, rows)
    best, found = got.best(max(most, size), best), got.phi()
    if extended is None:
        at = np.minimum(cutoffs, np.maximum(best.sizes, 1)[:, None])
        return _share(
            _sums(found, cutoffs) / at, _sums(best.values, cutoffs) / at, _NCS_EPSILON
        )
    sizes = cutoffs if extended == "k" else [size] * len(cutoffs)
    shares = [
        _share(
            _sums(found * got.among(best.relation(m)), [one]),
            _sums(best.values, [m]),
            0.0,
        )
        for one, m in zip(cutoffs, sizes, strict=True)
    ]
    return np.concatenate(shares, axis=1)


def _share(part: Floats, whole: Floats, epsilon: float) -> Floats:
    """Divide sums of phi by larger ones; nan where these are not above 0."""
    positive = whole > 0
    return np.where(positive, part / np.where(positive, whole + epsilon, 1.0), np.nan)


def _sums(table: NDArray[Any], cutoffs: Sequence[int]) -> Floats:
    """Sum the first of each row up to each cutoff; what is not there is 0."""
    running = np.zeros((len(table), table.shape[1] + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        np.cumsum(table, axis=1, out=running[:, 1:])
    if not np.isfinite(running).all():
        raise InputError("infinite-sum", role="phi, or of 2 to the power of phi")
    return running[:, np.minimum(cutoffs, table.shape[1])]


def semantic_recall(
    top: ArrayLike,
    relevant: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    variant: Literal["hard", "soft", "weighted", "hit"] = "hard",
    phi: Any = None,
    queries: Queries = "rows",
    leave_out: Any = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return the semantic recall of each query at each cutoff K.

    With :math:`\tilde G` the extended ground truth and :math:`Q_K` the K items retrieved:

    ============  ============================================================================
    ``hard``      :math:`|\tilde G \cap Q_K| / |\tilde G|`
    ``weighted``  :math:`\sum_{j \in \tilde G \cap Q_K} \phi_j / \sum_{l \in \tilde G} \phi_l`
    ``soft``      ``weighted`` divided by :math:`|\tilde G|` once more, as in the released code
    ``hit``       1 where :math:`\tilde G \cap Q_K` is not empty (``vse_recall`` there)
    ============  ============================================================================

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        The places of the items retrieved, best first, as `top_items` gives them.
    relevant : pair of int arrays
        The extended ground truth of each query: ``most_similar(phi, m).relation(m)`` for equation
        4, `captions_of_images` and `images_of_captions` for that of the released code.
    k : int or sequence of int
    variant : {"hard", "soft", "weighted", "hit"}
    phi : array, shape (images, captions), optional
        For "soft" and "weighted", which need it.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to take it out of both lists.
    rows : int array, shape (queries,), optional
        The query of phi that each row of ``top`` is of; without it, ``top`` has all queries.
        Without a phi the gallery is what ``top`` and ``relevant`` hold.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query whose extended ground truth is empty or, where it is weighted, has no phi
        above 0 in sum.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, an item twice or one that is not in the gallery, or a phi
        that is needed is NaN or missing; names the query.

    References
    ----------
    Biten et al., 2022, equation 4, and the methods ``hard`` and ``soft`` of the released code.

    Examples
    --------
    >>> relevant = np.array([0, 3]), np.array([0, 1, 2])
    >>> semantic_recall([[0, 3, 1]], relevant, (1, 3)).round(4).tolist()
    [[0.3333, 0.6667]]
    >>> phi = np.array([[10.0, 6.0, 5.0, 0.0, 1.0]])
    >>> semantic_recall([[0, 3, 1]], relevant, (1, 3), phi=phi, variant="weighted").round(2)
    array([[0.48, 0.76]])
    """
    cutoffs = relations.as_cutoffs(k)
    check_choice("variant", variant, ("hard", "soft", "weighted", "hit"))
    weighs = variant in ("soft", "weighted")
    if weighs and phi is None:
        raise InputError("needs-option", what=f"variant={variant!r}", name="phi")
    if phi is None:  # the least gallery that holds all places
        given = [top, *(one[1] for one in (relevant, leave_out) if one is not None)]
        given = [to_numpy(one) for one in given]
        width = max(int(one.max(initial=-1)) + 1 for one in given)
        number = len(given[0]) if rows is None else int(np.max(rows, initial=-1)) + 1
        matrix, queries = np.broadcast_to(0.0, (number, width)), "rows"
    else:
        matrix = relations.as_matrix(phi)
    got = Retrieved(top, matrix, max(cutoffs), queries, leave_out, rows)
    relevant = relations.check_relation(
        relevant, len(got.places), got.width, "relevant"
    )
    hits, size = got.among(relevant), lengths(relevant[0])[:, None]
    if weighs:
        row = row_numbers(relevant[0])
        values = relations.take_phi(matrix, got.rows[row], relevant[1], queries)
        whole = np.bincount(row, values, len(size)).astype(np.float64)[:, None]
        share = _share(_sums(got.phi() * hits, cutoffs), whole, _SOFT_EPSILON)
        return share / np.maximum(size, 1) if variant == "soft" else share
    found = _sums(hits, cutoffs)
    return (
        divide(np.minimum(found, 1), size > 0)
        if variant == "hit"
        else divide(found, size)
    )


def tied_queries(
    top: ArrayLike,
    phi: Any,
    k: int,
    m: int,
    *,
    counts: Literal["number", "phi", "any"] = "number",
    queries: Queries = "rows",
    leave_out: Any = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Bools:
    """Tell for which queries a tie of phi decides how much of the m most similar items is found.

    Parameters
    ----------
    top, phi, queries, leave_out, best, rows
        See `ncs`.
    k : int
        The cutoff.
    m : int
        How many most similar items are the extended ground truth.
    counts : {"number", "phi", "any"}
        Whether the value is by the number of items found, by the sum of their phi, or whether any
        is found.

    Returns
    -------
    bool array, shape (queries,)
        Whether another order of items with equal phi could change the value.

    Examples
    --------
    One of the last two is the second most similar item, and one of them is retrieved:

    >>> phi = np.array([[0.9, 0.5, 0.5, 0.0]])
    >>> tied_queries([[1, 0]], phi, 1, 2), tied_queries([[0, 1]], phi, 1, 2)
    (array([ True]), array([False]))
    """
    got = Retrieved(top, relations.as_matrix(phi), k, queries, leave_out, rows)
    best = got.best(m, best)
    values, places = best.values[:, :m], best.places[:, :m]
    if not values.shape[1]:
        return np.zeros(len(values), np.bool_)
    last = values[:, -1]
    inside = ((values == last[:, None]) & (places >= 0)).sum(axis=1)
    is_ranked = got.places >= 0
    found = got.phi()
    found_ties = ((found == last[:, None]) & is_ranked).sum(axis=1)
    # if all of the gallery is inside, or nothing of the tie is found, its order changes nothing
    undecided: Bools = (best.sizes > m) & (found_ties > 0)
    if counts == "phi":
        undecided &= last != 0
    if counts == "any":
        undecided &= ~((found > last[:, None]) & is_ranked).any(axis=1)
    some = np.flatnonzero(undecided)
    left = None if got.leave_out is None else take_rows(got.leave_out[0], some)
    if left is not None and got.leave_out is not None:
        left = left[0], got.leave_out[1][left[1]]
    total = relations.count_equal(got.matrix, got.rows[some], last[some], queries, left)
    if counts == "any":
        decided = inside[some] + found_ties[some] > total
    else:
        decided = found_ties[some] >= total
    undecided[some[decided | (inside[some] >= total)]] = False
    return undecided


def ndcg(
    top: ArrayLike,
    phi: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    gain: Literal["linear", "exponential"] = "linear",
    discount: Literal["log2", "jarvelin2002"] = "log2",
    queries: Queries = "rows",
    leave_out: Any = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return nDCG of each query at each cutoff, with phi as graded relevance.

    .. math:: \frac{\sum_{r=1}^{K} g(\phi_{q_r}) \, d(r)}{\sum_{r=1}^{K} g(\phi_{b_r}) \, d(r)}

    with the retrieved items :math:`q` and the most similar ones :math:`b`.

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        The places of the items retrieved, best first, as `top_items` gives them.
    phi : array, shape (images, captions), or what gives rows by slices
    k : int or sequence of int
    gain : {"linear", "exponential"}
        phi, or 2 to the power of phi less 1 (Burges et al. 2005); a phi below 0 gains nothing.
    discount : {"log2", "jarvelin2002"}
        1 / log2(r + 1), as trec_eval, ranx and ir_measures have it; or 1 / log2(r) from the second
        rank on, as in the source.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to take it out of both lists.
    best : MostSimilar, optional
        Of these queries, and without what is left out; found where it is not given.
    rows : int array, shape (queries,), optional
        The query of phi that each row of ``top`` is of; without it, ``top`` has all queries.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query that no item of the gallery has a phi above 0 with.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, an item twice or one that is not in the gallery, or a phi
        that is needed is NaN; names the query.

    References
    ----------
    Järvelin and Kekäläinen, 2002, section 2; Burges et al., 2005, Learning to rank using gradient
    descent, ICML.

    Examples
    --------
    >>> ndcg([[1, 0, 2]], np.array([[3.0, 2.0, 0.0, 1.0]]), (1, 3)).round(4).tolist()
    [[0.6667, 0.8175]]
    """
    check_choice("gain", gain, ("linear", "exponential"))
    check_choice("discount", discount, ("log2", "jarvelin2002"))
    cutoffs = relations.as_cutoffs(k)
    got = Retrieved(
        top, relations.as_matrix(phi), max(cutoffs), queries, leave_out, rows
    )
    best = got.best(max(cutoffs), best)
    sums = []
    for values in (got.phi(), best.values):
        gains = _gains(values, np.arange(1, values.shape[1] + 1), gain, discount)
        sums.append(_sums(gains, cutoffs))
    return divide(sums[0], sums[1])


def _gains(values: Floats, rank: Ints, gain: Any, discount: Any) -> Floats:
    """Return what values gain at their ranks."""
    above = np.maximum(values, 0.0)
    with np.errstate(over="ignore"):
        gains = np.exp2(above) - 1 if gain == "exponential" else above
    return gains * (
        1 / np.log2(rank + 1 if discount == "log2" else np.maximum(rank, 2))
    )


def nsum(i2t: ArrayLike, t2i: ArrayLike, *, undefined: float = 0.0) -> float:
    """Add the means of NCS over the cutoffs and both directions, in percent.

    Parameters
    ----------
    i2t, t2i : arrays, shapes (images, cutoffs) and (captions, cutoffs)
        As `ncs` gives them; the paper's cutoffs are 1, 5 and 10.
    undefined : float
        What nan counts as: 0, as in the released code. With nan, such queries are left out.

    Returns
    -------
    float
        In [0, 600] for three cutoffs; nan where no query has a value.

    References
    ----------
    Biten et al., 2022, table 3.

    Examples
    --------
    >>> nsum([[1.0, 0.5]], [[0.5, np.nan], [1.0, 0.5]])
    250.0
    """
    total = 0.0
    for values in (i2t, t2i):
        refuse_masked(values, "NCS")
        table = np.atleast_2d(np.asarray(values, np.float64))
        if not np.isnan(undefined):
            table = np.where(np.isnan(table), undefined, table)
        known = ~np.isnan(table)
        total += float(
            divide(np.where(known, table, 0.0).sum(axis=0), known.sum(axis=0)).sum()
        )
    return 100 * total


LEFT_OUT = "left-out"
Key: TypeAlias = tuple[RetrievalTask, str, "int | None", str]


def needed_depth(measure: Measure, positives: int) -> tuple[int, int]:
    """Return how many ranks, and how many most similar items, a measure of phi needs.

    Parameters
    ----------
    measure : Measure
    positives : int
        The most that a query has, which are perhaps left out.

    Raises
    ------
    InputError
        If the measure has no cutoff.
    """
    if measure.k is None:
        raise InputError(
            "no-cutoff", measure=measure, wanted=f"{measure.definition.name}@10"
        )
    out = positives if measure["ground_truth"] == LEFT_OUT else 0
    extended = str(measure["extended"])
    m = measure["m"] or (extended if extended.isdecimal() else 0)
    return measure.k + out, max(measure.k, int(m))


@kept
def _first_places(block: RankBlock) -> Ints:
    """Return the first candidates of each query, as many as any measure needs; -1 beyond.

    One column more than the longest has: a list ends there, also where all are as short.
    """
    task = block.task
    found = task.first(block.start, block.stop, task.beside[DEPTH])
    table = np.full((len(block), max(map(len, found), default=0) + 1), -1)
    for row, codes in zip(table, found, strict=True):
        row[: len(codes)] = codes
    return table


class View:
    """A matrix and the queries of a task that it is for; of one fold, or all.

    Attributes
    ----------
    task : RetrievalTask
    phi : Phi
        Of a fold the rows and columns of its queries and candidates.
    queries : int array
        Those of the task.
    candidates : int array or None
        The places of a fold's candidates in the gallery, rising; None where all are ranked.
    """

    def __init__(self, task: RetrievalTask, name: str, fold: int | None) -> None:
        self.task, self.queries, self.candidates = task, np.arange(len(task)), None
        self.phi: Phi = task.beside[PHI][name]
        if task.folds is not None and fold is not None:
            self.queries, self.candidates = (
                np.flatnonzero(own == fold) for own in task.folds
            )
            identity = f"{self.phi.identity}/{fold}"
            self.phi = self.phi.part(task.rows[self.queries], self.candidates, identity)

    def own(self, queries: Ints) -> Relation:
        """Return the positives of queries that are in the gallery, by their columns of phi."""
        task = self.task
        indptr, flat = take_rows(task.indptr, queries)
        codes = task.positives[flat].astype(np.int64)
        inside = codes < task.scores.shape[1]
        number = np.bincount(row_numbers(indptr)[inside], minlength=len(queries))
        return offsets(number), self.columns(codes[inside])

    def columns(self, codes: Ints) -> Ints:
        """Return where candidates lie in phi; -1 stays."""
        if self.candidates is None:
            return codes
        return np.where(codes < 0, -1, np.searchsorted(self.candidates, codes))

    def relation(self) -> Relation:
        """Return the positives of all queries of phi; of those that are not scored none."""
        task, phi = self.task, self.phi
        places = phi.places(task.rows[self.queries])
        there = np.flatnonzero(places >= 0)
        there = there[np.argsort(places[there], kind="stable")]
        own = self.own(self.queries[there])
        number = np.zeros(phi.matrix.shape[0 if phi.queries == "rows" else 1], np.int64)
        number[places[there]] = lengths(own[0])
        return offsets(number), own[1]


_view = kept(View)


@kept
def _best(task: RetrievalTask, name: str, fold: int | None, truth: str) -> MostSimilar:
    """Return the most similar items of all queries of a matrix."""
    view = _view(task, name, fold)
    phi, out = view.phi, view.relation() if truth == LEFT_OUT else None
    return relations.most_similar(
        phi.matrix, task.beside[MOST], queries=phi.queries, leave_out=out
    )


@kept
def _by_images(
    task: RetrievalTask,
    name: str,
    fold: int | None,
    truth: str,
    m: int,
    depth: int,
    ties: Literal["first", "last"] = "first",
) -> Relation:
    """Return the extended ground truth that the released code finds by similar images."""
    view = _view(task, name, fold)
    phi, (rows, columns) = view.phi, view.phi.matrix.shape
    captions = own = view.relation()
    if phi.queries == "columns":  # the relation turned round
        image = np.argsort(own[1], kind="stable")
        captions = (
            offsets(np.bincount(own[1], minlength=rows)),
            row_numbers(own[0])[image],
        )
    itself = truth != LEFT_OUT
    near = relations.similar_images(
        phi.matrix, captions, m, depth=depth, itself=itself, ties=ties
    )
    if phi.queries == "rows":
        return relations.captions_of_images(near, captions)
    return relations.images_of_captions(near, captions, columns)


@dataclass(frozen=True, repr=False)
class PhiValues(Statistic):
    """A step: a value of each query, by a function of what it retrieved and phi.

    Without phi, nDCG takes the grades of the positives.
    """

    values: Callable[..., Floats]
    measure: Measure
    ties: Callable[..., Bools] | None = None

    def compute(self, block: RankBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"; queries of each fold by themselves."""
        task, measure, k = block.task, self.measure, int(self.measure.k or 1)
        ones = np.ones(len(block), np.int64)
        if str(measure[PHI]) not in task.beside.get(PHI, {}):
            return value_columns(_of_grades(block, measure), ones, ones)
        name, truth = (str(measure[option]) for option in ("phi", "ground_truth"))
        some = slice(block.start, block.stop)
        rows = task.rows[some]
        folds = np.zeros(len(rows)) if task.folds is None else task.folds[0][some]
        values, counted = np.zeros(len(block)), np.zeros(len(block), np.int64)
        tied = 0
        for fold in np.unique(folds[rows >= 0]).tolist():
            key = task, name, None if task.folds is None else fold
            view = _view(*key)
            places = view.phi.places(np.where(folds == fold, rows, -1))
            here = np.flatnonzero(places >= 0)
            top, own = (
                view.columns(_first_places(block)[here]),
                view.own(here + block.start),
            )
            counts = top >= 0
            given = {
                "top": top,
                "phi": view.phi.matrix,
                "k": k,
                "queries": view.phi.queries,
            }
            given |= {
                "rows": places[here],
                "best": _best(*key, truth).part(places[here]),
            }
            if truth == LEFT_OUT:
                given["leave_out"] = own
                counts &= ~relations.is_related(top, own, task.scores.shape[1])
            found = self.values(given, measure, (*key, truth))[:, 0]
            if self.ties is not None:
                tied += int(
                    (self.ties(given, measure, (*key, truth)) & ~np.isnan(found)).sum()
                )
            values[here] = found
            counted[here] = counts.sum(axis=1)
        fewer = "fewer", k, str(measure), truth == LEFT_OUT
        block.note(fewer, int((counted < k).sum()))
        block.note(("tied-phi", str(measure)), tied)
        return value_columns(values, ones, ones)


class PhiMeans(QueryMeans):
    """Means over queries of a function of phi.

    It takes the arguments that the functions of phi have in common, the measure, and by what the
    matrix is found. ``ties`` takes the same, and tells for which queries a tie of phi decides.
    """

    def __init__(
        self, values: Callable[..., Floats], ties: Callable[..., Bools] | None = None
    ) -> None:
        super().__init__(values)
        self._ties = ties

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the values of queries."""
        return PhiValues(self._values, measure, self._ties)


def _ncs(given: dict[str, Any], measure: Measure, key: Key) -> Floats:
    extent = str(measure["extended"])
    extended: Any = (
        int(extent) if extent.isdecimal() else {"none": None}.get(extent, extent)
    )
    return ncs(**given, extended=extended)


def _ncs_ties(given: dict[str, Any], measure: Measure, key: Key) -> Bools:
    """Tell for which queries a tie of phi decides: only the extended ground truth has ties."""
    extent = str(measure["extended"])
    if extent == "none":
        return np.zeros(len(given["top"]), np.bool_)
    m = int(extent) if extent.isdecimal() else int(given["k"])
    return tied_queries(**given, m=m, counts="phi")


def _recall(given: dict[str, Any], measure: Measure, key: Key) -> Floats:
    given = dict(given)
    best, variant = given.pop("best"), str(measure["variant"])
    m = int(str(measure["m"]))
    if measure["similar"] == "items":
        relevant = best.relation(m)
    else:
        relevant = _of_images(given, measure, key, "first")
    values = semantic_recall(relevant=relevant, **{**given, "variant": variant})
    # else nothing is similar, and any would do
    similar = best.values[:, :m].sum(axis=1) > 0
    return np.where(similar[:, None], values, np.nan)


def _of_images(
    given: dict[str, Any], measure: Measure, key: Key, ties: Literal["first", "last"]
) -> Relation:
    """Return the extended ground truth of some queries by similar images."""
    m, depth = int(str(measure["m"])), int(str(measure["depth"]))
    indptr, codes = _by_images(*key, m, depth, ties)
    found, flat = take_rows(indptr, given["rows"])
    return found, codes[flat]


_COUNTS: dict[str, Literal["number", "phi", "any"]] = {
    "hard": "number",
    "soft": "phi",
    "weighted": "phi",
    "hit": "any",
}


def _recall_ties(given: dict[str, Any], measure: Measure, key: Key) -> Bools:
    """Tell for which queries a tie of phi, or of sums of phi of images, decides the value."""
    variant = str(measure["variant"])
    if measure["similar"] == "items":
        return tied_queries(**given, m=int(str(measure["m"])), counts=_COUNTS[variant])
    arguments = {**given, "variant": variant}
    del arguments["best"]
    first, last = (
        semantic_recall(relevant=_of_images(given, measure, key, ties), **arguments)
        for ties in ("first", "last")
    )
    return np.asarray(
        ~np.isclose(first, last, rtol=1e-12, atol=0.0, equal_nan=True)[:, 0]
    )


def _ndcg(given: dict[str, Any], measure: Measure, key: Key) -> Floats:
    return ndcg(**{**given, "gain": measure["gain"], "discount": measure["discount"]})


def _of_grades(block: RankBlock, measure: Measure) -> Floats:
    """Return nDCG of each query by the grades of its positives; plain positives have grade 1."""
    ranks, k, sums = retrieval.rank_positives(block), measure.k or UNRANKED - 1, []
    grades = np.ones(len(ranks.ranks)) if ranks.grades is None else ranks.grades
    rows = row_numbers(ranks.indptr)
    ideal = grades[np.lexsort((-grades, rows))], positions(ranks.indptr) + 1
    for values, rank in ((grades, ranks.ranks), ideal):
        gains = _gains(values, rank, measure["gain"], measure["discount"])
        sums.append(np.bincount(rows, np.where(rank <= k, gains, 0.0), len(block)))
    if not np.isfinite(sums).all():
        raise InputError("infinite-sum", role="grades, or of 2 to the power of grades")
    return divide(sums[0], sums[1])


def _check_extended(value: str) -> None:
    number = value.isdecimal() and len(value) < 11 and is_cutoff(int(value))
    if value not in ("none", "k") and not number:
        wanted = "none, k or a whole number from 1"
        raise InputError("bad-option", name="extended", value=value, wanted=wanted)


_PHI = Option(
    "phi",
    "phi",
    "default",
    help="which of the matrices given as phi is meant, or what "
    "computes it of captions= (--captions): CIDEr-D, CIDEr, METEOR, SPICE "
    "or BagSim",
)
_TRUTH = one_of(
    "ground_truth",
    f"kept {LEFT_OUT}",
    "the query's own positives count as all else, "
    "or are left out of what is retrieved and of what is most similar",
    short="gt",
)
_NONE = policy_option(
    "undefined", "undef", "0", "queries that no candidate has a phi above 0 with"
)
_NCS_OPTIONS = (
    _PHI,
    _TRUTH,
    Option(
        "extended",
        "ext",
        "none",
        check=_check_extended,
        help="none is the released code; a number such as 20, or k, is equation 5 as it is "
        "written, with so many most similar items for the extended ground truth",
    ),
    _NONE,
)
NCS = retrieval_measure(
    "NCS",
    PhiMeans(_ncs, _ncs_ties),
    "Normalised cumulative semantic score: phi of what is retrieved over the largest phi.",
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
    "Semantic recall: the share of an extended ground truth among the first K candidates.",
    "|G̃_q ∩ Q_q,K| / |G̃_q|",
    "Biten et al. 2022, equation 4, and the released code",
    cite=("biten2022",),
    options=(
        Option(
            "m",
            "m",
            kind=int,
            required=True,
            within=(1, np.inf),
            help="how many items, or images, extend the ground truth",
        ),
        _PHI,
        one_of(
            "variant",
            "hard soft weighted hit",
            "how items of the extended ground truth count: "
            "alike (hard), by phi (weighted), by phi over their number (soft), or any (hit)",
        ),
        one_of(
            "similar",
            "items images",
            "the extended ground truth is the m most similar items "
            "(equation 4), or all captions of the m most similar images (the released code)",
        ),
        Option(
            "depth",
            "depth",
            10,
            kind=int,
            within=(1, np.inf),
            help="of similar=images: images that each caption lists",
        ),
        _TRUTH,
        _NONE,
    ),
    cutoff=True,
    needs=frozenset({PHI}),
)
NDCG = retrieval_measure(
    "nDCG",
    PhiMeans(_ndcg),
    "Normalised discounted cumulative gain by phi, or without one by the grades of the positives.",
    "Σ_{r≤K} g(φ_r) d(r) / Σ_{r≤K} g(φ*_r) d(r), φ* the largest",
    "Järvelin and Kekäläinen 2002, section 2",
    cite=("jarvelin2002",),
    options=(
        _PHI,
        one_of("gain", "linear exponential", "phi, or 2^phi - 1"),
        one_of(
            "discount", "log2 jarvelin2002", "1/log2(r + 1), or 1/log2 r from rank 2 on"
        ),
        _TRUTH,
        _NONE,
    ),
    cutoff=True,
    needs=frozenset({PHI}),
)
Nsum = retrieval_measure(
    "Nsum",
    retrieval.SumOverDirections(NCS),
    "Sum over both directions of NCS@1, @5 and @10, in percent.",
    "100 Σ_{K=1,5,10} (NCS@K(i2t) + NCS@K(t2i))",
    "Biten et al. 2022, table 3",
    cite=("biten2022",),
    options=_NCS_OPTIONS,
    bounds=(0.0, 600.0),
    needs=frozenset({PHI}),
)
