"""What is fitted on the data before a measure is computed: the best threshold.

Conventions
-----------
A fit is made once on the whole data and then frozen: resamples do not fit again. The measure that
is computed, and its signature, hold the number that was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semmetrics.data.block import Block
from semmetrics.data.task import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.matching import Matches, Ranked, Reference
from semmetrics.metrics.sweeps import AVERAGES, Average, sweep_thresholds_rows

__all__ = ["best_threshold_of", "frozen"]

BEST = "threshold:best"


def frozen(measure: Measure, task: LabelTask) -> tuple[Measure, str]:
    """The measure with whatever it asks to be fitted, fitted; and a note for the signature.

    Raises
    ------
    InputError
        If the predictions have no scores.
    """
    if measure["decode"] != BEST:
        return measure, ""
    average = str(measure["average"])
    if average not in AVERAGES:  # narrows the text to an Average
        raise InputError(
            f"decode={BEST} is not known for average={average}",
            remedy=f"choose one of {', '.join(AVERAGES)}",
        )
    threshold = best_threshold_of(task, average, measure["labels"] == "reference")
    return measure.with_options(decode=f"threshold:{threshold!r}"), f"fit:best-F1-{average}"


def best_threshold_of(task: LabelTask, average: Average, reference_only: bool = False) -> float:
    """The threshold with the best F1 of that average; of equally good ones the highest.

    Parameters
    ----------
    task : LabelTask
        With scores.
    average : {"example", "micro", "macro"}
    reference_only : bool
        Leave labels outside the ground truth out, for macro and micro.

    Returns
    -------
    float
        One of at most 1,001 scores for example and macro; of all distinct scores for micro.
    """
    if task.pred.scores is None:
        raise InputError(
            f"decode={BEST} needs a score for each predicted label", remedy="give scores"
        )
    block: Block[LabelTask] = Block(task, 0, len(task))
    ranked, ref = block.get(Ranked()), block.get(Reference())
    matched = block.get(Matches("set", "class"))
    class_ref = np.bincount(ref.codes, minlength=len(task.classes))
    chosen = np.ones(len(ranked.codes), np.bool_) if matched.counted is None else matched.counted
    if reference_only:
        chosen = chosen & (class_ref > 0)[ranked.codes]
    side = ranked.keep(chosen)
    scores: Any = side.scores
    sweep = sweep_thresholds_rows(
        side.indptr,
        side.codes,
        matched.hit[chosen],
        matched.n_ref,
        class_ref,
        scores,
        averages=[average],
    )[average]
    return float(sweep.points[np.lexsort((sweep.points, sweep.f1))[-1]])
