r"""Pairwise dominance of systems, and the global rank that follows from it.

Conventions
-----------
Row i of a matrix of scores has the scores of system i on the images that were selected for i and
each other system. The diagonal is not used.

The dominance of i over j is ``f[i, j] = p[i, j] / p[j, i]``, where p are the scores. If lower
scores are better, it is the reciprocal. ``f[i, i]`` is 1, and so is the dominance of two systems
that both score 0.

The global rank of Wan et al. (2022), equation 7, applies all powers of the dominance matrix F to a
vector of ones, normalises each result to sum 1, and takes the mean:
:math:`q = \lim_{t \to \infty} \frac{1}{t} \sum_{a=1}^{t} F^a 1 / (1^T F^a 1)`. If F is primitive
(some power has no zero, for example because all dominances are positive), this is the Perron
vector.

The limit is computed by squaring. The power is doubled until twelve doublings change no score by
more than 1e-12. Systems that do not dominate each other, directly or through others, may grow at
different rates. Relative differences of rates down to 1e-14 are resolved in this way. Smaller ones
may come from rounding, and such rates count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.errors import FROM_0, InputError
from semmetrics.studies.significance import as_floats

_RELATIVE_TIE = 1e-12  # difference of global scores up to which systems share a rank
_MAX_DOUBLINGS = 70
_MAX_CHANGE = 1e-12  # of a score, up to which a doubling counts as steady
_STEADY_DOUBLINGS = 12  # in a row, enough to resolve growth rates that differ by 1e-14
_BELOW_ALL_EXPONENTS = -(2**20)
_MAX_PERIOD = 10_000


# ---- global ranks ------------------------------------------------------------------------------


@by_value()
@dataclass(frozen=True, eq=False)
class GlobalRank:
    """Global scores and ranks of systems by equation 7, and how they converged.

    Attributes
    ----------
    scores : tuple of float
        The global score of each system. They sum to 1.
    ranks : tuple of int
        Starting at 1 for the best. Systems whose scores agree to 12 digits share the better rank.
    irreducible : bool
        Whether every system dominates every other, directly or through others.
    period : int
        1 if the powers themselves converge. Otherwise the powers repeat with this period, and the
        scores are the mean over one period.
    power : int
        The smallest power tried that all later powers agree with to 1e-12. If the powers did not
        converge, the largest power tried.
    converged : bool
    """

    scores: tuple[float, ...]
    ranks: tuple[int, ...]
    irreducible: bool
    period: int
    power: int
    converged: bool


class _BalancedMatrix(NamedTuple):
    """A dominance matrix with systems rescaled so that its powers stay within range.

    Attributes
    ----------
    matrix : float array, shape (systems, systems)
        The dominances, with f[i, j] multiplied by ``2 ** (shift[j] - shift[i])`` and all of them
        multiplied by one power of two.
    shift : int array, shape (systems,)
    """

    matrix: Floats
    shift: Ints


def rank_dominance(dominance: ArrayLike) -> GlobalRank:
    """Rank systems by their pairwise dominances.

    Parameters
    ----------
    dominance : array, shape (systems, systems)
        Finite and not negative. Row i has the dominance of system i over each other system.

    Returns
    -------
    GlobalRank

    Raises
    ------
    InputError
        If the dominances are not a square matrix of such numbers, or a power of it is zero.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, equation 7; Saaty and Vargas, 1984, Journal of
    Mathematical Psychology 28.

    Examples
    --------
    >>> rank = rank_dominance([[1, 2], [0.5, 1]])
    >>> [round(score, 4) for score in rank.scores], rank.ranks, rank.irreducible
    ([0.6667, 0.3333], (1, 2), True)
    >>> rank_dominance([[0, 1], [1, 0]]).period
    2
    """
    matrix = _as_square(dominance, "a dominance")
    period, is_irreducible = _find_period(matrix > 0)
    balanced = _balance(matrix)
    ones = _scale_to_1(np.ones(len(matrix)), -balanced.shift)

    # After n doublings, the matrix to the power 2**n, up to a factor.
    power_of_matrix = balanced.matrix
    vector, _ = _average_period(balanced, ones, period)
    limit = vector
    limit_power = 1
    n_steady = 0
    for doubling in range(1, _MAX_DOUBLINGS + 1):
        previous = vector
        power_of_matrix = _square(power_of_matrix)
        vector, drift = _average_period(balanced, power_of_matrix @ ones, period)
        change = max(np.abs(vector - previous).max(), drift)
        if change <= _MAX_CHANGE:
            n_steady += 1
        else:
            n_steady = 0
        # The first steady vector is the result. The doublings after it only confirm it.
        if n_steady < 2:
            limit = vector
            limit_power = 2**doubling
        if n_steady == _STEADY_DOUBLINGS:
            break
    scores = tuple(limit.tolist())
    return GlobalRank(
        scores=scores,
        ranks=rank_scores(scores),
        irreducible=is_irreducible,
        period=period,
        power=limit_power,
        converged=n_steady == _STEADY_DOUBLINGS,
    )


def _square(matrix: Floats) -> Floats:
    """Multiply a matrix with itself, scaled by a power of two to a largest value near 1."""
    product = matrix @ matrix
    _, exponent = np.frexp(product.max())
    squared: Floats = np.ldexp(product, -exponent)
    return squared


def _average_period(
    balanced: _BalancedMatrix, start: Floats, period: int
) -> tuple[Floats, float]:
    """Average the normalised vectors of the powers after ``start``, over one period.

    Parameters
    ----------
    balanced : _BalancedMatrix
    start : float array, shape (systems,)
        A power of the balanced matrix times a vector of ones, also balanced.
    period : int

    Returns
    -------
    mean : float array, shape (systems,)
        Without the balancing.
    drift : float
        The largest change of a score from the begin of the period to the next period. Powers can
        nearly repeat, so that doubling them seems to change nothing although they still drift.
    """
    vector = start
    distributions = []
    for _ in range(period + 1):
        vector = balanced.matrix @ _scale_to_1(vector, 0)
        unbalanced = _scale_to_1(vector, balanced.shift)
        distributions.append(unbalanced / unbalanced.sum())
    mean: Floats = sum(distributions[:-1]) / period
    drift = float(np.abs(distributions[-1] - distributions[0]).max())
    return mean, drift


def _scale_to_1(vector: Floats, shift: Ints | int) -> Floats:
    """Multiply each value by ``2 ** shift``, then all by one power of two, to a maximum near 1."""
    mantissas, exponents = np.frexp(vector)
    exponents = np.where(vector > 0, exponents + shift, _BELOW_ALL_EXPONENTS)
    scaled: Floats = np.ldexp(mantissas, exponents - exponents.max())
    return scaled


def _balance(matrix: Floats) -> _BalancedMatrix:
    """Scale systems by powers of two so that no product of dominances is much larger than 1.

    Powers of the balanced matrix do not overflow, and do not lose the values that decide the limit.

    Raises
    ------
    InputError
        If there is no cycle of dominances, so that a power is zero.
    """
    size = len(matrix)
    with np.errstate(divide="ignore"):
        weights = np.log2(matrix)
    growth = _largest_cycle_mean(weights)
    # The largest product of dominances along any path between two systems (Floyd and Warshall).
    paths = weights - growth
    for middle in range(size):
        paths = np.maximum(paths, paths[:, middle, None] + paths[middle])
    largest_paths = np.maximum(paths.max(axis=1), 0)
    shift = np.rint(largest_paths).astype(np.int32)
    mantissas, exponents = np.frexp(matrix)
    # Multiply element [i, j] by 2 ** (shift[j] - shift[i] - growth).
    exponents = exponents + shift - shift[:, None] - round(growth)
    return _BalancedMatrix(np.ldexp(mantissas, exponents), shift)


def _largest_cycle_mean(weights: Floats) -> float:
    """Return the largest mean weight of a cycle (Karp 1978).

    Raises
    ------
    InputError
        If there is no cycle.
    """
    size = len(weights)
    # Element [n][j] is the largest weight of a walk of n steps that ends at j.
    walks = [np.zeros(size)]
    for _ in range(size):
        extended = walks[-1][:, None] + weights
        walks.append(extended.max(axis=0))
    longest = walks[-1]
    has_walk = np.isfinite(longest)
    if not has_walk.any():
        raise InputError("vanishing-dominance")
    shorter = np.array(walks[:-1])
    steps = size - np.arange(size)
    means = (longest[has_walk] - shorter[:, has_walk]) / steps[:, None]
    return float(means.min(axis=0).max())


def _find_period(edges: Bools) -> tuple[int, bool]:
    """Return the period of the powers of a matrix, and whether the matrix is irreducible.

    The period is the least common multiple of the periods of the strongly connected components.
    The period of a component is the greatest common divisor of the lengths of its cycles. An
    irreducible matrix has one component.

    Raises
    ------
    InputError
        If the period is too large to average over.
    """
    from scipy.sparse.csgraph import connected_components, shortest_path

    n_components, component = connected_components(edges, connection="strong")
    period = 1
    for number in range(n_components):
        is_inside = component == number
        inside = edges[np.ix_(is_inside, is_inside)]
        distances = shortest_path(inside, unweighted=True, indices=0)
        # All cycle lengths have the same greatest common divisor as these numbers of the edges.
        depth = distances.astype(np.int64)
        tails, heads = np.nonzero(inside)
        own_period = int(np.gcd.reduce(depth[tails] + 1 - depth[heads]))
        # A component without a cycle has no period.
        if own_period:
            period = math.lcm(period, own_period)
    if period > _MAX_PERIOD:
        raise InputError("vanishing-dominance")
    return period, n_components == 1


def rank_scores(scores: Sequence[float]) -> tuple[int, ...]:
    """Rank numbers from 1 for the largest. Numbers that agree to 12 digits share the better rank.

    Examples
    --------
    >>> rank_scores([0.2, 0.5, 0.2 + 1e-16])
    (2, 1, 2)
    """
    order = sorted(range(len(scores)), key=lambda number: -scores[number])
    ranks = [1] * len(scores)
    for rank, (better, worse) in enumerate(pairwise(order), start=2):
        is_tied = math.isclose(scores[better], scores[worse], rel_tol=_RELATIVE_TIE)
        ranks[worse] = ranks[better] if is_tied else rank
    return tuple(ranks)


# ---- dominance ---------------------------------------------------------------------------------


def compute_dominance(
    scores: ArrayLike, *, higher_is_better: bool = True, floor: float | None = None
) -> Floats:
    """Return the dominance of each system over each other system.

    Parameters
    ----------
    scores : array, shape (systems, systems)
        Row i has the score of system i on the images of i and each other system. The diagonal is
        ignored.
    higher_is_better : bool
        If False, the dominance is ``p[j, i] / p[i, j]``.
    floor : float, optional
        Smaller scores are raised to this positive number. Without it, a score of 0 against a
        positive score is an error, as one dominance would be 0 and the other infinite.

    Returns
    -------
    float array, shape (systems, systems)

    Raises
    ------
    InputError
        If the scores are not a square matrix, a score is negative or not finite, the floor is not
        positive, or there is no floor and a dominance would be infinite.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.4.

    Examples
    --------
    >>> compute_dominance([[0, 0.4], [0.2, 0]]).tolist()
    [[1.0, 2.0], [0.5, 1.0]]
    """
    values = _as_square(scores, "a score", diagonal=1.0)
    if floor is not None:
        if not 0 < floor < math.inf:
            raise InputError(
                "bad-option", name="floor", value=floor, wanted="a positive number"
            )
        values = np.maximum(values, floor)
    both_zero = (values == 0) & (values.T == 0)
    values[both_zero] = 1.0
    with np.errstate(divide="ignore", over="ignore"):
        dominance: Floats = values / values.T
    if not (values.all() and np.isfinite(dominance).all()):
        # The dominance of the other system is infinite, or too large for floats.
        is_too_small = (values == 0) | np.isinf(dominance.T)
        row, column = np.argwhere(is_too_small)[0].tolist()
        raise InputError(
            "no-dominance",
            f"row {row}, column {column}{FROM_0}",
            value=float(values[row, column]),
        )
    if higher_is_better:
        return dominance
    reciprocal: Floats = dominance.T.copy()
    return reciprocal


def _as_square(
    values: ArrayLike, role: str, *, diagonal: float | None = None
) -> Floats:
    """Return a new square matrix of finite numbers that are not negative.

    If ``diagonal`` is a number, it replaces the values on the diagonal, which are not checked.
    """
    table = as_floats(values, role, ndim=2, finite=False)
    if table.shape[0] != table.shape[1] or not table.size:
        raise InputError(
            "wrong-shape", role=role, shape=table.shape, wanted="a square matrix"
        )
    matrix: Floats = table.copy()
    if diagonal is not None:
        np.fill_diagonal(matrix, diagonal)
    is_valid = np.isfinite(matrix) & (matrix >= 0)
    invalid = np.argwhere(~is_valid)
    if len(invalid):
        row, column = invalid[0].tolist()
        raise InputError(
            "out-of-range",
            f"row {row}, column {column}{FROM_0}",
            role=role,
            value=matrix[row, column].item(),
            wanted="finite, non-negative numbers",
        )
    return matrix
