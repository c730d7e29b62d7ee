"""Measures on a taxonomy: hierarchical precision, recall and F, and label distances.

An exact measure gives no credit to a prediction that is nearly right, such as *tulip* if
*rose* is true. These measures use a taxonomy: links from labels to more general labels,
without cycles. A label may have several parents.

Conventions
-----------
**Ancestors.** Each label is replaced by its ancestors, which include the label itself. P
is the set of predicted labels of an item with all their ancestors, and R the same for its
reference labels (Kiritchenko et al. 2005, 2006). A cutoff or decoding rule (``@k``,
``decode``) selects the predictions first.

**The root** carries no information, because every label has it. ``root=exclude`` leaves
it out, as the source does, and ``include`` counts it. The root is the one name that all
others descend from. If several names have no parents, they are categories rather than
roots, and they count. A label that is itself the root contributes nothing under
``exclude``.

**Averages.** ``micro`` is the default and the average of the source. It sums over items
before it divides. ``example`` is the mean over items.

**Distance.** ``measure=edges`` is the least number of links from a predicted label up to
a common ancestor and down to a reference label. With several parents, the common ancestor
with the shortest total path counts. ``measure=height`` is the height of the lowest common
ancestor: the largest number of links from it down to a label without children. It is 0 if
the labels are equal. If no label is an ancestor of another, this is the hierarchical cost
of Deng et al. 2010 and the hierarchical distance of a mistake of Bertinetto et al. 2020.
Its average at k is ``LCADistance(measure=height)@k``. The distance of a predicted label is
the least one over the reference labels. The value of an item is the mean over its
predicted labels, including correct ones, and the measure is the mean over items. Lower is
better.

``normalize=depth`` divides by the largest value that the taxonomy allows, and limits the
result to 1. That value is the longest path down from the root, or twice that for edges.

**Unconnected labels** have no common ancestor. ``unconnected=root`` joins them at an
implied root above all names without parents. ``skip`` leaves the prediction out.

**Labels outside the taxonomy** raise an error (``unknown=error``), or each of them is a
root of its own and counts like any other label (``unknown=own``).

In addition to items without a value, ``undefined`` counts the items that have such a label
on either side (``outside_taxonomy``), and items with an unconnected prediction
(``unconnected``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core import ragged
from semmetrics.core.columns import Dense, OneHot
from semmetrics.core.ragged import Ints
from semmetrics.data.lists import Side
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.labels import LabelTask
from semmetrics.data.taxonomy import PlacedLabels
from semmetrics.errors import InputError
from semmetrics.metrics import formulas
from semmetrics.metrics.definition import Definition, Measure, Statistic
from semmetrics.metrics.families import (
    CountFormulas,
    ItemMeans,
    policy_option,
    value_columns,
)
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.matching import Cut, ItemCounts, Matches, cut_of, sides_of
from semmetrics.metrics.measure_options import choice_option
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_options import set_options

LabelBlock = Block[LabelTask]

_UNREACHABLE = np.int64(1 << 40)  # more links than a taxonomy can have
_MAX_PAIRS_PER_PART = 1 << 16  # (label, ancestor) pairs, few enough for the CPU cache


class _Ancestors(NamedTuple):
    """The ancestors of the labels of one side.

    Attributes
    ----------
    indptr : int array, shape (labels + 1,)
        Offsets of the ancestors of each label.
    places : int array, shape (ancestors,)
        The index of each ancestor in ``PlacedLabels.nodes`` and ``PlacedLabels.distances``.
    cells : int array, shape (ancestors,)
        The item and the node of each ancestor, as a key of `ragged.cell_keys`.
    """

    indptr: Ints
    places: Ints
    cells: Ints


def closed_counts(pred: Side, ref: Side, placed: PlacedLabels) -> ItemCounts:
    """Count distinct ancestors of predictions, of references, and common ones.

    Parameters
    ----------
    pred, ref : Side
        The classes of each item. Repeated classes count once.
    placed : PlacedLabels
        The ancestors of each class. ``placed.without_root`` leaves the root out.

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
    >>> rose = Side(np.array([0, 1]), np.array([0], np.int32))
    >>> tulip = Side(np.array([0, 1]), np.array([1], np.int32))
    >>> counts = closed_counts(tulip, rose, placed)
    >>> counts.hit.tolist(), counts.n_pred.tolist(), counts.n_ref.tolist()
    ([1], [2], [2])
    """
    n_all_items = len(pred)
    hit = np.zeros(n_all_items, np.int64)
    n_pred = np.zeros(n_all_items, np.int64)
    n_ref = np.zeros(n_all_items, np.int64)
    n_nodes = len(placed.height)
    for part in _parts(pred, ref, placed):
        n_items = part.stop - part.start
        n_cells = n_items * n_nodes
        pred_part = pred.rows(part.start, part.stop)
        ref_part = ref.rows(part.start, part.stop)
        pred_items, pred_cells = _distinct_ancestors(pred_part, placed, n_cells)
        ref_items, ref_cells = _distinct_ancestors(ref_part, placed, n_cells)
        is_shared = ragged.is_member(pred_cells, ref_cells, n_cells)
        hit[part] = np.bincount(pred_items[is_shared], minlength=n_items)
        n_pred[part] = np.bincount(pred_items, minlength=n_items)
        n_ref[part] = np.bincount(ref_items, minlength=n_items)
    return ItemCounts(hit, n_pred, n_ref)


def _parts(pred: Side, ref: Side, placed: PlacedLabels) -> Iterator[slice]:
    """Split the items into parts with few ancestors."""
    n_ancestors = ragged.lengths(placed.indptr)
    pred_costs = ragged.sum_rows(n_ancestors[pred.codes], pred.indptr)
    ref_costs = ragged.sum_rows(n_ancestors[ref.codes], ref.indptr)
    costs = ragged.offsets(pred_costs + ref_costs)
    return ragged.runs_within(costs, _MAX_PAIRS_PER_PART)


def _gather_ancestors(side: Side, placed: PlacedLabels) -> _Ancestors:
    """Return the ancestors of all labels of a side."""
    codes = side.codes.astype(np.int64)
    indptr, places = ragged.take_rows(placed.indptr, codes)
    # The labels of an item follow one another, and so do their ancestors.
    item_indptr = indptr[side.indptr]
    nodes = placed.nodes[places]
    cells = ragged.cell_keys(item_indptr, nodes, len(placed.height))
    return _Ancestors(indptr, places, cells)


def _distinct_ancestors(
    side: Side, placed: PlacedLabels, n_cells: int
) -> tuple[Ints, Ints]:
    """Return the item and the cell of each distinct ancestor."""
    ancestors = _gather_ancestors(side, placed)
    items = ragged.row_numbers(ancestors.indptr[side.indptr])
    cells = ancestors.cells
    is_first = ragged.first_occurrences(cells, n_cells)
    if is_first is None:
        return items, cells
    return items[is_first], cells[is_first]


def lca_distances(pred: Side, ref: Side, placed: PlacedLabels) -> tuple[Ints, Ints]:
    """Measure the distance of each predicted label to the nearest reference label.

    Parameters
    ----------
    pred, ref : Side
        The classes of each item.
    placed : PlacedLabels
        The ancestors of each class, including the root.

    Returns
    -------
    edges, height : int arrays, shape (predicted labels,)
        The least number of links through a common ancestor, and the least height of a
        common ancestor. The height is 0 for a reference label. Both are -1 without a
        common ancestor.

    References
    ----------
    Deng et al. 2010 and Bertinetto et al. 2020.

    Examples
    --------
    >>> from semmetrics.data.taxonomy import Taxonomy
    >>> flowers = Taxonomy.from_parents({"rose": "flower", "tulip": "flower", "flower": "plant"})
    >>> placed = flowers.place([("rose",), ("tulip",), ("plant",)])
    >>> pred = Side(np.array([0, 2]), np.array([1, 2], np.int32))
    >>> lca_distances(pred, Side(np.array([0, 1]), np.array([0], np.int32)), placed)
    (array([2, 2]), array([1, 2]))
    """
    n_labels = len(pred.codes)
    edges = np.full(n_labels, -1)
    height = np.full(n_labels, -1)
    for part in _parts(pred, ref, placed):
        pred_part = pred.rows(part.start, part.stop)
        ref_part = ref.rows(part.start, part.stop)
        if not len(pred_part.codes) or not len(ref_part.codes):
            continue
        part_edges, part_height = _nearest_distances(pred_part, ref_part, placed)
        labels = slice(pred.indptr[part.start], pred.indptr[part.stop])
        edges[labels] = part_edges
        height[labels] = part_height
    return edges, height


def _nearest_distances(
    pred: Side, ref: Side, placed: PlacedLabels
) -> tuple[Ints, Ints]:
    """Return edges and heights as `lca_distances` does. Both sides must have labels."""
    ref_cells, links_down = _reference_distances(ref, placed)
    ancestors = _gather_ancestors(pred, placed)
    places = np.searchsorted(ref_cells, ancestors.cells)
    places = np.minimum(places, len(ref_cells) - 1)
    is_common = ref_cells[places] == ancestors.cells

    # The links and the height of each ancestor, and their minimum for each label
    links = placed.distances[ancestors.places] + links_down[places]
    links = np.where(is_common, links, _UNREACHABLE)
    heights = placed.height[placed.nodes[ancestors.places]]
    heights = np.where(is_common, heights, _UNREACHABLE)
    first_ancestors = ancestors.indptr[:-1]
    edges = np.minimum.reduceat(links, first_ancestors)
    height = np.minimum.reduceat(heights, first_ancestors)
    height[edges == 0] = 0  # The label is a reference label.
    is_unconnected = edges == _UNREACHABLE
    edges[is_unconnected] = -1
    height[is_unconnected] = -1
    return edges, height


def _reference_distances(ref: Side, placed: PlacedLabels) -> tuple[Ints, Ints]:
    """Return the distinct ancestors of references and their least distances.

    Returns
    -------
    cells : int array
        The item and node of each ancestor, in ascending order.
    distances : int array
        The links from the nearest reference label up to the ancestor.
    """
    ancestors = _gather_ancestors(ref, placed)
    # A cell and a distance are packed into one integer. Sorting then puts the least
    # distance of each cell first.
    n_bits = int(placed.distances.max(initial=0)).bit_length()
    packed = (ancestors.cells << n_bits) + placed.distances[ancestors.places]
    packed.sort()
    cells = packed >> n_bits
    is_first = ragged.starts_run(cells)
    cells = cells[is_first]
    distances = packed[is_first] - (cells << n_bits)
    return cells, distances


@memoised
def place_labels(task: LabelTask, root: str = "include") -> PlacedLabels:
    """Find the labels of a task in its taxonomy, once for all blocks."""
    if task.taxonomy is None:
        raise InputError("needs-option", what="the measure", name="taxonomy")
    if root == "exclude":
        return place_labels(task).without_root
    terms_of_classes = task.terms
    if not terms_of_classes:
        terms_of_classes = [()] * len(task.classes)
    names = []
    for name, terms in zip(task.classes, terms_of_classes, strict=True):
        names.append((name, *terms))
    placed: PlacedLabels = task.taxonomy.place(names)
    return placed


class _SelectedLabels(NamedTuple):
    """The labels that are compared.

    Attributes
    ----------
    pred, ref : Side
        Predictions after the cut, and references.
    outside : OneHot
        1 for an item with a label outside the taxonomy, on either side.
    """

    pred: Side
    ref: Side
    outside: OneHot


@memoised
def select_labels(
    block: LabelBlock, cut: Cut, unknown: str, duplicates: str = "each"
) -> _SelectedLabels:
    """Apply a cut to the predictions, and find labels outside the taxonomy.

    ``duplicates="once"`` leaves out predictions of a class that an item already has.

    Raises
    ------
    InputError
        If there is a label outside the taxonomy under ``unknown="error"``.
    """
    pred, ref = sides_of(block)
    is_selected = ragged.prefixes(pred.indptr, block.get(cut))
    if duplicates == "once":
        is_counted = block.get(Matches("once", "class")).is_counted_pred
        if is_counted is not None:
            is_selected &= is_counted
    if not is_selected.all():
        pred = pred.keep(is_selected)

    is_outside = place_labels(block.task).outside
    pred_outside = is_outside[pred.codes]
    ref_outside = is_outside[ref.codes]
    if unknown == "error" and (pred_outside.any() or ref_outside.any()):
        codes = np.union1d(pred.codes[pred_outside], ref.codes[ref_outside])
        names = [block.task.classes[code] for code in codes.tolist()]
        raise InputError("outside-taxonomy", names=names)
    n_pred_outside = ragged.sum_rows(pred_outside, pred.indptr)
    n_ref_outside = ragged.sum_rows(ref_outside, ref.indptr)
    return _SelectedLabels(pred, ref, _as_flags(n_pred_outside + n_ref_outside))


def _as_flags(counts: Ints) -> OneHot:
    """Return a column that marks the items with a count above 0."""
    return OneHot((counts > 0).astype(np.int8), 2)


@dataclass(frozen=True, repr=False)
class ClosedCounts(Statistic):
    """Counts of ancestors: columns "hit", "n_pred", "n_ref" and "outside"."""

    cut: Cut
    root: str
    unknown: str

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Replace labels by their ancestors on both sides, and count."""
        labels = select_labels(block, self.cut, self.unknown)
        placed = place_labels(block.task, self.root)
        counts = closed_counts(labels.pred, labels.ref, placed)
        return {
            "hit": Dense(counts.hit),
            "n_pred": Dense(counts.n_pred),
            "n_ref": Dense(counts.n_ref),
            "outside": labels.outside,
        }


@dataclass(frozen=True, repr=False)
class LabelDistances(Statistic):
    """Distances of items: columns "value", "cause", "outside" and "unconnected"."""

    measure: Measure

    def compute(self, block: LabelBlock) -> dict[str, Any]:
        """Average the distances of the predicted labels of each item."""
        placed = place_labels(block.task)
        pred, ref, outside = select_labels(
            block,
            cut_of(self.measure),
            str(self.measure["unknown"]),
            str(self.measure["duplicates"]),
        )
        items = ragged.row_numbers(pred.indptr)
        edges, height = lca_distances(pred, ref, placed)
        has_references = ref.sizes[items] > 0
        is_unconnected = has_references & (edges < 0)

        distance: NDArray[Any] = height
        if self._counts_edges:
            distance = edges
        is_counted = has_references
        if self.measure["unconnected"] == "root":
            joined = self._joined_distance(pred, ref, placed)
            distance = np.where(is_unconnected, joined, distance)
        elif self.measure["unconnected"] == "skip":
            is_counted = has_references & ~is_unconnected
        if self.measure["normalize"] != "none":
            distance = np.minimum(distance / self._largest_distance(placed), 1.0)

        n_items = len(block)
        counted_items = items[is_counted]
        counted_distances = distance[is_counted].astype(np.float64)
        n_counted = np.bincount(counted_items, minlength=n_items)
        sums = np.bincount(counted_items, counted_distances, n_items)
        n_unconnected = np.bincount(items[is_unconnected], minlength=n_items)
        columns = value_columns(divide(sums, n_counted), pred.sizes, ref.sizes)
        return {
            **columns,
            "outside": outside,
            "unconnected": _as_flags(n_unconnected),
        }

    @property
    def _counts_edges(self) -> bool:
        """Whether distances are numbers of links rather than heights."""
        return self.measure["measure"] == "edges"

    def _joined_distance(
        self, pred: Side, ref: Side, placed: PlacedLabels
    ) -> Ints | int:
        """Return the distance of each predicted label through an implied root."""
        if not self._counts_edges:
            return placed.height_of_implied_root
        least_ref_depth = np.full(len(ref), _UNREACHABLE)
        ref_items = ragged.row_numbers(ref.indptr)
        np.minimum.at(least_ref_depth, ref_items, placed.depth[ref.codes])
        pred_items = ragged.row_numbers(pred.indptr)
        # One more link leads from each category to the implied root.
        joined: Ints = placed.depth[pred.codes] + least_ref_depth[pred_items] + 2
        return joined

    def _largest_distance(self, placed: PlacedLabels) -> int:
        """Return the largest distance that the taxonomy allows."""
        largest_height = max(placed.height_of_root, 1)
        if self._counts_edges:
            return 2 * largest_height
        return largest_height


class HierarchicalFamily(CountFormulas):
    """Formulas on counts of ancestors, of all items together or as means over items."""

    flags = (("outside", "outside_taxonomy"),)

    def counts(self, measure: Measure) -> Statistic:
        """Return the counts of ancestors."""
        root = str(measure["root"])
        unknown = str(measure["unknown"])
        return ClosedCounts(cut_of(measure), root, unknown)


class DistanceFamily(ItemMeans):
    """Means over items of the distances of predicted labels."""

    flags = (("unconnected", "unconnected"), ("outside", "outside_taxonomy"))

    def statistic(self, measure: Measure) -> Statistic:
        """Return the distances of items."""
        return LabelDistances(measure)


_UNKNOWN = choice_option(
    "unknown",
    "error own",
    "labels that are not in the taxonomy: raise an error, or treat each as its "
    "own root",
)
_ROOT = choice_option(
    "root", "exclude include", "whether the root counts as an ancestor"
)


def _hierarchical(
    name: str, summary: str, equation: str, formula: Callable[..., Any], *policies: str
) -> Definition:
    """Register a formula on counts of ancestors, with "empty" and these policies."""
    averages = ("micro", "example")
    shared_options = set_options(
        averages,
        without=("labels", "duplicates", "undefined"),
        policies=("empty", *policies),
    )
    return define(
        name=name,
        family=HierarchicalFamily(),
        summary=summary,
        equation=equation,
        source="Kiritchenko et al. 2005 and 2006; Silla & Freitas 2011",
        cite=("kiritchenko2005", "kiritchenko2006", "silla2011"),
        options=(*shared_options, _ROOT, _UNKNOWN),
        averages=averages,
        symmetric=not policies,
        formula=formula,
        needs=frozenset(["taxonomy"]),
    )


hP = _hierarchical(
    "hP",
    "Hierarchical precision: the share of the predicted labels and their "
    "ancestors that are true labels or ancestors of true labels.",
    "Σ |P ∩ R| / Σ |P|, P and R closed under ancestors",
    formulas.precision,
    "no_prediction",
)
hR = _hierarchical(
    "hR",
    "Hierarchical recall: the share of the true labels and their ancestors "
    "that are predicted labels or ancestors of predicted labels.",
    "Σ |P ∩ R| / Σ |R|, P and R closed under ancestors",
    formulas.recall,
    "no_reference",
)
hF = _hierarchical(
    "hF",
    "Hierarchical F: the harmonic mean of hierarchical precision and recall.",
    "2 Σ |P ∩ R| / (Σ |P| + Σ |R|), P and R closed under ancestors",
    formulas.f1,
)
_SET_OPTIONS = {
    option.name: option for option in set_options(("example",), without=("average",))
}
LCADistance = define(
    name="LCADistance",
    family=DistanceFamily(),
    summary="Number of edges from a predicted label to the nearest true label, through "
    "their lowest common ancestor.",
    equation="mean over z in Z of min over y in Y of min over a in anc(z) ∩ anc(y) of "
    "d(z, a) + d(y, a), or of the height of a (0 if z = y)",
    source="Deng et al. 2010, Bertinetto et al. 2020 (measure=height)",
    cite=("deng2010", "bertinetto2020"),
    options=(
        choice_option(
            "measure",
            "edges height",
            "edges through the common ancestor, or the height of the ancestor",
        ),
        choice_option(
            "normalize",
            "none depth",
            "whether to divide by the largest possible value in the taxonomy",
        ),
        choice_option(
            "unconnected",
            "root skip",
            "labels without a common ancestor: connect them at an implied root, or "
            "leave them out",
            short="unconn",
        ),
        _UNKNOWN,
        _SET_OPTIONS["duplicates"]._replace(averages=None),
        policy_option(
            "empty",
            "empty",
            "0",
            "items where nothing is predicted and nothing is true",
        ),
        policy_option(
            "no_prediction", "nopred", "skip", "items where nothing is predicted"
        ),
        policy_option("no_reference", "noref", "skip", "items where nothing is true"),
        policy_option(
            "undefined",
            "undef",
            "skip",
            "items in which no prediction is connected to a true label",
        ),
        _SET_OPTIONS["decode"],
        _SET_OPTIONS["keep_at_least"],
    ),
    bounds=(0.0, np.inf),
    higher_is_better=False,
    needs=frozenset(["taxonomy"]),
)
