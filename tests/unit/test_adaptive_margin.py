"""Adaptive margins and the triplet loss, by hand, with NumPy and with torch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from refusals import refused

from semmetrics.metrics import adaptive_margins, sam_triplet_loss

# Of each of three triplets: the pair, with another caption, and with another image.
PHI = np.array([[8.0, 6.0, 1.0], [2.0, 0.0, 4.0], [5.0, 7.5, 1.0]])
PSI = np.array([[0.9, 0.2, 0.5], [0.5, 0.4, 0.9], [0.7, 0.1, -0.5]])


@pytest.mark.parametrize("most", [None, 1.0])
@pytest.mark.parametrize("pairing", ["equation7", "own"])
@pytest.mark.parametrize("tau", [1.0, 3.0, 10])
def test_margins_and_losses_equal_their_definition(tau, pairing, most):
    margins = adaptive_margins(*PHI, tau=tau, pairing=pairing, most=most)
    losses = sam_triplet_loss(*PSI, margins, reduction="none")

    pair, other_caption, other_image = PHI
    expected = np.array([pair - other_caption, pair - other_image]) / tau
    if pairing == "equation7":
        expected = expected[::-1]
    if most is not None:
        expected = np.minimum(expected, most)
    assert_allclose(margins, expected, rtol=1e-15)

    pair, other_caption, other_image = PSI
    of_captions = np.maximum(expected[0] + other_caption - pair, 0)
    of_images = np.maximum(expected[1] + other_image - pair, 0)
    assert_allclose(losses, of_captions + of_images, rtol=1e-14)
    assert sam_triplet_loss(*PSI, margins) == pytest.approx(losses.sum())
    mean = sam_triplet_loss(*PSI, margins, reduction="mean")
    assert mean == pytest.approx(losses.mean())


def test_margins_may_be_numbers():
    losses = sam_triplet_loss(*PSI, (0.2, 0.2), reduction="none")

    arrays = np.full((2, 3), 0.2)
    assert_allclose(losses, sam_triplet_loss(*PSI, arrays, reduction="none"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_gives_the_margins_of_numpy(tensor, dtype):
    phi = [tensor(values.astype(dtype)) for values in PHI]

    margins = adaptive_margins(*phi, tau=10.0, most=0.3)

    expected = adaptive_margins(*PHI, tau=10.0, most=0.3)
    for margin, expected_margin in zip(margins, expected, strict=True):
        assert str(margin.dtype) == f"torch.{dtype}"
        assert_allclose(margin.cpu(), expected_margin, rtol=1e-6)


def test_torch_gives_the_loss_of_numpy_with_gradients(tensor):
    import torch

    margins = adaptive_margins(*PHI, tau=10.0, most=0.3)
    psi = [tensor(values).requires_grad_() for values in PSI]

    loss = sam_triplet_loss(*psi, margins)

    assert loss.item() == pytest.approx(sam_triplet_loss(*PSI, margins))
    pair, caption, image = torch.autograd.grad(loss, psi)
    is_caption_near = margins[0] + PSI[1] - PSI[0] > 0
    is_image_near = margins[1] + PSI[2] - PSI[0] > 0
    assert caption.tolist() == is_caption_near.tolist()
    assert image.tolist() == is_image_near.tolist()
    assert pair.tolist() == (-(caption + image)).tolist()


def test_gradients_of_the_loss_equal_finite_differences(tensor):
    import torch

    margins = adaptive_margins(*PHI, tau=10.0, most=0.3)
    psi = [tensor(values).requires_grad_() for values in PSI]

    assert torch.autograd.gradcheck(lambda *psi: sam_triplet_loss(*psi, margins), psi)


VALUES = [1.0]


@pytest.mark.parametrize(
    ("phi", "options", "code"),
    [
        ([VALUES, VALUES, VALUES], {"tau": 0}, "bad-option"),
        ([VALUES, VALUES, VALUES], {"pairing": "both"}, "bad-choice"),
        ([VALUES, [1.0, 2.0], VALUES], {}, "wrong-shape"),
        ([[VALUES], [VALUES], [VALUES]], {}, "wrong-shape"),
        ([np.ma.masked_equal(VALUES, 1), VALUES, VALUES], {}, "masked"),
    ],
)
def test_invalid_arguments_of_margins_are_errors(phi, options, code):
    with refused(code):
        adaptive_margins(*phi, **options)


@pytest.mark.parametrize(
    ("margins", "reduction", "code"),
    [(([1.0, 2.0], 0.0), "sum", "wrong-shape"), ((0, 0), "all", "bad-choice")],
)
def test_invalid_arguments_of_the_loss_are_errors(margins, reduction, code):
    with refused(code):
        sam_triplet_loss(VALUES, VALUES, VALUES, margins, reduction=reduction)
