"""What is fitted on the data before a measure is computed: thresholds, document frequencies.

Conventions
-----------
A fit is made once on the whole data and then frozen: resamples do not fit again. The measure that
is computed, and its signature, hold the number that was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.metrics.definition import Measure

__all__ = ["BEST", "freeze"]

BEST = "threshold:best"


def freeze(measure: Measure, task: Any, calibrations: Sequence[Any] = ()) -> tuple[Measure, str]:
    """Return the measure with whatever it asks to be fitted, fitted; and a note for the signature.

    Parameters
    ----------
    measure : Measure
    task : Task
        Prepared, with the models and fits that the measure needs.
    calibrations : sequence of Calibration
        What ``threshold=auto`` takes its threshold from; without any, the embedding's own.

    Raises
    ------
    InputError
        If no calibration is for the measure's embedding; if the predictions have no scores, items
        have weights, or the measure has no best score threshold.
    """
    notes = []
    if measure["threshold"] == "auto" and calibrations:
        from semmetrics.scoring.calibration import calibrated

        measure, note = calibrated(measure, task, calibrations)
        notes.append(note)
    elif measure["threshold"] == "auto":
        measure = measure.with_options(threshold=_own_threshold(measure, task))
    if measure["decode"] == BEST:
        from semmetrics.scoring.best_threshold import find_best_threshold

        threshold, judge = find_best_threshold(measure, task)
        notes.append(f"fit:best-{judge}-{measure['average']}")
        measure = measure.with_options(decode=f"threshold:{threshold!r}")
    if measure["df"] is not None:
        measure, note = _freeze_frequencies(measure, task)
        notes.append(note)
    return measure, "|".join(notes)


def _freeze_frequencies(measure: Measure, task: Any) -> tuple[Measure, str]:
    """Choose the document frequencies: those given, or those of the references of the run."""
    from semmetrics.metrics.document_frequencies import frequency_hash

    if measure["df"] == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    return measure, f"fit:df@{frequency_hash(task, str(measure['df']), str(measure['stem']))}"


def _own_threshold(measure: Measure, task: Any) -> str:
    """The threshold that the measure's embedding was calibrated to."""
    from semmetrics.metrics.label_similarity import label_vectors_of

    return repr(label_vectors_of(task, str(measure["embedding"])).threshold)
