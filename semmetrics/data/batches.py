"""Lists that come in batches: coded in one vocabulary, and joined to the Lists of all of them.

Conventions
-----------
Items without ids are numbered on from batch to batch. Matrices have the same columns in every
batch. A matrix of floats that are all 0 or 1, and such scores of lists, say which names an item
has, unless another batch has other scores: 0 and 1 are then scores, too. Items can be let go once
they are evaluated; their distinct entries stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Codes, offsets, row_numbers
from semmetrics.data.lists import Entry, Ids, Lists, Side
from semmetrics.data.tasks import occurring
from semmetrics.errors import ITEM, InputError, Places
from semmetrics.messages import listing

_FORMS = {"lists": "lists", "either": "0 and 1 alone", "scores": "scores"}
_NONE: Codes = np.zeros(0, np.int32)
_SAME_FORM = "give scores in all batches, or label lists or 0/1 in all"
_SCORED, _MEMBERS = frozenset({"zeros", "ones", "fractions"}), frozenset({"zeros", "members"})
_CHOSEN, _FRACTIONS = "scores of 0 and 1 alone, which say what items have", "other scores"


class Batches:
    """One side of what is evaluated, batch by batch.

    Attributes
    ----------
    source : str
    notes : list of str
        What was odd in the batches, each once.
    unlike : tuple of int, int and str
        As that of ``Lists``, of all batches.
    waiting : int
        The number of items that were not let go.

    Examples
    --------
    >>> batches = Batches()
    >>> for codes in ([0, 1], [1]):
    ...     side = Side(offsets(np.array([len(codes)])), np.array(codes))
    ...     batches.add(Lists(range(1), ["cat", "dog"], side))
    >>> len(batches), batches.lists().to_list()
    (2, [['cat', 'dog'], ['dog']])
    """

    def __init__(self) -> None:
        self.source = ""
        self.notes: list[Any] = []
        self._understood: dict[str, None] = {}
        self._noun, self._first = "entry", ""
        self._order = ""
        self.unlike = (0, 0, "")
        self._form = ""  # of _FORMS; empty before the first batch
        self._said: frozenset[str] = frozenset()  # of what lists said with scores: see _said_by
        self._whole: Batches | None = None  # the same, where 0 and 1 were scores
        self._chosen_gone = self._ones_gone = False
        self._columns: list[Entry] = []
        self._codes: dict[Entry, int] = {}  # of the vocabulary
        self._sides: list[Side] = []
        self._ids: dict[str, None] | None = None  # None: known by position
        self.waiting = 0
        self._gone, self._gone_held = 0, 0
        self._seen = np.zeros(0, np.bool_)  # entries of items that were let go

    def __len__(self) -> int:
        """The number of items of all batches, also of those let go."""
        return self._gone + self.waiting

    @property
    def contents(self) -> tuple[int, str]:
        """How many of what came in all batches."""
        number = self._gone_held + sum(len(side.codes) for side in self._sides)
        return number, "score" if self._form == "scores" else self._noun

    @property
    def understood(self) -> str:
        """How the batches were read."""
        return "; ".join(self._understood) or self._first

    @property
    def by_position(self) -> bool:
        """Whether items have no ids."""
        return self._ids is None

    @property
    def undecided(self) -> bool:
        """Whether all cells so far may be scores, or say which names an item has."""
        return self._form == "either" or self._whole is not None

    @property
    def mixed(self) -> bool:
        """Whether ones were scores of items let go, and with later zeros say what items have."""
        return self._ones_gone and bool(self._said & _MEMBERS)

    def copy(self) -> Batches:
        """Return the same batches, to which others can be added."""
        new, kinds = Batches(), (dict, list, Batches)
        for name, value in vars(self).items():
            setattr(new, name, value.copy() if isinstance(value, kinds) else value)
        return new

    def repeated(self, ids: Ids) -> list[str]:
        """Return those of the ids that an item has that was not let go."""
        known = self._ids
        return [str(name) for name in ids if name in known] if known else []

    def check(
        self, lists: Lists, columns: list[Entry] | None = None, said: frozenset[str] = frozenset()
    ) -> None:
        """Refuse a batch that cannot follow those before.

        Parameters
        ----------
        lists : Lists
        columns : list, optional
            Those of its matrix, where it does not say them.
        said : frozenset of str
            What items said with scores that are no longer in it.

        Raises
        ------
        InputError
            If only one of them has ids, the columns of matrices or what cells mean differ, or only
            some entries have a score.
        """
        if not self._form:
            return
        if _is_numbered(lists) is not self.by_position:
            has, had = ("no ids", "ids") if _is_numbered(lists) else ("ids", "no ids")
            raise _differs(lists.source, has, had, "give the items of all batches ids, or of none")
        columns = columns or _columns_of(lists)
        if columns and self._columns and columns != self._columns:
            has, had = (f"the columns {listing(map(str, c))}" for c in (columns, self._columns))
            raise _differs(lists.source, has, had, "give the same columns in the same order")
        form, now = self._joined_form(lists), _form_of(lists)
        if not form or (form != self._form and form == "scores" and self._gone):
            raise _differs(lists.source, _FORMS[now], _FORMS[self._form], _SAME_FORM)
        if self._chosen_gone and lists.has_fractions:
            raise _differs(lists.source, _FRACTIONS, _CHOSEN, _SAME_FORM)
        said |= _said_by(lists)
        if form == "lists" and not _agree(said | self._said):
            has, had = (f"{lists.noun}s {how} scores" for how in _with(bool(said & _SCORED)))
            remedy = f"give every {lists.noun} a score, or none; where all are 0 or 1, none has one"
            raise _differs(lists.source, has, had, remedy)

    def add(self, lists: Lists) -> None:
        """Add a batch that was checked."""
        if not self._form:
            self.source, self._noun, self._first = lists.source, lists.noun, lists.understood
        if len(lists):
            self._append(self._agreeing(lists))

    def _agreeing(self, lists: Lists) -> Lists:
        """Return a batch whose scores of 0 and 1 mean what they mean in all batches."""
        said = self._said | _said_by(lists)
        if self._joined_form(lists) == "scores":
            return lists
        if "fractions" in said:
            if self._whole is not None:
                vars(self).update(vars(self._whole))
        elif said & _MEMBERS:
            if "members" in said or self._chosen_gone:
                self._whole = None  # other scores are now refused
            elif self._whole is None:
                self._whole = self.copy()
            if self._whole is not None:
                self._whole.add(lists.whole or lists)
            if self._keeps_scores:
                self._sides = [replace(side, scores=None) for side in self._sides]
            lists = replace(lists, side=replace(lists.side, scores=None))
        self._said = said
        return (lists.whole or lists) if "fractions" in said else lists

    def _append(self, lists: Lists) -> None:
        form, now = self._joined_form(lists), _form_of(lists)
        if (form, self._form) == ("scores", "either"):
            self._sides = [_as_scores(side, len(self._codes)) for side in self._sides]
            self._understood = {}
        if (form, now) == ("scores", "either"):
            lists = replace(lists, side=_as_scores(lists.side, len(lists.vocabulary)))
        else:  # what was taken for 0/1 is now understood as the others are
            self._understood[lists.understood] = None
        if not self._form:
            self._ids = None if _is_numbered(lists) else {}
        self._form = form
        self._order = self._order or lists.order
        self._columns = self._columns or _columns_of(lists)
        (n, items, example), (more, of, other) = self.unlike, lists.unlike
        self.unlike = n + more, items + of, example or other
        self.notes += [note for note in lists.notes if note not in self.notes]
        if self._ids is not None:
            self._ids.update(dict.fromkeys(map(str, lists.ids)))
        table = self._table(lists.vocabulary)
        self._sides.append(replace(lists.side, codes=table.take(lists.side.codes)))
        self.waiting += len(lists)

    def lists(self) -> Lists:
        """Return the items that were not let go."""
        sides = self._sides
        known = self._ids
        ids = range(self._gone, len(self)) if known is None else list(known)
        scores = [side.scores for side in sides if side.scores is not None]
        side = Side(
            offsets(_joined([np.diff(one.indptr) for one in sides], np.int64)),
            _joined([one.codes for one in sides], np.int32),
            _joined(scores, np.float64) if scores else None,
        )
        whole = None if self._whole is None else self._whole.lists()
        return replace(self._lists(ids, side), whole=whole)

    def entries(self) -> Lists:
        """Return one item that has every entry that some item has, also of those let go."""
        seen = self._all_seen()
        scored = self._form == "scores" or self._keeps_scores
        side = _one_item(np.flatnonzero(seen).astype(np.int32), scored=scored)
        return self._lists(range(1), side)

    def first(self) -> Lists:
        """Return the first item that was not let go alone."""
        side = self._sides[0].rows(0, 1) if self._sides else _one_item(_NONE, scored=False)
        return self._lists(range(1), side)

    def let_go(self, *, keep_entries: bool) -> None:
        """Let the items go, and their distinct entries if those are not to be kept."""
        self._gone_held = self.contents[0]
        self._gone = len(self)
        self._seen = self._all_seen()
        self._sides, self.waiting = [], 0
        self._chosen_gone |= "zeros" in self._said and not self._keeps_scores
        self._ones_gone |= "ones" in self._said and self._keeps_scores
        self._whole = None
        self._ids = None if self._ids is None else {}
        if not keep_entries:
            self._codes, self._seen = {}, np.zeros(0, np.bool_)

    def check_all(self, other: Batches) -> None:
        """Refuse other batches that cannot follow; see ``check``."""
        if not other._form:
            return
        self.check(other.lists(), other._columns, other._said)
        forms = {self._form or other._form, other._form}
        pairs = ((self, other), (other, self))
        if any(one._chosen_gone and "fractions" in two._said for one, two in pairs):
            raise _differs(other.source, _FRACTIONS, _CHOSEN, _SAME_FORM)
        if other._gone and forms == {"either", "scores"}:
            raise _differs(other.source, _FORMS[other._form], _FORMS[self._form], _SAME_FORM)

    def extend(self, other: Batches) -> None:
        """Add other batches that were checked, and count the items that they let go."""
        self.add(other.lists())
        if not other._form:
            return
        self._said |= other._said
        self._chosen_gone |= other._chosen_gone
        self._ones_gone |= other._ones_gone
        if not other.waiting:
            self._append(other.lists())  # of no items; for what it says of those let go
        self._columns = self._columns or other._columns
        if other.understood in self._understood:
            del self._understood[other.understood]
            self._understood.update(other._understood)
        if not other._gone:
            return
        theirs = self._table(list(other._codes))[: len(other._seen)]
        seen = occurring(theirs[other._seen], len(self._codes))
        seen[: len(self._seen)] |= self._seen
        self._seen = seen
        self._gone += other._gone
        self._gone_held += other._gone_held

    def _lists(self, ids: range | list[str], side: Side) -> Lists:
        named = None if isinstance(ids, range) else ids
        matrix = self._columns and self._columns == list(self._codes)
        cells = {"either": "either", "lists": "members"}.get(self._form, "") if matrix else ""
        return Lists(
            ids,
            list(self._codes),
            side,
            noun=self._noun,
            ranked=self._form == "scores",
            cells=cells,
            order="" if self._form == "scores" else self._order,
            unlike=self.unlike,
            source=self.source,
            understood=self.understood,
            notes=self.notes,
            where=Places(self.source, named, "" if named else ITEM, ids),
        )

    @property
    def _keeps_scores(self) -> bool:
        """Whether scores of lists are scores, and do not say which entries an item has."""
        return "fractions" in self._said or ("ones" in self._said and not self._said & _MEMBERS)

    def _joined_form(self, lists: Lists) -> str:
        """Return the form of all batches with one more; empty if they have none in common."""
        forms = {self._form or _form_of(lists), _form_of(lists)}
        if len(forms) == 1:
            return forms.pop()
        return (forms - {"either"}).pop() if "either" in forms else ""

    def _table(self, vocabulary: Sequence[Entry]) -> Codes:
        """Return the codes of entries; new ones are added to the vocabulary."""
        known = self._codes
        codes = (known.setdefault(entry, len(known)) for entry in vocabulary)
        return np.fromiter(codes, np.int32, len(vocabulary))

    def _all_seen(self) -> Bools:
        seen = np.zeros(len(self._codes), np.bool_)
        seen[: len(self._seen)] = self._seen
        for side in self._sides:
            seen[side.codes] = True
        return seen


def _is_numbered(lists: Lists) -> bool:
    return isinstance(lists.ids, range)


def _form_of(lists: Lists) -> str:
    if lists.ranked:
        return "scores"
    return "either" if lists.cells == "either" else "lists"


def _columns_of(lists: Lists) -> list[Entry]:
    """Return the columns of the matrix that it was; none of what was no matrix."""
    return list(lists.vocabulary) if lists.ranked or lists.cells else []


def _said_by(lists: Lists) -> frozenset[str]:
    """Return what a batch says with scores; nothing where it has no entry or is ranked.

    "plain" lists have no scores, "members" are 0/1 without a score, and scores are "ones" alone,
    "zeros" and ones, or "fractions".
    """
    given = lists.whole or lists
    if lists.ranked or not len(given.side.codes):
        return frozenset()
    if given.side.scores is None:
        return frozenset({"members" if lists.order in ("columns", "keys") else "plain"})
    return frozenset({"zeros" if lists.whole else "fractions" if lists.has_fractions else "ones"})


def _agree(said: frozenset[str]) -> bool:
    """Tell whether one call would take together what batches said with scores."""
    return not ("plain" in said and said & _SCORED) and not {"members", "fractions"} <= said


def _with(scored: bool) -> tuple[str, str]:
    return ("with", "without") if scored else ("without", "with")


def _joined(parts: Sequence[NDArray[Any]], dtype: type) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype)


def _one_item(codes: Codes, *, scored: bool) -> Side:
    return Side(offsets(np.array([len(codes)])), codes, np.ones(len(codes)) if scored else None)


def _as_scores(side: Side, width: int) -> Side:
    """Return a score for every cell of a matrix that said with 0 and 1 what an item has."""
    values = np.zeros((len(side), width))
    values[row_numbers(side.indptr), side.codes] = 1.0
    codes = np.tile(np.arange(width, dtype=np.int32), len(side))
    return Side(np.arange(len(side) + 1) * width, codes, values.ravel())


def _differs(source: str, has: str, had: str, remedy: str) -> InputError:
    return InputError("other-batch", source, has=has, had=had, remedy=remedy)
