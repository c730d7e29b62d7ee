"""Fit the network that makes a vector of the tuned model of a vector of the static model.

It is for labels without a tuned vector: phrases that are put together, and words that are no nouns
of WordNet. The loss of a batch of texts is one minus the cosine with the tuned model's vector, and
the mean square of the error of the cosines of all pairs.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

__all__ = ["HIDDEN", "fit_network"]

HIDDEN = 384
_EPOCHS = 15
_BATCH = 1024
_RATE = 2e-3
_DECAY = 0.02
_DROPOUT = 0.1
_PAIRS = 5.0
_SEED = 20261201

Matrix = NDArray[np.float32]


class _Network(torch.nn.Module):
    """The network of `semmetrics.embed.same`, with dropout on the hidden layer."""

    def __init__(self, linear: Matrix) -> None:
        super().__init__()
        inputs, dimension = linear.shape
        self.linear = torch.nn.Linear(inputs, dimension)
        self.linear.weight.data = torch.tensor(linear.T.copy())
        torch.nn.init.zeros_(self.linear.bias)
        self.hidden = torch.nn.Linear(inputs, HIDDEN)
        with torch.no_grad():
            self.hidden.weight *= np.sqrt(inputs)  # inputs have length 1
        self.out = torch.nn.Linear(HIDDEN, dimension, bias=False)
        torch.nn.init.zeros_(self.out.weight)
        self.dropout = torch.nn.Dropout(_DROPOUT)

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        hidden = self.dropout(F.gelu(self.hidden(inputs), approximate="tanh"))
        return F.normalize(self.linear(inputs) + self.out(hidden), dim=1)


def fit_network(inputs: Matrix, targets: Matrix) -> dict[str, Matrix]:
    """Fit the network.

    Parameters
    ----------
    inputs : array, shape (texts, 320)
        Vectors of the static model.
    targets : array, shape (texts, dimension)
        Vectors of the tuned model, of length 1.

    Returns
    -------
    dict of str to array
        ``linear`` and ``hidden`` with a row per input, ``out`` with a row per hidden unit,
        ``hidden_bias`` and ``bias``.
    """
    torch.manual_seed(_SEED)
    start = np.linalg.lstsq(inputs, targets, rcond=None)[0].astype(np.float32)
    network = _Network(start)
    given = torch.as_tensor(inputs)
    wanted = torch.as_tensor(targets)
    steps = _EPOCHS * (len(inputs) // _BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=_RATE, total_steps=steps, pct_start=0.1
    )
    network.train()
    for _ in range(_EPOCHS):
        order = torch.randperm(len(inputs))
        for batch in order[: len(inputs) // _BATCH * _BATCH].split(_BATCH):
            made = network(given[batch])
            goal = wanted[batch]
            error = (made @ made.T - goal @ goal.T).square().mean()
            loss = (1 - (made * goal).sum(1)).mean() + _PAIRS * error
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            rates.step()
    return {
        "linear": network.linear.weight.detach().numpy().T.copy(),
        "hidden": network.hidden.weight.detach().numpy().T.copy(),
        "out": network.out.weight.detach().numpy().T.copy(),
        "hidden_bias": network.hidden.bias.detach().numpy(),
        "bias": network.linear.bias.detach().numpy(),
    }
