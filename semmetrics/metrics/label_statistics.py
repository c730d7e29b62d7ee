"""Statistics of one collection of label lists: cardinality, frequency and order of labels.

Conventions
-----------
Label lists are ragged rows of label codes, with repeated labels. Each function says
whether a repeated label counts again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core import ragged
from semmetrics.core.backend import dense_array
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import integer_list

MAX_PAIRS_PER_COUNT = 1 << 22


@by_value()
class Cardinality(NamedTuple):
    """The number of labels per list.

    Attributes
    ----------
    n : int
        The number of lists, including empty ones.
    mean : float
        nan without lists.
    std : float
        The sample standard deviation (with n - 1), nan for fewer than two lists.
    histogram : array, shape (longest + 1,), int64
        At index c, the number of lists with c labels.
    """

    n: int
    mean: float
    std: float
    histogram: Ints


@by_value()
class LabelFrequencies(NamedTuple):
    """Labels and their counts, most frequent first. Equal counts are ordered by code."""

    labels: Ints
    counts: Ints


@by_value()
class LabelOrder(NamedTuple):
    """Pairs of labels that occur together, sorted by descending order, then by code.

    Attributes
    ----------
    pairs : array, shape (p, 2), int64
        Codes A < B of each pair.
    a, b : arrays, shape (p,), int64
        The number of lists in which A precedes B, and in which B precedes A.
    order : array, shape (p,), in [0.5, 1]
        max(a, b) / (a + b). 0.5 means no order, and 1 always the same order. Plotted
        against a normalised x axis, this is figure 5 of the paper.
    """

    pairs: Ints
    a: Ints
    b: Ints
    order: Floats

    @property
    def mean(self) -> float:
        """The unweighted mean order of the pairs, nan without pairs."""
        if not len(self.order):
            return float("nan")
        return float(self.order.mean())


def cardinality(indptr: ArrayLike) -> Cardinality:
    """Summarise the number of labels per list. Repeated labels count again.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)

    Returns
    -------
    Cardinality

    Raises
    ------
    ValueError
        If indptr is not an ascending array of row offsets.

    References
    ----------
    Pineda, Salvador et al., 2019, table 2 and figure 2.

    Examples
    --------
    >>> cardinality([0, 2, 2, 5]).histogram.tolist()
    [1, 0, 1, 1]
    """
    sizes = ragged.lengths(dense_array(indptr, "indptr", np.int64))
    n = len(sizes)
    mean = float("nan")
    if n:
        mean = float(sizes.mean())
    std = float("nan")
    if n > 1:
        std = float(sizes.std(ddof=1))
    return Cardinality(n, mean, std, np.bincount(sizes, minlength=1))


def label_frequencies(codes: ArrayLike, n_labels: int) -> LabelFrequencies:
    """Count every label of the dictionary, most frequent first. Repeated labels count again.

    Parameters
    ----------
    codes : array-like of int, shape (m,), in [0, n_labels)
        The labels of all lists.
    n_labels : int
        The size of the dictionary. Labels that never occur come last, with count 0.

    Returns
    -------
    LabelFrequencies

    Raises
    ------
    InputError
        If a code is outside the dictionary.

    References
    ----------
    Kubany et al., 2020, Expert Systems with Applications, figure 1.

    Examples
    --------
    >>> label_frequencies([2, 0, 2], 3)
    LabelFrequencies(labels=array([2, 0, 1]), counts=array([2, 1, 0]))
    """
    flat = integer_list(codes, "codes")
    largest = flat.max(initial=-1)
    if largest >= n_labels:
        wanted = f"codes below {n_labels}"
        raise InputError("out-of-range", role="a code", value=largest, wanted=wanted)
    counts = np.bincount(flat, minlength=n_labels)
    labels = np.argsort(-counts, kind="stable")
    return LabelFrequencies(labels, counts[labels])


def label_order(indptr: ArrayLike, codes: ArrayLike) -> LabelOrder:
    """Measure how consistently one label of a pair precedes the other, for all pairs.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    codes : array-like of int, shape (indptr[-1],), at least 0
        Labels in the order of their list. Only the first occurrence of a repeated label
        counts.

    Returns
    -------
    LabelOrder

    Raises
    ------
    InputError
        If indptr is not an array of row offsets for the codes, or a code is negative.

    References
    ----------
    Pineda, Salvador et al., 2019, supplement A.1 and figure 5.

    Examples
    --------
    >>> order = label_order([0, 2, 4, 7], [0, 1, 1, 0, 0, 1, 2])
    >>> order.pairs.tolist(), order.a.tolist(), order.b.tolist(), order.order.round(2).tolist()
    ([[0, 2], [1, 2], [0, 1]], [1, 1, 2], [0, 0, 1], [1.0, 1.0, 0.67])
    """
    offsets = dense_array(indptr, "indptr", np.int64)
    labels = integer_list(codes, "codes")
    n_occurrences = offsets[-1]
    if labels.shape != (n_occurrences,):
        wanted = f"{n_occurrences}, as in indptr"
        raise InputError("wrong-shape", role="codes", shape=labels.shape, wanted=wanted)
    n_lists = len(offsets) - 1
    n_labels = int(labels.max(initial=0)) + 1
    cells = ragged.cell_keys(offsets, labels, n_labels)
    is_first = ragged.first_occurrences(cells, n_labels * n_lists)
    if is_first is not None:
        offsets = ragged.offsets(ragged.sum_rows(is_first, offsets))
        labels = labels[is_first]

    counts = _count_pairs(offsets, labels, n_labels)
    a = counts.forward
    b = counts.backward
    order = np.maximum(a, b) / (a + b)
    smaller, larger = np.divmod(counts.keys, n_labels)
    pairs = np.stack([smaller, larger], axis=1)
    descending = np.argsort(-order, kind="stable")
    return LabelOrder(
        pairs[descending], a[descending], b[descending], order[descending]
    )


class _PairCounts:
    """Counts of pairs of labels by the order in which they occur.

    Parameters
    ----------
    n_labels : int

    Attributes
    ----------
    keys : int array, shape (pairs,)
        ``A * n_labels + B`` of each pair A < B, in ascending order.
    forward, backward : int arrays, shape (pairs,)
        How often A precedes B, and how often B precedes A.
    """

    def __init__(self, n_labels: int) -> None:
        self._n_labels = n_labels
        self.keys: Ints = np.zeros(0, np.int64)
        self.forward: Ints = np.zeros(0, np.int64)
        self.backward: Ints = np.zeros(0, np.int64)

    def add(self, first: Ints, second: Ints) -> None:
        """Count pairs whose first label precedes the second."""
        smaller = np.minimum(first, second)
        larger = np.maximum(first, second)
        keys = np.append(self.keys, smaller * self._n_labels + larger)
        self.keys, place = np.unique(keys, return_inverse=True)
        forward = np.append(self.forward, first < second)
        backward = np.append(self.backward, first > second)
        self.forward = np.bincount(place, forward).astype(np.int64)
        self.backward = np.bincount(place, backward).astype(np.int64)


def _count_pairs(offsets: Ints, labels: Ints, n_labels: int) -> _PairCounts:
    """Count the pairs of labels of each list, which has no repeated labels.

    Pairs at distance 1, 2, ... in their lists are formed for all lists at once. They are
    counted whenever there are enough of them.
    """
    counts = _PairCounts(n_labels)
    uncounted: list[Ints] = []
    n_uncounted = 0
    sizes = ragged.lengths(offsets)
    n_following = np.repeat(sizes, sizes) - ragged.positions(offsets) - 1
    positions = np.arange(len(labels))
    distance = 0
    while len(positions):
        distance += 1
        positions = positions[n_following[positions] >= distance]
        later_labels = labels[positions + distance]
        uncounted.append(np.stack([labels[positions], later_labels]))
        n_uncounted += len(positions)
        if n_uncounted > MAX_PAIRS_PER_COUNT or not len(positions):
            first, second = np.concatenate(uncounted, axis=1)
            counts.add(first, second)
            uncounted = []
            n_uncounted = 0
    return counts
