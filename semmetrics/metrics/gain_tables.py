"""Tables of the gains of label pairs, with only the rows and columns that are needed.

A matching with the largest sum is decided on few of the rows and columns of a batch:
those with a contested pair. They are numbered within their item and laid out in one
padded table per item.
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
        Their places in the batch. Padding is 0.
    gains : float array, shape (items, m, n)
        0 for other pairs.
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
        The rows and columns of the pairs, numbered within their item.
    """

    item: Ints
    row: Ints
    column: Ints
    table_rows: _Numbering
    table_columns: _Numbering

    @property
    def max_matched(self) -> int:
        """The largest number of pairs that a matching of one item can have."""
        n_rows: int = self.table_rows.places.shape[1]
        n_columns: int = self.table_columns.places.shape[1]
        return min(n_rows, n_columns)

    def fill(self, gains: Floats) -> GainTable:
        """Return the table of the gains of the pairs.

        Parameters
        ----------
        gains : float array, shape (pairs,)
        """
        rows = self.table_rows
        columns = self.table_columns
        table = np.zeros((*rows.places.shape, columns.places.shape[1]))
        table[rows.item, rows.number, columns.number] = gains
        return GainTable(rows.items, rows.places, columns.places, table)


def lay_out_pairs(pairs: Ints, shape: tuple[int, ...]) -> PairLayout:
    """Lay out the rows and columns of some pairs.

    Parameters
    ----------
    pairs : int array, shape (pairs,)
        At least one flat place in a table of the batch.
    shape : tuple of int
        The shape of that table: items, rows and columns.
    """
    n_items, n_rows, n_columns = shape
    item, row, column = np.unravel_index(pairs, shape)
    table_rows = _number_within_items(item, row, (n_items, n_rows))
    table_columns = _number_within_items(item, column, (n_items, n_columns))
    return PairLayout(item, row, column, table_rows, table_columns)


class _Numbering(NamedTuple):
    """Rows or columns of pairs, numbered within their item.

    Attributes
    ----------
    items : int array, shape (items,)
        Items that have a pair, rising.
    places : int array, shape (items, most rows or columns)
        The row or column of each number, 0 for padding.
    item, number : int arrays, shape (pairs,)
        The place of each pair's item in ``items``, and the number of its row or column.
    """

    items: Ints
    places: Ints
    item: Ints
    number: Ints


def _number_within_items(item: Ints, place: Ints, shape: tuple[int, int]) -> _Numbering:
    """Number the distinct rows or columns of each item, in their order.

    Parameters
    ----------
    item, place : int arrays, shape (pairs,)
        The item of each pair, and its row or column.
    shape : tuple of int
        Numbers of items, and of rows or columns.
    """
    is_used = np.zeros(shape, np.bool_)
    is_used[item, place] = True
    items = np.flatnonzero(is_used.any(axis=1))
    number_of_item = np.zeros(shape[0], np.int64)
    number_of_item[items] = np.arange(len(items))
    is_used = is_used[items]
    numbers = np.cumsum(is_used, axis=1) - 1
    most_places = int(numbers[:, -1].max()) + 1
    places = np.zeros((len(items), most_places), np.int64)
    used_item, used_place = np.nonzero(is_used)
    places[used_item, numbers[used_item, used_place]] = used_place
    item_number = number_of_item[item]
    return _Numbering(items, places, item_number, numbers[item_number, place])
