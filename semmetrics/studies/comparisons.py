"""Systems compared with a baseline: in one call, and as people and programs read it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.same import by_value
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds import find_kind
from semmetrics.kinds.describe import on_one_line
from semmetrics.messages import did_you_mean, listing, pluralize, visible
from semmetrics.options import COMPARED, CORRECTIONS, OPTIONS, TESTS, check_options
from semmetrics.reports import Records, ScaledResult, Table, draw, format_p
from semmetrics.scoring.intervals import AUTO, Bootstrap
from semmetrics.scoring.plan import prepare_systems
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score import document_options, score_prepared
from semmetrics.scoring.table import ScoreTable, name_absent
from semmetrics.studies.differences import (
    COLUMNS,
    Design,
    Difference,
    check_systems,
    compare_scores,
)
from semmetrics.studies.significance import rank_matrix, subtract

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

_MANY = 8  # measures that a sentence names
_FEW = 50  # items, with which p of a bootstrap was too small in simulations
_DRAWN = ("bootstrap", "bootstrap-sacrebleu", "randomization")


@by_value()
@dataclass(frozen=True, eq=False)
class ComparisonTable(ScaledResult, Table[Difference]):
    """Differences of systems from a baseline: a sequence of Difference, with notes.

    Attributes
    ----------
    differences : list of Difference
        System by system, measures in the order given.
    scores : ScoreTable
        The scores that were compared.
    facts : list of Fact
    understood : list of str
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

    _columns = COLUMNS
    differences: list[Difference]
    scores: ScoreTable = field(repr=False)
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    def _entries(self) -> list[Difference]:
        return self.differences

    def _systems(self) -> set[str]:
        return self.scores._systems()

    def _find(self, key: Any) -> Difference:
        """Return the difference of a measure, or of (system, measure)."""
        system, name = key if isinstance(key, tuple) and len(key) == 2 else (None, key)
        of = [one for one in self.differences if system in (None, one.system)]
        known = {(one.heading, str(one.score.measure)) for one in of}
        meant = matching_names(name, known) if isinstance(name, str) else ()
        found = [one for one in of if one.heading in dict(meant)]
        if len(found) == 1:
            return found[0]
        there = listing(f"{one.system}, {one.heading}" for one in found or self.differences)
        if found:
            raise UnknownKeyError("ambiguous-key", value=key, choices=there)
        remedy = f"there are {there}"
        raise UnknownKeyError("unknown-name", what="comparison", value=key, remedy=remedy)

    @property
    def systems(self) -> list[str]:
        """The systems that were compared with the baseline."""
        return list(dict.fromkeys(one.system for one in self.differences))

    def _lines(self, digits: int) -> list[str]:
        """Say which differences hold, and by which test."""
        return ["", *self.sentences()] if len(self) else self.sentences()

    def __repr__(self) -> str:
        significant = sum(one.significant for one in self)
        which = f"{', '.join(self.systems)} and {self[0].baseline}" if self.differences else ""
        return (
            f"ComparisonTable({significant} of {pluralize(len(self), 'difference')} hold: {which})"
        )

    def _repr_html_(self) -> str:
        return self._html(self.sentences())

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.differences:
            return []
        design = self.differences[0].design
        by = CORRECTIONS[design.correction].split(" ")[0]
        interval = f"difference [{design.bootstrap.level:.4g}]"
        head = ["measure", "system", "value", "baseline", interval, "p",
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
        return [rows]

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
            significant = [one for one in of if one.significant and one.better is better]
            if significant:
                yield f"{system} is {word} than {baseline} in {_name_all(significant)}"
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
            raise InputError("bad-option", name="n", value=n, wanted="a whole number from 1")
        rows = [row for one in self._with_items(measure) for row in _differing_rows(one, n)]
        columns = dict.fromkeys(name for row in rows for name in row)
        plain = ("system", "baseline", "measure", "id", "value", "baseline_value", "difference")
        return Records.from_rows(list(columns) or list(plain), rows)

    def _with_items(self, measure: str | None) -> list[Difference]:
        """Return the differences of one measure that have differences of items."""
        of = self.differences
        if measure is not None:
            known = {(one.heading, str(one.score.measure)) for one in of}
            meant = {pair[0] for pair in matching_names(measure, known)}
            if not meant:
                there = dict.fromkeys(one.heading for one in of)
                remedy = did_you_mean(measure, there, f"choose among {listing(there)}")
                raise InputError("unknown-name", what="comparison", value=measure, remedy=remedy)
            of = [one for one in of if one.heading in meant]
        of = [one for one in of if one.items is not None]
        if not of:
            raise InputError("no-item-values", measure=measure or "any measure")
        return [one for one in of if one.heading == of[0].heading]

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
        meant = matching_names(wanted, known)
        scores = [one for one in self.scores if (one.heading, str(one.measure)) in meant]
        if len(scores) != len(self.scores.systems):
            raise InputError("bad-choice", name="measure", value=wanted,
                             choices=self.scores.headings)  # fmt: skip
        sign = 1.0 if scores[0].measure.definition.higher_is_better else -1.0
        values = np.stack([sign * one.replicates.values for one in scores if one.replicates], 1)
        matrix, means = rank_matrix(values[~np.isnan(values).any(axis=1)])
        order = np.argsort(means, kind="stable")
        shares = matrix / max(1.0, float(matrix[0].sum()))
        columns: dict[str, Any] = {"system": [scores[place].system for place in order.tolist()]}
        columns["mean_rank"] = means[order]
        columns |= {f"rank_{rank + 1}": shares[order, rank] for rank in range(len(scores))}
        return Records(columns)


def draw_rank_matrix(table: ComparisonTable, *, digits: int = 4) -> str:
    """Draw how often each system has each rank in the resamples, by the first measure."""
    records = table.rank_matrix()
    rows = [[str(row["system"]), f"{row['mean_rank']:.2f}",
             *(f"{share:.{digits}f}" for share in list(row.values())[2:])]
            for row in records]  # fmt: skip
    head = [f"ranks by {table.scores.headings[0]}", "mean", *map(str, range(1, len(rows) + 1))]
    return draw([head, *rows])


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
    items, ids = one.items, one.ids
    if items is None:
        return
    sizes = np.where(np.isnan(items), 0.0, np.abs(items))
    # of equal differences the first items of the file; ids may be in the order of their hashes
    for place in np.lexsort((one.score.statistics.order, -sizes))[:number].tolist():
        if not sizes[place]:
            return
        sides = [(side, int(side.statistics.order[place])) for side in (one.score, one.against)]
        values = []
        for score, row in sides:
            of = score.items if score.averaged is None else score.averaged
            values.append(None if of is None or math.isnan(of[row]) else float(of[row]))
        known = {
            "system": one.system, "baseline": one.baseline, "measure": one.heading,
            "id": ids[place], "value": values[0], "baseline_value": values[1],
            "difference": float(items[place]),
        }  # fmt: skip
        if one.score.task is not None and one.against.task is not None:
            show = find_kind(one.score.task.kind).describer.show_item
            mine, theirs = (show(side.task, row, side.measure) for side, row in sides)
            for name, value in mine.items():
                known[name] = value
                if theirs.get(name) != value:
                    known[f"baseline_{name}"] = theirs.get(name)
        yield known


def draw_differing(
    table: ComparisonTable, number: int, *, digits: int = 4, scale: float = 1.0
) -> str:
    """Draw the items that differ most, each with what it is, and what the baseline has for it."""
    lines: list[str] = []
    by_heading = {one.heading: one.score for one in table.differences}
    for record in table.differing(number):
        head = f"{record['measure']}: {record['system']} less {record['baseline']}"
        if head not in lines:
            lines.append(head)
        score = by_heading[record["measure"]]
        difference = record["difference"] * score.measure.definition.printed_scale(scale)
        lines.append(f"  {difference:+.{digits}f}  {on_one_line(str(record['id']))}")
        if score.task is None:
            continue
        report: Callable[[Any], list[str]] = find_kind(score.task.kind).describer.report_item
        theirs = {name.removeprefix("baseline_"): value for name, value in record.items()
                  if name.startswith("baseline_")}  # fmt: skip
        mine = report(record)
        other = [f"baseline {line}" for line in report({**record, **theirs}) if line not in mine]
        lines += [f"    {line}" for line in (*mine, *other)]
    return "\n".join(map(visible, lines or ["no item differs"]))


# A comparison always needs intervals and rows; references against each other are other items.
_OWN = ("ci", "keep_rows", "score_references")


@document_options(*_OWN, **COMPARED)
def compare(
    systems: Mapping[str, Any],
    gts: Any = None,
    *,
    baseline: str | None = None,
    test: str = "interval",
    correction: str = "holm",
    **options: Unpack[Options],
) -> ComparisonTable:
    """Compare systems with a baseline, and say which differences are more than chance.

    Parameters
    ----------
    systems : mapping from name to predictions, or to ScoreTable
        At least two, with the same items; each as ``preds`` of ``score``. Or what ``score``
        returned for each with ``ci=True``, so that they may differ in options, too, such as the
        embedding; measures of the same heading are compared.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        Left out beside scored results, as are further options.
    baseline : str, optional
        The system that all others are compared with; the first where it is left out.
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
        "interval": p is the smallest 1 - level at which the interval of the difference excludes
        0; by default that is Student's t on the jackknife standard error. Otherwise resamples of
        both systems, their differences moved to mean 0; the same as sacrebleu has it; items swapped
        at random; or, for means over items, a test of the items' differences.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of systems and measures that are compared.
    **options

    Returns
    -------
    ComparisonTable
        A difference for each system and measure, with an interval from paired resamples.

    Raises
    ------
    InputError
        If the input or an option is wrong, there is one system, systems have different items, or
        the test is not for a measure.

    References
    ----------
    Tukey 1958 (jackknife). Koehn 2004 (paired bootstrap). Riezler & Maxwell 2005. Noreen 1989.
    Holm 1979.

    Examples
    --------
    >>> gts = {f"image {n}": ["cat", "dog"] if n % 2 else ["cow"] for n in range(40)}
    >>> old = {id: labels[:1] for id, labels in gts.items()}
    >>> new = {id: labels[: 2 if n % 4 else 1] for n, (id, labels) in enumerate(gts.items())}
    >>> found = compare({"old": old, "new": new}, gts, measures="MicroF1", resamples=1000)
    >>> one = found[0]
    >>> round(one.difference, 4), round(one.low, 4), round(one.high, 4), one.wins, one.losses
    (0.2, 0.1482, 0.2518, 20, 0)
    >>> found.sentences()[0]
    'new is better than old in F1(average=micro) (p < 0.0001)'
    """
    if isinstance(systems, Mapping) and any(isinstance(v, ScoreTable) for v in systems.values()):
        return _compare_scored(systems, gts, baseline, test, correction, options)
    check_options("compare", options, [name for name in OPTIONS if name not in _OWN])
    given = {**COMPARED, **{name: v for name, v in options.items() if v is not None}, "ci": True}
    first = next(iter(systems), "") if isinstance(systems, Mapping) else ""
    level, resamples, seed, method = (
        given.get(name, OPTIONS[name].default)
        for name in ("level", "resamples", "seed", "ci_method")
    )
    bootstrap = Bootstrap(level, resamples, seed, method)  # type: ignore[arg-type]
    named = first if baseline is None else baseline
    design = Design(test, named, correction, bootstrap)
    if first:
        check_systems({name: {} for name in systems}, named)
    prepared = prepare_systems(systems, gts, given)
    check_systems(prepared.tasks, named)
    scores = score_prepared(prepared)
    differences = compare_scores(scores, design, prepared.options["progress"])
    table = ScoreTable(scores, prepared.plan.not_computed)
    values = [replace(score, replicates=None) for score in scores]  # intervals are of differences
    return ComparisonTable(differences, table, prepared.facts(values), prepared.understood())


def _compare_scored(
    systems: Mapping[str, Any],
    gts: Any,
    baseline: str | None,
    test: str,
    correction: str,
    options: Mapping[str, Any],
) -> ComparisonTable:
    """Compare results that were scored before, each with options of its own."""
    idle = [name for name, value in options.items() if value is not None]
    for name in [*idle, *(["gts"] if gts is not None else [])]:
        raise InputError("not-applicable", name=name, what="results that were scored before")
    named = next(iter(systems)) if baseline is None else baseline
    check_systems({name: {} for name in systems}, named)
    scores: list[Score] = []
    for name, table in systems.items():
        if not isinstance(table, ScoreTable):
            raise InputError("wrong-type", name, value=table, wanted="a ScoreTable, as all others")
        if len(table.systems) != 1 or all(one.replicates is None for one in table):
            raise InputError("not-comparable", name)
        scores += [replace(score, system=name) for score in table]
    base = {score.part: score for score in scores if score.system == named}
    for score in scores:
        _check_same_design(score, base.get(score.part, score))
    made = next(score.ci.bootstrap for score in base.values() if score.ci is not None)
    design = Design(test, named, correction, replace(made, method=AUTO))
    differences = compare_scores(scores, design)
    if not differences:
        raise InputError("nothing-given", what="measures in common",
                         remedy="score both with the same measures")  # fmt: skip
    tables = systems.values()
    facts = [fact for table in tables for fact in table.facts]
    understood = [line for table in tables for line in table.understood]
    absent = {one.heading: one for table in tables for one in table.not_computed}
    for heading in dict.fromkeys(score.heading for score in scores):
        if without := [name for name, table in systems.items() if heading not in table.headings]:
            reason = f"not of {listing(without)}; score all with the same measures"
            absent.setdefault(heading, NotComputed(heading, reason))
    made_of = ScoreTable(scores, list(absent.values()))
    return ComparisonTable(
        differences, made_of, list(dict.fromkeys(facts)), list(dict.fromkeys(understood))
    )


def _check_same_design(score: Score, first: Score) -> None:
    """Refuse a score of other resamples, or of another ground truth, than the baseline's."""
    mine, theirs = (one.ci and replace(one.ci.bootstrap, method=AUTO) for one in (score, first))
    what = ""
    if score.statistics.fingerprint != first.statistics.fingerprint:
        what = "items or ground truth"
    elif mine and theirs and mine != theirs:
        what = "seed, resamples or level"
    if what:
        raise InputError("scored-otherwise", score.system, other=first.system, what=what)
