"""Predicted classes of images, and tasks made from arrays."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.backend import check_not_masked
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.classes import (
    ClassRanks,
    ClassScores,
    ClassTask,
    PredictedClasses,
)
from semmetrics.errors import InputError
from semmetrics.metrics.array_inputs import integer_array

ClassBlock = Block[ClassTask]
SEEN = "seen"
UNSEEN = "unseen"


@memoised
def predict_classes(block: ClassBlock, candidates: str) -> PredictedClasses:
    """Predict the class of each image. ``candidates`` names the classes to choose from."""
    task = block.task
    columns = task.columns(candidates)
    decided = task.predict(block.start, block.stop, columns)
    n_tied = int(decided.tied.sum())
    n_without = int((decided.predicted < 0).sum())
    block.observations.count("tied", n_tied, candidates, 1)
    block.observations.count("nothing", n_without, candidates)
    return decided


@memoised
def rank_true_classes(block: ClassBlock, candidates: str) -> ClassRanks:
    """Find the rank of each image's true class among the candidates with that name."""
    task = block.task
    columns = task.columns(candidates)
    return task.rank(block.start, block.stop, columns)


def array_task(
    scores: ArrayLike, truth: ArrayLike, named: Mapping[str, frozenset[str]]
) -> ClassTask:
    """Make a task from arrays. Each class is named by the number of its column.

    Parameters
    ----------
    scores : array, shape (images, classes)
    truth : int array, shape (images,)
        The column of each image's class.
    named : mapping from name to set of classes
        Lists of classes.

    Raises
    ------
    InputError
        If a class is not a column, or an array is masked.
    """
    check_not_masked(scores, "scores")
    table = np.asarray(scores)
    n_images, n_classes = table.shape
    codes = integer_array(truth, "truth", n_classes)
    if codes.shape != (n_images,):
        wanted = f"a class for each of the {n_images:,} rows of scores"
        raise InputError("wrong-shape", role="truth", shape=codes.shape, wanted=wanted)
    return ClassTask(
        ids=range(n_images),
        classes=tuple(map(str, range(n_classes))),
        n_listed=None,
        scores=ClassScores(table),
        rows=np.arange(n_images),
        truth=codes.astype(np.int32),
        named=named,
    )
