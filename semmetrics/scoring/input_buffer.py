"""An input of a `Scorer` that comes in batches: the predictions or the ground truth.

Conventions
-----------
The first batch with scores decides whether 0 and 1 mark the labels of each item or are scores.
Later batches are read in the same way and never change how earlier ones were read. The module
`batch_forms` lists the forms of batches, and `batch_checks` checks that a batch can follow others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from semmetrics.core.backend import common_precision
from semmetrics.core.ragged import Codes, offsets
from semmetrics.data.cell_lists import place_of_styles
from semmetrics.data.item_ids import Ids, join_ids
from semmetrics.data.lists import Entry, Lists, Side
from semmetrics.data.matrix import Matrix
from semmetrics.errors import ITEM, Fact, Places, unite
from semmetrics.scoring.batch_forms import (
    as_members,
    as_table,
    form_of,
    has_only_ones,
    marks_members,
)

_NO_CODES: Codes = np.zeros(0, np.int32)


class _StoredIds:
    """The ids of stored items, collected when they are first needed."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}
        self._n_collected_parts = 0

    def copy(self) -> _StoredIds:
        """Return a copy, to which other ids can be added."""
        new = _StoredIds()
        new._names = dict(self._names)
        new._n_collected_parts = self._n_collected_parts
        return new

    def repeated(self, stored: Sequence[Ids], others: Sequence[Ids]) -> list[str]:
        """Return the other ids that stored items also have.

        Parameters
        ----------
        stored, others : sequence of ids
            The ids of each batch. ``stored`` begins with the same batches as in the last call.
        """
        for ids in stored[self._n_collected_parts :]:
            self._names.update(dict.fromkeys(map(str, ids)))
        self._n_collected_parts = len(stored)
        repeated = []
        for ids in others:
            repeated += [name for name in map(str, ids) if name in self._names]
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
        The sums of ``Lists.unlike`` over all batches.
    forms : set of str
        The forms of the batches.
    only_ones : bool
        Whether all scores so far are 1. They may be scores, or mark the labels of each item.
    readings : list of str
        How the batches were read, without repetitions.
    order : str
        As ``Lists.order``, of the first batch that has one.
    precisions : set of str
        The floating-point types of the scores.
    has_marks, names_all, is_federated : bool
        Whether any batch has the attribute of ``Lists``.
    has_coco_instances : bool
        Whether any batch consists of COCO instances. Empty batches count only until the first items.
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
        The ids of the stored items, batch by batch. None if items have no ids.
    first_place : str
        The place of the first item.
    n_stored : int
        The number of stored items.
    n_dropped, n_dropped_entries : int
        The number of items that were summed and dropped, and the number of their entries.

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
    has_coco_instances: bool = False
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
    _stored_ids: _StoredIds = field(
        default_factory=_StoredIds, repr=False, compare=False
    )

    def __len__(self) -> int:
        """The number of items of all batches, including dropped items."""
        return self.n_dropped + self.n_stored

    @property
    def place(self) -> str:
        """The place of the first item in messages."""
        return self.first_place or self.source

    # ---- batches --------------------------------------------------------------------------------

    @classmethod
    def of(cls, lists: Lists) -> InputBuffer:
        """Return a batch."""
        ids = [lists.ids] if lists.has_ids else None
        if not len(lists):
            return cls(
                lists.source,
                lists.noun,
                lists.understood,
                has_coco_instances=lists.is_coco_instances,
                ids=ids,
            )
        form = form_of(lists)
        columns: list[Entry] = []
        if lists.ranked or lists.cells:
            columns = list(lists.vocabulary)
        return cls(
            source=lists.source,
            noun=lists.noun,
            reading=lists.understood,
            notes=list(lists.notes),
            unlike=lists.unlike,
            forms={form},
            only_ones=form == "scores" and has_only_ones(lists.side),
            readings=[lists.understood],
            order=lists.order,
            precisions={lists.precision},
            has_marks=lists.has_marks,
            names_all=lists.names_all,
            is_federated=lists.is_federated,
            has_coco_instances=lists.is_coco_instances,
            styles=dict(lists.styles),
            style_place=place_of_styles(lists),
            columns=columns,
            has_unnamed_columns=bool(columns) and lists.columns is not None,
            codes={entry: code for code, entry in enumerate(lists.vocabulary)},
            sides=[lists.side],
            ids=ids,
            first_place=lists.where(0),
            n_stored=len(lists),
        )

    @classmethod
    def of_whole(cls, data: Lists | Matrix, n_items: int) -> InputBuffer:
        """Return a batch whose items are evaluated directly and never stored.

        Parameters
        ----------
        data : Lists or Matrix
        n_items : int
            The number of items that are evaluated.
        """
        n_entries, noun = data.contents
        batch = cls(data.source, noun, data.understood)
        batch.ids = [] if data.has_ids else None
        batch.forms = {"whole"}
        batch.readings = [data.understood]
        batch.n_dropped = n_items
        # An estimate from the share of the items, since entries per item are not counted.
        batch.n_dropped_entries = n_entries * n_items // max(1, len(data))
        if isinstance(data, Lists):
            batch.has_coco_instances = data.is_coco_instances
            batch.styles = dict(data.styles)
            batch.style_place = place_of_styles(data)
        return batch

    def read_alike(self, lists: Lists) -> Lists:
        """Return a batch whose scores of 0 and 1 are read like the earlier batches."""
        form = form_of(lists)
        if form == "cells" and "table" in self.forms:
            return as_table(lists)
        has_real_scores = "scores" in self.forms and not self.only_ones
        if form == "zeros" and has_real_scores and lists.whole:
            return lists.whole
        is_of_ones = form == "scores" and has_only_ones(lists.side)
        if is_of_ones and marks_members(self.forms):
            return as_members(lists)
        return lists

    def read_buffer_alike(self, other: InputBuffer) -> InputBuffer:
        """Return another buffer whose scores of 1 are read like the earlier batches."""
        is_of_ones = "scores" in other.forms and other.only_ones
        if not is_of_ones or not marks_members(self.forms):
            return other
        new = other.copy()
        new.forms = {*other.forms - {"scores"}, "zeros"}
        new.only_ones = False
        new.order = other.order or "keys"
        new.readings = [f"{reading}, 0/1" for reading in other.readings]
        new.names_all = True
        new.sides = [replace(side, scores=None) for side in other.sides]
        return new

    def repeated_ids(self, other: InputBuffer) -> list[str]:
        """Return the ids of another batch that are also ids of stored items."""
        if not self.ids or not other.ids:
            return []
        return self._stored_ids.repeated(self.ids, other.ids)

    def extend(self, other: InputBuffer) -> None:
        """Add a batch that was checked, or another buffer."""
        if not self.source:
            self.source = other.source
            self.noun = other.noun
            self.reading = other.reading
            self.has_coco_instances = other.has_coco_instances
        self.styles = other.styles | self.styles
        self.style_place = self.style_place or other.style_place
        if not other.forms:
            return
        if not self.forms:
            self.ids = None if other.ids is None else []
            self.only_ones = other.only_ones
            self.has_coco_instances = False
        elif "scores" in other.forms:
            self.only_ones = self.only_ones and other.only_ones
        self._extend_description(other)
        self._extend_items(other)

    def _extend_description(self, other: InputBuffer) -> None:
        """Add how another buffer was read, and its special properties."""
        self.unlike = _add_unlike(self.unlike, other.unlike)
        self.notes = unite([*self.notes, *other.notes])
        self.forms |= other.forms
        self.readings = list(dict.fromkeys([*self.readings, *other.readings]))
        self.order = self.order or other.order
        self.precisions |= other.precisions
        self.has_marks |= other.has_marks
        self.names_all |= other.names_all
        self.is_federated |= other.is_federated
        self.has_coco_instances |= other.has_coco_instances
        self.columns = self.columns or other.columns
        self.has_unnamed_columns |= other.has_unnamed_columns
        self.first_place = self.first_place or other.first_place

    def _extend_items(self, other: InputBuffer) -> None:
        """Add the items of another buffer, and the numbers of its dropped items."""
        if self.ids is not None:
            self.ids += other.ids or []
        self.sides += self._recode(other)
        self.n_stored += other.n_stored
        self.n_dropped += other.n_dropped
        self.n_dropped_entries += other.n_dropped_entries

    def _recode(self, other: InputBuffer) -> list[Side]:
        """Return the items of another buffer with codes into this vocabulary.

        New entries are added to the vocabulary.
        """
        codes = []
        for entry in other.codes:
            codes.append(self.codes.setdefault(entry, len(self.codes)))
        new_codes = np.array(codes, np.int32)
        return [replace(side, codes=new_codes[side.codes]) for side in other.sides]

    def copy(self) -> InputBuffer:
        """Return a copy, to which other batches can be added."""
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
            _stored_ids=self._stored_ids.copy(),
        )

    # ---- items ----------------------------------------------------------------------------------

    @property
    def contents(self) -> tuple[int, str]:
        """The number of entries of all batches, and the noun for an entry."""
        n_stored_entries = sum(len(side.codes) for side in self.sides)
        noun = "score" if "table" in self.forms else self.noun
        return self.n_dropped_entries + n_stored_entries, noun

    @property
    def verb(self) -> str:
        """How labels are predicted: "scored" if every label has a score, else "predicted"."""
        return "scored" if "table" in self.forms else "predicted"

    @property
    def understood(self) -> str:
        """How the batches were read."""
        return ", ".join(self.readings) or self.reading

    def lists(self) -> Lists:
        """Return the stored items."""
        ids, where = self._ids_and_places()
        is_ranked = "table" in self.forms
        n_unnamed = None
        if self.has_unnamed_columns and self.columns == list(self.codes):
            n_unnamed = len(self.columns)
        return Lists(
            ids,
            list(self.codes),
            self._joined_sides(),
            noun=self.noun,
            ranked=is_ranked,
            cells="" if is_ranked else self._meaning_of_cells(),
            order="" if is_ranked else self._order_of_entries(),
            unlike=self.unlike,
            source=self.source,
            understood=self.understood,
            notes=list(self.notes),
            names_all=bool(self.columns) or self.has_marks or self.names_all,
            has_marks=self.has_marks,
            is_federated=self.is_federated,
            is_coco_instances=self.has_coco_instances,
            precision=common_precision(self.precisions),
            where=where,
            columns=n_unnamed,
        )

    def _joined_sides(self) -> Side:
        """Return the stored items of all batches as one side."""
        sizes = [side.sizes for side in self.sides]
        codes = [side.codes for side in self.sides]
        score_parts = [side.scores for side in self.sides if side.scores is not None]
        indptr = offsets(np.concatenate([_NO_CODES, *sizes]))
        scores = np.concatenate(score_parts) if score_parts else None
        return Side(indptr, np.concatenate([_NO_CODES, *codes]), scores)

    def _ids_and_places(self) -> tuple[Ids, Places]:
        """Return the ids or the numbers of the stored items, and their places in messages."""
        if self.ids is None:
            numbers = range(self.n_dropped, len(self))
            return numbers, Places(self.source, None, ITEM, numbers)
        ids = join_ids(self.ids)
        return ids, Places(self.source, ids)

    def _meaning_of_cells(self) -> str:
        """Return `Lists.cells` of the stored items."""
        is_matrix = bool(self.columns) and self.columns == list(self.codes)
        if not is_matrix:
            return ""
        return "either" if self.forms == {"cells"} else "members"

    def _order_of_entries(self) -> str:
        """Return `Lists.order` of the stored items."""
        if not self.order and "zeros" in self.forms:
            return "keys"
        return self.order

    def drop_items(self) -> None:
        """Discard the stored items, except their number and the number of their entries."""
        self.n_dropped_entries, _ = self.contents
        self.n_dropped = len(self)
        self.n_stored = 0
        self.sides = []
        self.codes = {}
        self.ids = None if self.ids is None else []
        self._stored_ids = _StoredIds()


def _add_unlike(
    unlike: tuple[int, int, str], other: tuple[int, int, str]
) -> tuple[int, int, str]:
    """Add the values of ``Lists.unlike`` of two inputs, with the first example."""
    n_entries, n_items, example = unlike
    n_other_entries, n_other_items, other_example = other
    return (
        n_entries + n_other_entries,
        n_items + n_other_items,
        example or other_example,
    )
