"""The library's measures in the call shapes of other packages."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.data.side_inputs import read_class_list
from semmetrics.metrics.parsing import kinds_of_all, listed


def as_sides(
    options: Mapping[str, Any], *sides: Any, by_place: bool = True
) -> list[Any]:
    """Return predictions and references that give each item one class as the library has them.

    Measures of label sets get sets of one label, those of classes get names. Everything else stays
    as it is.

    Parameters
    ----------
    options : mapping
        Those of ``score``: the task or the measures, and the classes.
    *sides
    by_place : bool
        Whether whole numbers are places in the class list; without one they are names.

    Raises
    ------
    KeyError
        If a number has no class.

    Examples
    --------
    >>> as_sides({"measures": "F1", "classes": ["cat", "dog"]}, [1, 0], [["cat"], ["cat"]])
    [[['dog'], ['cat']], [['cat'], ['cat']]]
    """
    task, classes = options.get("task"), options.get("classes")
    kinds = [task] if task else kinds_of_all(listed(options.get("measures") or ()))
    as_sets = "labels" in kinds and "captions" not in kinds
    if isinstance(classes, (str, os.PathLike)):
        classes = read_class_list(classes)
    names = {} if classes is None or not by_place else dict(enumerate(classes))
    found = []
    for side in sides:
        values = side.tolist() if getattr(side, "ndim", 0) == 1 else side
        flat = (
            isinstance(values, Sequence)
            and not isinstance(values, str)
            and len(values) > 0
        )
        flat = flat and all(isinstance(one, (str, int, np.integer)) for one in values)
        if flat and (as_sets or kinds == ["classes"]):
            texts = [
                one if isinstance(one, str) else str(names[one] if names else int(one))
                for one in values
            ]
            side = [[text] for text in texts] if as_sets else texts
        found.append(side)
    return found
