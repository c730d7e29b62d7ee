"""Tables of the gains of label pairs, with only the rows and columns that are needed.

The matching with the largest sum depends on few of the rows and columns of a batch: those
with a contested pair. These are numbered within their item, and form a padded table per
item.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from semmetrics.core.ragged import Floats, Ints


class GainTable(NamedTuple):
    """The gains of pairs: how much each adds to the sum that a matching maximises.

    Attributes
    ----------
    items : int array, shape (items,)
        Numbers of the items in the batch.
    rows, columns : int arrays, shapes (items, m) and (items, n)
        The row and column of the batch for each row and column of a table. Padding is 0.
    gains : float array, shape (items, m, n)
        0 for pairs that are not in the layout.
    """

    items: Ints
    rows: Ints
    columns: Ints
    gains: Floats


class PairLayout(NamedTuple):
    """Pairs of a batch, and their places in a `GainTable`.

    Attributes
    ----------
    item, row, column : int arrays, shape (pairs,)
        Where each pair is in the batch.
    table_rows, table_columns : _Numbering
        Where each pair is in the table.
    """

    item: Ints
    row: Ints
    column: Ints
    table_rows: _Numbering
    table_columns: _Numbering

    @property
    def max_matched(self) -> int:
        """The largest number of pairs that a matching of one item can have."""
        n_rows: int = self.table_rows.batch_numbers.shape[1]
        n_columns: int = self.table_columns.batch_numbers.shape[1]
        return min(n_rows, n_columns)

    def fill(self, gains: Floats) -> GainTable:
        """Return the table of the gains of the pairs.

        Parameters
        ----------
        gains : float array, shape (pairs,)
        """
        rows = self.table_rows
        columns = self.table_columns
        n_items, n_rows = rows.batch_numbers.shape
        n_columns = columns.batch_numbers.shape[1]
        table = np.zeros((n_items, n_rows, n_columns))
        table[rows.table_of_pair, rows.number_of_pair, columns.number_of_pair] = gains
        return GainTable(rows.items, rows.batch_numbers, columns.batch_numbers, table)


def lay_out_pairs(pairs: Ints, shape: tuple[int, ...]) -> PairLayout:
    """Lay out the rows and columns of some pairs.

    Parameters
    ----------
    pairs : int array, shape (pairs,)
        Flat indices of an array of the batch, at least one.
    shape : tuple of int
        The shape of that array: items, rows and columns.
    """
    n_items, n_rows, n_columns = shape
    item, row, column = np.unravel_index(pairs, shape)
    table_rows = _number_within_items(item, row, (n_items, n_rows))
    table_columns = _number_within_items(item, column, (n_items, n_columns))
    return PairLayout(item, row, column, table_rows, table_columns)


class _Numbering(NamedTuple):
    """Rows (or columns) of pairs, numbered within their item. Items with a pair are tables.

    Attributes
    ----------
    items : int array, shape (tables,)
        The item of each table, in ascending order.
    batch_numbers : int array, shape (tables, most rows)
        The row of the batch for each row of a table, 0 for padding.
    table_of_pair, number_of_pair : int arrays, shape (pairs,)
        The table of each pair, and its row in the table.
    """

    items: Ints
    batch_numbers: Ints
    table_of_pair: Ints
    number_of_pair: Ints


def _number_within_items(item: Ints, row: Ints, shape: tuple[int, int]) -> _Numbering:
    """Number the distinct rows (or columns) of each item, in their order.

    Parameters
    ----------
    item, row : int arrays, shape (pairs,)
        The item of each pair, and its row in the batch.
    shape : tuple of int
        Numbers of items, and of rows.
    """
    n_items, _ = shape
    is_used = np.zeros(shape, np.bool_)
    is_used[item, row] = True
    items = np.flatnonzero(is_used.any(axis=1))
    table_of_item = np.zeros(n_items, np.int64)
    table_of_item[items] = np.arange(len(items))

    is_used = is_used[items]
    table_row_of_row = np.cumsum(is_used, axis=1) - 1
    n_table_rows = int(table_row_of_row[:, -1].max()) + 1
    batch_numbers = np.zeros((len(items), n_table_rows), np.int64)
    used_table, used_row = np.nonzero(is_used)
    batch_numbers[used_table, table_row_of_row[used_table, used_row]] = used_row
    table_of_pair = table_of_item[item]
    return _Numbering(
        items, batch_numbers, table_of_pair, table_row_of_row[table_of_pair, row]
    )
