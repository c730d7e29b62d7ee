"""Measures that are registered in a test, and forgotten after it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from semmetrics.metrics.registry import all_definitions, forget


@contextmanager
def temporary_measures() -> Iterator[None]:
    """Forget the measures that are registered in the block when it ends."""
    before = list(all_definitions())
    try:
        yield
    finally:
        for definition in list(all_definitions()):
            if definition not in before:
                forget(definition)
