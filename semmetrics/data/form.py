"""What files look like: how a kind writes its values, and what a user says of a file."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from functools import cache, cached_property, wraps
from typing import Any, ClassVar, TypeVar, cast

from semmetrics.arguments import check_fields
from semmetrics.errors import Fact, InputError
from semmetrics.options import (
    FORMATS,
    OPTIONS,
    READING,
    SIDED,
    SIDES,
    TAKEN,
    Option,
    check_options,
    hint_of,
    reading_of,
)
from semmetrics.schema import (
    COLUMN_FLAG,
    ID_NAMES,
    Column,
    Schema,
    as_grade,
    as_id,
    as_number,
)

F = TypeVar("F", bound=Callable[..., Any])
TABLES, MATRICES = ("csv", "tsv"), ("npy", "npz", "hdf5")
_FORMATS = {
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
EXTENSIONS = {
    ending: kind for kind, endings in _FORMATS.items() for ending in endings.split()
}
RECORD_IDS = ("id", "image_id", "img_id")
FILE_ID = "file_name"  # an id if there is no other: COCO's images have both
_FILE_KEYS = ("filename", "image", "img")  # ids of JSON records if there is no other
_DISTINCT = (
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
    first_column : str or None
        The column of entries that goes before others.
    ids, scores : tuple of str
        More names that the column of ids, or of scores, is known by.
    first_scores, last_scores : tuple of str
        Names of the column of scores that go before those, or behind them.
    numbered : bool
        Whether entries may be whole numbers, which are then names; lists of other numbers are the
        rows of a matrix, whose values may be any.
    truths : bool
        Whether scores may be true or false, as grades may. They are 1 and 0.
    places : bool
        Whether entries may be whole numbers, which are places in a class list, from 0.
    unknown : tuple of float
        Values of cells of a 0/1 matrix that nobody verified; nan also stands for an empty cell.
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
        """Whether a whole number alone is an item with one entry."""
        return self.single and self.numbered

    @property
    def takes_matrices(self) -> bool:
        """Whether a matrix of items x entries is read."""
        return MATRICES[0] in self.formats

    @cached_property
    def table(self) -> Schema:
        """The columns of a table: ids, entries, and scores where the form has them."""
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
        first = () if self.first_id is None else (self.first_id,)
        first_entry = () if self.first_column is None else (self.first_column,)
        levels = (self.first_scores, scores, self.last_scores)
        read = as_grade if self.truths else as_number
        columns = (
            Column("id", (*first, *ids), as_id),
            Column(self.noun, (*first_entry, entries)),
            Column(
                "score", tuple(level for level in levels if level), read, required=False
            ),
        )
        return Schema(
            self.noun, columns if self.scored else columns[:2], flag=COLUMN_FLAG
        )

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of its columns, each of which an option may name."""
        return tuple(column.role for column in self.table.columns)


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
    pred, gt : ReadOptions, optional
        Formats, columns and delimiters of one side, the predictions or the ground truth, in place
        of those above. Other fields of them are not used.

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
        mark = self.delimiter
        one_mark = mark is None or (len(mark) == 1 and mark not in '"\r\n\0\ufeff')
        for name, right, wanted in (
            ("delimiter", one_mark, "one character; for tabs use the format tsv"),
            ("label_delimiter", self.label_delimiter != "", "a text that is not empty"),
            ("max_line_bytes", self.max_line_bytes >= 1, "a number of bytes, from 1"),
            ("max_bytes", self.max_bytes >= 1, "a number of bytes, from 1"),
        ):
            if not right:
                raise InputError(
                    "bad-option", name=name, value=getattr(self, name), wanted=wanted
                )
        for one, role in _DISTINCT:
            column = self.column(role)
            if column is not None and column == self.column(one):
                raise InputError(
                    "one-column-two-roles", name=column, roles=f"{one} and {role}"
                )
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))
            check_classes(self.classes, "option classes")

    def beside(self) -> ReadOptions:
        """Return the options for class lists, weights and matrices, whose format is their own."""
        shared = ("id_column", "delimiter", "max_line_bytes", "max_bytes")
        return ReadOptions(**{name: getattr(self, name) for name in shared})

    def column(self, role: str) -> str | None:
        """Return the column that was named for a role."""
        name: str | None = getattr(self, f"{role}_column", None)
        return name


class _PredictionOptions(ReadOptions):
    """How to read predictions."""

    side = "pred"


class _TruthOptions(ReadOptions):
    """How to read the ground truth, which may lack the column of scores."""

    side = "gt"


DEFAULTS = ReadOptions()


def make_read_options(given: Mapping[str, Any]) -> ReadOptions:
    """Return the options of reading with the names of keywords, such as gt_id_column.

    Examples
    --------
    >>> options = make_read_options({"id_column": "key", "gt_id_column": "image"})
    >>> truth_options(options).id_column, prediction_options(options).id_column
    ('image', 'key')
    """
    shared: dict[str, Any] = {}
    of_side: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    for name, value in given.items():
        side, _, field_name = name.partition("_")
        if side in SIDES and field_name in SIDED:
            of_side[side][field_name] = value
        else:
            shared[name] = value
    for side, own in of_side.items():
        if any(value is not None for value in own.values()):
            shared[side] = ReadOptions(**own)
    return ReadOptions(**shared)


def _of_side(options: ReadOptions, side: str) -> dict[str, Any]:
    """Return the fields of the options for a side."""
    found = {one.name: getattr(options, one.name) for one in fields(options)}
    own = found[side]
    found["pred"] = found["gt"] = None
    for name in SIDED if own is not None else ():
        value = getattr(own, name)
        if value is not None:
            found[name] = value
    return found


def prediction_options(options: ReadOptions) -> ReadOptions:
    """Return the options for predictions."""
    return _PredictionOptions(**_of_side(options, "pred"))


class _Shown(str):
    """A type as a signature shows it: without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


_UNSHOWN = re.compile(
    r"\b(?:\w+\.)+(?=\w)|\[(?:(?:typing\.)?Any(?:, )?|\.\.\.(?:, )?)+\]"
)


@cache
def _show(hint: Any) -> _Shown:
    """Return a type as people write it, without modules and without what it leaves open.

    Examples
    --------
    >>> _show(Mapping[Any, Any] | Sequence[int] | None), _show("str")
    (Mapping | Sequence[int] | None, str)
    """
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return _Shown(_UNSHOWN.sub("", text))


@cache
def _describe(option: Option) -> tuple[inspect.Parameter, str]:
    """Return an option as the signature of a function has it, and as its docstring."""
    name, default, hint = option.name, option.default, _show(hint_of(option.name))
    kind = inspect.Parameter.KEYWORD_ONLY
    parameter = inspect.Parameter(name, kind, default=default, annotation=hint)
    text = textwrap.indent(textwrap.fill(option.text(), 88), "    ")
    return parameter, f"{name} : {hint}\n{text}"


def takes_options(refused: Iterable[str] = ()) -> Callable[[F], F]:
    """Give a function with ``**options`` the options that it takes from a score.

    They are in its signature and docstring, and others are refused. With ``read`` come its fields,
    as keywords.

    Parameters
    ----------
    refused : iterable of str
        Options that are not shown; the function says itself why it does not take them.
    """

    def decorate(function: F) -> F:
        own, lines = inspect.signature(function), list[str]()
        shown = own.replace(return_annotation=_show(own.return_annotation))
        *parameters, rest = shown.parameters.values()
        parameters = [
            one.replace(annotation=_show(one.annotation)) for one in parameters
        ]
        called = function.__qualname__.partition(".")[0]
        taken = TAKEN.get(called, OPTIONS)
        for name, option in {
            **taken,
            **(reading_of(called) if "read" in taken else {}),
        }.items():
            if name in refused:
                continue
            parameter, text = _describe(option)
            parameters.append(parameter)
            lines.append(text)

        @wraps(function)
        def with_options(*args: Any, **given: Any) -> Any:
            _take_reading_options(called, given)
            named = {
                name: value
                for name, value in given.items()
                if name not in own.parameters
            }
            check_options(called, named, own.parameters)
            return function(*args, **given)

        found: Any = with_options
        found.__signature__ = shown.replace(parameters=parameters)
        # Python 3.13 takes the indentation out of docstrings, older versions do not.
        docstring = inspect.cleandoc(function.__doc__ or "")
        found.__doc__ = docstring.replace(f"**{rest.name}", "\n".join(lines), 1)
        return cast("F", found)

    return decorate


def _take_reading_options(called: str, given: dict[str, Any]) -> None:
    """Replace the reading options among keywords by one `ReadOptions` under ``read``.

    Parameters
    ----------
    called : str
        The name of the function that the keywords were given to.
    given : dict
        It is changed. Numbers of NumPy and torch and class names of Hugging Face become plain.

    Raises
    ------
    InputError
        If options contradict each other, or the function does not have them.
    """
    for name, value in given.items():
        given[name] = _plain_value(value)
    fields = {}
    for name in READING:
        value = given.pop(name, None)
        if value is not None:
            fields[name] = value
    accepted = reading_of(called)
    for name in fields:
        if name not in accepted:
            what = f"{called}, which has no two sides"
            raise InputError("not-applicable", name=name, what=what)
    if fields:
        if given.get("read") is not None:
            names = f"read= and {', '.join(f'{name}=' for name in fields)}"
            raise InputError("conflicting-options", names=names)
        given["read"] = make_read_options(fields)
    if not isinstance(given.get("read"), (ReadOptions, type(None))):
        wanted = "semmetrics.ReadOptions(...)"
        raise InputError("bad-option", name="read", value=given["read"], wanted=wanted)


def _plain_value(value: Any) -> Any:
    """Return numbers of NumPy and torch and class names of Hugging Face as plain values."""
    if getattr(value, "shape", None) == ():
        return value.item()
    if hasattr(value, "int2str"):  # ClassLabel
        return value.names
    return value


def truth_options(options: ReadOptions) -> ReadOptions:
    """Return the options for the ground truth, which may lack the column of scores."""
    return _TruthOptions(**_of_side(options, "gt"))


def is_truth(options: ReadOptions) -> bool:
    """Return whether these are the options for the ground truth."""
    return isinstance(options, _TruthOptions)


def column_among(options: ReadOptions, role: str, names: Sequence[str]) -> str | None:
    """Return the column that was named for a role, if it is among those names or must be."""
    name, truth = options.column(role), isinstance(options, _TruthOptions)
    return None if truth and role == "score" and name not in names else name


def unused(options: ReadOptions, names: Iterable[str], what: str) -> list[Fact]:
    """Note those of the options that were given and do not apply, if there are any."""
    given = tuple(name for name in names if getattr(options, name, None) is not None)
    return (
        [Fact("unused-options", len(given), given, values={"what": what})]
        if given
        else []
    )


def is_iterable(value: object) -> bool:
    """Tell whether there is something to go through; an array of no dimension says that it is."""
    return isinstance(value, Iterable) and getattr(value, "shape", None) != ()


def is_one_hot(
    names: Sequence[str],
    form: Form,
    options: ReadOptions,
    numbers: Set[str] = frozenset(),
    classes: Set[str] = frozenset(),
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
    classes : set of str
        Columns whose cells show that they are classes, whatever they are called.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> is_one_hot(["id", "cat"], form, DEFAULTS), is_one_hot(["id", "label"], form, DEFAULTS)
    (True, False)
    """
    chosen = any(
        column_among(options, role, names) is not None for role in form.roles[1:]
    )
    if chosen or not form.takes_matrices:
        return False
    others = []
    for name in names:
        if name in classes:
            others.append(name)
            continue
        folded = name.strip().casefold()
        known = [column.role for column in form.table.columns if folded in column.known]
        if "score" in known or (form.noun in known and name not in numbers):
            return False
        if not known and name != options.id_column:
            others.append(name)
    return bool(others)


def find_id(
    names: Sequence[str], form: Form, options: ReadOptions, where: str
) -> int | None:
    """Return the place of the column of ids; None if there is none."""
    schema = form.table._replace(
        columns=(form.table.columns[0]._replace(required=False),)
    )
    return find_columns(schema, names, options, where).get("id")


def find_columns(
    schema: Schema, names: Sequence[str], options: ReadOptions, where: str
) -> dict[str, int]:
    """Find which column plays which role; options may name some.

    Examples
    --------
    >>> form = Form(noun="caption", columns=("caption",), keys=("caption",), first_id="image_id")
    >>> find_columns(form.table, ["id", "image_id", "caption"], DEFAULTS, "a.csv")
    {'id': 1, 'caption': 2}
    """
    named = {one.role: column_among(options, one.role, names) for one in schema.columns}
    chosen = {role: name for role, name in named.items() if name is not None}
    if chosen and options.side:  # the other side may have columns of other names
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
    """Raise if a class is not a string, is empty or appears twice."""
    first: dict[str, int] = {}
    noun = noun.removesuffix(" name")
    unit = unit.replace("{noun}", noun)
    for number, name in enumerate(classes, start):
        place = f"{where}, {unit.format(number)}"
        if not isinstance(name, str):
            raise InputError(
                "wrong-type", place, value=name, wanted=f"the name of a {noun}"
            )
        if not name.strip():
            remedy = "each position is a column: name it"
            raise InputError("empty", place, role=f"the {noun}", remedy=remedy)
        if first.setdefault(name, number) != number:
            raise InputError(
                "duplicate-at", place, role=repr(name), other=unit.format(first[name])
            )
