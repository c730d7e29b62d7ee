"""Label Studio: JSON, JSON-MIN, CSV and TSV exports.

Conventions
-----------
The labels of a task are its choices and the classes of its regions. Texts, ratings and relations
are not labels, and a note names them. If several people annotated a task, it has the labels of all
of them, and a note counts such tasks. Annotations that were cancelled are left out. So are tasks of
a ground truth that have no other annotation, and a note counts them. If the only annotation of a
task has no result, the task is an item without labels.

If a file has choices of several controls, such as two questions with the answers yes and no, a
label is "control: choice". Choices in annotations that are not read also count, so that labels have
the same names on both sides of a score.

References
----------
https://labelstud.io/guide/export
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    LABELS,
    RECORD,
    DocumentFormat,
    ScoredLabels,
    Table,
    TableFormat,
    answer_style,
    are_records,
    check_record,
    finish,
    optional_records,
    read_id,
    read_score,
    unused_results,
)
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions, is_truth
from semmetrics.errors import InputError, format_place
from semmetrics.messages import pluralize
from semmetrics.schema import as_id

_UPLOAD = re.compile(r"[0-9a-f]{8}-")
"""The prefix that Label Studio adds to the name of an uploaded file."""
_MEDIA_PATH = re.compile(r"\S+\.\w{2,5}")
_EXPORT_COLUMNS = ("annotation_id", "annotator", "lead_time")
_TASK_COLUMNS = (
    "id",
    "agreement",
    "annotation_id",
    "annotator",
    "created_at",
    "updated_at",
    "lead_time",
    "history",
)
_ANSWER = "control: choice"
"""The template for the label of an answer, for messages, if there are several controls."""
_QUESTION_KEYS = ("choices", "taxonomy")
"""The keys under which a value has answers to a question, not classes of regions."""
_SHAPES = ("rectangle", "ellipse", "polygon", "brush", "keypoint", "vector", "bitmask")
"""The types of regions without labels. Another result has the labels of such a region."""
_RESULT_COLUMNS = (
    "label",
    "labels",
    "choice",
    "choices",
    "tag",
    "tags",
    "class",
    "category",
)


def labels_of_value(value: Mapping[str, Any]) -> list[str] | None:
    """Return the labels of a value of Label Studio, or None if it has none.

    The choices of a taxonomy are paths. The label is the last name of each path.

    Examples
    --------
    >>> labels_of_value({"choices": ["cat", "dog"]})
    ['cat', 'dog']
    >>> labels_of_value({"x": 1, "y": 2, "rectanglelabels": ["cat"]})
    ['cat']
    >>> labels_of_value({"taxonomy": [["animal", "cat"], ["animal", "dog"]]})
    ['cat', 'dog']
    """
    for key, entries in value.items():
        is_choice = key in ("choices", "labels", "taxonomy") or key.endswith("labels")
        if not is_choice or not isinstance(entries, list):
            continue
        labels = []
        for entry in entries:
            name = entry[-1] if isinstance(entry, list) and entry else entry
            if not isinstance(name, str):
                return None
            labels.append(name)
        return labels
    return None


class LabelStudio(DocumentFormat):
    """Tasks: ``[{"id", "data": {...}, "annotations": [{"result": [{"value", "type"}]}]}]``.

    The labels are read from ``predictions`` if any task has some, and from ``annotations``
    otherwise. For a ground truth, ``annotations`` come first if any task has some.
    """

    title = "Label Studio"
    nouns = LABELS

    def matches(self, document: Any) -> bool:
        """Return whether records are tasks with annotations or predictions."""
        if not are_records(document, "data"):
            return False
        task = document[0]
        is_listed = isinstance(task.get("annotations", task.get("predictions")), list)
        return is_listed and isinstance(task["data"], Mapping)

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each task."""
        section = _label_studio_section(document, options)
        controls = _task_controls(document)
        gathered = ScoredLabels(name)
        aliases: dict[str, str] = {}
        unused: list[str] = []
        for number, task in enumerate(document):
            where = format_place(name, RECORD.format(number))
            check_record(task, where)
            id_ = _task_id(task, where)
            gathered.open(id_, number)
            aliases.update(dict.fromkeys(_media(task), id_))
            annotations = _drop_cancelled(optional_records(task, section, where))
            gathered.count_annotations(id_, len(annotations))
            for annotation in annotations:
                for region in optional_records(annotation, "result", where):
                    unused += _unused_result(region)
                    prefix = _region_prefix(region) if len(controls) > 1 else ""
                    _add_region(gathered, id_, region, prefix, where, number)
        understood = f"Label Studio, {section} of {pluralize(len(gathered), 'task')}"
        understood += _understood_controls(len(controls))
        items = finish(gathered, understood, RECORD, options, aliases)
        items.notes += unused_results(unused)
        items.styles = answer_style(controls, _ANSWER)
        if gathered.is_annotated:
            items.styles["labels"] = section
        return items


def _label_studio_section(document: Iterable[Any], options: ReadOptions) -> str:
    """Return the key of the part of the tasks that is read."""
    tasks = [task for task in document if isinstance(task, Mapping)]
    has_annotations = any(task.get("annotations") for task in tasks)
    has_predictions = any(task.get("predictions") for task in tasks)
    if has_predictions and (not has_annotations or not is_truth(options)):
        return "predictions"
    return "annotations"


def _task_controls(document: Iterable[Any]) -> set[str]:
    """Return the names of the controls that have a choice anywhere in the file."""
    controls = set()
    for task in document:
        for region in _task_regions(task):
            if _is_answer(region) and isinstance(region.get("from_name"), str):
                controls.add(region["from_name"])
    return controls


def _task_regions(task: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the results of all annotations and predictions of a task, which may be of any type."""
    for section in ("annotations", "predictions"):
        for annotation in _objects_under(task, section):
            yield from _objects_under(annotation, "result")


def _objects_under(record: Any, key: str) -> list[Mapping[str, Any]]:
    """Return the objects of the list under a key. Other values are ignored without an error."""
    values = record.get(key) if isinstance(record, Mapping) else None
    if not isinstance(values, list):
        return []
    return [value for value in values if isinstance(value, Mapping)]


def _is_answer(region: Mapping[str, Any]) -> bool:
    """Return whether a result is the answer to a question, not a region."""
    value = region.get("value")
    return isinstance(value, Mapping) and any(key in value for key in _QUESTION_KEYS)


def _region_prefix(region: Mapping[str, Any]) -> str:
    """Return the prefix of the labels of a result, for files with several controls."""
    control = region.get("from_name")
    if isinstance(control, str) and _is_answer(region):
        return f"{control}: "
    return ""


def _understood_controls(number: int) -> str:
    """Describe labels that name their control."""
    if number < 2:
        return ""
    return f", labels {_ANSWER!r} of {pluralize(number, 'control')}"


def _drop_cancelled(
    annotations: Iterable[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the annotations that were not cancelled."""
    return [record for record in annotations if not record.get("was_cancelled")]


def _add_region(
    gathered: ScoredLabels,
    id_: str,
    region: Mapping[str, Any],
    prefix: str,
    where: str,
    place: Any,
) -> None:
    """Add the labels of a region. A relation or a text has none."""
    for label in _labels_of(region) or ():
        score = read_score(region, "score", where)
        name = _with_prefix(prefix, label)
        gathered.add(id_, name, score, where, place)


def _with_prefix(prefix: str, label: str) -> str:
    """Return a label with a prefix. An empty label stays empty and raises an error later."""
    return f"{prefix}{label}" if label else label


def _unused_result(region: Mapping[str, Any]) -> list[str]:
    """Return the name of a result without labels in a list, or none if it has labels."""
    if _labels_of(region) is not None or region.get("type") in _SHAPES:
        return []
    return [str(region.get("from_name") or region.get("type"))]


def _labels_of(region: Mapping[str, Any]) -> list[str] | None:
    """Return the labels of a region, or None if it is a relation, a text or a rating."""
    value = region.get("value")
    return labels_of_value(value) if isinstance(value, Mapping) else None


def _task_id(task: Mapping[str, Any], where: str) -> str:
    """Return the id of a task, or the name of its file if it has not been imported yet."""
    if "id" in task:
        return read_id(task, "id", where)
    paths = _media(task)
    if not paths:
        raise InputError("missing-key", where, key="id")
    return paths[-1]


def _media(task: Mapping[str, Any]) -> list[str]:
    """Return the path of the file of a task, its file name, and the name before the upload."""
    data = task.get("data")
    if not isinstance(data, Mapping):
        return []
    for value in data.values():
        if not isinstance(value, str):
            continue
        path, _, _ = value.partition("?")
        if _MEDIA_PATH.fullmatch(path):
            file_name = path.rsplit("/", 1)[-1].rsplit("=", 1)[-1]
            original_name = _UPLOAD.sub("", file_name, count=1)
            return [path, file_name, original_name]
    return []


class LabelStudioRecords(DocumentFormat):
    """JSON-MIN: ``[{"id", "image", "choice": "cat", "annotator", "lead_time"}]``."""

    title = "Label Studio (JSON-MIN)"
    nouns = LABELS
    used_options = ("id_column", "label_column")

    def matches(self, document: Any) -> bool:
        """Return whether records have the keys that every export has."""
        return are_records(document, *_EXPORT_COLUMNS)

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each task."""
        columns: dict[str, None] = {}
        for number, record in enumerate(document):
            check_record(record, format_place(name, RECORD.format(number)))
            columns.update(dict.fromkeys(record))
        rows = []
        for number, record in enumerate(document):
            cells = [record.get(column) for column in columns]
            rows.append((number, cells))
        table = Table(name, list(columns), RECORD, rows)
        return _read_export(table, options, "JSON-MIN")


class LabelStudioTable(TableFormat):
    """CSV and TSV exports, whose cells are labels or JSON."""

    title = "Label Studio (CSV)"
    nouns = LABELS
    used_options = ("id_column", "label_column")

    def matches(self, columns: Sequence[str], options: ReadOptions) -> bool:
        """Return whether the table has the columns that every export has."""
        return all(name in columns for name in _EXPORT_COLUMNS)

    def read(self, table: Table, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each task."""
        return _read_export(table._replace(rows=list(table.rows)), options, "CSV")


def _read_export(table: Table, options: ReadOptions, kind: str) -> Items:
    """Read a flat export: one row for each annotation of a task."""
    columns = _result_columns(table, options)
    questions = [column for column in columns if _has_answers(table, column)]
    prefixes = dict.fromkeys(columns, "")
    if len(questions) > 1:
        for column in questions:
            prefixes[column] = f"{table.columns[column]}: "
    id_column = "id" if options.id_column is None else options.id_column
    id_position = _column_position(table, "id", id_column)
    gathered = ScoredLabels(table.name)
    for place, cells in table.rows:
        where = format_place(table.name, table.place_format.format(place))
        id_ = as_id(cells[id_position], where=where)
        gathered.open(id_, place)
        gathered.count_annotations(id_, int(_is_annotated(table, cells)))
        for column, prefix in prefixes.items():
            for label in _cell_labels(cells[column], where):
                name = _with_prefix(prefix, label)
                gathered.add(id_, name, None, where, place)
    names = ", ".join(repr(table.columns[column]) for column in columns)
    understood = f"Label Studio ({kind}), labels in {names}"
    understood += _understood_controls(len(questions))
    items = finish(gathered, understood, table.place_format, options)
    question_names = [table.columns[column] for column in questions]
    items.styles = answer_style(question_names, _ANSWER)
    items.styles["labels"] = f"those of {names}"
    return items


def _column_position(table: Table, role: str, name: str) -> int:
    """Return the position of a column that must be there."""
    names = list(table.columns)
    if name in names:
        return names.index(name)
    flag = f"{role}_column"
    raise InputError(
        "missing-column",
        table.name,
        role=role,
        wanted=repr(name),
        found=names,
        flag=flag,
    )


def _is_annotated(table: Table, cells: Sequence[Any]) -> bool:
    """Return whether a row has the id of an annotation."""
    value = cells[list(table.columns).index("annotation_id")]
    is_nan = (
        value != value
    )  # Only NaN, the missing value of a frame, differs from itself.
    return value is not None and value != "" and not is_nan


def _result_columns(table: Table, options: ReadOptions) -> list[int]:
    """Return the positions of the columns with labels.

    Raises
    ------
    InputError
        If there are no candidates, or if there are several and some of them contain no label
        objects. Such a column may be data of the task.
    """
    if options.label_column is not None:
        return [_column_position(table, "label", options.label_column)]
    others = []
    named = []
    for position, name in enumerate(table.columns):
        if name not in _TASK_COLUMNS:
            others.append(position)
            if name.casefold() in _RESULT_COLUMNS:
                named.append(position)
    with_objects = [position for position in others if _has_labels(table, position)]
    candidates = sorted({*named, *with_objects})
    if len(candidates) == 1 or (candidates and candidates == with_objects):
        return candidates
    raise _ambiguous_column(table, candidates or others)


def _ambiguous_column(table: Table, positions: Sequence[int]) -> InputError:
    """Return the error for several columns that may have the labels."""
    names = [table.columns[position] for position in positions]
    return InputError(
        "ambiguous-column", table.name, role="label", found=names, flag="label_column"
    )


def _parse_cell(cell: Any) -> Any:
    """Return the value of a cell, which may be JSON."""
    if isinstance(cell, str) and cell[:1] in ("[", "{"):
        try:
            return json.loads(cell)
        except ValueError:  # a label in brackets
            return cell
    return cell


def _has_labels(table: Table, column: int) -> bool:
    """Return whether a column has objects with labels."""
    return any(_cell_has_labels(cells[column]) for _, cells in table.rows)


def _has_answers(table: Table, column: int) -> bool:
    """Return whether a column has objects with choices."""
    return any(_cell_has_answers(cells[column]) for _, cells in table.rows)


def _cell_has_labels(cell: Any) -> bool:
    """Return whether a cell has an object with labels."""
    for value in _as_list(_parse_cell(cell)):
        if isinstance(value, Mapping) and labels_of_value(value) is not None:
            return True
    return False


def _cell_has_answers(cell: Any) -> bool:
    """Return whether a cell has an object with choices."""
    values = _as_list(_parse_cell(cell))
    return any(_is_answer({"value": value}) for value in values)


def _as_list(value: Any) -> list[Any]:
    """Return a list, or a single value as a list."""
    return value if isinstance(value, list) else [value]


def _cell_labels(cell: Any, where: str) -> list[str]:
    """Return the labels of a cell: a name, an object, or a list of either."""
    labels: list[str] = []
    for entry in _as_list(_parse_cell(cell)):
        if entry is None or entry == "":
            continue
        entry_labels = None
        if isinstance(entry, str):
            entry_labels = [entry]
        elif isinstance(entry, Mapping):
            entry_labels = labels_of_value(entry)
        if entry_labels is None:
            wanted = 'a label, or an object such as {"choices": ["cat"]}'
            raise InputError("wrong-type", where, value=entry, wanted=wanted)
        labels.extend(entry_labels)
    return labels
