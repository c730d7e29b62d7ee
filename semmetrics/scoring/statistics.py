"""Statistics of items, from which values, intervals and merged results are computed.

Conventions
-----------
Statistics of disjoint items add up. Counts are integers and sums of floats are exact, so any split
of the items, merged in any order, gives the same bits as the whole. If labels have synonyms and no
class list is given, the class of a label depends on all references. Parts that found different
classes raise an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics._version import __version__
from semmetrics.core.columns import Column, LabelColumn, add_sums, concatenate_columns
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.item_ids import Ids
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.base import LabelAxis
from semmetrics.data.tasks.labels import FOUND_CLASSES
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.metrics.definition import Frame, Statistic

SumsByStatistic = Mapping[Statistic, Mapping[str, NDArray[Any]]]
_Columns = Mapping[str, Column]
RowsByStatistic = Mapping[Statistic, Sequence[_Columns]]
"""The columns of each block, by statistic."""

_STATIC_DIFFERS = "static-and-other-embedding"


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """The sums of some items, and the conventions behind them.

    Attributes
    ----------
    sums : mapping from statistic to sums by column name
    parts : mapping from statistic to columns by name, block after block, or None
        None if rows were not stored. Values of items and intervals need rows.
    labels : tuple of str
        The label axis.
    n_reference, n_prediction : int arrays, shape (labels,)
        How often each label occurs on each side, before a cutoff or a decoding rule.
    n_listed : int or None
        The length of the class list, with which the labels begin. None without a class list.
    ignored : mapping from label to pair of int
        How often labels that were ignored were predicted and true.
    ids, hashes
        The items, and a hash of each id. If items were not stored, ids are a range and hashes are
        empty.
    weights : float array, shape (items,), or None
    groups : uint64 array, shape (items,), or None
        Items with equal numbers are resampled together. None if items are resampled independently.
        If items were not stored, each number occurs once.
    fingerprint : int
        Hash of the ids and reference labels. It adds up modulo 2**64.
    weighting : int
        Hash of the ids and sample weights, which also adds up. 0 without weights.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    in_columns : bool array, shape (labels,), or None
        Labels that are columns of a matrix or keys of 0/1 mappings. None without such inputs.
    settings, counts : mappings
        Conventions that changed the data, and the number of items that were left out or merged.
    models : mapping
        The identities of embeddings and other models, which must be equal in merged parts.
    observations : Observations
        Observations on the items, for notes, and the inputs that their values depend on.
    resamples : mapping from statistic to sums by column name, or None
        The sums of each resample by ``poisson``, with a first axis of resamples.
    resampled : str
        The settings that decide the weights of items in resamples, together with the ids.
    n_drawn : int
        The number of items or groups that are resampled independently.
    """

    sums: SumsByStatistic
    parts: RowsByStatistic | None
    labels: tuple[str, ...]
    n_reference: Ints
    n_prediction: Ints
    n_listed: int | None
    ignored: Mapping[str, tuple[int, int]]
    ids: Ids
    hashes: Hashes
    weights: Floats | None
    fingerprint: int
    settings: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    unit: str = "image"
    groups: Hashes | None = None
    models: Mapping[str, str] = field(default_factory=dict)
    observations: Observations = field(default_factory=Observations)
    version: str = __version__
    weighting: int = 0
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    in_columns: NDArray[np.bool_] | None = None
    resamples: SumsByStatistic | None = None
    resampled: str = ""
    n_drawn: int = 0
    _joined: dict[Statistic, _Columns] = field(
        default_factory=dict, init=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        items = pluralize(len(self), self.unit)
        labels = pluralize(len(self.labels), "label")
        sums = pluralize(len(self.sums), "sum")
        rows = "" if self.parts is None else ", rows kept"
        return f"Statistics({items}, {labels}, {sums}{rows})"

    @property
    def order(self) -> Ints:
        """The items in the order of their hashes, which no permutation or split changes."""
        return np.argsort(self.hashes, kind="stable")

    @property
    def item_weights(self) -> Floats:
        """The weight of each item, which is 1 without weights."""
        if self.weights is None:
            return np.ones(len(self))
        return self.weights

    def rows(self, statistic: Statistic) -> Mapping[str, Column]:
        """Return the columns of a statistic, one row per item, joined at their first use.

        Raises
        ------
        InputError
            If rows were not stored.
        """
        if self.parts is None or statistic not in self.parts:
            raise InputError("rows-not-kept")
        if statistic not in self._joined:
            self._joined[statistic] = _join_blocks(self.parts[statistic])
        return self._joined[statistic]

    def weighted_rows(self, statistic: Statistic, weights: Floats) -> dict[str, Any]:
        """Return what measures aggregate if their statistic is not additive.

        Parameters
        ----------
        statistic : Statistic
        weights : float array, shape (B, items)
            Several sets of weights, each of which gives one value.
        """
        return {
            "rows": self.rows(statistic),
            "weights": weights,
            "order": self.order,
        }

    def aligned(self, labels: tuple[str, ...]) -> Statistics:
        """Return the same statistics on a label axis that contains their own."""
        if labels == self.labels:
            return self
        axis = _WiderAxis.of(self.labels, labels)
        parts = None if self.parts is None else axis.recode_rows(self.parts)
        resamples = None
        if self.resamples is not None:
            resamples = axis.widen_sums(self.resamples)
        in_columns = None
        if self.in_columns is not None:
            in_columns = axis.widen(self.in_columns)
        return replace(
            self,
            sums=axis.widen_sums(self.sums),
            resamples=resamples,
            parts=parts,
            labels=labels,
            n_reference=axis.widen(self.n_reference),
            n_prediction=axis.widen(self.n_prediction),
            in_columns=in_columns,
        )

    def __add__(self, other: Statistics) -> Statistics:
        """Return the statistics of the items of both.

        Raises
        ------
        InputError
            If an item is in both, or their conventions, class lists or measures differ. Also if
            classes were found in the references, because labels have synonyms and there is no
            class list, and the classes differ.
        """
        self._check(other)
        labels = merged_labels([self, other])
        left = self.aligned(labels)
        right = other.aligned(labels)
        groups, n_shared = _merge_groups(left, right)
        parts = None
        if left.parts is not None and right.parts is not None:
            parts = _join_rows(left.parts, right.parts)
        resamples = None
        if left.resamples is not None and right.resamples is not None:
            resamples = _add_sums(left.resamples, right.resamples)
        weights = None
        if left.weights is not None or right.weights is not None:
            weights = np.concatenate([left.item_weights, right.item_weights])
        observations = self.observations.copy()
        observations.merge(other.observations)
        return replace(
            left,
            sums=_add_sums(left.sums, right.sums),
            resamples=resamples,
            n_drawn=left.n_drawn + right.n_drawn - n_shared,
            parts=parts,
            n_reference=left.n_reference + right.n_reference,
            n_prediction=left.n_prediction + right.n_prediction,
            in_columns=_merge_columns([left, right]),
            ignored=_add_ignored(self.ignored, other.ignored),
            ids=_merge_ids(left, right),
            hashes=np.concatenate([left.hashes, right.hashes]),
            weights=weights,
            groups=groups,
            unit=right.unit if left.groups is None else left.unit,
            fingerprint=(left.fingerprint + right.fingerprint) % (1 << 64),
            weighting=(left.weighting + right.weighting) % (1 << 64),
            counts=_add_counts(self.counts, other.counts),
            observations=observations,
        )

    @property
    def _conventions(self) -> dict[str, str]:
        """The conventions that must be the same in parts that are merged, by name."""
        conventions = dict(self.settings)
        if self.n_listed is not None:
            conventions["listed classes"] = str(self.n_listed)
        for key, model in self.models.items():
            if key != FOUND_CLASSES:
                conventions[_name_model(key)] = model
        for name, identities in self.observations.requirements.items():
            conventions[name] = ", ".join(sorted(identities))
        if self.resampled:
            conventions["resamples"] = self.resampled
        conventions["version"] = self.version
        return conventions

    def _check(self, other: Statistics) -> None:
        """Raise an error if the statistics do not add up."""
        differences = self._differences(other)
        if differences:
            is_static = _has_static(self._differing_models(other))
            code = _STATIC_DIFFERS if is_static else "different-statistics"
            raise InputError(code, why=", ".join(differences))
        if self.models.get(FOUND_CLASSES) != other.models.get(FOUND_CLASSES):
            raise InputError("classes-of-references")
        shared = np.intersect1d(self.hashes, other.hashes)
        if len(shared):
            rows = np.flatnonzero(np.isin(self.hashes, shared)).tolist()
            raise InputError("items-in-both", names=[str(self.ids[i]) for i in rows])

    def _differences(self, other: Statistics) -> list[str]:
        """Describe which conventions differ, and whether the measures do."""
        own_conventions = self._conventions
        other_conventions = other._conventions
        differences = []
        for name in dict.fromkeys((*own_conventions, *other_conventions)):
            if own_conventions.get(name) != other_conventions.get(name):
                own_value = own_conventions.get(name, "not given")
                other_value = other_conventions.get(name, "not given")
                differences.append(f"{name} is {own_value} and {other_value}")
        if self._stored_statistics() != other._stored_statistics():
            differences.append("their measures differ")
        return differences

    def _differing_models(self, other: Statistics) -> list[str]:
        """Return the identities of models that differ, from both sides."""
        models = []
        for key in self.models.keys() & other.models.keys() - {FOUND_CLASSES}:
            if self.models[key] != other.models[key]:
                models += [self.models[key], other.models[key]]
        return models

    def _stored_statistics(self) -> tuple[set[Statistic], set[Statistic] | None]:
        """Return the statistics with sums, and the statistics with rows."""
        with_rows = None if self.parts is None else set(self.parts)
        return set(self.sums), with_rows


class _WiderAxis(NamedTuple):
    """A label axis that contains another one.

    Attributes
    ----------
    codes : int32 array
        The index of each label of the narrow axis on the wide axis.
    width : int
        The number of labels of the wide axis.
    """

    codes: NDArray[np.int32]
    width: int

    @classmethod
    def of(cls, labels: tuple[str, ...], wider: tuple[str, ...]) -> _WiderAxis:
        """Find the index of each label on the wider axis."""
        code_of_label = {name: code for code, name in enumerate(wider)}
        codes = np.array([code_of_label[name] for name in labels], np.int32)
        return cls(codes, len(wider))

    def widen(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array whose last axis is the wider one, with zeros for other labels."""
        wide = np.zeros((*array.shape[:-1], self.width), array.dtype)
        wide[..., self.codes] = array
        return wide

    def widen_sums(self, sums: SumsByStatistic) -> dict[Statistic, Any]:
        """Return sums on the wider axis."""
        wide: dict[Statistic, dict[str, NDArray[Any]]] = {}
        for statistic, arrays in sums.items():
            wide_arrays = dict(arrays)
            for name in statistic.labels:
                if name in arrays:
                    wide_arrays[name] = self.widen(arrays[name])
            wide[statistic] = wide_arrays
        return wide

    def recode_rows(
        self, rows: RowsByStatistic
    ) -> dict[Statistic, list[dict[str, Column]]]:
        """Return rows whose codes are indices on the wider axis."""
        recoded = {}
        for statistic, blocks in rows.items():
            recoded[statistic] = [self._recode_columns(columns) for columns in blocks]
        return recoded

    def _recode_columns(self, columns: _Columns) -> dict[str, Column]:
        """Return columns whose codes are indices on the wider axis."""
        recoded = dict(columns)
        for name, column in columns.items():
            if isinstance(column, LabelColumn):
                recoded[name] = column.recoded(self.codes, self.width)
        return recoded


def _join_blocks(blocks: Sequence[_Columns]) -> _Columns:
    """Return the columns of all blocks as one block."""
    joined = {}
    for name in blocks[0]:
        joined[name] = concatenate_columns([columns[name] for columns in blocks])
    return joined


# ---- adding -------------------------------------------------------------------------------------


def _join_rows(
    rows: RowsByStatistic, others: RowsByStatistic
) -> dict[Statistic, list[_Columns]]:
    """Return the rows of disjoint items."""
    joined = {}
    for statistic, blocks in rows.items():
        joined[statistic] = [*blocks, *others[statistic]]
    return joined


def _add_sums(sums: SumsByStatistic, others: SumsByStatistic) -> dict[Statistic, Any]:
    """Return the sums of disjoint items."""
    added: dict[Statistic, Any] = {}
    for statistic, arrays in sums.items():
        added_arrays = {}
        for name, array in arrays.items():
            added_arrays[name] = add_sums(array, others[statistic][name])
        added[statistic] = added_arrays
    return added


def _add_counts(counts: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of counts, by name."""
    names = sorted({*counts, *others})
    return {name: counts.get(name, 0) + others.get(name, 0) for name in names}


def _add_ignored(
    ignored: Mapping[str, tuple[int, int]], others: Mapping[str, tuple[int, int]]
) -> dict[str, tuple[int, int]]:
    """Return how often labels that were ignored were predicted and true in both."""
    added = dict(ignored)
    for name, (n_predicted, n_true) in others.items():
        first_predicted, first_true = added.get(name, (0, 0))
        added[name] = first_predicted + n_predicted, first_true + n_true
    return added


def _merge_groups(left: Statistics, right: Statistics) -> tuple[Hashes | None, int]:
    """Return the groups of the items of both, and how many groups both resampled."""
    are_grouped = left.groups is not None or right.groups is not None
    left_groups = left.hashes if left.groups is None else left.groups
    right_groups = right.hashes if right.groups is None else right.groups
    n_shared = 0
    if left.resampled:
        n_shared = len(np.intersect1d(left_groups, right_groups))
    if not are_grouped:
        return None, n_shared
    if left.resampled:
        return np.union1d(left_groups, right_groups), n_shared
    return np.concatenate([left_groups, right_groups]), n_shared


def _merge_ids(left: Statistics, right: Statistics) -> Ids:
    """Return the ids of the items of both."""
    if not len(left.hashes) and not len(right.hashes):
        return range(len(left) + len(right))
    is_numbered = isinstance(left.ids, (range, np.ndarray))
    if is_numbered and isinstance(right.ids, (range, np.ndarray)):
        left_ids = np.asarray(left.ids, np.int64)
        right_ids = np.asarray(right.ids, np.int64)
        return np.concatenate([left_ids, right_ids])
    return [*map(str, left.ids), *map(str, right.ids)]


def merged_labels(parts: Sequence[Statistics]) -> tuple[str, ...]:
    """Return the label axis of several statistics: the class list, then other labels by name."""
    first = parts[0]
    if all(part.labels == first.labels for part in parts):
        return first.labels
    class_list = first.labels[: first.n_listed or 0]
    listed = set(class_list)
    # Sorting is fast here, because each part is sorted already.
    names = sorted(chain.from_iterable(part.labels for part in parts))
    others = [name for name in dict.fromkeys(names) if name not in listed]
    return (*class_list, *others)


def _merge_columns(parts: Sequence[Statistics | LabelAxis]) -> NDArray[np.bool_] | None:
    """Return the labels that are columns in any of the parts, which share one label axis."""
    masks = [part.in_columns for part in parts if part.in_columns is not None]
    if not masks:
        return None
    is_column: NDArray[np.bool_] = np.logical_or.reduce(masks)
    return is_column


def frame_of(parts: Sequence[Statistics | LabelAxis]) -> Frame:
    """Return the label frame of systems that are compared, all on one label axis."""
    is_predicted = np.logical_or.reduce([part.n_prediction > 0 for part in parts])
    is_true = np.logical_or.reduce([part.n_reference > 0 for part in parts])
    in_columns = _merge_columns(parts)
    is_anywhere = is_predicted | is_true
    if in_columns is not None:
        is_anywhere = is_anywhere | in_columns
    first = parts[0]
    return Frame(
        first.labels,
        is_true,
        is_anywhere,
        first.n_listed,
        first.named,
        has_columns=in_columns is not None,
    )


# ---- models -------------------------------------------------------------------------------------


def check_models(systems: Mapping[str, Statistics], keys: Iterable[str]) -> None:
    """Raise an error if systems that are compared were scored with different embeddings.

    Parameters
    ----------
    systems : mapping from name to Statistics
    keys : iterable of str
        The keys of the embeddings.

    Raises
    ------
    InputError
        Names the embeddings and the systems.
    """
    names = list(systems)
    first = names[0]
    for system in names[1:]:
        for key in keys:
            model = systems[first].models[key]
            other = systems[system].models[key]
            if model == other:
                continue
            why = f"{_name_model(key)} is {model} in {first} and {other} in {system}"
            is_static = _has_static([model, other])
            code = _STATIC_DIFFERS if is_static else "different-embeddings"
            raise InputError(code, why=why)


def _name_model(key: str) -> str:
    """Return the name of a model in messages: an embedding, or anything else with a key.

    Examples
    --------
    >>> _name_model("bert"), _name_model("#default, own same"), _name_model("#taxonomy")
    ("embedding 'bert'", "embedding 'default' (own same)", 'taxonomy')
    """
    if not key.startswith("#"):
        return f"embedding {key!r}"
    name, _, difference = key[1:].partition(", ")
    if difference.startswith(("own ", "oov ")):
        return f"embedding {name!r} ({difference})"
    return key[1:]


def _has_static(models: Iterable[str]) -> bool:
    """Return whether one of the models is the general model of the package."""
    from semmetrics.embed.open import DEFAULT, find_shipped

    return any(find_shipped(model.partition("|")[0]) == DEFAULT for model in models)
