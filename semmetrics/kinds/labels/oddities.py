"""Find what is probably a mistake in label sets.

Conventions
-----------
Everything is found by vocabulary, and counted by occurrence with one look at the codes.
`semmetrics.kinds.labels.notes` makes notes of the observations.

Labels are *alike* if they differ only by case, by white space, ``_`` or ``-``, or by an English
plural. A predicted label is looked at only if it is not itself a reference label or a class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, compress, repeat
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, row_numbers, sum_rows
from semmetrics.data.cells import MISSING_TEXTS
from semmetrics.data.lists import Lists, Side
from semmetrics.data.observations import Observations
from semmetrics.data.tasks import UNUSED, LabelTask
from semmetrics.kinds import side_observations
from semmetrics.kinds.labels.joined import (
    ALL_DELIMITERS,
    DELIMITERS,
    WORD_DELIMITERS,
    are_joined,
    are_joined_words,
    are_permuted,
    are_split_by_other,
    has_parts,
)
from semmetrics.kinds.labels.normalization import (
    differently_encoded,
    normalization,
    singular,
)

STEPS = {
    "lower": "case or surrounding blanks",
    "separators": "blanks, _ or -",
    "plural": "plural",
}
"""Normalisations that join labels that are alike, and what they make equal."""
# or an end of one
LIST_AS_TEXT = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")
ALIKE, HELD, LONE, ENCODED = "alike", "delimiter", "lone labels", "encoding"
_OF_WHOLE_DATA = (ALIKE, HELD, LONE, ENCODED)
"""Observations that are true only for all items together."""
MINUS = "scores of -1"
WRITTEN, SCORES, ORDER = "lists as text", "scores", "order"
SCORED, PROBABLE = "items with scores", "items with probabilities"
UNVERIFIED, LEFT_OUT = "unverified cells", "unverified predicted labels"
SHARED, IGNORED, DIFFICULT = (
    "terms of several classes",
    "labels to ignore",
    "difficult labels",
)
PLACED = "labels in the taxonomy"
MISSING = "missing values"
WITH_PARENTS = "labels with parents in the taxonomy"
NAMED, TERMS = "labels that are no numbers", "terms"
FLAGS = ("unknown", "composed", "untuned", "zero_vectors")  # of terms in an embedding
SENTENCE = 5.0  # mean words of a label above which labels look like captions
ROUNDING = 1e-3  # by which a probability may be outside [0, 1]
_SUM_ROUNDING = 1e-2  # by which the probabilities of an item may not sum to 1
_NO = np.zeros(1, np.bool_)
_DISTINCT = 10  # distinct labels and items below which a share says little
_HARDLY = {"pred": 0.05, "ref": 0.01}  # shares of occurrences
_LOW = 0.5  # lists of what a tagger is sure of have no lower scores
_SCORE_NAME = re.compile(
    r"score|prob(?!lem)|conf(?!irm)|logit|softmax|sigmoid|certain|likelihood|similar|rank|distance",
    re.IGNORECASE,
)


def find_oddities(task: LabelTask, pred: Lists, ref: Lists) -> Observations:
    """Find what is probably a mistake in a task.

    Parameters
    ----------
    task : LabelTask
    pred, ref : Lists
        What it was made of, normalised.
    """
    present = {"pred": task.axis.n_prediction > 0, "ref": task.axis.n_reference > 0}
    known = present["ref"].copy()
    known[: task.given or 0] = True
    observations = side_observations.swapped_sides(pred, ref)
    observations.of_whole_data.update(_OF_WHOLE_DATA)
    _observe_scores(observations, pred, task.pred, task.ref)
    if not task.numbered:
        observations.count(NAMED, 1)
    _observe_encodings(observations, task, present, known)
    if task.ranked:  # every class has a score in every item
        return observations
    names = {side: _names(task, chosen) for side, chosen in present.items()}
    has_joined = _observe_delimiters(observations, task, names)
    _observe_sentences(observations, task, present, names)
    _observe_missing(observations, task)
    lone = present["pred"] & ~known
    if lone.any():
        has_similar = _observe_alike(observations, task, lone, known)
        if not has_similar and not has_joined:
            _observe_strangers(observations, task, present, lone)
    _observe_doubles(observations, task, names["ref"])
    return observations


def _observe_scores(
    observations: Observations, pred: Lists, predicted: Side, true: Side
) -> None:
    """Find scores and the order of labels, of the items that are evaluated."""
    if pred.side.scores is None:
        _observe_order(observations, pred, predicted)
    elif true.scores is not None and (true.scores != 1).any():
        # Scores of the ground truth only mean that the sides look swapped.
        observations.count(SCORES, 1, "ref")
    if true.scores is not None and (true.scores == -1).any():
        observations.count(MINUS, 1, "ref")
    if predicted.scores is not None and len(predicted.scores):
        n_low = int((predicted.scores < _LOW).sum())
        observations.count(SCORES, n_low, "pred", "low")
        observations.count(SCORES, len(predicted.scores), "pred", "all")
        highest = repr(float(predicted.scores.max()))
        lowest = repr(float(predicted.scores.min()))
        observations.add_names(SCORES, [highest], "pred", "highest")
        observations.add_names(SCORES, [lowest], "pred", "lowest")


def _observe_order(observations: Observations, pred: Lists, predicted: Side) -> None:
    """Find what tells the order of predicted labels without scores, and columns not used for it."""
    if pred.order:
        observations.count(ORDER, 1, pred.order)
    if pred.order in ("columns", "keys") and len(predicted.codes):
        observations.add_names(SCORES, ["1.0"], "pred", "highest")
    unused = [str(note) for note in pred.notes if note.code == "unused-columns"]
    if unused:
        observations.add_names(UNUSED, unused)
    columns = _columns_like_scores(pred)
    if columns:
        observations.add_names(ORDER, columns, "file")


def _columns_like_scores(pred: Lists) -> list[str]:
    """Return the columns that are not used and, by their names, may have the scores of labels."""
    columns: list[str] = []
    for note in pred.notes:
        if note.code == "unused-columns":
            columns += [name for name in note.examples if _SCORE_NAME.search(name)]
    return columns


def _terms(task: LabelTask, chosen: Bools) -> list[tuple[str, ...]]:
    codes = np.flatnonzero(chosen).tolist()
    return [
        (task.classes[code],) if task.terms is None else task.terms[code]
        for code in codes
    ]


def _names(task: LabelTask, chosen: Bools) -> list[str]:
    """Return all terms of the classes chosen."""
    if task.terms is None:
        return list(compress(task.classes, chosen.tolist()))
    return [term for terms in _terms(task, chosen) for term in terms]


def _observe_alike(
    observations: Observations, task: LabelTask, lone: Bools, known: Bools
) -> bool:
    """Find predicted labels that a normalisation makes reference labels; return whether any are."""
    names = _names(task, known)
    others = _names(task, lone)
    # Of equal folded names, the first is the target.
    targets = dict(zip(reversed(_folded(names)), reversed(names), strict=True))
    widths = [len(terms) for terms in _terms(task, lone)]
    codes = np.repeat(np.flatnonzero(lone), widths).tolist()
    pairs: dict[int, tuple[str, str]] = {}
    for code, term, fold in zip(codes, others, _folded(others), strict=True):
        if fold and fold in targets:
            pairs.setdefault(code, (term, targets[fold]))
    _count_alike(observations, task, "pred", pairs)
    return bool(pairs)


def _observe_encodings(
    observations: Observations,
    task: LabelTask,
    present: Mapping[str, Bools],
    known: Bools,
) -> None:
    """Find labels of a side that look the same as others of the other side, and are not equal."""
    sides = {"pred": (present["pred"], known), "ref": (present["ref"], present["pred"])}
    for side, (chosen, of_other) in sides.items():
        own_names = _names(task, chosen & ~of_other)
        pairs = differently_encoded(own_names, _names(task, of_other))
        if not pairs:
            continue
        has_pair = [
            not pairs.keys().isdisjoint(terms) for terms in _terms(task, chosen)
        ]
        is_touched = np.zeros(len(task.classes), np.bool_)
        is_touched[np.flatnonzero(chosen)[has_pair]] = True
        codes = _side_of(task, side).codes
        observations.count(ENCODED, int(is_touched[codes].sum()), side)
        label, other = min(pairs.items())
        observations.add_names(ENCODED, [f"{label!a} and {other!a}"], side)
        return


def _observe_doubles(
    observations: Observations, task: LabelTask, names: Sequence[str]
) -> None:
    """Find reference labels that are written in several ways; a class list means its classes."""
    if task.given is not None or len(set(_lower_lines(names))) == len(names):
        return
    fold = normalization("lower+separators")
    is_true = task.axis.n_reference > 0
    true_codes = np.flatnonzero(is_true).tolist()
    written: dict[str, dict[int, str]] = {}
    for code, terms in zip(true_codes, _terms(task, is_true), strict=True):
        for term in terms:
            folded = fold(term)
            if folded:  # nothing is left of a label that is only separators
                written.setdefault(folded[0], {}).setdefault(code, term)
    pairs: dict[int, tuple[str, str]] = {}
    for terms_by_code in written.values():
        # Labels may share a synonym, which is one term.
        first, *others = dict.fromkeys(terms_by_code.values())
        if not others:
            continue
        for code, term in terms_by_code.items():
            other = others[0] if term == first else term
            pairs.setdefault(code, (other, first))
    _count_alike(observations, task, "ref", pairs)


def _count_alike(
    observations: Observations,
    task: LabelTask,
    side: str,
    pairs: Mapping[int, tuple[str, str]],
) -> None:
    """Count the labels of a side that have another that is alike, and name what makes them equal.

    The smallest sets of normalisations that join the two labels of a pair are named.
    """
    if not pairs:
        return
    labels = _side_of(task, side)
    has_alike = np.zeros(len(task.classes), np.bool_)
    has_alike[list(pairs)] = True
    is_touched = has_alike[labels.codes]
    n_items = int((sum_rows(is_touched, labels.indptr) > 0).sum())
    label, other = pairs[min(pairs)]
    observations.count(ALIKE, int(is_touched.sum()), side, "labels")
    observations.count(ALIKE, n_items, side, "items")
    observations.add_names(ALIKE, [f"{label!r} and {other!r}"], side, "labels")
    left = set(pairs.values())
    for size in range(1, len(STEPS) + 1):
        for steps in combinations(STEPS, size):
            clean = normalization("+".join(steps))
            joined = {pair for pair in left if clean(pair[0]) == clean(pair[1])}
            left -= joined
            if joined:
                for step in steps:
                    if not observations.has(ALIKE, side, step):
                        observations.count(ALIKE, 1, side, step)


def _side_of(task: LabelTask, name: str) -> Side:
    """Return the side of a task with this name, "pred" or "ref"."""
    if name == "pred":
        return task.pred
    return task.ref


def _folded(terms: Sequence[str]) -> list[str]:
    """Return what labels that are alike have in common: what all normalisations of STEPS make."""
    return [singular(" ".join(line.split())) for line in _lower_lines(terms)]


def _lower_lines(terms: Sequence[str]) -> list[str]:
    """Return labels in lower case with blanks for separators: in one text, which is faster."""
    lines = "\n".join(terms).lower().replace("_", " ").replace("-", " ").split("\n")
    if len(lines) == len(terms):
        return lines
    return [line for term in terms for line in _lower_lines([term.replace("\n", " ")])]


def _observe_delimiters(
    observations: Observations, task: LabelTask, names: Mapping[str, Sequence[str]]
) -> bool:
    """Find labels of a side that look like several labels in one; return whether there are any."""
    has_joined = False
    for side, side_names in names.items():
        lists = [n for n in side_names if "[" in n and LIST_AS_TEXT.search(n)]
        if lists:
            has_joined = True
            holders = {name for name in task.classes if LIST_AS_TEXT.search(name)}
            observations.count(WRITTEN, _count_labels(task, side, holders), side)
            observations.add_names(WRITTEN, [lists[0]], side)
            continue
        for delimiter in _joining_delimiters(task, side, names):
            has_joined = True
            joined = [name for name in side_names if has_parts(name, delimiter)]
            holders = {name for name in task.classes if has_parts(name, delimiter)}
            n_labels = _count_labels(task, side, holders)
            observations.count(HELD, n_labels, side, delimiter)
            observations.add_names(HELD, [joined[0]], side, delimiter)
    return has_joined


def _count_labels(task: LabelTask, side: str, classes: set[str]) -> int:
    """Count the labels of a side that belong to some classes."""
    is_chosen = np.array([name in classes for name in task.classes], np.bool_)
    return int(is_chosen[_side_of(task, side).codes].sum())


def _joining_delimiters(
    task: LabelTask, side: str, names: Mapping[str, Sequence[str]]
) -> list[str]:
    """Return the delimiters that separate several labels in one label of a side."""
    other_side = "ref" if side == "pred" else "pred"
    mine, others = names[side], names[other_side]
    own, other = getattr(task, side), getattr(task, other_side)
    text = "".join(mine)
    occurring = [delimiter for delimiter in ALL_DELIMITERS if delimiter in text]
    found = [
        one for one in occurring if one in DELIMITERS and _separates(one, mine, others)
    ]
    if own.sizes.max(initial=0) > 1:
        return found
    for delimiter in occurring:
        if delimiter in found:
            continue
        if _separates_words(delimiter, mine, others) or are_split_by_other(
            task.classes, own, other, delimiter
        ):
            found.append(delimiter)
    return found


def _separates(delimiter: str, mine: Sequence[str], others: Sequence[str]) -> bool:
    """Tell whether a delimiter that is hardly ever in a name separates labels of a side."""
    joined = [name for name in mine if has_parts(name, delimiter)]
    is_elsewhere = any(delimiter in name for name in others)
    return bool(joined) and are_joined(
        joined, mine, delimiter, None if is_elsewhere else others
    )


def _separates_words(
    delimiter: str, mine: Sequence[str], others: Sequence[str]
) -> bool:
    """Tell by the labels whether a delimiter separates words of a side with one label per item."""
    is_joined = delimiter in WORD_DELIMITERS and are_joined_words(
        mine, others, delimiter
    )
    return is_joined or are_permuted(mine, others, delimiter)


def _observe_sentences(
    observations: Observations,
    task: LabelTask,
    present: Mapping[str, Bools],
    names: Mapping[str, Sequence[str]],
) -> None:
    """Find sides whose labels look like captions."""
    for side, chosen in present.items():
        if max(map(str.count, names[side], repeat(" ")), default=0) + 1 < SENTENCE:
            continue
        words = np.zeros(len(task.classes), np.int64)
        words[chosen] = [1 + terms[0].count(" ") for terms in _terms(task, chosen)]
        codes = _side_of(task, side).codes
        n_words = int(words[codes].sum())
        if n_words and n_words >= SENTENCE * len(codes):
            observations.merge(side_observations.note_words(side, n_words, len(codes)))


def _observe_missing(observations: Observations, task: LabelTask) -> None:
    """Find labels such as "nan" that are the only label of an item.

    Such a label is a name if the class list or both sides have it and every item has a label.
    """
    classes = [name.casefold() for name in task.classes]
    wanted = [code for code, name in enumerate(classes) if name in MISSING_TEXTS]
    if not wanted or task.given is not None:
        return
    has_empty_items = any((side.sizes == 0).any() for side in (task.pred, task.ref))
    on_both = np.intersect1d(task.pred.codes, task.ref.codes)
    for name in ("pred", "ref"):
        side = _side_of(task, name)
        is_only_label = np.repeat(side.sizes == 1, side.sizes)
        is_missing = is_only_label & np.isin(side.codes, wanted)
        if not has_empty_items:
            is_missing &= ~np.isin(side.codes, on_both)
        if is_missing.any():
            example = task.classes[int(side.codes[is_missing].min())]
            observations.count(MISSING, int(is_missing.sum()), name)
            observations.add_names(MISSING, [example], name)


def _observe_strangers(
    observations: Observations,
    task: LabelTask,
    present: Mapping[str, Bools],
    lone: Bools,
) -> None:
    """Find out whether hardly any label of a side occurs on the other."""
    n_distinct = min(int(chosen.sum()) for chosen in present.values())
    is_small = min(len(task), n_distinct) < _DISTINCT
    if is_small and not _are_numbers_and_names(task, present):
        return
    lone_by_side = {"pred": lone, "ref": present["ref"] & ~present["pred"]}
    for side, is_lone in lone_by_side.items():
        codes = _side_of(task, side).codes
        n_lone = int(is_lone[codes].sum())
        if n_lone > (1 - _HARDLY[side]) * len(codes):
            observations.count(LONE, n_lone, side, "alone")
            observations.count(LONE, len(codes), side, "all")
            first_terms = _terms(task, is_lone)[0]
            observations.add_names(LONE, [first_terms[0]], side, "alone")


def _are_numbers_and_names(task: LabelTask, present: Mapping[str, Bools]) -> bool:
    """Tell whether all labels of one side are numbers, and no label of the other is."""
    shares = []
    for chosen in present.values():
        names = _names(task, chosen)
        numbers = [name for name in names if name.isdecimal()]
        shares.append(len(numbers) / len(names) if names else 0.5)
    return sorted(shares) == [0, 1]


def find_probabilities(pred: Side, activation: str) -> Observations:
    """Count the items with scores, and those whose scores an activation may have made already.

    Parameters
    ----------
    pred : Side
        Predictions before the activation.
    activation : {"sigmoid", "softmax"}
        The scores of "sigmoid" are in [0, 1]. Those of "softmax" also sum to 1.
    """
    observations = Observations()
    if pred.scores is None:
        return observations
    is_outside = (pred.scores < -ROUNDING) | (pred.scores > 1 + ROUNDING)
    is_probable = sum_rows(is_outside, pred.indptr) == 0
    if activation == "softmax":
        totals = np.bincount(row_numbers(pred.indptr), pred.scores, len(pred))
        is_probable &= np.abs(totals - 1) <= _SUM_ROUNDING
    is_scored = pred.sizes > 0
    observations.count(SCORED, int(is_scored.sum()))
    observations.count(PROBABLE, int((is_probable & is_scored).sum()))
    return observations


def observe_terms(observations: Observations, models: Mapping[str, Any]) -> None:
    """Observe the terms that embeddings do not know or only in part, and count truncated ones.

    Parameters
    ----------
    observations : Observations
        They are added here.
    models : mapping from name to LabelVectors
    """
    for name, model in models.items():
        is_zero = _NO
        if model.counts["zero_vectors"]:
            is_zero = model.known & ~model.vectors.any(axis=1)
        flags = (~model.known, model.composed, model.untuned, is_zero)
        for what, has_flag in zip(FLAGS, flags, strict=True):
            if has_flag.any():
                terms = compress(model.terms, has_flag.tolist())
                observations.add_names(TERMS, terms, what, name)
        if model.counts["truncated"]:
            n_truncated = model.counts["truncated"]
            observations.count(TERMS, n_truncated, "truncated", name)


def count_known_terms(observations: Observations, models: Mapping[str, Any]) -> None:
    """Count the terms that each embedding knows, and add the counts to observations."""
    for name, model in models.items():
        observations.count(TERMS, int(model.known.sum()), "known", name)
