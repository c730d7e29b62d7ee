"""Find the public file format of an input.

Conventions
-----------
``registry`` lists the formats. It is imported only if an input may have one of them. If an option
names the format of a text file, or the label or caption column of a table, the ordinary readers are
used instead.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import DocumentFormat, TableFormat, TextFormat
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import UTF16, Source

_MAX_BYTES_TO_MATCH = 2**14
_TEXT_SUFFIXES = (
    None,
    "",
    ".txt",
    ".arff",
    ".xml",
    ".mat",
    ".svm",
    ".libsvm",
    ".lbl",
    ".ft",
)
"""The extensions that a `TextFormat` may have. None is a stream."""
_LIST_TYPES = (list, tuple, deque)
_MAX_VALUES_TO_MATCH = 100
"""How many values of a mapping are checked. Public documents have few keys, or similar values."""


def find_document(document: Any, form: Form) -> DocumentFormat | None:
    """Return the format of a document, or None if it is not a public one.

    Examples
    --------
    >>> form = Form(noun="label", columns=(), keys=())
    >>> find_document([{"image_id": 1, "category_id": 18, "score": 0.5}], form).title
    'COCO results'
    >>> find_document({"a": ["cat"]}, form) is None
    True
    """
    if not _has_objects(document):
        return None
    from semmetrics.data.formats.registry import DOCUMENTS

    for public_format in DOCUMENTS:
        if public_format.supports(form) and public_format.matches(document):
            return public_format
    return None


def find_table(
    columns: Sequence[str], form: Form, options: ReadOptions
) -> TableFormat | None:
    """Return the format of a table with these columns, or None if it is not a public one."""
    from semmetrics.data.formats.registry import TABLES

    for public_format in TABLES:
        if public_format.supports(form) and public_format.matches(columns, options):
            return public_format
    return None


def find_text(source: Source, form: Form, options: ReadOptions) -> TextFormat | None:
    """Return the format of a text file, or None if it is not a public one."""
    if options.format is not None or source.suffix not in _TEXT_SUFFIXES:
        return None
    from semmetrics.data.formats.registry import TEXTS

    codec = "utf-16" if source.head[:2] in UTF16 else "utf-8"
    head = source.head[:_MAX_BYTES_TO_MATCH]
    beginning = head.decode(codec, "replace").lstrip("\ufeff")
    for public_format in TEXTS:
        if not public_format.supports(form):
            continue
        if public_format.matches(beginning, source.suffix):
            return public_format
    return None


def _has_objects(document: Any) -> bool:
    """Return whether a document contains objects, as all public formats do."""
    if not isinstance(document, Mapping):
        return isinstance(document, _LIST_TYPES) and _is_object(document)
    values: Iterable[Any] = islice(document.values(), _MAX_VALUES_TO_MATCH)
    return any(_is_object(value) for value in values)


def _is_object(value: Any) -> bool:
    """Return whether a value, or the first element of a list, is an object."""
    if isinstance(value, _LIST_TYPES) and value:
        value = value[0]
    return isinstance(value, Mapping)
