"""Measures on a taxonomy: hierarchical precision, recall and F, and the distance of labels.

A prediction that is nearly right, a *tulip* where a *rose* was asked for, is worth nothing to an
exact measure. These measures take a taxonomy: links from labels to the labels that they are a
kind of, several where need be, without cycles.

Conventions
-----------
**Ancestors.** Each label brings its ancestors, itself included: P is the set of predicted labels of
an item with all their ancestors, R that of its reference labels (Kiritchenko et al. 2005, 2006).
Predictions are cut first (``@k``, ``decode``), then closed under ancestors.

**The root** says nothing, since every label has it: ``root=exclude`` leaves it out, as the source
does; ``include`` keeps it. It is the one name that all others descend from. Names without parents
of which there are several are no root, but categories, and count. A label that is the root itself
brings nothing under ``exclude``.

**Averages.** ``micro``, the default and the source's, sums over items before it divides;
``example`` is the mean over items.

**Distance.** ``measure=edges`` is the least number of links from a predicted label up to a common
ancestor and down to a reference label; with several parents the common ancestor with the least sum
of shortest ways counts. ``measure=height`` is the height of the lowest common ancestor, which is
the largest number of links from it down to a label without children, and 0 where the labels are
the same: where no label is an ancestor of another, the hierarchical cost of Deng et al. 2010 and
the hierarchical distance of a mistake of Bertinetto et al. 2020, whose average at k is
``LCADistance(measure=height)@k``. A predicted label takes the least value over the reference
labels; the value of an item is the mean over its predicted labels, right ones included, and the
measure's the mean over items. Lower is better.

``normalize=depth`` divides by the largest value that the taxonomy allows: the longest way down from
the root, twice that for edges; what is then above 1 is 1.

**Unconnected labels** have no common ancestor: ``unconnected=root`` joins them at an implied root
above all names without parents; ``skip`` leaves the prediction out.

**Labels outside the taxonomy** are an error (``unknown=error``), or each a root of its own, which
counts as any other label (``unknown=own``).

Besides items without a value, ``undefined`` counts the items that have such a label on either side
(``outside_taxonomy``), and those with an unconnected prediction (``unconnected``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core import ragged
from semmetrics.core.columns import Dense, OneHot
from semmetrics.core.ragged import Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks import Block, LabelTask, kept
from semmetrics.data.taxonomy import Placed
from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Measure, Statistic, one_of
from semmetrics.metrics.families import (
    CountFormulas,
    ItemMeans,
    policy_option,
    value_columns,
)
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.matching import Cut, ItemCounts, Matches, cut_of, sides_of
from semmetrics.metrics.registry import define
from semmetrics.metrics.sets import set_options

LabelBlock = Block[LabelTask]

FAR = np.int64(1 << 40)  # more links than there can be
_CELLS = 1 << 16  # (label, ancestor) pairs at a time: what stays in caches is fast


def closed_counts(pred: Side, ref: Side, placed: Placed) -> ItemCounts:
    """Count the ancestors of predicted labels, of reference labels, and those of both.

    Parameters
    ----------
    pred, ref : Side
        Labels of each item, by class; repeats change nothing.
    placed : Placed
        The ancestors of each class (``placed.without_root`` leaves the root out).

    Returns
    -------
    ItemCounts

    References
    ----------
    Kiritchenko et al. 2006.

    Examples
    --------
    >>> from semmetrics.data.taxonomy import Taxonomy
    >>> flowers = Taxonomy.from_parents({"rose": "flower", "tulip": "flower", "flower": "plant"})
    >>> placed = flowers.place([("rose",), ("tulip",)]).without_root
    >>> rose, tulip = (Side(np.array([0, 1]), np.array([code], np.int32)) for code in (0, 1))
    >>> counts = closed_counts(tulip, rose, placed)
    >>> counts.hit.tolist(), counts.n_pred.tolist(), counts.n_ref.tolist()
    ([1], [2], [2])
    """
    hit, n_pred, n_ref = np.zeros((3, len(pred)), np.int64)
    for part in _parts(pred, ref, placed):
        size = (part.stop - part.start) * len(placed.height)
        sides = [
            _distinct(side.rows(part.start, part.stop), placed, size)
            for side in (pred, ref)
        ]
        (rows, mine), (ref_rows, theirs) = sides
        shared = rows[ragged.is_member(mine, theirs, size)]
        for counts, found in ((hit, shared), (n_pred, rows), (n_ref, ref_rows)):
            counts[part] = np.bincount(found, minlength=part.stop - part.start)
    return ItemCounts(hit, n_pred, n_ref)


def _parts(pred: Side, ref: Side, placed: Placed) -> Iterator[slice]:
    """Split the items into parts that have few ancestors."""
    widths = np.diff(placed.indptr)
    cost = sum(ragged.sum_rows(widths[side.codes], side.indptr) for side in (pred, ref))
    return ragged.runs_within(ragged.offsets(np.asarray(cost)), _CELLS)


def _ancestors(side: Side, placed: Placed) -> tuple[Ints, Ints, Ints]:
    """Gather the ancestors of each label: offsets, places in ``placed``, cells by item."""
    indptr, flat = ragged.take_rows(placed.indptr, side.codes.astype(np.int64))
    keys = ragged.cell_keys(indptr[side.indptr], placed.nodes[flat], len(placed.height))
    return indptr, flat, keys


def _distinct(side: Side, placed: Placed, size: int) -> tuple[Ints, Ints]:
    """Find the item and the cell of each ancestor, once."""
    indptr, _, keys = _ancestors(side, placed)
    rows = ragged.row_numbers(indptr[side.indptr])
    first = ragged.first_occurrences(keys, size)
    return (rows, keys) if first is None else (rows[first], keys[first])


def lca_distances(pred: Side, ref: Side, placed: Placed) -> tuple[Ints, Ints]:
    """Measure how far each predicted label is from the nearest reference label of its item.

    Parameters
    ----------
    pred, ref : Side
        Labels of each item, by class.
    placed : Placed
        The ancestors of each class, the root among them.

    Returns
    -------
    edges, height : int arrays, shape (predicted labels,)
        The least number of links through a common ancestor; the least height of a common
        ancestor, 0 for a reference label. Both are -1 without a common ancestor.

    References
    ----------
    Deng et al. 2010; Bertinetto et al. 2020.

    Examples
    --------
    >>> from semmetrics.data.taxonomy import Taxonomy
    >>> flowers = Taxonomy.from_parents({"rose": "flower", "tulip": "flower", "flower": "plant"})
    >>> placed = flowers.place([("rose",), ("tulip",), ("plant",)])
    >>> pred = Side(np.array([0, 2]), np.array([1, 2], np.int32))
    >>> lca_distances(pred, Side(np.array([0, 1]), np.array([0], np.int32)), placed)
    (array([2, 2]), array([1, 2]))
    """
    edges, height = np.full((2, len(pred.codes)), -1)
    for part in _parts(pred, ref, placed):
        mine, theirs = (side.rows(part.start, part.stop) for side in (pred, ref))
        if not len(mine.codes) or not len(theirs.codes):
            continue
        _, flat, keys = _ancestors(theirs, placed)
        bits = int(placed.distances.max(initial=0)).bit_length()
        ordered = np.sort((keys << bits) + placed.distances[flat])
        # the nearest
        ordered = ordered[np.flatnonzero(np.diff(ordered >> bits, prepend=-1))]
        ref_keys = ordered >> bits
        down = ordered - (ref_keys << bits)
        indptr, flat, keys = _ancestors(mine, placed)
        place = np.minimum(np.searchsorted(ref_keys, keys), len(ref_keys) - 1)
        common = ref_keys[place] == keys
        links = np.where(common, placed.distances[flat] + down[place], FAR)
        heights = np.where(common, placed.height[placed.nodes[flat]], FAR)
        least = np.minimum.reduceat(links, indptr[:-1])
        lowest = np.minimum.reduceat(heights, indptr[:-1]) * (least > 0)
        here = slice(pred.indptr[part.start], pred.indptr[part.stop])
        edges[here] = np.where(least < FAR, least, -1)
        height[here] = np.where(least < FAR, lowest, -1)
    return edges, height


@kept
def place_labels(task: LabelTask, root: str = "include") -> Placed:
    """Find where the labels of a task stand in its taxonomy; once for all blocks."""
    if task.taxonomy is None:
        raise InputError("needs-option", what="the measure", name="taxonomy")
    if root == "exclude":
        return place_labels(task).without_root
    terms = task.terms or [()] * len(task.classes)
    names = [(name, *more) for name, more in zip(task.classes, terms, strict=True)]
    placed: Placed = task.taxonomy.place(names)
    return placed


@kept
def labels_taking_part(
    block: LabelBlock, cut: Cut, unknown: str, duplicates: str = "each"
) -> tuple[Side, Side, OneHot]:
    """Return predictions under a cut, references, and which items have labels outside the taxonomy.

    Refuses such labels under ``unknown="error"``; repeated predictions are left out under
    ``duplicates="once"``.
    """
    pred, ref = sides_of(block)
    chosen = ragged.prefixes(pred.indptr, block.get(cut))
    if duplicates == "once":
        counted = block.get(Matches("once", "class")).counted
        chosen &= True if counted is None else counted
    if not chosen.all():
        pred = pred.keep(chosen)
    outside = place_labels(block.task).outside
    strange = [outside[side.codes] for side in (pred, ref)]
    if unknown == "error" and any(one.any() for one in strange):
        codes = np.union1d(pred.codes[strange[0]], ref.codes[strange[1]])
        names = [block.task.classes[code] for code in codes.tolist()]
        raise InputError("outside-taxonomy", names=names)
    number = ragged.sum_rows(strange[0], pred.indptr) + ragged.sum_rows(
        strange[1], ref.indptr
    )
    return pred, ref, OneHot((number > 0).astype(np.int8), 2)


@dataclass(frozen=True, repr=False)
class ClosedCounts(Statistic):
    """Ancestors of each item: columns "hit", "n_pred", "n_ref" and "outside"."""

    cut: Cut
    root: str
    unknown: str

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Close both sides under ancestors and count."""
        pred, ref, outside = labels_taking_part(block, self.cut, self.unknown)
        counts = closed_counts(pred, ref, place_labels(block.task, self.root))._asdict()
        return {
            **{name: Dense(number) for name, number in counts.items()},
            "outside": outside,
        }


@dataclass(frozen=True, repr=False)
class LabelDistances(Statistic):
    """Distances of each item: columns "value", "cause", "outside" and "unconnected"."""

    measure: Measure

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Average the distances of the predicted labels of each item."""
        options, placed = self.measure, place_labels(block.task)
        part = str(options["unknown"]), str(options["duplicates"])
        pred, ref, outside = labels_taking_part(block, cut_of(options), *part)
        edges, height = lca_distances(pred, ref, placed)
        rows = ragged.row_numbers(pred.indptr)
        n_pred, n_ref = np.diff(pred.indptr), np.diff(ref.indptr)
        judged = n_ref[rows] > 0
        unconnected = judged & (edges < 0)
        distance: Any = edges if options["measure"] == "edges" else height
        if options["unconnected"] == "root":  # joined at the implied root
            nearest = np.full(len(ref), FAR)
            np.minimum.at(
                nearest, ragged.row_numbers(ref.indptr), placed.depth[ref.codes]
            )
            joined: Any = placed.depth[pred.codes] + nearest[rows] + 2
            joined = joined if options["measure"] == "edges" else placed.top
            distance = np.where(unconnected, joined, distance)
        counted = judged & ~unconnected if options["unconnected"] == "skip" else judged
        number = np.bincount(rows[counted], minlength=len(block))
        if options["normalize"] != "none":
            most = max(placed.span, 1) * (2 if options["measure"] == "edges" else 1)
            distance = np.minimum(distance / most, 1.0)
        total = np.bincount(
            rows[counted], distance[counted].astype(np.float64), len(block)
        )
        alone = np.bincount(rows[unconnected], minlength=len(block)) > 0
        return {
            **value_columns(divide(total, number), n_pred, n_ref),
            "outside": outside,
            "unconnected": OneHot(alone.astype(np.int8), 2),
        }


class HierarchicalFamily(CountFormulas):
    """Formulas on counts of ancestors: of all items together, or the mean over items."""

    flags = (("outside", "outside_taxonomy"),)

    def counts(self, measure: Measure) -> Statistic:
        """Choose the counts of ancestors."""
        return ClosedCounts(
            cut_of(measure), str(measure["root"]), str(measure["unknown"])
        )


class DistanceFamily(ItemMeans):
    """Means over items of the distances of predicted labels."""

    flags = (("unconnected", "unconnected"), ("outside", "outside_taxonomy"))

    def statistic(self, measure: Measure) -> Statistic:
        """Choose item values."""
        return LabelDistances(measure)


_UNKNOWN = one_of(
    "unknown",
    "error own",
    "labels outside the taxonomy: refused, or each a root of its own",
)
_ROOT = one_of("root", "exclude include", "whether the root counts as an ancestor")


def _hierarchical(
    name: str, summary: str, equation: str, formula: Callable[..., Any], *policies: str
) -> Definition:
    averages, left_out = ("micro", "example"), ("labels", "duplicates", "undefined")
    shared = set_options(averages, without=left_out, policies=("empty", *policies))
    return define(
        name=name,
        family=HierarchicalFamily(),
        summary=summary,
        equation=equation,
        source="Kiritchenko et al. 2005 and 2006; Silla & Freitas 2011",
        cite=("kiritchenko2005", "kiritchenko2006", "silla2011"),
        options=(*shared, _ROOT, _UNKNOWN),
        averages=averages,
        symmetric=not policies,
        formula=formula,
        needs=frozenset(["taxonomy"]),
    )


hP = _hierarchical(
    "hP",
    "Share of the predicted labels and their ancestors that are true or ancestors of true labels.",
    "Σ |P ∩ R| / Σ |P|, P and R closed under ancestors",
    formulas.precision,
    "no_prediction",
)
hR = _hierarchical(
    "hR",
    "Share of the true labels and their ancestors that are predicted or ancestors of predictions.",
    "Σ |P ∩ R| / Σ |R|, P and R closed under ancestors",
    formulas.recall,
    "no_reference",
)
hF = _hierarchical(
    "hF",
    "Harmonic mean of hierarchical precision and recall.",
    "2 Σ |P ∩ R| / (Σ |P| + Σ |R|), P and R closed under ancestors",
    formulas.f1,
)
_DUPLICATES, *_, _DECODE, _LEAST = set_options(("example",), without=("average",))
_CONNECTED = "labels without a common ancestor: joined at an implied root, or left out"
_LEFT_OUT = "items whose predictions are all left out as unconnected"
LCADistance = define(
    name="LCADistance",
    family=DistanceFamily(),
    summary="Links between a predicted label and the nearest true one, through their lowest common "
    "ancestor.",
    equation="mean over z in Z of min over y in Y of min over a in anc(z) ∩ anc(y) of "
    "d(z, a) + d(y, a), or of the height of a (0 where z = y)",
    source="Deng et al. 2010, Bertinetto et al. 2020 (measure=height)",
    cite=("deng2010", "bertinetto2020"),
    options=(
        one_of(
            "measure",
            "edges height",
            "links through the common ancestor, or its height",
        ),
        one_of(
            "normalize",
            "none depth",
            "divide by the largest value that the taxonomy allows",
        ),
        one_of("unconnected", "root skip", _CONNECTED, short="unconn"),
        _UNKNOWN,
        _DUPLICATES._replace(averages=None),
        policy_option("empty", "empty", "0", "nothing predicted and nothing true"),
        policy_option("no_prediction", "nopred", "skip", "nothing predicted"),
        policy_option("no_reference", "noref", "skip", "nothing true"),
        policy_option("undefined", "undef", "skip", _LEFT_OUT),
        _DECODE,
        _LEAST,
    ),
    bounds=(0.0, np.inf),
    higher_is_better=False,
    needs=frozenset(["taxonomy"]),
)
