"""COCO instances: the categories that occur in each image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from semmetrics.data.raw import RawItems
from semmetrics.data.source import Places, at, canonical_id, counted, shown
from semmetrics.errors import InputError

__all__ = ["category_names", "image_ids", "is_coco", "numbered", "read_coco", "record_id"]


def is_coco(value: Mapping[Any, Any]) -> bool:
    """Whether an object has the shape of a COCO annotation file."""
    return all(
        isinstance(part := value.get(key), list) and all(isinstance(one, dict) for one in part)
        for key in ("images", "annotations")
    )


def read_coco(value: dict[str, Any], name: str) -> RawItems:
    """The names of the categories of each image, in order of first appearance."""
    sections = {key: _section(value, key, name) for key in ("images", "annotations", "categories")}
    categories = category_names(sections["categories"], name)
    found: dict[str, dict[str, None]] = {id_: {} for id_ in image_ids(sections["images"], name)}
    for where, annotation in numbered(sections["annotations"], at(name, "annotations")):
        image_id = record_id(annotation, "image_id", where)
        category = record_id(annotation, "category_id", where)
        if image_id not in found or category not in categories:
            what, id_ = ("image", image_id) if image_id not in found else ("category", category)
            raise InputError(
                f"{what} id {id_} is not among the {'images' if what == 'image' else 'categories'}",
                where=where,
                remedy="add it there, or remove the annotation",
            )
        found[image_id][categories[category]] = None
    ids = list(found)
    raw = RawItems(ids, [list(names) for names in found.values()], Places(name, ids), name)
    raw.understood = f"COCO instances, {len(ids)} images, {len(categories)} categories"
    if bare := [id_ for id_, names in found.items() if not names]:
        raw.notes.append(f"{counted(bare, 'image')} without annotations: no labels")
    return raw


def image_ids(images: list[Any], name: str) -> dict[str, None]:
    """The ids of the images, in file order; they are unique."""
    found: dict[str, None] = {}
    for where, image in numbered(images, at(name, "images")):
        id_ = record_id(image, "id", where)
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
    for where, category in numbered(categories, at(name, "categories")):
        id_, label = record_id(category, "id", where), category.get("name")
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


def _section(value: dict[str, Any], key: str, name: str) -> list[Any]:
    section = value.get(key)
    if not isinstance(section, list):
        raise InputError(
            f"COCO instances need a list {key!r}, not {shown(section)}",
            where=name,
            remedy="use the instances file; captions and results have no labels",
        )
    return section


def numbered(section: list[Any], name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """The objects of a section, each with its place."""
    for position, one in enumerate(section):
        where = f"{name}[{position}]"
        if not isinstance(one, dict):
            raise InputError(
                f"{shown(one)} is no object", where=where, remedy="see the COCO format"
            )
        yield where, one


def record_id(one: dict[str, Any], key: str, where: str) -> str:
    """An id that an object must have."""
    if key not in one:
        raise InputError(
            f"there is no {key!r}",
            where=where,
            remedy="labels come from the instances file, not from captions"
            if key == "category_id" and "caption" in one
            else "see the COCO format",
        )
    return canonical_id(one[key], at(where, key))
