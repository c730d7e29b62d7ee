"""Read sample weights, and report weights that no item uses."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from semmetrics.data.join import Weights
from semmetrics.data.read_options import ReadOptions
from semmetrics.errors import Fact
from semmetrics.kinds.note_builders import named


def read_weights(
    weights: Any, files: ReadOptions, source: str = "weights"
) -> Weights | None:
    """Read weights of items, or numbers of classes.

    Parameters
    ----------
    weights : path, frame, Series, mapping from id, sequence, Weights or None
        The index of a Series has the ids.
    files : ReadOptions
        How a file or frame is read.
    source : str
        The name of the numbers in messages, if they are not in a file.
    """
    if weights is None or isinstance(weights, Weights):
        return weights
    from semmetrics.data.frames import is_frame, is_series, string_ids

    is_path = isinstance(weights, (str, os.PathLike))
    has_columns = hasattr(weights, "columns") or hasattr(weights, "column_names")
    if is_path or (has_columns and is_frame(weights)):
        from semmetrics.data.side_inputs import read_numbers

        notes: list[Any] = []
        numbers = read_numbers(weights, files, notes, source)
        if is_path:
            source = os.fspath(weights)
        return Weights(numbers, source, notes)
    if is_series(weights) and hasattr(weights, "index"):
        ids = string_ids(weights.index, source)
        weight_of_id = dict(zip(ids, weights.to_list(), strict=True))
        return Weights(weight_of_id, source)
    return Weights(weights, source)


def unused_weights(weights: Weights | None, inputs: Sequence[Any]) -> list[Fact]:
    """Return notes on weights whose ids no input has, and on how the weights were read.

    Parameters
    ----------
    weights : Weights or None
    inputs : sequence of Lists or Matrix

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> weights = Weights({"a": 1.0, "b": 2.0})
    >>> print(*unused_weights(weights, [as_labels({"a": ["cat"]})]))
    1 of 2 sample weights not used, because the data have no such id: 'b'
    """
    if weights is None:
        return []
    notes = list(weights.notes)
    if not weights.is_by_id or not inputs:
        return notes
    input_ids: set[str] = set()
    for data in inputs:
        input_ids.update(map(str, data.ids))
    weight_ids = [str(item_id) for item_id in weights.values]
    unused = [item_id for item_id in weight_ids if item_id not in input_ids]
    return notes + named("unused-weights", unused, total=len(weight_ids))
