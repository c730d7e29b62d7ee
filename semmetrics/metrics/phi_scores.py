"""Scores of rankings by a matrix phi of semantic similarity: NCS, semantic recall, nDCG.

Conventions
-----------
phi has one row per image and one column per caption, whatever the direction. It is
described in `semmetrics.metrics.phi_matrix`, and rankings (``top``) and relations are
described in `semmetrics.metrics.relations`. Of equal numbers, the first in the gallery
wins. In the released code of Biten et al., any of them may win.

Functions return a value per query, in [0, 1] if phi is not negative, and higher is
better. Papers print means in percent. A value that is not defined is nan, and each
function names its only cause.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, sections 3.2 and 4.1, and the
released code, furkanbiten/ncs_metric.
Järvelin and Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS
20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.backend import check_not_masked, to_numpy
from semmetrics.core.ragged import Bools, Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import as_cutoffs
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.nearest_items import MostSimilar
from semmetrics.metrics.phi_matrix import Queries, as_matrix, count_equal, take_phi
from semmetrics.metrics.relations import Relation, check_relation
from semmetrics.metrics.retrieved import Retrieved

Variant: TypeAlias = Literal["hard", "soft", "weighted", "hit"]
Gain: TypeAlias = Literal["linear", "exponential"]
Discount: TypeAlias = Literal["log2", "jarvelin2002"]
Counted: TypeAlias = Literal["number", "phi", "any"]
"""What a value depends on: the number of items found, their phi, or whether there is any."""

# Constants of the released code
_NCS_EPSILON = 1e-10
_SOFT_EPSILON = 1e-20

# ---- NCS -----------------------------------------------------------------------------


def ncs(
    top: ArrayLike,
    phi: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    queries: Queries = "rows",
    leave_out: tuple[ArrayLike, ArrayLike] | None = None,
    extended: int | Literal["k"] | None = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return the normalised cumulative semantic score of each query at each cutoff K.

    This is the score of the released code, with :math:`Q_K` the K items retrieved and
    :math:`B_K` the K most similar ones:

    .. math:: \frac{\frac1K \sum_{j \in Q_K} \phi_j}{\frac1K \sum_{l \in B_K} \phi_l + 10^{-10}}

    If the gallery has fewer than K items, K is their number. Items missing from a short
    ranking add nothing.

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        As `top_items` returns it, with as many ranks as the largest K needs, and one more
        for each item of a query that is left out.
    phi : array, shape (images, captions), or an object that gives rows by slices
    k : int or sequence of int
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to remove it from both lists
        (``include_anns=False`` in the released code).
    extended : int or "k", optional
        Use equation 5 as it is written: the sum over retrieved items in the extended
        ground truth, over the sum of the extended ground truth. It consists of this
        number of most similar items, or of K for "k".
    best : MostSimilar, optional
        The most similar items of these queries, without ``leave_out``. Computed by
        default.
    rows : int array, shape (queries,), optional
        The query of phi for each row of ``top``. Then ``top``, ``leave_out`` and
        ``best`` may have only some of the queries.

    Returns
    -------
    array, shape (queries, cutoffs), float64
        In [0, 1] if phi is not negative. nan for a query whose most similar items have a
        sum of phi of at most 0, which the released code counts as 0.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, contains an item twice or an item that is not in
        the gallery, or a phi that is needed is NaN. The message names the query.

    References
    ----------
    Biten et al., 2022, equation 5, and the method ``NCS`` of the released code.

    Examples
    --------
    Two rankings with the same first hit. The second one continues with similar captions.

    >>> phi = np.array([[10.0, 6.0, 5.0, 0.0, 1.0]])
    >>> ncs([[0, 3, 4]], phi, (1, 3)).round(4).tolist()
    [[1.0, 0.5238]]
    >>> ncs([[0, 1, 2]], phi, (1, 3)).round(4).tolist()
    [[1.0, 1.0]]
    """
    cutoffs = as_cutoffs(k)
    largest_cutoff = max(cutoffs)
    n_extended = largest_cutoff
    if isinstance(extended, int):
        n_extended = extended
    if n_extended < 1 or extended not in (None, "k", n_extended):
        wanted = "a positive integer, or 'k'"
        raise InputError("bad-option", name="extended", value=extended, wanted=wanted)
    matrix = as_matrix(phi)
    retrieved = Retrieved(top, matrix, largest_cutoff, queries, leave_out, rows)
    best = retrieved.best(max(largest_cutoff, n_extended), best)
    retrieved_phi = retrieved.phi()
    if extended is None:
        gallery_sizes = np.maximum(best.sizes, 1)[:, None]
        n_items = np.minimum(cutoffs, gallery_sizes)
        retrieved_means = _running_sums(retrieved_phi, cutoffs) / n_items
        best_means = _running_sums(best.values, cutoffs) / n_items
        return _divide_sums(retrieved_means, best_means, _NCS_EPSILON)
    columns = []
    for cutoff in cutoffs:
        m = n_extended
        if extended == "k":
            m = cutoff
        is_extended = retrieved.among(best.relation(m))
        retrieved_sums = _running_sums(retrieved_phi * is_extended, [cutoff])
        best_sums = _running_sums(best.values, [m])
        columns.append(_divide_sums(retrieved_sums, best_sums, 0.0))
    return np.concatenate(columns, axis=1)


def _divide_sums(part: Floats, whole: Floats, epsilon: float) -> Floats:
    """Divide sums of phi by the sums of more phi, nan if these are not positive."""
    is_positive = whole > 0
    denominator = np.where(is_positive, whole + epsilon, 1.0)
    return np.where(is_positive, part / denominator, np.nan)


def _running_sums(table: NDArray[Any], cutoffs: Sequence[int]) -> Floats:
    """Sum the first values of each row up to each cutoff, shape (rows, cutoffs)."""
    sums = np.zeros((len(table), table.shape[1] + 1))
    with np.errstate(over="ignore", invalid="ignore"):
        np.cumsum(table, axis=1, out=sums[:, 1:])
    if not np.isfinite(sums).all():
        raise InputError(
            "infinite-sum",
            role="the gain of a candidate: phi, or 2 to the power of phi",
        )
    return sums[:, np.minimum(cutoffs, table.shape[1])]


def nsum(i2t: ArrayLike, t2i: ArrayLike, *, undefined: float = 0.0) -> float:
    """Add the means of NCS over the cutoffs and both directions, in percent.

    Parameters
    ----------
    i2t, t2i : arrays, shapes (images, cutoffs) and (captions, cutoffs)
        As `ncs` returns them. The paper's cutoffs are 1, 5 and 10.
    undefined : float
        The value that replaces nan: 0, as in the released code. With nan, such queries
        are left out.

    Returns
    -------
    float
        In [0, 600] for three cutoffs. nan if no query has a value.

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
        check_not_masked(values, "NCS")
        table = np.atleast_2d(np.asarray(values, np.float64))
        if not np.isnan(undefined):
            table = np.where(np.isnan(table), undefined, table)
        is_defined = ~np.isnan(table)
        sums = np.where(is_defined, table, 0.0).sum(axis=0)
        means = divide(sums, is_defined.sum(axis=0))
        total += float(means.sum())
    return 100 * total


# ---- semantic recall -----------------------------------------------------------------


def semantic_recall(
    top: ArrayLike,
    relevant: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    variant: Variant = "hard",
    phi: ArrayLike | None = None,
    queries: Queries = "rows",
    leave_out: tuple[ArrayLike, ArrayLike] | None = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return the semantic recall of each query at each cutoff K.

    With :math:`\tilde G` the extended ground truth and :math:`Q_K` the K items retrieved:

    ============  ============================================================================
    ``hard``      :math:`|\tilde G \cap Q_K| / |\tilde G|`
    ``weighted``  :math:`\sum_{j \in \tilde G \cap Q_K} \phi_j / \sum_{l \in \tilde G} \phi_l`
    ``soft``      ``weighted`` divided by :math:`|\tilde G|` once more, as in the released code
    ``hit``       1 if :math:`\tilde G \cap Q_K` is not empty (``vse_recall`` there)
    ============  ============================================================================

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        The places of the items retrieved, best first, as `top_items` returns them.
    relevant : pair of int arrays
        The extended ground truth of each query: ``most_similar(phi, m).relation(m)`` for
        equation 4, `captions_of_images` and `images_of_captions` for the extended ground
        truth of the released code.
    k : int or sequence of int
    variant : {"hard", "soft", "weighted", "hit"}
    phi : array, shape (images, captions), optional
        Required for "soft" and "weighted".
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to remove it from both lists.
    rows : int array, shape (queries,), optional
        The query of phi for each row of ``top``. By default ``top`` has all queries.
        Without phi, the gallery consists of the items of ``top`` and ``relevant``.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query whose extended ground truth is empty or, if it is weighted, has a
        sum of phi of at most 0.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, contains an item twice or an item that is not in
        the gallery, or a phi that is needed is NaN or missing. The message names the
        query.

    References
    ----------
    Biten et al., 2022, equation 4, and the methods ``hard`` and ``soft`` of the released
    code.

    Examples
    --------
    >>> relevant = np.array([0, 3]), np.array([0, 1, 2])
    >>> semantic_recall([[0, 3, 1]], relevant, (1, 3)).round(4).tolist()
    [[0.3333, 0.6667]]
    >>> phi = np.array([[10.0, 6.0, 5.0, 0.0, 1.0]])
    >>> semantic_recall([[0, 3, 1]], relevant, (1, 3), phi=phi, variant="weighted").round(2)
    array([[0.48, 0.76]])
    """
    cutoffs = as_cutoffs(k)
    check_choice("variant", variant, ("hard", "soft", "weighted", "hit"))
    is_weighted = variant in ("soft", "weighted")
    if is_weighted and phi is None:
        raise InputError("needs-option", what=f"variant={variant!r}", name="phi")
    if phi is None:
        matrix = _smallest_gallery(top, relevant, leave_out, rows)
        queries = "rows"
    else:
        matrix = as_matrix(phi)
    retrieved = Retrieved(top, matrix, max(cutoffs), queries, leave_out, rows)
    relevant = check_relation(
        relevant, len(retrieved.places), retrieved.width, "relevant"
    )
    is_hit = retrieved.among(relevant)
    n_relevant = lengths(relevant[0])[:, None]
    if is_weighted:
        relevant_sums = _sum_relevant_phi(retrieved, relevant)
        retrieved_sums = _running_sums(retrieved.phi() * is_hit, cutoffs)
        share = _divide_sums(retrieved_sums, relevant_sums, _SOFT_EPSILON)
        if variant == "soft":
            return share / np.maximum(n_relevant, 1)
        return share
    n_found = _running_sums(is_hit, cutoffs)
    if variant == "hit":
        return divide(np.minimum(n_found, 1), n_relevant > 0)
    return divide(n_found, n_relevant)


def _smallest_gallery(
    top: Any,
    relevant: Any,
    leave_out: tuple[ArrayLike, ArrayLike] | None,
    rows: ArrayLike | None,
) -> NDArray[Any]:
    """Return a matrix of zeros, in place of phi, that is just large enough for all places."""
    places = [to_numpy(top)]
    for relation in (relevant, leave_out):
        if relation is not None:
            places.append(to_numpy(relation[1]))
    width = 0
    for array in places:
        width = max(width, int(array.max(initial=-1)) + 1)
    n_queries = len(places[0])
    if rows is not None:
        n_queries = int(np.max(rows, initial=-1)) + 1
    return np.broadcast_to(0.0, (n_queries, width))


def _sum_relevant_phi(retrieved: Retrieved, relevant: Relation) -> Floats:
    """Sum the phi of each query's extended ground truth, shape (queries, 1)."""
    indptr, places = relevant
    numbers = row_numbers(indptr)
    query = retrieved.rows[numbers]
    values = take_phi(retrieved.matrix, query, places, retrieved.queries)
    n_queries = len(indptr) - 1
    sums = np.bincount(numbers, values, n_queries).astype(np.float64)
    return np.asarray(sums[:, None])


def tied_queries(
    top: ArrayLike,
    phi: Any,
    k: int,
    m: int,
    *,
    counts: Counted = "number",
    queries: Queries = "rows",
    leave_out: tuple[ArrayLike, ArrayLike] | None = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Bools:
    """Return for which queries a tie of phi decides the value of semantic recall.

    A tie decides if another order of items with equal phi could change how many of the m
    most similar items are found.

    Parameters
    ----------
    top, phi, queries, leave_out, best, rows
        As for `ncs`.
    k : int
        The cutoff.
    m : int
        The number of most similar items in the extended ground truth.
    counts : {"number", "phi", "any"}
        Whether the value depends on the number of items found, on the sum of their phi,
        or on whether any is found.

    Returns
    -------
    bool array, shape (queries,)

    Examples
    --------
    Items 1 and 2 tie for the second most similar item. The first ranking retrieves one of
    them.

    >>> phi = np.array([[0.9, 0.5, 0.5, 0.0]])
    >>> tied_queries([[1, 0]], phi, 1, 2), tied_queries([[0, 1]], phi, 1, 2)
    (array([ True]), array([False]))
    """
    matrix = as_matrix(phi)
    retrieved = Retrieved(top, matrix, k, queries, leave_out, rows)
    best = retrieved.best(m, best)
    best_phi = best.values[:, :m]
    if not best_phi.shape[1]:
        return np.zeros(len(best_phi), np.bool_)
    # The tie consists of all items whose phi is the smallest one in the extended ground truth.
    # Some of them are in the extended ground truth, and some are retrieved.
    tie_phi = best_phi[:, -1]
    in_extended = (best_phi == tie_phi[:, None]) & (best.places[:, :m] >= 0)
    n_extended = in_extended.sum(axis=1)
    retrieved_phi = retrieved.phi()
    is_ranked = retrieved.places >= 0
    n_retrieved = ((retrieved_phi == tie_phi[:, None]) & is_ranked).sum(axis=1)

    # The order of the tie does not matter if the extended ground truth is the whole gallery,
    # or no item of the tie is retrieved.
    is_tied: Bools = (best.sizes > m) & (n_retrieved > 0)
    if counts == "phi":
        is_tied &= tie_phi != 0
    if counts == "any":
        is_found = (retrieved_phi > tie_phi[:, None]) & is_ranked
        is_tied &= ~is_found.any(axis=1)

    # Counting the items of a tie reads phi, so it is done for the other queries only.
    candidates = np.flatnonzero(is_tied)
    n_extended = n_extended[candidates]
    n_retrieved = n_retrieved[candidates]
    n_in_tie = _count_equal(retrieved, candidates, tie_phi[candidates])
    # The order does not matter either if all items of the tie are retrieved, or all are in the
    # extended ground truth.
    is_decided = n_retrieved >= n_in_tie
    if counts == "any":
        # In every order, one of the items is both retrieved and in the extended ground truth.
        is_decided = n_extended + n_retrieved > n_in_tie
    is_decided |= n_extended >= n_in_tie
    is_tied[candidates[is_decided]] = False
    return is_tied


def _count_equal(retrieved: Retrieved, queries: Ints, values: Floats) -> Ints:
    """Count the items of the gallery that have a given phi, for some queries."""
    leave_out = None
    if retrieved.leave_out is not None:
        all_indptr, all_places = retrieved.leave_out
        indptr, flat = take_rows(all_indptr, queries)
        leave_out = (indptr, all_places[flat])
    return count_equal(
        retrieved.matrix, retrieved.rows[queries], values, retrieved.queries, leave_out
    )


# ---- nDCG ----------------------------------------------------------------------------


def ndcg(
    top: ArrayLike,
    phi: Any,
    k: int | Sequence[int] = (1, 5, 10),
    *,
    gain: Gain = "linear",
    discount: Discount = "log2",
    queries: Queries = "rows",
    leave_out: tuple[ArrayLike, ArrayLike] | None = None,
    best: MostSimilar | None = None,
    rows: ArrayLike | None = None,
) -> Floats:
    r"""Return nDCG of each query at each cutoff, with phi as graded relevance.

    .. math:: \frac{\sum_{r=1}^{K} g(\phi_{q_r}) \, d(r)}{\sum_{r=1}^{K} g(\phi_{b_r}) \, d(r)}

    with the retrieved items :math:`q` and the most similar ones :math:`b`.

    Parameters
    ----------
    top : int array, shape (queries, ranks)
        The places of the items retrieved, best first, as `top_items` returns them.
    phi : array, shape (images, captions), or an object that gives rows by slices
    k : int or sequence of int
    gain : {"linear", "exponential"}
        phi, or 2 to the power of phi, minus 1 (Burges et al. 2005). A negative phi gains
        nothing.
    discount : {"log2", "jarvelin2002"}
        1 / log2(r + 1), as in trec_eval, ranx and ir_measures, or 1 / log2(r) from the
        second rank on, as in the source.
    queries : {"rows", "columns"}
    leave_out : pair of int arrays, optional
        The ground truth of each query, to remove it from both lists.
    best : MostSimilar, optional
        The most similar items of these queries, without ``leave_out``. Computed by
        default.
    rows : int array, shape (queries,), optional
        The query of phi for each row of ``top``. By default ``top`` has all queries.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query that has no phi above 0 with any item of the gallery.

    Raises
    ------
    InputError
        If ``top`` has too few ranks, contains an item twice or an item that is not in
        the gallery, or a phi that is needed is NaN. The message names the query.

    References
    ----------
    Järvelin and Kekäläinen, 2002, section 2. Burges et al., 2005, Learning to rank using
    gradient descent, ICML.

    Examples
    --------
    >>> ndcg([[1, 0, 2]], np.array([[3.0, 2.0, 0.0, 1.0]]), (1, 3)).round(4).tolist()
    [[0.6667, 0.8175]]
    """
    check_choice("gain", gain, ("linear", "exponential"))
    check_choice("discount", discount, ("log2", "jarvelin2002"))
    cutoffs = as_cutoffs(k)
    largest_cutoff = max(cutoffs)
    matrix = as_matrix(phi)
    retrieved = Retrieved(top, matrix, largest_cutoff, queries, leave_out, rows)
    best = retrieved.best(largest_cutoff, best)
    sums = []
    for values in (retrieved.phi(), best.values):
        ranks = np.arange(1, values.shape[1] + 1)
        gains = discounted_gains(values, ranks, gain, discount)
        sums.append(_running_sums(gains, cutoffs))
    retrieved_sums, best_sums = sums
    return divide(retrieved_sums, best_sums)


def discounted_gains(
    values: Floats, ranks: Ints, gain: Gain, discount: Discount
) -> Floats:
    """Return the gains of values at ranks, with gain and discount as for `ndcg`."""
    positive = np.maximum(values, 0.0)
    gains = positive
    if gain == "exponential":
        with np.errstate(over="ignore"):
            gains = np.exp2(positive) - 1
    shifted_ranks = ranks + 1
    if discount == "jarvelin2002":
        shifted_ranks = np.maximum(ranks, 2)
    discounted: Floats = gains * (1 / np.log2(shifted_ranks))
    return discounted
