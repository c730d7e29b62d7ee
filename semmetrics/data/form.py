"""What files look like: how a kind writes its values, and what a user says of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from semmetrics.data.source import shown
from semmetrics.errors import InputError, listing

__all__ = [
    "CAPTION_JSON_ROLES",
    "CAPTION_TABLE_ROLES",
    "DEFAULTS",
    "EXTENSIONS",
    "FORMATS",
    "Form",
    "JSON_ROLES",
    "TABLE_ROLES",
    "ReadOptions",
    "Role",
    "assign",
    "check_classes",
    "columns_not_used",
    "columns_used",
    "unused",
]

FORMATS = ("json", "jsonl", "csv", "tsv", "parquet", "npy", "npz", "coco", "txt")
EXTENSIONS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".npy": "npy",
    ".npz": "npz",
    ".txt": "txt",
}


class Role(NamedTuple):
    """What a column is for, the names it is known by, and whether it must be there."""

    known: tuple[str, ...]
    required: bool = True


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the values of a kind are written; each kind has one.

    Attributes
    ----------
    noun : str
        What an entry is called: "label".
    columns, keys : tuple of str
        The names of its column in tables, and of its key in JSON records.
    synonyms : bool
        Whether an entry may be a list of synonyms, or have a score.
    single : bool
        Whether a string alone is an item with one entry.
    blank : bool
        Whether an entry may be an empty text.
    """

    noun: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    synonyms: bool = False
    single: bool = False
    blank: bool = False


TABLE_ROLES: Mapping[str, Role] = {
    "id": Role(("id", "image_id", "img_id", "image", "img", "item", "item_id", "filename")),
    "label": Role(("label", "labels", "name", "names", "class", "category", "tag", "tags")),
    "score": Role(
        ("score", "scores", "conf_level", "confidence", "conf", "prob", "probability"), False
    ),
}
JSON_ROLES: Mapping[str, Role] = {
    "id": Role(("id", "image_id", "img_id")),
    "label": Role(("labels", "names", "tags", "categories")),
    "score": Role(("scores",), False),
}
_CAPTION = ("caption", "captions", "text", "sentence", "sentences", "reference", "references")
CAPTION_TABLE_ROLES: Mapping[str, Role] = {
    "id": TABLE_ROLES["id"],
    "caption": Role((*_CAPTION, "comment")),
}
CAPTION_JSON_ROLES: Mapping[str, Role] = {
    "id": JSON_ROLES["id"],
    "caption": Role((*_CAPTION, "refs")),
}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file; every default is "as the file says".

    Parameters
    ----------
    format : str, optional
        One of `FORMATS`; "txt" holds captions only. None takes it from the extension (".gz"
        aside), and on standard input from the content.
    id_column, label_column, score_column, caption_column : str, optional
        Columns of a table, or keys of JSON records. None recognises them by name, in any case:
        `TABLE_ROLES` and `JSON_ROLES`, and of captions `CAPTION_TABLE_ROLES` and
        `CAPTION_JSON_ROLES`, list the names.
    delimiter : str, optional
        The character between CSV cells; None is a comma, or a tab for TSV.
    label_delimiter : str, optional
        CSV with one row an item: what stands between the labels in a cell, and between their
        scores. None is one row a label.
    max_line_bytes : int
        The longest line of CSV and JSONL, in UTF-8, and the longest CSV cell.
    max_bytes : int
        The most bytes to read, after decompression.
    classes : sequence of str, optional
        The class of each column of a matrix.

    Examples
    --------
    >>> ReadOptions(format="xml")
    Traceback (most recent call last):
    semmetrics.errors.InputError: option format: 'xml' is no format that can be read; use one of
    json, jsonl, csv, tsv, parquet, npy, npz, coco, txt
    """

    format: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    score_column: str | None = None
    caption_column: str | None = None
    delimiter: str | None = None
    label_delimiter: str | None = None
    max_line_bytes: int = 64 * 2**20
    max_bytes: int = 4 * 2**30
    classes: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise InputError(
                f"{self.format!r} is no format that can be read",
                where="option format",
                remedy=f"use one of {', '.join(FORMATS)}",
            )
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n\0\ufeff'
        ):
            raise InputError(
                f"{self.delimiter!r} cannot separate cells",
                where="option delimiter",
                remedy="give one character; for tabs use format='tsv' (--input-format tsv)",
            )
        if self.label_delimiter == "":
            raise InputError("it is empty", where="option label_delimiter", remedy="give a text")
        for option in ("max_line_bytes", "max_bytes"):
            if getattr(self, option) < 1:
                raise InputError("it must be positive", where=f"option {option}")
        if isinstance(self.classes, str):
            raise InputError("a text is no list", where="option classes", remedy="read its file")
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))
            check_classes(self.classes, "option classes")

    def beside(self) -> ReadOptions:
        """Return the options for class lists, weights and matrices, whose format is their own."""
        return ReadOptions(
            id_column=self.id_column,
            delimiter=self.delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )


DEFAULTS = ReadOptions()


def unused(options: ReadOptions, names: Iterable[str], kind: str) -> list[str]:
    """A note on those of the options that were given and do not apply, if there are any."""
    given = [name for name in names if getattr(options, name) is not None]
    return [f"options that do not apply to {kind}: {', '.join(given)}"] if given else []


def columns_used(names: Sequence[str], roles: Mapping[str, int]) -> str:
    """Which column plays which role, for a message."""
    return ", ".join(f"{role} {names[i]!r}" for role, i in roles.items())


def columns_not_used(names: Sequence[str], roles: Mapping[str, int]) -> list[str]:
    """A note on the columns without a role, if there are any."""
    extra = [name for i, name in enumerate(names) if i not in roles.values()]
    return [f"columns not used: {', '.join(map(shown, extra))}"] if extra else []


def check_classes(
    classes: Sequence[str], where: str, unit: str = "class {} (from 0)", start: int = 0
) -> None:
    """Refuse a class that is no text, is empty or stands twice."""
    first: dict[str, int] = {}
    for number, name in enumerate(classes, start):
        place = f"{where}, {unit.format(number)}"
        if not isinstance(name, str):
            raise InputError(
                f"a name is expected, not {type(name).__name__}", where=place, remedy="write text"
            )
        if not name.strip():
            raise InputError(
                "the class is empty", where=place, remedy="each position is a column: name it"
            )
        if first.setdefault(name, number) != number:
            raise InputError(
                f"{name!r} is also {unit.format(first[name])}",
                where=place,
                remedy="name each class once",
            )


def assign(
    roles: Mapping[str, Role], names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Find which column plays which role; a role that is not required may be absent.

    Examples
    --------
    >>> assign(TABLE_ROLES, ["img_id", "label", "conf_level", "api"], DEFAULTS, "a.csv")
    {'id': 0, 'label': 1, 'score': 2}
    """
    chosen = {role: getattr(options, f"{role}_column") for role in roles}
    taken = {name for name in chosen.values() if name is not None}
    found: dict[str, int] = {}
    for role, (known, required) in roles.items():
        name, flag = chosen[role], f"{role}_column (--{role}-column)"
        if name is not None:
            hits = [i for i, column in enumerate(names) if column == name]
        else:
            hits = [
                i
                for i, column in enumerate(names)
                if column.strip().casefold() in known and column not in taken
            ]
        if len(hits) > 1:
            raise InputError(
                f"{len(hits)} columns could be the {role}: {listing(names[i] for i in hits)}",
                where=where,
                remedy=f"choose one with {flag}" if name is None else "rename one of them",
            )
        if hits:
            found[role] = hits[0]
        elif required or name is not None:
            sought = listing([name]) if name is not None else f"any of {', '.join(known)}"
            raise InputError(
                f"there is no {role} column: sought {sought}, found {listing(names, most=12)}",
                where=where,
                remedy=f"name it with {flag}; a table needs a header in its first line",
            )
    return found
