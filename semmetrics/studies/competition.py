r"""The global rank of the systems of a maximum discrepancy competition.

Conventions
-----------
Row i of a matrix of scores has what system i reaches on the images that were selected for i and
each other system: a corpus score where the measure is one, or the mean of ratings. The diagonal is
nan.

The dominance of i over j is ``f[i, j] = p[i, j] / p[j, i]``, of the scores p, and its reciprocal
for measures that are better when they are lower; ``f[i, i]`` is 1, and so is the dominance of two
systems that both score 0.

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
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.form import takes_options
from semmetrics.errors import FROM_0, Fact, InputError, first_of_each
from semmetrics.kinds.common import counted, finite_or_none
from semmetrics.reports import Records, Result, cells
from semmetrics.scoring.evaluation import Evaluation, open_evaluation
from semmetrics.scoring.score import score_evaluation
from semmetrics.studies.correlations import correlation
from semmetrics.studies.discrepancy import DiscrepancySelection, as_selection
from semmetrics.studies.sheets import read_ratings, read_references
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
    period, irreducible = _period(matrix > 0)
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
    return GlobalRank(
        scores, rank_scores(scores), irreducible, period, power, steady == _STEADY
    )


def _step(
    matrix: Floats, start: Floats, shift: Ints, period: int
) -> tuple[Floats, float]:
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

    Raises
    ------
    InputError
        If there is no cycle: a power is zero.
    """
    size = len(matrix)
    with np.errstate(divide="ignore"):
        weights = np.log2(matrix)
    walks = [np.zeros(size)]
    for _ in range(size):
        walks.append((walks[-1][:, None] + weights).max(axis=0))
    ends = np.isfinite(walks[-1])
    if not ends.any():
        raise InputError("vanishing-dominance")
    steps = size - np.arange(size)
    means = (walks[-1][ends] - np.array(walks[:-1])[:, ends]) / steps[:, None]
    growth = float(means.min(axis=0).max())  # the largest mean of a cycle (Karp 1978)
    # of the largest product of dominances from each system to each other
    paths = weights - growth
    for middle in range(size):
        paths = np.maximum(paths, paths[:, middle, None] + paths[middle])
    shift = np.rint(np.maximum(paths.max(axis=1), 0)).astype(np.int32)
    parts, exponents = np.frexp(matrix)
    return shift, np.ldexp(parts, exponents + shift - shift[:, None] - round(growth))


def _as_square(
    values: ArrayLike, role: str, *, diagonal: float | None = None
) -> Floats:
    """Return a new square matrix of finite numbers that are not negative."""
    given = as_floats(values, role, ndim=2, finite=False)
    if given.shape[0] != given.shape[1] or not given.size:
        raise InputError(
            "wrong-shape", role=role, shape=given.shape, wanted="a square matrix"
        )
    matrix: Floats = given.copy()
    if diagonal is not None:
        np.fill_diagonal(matrix, diagonal)
    wrong = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))
    if len(wrong):
        row, column = wrong[0].tolist()
        raise InputError(
            "out-of-range",
            f"row {row}, column {column}{FROM_0}",
            role=role,
            value=matrix[row, column].item(),
            wanted="numbers that are finite and not negative",
        )
    return matrix


def _period(edges: Bools) -> tuple[int, bool]:
    """Return the least common multiple of the periods of the strongly connected components.

    That of a component is the greatest common divisor of the lengths of all of its cycles. Beside
    it is whether there is one component alone.
    """
    from scipy.sparse.csgraph import connected_components, shortest_path

    number, component = connected_components(edges, connection="strong")
    period = 1
    for one in range(number):
        inside = edges[np.ix_(component == one, component == one)]
        depth = shortest_path(inside, unweighted=True, indices=0).astype(np.int64)
        first, second = np.nonzero(inside)
        period = math.lcm(
            period, int(np.gcd.reduce(depth[first] + 1 - depth[second])) or 1
        )
    if period > _PERIOD:
        raise InputError("vanishing-dominance")
    return period, number == 1


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
            raise InputError(
                "bad-option", name="floor", value=floor, wanted="a positive number"
            )
        values = np.maximum(values, floor)
    both = (values == 0) & (values.T == 0)
    values[both] = 1.0
    with np.errstate(divide="ignore", over="ignore"):
        found: Floats = values / values.T
    if not (values.all() and np.isfinite(found).all()):
        row, column = np.argwhere((values == 0) | np.isinf(found.T))[0].tolist()
        raise InputError(
            "no-dominance",
            f"row {row}, column {column}{FROM_0}",
            value=float(values[row, column]),
        )
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


@by_value()
@dataclass(frozen=True, eq=False)
class PairScores:
    """Scores of every system on the images of each of its pairs.

    Attributes
    ----------
    measure : str
        How tables call it.
    higher_is_better : bool
    scores : float array, shape (systems, systems)
        Row i has the score of system i with each other; nan on the diagonal.
    overall : float array, shape (systems,)
        The score of each system on the images of all its pairs; nan where that was not asked for.
    """

    measure: str
    higher_is_better: bool
    scores: Floats
    overall: Floats


@by_value()
@dataclass(frozen=True, eq=False)
class MeasureRanking:
    """Systems ranked by one measure.

    Attributes
    ----------
    pairs : PairScores
        Its name and direction, the scores of all pairs, and each system's own over all its images.
    dominance : float array, shape (systems, systems)
    rank : GlobalRank
    stability : mapping from int to float
        For each k that was asked, Spearman's correlation of its ranks with those of all images;
        nan where all systems share one rank.
    """

    pairs: PairScores
    dominance: Any
    rank: GlobalRank
    stability: Mapping[int, float] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """How tables call the measure."""
        return self.pairs.measure

    def to_dict(self, systems: Sequence[str]) -> dict[str, Any]:
        """As JSON has it: null for what is undefined, matrices as lists of rows."""
        rank = self.rank
        return {
            "measure": self.measure,
            "higher_is_better": self.pairs.higher_is_better,
            "global_scores": dict(zip(systems, rank.scores, strict=True)),
            "ranks": dict(zip(systems, rank.ranks, strict=True)),
            "overall": dict(
                zip(systems, map(finite_or_none, self.pairs.overall), strict=True)
            ),
            "scores": [
                [finite_or_none(x) for x in row] for row in self.pairs.scores.tolist()
            ],
            "dominance": self.dominance.tolist(),
            "convergence": {
                name: getattr(rank, name)
                for name in ("irreducible", "period", "power", "converged")
            },
            "stability": {
                str(k): finite_or_none(value) for k, value in self.stability.items()
            },
        }


@by_value()
@dataclass(frozen=True, eq=False)
class CompetitionRanking(Result):
    """Systems ranked by the measures of a competition.

    Attributes
    ----------
    systems : tuple of str
    k : int
        Images that were selected of each pair.
    n : int
        Images that were annotated.
    rankings : tuple of MeasureRanking
    images : mapping from pair of systems to int
        How many of its images count.
    facts : tuple of Fact
    understood : tuple of str
    """

    systems: tuple[str, ...]
    k: int
    n: int
    rankings: tuple[MeasureRanking, ...]
    images: Mapping[tuple[str, str], int] = field(default_factory=dict, repr=False)
    facts: tuple[Fact, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    def to_records(self) -> Records:
        """Return one row for each measure and system, best first."""
        rows = [
            {
                "measure": one.measure,
                "system": self.systems[i],
                "rank": one.rank.ranks[i],
                "global_score": one.rank.scores[i],
                "overall": finite_or_none(one.pairs.overall[i]),
            }
            for one in self.rankings
            for i in sorted(range(len(self.systems)), key=lambda i: -one.rank.scores[i])
        ]
        return Records.from_rows(list(rows[0]), rows)

    def pair_records(self) -> Records:
        """Return one row for each measure and ordered pair: scores of both, and dominance."""
        place = {name: number for number, name in enumerate(self.systems)}
        rows = []
        for one, (pair, count) in product(self.rankings, self.images.items()):
            for first, second in (pair, pair[::-1]):
                i, j, scores = place[first], place[second], one.pairs.scores
                rows.append(
                    {
                        "measure": one.measure,
                        "first": first,
                        "second": second,
                        "images": count,
                        "first_score": finite_or_none(scores[i, j]),
                        "second_score": finite_or_none(scores[j, i]),
                        "dominance": float(one.dominance[i, j]),
                    }
                )
        return Records.from_rows(list(rows[0]), rows)

    def stability_records(self) -> Records:
        """Return one row for each measure and smaller k: the rank correlation (SRCC)."""
        rows = [
            {"measure": one.measure, "k": k, "srcc": finite_or_none(value)}
            for one in self.rankings
            for k, value in one.stability.items()
        ]
        return Records.from_rows(["measure", "k", "srcc"], rows)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "schema": "semmetrics.mad-ranking/1",
            "version": __version__,
            "systems": list(self.systems),
            "k": self.k,
            "n": self.n,
            "images": [[*pair, count] for pair, count in self.images.items()],
            "rankings": [one.to_dict(self.systems) for one in self.rankings],
        }

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        matrices = [
            Records(
                {
                    f"dominance, {one.measure}": self.systems,
                    **dict(zip(self.systems, one.dominance.T, strict=True)),
                }
            )
            for one in self.rankings
        ]
        every = (self.to_records(), *matrices, self.stability_records())
        return [cells(records, digits) for records in every if len(records)]


@takes_options()
def rank_competition(
    selection: DiscrepancySelection | str | os.PathLike[str],
    references: Any = None,
    *,
    ratings: Any = None,
    k: int | None = None,
    missing: str = "error",
    floor: float | None = None,
    stability: Iterable[int] = (),
    **options: Any,
) -> CompetitionRanking:
    """Rank the systems of a competition by references or ratings of the images selected.

    Parameters
    ----------
    selection : DiscrepancySelection or path
    references : path, several of them, or what ``score`` takes as ground truth
        The sheets that were filled, or references in any other form; those of other images are not
        used, and counted.
    ratings : path, several of them, or rows
        Sheets of ratings that were filled, in place of references. Several ratings of an answer are
        averaged.
    k : int, optional
        Only the first k images of each pair.
    missing : {"error", "skip"}
        Whether images without an annotation are an error, or are left out and counted. Under
        "error", neither may a sheet have rows of other images.
    floor : float, optional
        What scores of 0 are raised to; see ``compute_dominance``.
    stability : iterable of int
        Numbers of images, up to k, whose ranks are compared with those of all.
    **options

    Returns
    -------
    CompetitionRanking

    Raises
    ------
    InputError
        If neither or both of references and ratings are given, an image has no annotation, a sheet
        is of other images, a score is 0 or undefined, or an option is wrong.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.4, equation 7.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"a": {"1": "a red bus"}, "b": {"1": "a blue bus"}}
    >>> selection = semmetrics.select_discrepant(systems, k=1)
    >>> found = rank_competition(selection, {"1": ["the red bus"]}, measures="ROUGE-L")
    >>> [(row["system"], row["rank"], round(row["global_score"], 4)) for row in found.to_records()]
    [('a', 1, 0.6667), ('b', 2, 0.3333)]
    """
    state = as_selection(selection, options)
    check_choice("missing", missing, ("error", "skip"))
    if references is None and ratings is None:
        raise InputError("needs-option", what="a ranking", name="references")
    if references is not None and ratings is not None:
        raise InputError("conflicting-options", names="references and ratings")
    k, compared = state.k if k is None else k, sorted({*stability})
    for name, value, most in (
        ("k", k, state.k),
        *(("stability", some, k) for some in compared),
    ):
        if not 1 <= value <= most:
            raise InputError(
                "bad-option", name=name, value=value, wanted=f"1 to {most}"
            )
    notes: list[Fact] = []
    understood: list[str] = []
    if references is None:
        rated = read_ratings(ratings, state, options.get("read"), missing, notes)
        known, score = set(rated), partial(_rate, rated)
    else:
        given = {name: value for name, value in options.items() if value is not None}
        setup = open_evaluation(state.kind, {**given, "task": state.kind})
        truth = read_references(references, state, setup, missing, notes, understood)
        known = {(image, system) for image in truth for system in state.systems}
        score = partial(_score, setup, state.answers, truth, notes)
    images = _filled(state, k, missing == "skip", notes, known)
    tables = []
    for most in (k, *compared):
        first = {pair: some[:most] for pair, some in images.items()}
        tables.append(tabulate_pairs(state.systems, first, score, overall=most == k))
    rankings = tuple(
        _rank(
            state.systems, whole, dict(zip(compared, fewer, strict=True)), floor, notes
        )
        for whole, *fewer in zip(*tables, strict=True)
    )
    n = len({image for some in images.values() for image in some})
    counts = {pair: len(some) for pair, some in images.items()}
    facts = tuple(first_of_each(notes))
    return CompetitionRanking(
        state.systems, k, n, rankings, counts, facts, tuple(understood)
    )


def _rank(
    systems: Sequence[str],
    whole: PairScores,
    fewer: Mapping[int, PairScores],
    floor: float | None,
    notes: list[Fact],
) -> MeasureRanking:
    """Rank systems by the scores of a measure on all images, and on fewer of each pair."""
    dominance = _dominance(systems, whole, floor, notes)
    rank = rank_dominance(dominance)
    if not rank.converged:
        notes.append(Fact("not-converged", rank.power, where=whole.measure))
    notes += counted(
        "shared-ranks", len(rank.ranks) - len({*rank.ranks}), where=whole.measure
    )
    stability = {}
    for most, table in fewer.items():
        try:
            ranks = rank_dominance(_dominance(systems, table, floor, [])).ranks
            stability[most] = correlation(ranks, rank.ranks, "spearman")
        except InputError as error:
            stability[most], values = math.nan, {"k": most, "why": error.problem}
            notes.append(Fact("no-stability", where=whole.measure, values=values))
    return MeasureRanking(whole, dominance, rank, stability)


def _filled(
    state: DiscrepancySelection,
    k: int,
    skip: bool,
    notes: list[Fact],
    known: set[tuple[str, str]],
) -> dict[tuple[str, str], list[str]]:
    """Return the images of each pair for which both systems have an annotation."""
    images: dict[tuple[str, str], list[str]] = {}
    lost: dict[str, None] = {}
    for one in state.pairs:
        pair, some = (one.first, one.second), one.images[:k]
        images[pair] = [i for i in some if all((i, system) in known for system in pair)]
        lost.update(dict.fromkeys(image for image in some if image not in images[pair]))
    if lost and not skip:
        raise InputError("not-annotated", n=len(lost), images=list(lost))
    notes += counted("images-not-annotated", len(lost))
    for pair, annotated in images.items():
        if not annotated:
            raise InputError(
                "nothing-given",
                " and ".join(pair),
                what="annotated images",
                remedy="fill in the sheet",
            )
    return images


def _dominance(
    systems: Sequence[str], table: PairScores, floor: float | None, notes: list[Fact]
) -> Any:
    """Return the dominance matrix, with systems named in errors, and note what was raised."""
    scores = table.scores
    is_zero, low = (scores == 0) & (scores.T == 0), int((scores < (floor or 0)).sum())
    try:
        found = compute_dominance(
            scores, higher_is_better=table.higher_is_better, floor=floor
        )
    except InputError as error:
        wrong = np.argwhere(
            ~(scores > 0) & ~is_zero & ~np.eye(len(systems), dtype=np.bool_)
        )
        for i, j in wrong[:1].tolist():
            where = f"{table.measure}, {systems[i]} against {systems[j]}"
            raise InputError("no-dominance", where, value=float(scores[i, j])) from None
        raise error.placed(table.measure) from None
    raised = counted("raised-to-floor", low, where=table.measure, floor=floor)
    notes += raised or counted(
        "both-zero", int(is_zero.sum()) // 2, where=table.measure
    )
    return found


Scored = Iterable[tuple[str, str, bool, float]]
"""Of systems: the name, a measure, whether higher is better, and the score."""


def tabulate_pairs(
    systems: Sequence[str],
    images: Mapping[tuple[str, str], Sequence[str]],
    score: Callable[[Sequence[str], Sequence[str]], Scored],
    *,
    overall: bool = True,
) -> list[PairScores]:
    """Score each pair of systems on its images by each measure.

    Parameters
    ----------
    systems : sequence of str
    images : mapping from pair of systems to images
    score : callable
        Scores some systems on some images.
    overall : bool
        Whether each system is also scored on the images of all its pairs.

    Returns
    -------
    list of PairScores
        In the order of the measures.
    """
    place = {name: number for number, name in enumerate(systems)}
    made: dict[str, PairScores] = {}
    jobs: list[tuple[tuple[str, ...], Sequence[str]]] = list(images.items())
    for name in systems if overall else ():
        own = (image for pair, some in images.items() if name in pair for image in some)
        jobs.append(((name,), list(dict.fromkeys(own))))
    for names, some in jobs:
        for name, heading, higher, value in score(names, some):
            if heading not in made:
                empty = np.full((len(systems) + 1, len(systems)), np.nan)
                made[heading] = PairScores(heading, higher, empty[1:], empty[0])
            if len(names) == 1:
                made[heading].overall[place[name]] = value
            else:
                other = names[names[0] == name]
                made[heading].scores[place[name], place[other]] = value
    return list(made.values())


def _score(
    setup: Evaluation,
    answers: Mapping[str, Mapping[str, Any]],
    references: Mapping[str, Any],
    notes: list[Fact],
    names: Sequence[str],
    images: Sequence[str],
) -> Scored:
    """Score systems on images by the measures of a setup, and note what is odd."""
    preds = {
        name: setup.read({i: answers[i][name] for i in images}, name) for name in names
    }
    ref = setup.read_truth({image: references[image] for image in images})
    prepared = setup.join(preds, ref, missing="empty")
    scores = score_evaluation(prepared)
    absent = (vars(one) for one in prepared.chosen.not_computed)
    notes += [
        *prepared.notes(scores),
        *(Fact("not-computed", values=one) for one in absent),
    ]
    return [
        (one.system, one.heading, one.measure.higher_is_better, one.value)
        for one in scores
    ]


def _rate(
    ratings: Mapping[tuple[str, str], float],
    names: Sequence[str],
    images: Sequence[str],
) -> Scored:
    """Average the ratings of what systems answer for images; higher is better."""
    for name in names:
        yield (
            name,
            "rating",
            True,
            math.fsum(ratings[i, name] for i in images) / len(images),
        )
