"""Parts of a computation done by several threads, which changes no result.

Conventions
-----------
A part writes only what is its own. numpy lets other threads run during its longer operations, so
threads share the work without copies of the data, but wait for each other in between.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from semmetrics.core.space import Space
from semmetrics.errors import InputError

__all__ = ["MOST", "do_parts", "usable_workers"]

MOST = 2
"""Threads where none are asked for: with more they wait longer for the interpreter."""


def usable_workers(workers: int | None, space: Space) -> int:
    """How many threads to use: as many as asked for, or up to ``MOST`` of the processors given.

    Torch has threads of its own, and a device one queue: one.

    Raises
    ------
    InputError
        If fewer than one is asked for.

    Examples
    --------
    >>> usable_workers(3, Space([]))
    3
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", remedy="give 1 or more, or None")
    if space.torch:
        return 1
    if workers is None:
        given = getattr(os, "sched_getaffinity", None)
        return min(MOST, len(given(0)) if given else os.cpu_count() or 1)
    return workers


def do_parts(run: Callable[[Any], None], parts: Sequence[Any], workers: int) -> None:
    """Run a function on every part, by that many threads at most.

    The error of the first part that has one is raised, whichever came first.

    Examples
    --------
    >>> found = [0, 0, 0]
    >>> do_parts(lambda place: found.__setitem__(place, place * place), range(3), 2)
    >>> found
    [0, 1, 4]
    """
    workers = min(workers, len(parts))
    if workers <= 1:
        for part in parts:
            run(part)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(run, parts):
            pass
