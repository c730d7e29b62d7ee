"""Inputs that have been read into memory, so that several readers can look at them."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.readers.strict_json import parse
from semmetrics.data.source import Source, load

__all__ = ["Loaded", "no_collection", "opened"]


@contextmanager
def no_collection() -> Iterator[None]:
    """Let nobody look for cycles of objects while a reader makes its lists."""
    # Millions of new lists set off the cycle collector, which takes two thirds of the time and
    # finds nothing. Of readers in several threads the first one to start switches it on again.
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@dataclass(frozen=True)
class Loaded:
    """A file or stream in memory: JSON is parsed once, to tell its kind and to read it."""

    source: Source

    @staticmethod
    def of(path: str | os.PathLike[str] | Loaded, options: ReadOptions) -> Loaded:
        """Read a path, unless that was done before."""
        return path if isinstance(path, Loaded) else Loaded(load(path, options.max_bytes))

    @cached_property
    def json(self) -> Any:
        """The value of a JSON file; readers do not change it."""
        with no_collection():
            return parse(self.source.text, self.source.name)

    def take_json(self) -> Any:
        """The same, and forget it: it takes several times the memory of the file."""
        value = self.json
        self.__dict__.pop("json")
        self.source.__dict__.pop("text", None)
        return value


def opened(data: Any, options: ReadOptions | None = None) -> Any:
    """Read a path into memory, and leave anything else as it is.

    Parameters
    ----------
    data : path, or anything
    options : ReadOptions, optional
        The limit on bytes is used.

    Returns
    -------
    Loaded, or data
        Readers of labels and of captions take either.

    Raises
    ------
    InputError
        If a path cannot be read.

    Examples
    --------
    >>> opened({"a": ["cat"]})
    {'a': ['cat']}
    """
    return Loaded.of(data, options or DEFAULTS) if isinstance(data, (str, os.PathLike)) else data
