"""What measures are fitted on: one phase, after the plan and before anything is evaluated.

Conventions
-----------
What an option of a measure asks for is fitted once on the whole data and then frozen: resamples do
not fit again. The measure that is computed, and its signature, hold what was found.

``decode=threshold:best`` finds the score threshold with the best F1, of equally good ones the
highest. The F1 is that of the measure's average, label universe, cutoff and policies; for semantic
measures it is SemF1, with the measure's own matching. Every decision that a threshold can make on
these scores is looked at. All rules keep a prefix of the ranked labels, and whether a label matches
depends on those before it alone; so one matching and one sort serve all thresholds. F1 values that
differ by less than 1e-15 are equally good.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.backend import round_to
from semmetrics.core.ragged import Floats, Ints, offsets, positions, sum_rows
from semmetrics.data.tasks import Block, LabelTask
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.metrics.definition import Measure, model_key
from semmetrics.metrics.families import LABEL_AVERAGES, formula_options, terms_of
from semmetrics.metrics.formulas import f1, f1_many_to_one
from semmetrics.options import COLUMNS
from semmetrics.scoring.measures import choose_measures
from semmetrics.scoring.result import BEST_FIT
from semmetrics.scoring.signature import escape
from semmetrics.scoring.statistics import Statistics, frame_of

BEST = "threshold:best"


class FittedMeasure(NamedTuple):
    """A measure with everything fitted that its options ask for.

    Attributes
    ----------
    measure : Measure
    note : str
        What was fitted, for the signature.
    """

    measure: Measure
    note: str


class EvaluatedPart(NamedTuple):
    """What was evaluated of one part of a system.

    Attributes
    ----------
    measures : sequence of FittedMeasure
    statistics : Statistics
    """

    measures: Sequence[FittedMeasure]
    statistics: Statistics


def fit(measure: Measure, task: Any, calibrations: Sequence[Any] = ()) -> FittedMeasure:
    """Fit a measure on the task of a system.

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
        If no calibration is for the measure's embedding; if the predictions have no scores, or the
        measure has no best score threshold.
    """
    notes = []
    for option, fit_option in _FITS.items():
        if measure[option] is not None:
            measure, note = fit_option(measure, task, calibrations)
            notes.append(note)
    return FittedMeasure(measure, "|".join(filter(None, notes)))


@contextmanager
def naming(system: str) -> Iterator[None]:
    """Name the one of several systems that an error is of, where it names no place."""
    try:
        yield
    except InputError as error:
        own = not system or error.where or isinstance(error, MissingDependencyError)
        raise error if own else error.placed(system)  # noqa: B904


def _fit_similarity_threshold(
    measure: Measure, task: Any, calibrations: Sequence[Any]
) -> FittedMeasure:
    if measure["threshold"] != "auto":
        return FittedMeasure(measure, "")
    from semmetrics.metrics.label_similarity import label_vectors_of

    vectors = label_vectors_of(task, model_key(measure))
    if not calibrations:
        own = measure.with_options(threshold=repr(vectors.threshold))
        return FittedMeasure(own, "")
    identity = vectors.embedder.identity
    for one in calibrations:
        if one.embedding == identity:
            calibrated = measure.with_options(threshold=repr(one.threshold))
            return FittedMeasure(calibrated, one.note)
    known = [one.embedding for one in calibrations]
    raise InputError(
        "other-embedding",
        measure=measure,
        name=measure.definition.name,
        embedding=identity,
        known=known,
    )


def _fit_score_threshold(
    measure: Measure, task: Any, calibrations: Sequence[Any]
) -> FittedMeasure:
    if measure["decode"] != BEST:
        return FittedMeasure(measure, "")
    from semmetrics.metrics.matching import no_scores
    from semmetrics.metrics.sweeps import best_place

    judge = "F1" if measure["threshold"] is None else "SemF1"
    by_meaning = (
        measure["embedding"] is not None or "taxonomy" in measure.definition.needs
    )
    if judge == "F1" and by_meaning:
        raise InputError("no-best-threshold", measure=measure.definition.name)
    if task.pred.scores is None:
        raise no_scores(f"decode={measure['decode']}", task)
    points, values = _values_at_points(measure, task)
    # the last one is below all scores, and must stay below if it is rounded
    if len(points):
        points[-1] = _below(points[-1], task.precision)
    usable = np.isfinite(points)
    if not usable.any():
        raise InputError(
            "nothing-given", what="scores", remedy="a threshold is chosen among them"
        )
    values = np.where(usable, np.nan_to_num(values, nan=-1.0), -np.inf)
    # a score, or the next below the lowest
    best = float(points[best_place(points, values)])
    note = f"{BEST_FIT}{judge}-{measure['average']}"
    fitted = measure.with_options(decode=f"threshold:{best!r}")
    return FittedMeasure(fitted, note)


def _below(point: float, precision: str) -> float:
    """Return the largest number of a floating-point type that is not above a point."""
    rounded = round_to(point, precision)
    if rounded <= point:
        return rounded
    step = abs(rounded) / 128  # no type has a larger distance between neighbours
    return round_to(rounded - step, precision)


def _values_at_points(measure: Measure, task: LabelTask) -> tuple[Floats, Floats]:
    """Return the thresholds, and the F1 at each."""
    from semmetrics.metrics.matching import Matches
    from semmetrics.metrics.point_means import Rows, sums_by_key, whole_weights
    from semmetrics.metrics.semantic import SemanticFamily
    from semmetrics.metrics.sweeps import points_of_scores

    # as far as this system has its classes
    inside = frame_of([task.axis]).universe(measure)
    if measure["threshold"] is not None:
        step: Any = SemanticFamily().counts(measure).matches  # type: ignore[attr-defined]
    else:
        scope = "item" if measure["average"] == "example" else "class"
        step = Matches(str(measure["duplicates"] or "once"), scope)
    blocks = task.blocks() if len(task) else [Block(task, 0, 0)]
    parts = [_match_block(measure, block, inside, step) for block in blocks]
    scores, chosen, always, lengths, codes, hit, n_ref, served, true, n_true = (
        np.concatenate(column) for column in zip(*parts, strict=True)
    )
    points, bins = points_of_scores(scores)
    # what is always kept is above every threshold
    bins = np.where(always, 0, bins)[chosen]
    weights = (
        None if task.weights is None else whole_weights(task.weights, lengths + n_true)
    )
    counted = (
        np.ones(len(true), np.int8) if weights is None else np.repeat(weights, n_true)
    )
    class_ref: Ints = sums_by_key(true, counted, len(inside))[inside]
    codes = (np.cumsum(inside) - 1)[codes]
    rows = Rows(offsets(lengths), codes, hit, scores[chosen], n_ref, class_ref, weights)
    more = [served] if measure["match"] == "any" else []
    return points, _under_policy(measure, rows, bins, len(points), more)


def _match_block(
    measure: Measure, block: Block[LabelTask], inside: Any, step: Any
) -> tuple[Any, ...]:
    """Match the labels of a block: which count, which are hits, and what there is to find.

    Where a label may serve several references, also how many it is the first to find.
    """
    from semmetrics.metrics.matching import sides_of

    (ranked, ref), matched = sides_of(block), block.get(step)
    place, served = positions(ranked.indptr), np.zeros(0, np.int64)
    chosen = inside[ranked.codes] & (place < (measure.k or np.inf))
    if matched.counted is not None:
        chosen &= matched.counted
    if measure["match"] == "any":
        served = np.bincount(matched.first, minlength=len(chosen) + 1)[:-1][chosen]
    always = place < int(measure["keep_at_least"] or 0)
    true = ref if matched.once is None else ref.keep(matched.once)
    of_labels = (
        sum_rows(chosen, ranked.indptr),
        ranked.codes[chosen],
        matched.hit[chosen],
    )
    of_items = matched.n_ref, served, true.codes, np.diff(true.indptr)
    return ranked.scores, chosen, always, *of_labels, *of_items


def _under_policy(
    measure: Measure, rows: Any, bins: Ints, n_points: int, more: list[Ints]
) -> Floats:
    """Return F1 at each point, under the policy for nothing on both sides; nan where undefined."""
    from semmetrics.metrics.point_means import means_at_points

    def known(*counts: Any) -> Floats:  # floats: products of weighted counts are large
        hit, kept, ref, *served = (np.asarray(count, np.float64) for count in counts)
        value = (
            f1_many_to_one(hit, served[0], kept, ref) if served else f1(hit, kept, ref)
        )
        return np.stack(
            [np.nan_to_num(value, nan=0.0), (kept + ref == 0).astype(np.float64)]
        )

    average, definition = str(measure["average"]), measure.definition
    policy = str(measure["absent" if average in LABEL_AVERAGES else "empty"] or "skip")
    if definition.formula is not None and set(definition.arguments) == {
        "hit",
        "n_pred",
        "n_ref",
    }:
        value = float(
            definition.formula(*np.zeros((3, 1)), **dict(formula_options(measure)))[0]
        )
        # the formula has one
        policy = str(int(value)) if value in (0.0, 1.0) else policy
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


def _fit_frequencies(
    measure: Measure, task: Any, calibrations: Sequence[Any]
) -> FittedMeasure:
    from semmetrics.metrics.cider import frequency_hash

    if measure["df"] == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    digest = frequency_hash(task, str(measure["df"]), str(measure["stem"]))
    return FittedMeasure(measure, f"fit:df@{digest}")


def stems_to_count(setup: Any, weights: object = None) -> list[str]:
    """Return the stems for which measures count document frequencies on all references.

    There are none if frequencies are given, or not all items count: they are then to be given.
    """
    options = setup.options
    if setup.kind.name not in COLUMNS["caption"] or options.doc_freq is not None:
        return []
    if weights is not None or options.missing in ("skip", "common"):
        return []
    planned = choose_measures(setup.kind, {}, options).measures
    every = [
        term for measure in planned for term in terms_of(measure).get("", (measure,))
    ]
    return sorted(
        {str(measure["stem"]) for measure in every if measure["df"] == "references"}
    )


def count_frequencies(
    references: Any, setup: Any, stems: Sequence[str]
) -> dict[str, Any]:
    """Count document frequencies of some references, by what they are for.

    Parameters
    ----------
    references : Lists
    setup : Evaluation
        Of captions.
    stems : sequence of str
    """
    from semmetrics.metrics.cider import fit_document_frequencies

    texts, tokenizer = references.to_list(), setup.options.tokenizer
    found = {
        f"references/{one}": fit_document_frequencies(texts, tokenizer, one)
        for one in stems
    }
    setup.forget_items()
    return found


def add_up_frequencies(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add the document frequencies of parts that share no image; small ones first."""
    tables: list[dict[str, Any]] = []
    for part in parts:
        added = dict(part)
        while tables and _size(tables[-1]) <= 2 * _size(added):
            added = _add(added, tables.pop())
        tables.append(added)
    return reduce(_add, reversed(tables)) if tables else {}


def _add(tables: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    return {name: before[name] + one for name, one in tables.items()}


def _size(tables: Mapping[str, Any]) -> int:
    return sum(map(len, tables.values()))


def _name_parser(
    measure: Measure, task: Any, calibrations: Sequence[Any]
) -> FittedMeasure:
    graphs = task.fits[f"parser/{measure['parser']}"]
    note = f"fit:parser-{escape(graphs.parser.identity)}"
    return FittedMeasure(measure, note)


_FITS = {
    "threshold": _fit_similarity_threshold,
    "decode": _fit_score_threshold,
    "df": _fit_frequencies,
    "parser": _name_parser,
}
"""By the option of a measure: what it asks to be fitted, or named in the signature."""
