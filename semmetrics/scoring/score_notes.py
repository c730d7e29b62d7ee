"""Notes on scores: labels that are not counted, intervals, bounds, and options without effect."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats
from semmetrics.data.lists import gather
from semmetrics.data.tasks.base import LabelAxis
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import name_task
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.messages import listing, plural
from semmetrics.metrics.registry import is_own
from semmetrics.options import INTERVALS, OPTIONS
from semmetrics.scoring.intervals import Interval, Replicates
from semmetrics.scoring.result import LeftOut, Score, point_sums, score_rows
from semmetrics.scoring.statistics import Statistics

INTERVAL_OPTIONS = tuple(
    name
    for name, option in OPTIONS.items()
    if option.group == INTERVALS and name != "ci"
)
"""The options of intervals, which have no effect without ``ci``."""
_MIN_TRUE_ITEMS = 5
"""A label with fewer true items has too few for an interval."""
_MAX_SHARE_OF_RARE_LABELS = 0.5
_BOUND_TOLERANCE = 1e-9
_WIDTH_TOLERANCE = 1e-12
_UNIVERSE_TEXTS = {"reference": "ground truth", "given": "class list"}


def score_notes(
    scores: Sequence[Score], axes: Mapping[str, tuple[Any, str]], *, ci: bool
) -> list[Fact]:
    """Return notes on labels that are left out, on absent intervals and on bounds.

    Parameters
    ----------
    scores : sequence of Score
    axes : mapping from name of a task to its label axis, and "predicted" or "scored"
    ci : bool
        Whether intervals were requested.
    """
    notes: list[Fact] = []
    scores_by_task = gather((name_task(s.system, s.part), s) for s in scores)
    for name, (axis, verb) in axes.items():
        scores_of_task = scores_by_task.get(name, [])
        if scores_of_task:
            axis = scores_of_task[0].statistics
        left_out = left_out_notes(axis, scores_of_task, verb)
        notes += [replace(note, where=name) for note in left_out]
    if ci:
        for score in scores:
            if score.ci is None:
                notes.append(Fact("parts-apart", values={"heading": score.heading}))
    return notes + bound_notes(scores)


def idle_intervals(options: ResolvedOptions) -> list[Fact]:
    """Note the options of intervals that the user sets without requesting intervals."""
    if options.ci:
        return []
    ignored = [name for name in INTERVAL_OPTIONS if name in options.set_by_user]
    return [Fact("needs-ci", values={"option": name}) for name in ignored]


# ---- labels that are not counted ------------------------------------------------------


def left_out_notes(
    axis: LabelAxis | Statistics, scores: Sequence[Score], verb: str = "predicted"
) -> list[Fact]:
    """Return notes on the labels of a system that are not counted, and in which measures.

    Parameters
    ----------
    axis : LabelAxis or Statistics
        The labels of the system.
    scores : sequence of Score
        The scores of the system.
    verb : str
        "predicted" if the predictions are label sets, "scored" if they are scores.
    """
    ignored = LeftOut.ignored(axis)
    outside_reference = _left_out_of(scores, "reference")
    outside_given = _left_out_of(scores, "given")
    if outside_given is None and axis.n_listed is not None:
        is_outside = np.arange(len(axis.labels)) >= axis.n_listed
        outside_given = LeftOut.of(axis, is_outside), "outside the class list"
    notes = []
    for labels_and_reason in ((ignored, "ignored"), outside_reference, outside_given):
        if labels_and_reason is None:
            continue
        left_out, reason = labels_and_reason
        if left_out.labels:
            values = {"how": reason, "verb": verb, **left_out._asdict()}
            notes.append(Fact("left-out-labels", left_out.labels, values=values))
    return notes


def _left_out_of(scores: Sequence[Score], universe: str) -> tuple[LeftOut, str] | None:
    """Return the labels outside a universe, and a phrase with the measures that ignore them.

    Return None if no measure has this universe.
    """
    affected = []
    for score in scores:
        if score.frame.universe_name(score.measure) == universe:
            affected.append(score)
    if not affected:
        return None
    headings = listing(dict.fromkeys(score.heading for score in affected), write=str)
    text = f"outside the {_UNIVERSE_TEXTS[universe]}, ignored by {headings}"
    first_score = affected[0]
    is_outside = ~first_score.frame.universe(first_score.measure)
    return LeftOut.of(first_score.statistics, is_outside), text


# ---- doubtful intervals ---------------------------------------------------------------


class _Doubt(NamedTuple):
    """A reason not to trust an interval: the code and the values of a note.

    The values are pairs, because doubts are keys of a dictionary.
    """

    code: str
    values: tuple[tuple[str, Any], ...] = ()


def interval_notes(scores: Iterable[Score]) -> list[Fact]:
    """Return notes on doubtful intervals, and on methods if measures have different ones.

    A note names its system, unless it applies to the same measures of all systems.

    Examples
    --------
    >>> import semmetrics
    >>> table = semmetrics.score([["cat"]], [["cat"]], measures="F1", ci=True)
    >>> table.notes
    ['no interval, because there is only one image. Give at least two.']
    """
    # Dictionaries without values, so that each heading occurs once.
    headings_by_method: dict[str, dict[str, None]] = {}
    headings_by_doubt: dict[_Doubt, dict[str, dict[str, None]]] = {}
    systems: set[str] = set()
    for score in scores:
        if score.replicates is None or score.ci is None:
            continue
        systems.add(score.system)
        headings_by_method.setdefault(score.ci.method, {})[score.heading] = None
        for doubt in _list_doubts(score, score.replicates, score.ci):
            headings_by_system = headings_by_doubt.setdefault(doubt, {})
            headings_by_system.setdefault(score.system, {})[score.heading] = None
    notes = []
    if len(headings_by_method) > 1:
        notes.append(_note_methods(headings_by_method))
    for doubt, headings_by_system in headings_by_doubt.items():
        notes += _note_doubt(doubt, headings_by_system, len(systems))
    return notes


def _note_doubt(
    doubt: _Doubt, headings_by_system: Mapping[str, Mapping[str, None]], n_systems: int
) -> list[Fact]:
    """Return one note on a doubt if it applies to all systems, or else one per system."""
    notes = []
    for system, headings in headings_by_system.items():
        values = {"headings": listing(headings, write=str), **dict(doubt.values)}
        notes.append(Fact(doubt.code, where=system, values=values))
    is_shared = len(notes) == n_systems and len({note.kind for note in notes}) == 1
    if is_shared:
        return [replace(notes[0], where="")]
    return notes


def _note_methods(headings_by_method: Mapping[str, Mapping[str, None]]) -> Fact:
    """Return a note on which measures have intervals by which method."""
    parts = []
    for method, headings in headings_by_method.items():
        parts.append(f"{method} ({listing(headings, write=str)})")
    return Fact("interval-methods", values={"used": ", ".join(parts)})


def _list_doubts(
    score: Score, replicates: Replicates, ci: Interval
) -> Iterator[_Doubt]:
    """Yield the reasons not to trust an interval."""
    doubts = (
        _doubt_items(score, replicates),
        _doubt_value(score, replicates, ci),
        _doubt_width(ci),
    )
    for doubt in doubts:
        if doubt is not None:
            yield doubt


def _doubt_items(score: Score, replicates: Replicates) -> _Doubt | None:
    """Return a doubt if there are too few items, or too few items of most labels."""
    if replicates.sizes.sum() == 1:
        what = f"one {score.unit}"
        if replicates.grouped:
            what = f"one group of {plural(score.unit)}"
        return _Doubt("one-item", (("what", what),))
    if score.measure["average"] != "macro":
        return None
    counts = _count_true_items(score)
    if counts is None:
        return None
    n_rare = int((counts < _MIN_TRUE_ITEMS).sum())
    if n_rare <= _MAX_SHARE_OF_RARE_LABELS * len(counts):
        return None
    values = {
        "few": n_rare,
        "labels": len(counts),
        "least": _MIN_TRUE_ITEMS,
        "none": int((counts == 0).sum()),
    }
    return _Doubt("few-true-items", tuple(values.items()))


def _count_true_items(score: Score) -> Floats | None:
    """Return how many items have each label, without weights.

    Return None if the score is not an average over labels, or if only weighted sums of
    the items are stored.
    """
    statistics = score.statistics
    is_weighted = statistics.weights is not None
    if statistics.weighting and not is_weighted:
        return None
    columns = score.per_label
    if columns is not None and is_weighted:
        columns = _unweighted_labels(score)
    if columns is None:
        return None
    return columns["support"]


def _unweighted_labels(score: Score) -> dict[str, Any] | None:
    """Return the values and counts of labels, without weights of items."""
    family = score.measure.definition.family
    sums: dict[str, Any]
    if family.statistic(score.measure).additive:
        sums = {name: column.sum() for name, column in score_rows(score).items()}
    else:
        unweighted = replace(score.statistics, weights=None)
        sums = dict(point_sums(score.measure, unweighted))
    return family.per_label(score.measure, sums, score.frame)


def _doubt_value(score: Score, replicates: Replicates, ci: Interval) -> _Doubt | None:
    """Return a doubt if the value is undefined, or a few items determine it."""
    units = (("units", plural(score.unit)),)
    if math.isnan(score.value):
        return _Doubt("undefined-value")
    if math.isnan(ci.low) and replicates.sizes.sum() > 1:
        return _Doubt("undefined-without-one", units)
    if replicates.rests_on_few(ci.method):
        return _Doubt("few-decide", units)
    return None


def _doubt_width(ci: Interval) -> _Doubt | None:
    """Return a doubt if the interval has no width."""
    if not math.isclose(ci.low, ci.high, rel_tol=_WIDTH_TOLERANCE):
        return None
    reason = "leaving out any item does not change it"
    if ci.method in ("percentile", "bca"):
        reason = "all resamples are equal"
    return _Doubt("no-width", (("why", reason),))


# ---- violated bounds ------------------------------------------------------------------


def bound_notes(scores: Iterable[Score]) -> list[Fact]:
    """Return notes on user-defined measures with values outside their declared bounds.

    Examples
    --------
    >>> import semmetrics
    >>> from semmetrics.metrics.registry import forget
    >>> @semmetrics.measure
    ... def Hits(hit):
    ...     return hit
    >>> semmetrics.score([["cat", "dog"]], [["cat", "dog"]], measures="Hits").notes
    ['Hits has the value 2.0, outside its bounds 0.0 to 1.0. Pass bounds= to @measure.']
    >>> forget(Hits)
    """
    notes: dict[str, Fact] = {}
    for score in scores:
        definition = score.measure.definition
        if not is_own(definition) or score.heading in notes:
            continue
        low, high = definition.bounds
        values = _list_values(score)
        is_low = values < low - _BOUND_TOLERANCE
        is_high = values > high + _BOUND_TOLERANCE
        outside = values[is_low | is_high]
        if len(outside):
            value = float(outside[0])
            notes[score.heading] = Fact(
                "outside-bounds",
                values={
                    "heading": score.heading,
                    "value": value,
                    "low": low,
                    "high": high,
                },
            )
    return list(notes.values())


def _list_values(score: Score) -> Floats:
    """Return the values of the labels, or else of the items, and the value of the score."""
    values = _list_single_values(score)
    if values is None:
        values = np.zeros(0)
    return np.append(np.asarray(values, np.float64), score.value)


def _list_single_values(score: Score) -> NDArray[Any] | None:
    """Return the values of the labels, or else of the items, or None if there are none."""
    if score.per_label is not None:
        return score.per_label["value"]
    try:
        return score.items
    except InputError:  # rows were not stored
        return None
