"""Labels in JSON: a mapping by id, records, lists by position, and records one a line.

Conventions
-----------
An item's labels are a list, or a mapping from label to score. Records are objects with an id
("id", "image_id" or "img_id"), labels ("labels", "names", "tags" or "categories") and perhaps
"scores", a list beside the labels; keys of other names are counted in the notes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from semmetrics.data.form import JSON_ROLES, ReadOptions, assign, unused
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.coco import is_coco, read_coco
from semmetrics.data.readers.records import ELEMENT, LINE, Records, json_lines
from semmetrics.data.source import Places, Source, at, counted, shown
from semmetrics.errors import InputError

__all__ = ["labels_of", "pair_scores", "read_json", "read_jsonl"]


def read_json(value: Any, name: str, options: ReadOptions) -> RawItems:
    """The items of a JSON file: by mapping, records or position, or COCO instances."""
    if (
        options.format != "coco"
        and isinstance(value, list)
        and value
        and isinstance(value[0], dict)
    ):
        records = _Records(name, ELEMENT, options)
        records.gather(enumerate(value))
        return records.finish("JSON, one record an item")
    if isinstance(value, dict):
        coco = options.format == "coco" or is_coco(value)
        raw = read_coco(value, name) if coco else _mapping(value, name)
    elif options.format == "coco" or not isinstance(value, list):
        raise InputError(
            f"{shown(value)} stands where an object is expected",
            where=name,
            remedy="give the instances file" if options.format else 'write {"id": ["label"]}',
        )
    else:
        raw = _positional(value, name)
    columns = ("id_column", "label_column", "score_column")
    raw.notes += unused(options, columns, raw.understood.split(", ", 1)[-1])
    return raw


def read_jsonl(source: Source, options: ReadOptions) -> RawItems:
    """Read JSON records, one a line."""
    notes: list[str] = []
    records = _Records(source.name, LINE, options)
    records.gather(json_lines(source, options, notes))
    raw = records.finish("JSON lines, one record an item")
    raw.notes += notes
    return raw


def labels_of(value: object, where: str) -> list[Any]:
    """The labels of an item as written: a list as it is, a mapping as (label, score) pairs."""
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        for label, score in value.items():
            if isinstance(score, bool) or not isinstance(score, int | float):
                raise InputError(
                    f"the label {shown(label)} has {shown(score)} for a score",
                    where=where,
                    remedy='write {"label": 0.5}, or a list of labels',
                )
        return list(value.items())
    raise InputError(
        f"{shown(value)} stands where a list of labels is expected",
        where=where,
        remedy='write ["label", ...], also for one label' if isinstance(value, str) else
        "write a list; an empty one for no labels",
    )  # fmt: skip


def pair_scores(labels: list[Any], scores: object, where: str) -> list[Any]:
    """Labels and the list of their scores as pairs."""
    if not isinstance(scores, list) or len(scores) != len(labels):
        got = counted(scores, "score") if isinstance(scores, list) else shown(scores)
        raise InputError(
            f"beside {counted(labels, 'label')} there is {got}",
            where=where,
            remedy="give one score a label, in a list",
        )
    return list(zip(labels, scores, strict=True))


def _mapping(value: dict[str, Any], name: str) -> RawItems:
    if "" in value:
        raise InputError("the id is empty", where=at(name, "key ''"), remedy="name the item")
    items = [
        labels if isinstance(labels, list) else labels_of(labels, at(name, "", key))
        for key, labels in value.items()
    ]
    ids = list(value)
    scored = [key for key, labels in value.items() if isinstance(labels, dict)]
    shape = "{id: {label: score}}" if scored and len(scored) == len(ids) else "{id: [labels]}"
    raw = RawItems(ids, items, Places(name, ids), name, f"JSON, {shape}")
    if 0 < len(scored) < len(ids):
        raw.notes.append(f"{counted(scored, 'item')} written {{label: score}}, the others as lists")
    return raw


def _positional(value: list[Any], name: str) -> RawItems:
    places = Places(name, None, ELEMENT, range(len(value)))
    for position, item in enumerate(value):
        if isinstance(item, dict):  # a record among lists, or scores without an id
            raise InputError(
                "an object stands among lists",
                where=places(position),
                remedy="write all items alike",
            )
        if not isinstance(item, list):
            labels_of(item, places(position))
    return RawItems(None, value, places, name, "JSON, [[labels]] by position")


class _Records(Records):
    def __init__(self, name: str, unit: str, options: ReadOptions) -> None:
        super().__init__(name, unit, options, partial(assign, JSON_ROLES))

    def content(
        self, record: dict[str, Any], keys: tuple[str, ...], columns: dict[str, int]
    ) -> list[Any]:
        labels = record[keys[columns["label"]]]
        if "score" not in columns:
            return labels_of(labels, "")
        if isinstance(labels, dict):
            raise InputError(
                "scores stand beside labels that have scores", remedy="keep one of them"
            )
        return pair_scores(labels_of(labels, ""), record[keys[columns["score"]]], "")
