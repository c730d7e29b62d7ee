"""Find labels that differ from others only by spelling.

Conventions
-----------
Labels are *alike* if they differ only by case, by white space, ``_`` or ``-``, or by an English
plural. A predicted label is compared only if it is neither a reference label nor a class.

Labels have different *encodings* if they look the same and are different sequences of characters,
such as a letter with an accent as one character or as two.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools, sum_rows
from semmetrics.data.observations import Observations
from semmetrics.kinds.labels.normalization import (
    normalization,
    singular,
)
from semmetrics.kinds.labels.observation_codes import (
    ALIKE_LABELS,
    OTHER_ENCODINGS,
    SPELLING_STEPS,
)
from semmetrics.kinds.labels.occurring_labels import OccurringLabels

_AlikePairs: TypeAlias = Mapping[int, tuple[str, str]]
"""A name of a label and another name that is alike, by the code of the label."""


def observe_encodings(observations: Observations, labels: OccurringLabels) -> None:
    """Observe labels of a side that look like a label of the other side, and are not equal.

    If both sides have such labels, only the predictions are counted.
    """
    on_side = labels.on_side
    labels_of_other = {"pred": labels.is_known, "ref": on_side["pred"]}
    for side, is_on_other in labels_of_other.items():
        is_on_side = on_side[side]
        own_names = labels.names(is_on_side & ~is_on_other)
        pairs = _find_same_looking(own_names, labels.names(is_on_other))
        if not pairs:
            continue
        terms_of_side = labels.terms(is_on_side)
        has_pair = [not pairs.keys().isdisjoint(terms) for terms in terms_of_side]
        is_affected = np.zeros(len(is_on_side), np.bool_)
        is_affected[np.flatnonzero(is_on_side)[has_pair]] = True
        codes = labels.side(side).codes
        observations.count(OTHER_ENCODINGS, int(is_affected[codes].sum()), side)
        label, other = min(pairs.items())
        observations.add_names(OTHER_ENCODINGS, [f"{label!a} and {other!a}"], side)
        return


def observe_alike_predictions(
    observations: Observations, labels: OccurringLabels, is_unknown: Bools
) -> bool:
    """Observe predicted labels that are alike a reference label or a class.

    Parameters
    ----------
    observations : Observations
        Observations are added here.
    labels : OccurringLabels
    is_unknown : bool array, shape (classes,)
        The predicted labels that are neither reference labels nor classes.

    Returns
    -------
    bool
        Whether there are such labels.
    """
    known_names = labels.names(labels.is_known)
    name_of_fold: dict[str, str] = {}
    for fold, name in zip(_fold_names(known_names), known_names, strict=True):
        name_of_fold.setdefault(fold, name)

    unknown_names = labels.names(is_unknown)
    n_terms = [len(terms) for terms in labels.terms(is_unknown)]
    codes = np.repeat(np.flatnonzero(is_unknown), n_terms).tolist()
    folds = _fold_names(unknown_names)
    pairs: dict[int, tuple[str, str]] = {}
    for code, name, fold in zip(codes, unknown_names, folds, strict=True):
        if fold and fold in name_of_fold:
            pairs.setdefault(code, (name, name_of_fold[fold]))
    _count_alike(observations, labels, "pred", pairs)
    return bool(pairs)


def observe_alike_references(
    observations: Observations, labels: OccurringLabels, names: Sequence[str]
) -> None:
    """Observe reference labels that differ only by case or separators.

    If there is a class list, its classes are different on purpose.

    Parameters
    ----------
    observations : Observations
        Observations are added here.
    labels : OccurringLabels
    names : sequence of str
        The terms of the reference labels.
    """
    if labels.task.n_listed is not None or len(set(_unify_names(names))) == len(names):
        return
    names_by_fold = _group_names(labels, labels.on_side["ref"])
    pairs: dict[int, tuple[str, str]] = {}
    for name_of_code in names_by_fold.values():
        # Labels may share a synonym, which is one name.
        first, *others = dict.fromkeys(name_of_code.values())
        if not others:
            continue
        for code, name in name_of_code.items():
            other = name
            if name == first:
                other = others[0]
            # A label with the first name is paired with the second name.
            pairs.setdefault(code, (other, first))
    _count_alike(observations, labels, "ref", pairs)


def _group_names(labels: OccurringLabels, chosen: Bools) -> dict[str, dict[int, str]]:
    """Group the names of the chosen labels that differ only by case or separators.

    Returns
    -------
    dict from folded name to dict from code to name
        If several names of a label are in the same group, the first of them.
    """
    fold = normalization("lower+separators")
    names_by_fold: dict[str, dict[int, str]] = {}
    codes = np.flatnonzero(chosen).tolist()
    for code, terms in zip(codes, labels.terms(chosen), strict=True):
        for term in terms:
            folded = fold(term)
            if folded:  # nothing is left of a label that is only separators
                name_of_code = names_by_fold.setdefault(folded[0], {})
                name_of_code.setdefault(code, term)
    return names_by_fold


def _count_alike(
    observations: Observations, labels: OccurringLabels, side: str, pairs: _AlikePairs
) -> None:
    """Count the labels of a side that are alike another, and the normalisations to join them."""
    if not pairs:
        return
    lists = labels.side(side)
    has_alike = np.zeros(len(labels.is_known), np.bool_)
    has_alike[list(pairs)] = True
    is_affected = has_alike[lists.codes]
    n_labels = int(is_affected.sum())
    n_items = int((sum_rows(is_affected, lists.indptr) > 0).sum())
    first_code = min(pairs)
    label, other = pairs[first_code]
    observations.count(ALIKE_LABELS, n_labels, side, "labels")
    observations.count(ALIKE_LABELS, n_items, side, "items")
    observations.add_names(ALIKE_LABELS, [f"{label!r} and {other!r}"], side, "labels")
    for step in _find_steps(set(pairs.values())):
        observations.count(ALIKE_LABELS, 1, side, step)


def _find_steps(pairs: set[tuple[str, str]]) -> list[str]:
    """Return the normalisations of `SPELLING_STEPS` that make the names of each pair equal.

    For each pair, the fewest normalisations are used.
    """
    steps: dict[str, None] = {}
    unequal_pairs = set(pairs)
    for n_steps in range(1, len(SPELLING_STEPS) + 1):
        for chosen_steps in combinations(SPELLING_STEPS, n_steps):
            clean = normalization("+".join(chosen_steps))
            joined = {(a, b) for a, b in unequal_pairs if clean(a) == clean(b)}
            unequal_pairs -= joined
            if joined:
                steps.update(dict.fromkeys(chosen_steps))
    return list(steps)


def _fold_names(names: Sequence[str]) -> list[str]:
    """Apply all normalisations of `SPELLING_STEPS`, so that names that are alike become equal."""
    folds = []
    for name in _unify_names(names):
        words = name.split()
        folds.append(singular(" ".join(words)))
    return folds


def _unify_names(names: Sequence[str]) -> list[str]:
    """Return names in lower case, with spaces for ``_`` and ``-``.

    All names are changed in one string, which is faster. A name may contain a line break.
    """
    text = "\n".join(names).lower().replace("_", " ").replace("-", " ")
    lines = text.split("\n")
    if len(lines) == len(names):
        return lines
    unified = []
    for name in names:
        (line,) = _unify_names([name.replace("\n", " ")])
        unified.append(line)
    return unified


# ---- encodings ----------------------------------------------------------------------------------

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060\ufe0e\ufe0f\ufeff]")


def _find_same_looking(names: Sequence[str], others: Sequence[str]) -> dict[str, str]:
    r"""Return the names that look like one of the others and are not equal, with that name.

    Names look the same if they are equal after Unicode normalisation (NFC) and without invisible
    characters such as the zero-width space.

    Examples
    --------
    >>> pairs = _find_same_looking(["cafe\u0301", "bus"], ["caf\u00e9"])
    >>> [(ascii(name), ascii(other)) for name, other in pairs.items()]
    [("'cafe\\u0301'", "'caf\\xe9'")]
    """
    if "".join(names).isascii() and "".join(others).isascii():  # the usual case
        return {}
    equal_names = set(others)
    other_by_appearance = {_normalize_appearance(other): other for other in others}
    pairs = {}
    for name in names:
        other = other_by_appearance.get(_normalize_appearance(name))
        if other is not None and name not in equal_names:
            pairs[name] = other
    return pairs


def _normalize_appearance(name: str) -> str:
    """Return a name in Unicode normal form C, without invisible characters."""
    return unicodedata.normalize("NFC", _INVISIBLE.sub("", name))
