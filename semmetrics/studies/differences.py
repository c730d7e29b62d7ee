"""Two systems on the same items: the difference of a measure, and whether it is chance.

Conventions
-----------
A difference is the system's value less the baseline's. Its replicates are the differences of their
replicates, which are paired, so its interval and most tests come from the replicates of scores.
Unlike a value, a difference does not vary less near a bound: by default its interval is the
jackknife's, or for medians, which have none, percentiles. p of the default test is the smallest
1 - level at which the interval excludes 0, so that the two never disagree.
The effect size is the difference over its jackknife
standard error times the square root of the number of items (or groups): for a mean over items that
is Cohen's d of the items' differences.

Approximate randomisation swaps items between the two systems and computes measures again. A swap
gives an item, or all of a group, to the other system and adds up statistics, so it is as
good for a ratio of sums as for a mean. Sums are exact, and what is swapped depends on the ids, the
seed and the number of swaps alone: the order of the input changes nothing, and all systems and
measures are swapped alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.columns import concatenate_columns
from semmetrics.core.ragged import Floats
from semmetrics.core.same import by_value
from semmetrics.errors import InputError
from semmetrics.kinds import Tasks
from semmetrics.messages import did_you_mean, listing
from semmetrics.metrics.definition import Statistic
from semmetrics.options import CORRECTIONS, TESTS
from semmetrics.reports import entry_of
from semmetrics.scoring.intervals import AUTO, Bootstrap, Interval, Replicates
from semmetrics.scoring.resampling import Draws, Stack, WeightedSums, ahead, chunk_size
from semmetrics.scoring.result import Score
from semmetrics.studies.significance import (
    correct_p,
    shifted_p,
    shifted_size_p,
    signed_rank_p,
    simulated_p,
    student_t,
    subtract,
)

COLUMNS = (
    "system", "baseline", "part", "heading", "measure", "value", "baseline_value", "difference",
    "low", "high", "level", "ci_method", "p", "p_corrected", "significant", "effect_size", "wins",
    "ties", "losses", "undefined", "unit", "n", "test", "correction", "comparisons", "resamples",
    "seed", "signature",
)  # fmt: skip
_ROUNDING = 1e-12  # by which numbers may differ that are equal
_OF_ITEMS = ("t", "wilcoxon")
_COUNTS = ("wins", "ties", "losses", "undefined")
_SIMULATED: Mapping[str, Callable[[Any, float], float]] = {
    "bootstrap": shifted_p,
    "bootstrap-sacrebleu": shifted_size_p,
}


@dataclass(frozen=True)
class Design:
    """How systems are compared.

    Attributes
    ----------
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
    baseline : str
        The system that all others are compared with.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Over all systems and measures together.
    bootstrap : Bootstrap
        Level and method of intervals; the number and the seed of resamples and swaps.
    """

    test: str
    baseline: str
    correction: str
    bootstrap: Bootstrap

    def __post_init__(self) -> None:
        for name, known in (("test", TESTS), ("correction", CORRECTIONS)):
            check_choice(name, getattr(self, name), known)
        if self.bootstrap.method == "wilson":  # whose error shrinks towards bounds
            raise InputError(
                "bad-option", name="ci_method", value="wilson", wanted="a method for differences"
            )


@by_value("ids")
@dataclass(frozen=True, eq=False)
class Difference:
    """A measure of a system beside that of the baseline.

    Attributes
    ----------
    score, against : Score
        Of the system, and of the baseline.
    design : Design
    low, high : float
        Interval of the difference; nan where there is none.
    method : str
        How the interval was made: a method of intervals, or "t".
    p, p_corrected : float
        nan where a value is undefined.
    effect_size : float
        nan where the difference has no spread.
    wins, ties, losses : int or None
        Items on which the system is better, as good and worse; None where items have no values.
    undefined : int or None
        Items that lack a value in one of the two, or in both.
    comparisons : int
        How many p values were corrected together.
    """

    score: Score = field(repr=False)
    against: Score = field(repr=False)
    design: Design = field(repr=False)
    low: float
    high: float
    method: str
    p: float
    p_corrected: float
    effect_size: float
    wins: int | None
    ties: int | None
    losses: int | None
    undefined: int | None
    comparisons: int = 1

    @property
    def system(self) -> str:
        """The system."""
        return self.score.system

    @property
    def baseline(self) -> str:
        """What it is compared with."""
        return self.against.system

    @property
    def heading(self) -> str:
        """How tables call the measure."""
        return self.score.heading

    @property
    def value(self) -> float:
        """The system's value."""
        return self.score.value

    @property
    def baseline_value(self) -> float:
        """The baseline's value."""
        return self.against.value

    @property
    def difference(self) -> float:
        """The system's value less the baseline's."""
        return _subtract_values(self.score, self.against)

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 1 - level."""
        return self.p_corrected < self.design.bootstrap.alpha

    @property
    def drawn(self) -> int:
        """How many items there are to draw or swap; groups, where items are drawn in groups."""
        return int(_replicates(self.score).sizes.sum())

    @property
    def better(self) -> bool | None:
        """Whether the system's value is the better one; None where neither is."""
        if not self.difference or math.isnan(self.difference):
            return None
        return (self.difference > 0) == self.score.measure.definition.higher_is_better

    @property
    def signature(self) -> str:
        """The signature of the system's score, with the test and the correction."""
        made = self.design.bootstrap
        ci = None
        if self.method != "t":
            ci = Interval(self.low, self.high, replace(made, method=self.method))
        score = replace(self.score, ci=ci)
        undrawn = self.design.test in ("interval", *_OF_ITEMS)
        drawn = "" if undrawn else f",{made.resamples},{made.seed}"
        corrected = f"{self.design.correction},{self.comparisons}"
        return f"{score.signature}|test:{self.design.test}{drawn}|correction:{corrected}"

    @cached_property
    def items(self) -> Floats | None:
        """The difference of each item, in the order of ``ids``; nan where one has no value."""
        pair = _paired_values(self.score, self.against)
        return None if pair is None else subtract(*pair)

    @property
    def ids(self) -> list[str | int]:
        """The items, in the order of their hashes."""
        ids = self.score.ids
        found = (ids[place] for place in self.score.statistics.order.tolist())
        return [one if isinstance(one, str) else int(one) for one in found]

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON has it: null for what is undefined."""
        score, design, made = self.score, self.design, self.design.bootstrap
        return entry_of(
            self, "semmetrics.comparison/1", COLUMNS, part=score.part, measure=str(score.measure),
            level=made.level, ci_method=self.method, unit=score.unit, n=score.n, test=design.test,
            correction=design.correction, resamples=made.resamples, seed=made.seed,
        )  # fmt: skip


def check_systems(tasks: Tasks, baseline: str) -> None:
    """Refuse systems that cannot be compared with a baseline.

    Raises
    ------
    InputError
        If there is one system, the baseline is none of them, or systems have different items.
    """
    if baseline not in tasks:
        remedy = did_you_mean(baseline, tasks, f"choose among {listing(tasks)}")
        raise InputError("unknown-name", what="baseline", value=baseline, remedy=remedy)
    if len(tasks) < 2:
        raise InputError("too-few-compared", n=len(tasks))
    for name, parts in tasks.items():
        for part in parts.keys() & tasks[baseline].keys():
            _check_items(name, parts[part], baseline, tasks[baseline][part])


def _check_items(name: str, task: Any, baseline: str, other: Any) -> None:
    if np.array_equal(np.sort(task.hashes), np.sort(other.hashes)):
        return
    pairs = ((name, task, other), (baseline, other, task))
    several = [one for one, own, _ in pairs if getattr(own, "groups", None) is not None]
    if len(several) == 1:  # references were given as a system
        raise InputError("references-as-system", several[0])
    only = []
    for system, mine, theirs in pairs:
        alone = np.flatnonzero(~np.isin(mine.hashes, theirs.hashes)).tolist()
        only += [f"{system} alone has {listing(str(mine.ids[i]) for i in alone)}"] * bool(alone)
    raise InputError("unlike-items", f"{name} and {baseline}",
                     only="; ".join(only) or "some several times")  # fmt: skip


def compare_scores(
    scores: Sequence[Score], design: Design, progress: Callable[[int, int], None] | None = None
) -> list[Difference]:
    """Compare the scores of systems with those of a baseline.

    Parameters
    ----------
    scores : sequence of Score
        With replicates from one set of resamples.
    design : Design
    progress : callable, optional
        Called with swaps done and in all.

    Returns
    -------
    list of Difference
        In the order of the scores.

    Raises
    ------
    InputError
        If a measure cannot be tested so; names all such measures.
    """
    base = {(s.part, s.heading): s for s in scores if s.system == design.baseline}
    pairs = [
        (score, base[score.part, score.heading])
        for score in scores
        if score.system != design.baseline and (score.part, score.heading) in base
    ]
    _check_pairs(pairs, design)
    paired = [_subtract_replicates(*pair, design) for pair in pairs]
    if design.test == "randomization":
        swapped = swapped_differences(pairs, design.bootstrap, progress)
        tested = [simulated_p(row, one.value) for row, one in zip(swapped, paired, strict=True)]
    else:
        tested = [_p_value(*pair, one, design) for pair, one in zip(pairs, paired, strict=True)]
    corrected = correct_p(tested, design.correction)
    number = sum(not math.isnan(p) for p in tested)
    return [
        _difference(*pair, one, design, p, adjusted, number)
        for pair, one, p, adjusted in zip(pairs, paired, tested, corrected, strict=True)
    ]


def _check_pairs(pairs: Sequence[tuple[Score, Score]], design: Design) -> None:
    """Refuse measures that a test is not for."""
    for one, _ in pairs:
        made = one.replicates
        if one.n < 2 or (made is not None and made.sizes.sum() < 2):
            unit = "group" if made is not None and made.grouped else one.unit
            raise InputError("too-few-for-test", n=1, least=2, test="a test", unit=unit)
    lacking = dict.fromkeys(
        a.heading for a, b in pairs
        if a.replicates is None or b.replicates is None or a.replicates.drawn != b.replicates.drawn
    )  # fmt: skip
    if lacking:
        raise InputError("not-paired", ", ".join(lacking))
    if design.test not in _OF_ITEMS:
        return
    no_means = dict.fromkeys(a.heading for a, b in pairs if a.averaged is None)
    for a, _ in pairs:
        if no_means:
            what = f"means over items, unlike {', '.join(no_means)}"
        elif a.statistics.weights is not None:
            what = "unweighted items"
        elif a.statistics.groups is not None:
            what = f"independent {a.unit}s, not groups of them"
        else:
            continue
        raise InputError("test-does-not-fit", test=TESTS[design.test], what=what)


def _replicates(score: Score) -> Replicates:
    if score.replicates is None:
        raise TypeError(f"{score.heading} has no replicates")
    return score.replicates


def _subtract_replicates(score: Score, against: Score, design: Design) -> Replicates:
    """Return the replicates of a difference, whose default is the method of its interval."""
    mine, theirs = _replicates(score), _replicates(against)
    least, most = score.measure.definition.bounds
    method = design.bootstrap.method
    if method == AUTO:
        method = "percentile" if mine.default == "percentile" else "jackknife"
    return replace(
        mine,
        values=subtract(mine.values, theirs.values),
        value=_subtract_values(score, against),
        left_out=subtract(mine.left_out, theirs.left_out),
        bounds=(least - most, most - least),
        default=method,
    )


def _p_value(score: Score, against: Score, paired: Replicates, design: Design) -> float:
    """Return p of all tests but random swaps."""
    if design.test == "interval":
        return paired.p_value()
    if design.test in _SIMULATED:
        return _SIMULATED[design.test](paired.values, paired.value)
    if math.isnan(paired.value):
        return math.nan
    found = _item_differences(score, against, design.test)
    return student_t(found)[0] if design.test == "t" else signed_rank_p(found)


def _item_differences(score: Score, against: Score, test: str) -> Floats:
    """Return the differences of all items that both means are over."""
    mine, theirs = _paired_values(score, against) or (np.zeros(0), np.zeros(0))
    lacking = np.isnan(mine) != np.isnan(theirs)
    if lacking.any():
        what = f"pairs of values; {lacking.sum()} of {score.system} and {against.system} lack one"
        raise InputError("test-does-not-fit", score.heading, test=TESTS[test], what=what)
    both = ~np.isnan(mine)
    return subtract(mine[both], theirs[both])


def _paired_values(score: Score, against: Score) -> tuple[Floats, Floats] | None:
    """Return the values of items of both in the order of their hashes, as the measure counts them.

    None where items have no value, or the two have other items.
    """
    found = []
    for one in (score, against):
        values = one.averaged
        values = one.items if values is None else values
        if values is None or len(values) != len(one.statistics.hashes):
            return None
        found.append(values[one.statistics.order])
    mine, theirs = (one.statistics.hashes[one.statistics.order] for one in (score, against))
    return (found[0], found[1]) if np.array_equal(mine, theirs) else None


def _subtract_values(score: Score, against: Score) -> float:
    return float(subtract(np.array(score.value), np.array(against.value)))


def _difference(
    score: Score, against: Score, paired: Replicates, design: Design, p: float, corrected: float,
    number: int,
) -> Difference:  # fmt: skip
    made = paired.interval(design.bootstrap.level)
    low, high, method = made.low, made.high, made.method
    if design.test == "t" and not math.isnan(p):
        found = _item_differences(score, against, "t")
        (_, low, high), method = student_t(found, design.bootstrap.level), "t"
    if low and math.isclose(low, high, rel_tol=_ROUNDING):  # equal differences: others may vary
        low = high = math.nan
    error = paired.standard_error * math.sqrt(max(1, int(paired.sizes.sum())))
    pair, counts = _paired_values(score, against), dict.fromkeys(_COUNTS)
    if pair is not None:
        gain = subtract(*pair) * (1 if score.measure.definition.higher_is_better else -1)
        each = (gain > 0, gain == 0, gain < 0, np.isnan(gain))
        counts = {name: int(some.sum()) for name, some in zip(_COUNTS, each, strict=True)}
    return Difference(
        score, against, design, low, high, method, p, corrected,
        paired.value / error if error > _ROUNDING * abs(paired.value) else math.nan,
        **counts, comparisons=number,
    )  # fmt: skip


def swapped_differences(
    pairs: Sequence[tuple[Score, Score]],
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None = None,
) -> Floats:
    """Compute differences after items are swapped at random between a system and the baseline.

    Parameters
    ----------
    pairs : sequence of (Score, Score)
        A system's and the baseline's, of the same items.
    bootstrap : Bootstrap
        How many times, and the seed.
    progress : callable, optional

    Returns
    -------
    float array, shape (pairs, resamples)

    Raises
    ------
    InputError
        If the systems have other items.

    References
    ----------
    Noreen 1989, section 2.4. Riezler & Maxwell 2005, figure 1.
    """
    terms = [list(zip(a.terms, b.terms, strict=True)) or [(a, b)] for a, b in pairs]
    flat = [pair for some in terms for pair in some]
    swapped = np.empty((2, len(flat), bootstrap.resamples))
    parts: dict[str, list[int]] = {}
    for place, (score, _) in enumerate(flat):
        parts.setdefault(score.part, []).append(place)
    for places in parts.values():
        swapped[:, places] = _swap([flat[place] for place in places], bootstrap, progress)
    found, start = np.empty((len(pairs), bootstrap.resamples)), 0
    for row, (score, _), some in zip(found, pairs, terms, strict=True):
        sides: Any = swapped[:, start : start + len(some)]
        if score.terms:  # parts that are paired have the same coins
            combine = score.measure.definition.family.combine  # type: ignore[attr-defined]
            sides = [[combine(score.measure, list(side))] for side in sides]
        row[:] = subtract(sides[0][0], sides[1][0])
        start += len(some)
    return found


def _swap(
    pairs: Sequence[tuple[Score, Score]],
    bootstrap: Bootstrap,
    progress: Callable[[int, int], None] | None,
) -> Floats:
    """Return the values of both sides after swaps, of one part: shape (2, pairs, resamples)."""
    needed: dict[str, tuple[Any, list[Statistic]]] = {}
    for pair in pairs:
        for one in pair:
            statistic = one.measure.definition.family.statistic(one.measure)
            needed.setdefault(one.system, (one.statistics, []))[1].append(statistic)
    stack = Stack()
    weighted = {
        name: WeightedSums(statistics, some, Draws.of(statistics), stack)
        for name, (statistics, some) in needed.items()
    }
    draws = next(iter(weighted.values())).draws
    if any(not np.array_equal(one.draws.hashes, draws.hashes) for one in weighted.values()):
        raise InputError("unlike-items", only="some lack a value")
    every = np.ones((1, len(draws.hashes)), np.uint8)
    whole = {name: one.sums(every, stack.multiply(every)) for name, one in weighted.items()}
    found, done = np.empty((2, len(pairs), bootstrap.resamples)), 0
    tosses = draws.coins(bootstrap, chunk_size([some for some, _ in needed.values()]))
    for coins in ahead(tosses, worth=draws.are_many):
        product = stack.multiply(coins)
        heads = {name: one.sums(coins, product) for name, one in weighted.items()}
        for row, (a, b) in enumerate(pairs):
            found[:, row, done : done + len(coins)] = _swapped_values(a, b, heads, whole)
        done += len(coins)
        if progress is not None:
            progress(done, bootstrap.resamples)
    return found


def _swapped_values(
    score: Score, against: Score, heads: Mapping[str, Any], whole: Mapping[str, Any]
) -> list[Floats]:
    """The first has its own items where a coin shows heads, and the other's elsewhere."""
    values = []
    for one, other in ((score, against), (against, score)):
        mine, theirs = (s.measure.definition.family.statistic(s.measure) for s in (one, other))
        own, left = heads[one.system][mine], heads[other.system][theirs]
        every = whole[other.system][theirs]
        if mine.additive:
            sums = {name: own[name] + (every[name] - left[name]) for name in own}
        else:
            sums = _mixed_rows(own, left, every)
        values.append(one.measure.definition.family.aggregate(one.measure, sums, one.frame))
    return values


def _mixed_rows(own: Any, left: Any, every: Any) -> dict[str, Any]:
    """The rows of both systems, of which each item weighs in one."""
    rows = {name: concatenate_columns([own["rows"][name], left["rows"][name]])
            for name in own["rows"]}  # fmt: skip
    weights = np.concatenate([own["weights"], every["weights"] - left["weights"]], axis=1)
    n = len(own["order"])
    # both rows of an item stand together, so that the order of the input changes nothing
    order = np.stack([own["order"], left["order"] + n], axis=1).ravel()
    return {"rows": rows, "weights": weights, "order": order}
