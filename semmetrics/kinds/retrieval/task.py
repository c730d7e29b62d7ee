"""Make retrieval tasks from a run and positives: one for each direction.

Conventions
-----------
In the direction "i2t", the rows of a run are the queries and the columns are the gallery. In the
direction "t2i" it is the other way round.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.hashing import Hashes, hash_ids, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.item_ids import Ids
from semmetrics.data.lists import Lists, Side
from semmetrics.data.matrix import Matrix
from semmetrics.data.rankings import Products
from semmetrics.data.swapped import check_rankings, observe_truth
from semmetrics.data.tasks.retrieval import RetrievalTask
from semmetrics.errors import InputError
from semmetrics.kinds.options import ResolvedOptions
from semmetrics.kinds.retrieval.captioned_truth import CAPTIONS, CaptionedTruth
from semmetrics.kinds.retrieval.joined_queries import JoinedQueries
from semmetrics.kinds.retrieval.named_run import (
    NamedRun,
    name_positives,
    name_run,
    without_own_ids,
)
from semmetrics.kinds.retrieval.oddities import observe_run
from semmetrics.kinds.retrieval.positives import as_positives
from semmetrics.messages import pluralize

LISTED = "listed"
"""The setting ``gallery`` in a signature if only lists name the gallery."""
_NO_FOLD = -1
_NO_FOLD_OF_QUERY = -2  # differs from the fold of every candidate


class _Folds(NamedTuple):
    """The folds of a run. Each fold is ranked separately.

    Attributes
    ----------
    rows, columns : int arrays
        The fold of each row and column, or -1 for a column that is not a positive.
    """

    rows: Ints
    columns: Ints

    def transpose(self) -> _Folds:
        """Return the folds with columns as rows."""
        return _Folds(self.columns, self.rows)


class _Direction(NamedTuple):
    """One direction of a run.

    Attributes
    ----------
    name : {"i2t", "t2i"}
    run : NamedRun
        With the queries as rows.
    queries : JoinedQueries
    folds : _Folds or None
    """

    name: str
    run: NamedRun
    queries: JoinedQueries
    folds: _Folds | None


def make_parts(
    run: Lists | Matrix, truth: Lists | Matrix, options: ResolvedOptions
) -> dict[str, RetrievalTask]:
    """Make the tasks of one system: one, or one for each direction.

    Parameters
    ----------
    run, truth : Lists or Matrix
        The predictions and the ground truth.
    options : ResolvedOptions
        The inputs that they name are read.

    Returns
    -------
    dict from part to RetrievalTask
        The parts are "i2t" and "t2i". A single task is the part "".

    Raises
    ------
    InputError
        If sizes or ids do not match, a positive is not in the gallery, a candidate is ranked twice,
        or the options contradict each other.
    """
    if isinstance(run, Lists) and isinstance(truth, Lists):
        check_rankings(run, truth)
    n_columns = int(run.values.shape[1]) if isinstance(run, Matrix) else None
    positives, n_left_out = as_positives(truth, n_columns)
    named_run = name_run(run, positives, options)
    positives = name_positives(positives, named_run, "row")
    positives_of_columns = _read_reverse_positives(named_run, options)
    counts = {"graded_0": n_left_out}
    if options.ignore_identical_ids:
        named_run, counts["own_ids_left_out"] = without_own_ids(named_run)
    queries = JoinedQueries.of(positives, named_run, options.missing)
    folds = None
    if options.folds:
        folds = _assign_folds(named_run, queries, options.folds)
    extra_inputs = _with_captions(positives, named_run, options)

    direction = _Direction("i2t", named_run, queries, folds)
    parts: dict[str, RetrievalTask] = {}
    if options.direction != "t2i":
        parts["i2t"] = _make_task(direction, options, counts, extra_inputs)
    if options.direction != "i2t":
        transposed = _transpose(direction, positives_of_columns, options.missing)
        parts["t2i"] = _make_task(transposed, options, counts, extra_inputs)
    observations_on_truth = observe_truth(truth)
    for task in parts.values():
        task.observations.merge(observations_on_truth)
    if options.direction == "both":
        return parts
    return {"": parts[options.direction]}


def _with_captions(
    positives: Lists, run: NamedRun, options: ResolvedOptions
) -> dict[str, Any]:
    """Return the captions of a task if they are given. Phi can be computed from them."""
    if options.captions is None:
        return {}
    return {CAPTIONS: CaptionedTruth(positives, run, options.captions)}


def _read_reverse_positives(run: NamedRun, options: ResolvedOptions) -> Lists | None:
    """Return the positives of the columns, if they are given.

    Raises
    ------
    InputError
        If columns are not queries, or there are not as many lists of positives as columns.
    """
    if options.reverse_positives is None:
        return None
    if options.direction == "i2t":
        what = "direction='i2t'"
        raise InputError("not-applicable", name="reverse_positives", what=what)
    positives, _ = as_positives(options.reverse_positives, len(run.rows))
    return name_positives(positives, run.transpose(), "column")


def _transpose(
    direction: _Direction, positives_of_columns: Lists | None, missing: str
) -> _Direction:
    """Return the direction "t2i" of a run, from the direction "i2t".

    Parameters
    ----------
    direction : _Direction
    positives_of_columns : Lists or None
        Without them, the positives of the rows are transposed.
    missing : {"error", "skip", "empty"}
    """
    run = direction.run.transpose()
    if positives_of_columns is None:
        queries = direction.queries.transpose(run, missing)
    else:
        queries = JoinedQueries.of(positives_of_columns, run, missing)
    folds = direction.folds
    if folds is not None:
        folds = folds.transpose()
    return _Direction("t2i", run, queries, folds)


# ---- the task of one direction ------------------------------------------------------------------


def _make_task(
    direction: _Direction,
    options: ResolvedOptions,
    counts: Mapping[str, int],
    extra_inputs: Mapping[str, Any],
) -> RetrievalTask:
    """Make the task of one direction.

    Parameters
    ----------
    direction : _Direction
    options : ResolvedOptions
    counts : mapping from code to int
        The numbers of entries that were left out of both directions.
    extra_inputs : mapping
        Further data that measures need, such as captions.
    """
    run = direction.run
    queries = direction.queries
    settings = _task_settings(direction, options)
    all_counts = {**counts, **queries.counts}
    positives = queries.positives
    folds = None
    if direction.folds is not None:
        folds = _folds_of_queries(direction.folds, queries)
        is_in_fold = _is_in_fold(folds, queries)
        all_counts["other_folds"] = int((~is_in_fold).sum())
        positives = positives.keep(is_in_fold)
    positives = _sort_positives(positives)
    gallery = run.columns
    if queries.outside:
        gallery = [*map(str, gallery), *queries.outside]
    groups = None
    if direction.name == "t2i":
        groups = _group_by_positive(queries.ids, positives, gallery)
    if groups is not None:
        settings["groups"] = "positive"
    weights = _align_weights(queries.ids, options)
    if weights is not None:
        settings["weights"] = "given"
    observations = observe_run(run, queries)
    observations.count("several", int((positives.sizes > 1).sum()))
    return RetrievalTask(
        ids=queries.ids,
        settings=settings,
        counts={code: n for code, n in all_counts.items() if n},
        observations=observations,
        weights=weights,
        groups=groups,
        unit="query",
        gallery=gallery,
        scores=run.scores,
        rows=queries.rows,
        indptr=positives.indptr,
        positives=positives.codes,
        ties=options.ties,
        folds=folds,
        extra_inputs=extra_inputs,
        grades=positives.scores,
    )


def _task_settings(direction: _Direction, options: ResolvedOptions) -> dict[str, str]:
    """Return the settings that a signature names, except groups and weights."""
    run = direction.run
    # Ranked lists of other queries name other candidates, so these are not part of the signature.
    gallery = LISTED
    if not run.is_listed:
        hashes = hash_ids(run.columns).astype("<u8").tobytes()
        digest = hashlib.blake2b(hashes, digest_size=6)
        gallery = f"{len(run.columns)}@{digest.hexdigest()}"
    settings = {
        "task": "retrieval",
        "missing": options.missing,
        "direction": direction.name,
        "tie": options.ties,
        "gallery": gallery,
    }
    if isinstance(run.scores, Products):
        settings["similarity"] = options.similarity
    if options.ignore_identical_ids:
        settings["identical"] = str(True)
    if direction.folds is not None:
        settings["folds"] = str(options.folds)
    return settings


def _sort_positives(positives: Side) -> Side:
    """Return the positives of each query in the order of the gallery."""
    order = np.lexsort((positives.codes, ragged.row_numbers(positives.indptr)))
    grades = positives.scores
    if grades is not None:
        grades = grades[order]
    return Side(positives.indptr, positives.codes[order], grades)


def _group_by_positive(ids: Ids, positives: Side, gallery: Ids) -> Hashes | None:
    """Return the same group for all queries with the same positive, such as captions of an image.

    A query without positives is a group of its own. The result is None if some query has several
    positives, or no query has a positive.
    """
    sizes = positives.sizes
    if not len(positives.codes) or (sizes > 1).any():
        return None
    groups = mix(hash_ids(ids))
    groups[sizes > 0] = hash_ids(gallery)[positives.codes]
    return groups


def _align_weights(ids: Ids, options: ResolvedOptions) -> Floats | None:
    """Return the weight of each query.

    Raises
    ------
    InputError
        If both directions are evaluated together, or the weights are wrong.
    """
    if options.weights is None:
        return None
    if options.direction == "both":
        what = "both directions at once"
        raise InputError("not-applicable", name="weights", what=what)
    no_entries = Side(np.zeros(len(ids) + 1, np.int64), np.zeros(0, np.int32))
    return options.weights.align(Lists(ids, [], no_entries), ids)


# ---- folds --------------------------------------------------------------------------------------


def _assign_folds(run: NamedRun, queries: JoinedQueries, n_folds: int) -> _Folds:
    """Divide the rows into folds. A column is in the fold of the first row that has it.

    Raises
    ------
    InputError
        If the number of rows is not divisible by the number of folds.
    """
    n_rows = len(run.rows)
    n_columns = len(run.columns)
    if n_rows % n_folds:
        wanted = f"a divisor of {pluralize(n_rows, 'row')}"
        raise InputError(
            "bad-option", run.source, name="folds", value=n_folds, wanted=wanted
        )
    fold_of_row = np.arange(n_rows) * n_folds // n_rows
    fold_of_column = np.full(n_columns, _NO_FOLD)
    rows = queries.row_of_positive
    columns = queries.positives.codes
    # Rows are assigned in descending order, so that the fold of the first row remains.
    order = np.argsort(-rows, kind="stable")
    is_cell = (rows[order] >= 0) & (columns[order] < n_columns)
    order = order[is_cell]
    fold_of_column[columns[order]] = fold_of_row[rows[order]]
    return _Folds(fold_of_row, fold_of_column)


def _folds_of_queries(folds: _Folds, queries: JoinedQueries) -> tuple[Ints, Ints]:
    """Return the fold of each query and of each candidate."""
    fold_of_row = folds.rows[queries.rows]
    fold_of_query = np.where(queries.rows >= 0, fold_of_row, _NO_FOLD_OF_QUERY)
    return fold_of_query, folds.columns


def _is_in_fold(folds: tuple[Ints, Ints], queries: JoinedQueries) -> Bools:
    """Return whether each positive is in the fold of its query."""
    fold_of_query, fold_of_candidate = folds
    positives = queries.positives
    # Positives outside the gallery are in no fold.
    no_folds = np.full(len(queries.outside), _NO_FOLD)
    fold_of_positive = np.append(fold_of_candidate, no_folds)[positives.codes]
    is_in_fold: Bools = (
        fold_of_query[ragged.row_numbers(positives.indptr)] == fold_of_positive
    )
    return is_in_fold
