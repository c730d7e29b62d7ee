"""Curves over thresholds of similarity: the values of measures, and what a calibration found."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import checked
from semmetrics.frozen import by_value, dataclass
from semmetrics.messages import pluralize, visible
from semmetrics.reports.records import Records, check_digits, draw, format_full
from semmetrics.reports.report import Report
from semmetrics.reports.table import ScoreTable, records_of
from semmetrics.scoring.calibration import Calibration, best_place
from semmetrics.scoring.result import Score

__all__ = ["SCHEMA", "Best", "ThresholdSweep", "report_calibration"]

SCHEMA = "semmetrics.sweep/1"
_ROWS = 11  # of a calibration's curve
_NEAR = 0.95  # of the best value: thresholds that are nearly as good


class Best(NamedTuple):
    """The threshold with the highest value; of equal values the highest threshold."""

    threshold: float
    value: float


@by_value()
@dataclass(frozen=True, eq=False)
class ThresholdSweep(Report):
    """Values of measures of one system at each threshold.

    Attributes
    ----------
    points : tuple of float
        The thresholds, rising.
    scores : mapping from measure to tuple of Score
        One for each threshold.
    notes : list of str
        What is odd.
    understood : list of str
        How each input was read.
    """

    points: tuple[float, ...]
    scores: Mapping[str, tuple[Score, ...]] = field(repr=False)
    notes: list[str] = field(default_factory=list, repr=False)
    understood: list[str] = field(default_factory=list, repr=False)

    @staticmethod
    def of(points: Sequence[float], table: ScoreTable) -> ThresholdSweep:
        """Arrange the scores of measures at all thresholds."""
        found: dict[str, dict[float, Score]] = {}
        for score in table:
            name = str(score.measure.with_options(threshold="auto"))
            found.setdefault(name, {})[float(str(score.measure["threshold"]))] = score
        by_name = {name: tuple(some[point] for point in points) for name, some in found.items()}
        return ThresholdSweep(tuple(points), by_name, table.notes, table.understood)

    @property
    def values(self) -> dict[str, list[float]]:
        """The value of each measure at each threshold; nan where undefined."""
        return {name: [score.value for score in some] for name, some in self.scores.items()}

    @property
    def best(self) -> dict[str, Best | None]:
        """For each measure its highest value; None where all are undefined."""
        found: dict[str, Best | None] = {}
        for name, values in self.values.items():
            place = best_place(values)
            found[name] = None if place is None else Best(self.points[place], values[place])
        return found

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined.

        The signature is that of the best value.
        """
        first = next(iter(self.scores.values()))[0]
        return {
            "schema": SCHEMA,
            "system": first.system,
            "unit": first.unit,
            "n": first.n,
            "thresholds": list(self.points),
            "measures": [self._entry(name) for name in self.scores],
        }

    def _entry(self, name: str) -> dict[str, Any]:
        best = self.best[name]
        entry = None
        if best is not None:
            signature = self.scores[name][self.points.index(best.threshold)].signature
            entry = {**best._asdict(), "signature": signature}
        values = [v if math.isfinite(v) else None for v in self.values[name]]
        return {"measure": name, "values": values, "best": entry}

    def to_json(self) -> str:
        """The dictionary in full precision."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_csv(self) -> str:
        """One row a threshold, in full precision; an empty cell for what is undefined."""
        values = self.values
        rows = [
            [repr(point), *(format_full(column[place]) for column in values.values())]
            for place, point in enumerate(self.points)
        ]
        return draw([["threshold", *values], *rows], "csv") + "\n"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return a table with one row a threshold."""
        values = self.values
        rows = [
            [f"{point:g}", *(f"{column[place]:.{digits}f}" for column in values.values())]
            for place, point in enumerate(self.points)
        ]
        return [[["threshold", *values], *rows]]

    def _lines(self, digits: int) -> list[str]:
        """Say the highest value of each measure."""
        return ["", *(
            f"highest {name}: "
            + ("undefined" if best is None else f"{best.value:.{digits}f} at {best.threshold:g}")
            for name, best in self.best.items()
        )]  # fmt: skip

    def _repr_html_(self) -> str:
        from semmetrics.reports.html import write_curves

        return write_curves(self.points, self.values, self.best)

    def to_records(self) -> Records:
        """Return one row for each measure and threshold: those of scores, and "threshold"."""
        every = [score for scores in self.scores.values() for score in scores]
        names = [name for name, scores in self.scores.items() for _ in scores]
        thresholds = np.tile(np.array(self.points), len(self.scores))
        return records_of(every).with_columns(measure=names, threshold=thresholds)


@checked
def report_calibration(calibration: Calibration, *, digits: int = 4) -> str:
    """Write the threshold, the criterion's value, and the curve at some points, the best marked."""
    check_digits(digits)
    one = calibration
    lines = [
        f"threshold {one.threshold!r} for {visible(one.embedding)}",
        f"{one.method}, {one.criterion}: {one.value:.{digits}f} on {pluralize(one.n, one.unit)}",
    ]
    low, high = _find_nearly_as_good(one)
    lines.append(f"at least {_NEAR:.0%} of that from {low:.{digits}f} to {high:.{digits}f}")
    if one.auc is not None:
        lines.append(f"AUC {one.auc:.{digits}f}")
    names, points = list(one.curve), one.curve["threshold"]
    some = np.linspace(0, len(points) - 1, _ROWS).round().astype(int).tolist()
    rows = [
        [f"{points[row]:.{digits}f}{'*' if points[row] == one.threshold else ''}"]
        + [f"{one.curve[name][row]:.{digits}f}" for name in names[1:]]
        for row in sorted({*some, points.index(one.threshold)})
    ]
    shown = f"{len(rows)} of {pluralize(len(points), 'threshold')} that were tried"
    return "\n".join(
        [*lines, "", *([f"{shown}:"] * (len(rows) < len(points))), draw([names, *rows])]
    )


def _find_nearly_as_good(one: Calibration) -> tuple[float, float]:
    """The thresholds around the best, without a gap, whose value is nearly as large."""
    points = one.curve["threshold"]
    values = one.curve["contrast" if one.method == "contrast" else one.criterion]
    low = high = points.index(one.threshold)
    enough = one.value - (1 - _NEAR) * abs(one.value)
    while low and values[low - 1] >= enough:
        low -= 1
    while high + 1 < len(points) and values[high + 1] >= enough:
        high += 1
    return points[low], points[high]
