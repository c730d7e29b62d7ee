r"""Statistics of agreement of scores and ratings, for many resamples at once.

Conventions
-----------
Two items with the same value on one side are *tied* on that side. n items form
N = n(n-1)/2 pairs. C of the pairs have the same order on both sides, D have opposite
orders, T_x are tied in the scores and T_y in the ratings.

========== =============================================================================
pearson    product-moment correlation of the values
spearman   product-moment correlation of the ranks, with the mean rank for equal values
kendall-b  :math:`(C - D) / \sqrt{(N - T_x)(N - T_y)}`
kendall-c  :math:`2 (C - D) m / (n^2 (m - 1))`, where m is the smaller number of
           distinct values of the two sides
accuracy   share of the pairs with different ratings that the scores put in the same
           order, with 1/2 for pairs of equal scores: :math:`1/2 + (C - D) / (2 (N -
           T_y))`
========== =============================================================================

A correlation with a constant is undefined (nan). The accuracy is undefined if all
ratings are equal.

A resample draws as many items, or groups of items, as there are, with replacement. An
item that is drawn twice is tied with itself. All resamples are computed together, from
sums of weights. C - D is exact and takes O(n log n).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import Floats, Ints
from semmetrics.errors import InputError
from semmetrics.studies.significance import as_floats

_MAX_WEIGHTS_PER_BATCH = 1 << 19
"""The most weights of cells that are computed at once. They fit in the cache of the processor."""


class WeightedTable(Protocol):
    """Judged items in groups, whose statistics can be computed for any weights of groups."""

    def weighted(
        self, statistics: Sequence[str], counts: NDArray[Any]
    ) -> dict[str, Floats]:
        """Return the statistics of each resample, as `Correlated.weighted`."""
        ...


@dataclass(frozen=True, eq=False)
class _DigitSplit:
    """The cells of a table, split by one binary digit of their level on one side.

    The cells with each digit are sorted by the higher digits of that level, then by the level
    on the other side.

    Attributes
    ----------
    zeros, ones : int array
        The cells with 0 and with 1 at this digit.
    begin, end : int array, shape (ones,)
        For each cell of ``ones``, ``zeros[begin:end]`` has the same higher digits.
    low, high : int array, shape (ones,)
        For each cell of ``ones``, ``zeros[low:high]`` also has the same level on the
        other side. Cells before ``low`` have a lower level there, cells from ``high``
        on have a higher one.
    """

    zeros: Ints
    ones: Ints
    begin: Ints
    low: Ints
    high: Ints
    end: Ints

    @classmethod
    def of(cls, levels: Ints, other_levels: Ints, digit: int) -> _DigitSplit:
        """Split cells by a digit of their levels; digit 0 is the lowest."""
        higher_digits = levels >> (digit + 1)
        order = np.lexsort((other_levels, higher_digits))
        is_one = ((levels[order] >> digit) & 1).astype(np.bool_)
        zeros = order[~is_one]
        ones = order[is_one]
        # The key of a cell is one number for its higher digits and other level, so that one
        # search finds both. The lowest key of its higher digits has the other level 0.
        width = int(other_levels.max(initial=0)) + 1
        lowest_key_of_ones = higher_digits[ones] * width
        key_of_ones = lowest_key_of_ones + other_levels[ones]
        key_of_zeros = higher_digits[zeros] * width + other_levels[zeros]
        return cls(
            zeros,
            ones,
            begin=np.searchsorted(key_of_zeros, lowest_key_of_ones),
            low=np.searchsorted(key_of_zeros, key_of_ones),
            high=np.searchsorted(key_of_zeros, key_of_ones, side="right"),
            end=np.searchsorted(key_of_zeros, lowest_key_of_ones + width),
        )


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of cells and of levels in a batch of resamples.

    Attributes
    ----------
    cells : float64 array, shape (cells, resamples)
    scores : float64 array, shape (distinct scores, resamples)
    ratings : float64 array, shape (distinct ratings, resamples)
    """

    cells: Floats
    scores: Floats
    ratings: Floats

    @cached_property
    def totals(self) -> Floats:
        """The number of items in each resample."""
        totals: Floats = self.cells.sum(axis=0)
        return totals

    @cached_property
    def distinct_ratings(self) -> Ints:
        """The number of distinct ratings in each resample."""
        distinct: Ints = (self.ratings > 0).sum(axis=0)
        return distinct

    @cached_property
    def fewest_distinct(self) -> Ints:
        """The smaller number of distinct values of both sides, in each resample."""
        distinct_scores = (self.scores > 0).sum(axis=0)
        fewest: Ints = np.minimum(distinct_scores, self.distinct_ratings)
        return fewest


@dataclass(frozen=True, eq=False)
class Correlated:
    """Scores and ratings of the same items, to be correlated under any weights.

    A *cell* is a score and a rating that occur together. Cells are sorted by score,
    then by rating.

    Attributes
    ----------
    scores, ratings : float64 array
        The distinct values of each side, in rising order.
    score_levels, rating_levels : int array, shape (cells,)
        The index of the score and of the rating of each cell among the distinct values.
    cell_counts : sparse array, shape (cells, groups)
        The number of items of each group in each cell.
    """

    scores: Floats
    ratings: Floats
    score_levels: Ints
    rating_levels: Ints
    cell_counts: Any

    @classmethod
    def of(
        cls,
        scores: ArrayLike,
        ratings: ArrayLike,
        groups: ArrayLike | None = None,
        n_groups: int | None = None,
    ) -> Correlated:
        """Tabulate scores and ratings of the same items.

        Parameters
        ----------
        scores, ratings : array-like, shape (n,)
            Finite.
        groups : int array-like, shape (n,), optional
            The group of each item, from 0. Default: each item is a group of its own.
        n_groups : int, optional
            The number of groups. Needed if the last ones have no items here.

        Raises
        ------
        InputError
            If the shapes differ, or a number is not finite.
        """
        from scipy.sparse import csr_array

        score_of_items = as_floats(scores, "a score")
        rating_of_items = as_floats(ratings, "a rating")
        n_items = len(score_of_items)
        if n_items != len(rating_of_items):
            raise InputError(
                "wrong-count", found=f"{n_items} scores", wanted="the ratings"
            )
        distinct_scores, score_level_of_items = np.unique(
            score_of_items, return_inverse=True
        )
        distinct_ratings, rating_level_of_items = np.unique(
            rating_of_items, return_inverse=True
        )
        # The key of a cell is one number for the levels of its score and its rating.
        width = max(1, len(distinct_ratings))
        key_of_items = score_level_of_items * width + rating_level_of_items
        cell_keys, cell_of_items = np.unique(key_of_items, return_inverse=True)
        score_levels, rating_levels = np.divmod(cell_keys, width)
        group_of_items = np.arange(n_items)
        if groups is not None:
            group_of_items = np.asarray(groups, np.int64)
        if n_groups is None:
            n_groups = int(group_of_items.max(initial=-1)) + 1
        cell_counts = csr_array(
            (np.ones(n_items), (cell_of_items.ravel(), group_of_items)),
            shape=(len(cell_keys), n_groups),
        )
        return cls(
            distinct_scores, distinct_ratings, score_levels, rating_levels, cell_counts
        )

    @property
    def n_groups(self) -> int:
        """The number of groups, including those without items."""
        return int(self.cell_counts.shape[1])

    def values(self, statistics: Sequence[str]) -> dict[str, float]:
        """Return statistics of all items."""
        each_group_once = np.ones((1, self.n_groups), np.uint8)
        resamples = self.weighted(statistics, each_group_once)
        return {name: float(values[0]) for name, values in resamples.items()}

    def weighted(
        self, statistics: Sequence[str], counts: NDArray[Any]
    ) -> dict[str, Floats]:
        """Return statistics of resamples.

        Parameters
        ----------
        statistics : sequence of str
        counts : int array, shape (resamples, groups)
            How often each group is drawn.

        Returns
        -------
        mapping from statistic to array, shape (resamples,)
            nan if undefined.
        """
        values = {name: np.full(len(counts), np.nan) for name in statistics}
        n_cells = len(self.score_levels)
        batch_size = max(1, _MAX_WEIGHTS_PER_BATCH // max(1, n_cells))
        sum_by_score = _summing_matrix(self.score_levels, len(self.scores))
        sum_by_rating = _summing_matrix(self.rating_levels, len(self.ratings))
        for start in range(0, len(counts), batch_size):
            batch = slice(start, start + batch_size)
            weights = self._weigh(counts[batch], sum_by_score, sum_by_rating)
            for name, values_of_statistic in values.items():
                values_of_statistic[batch] = self._statistic(name, weights)
        return values

    def _weigh(
        self, counts: NDArray[Any], sum_by_score: Any, sum_by_rating: Any
    ) -> _Weights:
        """Return the weights of cells and levels, given how often groups are drawn."""
        group_weights = np.ascontiguousarray(counts.T, np.float64)
        cell_weights = self.cell_counts @ group_weights
        return _Weights(
            cell_weights,
            scores=sum_by_score @ cell_weights,
            ratings=sum_by_rating @ cell_weights,
        )

    def _statistic(self, name: str, weights: _Weights) -> Floats:
        """Return a statistic of each resample of a batch, nan if undefined."""
        n_distinct = weights.fewest_distinct
        if name == "accuracy":  # It is also defined for constant scores.
            n_distinct = weights.distinct_ratings
        with np.errstate(all="ignore"):
            if name == "accuracy":
                values = self._accuracy(weights)
            elif name == "kendall-b":
                values = self._kendall_b(weights)
            elif name == "kendall-c":
                values = self._kendall_c(weights)
            elif name == "pearson":
                values = self._pearson(weights)
            else:
                values = self._spearman(weights)
        return np.where(n_distinct > 1, np.clip(values, -1.0, 1.0), np.nan)

    def _accuracy(self, weights: _Weights) -> Floats:
        untied = _count_untied_pairs(weights.ratings, weights.totals)
        return 0.5 + self._concordance(weights.cells) / (2 * untied)

    def _kendall_b(self, weights: _Weights) -> Floats:
        untied_scores = _count_untied_pairs(weights.scores, weights.totals)
        untied_ratings = _count_untied_pairs(weights.ratings, weights.totals)
        concordance = self._concordance(weights.cells)
        tau: Floats = concordance / np.sqrt(untied_scores * untied_ratings)
        return tau

    def _kendall_c(self, weights: _Weights) -> Floats:
        n = weights.totals
        m = weights.fewest_distinct
        concordance = self._concordance(weights.cells)
        return 2 * concordance * m / (n**2 * (m - 1))

    def _pearson(self, weights: _Weights) -> Floats:
        scores = _scale_to_one(self.scores)[:, None]
        ratings = _scale_to_one(self.ratings)[:, None]
        return self._product_moment(scores, ratings, weights)

    def _spearman(self, weights: _Weights) -> Floats:
        score_ranks = _mean_ranks(weights.scores)
        rating_ranks = _mean_ranks(weights.ratings)
        return self._product_moment(score_ranks, rating_ranks, weights)

    def _product_moment(
        self, scores: Floats, ratings: Floats, weights: _Weights
    ) -> Floats:
        """Return the product-moment correlation of values of the levels.

        Parameters
        ----------
        scores, ratings : float64 array, shape (levels, resamples) or (levels, 1)
        weights : _Weights
        """
        score_deviations, score_squares = _deviations(
            scores, weights.scores, weights.totals
        )
        rating_deviations, rating_squares = _deviations(
            ratings, weights.ratings, weights.totals
        )
        products = (
            weights.cells
            * score_deviations[self.score_levels]
            * rating_deviations[self.rating_levels]
        )
        r: Floats = products.sum(axis=0) / np.sqrt(score_squares * rating_squares)
        return r

    @cached_property
    def _digit_splits(self) -> list[_DigitSplit]:
        """The splits for C - D, one per binary digit of the side with fewer levels."""
        levels = self.rating_levels
        other_levels = self.score_levels
        if len(self.ratings) > len(self.scores):
            levels = self.score_levels
            other_levels = self.rating_levels
        n_digits = int(levels.max(initial=0)).bit_length()
        return [
            _DigitSplit.of(levels, other_levels, digit) for digit in range(n_digits)
        ]

    def _concordance(self, cell_weights: Floats) -> Floats:
        """Return C - D.

        The highest binary digit in which two levels differ decides their order. So for
        each digit, every cell with 1 there is compared with the cells that have 0 there
        and the same higher digits.
        """
        n_resamples = cell_weights.shape[1]
        concordance = np.zeros(n_resamples)
        for split in self._digit_splits:
            weight_before = np.zeros((len(split.zeros) + 1, n_resamples))
            np.cumsum(cell_weights[split.zeros], axis=0, out=weight_before[1:])
            # The weight of lower levels on the other side, low - begin, minus the weight of
            # higher levels, end - high.
            balance = weight_before[split.low]
            balance += weight_before[split.high]
            balance -= weight_before[split.begin]
            balance -= weight_before[split.end]
            concordance += np.einsum("ij,ij->j", cell_weights[split.ones], balance)
        return concordance


def _summing_matrix(level_of_cells: Ints, n_levels: int) -> Any:
    """Return the sparse matrix that sums cells by their level, (levels, cells)."""
    from scipy.sparse import csr_array

    n_cells = len(level_of_cells)
    coordinates = (level_of_cells, np.arange(n_cells))
    return csr_array((np.ones(n_cells), coordinates), (n_levels, n_cells))


def _count_untied_pairs(level_weights: Floats, totals: Floats) -> Floats:
    """Return the number of pairs with different levels, in each resample."""
    untied: Floats = (totals**2 - (level_weights**2).sum(axis=0)) / 2
    return untied


def _scale_to_one(values: Floats) -> Floats:
    """Divide by the largest absolute value, so that squares do not overflow."""
    largest = np.abs(values).max(initial=0.0)
    return values / (largest or 1.0)


def _mean_ranks(level_weights: Floats) -> Floats:
    """Return the rank of each level. Equal values share the mean of their ranks."""
    # A level of weight w has the ranks from highest - (w - 1) to highest.
    highest_ranks = np.cumsum(level_weights, axis=0)
    ranks: Floats = highest_ranks - (level_weights - 1) / 2
    return ranks


def _deviations(
    values: Floats, level_weights: Floats, totals: Floats
) -> tuple[Floats, Floats]:
    """Return the deviations of levels from their weighted mean.

    Returns
    -------
    deviations : float64 array, shape (levels, resamples)
    squares : float64 array, shape (resamples,)
        The weighted sums of squared deviations.
    """
    deviations = values - (level_weights * values).sum(axis=0) / totals
    squares = (level_weights * deviations**2).sum(axis=0)
    return deviations, squares
