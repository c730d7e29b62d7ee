"""Values of pairs of ids: scores of pairs, a matrix with ids, or a relation.

Conventions
-----------
A matrix in ``phi.npy`` has its ids in ``phi.npy.ids.json``, as ``semmetrics pairs`` writes them:
``{"images": [...], "captions": [...]}``, for rows and columns. A relation is a JSON object
``{id: [ids]}``. A pair has the value 1 if one of its ids is listed under the other one, and 0
otherwise.

A pair (a, b) may be (row, column) or the reverse. The column names decide if both sides
have the same two names: "image" and "caption", or any other two. Otherwise the direction in which
more pairs have a value is used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from semmetrics import schema as schemas
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.top_k import top_k
from semmetrics.data.arrays import plain_array
from semmetrics.data.id_parts import ToId, id_reader
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.objects import plain_matrix
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_tables import TABLE_FORMATS, opened, read_side_table
from semmetrics.data.source import Source, load
from semmetrics.errors import InputError, format_place

IdNames: TypeAlias = "tuple[str, str] | None"
"""The names of the first and the second ids of pairs, if they have any."""
IDS_SUFFIX = ".ids.json"
"""The name of the file of ids is the name of the matrix with this suffix."""
_IDS_KEYS = ("images", "captions")
_IDS_EXAMPLE = '{"images": [...], "captions": [...]}, the ids of rows and columns'
_SYNONYMS = {
    "img": "image",
    "cap": "caption",
    "sentence": "caption",
    "text": "caption",
}


# ---- kinds of values ----------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class PairScores:
    """A score for each of some pairs, and optionally the group of each pair.

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
    names: IdNames = None

    def __len__(self) -> int:
        return len(self.values)

    def of_pairs(
        self, first: Sequence[str], second: Sequence[str], names: IdNames = None
    ) -> Floats:
        """Return the values of pairs, in either order of their ids.

        Parameters
        ----------
        first, second : sequence of str
            The ids of the pairs.
        names : tuple of two str, optional
            The names of these ids.

        Returns
        -------
        array, shape (pairs,)
            NaN for pairs without a value.
        """
        pairs = zip(self.first, self.second, strict=True)
        value_of_pair = dict(zip(pairs, self.values, strict=True))
        direct = _look_up(value_of_pair, first, second)
        reverse = _look_up(value_of_pair, second, first)
        is_reversed = _are_reversed(names, self.names)
        return _choose_per_pair(direct, reverse, is_reversed, self.source)


@dataclass(frozen=True, eq=False, repr=False)
class PairRelation:
    """Which ids belong together."""

    related: Mapping[str, frozenset[str]]

    def of_pairs(
        self, first: Sequence[str], second: Sequence[str], names: IdNames = None
    ) -> Floats:
        """Return 1 or 0 for each pair, and NaN if neither id has an entry."""
        direct = self._look_up(first, second)
        reverse = self._look_up(second, first)
        return _choose_per_pair(direct, reverse, None, "")

    def _look_up(self, ids: Sequence[str], others: Sequence[str]) -> Floats:
        """Return whether the other id is listed under each id, and NaN for ids without an entry."""
        values = np.full(len(ids), np.nan)
        for row, (id_, other_id) in enumerate(zip(ids, others, strict=True)):
            related_ids = self.related.get(id_)
            if related_ids is not None:
                values[row] = other_id in related_ids
        return values


@dataclass(frozen=True, eq=False, repr=False)
class PairMatrix:
    """A matrix with an id for each row and column.

    Attributes
    ----------
    values : array, shape (rows, columns)
    rows, columns : mapping from id to number
    names : tuple of two str or None
        The names of the ids of rows and of columns.
    source : str
    """

    values: Any
    rows: Mapping[str, int]
    columns: Mapping[str, int]
    names: IdNames = None
    source: str = ""

    def of_pairs(
        self,
        first: Sequence[str],
        second: Sequence[str],
        names: IdNames = None,
        ncs: str = "none",
    ) -> Floats:
        """Return the values of pairs, and NaN for pairs that are not in the matrix.

        Parameters
        ----------
        first, second : sequence of str
        names : tuple of two str, optional
            The names of these ids.
        ncs : {"none", "rows", "columns"}
            Divide by the largest value of the row or column. The result is the NCS@1 of a query
            that retrieves the other id of the pair. The definition of NCS adds 1e-10, which is left
            out here because it would make equal values differ.
        """
        largest_values = None
        if ncs != "none":
            top_values, _ = top_k(self.values, 1, columns=ncs == "columns")
            largest_values = top_values.ravel()
        direct = self._look_up(first, second, ncs, largest_values)
        reverse = self._look_up(second, first, ncs, largest_values)
        is_reversed = _are_reversed(names, self.names)
        return _choose_for_all(direct, reverse, is_reversed, self.source)

    def _look_up(
        self,
        row_ids: Sequence[str],
        column_ids: Sequence[str],
        ncs: str,
        largest_values: Floats | None,
    ) -> Floats:
        """Return the value of each pair of a row and a column, as in `of_pairs`."""
        rows = _number_ids(row_ids, self.rows)
        columns = _number_ids(column_ids, self.columns)
        has_value = (rows >= 0) & (columns >= 0)
        rows = rows[has_value]
        columns = columns[has_value]
        values = np.full(len(row_ids), np.nan)
        values[has_value] = self.values[rows, columns]
        if largest_values is not None:
            numbers = rows if ncs == "rows" else columns
            largest = largest_values[numbers]
            divisors = np.where(largest > 0, largest, 1.0)
            shares = values[has_value] / divisors
            values[has_value] = np.where(largest > 0, shares, 0)
        return values


PairValues: TypeAlias = PairScores | PairRelation | PairMatrix


def _look_up(
    value_of_pair: Mapping[tuple[str, str], float],
    first: Sequence[str],
    second: Sequence[str],
) -> Floats:
    """Return the value of each pair, and NaN for pairs without one."""
    pairs = zip(first, second, strict=True)
    values = [value_of_pair.get(pair, np.nan) for pair in pairs]
    return np.array(values, np.float64)


def _number_ids(ids: Sequence[str], numbers: Mapping[str, int]) -> Ints:
    """Return the number of each id, and -1 for ids without one."""
    return np.array([numbers.get(id_, -1) for id_ in ids], np.int64)


# ---- direction of pairs -------------------------------------------------------------------------


def _are_reversed(names: IdNames, stored_names: IdNames) -> bool | None:
    """Return whether pairs are in the reverse order of the stored ones, or None if unclear.

    Examples
    --------
    >>> _are_reversed(("caption_id", "image_id"), ("images", "captions"))
    True
    """
    if names is None or stored_names is None:
        return None
    first, second = map(_plain_name, names)
    stored_first, stored_second = map(_plain_name, stored_names)
    is_direct = first == stored_first or second == stored_second
    is_reverse = first == stored_second or second == stored_first
    if is_direct == is_reverse:
        return None
    return is_reverse


def _plain_name(name: str) -> str:
    """Return the noun in the name of a column of ids: "image" for "Image IDs"."""
    plain = re.sub(r"[\W_]*(ids?)?$", "", name.strip().lower()).removesuffix("s")
    return _SYNONYMS.get(plain, plain)


def _choose_per_pair(
    direct: Floats, reverse: Floats, is_reversed: bool | None, where: str
) -> Floats:
    """Return the value of each pair in the direction in which it has one.

    Parameters
    ----------
    direct, reverse : float array, shape (pairs,)
        The values of the pairs as they are, and with their ids exchanged. NaN for no value.
    is_reversed : bool or None
        The direction according to the names of both sides. It is used if any pair has a value in
        this direction.
    where : str

    Raises
    ------
    InputError
        If a pair has different values in both directions, and as many pairs have a value in one
        direction as in the other.
    """
    named = _values_of_named_direction(direct, reverse, is_reversed)
    if named is not None:
        return named
    has_direct = ~np.isnan(direct)
    has_reverse = ~np.isnan(reverse)
    lead = _lead_of_direct(direct, reverse)
    differs = has_direct & has_reverse & (direct != reverse)
    if lead == 0 and differs.any():
        raise InputError("ambiguous-sides", where)
    use_direct = has_direct & (~has_reverse | (lead >= 0))
    return np.where(use_direct, direct, reverse)


def _choose_for_all(
    direct: Floats, reverse: Floats, is_reversed: bool | None, where: str
) -> Floats:
    """Return the values of all pairs in the direction in which more pairs have one.

    The parameters are the same as for `_choose_per_pair`.

    Raises
    ------
    InputError
        If as many pairs have a value in one direction as in the other, and the values differ.
    """
    named = _values_of_named_direction(direct, reverse, is_reversed)
    if named is not None:
        return named
    has_value = ~np.isnan(direct) | ~np.isnan(reverse)
    lead = _lead_of_direct(direct, reverse)
    differs = has_value & (direct != reverse)
    if lead == 0 and differs.any():
        raise InputError("ambiguous-sides", where)
    if lead < 0:
        return reverse
    return direct


def _values_of_named_direction(
    direct: Floats, reverse: Floats, is_reversed: bool | None
) -> Floats | None:
    """Return the values in the direction of the names, or None if no pair has one."""
    if is_reversed is None:
        return None
    values = reverse if is_reversed else direct
    if np.isnan(values).all():
        return None
    return values


def _lead_of_direct(direct: Floats, reverse: Floats) -> int:
    """Return how many more pairs have a direct value than a reverse one."""
    return int(np.isnan(reverse).sum()) - int(np.isnan(direct).sum())


# ---- reading ------------------------------------------------------------------------------------


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
        The columns or keys of both ids and of the score. Default: the first three.
    group : str, optional
        The column or key of the group of a pair.
    ids : str, optional
        A regular expression that matches the part of an id to compare: its only group, or the
        whole match if it has no group.
    options : ReadOptions
    name : str
        What messages call Python objects.

    Returns
    -------
    PairScores

    Raises
    ------
    InputError
        If there is no pair, a column is missing, a score is not a finite number, or an id does not
        match the expression. The message names the place.

    Examples
    --------
    >>> scores = read_pair_scores([("a.jpg", "cap:07", 4.5)], ids=r"([a-z1-9]+)(?:[.]jpg)?$")
    >>> scores.first, scores.second, scores.values.tolist()
    (['a'], ['7'], [4.5])
    """
    to_id = id_reader(ids)
    chosen: dict[str, str] = {}
    if columns is not None:
        chosen.update(zip(("first", "second", "score"), columns, strict=False))
    if group is not None:
        chosen["group"] = group
    schema = schemas.SCORED_PAIRS.with_readers(first=to_id, second=to_id)
    table = read_side_table(pairs, schema, options, name, chosen=chosen)
    names = None
    if table.names:
        names = (table.names["first"], table.names["second"])
    return PairScores(
        first=table.columns["first"],
        second=table.columns["second"],
        values=np.array(table.columns["score"], np.float64),
        groups=table.columns.get("group"),
        source=table.source,
        notes=table.notes,
        names=names,
    )


def open_pair_values(
    data: Any,
    *,
    ids: str | None = None,
    options: ReadOptions = DEFAULTS,
    name: str = "phi",
) -> PairValues:
    """Open values of pairs of ids: a matrix, a relation, or scores of pairs.

    Parameters
    ----------
    data : path, (matrix, rows, columns), mapping from id to ids, or scores of pairs
        A path of a .npy file with a file of ids, of a JSON object, or of a table as for
        `read_pair_scores`.
    ids : str, optional
        As for `read_pair_scores`. It also applies to ids of rows, columns and relations.
    options : ReadOptions
    name : str
        What messages call Python objects.

    Returns
    -------
    PairMatrix, PairRelation or PairScores

    Raises
    ------
    InputError
        If the data are none of these, or the ids do not fit the matrix.

    Examples
    --------
    >>> phi = open_pair_values((np.eye(2), ["a", "b"], ["c", "d"]))
    >>> phi.of_pairs(["c", "d", "e"], ["a", "a", "a"]).tolist()
    [1.0, 0.0, nan]
    >>> open_pair_values({"a": ["c"]}).of_pairs(["a", "d"], ["c", "a"]).tolist()
    [1.0, 0.0]
    """
    to_id = id_reader(ids)
    if _is_matrix_with_ids(data):
        matrix, row_ids, column_ids = data
        values = plain_matrix(matrix, name)
        return _as_pair_matrix(values, row_ids, column_ids, to_id, name)
    if isinstance(data, Mapping):
        return _as_relation(data, to_id, name)
    with opened(data, options) as source:
        if isinstance(source, Source):
            pair_values = _read_matrix_or_relation(source, data, to_id, options)
            if pair_values is not None:
                return pair_values
        scores = read_pair_scores(source, ids=ids, options=options, name=name)
    _check_one_score_per_pair(scores)
    return scores


def _is_matrix_with_ids(data: Any) -> bool:
    """Return whether data are (matrix, rows, columns) and not a pair with its score.

    The matrix may be an invalid one, which is reported later.
    """
    if not isinstance(data, tuple) or len(data) != 3:
        return False
    matrix = data[0]
    if getattr(matrix, "ndim", 0) == 2:
        return True
    if not isinstance(matrix, list | tuple) or not matrix:
        return False
    return all(isinstance(row, list | tuple) for row in matrix)


def _read_matrix_or_relation(
    source: Source, path: Any, to_id: ToId, options: ReadOptions
) -> PairMatrix | PairRelation | None:
    """Read a matrix or a relation from a file. Return None if it is a table."""
    formats = ("npy", *TABLE_FORMATS)
    file_format = format_among(source, options, "values of pairs are", formats)
    if file_format == "npy":
        row_ids, column_ids = read_pair_ids(os.fspath(path) + IDS_SUFFIX, options)
        values = plain_array(source, options, 2)
        matrix = _as_pair_matrix(values, row_ids, column_ids, to_id, source.name)
        return replace(matrix, names=_IDS_KEYS)
    if file_format == "json":
        parsed = source.parsed(parse_source)
        if isinstance(parsed, Mapping):
            return _as_relation(parsed, to_id, source.name)
    return None


def _check_one_score_per_pair(scores: PairScores) -> None:
    """Raise an error if a pair has two scores that differ."""
    score_of_pair: dict[tuple[str, str], float] = {}
    pairs = zip(scores.first, scores.second, strict=True)
    for pair, score in zip(pairs, scores.values, strict=True):
        first_score = score_of_pair.setdefault(pair, score)
        if first_score != score:
            values = {"pair": pair, "one": first_score, "other": score}
            raise InputError("two-scores", scores.source, **values)


def _as_pair_matrix(
    values: Any, rows: Any, columns: Any, to_id: ToId, name: str
) -> PairMatrix:
    """Return a matrix with the ids of its rows and columns."""
    n_rows, n_columns = values.shape
    numbers_of_rows = _number_unique_ids(rows, n_rows, to_id, "row", name)
    numbers_of_columns = _number_unique_ids(columns, n_columns, to_id, "column", name)
    return PairMatrix(values, numbers_of_rows, numbers_of_columns, source=name)


def _number_unique_ids(
    ids: Any, size: int, to_id: ToId, axis: str, name: str
) -> dict[str, int]:
    """Return the number of each id. There must be one id for each row or column."""
    numbers = {to_id(id_): number for number, id_ in enumerate(ids)}
    n_ids = len(ids)
    n_distinct = len(numbers)
    if n_distinct != n_ids or n_ids != size:
        values = {"n": n_ids, "distinct": n_distinct, "size": size, "what": axis}
        raise InputError("wrong-ids", name, **values)
    return numbers


def read_pair_ids(path: str, options: ReadOptions) -> tuple[list[Any], list[Any]]:
    """Read the ids of the rows and of the columns of a matrix from their file.

    Raises
    ------
    InputError
        If there is no such file, or it contains something else.
    """
    parsed = parse_source(load(path, options.max_bytes))
    rows_key, columns_key = _IDS_KEYS
    row_ids = column_ids = None
    if isinstance(parsed, dict):
        row_ids = parsed.get(rows_key)
        column_ids = parsed.get(columns_key)
    if not isinstance(row_ids, list) or not isinstance(column_ids, list):
        raise InputError("wrong-type", path, value=parsed, wanted=_IDS_EXAMPLE)
    return row_ids, column_ids


def _as_relation(data: Mapping[Any, Any], to_id: ToId, name: str) -> PairRelation:
    """Return a relation from a mapping of ids to lists of ids."""
    related: dict[str, frozenset[str]] = {}
    for key, others in data.items():
        is_text = isinstance(others, str | bytes)
        if is_text or isinstance(others, Mapping) or not isinstance(others, Iterable):
            where = format_place(name, "", str(key))
            raise InputError("wrong-type", where, value=others, wanted="a list of ids")
        id_ = to_id(key)
        # The expression may match the same part of two keys.
        related_ids = related.get(id_, frozenset())
        related[id_] = related_ids.union(map(to_id, others))
    return PairRelation(related)
