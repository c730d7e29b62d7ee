"""Find probable mistakes in the labels of a task.

Mistakes are found by looking at the distinct labels, and are counted by looking up the codes of
all labels. `semmetrics.kinds.labels.mistake_notes` makes notes of the observations.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.data.cells import MISSING_TEXTS
from semmetrics.data.lists import Lists
from semmetrics.data.observations import Observations
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.kinds.labels import MIN_WORDS_OF_SENTENCE
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
    DELIMITERS,
    WORD_DELIMITERS,
    are_joined,
    are_joined_words,
    are_permuted,
    are_split_by_other,
    find_joined,
    has_parts,
)
from semmetrics.kinds.labels.observation_codes import (
    HAS_NAMES,
    JOINED_LABELS,
    LISTS_AS_TEXT,
    MISSING_VALUES,
    OF_WHOLE_DATA,
    ONE_SIDED_LABELS,
)
from semmetrics.kinds.labels.occurring_labels import SIDES, OccurringLabels
from semmetrics.kinds.labels.predicted_scores import observe_scores
from semmetrics.kinds.labels.spelling import (
    observe_alike_predictions,
    observe_alike_references,
    observe_encodings,
)
from semmetrics.kinds.side_observations import observe_swapped_sides, observe_words

LIST_AS_TEXT = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")
"""A list written as text, or its first or last part."""
_MIN_DISTINCT = 10  # distinct labels, and items, below which shares mean little
_MAX_SHARED = {"pred": 0.05, "ref": 0.01}
"""The largest share of a side's labels that is hardly any."""


def find_oddities(task: LabelTask, pred: Lists, ref: Lists) -> Observations:
    """Find probable mistakes in a task.

    Parameters
    ----------
    task : LabelTask
    pred, ref : Lists
        The normalised inputs of the task.
    """
    labels = OccurringLabels.of(task)
    observations = observe_swapped_sides(pred, ref)
    observations.of_whole_data.update(OF_WHOLE_DATA)
    observe_scores(observations, pred, task.pred, task.ref)
    if not task.labels_are_numbers:
        observations.count(HAS_NAMES, 1)
    observe_encodings(observations, labels)
    if task.ranked:
        _observe_unscored(observations, labels)
        return observations
    names = {side: labels.names(labels.on_side[side]) for side in SIDES}
    has_joined = _observe_joined(observations, labels, names)
    _observe_sentences(observations, labels, names)
    _observe_missing(observations, labels)
    is_unknown = labels.on_side["pred"] & ~labels.is_known
    if is_unknown.any():
        has_alike = observe_alike_predictions(observations, labels, is_unknown)
        if not has_alike and not has_joined:
            _observe_one_sided(observations, labels, is_unknown)
    observe_alike_references(observations, labels, names["ref"])
    return observations


# ---- several labels in one ----------------------------------------------------------------------


def _observe_joined(
    observations: Observations,
    labels: OccurringLabels,
    names: Mapping[str, Sequence[str]],
) -> bool:
    """Observe labels that look like several labels, and return whether there are any."""
    has_joined = False
    for side, names_of_side in names.items():
        # The first condition is fast, and nearly always false.
        lists_as_text = [
            n for n in names_of_side if "[" in n and LIST_AS_TEXT.search(n)
        ]
        if lists_as_text:
            has_joined = True
            n_labels = _count_labels(labels, side, _is_list_as_text)
            observations.count(LISTS_AS_TEXT, n_labels, side)
            observations.add_names(LISTS_AS_TEXT, lists_as_text[:1], side)
            continue
        for delimiter in _joining_delimiters(labels, side, names):
            has_joined = True
            _count_joined(observations, labels, side, names_of_side, delimiter)
    return has_joined


def _count_joined(
    observations: Observations,
    labels: OccurringLabels,
    side: str,
    names: Sequence[str],
    delimiter: str,
) -> None:
    """Count the labels of a side that contain a delimiter, with the first as an example."""
    n_labels = _count_labels(labels, side, partial(has_parts, delimiter=delimiter))
    example = find_joined(names, delimiter)[0]
    observations.count(JOINED_LABELS, n_labels, side, delimiter)
    observations.add_names(JOINED_LABELS, [example], side, delimiter)


def _is_list_as_text(name: str) -> bool:
    """Return whether a label is a list written as text, or a part of one."""
    return LIST_AS_TEXT.search(name) is not None


def _count_labels(
    labels: OccurringLabels, side: str, is_counted: Callable[[str], bool]
) -> int:
    """Count the labels of a side for whose names a function returns true."""
    flags = list(map(is_counted, labels.task.classes))
    is_chosen = np.array(flags, np.bool_)
    codes = labels.side(side).codes
    return int(is_chosen[codes].sum())


def _joining_delimiters(
    labels: OccurringLabels, side: str, names: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the delimiters that separate several labels in one label of a side."""
    other_side = "ref" if side == "pred" else "pred"
    own_names = names[side]
    other_names = names[other_side]
    text = "".join(own_names)
    joining = []
    others = []
    for delimiter in ALL_DELIMITERS:
        if delimiter not in text:
            continue
        if delimiter in DELIMITERS and _separates(delimiter, own_names, other_names):
            joining.append(delimiter)
        else:
            others.append(delimiter)
    own_lists = labels.side(side)
    if own_lists.sizes.max(initial=0) > 1:  # its labels are separated already
        return joining
    other_lists = labels.side(other_side)
    classes = labels.task.classes
    for delimiter in others:
        is_joining = _separates_words(delimiter, own_names, other_names)
        if not is_joining:
            is_joining = are_split_by_other(classes, own_lists, other_lists, delimiter)
        if is_joining:
            joining.append(delimiter)
    return joining


def _separates(
    delimiter: str, names: Sequence[str], other_names: Sequence[str]
) -> bool:
    """Return whether a delimiter that is rare in names separates labels of a side.

    The labels of the other side are evidence only if none of them contains the delimiter.
    """
    joined = find_joined(names, delimiter)
    if not joined:
        return False
    if any(delimiter in name for name in other_names):
        return are_joined(joined, names, delimiter)
    return are_joined(joined, names, delimiter, other_names)


def _separates_words(
    delimiter: str, names: Sequence[str], other_names: Sequence[str]
) -> bool:
    """Return whether a delimiter separates labels of a side that has one label per item."""
    if delimiter in WORD_DELIMITERS and are_joined_words(names, other_names, delimiter):
        return True
    return are_permuted(names, other_names, delimiter)


# ---- other mistakes -----------------------------------------------------------------------------


def _observe_sentences(
    observations: Observations,
    labels: OccurringLabels,
    names: Mapping[str, Sequence[str]],
) -> None:
    """Observe sides whose labels look like captions."""
    for side, is_on_side in labels.on_side.items():
        longest = max((1 + name.count(" ") for name in names[side]), default=0)
        if longest < MIN_WORDS_OF_SENTENCE:  # nearly always
            continue
        n_words = np.zeros(len(is_on_side), np.int64)
        first_terms = [terms[0] for terms in labels.terms(is_on_side)]
        n_words[is_on_side] = [1 + term.count(" ") for term in first_terms]
        codes = labels.side(side).codes
        total = int(n_words[codes].sum())
        if total and total >= MIN_WORDS_OF_SENTENCE * len(codes):
            observations.merge(observe_words(side, total, len(codes)))


def _observe_missing(observations: Observations, labels: OccurringLabels) -> None:
    """Observe labels such as "nan" that are the only label of an item.

    Such a label is a name if the class list has it, or if both sides have it and every item has a
    label.
    """
    task = labels.task
    missing_codes = []
    for code, name in enumerate(task.classes):
        if name.casefold() in MISSING_TEXTS:
            missing_codes.append(code)
    if not missing_codes or task.n_listed is not None:
        return
    has_empty_items = any((side.sizes == 0).any() for side in (task.pred, task.ref))
    codes_on_both = np.intersect1d(task.pred.codes, task.ref.codes)
    for side_name in SIDES:
        side = labels.side(side_name)
        is_only_label = np.repeat(side.sizes == 1, side.sizes)
        is_missing = is_only_label & np.isin(side.codes, missing_codes)
        if not has_empty_items:
            is_missing &= ~np.isin(side.codes, codes_on_both)
        if is_missing.any():
            first_code = int(side.codes[is_missing].min())
            observations.count(MISSING_VALUES, int(is_missing.sum()), side_name)
            observations.add_names(
                MISSING_VALUES, [task.classes[first_code]], side_name
            )


def _observe_unscored(observations: Observations, labels: OccurringLabels) -> None:
    """Observe reference labels without a score, if every item has scores of the same labels.

    A scored label that is never true is common, because a model has rare classes. A true label
    that is never scored is probably spelled differently in the predictions.
    """
    is_unscored = labels.on_side["ref"] & ~labels.on_side["pred"]
    if not is_unscored.any():
        return
    is_unknown = labels.on_side["pred"] & ~labels.is_known
    if observe_alike_predictions(observations, labels, is_unknown):
        return
    _count_one_sided(observations, labels, "ref", is_unscored)


def _observe_one_sided(
    observations: Observations, labels: OccurringLabels, is_unknown: Bools
) -> None:
    """Observe a side if hardly any of its labels occurs on the other side.

    Parameters
    ----------
    observations : Observations
        Observations are added here.
    labels : OccurringLabels
    is_unknown : bool array, shape (classes,)
        The predicted labels that are neither reference labels nor classes.
    """
    on_side = labels.on_side
    n_distinct = min(int(is_on_side.sum()) for is_on_side in on_side.values())
    is_small = min(len(labels.task), n_distinct) < _MIN_DISTINCT
    if is_small and not _are_numbers_and_names(labels):
        return
    unpredicted = on_side["ref"] & ~on_side["pred"]
    for side, is_one_sided in (("pred", is_unknown), ("ref", unpredicted)):
        codes = labels.side(side).codes
        n_one_sided = int(is_one_sided[codes].sum())
        if n_one_sided > (1 - _MAX_SHARED[side]) * len(codes):
            _count_one_sided(observations, labels, side, is_one_sided)


def _count_one_sided(
    observations: Observations, labels: OccurringLabels, side: str, is_one_sided: Bools
) -> None:
    """Count the occurrences of labels that only one side has, and all labels of that side."""
    codes = labels.side(side).codes
    first_terms = labels.terms(is_one_sided)[0]
    observations.count(ONE_SIDED_LABELS, int(is_one_sided[codes].sum()), side, "alone")
    observations.count(ONE_SIDED_LABELS, len(codes), side, "all")
    observations.add_names(ONE_SIDED_LABELS, [first_terms[0]], side, "alone")


def _are_numbers_and_names(labels: OccurringLabels) -> bool:
    """Return whether all labels of one side are numbers, and no label of the other is."""
    shares = []
    for is_on_side in labels.on_side.values():
        names = labels.names(is_on_side)
        if not names:
            return False
        n_numbers = sum(name.isdecimal() for name in names)
        shares.append(n_numbers / len(names))
    return sorted(shares) == [0, 1]
