"""Items as readers found them, checked and integer-coded."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count
from typing import Any

import numpy as np

from semmetrics.core.ragged import Codes, Floats, Ints, offsets
from semmetrics.data.form import Form, number
from semmetrics.data.lists import Entry, Lists, Side, Terms, as_entry
from semmetrics.errors import ROW, Fact, InputError, Places

_NAMES = ("label", "name")
_FRACTION = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*$")  # a score in quotes, not a synonym


@dataclass
class Items:
    """Items as a reader found them, not yet checked.

    Attributes
    ----------
    ids : sequence of str, or None
        One id an item, checked to be unique by the reader; None where the input has none and
        items are matched by position.
    items : sequence
        For each item its entries in order, or a text alone. An entry is a str, or, where the form
        has scores, a pair ``(label, number)``, a mapping with "label" (or "name") and perhaps
        "score", or a list of synonyms.
    where : Places
        The place of item ``i`` for messages: "gt.json, id 'a'" or "gt.csv, line 7, id 'a'".
    source, understood : str
        The name of the input, and how it was read: "JSON, {id: [labels]}".
    notes : list of Fact or str
        What is odd and was nevertheless accepted.
    order : str
        As in ``Lists``.
    """

    ids: Sequence[str] | None
    items: Sequence[Any]
    where: Places
    source: str = "input"
    understood: str = "lists"
    notes: list[Fact] = field(default_factory=list)
    order: str = ""

    @cached_property
    def types(self) -> set[type]:
        """The types of the items, found once: it takes a tenth of the time of exact measures."""
        return set(map(type, self.items))


def encode(found: Items, form: Form) -> Lists:
    """Check the items of an input and code them.

    Parameters
    ----------
    found : Items
    form : Form
        What an entry may be.

    Returns
    -------
    Lists

    Raises
    ------
    InputError
        If an item is not a list, an entry is not a string (where the form has them: or a list of
        synonyms, a pair of label and number, a mapping with "label" and "score"), is empty where
        it may not be, a score is not finite, or only some entries have a score; names the item.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> names = ["a", "b"]
    >>> items = Items(names, [["cat", "dog"], ["cat"]], Places("gt.json", names))
    >>> lists = encode(items, form)
    >>> lists.vocabulary, lists.side.codes.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """
    notes = list(found.notes)
    if form.alone:
        found = replace(found, items=[str(i) if _is_whole(i) else i for i in found.items])
    sets = any(issubclass(kind, Set) for kind in found.types)
    items = found.items if found.types <= {list, tuple} else _as_lists(found, form)
    if sets and form.single:
        notes.append(Fact("sorted-sets", values={"noun": form.noun}))
    indptr = offsets(np.fromiter(map(len, items), np.int64, len(items)))
    size = int(indptr[-1])
    scores = None
    if form.numbered:
        items = [list(map(_name, item)) for item in items]
    try:
        vocabulary, codes = _code(chain.from_iterable(items), size)
        plain = all(issubclass(kind, str) for kind in set(map(type, vocabulary)))
    except TypeError:  # an entry that is a list or a mapping cannot be a dictionary's key
        plain = False
    if not plain:
        flat, scores = _flatten(found, items, form, notes)
        vocabulary, codes = _code(flat, size)
    if not set(map(type, vocabulary)) <= {str, tuple}:  # kinds of string, such as numpy's
        vocabulary = [entry if isinstance(entry, tuple) else str(entry) for entry in vocabulary]
    _check_texts(found, form, vocabulary, codes, indptr)
    return Lists(
        ids=range(len(items)) if found.ids is None else found.ids,
        vocabulary=vocabulary,
        side=Side(indptr, codes, scores),
        source=found.source,
        understood=found.understood,
        notes=notes,
        where=found.where,
        noun=form.noun,
        order="sorted" if sets else found.order,
    )


def encode_numbers(
    values: Any, form: Form, source: str, understood: str, ids: Sequence[str] | None = None
) -> Lists:
    """Code a vector of whole numbers, each of which is the one entry of an item.

    Parameters
    ----------
    values : int array, shape (items,)
    form : Form
    source, understood : str
    ids : sequence of str, optional

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> encode_numbers(np.array([7, 3, 7]), form, "gts", "vector").to_list()
    [['7'], ['3'], ['7']]
    """
    numbers, first, codes = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order))
    every = np.arange(len(values) + 1)
    return Lists(
        ids=range(len(values)) if ids is None else ids,
        vocabulary=list(map(str, numbers[order].tolist())),
        side=Side(every, place[codes.ravel()]),
        source=source,
        understood=understood,
        where=Places(source, ids, ROW, range(len(values))),
        noun=form.noun,
    )


def _is_whole(entry: Any) -> bool:
    return isinstance(entry, (int, np.integer)) and not isinstance(entry, bool)


def _name(entry: Any) -> Any:
    """Return a whole number as text, also where it has a score."""
    if _is_whole(entry):
        return str(entry)
    if isinstance(entry, (tuple, list)) and len(entry) == 2 and not isinstance(entry[0], str):
        return (_name(entry[0]), entry[1])
    return entry


def _code(flat: Any, size: int) -> tuple[list[Any], Codes]:
    """Number the distinct values in order of first appearance."""
    table: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, size)
    return list(table), codes


def _as_lists(found: Items, form: Form) -> Sequence[Sequence[Any]]:
    """Return items as lists; sets are sorted, so that their order is the same in every process."""
    if form.single and all(isinstance(item, str) for item in found.items):
        return [[text] for text in found.items]
    lists: list[Any] = []
    for item in found.items:
        if isinstance(item, Set):
            lists.append(sorted(item, key=lambda entry: (str(type(entry)), str(entry))))
        else:
            lists.append(item.tolist() if isinstance(item, np.ndarray) else item)
    some = any(isinstance(item, (list, tuple)) for item in lists)
    for position, item in enumerate(lists):
        if isinstance(item, str) and form.single and not some:
            continue  # another item is wrong
        if not isinstance(item, (list, tuple)):
            raise not_a_list(item, form, found.where(position))
    return lists


def not_a_list(item: Any, form: Form, where: str = "") -> InputError:
    """Return the error for a value in place of the entries of an item."""
    wanted = f"a list of {form.noun}s"
    if form.single:
        wanted += ", as other items have" if isinstance(item, str) else f" or a {form.noun}"
    return InputError("wrong-type", where, value=item, wanted=wanted)


def _check_texts(
    found: Items, form: Form, vocabulary: Sequence[Entry], codes: Codes, indptr: Ints
) -> None:
    """Raise for empty entries, unless the form has them, and for halves of characters."""
    every = list(chain.from_iterable(map(_terms, vocabulary)))
    if not form.blank and not (all(vocabulary) and all(map(str.strip, every))):
        code = "empty"
        wrong = {e for e in vocabulary if not e or not all(map(str.strip, _terms(e)))}
    elif not form.single:
        return
    else:
        try:  # tokenizers take texts in UTF-8
            "".join(every).encode()
        except UnicodeEncodeError:
            code = "lone-surrogate"
            wrong = {e for e in vocabulary if any(map(has_surrogate, _terms(e)))}
        else:
            return
    numbers = [code for code, entry in enumerate(vocabulary) if entry in wrong]
    occurrence = int(np.flatnonzero(np.isin(codes, numbers))[0])
    position = int(np.searchsorted(indptr, occurrence, side="right")) - 1
    where = found.where.entry(position, form.noun, occurrence - int(indptr[position]))
    remedy = f"remove it, or give the item an empty list if it has no {form.noun}"
    raise InputError(code, where, role=f"the {form.noun}", remedy=remedy)


def _terms(entry: Entry) -> Terms:
    return (entry,) if isinstance(entry, str) else entry


def has_surrogate(text: str) -> bool:
    """Return whether a text holds half of a surrogate pair, which no file in UTF-8 can."""
    return any("\ud800" <= char <= "\udfff" for char in text)


def _flatten(
    found: Items, items: Sequence[Sequence[Any]], form: Form, notes: list[Fact]
) -> tuple[Any, Floats | None]:
    """Find the entries and their scores, whatever their form."""
    pairs = _scored_strings(items) if form.scored else None
    if pairs is not None:
        return pairs
    entries: list[Entry] = []
    scores: list[float] = []
    unused: dict[str, None] = {}
    for position, item in enumerate(items):
        for place, value in enumerate(item):
            try:
                entry, score = _entry(value, form)
            except InputError as error:
                raise error.placed(found.where.entry(position, form.noun, place)) from None
            if isinstance(value, Mapping):
                used = {"score", next(name for name in _NAMES if name in value)}
                unused.update((str(key), None) for key in value if key not in used)
            entries.append(entry)
            if score is not None:
                scores.append(score)
        if scores and len(scores) != len(entries):
            raise InputError("some-scores", found.where(position), noun=form.noun)
    if unused:
        values = {"noun": form.noun}
        notes.append(Fact("unused-entry-keys", len(unused), tuple(unused), values=values))
    return entries, np.array(scores, np.float64) + 0.0 if scores else None


def _scored_strings(items: Sequence[Sequence[Any]]) -> tuple[Any, Floats] | None:
    """Split the common case, all pairs of a string and a finite number, without a slow loop."""
    flat = list(chain.from_iterable(items))
    if not set(map(type, flat)) <= {tuple, list} or set(map(len, flat)) != {2}:
        return None
    names, numbers = zip(*flat, strict=True)
    if set(map(type, names)) != {str} or not set(map(type, numbers)) <= {int, float}:
        return None
    try:
        scores = np.array(numbers, np.float64) + 0.0  # -0.0 is 0, as JSON's -0 is
    except OverflowError:
        return None
    return (names, scores) if np.isfinite(scores).all() else None


def _entry(value: Any, form: Form) -> tuple[Entry, float | None]:
    if isinstance(value, str):
        return str(value), None
    score: Any = ...
    if not form.scored:
        raise InputError("wrong-type", value=value, wanted=f"a {form.noun}")
    if isinstance(value, Mapping):
        key = next((name for name in _NAMES if name in value), None)
        if key is None:
            wanted = f'a {form.noun} such as {{"label": "cat", "score": 0.9}}'
            raise InputError("wrong-type", value=value, wanted=wanted)
        value, score = value[key], ... if value.get("score") is None else value["score"]
    elif isinstance(value, (list, tuple)) and len(value) == 2 and _may_be_score(value[1]):
        value, score = value
    return _synonyms(value, form), None if score is ... else entry_score(score)


def _may_be_score(value: Any) -> bool:
    return not isinstance(value, str) or _FRACTION.match(value) is not None


def _synonyms(value: Any, form: Form) -> Entry:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(t, str) for t in value):
        return as_entry(tuple(map(str, value)))
    wanted = f'a {form.noun} such as "cat", ["cat", 0.9], or the synonyms ["cat", "kitty"]'
    raise InputError("wrong-type", value=value, wanted=wanted)


def entry_score(value: Any) -> float:
    """Return the score of an entry, which is a finite number and not a text."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InputError("not-a-number", role="the score", value=value)
    return number(value)
