"""One input of a `Scorer`, the predictions or the ground truth, that comes in batches.

Conventions
-----------
The first batch with scores decides whether 0 and 1 mark the labels of each item or are scores.
Later batches are read in the same way and never change how earlier ones were read. If a later batch
shows that the first one was probably misread, it raises an error that names the option ``scores``.

A batch has one of these forms:

- "plain": lists without scores.
- "empty": lists without entries.
- "zeros": every score is 0 or 1, and some are 0. They mark the labels of each item.
- "members": a matrix or mapping of 0 and 1, or of booleans, which mark the labels of each item.
- "cells": a matrix of 0 and 1 whose cells could also be scores.
- "scores": lists with scores.
- "table": a matrix of scores.
- "whole": a matrix or a part of the items that was evaluated as it was, without its items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from semmetrics.core.backend import common_precision
from semmetrics.core.ragged import Codes, offsets, row_numbers
from semmetrics.data.cell_lists import check_styles, place_of_styles
from semmetrics.data.lists import Entry, Ids, Lists, Side, join_ids
from semmetrics.errors import ITEM, Fact, InputError, Places, unite
from semmetrics.messages import listing

_NO_CODES: Codes = np.zeros(0, np.int32)
_MEMBER_FORMS = frozenset({"zeros", "members", "cells"})
FORM_NAMES = {
    "table": "a matrix of scores",
    "cells": "a matrix of 0 and 1",
    "empty": "empty lists",
    "plain": "lists without scores",
    "members": "0/1",
    "zeros": "scores of 0 and 1",
    "scores": "scores",
    "whole": "a matrix, or a part of the items",
}
"""The names of the forms of batches in messages."""
_INCOMPATIBLE = {
    "plain": frozenset({"zeros", "scores"}),
    "table": frozenset(FORM_NAMES) - {"table", "cells"},
    "whole": frozenset(FORM_NAMES) - {"whole"},
}
"""Forms that one call would not take together, by form."""


class _KnownIds:
    """The ids of stored items, collected when they are first needed."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._n_parts = 0

    def copy(self) -> _KnownIds:
        """Return the same ids, to which others can be added."""
        new = _KnownIds()
        new._names = dict(self._names)
        new._n_parts = self._n_parts
        return new

    def among(self, parts: Sequence[Ids], others: Sequence[Ids]) -> list[str]:
        """Return the other ids that occur in the parts."""
        for part in parts[self._n_parts :]:
            self._names.update(dict.fromkeys(map(str, part)))
        self._n_parts = len(parts)
        repeated = []
        for part in others:
            repeated += [name for name in map(str, part) if name in self._names]
        return repeated


@dataclass
class InputBuffer:
    """The batches of one input.

    Attributes
    ----------
    source, noun, reading : str
        The name of the first batch, the noun for its entries, and how it was read.
    notes : list of Fact
        The notes on all batches, without repetitions.
    unlike : tuple of int, int and str
        As ``Lists.unlike``, for all batches.
    forms : set of str
        The forms of the batches.
    only_ones : bool
        Whether all scores so far are 1. They may be scores, or say which labels an item has.
    readings : list of str
        How the batches were read, each once.
    order : str
        As ``Lists.order``, of the first batch that has one.
    precisions : set of str
        The floating-point types of the scores.
    has_marks, names_all, is_federated : bool
        As the attributes of ``Lists``, for any batch.
    styles : dict from str to str
        As ``Lists.styles``, of the first batch that has them.
    style_place : str
        The place of an item that shows the styles.
    columns : list
        The columns of matrices.
    has_unnamed_columns : bool
        Whether a matrix had columns without names.
    codes : dict from entry to int
        The vocabulary of the stored items.
    sides : list of Side
        The stored items, batch by batch.
    ids : list of ids, or None
        The ids of the stored items, batch by batch. None if items are known by position.
    first_place : str
        The place of the first item.
    n_stored : int
        The number of stored items.
    n_dropped, n_dropped_entries : int
        How many items were summed and dropped, and how many entries they had.

    Examples
    --------
    >>> buffer = InputBuffer()
    >>> for codes in ([0, 1], [1]):
    ...     side = Side(offsets(np.array([len(codes)])), np.array(codes))
    ...     buffer.extend(InputBuffer.of(Lists(range(1), ["cat", "dog"], side)))
    >>> len(buffer), buffer.lists().to_list()
    (2, [['cat', 'dog'], ['dog']])
    """

    source: str = ""
    noun: str = "entry"
    reading: str = ""
    notes: list[Fact] = field(default_factory=list)
    unlike: tuple[int, int, str] = (0, 0, "")
    forms: set[str] = field(default_factory=set)
    only_ones: bool = False
    readings: list[str] = field(default_factory=list)
    order: str = ""
    precisions: set[str] = field(default_factory=set)
    has_marks: bool = False
    names_all: bool = False
    is_federated: bool = False
    styles: dict[str, str] = field(default_factory=dict)
    style_place: str = ""
    columns: list[Entry] = field(default_factory=list)
    has_unnamed_columns: bool = False
    codes: dict[Entry, int] = field(default_factory=dict)
    sides: list[Side] = field(default_factory=list)
    ids: list[Ids] | None = None
    first_place: str = ""
    n_stored: int = 0
    n_dropped: int = 0
    n_dropped_entries: int = 0
    _known_ids: _KnownIds = field(default_factory=_KnownIds, compare=False)

    def __len__(self) -> int:
        """The number of items of all batches, also of those that were dropped."""
        return self.n_dropped + self.n_stored

    # ---- batches --------------------------------------------------------------------------------

    @classmethod
    def of(cls, lists: Lists) -> InputBuffer:
        """Return a batch."""
        form = _form_of(lists)
        batch = cls(lists.source, lists.noun, lists.understood)
        batch.ids = [lists.ids] if lists.has_ids else None
        if not len(lists):
            return batch
        batch.notes = list(lists.notes)
        batch.unlike = lists.unlike
        batch.forms = {form}
        batch.only_ones = form == "scores" and _has_only_ones(lists.side)
        batch.readings = [lists.understood]
        batch.order = lists.order
        batch.precisions = {lists.precision}
        batch.has_marks = lists.has_marks
        batch.names_all = lists.names_all
        batch.is_federated = lists.is_federated
        batch.styles = dict(lists.styles)
        batch.style_place = place_of_styles(lists)
        if lists.ranked or lists.cells:
            batch.columns = list(lists.vocabulary)
            batch.has_unnamed_columns = (
                bool(batch.columns) and lists.columns is not None
            )
        batch.codes = {entry: code for code, entry in enumerate(lists.vocabulary)}
        batch.sides = [lists.side]
        batch.first_place = lists.where(0)
        batch.n_stored = len(lists)
        return batch

    def read_alike(self, lists: Lists) -> Lists:
        """Return a batch whose scores of 0 and 1 are read like the earlier batches."""
        form = _form_of(lists)
        is_of_members = not self.forms.isdisjoint(_MEMBER_FORMS)
        if "table" in self.forms and form == "cells":
            return _as_table(lists)
        if "scores" in self.forms and form == "zeros" and not self.only_ones:
            return lists.whole or lists
        if is_of_members and form == "scores" and _has_only_ones(lists.side):
            return replace(
                lists,
                side=replace(lists.side, scores=None),
                order=lists.order or "keys",
                understood=f"{lists.understood}, 0/1",
                whole=lists,
                names_all=True,
            )
        return lists

    @classmethod
    def of_whole(cls, data: Any, n_items: int) -> InputBuffer:
        """Return a batch whose items are evaluated as they are and never stored.

        Parameters
        ----------
        data : Lists or Matrix
        n_items : int
            How many of the items are evaluated.
        """
        n_entries, noun = data.contents
        batch = cls(data.source, noun, data.understood)
        batch.ids = [] if data.has_ids else None
        batch.forms = {"whole"}
        batch.readings = [data.understood]
        batch.n_dropped = n_items
        batch.n_dropped_entries = n_entries * n_items // max(1, len(data))
        if isinstance(data, Lists):
            batch.styles = dict(data.styles)
            batch.style_place = place_of_styles(data)
        return batch

    def read_buffer_alike(self, other: InputBuffer) -> InputBuffer:
        """Return another buffer whose scores of 1 are read like the earlier batches."""
        is_of_members = not self.forms.isdisjoint(_MEMBER_FORMS)
        if not is_of_members or "scores" not in other.forms or not other.only_ones:
            return other
        new = other.copy()
        new.forms = {*other.forms - {"scores"}, "zeros"}
        new.only_ones = False
        new.order = other.order or "keys"
        new.readings = [f"{reading}, 0/1" for reading in other.readings]
        new.names_all = True
        new.sides = [replace(side, scores=None) for side in other.sides]
        return new

    def check(self, other: InputBuffer) -> None:
        """Raise an error if a batch cannot follow these.

        Raises
        ------
        InputError
            If only one of them has ids, the columns of matrices or the meaning of scores differ,
            only some entries have a score, or entries are written in another style.
        """
        check_styles(other.styles, self.styles, other.style_place)
        if not self.forms or not other.forms:
            return
        self._check_scores(other)
        if (self.ids is None) is not (other.ids is None):
            has = "no ids" if other.ids is None else "ids"
            had = "no ids" if self.ids is None else "ids"
        elif self.columns and other.columns and self.columns != other.columns:
            has = f"the columns {listing(map(str, other.columns))}"
            had = f"the columns {listing(map(str, self.columns))}"
        elif self._differs_in_names(other):
            has = _describe_columns(unnamed=other.has_unnamed_columns)
            had = _describe_columns(unnamed=self.has_unnamed_columns)
        elif self.is_federated is not other.is_federated:
            has = _describe_federation(is_federated=other.is_federated)
            had = _describe_federation(is_federated=self.is_federated)
        elif self._is_incompatible(other):
            has = _describe_forms(other.forms)
            had = _describe_forms(self.forms)
        else:
            return
        where = other.first_place or other.source
        raise InputError("other-batch", where, has=has, had=had)

    def _check_scores(self, other: InputBuffer) -> None:
        """Raise an error if scores of 0 and 1 mean something else than before."""
        for members, scores in ((self, other), (other, self)):
            has_scores = not scores.forms.isdisjoint({"scores", "table"})
            if has_scores and not members.forms.isdisjoint(_MEMBER_FORMS):
                has = _describe_forms(other.forms)
                had = _describe_forms(self.forms)
                where = other.first_place or other.source
                raise InputError("other-scores", where, has=has, had=had)

    def _differs_in_names(self, other: InputBuffer) -> bool:
        """Return whether only one of them has columns without names.

        Entries that are all numbers may be the numbers of columns.
        """
        if self.has_unnamed_columns is other.has_unnamed_columns:
            return False
        named = other if self.has_unnamed_columns else self
        return not all(str(entry).isdecimal() for entry in named.codes)

    def _is_incompatible(self, other: InputBuffer) -> bool:
        """Return whether one call would not take the forms of both together."""
        forms = self.forms | other.forms
        return any(not forms.isdisjoint(_INCOMPATIBLE.get(form, ())) for form in forms)

    def repeated_ids(self, other: InputBuffer) -> list[str]:
        """Return the ids of another batch that stored items have."""
        if not self.ids or not other.ids:
            return []
        return self._known_ids.among(self.ids, other.ids)

    def extend(self, other: InputBuffer) -> None:
        """Add a batch that was checked, or another buffer."""
        if not self.source:
            self.source = other.source
            self.noun = other.noun
            self.reading = other.reading
        self.styles = other.styles | self.styles
        self.style_place = self.style_place or other.style_place
        if not other.forms:
            return
        if not self.forms:
            self.ids = None if other.ids is None else []
            self.only_ones = other.only_ones
        elif "scores" in other.forms:
            self.only_ones = self.only_ones and other.only_ones
        if self.ids is not None:
            self.ids += other.ids or []
        self.unlike = _add_unlike(self.unlike, other.unlike)
        self.notes = unite([*self.notes, *other.notes])
        self.forms |= other.forms
        self.readings = list(dict.fromkeys([*self.readings, *other.readings]))
        self.order = self.order or other.order
        self.precisions |= other.precisions
        self.has_marks |= other.has_marks
        self.names_all |= other.names_all
        self.is_federated |= other.is_federated
        self.columns = self.columns or other.columns
        self.has_unnamed_columns |= other.has_unnamed_columns
        self.first_place = self.first_place or other.first_place
        self.sides += self._recode(other)
        self.n_stored += other.n_stored
        self.n_dropped += other.n_dropped
        self.n_dropped_entries += other.n_dropped_entries

    def _recode(self, other: InputBuffer) -> list[Side]:
        """Return the items of another buffer with codes into this vocabulary, which grows."""
        codes = []
        for entry in other.codes:
            codes.append(self.codes.setdefault(entry, len(self.codes)))
        new_codes = np.array(codes, np.int32)
        return [replace(side, codes=new_codes[side.codes]) for side in other.sides]

    def copy(self) -> InputBuffer:
        """Return the same batches, to which others can be added."""
        return replace(
            self,
            notes=list(self.notes),
            forms=set(self.forms),
            readings=list(self.readings),
            precisions=set(self.precisions),
            styles=dict(self.styles),
            columns=list(self.columns),
            codes=dict(self.codes),
            sides=list(self.sides),
            ids=None if self.ids is None else list(self.ids),
            _known_ids=self._known_ids.copy(),
        )

    # ---- items ----------------------------------------------------------------------------------

    @property
    def contents(self) -> tuple[int, str]:
        """The number of entries of all batches, and the noun for an entry."""
        n_entries = self.n_dropped_entries + sum(len(side.codes) for side in self.sides)
        return n_entries, "score" if "table" in self.forms else self.noun

    @property
    def verb(self) -> str:
        """The form of predicted labels, such as "scored" if every label has a score."""
        return "scored" if "table" in self.forms else "predicted"

    @property
    def understood(self) -> str:
        """How the batches were read."""
        return ", ".join(self.readings) or self.reading

    def lists(self) -> Lists:
        """Return the stored items."""
        sizes = [side.sizes for side in self.sides]
        codes = [side.codes for side in self.sides]
        scores = [side.scores for side in self.sides if side.scores is not None]
        side = Side(
            offsets(np.concatenate([_NO_CODES, *sizes])),
            np.concatenate([_NO_CODES, *codes]),
            np.concatenate(scores) if scores else None,
        )
        ids: Any = range(self.n_dropped, len(self))
        named = None
        if self.ids is not None:
            ids = join_ids(self.ids)
            named = ids
        ranked = "table" in self.forms
        is_matrix = bool(self.columns) and self.columns == list(self.codes)
        cells = ""
        if is_matrix and not ranked:
            cells = "either" if self.forms == {"cells"} else "members"
        order = self.order
        if not order and "zeros" in self.forms:
            order = "keys"
        return Lists(
            ids,
            list(self.codes),
            side,
            noun=self.noun,
            ranked=ranked,
            cells=cells,
            order="" if ranked else order,
            unlike=self.unlike,
            source=self.source,
            understood=self.understood,
            notes=list(self.notes),
            names_all=bool(self.columns) or self.has_marks or self.names_all,
            has_marks=self.has_marks,
            is_federated=self.is_federated,
            precision=common_precision(frozenset(self.precisions)),
            where=Places(self.source, named, "" if named else ITEM, ids),
        )

    def drop_items(self) -> None:
        """Discard the stored items. Only their number and the number of their entries is stored."""
        self.n_dropped_entries, _ = self.contents
        self.n_dropped = len(self)
        self.n_stored = 0
        self.sides = []
        self.codes = {}
        self.ids = None if self.ids is None else []
        self._known_ids = _KnownIds()


def _form_of(lists: Lists) -> str:
    """Return the form of a batch."""
    if lists.ranked:
        return "table"
    if lists.cells == "either":
        return "cells"
    if lists.whole is not None and lists.side.scores is None:
        return "zeros"
    if not len(lists.side.codes):
        return "empty"
    if lists.side.scores is not None:
        return "scores"
    return "members" if lists.order in ("columns", "keys") else "plain"


def _has_only_ones(side: Side) -> bool:
    return side.scores is not None and bool((side.scores == 1).all())


def _as_table(lists: Lists) -> Lists:
    """Return a matrix of 0 and 1 as a matrix of scores, with a score in every cell."""
    width = len(lists.vocabulary)
    values = np.zeros((len(lists), width))
    values[row_numbers(lists.side.indptr), lists.side.codes] = 1.0
    codes = np.tile(np.arange(width, dtype=np.int32), len(lists))
    side = Side(np.arange(len(lists) + 1) * width, codes, values.ravel())
    understood = lists.understood.removesuffix("0/1") + "scores"
    return replace(
        lists, side=side, ranked=True, cells="", order="", understood=understood
    )


def _add_unlike(
    unlike: tuple[int, int, str], other: tuple[int, int, str]
) -> tuple[int, int, str]:
    """Add the numbers of entries with different scores. The first example is shown."""
    n_entries, n_items, example = unlike
    return n_entries + other[0], n_items + other[1], example or other[2]


def _describe_forms(forms: set[str]) -> str:
    return " and ".join(text for form, text in FORM_NAMES.items() if form in forms)


def _describe_columns(*, unnamed: bool) -> str:
    return "columns without names" if unnamed else "labels with names"


def _describe_federation(*, is_federated: bool) -> str:
    return "neg_category_ids, as in LVIS" if is_federated else "no neg_category_ids"
