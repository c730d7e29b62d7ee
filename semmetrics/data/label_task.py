"""The label task: what is evaluated, validated once and then immutable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ragged import Bools, Floats, Ints, positions
from semmetrics.data.block import Block, LabelAxis, occurring
from semmetrics.data.lists import Ids, Side, Terms, take_ids

__all__ = ["FOUND", "TAXONOMY", "LabelTask", "Synonyms"]

TAXONOMY, FOUND = "#taxonomy", "#classes found"  # no embedding can have these names


@dataclass(frozen=True, eq=False)
class Synonyms:
    """Labels as they were written, where some of them have several terms.

    Attributes
    ----------
    terms : sequence of tuples of str
        The terms of each written label; ``Side.written`` holds its codes.
    ambiguous : bool array, shape (written labels,)
        A prediction that shares terms with several classes, or a reference label whose terms
        another class has too.
    found : str or None
        Number and hash of the classes that the references gave; None where classes were given.
    """

    terms: Sequence[Terms]
    ambiguous: Bools
    found: str | None = None


@dataclass(frozen=True, eq=False)
class LabelTask:
    """Predicted and reference label lists of the same items, coded in one class list.

    Attributes
    ----------
    ids : sequence of str, range or int array
        Numbers where items are known by position.
    classes : tuple of str
        Given classes in their order, then the others by name; without a class list all by name.
    pred, ref : Side
        Codes into ``classes``.
    ranked : bool
        Whether predictions are scores of labels rather than label lists.
    given : int or None
        How many of the classes were given.
    settings : mapping
        Conventions that changed the data, for the signature.
    counts : mapping
        What was left out, merged or odd, by name.
    synonyms : Synonyms or None
    terms : sequence of tuples of str, or None
        The terms of each class; None where the name of each is its one term.
    weights : float array, shape (items,), or None
    heads : float array, shape (items, cardinalities), or None
        Probabilities of each set size, for the decoding rules that use them.
    unit : str
        What is resampled.
    models : mapping from name to label vectors
        Embeddings of the labels as they were written.
    taxonomy : Taxonomy or None
    shared : dict
        What steps compute once for all blocks.
    """

    ids: Ids
    classes: tuple[str, ...]
    pred: Side
    ref: Side
    ranked: bool = False
    given: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    synonyms: Synonyms | None = None
    terms: Sequence[Terms] | None = None
    weights: Floats | None = None
    heads: Floats | None = None
    unit: str = "image"
    models: Mapping[str, Any] = field(default_factory=dict)
    taxonomy: Any = None
    kind: ClassVar[str] = "labels"
    groups: ClassVar[None] = None
    shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.pred)

    def blocks(self, memory: int = 1 << 25) -> Iterator[Block[LabelTask]]:
        """Items in blocks whose working arrays take about that many bytes."""
        occurrences = len(self.pred.codes) + len(self.ref.codes)
        each = 64 * (1 + occurrences / max(1, len(self)))
        step = max(1, int(memory / each))
        for start in range(0, len(self), step):
            yield Block(self, start, min(start + step, len(self)))

    @property
    def numbered(self) -> bool:
        """Whether every label is a number, which has no meaning of its own."""
        return bool(self.classes) and all(map(str.isdecimal, self.classes))

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each item's id."""
        return hash_ids(self.ids)

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their reference lists; the parts of a split add up."""
        names = hash_strings(self.classes)
        parts = [self._hashed(block, names) for block in self.blocks()]
        return int(np.array(parts, np.uint64).sum(dtype=np.uint64))

    def _hashed(self, block: Block[LabelTask], names: Hashes) -> np.uint64:
        ref = self.ref.rows(block.start, block.stop)
        # an odd factor for each place in the list, so that the order of labels counts; it is never
        # 1, the factor of the id
        place = positions(ref.indptr).astype(np.uint64)
        place += place + np.uint64(3)
        total = np.zeros(len(place) + 1, np.uint64)
        np.cumsum(np.multiply(names.take(ref.codes), place, out=place), out=total[1:])
        items = total[ref.indptr[1:]] - total[ref.indptr[:-1]]
        items += self.hashes[block.start : block.stop]
        total_hash: np.uint64 = mix(items).sum(dtype=np.uint64)
        return total_hash

    @property
    def axis(self) -> LabelAxis:
        """The classes, and on which sides each of them occurs."""
        width = len(self.classes)
        sides = [occurring(side.codes, width) for side in (self.ref, self.pred)]
        return LabelAxis(self.classes, sides[0], sides[1], self.given)

    @property
    def identities(self) -> dict[str, str]:
        """What each embedding is, and the taxonomy, for signatures; and the classes found."""
        models = {name: str(model) for name, model in self.models.items()}
        if self.taxonomy is not None:
            models[TAXONOMY] = str(self.taxonomy.identity)
        if self.synonyms is not None and self.synonyms.found is not None:
            models[FOUND] = self.synonyms.found
        return models

    def take(self, rows: Ints) -> LabelTask:
        """The task on those items alone, in that order; nothing is coded again."""
        return replace(
            self,
            ids=take_ids(self.ids, rows),
            pred=self.pred.take(rows),
            ref=self.ref.take(rows),
            weights=None if self.weights is None else self.weights[rows],
            heads=None if self.heads is None else self.heads[rows],
        )
