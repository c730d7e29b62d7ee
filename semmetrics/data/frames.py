"""Recognise frames and other tables in memory, and convert them to Arrow tables.

A frame is a DataFrame of pandas or polars, a dataset of Hugging Face, or any object with the
Arrow stream interface. A pandas index contains the ids, unless it is the default numbering.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.data.input_columns import has_usual_id_name
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.source import reporting_damage
from semmetrics.errors import ROW, InputError
from semmetrics.schema import as_id

_NO_VALUES: Mapping[str, str] = {}
_MAX_NESTED_LISTS = 3  # Levels of lists in a cell. Deeper ones can crash pyarrow.


def is_series(data: Any) -> bool:
    """Return whether an object is a single column of pandas or polars."""
    if hasattr(data, "columns") or isinstance(data, np.ndarray):
        return False
    attributes = ("to_numpy", "__len__", "dtype")
    return all(hasattr(data, attribute) for attribute in attributes)


def is_frame(data: Any) -> bool:
    """Return whether an object has named columns or the Arrow stream interface."""
    if is_series(data):
        return False
    if hasattr(data, "__arrow_c_stream__") or _is_dataset(data):
        return True
    return hasattr(data, "columns") and hasattr(data, "to_numpy")


def _is_dataset(data: Any) -> bool:
    """Return whether an object is a dataset of Hugging Face."""
    return hasattr(data, "with_format") and hasattr(data, "column_names")


def is_numbering(index: Any) -> bool:
    """Return whether an index is the default numbering of pandas, from 0 in steps of 1."""
    if type(index).__name__ != "RangeIndex":
        return False
    return (index.start, index.step) == (0, 1)


def column_names(data: Any) -> list[str]:
    """Return the names of the columns of a frame."""
    for attribute in ("column_names", "columns"):
        names = getattr(data, attribute, None)
        if names is not None:
            return list(map(str, names))
    return list(map(str, to_arrow_table(data).column_names))


def string_ids(
    names: Iterable[Any],
    source: str,
    *,
    repeats: bool = False,
    first_row: int = 0,
    code: str = "duplicate-id",
    values: Mapping[str, str] = _NO_VALUES,
) -> list[str]:
    """Check ids and return them as strings.

    Parameters
    ----------
    names : iterable of str or int
    source : str
        The input, for errors.
    repeats : bool
        Whether an id may occur several times.
    first_row : int
        The number of the first row, for errors.
    code, values : str, mapping
        The code of the error for an id that occurs twice, and its other values.

    Raises
    ------
    InputError
        If an id is empty, is neither a string nor an integer, or occurs twice.

    Examples
    --------
    >>> string_ids([7, "a"], "input")
    ['7', 'a']
    """
    ids = list(names)
    are_all_strings = set(map(type, ids)) == {str}
    if not are_all_strings:
        ids = [name if type(name) is str else as_id(name, where=source) for name in ids]
    if "" in ids:
        row = ROW.format(first_row + ids.index(""))
        raise InputError("empty-id", f"{source}, {row}")
    if not repeats:
        check_once(ids, code, source, **values)
    return ids


def index_ids(
    index: Any,
    source: str,
    code: str = "duplicate-id",
    values: Mapping[str, str] = _NO_VALUES,
) -> list[str] | None:
    """Return the ids in a pandas index, or None for no index or the default numbering.

    ``code`` and ``values`` are for an id that occurs twice, as in `string_ids`.
    """
    if index is None or is_numbering(index):
        return None
    return string_ids(index, source, code=code, values=values)


def has_id_column(columns: Sequence[str], options: ReadOptions) -> bool:
    """Return whether the options or the names of the columns point to a column of ids.

    A column that an option names may be missing. The reader of the table raises the error.
    """
    if options.id_column is not None:
        return True
    return has_usual_id_name(columns)


def with_index_ids(data: Any) -> Any:
    """Return a frame with its index as the column "id", unless it is the default numbering."""
    index = getattr(data, "index", None)
    if index is None or is_numbering(index):
        return data
    return data.rename_axis("id").reset_index()


def frame_table(data: Any, options: ReadOptions, source: str, value_name: str) -> Any:
    """Return a frame as an Arrow table, with ids from its index if no column has them.

    Parameters
    ----------
    data : frame or Arrow stream
    options : ReadOptions
    source : str
        The input, for errors.
    value_name : str
        The name to give to the only column of a frame whose ids are in its index.

    Raises
    ------
    InputError
        If the frame cannot be converted.
    """
    with conversion_errors(source):
        names = column_names(data)
        if has_id_column(names, options):
            return to_arrow_table(data)
        frame = with_index_ids(data)
        has_index_ids = frame is not data
        if has_index_ids and len(names) == 1:
            frame = frame.set_axis(["id", value_name], axis=1)
        return to_arrow_table(frame)


@contextmanager
def conversion_errors(source: str) -> Iterator[None]:
    """Turn exceptions from the conversion of a frame or stream into errors that name the input.

    Raises
    ------
    InputError
        "not-a-table", if any exception is raised. The library behind the object is unknown, and
        so are the types of its exceptions.
    """
    try:
        with reporting_damage(source, Exception, code="not-a-table"):
            yield
    except InputError as error:  # An error of the conversion itself has no place yet.
        if error.where:
            raise
        raise error.placed(source)  # noqa: B904 - the same error


def to_arrow_table(data: Any) -> Any:
    """Convert a frame, an Arrow stream or a mapping from names to columns to an Arrow table.

    Raises
    ------
    InputError
        If a column of a mapping has cells with too many levels of lists.
    """
    import pyarrow as pa

    if isinstance(data, Mapping):
        columns = {str(name): list(column) for name, column in data.items()}
        for name, column in columns.items():
            _check_depth(name, column)
        return pa.table(columns)
    if _is_dataset(data):
        table = data.with_format("arrow")[:]
        features = getattr(data, "features", None) or {}
        return _with_class_names(table, features)
    # The stream of a pandas frame, which has an index, could contain the index as a column.
    if hasattr(data, "__arrow_c_stream__") and not hasattr(data, "index"):
        return pa.table(data)
    return pa.Table.from_pandas(data, preserve_index=False)


def _check_depth(name: str, column: list[Any]) -> None:
    """Raise an error if a cell of a column has too many levels of lists."""
    cells = column
    for _ in range(_MAX_NESTED_LISTS):  # each step removes one level
        lists = [cell for cell in cells if isinstance(cell, (list, tuple))]
        cells = list(chain.from_iterable(lists))
    if any(isinstance(cell, (list, tuple)) for cell in cells):
        raise InputError("deep-column", name=name)


def _feature_of_cells(feature: Any) -> Any:
    """Return the feature of a column, or of the elements of its lists."""
    if isinstance(feature, list):
        return feature[0]
    return getattr(feature, "feature", feature)


def _with_class_names(table: Any, features: Mapping[str, Any]) -> Any:
    """Replace the codes of ``ClassLabel`` features by class names. The code -1 becomes null."""
    for position, name in enumerate(table.column_names):
        feature = _feature_of_cells(features.get(name))
        if not hasattr(feature, "int2str"):
            continue
        class_names = [*feature.names, None]  # The code -1 is the index of None.
        cells = table.column(name).to_pylist()
        named_cells = [_name_classes(cell, class_names) for cell in cells]
        table = table.set_column(position, name, [named_cells])
    return table


def _name_classes(cell: Any, class_names: Sequence[str | None]) -> Any:
    """Return the class name of a cell, or the list of names of a list of codes."""
    if isinstance(cell, list):
        return [class_names[code] for code in cell]
    if cell is None:
        return None
    return class_names[cell]
