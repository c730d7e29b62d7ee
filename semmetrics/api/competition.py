"""The global rank of the systems of a maximum discrepancy competition, in one call."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from semmetrics.api.annotations import read_ratings, read_references
from semmetrics.api.discrepancy import NOT_SELECTING, as_selection
from semmetrics.api.scores import document_options
from semmetrics.arguments import check_type, checked_but
from semmetrics.comparison.dominance import compute_dominance, rank_correlation, rank_dominance
from semmetrics.comparison.pairwise_scores import PairScores, rate_pairs, score_pairs
from semmetrics.errors import InputError, first_of_each, render_facts
from semmetrics.messages import listing, pluralize
from semmetrics.options import OPTIONS, check_options
from semmetrics.reports.competition_ranking import CompetitionRanking, MeasureRanking
from semmetrics.reports.selection import DiscrepancySelection
from semmetrics.scoring.plan import check_given, open_setup

__all__ = ["NOT_RANKING", "rank_competition"]

NOT_RANKING = (*(name for name in NOT_SELECTING if name != "measures"), "task", "missing")
"""The options of a score that mean nothing here, or have a meaning of their own."""

_NOTED = 5  # pairs that are named


@document_options(*NOT_RANKING)
@checked_but("references")
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
    if missing not in ("error", "skip"):
        raise InputError(f"missing={missing!r}", remedy="choose one of 'error', 'skip'")
    if (references is None) == (ratings is None):
        raise InputError(
            "give references or ratings, one of them",
            remedy="give references= (--references) or ratings= (--ratings)",
        )
    k, compared = _check_k(state, k, stability)
    sizes = [k, *(most for most in compared if most != k)]
    notes: list[Any] = []
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
            found, said = score_pairs(
                setup, state.systems, some, state.answers, truth, overall=most == k
            )
            notes += said
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
        notes=tuple(render_facts(first_of_each(notes))),
        understood=tuple(understood),
    )


def _rank(
    systems: Sequence[str],
    tables: Mapping[int, PairScores],
    floor: float | None,
    compared: Sequence[int],
    notes: list[str],
) -> MeasureRanking:
    """Rank systems by one measure: its scores by k, those of all images first."""
    whole = next(iter(tables.values()))
    dominance = _dominance(systems, whole, floor, notes)
    rank = rank_dominance(dominance)
    if not rank.converged:
        notes.append(f"{whole.measure}: equation 7 had not converged at power {rank.power:,}")
    alike = len(rank.ranks) - len({*rank.ranks})
    if alike:
        notes.append(f"{whole.measure}: systems that share a rank with another: {alike}")
    stability = {}
    for most in compared:
        fewer = rank_dominance(_dominance(systems, tables[most], floor, []))
        stability[most] = rank_correlation(fewer.ranks, rank.ranks)
    return MeasureRanking(whole, dominance, rank, stability)


def _check_k(
    state: DiscrepancySelection, k: int | None, stability: Iterable[int]
) -> tuple[int, list[int]]:
    k = state.k if k is None else k
    if not 1 <= k <= state.k:
        raise InputError(f"k={k}, and {pluralize(state.k, 'image')} of each pair were selected",
                         remedy=f"give 1 to {state.k}")  # fmt: skip
    given = list(stability)
    check_type("stability", given, list[int])  # of an iterator, too
    compared = sorted({*given})
    wrong = [most for most in compared if not 1 <= most <= k]
    if wrong:
        raise InputError(f"stability of k={wrong[0]}", remedy=f"give 1 to {k}")
    return k, compared


def _filled(
    state: DiscrepancySelection,
    k: int,
    missing: str,
    notes: list[str],
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
        raise InputError(
            f"{pluralize(len(lost), 'image', 'are')} not annotated: {listing(lost)}",
            remedy="fill the sheet, or leave them out with missing='skip' (--missing skip)",
        )
    if lost:
        notes.append(f"images left out that are not annotated: {len(lost):,}")
    bare = [pair for pair, some in images.items() if not some]
    if bare:
        raise InputError(
            f"no image of {' and '.join(bare[0])} is annotated", remedy="fill the sheet"
        )
    return images


def _cut(
    images: Mapping[tuple[str, str], list[str]], most: int
) -> dict[tuple[str, str], list[str]]:
    return {pair: some[:most] for pair, some in images.items()}


def _dominance(
    systems: Sequence[str], table: PairScores, floor: float | None, notes: list[str]
) -> Any:
    """Return the dominance matrix, with systems named in errors, and say what was raised."""
    scores = table.scores
    pairs = [(i, j) for i in range(len(systems)) for j in range(len(systems)) if i != j]
    both = sum(scores[i, j] == scores[j, i] == 0 for i, j in pairs) // 2
    low = sum(scores[i, j] < (floor or 0) for i, j in pairs)
    try:
        found = compute_dominance(scores, higher_is_better=table.higher_is_better, floor=floor)
    except InputError as error:
        zero = [
            f"{systems[i]} against {systems[j]}"
            for i, j in pairs
            if not scores[i, j] > 0 and not scores[i, j] == scores[j, i] == 0
        ]
        problem = f"scores that are 0, negative or undefined: {'; '.join(zero[:_NOTED])}"
        problem += f" and {len(zero) - _NOTED} more" if len(zero) > _NOTED else ""
        raise InputError(problem if zero else error.problem, where=table.measure,
                         remedy="give a floor= (--floor) that scores of 0 are raised to, a larger "
                         "k, or another measure") from None  # fmt: skip
    if low:
        notes.append(f"{table.measure}: scores raised to the floor {floor:g}: {low}")
    elif both:
        notes.append(f"{table.measure}: pairs that both score 0, taken as equal: {both}")
    return found
