"""What the block loop works on: a task, some of its items, and the axis of macro averages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.same import by_value
from semmetrics.data.lists import Ids, take_ids

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K", bound="Task")


Noted: TypeAlias = "int | frozenset[str]"


def merge_notes(total: dict[Hashable, Noted], more: Mapping[Hashable, Noted]) -> None:
    """Add the counts and unite the sets of other notes.

    Examples
    --------
    >>> total = {"near": 2, "df": frozenset({"a"})}
    >>> merge_notes(total, {"near": 3, "df": frozenset({"a"})})
    >>> total
    {'near': 5, 'df': frozenset({'a'})}
    """
    for name, found in more.items():
        before: Any = total.get(name)
        if before is None:
            total[name] = found
        else:
            total[name] = before | found if isinstance(found, frozenset) else before + found


_NONE: Mapping[str, Any] = {}
UNUSED = ("scores", "unused")  # in ``Task.odd``: columns that could have the scores
BESIDE = "~"
"""How names of notes begin that hold only beside all items."""


def adds_up(name: Hashable) -> bool:
    """Tell whether a note of all items is made of those of their parts.

    Examples
    --------
    >>> adds_up("repeated labels"), adds_up(("example", ("~alike", "labels")))
    (True, False)
    """
    if isinstance(name, tuple):
        return all(map(adds_up, name))
    return not str(name).startswith(BESIDE)


class Step(Protocol[T_co]):
    """A computation on a block. Steps that are equal are computed once for each block."""

    def compute(self, block: Block[Any]) -> T_co:
        """Compute it for the items of the block."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Block(Generic[D]):
    """Items ``start`` to ``stop`` of a task.

    Attributes
    ----------
    task : D
    start, stop : int
    memo : dict
        Results by step.
    noted : dict
        What steps note for the user: counts, which blocks add up, and sets, which they unite.
    """

    task: D
    start: int
    stop: int
    memo: dict[Step[Any], Any] = field(default_factory=dict)
    noted: dict[Hashable, Noted] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.stop - self.start

    def note(self, name: Hashable, found: Noted) -> None:
        """Note something for the user; counts are added to those noted before, sets united."""
        merge_notes(self.noted, {name: found})

    def get(self, step: Step[T]) -> T:
        """The result of a step, computed at its first use."""
        if step not in self.memo:
            self.memo[step] = step.compute(self)
        result: T = self.memo[step]
        return result


@by_value()
class LabelAxis(NamedTuple):
    """Labels by name, and how often each of them occurs; empty where there are no labels.

    Attributes
    ----------
    labels : tuple of str
    n_reference, n_prediction : int arrays, shape (labels,)
        Occurrences on each side, before a cutoff or a decoding rule.
    given : int or None
        The first so many labels are the class list.
    ignored : mapping from label to pair of int
        How often labels that were ignored were predicted and true.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    """

    labels: tuple[str, ...]
    n_reference: Ints
    n_prediction: Ints
    given: int | None
    ignored: Mapping[str, tuple[int, int]]
    named: Mapping[str, frozenset[str]] = _NONE


def occurring(codes: Any, width: int) -> Bools:
    """Tell which of the codes from 0 to ``width`` there are.

    Examples
    --------
    >>> occurring(np.array([2, 0, 2]), 3).tolist()
    [True, False, True]
    """
    flags = np.zeros(width, np.bool_)
    flags[codes] = True
    return flags


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(ABC):
    """What the block loop evaluates, of any kind.

    Attributes
    ----------
    kind : str
        The name of its kind.
    ids : sequence of str, range or int array
        One for each item; numbers where items are known by position.
    settings : mapping
        Conventions that changed the data, by their keys in signatures.
    counts : mapping
        What was left out, merged or odd, by name.
    odd : mapping
        What is probably a mistake in both sides together, as `Block.noted`: counts and sets.
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
    odd: Mapping[Hashable, Noted] = field(default_factory=dict)
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
        """64-bit fingerprint of the ids and their references; the parts of a split add up."""

    @property
    def weighting(self) -> int:
        """64-bit fingerprint of the ids and their weights, as `fingerprint`; 0 without weights."""
        if self.weights is None:
            return 0
        bits = (self.weights + 0.0).view(np.uint64)  # -0 is 0
        return int(mix(self.hashes ^ mix(bits)).sum(dtype=np.uint64))

    @property
    def axis(self) -> LabelAxis:
        """What macro averages run over; empty where there are no labels."""
        return LabelAxis((), np.zeros(0, np.int64), np.zeros(0, np.int64), None, {})

    @property
    def identities(self) -> dict[str, str]:
        """What each model is, for signatures, and what else must be equal in parts."""
        return {}

    @abstractmethod
    def blocks(self) -> Iterator[Block[Any]]:
        """Items in blocks whose working arrays fit into memory."""

    def take(self: K, rows: Ints) -> K:
        """The task on those items alone, in that order; nothing is coded again."""
        return replace(
            self,
            ids=take_ids(self.ids, rows),
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
            **self._take_sides(rows),
        )

    @abstractmethod
    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        """Return the attributes of a kind for those items."""
