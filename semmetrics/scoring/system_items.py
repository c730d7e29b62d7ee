"""The items of one system in a `Scorer`: stored items, or the sums of items that were dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from secrets import randbits
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.cell_lists import check_styles
from semmetrics.data.join import Weights, same_ids
from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.errors import ITEM, Fact, InputError, Places, unite
from semmetrics.kinds.base import name_task
from semmetrics.kinds.labels.set_sizes import read_set_size_probs
from semmetrics.kinds.options import ResolvedOptions, resolve_options
from semmetrics.kinds.sample_weights import read_weights, unused_weights
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS
from semmetrics.scoring.batch_checks import check_can_follow
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.fits import BEST, EvaluatedPart, FittedMeasure, fit
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.intervals import POISSON, Bootstrap
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.notes import score_notes
from semmetrics.scoring.resampling import check_added, with_resamples
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import interval_options
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.statistics import Statistics

OPTIONS_BY_ITEM = tuple(n for n, one in OPTIONS.items() if one.batch == "items")
"""Options with a value for each item, which come with each batch."""
_WHOLE_OPTIONS = tuple(n for n, one in OPTIONS.items() if one.batch == "whole")
"""Options that apply only to all items together."""
ITEMS_SUMMED_TOGETHER = 1 << 13
"""How many items are stored before they are summed and dropped."""
_MAX_SAMPLE_VOCABULARY = (
    1000  # a longer vocabulary is not stored with the sample: captions
)
_FORM_ERRORS = ("no-rule", "no-scores", "measure-needs-scores", "needs-option")
_N_FIRST_ITEMS = 8  # enough to find one with a prediction


class LoadedPart(NamedTuple):
    """Items that were summed elsewhere, and whose sums were loaded.

    Attributes
    ----------
    shard : str
        Which of several parts without common ids: "3/8". Empty if that is not known.
    n : int
        The number of items.
    fingerprint : int
        A hash of the ids and their references.
    key : int
        The same hash, which tells if a part is merged twice. For items without ids, which may be
        equal in other parts, it is a random number.
    """

    shard: str
    n: int
    fingerprint: int
    key: int


class DroppedItems:
    """The sums and notes of items that were evaluated and dropped.

    Attributes
    ----------
    chosen : ChosenMeasures or None
        None before the first items are summed.
    fitted : dict from part to list of FittedMeasure
        The measures, which were fitted on the first items.
    statistics : dict from part to Statistics
        Without rows, ids, hashes and weights.
    counts : dict from part to counts
        How many items were left out or merged.
    without_items : dict from part to Observations
        Observations in batches without any remaining item.
    sample : list of Lists
        One item, the predictions and the ground truth, with which notes are made.
    notes : list of Fact
        On weights, and on batches that were evaluated whole.
    stored_notes : list of Fact
        The notes on loaded items, for which notes cannot be made again.
    shard_sizes : dict from str to int
        From how many items the items of each shard were chosen.
    identified_by : set of str
        "ids", "numbers", or "other numbers" if the numbers of items mean something else in
        different parts.
    parts : list of LoadedPart
    """

    def __init__(self) -> None:
        self.chosen: ChosenMeasures | None = None
        self.fitted: dict[str, list[FittedMeasure]] = {}
        self.statistics: dict[str, Statistics] = {}
        self.counts: dict[str, dict[str, int]] = {}
        self.without_items: dict[str, Observations] = {}
        self.sample: list[Lists] = []
        self.notes: list[Fact] = []
        self.stored_notes: list[Fact] = []
        self.shard_sizes: dict[str, int] = {}
        self.identified_by: frozenset[str] = frozenset()
        self.parts: list[LoadedPart] = []

    def copy(self) -> DroppedItems:
        """Return the same items. No attribute is changed in place."""
        return copy(self)

    @property
    def measures(self) -> list[Measure]:
        """The measures of the items."""
        return [] if self.chosen is None else list(self.chosen.measures)

    def add_sums(
        self,
        statistics: Mapping[str, Statistics],
        counts: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Add the sums of other items. If they do not fit, nothing changes."""
        for part in self.statistics.keys() & statistics.keys():
            check_added(self.statistics[part], statistics[part])
        added = dict(self.statistics)
        for part, other in statistics.items():
            added[part] = added[part] + other if part in added else other
        self.statistics = added
        self.counts = _add_counts(self.counts, counts)

    def merge(self, other: DroppedItems) -> None:
        """Add other items.

        Raises
        ------
        InputError
            If the measures, their fits, or the items do not fit.
        """
        if self.chosen and other.chosen:
            names = _measure_names(self.chosen)
            other_names = _measure_names(other.chosen)
            if names != other_names:
                why = f"{names}, and {other_names}"
                raise InputError("different-statistics", why=why)
        for part, fitted in other.fitted.items():
            if self.fitted.get(part, fitted) != fitted:
                why = "what was fitted, such as document frequencies or a threshold, differs"
                raise InputError("different-statistics", why=why)
        _check_parts(self.parts, other.parts)
        self.add_sums(other.statistics, other.counts)
        self.without_items = _merge_observations(
            self.without_items, other.without_items
        )
        self.chosen = self.chosen or other.chosen
        self.fitted = {**other.fitted, **self.fitted}
        self.parts = [*self.parts, *other.parts]
        self.identified_by |= other.identified_by
        self.notes = unite([*self.notes, *other.notes])
        self.stored_notes = unite([*self.stored_notes, *other.stored_notes])
        self.sample = _fuller_sample(self.sample, other.sample)


class SystemItems:
    """Predictions and ground truth of one system, and the options that come with its items.

    Parameters
    ----------
    keep_rows : bool
        Store all items until they are scored. Otherwise they are summed and dropped.

    Attributes
    ----------
    has_new_items : bool
        Whether it has items that were not loaded as sums.
    preds, gts : InputBuffer
    by_item : dict from option to list
        The values of options that come with the items, batch by batch.
    dropped : DroppedItems
    """

    def __init__(self, *, keep_rows: bool) -> None:
        self.keep_rows = keep_rows
        self.has_new_items = False
        self.preds = InputBuffer()
        self.gts = InputBuffer()
        self.by_item: dict[str, list[Any]] = {}
        self.dropped = DroppedItems()

    def __len__(self) -> int:
        """The number of items of the ground truth."""
        return len(self.gts)

    @property
    def is_empty(self) -> bool:
        """Whether neither side has an item."""
        return not len(self.gts) and not len(self.preds)

    @property
    def inputs(self) -> tuple[InputBuffer, InputBuffer]:
        """The predictions and the ground truth."""
        return self.preds, self.gts

    @property
    def chosen(self) -> ChosenMeasures:
        """The measures of the items that were dropped.

        Raises
        ------
        InputError
            If there is no such item.
        """
        if self.dropped.chosen is None or not self.dropped.statistics:
            counts = self.dropped.counts.values()
            has_weight_0 = any("weight_0" in one for one in counts)
            raise InputError("zero-weights" if has_weight_0 else "no-items")
        return self.dropped.chosen

    def copy(self) -> SystemItems:
        """Return the same items, to which others can be added."""
        new = SystemItems(keep_rows=self.keep_rows)
        new._take_over(self)
        return new

    def _take_over(self, other: SystemItems) -> None:
        """Become a copy of other items."""
        self.has_new_items = other.has_new_items
        self.preds = other.preds.copy()
        self.gts = other.gts.copy()
        self.by_item = {name: list(values) for name, values in other.by_item.items()}
        self.dropped = other.dropped.copy()

    # ---- adding items ---------------------------------------------------------------------------

    def add(
        self,
        setup: Evaluation,
        pred: Any,
        ref: Any,
        by_item: Mapping[str, Any],
        *,
        system: str,
        shard: Shard | None = None,
    ) -> None:
        """Add a batch.

        Parameters
        ----------
        setup : Evaluation
        pred, ref : Lists or Matrix
        by_item : mapping from option to value
            Options that have a value for each item. None if the user does not set an option.
        system : str
        shard : Shard or None
            The part of the items to evaluate.

        Raises
        ------
        InputError
            If the batch is wrong, repeats an id, or is of another form than those before. Nothing
            is added then.
        """
        matrices = [one for one in (pred, ref) if not isinstance(one, Lists)]
        if matrices and self.keep_rows:
            raise InputError("matrix-batch", matrices[0].source)
        if not len(pred) and not len(ref):
            return
        pred, ref = _with_ids(pred, ref)
        values = _read_values(by_item, pred, ref, setup)
        if matrices or shard:
            self._add_whole(setup, system, pred, ref, shard, values)
            return
        pred = self.preds.read_alike(pred)
        ref = self.gts.read_alike(ref)
        batch = SystemItems(keep_rows=self.keep_rows)
        batch.preds = InputBuffer.of(pred)
        batch.gts = InputBuffer.of(ref)
        batch.by_item = {name: [value] for name, value in values.items()}
        self._check(batch)
        is_first = self.dropped.chosen is None
        is_full = self.gts.n_stored + len(ref) >= ITEMS_SUMMED_TOGETHER
        is_alone = self._is_summed_alone(batch, pred, ref)
        if self.keep_rows or not (is_alone or is_full or is_first):
            self._check_batch(setup, {system: pred}, ref, values)
            self._extend(batch)
            self.has_new_items = True
            return
        changed = self.copy()
        changed.has_new_items = True
        if is_alone:
            changed.drop_items(setup)
        changed._extend(batch)
        changed.drop_items(setup)
        self._take_over(changed)

    def _is_summed_alone(self, batch: SystemItems, pred: Lists, ref: Lists) -> bool:
        """Return whether a batch must not be joined with stored items.

        Items of different batches are never joined. Therefore a batch is summed by itself if its
        sides do not have the same ids, or if a stored item has one of its ids.
        """
        if self.preds.repeated_ids(batch.preds) or self.gts.repeated_ids(batch.gts):
            return True
        return not same_ids(pred.ids, ref.ids) and set(pred.ids) != set(ref.ids)

    def _check_batch(
        self,
        setup: Evaluation,
        preds: Mapping[str, Lists],
        ref: Lists,
        values: Mapping[str, Any],
    ) -> None:
        """Raise the errors of a batch that is stored, as far as it shows them by itself."""
        options = dict(values)
        for name in _WHOLE_OPTIONS:
            options[name] = OPTIONS[name].default
        if self.is_empty:
            # This includes errors in options and in the files that they name.
            _check_measures(setup.join(preds, ref, **options))
        else:
            setup.kind.join(preds, ref, setup.options.replace(**options))

    def _add_whole(
        self,
        setup: Evaluation,
        system: str,
        pred: Any,
        ref: Any,
        shard: Shard | None,
        values: Mapping[str, Any],
    ) -> None:
        """Add the sums of a batch that is evaluated as it is, such as a matrix."""
        changed = self.copy()
        changed.has_new_items = True
        dropped = changed.dropped
        first_number = len(self)
        if (
            not ref.has_ids
            and len(self)
            and bool(shard) is not bool(dropped.shard_sizes)
        ):
            dropped.identified_by |= {"numbers", "other numbers"}
        if shard is not None:
            # Its items are numbered among all items.
            name = f"{shard.number}/{shard.of}"
            first_number = dropped.shard_sizes.get(name, 0)
            sizes = {**dropped.shard_sizes, name: first_number + len(ref)}
            dropped.shard_sizes = sizes
        pred = _renumbered(pred, first_number)
        ref = _renumbered(ref, first_number)
        joined = setup.join(
            {system: pred}, ref, chosen=dropped.chosen, shard=shard, **values
        )
        statistics = changed._add_evaluated(joined, setup)
        notes = _notes_of(joined, statistics, {})
        dropped.notes = unite([*dropped.notes, *notes])
        n_items = 0
        if statistics:
            n_items = len(next(iter(statistics.values())))
        for buffer, data in ((changed.preds, pred), (changed.gts, ref)):
            whole = InputBuffer.of_whole(data, n_items)
            check_styles(whole.styles, buffer.styles, whole.style_place)
            buffer.extend(whole)
        self._take_over(changed)

    def _check(self, other: SystemItems) -> None:
        """Raise an error for items that cannot follow those before."""
        for buffer, batch in ((self.preds, other.preds), (self.gts, other.gts)):
            check_can_follow(buffer, batch)
            if self.keep_rows:
                repeated = buffer.repeated_ids(batch)
                if repeated:
                    raise InputError("ids-in-two-batches", batch.source, ids=repeated)
        different = self.by_item.keys() ^ other.by_item.keys()
        if different and not self.is_empty and not other.is_empty:
            raise InputError("batch-differs", role=", ".join(sorted(different)))
        for name, values in other.by_item.items():
            firsts = [*self.by_item.get(name, [])[:1], *values[:1]]
            shapes = {one.shape[1:] for one in firsts if isinstance(one, np.ndarray)}
            if len(shapes) > 1:
                role = f"the number of columns of {name}"
                raise InputError("batch-differs", role=role)

    def _extend(self, other: SystemItems) -> None:
        for name, values in other.by_item.items():
            self.by_item.setdefault(name, []).extend(values)
        self.preds.extend(other.preds)
        self.gts.extend(other.gts)

    def merged(self, other: SystemItems, setup: Evaluation | None) -> SystemItems:
        """Return the items of both.

        Raises
        ------
        InputError
            If an id is in both, or the items are of another form.
        """
        new = self.copy()
        other = other.copy()
        if not self.keep_rows:
            new.drop_items(setup)
            other.drop_items(setup)
        other.preds = new.preds.read_buffer_alike(other.preds)
        other.gts = new.gts.read_buffer_alike(other.gts)
        new._check(other)
        new.dropped.merge(other.dropped)
        has_numbers = len(new.gts) > 0 and new.gts.ids is None
        parts = new.dropped.parts
        are_shards = bool(parts) and all(part.shard for part in parts)
        if has_numbers and not are_shards:
            new.dropped.identified_by |= {"other numbers"}
        new.has_new_items |= other.has_new_items
        new._extend(other)
        return new

    # ---- summing and dropping items -------------------------------------------------------------

    def join(self, setup: Evaluation, system: str) -> Evaluation:
        """Join the stored items, choose measures, and open their models."""
        pred, ref = _with_ids(self.preds.lists(), self.gts.lists())
        values: dict[str, Any] = {}
        for name, parts in self.by_item.items():
            values[name] = (
                _join_weights(parts) if name == "weights" else np.concatenate(parts)
            )
        return setup.join({system: pred}, ref, chosen=self.dropped.chosen, **values)

    def drop_items(self, setup: Evaluation | None) -> None:
        """Sum the stored items and drop them. If something is wrong, nothing changes."""
        if setup is None or not (self.preds.n_stored or self.gts.n_stored):
            return
        joined = self.join(setup, "")
        for part in self._add_evaluated(joined, setup):
            is_numbered = isinstance(joined.tasks[""][part].ids, (range, np.ndarray))
            self.dropped.identified_by |= {"numbers" if is_numbered else "ids"}
        weights = joined.options.weights
        if weights is not None:
            self.dropped.notes = unite([*self.dropped.notes, *weights.notes])
        sample = [_first_item(lists) for lists in joined.inputs]
        self.dropped.sample = _fuller_sample(self.dropped.sample, sample)
        self.preds.drop_items()
        self.gts.drop_items()
        # The first array of each option is stored without its rows, to compare columns with.
        for name, values in self.by_item.items():
            self.by_item[name] = [
                v[:0] for v in values[:1] if isinstance(v, np.ndarray)
            ]
        setup.forget_items()

    def _add_evaluated(
        self, joined: Evaluation, setup: Evaluation
    ) -> dict[str, Statistics]:
        """Add the sums of joined items, and return their statistics by part."""
        fitted, statistics = self._evaluate(joined, setup)
        (tasks,) = joined.tasks.values()
        counts = {part: task.counts for part, task in tasks.items()}
        dropped = self.dropped
        dropped.add_sums(statistics, counts)
        observed = {
            part: task.observations for part, task in tasks.items() if not len(task)
        }
        dropped.without_items = _merge_observations(dropped.without_items, observed)
        dropped.chosen = joined.chosen
        dropped.fitted = fitted
        return statistics

    def _evaluate(
        self, joined: Evaluation, setup: Evaluation
    ) -> tuple[dict[str, list[FittedMeasure]], dict[str, Statistics]]:
        """Return the measures, fitted on the first items, and the statistics of each part."""
        fitted = dict(self.dropped.fitted)
        statistics = {}
        intervals = interval_options_of_sums(setup.options)
        for part, task in next(iter(joined.tasks.values())).items():
            if not len(task):
                continue
            if part not in fitted:
                fitted[part] = _fit_on_first_items(joined, part, task)
            task = replace(task, observations=task.observations.of_parts())
            measures = [measure for measure, _ in fitted[part]]
            progress = setup.options.progress
            keep_rows = intervals is not None
            sums = evaluate(task, measures, keep_rows=keep_rows, progress=progress)
            if intervals is not None:
                sums = with_resamples(sums, intervals)
            statistics[part] = _without_items(sums)
        return fitted, statistics

    # ---- results --------------------------------------------------------------------------------

    def evaluated(self) -> dict[str, EvaluatedPart]:
        """Return the measures and the statistics of each part of the dropped items."""
        fitted = self.dropped.fitted
        evaluated = {}
        for part, statistics in self.dropped.statistics.items():
            evaluated[part] = EvaluatedPart(fitted[part], statistics)
        return evaluated

    def check_shards(self) -> None:
        """Raise an error if some of the shards of loaded parts are missing."""
        shards = [Shard.read(part.shard) for part in self.dropped.parts if part.shard]
        if not shards:
            return
        n_shards = max(shard.of for shard in shards)
        loaded = {shard.number for shard in shards}
        missing = [n for n in range(1, n_shards + 1) if n not in loaded]
        if missing:
            names = [f"{number}/{n_shards}" for number in missing]
            raise InputError("missing-shards", names=names)

    def notes(
        self,
        setup: Evaluation | None,
        system: str,
        scores: Sequence[Score],
        *,
        ci: bool,
    ) -> list[Fact]:
        """Return the notes on dropped items and on their scores.

        Parameters
        ----------
        setup : Evaluation or None
            None if it cannot be opened here. The notes are those that were stored.
        system : str
        scores : sequence of Score
        ci : bool
            Whether intervals were requested.
        """
        axes = {}
        for part, statistics in self.dropped.statistics.items():
            axes[name_task(system, part)] = (statistics, self.preds.verb)
        notes = [*self.describe(setup, system), *self.dropped.notes]
        notes += score_notes(scores, axes, ci=ci)
        n_without_shard = sum(not part.shard for part in self.dropped.parts)
        if n_without_shard > 1:
            notes.append(Fact("ids-not-compared"))
        if len(self.dropped.identified_by) > 1:
            notes.append(Fact("unnumbered"))
        return notes

    def describe(self, setup: Evaluation | None, system: str) -> list[Fact]:
        """Return notes on the dropped items.

        They are made from the observations of all items, with the tasks of one sample item. If
        these cannot be made here, the notes are those that were stored.
        """
        dropped = self.dropped
        if setup is None or not dropped.sample or not dropped.statistics:
            return dropped.stored_notes
        pred, ref = dropped.sample
        nothing = dict.fromkeys(OPTIONS_BY_ITEM)
        try:
            joined = setup.join({system: pred}, ref, chosen=self.chosen, **nothing)
        except InputError:
            # No item has both sides, or a device or package is elsewhere.
            return dropped.stored_notes
        tasks = {}
        for part, task in joined.tasks[system].items():
            tasks[part] = replace(task, counts=dropped.counts[part])
        inputs: Any = [self.preds, self.gts]
        joined = replace(joined, tasks={system: tasks}, inputs=inputs)
        return _notes_of(joined, dropped.statistics, dropped.without_items)

    def sample_names(self) -> list[str]:
        """Return the labels or captions of the sample item."""
        names = []
        for lists in self.dropped.sample:
            names += [str(name) for name in lists.vocabulary]
        return names

    def summed(self, setup: Evaluation | None, system: str, shard: str) -> SystemItems:
        """Return the items as sums that can be stored in a file, with their notes.

        Parameters
        ----------
        setup : Evaluation or None
        system : str
        shard : str
            The part of the data that the new items are, or "".
        """
        new = self.copy()
        new.drop_items(setup)
        dropped = new.dropped
        dropped.stored_notes = new.describe(setup, system)
        n_new = len(new) - sum(part.n for part in dropped.parts)
        if new.has_new_items or n_new or not dropped.parts:
            total = sum(one.fingerprint for one in dropped.statistics.values())
            of_parts = sum(part.fingerprint for part in dropped.parts)
            rest = (total - of_parts) % (1 << 64)
            key = randbits(64) if new.gts.ids is None else rest
            dropped.parts = [*dropped.parts, LoadedPart(shard, n_new, rest, key)]
        new.preds.drop_items()
        new.gts.drop_items()
        new.has_new_items = False
        return new


def interval_options_of_sums(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals of items that are not stored are computed, or None without intervals."""
    intervals = interval_options(options)
    if intervals is None:
        return None
    return replace(intervals, method=POISSON)


# ---- checks and fits on the first items ---------------------------------------------------------


def _check_measures(joined: Evaluation) -> None:
    """Try each measure on a few items, and raise the errors that any batch would cause.

    Raises
    ------
    InputError
        If a measure needs sets and the predictions are scores, if it needs scores and there are
        none, or if it needs an option that is not set.
    """
    if joined.kind.name not in ("labels", "classes"):
        return
    for parts in joined.tasks.values():
        for part, task in parts.items():
            first_items = task.take(np.arange(min(len(task), _N_FIRST_ITEMS)))
            for measure in joined.chosen.evaluated(part):
                _try_measure(measure, first_items, joined)


def _try_measure(measure: Measure, task: Any, joined: Evaluation) -> None:
    """Raise an error of the form of the data. Others may be due to the small number of items."""
    try:
        fitted, _ = fit(measure, task, joined.calibrations)
        evaluate(task, [fitted], keep_rows=False)
    except InputError as error:
        if error.code in _FORM_ERRORS:
            raise


def _fit_on_first_items(
    joined: Evaluation, part: str, task: Any
) -> list[FittedMeasure]:
    """Fit the measures on the first items.

    Raises
    ------
    InputError
        If a measure needs all items at once.
    """
    fitted = []
    for measure in joined.chosen.evaluated(part):
        _check_needs_no_fit(measure, task)
        frozen = fit(measure, task, joined.calibrations)
        definition = frozen.measure.definition
        if not definition.family.statistic(frozen.measure).additive:
            reason = "is no function of sums over items"
            raise _all_items_error(measure, reason, "")
        fitted.append(frozen)
    return fitted


def _check_needs_no_fit(measure: Measure, task: Any) -> None:
    """Raise an error for a measure that is fitted on all items."""
    if measure["decode"] == BEST:
        reason = "chooses a threshold by the scores of all items"
        instead = ", or find the threshold on other data and give the number"
        raise _all_items_error(measure, reason, instead)
    source = measure["df"]
    if not source:
        return
    has_frequencies = "df" in task.fits or f"{source}/{measure['stem']}" in task.fits
    if source == "rows" or not has_frequencies:
        reason = "counts document frequencies on the references"
        instead = f", or give document frequencies, {OPTIONS['doc_freq'].both}"
        raise _all_items_error(measure, reason, instead)


def _all_items_error(measure: Measure, reason: str, instead: str) -> InputError:
    values = {"what": measure, "reason": reason, "instead": instead}
    return InputError("needs-all-items", **values)


# ---- items --------------------------------------------------------------------------------------


def _with_ids(pred: Any, ref: Any) -> tuple[Any, Any]:
    """Give a side without items ids if the other side has them: nothing says it has none."""
    if not pred.has_ids and not ref.has_ids:
        return pred, ref
    if not len(pred):
        pred = replace(pred, ids=[])
    if not len(ref):
        ref = replace(ref, ids=[])
    return pred, ref


def _renumbered(data: Any, first_number: int) -> Any:
    """Number items without ids from a first number on."""
    if data.has_ids:
        return data
    return replace(data, ids=range(first_number, first_number + len(data)))


def _first_item(lists: Lists) -> Lists:
    """Return the first item that has an entry, or an empty item. It has no id."""
    row = -1
    if len(lists):
        row = int((lists.side.sizes > 0).argmax())
    side = lists.side.take(np.array([row]))
    where = Places(lists.source, None, ITEM, range(1))
    item = replace(lists, ids=range(1), side=side, where=where, whole=None)
    if len(item.vocabulary) > _MAX_SAMPLE_VOCABULARY:
        return item.occurring_alone()
    return item


def _fuller_sample(sample: list[Lists], other: list[Lists]) -> list[Lists]:
    """Return the sample with entries on more sides. Of equally full ones, it is the first."""
    if _fullness(other) > _fullness(sample):
        return other
    return sample


def _fullness(sample: list[Lists]) -> tuple[int, int]:
    n_filled = sum(len(lists.side.codes) > 0 for lists in sample)
    return len(sample), n_filled


def _without_items(statistics: Statistics) -> Statistics:
    """Return statistics that have only the number of items, and each group once."""
    groups = statistics.groups
    return replace(
        statistics,
        parts=None,
        ids=range(len(statistics)),
        hashes=np.zeros(0, np.uint64),
        weights=None,
        groups=None if groups is None else np.unique(groups),
    )


# ---- options by item ----------------------------------------------------------------------------


def _read_values(
    by_item: Mapping[str, Any], pred: Any, ref: Any, setup: Evaluation
) -> dict[str, Any]:
    """Return values of items as arrays, except weights by id if items have ids."""
    resolved = resolve_options(by_item, setup.kind.name)
    files = setup.options.read
    values: dict[str, Any] = {}
    if by_item.get("set_size_probs") is not None:
        probs = read_set_size_probs(resolved.set_size_probs, files)
        values["set_size_probs"] = probs
    if by_item.get("weights") is not None:
        weights = read_weights(resolved.weights, files.beside()) or Weights(None)
        # Unused ids of a mapping are known only when all batches have come.
        if not ref.has_ids or not weights.is_by_id:
            aligned: Any = weights.align(ref, ref.ids)
            if ref.has_ids:
                ids = map(str, ref.ids)
                aligned = dict(zip(ids, aligned.tolist(), strict=True))
            notes = unused_weights(weights, [pred, ref])
            weights = replace(weights, values=aligned, notes=notes)
        values["weights"] = weights
    return values


def _join_weights(parts: Sequence[Weights]) -> Weights:
    """Return the weights of several batches, with their notes."""
    joined: Any = {}
    if parts[0].is_by_id:
        for part in parts:
            joined.update(part.values)
    else:
        joined = np.concatenate([part.values for part in parts])
    sources = {part.source for part in parts}
    source = sources.pop() if len(sources) == 1 else "weights"
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Weights(joined, source, list(notes))


# ---- merging ------------------------------------------------------------------------------------


def _notes_of(
    joined: Evaluation,
    statistics: Mapping[str, Statistics],
    without_items: Mapping[str, Observations],
) -> list[Fact]:
    """Return the notes on the items of one system, and on options without effect."""
    (system,) = joined.tasks
    observed = {part: one.observations for part, one in statistics.items()}
    merged = _merge_observations(observed, without_items)
    by_task = {name_task(system, part): one for part, one in merged.items()}
    return [*joined.data_notes(by_task), *joined.measure_notes()]


def _merge_observations(
    observations: Mapping[str, Observations], others: Mapping[str, Observations]
) -> dict[str, Observations]:
    """Return the observations of both, by part."""
    merged = {part: one.copy() for part, one in observations.items()}
    for part, other in others.items():
        merged.setdefault(part, Observations()).merge(other.of_parts())
    return merged


def _add_counts(
    counts: Mapping[str, Mapping[str, int]], others: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the sums of the counts of both, by part."""
    added = {part: dict(one) for part, one in counts.items()}
    for part, other in others.items():
        total = added.setdefault(part, {})
        for name, n in other.items():
            total[name] = total.get(name, 0) + n
    return added


def _check_parts(parts: Sequence[LoadedPart], others: Sequence[LoadedPart]) -> None:
    """Raise an error for parts that have items in common, as far as that is known."""
    n_shards = []
    for part in (*parts, *others):
        if part.shard:
            n_shards.append(part.shard.partition("/")[2])
    distinct = list(dict.fromkeys(n_shards))
    if len(distinct) > 1:
        why = f"shards of {' and of '.join(distinct)}"
        raise InputError("different-statistics", why=why)
    shards = {part.shard for part in parts if part.shard}
    keys = {part.key for part in parts if part.key}  # 0: none of its items counts
    repeated = []
    for part in others:
        if part.shard in shards or part.key in keys:
            repeated.append(part.shard or pluralize(part.n, "item"))
    if repeated:
        raise InputError("merged-twice", names=repeated)


def _measure_names(chosen: ChosenMeasures) -> str:
    return ", ".join(map(str, chosen.measures))
