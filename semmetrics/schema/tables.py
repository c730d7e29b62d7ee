"""Find the columns of a table and read their cells.

Conventions
-----------
A row is an object or a list. The columns of objects are found by name, ignoring case, once for all
rows with the same names. A list has one cell per required column, in the order of the schema.
Cells are converted column by column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from semmetrics.errors import MAX_EXAMPLES, Fact, InputError, format_place
from semmetrics.schema.cells import Reader, as_number, is_numeric
from semmetrics.schema.columns import Column

Row: TypeAlias = "tuple[Any, Sequence[str] | None, Sequence[Any]]"
"""The place of a row, the names of its cells or None for a list, and the cells."""
ColumnChooser: TypeAlias = Callable[
    [dict[str, int], Sequence[str], str], dict[str, int]
]
"""Chooses which columns to use, given their positions by role, the header and its place."""

ABSENT = object()
"""The cell of a row without a column that other rows have."""

_TEXT_LINES = "line {}"
"""How the rows of text files with a header are counted."""


@dataclass(frozen=True, repr=False)
class Table:
    """The values of a table, column by column.

    Attributes
    ----------
    columns : mapping from role to list
        Only columns that the table has. A row without the column has `ABSENT`.
    source : str
        What messages call the table.
    names : mapping from role to str
        The names of the columns in the table. Empty if rows are lists.
    notes : list
        Facts about the table, such as unused columns.
    where : callable
        Returns the place of a row, for messages.
    rows_by_group : mapping from key to list of int
        The rows of each value of the column that groups rows, in order of first appearance.
    """

    columns: dict[str, list[Any]]
    source: str
    names: dict[str, str]
    notes: list[Any] = field(default_factory=list)
    where: Callable[[int], str] = str
    rows_by_group: Mapping[Any, list[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        columns = list(self.columns.values())
        if not columns:
            return 0
        return len(columns[0])

    def rows(self) -> Iterable[dict[str, Any]]:
        """Yield each row by role, without the columns that it does not have."""
        for values in zip(*self.columns.values(), strict=True):
            cells = zip(self.columns, values, strict=True)
            yield {role: value for role, value in cells if value is not ABSENT}


class Schema(NamedTuple):
    """The columns of a kind of table.

    Attributes
    ----------
    noun : str
        The name of a row, such as "pair".
    columns : tuple of Column
    example : str
        How a row is written.
    flag : str
        The option that names a column, if there is one. ``{role}`` is replaced by its role.
    allows_lists : bool
        Whether a row may be a list.

    Examples
    --------
    >>> from semmetrics.schema import NUMBERS
    >>> table = NUMBERS["weights"].read([(2, ["ID", "value"], ["a", "0.5"])], "w.csv", "line {}")
    >>> table.columns, table.names
    ({'id': ['a'], 'score': [0.5]}, {'id': 'ID', 'score': 'value'})
    >>> NUMBERS["weights"].read([(2, ["id", "value"], ["a", "x"])], "w.csv", "line {}")
    Traceback (most recent call last):
    semmetrics.errors.InputError: w.csv, line 2, id 'a': weight is 'x', which is not a number.
    Write a number such as 0.5.
    """

    noun: str
    columns: tuple[Column, ...]
    example: str = ""
    flag: str = ""
    allows_lists: bool = True

    def with_readers(self, **readers: Reader) -> Schema:
        """Return a copy of the schema with other readers for some columns, by role."""
        columns = []
        for column in self.columns:
            reader = readers.get(column.role, column.read)
            columns.append(column._replace(read=reader))
        return self._replace(columns=tuple(columns))

    # ---- finding columns ----

    def find(
        self, names: Sequence[str], chosen: Mapping[str, str], where: str
    ) -> dict[str, int]:
        """Return the position of each column in a header, by role.

        Parameters
        ----------
        names : sequence of str
            The header.
        chosen : mapping from role to name
            Columns that the user named.
        where : str
            The place of the header, for messages.

        Raises
        ------
        InputError
            If a column is missing, or several columns could have a role.
        """
        positions: dict[str, int] = {}
        for index, column in enumerate(self.columns):
            matches = _find_matches(index, column, names, chosen)
            is_chosen = _chosen_name(column, names, chosen) is not None
            if len(matches) > 1:
                raise self._ambiguous_column_error(column, names, matches, where)
            if matches:
                positions[column.role] = matches[0]
            elif column.required or is_chosen:
                raise self._missing_column_error(column, names, chosen, where)
        return positions

    def _flag_of(self, column: Column) -> str:
        """Return the option that names a column, or ""."""
        return self.flag.replace("{role}", column.role)

    def _ambiguous_column_error(
        self,
        column: Column,
        header: Sequence[str],
        matches: Sequence[int],
        where: str,
    ) -> InputError:
        """Return the error for a role that several columns of a header could have."""
        names = [header[position] for position in matches]
        if len(set(names)) == 1:
            return InputError("duplicate-column", where, name=names[0])
        return InputError(
            "ambiguous-column",
            where,
            role=column.cell_name,
            found=names,
            flag=self._flag_of(column),
        )

    def _missing_column_error(
        self,
        column: Column,
        header: Sequence[str],
        chosen: Mapping[str, str],
        where: str,
    ) -> InputError:
        """Return the error for a column that a header does not have, with the likely cause."""
        flag = self._flag_of(column)
        chosen_name = _chosen_name(column, header, chosen)
        wanted = ", ".join(column.known) or "a column at its position"
        if chosen_name is not None:
            wanted = repr(chosen_name)
        code, sign = self._diagnose_header(header, chosen, where)
        if not code:
            code = "missing-column" if flag else "no-column"
        return InputError(
            code,
            where,
            role=column.cell_name,
            found=list(header),
            wanted=wanted,
            flag=flag,
            example=self.example or self._example_header(),
            sign=sign,
            option="delimiter",
        )

    def _diagnose_header(
        self, header: Sequence[str], chosen: Mapping[str, str], where: str
    ) -> tuple[str, str]:
        """Look for a problem with the header of a text file, its first line.

        Returns
        -------
        code : str
            The code of the error, or "" if the line looks like a header.
        sign : str
            The comment or the delimiter that is the problem, or "".
        """
        if not where.endswith("line 1") or not header:
            return "", ""
        first_name = header[0]
        if first_name.startswith(("#", "sep=")):
            return "comment-line", first_name
        if len(header) == 1:
            for delimiter in ";|\t,":
                if delimiter in first_name:
                    return "other-delimiter", delimiter
        if chosen or not self.flag or self._has_known_name(header):
            return "", ""
        return "no-header", ""

    def _has_known_name(self, header: Sequence[str]) -> bool:
        """Return whether a header contains the name of a column."""
        folded_names = {name.strip().casefold() for name in header}
        known_names: set[str] = set()
        for column in self.columns:
            known_names.update(column.known)
        return not folded_names.isdisjoint(known_names)

    def _example_header(self) -> str:
        """Return a valid header, such as "id,label"."""
        return ",".join(column.known[0] for column in self.columns if column.required)

    # ---- reading rows ----

    def read(
        self,
        rows: Iterable[Row],
        source: str,
        place_format: str = "element [{}]",
        chosen: Mapping[str, str] | None = None,
        choose_columns: ColumnChooser | None = None,
    ) -> Table:
        """Read rows: find their columns, convert the cells and check that keys are unique.

        Parameters
        ----------
        rows : iterable of (place, names or None, cells)
        source : str
            What messages call the table.
        place_format : str
            The format of the place of a row, such as "line {}".
        chosen : mapping from role to name, optional
            Columns that the user named.
        choose_columns : callable, optional
            Chooses which of the found columns to use.

        Raises
        ------
        InputError
            If the table is empty or a row is wrong. The message names the row.
        """
        headers = _Headers(self, source, place_format, chosen or {}, choose_columns)
        places: list[Any] = []
        cell_rows: list[list[Any]] = []
        for place, names, cells in rows:
            positions = headers.find_positions(place, names, len(cells))
            places.append(place)
            cell_rows.append(_select_cells(cells, positions))
        if not cell_rows:
            raise self._no_rows_error(source)

        where = _RowPlaces(source, place_format, places, cell_rows, self._key_index())
        columns = self._read_columns(cell_rows, where)
        self._check_keys(columns, where)
        return Table(
            columns,
            source,
            headers.names_by_role,
            headers.note_unused_columns(),
            where,
            self._group_rows(columns),
        )

    def _no_rows_error(self, source: str) -> InputError:
        """Return the error for a table without rows."""
        remedy = "check the file"
        if self.example:
            remedy = f"write rows such as {self.example}"
        return InputError("nothing-given", source, what=f"{self.noun}s", remedy=remedy)

    def _key_index(self) -> int | None:
        """Return the number of the first column whose values must be unique."""
        for index, column in enumerate(self.columns):
            if column.key:
                return index
        return None

    def _read_columns(
        self, cell_rows: Sequence[Sequence[Any]], where: Callable[[int], str]
    ) -> dict[str, list[Any]]:
        """Convert the cells of each column that at least one row has."""
        columns = {}
        cell_columns = zip(*cell_rows, strict=True)
        for column, cells in zip(self.columns, cell_columns, strict=True):
            if any(cell is not ABSENT for cell in cells):
                columns[column.role] = column.values(cells, where)
        return columns

    def _check_keys(
        self, columns: Mapping[str, Sequence[Any]], where: Callable[[int], str]
    ) -> None:
        """Raise if a value of a key column is repeated."""
        for column in self.columns:
            if not column.key:
                continue
            keys = columns.get(column.role, ())
            if len(set(keys)) < len(keys):
                raise _repeated_key_error(keys, where)

    def _group_rows(self, columns: Mapping[str, Sequence[Any]]) -> dict[Any, list[int]]:
        """Return the rows of each value of the first column that groups rows."""
        rows_by_value: dict[Any, list[int]] = {}
        grouping_roles = [column.role for column in self.columns if column.group]
        if not grouping_roles:
            return rows_by_value
        values = columns.get(grouping_roles[0], ())
        for row, value in enumerate(values):
            rows_by_value.setdefault(value, []).append(row)
        return rows_by_value


def _find_matches(
    index: int, column: Column, header: Sequence[str], chosen: Mapping[str, str]
) -> list[int]:
    """Return the positions in a header that match a column with an index in the schema."""
    chosen_name = _chosen_name(column, header, chosen)
    if chosen_name is not None:
        return [i for i, name in enumerate(header) if name == chosen_name]
    if column.names:
        return column.find_positions(header, chosen.values())
    if column.required and index < len(header):
        return [index]
    return []


def _chosen_name(
    column: Column, header: Sequence[str], chosen: Mapping[str, str]
) -> str | None:
    """Return the name that the user chose for a column, or None."""
    name = chosen.get(column.role)
    if column.shared and name not in header:
        return None
    return name


def _select_cells(cells: Sequence[Any], positions: Iterable[int]) -> list[Any]:
    """Return the cells at some positions, and `ABSENT` for negative positions."""
    selected = []
    for position in positions:
        if position < 0:
            selected.append(ABSENT)
        else:
            selected.append(cells[position])
    return selected


def _repeated_key_error(keys: Sequence[Any], where: Callable[[int], str]) -> InputError:
    """Return the error for the first row with the key of an earlier row."""
    row = 0
    earlier_keys = set()
    while keys[row] not in earlier_keys:
        earlier_keys.add(keys[row])
        row += 1
    return InputError("duplicate-id", where(row), value=keys[row])


@dataclass(frozen=True, eq=False, repr=False)
class _RowPlaces:
    """The places of rows, which are only written for messages.

    Attributes
    ----------
    source, place_format : str
    places : sequence
        The place of each row in the table, such as the number of its line.
    cell_rows : sequence of sequences
    key_index : int or None
        The number of the column with the ids of rows.
    """

    source: str
    place_format: str
    places: Sequence[Any]
    cell_rows: Sequence[Sequence[Any]]
    key_index: int | None

    def __call__(self, row: int) -> str:
        """Return the place of a row: the table, the row, and its id if it has one."""
        item_id = None
        if self.key_index is not None:
            item_id = str(self.cell_rows[row][self.key_index])
        return format_place(
            self.source, self.place_format.format(self.places[row]), item_id
        )


class _Headers:
    """Find the columns of rows. Rows with the same names are searched once.

    Parameters
    ----------
    schema : Schema
    source, place_format, chosen, choose_columns
        As in `Schema.read`.

    Attributes
    ----------
    names_by_role : dict of role to str
        The name of each column in the first header that has the column.
    """

    def __init__(
        self,
        schema: Schema,
        source: str,
        place_format: str,
        chosen: Mapping[str, str],
        choose_columns: ColumnChooser | None,
    ) -> None:
        self._schema = schema
        self._source = source
        self._place_format = place_format
        self._chosen = dict(chosen)
        self._choose_columns = choose_columns
        self._positions: dict[int | tuple[str, ...], list[int]] = {}
        self._all_names: dict[str, None] = {}
        self.names_by_role: dict[str, str] = {}

    def find_positions(
        self, place: Any, names: Sequence[str] | None, width: int
    ) -> list[int]:
        """Return the position of each column of the schema in a row, or -1.

        Parameters
        ----------
        place : object
            The place of the row.
        names : sequence of str, or None
            The names of its cells. None if the row is a list.
        width : int
            The number of its cells.
        """
        shape = width if names is None else tuple(names)
        positions = self._positions.get(shape)
        if positions is not None:
            return positions
        where = format_place(self._source, self._place_format.format(place))
        if names is None:
            by_role = self._columns_of_list(width, where)
        else:
            by_role = self._columns_of_header(names, where)
        positions = [by_role.get(column.role, -1) for column in self._schema.columns]
        self._positions[shape] = positions
        return positions

    def _columns_of_header(self, names: Sequence[str], where: str) -> dict[str, int]:
        """Find the columns of a header, and remember the names that they have."""
        positions = self._schema.find(names, self._chosen, where)
        if self._place_format == _TEXT_LINES:
            self._check_header(positions, names)
        if self._choose_columns is not None:
            positions = self._choose_columns(positions, names, where)
        names_by_role = {role: names[i] for role, i in positions.items()}
        self.names_by_role = names_by_role | self.names_by_role
        self._all_names.update(dict.fromkeys(names))
        # Columns that this header has by position are found by name in later headers.
        for column in self._schema.columns:
            if not column.names and column.role in self.names_by_role:
                self._chosen[column.role] = self.names_by_role[column.role]
        return positions

    def _check_header(self, positions: Mapping[str, int], names: Sequence[str]) -> None:
        """Raise if the first line of a file contains values instead of names.

        This is the case if a column of numbers that is found by position has a number as its name.
        """
        for column in self._schema.columns:
            if column.names or column.read is not as_number:
                continue
            if column.role not in positions:
                continue
            name = names[positions[column.role]]
            if is_numeric(name):
                where = format_place(self._source, "line 1")
                example = ",".join(self._required_roles())
                raise InputError("number-in-header", where, value=name, example=example)

    def _columns_of_list(self, width: int, where: str) -> dict[str, int]:
        """Return the positions of the required columns, which a list has in their order."""
        schema = self._schema
        if self._chosen or not schema.allows_lists:
            names = [*self._chosen.values(), schema.columns[0].role]
            raise InputError(
                "needs-keys",
                where,
                noun=schema.noun,
                name=names[0],
                example=schema.example,
            )
        roles = self._required_roles()
        if width != len(roles):
            raise InputError(
                "wrong-cells", where, n=width, noun=schema.noun, wanted=roles
            )
        return {role: position for position, role in enumerate(roles)}

    def _required_roles(self) -> list[str]:
        """Return the roles of the required columns."""
        return [column.role for column in self._schema.columns if column.required]

    def note_unused_columns(self) -> list[Fact]:
        """Return a note on the names in headers that are not used, if there are any."""
        used_names = set(self.names_by_role.values())
        unused_names = tuple(n for n in self._all_names if n not in used_names)
        if not unused_names:
            return []
        n_unused = len(unused_names)
        examples = unused_names[:MAX_EXAMPLES]
        return [Fact("unused-columns", n_unused, examples, self._source)]
