"""Options with a value for each item, which come with each batch of a `Scorer`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.data.join import Weights
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.errors import InputError
from semmetrics.kinds.labels.side_inputs import read_set_size_probs
from semmetrics.kinds.options import resolve_options
from semmetrics.kinds.sample_weights import read_weights, unused_weights
from semmetrics.options import OPTIONS
from semmetrics.scoring.evaluation import Evaluation

ItemValues: TypeAlias = "Weights | NDArray[Any]"
"""The values of an option for the items of a batch."""

OPTIONS_BY_ITEM = tuple(n for n, option in OPTIONS.items() if option.batch == "items")
"""Options with a value for each item, which come with each batch."""


def read_item_options(
    by_item: Mapping[str, Any],
    pred: Lists | Matrix,
    ref: Lists | Matrix,
    setup: Evaluation,
) -> dict[str, ItemValues]:
    """Return the values that the user sets, as arrays or `Weights`.

    Weights are by id if the items have ids.
    """
    resolved = resolve_options(by_item, setup.kind.name)
    files = setup.options.read
    values: dict[str, ItemValues] = {}
    probs = read_set_size_probs(resolved.set_size_probs, files)
    if probs is not None:
        values["set_size_probs"] = probs
    if resolved.weights is not None:
        weights = read_weights(resolved.weights, files.for_side_inputs())
        weights = weights or Weights(None)
        values["weights"] = _align_with_batch(weights, pred, ref)
    return values


def _align_with_batch(
    weights: Weights, pred: Lists | Matrix, ref: Lists | Matrix
) -> Weights:
    """Return the weights of the items of a batch, by id if the items have ids."""
    if ref.has_ids and weights.is_by_id:
        # Other batches may use the other ids.
        return weights
    numbers = weights.align(ref, ref.ids)
    notes = unused_weights(weights, [pred, ref])
    if not ref.has_ids:
        return replace(weights, values=numbers, notes=notes)
    ids = map(str, ref.ids)
    weight_by_id = dict(zip(ids, numbers.tolist(), strict=True))
    return replace(weights, values=weight_by_id, notes=notes)


def join_item_values(parts: Sequence[ItemValues]) -> ItemValues:
    """Return the values of an option for the items of several batches."""
    weights = [part for part in parts if isinstance(part, Weights)]
    if weights:
        return _join_weights(weights)
    return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])


def _join_weights(parts: Sequence[Weights]) -> Weights:
    """Return the weights of several batches, with their notes."""
    sources = {part.source for part in parts}
    source = sources.pop() if len(sources) == 1 else "weights"
    notes: dict[Any, None] = {}
    for part in parts:
        notes.update(dict.fromkeys(part.notes))
    if not parts[0].is_by_id:
        numbers = np.concatenate([part.values for part in parts])
        return Weights(numbers, source, list(notes))
    weight_by_id: dict[Any, Any] = {}
    for part in parts:
        weight_by_id.update(part.values)
    return Weights(weight_by_id, source, list(notes))


def columns_of(values: Sequence[ItemValues]) -> NDArray[Any] | None:
    """Return the first array of an option without its rows, or None for weights."""
    if values and isinstance(values[0], np.ndarray):
        return values[0][:0]
    return None


def check_same_columns(
    name: str, values: Sequence[ItemValues], others: Sequence[ItemValues]
) -> None:
    """Raise an error if the arrays of an option have different numbers of columns."""
    columns = columns_of(values)
    other_columns = columns_of(others)
    if columns is None or other_columns is None:
        return
    if columns.shape != other_columns.shape:
        role = f"the number of columns of {name}"
        raise InputError("batch-differs", role=role)
