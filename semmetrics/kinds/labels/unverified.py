"""Marks of a ground truth: labels that are difficult, and cells that nobody verified.

A ground truth may mark each label of an item as present, absent, difficult or unverified. Only
present labels are true. Predictions of unverified cells are left out. A federated dataset, such as
LVIS, lists the cells that were verified instead, and all others are unverified.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Codes, Ints, cell_keys, is_member, offsets
from semmetrics.data.lists import Lists, Side
from semmetrics.data.matrix import PRESENT, UNVERIFIED, is_signed
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import LabelTask, Unverified
from semmetrics.kinds.labels.observation_codes import (
    UNVERIFIED_CELLS,
    UNVERIFIED_PREDICTIONS,
)


class MarkedLabels(NamedTuple):
    """The labels of a ground truth, separated by their marks.

    Attributes
    ----------
    present : Side
        The true labels.
    difficult : Side or None
        The labels that are neither present nor absent. None without such marks.
    unverified : Side or None
        The cells that nobody verified, or all verified cells of a federated dataset. None if all
        cells are verified.
    """

    present: Side
    difficult: Side | None
    unverified: Side | None


def has_signs(truth: Lists) -> bool:
    """Return whether all labels of all items are marked: 1 present, 0 difficult, -1 absent."""
    n_cells = len(truth) * len(truth.vocabulary)
    return is_signed(truth.side.scores) and truth.contents[0] == n_cells


def separate_marks(truth: Side, ref: Lists) -> MarkedLabels:
    """Separate the labels of a ground truth by their marks.

    A matrix of -1, 0 and 1 has difficult labels, marked 0. If the user sets ``unknown_value``, or
    the dataset is federated, the ground truth has the marks of `Lists.has_marks` instead, and no
    difficult labels.

    Parameters
    ----------
    truth : Side
        The labels of the evaluated items, whose scores are their marks.
    ref : Lists
        The ground truth.
    """
    if not ref.ranked and not ref.has_marks:
        return MarkedLabels(truth, None, None)
    if ref.is_federated:
        verified = replace(truth, scores=None)
        return MarkedLabels(_labels_with_mark(truth, PRESENT), None, verified)
    if ref.has_marks:
        unverified = _labels_with_mark(truth, UNVERIFIED)
        return MarkedLabels(_labels_with_mark(truth, PRESENT), None, unverified)
    difficult = _labels_with_mark(truth, 0)
    return MarkedLabels(_labels_with_mark(truth, 1), difficult, None)


def _labels_with_mark(truth: Side, mark: float) -> Side:
    """Return the labels with a mark, without their marks."""
    has_mark = np.asarray(truth.scores) == mark
    return replace(truth.keep(has_mark), scores=None)


def find_unverified(
    cells: Side | None, class_of_label: Codes, n_classes: int, *, is_federated: bool
) -> Unverified | None:
    """Return the unverified cells of a task, or None if all cells are verified.

    Parameters
    ----------
    cells : Side or None
        From `separate_marks`, with the codes of classes.
    class_of_label : int32 array, shape (labels of the references,)
        The class of each label of the ground truth.
    n_classes : int
    is_federated : bool
        Whether the cells are the verified ones of a federated dataset, whose labels are the
        categories.
    """
    if cells is None:
        return None
    if not is_federated:
        return Unverified(cells)
    is_category = np.zeros(n_classes, np.bool_)
    is_category[class_of_label] = True
    return Unverified(cells, is_category)


def leave_out_unverified(task: LabelTask) -> tuple[LabelTask, int]:
    """Take predictions of unverified cells out of a task, and return how many there were."""
    unverified = task.unverified
    if unverified is None:
        return task, 0
    n_classes = max(1, len(task.classes))
    n_cells = n_classes * len(task)
    cells = cell_keys(unverified.cells.indptr, unverified.cells.codes, n_classes)
    predicted = cell_keys(task.pred.indptr, task.pred.codes, n_classes)
    is_listed = is_member(predicted, cells, n_cells)
    if unverified.categories is None:
        is_verified = ~is_listed
    else:
        is_other_label = ~unverified.categories[task.pred.codes]
        is_verified = is_listed | is_other_label
        cells = np.union1d(cells, predicted[is_other_label])
        verified = _as_side(cells, n_classes, len(task))
        unverified = replace(unverified, cells=verified)
    n_left_out = int((~is_verified).sum())
    pred = task.pred.keep(is_verified)
    return replace(task, pred=pred, unverified=unverified), n_left_out


def _as_side(cells: Ints, n_classes: int, n_items: int) -> Side:
    """Return the labels of each item from ordered keys of cells."""
    rows = cells // n_classes
    class_codes = (cells % n_classes).astype(np.int32)
    return Side(offsets(np.bincount(rows, minlength=n_items)), class_codes)


def count_unverified(
    observations: Observations, task: LabelTask, n_left_out: int
) -> None:
    """Count the unverified cells of a task.

    For a federated dataset, count the predictions that were left out instead.
    """
    if task.unverified is None:
        return
    if task.unverified.categories is None:
        n_cells = len(task.unverified.cells.codes)
        observations.count(UNVERIFIED_CELLS, n_cells)
    else:
        observations.count(UNVERIFIED_PREDICTIONS, n_left_out)
