"""Files as others publish them: COCO, Karpathy's JSON, Flickr's token files, and TREC's lines.

Conventions
-----------
``dataset_coco.json``, ``dataset_flickr8k.json`` and ``dataset_flickr30k.json`` (Karpathy's) hold
images, each with its ``imgid``, ``split`` and ``sentences``, and these with their ``sentid`` and
``raw`` text. A token file has a line ``image.jpg#0<tab>caption`` for each caption. Both are read as
COCO annotations: the ids of images are ``imgid`` or the name before ``#``, those of captions
``sentid`` or the whole name.

TREC's words stand between blanks. A line of a run has six, ``query Q0 document rank score tag``; a
line of qrels four, ``query 0 document grade``. Documents of a run are ranked by falling score,
those of equal score as the lines are; the rank in a line is ignored, as in trec_eval.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.formats.base import (
    ScoredLabels,
    optional_key,
    read_score,
    unused_keys,
)
from semmetrics.data.items import Items
from semmetrics.data.lists import Holds, Numbering
from semmetrics.data.source import Source, check_lines
from semmetrics.errors import Fact, InputError, Places, at
from semmetrics.messages import counted, listing, pluralize, shown
from semmetrics.schema import TREC, as_id

TOKEN_LINE = re.compile(r"([^\t\n]+)#(\d+)\t(.*)")
"""A line of a token file: the image, the number of the caption, and the caption."""
_NUMBERING = "numbering"
"""The key of the `Numbering` of Karpathy's images, once they are COCO annotations."""
_IMAGE_KEYS = ("imgid", "cocoid", "filename")
"""Keys of Karpathy's images that an option may name as their ids; the first is the default."""
_ANNOTATION_KEYS = (
    *(
        "id",
        "image_id",
        "category_id",
        "caption",
        "score",
        "bbox",
        "area",
        "segmentation",
    ),
    *(
        "iscrowd",
        "keypoints",
        "num_keypoints",
        "is_precanned",
        "is_rejected",
        "text_detected",
    ),
)
_TREC = {6: "TREC run, one row a document", 4: "TREC qrels"}


# ---- COCO ---------------------------------------------------------------------------------------


def is_coco(value: Mapping[Any, Any]) -> bool:
    """Tell whether an object has the shape of a COCO annotation file."""
    return all(
        isinstance(part := value.get(key), list)
        and all(isinstance(one, dict) for one in part)
        for key in ("images", "annotations")
    )


def read_coco_labels(value: Mapping[str, Any], name: str) -> Items:
    """Return the names of the categories of each image, in order of first appearance."""
    sections = {key: value.get(key) for key in ("images", "annotations", "categories")}
    for key, section in sections.items():
        if not isinstance(section, list):
            wanted = f"a list under {key!r}, as COCO's instances have"
            raise InputError("wrong-type", name, value=section, wanted=wanted)
    categories = category_names(sections["categories"], name)  # type: ignore[arg-type]
    image_ids = _image_ids(sections["images"], name)
    keys = _keys_of(sections["annotations"])
    gather = _scored_labels if "score" in keys else _plain_labels
    items = gather(sections["annotations"], image_ids, categories, name)
    ids = list(image_ids)
    items.notes += unused_keys(sorted(keys), _ANNOTATION_KEYS, "annotation")
    items.aliases = _file_names(sections["images"])
    items.categories = categories
    items.declared = list(categories.values())
    items.absent = _absent_labels(items, sections["images"], categories, name)
    title = "LVIS instances, verified categories" if items.absent else "COCO instances"
    images, classes = (
        pluralize(len(ids), "image"),
        pluralize(len(categories), "category"),
    )
    items.understood = f"{title}, {images}, {classes}"
    bare = [labels for labels in items.items if not labels]
    if bare:
        items.notes.append(
            Fact("without-annotations", len(bare), values={"became": ""})
        )
    return items


def _keys_of(annotations: Any) -> set[str]:
    """Return all keys of the objects of a list, which mostly have the same ones."""
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
    for where, annotation in _numbered(annotations, at(name, "annotations")):
        image_id = _record_id(annotation, "image_id", where, labels)
        category = _record_id(annotation, "category_id", where, categories)
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
    gathered = ScoredLabels(name)
    for image_id in image_ids:
        gathered.open(image_id)
    for where, annotation in _numbered(annotations, at(name, "annotations")):
        image_id = _record_id(annotation, "image_id", where, image_ids)
        category = _record_id(annotation, "category_id", where, categories)
        score = read_score(annotation, "score", where)
        gathered.add(image_id, categories[category], score, where)
    return gathered.items()


def _absent_labels(
    items: Items, images: Any, categories: Mapping[str, str], name: str
) -> dict[str, list[str]]:
    """Return the labels that LVIS's annotators did not find in each image; empty for other files.

    They are under ``neg_category_ids``. Nobody verified the other labels that an image does not
    have.
    """
    if not any("neg_category_ids" in image for image in images):
        return {}
    absent = {}
    for (where, image), labels in zip(
        _numbered(images, at(name, "images")), items.items, strict=True
    ):
        present = {label if isinstance(label, str) else label[0] for label in labels}
        own = []
        for category in optional_key(image, "neg_category_ids", list, where):
            record = {"neg_category_ids": category}
            label = categories[
                _record_id(record, "neg_category_ids", where, categories)
            ]
            if label not in present:
                own.append(label)
        absent[str(image["id"])] = own
    return absent


def _file_names(images: Any) -> dict[str, str]:
    """Return the ids of images by the names of their files, where these are there."""
    named = [one for one in images or () if isinstance(one.get("file_name"), str)]
    times = Counter(one["file_name"] for one in named)
    return {
        one["file_name"]: str(one["id"])
        for one in named
        if times[one["file_name"]] == 1
    }


def _image_ids(images: Any, name: str) -> dict[str, None]:
    """Return the ids of the images, in file order; they are unique."""
    found: dict[str, None] = {}
    for where, image in _numbered(images, at(name, "images")):
        found[_record_id(image, "id", where, new=found)] = None
    return found


def category_names(categories: list[Any], name: str) -> dict[str, str]:
    """Return category names by id, in file order; ids and names are unique.

    Examples
    --------
    >>> category_names([{"id": 18, "name": "dog"}], "instances.json")
    {'18': 'dog'}
    """
    names: dict[str, str] = {}
    known: set[str] = set()
    for where, category in _numbered(categories, at(name, "categories")):
        id_, label = _record_id(category, "id", where, new=names), category.get("name")
        if not isinstance(label, str) or not label.strip():
            raise InputError(
                "wrong-type", where, value=label, wanted="the name of a category"
            )
        if label in known:
            raise InputError("duplicate", where, role="the category", value=label)
        names[id_] = label
        known.add(label)
    return names


def _numbered(section: Any, name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the objects of a section, each with its place."""
    for position, one in enumerate(section):
        where = f"{name}[{position}]"
        if not isinstance(one, dict):
            raise InputError("wrong-type", where, value=one, wanted="an object")
        yield where, one


def _record_id(
    one: dict[str, Any],
    key: str,
    where: str,
    known: Collection[str] | None = None,
    new: Collection[str] = (),
) -> str:
    """Return an id that an object must have: one of those known, if any, and none of others."""
    if key not in one:
        captions = key == "category_id" and "caption" in one
        raise InputError("captions-file" if captions else "missing-key", where, key=key)
    id_ = as_id(one[key], where=f"{where}, {key}")
    if known is not None and id_ not in known:
        what = "images" if key == "image_id" else "categories"
        raise InputError("unlisted-id", where, key=key, value=id_, what=what)
    if id_ in new:
        raise InputError("duplicate-id", where, value=id_)
    return id_


def is_coco_captions(value: Mapping[Any, Any]) -> bool:
    """Tell whether an object has the shape of a COCO file of captions, or of Karpathy's."""
    annotations = value.get("annotations")
    return is_karpathy(value) or (
        isinstance(annotations, list)
        and bool(annotations)
        and isinstance(annotations[0], dict)
        and "caption" in annotations[0]
    )


def read_coco_captions(
    value: Mapping[str, Any],
    name: str,
    *,
    by_own_id: bool = False,
    only_ids: bool = False,
) -> Items:
    """Return the captions of each image of COCO annotations, in the order of the annotations.

    Parameters
    ----------
    value : mapping
    name : str
        What messages call it.
    by_own_id : bool
        Whether each caption is an item, known by its own id.
    only_ids : bool
        Whether to return the ids of captions in place of their texts.

    Examples
    --------
    >>> captions = {"annotations": [{"image_id": 7, "id": 40, "caption": "a cat"}]}
    >>> [
    ...     (list(found.ids), found.items)
    ...     for found in (
    ...         read_coco_captions(captions, "captions.json"),
    ...         read_coco_captions(captions, "captions.json", by_own_id=True),
    ...         read_coco_captions(captions, "captions.json", only_ids=True),
    ...     )
    ... ]
    [(['7'], [['a cat']]), (['40'], [['a cat']]), (['7'], [['40']])]
    """
    annotations, images = value.get("annotations"), value.get("images")
    if not isinstance(annotations, list) or not isinstance(images, list | None):
        key = "annotations (a list), and images, if there are any"
        raise InputError("missing-key", name, key=key)
    known = _image_ids(images, name) if images else None
    rejected = 0
    keys: set[str] = set()
    found: dict[str, list[Any]] = {}
    if known is not None and not (by_own_id or only_ids):
        found = {id_: [] for id_ in known}
    for where, annotation in _numbered(annotations, at(name, "annotations")):
        id_ = _record_id(annotation, "image_id", where, known)
        caption = annotation.get("caption")
        if not isinstance(caption, str):
            code = "instances-file" if "category_id" in annotation else "wrong-type"
            raise InputError(
                code, at(where, "", id_), value=caption, wanted="a caption"
            )
        if by_own_id:
            id_ = _record_id(annotation, "id", where, new=found)
        keys |= annotation.keys()
        if _is_rejected(annotation):
            rejected += 1
            continue
        entry = _record_id(annotation, "id", where) if only_ids else caption
        found.setdefault(id_, []).append(entry)
    ids = [id_ for id_, captions in found.items() if captions]
    items = Items(ids, [found[id_] for id_ in ids], Places(name, ids), name)
    items.holds = "annotations"
    if not by_own_id:
        items.aliases = _file_names(images)
        items.numbering = value.get(_NUMBERING)
    how = " by id," if by_own_id else ", ids of" if only_ids else ","
    items.understood = f"COCO captions{how} {counted(annotations, 'caption')}"
    items.notes += unused_keys(sorted(keys), _ANNOTATION_KEYS, "annotation")
    if rejected:
        items.notes.append(Fact("rejected-captions", rejected))
    if len(ids) < len(found):
        values = {"became": ", left out"}
        items.notes.append(
            Fact("without-annotations", len(found) - len(ids), values=values)
        )
    return items


def _is_rejected(annotation: Mapping[str, Any]) -> bool:
    """Tell whether VizWiz's evaluation leaves a caption out.

    Crowd workers wrote no description for these images: the caption was rejected, or is the
    sentence that the form offered for pictures that nobody can recognise.
    """
    return (
        annotation.get("is_rejected") is True or annotation.get("is_precanned") is True
    )


# ---- Karpathy and Flickr ------------------------------------------------------------------------


def is_karpathy(value: Mapping[Any, Any]) -> bool:
    """Tell whether an object has the shape of Karpathy's JSON."""
    images = value.get("images")
    if type(images) is not list or not images or "annotations" in value:
        return False
    return isinstance(images[0], dict) and "sentences" in images[0]


def annotations_of(
    value: Mapping[str, Any], split: str | None, name: str, key: str | None = None
) -> tuple[Mapping[str, Any], str]:
    """Return the images of a split as COCO annotations, and what was read; others as they are.

    Parameters
    ----------
    value : mapping
    split : str or None
        None is all splits.
    name : str
        What messages call it.
    key : {"imgid", "cocoid", "filename"}, optional
        The key of the ids of images. The default is imgid, and the images are also known by their
        cocoid if they have one.

    Raises
    ------
    InputError
        If a key is missing or wrong, an id stands twice, or there is no such split.

    Examples
    --------
    >>> image = {"imgid": 3, "split": "test", "sentences": [{"sentid": 15, "raw": "a cat"}]}
    >>> annotations_of({"images": [image]}, "test", "dataset.json")
    ({'images': [{'id': '3', 'file_name': None}],
      'annotations': [{'id': '15', 'image_id': '3', 'caption': 'a cat'}]},
     "Karpathy's captions of 1 image, split test")
    """
    if not is_karpathy(value):
        return value, ""
    images: dict[str, dict[str, Any]] = {}
    captions: dict[str, dict[str, str]] = {}
    splits: dict[str, None] = {}
    for where, image in _numbered(value["images"], at(name, "images")):
        own = str(_get(image, "split", str, where))
        splits[own] = None
        if split in (None, own):
            id_ = _record_id(image, key or _IMAGE_KEYS[0], where, new=images)
            images[id_] = {"id": id_, "file_name": image.get("filename")}
            _add_sentences(captions, image, id_, where)
    if not images:
        raise InputError(
            "unknown-name",
            name,
            what="split",
            value=split,
            remedy=f"choose one of {listing(splits)}",
        )
    said = f"split {split}" if split is not None else f"splits {', '.join(splits)}"
    if key is not None:
        said += f", by {key}"
    made: dict[str, Any] = {
        "images": [*images.values()],
        "annotations": [*captions.values()],
    }
    numbering = _numbering_of(value["images"], images) if key is None else None
    if numbering is not None:
        made[_NUMBERING] = numbering
    return made, f"Karpathy's captions of {counted([*images], 'image')}, {said}"


def _add_sentences(
    captions: dict[str, dict[str, str]],
    image: dict[str, Any],
    image_id: str,
    where: str,
) -> None:
    """Add the captions of one of Karpathy's images."""
    sentences = _get(image, "sentences", list, where)
    for there, sentence in _numbered(sentences, f"{where}.sentences"):
        id_ = _record_id(sentence, "sentid", there, new=captions)
        text = _get(sentence, "raw", str, there)
        captions[id_] = {"id": id_, "image_id": image_id, "caption": text}


def _numbering_of(
    images: Sequence[Mapping[str, Any]], kept: Collection[str]
) -> Numbering | None:
    """Return the cocoid of each image that was kept, and all of the file; None without them."""
    by_cocoid: dict[str, str] = {}
    for image in images:
        cocoid = image.get("cocoid")
        if not isinstance(cocoid, int | str) or "imgid" not in image:
            return None
        by_cocoid[str(cocoid)] = str(image["imgid"])
    own = {other: id_ for other, id_ in by_cocoid.items() if id_ in kept}
    ids = frozenset(str(image["imgid"]) for image in images)
    return Numbering(own, ids, frozenset(by_cocoid))


def image_key(value: Mapping[Any, Any], options: ReadOptions) -> str | None:
    """Return the key of the ids of Karpathy's images that the options name, if they name one."""
    return (
        options.id_column
        if is_karpathy(value) and options.id_column in _IMAGE_KEYS
        else None
    )


def _get(one: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """Return the value of a key, which must be there and of a kind."""
    if key not in one:
        raise InputError("missing-key", where, key=key)
    if not isinstance(one[key], kind):
        wanted = f"{'a list' if kind is list else 'a text'} for {key!r}"
        raise InputError("wrong-type", where, value=one[key], wanted=wanted)
    return one[key]


def read_tokens(source: Source, max_line_bytes: int) -> Mapping[str, Any]:
    """Read a token file as COCO annotations.

    Raises
    ------
    InputError
        If a line is of another form, or a caption's name stands twice; names the line.
    """
    check_lines(source, max_line_bytes)
    images: dict[str, None] = {}
    captions: dict[str, dict[str, str]] = {}
    for number, line in enumerate(source.text.removesuffix("\n").split("\n"), 1):
        parts = TOKEN_LINE.fullmatch(line.removesuffix("\r"))
        if parts is None:
            raise InputError(
                "wrong-content",
                at(source.name, f"line {number}"),
                value=shown(line),
                wanted="a caption with its name",
                example="image.jpg#0, a tab, and the caption",
            )
        image, caption = parts[1], f"{parts[1]}#{parts[2]}"
        if caption in captions:
            raise InputError(
                "duplicate",
                at(source.name, f"line {number}"),
                role="the caption",
                value=caption,
            )
        images[image] = None
        captions[caption] = {"id": caption, "image_id": image, "caption": parts[3]}
    return {
        "images": [{"id": id_} for id_ in images],
        "annotations": [*captions.values()],
    }


# ---- TREC ---------------------------------------------------------------------------------------


def read_trec(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read a run or qrels; documents have their scores, or grades.

    Raises
    ------
    InputError
        If a line has another number of words, or a score is no number; names the line.
    """
    check_lines(source, options.max_line_bytes)
    lines = enumerate(source.text.split("\n"), 1)
    rows = [(line, None, words) for line, text in lines if (words := text.split())]
    width = len(rows[0][2])
    if width not in TREC:
        example = "query Q0 document rank score tag, or query 0 document grade"
        where, wanted = (
            at(source.name, f"line {rows[0][0]}"),
            "a line of a run or of qrels",
        )
        found = pluralize(width, "word")
        raise InputError(
            "wrong-content", where, value=found, wanted=wanted, example=example
        )
    table = TREC[width].read(rows, source.name, "line {}")
    documents, scores = (
        table.columns["document"],
        table.columns["score" if width == 6 else "grade"],
    )
    ids = list(table.gathered)
    items = [
        [(documents[i], scores[i]) for i in some] for some in table.gathered.values()
    ]
    first = [rows[some[0]][0] for some in table.gathered.values()]
    places = Places(source.name, ids, "line {}", first)
    holds: Holds = "run" if width == 6 else "judgements"
    return Items(ids, items, places, source.name, _TREC[width], holds=holds)
