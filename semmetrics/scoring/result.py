"""Scores: the values of measures, with their intervals, items, labels and signatures."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.item_ids import Ids
from semmetrics.data.tasks.base import LabelAxis, Task
from semmetrics.messages import fold, pluralize
from semmetrics.metrics.definition import Frame, Measure, Sums
from semmetrics.metrics.parsing import parse_in_any_case
from semmetrics.metrics.registry import names_like
from semmetrics.reports import entry_of
from semmetrics.scoring.evaluate import Progress, evaluate
from semmetrics.scoring.intervals import Bootstrap, Interval, Replicates
from semmetrics.scoring.signature import signature
from semmetrics.scoring.statistics import Statistics, frame_of, merged_labels

Names: TypeAlias = "tuple[str, ...]"
"""All names of a score, with its heading first."""
N = TypeVar("N", bound=Names)
SCHEMA = "semmetrics.score/1"
_ENTRY_KEYS = (
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
BEST_FIT = "fit:best-"
"""The beginning of the note of a score whose threshold was fitted as the best one."""


class LeftOut(NamedTuple):
    """Labels that are not counted, and how often they occur.

    Attributes
    ----------
    labels : int
        The number of labels that occur on either side.
    predictions, references : int
        The number of occurrences, before a cutoff or a decoding rule.
    """

    labels: int
    predictions: int
    references: int

    @staticmethod
    def of(axis: LabelAxis | Statistics, is_left_out: Bools) -> LeftOut:
        """Count the labels that are left out."""
        predictions = axis.n_prediction[is_left_out]
        references = axis.n_reference[is_left_out]
        n_labels = int((predictions + references > 0).sum())
        return LeftOut(n_labels, int(predictions.sum()), int(references.sum()))

    @staticmethod
    def ignored(axis: LabelAxis | Statistics) -> LeftOut:
        """Count the labels that are ignored."""
        n_predictions = 0
        n_references = 0
        for predictions, references in axis.ignored.values():
            n_predictions += predictions
            n_references += references
        return LeftOut(len(axis.ignored), n_predictions, n_references)


@by_value("signature")
@dataclass(frozen=True, eq=False)
class Score:
    """One measure of one system.

    Scores are equal if the value, the interval, the signature, the system and the heading
    are equal. Values of items are not compared.

    Attributes
    ----------
    system : str
    measure : Measure
    heading : str
        The name in tables: the name of the measure, unless a protocol has another.
    part : str
        The part of the data, such as "i2t", or an empty string if there is only one.
    task : Task or None
        The data. None for scores of merged statistics.
    value : float
        nan if undefined.
    n : int
        The number of items.
    unit : str
        What an item is, such as "image".
    ci : Interval or None
    undefined : dict of int
        The number of items or labels without a value, by cause.
    signature : str
        How the value was computed.
    replicates : Replicates or None
        The value in each resample. None without ``ci``.
    terms : tuple of Score
        The scores from which a derived measure is computed.
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
    task: Task | None = field(default=None, repr=False, compare=False)
    replicates: Replicates | None = field(default=None, repr=False, compare=False)
    terms: tuple[Score, ...] = field(default=(), repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    def __format__(self, form: str) -> str:
        """Return the value in a format of floats, or without a format the score itself."""
        if form:
            return format(self.value, form)
        return str(self)

    def __repr__(self) -> str:
        interval = ""
        if self.ci is not None:
            interval = f" [{self.ci.low:.4f}, {self.ci.high:.4f}]"
        items = f"{pluralize(self.n, self.unit)} of {self.system}"
        return f"Score({self.heading} = {self.value:.4f}{interval}, {items})"

    # ---- names and conventions --------------------------------------------------------

    @cached_property
    def signature(self) -> str:
        """How the value was computed, in one line.

        ``semmetrics score --rescore`` computes it again.
        """
        bootstrap = None if self.ci is None else self.ci.bootstrap
        return signature(
            self.measure, self.statistics, self.frame, bootstrap, self.note
        )

    @property
    def name(self) -> str:
        """The requested name, after the part. The heading if no measure was requested."""
        requested_names = self.measure.asked
        if not requested_names:
            return self.heading
        return f"{self.part} {requested_names[0]}".lstrip()

    @property
    def names(self) -> Names:
        """All names of the score, with its heading first."""
        return self.heading, str(self.measure), self.name, *self.measure.asked

    @property
    def best_threshold(self) -> float | None:
        """The threshold of scores found by ``decode=threshold:best``, or else None."""
        notes = self.note.split("|")
        if not any(note.startswith(BEST_FIT) for note in notes):
            return None
        _, _, threshold = str(self.measure["decode"]).partition(":")
        return float(threshold)

    @cached_property
    def left_out(self) -> LeftOut:
        """The labels that are not counted: ignored, or outside the label universe."""
        is_outside = ~self.frame.universe(self.measure)
        outside = LeftOut.of(self.statistics, is_outside)
        ignored = LeftOut.ignored(self.statistics)
        return LeftOut(
            outside.labels + ignored.labels,
            outside.predictions + ignored.predictions,
            outside.references + ignored.references,
        )

    # ---- items and labels -------------------------------------------------------------

    @property
    def ids(self) -> Ids:
        """The ids of the items, in the order of ``items``."""
        return self.statistics.ids

    @cached_property
    def items(self) -> Floats | None:
        """The value of each item, nan if undefined. None if items have no value.

        Raises
        ------
        InputError
            If rows were not stored.
        """
        family = self.measure.definition.family
        return family.items(self.measure, score_rows(self), self.frame)

    @cached_property
    def averaged(self) -> Floats | None:
        """The values whose mean the score is. None for scores that are not a mean.

        Undefined values are 0 or 1 by their policy, or nan if the policy leaves them out.
        """
        family = self.measure.definition.family
        if not hasattr(family, "averaged"):
            return None
        values: Floats | None = family.averaged(
            self.measure, score_rows(self), self.frame
        )
        return values

    @cached_property
    def per_label(self) -> dict[str, NDArray[Any]] | None:
        """The columns "label", "value" and counts of labels, for averages over labels.

        None for other measures.
        """
        family = self.measure.definition.family
        sums = point_sums(self.measure, self.statistics)
        return family.per_label(self.measure, sums, self.frame)

    def to_dict(self) -> dict[str, Any]:
        """Return the score as in JSON, with None for undefined values."""
        left_out = None
        if self.left_out.labels:
            left_out = self.left_out._asdict()
        interval = None if self.ci is None else self.ci.to_dict()
        return entry_of(
            self,
            SCHEMA,
            _ENTRY_KEYS,
            measure=str(self.measure),
            ci=interval,
            left_out=left_out,
            rows=None,
        )


# ---- look-up by name ------------------------------------------------------------------


def matching_names(name: str, known: Collection[N]) -> set[N]:
    """Return the names of the scores that a name refers to.

    The exact name has priority. Then come names that differ in case or hyphens, if they
    belong to only one heading, and then aliases.

    Parameters
    ----------
    name : str
    known : collection of tuples of str
        The names of each score: its heading, its measure, and other names.

    Examples
    --------
    >>> known = [("F1 (Semantic)", "SemF1"), ("Micro F1", "F1(average=micro)"), ("F1", "F1")]
    >>> matching_names("semf1", known), matching_names("microf1", known)
    ({('F1 (Semantic)', 'SemF1')}, {('Micro F1', 'F1(average=micro)')})
    """
    exact = {names for names in known if name in names}
    if exact:
        return exact
    similar = set()
    for names in known:
        if any(_is_similar(text, name) for text in names):
            similar.add(names)
    headings = {names[0] for names in similar}
    if len(headings) == 1:
        return similar
    aliases = set(map(str, parse_in_any_case(name)))
    return {names for names in known if aliases.intersection(names)}


def _is_similar(text: str, name: str) -> bool:
    """Return whether two names differ only in case or hyphens.

    Names of different registered measures are not similar: CF1 and cf1 do not mean C-F1.
    """
    if fold(text) != fold(name):
        return False
    if text.lower() == name.lower():
        return True
    measures_of_text, is_exact = names_like(text)
    if not is_exact:
        return True
    measures_of_name, _ = names_like(name)
    return not measures_of_name or measures_of_name == measures_of_text


# ---- scores from statistics -----------------------------------------------------------


def score_rows(score: Score) -> Any:
    """Return the columns from which a score is computed, with one row per item."""
    statistic = score.measure.definition.family.statistic(score.measure)
    return score.statistics.rows(statistic)


def point_sums(measure: Measure, statistics: Statistics) -> Sums:
    """Return the sums that a measure aggregates to its value."""
    statistic = measure.definition.family.statistic(measure)
    if statistic.additive:
        return statistics.sums[statistic]
    return statistics.weighted_rows(statistic, statistics.item_weights[None])


def score_statistics(
    systems: Mapping[str, Statistics],
    measures: Mapping[str, Sequence[tuple[Measure, str]]],
    *,
    headings: Sequence[str],
    ci: Bootstrap | None = None,
    progress: Progress = None,
) -> list[Score]:
    """Return the scores of measures for several systems on the same items.

    Parameters
    ----------
    systems : mapping from name to Statistics
    measures : mapping from system to pairs of Measure and note
        Systems may differ in fitted options. The note is a part of the signature.
    headings : sequence of str
        The names of the measures in tables.
    ci : Bootstrap, optional
        Default: no intervals.
    progress : callable, optional

    Returns
    -------
    list of Score
        System by system, measures in the given order.
    """
    labels = merged_labels(list(systems.values()))
    aligned = {name: statistics.aligned(labels) for name, statistics in systems.items()}
    common_frame = frame_of(list(aligned.values()))
    frames: dict[str, Frame] = {}
    scores: dict[str, list[Score]] = {}
    for system, statistics in aligned.items():
        # An item may be left out of only one system, and labels that only it has with it.
        frame = replace(common_frame, in_reference=statistics.n_reference > 0)
        frames[system] = frame
        scores[system] = []
        for (measure, note), heading in zip(measures[system], headings, strict=True):
            score = _score(system, statistics, frame, measure, note, heading)
            scores[system].append(score)
    if ci is not None:
        scores = _add_intervals(scores, aligned, frames, ci, progress)
    all_scores: list[Score] = []
    for scores_of_system in scores.values():
        all_scores += scores_of_system
    return all_scores


def _score(
    system: str,
    statistics: Statistics,
    frame: Frame,
    measure: Measure,
    note: str,
    heading: str,
) -> Score:
    """Return the score of a measure, without an interval."""
    family = measure.definition.family
    sums = point_sums(measure, statistics)
    value = float(np.ravel(family.aggregate(measure, sums, frame))[0])
    undefined = {}
    for cause, count in family.undefined(measure, sums, frame).items():
        if count:
            undefined[cause] = count
    return Score(
        system=system,
        measure=measure,
        heading=heading,
        value=value,
        n=len(statistics),
        unit=statistics.unit,
        ci=None,
        undefined=undefined,
        statistics=statistics,
        frame=frame,
        note=note,
    )


def _add_intervals(
    scores: Mapping[str, Sequence[Score]],
    statistics: Mapping[str, Statistics],
    frames: Mapping[str, Frame],
    ci: Bootstrap,
    progress: Progress,
) -> dict[str, list[Score]]:
    """Return the scores of each system with replicates and intervals."""
    # Scores without intervals do not need this module.
    from semmetrics.scoring.resampling import Subject, replicate

    subjects = []
    for system, scores_of_system in scores.items():
        values = {score.measure: score.value for score in scores_of_system}
        subjects.append(Subject(statistics[system], frames[system], values))
    replicates_of_systems = replicate(subjects, ci, progress)
    with_intervals: dict[str, list[Score]] = {}
    for system, replicates in zip(scores, replicates_of_systems, strict=True):
        with_intervals[system] = []
        for score in scores[system]:
            score = add_interval(score, replicates[score.measure], ci)
            with_intervals[system].append(score)
    return with_intervals


def add_interval(
    score: Score, replicates: Replicates | None, ci: Bootstrap | None
) -> Score:
    """Return the score with replicates and, if both are given, an interval."""
    interval = None
    if replicates is not None and ci is not None:
        interval = replicates.interval(ci.level, ci.method)
    return replace(score, replicates=replicates, ci=interval)


def score_values(task: Task, measures: Sequence[Measure]) -> tuple[float, ...]:
    """Return the value of each measure, nan if undefined."""
    statistics = evaluate(task, measures, keep_rows=False)
    noted_measures = [(measure, "") for measure in measures]
    headings = [""] * len(measures)
    scores = score_statistics({"": statistics}, {"": noted_measures}, headings=headings)
    return tuple(score.value for score in scores)
