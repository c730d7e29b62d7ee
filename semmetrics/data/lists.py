"""Immutable lists of strings by id, encoded as integers.

Conventions
-----------
Label sets, captions and references are all Lists: an item has an ordered list of entries, including
repeated ones, optionally with a score each. An entry is a string, or a tuple of synonyms. Items are
identified by id, or by position if the input has no ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, count, pairwise
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np

from semmetrics.core.hashing import by_value
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    Ints,
    lengths,
    offsets,
    sum_rows,
    take_rows,
)
from semmetrics.data.item_ids import Ids, Utf8Strings, take_ids
from semmetrics.errors import ITEM, Indexable, InputError, Places
from semmetrics.messages import pluralize

K = TypeVar("K")
T = TypeVar("T")
Terms: TypeAlias = tuple[str, ...]
Entry: TypeAlias = "str | Terms"


def clean_terms(
    terms: Iterable[str], clean: Callable[[str], Terms], *, repeats: bool = False
) -> Terms:
    """Return the terms of an entry after cleaning.

    Parameters
    ----------
    terms : iterable of str
    clean : callable
        Returns the terms that replace a term. Empty ones are dropped.
    repeats : bool
        Whether repeated terms are kept.
    """
    if isinstance(terms, tuple) and len(terms) == 1:
        # The most common case, which needs no set.
        cleaned = clean(terms[0])
        if len(cleaned) == 1 and cleaned[0]:
            return cleaned
    all_cleaned = chain.from_iterable(map(clean, terms))
    filled = filter(None, all_cleaned)
    if repeats:
        return tuple(filled)
    return tuple(dict.fromkeys(filled))


def as_entry(terms: Terms) -> Entry:
    """Return terms as an entry, which is a string if there is only one term.

    Examples
    --------
    >>> as_entry(("cat",)), as_entry(("bin", "ashcan"))
    ('cat', ('bin', 'ashcan'))
    """
    return terms[0] if len(terms) == 1 else terms


def gather(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Group the second elements of pairs by the first, in order of first appearance.

    Examples
    --------
    >>> gather([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    groups: dict[K, list[T]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def code_values(flat: Any, size: int) -> tuple[list[Any], Codes]:
    """Number the distinct values in order of first appearance.

    Parameters
    ----------
    flat : iterable
        Hashable values.
    size : int
        The number of values.

    Examples
    --------
    >>> values, codes = code_values(["b", "a", "b"], 3)
    >>> values, codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    # A value that is looked up for the first time gets the next number.
    code_of: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(code_of.__getitem__, flat), np.int32, size)
    return list(code_of), codes


def renumber_entries(entries: Sequence[T], codes: Any) -> tuple[list[T], Codes]:
    """Renumber the entries that occur, in order of first appearance.

    Returns
    -------
    entries : list
        The entries that occur.
    codes : int32 array
        The new codes.

    Examples
    --------
    >>> entries, codes = renumber_entries(["a", "b", "c"], np.array([2, 0, 2]))
    >>> entries, codes.tolist()
    (['c', 'a'], [0, 1, 0])
    """
    n_codes = len(codes)
    first_positions = np.full(len(entries), n_codes, np.int64)
    # Backwards, as the last assignment to an entry remains.
    first_positions[codes[::-1]] = np.arange(n_codes - 1, -1, -1)
    n_occurring = int((first_positions < n_codes).sum())
    order = np.argsort(first_positions, kind="stable")[:n_occurring]
    new_codes = np.zeros(len(entries), np.int32)
    new_codes[order] = np.arange(n_occurring, dtype=np.int32)
    return [entries[i] for i in order.tolist()], new_codes[codes]


@by_value()
@dataclass(frozen=True, eq=False)
class Side:
    """One side of a task: the codes of each item in order, and their scores.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    codes : int32 array, shape (occurrences,)
    scores : float array, shape (occurrences,), or None
    written : int32 array, shape (occurrences,), or None
        The codes of the labels as they were written, if ``codes`` are the codes of classes that
        several labels can belong to.
    """

    indptr: Ints
    codes: Codes
    scores: Floats | None = None
    written: Codes | None = None

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __repr__(self) -> str:
        return f"Side({pluralize(len(self), 'item')}, {pluralize(len(self.codes), 'code')})"

    @property
    def sizes(self) -> Ints:
        """The number of codes of each item."""
        return lengths(self.indptr)

    def _select(self, indptr: Ints, chosen: slice | Ints | Bools) -> Side:
        """Return a side with some of the occurrences, given the offsets of its items."""
        scores = None if self.scores is None else self.scores[chosen]
        written = None if self.written is None else self.written[chosen]
        return Side(indptr, self.codes[chosen], scores, written)

    def rows(self, start: int, stop: int) -> Side:
        """Return the items from start to stop. They share memory with these."""
        first = int(self.indptr[start])
        last = int(self.indptr[stop])
        return self._select(self.indptr[start : stop + 1] - first, slice(first, last))

    def take(self, rows: Ints) -> Side:
        """Return some items by their numbers. The number -1 gives an empty item."""
        is_item = rows >= 0
        item_rows = rows[is_item]
        widths = np.zeros(len(rows), np.int64)
        widths[is_item] = self.sizes[item_rows]
        _, flat = take_rows(self.indptr, item_rows)
        return self._select(offsets(widths), flat)

    def keep(self, chosen: Bools) -> Side:
        """Return the same items with only the chosen occurrences."""
        widths = sum_rows(chosen, self.indptr)
        return self._select(offsets(widths), chosen)


InputContent: TypeAlias = Literal["", "run", "judgements", "annotations", "results"]


@dataclass(frozen=True)
class Numbering:
    """A second number of each image of a file, such as Karpathy's ``cocoid``.

    Attributes
    ----------
    own : mapping from str to str
        The id of each item that was read, by its second number.
    ids, others : frozenset of str
        All ids and all second numbers of the file, including splits that were not read.
    """

    own: Mapping[str, str]
    ids: frozenset[str]
    others: frozenset[str]

    def renamed(self, rename: Callable[[str], str]) -> Numbering:
        """Return the same numbering with all ids and numbers renamed."""
        own = {rename(other): rename(id_) for other, id_ in self.own.items()}
        ids = frozenset(map(rename, self.ids))
        others = frozenset(map(rename, self.others))
        return Numbering(own, ids, others)


@by_value()
@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of strings of many items from one input.

    Attributes
    ----------
    ids : sequence of str, or range
        A range if the input has no ids.
    vocabulary : sequence of str or tuples of str
        The distinct entries, in order of first appearance.
    side : Side
        Codes into the vocabulary.
    noun : str
        What an entry is: "label".
    ranked : bool
        Whether items have a score for each entry but do not tell which entries they have, as in a
        matrix of scores. A decoding rule then chooses them.
    cells : {"", "members", "either"}
        The meaning of the cells of a matrix: "members" if they tell which entries an item has, or
        "either" if all are 0 or 1, which may also be scores. Empty if the input was not a matrix, or
        is ranked.
    source, understood : str
        The name of the input, and how it was read. ``understood`` is only shown.
    notes : list of Fact
        Notes on how the input was read.
    where : callable
        Returns the place of item ``i`` for messages, with the name of the input.
    columns : int or None
        The number of columns of a matrix whose columns are called by their numbers.
    order : {"", "sorted", "columns", "keys"}
        The origin of the order of entries, if the input only says which entries an item has: the
        entries of sets are sorted, and those of 0/1 are in the order of the columns or keys.
    unlike : tuple of int, int and str
        The number of entries that occur several times in an item with different scores, the number
        of such items, and an example.
    aliases : mapping from str to str
        The id of an item by its other names, such as the name of its file.
    numbering : Numbering or None
        A second number of each item, which predictions may use as id.
    id_part : str or None
        The regular expression that extracted these ids from longer ones.
    column_names : mapping from str to str
        The name of the column of each role in a table.
    content : {"", "run", "judgements", "annotations", "results"}
        Which side the input is, if the format determines it.
    is_coco_instances : bool
        Whether the input consists of COCO instances, which are usually a ground truth. False for
        LVIS.
    has_splits : bool
        Whether the format has splits, so that ``ReadOptions.split`` has an effect.
    has_single_entries : bool
        Whether the input is a mapping with a single entry for each id instead of a list:
        ``{id: caption}``.
    understood_as_scores : str
        The value of ``understood`` for the same cells read as scores. The reader of a matrix of
        labels sets it if ``cells`` is "either". Otherwise it is empty.
    whole : Lists or None
        The lists before entries with a score of 0 were left out. None if none were.
    names_all : bool
        Whether the vocabulary lists all entries: the columns of a matrix, the keys of 0/1 mappings,
        or the labels that a file declares. Such an entry belongs to the label universe even if no
        item has it.
    styles : mapping from str to str
        How the entries are written, if the reader inferred it from all items, such as
        {"cells": "lists written as text"}. Other batches of the same side must have the same
        styles.
    by_category : bool
        Whether entries are the ids of categories, as in COCO results. The other side may have their
        names.
    categories : mapping from str to str
        The names of categories by their ids, if the input has them, as COCO instances do.
    absent : mapping from str to sequence of str
        In a federated dataset, by id: the labels that an annotator looked for in the item and did
        not find. Other labels that an item does not list are unverified. Empty for other inputs.
    is_federated : bool
        Whether the marks belong to a federated dataset, such as LVIS. They are 1 and -1, and labels
        that an item does not list were not verified.
    has_marks : bool
        Whether the scores of a ground truth are marks: 1 for present, -1 for absent, and 0.5 for
        unverified labels. Labels that an item does not list are absent, unless the dataset is
        federated. Unverified cells are left out of hits, predictions and references of every
        measure (`LabelTask.unverified`).
    precision : {"float64", "float32", "float16", "bfloat16"}
        The floating-point type of the scores of the input. Thresholds are rounded to it.
    """

    ids: Ids
    vocabulary: Sequence[Entry]
    side: Side
    noun: str = "entry"
    ranked: bool = False
    cells: str = ""
    source: str = "input"
    understood: str = "lists"
    notes: list[Any] = field(default_factory=list)
    where: Callable[[int], str] = field(default=ITEM.format, compare=False)
    columns: int | None = None
    order: str = ""
    unlike: tuple[int, int, str] = (0, 0, "")
    aliases: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    numbering: Numbering | None = field(default=None, repr=False, compare=False)
    id_part: str | None = field(default=None, repr=False, compare=False)
    column_names: Mapping[str, str] = field(
        default_factory=dict, repr=False, compare=False
    )
    content: InputContent = field(default="", repr=False, compare=False)
    is_coco_instances: bool = field(default=False, repr=False, compare=False)
    has_splits: bool = field(default=False, repr=False, compare=False)
    has_single_entries: bool = field(default=False, repr=False, compare=False)
    understood_as_scores: str = field(default="", repr=False, compare=False)
    whole: Lists | None = field(default=None, repr=False, compare=False)
    names_all: bool = False
    styles: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    by_category: bool = False
    categories: Mapping[str, str] = field(
        default_factory=dict, repr=False, compare=False
    )
    absent: Mapping[str, Sequence[str]] = field(
        default_factory=dict, repr=False, compare=False
    )
    is_federated: bool = False
    precision: str = "float64"
    has_marks: bool = False

    def __len__(self) -> int:
        return len(self.side)

    def __repr__(self) -> str:
        return f"Lists({self.source}: {pluralize(len(self), 'item')}, {pluralize(*self.contents)})"

    @property
    def has_ids(self) -> bool:
        """Whether items are identified by an id, and not by their position."""
        return not isinstance(self.ids, range)

    def rows_by_id(self) -> dict[Any, int]:
        """Return the row of each item by its id. The last of equal ids wins."""
        return {item_id: row for row, item_id in enumerate(self.ids)}

    @property
    def was_matrix(self) -> bool:
        """Whether the input had a column for each entry, with 0/1 or a score in each cell."""
        return self.order == "columns" or (self.ranked and self.names_all)

    @property
    def contents(self) -> tuple[int, str]:
        """The number of entries, and what an entry is: (3, "label").

        If scores are marks, only labels that are present count.
        """
        if self.has_marks and self.side.scores is not None:
            is_present = self.side.scores == 1
            return int(is_present.sum()), self.noun
        noun = "score" if self.ranked else self.noun
        return len(self.side.codes), noun

    @cached_property
    def terms(self) -> Sequence[Terms]:
        """The terms of each entry of the vocabulary."""
        terms_of_entries: list[Terms] = []
        for entry in self.vocabulary:
            terms_of_entries.append((entry,) if isinstance(entry, str) else entry)
        return terms_of_entries

    @property
    def has_synonyms(self) -> bool:
        """Whether any entry has more than one term."""
        types = set(map(type, self.vocabulary))
        return not types.issubset({str})

    def rows(self, start: int, stop: int) -> Lists:
        """Return the items from start to stop. They share memory with these."""
        if isinstance(self.ids, Utf8Strings):
            ids: Ids = self.ids.rows(start, stop)
        else:
            ids = self.ids[start:stop]
        rows = slice(start, stop)
        return self._select(rows, ids, lambda side: side.rows(start, stop))

    def take(self, rows: Ints, ids: Ids | None = None) -> Lists:
        """Return some items by their numbers. The caller may pass their ids."""
        if ids is None:
            ids = take_ids(self.ids, rows)
        return self._select(rows, ids, lambda side: side.take(rows))

    def _select(
        self, rows: slice | Ints, ids: Ids, pick: Callable[[Side], Side]
    ) -> Lists:
        """Return some of the items with their places.

        Parameters
        ----------
        rows : slice or int array
        ids : sequence of str, or range
            The ids of these items.
        pick : callable
            Returns these items of a side.
        """
        where = self.where
        if isinstance(where, Places):
            place_ids = None if where.ids is None else ids
            numbers: Indexable = ()
            if where.place_format:  # else places have no numbers
                numbers = np.asarray(where.numbers)[rows]
            where = replace(where, ids=place_ids, numbers=numbers)
        whole = self.whole
        if whole is not None:
            whole = whole._select(rows, ids, pick)
        return replace(self, ids=ids, side=pick(self.side), where=where, whole=whole)

    def values(self) -> list[Any]:
        """Return the entries of all items, one after the other."""
        vocabulary = list(self.vocabulary)
        return [vocabulary[code] for code in self.side.codes.tolist()]

    def to_list(self) -> list[list[Any]]:
        """Return the entries of each item.

        Examples
        --------
        >>> side = Side(np.array([0, 2, 3]), np.array([1, 0, 1]))
        >>> Lists(range(2), ["cat", "dog"], side).to_list()
        [['dog', 'cat'], ['dog']]
        """
        flat = self.values()
        return [flat[start:stop] for start, stop in pairwise(self.side.indptr.tolist())]

    def occurring(self) -> Bools:
        """Return whether each entry of the vocabulary occurs in an item."""
        counts = np.bincount(self.side.codes, minlength=len(self.vocabulary))
        return counts > 0

    def first_item(self, code: int) -> int:
        """Return the first item that has the entry with this code."""
        occurrence = int(np.flatnonzero(self.side.codes == code)[0])
        return int(np.searchsorted(self.side.indptr, occurrence, side="right")) - 1

    def without_zeros(self) -> Lists:
        """Leave out the entries with a score of 0, if all scores are 0 or 1.

        Such scores tell which entries an item has. The vocabulary keeps entries that are 0 in
        every item. If all scores are 1 they may be real scores, and nothing changes.

        Examples
        --------
        >>> side = Side(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([0.0, 1.0, 1.0]))
        >>> Lists(range(2), ["cat", "dog"], side).without_zeros().to_list()
        [['dog'], ['cat']]
        """
        scores = self.side.scores
        if scores is None or self.ranked:
            return self
        has_zeros = (scores == 0).any()
        if not has_zeros or self.has_fractions:
            return self
        members = self.side.keep(scores != 0)
        return replace(
            self,
            side=replace(members, scores=None),
            order=self.order or "keys",
            understood=f"{self.understood}, 0/1",
            whole=self,
            names_all=True,
        )

    def without_unused_entries(self) -> Lists:
        """Remove entries that no item has from the vocabulary, unless it lists all entries."""
        if self.names_all:
            return self
        vocabulary, codes = renumber_entries(self.vocabulary, self.side.codes)
        side = replace(self.side, codes=codes)
        return replace(self, vocabulary=vocabulary, side=side)

    @property
    def has_fractions(self) -> bool:
        """Whether some score is neither 0 nor 1."""
        scores = self.side.scores
        if scores is None:
            return False
        is_fraction = (scores != 0) & (scores != 1)
        return bool(is_fraction.any())

    def normalized(
        self,
        clean: Callable[[str], Terms],
        keep: Collection[str] = frozenset(),
        *,
        repeats: bool = False,
    ) -> Lists:
        """Clean the text of every entry, and merge entries that become equal.

        A synonym is dropped if it becomes empty, or if it repeats another one and ``repeats`` is
        False. An entry that becomes empty as a whole stays as it was if no item has it, or if one
        of its terms is in ``keep``.

        Raises
        ------
        InputError
            If another entry becomes empty. The message names the item and the entry.
        """
        cleaned = [clean_terms(terms, clean, repeats=repeats) for terms in self.terms]
        empty_codes = [code for code, terms in enumerate(cleaned) if not terms]
        if empty_codes:
            occurs = self.occurring()
            for code in empty_codes:
                terms = self.terms[code]
                if occurs[code] and not any(term in keep for term in terms):
                    raise self._nothing_left_error(code)
                cleaned[code] = terms
        return self.renamed([as_entry(terms) for terms in cleaned])

    def _nothing_left_error(self, code: int) -> InputError:
        """Return the error for an entry that is empty after normalisation."""
        return InputError(
            "nothing-left",
            self.where(self.first_item(code)),
            role=f"the {self.noun}",
            value=", ".join(self.terms[code]),
            remedy=f"rename the {self.noun}, ignore it, or choose another normalization",
        )

    def renamed(self, vocabulary: Sequence[Entry]) -> Lists:
        """Return the same lists with other names of the entries. Equal names are merged."""
        if list(vocabulary) == list(self.vocabulary):
            return self
        code_of: dict[Entry, int] = {}
        new_codes = [code_of.setdefault(entry, len(code_of)) for entry in vocabulary]
        codes = np.array(new_codes, np.int32)[self.side.codes]
        side = replace(self.side, codes=codes)
        # The original lists still have the old names.
        return replace(self, vocabulary=list(code_of), side=side, whole=None)
