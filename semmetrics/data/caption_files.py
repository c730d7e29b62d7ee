"""Captions as two data sets are handed on: Karpathy's JSON, and Flickr's token files.

Conventions
-----------
``dataset_coco.json``, ``dataset_flickr8k.json`` and ``dataset_flickr30k.json`` hold images, each
with its ``imgid``, ``split`` and ``sentences``, and these with their ``sentid`` and ``raw`` text.
A token file has a line ``image.jpg#0<tab>caption`` for each caption. Both are read as COCO
annotations: the ids of images are ``imgid`` or the name before ``#``, those of captions ``sentid``
or the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from semmetrics.data.form import canonical_id
from semmetrics.data.source import Source, check_lines
from semmetrics.errors import InputError, at
from semmetrics.messages import counted, listing, shown

__all__ = ["TOKEN_LINE", "annotations_of", "is_karpathy", "read_tokens"]

TOKEN_LINE = re.compile(r"([^\t\n]+)#(\d+)\t(.*)")
"""A line of a token file: the image, the number of the caption, and the caption."""
_ROW = 800  # bytes that a line takes, at most


def is_karpathy(value: Mapping[Any, Any]) -> bool:
    """Tell whether an object has the shape of Karpathy's JSON."""
    images = value.get("images")
    if type(images) is not list or not images or "annotations" in value:
        return False
    return isinstance(images[0], dict) and "sentences" in images[0]


def annotations_of(
    value: Mapping[str, Any], split: str | None, name: str
) -> tuple[Mapping[str, Any], str]:
    """Return the images of a split as COCO annotations, and what was read; others as they are.

    Parameters
    ----------
    value : mapping
    split : str or None
        None is all splits.
    name : str
        What messages call it.

    Raises
    ------
    InputError
        If a key is missing or wrong, an id stands twice, or there is no such split.

    Examples
    --------
    >>> image = {"imgid": 3, "split": "test", "sentences": [{"sentid": 15, "raw": "a cat"}]}
    >>> annotations_of({"images": [image]}, "test", "dataset.json")
    ({'images': [{'id': '3'}], 'annotations': [{'id': '15', 'image_id': '3', 'caption': 'a cat'}]},
     "Karpathy's captions of 1 image, split test")
    """
    if not is_karpathy(value):
        return value, ""
    images: dict[str, None] = {}
    captions: dict[str, dict[str, str]] = {}
    splits: dict[str, None] = {}
    for number, image in enumerate(value["images"]):
        where = at(name, f"images[{number}]")
        own = str(_get(image, "split", str, where))
        splits[own] = None
        if split is not None and own != split:
            continue
        id_ = _new_id(image, "imgid", images, where)
        images[id_] = None
        for place, sentence in enumerate(_get(image, "sentences", list, where)):
            there = f"{where}.sentences[{place}]"
            sentid = _new_id(sentence, "sentid", captions, there)
            text = _get(sentence, "raw", str, there)
            captions[sentid] = {"id": sentid, "image_id": id_, "caption": text}
    if not images:
        raise InputError(
            f"there is no split {split!r}", where=name, remedy=f"choose one of {listing(splits)}"
        )
    said = f"split {split}" if split is not None else f"splits {', '.join(splits)}"
    made = {"images": [{"id": id_} for id_ in images], "annotations": [*captions.values()]}
    return made, f"Karpathy's captions of {counted([*images], 'image')}, {said}"


def _get(one: Any, key: str, kind: type, where: str) -> Any:
    """Return what stands under a key."""
    if not isinstance(one, dict):
        raise InputError(
            f"{shown(one)} is no object", where=where, remedy="see Karpathy's dataset_coco.json"
        )
    if key not in one or not isinstance(one[key], kind):
        problem = f"{key!r} is {shown(one[key])}" if key in one else f"there is no {key!r}"
        what = "a list" if kind is list else "a text" if kind is str else "an id"
        raise InputError(problem, where=where, remedy=f"write {what} there")
    return one[key]


def _new_id(one: Any, key: str, known: Mapping[str, Any], where: str) -> str:
    """Return an id that stood nowhere before."""
    found = canonical_id(_get(one, key, object, where), f"{where}, {key}")
    if found in known:
        raise InputError(f"the {key} {found} stands twice", where=where, remedy="keep one")
    return found


def read_tokens(source: Source, max_line_bytes: int) -> Mapping[str, Any]:
    """Read a token file as COCO annotations.

    Raises
    ------
    InputError
        If a line is of another form, or a caption's name stands twice; names the line.
    """
    check_lines(source, max_line_bytes)
    source.room().take(_ROW * source.text.count("\n"))
    images: dict[str, None] = {}
    captions: dict[str, dict[str, str]] = {}
    for number, line in enumerate(source.text.removesuffix("\n").split("\n"), 1):
        where = at(source.name, f"line {number}")
        parts = TOKEN_LINE.fullmatch(line.removesuffix("\r"))
        if parts is None:
            raise InputError(
                f"{shown(line)} is no caption with its name",
                where=where,
                remedy="write image.jpg#0, a tab, and the caption",
            )
        image, caption = parts[1], f"{parts[1]}#{parts[2]}"
        if caption in captions:
            raise InputError(f"{caption} stands twice", where=where, remedy="keep one line")
        images[image] = None
        captions[caption] = {"id": caption, "image_id": image, "caption": parts[3]}
    return {"images": [{"id": id_} for id_ in images], "annotations": [*captions.values()]}
