"""semmetrics measures behind the interfaces of other packages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.side_inputs import read_class_list
from semmetrics.metrics.parsing import kinds_of_all, listed


def as_sides(
    options: Mapping[str, Any], *sides: Any, by_index: bool = True
) -> list[Any]:
    """Convert vectors of classes to the inputs of semmetrics.

    A vector has one class per item. It becomes label sets of one label for measures of
    label sets, and class names for measures of classes. Other inputs are returned
    unchanged.

    Parameters
    ----------
    options : mapping
        The options of ``score``: task or measures, and classes.
    *sides
        Predictions and references.
    by_index : bool
        Whether integers are indices into the class list. Otherwise, or without a class
        list, they are names.

    Returns
    -------
    list
        One converted side per input.

    Raises
    ------
    KeyError
        If an index is outside the class list.

    Examples
    --------
    >>> options = {"measures": "F1", "classes": ["cat", "dog"]}
    >>> as_sides(options, [1, 0], [["cat"], ["cat"]])
    [[['dog'], ['cat']], [['cat'], ['cat']]]
    """
    kinds = _find_kinds(options)
    name_of_index = _find_names(options, by_index=by_index)
    are_label_sets = "labels" in kinds and "captions" not in kinds
    if not are_label_sets and kinds != ["classes"]:
        return list(sides)
    converted = []
    for side in sides:
        values = side
        if getattr(side, "ndim", 0) == 1:
            values = side.tolist()
        if not _are_classes(values):
            converted.append(side)
            continue
        names = [_name_class(value, name_of_index) for value in values]
        if are_label_sets:
            converted.append([[name] for name in names])
        else:
            converted.append(names)
    return converted


def _find_kinds(options: Mapping[str, Any]) -> list[str]:
    """Return the kinds of data that the task or the measures are for."""
    task = options.get("task")
    if task:
        return [task]
    return kinds_of_all(listed(options.get("measures") or ()))


def _find_names(options: Mapping[str, Any], *, by_index: bool) -> dict[int, Any]:
    """Return the names of classes by index. Empty if integers are names."""
    classes = options.get("classes")
    if isinstance(classes, (str, os.PathLike)):
        classes = read_class_list(classes)
    if classes is None or not by_index:
        return {}
    return dict(enumerate(classes))


def _are_classes(values: Any) -> bool:
    """Return whether the values are a sequence of names or integers, and not empty."""
    if not isinstance(values, Sequence) or isinstance(values, str):
        return False
    if len(values) == 0:
        return False
    return all(isinstance(value, (str, int, np.integer)) for value in values)


def _name_class(value: Any, name_of_index: Mapping[int, Any]) -> str:
    """Return the name of a class. Without a class list, an integer is a name."""
    if isinstance(value, str):
        return value
    if name_of_index:
        return str(name_of_index[value])
    return str(int(value))
