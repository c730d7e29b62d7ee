"""Describe how inputs are written: the form of a kind's values, and a user's reading options."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar

from semmetrics.arguments import check_fields
from semmetrics.errors import Fact, InputError
from semmetrics.options import FORMATS, SIDED, SIDES
from semmetrics.schema import (
    COLUMN_FLAG,
    ID_NAMES,
    Column,
    Schema,
    as_grade,
    as_id,
    as_number,
)

TABLES = ("csv", "tsv")
MATRICES = ("npy", "npz", "hdf5")
_EXTENSIONS_BY_FORMAT = {
    "json": ".json",
    "jsonl": ".jsonl .ndjson",
    "csv": ".csv",
    "tsv": ".tsv .tab",
    "parquet": ".parquet .pq",
    "arrow": ".arrow .arrows .ipc .feather",
    "npy": ".npy",
    "npz": ".npz",
    "hdf5": ".h5 .hdf5",
    "txt": ".txt",
    "flickr": ".token",
    "trec": ".trec .run .qrels .qrel",
}
EXTENSIONS: dict[str, str] = {}
"""The format of each extension."""
for _format, _extensions in _EXTENSIONS_BY_FORMAT.items():
    EXTENSIONS.update(dict.fromkeys(_extensions.split(), _format))
RECORD_IDS = ("id", "image_id", "img_id")
FILE_ID = "file_name"
"""A column or key that is the id if there is no other id. The images of COCO have both."""
_FILE_KEYS = ("filename", "image", "img")
"""Keys of JSON records that are the id if there is no other id."""
_DISTINCT_ROLES = (
    ("id", "label"),
    ("id", "score"),
    ("label", "score"),
    ("id", "caption"),
    ("id", "candidate"),
    ("candidate", "score"),
)
SCORE_NAMES = (
    "score",
    "scores",
    "conf_level",
    "confidence",
    "conf",
    "prob",
    "probability",
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Form:
    """How the values of a kind are written. Each kind has one form.

    Attributes
    ----------
    noun : str
        Noun for an entry: "label". The option ``label_column`` names its column.
    columns, keys : tuple of str
        Names of the column of entries in tables, and of their key in JSON records.
    formats : tuple of str
        The formats that can be read.
    coco : callable or None
        Reads a COCO document. The second argument is the name of the file.
    is_coco : callable
        Returns whether a mapping is such a document.
    scored : bool
        Whether entries may have scores and synonyms, and a cell may contain several entries.
    single : bool
        Whether a single string is an item with one entry. Several records with the same id are then
        one item.
    blank : bool
        Whether an entry may be an empty string. If not, an empty cell is an item without entries.
    first_id : str or None
        Name of the id column that has priority over all others.
    first_column : str or None
        Name of the column of entries that has priority over all others.
    ids, scores : tuple of str
        Additional names of the column of ids, and of the column of scores.
    first_scores, last_scores : tuple of str
        Names of the column of scores with a higher priority, and with a lower priority.
    numbered : bool
        Whether integers are accepted as entries and converted to strings. Lists of other numbers
        are the rows of a matrix with arbitrary values.
    truths : bool
        Whether scores may be booleans, read as 1 and 0, or grades.
    places : bool
        Whether integers are accepted as entries and are positions in a class list, from 0.
    unknown : tuple of float
        Values in a 0/1 matrix that mean "not verified". NaN includes empty cells.
    by_block : bool
        Whether the matrix is checked for finite numbers block by block where it is used, so that a
        large file is read only once.
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
    first_column: str | None = None
    first_scores: tuple[str, ...] = ()
    last_scores: tuple[str, ...] = ()
    numbered: bool = False
    truths: bool = False
    unknown: tuple[float, ...] = ()
    places: bool = False
    by_block: bool = False

    @property
    def allows_nan(self) -> bool:
        """Whether cells of a matrix may be nan."""
        return any(value != value for value in self.unknown)

    @property
    def alone(self) -> bool:
        """Whether a single integer is an item with one entry."""
        return self.single and self.numbered

    @property
    def takes_matrices(self) -> bool:
        """Whether matrices of items x entries can be read."""
        return MATRICES[0] in self.formats

    @cached_property
    def table(self) -> Schema:
        """The columns of a table: ids, entries, and scores if the form has them."""
        ids = ((*self.ids, *ID_NAMES), FILE_ID)
        return self._schema(ids, self.columns, (*self.scores, *SCORE_NAMES))

    @cached_property
    def record(self) -> Schema:
        """The keys of a JSON record."""
        ids = ((*self.ids, *RECORD_IDS), FILE_ID, *_FILE_KEYS)
        return self._schema(ids, self.keys, (*self.scores, "scores"))

    def _schema(
        self,
        ids: tuple[str | tuple[str, ...], ...],
        entries: tuple[str, ...],
        scores: tuple[str, ...],
    ) -> Schema:
        """Return the columns, given their names in order of priority."""
        if self.first_id is not None:
            ids = (self.first_id, *ids)
        id_column = Column("id", ids, as_id)
        entry_names: tuple[str | tuple[str, ...], ...] = (entries,)
        if self.first_column is not None:
            entry_names = (self.first_column, entries)
        entry_column = Column(self.noun, entry_names)
        columns: tuple[Column, ...] = (id_column, entry_column)
        if self.scored:
            levels = (self.first_scores, scores, self.last_scores)
            score_names = tuple(level for level in levels if level)
            read = as_grade if self.truths else as_number
            columns += (Column("score", score_names, read, required=False),)
        return Schema(self.noun, columns, flag=COLUMN_FLAG)

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the columns. An option can name the column of each role."""
        return tuple(column.role for column in self.table.columns)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading files. By default, everything is inferred from the file.

    Parameters
    ----------
    format : str, optional
        One of `FORMATS`. "txt" is only for captions. The default is the format of the extension
        without ".gz", and for standard input the format of the content.
    id_column, label_column, score_column, caption_column, candidate_column : str, optional
        Columns of a table, or keys of JSON records. By default, they are recognised by their usual
        names, in any case.
    delimiter : str, optional
        The character between cells of CSV. The default is a comma, and for TSV a tab.
    label_delimiter : str, optional
        The text between the labels or scores in a cell, for CSV with one row for each item. By
        default each row is one label. It applies to both sides, and the description of the input
        has the number of rows with several labels.
    max_line_bytes : int
        The largest size of a line of CSV and JSONL, and of a cell of CSV, in UTF-8.
    max_bytes : int
        The largest number of bytes to read, after decompression. The limit of embeddings is 16
        times as high.
    classes : sequence of str, optional
        The class of each column of a matrix.
    split : str, optional
        The split of Karpathy's JSON. The default is all splits.
    pred, gt : ReadOptions, optional
        Formats, columns and delimiters only for the predictions or only for the ground truth. They
        take precedence. Their other fields are ignored.

    Examples
    --------
    >>> ReadOptions(format="xml")
    Traceback (most recent call last):
    semmetrics.errors.InputError: format='xml' is not valid. Choose one of json, jsonl, csv, tsv,
    parquet, arrow, npy, npz, hdf5, coco, txt, flickr, trec.
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
    pred: ReadOptions | None = None
    gt: ReadOptions | None = None

    side: ClassVar[str] = ""
    """The side that these options are for: "pred", "gt", or "" for both."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.format is not None and self.format not in FORMATS:
            raise InputError(
                "bad-choice", name="format", value=self.format, choices=FORMATS
            )
        self._check_values()
        self._check_roles()
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))
            check_classes(self.classes, "option classes")

    def _check_values(self) -> None:
        """Raise if a delimiter or a limit is not allowed."""
        wanted = None
        delimiter = self.delimiter
        if delimiter is not None and not _is_delimiter(delimiter):
            name = "delimiter"
            wanted = "one character. For tabs use the format tsv"
        elif self.label_delimiter == "":
            name = "label_delimiter"
            wanted = "a string that is not empty"
        elif self.max_line_bytes < 1:
            name = "max_line_bytes"
            wanted = "a positive number of bytes"
        elif self.max_bytes < 1:
            name = "max_bytes"
            wanted = "a positive number of bytes"
        if wanted is not None:
            raise InputError(
                "bad-option", name=name, value=getattr(self, name), wanted=wanted
            )

    def _check_roles(self) -> None:
        """Raise if one column is named for two roles."""
        for first_role, second_role in _DISTINCT_ROLES:
            column = self.column(second_role)
            if column is not None and column == self.column(first_role):
                roles = f"{first_role} and {second_role}"
                raise InputError("one-column-two-roles", name=column, roles=roles)

    def beside(self) -> ReadOptions:
        """Return the options for class lists, weights and matrices, which have their own format."""
        shared = ("id_column", "delimiter", "max_line_bytes", "max_bytes")
        return ReadOptions(**{name: getattr(self, name) for name in shared})

    def column(self, role: str) -> str | None:
        """Return the column that the options name for a role."""
        name: str | None = getattr(self, f"{role}_column", None)
        return name


def _is_delimiter(text: str) -> bool:
    """Return whether a string can separate the cells of CSV."""
    return len(text) == 1 and text not in '"\r\n\0\ufeff'


class _PredictionOptions(ReadOptions):
    """How to read predictions."""

    side = "pred"


class _TruthOptions(ReadOptions):
    """How to read the ground truth, which may have no column of scores."""

    side = "gt"


DEFAULTS = ReadOptions()


def make_read_options(given: Mapping[str, Any]) -> ReadOptions:
    """Return reading options from keywords, some of which are for one side, such as gt_id_column.

    Examples
    --------
    >>> options = make_read_options({"id_column": "key", "gt_id_column": "image"})
    >>> truth_options(options).id_column, prediction_options(options).id_column
    ('image', 'key')
    """
    shared: dict[str, Any] = {}
    fields_by_side: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    for name, value in given.items():
        side, _, field_name = name.partition("_")
        if side in SIDES and field_name in SIDED:
            fields_by_side[side][field_name] = value
        else:
            shared[name] = value
    for side, side_fields in fields_by_side.items():
        if any(value is not None for value in side_fields.values()):
            shared[side] = ReadOptions(**side_fields)
    return ReadOptions(**shared)


def _fields_for_side(options: ReadOptions, side: str) -> dict[str, Any]:
    """Return the values of all fields for one side."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    side_options = values[side]
    values["pred"] = None
    values["gt"] = None
    if side_options is None:
        return values
    for name in SIDED:
        value = getattr(side_options, name)
        if value is not None:
            values[name] = value
    return values


def prediction_options(options: ReadOptions) -> ReadOptions:
    """Return the options for predictions."""
    return _PredictionOptions(**_fields_for_side(options, "pred"))


def truth_options(options: ReadOptions) -> ReadOptions:
    """Return the options for the ground truth, which may have no column of scores."""
    return _TruthOptions(**_fields_for_side(options, "gt"))


def is_truth(options: ReadOptions) -> bool:
    """Return whether these are the options for the ground truth."""
    return isinstance(options, _TruthOptions)


def column_among(options: ReadOptions, role: str, names: Sequence[str]) -> str | None:
    """Return the column that the options name for a role, or None.

    A score column that only the predictions have is ignored in the ground truth.
    """
    name = options.column(role)
    if role == "score" and is_truth(options) and name not in names:
        return None
    return name


def unused(options: ReadOptions, names: Iterable[str], what: str) -> list[Fact]:
    """Return a note about those of the named options that are set, if there are any.

    Parameters
    ----------
    options : ReadOptions
    names : iterable of str
        Options that have no effect.
    what : str
        What they have no effect on, for the note.
    """
    set_names = tuple(
        name for name in names if getattr(options, name, None) is not None
    )
    if not set_names:
        return []
    return [Fact("unused-options", len(set_names), set_names, values={"what": what})]


def is_iterable(value: object) -> bool:
    """Return whether a value can be iterated. Arrays without dimensions cannot."""
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def is_one_hot(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
) -> bool:
    """Return whether a table has one column per label, judging by the names of its columns.

    A one-hot table has a column whose name is not a known name of ids, labels or scores. It has no
    column of scores, and none of labels unless that column contains numbers. No option names either.

    Parameters
    ----------
    names : sequence of str
    form : Form
    options : ReadOptions
    numbers : set of str
        Columns that contain numbers. Empty for text files, whose cells are all strings.
    classes : set of str
        Columns whose cells show that they are classes, whatever their name.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> is_one_hot(["id", "cat"], form, DEFAULTS), is_one_hot(["id", "label"], form, DEFAULTS)
    (True, False)
    """
    if not form.takes_matrices:
        return False
    for role in form.roles[1:]:
        if column_among(options, role, names) is not None:
            return False
    has_label_column = False
    for name in names:
        if name in classes:
            has_label_column = True
            continue
        roles = _roles_of_name(name, form)
        if "score" in roles or (form.noun in roles and name not in numbers):
            return False
        if not roles and name != options.id_column:
            has_label_column = True
    return has_label_column


def _roles_of_name(name: str, form: Form) -> list[str]:
    """Return the roles whose columns usually have this name."""
    folded = name.strip().casefold()
    return [column.role for column in form.table.columns if folded in column.known]


def find_id(
    names: Sequence[str], form: Form, options: ReadOptions, where: str
) -> int | None:
    """Return the position of the column of ids, or None if there is none."""
    id_column = form.table.columns[0]._replace(required=False)
    schema = form.table._replace(columns=(id_column,))
    return find_columns(schema, names, options, where).get("id")


def find_columns(
    schema: Schema, names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Return the position of the column of each role. Options may name columns.

    Examples
    --------
    >>> form = Form(noun="caption", columns=("caption",), keys=("caption",), first_id="image_id")
    >>> find_columns(form.table, ["id", "image_id", "caption"], DEFAULTS, "a.csv")
    {'id': 1, 'caption': 2}
    """
    chosen = {}
    for column in schema.columns:
        name = column_among(options, column.role, names)
        if name is not None:
            chosen[column.role] = name
    if chosen and options.side:
        # The other side may have other names, so the error proposes the option of this side.
        schema = schema._replace(flag=f"{options.side}_{schema.flag}")
    try:
        return schema.find(names, chosen, where)
    except InputError as error:
        if error.code == "other-delimiter" and options.side:
            error.values["option"] = f"{options.side}_delimiter"
        raise


def check_classes(
    classes: Sequence[Any],
    where: str,
    unit: str = "{noun} {} (from 0)",
    start: int = 0,
    noun: str = "class",
) -> None:
    """Raise if a class is not a string, is empty or appears twice.

    Parameters
    ----------
    classes : sequence
    where : str
        Name of the input, for messages.
    unit : str
        Place of a class within the input, with a field for its number.
    start : int
        Number of the first class.
    noun : str
        Noun for a class.
    """
    noun = noun.removesuffix(" name")
    unit = unit.replace("{noun}", noun)
    first_numbers: dict[str, int] = {}
    for number, name in enumerate(classes, start):
        place = f"{where}, {unit.format(number)}"
        if not isinstance(name, str):
            wanted = f"the name of a {noun}"
            raise InputError("wrong-type", place, value=name, wanted=wanted)
        if not name.strip():
            remedy = "give it a name, because each position stands for a column"
            raise InputError("empty", place, role=f"the {noun}", remedy=remedy)
        first_number = first_numbers.setdefault(name, number)
        if first_number != number:
            other = unit.format(first_number)
            raise InputError("duplicate-at", place, role=repr(name), other=other)
