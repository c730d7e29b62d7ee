"""Two systems on the same items: the difference of a measure, and whether it is chance.

Conventions
-----------
A difference is the system's value less the baseline's. Its replicates are the differences of their
replicates, which are paired, so its interval and most tests come from what scores hold. Unlike a
value, a difference does not vary less near a bound: by default its interval is the jackknife's, and
that of medians, which have none, percentiles. p of the default test is the smallest 1 - level at
which the interval excludes 0, so that the two never disagree.
The effect size is the difference over its jackknife
standard error times the square root of the number of items (or groups): of a mean over items that
is Cohen's d of the items' differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.comparison.significance import (
    correct_p,
    shifted_p,
    shifted_size_p,
    signed_rank_p,
    simulated_p,
    student_t,
    subtract,
)
from semmetrics.comparison.swaps import swapped_differences
from semmetrics.core.ragged import Floats
from semmetrics.errors import InputError
from semmetrics.frozen import by_value, dataclass
from semmetrics.kinds import Tasks
from semmetrics.kinds.describe import finite_or_none
from semmetrics.messages import did_you_mean, listing, plural, pluralize
from semmetrics.options import CORRECTIONS, TESTS, check_among
from semmetrics.scoring.intervals import AUTO, Bootstrap, Interval, Replicates
from semmetrics.scoring.result import Score

__all__ = ["SCHEMA", "Design", "Difference", "check_systems", "compare_scores"]

SCHEMA = "semmetrics.comparison/1"
_ROUNDING = 1e-12  # by which numbers may differ that are equal
_OF_ITEMS = ("t", "wilcoxon")
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
            check_among(name, getattr(self, name), known)
        if self.bootstrap.method == "wilson":  # whose error shrinks towards bounds
            raise InputError("Wilson's interval is of values, not of differences",
                             remedy="choose another ci_method= (--ci-method)")  # fmt: skip


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
        made = self.design.bootstrap
        return {
            "schema": SCHEMA,
            "system": self.system,
            "baseline": self.baseline,
            "part": self.score.part,
            "heading": self.heading,
            "measure": str(self.score.measure),
            "value": finite_or_none(self.value),
            "baseline_value": finite_or_none(self.baseline_value),
            "difference": finite_or_none(self.difference),
            "low": finite_or_none(self.low),
            "high": finite_or_none(self.high),
            "level": made.level,
            "ci_method": self.method,
            "p": finite_or_none(self.p),
            "p_corrected": finite_or_none(self.p_corrected),
            "significant": self.significant,
            "effect_size": finite_or_none(self.effect_size),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "undefined": self.undefined,
            "unit": self.score.unit,
            "n": self.score.n,
            "test": self.design.test,
            "correction": self.design.correction,
            "comparisons": self.comparisons,
            "resamples": made.resamples,
            "seed": made.seed,
            "signature": self.signature,
        }


def check_systems(tasks: Tasks, baseline: str) -> None:
    """Refuse systems that cannot be compared with a baseline.

    Raises
    ------
    InputError
        If there is one system, the baseline is none of them, or systems have different items.
    """
    if baseline not in tasks:
        raise InputError(
            f"there is no system {baseline!r} to compare with",
            remedy=did_you_mean(
                baseline, tasks, f"choose baseline= (--baseline) among {listing(tasks)}"
            ),
        )
    if len(tasks) < 2:
        raise InputError(
            f"there is one system, {baseline!r}",
            remedy="give at least two systems to compare; two embeddings or options on the same "
            "predictions are compared in Python: compare({name: score(..., ci=True), ...})",
        )
    for name, parts in tasks.items():
        for part in parts.keys() & tasks[baseline].keys():
            _check_items(name, parts[part], baseline, tasks[baseline][part])


def _check_items(name: str, task: Any, baseline: str, other: Any) -> None:
    if np.array_equal(np.sort(task.hashes), np.sort(other.hashes)):
        return
    pairs = ((name, task, other), (baseline, other, task))
    only = []
    for system, mine, theirs in pairs:
        alone = np.flatnonzero(~np.isin(mine.hashes, theirs.hashes)).tolist()
        only += [f"{system} alone has {listing(str(mine.ids[i]) for i in alone)}"] * bool(alone)
    remedy = "give the same items to both; missing='skip' and empty_predictions='skip' leave "
    remedy += "items out of one system alone"
    several = [one for one, own, _ in pairs if getattr(own, "groups", None) is not None]
    if len(several) == 1:
        remedy = f"{several[0]} has several captions of an image, as references have: these come "
        remedy += "last, or as gts="
    raise InputError(
        f"{name} and {baseline} have different items: {'; '.join(only) or 'some several times'}",
        remedy=remedy,
    )


def compare_scores(
    scores: Sequence[Score],
    design: Design,
    progress: Callable[[int, int], None] | None = None,
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
    if design.test == "randomization":
        swapped = swapped_differences(pairs, design.bootstrap, progress)
        tested = [simulated_p(row, _subtract_values(a, b))
                  for row, (a, b) in zip(swapped, pairs, strict=True)]  # fmt: skip
    else:
        tested = [_p_value(*pair, design) for pair in pairs]
    corrected = correct_p(tested, design.correction)
    number = sum(not math.isnan(p) for p in tested)
    return [
        _difference(*pair, design, p, adjusted, number)
        for pair, p, adjusted in zip(pairs, tested, corrected, strict=True)
    ]


def _check_pairs(pairs: Sequence[tuple[Score, Score]], design: Design) -> None:
    """Refuse measures that a test is not for."""
    for one, _ in pairs:
        made = one.replicates
        if one.n < 2 or (made is not None and made.sizes.sum() < 2):
            what = f"groups of {one.unit}s" if made is not None and made.grouped else "items"
            raise InputError(f"a test needs at least two {what}, and there is one",
                             remedy="give more items")  # fmt: skip
    lacking = dict.fromkeys(
        a.heading for a, b in pairs
        if a.replicates is None or b.replicates is None or a.replicates.drawn != b.replicates.drawn
    )  # fmt: skip
    if lacking:
        raise InputError(f"{_names(lacking)} cannot be resampled in pairs",
                         remedy="leave it out, or compare its parts")  # fmt: skip
    if design.test not in _OF_ITEMS:
        return
    name = TESTS[design.test]
    remedy = "use test='interval' or 'randomization' (--test)"
    no_means = dict.fromkeys(a.heading for a, b in pairs if a.averaged is None)
    if no_means:
        what = "are no means" if len(no_means) > 1 else "is no mean"
        raise InputError(f"{_names(no_means)} {what} over items, which the {name} is for",
                         remedy=remedy)  # fmt: skip
    for a, _ in pairs:
        if a.statistics.weights is not None:
            raise InputError(f"the {name} knows no sample weights", remedy=remedy)
        if a.statistics.groups is not None:
            raise InputError(f"{plural(a.unit)} come in groups that are not independent, as the "
                             f"{name} has them", remedy=remedy)  # fmt: skip


def _names(headings: Iterable[str]) -> str:
    return ", ".join(headings)


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


def _p_value(score: Score, against: Score, design: Design) -> float:
    """Return p of all tests but random swaps."""
    paired = _subtract_replicates(score, against, design)
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
        raise InputError(
            f"{score.heading}: {pluralize(int(lacking.sum()), 'item', 'count')} in one of "
            f"{score.system} and {against.system} alone, so that "
            f"the {TESTS[test]} has no pairs of them",
            remedy="use test='interval' or 'randomization' (--test), or another policy",
        )
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
    score: Score, against: Score, design: Design, p: float, corrected: float, number: int
) -> Difference:
    paired = _subtract_replicates(score, against, design)
    made = paired.interval(design.bootstrap.level)
    low, high, method = made.low, made.high, made.method
    if design.test == "t" and not math.isnan(p):
        found = _item_differences(score, against, "t")
        (_, low, high), method = student_t(found, design.bootstrap.level), "t"
    if low and math.isclose(low, high, rel_tol=_ROUNDING):  # items differ alike: others may not
        low = high = math.nan
    error = paired.standard_error * math.sqrt(max(1, int(paired.sizes.sum())))
    wins, ties, losses, undefined = _count_items(score, against)
    return Difference(
        score=score,
        against=against,
        design=design,
        low=low,
        high=high,
        method=method,
        p=p,
        p_corrected=corrected,
        effect_size=paired.value / error if error > _ROUNDING * abs(paired.value) else math.nan,
        wins=wins,
        ties=ties,
        losses=losses,
        undefined=undefined,
        comparisons=number,
    )


def _count_items(score: Score, against: Score) -> tuple[int | None, ...]:
    """Count the items that a system wins, ties and loses, and those without a value in both."""
    pair = _paired_values(score, against)
    if pair is None:
        return None, None, None, None
    sign = 1 if score.measure.definition.higher_is_better else -1
    items = sign * subtract(*pair)
    every = (items > 0, items == 0, items < 0, np.isnan(items))
    return tuple(int(some.sum()) for some in every)
