"""Public file formats, and which of them an input has.

Conventions
-----------
Each format is a class with ``matches`` and ``read`` in a module of its family, and a line of a
registry below. The first one that matches is used, so a specific format is listed before a general
one. If an option names the format of a text file, or the label or caption column of a table, the
ordinary readers are used instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.formats.base import DocumentFormat, TableFormat, TextFormat
from semmetrics.data.formats.captions import (
    ActivityNetCaptions,
    LavisCaptions,
    MsrVtt,
    NumberedCaptions,
    TextCaps,
    Vatex,
)
from semmetrics.data.formats.coco import CocoResults, CocoResultsTable
from semmetrics.data.formats.cvat import Cvat, Datumaro
from semmetrics.data.formats.fiftyone import FiftyOneLabels, FiftyOneSamples
from semmetrics.data.formats.label_studio import LabelStudio, LabelStudioRecords, LabelStudioTable
from semmetrics.data.formats.labelbox import Labelbox, LabelboxRecords
from semmetrics.data.formats.text import Arff, FastText, Matlab, Xmlc
from semmetrics.data.source import UTF16, Source

__all__ = ["DOCUMENTS", "TABLES", "TEXTS", "find_document", "find_table", "find_text"]

DOCUMENTS: tuple[DocumentFormat, ...] = (
    CocoResults(),
    LabelStudio(),
    LabelStudioRecords(),
    Labelbox(),
    LabelboxRecords(),
    Datumaro(),
    FiftyOneSamples(),
    FiftyOneLabels(),
    MsrVtt(),
    TextCaps(),
    Vatex(),
    LavisCaptions(),
    ActivityNetCaptions(),
)
"""Formats of JSON documents, JSON lines and Python objects."""
TABLES: tuple[TableFormat, ...] = (CocoResultsTable(), LabelStudioTable(), NumberedCaptions())
"""Formats of tables with a header."""
TEXTS: tuple[TextFormat, ...] = (Xmlc(), FastText(), Arff(), Cvat(), Matlab())
"""Formats of other text files."""
_BEGINNING = 2**14
_TEXT_SUFFIXES = (None, "", ".txt", ".arff", ".xml", ".mat", ".svm", ".libsvm", ".lbl", ".ft")


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
    for public_format in DOCUMENTS:
        if public_format.holds(form) and public_format.matches(document):
            return public_format
    return None


def find_table(columns: Sequence[str], form: Form, options: ReadOptions) -> TableFormat | None:
    """Return the format of a table with these columns, or None if it is not a public one."""
    for public_format in TABLES:
        if public_format.holds(form) and public_format.matches(columns, options):
            return public_format
    return None


def find_text(source: Source, form: Form, options: ReadOptions) -> TextFormat | None:
    """Return the format of a text file, or None if it is not a public one."""
    if options.format is not None or source.suffix not in _TEXT_SUFFIXES:
        return None
    codec = "utf-16" if source.head[:2] in UTF16 else "utf-8"
    beginning = source.head[:_BEGINNING].decode(codec, "replace").lstrip("\ufeff")
    for public_format in TEXTS:
        if public_format.holds(form) and public_format.matches(beginning, source.suffix):
            return public_format
    return None
