"""Find what is probably a mistake in label sets.

Conventions
-----------
Everything is found by vocabulary, and counted by occurrence with one look at the codes. Findings
are counts, which parts of the data add up, and sets of examples, which they unite (``Task.odd``);
`semmetrics.kinds.labels.facts` makes notes of these alone.

Labels are *alike* if they differ only by case, by white space, ``_`` or ``-``, or by an English
plural. A predicted label is looked at only if it is not itself a reference label or a class.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from itertools import chain, combinations, compress, repeat
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, row_numbers, sum_rows
from semmetrics.data.cells import MISSING_TEXTS
from semmetrics.data.lists import Lists, Side
from semmetrics.data.tasks import BESIDE, UNUSED, LabelTask
from semmetrics.kinds import common
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

Odd = dict[Hashable, Any]
"""What was found in a task: counts, which parts add up, and sets, which they unite."""
STEPS = {
    "lower": "case or surrounding blanks",
    "separators": "blanks, _ or -",
    "plural": "plural",
}
"""Normalisations that join labels that are alike, and what they make equal."""
# or an end of one
LIST_AS_TEXT = re.compile(r"""^\s*\[\s*['"]|['"]\s*\]\s*$|^\s*\[\s*\]\s*$""")
ALIKE, HELD, LONE = (
    f"{BESIDE}{name}" for name in ("alike", "delimiter", "lone labels")
)
ENCODED = f"{BESIDE}encoding"
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


def find_oddities(task: LabelTask, pred: Lists, ref: Lists) -> Odd:
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
    found: Odd = {
        **common.swapped_sides(pred, ref),
        **_find_scores(pred, task.pred, task.ref),
    }
    found |= {} if task.numbered else {NAMED: 1}
    found |= _find_encodings(task, present, known)
    if task.ranked:  # every class has a score in every item
        return found
    names = {side: _names(task, chosen) for side, chosen in present.items()}
    joined = _find_delimiters(task, names)
    found |= joined | _find_sentences(task, present, names)
    found |= _find_missing(task)
    lone = present["pred"] & ~known
    if lone.any():
        similar = _find_alike(task, lone, known)
        found |= similar or ({} if joined else _find_strangers(task, present, lone))
    return found | _find_doubles(task, names["ref"])


def _find_scores(pred: Lists, predicted: Side, true: Side) -> Odd:
    """Find scores and the order of labels, of the items that are evaluated."""
    found: Odd = {}
    if pred.side.scores is None:
        found |= _find_order(pred, predicted)
    elif true.scores is not None and (true.scores != 1).any():
        found[SCORES, "ref"] = 1  # of the ground truth alone: the sides look swapped
    if true.scores is not None and (true.scores == -1).any():
        found[MINUS, "ref"] = 1
    if predicted.scores is not None and len(predicted.scores):
        found[SCORES, "pred", "low"] = int((predicted.scores < _LOW).sum())
        found[SCORES, "pred", "all"] = len(predicted.scores)
        found[SCORES, "pred", "highest"] = frozenset(
            [repr(float(predicted.scores.max()))]
        )
        found[SCORES, "pred", "lowest"] = frozenset(
            [repr(float(predicted.scores.min()))]
        )
    return found


def _find_order(pred: Lists, predicted: Side) -> Odd:
    """Find what tells the order of predicted labels without scores, and columns not used for it."""
    found: Odd = {}
    if pred.order:
        found[ORDER, pred.order] = 1
    # 0/1: the highest is 1
    if pred.order in ("columns", "keys") and len(predicted.codes):
        found[SCORES, "pred", "highest"] = frozenset(["1.0"])
    unused = frozenset(
        str(note) for note in pred.notes if note.code == "unused-columns"
    )
    if unused:
        found[UNUSED] = unused
    columns = _columns_like_scores(pred)
    if columns:
        found[ORDER, "file"] = columns
    return found


def _columns_like_scores(pred: Lists) -> frozenset[str]:
    """Return the columns that are not used and, by their names, may have the scores of labels."""
    columns = []
    for note in pred.notes:
        if note.code == "unused-columns":
            columns += [name for name in note.examples if _SCORE_NAME.search(name)]
    return frozenset(columns)


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


def _find_alike(task: LabelTask, lone: Bools, known: Bools) -> Odd:
    """Find predicted labels that a normalisation makes reference labels."""
    names, others = _names(task, known), _names(task, lone)
    # the first stays
    targets = dict(zip(reversed(_folded(names)), reversed(names), strict=True))
    widths = [len(terms) for terms in _terms(task, lone)]
    codes = np.repeat(np.flatnonzero(lone), widths).tolist()
    pairs: dict[int, tuple[str, str]] = {}
    for code, term, fold in zip(codes, others, _folded(others), strict=True):
        if fold and fold in targets:
            pairs.setdefault(code, (term, targets[fold]))
    return _count_alike(task, "pred", pairs)


def _find_encodings(task: LabelTask, present: Mapping[str, Bools], known: Bools) -> Odd:
    """Find labels of a side that look the same as others of the other side, and are not equal."""
    sides = {"pred": (present["pred"], known), "ref": (present["ref"], present["pred"])}
    for side, (chosen, of_other) in sides.items():
        pairs = differently_encoded(
            _names(task, chosen & ~of_other), _names(task, of_other)
        )
        if pairs:
            label, other = min(pairs.items())
            held = [
                not pairs.keys().isdisjoint(terms) for terms in _terms(task, chosen)
            ]
            touched = np.zeros(len(task.classes), np.bool_)
            touched[np.flatnonzero(chosen)[held]] = True
            number = int(touched[getattr(task, side).codes].sum())
            example = frozenset([f"{label!a} and {other!a}"])
            return {(ENCODED, side): number, ("example", ENCODED, side): example}
    return {}


def _find_doubles(task: LabelTask, names: Sequence[str]) -> Odd:
    """Find reference labels that are written in several ways; a class list means its classes."""
    # as a rule
    if task.given is not None or len(set(_lower_lines(names))) == len(names):
        return {}
    fold, true = normalization("lower+separators"), task.axis.n_reference > 0
    written: dict[str, dict[int, str]] = {}
    for code, terms in zip(
        np.flatnonzero(true).tolist(), _terms(task, true), strict=True
    ):
        for term in terms:
            if folded := fold(term):  # nothing is left of separators alone
                written.setdefault(folded[0], {}).setdefault(code, term)
    pairs: dict[int, tuple[str, str]] = {}
    for several in written.values():
        first, *others = dict.fromkeys(several.values())  # labels may share a synonym
        for code, term in several.items() if others else ():
            pairs.setdefault(code, (others[0] if term == first else term, first))
    return _count_alike(task, "ref", pairs)


def _count_alike(
    task: LabelTask, side: str, pairs: Mapping[int, tuple[str, str]]
) -> Odd:
    """Count the labels of a side that have another that is alike, and name what makes them equal.

    Of the normalisations the fewest are named that join the two of a pair.
    """
    if not pairs:
        return {}
    mine: Side = getattr(task, side)
    chosen = np.zeros(len(task.classes), np.bool_)
    chosen[list(pairs)] = True
    touched = chosen[mine.codes]
    one, other = pairs[min(pairs)]
    found: Odd = {
        (ALIKE, side, "labels"): int(touched.sum()),
        (ALIKE, side, "items"): int((sum_rows(touched, mine.indptr) > 0).sum()),
        ("example", ALIKE, side, "labels"): frozenset([f"{one!r} and {other!r}"]),
    }
    left, sizes = set(pairs.values()), range(1, len(STEPS) + 1)
    for steps in chain.from_iterable(combinations(STEPS, size) for size in sizes):
        clean = normalization("+".join(steps))
        joined = {pair for pair in left if clean(pair[0]) == clean(pair[1])}
        found |= {(ALIKE, side, step): 1 for step in steps} if joined else {}
        left -= joined
    return found


def _folded(terms: Sequence[str]) -> list[str]:
    """Return what labels that are alike have in common: what all normalisations of STEPS make."""
    return [singular(" ".join(line.split())) for line in _lower_lines(terms)]


def _lower_lines(terms: Sequence[str]) -> list[str]:
    """Return labels in lower case with blanks for separators: in one text, which is faster."""
    lines = "\n".join(terms).lower().replace("_", " ").replace("-", " ").split("\n")
    if len(lines) == len(terms):
        return lines
    return [line for term in terms for line in _lower_lines([term.replace("\n", " ")])]


def _find_delimiters(task: LabelTask, names: Mapping[str, Sequence[str]]) -> Odd:
    """Find labels of a side that look like several labels in one."""
    found: Odd = {}
    for side, mine in names.items():
        lists = [name for name in mine if "[" in name and LIST_AS_TEXT.search(name)]
        holders: dict[tuple[str, ...], tuple[str, set[str]]] = {}
        if lists:
            holders[WRITTEN, side] = (
                lists[0],
                set(filter(LIST_AS_TEXT.search, task.classes)),
            )
        else:
            for delimiter in _joining_delimiters(task, side, names):
                joined = [name for name in mine if has_parts(name, delimiter)]
                held = {name for name in task.classes if has_parts(name, delimiter)}
                holders[HELD, side, delimiter] = joined[0], held
        for key, (example, some) in holders.items():
            chosen = np.array([name in some for name in task.classes], np.bool_)
            n = int(chosen[getattr(task, side).codes].sum())
            found |= {key: n, ("example", *key): frozenset([example])}
    return found


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


def _find_sentences(
    task: LabelTask, present: Mapping[str, Bools], names: Mapping[str, Sequence[str]]
) -> Odd:
    """Find sides whose labels look like captions."""
    found: Odd = {}
    for side, chosen in present.items():
        if max(map(str.count, names[side], repeat(" ")), default=0) + 1 < SENTENCE:
            continue
        words = np.zeros(len(task.classes), np.int64)
        words[chosen] = [1 + terms[0].count(" ") for terms in _terms(task, chosen)]
        codes = getattr(task, side).codes
        total = int(words[codes].sum())
        if total and total >= SENTENCE * len(codes):
            found |= common.note_words(side, total, len(codes))
    return found


def _find_missing(task: LabelTask) -> Odd:
    """Find labels such as "nan" that are the only label of an item.

    Such a label is a name if the class list or both sides have it and every item has a label.
    """
    classes = [name.casefold() for name in task.classes]
    wanted = [code for code, name in enumerate(classes) if name in MISSING_TEXTS]
    if not wanted or task.given is not None:
        return {}
    has_empty_items = any((side.sizes == 0).any() for side in (task.pred, task.ref))
    sides = {"pred": task.pred, "ref": task.ref}
    on_both = np.intersect1d(task.pred.codes, task.ref.codes)
    found: Odd = {}
    for name, side in sides.items():
        is_alone = np.repeat(side.sizes == 1, side.sizes)
        chosen = is_alone & np.isin(side.codes, wanted)
        if not has_empty_items:
            chosen &= ~np.isin(side.codes, on_both)
        if chosen.any():
            example = task.classes[int(side.codes[chosen].min())]
            found |= {
                (MISSING, name): int(chosen.sum()),
                ("example", MISSING, name): frozenset([example]),
            }
    return found


def _find_strangers(task: LabelTask, present: Mapping[str, Bools], lone: Bools) -> Odd:
    """Find out whether hardly any label of a side occurs on the other."""
    found: Odd = {}
    n_distinct = min(int(chosen.sum()) for chosen in present.values())
    is_small = min(len(task), n_distinct) < _DISTINCT
    if is_small and not _are_numbers_and_names(task, present):
        return found
    for side, chosen in (("pred", lone), ("ref", present["ref"] & ~present["pred"])):
        codes = getattr(task, side).codes
        alone = int(chosen[codes].sum())
        if alone > (1 - _HARDLY[side]) * len(codes):
            found |= {(LONE, side, "alone"): alone, (LONE, side, "all"): len(codes)}
            found["example", LONE, side, "alone"] = frozenset(
                [_terms(task, chosen)[0][0]]
            )
    return found


def _are_numbers_and_names(task: LabelTask, present: Mapping[str, Bools]) -> bool:
    """Tell whether all labels of one side are numbers, and no label of the other is."""
    shares = []
    for chosen in present.values():
        names = _names(task, chosen)
        numbers = [name for name in names if name.isdecimal()]
        shares.append(len(numbers) / len(names) if names else 0.5)
    return sorted(shares) == [0, 1]


def find_probabilities(pred: Side, activation: str) -> Odd:
    """Count the items with scores, and those whose scores an activation may have made already.

    Parameters
    ----------
    pred : Side
        Predictions before the activation.
    activation : {"sigmoid", "softmax"}
        The scores of "sigmoid" are in [0, 1]. Those of "softmax" also sum to 1.
    """
    if pred.scores is None:
        return {}
    is_outside = (pred.scores < -ROUNDING) | (pred.scores > 1 + ROUNDING)
    is_probable = sum_rows(is_outside, pred.indptr) == 0
    if activation == "softmax":
        totals = np.bincount(row_numbers(pred.indptr), pred.scores, len(pred))
        is_probable &= np.abs(totals - 1) <= _SUM_ROUNDING
    is_scored = np.diff(pred.indptr) > 0
    n_probable = int((is_probable & is_scored).sum())
    return {SCORED: int(is_scored.sum()), PROBABLE: n_probable}


def find_odd_terms(models: Mapping[str, Any]) -> Odd:
    """Find the terms that embeddings do not know, or only in part; those read in part are counted.

    Parameters
    ----------
    models : mapping from name to LabelVectors
    """
    found: Odd = {}
    for name, model in models.items():
        zeros = (
            model.known & ~model.vectors.any(axis=1)
            if model.counts["zero_vectors"]
            else _NO
        )
        flags = (~model.known, model.composed, model.untuned, zeros)
        for what, some in zip(FLAGS, flags, strict=True):
            if some.any():
                found[TERMS, what, name] = frozenset(
                    compress(model.terms, some.tolist())
                )
        if model.counts["truncated"]:
            found[TERMS, "truncated", name] = model.counts["truncated"]
    return found


def count_known_terms(models: Mapping[str, Any]) -> Odd:
    """Count the terms that each embedding knows."""
    return {
        (TERMS, "known", name): int(model.known.sum()) for name, model in models.items()
    }
