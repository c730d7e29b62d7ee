"""Interpret the scores of labels that were read.

Scores are one of three things: scores of predicted labels, 0 and 1 for whether an item has a label,
or marks of a ground truth for labels that are present, absent or not verified.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from semmetrics.core.ragged import Floats, cell_keys, first_occurrences
from semmetrics.data import matrix as matrices
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.errors import ITEM, InputError
from semmetrics.kinds.labels.normalization import class_name


def read_matrix(matrix: Matrix, scores: str | None) -> Lists:
    """Return the labels of a matrix of items x classes.

    Parameters
    ----------
    matrix : Matrix
    scores : {"members", "values"} or None
        Whether cells are members (1 if an item has the label, otherwise 0) or scores. Default:
        a matrix of 0 and 1 has members.

    Raises
    ------
    InputError
        If cells are other numbers than 0 and 1, and ``scores`` is "members" or they are integers.
    """
    are_members = matrices.is_membership(matrix)
    if scores == "members" and not are_members:
        values = np.asarray(matrix.values.data if matrix.is_sparse else matrix.values)
        value = _first_fraction(values.ravel())
        raise InputError("fractional-members", matrix.source, value=value)
    if are_members and scores != "values":
        return matrices.members(_with_cells(matrix, "0/1"))
    cells = "scores"
    if matrices.is_signed(matrix.values):
        cells = "-1/0/1"
    labels: Lists = matrices.note_unstored(_with_cells(matrix, cells)).ranked()
    return labels


def _with_cells(matrix: Matrix, cells: str) -> Matrix:
    """Return a matrix with a description of its cells."""
    return replace(matrix, understood=f"{matrix.understood}, {cells}")


def as_members(labels: Lists) -> Lists:
    """Return the labels of score 1, for scores that mean whether an item has a label.

    Raises
    ------
    InputError
        If a score is neither 0 nor 1.
    """
    scores = labels.side.scores
    if scores is None or labels.ranked:
        return labels
    if labels.has_fractions:
        value = _first_fraction(scores)
        raise InputError("fractional-members", labels.source, value=value)
    side = replace(labels.side.keep(scores != 0), scores=None)
    return replace(
        labels,
        side=side,
        order=labels.order or "keys",
        understood=f"{labels.understood}, 0/1",
        whole=labels,
        names_all=True,
    )


def _first_fraction(values: Floats) -> float:
    """Return the first value that is neither 0 nor 1."""
    is_fraction = (values != 0) & (values != 1)
    return float(values[is_fraction][0])


def with_marks(labels: Lists | Matrix, unknown: tuple[float, ...]) -> Lists:
    """Return a ground truth whose scores are marks. Lists without scores do not change.

    Parameters
    ----------
    labels : Lists or Matrix
    unknown : tuple of float
        The values of cells that nobody verified.
    """
    if not isinstance(labels, Lists):
        described = _with_cells(labels, "0/1 with unverified cells")
        return matrices.mark_cells(described, unknown)
    if labels.has_marks or labels.side.scores is None:
        return labels
    marks = matrices.mark_values(labels.side.scores, unknown)
    side = replace(labels.side, scores=marks)
    return replace(labels, side=side, has_marks=True, names_all=True, ranked=False)


# ---- labels with several scores -----------------------------------------------------------------

_NO_UNLIKE_SCORES = 0, 0, ""


def find_unlike_scores(labels: Lists) -> tuple[int, int, str]:
    """Find labels that an item has several times with different scores.

    Returns
    -------
    n_labels, n_items : int
        How many such labels there are, and in how many items.
    example : str
        The first of them with its scores, as text.
    """
    scores = labels.side.scores
    if scores is None or labels.ranked:  # a matrix has each label once
        return _NO_UNLIKE_SCORES
    n_names = max(1, len(labels.vocabulary))
    cells = cell_keys(labels.side.indptr, labels.side.codes, n_names)
    if first_occurrences(cells, n_names * len(labels)) is None:
        return _NO_UNLIKE_SCORES
    order = np.lexsort((scores, cells))
    ordered_cells = cells[order]
    ordered_scores = scores[order]
    is_repetition = ordered_cells[1:] == ordered_cells[:-1]
    is_other_score = ordered_scores[1:] != ordered_scores[:-1]
    unlike_cells = np.unique(ordered_cells[1:][is_repetition & is_other_score])
    if not len(unlike_cells):
        return _NO_UNLIKE_SCORES
    n_items = len(np.unique(unlike_cells // n_names))
    row, code = divmod(int(unlike_cells[0]), n_names)
    scores_of_first = scores[cells == unlike_cells[0]]
    return len(unlike_cells), n_items, _show_scores(labels, row, code, scores_of_first)


def _show_scores(labels: Lists, row: int, code: int, scores: Floats) -> str:
    """Write a label of an item with its scores."""
    texts = [repr(score).removesuffix(".0") for score in scores.tolist()]
    distinct_texts = " and ".join(dict.fromkeys(texts))
    item = ITEM.format(row)
    if labels.has_ids:
        item = repr(labels.ids[row])
    return f"{class_name(labels.terms[code])!r} of {item}: {distinct_texts}"
