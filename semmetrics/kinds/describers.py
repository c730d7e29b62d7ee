"""How each kind of data is read, described, shown and explained: a module of each, by its name."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

from semmetrics.data.readers import ReadOptions
from semmetrics.metrics.definition import Definition, Measure

__all__ = ["KINDS", "Describer", "find_describer"]

KINDS = ("labels", "captions")


class Describer(Protocol):
    """What the module ``describe`` of a kind has."""

    FILES: str
    HAS_CLASSES: bool

    def read(self, data: Any, classes: Sequence[str] | None, options: ReadOptions) -> Any:
        """Read a file or an object."""
        ...

    def describe(self, data: Any) -> dict[str, Any]:
        """Describe what was read."""
        ...

    def report(self, record: Mapping[str, Any]) -> dict[str, str]:
        """Return the facts of a description as texts by name."""
        ...

    def show_item(self, task: Any, row: int, measure: Measure) -> dict[str, Any]:
        """Show one item of a task as a measure sees it."""
        ...

    def report_item(self, record: Mapping[str, Any]) -> list[str]:
        """Return the lines of an item."""
        ...

    def explain_definition(self, definition: Definition) -> dict[str, str]:
        """Return what a definition's traits mean for the kind, by name."""
        ...

    def explain_protocol(self, protocol: Any) -> dict[str, str]:
        """Return what a protocol means for the kind, by name."""
        ...


def find_describer(kind: str) -> Describer:
    """Load what describes data of a kind.

    Examples
    --------
    >>> find_describer("captions").HAS_CLASSES
    False
    """
    return cast(Describer, importlib.import_module(f"semmetrics.kinds.{kind}.describe"))
