"""Captions in JSON and in Python objects: by id, by position, as records, and COCO annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from semmetrics.data.form import CAPTION_JSON_ROLES, ReadOptions, unused
from semmetrics.data.raw import RawItems
from semmetrics.data.readers.captions_table import assign_caption
from semmetrics.data.readers.coco import image_ids, is_coco, numbered, record_id
from semmetrics.data.readers.records import ELEMENT, LINE, Records, json_lines
from semmetrics.data.source import Places, Source, at, counted, shown
from semmetrics.errors import InputError

__all__ = [
    "by_id",
    "by_position",
    "caption_records",
    "is_coco_captions",
    "read_caption_json",
    "read_caption_jsonl",
    "read_coco_captions",
]


def read_caption_json(value: Any, name: str, options: ReadOptions) -> RawItems:
    """The captions of a JSON file: by mapping, records or position, or COCO captions."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return caption_records(value, name, options, "JSON, ")
    if isinstance(value, dict):
        if options.format == "coco" or is_coco_captions(value) or is_coco(value):
            raw = read_coco_captions(value, name)
        else:
            raw = by_id(list(value), list(value.values()), name, "JSON, ")
    elif isinstance(value, list) and options.format != "coco":
        raw = by_position(value, name, ELEMENT, "JSON, ")
    else:
        raise InputError(
            f"{shown(value)} stands where captions are expected",
            where=name,
            remedy='write {"id": ["caption"]}, or COCO captions',
        )
    raw.notes += unused(options, ("id_column", "caption_column"), raw.understood)
    return raw


def read_caption_jsonl(source: Source, options: ReadOptions) -> RawItems:
    """Read JSON records, one a line."""
    notes: list[str] = []
    records = _Records(source.name, LINE, options)
    records.gather(json_lines(source, options, notes))
    raw = records.finish("JSON lines, ")
    raw.notes += notes
    return raw


def by_id(ids: list[str], items: Sequence[Any], name: str, kind: str = "") -> RawItems:
    """Captions of ids that are unique."""
    if "" in ids:
        raise InputError("the id is empty", where=at(name, "key ''"), remedy="name the item")
    one = bool(items) and isinstance(items[0], str)
    shape = "{id: caption}" if one else "{id: [captions]}"
    return RawItems(ids, items, Places(name, ids), name, f"{kind}{shape}")


def by_position(items: Sequence[Any], name: str, unit: str, kind: str = "") -> RawItems:
    """Captions of items that have no ids."""
    one = bool(items) and isinstance(items[0], str)
    places = Places(name, None, unit, range(len(items)))
    shape = "[captions]" if one else "[[captions]]"
    return RawItems(None, items, places, name, f"{kind}{shape} by position")


def caption_records(
    value: Sequence[Any], name: str, options: ReadOptions, kind: str = ""
) -> RawItems:
    """Captions of a list of records, as COCO results are."""
    records = _Records(name, ELEMENT, options)
    records.gather(enumerate(value))
    return records.finish(kind)


class _Records(Records):
    """Records of one caption, which may share an id, or of a list of captions."""

    like = '{"id": "7", "caption": "a cat"}'

    def __init__(self, name: str, unit: str, options: ReadOptions) -> None:
        super().__init__(name, unit, options, partial(assign_caption, CAPTION_JSON_ROLES))
        self._single: dict[str, list[str]] = {}

    def content(
        self, record: dict[str, Any], keys: tuple[str, ...], columns: dict[str, int]
    ) -> Any:
        return record[keys[columns["caption"]]]

    def add(self, id_: str, place: int, content: Any) -> None:
        if not isinstance(content, str):
            super().add(id_, place, content)
        elif id_ in self._single:
            self._single[id_].append(content)
        else:
            super().add(id_, place, captions := [content])
            self._single[id_] = captions

    def finish(self, understood: str) -> RawItems:
        row_is = "a caption" if len(self._single) == len(self.items) else "an item"
        return super().finish(f"{understood}one record {row_is}")


def is_coco_captions(value: Mapping[Any, Any]) -> bool:
    """Whether an object has the shape of a COCO file of captions."""
    annotations = value.get("annotations")
    return (
        isinstance(annotations, list)
        and bool(annotations)
        and isinstance(annotations[0], dict)
        and "caption" in annotations[0]
    )


def read_coco_captions(value: dict[str, Any], name: str) -> RawItems:
    """The captions of each image of COCO annotations, in the order of the annotations."""
    annotations, images = value.get("annotations"), value.get("images")
    if not isinstance(annotations, list) or not isinstance(images, list | None):
        raise InputError(
            'COCO captions need a list "annotations", and "images" is a list, too',
            where=name,
            remedy="see the COCO format",
        )
    known = image_ids(images, name) if images else None
    found: dict[str, list[Any]] = {} if known is None else {id_: [] for id_ in known}
    for where, annotation in numbered(annotations, at(name, "annotations")):
        id_ = record_id(annotation, "image_id", where)
        if known is not None and id_ not in known:
            raise InputError(
                f"image id {id_} is not among the images",
                where=where,
                remedy="add it there, or remove the annotation",
            )
        found.setdefault(id_, []).append(_caption(annotation, where, id_))
    bare = [id_ for id_, captions in found.items() if not captions]
    ids = [id_ for id_, captions in found.items() if captions]
    raw = RawItems(ids, [found[id_] for id_ in ids], Places(name, ids), name)
    raw.understood = f"COCO captions, {counted(annotations, 'caption')}"
    if bare:
        raw.notes.append(f"{counted(bare, 'image')} without captions left out")
    return raw


def _caption(annotation: dict[str, Any], where: str, id_: str) -> str:
    caption = annotation.get("caption")
    if not isinstance(caption, str):
        raise InputError(
            f"the caption is {shown(caption)}"
            if "caption" in annotation
            else "there is no caption",
            where=at(where, "", id_),
            remedy="captions come from the captions file, not from instances"
            if "category_id" in annotation
            else 'write "caption": "a cat"',
        )
    return caption
