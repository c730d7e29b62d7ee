"""The caption task: candidates and their references, validated once and then immutable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ragged import (
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
from semmetrics.data.block import NO_LABELS, Block, LabelAxis
from semmetrics.data.lists import Ids, take_ids
from semmetrics.errors import InputError

__all__ = ["CaptionTask", "caption_task", "item_ids"]

# Bytes of working arrays: of an item, of a candidate with a reference, and of a letter of either,
# of which a token has about five.
_ITEM, _PAIR, _LETTER = 1024, 512, 24


@dataclass(frozen=True, eq=False)
class CaptionTask:
    """Candidate captions and reference captions of the same images.

    An item is a candidate. Where an image has several, each is an item of its own.

    Attributes
    ----------
    ids : sequence of str, range or int array
        One for each item.
    texts : tuple of str
        The distinct captions of both sides, as they were written.
    candidates : int array, shape (items,)
        The caption of each item, in ``texts``.
    images : int array, shape (items,)
        The image of each item, from 0; items of one image have the same references.
    indptr, references : int arrays, shapes (images + 1,) and (occurrences,)
        The reference captions of each *image*, in ``texts``.
    tokenizer : Tokenizer
        With ``name`` and ``tokens(captions)``.
    settings : mapping
        Conventions that changed the data, for the signature; "tok" is the tokenizer.
    counts : mapping
        What was left out or odd, by name.
    weights : float array, shape (items,), or None
    fits : mapping
        Document frequencies: "df" for measures with ``df=given`` ("df/porter" for those with
        ``stem=porter``), "references/none" in place of those that ``df=references`` would count.
    groups : uint64 array, shape (items,), or None
        A hash of each item's image, where several items are of one: they are resampled together.
    unit : str
        What an item is.
    shared : dict
        What steps compute once for all blocks.
    """

    ids: Ids
    texts: tuple[str, ...]
    candidates: Ints
    images: Ints
    indptr: Ints
    references: Ints
    tokenizer: Any
    settings: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    weights: Floats | None = None
    fits: Mapping[str, Any] = field(default_factory=dict)
    groups: Hashes | None = None
    unit: str = "image"
    kind: ClassVar[str] = "captions"
    axis: ClassVar[LabelAxis] = NO_LABELS
    shared: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.candidates)

    def blocks(self, memory: int = 1 << 27) -> Iterator[Block[CaptionTask]]:
        """Items in blocks whose working arrays take about that many bytes, or of one item."""
        for rows in runs_within(running_sums(self._costs()), memory):
            yield Block(self, rows.start, rows.stop)

    def _costs(self) -> Ints:
        """Bytes that an item takes beside others: by its pairs and the letters of their captions.

        Not by their tokens, which no measure may have asked for.
        """
        letters = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        n_refs = lengths(self.indptr)[self.images]
        theirs = sum_rows(letters[self.references], self.indptr)[self.images]
        of_pairs = n_refs * letters[self.candidates] + theirs
        return _ITEM + _PAIR * n_refs + _LETTER * of_pairs

    @property
    def identities(self) -> dict[str, str]:
        """Nothing: captions are compared by no model."""
        return {}

    def pairs(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Offsets and captions of the references of items ``start`` to ``stop``."""
        indptr, flat = take_rows(self.indptr, self.images[start:stop])
        return indptr, self.references[flat]

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each item's id."""
        return hash_ids(self.ids)

    @cached_property
    def fingerprint(self) -> int:
        """64-bit fingerprint of the ids and their references; the parts of a split add up."""
        names = hash_strings(self.texts)
        # an odd factor for each place, so that the order of references counts; never 1, the id's
        place = 2 * positions(self.indptr).astype(np.uint64) + np.uint64(3)
        total = np.zeros(len(place) + 1, np.uint64)
        np.cumsum(names[self.references] * place, out=total[1:])
        images = total[self.indptr[1:]] - total[self.indptr[:-1]]
        return int(mix(images[self.images] + self.hashes).sum(dtype=np.uint64))

    def take(self, rows: Ints) -> CaptionTask:
        """The task on those items alone, in that order, and on their images."""
        images, place = np.unique(self.images[rows], return_inverse=True)
        indptr, flat = take_rows(self.indptr, images)
        return replace(
            self,
            ids=take_ids(self.ids, rows),
            candidates=self.candidates[rows],
            images=place.ravel(),
            indptr=indptr,
            references=self.references[flat],
            weights=None if self.weights is None else self.weights[rows],
            groups=None if self.groups is None else self.groups[rows],
        )


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
    indptr = offsets(np.fromiter(map(len, references), np.int64, len(references)))
    refs = [codes.setdefault(text, len(codes)) for texts in references for text in texts]
    sizes = np.fromiter(map(len, candidates), np.int64, len(candidates))
    if (sizes > 1).any():
        more |= {"groups": np.repeat(hash_ids(ids), sizes), "unit": "caption"}
    return CaptionTask(
        ids=item_ids(ids, sizes),
        texts=tuple(codes),
        candidates=np.array(flat, np.int64),
        images=np.repeat(np.arange(len(sizes)), sizes),
        indptr=indptr,
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
