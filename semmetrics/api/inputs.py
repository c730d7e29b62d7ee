"""What a user gives beside predictions and ground truth: class lists, names, weights, heads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from semmetrics.data.beside import read_class_list, read_matrix, read_numbers
from semmetrics.data.form import ReadOptions
from semmetrics.errors import InputError
from semmetrics.scoring.protocols import find_protocol

__all__ = ["classes_of", "conventions", "heads_of", "names_of", "weights_of"]


def conventions(protocol: str | None, asked: Mapping[str, str | None]) -> dict[str, Any]:
    """The conventions of the data: the protocol's, which cannot be changed, or those asked for."""
    fixed = {} if protocol is None else find_protocol(protocol).settings
    for name, value in asked.items():
        if value is not None and fixed.get(name, value) != value:
            raise InputError(
                f"protocol {protocol} has {name}={fixed[name]}, not {value}",
                remedy=f"leave {name} out, or name measures instead of the protocol",
            )
    return {**{name: value for name, value in asked.items() if value is not None}, **fixed}


def classes_of(classes: Any, read: ReadOptions | None) -> list[Any] | None:
    """The class list, read where it is a path."""
    if classes is None or not isinstance(classes, (str, os.PathLike)):
        return None if classes is None else list(classes)
    return list(read_class_list(classes, read or ReadOptions()))


def names_of(ignore: Iterable[str], read: ReadOptions | None) -> list[str]:
    """Labels to ignore, read where they are a path."""
    if isinstance(ignore, (str, os.PathLike)):
        return read_class_list(ignore, read or ReadOptions())
    return list(ignore)


def weights_of(weights: Any, read: ReadOptions | None) -> Any:
    """Sample weights, read where they are a path."""
    if isinstance(weights, (str, os.PathLike)):
        return read_numbers(weights, read or ReadOptions())
    if hasattr(weights, "to_dict"):  # a Series has its ids in the index
        return {str(name): value for name, value in weights.to_dict().items()}
    return weights


def heads_of(cardinality: Any, name: str, read: ReadOptions | None) -> Any:
    """The probabilities of set sizes of one system."""
    if isinstance(cardinality, Mapping):
        cardinality = cardinality.get(name)
    if isinstance(cardinality, (str, os.PathLike)):
        return read_matrix(cardinality, read or ReadOptions())
    try:
        return None if cardinality is None else np.asarray(cardinality, np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "cardinality is no matrix of numbers", remedy="give items x sizes of probabilities"
        ) from None
