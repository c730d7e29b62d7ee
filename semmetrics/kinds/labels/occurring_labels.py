"""Which labels of a task occur on which side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.data.lists import Side, Terms
from semmetrics.data.tasks.labels import LabelTask

SIDES = ("pred", "ref")


@dataclass(frozen=True, eq=False)
class OccurringLabels:
    """The labels of a task that occur on each side.

    Flags have the shape (classes,).

    Attributes
    ----------
    task : LabelTask
    on_side : mapping from "pred" and "ref" to bool array
        Whether a label occurs on the side.
    is_known : bool array
        Whether a label is a reference label or in the class list.
    """

    task: LabelTask
    on_side: Mapping[str, Bools]
    is_known: Bools

    @staticmethod
    def of(task: LabelTask) -> OccurringLabels:
        """Find the labels of a task."""
        axis = task.axis
        is_predicted = axis.n_prediction > 0
        is_reference = axis.n_reference > 0
        n_listed = task.n_listed or 0
        is_known = is_reference.copy()
        is_known[:n_listed] = True
        return OccurringLabels(
            task, {"pred": is_predicted, "ref": is_reference}, is_known
        )

    def side(self, name: str) -> Side:
        """Return the predictions ("pred") or the references ("ref")."""
        if name == "pred":
            return self.task.pred
        return self.task.ref

    def terms(self, chosen: Bools) -> list[Terms]:
        """Return the terms of each of the chosen labels."""
        codes = np.flatnonzero(chosen).tolist()
        if self.task.terms is None:
            return [(self.task.classes[code],) for code in codes]
        return [self.task.terms[code] for code in codes]

    def names(self, chosen: Bools) -> list[str]:
        """Return all terms of the chosen labels."""
        if self.task.terms is None:
            return list(compress(self.task.classes, chosen.tolist()))
        names: list[str] = []
        for terms in self.terms(chosen):
            names += terms
        return names
