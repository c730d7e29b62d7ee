"""Agreement with people as people and programs read it: rows, and what was measured in words."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, overload

import numpy as np

from semmetrics.comparison.human_agreement import ALL, Agreement
from semmetrics.errors import UnknownKeyError
from semmetrics.frozen import by_value, dataclass
from semmetrics.messages import listing, pluralize, visible
from semmetrics.options import AGGREGATIONS, AGREEMENT, CORRECTIONS, JUDGEMENT_TESTS
from semmetrics.reports.comparison_table import format_p
from semmetrics.reports.html import write_records
from semmetrics.reports.records import Records
from semmetrics.reports.report import ScaledReport
from semmetrics.scoring.result import names_meant

__all__ = ["AgreementTable"]

_COLUMNS = (
    "heading", "measure", "group", "statistic", "protocol", "aggregate", "unit", "n", "candidates",
    "images", "lacking", "value", "low", "high", "difference", "difference_low", "difference_high",
    "p", "p_corrected", "significant", "level", "resamples", "seed", "baseline", "test",
    "correction", "comparisons", "signature",
)  # fmt: skip
_MANY = 8  # agreements that a sentence names
_AGGREGATED = {("pair", "mean"): "of each pair the side that most prefer"}


@by_value()
@dataclass(frozen=True, eq=False)
class AgreementTable(ScaledReport, Sequence[Agreement]):
    """How well measures agree with people: a sequence of Agreement, and what is said beside it.

    Attributes
    ----------
    agreements : list of Agreement
        Group by group, measure by measure.
    notes, understood : list of str
        What is odd; how each input was read.

    Examples
    --------
    >>> import semmetrics
    >>> gts = {"a": ["cat"], "b": ["dog"], "c": ["cat", "dog"], "d": ["cow"]}
    >>> preds = {"a": ["cat"], "b": ["cow"], "c": ["cat"], "d": ["cow", "dog"]}
    >>> rows = [{"id": id, "rating": rating} for id, rating in zip("abcd", (5, 1, 3, 4))]
    >>> found = semmetrics.meta(rows, preds, gts, measures="F1", statistics="kendall-b")
    >>> round(found["F1"].value, 4), found["F1"].n
    (0.9129, 4)
    """

    agreements: list[Agreement]
    notes: list[str] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.agreements)

    def __iter__(self) -> Iterator[Agreement]:
        return iter(self.agreements)

    @overload
    def __getitem__(self, key: int | str | tuple[str, ...]) -> Agreement: ...

    @overload
    def __getitem__(self, key: slice) -> list[Agreement]: ...

    def __getitem__(self, key: Any) -> Agreement | list[Agreement]:
        """Return the agreement at a place, of a measure, or of (measure, statistic[, group]).

        Where nothing names them, the statistic is the first and the group is all judgements.

        Raises
        ------
        UnknownKeyError
            If there is no such agreement.
        """
        if isinstance(key, (int, slice, np.integer)):
            return self.agreements[key]
        parts = key if isinstance(key, tuple) else (key,)
        if 1 <= len(parts) <= 3 and all(isinstance(part, str) for part in parts):
            name, statistic, group = [*parts, None, None][:3]
            known = {(one.heading, one.measure) for one in self.agreements}
            meant = {heading for heading, _ in names_meant(name, known)}
            for one in self.agreements:
                if (one.heading in meant and statistic in (None, one.statistic)
                        and one.group == (group or ALL)):  # fmt: skip
                    return one
        there = dict.fromkeys(f"{one.heading}, {one.statistic}" for one in self.agreements)
        raise UnknownKeyError(f"there is no agreement {key!r}",
                              remedy=f"there are {listing(there)}; write table[measure, statistic, "
                              "group]")  # fmt: skip

    @property
    def headings(self) -> list[str]:
        """The measures, in the order given."""
        return list(dict.fromkeys(one.heading for one in self.agreements))

    @property
    def groups(self) -> list[str]:
        """The groups of judgements, all of them first."""
        return list(dict.fromkeys(one.group for one in self.agreements))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each agreement as JSON has it."""
        return [one.to_dict() for one in self.agreements]

    def to_json(self) -> str:
        """Write a JSON list in full precision; null for what is undefined."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_records(self) -> Records:
        """Return one row for each measure, group and statistic.

        Returns
        -------
        Records
            Columns "heading", "measure", "group", "statistic", "protocol", "aggregate", "unit",
            "n", "candidates", "images", "lacking", "value", "low", "high", "difference",
            "difference_low", "difference_high", "p", "p_corrected", "significant", "level",
            "resamples", "seed", "baseline", "test", "correction", "comparisons" and "signature".
        """
        return Records.from_rows(_COLUMNS, self.to_dicts())

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.agreements:
            return []
        design = self.agreements[0].design
        several = len(self.groups) > 1
        by = CORRECTIONS[design.correction].split(" ")[0]
        tested = any(not math.isnan(one.p) for one in self.agreements)
        level = f" [{design.bootstrap.level:.4g}]" if self._has_intervals() else ""
        head = ["measure", *(["group"] if several else []), "statistic", "n", f"value{level}"]
        if tested:
            head += [f"less {design.baseline}{level}", "p", *([f"p {by}"] if by else [])]
        rows = [head]
        for one in self.agreements:
            row = [one.heading, *([one.group] if several else []), one.statistic, f"{one.n:,}",
                   _interval(one.value, one.low, one.high, digits, scale)]  # fmt: skip
            if tested:
                ends = one.difference, one.difference_low, one.difference_high
                row += [_interval(*ends, digits, scale, "+"), format_p(one.p),
                        *([format_p(one.p_corrected)] if by else [])]  # fmt: skip
            rows.append(row)
        return [rows]

    def _lines(self, digits: int) -> list[str]:
        return ["", *self.sentences()] if self.agreements else ["nothing was compared"]

    def _has_intervals(self) -> bool:
        return any(not math.isnan(one.low) for one in self.agreements)

    def sentences(self) -> list[str]:
        """Say what was measured of how many judgements, how, and which differences hold."""
        if not self.agreements:
            return []
        first = self.agreements[0]
        design, made = first.design, first.design.bootstrap
        names = [AGREEMENT[name] for name in design.statistics]
        of = f"{pluralize(first.n, first.unit)} of {pluralize(first.candidates, 'candidate')} of "
        lines = [
            f"{', '.join(names)}: {of}{pluralize(first.images, 'image')}, "
            f"{_AGGREGATED.get((first.unit, design.aggregate), AGGREGATIONS[design.aggregate])}"
            + (f"; protocol {design.protocol}" if design.protocol else ""),
        ]
        if self._has_intervals():
            lines.append(f"intervals: percentiles of {made.resamples:,} resamples of images, each "
                         f"with all of its {first.unit}s, seed {made.seed}")  # fmt: skip
        tested = [one for one in self.agreements if not math.isnan(one.p)]
        if tested:
            by = CORRECTIONS[design.correction]
            number = pluralize(tested[0].comparisons, "comparison")
            corrected = (
                f"p corrected by {by} for {number}" if by else f"p of {number} not corrected"
            )
            lines += [f"{JUDGEMENT_TESTS[design.test]} of the difference from {design.baseline}, "
                      f"two-sided; {corrected}", *self._say_which(tested),
                      *self._say_limit(tested)]  # fmt: skip
        return list(map(visible, lines))

    def _say_limit(self, tested: Sequence[Agreement]) -> Iterator[str]:
        """Say where no difference can hold, because p cannot become small enough."""
        design, made = tested[0].design, tested[0].design.bootstrap
        many = 1 if design.correction == "none" else tested[0].comparisons
        least = many / (made.resamples + 1)
        if design.test == "bootstrap" and least >= made.alpha:
            yield (f"no difference can hold: p, corrected, is at least {format_p(min(1.0, least))};"
                   " take more resamples, or fewer comparisons")  # fmt: skip

    def _say_which(self, tested: Sequence[Agreement]) -> Iterator[str]:
        baseline = tested[0].design.baseline
        for sign, word in ((1, "better"), (-1, "worse")):
            held = [one for one in tested if one.significant and one.difference * sign > 0]
            if held:
                yield f"agrees {word} than {baseline}: {self._name_all(held)}"
        rest = [one for one in tested if not one.significant]
        if rest:
            yield f"no difference from {baseline} holds: {self._name_all(rest)}"

    def _name_all(self, some: Sequence[Agreement]) -> str:
        names = [_name(one, self) for one in some[:_MANY]]
        more = [f"{len(some) - _MANY} more"] if len(some) > _MANY else []
        return ", ".join([*names, *more])

    def __repr__(self) -> str:
        of = self.agreements[0] if self.agreements else None
        n = "" if of is None else f", {pluralize(of.n, of.unit)}"
        return f"AgreementTable({pluralize(len(self.headings), 'measure')}{n})"

    def _repr_html_(self) -> str:
        tables = self._tables(4, 1.0)
        head, *rows = tables[0] if tables else [["measure"]]
        table = write_records(head, [dict(zip(head, row, strict=True)) for row in rows], 0)
        return f"{table}{Records({'': self.sentences()})._repr_html_()}"


def _name(one: Agreement, table: AgreementTable) -> str:
    more = [one.statistic] if len(one.design.statistics) > 1 else []
    more += [one.group] if len(table.groups) > 1 else []
    return f"{one.heading} ({', '.join(more)})" if more else one.heading


def _interval(
    value: float, low: float, high: float, digits: int, scale: float, sign: str = ""
) -> str:
    if math.isnan(value):
        return ""
    text = f"{value * scale:{sign}.{digits}f}"
    if math.isnan(low):
        return text
    return f"{text} [{low * scale:{sign}.{digits}f}, {high * scale:{sign}.{digits}f}]"
