"""Observe the scores of predicted labels, and what determines their order."""

from __future__ import annotations

import re

import numpy as np

from semmetrics.core.ragged import row_numbers, sum_rows
from semmetrics.data.lists import Lists, Side
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import UNUSED_COLUMNS
from semmetrics.kinds.labels.observation_codes import (
    ITEMS_WITH_PROBABILITIES,
    ITEMS_WITH_SCORES,
    LABEL_ORDER,
    MINUS_ONE_SCORES,
    SCORES,
)

MAX_ROUNDING = 1e-3
"""By how much a probability may be outside [0, 1]."""
_MAX_SUM_ROUNDING = 1e-2
"""By how much the sum of the probabilities of an item may differ from 1."""
_LOW_SCORE = 0.5  # a list of labels that a tagger is sure of has no lower scores
_SCORE_NAME = re.compile(
    r"score|prob(?!lem)|conf(?!irm)|logit|softmax|sigmoid|certain|likelihood|similar|rank|distance",
    re.IGNORECASE,
)
"""Names of columns that probably contain scores."""


def observe_scores(
    observations: Observations, pred: Lists, predicted: Side, true: Side
) -> None:
    """Observe the scores of the evaluated items, or the order of labels without scores.

    Parameters
    ----------
    observations : Observations
        Observations are added here.
    pred : Lists
        The predictions, as they were read.
    predicted, true : Side
        Both sides of the evaluated items.
    """
    if pred.side.scores is None:
        _observe_order(observations, pred, predicted)
    elif true.scores is not None and (true.scores != 1).any():
        # If only the ground truth has scores, the sides are probably swapped.
        observations.count(SCORES, 1, "ref")
    if true.scores is not None and (true.scores == -1).any():
        observations.count(MINUS_ONE_SCORES, 1, "ref")
    scores = predicted.scores
    if scores is not None and len(scores):
        n_low = int((scores < _LOW_SCORE).sum())
        observations.count(SCORES, n_low, "pred", "low")
        observations.count(SCORES, len(scores), "pred", "all")
        highest = repr(float(scores.max()))
        lowest = repr(float(scores.min()))
        observations.add_names(SCORES, [highest], "pred", "highest")
        observations.add_names(SCORES, [lowest], "pred", "lowest")


def _observe_order(observations: Observations, pred: Lists, predicted: Side) -> None:
    """Observe what determines the order of labels without scores, and unused columns."""
    if pred.order:
        observations.count(LABEL_ORDER, 1, pred.order)
    if pred.order in ("columns", "keys") and len(predicted.codes):
        observations.add_names(SCORES, ["1.0"], "pred", "highest")
    notes = [note for note in pred.notes if note.code == "unused-columns"]
    if notes:
        observations.add_names(UNUSED_COLUMNS, map(str, notes))
    score_columns: list[str] = []
    for note in notes:
        score_columns += [name for name in note.examples if _SCORE_NAME.search(name)]
    if score_columns:
        observations.add_names(LABEL_ORDER, score_columns, "file")


def find_probabilities(pred: Side, activation: str) -> Observations:
    """Count the items with scores, and the items whose scores are probabilities already.

    Parameters
    ----------
    pred : Side
        Predictions before the activation.
    activation : {"sigmoid", "softmax"}
        The probabilities of "sigmoid" are in [0, 1]. Those of "softmax" also sum to 1.
    """
    observations = Observations()
    if pred.scores is None:
        return observations
    is_outside = (pred.scores < -MAX_ROUNDING) | (pred.scores > 1 + MAX_ROUNDING)
    is_probable = sum_rows(is_outside, pred.indptr) == 0
    if activation == "softmax":
        totals = np.bincount(row_numbers(pred.indptr), pred.scores, len(pred))
        is_probable &= np.abs(totals - 1) <= _MAX_SUM_ROUNDING
    is_scored = pred.sizes > 0
    observations.count(ITEMS_WITH_SCORES, int(is_scored.sum()))
    observations.count(ITEMS_WITH_PROBABILITIES, int((is_probable & is_scored).sum()))
    return observations
