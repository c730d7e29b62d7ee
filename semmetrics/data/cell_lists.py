"""Decide whether the entries of an input are lists that were written as text.

Conventions
-----------
The whole input decides. If every entry that is not empty is a list written as text, the entries
are read as lists. If at least half of them are lists, the other ones raise an error. Otherwise all
stay text, and a note counts the lists. ``[]`` is an empty list among lists, and text among texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from typing import Any

import numpy as np

from semmetrics.data.cells import (
    CutListError,
    entries_of,
    may_be_structured,
    read_cell,
    recipe,
)
from semmetrics.data.form import Form
from semmetrics.data.items import Items, encode
from semmetrics.data.lists import Lists
from semmetrics.errors import Fact, InputError
from semmetrics.messages import shown

_CELLS = "cells"
_MARKS = frozenset(("0", "1", "0.0", "1.0", "true", "false"))
"""Cells of a vector that tells for each label whether an item has it."""
_LISTS, _TEXT = {_CELLS: "lists written as text"}, {_CELLS: "plain text"}
"""The styles of an input (`Lists.styles`), which has none if it has no entry."""


@dataclass
class _Cells:
    """The distinct entries of an input by what they contain, each by its code."""

    lists: dict[int, list[Any]] = field(default_factory=dict)
    objects: dict[int, Any] = field(default_factory=dict)
    empty: list[int] = field(default_factory=list)  # [] or a blank
    texts: list[int] = field(default_factory=list)


def read_cell_lists(found: Lists, form: Form) -> Lists:
    """Return an input with the lists that its entries contain, if they are written as text.

    Parameters
    ----------
    found : Lists
        As a reader found it. The result has a style of "cells", unless it has no entry or the
        reader has set other styles.
    form : Form

    Raises
    ------
    InputError
        If most entries are lists and others are not, a list was cut off, or the entries are
        objects; names the place.

    Examples
    --------
    >>> from semmetrics.errors import Places
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> items = Items(["a", "b"], [["['cat', 'dog']"], ["['cat']"]], Places("gt.csv", ["a", "b"]))
    >>> read_cell_lists(encode(items, form), form).to_list()
    [['cat', 'dog'], ['cat']]
    """
    if not any(may_be_structured(text) for text in _texts(found)):
        return _with_style(found, _TEXT if found.vocabulary else {})
    cells = _sort_cells(found)
    if form.scored and not cells.lists and not any(cells.objects.values()):
        for brackets in ("[]", "{}"):
            _check_quotes(found, brackets)
    if cells.texts:
        return _keep_texts(found, cells)
    if cells.objects:
        code, value = next(iter(cells.objects.items()))
        where, text = _place_of(found, code), str(found.vocabulary[code])
        values = {
            "noun": form.noun,
            "value": shown(text),
            "recipe": recipe(value, text),
        }
        raise InputError("objects-as-text", where, **values)
    return _expand(found, form, cells)


def _keep_texts(found: Lists, cells: _Cells) -> Lists:
    """Return an input with texts as it is; a few lists among them are noted, and many an error."""
    structured = [*cells.lists, *cells.objects]
    n_structured = _count(found, structured)
    if not n_structured:
        return _with_style(found, _TEXT)
    if n_structured >= _count(found, cells.texts):
        where, text = (
            _place_of(found, cells.texts[0]),
            str(found.vocabulary[cells.texts[0]]),
        )
        raise InputError("mixed-cells", where, noun=found.noun, value=shown(text))
    example = str(found.vocabulary[structured[0]])[:60]
    note = Fact(
        "lists-among-texts", n_structured, (example,), values={"noun": found.noun}
    )
    return _with_style(replace(found, notes=[*found.notes, note]), _TEXT)


def check_no_vectors(found: Lists) -> None:
    """Raise if the labels of every item are a vector of 0 and 1 for all labels.

    Numbers of classes look otherwise: not all items have equally many, none twice and in any order.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> check_no_vectors(as_labels([["1", "0"], ["1"]]))
    >>> check_no_vectors(as_labels([["1", "0", "1"], ["0", "0", "1"]]))
    Traceback (most recent call last):
        ...
    semmetrics.errors.InputError: input, item 0: the labels '1, 0, 1' are a 0 or 1 for ...
    """
    names = [str(entry).strip().casefold() for entry in found.vocabulary]
    if found.side.scores is not None or not _MARKS.issuperset(names):
        return
    sizes = np.diff(found.side.indptr)
    width = int(sizes.max(initial=0))
    if width < 2 or not np.isin(sizes, (0, width)).all():
        return
    is_present = np.array([name in ("1", "1.0", "true") for name in names], np.bool_)
    rows = is_present[found.side.codes].reshape(-1, width)
    is_vector = width > 2 or bool((rows[:, 0] >= rows[:, 1]).any())
    if is_vector:
        item = int((sizes > 0).argmax())
        first = [
            str(found.vocabulary[code]) for code in found.side.codes[:width].tolist()
        ]
        raise InputError(
            "vector-as-labels", found.where(item), value=shown(", ".join(first))
        )


def check_styles(
    styles: Mapping[str, str], before: Mapping[str, str], where: str
) -> None:
    """Raise if the entries at a place are not written as those before.

    Parameters
    ----------
    styles, before : mapping from str to str
        As those of `Lists`. A style that only one of them has is fine.
    where : str
        The place of an item with these styles (`place_of_styles`).

    Raises
    ------
    InputError
    """
    for what, style in styles.items():
        if before.get(what, style) != style:
            values = {"what": what, "found": style, "wanted": before[what]}
            raise InputError("other-style", where, **values)


def place_of_styles(found: Lists) -> str:
    """Return the place of the first item that shows how the entries of an input are written."""
    for code, entry in enumerate(found.vocabulary):
        is_list_among_texts = (
            found.styles == _TEXT and read_cell(str(entry)) is not None
        )
        if not is_list_among_texts:
            return _place_of(found, code)
    return found.where(0) if len(found) else found.source


def _with_style(found: Lists, style: Mapping[str, str]) -> Lists:
    """Return an input with the style of its cells, unless its format has styles of its own."""
    return found if found.styles else replace(found, styles=style)


def _check_quotes(found: Lists, brackets: str) -> None:
    """Raise if each item is a list without quotes, such as ``[cat, dog]``, perhaps split at commas.

    PostgreSQL writes arrays as ``{cat,dog}``. Brackets around single labels, such as ``[CLS]``,
    remain parts of the labels.
    """
    opener, closer = brackets[0], brackets[1]
    lists: dict[int, list[str]] = {}
    for position, (start, stop) in enumerate(pairwise(found.side.indptr.tolist())):
        codes = found.side.codes[start:stop].tolist()
        entries = [str(found.vocabulary[code]).strip() for code in codes]
        if not entries:
            continue
        first = entries[0]
        if not first.startswith(opener) or not entries[-1].endswith(closer):
            return
        is_list = "," in first if first.endswith(closer) else len(entries) > 1
        if is_list and not lists:
            lists[position] = entries
    for position, entries in lists.items():
        text = ", ".join(entries)
        values = {"noun": found.noun, "value": shown(text), "brackets": brackets}
        raise InputError("unquoted-list", found.where(position), **values)


def _texts(found: Lists) -> Iterator[str]:
    """Yield the distinct entries that are strings."""
    for entry in found.vocabulary:
        if isinstance(entry, str):
            yield entry


def _sort_cells(found: Lists) -> _Cells:
    """Parse the distinct entries of an input."""
    cells = _Cells()
    for code, text in enumerate(found.vocabulary):
        if not isinstance(text, str):
            cells.texts.append(code)
            continue
        if not text.strip():
            cells.empty.append(code)
            continue
        try:
            value = read_cell(text)
        except CutListError:
            where = _place_of(found, code)
            raise InputError(
                "cut-list", where, noun=found.noun, value=shown(text)
            ) from None
        if value is None:
            cells.texts.append(code)
        elif value == []:
            cells.empty.append(code)
        elif (entries := entries_of(value)) is not None:
            cells.lists[code] = entries
        else:
            cells.objects[code] = value
    return cells


def _count(found: Lists, codes: Sequence[int]) -> int:
    """Return how often the entries of some codes occur."""
    times = np.bincount(found.side.codes, minlength=len(found.vocabulary))
    return int(times[list(codes)].sum())


def _expand(found: Lists, form: Form, cells: _Cells) -> Lists:
    """Put the entries of the lists in place of the texts."""
    if found.side.scores is not None:
        code = next(iter(cells.lists), 0)
        raise InputError("score-of-a-list", _place_of(found, code), noun=form.noun)
    entries: list[list[Any]] = [[] for _ in found.vocabulary]
    for code, values in cells.lists.items():
        entries[code] = [_as_name(value) for value in values] if form.scored else values
    items: list[list[Any]] = []
    for start, stop in pairwise(found.side.indptr.tolist()):
        codes = found.side.codes[start:stop].tolist()
        items.append(list(chain.from_iterable(entries[code] for code in codes)))
    ids: Any = None if isinstance(found.ids, range) else found.ids
    where: Any = found.where
    made = encode(Items(ids, items, where, found.source), form)
    has_integers = {
        type(value) for values in cells.lists.values() for value in values
    } == {int}
    if form.noun == "label" and not form.places and has_integers:
        check_no_vectors(made)
    return replace(
        made,
        ids=found.ids,
        understood=f"{found.understood}, lists written as text",
        notes=[*found.notes, *made.notes],
        order=found.order,
        aliases=found.aliases,
        styles=_LISTS,
    )


def _as_name(value: Any) -> Any:
    """Return an integer as the name of a label, as in other cells of a table."""
    return str(value) if isinstance(value, int) else value


def _place_of(found: Lists, code: int) -> str:
    """Return the place of the first item that has an entry; entries without one are at the top."""
    if not (found.side.codes == code).any():
        return found.source
    return found.where(found.first_item(code))
