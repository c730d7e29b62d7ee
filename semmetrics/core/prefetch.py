"""Compute items ahead of their use, in a thread."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def prefetch(items: Iterator[T], *, in_thread: bool = True) -> Generator[T, None, None]:
    """Compute the next item in a thread while the previous one is used.

    Parameters
    ----------
    items : iterator
    in_thread : bool
        False if passing an item to another thread would take longer than computing it. Then no
        thread is used.

    Examples
    --------
    >>> list(prefetch(iter("abc"))), list(prefetch(iter("abc"), in_thread=False))
    (['a', 'b', 'c'], ['a', 'b', 'c'])
    """
    if not in_thread:
        yield from items
        return
    # Imported here, because only large data need it.
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(_next_item, items)
        while item := future.result():
            future = pool.submit(_next_item, items)
            yield from item


def _next_item(items: Iterator[T]) -> list[T]:
    """Return the next item in a list, which is empty at the end."""
    return list(islice(items, 1))
