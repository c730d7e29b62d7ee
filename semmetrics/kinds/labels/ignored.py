"""The labels to ignore: look them up, and take them out of a task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import compress
from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.data.lists import Side, Terms, clean_terms
from semmetrics.data.tasks import IgnoredLabels, LabelTask, Unverified
from semmetrics.kinds.labels.normalization import Cleaning, class_name
from semmetrics.options import join_names


class Ignored(NamedTuple):
    """The labels that a user asks to ignore.

    Attributes
    ----------
    written : frozenset of str
        The labels as they are written.
    names : tuple of tuples of str
        All names of each label: the name of its class, its terms, and the label as it is written.
    """

    written: frozenset[str]
    names: tuple[Terms, ...]

    @staticmethod
    def of(ignore: Iterable[str], clean: Cleaning) -> Ignored:
        """Normalise the labels to ignore.

        A label does not change if normalisation leaves nothing of it.
        """
        written = [ignore] if isinstance(ignore, str) else list(ignore)
        names = []
        for label in written:
            terms = clean_terms([label], clean)
            if not terms:
                terms = (label,)
            names.append((class_name(terms), *terms, label))
        distinct_names = dict.fromkeys(names)
        return Ignored(frozenset(written), tuple(distinct_names))

    def chosen(self, classes: Iterable[Terms]) -> tuple[Bools, frozenset[str]]:
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
        all_names = {name for names in self.names for name in names}
        flags = []
        found_names: set[str] = set()
        for terms in classes:
            ignored_names = all_names.intersection([class_name(terms), *terms])
            flags.append(bool(ignored_names))
            found_names |= ignored_names
        occurring = []
        for names in self.names:
            if not found_names.isdisjoint(names):
                occurring.append(names[0])
        return np.array(flags, np.bool_), frozenset(occurring)


def leave_out_ignored(
    task: LabelTask, classes: Sequence[Terms], ignored: Ignored
) -> tuple[LabelTask, frozenset[str]]:
    """Take the labels to ignore out of both sides of a task.

    Parameters
    ----------
    task : LabelTask
    classes : sequence of tuples of str
        The terms of each class of the task.
    ignored : Ignored

    Returns
    -------
    task : LabelTask
        The other classes are numbered anew.
    occurring : frozenset of str
        The labels to ignore that occur in the task.
    """
    is_ignored, occurring = ignored.chosen(classes)
    is_used = ~is_ignored
    ignored_labels = IgnoredLabels(
        labels=tuple(compress(task.classes, is_ignored)),
        pred=_choose_classes(task.pred, is_ignored),
        ref=_choose_classes(task.ref, is_ignored),
    )
    names = sorted({names[0] for names in ignored.names})
    difficult = task.difficult
    if difficult is not None:
        difficult = _choose_classes(difficult, is_used)
    terms = task.terms
    if terms is not None:
        terms = list(compress(terms, is_used))
    n_given = task.given
    if n_given is not None:
        n_given = int(is_used[:n_given].sum())
    in_columns = task.in_columns
    if in_columns is not None:
        in_columns = in_columns[is_used]
    rest = replace(
        task,
        pred=_choose_classes(task.pred, is_used),
        ref=_choose_classes(task.ref, is_used),
        difficult=difficult,
        unverified=_choose_unverified(task.unverified, is_used),
        classes=tuple(compress(task.classes, is_used)),
        terms=terms,
        given=n_given,
        in_columns=in_columns,
        ignored=ignored_labels,
        settings={**task.settings, "ignore": join_names(names)},
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
