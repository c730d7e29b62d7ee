"""Rankings judged by a matrix phi of semantic similarity, and margins that follow it.

Conventions
-----------
phi has a row for each image and a column for each caption, whatever the direction; it, rankings
(``top``) and relations are those of `semmetrics.metrics.relations`. Of equal numbers the first in
the gallery wins, unlike in the released code of Biten et al., where any may (see
`semmetrics.metrics.retrieval`).

Values are those of each query, in [0, 1] where phi is not negative, higher is better; papers print
means in percent. nan stands for what is not defined, of which each function says the one cause.

Margins are of triplets in a row: an image and its caption, a caption that is not of the image, and
an image that is not of the caption. Their arrays are those of numpy or tensors of torch; a result
is of the kind of its input, and gradients flow through tensors. phi of a negative image is that of
a caption of it, for the references of the positive image. Equation 7 crosses the negatives, and so
does the released code: the margin of the term with the negative caption comes from the caption of
the negative image, and the other way round. ``pairing="own"`` takes each margin from the negative
of its own term. The released code also adds the margin of another triplet of the batch, the one
whose caption is the negative, because its vector of margins runs along the columns of a square
table. That is not done here; give the margins in that order to have it.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, sections 3.2, 3.3 and 4.1; their
released code, furkanbiten/ncs_metric and AndresPMD/semantic_adaptive_margin.
Järvelin and Kekäläinen, 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.backend import is_torch, refuse_masked
from semmetrics.core.ragged import Floats, lengths, row_numbers
from semmetrics.errors import InputError
from semmetrics.metrics.definition import is_cutoff
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.relations import Queries, Retrieved, as_matrix, check_relation, to_numpy
from semmetrics.metrics.retrieval import MostSimilar, best_of

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
    cutoffs = _cutoffs(k)
    most = max(cutoffs)
    size = extended if isinstance(extended, int) else most
    if size < 1 or extended not in (None, "k", size):
        wanted = "a whole number from 1, or 'k'"
        raise InputError("bad-option", name="extended", value=extended, wanted=wanted)
    got = Retrieved.of(top, as_matrix(phi), most, queries, leave_out, rows)
    best, found = best_of(got, max(most, size), best), got.phi()
    if extended is None:
        at = np.minimum(cutoffs, np.maximum(best.sizes, 1)[:, None])
        return _share(_sums(found, cutoffs) / at, _sums(best.values, cutoffs) / at, _NCS_EPSILON)
    sizes = cutoffs if extended == "k" else [size] * len(cutoffs)
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
    with np.errstate(over="ignore", invalid="ignore"):
        np.cumsum(table, axis=1, out=running[:, 1:])
    if not np.isfinite(running).all():
        raise InputError("infinite-sum", role="phi, or of 2 to the power of phi")
    return running[:, np.minimum(cutoffs, table.shape[1])]


def _cutoffs(k: int | Sequence[int]) -> list[int]:
    """Return the cutoffs.

    Raises
    ------
    InputError
        If there is none, or one is below 1.
    """
    found = [k] if isinstance(k, int | np.integer) else [*k]
    if not found or not all(map(is_cutoff, found)):
        raise InputError("bad-option", name="k", value=k, wanted="whole numbers from 1")
    return [int(one) for one in found]


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
    check_choice("variant", variant, ("hard", "soft", "weighted", "hit"))
    weighs = variant in ("soft", "weighted")
    if weighs and phi is None:
        raise InputError("needs-option", what=f"variant={variant!r}", name="phi")
    if phi is None:  # the least gallery that holds all places
        table = np.asarray(to_numpy(top))
        parts = [check_relation(one, None, None, name)[1]
                 for one, name in ((relevant, "relevant"), (leave_out, "leave_out"))
                 if one is not None]  # fmt: skip
        places = [part for part in (table, *parts) if part.size and part.dtype.kind in "iu"]
        width = max((int(part.max()) + 1 for part in places), default=0)
        number = len(np.atleast_1d(table)) if rows is None else int(np.max(rows, initial=-1)) + 1
        matrix, queries = np.broadcast_to(0.0, (number, width)), "rows"
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
    check_choice("gain", gain, ("linear", "exponential"))
    check_choice("discount", discount, ("log2", "jarvelin2002"))
    cutoffs = _cutoffs(k)
    got = Retrieved.of(top, as_matrix(phi), max(cutoffs), queries, leave_out, rows)
    best = best_of(got, max(cutoffs), best)
    sums = []
    for values in (got.phi(), best.values):
        above, rank = np.maximum(values, 0.0), np.arange(1, values.shape[1] + 1)
        with np.errstate(over="ignore"):
            gains = np.exp2(above) - 1 if gain == "exponential" else above
        weights = 1 / np.log2(rank + 1 if discount == "log2" else np.maximum(rank, 2))
        sums.append(_sums(gains * weights, cutoffs))
    return divide(sums[0], sums[1])


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
        missing = np.isnan(table)
        filled = np.where(missing, 0.0 if np.isnan(undefined) else undefined, table)
        counted = (
            (~missing).sum(axis=0) if np.isnan(undefined) else np.full(table.shape[1], len(table))
        )
        total += float(divide(filled.sum(axis=0), counted).sum())
    return 100 * total


TAU = 3.0  # the default of the released code; the paper tries 3, 5 and 10


def adaptive_margins(
    positive: ArrayLike,
    negative_caption: ArrayLike,
    negative_image: ArrayLike,
    *,
    tau: float = TAU,
    pairing: Literal["equation7", "own"] = "equation7",
    most: float | None = None,
) -> tuple[Any, Any]:
    r"""Return the semantic adaptive margins of triplets.

    .. math:: \alpha_{i2t} = (\phi(G_p, c_p) - \phi(G_p, c_l)) / \tau, \quad
              \alpha_{t2i} = (\phi(G_p, c_p) - \phi(G_p, c_m)) / \tau

    with the references :math:`G_p` of the image, its caption :math:`c_p`, a caption :math:`c_l` of
    the negative image and the negative caption :math:`c_m`.

    Parameters
    ----------
    positive, negative_caption, negative_image : arrays or tensors, shape (n,)
        phi of the image's references with its caption, with the negative caption, and with the
        caption of the negative image.
    tau : float
        The temperature, above 0: the larger, the smaller the margins.
    pairing : {"equation7", "own"}
        As the equation has it; or with :math:`c_l` and :math:`c_m` exchanged, so that the margin of
        a term of the loss is that of its own negative.
    most : float, optional
        No margin is larger. The released code has 1.0, the equation has no limit.

    Returns
    -------
    i2t, t2i : arrays or tensors, shape (n,)
        Below 0 where the negative is more similar than the positive caption.

    Raises
    ------
    InputError
        If tau is not above 0, the pairing is not known, or shapes differ.

    References
    ----------
    Biten et al., 2022, equation 7.

    Examples
    --------
    >>> i2t, t2i = adaptive_margins([8.0, 6.0], [2.0, 0.0], [5.0, 7.5], tau=3)
    >>> i2t.tolist(), t2i.tolist()
    ([1.0, -0.5], [2.0, 2.0])
    >>> adaptive_margins([8.0], [2.0], [5.0], tau=3, pairing="own", most=1.5)[0].tolist()
    [1.5]
    """
    if not tau > 0:
        raise InputError("bad-option", name="tau", value=tau, wanted="a number above 0")
    check_choice("pairing", pairing, ("equation7", "own"))
    own, *others = _vectors(
        positive=positive, negative_caption=negative_caption, negative_image=negative_image
    )
    crossed = others[::-1] if pairing == "equation7" else others
    i2t, t2i = ((own - other) / tau for other in crossed)
    return (i2t, t2i) if most is None else (i2t.clip(max=most), t2i.clip(max=most))


def sam_triplet_loss(
    positive: ArrayLike,
    negative_caption: ArrayLike,
    negative_image: ArrayLike,
    margins: tuple[Any, Any],
    *,
    reduction: Literal["sum", "mean", "none"] = "sum",
) -> Any:
    r"""Return the triplet loss with a margin for each triplet.

    .. math:: \max(\alpha_{i2t} + \psi(i_p, c_m) - \psi(i_p, c_p), 0) +
              \max(\alpha_{t2i} + \psi(i_l, c_p) - \psi(i_p, c_p), 0)

    Parameters
    ----------
    positive, negative_caption, negative_image : arrays or tensors, shape (n,)
        Similarity of the image with its caption and with the negative caption, and of the negative
        image with the caption. Gradients flow to them.
    margins : pair of arrays or tensors, shape (n,), or of numbers
        As `adaptive_margins` gives them; two equal numbers make it the plain triplet loss of
        equation 6.
    reduction : {"sum", "mean", "none"}
        Over triplets; the released code sums.

    Returns
    -------
    float64 number or array of numpy, or a tensor
        Not below 0.

    Raises
    ------
    InputError
        If shapes differ, or the reduction is not known.

    References
    ----------
    Biten et al., 2022, equations 6 and 7.

    Examples
    --------
    >>> margins = adaptive_margins([8.0], [2.0], [5.0], tau=10)
    >>> float(sam_triplet_loss([0.9], [0.5], [0.7], margins).round(4))
    0.4
    >>> float(sam_triplet_loss([0.9], [0.5], [0.7], (0.2, 0.2)).round(4))
    0.0
    """
    check_choice("reduction", reduction, ("sum", "mean", "none"))
    own, *others = _vectors(
        positive=positive, negative_caption=negative_caption, negative_image=negative_image
    )
    loss: Any = 0.0
    for margin, other in zip(margins, others, strict=True):
        margin = _vector(margin, own if is_torch(own) else None, "margins")
        if tuple(margin.shape) not in ((), tuple(own.shape)):
            raise InputError("wrong-shape", role="margins", shape=tuple(margin.shape),
                             wanted="one margin for each triplet, or one number")  # fmt: skip
        loss = loss + (margin + other - own).clip(min=0.0)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _vectors(**given: Any) -> list[Any]:
    """Return all as vectors of one kind, torch's if any is a tensor.

    Raises
    ------
    InputError
        If shapes differ.
    """
    tensor = next((one for one in given.values() if is_torch(one)), None)
    found = {name: _vector(one, tensor, name) for name, one in given.items()}
    shape = tuple(next(iter(found.values())).shape)
    for name, one in found.items():
        if len(shape) != 1 or tuple(one.shape) != shape:
            wanted = f"vectors of one length, as {next(iter(found))} has {shape}"
            raise InputError("wrong-shape", role=name, shape=tuple(one.shape), wanted=wanted)
    return list(found.values())


def _vector(value: Any, tensor: Any, name: str) -> Any:
    """Return a value as float64 of numpy, or as a tensor like another one."""
    if is_torch(value) and tensor is not None:
        return value
    refuse_masked(value, name)
    array = np.asarray(value, np.float64)
    return array if tensor is None else tensor.new_tensor(array)
