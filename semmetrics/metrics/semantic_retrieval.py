"""Semantic recall, NCS and graded nDCG: rankings judged by a matrix phi of semantic similarity.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction; it, rankings
(``top``) and relations are those of `semmetrics.metrics.relations`. Of equal numbers the first in
the gallery wins, unlike in the released code of Biten et al., where any may (see
`semmetrics.metrics.similar_items`).

Values are those of each query, in [0, 1] where phi is not negative, higher is better; papers print
means in percent. nan stands for what is not defined, of which each function says the one cause.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, sections 3.2 and 3.3; their released
code, furkanbiten/ncs_metric.
Järvelin and Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import checked
from semmetrics.core.ragged import Floats, lengths, row_numbers
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.relations import Queries, Retrieved, as_matrix, check_relation, to_numpy
from semmetrics.metrics.similar_items import MostSimilar, best_of

__all__ = ["ncs", "ndcg", "nsum", "semantic_recall"]

_NCS_EPSILON, _SOFT_EPSILON = 1e-10, 1e-20  # of the released code


@checked
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
    cutoffs = _cutoffs(k)
    most = max(cutoffs)
    held = extended if isinstance(extended, int) else most
    if held < 1 or extended not in (None, "k", held):
        raise InputError(f"extended={extended!r}", remedy="give a whole number from 1, or 'k'")
    got = Retrieved.of(top, as_matrix(phi), most, queries, leave_out, rows)
    best, found = best_of(got, max(most, held), best), got.phi()
    if extended is None:
        at = np.minimum(cutoffs, np.maximum(best.sizes, 1)[:, None])
        return _share(_sums(found, cutoffs) / at, _sums(best.values, cutoffs) / at, _NCS_EPSILON)
    sizes = cutoffs if extended == "k" else [held] * len(cutoffs)
    shares = [
        _share(_sums(found * got.among(best.relation(m)), [one]), _sums(best.values, [m]), 0.0)
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
    np.cumsum(table, axis=1, out=running[:, 1:])
    return running[:, np.minimum(cutoffs, table.shape[1])]


def _cutoffs(k: int | Sequence[int]) -> list[int]:
    """Return the cutoffs.

    Raises
    ------
    InputError
        If there is none, or one is below 1.
    """
    found = [int(one) for one in ([k] if isinstance(k, int | np.integer) else k)]
    if not found or min(found) < 1:
        raise InputError(f"k={k}", remedy="give whole numbers from 1")
    return found


@checked
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
        As for `ncs`.
    relevant : pair of int arrays
        The extended ground truth of each query: ``most_similar(phi, m).relation(m)`` for equation
        4, `captions_of_images` and `images_of_captions` for that of the released code.
    k : int or sequence of int
    variant : {"hard", "soft", "weighted", "hit"}
    phi : array, shape (images, captions), optional
        For "soft" and "weighted", which need it.
    queries, leave_out, rows
        As for `ncs`; without a phi the gallery is what ``top`` and ``relevant`` hold.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query whose extended ground truth is empty or, where it is weighted, has no phi
        above 0 in sum.

    Raises
    ------
    InputError
        As `ncs`; or if phi is missing.

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
    cutoffs = _cutoffs(k)
    if variant not in ("hard", "soft", "weighted", "hit"):
        raise InputError(f"variant={variant!r}", remedy="choose hard, soft, weighted or hit")
    weighs = variant in ("soft", "weighted")
    if weighs and phi is None:
        raise InputError(f"variant={variant} needs phi", remedy="give phi=")
    if phi is None:
        matrix, queries = _Shape.of(top, relevant, leave_out, rows), "rows"
    else:
        matrix = as_matrix(phi)
    got = Retrieved.of(top, matrix, max(cutoffs), queries, leave_out, rows)
    relevant = check_relation(relevant, len(got.places), got.width, "relevant")
    hits, size = got.among(relevant), lengths(relevant[0])[:, None]
    if weighs:
        rows = row_numbers(relevant[0])
        whole = np.bincount(rows, got.phi_of(relevant), len(size)).astype(np.float64)[:, None]
        share = _share(_sums(got.phi() * hits, cutoffs), whole, _SOFT_EPSILON)
        return share / np.maximum(size, 1) if variant == "soft" else share
    found = _sums(hits, cutoffs)
    return divide(np.minimum(found, 1), size > 0) if variant == "hit" else divide(found, size)


@dataclass(frozen=True)
class _Shape:
    """The shape of a matrix whose values are not needed."""

    shape: tuple[int, int]

    @staticmethod
    def of(top: Any, relevant: Any, leave_out: Any, rows: Any) -> _Shape:
        """Return the least gallery that holds all places."""
        table, indices = (
            np.asarray(to_numpy(top)),
            check_relation(relevant, None, None, "relevant")[1],
        )
        out = None if leave_out is None else check_relation(leave_out, None, None, "leave_out")
        every = (table, indices, *([] if out is None else [out[1]]))
        places = [part for part in every if part.size and part.dtype.kind in "iu"]
        width = max((int(part.max()) + 1 for part in places), default=0)
        number = len(np.atleast_1d(table)) if rows is None else int(np.max(rows, initial=-1)) + 1
        return _Shape((number, width))


@checked
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

    .. math:: \sum_{r=1}^{K} g(\phi_{q_r}) \, d(r) \Big/ \sum_{r=1}^{K} g(\phi_{b_r}) \, d(r)

    with the retrieved items :math:`q` and the most similar ones :math:`b`.

    Parameters
    ----------
    top, phi, k, queries, leave_out, best, rows
        As for `ncs`.
    gain : {"linear", "exponential"}
        phi, or 2 to the power of phi less 1 (Burges et al. 2005); a phi below 0 gains nothing.
    discount : {"log2", "jarvelin2002"}
        1 / log2(r + 1), as trec_eval, ranx and ir_measures have it; or 1 / log2(r) from the second
        rank on, as in the source.

    Returns
    -------
    array, shape (queries, cutoffs), float64, in [0, 1]
        nan for a query that no item of the gallery has a phi above 0 with.

    Raises
    ------
    InputError
        As `ncs`.

    References
    ----------
    Järvelin and Kekäläinen, 2002, section 2; Burges et al., 2005, Learning to rank using gradient
    descent, ICML.

    Examples
    --------
    >>> ndcg([[1, 0, 2]], np.array([[3.0, 2.0, 0.0, 1.0]]), (1, 3)).round(4).tolist()
    [[0.6667, 0.8175]]
    """
    for name, value, known in (
        ("gain", gain, ("linear", "exponential")),
        ("discount", discount, ("log2", "jarvelin2002")),
    ):
        if value not in known:
            raise InputError(f"{name}={value!r}", remedy=f"choose {' or '.join(known)}")
    cutoffs = _cutoffs(k)
    got = Retrieved.of(top, as_matrix(phi), max(cutoffs), queries, leave_out, rows)
    best = best_of(got, max(cutoffs), best)
    mine, ideal = (
        _sums(_gains(table, gain) * _weights(table.shape[1], discount), cutoffs)
        for table in (got.phi(), best.values)
    )
    return divide(mine, ideal)


def _weights(ranks: int, discount: str) -> Floats:
    rank = np.arange(1, ranks + 1)
    weights: Floats = 1 / np.log2(rank + 1 if discount == "log2" else np.maximum(rank, 2))
    return weights


def _gains(phi: Floats, gain: str) -> Floats:
    above = np.maximum(phi, 0.0)
    return np.exp2(above) - 1 if gain == "exponential" else above


@checked
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
        table = np.atleast_2d(np.asarray(values, np.float64))
        missing = np.isnan(table)
        filled = np.where(missing, 0.0 if np.isnan(undefined) else undefined, table)
        counted = (
            (~missing).sum(axis=0) if np.isnan(undefined) else np.full(table.shape[1], len(table))
        )
        total += float(divide(filled.sum(axis=0), counted).sum())
    return 100 * total
