"""What all tasks have in common: items with ids, weights and groups, evaluated block by block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from inspect import signature
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import Hashes, by_value, hash_ids, mix
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.data.item_ids import Ids, take_ids
from semmetrics.data.observations import Observations

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K", bound="Task")
F = TypeVar("F", bound="Callable[..., Any]")

UNUSED_COLUMNS = "unused-columns"
"""The code of the notes on columns that are not used but may contain scores."""


class Step(Protocol[T_co]):
    """A computation on a block. Steps that are equal are computed once for each block."""

    def compute(self, block: Block[Any]) -> T_co:
        """Compute the result for the items of the block."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False, repr=False)
class Block(Generic[D]):
    """Items ``start`` to ``stop`` of a task.

    Attributes
    ----------
    task : D
    start, stop : int
    memo : dict
        The results of steps.
    observations : Observations
        What steps observe in the items, for notes.
    """

    task: D
    start: int
    stop: int
    memo: dict[Step[Any], Any] = field(default_factory=dict)
    observations: Observations = field(default_factory=Observations)

    def __len__(self) -> int:
        return self.stop - self.start

    def get(self, step: Step[T]) -> T:
        """Return the result of a step, which is computed at its first use."""
        if step not in self.memo:
            self.memo[step] = step.compute(self)
        result: T = self.memo[step]
        return result


def _no_names() -> Mapping[str, frozenset[str]]:
    return {}


@by_value()
class LabelAxis(NamedTuple):
    """The labels that macro averages run over, and how often each of them occurs.

    Attributes
    ----------
    labels : tuple of str
    n_reference, n_prediction : int arrays, shape (labels,)
        Occurrences on each side, before a cutoff or a decoding rule.
    n_listed : int or None
        The number of labels in the class list, which come first. None without a class list.
    ignored : mapping from label to pair of int
        How often each ignored label was predicted and true.
    named : mapping from name to set of labels
        Label universes that measures can select by name.
    in_columns : bool array, shape (labels,), or None
        Labels that are columns of a matrix or keys of 0/1 mappings. None if there are none.
    """

    labels: tuple[str, ...]
    n_reference: Ints
    n_prediction: Ints
    n_listed: int | None
    ignored: Mapping[str, tuple[int, int]]
    named: Mapping[str, frozenset[str]] = _no_names()
    in_columns: Bools | None = None


def occurring(codes: Any, width: int) -> Bools:
    """Return which of the codes from 0 to ``width`` occur.

    Examples
    --------
    >>> occurring(np.array([2, 0, 2]), 3).tolist()
    [True, False, True]
    """
    flags = np.zeros(width, np.bool_)
    flags[codes] = True
    return flags


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Task(ABC):
    """Predictions and references of the same items, checked once and then immutable.

    Attributes
    ----------
    kind : str
        The name of the kind of data.
    ids : sequence of str, range or int array
        One per item. Numbers if items are identified by position.
    settings : mapping
        The options that changed the data, by their keys in signatures.
    counts : mapping
        How many items were left out or merged, by reason.
    observations : Observations
        What was observed in both sides together, such as probable mistakes.
    weights : float array, shape (items,), or None
    groups : uint64 array, shape (items,), or None
        Items with equal numbers are resampled together.
    unit : str
        What an item is.
    shared : dict
        What steps compute once for all blocks.
    """

    kind: ClassVar[str]
    ids: Ids
    settings: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    observations: Observations = field(default_factory=Observations)
    weights: Floats | None = None
    groups: Hashes | None = None
    unit: str = "image"
    shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each item's id."""
        return hash_ids(self.ids)

    @property
    @abstractmethod
    def fingerprint(self) -> int:
        """64-bit hash of the ids and their references. The hashes of parts add up."""

    @property
    def weighting(self) -> int:
        """64-bit hash of the ids and their weights, which also adds up. 0 without weights."""
        if self.weights is None:
            return 0
        bits = (self.weights + 0.0).view(np.uint64)  # -0 becomes 0
        return int(mix(self.hashes ^ mix(bits)).sum(dtype=np.uint64))

    @property
    def axis(self) -> LabelAxis:
        """The labels that macro averages run over. Empty if there are no labels."""
        nothing = np.zeros(0, np.int64)
        return LabelAxis((), nothing, nothing, None, {})

    @property
    def identities(self) -> dict[str, str]:
        """The identity of each model and of other inputs that all parts must share."""
        return {}

    def blocks(self, memory: int = 1 << 25) -> Iterator[Block[Any]]:
        """Yield the items in blocks whose working arrays take about ``memory`` bytes."""
        size = self._items_per_block(memory)
        for start in range(0, len(self), size):
            yield Block(self, start, min(start + size, len(self)))

    def _items_per_block(self, memory: int) -> int:
        """Return the number of items of a block."""
        return len(self)

    def take(self: K, rows: Ints) -> K:
        """Return the task on these items, in this order."""
        return replace(
            self,
            ids=take_ids(self.ids, rows),
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
            **self._take_sides(rows),
        )

    @abstractmethod
    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        """Return the attributes that the subclass adds, for some items."""


def memoised(function: F) -> F:
    """Memoise a function of a task or a block on that object.

    The task or the block is the first argument of the function.
    """
    function_signature = signature(function)

    @wraps(function)
    def memoised(*positional: Any, **named: Any) -> Any:
        bound = function_signature.bind(*positional, **named)
        bound.apply_defaults()
        owner, *others = bound.arguments.values()
        memo: dict[Any, Any] = owner.memo if isinstance(owner, Block) else owner.shared
        key = (function.__module__, function.__name__, *others)
        if key not in memo:
            memo[key] = function(*positional, **named)
        return memo[key]

    return cast("F", memoised)


# ---- hashes of references -----------------------------------------------------------------------


def hash_lists(names: Hashes, indptr: Ints, codes: Ints | Codes) -> Hashes:
    """Return a hash of each list of names, in which the order counts.

    Parameters
    ----------
    names : uint64 array
        The hash of each name.
    indptr : int array, shape (lists + 1,)
    codes : int array
        The names of the lists.
    """
    # Each position i of a list has the odd factor 2 * i + 3. The factor 1 is left for the id.
    factors = ragged.positions(indptr).astype(np.uint64)
    factors *= np.uint64(2)
    factors += np.uint64(3)
    return sum_hashes(np.multiply(names.take(codes), factors, out=factors), indptr)


def sum_hashes(hashes: Hashes, indptr: Ints) -> Hashes:
    """Return the sum of the hashes of each row, modulo 2**64."""
    totals = np.zeros(len(hashes) + 1, np.uint64)
    np.cumsum(hashes, out=totals[1:])
    return np.asarray(totals[indptr[1:]] - totals[indptr[:-1]])
