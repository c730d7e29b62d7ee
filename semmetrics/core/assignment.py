"""Matchings of predictions and references: which prediction is paired with which reference.

Conventions
-----------
There are many small tables, one per item: items are the first axis, predictions are rows and
references are columns. Boolean tables contain the pairs that are allowed, and False for padding.
Matchings are one-to-one, except for `first_allowed`. Every function returns the reference of each
prediction, or -1 if it has none. The result of an item depends only on that item.

References
----------
Jonker, Volgenant, 1987, A shortest augmenting path algorithm for dense and sparse linear assignment
problems, Computing 38.
Kubany et al., 2020, Expert Systems with Applications.
Kuhn, 1955, The Hungarian method for the assignment problem, Naval Research Logistics Quarterly 2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints

_UNITS_PER_SIMILARITY = 1e9  # similarities are rounded to 1e-9
_MAX_TABLE_TOGETHER = 1 << 10  # rows times columns: larger tables are solved one by one


# ---- matchings of allowed pairs ---------------------------------------------


def greedy_matching(allowed: Bools, continues: Bools | None = None) -> Ints:
    """Match each prediction, in order, with its first allowed reference that is still free.

    "First" refers to the order of the references, not to similarity (Kubany et al. 2020, section
    3.2).

    Parameters
    ----------
    allowed : bool array, shape (items, rows, references)
    continues : bool array, shape (items, rows), optional
        Whether a row is a further term of the prediction of the previous row. The terms of a
        prediction share one reference: the first term that finds one takes it.

    Returns
    -------
    int64 array, shape (items, rows)

    Examples
    --------
    >>> table = np.array([[[0.5, 0.9], [0.8, 0.3]]])
    >>> greedy_matching(table > 0.4).tolist()
    [[0, -1]]
    >>> greedy_matching(table > 0.2, np.array([[False, True]])).tolist()
    [[0, -1]]
    """
    n_items, n_rows, n_references = allowed.shape
    column_of_row = np.full((n_items, n_rows), -1)
    if not n_references:
        return column_of_row
    items = np.arange(n_items)
    is_free = np.ones((n_items, n_references), np.bool_)
    is_prediction_matched = np.zeros(n_items, np.bool_)
    for row in range(n_rows):
        is_open = allowed[:, row] & is_free
        if continues is not None:
            is_prediction_matched &= continues[:, row]
            is_open &= ~is_prediction_matched[:, None]
        column = is_open.argmax(-1)
        is_matched = is_open[items, column]
        is_free[items, column] &= ~is_matched
        column_of_row[:, row] = np.where(is_matched, column, -1)
        is_prediction_matched |= is_matched
    return column_of_row


def first_allowed(allowed: Bools) -> Ints:
    """Return the first allowed reference of each prediction. Predictions may share a reference.

    Parameters
    ----------
    allowed : bool array, shape (items, predictions, references)

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> first_allowed(np.array([[[0.5, 0.9], [0.8, 0.3]]]) > 0.4).tolist()
    [[0, 0]]
    """
    if not allowed.shape[2]:
        return np.full(allowed.shape[:2], -1)
    columns = allowed.argmax(-1)
    has_reference = np.take_along_axis(allowed, columns[..., None], 2)[..., 0]
    return np.where(has_reference, columns, -1)


def max_cardinality_matching(allowed: Bools) -> Ints:
    """Match as many pairs as possible.

    Predictions are added in order, for all items at once. A prediction takes its first allowed
    reference that is free. If there is none, the matching is extended along an augmenting path
    (Kuhn 1955). A matched prediction stays matched, so that the first k predictions have as many
    pairs as any matching of only them, for every k. Among several such matchings the choice is
    deterministic.

    Parameters
    ----------
    allowed : bool array, shape (items, predictions, references)

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> max_cardinality_matching(np.array([[[0.5, 0.9], [0.8, 0.3]]]) > 0.4).tolist()
    [[1, 0]]
    """
    n_items, n_rows, n_references = allowed.shape
    column_of_row = np.full((n_items, n_rows), -1)
    if not n_references:
        return column_of_row
    items = np.arange(n_items)
    # Rows without a free reference write to one more column.
    row_of_column = np.full((n_items, n_references + 1), -1)
    for row in range(n_rows):
        is_open = allowed[:, row] & (row_of_column[:, :n_references] < 0)
        column = is_open.argmax(-1)
        is_matched = is_open[items, column]
        column_of_row[:, row] = np.where(is_matched, column, -1)
        row_of_column[items, np.where(is_matched, column, n_references)] = row
        unmatched = np.flatnonzero(~is_matched & allowed[:, row].any(1))
        if len(unmatched):
            paths = _search_paths(
                allowed[unmatched], row_of_column[unmatched, :n_references], row
            )
            _augment(column_of_row, row_of_column, unmatched, paths)
    return column_of_row


class _Paths(NamedTuple):
    """Paths that alternate between pairs that are not matched and pairs that are.

    Attributes
    ----------
    row_before : int array, shape (items, columns)
        The row from which each column was reached.
    end : int array, shape (items,)
        The last column of the path, or -1 if there is no path.
    """

    row_before: Ints
    end: Ints


def _search_paths(allowed: Bools, row_of_column: Ints, row: int) -> _Paths:
    """Search for augmenting paths from a row, breadth first.

    Parameters
    ----------
    allowed : bool array, shape (items, rows, columns)
    row_of_column : int array, shape (items, columns)
    row : int
        A row without a free column.

    Returns
    -------
    _Paths
        From the row to a free column.
    """
    n_items, n_rows, n_columns = allowed.shape
    row_before = np.full((n_items, n_columns), row)
    end = np.full(n_items, -1)
    is_seen = np.zeros((n_items, n_columns), np.bool_)
    is_front = np.zeros((n_items, n_rows), np.bool_)
    is_front[:, row] = True
    for _ in range(n_rows):
        is_reached = is_front[:, :, None] & allowed
        is_new = is_reached.any(1) & ~is_seen & (end < 0)[:, None]
        first_rows = is_reached.swapaxes(1, 2).argmax(-1)
        row_before = np.where(is_new, first_rows, row_before)
        is_seen = is_seen | is_new
        is_end = is_new & (row_of_column < 0)
        end = np.where(is_end.any(1), is_end.argmax(-1), end)
        is_front = np.zeros((n_items, n_rows), np.bool_)
        item, column = np.nonzero(is_new & ~is_end)
        is_front[item, row_of_column[item, column]] = True
        if not len(item):
            break
    return _Paths(row_before, end)


def _augment(
    column_of_row: Ints, row_of_column: Ints, items: Ints, paths: _Paths
) -> None:
    """Walk each path back to its start, and swap its matched and unmatched pairs, in place.

    Parameters
    ----------
    column_of_row, row_of_column : int arrays, shapes (all items, rows) and (all items, columns)
        The matchings.
    items : int array, shape (items,)
        The items of the paths.
    paths : _Paths
        Items without a path are not changed.
    """
    walked = np.flatnonzero(paths.end >= 0)
    items = items[walked]
    row_before = paths.row_before[walked]
    column = paths.end[walked]
    while len(items):
        row = row_before[np.arange(len(items)), column]
        previous_column = column_of_row[items, row]
        column_of_row[items, row] = column
        row_of_column[items, column] = row
        continues = previous_column >= 0
        items = items[continues]
        row_before = row_before[continues]
        column = previous_column[continues]


# ---- components with a single prediction or reference -----------------------


class Stars(NamedTuple):
    """What can be decided without similarities in a graph of allowed pairs.

    Attributes
    ----------
    hits : bool array, shape (items, predictions)
        Predictions of stars that add a pair, if predictions are added to the matching in order.
    contested : int array
        Flat indices of the allowed pairs of all other components.
    """

    hits: Bools
    contested: Ints


def find_stars(allowed: Bools) -> Stars:
    """Find the components that have a single prediction or a single reference.

    Such a star contributes one pair, independent of similarities. The pair is attributed to the
    first prediction of the star.

    Parameters
    ----------
    allowed : bool array, shape (items, predictions, references)

    Examples
    --------
    >>> allowed = np.array([[[True, True, False, False], [False, False, True, False],
    ...                      [False, False, True, False]]])
    >>> stars = find_stars(allowed)
    >>> stars.hits.tolist(), stars.contested.tolist()
    ([[True, True, False]], [])
    """
    n_items, n_rows, n_columns = allowed.shape
    hits = np.zeros(n_items * n_rows, np.bool_)
    edges = np.flatnonzero(allowed)
    if not len(edges):
        return Stars(hits.reshape(n_items, n_rows), edges)
    # Rows and columns are numbered over all items.
    row, column_in_item = np.divmod(edges, n_columns)
    column = row // n_rows * n_columns + column_in_item
    row_degrees = np.bincount(row, minlength=n_items * n_rows)
    column_degrees = np.bincount(column, minlength=n_items * n_columns)
    # A row is the centre of a star if its columns have no other row, and likewise for columns.
    n_shared_columns = np.bincount(row, column_degrees[column] > 1, n_items * n_rows)
    n_shared_rows = np.bincount(column, row_degrees[row] > 1, n_items * n_columns)
    has_row_centre = (n_shared_columns == 0)[row]
    has_column_centre = (n_shared_rows == 0)[column]
    first_row_of_column = np.zeros(n_items * n_columns, np.int64)
    # In reverse order, the first row of a column is written last.
    first_row_of_column[column[::-1]] = row[::-1]
    hits[row[has_row_centre]] = True
    hits[first_row_of_column[column[has_column_centre]]] = True
    contested = edges[~(has_row_centre | has_column_centre)]
    return Stars(hits.reshape(n_items, n_rows), contested)


# ---- matchings with the largest sum -----------------------------------------


def max_similarity_matching(similarity: Floats) -> Ints:
    """Match the pairs whose similarities have the largest sum.

    A pair adds its similarity and an unmatched prediction adds nothing. Therefore pairs with a
    similarity of 0 or less are not matched. If the best references of the predictions of an item
    are all different, they are the solution. Other items are solved one by one by
    ``linear_sum_assignment`` of scipy.

    Parameters
    ----------
    similarity : float array, shape (items, predictions, references)
        Finite, or -inf for padding.

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> max_similarity_matching(np.array([[[0.5, 0.9], [0.6, 0.8]]])).tolist()
    [[1, 0]]
    """
    if not min(similarity.shape):
        return first_allowed(similarity > 0)
    gains = np.where(similarity > 0, similarity, 0)
    best_gains = np.amax(gains, 2)
    best_columns = first_allowed(gains == best_gains[..., None])
    column_of_row = np.where(best_gains > 0, best_columns, -1)
    is_taken = column_of_row[..., None] == np.arange(gains.shape[2])
    has_clash = (is_taken.sum(1) > 1).any(1)
    if has_clash.any():
        column_of_row[has_clash] = _solve_one_by_one(gains[has_clash])
    return column_of_row


def make_gains(similarity: Floats, equal: Bools, size: int) -> Floats:
    """Combine three aims into one number per pair, so that the largest sum meets them in order.

    The aims are: as many equal pairs as possible, then the largest sum of the similarities of the
    other pairs, and then as many pairs as possible.

    Parameters
    ----------
    similarity : float array
        In [0, 1], rounded to 1e-9.
    equal : bool array of the same shape
    size : int
        The largest possible number of pairs of a matching.

    Returns
    -------
    float array
        Integers, whose sums are exact up to a size of 200.

    Examples
    --------
    >>> make_gains(np.array([1.0, 0.5, 0.0]), np.array([True, False, False]), 1).tolist()
    [4000000003.0, 1000000001.0, 1.0]
    """
    units = np.rint(similarity * _UNITS_PER_SIMILARITY)
    gains = units * (size + 1) + 1
    largest_gain = _UNITS_PER_SIMILARITY * (size + 1) + 1
    return np.where(equal, largest_gain * (size + 1) + 1, gains)


def best_pairs(gain: Floats) -> Ints:
    """Match the pairs whose gains have the largest sum.

    Among several such matchings, the order of rows and columns decides.

    Parameters
    ----------
    gain : float array, shape (items, predictions, references)
        How much a pair adds to the sum. Above 0, or 0 if the pair is not allowed.

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> best_pairs(np.array([[[0.5, 0.9], [0.6, 0.8]]])).tolist()
    [[1, 0]]
    """
    column_of_row = np.full(gain.shape[:2], -1)
    is_large = _are_large(gain)
    if is_large.any():
        column_of_row[is_large] = _solve_one_by_one(gain[is_large])
    column_of_row[~is_large] = _match_in_order(gain[~is_large]).column_of_row
    return column_of_row


def rows_with_more_pairs(gain: Floats) -> Bools:
    """Find the predictions that add a pair, if predictions are added in order.

    The best matching of some predictions has the largest sum of gains. Prediction k adds a pair if
    the best matching of the first k predictions has more pairs than without prediction k.

    Parameters
    ----------
    gain : float array, shape (items, predictions, references)
        How much a pair adds to the sum, or 0 if the pair is not allowed. Matchings with equal sums
        must have equal numbers of pairs.

    Returns
    -------
    bool array, shape (items, predictions)

    Examples
    --------
    >>> rows_with_more_pairs(np.array([[[0.5, 0.9], [0.0, 0.8], [0.7, 0.0]]])).tolist()
    [[True, True, False]]
    """
    adds_pair: Bools = np.any(gain > 0, axis=2)
    is_undecided = np.ones(len(gain), np.bool_)
    # If all predictions with an allowed pair are matched at the end, each of them added a pair.
    is_large = _are_large(gain)
    if is_large.any():
        n_pairs = np.count_nonzero(_solve_one_by_one(gain[is_large]) >= 0, axis=1)
        n_rows = np.count_nonzero(adds_pair[is_large], axis=1)
        is_undecided[is_large] = n_pairs < n_rows
    adds_pair[is_undecided] = _match_in_order(gain[is_undecided]).adds_pair
    return adds_pair


def _are_large(gain: Floats) -> Bools:
    """Return which items are so large that scipy is faster, judged by their own size."""
    n_rows = (gain > 0).any(axis=2).sum(axis=1)
    n_columns = (gain > 0).any(axis=1).sum(axis=1)
    is_large: Bools = n_rows * n_columns > _MAX_TABLE_TOGETHER
    return is_large


def _solve_one_by_one(gain: Floats) -> Ints:
    """Return the column of each row, or -1, in the best matching of each table."""
    from scipy.optimize import linear_sum_assignment

    column_of_row = np.full(gain.shape[:2], -1)
    for table, column_of_table_row in zip(gain, column_of_row, strict=True):
        used_rows = np.flatnonzero(table.any(axis=1))
        used_columns = np.flatnonzero(table.any(axis=0))
        used_gains = table[np.ix_(used_rows, used_columns)]
        row_places, column_places = linear_sum_assignment(used_gains, maximize=True)
        rows = used_rows[row_places]
        columns = used_columns[column_places]
        is_pair = table[rows, columns] > 0
        column_of_table_row[rows[is_pair]] = columns[is_pair]
    return column_of_row


def _match_in_order(gain: Floats) -> _RowByRowMatching:
    """Return the best matchings of all items, with rows added one by one."""
    matching = _RowByRowMatching(gain)
    _, n_rows, n_columns = gain.shape
    if n_columns:
        for row in range(n_rows):
            matching.add_row(row)
    return matching


class _ShortestPaths(NamedTuple):
    """The shortest augmenting paths from one row.

    Attributes
    ----------
    row_before : int array, shape (items, columns)
        The row from which each column was reached.
    end : int array, shape (items,)
        The free column at the end, or -1 if a row becomes unmatched.
    last_row : int array, shape (items,)
        The row that becomes unmatched, if there is no free column.
    """

    row_before: Ints
    end: Ints
    last_row: Ints


class _RowByRowMatching:
    """Matchings with the largest sum of gains, for all items at once.

    A row is added along the shortest augmenting path from it (Jonker and Volgenant 1987), where the
    length of an edge is its reduced cost. The path ends at a free column, which adds a pair, or at
    a row that is better left unmatched.

    Parameters
    ----------
    gain : float array, shape (items, rows, columns)

    Attributes
    ----------
    column_of_row : int array, shape (items, rows)
        -1 for unmatched rows.
    adds_pair : bool array, shape (items, rows)
        Whether the number of pairs became larger when a row was added.
    """

    def __init__(self, gain: Floats) -> None:
        n_items, n_rows, n_columns = gain.shape
        self.column_of_row = np.full((n_items, n_rows), -1)
        self.adds_pair = np.zeros((n_items, n_rows), np.bool_)
        self._row_of_column = np.full((n_items, n_columns), -1)
        self._costs = np.where(gain > 0, -gain, np.inf)
        self._row_potentials = np.zeros((n_items, n_rows))
        self._column_potentials = np.zeros((n_items, n_columns))

    def add_row(self, row: int) -> None:
        """Add the next row to all matchings."""
        reduced = self._costs[:, row] - self._column_potentials
        self._row_potentials[:, row] = reduced.min(axis=1)
        # Without a negative reduced cost, the row is better left unmatched.
        items = np.flatnonzero(self._row_potentials[:, row] < 0)
        if not len(items):
            return
        # Most rows take their best column, which is free.
        best_columns = reduced[items].argmin(axis=1)
        is_free = self._row_of_column[items, best_columns] < 0
        free_items = items[is_free]
        free_columns = best_columns[is_free]
        self.column_of_row[free_items, row] = free_columns
        self._row_of_column[free_items, free_columns] = row
        self.adds_pair[free_items, row] = True
        items = items[~is_free]
        if len(items):
            lengths = reduced[items] - self._row_potentials[items, row, None]
            self._add_along_paths(row, items, lengths)

    def _add_along_paths(self, row: int, items: Ints, lengths: Floats) -> None:
        """Add a row whose best column is not free."""
        paths = self._find_shortest_paths(row, items, lengths)
        self.adds_pair[items, row] = paths.end >= 0
        # Other paths end at the column that their last row gives up.
        without_end = np.flatnonzero(paths.end < 0)
        last_items = items[without_end]
        last_rows = paths.last_row[without_end]
        end = paths.end.copy()
        end[without_end] = self.column_of_row[last_items, last_rows]
        self.column_of_row[last_items, last_rows] = -1
        walked_paths = _Paths(paths.row_before, end)
        _augment(self.column_of_row, self._row_of_column, items, walked_paths)

    def _find_shortest_paths(
        self, row: int, items: Ints, lengths: Floats
    ) -> _ShortestPaths:
        """Search for the shortest path from a row, and update the potentials.

        Parameters
        ----------
        row : int
        items : int array, shape (n,)
        lengths : float array, shape (n, columns)
            The lengths of the edges from the row. They are updated to the lengths of the shortest
            paths.
        """
        row_before = np.full(lengths.shape, row)
        end = np.full(len(items), -1)
        last_row = np.full(len(items), row)
        # The length of the shortest path that ends so far: at a row that becomes unmatched.
        best_length = -self._row_potentials[items, row]
        is_done = np.zeros(lengths.shape, np.bool_)
        active = np.arange(len(items))
        while len(active):
            # Take the nearest column, unless the path gets too long. A free column ends it.
            open_lengths = np.where(is_done[active], np.inf, lengths[active])
            column = open_lengths.argmin(axis=1)
            column_length = lengths[active, column]
            is_near = (column_length <= best_length[active]) & ~is_done[active, column]
            is_end = is_near & (self._row_of_column[items[active], column] < 0)
            ending = active[is_end]
            end[ending] = column[is_end]
            best_length[ending] = column_length[is_end]
            continues = is_near & ~is_end
            active = active[continues]
            column = column[continues]
            is_done[active, column] = True
            # Continue from the row that is matched with the column, or leave it unmatched.
            active_items = items[active]
            next_row = self._row_of_column[active_items, column]
            row_length = (
                column_length[continues] - self._row_potentials[active_items, next_row]
            )
            is_shorter = row_length < best_length[active]
            shortened = active[is_shorter]
            best_length[shortened] = row_length[is_shorter]
            last_row[shortened] = next_row[is_shorter]
            # Reach other columns from this row, if that is shorter than before.
            lengths_over_row = (
                row_length[:, None]
                + self._costs[active_items, next_row]
                - self._column_potentials[active_items]
            )
            is_closer = (lengths_over_row < lengths[active]) & ~is_done[active]
            lengths[active] = np.where(is_closer, lengths_over_row, lengths[active])
            row_before[active] = np.where(
                is_closer, next_row[:, None], row_before[active]
            )
        self._update_potentials(row, items, lengths, best_length, is_done)
        return _ShortestPaths(row_before, end, last_row)

    def _update_potentials(
        self,
        row: int,
        items: Ints,
        lengths: Floats,
        best_length: Floats,
        is_done: Bools,
    ) -> None:
        """Change potentials so that the edges of the shortest paths have reduced cost 0."""
        path, column = np.nonzero(is_done)
        path_items = items[path]
        path_rows = self._row_of_column[path_items, column]
        gaps = best_length[path] - lengths[path, column]
        self._row_potentials[path_items, path_rows] += gaps
        self._column_potentials[path_items, column] -= gaps
        self._row_potentials[items, row] += best_length
