"""What the block loop works on: some items of a task, and the axis that macro averages run over."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from semmetrics.core.ragged import Bools

__all__ = ["NO_LABELS", "Block", "LabelAxis", "Noted", "Step", "merge_notes", "occurring"]

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
        if isinstance(found, frozenset):
            before = total.get(name, frozenset())
            total[name] = found | before if isinstance(before, frozenset) else found
        else:
            before = total.get(name, 0)
            total[name] = found + before if isinstance(before, int) else found


class Step(Protocol[T_co]):
    """A computation on a block. Steps that are equal are computed once for each block."""

    def compute(self, block: Block[Any]) -> T_co:
        """Compute it for the items of the block."""
        ...

    def __hash__(self) -> int: ...


@dataclass
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


class LabelAxis(NamedTuple):
    """Labels by name, and on which sides each of them occurs; empty where there are no labels.

    Attributes
    ----------
    labels : tuple of str
    in_reference, in_prediction : bool arrays, shape (labels,)
    given : int or None
        The first so many labels are the class list.
    """

    labels: tuple[str, ...]
    in_reference: Bools
    in_prediction: Bools
    given: int | None


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


NO_LABELS = LabelAxis((), np.zeros(0, np.bool_), np.zeros(0, np.bool_), None)
