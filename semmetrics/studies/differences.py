"""The difference of two systems in one measure, with its interval, p and effect size.

Conventions
-----------
A difference is the value of a system minus the value of its baseline. The replicates of a
difference are the differences of the paired replicates of both scores. Its interval and most tests
use them. Unlike a value, a difference does not vary less near a bound, so by default its interval
is the jackknife's. Medians have no jackknife and use percentiles. The p of the default test is the
smallest 1 - level at which the interval excludes 0, so that the two always agree.

The effect size is the difference divided by its jackknife standard error times the square root of
the number of items (or groups). For a mean over items this is Cohen's d of the items' differences.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.options import CORRECTIONS, TESTS
from semmetrics.reports import entry_of
from semmetrics.scoring.intervals import AUTO, POISSON, Bootstrap, Interval, Replicates
from semmetrics.scoring.item_records import plain_id
from semmetrics.scoring.result import Score, matching_names
from semmetrics.studies.rank_tests import signed_rank_p
from semmetrics.studies.significance import (
    ROUNDING,
    shifted_p,
    shifted_size_p,
    simulated_p,
    student_t,
    subtract,
)

COLUMNS = (
    "system",
    "baseline",
    "part",
    "heading",
    "measure",
    "value",
    "baseline_value",
    "difference",
    "low",
    "high",
    "level",
    "ci_method",
    "p",
    "p_corrected",
    "significant",
    "effect_size",
    "wins",
    "ties",
    "losses",
    "undefined",
    "unit",
    "n",
    "test",
    "correction",
    "comparisons",
    "resamples",
    "seed",
    "signature",
)
"""The columns of differences in JSON and CSV."""
DRAWING_TESTS = ("bootstrap", "bootstrap-sacrebleu", "randomization")
"""Tests whose p depends on the number of resamples and the seed."""
ITEM_TESTS = ("t", "wilcoxon")
"""Tests on the differences of items, for means over items."""


# ---- designs and differences -------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """How systems are compared.

    Attributes
    ----------
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
    baseline : str or None
        The system that all others are compared with. None compares all pairs.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Correction of p over all pairs and measures together.
    bootstrap : Bootstrap
        Level and method of intervals, and the number and seed of resamples and swaps.
    """

    test: str
    baseline: str | None
    correction: str
    bootstrap: Bootstrap

    def __post_init__(self) -> None:
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        # Wilson's method assumes an error that shrinks near a bound. A difference has no such error.
        if self.bootstrap.method == "wilson":
            raise InputError(
                "bad-option",
                name="ci_method",
                value="wilson",
                wanted="a method for differences",
            )


@by_value("ids")
@dataclass(frozen=True, eq=False)
class Difference:
    """The value of a measure for a system, compared with its value for the baseline.

    Attributes
    ----------
    score, against : Score
        The scores of the system and of the baseline.
    design : Design
    system, baseline : str
    heading, measure : str
        The heading of the measure in tables, and its full name.
    value, baseline_value, difference : float
        The difference is the system's value minus the baseline's.
    low, high : float
        The interval of the difference, nan if there is none.
    method : str
        The method of the interval, or "t" for the interval of Student's test.
    p, p_corrected : float
        nan if undefined.
    effect_size : float
        nan if the difference does not vary.
    drawn : int
        The number of items that are drawn or swapped, or of groups if items are drawn in groups.
    wins, ties, losses : int or None
        The number of items on which the system is better, equal and worse. None if items have no
        values.
    undefined : int or None
        The number of items without a value for at least one of the two systems.
    comparisons : int
        The number of p values that were corrected together.
    """

    score: Score = field(repr=False)
    against: Score = field(repr=False)
    design: Design = field(repr=False)
    system: str
    baseline: str
    heading: str
    measure: str
    value: float
    baseline_value: float
    difference: float
    low: float
    high: float
    method: str
    p: float
    effect_size: float
    drawn: int
    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    undefined: int | None = None
    p_corrected: float = math.nan
    comparisons: int = 1

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 1 - level."""
        return self.p_corrected < self.design.bootstrap.alpha

    @property
    def better(self) -> bool | None:
        """Whether the system's value is the better one. None if neither value is better."""
        if not self.difference or math.isnan(self.difference):
            return None
        is_higher = self.difference > 0
        return is_higher == self.score.measure.higher_is_better

    @property
    def signature(self) -> str:
        """The signature of the system's score, extended by the test and the correction."""
        bootstrap = self.design.bootstrap
        ci = None
        if self.method != "t":
            ci = Interval(self.low, self.high, replace(bootstrap, method=self.method))
        score = replace(self.score, ci=ci)
        test = self.design.test
        if test in DRAWING_TESTS:
            test = f"{test},{bootstrap.resamples},{bootstrap.seed}"
        correction = f"{self.design.correction},{self.comparisons}"
        return f"{score.signature}|test:{test}|correction:{correction}"

    @cached_property
    def items(self) -> Floats | None:
        """The difference of each item, in the order of ``ids``. nan if it is undefined."""
        pair = pair_item_values(self.score, self.against)
        if pair is None:
            return None
        return subtract(pair.values, pair.baseline_values)

    @property
    def ids(self) -> list[str | int]:
        """The ids of the items, in the order of their hashes."""
        ids = self.score.ids
        order = self.score.statistics.order.tolist()
        return [plain_id(ids[row]) for row in order]

    def to_dict(self) -> dict[str, Any]:
        """Return the difference for JSON, with None for undefined values."""
        bootstrap = self.design.bootstrap
        return entry_of(
            self,
            "semmetrics.comparison/1",
            COLUMNS,
            part=self.score.part,
            level=bootstrap.level,
            ci_method=self.method,
            unit=self.score.unit,
            n=self.score.n,
            test=self.design.test,
            correction=self.design.correction,
            resamples=bootstrap.resamples,
            seed=bootstrap.seed,
        )


def find_headings(name: str, entries: Iterable[Any]) -> set[str]:
    """Return the headings of the measures that a name refers to.

    Parameters
    ----------
    name : str
        A heading, or a measure in any spelling.
    entries : iterable of Score, Difference or other results with a heading and a measure
    """
    known_names = set()
    for entry in entries:
        other_names = getattr(entry, "score", entry).names
        known_names.add((entry.heading, str(entry.measure), *other_names))
    return {heading for heading, *_ in matching_names(name, known_names)}


# ---- values of items ---------------------------------------------------------------------------


class PairedItemValues(NamedTuple):
    """The values of the same items for two systems, in the order of the hashes of their ids.

    Attributes
    ----------
    values, baseline_values : float array, shape (items,)
        nan if an item has no value.
    """

    values: Floats
    baseline_values: Floats


def item_values(score: Score) -> Floats | None:
    """Return the values of items as the measure averages them, or None if it has no such values."""
    if score.statistics.parts is None:
        return None
    if score.averaged is None:
        return score.items
    return score.averaged


def pair_item_values(score: Score, against: Score) -> PairedItemValues | None:
    """Return the values of items for two systems. None if items have no values or differ."""
    values = _ordered_item_values(score)
    if values is None:
        return None
    baseline_values = _ordered_item_values(against)
    if baseline_values is None:
        return None
    hashes = score.statistics.hashes[score.statistics.order]
    baseline_hashes = against.statistics.hashes[against.statistics.order]
    if not np.array_equal(hashes, baseline_hashes):
        return None
    return PairedItemValues(values, baseline_values)


def _ordered_item_values(score: Score) -> Floats | None:
    """Return the values of items in the order of their hashes, or None without such values."""
    values = item_values(score)
    if values is None or len(values) != len(score.statistics.hashes):
        return None
    return values[score.statistics.order]


def _differences_for_test(score: Score, against: Score, test: str) -> Floats:
    """Return the differences of all items that both means average over.

    Raises
    ------
    InputError
        If an item counts in one of the means only.
    """
    pair = pair_item_values(score, against)
    if pair is None:
        return np.zeros(0)
    is_undefined = np.isnan(pair.values)
    is_unpaired = is_undefined != np.isnan(pair.baseline_values)
    n_unpaired = is_unpaired.sum()
    if n_unpaired:
        systems = f"{score.system} and {against.system}"
        what = f"pairs of values, but {n_unpaired} of {systems} have only one"
        raise InputError(
            "test-does-not-fit", score.heading, test=TESTS[test], what=what
        )
    return subtract(pair.values[~is_undefined], pair.baseline_values[~is_undefined])


# ---- tests -------------------------------------------------------------------------------------


def find_difference(
    score: Score, against: Score, design: Design, swapped: Floats | None
) -> Difference:
    """Compute the difference of two scores, its interval and its p.

    Parameters
    ----------
    score, against : Score
        The scores of the system and of its baseline, with paired replicates.
    design : Design
    swapped : float array, shape (resamples,), or None
        The differences after random swaps, for the test "randomization".

    Returns
    -------
    Difference
        p is not corrected yet.
    """
    difference = float(subtract(score.value, against.value))
    replicates = _pair_replicates(score, against, design, difference)
    result = _test_difference(score, against, design, replicates, swapped)
    low = result.low
    high = result.high
    # If all differences are equal, the interval does not tell how others would vary. An interval
    # of 0 remains: it is the interval of systems with equal values.
    if low and math.isclose(low, high, rel_tol=ROUNDING):
        low = math.nan
        high = math.nan
    n_drawn = int(replicates.sizes.sum())
    spread = replicates.standard_error * math.sqrt(max(1, n_drawn))
    effect_size = math.nan
    if spread > ROUNDING * abs(difference):
        effect_size = difference / spread
    counts = _count_wins(score, against)
    return Difference(
        score=score,
        against=against,
        design=design,
        system=score.system,
        baseline=against.system,
        heading=score.heading,
        measure=str(score.measure),
        value=score.value,
        baseline_value=against.value,
        difference=difference,
        low=low,
        high=high,
        method=result.method,
        p=result.p,
        effect_size=effect_size,
        drawn=n_drawn,
        wins=counts.wins,
        ties=counts.ties,
        losses=counts.losses,
        undefined=counts.undefined,
    )


def _pair_replicates(
    score: Score, against: Score, design: Design, difference: float
) -> Replicates:
    """Return the replicates of the difference of two scores.

    Raises
    ------
    InputError
        If a score has no replicates.
    """
    replicates = score.replicates
    baseline_replicates = against.replicates
    if replicates is None or baseline_replicates is None:
        raise InputError("not-paired", score.heading)
    method = design.bootstrap.method
    if method in (AUTO, POISSON):
        # Medians have no jackknife.
        method = "jackknife"
        if replicates.default == "percentile":
            method = "percentile"
    lowest, highest = score.measure.definition.bounds
    return replace(
        replicates,
        values=subtract(replicates.values, baseline_replicates.values),
        value=difference,
        left_out=subtract(replicates.left_out, baseline_replicates.left_out),
        bounds=(lowest - highest, highest - lowest),
        default=method,
    )


class _TestResult(NamedTuple):
    """p of a difference, and the limits of its interval with their method."""

    p: float
    low: float
    high: float
    method: str


def _test_difference(
    score: Score,
    against: Score,
    design: Design,
    replicates: Replicates,
    swapped: Floats | None,
) -> _TestResult:
    """Compute p and the interval of a difference from its replicates, or from its items."""
    level = design.bootstrap.level
    difference = replicates.value
    interval = replicates.interval(level)
    p = math.nan
    if swapped is not None:
        p = simulated_p(swapped, difference)
    elif design.test == "interval":
        p = replicates.p_value()
    elif design.test == "bootstrap":
        p = shifted_p(replicates.values, difference)
    elif design.test == "bootstrap-sacrebleu":
        p = shifted_size_p(replicates.values, difference)
    elif not math.isnan(difference):
        items = _differences_for_test(score, against, design.test)
        if design.test == "t":
            p, low, high = student_t(items, level)
            low, high = replicates.clip(low, high)
            return _TestResult(p, low, high, "t")
        p = signed_rank_p(items)
    return _TestResult(p, interval.low, interval.high, interval.method)


class _WinCounts(NamedTuple):
    """How many items a system wins against its baseline. None if items have no values."""

    wins: int | None = None
    ties: int | None = None
    losses: int | None = None
    undefined: int | None = None


def _count_wins(score: Score, against: Score) -> _WinCounts:
    """Count the items on which a system is better than its baseline, equal, and worse."""
    pair = pair_item_values(score, against)
    if pair is None:
        return _WinCounts()
    gains = subtract(pair.values, pair.baseline_values)
    n_higher = int((gains > 0).sum())
    n_lower = int((gains < 0).sum())
    n_equal = int((gains == 0).sum())
    n_undefined = int(np.isnan(gains).sum())
    if score.measure.higher_is_better:
        return _WinCounts(n_higher, n_equal, n_lower, n_undefined)
    return _WinCounts(n_lower, n_equal, n_higher, n_undefined)
