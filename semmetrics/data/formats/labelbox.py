"""Labelbox: exports of version 2 (one object in each line) and version 1.

Conventions
-----------
The labels of a data row are the names of its objects and the answers to its questions. If there are
several questions, an answer is called "question: answer". Texts are not labels. A row of a ground
truth that nobody labelled, or that was skipped, is left out, and a note counts such rows.

References
----------
https://docs.labelbox.com/reference/label-export
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    LABELS,
    RECORD,
    DocumentFormat,
    ScoredLabels,
    answer_style,
    are_records,
    check_record,
    finish,
    optional_key,
    optional_records,
    read_id,
    require_key,
)
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import InputError, format_place
from semmetrics.messages import pluralize
from semmetrics.schema import as_id

_ANSWER = "question: answer"
"""The template for the label of an answer, for messages, if there are several questions."""
_ID_KEYS = ("external_id", "global_key", "id")
"""Keys of the ids of a data row, in order of priority."""
_SKIPPED = "Skip"
"""The value that version 1 writes instead of the label of a row that was skipped."""


class Labelbox(DocumentFormat):
    """Export v2, one object in each line: ``{"data_row": {...}, "projects": {id: {"labels"}}}``."""

    title = "Labelbox"
    nouns = LABELS

    def matches(self, document: Any) -> bool:
        """Return whether records, or a single one, have a data row and projects."""
        document = _as_records(document)
        if not are_records(document, "data_row", "projects"):
            return False
        return isinstance(document[0]["projects"], Mapping)

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the names of the objects, and the answers to the questions, of each data row."""
        rows = _DataRows(name)
        for number, record in enumerate(_as_records(document)):
            where = format_place(name, RECORD.format(number))
            row = require_key(check_record(record, where), "data_row", dict, where)
            ids = [row[key] for key in _ID_KEYS if row.get(key)]
            if not ids:
                raise InputError("missing-key", where, key=_ID_KEYS[0])
            annotations = []
            for label in _labelbox_labels(record, where):
                annotations.append(optional_key(label, "annotations", dict, where))
            id_, *other_ids = ids
            own_id = as_id(id_, where=where)
            rows.add(own_id, annotations, where, number)
            for other_id in other_ids:
                rows.aliases[str(other_id)] = own_id
        return rows.items(options)


class _DataRows:
    """The objects and the answers of data rows."""

    def __init__(self, name: str) -> None:
        self.aliases: dict[str, str] = {}
        self._gathered = ScoredLabels(name)
        self._answers: list[tuple[str, str, str, str]] = []

    def add(
        self, id_: str, annotations: Sequence[Mapping[str, Any]], where: str, place: int
    ) -> None:
        """Add the annotations of a data row, which are one per annotator."""
        self._gathered.open(id_, place)
        self._gathered.count_annotations(id_, len(annotations))
        for annotation in annotations:
            for labelled_object in optional_records(annotation, "objects", where):
                label = _labelbox_name(labelled_object, where)
                self._gathered.add(id_, label, None, where, place)
            for question, answer in _labelbox_answers(annotation, where):
                self._answers.append((id_, question, answer, where))

    def items(self, options: ReadOptions) -> Items:
        """Return the items. Answers name their question if there are several questions."""
        questions = {question for _, question, _, _ in self._answers}
        has_several_questions = len(questions) > 1
        understood = f"Labelbox, {pluralize(len(self._gathered), 'data row')}"
        if has_several_questions:
            count = pluralize(len(questions), "question")
            understood = f"{understood}, labels {_ANSWER!r} of {count}"
        for id_, question, answer, where in self._answers:
            label = f"{question}: {answer}" if has_several_questions else answer
            self._gathered.add(id_, label, None, where)
        items = finish(self._gathered, understood, RECORD, options, self.aliases)
        items.styles = answer_style(questions, _ANSWER)
        return items


def _as_records(document: Any) -> Any:
    """Return the records of a document. A file of one line is a single object."""
    return [document] if isinstance(document, Mapping) else document


def _labelbox_labels(record: Mapping[str, Any], where: str) -> list[Mapping[str, Any]]:
    """Return the labels of a row in all projects: one for each annotator who did not skip it."""
    labels: list[Mapping[str, Any]] = []
    projects = require_key(record, "projects", dict, where)
    for project in projects.values():
        for label in optional_records(check_record(project, where), "labels", where):
            performance = optional_key(label, "performance_details", dict, where)
            if not performance.get("skipped"):
                labels.append(label)
    return labels


def _labelbox_name(record: Mapping[str, Any], where: str) -> str:
    """Return the name of an object or an answer."""
    for key in ("name", "title", "value"):
        name = record.get(key)
        if isinstance(name, str):
            return name
    raise InputError("missing-key", where, key="name")


def _labelbox_answers(
    annotations: Mapping[str, Any], where: str
) -> Iterator[tuple[str, str]]:
    """Yield pairs of a question and one of its answers. Texts are not labels."""
    for question in optional_records(annotations, "classifications", where):
        name = _labelbox_name(question, where)
        for key in ("radio_answer", "answer"):
            if isinstance(question.get(key), Mapping):
                yield name, _labelbox_name(question[key], where)
        for key in ("checklist_answers", "answers"):
            for answer in optional_records(question, key, where):
                yield name, _labelbox_name(answer, where)


class LabelboxRecords(DocumentFormat):
    """Export v1: ``[{"External ID", "Label": {"objects": [...], "classifications": [...]}}]``."""

    title = "Labelbox (v1)"
    nouns = LABELS

    def matches(self, document: Any) -> bool:
        """Return whether records have a label and the id of a data row."""
        if not are_records(document, "Label"):
            return False
        has_id = "External ID" in document[0] or "DataRow ID" in document[0]
        label = document[0]["Label"]
        return has_id and (isinstance(label, Mapping) or label == _SKIPPED)

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the names of the objects, and the answers to the questions, of each data row."""
        rows = _DataRows(name)
        for number, record in enumerate(document):
            where = format_place(name, RECORD.format(number))
            check_record(record, where)
            key = "External ID" if record.get("External ID") else "DataRow ID"
            annotations = []
            is_skipped = record.get("Skipped") or record.get("Label") == _SKIPPED
            if not is_skipped and record.get("Label") is not None:
                annotations.append(require_key(record, "Label", dict, where))
            rows.add(read_id(record, key, where), annotations, where, number)
        return rows.items(options)
