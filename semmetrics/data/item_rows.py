"""Rows of tables and records gathered into items.

Conventions
-----------
A row has an id, its entries, and perhaps their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from semmetrics.data.cells import may_be_structured, pair_lists
from semmetrics.data.entries import not_a_list
from semmetrics.data.form import Form
from semmetrics.data.items import Items
from semmetrics.errors import EXAMPLES, Fact, InputError, Places, at
from semmetrics.messages import counted
from semmetrics.schema import as_id

ELEMENT = "element [{}]"
T = TypeVar("T")


def without_blanks(
    rows: Iterable[tuple[int, T]],
    is_blank: Callable[[T], bool],
    notes: list[Any],
    between: str,
) -> Iterator[tuple[int, T]]:
    """Yield rows that are not blank with their lines; blank ones between others are noted."""
    first = pending = n = 0
    for line, row in rows:
        if is_blank(row):
            first, pending = first or line, pending + 1
        else:
            n, pending = n + pending, 0
            yield line, row
    if n:  # those at the end mean nothing
        notes.append(Fact("blank-lines", n, (str(first),), values={"between": between}))


def pair_scores(entries: Any, scores: Any, form: Form) -> list[Any]:
    """Return entries and the list of their scores as pairs; both may be lists written as text."""
    if (
        isinstance(entries, str)
        and isinstance(scores, str)
        and may_be_structured(scores)
    ):
        return list(pair_lists(entries, scores))
    if isinstance(entries, Mapping):
        raise InputError("scored-twice", noun=form.noun)
    if not isinstance(entries, (list, tuple)):
        raise not_a_list(entries, form)
    if not isinstance(scores, (list, tuple)):
        wanted = f"a list with one score for each {form.noun}"
        raise InputError("wrong-type", value=scores, wanted=wanted)
    if len(scores) != len(entries):
        wanted = counted(entries, form.noun)
        raise InputError("wrong-count", found=counted(scores, "score"), wanted=wanted)
    texts = [score for score in scores if isinstance(score, str)]
    if texts:  # they would be synonyms
        raise InputError("not-a-number", role="the score", value=texts[0])
    return list(zip(entries, scores, strict=True))


def row_notes(empty: int, scattered: Sequence[str], form: Form) -> list[Fact]:
    """Note how many items have an empty cell, and which ids have rows that are not together."""
    facts = (
        Fact("empty-cells", empty, values={"noun": form.noun}),
        Fact("scattered-rows", len(scattered), tuple(scattered[:EXAMPLES])),
    )
    return [fact for fact in facts if fact.n]


def item_rows(
    rows: Iterable[tuple[int, T]],
    read: Callable[[T], Iterable[Any]],
    name: str,
    form: Form,
    unit: str,
) -> Items:
    """Gather items from rows of one item each; rows that are a text alone are gathered by id.

    Parameters
    ----------
    rows : iterable of (place, row)
    read : callable
        Gives the id of a row, its entries, and perhaps their scores.
    name, unit : str
        The input, and how the place of a row is written.
    form : Form
    """
    first: dict[str, int] = {}
    items: list[Any] = []
    single: dict[str, list[str]] = {}
    scattered, previous, id_ = set[str](), None, None
    for place, row in rows:
        previous, id_ = id_, None
        try:
            cells = iter(read(row))
            id_ = as_id(next(cells))
            entries, *scores = cells
            if scores:
                entries = pair_scores(entries, scores[0], form)
            elif form.single and isinstance(entries, str):
                if id_ in single:
                    single[id_].append(entries)
                    if id_ != previous:
                        scattered.add(id_)
                    continue
                entries = single[id_] = [entries]
            if first.setdefault(id_, place) != place:
                raise InputError(
                    "duplicate-at", role="the id", other=unit.format(first[id_])
                )
            items.append(entries)
        except InputError as error:
            raise error.placed(at(name, unit.format(place), id_)) from None
    ids = list(first)
    found = Items(ids, items, Places(name, ids, unit, list(first.values())), name)
    if unit != ELEMENT:  # a document has no order of rows
        found.notes += row_notes(0, [id_ for id_ in ids if id_ in scattered], form)
    found.understood = (
        f"a {form.noun}" if form.single and len(single) == len(ids) else "an item"
    )
    return found
