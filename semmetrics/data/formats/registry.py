"""The public file formats.

Conventions
-----------
Each format is a class with ``matches`` and ``read`` in a module of its family, and has one line
below. The first format that matches is used, so a specific format is listed before a general one.
"""

from __future__ import annotations

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
from semmetrics.data.formats.label_studio import (
    LabelStudio,
    LabelStudioRecords,
    LabelStudioTable,
)
from semmetrics.data.formats.labelbox import Labelbox, LabelboxRecords
from semmetrics.data.formats.text import Arff, FastText, Matlab, Xmlc

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
TABLES: tuple[TableFormat, ...] = (
    CocoResultsTable(),
    LabelStudioTable(),
    NumberedCaptions(),
)
"""Formats of tables with a header."""
TEXTS: tuple[TextFormat, ...] = (Xmlc(), FastText(), Arff(), Cvat(), Matlab())
"""Formats of other text files."""
