"""How the queries and candidates of a retrieval task are arranged in a matrix phi.

phi is an additional matrix of a task, with one row per image and one column per caption. A *view* is the part of it that belongs to the queries and candidates of one fold,
or all of it without folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from semmetrics.core.ragged import Ints, lengths, offsets, row_numbers, take_rows
from semmetrics.data.rankings import MOST_SIMILAR, PHI, Phi
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.retrieval import RetrievalTask
from semmetrics.metrics.image_similarity import (
    captions_of_images,
    images_of_captions,
    similar_images,
)
from semmetrics.metrics.nearest_items import MostSimilar, most_similar
from semmetrics.metrics.phi_matrix import count_queries_and_items
from semmetrics.metrics.relations import Relation

LEFT_OUT = "left-out"
"""The choice of the option ``ground_truth`` that removes a query's own positives."""


class PhiKey(NamedTuple):
    """The key of the part of a matrix that judges the queries of a fold.

    Attributes
    ----------
    task : RetrievalTask
    name : str
        The name of the matrix.
    fold : int or None
        None if the task has no folds.
    ground_truth : {"kept", "left-out"}
        Whether a query's own positives count among the most similar items.
    """

    task: RetrievalTask
    name: str
    fold: int | None
    ground_truth: str


@dataclass(frozen=True, eq=False)
class PhiView:
    """The part of a matrix that belongs to one fold of a task.

    Attributes
    ----------
    task : RetrievalTask
    phi : Phi
        Only the rows and columns of the fold's queries and candidates.
    queries : int array
        The fold's queries, as items of the task.
    candidates : int array or None
        The places of the fold's candidates in the gallery, ascending. None if all
        candidates are ranked.
    """

    task: RetrievalTask
    phi: Phi
    queries: Ints
    candidates: Ints | None

    def positives_of(self, queries: Ints) -> Relation:
        """Return the positives of queries that are in the gallery, as columns of phi.

        Parameters
        ----------
        queries : int array
            Items of the task.
        """
        task = self.task
        indptr, places = take_rows(task.indptr, queries)
        codes = task.positives[places].astype(np.int64)
        is_inside = codes < task.scores.shape[1]
        query = row_numbers(indptr)[is_inside]
        n_positives = np.bincount(query, minlength=len(queries))
        return offsets(n_positives), self.columns(codes[is_inside])

    def columns(self, candidates: Ints) -> Ints:
        """Return the column of phi of each candidate of the gallery. -1 stays -1."""
        if self.candidates is None:
            return candidates
        columns = np.searchsorted(self.candidates, candidates)
        return np.where(candidates < 0, -1, columns)

    def relation(self) -> Relation:
        """Return the positives of all queries of phi. Queries without scores have none."""
        phi = self.phi
        # The row (or column) of phi of each query, -1 if it is not scored.
        places = phi.places(self.task.rows[self.queries])
        scored = np.flatnonzero(places >= 0)
        scored = scored[np.argsort(places[scored], kind="stable")]
        indptr, columns = self.positives_of(self.queries[scored])
        n_queries, _ = count_queries_and_items(phi.matrix, phi.queries)
        n_positives = np.zeros(n_queries, np.int64)
        n_positives[places[scored]] = lengths(indptr)
        return offsets(n_positives), columns


@memoised
def phi_view(task: RetrievalTask, name: str, fold: int | None) -> PhiView:
    """Return the part of a task's matrix that belongs to a fold, or all of it."""
    phi: Phi = task.extra_inputs[PHI][name]
    if task.folds is None or fold is None:
        return PhiView(task, phi, np.arange(len(task)), candidates=None)
    fold_of_query, fold_of_candidate = task.folds
    queries = np.flatnonzero(fold_of_query == fold)
    candidates = np.flatnonzero(fold_of_candidate == fold)
    identity = f"{phi.identity}/{fold}"
    fold_phi = phi.part(task.rows[queries], candidates, identity)
    return PhiView(task, fold_phi, queries, candidates)


@memoised
def most_similar_items(
    task: RetrievalTask, name: str, fold: int | None, ground_truth: str
) -> MostSimilar:
    """Return the most similar items of all queries of a view."""
    view = phi_view(task, name, fold)
    leave_out = None
    if ground_truth == LEFT_OUT:
        leave_out = view.relation()
    return most_similar(
        view.phi.matrix,
        task.extra_inputs[MOST_SIMILAR],
        queries=view.phi.queries,
        leave_out=leave_out,
    )


@memoised
def items_of_similar_images(
    task: RetrievalTask,
    name: str,
    fold: int | None,
    ground_truth: str,
    m: int,
    depth: int,
    ties: Literal["first", "last"] = "first",
) -> Relation:
    """Return the extended ground truth that the released code finds by similar images.

    Parameters
    ----------
    task, name, fold, ground_truth
        As in `PhiKey`.
    m, depth, ties
        As for `semmetrics.metrics.similar_images`.

    Returns
    -------
    pair of int arrays
        The items of all queries of the view.
    """
    view = phi_view(task, name, fold)
    phi = view.phi
    n_images, n_captions = phi.matrix.shape
    captions = view.relation()
    if phi.queries == "columns":
        captions = _transpose(captions, n_images)
    images = similar_images(
        phi.matrix,
        captions,
        m,
        depth=depth,
        itself=ground_truth != LEFT_OUT,
        ties=ties,
    )
    if phi.queries == "rows":
        return captions_of_images(images, captions)
    return images_of_captions(images, captions, n_captions)


def _transpose(relation: Relation, n_items: int) -> Relation:
    """Return the queries of each item."""
    indptr, items = relation
    by_item = np.argsort(items, kind="stable")
    n_queries = np.bincount(items, minlength=n_items)
    return offsets(n_queries), row_numbers(indptr)[by_item]
