"""Which predicted labels mean the same as a reference label: matching on similarities.

Conventions
-----------
Similarities are those of ``metrics.similar``. Items of like size are matched together, in the
tensors of ``metrics.semantic_layout``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from semmetrics.core.assignment import most_pairs, most_similar
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    sum_rows,
)
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.metrics.matching import Cut, Matched
from semmetrics.metrics.semantic_layout import Batch, Layout
from semmetrics.metrics.similar import Similar

__all__ = [
    "MatchedPairs",
    "SemanticMatched",
    "SemanticMatches",
    "pairs_near",
]

LabelBlock = Block[LabelTask]
_MORE = 5e-10  # half of the last place of a similarity
_NEAR = "pairs near a threshold"


@dataclass(frozen=True, eq=False)
class SemanticMatched(Matched):
    """Matching on similarities; besides what every matching has, who matched whom.

    Attributes
    ----------
    partner : int array, shape (predictions,)
        The reference, by its place in the flat list, that a prediction matched; -1 for none.
    first : int array, shape (references,)
        The place of the first prediction that matches a reference; the number of predictions
        where none does.
    """

    partner: Ints
    first: Ints


@dataclass(frozen=True)
class SemanticMatches:
    """Match ranked predictions with references whose similarity is above a threshold.

    Attributes
    ----------
    threshold : float
        Strict: a similarity equal to it does not match.
    match : {"greedy", "optimal", "total", "any"}
        "greedy": predictions in their order, the terms of one in theirs, each taking the first
        unused reference in the order of the list (Kubany et al. 2020); "optimal": as many
        matches as any one-to-one matching of the first k predictions has, for every k; "total":
        as many as the matching of the first k with the largest sum of similarities has, for
        every k; "any": a reference may serve several predictions.
    count : {"set", "list"}
    model : str
    cut : Cut, optional
        Match only the predictions kept. Counts are the same without it; who matched whom may not
        be.
    """

    threshold: float
    match: str = "greedy"
    count: str = "set"
    model: str = "default"
    cut: Cut | None = None

    def compute(self, block: LabelBlock) -> SemanticMatched:
        """Match the block, items of like size together."""
        layout = block.get(Layout(self.count, self.model, self.cut))
        source = block.get(Similar(self.model))
        n_pred, n_ref = len(layout.pred.codes), len(layout.ref.codes)
        partner, first = np.full(n_pred, -1), np.full(n_ref, n_pred)
        hit, close = np.zeros(n_pred, np.bool_), 0
        for batch in layout.batches(by_term=self.match == "greedy" and layout.split):
            above, near = batch.above(source, self.threshold)
            if self.match == "total":
                found, hits = _total(batch.similarities(source), above)
            else:
                found = _RULES[self.match](batch, above)
                hits = found >= 0
            mine, theirs = batch.pairs(found)
            partner[mine], hit[batch.owner[hits]] = theirs, True
            if self.match == "any":  # every reference above the threshold is served
                item, row, column = np.nonzero(above)
                np.minimum.at(first, batch.goal[item, column], batch.owner[item, row])
            else:
                first[theirs] = mine
            close += near
        block.task.shared.setdefault(_NEAR, {})[self, block.start] = close
        return SemanticMatched(
            counted=None if layout.pred_kept.all() else layout.pred_kept,
            hit=hit,
            once=layout.ref_kept,
            n_ref=sum_rows(layout.ref_kept, layout.ref.indptr),
            partner=partner,
            first=first,
        )


def pairs_near(task: LabelTask) -> dict[tuple[str, float], int]:
    """Pairs of an item's labels whose similarity is within 1e-6 of the threshold.

    Where labels have several terms, pairs of those may be counted.

    Returns
    -------
    dict from name of the embedding and threshold to int
        Of what has been matched so far.
    """
    sums: Counter[SemanticMatches] = Counter()
    for (step, _), close in task.shared.get(_NEAR, {}).items():
        sums[step] += close
    found: dict[tuple[str, float], int] = {}
    for step, close in sums.items():
        key = step.model, step.threshold
        found[key] = max(close, found.get(key, 0))
    return found


@dataclass(frozen=True)
class MatchedPairs:
    """The reference that each prediction matched, and how similar the two are.

    Where a reference may serve several predictions it is the most similar one. Without a match the
    similarity is that with the nearest reference, -inf where there is none.
    """

    matches: SemanticMatches

    def compute(self, block: LabelBlock) -> tuple[Ints, Floats]:
        """Places of references, -1 for none, and similarities, shape (predictions,)."""
        matches = self.matches
        matched = block.get(matches)
        layout = block.get(Layout(matches.count, matches.model, matches.cut))
        partner, similarity = matched.partner.copy(), np.full(len(matched.partner), -np.inf)
        for batch in layout.batches(by_term=False):
            table = batch.similarities(block.get(Similar(matches.model)))
            real = batch.owner >= 0
            mine, nearest = batch.owner[real], table.argmax(axis=2)
            if matches.match == "any":
                theirs = np.take_along_axis(batch.goal, nearest, axis=1)[real]
                partner[mine] = np.where(matched.hit[mine], theirs, -1)
            # a column of the partner where there is one
            column = (partner[batch.owner][..., None] == batch.goal[:, None]).argmax(axis=2)
            column = np.where(partner[batch.owner] >= 0, column, nearest)
            found = np.take_along_axis(table, column[..., None], axis=2)[..., 0]
            similarity[mine] = found[real]
        return partner, similarity


def _greedy(batch: Batch, above: Bools) -> Ints:
    n, rows, columns = above.shape
    found = np.full((n, rows), -1)
    free = np.ones((n, columns), np.bool_)
    matched = np.zeros(n, np.bool_)
    every = np.arange(n)
    for row in range(rows):
        open_ = above[:, row] & free
        if batch.continues is not None:  # another term of a prediction that has its match
            matched &= batch.continues[:, row]
            open_ &= ~matched[:, None]
        column = open_.argmax(axis=1)
        taken = open_[every, column]
        found[taken, row] = column[taken]
        free[every[taken], column[taken]] = False
        matched |= taken
    return found


def _any(_: Batch, above: Bools) -> Ints:
    return np.where(above.any(axis=2), above.argmax(axis=2), -1)


def _optimal(_: Batch, above: Bools) -> Ints:
    found: Ints = most_pairs(above, 0.5)
    return found


def _total(table: Floats, above: Bools) -> tuple[Ints, Bools]:
    """The pairs with the largest sum, and the predictions that add one to those before them."""
    # of equal sums that with more pairs: then a prediction adds one pair or none
    gain = np.where(above & (table > 0), table + _MORE / (1 + table.shape[1]), 0.0)
    found, hits = np.full(table.shape[:2], -1), np.zeros(table.shape[:2], np.bool_)
    before = np.zeros(len(table), np.int64)
    for rows in range(1, table.shape[1] + 1):
        found[:, :rows] = most_similar(gain[:, :rows], 0.0)
        pairs = (found >= 0).sum(axis=1)
        hits[:, rows - 1], before = pairs > before, pairs
    return found, hits


_RULES = {"greedy": _greedy, "optimal": _optimal, "any": _any}
