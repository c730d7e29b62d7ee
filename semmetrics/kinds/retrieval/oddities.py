"""Observe runs and positives that are probably mistakes."""

from __future__ import annotations

import numpy as np

from semmetrics.core import ragged
from semmetrics.data.matrix import row_blocks
from semmetrics.data.observations import Observations
from semmetrics.data.rankings import RankedLists, Similarities
from semmetrics.kinds.retrieval.joined_queries import JoinedQueries
from semmetrics.kinds.retrieval.named_run import (
    NamedRun,
    find_own_columns,
    read_position,
)

_MIN_STANDARD_ERRORS = 3
"""By how many standard errors similarities of the transpose are larger if a run is transposed."""
_MIN_COLUMNS_WITH_POSITIONS = 3
"""The fewest columns of a matrix that may list positions. 0 and 1 are often something else."""


def observe_run(run: NamedRun, queries: JoinedQueries) -> Observations:
    """Observe probable mistakes in one direction of a run."""
    observations = Observations()
    if _looks_transposed(run, queries):
        observations.count("transposed", 1)
    observations.count("own_ids", _count_own_ids(run, queries))
    has_positions = isinstance(run.scores, Similarities) and lists_places(run.scores)
    observations.count("places", int(has_positions))
    # Ids of positives for rows without names were read as positions.
    is_numbered = isinstance(run.rows, range) and not isinstance(queries.ids, range)
    observations.count("numbered", int(is_numbered))
    return observations


def _count_own_ids(run: NamedRun, queries: JoinedQueries) -> int:
    """Count queries whose list has a candidate with their own id, which is not a positive.

    Images and captions may be numbered alike. So ids that are numbers count only if at least half
    of the queries retrieve their own id first.
    """
    ranked = run.scores
    if not isinstance(ranked, RankedLists) or not len(run.rows):
        return 0
    own_columns = find_own_columns(run)
    rows = queries.row_of_positive
    is_own_positive = (rows >= 0) & (queries.positives.codes == own_columns[rows])
    # Own ids that are positives do not count.
    own_columns[rows[is_own_positive]] = -1
    side = ranked.side
    row_of_candidate = ragged.row_numbers(side.indptr)
    own_entries = np.flatnonzero(side.codes == own_columns[row_of_candidate])
    rows_with_own = row_of_candidate[own_entries]
    n_first = int((own_entries == side.indptr[rows_with_own]).sum())
    is_rarely_first = 2 * n_first < len(side)
    if is_rarely_first and _are_numbers(run, rows_with_own.tolist()):
        return 0
    return len(own_entries)


def _are_numbers(run: NamedRun, rows: list[int]) -> bool:
    """Return whether the names of rows are numbers."""
    return all(read_position(run.rows[row]) is not None for row in rows)


def lists_places(scores: Similarities) -> bool:
    """Return whether each row of a matrix lists positions of the gallery, as from ``argsort``.

    The rows have different integers from 0, none above the number of rows or columns.

    Examples
    --------
    >>> lists_places(Similarities(np.array([[2, 0, 1], [1, 2, 0]])))
    True
    >>> lists_places(Similarities(np.array([[2, 0, 0], [1, 2, 0]])))
    False
    """
    max_position = max(scores.values.shape)
    if scores.values.shape[1] < _MIN_COLUMNS_WITH_POSITIONS:
        return False
    for _, block in row_blocks(scores.values):
        for row in block:
            if row.min() < 0 or row.max() > max_position:
                return False
            if (row != np.floor(row)).any():
                return False
            if len(np.unique(row)) < len(row):
                return False
    return len(scores.values) > 0


def _looks_transposed(run: NamedRun, queries: JoinedQueries) -> bool:
    """Return whether positives have larger similarities in the transpose of a square matrix."""
    scores = run.scores
    if not isinstance(scores, Similarities) or len(set(scores.shape)) > 1:
        return False
    rows = queries.row_of_positive
    columns = queries.positives.codes.astype(np.int64)
    is_cell = (rows >= 0) & (columns < len(run.columns))
    rows = rows[is_cell]
    columns = columns[is_cell]
    cells = np.sort(rows * len(run.rows) + columns)
    transposed_cells = np.sort(columns * len(run.rows) + rows)
    if not len(rows) or np.array_equal(cells, transposed_cells):
        return False
    # The values have the orientation of the input, and the run may be its transpose.
    values_of_cells = scores.values[rows, columns].astype(np.float64)
    values_across = scores.values[columns, rows].astype(np.float64)
    differences = values_across - values_of_cells
    if scores.transposed:
        differences = -differences
    mean = differences.mean()
    standard_error = differences.std() / np.sqrt(len(differences))
    return bool(mean > _MIN_STANDARD_ERRORS * standard_error and mean > 0)
