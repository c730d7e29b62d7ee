"""Scores of items that come in batches, such as those of an evaluation loop.

Conventions
-----------
``compute`` gives what one call of ``score`` on all items gives, to the last digit. Batches are kept
as integers and one vocabulary; everything that depends on all items, such as document frequencies,
is found when they are scored.

With ``keep_rows=False`` items are summed and let go, so memory does not grow with their number.
Both sides of an item are then in one batch. Ids are not kept: one that comes again in a later batch
is not noticed. What needs all items at once is refused, with the reason.

What is evaluated is told by the first batch, where neither the measures nor ``task`` say it. A
batch that is refused changes nothing.
Of items that are let go, the sums that their measures need are kept. Measures are chosen on the
first items and then fixed.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.arguments import check_type
from semmetrics.data.batches import Batches
from semmetrics.data.form import ReadOptions
from semmetrics.data.join import Weights, aligned_weights
from semmetrics.data.lists import Lists
from semmetrics.data.tasks import adds_up
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.common import read_set_size_probs, read_weights, unused_weights
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import terms_of
from semmetrics.metrics.registry import kinds_of_all, parse_all
from semmetrics.options import OPTIONS, check_options, is_given, resolve_options
from semmetrics.scoring.evaluate import Statistics, evaluate
from semmetrics.scoring.fits import BEST, fit
from semmetrics.scoring.plan import (
    Prepared,
    Setup,
    check_given,
    check_weights,
    open_setup,
    resolve_inputs,
    resolve_task,
)
from semmetrics.scoring.protocols import Plan, listed, plan_measures
from semmetrics.scoring.result import Score, score_statistics
from semmetrics.scoring.score import document_options, table_of
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from semmetrics.options import Options
    from semmetrics.scoring.result import Score


_UNCOMPARED = ("progress", "cache")  # they change no number
_SHOWN = 5
BY_ITEM = tuple(name for name, option in OPTIONS.items() if option.batch == "items")
WHOLE = tuple(name for name, option in OPTIONS.items() if option.batch == "whole")
KEPT = tuple(name for name, option in OPTIONS.items() if option.batch in ("whole", "kept"))
_TOGETHER = 1 << 13  # items that are summed together


class Scorer:
    """Scores of predictions and ground truth that come in batches.

    The options are those of ``semmetrics.score``, but for ``weights`` and ``set_size_probs``, which
    are given with each batch. ``len(scorer)`` is the number of items of the ground truth so far.
    A scorer can be copied and pickled; ``a + b`` has the items of both, ``sum(scorers)``
    those of all.

    Examples
    --------
    >>> scorer = Scorer(measures=["F1", "MacroF1"])
    >>> scorer.update([["cat", "dog"]], [["cat"]])
    >>> scorer.update([["cat"]], [["cat"]])
    >>> [round(score.value, 4) for score in scorer.compute()]
    [0.8333, 0.5]
    >>> scorer
    Scorer(measures=['F1', 'F1(average=macro)'], items=2)
    """

    @document_options(*BY_ITEM)
    def __init__(self, *, system: str | None = None, **options: Unpack[Options]) -> None:
        """Make a scorer without items.

        Parameters
        ----------
        system : str, optional
            What the table calls it. The default is "preds".
        **options

        Raises
        ------
        InputError
            If an option is wrong, or ``ci`` or ``score_references`` is given with
            ``keep_rows=False``.
        """
        check_type("system", system, str | None)
        check_options("Scorer", options)
        given: dict[str, Any] = {
            name: list(value) if isinstance(value, Iterator) else value
            for name, value in options.items()
            if value is not None
        }
        _check_batchwise(given)
        check_given(given)
        if "measures" in given:
            given["measures"] = listed(given["measures"])
        self._given = given
        self._kind = resolve_task(*(given.get(name) for name in ("task", "protocol", "measures")))
        self._setup: Setup | None = None
        self._items = Collection(system or "preds", keep_rows=given.get("keep_rows", True))
        if self._kind is not None:
            self._open()

    def reset(self) -> None:
        """Forget all items; the options stay, and what is evaluated."""
        if self._setup is not None:
            self._setup.forget()
        self._items = Collection(self._items.system, keep_rows=self._items.keep_rows)

    def update(
        self, preds: Any, gts: Any, *, weights: Any = None, set_size_probs: Any = None
    ) -> None:
        """Add the items of a batch.

        Parameters
        ----------
        preds, gts : path, mapping, sequence, Series, matrix, tensor, Lists or Matrix
            As for ``score``. Without ids, items are numbered on from batch to batch.
        weights : optional
            A weight for each item of the batch, as for ``score``; with all batches or with none.
        set_size_probs : optional
            Probabilities of each set size, a row for each item of the predictions.

        Raises
        ------
        InputError
            If the batch is wrong, repeats an id, or is of another form than those before. The
            scorer is then as it was.
        """
        kind, system = self._kind, self._items.system
        if kind is None:
            if _is_empty(preds) and _is_empty(gts):
                return
            kind, systems, gts = resolve_inputs({system: preds}, gts, self._given)
            preds = systems[system]
        setup = self._setup or open_setup(kind, self._given)
        ref, pred = setup.read_truth(gts), setup.read(preds, system)
        given = {"weights": weights, "set_size_probs": set_size_probs}
        self._items.add(setup, pred, ref, given)
        self._kind, self._setup = kind, setup

    def compute(self) -> ScoreTable:
        """Score all items so far. More batches can follow.

        Returns
        -------
        ScoreTable
            As ``score`` gives it; with ``keep_rows=False`` without values of items.

        Raises
        ------
        InputError
            If there is no item, or something is wrong that no batch alone could show.
        """
        if self._items.is_empty:
            raise InputError("no-items")
        setup = self._open()
        if self._items.keep_rows:
            prepared = self._items.prepare(setup)
            check_weights(prepared)
            return table_of(prepared)
        prepared, scores, notes = self._items.sum_up(setup)
        return ScoreTable(scores, prepared.plan.not_computed, notes, prepared.understood())

    def merge(self, other: Scorer) -> None:
        """Add the items of another scorer with the same options, such as that of a process.

        Items without ids are numbered on.

        Parameters
        ----------
        other : Scorer
            It stays as it is.

        Raises
        ------
        InputError
            If options differ, an id is in both, or the items are of another form. The scorer is
            then as it was.
        """
        self._check_options(other)
        if other._items.is_empty:
            return
        kind = str(other._kind)
        setup = self._setup or open_setup(kind, self._given)
        self._items.merge(other._items, setup)
        self._kind, self._setup = kind, setup

    def __add__(self, other: Scorer) -> Self:
        """Return a scorer with the items of both."""
        if not isinstance(other, Scorer):
            return NotImplemented
        new = copy(self)
        new.merge(other)
        return new

    def __radd__(self, other: int) -> Self:
        """Return a copy of this scorer for 0, with which ``sum`` begins."""
        return copy(self) if isinstance(other, int) and other == 0 else NotImplemented

    def __len__(self) -> int:
        """The number of items of the ground truth so far."""
        return len(self._items)

    def __repr__(self) -> str:
        measures = self._measures()
        more = len(measures) - _SHOWN
        shown = {
            "protocol": self._given.get("protocol"),
            "measures": [*measures[:_SHOWN], *([f"and {more} more"] if more > 0 else [])],
            "task": self._kind if not measures and "protocol" not in self._given else None,
        }
        told = [f"{name}={value!r}" for name, value in shown.items() if value]
        return f"Scorer({', '.join([*told, f'items={len(self)}'])})"

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but what is opened, which is opened again."""
        given = dict(self._given)
        if "measures" in given:  # as measures, which say what to import where they are not known
            shared = len(kinds_of_all(given["measures"])) > 1
            if self._kind is not None or not shared:
                given["measures"] = parse_all(given["measures"], first=self._kind)
        return {**vars(self), "_given": given, "_setup": None, "_items": self._items.copy()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)

    def _measures(self) -> list[str]:
        """Return the names of the measures that were asked for."""
        return list(map(str, parse_all(self._given.get("measures", ()))))

    def _open(self) -> Setup:
        """Return what the options name, opened once."""
        if self._setup is None:
            self._setup = open_setup(str(self._kind), self._given)
        return self._setup

    def _check_options(self, other: Scorer) -> None:
        """Refuse a scorer with other options."""
        mine, theirs = (
            {"system": one._items.system, **_identities(one._given), "measures": one._measures()}
            for one in (self, other)
        )
        names = [
            name
            for name in dict.fromkeys((*mine, *theirs))
            if name not in _UNCOMPARED and mine.get(name) != theirs.get(name)
        ]
        if names:
            raise InputError("different-scorers", names=names)
        if None not in (self._kind, other._kind) and self._kind != other._kind:
            raise InputError("different-scorers", names=[self._kind, other._kind])


def _is_empty(data: Any) -> bool:
    return hasattr(data, "__len__") and not isinstance(data, str) and len(data) == 0


def _check_batchwise(given: Mapping[str, Any]) -> None:
    """Refuse options that have a value for each item; those that need all, where none is kept."""
    early = [name for name in BY_ITEM if name in given]
    if early:
        raise InputError("given-by-batch", name=early[0])
    needing = [name for name in KEPT if is_given(given.get(name))]
    if needing and not given.get("keep_rows", True):
        raise InputError(
            "needs-all-items",
            what=", ".join(needing),
            reason="needs all items",
            remedy="keep the rows (keep_rows=True), or leave it out",
        )


def _identities(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tells the options that were given from others; defaults need not be given."""
    found = {name: _identity(value) for name, value in given.items()}
    if isinstance(found.get("ignore"), list):  # in any order
        found["ignore"] = sorted(map(str, found["ignore"]))
    return {name: one for name, one in found.items() if one != _identity(OPTIONS[name].default)}


def _identity(value: Any) -> Any:
    """Return what tells an option's value from another, also after it was pickled."""
    if isinstance(value, Mapping):
        return {str(key): _identity(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_identity(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, MethodType):
        return _identity(value.__func__), _identity(value.__self__)
    named = (getattr(value, name, None) for name in ("identity", "hash", "digest", "name"))
    told = next((text for text in named if isinstance(text, str)), None)
    try:
        return type(value).__name__, pickle.dumps(value) if told is None else told
    except (pickle.PicklingError, TypeError, AttributeError):  # it never left this process
        return id(value)


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
        """Return what describes the items that were let go, their scores, and notes."""
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
        if first:  # errors in the options or what they name are raised at once
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
    """Return the weights of several batches, with their notes."""
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


_KEEP = "keep the rows (keep_rows=True)"


class RunningScores:
    """Additive statistics of parts that come one after the other."""

    def __init__(self) -> None:
        self.plan: Plan | None = None
        self._chosen: dict[str, list[tuple[Measure, str]]] = {}  # by system
        self._statistics: dict[tuple[str, str], Statistics] = {}  # by system and part
        self._counts: dict[tuple[str, str], dict[str, int]] = {}
        self._numbered: frozenset[bool] = frozenset()

    @property
    def differently_named(self) -> bool:
        """Whether items were known by their numbers, and in other parts by names made of them."""
        return len(self._numbered) > 1

    def copy(self) -> RunningScores:
        """Return the same sums, to which others can be added."""
        new = RunningScores()
        new.plan, new._numbered = self.plan, self._numbered
        new._chosen, new._statistics = dict(self._chosen), dict(self._statistics)
        new._counts = dict(self._counts)
        return new

    def add(self, setup: Setup, preds: Mapping[str, Any], ref: Any, **by_item: Any) -> None:
        """Add the statistics of items; nothing is added if something is wrong.

        Parameters
        ----------
        setup : Setup
        preds : mapping from system to Lists
        ref : Lists
        **by_item
            Options that have a value for each item.

        Raises
        ------
        InputError
            If the input is wrong, or a measure needs all items at once.
        """
        prepared = setup.prepare(preds, ref, plan=self.plan, **by_item)
        new = self.copy()
        new.plan = prepared.plan
        for system, parts in prepared.tasks.items():
            for part, task in parts.items():
                new._count({(system, part): task.counts}, setup)
                if not len(task):
                    continue
                if system not in new._chosen:
                    new._chosen[system] = _freeze(prepared, task)
                measures = [measure for measure, _ in new._chosen[system]]
                progress = setup.options["progress"]
                task = replace(task, odd={k: n for k, n in task.odd.items() if adds_up(k)})
                found = evaluate(task, measures, keep_rows=False, progress=progress)
                new._add({(system, part): found.without_items()})
                new._numbered |= {isinstance(task.ids, (range, np.ndarray))}
        vars(self).update(vars(new))

    def merge(self, other: RunningScores, setup: Setup) -> None:
        """Add the statistics of other items; nothing is added if they do not fit."""
        new = self.copy()
        if self.plan and other.plan and _names(self.plan) != _names(other.plan):
            raise InputError(
                "different-statistics", why=f"{_names(self.plan)}, and {_names(other.plan)}"
            )
        new.plan = self.plan or other.plan
        new._numbered |= other._numbered
        new._chosen = {**other._chosen, **self._chosen}
        new._count(other._counts, setup)
        new._add(other._statistics)
        vars(self).update(vars(new))

    def _add(self, found: Mapping[tuple[str, str], Statistics]) -> None:
        for key, statistics in found.items():
            before = self._statistics.get(key)
            self._statistics[key] = statistics if before is None else before + statistics

    def _count(self, found: Mapping[tuple[str, str], Mapping[str, int]], setup: Setup) -> None:
        same = [name for name, how in setup.kind.name_counts.items() if how == "same"]
        for key, counts in found.items():
            before = self._counts.get(key, {})
            self._counts[key] = {
                n: max(before.get(n, 0), counts.get(n, 0))
                if n in same
                else before.get(n, 0) + counts.get(n, 0)
                for n in {**before, **counts}
            }

    def scores(self) -> list[Score]:
        """Return the scores of all items: part by part, system by system.

        Raises
        ------
        InputError
            If there is no item, or all weigh nothing.
        """
        if not self._statistics and any("weight_0" in counts for counts in self._counts.values()):
            raise InputError("zero-weights")
        if not self._statistics or self.plan is None:
            raise InputError("no-items")
        scores: list[Score] = []
        for part in dict.fromkeys(part for _, part in self._statistics):
            systems = {name: s for (name, own), s in self._statistics.items() if own == part}
            headings = [f"{part} {heading}" if part else heading for heading in self.plan.headings]
            made = score_statistics(systems, self._chosen, headings=headings)
            scores += [replace(score, part=part) for score in made]
        return scores

    def describe(
        self, setup: Setup, preds: Mapping[str, Any], ref: Any, inputs: Sequence[Any]
    ) -> Prepared:
        """Return what describes all items, from tasks that have every entry that they had.

        Parameters
        ----------
        setup : Setup
        preds : mapping from system to Lists
        ref : Lists
            One item with all entries of all items, where the kind keeps those; else any item.
        inputs : sequence
            What was read, for ``Prepared.inputs``.

        Raises
        ------
        InputError
            If no measure was named, and all items have other default measures than the first.
        """
        nothing = {"weights": None, "set_size_probs": None}
        prepared = setup.prepare(preds, ref, plan=self.plan, **nothing)
        if setup.kind.name_counts:
            plan = plan_measures(setup.kind, prepared.tasks, prepared.options)
            if self.plan is not None and _names(plan) != _names(self.plan):
                raise InputError("other-defaults", first=_names(self.plan), every=_names(plan))
        tasks = {
            system: {
                part: self._counted(task, (system, part), setup) for part, task in parts.items()
            }
            for system, parts in prepared.tasks.items()
        }
        return replace(prepared, tasks=tasks, inputs=inputs)

    def _counted(self, task: Any, key: tuple[str, str], setup: Setup) -> Any:
        """Give a task the counts of all items, in place of those of distinct entries it has."""
        names = setup.kind.name_counts
        distinct = {n: c for n, c in task.counts.items() if names.get(n) == "distinct"}
        others = {n: c for n, c in self._counts[key].items() if names.get(n) != "distinct"}
        return replace(task, counts=distinct | others)


def _names(plan: Plan) -> str:
    return ", ".join(map(str, plan.measures))


def _freeze(prepared: Prepared, task: Any) -> list[tuple[Measure, str]]:
    """Freeze the measures of the first items; refuse those that need all items at once."""
    chosen = []
    for measure in prepared.plan.measures:
        _check_fit(measure, task)
        frozen, note = fit(measure, task, prepared.calibrations)
        if not frozen.definition.family.statistic(frozen).additive:
            raise _needs_all(measure, "is no function of sums over items", _KEEP)
        chosen.append((frozen, note))
    return chosen


def _check_fit(measure: Measure, task: Any) -> None:
    """Refuse a measure that is fitted on all items, or made of the values of other measures."""
    if terms_of(measure):
        raise _needs_all(measure, "is made of the values of other measures", _KEEP)
    if measure["decode"] == BEST:
        remedy = f"{_KEEP}, or find the threshold on other data and give the number"
        raise _needs_all(measure, "chooses a threshold by the scores of all items", remedy)
    counted = measure["df"] == "rows" or (measure["df"] == "references" and "df" not in task.fits)
    if counted:
        remedy = f"{_KEEP}, or give document frequencies (doc_freq=)"
        raise _needs_all(measure, "counts document frequencies on the references", remedy)


def _needs_all(measure: Measure, reason: str, remedy: str) -> InputError:
    return InputError("needs-all-items", what=measure, reason=reason, remedy=remedy)
