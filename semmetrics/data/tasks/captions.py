"""The task of captions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from semmetrics.arguments import check_once
from semmetrics.core import ragged
from semmetrics.core.hashing import hash_ids, hash_strings, mix
from semmetrics.core.ragged import Ints
from semmetrics.data.item_ids import Ids
from semmetrics.data.tasks.base import Block, Task, hash_lists

_BYTES_PER_ITEM = 1024
_BYTES_PER_PAIR = 512
_BYTES_PER_LETTER = 24
"""Bytes of working arrays per item, per pair of a candidate and a reference, and per letter in it.

A token has about five letters.
"""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class CaptionTask(Task):
    """Candidate captions and reference captions of the same images.

    An item is a candidate. If an image has several, each of them is an item, and ``groups`` has a
    hash of each item's image.

    Attributes
    ----------
    texts : tuple of str
        The distinct captions of both sides, as they were written.
    candidates : int array, shape (items,)
        The candidate of each item, as its position in ``texts``.
    images : int array, shape (items,)
        The image of each item, from 0. Items of one image have the same references.
    indptr, references : int arrays, shapes (images + 1,) and (occurrences,)
        The references of each *image*, as positions in ``texts``.
    tokenizer : Tokenizer
        Its ``name`` is "tok" in the settings.
    fits : mapping
        Inputs of measures by key:

        - "df" or "df/porter": document frequencies for ``df=given``, without stemming or with
          ``stem=porter``
        - "references/none": document frequencies that replace the counts of ``df=references``
        - "parser/official" and so on: scene graphs
    models : mapping from key to TextModel
        Embeddings, by the ``model_key`` of measures.
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
        """The identity of each embedding, for signatures."""
        return {name: str(model) for name, model in self.models.items()}

    def blocks(self, memory: int = 1 << 27) -> Iterator[Block[CaptionTask]]:
        """Yield the items in blocks whose working arrays take about ``memory`` bytes.

        A block has at least one item. The cost of an item is estimated from its pairs and the
        letters of their captions. Tokens would have to be computed, and measures may not need them.
        """
        n_letters = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        n_refs = ragged.lengths(self.indptr)[self.images]
        letters_of_refs = ragged.sum_rows(n_letters[self.references], self.indptr)
        letters_of_pairs = n_refs * n_letters[self.candidates]
        letters_of_pairs += letters_of_refs[self.images]
        costs = _BYTES_PER_ITEM + _BYTES_PER_PAIR * n_refs
        costs += _BYTES_PER_LETTER * letters_of_pairs
        for rows in ragged.runs_within(ragged.offsets(costs), memory):
            yield Block(self, rows.start, rows.stop)

    @staticmethod
    def of_images(ids: Ids, sizes: Ints, **attributes: Any) -> CaptionTask:
        """Make a task of images by id. Image ``i`` has the next ``sizes[i]`` candidates.

        Raises
        ------
        InputError
            If two items would have the same name.
        """
        if (sizes > 1).any():
            attributes["groups"] = np.repeat(hash_ids(ids), sizes)
            attributes["unit"] = "caption"
        images = np.repeat(np.arange(len(sizes)), sizes)
        return CaptionTask(ids=item_ids(ids, sizes), images=images, **attributes)

    def item_references(self, start: int, stop: int) -> tuple[Ints, Ints]:
        """Return the offsets and captions of the references of items ``start`` to ``stop``."""
        indptr, flat = ragged.take_rows(self.indptr, self.images[start:stop])
        return indptr, self.references[flat]

    @cached_property
    def fingerprint(self) -> int:
        """64-bit hash of the ids and their references. The hashes of parts add up."""
        names = hash_strings(self.texts)
        images = hash_lists(names, self.indptr, self.references)
        return int(mix(images[self.images] + self.hashes).sum(dtype=np.uint64))

    def _take_sides(self, rows: Ints) -> dict[str, Any]:
        images, image_numbers = np.unique(self.images[rows], return_inverse=True)
        indptr, flat = ragged.take_rows(self.indptr, images)
        return {
            "candidates": self.candidates[rows],
            "images": image_numbers.ravel(),
            "indptr": indptr,
            "references": self.references[flat],
        }


def caption_task(
    candidates: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    ids: Ids,
    tokenizer: Any,
    **attributes: Any,
) -> CaptionTask:
    """Make a task from the captions of each image, both sides in the same order.

    Parameters
    ----------
    candidates, references : sequences of sequences of str
    ids : sequence of str, range or int array
        One per image. If images have several candidates, items are called "id#1", "id#2".
    tokenizer : Tokenizer
    **attributes
        Further attributes.

    Raises
    ------
    InputError
        If two items would have the same name.
    """
    codes: dict[str, int] = {}
    candidate_codes = _code_captions(candidates, codes)
    reference_codes = _code_captions(references, codes)
    n_candidates = np.array([len(texts) for texts in candidates], np.int64)
    n_references = np.array([len(texts) for texts in references], np.int64)
    return CaptionTask.of_images(
        ids,
        n_candidates,
        candidates=candidate_codes,
        references=reference_codes,
        texts=tuple(codes),
        indptr=ragged.offsets(n_references),
        tokenizer=tokenizer,
        **attributes,
    )


def _code_captions(captions: Sequence[Sequence[str]], codes: dict[str, int]) -> Ints:
    """Return the code of each caption. New captions are added to the codes."""
    flat = []
    for texts in captions:
        flat += [codes.setdefault(text, len(codes)) for text in texts]
    return np.array(flat, np.int64)


def item_ids(ids: Ids, sizes: Ints) -> Ids:
    """Return the names of candidates, given the ids of images and how many candidates each has.

    Raises
    ------
    InputError
        If the id of an image is also the name of a candidate of another image.

    Examples
    --------
    >>> item_ids(["a", "b"], np.array([2, 1]))
    ['a#1', 'a#2', 'b']
    """
    if (sizes == 1).all():
        return ids
    names = []
    for image_id, size in zip(ids, sizes.tolist(), strict=True):
        if size == 1:
            names.append(str(image_id))
        else:
            names += [f"{image_id}#{number}" for number in range(1, size + 1)]
    check_once(names, "id-of-candidate")
    return names
