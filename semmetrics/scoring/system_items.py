"""The items of one system in a `Scorer`: stored items, or the sums of items that were dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.data.cell_lists import check_styles
from semmetrics.data.join import same_ids
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.observations import Observations
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import name_task
from semmetrics.options import OPTIONS
from semmetrics.scoring.batch_checks import check_can_follow
from semmetrics.scoring.dropped_items import DroppedItems, merge_observations
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.input_buffer import InputBuffer
from semmetrics.scoring.item_options import (
    OPTIONS_BY_ITEM,
    ItemValues,
    check_same_columns,
    columns_of,
    join_item_values,
    read_item_options,
)
from semmetrics.scoring.item_sums import check_measures, sum_items
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.result import Score
from semmetrics.scoring.score_notes import score_notes
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.statistics import Statistics

_OPTIONS_OF_ALL_ITEMS = tuple(
    name for name, option in OPTIONS.items() if option.batch == "whole"
)
"""Options that apply only to all items together."""
ITEMS_SUMMED_TOGETHER = 1 << 13
"""The number of items that are stored before they are summed and dropped."""


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
        The values of options with a value for each item, batch by batch.
    dropped : DroppedItems
    """

    def __init__(self, *, keep_rows: bool) -> None:
        self.keep_rows = keep_rows
        self.has_new_items = False
        self.preds = InputBuffer()
        self.gts = InputBuffer()
        self.by_item: dict[str, list[ItemValues]] = {}
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
            If no such item is left.
        """
        if self.dropped.chosen is None or not self.dropped.statistics:
            counts = self.dropped.counts.values()
            has_weight_0 = any("weight_0" in part_counts for part_counts in counts)
            raise InputError("zero-weights" if has_weight_0 else "no-items")
        return self.dropped.chosen

    def copy(self) -> SystemItems:
        """Return a copy, to which other items can be added."""
        new = SystemItems(keep_rows=self.keep_rows)
        new._copy_from(self)
        return new

    def _copy_from(self, other: SystemItems) -> None:
        """Replace all items by a copy of other items."""
        self.has_new_items = other.has_new_items
        self.preds = other.preds.copy()
        self.gts = other.gts.copy()
        self.by_item = {name: list(values) for name, values in other.by_item.items()}
        self.dropped = other.dropped.copy()

    # ---- adding items ---------------------------------------------------------------------------

    def add(
        self,
        setup: Evaluation,
        pred: Lists | Matrix,
        ref: Lists | Matrix,
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
            If the batch is wrong, repeats an id, or has another form than earlier batches. In this
            case nothing is added.
        """
        if self.keep_rows:
            _check_no_matrix(pred, ref)
        if not len(pred) and not len(ref):
            return
        pred, ref = _with_ids(pred, ref)
        values = read_item_options(by_item, pred, ref, setup)
        if isinstance(pred, Lists) and isinstance(ref, Lists) and shard is None:
            self._add_lists(setup, system, pred, ref, values)
        else:
            self._add_whole(setup, system, pred, ref, shard, values)

    def _add_lists(
        self,
        setup: Evaluation,
        system: str,
        pred: Lists,
        ref: Lists,
        values: Mapping[str, ItemValues],
    ) -> None:
        """Store a batch, or sum it together with the stored items."""
        pred = self.preds.read_alike(pred)
        ref = self.gts.read_alike(ref)
        batch = SystemItems(keep_rows=self.keep_rows)
        batch.preds = InputBuffer.of(pred)
        batch.gts = InputBuffer.of(ref)
        batch.by_item = {name: [value] for name, value in values.items()}
        self._check_can_follow(batch)
        is_summed_alone = False
        if not self.keep_rows:
            is_summed_alone = self._must_be_summed_alone(batch, pred, ref)
        is_first = self.dropped.chosen is None
        is_full = self.gts.n_stored + len(ref) >= ITEMS_SUMMED_TOGETHER
        is_summed_now = is_summed_alone or is_first or is_full
        if self.keep_rows or not is_summed_now:
            self._check_stored_batch(setup, {system: pred}, ref, values)
            self._extend(batch)
            self.has_new_items = True
            return
        # The batch is added to a copy, so that an error does not change this object.
        changed = self.copy()
        changed.has_new_items = True
        if is_summed_alone:
            changed.drop_items(setup)
        changed._extend(batch)
        changed.drop_items(setup)
        self._copy_from(changed)

    def _must_be_summed_alone(
        self, batch: SystemItems, pred: Lists, ref: Lists
    ) -> bool:
        """Return whether a batch must not be joined with stored items.

        Predictions and references from different batches are never joined. Therefore a batch is
        summed alone if its sides do not have the same ids, or if a stored item has one of its ids.
        """
        if self.preds.repeated_ids(batch.preds) or self.gts.repeated_ids(batch.gts):
            return True
        return not same_ids(pred.ids, ref.ids) and set(pred.ids) != set(ref.ids)

    def _check_stored_batch(
        self,
        setup: Evaluation,
        preds: Mapping[str, Lists],
        ref: Lists,
        values: Mapping[str, ItemValues],
    ) -> None:
        """Raise the errors of a batch that do not depend on other batches."""
        options: dict[str, Any] = dict(values)
        for name in _OPTIONS_OF_ALL_ITEMS:
            options[name] = OPTIONS[name].default
        if self.is_empty:
            # This includes errors in options and in the files that they name.
            check_measures(setup.join(preds, ref, **options))
        else:
            setup.kind.join(preds, ref, setup.options.replace(**options))

    def _add_whole(
        self,
        setup: Evaluation,
        system: str,
        pred: Lists | Matrix,
        ref: Lists | Matrix,
        shard: Shard | None,
        values: Mapping[str, ItemValues],
    ) -> None:
        """Add the sums of a batch that is evaluated directly, such as a matrix."""
        changed = self.copy()
        changed.has_new_items = True
        dropped = changed.dropped
        is_of_shard = shard is not None
        earlier_are_of_shards = bool(dropped.shard_sizes)
        has_numbers = not ref.has_ids
        if len(self) and has_numbers and is_of_shard is not earlier_are_of_shards:
            dropped.add_identification("numbers", "other numbers")
        first_number = len(self)
        if shard is not None:
            # The items of a shard have the numbers of the items from which they are chosen.
            first_number = dropped.number_in_shard(shard, len(ref))
        pred = _renumbered(pred, first_number)
        ref = _renumbered(ref, first_number)
        joined = setup.join(
            {system: pred}, ref, chosen=dropped.chosen, shard=shard, **values
        )
        statistics = changed._add_sums(joined)
        dropped.add_notes(_notes_of(joined, statistics, {}))
        n_items = 0
        if statistics:
            first_part, *_ = statistics.values()
            n_items = len(first_part)
        for buffer, data in ((changed.preds, pred), (changed.gts, ref)):
            batch = InputBuffer.of_whole(data, n_items)
            check_styles(batch.styles, buffer.styles, batch.style_place)
            buffer.extend(batch)
        self._copy_from(changed)

    def _check_can_follow(self, other: SystemItems) -> None:
        """Raise an error for items that cannot follow the earlier ones."""
        for buffer, batch in ((self.preds, other.preds), (self.gts, other.gts)):
            check_can_follow(buffer, batch)
            if self.keep_rows:
                repeated = buffer.repeated_ids(batch)
                if repeated:
                    raise InputError("ids-in-two-batches", batch.source, ids=repeated)
        in_only_one = self.by_item.keys() ^ other.by_item.keys()
        if in_only_one and not self.is_empty and not other.is_empty:
            raise InputError("batch-differs", role=", ".join(sorted(in_only_one)))
        for name, values in other.by_item.items():
            check_same_columns(name, self.by_item.get(name, []), values)

    def _extend(self, other: SystemItems) -> None:
        """Add items without a check."""
        for name, values in other.by_item.items():
            self.by_item.setdefault(name, []).extend(values)
        self.preds.extend(other.preds)
        self.gts.extend(other.gts)

    def merged(self, other: SystemItems, setup: Evaluation | None) -> SystemItems:
        """Return the items of both.

        Raises
        ------
        InputError
            If an id is in both, or the items have another form.
        """
        new = self.copy()
        other = other.copy()
        if not self.keep_rows:
            new.drop_items(setup)
            other.drop_items(setup)
        other.preds = new.preds.read_buffer_alike(other.preds)
        other.gts = new.gts.read_buffer_alike(other.gts)
        new._check_can_follow(other)
        new.dropped.merge(other.dropped)
        has_numbers = len(new.gts) > 0 and new.gts.ids is None
        parts = new.dropped.parts
        are_shards = bool(parts) and all(part.shard for part in parts)
        if has_numbers and not are_shards:
            new.dropped.add_identification("other numbers")
        new.has_new_items |= other.has_new_items
        new._extend(other)
        return new

    # ---- summing and dropping items -------------------------------------------------------------

    def join(self, setup: Evaluation, system: str) -> Evaluation:
        """Join the stored items, choose measures, and open their models."""
        pred, ref = _with_ids(self.preds.lists(), self.gts.lists())
        values: dict[str, Any] = {}
        for name, parts in self.by_item.items():
            values[name] = join_item_values(parts)
        return setup.join({system: pred}, ref, chosen=self.dropped.chosen, **values)

    def drop_items(self, setup: Evaluation | None) -> None:
        """Sum the stored items and drop them. If an error occurs, nothing changes."""
        if setup is None or not (self.preds.n_stored or self.gts.n_stored):
            return
        joined = self.join(setup, "")
        for part in self._add_sums(joined):
            ids = joined.tasks[""][part].ids
            identification = "ids"
            if isinstance(ids, (range, np.ndarray)):
                identification = "numbers"
            self.dropped.add_identification(identification)
        weights = joined.options.weights
        if weights is not None:
            self.dropped.add_notes(weights.notes)
        self.dropped.add_sample(joined.inputs)
        self.preds.drop_items()
        self.gts.drop_items()
        for name, values in self.by_item.items():
            columns = columns_of(values)
            self.by_item[name] = [] if columns is None else [columns]
        setup.forget_items()

    def _add_sums(self, joined: Evaluation) -> dict[str, Statistics]:
        """Add the sums of joined items, and return their statistics by part."""
        dropped = self.dropped
        summed = sum_items(joined, dropped.fitted)
        (tasks,) = joined.tasks.values()
        counts = {}
        without_items = {}
        for part, task in tasks.items():
            counts[part] = task.counts
            if not len(task):
                without_items[part] = task.observations
        dropped.add_sums(summed.statistics, counts)
        dropped.add_observations(without_items)
        dropped.chosen = joined.chosen
        dropped.fitted = summed.fitted
        return summed.statistics

    # ---- results --------------------------------------------------------------------------------

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
            None if it cannot be opened here. In this case the stored notes are returned.
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
        the tasks cannot be made here, the stored notes are returned.
        """
        dropped = self.dropped
        if setup is None or not dropped.sample or not dropped.statistics:
            return dropped.stored_notes
        pred, ref = dropped.sample
        no_values = dict.fromkeys(OPTIONS_BY_ITEM)
        try:
            joined = setup.join({system: pred}, ref, chosen=self.chosen, **no_values)
        except InputError:
            # No item has both sides, or this machine does not have a device or package.
            return dropped.stored_notes
        tasks = {}
        for part, task in joined.tasks[system].items():
            tasks[part] = replace(task, counts=dropped.counts[part])
        joined = replace(joined, tasks={system: tasks}, inputs=self.inputs)
        return _notes_of(joined, dropped.statistics, dropped.without_items)

    def summed(self, setup: Evaluation | None, system: str, shard: str) -> SystemItems:
        """Return a copy with only sums and notes, which can be stored in a file.

        Parameters
        ----------
        setup : Evaluation or None
        system : str
        shard : str
            The part of the data that the new items are, such as "3/8", or "".
        """
        new = self.copy()
        new.drop_items(setup)
        dropped = new.dropped
        dropped.stored_notes = new.describe(setup, system)
        n_new = len(new) - sum(part.n for part in dropped.parts)
        if new.has_new_items or n_new or not dropped.parts:
            dropped.add_part(shard, n_new, have_ids=new.gts.ids is not None)
        new.preds.drop_items()
        new.gts.drop_items()
        new.has_new_items = False
        return new


# ---- batches ------------------------------------------------------------------------------------


def _check_no_matrix(pred: Lists | Matrix, ref: Lists | Matrix) -> None:
    """Raise an error for a matrix, whose items cannot be stored."""
    for data in (pred, ref):
        if not isinstance(data, Lists):
            raise InputError("matrix-batch", data.source)


def _with_ids(
    pred: Lists | Matrix, ref: Lists | Matrix
) -> tuple[Lists | Matrix, Lists | Matrix]:
    """Make a side without items a side with ids, if the other side has ids."""
    if not pred.has_ids and not ref.has_ids:
        return pred, ref
    if not len(pred):
        pred = replace(pred, ids=[])
    if not len(ref):
        ref = replace(ref, ids=[])
    return pred, ref


def _renumbered(data: Lists | Matrix, first_number: int) -> Lists | Matrix:
    """Number items without ids from a first number on."""
    if data.has_ids:
        return data
    return replace(data, ids=range(first_number, first_number + len(data)))


def _notes_of(
    joined: Evaluation,
    statistics: Mapping[str, Statistics],
    without_items: Mapping[str, Observations],
) -> list[Fact]:
    """Return the notes on the items of one system, and on options without effect."""
    (system,) = joined.tasks
    observed = {part: sums.observations for part, sums in statistics.items()}
    by_task = {}
    for part, observations in merge_observations(observed, without_items).items():
        by_task[name_task(system, part)] = observations
    return [*joined.data_notes(by_task), *joined.measure_notes()]
