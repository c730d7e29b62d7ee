"""Labels in JSON: a mapping by id, records, lists by position, and records one a line.

Conventions
-----------
An item's labels are a list, or a mapping from label to score. Records are objects with an id
("id", "image_id" or "img_id"), labels ("labels", "names", "tags" or "categories") and perhaps
"scores", a list beside the labels; keys of other names are counted in the notes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

from semmetrics.data.raw import RawItems
from semmetrics.data.readers.coco import is_coco, read_coco
from semmetrics.data.readers.options import JSON_ROLES, ReadOptions, assign, unused
from semmetrics.data.readers.source import (
    Places,
    Source,
    at,
    canonical_id,
    check_lines,
    counted,
    placed,
    shown,
)
from semmetrics.data.readers.strict_json import parse
from semmetrics.errors import InputError

__all__ = ["labels_of", "pair_scores", "read_json", "read_jsonl"]

_ELEMENT = "element [{}]"


def read_json(source: Source, options: ReadOptions) -> RawItems:
    """Read a JSON file: by mapping, records or position, or COCO instances."""
    value, name = parse(source.text, source.name), source.name
    if (
        options.format != "coco"
        and isinstance(value, list)
        and value
        and isinstance(value[0], dict)
    ):
        return _records(enumerate(value), name, _ELEMENT, options, "JSON")
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
    check_lines(source, options.max_line_bytes)
    blank: list[int] = []
    records = _json_lines(source, blank)
    raw = _records(records, source.name, "line {}", options, "JSON lines")
    if blank:
        raw.notes.append(
            f"{counted(blank, 'blank line')} between records, the first is line {blank[0]}"
        )
    return raw


def _json_lines(source: Source, blank: list[int]) -> Iterator[tuple[int, Any]]:
    pending: list[int] = []
    for line, text in enumerate(io.StringIO(source.text, newline="\n"), 1):
        if text.isspace():
            pending.append(line)
            continue
        blank += pending
        pending.clear()
        yield line, parse(text, source.name, line)


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
    places = Places(name, None, _ELEMENT, range(len(value)))
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


class _Records:
    """Records gathered so far; the columns of equal key lists are found once."""

    def __init__(self, options: ReadOptions) -> None:
        self.options = options
        self.places: dict[str, int] = {}
        self.items: list[list[Any]] = []
        self.roles: dict[tuple[str, ...], dict[str, int]] = {}
        self.extra: dict[str, None] = {}

    def columns(self, keys: tuple[str, ...]) -> dict[str, int]:
        found = self.roles.get(keys)
        if found is None:
            found = self.roles[keys] = assign(JSON_ROLES, keys, self.options, "")
            used = found.values()
            self.extra.update((key, None) for i, key in enumerate(keys) if i not in used)
        return found

    def labels(self, record: dict[str, Any], keys: tuple[str, ...]) -> list[Any]:
        columns = self.columns(keys)
        labels = record[keys[columns["label"]]]
        if "score" not in columns:
            return labels_of(labels, "")
        if isinstance(labels, dict):
            raise InputError(
                "scores stand beside labels that have scores", remedy="keep one of them"
            )
        return pair_scores(labels_of(labels, ""), record[keys[columns["score"]]], "")

    def add(self, id_: str, place: int, unit: str, labels: list[Any]) -> None:
        if self.places.setdefault(id_, place) != place:
            raise InputError(
                f"the id is also at {unit.format(self.places[id_])}",
                remedy="keep one record an id (1 and '1' are the same)",
            )
        self.items.append(labels)


def _records(
    records: Iterable[tuple[int, Any]], name: str, unit: str, options: ReadOptions, kind: str
) -> RawItems:
    table = _Records(options)
    for place, record in records:
        id_ = None
        try:
            if not isinstance(record, dict):
                raise InputError(
                    f"{shown(record)} stands where a record is expected",
                    remedy='write {"id": "7", "labels": ["label"]}',
                )
            keys = tuple(record)
            id_ = canonical_id(record[keys[table.columns(keys)["id"]]], "")
            table.add(id_, place, unit, table.labels(record, keys))
        except InputError as error:
            raise placed(error, at(name, unit.format(place), id_)) from None
    ids = list(table.places)
    places = Places(name, ids, unit, list(table.places.values()))
    raw = RawItems(ids, table.items, places, name, f"{kind}, one record an item")
    if table.extra:
        raw.notes.append(f"keys not used: {', '.join(map(shown, table.extra))}")
    return raw
