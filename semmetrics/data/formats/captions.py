"""Caption datasets: MSR-VTT, TextCaps, LAVIS lists, Clotho, VATEX and ActivityNet Captions.

Conventions
-----------
The documents are converted to COCO annotations. The form has the reader for these: captions by
image, captions by their own id, or captions that are positives of an image. nocaps is published as
COCO annotations, so it needs no format here.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from semmetrics.data.form import Form
from semmetrics.data.formats.base import (
    CAPTIONS,
    RECORD,
    DocumentFormat,
    Table,
    TableFormat,
    are_records,
    check_record,
    read_id,
    recipe,
    require_key,
)
from semmetrics.data.input_columns import find_id
from semmetrics.data.items import Items
from semmetrics.data.read_options import ReadOptions, is_truth
from semmetrics.errors import Fact, InputError, Places, format_place
from semmetrics.messages import counted, listing, pluralize
from semmetrics.schema import as_id

Annotations = dict[str, list[dict[str, Any]]]
"""Images and captions, as in COCO's caption files."""
_ID_KEYS = (
    "id",
    "image_id",
    "img_id",
    "imgid",
    "cocoid",
    "video_id",
    "filename",
    "file_name",
)
_NUMBER = re.compile(r"(?:.*_)?0*(\d+)")
_NUMBERED_COLUMN = re.compile(
    r"(captions?|caption_reference|refs?|references?|sentences?|comments?|descriptions?)[ _-]?\d+"
)
_PLAIN_COLUMNS = frozenset(("caption", "captions", "text", "sentence", "prediction"))
_PREDICTED_COLUMN = "caption_predicted"  # of DCASE


class CaptionDocument(DocumentFormat):
    """A document that becomes COCO annotations.

    Attributes
    ----------
    has_splits : bool
        Whether ``ReadOptions.split`` chooses a part of the document.
    """

    nouns: tuple[str, ...] = CAPTIONS
    has_splits: ClassVar[bool] = False

    @abstractmethod
    def annotations(
        self, document: Any, name: str, options: ReadOptions
    ) -> tuple[Annotations, str]:
        """Return the captions as COCO annotations, and how the document was understood."""

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the captions with the COCO reader of the form."""
        annotations, understood = self.annotations(document, name, options)
        if form.coco is None:
            raise InputError(
                "wrong-content",
                name,
                value=self.title,
                wanted=f"{form.noun}s",
                example=f"{form.noun}s",
            )
        items: Items = form.coco(annotations, name)
        items.understood = understood
        items.has_splits = self.has_splits
        return items


class MsrVtt(CaptionDocument):
    """``{"videos": [{"video_id", "split"}], "sentences": [{"sen_id", "video_id", "caption"}]}``."""

    title = "MSR-VTT"
    nouns = ("caption", "candidate")
    has_splits = True

    def matches(self, document: Any) -> bool:
        """Return whether there are videos and sentences with a caption."""
        if not isinstance(document, Mapping):
            return False
        sentences = document.get("sentences")
        return "videos" in document and are_records(sentences, "caption", "video_id")

    def annotations(
        self, document: Any, name: str, options: ReadOptions
    ) -> tuple[Annotations, str]:
        """Return the captions of the videos of a split, or of all."""
        split_of = _video_splits(document, name)
        chosen, split_text = _choose_splits(split_of, options.split, name)
        captions: list[dict[str, Any]] = []
        for where, sentence in _numbered(
            document["sentences"], format_place(name, "sentences")
        ):
            video_id = read_id(sentence, "video_id", where)
            if video_id not in split_of:
                raise InputError(
                    "unlisted-id", where, key="video_id", value=video_id, what="videos"
                )
            if split_of[video_id] in chosen:
                text = require_key(sentence, "caption", str, where)
                sentence_id = sentence.get("sen_id", len(captions))
                captions.append(_caption(sentence_id, video_id, text))
        video_ids = [id_ for id_, split in split_of.items() if split in chosen]
        videos = _images(video_ids)
        understood = f"MSR-VTT captions of {counted(videos, 'video')}, {split_text}"
        return {"images": videos, "annotations": captions}, understood


def _images(ids: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the images of COCO annotations with these ids."""
    return [{"id": id_} for id_ in ids]


def _caption(id_: Any, image_id: str, text: Any) -> dict[str, Any]:
    """Return a caption of COCO annotations."""
    return {"id": id_, "image_id": image_id, "caption": text}


def _choose_splits(
    split_of: Mapping[str, str], split: str | None, name: str
) -> tuple[list[str], str]:
    """Return the splits to read, and their description. Without a choice, all of them are read."""
    splits = list(dict.fromkeys(split_of.values()))
    if split is None:
        return splits, f"splits {', '.join(splits)}"
    if split not in splits:
        remedy = f"choose one of {listing(splits)}"
        values = {"what": "split", "value": split, "remedy": remedy}
        raise InputError("unknown-name", name, **values)
    return [split], f"split {split}"


def _video_splits(document: Any, name: str) -> dict[str, str]:
    """Return the split of each video of MSR-VTT."""
    split_of = {}
    section = require_key(document, "videos", list, name)
    for where, video in _numbered(section, format_place(name, "videos")):
        split_of[read_id(video, "video_id", where)] = str(video.get("split", ""))
    return split_of


class TextCaps(CaptionDocument):
    """``{"data": [{"image_id", "caption_id", "caption_str", "reference_strs"}]}``."""

    title = "TextCaps"

    def matches(self, document: Any) -> bool:
        """Return whether the data are records with an image and captions."""
        if not isinstance(document, Mapping):
            return False
        data = document.get("data")
        is_listed = are_records(data, "image_id", "reference_strs")
        return is_listed or are_records(data, "image_id", "caption_str")

    def annotations(
        self, document: Any, name: str, options: ReadOptions
    ) -> tuple[Annotations, str]:
        """Return the references of each image once, although the file repeats them."""
        references: dict[str, list[str]] = {}
        records_of_image: dict[str, list[Any]] = {}
        for where, record in _numbered(document["data"], format_place(name, "data")):
            image = read_id(record, "image_id", where)
            records_of_image.setdefault(image, []).append(record)
            if "reference_strs" in record:
                own_references = require_key(record, "reference_strs", list, where)
                references.setdefault(image, own_references)
        captions: list[dict[str, Any]] = []
        for image, records in records_of_image.items():
            texts = references.get(image)
            if texts is None:
                texts = [record.get("caption_str") for record in records]
            ids = _caption_ids(image, records, len(texts))
            for id_, text in zip(ids, texts, strict=True):
                captions.append(_caption(id_, image, text))
        n_captions = counted(captions, "caption")
        n_images = counted(records_of_image, "image")
        annotations = {"images": _images(records_of_image), "annotations": captions}
        return annotations, f"TextCaps, {n_captions} of {n_images}"


def _caption_ids(
    image: str, records: Iterable[Mapping[str, Any]], number: int
) -> list[Any]:
    """Return the ids of the captions of an image, or numbered ids if the file lacks some."""
    ids = [record.get("caption_id") for record in records]
    if len(ids) != number or None in ids:
        return [f"{image}#{position}" for position in range(number)]
    return ids


class LavisCaptions(CaptionDocument):
    """``[{"image": "val2014/COCO_val2014_000000184613.jpg", "caption": ["...", "..."]}]``.

    The only id of an image is its path. LAVIS uses the number in the file name as the id in its
    results, so predictions may also use that number or the file name.
    """

    title = "LAVIS captions"

    def matches(self, document: Any) -> bool:
        """Return whether records have an image path and a list of captions, and no id."""
        if not are_records(document, "image", "caption"):
            return False
        record = document[0]
        has_id = any(key in record for key in _ID_KEYS)
        return not has_id and isinstance(record["caption"], list)

    def annotations(
        self, document: Any, name: str, options: ReadOptions
    ) -> tuple[Annotations, str]:
        """Return the captions of each image."""
        images: dict[str, None] = {}
        captions: list[dict[str, Any]] = []
        for number, record in enumerate(document):
            where = format_place(name, RECORD.format(number))
            check_record(record, where)
            path = read_id(record, "image", where)
            if path in images:
                raise InputError("duplicate-id", where, value=path)
            images[path] = None
            texts = record.get("caption")
            if not isinstance(texts, list):
                texts = [texts]
            for text in texts:
                captions.append(_caption(len(captions), path, text))
        n_captions = counted(captions, "caption")
        n_images = counted(images, "image")
        annotations = {"images": _images(images), "annotations": captions}
        return annotations, f"LAVIS captions, {n_captions} of {n_images}"

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Read the captions of each image, with its file name and its number as other names."""
        items = super().read(document, name, form, options)
        items.aliases = path_aliases(items.ids or ())
        return items


def path_aliases(paths: Iterable[str]) -> dict[str, str]:
    """Return paths by their file name, its stem, and the number at its end, if these are unique.

    Examples
    --------
    >>> path_aliases(["val2014/COCO_val2014_000000184613.jpg"])
    {'COCO_val2014_000000184613.jpg': 'val2014/COCO_val2014_000000184613.jpg',
     'COCO_val2014_000000184613': 'val2014/COCO_val2014_000000184613.jpg',
     '184613': 'val2014/COCO_val2014_000000184613.jpg'}
    """
    path_of_name: dict[str, str] = {}
    ambiguous: set[str] = set()
    for path in paths:
        _, _, file_name = path.replace("\\", "/").rpartition("/")
        stem = file_name.rsplit(".", 1)[0]
        names = [file_name, stem]
        number = _NUMBER.fullmatch(stem)
        if number is not None:
            names.append(number[1])
        for name in names:
            if path_of_name.setdefault(name, path) != path:
                ambiguous.add(name)
    aliases = {}
    for name, path in path_of_name.items():
        if name not in ambiguous and name != path:
            aliases[name] = path
    return aliases


class Vatex(CaptionDocument):
    """``[{"videoID": "...", "enCap": ["...", "..."]}]``."""

    title = "VATEX"

    def matches(self, document: Any) -> bool:
        """Return whether records have a video and English captions."""
        return are_records(document, "videoID", "enCap")

    def annotations(
        self, document: Any, name: str, options: ReadOptions
    ) -> tuple[Annotations, str]:
        """Return the English captions of each video."""
        images: list[dict[str, Any]] = []
        captions: list[dict[str, Any]] = []
        for number, record in enumerate(document):
            where = format_place(name, RECORD.format(number))
            check_record(record, where)
            video = read_id(record, "videoID", where)
            images.append({"id": video})
            for text in require_key(record, "enCap", list, where):
                captions.append(_caption(len(captions), video, text))
        n_captions = counted(captions, "English caption")
        understood = f"VATEX, {n_captions} of {counted(images, 'video')}"
        return {"images": images, "annotations": captions}, understood


class ActivityNetCaptions(DocumentFormat):
    """``{"v_x": {"duration", "timestamps", "sentences"}}``, and results with timestamps.

    Each sentence of a video describes another event, so the sentences are not several references
    for one caption. How to combine events is a choice of the user.
    """

    title = "ActivityNet Captions"
    nouns = CAPTIONS

    def matches(self, document: Any) -> bool:
        """Return whether videos have sentences with times."""
        if not isinstance(document, Mapping) or not document:
            return False
        results = document.get("results")
        if isinstance(results, Mapping) and results:
            return are_records(next(iter(results.values())), "sentence", "timestamp")
        first = next(iter(document.values()))
        if not isinstance(first, Mapping):
            return False
        return "timestamps" in first and "sentences" in first

    def read(self, document: Any, name: str, form: Form, options: ReadOptions) -> Items:
        """Raise an error with code that makes one caption of each video."""
        sentences = '" ".join(video["sentences"])'
        videos = "json.loads(Path(path).read_text()).items()"
        if "results" in document:
            sentences = '" ".join(event["sentence"] for event in video)'
            videos = 'json.loads(Path(path).read_text())["results"].items()'
        raise recipe(
            self.title,
            name,
            "each sentence describes a different event of the video",
            f"captions = {{id: {sentences} for id, video in {videos}}}",
            'Path("captions.json").write_text(json.dumps(captions))',
        )


class NumberedCaptions(TableFormat):
    """A table with a column for each caption of an item: Clotho's ``caption_1`` to ``caption_5``.

    If there is also a plain ``caption``, the numbered columns are its references: they are read for
    the ground truth, and ``caption`` for the predictions. Names such as ``ref1`` and
    ``reference_2`` are also read, and DCASE's ``caption_predicted`` and ``caption_reference_01``.
    """

    title = "numbered captions"
    nouns = CAPTIONS
    used_options = ("id_column",)

    def matches(self, columns: Sequence[str], options: ReadOptions) -> bool:
        """Return whether several columns are captions with a number."""
        if options.caption_column is not None:
            return False
        folded = [name.strip().casefold() for name in columns]
        if _PREDICTED_COLUMN in folded:
            return True
        has_prediction = not is_truth(options) and not _PLAIN_COLUMNS.isdisjoint(folded)
        return len(_numbered_columns(columns)) > 1 and not has_prediction

    def read(self, table: Table, form: Form, options: ReadOptions) -> Items:
        """Read the captions of each row. Empty cells are captions that the item does not have."""
        id_column = find_id(
            table.columns, form, options, format_place(table.name, "line 1")
        )
        if id_column is None:
            known = ", ".join(form.table.columns[0].known)
            raise InputError(
                "missing-column",
                format_place(table.name, "line 1"),
                role="id",
                wanted=known,
                found=list(table.columns),
                flag="id_column",
            )
        caption_columns = _numbered_columns(table.columns)
        if not caption_columns:
            folded = [name.strip().casefold() for name in table.columns]
            caption_columns = [folded.index(_PREDICTED_COLUMN)]
        ids: dict[str, int] = {}
        captions: list[list[str]] = []
        for place, cells in table.rows:
            where = format_place(table.name, table.place_format.format(place))
            id_ = as_id(cells[id_column], where=where)
            if id_ in ids:
                raise InputError("duplicate-id", where, value=id_)
            ids[id_] = place
            own_cells = [cells[column] for column in caption_columns]
            captions.append(list(filter(None, own_cells)))
        places = Places(table.name, list(ids), table.place_format, list(ids.values()))
        items = Items(list(ids), captions, places)
        items.source = table.name
        columns = ", ".join(repr(table.columns[column]) for column in caption_columns)
        number = pluralize(sum(map(len, captions)), "caption")
        id_name = table.columns[id_column]
        items.understood = f"one row per item: id {id_name!r}, {number} in {columns}"
        unused = _other_columns(table.columns, (id_column, *caption_columns))
        if unused:
            items.notes.append(Fact("unused-columns", len(unused), unused))
        return items


def _numbered_columns(columns: Sequence[str]) -> list[int]:
    """Return the positions of the columns whose names differ only in a number at the end.

    If there are several groups of such columns, the largest group is used.
    """
    columns_by_name: dict[str, list[int]] = {}
    for column, name in enumerate(columns):
        match = _NUMBERED_COLUMN.fullmatch(name.strip().casefold())
        if match is not None:
            columns_by_name.setdefault(match[1], []).append(column)
    if not columns_by_name:
        return []
    return max(columns_by_name.values(), key=len)


def _other_columns(columns: Sequence[str], used: Collection[int]) -> tuple[str, ...]:
    """Return the names of the columns that are not used."""
    return tuple(name for column, name in enumerate(columns) if column not in used)


def _numbered(
    section: Sequence[Any], name: str
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place of each object of a section, and the object."""
    for position, record in enumerate(section):
        where = f"{name}[{position}]"
        yield where, check_record(record, where)
