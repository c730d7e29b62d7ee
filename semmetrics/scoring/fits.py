"""What measures are fitted on: one phase, after the plan and before anything is evaluated.

Conventions
-----------
What an option of a measure asks for is fitted once on the whole data and then frozen: resamples do
not fit again. The measure that is computed, and its signature, hold what was found.

``decode=threshold:best`` looks at every decision that a threshold can make on the scores. All rules
keep a prefix of the ranked labels, and whether a label matches depends on those before it alone; so
one matching and one sort serve all thresholds, for equal labels and for those that mean the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints, offsets, positions, sum_rows
from semmetrics.data.block import Block
from semmetrics.data.tasks import LabelTask
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import LABEL_AVERAGES, formula_options
from semmetrics.metrics.formulas import f1, f1_many_to_one
from semmetrics.metrics.matching import Matches, Ranked, Reference, no_scores
from semmetrics.metrics.semantic import SemanticFamily, SemF1
from semmetrics.metrics.sweeps import (
    Rows,
    best_place,
    means_at_points,
    points_of_scores,
    sums_by_key,
    whole_weights,
)
from semmetrics.scoring.evaluate import frame_of
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
    threshold, judge = find_best_threshold(measure, task)
    note = f"{BEST_FIT}{judge}-{measure['average']}"
    return measure.with_options(decode=f"threshold:{threshold!r}"), note


def _fit_frequencies(measure: Measure, task: Any, calibrations: Sequence[Any]) -> Fitted:
    from semmetrics.metrics.document_frequencies import frequency_hash

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


def find_best_threshold(measure: Measure, task: LabelTask) -> tuple[float, str]:
    """Find the score threshold with the best F1, of equally good ones the highest.

    The F1 is that of the measure's average, label universe, cutoff and policies; for semantic
    measures it is SemF1, with the measure's own matching. F1 values that differ by less than 1e-15
    are equally good.

    Parameters
    ----------
    measure : Measure
    task : LabelTask
        With scores.

    Returns
    -------
    threshold : float
        One of the scores, or the next float64 below the lowest.
    judge : str
        What it is best for: "F1" or "SemF1".

    Raises
    ------
    InputError
        If the predictions have no scores, or the measure has no best score threshold.
    """
    judge = _judge(measure)
    if task.pred.scores is None:
        raise no_scores(f"decode={measure['decode']}", task)
    rows, points, bins, more = _matched_rows(measure, task)
    usable = np.isfinite(points)
    if not usable.any():
        raise InputError("nothing-given", what="scores", remedy="a threshold is chosen among them")
    values = np.nan_to_num(_under_policy(measure, rows, bins, len(points), more), nan=-1.0)
    return float(points[best_place(points, np.where(usable, values, -np.inf))]), judge


def _matched_rows(measure: Measure, task: LabelTask) -> tuple[Rows, Floats, Ints, list[Ints]]:
    """Match all labels; return those that count, the thresholds, and which first keeps each label.

    The last is how many references each label is the first to find, where several labels may.
    """
    inside = _universe(measure, task)
    blocks = task.blocks() if len(task) else [Block(task, 0, 0)]
    parts = [_of_block(measure, block, inside) for block in blocks]
    scores, chosen, always, lengths, codes, hit, n_ref, served, true, n_true = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    points, bins = points_of_scores(scores)
    weights = None if task.weights is None else whole_weights(task.weights, lengths + n_true)
    counted = np.ones(len(true), np.int8) if weights is None else np.repeat(weights, n_true)
    class_ref = sums_by_key(true, counted, len(inside))
    place: Any = np.cumsum(inside) - 1
    rows = Rows(
        offsets(lengths), place[codes], hit, scores[chosen], n_ref, class_ref[inside], weights
    )
    bins = np.where(always, 0, bins)[
        chosen
    ]  # labels that are always kept are above every threshold
    return rows, points, bins, [served] if measure["match"] == "any" else []


def _of_block(measure: Measure, block: Block[LabelTask], inside: Bools) -> tuple[Any, ...]:
    ranked: Any = block.get(Ranked())
    ref, matched = block.get(Reference()), block.get(_matches(measure))
    place, served = positions(ranked.indptr), np.zeros(0, np.int64)
    chosen = inside[ranked.codes] & (place < (measure.k or np.inf))
    if matched.counted is not None:
        chosen &= matched.counted
    if measure["match"] == "any":
        served = np.bincount(matched.first, minlength=len(chosen) + 1)[:-1][chosen]
    always = place < int(measure["keep_at_least"] or 0)
    lengths = sum_rows(chosen, ranked.indptr)
    true = ref if matched.once is None else ref.keep(matched.once)
    of_labels = ranked.codes[chosen], matched.hit[chosen]
    of_items = matched.n_ref, served, true.codes, np.diff(true.indptr)
    return ranked.scores, chosen, always, lengths, *of_labels, *of_items


def _matches(measure: Measure) -> Any:
    """Return the step that matches labels as the measure does."""
    if measure["threshold"] is not None:
        counts: Any = SemanticFamily().counts(measure)
        return counts.matches
    return Matches(
        str(measure["duplicates"] or "once"),
        "item" if measure["average"] == "example" else "class",
    )


def _universe(measure: Measure, task: LabelTask) -> Bools:
    """The classes that the measure averages over, as far as this system has them."""
    return frame_of([task.axis]).universe(measure)


def _under_policy(
    measure: Measure, rows: Rows, bins: Ints, n_points: int, more: list[Ints]
) -> Floats:
    """Return F1 at each point, under the policy for nothing on both sides; nan where undefined."""

    def known(*counts: Any) -> Floats:  # floats: products of weighted counts are large
        hit, kept, ref, *served = (np.asarray(count, np.float64) for count in counts)
        value = f1_many_to_one(hit, served[0], kept, ref) if served else f1(hit, kept, ref)
        return np.stack([np.nan_to_num(value, nan=0.0), (kept + ref == 0).astype(np.float64)])

    average, policy = str(measure["average"]), _empty_value(measure)
    total: Floats
    empty: Floats
    total, empty = means_at_points(rows, average, bins, n_points, known, *more)
    if policy == "1":
        return total + empty
    if policy == "0":
        return total
    undefined = empty == 1 if policy == "skip" else empty > 0
    share = np.where(undefined, 1.0, 1.0 - empty)
    return np.where(undefined, np.nan, total / share)


def _empty_value(measure: Measure) -> str:
    """What nothing on both sides is worth: the formula's value, or else the policy."""
    formula, arguments = measure.definition.formula, measure.definition.arguments
    if formula is not None and set(arguments) == {"hit", "n_pred", "n_ref"}:
        value = float(formula(*np.zeros((3, 1)), **dict(formula_options(measure)))[0])
        if value in (0.0, 1.0):
            return str(int(value))
    return str(measure["absent" if measure["average"] in LABEL_AVERAGES else "empty"])


def _judge(measure: Measure) -> str:
    """What the best score threshold is best for."""
    if measure["threshold"] is not None:
        return SemF1.name
    if measure["embedding"] is not None or "taxonomy" in measure.definition.needs:
        raise InputError("no-best-threshold", measure=measure.definition.name)
    return "F1"
