"""CVAT for images and Datumaro, the two formats that CVAT exports losslessly.

References
----------
https://docs.cvat.ai/docs/manual/advanced/xml_format, https://openvinotoolkit.github.io/datumaro
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    LABELS,
    DocumentFormat,
    ScoredLabels,
    TextFormat,
    are_records,
    check_record,
    finish,
    optional_key,
    optional_records,
    read_id,
    read_score,
    recipe,
    require_key,
    unused_results,
)
from semmetrics.data.formats.captions import path_aliases
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source
from semmetrics.errors import InputError, Places, format_place
from semmetrics.messages import pluralize
from semmetrics.schema import as_id

_CVAT_START = re.compile(r"\s*(?:<\?xml[^>]*>\s*)?<annotations>")


class Cvat(TextFormat):
    """CVAT for images 1.1: ``<annotations><image name="a.jpg"><tag label="cat"/></image>``."""

    title = "CVAT for images"
    nouns = LABELS

    def matches(self, beginning: str, suffix: str | None) -> bool:
        """Return whether the file is XML with CVAT's root."""
        if suffix == ".xml":
            return "<annotations" in beginning
        return _CVAT_START.match(beginning) is not None

    def read(self, source: Source, form: Form, options: ReadOptions) -> Items:
        """Read the labels of the tags and shapes of each image.

        Raises
        ------
        InputError
            If the file is not XML, declares entities, or contains the tracks of a video.
        """
        if "<!DOCTYPE" in source.text or "<!ENTITY" in source.text:
            raise InputError(
                "wrong-content",
                source.name,
                value="a document type",
                wanted="an export of CVAT",
                example="XML without one",
            )
        from xml.etree import ElementTree

        try:
            root = ElementTree.fromstring(source.text.lstrip("\ufeff"))
        except ElementTree.ParseError as error:
            raise InputError("damaged", source.name, why=error) from None
        if root.find("track") is not None:
            raise _video_error(source.name)
        gathered = ScoredLabels(source.name)
        unused: list[str] = []
        for number, image in enumerate(root.iter("image"), 1):
            where = format_place(source.name, f"image {number}")
            id_ = as_id(image.get("name"), where=where)
            gathered.open(id_, number)
            for shape in image:
                label = shape.get("label")
                if label is not None:
                    gathered.add(id_, label, None, where, number)
                for attribute in shape.iter("attribute"):
                    unused.append(attribute.get("name", "attribute"))
        n_annotations = pluralize(gathered.n_occurrences, "annotation")
        understood = f"CVAT for images, {n_annotations}"
        items = finish(gathered, understood, "image {}", options)
        items.notes += unused_results(unused)
        items.aliases = path_aliases(items.ids or ())
        return items


def _video_error(name: str) -> InputError:
    return recipe(
        "CVAT for video",
        name,
        "its tracks have labels in many frames",
        "# in CVAT: Actions > Export task dataset > CVAT for images 1.1, or",
        'datumaro.Dataset.import_from("export", "cvat").export("out", "datumaro")',
    )


class Datumaro(DocumentFormat):
    """``{"categories": {"label": {"labels": [...]}}, "items": [{"id", "annotations"}]}``."""

    title = "Datumaro"
    nouns = ("label", "caption")

    def matches(self, document: Any) -> bool:
        """Return whether there are categories by kind, and items with annotations."""
        if not isinstance(document, Mapping):
            return False
        if not isinstance(document.get("categories"), Mapping):
            return False
        return are_records(document.get("items"), "id", "annotations")

    def noun_of(self, document: Any) -> str:
        """Return "caption" if all annotations are captions."""
        kinds: set[str] = set()
        for item in document["items"]:
            kinds.update(_annotation_kinds(item))
        return "caption" if kinds == {"caption"} else "label"

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the labels of the annotations of each item, or its captions."""
        if form.noun == "caption":
            return _read_datumaro_captions(document, name)
        categories = optional_key(document["categories"], "label", dict, name)
        labels = optional_key(categories, "labels", list, name)
        gathered = ScoredLabels(name)
        for number, item in enumerate(document["items"]):
            where = format_place(name, f"items[{number}]")
            id_ = read_id(check_record(item, where), "id", where)
            gathered.open(id_, number)
            for annotation in optional_records(item, "annotations", where):
                code = annotation.get("label_id")
                if code is None:
                    continue
                label = _datumaro_name(labels, code, where)
                attributes = optional_key(annotation, "attributes", dict, where)
                score = read_score(attributes, "score", where)
                gathered.add(id_, label, score, where, number)
        understood = f"Datumaro, {pluralize(gathered.n_occurrences, 'annotation')}"
        aliases = _datumaro_paths(document["items"])
        return finish(gathered, understood, "items[{}]", options, aliases)


def _annotation_kinds(item: Any) -> Iterator[str]:
    """Yield the kinds of the annotations of an item, which may be of any type."""
    if not isinstance(item, Mapping):
        return
    annotations = item.get("annotations")
    if not isinstance(annotations, list):
        return
    for annotation in annotations:
        if isinstance(annotation, Mapping):
            yield str(annotation.get("type"))


def _datumaro_name(labels: Sequence[Any], code: Any, where: str) -> str:
    """Return the name of the category with this number."""
    if not isinstance(code, int) or not 0 <= code < len(labels):
        raise InputError(
            "unlisted-id", where, key="label_id", value=str(code), what="categories"
        )
    category = check_record(labels[code], where)
    return str(require_key(category, "name", str, where))


def _datumaro_paths(items: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the ids of items by the path and the file name of their image."""
    aliases: dict[str, str] = {}
    for item in items:
        image = item.get("image") or item.get("media")
        if not isinstance(image, Mapping):
            continue
        path = image.get("path")
        if isinstance(path, str) and path:
            _, _, file_name = path.rpartition("/")
            aliases[path] = str(item["id"])
            aliases[file_name] = str(item["id"])
    return aliases


def _read_datumaro_captions(document: Any, name: str) -> Items:
    """Read the captions of each item."""
    captions_of_item: dict[str, list[str]] = {}
    for number, item in enumerate(document["items"]):
        where = format_place(name, f"items[{number}]")
        id_ = read_id(check_record(item, where), "id", where)
        captions = captions_of_item.setdefault(id_, [])
        for annotation in optional_records(item, "annotations", where):
            if annotation.get("type") == "caption":
                captions.append(require_key(annotation, "caption", str, where))
    ids = list(captions_of_item)
    items = Items(ids, list(captions_of_item.values()), Places(name, ids), name)
    items.understood = f"Datumaro, captions of {pluralize(len(ids), 'item')}"
    return items
