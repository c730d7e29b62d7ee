"""Some items of a task, and what has been computed for them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

__all__ = ["Block", "Noted", "Step", "merge_notes"]

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
