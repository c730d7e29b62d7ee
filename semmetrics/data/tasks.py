"""The tasks: predictions and references of the same items, checked once and then immutable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ragged import (
    Bools,
    Codes,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    running_sums,
    runs_within,
    sum_rows,
    take_rows,
)
from semmetrics.data.block import Block, LabelAxis, Task
from semmetrics.data.lists import Ids, Side, Terms
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass

__all__ = [
    "FOUND",
    "TAXONOMY",
    "CaptionTask",
    "IgnoredLabels",
    "LabelTask",
    "Synonyms",
    "caption_task",
    "item_ids",
]

TAXONOMY, FOUND = "#taxonomy", "#classes found"  # no embedding can have these names

# Bytes of working arrays: of an item, of a candidate with a reference, and of a letter of either,
# of which a token has about five.
_ITEM, _PAIR, _LETTER = 1024, 512, 24


def _hash_lists(names: Hashes, indptr: Ints, codes: Ints | Codes) -> Hashes:
    """Hash lists of names, in which the order counts."""
    # an odd factor for each place in the list; it is never 1, the factor of the id
    place = positions(indptr).astype(np.uint64)
    place += place + np.uint64(3)
    total = np.zeros(len(place) + 1, np.uint64)
    np.cumsum(np.multiply(names.take(codes), place, out=place), out=total[1:])
    hashes: Hashes = total[indptr[1:]] - total[indptr[:-1]]
    return hashes


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
class IgnoredLabels:
    """Labels that were taken out of both sides, item by item.

    Attributes
    ----------
    labels : tuple of str
    pred, ref : Side
        Codes into ``labels``.
    """

    labels: tuple[str, ...]
    pred: Side
    ref: Side

    def times(self) -> dict[str, tuple[int, int]]:
        """Count how often each is predicted and true; those that never are left out."""
        sides = (np.bincount(s.codes, minlength=len(self.labels)) for s in (self.pred, self.ref))
        every = zip(self.labels, *(counts.tolist() for counts in sides), strict=True)
        return {name: (n_pred, n_ref) for name, n_pred, n_ref in every if n_pred or n_ref}

    def take(self, rows: Ints) -> IgnoredLabels:
        """Return those of some items."""
        return IgnoredLabels(self.labels, self.pred.take(rows), self.ref.take(rows))


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelTask(Task):
    """Predicted and reference label lists of the same items, coded in one class list.

    Attributes
    ----------
    classes : tuple of str
        Given classes in their order, then the others by name; without a class list all by name.
    pred, ref : Side
        Codes into ``classes``.
    ranked : bool
        Whether predictions are scores of labels rather than label lists.
    binary : bool
        Whether predictions were 0 and 1: a score of each label, of which 1 alone is in the lists.
    given : int or None
        How many of the classes were given.
    ignored : IgnoredLabels or None
        The labels that were taken out.
    synonyms : Synonyms or None
    terms : sequence of tuples of str, or None
        The terms of each class; None where the name of each is its one term.
    heads : float array, shape (items, cardinalities), or None
        Probabilities of each set size, for the decoding rules that use them.
    first_set_size : int
        The set size of their first column.
    models : mapping from name to label vectors
        Embeddings of the labels as they were written.
    taxonomy : Taxonomy or None
    """

    kind: ClassVar[str] = "labels"
    classes: tuple[str, ...]
    pred: Side
    ref: Side
    ranked: bool = False
    binary: bool = False
    given: int | None = None
    ignored: IgnoredLabels | None = None
    synonyms: Synonyms | None = None
    terms: Sequence[Terms] | None = None
    heads: Floats | None = None
    first_set_size: int = 0
    models: Mapping[str, Any] = field(default_factory=dict)
    taxonomy: Any = None

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
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their reference lists; the parts of a split add up."""
        names = hash_strings(self.classes)
        parts = [self._hashed(block, names) for block in self.blocks()]
        return int(np.array(parts, np.uint64).sum(dtype=np.uint64))

    def _hashed(self, block: Block[LabelTask], names: Hashes) -> np.uint64:
        ref = self.ref.rows(block.start, block.stop)
        items = _hash_lists(names, ref.indptr, ref.codes)
        items += self.hashes[block.start : block.stop]
        total: np.uint64 = mix(items).sum(dtype=np.uint64)
        return total

    @cached_property
    def axis(self) -> LabelAxis:
        """The classes, and how often each of them occurs."""
        width = len(self.classes)
        sides = [np.bincount(side.codes, minlength=width) for side in (self.ref, self.pred)]
        ignored = {} if self.ignored is None else self.ignored.times()
        return LabelAxis(self.classes, sides[0], sides[1], self.given, ignored)

    @property
    def identities(self) -> dict[str, str]:
        """What each embedding is, and the taxonomy, for signatures; and the classes found."""
        models = {name: str(model) for name, model in self.models.items()}
        if self.taxonomy is not None:
            models[TAXONOMY] = str(self.taxonomy.identity)
        if self.synonyms is not None and self.synonyms.found is not None:
            models[FOUND] = self.synonyms.found
        return models

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        heads = None if self.heads is None else self.heads[rows]
        ignored = None if self.ignored is None else self.ignored.take(rows)
        sides = {"pred": self.pred.take(rows), "ref": self.ref.take(rows)}
        return {**sides, "heads": heads, "ignored": ignored}


@dataclass(frozen=True, eq=False, kw_only=True)
class CaptionTask(Task):
    """Candidate captions and reference captions of the same images.

    An item is a candidate. Where an image has several, each is an item of its own, and ``groups``
    has a hash of each item's image.

    Attributes
    ----------
    texts : tuple of str
        The distinct captions of both sides, as they were written.
    candidates : int array, shape (items,)
        The caption of each item, in ``texts``.
    images : int array, shape (items,)
        The image of each item, from 0; items of one image have the same references.
    indptr, references : int arrays, shapes (images + 1,) and (occurrences,)
        The reference captions of each *image*, in ``texts``.
    tokenizer : Tokenizer
        With ``name``, which is "tok" of the settings, and ``tokens(captions)``.
    fits : mapping
        Document frequencies: "df" for measures with ``df=given`` ("df/porter" for those with
        ``stem=porter``), "references/none" in place of those that ``df=references`` would count.
        Scene graphs: "parser/official" and so on.
    models : mapping from name to TextModel
        Embeddings.
    """

    kind: ClassVar[str] = "captions"
    texts: tuple[str, ...]
    candidates: Ints
    images: Ints
    indptr: Ints
    references: Ints
    tokenizer: Any
    fits: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, Any] = field(default_factory=dict)

    @property
    def identities(self) -> dict[str, str]:
        """What each embedding is, for signatures."""
        return {name: str(model) for name, model in self.models.items()}

    def blocks(self, memory: int = 1 << 27) -> Iterator[Block[CaptionTask]]:
        """Items in blocks whose working arrays take about that many bytes, or of one item."""
        for rows in runs_within(running_sums(self._costs()), memory):
            yield Block(self, rows.start, rows.stop)

    @staticmethod
    def of_images(ids: Ids, sizes: Ints, **attributes: Any) -> CaptionTask:
        """Make a task of images by id; image ``i`` has the next ``sizes[i]`` candidates.

        Raises
        ------
        InputError
            If the name of an item would be that of another.
        """
        if (sizes > 1).any():
            attributes |= {"groups": np.repeat(hash_ids(ids), sizes), "unit": "caption"}
        images = np.repeat(np.arange(len(sizes)), sizes)
        return CaptionTask(ids=item_ids(ids, sizes), images=images, **attributes)

    def _costs(self) -> Ints:
        """Bytes that an item takes beside others: by its pairs and the letters of their captions.

        Not by their tokens, which no measure may have asked for.
        """
        letters = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        n_refs = lengths(self.indptr)[self.images]
        theirs = sum_rows(letters[self.references], self.indptr)[self.images]
        of_pairs = n_refs * letters[self.candidates] + theirs
        return _ITEM + _PAIR * n_refs + _LETTER * of_pairs

    def pairs(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Offsets and captions of the references of items ``start`` to ``stop``."""
        indptr, flat = take_rows(self.indptr, self.images[start:stop])
        return indptr, self.references[flat]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their references; the parts of a split add up."""
        images = _hash_lists(hash_strings(self.texts), self.indptr, self.references)
        return int(mix(images[self.images] + self.hashes).sum(dtype=np.uint64))

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        images, place = np.unique(self.images[rows], return_inverse=True)
        indptr, flat = take_rows(self.indptr, images)
        return {
            "candidates": self.candidates[rows],
            "images": place.ravel(),
            "indptr": indptr,
            "references": self.references[flat],
        }


def caption_task(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    ids: Ids,
    tokenizer: Any,
    **more: Any,
) -> CaptionTask:
    """A task from the captions of each image, both sides in the same order.

    Parameters
    ----------
    candidates, references : sequences of sequences of str
    ids : sequence of str, range or int array
        One an image. Where images have several candidates, items are called "id#1", "id#2".
    tokenizer : Tokenizer
    **more
        Further attributes.

    Raises
    ------
    InputError
        If the name of an item would be that of another.
    """
    codes: dict[str, int] = {}
    flat = [codes.setdefault(text, len(codes)) for texts in candidates for text in texts]
    refs = [codes.setdefault(text, len(codes)) for texts in references for text in texts]
    return CaptionTask.of_images(
        ids,
        np.fromiter(map(len, candidates), np.int64, len(candidates)),
        texts=tuple(codes),
        candidates=np.array(flat, np.int64),
        indptr=offsets(np.fromiter(map(len, references), np.int64, len(references))),
        references=np.array(refs, np.int64),
        tokenizer=tokenizer,
        **more,
    )


def item_ids(ids: Ids, sizes: Ints) -> Ids:
    """The names of candidates, from the ids of images and how many candidates each has.

    Raises
    ------
    InputError
        If an image is called as a candidate of another.

    Examples
    --------
    >>> item_ids(["a", "b"], np.array([2, 1]))
    ['a#1', 'a#2', 'b']
    """
    if (sizes == 1).all():
        return ids
    names = [
        f"{name}#{number}" if size > 1 else str(name)
        for name, size in zip(ids, sizes.tolist(), strict=True)
        for number in range(1, size + 1)
    ]
    if len(set(names)) != len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(
            f"the id {twice!r} is also the name of one of several captions of another id",
            remedy="ids do not end with # and a number",
        )
    return names
