"""What measures are fitted on: one phase, after the plan and before anything is evaluated.

Conventions
-----------
What an option of a measure asks for is fitted once on the whole data and then frozen: resamples do
not fit again. The measure that is computed, and its signature, hold what was found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.definition import Measure
from semmetrics.scoring.result import BEST_FIT
from semmetrics.scoring.signature import escape

BEST = "threshold:best"
Fitted: TypeAlias = tuple[Measure, str]
"""A measure with all that it asks for fitted, and a note for its signature."""


def fit_measures(
    tasks: Mapping[str, Any], measures: Sequence[Measure], calibrations: Sequence[Any] = ()
) -> dict[str, list[Fitted]]:
    """Fit measures on the task of each system.

    Parameters
    ----------
    tasks : mapping from system to Task
        Prepared, with the models and fits that the measures need.
    measures : sequence of Measure
    calibrations : sequence of Calibration
        What ``threshold=auto`` takes its threshold from; without any, the embedding's own.

    Raises
    ------
    InputError
        If no calibration is for a measure's embedding; if the predictions have no scores, or a
        measure has no best score threshold.
    """
    fitted = {}
    for system, task in tasks.items():
        with naming(system * (len(tasks) > 1)):
            fitted[system] = [fit(measure, task, calibrations) for measure in measures]
    return fitted


def fit(measure: Measure, task: Any, calibrations: Sequence[Any] = ()) -> Fitted:
    """Fit one measure; see `fit_measures`."""
    notes = []
    for option, fit_option in _FITS.items():
        if measure[option] is not None:
            measure, note = fit_option(measure, task, calibrations)
            notes.append(note)
    return measure, "|".join(filter(None, notes))


@contextmanager
def naming(system: str) -> Iterator[None]:
    """Name the one of several systems that an error is of, where it names no place."""
    try:
        yield
    except InputError as error:
        own = not system or error.where or isinstance(error, MissingDependencyError)
        raise error if own else error.placed(system)  # noqa: B904


def _fit_similarity_threshold(measure: Measure, task: Any, calibrations: Sequence[Any]) -> Fitted:
    if measure["threshold"] != "auto":
        return measure, ""
    if calibrations:
        from semmetrics.scoring.calibration import calibrated

        return calibrated(measure, task, calibrations)
    from semmetrics.metrics.label_similarity import label_vectors_of

    vectors = label_vectors_of(task, str(measure["embedding"]))
    return measure.with_options(threshold=repr(vectors.threshold)), ""


def _fit_score_threshold(measure: Measure, task: Any, calibrations: Sequence[Any]) -> Fitted:
    if measure["decode"] != BEST:
        return measure, ""
    from semmetrics.scoring.best_threshold import find_best_threshold

    threshold, judge = find_best_threshold(measure, task)
    note = f"{BEST_FIT}{judge}-{measure['average']}"
    return measure.with_options(decode=f"threshold:{threshold!r}"), note


def _fit_frequencies(measure: Measure, task: Any, calibrations: Sequence[Any]) -> Fitted:
    from semmetrics.metrics.cider import frequency_hash

    if measure["df"] == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    return measure, f"fit:df@{frequency_hash(task, str(measure['df']), str(measure['stem']))}"


def _name_parser(measure: Measure, task: Any, calibrations: Sequence[Any]) -> Fitted:
    graphs = task.fits[f"parser/{measure['parser']}"]
    return measure, f"fit:parser-{escape(graphs.parser.identity)}"


_FITS = {
    "threshold": _fit_similarity_threshold,
    "decode": _fit_score_threshold,
    "df": _fit_frequencies,
    "parser": _name_parser,
}
"""By the option of a measure: what it asks to be fitted, or named in the signature."""
