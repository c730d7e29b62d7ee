"""Read the document frequencies and the scene graphs that options give."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from semmetrics.data.read_options import DEFAULTS
from semmetrics.metrics.cider import DocumentFrequencies


def read_frequencies(doc_freq: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return document frequencies, read from a file if a path is given.

    Parameters
    ----------
    doc_freq : DocumentFrequencies, path, mapping or None
        A mapping has several frequencies by the source and stem of the counts. None, the
        frequencies themselves and a mapping are returned unchanged.
    max_bytes : int
        The largest file that is read.
    """
    if doc_freq is None or isinstance(doc_freq, (DocumentFrequencies, Mapping)):
        return doc_freq
    return DocumentFrequencies.load(doc_freq, max_bytes=max_bytes)


def open_tuples(tuples: Any, max_bytes: int = DEFAULTS.max_bytes) -> Any:
    """Return a table of tuples, or a parser, from the value of the option ``tuples``.

    Parameters
    ----------
    tuples : path, mapping from caption to tuples, function, TupleTable, FunctionParser or None
        A function is a parser: it returns the tuples of captions.
    max_bytes : int
        The largest file that is read.

    Returns
    -------
    TupleTable, FunctionParser or None
    """
    if tuples is None:
        return None
    from semmetrics.text.parses import FunctionParser
    from semmetrics.text.tuple_tables import TupleTable, read_tuples

    if isinstance(tuples, (TupleTable, FunctionParser)):
        return tuples
    if isinstance(tuples, (str, os.PathLike)):
        return read_tuples(tuples, max_bytes)
    if isinstance(tuples, Mapping):
        return TupleTable.of(tuples)
    return FunctionParser(tuples)
