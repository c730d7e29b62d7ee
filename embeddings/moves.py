"""Move the vectors of known nouns: synonyms together, all other nouns apart.

This is counter-fitting in the form of attract-repel: the vectors themselves are the parameters. The
loss of a batch of nouns is the sum, for each noun, of

- how far the cosines of its synonyms are below `ATTRACT`,
- how far the cosines of other nouns are above a limit, related in WordNet or not,
- the square of how far its vector has moved.

The limit of a pair is `REPEL_FROM`, plus `REPEL_SLOPE` times what its cosine before the moves was
above that. It is below the threshold for every pair, and keeps the order of the cosines.

Every other batch consists of nouns and their nearest neighbours before the moves, so that nouns
that are near without a relation in WordNet, such as *shark* and *whale*, are moved as well. A noun
and a hypernym that the general model has near count as synonyms.

References
----------
Mrkšić et al., 2016, Counter-fitting word vectors to linguistic constraints, NAACL.
Mrkšić et al., 2017, Semantic specialisation of distributional word vector spaces using monolingual
and cross-lingual constraints, TACL 5.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray

from embeddings.constraints import Constraints, Relations

__all__ = ["ATTRACT", "REPEL_FROM", "REPEL_SLOPE", "find_neighbours", "move"]

ATTRACT = 0.75
REPEL_FROM = 0.30
REPEL_SLOPE = 0.25
_STEPS = 3000
_BATCH = 512
_ANCHORS = 48
_NEIGHBOURS = 12
_RATE = 0.01
_ATTRACTION = 4.0
_STAY = 0.5
_BLOCK = 2048
_SEED = 20261130

Matrix = NDArray[np.float32]


def move(
    vectors: Matrix, general: Matrix, rows: Mapping[str, int], constraints: Constraints
) -> Matrix:
    """Return moved vectors of length 1.

    Parameters
    ----------
    vectors : array, shape (entries, dimension)
        Of length 1.
    general : array, shape (entries, 320)
        Vectors of the general model.
    rows : mapping of str to int
        The row of each noun that has one. Several nouns may have the same.
    constraints : Constraints

    Returns
    -------
    array, shape (entries, dimension)
    """
    random = np.random.default_rng(_SEED)
    row_of_number = np.array([rows.get(text, -1) for text in constraints.texts])
    number_of_row = np.zeros(len(vectors), np.int64)
    number_of_row[row_of_number[row_of_number >= 0]] = np.flatnonzero(
        row_of_number >= 0
    )
    is_constrained = np.isin(number_of_row, constraints.constrained())
    neighbours = find_neighbours(vectors, _NEIGHBOURS)
    before = torch.as_tensor(vectors)
    moved = before.clone().requires_grad_(True)
    optimizer = torch.optim.Adam([moved], lr=_RATE)
    rates = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=_RATE, total_steps=_STEPS, pct_start=0.1
    )
    for step in range(_STEPS):
        if step % 2:
            anchors = random.integers(len(vectors), size=_ANCHORS)
            batch = np.unique(np.append(neighbours[anchors].ravel(), anchors))
            batch = batch[is_constrained[batch]]
        else:
            batch = np.unique(row_of_number[constraints.sample(random, _BATCH)])
            batch = batch[batch >= 0]
        near = general[batch]
        relations = constraints.relations(number_of_row[batch]).with_near_hypernyms(
            near @ near.T
        )
        optimizer.zero_grad()
        loss = _loss(moved[batch], before[batch], relations)
        loss.backward()
        optimizer.step()
        rates.step()
    return np.asarray(F.normalize(moved.detach(), dim=1).numpy())


def find_neighbours(vectors: Matrix, count: int) -> NDArray[np.int64]:
    """Return the rows of the nearest vectors of each vector, itself not included.

    Returns
    -------
    int array, shape (vectors, count)
        In no particular order.
    """
    nearest = np.empty((len(vectors), count), np.int64)
    for low in range(0, len(vectors), _BLOCK):
        cosines = vectors[low : low + _BLOCK] @ vectors.T
        own = np.arange(len(cosines))
        cosines[own, low + own] = -2
        nearest[low : low + _BLOCK] = np.argpartition(-cosines, count, axis=1)[
            :, :count
        ]
    return nearest


def _loss(
    moved: torch.Tensor, before: torch.Tensor, relations: Relations
) -> torch.Tensor:
    """Return the loss of a batch, per noun."""
    once = np.triu(np.ones(relations.same.shape, np.bool_), 1)
    units = F.normalize(moved, dim=1)
    cosines = units @ units.T
    others = relations.unrelated.copy()
    for mask in relations.related.values():
        others |= mask
    too_far = F.relu(ATTRACT - cosines)[torch.as_tensor(relations.same & once)].sum()
    cosines_before = before @ before.T
    limits = REPEL_FROM + REPEL_SLOPE * F.relu(cosines_before - REPEL_FROM)
    too_near = F.relu(cosines - limits)[torch.as_tensor(others & once)].sum()
    shift = (moved - before).square().sum()
    return (_ATTRACTION * too_far + too_near + _STAY * shift) / len(moved)
