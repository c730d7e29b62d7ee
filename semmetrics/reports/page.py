"""HTML pages that need no other file: reports of results, and a frame for other pages.

Conventions
-----------
A page contains its styles, script, figures and images. Its content security policy
forbids it to load anything else. Everything that comes from the input is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from semmetrics.errors import (
    Fact,
    InputError,
    MissingDependencyError,
    render_facts,
    require,
)
from semmetrics.messages import visible
from semmetrics.reports.table_cells import TableRows, right_aligned

_MAX_ENTRIES_PER_FIELD = 50
_REFERENCE_FIELDS = ("true", "positives", "class", "references")
_HEADING_FIELDS = (
    "system",
    "baseline",
    "measure",
    "id",
    "value",
    "baseline_value",
    "difference",
)

_MAX_THUMBNAIL_PIXELS = 160  # of the longer side
_MAX_THUMBNAILS = 200
_MAX_THUMBNAIL_BYTES = 4 * 2**20  # of all thumbnails of a page
_IMAGE_FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP")
"""The formats that are opened. For EPS, Pillow would start Ghostscript."""
_IMAGE_SIGNATURES = (b"\xff\xd8\xff", b"\x89PNG", b"RIFF", b"GIF8", b"BM")
"""The first bytes of files in these formats."""
_IMAGE_EXTENSIONS = ("", ".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
_ID_FIELD = re.compile(r"\{id(?::0(\d{1,2})d)?\}")
"""{id}, or {id:012d} for an id with leading zeros."""


def fill_page(
    title: str, body: str, script: str, *, images: str = "data:", data: str = ""
) -> str:
    """Return an HTML page that runs one script and loads nothing.

    Parameters
    ----------
    title : str
    body, data : str
        HTML in which everything from the input is escaped.
    script : {"report", "annotation"}
        The name of the script.
    images : str
        The sources of images, as in a content security policy.
    """
    code = _read_asset(f"{script}.js")
    digest = hashlib.sha256(code.encode()).digest()
    page = Template(_read_asset("page.html"))
    return page.substitute(
        title=escape(visible(title)),
        body=body,
        data=data,
        script=code,
        hash=base64.b64encode(digest).decode(),
        images=images,
    )


def _read_asset(name: str) -> str:
    """Return the text of a file in this package."""
    return resources.files("semmetrics.reports").joinpath(name).read_text("utf-8")


# ---- reports --------------------------------------------------------------------------


@dataclass(frozen=True)
class ReportContent:
    """The content of a report.

    Attributes
    ----------
    title : str
    about : list of str
        Lines below the title.
    values : list of rows
        The main tables, in which the best cells are bold.
    lines : list of str
        Sentences below the main tables.
    figures : dict from name to str
        SVG elements.
    examples : dict from title to records
        The items that are shown.
    tables : dict from title to rows
        Further tables.
    signatures : rows
    understood : list of str
        How each input was read.
    not_computed : list of str
        The measures that have no value, with the reasons.
    notes : list of str
    """

    title: str
    about: Sequence[str]
    values: Sequence[TableRows]
    lines: Sequence[str]
    figures: Mapping[str, str]
    examples: Mapping[str, Iterable[Mapping[str, Any]]]
    tables: Mapping[str, TableRows]
    signatures: TableRows
    understood: Sequence[str]
    not_computed: Sequence[str]
    notes: Sequence[str]


def write_report(
    content: ReportContent, *, images: str | None = None, digits: int = 4
) -> str:
    """Return a report as an HTML page that needs no other file and no network.

    Parameters
    ----------
    content : ReportContent
    images : str, optional
        A folder of images named by the ids of items, or a path that contains ``{id}`` or
        ``{id:012d}``. The images are shown next to their items as thumbnails.
    digits : int
        The number of decimals in the values of items.
    """
    jinja = require("jinja2", "a report", extra="html")
    thumbnails = Thumbnails(images)
    examples = {}
    for title, records in content.examples.items():
        items = []
        for record in records:
            items.append(_describe_item(record, thumbnails, digits))
        examples[title] = items
    folded = {
        "What was read": content.understood,
        "Not computed": content.not_computed,
        "Notes": [*content.notes, *thumbnails.notes()],
    }
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, finalize=_make_visible
    )
    template = environment.from_string(_read_asset("report.html"))
    body = template.render(
        title=content.title,
        about=content.about,
        values=content.values,
        align=right_aligned,
        lines=content.lines,
        figures=content.figures,
        examples=examples,
        tables=content.tables,
        folded=folded,
        signatures=content.signatures,
    )
    return fill_page(content.title, body, "report")


def _make_visible(value: Any) -> Any:
    """Escape control characters in strings, but not in subclasses such as Markup."""
    if type(value) is str:
        return visible(value)
    return value


def _describe_item(
    record: Mapping[str, Any], thumbnails: Thumbnails, digits: int
) -> dict[str, Any]:
    """Return the variables with which the template shows an item."""
    entries_by_field = _list_entries(record)
    matched = _find_matched(record, entries_by_field)
    fields = []
    for name, entries in entries_by_field.items():
        matched_entries = matched.predictions
        if name in _REFERENCE_FIELDS:
            matched_entries = matched.references
        title = name.replace("_", " ")
        fields.append((title, _describe_entries(entries, matched_entries)))
    return {
        "id": record["id"],
        "value": _describe_value(record, digits),
        "fields": fields,
        "picture": thumbnails.find(str(record["id"])),
    }


def _describe_value(record: Mapping[str, Any], digits: int) -> str:
    """Return the system, the measure and the value: "new against old, F1: value 0.5"."""
    numbers = []
    for name in _HEADING_FIELDS:
        value = record.get(name)
        if isinstance(value, float):
            title = name.replace("_", " ")
            numbers.append(f"{title} {value:.{digits}f}")
    systems = record["system"]
    if "baseline" in record:
        systems = f"{systems} against {record['baseline']}"
    return f"{systems}, {record['measure']}: {', '.join(numbers)}"


def _list_entries(record: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the labels or captions of an item by field. None is left out."""
    entries_by_field: dict[str, list[Any]] = {}
    for name, value in record.items():
        if name in _HEADING_FIELDS or value is None:
            continue
        if name == "matches" and not value:
            continue
        entries_by_field[name] = value if isinstance(value, list) else [value]
    return entries_by_field


class _Matched(NamedTuple):
    """Labels that are matched if they occur in a field of predictions or of references."""

    predictions: set[str]
    references: set[str]


def _find_matched(
    record: Mapping[str, Any], entries_by_field: Mapping[str, Sequence[Any]]
) -> _Matched:
    """Find the labels that matched: from "matches", or else the labels on both sides."""
    matched = _Matched(set(), set())
    if "matches" not in record:
        for name, values in entries_by_field.items():
            labels = {value for value in values if isinstance(value, str)}
            # A prediction matches if it is a reference label, and the other way round.
            if name in _REFERENCE_FIELDS:
                matched.predictions.update(labels)
            else:
                matched.references.update(labels)
    for name, values in entries_by_field.items():
        if name in ("matches", "baseline_matches"):
            for predicted, true, *_ in values:
                matched.predictions.add(predicted)
                matched.references.add(true)
    return matched


def _describe_entries(
    entries: Sequence[Any], matched: Collection[str]
) -> list[tuple[str, bool]]:
    """Return labels or captions as they are shown, each with whether it matched."""
    described = []
    for entry in entries[:_MAX_ENTRIES_PER_FIELD]:
        parts = entry if isinstance(entry, (list, tuple)) else [entry]
        shown_entry = " ~ ".join(map(_format_part, parts))
        is_matched = isinstance(entry, str) and entry in matched
        described.append((shown_entry, is_matched))
    n_hidden = len(entries) - _MAX_ENTRIES_PER_FIELD
    if n_hidden > 0:
        described.append((f"and {n_hidden:,} more", False))
    return described


def _format_part(part: Any) -> str:
    """Return a label or a similarity as it is shown."""
    if isinstance(part, float):
        return f"{part:.2f}"
    return str(part)


# ---- images of items ------------------------------------------------------------------


def fill_address(template: str, id_: str, write: Callable[[str], str] = str) -> str:
    """Insert an id, with leading zeros if required, into a path or an address.

    Parameters
    ----------
    template : str
        Contains ``{id}`` or, for an id with 12 digits, ``{id:012d}``.
    id_ : str
    write : callable
        Escapes the id. By default it is inserted as it is.

    Examples
    --------
    >>> fill_address("images/{id:012d}.jpg", "42"), fill_address("images/{id}.jpg", "42")
    ('images/000000000042.jpg', 'images/42.jpg')
    """
    filled = ""
    start = 0
    for field in _ID_FIELD.finditer(template):
        width = int(field[1] or 0)
        filled += template[start : field.start()] + write(id_.zfill(width))
        start = field.end()
    return filled + template[start:]


def has_place_of_id(template: str) -> bool:
    """Return whether a path or an address contains ``{id}``."""
    return _ID_FIELD.search(template) is not None


class Pictures:
    """Image files that are named by the ids of items.

    An id cannot lead to a file outside the folder.

    Parameters
    ----------
    images : str
        The folder, or a path that contains ``{id}``, or ``{id:012d}`` if file names fill
        ids with zeros to 12 digits.

    Raises
    ------
    InputError
        If the folder does not exist.
    """

    def __init__(self, images: str) -> None:
        id_field = _ID_FIELD.search(images)
        if id_field is None:
            self.template = f"{images}/{{id}}"
            folder = Path(images)
        else:
            self.template = images
            # The letter completes the name of a file, also if the id begins the name.
            before_id = images[: id_field.start()]
            folder = Path(f"{before_id}x").parent
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            remedy = "name a folder, or a path such as 'images/{id}.jpg' or 'images/{id:012d}.jpg'"
            raise InputError("missing-file", images, remedy=remedy)

    def find(self, id: str) -> Path | None:
        """Return the file of an item, or None.

        The extension in the id and the extension of the file may differ.
        """
        stems = [id]
        extension = Path(id).suffix
        if extension.lower() in _IMAGE_EXTENSIONS:
            stems.append(id.removesuffix(extension))
        for stem in stems:
            path_without_extension = fill_address(self.template, stem)
            for extension in _IMAGE_EXTENSIONS:
                path = self._find_file(path_without_extension + extension)
                if path is not None:
                    return path
        return None

    def _find_file(self, name: str) -> Path | None:
        """Return the path of a file if it exists inside the folder."""
        if not os.path.isfile(name):  # noqa: PTH113 - accepts names that are too long
            return None
        path = Path(name)
        if self.folder not in path.resolve().parents:
            return None
        return path


def is_picture(path: Path) -> bool:
    """Return whether a file begins like a JPEG, PNG, WebP, GIF or BMP file."""
    with path.open("rb") as file:
        return file.read(8).startswith(_IMAGE_SIGNATURES)


class Thumbnails:
    """Thumbnails of the images of items, as ``data:`` addresses.

    Parameters
    ----------
    images : str, optional
        As for `Pictures`. Default: no thumbnails.
    """

    def __init__(self, images: str | None) -> None:
        self.pictures: Pictures | None = None
        self.addresses: dict[str, str] = {}
        """The address of each item that was looked up, or an empty string."""
        self.ids_by_problem: dict[str, list[str]] = {}
        """The items without a thumbnail, by the reason."""
        self.n_bytes = 0
        if images is None:
            return
        if importlib.util.find_spec("PIL") is None:
            raise MissingDependencyError("pillow", "showing images", extra="html")
        self.pictures = Pictures(images)

    def find(self, id: str) -> str:
        """Return the address of the thumbnail of an item, or an empty string."""
        if self.pictures is None:
            return ""
        if id not in self.addresses:
            try:
                self.addresses[id] = self._make_thumbnail(id, self.pictures)
            except _NoThumbnailError as error:
                self.addresses[id] = ""
                self.ids_by_problem.setdefault(error.reason, []).append(id)
        return self.addresses[id]

    def _make_thumbnail(self, id: str, pictures: Pictures) -> str:
        """Return the address of a new thumbnail."""
        n_without_thumbnail = sum(map(len, self.ids_by_problem.values()))
        n_thumbnails = len(self.addresses) - n_without_thumbnail
        if n_thumbnails >= _MAX_THUMBNAILS or self.n_bytes >= _MAX_THUMBNAIL_BYTES:
            raise _NoThumbnailError("the report has enough")
        path = pictures.find(id)
        if path is None:
            raise _NoThumbnailError(_no_file(pictures))
        jpeg = _shrink_picture(path)
        self.n_bytes += len(jpeg)
        return f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"

    def notes(self) -> list[str]:
        """Return notes on the items without a thumbnail.

        Raises
        ------
        InputError
            If no item has an image in the folder.
        """
        if self.pictures is not None:
            self._check_files(self.pictures)
        facts = []
        for reason, ids in self.ids_by_problem.items():
            fact = Fact("no-thumbnail", len(ids), tuple(ids), values={"why": reason})
            facts.append(fact)
        return render_facts(facts)

    def _check_files(self, pictures: Pictures) -> None:
        """Raise an error if items were looked up and no item has a file."""
        ids_without_file = self.ids_by_problem.get(_no_file(pictures), [])
        if not ids_without_file or len(ids_without_file) < len(self.addresses):
            return
        example = ids_without_file[0]
        remedy = f"name the pictures after the ids, such as {visible(example)}"
        if example.isdecimal():
            remedy += ". For names with leading zeros write 'images/{id:012d}.jpg' (12 digits)"
        raise InputError("missing-file", pictures.template, remedy=remedy)


class _NoThumbnailError(Exception):
    """An item has no thumbnail."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def _no_file(pictures: Pictures) -> str:
    """Return the reason why an item without a file has no thumbnail."""
    return f"no file of {pictures.template}"


def _shrink_picture(path: Path) -> bytes:
    """Return an image file as a small JPEG."""
    from PIL import Image, ImageOps

    size = (_MAX_THUMBNAIL_PIXELS, _MAX_THUMBNAIL_PIXELS)
    out = io.BytesIO()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Pillow warns of images that are too large
            with Image.open(path, formats=_IMAGE_FORMATS) as picture:
                picture.draft("RGB", size)
                picture.thumbnail(size)
                upright = ImageOps.exif_transpose(picture)
                upright.convert("RGB").save(out, "JPEG")
    except Exception as error:  # damaged files raise errors of many kinds
        raise _NoThumbnailError("the file cannot be read") from error
    return out.getvalue()
