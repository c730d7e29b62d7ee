"""Scores of the systems of a competition on the images of each pair of systems.

Systems are scored against references of the images, or by ratings of their answers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import Floats
from semmetrics.errors import Fact
from semmetrics.scoring.evaluation import Evaluation
from semmetrics.scoring.score import score_evaluation
from semmetrics.studies.competition_state import DiscrepancySelection

ImagesOfPairs = Mapping[tuple[str, str], Sequence[str]]
"""Images by pair of systems."""


# ---- annotations -------------------------------------------------------------------------------


class SystemScore(NamedTuple):
    """The score of a system by one measure, on some images."""

    system: str
    measure: str
    higher_is_better: bool
    value: float


class Annotations(Protocol):
    """Annotations of images, by which systems are scored.

    Attributes
    ----------
    answers : set of (image, system)
        The answers that can be scored.
    """

    answers: set[tuple[str, str]]

    def score(
        self, systems: Sequence[str], images: Sequence[str]
    ) -> Iterable[SystemScore]:
        """Score systems on images by each measure."""


class Ratings:
    """Mean ratings of the answers of systems. Higher is better."""

    def __init__(self, rating_by_answer: Mapping[tuple[str, str], float]) -> None:
        self.answers = set(rating_by_answer)
        self._rating_by_answer = rating_by_answer

    def score(
        self, systems: Sequence[str], images: Sequence[str]
    ) -> Iterable[SystemScore]:
        """Average the ratings of each system over images."""
        for system in systems:
            ratings = [self._rating_by_answer[image, system] for image in images]
            mean = math.fsum(ratings) / len(images)
            yield SystemScore(system, "rating", True, mean)


class References:
    """References of images, against which the answers of systems are scored.

    Parameters
    ----------
    state : DiscrepancySelection
    setup : Evaluation
        Its measures are computed.
    references : mapping from image to references
    notes : list of Fact
        Notes on each scoring are added to it.
    """

    def __init__(
        self,
        state: DiscrepancySelection,
        setup: Evaluation,
        references: Mapping[str, Any],
        notes: list[Fact],
    ) -> None:
        self.answers = set()
        for image in references:
            for system in state.systems:
                self.answers.add((image, system))
        self._state = state
        self._setup = setup
        self._references = references
        self._notes = notes

    def score(
        self, systems: Sequence[str], images: Sequence[str]
    ) -> Iterable[SystemScore]:
        """Score systems on images by the measures of the setup."""
        setup = self._setup
        predictions = {}
        for system in systems:
            answers = {image: self._state.answers[image][system] for image in images}
            predictions[system] = setup.read(answers, system)
        references = {image: self._references[image] for image in images}
        truth = setup.read_truth(references)
        prepared = setup.join(predictions, truth, missing="empty")
        scores = score_evaluation(prepared)
        self._notes += prepared.notes(scores)
        for absent in prepared.chosen.not_computed:
            self._notes.append(Fact("not-computed", values=asdict(absent)))
        for score in scores:
            higher_is_better = score.measure.higher_is_better
            yield SystemScore(
                score.system, score.heading, higher_is_better, score.value
            )


# ---- tables ------------------------------------------------------------------------------------


@by_value()
@dataclass(frozen=True, eq=False)
class PairwiseScores:
    """Scores of every system on the images of each of its pairs.

    Attributes
    ----------
    measure : str
        The heading of the measure in tables.
    higher_is_better : bool
    scores : float array, shape (systems, systems)
        Row i has the score of system i on the images of i and each other system. nan on the
        diagonal.
    overall : float array, shape (systems,)
        The score of each system on the images of all its pairs, or nan if it was not computed.
    """

    measure: str
    higher_is_better: bool
    scores: Floats
    overall: Floats


def tabulate_pairs(
    systems: Sequence[str],
    images: ImagesOfPairs,
    annotations: Annotations,
    *,
    overall: bool,
) -> list[PairwiseScores]:
    """Score each pair of systems on its images by each measure.

    Parameters
    ----------
    systems : sequence of str
    images : mapping from pair of systems to images
    annotations : Annotations
    overall : bool
        Whether each system is also scored on the images of all its pairs.

    Returns
    -------
    list of PairwiseScores
        In the order of the measures.
    """
    numbers = {name: number for number, name in enumerate(systems)}
    tables: dict[str, PairwiseScores] = {}
    for pair, images_of_pair in images.items():
        first, second = pair
        opponents = {first: second, second: first}
        for score in annotations.score(pair, images_of_pair):
            table = _get_table(tables, score, len(systems))
            number = numbers[score.system]
            opponent = numbers[opponents[score.system]]
            table.scores[number, opponent] = score.value
    if overall:
        for system in systems:
            images_of_system = _images_of(system, images)
            for score in annotations.score((system,), images_of_system):
                table = _get_table(tables, score, len(systems))
                table.overall[numbers[system]] = score.value
    return list(tables.values())


def _get_table(
    tables: dict[str, PairwiseScores], score: SystemScore, n_systems: int
) -> PairwiseScores:
    """Return the table for the measure of a score. A new measure gets a new table."""
    table = tables.get(score.measure)
    if table is None:
        table = PairwiseScores(
            measure=score.measure,
            higher_is_better=score.higher_is_better,
            scores=np.full((n_systems, n_systems), np.nan),
            overall=np.full(n_systems, np.nan),
        )
        tables[score.measure] = table
    return table


def _images_of(system: str, images: ImagesOfPairs) -> list[str]:
    """Return the distinct images of all pairs of a system."""
    distinct: dict[str, None] = {}
    for pair, images_of_pair in images.items():
        if system in pair:
            distinct.update(dict.fromkeys(images_of_pair))
    return list(distinct)
