"""What a set of label lists looks like: sizes, label frequencies, label order.

Conventions
-----------
Lists are ragged rows of label codes; repeated labels are kept, and each function says whether it
counts them. Nothing here compares predictions with references.

Functions
---------
``cardinality``        labels per list: mean, standard deviation, histogram
``label_frequencies``  how often each label occurs, most frequent first
``label_order``        how consistently one label of a pair precedes the other
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.arguments import checked
from semmetrics.core.ragged import (
    Floats,
    Ints,
    cell_keys,
    first_occurrences,
    lengths,
    offsets,
    positions,
    sum_rows,
)
from semmetrics.errors import InputError
from semmetrics.frozen import with_arrays
from semmetrics.messages import pluralize

__all__ = [
    "Cardinality",
    "LabelFrequencies",
    "LabelOrder",
    "cardinality",
    "label_frequencies",
    "label_order",
]

_CELLS = 1 << 22  # label pairs held before they are counted


@with_arrays
class Cardinality(NamedTuple):
    """Labels per list.

    Attributes
    ----------
    n : int
        Number of lists, empty ones included.
    mean : float
        nan without lists.
    std : float
        Of the sample: the squares are divided by n - 1; nan below two lists.
    histogram : array, shape (longest + 1,), int64
        At c the number of lists with c labels.
    """

    n: int
    mean: float
    std: float
    histogram: Ints


@with_arrays
class LabelFrequencies(NamedTuple):
    """Labels and their counts, most frequent first; equal counts in the order of the codes."""

    labels: Ints
    counts: Ints


@with_arrays
class LabelOrder(NamedTuple):
    """Pairs of labels that occur together, by falling order; equal ones by their codes.

    Attributes
    ----------
    pairs : array, shape (p, 2), int64
        Codes A < B of each pair.
    a, b : arrays, shape (p,), int64
        Lists in which A precedes B, and B precedes A.
    order : array, shape (p,), in [0.5, 1]
        max(a, b) / (a + b): 0.5 is no order, 1 always the same. Drawn against a normalised x axis
        this is figure 5 of the paper.
    """

    pairs: Ints
    a: Ints
    b: Ints
    order: Floats

    @property
    def mean(self) -> float:
        """Mean order over the pairs, each counted once; nan without pairs."""
        return float(self.order.mean()) if len(self.order) else float("nan")


@checked
def cardinality(indptr: ArrayLike) -> Cardinality:
    """Summarise the number of labels per list; repeated labels count.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)

    Returns
    -------
    Cardinality

    Raises
    ------
    InputError
        If indptr is no array of row offsets.

    References
    ----------
    Pineda, Salvador et al., 2019, table 2 and figure 2.

    Examples
    --------
    >>> cardinality([0, 2, 2, 5]).histogram.tolist()
    [1, 0, 1, 1]
    """
    sizes = lengths(_row_offsets(indptr))
    n = len(sizes)
    mean = float(sizes.mean()) if n else float("nan")
    std = float(sizes.std(ddof=1)) if n > 1 else float("nan")
    return Cardinality(n, mean, std, np.bincount(sizes, minlength=1))


@checked
def label_frequencies(codes: ArrayLike, n_labels: int) -> LabelFrequencies:
    """Count every label of the dictionary, most frequent first; repeated labels count.

    Parameters
    ----------
    codes : array-like of int, shape (m,), in [0, n_labels)
        The labels of all lists.
    n_labels : int
        Size of the dictionary; labels that never occur come last, with count 0.

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
    flat = _codes(codes)
    if flat.max(initial=-1) >= n_labels:
        raise InputError(
            f"code {flat.max()} is outside a dictionary of {pluralize(n_labels, 'label')}"
        )
    counts = np.bincount(flat, minlength=n_labels)
    labels = np.argsort(-counts, kind="stable")
    return LabelFrequencies(labels, counts[labels])


@checked
def label_order(indptr: ArrayLike, codes: ArrayLike) -> LabelOrder:
    """Measure how consistently one label of a pair precedes the other, for all pairs.

    Parameters
    ----------
    indptr : array-like of int, shape (n + 1,)
    codes : array-like of int, shape (indptr[-1],), at least 0
        Labels in the order of their list; of a repeated label the first place counts.

    Returns
    -------
    LabelOrder

    Raises
    ------
    InputError
        If indptr is no array of row offsets for the codes, or a code is negative.

    References
    ----------
    Pineda, Salvador et al., 2019, supplement A.1 and figure 5.

    Examples
    --------
    >>> found = label_order([0, 2, 4, 7], [0, 1, 1, 0, 0, 1, 2])
    >>> found.pairs.tolist(), found.a.tolist(), found.b.tolist(), found.order.round(2).tolist()
    ([[0, 2], [1, 2], [0, 1]], [1, 1, 2], [0, 0, 1], [1.0, 1.0, 0.67])
    """
    rows, flat = _row_offsets(indptr), _codes(codes)
    if flat.shape != (rows[-1],):
        raise InputError(
            f"{pluralize(int(rows[-1]), 'code', 'are')} needed, the array has shape {flat.shape}"
        )
    span = int(flat.max(initial=0)) + 1
    keys, counts = _directed(*_first_places(rows, flat), span)
    left, right = keys // span, keys % span
    low, high = np.minimum(left, right), np.maximum(left, right)
    pairs, which = np.unique(low * span + high, return_inverse=True)
    forward = left < right
    a, b = np.zeros((2, len(pairs)), np.int64)
    a[which[forward]] = counts[forward]  # a direction of a pair occurs once among the keys
    b[which[~forward]] = counts[~forward]
    order = np.maximum(a, b) / (a + b)
    falling = np.argsort(-order, kind="stable")
    found = np.stack([pairs // span, pairs % span], axis=1)[falling]
    return LabelOrder(found, a[falling], b[falling], order[falling])


def _first_places(rows: Ints, flat: Ints) -> tuple[Ints, Ints]:
    """Leave out the later places of repeated labels."""
    span = int(flat.max(initial=0)) + 1
    first = first_occurrences(cell_keys(rows, flat, span), span * (len(rows) - 1))
    return (rows, flat) if first is None else (offsets(sum_rows(first, rows)), flat[first])


def _directed(rows: Ints, flat: Ints, span: int) -> tuple[Ints, Ints]:
    """Keys left * span + right of the labels that precede one another, and their counts.

    Pairs at distance 1, 2, ... in their lists are formed for all lists at once, and counted
    whenever enough of them are held.
    """
    keys, counts = np.zeros((2, 0), np.int64)
    held: list[Ints] = []
    size = 0
    left = np.arange(len(flat))
    after = np.repeat(lengths(rows), lengths(rows)) - positions(rows)  # labels from here to the end
    distance = 1
    while len(left):
        left = left[after[left] > distance]
        held.append(flat[left] * span + flat[left + distance])
        size += len(left)
        distance += 1
        if size > _CELLS or not len(left):
            keys, counts = _merged(keys, counts, np.concatenate(held))
            held, size = [], 0
    return keys, counts


def _merged(keys: Ints, counts: Ints, fresh: Ints) -> tuple[Ints, Ints]:
    found, times = np.unique(fresh, return_counts=True)
    every, which = np.unique(np.concatenate([keys, found]), return_inverse=True)
    total = np.zeros(len(every), np.int64)
    total[which[: len(keys)]] = counts
    total[which[len(keys) :]] += times
    return every, total


def _codes(codes: ArrayLike) -> Ints:
    flat = np.asarray(codes)
    if flat.ndim != 1 or (flat.size and flat.dtype.kind not in "iu"):
        raise InputError("codes must be a flat array of integers")
    if flat.min(initial=0) < 0:
        raise InputError(f"code {flat.min()} is negative")
    return flat.astype(np.int64)


def _row_offsets(indptr: ArrayLike) -> Ints:
    """Check row offsets: from 0, never falling."""
    rows = np.asarray(indptr, np.int64)
    if rows.ndim != 1 or not len(rows) or rows[0] != 0 or (np.diff(rows) < 0).any():
        raise InputError("indptr must be row offsets: from 0, never falling")
    return rows
