"""Thresholds of similarity: values over thresholds, and the calibration of one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.data.form import takes_options
from semmetrics.data.side_inputs import as_pairs
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds.common import finite_or_none, read_embedding
from semmetrics.kinds.labels.notes import label_notes
from semmetrics.kinds.labels.prepare import prepare_labels
from semmetrics.kinds.options import resolve_options
from semmetrics.messages import listing, pluralize, visible
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import listed, parse, parse_all, parse_one
from semmetrics.metrics.registry import all_definitions
from semmetrics.reports import Records, Result, draw, format_full
from semmetrics.scoring import threshold_search
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.evaluate import check_kind
from semmetrics.scoring.evaluation import join_systems, requested_kind
from semmetrics.scoring.fits import BEST
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score import system_name, table_of
from semmetrics.scoring.table import ScoreTable

Named = str | Measure | Definition
_POINTS, _MOST = "0:1:0.01", 10_001
_ROWS = 11  # of a calibration's curve
_NEAR = 0.95  # of the best value: thresholds that are nearly as good


class Best(NamedTuple):
    """The threshold with the highest value; of equal values the highest threshold."""

    threshold: float
    value: float


@by_value()
@dataclass(frozen=True, eq=False)
class ThresholdSweep(Result):
    """Values of measures of systems at each threshold.

    Attributes
    ----------
    points : tuple of float
        The thresholds, rising.
    scores : mapping from measure to tuple of Score
        One for each threshold. Of several systems a measure has the system before it.
    facts : list of Fact
        What is odd.
    understood : list of str
        How each input was read.
    """

    _reads_truth_last = True

    points: tuple[float, ...]
    scores: Mapping[str, tuple[Score, ...]] = field(repr=False)
    facts: list[Fact] = field(default_factory=list, repr=False)
    understood: list[str] = field(default_factory=list, repr=False)

    @staticmethod
    def of(points: Sequence[float], table: ScoreTable) -> ThresholdSweep:
        """Arrange the scores of measures at all thresholds."""
        found: dict[str, dict[float, Score]] = {}
        for score in table:
            name = (
                f"{score.system} {_name(score)}"
                if len(table.systems) > 1
                else _name(score)
            )
            found.setdefault(name, {})[float(str(score.measure["threshold"]))] = score
        by_name = {
            name: tuple(some[point] for point in points) for name, some in found.items()
        }
        return ThresholdSweep(tuple(points), by_name, table.facts, table.understood)

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __getitem__(self, name: str) -> tuple[Score, ...]:
        """The scores of a measure, one for each threshold, by whatever name was asked for."""
        known = {
            (key, *some[0].measure.asked): some for key, some in self.scores.items()
        }
        if len(meant := matching_names(name, known)) == 1:
            return known[meant.pop()]
        remedy = f"it has {listing(self.scores)}"
        raise UnknownKeyError("unknown-name", what="measure", value=name, remedy=remedy)

    @property
    def values(self) -> dict[str, list[float]]:
        """The value of each measure at each threshold; nan where undefined."""
        return {
            name: [score.value for score in some] for name, some in self.scores.items()
        }

    @property
    def best(self) -> dict[str, Best | None]:
        """For each measure its highest value; None where all are undefined."""
        found: dict[str, Best | None] = {}
        for name, values in self.values.items():
            place = threshold_search.best_place(values)
            found[name] = (
                None if place is None else Best(self.points[place], values[place])
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined.

        The signature is that of the best value.
        """
        measures: list[dict[str, Any]] = []
        for name, best in self.best.items():
            entry, scores = None, self.scores[name]
            if best is not None:
                signature = scores[self.points.index(best.threshold)].signature
                entry = {**best._asdict(), "signature": signature}
            values = [finite_or_none(score.value) for score in scores]
            limits = {
                end: list(map(finite_or_none, some))
                for end, some in _limits(scores).items()
            }
            of = {name: getattr(scores[0], name) for name in ("system", "unit", "n")}
            of |= {"values": values, **limits, "best": entry}
            measures.append({"measure": _name(scores[0]), **of})
        return {
            "schema": "semmetrics.sweep/2",
            "thresholds": [*self.points],
            "measures": measures,
        }

    def to_csv(self) -> str:
        """One row a threshold, in full precision; an empty cell for what is undefined."""
        return draw(self._rows(None), "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        return [self._rows(digits)]

    def _rows(self, digits: int | None) -> list[list[str]]:
        """Return one row a threshold below the head, in full precision without digits."""
        columns = dict[str, list[float]]()
        for name, values in self.values.items():
            limits = _limits(self.scores[name]).items()
            columns |= {name: values, **{f"{name} {end}": some for end, some in limits}}
        shown = [
            [
                format_full(one) if digits is None else f"{one:.{digits}f}"
                for one in column
            ]
            for column in columns.values()
        ]
        points = [
            repr(point) if digits is None else f"{point:g}" for point in self.points
        ]
        return [["threshold", *columns], *map(list, zip(points, *shown, strict=True))]

    def _lines(self, digits: int) -> list[str]:
        """Say the highest value of each measure."""
        best = self.best
        shown = (
            "undefined"
            if one is None
            else f"{one.value:.{digits}f} at {one.threshold:g}"
            for one in best.values()
        )
        return ["", *map("highest {}: {}".format, best, shown)]

    def to_records(self) -> Records:
        """Return one row for each measure and threshold: those of scores, and "threshold"."""
        every = [score for scores in self.scores.values() for score in scores]
        names = list(map(_name, every))
        thresholds = np.tile(np.array(self.points), len(self.scores))
        rows = ScoreTable(every).to_records().drop("reason")
        return rows.with_columns(measure=names, threshold=thresholds)


def _name(score: Score) -> str:
    return str(score.measure.with_options(threshold="auto"))


def _limits(scores: Sequence[Score]) -> dict[str, list[float]]:
    """Return both ends of the intervals of scores; nothing without intervals."""
    every = [score.ci for score in scores]
    if not any(every):
        return {}
    return {
        end: [getattr(ci, end, math.nan) for ci in every] for end in ("low", "high")
    }


@takes_options()
def sweep(
    preds: Any,
    gts: Any,
    *,
    measures: Named | Iterable[Named] = ("SemF1",),
    thresholds: str | float | Iterable[float] | None = None,
    system: str | None = None,
    **options: Any,
) -> ThresholdSweep:
    """Values of semantic measures at each of many thresholds, in one pass over the data.

    Labels are joined and looked up once, and their similarities computed once.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measures : sequence of str, Measure or Definition
        Measures with a threshold of similarity: "SemF1", "SemRecall(match=optimal)@5".
    thresholds : str or iterable of float, optional
        "START:STOP:STEP" with both ends, or numbers; left out, 0, 0.01, … 1.
    system : str, optional
    **options

    Returns
    -------
    ThresholdSweep

    Raises
    ------
    InputError
        If a measure has no threshold of similarity, or the input or an option is wrong.

    Examples
    --------
    >>> found = sweep([["bike"], ["cat"]], [["bicycle"], ["car"]], thresholds="0.1:0.9:0.4")
    >>> found.points, found.values
    ((0.1, 0.5, 0.9), {'SemF1': [1.0, 0.5, 0.0]})
    """
    systems = {system or system_name(preds): preds}
    return sweep_systems(
        systems, gts, measures=measures, thresholds=thresholds, **options
    )


@takes_options()
def sweep_systems(
    systems: Mapping[str, Any],
    gts: Any,
    *,
    measures: Named | Iterable[Named] = ("SemF1",),
    thresholds: str | float | Iterable[float] | None = None,
    **options: Any,
) -> ThresholdSweep:
    """Values of several systems at each of many thresholds, as ``sweep`` has those of one.

    Parameters
    ----------
    systems : mapping from name to predictions
    gts, measures, thresholds
        As for ``sweep``.
    **options

    Returns
    -------
    ThresholdSweep
        Of several systems a name of a measure has the system before it.

    Examples
    --------
    >>> found = sweep_systems({"a": [["bike"]], "b": [["bus"]]}, [["bicycle"]], thresholds=0.5)
    >>> found.values
    {'a SemF1': [1.0], 'b SemF1': [0.0]}
    """
    asked = parse_all(listed(measures))
    _check_swept(asked, options)
    points = _threshold_points(thresholds)
    every = [one.with_options(threshold=point) for one in asked for point in points]
    given = {**options, "measures": every, "keep_rows": False}
    return ThresholdSweep.of(points, table_of(join_systems(systems, gts, given)))


@takes_options()
def calibrate_threshold(
    preds: Any,
    gts: Any,
    *,
    measure: Named = "SemF1",
    holdout: float = 0.2,
    seed: int = 12345,
    thresholds: str | float | Iterable[float] | None = None,
    **options: Any,
) -> Calibration:
    """Find the threshold of an embedding on predictions and ground truth, by contrast.

    On a held-out part of the items, the measure of predictions with their own references is
    compared with that of the same predictions with the references of another item. The threshold
    with the largest difference is taken, of equal ones the highest. It needs no labelled pairs; the
    criterion is semmetrics' own.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measure : str, Measure or Definition
        One with a threshold of similarity.
    holdout : float
        The share of items that are used. An item is chosen by a hash of its id and the seed,
        whatever other items there are.
    seed : int
    thresholds : str or iterable of float, optional
        Those to choose from; left out, 0, 0.01, … 1.
    **options

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If the measure has no threshold of similarity, the part has fewer than two items, the
        predictions go no better with their own references than with others, or the input or an
        option is wrong.

    Examples
    --------
    >>> preds = {"a": ["bike"], "b": ["cat", "dog"], "c": ["boat"]}
    >>> gts = {"a": ["bicycle"], "b": ["kitten"], "c": ["ship"]}
    >>> found = calibrate_threshold(preds, gts, holdout=1, thresholds="0:0.9:0.1")
    >>> found.criterion, found.n, len(found.curve["contrast"])
    ('SemF1', 3, 10)
    """
    chosen = parse_one(measure, "a calibration")
    _check_swept([chosen], options)
    if chosen["decode"] == BEST:
        raise InputError(
            "bad-option",
            str(chosen),
            name="decode",
            value=BEST,
            wanted="a score threshold, such as threshold:0.5",
        )
    points = _threshold_points(thresholds)
    name = system_name(preds)
    prepared = join_systems({name: preds}, gts, {**options, "measures": [chosen]})
    task: Any = prepared.tasks[name][""]
    found = threshold_search.of_contrast(
        task, chosen, points=points, holdout=holdout, seed=seed
    )
    facts = (*found.facts, *prepared.notes())
    return replace(found, facts=facts, understood=tuple(prepared.understood()))


def _check_swept(measures: Iterable[Measure], options: Mapping[str, Any]) -> None:
    """Refuse measures without a threshold, or with one already, and a task that is not theirs."""
    for measure in measures:
        if measure["threshold"] is None:
            having = [
                one.name
                for one in all_definitions()
                if any(option.name == "threshold" for option in one.options)
            ]
            raise InputError("no-threshold", str(measure), measures=", ".join(having))
        if measure["threshold"] != "auto":
            raise InputError(
                "not-applicable", str(measure), name="threshold", what="a sweep"
            )
    kind, _ = requested_kind({"task": options.get("task"), "measures": measures})
    check_kind(measures, str(kind))


@takes_options()
def calibrate_threshold_on_pairs(
    pairs: Any, embedding: Any = None, *, criterion: str = "f1", **options: Any
) -> Calibration:
    """Find the threshold of an embedding on labelled pairs.

    Parameters
    ----------
    pairs : path, or sequence of (a, b, same)
        A CSV, TSV, JSON or JSONL file with the columns ``a``, ``b`` and ``same``, or such triples.
    embedding : str, path, Embedder, callable or mapping from word to vector, optional
        Left out, the model "same", which ships with the package.
    criterion : {"f1", "youden", "accuracy"}
        What is largest at the threshold; of equally good thresholds the highest is taken.
    **options

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If the pairs are not of both kinds, the embedding has a name, or the input or an option is
        wrong.

    Examples
    --------
    >>> pairs = [("car", "automobile", 1), ("bike", "bicycle", 1), ("car", "tree", 0)]
    >>> found = calibrate_threshold_on_pairs(pairs)
    >>> found.value, found.auc, 0.3 < found.threshold < 0.86
    (1.0, 1.0, True)
    """
    embedding = read_embedding(embedding)
    if isinstance(embedding, Mapping) and set(embedding) != {"default"}:
        raise InputError(
            "bad-option",
            name="embedding",
            value=list(embedding),
            wanted="one embedding without a name",
        )
    resolved = resolve_options({"embedding": embedding, **options}, "labels")
    read_notes: list[Fact] = []
    known = as_pairs(pairs, resolved.read, read_notes)
    task = threshold_search.pairs_task(known, resolved)
    measures = parse("SemF1")
    tasks = prepare_labels({"pairs": {"": task}}, measures, resolved)
    found = threshold_search.of_pairs(
        tasks["pairs"][""], known, measures[0], criterion=criterion
    )
    facts = label_notes(tasks, measures, resolved, {})
    return replace(found, facts=(*read_notes, *found.facts, *facts))


def _threshold_points(given: Any) -> list[float]:
    """Return thresholds, rising; decimal steps are exact, so that 0.3 is the float 0.3."""
    given = _POINTS if given is None else given
    if isinstance(given, str) and given.count(":") == 2:
        start, stop, step = map(_threshold, given.split(":"))
        if step <= 0 or stop < start or (stop - start) / step > _MOST:
            raise InputError("bad-thresholds", value=given)
        every = [
            start + place * step for place in range(int((stop - start) / step) + 1)
        ]
    else:
        several = given.split(",") if isinstance(given, str) else given
        every = list(
            map(_threshold, several if isinstance(several, Iterable) else [several])
        )
    points = sorted(map(float, every))
    if not points or len(points) > _MOST:
        raise InputError("bad-thresholds", value=f"{len(points):,} thresholds")
    for point, after in pairwise([*points, math.inf]):
        if point == after:
            raise InputError("duplicate", role="the threshold", value=point)
        if not -1 <= point <= 1:
            raise InputError(
                "out-of-range",
                role="a threshold",
                value=point,
                wanted="cosines from -1 to 1",
            )
    return points


def _threshold(value: Any) -> Decimal:
    """Return a finite number: exact where it is written, and the float itself otherwise."""
    try:
        number = Decimal(value.strip() if isinstance(value, str) else float(value))
    except (ArithmeticError, TypeError, ValueError):
        number = Decimal("nan")
    if isinstance(value, bool) or not number.is_finite():
        raise InputError("bad-thresholds", value=value)
    return number


def report_calibration(one: Calibration) -> str:
    """Write the threshold, the criterion's value, and the curve at some points, the best marked."""
    lines = [
        f"threshold {one.threshold!r} for {visible(one.embedding)}",
        f"{one.method}, {one.criterion}: {one.value:.4f} on {pluralize(one.n, one.unit)}",
    ]
    names, points = list(one.curve), one.curve["threshold"]
    values = one.curve["contrast" if one.method == "contrast" else one.criterion]
    low = high = points.index(one.threshold)
    enough = one.value - (1 - _NEAR) * abs(one.value)
    while low and values[low - 1] >= enough:
        low -= 1
    while high + 1 < len(points) and values[high + 1] >= enough:
        high += 1
    lines.append(
        f"at least {_NEAR:.0%} of that from {points[low]:.4f} to {points[high]:.4f}"
    )
    if one.auc is not None:
        lines.append(f"AUC {one.auc:.4f}")
    some = np.linspace(0, len(points) - 1, _ROWS).round().astype(int).tolist()
    rows = [
        [f"{points[row]:.4f}{'*' if points[row] == one.threshold else ''}"]
        + [f"{one.curve[name][row]:.4f}" for name in names[1:]]
        for row in sorted({*some, points.index(one.threshold)})
    ]
    shown = f"{len(rows)} of {pluralize(len(points), 'threshold')} that were tried"
    lines += [
        "",
        *([f"{shown}:"] if len(rows) < len(points) else []),
        draw([names, *rows]),
    ]
    return "\n".join(lines)
