"""Tables of agreement with human judgements, in numbers and in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from semmetrics.core.hashing import by_value
from semmetrics.errors import Fact, UnknownKeyError
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import AGGREGATIONS, AGREEMENT, CORRECTIONS, JUDGEMENT_TESTS
from semmetrics.reports import ScaledResult, Table, format_p
from semmetrics.scoring.protocols import NotComputed
from semmetrics.studies.agreement import ALL, COLUMNS, Agreement
from semmetrics.studies.comparison_text import report_correction, report_least_p
from semmetrics.studies.differences import find_headings

_MAX_NAMES_PER_SENTENCE = 8
_AGGREGATED_PAIRS = "the preferred side of each pair, by majority"


class _Layout(NamedTuple):
    """Which columns a table has, and how its numbers are written.

    Attributes
    ----------
    has_groups : bool
    is_tested : bool
        Whether there are differences and p-values.
    correction : str
        The short name of the correction of p. Empty if p is not corrected.
    digits : int
    scale : float
        Factor of all values.
    """

    has_groups: bool
    is_tested: bool
    correction: str
    digits: int
    scale: float

    def head(self, baseline: str, level: str) -> list[str]:
        """Return the names of the columns."""
        cells = ["measure"]
        if self.has_groups:
            cells.append("group")
        cells += ["statistic", "n", f"value{level}"]
        if self.is_tested:
            cells += [f"minus {baseline}{level}", "p"]
            if self.correction:
                cells.append(f"p ({self.correction})")
        return cells

    def cells(self, row: Agreement) -> list[str]:
        """Return the cells of an agreement."""
        value = _format_interval(
            row.value, row.low, row.high, f".{self.digits}f", self.scale
        )
        cells = [row.heading]
        if self.has_groups:
            cells.append(row.group)
        cells += [row.statistic, f"{row.n:,}", value]
        if self.is_tested:
            difference = _format_interval(
                row.difference,
                row.difference_low,
                row.difference_high,
                f"+.{self.digits}f",
                self.scale,
            )
            cells += [difference, format_p(row.p)]
            if self.correction:
                cells.append(format_p(row.p_corrected))
        return cells


@by_value()
@dataclass(frozen=True, eq=False)
class AgreementTable(ScaledResult, Table[Agreement]):
    """How well measures agree with people: a sequence of Agreement, with notes.

    Attributes
    ----------
    agreements : list of Agreement
        Sorted by group, then by measure.
    facts : list of Fact
        Anything unusual. ``notes`` has them as strings.
    understood : list of str
        How each input was read.
    not_computed : list of NotComputed
        Default measures that could not be computed, with the reason.

    Examples
    --------
    >>> import semmetrics
    >>> gts = {"a": ["cat"], "b": ["dog"], "c": ["cat", "dog"], "d": ["cow"]}
    >>> preds = {"a": ["cat"], "b": ["cow"], "c": ["cat"], "d": ["cow", "dog"]}
    >>> rows = [{"id": id, "rating": rating} for id, rating in zip("abcd", (5, 1, 3, 4))]
    >>> table = semmetrics.meta(rows, preds, gts, measures="F1", statistics="kendall-b")
    >>> round(table["F1"].value, 4), table["F1"].n
    (0.9129, 4)
    """

    _columns = COLUMNS
    _of = "agreements"

    agreements: list[Agreement]
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)
    not_computed: list[NotComputed] = field(default_factory=list, repr=False)

    def _find(self, key: Any) -> Agreement:
        """Return the agreement of a measure, or of (measure, statistic[, group]).

        The default is the first statistic, and the group of all judgements.
        """
        parts = key
        if not isinstance(key, tuple):
            parts = (key,)
        if 1 <= len(parts) <= 3 and all(isinstance(part, str) for part in parts):
            row = self._look_up(*parts)
            if row is not None:
                return row
        names = [f"{row.heading}, {row.statistic}" for row in self]
        choices = listing(dict.fromkeys(names))
        raise UnknownKeyError(
            "unknown-name",
            what="agreement",
            value=key,
            remedy=f"choose among {choices}",
        )

    def _look_up(
        self, name: str, statistic: str | None = None, group: str = ALL
    ) -> Agreement | None:
        """Return the first agreement of a measure, statistic and group, or None."""
        headings = find_headings(name, self)
        for row in self:
            if row.heading not in headings or row.group != (group or ALL):
                continue
            if statistic in (None, row.statistic):
                return row
        return None

    @property
    def headings(self) -> list[str]:
        """The measures, in the order given."""
        return list(dict.fromkeys(row.heading for row in self.agreements))

    @property
    def groups(self) -> list[str]:
        """The groups of judgements. The group of all judgements is first."""
        return list(dict.fromkeys(row.group for row in self.agreements))

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.agreements:
            return []
        design = self[0].design
        correction = CORRECTIONS[design.correction]
        short_correction = correction.split(" ")[0]
        layout = _Layout(
            has_groups=len(self.groups) > 1,
            is_tested=bool(self._tested()),
            correction=short_correction,
            digits=digits,
            scale=scale,
        )
        level = ""
        if self._has_intervals():
            level = f" [{design.bootstrap.level:.4g}]"
        rows = [layout.head(design.baseline, level)]
        rows += [layout.cells(row) for row in self]
        return [rows]

    def _tested(self) -> list[Agreement]:
        """Return the agreements with a p-value."""
        return [row for row in self if not math.isnan(row.p)]

    def _has_intervals(self) -> bool:
        return any(not math.isnan(row.low) for row in self)

    def sentences(self) -> list[str]:
        """Describe the judgements, the statistics and the significant differences."""
        if not self.agreements:
            return ["nothing was compared"]
        lines = [self._describe_judgements()]
        if self._has_intervals():
            lines.append(self._describe_intervals())
        tested = self._tested()
        if tested:
            lines += self._describe_differences(tested)
        return list(map(visible, lines))

    _sentences = sentences

    def _describe_judgements(self) -> str:
        """Name the statistics, and the number and the aggregation of judgements."""
        first = self.agreements[0]
        design = first.design
        statistics = ", ".join(AGREEMENT[name] for name in design.statistics)
        judgements = pluralize(first.n, first.unit)
        candidates = pluralize(first.candidates, "distinct candidate")
        images = pluralize(first.images, "image")
        aggregation = AGGREGATIONS[design.aggregate]
        if first.unit == "pair" and design.aggregate == "mean":
            aggregation = _AGGREGATED_PAIRS
        line = f"{statistics}: {judgements} of {candidates} of {images}, {aggregation}"
        if design.protocol:
            line += f"; protocol {design.protocol}"
        return line

    def _describe_intervals(self) -> str:
        """Describe how intervals were computed."""
        first = self.agreements[0]
        bootstrap = first.design.bootstrap
        return (
            f"intervals: percentiles of {bootstrap.resamples:,} resamples of images, "
            f"each with all its {first.unit}s, seed {bootstrap.seed}"
        )

    def _describe_differences(self, tested: Sequence[Agreement]) -> list[str]:
        """Describe the test, and name the measures that differ from the baseline."""
        design = tested[0].design
        baseline = design.baseline
        n_comparisons = tested[0].comparisons
        test = JUDGEMENT_TESTS[design.test]
        correction = report_correction(design.correction, n_comparisons)
        lines = [f"{test} of the difference from {baseline}, two-sided; {correction}"]

        significant = [row for row in tested if row.significant]
        better = [row for row in significant if row.difference > 0]
        worse = [row for row in significant if row.difference < 0]
        equal = [row for row in tested if not row.significant]
        if better:
            names = self._list_names(better)
            lines.append(f"agrees better than {baseline}: {names}")
        if worse:
            names = self._list_names(worse)
            lines.append(f"agrees worse than {baseline}: {names}")
        if equal:
            names = self._list_names(equal)
            lines.append(f"no significant difference from {baseline}: {names}")
        if design.test == "bootstrap":
            lines += self._describe_smallest_p(n_comparisons)
        return lines

    def _describe_smallest_p(self, n_comparisons: int) -> list[str]:
        """Warn if there are too few resamples for any significant difference."""
        design = self.agreements[0].design
        factor = n_comparisons
        if design.correction == "none":
            factor = 1
        smallest_p = factor / (design.bootstrap.resamples + 1)
        return report_least_p(smallest_p, design.bootstrap.alpha, "resamples")

    def _list_names(self, rows: Sequence[Agreement]) -> str:
        """List measures, with the statistic and the group if there are several."""
        names = [self._name_of(row) for row in rows[:_MAX_NAMES_PER_SENTENCE]]
        n_omitted = len(rows) - len(names)
        if n_omitted:
            names.append(f"{n_omitted} more")
        return ", ".join(names)

    def _name_of(self, row: Agreement) -> str:
        details = []
        if len(row.design.statistics) > 1:
            details.append(row.statistic)
        if len(self.groups) > 1:
            details.append(row.group)
        if not details:
            return row.heading
        return f"{row.heading} ({', '.join(details)})"

    def __repr__(self) -> str:
        measures = pluralize(len(self.headings), "measure")
        if not self.agreements:
            return f"AgreementTable({measures})"
        first = self.agreements[0]
        judgements = pluralize(first.n, first.unit)
        return f"AgreementTable({measures}, {judgements})"


def _format_interval(
    value: float, low: float, high: float, form: str, scale: float
) -> str:
    """Write a value with its interval. An undefined value is an empty string."""
    if math.isnan(value):
        return ""
    text = format(value * scale, form)
    if math.isnan(low):
        return text
    return f"{text} [{low * scale:{form}}, {high * scale:{form}}]"
