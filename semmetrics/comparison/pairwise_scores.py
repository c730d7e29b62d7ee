"""Scores of systems on the images that were selected for each pair of them.

Conventions
-----------
Row i of a matrix of scores has what system i reaches on the images of i and each other system: a
corpus score where the measure is one, or the mean of ratings. The diagonal is nan.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.errors import Fact, first_of_each
from semmetrics.frozen import by_value, dataclass
from semmetrics.scoring.plan import Setup
from semmetrics.scoring.result import Score
from semmetrics.scoring.score import score_prepared

__all__ = ["PairScores", "rate_pairs", "score_pairs"]


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


def score_pairs(
    setup: Setup,
    systems: Sequence[str],
    images: Mapping[tuple[str, str], Sequence[str]],
    answers: Mapping[str, Mapping[str, Any]],
    references: Mapping[str, Any],
    *,
    overall: bool = True,
) -> tuple[list[PairScores], list[Fact | str]]:
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
    notes : list of Fact or str
        What is odd; of facts that differ by numbers the first.
    """
    place = {name: number for number, name in enumerate(systems)}
    made: dict[str, PairScores] = {}
    notes: list[Fact | str] = []

    def add(names: Sequence[str], some: Sequence[str]) -> Iterator[tuple[PairScores, Score]]:
        preds = {n: setup.read({i: answers[i][n] for i in some}, n) for n in names}
        ref = setup.read_truth({image: references[image] for image in some})
        prepared = setup.prepare(preds, ref, missing="empty")
        scores = score_prepared(prepared)
        notes.extend([*prepared.facts(scores), *map(str, prepared.plan.not_computed)])
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
