"""What stands beside predictions and ground truth: class lists, numbers, matrices, pairs of ids.

Conventions
-----------
Tables are files (CSV, TSV, JSON lines, or a JSON list of objects or lists), frames, and lists of
mappings or lists; ``semmetrics.schema`` has the columns of each.

Scores of pairs of ids are such a table, a matrix or a relation. A matrix in ``phi.npy`` has its
ids beside it in ``phi.npy.ids.json``, as ``semmetrics pairs`` writes them:
``{"images": [...], "captions": [...]}``, for rows and columns. A relation is a JSON object
``{id: [ids]}``; a pair has 1 in it if either of its ids is listed under the other one, otherwise 0.
The names of the columns tell which of a pair's ids is that of a row, if these and the matrix or
table have the same: "image" and "caption", or any other two. Otherwise the ids tell it: the way
round that finds more pairs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics import schema as schemas
from semmetrics.arguments import check_once
from semmetrics.core.ragged import Floats
from semmetrics.core.top_k import top_k
from semmetrics.data.arrays import plain_array
from semmetrics.data.form import DEFAULTS, ReadOptions, check_classes, is_iterable
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.objects import column_names, frame_table, is_frame, plain_matrix
from semmetrics.data.public import category_names
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, field_limit
from semmetrics.errors import ROW, InputError, at
from semmetrics.schema import Row, Schema, Settle, Table, as_id, as_real

TABLE_KINDS = ("csv", "tsv", "json", "jsonl")


# ---- tables -------------------------------------------------------------------------------------


@contextmanager
def opened(data: Any, options: ReadOptions) -> Iterator[Any]:
    """Open data that is a path, within a limit of memory; yield other data as they are."""
    if not isinstance(data, str | os.PathLike):
        yield data
        return
    source = load(data, options.max_bytes)
    with enough_memory(source.name):
        yield source


def read_rows(
    source: Source, options: ReadOptions, what: str
) -> tuple[set[str], list[tuple[str, Any]]]:
    """Return the names of columns, where there is a header, and the rows with their places."""
    kind = format_among(source, options, what, TABLE_KINDS, told=True)
    with enough_memory(source.name):
        if kind in ("csv", "tsv"):
            with field_limit(options.max_line_bytes):
                rows = Rows(source, options, tabs=kind == "tsv")
                check_once(rows.header, "duplicate", source.name, role="the column")
                return set(rows.header), [
                    (
                        at(source.name, f"line {line}"),
                        dict(zip(rows.header, row, strict=True)),
                    )
                    for line, row in rows
                ]
        if kind == "jsonl":
            return set(), [
                (at(source.name, f"line {n}"), v) for n, v in json_lines(source, [])
            ]
        found = parse_source(source)
        listed = enumerate(found if isinstance(found, list) else ())
        return set(), [
            (at(source.name, f"element [{n}]"), value) for n, value in listed
        ]


def read_table(
    data: Any,
    schema: Schema,
    options: ReadOptions,
    name: str = "",
    *,
    chosen: Mapping[str, str] | None = None,
    settle: Settle | None = None,
    kinds: Collection[str] = TABLE_KINDS,
    alone: str = "score",
) -> Table:
    """Read a table from a path, an open source, a frame, or a list of mappings or lists.

    Parameters
    ----------
    data : path, Source, frame, or iterable
    schema : Schema
    options : ReadOptions
    name : str
        What messages call Python objects.
    chosen : mapping from role to column, optional
        Columns that the user named.
    settle : callable, optional
        As for ``Schema.read``.
    kinds : collection of str
        The formats that a file may have.
    alone : str
        What the only column of a frame beside its index is called.

    Raises
    ------
    InputError
        If it is no such table; names the place.
    """
    if isinstance(data, str | os.PathLike):
        with opened(data, options) as source:
            return read_table(
                source, schema, options, chosen=chosen, settle=settle, kinds=kinds
            )
    if isinstance(data, Source):
        kind = format_among(data, options, f"{schema.noun}s are", kinds, told=True)
        if kind in ("csv", "tsv"):
            with field_limit(options.max_line_bytes):
                rows = Rows(data, options, tabs=kind == "tsv")
                if settle is None:  # of a header alone, too
                    schema.find(rows.header, chosen or {}, at(data.name, "line 1"))
                lines = ((line, rows.header, row) for line, row in rows)
                found = schema.read(lines, data.name, "line {}", chosen, settle)
            return replace(found, notes=[*rows.notes, *found.notes])
        if kind == "jsonl":
            notes: list[Any] = []
            records = _value_rows(json_lines(data, notes), schema, data.name, "line {}")
            found = schema.read(records, data.name, "line {}", chosen, settle)
            return replace(found, notes=[*notes, *found.notes])
        name, data = data.name, data.parsed(parse_source)
    elif is_frame(data):
        table = frame_table(data, options, name, alone)
        columns = zip(*(column.to_pylist() for column in table.columns), strict=True)
        cells = ((row, table.column_names, one) for row, one in enumerate(columns))
        return schema.read(cells, name, ROW, chosen, settle)
    if isinstance(data, str | bytes | Mapping) or not is_iterable(data):
        raise InputError(
            "wrong-type",
            name,
            value=data,
            wanted=f"a list of {schema.noun}s such as {schema.example}",
        )
    values = _value_rows(enumerate(data), schema, name, "element [{}]")
    return schema.read(values, name, "element [{}]", chosen, settle)


def _value_rows(
    values: Iterable[tuple[Any, Any]], schema: Schema, name: str, unit: str
) -> Iterator[Row]:
    """Yield objects and lists as rows."""
    for place, value in values:
        if isinstance(value, Mapping):
            yield place, [str(one) for one in value], list(value.values())
        elif isinstance(value, Sequence | np.ndarray) and not isinstance(
            value, str | bytes
        ):
            yield (
                place,
                None,
                value.tolist() if isinstance(value, np.ndarray) else value,
            )
        else:
            raise InputError(
                "wrong-type",
                at(name, unit.format(place)),
                value=value,
                wanted=f"a {schema.noun} such as {schema.example}",
            )


# ---- class lists and numbers --------------------------------------------------------------------


def read_class_list(
    path: str | os.PathLike[str], options: ReadOptions = DEFAULTS, noun: str = "class"
) -> list[str]:
    """Read the names of classes, in the order of the columns of a matrix.

    Parameters
    ----------
    path : str or path
        A text with one class a line, kept exactly; or JSON (by extension, format or first
        character on standard input): a list of names, COCO categories, an object with
        "categories", as a COCO file is, ``{"cat": 0, "dog": 1}`` or ``{"0": "cat", "1": "dog"}``.
    options : ReadOptions
    noun : {"class", "id", "class name"}
        What the names are; ids may be whole numbers.

    Returns
    -------
    list of str

    Raises
    ------
    InputError
        If a class is empty or stands twice; names the line or position.
    """
    with opened(path, options) as source:
        suffix, name = source.suffix, source.name
        as_json = options.format in ("json", "coco") or suffix == ".json"
        if as_json or (suffix is None and source.text.lstrip()[:1] in ("[", "{")):
            value, example = parse_source(source), 'a list such as ["cat", "dog"]'
            if noun == "class":
                value = _listed_classes(value)
                example += ', or COCO "categories"'
            if not isinstance(value, list) or not value:
                raise InputError("wrong-type", name, value=value, wanted=example)
            if noun != "class":  # 7 and "7" are one
                value = [str(one) if type(one) is int else one for one in value]
            elif isinstance(value[0], dict):
                value = list(category_names(value, name).values())
            check_classes(value, name, noun=noun)
            return value
        if suffix not in (None, "", ".txt", ".names", ".lst", ".list"):
            wanted = f"a .txt file with one {noun} a line, or a JSON list"
            raise InputError(
                "wrong-format",
                name,
                what=f"a list of names ({noun})",
                format=suffix,
                wanted=wanted,
            )
        lines = [
            line.removesuffix("\r") for line in source.text.rstrip("\r\n").split("\n")
        ]
        check_classes(lines, name, "line {}", 1, noun)
        return lines


def _listed_classes(value: Any) -> Any:
    """Return the categories of COCO, and the names of ``{"cat": 0}`` and ``{"0": "cat"}``."""
    if not isinstance(value, dict) or not value:
        return value
    if "categories" in value:
        return value["categories"]
    names = list(map(str, range(len(value))))
    if sorted(value, key=lambda name: (len(name), name)) == names:
        return [value[name] for name in names]
    numbers = list(value.values())
    if all(type(number) is int for number in numbers) and sorted(numbers) == list(
        range(len(value))
    ):
        return sorted(value, key=value.__getitem__)
    return value


def read_names(
    given: Any, options: ReadOptions, option: str, noun: str = "id"
) -> list[str] | None:
    """Return names, or numbers as names, that an option gives; read them if they are a path.

    Raises
    ------
    InputError
        If they are no list of names, it is empty, or a name is empty or stands twice.

    Examples
    --------
    >>> read_names([3, "cat"], DEFAULTS, "seen"), read_names(None, DEFAULTS, "seen")
    (['3', 'cat'], None)
    """
    if given is None:
        return None
    if isinstance(given, (str, os.PathLike)):
        return list(read_class_list(given, options.beside(), noun))
    found = (
        []
        if isinstance(given, bytes | Mapping) or not is_iterable(given)
        else list(given)
    )
    if not found:
        raise InputError(
            "bad-option",
            name=option,
            value=given,
            wanted=f"a list of names ({noun}), or a path",
        )
    whole = (int, np.integer)
    names = [
        str(n) if isinstance(n, whole) and not isinstance(n, bool) else n for n in found
    ]
    check_classes(names, option, noun=noun)
    return list(map(str, names))


def read_numbers(
    data: Any,
    options: ReadOptions = DEFAULTS,
    notes: list[Any] | None = None,
    of: str = "weights",
) -> dict[str, float] | NDArray[np.float64]:
    """Read a finite number for each item, such as its weight, or for each class.

    Parameters
    ----------
    data : path or frame
        JSON ``{id: number}`` or ``[number]``; CSV, TSV or a frame with an id and a number (a column
        "weight", "weights", "sample_weight", "value" or "number", or options.score_column);
        or a vector in .npy or .npz. The index of a pandas frame has the ids if no column does and
        it is not a plain numbering; a column that is then alone has the numbers, whatever its name.
    options : ReadOptions
    notes : list, optional
        What is odd in the file is added, such as columns that are not used.
    of : {"weights", "populations", "hops"}
        The option that gives them; the last two are of classes, whose columns have names such as
        "class" and "number", "images" or "hops".

    Returns
    -------
    dict of str to float, or array, shape (items,)
        The array if there are no ids.

    Raises
    ------
    InputError
        If a number is missing or not finite, or an id stands twice.
    """
    schema = schemas.NUMBERS[of]
    of_json = schema.reading(score=as_real)
    with opened(data, options) as given:
        kind, name = "", of
        if isinstance(given, Source):
            kinds = ("json", "csv", "tsv", "npy", "npz")
            kind, name = format_among(given, options, "numbers are", kinds), given.name
        value = parse_source(given) if kind == "json" else None
        if kind in ("npy", "npz"):
            return plain_array(given, options, 1).astype(np.float64)
        if isinstance(value, list):
            cells = of_json.columns[1].values(
                value, lambda i: at(name, f"element [{i}]")
            )
            return np.array(cells, np.float64)
        if isinstance(value, dict):
            found = of_json.read((("", None, pair) for pair in value.items()), name, "")
        elif kind == "json":
            raise InputError(
                "wrong-type", name, value=value, wanted='numbers such as {"id": 0.5}'
            )
        else:
            names = [] if kind else column_names(given)
            if names and of != "weights" and options.id_column not in names:
                known = (
                    one
                    for one in names
                    if one.strip().casefold() in schemas.CLASS_NAMES
                )
                options = replace(options, id_column=next(known, None))
            wanted = {role: options.column(role) for role in ("id", "score")}
            chosen = {role: one for role, one in wanted.items() if one is not None}
            found = read_table(
                given, schema, options, of, chosen=chosen, alone=schema.columns[1].what
            )
    if notes is not None:
        notes += found.notes
    return dict(zip(found.columns["id"], found.columns["score"], strict=True))


def read_dense(
    path: Any, options: ReadOptions, what: str, kinds: Collection[str]
) -> NDArray[Any]:
    """Read a dense matrix of finite numbers, such as a cardinality head.

    Parameters
    ----------
    path : path
    options : ReadOptions
    what : str
        What is read, for messages: "a matrix is".
    kinds : collection of str
        The formats that it may have.

    Returns
    -------
    array, shape (rows, columns)

    Raises
    ------
    InputError
        If it is no matrix, or a number is not finite; names row and column.
    """
    with opened(path, options) as source:
        format_among(source, options, what, kinds)
        return plain_array(source, options, 2)


# ---- pairs --------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two labels, and whether they mean the same."""

    a: str
    b: str
    same: bool


def as_pairs(
    pairs: str | os.PathLike[str] | Iterable[Any],
    options: ReadOptions = DEFAULTS,
    notes: list[Any] | None = None,
) -> list[Pair]:
    """Labelled pairs from a file or from Python objects.

    Parameters
    ----------
    pairs : path, frame, or iterable of (a, b, same) or of mappings with such keys
        A CSV or TSV file with a header, JSON lines of objects, or a JSON list of objects or of
        lists of three. Columns are known by name: ``a``, ``b`` and ``same``, or others such as
        ``word1``, ``word2`` and ``match``. ``same`` is true or false, 1 or 0, yes or no.
    options : ReadOptions
    notes : list, optional
        What is odd is added, such as columns and keys that are not used.

    Returns
    -------
    list of Pair

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a label is empty or an answer is neither yes nor
        no; names the place.

    Examples
    --------
    >>> as_pairs([("car", "automobile", True), {"a": "car", "b": "tree", "same": 0}])
    [Pair(a='car', b='automobile', same=True), Pair(a='car', b='tree', same=False)]
    """
    found = read_table(pairs, schemas.SAME_PAIRS, options, "pairs")
    if notes is not None:
        notes += found.notes
    return [
        Pair(*row)
        for row in zip(*(found.columns[one] for one in Pair._fields), strict=True)
    ]


ToId: TypeAlias = Callable[..., str]
Names: TypeAlias = "tuple[str, str] | None"
"""What both ids of pairs are called, if anything."""
IDS_BESIDE = ".ids.json"
"""What the name of a matrix ends with, of the file of its ids."""
_SIDES = ("images", "captions")
_SAME_NAME = {
    "img": "image",
    "cap": "caption",
    "sentence": "caption",
    "text": "caption",
}
_BESIDE = '{"images": [...], "captions": [...]}, the ids of rows and columns'


@dataclass(frozen=True, eq=False, repr=False)
class PairScores:
    """A score for each of some pairs, perhaps with the group that each pair is of.

    Attributes
    ----------
    first, second : list of str
        The ids of the pairs.
    values : array, shape (pairs,)
    groups : list of str or None
    source : str
    notes : list
    names : tuple of two str or None
        The columns of the ids.
    """

    first: list[str]
    second: list[str]
    values: Floats
    groups: list[str] | None
    source: str
    notes: list[Any]
    names: Names = None

    def __len__(self) -> int:
        return len(self.values)

    def of_pairs(
        self, first: Sequence[str], second: Sequence[str], names: Names = None
    ) -> Floats:
        """Return the values of pairs, in either order of their ids; nan where there is none.

        ``names`` is what these ids are called.
        """
        known = dict(
            zip(zip(self.first, self.second, strict=True), self.values, strict=True)
        )
        ways = [
            np.array(
                [known.get(pair, np.nan) for pair in zip(*ids, strict=True)], np.float64
            )
            for ids in ((first, second), (second, first))
        ]
        return _either_way(ways, _named_way(names, self.names), self.source)


@dataclass(frozen=True, eq=False, repr=False)
class PairRelation:
    """Which ids belong together."""

    related: Mapping[str, frozenset[str]]

    def of_pairs(
        self, first: Sequence[str], second: Sequence[str], names: Names = None
    ) -> Floats:
        """Return 1 or 0 for each pair; nan where neither id has an entry."""
        known = self.related
        ways = []
        for one, other in ((first, second), (second, first)):
            pairs = zip(one, other, strict=True)
            values = [b in known[a] if a in known else np.nan for a, b in pairs]
            ways.append(np.array(values, np.float64))
        return _either_way(ways, None)


@dataclass(frozen=True, eq=False, repr=False)
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
        best = None
        if ncs != "none":
            best = top_k(self.values, 1, columns=ncs == "columns")[0].ravel()

        def look_up(one: Sequence[str], other: Sequence[str]) -> Floats:
            row = np.array([self.rows.get(name, -1) for name in one], np.int64)
            column = np.array([self.columns.get(name, -1) for name in other], np.int64)
            found, values = (row >= 0) & (column >= 0), np.full(len(row), np.nan)
            row, column = row[found], column[found]
            values[found] = self.values[row, column]
            if best is not None:
                most = best[row if ncs == "rows" else column]
                values[found] = np.where(
                    most > 0, values[found] / np.where(most > 0, most, 1.0), 0
                )
            return values

        ways, way = (
            [look_up(first, second), look_up(second, first)],
            _named_way(names, self.names),
        )
        return _either_way(ways, way, self.source, together=True)


PairValues: TypeAlias = PairScores | PairRelation | PairMatrix


def _named_way(mine: Names, theirs: Names) -> int | None:
    """Tell by names whether pairs are (row, column), 0, or the reverse, 1; None if they do not.

    Examples
    --------
    >>> _named_way(("caption_id", "image_id"), ("images", "captions"))
    1
    """
    if mine is None or theirs is None:
        return None

    def bare(name: str) -> str:  # without what only says that the column holds ids
        plain = re.sub(r"[\W_]*(ids?)?$", "", name.strip().lower()).removesuffix("s")
        return _SAME_NAME.get(plain, plain)

    (a, b), (row, column) = map(bare, mine), map(bare, theirs)
    ways = [a == row or b == column, a == column or b == row]
    return None if ways[0] == ways[1] else int(ways[1])


def _either_way(
    ways: Sequence[Floats],
    named: int | None,
    where: str = "",
    *,
    together: bool = False,
) -> Floats:
    """Return the values of pairs, each the way round that is known; nan where neither is.

    Parameters
    ----------
    ways : pair of float arrays, shape (pairs,)
        Their values as they stand, and the other way round.
    named : int or None
        The way that the names of both sides tell; it holds if it has any pair.
    where : str, optional
    together : bool
        Whether all pairs are read the way round that is known of more of them.

    Raises
    ------
    InputError
        If both ways are known, with other values, and the other pairs do not tell which is meant.
    """
    straight, reverse = ways
    if named is not None and not np.isnan(ways[named]).all():
        return ways[named]
    known, other = ~np.isnan(straight), ~np.isnan(reverse)
    lead = int(known.sum()) - int(other.sum())
    either = known | other if together else known & other
    if lead == 0 and (either & (straight != reverse)).any():
        raise InputError("ambiguous-sides", where)
    if together:
        return ways[lead < 0]
    return np.where(known & (~other | (lead >= 0)), straight, reverse)


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
        A regular expression: an id is its first group, or what it finds if it has none.
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
    to_id = id_reader(ids)
    chosen = dict(zip(("first", "second", "score"), columns or (), strict=False))
    chosen |= {} if group is None else {"group": group}
    schema = schemas.SCORED_PAIRS.reading(first=to_id, second=to_id)
    found = read_table(pairs, schema, options, name, chosen=chosen)
    first, second, values = (
        found.columns[role] for role in ("first", "second", "score")
    )
    names = (found.names["first"], found.names["second"]) if found.names else None
    return PairScores(
        first,
        second,
        np.array(values, np.float64),
        found.columns.get("group"),
        found.source,
        found.notes,
        names,
    )


def open_pair_values(
    data: Any,
    *,
    ids: str | None = None,
    options: ReadOptions = DEFAULTS,
    name: str = "phi",
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
    if isinstance(data, tuple) and len(data) == 3:
        rows = data[0]
        listed = isinstance(rows, list | tuple) and rows
        # a matrix, perhaps a wrong one, and not a pair with its score
        if getattr(rows, "ndim", 0) == 2 or (
            listed and all(isinstance(row, list | tuple) for row in rows)
        ):
            return _matrix(plain_matrix(rows, name), data[1], data[2], to_id, name)
    if isinstance(data, Mapping):
        return _relation(data, to_id, name)
    with opened(data, options) as source:
        if isinstance(source, Source):
            kind = format_among(
                source, options, "values of pairs are", ("npy", *TABLE_KINDS)
            )
            if kind == "npy":
                ids_of = read_pair_ids(os.fspath(data) + IDS_BESIDE, options)
                made = _matrix(
                    plain_array(source, options, 2), *ids_of, to_id, source.name
                )
                return replace(made, names=_SIDES)
            if kind == "json" and isinstance(
                value := source.parsed(parse_source), Mapping
            ):
                return _relation(value, to_id, source.name)
        found = read_pair_scores(source, ids=ids, options=options, name=name)
    known: dict[tuple[str, str], float] = {}
    for pair, value in zip(
        zip(found.first, found.second, strict=True), found.values, strict=True
    ):
        if known.setdefault(pair, value) != value:
            raise InputError(
                "two-scores", found.source, pair=pair, one=known[pair], other=value
            )
    return found


def _matrix(values: Any, rows: Any, columns: Any, to_id: ToId, name: str) -> PairMatrix:
    sides = []
    for ids, size, what in (
        (rows, values.shape[0], "row"),
        (columns, values.shape[1], "column"),
    ):
        numbers = {to_id(one): place for place, one in enumerate(ids)}
        if not len(numbers) == len(ids) == size:
            raise InputError(
                "wrong-ids",
                name,
                n=len(ids),
                distinct=len(numbers),
                size=size,
                what=what,
            )
        sides.append(numbers)
    return PairMatrix(values, sides[0], sides[1], source=name)


def read_pair_ids(path: str, options: ReadOptions) -> tuple[list[Any], list[Any]]:
    """Read the ids of the rows and of the columns of a matrix, from the file beside it.

    Raises
    ------
    InputError
        If there is none, or it holds something else.
    """
    value = parse_source(load(path, options.max_bytes))
    both = [value.get(side) if isinstance(value, dict) else None for side in _SIDES]
    if not all(isinstance(one, list) for one in both):
        raise InputError("wrong-type", path, value=value, wanted=_BESIDE)
    return both[0], both[1]  # type: ignore[return-value]


def _relation(data: Mapping[Any, Any], to_id: ToId, name: str) -> PairRelation:
    related: dict[str, frozenset[str]] = {}
    for key, others in data.items():
        if isinstance(others, str | bytes | Mapping) or not isinstance(
            others, Iterable
        ):
            raise InputError(
                "wrong-type",
                at(name, "", str(key)),
                value=others,
                wanted="a list of ids",
            )
        own = to_id(key)  # several entries may have the same
        related[own] = related.get(own, frozenset()).union(map(to_id, others))
    return PairRelation(related)


def id_reader(expression: str | None) -> ToId:
    """Return what makes an id of a value; the expression finds the part that is compared.

    Raises
    ------
    InputError
        If the expression is not a regular one, or has several groups.
    """
    if expression is None:
        return as_id
    try:
        pattern = re.compile(expression)
    except re.error:
        pattern = re.compile("()()")
    if pattern.groups > 1:
        raise InputError(
            "bad-option",
            name="ids",
            value=expression,
            wanted="a regular expression with at most one group",
        )

    def convert(value: Any, role: str = "") -> str:
        text = as_id(value)
        hit = pattern.search(text)
        if hit is None or not hit[pattern.groups]:
            raise InputError("id-mismatch", value=text, pattern=expression)
        return str(hit[pattern.groups])

    return convert
