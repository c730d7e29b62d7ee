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
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping
from copy import copy
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.api.scores import document_options, table_of
from semmetrics.arguments import check_type
from semmetrics.errors import InputError
from semmetrics.metrics.registry import kinds_of_all, parse_all
from semmetrics.options import OPTIONS, check_options, is_given
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.collection import BY_ITEM, KEPT, Collection
from semmetrics.scoring.plan import (
    Setup,
    check_given,
    check_weights,
    open_setup,
    resolve_inputs,
    resolve_task,
)
from semmetrics.scoring.protocols import listed

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from semmetrics.options import Options

__all__ = ["Scorer"]

_UNCOMPARED = ("progress", "cache")  # they change no number
_SHOWN = 5


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
