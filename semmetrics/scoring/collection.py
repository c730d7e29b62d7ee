"""Items of one system that are collected batch by batch, kept or let go.

Conventions
-----------
Everything that is wrong with a batch is found before anything is changed. Items that are kept are
scored together, as those of one call. Items that are let go are summed some thousands at a time,
both sides of an item in one batch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.data.batches import Batches
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights, aligned_weights
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import read_set_size_probs, read_weights, unused_weights
from semmetrics.options import OPTIONS, resolve_options
from semmetrics.scoring.plan import Prepared, Setup
from semmetrics.scoring.running import RunningScores

if TYPE_CHECKING:
    from semmetrics.scoring.result import Score

__all__ = ["BY_ITEM", "KEPT", "Collection"]

BY_ITEM = tuple(name for name, option in OPTIONS.items() if option.batch == "items")
WHOLE = tuple(name for name, option in OPTIONS.items() if option.batch == "whole")
KEPT = tuple(name for name, option in OPTIONS.items() if option.batch in ("whole", "kept"))
_TOGETHER = 1 << 13  # items that are summed together


class Collection:
    """Predictions and ground truth of one system, and what was given for each of their items.

    Parameters
    ----------
    system : str
    keep_rows : bool
        Whether items are kept until they are scored.
    """

    def __init__(self, system: str, *, keep_rows: bool) -> None:
        self.system, self.keep_rows = system, keep_rows
        self._preds, self._gts = Batches(), Batches()
        self._by_item: dict[str, list[Any]] = {}  # options by name, batch by batch
        self._widths: dict[str, tuple[int, ...]] = {}  # of matrices among them
        self._running = RunningScores()
        self._said: dict[Any, None] = {}  # notes on the weights of items that were let go
        self._sample: tuple[Lists, Lists] | None = None  # an item that was let go
        self._renumbered = False

    def __len__(self) -> int:
        """The number of items of the ground truth."""
        return len(self._gts)

    @property
    def is_empty(self) -> bool:
        """Whether neither side has an item."""
        return not len(self._gts) and not len(self._preds)

    def copy(self) -> Collection:
        """Return the same items, to which others can be added."""
        new = Collection(self.system, keep_rows=self.keep_rows)
        vars(new).update(vars(self))
        new._preds, new._gts = self._preds.copy(), self._gts.copy()
        new._by_item = {name: list(values) for name, values in self._by_item.items()}
        new._widths, new._said = dict(self._widths), dict(self._said)
        new._running = self._running.copy()
        return new

    def add(self, setup: Setup, pred: Lists, ref: Lists, given: Mapping[str, Any]) -> None:
        """Add a batch.

        Parameters
        ----------
        setup : Setup
        pred, ref : Lists
        given : mapping from name to value
            Options that have a value for each item.

        Raises
        ------
        InputError
            If the batch is wrong, repeats an id, or is of another form than those before; nothing
            is added then.
        """
        for one in (pred, ref):
            if not isinstance(one, Lists):
                raise InputError("matrix-batch", one.source)
        given = {name: value for name, value in given.items() if value is not None}
        if not len(pred) and not len(ref):
            return
        pred, ref = _without_items(pred, ref), _without_items(ref, pred)
        values = self._check(setup, pred, ref, given)
        if self.keep_rows:
            self._append(pred, ref, values)
        else:
            self._append_and_let_go(setup, pred, ref, values)

    def merge(self, other: Collection, setup: Setup) -> None:
        """Add the items of another collection.

        Raises
        ------
        InputError
            If an id is in both, or the items are of another form; nothing is added then.
        """
        if not self.keep_rows:
            other = other.copy()
            for one in (self, other):
                one._let_go(setup)
        pairs = ((self._preds, other._preds), (self._gts, other._gts))
        for mine, theirs in pairs:
            mine.check_all(theirs)
            if self.keep_rows:
                _check_new(mine, theirs.lists())
        if not self.is_empty:
            _check_names(set(other._by_item), set(self._by_item))
        _check_widths(other._widths, self._widths)
        if not self.keep_rows:
            self._running.merge(other._running, setup)
            self._renumbered |= other._renumbered or (not self.is_empty and self._gts.by_position)
            self._sample = self._sample or other._sample
            self._said |= other._said
        for name, values in other._by_item.items():
            self._by_item.setdefault(name, []).extend(values)
        self._widths.update(other._widths)
        for mine, theirs in pairs:
            mine.extend(theirs)

    def prepare(self, setup: Setup) -> Prepared:
        """Join the items that were kept, choose measures and open what those need."""
        pred, ref = self._kept()
        return setup.prepare({self.system: pred}, ref, **self._joined_values())

    def sum_up(self, setup: Setup) -> tuple[Prepared, list[Score], list[Any]]:
        """Return what is said of items that were let go, their scores, and notes."""
        self._let_go(setup)
        scores = self._running.scores()
        pred, ref = self._sample or (self._preds.entries(), self._gts.entries())
        if self._preds.mixed:  # refuses what needs scores
            self._running.copy().add(setup, {self.system: pred}, ref)
        inputs = [self._preds, self._gts]
        prepared = self._running.describe(setup, {self.system: pred}, ref, inputs)
        renumbered = self._renumbered or self._running.differently_named
        notes = [*prepared.facts(scores), *self._said]
        return prepared, scores, notes + [Fact("unnumbered")] * renumbered

    def _kept(self) -> tuple[Lists, Lists]:
        """Return the items that wait, of both sides."""
        pred, ref = self._preds.lists(), self._gts.lists()
        return _without_items(pred, ref), _without_items(ref, pred)

    def _check(
        self, setup: Setup, pred: Lists, ref: Lists, given: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Refuse a batch that is wrong; return its values of items."""
        for batches, lists in ((self._preds, pred), (self._gts, ref)):
            if len(lists):
                batches.check(lists)
            if self.keep_rows:
                _check_new(batches, lists)
        resolve_options(given, setup.kind.name)  # refuses what means nothing for the kind
        first = self.is_empty
        if not first:
            _check_names(set(given), set(self._by_item))
        values = _read_values(given, pred, ref, setup)
        _check_widths(_widths(values), self._widths)
        # what needs all items is looked at when all are there
        changed = values | {name: OPTIONS[name].default for name in WHOLE}
        preds = {self.system: pred}
        if first:  # what is wrong with the options or what they name is said at once
            setup.prepare(preds, ref, **changed)
        else:
            setup.kind.make_tasks(preds, ref, setup.options.replace(**changed))
        return values

    def _append(self, pred: Lists, ref: Lists, values: Mapping[str, Any]) -> None:
        for batches, lists in ((self._preds, pred), (self._gts, ref)):
            batches.add(lists)
        for name, value in values.items():
            self._by_item.setdefault(name, []).append(value)
        self._widths.update(_widths(values))

    def _append_and_let_go(
        self, setup: Setup, pred: Lists, ref: Lists, values: Mapping[str, Any]
    ) -> None:
        """Add a batch, and let the items that wait go once they are many.

        A batch is summed alone where its sides have not the same ids, or where one of its ids is
        that of an item that waits: items of different batches are never joined.
        """
        waits = self._preds.repeated(pred.ids) or self._gts.repeated(ref.ids)
        by_id = not isinstance(ref.ids, range)
        alone = bool(waits) or (by_id and set(pred.ids) != set(ref.ids))
        many = self._gts.waiting + len(ref) >= _TOGETHER
        undecided = self._preds.undecided or self._gts.undecided
        if self.is_empty:
            undecided = any(one.cells == "either" or one.whole is not None for one in (pred, ref))
        first = self._running.plan is None and not undecided
        if not (alone or many or first):
            self._append(pred, ref, values)
            return
        new = self.copy()
        if alone:
            new._let_go(setup)
        new._append(pred, ref, values)
        new._let_go(setup)
        vars(self).update(vars(new))

    def _let_go(self, setup: Setup) -> None:
        """Sum the items that wait, and let them go."""
        if not self._preds.waiting and not self._gts.waiting:
            return
        pred, ref = self._kept()
        values = self._joined_values()
        self._running.add(setup, {self.system: pred}, ref, **values)
        if "weights" in values:
            self._said |= dict.fromkeys(values["weights"].notes)
        keep_entries = bool(setup.kind.name_counts)
        if not keep_entries:
            self._sample = self._preds.first(), self._gts.first()
        for batches in (self._preds, self._gts):
            batches.let_go(keep_entries=keep_entries)
        self._by_item = {name: [] for name in self._by_item}
        setup.forget()

    def _joined_values(self) -> dict[str, Any]:
        """Return what was given for each item, of all batches that wait."""
        joined: dict[str, Any] = {}
        for name, values in self._by_item.items():
            joined[name] = _join_weights(values) if name == "weights" else np.concatenate(values)
        return joined


def _join_weights(parts: Sequence[Weights]) -> Weights:
    """Return the weights of several batches, with all that is said of them."""
    sources = {part.source for part in parts}
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    values: Any = [part.values for part in parts]
    by_id = isinstance(values[0], Mapping)
    joined = {key: one for some in values for key, one in some.items()} if by_id else None
    return Weights(
        np.concatenate(values) if joined is None else joined,
        sources.pop() if len(sources) == 1 else "weights",
        list(notes),
    )


def _without_items(lists: Lists, other: Lists) -> Lists:
    """Give a side without items ids where the other side has them: nothing says it has none."""
    by_id = not isinstance(other.ids, range)
    return replace(lists, ids=[]) if by_id and not len(lists) else lists


def _check_new(batches: Batches, lists: Lists) -> None:
    repeated = batches.repeated(lists.ids)
    if repeated:
        raise InputError("ids-in-two-batches", lists.source, ids=repeated)


def _check_names(names: set[str], before: set[str]) -> None:
    """Refuse values of items that only some batches have."""
    if names != before:
        raise InputError("batch-differs", role=", ".join(sorted(names ^ before)))


def _widths(values: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    return {n: value.shape[1:] for n, value in values.items() if isinstance(value, np.ndarray)}


def _check_widths(widths: Mapping[str, tuple[int, ...]], before: Mapping[str, Any]) -> None:
    for name, width in widths.items():
        if before.get(name, width) != width:
            raise InputError("batch-differs", role=f"the number of columns of {name}")


def _read_values(given: Mapping[str, Any], pred: Lists, ref: Lists, setup: Setup) -> dict[str, Any]:
    """Return values of items as arrays; weights by id where items have ids."""
    files = setup.options["read"]
    values: dict[str, Any] = {}
    if "set_size_probs" in given:
        values["set_size_probs"] = read_set_size_probs(given["set_size_probs"], files)
    if "weights" in given:
        weights = read_weights(given["weights"], (files or ReadOptions()).beside())
        values["weights"] = _as_weights(weights, pred, ref)
    return values


def _as_weights(given: Any, pred: Lists, ref: Lists) -> Weights:
    """Return the weights of a batch by id, or in the order of items that have none."""
    weights = given if isinstance(given, Weights) else Weights(given)
    numbered = isinstance(ref.ids, range)
    if not numbered and isinstance(weights.values, Mapping):
        return weights  # which ids are those of no item is known when all batches are there
    values: Any = aligned_weights(weights, ref, ref.ids)
    if not numbered:
        values = dict(zip(map(str, ref.ids), values.tolist(), strict=True))
    return replace(weights, values=values, notes=unused_weights(weights, [pred, ref]))
