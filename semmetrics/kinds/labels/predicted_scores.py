"""Observe the scores and the order of predicted labels, and make notes of the observations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import Floats, row_numbers, sum_rows
from semmetrics.data.lists import Lists, Side
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.base import UNUSED_COLUMNS
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import Fact
from semmetrics.kinds.base import Measures, Options
from semmetrics.kinds.labels.observation_codes import (
    ITEMS_WITH_PROBABILITIES,
    ITEMS_WITH_SCORES,
    LABEL_ORDER,
    MINUS_ONE_SCORES,
    SCORES,
)
from semmetrics.kinds.note_builders import counted
from semmetrics.metrics.definition import Measure

_MAX_ROUNDING = 1e-3
"""By how much a probability may be outside [0, 1]."""
_MAX_SUM_ROUNDING = 1e-2
"""By how much the sum of the probabilities of an item may differ from 1."""
_LOW_SCORE = 0.5  # a list of labels that a tagger is sure of has no lower scores
_SCORE_NAME = re.compile(
    r"score|prob(?!lem)|conf(?!irm)|logit|softmax|sigmoid|certain|likelihood|similar|rank|distance",
    re.IGNORECASE,
)
"""Names of columns that probably contain scores."""
_THRESHOLD_RULES = ("threshold", "at-least")
_ORDERS = {"sorted": "sorted sets", "columns": "the columns", "keys": "the keys"}
"""Orders of labels that are not a ranking, and their names in messages."""
_MAX_SHOWN_MEASURES = 3


# ---- observations -------------------------------------------------------------------------------


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


def observe_probabilities(pred: Side, activation: str) -> Observations:
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
    is_outside = (pred.scores < -_MAX_ROUNDING) | (pred.scores > 1 + _MAX_ROUNDING)
    is_probable = sum_rows(is_outside, pred.indptr) == 0
    if activation == "softmax":
        totals = np.bincount(row_numbers(pred.indptr), pred.scores, len(pred))
        is_probable &= np.abs(totals - 1) <= _MAX_SUM_ROUNDING
    is_scored = pred.sizes > 0
    observations.count(ITEMS_WITH_SCORES, int(is_scored.sum()))
    observations.count(ITEMS_WITH_PROBABILITIES, int((is_probable & is_scored).sum()))
    return observations


# ---- notes --------------------------------------------------------------------------------------


def score_facts(
    observed: Observations,
    where: str,
    task: LabelTask,
    measures: Measures,
    options: Options,
) -> list[Fact]:
    """Return notes on unused scores, unsuitable thresholds, short lists, and the order of labels.

    Parameters
    ----------
    observed : Observations
        Of the task.
    where : str
        The name of the task.
    task : LabelTask
    measures : sequence of Measure
    options : ResolvedOptions
    """
    notes: list[Fact] = []
    has_protocol = options.protocol is not None
    if not has_protocol and not task.ranked:
        notes += _unused_score_notes(observed, where, measures)
    notes += _threshold_notes(observed, where, task, measures)
    if not has_protocol:
        notes += _short_list_notes(observed, where, measures)
    return notes + _order_notes(observed, where, measures)


def _unused_score_notes(
    observed: Observations, where: str, measures: Measures
) -> list[Fact]:
    """Return a note on low scores if a measure counts every label as predicted."""
    if not any(_counts_every_label(measure) for measure in measures):
        return []
    n_low = observed.number(SCORES, "pred", "low")
    total = observed.number(SCORES, "pred", "all")
    return counted("scores-unused", n_low, (), where, total=total)


def _counts_every_label(measure: Measure) -> bool:
    """Return whether a measure ignores the scores of labels."""
    if measure.k is not None or measure["decode"] not in (None, "all"):
        return False
    return "scores" not in measure.definition.needs and measure.definition.name != "AP"


# ---- thresholds ---------------------------------------------------------------------------------


def _threshold_notes(
    observed: Observations, where: str, task: LabelTask, measures: Measures
) -> list[Fact]:
    """Return notes on thresholds of probabilities for other scores, and on too high thresholds."""
    highest_scores = observed.names_of(SCORES, "pred", "highest")
    if not highest_scores:
        return []
    # Labels from cells of 0 and 1 have a highest score of 1, and no lowest score.
    lowest_scores = observed.names_of(SCORES, "pred", "lowest") or ["0.0"]
    highest = max(map(float, highest_scores))
    lowest = min(map(float, lowest_scores))
    notes = []
    if _are_not_probabilities(lowest, highest):
        for threshold in _score_thresholds(measures):
            if _is_threshold_of_probabilities(threshold):
                notes.append(_not_probabilities_note(where, threshold, lowest, highest))
    cutting_measures = [m for m in measures if not m["keep_at_least"]]
    for threshold in _score_thresholds(cutting_measures, ("threshold",)):
        if round_to(float(threshold), task.precision) >= highest:
            values = {"threshold": threshold, "highest": highest}
            notes.append(Fact("nothing-predicted", where=where, values=values))
    return notes


def probability_facts(
    scores: Mapping[str, Floats | None], measures: Iterable[Measure], options: Options
) -> list[Fact]:
    """Return notes on scores that are not probabilities under a threshold of probabilities.

    Parameters
    ----------
    scores : mapping from system to array or None
        The scores of predicted labels, as they are in the input.
    measures : iterable of Measure
    options : ResolvedOptions
        With an ``activation`` there are no notes.
    """
    thresholds = list(
        filter(_is_threshold_of_probabilities, _score_thresholds(measures))
    )
    if not thresholds or options.activation is not None:
        return []
    notes = []
    for system, values in scores.items():
        if values is None or not len(values):
            continue
        lowest = float(values.min())
        highest = float(values.max())
        if _are_not_probabilities(lowest, highest):
            notes.append(
                _not_probabilities_note(system, thresholds[0], lowest, highest)
            )
    return notes


def _not_probabilities_note(
    where: str, threshold: str, lowest: float, highest: float
) -> Fact:
    """Return the note on a threshold of probabilities for scores that are not probabilities."""
    values = {"threshold": threshold, "lowest": lowest, "highest": highest}
    return Fact("no-probabilities", where=where, values=values)


def activation_facts(
    observed: Observations, where: str, options: Options
) -> list[Fact]:
    """Return a note on an activation of scores that are all probabilities already.

    Parameters
    ----------
    observed : Observations
        With the counts of `observe_probabilities`.
    where : str
        The name of the task.
    options : ResolvedOptions
    """
    n_items = observed.number(ITEMS_WITH_SCORES)
    if not n_items or observed.number(ITEMS_WITH_PROBABILITIES) < n_items:
        return []
    scores = "all scores are in [0, 1]"
    if str(options.activation) == "softmax":
        scores = "the scores of every item sum to 1"
    return [Fact("activated-probabilities", where=where, values={"scores": scores})]


def _score_thresholds(
    measures: Iterable[Measure], rules: Collection[str] = _THRESHOLD_RULES
) -> list[str]:
    """Return the thresholds of the decoding rules of measures, as they are written, each once.

    Parameters
    ----------
    measures : iterable of Measure
    rules : collection of str
        The decoding rules to look for.
    """
    thresholds = []
    for measure in measures:
        rule, _, threshold = str(measure["decode"]).partition(":")
        if rule in rules and threshold != "best":
            thresholds.append(threshold)
    return list(dict.fromkeys(thresholds))


def _is_threshold_of_probabilities(threshold: str) -> bool:
    """Return whether a threshold is inside (0, 1).

    The threshold 0 is excluded, because it is usual for logits.
    """
    return 0 < float(threshold) < 1


def _are_not_probabilities(lowest: float, highest: float) -> bool:
    """Return whether scores are outside [0, 1] by more than rounding errors."""
    return lowest < -_MAX_ROUNDING or highest > 1 + _MAX_ROUNDING


# ---- cutoffs and order --------------------------------------------------------------------------


def _short_list_notes(
    observed: Observations, where: str, measures: Measures
) -> list[Fact]:
    """Return notes on lists shorter than a cutoff, if a measure divides by their length."""
    from semmetrics.metrics.matching import SHORT_LISTS

    notes = []
    cutoffs = {measure.k for measure in measures if measure.k is not None}
    for k in sorted(cutoffs):
        dividing = [m for m in measures if m.k == k and _divides_by_length(m)]
        n_short = observed.number(SHORT_LISTS, k)
        if dividing and n_short:
            values = {
                "total": observed.number(SHORT_LISTS, k, "items"),
                "cutoff": str(k),
                "measures": _list_measures([str(measure) for measure in dividing]),
                "example": str(dividing[0].with_options(denominator="cutoff")),
            }
            notes.append(Fact("short-lists", n_short, (), where, values))
    return notes


def _divides_by_length(measure: Measure) -> bool:
    """Return whether a measure divides by the number of predictions of an item."""
    return measure["denominator"] == "predictions" and measure["decode"] == "all"


def _order_notes(observed: Observations, where: str, measures: Measures) -> list[Fact]:
    """Return notes on measures that depend on the order of labels, if it is not a ranking."""
    ordered_measures = [str(m) for m in measures if not m.order_invariant]
    if not ordered_measures:
        return []
    shown_measures = _list_measures(list(dict.fromkeys(ordered_measures)))
    notes = []
    orders = []
    for order, text in _ORDERS.items():
        if observed.has(LABEL_ORDER, order):
            orders.append(f"the order of {text}")
    if orders:
        values = {"order": ", ".join(orders), "measures": shown_measures}
        notes.append(Fact("order-of-labels", where=where, values=values))
    columns = sorted(observed.names_of(LABEL_ORDER, "file"))
    if columns:
        values = {"measures": shown_measures, "column": columns[0]}
        notes.append(Fact("order-of-file", 0, tuple(columns), where, values))
    return notes


def _list_measures(names: Sequence[str]) -> str:
    """Write the first names of measures."""
    text = ", ".join(names[:_MAX_SHOWN_MEASURES])
    if len(names) > _MAX_SHOWN_MEASURES:
        text += " and others"
    return text
