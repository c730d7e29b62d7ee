"""Ids, and the part of an id that a regular expression matches."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from semmetrics.data.lists import Lists, Numbering
from semmetrics.errors import InputError
from semmetrics.schema import as_id

PARTS = (
    "^(?:.*/)?(.+?)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
    "^(?:.*/)?(?:COCO_[A-Za-z0-9]+_)?0*([0-9]+)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
    r"^(?:.*[/\\])?(.+?)(?:[.][A-Za-z][A-Za-z0-9]*)?$",
)
"""Expressions for common ids: a file name in a path, the image number in a file name of COCO, and a
file name in a path of Windows."""

ToId: TypeAlias = Callable[..., str]
"""Converts a value to an id. It accepts the role of the value as a second argument."""


class _IdPartReader:
    """Converts a value to the part of its id that a regular expression matches."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    def __call__(self, value: Any, role: str = "") -> str:
        """Return the only group of the expression, or the whole match if it has no group."""
        item_id = as_id(value)
        match = self._pattern.search(item_id)
        # There is at most one group. Group 0 is the whole match.
        group = self._pattern.groups
        if match is None or not match[group]:
            expression = self._pattern.pattern
            raise InputError("id-mismatch", value=item_id, pattern=expression)
        return str(match[group])


def id_reader(expression: str | None) -> ToId:
    """Return a function that converts a value to an id.

    Parameters
    ----------
    expression : str or None
        A regular expression that matches the part of the id to compare. None compares whole ids.

    Raises
    ------
    InputError
        If the expression is not a valid regular expression, or has several groups.

    Examples
    --------
    >>> id_reader(r"(.+)[.]jpg")("7.jpg"), id_reader(None)(7)
    ('7', '7')
    """
    if expression is None:
        return as_id
    try:
        pattern = re.compile(expression)
    except re.error:
        raise _expression_error(expression) from None
    if pattern.groups > 1:
        raise _expression_error(expression)
    return _IdPartReader(pattern)


def _expression_error(expression: str) -> InputError:
    wanted = "a regular expression with at most one group"
    return InputError("bad-option", name="ids", value=expression, wanted=wanted)


# ---- ids of lists and matrices ------------------------------------------------------------------


def with_compared_ids(data: Any, expression: str | None) -> Any:
    """Replace each id by the part of it that a regular expression matches.

    Parameters
    ----------
    data : Lists or Matrix
    expression : str or None
        If the expression has a group, the part is the group, else the whole match. None leaves the
        ids unchanged.

    Raises
    ------
    InputError
        If the expression does not match an id, or matches the same part in two ids.

    Examples
    --------
    >>> from semmetrics.data.lists import Side
    >>> import numpy as np
    >>> side = Side(np.array([0, 1]), np.array([0]))
    >>> with_compared_ids(Lists(["img/7.jpg"], ["cat"], side), PARTS[0]).ids
    ['7']
    """
    if expression is None or not data.has_ids or data.id_part == expression:
        return data
    part_of = id_reader(expression)
    renamed = rename_ids(data, map(part_of, data.ids))
    renamed = replace(renamed, id_part=expression)
    if not isinstance(data, Lists):
        return renamed
    aliases = _aliases_of_parts(data.aliases, part_of)
    numbering = _numbering_of_parts(data.numbering, part_of)
    return replace(renamed, aliases=aliases, numbering=numbering)


def rename_ids(data: Any, new_ids: Iterable[str]) -> Any:
    """Return lists or a matrix with other ids. Two items must not get the same id."""
    old_id_of: dict[str, str] = {}
    for old_id, new_id in zip(data.ids, new_ids, strict=True):
        first_old_id = old_id_of.setdefault(new_id, old_id)
        if first_old_id != old_id:
            names = [first_old_id, old_id]
            raise InputError("equal-parts", data.source, names=names, value=new_id)
    return replace(data, ids=list(old_id_of))


def _aliases_of_parts(
    aliases: Mapping[str, str], part_of: Callable[[str], str]
) -> dict[str, str]:
    """Map the part of each alias to the part of its id, without ambiguous aliases."""
    ids_by_alias: dict[str, set[str]] = {}
    for alias, own_id in aliases.items():
        with suppress(InputError):  # the expression does not match
            ids_by_alias.setdefault(part_of(alias), set()).add(part_of(own_id))
    unique_ids = {}
    for alias, ids in ids_by_alias.items():
        if len(ids) == 1:
            unique_ids[alias] = ids.pop()
    return unique_ids


def _numbering_of_parts(
    numbering: Numbering | None, part_of: Callable[[str], str]
) -> Numbering | None:
    """Return the numbering of the parts of ids, or None if the expression does not match all."""
    if numbering is None:
        return None
    try:
        return numbering.renamed(part_of)
    except InputError:
        return None
