"""Average the weights of networks of which each was trained on from another.

    python -m embeddings.parsing.average WEIGHTS SHARE [WEIGHTS SHARE ...] --out weights.pt

Networks that began alike lie in one valley, and their average errs less than each. Words are those
of the last file; one that another file lacks is averaged over those that have it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

__all__ = ["average", "main"]

_WORDS = "words.weight"


def average(
    networks: Sequence[dict[str, Any]], shares: Sequence[float]
) -> dict[str, Any]:
    """Return the weighted average of trained networks, as `train` writes them.

    Parameters
    ----------
    networks : sequence of dict
        With equal sizes, tags and relations.
    shares : sequence of float
    """
    last, states = networks[-1], [one["state"] for one in networks]
    pairs = list(zip(states, shares, strict=True))
    state = {
        name: sum((share * one[name] for one, share in pairs), torch.zeros(()))
        / sum(shares)
        for name in last["state"]
        if name != _WORDS
    }
    words = last["vocabulary"]["words"]
    total, weight = torch.zeros_like(last["state"][_WORDS]), torch.zeros(len(words), 1)
    for network, share in zip(networks, shares, strict=True):
        here, there = _common(words, network["vocabulary"]["words"])
        total[here] += share * network["state"][_WORDS][there]
        weight[here] += share
    return {**last, "state": {**state, _WORDS: total / weight}}


def _common(words: Sequence[str], others: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Return the places of words that two lists share, in the one and in the other."""
    places = {word: place for place, word in enumerate(others)}
    pairs = [(here, places[word]) for here, word in enumerate(words) if word in places]
    here, there = torch.tensor(pairs).T
    return here, there


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    command = argparse.ArgumentParser(prog="parsing.average", description=__doc__)
    command.add_argument("weights", nargs="+", metavar="WEIGHTS SHARE")
    command.add_argument("--out", type=Path, required=True)
    given = command.parse_args(arguments)
    files, shares = given.weights[::2], [float(share) for share in given.weights[1::2]]
    networks = [torch.load(Path(file), weights_only=True) for file in files]
    torch.save(average(networks, shares), given.out)


if __name__ == "__main__":
    main()
