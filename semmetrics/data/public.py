"""Public formats that kinds read directly: COCO, Karpathy's JSON, Flickr's token files, and TREC.

Conventions
-----------
``dataset_coco.json``, ``dataset_flickr8k.json`` and ``dataset_flickr30k.json`` (Karpathy's) contain
images with ``imgid``, ``split`` and ``sentences``. A sentence has ``sentid`` and the text ``raw``.
A token file has one line ``image.jpg#0<tab>caption`` per caption. Both are read as COCO
annotations: the ids of images are ``imgid`` or the name before ``#``, and the ids of captions are
``sentid`` or the whole name.

The words of a TREC file are separated by spaces. A line of a run has six, ``query Q0 document rank
score tag``. A line of qrels has four, ``query 0 document grade``. Documents of a run are ranked by
descending score. Equal scores keep the order of the lines. The rank in a line is ignored, as in
trec_eval.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    ScoredLabels,
    optional_key,
    read_score,
    unused_keys,
)
from semmetrics.data.items import Items
from semmetrics.data.lists import Holds, Numbering
from semmetrics.data.read_options import ReadOptions
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
_RUN_WIDTH = 6
_TREC_TITLES = {_RUN_WIDTH: "TREC run, one row per document", 4: "TREC qrels"}
"""What messages call a TREC file, by the number of words in a line."""


# ---- COCO ---------------------------------------------------------------------------------------


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


def read_coco_labels(value: Mapping[str, Any], name: str) -> Items:
    """Return the names of the categories of each image, in order of first appearance."""
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
    title = "LVIS instances, verified categories" if items.absent else "COCO instances"
    n_images = pluralize(len(image_ids), "image")
    n_categories = pluralize(len(categories), "category")
    items.understood = f"{title}, {n_images}, {n_categories}"
    n_empty = sum(not labels for labels in items.items)
    if n_empty:
        items.notes.append(Fact("without-annotations", n_empty, values={"became": ""}))
    return items


def _require_list(value: Mapping[str, Any], key: str, name: str) -> list[Any]:
    """Return the section of COCO instances under a key."""
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
    """Return the labels that annotators of LVIS did not find in each image.

    They are under ``neg_category_ids``. Nobody verified the other labels that an image does not
    have. Other files have no such labels.
    """
    if not any("neg_category_ids" in image for image in images):
        return {}
    absent: dict[str, list[str]] = {}
    numbered_images = _numbered(images, at(name, "images"))
    for (where, image), labels in zip(numbered_images, items.items, strict=True):
        present = set()
        for label in labels:
            present.add(label if isinstance(label, str) else label[0])
        absent_labels = []
        for category in optional_key(image, "neg_category_ids", list, where):
            record = {"neg_category_ids": category}
            category_id = _record_id(record, "neg_category_ids", where, categories)
            label = categories[category_id]
            if label not in present:
                absent_labels.append(label)
        absent[str(image["id"])] = absent_labels
    return absent


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
    for where, image in _numbered(images, at(name, "images")):
        ids[_record_id(image, "id", where, new=ids)] = None
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
    for where, category in _numbered(categories, at(name, "categories")):
        id_ = _record_id(category, "id", where, new=names)
        label = category.get("name")
        if not isinstance(label, str) or not label.strip():
            wanted = "the name of a category"
            raise InputError("wrong-type", where, value=label, wanted=wanted)
        if label in used_names:
            raise InputError("duplicate", where, role="the category", value=label)
        names[id_] = label
        used_names.add(label)
    return names


def _numbered(section: Any, name: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the place of each object of a section, and the object."""
    for position, record in enumerate(section):
        where = f"{name}[{position}]"
        if not isinstance(record, dict):
            raise InputError("wrong-type", where, value=record, wanted="an object")
        yield where, record


def _record_id(
    record: dict[str, Any],
    key: str,
    where: str,
    known: Collection[str] | None = None,
    new: Collection[str] = (),
) -> str:
    """Return the id under a key, which must be there.

    Parameters
    ----------
    record : dict
    key : str
    where : str
        The place of the record.
    known : collection of str, optional
        The ids that are allowed. Default: all.
    new : collection of str
        The ids that are already used.
    """
    if key not in record:
        is_caption = key == "category_id" and "caption" in record
        code = "captions-file" if is_caption else "missing-key"
        raise InputError(code, where, key=key)
    id_ = as_id(record[key], where=f"{where}, {key}")
    if known is not None and id_ not in known:
        what = "images" if key == "image_id" else "categories"
        raise InputError("unlisted-id", where, key=key, value=id_, what=what)
    if id_ in new:
        raise InputError("duplicate-id", where, value=id_)
    return id_


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
    items.holds = "annotations"
    if not by_own_id:
        items.aliases = _file_names(images)
        items.numbering = value.get(_NUMBERING)
    title = _caption_title(by_own_id=by_own_id, only_ids=only_ids)
    items.understood = f"{title} {counted(annotations, 'caption')}"
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
    for where, annotation in _numbered(annotations, at(name, "annotations")):
        id_ = _record_id(annotation, "image_id", where, image_ids)
        text = annotation.get("caption")
        if not isinstance(text, str):
            raise _missing_caption_error(annotation, at(where, "", id_))
        if by_own_id:
            id_ = _record_id(annotation, "id", where, new=captions)
        if _is_rejected(annotation):
            n_rejected += 1
            continue
        entry = _record_id(annotation, "id", where) if only_ids else text
        captions.setdefault(id_, []).append(entry)
    return captions, n_rejected


def _caption_title(*, by_own_id: bool, only_ids: bool) -> str:
    """Return how messages call captions, before their number."""
    if by_own_id:
        return "COCO captions by id,"
    if only_ids:
        return "COCO captions, ids of"
    return "COCO captions,"


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


# ---- Karpathy and Flickr ------------------------------------------------------------------------


def is_karpathy(value: Mapping[Any, Any]) -> bool:
    """Return whether an object has the structure of Karpathy's JSON."""
    images = value.get("images")
    if type(images) is not list or not images or "annotations" in value:
        return False
    return isinstance(images[0], dict) and "sentences" in images[0]


def annotations_of(
    value: Mapping[str, Any], split: str | None, name: str, key: str | None = None
) -> tuple[Mapping[str, Any], str]:
    """Return the images of a split of Karpathy's JSON as COCO annotations, and a description.

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
        own_split = str(_require_key(image, "split", str, where))
        splits[own_split] = None
        if split is None or split == own_split:
            id_ = _record_id(image, key or _IMAGE_KEYS[0], where, new=images)
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
        annotations[_NUMBERING] = numbering
    return annotations, description


def _add_sentences(
    captions: dict[str, dict[str, str]],
    image: dict[str, Any],
    image_id: str,
    where: str,
) -> None:
    """Add the captions of one of Karpathy's images."""
    sentences = _require_key(image, "sentences", list, where)
    for place, sentence in _numbered(sentences, f"{where}.sentences"):
        id_ = _record_id(sentence, "sentid", place, new=captions)
        text = _require_key(sentence, "raw", str, place)
        captions[id_] = {"id": id_, "image_id": image_id, "caption": text}


def _numbering_of(
    images: Sequence[Mapping[str, Any]], ids_read: Collection[str]
) -> Numbering | None:
    """Return the cocoids of the images, or None if an image has no cocoid.

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


def _require_key(record: dict[str, Any], key: str, kind: type, where: str) -> Any:
    """Return the value of a key, which must be there and of this type."""
    if key not in record:
        raise InputError("missing-key", where, key=key)
    if not isinstance(record[key], kind):
        type_name = "a list" if kind is list else "a text"
        wanted = f"{type_name} for {key!r}"
        raise InputError("wrong-type", where, value=record[key], wanted=wanted)
    return record[key]


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
                at(source.name, f"line {number}"),
                value=shown(line),
                wanted="a caption with its name",
                example="image.jpg#0, a tab, and the caption",
            )
        image, caption_number, text = match.groups()
        caption = f"{image}#{caption_number}"
        if caption in captions:
            where = at(source.name, f"line {number}")
            raise InputError("duplicate", where, role="the caption", value=caption)
        images[image] = None
        captions[caption] = {"id": caption, "image_id": image, "caption": text}
    return {
        "images": [{"id": image} for image in images],
        "annotations": list(captions.values()),
    }


# ---- TREC ---------------------------------------------------------------------------------------


def read_trec(source: Source, form: Form, options: ReadOptions) -> Items:
    """Read a run, whose documents have scores, or qrels, whose documents have grades.

    Raises
    ------
    InputError
        If a line has another number of words, or a score is not a number. The message names the
        line.
    """
    check_lines(source, options.max_line_bytes)
    rows: list[tuple[int, None, list[str]]] = []
    for line, text in enumerate(source.text.split("\n"), 1):
        words = text.split()
        if words:
            rows.append((line, None, words))
    first_line, _, first_words = rows[0]
    width = len(first_words)
    if width not in TREC:
        raise InputError(
            "wrong-content",
            at(source.name, f"line {first_line}"),
            value=pluralize(width, "word"),
            wanted="a line of a run or of qrels",
            example="query Q0 document rank score tag, or query 0 document grade",
        )
    is_run = width == _RUN_WIDTH
    table = TREC[width].read(rows, source.name, "line {}")
    documents = table.columns["document"]
    scores = table.columns["score" if is_run else "grade"]
    items = []
    first_lines = []
    for own_rows in table.rows_by_group.values():
        items.append([(documents[row], scores[row]) for row in own_rows])
        first_row, *_ = own_rows
        line, _, _ = rows[first_row]
        first_lines.append(line)
    ids = list(table.rows_by_group)
    places = Places(source.name, ids, "line {}", first_lines)
    holds: Holds = "run" if is_run else "judgements"
    title = _TREC_TITLES[width]
    return Items(ids, items, places, source.name, title, holds=holds)
