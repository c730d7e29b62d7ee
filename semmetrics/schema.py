"""Inputs that are tables: which columns each has, how they are named, and what they may hold.

Conventions
-----------
A row is an object or a list. The columns of an object are found by name, in any case, once for all
rows with the same names; a list has one cell for each column of the schema, in their order. What a
column may hold is checked a column at a time; the place of a wrong cell is written only then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

from semmetrics.errors import EXAMPLES, Fact, InputError, at

Reader: TypeAlias = Callable[[Any, str], Any]
"""Makes a value of a cell, given what messages call the cell."""
Row: TypeAlias = "tuple[Any, Sequence[str] | None, Sequence[Any]]"
"""The place of a row, the names of its cells if they have any, and these."""
Settle: TypeAlias = Callable[[dict[str, int], Sequence[str], str], dict[str, int]]

ID_NAMES = (
    "id",
    "image_id",
    "img_id",
    "image",
    "img",
    "item",
    "item_id",
    "filename",
    "image_name",
)
ABSENT = object()
"""The cell of a row that lacks a column of other rows."""
TRUTHS = {"true": 1.0, "false": 0.0}
"""The numbers of true and false, which are written in lower case here."""
_YES = ("1", "true", "yes", "same", "y", "t")
_NO = ("0", "false", "no", "different", "n", "f")


def is_missing(value: Any) -> bool:
    """Tell whether a cell is empty, null or NaN."""
    return (
        value is None
        or not str(value).strip()
        or (isinstance(value, float) and value != value)
    )


def as_given(value: Any, role: str) -> Any:
    """Return a cell as it is."""
    return value


def as_id(value: Any, role: str = "", where: str = "") -> str:
    """Return an id as text: 42 and "42" are the same; only texts and whole numbers are ids."""
    if isinstance(value, str) and value:
        return str(value)
    if isinstance(value, int | Integral) and not isinstance(value, bool):
        return str(value)
    raise InputError(
        "empty-id" if isinstance(value, str) else "wrong-id", where, value=value
    )


def as_text(value: Any, role: str, where: str = "") -> str:
    """Return a text that is not blank."""
    if not isinstance(value, str):
        raise InputError("wrong-type", where, value=value, wanted="a text")
    if not value.strip():
        raise InputError("empty", where, role=role, remedy="fill it in")
    return value


def as_group(value: Any, role: str) -> str:
    """Return the name of a group as text."""
    if is_missing(value):
        raise InputError("empty", role=role, remedy="fill it in")
    return str(value)


def as_number(value: Any, role: str, where: str = "") -> float:
    """Return a finite number from a number or its text."""
    try:
        kind = type(value).__name__
        if (
            kind in ("bool", "bool_")
            or "complex" in kind
            or (kind == "str" and "_" in value)
        ):
            raise TypeError
        if getattr(value, "ndim", 0):  # older NumPy converts an array of one element
            raise TypeError
        found = float(value)
    except OverflowError:
        found = math.inf
    except (TypeError, ValueError):
        raise InputError("not-a-number", where, role=role, value=value) from None
    if not math.isfinite(found):
        raise InputError("not-finite", where, role=role, value=value)
    return found


def as_grade(value: Any, role: str, where: str = "") -> float:
    """Return a finite number; true and false, also as text, are 1 and 0.

    Examples
    --------
    >>> as_grade("True", "the grade"), as_grade(False, "the grade"), as_grade("2", "the grade")
    (1.0, 0.0, 2.0)
    """
    answer = TRUTHS.get(str(value).strip().casefold())
    return as_number(value, role, where) if answer is None else answer


def _is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_real(value: Any, role: str) -> float:
    """Return a finite number from a number; a text such as "0.5" is refused, not repaired."""
    if isinstance(value, str):
        raise InputError("not-a-number", role=role, value=value)
    return as_number(value, role)


def as_answer(value: Any, role: str, where: str = "") -> bool:
    """Return True for 1, true or yes, and False for 0, false or no."""
    scalar = getattr(value, "shape", None) == ()  # of numpy or torch
    answer = (
        str(value.item() if scalar else value).strip().casefold().removesuffix(".0")
    )
    if answer not in (*_YES, *_NO):
        raise InputError(
            "wrong-content",
            where,
            value=repr(value),
            wanted="yes or no",
            example="true or false, 1 or 0, yes or no",
        )
    return answer in _YES


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    role : str
    names : tuple of str or of tuples of str
        What it may be called, the best first; of names in one tuple none is better than another,
        and two columns with such names are refused. Empty: it is known by its place.
    read : callable
        Makes a value of a cell.
    required : bool
        Whether it must be there.
    key, group : bool
        Whether a repeated value is refused, or its rows are gathered.
    what : str
        What messages call a cell; the role where left out.
    shared : bool
        Whether the name that the user chose may be that of another table, and is then left aside.
    """

    role: str
    names: tuple[str | tuple[str, ...], ...] = ()
    read: Reader = as_text
    required: bool = True
    key: bool = False
    group: bool = False
    what: str = ""
    shared: bool = False

    @property
    def known(self) -> list[str]:
        """All names in one list."""
        return [
            name
            for one in self.names
            for name in ((one,) if isinstance(one, str) else one)
        ]

    def find(self, names: Sequence[str], taken: Iterable[str]) -> list[int]:
        """Return the places of the columns with the best of its names."""
        folded = {
            i: one.strip().casefold() for i, one in enumerate(names) if one not in taken
        }
        levels = (
            [
                i
                for i, one in folded.items()
                if one in ((level,) if isinstance(level, str) else level)
            ]
            for level in self.names
        )
        return next(filter(None, levels), [])

    def values(self, cells: Sequence[Any], where: Callable[[int], str]) -> list[Any]:
        """Read all cells of the column; names the place of a wrong one."""
        quick = _all_at_once(self.read, cells)
        if quick is not None:
            return quick
        found, what = [], self.what or self.role
        for row, cell in enumerate(cells):
            try:
                found.append(self.read(cell, what))
            except InputError as error:
                raise (error if error.where else error.placed(where(row))) from None
        return found


def _all_at_once(read: Reader, cells: Sequence[Any]) -> list[Any] | None:
    """Read a column at the speed of C where all cells are plain; None where one is not."""
    kinds = set(map(type, cells))
    if read is as_given or (read is as_id and kinds <= {str} and "" not in cells):
        return list(cells)
    if (read is as_number and kinds <= {str, float, int}) or (
        read is as_real and kinds <= {float, int}
    ):
        with suppress(ValueError, OverflowError):
            found = [*map(float, cells)]
            texts = (
                (cell for cell in cells if isinstance(cell, str))
                if str in kinds
                else ()
            )
            if math.isfinite(sum(found)) and "_" not in "".join(texts):
                return found
    return None


@dataclass(frozen=True, repr=False)
class Table:
    """The values of each column of a table that was read.

    Attributes
    ----------
    columns : mapping from role to list
        Those that the table has.
    source : str
    names : mapping from role to str
        What the columns are called; empty for lists.
    notes : list
        Facts, such as columns that are not used.
    where : callable
        Writes the place of a row.
    gathered : mapping from key to list of int
        The rows of each key of the column that gathers them, in order of first appearance.
    """

    columns: dict[str, list[Any]]
    source: str
    names: dict[str, str]
    notes: list[Any] = field(default_factory=list)
    where: Callable[[int], str] = str
    gathered: Mapping[Any, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def rows(self) -> Iterable[dict[str, Any]]:
        """Yield each row by role, without columns that it lacks."""
        for cells in zip(*self.columns.values(), strict=True):
            pairs = zip(self.columns, cells, strict=True)
            yield {role: cell for role, cell in pairs if cell is not ABSENT}


class Schema(NamedTuple):
    """The columns of an input that is a table.

    Attributes
    ----------
    noun : str
        What a row is: "pair".
    columns : tuple of Column
    example : str
        How a row is written.
    flag : str
        How a column is named, where an option does that; "{role}" is that of the column.
    listed : bool
        Whether a row may be a list.

    Examples
    --------
    >>> weights = Schema("weight", (Column("id", (ID_NAMES,), as_id, key=True),
    ...                             Column("weight", ("weight", "value"), as_number)))
    >>> table = weights.read([(2, ["ID", "value"], ["a", "0.5"])], "w.csv", "line {}")
    >>> table.columns, table.names
    ({'id': ['a'], 'weight': [0.5]}, {'id': 'ID', 'weight': 'value'})
    >>> weights.read([(2, ["id", "value"], ["a", "x"])], "w.csv", "line {}")
    Traceback (most recent call last):
    semmetrics.errors.InputError: w.csv, line 2, id 'a': weight is 'x', not a number; write a
    number such as 0.5
    """

    noun: str
    columns: tuple[Column, ...]
    example: str = ""
    flag: str = ""
    listed: bool = True

    def reading(self, **readers: Reader) -> Schema:
        """Return the schema with other readers of some columns, by role."""
        columns = (
            one._replace(read=readers.get(one.role, one.read)) for one in self.columns
        )
        return self._replace(columns=tuple(columns))

    def find(
        self, names: Sequence[str], chosen: Mapping[str, str], where: str
    ) -> dict[str, int]:
        """Return the place of the column of each role; ``chosen`` names some of them.

        Raises
        ------
        InputError
            If a column is missing, or several could have a role.
        """
        found: dict[str, int] = {}
        for place, column in enumerate(self.columns):
            name, flag = (
                chosen.get(column.role),
                self.flag.replace("{role}", column.role),
            )
            name = None if column.shared and name not in names else name
            if name is not None:
                hits = [i for i, one in enumerate(names) if one == name]
            elif column.names:
                hits = column.find(names, chosen.values())
            else:
                hits = [place] if place < len(names) and column.required else []
            several = {names[i] for i in hits}
            if len(hits) > 1 and len(several) == 1:
                raise InputError("duplicate-column", where, name=several.pop())
            if len(hits) > 1:
                raise InputError(
                    "ambiguous-column",
                    where,
                    role=column.what or column.role,
                    found=[names[i] for i in hits],
                    flag=flag,
                )
            if hits:
                found[column.role] = hits[0]
            elif column.required or name is not None:
                wanted = (
                    repr(name)
                    if name is not None
                    else ", ".join(column.known) or "its place"
                )
                code, sign = self._why_missing(
                    names, chosen, where, "missing-column" if flag else "no-column"
                )
                example = self.example or self._example_header()
                raise InputError(
                    code,
                    where,
                    role=column.what or column.role,
                    found=list(names),
                    wanted=wanted,
                    flag=flag,
                    example=example,
                    sign=sign,
                    option="delimiter",
                )
        return found

    def _why_missing(
        self,
        names: Sequence[str],
        chosen: Mapping[str, str],
        where: str,
        otherwise: str,
    ) -> tuple[str, str]:
        """Return the code of the error for a missing column, and the delimiter of the header."""
        if not where.endswith("line 1") or not names:
            return otherwise, ""
        if names[0].startswith(("#", "sep=")):
            return "comment-line", names[0]
        if len(names) == 1:
            for sign in ";|\t,":
                if sign in names[0]:
                    return "other-delimiter", sign
        if chosen or not self.flag or self._knows(names):
            return otherwise, ""
        return "no-header", ""

    def _knows(self, names: Sequence[str]) -> bool:
        """Return whether some of the names are names of columns."""
        folded = {name.strip().casefold() for name in names}
        return any(not folded.isdisjoint(column.known) for column in self.columns)

    def _example_header(self) -> str:
        """Return a header that the schema finds: "id,label"."""
        return ",".join(column.known[0] for column in self.columns if column.required)

    def read(
        self,
        rows: Iterable[Row],
        source: str,
        unit: str = "element [{}]",
        chosen: Mapping[str, str] | None = None,
        settle: Settle | None = None,
    ) -> Table:
        """Read rows: find their columns, check what these hold, and refuse repeated keys.

        Parameters
        ----------
        rows : iterable of (place, names or None, cells)
        source : str
            What messages call the table.
        unit : str
            How the place of a row is written.
        chosen : mapping from role to name, optional
            Columns that the user named.
        settle : callable, optional
            Returns those of the columns found that are used.

        Raises
        ------
        InputError
            If a row is wrong, which is named, or there is none.
        """
        chosen, known = dict(chosen or {}), dict[Any, list[int]]()
        found, used = dict[str, int](), dict[str, str]()
        places, cells, unused = list[Any](), list[Any](), dict[str, None]()
        roles = [column.role for column in self.columns]
        for place, names, row in rows:
            form = len(row) if names is None else tuple(names)
            if form not in known:
                where = at(source, unit.format(place))
                if names is None:
                    found = self._by_place(len(row), chosen, where)
                else:
                    found = self.find(names, chosen, where)
                    if unit == "line {}":
                        self._check_header(found, names, at(source, "line 1"))
                    found = found if settle is None else settle(found, names, where)
                    used = {role: names[i] for role, i in found.items()} | used
                    unused |= dict.fromkeys(names)
                    by_place = (one.role for one in self.columns if not one.names)
                    chosen |= {role: used[role] for role in by_place if role in used}
                known[form] = [found.get(role, -1) for role in roles]
            places.append(place)
            cells.append([ABSENT if i < 0 else row[i] for i in known[form]])

        if not cells:
            remedy = (
                f"write rows such as {self.example}"
                if self.example
                else "check the file"
            )
            raise InputError(
                "nothing-given", source, what=f"{self.noun}s", remedy=remedy
            )
        keys = [i for i, column in enumerate(self.columns) if column.key]

        def where_is(row: int) -> str:
            return at(
                source,
                unit.format(places[row]),
                str(cells[row][keys[0]]) if keys else None,
            )

        columns = {
            column.role: column.values(values, where_is)
            for column, values in zip(
                self.columns, zip(*cells, strict=True), strict=False
            )
            if any(cell is not ABSENT for cell in values)
        }
        for column in self.columns:
            held = columns.get(column.role, []) if column.key else []
            if len(set(held)) < len(held):
                first: dict[Any, int] = {}
                again = next(
                    i for i, key in enumerate(held) if first.setdefault(key, i) != i
                )
                raise InputError("duplicate-id", where_is(again), value=held[again])
        extra = tuple(name for name in unused if name not in used.values())
        notes = (
            [Fact("unused-columns", len(extra), extra[:EXAMPLES], source)]
            if extra
            else []
        )
        gathered: dict[Any, list[int]] = {}
        group = next((column.role for column in self.columns if column.group), "")
        for number, key in enumerate(columns.get(group, ())):
            gathered.setdefault(key, []).append(number)
        return Table(columns, source, used, notes, where_is, gathered)

    def _check_header(
        self, found: Mapping[str, int], names: Sequence[str], where: str
    ) -> None:
        """Raise if the header names a column of numbers by a number, so that it is a row."""
        for column in self.columns:
            place = found.get(column.role)
            if column.names or place is None or column.read is not as_number:
                continue
            if _is_number(names[place]):
                example = ",".join(
                    column.role for column in self.columns if column.required
                )
                raise InputError(
                    "number-in-header", where, value=names[place], example=example
                )

    def _by_place(
        self, width: int, chosen: Mapping[str, str], where: str
    ) -> dict[str, int]:
        """Return the columns of a list, which has a cell for each."""
        wanted = [column.role for column in self.columns if column.required]
        if chosen or not self.listed:
            name = next(iter(chosen.values()), self.columns[0].role)
            raise InputError(
                "needs-keys", where, noun=self.noun, name=name, example=self.example
            )
        if width != len(wanted):
            raise InputError(
                "wrong-cells", where, n=width, noun=self.noun, wanted=wanted
            )
        return {role: place for place, role in enumerate(wanted)}


_WEIGHT = ("weight", "weights", "sample_weight", "value", "number")
CLASS_NAMES = ("class", "classes", "label", "labels", "category", "name")
COLUMN_FLAG = "{role}_column"
_COLUMNS_FLAG = "columns group_by"


def _numbers(
    what: str, noun: str, names: tuple[str, ...], ids: tuple[Any, ...]
) -> Schema:
    id_ = Column("id", ids, as_id, key=True, what=what, shared=what == "class")
    score = Column("score", ((*_WEIGHT, *names),), as_number, what=noun)
    return Schema(noun, (id_, score), flag=COLUMN_FLAG)


_POPULATIONS, _HOPS = (
    ("images", "count", "counts", "population", "populations"),
    ("hops", "hop"),
)
NUMBERS = {
    "weights": _numbers("id", "weight", (), (ID_NAMES,)),
    "populations": _numbers("class", "number", _POPULATIONS, (CLASS_NAMES, ID_NAMES)),
    "hops": _numbers("class", "number", (*_HOPS, "distance"), (CLASS_NAMES, ID_NAMES)),
}
"""A finite number for each item or class, by the option that gives them."""
_A = (
    "a",
    "first",
    "left",
    "label_a",
    "text_a",
    "label1",
    "text1",
    "word1",
    "prediction",
)
_B = (
    "b",
    "second",
    "right",
    "label_b",
    "text_b",
    "label2",
    "text2",
    "word2",
    "reference",
)
_SAME = ("same", "match", "matches", "equal", "gold", "label", "target")
SAME_PAIRS = Schema(
    "pair",
    (
        Column("a", _A),
        Column("b", _B),
        Column("same", _SAME, as_answer),
    ),
    '{"a": "car", "b": "automobile", "same": true}',
)
"""Two labels, and whether they mean the same."""
SCORED_PAIRS = Schema(
    "pair",
    (
        Column("first", read=as_id),
        Column("second", read=as_id),
        Column("score", read=as_number),
        Column("group", read=as_group, required=False, group=True),
    ),
    '["id", "id", 0.5]',
    _COLUMNS_FLAG,
)
"""Two ids and a score; the first three columns, unless others are named."""
_JUDGED: dict[str, tuple[str, ...]] = {
    "rating": ("rating", "score", "human", "human_score", "human_rating", "judgement"),
    "preferred": ("preferred", "preference", "winner"),
    "a": ("a",),
    "b": ("b",),
    "caption": ("caption", "mt", "text"),
    "references": ("references", "refs", "ground_truth"),
    "candidate": ("candidate", "candidate_id"),
    "reference": ("reference", "reference_id"),
    "id": ("id", "item", "item_id"),
    "image": ("image", "image_id", "imgid", "img_id"),
    "rater": ("rater", "annotator", "worker"),
    "system": ("system",),
    "group": (),
}
_JUDGED_READERS: dict[str, Reader] = {"rating": as_number, "group": as_group}
JUDGEMENTS = Schema(
    "judgement",
    tuple(
        Column(role, names, _JUDGED_READERS.get(role, as_given), required=False)
        for role, names in _JUDGED.items()
    ),
    '{"id": "a", "rating": 4}',
    _COLUMNS_FLAG,
    listed=False,
)
"""Ratings of candidates, or preferences among two."""
LINKS = Schema(
    "link",
    (
        Column("child", (("child",),), as_given),
        Column("parent", (("parent",),), as_given),
    ),
    "child,parent",
)
_WORDS = {6: "query Q0 document rank score tag", 4: "query 0 document grade"}
_TREC_READERS: dict[str, Reader] = {"score": as_number, "grade": as_number}
TREC = {
    width: Schema(
        "line",
        tuple(
            Column(role, read=_TREC_READERS.get(role, as_given), group=role == "query")
            for role in words.split()
        ),
    )
    for width, words in _WORDS.items()
}
"""Runs and qrels, by the number of words of a line."""
