"""Join the positives of queries with the rows of a run.

Conventions
-----------
Rows and positives are joined by id, or by position if the rows have no names. Ids that are integers
are then positions. The positives of columns, as queries, are the positives of rows transposed,
unless they are given themselves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Ints
from semmetrics.data.item_ids import Ids, take_ids
from semmetrics.data.join import join_rows
from semmetrics.data.lists import Lists, Side
from semmetrics.errors import InputError
from semmetrics.kinds import class_names
from semmetrics.kinds.retrieval.named_run import NamedRun, read_position


@dataclass(frozen=True, eq=False, repr=False)
class JoinedQueries:
    """Queries with their rows in a run, and their positives.

    Attributes
    ----------
    ids : sequence of str, range or int array
    rows : int array, shape (queries,)
        The row of each query, or -1 if it has none.
    positives : Side
        The positives of each query, as columns of the run, with their grades as scores. The
        positives that are not in the gallery have the next numbers after the last column.
    counts : mapping from code to int
        The numbers of queries and positives that were left out, by reason.
    outside : sequence of str
        The names of the positives that are not in the gallery.
    """

    ids: Ids
    rows: Ints
    positives: Side
    counts: Mapping[str, int]
    outside: Sequence[str] = ()

    @property
    def row_of_positive(self) -> Ints:
        """The row of the query of each positive, or -1 if the query has none."""
        return self.rows[ragged.row_numbers(self.positives.indptr)]

    @staticmethod
    def of(positives: Lists, run: NamedRun, missing: str) -> JoinedQueries:
        """Join positives with the rows of a run.

        Parameters
        ----------
        positives : Lists
        run : NamedRun
        missing : {"error", "skip", "empty"}
            What to do with queries that one side does not have.

        Raises
        ------
        InputError
            If the ids do not match, or a positive is not in the gallery.
        """
        ids = run.rows
        if isinstance(ids, range) and positives.has_ids:
            ids = [str(row) for row in ids]
        # The errors of columns come first, because they recognise a transposed matrix.
        columns, outside = _find_columns(positives, run, missing)
        if isinstance(run.rows, range) and missing == "error":
            _check_positions(positives, run.rows)
        joined, rows = join_rows(ids, positives, source=run.source, missing=missing)
        codes = columns[joined.ref.codes]
        n_outside = int((codes >= len(run.columns)).sum())
        counts = {**joined.counts, "positives_outside": n_outside}
        side = Side(joined.ref.indptr, codes.astype(np.int32), joined.ref.scores)
        return JoinedQueries(joined.ids, rows, side, counts, outside)

    def transpose(self, run: NamedRun, missing: str) -> JoinedQueries:
        """Return the columns as queries. Their positives are the rows that have them as positives.

        Queries without a row become positives outside the gallery.

        Parameters
        ----------
        run : NamedRun
            The transposed run.
        missing : {"error", "skip", "empty"}
            "skip" leaves out the columns without positives.
        """
        n_queries = len(run.rows)
        n_candidates = len(run.columns)
        without_row = np.flatnonzero(self.rows < 0)
        candidate_of_query = self.rows.copy()
        candidate_of_query[without_row] = n_candidates + np.arange(len(without_row))
        codes = self.positives.codes
        # A positive outside the gallery is not a query.
        is_query = codes < n_queries
        queries = codes[is_query]
        candidates = candidate_of_query[ragged.row_numbers(self.positives.indptr)]
        candidates = candidates[is_query]
        order = np.lexsort((candidates, queries))
        candidates = candidates[order]
        grades = self.positives.scores
        if grades is not None:
            grades = grades[is_query][order]

        n_positives = np.bincount(queries, minlength=n_queries)
        rows = np.arange(n_queries)
        counts = {}
        if missing == "skip":
            rows = np.flatnonzero(n_positives)
            counts["missing_reference"] = n_queries - len(rows)
        counts["positives_outside"] = int((candidates >= n_candidates).sum())
        ids = run.rows
        if len(rows) < n_queries:
            ids = take_ids(run.rows, rows)
        indptr = ragged.offsets(n_positives[rows])
        side = Side(indptr, candidates.astype(np.int32), grades)
        outside = [str(self.ids[query]) for query in without_row.tolist()]
        return JoinedQueries(ids, rows, side, counts, outside)


def _check_positions(positives: Lists, rows: range) -> None:
    """Raise an error if ids of positives are not positions of rows, which have no names."""
    outside = []
    for name in positives.ids:
        position = read_position(name)
        if position is None or position not in rows:
            outside.append(name)
    if outside:
        raise InputError(
            "outside-rows",
            positives.source,
            n=len(outside),
            names=outside,
            size=len(rows),
        )


def _find_columns(
    positives: Lists, run: NamedRun, missing: str
) -> tuple[Ints, list[str]]:
    """Return the column of each name of positives, and the names outside the gallery.

    The names outside the gallery have the next numbers after the last column.

    Raises
    ------
    InputError
        If positives are not in the gallery, unless such queries are skipped or scored as they are.
    """
    names = [str(name) for name in positives.vocabulary]
    n_columns = len(run.columns)
    is_numbered = isinstance(run.columns, range)
    if is_numbered:
        columns = _read_positions(names, n_columns)
    else:
        columns, _ = class_names.find_names(names, run.columns)
    outside_codes = np.flatnonzero((columns < 0) & positives.occurring())
    outside = [names[code] for code in outside_codes.tolist()]
    if outside and missing == "error":
        code = "outside-gallery"
        if is_numbered:
            code = "outside-columns"
            if _are_transposed(positives, names, run):
                code = "transposed-positives"
        values: dict[str, Any] = {
            "n": len(outside),
            "names": outside,
            "size": n_columns,
        }
        rows, _ = class_names.find_names(outside, run.rows)
        if code == "outside-gallery" and (rows >= 0).all():
            values["fix"] = "the positives are ids of rows, so transpose the matrix"
        raise InputError(code, positives.source, **values)
    columns[outside_codes] = n_columns + np.arange(len(outside))
    return columns, outside


def _read_positions(names: Sequence[str], n_columns: int) -> Ints:
    """Return each name as a number, or -1 if it is not the position of a column."""
    positions = np.full(len(names), -1)
    for number, name in enumerate(names):
        position = read_position(name)
        if position is not None and position < n_columns:
            positions[number] = position
    return positions


def _are_transposed(positives: Lists, names: Sequence[str], run: NamedRun) -> bool:
    """Return whether the positives fit the transpose of a run without names."""
    if len(positives) > len(run.columns):
        return False
    for name in names:
        position = read_position(name)
        if position is None or position >= len(run.rows):
            return False
    return True
