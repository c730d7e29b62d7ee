"""The label axis of a task: what macro averages run over; empty where there are no labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.ragged import Bools

__all__ = ["NO_LABELS", "LabelAxis", "occurring"]


class LabelAxis(NamedTuple):
    """Labels by name, and on which sides each of them occurs.

    Attributes
    ----------
    labels : tuple of str
    in_reference, in_prediction : bool arrays, shape (labels,)
    given : int or None
        The first so many labels are the class list.
    """

    labels: tuple[str, ...]
    in_reference: Bools
    in_prediction: Bools
    given: int | None


def occurring(codes: Any, width: int) -> Bools:
    """Which of the codes from 0 to ``width`` there are.

    Examples
    --------
    >>> occurring(np.array([2, 0, 2]), 3).tolist()
    [True, False, True]
    """
    flags = np.zeros(width, np.bool_)
    flags[codes] = True
    return flags


NO_LABELS = LabelAxis((), np.zeros(0, np.bool_), np.zeros(0, np.bool_), None)
