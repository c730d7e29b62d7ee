"""The task of label sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from semmetrics.core.hashing import hash_strings, mix
from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import Side, Terms
from semmetrics.data.tasks.base import LabelAxis, Task, hash_lists

if TYPE_CHECKING:
    from semmetrics.data.taxonomy import Taxonomy

TAXONOMY = "#taxonomy"
FOUND_CLASSES = "#classes found"
"""Keys of `Task.identities`. No embedding can have these names."""
_BYTES_PER_LABEL = 64
_HASH_FACTORS = {"difficult": 5, "unverified": 7, "verified": 11}
"""The factors of the hashes of such labels in a fingerprint, so that each of them changes it."""


class Synonyms(NamedTuple):
    """Labels as they were written, if some of them have several terms.

    Attributes
    ----------
    terms : sequence of tuples of str
        The terms of each written label. ``Side.written`` has the codes of written labels.
    ambiguous : bool array, shape (written labels,)
        Whether a predicted label shares terms with several classes, or a reference label has a
        term that another class also has.
    found : str or None
        The number of classes and their hash if the references define the classes. None if there is
        a class list.
    """

    terms: Sequence[Terms]
    ambiguous: Bools
    found: str | None = None


class IgnoredLabels(NamedTuple):
    """Labels that were removed from both sides, item by item.

    Attributes
    ----------
    labels : tuple of str
    pred, ref : Side
        Codes into ``labels``.
    """

    labels: tuple[str, ...]
    pred: Side
    ref: Side

    def occurrences(self) -> dict[str, tuple[int, int]]:
        """Return how often each label is predicted and true, for labels that occur."""
        n_labels = len(self.labels)
        n_predicted = np.bincount(self.pred.codes, minlength=n_labels).tolist()
        n_true = np.bincount(self.ref.codes, minlength=n_labels).tolist()
        occurrences = {}
        for code, name in enumerate(self.labels):
            if n_predicted[code] or n_true[code]:
                occurrences[name] = n_predicted[code], n_true[code]
        return occurrences

    def take(self, rows: Ints) -> IgnoredLabels:
        """Return the labels of some items."""
        return IgnoredLabels(self.labels, self.pred.take(rows), self.ref.take(rows))


@dataclass(frozen=True, eq=False, repr=False)
class Unverified:
    """The cells of items and labels that nobody verified, or their complement.

    Attributes
    ----------
    cells : Side
        Distinct labels of each item.
    categories : bool array, shape (classes,), or None
        None if ``cells`` are the unverified cells. Otherwise ``cells`` are the verified ones, as a
        federated dataset lists them, and these classes are its categories. A predicted label that
        is not a category is a verified cell of its item. It counts as wrong.
    """

    cells: Side
    categories: Bools | None = None

    @property
    def name(self) -> str:
        """What the cells are: "unverified" or "verified"."""
        return "unverified" if self.categories is None else "verified"

    def rows(self, start: int, stop: int) -> Unverified:
        """Return items ``start`` to ``stop``."""
        return replace(self, cells=self.cells.rows(start, stop))

    def take(self, rows: Ints) -> Unverified:
        """Return some items by their numbers."""
        return replace(self, cells=self.cells.take(rows))

    def of_truth(self) -> Side:
        """Return the cells that depend only on the ground truth."""
        if self.categories is None:
            return self.cells
        return self.cells.keep(self.categories[self.cells.codes])


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LabelTask(Task):
    """Predicted and reference label lists of the same items, coded in one class list.

    Attributes
    ----------
    classes : tuple of str
        The class list in its order, then other labels by name. Without a class list, all labels by
        name.
    pred, ref : Side
        Codes into ``classes``.
    ranked : bool
        Whether predictions are scores of labels, and not label lists.
    binary : bool
        Whether predictions were 0 and 1. Labels with a 1 are in the lists.
    precision : str
        The floating-point type in which scores were given. A threshold is rounded to it, as NumPy
        and torch do if they compare an array with a number.
    n_listed : int or None
        The number of classes in the class list. None without a class list.
    in_columns : bool array, shape (classes,), or None
        Classes that are columns of a matrix or keys of 0/1 mappings. They are labels of the data
        even if no item has them. None if no side has such labels.
    ignored : IgnoredLabels or None
        The labels that were removed.
    difficult : Side or None
        The labels of each item that are neither present nor absent in the ground truth.
    unverified : Unverified or None
        The cells that nobody verified. Predictions do not contain them, and denominators that
        count labels or items leave them out. None if all cells are verified.
    synonyms : Synonyms or None
    terms : sequence of tuples of str, or None
        The terms of each class. None if every class has one term, its name.
    set_size_probs : float array, shape (items, cardinalities), or None
        Probabilities of each set size, for the decoding rules that use them.
    first_set_size : int
        The set size of the first column of ``set_size_probs``.
    models : mapping from key to label vectors
        Embeddings of the labels as they were written, by the ``model_key`` of measures.
    taxonomy : Taxonomy or None
    """

    kind: ClassVar[str] = "labels"
    classes: tuple[str, ...]
    pred: Side
    ref: Side
    ranked: bool = False
    binary: bool = False
    precision: str = "float64"
    n_listed: int | None = None
    in_columns: Bools | None = None
    ignored: IgnoredLabels | None = None
    difficult: Side | None = None
    unverified: Unverified | None = None
    synonyms: Synonyms | None = None
    terms: Sequence[Terms] | None = None
    set_size_probs: Floats | None = None
    first_set_size: int = 0
    models: Mapping[str, Any] = field(default_factory=dict)
    taxonomy: Taxonomy | None = None

    def _items_per_block(self, memory: int) -> int:
        n_labels = len(self.pred.codes) + len(self.ref.codes)
        labels_per_item = n_labels / max(1, len(self))
        return max(1, int(memory / (_BYTES_PER_LABEL * (1 + labels_per_item))))

    @property
    def labels_are_numbers(self) -> bool:
        """Whether every label is a number, which has no meaning of its own."""
        return bool(self.classes) and all(map(str.isdecimal, self.classes))

    @cached_property
    def fingerprint(self) -> int:
        """64-bit hash of the ids and their reference lists. The hashes of parts add up."""
        names = hash_strings(self.classes)
        sums = []
        for block in self.blocks():
            ref = self.ref.rows(block.start, block.stop)
            items = hash_lists(names, ref.indptr, ref.codes)
            items += self.hashes[block.start : block.stop]
            if self.difficult is not None:
                labels = self.difficult.rows(block.start, block.stop)
                factor = np.uint64(_HASH_FACTORS["difficult"])
                items += factor * hash_lists(names, labels.indptr, labels.codes)
            if self.unverified is not None:
                cells = self.unverified.rows(block.start, block.stop).of_truth()
                factor = np.uint64(_HASH_FACTORS[self.unverified.name])
                items += factor * hash_lists(names, cells.indptr, cells.codes)
            sums.append(mix(items).sum(dtype=np.uint64))
        return int(np.array(sums, np.uint64).sum(dtype=np.uint64))

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how often each of them occurs."""
        n_classes = len(self.classes)
        return LabelAxis(
            labels=self.classes,
            n_reference=np.bincount(self.ref.codes, minlength=n_classes),
            n_prediction=np.bincount(self.pred.codes, minlength=n_classes),
            n_listed=self.n_listed,
            ignored={} if self.ignored is None else self.ignored.occurrences(),
            in_columns=self.in_columns,
        )

    @property
    def universe_size(self) -> int | None:
        """The number of labels of the class list, or else of the columns of a matrix.

        Labels that occur but are not among the columns also count. None without a class list and
        columns.
        """
        if self.n_listed is not None or self.in_columns is None:
            return self.n_listed
        axis = self.axis
        occurs = (axis.n_reference > 0) | (axis.n_prediction > 0)
        return int((self.in_columns | occurs).sum())

    @property
    def identities(self) -> dict[str, str]:
        """The identity of each embedding, of the taxonomy and of the classes that were found."""
        identities = {key: str(model) for key, model in self.models.items()}
        if self.taxonomy is not None:
            identities[TAXONOMY] = str(self.taxonomy.identity)
        if self.synonyms is not None and self.synonyms.found is not None:
            identities[FOUND_CLASSES] = self.synonyms.found
        return identities

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        sides: dict[str, Any] = {
            "pred": self.pred.take(rows),
            "ref": self.ref.take(rows),
        }
        for name in ("ignored", "difficult", "unverified"):
            value = getattr(self, name)
            if value is not None:
                sides[name] = value.take(rows)
        if self.set_size_probs is not None:
            sides["set_size_probs"] = self.set_size_probs[rows]
        return sides
