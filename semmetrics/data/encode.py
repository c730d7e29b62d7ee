"""Label lists as people have them, checked and integer-coded."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from itertools import chain, count
from typing import Any

import numpy as np

from semmetrics.core.ragged import Codes, Floats, offsets
from semmetrics.data.class_list import class_terms
from semmetrics.data.labels import Labels, Side, Terms
from semmetrics.data.raw import RawItems, RawMatrix
from semmetrics.errors import InputError, brief, listing

__all__ = ["encode", "encode_matrix"]

_NAMES = ("label", "name")


def encode(raw: RawItems) -> Labels:
    """Check raw label lists and code them.

    Parameters
    ----------
    raw : RawItems

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        If an item is not a list, a label is not a string (or a list of synonyms, a pair of label
        and number, a mapping with "label" and "score"), a label is empty, a score is not finite,
        or only some labels have a score; names the item.

    Examples
    --------
    >>> lists = encode(RawItems(["a", "b"], [["cat", "dog"], ["cat"]]))
    >>> lists.vocabulary, lists.side.codes.tolist()
    ((('cat',), ('dog',)), [0, 1, 0])
    """
    notes = list(raw.notes)
    items = _lists(raw, notes)
    widths = np.fromiter(map(len, items), np.int64, len(items))
    indptr = offsets(widths)
    size = int(indptr[-1])
    try:
        names, codes = _code(chain.from_iterable(items), size)
        plain = all(isinstance(name, str) for name in names)
    except TypeError:  # a label that is a list or a mapping cannot be a dictionary's key
        plain = False
    scores = None
    if plain:
        vocabulary: Sequence[Terms] = [(name,) for name in names]
    else:
        flat, scores = _flatten(raw, items, notes)
        vocabulary, codes = _code(flat, size)
    if not all(map(all, vocabulary)) or any(not t.strip() for terms in vocabulary for t in terms):
        _report_empty(raw, vocabulary, codes, indptr)
    ids = range(len(items)) if raw.ids is None else raw.ids
    return Labels(
        ids=ids,
        vocabulary=tuple(vocabulary),
        side=Side(indptr, codes, scores),
        source=raw.source,
        understood=raw.understood,
        notes=notes,
        where=raw.where,
    )


def _place(raw: RawItems, position: int) -> str:
    """Where an item stands; readers of files name the file themselves."""
    place = raw.where(position)
    return place if place.startswith(raw.source) else f"{raw.source}, {place}"


def _code(flat: Any, size: int) -> tuple[list[Any], Codes]:
    """The distinct values in order of first appearance, and the code of each value."""
    table: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, size)
    return list(table), codes


def _lists(raw: RawItems, notes: list[str]) -> Sequence[Sequence[Any]]:
    """Items as lists; sets are sorted, so that their order is the same in every process."""
    kinds = set(map(type, raw.items))
    if kinds <= {list, tuple}:
        return raw.items
    if any(issubclass(kind, Set) for kind in kinds):
        notes.append("sets of labels were taken in sorted order")
    lists = [_list(item) for item in raw.items]
    for position, item in enumerate(lists):
        if not isinstance(item, (list, tuple)):
            raise InputError(
                f"the labels are {brief(item)}, a {type(item).__name__}, not a list",
                where=_place(raw, position),
                remedy='write a list of labels, as ["cat", "dog"]',
            )
    return lists


def _list(item: Any) -> Any:
    if isinstance(item, Set):
        return sorted(item, key=lambda label: (str(type(label)), str(label)))
    return item.tolist() if isinstance(item, np.ndarray) else item


def _report_empty(raw: RawItems, vocabulary: Sequence[Terms], codes: Codes, indptr: Any) -> None:
    bad = [
        c for c, terms in enumerate(vocabulary) if not all(t.strip() for t in terms) or not terms
    ]
    occurrence = int(np.flatnonzero(np.isin(codes, bad))[0])
    position = int(np.searchsorted(indptr, occurrence, side="right")) - 1
    raise InputError(
        "a label is empty",
        where=f"{_place(raw, position)}, label {occurrence - indptr[position] + 1}",
        remedy="remove it, or give the item an empty list if it has no label",
    )


def _flatten(
    raw: RawItems, items: Sequence[Sequence[Any]], notes: list[str]
) -> tuple[Any, Floats | None]:
    """Terms and scores of all labels, whatever their form."""
    pairs = _scored_strings(items)
    if pairs is not None:
        return pairs
    terms: list[Terms] = []
    scores: list[float] = []
    unused: dict[str, None] = {}
    for position, item in enumerate(items):
        for number, label in enumerate(item, 1):
            try:
                names, score = _label(label)
            except InputError as error:
                raise InputError(
                    error.problem,
                    where=f"{_place(raw, position)}, label {number}",
                    remedy=error.remedy,
                ) from None
            if isinstance(label, Mapping):
                unused.update(dict.fromkeys(_unused_keys(label)))
            terms.append(names)
            if score is not None:
                scores.append(score)
        if scores and len(scores) != len(terms):
            raise InputError(
                "some labels have a score and others have none",
                where=_place(raw, position),
                remedy="give every label a score, or none",
            )
    if unused:
        notes.append(f"keys of labels not used: {listing(unused)}")
    return terms, np.array(scores, np.float64) if scores else None


def _unused_keys(label: Mapping[Any, Any]) -> list[str]:
    used = {"score", next(name for name in _NAMES if name in label)}
    return [str(key) for key in label if key not in used]


def _scored_strings(items: Sequence[Sequence[Any]]) -> tuple[Any, Floats] | None:
    """The common case, all labels pairs of a string and a finite number, without a slow loop."""
    flat = list(chain.from_iterable(items))
    if not set(map(type, flat)) <= {tuple, list} or set(map(len, flat)) != {2}:
        return None
    names, numbers = zip(*flat, strict=True)
    if set(map(type, names)) != {str} or not set(map(type, numbers)) <= {int, float}:
        return None
    try:
        scores = np.array(numbers, np.float64)
    except OverflowError:
        return None
    return (zip(names), scores) if np.isfinite(scores).all() else None


def _label(label: Any) -> tuple[Terms, float | None]:
    if isinstance(label, str):
        return (label,), None
    if isinstance(label, Mapping):
        key = next((name for name in _NAMES if name in label), None)
        if key is None:
            raise InputError(
                f'the label {brief(label)} has no "label"',
                remedy='write {"label": "cat", "score": 0.9}',
            )
        score = label.get("score")
        return _terms(label[key]), None if score is None else _number(score)
    if isinstance(label, (list, tuple)):
        if len(label) == 2 and not isinstance(label[1], str):
            return _terms(label[0]), _number(label[1])
        return _terms(label), None
    raise _not_a_label(label)


def _terms(label: Any) -> Terms:
    if isinstance(label, str):
        return (label,)
    if isinstance(label, (list, tuple)) and label and all(isinstance(t, str) for t in label):
        return tuple(dict.fromkeys(label))
    raise _not_a_label(label)


def _not_a_label(label: Any) -> InputError:
    return InputError(
        f"the label {brief(label)} is a {type(label).__name__}, not a string",
        remedy='write a label as "cat", ["cat", 0.9], or a list of synonyms ["cat", "kitty"]',
    )


def _number(score: Any) -> float:
    number = isinstance(score, (int, float, np.integer, np.floating)) and not isinstance(
        score, bool
    )
    try:
        if number and math.isfinite(score):
            return float(score)
    except OverflowError:
        pass
    raise InputError(f"the score {brief(score)} is not a finite number", remedy="write a number")


def encode_matrix(raw: RawMatrix) -> Labels:
    """Label lists from a matrix of items x classes.

    Parameters
    ----------
    raw : RawMatrix
        Booleans or integers are membership and must be 0 or 1; floats that are all 0 or 1 are
        membership too; other floats are scores, and the result is ``ranked``.

    Returns
    -------
    Labels

    Raises
    ------
    InputError
        If the shape is not (items, classes), a class is not a name or is there twice, an integer
        is neither 0 nor 1, or a score is masked or not finite; names row and column.

    Examples
    --------
    >>> encode_matrix(RawMatrix(np.array([[0, 1], [1, 1]]), ["cat", "dog"])).side.codes.tolist()
    [1, 0, 1]
    """
    values: Any = raw.values
    if isinstance(values, np.ma.MaskedArray) and values.mask.any():
        raise InputError(
            "values of the matrix are masked",
            where=raw.source,
            remedy="fill them, or leave items out",
        )
    sparse = not isinstance(values, np.ndarray)
    if values.ndim != 2:
        raise InputError(
            f"the matrix has shape {values.shape}", where=raw.source, remedy="give items x classes"
        )
    n_items, n_classes = values.shape
    vocabulary = class_terms(map(str, range(n_classes)) if raw.classes is None else raw.classes)
    if len(vocabulary) != n_classes:
        raise InputError(
            f"the matrix has {n_classes} columns and the class list {len(vocabulary)} names",
            where=raw.source,
            remedy="give one class for each column",
        )
    if len(set(vocabulary)) != n_classes:
        twice = Counter(vocabulary).most_common(1)[0][0]
        raise InputError(
            f"two columns are called {', '.join(twice)!r}", where=raw.source, remedy="rename one"
        )
    if sparse:
        values = values.tocsr(copy=True)
        values.sum_duplicates()
        ranked = _is_scores(np.asarray(values.data), raw.source, sparse=True)
        values.eliminate_zeros()
        side = Side(offsets(np.diff(values.indptr)), values.indices.astype(np.int32))
        side = Side(side.indptr, side.codes, values.data.astype(np.float64)) if ranked else side
    else:
        values = np.asarray(values)
        ranked = _is_scores(values, raw.source)
        side = _all_scores(values) if ranked else _members(values)
    return Labels(
        ids=range(n_items) if raw.ids is None else raw.ids,
        vocabulary=tuple(vocabulary),
        side=side,
        ranked=ranked,
        source=raw.source,
        understood=f"{raw.understood}, {'scores' if ranked else '0/1'}",
        notes=list(raw.notes),
        where="row {}".format,
    )


def _is_scores(values: Any, source: str, *, sparse: bool = False) -> bool:
    if values.dtype.kind == "b" or not values.size:
        return False
    if values.dtype.kind not in "iuf":
        raise InputError(
            f"the matrix holds {values.dtype}", where=source, remedy="give 0/1 or float scores"
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        place = np.argwhere(~np.isfinite(values))[0].tolist()
        at = f"value {place[0]}" if sparse else f"row {place[0]}, column {place[1]}"
        raise InputError("a score is not finite", where=f"{source}, {at}", remedy="write a number")
    low, high = values.min(), values.max()
    zero_one = low >= 0 and high <= 1
    if values.dtype.kind == "f":
        return not (zero_one and bool(((values == 0) | (values == 1)).all()))
    if not zero_one:
        raise InputError(
            f"the integer matrix holds {low if low < 0 else high}, which is neither 0 nor 1",
            where=source,
            remedy="give 0/1, or scores as floats",
        )
    return False


def _members(values: Any) -> Side:
    n_items, n_classes = values.shape
    ones = np.flatnonzero(np.ascontiguousarray(values))
    indptr = np.searchsorted(ones, np.arange(n_items + 1) * n_classes)
    columns = ones - np.repeat(np.arange(n_items) * n_classes, np.diff(indptr))
    return Side(indptr, columns.astype(np.int32))


def _all_scores(values: Any) -> Side:
    n_items, n_classes = values.shape
    indptr = np.arange(n_items + 1, dtype=np.int64) * n_classes
    codes = np.tile(np.arange(n_classes, dtype=np.int32), n_items)
    return Side(indptr, codes, values.astype(np.float64).ravel())
