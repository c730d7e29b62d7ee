"""Comparisons of systems as people and programs read them: rows, sentences, items that differ."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import Any, overload

import numpy as np

from semmetrics.arguments import checked
from semmetrics.comparison.paired import Difference
from semmetrics.comparison.rank_tests import rank_matrix
from semmetrics.comparison.significance import subtract
from semmetrics.errors import InputError, UnknownKeyError
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds import find_kind
from semmetrics.kinds.describe import on_one_line
from semmetrics.messages import did_you_mean, listing, pluralize, visible
from semmetrics.options import CORRECTIONS, TESTS
from semmetrics.reports.html import write_records
from semmetrics.reports.records import Records, draw
from semmetrics.reports.report import ScaledReport
from semmetrics.reports.score_text import name_absent
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.result import Score, names_meant

__all__ = ["ComparisonTable", "draw_differing", "draw_rank_matrix", "format_p"]

_COLUMNS = (
    "system", "baseline", "part", "heading", "measure", "value", "baseline_value", "difference",
    "low", "high", "level", "ci_method", "p", "p_corrected", "significant", "effect_size", "wins",
    "ties", "losses", "undefined", "unit", "n", "test", "correction", "comparisons", "resamples",
    "seed", "signature",
)  # fmt: skip
_MANY = 8  # measures that a sentence names
_FEW = 50  # items, with which p of a bootstrap was too small in simulations
_DRAWN = ("bootstrap", "bootstrap-sacrebleu", "randomization")


@by_value()
@dataclass(frozen=True, eq=False)
class ComparisonTable(ScaledReport, Sequence[Difference]):
    """Differences of systems from a baseline: a sequence of Difference, and what is said beside it.

    Attributes
    ----------
    differences : list of Difference
        System by system, measures in the order given.
    scores : ScoreTable
        The scores that were compared.
    notes, understood : list of str
        What is odd; how each input was read.

    Examples
    --------
    >>> import semmetrics
    >>> gts = [["cat"], ["dog"], ["cat", "dog"], ["cow"], ["cow"], ["dog"]]
    >>> systems = {"old": [["cat"]] * 6, "new": [["cat"], ["dog"], ["cat"], ["cow"], [], ["dog"]]}
    >>> found = semmetrics.compare(systems, gts, measures="F1", test="t")
    >>> one = found["F1"]
    >>> round(one.difference, 4), round(one.p, 4), one.wins, one.ties, one.losses
    (0.5, 0.0756, 3, 3, 0)
    >>> print(found.sentences()[0])
    new and old: no difference holds in F1 (p = 0.0756)
    """

    differences: list[Difference]
    scores: ScoreTable = field(repr=False)
    notes: list[str] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    @overload
    def __getitem__(self, key: int | str | tuple[str, str]) -> Difference: ...

    @overload
    def __getitem__(self, key: slice) -> list[Difference]: ...

    def __getitem__(self, key: Any) -> Difference | list[Difference]:
        """Return the difference at a place, of a measure, or of (system, measure).

        Raises
        ------
        UnknownKeyError
            If there is no such difference, or more than one.
        """
        if isinstance(key, (int, slice, np.integer)):
            return self.differences[key]
        system, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        of = [one for one in self.differences if system in (None, one.system)]
        known = {(one.heading, str(one.score.measure)) for one in of}
        meant = {pair[0] for pair in names_meant(name, known)} if isinstance(name, str) else set()
        found = [one for one in of if one.heading in meant]
        if len(found) == 1:
            return found[0]
        if found:
            several = len({one.system for one in found}) > 1
            remedy = "write table[system, measure]"
            if not several:  # i2t and t2i
                remedy = f"write one of {listing(one.heading for one in found)}"
            what = "systems" if several else "parts"
            raise UnknownKeyError(f"{key!r} is there for several {what}", remedy=remedy)
        there = [f"{one.system}, {one.heading}" for one in self.differences]
        raise UnknownKeyError(f"nothing was compared as {key!r}",
                              remedy=f"there are {listing(there)}")  # fmt: skip

    @property
    def systems(self) -> list[str]:
        """The systems that were compared with the baseline."""
        return list(dict.fromkeys(one.system for one in self.differences))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each difference as JSON has it."""
        return [one.to_dict() for one in self.differences]

    def to_json(self) -> str:
        """Write a JSON list in full precision; null for what is undefined."""
        return json.dumps(self.to_dicts(), indent=1, ensure_ascii=False, allow_nan=False)

    def to_records(self) -> Records:
        """Return one row for each system and measure.

        Returns
        -------
        Records
            Columns "system", "baseline", "part", "heading", "measure", "value", "baseline_value",
            "difference", "low", "high", "level", "ci_method", "p", "p_corrected", "significant",
            "effect_size", "wins", "ties", "losses", "undefined", "unit", "n", "test",
            "correction", "comparisons", "resamples", "seed" and "signature".
        """
        return Records.from_rows(_COLUMNS, self.to_dicts())

    def _lines(self, digits: int) -> list[str]:
        """Say which differences hold, and by which test."""
        return ["", *self.sentences()] if len(self) else self.sentences()

    def __repr__(self) -> str:
        held = sum(one.significant for one in self)
        which = f"{', '.join(self.systems)} and {self[0].baseline}" if self.differences else ""
        return f"ComparisonTable({held} of {pluralize(len(self), 'difference')} hold: {which})"

    def _repr_html_(self) -> str:
        head, *rows = self._cells(4, 1.0)
        names = [f"{place} {name}" if head.count(name) > 1 else name
                 for place, name in enumerate(head)]  # fmt: skip
        table = write_records(names, [dict(zip(names, row, strict=True)) for row in rows], 0)
        return f"{table}{Records({'': self.sentences()})._repr_html_()}"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        return [self._cells(digits, scale)] if len(self) else []

    def _cells(self, digits: int, scale: float) -> list[list[str]]:
        design = self.differences[0].design if self.differences else None
        level = "" if design is None else f" [{design.bootstrap.level:.4g}]"
        by = "" if design is None else CORRECTIONS[design.correction].split(" ")[0]
        head = ["measure", "system", "value", "baseline", f"difference{level}", "p",
                *([f"p {by}"] if by else []), "effect", "won", "tied", "lost"]  # fmt: skip
        rows = [head]
        for one in self.differences:
            factor = one.score.measure.definition.printed_scale(scale)
            value, other, gap, low, high = (
                v * factor
                for v in (one.value, one.baseline_value, one.difference, one.low, one.high)
            )
            counts = ("" if n is None else f"{n}" for n in (one.wins, one.ties, one.losses))
            rows.append([
                one.heading, one.system, f"{value:.{digits}f}", f"{other:.{digits}f}",
                f"{gap:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]".replace("+nan", "nan"),
                format_p(one.p), *([format_p(one.p_corrected)] if by else []),
                f"{one.effect_size:.2f}" if math.isfinite(one.effect_size) else "", *counts,
            ])  # fmt: skip
        return rows

    def sentences(self) -> list[str]:
        """Say in words which differences hold, by which test, correction, number and seed.

        What a protocol names and was not computed comes last, with the reason.
        """
        lines = [line for system in self.systems for line in self._say_of(system)]
        how = [self._say_how(), *self._say_limits()] if lines else ["nothing could be compared"]
        return list(map(visible, [*lines, *how, *name_absent(self.scores)]))

    def _say_of(self, system: str) -> Iterator[str]:
        """Say of a system where it is better, worse, and not shown to differ."""
        of = [one for one in self.differences if one.system == system]
        baseline = of[0].baseline
        for better, word in ((True, "better"), (False, "worse")):
            held = [one for one in of if one.significant and one.better is better]
            if held:
                yield f"{system} is {word} than {baseline} in {_name_all(held)}"
        same = [one for one in of if _are_identical(one)]
        if same:
            yield f"{system} and {baseline} are the same in every resample in {_name_all(same)}"
        rest = [o for o in of if not o.significant and o not in same and not math.isnan(o.p)]
        if rest:
            yield f"{system} and {baseline}: no difference holds in {_name_all(rest)}"
        undefined = [one.heading for one in of if math.isnan(one.difference)]
        if undefined:
            yield f"{system} and {baseline}: undefined is {', '.join(undefined)}"
        untested = [one for one in of if math.isnan(one.p) and not math.isnan(one.difference)]
        if untested:
            yield (
                f"{system} and {baseline}: no p for {', '.join(one.heading for one in untested)}: "
                f"too few {untested[0].score.unit}s decide it, or all differ alike; "
                "use test='randomization' (--test)"
            )

    def _say_how(self) -> str:
        first = self.differences[0]
        design, made = first.design, first.design.bootstrap
        words = [f"{TESTS[design.test]}, two-sided" if design.test != "bootstrap-sacrebleu"
                 else f"{TESTS[design.test]}, which is nearly one-sided"]  # fmt: skip
        methods = dict.fromkeys(one.method for one in self.differences)
        if design.test == "interval":
            words[0] = f"p by the interval of the difference ({', '.join(methods)}), two-sided"
        elif design.test != "t":
            words.append(f"intervals by {', '.join(methods)}")
        if design.test in _DRAWN:
            what = "swaps" if design.test == "randomization" else "resamples"
            words.append(f"{made.resamples:,} {what}, seed {made.seed}")
        by = CORRECTIONS[design.correction]
        number = pluralize(first.comparisons, "comparison")
        words.append(f"p corrected by {by} for {number}" if by else f"p of {number} not corrected")
        words.append(f"a difference holds where that is below {1 - made.level:.4g}")
        scores = [one.score for one in self.differences]
        scores = [one for one in scores if one.part] or scores  # Rsum has those of its parts
        units = dict.fromkeys(f"{one.part} {pluralize(one.n, one.unit)}".strip() for one in scores)
        return "; ".join([*words, ", ".join(units)])

    def _say_limits(self) -> Iterator[str]:
        """Say where p is too small, of few items, or cannot be so small that a difference holds."""
        first = max(self.differences, key=lambda one: one.drawn)
        design, made = first.design, first.design.bootstrap
        items = f"{first.score.unit}s"
        items = items if first.drawn == first.score.n else f"groups of {items}"
        if design.test.startswith("bootstrap") and first.drawn < _FEW:
            yield (
                f"with {first.drawn} {items} the bootstrap p tends to be too small; "
                "use test='interval' or 'randomization' (--test)"
            )
        few = dict.fromkeys(
            one.heading
            for one in self.differences
            for side in (one.score.replicates, one.against.replicates)
            if design.test == "interval" and side is not None and side.varies_as_few
        )
        if few:
            yield (
                f"a few {items} decide {', '.join(few)}: compare them by test='randomization' "
                "(--test)"
            )
        smallest = {}
        quantiles = design.test == "interval" and not first.method.startswith("jackknife")
        if design.test in _DRAWN or quantiles:
            smallest["resamples"] = 1 / (made.resamples + 1)
        if design.test in ("randomization", "wilcoxon"):  # of so many signs one is the smallest
            smallest[items] = 2.0 ** (1 - min(1000, first.drawn))
        many = 1 if design.correction == "none" else first.comparisons
        for what, p in smallest.items():
            if p * many >= made.alpha:
                yield (
                    f"no difference can hold: p, corrected, is at least "
                    f"{format_p(min(1.0, p * many))}; take more {what}, or fewer comparisons"
                )

    @checked
    def differing(self, n: int = 10, measure: str | None = None) -> Records:
        """Return the items on which each system differs most from the baseline.

        Parameters
        ----------
        n : int
            Of each system, from 1. Items without a difference are left out.
        measure : str, optional
            A heading or a measure; the first that items have values of where it is left out.

        Returns
        -------
        Records
            Columns "system", "baseline", "measure", "id", "value", "baseline_value", "difference",
            and what the item is: of labels "predicted", "baseline_predicted" and "true", of
            captions "caption", "baseline_caption" and "references". The largest come first.

        Raises
        ------
        InputError
            If the measure has no values of items.
        """
        if n < 1:
            raise InputError(f"n={n}", remedy="give a whole number from 1")
        chosen = self._with_items(measure)
        rows = [row for one in chosen for row in _differing_rows(one, n)]
        columns = dict.fromkeys(name for row in rows for name in row)
        plain = ("system", "baseline", "measure", "id", "value", "baseline_value", "difference")
        return Records.from_rows(list(columns) or list(plain), rows)

    def _with_items(self, measure: str | None) -> list[Difference]:
        """Return the differences of one measure that have differences of items."""
        of = self.differences
        if measure is not None:
            known = {(one.heading, str(one.score.measure)) for one in of}
            meant = {pair[0] for pair in names_meant(measure, known)}
            if not meant:
                there = dict.fromkeys(one.heading for one in of)
                remedy = did_you_mean(measure, there, f"there is {listing(there)}")
                raise InputError(f"{measure!r} was not compared", remedy=remedy)
            of = [one for one in of if one.heading in meant]
        of = [one for one in of if one.items is not None]
        if not of:
            raise InputError("no measure here has item values", remedy="add a measure such as F1")
        return [one for one in of if one.heading == of[0].heading]

    @checked
    def rank_matrix(self, measure: str | None = None) -> Records:
        """Return how often each system, the baseline too, has each rank in the resamples.

        Parameters
        ----------
        measure : str, optional
            A heading or a measure; the first where it is left out.

        Returns
        -------
        Records
            Columns "system", "mean_rank" and "rank_1", "rank_2", …: shares of the resamples in
            which the measure has a value for all systems. Systems that are equal share the mean of
            their ranks, and each of these counts in equal parts. The best mean rank comes first.
        """
        wanted = measure or self.scores.headings[0]
        known = {(one.heading, str(one.measure)) for one in self.scores}
        meant = names_meant(wanted, known)
        scores = [one for one in self.scores if (one.heading, str(one.measure)) in meant]
        if len(scores) != len(self.scores.systems):
            raise InputError(f"{wanted!r} is not there once for each system",
                             remedy=f"choose among {listing(self.scores.headings)}")  # fmt: skip
        return _rank_records(scores)


def draw_rank_matrix(table: ComparisonTable, *, digits: int = 4) -> str:
    """Draw how often each system has each rank in the resamples, by the first measure."""
    records = table.rank_matrix()
    rows = [[str(row["system"]), f"{row['mean_rank']:.2f}",
             *(f"{share:.{digits}f}" for share in list(row.values())[2:])]
            for row in records]  # fmt: skip
    head = [f"ranks by {table.scores.headings[0]}", "mean", *map(str, range(1, len(rows) + 1))]
    return draw([head, *rows])


def _rank_records(scores: Sequence[Score]) -> Records:
    sign = 1.0 if scores[0].measure.definition.higher_is_better else -1.0
    values = np.stack([sign * one.replicates.values for one in scores if one.replicates], axis=1)
    matrix, means = rank_matrix(values[~np.isnan(values).any(axis=1)])
    order = np.argsort(means, kind="stable")
    shares = matrix / max(1.0, float(matrix[0].sum()))
    columns: dict[str, Any] = {"system": [scores[place].system for place in order.tolist()]}
    columns["mean_rank"] = means[order]
    for rank in range(len(scores)):
        columns[f"rank_{rank + 1}"] = shares[order, rank]
    return Records(columns)


def format_p(p: float) -> str:
    """Write p with four digits after the point.

    Examples
    --------
    >>> format_p(0.04963), format_p(1.0), format_p(0.00001)
    ('0.0496', '1.0000', '<0.0001')
    """
    if math.isnan(p):
        return ""
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def _name_all(differences: Sequence[Difference]) -> str:
    """Name measures with their corrected p."""
    shown = [f"{one.heading} (p = {format_p(one.p_corrected)})".replace("= <", "< ")
             for one in differences[:_MANY]]  # fmt: skip
    more = len(differences) - _MANY
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _are_identical(one: Difference) -> bool:
    """Whether no resample tells the two apart."""
    mine, theirs = one.score.replicates, one.against.replicates
    if mine is None or theirs is None or one.difference or math.isnan(one.p):
        return False
    there = np.isnan(mine.values) == np.isnan(theirs.values)
    return bool(there.all()) and not np.nan_to_num(subtract(mine.values, theirs.values)).any()


def _differing_rows(one: Difference, number: int) -> Iterator[dict[str, Any]]:
    items = one.items
    if items is None:
        return
    sizes = np.where(np.isnan(items), 0.0, np.abs(items))
    ids = one.ids
    # of equal differences the first items of the file, which may stand in the order of their hashes
    for place in np.lexsort((one.score.statistics.order, -sizes))[:number].tolist():
        if not sizes[place]:
            return
        rows = [int(score.statistics.order[place]) for score in (one.score, one.against)]
        values = [_item_value(score, row)
                  for score, row in zip((one.score, one.against), rows, strict=True)]  # fmt: skip
        known = {
            "system": one.system,
            "baseline": one.baseline,
            "measure": one.heading,
            "id": ids[place],
            "value": values[0],
            "baseline_value": values[1],
            "difference": float(items[place]),
        }
        yield known | _show_item(one, *rows)


def _item_value(score: Score, row: int) -> float | None:
    values = score.averaged
    values = score.items if values is None else values
    return None if values is None or math.isnan(values[row]) else float(values[row])


def _show_item(one: Difference, row: int, other: int) -> dict[str, Any]:
    """What the item is, and what both systems have for it."""
    if one.score.task is None or one.against.task is None:
        return {}
    show = find_kind(one.score.task.kind).describer.show_item
    mine = show(one.score.task, row, one.score.measure)
    theirs = show(one.against.task, other, one.against.measure)
    shown: dict[str, Any] = {}
    for name, value in mine.items():
        shown[name] = value
        if theirs.get(name) != value:
            shown[f"baseline_{name}"] = theirs.get(name)
    return shown


def draw_differing(
    table: ComparisonTable, number: int, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw the items that differ most, each with what it is, and what the baseline has for it."""
    lines: list[str] = []
    by_heading = {one.heading: one.score for one in table.differences}
    for record in table.differing(number):
        head = f"{record['measure']}: {record['system']} less {record['baseline']}"
        if not lines or head not in lines:
            lines.append(head)
        score = by_heading[record["measure"]]
        difference = record["difference"] * score.measure.definition.printed_scale(scale)
        lines.append(f"  {difference:+.{digits}f}  {on_one_line(str(record['id']))}")
        lines += (
            [] if score.task is None else [f"    {line}" for line in _item_lines(record, score)]
        )
    return "\n".join(map(visible, lines or ["no item differs"]))


def _item_lines(record: dict[str, Any], score: Score) -> list[str]:
    """Return the lines of an item, then those that are others for the baseline."""
    report: Callable[[Any], list[str]] = find_kind(score.task.kind).describer.report_item
    theirs = {name.removeprefix("baseline_"): value for name, value in record.items()
              if name.startswith("baseline_")}  # fmt: skip
    lines = report(record)
    return lines + [
        f"baseline {line}" for line in report({**record, **theirs}) if line not in lines
    ]
