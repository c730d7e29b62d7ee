"""Items as readers find them, and how their entries are checked and coded.

Conventions
-----------
A reader finds `Items`: lists of entries, not yet checked. `encode` checks and codes them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.backend import common_precision, precision_of
from semmetrics.core.ragged import Codes, Floats, Ints, offsets
from semmetrics.data.cells import CutListError, read_cell
from semmetrics.data.form import SCORE_NAMES, Form
from semmetrics.data.lists import (
    Entry,
    Holds,
    Lists,
    Numbering,
    Side,
    Terms,
    as_entry,
    code_values,
    in_order,
)
from semmetrics.errors import ROW, Fact, InputError, Places
from semmetrics.schema import as_real

_LABELS = ("label", "name", "class", "category", "tag", "description")
_OBJECT_SCORES = (*SCORE_NAMES, "similarity", "logit")
_MOST_SHOWN = 60  # characters of a list in a message
# a score in quotes, not a synonym
_FRACTION = re.compile(r"\s*[-+]?\d*\.\d+([eE][-+]?\d+)?\s*$")
_EXAMPLES = {
    "label": '["cat", "dog"]',
    "caption": '["a dog runs", "a brown dog"]',
    "candidate": '["image-7", "image-2"]',
}
"""A list of each noun, as messages show it."""
_SEPARATORS = re.compile(r"\s*[,;|]\s*")


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
    order, aliases, numbering, by_category, categories, absent, column_names, holds, styles
        As in ``Lists``.
    declared : sequence of str
        The labels that the input declares, of which some may be in no item. With any, the
        vocabulary has all of them, and `Lists.names_all` is true.
    """

    ids: Sequence[str] | None
    items: Sequence[Any]
    where: Places
    source: str = "input"
    understood: str = "lists"
    notes: list[Fact] = field(default_factory=list)
    order: str = ""
    aliases: Mapping[str, str] = field(default_factory=dict)
    numbering: Numbering | None = None
    by_category: bool = False
    categories: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, Sequence[str]] = field(default_factory=dict)
    column_names: Mapping[str, str] = field(default_factory=dict)
    holds: Holds = ""
    declared: Sequence[str] = ()
    styles: Mapping[str, str] = field(default_factory=dict)

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
        found = replace(
            found, items=[str(i) if _is_whole(i) else i for i in found.items]
        )
    items = found.items if found.types <= {list, tuple} else _as_lists(found, form)
    order = found.order
    if any(issubclass(kind, Set) for kind in found.types):
        order = "sorted"
        if form.single:
            notes.append(Fact("sorted-sets", values={"noun": form.noun}))
    indptr = offsets(np.fromiter(map(len, items), np.int64, len(items)))
    vocabulary, codes, scores, precision = _code_entries(found, items, form, notes)
    _check_texts(found, form, vocabulary, codes, indptr)
    if found.declared:
        vocabulary = list(dict.fromkeys(chain(vocabulary, found.declared)))
    ids = range(len(items)) if found.ids is None else found.ids
    lists = Lists(
        ids,
        vocabulary,
        Side(indptr, codes, scores),
        source=found.source,
        understood=found.understood,
        notes=notes,
        where=found.where,
        noun=form.noun,
        order=order,
        aliases=found.aliases,
        numbering=found.numbering,
        by_category=found.by_category,
        categories=found.categories,
        absent=found.absent,
        precision=precision,
        names_all=bool(found.declared),
        column_names=found.column_names,
        holds=found.holds,
        styles=found.styles,
    )
    if found.order == "keys" and scores is not None:  # booleans
        present = replace(lists.side.keep(scores != 0), scores=None)
        lists = replace(lists, side=present, names_all=True, precision="float64")
    return lists


def _code_entries(
    found: Items, items: Sequence[Sequence[Any]], form: Form, notes: list[Fact]
) -> tuple[Sequence[Entry], Codes, Floats | None, str]:
    """Return the distinct entries, the code of each entry, and its score with its precision."""
    number = sum(map(len, items))
    items, pairs = _split_pairs(items, form)
    entries, scores = pairs or (chain.from_iterable(items), None)
    precision = "float64"
    coded = _code_strings(entries, number)
    if coded is None:
        flat, scores, precision = _flatten(found, items, form, notes)
        coded = code_values(flat, number)
    vocabulary, codes = coded
    # kinds of string, such as numpy's
    if not set(map(type, vocabulary)) <= {
        str,
        tuple,
    }:
        vocabulary = [
            entry if isinstance(entry, tuple) else str(entry) for entry in vocabulary
        ]
    return vocabulary, codes, scores, precision


def _split_pairs(items: Sequence[Any], form: Form) -> tuple[Sequence[Any], Any]:
    """Return items with the names of numbers, and their labels and scores if all are such pairs."""
    is_paired = form.scored and type(next(chain.from_iterable(items), None)) in (
        tuple,
        list,
    )
    pairs = _scored_strings(items) if is_paired else None
    if pairs is None and (form.numbered or form.places):
        items = [list(map(_name, item)) for item in items]
        pairs = _scored_strings(items) if is_paired else None
    return items, pairs


def _code_strings(
    entries: Iterable[Any], number: int
) -> tuple[Sequence[Any], Codes] | None:
    """Return the distinct entries and their codes; None if some entries are not strings."""
    try:
        vocabulary, codes = code_values(entries, number)
    except TypeError:
        # an entry that is a list or a mapping cannot be a dictionary's key
        return None
    if not all(issubclass(kind, str) for kind in set(map(type, vocabulary))):
        return None
    return vocabulary, codes


def encode_numbers(
    values: Any,
    form: Form,
    source: str,
    understood: str,
    ids: Sequence[str] | None = None,
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
    numbers, places = np.unique(values, return_inverse=True)
    names, codes = in_order(list(map(str, numbers.tolist())), places.ravel())
    return Lists(
        range(len(values)) if ids is None else ids,
        names,
        Side(np.arange(len(values) + 1), codes),
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
    if (
        isinstance(entry, (tuple, list))
        and len(entry) == 2
        and not isinstance(entry[0], str)
    ):
        return (_name(entry[0]), entry[1])
    return entry


def _as_lists(found: Items, form: Form) -> Sequence[Sequence[Any]]:
    """Return items as lists; sets are sorted, so that their order is the same in every process."""
    if form.single and all(isinstance(item, str) for item in found.items):
        return [[text] for text in found.items]
    lists: list[Any] = []
    for item in found.items:
        if isinstance(item, Set):
            lists.append(sorted(item, key=lambda entry: (str(type(entry)), str(entry))))
        elif isinstance(item, str) and not form.single and _is_written_list(item):
            lists.append([item] if item.strip() else [])
        else:
            lists.append(item.tolist() if isinstance(item, np.ndarray) else item)
    some = any(isinstance(item, (list, tuple)) for item in lists)
    for position, item in enumerate(lists):
        if isinstance(item, str) and form.single and not some:
            continue  # another item is wrong
        if not isinstance(item, (list, tuple)):
            raise not_a_list(item, form, found.where(position))
    return lists


def _is_written_list(text: str) -> bool:
    """Tell whether a cell is empty, or a list written as text."""
    if not text.strip():
        return True
    try:
        return read_cell(text) is not None
    except CutListError:  # whoever reads it names the place
        return True


def not_a_list(item: Any, form: Form, where: str = "") -> InputError:
    """Return the error for a value in place of the entries of an item."""
    example = _EXAMPLES.get(form.noun, "a list")
    if _is_whole(item) and form.scored:
        if not form.numbered:
            return InputError("number-as-label", where, value=item)
        lists = f'[[{item}], ...], or {{"id": [{item}], ...}}'
        return InputError(
            "number-as-list", where, value=item, noun=form.noun, example=lists
        )
    if isinstance(item, str) and not form.single:
        return InputError("text-as-list", where, **_list_for_text(item, form))
    wanted = f"a list of {form.noun}s"
    if form.single:
        wanted += (
            ", as other items have" if isinstance(item, str) else f" or a {form.noun}"
        )
    elif item is None:
        wanted += f"; write {example}, or [] for an item without {form.noun}s"
    else:
        wanted += f" such as {example}"
    return InputError("wrong-type", where, value=item, wanted=wanted)


def _list_for_text(text: str, form: Form) -> dict[str, Any]:
    """Return what the error for a text in place of a list shows."""
    parts = [part for part in _SEPARATORS.split(text.strip()) if part]
    shown = json.dumps(parts if len(parts) > 1 else [text], ensure_ascii=False)
    if len(shown) > _MOST_SHOWN:
        shown = _EXAMPLES.get(form.noun, "a list")
    return {"value": text, "noun": form.noun, "example": shown}


def _check_texts(
    found: Items, form: Form, vocabulary: Sequence[Entry], codes: Codes, indptr: Ints
) -> None:
    """Raise for empty entries, unless the form has them, and for halves of characters."""
    every = list(chain.from_iterable(map(_terms, vocabulary)))
    if not form.blank and not (all(vocabulary) and all(map(str.strip, every))):
        code = "empty"
        wrong = [
            not (entry and all(map(str.strip, _terms(entry)))) for entry in vocabulary
        ]
    elif form.single and has_surrogate("".join(every)):
        # tokenizers take texts in UTF-8
        code = "lone-surrogate"
        wrong = [has_surrogate("".join(_terms(entry))) for entry in vocabulary]
    else:
        return
    occurrence = int(np.array(wrong)[codes].argmax())
    position = int(np.searchsorted(indptr, occurrence, side="right")) - 1
    where = found.where.entry(position, form.noun, occurrence - int(indptr[position]))
    remedy = f"remove it, or give the item an empty list if it has no {form.noun}"
    raise InputError(code, where, role=f"the {form.noun}", remedy=remedy)


def _terms(entry: Entry) -> Terms:
    return (entry,) if isinstance(entry, str) else entry


def has_surrogate(text: str) -> bool:
    """Return whether a text holds half of a surrogate pair, which no file in UTF-8 can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _flatten(
    found: Items, items: Sequence[Sequence[Any]], form: Form, notes: list[Fact]
) -> tuple[Any, Floats | None, str]:
    """Find the entries, their scores and the precision of these, whatever their form."""
    entries: list[Entry] = []
    scores: list[float] = []
    precisions: set[str] = set()
    unused: dict[str, None] = {}
    for position, item in enumerate(items):
        for place, value in enumerate(item):
            try:
                entry, score = _entry(value, form)
            except InputError as error:
                raise error.placed(
                    found.where.entry(position, form.noun, place)
                ) from None
            if isinstance(value, Mapping):
                used = (form.noun,) if not form.scored else object_keys(value)
                unused.update((str(key), None) for key in value if key not in used)
            entries.append(entry)
            if score is not None:
                scores.append(as_score(score, form))
                precisions.add(precision_of(score))
        if scores and len(scores) != len(entries):
            raise InputError("some-scores", found.where(position), noun=form.noun)
    if unused:
        values = {"noun": form.noun}
        notes.append(
            Fact("unused-entry-keys", len(unused), tuple(unused), values=values)
        )
    flat = np.array(scores, np.float64) + 0.0 if scores else None
    return entries, flat, common_precision(precisions)


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


def object_keys(value: Mapping[Any, Any]) -> tuple[str | None, str | None]:
    """Return the keys that hold the label and the score of a label object, in any case.

    Examples
    --------
    >>> object_keys({"Name": "cat", "Confidence": 0.9, "Parents": []})
    ('Name', 'Confidence')
    """
    by_name = {str(key).casefold(): key for key in reversed(list(value))}
    label_key = next((by_name[name] for name in _LABELS if name in by_name), None)
    score_key = next(
        (by_name[name] for name in _OBJECT_SCORES if name in by_name), None
    )
    return label_key, score_key


def _is_caption_object(value: Any, form: Form) -> bool:
    """Return whether a value is an object such as ``{"caption": "a dog"}`` of pycocoevalcap."""
    is_object = form.noun == "caption" and isinstance(value, Mapping)
    return is_object and isinstance(value.get(form.noun), str)


def _entry(value: Any, form: Form) -> tuple[Entry, Any]:
    """Return an entry and its score as it was given; None without a score."""
    if isinstance(value, str):
        return str(value), None
    if _is_caption_object(value, form):
        return str(value[form.noun]), None
    if not form.scored:
        raise _not_an_entry(value, form)
    value, score = _split_score(value, form)
    if _are_texts(value):
        value = as_entry(tuple(map(str, value)))
    elif _is_whole(value):
        raise InputError("number-as-label", value=value)
    elif not isinstance(value, str):
        raise _not_an_entry(value, form)
    if score is ...:
        return value, None
    as_score(score, form)  # raises if it is not a number
    return value, score


def _split_score(value: Any, form: Form) -> tuple[Any, Any]:
    """Return what an object or a pair has as label and as score; ``...`` without a score."""
    if isinstance(value, Mapping):
        label_key, score_key = object_keys(value)
        if label_key is None:
            wanted = f'a {form.noun} such as {{"label": "cat", "score": 0.9}}'
            raise InputError("wrong-type", value=value, wanted=wanted)
        score = None if score_key is None else value[score_key]
        return value[label_key], ... if score is None else score
    if isinstance(value, (list, tuple)) and len(value) == 2:
        first, second = value
        if not isinstance(second, str) or _FRACTION.match(second):
            return first, second
    return value, ...


def _are_texts(value: Any) -> bool:
    """Return whether a value is a list or tuple of texts, and not empty."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(isinstance(text, str) for text in value)


def _not_an_entry(value: Any, form: Form) -> InputError:
    """Return the error for a value that is not a label, caption or candidate."""
    if not form.scored:
        wanted = f"a {form.noun}"
        if isinstance(value, (list, tuple)) and all(
            isinstance(part, str) for part in value
        ):
            wanted += "; if these are its tokens, join them with spaces"
    elif value is None or (isinstance(value, (list, tuple)) and not value):
        return InputError("no-entry", value=value, noun=form.noun)
    else:
        wanted = f'a {form.noun} such as "cat", ["cat", 0.9], or the synonyms ["cat", "kitty"]'
    return InputError("wrong-type", value=value, wanted=wanted)


def as_score(score: Any, form: Form) -> float:
    """Return a score as a number, which may be nan if the form allows it.

    Raises
    ------
    InputError
        If it is not a number, or not finite.
    """
    if form.allows_nan and isinstance(score, float) and math.isnan(score):
        return math.nan
    if form.truths and isinstance(score, bool | np.bool_):
        return float(score)
    return as_real(score, "the score")
