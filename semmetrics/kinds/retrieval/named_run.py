"""Name the queries and the candidates of a run.

A run is what ranks a gallery for each query: a matrix of similarities, embeddings, or ranked lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.ragged import Ints
from semmetrics.data.item_ids import Ids
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import (
    RankedLists,
    Rows,
    Similarities,
    check_repeats,
)
from semmetrics.errors import InputError
from semmetrics.kinds import class_names
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.kinds.retrieval.embeddings import Embeddings
from semmetrics.messages import pluralize

_MAX_DIGITS = 17
"""The digits of the longest id that is read as a position. All such numbers fit in int64."""


class NamedRun(NamedTuple):
    """A run with the names of its rows and columns.

    Attributes
    ----------
    scores : Rows
        What ranks the columns for each row.
    rows, columns : sequence of str, or range
        The names. A range if they are identified by position.
    source : str
        The name of the run in messages.
    is_listed : bool
        Whether no gallery was given, so that it consists of the candidates that the ranked lists
        and the positives name.
    """

    scores: Rows
    rows: Ids
    columns: Ids
    source: str
    is_listed: bool = False

    def transpose(self) -> NamedRun:
        """Return the run with the columns as queries.

        Raises
        ------
        InputError
            If it consists of ranked lists.
        """
        if isinstance(self.scores, RankedLists):
            what = "ranked lists, which have only one direction"
            raise InputError("not-applicable", self.source, name="direction", what=what)
        return NamedRun(self.scores.transpose(), self.columns, self.rows, self.source)


def name_run(
    run: Lists | Matrix, positives: Lists, options: ResolvedOptions
) -> NamedRun:
    """Name the rows and columns of a run by its own names or by the names of the options.

    Raises
    ------
    InputError
        If the names contradict the options, or are not as many as the rows or columns.
    """
    if isinstance(run, Lists):
        return _name_lists(run, positives, options.queries, options.gallery)
    scores: Rows
    if run.is_sparse:
        ranked_lists = run.ranked()
        scores = RankedLists.of(ranked_lists.side, run.values.shape[1])
    elif isinstance(run, Embeddings):
        scores = run.values
    else:
        scores = Similarities(run.values)
    row_names = [str(name) for name in run.ids] if run.has_ids else None
    column_names = [str(name) for name in run.vocabulary] if run.named else None
    n_rows, n_columns = scores.shape
    rows = _choose_names(run, "queries", options, row_names, n_rows, n_columns)
    columns = _choose_names(run, "gallery", options, column_names, n_columns, n_rows)
    return NamedRun(scores, rows, columns, run.source)


def _choose_names(
    run: Matrix,
    option: str,
    options: ResolvedOptions,
    own_names: list[str] | None,
    size: int,
    other_size: int,
) -> Ids:
    """Return the names of the rows or columns of a matrix.

    Parameters
    ----------
    run : Matrix
    option : {"queries", "gallery"}
        The option that gives the names.
    options : ResolvedOptions
    own_names : list of str or None
        The names that the matrix has.
    size, other_size : int
        The number of these rows or columns, and of the others.
    """
    what = "row" if option == "queries" else "column"
    names_of_option = options.value(option)
    has_both = names_of_option is not None and own_names is not None
    if has_both and own_names != names_of_option:
        raise InputError("other-names", run.source, what=what, option=option)
    names: Ids = names_of_option or own_names or range(size)
    check_size(len(names), size, option, what, other_size)
    return names


def _name_lists(run: Lists, positives: Lists, queries: Any, gallery: Any) -> NamedRun:
    """Name the queries and candidates of ranked lists.

    Parameters
    ----------
    run, positives : Lists
    queries : sequence of str or None
        If the lists have no names: their names. Otherwise: all names that they may have.
    gallery : sequence of str or None
        Without it, the gallery consists of the candidates that the run and the positives name.
    """
    check_repeats(run)
    candidates = [str(name) for name in run.vocabulary]
    columns = gallery
    if gallery is None:
        columns = sorted({*candidates, *map(str, positives.vocabulary)})
    found_columns, unknown_candidates = class_names.find_names(candidates, columns)
    rows = run.ids
    if queries is not None and run.has_ids:
        _, unknown_queries = class_names.find_names(rows, queries)
        _check_known(run, "query", unknown_queries, "queries")
    elif queries is not None:
        check_size(len(queries), len(run), "queries", "list", other_size=-1)
        rows = queries
    _check_known(run, "candidate", unknown_candidates, "gallery")
    column_of_code = found_columns.astype(np.int32)
    side = replace(run.side, codes=column_of_code[run.side.codes])
    ranked = RankedLists.of(side, len(columns))
    return NamedRun(ranked, rows, columns, run.source, is_listed=gallery is None)


def _check_known(run: Lists, what: str, unknown: Sequence[str], option: str) -> None:
    """Raise an error if a run has names that an option does not list."""
    if unknown:
        raise InputError(
            "not-in-option",
            run.source,
            what=what,
            n=len(unknown),
            names=unknown,
            option=option,
        )


def name_positives(positives: Lists, run: NamedRun, query_noun: str) -> Lists:
    """Return positives with ids: their own, or else the names of the rows, if there are any.

    Parameters
    ----------
    positives : Lists
    run : NamedRun
        Its rows are the queries of the positives.
    query_noun : {"row", "column"}
        The noun for a query in messages.

    Raises
    ------
    InputError
        If positives without ids are not as many as the rows. If positives have ids, but the rows
        have no names, and the ids are not the positions of rows of a matrix.
    """
    rows = run.rows
    if not positives.has_ids:  # the first list is for the first row
        check_size(
            len(positives),
            len(rows),
            positives.source,
            query_noun,
            other_size=len(run.columns),
            found_noun="list",
        )
        if isinstance(rows, range):
            return positives
        return replace(positives, ids=[str(name) for name in rows])
    if not isinstance(rows, range):
        return positives
    unnumbered = [name for name in positives.ids if read_position(name) is None]
    is_ranked = isinstance(run.scores, RankedLists)
    if unnumbered or (is_ranked and len(positives)):
        name = unnumbered[0] if unnumbered else positives.ids[0]
        option = "queries" if query_noun == "row" else "gallery"
        raise InputError(
            "unnamed-rows", positives.source, name=name, what=query_noun, option=option
        )
    return positives


def check_size(
    n: int,
    size: int,
    where: str,
    wanted_noun: str,
    other_size: int,
    found_noun: str = "name",
) -> None:
    """Raise an error if the number of names is not the number of rows or columns.

    Parameters
    ----------
    n, size : int
        The number of names, and of the rows or columns that they name.
    where : str
        The place in messages.
    wanted_noun : str
        The noun for a row or column in messages: "row", "column" or "list".
    other_size : int
        The number of columns if rows are named, or the other way round. If it is the number of
        names, the error reports that the names seem transposed. -1 if they cannot be.
    found_noun : str
        The noun for a name in messages.
    """
    if n == size:
        return
    code = "wrong-count"
    if n == other_size:
        code = "transposed-names"
    values = {"found": pluralize(n, found_noun), "wanted": pluralize(size, wanted_noun)}
    if code == "transposed-names" and found_noun != "name":
        values["fix"] = "Transpose the matrix."
    raise InputError(code, where, **values)


def read_position(name: Any) -> int | None:
    """Return an id as a position, or None if the id is not an integer from 0.

    Examples
    --------
    >>> read_position("7"), read_position("img7")
    (7, None)
    """
    text = str(name)
    if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS:
        return int(text)
    return None


# ---- candidates that are the query itself -------------------------------------------------------


def find_own_columns(run: NamedRun) -> Ints:
    """Return the column of the candidate that has the id of each row, or -1 if there is none."""
    if isinstance(run.rows, range) or isinstance(run.columns, range):
        return np.full(len(run.rows), -1)
    codes, _ = class_names.find_names(list(map(str, run.rows)), run.columns)
    return codes


def without_own_ids(run: NamedRun) -> tuple[NamedRun, int]:
    """Remove the candidates that have the id of their query from ranked lists, and count them.

    Raises
    ------
    InputError
        If the run is a matrix.
    """
    ranked = run.scores
    if not isinstance(ranked, RankedLists):
        raise InputError(
            "not-applicable",
            run.source,
            name="ignore_identical_ids",
            what="a matrix, which ranks all candidates",
            fix="give ranked lists",
        )
    own_columns = find_own_columns(run)
    side = ranked.side
    row_of_entries = ragged.row_numbers(side.indptr)
    is_other = side.codes != own_columns[row_of_entries]
    others = RankedLists(side.keep(is_other), ranked.size)
    return run._replace(scores=others), int((~is_other).sum())
