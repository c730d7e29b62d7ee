"""Scores of items that come in batches, such as the batches of an evaluation loop.

Conventions
-----------
``compute`` returns exactly the same scores as one call of ``score`` on all items. Batches are
stored as integer codes with one vocabulary. Everything that depends on all items, such as document
frequencies, is computed when they are scored.

The first batch decides the kind of data, unless the measures or ``task`` do. It also decides what
scores of 0 and 1 mean, whether cells are lists that were written as text, and which names
annotation tools have for answers. A later batch that is written in another style raises an error.
If a batch raises an error, the scorer does not change.

With ``keep_rows=False``, the scorer stores the sums that the measures need and drops the items, so
that memory use does not grow with their number. Then both sides of an item must be in one batch.
Ids are not stored, so an id that is repeated in a later batch is not noticed. The first items
decide which measures are computed. Measures that need all items at once raise an error. The sums
can be saved as a state, and states can be merged.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import wraps
from threading import RLock
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from semmetrics.arguments import check_type
from semmetrics.data.categories import name_categories
from semmetrics.data.option_keywords import takes_options
from semmetrics.data.read_options import DEFAULTS
from semmetrics.errors import Fact, InputError, warn_user
from semmetrics.kinds.options import copy_options
from semmetrics.metrics.parsing import kinds_of_all, listed, parse, parse_all
from semmetrics.scoring.evaluation import (
    Evaluation,
    check_conflicts,
    check_system_names,
    check_weights,
    choose_kind,
    open_evaluation,
    requested_kind,
)
from semmetrics.scoring.intervals import POISSON
from semmetrics.scoring.item_options import OPTIONS_BY_ITEM
from semmetrics.scoring.score import table_of, warn_of_scores
from semmetrics.scoring.scorer_options import (
    FILE_OPTIONS,
    NEUTRAL_OPTIONS,
    check_needs_no_items,
    differing_names,
    digest_of,
    digests_of,
    needs_file,
)
from semmetrics.scoring.shards import Shard
from semmetrics.scoring.state_values import Digest, can_hold
from semmetrics.scoring.sums_table import score_sums
from semmetrics.scoring.system_items import SystemItems
from semmetrics.scoring.table import ScoreTable

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from semmetrics.options import Options

_LABEL_LISTS = ("ignore", "classes")
"""Options whose files are read when a state is saved, because they may not exist later."""
_ACTIVATED = "activated-probabilities"
"""A note that depends on all items together."""
_MAX_SHOWN_MEASURES = 5

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def _exclusive(
    method: Callable[Concatenate[Scorer, _Parameters], _Result],
) -> Callable[Concatenate[Scorer, _Parameters], _Result]:
    """Let only one thread at a time run a method of a scorer, so that no batch is lost."""

    @wraps(method)
    def run_exclusively(
        scorer: Scorer, /, *args: _Parameters.args, **kwargs: _Parameters.kwargs
    ) -> _Result:
        with scorer._lock:
            return method(scorer, *args, **kwargs)

    return run_exclusively


class Scorer:
    """Scores of predictions and ground truth that come in batches.

    The options are the same as for ``semmetrics.score``, except ``weights`` and
    ``set_size_probs``, which come with each batch. ``len(scorer)`` is the number of items of the
    ground truth so far. A scorer can be copied and pickled, and several threads may update it.
    ``a + b`` has the items of both, and ``sum(scorers)`` has the items of all.

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
        user_options = copy_options(options)
        for name, value in user_options.items():
            if isinstance(value, dict):
                # The caller may change lists in it, such as class lists, before later batches.
                user_options[name] = value | copy_options(value)
        for name in OPTIONS_BY_ITEM:
            if name in user_options:
                raise InputError("given-by-batch", name=name)
        keep_rows = bool(user_options.get("keep_rows", True))
        if not keep_rows:
            check_needs_no_items(user_options)
        check_conflicts(user_options)
        if "measures" in user_options:
            user_options["measures"] = listed(user_options["measures"])
        kind, measures_by_kind = requested_kind(user_options)
        setup = None
        if kind is not None:
            measures = measures_by_kind.get(kind)
            setup = open_evaluation(kind, user_options, measures=measures)
        if user_options.get("ci") and not keep_rows:
            # Only this method computes intervals without stored items.
            user_options["ci_method"] = POISSON
        self._initialize(kind, user_options, setup, system, keep_rows=keep_rows)

    def _initialize(
        self,
        kind: str | None,
        user_options: dict[str, Any],
        setup: Evaluation | None = None,
        system: str | None = None,
        *,
        keep_rows: bool,
    ) -> None:
        """Set all attributes, without items.

        Parameters
        ----------
        kind : str or None
            None if the first batch decides it.
        user_options : dict from name to value
            The options that the user set.
        setup : Evaluation, optional
            The options, and the files and models that were opened for them.
        system : str, optional
            The name of the first system. The default is "preds".
        keep_rows : bool
        """
        self._lock = RLock()
        self._kind = kind
        self._user_options = user_options
        self._setup = setup
        self._system = system or "preds"
        self._keep_rows = keep_rows
        self._has_warned = False
        self._systems: dict[str, SystemItems] = {}

    @property
    def kind(self) -> str | None:
        """The kind of data, or None if the first batch decides it."""
        return self._kind

    @property
    def setup(self) -> Evaluation:
        """The options, and the files and models that were opened for them, without items."""
        if self._setup is None:
            self._setup = open_evaluation(str(self._kind), self._user_options)
        return self._setup

    # ---- items ----------------------------------------------------------------------------------

    @_exclusive
    def update(
        self,
        preds: Any,
        gts: Any,
        *,
        system: str | None = None,
        shard: str | None = None,
        weights: object = None,
        set_size_probs: object = None,
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
            If the batch is wrong, repeats an id, or has another form than earlier batches. In this
            case the scorer does not change.
        """
        check_type("system", system, str | None)
        if system is None:
            system = self._system
        check_system_names([system])
        parsed_shard = None if shard is None else Shard.read(shard)
        self._check_can_update(system, parsed_shard)
        if self._kind is None and _is_empty_batch(preds) and _is_empty_batch(gts):
            return
        setup = self._setup
        if self._kind is None:
            kind, measures, systems, gts = choose_kind(
                {system: preds}, gts, self._user_options
            )
            preds = systems[system]
            setup = open_evaluation(kind, self._user_options, measures=measures)
        elif setup is None:
            setup = open_evaluation(self._kind, self._user_options)
        ref = setup.read_truth(gts)
        pred = setup.read(preds, system)
        named_preds, ref = name_categories({system: pred}, ref)
        pred = named_preds[system]
        by_item = {"weights": weights, "set_size_probs": set_size_probs}
        items = self._systems.get(system, SystemItems(keep_rows=self._keep_rows))
        items.add(setup, pred, ref, by_item, system=system, shard=parsed_shard)
        self._kind = setup.kind.name
        self._setup = setup
        self._systems = {**self._systems, system: items}
        self._warn_of_scores(pred)

    def _check_can_update(self, system: str, shard: Shard | None) -> None:
        """Raise an error if this scorer cannot have another system, a shard or new items."""
        if self._keep_rows and shard is not None:
            raise InputError("needs-no-rows", what="a shard")
        if self._keep_rows and set(self._systems) - {system}:
            raise InputError("needs-no-rows", what="another system")
        # A loaded state has only the digests of some options, which new items would need.
        missing_options = []
        for name, value in self._user_options.items():
            if isinstance(value, Digest):
                missing_options.append(name)
        if missing_options:
            raise InputError("not-in-a-state", value=", ".join(missing_options))

    @_exclusive
    def reset(self) -> None:
        """Discard all items, but not the options and the kind of data."""
        if self._setup is not None:
            self._setup.forget_items()
        self._systems = {}

    @_exclusive
    def add_system(self, name: str) -> None:
        """Add a system, which may have no items."""
        check_system_names([name])
        self._systems.setdefault(name, SystemItems(keep_rows=self._keep_rows))

    @_exclusive
    def drop_items(self) -> None:
        """Sum the items that are stored to be summed together, and drop them.

        With ``keep_rows=True`` nothing happens.
        """
        for items in self._systems.values():
            if not items.keep_rows and items.has_new_items:
                items.drop_items(self.setup)

    # ---- scores ---------------------------------------------------------------------------------

    @_exclusive
    def compute(self) -> ScoreTable:
        """Score all items so far. More batches can follow.

        Returns
        -------
        ScoreTable
            As from ``score``. With ``keep_rows=False`` it has no values of items.

        Raises
        ------
        InputError
            If the scorer is empty, or the items have an error that no single batch shows.
        """
        systems = {}
        for name, items in self._systems.items():
            if not items.is_empty:
                systems[name] = items
        if not systems:
            remedy = "update it with items first"
            raise InputError("empty", role="the scorer", remedy=remedy)
        system, items = next(iter(systems.items()))
        if items.keep_rows:
            joined = items.join(self.setup, system)
            check_weights(joined)
            self._has_warned = self._has_warned or warn_of_scores(joined)
            return table_of(joined)
        self.drop_items()
        setup = self._setup_for_notes()
        table = score_sums(systems, str(self._kind), self._user_options, setup)
        self._warn_of_activated(table.facts)
        return table

    def _warn_of_scores(self, pred: Any) -> None:
        """Warn of the first batch of scores that are not probabilities, once per scorer."""
        if self._has_warned or self.setup.kind.name != "labels":
            return
        from semmetrics.kinds.labels.predicted_scores import probability_facts

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
        """Return the setup, or None if it may need a file that does not exist here.

        This is possible for a scorer that was loaded from states.
        """
        if self._setup is not None:
            return self._setup
        if needs_file(self._user_options):
            return None
        for items in self._systems.values():
            for measure in items.dropped.measures:
                if measure["df"] or measure["parser"]:
                    return None
        return self.setup

    # ---- merging --------------------------------------------------------------------------------

    @_exclusive
    def merge(self, other: Scorer) -> None:
        """Add the items of another scorer with the same options, such as one of another process.

        The numbering of items without ids continues.

        Parameters
        ----------
        other : Scorer
            It does not change.

        Raises
        ------
        InputError
            If options differ, an id is in both, or the items have another form. In this case the
            scorer does not change.
        """
        self._check_options(other)
        kind = self._kind or other._kind
        setup = self._setup
        all_items = [*self._systems.values(), *other._systems.values()]
        if setup is None and any(items.has_new_items for items in all_items):
            setup = open_evaluation(str(kind), self._user_options)
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
        added = copy(self)
        added.merge(other)
        return added

    def __radd__(self, other: int) -> Self:
        """Return a copy of this scorer for 0, since ``sum`` begins with 0."""
        if isinstance(other, int) and other == 0:
            return copy(self)
        return NotImplemented

    def _check_options(self, other: Scorer) -> None:
        """Raise an error for a scorer with other options."""
        names = differing_names(
            self._comparable_options(),
            other._comparable_options(),
            self._options_not_compared(other),
        )
        if names:
            raise InputError("different-scorers", names=" ".join(names))
        kinds = [self._kind, other._kind]
        if None not in kinds and self._kind != other._kind:
            raise InputError("merged-kinds", names=kinds)

    def _options_not_compared(self, other: Scorer) -> tuple[str, ...]:
        """Return the options that may differ in two scorers that are merged."""
        for items in (*self._systems.values(), *other._systems.values()):
            if items.dropped.parts:
                # The contents of files are compared with the sums, so their paths may differ.
                return (*NEUTRAL_OPTIONS, *FILE_OPTIONS)
        return NEUTRAL_OPTIONS

    def _comparable_options(self) -> dict[str, Any]:
        """Return a digest of each option. Digests are equal if the options mean the same."""
        comparable: dict[str, Any] = {}
        if self._keep_rows:
            comparable["system"] = self._system
        comparable.update(digests_of(self._user_options))
        comparable["measures"] = self._measure_names()
        return comparable

    # ---- states ---------------------------------------------------------------------------------

    @_exclusive
    def save(self, target: Any, *, shard: str | None = None) -> None:
        """Write the sums of the items so far, to merge them with other sums later.

        Parameters
        ----------
        target : path or binary file
            A .npz file of arrays and JSON. Reading it does not run code from the file.
        shard : str, optional
            The part of the data that the items are. "3/8" is the third of eight parts that have no
            id in common.

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
        """Return the options for a state, with hashes in place of values it cannot contain."""
        options = {}
        for name, value in self._picklable_options().items():
            # The hash of document frequencies is part of the fitted measures.
            if name in NEUTRAL_OPTIONS or name == "doc_freq":
                continue
            if name in _LABEL_LISTS and isinstance(value, (str, os.PathLike)):
                value = self.setup.options.value(name)
            options[name] = value if can_hold(value) else Digest(digest_of(value))
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
            The maximum size of each state, after decompression.

        Returns
        -------
        Scorer
            With the sums. More items can follow.

        Raises
        ------
        InputError
            If one is not a state, is damaged, or was written by another version. Also if the
            states cannot be merged.
        """
        from semmetrics.scoring.scorer_state import read_scorer_state

        state = read_scorer_state(source, max_bytes)
        scorer = cls.__new__(cls)
        scorer._initialize(state.kind, state.options, keep_rows=False)
        scorer._systems = state.systems
        for other in others:
            try:
                scorer.merge(cls.load(other, max_bytes=max_bytes))
            except InputError as error:
                if error.where:
                    raise
                raise error.placed(other) from None
        # Batches without the name of a system are added to the first one.
        scorer._system = next(iter(scorer._systems), scorer._system)
        return scorer

    @_exclusive
    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the lock and the setup, which are created again."""
        state = self.__dict__.copy()
        del state["_lock"]
        state["_user_options"] = self._picklable_options()
        state["_setup"] = None
        state["_systems"] = {n: items.copy() for n, items in self._systems.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes that ``__getstate__`` returned."""
        self.__dict__.update(state)
        self._lock = RLock()

    def _picklable_options(self) -> dict[str, Any]:
        """Return the options with parsed measures, which any process can look up again."""
        options = dict(self._user_options)
        if "measures" not in options:
            return options
        measures = options["measures"]
        is_ambiguous = self._kind is None and len(kinds_of_all(measures)) > 1
        if not is_ambiguous:
            options["measures"] = parse_all(measures, prefer=self._kind)
        return options

    # ---- descriptions ---------------------------------------------------------------------------

    def __len__(self) -> int:
        """The number of items of the ground truth so far."""
        return max((len(items) for items in self._systems.values()), default=0)

    def __repr__(self) -> str:
        parts = []
        protocol = self._user_options.get("protocol")
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
        return list(map(str, parse_all(self._user_options.get("measures", ()))))


def _is_empty_batch(data: Any) -> bool:
    """Return whether a batch has no items. A string is a path, which is not read."""
    return hasattr(data, "__len__") and not isinstance(data, str) and not len(data)


# ---- scorers of adapters ------------------------------------------------------------------------


def user_options(scorer: Scorer) -> Mapping[str, Any]:
    """Return the options that the user set."""
    return scorer._user_options


@_exclusive
def without_items(scorer: Scorer) -> Scorer:
    """Return a scorer without items that shares the options and the opened models.

    The models forget what they cached for items. ``copy(scorer)`` would open them again.
    """
    empty = Scorer.__new__(Scorer)
    empty._initialize(
        scorer._kind,
        scorer._user_options,
        scorer._setup,
        scorer._system,
        keep_rows=scorer._keep_rows,
    )
    empty._lock = scorer._lock  # protects the shared setup
    empty._has_warned = scorer._has_warned
    empty.reset()
    return empty


@_exclusive
def pickle_items(scorer: Scorer) -> bytes:
    """Return the items of a scorer, without the options, for `merge_pickled` in another process."""
    return pickle.dumps((scorer._kind, scorer._systems))


@_exclusive
def merge_pickled(scorer: Scorer, items: bytes) -> None:
    """Add the items of another process, whose scorer has the same options.

    Parameters
    ----------
    scorer : Scorer
    items : bytes
        The result of `pickle_items`. It must come from a trusted process, because reading it can
        run code.

    Raises
    ------
    InputError
        As from ``Scorer.merge``.
    """
    other = without_items(scorer)
    other._kind, other._systems = pickle.loads(items)
    scorer.merge(other)
