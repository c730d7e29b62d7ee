"""How well measures agree with people, and whether one agrees better than another.

Conventions
-----------
The values of measures of which lower is better are negated, so that agreement is never negative
for that. Judgements of candidates that a measure has no value for are left out of its agreement,
and counted.

The only statistic of preferences is accuracy: the share of pairs in which the measure prefers the
same side as people; a pair of equal values counts half, one without a preference is left out.

A resample draws as many images as there are, with replacement, each with all of its judgements:
judgements of one image are not independent. All measures and groups share the resamples. The
bootstrap test is that of `semmetrics.compare`; Williams' test takes judgements as independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.same import by_value
from semmetrics.data.judgements import Judgements
from semmetrics.errors import InputError
from semmetrics.options import AGGREGATIONS, AGREEMENT, CORRECTIONS, JUDGEMENT_TESTS
from semmetrics.reports import entry_of
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.resampling import Draws
from semmetrics.studies.correlations import Correlated, correlation, percentiles, resample
from semmetrics.studies.significance import (
    LEAST_OF_WILLIAMS,
    correct_p,
    shifted_p,
    subtract,
    williams_p,
)

COLUMNS = (
    "heading", "measure", "group", "statistic", "protocol", "aggregate", "unit", "n", "candidates",
    "images", "lacking", "value", "low", "high", "difference", "difference_low", "difference_high",
    "p", "p_corrected", "significant", "level", "resamples", "seed", "baseline", "test",
    "correction", "comparisons", "signature",
)  # fmt: skip
ALL = "all"
"""The group that every judgement is in."""


@dataclass(frozen=True)
class AgreementDesign:
    """How agreement is measured.

    Attributes
    ----------
    statistics : tuple of str
    aggregate : {"none", "mean"}
    test : {"bootstrap", "williams"}
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Over all measures, groups and statistics together.
    baseline : str
        The heading of the measure that all others are compared with.
    bootstrap : Bootstrap
    protocol : str
        Empty without one.
    """

    statistics: tuple[str, ...]
    aggregate: str
    test: str
    correction: str
    baseline: str
    bootstrap: Bootstrap
    protocol: str = ""

    def __post_init__(self) -> None:
        check_choice("aggregate", self.aggregate, AGGREGATIONS)
        check_choice("test", self.test, JUDGEMENT_TESTS)
        check_choice("correction", self.correction, CORRECTIONS)
        for one in self.statistics:
            check_choice("statistics", one, AGREEMENT)
        others = [one for one in self.statistics if one != "pearson"]
        if self.test == "williams" and others:
            raise InputError(
                "bad-option",
                name="test",
                value=self.test,
                wanted=f"'bootstrap' for {AGREEMENT[others[0]]}",
            )


@dataclass(frozen=True, eq=False)
class Judged:
    """The values that a measure gives to the candidates that people judge.

    Attributes
    ----------
    heading, measure, signature : str
    values : float64 array, shape (candidates,)
        nan where there is none; the higher, the better.
    """

    heading: str
    measure: str
    signature: str
    values: Floats = field(repr=False)


@by_value()
@dataclass(frozen=True, eq=False)
class Agreement:
    """How well one measure agrees with people, by one statistic.

    Attributes
    ----------
    heading, measure : str
        How tables call it, and its full name.
    group : str
        The group of judgements; "all" for all.
    statistic : {"pearson", "spearman", "kendall-b", "kendall-c", "accuracy"}
    design : AgreementDesign
    unit : {"rating", "pair"}
        What a judgement is.
    n, candidates, images : int
        Judgements, the candidates that they are of, and the images of these.
    lacking : int
        Judgements left out: of candidates without a value, or of pairs without a preference.
    value, low, high : float
        With an interval; nan where not defined.
    difference, difference_low, difference_high : float
        The value less that of the baseline; nan for the baseline.
    p, p_corrected : float
        Of the difference; nan for the baseline, and where it cannot be tested.
    comparisons : int
        How many p values were corrected together.
    """

    heading: str
    measure: str
    group: str
    statistic: str
    design: AgreementDesign = field(repr=False)
    unit: str
    n: int
    candidates: int
    images: int
    lacking: int
    value: float
    low: float
    high: float
    difference: float = math.nan
    difference_low: float = math.nan
    difference_high: float = math.nan
    p: float = math.nan
    p_corrected: float = math.nan
    comparisons: int = 0
    scored: str = field(default="", repr=False)
    data: str = field(default="", repr=False)

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 1 - level."""
        return self.p_corrected < self.design.bootstrap.alpha

    @property
    def signature(self) -> str:
        """The signature of the measure, with that of the judgements and of the statistic."""
        design, made = self.design, self.design.bootstrap
        parts = {
            "judged": f"{design.protocol or 'own'}@{self.data}",
            "group": self.group,
            "stat": self.statistic,
            "agg": design.aggregate,
            f"{self.unit}s": self.n,
            "images": self.images,
            "ci": f"percentile,{made.level},{made.resamples},{made.seed}",
        }
        if not math.isnan(self.p):
            parts |= {"test": design.test, "correction": f"{design.correction},{self.comparisons}"}
        return "|".join([self.scored, *(f"{name}:{value}" for name, value in parts.items())])

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as JSON has it: null for what is undefined."""
        design, made = self.design, self.design.bootstrap
        return entry_of(
            self, "semmetrics.agreement/1", COLUMNS,
            protocol=design.protocol or None, aggregate=design.aggregate,
            significant=None if math.isnan(self.p) else self.significant,
            level=made.level, resamples=made.resamples, seed=made.seed, baseline=design.baseline,
            test=design.test, correction=design.correction,
        )  # fmt: skip


class _Preferred:
    """Pairs of which people and a measure prefer a side: their agreement under any weights."""

    def __init__(self, right: Floats, groups: Ints, n_groups: int) -> None:
        self._right = np.bincount(groups, right, n_groups)
        self._all = np.bincount(groups, minlength=n_groups).astype(np.float64)

    def weighted(self, statistics: Sequence[str], counts: NDArray[Any]) -> dict[str, Floats]:
        """Return the accuracy in each resample; nan where it has no pair."""
        with np.errstate(all="ignore"):
            found: Floats = (counts @ self._right) / (counts @ self._all)
        return dict.fromkeys(statistics, found)


@dataclass(frozen=True, eq=False)
class _Part:
    """One measure and one group of judgements: what is resampled, and what goes into tests."""

    of: Judged
    group: str
    table: Any
    scores: Floats
    ratings: Floats
    rows: Ints
    counts: dict[str, int]


def measure_agreement(
    judgements: Judgements,
    measures: Sequence[Judged],
    design: AgreementDesign,
    progress: Callable[[int, int], None] | None = None,
) -> list[Agreement]:
    """Measure how well the values of measures agree with people.

    Parameters
    ----------
    judgements : Judgements
    measures : sequence of Judged
    design : AgreementDesign
    progress : callable, optional
        Called with resamples done and in all.

    Returns
    -------
    list of Agreement
        Group by group, measure by measure, statistics in the order of the design.

    Raises
    ------
    InputError
        If the statistic is not for such judgements, or all of them are too few for Williams' test;
        a smaller group that is too small has no p.
    """
    if ALL in judgements.group_names():
        raise InputError("reserved-group", judgements.source, name=ALL)
    others = [name for name in design.statistics if name != "accuracy"]
    if judgements.second is not None and others:
        raise InputError("bad-option", judgements.source, name="statistics", value=others[0],
                         wanted="'accuracy' for preferences")  # fmt: skip
    groups: list[str | None] = [None, *judgements.group_names()]
    images, names = judgements.image_numbers()
    draws = Draws.of_hashes(hash_strings(list(names)))
    parts = [
        _part(judgements, one, group, draws.place[images], len(names))
        for group in groups for one in measures
    ]  # fmt: skip
    tables = [part.table for part in parts]
    values = resample(tables, design.statistics, design.bootstrap, draws, progress)
    drawn = dict(zip(parts, values, strict=True))
    data = _fingerprint(judgements)
    whole = np.ones((1, len(names)))
    rows = []
    for part in parts:
        for name, (value,) in part.table.weighted(design.statistics, whole).items():
            value = float(value)
            interval = percentiles(drawn[part][name], value, name, design.bootstrap,
                                   part.counts["images"], "image")  # fmt: skip
            rows.append(Agreement(
                part.of.heading, part.of.measure, part.group, name, design, judgements.noun,
                **part.counts, value=value, low=interval.low, high=interval.high,
                scored=part.of.signature, data=data,
            ))  # fmt: skip
    return _compare(rows, parts, drawn, design)


def _part(
    judgements: Judgements, one: Judged, group: str | None, images: Ints, number: int
) -> _Part:
    chosen = judgements.of_group(group)
    first, second = judgements.first, judgements.second
    scores = one.values[first]
    if second is not None:
        scores = scores - one.values[second]
    known: Bools = ~np.isnan(scores)
    if second is not None:
        known &= judgements.values != 0
    rows = np.flatnonzero(chosen & known)
    scores, ratings = scores[rows], judgements.values[rows]
    of = [side[rows] for side in (first, second) if side is not None]
    counts = {
        "n": len(rows),
        "candidates": judgements.count_candidates(np.concatenate(of)),
        "images": len(np.unique(images[rows])),
        "lacking": int(chosen.sum()) - len(rows),
    }
    table: Any
    if second is None:
        table = Correlated.of(scores, ratings, images[rows], number)
    else:
        right = (1 + np.sign(scores) * ratings) / 2
        table = _Preferred(right, images[rows], number)
    return _Part(one, group or ALL, table, scores, ratings, rows, counts)


def _compare(
    rows: list[Agreement],
    parts: Sequence[_Part],
    drawn: Mapping[_Part, Mapping[str, Floats]],
    design: AgreementDesign,
) -> list[Agreement]:
    """Compare each measure with the baseline, in each group and by each statistic."""
    base = {part.group: part for part in parts if part.of.heading == design.baseline}
    at = {(row.heading, row.group, row.statistic): place for place, row in enumerate(rows)}
    tested: dict[int, float] = {}
    for part in parts:
        against = base[part.group]
        if against is part:
            continue
        for name in design.statistics:
            place = at[part.of.heading, part.group, name]
            other = rows[at[design.baseline, part.group, name]]
            difference = float(subtract(rows[place].value, other.value))
            drawn_less = subtract(drawn[part][name], drawn[against][name])
            images = min(rows[place].images, other.images)
            interval = percentiles(drawn_less, difference, name, design.bootstrap, images, "image")
            if images < 2:  # every resample is the same
                tested[place] = math.nan
            elif design.test == "williams":
                tested[place] = _williams(part, against)
            else:
                tested[place] = shifted_p(drawn_less, difference)
            rows[place] = replace(rows[place], difference=difference,
                                  difference_low=interval.low,
                                  difference_high=interval.high)  # fmt: skip
    corrected = correct_p(list(tested.values()), design.correction)
    number = sum(not math.isnan(p) for p in tested.values())
    for (place, p), adjusted in zip(tested.items(), corrected, strict=True):
        rows[place] = replace(rows[place], p=p, p_corrected=adjusted, comparisons=number)
    return rows


def _williams(part: _Part, against: _Part) -> float:
    """Return p of Williams' test on judgements that both measures have; nan of few in a group."""
    _, mine, theirs = np.intersect1d(part.rows, against.rows, return_indices=True)
    one, other, ratings = part.scores[mine], against.scores[theirs], part.ratings[mine]
    if part.group != ALL and len(mine) < LEAST_OF_WILLIAMS:
        return math.nan
    pairs = ((one, ratings), (other, ratings), (one, other))
    first, second, between = (correlation(a, b, "pearson") for a, b in pairs)
    try:
        return williams_p(first, second, between, len(mine))
    except InputError as error:
        raise error.placed(f"{part.of.heading}, group {part.group!r}") from None


def _fingerprint(judgements: Judgements) -> str:
    """Return twelve hex digits of a hash of the candidates and their judgements."""
    second = judgements.first if judgements.second is None else judgements.second
    keys = [
        "\0".join((judgements.images[a], judgements.candidates[a], *judgements.references[a],
                   judgements.candidates[b], repr(value)))
        for a, b, value in zip(judgements.first.tolist(), second.tolist(),
                               judgements.values.tolist(), strict=True)
    ]  # fmt: skip
    return f"{int(hash_strings(keys).sum(dtype=np.uint64)):016x}"[:12]
