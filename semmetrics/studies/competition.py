"""The global rank of the systems of a maximum discrepancy competition.

Conventions
-----------
Row i of a matrix of scores has what system i reaches on the images of i and each other system: a
corpus score where the measure is one, or the mean of ratings. The diagonal is nan.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Floats
from semmetrics.core.same import by_value
from semmetrics.errors import Fact, InputError, first_of_each
from semmetrics.kinds.describe import finite_or_none
from semmetrics.options import OPTIONS, check_options
from semmetrics.reports import Records, Result, cells
from semmetrics.scoring.plan import Setup, check_given, open_setup
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import document_options, score_prepared
from semmetrics.studies.discrepancy import NOT_SELECTING, DiscrepancySelection, as_selection
from semmetrics.studies.dominance import (
    GlobalRank,
    compute_dominance,
    rank_correlation,
    rank_dominance,
)
from semmetrics.studies.sheets import read_ratings, read_references

NOT_RANKING = (*(name for name in NOT_SELECTING if name != "measures"), "task", "missing")
"""The options of a score that mean nothing here, or have a meaning of their own."""


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
            "overall": dict(zip(systems, map(finite_or_none, self.pairs.overall), strict=True)),
            "scores": [[finite_or_none(x) for x in row] for row in self.pairs.scores.tolist()],
            "dominance": self.dominance.tolist(),
            "convergence": {
                "irreducible": rank.irreducible, "period": rank.period, "power": rank.power,
                "converged": rank.converged,
            },
            "stability": {str(k): finite_or_none(value) for k, value in self.stability.items()},
        }  # fmt: skip


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
                "measure": one.measure, "system": self.systems[place],
                "rank": one.rank.ranks[place],
                "global_score": one.rank.scores[place],
                "overall": finite_or_none(one.pairs.overall[place]),
            }
            for one in self.rankings
            for place in sorted(range(len(self.systems)), key=lambda i: -one.rank.scores[i])
        ]  # fmt: skip
        columns = ["measure", "system", "rank", "global_score", "overall"]
        return Records.from_rows(columns, rows)

    def pair_records(self) -> Records:
        """Return one row for each measure and ordered pair: scores of both, and dominance."""
        place = {name: number for number, name in enumerate(self.systems)}
        rows = []
        for one in self.rankings:
            for (a, b), count in self.images.items():
                for first, second in ((a, b), (b, a)):
                    i, j = place[first], place[second]
                    scores = one.pairs.scores
                    rows.append({
                        "measure": one.measure, "first": first, "second": second, "images": count,
                        "first_score": finite_or_none(scores[i, j]),
                        "second_score": finite_or_none(scores[j, i]),
                        "dominance": float(one.dominance[i, j]),
                    })  # fmt: skip
        columns = ["measure", "first", "second", "images", "first_score", "second_score",
                   "dominance"]  # fmt: skip
        return Records.from_rows(columns, rows)

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

    def _entry(self) -> dict[str, Any]:
        return self.to_dict()

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        both = (self.to_records(), self.stability_records())
        return [cells(records, digits) for records in both if len(records)]


@document_options(*NOT_RANKING)
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
    check_options("rank_competition", options, [n for n in OPTIONS if n not in NOT_RANKING])
    check_given(options)
    state = as_selection(selection, options)
    check_choice("missing", missing, ("error", "skip"))
    if references is None and ratings is None:
        raise InputError("needs-option", what="a ranking", name="references")
    if references is not None and ratings is not None:
        raise InputError("conflicting-options", names="references and ratings")
    k = state.k if k is None else k
    if not 1 <= k <= state.k:
        raise InputError("bad-option", name="k", value=k, wanted=f"1 to {state.k}")
    compared = sorted({*stability})
    for most in compared:
        if not 1 <= most <= k:
            raise InputError("bad-option", name="stability", value=most, wanted=f"1 to {k}")
    sizes = [k, *(most for most in compared if most != k)]
    notes: list[Fact] = []
    understood: list[str] = []
    if references is None:
        rated = read_ratings(ratings, state, options.get("read"), missing, notes)
        images = _filled(
            state, k, missing, notes, lambda i, pair: all((i, s) in rated for s in pair)
        )
        tables = [[rate_pairs(state.systems, _cut(images, most), rated)] for most in sizes]
    else:
        given = {name: value for name, value in options.items() if value is not None}
        setup = open_setup(state.kind, {**given, "task": state.kind})
        truth = read_references(references, state, setup, missing, notes, understood)
        images = _filled(state, k, missing, notes, lambda i, pair: i in truth)
        tables = []
        for most in sizes:
            some = _cut(images, most)
            found, more = score_pairs(
                setup, state.systems, some, state.answers, truth, overall=most == k
            )
            notes += more
            tables.append(found)
    by_measure = zip(*tables, strict=True)
    rankings = [
        _rank(state.systems, dict(zip(sizes, some, strict=True)), floor, compared, notes)
        for some in by_measure
    ]
    return CompetitionRanking(
        systems=state.systems,
        k=k,
        n=len({image for some in images.values() for image in some}),
        rankings=tuple(rankings),
        images={pair: len(some) for pair, some in images.items()},
        facts=tuple(first_of_each(notes)),
        understood=tuple(understood),
    )


def _rank(
    systems: Sequence[str],
    tables: Mapping[int, PairScores],
    floor: float | None,
    compared: Sequence[int],
    notes: list[Fact],
) -> MeasureRanking:
    """Rank systems by one measure: its scores by k, those of all images first."""
    whole = next(iter(tables.values()))
    dominance = _dominance(systems, whole, floor, notes)
    rank = rank_dominance(dominance)
    if not rank.converged:
        notes.append(Fact("not-converged", rank.power, where=whole.measure))
    shared = len(rank.ranks) - len({*rank.ranks})
    if shared:
        notes.append(Fact("shared-ranks", shared, where=whole.measure))
    stability = {}
    for most in compared:
        fewer = rank_dominance(_dominance(systems, tables[most], floor, []))
        stability[most] = rank_correlation(fewer.ranks, rank.ranks)
    return MeasureRanking(whole, dominance, rank, stability)


def _filled(
    state: DiscrepancySelection,
    k: int,
    missing: str,
    notes: list[Fact],
    is_filled: Callable[[str, tuple[str, str]], bool],
) -> dict[tuple[str, str], list[str]]:
    """Return the images of each pair that are annotated."""
    images: dict[tuple[str, str], list[str]] = {}
    lost: dict[str, None] = {}
    for one in state.pairs:
        pair, some = (one.first, one.second), one.images[:k]
        images[pair] = [image for image in some if is_filled(image, pair)]
        lost.update(dict.fromkeys(image for image in some if image not in images[pair]))
    if lost and missing == "error":
        raise InputError("not-annotated", n=len(lost), images=list(lost))
    if lost:
        notes.append(Fact("images-not-annotated", len(lost)))
    for pair, annotated in images.items():
        if not annotated:
            raise InputError("nothing-given", " and ".join(pair), what="annotated images",
                             remedy="fill in the sheet")  # fmt: skip
    return images


def _cut(
    images: Mapping[tuple[str, str], list[str]], most: int
) -> dict[tuple[str, str], list[str]]:
    return {pair: some[:most] for pair, some in images.items()}


def _dominance(
    systems: Sequence[str], table: PairScores, floor: float | None, notes: list[Fact]
) -> Any:
    """Return the dominance matrix, with systems named in errors, and note what was raised."""
    scores = table.scores
    pairs = [(i, j) for i in range(len(systems)) for j in range(len(systems)) if i != j]
    both = sum(scores[i, j] == scores[j, i] == 0 for i, j in pairs) // 2
    low = sum(scores[i, j] < (floor or 0) for i, j in pairs)
    try:
        found = compute_dominance(scores, higher_is_better=table.higher_is_better, floor=floor)
    except InputError as error:
        for i, j in pairs:
            if not scores[i, j] > 0 and not scores[i, j] == scores[j, i] == 0:
                where = f"{table.measure}, {systems[i]} against {systems[j]}"
                raise InputError("no-dominance", where, value=float(scores[i, j])) from None
        raise error.placed(table.measure) from None
    if low:
        notes.append(Fact("raised-to-floor", low, where=table.measure, values={"floor": floor}))
    elif both:
        notes.append(Fact("both-zero", both, where=table.measure))
    return found


def score_pairs(
    setup: Setup,
    systems: Sequence[str],
    images: Mapping[tuple[str, str], Sequence[str]],
    answers: Mapping[str, Mapping[str, Any]],
    references: Mapping[str, Any],
    *,
    overall: bool = True,
) -> tuple[list[PairScores], list[Fact]]:
    """Score each pair of systems on its images by the measures of a setup.

    Parameters
    ----------
    setup : Setup
    systems : sequence of str
    images : mapping from pair of systems to images
    answers : mapping from image to mapping from system to an answer
    references : mapping from image to references
        Of all images.
    overall : bool
        Whether each system is also scored on the images of all its pairs.

    Returns
    -------
    scores : list of PairScores
        In the order of the measures.
    notes : list of str
        What is odd; of notes that differ by numbers the first.
    """
    place = {name: number for number, name in enumerate(systems)}
    made: dict[str, PairScores] = {}
    notes: list[Fact] = []

    def add(names: Sequence[str], some: Sequence[str]) -> Iterator[tuple[PairScores, Score]]:
        preds = {n: setup.read({i: answers[i][n] for i in some}, n) for n in names}
        ref = setup.read_truth({image: references[image] for image in some})
        prepared = setup.prepare(preds, ref, missing="empty")
        scores = score_prepared(prepared)
        notes.extend(prepared.facts(scores))
        notes.extend(
            Fact("not-computed", values={"heading": one.heading, "reason": one.reason})
            for one in prepared.plan.not_computed
        )
        for score in scores:
            if score.heading not in made:
                made[score.heading] = PairScores(
                    score.heading,
                    score.measure.definition.higher_is_better,
                    np.full((len(systems), len(systems)), np.nan),
                    np.full(len(systems), np.nan),
                )
            yield made[score.heading], score

    for pair, some in images.items():
        for table, score in add(pair, some):
            one, other = (place[name] for name in (score.system, *(set(pair) - {score.system})))
            table.scores[one, other] = score.value
    for name in systems if overall else ():
        own = dict.fromkeys(i for pair, some in images.items() if name in pair for i in some)
        for table, score in add([name], list(own)):
            table.overall[place[name]] = score.value
    return list(made.values()), first_of_each(notes)


def rate_pairs(
    systems: Sequence[str],
    images: Mapping[tuple[str, str], Sequence[str]],
    ratings: Mapping[tuple[str, str], float],
) -> PairScores:
    """Average the ratings of what each system answers, on the images of each of its pairs.

    Parameters
    ----------
    systems : sequence of str
    images : mapping from pair of systems to images
    ratings : mapping from image and system to float
        Higher is better.

    Examples
    --------
    >>> ratings = {("1", "a"): 4.0, ("1", "b"): 2.0}
    >>> rate_pairs(["a", "b"], {("a", "b"): ["1"]}, ratings).scores.tolist()
    [[nan, 4.0], [2.0, nan]]
    """
    place = {name: number for number, name in enumerate(systems)}
    scores = np.full((len(systems), len(systems)), np.nan)
    own: dict[str, dict[str, None]] = {name: {} for name in systems}
    for (first, second), some in images.items():
        for name, other in ((first, second), (second, first)):
            values = [ratings[image, name] for image in some]
            scores[place[name], place[other]] = math.fsum(values) / len(values)
            own[name].update(dict.fromkeys(some))
    overall = [math.fsum(ratings[i, name] for i in own[name]) / len(own[name]) for name in systems]
    return PairScores("rating", True, scores, np.array(overall))
