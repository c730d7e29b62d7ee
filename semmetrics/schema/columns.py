"""Columns of tables: the names that they may have, and how their cells are converted."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from semmetrics.errors import InputError
from semmetrics.schema.cells import (
    Reader,
    as_given,
    as_id,
    as_number,
    as_real,
    as_text,
)


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    role : str
        The kind of value that the column contains, such as "id".
    names : tuple of str or of tuples of str
        The names that the column may have, the best first. Names in one tuple are equally good,
        and a table with two of them raises an error. If empty, the column is found by position.
    read : callable
        Converts a cell.
    required : bool
        Whether every table must have the column.
    key : bool
        Whether its values must be unique.
    group : bool
        Whether rows are grouped by its values.
    noun : str
        The name of a cell in messages. Default: the role.
    shared : bool
        Whether a name that the user chose for it may belong to another table. The name is then
        ignored if this table does not have it.
    """

    role: str
    names: tuple[str | tuple[str, ...], ...] = ()
    read: Reader = as_text
    required: bool = True
    key: bool = False
    group: bool = False
    noun: str = ""
    shared: bool = False

    @property
    def known(self) -> list[str]:
        """All names that the column may have, each once, in one list."""
        names: list[str] = []
        for level in self.names:
            names.extend(_names_of_level(level))
        return list(dict.fromkeys(names))

    @property
    def cell_name(self) -> str:
        """The name of a cell in messages."""
        return self.noun or self.role

    def find_positions(
        self, header: Sequence[str], excluded: Collection[str]
    ) -> list[int]:
        """Return the positions in a header that have the best matching name.

        Names in ``excluded`` belong to other columns. There are several positions if the header
        has several equally good names.
        """
        folded_names = {}
        for position, name in enumerate(header):
            if name not in excluded:
                folded_names[position] = name.strip().casefold()
        for level in self.names:
            names = _names_of_level(level)
            matches = [i for i, name in folded_names.items() if name in names]
            if matches:
                return matches
        return []

    def values(self, cells: Sequence[Any], where: Callable[[int], str]) -> list[Any]:
        """Convert all cells of the column.

        Parameters
        ----------
        cells : sequence
        where : callable
            Returns the place of a row, for the error about a wrong cell.
        """
        plain_values = _read_plain_cells(self.read, cells)
        if plain_values is not None:
            return plain_values
        values = []
        for row, cell in enumerate(cells):
            try:
                value = self.read(cell, self.cell_name)
            except InputError as error:
                if error.where:
                    raise error from None
                raise error.placed(where(row)) from None
            values.append(value)
        return values


def _names_of_level(level: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return names that are equally good as a tuple. A string is a single name."""
    if isinstance(level, str):
        return (level,)
    return level


_PLAIN_TYPES: dict[Reader, set[type]] = {
    as_id: {str},
    as_number: {str, float, int},
    as_real: {float, int},
}
"""The types of cells that can be converted without a call per cell, by reader."""


def _read_plain_cells(read: Reader, cells: Sequence[Any]) -> list[Any] | None:
    """Convert cells without a call per cell. Return None if one needs the reader."""
    if read is as_given:
        return list(cells)
    plain_types = _PLAIN_TYPES.get(read)
    if plain_types is None or not plain_types.issuperset(map(type, cells)):
        return None
    if read is not as_id:
        return _read_plain_numbers(cells)
    if "" in cells:
        return None
    return list(cells)


def _read_plain_numbers(cells: Sequence[Any]) -> list[float] | None:
    """Convert strings and numbers to finite numbers. Return None if one may be invalid."""
    try:
        numbers = list(map(float, cells))
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(sum(numbers)):
        return None
    strings = [cell for cell in cells if isinstance(cell, str)]
    if "_" in "".join(strings):  # "1_000", which the readers reject
        return None
    return numbers
