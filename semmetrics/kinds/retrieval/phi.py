"""Add to tasks the matrices phi, by which measures compare queries and candidates.

The matrices are checked against the run. Their rows are images and their columns are captions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from semmetrics.core.ragged import Ints, lengths
from semmetrics.data.rankings import DEPTH, MOST_SIMILAR, PHI, Phi, RankedLists
from semmetrics.data.tasks.retrieval import RetrievalTask
from semmetrics.errors import Fact, InputError
from semmetrics.kinds import class_names, embeddings, note_builders
from semmetrics.kinds.base import Measures, Options, Tasks, each_task
from semmetrics.kinds.captions.pair_job import options_taken
from semmetrics.kinds.retrieval.captioned_truth import CAPTIONS, CaptionedTruth
from semmetrics.kinds.retrieval.computed_phi import MATRIX_OPTIONS
from semmetrics.kinds.retrieval.phi_matrix import (
    OpenedPhi,
    PhiMatrix,
    opened_phi,
    read_phi,
)
from semmetrics.messages import listing
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.families import flat_terms
from semmetrics.metrics.semantic_retrieval import needed_depth

_NEEDS_PHI = (
    "needs phi, a matrix of images x captions: give phi= (--phi FILE), or captions= "
    "(--captions FILE) to compute it"
)
_OTHER_PHI = (
    "Or name another phi: phi='CIDEr-D' (--phi CIDEr-D) or phi='SPICE(parser=offline)'."
)


# ---- tasks with phi -----------------------------------------------------------------------------


def with_phi(tasks: Tasks, measures: Measures, options: Options) -> Tasks:
    """Return the tasks with the matrices that measures name, and how many candidates they need.

    Raises
    ------
    InputError
        If a matrix is not given, cannot be read or computed, or does not fit the run, or if a
        measure has no cutoff.
    """
    using_phi = []
    for measure in phi_measures(measures):
        if not _uses_grades(measure, options):
            using_phi.append(measure)
    if not using_phi:
        return tasks
    names = list(dict.fromkeys(str(measure[PHI]) for measure in using_phi))
    prepared: dict[str, dict[str, RetrievalTask]] = {}
    for system, parts in tasks.items():
        first_part = next(iter(parts.values()))
        truth = first_part.extra_inputs.get(CAPTIONS)  # the same for all parts
        matrices = {name: read_phi(name, truth, options) for name in names}
        prepared[system] = {}
        for part, task in parts.items():
            prepared[system][part] = _add_phi(task, matrices, using_phi, options)
    return prepared


def _add_phi(
    task: RetrievalTask,
    matrices: Mapping[str, PhiMatrix],
    measures: Measures,
    options: Options,
) -> RetrievalTask:
    """Return a task with matrices, and how many candidates the measures need."""
    most_positives = int(lengths(task.indptr).max(initial=0))
    depths = []
    numbers_of_similar = []
    for measure in measures:
        depth, n_similar = needed_depth(measure, most_positives)
        depths.append(depth)
        numbers_of_similar.append(n_similar)
    phi = {}
    for name, matrix in matrices.items():
        phi[name] = _fit_phi(task, matrix, options)
    extra_inputs = {
        **task.extra_inputs,
        PHI: phi,
        DEPTH: max(depths),
        MOST_SIMILAR: max(numbers_of_similar),
    }
    return replace(task, extra_inputs=extra_inputs)


def _uses_grades(measure: Measure, options: Options) -> bool:
    """Return whether a measure uses the grades of the positives, because phi is not given.

    nDCG is the only measure of phi that also has a definition with grades.
    """
    if measure.definition.name != "nDCG" or measure["ground_truth"] != "kept":
        return False
    if measure[PHI] != "default":
        return False
    return not embeddings.by_name(options.phi) and options.captions is None


def phi_measures(measures: Measures) -> list[Measure]:
    """Return the measures that need phi. A sum of measures is replaced by its terms."""
    return [term for term in flat_terms(measures) if PHI in term.definition.needs]


def chosen_phi(measure: Measure, tasks: Tasks, options: Options) -> tuple[Measure, str]:
    """Return a protocol's measure with the phi that is given, or why there is no phi.

    If only captions are given, the phi that the protocol names is computed from them. It is
    computed here to find out whether it can be, and stored.

    Returns
    -------
    measure : Measure
    obstacle : str
        Empty if the measure has a phi.

    Raises
    ------
    InputError
        If the captions are wrong.
    """
    name = str(measure[PHI])
    phi_by_name = embeddings.by_name(options.phi)
    if phi_by_name:
        if name in phi_by_name:
            return measure, ""
        return measure.with_options(phi="default"), ""
    if options.captions is None:
        return measure, _NEEDS_PHI
    obstacles = opened_phi(options).obstacles
    if name not in obstacles:
        _, task = next(each_task(tasks))
        truth: CaptionedTruth = task.extra_inputs[CAPTIONS]
        truth.texts()  # raises an error if the captions are wrong
        obstacles[name] = ""
        try:
            read_phi(name, truth, options)
        except InputError as error:
            obstacles[name] = f"{error} {_OTHER_PHI}"
    return measure, obstacles[name]


# ---- fitting to a run ---------------------------------------------------------------------------


def _fit_phi(task: RetrievalTask, matrix: PhiMatrix, options: Options) -> Phi:
    """Check that a matrix fits a run, and find the row or column of each query in it."""
    queries_are: Literal["rows", "columns"] = "rows"
    axis_of_queries = 0
    query_ids = matrix.images
    gallery_ids = matrix.captions
    if task.settings["direction"] == "t2i":
        queries_are = "columns"
        axis_of_queries = 1
        query_ids = matrix.captions
        gallery_ids = matrix.images
    axis_of_gallery = 1 - axis_of_queries
    values = matrix.values
    n_queries = values.shape[axis_of_queries]
    positions = _find_queries(task, matrix, query_ids, n_queries, options)
    candidate_positions = _find_candidates(task, matrix, gallery_ids)
    if candidate_positions is not None:
        values = np.take(values, candidate_positions, axis=axis_of_gallery)
    elif values.shape[axis_of_gallery] != task.scores.shape[1]:
        raise _wrong_shape_error(task, matrix)
    # If every row of the run has a query, the queries of the matrix are put in the same order.
    if (positions >= 0).all() and not np.array_equal(positions, np.arange(n_queries)):
        values = np.take(values, positions, axis=axis_of_queries)
        positions = np.arange(len(positions))
    return Phi(values, queries_are, positions, matrix.identity)


def _find_queries(
    task: RetrievalTask,
    matrix: PhiMatrix,
    query_ids: Sequence[str] | None,
    n_queries: int,
    options: Options,
) -> Ints:
    """Return the position in a matrix of each row of a run, or -1 for a row without a query.

    Parameters
    ----------
    task : RetrievalTask
    matrix : PhiMatrix
    query_ids : sequence of str or None
        The ids of its rows or columns.
    n_queries : int
        The number of these rows or columns.
    options : ResolvedOptions
    """
    n_rows = task.scores.shape[0]
    is_listed = isinstance(task.scores, RankedLists)
    if is_listed and query_ids is None:
        query_ids = _listed_queries(matrix, options)
        if len(query_ids) != n_queries:
            raise _wrong_shape_error(task, matrix)
    is_by_position = isinstance(task.ids, range) and not is_listed
    if query_ids is None or is_by_position:
        if n_queries != n_rows:
            raise _wrong_shape_error(task, matrix)
        return np.arange(n_queries)
    ranked = np.flatnonzero(task.rows >= 0)
    names = [task.ids[query] for query in ranked.tolist()]
    positions = np.full(n_rows, -1)
    positions[task.rows[ranked]] = _find_ids(names, query_ids, "query", matrix)
    return positions


def _listed_queries(matrix: PhiMatrix, options: Options) -> list[str]:
    """Return the queries of the option, in whose order a matrix without ids is."""
    if options.queries is None or options.gallery is None:
        raise InputError("unnamed-phi", matrix.source)
    return [str(name) for name in options.queries]


def _find_candidates(
    task: RetrievalTask, matrix: PhiMatrix, gallery_ids: Sequence[str] | None
) -> Ints | None:
    """Return the position in a matrix of each candidate.

    The result is None if candidates have no names, or are in the same order as in the matrix.
    """
    if gallery_ids is None or isinstance(task.gallery, range):
        return None
    # The names of positives outside the gallery follow the names of the candidates.
    candidates = [str(name) for name in task.gallery[: task.scores.shape[1]]]
    if candidates == list(gallery_ids):
        return None
    return _find_ids(candidates, gallery_ids, "candidate", matrix)


def _find_ids(
    names: Sequence[Any], ids: Sequence[str], noun: str, matrix: PhiMatrix
) -> Ints:
    """Return the position of each name among the ids of a matrix.

    Raises
    ------
    InputError
        If a name is not one of the ids. A computed matrix has no row for an image without
        positives, because these are its references.
    """
    positions, missing = class_names.find_names(names, ids)
    if missing:
        code = "no-references" if matrix.is_computed else "phi-lacks"
        raise InputError(code, matrix.source, n=len(missing), noun=noun, names=missing)
    return positions


def _wrong_shape_error(task: RetrievalTask, matrix: PhiMatrix) -> InputError:
    """Return the error for a matrix that does not have the shape of the run."""
    shape = matrix.values.shape
    shape_of_run = task.scores.shape
    if task.settings["direction"] == "t2i":
        shape_of_run = shape_of_run[::-1]
    wanted = f"one of the predictions' shape, {shape_of_run}"
    if shape == shape_of_run[::-1]:
        wanted = "its transpose"
    return InputError(
        "wrong-shape", matrix.source, role="phi", shape=shape, wanted=wanted
    )


# ---- notes --------------------------------------------------------------------------------------


def phi_notes(measures: Measures, options: Options) -> list[Fact]:
    """Return notes on phi and options without effect, and on problems of computing phi."""
    opened = opened_phi(options)
    notes = []
    phi_by_name = embeddings.by_name(options.phi)
    used_names = {str(measure[PHI]) for measure in phi_measures(measures)}
    unused_names = [name for name in phi_by_name if name not in used_names]
    # A single phi is used under every name.
    is_unused = len(phi_by_name) > 1 or not used_names
    if unused_names and is_unused:
        unused = "it"
        if used_names:
            unused = listing(unused_names)
        notes.append(note_builders.no_effect("phi", f"no measure here takes {unused}"))
    if options.captions is not None and not any(opened.obstacles.values()):
        notes += _caption_notes(opened, options)
    return [*notes, *dict.fromkeys(opened.notes)]


def _caption_notes(opened: OpenedPhi, options: Options) -> list[Fact]:
    """Return notes on captions without effect, or on options for computing phi without effect."""
    computed = []
    for matrix in opened.matrices.values():
        if matrix.is_computed:
            computed.append(str(matrix.origin))
    if not computed:
        return [note_builders.no_effect(CAPTIONS, "no phi is computed")]
    used_options: set[str] = set()
    for measure in computed:
        used_options.update(options_taken(measure))
    notes = []
    for name in MATRIX_OPTIONS:
        if name in options.set_by_user and name not in used_options:
            values = {"option": name, "on": ", ".join(computed)}
            notes.append(Fact("no-effect-on", values=values))
    return notes
