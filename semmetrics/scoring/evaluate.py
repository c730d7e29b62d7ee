"""From a task to additive statistics: the block loop, the sum of its parts, and states in files.

Conventions
-----------
Statistics of disjoint items add up. Counts are integers and float sums are exact, so any split of
the items, merged in any order, gives the same bits as the whole. Where labels have synonyms and
no class list is given, the class of a label depends on all references: parts that found other
classes are refused.
"""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics._version import __version__
from semmetrics.core.columns import Column, OneHot, add_sums, concatenate_columns
from semmetrics.core.hashing import Hashes
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.lists import Ids
from semmetrics.data.observations import Observations
from semmetrics.data.source import Source, load
from semmetrics.data.tasks import FOUND, LabelAxis, Task
from semmetrics.errors import InputError
from semmetrics.messages import pluralize, report_progress
from semmetrics.metrics.definition import Definition, Frame, Measure, Statistic
from semmetrics.metrics.registry import HINTS, parse, registered
from semmetrics.store.files import open_output

Progress: TypeAlias = "Callable[[int, int], None] | None"
"""What is called with the number done and in all."""
SCHEMA = "semmetrics.state/4"
_STATIC_DIFFERS = "static-and-other-embedding"
_PACKAGE = __name__.partition(".")[0]
_ZEROS = 4  # digits of the number of zeros that end an integer
_TEXT, _SUM = "state", "checksum"


@dataclass(frozen=True, eq=False, repr=False)
class Statistics:
    """What has been computed of some items: enough for every value, interval and merge.

    Attributes
    ----------
    sums : mapping from statistic to sums by column name
    parts : mapping from statistic to columns by name, block after block, or None
        None where rows were not kept: there are then no item values and no intervals.
    labels : tuple of str
        The label axis.
    n_reference, n_prediction : int arrays, shape (labels,)
        How often each label occurs on each side, before a cutoff or a decoding rule.
    given : int or None
        The first so many labels are the class list.
    ignored : mapping from label to pair of int
        How often labels that were ignored were predicted and true.
    ids, hashes
        The items, and a hash of each id. Where items were not kept, ids are a range, and there
        are no hashes.
    weights : float array, shape (items,), or None
    groups : uint64 array, shape (items,), or None
        Items with equal numbers are resampled together; None where each is alone. Where items were
        not kept, each number once.
    fingerprint : int
        Of the ids and reference labels; adds modulo 2**64.
    weighting : int
        Of the ids and sample weights, likewise; 0 where there are none.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    in_columns : bool array, shape (labels,), or None
        Labels that are columns of a matrix or keys of 0/1 mappings; None if there are none.
    settings, counts : mappings
        Conventions that changed the data; what was left out or merged.
    models : mapping
        What each embedding is, for signatures, and what else must be equal in parts.
    observations : Observations
        What was observed in the items, for notes, and what their values depend on.
    resamples : mapping from statistic to sums by column name, or None
        In each resample by ``poisson``, as ``sums`` behind a first axis of resamples.
    resampled : str
        What decides the weights of their items, beside the ids.
    n_drawn : int
        How many items or groups are drawn by themselves there.
    """

    sums: Mapping[Statistic, Mapping[str, NDArray[Any]]]
    parts: Mapping[Statistic, Sequence[Mapping[str, Column]]] | None
    labels: tuple[str, ...]
    n_reference: Ints
    n_prediction: Ints
    given: int | None
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
    resamples: Mapping[Statistic, Mapping[str, Floats]] | None = None
    resampled: str = ""
    n_drawn: int = 0
    _joined: dict[Statistic, Mapping[str, Column]] = field(
        default_factory=dict, init=False, repr=False
    )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        kept = "" if self.parts is None else ", rows kept"
        contents = f"{pluralize(len(self.labels), 'label')}, {pluralize(len(self.sums), 'sum')}"
        return f"Statistics({pluralize(len(self), self.unit)}, {contents}{kept})"

    @property
    def order(self) -> Ints:
        """The items in the order of their hashes, which no permutation or split changes."""
        return np.argsort(self.hashes, kind="stable")

    @property
    def item_weights(self) -> Floats:
        """The weight of each item; 1 where none are given."""
        return np.ones(len(self)) if self.weights is None else self.weights

    def rows(self, statistic: Statistic) -> Mapping[str, Column]:
        """The columns of a statistic, one row an item; joined at their first use.

        Raises
        ------
        InputError
            If rows were not kept.
        """
        if self.parts is None or statistic not in self.parts:
            raise InputError("rows-not-kept")
        if statistic not in self._joined:
            parts = self.parts[statistic]
            rows = {
                n: concatenate_columns([part[n] for part in parts]) for n in parts[0]
            }
            self._joined[statistic] = rows
        return self._joined[statistic]

    def aligned(self, labels: tuple[str, ...]) -> Statistics:
        """The same statistics on a label axis that contains this one."""
        if labels == self.labels:
            return self
        place = {name: code for code, name in enumerate(labels)}
        codes = np.array([place[name] for name in self.labels], np.int32)
        width = len(labels)

        def spread(array: NDArray[Any]) -> NDArray[Any]:
            wide = np.zeros((*array.shape[:-1], width), array.dtype)
            wide[..., codes] = array
            return wide

        def widen(sums: Mapping[Statistic, Any]) -> dict[Statistic, Any]:
            return {
                s: {
                    n: spread(array) if n in s.labels else array
                    for n, array in arrays.items()
                }
                for s, arrays in sums.items()
            }

        def recode(columns: Mapping[str, Any]) -> dict[str, Column]:
            some = {n: c for n, c in columns.items() if hasattr(c, "recoded")}
            return {**columns, **{n: c.recoded(codes, width) for n, c in some.items()}}

        parts = self.parts and {
            s: [*map(recode, blocks)] for s, blocks in self.parts.items()
        }
        return replace(
            self,
            sums=widen(self.sums),
            resamples=self.resamples and widen(self.resamples),
            parts=parts,
            labels=labels,
            n_reference=spread(self.n_reference),
            n_prediction=spread(self.n_prediction),
            in_columns=None if self.in_columns is None else spread(self.in_columns),
        )

    def __add__(self, other: Statistics) -> Statistics:
        """Statistics of the items of both.

        Raises
        ------
        InputError
            If an item is in both, or their conventions, class lists or measures differ; or labels
            have synonyms, no class list was given, and the references gave other classes.
        """
        self._check(other)
        labels = merged_labels([self, other])
        left, right = both = self.aligned(labels), other.aligned(labels)
        weighted = any(side.weights is not None for side in both)
        grouped = any(side.groups is not None for side in both)
        groups = [side.hashes if side.groups is None else side.groups for side in both]
        twice = len(np.intersect1d(groups[0], groups[1])) if left.resampled else 0
        if left.resampled:
            groups = [np.union1d(groups[0], groups[1])]

        def added(mine: Mapping[Statistic, Any], theirs: Any) -> dict[Statistic, Any]:
            return {
                s: {
                    name: add_sums(array, theirs[s][name])
                    for name, array in arrays.items()
                }
                for s, arrays in mine.items()
            }

        parts = None
        if left.parts is not None and right.parts is not None:
            parts = {s: [*blocks, *right.parts[s]] for s, blocks in left.parts.items()}
        names = {*self.counts, *other.counts}
        observations = self.observations.copy()
        observations.merge(other.observations)
        ignored = dict(self.ignored)
        for name, (predicted, true) in other.ignored.items():
            one = ignored.get(name, (0, 0))
            ignored[name] = one[0] + predicted, one[1] + true
        return replace(
            left,
            sums=added(left.sums, right.sums),
            resamples=left.resamples and added(left.resamples, right.resamples),
            n_drawn=left.n_drawn + right.n_drawn - twice,
            parts=parts,
            n_reference=left.n_reference + right.n_reference,
            n_prediction=left.n_prediction + right.n_prediction,
            in_columns=_merge_columns(both),
            ignored=ignored,
            ids=_joined(left, right),
            hashes=np.concatenate([left.hashes, right.hashes]),
            weights=np.concatenate([side.item_weights for side in both])
            if weighted
            else None,
            groups=np.concatenate(groups) if grouped else None,
            unit=right.unit if left.groups is None else left.unit,
            fingerprint=(left.fingerprint + right.fingerprint) % (1 << 64),
            weighting=(left.weighting + right.weighting) % (1 << 64),
            counts={
                n: self.counts.get(n, 0) + other.counts.get(n, 0) for n in sorted(names)
            },
            observations=observations,
        )

    @property
    def _conventions(self) -> dict[str, str]:
        """What must be the same in parts that are merged, by name."""
        models = {
            _name_model(key): model
            for key, model in self.models.items()
            if key != FOUND
        }
        listed = {} if self.given is None else {"listed classes": str(self.given)}
        requirements = {
            name: ", ".join(sorted(identities))
            for name, identities in self.observations.requirements.items()
        }
        resampled = {"resamples": self.resampled} if self.resampled else {}
        return {
            **self.settings,
            **listed,
            **models,
            **requirements,
            **resampled,
            "version": self.version,
        }

    def _check(self, other: Statistics) -> None:
        mine, theirs = self._conventions, other._conventions
        different = [
            f"{name} is {mine.get(name, 'not given')} and {theirs.get(name, 'not given')}"
            for name in dict.fromkeys((*mine, *theirs))
            if mine.get(name) != theirs.get(name)
        ]
        measures = [(set(s.sums), s.parts and set(s.parts)) for s in (self, other)]
        different += (
            ["they are of other measures"] if measures[0] != measures[1] else []
        )
        if different:
            keys = self.models.keys() & other.models.keys() - {FOUND}
            differing = [key for key in keys if self.models[key] != other.models[key]]
            models = [side.models[key] for side in (self, other) for key in differing]
            code = _STATIC_DIFFERS if _has_static(models) else "different-statistics"
            raise InputError(code, why="; ".join(different))
        if self.models.get(FOUND) != other.models.get(FOUND):
            raise InputError("classes-of-references")
        twice = np.intersect1d(self.hashes, other.hashes)
        if len(twice):
            place = np.flatnonzero(np.isin(self.hashes, twice)).tolist()
            raise InputError("items-in-both", names=[str(self.ids[i]) for i in place])


def _name_model(key: str) -> str:
    """Return how an error message calls a model: an embedding, or anything else with a key.

    Examples
    --------
    >>> _name_model("bert"), _name_model("#default, own same"), _name_model("#taxonomy")
    ("embedding 'bert'", "embedding 'default' (own same)", 'taxonomy')
    """
    if not key.startswith("#"):
        return f"embedding {key!r}"
    name, _, difference = key[1:].partition(", ")
    is_embedding = difference.startswith(("own ", "oov "))
    return f"embedding {name!r} ({difference})" if is_embedding else key[1:]


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
    (first, mine), *others = systems.items()
    for system, theirs in others:
        for key in keys:
            one, other = mine.models[key], theirs.models[key]
            if one != other:
                why = f"{_name_model(key)} is {one} in {first} and {other} in {system}"
                code = (
                    _STATIC_DIFFERS
                    if _has_static([one, other])
                    else "different-embeddings"
                )
                raise InputError(code, why=why)


def _has_static(models: Iterable[str]) -> bool:
    """Return whether one of the models is the general model of the package."""
    from semmetrics.embed.open import DEFAULT, find_shipped

    return any(find_shipped(model.partition("|")[0]) == DEFAULT for model in models)


def _joined(left: Statistics, right: Statistics) -> Ids:
    if not len(left.hashes) and not len(right.hashes):
        return range(len(left) + len(right))
    if isinstance(left.ids, (range, np.ndarray)) and isinstance(
        right.ids, (range, np.ndarray)
    ):
        return np.concatenate(
            [np.asarray(left.ids, np.int64), np.asarray(right.ids, np.int64)]
        )
    return [*map(str, left.ids), *map(str, right.ids)]


def merged_labels(parts: Sequence[Statistics]) -> tuple[str, ...]:
    """The label axis of several statistics: the class list, then all others by name."""
    first = parts[0]
    if all(part.labels == first.labels for part in parts):
        return first.labels
    listed = first.labels[: first.given or 0]
    known = set(listed)
    # Sorting is fast here, because each part is sorted already.
    every = sorted(name for part in parts for name in part.labels)
    return (*listed, *(name for name in dict.fromkeys(every) if name not in known))


def _merge_columns(parts: Sequence[Statistics | LabelAxis]) -> NDArray[np.bool_] | None:
    """Return the labels that are columns in any of the parts, which have one label axis."""
    flags = [part.in_columns for part in parts if part.in_columns is not None]
    if not flags:
        return None
    merged: NDArray[np.bool_] = np.logical_or.reduce(flags)
    return merged


def frame_of(parts: Sequence[Statistics | LabelAxis]) -> Frame:
    """The label frame of systems that are compared, all on one label axis."""
    predicted = np.logical_or.reduce([part.n_prediction > 0 for part in parts])
    referred = np.logical_or.reduce([part.n_reference > 0 for part in parts])
    in_columns = _merge_columns(parts)
    union = predicted | referred
    if in_columns is not None:
        union = union | in_columns
    first = parts[0]
    return Frame(
        first.labels,
        referred,
        union,
        first.given,
        first.named,
        has_columns=in_columns is not None,
    )


def evaluate(
    task: Task,
    measures: Iterable[Measure],
    *,
    keep_rows: bool = True,
    progress: Progress = None,
) -> Statistics:
    """Compute the statistics that the measures need, block by block.

    Parameters
    ----------
    task : Task
    measures : iterable of Measure
        Of the task's kind.
    keep_rows : bool
        Keep one row an item: needed for item values, intervals and ranking measures.
    progress : callable, optional
        Called with items done and items in all.

    Returns
    -------
    Statistics

    Raises
    ------
    InputError
        If there is no item, or a measure cannot be computed from such data.
    """
    if not len(task):
        raise InputError("no-items")
    measures = list(measures)
    check_kind(measures, task.kind)
    needed = list(dict.fromkeys(m.definition.family.statistic(m) for m in measures))
    parts: dict[Statistic, list[dict[str, Any]]] = {
        statistic: [] for statistic in needed
    }
    sums: dict[Statistic, dict[str, NDArray[Any]]] = {}
    observations = task.observations.copy()
    for block in task.blocks():
        weights = (
            None if task.weights is None else task.weights[block.start : block.stop]
        )
        for statistic in needed:
            columns = block.get(statistic)
            if statistic.additive:
                _add(sums.setdefault(statistic, {}), columns, weights)
            if keep_rows or not statistic.additive:
                parts[statistic].append(columns)
        observations.merge(block.observations)
        report_progress(progress, block.stop, len(task), "scoring", "item")
    kept = {statistic: columns for statistic, columns in parts.items() if columns}
    return Statistics(
        sums=sums,
        parts=kept if keep_rows else kept or None,
        **task.axis._asdict(),
        ids=task.ids,
        hashes=task.hashes,
        weights=task.weights,
        fingerprint=task.fingerprint,
        weighting=task.weighting,
        settings=task.settings,
        counts=task.counts,
        unit=task.unit,
        groups=task.groups,
        models=task.identities,
        observations=observations,
    )


def check_kind(measures: Iterable[Measure], kind: str) -> None:
    """Refuse measures of another kind of task.

    Raises
    ------
    InputError
        Names them.
    """
    requested = list(measures)
    others = [measure for measure in requested if measure.definition.kind != kind]
    if others:
        default_hint = "see: semmetrics list"
        if len(others) < len(requested):
            default_hint = "score measures of different kinds in separate calls"
        hint = HINTS.get(others[0].definition.name, default_hint)
        raise InputError(
            "wrong-kind", names=list(map(str, others)), kind=kind, hint=hint
        )


def _add(
    total: dict[str, NDArray[Any]], columns: dict[str, Any], weights: Floats | None
) -> None:
    parts = {name: column.sum(weights) for name, column in columns.items()}
    if weights is not None:  # items are counted unweighted, too
        coded = {
            name: column
            for name, column in columns.items()
            if isinstance(column, OneHot)
        }
        parts |= {f"{name}_items": column.sum() for name, column in coded.items()}
    for name, part in parts.items():
        total[name] = add_sums(total[name], part) if name in total else part


# States


class Identity(str):
    """Stands for the value of an option that no file can hold; equal values have equal ones."""


def can_hold(value: Any) -> bool:
    """Return whether a state can hold a value."""
    try:
        _pack(value, [])
    except InputError:
        return False
    return True


def write_state(target: Any, state: Mapping[str, Any]) -> None:
    """Write a state to a path or a binary file.

    Raises
    ------
    InputError
        If it cannot be written, or holds what no file can hold.
    """
    arrays: list[NDArray[Any]] = []
    text = {
        "schema": SCHEMA,
        "version": __version__,
        "state": _pack(dict(state), arrays),
    }
    found = {str(number): array for number, array in enumerate(arrays)}
    found[_TEXT] = np.frombuffer(json.dumps(text).encode(), np.uint8)
    whole: dict[str, Any] = {**found, _SUM: _checksum(found)}
    if hasattr(target, "write"):
        np.savez_compressed(target, **whole)
        return
    with open_output(target, binary=True) as out:
        np.savez_compressed(out, **whole)


def read_state(target: Any, max_bytes: int) -> dict[str, Any]:
    """Read a state from a path or a binary file.

    Raises
    ------
    InputError
        If it is no state, of another version, or not as it was written.
    """
    if hasattr(target, "read"):
        target.seek(0)
        source = Source("a state", target.read(), max_bytes=max_bytes)
    else:
        source = load(target, max_bytes)
    arrays: dict[str, Any] = {}
    if source.head[:4] == b"PK\x03\x04":
        from semmetrics.data.arrays import read_arrays

        arrays |= read_arrays(source, source.max_bytes)
    if not {_TEXT, _SUM} <= arrays.keys():
        raise InputError("no-state", source.name)
    checksum = arrays.pop(_SUM)
    if not np.array_equal(checksum, _checksum(arrays)):
        raise InputError("damaged", source.name, why="its checksum is another")
    try:
        text = json.loads(arrays[_TEXT].tobytes())
        if text["schema"] != SCHEMA or text["version"] != __version__:
            by = f"semmetrics {text['version']} ({text['schema']})"
            now = f"{__version__} ({SCHEMA})"
            raise InputError("other-version", source.name, by=by, now=now)
        state: dict[str, Any] = _unpack(text["state"], arrays)
    except InputError:
        raise
    except Exception as error:  # somebody else wrote it
        raise InputError(
            "damaged", source.name, why=f"{type(error).__name__}: {error}"
        ) from None
    return state


def _checksum(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    hashed = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        hashed.update(f"{name} {array.dtype.str} {array.shape} ".encode())
        hashed.update(np.ascontiguousarray(array).tobytes())
    return np.frombuffer(hashed.digest(), np.uint8)


def _write_integer(number: int) -> str:
    """Write an integer in hexadecimal digits, with "p" and the number of zeros that end it."""
    text = f"{number:x}"
    digits = text.rstrip("0")
    return f"{digits}p{len(text) - len(digits)}" if digits else text


def _read_integer(text: str) -> int:
    digits, _, zeros = text.partition("p")
    if len(zeros) > _ZEROS:
        raise ValueError(text)
    return int(digits, 16) << 4 * int(zeros or 0)


_CODED: Mapping[str, tuple[type, Callable[[Any], list[Any]], Callable[..., Any]]] = {
    "measure": (
        Measure,
        lambda one: [str(one), one.definition.kind, *one.asked],
        lambda name, kind, *asked: replace(parse(name, kind)[0], asked=asked),
    ),
    "definition": (Definition, lambda one: [one.kind, one.name], registered),
    "identity": (Identity, lambda one: [str(one)], Identity),
    "range": (range, lambda one: [one.start, one.stop, one.step], range),
    "integers": (
        np.ndarray,
        lambda one: [one.shape, [*map(_write_integer, one.ravel().tolist())]],
        lambda shape, texts: np.array([*map(_read_integer, texts)], object).reshape(
            shape
        ),
    ),
}
"""What is written in a way of its own: its type, its parts, and what makes it of them."""
_GROUPS: Mapping[str, Callable[[Any], Any]] = {
    "dict": dict,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}


def _pack(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON has it; arrays are added to the list."""
    kind, of, parts = type(value).__name__, type(value), list[Any]()
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    coded = next(
        (name for name, (one, _, _) in _CODED.items() if isinstance(value, one)), ""
    )
    if coded:
        return {coded: _CODED[coded][1](value)}
    if of.__module__.partition(".")[0] == _PACKAGE and _fields(of):
        kind = f"{of.__module__}:{of.__qualname__}"
        parts = [[name, getattr(value, name)] for name in _fields(of)]
    elif isinstance(value, Mapping):
        kind, parts = "dict", [list(pair) for pair in value.items()]
    elif kind in ("list", *_GROUPS):
        parts = sorted(value, key=repr) if "set" in kind else list(value)
    else:
        raise InputError("not-in-a-state", value=value)
    packed = [_pack(part, arrays) for part in parts]
    return packed if kind == "list" else {kind: packed}


def _fields(kind: Any) -> list[str]:
    """Return what a record is made of; nothing where it is none."""
    if is_dataclass(kind):
        return [one.name for one in fields(kind) if one.init]
    return list(getattr(kind, "_fields", ()))


def _unpack(value: Any, arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Return what ``_pack`` packed."""
    if isinstance(value, list):
        return [_unpack(one, arrays) for one in value]
    if not isinstance(value, dict):
        return value
    ((kind, parts),) = value.items()
    if kind == "array":
        return arrays[str(parts)]
    if kind in _CODED:
        return _CODED[kind][2](*parts)
    inner = _unpack(parts, arrays)
    if kind not in _GROUPS:
        module, _, name = kind.partition(":")
        # and is no program
        own = module.startswith(f"{_PACKAGE}.") and "__" not in kind
        of: Any = getattr(importlib.import_module(module), name) if own else None
        if not isinstance(of, type) or not _fields(of):
            raise InputError("no-state", kind)
        return of(**dict(inner))
    return _GROUPS[kind](inner)
