"""Pages that need nothing else: a report of a result, and the frame that annotation pages share.

Conventions
-----------
A page holds its styles, script, figures and pictures, and its content-security policy lets it load
nothing. Everything from the input is escaped.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import io
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from semmetrics.errors import (
    Fact,
    InputError,
    MissingDependencyError,
    render_facts,
    require,
)
from semmetrics.messages import visible

# of a thumbnail's side, and of all thumbnails
_PIXELS, _PICTURES, _BYTES = (
    160,
    200,
    4 * 2**20,
)
# Pillow would start Ghostscript for EPS
_FORMATS = (
    "JPEG",
    "PNG",
    "WEBP",
    "GIF",
    "BMP",
)
# of the same formats
_SIGNATURES = (
    b"\xff\xd8\xff",
    b"\x89PNG",
    b"RIFF",
    b"GIF8",
    b"BM",
)
_ENDINGS = ("", ".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp")
_ID = re.compile(r"\{id(?::0(\d{1,2})d)?\}")  # {id}, or {id:012d} for leading zeros
# what predictions are compared with
_TRUE = (
    "true",
    "positives",
    "class",
    "references",
)
_ABOVE = (
    "system",
    "baseline",
    "measure",
    "id",
    "value",
    "baseline_value",
    "difference",
)
_MOST = 50  # labels or captions of an item


def fill_page(
    title: str, body: str, script: str, *, images: str = "data:", data: str = ""
) -> str:
    """Return a page of its own: HTML that runs the script of that name and loads nothing.

    Parameters
    ----------
    title : str
    body, data : str
        HTML; whatever comes from input is escaped in it.
    script : {"report", "annotation"}
    images : str
        Where images may come from, as a content-security policy has it.
    """
    code = _read(f"{script}.js")
    digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
    known = {
        "title": escape(visible(title)),
        "body": body,
        "data": data,
        "script": code,
    }
    return Template(_read("page.html")).substitute(known, hash=digest, images=images)


def _read(name: str) -> str:
    return resources.files("semmetrics.reports").joinpath(name).read_text("utf-8")


def write_report(
    *,
    examples: Mapping[str, Iterable[Mapping[str, Any]]],
    folded: dict[str, Sequence[str]],
    images: str | None = None,
    digits: int = 4,
    **parts: Any,
) -> str:
    """Return a report as HTML: a page that needs no other file and no network.

    Parameters
    ----------
    examples : mapping from title to records of items
    folded : dict from title to lines
    images : str, optional
        A folder of images called by the ids of items, or a path with ``{id}`` or ``{id:012d}`` in
        it. They are shown beside their items as thumbnails of at most 160 pixels.
    digits : int
    **parts
        What else ``report.html`` shows.
    """
    jinja = require("jinja2", "a report", extra="html")
    pictures = Thumbnails(images)
    items = {
        name: [_item(row, pictures, digits) for row in rows]
        for name, rows in examples.items()
    }
    folded["Notes"] = [*folded.get("Notes", ()), *pictures.notes()]
    environment = jinja.Environment(
        autoescape=True, undefined=jinja.StrictUndefined, finalize=_shown
    )
    body = environment.from_string(_read("report.html")).render(
        examples=items, folded=folded, **parts
    )
    return fill_page(parts["title"], body, "report")


def _shown(value: Any) -> Any:
    """Write out control characters, and what else a text would hide."""
    return visible(value) if type(value) is str else value


def _item(
    record: Mapping[str, Any], pictures: Thumbnails, digits: int
) -> dict[str, Any]:
    """Return an item: its value, and its labels or captions, each with whether it matched."""
    values = {name.replace("_", " "): record.get(name) for name in _ABOVE}
    numbers = ", ".join(
        f"{name} {value:.{digits}f}"
        for name, value in values.items()
        if isinstance(value, float)
    )
    sides: tuple[set[str], set[str]] = (set(), set())
    fields: dict[str, list[Any]] = {}
    for name, value in record.items():
        if name not in _ABOVE and value is not None and (value or name != "matches"):
            fields[name] = value if isinstance(value, list) else [value]
            if "matches" not in record:  # what is equal matches
                sides[name in _TRUE].update(
                    one for one in fields[name] if isinstance(one, str)
                )
    for name, some in [*fields.items()]:
        if name.removeprefix("baseline_") == "matches":  # label, label, similarity
            for side, place in zip(sides, (1, 0), strict=True):
                side.update(pair[place] for pair in some)
    chips = [
        (name.replace("_", " "), [*_chips(some, sides[name not in _TRUE])])
        for name, some in fields.items()
    ]
    of = [
        record["system"],
        *([f"against {record['baseline']}"] if "baseline" in record else []),
    ]
    return {
        "id": record["id"],
        "value": f"{' '.join(of)}, {record['measure']}: {numbers}",
        "fields": chips,
        "picture": pictures.find(str(record["id"])),
    }


def _chips(some: Sequence[Any], others: Set[str]) -> Iterator[tuple[str, bool]]:
    """Yield texts, each with whether the other side has it."""
    for one in some[:_MOST]:
        parts = one if isinstance(one, (list, tuple)) else [one]
        texts = [
            f"{part:.2f}" if isinstance(part, float) else str(part) for part in parts
        ]
        yield " ~ ".join(texts), isinstance(one, str) and one in others
    if len(some) > _MOST:
        yield f"and {len(some) - _MOST:,} more", False


def fill_address(template: str, id_: str, write: Callable[[str], str] = str) -> str:
    """Put an id into a path or an address, also with leading zeros.

    Examples
    --------
    >>> fill_address("images/{id:012d}.jpg", "42"), fill_address("images/{id}.jpg", "42")
    ('images/000000000042.jpg', 'images/42.jpg')
    """
    return _ID.sub(lambda found: write(id_.zfill(int(found[1] or 0))), template)


def has_place_of_id(template: str) -> bool:
    """Tell whether a path or an address has a place for the id."""
    return _ID.search(template) is not None


class Pictures:
    """Files of pictures that are called by the ids of items.

    Only files of the folder are found, whatever an id says.

    Parameters
    ----------
    images : str
        The folder, or a path with ``{id}`` in it, or ``{id:012d}`` for ids that file names fill
        with zeros to 12 digits.

    Raises
    ------
    InputError
        If there is no such folder.
    """

    def __init__(self, images: str) -> None:
        place = _ID.search(images)
        self.template = f"{images}/{{id}}" if place is None else images
        folder = (
            Path(images)
            if place is None
            else Path(f"{images[: place.start()]}x").parent
        )
        self.folder = folder.resolve()
        if not self.folder.is_dir():
            remedy = "name a folder, or a path such as 'images/{id}.jpg' or 'images/{id:012d}.jpg'"
            raise InputError("missing-file", images, remedy=remedy)

    def find(self, id: str) -> Path | None:
        """Return the file of an item; the extension of an id may differ from the file's."""
        ending = Path(id).suffix
        stems = [id, id.removesuffix(ending)] if ending.lower() in _ENDINGS else [id]
        for stem in stems:
            for end in _ENDINGS:
                name = fill_address(self.template, stem) + end
                if os.path.isfile(name):  # noqa: PTH113 - it takes names that are too long
                    path = Path(name)
                    if self.folder in path.resolve().parents:
                        return path
        return None


def is_picture(path: Path) -> bool:
    """Tell whether a file begins as a JPEG, PNG, WebP, GIF or BMP file does."""
    with path.open("rb") as file:
        return file.read(8).startswith(_SIGNATURES)


class Thumbnails:
    """Pictures of items, as addresses that hold their data."""

    def __init__(self, images: str | None) -> None:
        self.template, self.made, self.size = images, dict[str, str](), 0
        self.absent: dict[str, list[str]] = {}
        if images is None:
            return
        if importlib.util.find_spec("PIL") is None:
            raise MissingDependencyError("pillow", "showing images", extra="html")
        self.pictures = Pictures(images)
        self.template = self.pictures.template

    def find(self, id: str) -> str:
        """Return the picture of an item; "" if there is none."""
        if self.template is not None and id not in self.made:
            self.made[id], why = self._make(id)
            if why:
                self.absent.setdefault(why, []).append(id)
        return self.made.get(id, "")

    def _make(self, id: str) -> tuple[str, str]:
        """Return a picture, or why there is none."""
        shown = len(self.made) - sum(map(len, self.absent.values()))
        if shown >= _PICTURES or self.size >= _BYTES:
            return "", "the report has enough"
        path = self.pictures.find(id)
        if path is None:
            return "", f"no file of {self.template}"
        from PIL import Image, ImageOps

        out = io.BytesIO()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")  # of pictures that are too large
                with Image.open(path, formats=_FORMATS) as picture:
                    picture.draft("RGB", (_PIXELS, _PIXELS))
                    picture.thumbnail((_PIXELS, _PIXELS))
                    ImageOps.exif_transpose(picture).convert("RGB").save(out, "JPEG")
        except Exception:  # whatever a damaged file makes of Pillow
            return "", "the file cannot be read"
        self.size += out.tell()
        return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}", ""

    def notes(self) -> list[str]:
        """Say how many items have no picture, and why; refuse a folder that has none."""
        lost = self.absent.get(f"no file of {self.template}", ())
        if lost and len(lost) == len(self.made):
            remedy = f"pictures are called by the ids, such as {visible(lost[0])}"
            if lost[0].isdecimal():
                remedy += "; for names with leading zeros write 'images/{id:012d}.jpg' (12 digits)"
            raise InputError("missing-file", self.template, remedy=remedy)
        facts = (
            Fact("no-thumbnail", len(ids), tuple(ids), values={"why": why})
            for why, ids in self.absent.items()
        )
        return render_facts(facts)
