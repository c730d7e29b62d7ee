"""Rank the systems of a maximum discrepancy competition from references or ratings.

Conventions
-----------
Each pair of systems has its own images, which were selected because the two differ most on them.
Row i of a matrix of scores has the scores of system i on the images of i and each other system: a
score of a measure against the references, or the mean rating. The diagonal is nan.

`semmetrics.studies.dominance` computes the global rank from these scores.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import Fact, InputError, first_of_each
from semmetrics.kinds.descriptions import finite_or_none
from semmetrics.kinds.note_builders import counted
from semmetrics.reports import Records, Result, cells
from semmetrics.scoring.evaluation import open_evaluation
from semmetrics.studies.competition_state import DiscrepancySelection, as_selection
from semmetrics.studies.correlations import correlation
from semmetrics.studies.dominance import GlobalRank, compute_dominance, rank_dominance
from semmetrics.studies.pairwise_scores import (
    Annotations,
    ImagesOfPairs,
    PairwiseScores,
    Ratings,
    References,
    tabulate_pairs,
)
from semmetrics.studies.sheets import read_ratings, read_references

# ---- results -----------------------------------------------------------------------------------


@by_value()
@dataclass(frozen=True, eq=False)
class MeasureRanking:
    """Systems ranked by one measure.

    Attributes
    ----------
    pairs : PairwiseScores
        The name and direction of the measure, and the scores.
    dominance : float array, shape (systems, systems)
    rank : GlobalRank
    stability : mapping from int to float
        For each smaller number of images per pair, Spearman's correlation of its ranks with the
        ranks by all images. nan if all systems share one rank.
    """

    pairs: PairwiseScores
    dominance: Floats
    rank: GlobalRank
    stability: Mapping[int, float] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The heading of the measure in tables."""
        return self.pairs.measure

    def best_first(self) -> list[int]:
        """Return the numbers of the systems, ordered by falling global score."""
        scores = self.rank.scores
        return sorted(range(len(scores)), key=lambda number: -scores[number])

    def to_dict(self, systems: Sequence[str]) -> dict[str, Any]:
        """Return the ranking for JSON, with None for undefined values and matrices as lists."""
        rank = self.rank
        overall = map(finite_or_none, self.pairs.overall)
        score_rows = []
        for row in self.pairs.scores.tolist():
            score_rows.append([finite_or_none(score) for score in row])
        stability = {}
        for k, value in self.stability.items():
            stability[str(k)] = finite_or_none(value)
        return {
            "measure": self.measure,
            "higher_is_better": self.pairs.higher_is_better,
            "global_scores": dict(zip(systems, rank.scores, strict=True)),
            "ranks": dict(zip(systems, rank.ranks, strict=True)),
            "overall": dict(zip(systems, overall, strict=True)),
            "scores": score_rows,
            "dominance": self.dominance.tolist(),
            "convergence": {
                "irreducible": rank.irreducible,
                "period": rank.period,
                "power": rank.power,
                "converged": rank.converged,
            },
            "stability": stability,
        }


@by_value()
@dataclass(frozen=True, eq=False)
class CompetitionRanking(Result):
    """Systems ranked by the measures of a competition.

    Attributes
    ----------
    systems : tuple of str
    k : int
        The number of images selected for each pair.
    n : int
        The number of annotated images.
    rankings : tuple of MeasureRanking
    images : mapping from pair of systems to int
        The number of images of each pair that were scored.
    facts : tuple of Fact
        Notes on the input.
    understood : tuple of str
        How each input was read.
    """

    systems: tuple[str, ...]
    k: int
    n: int
    rankings: tuple[MeasureRanking, ...]
    images: Mapping[tuple[str, str], int] = field(default_factory=dict, repr=False)
    facts: tuple[Fact, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    def to_records(self) -> Records:
        """Return one row per measure and system, best first."""
        rows = []
        for ranking in self.rankings:
            for number in ranking.best_first():
                row = {
                    "measure": ranking.measure,
                    "system": self.systems[number],
                    "rank": ranking.rank.ranks[number],
                    "global_score": ranking.rank.scores[number],
                    "overall": finite_or_none(ranking.pairs.overall[number]),
                }
                rows.append(row)
        return Records.from_rows(list(rows[0]), rows)

    def pair_records(self) -> Records:
        """Return one row per measure and ordered pair, with the scores and the dominance."""
        numbers = {name: number for number, name in enumerate(self.systems)}
        rows = []
        for ranking in self.rankings:
            scores = ranking.pairs.scores
            for pair, n_images in self.images.items():
                for first, second in (pair, pair[::-1]):
                    i = numbers[first]
                    j = numbers[second]
                    row = {
                        "measure": ranking.measure,
                        "first": first,
                        "second": second,
                        "images": n_images,
                        "first_score": finite_or_none(scores[i, j]),
                        "second_score": finite_or_none(scores[j, i]),
                        "dominance": float(ranking.dominance[i, j]),
                    }
                    rows.append(row)
        return Records.from_rows(list(rows[0]), rows)

    def stability_records(self) -> Records:
        """Return one row per measure and smaller k, with the rank correlation (SRCC)."""
        rows = []
        for ranking in self.rankings:
            for k, value in ranking.stability.items():
                srcc = finite_or_none(value)
                rows.append({"measure": ranking.measure, "k": k, "srcc": srcc})
        return Records.from_rows(["measure", "k", "srcc"], rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking for JSON."""
        rankings = [ranking.to_dict(self.systems) for ranking in self.rankings]
        return {
            "schema": "semmetrics.mad-ranking/1",
            "version": __version__,
            "systems": list(self.systems),
            "k": self.k,
            "n": self.n,
            "images": [[*pair, n_images] for pair, n_images in self.images.items()],
            "rankings": rankings,
        }

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return tables of the ranks, of the dominances per measure, and of the stability."""
        tables = [self.to_records()]
        for ranking in self.rankings:
            columns: dict[str, Any] = {f"dominance, {ranking.measure}": self.systems}
            columns.update(zip(self.systems, ranking.dominance.T, strict=True))
            tables.append(Records(columns))
        tables.append(self.stability_records())
        return [cells(records, digits) for records in tables if len(records)]


# ---- ranking -----------------------------------------------------------------------------------


@takes_options()
def rank_competition(
    selection: DiscrepancySelection | str | os.PathLike[str],
    references: object = None,
    *,
    ratings: object = None,
    k: int | None = None,
    missing: str = "error",
    floor: float | None = None,
    stability: Iterable[int] = (),
    **options: Any,
) -> CompetitionRanking:
    """Rank the systems of a competition by references or ratings of the selected images.

    Parameters
    ----------
    selection : DiscrepancySelection or path
    references : path, several of them, or as ``gts`` of ``score``
        The filled sheets, or references in any other form. References of images that were not
        selected are ignored and counted.
    ratings : path, several of them, or rows
        Filled sheets of ratings, instead of references. Several ratings of an answer are averaged.
    k : int, optional
        Use only the first k images of each pair.
    missing : {"error", "skip"}
        Whether images without an annotation raise an error, or are left out and counted. With
        "error", a sheet must also have no rows of other images.
    floor : float, optional
        Raise scores of 0 to this number, as in ``compute_dominance``.
    stability : iterable of int
        Numbers of images, up to k. The ranks by so many images of each pair are compared with the
        ranks by all images.
    **options

    Returns
    -------
    CompetitionRanking

    Raises
    ------
    InputError
        If neither or both of references and ratings are given, an image has no annotation, a sheet
        has other images, a score is 0 or undefined, or an option is invalid.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.4, equation 7.

    Examples
    --------
    >>> import semmetrics
    >>> systems = {"a": {"1": "a red bus"}, "b": {"1": "a blue bus"}}
    >>> selection = semmetrics.select_discrepant(systems, k=1)
    >>> ranking = rank_competition(selection, {"1": ["the red bus"]}, measures="ROUGE-L")
    >>> [(row["system"], row["rank"], round(row["global_score"], 4)) for row in ranking.to_records()]
    [('a', 1, 0.6667), ('b', 2, 0.3333)]
    """
    state = as_selection(selection, options)
    check_choice("missing", missing, ("error", "skip"))
    if references is None and ratings is None:
        raise InputError("needs-option", what="a ranking", name="references")
    if references is not None and ratings is not None:
        raise InputError("conflicting-options", names="references and ratings")
    if k is None:
        k = state.k
    smaller_ks = sorted({*stability})
    _check_number_of_images("k", k, state.k)
    for smaller_k in smaller_ks:
        _check_number_of_images("stability", smaller_k, k)

    notes: list[Fact] = []
    understood: list[str] = []
    annotations: Annotations
    if references is None:
        read = options.get("read")
        annotations = Ratings(read_ratings(ratings, state, read, missing, notes))
    else:
        annotations = _open_references(
            references, state, options, missing, notes, understood
        )
    images = _find_annotated_images(
        state, k, annotations.answers, notes, skip_missing=missing == "skip"
    )
    rankings = _rank_by_measures(
        state.systems, images, annotations, k, smaller_ks, floor, notes
    )
    return CompetitionRanking(
        systems=state.systems,
        k=k,
        n=_count_distinct(images.values()),
        rankings=rankings,
        images={pair: len(images_of_pair) for pair, images_of_pair in images.items()},
        facts=tuple(first_of_each(notes)),
        understood=tuple(understood),
    )


def _check_number_of_images(option: str, value: int, most: int) -> None:
    """Check that an option is from 1 to the largest number of images."""
    if not 1 <= value <= most:
        raise InputError("bad-option", name=option, value=value, wanted=f"1 to {most}")


def _open_references(
    references: Any,
    state: DiscrepancySelection,
    options: Mapping[str, Any],
    missing: str,
    notes: list[Fact],
    understood: list[str],
) -> References:
    """Read the references, and resolve the options of their measures."""
    set_options = {name: value for name, value in options.items() if value is not None}
    set_options["task"] = state.kind
    setup = open_evaluation(state.kind, set_options)
    references_by_image = read_references(
        references, state, setup, missing, notes, understood
    )
    return References(state, setup, references_by_image, notes)


def _count_distinct(images_of_pairs: Iterable[Iterable[str]]) -> int:
    distinct: set[str] = set()
    for images in images_of_pairs:
        distinct.update(images)
    return len(distinct)


def _find_annotated_images(
    state: DiscrepancySelection,
    k: int,
    annotated_answers: Collection[tuple[str, str]],
    notes: list[Fact],
    *,
    skip_missing: bool,
) -> dict[tuple[str, str], list[str]]:
    """Return the first k images of each pair for which both systems have an annotation.

    Raises
    ------
    InputError
        If an image has no annotation and may not be skipped, or a pair has no annotated image.
    """
    images: dict[tuple[str, str], list[str]] = {}
    missing_images: dict[str, None] = {}
    for pair in state.pairs:
        annotated = []
        for image in pair.images[:k]:
            has_first = (image, pair.first) in annotated_answers
            has_second = (image, pair.second) in annotated_answers
            if has_first and has_second:
                annotated.append(image)
            else:
                missing_images[image] = None
        images[pair.first, pair.second] = annotated
    if missing_images and not skip_missing:
        raise InputError(
            "not-annotated", n=len(missing_images), images=list(missing_images)
        )
    notes += counted("images-not-annotated", len(missing_images))
    for systems, annotated in images.items():
        if not annotated:
            raise InputError(
                "nothing-given",
                " and ".join(systems),
                what="annotated images",
                remedy="fill in the sheet",
            )
    return images


def _rank_by_measures(
    systems: Sequence[str],
    images: ImagesOfPairs,
    annotations: Annotations,
    k: int,
    smaller_ks: Sequence[int],
    floor: float | None,
    notes: list[Fact],
) -> tuple[MeasureRanking, ...]:
    """Rank systems by each measure, on k images of each pair and on fewer of them."""
    tables = []
    for n_images in (k, *smaller_ks):
        first_images = {}
        for pair, images_of_pair in images.items():
            first_images[pair] = images_of_pair[:n_images]
        table = tabulate_pairs(
            systems, first_images, annotations, overall=n_images == k
        )
        tables.append(table)
    rankings = []
    for scores, *scores_of_fewer in zip(*tables, strict=True):
        scores_by_k = dict(zip(smaller_ks, scores_of_fewer, strict=True))
        ranking = _rank_by_measure(systems, scores, scores_by_k, floor, notes)
        rankings.append(ranking)
    return tuple(rankings)


def _rank_by_measure(
    systems: Sequence[str],
    scores: PairwiseScores,
    scores_by_smaller_k: Mapping[int, PairwiseScores],
    floor: float | None,
    notes: list[Fact],
) -> MeasureRanking:
    """Rank systems by the scores of a measure on all images, and on fewer images of each pair."""
    dominance = _find_dominance(systems, scores, floor, notes)
    rank = rank_dominance(dominance)
    if not rank.converged:
        notes.append(Fact("not-converged", rank.power, where=scores.measure))
    n_shared = len(rank.ranks) - len(set(rank.ranks))
    notes += counted("shared-ranks", n_shared, where=scores.measure)
    stability = {}
    for smaller_k, fewer_scores in scores_by_smaller_k.items():
        try:
            dominance_of_fewer = _find_dominance(systems, fewer_scores, floor, [])
            ranks = rank_dominance(dominance_of_fewer).ranks
            stability[smaller_k] = correlation(ranks, rank.ranks, "spearman")
        except InputError as error:
            stability[smaller_k] = math.nan
            values = {"k": smaller_k, "why": error.problem}
            notes.append(Fact("no-stability", where=scores.measure, values=values))
    return MeasureRanking(scores, dominance, rank, stability)


def _find_dominance(
    systems: Sequence[str],
    table: PairwiseScores,
    floor: float | None,
    notes: list[Fact],
) -> Floats:
    """Return the dominance matrix, with systems named in errors, and note raised scores.

    Raises
    ------
    InputError
        If a dominance would be infinite. The message names the measure and the systems.
    """
    scores = table.scores
    both_zero = (scores == 0) & (scores.T == 0)
    try:
        dominance = compute_dominance(
            scores, higher_is_better=table.higher_is_better, floor=floor
        )
    except InputError as error:
        is_not_positive = ~(scores > 0) & ~both_zero
        np.fill_diagonal(is_not_positive, val=False)
        if not is_not_positive.any():
            raise error.placed(table.measure) from None
        i, j = np.argwhere(is_not_positive)[0].tolist()
        where = f"{table.measure}, {systems[i]} against {systems[j]}"
        raise InputError("no-dominance", where, value=float(scores[i, j])) from None
    n_raised = int((scores < (floor or 0)).sum())
    n_both_zero = int(both_zero.sum()) // 2
    if n_raised:
        notes += counted("raised-to-floor", n_raised, where=table.measure, floor=floor)
    else:
        notes += counted("both-zero", n_both_zero, where=table.measure)
    return dominance
