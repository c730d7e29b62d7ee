"""Sum the items of a batch, with measures that are fitted on the first batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from semmetrics.data.tasks.base import Task
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import InputError
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.fits import BEST, FittedMeasure, fit
from semmetrics.scoring.intervals import POISSON, Bootstrap
from semmetrics.scoring.resampling import with_resamples
from semmetrics.scoring.score import interval_options
from semmetrics.scoring.statistics import Statistics

_FORM_ERRORS = ("no-rule", "no-scores", "measure-needs-scores", "needs-option")
"""Errors that depend on the form of the data, and not on the number of items."""
_N_FIRST_ITEMS = 8  # enough to find one with a prediction


class SummedParts(NamedTuple):
    """The sums of joined items.

    Attributes
    ----------
    fitted : dict from part to list of FittedMeasure
        The measures, fitted on the first items of each part.
    statistics : dict from part to Statistics
        Without rows, ids, hashes and weights. Parts without items are missing.
    """

    fitted: dict[str, list[FittedMeasure]]
    statistics: dict[str, Statistics]


def sum_items(
    joined: Evaluation, fitted: Mapping[str, list[FittedMeasure]]
) -> SummedParts:
    """Evaluate the items of one system.

    Parameters
    ----------
    joined : Evaluation
    fitted : mapping from part to list of FittedMeasure
        The measures of parts that already have items. In other parts, they are fitted here.

    Raises
    ------
    InputError
        If a measure needs all items at once, or the items cannot be evaluated.
    """
    summed = SummedParts(dict(fitted), {})
    intervals = interval_options_of_sums(joined.options)
    (tasks,) = joined.tasks.values()
    for part, task in tasks.items():
        if not len(task):
            continue
        if part not in summed.fitted:
            summed.fitted[part] = _fit_on_first_items(joined, part, task)
        part_measures = [measure for measure, _ in summed.fitted[part]]
        statistics = evaluate(
            replace(task, observations=task.observations.of_parts()),
            part_measures,
            keep_rows=intervals is not None,
            progress=joined.options.progress,
        )
        if intervals is not None:
            statistics = with_resamples(statistics, intervals)
        summed.statistics[part] = _without_items(statistics)
    return summed


def interval_options_of_sums(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals are computed without stored items, or None without intervals."""
    intervals = interval_options(options)
    if intervals is None:
        return None
    return replace(intervals, method=POISSON)


def _without_items(statistics: Statistics) -> Statistics:
    """Return statistics with only the number of items, and with each group once."""
    groups = statistics.groups
    distinct_groups = None if groups is None else np.unique(groups)
    return replace(
        statistics,
        parts=None,
        ids=range(len(statistics)),
        hashes=np.zeros(0, np.uint64),
        weights=None,
        groups=distinct_groups,
    )


# ---- fits on the first items --------------------------------------------------------------------


def _fit_on_first_items(
    joined: Evaluation, part: str, task: Task
) -> list[FittedMeasure]:
    """Fit the measures on the first items.

    Raises
    ------
    InputError
        If a measure needs all items at once.
    """
    fitted = []
    for measure in joined.chosen.evaluated(part):
        _check_needs_no_fit(measure, task)
        fitted_measure = fit(measure, task, joined.calibrations)
        definition = fitted_measure.measure.definition
        statistic = definition.family.statistic(fitted_measure.measure)
        if not statistic.additive:
            reason = "cannot be computed from sums over items"
            raise _all_items_error(measure, reason, "")
        fitted.append(fitted_measure)
    return fitted


def _check_needs_no_fit(measure: Measure, task: Task) -> None:
    """Raise an error for a measure that is fitted on all items."""
    if measure["decode"] == BEST:
        reason = "chooses a threshold by the scores of all items"
        instead = ", or find the threshold on other data and set it"
        raise _all_items_error(measure, reason, instead)
    if _counts_frequencies(measure, task):
        reason = "counts document frequencies on the references"
        instead = (
            f", or give document frequencies, {OPTIONS['doc_freq'].keyword_and_flag}"
        )
        raise _all_items_error(measure, reason, instead)


def _counts_frequencies(measure: Measure, task: Task) -> bool:
    """Return whether a measure counts document frequencies on the items."""
    source = measure["df"]
    if not source or not isinstance(task, CaptionTask):
        return False
    if source == "rows":
        return True
    has_frequencies = "df" in task.fits or f"{source}/{measure['stem']}" in task.fits
    return not has_frequencies


def _all_items_error(measure: Measure, reason: str, instead: str) -> InputError:
    values = {"what": measure, "reason": reason, "instead": instead}
    return InputError("needs-all-items", **values)


# ---- checks on the first items ------------------------------------------------------------------


def check_measures(joined: Evaluation) -> None:
    """Try each measure on a few items, and raise the errors that any batch would cause.

    Raises
    ------
    InputError
        If a measure needs sets and the predictions are scores, if it needs scores and there are
        none, or if it needs an option that is not set.
    """
    if joined.kind.name not in ("labels", "classes"):
        return
    for parts in joined.tasks.values():
        for part, task in parts.items():
            n_items = min(len(task), _N_FIRST_ITEMS)
            first_items = task.take(np.arange(n_items))
            for measure in joined.chosen.evaluated(part):
                _try_measure(measure, first_items, joined)


def _try_measure(measure: Measure, task: Task, joined: Evaluation) -> None:
    """Raise errors about the form of the data. Others may be due to the small number of items."""
    try:
        fitted, _ = fit(measure, task, joined.calibrations)
        evaluate(task, [fitted], keep_rows=False)
    except InputError as error:
        if error.code in _FORM_ERRORS:
            raise
