"""Margins and the triplet loss that follow a matrix phi of semantic similarity.

Conventions
-----------
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
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.3; their released code,
AndresPMD/semantic_adaptive_margin.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.backend import is_torch, refuse_masked, to_numpy
from semmetrics.errors import InputError


def adaptive_margins(
    positive: ArrayLike,
    negative_caption: ArrayLike,
    negative_image: ArrayLike,
    *,
    tau: float = 3.0,
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
        The temperature, above 0: the larger, the smaller the margins. The released code has 3, the
        paper tries 3, 5 and 10.
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
    own, *others = _vectors(positive, negative_caption, negative_image)
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
    own, *others = _vectors(positive, negative_caption, negative_image)
    loss: Any = 0.0
    for one, other in zip(margins, others, strict=True):
        margin = _vectors(
            own, to_numpy(one) if is_torch(one) and not is_torch(own) else one
        )[1]
        loss = loss + (margin + other - own).clip(min=0.0)
    return loss if reduction == "none" else getattr(loss, reduction)()


def _vectors(*given: Any) -> list[Any]:
    """Return all as vectors of one kind, torch's if any is a tensor; all but one may be numbers.

    Raises
    ------
    InputError
        If shapes differ.
    """
    tensor, found = next(filter(is_torch, given), None), list[Any]()
    for value in given:
        if not is_torch(value):
            refuse_masked(value, "a vector")
            value = np.asarray(value, np.float64)
            value = value if tensor is None else tensor.new_tensor(value)
        found.append(value)
        shape, first = tuple(value.shape), tuple(found[0].shape)
        if len(first) != 1 or shape not in ((), first):
            wanted = f"vectors of one length, as the first has {first}"
            raise InputError("wrong-shape", role="a vector", shape=shape, wanted=wanted)
    return found
