"""Lists of strings by id, integer-coded once and then immutable.

Conventions
-----------
Label sets, captions and references are all Lists: an item has an ordered list of entries, repeats
kept, perhaps with a score each. An entry is a string, or a tuple of synonyms. Items are known by
id, or by position where the input has no ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count, pairwise
from typing import Any, Literal, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, by_value, hash_strings
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
from semmetrics.errors import ITEM, InputError, Places
from semmetrics.messages import pluralize

K = TypeVar("K")
T = TypeVar("T")
Terms: TypeAlias = tuple[str, ...]
Entry: TypeAlias = "str | Terms"
Ids: TypeAlias = "Sequence[str] | range | Ints"  # numbers: items known by position


_TEXTS = 1 << 16  # strings that are made at once


def clean_terms(
    terms: Iterable[str], clean: Callable[[str], Terms], *, repeats: bool = False
) -> Terms:
    """Return the terms that are left of an entry's, none empty; each once, or repeats as well."""
    if isinstance(terms, tuple) and len(terms) == 1:  # as a rule
        left = clean(terms[0])
        if len(left) == 1 and left[0]:
            return left
    found = (part for term in terms for part in clean(term) if part)
    return tuple(found if repeats else dict.fromkeys(found))


def as_entry(terms: Terms) -> Entry:
    """Return the entry with those terms: a string where there is one.

    Examples
    --------
    >>> as_entry(("cat",)), as_entry(("bin", "ashcan"))
    ('cat', ('bin', 'ashcan'))
    """
    return terms[0] if len(terms) == 1 else terms


def gather(pairs: Iterable[tuple[K, T]]) -> dict[K, list[T]]:
    """Gather the second members of pairs by the first, in order of first appearance.

    Examples
    --------
    >>> gather([("a", 1), ("b", 2), ("a", 3)])
    {'a': [1, 3], 'b': [2]}
    """
    found: dict[K, list[T]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


def code_values(flat: Any, size: int) -> tuple[list[Any], Codes]:
    """Number the distinct values in order of first appearance.

    Examples
    --------
    >>> values, codes = code_values(["b", "a", "b"], 3)
    >>> values, codes.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    table: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(table.__getitem__, flat), np.int32, size)
    return list(table), codes


def in_order(entries: Sequence[T], codes: Any) -> tuple[list[T], Codes]:
    """Number the entries that occur in order of first appearance."""
    first = np.full(len(entries), len(codes), np.int64)
    # of several writes the last one stays
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    order = np.argsort(first, kind="stable")[: int((first < len(codes)).sum())]
    place = np.zeros(len(entries), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    return [entries[i] for i in order.tolist()], place[codes]


def take_ids(ids: Ids, rows: Ints) -> Ids:
    """Return the ids of those items, in that order.

    Examples
    --------
    >>> take_ids(["a", "b", "c"], np.array([2, 0])), take_ids(range(3), np.array([2])).tolist()
    (['c', 'a'], [2])
    """
    if isinstance(ids, (range, np.ndarray)):
        return np.asarray(ids, np.int64)[rows]
    return [ids[i] for i in rows.tolist()]


def join_ids(parts: Sequence[Ids]) -> Ids:
    """Return the ids of several parts, one after the other.

    Examples
    --------
    >>> join_ids([["a"], ["b", "c"]])
    ['a', 'b', 'c']
    """
    if len(parts) == 1 and isinstance(parts[0], Texts):
        return parts[0]
    if not parts or not all(isinstance(part, Texts) for part in parts):
        return [name for part in parts for name in map(str, part)]
    texts: Any = parts
    widths = np.concatenate([np.diff(part.ends) for part in texts])
    whole = [part.data[part.ends[0] : part.ends[-1]] for part in texts]
    return Texts(np.concatenate(whole), offsets(widths))


class Texts(Sequence[str]):
    """Strings kept as UTF-8 bytes, which become str where they are looked at.

    Parameters
    ----------
    data : uint8 array
    ends : int array, shape (strings + 1,)
        String ``i`` is ``data[ends[i]:ends[i + 1]]``.

    Examples
    --------
    >>> ids = Texts(np.frombuffer(b"abc", np.uint8), np.array([0, 1, 3]))
    >>> list(ids), ids[1], ids == ["a", "bc"]
    (['a', 'bc'], 'bc', True)
    """

    def __init__(self, data: NDArray[np.uint8], ends: NDArray[np.integer]) -> None:
        self.data, self.ends = data, ends

    def __len__(self) -> int:
        return len(self.ends) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return [self[i] for i in range(start, stop, step)]
            return self._strings(start, max(start, stop))
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        place = index % len(self)
        return self._strings(place, place + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _TEXTS):
            yield from self._strings(start, min(start + _TEXTS, len(self)))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Texts):
            return np.array_equal(self.ends, other.ends) and np.array_equal(
                self.data, other.data
            )
        return isinstance(other, list) and list(self) == other

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = ", ".join(repr(text[:20]) for text in self[:3])
        return f"Texts({len(self):,}: {first}{', …' if len(self) > 3 else ''})"

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each string."""
        return hash_strings(self)

    def rows(self, start: int, stop: int) -> Texts:
        """Return strings start to stop, sharing memory."""
        new = Texts(self.data, self.ends[start : stop + 1])
        if "hashes" in vars(self):
            new.hashes = self.hashes[start:stop]
        return new

    def utf8(self, start: int, stop: int) -> tuple[NDArray[np.uint8], Ints]:
        """Return the bytes of some strings, and where each begins and ends in them."""
        ends = self.ends[start : stop + 1].astype(np.int64)
        return self.data[ends[0] : ends[-1]], ends - ends[0]

    def _strings(self, start: int, stop: int) -> list[str]:
        ends = self.ends[start : stop + 1].tolist()
        part = self.data[ends[0] : ends[-1]].tobytes()
        if part.isascii():
            text, first = part.decode("ascii"), ends[0]
            return [text[a - first : b - first] for a, b in pairwise(ends)]
        return [part[a - ends[0] : b - ends[0]].decode() for a, b in pairwise(ends)]


@by_value()
@dataclass(frozen=True, eq=False)
class Side:
    """One side of a task: for each item its codes in order, and their scores.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    codes : int32 array, shape (occurrences,)
    scores : float array, shape (occurrences,), or None
    written : int32 array, shape (occurrences,), or None
        The label as it was written, where the class in ``codes`` does not tell all of it.
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

    def _flat(self, indptr: Ints, chosen: slice | Ints | Bools) -> Side:
        scores = None if self.scores is None else self.scores[chosen]
        written = None if self.written is None else self.written[chosen]
        return Side(indptr, self.codes[chosen], scores, written)

    def rows(self, start: int, stop: int) -> Side:
        """Return items start to stop, sharing memory."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return self._flat(self.indptr[start : stop + 1] - first, slice(first, last))

    def take(self, rows: Ints) -> Side:
        """Return the items of those numbers; -1 gives an empty one."""
        widths = np.zeros(len(rows), np.int64)
        widths[rows >= 0] = np.diff(self.indptr)[rows[rows >= 0]]
        _, flat = take_rows(self.indptr, rows[rows >= 0])
        return self._flat(offsets(widths), flat)

    def keep(self, chosen: Bools) -> Side:
        """Return the occurrences chosen, in the same items."""
        return self._flat(offsets(sum_rows(chosen, self.indptr)), chosen)


Holds: TypeAlias = Literal["", "run", "judgements", "annotations", "results"]


@dataclass(frozen=True)
class Numbering:
    """A second number of each image of a file, such as Karpathy's ``cocoid`` besides ``imgid``.

    Attributes
    ----------
    own : mapping from str to str
        The ids of the items that were read, by their other number.
    ids, others : frozenset of str
        All ids and other numbers of the file, also those of splits that were not read.
    """

    own: Mapping[str, str]
    ids: frozenset[str]
    others: frozenset[str]

    def renamed(self, rename: Callable[[str], str]) -> Numbering:
        """Return the same numbering with all ids and numbers renamed."""
        own = {rename(other): rename(id_) for other, id_ in self.own.items()}
        return Numbering(
            own, frozenset(map(rename, self.ids)), frozenset(map(rename, self.others))
        )


@by_value()
@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of strings of many items, as one input gave them.

    Attributes
    ----------
    ids : sequence of str, or range
        A range where the input has no ids.
    vocabulary : sequence of str or tuples of str
        The distinct entries, in order of first appearance.
    side : Side
        Codes into the vocabulary.
    noun : str
        What an entry is: "label".
    ranked : bool
        Whether every entry is scored and nothing says which of them an item has, as in a matrix
        of scores: sets are then made by a decoding rule.
    cells : str
        What the cells of a matrix said: "members", or "either" where all are 0 or 1 and may be
        scores; "" where it was none, or is ranked.
    source, understood : str
        The name of the input, and how it was read.
    notes : list of str
        What was odd and nevertheless accepted.
    where : callable
        The place of item ``i``, for messages; it names the input, too.
    columns : int or None
        How many columns a matrix had whose columns are called by their numbers.
    order : {"", "sorted", "columns", "keys"}
        Where the order of entries is from, if the input says only which entries an item has: sets
        are sorted, and 0/1 is in the order of the columns or keys.
    unlike : tuple of int, int and str
        How many entries stand in one item with different scores, of how many items, and an example.
    aliases : mapping from str to str
        Ids by what else they are called, such as the names of files.
    numbering : Numbering or None
        A second number of each item, by which predictions may be called.
    id_part : str or None
        The regular expression that found these ids in longer ones.
    column_names : mapping from str to str
        Of a table, the name of the column of each role.
    holds : {"", "run", "judgements", "annotations", "results"}
        Which side it is, if the format says so.
    whole : Lists or None
        Where all scores were 0 or 1, and said so which entries an item has: as they were.
    names_all : bool
        Whether the vocabulary lists all entries there are: the columns of a matrix, the keys of
        0/1 mappings, or the labels that a file declares. Such an entry belongs to the label
        universe even if no item has it.
    styles : mapping from str to str
        How the entries are written, if the reader decided that by looking at all items: by what was
        decided, such as {"cells": "lists written as text"}. Other batches of the same side must
        have the same styles.
    by_category : bool
        Whether entries are the ids of categories, which the other side may name: COCO results.
    categories : mapping from str to str
        The names of categories by their ids, of an input that has them: COCO instances.
    absent : mapping from str to sequence of str
        By id, the labels of a federated dataset that an annotator did not find in the item. Empty
        for other inputs. Nobody verified the other labels that an item does not list.
    is_federated : bool
        Whether a ground truth with marks is of such a dataset, such as LVIS: the marks are 1 and
        -1, and labels that an item does not list were not verified.
    has_marks : bool
        Whether the scores of a ground truth are marks: 1 for present, -1 for absent, and 0.5 for a
        label of which nobody verified whether the item has it. Labels that an item does not list
        are absent, unless the dataset is federated. Unverified cells are left out of hits,
        predictions and references of every measure (`LabelTask.unverified`).
    precision : {"float64", "float32", "float16", "bfloat16"}
        The floating-point type in which scores were given. Thresholds are rounded to it.
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
    holds: Holds = field(default="", repr=False, compare=False)
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
        """Whether the input had one column per entry, with 0/1 or a score in each cell."""
        return self.order == "columns" or (self.ranked and self.names_all)

    @property
    def contents(self) -> tuple[int, str]:
        """How many of what it holds: (3, "label"). Of marks, only labels that are present count."""
        if self.has_marks and self.side.scores is not None:
            return int((self.side.scores == 1).sum()), self.noun
        return len(self.side.codes), "score" if self.ranked else self.noun

    @cached_property
    def terms(self) -> Sequence[Terms]:
        """The terms of each entry of the vocabulary."""
        return [
            (entry,) if isinstance(entry, str) else entry for entry in self.vocabulary
        ]

    @property
    def synonyms(self) -> bool:
        """Whether any entry has more than one term."""
        return not set(map(type, self.vocabulary)) <= {str}

    def rows(self, start: int, stop: int) -> Lists:
        """Return items start to stop, sharing memory."""
        ids = self.ids
        ids = ids.rows(start, stop) if isinstance(ids, Texts) else ids[start:stop]
        return self._some(slice(start, stop), ids, lambda side: side.rows(start, stop))

    def take(self, rows: Ints, ids: Ids | None = None) -> Lists:
        """Return the items of those numbers, perhaps under ids that are known to be theirs."""
        ids = take_ids(self.ids, rows) if ids is None else ids
        return self._some(rows, ids, lambda side: side.take(rows))

    def _some(self, rows: Any, ids: Ids, pick: Callable[[Side], Side]) -> Lists:
        """Return some of the items, which know where they are."""
        where: Any = self.where
        if isinstance(where, Places):
            named: Any = None if where.ids is None else ids
            numbers = np.asarray(where.numbers)[rows] if where.unit else ()
            where = replace(where, ids=named, numbers=numbers)
        whole = self.whole and self.whole._some(rows, ids, pick)
        return replace(self, ids=ids, side=pick(self.side), where=where, whole=whole)

    def values(self) -> list[Any]:
        """Return all entries in order, each as often as it stands there."""
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
        """Tell which entries of the vocabulary some item has."""
        return np.bincount(self.side.codes, minlength=len(self.vocabulary)) > 0

    def first_item(self, code: int) -> int:
        """Find the first item that has the entry of that code."""
        occurrence = int(np.flatnonzero(self.side.codes == code)[0])
        return int(np.searchsorted(self.side.indptr, occurrence, side="right")) - 1

    def chosen(self) -> Lists:
        """Leave out the entries of score 0, where scores are all 0 or 1 and so say what items have.

        The vocabulary keeps entries that are 0 in every item. Ones alone may be scores, and stay as
        they are.

        Examples
        --------
        >>> side = Side(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([0.0, 1.0, 1.0]))
        >>> Lists(range(2), ["cat", "dog"], side).chosen().to_list()
        [['dog'], ['cat']]
        """
        scores = self.side.scores
        if (
            scores is None
            or self.ranked
            or not (scores == 0).any()
            or self.has_fractions
        ):
            return self
        return replace(
            self,
            side=replace(self.side.keep(scores != 0), scores=None),
            order=self.order or "keys",
            understood=f"{self.understood}, 0/1",
            whole=self,
            names_all=True,
        )

    def occurring_alone(self) -> Lists:
        """Leave out of the vocabulary what no item has, unless it names all entries."""
        if self.names_all:
            return self
        vocabulary, codes = in_order(self.vocabulary, self.side.codes)
        return replace(
            self, vocabulary=vocabulary, side=replace(self.side, codes=codes)
        )

    @property
    def has_fractions(self) -> bool:
        """Whether some score is neither 0 nor 1."""
        scores = self.side.scores
        return scores is not None and bool(((scores != 0) & (scores != 1)).any())

    def normalized(
        self,
        clean: Callable[[str], Terms],
        keep: Collection[str] = frozenset(),
        *,
        repeats: bool = False,
    ) -> Lists:
        """Clean the text of every entry; entries that become equal are one.

        A synonym of which nothing is left is dropped, and so is one that an entry repeats, unless
        ``repeats`` are kept. An entry of which nothing is left stays as it is if no item has it, or
        if one of its terms is to be kept.

        Raises
        ------
        InputError
            If nothing is left of an entry; names the item and the entry.
        """
        cleaned = [clean_terms(terms, clean, repeats=repeats) for terms in self.terms]
        empty = [code for code, terms in enumerate(cleaned) if not terms]
        occur = self.occurring() if empty else ()
        for code in empty:
            terms = self.terms[code]
            if occur[code] and not any(term in keep for term in terms):
                remedy = f"rename the {self.noun}, ignore it, or choose another normalization"
                raise InputError(
                    "nothing-left",
                    self.where(self.first_item(code)),
                    role=f"the {self.noun}",
                    value=", ".join(terms),
                    remedy=remedy,
                )
            cleaned[code] = terms
        return self.renamed([as_entry(terms) for terms in cleaned])

    def renamed(self, vocabulary: Sequence[Entry]) -> Lists:
        """Give the entries other names; those that become equal are joined."""
        if list(vocabulary) == list(self.vocabulary):
            return self
        codes: dict[Entry, int] = {}
        table = [codes.setdefault(entry, len(codes)) for entry in vocabulary]
        side = replace(self.side, codes=np.array(table, np.int32)[self.side.codes])
        return replace(self, vocabulary=list(codes), side=side, whole=None)
