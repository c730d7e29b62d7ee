"""Systems compared on the same items: differences, and whether they are chance.

Conventions
-----------
Without a baseline all pairs are compared: each system with those before it, which are its
baselines. A difference is the system's value less the baseline's. Its replicates are the
differences of their replicates, which are paired, so its interval and most tests come from the
replicates of scores. Unlike a value, a difference does not vary less near a bound: by default its
interval is the jackknife's, or for medians, which have none, percentiles. p of the default test is
the smallest 1 - level at which the interval excludes 0, so that the two never disagree. The effect
size is the difference over its jackknife standard error times the square root of the number of
items (or groups): for a mean over items that is Cohen's d of the items' differences.

Approximate randomisation swaps items between the two systems and computes measures again. A swap
gives an item, or all of a group, to the other system and adds up statistics, so it is as
good for a ratio of sums as for a mean. Sums are exact, and what is swapped depends on the ids, the
seed and the number of swaps alone: the order of the input changes nothing, and all systems and
measures are swapped alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from string import ascii_letters
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.columns import concatenate_columns
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.data.form import takes_options
from semmetrics.data.source import ahead
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds import Tasks, find_kind
from semmetrics.kinds.common import on_one_line
from semmetrics.messages import (
    did_you_mean,
    listing,
    plural,
    pluralize,
    report_progress,
    visible,
)
from semmetrics.metrics.definition import Statistic
from semmetrics.options import CORRECTIONS, TAKEN, TESTS, Options
from semmetrics.reports import (
    Graded,
    Records,
    ScaledResult,
    Table,
    draw,
    entry_of,
    format_p,
)
from semmetrics.scoring.draws import Draws
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import (
    AUTO,
    OF_RESAMPLES,
    POISSON,
    Bootstrap,
    Interval,
)
from semmetrics.scoring.item_records import plain_id
from semmetrics.scoring.plan import check_system_names, prepare_systems
from semmetrics.scoring.protocols import NotComputed
from semmetrics.scoring.resampling import chunk_size
from semmetrics.scoring.result import Score, matching_names
from semmetrics.scoring.score import score_prepared, warn_of_scores
from semmetrics.scoring.table import ScoreTable
from semmetrics.scoring.table_text import name_absent
from semmetrics.scoring.weighted_sums import Stack, WeightedSums
from semmetrics.studies import significance
from semmetrics.studies.significance import rank_matrix, subtract

if TYPE_CHECKING:
    from typing_extensions import Unpack

Pairs: TypeAlias = Sequence[tuple[Score, Score]]
_MANY = 8  # measures that a sentence names
_FEW = 50  # items, with which p of a bootstrap was too small in simulations
_DRAWN = ("bootstrap", "bootstrap-sacrebleu", "randomization")
_ITEM_COLUMNS = (
    "system",
    "baseline",
    "measure",
    "id",
    "value",
    "baseline_value",
    "difference",
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
_ROUNDING = 1e-12  # by which numbers may differ that are equal
_OF_ITEMS = ("t", "wilcoxon")
_VERDICTS = {
    "better": "{system} is better than {others} in {names}",
    "worse": "{system} is worse than {others} in {names}",
    "same": "{pairs} are the same in every resample in {names}",
    "alike": "{pairs}: no difference holds in {names}",
    "undefined": "{pairs}: undefined is {names}",
    "untested": "{pairs}: no p for {names}: too few {units} decide it, or all differ alike; "
    "use test='randomization' (--test)",
}


@dataclass(frozen=True)
class Design:
    """How systems are compared.

    Attributes
    ----------
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
    baseline : str or None
        The system that all others are compared with; None compares all pairs.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Over all pairs and measures together.
    bootstrap : Bootstrap
        Level and method of intervals; the number and the seed of resamples and swaps.
    """

    test: str
    baseline: str | None
    correction: str
    bootstrap: Bootstrap

    def __post_init__(self) -> None:
        for name, known in (("test", TESTS), ("correction", CORRECTIONS)):
            check_choice(name, getattr(self, name), known)
        if self.bootstrap.method == "wilson":  # whose error shrinks towards bounds
            raise InputError(
                "bad-option",
                name="ci_method",
                value="wilson",
                wanted="a method for differences",
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
    system, baseline : str
    heading, measure : str
        How tables call the measure, and its full name.
    value, baseline_value, difference : float
        The difference is the system's value less the baseline's.
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
    drawn : int
        Items to draw or swap; groups, where items are drawn in groups.
    comparisons : int
        How many p values were corrected together.
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
        """Whether the system's value is the better one; None where neither is."""
        if not self.difference or math.isnan(self.difference):
            return None
        return (self.difference > 0) == self.score.measure.higher_is_better

    @property
    def signature(self) -> str:
        """The signature of the system's score, with the test and the correction."""
        made = self.design.bootstrap
        ci = None
        if self.method != "t":
            ci = Interval(self.low, self.high, replace(made, method=self.method))
        score = replace(self.score, ci=ci)
        drawn = f",{made.resamples},{made.seed}" if self.design.test in _DRAWN else ""
        corrected = f"{self.design.correction},{self.comparisons}"
        return (
            f"{score.signature}|test:{self.design.test}{drawn}|correction:{corrected}"
        )

    @cached_property
    def items(self) -> Floats | None:
        """The difference of each item, in the order of ``ids``; nan where one has no value."""
        pair = _paired_values(self.score, self.against)
        return None if pair is None else subtract(*pair)

    @property
    def ids(self) -> list[str | int]:
        """The items, in the order of their hashes."""
        ids = self.score.ids
        return [plain_id(ids[place]) for place in self.score.statistics.order.tolist()]

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as JSON has it: null for what is undefined."""
        score, design, made = self.score, self.design, self.design.bootstrap
        return entry_of(
            self,
            "semmetrics.comparison/1",
            COLUMNS,
            part=score.part,
            level=made.level,
            ci_method=self.method,
            unit=score.unit,
            n=score.n,
            test=design.test,
            correction=design.correction,
            resamples=made.resamples,
            seed=made.seed,
        )


def pair_systems(systems: Iterable[str], baseline: str | None) -> list[tuple[str, str]]:
    """Pair each system with the baseline; without one, with each system before it.

    Examples
    --------
    >>> pair_systems("abc", None), pair_systems("abc", "b")
    ([('b', 'a'), ('c', 'a'), ('c', 'b')], [('a', 'b'), ('c', 'b')])
    """
    names = list(systems)
    return [
        (name, other)
        for place, name in enumerate(names)
        for other in (names[:place] if baseline is None else [baseline])
        if name != other
    ]


def check_systems(systems: Mapping[str, Any], baseline: str | None) -> None:
    """Refuse fewer than two systems, and a baseline that is not among them."""
    if len(systems) < 2:
        raise InputError("too-few-compared", n=len(systems))
    check_system_names(systems)
    if baseline is not None and baseline not in systems:
        remedy = did_you_mean(baseline, systems, f"choose among {listing(systems)}")
        raise InputError("unknown-name", what="baseline", value=baseline, remedy=remedy)


def _check_items(tasks: Tasks, baseline: str) -> None:
    """Refuse systems that have other items than the baseline, or than the first one."""
    for name, parts in tasks.items():
        for part in parts.keys() & tasks[baseline].keys():
            task, other = parts[part], tasks[baseline][part]
            if np.array_equal(np.sort(task.hashes), np.sort(other.hashes)):
                continue
            pairs = ((name, task, other), (baseline, other, task))
            several = [
                one for one, own, _ in pairs if getattr(own, "groups", None) is not None
            ]
            if len(several) == 1:  # references were given as a system
                raise InputError("references-as-system", several[0])
            only = []
            for system, mine, theirs in pairs:
                alone = np.flatnonzero(~np.isin(mine.hashes, theirs.hashes)).tolist()
                if alone:
                    only.append(
                        f"{system} alone has {listing(str(mine.ids[i]) for i in alone)}"
                    )
            raise InputError(
                "unlike-items",
                f"{name} and {baseline}",
                only="; ".join(only) or "some several times",
            )


def compare_scores(
    scores: Sequence[Score], design: Design, progress: Progress = None
) -> list[Difference]:
    """Compare the scores of systems with those of a baseline, or of all pairs of systems.

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
        Pair by pair, measures in the order of the scores.

    Raises
    ------
    InputError
        If a measure cannot be tested so; names all such measures.
    """
    place = {(one.system, one.part, one.heading): one for one in scores}
    pairs = [
        (score, place[key])
        for system, other in pair_systems(
            dict.fromkeys(s.system for s in scores), design.baseline
        )
        for score in scores
        if score.system == system
        and (key := (other, score.part, score.heading)) in place
    ]
    _check_pairs(pairs, design)
    swapped: Iterable[Floats | None] = [None] * len(pairs)
    if design.test == "randomization":
        swapped = swapped_differences(pairs, design.bootstrap, progress)
    found = [
        _difference(*pair, design, row)
        for pair, row in zip(pairs, swapped, strict=True)
    ]
    corrected = significance.correct_p([one.p for one in found], design.correction)
    number = sum(not math.isnan(one.p) for one in found)
    each = zip(found, corrected, strict=True)
    return [replace(one, p_corrected=p, comparisons=number) for one, p in each]


def _check_pairs(pairs: Pairs, design: Design) -> None:
    """Refuse measures that a test is not for."""
    for one, other in pairs:
        mine, theirs = one.replicates, other.replicates
        if mine is None or theirs is None or mine.drawn != theirs.drawn:
            raise InputError("not-paired", one.heading)
        if one.n < 2 or mine.sizes.sum() < 2:
            raise InputError(
                "too-few-for-test",
                n=1,
                least=2,
                test="a test",
                unit="group" if mine.grouped else one.unit,
            )
    if design.test not in _OF_ITEMS:
        return
    no_means = dict.fromkeys(a.heading for a, _ in pairs if a.averaged is None)
    for a, _ in pairs:
        if no_means:
            what = f"means over items, unlike {', '.join(no_means)}"
        elif a.statistics.weights is not None:
            what = "unweighted items"
        elif a.statistics.groups is not None:
            what = f"independent {plural(a.unit)}, not groups of them"
        else:
            continue
        raise InputError("test-does-not-fit", test=TESTS[design.test], what=what)


def _difference(
    score: Score, against: Score, design: Design, swapped: Floats | None
) -> Difference:
    """Test the difference of two scores; p is corrected later, with all others."""
    mine: Any = score.replicates
    theirs: Any = against.replicates
    least, most = score.measure.definition.bounds
    difference, method = (
        float(subtract(score.value, against.value)),
        design.bootstrap.method,
    )
    if method in (AUTO, POISSON):
        method = "percentile" if mine.default == "percentile" else "jackknife"
    paired = replace(
        mine,
        values=subtract(mine.values, theirs.values),
        value=difference,
        left_out=subtract(mine.left_out, theirs.left_out),
        bounds=(least - most, most - least),
        default=method,
    )
    made = paired.interval(design.bootstrap.level)
    low, high, method, p = made.low, made.high, made.method, math.nan
    if swapped is not None:
        p = significance.simulated_p(swapped, difference)
    elif design.test == "interval":
        p = paired.p_value()
    elif design.test == "bootstrap":
        p = significance.shifted_p(paired.values, difference)
    elif design.test == "bootstrap-sacrebleu":
        p = significance.shifted_size_p(paired.values, difference)
    elif not math.isnan(difference):
        items = _item_differences(score, against, design.test)
        if design.test == "t":
            p, low, high = significance.student_t(items, design.bootstrap.level)
            low, high = paired.clip(low, high)
            method = "t"
        else:
            p = significance.signed_rank_p(items)
    # equal differences: others may vary
    if low and math.isclose(low, high, rel_tol=_ROUNDING):
        low = high = math.nan
    drawn = int(paired.sizes.sum())
    error = paired.standard_error * math.sqrt(max(1, drawn))
    pair, counts = _paired_values(score, against), dict[str, int]()
    if pair is not None:
        gain = subtract(*pair) * (1 if score.measure.higher_is_better else -1)
        each = (gain > 0, gain == 0, gain < 0, np.isnan(gain))
        names = ("wins", "ties", "losses", "undefined")
        counts = {name: int(some.sum()) for name, some in zip(names, each, strict=True)}
    return Difference(
        score,
        against,
        design,
        score.system,
        against.system,
        score.heading,
        str(score.measure),
        score.value,
        against.value,
        difference,
        low,
        high,
        method,
        p,
        difference / error if error > _ROUNDING * abs(difference) else math.nan,
        drawn,
        **counts,
    )


def _item_differences(score: Score, against: Score, test: str) -> Floats:
    """Return the differences of all items that both means are over."""
    mine, theirs = _paired_values(score, against) or (np.zeros(0), np.zeros(0))
    lacking = np.isnan(mine) != np.isnan(theirs)
    if lacking.any():
        what = f"pairs of values; {lacking.sum()} of {score.system} and {against.system} lack one"
        raise InputError(
            "test-does-not-fit", score.heading, test=TESTS[test], what=what
        )
    both = ~np.isnan(mine)
    return subtract(mine[both], theirs[both])


def item_values(score: Score) -> Floats | None:
    """Return the values of items as a measure counts them; None where items have or keep none."""
    if score.statistics.parts is None:
        return None
    return score.items if score.averaged is None else score.averaged


def _paired_values(score: Score, against: Score) -> tuple[Floats, Floats] | None:
    """Return the values of items of both in the order of their hashes, as the measure counts them.

    None where items have no value, or the two have other items.
    """
    found = []
    for one in (score, against):
        values = item_values(one)
        if values is None or len(values) != len(one.statistics.hashes):
            return None
        found.append(values[one.statistics.order])
    mine, theirs = (
        one.statistics.hashes[one.statistics.order] for one in (score, against)
    )
    return (found[0], found[1]) if np.array_equal(mine, theirs) else None


def swapped_differences(
    pairs: Pairs, bootstrap: Bootstrap, progress: Progress = None
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
    for part in {score.part for score, _ in flat}:
        places = [place for place, (score, _) in enumerate(flat) if score.part == part]
        swapped[:, places] = _swap(
            [flat[place] for place in places], bootstrap, progress
        )
    found, start = np.empty((len(pairs), bootstrap.resamples)), 0
    for row, (score, _), some in zip(found, pairs, terms, strict=True):
        sides: Any = swapped[:, start : start + len(some)]
        if score.terms:  # parts that are paired have the same coins
            combine = score.measure.definition.family.combine  # type: ignore[attr-defined]
            sides = [[combine(score.measure, list(side))] for side in sides]
        row[:] = subtract(sides[0][0], sides[1][0])
        start += len(some)
    return found


def _swap(pairs: Pairs, bootstrap: Bootstrap, progress: Progress) -> Floats:
    """Return the values of both sides after swaps, of one part: shape (2, pairs, resamples)."""
    needed: dict[str, tuple[Any, list[Statistic]]] = {}
    for pair in pairs:
        for one in pair:
            statistic = one.measure.definition.family.statistic(one.measure)
            needed.setdefault(one.system, (one.statistics, []))[1].append(statistic)
    stack = Stack()
    weighted = {
        name: WeightedSums(own, some, Draws.of(own), stack)
        for name, (own, some) in needed.items()
    }
    draws = next(iter(weighted.values())).draws
    if any(
        not np.array_equal(one.draws.hashes, draws.hashes) for one in weighted.values()
    ):
        raise InputError("unlike-items", only="some lack a value")
    every = np.ones((1, len(draws.hashes)), np.uint8)
    whole = {
        name: one.sums(every, stack.multiply(every)) for name, one in weighted.items()
    }
    found, done = np.empty((2, len(pairs), bootstrap.resamples)), 0
    tosses = draws.coins(bootstrap, chunk_size([some for some, _ in needed.values()]))
    for coins in ahead(tosses, worth=draws.are_many):
        product = stack.multiply(coins)
        heads = {name: one.sums(coins, product) for name, one in weighted.items()}
        for row, (a, b) in enumerate(pairs):
            found[:, row, done : done + len(coins)] = _swapped_values(
                a, b, heads, whole
            )
        done += len(coins)
        report_progress(
            progress, done, bootstrap.resamples, "randomization", "resample"
        )
    return found


def _swapped_values(
    score: Score, against: Score, heads: Mapping[str, Any], whole: Mapping[str, Any]
) -> list[Floats]:
    """The first has its own items where a coin shows heads, and the other's elsewhere."""
    values = []
    for one, other in ((score, against), (against, score)):
        mine, theirs = (
            s.measure.definition.family.statistic(s.measure) for s in (one, other)
        )
        own, left = heads[one.system][mine], heads[other.system][theirs]
        every = whole[other.system][theirs]
        if mine.additive:
            sums = {name: own[name] + (every[name] - left[name]) for name in own}
        else:
            n = len(own["order"])
            rows = {
                name: concatenate_columns([some, left["rows"][name]])
                for name, some in own["rows"].items()
            }
            weights = np.concatenate(
                [own["weights"], every["weights"] - left["weights"]], axis=1
            )
            # both rows of an item stand together, so that the order of the input changes nothing
            order = np.stack([own["order"], left["order"] + n], axis=1).ravel()
            sums = {"rows": rows, "weights": weights, "order": order}
        values.append(
            one.measure.definition.family.aggregate(one.measure, sums, one.frame)
        )
    return values


def find_headings(name: str, entries: Iterable[Any]) -> set[str]:
    """Return the headings that a name means, by headings and measures of entries."""
    known = {
        (one.heading, str(one.measure), *getattr(one, "score", one).names)
        for one in entries
    }
    return {heading for heading, *_ in matching_names(name, known)}


def report_correction(correction: str, comparisons: int) -> str:
    """Say how p is corrected, and for how many comparisons."""
    by, number = CORRECTIONS[correction], pluralize(comparisons, "comparison")
    return f"p corrected by {by} for {number}" if by else f"p of {number} not corrected"


def report_least_p(least: float, alpha: float, what: str) -> list[str]:
    """Say that no difference can hold, where the least corrected p is not below alpha."""
    shown = format_p(min(1.0, least))
    return [
        f"no difference can hold: p, corrected, is at least {shown}; take more {what}, or fewer "
        "comparisons"
    ] * (least >= alpha)


@by_value()
@dataclass(frozen=True, eq=False)
class ComparisonTable(ScaledResult, Table[Difference]):
    """Differences of systems from a baseline or from each other, with notes.

    A sequence of Difference; ``found["F1"]``, ``found[system, "F1"]`` or, of all pairs,
    ``found[system, baseline, "F1"]`` is one of them.

    Attributes
    ----------
    differences : list of Difference
        Pair by pair, measures in the order given.
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

    _columns, _of = COLUMNS, "differences"
    _reads_truth_last = True
    differences: list[Difference]
    scores: ScoreTable = field(repr=False)
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)

    @property
    def not_computed(self) -> list[NotComputed]:
        """What was not computed of any system, with the reason."""
        return self.scores.not_computed

    def _systems(self) -> set[str]:
        return self.scores._systems()

    def _find(self, key: Any) -> Difference:
        """Return the difference of a measure, or of (system, measure), with a baseline between."""
        *names, name = key if isinstance(key, tuple) and key else (key,)
        of = [one for one in self if names == [one.system, one.baseline][: len(names)]]
        meant = find_headings(name, of) if isinstance(name, str) else ()
        found = [one for one in of if one.heading in meant]
        if len(found) == 1:
            return found[0]
        there = listing(
            f"{one.system}, {one.baseline}, {one.heading}" for one in found or self
        )
        if found:
            raise UnknownKeyError("ambiguous-key", value=key, choices=there)
        raise UnknownKeyError(
            "unknown-name", what="comparison", value=key, remedy=f"there are {there}"
        )

    @property
    def _has_several(self) -> bool:
        """Whether there are several baselines, as where all pairs are compared."""
        return len({one.baseline for one in self}) > 1

    @property
    def systems(self) -> list[str]:
        """The systems that were compared with a baseline."""
        return list(dict.fromkeys(one.system for one in self.differences))

    def __repr__(self) -> str:
        significant = sum(one.significant for one in self)
        which = (
            f"{', '.join(self.systems)} and {self[0].baseline}"
            if self.differences
            else ""
        )
        every = pluralize(len(self), "difference")
        return f"ComparisonTable({significant} of {every} hold: {which})"

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.differences:
            return []
        design = self.differences[0].design
        by = CORRECTIONS[design.correction].split(" ")[0]
        interval = f"difference [{design.bootstrap.level:.4g}]"
        several = self._has_several
        sides = (
            ["baseline", "value", "baseline value"]
            if several
            else ["value", "baseline"]
        )
        head = [
            "measure",
            "system",
            *sides,
            interval,
            "p",
            *([f"p {by}"] if by else []),
            "effect",
            "won",
            "tied",
            "lost",
        ]
        rows = [head]
        for one in self:
            factor = one.score.measure.definition.printed_scale(scale)
            every = (one.value, one.baseline_value, one.difference, one.low, one.high)
            value, other, gap, low, high = (number * factor for number in every)
            counts = (
                "" if n is None else f"{n}" for n in (one.wins, one.ties, one.losses)
            )
            rows.append(
                [
                    one.heading,
                    one.system,
                    *([one.baseline] * several),
                    f"{value:.{digits}f}",
                    f"{other:.{digits}f}",
                    f"{gap:+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]".replace(
                        "+nan", "nan"
                    ),
                    format_p(one.p),
                    *([format_p(one.p_corrected)] if by else []),
                    f"{one.effect_size:.2f}" if math.isfinite(one.effect_size) else "",
                    *counts,
                ]
            )
        return [rows]

    def render(self, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
        """Write the differences as "table", "json", "csv", "markdown", "latex" or "html".

        In the last three the scores by system come first, the best of each measure bold, with
        letters for the systems over which one is significantly better.
        """
        listed = self._render(form, digits, scale)
        if form not in ("markdown", "latex", "html") or not self.differences:
            return listed
        caption = "The best of each measure is bold. Letters name the systems over which a system "
        caption += f"is significantly better: {self._say_how()}."
        if lost := [
            f"{d.system} and {d.baseline} ({d.heading})"
            for d in self
            if math.isnan(d.p)
        ]:
            caption += f" There is no p of {_join(lost)}."
        marked = draw(self._mark_scores(digits, scale), form, caption=caption)
        return f"{marked}\n\n{listed}"

    def _mark_scores(self, digits: int, scale: float) -> list[list[str]]:
        """Return the cells of scores by system, each with the letters of those it is better than.

        Systems after the 52nd have numbers for letters.
        """
        systems = self.scores.systems
        numbers = map("({})".format, range(len(ascii_letters) + 1, len(systems) + 1))
        letters = dict(zip(systems, [*ascii_letters, *numbers], strict=False))
        over: dict[Any, str] = {}
        for one in self:
            if (verdict := _judge(one)) in ("better", "worse"):
                winner, loser = (one.system, one.baseline)[
                    :: 1 if verdict == "better" else -1
                ]
                over[winner, one.heading] = (
                    over.get((winner, one.heading), "") + letters[loser]
                )
        plain = replace(
            self.scores, scores=[replace(one, ci=None) for one in self.scores]
        )
        ((_, *rows),) = plain._tables(digits, scale, "columns")
        for heading, *cells in rows:
            for system, cell in zip(systems, cells, strict=True):
                # equal values have neither a best nor marks
                if isinstance(cell, Graded):
                    cell.mark = over.get((system, heading), "")
        return [
            *map(
                list,
                zip(["#", *letters.values()], ["system", *systems], *rows, strict=True),
            )
        ]

    def sentences(self) -> list[str]:
        """Say in words which differences hold, by which test, correction, number and seed.

        What a protocol names and was not computed comes last, with the reason.
        """
        lines = [*self._say_differences()]
        how = (
            [self._say_how(), *self._say_limits()]
            if lines
            else ["nothing could be compared"]
        )
        return list(map(visible, [*lines, *how, *name_absent(self.scores)]))

    _sentences = sentences

    def _say_differences(self) -> Iterator[str]:
        """Say where each system is better, or else worse; and which are not shown to differ.

        Of one baseline, system by system; of several, all pairs that do not differ come last.
        """
        names, several = [*self.scores.systems, ""], self._has_several

        def place(one: Difference) -> tuple[int, int]:
            word, by = _judge(one), one.system
            if several:
                by = {"better": by, "worse": one.baseline}.get(word, "")
            return names.index(by), [*_VERDICTS].index(
                "better" if by and several else word
            )

        for (by, word), some in sorted(_group(self, place).items()):
            text, lines = [*_VERDICTS.values()][word], list[str]()
            of_headings = _group(some, lambda one: one.heading).values()
            groups = _group(
                of_headings, lambda of: tuple((o.system, o.baseline) for o in of)
            )
            for pairs, of in groups.items():
                lines.append(
                    text.format(
                        system=names[by],
                        others=_join([b if a == names[by] else a for a, b in pairs]),
                        pairs=_join([" and ".join(pair) for pair in pairs], ", "),
                        names=_name_all(of),
                        units=plural(some[0].score.unit),
                    )
                )
                if by < len(names) - 1:  # one sentence of each system
                    lines[1:] = [
                        line.removeprefix(f"{names[by]} is ") for line in lines[1:]
                    ]
                    lines = ["; ".join(lines)]
            yield from lines

    def _say_how(self) -> str:
        first = self.differences[0]
        design, made = first.design, first.design.bootstrap
        sides = (
            "which is nearly one-sided" if "sacrebleu" in design.test else "two-sided"
        )
        words = [f"{TESTS[design.test]}, {sides}"]
        methods = dict.fromkeys(one.method for one in self.differences)
        if design.test == "interval":
            words[0] = (
                f"p by the interval of the difference ({', '.join(methods)}), two-sided"
            )
        elif design.test != "t":
            words.append(f"intervals by {', '.join(methods)}")
        if design.test in _DRAWN:
            what = "swaps" if design.test == "randomization" else "resamples"
            words.append(f"{made.resamples:,} {what}, seed {made.seed}")
        words += [
            report_correction(design.correction, first.comparisons),
            f"a difference holds where that is below {1 - made.level:.4g}",
        ]
        scores = [one.score for one in self.differences]
        scores = [
            one for one in scores if one.part
        ] or scores  # Rsum has those of its parts
        units = dict.fromkeys(
            f"{one.part} {pluralize(one.n, one.unit)}".strip() for one in scores
        )
        return "; ".join([*words, ", ".join(units)])

    def _say_limits(self) -> Iterator[str]:
        """Say where p is too small, of few items, or cannot be so small that a difference holds."""
        first = max(self.differences, key=lambda one: one.drawn)
        design, made = first.design, first.design.bootstrap
        items = plural(first.score.unit)
        items = items if first.drawn == first.score.n else f"groups of {items}"
        if design.test.startswith("bootstrap") and first.drawn < _FEW:
            yield (
                f"with {first.drawn} {items} the bootstrap p tends to be too small; "
                "use test='interval' or 'randomization' (--test)"
            )
        few = dict.fromkeys(
            one.heading
            for one in self
            for side in (one.score.replicates, one.against.replicates)
            if design.test == "interval" and side is not None and side.varies_as_few
        )
        if few:
            names = ", ".join(few)
            yield f"a few {items} decide {names}: compare them by test='randomization' (--test)"
        smallest = {}
        quantiles = design.test == "interval" and not first.method.startswith(
            "jackknife"
        )
        if design.test in _DRAWN or quantiles:
            smallest["resamples"] = 1 / (made.resamples + 1)
        # of so many signs one is the smallest
        if design.test in (
            "randomization",
            "wilcoxon",
        ):
            smallest[items] = 2.0 ** (1 - min(1000, first.drawn))
        many = 1 if design.correction == "none" else first.comparisons
        for what, p in smallest.items():
            yield from report_least_p(p * many, made.alpha, what)

    def differing(self, n: int = 10, measure: str | None = None) -> Records:
        """Return the items on which each system differs most from its baseline.

        Parameters
        ----------
        n : int
            Of each pair, from 1. Items without a difference are left out.
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
            raise InputError(
                "bad-option", name="n", value=n, wanted="a whole number from 1"
            )
        meant = None if measure is None else find_headings(measure, self)
        of = [one for one in self if meant is None or one.heading in meant]
        of = [one for one in of if one.items is not None]
        if not of:
            raise InputError("no-item-values", measure=measure or "any measure")
        first = (one for one in of if one.heading == of[0].heading)
        rows = [row for one in first for row in _differing_rows(one, n)]
        columns = dict.fromkeys(
            [*_ITEM_COLUMNS, *(name for row in rows for name in row)]
        )
        return Records.from_rows([*columns], rows)

    def _examples(self, n: int) -> Iterator[tuple[str, Records]]:
        if any(one.items is not None for one in self):
            yield "Items that differ most", self.differing(n)

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
        meant = find_headings(wanted, self.scores)
        scores = [one for one in self.scores if one.heading in meant]
        if len(scores) != len(self.scores.systems):
            raise InputError(
                "bad-choice", name="measure", value=wanted, choices=self.scores.headings
            )
        sign = 1.0 if scores[0].measure.higher_is_better else -1.0
        values = np.stack(
            [sign * one.replicates.values for one in scores if one.replicates], 1
        )
        matrix, means = rank_matrix(values[~np.isnan(values).any(axis=1)])
        order = np.argsort(means, kind="stable")
        shares = matrix / max(1.0, float(matrix[0].sum()))
        columns: dict[str, Any] = {
            "system": [scores[place].system for place in order.tolist()]
        }
        columns["mean_rank"] = means[order]
        columns |= {
            f"rank_{rank + 1}": shares[order, rank] for rank in range(len(scores))
        }
        return Records(columns)


def draw_rank_matrix(table: ComparisonTable, *, digits: int = 4) -> str:
    """Draw how often each system has each rank in the resamples, by the first measure."""
    records = table.rank_matrix()
    rows = [
        [system, f"{mean:.2f}", *(f"{share:.{digits}f}" for share in shares)]
        for system, mean, *shares in map(dict.values, records)
    ]
    head = [
        f"ranks by {table.scores.headings[0]}",
        "mean",
        *map(str, range(1, len(rows) + 1)),
    ]
    return draw([head, *rows])


def _judge(one: Difference) -> str:
    """Return what there is to say of a difference: a key of `_VERDICTS`."""
    mine, theirs = one.score.replicates, one.against.replicates
    if math.isnan(one.p):
        return "undefined" if math.isnan(one.difference) else "untested"
    if one.significant and one.better is not None:
        return "better" if one.better else "worse"
    if mine is not None and theirs is not None and not one.difference:
        there = np.isnan(mine.values) == np.isnan(theirs.values)
        if (
            there.all()
            and not np.nan_to_num(subtract(mine.values, theirs.values)).any()
        ):
            return "same"
    return "alike"


def _group(some: Iterable[Any], key: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Return what has the same key, in the order of the first of each."""
    found: dict[Any, list[Any]] = {}
    for one in some:
        found.setdefault(key(one), []).append(one)
    return found


def _join(names: Sequence[str], last: str = " and ") -> str:
    """Write names of systems or of pairs, the first few of many."""
    if len(names) > _MANY:
        return listing(names, most=_MANY, write=str)
    return last.join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _name_all(found: Sequence[Sequence[Difference]]) -> str:
    """Name measures with their corrected p; of several pairs with the one nearest to the level."""
    shown = []
    for some in found[:_MANY]:
        every = sorted(one.p_corrected for one in some)
        p, sign = format_p(every[0]), "="
        if p != format_p(every[-1]):
            p, sign = (
                (format_p(every[-1]), "at most")
                if some[0].significant
                else (p, "at least")
            )
        shown.append(
            some[0].heading + f" (p {sign} {p})".replace("= <", "< ") * bool(p)
        )
    more = len(found) - _MANY
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def _differing_rows(one: Difference, number: int) -> Iterator[dict[str, Any]]:
    pair, ids = _paired_values(one.score, one.against), one.ids
    if pair is None:
        return
    items = subtract(*pair)
    sizes = np.where(np.isnan(items), 0.0, np.abs(items))
    # of equal differences the first items of the file; ids may be in the order of their hashes
    for place in np.lexsort((one.score.statistics.order, -sizes))[:number].tolist():
        if not sizes[place]:
            return
        sides = [
            (side, int(side.statistics.order[place]))
            for side in (one.score, one.against)
        ]
        values = (float(some[place]) for some in (*pair, items))
        found = (one.system, one.baseline, one.heading, ids[place], *values)
        known: dict[str, Any] = dict(zip(_ITEM_COLUMNS, found, strict=True))
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
    by_heading = {one.heading: one.score for one in table}
    for record in table.differing(number):
        head = f"{record['measure']}: {record['system']} less {record['baseline']}"
        if head not in lines:
            lines.append(head)
        score = by_heading[record["measure"]]
        difference = record["difference"] * score.measure.definition.printed_scale(
            scale
        )
        lines.append(f"  {difference:+.{digits}f}  {on_one_line(str(record['id']))}")
        if score.task is None:
            continue
        report: Callable[[Any], list[str]] = find_kind(
            score.task.kind
        ).describer.report_item
        theirs = {
            name.removeprefix("baseline_"): value
            for name, value in record.items()
            if name.startswith("baseline_")
        }
        mine = report(record)
        other = [
            f"baseline {line}"
            for line in report({**record, **theirs})
            if line not in mine
        ]
        lines += [f"    {line}" for line in (*mine, *other)]
    return "\n".join(map(visible, lines or ["no item differs"]))


@takes_options()
def compare(
    systems: Mapping[str, Any] | ScoreTable,
    gts: Any = None,
    *,
    baseline: str | None = None,
    test: str = "interval",
    correction: str = "holm",
    **options: Unpack[Options],
) -> ComparisonTable:
    """Compare systems, and say which differences are more than chance.

    Parameters
    ----------
    systems : mapping from name to predictions, or to ScoreTable; or ScoreTable of several systems
        At least two, with the same items; each as ``preds`` of ``score``. Or what ``score``
        returned for each with ``ci=True``, so that they may differ in options, too, such as the
        embedding; measures of the same heading are compared.
    gts : path, mapping, sequence, Series, matrix, Lists or Matrix
        Left out beside scored results, as are further options.
    baseline : str, optional
        The system that all others are compared with. Without it all pairs are compared: each
        system with those that are given before it.
    test : {"interval", "bootstrap", "bootstrap-sacrebleu", "randomization", "t", "wilcoxon"}
        "interval": p is the smallest 1 - level at which the interval of the difference excludes
        0; by default that is Student's t on the jackknife standard error. Otherwise resamples of
        both systems, their differences moved to mean 0; the same as sacrebleu has it; items swapped
        at random; or, for means over items, a test of the items' differences.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of pairs and measures that are compared.
    **options

    Returns
    -------
    ComparisonTable
        A difference for each pair and measure, with its interval.

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
    'new is better than old in MicroF1 (p < 0.0001)'
    """
    if isinstance(systems, ScoreTable):
        table = systems
        systems = {
            name: replace(table, scores=[one for one in table if one.system == name])
            for name in table.systems
        }
    if any(isinstance(one, ScoreTable) for one in systems.values()):
        idle = [
            name for name, value in {**options, "gts": gts}.items() if value is not None
        ]
        if idle:
            raise InputError(
                "not-applicable", name=idle[0], what="results that were scored before"
            )
        return _compare_scored(systems, baseline, test, correction)
    given: dict[str, Any] = {
        "resamples": TAKEN["compare"]["resamples"].default,
        "ci": True,
    }
    given |= {name: value for name, value in options.items() if value is not None}
    check_systems(systems, baseline)
    design = Design(test, baseline, correction, Bootstrap.of(given))
    prepared = prepare_systems(systems, gts, given)
    _check_items(prepared.tasks, baseline or next(iter(systems)))
    warn_of_scores(prepared)
    scores = score_prepared(prepared)
    differences = compare_scores(scores, design, prepared.options["progress"])
    table = ScoreTable(scores, prepared.plan.not_computed)
    # intervals are of differences
    values = [replace(score, replicates=None) for score in scores]
    facts = prepared.facts(values)
    methods = dict.fromkeys(one.method for one in differences)
    if design.test not in _DRAWN and not {*methods} & {*OF_RESAMPLES}:
        on = f"p and intervals by {', '.join(methods)}"
        idle = [name for name in ("resamples", "seed") if options.get(name) is not None]
        facts += [
            Fact("no-effect-on", values={"option": name, "on": on}) for name in idle
        ]
    return ComparisonTable(differences, table, facts, prepared.understood())


def _compare_scored(
    systems: Mapping[str, Any], baseline: str | None, test: str, correction: str
) -> ComparisonTable:
    """Compare results that were scored before, each with options of its own."""
    check_systems(systems, baseline)
    scores: list[Score] = []
    for name, table in systems.items():
        scored = isinstance(table, ScoreTable) and any(one.replicates for one in table)
        if not scored or len(table.systems) != 1:
            raise InputError("not-comparable", name)
        scores += [replace(score, system=name) for score in table]
    base = {s.part: s for s in reversed(scores) if baseline in (None, s.system)}
    for score in scores:
        first = base.get(score.part, score)
        mine, theirs = (
            one.ci and replace(one.ci.bootstrap, method=AUTO) for one in (score, first)
        )
        what = "seed, resamples or level" if mine and theirs and mine != theirs else ""
        if score.statistics.fingerprint != first.statistics.fingerprint:
            what = "items or ground truth"
        if what:
            raise InputError(
                "scored-otherwise", score.system, other=first.system, what=what
            )
    made = next(score.ci.bootstrap for score in base.values() if score.ci is not None)
    design = Design(test, baseline, correction, replace(made, method=AUTO))
    differences = compare_scores(scores, design)
    if not differences:
        raise InputError(
            "nothing-given",
            what="measures in common",
            remedy="score both with the same measures",
        )
    tables = systems.values()
    facts = [*dict.fromkeys(fact for table in tables for fact in table.facts)]
    # of each table the ground truth is the last, and all of them follow the predictions
    understood = [line for table in tables for line in table.understood[:-1]]
    understood += [line for table in tables for line in table.understood[-1:]]
    understood = [*dict.fromkeys(understood)]
    absent = {one.heading: one for table in tables for one in table.not_computed}
    for heading in dict.fromkeys(score.heading for score in scores):
        if without := [
            name for name, table in systems.items() if heading not in table.headings
        ]:
            reason = f"not of {listing(without)}; score all with the same measures"
            absent.setdefault(heading, NotComputed(heading, reason))
    return ComparisonTable(
        differences, ScoreTable(scores, [*absent.values()]), facts, understood
    )
