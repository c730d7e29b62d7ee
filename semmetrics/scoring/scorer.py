"""Scores of items that come in batches, such as those of an evaluation loop.

Conventions
-----------
``compute`` gives what one call of ``score`` on all items gives, to the last digit. Batches are kept
as integers and one vocabulary; everything that depends on all items, such as document frequencies,
is found when they are scored.

What is evaluated is told by the first batch, where neither the measures nor ``task`` say it. The
first batch also decides whether cells are lists that were written as text, and how the answers of
annotation tools are named. A later batch that is written in another style raises an error. A batch
that is refused changes nothing.

With ``keep_rows=False`` the sums that the measures need are kept and the items let go, so memory
does not grow with their number. Both sides of an item are then in one batch. Ids are not kept: one
that comes again in a later batch is not noticed. Measures are chosen on the first items and then
fixed; those that need all items at once are refused, with the reason. Saved sums are states, which
add up: those of shards, which share no item, to the sums of one process.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from secrets import randbits
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_type
from semmetrics.core.backend import common_precision
from semmetrics.core.ragged import Codes, offsets, row_numbers
from semmetrics.data.categories import name_categories
from semmetrics.data.cell_lists import check_styles, place_of_styles
from semmetrics.data.form import DEFAULTS, takes_options
from semmetrics.data.join import Weights, same_ids
from semmetrics.data.lists import Entry, Ids, Lists, Side, join_ids
from semmetrics.data.observations import Observations
from semmetrics.embed.open import SHIPPED
from semmetrics.errors import ITEM, Fact, InputError, Places, unite, warn_user
from semmetrics.kinds.base import name_task
from semmetrics.kinds.common import read_set_size_probs, read_weights, unused_weights
from semmetrics.kinds.options import ResolvedOptions, copy_options, resolve_options
from semmetrics.messages import listing, pluralize
from semmetrics.metrics.definition import Measure, Statistic, model_key
from semmetrics.metrics.registry import (
    is_own,
    kinds_of_all,
    listed,
    own_identity,
    parse,
    parse_all,
)
from semmetrics.options import OPTIONS, is_given
from semmetrics.scoring import evaluation as opening
from semmetrics.scoring.evaluate import evaluate
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.fits import BEST, EvaluatedPart, FittedMeasure, fit
from semmetrics.scoring.intervals import AUTO, POISSON, Bootstrap
from semmetrics.scoring.measures import ChosenMeasures
from semmetrics.scoring.notes import score_notes
from semmetrics.scoring.resampling import check_added, with_resamples
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import (
    interval_options,
    score_parts,
    table_of,
    warn_of_scores,
)
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.states import Identity, can_hold, read_state, write_state
from semmetrics.scoring.statistics import Statistics, check_models
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from semmetrics.options import Options


_UNCOMPARED = ("progress", "cache")  # they change no number
_FILES = tuple(name for name, option in OPTIONS.items() if option.file)
_LABEL_LISTS = ("ignore", "classes")  # which a state has instead of their files
_SHOWN = 5
_ACTIVATED = "activated-probabilities"  # what shows only in all items together
BY_ITEM = tuple(name for name, option in OPTIONS.items() if option.batch == "items")
WHOLE = tuple(name for name, option in OPTIONS.items() if option.batch == "whole")
KEPT = tuple(
    name for name, option in OPTIONS.items() if option.batch in ("whole", "kept")
)
_TOGETHER = 1 << 13  # items that are summed together
_NAMES = 1000  # entries beside which a sample is kept: classes, not captions


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

    @takes_options(BY_ITEM)
    def __init__(
        self, *, system: str | None = None, **options: Unpack[Options]
    ) -> None:
        """Make a scorer without items.

        Parameters
        ----------
        system : str, optional
            What the table calls it. The default is "preds".
        **options

        Raises
        ------
        InputError
            If an option is wrong, or needs all items and ``keep_rows=False``.
        """
        check_type("system", system, str | None)
        opening.check_system_names([system])
        given = copy_options(options)
        if early := [name for name in BY_ITEM if name in given]:
            raise InputError("given-by-batch", name=early[0])
        keep_rows = given.get("keep_rows", True)
        needing = [name for name in KEPT if is_given(given.get(name))]
        needing += ["missing='common'"] * (given.get("missing") == "common")
        ci = given.get("ci")
        method = (
            ci.method if isinstance(ci, Bootstrap) else given.get("ci_method", AUTO)
        )
        needing += [f"ci_method={method!r}"] * (method not in (AUTO, POISSON))
        if needing and not keep_rows:
            raise InputError(
                "needs-all-items",
                what=", ".join(needing),
                reason="needs all items",
                instead=", or leave it out",
            )
        opening.check_conflicts(given)
        if "measures" in given:
            given["measures"] = listed(given["measures"])
        self._given = given
        self._kind, by_kind = opening.requested_kind(given)
        self._setup: Evaluation | None = None
        if self._kind is not None:
            measures = by_kind.get(self._kind)
            self._setup = opening.open_evaluation(self._kind, given, measures=measures)
        if ci and not keep_rows:  # no other intervals need no rows
            given["ci_method"] = POISSON
        self._system, self._keep_rows = system or "preds", bool(keep_rows)
        self._has_warned = False
        self._systems: dict[str, Collection] = {}

    def reset(self) -> None:
        """Forget all items; the options stay, and what is evaluated."""
        if self._setup is not None:
            self._setup.forget_items()
        self._systems = {}

    def add_system(self, name: str) -> None:
        """Know a system, of which there may be no items."""
        opening.check_system_names([name])
        self._systems.setdefault(name, Collection(keep_rows=self._keep_rows))

    @property
    def kind(self) -> str | None:
        """What is evaluated; None where the first batch has to tell."""
        return self._kind

    def update(
        self,
        preds: Any,
        gts: Any,
        *,
        system: str | None = None,
        shard: str | None = None,
        weights: Any = None,
        set_size_probs: Any = None,
    ) -> None:
        """Add the items of a batch.

        Parameters
        ----------
        preds, gts : path, mapping, sequence, Series, matrix, tensor, Lists or Matrix
            As for ``score``. Without ids, items are numbered on from batch to batch.
        system : str, optional
            One of several systems, with ``keep_rows=False``; without it, the first.
        shard : str, optional
            Evaluate a part of the items alone, by the hashes of their ids, with
            ``keep_rows=False``: "3/8" is the third of eight.
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
        kind, system = self._kind, self._system if system is None else system
        opening.check_system_names([system])
        items = self._systems.get(system, Collection(keep_rows=self._keep_rows))
        part = None if shard is None else Shard.read(shard)
        if self._keep_rows and ({*self._systems} - {system} or part):
            raise InputError(
                "needs-no-rows", what="a shard" if part else "another system"
            )
        if lost := [
            name for name, one in self._given.items() if isinstance(one, Identity)
        ]:
            raise InputError("not-in-a-state", value=", ".join(lost))
        if kind is None:
            sized = (
                hasattr(one, "__len__") and not isinstance(one, str)
                for one in (preds, gts)
            )
            if all(sized) and not len(preds) and not len(gts):
                return
            kind, _, systems, gts = opening.choose_kind(
                {system: preds}, gts, self._given
            )
            preds = systems[system]
        setup = self._setup or opening.open_evaluation(kind, self._given)
        ref = setup.read_truth(gts)
        named, ref = name_categories({system: setup.read(preds, system)}, ref)
        pred = named[system]
        given = {"weights": weights, "set_size_probs": set_size_probs}
        items.add(setup, pred, ref, given, system=system, shard=part)
        self._kind, self._setup = kind, setup
        self._systems = self._systems | {system: items}
        self._warn_of_scores(pred)

    def _warn_of_scores(self, pred: Any) -> None:
        """Warn of the first batch of scores that are no probabilities, once for a scorer."""
        setup = setup_of(self)
        if self._has_warned or setup.kind.name != "labels":
            return
        from semmetrics.kinds.labels.notes import probability_facts

        options = setup.options
        rules = options.decode
        rules = [rules] if isinstance(rules, str) else rules or []
        measures = list(parse_all(options.measures or (), first="labels"))
        measures += [parse(f"F1(decode={rule})", "labels")[0] for rule in rules]
        scores = {pred.source: pred.side.scores}
        for fact in probability_facts(scores, measures, options)[:1]:
            self._has_warned = True
            warn_user(fact)

    def let_go(self) -> None:
        """Sum the items that wait for more to be summed with, and let them go."""
        for items in self._systems.values():
            if not items.keep_rows and items.is_live:
                items.let_go(setup_of(self))

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
        systems = {n: items for n, items in self._systems.items() if not items.is_empty}
        if not systems:
            raise InputError(
                "empty", role="the scorer", remedy="update it with items first"
            )
        system, first = next(iter(systems.items()))
        if first.keep_rows:
            prepared = first.prepare(setup_of(self), system)
            opening.check_weights(prepared)
            self._has_warned = self._has_warned or warn_of_scores(prepared)
            return table_of(prepared)
        return self._compute_from_sums(systems)

    def _compute_from_sums(self, systems: Mapping[str, Collection]) -> ScoreTable:
        """Score the sums of all items so far, of which none are stored."""
        first = next(iter(systems.values()))
        found: dict[str, dict[str, EvaluatedPart]] = {}
        self.let_go()
        for system, items in systems.items():
            items.check_shards()
            for part, evaluated in items.evaluated().items():
                found.setdefault(part, {})[system] = evaluated
        self._check_shared(list(systems.values()))
        differ = _differing_truth(found)
        _check_embeddings(found)
        ci = resampling(opening.resolve(str(self._kind), self._given))
        scores = score_parts(found, first.plan, ci)
        facts, inputs, setup = (
            [Fact("different-items")] * differ,
            list[Any](),
            self._describer(),
        )
        for system, items in systems.items():
            mine = [score for score in scores if score.system == system]
            facts += items.report(setup, system, mine, ci=ci is not None)
            inputs[-1:] = items.inputs
        self._warn_of_activated(facts)
        understood = opening.describe_inputs(inputs)
        return ScoreTable(
            scores, first.plan.not_computed, list(dict.fromkeys(facts)), understood
        )

    def _warn_of_activated(self, facts: Sequence[Fact]) -> None:
        """Warn once of scores that were read as logits."""
        for fact in facts:
            if fact.code == _ACTIVATED and not self._has_warned:
                self._has_warned = True
                warn_user(fact)

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
        kind, setup, mine = self._kind or other._kind, self._setup, self._systems
        if any(
            items.is_live for one in (self, other) for items in one._systems.values()
        ):
            setup = setup or opening.open_evaluation(str(kind), self._given)
        merged = {
            name: mine[name].merged(items, setup) if name in mine else items.copy()
            for name, items in other._systems.items()
        }
        self._systems, self._kind, self._setup = mine | merged, kind, setup

    def save(self, target: Any, *, shard: str | None = None) -> None:
        """Write the sums of the items so far, to be merged with others elsewhere.

        Parameters
        ----------
        target : path or binary file
            A .npz file of arrays and JSON; no program is run to read it.
        shard : str, optional
            Which part of the data the items are: "3/8" is the third of eight parts that have no id
            in common.

        Raises
        ------
        InputError
            If items are kept, the shard is none, or the file cannot be written.

        Examples
        --------
        >>> import io
        >>> parts = []
        >>> for preds, gts in (([["cat", "dog"]], [["cat"]]), ([["cat"]], [["cat"]])):
        ...     scorer = Scorer(measures="F1", keep_rows=False)
        ...     scorer.update(preds, gts)
        ...     parts.append(io.BytesIO())
        ...     scorer.save(parts[-1])
        >>> round(Scorer.load(*parts).compute()["F1"].value, 4)
        0.8333
        """
        if self._keep_rows:
            raise InputError("needs-no-rows", what="a state")
        if shard is not None:
            Shard.read(shard)  # refuses what is none
        setup = (
            setup_of(self)
            if any(one.is_live for one in self._systems.values())
            else None
        )
        options = self._saved_options()
        systems = {
            n: items.to_record(setup, n, shard or "")
            for n, items in self._systems.items()
        }
        write_state(
            target, {"kind": self._kind, "options": options, "systems": systems}
        )

    def _saved_options(self) -> dict[str, Any]:
        """Return the options that a state names: values that it can hold, or their hashes."""
        options = {}
        for name, value in self.__getstate__()["_given"].items():
            # the measures have the hash of the latter
            if name in (
                *_UNCOMPARED,
                "doc_freq",
            ):
                continue
            if name in _LABEL_LISTS and isinstance(value, (str, os.PathLike)):
                # the file may be elsewhere, or change
                value = setup_of(self).options.value(name)
            options[name] = value if can_hold(value) else Identity(_digest(value))
        return options

    @classmethod
    def load(
        cls, source: Any, *others: Any, max_bytes: int = DEFAULTS.max_bytes
    ) -> Self:
        """Read what ``save`` wrote; several are merged.

        Parameters
        ----------
        source, *others : path or binary file
        max_bytes : int
            The most bytes of each, after decompression.

        Returns
        -------
        Scorer
            Without the items; more can follow. If an earlier version wrote the state with another
            default embedding, that embedding is an option of the scorer.

        Raises
        ------
        InputError
            If one is not a state, is damaged, or was written by another version; or they do not
            belong together.
        """
        state = read_state(source, max_bytes)
        new = cls.__new__(cls)
        new._kind, new._given, new._setup = state["kind"], state["options"], None
        new._system, new._keep_rows, new._has_warned = "preds", False, False
        new._systems = {
            n: Collection.of_record(one) for n, one in state["systems"].items()
        }
        for other in others:
            try:
                new.merge(cls.load(other, max_bytes=max_bytes))
            except InputError as error:  # which of them it is
                raise error if error.where else error.placed(other)  # noqa: B904
        return new

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
        return max(map(len, self._systems.values()), default=0)

    def __repr__(self) -> str:
        measures = self._measures()
        more = len(measures) - _SHOWN
        shown = {
            "protocol": self._given.get("protocol"),
            "measures": [
                *measures[:_SHOWN],
                *([f"and {more} more"] if more > 0 else []),
            ],
            "task": self._kind
            if not measures and "protocol" not in self._given
            else None,
        }
        told = [f"{name}={value!r}" for name, value in shown.items() if value]
        return f"Scorer({', '.join([*told, f'items={len(self)}'])})"

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but what is opened, which is opened again."""
        given = dict(self._given)
        # as measures, which say what to import where they are not known
        if "measures" in given:
            shared = len(kinds_of_all(given["measures"])) > 1
            if self._kind is not None or not shared:
                given["measures"] = parse_all(given["measures"], first=self._kind)
        systems = {name: items.copy() for name, items in self._systems.items()}
        return {**vars(self), "_given": given, "_setup": None, "_systems": systems}

    def _describer(self) -> Evaluation | None:
        """Return the setup; of states alone None where it needs a file, which may be elsewhere."""
        if self._setup is None:
            needs_file = any(_is_file(name, self._given.get(name)) for name in _FILES)
            plans = [items._plan for items in self._systems.values() if items._plan]
            taken = [
                m[name]
                for one in plans
                for m in one.measures
                for name in ("df", "parser")
            ]
            if any(taken) or needs_file:
                return None
        return setup_of(self)

    def _check_shared(self, collections: Sequence[Collection]) -> None:
        """Raise if nothing in an input such as document frequencies occurs in the data."""
        setup = self._describer()
        if setup is None:
            return
        noted: list[Any] = []
        names: list[str] = []
        for items in collections:
            noted += [one.statistics.observations for one in items.evaluated().values()]
            names += items.sample_names()
        setup.kind.check_shared(noted, setup.options, names)

    def _measures(self) -> list[str]:
        """Return the names of the measures that were asked for."""
        return list(map(str, parse_all(self._given.get("measures", ()))))

    def _check_options(self, other: Scorer) -> None:
        """Refuse a scorer with other options."""
        sides = []
        for one in (self, other):
            found = {name: _digest(value) for name, value in one._given.items()}
            if isinstance(one._given.get("ignore"), (list, tuple)):  # in any order
                found["ignore"] = _digest(sorted(map(str, one._given["ignore"])))
            # defaults need not be given
            known = {n: v for n, v in found.items() if v != _digest(OPTIONS[n].default)}
            system = {"system": one._system} if one._keep_rows else {}
            sides.append({**system, **known, "measures": one._measures()})
        mine, theirs = sides
        loaded = any(
            items.parts for one in (self, other) for items in one._systems.values()
        )
        # of files the content is compared
        ignored = {
            *_UNCOMPARED,
            *(_FILES if loaded else ()),
        }
        names = [
            name
            for name in dict.fromkeys((*mine, *theirs))
            if name not in ignored and mine.get(name) != theirs.get(name)
        ]
        kinds = [one._kind for one in (self, other)]
        if names or (None not in kinds and kinds[0] != kinds[1]):
            raise InputError("different-scorers", names=names or kinds)


def setup_of(scorer: Scorer) -> Evaluation:
    """Return what a scorer evaluates and how, opened."""
    if scorer._setup is None:
        scorer._setup = opening.open_evaluation(str(scorer._kind), scorer._given)
    return scorer._setup


def _is_file(name: str, value: Any) -> bool:
    """Return whether an option is given as a file, which may be elsewhere."""
    if isinstance(value, str) and name == "embedding":
        return value not in SHIPPED
    return isinstance(value, (str, os.PathLike))


def _digest(value: Any) -> str:
    """Return a hash of what tells an option's value from another."""
    if isinstance(value, Identity):
        return str(value)
    return hashlib.blake2b(repr(_identity(value)).encode(), digest_size=8).hexdigest()


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
    named = (
        getattr(value, name, None) for name in ("identity", "hash", "digest", "name")
    )
    told = next((text for text in named if isinstance(text, str)), None)
    try:
        return type(value).__name__, pickle.dumps(value) if told is None else told
    except (
        pickle.PicklingError,
        TypeError,
        AttributeError,
    ):
        # it never left this process
        return id(value)


def _differing_truth(found: Mapping[str, Mapping[str, EvaluatedPart]]) -> bool:
    """Tell whether systems have other items; refuse it unless such items were allowed."""
    differ = False
    for systems in found.values():
        (name, (_, first)), *others = systems.items()
        kept = (
            first.settings.get("missing") == "error"
            and "skip" not in first.settings.values()
        )
        for other, (_, one) in others:
            differ |= one.fingerprint != first.fingerprint
            if differ and kept:
                raise InputError(
                    "scored-otherwise", other, other=name, what="items or ground truth"
                )
    return differ


def _check_embeddings(found: Mapping[str, Mapping[str, EvaluatedPart]]) -> None:
    """Raise an error if systems were scored with different embeddings, as states may have been."""
    for systems in found.values():
        measures, _ = next(iter(systems.values()))
        keys = [
            model_key(measure)
            for measure, _ in measures
            if measure["embedding"] is not None
        ]
        check_models(
            {name: statistics for name, (_, statistics) in systems.items()}, keys
        )


_NONE: Codes = np.zeros(0, np.int32)
_SCORES = {
    "table": "a matrix of scores",
    "cells": "a matrix of 0 and 1",
    "empty": "empty lists",
    "plain": "lists without scores",
    "members": "0/1",
    "ones": "scores of 1",
    "zeros": "scores of 0 and 1",
    "fractions": "scores",
    "whole": "a matrix, or a part of the items",
}
"""What batches have for scores. "cells" may be scores, or say which names an item has, as "zeros"
and "ones" may; "members" are no scores in any case."""
_CHOSEN, _OTHERS = (
    frozenset({"zeros", "members", "cells"}),
    frozenset({"table", "fractions"}),
)
_APART = {
    "table": frozenset(_SCORES) - {"table", "cells"},
    "plain": frozenset({"ones", "zeros", "fractions"}),
    "fractions": frozenset({"members", "cells"}),
    "whole": frozenset(_SCORES) - {"whole"},
}
"""What one call would not take together."""


_OF_MATRIX = {True: "columns without names", False: "labels with names"}
_FEDERATED = {True: "neg_category_ids, as LVIS has", False: "no neg_category_ids"}


@dataclass
class Batches:
    """One side of what is evaluated, batch by batch, as it was given.

    What scores of 0 and 1 mean is decided by all batches, when it is asked for; what they meant for
    items that were let go then holds.

    Attributes
    ----------
    source, noun, reading : str
        The name of the first batch, what its entries are, and how it was read.
    notes : list
        What was odd in the batches, each once.
    unlike : tuple of int, int and str
        As that of ``Lists``, of all batches.
    waiting : int
        The number of items that were not let go.

    Examples
    --------
    >>> batches = Batches()
    >>> for codes in ([0, 1], [1]):
    ...     side = Side(offsets(np.array([len(codes)])), np.array(codes))
    ...     batches.extend(Batches.of(Lists(range(1), ["cat", "dog"], side)))
    >>> len(batches), batches.lists().to_list()
    (2, [['cat', 'dog'], ['dog']])
    """

    source: str = ""
    noun: str = "entry"
    reading: str = ""
    notes: list[Any] = field(default_factory=list)
    unlike: tuple[int, int, str] = (0, 0, "")
    waiting: int = 0
    _place: str = ""  # of the first item
    _scores: frozenset[str] = frozenset()  # of _SCORES; empty before the first item
    # each with its scores
    _readings: dict[tuple[str, str], None] = field(default_factory=dict)
    _order: str = ""
    _precisions: frozenset[str] = frozenset()  # of scores
    _has_marks: bool = False
    _names_all: bool = False
    _is_federated: bool = False
    # as those of Lists, by the first batch
    _styles: dict[str, str] = field(default_factory=dict)
    _style_place: str = ""  # of an item that shows them
    _columns: list[Entry] = field(default_factory=list)  # of matrices
    _is_unnamed: bool = False  # whether a matrix had columns without names
    _codes: dict[Entry, int] = field(default_factory=dict)  # of the vocabulary
    _sides: list[Side] = field(default_factory=list)
    _ids: list[Ids] | None = None  # batch by batch; None: known by position
    # those of the first so many batches
    _known: dict[str, None] = field(default_factory=dict)
    _n_known: int = 0
    # of the items that were let go: their number and that of their entries
    _gone: int = 0
    _gone_entries: int = 0
    _gone_chosen: bool = False  # whether 0 and 1 said which entries they had

    @classmethod
    def of(cls, lists: Lists) -> Batches:
        """Return a batch."""
        new, given = (
            cls(lists.source, lists.noun, lists.understood),
            lists.whole or lists,
        )
        if len(lists):
            scores = _scores_of(lists, given)
            new.notes, new.unlike, new.waiting = (
                list(lists.notes),
                lists.unlike,
                len(lists),
            )
            new._scores, new._readings = (
                frozenset({scores}),
                {(given.understood, scores): None},
            )
            new._order = given.order
            new._precisions = frozenset({given.precision})
            new._has_marks = given.has_marks
            new._names_all = given.names_all
            new._is_federated = given.is_federated
            new._styles = dict(lists.styles)
            new._style_place = place_of_styles(lists)
            new._columns = list(given.vocabulary) if lists.ranked or lists.cells else []
            new._is_unnamed = bool(new._columns) and given.columns is not None
            new._codes = dict(
                zip(given.vocabulary, range(len(given.vocabulary)), strict=True)
            )
            new._sides = [given.side]
            new._ids = None if isinstance(lists.ids, range) else [lists.ids]
            new._place = lists.where(0)
        return new

    @classmethod
    def of_whole(cls, found: Any, size: int) -> Batches:
        """Return a batch that was evaluated as it is; ``size`` of its items are in the shard."""
        entries = found.contents[0] * size // max(1, len(found))
        is_lists = isinstance(found, Lists)
        return cls(
            found.source,
            found.contents[1],
            found.understood,
            _gone=size,
            _gone_entries=entries,
            _scores=frozenset({"whole"}),
            _readings={(found.understood, "whole"): None},
            _ids=None if isinstance(found.ids, range) else [],
            _styles=dict(found.styles) if is_lists else {},
            _style_place=place_of_styles(found) if is_lists else "",
        )

    def __len__(self) -> int:
        """The number of items of all batches, also of those let go."""
        return self._gone + self.waiting

    @property
    def contents(self) -> tuple[int, str]:
        """How many of what came in all batches."""
        waiting = sum(len(self._decided(side).codes) for side in self._sides)
        return (
            self._gone_entries + waiting,
            "score" if "table" in self._scores else self.noun,
        )

    @property
    def verb(self) -> str:
        """What the predictions are: scores of all labels, or labels."""
        return "scored" if "table" in self._scores else "predicted"

    @property
    def understood(self) -> str:
        """How the batches were read."""
        # what was taken for 0/1 is understood as the others are
        texts = [
            text + ", 0/1" * (self._chosen and scores in ("zeros", "ones"))
            for text, scores in self._readings
            if not ("table" in self._scores and scores == "cells")
        ]
        return "; ".join(dict.fromkeys(texts)) or self.reading

    @property
    def undecided(self) -> bool:
        """Whether later scores may tell what those of 0 and 1 so far mean."""
        others = self._scores & {"table", "fractions", "members", "cells"}
        return self._scores == {"cells"} or ("zeros" in self._scores and not others)

    @property
    def scored(self) -> bool:
        """Whether entries have scores, which do not say whether an item has them."""
        found = self._scores
        return bool(found & _OTHERS) or ("ones" in found and not found & _CHOSEN)

    @property
    def _chosen(self) -> bool:
        """Whether scores of 0 and 1 say so."""
        return "zeros" in self._scores and not self.scored

    def copy(self) -> Batches:
        """Return the same batches, to which others can be added."""
        new = Batches()
        for name, value in vars(self).items():
            setattr(
                new, name, value.copy() if isinstance(value, (dict, list)) else value
            )
        return new

    def repeated(self, other: Batches) -> list[str]:
        """Return the ids that an item of both has that was not let go."""
        if not (self._ids and other._ids):
            return []
        for part in self._ids[self._n_known :]:
            self._known.update(dict.fromkeys(map(str, part)))
        self._n_known = len(self._ids)
        return [
            name
            for part in other._ids
            for name in map(str, part)
            if name in self._known
        ]

    def check(self, other: Batches) -> None:
        """Refuse batches that cannot follow these.

        Raises
        ------
        InputError
            If only one of them has ids, the columns of matrices or what scores mean differ, only
            some entries have a score, or entries are written in another style.
        """
        check_styles(other._styles, self._styles, other._style_place)
        if not (self._scores and other._scores):
            return
        both, shown = self._scores | other._scores, (other, self)
        gone_otherwise = (self._gone_chosen or other._gone_chosen) and both & _OTHERS
        if (self._ids is None) is not (other._ids is None):
            has, had = ("no ids" if one._ids is None else "ids" for one in shown)
        elif self._columns and other._columns and self._columns != other._columns:
            has, had = (
                f"the columns {listing(map(str, one._columns))}" for one in shown
            )
        elif self._is_unnamed is not other._is_unnamed and not self._has_numbers_only(
            other
        ):
            has, had = (_OF_MATRIX[one._is_unnamed] for one in shown)
        elif self._is_federated is not other._is_federated:
            has, had = (_FEDERATED[one._is_federated] for one in shown)
        elif gone_otherwise or any(both & _APART.get(one, frozenset()) for one in both):
            has, had = (
                " and ".join(map(_SCORES.__getitem__, one._scores)) for one in shown
            )
        else:
            return
        raise InputError("other-batch", other._place or other.source, has=has, had=had)

    def _has_numbers_only(self, other: Batches) -> bool:
        """Return whether all entries that are not of matrices may be numbers of columns."""
        named = other if self._is_unnamed else self
        return all(str(entry).isdecimal() for entry in named._codes)

    def extend(self, other: Batches) -> None:
        """Add other batches that were checked, and what they let go."""
        if not self.source:
            self.source, self.noun, self.reading = (
                other.source,
                other.noun,
                other.reading,
            )
        self._styles = other._styles | self._styles
        self._style_place = self._style_place or other._style_place
        if not other._scores:
            return
        if not self._scores:
            self._ids = None if other._ids is None else []
        if self._ids is not None:
            self._ids += other._ids or []
        (n, items, example), (more, of, another) = self.unlike, other.unlike
        self.unlike = n + more, items + of, example or another
        self.notes = unite([*self.notes, *other.notes])
        self._scores |= other._scores
        self._readings.update(other._readings)
        self._order = self._order or other._order
        self._precisions |= other._precisions
        self._has_marks |= other._has_marks
        self._names_all |= other._names_all
        self._is_federated |= other._is_federated
        self._columns = self._columns or other._columns
        self._is_unnamed |= other._is_unnamed
        known = self._codes  # new entries are added
        own = [known.setdefault(entry, len(known)) for entry in other._codes]
        codes = np.array(own, np.int32)
        self._sides += [replace(side, codes=codes[side.codes]) for side in other._sides]
        self.waiting += other.waiting
        self._gone += other._gone
        self._gone_entries += other._gone_entries
        self._gone_chosen |= other._gone_chosen

    def lists(self) -> Lists:
        """Return the items that were not let go."""
        sides = list(map(self._decided, self._sides))
        scores = [side.scores for side in sides if side.scores is not None]
        side = Side(
            offsets(np.concatenate([_NONE, *(np.diff(one.indptr) for one in sides)])),
            np.concatenate([_NONE, *(one.codes for one in sides)]),
            np.concatenate(scores) if scores else None,
        )
        ids: Any = (
            range(self._gone, len(self)) if self._ids is None else join_ids(self._ids)
        )
        return self._lists(ids, side)

    def decided(self, item: Lists) -> Lists:
        """Return an item that was let go as it would be read beside all others."""
        if self.scored or item.side.scores is None:
            return item
        return replace(
            item,
            side=replace(item.side, scores=None),
            order=self._order or "keys",
            names_all=True,
        )

    def let_go(self) -> None:
        """Let the items go."""
        self._gone_entries = self.contents[0]
        self._gone, self._sides, self._codes, self.waiting = len(self), [], {}, 0
        self._gone_chosen |= bool(self._scores & {"zeros", "cells"}) and not self.scored
        self._ids, self._known, self._n_known = None if self._ids is None else [], {}, 0

    def _decided(self, side: Side) -> Side:
        """Return items with what their scores of 0 and 1 mean in all batches."""
        if "table" in self._scores and side.scores is None:  # each cell has a score
            width = len(self._columns)
            values = np.zeros((len(side), width))
            values[row_numbers(side.indptr), side.codes] = 1.0
            codes = np.tile(np.arange(width, dtype=np.int32), len(side))
            return Side(np.arange(len(side) + 1) * width, codes, values.ravel())
        if side.scores is None or self.scored:
            return side
        return replace(side.keep(side.scores != 0), scores=None)

    def _lists(self, ids: Any, side: Side) -> Lists:
        named = None if isinstance(ids, range) else ids
        ranked = "table" in self._scores
        matrix = (
            bool(self._columns) and not ranked and self._columns == list(self._codes)
        )
        cells = "either" if self._scores == {"cells"} else "members"
        return Lists(
            ids,
            list(self._codes),
            side,
            noun=self.noun,
            ranked=ranked,
            cells=cells * matrix,
            order="" if ranked else self._order or "keys" * self._chosen,
            unlike=self.unlike,
            source=self.source,
            understood=self.understood,
            notes=[*self.notes],
            names_all=bool(self._columns)
            or self._chosen
            or self._has_marks
            or self._names_all,
            has_marks=self._has_marks,
            is_federated=self._is_federated,
            precision=common_precision(self._precisions),
            where=Places(self.source, named, "" if named else ITEM, ids),
        )


def _scores_of(lists: Lists, given: Lists) -> str:
    """Return what a batch has for scores, of `_SCORES`."""
    scores = given.side.scores
    if lists.ranked:
        return "table"
    if lists.cells == "either":
        return "cells"
    if not len(given.side.codes):
        return "empty"
    if scores is None:
        return "members" if lists.order in ("columns", "keys") else "plain"
    return "fractions" if lists.has_fractions else "zeros" if lists.whole else "ones"


class Collection:
    """Predictions and ground truth of one system, and what was given for each of their items.

    Parameters
    ----------
    keep_rows : bool
        Whether items are kept until they are scored; otherwise their sums are.
    """

    def __init__(self, *, keep_rows: bool) -> None:
        self.keep_rows = keep_rows
        self.is_live = False  # whether it has items that were not loaded as sums
        self.parts: list[Part] = []  # that were loaded
        self._preds, self._gts = Batches(), Batches()
        self._by_item: dict[str, list[Any]] = {}  # options by name, batch by batch
        # of the items that were let go: what was computed, by part, and what is said of them
        self._plan: ChosenMeasures | None = None
        self._chosen: dict[str, list[FittedMeasure]] = {}
        self._statistics: dict[str, Statistics] = {}
        self._counts: dict[str, Any] = {}
        self._fallen: dict[
            str, Any
        ] = {}  # what was noted of batches of which no item is left
        self._sample: list[Lists] = []  # one of them
        self._facts: list[Fact] = []  # on weights and on what was evaluated whole
        self._told: list[
            Fact
        ] = []  # on loaded items, where they cannot be described anew
        self._offered: dict[str, int] = {}  # how many items each shard was chosen from
        # ids, numbers, or other numbers than before
        self._known_by: frozenset[str] = frozenset()

    def __len__(self) -> int:
        """The number of items of the ground truth."""
        return len(self._gts)

    @property
    def is_empty(self) -> bool:
        """Whether neither side has an item."""
        return not len(self._gts) and not len(self._preds)

    @property
    def inputs(self) -> tuple[Batches, Batches]:
        """How both sides were read."""
        return self._preds, self._gts

    def report(
        self,
        setup: Evaluation | None,
        system: str,
        scores: Sequence[Score],
        *,
        ci: bool,
    ) -> list[Fact]:
        """Return what a user should know of the items that were let go, and their scores."""
        unseen = [Fact("ids-not-compared")] * (
            sum(not part.shard for part in self.parts) > 1
        )
        unseen += [Fact("unnumbered")] * (len(self._known_by) > 1)
        axes = {
            name_task(system, part): (one, self._preds.verb)
            for part, one in self._statistics.items()
        }
        said = [*self._describe(setup, system), *self._facts]
        return [*said, *score_notes(scores, axes, ci=ci), *unseen]

    def check_shards(self) -> None:
        """Refuse loaded parts of which some are missing."""
        shards = [Shard.read(part.shard) for part in self.parts if part.shard]
        every = range(1, 1 + max((shard.of for shard in shards), default=0))
        if missing := {*every} - {shard.number for shard in shards}:
            names = [f"{number}/{len(every)}" for number in sorted(missing)]
            raise InputError("missing-shards", names=names)

    def to_record(
        self, setup: Evaluation | None, system: str, shard: str
    ) -> dict[str, Any]:
        """Return the sums, and what is said of them, as a file holds them."""
        new = self.copy()
        new.let_go(setup)
        new._told = new._describe(setup, system)
        n = len(new) - sum(part.n for part in new.parts)
        if new.is_live or n or not new.parts:
            total = sum(one.fingerprint for one in new._statistics.values())
            rest = (total - sum(part.fingerprint for part in new.parts)) % (1 << 64)
            key = rest if new._gts._ids is not None else randbits(64)
            new.parts = [*new.parts, Part(shard, n, rest, key)]
        for batches in new.inputs:
            batches.let_go()
        measures = new._plan.measures if new._plan else []
        own = {
            m.definition: own_identity(m.definition)
            for m in measures
            if is_own(m.definition)
        }
        sums = {
            part: [one.sums[s] for s in new._needed(part)]
            for part, one in new._statistics.items()
        }
        drawn = {
            part: one.resamples and [one.resamples[s] for s in new._needed(part)]
            for part, one in new._statistics.items()
        }
        bare = {
            p: replace(one, sums={}, resamples=None)
            for p, one in new._statistics.items()
        }
        return {
            **vars(new),
            "is_live": False,
            "_statistics": bare,
            "own": own,
            "sums": sums,
            "resamples": drawn,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Collection:
        """Return what a file holds."""
        for definition, identity in record.pop("own").items():
            if own_identity(definition) != identity:
                raise InputError("other-measure", measure=definition.name)
        new, sums, drawn = (
            cls(keep_rows=False),
            record.pop("sums"),
            record.pop("resamples"),
        )
        vars(new).update(record)
        for part, one in new._statistics.items():
            needed = new._needed(part)
            new._statistics[part] = replace(
                one,
                sums=dict(zip(needed, sums[part], strict=True)),
                resamples=drawn[part] and dict(zip(needed, drawn[part], strict=True)),
            )
        return new

    def _needed(self, part: str) -> list[Statistic]:
        """Return what is summed of a part, in the order of the measures."""
        measures = (measure for measure, _ in self._chosen[part])
        return list(dict.fromkeys(m.definition.family.statistic(m) for m in measures))

    @property
    def plan(self) -> ChosenMeasures:
        """What is computed of the items that were let go."""
        if self._plan is None or not self._statistics:
            weightless = any("weight_0" in counts for counts in self._counts.values())
            raise InputError("zero-weights" if weightless else "no-items")
        return self._plan

    def copy(self) -> Collection:
        """Return the same items, to which others can be added."""
        new = copy(self)
        new._preds, new._gts = self._preds.copy(), self._gts.copy()
        new._by_item = {name: list(values) for name, values in self._by_item.items()}
        return new

    def add(
        self,
        setup: Evaluation,
        pred: Any,
        ref: Any,
        given: Mapping[str, Any],
        *,
        system: str,
        shard: Shard | None = None,
    ) -> None:
        """Add a batch.

        Parameters
        ----------
        setup : Evaluation
        pred, ref : Lists or Matrix
        given : mapping from name to value
            Options that have a value for each item.
        system : str
        shard : Shard or None
            The part of the items to evaluate.

        Raises
        ------
        InputError
            If the batch is wrong, repeats an id, or is of another form than those before; nothing
            is added then.
        """
        matrices = [one for one in (pred, ref) if not isinstance(one, Lists)]
        if matrices and self.keep_rows:
            raise InputError("matrix-batch", matrices[0].source)
        if not len(pred) and not len(ref):
            return
        pred, ref = _with_ids(pred, ref)
        # refuses what means nothing for it
        resolved = resolve_options(given, setup.kind.name)
        given = {
            name: resolved.value(name)
            for name, value in given.items()
            if value is not None
        }
        values = _read_values(given, pred, ref, setup)
        if matrices or shard:
            vars(self).update(
                vars(self._with_whole(setup, system, pred, ref, shard, values))
            )
            return
        batch = Collection(keep_rows=self.keep_rows)
        batch._preds, batch._gts = Batches.of(pred), Batches.of(ref)
        batch._by_item = {name: [value] for name, value in values.items()}
        self._check(batch)
        # Items of different batches are never joined: a batch is summed alone where its sides have
        # not the same ids, or where one of its ids is that of an item that waits.
        waits = self._preds.repeated(batch._preds) or self._gts.repeated(batch._gts)
        alone = waits or not (
            same_ids(pred.ids, ref.ids) or set(pred.ids) == set(ref.ids)
        )
        many = self._gts.waiting + len(ref) >= _TOGETHER
        before = batch if self.is_empty else self
        first = self._plan is None and not (
            before._preds.undecided or before._gts.undecided
        )
        # what is wrong is found as early
        if self.keep_rows or not (alone or many or first):
            # what needs all items is looked at when all are there
            changed = values | {name: OPTIONS[name].default for name in WHOLE}
            # also in the options or what they name
            if self.is_empty or self._preds.undecided:
                prepared = setup.join({system: pred}, ref, **changed)
                if not batch._preds.undecided:
                    _check_form(prepared)
            else:
                setup.kind.join({system: pred}, ref, setup.options.replace(**changed))
            self._extend(batch)
            self.is_live = True
            return
        new = self.copy()  # nothing is added if something is wrong
        new.is_live = True
        if alone:
            new.let_go(setup)
        new._extend(batch)
        new.let_go(setup)
        vars(self).update(vars(new))

    def _with_whole(
        self,
        setup: Evaluation,
        system: str,
        pred: Any,
        ref: Any,
        shard: Shard | None,
        values: Any,
    ) -> Collection:
        """Return also the sums of a batch that is evaluated as it is, such as a matrix."""
        new, n, name = self.copy(), len(self), "/".join(map(str, shard or ()))
        if (
            isinstance(ref.ids, range)
            and len(self)
            and bool(shard) is not bool(self._offered)
        ):
            new._known_by |= {"numbers", "other numbers"}
        if shard is not None:  # the numbers of its items are those of all items
            n = self._offered.get(name, 0)
            new._offered = {**self._offered, name: n + len(ref)}
        new.is_live = True
        pred, ref = (
            replace(one, ids=range(n, n + len(one)))
            if isinstance(one.ids, range)
            else one
            for one in (pred, ref)
        )
        prepared = setup.join(
            {system: pred}, ref, chosen=self._plan, shard=shard, **values
        )
        found = new._add_evaluated(prepared, setup)
        new._facts = unite([*new._facts, *_facts_of(prepared, found, {})])
        size = len(next(iter(found.values()), ()))
        for batches, one in zip(new.inputs, (pred, ref), strict=True):
            whole = Batches.of_whole(one, size)
            check_styles(whole._styles, batches._styles, whole._style_place)
            batches.extend(whole)
        return new

    def merged(self, other: Collection, setup: Evaluation | None) -> Collection:
        """Return the items of both.

        Raises
        ------
        InputError
            If an id is in both, or the items are of another form.
        """
        new, other = self.copy(), other.copy()
        if not self.keep_rows:
            for one in (new, other):
                one.let_go(setup)
        new._check(other)
        if new._plan and other._plan and _names(new._plan) != _names(other._plan):
            why = f"{_names(new._plan)}, and {_names(other._plan)}"
            raise InputError("different-statistics", why=why)
        chosen = other._chosen | new._chosen
        if any(chosen[part] != one for part, one in other._chosen.items()):
            why = (
                "what was fitted, such as document frequencies or a threshold, differs"
            )
            raise InputError("different-statistics", why=why)
        _check_parts(new.parts, other.parts)
        new._add_sums(other._statistics, other._counts)
        new._fallen = _merged_observations(new._fallen, other._fallen)
        new._plan, new._chosen = new._plan or other._plan, chosen
        new.parts = [*new.parts, *other.parts]
        sharded = all(part.shard for part in (*new.parts, *other.parts))
        if len(new._gts) and new._gts._ids is None and not (new.parts and sharded):
            new._known_by |= {"other numbers"}
        new._known_by |= other._known_by
        new.is_live |= other.is_live
        new._facts = unite([*new._facts, *other._facts])
        new._told = unite([*new._told, *other._told])
        new._sample = _fuller(new._sample, other._sample)
        new._extend(other)
        return new

    def prepare(self, setup: Evaluation, system: str) -> Evaluation:
        """Join the items that were kept, choose measures and open what those need."""
        pred, ref = _with_ids(self._preds.lists(), self._gts.lists())
        values: dict[str, Any] = {
            name: _join_weights(some) if name == "weights" else np.concatenate(some)
            for name, some in self._by_item.items()
        }
        return setup.join({system: pred}, ref, chosen=self._plan, **values)

    def evaluated(self) -> dict[str, EvaluatedPart]:
        """Return the measures and the statistics of each part of the items that were let go."""
        return {
            part: EvaluatedPart(self._chosen[part], found)
            for part, found in self._statistics.items()
        }

    def sample_names(self) -> list[str]:
        """Return the labels or captions of the item that stands for those let go."""
        return [
            str(name)
            for lists in self._sample
            for name in getattr(lists, "vocabulary", ())
        ]

    def _describe(self, setup: Evaluation | None, system: str) -> list[Fact]:
        """Return what was odd in the items that were let go: their counts, beside one of them.

        Without a setup, it is what was told of parts of them.
        """
        if setup is None or not self._sample or not self._statistics:
            return self._told
        pred, ref = map(Batches.decided, self.inputs, self._sample)
        nothing = dict.fromkeys(BY_ITEM)
        try:
            prepared = setup.join({system: pred}, ref, chosen=self.plan, **nothing)
        except InputError:
            # no item has both sides, or a device or package is elsewhere
            return self._told
        if pred is not self._sample[0]:  # refuses what needs scores
            self._evaluate(prepared, setup)
        tasks = {
            part: replace(task, counts=self._counts[part])
            for part, task in prepared.tasks[system].items()
        }
        inputs: Any = [self._preds, self._gts]
        prepared = replace(prepared, tasks={system: tasks}, inputs=inputs)
        return _facts_of(prepared, self._statistics, self._fallen)

    def _check(self, other: Collection) -> None:
        """Refuse items that cannot follow those before."""
        for mine, theirs in ((self._preds, other._preds), (self._gts, other._gts)):
            mine.check(theirs)
            repeated = self.keep_rows and mine.repeated(theirs)
            if repeated:
                raise InputError("ids-in-two-batches", theirs.source, ids=repeated)
        differ = self._by_item.keys() ^ other._by_item.keys()
        if differ and not (self.is_empty or other.is_empty):
            raise InputError("batch-differs", role=", ".join(sorted(differ)))
        for name, values in other._by_item.items():
            both = (*self._by_item.get(name, ())[:1], *values[:1])
            if len({one.shape[1:] for one in both if isinstance(one, np.ndarray)}) > 1:
                raise InputError(
                    "batch-differs", role=f"the number of columns of {name}"
                )

    def _extend(self, other: Collection) -> None:
        for name, values in other._by_item.items():
            self._by_item.setdefault(name, []).extend(values)
        self._preds.extend(other._preds)
        self._gts.extend(other._gts)

    def let_go(self, setup: Evaluation | None) -> None:
        """Sum the items that wait, and let them go; nothing changes if something is wrong."""
        if setup is None or not (self._preds.waiting or self._gts.waiting):
            return
        prepared = self.prepare(setup, "")
        for part in self._add_evaluated(prepared, setup):
            numbered = isinstance(prepared.tasks[""][part].ids, (range, np.ndarray))
            self._known_by |= {"numbers" if numbered else "ids"}
        weights = prepared.options.weights
        self._facts = unite([*self._facts, *(weights.notes if weights else ())])
        self._sample = _fuller(self._sample, list(map(_first_item, prepared.inputs)))
        for batches in (self._preds, self._gts):
            batches.let_go()
        # one is kept without its rows, to compare the columns of others with
        self._by_item = {
            name: [one[:0] for one in values[:1] if isinstance(one, np.ndarray)]
            for name, values in self._by_item.items()
        }
        setup.forget_items()

    def _add_evaluated(
        self, prepared: Evaluation, setup: Evaluation
    ) -> dict[str, Statistics]:
        """Add the sums of prepared items, and return their statistics by part."""
        chosen, found = self._evaluate(prepared, setup)
        (tasks,) = prepared.tasks.values()
        self._add_sums(found, {part: task.counts for part, task in tasks.items()})
        fallen = {
            part: task.observations for part, task in tasks.items() if not len(task)
        }
        self._fallen = _merged_observations(self._fallen, fallen)
        self._plan, self._chosen = prepared.chosen, chosen
        return found

    def _evaluate(
        self, prepared: Evaluation, setup: Evaluation
    ) -> tuple[dict[str, list[FittedMeasure]], dict[str, Statistics]]:
        """Return the measures, frozen on the first items, and the statistics of each part."""
        chosen, found, ci = dict(self._chosen), {}, resampling(setup.options)
        for part, task in next(iter(prepared.tasks.values())).items():
            if not len(task):
                continue
            if part not in chosen:
                chosen[part] = _freeze(prepared, part, task)
            task = replace(task, observations=task.observations.of_parts())
            measures = [measure for measure, _ in chosen[part]]
            sums = evaluate(
                task, measures, keep_rows=bool(ci), progress=setup.options.progress
            )
            if ci:
                sums = with_resamples(sums, ci)
            nothing = np.zeros(0, np.uint64)
            found[part] = replace(  # of the items their number alone
                sums,
                parts=None,
                ids=range(len(sums)),
                hashes=nothing,
                weights=None,
                groups=None if sums.groups is None else np.unique(sums.groups),
            )
        return chosen, found

    def _add_sums(
        self,
        statistics: Mapping[str, Statistics],
        counts: Mapping[str, Mapping[Any, int]],
    ) -> None:
        """Add the sums of other items; those that do not fit change nothing."""
        before = self._statistics
        for part in before.keys() & statistics.keys():
            check_added(before[part], statistics[part])
        added = {
            p: before[p] + one if p in before else one for p, one in statistics.items()
        }
        self._statistics = before | added
        self._counts = _added_counts(self._counts, counts)


_FORM_ERRORS = ("no-rule", "no-scores", "measure-needs-scores", "needs-option")
_FIRST_ITEMS = 8  # enough to find one with a prediction


def _check_form(prepared: Evaluation) -> None:
    """Try each measure on a few items, and raise the errors that any batch would cause.

    Raises
    ------
    InputError
        If a measure needs sets and the predictions are scores, if it needs scores and there are
        none, or if it needs an option that is not set.
    """
    if prepared.kind.name not in ("labels", "classes"):
        return
    for parts in prepared.tasks.values():
        for part, task in parts.items():
            first = task.take(np.arange(min(len(task), _FIRST_ITEMS)))
            for measure in prepared.chosen.evaluated(part):
                _try_measure(measure, first, prepared)


def _try_measure(measure: Measure, task: Any, prepared: Evaluation) -> None:
    try:
        fitted, _ = fit(measure, task, prepared.calibrations)
        evaluate(task, [fitted], keep_rows=False)
    except InputError as error:  # others may be due to the small number of items
        if error.code in _FORM_ERRORS:
            raise


class Part(NamedTuple):
    """Items that were summed elsewhere.

    Attributes
    ----------
    shard : str
        Which of so many parts without common ids: "3/8"; "" where that is not known.
    n : int
    fingerprint : int
        Of the ids and their references.
    key : int
        The same; of items without ids, which may be alike elsewhere, a random number.
    """

    shard: str
    n: int
    fingerprint: int
    key: int


def _check_parts(mine: Sequence[Part], theirs: Sequence[Part]) -> None:
    """Refuse parts that have items in common, as far as that is known."""
    shards = {part.shard for part in mine if part.shard}
    counts = {part.shard.partition("/")[2] for part in (*mine, *theirs) if part.shard}
    if len(counts) > 1:
        raise InputError(
            "different-statistics", why=f"shards of {' and of '.join(counts)}"
        )
    seen = {part.key for part in mine if part.key}  # 0: none of its items counts
    twice = [
        part.shard or pluralize(part.n, "item")
        for part in theirs
        if part.shard in shards or part.key in seen
    ]
    if twice:
        raise InputError("merged-twice", names=twice)


def resampling(options: ResolvedOptions) -> Bootstrap | None:
    """Return how intervals are made of items that are not kept; None without."""
    made = interval_options(options)
    return made and replace(made, method=POISSON)


def _first_item(lists: Lists) -> Lists:
    """Return the first item that has an entry, or one without; it has no id."""
    row = (np.diff(lists.side.indptr) > 0).argmax() if len(lists) else -1
    where = Places(lists.source, None, ITEM, range(1))
    item = replace(
        lists, ids=range(1), side=lists.side.take(np.array([row])), where=where
    )
    return item.occurring_alone() if len(item.vocabulary) > _NAMES else item


def _fuller(one: list[Lists], other: list[Lists]) -> list[Lists]:
    """Return the one of two samples with entries on more sides, of both the first."""
    return max(
        one,
        other,
        key=lambda some: (len(some), sum(len(s.side.codes) > 0 for s in some)),
    )


def _facts_of(
    prepared: Evaluation, found: Mapping[str, Statistics], fallen: Mapping[str, Any]
) -> list[Fact]:
    """Return what was odd in the items of one system, and what has no effect on them."""
    (system,) = prepared.tasks
    every = _merged_observations(
        {part: one.observations for part, one in found.items()}, fallen
    )
    noted = {name_task(system, part): one for part, one in every.items()}
    return [*prepared.data_notes(noted), *prepared.measure_notes()]


def _merged_observations(
    observations: Mapping[str, Observations], others: Mapping[str, Observations]
) -> dict[str, Observations]:
    """Return the observations of both, by part."""
    merged = {part: one.copy() for part, one in observations.items()}
    for part, other in others.items():
        merged.setdefault(part, Observations()).merge(other.of_parts())
    return merged


def _added_counts(
    counts: Mapping[str, Mapping[str, int]], others: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    """Return the sums of the counts of both, by part."""
    added = {part: dict(one) for part, one in counts.items()}
    for part, other in others.items():
        total = added.setdefault(part, {})
        for name, n in other.items():
            total[name] = total.get(name, 0) + n
    return added


def _join_weights(parts: Sequence[Weights]) -> Weights:
    """Return the weights of several batches, with their notes."""
    values: list[Any] = [part.values for part in parts]
    if isinstance(values[0], Mapping):
        joined: Any = {name: one for some in values for name, one in some.items()}
    else:
        joined = np.concatenate(values)
    sources = {part.source for part in parts}
    notes = dict.fromkeys(note for part in parts for note in part.notes)
    return Weights(
        joined, sources.pop() if len(sources) == 1 else "weights", list(notes)
    )


def _with_ids(pred: Lists, ref: Lists) -> tuple[Lists, Lists]:
    """Give a side without items ids where the other side has them: nothing says it has none."""
    if isinstance(pred.ids, range) and isinstance(ref.ids, range):
        return pred, ref
    pred, ref = (one if len(one) else replace(one, ids=[]) for one in (pred, ref))
    return pred, ref


def _read_values(
    given: Mapping[str, Any], pred: Lists, ref: Lists, setup: Evaluation
) -> dict[str, Any]:
    """Return values of items as arrays; weights by id where items have ids."""
    files = setup.options.read
    values: dict[str, Any] = {}
    if "set_size_probs" in given:
        values["set_size_probs"] = read_set_size_probs(given["set_size_probs"], files)
    if "weights" in given:
        weights = read_weights(given["weights"], files.beside()) or Weights(None)
        numbered = isinstance(ref.ids, range)
        # Unused ids of a mapping are known only when all batches are there.
        if numbered or not weights.is_by_id:
            found: Any = weights.align(ref, ref.ids)
            if not numbered:
                found = dict(zip(map(str, ref.ids), found.tolist(), strict=True))
            weights = replace(
                weights, values=found, notes=unused_weights(weights, [pred, ref])
            )
        values["weights"] = weights
    return values


def _names(chosen: ChosenMeasures) -> str:
    return ", ".join(map(str, chosen.measures))


def _freeze(prepared: Evaluation, part: str, task: Any) -> list[FittedMeasure]:
    """Freeze the measures of the first items; refuse those that need all items at once."""
    chosen = []
    for measure in prepared.chosen.evaluated(part):
        instead, df = "", measure["df"]
        if measure["decode"] == BEST:
            reason = "chooses a threshold by the scores of all items"
            instead = ", or find the threshold on other data and give the number"
        elif df == "rows" or (
            df and not {"df", f"{df}/{measure['stem']}"} & {*task.fits}
        ):
            reason = "counts document frequencies on the references"
            instead = f", or give document frequencies, {OPTIONS['doc_freq'].both}"
        else:
            frozen, note = fit(measure, task, prepared.calibrations)
            if frozen.definition.family.statistic(frozen).additive:
                chosen.append(FittedMeasure(frozen, note))
                continue
            reason = "is no function of sums over items"
        raise InputError(
            "needs-all-items", what=measure, reason=reason, instead=instead
        )
    return chosen
