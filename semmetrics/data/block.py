"""Some items of a task, and what has been computed for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

__all__ = ["Block", "Step"]

D = TypeVar("D")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


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
    """

    task: D
    start: int
    stop: int
    memo: dict[Step[Any], Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.stop - self.start

    def get(self, step: Step[T]) -> T:
        """The result of a step, computed at its first use."""
        if step not in self.memo:
            self.memo[step] = step.compute(self)
        result: T = self.memo[step]
        return result
