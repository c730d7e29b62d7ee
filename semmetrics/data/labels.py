"""Label lists, integer-coded once and then immutable.

Conventions
-----------
The labels of an item are an ordered list, repeats kept. A label is one term or a tuple of terms
(synonyms). Items are known by id, or by position where the input has no ids.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools, Codes, Floats, Ints, offsets, sum_rows, take_rows
from semmetrics.errors import InputError

__all__ = ["Ids", "Labels", "Side", "Terms", "clean_terms"]

Terms: TypeAlias = tuple[str, ...]
Ids: TypeAlias = "Sequence[str] | range | Ints"  # numbers: items known by position


def clean_terms(terms: Iterable[str], clean: Callable[[str], Terms]) -> Terms:
    """What is left of the terms of a label: distinct, none of them empty."""
    return tuple(dict.fromkeys(part for term in terms for part in clean(term) if part))


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

    def _flat(self, indptr: Ints, chosen: slice | Ints | Bools) -> Side:
        scores = None if self.scores is None else self.scores[chosen]
        written = None if self.written is None else self.written[chosen]
        return Side(indptr, self.codes[chosen], scores, written)

    def rows(self, start: int, stop: int) -> Side:
        """Items start to stop, sharing memory."""
        first, last = int(self.indptr[start]), int(self.indptr[stop])
        return self._flat(self.indptr[start : stop + 1] - first, slice(first, last))

    def take(self, rows: Ints) -> Side:
        """The items of those numbers; -1 gives an empty one."""
        widths = np.zeros(len(rows), np.int64)
        widths[rows >= 0] = np.diff(self.indptr)[rows[rows >= 0]]
        _, flat = take_rows(self.indptr, rows[rows >= 0])
        return self._flat(offsets(widths), flat)

    def keep(self, chosen: Bools) -> Side:
        """The occurrences chosen, in the same items."""
        return self._flat(offsets(sum_rows(chosen, self.indptr)), chosen)


@dataclass(frozen=True, eq=False)
class Labels:
    """Label lists of many items, as one input gave them.

    Attributes
    ----------
    ids : sequence of str, or range
        A range where the input has no ids.
    vocabulary : tuple of tuples of str
        The distinct labels, in order of first appearance, each with its terms.
    side : Side
        Codes into the vocabulary.
    ranked : bool
        True when the input scores labels without saying which of them are predicted (a score
        matrix): sets are then made by a decoding rule.
    source, understood : str
        The name of the input, and how it was read.
    notes : list of str
        What was odd and nevertheless accepted.
    where : callable
        The place of item ``i`` in the input, for messages.
    """

    ids: Ids
    vocabulary: tuple[Terms, ...]
    side: Side
    ranked: bool = False
    source: str = "input"
    understood: str = "lists of labels"
    notes: list[str] = field(default_factory=list)
    where: Callable[[int], str] = "item {}".format

    def __len__(self) -> int:
        return len(self.side)

    @property
    def synonyms(self) -> bool:
        """Whether any label has more than one term."""
        return any(len(terms) > 1 for terms in self.vocabulary)

    def occurring(self) -> Bools:
        """Which labels of the vocabulary some item has."""
        return np.bincount(self.side.codes, minlength=len(self.vocabulary)) > 0

    def first_item(self, code: int) -> int:
        """The first item that has the label of that code."""
        occurrence = int(np.flatnonzero(self.side.codes == code)[0])
        return int(np.searchsorted(self.side.indptr, occurrence, side="right")) - 1

    def normalized(
        self, clean: Callable[[str], Terms], keep: Collection[str] = frozenset()
    ) -> Labels:
        """The same lists with every label's text cleaned; labels that become equal are one.

        A synonym of which nothing is left is no longer one. Where nothing is left of a label, it
        stays as it is if no item has it, or if one of its terms is to be kept.

        Raises
        ------
        InputError
            If nothing is left of a label; names the item and the label.
        """
        cleaned = [clean_terms(terms, clean) for terms in self.vocabulary]
        empty = [code for code, terms in enumerate(cleaned) if not terms]
        occur = self.occurring() if empty else ()
        for code in (code for code in empty if occur[code]):
            terms = self.vocabulary[code]
            if not any(term in keep for term in terms):
                raise InputError(
                    f"nothing is left of the label {', '.join(terms)!r} after normalisation",
                    where=f"{self.source}, {self.where(self.first_item(code))}",
                    remedy="rename the label, ignore it, or choose another normalisation",
                )
        for code in empty:
            cleaned[code] = self.vocabulary[code]
        return self.renamed(cleaned)

    def renamed(self, vocabulary: Sequence[Terms]) -> Labels:
        """The same lists with a new vocabulary of the same length; equal labels are joined."""
        if tuple(vocabulary) == self.vocabulary:
            return self
        codes: dict[Terms, int] = {}
        table = [codes.setdefault(terms, len(codes)) for terms in vocabulary]
        side = replace(self.side, codes=np.array(table, np.int32)[self.side.codes])
        return replace(self, vocabulary=tuple(codes), side=side)
