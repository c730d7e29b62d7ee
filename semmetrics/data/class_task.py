"""Images with their true classes and the ranking of all classes that is predicted for each.

Conventions
-----------
An image has one class. Classes are ranked by falling score. Where scores are equal, the rule of
ties decides: by ``position`` (what stands first in the class list is ranked first), ``optimistic``
(the true class before others), or ``pessimistic`` (others before the true class). Prediction may be
restricted to some classes, the *candidates*; the others are then as if they were not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np

from semmetrics.core.hashing import hash_strings, mix
from semmetrics.core.ragged import Bools, Codes, Floats, Ints
from semmetrics.core.ranks import Counts, First
from semmetrics.data.block import Block, LabelAxis, Task
from semmetrics.data.rankings import RankedLists, Similarities
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass

__all__ = ["ALL", "ClassScores", "ClassTask", "Decided", "Placed"]

ALL = "all"
"""The candidates of a prediction that is not restricted."""


@dataclass(frozen=True, eq=False)
class ClassScores(Similarities):
    """A matrix of images x classes; that its numbers are finite is checked as they are read.

    Attributes
    ----------
    source : str
        What messages call it.
    """

    source: str = "scores"

    @property
    def integer(self) -> bool:
        """Whether scores are whole numbers, which floats may not hold."""
        return bool(self.values.dtype.kind in "iu")

    def table(self, rows: Ints, columns: Ints | None) -> Any:
        """Return the scores of some images; perhaps memory-mapped."""
        table = super().table(rows, columns)
        return table.view(np.uint8) if table.dtype == np.bool_ else table

    def count(self, rows: Ints, columns: Ints | None, indptr: Ints, codes: Codes) -> Counts:
        """Count the classes with a larger score than some."""
        table = self.table(rows, columns)
        with np.errstate(all="ignore"):
            plain = np.isfinite(table.sum())
        if not plain:
            self._check(rows, columns)
        return super().count(rows, columns, indptr, codes)

    def nearest(self, rows: Ints, columns: Ints | None, codes: Codes) -> First:
        """Find the class with the largest score of each image."""
        found = super().nearest(rows, columns, codes)
        if not found.finite.all():
            self._check(rows[~found.finite], columns)
        return found

    def _check(self, rows: Ints, columns: Ints | None) -> None:
        """Refuse a number that is not finite; names its place."""
        bad = np.argwhere(~np.isfinite(self.table(rows, columns)))
        if len(bad):
            row, place = bad[0].tolist()
            column = place if columns is None else int(columns[place])
            raise InputError(
                f"{self.values[rows[row], column]} is no finite number",
                where=f"{self.source}, row {int(rows[row])}, column {column} (from 0)",
                remedy="replace it",
            )


class Decided(NamedTuple):
    """What is predicted for some images.

    Attributes
    ----------
    hit : bool array, shape (images,)
        Whether it is the true class.
    predicted : int32 array
        Its code; -1 where nothing is ranked.
    values : float array
        Its score; nan where it has none.
    tied : bool array
        Whether the rule of ties decided whether it is the true class.
    """

    hit: Bools
    predicted: Codes
    values: Floats
    tied: Bools


class Placed(NamedTuple):
    """Where the true classes of some images are ranked.

    Attributes
    ----------
    ranks : int array, shape (images,)
        From 1; 0 where the true class is not ranked.
    sizes : int array
        How many classes are ranked.
    tied : bool array
        Whether the rule of ties decided the rank.
    """

    ranks: Ints
    sizes: Ints
    tied: Bools


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassTask(Task):
    """Images with their true classes and the ranking of all classes that is predicted for each.

    Attributes
    ----------
    classes : tuple of str
        Those that are ranked, in the order of the columns; behind them predicted ones outside the
        class list.
    given : int or None
        How many classes the class list has; None without one.
    scores : ClassScores or RankedLists
    rows : int array, shape (images,)
        The row of each image in ``scores``; -1 where it has none.
    truth : int32 array, shape (images,)
        The code of each image's class.
    ties : {"position", "optimistic", "pessimistic"}
    named : mapping from name to set of classes
        The lists of classes that measures may name.
    listed : mapping from name to text
        Number and hash of those lists that are no option's own, for signatures.
    """

    kind: ClassVar[str] = "classes"
    classes: tuple[str, ...]
    given: int | None
    scores: ClassScores | RankedLists
    rows: Ints
    truth: Codes
    ties: str = "position"
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    listed: Mapping[str, str] = field(default_factory=dict)

    def blocks(self) -> Iterator[Block[ClassTask]]:
        """Images in blocks whose scores fit into memory."""
        step = self.scores.step
        for start in range(0, len(self), step):
            yield Block(self, start, min(start + step, len(self)))

    @property
    def class_list(self) -> tuple[str, ...]:
        """The class list; without one, all classes that either side names."""
        return self.classes[: self.given]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their classes; parts add up."""
        names = mix(hash_strings(self.classes))
        return int(mix(names[self.truth] + self.hashes).sum(dtype=np.uint64))

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how many images each has; predictions of all of them count."""
        true = np.bincount(self.truth, minlength=len(self.classes))
        return LabelAxis(self.classes, true, np.zeros_like(true), self.given, {}, self.named)

    @property
    def identities(self) -> dict[str, str]:
        """What the lists of classes are, for signatures."""
        return {f"#list {name}": text for name, text in self.listed.items()}

    def columns(self, name: str) -> Ints | None:
        """Return the codes of the candidates of that name, rising; None for all."""
        if name == ALL:
            return None
        chosen = self.named[name]
        return np.flatnonzero([one in chosen for one in self.classes])

    def decide(self, start: int, stop: int, columns: Ints | None) -> Decided:
        """Return what is predicted for images ``start`` to ``stop`` among the candidates."""
        rows, truth = self.rows[start:stop], self.truth[start:stop]
        found = First.empty(stop - start)
        some = np.flatnonzero(rows >= 0)
        for whole, part in zip(
            found, self.scores.nearest(rows[some], columns, truth[some]), strict=True
        ):
            whole[some] = part
        hit = {
            "position": (found.places == truth) & found.reached,
            "optimistic": found.reached,
            "pessimistic": found.reached & (found.tied == 0),
        }[self.ties]
        others = found.places if self.ties == "position" else found.others
        tied = found.reached & (found.tied > 0)
        return Decided(hit, np.where(hit, truth, others), found.values, tied)

    def place(self, start: int, stop: int, columns: Ints | None) -> Placed:
        """Return where the classes of images ``start`` to ``stop`` rank among the candidates."""
        rows, truth = self.rows[start:stop], self.truth[start:stop]
        ranks, sizes = np.zeros(stop - start, np.int64), np.zeros(stop - start, np.int64)
        tied = np.zeros(stop - start, np.bool_)
        ranked = rows >= 0
        sizes[ranked] = self.scores.sizes(rows[ranked], columns)
        if columns is not None:
            ranked &= np.isin(truth, columns)
        some = np.flatnonzero(ranked)
        found = self.scores.count(rows[some], columns, np.arange(len(some) + 1), truth[some])
        before = {
            "position": found.tied_before,
            "optimistic": np.zeros_like(found.tied),
            "pessimistic": found.tied,
        }[self.ties]
        ranks[some] = np.where(found.nearer < 0, 0, found.nearer + before + 1)
        tied[some] = (found.nearer >= 0) & (found.tied > 0)
        return Placed(ranks, sizes, tied)

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        return {"rows": self.rows[rows], "truth": self.truth[rows]}
