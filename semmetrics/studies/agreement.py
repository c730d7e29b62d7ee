"""Agreement of measures with human judgements, and tests between measures.

Conventions
-----------
Values of measures for which lower is better are negated, so that better agreement is
always a higher value. Judgements of candidates without a value of the measure are left
out of its agreement, and counted.

The only statistic of preferences is the accuracy: the share of pairs in which the
measure prefers the same side as people. A pair of equal values counts half. Pairs
without a preference are left out.

Judgements of one image are not independent. So a resample draws as many images as there
are, with replacement, each with all of its judgements. All measures and groups use the
same resamples. The bootstrap test is the test of `semmetrics.compare`. Williams' test
assumes independent judgements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value, hash_strings
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.judgements import Judgements
from semmetrics.errors import InputError
from semmetrics.options import AGGREGATIONS, AGREEMENT, CORRECTIONS, JUDGEMENT_TESTS
from semmetrics.reports import entry_of
from semmetrics.scoring.draws import Draws
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.studies import significance
from semmetrics.studies.correlations import correlation, percentile_interval, resample
from semmetrics.studies.significance import subtract
from semmetrics.studies.weighted_correlations import Correlated, WeightedTable

COLUMNS = (
    "heading",
    "measure",
    "group",
    "statistic",
    "protocol",
    "aggregate",
    "unit",
    "n",
    "candidates",
    "images",
    "lacking",
    "value",
    "low",
    "high",
    "difference",
    "difference_low",
    "difference_high",
    "p",
    "p_corrected",
    "significant",
    "level",
    "resamples",
    "seed",
    "baseline",
    "test",
    "correction",
    "comparisons",
    "signature",
)
"""The columns of a row of agreement."""

ALL = "all"
"""The group of all judgements."""


@dataclass(frozen=True)
class AgreementDesign:
    """How agreement is measured.

    Attributes
    ----------
    statistics : tuple of str
    aggregate : {"none", "mean"}
    test : {"bootstrap", "williams"}
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Applies to all measures, groups and statistics together.
    baseline : str
        The heading of the measure that all others are compared with.
    bootstrap : Bootstrap
    protocol : str
        Empty if no protocol is used.
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
        for statistic in self.statistics:
            check_choice("statistics", statistic, AGREEMENT)
        if self.test != "williams":
            return
        for statistic in self.statistics:
            if statistic != "pearson":
                raise InputError(
                    "bad-option",
                    name="test",
                    value=self.test,
                    wanted=f"'bootstrap' for {AGREEMENT[statistic]}",
                )


@dataclass(frozen=True, eq=False)
class Judged:
    """The values of a measure for candidates that people judge.

    Attributes
    ----------
    heading, measure, signature : str
    values : float64 array, shape (candidates,)
        Higher is better. nan for candidates without a value.
    names : tuple of str
        Other names of the measure.
    """

    heading: str
    measure: str
    signature: str
    values: Floats = field(repr=False)
    names: tuple[str, ...] = ()


@by_value()
@dataclass(frozen=True, eq=False)
class Agreement:
    """How well one measure agrees with people, by one statistic.

    Attributes
    ----------
    heading, measure : str
        The name of the measure in tables, and its full name.
    group : str
        The group of judgements; "all" for all judgements.
    statistic : {"pearson", "spearman", "kendall-b", "kendall-c", "accuracy"}
    design : AgreementDesign
    unit : {"rating", "pair"}
        What a judgement is.
    n, candidates, images : int
        Numbers of judgements, of distinct candidates judged, and of their images.
    lacking : int
        Judgements left out because a candidate has no value, or a pair no preference.
    value, low, high : float
        The statistic and its interval, nan if undefined.
    difference, difference_low, difference_high : float
        The value minus the value of the baseline. nan for the baseline itself.
    p, p_corrected : float
        The p-value of the difference. nan for the baseline, and if it cannot be tested.
    comparisons : int
        How many p-values were corrected together.
    scored : str
        The signature of the measure.
    data : str
        Hex digits of a hash of the judgements.
    names : tuple of str
        Other names of the measure.
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
    names: tuple[str, ...] = field(default=(), repr=False)

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 1 - level."""
        return self.p_corrected < self.design.bootstrap.alpha

    @property
    def signature(self) -> str:
        """The signature of the measure, the judgements and the statistic."""
        design = self.design
        bootstrap = design.bootstrap
        settings = {
            "judged": f"{design.protocol or 'own'}@{self.data}",
            "group": self.group,
            "stat": self.statistic,
            "agg": design.aggregate,
            f"{self.unit}s": self.n,
            "images": self.images,
            "ci": f"percentile,{bootstrap.level},{bootstrap.resamples},{bootstrap.seed}",
        }
        if not math.isnan(self.p):
            settings["test"] = design.test
            settings["correction"] = f"{design.correction},{self.comparisons}"
        parts = [self.scored]
        parts += [f"{name}:{value}" for name, value in settings.items()]
        return "|".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as in JSON, with None for undefined values."""
        design = self.design
        bootstrap = design.bootstrap
        significant = None
        if not math.isnan(self.p):
            significant = self.significant
        return entry_of(
            self,
            "semmetrics.agreement/1",
            COLUMNS,
            protocol=design.protocol or None,
            aggregate=design.aggregate,
            significant=significant,
            level=bootstrap.level,
            resamples=bootstrap.resamples,
            seed=bootstrap.seed,
            baseline=design.baseline,
            test=design.test,
            correction=design.correction,
        )


class _PreferenceTable:
    """How often a measure prefers the same side of a pair as people, by group."""

    def __init__(
        self, differences: Floats, preferences: Floats, groups: Ints, n_groups: int
    ) -> None:
        # Preferences are 1 or -1. A hit is 1 if the difference has the same sign, 0 if it has
        # the other sign, and 1/2 if it is 0.
        hits = (1 + np.sign(differences) * preferences) / 2
        self._hits = np.bincount(groups, hits, n_groups)
        self._pairs = np.bincount(groups, minlength=n_groups).astype(np.float64)

    def weighted(
        self, statistics: Sequence[str], counts: NDArray[Any]
    ) -> dict[str, Floats]:
        """Return the accuracy in each resample, nan if the resample has no pair."""
        with np.errstate(all="ignore"):
            accuracy: Floats = (counts @ self._hits) / (counts @ self._pairs)
        return dict.fromkeys(statistics, accuracy)


class _Images(NamedTuple):
    """The images that are resampled.

    Attributes
    ----------
    draws : Draws
    of_judgements : int array, shape (judgements,)
        The position of the image of each judgement in the resamples.
    n : int
    """

    draws: Draws
    of_judgements: Ints
    n: int


class _Counts(NamedTuple):
    """Numbers of an `Agreement` with the same names."""

    n: int
    candidates: int
    images: int
    lacking: int


@dataclass(frozen=True, eq=False)
class _Part:
    """One group of judgements that one measure has values for.

    Attributes
    ----------
    judged : Judged
    group : str
    counts : _Counts
    rows : int array, shape (n,)
        The judgements of this part.
    scores : float64 array, shape (n,)
        The value of the rated candidate, or the difference of the values of a pair.
    ratings : float64 array, shape (n,)
        The ratings or preferences.
    table : WeightedTable
    values : mapping from statistic to float
    replicates : mapping from statistic to float64 array, shape (resamples,)
    """

    judged: Judged
    group: str
    counts: _Counts
    rows: Ints
    scores: Floats
    ratings: Floats
    table: WeightedTable
    values: Mapping[str, float]
    replicates: Mapping[str, Floats] = field(default_factory=dict)


def measure_agreement(
    judgements: Judgements,
    measures: Sequence[Judged],
    design: AgreementDesign,
    progress: Progress = None,
) -> list[Agreement]:
    """Measure how well the values of measures agree with people.

    Parameters
    ----------
    judgements : Judgements
    measures : sequence of Judged
    design : AgreementDesign
    progress : callable, optional
        Called with the number of resamples done and their total.

    Returns
    -------
    list of Agreement
        Sorted by group, then by measure, then by the statistics of the design.

    Raises
    ------
    InputError
        If the statistic does not apply to these judgements, or there are too few
        judgements for Williams' test. A smaller group with too few has no p.
    """
    _check_judgements(judgements, design)
    image_numbers, image_names = judgements.image_numbers()
    draws = Draws.of_hashes(hash_strings(list(image_names)))
    images = _Images(draws, draws.unit_of_item[image_numbers], len(image_names))
    parts = []
    for group in (None, *judgements.group_names()):
        for judged in measures:
            parts.append(_tabulate_part(judgements, judged, group, images, design))
    parts = _resample_parts(parts, design, draws, progress)

    baselines = {}
    for part in parts:
        if part.judged.heading == design.baseline:
            baselines[part.group] = part
    data = _fingerprint(judgements)
    rows = []
    for part in parts:
        for statistic in part.values:
            row = _summarize_part(part, statistic, design, judgements.noun, data)
            baseline = baselines[part.group]
            if part is not baseline:
                row = _compare_with_baseline(row, part, baseline)
            rows.append(row)
    return _correct_p_values(rows, design)


def _check_judgements(judgements: Judgements, design: AgreementDesign) -> None:
    """Check the names of groups, and that the statistics apply to the judgements."""
    if ALL in judgements.group_names():
        raise InputError("reserved-group", judgements.source, name=ALL)
    if judgements.second is None:
        return
    for statistic in design.statistics:
        if statistic != "accuracy":
            raise InputError(
                "bad-option",
                judgements.source,
                name="statistics",
                value=statistic,
                wanted="'accuracy' for preferences",
            )


def _tabulate_part(
    judgements: Judgements,
    judged: Judged,
    group: str | None,
    images: _Images,
    design: AgreementDesign,
) -> _Part:
    """Tabulate the judgements of a group that a measure has values for.

    A group of None selects all judgements.
    """
    in_group = judgements.of_group(group)
    is_comparable = in_group
    scores = judged.values[judgements.first]
    if judgements.second is not None:
        scores = scores - judged.values[judgements.second]
        is_comparable = in_group & (judgements.values != 0)
    rows = np.flatnonzero(is_comparable & ~np.isnan(scores))
    scores = scores[rows]
    ratings = judgements.values[rows]
    image_of_rows = images.of_judgements[rows]

    candidates = judgements.first[rows]
    if judgements.second is not None:
        candidates = np.concatenate([candidates, judgements.second[rows]])
    counts = _Counts(
        n=len(rows),
        candidates=judgements.count_candidates(candidates),
        images=len(np.unique(image_of_rows)),
        lacking=int(in_group.sum()) - len(rows),
    )
    if judgements.second is None:
        table: WeightedTable = Correlated.of(scores, ratings, image_of_rows, images.n)
    else:
        table = _PreferenceTable(scores, ratings, image_of_rows, images.n)
    each_image_once = np.ones((1, images.n))
    weighted = table.weighted(design.statistics, each_image_once)
    values = {name: float(value) for name, (value,) in weighted.items()}
    return _Part(
        judged,
        group or ALL,
        counts,
        rows,
        scores,
        ratings,
        table,
        values,
    )


def _resample_parts(
    parts: Sequence[_Part], design: AgreementDesign, draws: Draws, progress: Progress
) -> list[_Part]:
    """Return the parts with their replicates. All parts use the same resamples."""
    tables = [part.table for part in parts]
    replicates = resample(tables, design.statistics, design.bootstrap, draws, progress)
    return [
        replace(part, replicates=replicates_of_part)
        for part, replicates_of_part in zip(parts, replicates, strict=True)
    ]


def _summarize_part(
    part: _Part, statistic: str, design: AgreementDesign, unit: str, data: str
) -> Agreement:
    """Return the agreement of a part by a statistic, without a comparison."""
    value = part.values[statistic]
    interval = percentile_interval(
        part.replicates[statistic],
        value,
        design.bootstrap,
        part.counts.images,
        "image",
    )
    return Agreement(
        heading=part.judged.heading,
        measure=part.judged.measure,
        group=part.group,
        statistic=statistic,
        design=design,
        unit=unit,
        n=part.counts.n,
        candidates=part.counts.candidates,
        images=part.counts.images,
        lacking=part.counts.lacking,
        value=value,
        low=interval.low,
        high=interval.high,
        scored=part.judged.signature,
        data=data,
        names=part.judged.names,
    )


def _compare_with_baseline(row: Agreement, part: _Part, baseline: _Part) -> Agreement:
    """Add the difference from the baseline, its interval and its p to an agreement."""
    statistic = row.statistic
    difference = float(subtract(row.value, baseline.values[statistic]))
    replicates = subtract(part.replicates[statistic], baseline.replicates[statistic])
    n_images = min(part.counts.images, baseline.counts.images)
    interval = percentile_interval(
        replicates, difference, row.design.bootstrap, n_images, "image"
    )
    if n_images <= 1:  # All resamples are equal.
        p = math.nan
    elif row.design.test == "williams":
        p = _williams_p(part, baseline)
    else:
        p = significance.shifted_p(replicates, difference)
    return replace(
        row,
        difference=difference,
        difference_low=interval.low,
        difference_high=interval.high,
        p=p,
    )


def _williams_p(part: _Part, baseline: _Part) -> float:
    """Return p of Williams' test on the judgements that both measures have values for.

    It is nan for a group with too few judgements. Too few judgements in total raise an
    error.
    """
    _, in_part, in_baseline = np.intersect1d(
        part.rows, baseline.rows, return_indices=True
    )
    n_shared = len(in_part)
    if part.group != ALL and n_shared < significance.LEAST_OF_WILLIAMS:
        return math.nan
    scores = part.scores[in_part]
    baseline_scores = baseline.scores[in_baseline]
    ratings = part.ratings[in_part]
    own_r = correlation(scores, ratings, "pearson")
    baseline_r = correlation(baseline_scores, ratings, "pearson")
    r_between = correlation(scores, baseline_scores, "pearson")
    try:
        return significance.williams_p(own_r, baseline_r, r_between, n_shared)
    except InputError as error:
        where = f"{part.judged.heading}, group {part.group!r}"
        raise error.placed(where) from None


def _correct_p_values(
    rows: Sequence[Agreement], design: AgreementDesign
) -> list[Agreement]:
    """Return the agreements with corrected p-values, except for the baseline."""
    p_values = [row.p for row in rows]
    corrected_p_values = significance.correct_p(p_values, design.correction)
    n_comparisons = sum(not math.isnan(p) for p in p_values)
    corrected_rows = []
    for row, p_corrected in zip(rows, corrected_p_values, strict=True):
        if row.heading == design.baseline:
            corrected_rows.append(row)
            continue
        corrected_row = replace(row, p_corrected=p_corrected, comparisons=n_comparisons)
        corrected_rows.append(corrected_row)
    return corrected_rows


def _fingerprint(judgements: Judgements) -> str:
    """Return 12 hex digits of a hash of the candidates and their judgements.

    The order of the judgements does not matter.
    """
    first = judgements.first.tolist()
    second = first
    if judgements.second is not None:
        second = judgements.second.tolist()
    keys = []
    for a, b, value in zip(first, second, judgements.values.tolist(), strict=True):
        fields = (
            judgements.images[a],
            judgements.candidates[a],
            *judgements.references[a],
            judgements.candidates[b],
            repr(value),
        )
        keys.append("\0".join(fields))
    total = hash_strings(keys).sum(dtype=np.uint64)
    return f"{int(total):016x}"[:12]
