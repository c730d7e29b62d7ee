"""Decide whether the entries of an input are lists that were written as text.

Conventions
-----------
The whole input decides. If every entry that is not empty is a list written as text, the entries
are read as lists. If at least half of them are lists, the other ones raise an error. Otherwise all
of them remain text, and a note counts the lists. ``[]`` is read like the other entries: as an empty
list, or as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
_ZEROS = frozenset(("0", "0.0", "false"))
_ONES = frozenset(("1", "1.0", "true"))
"""Cells of a 0/1 vector, in lower case."""
_MAX_EXAMPLE_CHARACTERS = 60
_LIST_STYLE = {_CELLS: "lists written as text"}
_TEXT_STYLE = {_CELLS: "plain text"}
"""The styles of an input (`Lists.styles`). An input without entries has no style."""


@dataclass
class _Cells:
    """The codes of the distinct entries of an input, by what the entries contain.

    Attributes
    ----------
    lists : dict from int to list
        Lists written as text, parsed.
    objects : dict from int to object
        Other structured cells, parsed.
    empty : list of int
        Empty lists and cells without a visible character.
    texts : list of int
        Plain text.
    """

    lists: dict[int, list[Any]] = field(default_factory=dict)
    objects: dict[int, Any] = field(default_factory=dict)
    empty: list[int] = field(default_factory=list)
    texts: list[int] = field(default_factory=list)


def read_cell_lists(lists: Lists, form: Form) -> Lists:
    """Replace lists that are written as text by their entries, if the input consists of them.

    Parameters
    ----------
    lists : Lists
        The input as its reader returns it. The result has a style of "cells", unless it has no
        entry or the reader has set other styles.
    form : Form

    Raises
    ------
    InputError
        If most entries are lists and others are not, a list is incomplete, or the entries are
        objects. The message names the place.

    Examples
    --------
    >>> from semmetrics.errors import Places
    >>> form = Form(noun="label", columns=("label",), keys=("labels",), scored=True)
    >>> items = Items(["a", "b"], [["['cat', 'dog']"], ["['cat']"]], Places("gt.csv", ["a", "b"]))
    >>> read_cell_lists(encode(items, form), form).to_list()
    [['cat', 'dog'], ['cat']]
    """
    strings = [entry for entry in lists.vocabulary if isinstance(entry, str)]
    if not any(map(may_be_structured, strings)):
        return _with_style(lists, _TEXT_STYLE if lists.vocabulary else {})
    cells = _parse_cells(lists)
    if form.scored and not cells.lists and not any(cells.objects.values()):
        _check_quotes(lists, "[]")
        _check_quotes(lists, "{}")
    if cells.texts:
        return _keep_texts(lists, cells)
    if cells.objects:
        raise _objects_as_text(lists, cells)
    return _expand(lists, form, cells)


def _objects_as_text(lists: Lists, cells: _Cells) -> InputError:
    """Return the error for objects written as text, with code that reads the first of them."""
    code = next(iter(cells.objects))
    text = str(lists.vocabulary[code])
    return InputError(
        "objects-as-text",
        _place_of(lists, code),
        noun=lists.noun,
        value=shown(text),
        recipe=recipe(cells.objects[code], text),
    )


def _keep_texts(lists: Lists, cells: _Cells) -> Lists:
    """Return an input whose entries remain text, with a note if a few of them are lists.

    Raises
    ------
    InputError
        If at least half of the entries are lists.
    """
    structured = [*cells.lists, *cells.objects]
    n_structured = _count_occurrences(lists, structured)
    if not n_structured:
        return _with_style(lists, _TEXT_STYLE)
    if n_structured >= _count_occurrences(lists, cells.texts):
        code = cells.texts[0]
        where = _place_of(lists, code)
        value = shown(str(lists.vocabulary[code]))
        raise InputError("mixed-cells", where, noun=lists.noun, value=value)
    example = str(lists.vocabulary[structured[0]])[:_MAX_EXAMPLE_CHARACTERS]
    values = {"noun": lists.noun}
    note = Fact("lists-among-texts", n_structured, (example,), values=values)
    return _with_style(replace(lists, notes=[*lists.notes, note]), _TEXT_STYLE)


def check_no_vectors(lists: Lists) -> None:
    """Raise if the labels of every item are a vector with a 0 or 1 for each class.

    Lists of class numbers are accepted: they differ in length, or contain no number twice.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> check_no_vectors(as_labels([["1", "0"], ["1"]]))
    >>> check_no_vectors(as_labels([["1", "0", "1"], ["0", "0", "1"]]))
    Traceback (most recent call last):
        ...
    semmetrics.errors.InputError: input, item 0 (from 0): the labels '1, 0, 1' are a 0 or 1 per
    class. Set classes= to the list of classes, or save the vectors with numpy.save as .npy. If 0
    and 1 are names of labels, write lists of strings, such as ["1", "0"].
    """
    names = [str(entry).strip().casefold() for entry in lists.vocabulary]
    if lists.side.scores is not None or not (_ZEROS | _ONES).issuperset(names):
        return
    sizes = lists.side.sizes
    width = int(sizes.max(initial=0))
    if width < 2 or not np.isin(sizes, (0, width)).all():
        return
    is_one = np.array([name in _ONES for name in names], np.bool_)
    vectors = is_one[lists.side.codes].reshape(-1, width)
    if width == 2 and not (vectors[:, 0] >= vectors[:, 1]).any():
        # Every item is "0, 1", the numbers of two classes in order.
        return
    item = int((sizes > 0).argmax())
    first_codes = lists.side.codes[:width].tolist()
    first_vector = ", ".join(str(lists.vocabulary[code]) for code in first_codes)
    raise InputError("vector-as-labels", lists.where(item), value=shown(first_vector))


def check_styles(
    styles: Mapping[str, str], before: Mapping[str, str], where: str
) -> None:
    """Raise if entries are written in another style than those before.

    Parameters
    ----------
    styles, before : mapping from str to str
        Styles as in `Lists`. Only aspects that both have are compared.
    where : str
        The place of an item with the new styles (`place_of_styles`).

    Raises
    ------
    InputError
        If a style differs.
    """
    for aspect, style in styles.items():
        wanted = before.get(aspect, style)
        if style != wanted:
            raise InputError(
                "other-style", where, what=aspect, found=style, wanted=wanted
            )


def place_of_styles(lists: Lists) -> str:
    """Return the place of the first item that shows the style of an input."""
    for code, entry in enumerate(lists.vocabulary):
        # Plain text may contain a few lists, which do not show its style.
        if lists.styles != _TEXT_STYLE or read_cell(str(entry)) is None:
            return _place_of(lists, code)
    if len(lists):
        return lists.where(0)
    return lists.source


def _with_style(lists: Lists, style: Mapping[str, str]) -> Lists:
    """Return an input with a style, unless its format has set styles."""
    if lists.styles:
        return lists
    return replace(lists, styles=style)


def _check_quotes(lists: Lists, brackets: str) -> None:
    """Raise if every item is a list without quotes, such as ``[cat, dog]``, or a part of one.

    PostgreSQL writes arrays as ``{cat,dog}``. The reader may have split a list at its commas.
    Brackets around single labels, such as ``[CLS]``, remain part of the labels.
    """
    opener = brackets[0]
    closer = brackets[1]
    first_list: tuple[int, str] | None = None
    for position, (start, stop) in enumerate(pairwise(lists.side.indptr.tolist())):
        codes = lists.side.codes[start:stop].tolist()
        entries = [str(lists.vocabulary[code]).strip() for code in codes]
        if not entries:
            continue
        first_entry = entries[0]
        if not first_entry.startswith(opener) or not entries[-1].endswith(closer):
            return
        # "[CLS]" is a label, "[cat, dog]" a list, and "[cat" is the start of a list that was split.
        is_list = len(entries) > 1
        if first_entry.endswith(closer):
            is_list = "," in first_entry
        if is_list and first_list is None:
            first_list = (position, ", ".join(entries))
    if first_list is not None:
        position, text = first_list
        raise InputError(
            "unquoted-list",
            lists.where(position),
            noun=lists.noun,
            value=shown(text),
            brackets=brackets,
        )


def _parse_cells(lists: Lists) -> _Cells:
    """Parse the distinct entries of an input."""
    cells = _Cells()
    for code, text in enumerate(lists.vocabulary):
        if not isinstance(text, str):
            cells.texts.append(code)
            continue
        if not text.strip():
            cells.empty.append(code)
            continue
        try:
            value = read_cell(text)
        except CutListError:
            where = _place_of(lists, code)
            raise InputError(
                "cut-list", where, noun=lists.noun, value=shown(text)
            ) from None
        _add_cell(cells, code, value)
    return cells


def _add_cell(cells: _Cells, code: int, value: Any) -> None:
    """Add the parsed value of a cell, which is None for plain text."""
    entries = entries_of(value)
    if value is None:
        cells.texts.append(code)
    elif value == []:
        cells.empty.append(code)
    elif entries is not None:
        cells.lists[code] = entries
    else:
        cells.objects[code] = value


def _count_occurrences(lists: Lists, codes: Sequence[int]) -> int:
    """Return how often the entries with some codes occur."""
    counts = np.bincount(lists.side.codes, minlength=len(lists.vocabulary))
    return int(counts[list(codes)].sum())


def _join_entries(lists: Lists, entries: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Return the entries of all cells of each item. ``entries`` has a list for each code."""
    items = []
    for start, stop in pairwise(lists.side.indptr.tolist()):
        item: list[Any] = []
        for code in lists.side.codes[start:stop].tolist():
            item.extend(entries[code])
        items.append(item)
    return items


def _expand(lists: Lists, form: Form, cells: _Cells) -> Lists:
    """Replace each list that is written as text by its entries."""
    if lists.side.scores is not None:
        first_code = next(iter(cells.lists), 0)
        where = _place_of(lists, first_code)
        raise InputError("score-of-a-list", where, noun=form.noun)
    entries: list[list[Any]] = [[] for _ in lists.vocabulary]
    for code, values in cells.lists.items():
        if form.scored:
            values = [_as_name(value) for value in values]
        entries[code] = values
    items = _join_entries(lists, entries)
    ids: Any = lists.ids if lists.has_ids else None
    where_of: Any = lists.where
    expanded = encode(Items(ids, items, where_of, lists.source), form)
    if form.noun == "label" and not form.integers_as_positions and _are_integers(cells):
        check_no_vectors(expanded)
    return replace(
        expanded,
        ids=lists.ids,
        understood=f"{lists.understood}, lists written as text",
        notes=[*lists.notes, *expanded.notes],
        order=lists.order,
        aliases=lists.aliases,
        styles=_LIST_STYLE,
        is_coco_instances=lists.is_coco_instances,
        has_splits=lists.has_splits,
        has_single_entries=lists.has_single_entries,
    )


def _are_integers(cells: _Cells) -> bool:
    """Return whether all entries of the lists are integers, and there are any."""
    types = set(map(type, chain.from_iterable(cells.lists.values())))
    return types == {int}


def _as_name(value: Any) -> Any:
    """Return an integer as a label, as other cells of a table are."""
    if isinstance(value, int):
        return str(value)
    return value


def _place_of(lists: Lists, code: int) -> str:
    """Return the place of the first item with an entry, or the input if no item has it."""
    if not (lists.side.codes == code).any():
        return lists.source
    return lists.where(lists.first_item(code))
