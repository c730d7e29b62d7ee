"""FiftyOne: image classification and detection datasets, samples, and label objects by id.

References
----------
https://docs.voxel51.com/user_guide/export_datasets.html
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from semmetrics.data.form import FILE_ID, Form
from semmetrics.data.formats.base import (
    LABELS,
    RECORD,
    DocumentFormat,
    ScoredLabels,
    are_records,
    check_record,
    finish,
    read_id,
    read_score,
)
from semmetrics.data.formats.captions import path_aliases
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions, is_truth
from semmetrics.errors import InputError, format_place
from semmetrics.messages import pluralize
from semmetrics.schema import ID_NAMES

_FOREIGN_KEYS = frozenset(("score", FILE_ID, *ID_NAMES))
"""Keys by which records of other programs are recognised. FiftyOne's score is "confidence"."""
_LIST_KEYS = ("classifications", "detections", "polylines", "keypoints")
_TRUTH_FIELD = "ground_truth"
_PREDICTION_FIELD = "predictions"
"""The usual names of the fields with labels."""
_SAMPLES_TO_MATCH = 20


def fiftyone_labels(value: Any) -> list[Mapping[str, Any]] | None:
    """Return the label objects of a value of FiftyOne, or None if it is not one.

    Examples
    --------
    >>> fiftyone_labels({"_cls": "Classifications", "classifications": [{"label": "cat"}]})
    [{'label': 'cat'}]
    >>> fiftyone_labels({"label": "cat", "confidence": 0.9})
    [{'label': 'cat', 'confidence': 0.9}]
    >>> fiftyone_labels({"cat": 0.9}) is None
    True
    """
    if isinstance(value, Mapping):
        for key in _LIST_KEYS:
            if isinstance(value.get(key), list):
                return fiftyone_labels(value[key])
        value = [value]
    if isinstance(value, list) and all(map(_is_label, value)):
        return value
    return None


def _is_label(value: Any) -> bool:
    """Return whether a value is a label object of FiftyOne, and not a record of another program."""
    if not isinstance(value, Mapping) or not isinstance(value.get("label"), str):
        return False
    return "_cls" in value or _FOREIGN_KEYS.isdisjoint(value)


def _is_fiftyone(value: Any) -> bool:
    """Return whether a value is an object of FiftyOne. A plain list of labels is not."""
    return isinstance(value, Mapping) and fiftyone_labels(value) is not None


class FiftyOneLabels(DocumentFormat):
    """``{"classes": [...], "labels": {id: label}}``, and ``{id: {"classifications": [...]}}``.

    A label is a name, a position in the classes, an object with ``label`` and ``confidence``, or a
    list of these. All classes are in the label universe, even if no sample has them.
    """

    title = "FiftyOne labels"
    nouns = LABELS

    def matches(self, document: Any) -> bool:
        """Return whether there are classes and labels, or label objects by id."""
        if not isinstance(document, Mapping) or not document:
            return False
        if set(document) == {"classes", "labels"}:
            classes = document["classes"]
            has_classes = classes is None or isinstance(classes, list)
            return has_classes and isinstance(document["labels"], Mapping)
        first_values = list(document.values())[:_SAMPLES_TO_MATCH]
        values = [value for value in first_values if value is not None]
        return bool(values) and all(map(_is_fiftyone, values))

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the labels of each sample."""
        classes = None
        labels = document
        if set(document) == {"classes", "labels"}:
            classes = document["classes"]
            labels = document["labels"]
        gathered = ScoredLabels(name)
        for id_, value in labels.items():
            where = format_place(name, "", id_)
            gathered.open(str(id_))
            named_labels = _name_labels(value, classes, where)
            _add_labels(gathered, str(id_), named_labels, where)
        understood = f"FiftyOne labels of {pluralize(len(gathered), 'sample')}"
        items = finish(gathered, understood, "", options)
        items.declared = []
        for class_name in classes or ():
            if isinstance(class_name, str) and class_name.strip():
                items.declared.append(class_name)
        return items


def _name_labels(value: Any, classes: Any, where: str) -> Any:
    """Return a label or a list of labels as label objects, with names instead of class numbers."""
    if isinstance(value, list):
        return [_name_labels(label, classes, where) for label in value]
    if isinstance(value, Mapping) and _is_number(value.get("label")):
        return {**value, **_name_labels(value["label"], classes, where)}
    if _is_number(value):
        if not isinstance(classes, list) or not 0 <= value < len(classes):
            number = str(value)
            raise InputError("outside-classes", where, role="the label", value=number)
        return {"label": classes[value]}
    if isinstance(value, str):
        return {"label": value}
    return value


def _is_number(value: Any) -> bool:
    """Return whether a value is an integer, and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


def _add_labels(
    gathered: ScoredLabels, id_: str, value: Any, where: str, place: Any = None
) -> None:
    """Add the label objects of a value to an item. None is a sample without labels."""
    labels = [] if value is None else fiftyone_labels(value)
    if labels is None:
        wanted = 'a label such as {"label": "cat", "confidence": 0.9}'
        raise InputError("wrong-type", where, value=value, wanted=wanted)
    for label in labels:
        score = read_score(label, "confidence", where)
        gathered.add(id_, label["label"], score, where, place)


class FiftyOneSamples(DocumentFormat):
    """``{"samples": [{"filepath", "ground_truth": {"detections": [...]}}]}``, or only the list.

    The labels are in the field that an option names, or in the only field with labels. Of several
    fields, ``ground_truth`` is read for the ground truth and ``predictions`` for predictions.
    Samples are identified by path or file name.
    """

    title = "FiftyOne samples"
    nouns = LABELS
    used_options = ("label_column",)

    def matches(self, document: Any) -> bool:
        """Return whether samples have a path, and some field with label objects."""
        samples = document
        if isinstance(document, Mapping):
            samples = document.get("samples")
        if not are_records(samples, "filepath"):
            return False
        return any(map(_is_fiftyone, _fields(islice(samples, _SAMPLES_TO_MATCH))))

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the labels of one field of each sample."""
        samples = document["samples"] if isinstance(document, Mapping) else document
        field = _label_field(samples, name, options)
        gathered = ScoredLabels(name)
        for number, sample in enumerate(samples):
            where = format_place(name, RECORD.format(number))
            id_ = read_id(sample, "filepath", where)
            gathered.open(id_, number)
            _add_labels(gathered, id_, sample.get(field), where, number)
        n_samples = pluralize(len(gathered), "sample")
        understood = f"FiftyOne, field {field!r} of {n_samples}"
        items = finish(gathered, understood, RECORD, options)
        items.styles = {"labels": f"those of the field {field!r}"}
        items.aliases = path_aliases(items.ids or ())
        return items


def _fields(samples: Iterable[Any]) -> Iterator[Any]:
    """Yield the values of all fields of some samples."""
    for sample in samples:
        yield from sample.values()


def _label_field(
    samples: Sequence[Mapping[str, Any]], name: str, options: ReadOptions
) -> str:
    """Return the field with the labels."""
    fields: dict[str, None] = {}
    for number, sample in enumerate(samples):
        check_record(sample, format_place(name, RECORD.format(number)))
        for key, value in sample.items():
            if _is_fiftyone(value):
                fields[key] = None
    if options.label_column is not None:
        field = options.label_column
    elif len(fields) == 1:
        (field,) = fields
    else:
        field = _TRUTH_FIELD if is_truth(options) else _PREDICTION_FIELD
    if field in fields:
        return field
    raise InputError(
        "ambiguous-column", name, role="label", found=list(fields), flag="label_column"
    )
