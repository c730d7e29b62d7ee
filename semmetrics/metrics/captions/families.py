"""What caption measures share: candidates beside their references, and their options.

Conventions
-----------
An item is a candidate caption. One without reference captions has no value: its cause is
``no_reference``. An empty caption is a caption, with a value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Column, OneHot, as_floats
from semmetrics.core.ragged import Floats, Ints, lengths
from semmetrics.metrics.captions.tokens import CaptionBlock
from semmetrics.metrics.definition import Frame, Measure, Option, Sums
from semmetrics.metrics.families import CAUSES, POLICIES, undefined_items, value_columns

__all__ = [
    "NO_REFERENCE",
    "SKIP_OR_NAN",
    "Beside",
    "CountSums",
    "References",
    "caption_values",
    "largest_of_rows",
    "reference_causes",
    "summed_or_nan",
]

NO_REFERENCE = Option(
    "no_reference", "noref", "skip", POLICIES, help="policy for candidates without references"
)
# For a function of sums, to which an item without references can add nothing.
SKIP_OR_NAN = replace(NO_REFERENCE, choices=("skip", "nan"))


@dataclass(frozen=True, eq=False)
class Beside:
    """The captions of a block's items, as numbers of texts.

    Attributes
    ----------
    candidates : int array, shape (items,)
    indptr, references : int arrays
        The references of each item.
    """

    candidates: Ints
    indptr: Ints
    references: Ints

    @property
    def n_refs(self) -> Ints:
        """How many references each item has."""
        return lengths(self.indptr)

    @property
    def first(self) -> Ints:
        """The candidate of each pair of a candidate and one of its references."""
        return np.repeat(self.candidates, self.n_refs)


@dataclass(frozen=True)
class References:
    """Each candidate of the block beside its references."""

    def compute(self, block: CaptionBlock) -> Beside:
        """Gather them."""
        indptr, references = block.task.pairs(block.start, block.stop)
        return Beside(block.task.candidates[block.start : block.stop], indptr, references)


def reference_causes(n_refs: Ints) -> OneHot:
    """The column "cause" of items that lack a value only where there is no reference."""
    cause = np.where(n_refs == 0, CAUSES.index("no_reference"), 0)
    return OneHot(cause.astype(np.int8), len(CAUSES))


def summed_or_nan(measure: Measure, sums: Sums, values: Floats) -> Floats:
    """A function of sums, nan where no item has references, or the policy says so."""
    counts = as_floats(sums["cause"])
    unknown = counts[..., 0] == 0
    if measure["no_reference"] == "nan":
        unknown |= counts[..., CAUSES.index("no_reference")] > 0
    return np.where(unknown, np.nan, values)


def caption_values(values: Floats, n_refs: Ints) -> dict[str, Column]:
    """The columns "value" and "cause"; an item always has a candidate."""
    return value_columns(values, np.ones(len(values), np.int64), n_refs)


def largest_of_rows(values: NDArray[Any], indptr: Ints) -> Floats:
    """Largest value of each row; nan in a row without values.

    Examples
    --------
    >>> largest_of_rows(np.array([1, 3, 2]), np.array([0, 2, 2, 3])).tolist()
    [3.0, nan, 2.0]
    """
    found = np.full(len(indptr) - 1, np.nan)
    some = lengths(indptr) > 0
    if some.any():
        found[some] = np.maximum.reduceat(values, indptr[:-1][some])
    return found


class CountSums:
    """What families have in common whose measures are functions of summed counts and "cause"."""

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Candidates without references."""
        return undefined_items(sums)

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, NDArray[Any]] | None:
        """None: there are no labels."""
        return None
