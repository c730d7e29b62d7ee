"""What files look like: how a kind writes its values, and what a user says of a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_fields
from semmetrics.errors import Fact, InputError
from semmetrics.options import FORMATS

TABLES, MATRICES = ("csv", "tsv"), ("npy", "npz", "hdf5")
_FORMATS = {
    "json": ".json", "jsonl": ".jsonl .ndjson", "csv": ".csv", "tsv": ".tsv .tab",
    "parquet": ".parquet .pq", "arrow": ".arrow .arrows .ipc .feather", "npy": ".npy",
    "npz": ".npz", "hdf5": ".h5 .hdf5", "txt": ".txt", "flickr": ".token",
    "trec": ".trec .run .qrels .qrel",
}  # fmt: skip
EXTENSIONS = {ending: kind for kind, endings in _FORMATS.items() for ending in endings.split()}
RECORD_IDS = ("id", "image_id", "img_id")
IDS = (*RECORD_IDS, "image", "img", "item", "item_id", "filename")
_DISTINCT = (("id", "label"), ("id", "score"), ("label", "score"), ("id", "caption"),
             ("id", "candidate"), ("candidate", "score"))  # fmt: skip
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
        The most bytes to read, after decompression. An embedding may have 16 times as many bytes.
    classes : sequence of str, optional
        The class of each column of a matrix.
    split : str, optional
        The split of Karpathy's JSON that is read; None is all.

    Examples
    --------
    >>> ReadOptions(format="xml")
    Traceback (most recent call last):
    semmetrics.errors.InputError: format='xml'; choose one of 'json', 'jsonl', 'csv', 'tsv',
    'parquet', 'arrow', 'npy', 'npz', 'coco', 'txt', 'flickr'
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
            raise InputError("bad-choice", name="format", value=self.format, choices=FORMATS)
        mark = self.delimiter
        one_mark = mark is None or (len(mark) == 1 and mark not in '"\r\n\0\ufeff')
        for name, right, wanted in (
            ("delimiter", one_mark, "one character; for tabs use the format tsv"),
            ("label_delimiter", self.label_delimiter != "", "a text that is not empty"),
            ("max_line_bytes", self.max_line_bytes >= 1, "a number of bytes, from 1"),
            ("max_bytes", self.max_bytes >= 1, "a number of bytes, from 1"),
        ):
            if not right:
                raise InputError("bad-option", name=name, value=getattr(self, name), wanted=wanted)
        for one, role in _DISTINCT:
            column = self.column(role)
            if column is not None and column == self.column(one):
                raise InputError("one-column-two-roles", name=column, roles=f"{one} and {role}")
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


def unused(options: ReadOptions, names: Iterable[str], what: str) -> list[Fact]:
    """Note those of the options that were given and do not apply, if there are any."""
    given = tuple(name for name in names if getattr(options, name, None) is not None)
    return [Fact("unused-options", len(given), given, values={"what": what})] if given else []


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
    """Raise if a class is not a string, is empty or appears twice."""
    first: dict[str, int] = {}
    noun = noun.removesuffix(" name")
    unit = unit.replace("{noun}", noun)
    for number, name in enumerate(classes, start):
        place = f"{where}, {unit.format(number)}"
        if not isinstance(name, str):
            raise InputError("wrong-type", place, value=name, wanted=f"the name of a {noun}")
        if not name.strip():
            raise InputError(
                "empty", place, role=f"the {noun}", remedy="each position is a column: name it"
            )
        if first.setdefault(name, number) != number:
            raise InputError("duplicate-at", place, role=repr(name), other=unit.format(first[name]))


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
            columns = [names[i] for i in hits]
            raise InputError("ambiguous-column", where, role=role, found=columns, flag=flag)
        if hits:
            found[role] = hits[0]
        elif name is not None or required:
            sign = next((sign for sign in ";|\t," if len(names) == 1 and sign in names[0]), "")
            other = bool(sign) and where.endswith("line 1")
            raise InputError(
                "other-delimiter" if other else "missing-column", where, role=what or role,
                wanted=name or ", ".join(known), found=names, flag=flag, sign=sign,
            )  # fmt: skip
    return found


def _places(names: Sequence[str], sought: Set[str | None]) -> list[int]:
    return [i for i, name in enumerate(names) if name in sought]


def canonical_id(value: object, where: str = "") -> str:
    """Return an id as text: 42 and "42" are the same; only strings and whole numbers are ids."""
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError("empty-id" if isinstance(value, str) else "wrong-id", where, value=value)


def number(value: object, where: str = "", what: str = "score") -> float:
    """Return a number, or the text of a cell, as a finite float."""
    try:
        if isinstance(value, bool | np.bool_) or (isinstance(value, str) and "_" in value):
            raise TypeError
        result = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        result = float("nan")
    if result - result != 0:
        role = f"the {what}"
        if value == "":
            raise InputError("empty", where, role=role, remedy="write a number such as 0.5")
        raise InputError("not-finite", where, role=role, value=value)
    return result
