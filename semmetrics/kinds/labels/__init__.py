"""Label sets: the labels of each item, such as the objects in an image.

This module reads label sets, and recognises them.

Conventions
-----------
Scores that are read are one of three things: scores of predicted labels, 0 and 1 for whether an
item has a label, or marks of a ground truth for labels that are present, absent or not verified.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, cell_keys, first_occurrences
from semmetrics.data.coco_files import is_coco, is_coco_captions, read_coco_labels
from semmetrics.data.form import Form
from semmetrics.data.inputs import as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import (
    Matrix,
    is_membership,
    is_signed,
    mark_cells,
    mark_values,
    members,
    note_unstored,
)
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.samples import Sample
from semmetrics.errors import ITEM, InputError
from semmetrics.kinds.labels.normalization import class_name
from semmetrics.kinds.labels.numbered_labels import name_numbers
from semmetrics.kinds.recognition import Certainty, Verdict, has_entry_column
from semmetrics.options import FORMATS

FORM = Form(
    noun="label",
    columns=("label", "labels", "name", "names", "class", "category", "tag", "tags"),
    keys=("labels", "names", "tags", "categories"),
    formats=tuple(name for name, kinds in FORMATS.items() if "labels" in kinds),
    coco=read_coco_labels,
    is_coco=is_coco,
    scored=True,
)
MIN_WORDS_OF_SENTENCE = 5.0
"""The mean number of words from which labels look like captions."""


def as_labels(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists:
    """Read label lists.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. A mapping or a Series has ids. A sequence
        of label lists is identified by position. A sequence of records, a frame or a mapping of
        columns has ids and labels. An array, tensor or scipy.sparse matrix of items x classes, and
        a frame of numbers, contain 0/1, or scores as floats. A set of labels is sorted.
    source : str
        The name of the input in messages.
    classes : sequence, optional
        The names of a matrix's columns, and of labels that are numbers. These are positions from 0,
        unless one of the names is a number. Rows with 0 or 1 for each class are a matrix.
    options : ReadOptions, optional
        How files are read.

    Returns
    -------
    Lists
        ``ranked`` if every class has a score, and nothing states which of them are predicted.

    Raises
    ------
    InputError
        If the input is of another kind, or its content is invalid.

    Examples
    --------
    >>> as_labels({"a": ["cat", "dog"], "b": []}).to_list()
    [['cat', 'dog'], []]
    """
    return read_labels(data, source, classes, options)


def read_labels(
    data: Any,
    source: str,
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
    unknown: tuple[float, ...] = (),
    *,
    scores: str | None = None,
) -> Lists:
    """Read label lists as `as_labels` does, or a ground truth with cells that nobody verified.

    Parameters
    ----------
    data, source, classes, options
        As for `as_labels`.
    unknown : tuple of float
        The values of cells that nobody verified. If there are any, the scores of the result are
        marks.
    scores : {"members", "values"}, optional
        Whether scores of only 0 and 1 are members, which mean whether an item has a label, or
        scores. Without it, they are members if some are 0, and a matrix of 0 and 1 has members.
    """
    form = replace(FORM, integers_as_positions=classes is not None, unknown=unknown)
    labels = as_data(data, form, source=source, names=classes, options=options)
    if unknown:
        return _with_marks(labels, unknown)
    if not isinstance(labels, Lists):
        return _read_matrix(labels, scores)
    if classes is not None and not labels.by_category:
        labels = name_numbers(labels, classes)
    unlike = _find_unlike_scores(labels)
    if unlike != _NO_UNLIKE_SCORES:
        labels = replace(labels, unlike=unlike)
    if scores == "values":
        return labels
    if scores == "members":
        return _as_members(labels)
    return labels.without_zeros()


# ---- meanings of scores -------------------------------------------------------------------------


def _read_matrix(matrix: Matrix, scores: str | None) -> Lists:
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
        If cells are other numbers than 0 and 1, and either ``scores`` is "members" or the cells
        are integers.
    """
    are_members = is_membership(matrix)
    if scores == "members" and not are_members:
        values = matrix.values
        if matrix.is_sparse:
            values = values.data
        value = _first_fraction(np.asarray(values).ravel())
        raise InputError("fractional-members", matrix.source, value=value)
    if are_members and scores != "values":
        return _read_members(matrix)
    cells = "scores"
    if is_signed(matrix.values):
        cells = "-1/0/1"
    labels: Lists = note_unstored(_with_cells(matrix, cells)).ranked()
    return labels


def _read_members(matrix: Matrix) -> Lists:
    """Return the labels of a matrix of 0 and 1, and how it reads if the cells may be scores."""
    labels = members(_with_cells(matrix, "0/1"))
    if labels.cells != "either":
        return labels
    as_scores = _with_cells(matrix, "scores").understood
    return replace(labels, understood_as_scores=as_scores)


def _with_cells(matrix: Matrix, cells: str) -> Matrix:
    """Return a matrix with a description of its cells."""
    return replace(matrix, understood=f"{matrix.understood}, {cells}")


def _as_members(labels: Lists) -> Lists:
    """Return the labels with a score of 1, for scores that mean whether an item has a label.

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


def _with_marks(labels: Lists | Matrix, unknown: tuple[float, ...]) -> Lists:
    """Return a ground truth whose scores are marks. Lists without scores do not change.

    Parameters
    ----------
    labels : Lists or Matrix
    unknown : tuple of float
        The values of cells that nobody verified.
    """
    if not isinstance(labels, Lists):
        described = _with_cells(labels, "0/1 with unverified cells")
        return mark_cells(described, unknown)
    if labels.has_marks or labels.side.scores is None:
        return labels
    marks = mark_values(labels.side.scores, unknown)
    side = replace(labels.side, scores=marks)
    return replace(labels, side=side, has_marks=True, names_all=True, ranked=False)


# ---- labels with several scores -----------------------------------------------------------------

_NO_UNLIKE_SCORES = (0, 0, "")


def _find_unlike_scores(labels: Lists) -> tuple[int, int, str]:
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
    # Entries of the same item and label become neighbours, by rising score.
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


# ---- recognition --------------------------------------------------------------------------------


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Return how certain it is that data are labels: lists of strings that are not sentences."""
    if any(map(_is_certain, samples)):
        certainty = Certainty.CERTAIN
        if any(sample.read.caption_column is not None for sample in samples):
            certainty = Certainty.LIKELY
        return Verdict(certainty, descriptions=tuple(map(_describe, samples)))
    shapes = {sample.shape for sample in samples}
    if "strings" in shapes and all(sample.is_single_words for sample in samples):
        return Verdict(Certainty.POSSIBLE, "single words")
    if shapes != {"lists"}:
        return Verdict(Certainty.NO)
    if _are_sentences(samples):
        return Verdict(Certainty.POSSIBLE, "lists of sentences")
    return Verdict(Certainty.LIKELY)


def _are_sentences(samples: Sequence[Sample]) -> bool:
    """Return whether the strings of all sides have many words."""
    n_words = min(sample.mean_words for sample in samples)
    return n_words >= MIN_WORDS_OF_SENTENCE


def _is_certain(sample: Sample) -> bool:
    """Return whether a side contains labels for certain."""
    if sample.noun is not None:
        return sample.noun == FORM.noun
    if sample.shape in ("columns", "keys"):
        return has_entry_column(sample, FORM)
    document = sample.value or {}
    if is_coco_captions(document):
        return False
    return sample.shape in ("entries", "matrix", "other") or is_coco(document)


def _describe(sample: Sample) -> str:
    """Return a description of a side."""
    if is_coco(sample.value or {}):
        return "COCO instances"
    return sample.what
