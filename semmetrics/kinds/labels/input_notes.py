"""Notes on inputs whose columns, nesting or scores are probably not meant as they are read."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.ragged import row_numbers
from semmetrics.data.lists import Lists, Terms
from semmetrics.errors import Fact
from semmetrics.kinds.base import Options
from semmetrics.kinds.labels.excluded_labels import LabelsToIgnore
from semmetrics.kinds.labels.normalization import Cleaning, normalization
from semmetrics.kinds.note_builders import counted
from semmetrics.schema import CLASS_NAMES

_CLASS_HEADERS = (*CLASS_NAMES, "categories", "names")
"""Headers of columns of classes."""
_ITEM_FLAG = re.compile(
    r"(is_)?(valid|test|train|val|validation|training)|(cv_?)?fold|split|iscrowd|is_(crowd|deleted)",
    re.IGNORECASE,
)
"""Columns that tables of labels often have for items. They may also be labels."""
_MIN_SHARED_COLUMNS = 2
_SHARED_PER_ONE_SIDED = 10
"""The fewest columns that both files share, for each column that only one file has."""


def input_notes(inputs: Sequence[Any], options: Options) -> list[Fact]:
    """Return notes on the inputs.

    Parameters
    ----------
    inputs : sequence of Lists
        The predictions of each system, then the ground truth. Batches are not Lists, and have no
        notes on nesting and columns.
    options : ResolvedOptions
    """
    notes: list[Fact] = []
    for lists in inputs:
        notes += unlike_scores(lists)
    if options.classes is None:
        notes += _nested_notes(inputs)
        notes += _column_notes(inputs, options)
    return notes + _header_notes(options.classes, inputs)


def unlike_scores(labels: Lists) -> list[Fact]:
    """Return a note on labels that an item has several times with different scores.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> print(*unlike_scores(as_labels({"a": [("cat", 1), ("cat", 0)]})))
    input: 1 label in 1 item listed with different scores, such as 'cat' of 'a': 1 and 0. The
    highest score counts. To count each, set duplicates=each.
    """
    n_labels, n_items, example = labels.unlike
    return counted("unlike-scores", n_labels, [example], labels.source, items=n_items)


def _are_lists(inputs: Sequence[Any]) -> bool:
    """Return whether no input is a batch."""
    return all(isinstance(lists, Lists) for lists in inputs)


# ---- nested lists -------------------------------------------------------------------------------


def _nested_notes(inputs: Sequence[Any]) -> list[Fact]:
    """Return notes on sides whose items are a list within a list, but not a list of synonyms."""
    if not _are_lists(inputs) or not any(lists.has_synonyms for lists in inputs):
        return []
    truth = inputs[-1]
    notes = []
    for lists in inputs:
        codes = np.unique(lists.side.codes).tolist()
        entries = [lists.terms[code] for code in codes]
        if not _is_nested(lists, entries):
            continue
        true_entries = None
        if lists is not truth:
            true_entries = set(truth.terms)
        if not _may_be_synonyms(entries, true_entries):
            longest = max(entries, key=len)
            values = {"example": json.dumps(longest, ensure_ascii=False)}
            note = Fact("nested-labels", len(lists), where=lists.source, values=values)
            notes.append(note)
    return notes


def _is_nested(lists: Lists, entries: Sequence[Terms]) -> bool:
    """Return whether no item has several entries, and half of the entries have several terms."""
    if not entries or (lists.side.sizes > 1).any():
        return False
    n_with_synonyms = sum(len(terms) > 1 for terms in entries)
    return n_with_synonyms >= len(entries) / 2


def _may_be_synonyms(entries: Sequence[Terms], true_entries: set[Terms] | None) -> bool:
    """Return whether the terms of entries may be synonyms.

    A synonym belongs to one entry. If predictions have synonyms, they also have several entries,
    all of which are entries of the ground truth.

    Parameters
    ----------
    entries : sequence of tuples of str
        The terms of each entry.
    true_entries : set of tuples of str or None
        The entries of the ground truth, if these are predictions.
    """
    terms = list(chain.from_iterable(entries))
    if len(set(terms)) < len(terms):
        return False
    if true_entries is None:
        return True
    return len(entries) > 1 and true_entries.issuperset(entries)


# ---- columns ------------------------------------------------------------------------------------


def _column_notes(inputs: Sequence[Any], options: Options) -> list[Fact]:
    """Return notes on columns of matrices that are probably not labels.

    Such a column is in one of the two files only, although these share nearly all columns. Or it
    has the name of a flag of items, and the same cells in both files.
    """
    if not inputs or not _is_named_matrix(inputs[-1]):
        return []
    *systems, truth = inputs
    clean = normalization(options.normalize)
    ignored = set(chain.from_iterable(LabelsToIgnore.of(options.ignore, clean).names))
    notes: list[Fact] = []
    for pred in systems:
        if not _is_named_matrix(pred):
            continue
        one_sided = _find_one_sided(pred.vocabulary, truth.vocabulary, clean)
        flags = [name for name in pred.vocabulary if _is_flag(name, pred, truth)]
        notes += _odd_columns("one-sided-columns", one_sided, ignored, pred.source)
        notes += _odd_columns("flag-columns", flags, ignored, pred.source)
    return notes


def _odd_columns(
    code: str, names: Sequence[str], ignored: Collection[str], where: str
) -> list[Fact]:
    """Return a note on columns without the labels to ignore."""
    shown = tuple(name for name in names if name not in ignored)
    if not shown:
        return []
    return [Fact(code, len(shown), shown, where, {"column": shown[0]})]


def _is_named_matrix(lists: Any) -> bool:
    """Return whether an input was a matrix with a name for each column. Batches are not."""
    if not isinstance(lists, Lists):
        return False
    if not lists.was_matrix or lists.columns is not None:
        return False
    return all(isinstance(name, str) for name in lists.vocabulary)


def _find_one_sided(
    names: Sequence[str], true_names: Sequence[str], clean: Cleaning
) -> list[str]:
    """Return the columns of one side only, if both sides share nearly all other columns.

    Names are equal if they are equal after normalisation.
    """
    columns = {clean(name): name for name in names}
    true_columns = {clean(name): name for name in true_names}
    n_shared = len(columns.keys() & true_columns.keys())
    one_sided = columns.keys() ^ true_columns.keys()
    max_one_sided = max(1, n_shared // _SHARED_PER_ONE_SIDED)
    if n_shared < _MIN_SHARED_COLUMNS or len(one_sided) > max_one_sided:
        return []
    all_columns = {**columns, **true_columns}
    return sorted(all_columns[name] for name in one_sided)


def _is_flag(name: str, pred: Lists, truth: Lists) -> bool:
    """Return whether a column is named as a flag of items, with the same cells on both sides."""
    if not _ITEM_FLAG.fullmatch(name) or name not in truth.vocabulary:
        return False
    return _cells_of_column(pred, name) == _cells_of_column(truth, name)


def _cells_of_column(lists: Lists, name: str) -> dict[str, float]:
    """Return the values of a column that are not 0, by the ids of the items."""
    side = lists.side
    is_in_column = side.codes == lists.vocabulary.index(name)
    rows = row_numbers(side.indptr)[is_in_column].tolist()
    scores = np.ones(len(rows))
    if side.scores is not None:
        scores = side.scores[is_in_column]
    cells = {}
    for row, score in zip(rows, scores.tolist(), strict=True):
        if score:
            cells[str(lists.ids[row])] = score
    return cells


def _header_notes(classes: Any, inputs: Sequence[Any]) -> list[Fact]:
    """Return a note on a class list whose first class is the header of a column.

    No item has such a class.
    """
    if not classes or not inputs or not _are_lists(inputs):
        return []
    first_class = classes[0]
    if not isinstance(first_class, str):
        return []
    if first_class.strip().casefold() not in _CLASS_HEADERS:
        return []
    for lists in inputs:
        for code in np.unique(lists.side.codes).tolist():
            if first_class in lists.terms[code]:
                return []
    return [Fact("header-as-class", values={"name": first_class})]
