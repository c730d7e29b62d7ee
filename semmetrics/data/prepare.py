"""From two inputs to a label task: normalise, join, find the classes, leave out what is ignored.

Conventions
-----------
Classes are the reference labels, or a given class list. A prediction belongs to the class of its
first term that any class has; where several classes have that term, to the first of them in the
order of the class list (by name where none is given). A prediction without such a term is a class
of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from semmetrics.core.hashing import hash_strings
from semmetrics.core.ragged import Codes, Floats
from semmetrics.data.join import Joined, join
from semmetrics.data.labels import Labels, Terms
from semmetrics.data.normalize import normalization
from semmetrics.data.task import LabelTask, Synonyms
from semmetrics.errors import InputError, listing

__all__ = ["class_name", "label_task"]


def class_name(terms: Terms) -> str:
    """How a class is called: its terms, joined.

    Examples
    --------
    >>> class_name(("ashcan", "trash can"))
    'ashcan | trash can'
    """
    return " | ".join(terms)


def label_task(
    pred: Labels,
    ref: Labels,
    *,
    normalize: str = "none",
    missing: str = "error",
    unpredicted: str = "keep",
    classes: Sequence[str | Sequence[str]] | None = None,
    ignore: Iterable[str] = (),
    weights: Mapping[str, float] | Sequence[float] | Floats | None = None,
    heads: Floats | None = None,
) -> LabelTask:
    """Make the task of comparing predicted with reference label lists.

    Parameters
    ----------
    pred, ref : Labels
    normalize : str
        The name of a label normalisation.
    missing : {"error", "skip", "empty"}
        For ids that only one side has.
    unpredicted : {"keep", "skip"}
        Whether items whose prediction is an empty list are evaluated.
    classes : sequence of str or of synonym lists, optional
        The dictionary of labels; a reference label outside it is an error.
    ignore : iterable of str
        Labels left out on both sides.
    weights : mapping from id, or array of shape (items of the ground truth,), optional
        Sample weights, finite and not negative.
    heads : float array, shape (items of the predictions, cardinalities), optional

    Returns
    -------
    LabelTask

    Raises
    ------
    InputError
        If ids do not match, a reference label is outside the class list, or a weight is bad.
    """
    clean = normalization(normalize)
    if ref.ranked:
        raise InputError(
            "the ground truth is a matrix of scores", where=ref.source, remedy="give 0/1"
        )
    pred, ref = pred.normalized(clean), ref.normalized(clean)
    joined = join(pred, ref, missing=missing)
    listed = None if classes is None else [_given(entry, clean) for entry in classes]
    coding = _Coding.of(pred, ref, listed)
    task = LabelTask(
        ids=joined.ids,
        classes=coding.classes,
        pred=replace(joined.pred, codes=coding.pred[joined.pred.codes]),
        ref=replace(joined.ref, codes=coding.ref[joined.ref.codes]),
        ranked=pred.ranked,
        given=None if listed is None else len(listed),
        settings=_settings(normalize, missing, unpredicted, listed, weights is not None),
        counts=coding.counts | _missing_counts(joined),
        heads=None if heads is None else _aligned(heads, pred, joined),
        weights=None if weights is None else _weights(weights, joined, ref),
    )
    if coding.synonyms is not None:
        task = _with_written(task, joined, coding.synonyms, len(pred.vocabulary))
    task = _without(task, {class_name(terms) for name in ignore for terms in [clean(name)]})
    return _predicted(task) if unpredicted == "skip" else task


def _settings(
    normalize: str, missing: str, unpredicted: str, listed: list[Terms] | None, weighted: bool
) -> dict[str, str]:
    settings = {"norm": normalize, "missing": missing, "unpredicted": unpredicted}
    if listed is not None:
        text = "\n".join("\t".join(terms) for terms in listed)
        settings["classes"] = f"{len(listed)}@{hash_strings([text])[0]:016x}"
    if weighted:
        settings["weights"] = "given"
    return settings


def _given(entry: str | Sequence[str], clean: Any) -> Terms:
    terms = (entry,) if isinstance(entry, str) else tuple(entry)
    return tuple(dict.fromkeys(part for term in terms for part in clean(term)))


def _missing_counts(joined: Joined) -> dict[str, int]:
    counts = {
        "missing_prediction": joined.without_prediction,
        "missing_reference": joined.without_reference,
    }
    return {name: number for name, number in counts.items() if number}


@dataclass(frozen=True)
class _Coding:
    """Class names, and the class of each label of both vocabularies."""

    classes: tuple[str, ...]
    pred: Codes
    ref: Codes
    counts: dict[str, int]
    synonyms: Synonyms | None = None

    @staticmethod
    def of(pred: Labels, ref: Labels, listed: list[Terms] | None) -> _Coding:
        if listed is None and not pred.synonyms and not ref.synonyms:
            names = sorted({terms[0] for side in (pred, ref) for terms in side.vocabulary})
            place = {name: code for code, name in enumerate(names)}
            codes = [
                np.array([place[terms[0]] for terms in side.vocabulary], np.int32)
                for side in (pred, ref)
            ]
            return _Coding(tuple(names), codes[0], codes[1], {})
        return _code_terms(pred, ref, listed)


def _code_terms(pred: Labels, ref: Labels, listed: list[Terms] | None) -> _Coding:
    classes = listed if listed is not None else sorted(set(ref.vocabulary), key=class_name)
    holders: dict[str, list[int]] = {}
    for code, terms in enumerate(classes):
        for term in terms:
            holders.setdefault(term, []).append(code)
    found = [_class_of(terms, holders) for terms in pred.vocabulary]
    extra = sorted(
        {t for t, c in zip(pred.vocabulary, found, strict=True) if c < 0}, key=class_name
    )
    every = [*classes, *extra]
    place = {terms: code for code, terms in enumerate(every)}
    names = tuple(map(class_name, every))
    if len(set(names)) != len(names) or len(place) != len(every):
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        raise InputError(
            f"two classes are called {twice[0]!r}", remedy="rename one, or remove it from the list"
        )
    ref_codes = _reference_codes(ref, place, holders, listed)
    pred_codes = np.array(
        [c if c >= 0 else place[t] for t, c in zip(pred.vocabulary, found, strict=True)], np.int32
    )
    shared = {term for term, codes in holders.items() if len(codes) > 1}
    counts = {"shared_terms": len(shared)} if shared else {}
    if listed is not None and extra:
        counts["predicted_outside_classes"] = len(extra)
    return _Coding(names, pred_codes, ref_codes, counts, _ambiguous(pred, ref, holders))


def _class_of(terms: Terms, holders: Mapping[str, list[int]]) -> int:
    return next((holders[term][0] for term in terms if term in holders), -1)


def _reference_codes(
    ref: Labels,
    place: Mapping[Terms, int],
    holders: Mapping[str, list[int]],
    listed: list[Terms] | None,
) -> Codes:
    codes = []
    for number, terms in enumerate(ref.vocabulary):
        code = place.get(terms, -1) if listed is None else _class_of(terms, holders)
        if code < 0:
            raise InputError(
                f"the reference label {class_name(terms)!r} is not in the class list",
                where=f"{ref.source}, {ref.where(ref.first_item(number))}",
                remedy="add it to the class list, or ignore it",
            )
        codes.append(code)
    return np.array(codes, np.int32)


def _ambiguous(pred: Labels, ref: Labels, holders: Mapping[str, list[int]]) -> Synonyms | None:
    """Which written labels touch several classes; None where none does."""
    every = [*pred.vocabulary, *ref.vocabulary]
    touched = [{code for term in terms for code in holders.get(term, ())} for terms in every]
    ambiguous = np.array([len(codes) > 1 for codes in touched], np.bool_)
    return Synonyms(every, ambiguous) if ambiguous.any() else None


def _with_written(task: LabelTask, joined: Joined, synonyms: Synonyms, n_pred: int) -> LabelTask:
    pred = replace(task.pred, written=joined.pred.codes)
    ref = replace(task.ref, written=(joined.ref.codes + n_pred).astype(np.int32))
    return replace(task, pred=pred, ref=ref, synonyms=synonyms)


def _without(task: LabelTask, ignored: set[str]) -> LabelTask:
    chosen = np.array([name not in ignored for name in task.classes], np.bool_)
    unknown = ignored - set(task.classes)
    if not ignored or (chosen.all() and not unknown):
        return task
    counts = dict(task.counts)
    counts["ignored_predictions"] = int((~chosen)[task.pred.codes].sum())
    counts["ignored_references"] = int((~chosen)[task.ref.codes].sum())
    if unknown:
        counts["ignored_labels_not_found"] = len(unknown)
    codes = (np.cumsum(chosen) - 1).astype(np.int32)
    sides = []
    for side in (task.pred, task.ref):
        kept = side.keep(chosen[side.codes])
        sides.append(replace(kept, codes=codes[kept.codes]))
    return replace(
        task,
        classes=tuple(name for name, kept in zip(task.classes, chosen, strict=True) if kept),
        pred=sides[0],
        ref=sides[1],
        given=None if task.given is None else int(chosen[: task.given].sum()),
        counts=counts,
        settings={**task.settings, "ignore": ",".join(sorted(ignored))},
    )


def _predicted(task: LabelTask) -> LabelTask:
    """Without the items that predict nothing."""
    rows = np.flatnonzero(np.diff(task.pred.indptr))
    left_out = len(task) - len(rows)
    if not left_out:
        return task
    return replace(task.take(rows), counts={**task.counts, "empty_prediction_skipped": left_out})


def _aligned(heads: Floats, pred: Labels, joined: Joined) -> Floats:
    if heads.ndim != 2 or len(heads) != len(pred):
        raise InputError(
            f"the cardinality matrix has shape {heads.shape} for {len(pred)} items",
            remedy="give one row of probabilities an item, in the order of the predictions",
        )
    if joined.ids is pred.ids or list(joined.ids) == list(pred.ids):
        return heads
    place = {name: number for number, name in enumerate(pred.ids)}
    lost = [name for name in joined.ids if name not in place]
    if lost:
        raise InputError(
            f"{len(lost)} items have no row in the cardinality matrix: {listing(lost)}",
            remedy="use missing='skip'",
        )
    return heads[[place[name] for name in joined.ids]]


def _weights(
    weights: Mapping[str, float] | Sequence[float] | Floats, joined: Joined, ref: Labels
) -> Floats:
    names: Any = joined.ids
    if isinstance(weights, Mapping):
        lost = [name for name in names if name not in weights]
        if lost:
            raise InputError(
                f"{len(lost)} items have no weight: {listing(lost)}", remedy="give every id one"
            )
        values = np.array([weights[name] for name in names], np.float64)
    else:
        values = np.asarray(weights, np.float64)
        if values.shape != (len(names),) or len(ref) != len(names):
            raise InputError(
                f"weights of shape {values.shape} for {len(names)} evaluated items",
                remedy="give one weight an item in the order of the ground truth, or by id",
            )
    bad = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        raise InputError(
            f"the weight of item {names[bad[0]]!r} is {values[bad[0]]}",
            remedy="weights are finite and not negative",
        )
    if not values.sum() > 0:
        raise InputError("all sample weights are zero", remedy="give some item a weight")
    return values
