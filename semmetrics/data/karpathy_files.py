"""Karpathy's JSON and Flickr's token files, read as COCO annotations of captions.

Conventions
-----------
``dataset_coco.json``, ``dataset_flickr8k.json`` and ``dataset_flickr30k.json`` (Karpathy's) contain
images with ``imgid``, ``split`` and ``sentences``. A sentence has ``sentid`` and the text ``raw``.
A token file has one line ``image.jpg#0<tab>caption`` per caption. The ids of images are ``imgid`` or
the name before ``#``, and the ids of captions are ``sentid`` or the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from semmetrics.data.json_records import numbered_records, record_id, require_key
from semmetrics.data.lists import Numbering
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import Source, check_lines
from semmetrics.errors import InputError, format_place
from semmetrics.messages import counted, listing, shown

TOKEN_LINE = re.compile(r"([^\t\n]+)#(\d+)\t(.*)")
"""A line of a token file: the image, the number of the caption, and the caption."""
NUMBERING = "numbering"
"""The key of the `Numbering` of Karpathy's images, once they are COCO annotations."""
_IMAGE_KEYS = ("imgid", "cocoid", "filename")
"""Keys of Karpathy's images that an option may name as their ids. The first is the default."""


def is_karpathy(value: Mapping[Any, Any]) -> bool:
    """Return whether an object has the structure of Karpathy's JSON."""
    images = value.get("images")
    if type(images) is not list or not images or "annotations" in value:
        return False
    return isinstance(images[0], dict) and "sentences" in images[0]


def as_coco_annotations(
    value: Mapping[str, Any], split: str | None, name: str, key: str | None = None
) -> tuple[Mapping[str, Any], str]:
    """Convert a split of Karpathy's JSON to COCO annotations, and describe it.

    Other objects are returned unchanged, with an empty description.

    Parameters
    ----------
    value : mapping
    split : str or None
        None reads all splits.
    name : str
        The name of the input in messages.
    key : {"imgid", "cocoid", "filename"}, optional
        The key of the ids of images. The default is imgid, and predictions may then also use the
        cocoid of the images.

    Raises
    ------
    InputError
        If a key is missing or wrong, an id occurs twice, or the split does not exist.

    Examples
    --------
    >>> image = {"imgid": 3, "split": "test", "sentences": [{"sentid": 15, "raw": "a cat"}]}
    >>> as_coco_annotations({"images": [image]}, "test", "dataset.json")
    ({'images': [{'id': '3', 'file_name': None}],
      'annotations': [{'id': '15', 'image_id': '3', 'caption': 'a cat'}]},
     "Karpathy's captions of 1 image, split test")
    """
    if not is_karpathy(value):
        return value, ""
    images: dict[str, dict[str, Any]] = {}
    captions: dict[str, dict[str, str]] = {}
    splits: dict[str, None] = {}
    for where, image in numbered_records(value["images"], format_place(name, "images")):
        own_split = str(require_key(image, "split", str, where))
        splits[own_split] = None
        if split is None or split == own_split:
            id_ = record_id(image, key or _IMAGE_KEYS[0], where, used=images)
            images[id_] = {"id": id_, "file_name": image.get("filename")}
            _add_sentences(captions, image, id_, where)
    if not images:
        remedy = f"choose one of {listing(splits)}"
        values = {"what": "split", "value": split, "remedy": remedy}
        raise InputError("unknown-name", name, **values)
    annotations: dict[str, Any] = {
        "images": list(images.values()),
        "annotations": list(captions.values()),
    }
    description = f"Karpathy's captions of {counted(list(images), 'image')}"
    if split is None:
        description += f", splits {', '.join(splits)}"
    else:
        description += f", split {split}"
    if key is not None:
        return annotations, f"{description}, by {key}"
    numbering = _numbering_of(value["images"], images)
    if numbering is not None:
        annotations[NUMBERING] = numbering
    return annotations, description


def _add_sentences(
    captions: dict[str, dict[str, str]],
    image: dict[str, Any],
    image_id: str,
    where: str,
) -> None:
    """Add the captions of one of Karpathy's images."""
    sentences = require_key(image, "sentences", list, where)
    for place, sentence in numbered_records(sentences, f"{where}.sentences"):
        id_ = record_id(sentence, "sentid", place, used=captions)
        text = require_key(sentence, "raw", str, place)
        captions[id_] = {"id": id_, "image_id": image_id, "caption": text}


def _numbering_of(
    images: Sequence[Mapping[str, Any]], ids_read: Collection[str]
) -> Numbering | None:
    """Return the numbering by cocoids, or None if an image has no cocoid.

    ``ids_read`` are the ids of the images in the split.
    """
    id_of_cocoid: dict[str, str] = {}
    for image in images:
        cocoid = image.get("cocoid")
        if not isinstance(cocoid, int | str) or "imgid" not in image:
            return None
        id_of_cocoid[str(cocoid)] = str(image["imgid"])
    own = {cocoid: id_ for cocoid, id_ in id_of_cocoid.items() if id_ in ids_read}
    ids = frozenset(str(image["imgid"]) for image in images)
    return Numbering(own, ids, frozenset(id_of_cocoid))


def image_key(value: Mapping[Any, Any], options: ReadOptions) -> str | None:
    """Return the key that options choose for the ids of Karpathy's images, or None."""
    if options.id_column in _IMAGE_KEYS and is_karpathy(value):
        return options.id_column
    return None


def read_tokens(source: Source, max_line_bytes: int) -> Mapping[str, Any]:
    """Read a token file as COCO annotations.

    Raises
    ------
    InputError
        If a line has another form, or the name of a caption occurs twice. The message names the
        line.
    """
    check_lines(source, max_line_bytes)
    images: dict[str, None] = {}
    captions: dict[str, dict[str, str]] = {}
    lines = source.text.removesuffix("\n").split("\n")
    for number, line in enumerate(lines, 1):
        match = TOKEN_LINE.fullmatch(line.removesuffix("\r"))
        if match is None:
            raise InputError(
                "wrong-content",
                format_place(source.name, f"line {number}"),
                value=shown(line),
                wanted="a caption with its name",
                example="image.jpg#0, a tab, and the caption",
            )
        image, caption_number, text = match.groups()
        caption = f"{image}#{caption_number}"
        if caption in captions:
            where = format_place(source.name, f"line {number}")
            raise InputError("duplicate", where, role="the caption", value=caption)
        images[image] = None
        captions[caption] = {"id": caption, "image_id": image, "caption": text}
    return {
        "images": [{"id": image} for image in images],
        "annotations": list(captions.values()),
    }
