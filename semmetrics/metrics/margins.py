"""Semantic adaptive margins, computed from a matrix phi, and the triplet loss.

Conventions
-----------
A triplet is an image with its caption, a caption of another image (the negative
caption), and another image (the negative image). All arrays have one row per triplet.
They are numpy arrays or torch tensors. The results are of the same type, and gradients
flow through tensors.

phi compares the references of the positive image with a caption. For the negative image,
it takes a caption of that image.

Equation 7 of the paper exchanges the negatives, and so does the released code. The margin
of the term with the negative caption comes from the caption of the negative image, and
the other way round. ``pairing="own"`` takes each margin from the negative of its own
term.

The released code broadcasts the vector of margins along the columns of a square table. So
each term gets the margin of another triplet, namely the one that its negative caption
belongs to. These functions do not do this. To reproduce it, pass the margins in that
order.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 3.3, and the released
code, AndresPMD/semantic_adaptive_margin.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import check_choice
from semmetrics.core.backend import check_not_masked, is_torch, to_numpy
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

    Here :math:`G_p` are the references of the image, :math:`c_p` is its caption,
    :math:`c_l` a caption of the negative image and :math:`c_m` the negative caption.

    Parameters
    ----------
    positive, negative_caption, negative_image : arrays or tensors, shape (n,)
        phi of the image's references with its caption, with the negative caption, and
        with the caption of the negative image.
    tau : float
        The temperature, above 0. Larger values give smaller margins. The released code
        uses 3. The paper tries 3, 5 and 10.
    pairing : {"equation7", "own"}
        "equation7" is the equation above. "own" exchanges :math:`c_l` and :math:`c_m`,
        so that each term of the loss has the margin of its own negative.
    most : float, optional
        An upper limit for margins. The released code uses 1.0, the equation has no limit.

    Returns
    -------
    i2t, t2i : arrays or tensors, shape (n,)
        Below 0 if the negative is more similar than the positive caption.

    Raises
    ------
    InputError
        If tau is not above 0, the pairing is unknown, or shapes differ.

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
    positive_phi, caption_phi, image_phi = _as_vectors(
        positive, negative_caption, negative_image
    )
    if pairing == "equation7":
        i2t = (positive_phi - image_phi) / tau
        t2i = (positive_phi - caption_phi) / tau
    else:
        i2t = (positive_phi - caption_phi) / tau
        t2i = (positive_phi - image_phi) / tau
    if most is None:
        return i2t, t2i
    return i2t.clip(max=most), t2i.clip(max=most)


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
        The similarities of the image with its caption, of the image with the negative
        caption, and of the negative image with the caption. Gradients flow to them.
    margins : pair of arrays or tensors of shape (n,), or of numbers
        The result of `adaptive_margins`. Two equal numbers give the plain triplet loss of
        equation 6.
    reduction : {"sum", "mean", "none"}
        How the losses of triplets are combined. The released code uses the sum.

    Returns
    -------
    float64 number or numpy array, or a tensor
        At least 0.

    Raises
    ------
    InputError
        If shapes differ, or the reduction is unknown.

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
    matching, with_negative_caption, with_negative_image = _as_vectors(
        positive, negative_caption, negative_image
    )
    i2t_margin, t2i_margin = margins
    i2t_loss = _hinge(i2t_margin, with_negative_caption, matching)
    t2i_loss = _hinge(t2i_margin, with_negative_image, matching)
    loss = 0.0 + i2t_loss + t2i_loss  # 0.0 turns a loss of -0.0 into 0.0
    if reduction == "sum":
        return loss.sum()
    if reduction == "mean":
        return loss.mean()
    return loss


def _hinge(margin: Any, negative: Any, positive: Any) -> Any:
    """Return max(margin + negative - positive, 0) for each triplet."""
    if is_torch(margin) and not is_torch(positive):
        margin = to_numpy(margin)
    _, margin = _as_vectors(positive, margin)
    return (margin + negative - positive).clip(min=0.0)


def _as_vectors(*values: Any) -> list[Any]:
    """Convert all values to vectors of one type: tensors if any of them is a tensor.

    All values but the first may be numbers.

    Raises
    ------
    InputError
        If shapes differ.
    """
    tensors = [value for value in values if is_torch(value)]
    vectors: list[Any] = []
    for value in values:
        vector = value
        if not is_torch(value):
            check_not_masked(value, "a vector")
            vector = np.asarray(value, np.float64)
            if tensors:
                vector = tensors[0].new_tensor(vector)
        vectors.append(vector)
        _check_shape(vector, vectors[0])
    return vectors


def _check_shape(vector: Any, first: Any) -> None:
    """Check that ``first`` is a vector, and that ``vector`` is a number or as long."""
    shape = tuple(vector.shape)
    first_shape = tuple(first.shape)
    if len(first_shape) != 1 or shape not in ((), first_shape):
        wanted = f"vectors of one length, as the first has {first_shape}"
        raise InputError("wrong-shape", role="a vector", shape=shape, wanted=wanted)
