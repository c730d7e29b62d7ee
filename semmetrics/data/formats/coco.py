"""COCO results: detections of categories, as JSON and as CSV.

Conventions
-----------
A result has the id of its category, as in COCO's evaluation. The names come from the other side, if
it has the categories of COCO instances (`semmetrics.data.categories`). Several detections of one
category in an image are one label, with the highest of their scores.

References
----------
https://cocodataset.org/#format-results
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    LABELS,
    RECORD,
    DocumentFormat,
    ScoredLabels,
    Table,
    TableFormat,
    are_records,
    check_record,
    read_id,
    read_score,
    unused_keys,
)
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import format_place
from semmetrics.messages import pluralize
from semmetrics.schema import as_id, as_number

_RESULT_KEYS = (
    "image_id",
    "category_id",
    "score",
    "bbox",
    "segmentation",
    "keypoints",
    "area",
    "id",
    "iscrowd",
    "file_name",
    "num_keypoints",
    "track_id",
    "video_id",
)
"""Keys that the format defines. A note reports other keys."""
_LABEL_KEYS = (
    "label",
    "labels",
    "name",
    "names",
    "category",
    "categories",
    "class",
    "tag",
    "tags",
    "caption",
    "captions",
    "text",
    "sentence",
    "sentences",
    "reference",
    "references",
    "refs",
)
"""Keys of records that are not COCO results: they may contain the label or the caption."""
_IMAGE = "image_id"
_CATEGORY = "category_id"
_SCORE = "score"


class CocoResults(DocumentFormat):
    """``[{"image_id": 42, "category_id": 18, "bbox": [...], "score": 0.9}]``."""

    title = "COCO results"
    nouns = LABELS

    def matches(self, document: Any) -> bool:
        """Return whether the first records have an image and a category, and no label."""
        if not are_records(document, _IMAGE, _CATEGORY):
            return False
        return not any(key in document[0] for key in _LABEL_KEYS)

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the categories of each image in descending order of scores."""
        keys: dict[str, None] = {}
        gathered = ScoredLabels(name)
        for number, record in enumerate(document):
            where = format_place(name, RECORD.format(number))
            check_record(record, where)
            image = read_id(record, _IMAGE, where)
            category = read_id(record, _CATEGORY, where)
            score = read_score(record, _SCORE, where)
            gathered.add(image, category, score, where, number)
            keys.update(dict.fromkeys(map(str, record)))
        items = _describe(gathered, "JSON", RECORD)
        items.notes += unused_keys(keys, _RESULT_KEYS, "result")
        return items


class CocoResultsTable(TableFormat):
    """A table with the columns ``image_id``, ``category_id`` and ``score``."""

    title = "COCO results"
    nouns = LABELS

    def matches(self, columns: Sequence[str], options: ReadOptions) -> bool:
        """Return whether there are ids of categories, and no other column may be the label."""
        if options.label_column is not None:
            return False
        names = {name.strip().casefold() for name in columns}
        return _IMAGE in names and _CATEGORY in names and names.isdisjoint(_LABEL_KEYS)

    def read(self, table: Table, form: Form, options: ReadOptions) -> Items:
        """Read the categories of each image in descending order of scores."""
        columns = {}
        for column, name in enumerate(table.columns):
            columns[name.strip().casefold()] = column
        score_column = columns.get(_SCORE)
        gathered = ScoredLabels(table.name)
        for place, cells in table.rows:
            where = format_place(table.name, table.place_format.format(place))
            score = None
            if score_column is not None:
                score = as_number(cells[score_column], "the score", where)
            image = as_id(cells[columns[_IMAGE]], where=where)
            category = as_id(cells[columns[_CATEGORY]], where=where)
            gathered.add(image, category, score, where, place)
        items = _describe(gathered, "table", table.place_format)
        items.notes += unused_keys(columns, _RESULT_KEYS, "result")
        return items


def _describe(gathered: ScoredLabels, kind: str, place_format: str) -> Items:
    """Return the items of results. Their labels are category ids if all are numbers."""
    items = gathered.items(place_format)
    items.by_category = all(label.isdecimal() for label in gathered.labels)
    n_results = pluralize(gathered.n_occurrences, "result")
    n_categories = pluralize(gathered.n_labels, "category")
    items.understood = f"COCO results ({kind}), {n_results} of {n_categories} by id"
    return items
