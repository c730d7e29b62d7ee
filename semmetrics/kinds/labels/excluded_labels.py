"""Labels that are not evaluated: labels to ignore, and difficult and unverified labels.

Conventions
-----------
The user names labels to ignore. They are taken out of both sides.

A ground truth may mark each label of an item as present, absent, difficult or unverified. Only
present labels are true. Predictions of unverified cells are left out. A federated dataset, such as
LVIS, lists the cells that were verified instead, and all others are unverified.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, compress
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools, Codes, Ints, cell_keys, is_member, offsets
from semmetrics.data.lists import Lists, Side, Terms, clean_terms
from semmetrics.data.matrix import PRESENT, UNVERIFIED, is_signed
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.labels import IgnoredLabels, LabelTask, Unverified
from semmetrics.kinds.labels.normalization import Cleaning, class_name
from semmetrics.kinds.labels.observation_codes import (
    UNVERIFIED_CELLS,
    UNVERIFIED_PREDICTIONS,
)
from semmetrics.options import join_names

# ---- labels to ignore ---------------------------------------------------------------------------


class LabelsToIgnore(NamedTuple):
    """The labels that a user asks to ignore.

    Attributes
    ----------
    written : frozenset of str
        The labels as they are written.
    names : tuple of tuples of str
        All names of each label: first the name of its class, then its terms, and the label as it
        is written. Labels that are equal after normalisation are one label with several spellings.
    """

    written: frozenset[str]
    names: tuple[Terms, ...]

    @staticmethod
    def of(ignore: Iterable[str], clean: Cleaning) -> LabelsToIgnore:
        """Normalise the labels to ignore.

        A label does not change if normalisation leaves nothing of it.
        """
        written = [ignore] if isinstance(ignore, str) else list(ignore)
        names_of_class: dict[str, tuple[str, ...]] = {}
        for label in dict.fromkeys(written):
            terms = clean_terms([label], clean)
            if not terms:
                terms = (label,)
            name = class_name(terms)
            names = names_of_class.get(name, (name, *terms))
            names_of_class[name] = (*names, label)
        return LabelsToIgnore(frozenset(written), tuple(names_of_class.values()))

    @property
    def class_names(self) -> list[str]:
        """The name of the class of each label."""
        return [names[0] for names in self.names]

    def find_among(self, classes: Iterable[Terms]) -> tuple[Bools, frozenset[str]]:
        """Find the classes to ignore.

        Parameters
        ----------
        classes : iterable of tuples of str
            The terms of each class.

        Returns
        -------
        is_ignored : bool array, shape (classes,)
        occurring : frozenset of str
            The labels to ignore that are among the classes, by the name of their class.
        """
        all_names = set(chain.from_iterable(self.names))
        flags = []
        occurring_names: set[str] = set()
        for terms in classes:
            ignored_names = all_names.intersection([class_name(terms), *terms])
            flags.append(bool(ignored_names))
            occurring_names |= ignored_names
        occurring = []
        for name_of_class, names in zip(self.class_names, self.names, strict=True):
            if not occurring_names.isdisjoint(names):
                occurring.append(name_of_class)
        return np.array(flags, np.bool_), frozenset(occurring)


def leave_out_ignored(
    task: LabelTask, classes: Sequence[Terms], ignored: LabelsToIgnore
) -> tuple[LabelTask, frozenset[str]]:
    """Take the labels to ignore out of both sides of a task.

    Parameters
    ----------
    task : LabelTask
    classes : sequence of tuples of str
        The terms of each class of the task.
    ignored : LabelsToIgnore

    Returns
    -------
    task : LabelTask
        The other classes are numbered anew.
    occurring : frozenset of str
        The labels to ignore that occur in the task.
    """
    is_ignored, occurring = ignored.find_among(classes)
    is_used = ~is_ignored
    ignored_labels = IgnoredLabels(
        labels=tuple(compress(task.classes, is_ignored)),
        pred=_choose_classes(task.pred, is_ignored),
        ref=_choose_classes(task.ref, is_ignored),
    )
    difficult = task.difficult
    if difficult is not None:
        difficult = _choose_classes(difficult, is_used)
    terms = task.terms
    if terms is not None:
        terms = list(compress(terms, is_used))
    n_listed = task.n_listed
    if n_listed is not None:
        n_listed = int(is_used[:n_listed].sum())
    in_columns = task.in_columns
    if in_columns is not None:
        in_columns = in_columns[is_used]
    setting = join_names(sorted(set(ignored.class_names)))
    rest = replace(
        task,
        pred=_choose_classes(task.pred, is_used),
        ref=_choose_classes(task.ref, is_used),
        difficult=difficult,
        unverified=_choose_unverified(task.unverified, is_used),
        classes=tuple(compress(task.classes, is_used)),
        terms=terms,
        n_listed=n_listed,
        in_columns=in_columns,
        ignored=ignored_labels,
        settings={**task.settings, "ignore": setting},
    )
    return rest, occurring


def _choose_classes(side: Side, is_chosen: Bools) -> Side:
    """Return the labels of the chosen classes, which are numbered anew."""
    chosen = side.keep(is_chosen[side.codes])
    new_codes = (np.cumsum(is_chosen) - 1).astype(np.int32)
    return replace(chosen, codes=new_codes[chosen.codes])


def _choose_unverified(
    unverified: Unverified | None, is_chosen: Bools
) -> Unverified | None:
    """Return the unverified cells of the chosen classes."""
    if unverified is None:
        return None
    cells = _choose_classes(unverified.cells, is_chosen)
    categories = unverified.categories
    if categories is not None:
        categories = categories[is_chosen]
    return Unverified(cells, categories)


# ---- difficult and unverified labels ------------------------------------------------------------


class MarkedLabels(NamedTuple):
    """The labels of a ground truth, separated by their marks.

    Attributes
    ----------
    present : Side
        The true labels.
    difficult : Side or None
        The labels that are neither present nor absent. None without such marks.
    listed_cells : Side or None
        The cells that the ground truth lists as unverified or, if it is a federated dataset, as
        verified. None if all cells are verified.
    """

    present: Side
    difficult: Side | None
    listed_cells: Side | None


def marks_every_label(truth: Lists) -> bool:
    """Return whether every label of every item is marked: 1 present, 0 difficult, -1 absent."""
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
        return MarkedLabels(truth, difficult=None, listed_cells=None)
    if not ref.has_marks:
        present = _labels_with_mark(truth, 1)
        difficult = _labels_with_mark(truth, 0)
        return MarkedLabels(present, difficult, listed_cells=None)
    if ref.is_federated:
        listed_cells = replace(truth, scores=None)
    else:
        listed_cells = _labels_with_mark(truth, UNVERIFIED)
    present = _labels_with_mark(truth, PRESENT)
    return MarkedLabels(present, difficult=None, listed_cells=listed_cells)


def _labels_with_mark(truth: Side, mark: float) -> Side:
    """Return the labels with a mark, without their marks."""
    has_mark = np.asarray(truth.scores) == mark
    return replace(truth.keep(has_mark), scores=None)


def find_unverified(
    listed_cells: Side | None,
    class_of_label: Codes,
    n_classes: int,
    *,
    is_federated: bool,
) -> Unverified | None:
    """Return the unverified cells of a task, or None if all cells are verified.

    Parameters
    ----------
    listed_cells : Side or None
        From `separate_marks`, with the codes of labels.
    class_of_label : int32 array, shape (labels of the references,)
        The class of each label of the ground truth.
    n_classes : int
    is_federated : bool
        Whether the cells are the verified ones of a federated dataset, whose labels are the
        categories.
    """
    if listed_cells is None:
        return None
    cells = replace(listed_cells, codes=class_of_label.take(listed_cells.codes))
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
        # A predicted label that is not a category counts as wrong, so its cell is verified.
        is_other_label = ~unverified.categories[task.pred.codes]
        is_verified = is_listed | is_other_label
        verified_cells = np.union1d(cells, predicted[is_other_label])
        verified = _as_side(verified_cells, n_classes, len(task))
        unverified = replace(unverified, cells=verified)
    n_left_out = int((~is_verified).sum())
    pred = task.pred.keep(is_verified)
    return replace(task, pred=pred, unverified=unverified), n_left_out


def _as_side(cells: Ints, n_classes: int, n_items: int) -> Side:
    """Return the labels of each item from the keys of `cell_keys` in ascending order."""
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
