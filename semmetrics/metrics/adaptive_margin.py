r"""Margins that follow semantic similarity, and the triplet loss that uses them.

Conventions
-----------
Everything is of triplets in a row: an image and its caption, a caption that is not of the image,
and an image that is not of the caption. Arrays are those of numpy or tensors of torch; a result is
of the kind of its input, and gradients flow through tensors.

phi of a negative image is that of a caption of it, for the references of the positive image.
Equation 7 crosses the negatives, and so does the released code: the margin of the term with the
negative caption comes from the caption of the negative image, and the other way round.
``pairing="own"`` takes each margin from the negative of its own term.

The released code also adds the margin of another triplet of the batch, the one whose caption is the
negative, because its vector of margins runs along the columns of a square table. That is not done
here; give the margins in that order to have it.

References
----------
Biten et al., 2022, Is an image worth five sentences?, WACV, section 4.1 and equations 6 and 7;
their released code, AndresPMD/semantic_adaptive_margin.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.backend import is_torch
from semmetrics.errors import InputError
from semmetrics.messages import brief

__all__ = ["adaptive_margins", "sam_triplet_loss"]

TAU = 3.0  # the default of the released code; the paper tries 3, 5 and 10


@checked
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
        raise InputError(f"tau={tau}", remedy="give a number above 0")
    if pairing not in ("equation7", "own"):
        raise InputError(f"pairing={pairing!r}", remedy="choose equation7 or own")
    parts = _alike(positive=positive, negative_caption=negative_caption,
                   negative_image=negative_image)  # fmt: skip
    own = parts[0]
    crossed = parts[:0:-1] if pairing == "equation7" else parts[1:]
    margins = [(own - other) / tau for other in crossed]
    if most is not None:
        margins = [_at_most(margin, most) for margin in margins]
    return margins[0], margins[1]


@checked
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
    if reduction not in ("sum", "mean", "none"):
        raise InputError(f"reduction={reduction!r}", remedy="choose sum, mean or none")
    parts = _alike(positive=positive, negative_caption=negative_caption,
                   negative_image=negative_image)  # fmt: skip
    own = parts[0]
    loss: Any = 0.0
    for margin, other in zip(_margins(margins, own), parts[1:], strict=True):
        loss = loss + _at_least(margin + other - own, 0.0)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _alike(**given: Any) -> list[Any]:
    """Return all as vectors of one kind, torch's if any is a tensor.

    Raises
    ------
    InputError
        If shapes differ; names both.
    """
    tensor = next((one for one in given.values() if is_torch(one)), None)
    found = {name: _as_kind(one, tensor) for name, one in given.items()}
    shapes = {name: tuple(one.shape) for name, one in found.items()}
    first = next(iter(shapes.items()))
    for name, shape in shapes.items():
        if len(shape) != 1 or shape != first[1]:
            raise InputError(
                f"{first[0]} has shape {first[1]}, and {name} {shape}",
                remedy="give vectors with one number a triplet",
            )
    return list(found.values())


def _as_kind(value: Any, tensor: Any) -> Any:
    """Return a value as float64 of numpy, or as a tensor like another one."""
    if tensor is None:
        return np.asarray(value, np.float64)
    if is_torch(value):
        return value
    return tensor.new_tensor(np.asarray(value, np.float64))


def _margins(margins: tuple[Any, Any], own: Any) -> list[Any]:
    """Return both margins like the similarities.

    Raises
    ------
    InputError
        If they do not fit them.
    """
    try:
        found = [_as_kind(one, own if is_torch(own) else None) for one in margins]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"margins={brief(margins)}", remedy="give two arrays of numbers") from None
    for one in found:
        if tuple(one.shape) not in ((), tuple(own.shape)):
            raise InputError(
                f"a margin has shape {tuple(one.shape)}, and similarities {tuple(own.shape)}",
                remedy="give one margin a triplet, or one number",
            )
    return found


def _at_least(values: Any, limit: float) -> Any:
    return values.clamp(min=limit) if is_torch(values) else np.maximum(values, limit)


def _at_most(values: Any, limit: float) -> Any:
    return values.clamp(max=limit) if is_torch(values) else np.minimum(values, limit)
