"""Margins from phi and the triplet loss: by hand, in numpy and in torch, with gradients."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from refusals import refused

from semmetrics.metrics import adaptive_margins, sam_triplet_loss

PHI = [8.0, 6.0, 1.0], [2.0, 0.0, 4.0], [5.0, 7.5, 1.0]
PSI = [0.9, 0.2, 0.5], [0.5, 0.4, 0.9], [0.7, 0.1, -0.5]


def by_hand(tau, pairing, most=None):
    """Both margins and the loss of each triplet, a triplet at a time."""
    first, second, losses = [], [], []
    for (own, caption, image), (same, other, from_other) in zip(
        zip(*PHI, strict=True), zip(*PSI, strict=True), strict=True
    ):
        a, b = (image, caption) if pairing == "equation7" else (caption, image)
        a, b = (own - a) / tau, (own - b) / tau
        if most is not None:
            a, b = min(a, most), min(b, most)
        first.append(a)
        second.append(b)
        losses.append(max(a + other - same, 0) + max(b + from_other - same, 0))
    return first, second, losses


@pytest.mark.parametrize("most", [None, 1.0])
@pytest.mark.parametrize("pairing", ["equation7", "own"])
@pytest.mark.parametrize("tau", [1.0, 3.0, 10])
def test_by_hand(tau, pairing, most):
    i2t, t2i, losses = by_hand(tau, pairing, most)
    margins = adaptive_margins(*PHI, tau=tau, pairing=pairing, most=most)
    assert_allclose(margins, (i2t, t2i), rtol=1e-15)
    assert_allclose(
        sam_triplet_loss(*PSI, margins, reduction="none"), losses, rtol=1e-14
    )
    assert sam_triplet_loss(*PSI, margins) == pytest.approx(sum(losses))
    assert sam_triplet_loss(*PSI, margins, reduction="mean") == pytest.approx(
        sum(losses) / 3
    )


def test_equal_margins_are_the_plain_triplet_loss():
    own, caption, image = map(np.array, PSI)
    plain = np.maximum(0.2 + caption - own, 0) + np.maximum(0.2 + image - own, 0)
    assert_array_equal(sam_triplet_loss(*PSI, (0.2, 0.2), reduction="none"), plain)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_torch_gives_the_same_with_gradients(tensor, kind):
    import torch

    def make(values):
        return tensor(np.array(values)).to(getattr(torch, kind))

    margins = adaptive_margins(*map(make, PHI), tau=10.0, most=0.3)
    expected = adaptive_margins(*PHI, tau=10.0, most=0.3)
    for one, other in zip(margins, expected, strict=True):
        assert one.dtype == getattr(torch, kind)
        assert_allclose(one.cpu(), other, rtol=1e-6)
    psi = [make(values).requires_grad_() for values in PSI]
    for given in (margins, expected):  # margins of numpy are taken, too
        loss = sam_triplet_loss(*psi, given)
        assert float(loss.detach()) == pytest.approx(
            sam_triplet_loss(*PSI, expected), rel=1e-6
        )
        gradients = torch.autograd.grad(loss, psi)
        _, caption, image = (np.array(values) for values in PSI)
        own = np.array(PSI[0])
        first = (np.array(expected[0]) + caption - own > 0).astype(float)
        second = (np.array(expected[1]) + image - own > 0).astype(float)
        for gradient, slope in zip(
            gradients, (-first - second, first, second), strict=True
        ):
            assert_array_equal(gradient.cpu(), slope)
    assert torch.autograd.gradcheck(
        lambda *some: sam_triplet_loss(*some, expected),
        [tensor(np.array(values)).requires_grad_() for values in PSI],
    )


ONE = [1.0]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: adaptive_margins(ONE, ONE, ONE, tau=0), "bad-option"),
        (lambda: adaptive_margins(ONE, [1.0, 2.0], ONE), "wrong-shape"),
        (lambda: adaptive_margins([ONE], [ONE], [ONE]), "wrong-shape"),
        (
            lambda: adaptive_margins(np.ma.masked_equal([1.0, 2.0], 2), ONE, ONE),
            "masked",
        ),
        (lambda: adaptive_margins(ONE, ONE, ONE, pairing="both"), "bad-choice"),
        (lambda: sam_triplet_loss(ONE, ONE, ONE, ([1.0, 2.0], 0.0)), "wrong-shape"),
        (
            lambda: sam_triplet_loss(ONE, ONE, ONE, (0, 0), reduction="all"),
            "bad-choice",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, code):
    with refused(code):
        call()
