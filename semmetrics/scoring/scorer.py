"""Scores of items that come in batches, such as those of an evaluation loop.

Conventions
-----------
``compute`` gives the same scores as one call of ``score`` on all items, to the last digit. Batches
are stored as integers and one vocabulary. Everything that depends on all items, such as document
frequencies, is computed when they are scored.

The first batch decides the kind of data, unless the measures or ``task`` do. It also decides what
scores of 0 and 1 mean, whether cells are lists that were written as text, and which names
annotation tools have for answers. A later batch that is written in another style raises an error.
If a batch raises an error, the scorer does not change.

With ``keep_rows=False``, the sums that the measures need are stored and the items are dropped, so
that the memory use does not grow with their number. Both sides of an item have to be in one batch
then. Ids are not stored, so an id that is repeated in a later batch is not noticed. Measures are
chosen on the first items. Measures that need all items at once raise an error. Saved sums are
states, which can be merged.
"""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Mapping, Sequence
from copy import copy
from types import MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.arguments import check_type
from semmetrics.data.categories import name_categories
from semmetrics.data.form import DEFAULTS
from semmetrics.data.option_keywords import takes_options
from semmetrics.embed.open import SHIPPED
from semmetrics.errors import Fact, InputError, warn_user
from semmetrics.kinds.options import copy_options
from semmetrics.metrics.definition import model_key
from semmetrics.metrics.parsing import kinds_of_all, listed, parse, parse_all
from semmetrics.options import OPTIONS, is_given
from semmetrics.scoring.evaluation import (
    Evaluation,
    check_conflicts,
    check_system_names,
    check_weights,
    choose_kind,
    describe_inputs,
    open_evaluation,
    requested_kind,
    resolve,
)
from semmetrics.scoring.fits import EvaluatedPart
from semmetrics.scoring.intervals import AUTO, POISSON, Bootstrap
from semmetrics.scoring.item_options import OPTIONS_BY_ITEM
from semmetrics.scoring.item_sums import interval_options_of_sums
from semmetrics.scoring.score import score_parts, table_of, warn_of_scores
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.state_values import Digest, can_hold
from semmetrics.scoring.statistics import check_models
from semmetrics.scoring.system_items import SystemItems
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from semmetrics.options import Options

_NEUTRAL_OPTIONS = ("progress", "cache")
"""Options that change no number."""
_FILE_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.file)
_LABEL_LISTS = ("ignore", "classes")
"""Options whose files are read when a state is saved, because they may be elsewhere later."""
_ALL_ITEMS_OPTIONS = tuple(
    name for name, option in OPTIONS.items() if option.batch in ("whole", "kept")
)
"""Options that need stored items."""
_ACTIVATED = "activated-probabilities"
"""A note that can be made only of all items together."""
_MAX_SHOWN_MEASURES = 5


class Scorer:
    """Scores of predictions and ground truth that come in batches.

    The options are those of ``semmetrics.score``, except ``weights`` and ``set_size_probs``, which
    come with each batch. ``len(scorer)`` is the number of items of the ground truth so far. A
    scorer can be copied and pickled. ``a + b`` has the items of both, and ``sum(scorers)`` has
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

    @takes_options(OPTIONS_BY_ITEM)
    def __init__(
        self, *, system: str | None = None, **options: Unpack[Options]
    ) -> None:
        """Make a scorer without items.

        Parameters
        ----------
        system : str, optional
            The name of the system in the table. The default is "preds".
        **options

        Raises
        ------
        InputError
            If an option is wrong, or needs all items and ``keep_rows=False``.
        """
        check_type("system", system, str | None)
        check_system_names([system])
        given = copy_options(options)
        for name in OPTIONS_BY_ITEM:
            if name in given:
                raise InputError("given-by-batch", name=name)
        self._keep_rows = bool(given.get("keep_rows", True))
        if not self._keep_rows:
            _check_needs_no_items(given)
        check_conflicts(given)
        if "measures" in given:
            given["measures"] = listed(given["measures"])
        self._given = given
        self._setup: Evaluation | None = None
        self._kind, measures_by_kind = requested_kind(given)
        if self._kind is not None:
            measures = measures_by_kind.get(self._kind)
            self._setup = open_evaluation(self._kind, given, measures=measures)
        if given.get("ci") and not self._keep_rows:
            # Only this method computes intervals without stored items.
            given["ci_method"] = POISSON
        self._system = system or "preds"
        self._has_warned = False
        self._systems: dict[str, SystemItems] = {}

    @property
    def kind(self) -> str | None:
        """The kind of data, or None if the first batch decides it."""
        return self._kind

    @property
    def setup(self) -> Evaluation:
        """The options and everything that was opened for them, without items."""
        if self._setup is None:
            self._setup = open_evaluation(str(self._kind), self._given)
        return self._setup

    # ---- items ----------------------------------------------------------------------------------

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
            As for ``score``. Items without ids are numbered through all batches.
        system : str, optional
            One of several systems, with ``keep_rows=False``. The default is the first.
        shard : str, optional
            Evaluate only a part of the items, chosen by the hashes of their ids, with
            ``keep_rows=False``. "3/8" is the third of eight parts.
        weights : optional
            A weight for each item of the batch, as for ``score``. Either all batches or none have
            weights.
        set_size_probs : optional
            Probabilities of each set size, a row for each item of the predictions.

        Raises
        ------
        InputError
            If the batch is wrong, repeats an id, or is of another form than those before. The
            scorer does not change then.
        """
        if system is None:
            system = self._system
        check_system_names([system])
        items = self._systems.get(system, SystemItems(keep_rows=self._keep_rows))
        part = None if shard is None else Shard.read(shard)
        if self._keep_rows and part:
            raise InputError("needs-no-rows", what="a shard")
        if self._keep_rows and set(self._systems) - {system}:
            raise InputError("needs-no-rows", what="another system")
        digests = [n for n, one in self._given.items() if isinstance(one, Digest)]
        if digests:
            raise InputError("not-in-a-state", value=", ".join(digests))
        kind = self._kind
        setup = self._setup
        if kind is None:
            if _is_empty_batch(preds) and _is_empty_batch(gts):
                return
            kind, measures, systems, gts = choose_kind(
                {system: preds}, gts, self._given
            )
            preds = systems[system]
            setup = open_evaluation(kind, self._given, measures=measures)
        if setup is None:
            setup = open_evaluation(kind, self._given)
        ref = setup.read_truth(gts)
        named, ref = name_categories({system: setup.read(preds, system)}, ref)
        pred = named[system]
        by_item = {"weights": weights, "set_size_probs": set_size_probs}
        items.add(setup, pred, ref, by_item, system=system, shard=part)
        self._kind = kind
        self._setup = setup
        self._systems = {**self._systems, system: items}
        self._warn_of_scores(pred)

    def reset(self) -> None:
        """Discard all items. The options and the kind of data stay."""
        if self._setup is not None:
            self._setup.forget_items()
        self._systems = {}

    def add_system(self, name: str) -> None:
        """Add a system, which may have no items."""
        check_system_names([name])
        self._systems.setdefault(name, SystemItems(keep_rows=self._keep_rows))

    def drop_items(self) -> None:
        """Sum the items that are stored to be summed together, and drop them."""
        for items in self._systems.values():
            if not items.keep_rows and items.has_new_items:
                items.drop_items(self.setup)

    # ---- scores ---------------------------------------------------------------------------------

    def compute(self) -> ScoreTable:
        """Score all items so far. More batches can follow.

        Returns
        -------
        ScoreTable
            As from ``score``. With ``keep_rows=False`` it has no values of items.

        Raises
        ------
        InputError
            If there is no item, or there is an error that no single batch shows.
        """
        systems = {n: items for n, items in self._systems.items() if not items.is_empty}
        if not systems:
            remedy = "update it with items first"
            raise InputError("empty", role="the scorer", remedy=remedy)
        system, items = next(iter(systems.items()))
        if not items.keep_rows:
            return self._compute_from_sums(systems)
        joined = items.join(self.setup, system)
        check_weights(joined)
        self._has_warned = self._has_warned or warn_of_scores(joined)
        return table_of(joined)

    def _compute_from_sums(self, systems: Mapping[str, SystemItems]) -> ScoreTable:
        """Score the sums of all items so far, of which none are stored."""
        self.drop_items()
        parts: dict[str, dict[str, EvaluatedPart]] = {}
        for system, items in systems.items():
            items.dropped.check_shards()
            for part, evaluated in items.dropped.evaluated.items():
                parts.setdefault(part, {})[system] = evaluated
        self._check_shared(list(systems.values()))
        notes = []
        if _have_different_items(parts):
            notes.append(Fact("different-items"))
        _check_embeddings(parts)
        intervals = interval_options_of_sums(resolve(str(self._kind), self._given))
        first = next(iter(systems.values()))
        chosen = first.chosen
        scores = score_parts(parts, chosen, intervals)
        setup = self._setup_for_notes()
        inputs: list[Any] = []
        for system, items in systems.items():
            of_system = [score for score in scores if score.system == system]
            has_intervals = intervals is not None
            notes += items.notes(setup, system, of_system, ci=has_intervals)
            inputs[-1:] = items.inputs  # the predictions of all, then one ground truth
        self._warn_of_activated(notes)
        understood = describe_inputs(inputs)
        notes = list(dict.fromkeys(notes))
        return ScoreTable(scores, chosen.not_computed, notes, understood)

    def _warn_of_scores(self, pred: Any) -> None:
        """Warn of the first batch of scores that are not probabilities, once for a scorer."""
        if self._has_warned or self.setup.kind.name != "labels":
            return
        from semmetrics.kinds.labels.score_notes import probability_facts

        options = self.setup.options
        rules = options.decode or []
        if isinstance(rules, str):
            rules = [rules]
        measures = list(options.measures or ())
        for rule in rules:
            measures += parse(f"F1(decode={rule})", "labels")
        scores = {pred.source: pred.side.scores}
        notes = probability_facts(scores, measures, options)
        if notes:
            self._has_warned = True
            warn_user(notes[0])

    def _warn_of_activated(self, notes: Sequence[Fact]) -> None:
        """Warn once of scores that were read as logits and look like probabilities."""
        for note in notes:
            if note.code == _ACTIVATED and not self._has_warned:
                self._has_warned = True
                warn_user(note)

    def _setup_for_notes(self) -> Evaluation | None:
        """Return the setup, or None if a file that it needs may be elsewhere.

        This happens for a scorer that was loaded from states.
        """
        if self._setup is not None:
            return self._setup
        for name in _FILE_OPTIONS:
            if _is_file(name, self._given.get(name)):
                return None
        for items in self._systems.values():
            for measure in items.dropped.measures:
                if measure["df"] or measure["parser"]:
                    return None
        return self.setup

    def _check_shared(self, systems: Sequence[SystemItems]) -> None:
        """Raise an error if nothing in an input such as document frequencies is in the data."""
        setup = self._setup_for_notes()
        if setup is None:
            return
        observations = []
        names: list[str] = []
        for items in systems:
            for evaluated in items.dropped.evaluated.values():
                observations.append(evaluated.statistics.observations)
            names += items.dropped.sample_names()
        setup.kind.check_shared(observations, setup.options, names)

    # ---- merging --------------------------------------------------------------------------------

    def merge(self, other: Scorer) -> None:
        """Add the items of another scorer with the same options, such as one of another process.

        Items without ids are numbered on.

        Parameters
        ----------
        other : Scorer
            It does not change.

        Raises
        ------
        InputError
            If options differ, an id is in both, or the items are of another form. The scorer does
            not change then.
        """
        self._check_options(other)
        kind = self._kind or other._kind
        setup = self._setup
        all_items = [*self._systems.values(), *other._systems.values()]
        if setup is None and any(items.has_new_items for items in all_items):
            setup = open_evaluation(str(kind), self._given)
        merged = dict(self._systems)
        for name, items in other._systems.items():
            if name in merged:
                merged[name] = merged[name].merged(items, setup)
            else:
                merged[name] = items.copy()
        self._systems = merged
        self._kind = kind
        self._setup = setup

    def __add__(self, other: Scorer) -> Self:
        """Return a scorer with the items of both."""
        if not isinstance(other, Scorer):
            return NotImplemented
        new = copy(self)
        new.merge(other)
        return new

    def __radd__(self, other: int) -> Self:
        """Return a copy of this scorer for 0, with which ``sum`` begins."""
        if isinstance(other, int) and other == 0:
            return copy(self)
        return NotImplemented

    def _check_options(self, other: Scorer) -> None:
        """Raise an error for a scorer with other options."""
        has_parts = False
        for scorer in (self, other):
            for items in scorer._systems.values():
                has_parts = has_parts or bool(items.dropped.parts)
        # The contents of files are compared with the sums, so their paths may differ.
        ignored = {*_NEUTRAL_OPTIONS, *(_FILE_OPTIONS if has_parts else ())}
        own = self._comparable_options()
        others = other._comparable_options()
        names = []
        for name in dict.fromkeys((*own, *others)):
            if name not in ignored and own.get(name) != others.get(name):
                names.append(name)
        has_other_kind = (
            self._kind is not None
            and other._kind is not None
            and self._kind != other._kind
        )
        if names or has_other_kind:
            kinds = [self._kind, other._kind]
            raise InputError("different-scorers", names=names or kinds)

    def _comparable_options(self) -> dict[str, Any]:
        """Return the options as values that are equal if the options mean the same."""
        comparable: dict[str, Any] = {}
        if self._keep_rows:
            comparable["system"] = self._system
        for name, value in self._given.items():
            if name == "ignore" and isinstance(value, (list, tuple)):
                value = sorted(map(str, value))  # their order does not matter
            digest = _digest(value)
            # A default need not be given.
            if digest != _digest(OPTIONS[name].default):
                comparable[name] = digest
        comparable["measures"] = self._measure_names()
        return comparable

    # ---- states ---------------------------------------------------------------------------------

    def save(self, target: Any, *, shard: str | None = None) -> None:
        """Write the sums of the items so far, to merge them with others elsewhere.

        Parameters
        ----------
        target : path or binary file
            A .npz file of arrays and JSON. Reading it runs no program.
        shard : str, optional
            Which part of the data the items are. "3/8" is the third of eight parts that have no id
            in common.

        Raises
        ------
        InputError
            If items are stored, the shard is wrong, or the file cannot be written.

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
        from semmetrics.scoring.scorer_state import ScorerState, write_scorer_state

        if self._keep_rows:
            raise InputError("needs-no-rows", what="a state")
        if shard is not None:
            Shard.read(shard)
        setup = None
        if any(items.has_new_items for items in self._systems.values()):
            setup = self.setup
        systems = {}
        for name, items in self._systems.items():
            systems[name] = items.summed(setup, name, shard or "")
        options = self._saved_options()
        write_scorer_state(target, ScorerState(self._kind, options, systems))

    def _saved_options(self) -> dict[str, Any]:
        """Return the options that a state names: values that it can hold, or their hashes."""
        options = {}
        for name, value in self._picklable_options().items():
            # The hash of document frequencies is part of the fitted measures.
            if name in _NEUTRAL_OPTIONS or name == "doc_freq":
                continue
            if name in _LABEL_LISTS and isinstance(value, (str, os.PathLike)):
                value = self.setup.options.value(name)
            options[name] = value if can_hold(value) else Digest(_digest(value))
        return options

    @classmethod
    def load(
        cls, source: Any, *others: Any, max_bytes: int = DEFAULTS.max_bytes
    ) -> Self:
        """Read what ``save`` wrote. Several states are merged.

        Parameters
        ----------
        source, *others : path or binary file
        max_bytes : int
            The most bytes of each, after decompression.

        Returns
        -------
        Scorer
            With the sums. More items can follow.

        Raises
        ------
        InputError
            If one is not a state, is damaged, or was written by another version; or if they do not
            belong together.
        """
        from semmetrics.scoring.scorer_state import read_scorer_state

        state = read_scorer_state(source, max_bytes)
        new = cls.__new__(cls)
        new._kind = state.kind
        new._given = state.options
        new._setup = None
        new._system = "preds"
        new._keep_rows = False
        new._has_warned = False
        new._systems = state.systems
        for other in others:
            try:
                new.merge(cls.load(other, max_bytes=max_bytes))
            except InputError as error:
                if error.where:
                    raise
                raise error.placed(other) from None
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Return everything except what is opened, which is opened again."""
        state = dict(vars(self))
        state["_given"] = self._picklable_options()
        state["_setup"] = None
        state["_systems"] = {name: one.copy() for name, one in self._systems.items()}
        return state

    def _picklable_options(self) -> dict[str, Any]:
        """Return the options with parsed measures, which can be found again elsewhere."""
        given = dict(self._given)
        if "measures" not in given:
            return given
        is_ambiguous = self._kind is None and len(kinds_of_all(given["measures"])) > 1
        if not is_ambiguous:
            given["measures"] = parse_all(given["measures"], first=self._kind)
        return given

    # ---- descriptions ---------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of items of the ground truth so far."""
        return max((len(items) for items in self._systems.values()), default=0)

    def __repr__(self) -> str:
        parts = []
        protocol = self._given.get("protocol")
        if protocol is not None:
            parts.append(f"protocol={protocol!r}")
        measures = self._measure_names()
        if measures:
            shown = measures[:_MAX_SHOWN_MEASURES]
            n_more = len(measures) - len(shown)
            if n_more:
                shown.append(f"and {n_more} more")
            parts.append(f"measures={shown!r}")
        elif protocol is None and self._kind:
            parts.append(f"task={self._kind!r}")
        parts.append(f"items={len(self)}")
        return f"Scorer({', '.join(parts)})"

    def _measure_names(self) -> list[str]:
        """Return the names of the requested measures."""
        return list(map(str, parse_all(self._given.get("measures", ()))))


# ---- checks -------------------------------------------------------------------------------------


def _check_needs_no_items(given: Mapping[str, Any]) -> None:
    """Raise an error for options that need stored items."""
    needing = [name for name in _ALL_ITEMS_OPTIONS if is_given(given.get(name))]
    if given.get("missing") == "common":
        needing.append("missing='common'")
    ci = given.get("ci")
    method = given.get("ci_method", AUTO)
    if isinstance(ci, Bootstrap):
        method = ci.method
    if method not in (AUTO, POISSON):
        needing.append(f"ci_method={method!r}")
    if needing:
        values = {"reason": "needs all items", "instead": ", or leave it out"}
        raise InputError("needs-all-items", what=", ".join(needing), **values)


def _is_empty_batch(data: Any) -> bool:
    """Return whether a batch has no items. Paths are not looked at."""
    return hasattr(data, "__len__") and not isinstance(data, str) and not len(data)


def _is_file(name: str, value: Any) -> bool:
    """Return whether an option is a path to a file, which may be elsewhere."""
    if isinstance(value, str) and name == "embedding":
        return value not in SHIPPED
    return isinstance(value, (str, os.PathLike))


def _have_different_items(parts: Mapping[str, Mapping[str, EvaluatedPart]]) -> bool:
    """Return whether systems have different items.

    Raises
    ------
    InputError
        If they do, and no policy allows it.
    """
    are_different = False
    for systems in parts.values():
        names = list(systems)
        first = systems[names[0]].statistics
        is_strict = (
            first.settings.get("missing") == "error"
            and "skip" not in first.settings.values()
        )
        for name in names[1:]:
            if systems[name].statistics.fingerprint == first.fingerprint:
                continue
            are_different = True
            if is_strict:
                what = "items or ground truth"
                raise InputError("scored-otherwise", name, other=names[0], what=what)
    return are_different


def _check_embeddings(parts: Mapping[str, Mapping[str, EvaluatedPart]]) -> None:
    """Raise an error if systems were scored with different embeddings, as states may have been."""
    for systems in parts.values():
        first = next(iter(systems.values()))
        keys = []
        for measure, _ in first.measures:
            if measure["embedding"] is not None:
                keys.append(model_key(measure))
        statistics = {name: one.statistics for name, one in systems.items()}
        check_models(statistics, keys)


# ---- keys of options ----------------------------------------------------------------------------


def _digest(value: Any) -> str:
    """Return a hash of an option's value, which is equal for values that mean the same."""
    if isinstance(value, Digest):
        return str(value)
    key = repr(_stable_key(value)).encode()
    return hashlib.blake2b(key, digest_size=8).hexdigest()


def _stable_key(value: Any) -> Any:
    """Return a key of an option's value, which is the same after the value was pickled."""
    if isinstance(value, Mapping):
        return {str(key): _stable_key(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_stable_key(one) for one in value]
    if isinstance(value, (set, frozenset)):
        return sorted(map(str, value))
    if isinstance(value, MethodType):
        return _stable_key(value.__func__), _stable_key(value.__self__)
    for attribute in ("identity", "hash", "digest", "name"):
        text = getattr(value, attribute, None)
        if isinstance(text, str):
            return type(value).__name__, text
    try:
        return type(value).__name__, pickle.dumps(value)
    except (pickle.PicklingError, TypeError, AttributeError):
        # The value cannot leave this process.
        return id(value)
