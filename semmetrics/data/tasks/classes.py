"""The task of classes: images with a true class and a ranking of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semmetrics.core.hashing import hash_strings, mix
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.core.ranks import Counts, Nearest
from semmetrics.data.matrix import check_finite
from semmetrics.data.rankings import RankedLists, Similarities
from semmetrics.data.tasks.base import LabelAxis, Task

ALL = "all"
"""The candidates of a prediction that is not restricted."""


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores(Similarities):
    """A matrix of images x classes. Its numbers are checked as they are read.

    Attributes
    ----------
    source : str
        What messages call it.
    """

    source: str = "scores"

    @property
    def has_integers(self) -> bool:
        """Whether scores are integers, which floats may not represent exactly."""
        return bool(self.values.dtype.kind in "iu")

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the scores of some images, perhaps memory-mapped."""
        table = super().table(rows, columns)
        if table.dtype == np.bool_:
            return table.view(np.uint8)
        return table

    def count(
        self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes
    ) -> Counts:
        """Count the classes with a larger score than each of some classes.

        Raises
        ------
        InputError
            If a score is not finite.
        """
        table = self.table(rows, columns)
        with np.errstate(all="ignore"):
            has_finite_sum = np.isfinite(table.sum())
        if not has_finite_sum and not np.isfinite(table).all():
            check_finite(self.values, self.source)
        return super().count(rows, columns, indptr, codes)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> Nearest:
        """Find the class with the largest score of each image.

        Raises
        ------
        InputError
            If a score is not finite.
        """
        nearest = super().nearest(rows, columns, codes)
        if not nearest.finite.all():
            check_finite(self.values, self.source)
        return nearest


class PredictedClasses(NamedTuple):
    """The predicted classes of some images.

    Attributes
    ----------
    hit : bool array, shape (images,)
        Whether the predicted class is the true class.
    predicted : int32 array
        The code of the predicted class, or -1 if nothing is ranked.
    values : float array
        The score of the predicted class, or nan if it has none.
    tied : bool array
        Whether the rule for ties decided whether the predicted class is the true class.
    """

    hit: Bools
    predicted: Codes
    values: Floats
    tied: Bools


class ClassRanks(NamedTuple):
    """The ranks of the true classes of some images.

    Attributes
    ----------
    ranks : int array, shape (images,)
        From 1, or 0 if the true class is not ranked.
    sizes : int array
        The number of ranked classes.
    tied : bool array
        Whether the rule for ties decided the rank.
    """

    ranks: Ints
    sizes: Ints
    tied: Bools


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ClassTask(Task):
    """Images with their true classes, and a predicted ranking of all classes for each image.

    Attributes
    ----------
    classes : tuple of str
        The ranked classes in the order of the columns, then predicted classes that are not in the
        class list.
    n_listed : int or None
        The number of classes in the class list. None without one.
    scores : ClassScores or RankedLists
    rows : int array, shape (images,)
        The row of each image in ``scores``, or -1 if it has none.
    truth : int32 array, shape (images,)
        The code of each image's class.
    ties : {"position", "optimistic", "pessimistic"}
    named : mapping from name to set of classes
        The lists of classes that measures can select by name.
    listed : mapping from name to str
        For signatures, the number of classes and the hash of each list that does not have its own
        option.
    """

    kind: ClassVar[str] = "classes"
    classes: tuple[str, ...]
    n_listed: int | None
    scores: ClassScores | RankedLists
    rows: Ints
    truth: Codes
    ties: str = "position"
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)

    def _items_per_block(self, memory: int) -> int:
        return self.scores.rows_per_table

    @property
    def class_list(self) -> tuple[str, ...]:
        """The class list. Without one, all classes that either side names."""
        return self.classes[: self.n_listed]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit hash of the ids and their classes. The hashes of parts add up."""
        names = mix(hash_strings(self.classes))
        return int(mix(names[self.truth] + self.hashes).sum(dtype=np.uint64))

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how many images each has."""
        n_true = np.bincount(self.truth, minlength=len(self.classes))
        n_predicted = np.zeros_like(n_true)
        return LabelAxis(
            self.classes, n_true, n_predicted, self.n_listed, {}, self.named
        )

    @property
    def identities(self) -> dict[str, str]:
        """The identities of the lists of classes, for signatures."""
        return {f"#list {name}": text for name, text in self.listed.items()}

    def columns(self, name: str) -> Ints | None:
        """Return the codes of the candidates with this name, ascending. None means all."""
        if name == ALL:
            return None
        chosen = self.named[name]
        return np.flatnonzero([label in chosen for label in self.classes])

    def predict(self, start: int, stop: int, columns: Ints | None) -> PredictedClasses:
        """Predict a class for images ``start`` to ``stop``, among the candidates."""
        rows = self.rows[start:stop]
        truth = self.truth[start:stop]
        first = Nearest.empty(stop - start)
        ranked = np.flatnonzero(rows >= 0)
        nearest = self.scores.nearest(rows[ranked], columns, truth[ranked])
        for all_values, ranked_values in zip(first, nearest, strict=True):
            all_values[ranked] = ranked_values
        predicted = first.others
        if self.ties == "position":
            hit = (first.places == truth) & first.reached
            predicted = first.places
        elif self.ties == "optimistic":
            hit = first.reached
        else:
            hit = first.reached & (first.tied == 0)
        tied = first.reached & (first.tied > 0)
        return PredictedClasses(
            hit, np.where(hit, truth, predicted), first.values, tied
        )

    def rank(self, start: int, stop: int, columns: Ints | None) -> ClassRanks:
        """Rank the true classes of images ``start`` to ``stop`` among the candidates."""
        rows = self.rows[start:stop]
        truth = self.truth[start:stop]
        ranks = np.zeros(stop - start, np.int64)
        sizes = np.zeros(stop - start, np.int64)
        tied = np.zeros(stop - start, np.bool_)
        is_ranked = rows >= 0
        sizes[is_ranked] = self.scores.sizes(rows[is_ranked], columns)
        if columns is not None:
            is_ranked &= np.isin(truth, columns)
        ranked = np.flatnonzero(is_ranked)
        one_class_each = np.arange(len(ranked) + 1)
        counts = self.scores.count(rows[ranked], columns, one_class_each, truth[ranked])
        if self.ties == "position":
            before = counts.tied_before
        elif self.ties == "optimistic":
            before = np.zeros_like(counts.tied)
        else:
            before = counts.tied
        is_absent = counts.nearer < 0
        ranks[ranked] = np.where(is_absent, 0, counts.nearer + before + 1)
        tied[ranked] = ~is_absent & (counts.tied > 0)
        return ClassRanks(ranks, sizes, tied)

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        return {"rows": self.rows[rows], "truth": self.truth[rows]}
