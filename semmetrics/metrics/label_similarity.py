"""Label vectors of measures, and which source computes their similarities.

Similarities are computed once for the distinct terms of a task, or of a block, and then
gathered. If a table would be too large, or if few of its cells are needed, they are
computed pair by pair (`semmetrics.metrics.similarity_sources`). The result has the same bits in
all cases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from semmetrics.core.ragged import lengths
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block, memoised, occurring
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import DEFAULT_EMBEDDING
from semmetrics.metrics.matching import sides_of
from semmetrics.metrics.measure_options import MeasureOption
from semmetrics.metrics.similarity_sources import (
    COST_OF_PAIR,
    PairwiseSimilarity,
    SimilaritySource,
    SimilarityTable,
)

if TYPE_CHECKING:
    from semmetrics.embed.label_vectors import LabelVectors

EMBEDDING = MeasureOption(
    "embedding",
    "embedding",
    DEFAULT_EMBEDDING,
    help="the name of one of the given embeddings",
)
"""The option of every measure that compares labels by an embedding."""

MAX_TABLE_CELLS = 1 << 25
"""Limit for the cells of a table of similarities, terms by terms."""


def label_vectors_of(task: LabelTask | CaptionTask, key: str) -> Any:
    """Return the label vectors of a measure, or the text model for captions.

    Parameters
    ----------
    task : LabelTask or CaptionTask
    key : str
        The ``model_key`` of the measure.

    Raises
    ------
    InputError
        If the task has no model under that key.
    """
    if key not in task.models:
        raise InputError("no-embedding", name=key)
    return task.models[key]


def first_key(task: LabelTask, key: str) -> str:
    """Return the first key of a measure's label vectors, so that they are compared once."""
    vectors = label_vectors_of(task, key)
    for other_key, model in task.models.items():
        if model is vectors:
            return other_key
    return key


def written_codes(side: Side) -> Any:
    """Return the codes of the labels as they were written."""
    if side.written is None:
        return side.codes
    return side.written


def similarities_of(block: Block[LabelTask], model: str) -> SimilaritySource:
    """Return the source of similarities of a block: the task's table, if it has one.

    Parameters
    ----------
    block : Block
    model : str
        The ``model_key`` of the measure.
    """
    return _similarities_of_block(block, first_key(block.task, model))


@memoised
def _similarities_of_block(block: Block[LabelTask], model: str) -> SimilaritySource:
    source = _similarities_of_task(block.task, model)
    if isinstance(source, SimilarityTable):
        return source
    pred, ref = sides_of(block)
    return choose_similarities(label_vectors_of(block.task, model), pred, ref)


@memoised
def _similarities_of_task(task: LabelTask, model: str) -> SimilaritySource:
    vectors = label_vectors_of(task, model)
    return choose_similarities(vectors, task.pred, task.ref)


def choose_similarities(
    vectors: LabelVectors, pred: Side, ref: Side
) -> SimilaritySource:
    """Return similarities in a table, or by pair if that takes less time or memory.

    Parameters
    ----------
    vectors : LabelVectors
    pred, ref : Side
        The labels of both sides, as codes of the vectors.
    """
    n_labels = len(vectors.indptr) - 1
    predicted = np.flatnonzero(occurring(written_codes(pred), n_labels))
    true = np.flatnonzero(occurring(written_codes(ref), n_labels))
    n_terms = lengths(vectors.indptr)
    n_cells = int(n_terms[predicted].sum()) * int(n_terms[true].sum())
    n_pairs = int(pred.sizes @ ref.sizes)
    is_mostly_unused = n_cells > COST_OF_PAIR * n_pairs and not vectors.has_synonyms
    if n_cells > MAX_TABLE_CELLS or is_mostly_unused:
        return PairwiseSimilarity(vectors)
    return SimilarityTable(vectors, predicted, true)
