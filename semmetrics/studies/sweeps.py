"""Values of semantic measures at many thresholds of similarity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import Fact, UnknownKeyError
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.messages import listing
from semmetrics.metrics.parsing import listed, parse_all
from semmetrics.reports import Records, Result, draw, format_full
from semmetrics.scoring import threshold_search
from semmetrics.scoring.evaluation import join_systems
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score import system_name, table_of
from semmetrics.scoring.table import ScoreTable
from semmetrics.studies.thresholds import (
    MeasureLike,
    check_sweepable,
    parse_thresholds,
)


class Best(NamedTuple):
    """The highest value and its threshold. The highest threshold wins a tie."""

    threshold: float
    value: float


@by_value()
@dataclass(frozen=True, eq=False)
class ThresholdSweep(Result):
    """Values of measures of systems at each threshold.

    Attributes
    ----------
    points : tuple of float
        The thresholds, in rising order.
    scores : mapping from measure to tuple of Score
        One score per threshold. If there are several systems, the name of a measure is
        preceded by the system.
    facts : list of Fact
        Anything unusual in the input.
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
        has_several_systems = len(table.systems) > 1
        score_at: dict[str, dict[float, Score]] = {}
        for score in table:
            name = _name_measure(score)
            if has_several_systems:
                name = f"{score.system} {name}"
            threshold = float(str(score.measure["threshold"]))
            score_at.setdefault(name, {})[threshold] = score
        scores = {}
        for name, score_at_threshold in score_at.items():
            scores[name] = tuple(score_at_threshold[point] for point in points)
        return ThresholdSweep(tuple(points), scores, table.facts, table.understood)

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __getitem__(self, name: str) -> tuple[Score, ...]:
        """Return the scores of a measure, one per threshold, by any of its names."""
        scores_by_names = {}
        for key, scores in self.scores.items():
            names = (key, *scores[0].measure.asked)
            scores_by_names[names] = scores
        matches = matching_names(name, scores_by_names)
        if len(matches) == 1:
            return scores_by_names[matches.pop()]
        remedy = f"choose one of {listing(self.scores)}"
        raise UnknownKeyError("unknown-name", what="measure", value=name, remedy=remedy)

    @property
    def values(self) -> dict[str, list[float]]:
        """The value of each measure at each threshold, nan if undefined."""
        values = {}
        for name, scores in self.scores.items():
            values[name] = [score.value for score in scores]
        return values

    @property
    def best(self) -> dict[str, Best | None]:
        """The highest value of each measure. None if all values are undefined."""
        best: dict[str, Best | None] = {}
        for name, values in self.values.items():
            index = threshold_search.best_threshold_index(values)
            if index is None:
                best[name] = None
            else:
                best[name] = Best(self.points[index], values[index])
        return best

    def to_dict(self) -> dict[str, Any]:
        """Return the sweep as in JSON, with None for undefined values.

        The signature of a measure is the signature of its best value.
        """
        best = self.best
        measures = []
        for name, scores in self.scores.items():
            measures.append(self._entry_of_measure(scores, best[name]))
        return {
            "schema": "semmetrics.sweep/2",
            "thresholds": list(self.points),
            "measures": measures,
        }

    def _entry_of_measure(
        self, scores: Sequence[Score], best: Best | None
    ) -> dict[str, Any]:
        """Return the values of a measure as in JSON."""
        best_entry = None
        if best is not None:
            best_score = scores[self.points.index(best.threshold)]
            best_entry = {**best._asdict(), "signature": best_score.signature}
        first = scores[0]
        entry: dict[str, Any] = {
            "measure": _name_measure(first),
            "system": first.system,
            "unit": first.unit,
            "n": first.n,
            "values": [finite_or_none(score.value) for score in scores],
        }
        for end, limits in _interval_limits(scores).items():
            entry[end] = [finite_or_none(limit) for limit in limits]
        entry["best"] = best_entry
        return entry

    def to_csv(self) -> str:
        """Return CSV in full precision, one row per threshold.

        Cells of undefined values are empty.
        """
        return draw(self._rows(None), "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        return [self._rows(digits)]

    def _rows(self, digits: int | None) -> list[list[str]]:
        """Return the header and one row per threshold.

        Numbers have full precision if ``digits`` is None.
        """
        columns: dict[str, list[float]] = {}
        for name, values in self.values.items():
            columns[name] = values
            for end, limits in _interval_limits(self.scores[name]).items():
                columns[f"{name} {end}"] = limits
        rows = [["threshold", *columns]]
        for index, point in enumerate(self.points):
            values_at_point = [values[index] for values in columns.values()]
            if digits is None:
                cells = [repr(point), *map(format_full, values_at_point)]
            else:
                cells = [f"{point:g}"]
                cells += [f"{value:.{digits}f}" for value in values_at_point]
            rows.append(cells)
        return rows

    def _lines(self, digits: int) -> list[str]:
        """Describe the highest value of each measure."""
        lines = [""]
        for name, best in self.best.items():
            highest = "undefined"
            if best is not None:
                highest = f"{best.value:.{digits}f} at {best.threshold:g}"
            lines.append(f"highest {name}: {highest}")
        return lines

    def to_records(self) -> Records:
        """Return one row per measure and threshold.

        The columns are "threshold" and the columns of the records of scores.
        """
        all_scores: list[Score] = []
        for scores in self.scores.values():
            all_scores.extend(scores)
        names = [_name_measure(score) for score in all_scores]
        thresholds = np.tile(np.array(self.points), len(self.scores))
        records = ScoreTable(all_scores).to_records().drop("reason")
        return records.with_columns(measure=names, threshold=thresholds)


def _name_measure(score: Score) -> str:
    """Return the name of a measure without its threshold."""
    return str(score.measure.with_options(threshold="auto"))


def _interval_limits(scores: Sequence[Score]) -> dict[str, list[float]]:
    """Return the "low" and "high" limits of scores. Empty without intervals."""
    intervals = [score.ci for score in scores]
    if all(interval is None for interval in intervals):
        return {}
    limits = {}
    for end in ("low", "high"):
        # nan for a score without an interval.
        limits[end] = [getattr(interval, end, math.nan) for interval in intervals]
    return limits


@takes_options()
def sweep(
    preds: Any,
    gts: Any,
    *,
    measures: MeasureLike | Iterable[MeasureLike] = ("SemF1",),
    thresholds: str | float | Iterable[float] | None = None,
    system: str | None = None,
    **options: Any,
) -> ThresholdSweep:
    """Compute semantic measures at each of many thresholds, in one pass over the data.

    Labels are joined and looked up once, and their similarities are computed once.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measures : sequence of str, Measure or Definition
        Measures with a similarity threshold, such as "SemF1" or
        "SemRecall(match=optimal)@5".
    thresholds : str or iterable of float, optional
        "START:STOP:STEP" with both ends included, or numbers. Default: 0, 0.01, … 1.
    system : str, optional
        The name of the system.
    **options

    Returns
    -------
    ThresholdSweep

    Raises
    ------
    InputError
        If a measure has no similarity threshold, or the input or an option is invalid.

    Examples
    --------
    >>> preds = [["bike"], ["cat"]]
    >>> gts = [["bicycle"], ["car"]]
    >>> result = sweep(preds, gts, thresholds="0.1:0.9:0.4")
    >>> result.points, result.values
    ((0.1, 0.5, 0.9), {'SemF1': [1.0, 0.5, 0.0]})
    """
    name = system or system_name(preds)
    return sweep_systems(
        {name: preds}, gts, measures=measures, thresholds=thresholds, **options
    )


@takes_options()
def sweep_systems(
    systems: Mapping[str, Any],
    gts: Any,
    *,
    measures: MeasureLike | Iterable[MeasureLike] = ("SemF1",),
    thresholds: str | float | Iterable[float] | None = None,
    **options: Any,
) -> ThresholdSweep:
    """Compute semantic measures of several systems at each of many thresholds.

    Parameters
    ----------
    systems : mapping from name to predictions
    gts, measures, thresholds
        As for ``sweep``.
    **options

    Returns
    -------
    ThresholdSweep
        If there are several systems, the name of a measure is preceded by the system.

    Examples
    --------
    >>> systems = {"a": [["bike"]], "b": [["bus"]]}
    >>> result = sweep_systems(systems, [["bicycle"]], thresholds=0.5)
    >>> result.values
    {'a SemF1': [1.0], 'b SemF1': [0.0]}
    """
    parsed_measures = parse_all(listed(measures))
    check_sweepable(parsed_measures, options)
    points = parse_thresholds(thresholds)
    measures_at_points = []
    for measure in parsed_measures:
        for point in points:
            measures_at_points.append(measure.with_options(threshold=point))
    settings = {**options, "measures": measures_at_points, "keep_rows": False}
    table = table_of(join_systems(systems, gts, settings))
    return ThresholdSweep.of(points, table)
