"""COCO annotations: the labels or the captions of images."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from semmetrics.data.formats.base import (
    ScoredLabels,
    optional_key,
    read_score,
    unused_keys,
)
from semmetrics.data.items import Items
from semmetrics.data.json_records import check_listed, numbered_records, record_id
from semmetrics.data.karpathy_files import NUMBERING, is_karpathy
from semmetrics.errors import Fact, InputError, Places, format_place
from semmetrics.messages import counted, pluralize
from semmetrics.schema import as_id

_ANNOTATION_KEYS = (
    "id",
    "image_id",
    "category_id",
    "caption",
    "score",
    "bbox",
    "area",
    "segmentation",
    "iscrowd",
    "keypoints",
    "num_keypoints",
    "is_precanned",
    "is_rejected",
    "text_detected",
)
"""Keys of COCO annotations that are known, whether they are used or not."""
_COCO_INSTANCES = "COCO instances"
_LVIS_INSTANCES = "LVIS instances, verified categories"

# ---- labels -------------------------------------------------------------------------------------


def is_coco(value: Mapping[Any, Any]) -> bool:
    """Return whether an object has the structure of a COCO annotation file."""
    images = value.get("images")
    annotations = value.get("annotations")
    return _are_objects(images) and _are_objects(annotations)


def _are_objects(section: Any) -> bool:
    """Return whether a value is a list of objects."""
    if not isinstance(section, list):
        return False
    return all(isinstance(record, dict) for record in section)


def read_coco_labels(
    value: Mapping[str, Any], name: str, *, title: str | None = None
) -> Items:
    """Return the names of the categories of each image, in order of first appearance.

    Parameters
    ----------
    value : mapping
    name : str
        The name of the input in messages.
    title : str, optional
        What the description calls the format. Default: COCO instances or LVIS instances.
    """
    images = _require_list(value, "images", name)
    annotations = _require_list(value, "annotations", name)
    categories = category_names(_require_list(value, "categories", name), name)
    image_ids = _image_ids(images, name)
    keys = _keys_of(annotations)
    read_annotations = _scored_labels if "score" in keys else _plain_labels
    items = read_annotations(annotations, image_ids, categories, name)
    items.notes += unused_keys(sorted(keys), _ANNOTATION_KEYS, "annotation")
    items.aliases = _file_names(images)
    items.categories = categories
    items.declared = list(categories.values())
    items.absent = _absent_labels(items, images, categories, name)
    items.is_coco_instances = not items.absent
    if title is None:
        title = _COCO_INSTANCES if items.is_coco_instances else _LVIS_INSTANCES
    n_images = pluralize(len(image_ids), "image")
    n_categories = pluralize(len(categories), "category")
    items.understood = f"{title}, {n_images}, {n_categories}"
    n_empty = sum(not labels for labels in items.items)
    if n_empty:
        # These images are items without labels.
        items.notes.append(Fact("without-annotations", n_empty, values={"became": ""}))
    return items


def _require_list(value: Mapping[str, Any], key: str, name: str) -> list[Any]:
    """Return the section of COCO instances under a key, which must be a list."""
    section = value.get(key)
    if not isinstance(section, list):
        wanted = f"a list under {key!r}, as COCO's instances have"
        raise InputError("wrong-type", name, value=section, wanted=wanted)
    return section


def _keys_of(annotations: Any) -> set[str]:
    """Return all keys of the objects of a list. Most objects have the same keys."""
    keys: set[str] = set()
    for annotation in annotations:
        if isinstance(annotation, dict) and not keys.issuperset(annotation):
            keys |= annotation.keys()
    return keys


def _plain_labels(
    annotations: Any,
    image_ids: Mapping[str, None],
    categories: Mapping[str, str],
    name: str,
) -> Items:
    """Return the distinct labels of each image from annotations without scores."""
    labels: dict[str, dict[str, None]] = {image_id: {} for image_id in image_ids}
    for where, annotation in numbered_records(
        annotations, format_place(name, "annotations")
    ):
        image_id = record_id(annotation, "image_id", where, labels)
        category = record_id(annotation, "category_id", where, categories)
        labels[image_id][categories[category]] = None
    ids = list(labels)
    return Items(ids, list(map(list, labels.values())), Places(name, ids), name)


def _scored_labels(
    annotations: Any,
    image_ids: Mapping[str, None],
    categories: Mapping[str, str],
    name: str,
) -> Items:
    """Return the labels of each image with their highest scores."""
    scored_labels = ScoredLabels(name)
    for image_id in image_ids:
        scored_labels.open(image_id)
    for where, annotation in numbered_records(
        annotations, format_place(name, "annotations")
    ):
        image_id = record_id(annotation, "image_id", where, image_ids)
        category = record_id(annotation, "category_id", where, categories)
        score = read_score(annotation, "score", where)
        scored_labels.add(image_id, categories[category], score, where)
    return scored_labels.items()


def _absent_labels(
    items: Items, images: Any, categories: Mapping[str, str], name: str
) -> dict[str, list[str]]:
    """Return the labels that annotators of LVIS looked for in each image and did not find.

    They are under ``neg_category_ids``, which other files do not have. Nobody verified the other
    labels that an image does not have.
    """
    if not any("neg_category_ids" in image for image in images):
        return {}
    absent: dict[str, list[str]] = {}
    numbered_images = numbered_records(images, format_place(name, "images"))
    for (where, image), labels in zip(numbered_images, items.items, strict=True):
        present = set()
        for label in labels:
            present.add(label if isinstance(label, str) else label[0])
        searched_labels = _searched_labels(image, categories, where)
        absent_labels = [label for label in searched_labels if label not in present]
        absent[str(image["id"])] = absent_labels
    return absent


def _searched_labels(
    image: Mapping[str, Any], categories: Mapping[str, str], where: str
) -> list[str]:
    """Return the labels under ``neg_category_ids`` of an image."""
    key = "neg_category_ids"
    labels = []
    for category in optional_key(image, key, list, where):
        category_id = as_id(category, where=f"{where}, {key}")
        check_listed(category_id, key, where, categories)
        labels.append(categories[category_id])
    return labels


def _file_names(images: Any) -> dict[str, str]:
    """Return the ids of images by file name, for file names that occur once."""
    n_images: Counter[str] = Counter()
    id_of_file: dict[str, str] = {}
    for image in images or ():
        file_name = image.get("file_name")
        if isinstance(file_name, str):
            n_images[file_name] += 1
            id_of_file[file_name] = str(image["id"])
    return {name: id_ for name, id_ in id_of_file.items() if n_images[name] == 1}


def _image_ids(images: Any, name: str) -> dict[str, None]:
    """Return the ids of the images, in file order. Each must occur once."""
    ids: dict[str, None] = {}
    for where, image in numbered_records(images, format_place(name, "images")):
        ids[record_id(image, "id", where, used=ids)] = None
    return ids


def category_names(categories: list[Any], name: str) -> dict[str, str]:
    """Return category names by id, in file order. Each id and each name must occur once.

    Examples
    --------
    >>> category_names([{"id": 18, "name": "dog"}], "instances.json")
    {'18': 'dog'}
    """
    names: dict[str, str] = {}
    used_names: set[str] = set()
    for where, category in numbered_records(
        categories, format_place(name, "categories")
    ):
        id_ = record_id(category, "id", where, used=names)
        label = category.get("name")
        if not isinstance(label, str) or not label.strip():
            wanted = "the name of a category"
            raise InputError("wrong-type", where, value=label, wanted=wanted)
        if label in used_names:
            raise InputError("duplicate", where, role="the category", value=label)
        names[id_] = label
        used_names.add(label)
    return names


# ---- captions -----------------------------------------------------------------------------------


def is_coco_captions(value: Mapping[Any, Any]) -> bool:
    """Return whether an object has the structure of COCO captions, or of Karpathy's JSON."""
    if is_karpathy(value):
        return True
    annotations = value.get("annotations")
    if not isinstance(annotations, list) or not annotations:
        return False
    return isinstance(annotations[0], dict) and "caption" in annotations[0]


def read_coco_captions(
    value: Mapping[str, Any],
    name: str,
    *,
    by_own_id: bool = False,
    only_ids: bool = False,
    title: str | None = None,
) -> Items:
    """Return the captions of each image of COCO annotations, in the order of the annotations.

    Parameters
    ----------
    value : mapping
    name : str
        The name of the input in messages.
    by_own_id : bool
        Whether each caption is an item, identified by its own id.
    only_ids : bool
        Whether to return the ids of captions instead of their texts.
    title : str, optional
        What the description calls the format. Default: COCO captions.

    Examples
    --------
    >>> captions = {"annotations": [{"image_id": 7, "id": 40, "caption": "a cat"}]}
    >>> items = read_coco_captions(captions, "captions.json")
    >>> list(items.ids), items.items
    (['7'], [['a cat']])
    >>> items = read_coco_captions(captions, "captions.json", by_own_id=True)
    >>> list(items.ids), items.items
    (['40'], [['a cat']])
    >>> items = read_coco_captions(captions, "captions.json", only_ids=True)
    >>> list(items.ids), items.items
    (['7'], [['40']])
    """
    annotations = value.get("annotations")
    images = value.get("images")
    if not isinstance(annotations, list) or not isinstance(images, list | None):
        key = "annotations (a list), and images if there are any"
        raise InputError("missing-key", name, key=key)
    image_ids = _image_ids(images, name) if images else None
    captions, n_rejected = _gather_captions(
        annotations, image_ids, name, by_own_id=by_own_id, only_ids=only_ids
    )
    ids = [id_ for id_, own_captions in captions.items() if own_captions]
    entries = [captions[id_] for id_ in ids]
    items = Items(ids, entries, Places(name, ids), name)
    items.content = "annotations"
    if not by_own_id:
        items.aliases = _file_names(images)
        items.numbering = value.get(NUMBERING)
    title = title or "COCO captions"
    ids_used = _describe_ids(by_own_id=by_own_id, only_ids=only_ids)
    items.understood = f"{title}{ids_used} {counted(annotations, 'caption')}"
    keys = sorted(_keys_of(annotations))
    items.notes += unused_keys(keys, _ANNOTATION_KEYS, "annotation")
    if n_rejected:
        items.notes.append(Fact("rejected-captions", n_rejected))
    n_left_out = len(captions) - len(ids)
    if n_left_out:
        values = {"became": ", left out"}
        items.notes.append(Fact("without-annotations", n_left_out, values=values))
    return items


def _gather_captions(
    annotations: list[Any],
    image_ids: Mapping[str, None] | None,
    name: str,
    *,
    by_own_id: bool,
    only_ids: bool,
) -> tuple[dict[str, list[Any]], int]:
    """Return the captions of each item, and how many captions were rejected.

    Parameters
    ----------
    annotations : list
    image_ids : mapping from str to None, or None
        The ids of all images, if the file has them. Images without a caption have an empty list.
    name, by_own_id, only_ids
        As for `read_coco_captions`.
    """
    captions: dict[str, list[Any]] = {}
    if image_ids is not None and not by_own_id and not only_ids:
        captions = {id_: [] for id_ in image_ids}
    n_rejected = 0
    for where, annotation in numbered_records(
        annotations, format_place(name, "annotations")
    ):
        id_ = record_id(annotation, "image_id", where, image_ids)
        text = annotation.get("caption")
        if not isinstance(text, str):
            raise _missing_caption_error(annotation, format_place(where, "", id_))
        if by_own_id:
            id_ = record_id(annotation, "id", where, used=captions)
        if _is_rejected(annotation):
            n_rejected += 1
            continue
        entry = record_id(annotation, "id", where) if only_ids else text
        captions.setdefault(id_, []).append(entry)
    return captions, n_rejected


def _describe_ids(*, by_own_id: bool, only_ids: bool) -> str:
    """Return the part of a description between the format and the number of captions."""
    if by_own_id:
        return " by id,"
    if only_ids:
        return ", ids of"
    return ","


def _missing_caption_error(annotation: Mapping[str, Any], where: str) -> InputError:
    """Return the error for an annotation without a caption."""
    code = "instances-file" if "category_id" in annotation else "wrong-type"
    text = annotation.get("caption")
    return InputError(code, where, value=text, wanted="a caption")


def _is_rejected(annotation: Mapping[str, Any]) -> bool:
    """Return whether VizWiz's evaluation leaves a caption out.

    The caption was rejected, or is the sentence that crowd workers could choose for pictures that
    nobody can recognise.
    """
    is_rejected = annotation.get("is_rejected") is True
    is_precanned = annotation.get("is_precanned") is True
    return is_rejected or is_precanned
