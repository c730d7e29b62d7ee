"""Scores of pairs of ids: ratings by people, matrices with ids on both sides, and relations.

Conventions
-----------
A table has two columns of ids and one of scores: the first three, unless others are named. A
matrix in ``phi.npy`` has its ids beside it in ``phi.npy.ids.json``, as ``semmetrics pairs`` writes
them: ``{"images": [...], "captions": [...]}``, for rows and columns. A relation is a JSON object
``{id: [ids]}``; a pair has 1 in it if either of its ids is listed under the other one, otherwise 0.

Which of a pair's ids is that of a row is told by the names of the columns, where these and the
matrix or table have the same: "image" and "caption", or any other two. Otherwise the ids tell it:
of both ways the one that finds more pairs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

import numpy as np

from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.top_k import top_k
from semmetrics.data.form import DEFAULTS, ReadOptions, canonical_id, is_iterable, number
from semmetrics.data.inputs import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.numpy_files import plain_array
from semmetrics.data.objects import plain_matrix
from semmetrics.data.source import enough_memory, load
from semmetrics.data.table_rows import (
    TABLE_FORMATS,
    Noun,
    check_named_once,
    opened_table,
    read_rows,
)
from semmetrics.errors import InputError, at
from semmetrics.frozen import dataclass
from semmetrics.messages import a_kind, listing, pluralize, shown

__all__ = ["IDS_BESIDE", "PairMatrix", "PairRelation", "PairScores", "PairValues",
           "ToId", "is_missing", "open_pair_values", "read_group", "read_pair_ids",
           "read_pair_scores"]  # fmt: skip

ToId: TypeAlias = Callable[[Any], str]
Names: TypeAlias = "tuple[str, str] | None"
"""What both ids of pairs are called, if anything."""
IDS_BESIDE = ".ids.json"
"""What the name of a matrix ends with, of the file of its ids."""
_PAIRS = Noun("pair", "two ids and a score", '["id", "id", 0.5]', "(id, id, score)")
_SIDES = ("images", "captions")
_SAME_NAME = {"img": "image", "cap": "caption", "sentence": "caption", "text": "caption"}
_BESIDE = 'write {"images": [...], "captions": [...]}, the ids of rows and columns'


@dataclass(frozen=True, eq=False)
class PairScores:
    """A score for each of some pairs, perhaps with the group that each pair is of.

    Attributes
    ----------
    first, second : list of str
        The ids of the pairs.
    values : array, shape (pairs,)
    groups : list of str or None
    source : str
    notes : list of str
    names : tuple of two str or None
        The columns of the ids.
    """

    first: list[str]
    second: list[str]
    values: Floats
    groups: list[str] | None
    source: str
    notes: list[str]
    names: Names = None

    def __len__(self) -> int:
        return len(self.values)

    def of_pairs(self, first: Sequence[str], second: Sequence[str], names: Names = None) -> Floats:
        """Return the values of pairs, in either order of their ids; nan where there is none.

        ``names`` is what these ids are called.
        """
        known = dict(zip(zip(self.first, self.second, strict=True), self.values, strict=True))
        pairs = list(zip(first, second, strict=True))
        ways = [
            np.array([known.get(pair, np.nan) for pair in pairs], np.float64),
            np.array([known.get(pair[::-1], np.nan) for pair in pairs], np.float64),
        ]
        way = _named_way(names, self.names)
        if way is not None and not np.isnan(ways[way]).all():
            return ways[way]
        return _one_way(ways[0], ways[1], self.source)


@dataclass(frozen=True, eq=False)
class PairRelation:
    """Which ids belong together."""

    related: Mapping[str, frozenset[str]]

    def of_pairs(self, first: Sequence[str], second: Sequence[str], names: Names = None) -> Floats:
        """Return 1 or 0 for each pair; nan where neither id has an entry."""
        pairs = list(zip(first, second, strict=True))
        straight = np.array([self._value(one, other) for one, other in pairs])
        return _one_way(straight, np.array([self._value(other, one) for one, other in pairs]))

    def _value(self, key: str, other: str) -> float:
        return float(other in self.related[key]) if key in self.related else np.nan


@dataclass(frozen=True, eq=False)
class PairMatrix:
    """A matrix with an id for each row and column.

    Attributes
    ----------
    values : array, shape (rows, columns)
    rows, columns : mapping from id to number
    names : tuple of two str or None
        What the ids of rows and of columns are called.
    source : str
    """

    values: Any
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    names: Names = None
    source: str = ""

    def of_pairs(
        self,
        first: Sequence[str],
        second: Sequence[str],
        names: Names = None,
        ncs: str = "none",
    ) -> Floats:
        """Return the values of pairs; nan where the matrix lacks one.

        Parameters
        ----------
        first, second : sequence of str
        names : tuple of two str, optional
            What these ids are called.
        ncs : {"none", "rows", "columns"}
            Divide by the largest value of the row or column: NCS@1 of a query that retrieves the
            other id of the pair, without the 1e-10 in it, which would put equal values in an order.
        """
        row, column = self._places(first, second, names)
        found = (row >= 0) & (column >= 0)
        values = np.full(len(row), np.nan)
        values[found] = self.values[row[found], column[found]]
        if ncs != "none":
            best = top_k(self.values, 1, columns=ncs == "columns")[0].ravel()
            most = best[(row if ncs == "rows" else column)[found]]
            values[found] = np.where(most > 0, values[found] / np.where(most > 0, most, 1.0), 0.0)
        return values

    def _places(
        self, first: Sequence[str], second: Sequence[str], names: Names
    ) -> tuple[Ints, Ints]:
        """Return the row and the column of each pair, -1 where there is none."""
        ways = [
            (_lookup(self.rows, row), _lookup(self.columns, column))
            for row, column in ((first, second), (second, first))
        ]
        counts = [int(((row >= 0) & (column >= 0)).sum()) for row, column in ways]
        way = _named_way(names, self.names)
        if way is not None and counts[way]:
            return ways[way]
        same = all(np.array_equal(one, other) for one, other in zip(*ways, strict=True))
        if counts[0] == counts[1] > 0 and not same:
            _refuse_both_ways(self.source)
        return ways[counts[1] > counts[0]]


PairValues: TypeAlias = PairScores | PairRelation | PairMatrix


def _named_way(mine: Names, theirs: Names) -> int | None:
    """Tell by names whether pairs stand as (row, column), 0, or turned, 1; None if they do not.

    Examples
    --------
    >>> _named_way(("caption_id", "image_id"), ("images", "captions"))
    1
    """
    if mine is None or theirs is None:
        return None
    (a, b), (row, column) = map(_bare_name, mine), map(_bare_name, theirs)
    ways = [a == row or b == column, a == column or b == row]
    return None if ways[0] == ways[1] else int(ways[1])


def _bare_name(name: str) -> str:
    """Return the name of a column of ids without what only says that it holds ids."""
    bare = re.sub(r"[\W_]*(ids?)?$", "", name.strip().lower()).removesuffix("s")
    return _SAME_NAME.get(bare, bare)


def _lookup(numbers: Mapping[str, int], ids: Sequence[str]) -> Ints:
    return np.array([numbers.get(one, -1) for one in ids], np.int64)


def read_pair_scores(
    pairs: Any,
    *,
    columns: Sequence[str] | None = None,
    group: str | None = None,
    ids: str | None = None,
    options: ReadOptions = DEFAULTS,
    name: str = "ratings",
) -> PairScores:
    """Read scores of pairs of ids.

    Parameters
    ----------
    pairs : path, frame, or iterable of (id, id, score) or of mappings
        A CSV or TSV file with a header, JSON lines of objects, or a JSON list of objects or of
        lists of three.
    columns : sequence of three str, optional
        The columns or keys of both ids and of the score; the first three where left out.
    group : str, optional
        The column or key of the group that a pair is of.
    ids : str, optional
        A regular expression: an id is its first group, or what it finds where it has none.
    options : ReadOptions
    name : str
        What messages call Python objects.

    Returns
    -------
    PairScores

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a score is no finite number, or an id does not
        fit the expression; names the place.

    Examples
    --------
    >>> found = read_pair_scores([("a.jpg", "cap:07", 4.5)], ids=r"([a-z1-9]+)(?:[.]jpg)?$")
    >>> found.first, found.second, found.values.tolist()
    (['a'], ['7'], [4.5])
    """
    to_id, notes = id_reader(ids), list[str]()
    with opened_table(pairs, options) as source:
        where = name if source is None else source.name
        rows = read_rows(pairs, source, options, where, notes, _PAIRS)
        first, second, values, groups = list[str](), list[str](), list[float](), list[str]()
        header: list[str] | None = None
        places: list[int] = []
        for place, names, cells in rows:
            if not places or names != header or (names is None and len(cells) != 3):
                header, places = names, _columns(names, len(cells), columns, group, place)
                if names is not None:  # those of the first row, in whatever order others have them
                    columns = [names[i] for i in places[:3]]
            try:
                a, b, score, *rest = [cells[i] for i in places]
                first.append(to_id(a))
                second.append(to_id(b))
                values.append(number(score, ""))
                groups += map(read_group, rest)
            except InputError as error:
                raise error.placed(place) from None
    if not values:
        raise InputError("there are no pairs", where=where, remedy="write id,id,score a line")
    if header is not None:
        unused = [one for i, one in enumerate(header) if i not in places]
        notes += [f"columns not used: {', '.join(map(repr, unused))}"] if unused else []
    return PairScores(
        first, second, np.array(values), groups if group is not None else None, where, notes,
        None if columns is None else (columns[0], columns[1]),
    )  # fmt: skip


def open_pair_values(
    data: Any, *, ids: str | None = None, options: ReadOptions = DEFAULTS, name: str = "phi"
) -> PairValues:
    """Open what gives pairs of ids a value: a matrix, a relation, or scores of pairs.

    Parameters
    ----------
    data : path, (matrix, rows, columns), mapping from id to ids, or scores of pairs
        A path of a .npy file with its ids beside it, of a JSON object, or of a table as for
        `read_pair_scores`.
    ids : str, optional
        As for `read_pair_scores`; it holds for ids of rows, columns and relations, too.
    options : ReadOptions
    name : str
        What messages call Python objects.

    Returns
    -------
    PairMatrix, PairRelation or PairScores

    Raises
    ------
    InputError
        If it is none of these, or the ids do not fit the matrix.

    Examples
    --------
    >>> phi = open_pair_values((np.eye(2), ["a", "b"], ["c", "d"]))
    >>> phi.of_pairs(["c", "d", "e"], ["a", "a", "a"]).tolist()
    [1.0, 0.0, nan]
    >>> open_pair_values({"a": ["c"]}).of_pairs(["a", "d"], ["c", "a"]).tolist()
    [1.0, 0.0]
    """
    to_id = id_reader(ids)
    if isinstance(data, tuple) and len(data) == 3 and _has_rows(data[0]):
        return _matrix(plain_matrix(data[0], name), data[1], data[2], to_id, name)
    if isinstance(data, Mapping):
        return _relation(data, to_id, name)
    if isinstance(data, str | os.PathLike):
        source = load(data, options.max_bytes)
        with enough_memory(source.name, options.max_bytes):
            kind = format_among(source, options, "values of pairs are", ("npy", *TABLE_FORMATS))
            if kind == "npy":
                rows, columns = read_pair_ids(os.fspath(data) + IDS_BESIDE, options)
                found = _matrix(plain_array(source, options, 2), rows, columns, to_id, source.name)
                return replace(found, names=_SIDES)
            if kind == "json" and isinstance(value := parse_source(source), Mapping):
                return _relation(value, to_id, source.name)
    scores = read_pair_scores(data, ids=ids, options=options, name=name)
    _check_once(scores)
    return scores


def _has_rows(value: Any) -> bool:
    """Tell whether it is a matrix, perhaps a wrong one, and no pair with its score."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(row, list | tuple) for row in value)
    return getattr(value, "ndim", 0) == 2


def _matrix(values: Any, rows: Any, columns: Any, to_id: ToId, name: str) -> PairMatrix:
    sides = []
    for ids, size, what in ((rows, values.shape[0], "row"), (columns, values.shape[1], "column")):
        if not is_iterable(ids):
            raise InputError(f"{a_kind(ids)} holds no ids", where=name,
                             remedy=f"give each {what} an id of its own")  # fmt: skip
        numbers = {to_id(one): place for place, one in enumerate(ids)}
        if not len(numbers) == len(ids) == size:
            problem = (
                f"there are {pluralize(len(ids), 'id')}, {len(numbers):,} of them distinct, for "
            )
            raise InputError(problem + pluralize(size, what), where=name,
                             remedy=f"give each {what} an id of its own")  # fmt: skip
        sides.append(numbers)
    return PairMatrix(values, sides[0], sides[1], source=name)


def read_pair_ids(path: str, options: ReadOptions) -> tuple[list[Any], list[Any]]:
    """Read the ids of the rows and of the columns of a matrix, from the file beside it.

    Raises
    ------
    InputError
        If there is none, or it holds something else.
    """
    try:
        value = parse_source(load(path, options.max_bytes))
    except InputError as error:
        raise InputError(error.problem, where=path, remedy=_BESIDE) from None
    if isinstance(value, dict):
        rows, columns = value.get("images"), value.get("captions")
        if isinstance(rows, list) and isinstance(columns, list):
            return rows, columns
    raise InputError("there are no ids of images and captions", where=path, remedy=_BESIDE)


def _relation(data: Mapping[Any, Any], to_id: ToId, name: str) -> PairRelation:
    related: dict[str, frozenset[str]] = {}
    for key, others in data.items():
        if isinstance(others, str | bytes | Mapping) or not isinstance(others, Iterable):
            raise InputError(
                f"{shown(others)} is no list of ids", where=at(name, "", str(key)),
                remedy='write {"id": ["id", ...]}',
            )  # fmt: skip
        own = to_id(key)  # that several entries may have
        related[own] = related.get(own, frozenset()).union(map(to_id, others))
    return PairRelation(related)


def _check_once(found: PairScores) -> None:
    """Refuse a pair that stands twice with different scores."""
    known: dict[tuple[str, str], float] = {}
    for pair, value in zip(zip(found.first, found.second, strict=True), found.values, strict=True):
        if known.setdefault(pair, value) != value:
            raise InputError(
                f"{listing(pair)} have the scores {known[pair]} and {value}",
                where=found.source, remedy="keep one",
            )  # fmt: skip


def _one_way(straight: Floats, turned: Floats, where: str = "") -> Floats:
    """Return the values of pairs, each the way round that is known; nan where none is.

    Raises
    ------
    InputError
        If both ways are known, with other values, and the other pairs do not tell which is meant.
    """
    known, other = ~np.isnan(straight), ~np.isnan(turned)
    lead = int((known & ~other).sum()) - int((other & ~known).sum())
    if lead == 0 and (known & other & (straight != turned)).any():
        _refuse_both_ways(where)
    return np.where(known & (~other | (lead >= 0)), straight, turned)


def _refuse_both_ways(where: str = "") -> NoReturn:
    raise InputError(
        "the ids of pairs stand for rows and for columns alike: nothing tells which is which",
        where=where,
        remedy="give both sides ids of their own, such as image-1 and caption-1, or call columns "
        "of ids alike on both sides",
    )


def is_missing(value: Any) -> bool:
    """Return whether a cell says nothing: it is empty, null or NaN."""
    return value is None or not str(value).strip() or (isinstance(value, float) and value != value)


def read_group(value: Any) -> str:
    """Return the group that a cell names.

    Raises
    ------
    InputError
        If it says nothing.
    """
    if is_missing(value):
        raise InputError("it has no group", remedy="fill the column of group_by= (--group-by)")
    return str(value)


def id_reader(expression: str | None) -> ToId:
    """Return what makes an id of a value.

    Raises
    ------
    InputError
        If the expression is none.
    """
    if expression is None:
        return lambda value: canonical_id(_plain(value), "")
    try:
        pattern = re.compile(expression)
    except re.error as error:
        raise InputError(
            f"{expression!r} is no regular expression: {error}", remedy="mend ids= (--ids)"
        ) from None
    if pattern.groups > 1:
        raise InputError(
            f"{expression!r} has {pattern.groups} groups", remedy="write others as (?:...)"
        )

    def convert(value: Any) -> str:
        text = canonical_id(_plain(value), "")
        hit = pattern.search(text)
        if hit is None or not hit[pattern.groups]:
            raise InputError(
                f"the id {text!r} does not fit {expression!r}", remedy="mend ids= (--ids)"
            )
        return str(hit[pattern.groups])

    return convert


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _columns(
    names: list[str] | None,
    width: int,
    chosen: Sequence[str] | None,
    group: str | None,
    where: str,
) -> list[int]:
    """Return the places of both ids, of the score, and of the group if one is wanted."""
    wanted = [*(chosen or ()), *([] if group is None else [group])]
    if names is None:
        if wanted:
            raise InputError(f"lists have no keys, and {wanted[0]!r} is sought", where=where,
                             remedy="give objects with keys")  # fmt: skip
        names = ["first", "second", "score"]
        if width != 3:
            raise InputError(f"a pair has {pluralize(width, 'value')}", where=where,
                             remedy="write two ids and a score")  # fmt: skip
    missing = [name for name in wanted if name not in names]
    if missing or len(names) < 3:
        sought = listing(missing) if missing else "two ids and a score"
        raise InputError(f"there is no column {sought}: found {listing(names, most=12)}",
                         where=where, remedy="name others with columns= (--columns) and group_by= "
                         "(--group-by)")  # fmt: skip
    check_named_once(wanted, names, where)
    places = [names.index(name) for name in chosen] if chosen else [0, 1, 2]
    return places + ([] if group is None else [names.index(group)])
