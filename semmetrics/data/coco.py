"""COCO annotations: the categories of each image, or its captions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.data.caption_files import is_karpathy
from semmetrics.data.form import canonical_id
from semmetrics.data.items import Items
from semmetrics.errors import InputError, Places, at
from semmetrics.messages import counted, pluralize, shown

__all__ = [
    "category_names",
    "is_coco",
    "is_coco_captions",
    "read_coco_caption_ids",
    "read_coco_captions",
    "read_coco_captions_by_id",
    "read_coco_labels",
]


def is_coco(value: Mapping[Any, Any]) -> bool:
    """Whether an object has the shape of a COCO annotation file."""
    return all(
        isinstance(part := value.get(key), list) and all(isinstance(one, dict) for one in part)
        for key in ("images", "annotations")
    )


def read_coco_labels(value: Mapping[str, Any], name: str) -> Items:
    """The names of the categories of each image, in order of first appearance."""
    sections = {key: _section(value, key, name) for key in ("images", "annotations", "categories")}
    categories = category_names(sections["categories"], name)
    found: dict[str, dict[str, None]] = {id_: {} for id_ in _image_ids(sections["images"], name)}
    for where, annotation in _numbered(sections["annotations"], at(name, "annotations")):
        image_id = _record_id(annotation, "image_id", where)
        category = _record_id(annotation, "category_id", where)
        if image_id not in found or category not in categories:
            what, id_ = ("image", image_id) if image_id not in found else ("category", category)
            raise InputError(
                f"{what} id {id_} is not among the {'images' if what == 'image' else 'categories'}",
                where=where,
                remedy="add it there, or remove the annotation",
            )
        found[image_id][categories[category]] = None
    ids = list(found)
    items = Items(ids, [list(names) for names in found.values()], Places(name, ids), name)
    items.understood = (
        f"COCO instances, {pluralize(len(ids), 'image')}, {pluralize(len(categories), 'category')}"
    )
    if bare := [id_ for id_, names in found.items() if not names]:
        items.notes.append(f"{counted(bare, 'image')} without annotations: no labels")
    return items


def _image_ids(images: list[Any], name: str) -> dict[str, None]:
    """The ids of the images, in file order; they are unique."""
    found: dict[str, None] = {}
    for where, image in _numbered(images, at(name, "images")):
        id_ = _record_id(image, "id", where)
        if id_ in found:
            raise InputError(f"the image id {id_} stands twice", where=where, remedy="keep one")
        found[id_] = None
    return found


def category_names(categories: list[Any], name: str) -> dict[str, str]:
    """Category names by id, in file order; ids and names are unique.

    Examples
    --------
    >>> category_names([{"id": 18, "name": "dog"}], "instances.json")
    {'18': 'dog'}
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for where, category in _numbered(categories, at(name, "categories")):
        id_, label = _record_id(category, "id", where), category.get("name")
        if not isinstance(label, str) or not label.strip():
            raise InputError(
                f"{shown(label)} is no category name", where=where, remedy='give it a "name"'
            )
        if id_ in names or label in taken:
            what = f"id {id_}" if id_ in names else f"name {shown(label)}"
            raise InputError(f"the category {what} stands twice", where=where, remedy="keep one")
        names[id_] = label
        taken.add(label)
    return names


def _section(value: Mapping[str, Any], key: str, name: str) -> list[Any]:
    section = value.get(key)
    if not isinstance(section, list):
        raise InputError(
            f"COCO instances need a list {key!r}, not {shown(section)}",
            where=name,
            remedy="use the instances file; captions and results have no labels",
        )
    return section


def _numbered(section: list[Any], name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The objects of a section, each with its place."""
    for position, one in enumerate(section):
        where = f"{name}[{position}]"
        if not isinstance(one, dict):
            raise InputError(
                f"{shown(one)} is no object", where=where, remedy="see the COCO format"
            )
        yield where, one


def _record_id(one: dict[str, Any], key: str, where: str) -> str:
    """An id that an object must have."""
    if key not in one:
        raise InputError(
            f"there is no {key!r}",
            where=where,
            remedy="labels come from the instances file, not from captions"
            if key == "category_id" and "caption" in one
            else "see the COCO format",
        )
    return canonical_id(one[key], f"{where}, {key}")


def is_coco_captions(value: Mapping[Any, Any]) -> bool:
    """Whether an object has the shape of a COCO file of captions, or of Karpathy's."""
    annotations = value.get("annotations")
    return is_karpathy(value) or (
        isinstance(annotations, list)
        and bool(annotations)
        and isinstance(annotations[0], dict)
        and "caption" in annotations[0]
    )


def read_coco_captions(value: Mapping[str, Any], name: str) -> Items:
    """The captions of each image of COCO annotations, in the order of the annotations."""
    annotations, images = value.get("annotations"), value.get("images")
    if not isinstance(annotations, list) or not isinstance(images, list | None):
        raise InputError(
            'COCO captions need a list "annotations", and "images" is a list, too',
            where=name,
            remedy="see the COCO format",
        )
    known = _image_ids(images, name) if images else None
    found: dict[str, list[Any]] = {} if known is None else {id_: [] for id_ in known}
    for where, annotation in _numbered(annotations, at(name, "annotations")):
        id_ = _record_id(annotation, "image_id", where)
        if known is not None and id_ not in known:
            raise InputError(
                f"image id {id_} is not among the images",
                where=where,
                remedy="add it there, or remove the annotation",
            )
        found.setdefault(id_, []).append(_caption(annotation, where, id_))
    bare = [id_ for id_, captions in found.items() if not captions]
    ids = [id_ for id_, captions in found.items() if captions]
    items = Items(ids, [found[id_] for id_ in ids], Places(name, ids), name)
    items.understood = f"COCO captions, {counted(annotations, 'caption')}"
    if bare:
        items.notes.append(f"{counted(bare, 'image')} without captions left out")
    return items


def read_coco_caption_ids(value: Mapping[str, Any], name: str) -> Items:
    """The ids of the captions of each image of COCO annotations, in the order of the annotations.

    Examples
    --------
    >>> captions = [{"image_id": 7, "id": 40, "caption": "a cat"}]
    >>> found = read_coco_caption_ids({"annotations": captions}, "captions.json")
    >>> list(found.ids), found.items
    (['7'], [['40']])
    """
    read_coco_captions(value, name)  # refuses what is wrong
    found: dict[str, list[str]] = {}
    for where, annotation in _numbered(value["annotations"], at(name, "annotations")):
        own = _record_id(annotation, "id", where)
        found.setdefault(_record_id(annotation, "image_id", where), []).append(own)
    ids = list(found)
    items = Items(ids, list(found.values()), Places(name, ids), name)
    items.understood = f"COCO captions, ids of {counted(value['annotations'], 'caption')}"
    return items


def read_coco_captions_by_id(value: Mapping[str, Any], name: str) -> Items:
    """The captions of COCO annotations, each by its own id.

    Examples
    --------
    >>> captions = [{"image_id": 7, "id": 40, "caption": "a cat"}]
    >>> found = read_coco_captions_by_id({"annotations": captions}, "captions.json")
    >>> list(found.ids), found.items
    (['40'], [['a cat']])
    """
    read_coco_captions(value, name)  # refuses what is wrong
    found: dict[str, list[str]] = {}
    for where, annotation in _numbered(value["annotations"], at(name, "annotations")):
        own = _record_id(annotation, "id", where)
        if own in found:
            raise InputError(f"the caption id {own} stands twice", where=where, remedy="keep one")
        found[own] = [annotation["caption"]]
    items = Items(list(found), list(found.values()), Places(name, list(found)), name)
    items.understood = f"COCO captions by id, {counted(value['annotations'], 'caption')}"
    return items


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
