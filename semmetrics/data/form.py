"""What files look like: how a kind writes its values, and what a user says of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import fields
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_fields
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import listing, shown
from semmetrics.options import FORMATS

__all__ = [
    "DEFAULTS",
    "EXTENSIONS",
    "IDS",
    "MATRICES",
    "RECORD_IDS",
    "TABLES",
    "Form",
    "ReadOptions",
    "Role",
    "assign",
    "canonical_id",
    "check_classes",
    "column_among",
    "is_iterable",
    "is_one_hot",
    "number",
    "truth_options",
    "unused",
]

TABLES, MATRICES = ("csv", "tsv"), ("npy", "npz", "hdf5")
EXTENSIONS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".npy": "npy",
    ".npz": "npz",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".txt": "txt",
    ".token": "flickr",
    ".trec": "trec",
    ".run": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
}
RECORD_IDS = ("id", "image_id", "img_id")
IDS = (*RECORD_IDS, "image", "img", "item", "item_id", "filename")
_APART = (  # roles
    ("id", "label"),
    ("id", "score"),
    ("label", "score"),
    ("id", "caption"),
    ("id", "candidate"),
    ("candidate", "score"),
)
_SCORES = ("score", "scores", "conf_level", "confidence", "conf", "prob", "probability")


class Role(NamedTuple):
    """The names that a column is known by, whether it must be there, and what messages call it."""

    known: tuple[str, ...]
    required: bool = True
    what: str = ""


@dataclass(frozen=True, kw_only=True)
class Form:
    """How the values of a kind are written; each kind has one.

    Attributes
    ----------
    noun : str
        What an entry is called: "label". The option ``label_column`` names its column.
    columns, keys : tuple of str
        The names of its column in tables, and of its key in JSON records.
    formats : tuple of str
        The formats it is read from.
    coco : callable or None
        Reads the content of a COCO file called by a name.
    is_coco : callable
        Whether a mapping is such a file.
    scored : bool
        Whether entries may have scores and synonyms, and stand several in a cell.
    single : bool
        Whether a text alone is an item with one entry; several records of an id are one item.
    blank : bool
        Whether an entry may be an empty text; otherwise an empty cell is an item without entries.
    first_id : str or None
        The id column that goes before others.
    ids, scores : tuple of str
        More names that the column of ids, or of scores, is known by.
    numbered : bool
        Whether entries may be whole numbers, which are then names; lists of other numbers are the
        rows of a matrix, whose values may be any.
    by_block : bool
        Whether what uses a matrix checks that its numbers are finite, a block at a time, so that
        a large file is read once.
    """

    noun: str
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    formats: tuple[str, ...] = tuple(FORMATS)
    coco: Callable[[Mapping[str, Any], str], Any] | None = None
    is_coco: Callable[[Mapping[Any, Any]], bool] = lambda value: False
    scored: bool = False
    single: bool = False
    blank: bool = False
    first_id: str | None = None
    ids: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    numbered: bool = False
    by_block: bool = False

    @property
    def alone(self) -> bool:
        """Whether a whole number alone is an item with one entry."""
        return self.single and self.numbered

    @property
    def table(self) -> dict[str, Role]:
        """The roles of the columns of a table."""
        scores = Role((*self.scores, *_SCORES), False)
        return self._roles(Role((*self.ids, *IDS)), Role(self.columns), scores)

    @property
    def record(self) -> dict[str, Role]:
        """The roles of the keys of a JSON record."""
        ids, scores = (*self.ids, *RECORD_IDS), (*self.scores, "scores")
        return self._roles(Role(ids), Role(self.keys), Role(scores, False))

    def _roles(self, id_: Role, value: Role, score: Role) -> dict[str, Role]:
        roles = {"id": id_, self.noun: value}
        return {**roles, "score": score} if self.scored else roles


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How to read a file; every default is "as the file says".

    Parameters
    ----------
    format : str, optional
        One of `FORMATS`; "txt" holds captions only. None takes it from the extension (".gz"
        aside), and on standard input from the content.
    id_column, label_column, score_column, caption_column, candidate_column : str, optional
        Columns of a table, or keys of JSON records. None recognises them by name, in any case.
    delimiter : str, optional
        The character between CSV cells; None is a comma, or a tab for TSV.
    label_delimiter : str, optional
        CSV with one row an item: what stands between the labels in a cell, and between their
        scores. None is one row a label. It holds for both sides; what is
        read says in how many rows there are several.
    max_line_bytes : int
        The longest line of CSV and JSONL, in UTF-8, and the longest CSV cell.
    max_bytes : int
        The most bytes to read, after decompression, and the most memory that what is made of them
        may take (1 GiB is always allowed). An embedding may have 16 times as many bytes.
    classes : sequence of str, optional
        The class of each column of a matrix.
    split : str, optional
        The split of Karpathy's JSON that is read; None is all.

    Examples
    --------
    >>> ReadOptions(format="xml")
    Traceback (most recent call last):
    semmetrics.errors.InputError: option format: 'xml' is no format that can be read; use one of
    json, jsonl, csv, tsv, parquet, arrow, npy, npz, coco, txt, flickr
    """

    format: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    score_column: str | None = None
    caption_column: str | None = None
    candidate_column: str | None = None
    delimiter: str | None = None
    label_delimiter: str | None = None
    max_line_bytes: int = 64 * 2**20
    max_bytes: int = 4 * 2**30
    classes: Sequence[Any] | None = None
    split: str | None = None

    def __post_init__(self) -> None:
        check_fields(self)
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
        self._check_columns()
        if self.label_delimiter == "":
            raise InputError("it is empty", where="option label_delimiter", remedy="give a text")
        for option in ("max_line_bytes", "max_bytes"):
            if getattr(self, option) < 1:
                raise InputError(
                    "it must be positive", where=f"option {option}", remedy="give bytes, from 1"
                )
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))
            check_classes(self.classes, "option classes")

    def _check_columns(self) -> None:
        """Refuse one column for two roles of a table."""
        for one, role in _APART:
            name = self.column(role)
            if name is not None and name == self.column(one):
                flags = (f"{option}_column (--{option}-column)" for option in (one, role))
                raise InputError(
                    f"{name!r} is also the {one} column",
                    where=f"option {role}_column",
                    remedy=f"name another column with {' or '.join(flags)}",
                )

    def beside(self) -> ReadOptions:
        """Return the options for class lists, weights and matrices, whose format is their own."""
        return ReadOptions(
            id_column=self.id_column,
            delimiter=self.delimiter,
            max_line_bytes=self.max_line_bytes,
            max_bytes=self.max_bytes,
        )

    def column(self, role: str) -> str | None:
        """Return the column that was named for a role."""
        name: str | None = getattr(self, f"{role}_column", None)
        return name


class _TruthOptions(ReadOptions):
    """How to read the ground truth, which may lack the column of scores."""


DEFAULTS = ReadOptions()


def truth_options(options: ReadOptions) -> ReadOptions:
    """Return the options for the ground truth, which may lack the column of scores."""
    return _TruthOptions(**{one.name: getattr(options, one.name) for one in fields(options)})


def column_among(options: ReadOptions, role: str, names: Sequence[str]) -> str | None:
    """Return the column that was named for a role, if it is among those names or must be."""
    name, truth = options.column(role), isinstance(options, _TruthOptions)
    return None if truth and role == "score" and name not in names else name


def unused(options: ReadOptions, names: Iterable[str], kind: str) -> list[str]:
    """Write a note on those of the options that were given and do not apply, if there are any."""
    given = [name for name in names if getattr(options, name, None) is not None]
    return [f"options that do not apply to {kind}: {', '.join(given)}"] if given else []


def is_iterable(value: object) -> bool:
    """Tell whether there is something to go through; an array of no dimension says that it is."""
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def is_one_hot(
    names: Sequence[str], form: Form, options: ReadOptions, numbers: Set[str] = frozenset()
) -> bool:
    """Tell whether a table with a column of ids has one for each label, by its columns' names.

    It has a column that is called neither as ids, labels nor scores are, and none that is called,
    or was named, as scores are; or as labels are, unless that holds numbers.

    Parameters
    ----------
    names : sequence of str
    form : Form
    options : ReadOptions
    numbers : set of str
        The columns that hold numbers; of a text file, where every cell is a text, none.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> is_one_hot(["id", "cat"], form, DEFAULTS), is_one_hot(["id", "label"], form, DEFAULTS)
    (True, False)
    """
    roles = {role: known.known for role, known in form.table.items()}
    chosen = any(column_among(options, role, names) is not None for role in roles if role != "id")
    if chosen or MATRICES[0] not in form.formats:
        return False
    others = []
    for name in names:
        known = [role for role, some in roles.items() if name.strip().casefold() in some]
        if "score" in known or (form.noun in known and name not in numbers):
            return False
        if not known and name != options.id_column:
            others.append(name)
    return bool(others)


def check_classes(
    classes: Sequence[Any],
    where: str,
    unit: str = "{noun} {} (from 0)",
    start: int = 0,
    noun: str = "class",
) -> None:
    """Refuse a class that is no text, is empty or stands twice."""
    first: dict[str, int] = {}
    noun = noun.removesuffix(" name")
    unit = unit.replace("{noun}", noun)
    for number, name in enumerate(classes, start):
        if not isinstance(name, str):
            problem, remedy = f"a name is expected, not {type(name).__name__}", "write text"
        elif not name.strip():
            problem, remedy = f"the {noun} is empty", "each position is a column: name it"
        elif first.setdefault(name, number) != number:
            problem = f"{name!r} is also {unit.format(first[name])}"
            remedy = f"name each {noun} once"
        else:
            continue
        raise InputError(problem, where=f"{where}, {unit.format(number)}", remedy=remedy)


def assign(
    roles: Mapping[str, Role],
    names: Sequence[str],
    options: ReadOptions,
    where: str,
    first_id: str | None = None,
) -> dict[str, int]:
    """Find which column plays which role; a role that is not required may be absent.

    Examples
    --------
    >>> roles = {"id": Role(IDS), "caption": Role(("caption",))}
    >>> assign(roles, ["id", "image_id", "caption"], DEFAULTS, "a.csv", "image_id")
    {'id': 1, 'caption': 2}
    """
    chosen = {role: column_among(options, role, names) for role in roles}
    folded = list(map(str.casefold, map(str.strip, names)))
    first = [names[i] for i in _places(folded, {first_id})]
    if len(first) == 1 and chosen["id"] is None and first[0] not in chosen.values():
        chosen["id"] = first[0]
    taken = {name for name in chosen.values() if name is not None}
    found: dict[str, int] = {}
    for role, (known, required, what) in roles.items():
        name, flag = chosen[role], f"{role}_column (--{role}-column)"
        if name is not None:
            hits = _places(names, {name})
        else:
            hits = [i for i in _places(folded, set(known)) if names[i] not in taken]
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
                f"there is no {what or role} column: sought {sought}, "
                f"found {listing(names, most=12)}",
                where=where,
                remedy=_how_to_name(role, roles, names, where, name),
            )
    return found


def _how_to_name(
    role: str, roles: Mapping[str, Role], names: Sequence[str], where: str, name: str | None
) -> str:
    """Say how a column is found that no name is known of, or that has not the name given."""
    if name is None and {"caption", "tuples"} <= set(names):
        return "scene graphs of captions are given as tuples= (--tuples FILE)"
    flag, is_text = f"{role}_column (--{role}-column)", where.endswith("line 1")
    for sign in ";|\t," if is_text and len(names) == 1 else "":
        if sign in names[0]:
            quoted = "$'\\t'" if sign == "\t" else f"'{sign}'"
            what = "a tab" if sign == "\t" else repr(sign)
            return f"if {what} separates the cells, say delimiter={sign!r} (--delimiter {quoted})"
    reader = next(
        (f"as_{noun}s" for noun in ("label", "caption", "candidate") if noun in roles), ""
    )
    if name is not None and reader:
        call = f"{reader}(path, options=ReadOptions({role}_column=...))"
        return (
            f"if only one of the files has a column of that name, leave out {flag} and read that "
            f"file in Python: {call}"
        )
    what = roles[role].what
    remedy = f"call it {what}" if what else f"name it with {flag}"
    return f"{remedy}; a table needs a header in its first line" if is_text else remedy


def _places(names: Sequence[str], sought: Set[str | None]) -> list[int]:
    return [i for i, name in enumerate(names) if name in sought]


def canonical_id(value: object, where: str) -> str:
    """An id as text: 42 and "42" are the same item; anything but text and integers is refused."""
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        "the id is empty" if isinstance(value, str) else f"{shown(value)} is no id",
        where=where,
        remedy="an id is a text or an integer",
    )


def number(value: object, where: str, what: str = "score") -> float:
    """A finite float from a JSON number or the text of a cell."""
    try:
        if isinstance(value, bool | np.bool_) or (isinstance(value, str) and "_" in value):
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = float("nan")
    if result - result != 0:
        problem = f"the {what} is empty" if value == "" else f"the {what} {shown(value)} is no"
        tail = "" if value == "" else " finite number"
        truth = str(value).strip().casefold() in ("true", "false")
        remedy = "write 1 for true and 0 for false" if truth else f"write the {what} as 0.5"
        raise InputError(problem + tail, where=where, remedy=remedy) from None
    return result
