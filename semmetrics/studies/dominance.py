r"""The dominance of systems over each other, and one global rank of all.

Conventions
-----------
``p[i, j]`` is the score of system i on the images that were selected for i and j, a corpus score
where the measure is one. The dominance of i over j is ``f[i, j] = p[i, j] / p[j, i]``, and its
reciprocal for measures that are better when they are lower; ``f[i, i]`` is 1, and so is the
dominance of two systems that both score 0.

The global rank of Wan et al. (2022), equation 7, is the mean over all powers of the dominance
matrix F of what the power gives a vector of ones, normalised to sum 1:
:math:`q = \lim_{t \to \infty} \frac{1}{t} \sum_{a=1}^{t} F^a 1 / (1^T F^a 1)`. Where F is
primitive (some power has no zero, as where all dominances are positive), it is the Perron vector.

Powers are doubled until twelve doublings change no score by more than 1e-12. Systems that do not
dominate each other, directly or through others, may so differ in how fast they grow by a share of
1e-14; what differs by less counts as equal, as it may come from rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.core.same import by_value
from semmetrics.errors import FROM_0, InputError
from semmetrics.messages import pluralize
from semmetrics.studies.correlations import correlation
from semmetrics.studies.significance import as_floats

_SAME = 1e-12  # relative difference of global scores of systems that share a rank
_DOUBLINGS = 70  # of the power
_CONVERGED = 1e-12
_STEADY = 12  # doublings without a change, which shows what grows by 1e-14 more
_FAR = 2**20  # beyond all exponents
_PERIOD = 10_000  # powers that are averaged at most


@by_value()
@dataclass(frozen=True, eq=False)
class GlobalRank:
    """Systems ranked by equation 7, and how it converged.

    Attributes
    ----------
    scores : tuple of float
        The global score of each system; their sum is 1.
    ranks : tuple of int
        From 1, best first; systems whose scores agree to 12 digits share the better one.
    irreducible : bool
        Whether every system dominates every other, directly or through others.
    period : int
        1 where the powers themselves converge, otherwise how many of them repeat in turn: their
        mean is taken.
    power : int
        The power of the matrix at which no score changed by more than 1e-12 any more, although
        powers went on to thousands of times as much; of matrices that had not converged, the last
        that was tried.
    converged : bool
    """

    scores: tuple[float, ...]
    ranks: tuple[int, ...]
    irreducible: bool
    period: int
    power: int
    converged: bool


def rank_dominance(dominance: ArrayLike) -> GlobalRank:
    """Rank systems by their pairwise dominances.

    Parameters
    ----------
    dominance : array, shape (systems, systems)
        Finite and not negative; row i has the dominance of system i over each other.

    Returns
    -------
    GlobalRank

    Raises
    ------
    InputError
        If it is no square matrix of such numbers, or a power of it is zero.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, equation 7; Saaty and Vargas, 1984, Journal of
    Mathematical Psychology 28.

    Examples
    --------
    >>> found = rank_dominance([[1, 2], [0.5, 1]])
    >>> [round(score, 4) for score in found.scores], found.ranks, found.irreducible
    ([0.6667, 0.3333], (1, 2), True)
    >>> rank_dominance([[0, 1], [1, 0]]).period
    2
    """
    matrix = _as_square(dominance, "a dominance")
    if not matrix.any():
        raise InputError("vanishing-dominance")
    edges = matrix > 0
    reach = edges | np.eye(len(edges), dtype=np.bool_)  # by a path of any length, also none
    for _ in range(max(1, len(edges).bit_length())):
        reach = (reach.astype(np.float64) @ reach) > 0
    irreducible = bool(reach.all())
    period = _period(edges, reach)
    shift, matrix = _balance(matrix)
    start = _scale_to_1(np.ones(len(matrix)), -shift)
    high, steady, power = matrix, 0, 1
    found = vector = _step(matrix, start, shift, period)[0]
    for doubling in range(1, _DOUBLINGS + 1):
        before = vector
        high = high @ high
        high = np.ldexp(high, -np.frexp(high.max())[1])
        vector, drift = _step(matrix, high @ start, shift, period)
        change = max(np.abs(vector - before).max(), drift)
        steady = steady + 1 if change <= _CONVERGED else 0
        if steady < 2:
            found, power = vector, 2**doubling
        if steady == _STEADY:
            break
    scores = tuple(found.tolist())
    return GlobalRank(scores, rank_scores(scores), irreducible, period, power, steady == _STEADY)


def _step(matrix: Floats, start: Floats, shift: Ints, period: int) -> tuple[Floats, float]:
    """Return the mean of the normalised vectors of the powers that follow, one period long.

    ``start`` and the matrix are balanced by the shift, and the mean is not. Beside it is the change
    over the period: powers may nearly repeat, too, in which case doubled ones seem not to change.
    """
    vector, found = start, []
    for _ in range(period + 1):
        vector = matrix @ _scale_to_1(vector, 0)
        plain = _scale_to_1(vector, shift)
        found.append(plain / plain.sum())
    mean: Floats = sum(found[:-1]) / period
    return mean, float(np.abs(found[-1] - found[0]).max())


def _scale_to_1(vector: Floats, shift: Ints | int) -> Floats:
    """Multiply by powers of two, and all by one power so that the largest is near 1."""
    parts, exponents = np.frexp(vector)
    exponents = np.where(vector > 0, exponents + shift, -_FAR)
    found: Floats = np.ldexp(parts, exponents - exponents.max())
    return found


def _balance(matrix: Floats) -> tuple[Ints, Floats]:
    """Scale systems by powers of two so that no product of dominances is much larger than 1.

    Powers of what is returned neither overflow, nor lose what decides the limit.

    Returns
    -------
    shift : int array, shape (systems,)
        f[i, j] was multiplied by 2 ** (shift[j] - shift[i]), and all of them by one power of two.
    balanced : float array, shape (systems, systems)
    """
    with np.errstate(divide="ignore"):
        weights = np.log2(matrix)
    growth = _largest_growth(weights)
    paths = weights - growth  # of the largest product of dominances from each system to each other
    for middle in range(len(paths)):
        paths = np.maximum(paths, paths[:, middle, None] + paths[middle])
    shift = np.rint(np.maximum(paths.max(axis=1), 0)).astype(np.int32)
    parts, exponents = np.frexp(matrix)
    change = shift - shift[:, None] - round(growth)
    return shift, np.ldexp(parts, exponents + change)


def _largest_growth(weights: Floats) -> float:
    """Return the largest mean of the weights of a cycle (Karp 1978).

    Raises
    ------
    InputError
        If there is no cycle: a power is zero.
    """
    size = len(weights)
    walks = [np.zeros(size)]
    for _ in range(size):
        walks.append((walks[-1][:, None] + weights).max(axis=0))
    ends = np.isfinite(walks[-1])
    if not ends.any():
        raise InputError("vanishing-dominance")
    steps = size - np.arange(size)
    means = (walks[-1][ends] - np.array(walks[:-1])[:, ends]) / steps[:, None]
    return float(means.min(axis=0).max())


def _as_square(values: ArrayLike, role: str, *, diagonal: float | None = None) -> Floats:
    """Return a new square matrix of finite numbers that are not negative."""
    given = as_floats(values, role, ndim=2, finite=False)
    if given.shape[0] != given.shape[1] or not given.size:
        raise InputError("wrong-shape", role=role, shape=given.shape, wanted="a square matrix")
    matrix: Floats = given.copy()
    if diagonal is not None:
        np.fill_diagonal(matrix, diagonal)
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError("out-of-range", f"row {row}, column {column}{FROM_0}", role=role,
                         value=matrix[row, column].item(),
                         wanted="numbers that are finite and not negative")  # fmt: skip
    return matrix


def _period(edges: Bools, reach: Bools) -> int:
    """Return the least common multiple of the periods of the strongly connected components."""
    same = reach & reach.T
    periods = [1]
    for members in {tuple(np.flatnonzero(row).tolist()) for row in same}:
        inner = edges[np.ix_(members, members)]
        if inner.any():
            periods.append(_component_period(inner))
    period = math.lcm(*periods)
    if period > _PERIOD:
        raise InputError("vanishing-dominance")
    return period


def _component_period(edges: Bools) -> int:
    """Return the greatest common divisor of the lengths of all cycles of one component."""
    depth: Ints = np.full(len(edges), -1)
    depth[0], queue, divisor = 0, [0], 0
    for node in queue:
        for after in np.flatnonzero(edges[node]).tolist():
            if depth[after] < 0:
                depth[after] = depth[node] + 1
                queue.append(after)
            divisor = math.gcd(divisor, abs(int(depth[node] + 1 - depth[after])))
    return divisor


def compute_dominance(
    scores: ArrayLike, *, higher_is_better: bool = True, floor: float | None = None
) -> Floats:
    """Return the dominance of each system over each other.

    Parameters
    ----------
    scores : array, shape (systems, systems)
        Row i has the score of system i on the images of i and each other; the diagonal is not
        read.
    higher_is_better : bool
        Of the scores; where lower is better, the dominance is ``p[j, i] / p[i, j]``.
    floor : float, optional
        What smaller scores are raised to, above 0. Without it a score of 0 against another is
        refused: one dominance would be 0, and the other infinite.

    Returns
    -------
    float array, shape (systems, systems)

    Raises
    ------
    InputError
        If it is no square matrix, a score is negative or not finite, or is 0 (or next to nothing)
        where the other is not and there is no floor.

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
            raise InputError("bad-option", name="floor", value=floor, wanted="a positive number")
        values = np.maximum(values, floor)
    both = (values == 0) & (values.T == 0)
    values[both] = 1.0
    with np.errstate(divide="ignore", over="ignore"):
        found: Floats = values / values.T
    if not (values.all() and np.isfinite(found).all()):
        row, column = np.argwhere((values == 0) | np.isinf(found.T))[0].tolist()
        raise InputError("no-dominance", f"row {row}, column {column}{FROM_0}",
                         value=float(values[row, column]))  # fmt: skip
    return found if higher_is_better else found.T.copy()


def rank_scores(scores: Sequence[float]) -> tuple[int, ...]:
    """Rank numbers from 1, the largest first; those that agree to 12 digits share the better rank.

    Examples
    --------
    >>> rank_scores([0.2, 0.5, 0.2 + 1e-16])
    (2, 1, 2)
    """
    order = sorted(range(len(scores)), key=lambda place: -scores[place])
    ranks = [1] * len(scores)
    for number, (before, place) in enumerate(pairwise(order), 2):
        same = math.isclose(scores[before], scores[place], rel_tol=_SAME)
        ranks[place] = ranks[before] if same else number
    return tuple(ranks)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's rank correlation; nan where all of one side are equal.

    Raises
    ------
    InputError
        If there is not one number of each for the other.

    Examples
    --------
    >>> rank_correlation([1, 2, 3], [1, 3, 2])
    0.5
    """
    if len(first) != len(second) or not len(first):
        raise InputError("wrong-count", found=pluralize(len(first), "number"), wanted=len(second))
    ranks = [rank_scores([-value for value in side]) for side in (first, second)]
    return correlation(ranks[0], ranks[1], "spearman")
