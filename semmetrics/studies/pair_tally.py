"""The most discrepant images of one pair of systems, collected from blocks of images."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import exact_sums, to_floats
from semmetrics.core.ragged import Floats
from semmetrics.studies.competition_state import PairSelection

# Enough to tell values apart, and few enough to ignore rounding errors.
_BITS_OF_A_VALUE = 40


class Candidate(NamedTuple):
    """An image that may be selected. Candidates sort by discrepancy, the largest first.

    Attributes
    ----------
    rounded : float
        The value without rounding errors.
    lower : tuple of float
        Values of lower orders, which order images of equal values.
    key : int or str
        Orders images that are still equal, by the rule for ties.
    image : str
    value : float
        The value as it was computed.
    """

    rounded: float
    lower: tuple[float, ...]
    key: int | str
    image: str
    value: float

    @property
    def level(self) -> tuple[float, tuple[float, ...]]:
        """The values, which tied images have in common."""
        return self.rounded, self.lower


class BlockImages(NamedTuple):
    """The images of a block and their order by the rule for ties.

    Attributes
    ----------
    names : sequence of str
    rank : int array, shape (images,)
        The rank of each image among the images of the block.
    keys : sequence of int or str
        The same order as keys, which are comparable with images of other blocks.
    """

    names: Sequence[str]
    rank: NDArray[np.integer]
    keys: Sequence[int | str]


class PairTally:
    """The k smallest values of a pair so far, and counts of its images.

    Parameters
    ----------
    k : int
    first, second : str
        The systems.

    Attributes
    ----------
    candidates : list of Candidate
        At most k, the most discrepant one first.
    n_defined, n_undefined : int
        The numbers of images with and without a value.
    n_identical : int
        The number of images for which both systems give the same answer.
    """

    def __init__(self, k: int, first: str, second: str) -> None:
        self.first = first
        self.second = second
        self.candidates: list[Candidate] = []
        self.n_defined = 0
        self.n_undefined = 0
        self.n_identical = 0
        self._k = k
        # The level of the last of k candidates, and the number of images that share it.
        self._cut: tuple[float, tuple[float, ...]] = (math.inf, ())
        self._n_tied = 0
        self._sum = exact_sums(np.zeros(0))

    def update(self, values: Floats, lower: Floats, images: BlockImages) -> None:
        """Add the values of a block.

        Parameters
        ----------
        values : array, shape (images,)
            nan if undefined.
        lower : array, shape (orders, images)
            Values that order images of value 0.
        images : BlockImages
        """
        is_defined = ~np.isnan(values)
        n_defined = int(is_defined.sum())
        self.n_defined += n_defined
        self.n_undefined += len(values) - n_defined
        self._sum += exact_sums(values[is_defined])
        rounded = _round_away_errors(values)
        lower = np.where(rounded == 0, _round_away_errors(lower), 0.0)

        # By value, then by the lower orders from the first on, then by the rule for ties.
        # The last key of lexsort comes first.
        near = np.flatnonzero(is_defined & (rounded <= self._cut[0]))
        order = np.lexsort((images.rank[near], *lower[::-1, near], rounded[near]))
        new_candidates = []
        for index in near[order[: self._k]].tolist():
            candidate = Candidate(
                rounded=float(rounded[index]),
                lower=tuple(lower[:, index].tolist()),
                key=images.keys[index],
                image=images.names[index],
                value=float(values[index]),
            )
            new_candidates.append(candidate)
        earlier_candidates = self.candidates
        merged = sorted(earlier_candidates + new_candidates)
        self.candidates = merged[: self._k]
        if len(self.candidates) == self._k:
            self._move_cut(earlier_candidates, rounded[near], lower[:, near])

    def _move_cut(
        self, earlier_candidates: Iterable[Candidate], rounded: Floats, lower: Floats
    ) -> None:
        """Move the cut to the last candidate, and count the images of its level.

        Parameters
        ----------
        earlier_candidates : iterable of Candidate
            The candidates before this block.
        rounded : array, shape (images,)
            The values of the block, at least those up to the last candidate.
        lower : array, shape (orders, images)
        """
        last = self.candidates[-1]
        is_tied = rounded == last.rounded
        for values_of_order, value in zip(lower, last.lower, strict=True):
            is_tied &= values_of_order == value
        n_tied_here = int(is_tied.sum())
        if last.level == self._cut:
            self._n_tied += n_tied_here
        else:
            # Earlier images of this level were not dropped, as they were before the old cut.
            n_tied_earlier = _count_level(earlier_candidates, last.level)
            self._n_tied = n_tied_here + n_tied_earlier
        self._cut = last.level

    def keep_first(self, k: int) -> None:
        """Keep only the k smallest values."""
        cut = self.candidates[k - 1].level
        if cut != self._cut:
            # All images of this level are among the candidates.
            self._n_tied = _count_level(self.candidates, cut)
        self.candidates = self.candidates[:k]
        self._cut = cut

    def finish(self, sign: float) -> PairSelection:
        """Return the selected images, with all values multiplied by a sign."""
        mean = math.nan
        if self.n_defined:
            mean = sign * float(to_floats(self._sum)[0]) / self.n_defined
        # Adding 0.0 turns -0.0 into 0.0.
        values = [sign * candidate.value + 0.0 for candidate in self.candidates]
        return PairSelection(
            first=self.first,
            second=self.second,
            images=tuple(candidate.image for candidate in self.candidates),
            values=tuple(values),
            n=self.n_defined,
            undefined=self.n_undefined,
            identical=self.n_identical,
            mean=mean,
            tied=self._n_tied,
            taken=_count_level(self.candidates, self._cut),
        )


def _count_level(
    candidates: Iterable[Candidate], level: tuple[float, tuple[float, ...]]
) -> int:
    return sum(candidate.level == level for candidate in candidates)


def _round_away_errors(values: Floats) -> Floats:
    """Round to so many bits that equal values, computed in different orders, become equal."""
    mantissas, exponents = np.frexp(values)
    integers = np.rint(np.ldexp(mantissas, _BITS_OF_A_VALUE))
    return np.asarray(np.ldexp(integers, exponents - _BITS_OF_A_VALUE))
