"""Distances of whole label lists: word mover's distance and its relaxed lower bound.

Conventions
-----------
Words and their weights are those of ``metrics.bags``. Distances are Euclidean between vectors as
the model gives them (Kubany et al. 2020) and therefore depend on the model. They are at least 0;
lower is better.

References
----------
Kusner, Sun, Kolkin, Weinberger, 2015, From word embeddings to document distances, ICML.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.metrics.bags import Bags
from semmetrics.metrics.definition import Definition, Measure, Option, Statistic
from semmetrics.metrics.families import cut_of
from semmetrics.metrics.policies import ItemMeans, value_columns
from semmetrics.metrics.registry import add
from semmetrics.metrics.semantic_options import bag_options

__all__ = ["RWMD", "WMD", "TransportFamily", "TransportValues"]


@dataclass(frozen=True)
class TransportValues:
    """Word mover's distance of each item, or its relaxed bound: columns "value" and "cause"."""

    name: str
    bags: Bags
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: Block[LabelTask]) -> dict[str, Any]:
        """Solve the items that have words on both sides."""
        bags = block.get(self.bags)
        widths = [lengths(side[0]) for side in (bags.pred, bags.ref)]
        both = np.flatnonzero((widths[0] > 0) & (widths[1] > 0))
        value = np.full(len(block), np.nan)
        if len(both):
            sides = [_rows(side, both) for side in (bags.pred, bags.ref)]
            value[both] = self._solve(bags.table.distances, *sides[0], *sides[1])
            if self.bags.build == "text":
                value[both] = _flat_as_ones(value[both], sides, bags.table.points)
        return value_columns(value, *widths)

    def _solve(self, *problems: Any) -> Any:
        # the solver is loaded where a distance is asked for: most scores need none
        from semmetrics.core.transport import gathered_transport, relaxed_transport

        if self.name == "RWMD":
            return relaxed_transport(*problems)
        return gathered_transport(*problems).costs


def _rows(side: tuple[Ints, Ints, Floats], items: Ints) -> tuple[Ints, Ints, Floats]:
    indptr, flat = take_rows(side[0], items)
    return indptr, side[1][flat], side[2][flat]


def _flat_as_ones(value: Floats, sides: Any, points: Ints) -> Floats:
    """Where all words of an item share one vector, every distance counts 1, as in the paper's code.

    (It replaces a matrix of zeros by one of ones, unless there is but one word.)
    """
    items = np.concatenate([row_numbers(side[0]) for side in sides])
    codes = np.concatenate([side[1] for side in sides])
    n_words, n_points = (
        np.bincount(np.unique(items * len(points) + names) // len(points), minlength=len(value))
        for names in (codes, points[codes])
    )
    return np.where((n_points == 1) & (n_words > 1), 1.0, value)


class TransportFamily(ItemMeans):
    """Means over items of a distance of whole lists."""

    def statistic(self, measure: Measure) -> Statistic:
        """Item values."""
        bags = Bags(cut_of(measure), str(measure["build"]), str(measure["embedding"]))
        return TransportValues(measure.definition.name, bags)


_BUILD = Option(
    "build",
    "build",
    "labels",
    ("labels", "text"),
    help="every label a point, or the words of the joined text (Kubany et al. 2020)",
)


def _distance(
    name: str, summary: str, equation: str, source: str, cite: tuple[str, ...]
) -> Definition:
    return add(
        Definition(
            name=name,
            family=TransportFamily(),
            summary=summary,
            equation=equation,
            source=source,
            cite=cite,
            options=bag_options("skip", _BUILD),
            bounds=(0.0, np.inf),
            higher_is_better=False,
            symmetric=True,
        )
    )


WMD = _distance(
    "WMD",
    "Least total distance that the words of one side travel to become the other's.",
    "min over T of Σ T_lk ||w_l - w_k||, rows of T summing to d, columns to d'",
    "Kubany et al. 2020, equations 13 and 14 (Kusner et al. 2015)",
    ("kubany2020", "kusner2015"),
)
RWMD = _distance(
    "RWMD",
    "Lower bound of WMD: every word travels to its nearest, the larger of both directions.",
    "max of Σ d_l min_k ||w_l - w_k|| and Σ d'_k min_l ||w_l - w_k||",
    "Kusner et al. 2015, section 4",
    ("kusner2015",),
)
