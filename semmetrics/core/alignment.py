"""METEOR's alignment of words: which matches of two sentences are chosen.

Conventions
-----------
A *match* consists of adjacent words of the reference and adjacent words of the candidate. Chosen
matches do not share words. Many pairs of sentences are aligned at once (`align`), independently.

A beam search goes over the words of the reference. At each word, a path takes any match that begins
there and whose words are free, or none. The best ``BEAM`` paths continue: those with the most
matched words of both sides, then with the fewest chunks, then with the smallest distance. Equal
paths keep the order in which they were created.

As in METEOR 1.5, an exact match adds its length, and other matches add half of their length,
*rounded down to an integer*. The distance of a match is the difference between the positions where
it begins. It is added to all paths that branch *after* it from the same path, and not to its own
path. A match that shares no word with another match is fixed before the search, and its distance is
added to its own path.

The n-th steps of all pairs are computed together. Only the words where a match begins or ends are
steps: at other words, neither the paths nor their order change.

References
----------
Denkowski, Lavie, 2011, Meteor 1.3: automatic metric for reliable optimization and evaluation of
machine translation systems, WMT, section 3. Details as observed in the program METEOR 1.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import (
    Bools,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    starts_run,
)

BEAM = 40
"""Number of paths that continue."""

Words: TypeAlias = NDArray[np.uint64]
"""Sets of words, with one bit per word."""

_KEY_BITS = 62  # of a sort key in a 64-bit integer
# Word n of a sentence is bit n & _BIT_MASK of the integer n >> _INTEGER_SHIFT.
_INTEGER_SHIFT = 6
_BIT_MASK = 63


class Matches(NamedTuple):
    """Matches of pairs of sentences.

    They are sorted by pair and by position in the reference. Matches with the same position are in
    the order in which they were found. All are int arrays of shape (matches,).

    Attributes
    ----------
    pairs : the pair of each match
    ref, cand : the positions of its first words
    n_ref, n_cand : the numbers of its words
    stage : 0 if it is exact
    """

    pairs: Ints
    ref: Ints
    cand: Ints
    n_ref: Ints
    n_cand: Ints
    stage: Ints

    def take(self, index: Any) -> Matches:
        """Return the matches that an index selects: an array of numbers, a mask or a slice."""
        return Matches(*(column[index] for column in self))


def align(matches: Matches, ref_sizes: Ints, cand_sizes: Ints) -> Bools:
    """Choose matches that do not share words.

    Parameters
    ----------
    matches : Matches
    ref_sizes, cand_sizes : int arrays, shape (pairs,)
        The number of words of both sentences.

    Returns
    -------
    bool array, shape (matches,)
        Which matches are chosen.

    Examples
    --------
    ``a b a`` with ``b a``: the second "a" is chosen, as it follows "b" on both sides.

    >>> columns = [0, 0, 0], [0, 1, 2], [1, 0, 1], [1, 1, 1], [1, 1, 1], [0, 0, 0]
    >>> align(Matches(*map(np.array, columns)), np.array([3]), np.array([2])).tolist()
    [False, True, True]
    """
    is_fixed = _share_no_word(matches.pairs, matches.ref, matches.n_ref, ref_sizes)
    is_fixed &= _share_no_word(matches.pairs, matches.cand, matches.n_cand, cand_sizes)
    is_chosen: Bools = is_fixed.copy()
    open_pairs = np.unique(matches.pairs[~is_fixed])
    if len(open_pairs):
        number_of_pair = np.full(len(ref_sizes), -1)
        number_of_pair[open_pairs] = np.arange(len(open_pairs))
        searched = np.flatnonzero(number_of_pair[matches.pairs] >= 0)
        searched_matches = matches.take(searched)
        numbers = number_of_pair[searched_matches.pairs]
        search = _BeamSearch(
            searched_matches._replace(pairs=numbers),
            is_fixed[searched],
            ref_sizes[open_pairs],
            cand_sizes[open_pairs],
        )
        is_chosen[searched] = search.choose()
    return is_chosen


def _share_no_word(pairs: Ints, first: Ints, n_words: Ints, sizes: Ints) -> Bools:
    """Return which matches have no word of one side in common with another match.

    Parameters
    ----------
    pairs, first, n_words : int arrays, shape (matches,)
        The pair, the first word and the number of words of each match.
    sizes : int array, shape (pairs,)
        The number of words of each sentence.
    """
    start = offsets(sizes)[pairs] + first
    stop = start + n_words
    n_places = int(sizes.sum()) + 1
    n_starts = np.bincount(start, minlength=n_places)
    n_stops = np.bincount(stop, minlength=n_places)
    n_matches_of_word = np.cumsum(n_starts - n_stops)
    n_shared_words = offsets(n_matches_of_word > 1)
    shares_none: Bools = n_shared_words[stop] == n_shared_words[start]
    return shares_none


# ---- the beam search --------------------------------------------------------


class _Steps(NamedTuple):
    """The steps of all pairs: words of the reference where a match begins or ends.

    Attributes
    ----------
    indptr : int array, shape (pairs + 1,)
        The steps of pair ``i`` are ``indptr[i]:indptr[i + 1]``.
    place : int array, shape (steps,)
        The position of the word.
    first_match, n_matches : int arrays, shape (steps,)
        The matches that begin at the word.
    """

    indptr: Ints
    place: Ints
    first_match: Ints
    n_matches: Ints

    @staticmethod
    def of(matches: Matches, ref_sizes: Ints) -> _Steps:
        """Find the steps of matches."""
        # The key of a word is pair * width + position.
        width = int(ref_sizes.max()) + 1
        start_keys = matches.pairs * np.int64(width) + matches.ref
        stop_keys = start_keys + matches.n_ref
        stops_inside = matches.ref + matches.n_ref < ref_sizes[matches.pairs]
        keys = np.unique(np.concatenate([start_keys, stop_keys[stops_inside]]))
        pairs, place = np.divmod(keys, width)
        first_match = np.searchsorted(start_keys, keys)
        n_matches = np.searchsorted(start_keys, keys, "right") - first_match
        indptr = offsets(np.bincount(pairs, minlength=len(ref_sizes)))
        return _Steps(indptr, place, first_match, n_matches)


class _Paths(NamedTuple):
    """Paths of the beam, sorted by pair, the best first.

    Attributes
    ----------
    pair : int array, shape (paths,)
    words, chunks, distance : int arrays, shape (paths,)
        Matched words of both sides, complete chunks, and distance.
    ref_end : int array, shape (paths,)
        The position after the last match in the reference.
    cand_end : int array, shape (paths,)
        The position after the last match in the candidate, or -1 if the previous word of the
        reference is not matched. Then no chunk is open.
    used_words : uint64 array, shape (paths, integers)
        The matched words of the candidate.
    """

    pair: Ints
    words: Ints
    chunks: Ints
    distance: Ints
    ref_end: Ints
    cand_end: Ints
    used_words: Words

    def take(self, numbers: slice) -> _Paths:
        """Return some of the paths."""
        return _Paths(
            pair=self.pair[numbers],
            words=self.words[numbers],
            chunks=self.chunks[numbers],
            distance=self.distance[numbers],
            ref_end=self.ref_end[numbers],
            cand_end=self.cand_end[numbers],
            used_words=self.used_words[numbers],
        )


class _Extensions(NamedTuple):
    """Paths that are extended by one step, before the best are selected.

    Attributes
    ----------
    source : int array, shape (extensions,)
        The path that is extended.
    match : int array, shape (extensions,)
        The match that it takes, or -1.
    words, chunks, distance : int arrays, shape (extensions,)
        As in `_Paths`.
    """

    source: Ints
    match: Ints
    words: Ints
    chunks: Ints
    distance: Ints


class _HistoryStep(NamedTuple):
    """How the paths after a step were created.

    Attributes
    ----------
    source : int array, shape (paths,)
        The number of the path before the step.
    match : int array, shape (paths,)
        The match taken in the step, or -1.
    """

    source: Ints
    match: Ints


class _BeamSearch:
    """The beam search for pairs of sentences. Each pair has at least one match.

    Parameters
    ----------
    matches : Matches
    is_fixed : bool array, shape (matches,)
        Matches that are certain to be chosen.
    ref_sizes, cand_sizes : int arrays, shape (pairs,)
        The number of words of both sentences.
    """

    def __init__(
        self, matches: Matches, is_fixed: Bools, ref_sizes: Ints, cand_sizes: Ints
    ) -> None:
        self._matches = matches
        self._is_fixed = is_fixed
        self._steps = _Steps.of(matches, ref_sizes)
        is_exact = matches.stage == 0
        ref_words = np.where(is_exact, matches.n_ref, matches.n_ref // 2)
        cand_words = np.where(is_exact, matches.n_cand, matches.n_cand // 2)
        self._words_of_match = ref_words + cand_words
        self._distance_of_match = np.abs(matches.ref - matches.cand)
        self._max_cand_words = int(matches.n_cand.max())
        n_pairs = len(ref_sizes)
        max_word = int(cand_sizes.max()) + self._max_cand_words
        n_integers = (max_word >> _INTEGER_SHIFT) + 1
        zeros = np.zeros(n_pairs, np.int64)
        self._start = _Paths(
            pair=np.arange(n_pairs),
            words=zeros,
            chunks=zeros,
            distance=zeros,
            ref_end=zeros,
            cand_end=zeros - 1,
            used_words=np.zeros((n_pairs, n_integers), np.uint64),
        )

    def choose(self) -> Bools:
        """Return which matches the best path of each pair takes, shape (matches,)."""
        n_steps = lengths(self._steps.indptr)
        # Pairs are numbered by decreasing numbers of steps, so that finished pairs are the last.
        order = np.argsort(-n_steps, kind="stable")
        n_steps = n_steps[order]
        first_step = self._steps.indptr[order]
        best = np.zeros(len(order), np.int64)
        history: list[_HistoryStep] = []
        paths = self._start
        for number in range(int(n_steps[0])):
            paths, history_step = self._advance(paths, first_step[paths.pair] + number)
            history.append(history_step)
            n_unfinished = _count_longer(n_steps, number + 1)
            stop = int(np.searchsorted(paths.pair, n_unfinished))
            finished = paths.take(slice(stop, None))
            if len(finished.pair):
                pairs, best_finished = _find_best(finished)
                best[pairs] = stop + best_finished
                paths = paths.take(slice(stop))
        return self._trace_back(history, n_steps, best)

    def _trace_back(
        self, history: list[_HistoryStep], n_steps: Ints, best: Ints
    ) -> Bools:
        """Return the matches on the best paths, shape (matches,).

        Parameters
        ----------
        history : list of _HistoryStep
        n_steps : int array, shape (pairs,)
            Decreasing.
        best : int array, shape (pairs,)
            The number of the best path of each pair after its last step.
        """
        is_chosen = np.zeros(len(self._is_fixed), np.bool_)
        # The paths of all pairs that have the current step.
        path = best[:0]
        for number in range(len(history) - 1, -1, -1):
            step = history[number]
            n_pairs = _count_longer(n_steps, number)
            path = np.concatenate([path, best[len(path) : n_pairs]])
            match = step.match[path]
            is_chosen[match[match >= 0]] = True
            path = step.source[path]
        return is_chosen

    def _advance(self, paths: _Paths, step: Ints) -> tuple[_Paths, _HistoryStep]:
        """Extend all paths by one step, and select the best.

        Parameters
        ----------
        paths : _Paths
        step : int array, shape (paths,)
            The step of each path's pair.
        """
        place = self._steps.place[step]
        ends_chunk = (paths.cand_end >= 0) & (paths.ref_end <= place)
        extensions = self._extend(paths, step, place, ends_chunk)
        best = _select_best(paths.pair[extensions.source], extensions)
        source = extensions.source[best]
        match = extensions.match[best]
        has_match = match >= 0
        ref_stop = self._matches.ref[match] + self._matches.n_ref[match]
        cand_stop = self._matches.cand[match] + self._matches.n_cand[match]
        open_cand_end = np.where(ends_chunk, -1, paths.cand_end)[source]
        used_words = paths.used_words[source]
        for row, integer, bit in self._cand_words(match, np.flatnonzero(has_match)):
            used_words[row, integer] |= np.uint64(1) << bit
        new_paths = _Paths(
            pair=paths.pair[source],
            words=extensions.words[best],
            chunks=extensions.chunks[best],
            distance=extensions.distance[best],
            ref_end=np.where(has_match, ref_stop, paths.ref_end[source]),
            cand_end=np.where(has_match, cand_stop, open_cand_end),
            used_words=used_words,
        )
        return new_paths, _HistoryStep(source, match)

    def _extend(
        self, paths: _Paths, step: Ints, place: Ints, ends_chunk: Bools
    ) -> _Extensions:
        """Extend each path by each of its possible matches, and by none.

        The extensions of a path are in the order of their matches, followed by the one without a
        match. Paths with a fixed match have only that extension.
        """
        parent, match = self._find_branches(paths, step, place)
        n_paths = len(step)
        is_fixed = self._is_fixed[match]
        has_fixed = np.zeros(n_paths, np.bool_)
        has_fixed[parent[is_fixed]] = True
        has_plain = ~has_fixed
        # The extensions of each path: branches with a match, then a plain one without a match.
        branch_indptr = offsets(np.bincount(parent, minlength=n_paths))
        indptr = offsets(lengths(branch_indptr) + has_plain)
        branches = indptr[parent] + positions(branch_indptr)
        last_extensions = indptr[1:] - 1
        plain = last_extensions[has_plain]
        source = row_numbers(indptr)
        matches = np.full(indptr[-1], -1)
        matches[branches] = match

        words = paths.words[source]
        words[branches] += self._words_of_match[match]

        # A chunk is complete if the next match does not continue it, or if no match does.
        chunks = paths.chunks[source]
        previous_end = paths.cand_end[parent]
        is_new_chunk = previous_end != self._matches.cand[match]
        chunks[branches] += (previous_end >= 0) & is_new_chunk
        chunks[plain] += ends_chunk[has_plain]

        # The distances of earlier branches of the path are added, and the own one if it is fixed.
        running_sums = offsets(self._distance_of_match[match])
        distance = paths.distance[source]
        n_added = np.arange(len(match)) + np.where(is_fixed, 1, 0)
        first_branches = branch_indptr[parent]
        distance[branches] += running_sums[n_added] - running_sums[first_branches]
        sums_of_paths = lengths(running_sums[branch_indptr])
        distance[plain] += sums_of_paths[has_plain]
        return _Extensions(source, matches, words, chunks, distance)

    def _find_branches(
        self, paths: _Paths, step: Ints, place: Ints
    ) -> tuple[Ints, Ints]:
        """Return the matches that paths can take: those that begin at their step with free words.

        Returns
        -------
        parent, match : int arrays, shape (branches,)
            Sorted by path.
        """
        is_free_here = paths.ref_end <= place
        n_matches = np.where(is_free_here, self._steps.n_matches[step], 0)
        indptr = offsets(n_matches)
        parent = row_numbers(indptr)
        match = self._steps.first_match[step][parent] + positions(indptr)
        is_free = np.ones(len(match), np.bool_)
        for row, integer, bit in self._cand_words(match, np.arange(len(match))):
            is_used = paths.used_words[parent[row], integer] >> bit & np.uint64(1)
            is_free[row] &= is_used == 0
        return parent[is_free], match[is_free]

    def _cand_words(
        self, match: Ints, rows: Ints
    ) -> Iterator[tuple[Ints, Ints, Words]]:
        """Yield the candidate's words of matches: all first words, then all second words, ...

        Parameters
        ----------
        match : int array
        rows : int array
            The places in ``match`` of the matches.

        Yields
        ------
        rows : int array
            The places of the matches that have such a word.
        integers : int array
        bits : uint64 array
            The integer and the bit of the word in `_Paths.used_words`.
        """
        for number in range(self._max_cand_words):
            if number:
                has_word = self._matches.n_cand[match[rows]] > number
                rows = rows[has_word]
            word = self._matches.cand[match[rows]] + number
            bits = (word & _BIT_MASK).astype(np.uint64)
            yield rows, word >> _INTEGER_SHIFT, bits


def _count_longer(n_steps: Ints, number: int) -> int:
    """Count the pairs with more than so many steps. Numbers of steps are decreasing."""
    return int(np.searchsorted(-n_steps, -number))


def _find_best(paths: _Paths) -> tuple[Ints, Ints]:
    """Return the pairs of finished paths, and the number of the best path of each pair."""
    has_open_chunk = paths.cand_end >= 0
    chunks = paths.chunks + has_open_chunk
    order = np.lexsort((paths.distance, chunks, -paths.words, paths.pair))
    best = order[starts_run(paths.pair)]
    return paths.pair[best], best


def _select_best(pair: Ints, extensions: _Extensions) -> Ints:
    """Return the extensions that continue, sorted by pair, the best first.

    Parameters
    ----------
    pair : int array, shape (extensions,)
        In increasing order.
    extensions : _Extensions
    """
    missing_words = int(extensions.words.max()) - extensions.words
    criteria = [missing_words, extensions.chunks, extensions.distance]
    n_bits = [int(numbers.max()).bit_length() for numbers in criteria]
    if sum(n_bits) + int(pair[-1]).bit_length() <= _KEY_BITS:
        # One integer as the key is faster to sort.
        keys = pair
        for numbers, width in zip(criteria, n_bits, strict=True):
            keys = keys << width | numbers
        order = np.argsort(keys, kind="stable")
    else:
        order = np.lexsort((*reversed(criteria), pair))
    pair_starts = np.flatnonzero(starts_run(pair))
    ranks = positions(np.append(pair_starts, len(pair)))
    return order[ranks < BEAM]
