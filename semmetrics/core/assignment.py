"""Which prediction goes with which reference, and which matches of two sentences are chosen.

Conventions
-----------
One-to-one matching, in many small tables: predictions are rows, references columns, items the first
axis. Tables of the pairs that may match are boolean, and False for padding. Every function returns,
for each prediction, the reference that it is matched with, or -1; an item's result depends on that
item only.

METEOR's alignment, of many pairs of sentences at once (`align`): a beam goes over the words of the
reference. At each word a path takes any match that begins there and whose words are free, or none,
and the best ``BEAM`` paths go on: those with most matched words of both sides, then with fewest
chunks, then with the smallest distance; of equal ones, those made first. As in METEOR 1.5 a match
adds its length if it is exact and half of it otherwise, *cut to a whole number*; and its distance,
the difference of the places where it begins, adds to all paths that branch *after* it from the same
path, and not to its own. A match that shares no word with another is fixed before the search, and
its distance is its path's.

Pairs are independent, and their n-th steps are made together. A word is a step where a match begins
or ends: elsewhere no path changes, nor the order of paths.

Source: Denkowski and Lavie 2011, section 3 (the aligner); details as observed of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    starts_run,
)

BEAM = 40
"""Paths that go on."""

_SIMILARITY_UNITS = 1e9  # similarities are rounded to 1e-9
_LARGE_TABLE = 1 << 10  # rows times columns of an item that is solved by itself


def greedy_matching(allowed: Bools, continues: Bools | None = None) -> Ints:
    """Match predictions in order, each with the first unused reference that it may have.

    First in the order of the references, not the most similar (Kubany et al. 2020, section 3.2).

    Parameters
    ----------
    allowed : bool array, shape (items, rows, references)
    continues : bool array, shape (items, rows), optional
        Rows that are a further term of the prediction of the row before. The terms of a prediction
        share one reference: the first of them that finds one takes it.

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
    items, m, n = allowed.shape
    found = np.full((items, m), -1)
    if not n:
        return found
    free, matched = np.ones((items, n), np.bool_), np.zeros(items, np.bool_)
    at = np.arange(items)
    for row in range(m):
        open_ = allowed[:, row] & free
        if continues is not None:
            matched &= continues[:, row]
            open_ &= ~matched[:, None]
        place = open_.argmax(-1)
        matching = open_[at, place]
        free[at, place] &= ~matching
        found[:, row] = np.where(matching, place, -1)
        matched |= matching
    return found


def first_allowed(allowed: Bools) -> Ints:
    """Return the first reference that each prediction may have; one may serve several.

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
    place = allowed.argmax(-1)
    return np.where(np.take_along_axis(allowed, place[..., None], 2)[..., 0], place, -1)


def max_cardinality_matching(allowed: Bools) -> Ints:
    """Match as many pairs as there can be.

    Predictions in order, each taking the first unused reference where there is one, else
    lengthening the matching along an augmenting path (Kuhn 1955), for all items at once. A
    prediction once matched stays so: for every k, the first k have as many pairs as any matching
    of them alone. Which of several such matchings is found is fixed.

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
    items, m, n = allowed.shape
    found = np.full((items, m), -1)
    owner = np.full((items, n + 1), -1)  # of each reference, and one to spare
    at = np.arange(items)
    for row in range(m if n else 0):
        open_ = allowed[:, row] & (owner[:, :n] < 0)
        place = open_.argmax(-1)
        matching = open_[at, place]
        found[:, row] = np.where(matching, place, -1)
        owner[at, np.where(matching, place, n)] = row
        these = np.flatnonzero(~matching & allowed[:, row].any(1))
        if len(these):
            via, end = _search_paths(allowed[these], owner[these, :n], row)
            _augment(found, owner, these[end >= 0], via[end >= 0], end[end >= 0])
    return found


def max_similarity_matching(similarity: Any) -> Ints:
    """Match the pairs whose similarities have the largest sum.

    A pair adds its similarity and an unmatched prediction nothing, so no pair of a similarity of
    0 or less is matched. Where the best references of an item's predictions differ they are the
    solution; other items go to scipy's ``linear_sum_assignment``, one by one.

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
    gain = np.where(similarity > 0, similarity, 0)
    best = np.amax(gain, 2)
    found = np.where(best > 0, first_allowed(gain == best[..., None]), -1)
    matching = found[..., None] == np.arange(gain.shape[2])
    clash = np.flatnonzero((matching.sum(1) > 1).any(1))
    if len(clash):
        from scipy.optimize import linear_sum_assignment

        tables = gain[clash]
        assigned = np.full(tables.shape[:2], -1)
        for table, places in zip(tables, assigned, strict=True):
            rows, columns = np.flatnonzero(table.any(1)), np.flatnonzero(table.any(0))
            row, column = linear_sum_assignment(
                table[np.ix_(rows, columns)], maximize=True
            )
            row, column = rows[row], columns[column]
            places[row] = np.where(table[row, column] > 0, column, -1)
        found[clash] = assigned
    return found


class Stars(NamedTuple):
    """What is decided without similarities in a graph of pairs that may match.

    Attributes
    ----------
    hits : bool array, shape (items, predictions)
        Predictions of components that are stars and have one pair more than those before them.
    contested : int array
        Flat places of the pairs of all other components.
    """

    hits: Bools
    contested: Ints


def find_stars(allowed: Bools) -> Stars:
    """Find the components that have a single prediction or a single reference.

    Such a star has one pair, whatever the similarities are. Its first prediction adds it.

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
    items, m, n = allowed.shape
    hits = np.zeros(items * m, np.bool_)
    edges = np.flatnonzero(allowed)
    if not len(edges):
        return Stars(hits.reshape(items, m), edges)
    row, place = np.divmod(edges, n)
    column = row // m * n + place
    row_degree = np.bincount(row, minlength=items * m)
    column_degree = np.bincount(column, minlength=items * n)
    # rows none of whose columns has another row, and columns none of whose rows has another column
    row_is_centre = np.bincount(row, column_degree[column] > 1, items * m) == 0
    column_is_centre = np.bincount(column, row_degree[row] > 1, items * n) == 0
    of_row, of_column = row_is_centre[row], column_is_centre[column]
    first_row = np.zeros(items * n, np.int64)
    first_row[column[::-1]] = row[::-1]  # the last that is written is the first row
    hits[row[of_row]] = True
    hits[first_row[column[of_column]]] = True
    return Stars(hits.reshape(items, m), edges[~(of_row | of_column)])


def make_gains(similarity: Floats, equal: Bools, size: int) -> Floats:
    """Write three aims as one number for each pair, so that the largest sum meets them in order.

    The aims are as many equal pairs as there can be, then the largest sum of the similarities of
    the others, then as many pairs as there can be.

    Parameters
    ----------
    similarity : float array
        Rounded to 1e-9, in [0, 1].
    equal : bool array of the same shape
    size : int
        No matching has more pairs.

    Returns
    -------
    float array
        Whole numbers, of which all sums are exact up to a size of 200.

    Examples
    --------
    >>> make_gains(np.array([1.0, 0.5, 0.0]), np.array([True, False, False]), 1).tolist()
    [4000000003.0, 1000000001.0, 1.0]
    """
    gain = np.rint(similarity * _SIMILARITY_UNITS) * (size + 1) + 1
    largest = _SIMILARITY_UNITS * (size + 1) + 1
    return np.where(equal, largest * (size + 1) + 1, gain)


def best_pairs(gain: Floats) -> Ints:
    """Match the pairs whose gains have the largest sum.

    Of several such matchings one is chosen that follows from the order of rows and columns.

    Parameters
    ----------
    gain : float array, shape (items, predictions, references)
        What a pair adds to the sum, above 0, or 0 where there is none.

    Returns
    -------
    int64 array, shape (items, predictions)

    Examples
    --------
    >>> best_pairs(np.array([[[0.5, 0.9], [0.6, 0.8]]])).tolist()
    [[1, 0]]
    """
    found = np.full(gain.shape[:2], -1)
    large = _are_large(gain)
    for item in np.flatnonzero(large).tolist():
        found[item] = _solve_alone(gain[item])
    found[~large] = _match_in_order(gain[~large]).columns
    return found


def rows_with_more_pairs(gain: Floats) -> Bools:
    """Find the predictions with which the matching of the largest sum has a pair more than before.

    Parameters
    ----------
    gain : float array, shape (items, predictions, references)
        What a pair adds to the sum; 0 where there is none. Equal sums have as many pairs.

    Returns
    -------
    bool array, shape (items, predictions)

    Examples
    --------
    >>> rows_with_more_pairs(np.array([[[0.5, 0.9], [0.0, 0.8], [0.7, 0.0]]])).tolist()
    [[True, True, False]]
    """
    adds: Bools = np.any(gain > 0, axis=2)
    open_ = np.ones(len(gain), np.bool_)
    # if all predictions that may have a pair have one at the end, each has added one
    for item in np.flatnonzero(_are_large(gain)).tolist():
        n_pairs = np.count_nonzero(_solve_alone(gain[item]) >= 0)
        open_[item] = n_pairs < np.count_nonzero(adds[item])
    adds[open_] = _match_in_order(gain[open_]).adds
    return adds


def _are_large(gain: Floats) -> Bools:
    """Return which items are so large that scipy is faster, by their own size."""
    n_rows = (gain > 0).any(axis=2).sum(axis=1)
    n_columns = (gain > 0).any(axis=1).sum(axis=1)
    large: Bools = n_rows * n_columns > _LARGE_TABLE
    return large


def _solve_alone(gain: Floats) -> Ints:
    """Return the column of each row, or -1, for one table."""
    from scipy.optimize import linear_sum_assignment

    found = np.full(len(gain), -1)
    rows, columns = np.flatnonzero(gain.any(axis=1)), np.flatnonzero(gain.any(axis=0))
    row, column = linear_sum_assignment(gain[np.ix_(rows, columns)], maximize=True)
    row, column = rows[row], columns[column]
    found[row] = np.where(gain[row, column] > 0, column, -1)
    return found


class _Matching(NamedTuple):
    """The column of each row, or -1, and the rows that added a pair when they came."""

    columns: Ints
    adds: Bools


def _match_in_order(gain: Floats) -> _Matching:
    """Match with the largest sum, rows one by one, for all items at once.

    A row is added along the shortest augmenting path from it (Jonker and Volgenant 1987). The path
    ends at a free column, a pair more, or at a row that is better left without one.
    """
    items, m, n = gain.shape
    adds = np.zeros((items, m), np.bool_)
    cost = np.where(gain > 0, -gain, np.inf)
    rows, columns = np.zeros((items, m)), np.zeros((items, n))  # potentials
    found, owner = np.full((items, m), -1), np.full((items, n), -1)
    for row in range(m if n else 0):
        length = cost[:, row] - columns
        rows[:, row] = length.min(axis=1)
        # it is better matched, if all are free
        these = np.flatnonzero(rows[:, row] < 0)
        if not len(these):
            continue
        # most rows take their best column, which is free
        best = length[these].argmin(axis=1)
        is_free = owner[these, best] < 0
        taking, place = these[is_free], best[is_free]
        found[taking, row], owner[taking, place], adds[taking, row] = place, row, True
        these = these[~is_free]
        if not len(these):
            continue
        length = length[these] - rows[these, row, None]
        via, end, last = _shortest_paths(cost, rows, columns, owner, these, row, length)
        # at the last prediction, which gives its reference up
        lost = np.flatnonzero(end < 0)
        adds[these, row] = end >= 0
        end[lost] = found[these[lost], last[lost]]
        found[these[lost], last[lost]] = -1
        walked = end >= 0
        _augment(found, owner, these[walked], via[walked], end[walked])
    return _Matching(found, adds)


def _shortest_paths(
    cost: Any, rows: Any, columns: Any, owner: Any, these: Any, row: int, length: Any
) -> tuple[Any, Any, Any]:
    """Search the shortest path from one prediction of each of these items, and mend potentials.

    Return from which prediction each reference was reached, the free reference at the end or -1,
    and the prediction that is left without one in that case.
    """
    active = np.arange(len(these))
    via, last = np.full(length.shape, row), np.full(len(these), row)
    # the shortest to give a reference up
    stop, end = (
        -rows[these, row],
        np.full(len(these), -1),
    )
    done = np.zeros(length.shape, np.bool_)
    while len(active):
        place = np.where(done[active], np.inf, length[active]).argmin(axis=1)
        near = (length[active, place] <= stop[active]) & ~done[active, place]
        free = near & (owner[these[active], place] < 0)
        end[active[free]] = place[free]
        stop[active[free]] = length[active[free], place[free]]
        on = near & ~free
        active, place = active[on], place[on]
        done[active, place] = True
        items, depth = these[active], length[active, place]
        next_row = owner[items, place]
        depth -= rows[items, next_row]
        shorter = depth < stop[active]
        stop[active[shorter]], last[active[shorter]] = depth[shorter], next_row[shorter]
        beyond = depth[:, None] + cost[items, next_row] - columns[items]
        closer = (beyond < length[active]) & ~done[active]
        length[active] = np.where(closer, beyond, length[active])
        via[active] = np.where(closer, next_row[:, None], via[active])
    item, place = np.nonzero(done)
    gap = stop[item] - length[item, place]
    rows[these[item], owner[these[item], place]] += gap
    columns[these[item], place] -= gap
    rows[these, row] += stop
    return via, end, last


def _search_paths(allowed: Any, owner: Any, row: int) -> tuple[Any, Any]:
    """Search breadth first from one prediction.

    Return from which prediction each reference was reached, and a free reference or -1.
    """
    items, m, n = allowed.shape
    via, end = np.full((items, n), row), np.full(items, -1)
    seen, front = np.zeros((items, n), np.bool_), np.zeros((items, m), np.bool_)
    front[:, row] = True
    for _ in range(m):
        reached = front[:, :, None] & allowed
        new = reached.any(1) & ~seen & (end < 0)[:, None]
        via = np.where(new, reached.swapaxes(1, 2).argmax(-1), via)
        seen = seen | new
        ends = new & (owner < 0)
        end = np.where(ends.any(1), ends.argmax(-1), end)
        front = np.zeros((items, m), np.bool_)
        item, place = np.nonzero(new & ~ends)
        front[item, owner[item, place]] = True
        if not len(item):
            break
    return via, end


def _augment(found: Any, owner: Any, these: Any, via: Any, end: Any) -> None:
    """Walk each path back to its free prediction and swap its pairs."""
    while len(these):
        at = np.arange(len(these))
        row = via[at, end]
        before = found[these, row]
        found[these, row], owner[these, end] = end, row
        more = before >= 0
        these, via, end = these[more], via[more], before[more]


class Matches(NamedTuple):
    """Matches of pairs, by pair and place in the reference; there in the order they were found.

    All are int arrays, shape (matches,).

    Attributes
    ----------
    pairs : the pair
    ref, cand : the places of its first words
    n_ref, n_cand : how many words it has
    stage : 0 if it is exact
    """

    pairs: Ints
    ref: Ints
    cand: Ints
    n_ref: Ints
    n_cand: Ints
    stage: Ints

    def take(self, which: Any) -> Matches:
        """Return some of them."""
        return Matches(*(column[which] for column in self))


def align(matches: Matches, ref_sizes: Ints, cand_sizes: Ints) -> Bools:
    """Choose matches, no two of which share a word.

    Parameters
    ----------
    matches : Matches
    ref_sizes, cand_sizes : int arrays, shape (pairs,)
        The words of either side.

    Returns
    -------
    bool array, shape (matches,)
        Which are chosen.

    Examples
    --------
    ``a b a`` with ``b a``: the second "a" goes on where "b" ends.

    >>> columns = [0, 0, 0], [0, 1, 2], [1, 0, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]
    >>> align(Matches(*map(np.array, columns)), np.array([3]), np.array([2])).tolist()
    [False, True, True]
    """
    alone: Bools = _is_alone(matches.pairs, matches.ref, matches.n_ref, ref_sizes)
    alone &= _is_alone(matches.pairs, matches.cand, matches.n_cand, cand_sizes)
    chosen: Bools = alone.copy()
    open_ = np.unique(matches.pairs[~alone])
    if len(open_):
        number = np.full(len(ref_sizes), -1)
        number[open_] = np.arange(len(open_))
        some = np.flatnonzero(number[matches.pairs] >= 0)
        search = matches.take(some)._replace(pairs=number[matches.pairs[some]])
        beam = _Search(search, alone[some], ref_sizes[open_], cand_sizes[open_])
        chosen[some] = beam.choose()
    return chosen


def _is_alone(pairs: Ints, first: Ints, size: Ints, sizes: Ints) -> Bools:
    """Return which matches have words of a side that no other match has."""
    start = offsets(sizes)[pairs] + first
    ends = int(sizes.sum()) + 1
    change = np.bincount(start, minlength=ends) - np.bincount(
        start + size, minlength=ends
    )
    shared = offsets(np.cumsum(change) > 1)
    found: Bools = shared[start + size] == shared[start]
    return found


class _Steps:
    """The steps of each pair, and the matches that may be taken at each."""

    def __init__(self, matches: Matches, sizes: Ints) -> None:
        width = int(sizes.max()) + 1
        begins = matches.pairs * np.int64(width) + matches.ref
        ends = begins + matches.n_ref
        inside = matches.ref + matches.n_ref < sizes[matches.pairs]
        steps = np.unique(np.concatenate([begins, ends[inside]]))
        pairs, self.place = np.divmod(steps, width)
        self.start = np.searchsorted(begins, steps)
        self.count = np.searchsorted(begins, steps, "right") - self.start
        self.indptr = offsets(np.bincount(pairs, minlength=len(sizes)))


class _Paths(NamedTuple):
    """Paths, by their pair, the best first.

    Attributes
    ----------
    pair : int array, shape (paths,)
    words, chunks, far : int arrays, shape (paths,)
        Matched words of both sides, chunks and distance.
    end : int array, shape (paths,)
        Where the last match ends in the reference.
    cand_end : int array, shape (paths,)
        And in the candidate; -1 if the word before has no match.
    taken : uint64 array, shape (paths, words of 64 bits)
        Which words of the candidate are matched.
    """

    pair: Ints
    words: Ints
    chunks: Ints
    far: Ints
    end: Ints
    cand_end: Ints
    taken: Any

    def take(self, which: Any) -> _Paths:
        """Return some of them."""
        return _Paths(*(column[which] for column in self))


class _Search:
    """The beam of some pairs, each with a match."""

    def __init__(
        self, matches: Matches, fixed: Bools, ref_sizes: Ints, cand_sizes: Ints
    ) -> None:
        self._matches, self._fixed = matches, fixed
        self._steps = _Steps(matches, ref_sizes)
        exact, sides = matches.stage == 0, (matches.n_ref, matches.n_cand)
        self._gain = np.sum(
            [np.where(exact, size, size // 2) for size in sides], axis=0
        )
        self._distance = np.abs(matches.ref - matches.cand)
        self._longest = int(matches.n_cand.max())
        n, zero = len(ref_sizes), np.zeros(len(ref_sizes), np.int64)
        cells = (int(cand_sizes.max()) + self._longest >> 6) + 1
        taken = np.zeros((n, cells), np.uint64)
        self._first = _Paths(np.arange(n), zero, zero, zero, zero, zero - 1, taken)

    def choose(self) -> Bools:
        """Return which matches the best path of each pair has."""
        n_steps = lengths(self._steps.indptr)
        # so that those that have ended are last
        order = np.argsort(-n_steps, kind="stable")
        n_steps, first = n_steps[order], self._steps.indptr[order]
        paths, best = self._first, np.zeros(len(order), np.int64)
        history = list[tuple[Ints, Ints]]()
        for number in range(int(n_steps[0])):
            paths, source, match = self._advance(paths, first[paths.pair] + number)
            history.append((source, match))
            # pairs that have another step
            going = int(np.searchsorted(-n_steps, -number - 1))
            stop = int(np.searchsorted(paths.pair, going))
            ended = paths.take(slice(stop, None))
            if len(ended.pair):
                closed = ended.chunks + (ended.cand_end >= 0)
                ranks = np.lexsort((ended.far, closed, -ended.words, ended.pair))
                firsts = ranks[starts_run(ended.pair)]
                best[ended.pair[firsts]] = stop + firsts
                paths = paths.take(slice(stop))
        found, row = np.zeros(len(self._fixed), np.bool_), best[:0]
        for number, (source, match) in reversed(list(enumerate(history))):
            going = int(np.searchsorted(-n_steps, -number))
            row = np.concatenate([row, best[len(row) : going]])
            found[match[row][match[row] >= 0]] = True
            row = source[row]
        return found

    def _advance(self, paths: _Paths, step: Ints) -> tuple[_Paths, Ints, Ints]:
        """Make a step; return the paths that go on, which paths they come from, and their match."""
        matches, place = self._matches, self._steps.place[step]
        parent, match = self._free(paths, step, place)
        fixed = self._fixed[match]
        must = np.zeros(len(step), np.bool_)
        must[parent[fixed]] = True
        # A path's branches come in the order of their matches, and then the path without one.
        some = offsets(np.bincount(parent, minlength=len(step)))
        rows = offsets(lengths(some) + ~must)
        branch, none = rows[parent] + positions(some), (rows[1:] - 1)[~must]
        source, chosen = row_numbers(rows), np.full(rows[-1], -1)
        chosen[branch] = match
        added = offsets(self._distance[match])
        words, chunks, far = (
            column[source] for column in (paths.words, paths.chunks, paths.far)
        )
        words[branch] += self._gain[match]
        far[branch] += (
            added[np.where(fixed, 1, 0) + np.arange(len(match))] - added[some[parent]]
        )
        far[none] += lengths(added[some])[~must]
        before, ends = (
            paths.cand_end[parent],
            (paths.cand_end >= 0) & (paths.end <= place),
        )
        chunks[branch] += (before >= 0) & (before != matches.cand[match])
        chunks[none] += ends[~must]
        kept = _best(paths.pair[source], words, chunks, far)
        source, match = source[kept], chosen[kept]
        taken, is_match = paths.taken[source], match >= 0
        for row, cell, bit in self._cells(match, np.flatnonzero(is_match)):
            taken[row, cell] |= np.uint64(1) << bit
        end = np.where(
            is_match, matches.ref[match] + matches.n_ref[match], paths.end[source]
        )
        left = np.where(ends, -1, paths.cand_end)[source]
        cand_end = np.where(is_match, matches.cand[match] + matches.n_cand[match], left)
        columns = words[kept], chunks[kept], far[kept], end, cand_end, taken
        return _Paths(paths.pair[source], *columns), source, match

    def _free(self, paths: _Paths, step: Ints, place: Ints) -> tuple[Ints, Ints]:
        """Return the paths and matches that begin at their step and whose words are free."""
        indptr = offsets(np.where(paths.end <= place, self._steps.count[step], 0))
        parent = row_numbers(indptr)
        match = self._steps.start[step][parent] + positions(indptr)
        free = np.ones(len(match), np.bool_)
        for row, cell, bit in self._cells(match, np.arange(len(match))):
            free[row] &= (paths.taken[parent[row], cell] >> bit & np.uint64(1)) == 0
        return parent[free], match[free]

    def _cells(self, match: Ints, rows: Ints) -> Iterator[tuple[Ints, Ints, Any]]:
        """Yield where the first words of matches are among those taken, the second ones, and on."""
        for word in range(self._longest):
            rows = rows[self._matches.n_cand[match[rows]] > word] if word else rows
            at = self._matches.cand[match[rows]] + word
            yield rows, at >> 6, (at & 63).astype(np.uint64)


def _best(pair: Ints, words: Ints, chunks: Ints, far: Ints) -> Ints:
    """Return which paths go on, the best of each pair first; pairs are sorted."""
    most, key = int(words.max()), pair
    columns = [most - words, chunks, far]
    widths = [int(column.max()).bit_length() for column in columns]
    if sum(widths) + int(pair[-1]).bit_length() < 63:
        for column, width in zip(columns, widths, strict=True):
            key = key << width | column
        order = np.argsort(key, kind="stable")
    else:
        order = np.lexsort((*reversed(columns), pair))
    first = np.flatnonzero(starts_run(pair))
    rank = np.arange(len(pair)) - np.repeat(first, np.diff(np.append(first, len(pair))))
    return order[rank < BEAM]
