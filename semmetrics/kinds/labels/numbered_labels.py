"""Name labels that are numbers by a class list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from semmetrics.core.ragged import Ints, cell_keys, first_occurrences
from semmetrics.data.lists import Entry, Lists, as_entry
from semmetrics.data.matrix import as_matrix, class_terms, members
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.class_names import outside_classes_error
from semmetrics.messages import pluralize
from semmetrics.schema.cells import is_numeric


def name_numbers(labels: Lists, classes: Sequence[str | Sequence[str]]) -> Lists:
    """Return the labels by name, if they are positions in a class list, or rows of 0/1.

    Labels are names already if one of them is not a number, or one of the classes is.

    Parameters
    ----------
    labels : Lists
    classes : sequence of str, or of sequences of synonyms

    Raises
    ------
    InputError
        If a number is not a position, rows of 0/1 are incomplete, or the numbers may be either.
    """
    names = [as_entry(terms) for terms in class_terms(classes)]
    has_number_as_name = any(str(name).isdecimal() for name in names)
    if has_number_as_name or not _are_numbers(labels.vocabulary):
        return labels
    numbers = np.array([int(str(label)) for label in labels.vocabulary])
    if labels.names_all and (numbers >= len(names)).any():
        # The input declares more labels than there are classes. Not all of them may occur.
        occurring = replace(labels, names_all=False).without_unused_entries()
        return name_numbers(occurring, classes)
    if (numbers < 2).all():
        if _are_complete_rows(labels, len(names)):
            return _read_rows(labels, numbers, names)
        _check_repetitions(labels, len(names))
    return _name_positions(labels, numbers, names)


def _are_complete_rows(labels: Lists, n_classes: int) -> bool:
    """Return whether each item has one entry for each class, without scores."""
    has_complete_rows = bool((labels.side.sizes == n_classes).all())
    return has_complete_rows and labels.side.scores is None


def _are_numbers(vocabulary: Sequence[Entry]) -> bool:
    """Return whether there are labels, and all are numbers."""
    return len(vocabulary) > 0 and all(str(label).isdecimal() for label in vocabulary)


def _name_positions(labels: Lists, numbers: Ints, names: Sequence[Entry]) -> Lists:
    """Return the classes at these positions.

    Raises
    ------
    InputError
        If a position is beyond the end of the class list.
    """
    is_outside = numbers >= len(names)
    if is_outside.any():
        code = int(is_outside.argmax())
        where = labels.where(labels.first_item(code))
        raise outside_classes_error(labels.vocabulary[code], names, where, "the label")
    named = labels.renamed([names[number] for number in numbers.tolist()])
    return replace(named, notes=[*labels.notes, Fact("numbers-as-places")])


def _read_rows(labels: Lists, numbers: Ints, names: Sequence[Entry]) -> Lists:
    """Return the classes of rows with 0 or 1 for each class.

    Rows are ambiguous if they could also be positions. With two classes, a 0 and a 1 are the
    positions of both. With one class, 0 is its position.
    """
    n_classes = len(names)
    cells = numbers[labels.side.codes].reshape(-1, n_classes)
    if n_classes < 3 and (cells.sum(axis=1) == n_classes - 1).all():
        raise InputError("ambiguous-rows", labels.source)
    matrix = as_matrix(cells, names, source=labels.source, notes=labels.notes)
    rows = replace(matrix, ids=labels.ids, where=labels.where, understood="rows of 0/1")
    return members(rows)


def _check_repetitions(labels: Lists, n_classes: int) -> None:
    """Raise an error if an item has 0 or 1 several times, unlike positions of classes."""
    side = labels.side
    if not _has_repetitions(labels):
        return
    row = int((side.sizes != n_classes).argmax())
    raise InputError(
        "wrong-count",
        labels.where(row),
        wanted=pluralize(n_classes, "class"),
        found=pluralize(int(side.sizes[row]), "number"),
    )


def looks_like_cells(labels: Lists, n_columns: int) -> bool:
    """Return whether labels look like the cells of a matrix, stored as strings.

    Each item must have a number for each column of the other side. Rows of 0 and 1 look like
    cells. Other numbers do not if they can be positions of columns, each at most once per item.

    Examples
    --------
    >>> from semmetrics.data.lists import Side
    >>> side = Side(np.array([0, 2, 4]), np.array([0, 1, 1, 0]))
    >>> looks_like_cells(Lists(range(2), ["1", "0"], side), 2)
    True
    >>> looks_like_cells(Lists(range(2), ["cat", "0"], side), 2)
    False
    """
    side = labels.side
    if labels.names_all or labels.has_synonyms or side.scores is not None:
        return False
    names = list(map(str, labels.vocabulary))
    if not names or not (side.sizes == n_columns).all():
        return False
    if not all(is_numeric(name) for name in names):
        return False
    if {float(name) for name in names}.issubset({0.0, 1.0}):
        return True
    are_positions = set(map(str, range(n_columns))).issuperset(names)
    return not are_positions or _has_repetitions(labels)


def _has_repetitions(labels: Lists) -> bool:
    """Return whether an item has a label several times."""
    n_names = len(labels.vocabulary)
    cells = cell_keys(labels.side.indptr, labels.side.codes, max(1, n_names))
    return first_occurrences(cells, n_names * len(labels)) is not None
