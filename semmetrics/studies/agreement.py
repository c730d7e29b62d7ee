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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value, hash_strings
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.form import DEFAULTS, takes_options
from semmetrics.data.judgement_files import read_judgements
from semmetrics.data.judgements import TEXTS, Judgements, name_all, name_of
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError, UnknownKeyError
from semmetrics.kinds.common import counted
from semmetrics.messages import did_you_mean, listing, pluralize, visible
from semmetrics.options import (
    AGGREGATIONS,
    AGREEMENT,
    CORRECTIONS,
    JUDGEMENT_TESTS,
    split_names,
)
from semmetrics.reports import ScaledResult, Table, entry_of, format_p
from semmetrics.scoring import evaluation as opening
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.intervals import Bootstrap
from semmetrics.scoring.notes import INTERVAL_OPTIONS
from semmetrics.scoring.protocols import (
    AgreementProtocol,
    NotComputed,
    find_agreement_protocol,
)
from semmetrics.scoring.resampling import Draws
from semmetrics.scoring.score import score_evaluation, system_name
from semmetrics.studies import significance
from semmetrics.studies.comparison_text import report_correction, report_least_p
from semmetrics.studies.correlations import (
    Correlated,
    correlation,
    percentiles,
    resample,
)
from semmetrics.studies.differences import find_headings, item_values
from semmetrics.studies.significance import subtract

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from semmetrics.options import Options

_MANY = 8  # agreements that a sentence names
_AGGREGATED = {("pair", "mean"): "of each pair the side that most prefer"}
_NO_PROTOCOL = AgreementProtocol(
    name="", title="", source="", statistics=(), cite=(), files=""
)
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
    names : tuple of str
        What else it may be called.
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
    names: tuple[str, ...] = field(default=(), repr=False)

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
            parts |= {
                "test": design.test,
                "correction": f"{design.correction},{self.comparisons}",
            }
        return "|".join(
            [self.scored, *(f"{name}:{value}" for name, value in parts.items())]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the agreement as JSON has it: null for what is undefined."""
        design, made = self.design, self.design.bootstrap
        return entry_of(
            self,
            "semmetrics.agreement/1",
            COLUMNS,
            protocol=design.protocol or None,
            aggregate=design.aggregate,
            significant=None if math.isnan(self.p) else self.significant,
            level=made.level,
            resamples=made.resamples,
            seed=made.seed,
            baseline=design.baseline,
            test=design.test,
            correction=design.correction,
        )


class _Preferred:
    """Pairs of which people and a measure prefer a side: their agreement under any weights."""

    def __init__(self, right: Floats, groups: Ints, n_groups: int) -> None:
        self._right = np.bincount(groups, right, n_groups)
        self._all = np.bincount(groups, minlength=n_groups).astype(np.float64)

    def weighted(
        self, statistics: Sequence[str], counts: NDArray[Any]
    ) -> dict[str, Floats]:
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
    values: Mapping[str, float]
    scores: Floats
    ratings: Floats
    rows: Ints
    counts: dict[str, int]
    drawn: Mapping[str, Floats] = field(default_factory=dict)


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
        raise InputError(
            "bad-option",
            judgements.source,
            name="statistics",
            value=others[0],
            wanted="'accuracy' for preferences",
        )
    images, names = judgements.image_numbers()
    draws = Draws.of_hashes(hash_strings(list(names)))
    parts = [
        _part(judgements, one, group, draws.place[images], len(names), design)
        for group in (None, *judgements.group_names())
        for one in measures
    ]
    tables = [part.table for part in parts]
    resampled = resample(tables, design.statistics, design.bootstrap, draws, progress)
    parts = [
        replace(part, drawn=drawn) for part, drawn in zip(parts, resampled, strict=True)
    ]
    base = {part.group: part for part in parts if part.of.heading == design.baseline}
    data = _fingerprint(judgements)
    rows: list[Agreement] = []
    for part in parts:
        for name, value in part.values.items():
            groups = part.counts["images"]
            interval = percentiles(
                part.drawn[name], value, design.bootstrap, groups, "image"
            )
            row = Agreement(
                part.of.heading,
                part.of.measure,
                part.group,
                name,
                design,
                judgements.noun,
                **part.counts,
                value=value,
                low=interval.low,
                high=interval.high,
                scored=part.of.signature,
                data=data,
                names=part.of.names,
            )
            other = base[part.group]
            rows.append(row if part is other else _compare(row, part, other))
    corrected = significance.correct_p([row.p for row in rows], design.correction)
    number = sum(not math.isnan(row.p) for row in rows)
    return [
        row
        if row.heading == design.baseline
        else replace(row, p_corrected=p, comparisons=number)
        for row, p in zip(rows, corrected, strict=True)
    ]


def _part(
    judgements: Judgements,
    one: Judged,
    group: str | None,
    images: Ints,
    number: int,
    design: AgreementDesign,
) -> _Part:
    """Tabulate the judgements of a group that a measure has values for, and measure all of them."""
    chosen = judgements.of_group(group)
    first, second = judgements.first, judgements.second
    scores, known, sides = one.values[first], chosen.copy(), [first]
    if second is not None:
        scores, known = scores - one.values[second], known & (judgements.values != 0)
        sides = [first, second]
    rows = np.flatnonzero(known & ~np.isnan(scores))
    scores, ratings, of = scores[rows], judgements.values[rows], images[rows]
    counts = {
        "n": len(rows),
        "candidates": judgements.count_candidates(
            np.concatenate([side[rows] for side in sides])
        ),
        "images": len(np.unique(of)),
        "lacking": int(chosen.sum()) - len(rows),
    }
    table: Any = _Preferred((1 + np.sign(scores) * ratings) / 2, of, number)
    if second is None:
        table = Correlated.of(scores, ratings, of, number)
    whole = table.weighted(design.statistics, np.ones((1, number)))
    values = {name: float(value) for name, (value,) in whole.items()}
    return _Part(one, group or ALL, table, values, scores, ratings, rows, counts)


def _compare(row: Agreement, part: _Part, other: _Part) -> Agreement:
    """Compare an agreement with that of the baseline, and test the difference."""
    name, made = row.statistic, row.design.bootstrap
    difference = float(subtract(row.value, other.values[name]))
    less = subtract(part.drawn[name], other.drawn[name])
    images = min(part.counts["images"], other.counts["images"])
    interval = percentiles(less, difference, made, images, "image")
    _, mine, shared = np.intersect1d(part.rows, other.rows, return_indices=True)
    p, few = math.nan, part.group != ALL and len(mine) < significance.LEAST_OF_WILLIAMS
    # otherwise every resample is the same
    if images > 1 and row.design.test != "williams":
        p = significance.shifted_p(less, difference)
    elif images > 1 and not few:  # on the judgements that both measures have
        one, against, ratings = (
            part.scores[mine],
            other.scores[shared],
            part.ratings[mine],
        )
        pairs = ((one, ratings), (against, ratings), (one, against))
        first, second, between = (correlation(a, b, "pearson") for a, b in pairs)
        try:
            p = significance.williams_p(first, second, between, len(mine))
        except InputError as error:
            raise error.placed(f"{part.of.heading}, group {part.group!r}") from None
    return replace(
        row,
        difference=difference,
        difference_low=interval.low,
        difference_high=interval.high,
        p=p,
    )


def _fingerprint(judgements: Judgements) -> str:
    """Return twelve hex digits of a hash of the candidates and their judgements."""
    second = judgements.first if judgements.second is None else judgements.second
    columns = (some.tolist() for some in (judgements.first, second, judgements.values))
    keys = [
        "\0".join(
            (
                judgements.images[a],
                judgements.candidates[a],
                *judgements.references[a],
                judgements.candidates[b],
                repr(value),
            )
        )
        for a, b, value in zip(*columns, strict=True)
    ]
    return f"{int(hash_strings(keys).sum(dtype=np.uint64)):016x}"[:12]


@takes_options()
def meta(  # type: ignore[misc]  # its protocols are not those of a score
    ratings: Any,
    preds: Any = None,
    gts: Any = None,
    *,
    systems: Mapping[str, Any] | None = None,
    protocol: str | None = None,
    statistics: str | Sequence[str] | None = None,
    aggregate: str | None = None,
    baseline: str | None = None,
    test: str = "bootstrap",
    correction: str = "holm",
    columns: Mapping[str, str] | None = None,
    group_by: str | None = None,
    ids: str | None = None,
    **options: Unpack[Options],
) -> AgreementTable:
    r"""Measure how well the values that measures give to items agree with what people say.

    Parameters
    ----------
    ratings : path, frame, mapping, or sequence of mappings
        A public file, such as ``flickr8k.json``, or a table of ratings, ``{"id": ..., "rating":
        ...}``, or of preferences, ``{"a": ..., "b": ..., "preferred": "a"}``; see
        ``semmetrics.data.judgements``. Captions may stand in it with their references.
    preds, gts : path, mapping, sequence, Series, matrix, Lists or Matrix, optional
        The two sides of a score, where ``ratings`` has only ids.
    systems : mapping from name to predictions, optional
        The predictions of several systems, in place of ``preds``. The column "system" of
        ``ratings`` names the system of each rating.
    protocol : {"flickr8k-expert", "flickr8k-cf", "composite", "pascal-50s", "cxc-sits"}, optional
        How the literature measures agreement with that set of judgements.
    statistics : str or sequence of str, optional
        "kendall-c", "kendall-b", "pearson", "spearman" and "accuracy" (of pairs), or "all"; several
        in one text with commas. The default is the protocol's, or all.
    aggregate : {"none", "mean"}, optional
        Whether several judgements of the same candidate are averaged. The default is the
        protocol's, or "none".
    baseline : str, optional
        The measure that all others are compared with; the first where it is left out.
    test : {"bootstrap", "williams"}
        Resamples of images, the differences moved to mean 0; or Williams' test, which is for
        Pearson's r and takes judgements as independent.
    correction : {"holm", "bonferroni", "benjamini-hochberg", "none"}
        Of p for the number of differences.
    columns : mapping from role to column, optional
        Names of columns of a table, such as ``{"rating": "score"}``.
    group_by : str, optional
        A column; each of its values has rows of its own, behind those of all judgements.
    ids : str, optional
        A regular expression for ids in ``ratings``: what its group finds is the id.
    **options

    Returns
    -------
    AgreementTable
        A row for each measure, group and statistic, with an interval from resamples of images.

    Raises
    ------
    InputError
        If the input or an option is wrong, a measure has no values of items, an id is not among
        the predictions, or the statistic or the test is not for such judgements.

    References
    ----------
    Hessel et al. 2021, CLIPScore, appendix A. Anderson et al. 2016. Vedantam et al. 2015. Parekh et
    al. 2021. Williams 1959. Graham & Baldwin 2014, Testing for significance of increased
    correlation with human judgment, EMNLP.

    Examples
    --------
    >>> images = {
    ...     "a": {"ground_truth": ["a dog runs"], "human_judgement": [
    ...         {"caption": "the dog runs", "rating": 4}, {"caption": "a cat", "rating": 1}]},
    ...     "b": {"ground_truth": ["two cats sleep"], "human_judgement": [
    ...         {"caption": "cats sleep", "rating": 3}, {"caption": "two cars", "rating": 2}]},
    ... }
    >>> found = meta(images, measures="BLEU-1 ROUGE-L", protocol="flickr8k-expert")
    >>> [(one.heading, one.statistic, round(one.value, 3), one.n) for one in found]
    [('BLEU-1', 'kendall-c', 0.938, 4), ('ROUGE-L', 'kendall-c', 0.562, 4)]
    """
    pinned = _NO_PROTOCOL if protocol is None else find_agreement_protocol(protocol)
    given = {name: value for name, value in options.items() if value is not None}
    bootstrap, read = Bootstrap.of(given), given.get("read")
    notes: list[Fact] = []
    if systems is not None:
        if preds is not None:
            raise InputError("conflicting-options", names="preds= and systems=")
        preds, notes = _pool(systems, gts, given)
    given = {
        name: value for name, value in given.items() if name not in INTERVAL_OPTIONS
    }
    judgements = read_judgements(
        ratings,
        columns={**pinned.columns, **(columns or {})} or None,
        group_by=group_by or pinned.group_by,
        ids=ids or pinned.ids,
        draw_references=pinned.draw_references,
        seed=bootstrap.seed,
        # columns of predictions are not those of ratings
        options=DEFAULTS if read is None else replace(read.beside(), id_column=None),
        several=systems is not None,
    )
    if (
        protocol is not None
        and (judgements.second is not None) is not pinned.preferences
    ):
        raise InputError(
            "bad-option",
            judgements.source,
            name="protocol",
            value=protocol,
            wanted="a protocol of such judgements",
        )
    judgements = judgements.without_own_references(pinned.own_references)
    chosen = _statistics(statistics, pinned, judgements, test)
    how = aggregate or pinned.aggregate
    design = AgreementDesign(chosen, how, test, correction, "", bootstrap, pinned.name)
    scored = judgements.averaged() if how == "mean" else judgements
    name = system_name(ratings if judgements.texts else preds)
    if systems is not None:
        name = ", ".join(systems)
    own = pinned.own_references
    scored, prepared, values = _score(
        scored, preds, gts, {**given, "keep_rows": True}, name, own
    )
    heading = values[0].heading
    if baseline is not None:
        meant = find_headings(baseline, values)
        if len(meant) != 1:
            there = [one.heading for one in values]
            remedy = did_you_mean(baseline, there, f"choose one of {listing(there)}")
            raise InputError(
                "unknown-name", what="baseline", value=baseline, remedy=remedy
            )
        (heading,) = meant
    design = replace(design, baseline=heading)
    rows = measure_agreement(scored, values, design, given.get("progress"))
    understood, absent = _understood(judgements, prepared), prepared.chosen.not_computed
    table = AgreementTable(rows, [], understood, absent)
    facts = [
        one
        for one in prepared.notes()  # judged images have several candidates
        if not scored.texts or one.code != "several-candidates"
    ]
    return replace(table, facts=[*notes, *facts, *_facts(scored, table, pinned)])


def _statistics(
    asked: str | Sequence[str] | None,
    pinned: AgreementProtocol,
    judgements: Judgements,
    test: str,
) -> tuple[str, ...]:
    if asked is not None and asked != "all":
        names = (
            split_names(asked.replace(" ", ",")) if isinstance(asked, str) else asked
        )
        return tuple(dict.fromkeys(names or [str(asked)]))
    if test == "williams":
        return ("pearson",)
    if pinned.statistics and asked is None:
        return pinned.statistics
    return tuple(AGREEMENT) if judgements.second is None else ("accuracy",)


def _check_sides(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any]
) -> None:
    """Raise an error if predictions do not go with the judgements."""
    if judgements.texts and (preds is not None or gts is not None):
        raise InputError(
            "not-applicable",
            judgements.source,
            name="preds",
            what="ratings with captions and references",
        )
    if judgements.texts and given.get("task", TEXTS) != TEXTS:
        raise InputError(
            "bad-option",
            judgements.source,
            name="task",
            value=given["task"],
            wanted=repr(TEXTS),
        )
    if not judgements.texts and (preds is None or gts is None):
        raise InputError(
            "nothing-given",
            judgements.source,
            what="texts in the table",
            remedy="give predictions and ground truth for its ids",
        )


def _score(
    judgements: Judgements,
    preds: Any,
    gts: Any,
    given: Mapping[str, Any],
    name: str,
    own: str,
) -> tuple[Judgements, Evaluation, list[Judged]]:
    """Score the captions of judgements, or the predictions that judgements name by id."""
    _check_sides(judgements, preds, gts, given)
    read, wanted = None, judgements.candidates
    each = zip(judgements.candidates, judgements.references, strict=True)
    if not judgements.texts and any(several != (one,) for one, several in each):
        kind, read, (preds, gts) = _pair(judgements, preds, gts, given, name)
        wanted, given = list(preds.ids), {**given, "task": kind}
        # an image counts once, however many of its candidates are judged
        if kind == TEXTS:
            judgements = _as_texts(judgements, preds, gts).without_own_references(own)
    if judgements.texts:
        preds, gts, places = judgements.caption_sides()
        given = {**given, "task": TEXTS}
    prepared = opening.join_systems({name: preds}, gts, given)
    found, lacking = [], []
    for score in score_evaluation(prepared):
        values = item_values(score)
        if values is None:
            lacking.append(score.heading)
            continue
        if not judgements.texts:
            places = _find_rows(wanted, score.ids, judgements.source, "the items")
        # the higher, the better
        sign = 1.0 if score.measure.higher_is_better else -1.0
        of = score.heading, str(score.measure), score.signature
        found.append(Judged(*of, sign * values[places].astype(np.float64), score.names))
    if lacking and (not found or given.get("measures") is not None):
        raise InputError("no-item-values", "measures", measure=lacking[0])
    return judgements, replace(prepared, inputs=read or prepared.inputs), found


def _find_rows(
    wanted: Sequence[str], ids: Iterable[Any], source: str, where: str
) -> Ints:
    """Return the rows of the ids that judgements name."""
    rows = {str(one): row for row, one in enumerate(ids)}
    lacking = list(dict.fromkeys(one for one in wanted if one not in rows))
    if lacking:
        raise InputError(
            "unmatched-ids",
            source,
            n=len(lacking),
            lacking=lacking,
            role=where,
            known=rows,
        )
    return np.array([rows[one] for one in wanted], np.int64)


def _pair(
    judgements: Judgements, preds: Any, gts: Any, given: Mapping[str, Any], name: str
) -> tuple[str, list[Lists], list[Lists]]:
    """Bring each judged candidate together with its reference, as an item of its own.

    Returns
    -------
    kind : str
    read, paired : list of Lists
        Both sides as they were read, and as they are scored.
    """
    kind, _, systems, gts = opening.choose_kind({name: preds}, gts, given)
    setup = opening.open_evaluation(kind, given)
    read, paired = [], []
    ids = name_all(
        [
            " | ".join((one, *several))
            for one, several in zip(
                judgements.candidates, judgements.references, strict=True
            )
        ]
    )
    wanted = [judgements.candidates, [several[0] for several in judgements.references]]
    for names, side in zip(
        wanted, (setup.read(systems[name], name), setup.read_truth(gts)), strict=True
    ):
        if not isinstance(side, Lists):
            raise InputError(
                "wrong-format",
                side.source,
                what="candidates",
                format="a matrix",
                wanted="captions or labels by id",
            )
        chosen = _find_rows(
            names, side.ids, judgements.source, f"those of {side.source}"
        )
        read.append(side)
        paired.append(
            replace(side, ids=ids, side=side.side.take(chosen), where=ids.__getitem__)
        )
    return kind, read, paired


def _pool(
    systems: Mapping[str, Any], gts: Any, given: Mapping[str, Any]
) -> tuple[dict[str, Any], list[Fact]]:
    """Return the predictions of several systems as those of one, by system and id, with notes."""
    kind, _, systems, _ = opening.choose_kind(systems, gts, given)
    setup = opening.open_evaluation(
        kind, {name: given[name] for name in given if name not in INTERVAL_OPTIONS}
    )
    pooled: dict[str, Any] = {}
    notes: list[Fact] = []
    for system, data in systems.items():
        side = setup.read(data, system)
        if not isinstance(side, Lists):
            raise InputError(
                "wrong-format",
                side.source,
                what="candidates",
                format="a matrix",
                wanted="captions or labels by id",
            )
        for id_, entries in zip(side.ids, side.to_list(), strict=True):
            pooled[name_of(system, str(id_))] = entries
        notes += side.notes
    return pooled, notes


def _as_texts(judgements: Judgements, preds: Lists, gts: Lists) -> Judgements:
    """Put captions in the place of their ids.

    Raises
    ------
    InputError
        If the id of a candidate has not one caption.
    """
    mine, theirs = (
        [tuple(map(str, some)) for some in one.to_list()] for one in (preds, gts)
    )
    for one, several in zip(judgements.candidates, mine, strict=True):
        if len(several) != 1:
            found = pluralize(len(several), "caption")
            raise InputError(
                "wrong-count", f"{preds.source}, {one}", found=found, wanted="one id"
            )
    texts = [text for (text,) in mine]
    return replace(judgements, candidates=texts, references=theirs, texts=True)


def _understood(judgements: Judgements, prepared: Evaluation) -> list[str]:
    """Say how the judgements and, where they are apart, both sides were read."""
    counts = (
        (len(judgements), judgements.noun),
        (judgements.count_candidates(), "caption" if judgements.texts else "id"),
        (len(set(judgements.images)), "image"),
    )
    line = f"{judgements.source}: {', '.join(pluralize(*count) for count in counts)}"
    return [line, *([] if judgements.texts else prepared.understood())]


def _facts(
    judgements: Judgements, table: AgreementTable, pinned: AgreementProtocol
) -> list[Fact]:
    """Note what is odd about the judgements and the values."""
    source, count = judgements.source, len(judgements)
    notes: list[Fact] = [*judgements.notes]
    if pinned.expected not in (None, count):
        known = {
            "unit": judgements.noun,
            "protocol": pinned.name,
            "expected": pinned.expected,
        }
        notes.append(Fact("other-size", count, where=source, values=known))
    if judgements.second is None and len(set(judgements.values.tolist())) == 1:
        notes.append(Fact("constant-ratings", where=source))
    for one in table:
        if one.statistic != table[0].statistic:
            continue
        of = one.heading if len(table.groups) == 1 else f"{one.heading}, {one.group}"
        notes += counted("unjudged", one.lacking, where=of, unit=one.unit)
        if one.value != one.value and judgements.second is None:
            notes.append(Fact("constant-side", where=of))
        # too small a group
        untested = math.isnan(one.p) and not math.isnan(one.difference)
        if untested and one.design.test == "williams" and one.images > 1:
            least = significance.LEAST_OF_WILLIAMS
            notes += counted("untested-group", least, where=of, unit=one.unit)
        if one.images == 1:
            group = "" if len(table.groups) == 1 else one.group
            notes.append(Fact("one-image", where=group, values={"unit": one.unit}))
    first = table[0]
    if first.design.test == "williams" and first.images < first.n:
        known = {"unit": first.unit, "images": first.images}
        notes.append(Fact("dependent-judgements", first.n, values=known))
    return [note for at, note in enumerate(notes) if note not in notes[:at]]


@by_value()
@dataclass(frozen=True, eq=False)
class AgreementTable(ScaledResult, Table[Agreement]):
    """How well measures agree with people: a sequence of Agreement, with notes.

    Attributes
    ----------
    agreements : list of Agreement
        Group by group, measure by measure.
    facts : list of Fact
        What is odd; ``notes`` has them as texts.
    understood : list of str
        How each input was read.
    not_computed : list of NotComputed
        What the default measures lack here, with the reason.

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

    _columns, _of = COLUMNS, "agreements"
    agreements: list[Agreement]
    facts: list[Fact] = field(default_factory=list)
    understood: list[str] = field(default_factory=list, repr=False)
    not_computed: list[NotComputed] = field(default_factory=list, repr=False)

    def _find(self, key: Any) -> Agreement:
        """Return the agreement of a measure, or of (measure, statistic[, group]).

        By default the statistic is the first and the group is all judgements.
        """
        parts = key if isinstance(key, tuple) else (key,)
        if 1 <= len(parts) <= 3 and all(isinstance(part, str) for part in parts):
            name, statistic, group = [*parts, None, None][:3]
            meant = find_headings(name, self)
            for one in self:
                if (
                    one.heading in meant
                    and statistic in (None, one.statistic)
                    and one.group == (group or ALL)
                ):
                    return one
        there = dict.fromkeys(f"{one.heading}, {one.statistic}" for one in self)
        raise UnknownKeyError(
            "unknown-name",
            what="agreement",
            value=key,
            remedy=f"choose among {listing(there)}",
        )

    @property
    def headings(self) -> list[str]:
        """The measures, in the order given."""
        return list(dict.fromkeys(one.heading for one in self.agreements))

    @property
    def groups(self) -> list[str]:
        """The groups of judgements, all of them first."""
        return list(dict.fromkeys(one.group for one in self.agreements))

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        if not self.agreements:
            return []
        design, tested = self[0].design, any(not math.isnan(one.p) for one in self)
        several, by = len(self.groups) > 1, CORRECTIONS[design.correction].split(" ")[0]
        level = f" [{design.bootstrap.level:.4g}]" if self._has_intervals() else ""
        head = [
            "measure",
            *(["group"] if several else []),
            "statistic",
            "n",
            f"value{level}",
        ]
        if tested:
            head += [
                f"less {design.baseline}{level}",
                "p",
                *([f"p {by}"] if by else []),
            ]
        rows = [head]
        for one in self:
            row = [
                one.heading,
                *([one.group] if several else []),
                one.statistic,
                f"{one.n:,}",
                _interval(one.value, one.low, one.high, f".{digits}f", scale),
            ]
            if tested:
                ends = one.difference, one.difference_low, one.difference_high
                row += [
                    _interval(*ends, f"+.{digits}f", scale),
                    format_p(one.p),
                    *([format_p(one.p_corrected)] if by else []),
                ]
            rows.append(row)
        return [rows]

    def _has_intervals(self) -> bool:
        return any(not math.isnan(one.low) for one in self)

    def sentences(self) -> list[str]:
        """Say what was measured of how many judgements, how, and which differences hold."""
        if not self.agreements:
            return ["nothing was compared"]
        first = self.agreements[0]
        design, made = first.design, first.design.bootstrap
        names = [AGREEMENT[name] for name in design.statistics]
        candidates = pluralize(first.candidates, "distinct candidate")
        of = f"{pluralize(first.n, first.unit)} of {candidates} of "
        lines = [
            f"{', '.join(names)}: {of}{pluralize(first.images, 'image')}, "
            f"{_AGGREGATED.get((first.unit, design.aggregate), AGGREGATIONS[design.aggregate])}"
            + (f"; protocol {design.protocol}" if design.protocol else "")
        ]
        if self._has_intervals():
            lines.append(
                f"intervals: percentiles of {made.resamples:,} resamples of images, each "
                f"with all of its {first.unit}s, seed {made.seed}"
            )
        tested = [one for one in self if not math.isnan(one.p)]
        if tested:
            number, against = tested[0].comparisons, design.baseline
            corrected = report_correction(design.correction, number)
            lines.append(
                f"{JUDGEMENT_TESTS[design.test]} of the difference from {against}, "
                f"two-sided; {corrected}"
            )
            for sign, word in ((1, "better"), (-1, "worse")):
                some = [
                    one
                    for one in tested
                    if one.significant and one.difference * sign > 0
                ]
                if some:
                    lines.append(
                        f"agrees {word} than {against}: {self._name_all(some)}"
                    )
            rest = [one for one in tested if not one.significant]
            if rest:
                lines.append(
                    f"no difference from {against} holds: {self._name_all(rest)}"
                )
            least = (1 if design.correction == "none" else number) / (
                made.resamples + 1
            )
            if design.test == "bootstrap":
                lines += report_least_p(least, made.alpha, "resamples")
        return list(map(visible, lines))

    _sentences = sentences

    def _name_all(self, some: Sequence[Agreement]) -> str:
        """Name measures, with the statistic and the group where there are several."""
        names = []
        for one in some[:_MANY]:
            more = [one.statistic] if len(one.design.statistics) > 1 else []
            more += [one.group] if len(self.groups) > 1 else []
            names.append(f"{one.heading} ({', '.join(more)})" if more else one.heading)
        more = [f"{len(some) - _MANY} more"] if len(some) > _MANY else []
        return ", ".join([*names, *more])

    def __repr__(self) -> str:
        of = self.agreements[0] if self.agreements else None
        n = "" if of is None else f", {pluralize(of.n, of.unit)}"
        return f"AgreementTable({pluralize(len(self.headings), 'measure')}{n})"


def _interval(value: float, low: float, high: float, form: str, scale: float) -> str:
    """Write a value with its interval; nothing where it is undefined."""
    if math.isnan(value):
        return ""
    text = format(value * scale, form)
    if math.isnan(low):
        return text
    return f"{text} [{low * scale:{form}}, {high * scale:{form}}]"
