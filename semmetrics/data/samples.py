"""Look at the beginning of an input, so that kinds can recognise their data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import is_iterable
from semmetrics.data.form import DELIMITED_FORMATS, Form
from semmetrics.data.formats import find_document, find_table, find_text
from semmetrics.data.input_formats import FIRST_LINE, format_of
from semmetrics.data.inputs import open_input
from semmetrics.data.json_files import parse, parse_source
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.source import Source, enough_memory
from semmetrics.messages import type_with_article

_MAX_ITEMS = 200
_MAX_ENTRIES_PER_ITEM = 20
_MAX_RECORDS = 20
_MAX_SHOWN_NAMES = 8
_NPY_VECTOR_SHAPE = re.compile(rb"'shape': *\(\d+,\)")
_MAX_NPY_HEADER_BYTES = 10_100
"""A little more than the longest header that NumPy loads, which has 10,000 bytes."""


class Sample(NamedTuple):
    """The structure of an input, with some of its content.

    Attributes
    ----------
    shape : str
        One of these:

        - "strings": one string per item
        - "vector": one integer per item
        - "lists": lists of strings
        - "entries": lists of other entries, such as pairs with scores
        - "columns": a table, with ``names``
        - "keys": a sequence of records, with ``names``
        - "text": plain text
        - "run": a ranked run or its relevance judgements
        - "matrix": a matrix
        - "other": a public format, data that were already read, or data that cannot be read
    what : str
        Description of the input, for messages.
    names : sequence of str
        Columns of a table, or keys of the first records.
    strings : sequence of str
        Strings from the beginning of the input.
    noun : str or None
        Noun of the entries, if the format determines it.
    value : object
        The input itself if it is a mapping, because that may be the content of a COCO file.
    is_cut : bool
        Whether the input may contain more strings.
    read : ReadOptions
        How to read the input. The caller of `sample_of` sets this.
    """

    shape: str
    what: str
    names: Sequence[str] = ()
    strings: Sequence[str] = ()
    noun: str | None = None
    value: Any = None
    is_cut: bool = False
    read: ReadOptions = DEFAULTS

    @property
    def mean_words(self) -> float:
        """The mean number of words per string, or 0 without strings."""
        n_words = sum(len(text.split()) for text in self.strings)
        return n_words / max(1, len(self.strings))

    @property
    def is_single_words(self) -> bool:
        """Whether every string is one ASCII word. Some scripts do not separate words by spaces."""
        return all(text.isascii() and len(text.split()) < 2 for text in self.strings)


_VECTOR = Sample("vector", "one integer per item")


def sample_of(data: Any, form: Form, options: ReadOptions | None = None) -> Sample:
    """Look at the beginning of an input.

    Parameters
    ----------
    data : Source, or anything that ``as_data`` accepts
        A Source caches what it reads here.
    form : Form
        Form with all formats that the input may have.
    options : ReadOptions, optional

    Raises
    ------
    InputError
        If a file cannot be read.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> sample_of({"a": ["cat", "dog"]}, form).shape
    'lists'
    """
    options = options or DEFAULTS
    data = open_input(data, options)
    if isinstance(data, Source):
        text_format = find_text(data, form, options)
        if text_format is not None:
            return Sample("other", text_format.title, noun=text_format.nouns[0])
        with enough_memory(data.name):
            return _sample_file(data, form, options)
    if isinstance(data, (Lists, Matrix)):
        return Sample("other", data.understood, noun=data.noun)
    from semmetrics.data.frames import column_names, is_frame, is_series
    from semmetrics.data.objects import plain_object

    if is_frame(data):
        return _sample_columns(column_names(data), form, options)
    if is_series(data):
        return _sample_values(data)
    return _sample_value(plain_object(data), type_with_article(data), form)


def _sample_file(source: Source, form: Form, options: ReadOptions) -> Sample:
    """Look at the beginning of a file."""
    file_format = format_of(source, options, form)
    if file_format in ("json", "coco"):
        return _sample_value(source.parsed(parse_source), "JSON", form)
    if file_format == "jsonl":
        first_line = FIRST_LINE.search(source.beginning)
        text = "{}" if first_line is None else first_line.group()
        return _sample_value([parse(text, source.name)], "JSON", form)
    if file_format in DELIMITED_FORMATS:
        from semmetrics.data.csv_rows import first_row
        from semmetrics.data.dialect import find_delimiter

        dialect = find_delimiter(source, options, file_format)
        header = first_row(source, dialect, tabs=file_format == "tsv")
        return _sample_columns(header, form, options)
    if file_format in ("parquet", "arrow"):
        from semmetrics.data.arrow_files import open_arrow

        with open_arrow(source, file_format) as (schema, _):
            # In a damaged file the names may not be text. That error is reported as damage only
            # while the file is open.
            names = list(schema.names)
            return _sample_columns(names, form, options)
    if file_format == "trec":
        return Sample("run", "TREC lines")
    if file_format in ("txt", "flickr"):
        return Sample("text", "plain text")
    if _is_npy_vector(source.head):
        return _VECTOR
    return Sample("matrix", "a matrix")


def _is_npy_vector(head: bytes) -> bool:
    """Return whether the beginning of a file is the header of a one-dimensional NumPy array."""
    if not head.startswith(b"\x93NUMPY"):
        return False
    return _NPY_VECTOR_SHAPE.search(head[:_MAX_NPY_HEADER_BYTES]) is not None


def _sample_columns(columns: Sequence[Any], form: Form, options: ReadOptions) -> Sample:
    """Look at the columns of a table."""
    sample = _sample_names("columns", columns)
    public_format = find_table(sample.names, form, options)
    if public_format is None:
        return sample
    return Sample("other", public_format.title, noun=public_format.nouns[0])


def _sample_value(value: Any, what: str, form: Form) -> Sample:
    """Look at a parsed document or a Python object."""
    public_format = find_document(value, form)
    if public_format is not None:
        return Sample("other", public_format.title, noun=public_format.noun_of(value))
    if isinstance(value, Mapping):
        return _sample_values(value.values())._replace(value=value)
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return _sample_sequence(value)
    if isinstance(value, np.ndarray):
        if value.ndim == 1 and value.dtype.kind in "iu":
            return _VECTOR
        return Sample("matrix", what)
    return Sample("other", what)


def _sample_sequence(values: Sequence[Any]) -> Sample:
    """Look at the keys of records, or at items that are not records."""
    first_values = list(islice(values, _MAX_RECORDS))
    if first_values and isinstance(first_values[0], Mapping):
        records = [value for value in first_values if isinstance(value, Mapping)]
        keys = dict.fromkeys(chain.from_iterable(records))
        return _sample_names("keys", list(keys))
    return _sample_values(values)


def _sample_names(shape: str, names: Sequence[Any]) -> Sample:
    """Return a sample that consists of names of columns or keys."""
    shown_names = ", ".join(map(repr, names[:_MAX_SHOWN_NAMES]))
    return Sample(shape, f"{shape} {shown_names}", [str(name) for name in names])


def _sample_values(values: Iterable[Any]) -> Sample:
    """Look at items that are strings, integers or lists."""
    items = list(islice(values, _MAX_ITEMS))
    lists = []
    for item in items:
        is_list = isinstance(item, (list, tuple, Set, np.ndarray))
        if is_list and is_iterable(
            item
        ):  # An array without dimensions is not iterable.
            lists.append(item)
    if lists:
        return _sample_lists(lists, has_more_items=len(items) == _MAX_ITEMS)
    texts = [item for item in items if isinstance(item, str)]
    if texts:
        return Sample("strings", "one string per item", strings=texts)
    if items and all(type(item) is int for item in items):
        return _VECTOR
    return Sample("other", "items")


def _sample_lists(lists: Sequence[Any], *, has_more_items: bool) -> Sample:
    """Look at items that are lists of entries."""
    entries: list[Any] = []
    for item in lists:
        entries.extend(islice(item, _MAX_ENTRIES_PER_ITEM))
    if not all(isinstance(entry, str) for entry in entries):
        return Sample("entries", "lists of labels")
    is_cut = has_more_items or any(len(item) > _MAX_ENTRIES_PER_ITEM for item in lists)
    return Sample("lists", "lists of strings", strings=entries, is_cut=is_cut)
