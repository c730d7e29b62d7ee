"""A value, and everything a reader may ask of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import by_value, mix
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.lists import Ids
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import LabelAxis, Task
from semmetrics.errors import Fact, InputError
from semmetrics.messages import fold, listing, plural, pluralize
from semmetrics.metrics.definition import Frame, Measure, Sums
from semmetrics.metrics.families import terms_of
from semmetrics.metrics.parsing import parse_in_any_case
from semmetrics.metrics.registry import is_own, names_like
from semmetrics.reports import entry_of
from semmetrics.scoring.evaluate import Progress, evaluate
from semmetrics.scoring.intervals import Bootstrap, Interval, Replicates, default_method
from semmetrics.scoring.signature import signature
from semmetrics.scoring.statistics import Statistics, frame_of, merged_labels

Names: TypeAlias = "tuple[str, ...]"
N = TypeVar("N", bound=Names)
SCHEMA = "semmetrics.score/1"
_ENTRY = (
    "system",
    "measure",
    "heading",
    "value",
    "ci",
    "unit",
    "n",
    "undefined",
    "left_out",
    "best_threshold",
    "signature",
    "rows",
)
# true items of a label, and labels with fewer, that can be trusted
_FEW, _SHARE = (
    5,
    0.5,
)
_ROUNDING = 1e-9  # by which a value may miss its bounds
BEST_FIT = "fit:best-"
"""How the note of a score begins whose threshold was the best one."""


class LeftOut(NamedTuple):
    """Labels that count nowhere, and how often they occur.

    Attributes
    ----------
    labels : int
        Those that occur on either side.
    predictions, references : int
        Occurrences, before a cutoff or a decoding rule.
    """

    labels: int
    predictions: int
    references: int

    @staticmethod
    def of(axis: LabelAxis | Statistics, chosen: Bools) -> LeftOut:
        """Count the labels chosen."""
        predictions, references = axis.n_prediction[chosen], axis.n_reference[chosen]
        some = int((predictions + references > 0).sum())
        return LeftOut(some, int(predictions.sum()), int(references.sum()))

    @staticmethod
    def ignored(axis: LabelAxis | Statistics) -> LeftOut:
        """Count the labels that are ignored."""
        predictions, references = zip((0, 0), *axis.ignored.values(), strict=True)
        return LeftOut(len(axis.ignored), sum(predictions), sum(references))


@by_value("signature")
@dataclass(frozen=True, eq=False)
class Score:
    """One measure of one system.

    Scores are equal where they say the same: the value, its interval and the signature, system and
    heading; what the values of their items are is not looked at.

    Attributes
    ----------
    system : str
    measure : Measure
    heading : str
        How a table calls it; the measure's name unless a protocol has another.
    part : str
        The part of the data, where a kind has several, such as "i2t"; else empty.
    task : Task or None
        What was evaluated; None for scores of merged statistics.
    value : float
        nan where undefined.
    n : int
        Items evaluated.
    unit : str
        What an item is.
    ci : Interval or None
    undefined : dict of int
        Items or labels without a value, by cause.
    signature : str
        What was computed.
    replicates : Replicates or None
        The value in each resample; None without ``ci``.
    terms : tuple of Score
        What a derived measure is made of.
    """

    system: str
    measure: Measure
    heading: str
    value: float
    n: int
    unit: str
    ci: Interval | None
    undefined: dict[str, int]
    statistics: Statistics = field(repr=False, compare=False)
    frame: Frame = field(repr=False, compare=False)
    note: str = ""
    part: str = ""
    task: Any = field(default=None, repr=False, compare=False)
    replicates: Replicates | None = field(default=None, repr=False, compare=False)
    terms: tuple[Score, ...] = field(default=(), repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    def __format__(self, form: str) -> str:
        """Write the value in a format of floats, or without one the score itself."""
        return format(self.value, form) if form else str(self)

    def __repr__(self) -> str:
        interval = (
            "" if self.ci is None else f" [{self.ci.low:.4f}, {self.ci.high:.4f}]"
        )
        of = f"{pluralize(self.n, self.unit)} of {self.system}"
        return f"Score({self.heading} = {self.value:.4f}{interval}, {of})"

    @cached_property
    def signature(self) -> str:
        """What was computed, in one line; ``semmetrics score --rescore`` computes it again."""
        bootstrap = None if self.ci is None else self.ci.bootstrap
        return signature(
            self.measure, self.statistics, self.frame, bootstrap, self.note
        )

    @property
    def name(self) -> str:
        """What was asked for, after the part; its heading where no measure was named."""
        asked = self.measure.asked
        return f"{self.part} {asked[0]}".lstrip() if asked else self.heading

    @property
    def names(self) -> Names:
        """All that it may be called, its heading first."""
        return self.heading, str(self.measure), self.name, *self.measure.asked

    @property
    def best_threshold(self) -> float | None:
        """The score threshold that ``decode=threshold:best`` found; None where it was not asked."""
        if not any(part.startswith(BEST_FIT) for part in self.note.split("|")):
            return None
        return float(str(self.measure["decode"]).partition(":")[2])

    @cached_property
    def left_out(self) -> LeftOut:
        """The labels outside the label universe and those that are ignored; none counts."""
        outside = LeftOut.of(self.statistics, ~self.frame.universe(self.measure))
        both = zip(outside, LeftOut.ignored(self.statistics), strict=True)
        return LeftOut(*(one + other for one, other in both))

    @property
    def ids(self) -> Ids:
        """The items, in the order of ``items``."""
        return self.statistics.ids

    @cached_property
    def items(self) -> Floats | None:
        """The value of each item, nan where undefined; None where one item alone has no value.

        Raises
        ------
        InputError
            If rows were not kept.
        """
        return self.measure.definition.family.items(
            self.measure, score_rows(self), self.frame
        )

    @cached_property
    def averaged(self) -> Floats | None:
        """The values whose mean the score is; None for other scores.

        An undefined value is there as what its policy counts it as, and nan where it is left out.
        """
        averaged = getattr(self.measure.definition.family, "averaged", None)
        values: Floats | None = averaged and averaged(
            self.measure, score_rows(self), self.frame
        )
        return values

    @cached_property
    def per_label(self) -> dict[str, NDArray[Any]] | None:
        """Columns "label", "value" and counts of the labels averaged over; None without such."""
        sums = point_sums(self.measure, self.statistics)
        return self.measure.definition.family.per_label(self.measure, sums, self.frame)

    def to_dict(self) -> dict[str, Any]:
        """The score as JSON has it: null for what is undefined."""
        left_out = self.left_out._asdict() if self.left_out.labels else None
        ci = None if self.ci is None else self.ci.to_dict()
        return entry_of(
            self,
            SCHEMA,
            _ENTRY,
            measure=str(self.measure),
            ci=ci,
            left_out=left_out,
            rows=None,
        )


def matching_names(name: str, known: Collection[N]) -> set[N]:
    """Find the scores that a name means, by what each may be called.

    A name as it is written comes first, then one in another case or with other hyphens, if all that
    match have one heading; then an alias.

    Parameters
    ----------
    name : str
    known : collection of tuples of str
        Of each score its heading, its measure, and perhaps what was asked for.

    Examples
    --------
    >>> known = [("F1 (Semantic)", "SemF1"), ("Micro F1", "F1(average=micro)"), ("F1", "F1")]
    >>> matching_names("semf1", known), matching_names("microf1", known)
    ({('F1 (Semantic)', 'SemF1')}, {('Micro F1', 'F1(average=micro)')})
    """
    if found := {pair for pair in known if name in pair}:
        return found
    spelled, _ = names_like(name)

    def means(text: str) -> bool:
        own, is_exact = names_like(text)  # C-F1 is not meant by CF1, nor by cf1
        by_case = text.lower() == name.lower()
        return fold(text) == fold(name) and (
            by_case or not is_exact or spelled in ([], own)
        )

    alike = {pair for pair in known if any(map(means, pair))}
    if len({heading for heading, *_ in alike}) == 1:
        return alike
    meant = set(map(str, parse_in_any_case(name)))
    return {pair for pair in known if meant.intersection(pair)}


def left_out_notes(
    axis: LabelAxis | Statistics, scores: Sequence[Score], verb: str = "predicted"
) -> list[Fact]:
    """Return which labels of a system count nowhere, and in which measures.

    Parameters
    ----------
    axis : LabelAxis or Statistics
        Of the system.
    scores : sequence of Score
        Of the system.
    verb : str
        What its labels are: "predicted" or "scored".
    """
    found = [(LeftOut.ignored(axis), "ignored")]
    for name, where in (("reference", "ground truth"), ("given", "class list")):
        if some := [s for s in scores if s.frame.universe_name(s.measure) == name]:
            names = listing(dict.fromkeys(score.heading for score in some), write=str)
            nowhere = f"outside the {where}, counted nowhere in {names}"
            outside = ~some[0].frame.universe(some[0].measure)
            found.append((LeftOut.of(some[0].statistics, outside), nowhere))
        elif name == "given" and axis.given is not None:
            outside = np.arange(len(axis.labels)) >= axis.given
            found.append((LeftOut.of(axis, outside), f"outside the {where}"))
    return [
        Fact(
            "left-out-labels",
            one.labels,
            values={"how": how, "verb": verb, **one._asdict()},
        )
        for one, how in found
        if one.labels
    ]


def score_rows(score: Score) -> Any:
    """The columns that a score is computed from, one row an item."""
    return score.statistics.rows(
        score.measure.definition.family.statistic(score.measure)
    )


def point_sums(measure: Measure, statistics: Statistics) -> Sums:
    """The sums that a measure aggregates for its value."""
    statistic = measure.definition.family.statistic(measure)
    if statistic.additive:
        return statistics.sums[statistic]
    rows: Any = statistics.rows(statistic)
    return {
        "rows": rows,
        "weights": statistics.item_weights[None],
        "order": statistics.order,
    }


def score_statistics(
    systems: Mapping[str, Statistics],
    measures: Mapping[str, Sequence[tuple[Measure, str]]],
    *,
    headings: Sequence[str],
    ci: Bootstrap | None = None,
    progress: Progress = None,
) -> list[Score]:
    """Values, and intervals on request, of measures for several systems on the same items.

    Parameters
    ----------
    systems : mapping from name to Statistics
    measures : mapping from system to pairs of Measure and note
        What was fitted may differ between systems; the note goes into the signature.
    headings : sequence of str
        How tables call the measures.
    ci : Bootstrap, optional
    progress : callable, optional

    Returns
    -------
    list of Score
        System by system, measures in the order given.
    """
    labels = merged_labels(list(systems.values()))
    aligned = {name: statistics.aligned(labels) for name, statistics in systems.items()}
    union = frame_of(list(aligned.values()))
    scores, parts = list[Score](), []
    for name, one in aligned.items():
        # Items may be left out of one system alone, and their labels with them.
        frame = replace(union, in_reference=one.n_reference > 0)
        each = zip(measures[name], headings, strict=True)
        own = [_score(name, one, frame, *what, heading) for what, heading in each]
        parts.append((one, frame, {score.measure: score.value for score in own}))
        scores += own
    if ci is None:
        return scores
    # values alone need none of it
    from semmetrics.scoring.resampling import (
        Subject,
        replicate,
    )

    subjects = [Subject(*part) for part in parts]
    made = dict(zip(aligned, replicate(subjects, ci, progress), strict=True))
    return [
        _with_interval(score, made[score.system][score.measure], ci) for score in scores
    ]


def score_values(task: Task, measures: Sequence[Measure]) -> tuple[float, ...]:
    """Return the value of each measure; nan where undefined."""
    statistics = evaluate(task, measures, keep_rows=False)
    chosen = [(measure, "") for measure in measures]
    scores = score_statistics(
        {"": statistics}, {"": chosen}, headings=[""] * len(measures)
    )
    return tuple(score.value for score in scores)


def _score(
    system: str,
    statistics: Statistics,
    frame: Frame,
    measure: Measure,
    note: str,
    heading: str,
) -> Score:
    family, sums = measure.definition.family, point_sums(measure, statistics)
    return Score(
        system=system,
        measure=measure,
        heading=heading,
        value=float(np.ravel(family.aggregate(measure, sums, frame))[0]),
        n=len(statistics),
        unit=statistics.unit,
        ci=None,
        undefined={
            cause: n for cause, n in family.undefined(measure, sums, frame).items() if n
        },
        statistics=statistics,
        frame=frame,
        note=note,
    )


def _with_interval(
    score: Score, replicates: Replicates | None, ci: Bootstrap | None
) -> Score:
    """Return the score with replicates, if there are any, and its interval."""
    made = (
        None
        if replicates is None or ci is None
        else replicates.interval(ci.level, ci.method)
    )
    return replace(score, replicates=replicates, ci=made)


def interval_notes(scores: Iterable[Score]) -> list[Fact]:
    """Return which methods were used where they differ, and which intervals cannot be trusted.

    Examples
    --------
    >>> import semmetrics
    >>> semmetrics.score([["cat"]], [["cat"]], measures="F1", ci=True).notes
    ['one image has no interval; give at least two']
    """
    notes: dict[
        tuple[Any, ...], dict[str, None]
    ] = {}  # headings, each once for all systems
    methods: dict[str, dict[str, None]] = {}
    for score in scores:
        if score.replicates is not None and score.ci is not None:
            methods.setdefault(score.ci.method, {})[score.heading] = None
            for code, values in _doubts(score, score.replicates, score.ci):
                notes.setdefault((code, *values.items()), {})[score.heading] = None
    facts = [
        Fact(code, values={"headings": listing(headings, write=str), **dict(values)})
        for (code, *values), headings in notes.items()
    ]
    if len(methods) < 2:
        return facts
    used = (
        f"{method} for {listing(some, write=str)}" for method, some in methods.items()
    )
    return [Fact("interval-methods", values={"used": "; ".join(used)}), *facts]


def _doubts(
    score: Score, replicates: Replicates, ci: Interval
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the code and the values of each reason not to trust an interval."""
    units = {"units": plural(score.unit)}
    if replicates.sizes.sum() == 1:
        what = (
            f"one group of {plural(score.unit)}"
            if replicates.grouped
            else f"one {score.unit}"
        )
        yield "one-item", {"what": what}
    elif (
        score.measure["average"] == "macro"
        and (counts := _true_items(score)) is not None
    ):
        few = int((counts < _FEW).sum())
        if few > _SHARE * len(counts):
            none = int((counts == 0).sum())
            yield (
                "few-true-items",
                {"few": few, "labels": len(counts), "least": _FEW, "none": none},
            )
    if math.isnan(score.value):
        yield "undefined-value", {}
    elif math.isnan(ci.low) and replicates.sizes.sum() > 1:
        yield "undefined-without-one", units
    elif replicates.rests_on_few(ci.method):
        yield "few-decide", units
    if math.isclose(ci.low, ci.high, rel_tol=1e-12):
        left = ci.method not in ("percentile", "bca")
        why = "no item left out changes it" if left else "all resamples are equal"
        yield "no-width", {"why": why}


def bound_notes(scores: Iterable[Score]) -> list[Fact]:
    """Return which measures of one's own have values outside the bounds that they declare.

    Examples
    --------
    >>> import semmetrics
    >>> from semmetrics.metrics.registry import forget
    >>> @semmetrics.measure
    ... def Hits(hit):
    ...     return hit
    >>> semmetrics.score([["cat", "dog"]], [["cat", "dog"]], measures="Hits").notes
    ['Hits has the value 2.0, outside its bounds 0.0 to 1.0; pass bounds= to @measure']
    >>> forget(Hits)
    """
    notes: dict[str, Fact] = {}
    for score in scores:
        definition = score.measure.definition
        if not is_own(definition) or score.heading in notes:
            continue
        columns = score.per_label
        single: Any = () if columns is None else columns["value"]
        if columns is None:
            with suppress(InputError):  # rows were not kept
                single = () if score.items is None else score.items
        low, high = definition.bounds
        values = np.append(np.asarray(single, np.float64), score.value)
        outside = values[(values < low - _ROUNDING) | (values > high + _ROUNDING)]
        if len(outside):
            found = {
                "heading": score.heading,
                "value": float(outside[0]),
                "low": low,
                "high": high,
            }
            notes[score.heading] = Fact("outside-bounds", values=found)
    return list(notes.values())


def _true_items(score: Score) -> Floats | None:
    """Count the items of each label averaged over that have it, whatever their weights."""
    columns, measure = score.per_label, score.measure
    if score.statistics.weights is None and score.statistics.weighting:
        return None  # of items that were let go only the weighted sums are known
    if columns is not None and score.statistics.weights is not None:
        sums: Any = point_sums(measure, replace(score.statistics, weights=None))
        if measure.definition.family.statistic(
            measure
        ).additive:  # they are weighted sums
            sums = {name: column.sum() for name, column in score_rows(score).items()}
        columns = measure.definition.family.per_label(measure, sums, score.frame)
    return None if columns is None else columns["support"]


def with_derived(
    scores: Sequence[Score], named: Mapping[Measure, str], ci: Bootstrap | None
) -> list[Score]:
    """Return the scores that were asked for, derived ones of all parts behind those of each.

    Parameters
    ----------
    scores : sequence of Score
        With those of all terms.
    named : mapping from measure to heading
        What was asked for.
    ci : Bootstrap or None

    Raises
    ------
    InputError
        If the data lack a part that a measure needs.
    """
    parts = dict.fromkeys(score.part for score in scores)
    place = {(score.system, score.part, score.measure): score for score in scores}
    made = [score for score in scores if score.measure in named]
    for measure, heading in named.items():
        if not (terms := terms_of(measure)):
            continue
        if not terms.keys() <= parts.keys():
            raise InputError("needs-parts", measure=measure, parts=list(terms))
        for system in dict.fromkeys(score.system for score in scores):
            found = [
                place[system, part, term]
                for part, some in terms.items()
                for term in some
            ]
            whole = _joined([term.statistics for term in found], measure)
            family: Any = measure.definition.family
            value = float(family.combine(measure, [term.value for term in found]))
            score = replace(
                found[0],
                measure=measure,
                heading=heading,
                value=value,
                n=len(whole),
                undefined={},
                statistics=whole,
                note="",
                part="",
                task=None,
                terms=tuple(found),
            )
            made.append(_with_interval(score, _replicates(measure, value, found), ci))
    order: Any = (
        [*parts, ""],
        list(dict.fromkeys(score.system for score in scores)),
        list(named),
    )
    return sorted(
        made,
        key=lambda one: [
            places.index(value)
            for places, value in zip(
                order, (one.part, one.system, one.measure), strict=True
            )
        ],
    )


def _joined(parts: Sequence[Statistics], measure: Measure) -> Statistics:
    """Return statistics without sums of the items of all parts, each part once."""
    each = list({id(part): part for part in parts}.values())
    different = {
        key: dict.fromkeys(part.settings[key] for part in each if key in part.settings)
        for key in dict.fromkeys(key for part in each for key in part.settings)
    }
    settings = {key: "+".join(values) for key, values in different.items()}
    if len(different.get("direction", ())) > 1:
        settings["direction"] = "both"
    nothing = measure.definition.family.statistic(measure)
    number = sum(map(len, each))
    return replace(
        each[0],
        sums={nothing: {}},
        parts={nothing: [{}]},
        ids=range(number),
        hashes=mix(np.arange(number)),
        weights=None,
        groups=None,
        fingerprint=sum(part.fingerprint for part in each) % (1 << 64),
        settings=settings,
        counts={},
        observations=each[0].observations if len(each) == 1 else Observations(),
    )


def _replicates(
    measure: Measure, value: float, terms: Sequence[Score]
) -> Replicates | None:
    """Return the formula on the replicates of the terms, which must be paired."""
    found = [term.replicates for term in terms if term.replicates is not None]
    kinds = {(one.drawn, len(one.left_out)) for one in found}
    if len(found) < len(terms) or len(kinds) > 1:
        return None
    combine = measure.definition.family.combine  # type: ignore[attr-defined]
    return replace(
        found[0],
        values=combine(measure, [one.values for one in found]),
        value=value,
        left_out=combine(measure, [one.left_out for one in found]),
        bounds=measure.definition.bounds,
        default=default_method(measure),
        items=0.0,
    )
