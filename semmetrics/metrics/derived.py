"""Derived measures: formulas on the values of other measures, of one part of the data or several.

Conventions
-----------
A derived measure has no columns of its own. Its replicates are its formula on the replicates of
its terms, which are paired: parts of one data set are resampled with the same weights.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats
from semmetrics.data.block import Block
from semmetrics.frozen import dataclass
from semmetrics.metrics.definition import Columns, Frame, ItemSums, Measure, Statistic, Sums
from semmetrics.metrics.families import WithoutLabels

__all__ = ["Derived", "SumOverParts", "flat_terms", "terms_of"]


@dataclass(frozen=True)
class NoColumns(ItemSums):
    """A step of nothing."""

    def compute(self, block: Block[Any]) -> dict[str, Any]:
        """Return no columns."""
        return {}


class Derived(WithoutLabels, ABC):
    """A formula on the values of other measures.

    Subclasses say which (`terms`) and how (`combine`).
    """

    @abstractmethod
    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that it needs of each part; "" is data that have no parts."""

    @abstractmethod
    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Combine the values of all terms, in their order: numbers, or arrays of one shape."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return a step of nothing."""
        return NoColumns()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return nan: the value is made of the values of other measures."""
        return np.full((), np.nan)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Return nothing: the terms say what is undefined."""
        return {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return None: an item alone has no value."""
        return None


class SumOverParts(Derived):
    """The sum of measures of several parts, times a factor.

    Parameters
    ----------
    terms : mapping from part to measures
    scale : float
    """

    def __init__(self, terms: Mapping[str, Sequence[Measure]], scale: float = 1.0) -> None:
        self._terms, self._scale = dict(terms), scale

    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that are added."""
        return self._terms

    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Add them up."""
        return self._scale * sum(values)


def terms_of(measure: Measure) -> Mapping[str, Sequence[Measure]]:
    """Return what a derived measure needs of each part; nothing for other measures."""
    family = measure.definition.family
    return family.terms(measure) if isinstance(family, Derived) else {}


def flat_terms(measures: Sequence[Measure]) -> list[Measure]:
    """Return each measure once, and instead of a derived one those that it is made of."""
    every = (terms_of(one) or {"": [one]} for one in measures)
    return list(dict.fromkeys(one for parts in every for some in parts.values() for one in some))
