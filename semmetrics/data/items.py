"""Check and encode the items that a reader returns.

Conventions
-----------
A reader returns `Items`: lists of entries that are not yet checked. `encode` checks them and
converts them to integer codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.backend import common_precision, precision_of
from semmetrics.core.ragged import Codes, Floats, Ints, offsets
from semmetrics.data.cells import CutListError, read_cell
from semmetrics.data.entries import (
    as_score,
    is_integer,
    name_integers,
    not_a_list,
    object_keys,
    parse_entry,
)
from semmetrics.data.form import Form
from semmetrics.data.lists import (
    Entry,
    InputContent,
    Lists,
    Numbering,
    Side,
    Terms,
    code_values,
    renumber_entries,
)
from semmetrics.errors import ROW, Fact, InputError, Places


@dataclass
class Items:
    """Items as a reader returns them, not yet checked.

    Attributes
    ----------
    ids : sequence of str, or None
        One unique id per item. None if the input has no ids and items are matched by position.
    items : sequence
        For each item its entries in order, or a single string. An entry is a str. If the form has
        scores, it can also be a pair ``(label, number)``, a mapping with "label" (or "name") and
        perhaps "score", or a list of synonyms.
    where : Places
        The place of item ``i``, for messages: "gt.json, id 'a'" or "gt.csv, line 7, id 'a'".
    source, understood : str
        The name of the input, and how it was interpreted: "JSON, {id: [labels]}". ``understood``
        is only shown.
    notes : list of Fact or str
        Unusual content that the reader accepted.
    order, aliases, numbering, by_category, categories, absent, column_names, content, styles
        See ``Lists``.
    is_coco_instances, has_splits, has_single_entries : bool
        See ``Lists``.
    declared : sequence of str
        The labels that the input declares, some of which may not occur in any item. If there are
        any, the vocabulary includes all of them and `Lists.names_all` is true.
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
    content: InputContent = ""
    is_coco_instances: bool = False
    has_splits: bool = False
    has_single_entries: bool = False
    declared: Sequence[str] = ()
    styles: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def types(self) -> set[type]:
        """The types of the items, cached because finding them takes noticeable time."""
        return set(map(type, self.items))


def encode(unchecked: Items, form: Form) -> Lists:
    """Check the items of an input and encode them.

    Parameters
    ----------
    unchecked : Items
    form : Form
        Defines what an entry may be.

    Returns
    -------
    Lists

    Raises
    ------
    InputError
        If an item is not a list, an entry is not valid or not allowed to be empty, a score is not
        finite, or only some entries have a score. The message names the item.

    Examples
    --------
    >>> form = Form(noun="label", columns=("label",), keys=("labels",))
    >>> names = ["a", "b"]
    >>> items = Items(names, [["cat", "dog"], ["cat"]], Places("gt.json", names))
    >>> lists = encode(items, form)
    >>> lists.vocabulary, lists.side.codes.tolist()
    (['cat', 'dog'], [0, 1, 0])
    """
    notes = list(unchecked.notes)
    if form.single_integers:
        unchecked = _name_single_integers(unchecked)
    items = unchecked.items
    if not unchecked.types <= {list, tuple}:
        items = _as_lists(unchecked, form)
    order = unchecked.order
    if any(issubclass(item_type, Set) for item_type in unchecked.types):
        order = "sorted"
        if form.single:
            notes.append(Fact("sorted-sets", values={"noun": form.noun}))
    indptr = offsets(np.fromiter(map(len, items), np.int64, len(items)))
    vocabulary, codes, scores, precision = _code_entries(unchecked, items, form, notes)
    _check_texts(unchecked, form, vocabulary, codes, indptr)
    if unchecked.declared:
        vocabulary = list(dict.fromkeys(chain(vocabulary, unchecked.declared)))
    lists = Lists(
        range(len(items)) if unchecked.ids is None else unchecked.ids,
        vocabulary,
        Side(indptr, codes, scores),
        source=unchecked.source,
        understood=unchecked.understood,
        notes=notes,
        where=unchecked.where,
        noun=form.noun,
        order=order,
        aliases=unchecked.aliases,
        numbering=unchecked.numbering,
        by_category=unchecked.by_category,
        categories=unchecked.categories,
        absent=unchecked.absent,
        precision=precision,
        names_all=bool(unchecked.declared),
        column_names=unchecked.column_names,
        content=unchecked.content,
        is_coco_instances=unchecked.is_coco_instances,
        has_splits=unchecked.has_splits,
        has_single_entries=unchecked.has_single_entries,
        styles=unchecked.styles,
    )
    if unchecked.order == "keys" and scores is not None:
        # The reader found a 0 or 1 for each label: those with 1 are the labels of the item, and
        # the vocabulary also declares the others.
        present = replace(lists.side.keep(scores != 0), scores=None)
        return replace(lists, side=present, names_all=True, precision="float64")
    return lists


def _name_single_integers(unchecked: Items) -> Items:
    """Convert items that are a single integer to strings."""
    items = [str(item) if is_integer(item) else item for item in unchecked.items]
    return replace(unchecked, items=items)


def encode_numbers(
    values: Any,
    form: Form,
    source: str,
    understood: str,
    ids: Sequence[str] | None = None,
) -> Lists:
    """Encode a vector of integers, each of which is the only entry of an item.

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
    numbers, number_codes = np.unique(values, return_inverse=True)
    names = list(map(str, numbers.tolist()))
    vocabulary, codes = renumber_entries(names, number_codes.ravel())
    return Lists(
        range(len(values)) if ids is None else ids,
        vocabulary,
        Side(np.arange(len(values) + 1), codes),
        source=source,
        understood=understood,
        where=Places(source, ids, ROW, range(len(values))),
        noun=form.noun,
    )


def has_surrogate(text: str) -> bool:
    """Return whether a string contains half of a surrogate pair, which UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _as_lists(unchecked: Items, form: Form) -> Sequence[Sequence[Any]]:
    """Return all items as lists.

    Raises
    ------
    InputError
        If an item cannot be read as a list.
    """
    if form.single and all(isinstance(item, str) for item in unchecked.items):
        return [[text] for text in unchecked.items]
    lists = [_as_list(item, form) for item in unchecked.items]
    accepted_types = _accepted_types(lists, form)
    for position, item in enumerate(lists):
        if not isinstance(item, accepted_types):
            raise not_a_list(item, form, unchecked.where(position))
    return lists


def _accepted_types(items: Sequence[Any], form: Form) -> tuple[type, ...]:
    """Return the types of the items that are not to blame if an item cannot be read as a list."""
    if form.single and not any(isinstance(item, (list, tuple)) for item in items):
        # Strings are accepted, so the error is for the item that is not even a string.
        return (list, tuple, str)
    return (list, tuple)


def _as_list(item: Any, form: Form) -> Any:
    """Return an item as a list if it can be read as one, else unchanged."""
    if isinstance(item, Set):
        # Sorted, because the order of a set differs between processes.
        return sorted(item, key=lambda entry: (str(type(entry)), str(entry)))
    if isinstance(item, str) and not form.single and _is_written_list(item):
        return [item] if item.strip() else []
    if isinstance(item, np.ndarray):
        return item.tolist()
    return item


def _is_written_list(text: str) -> bool:
    """Return whether a cell is empty or contains a list written as text."""
    if not text.strip():
        return True
    try:
        return read_cell(text) is not None
    except CutListError:
        # Parsing the cell later raises the error with its place.
        return True


def _code_entries(
    unchecked: Items, items: Sequence[Sequence[Any]], form: Form, notes: list[Fact]
) -> tuple[Sequence[Entry], Codes, Floats | None, str]:
    """Return the distinct entries, the code and the score of each entry, and their precision."""
    n_entries = sum(map(len, items))
    items, pairs = _split_pairs(items, form)
    entries: Iterable[Any] = chain.from_iterable(items)
    scores: Floats | None = None
    if pairs is not None:
        entries, scores = pairs
    precision = "float64"
    coded = _code_strings(entries, n_entries)
    if coded is None:
        parsed, scores, precision = _parse_entries(unchecked, items, form, notes)
        coded = code_values(parsed, n_entries)
    vocabulary, codes = coded
    if not set(map(type, vocabulary)) <= {str, tuple}:
        # There are subclasses of str, such as NumPy's.
        vocabulary = [_as_plain(entry) for entry in vocabulary]
    return vocabulary, codes, scores, precision


def _as_plain(entry: Entry) -> Entry:
    """Return an entry whose string is a plain str."""
    if isinstance(entry, tuple):
        return entry
    return str(entry)


def _split_pairs(
    items: Sequence[Any], form: Form
) -> tuple[Sequence[Any], tuple[Any, Floats] | None]:
    """Return the items with integers as strings, and their pairs split into labels and scores.

    The second result has the labels and the scores of all entries if every entry is a pair of a
    string and a finite number. Otherwise it is None.
    """
    may_be_paired = form.scored and type(_first_entry(items)) in (tuple, list)
    if may_be_paired:
        pairs = _scored_strings(items)
        if pairs is not None:
            return items, pairs
    if not form.integers_as_names and not form.integers_as_positions:
        return items, None
    items = [list(map(name_integers, item)) for item in items]
    if may_be_paired:
        return items, _scored_strings(items)
    return items, None


def _first_entry(items: Sequence[Sequence[Any]]) -> Any:
    """Return the first entry of the first item that has one, or None."""
    for item in items:
        if len(item):
            return item[0]
    return None


def _scored_strings(items: Sequence[Sequence[Any]]) -> tuple[Any, Floats] | None:
    """Split pairs of a string and a finite number into labels and scores.

    Return None if any entry is something else. Pairs are common, so they are converted all at once.
    """
    entries = list(chain.from_iterable(items))
    if not set(map(type, entries)) <= {tuple, list}:
        return None
    if set(map(len, entries)) != {2}:
        return None
    names, numbers = zip(*entries, strict=True)
    if set(map(type, names)) != {str} or not set(map(type, numbers)) <= {int, float}:
        return None
    try:
        # Adding zero turns -0.0 into 0.0, which is also the value of -0 in JSON.
        scores = np.array(numbers, np.float64) + 0.0
    except OverflowError:
        return None
    if not np.isfinite(scores).all():
        return None
    return names, scores


def _code_strings(
    entries: Iterable[Any], n_entries: int
) -> tuple[Sequence[Any], Codes] | None:
    """Return the distinct entries and their codes, or None if some entries are not strings."""
    try:
        vocabulary, codes = code_values(entries, n_entries)
    except TypeError:
        # Lists and mappings are not hashable.
        return None
    entry_types = set(map(type, vocabulary))
    if not all(issubclass(entry_type, str) for entry_type in entry_types):
        return None
    return vocabulary, codes


def _parse_entries(
    unchecked: Items, items: Sequence[Sequence[Any]], form: Form, notes: list[Fact]
) -> tuple[list[Entry], Floats | None, str]:
    """Parse all entries one by one, and return them with their scores and the scores' precision.

    A note reports keys of label objects that are not used.
    """
    entries: list[Entry] = []
    scores: list[float] = []
    precisions: set[str] = set()
    unused_keys: dict[str, None] = {}
    for position, item in enumerate(items):
        for number, value in enumerate(item):
            try:
                entry, score = parse_entry(value, form)
            except InputError as error:
                where = unchecked.where.entry(position, form.noun, number)
                raise error.placed(where) from None
            if isinstance(value, Mapping):
                unused_keys.update(dict.fromkeys(_unused_keys(value, form)))
            entries.append(entry)
            if score is not None:
                scores.append(as_score(score, form))
                precisions.add(precision_of(score))
        if scores and len(scores) != len(entries):
            raise InputError("some-scores", unchecked.where(position), noun=form.noun)
    if unused_keys:
        examples = tuple(unused_keys)
        values = {"noun": form.noun}
        notes.append(Fact("unused-entry-keys", len(examples), examples, values=values))
    if not scores:
        return entries, None, common_precision(precisions)
    return entries, np.array(scores, np.float64) + 0.0, common_precision(precisions)


def _unused_keys(value: Mapping[Any, Any], form: Form) -> list[str]:
    """Return the keys of an object that are neither its label nor its score."""
    used: tuple[Any, ...] = (form.noun,)
    if form.scored:
        used = object_keys(value)
    return [str(key) for key in value if key not in used]


def _check_texts(
    unchecked: Items,
    form: Form,
    vocabulary: Sequence[Entry],
    codes: Codes,
    indptr: Ints,
) -> None:
    """Raise if an entry is empty and must not be, or a text has half of a surrogate pair."""
    terms = list(chain.from_iterable(map(_terms, vocabulary)))
    if not form.allows_empty and _have_empty(vocabulary, terms):
        error_code = "empty"
        is_wrong = [_is_empty(entry) for entry in vocabulary]
    elif form.single and has_surrogate("".join(terms)):
        # Tokenizers need texts that UTF-8 can encode.
        error_code = "lone-surrogate"
        is_wrong = [has_surrogate("".join(_terms(entry))) for entry in vocabulary]
    else:
        return
    first_wrong = int(np.array(is_wrong)[codes].argmax())
    position = int(np.searchsorted(indptr, first_wrong, side="right")) - 1
    number = first_wrong - int(indptr[position])
    where = unchecked.where.entry(position, form.noun, number)
    remedy = f"remove it, or give the item an empty list if it has no {form.noun}"
    raise InputError(error_code, where, role=f"the {form.noun}", remedy=remedy)


def _have_empty(vocabulary: Sequence[Entry], terms: Sequence[str]) -> bool:
    """Return whether an entry has no terms, or a term has no visible character."""
    return not (all(vocabulary) and all(map(str.strip, terms)))


def _is_empty(entry: Entry) -> bool:
    """Return whether an entry, or one of its synonyms, has no visible character."""
    if not entry:
        return True
    return not all(map(str.strip, _terms(entry)))


def _terms(entry: Entry) -> Terms:
    """Return the synonyms of an entry, or its only string."""
    if isinstance(entry, str):
        return (entry,)
    return entry
