r"""Bags of words: what the label lists of an item are made of where they are compared as wholes.

Conventions
-----------
Two ways to make words of labels, named by ``build``. ``text``, as the code of Kubany et al. 2020:
all terms of all labels are joined into one string, words are ``\b\w\w+\b`` of it in lower case,
and a word weighs as often as it occurs. ``labels``: every label is one point, with the vector of
its first term that has one, and all weigh the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.backend import to_device
from semmetrics.core.ragged import (
    Bools,
    Ints,
    distinct_codes,
    lengths,
    offsets,
    prefixes,
    row_numbers,
    take_rows,
)
from semmetrics.core.similarity import EuclideanDistances
from semmetrics.data.block import Block
from semmetrics.data.lists import Side
from semmetrics.data.task import LabelTask
from semmetrics.embed.label_vectors import label_vectors
from semmetrics.metrics.label_similarity import label_vectors_of, written_codes
from semmetrics.metrics.matching import Cut, Ranked, Reference

if TYPE_CHECKING:
    from semmetrics.core.transport import WeightedWords

__all__ = [
    "Bags",
    "Vocabulary",
    "WordBags",
    "WordTable",
    "sides_kept",
]

LabelBlock = Block[LabelTask]
_WORD = re.compile(r"\b\w\w+\b")


@dataclass(frozen=True)
class Vocabulary:
    """The words of a task's labels, with vectors; made once for all blocks."""

    build: str
    model: str

    def compute(self, block: LabelBlock) -> Any:
        """Words of each written label, and their vectors."""
        key = ("words", self.build, self.model)
        shared = block.task.shared
        if key not in shared:
            vectors = label_vectors_of(block.task, self.model)
            shared[key] = _text_words(vectors) if self.build == "text" else _label_words(vectors)
        return shared[key]


@dataclass(frozen=True, eq=False)
class WordTable:
    """Words by label, and the vectors of words.

    Words are in the order of their texts, so that an item's sums have an order of their own.

    Attributes
    ----------
    indptr, codes : int arrays
        The words of each label, as often as they occur.
    vectors : float32 array, shape (words, dimension)
    device : torch.device, optional
        Where distances are computed.
    """

    indptr: Ints
    codes: Ints
    vectors: NDArray[np.float32]
    device: Any = None

    @cached_property
    def distances(self) -> EuclideanDistances:
        """Distances of pairs of words, each with the same bits whatever else is asked for."""
        return EuclideanDistances(to_device(self.vectors.astype(np.float64), self.device))

    @cached_property
    def points(self) -> Ints:
        """Words by number, one number for equal vectors."""
        return np.unique(self.vectors, axis=0, return_inverse=True)[1].ravel()


def _text_words(vectors: Any) -> WordTable:
    found = [
        [word for term in terms for word in _WORD.findall(term.lower())]
        for terms in vectors.terms_of_labels
    ]
    place = {word: code for code, word in enumerate(sorted({w for words in found for w in words}))}
    codes = [place[word] for words in found for word in words]
    looked = label_vectors(
        [(word,) for word in place], vectors.embedder, lookup=vectors.lookup, oov=vectors.oov
    )
    indptr = offsets(np.fromiter(map(len, found), np.int64, len(found)))
    table = WordTable(indptr, np.array(codes, np.int64), looked.vectors, vectors.device)
    return _leave_out(table, looked.included)


def _label_words(vectors: Any) -> WordTable:
    first = vectors.first_terms
    kept = first >= 0
    order = np.array(sorted(range(len(vectors.terms)), key=vectors.terms.__getitem__), np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    indptr, codes = offsets(kept.astype(np.int64)), place[first[kept]]
    return WordTable(indptr, codes, vectors.vectors[order], vectors.device)


def _leave_out(table: WordTable, included: Bools) -> WordTable:
    """Leave out the words that do not take part."""
    if included.all():
        return table
    kept = included[table.codes]
    widths = np.bincount(row_numbers(table.indptr)[kept], minlength=len(table.indptr) - 1)
    return replace(table, indptr=offsets(widths), codes=table.codes[kept])


@dataclass(frozen=True, eq=False)
class WordBags:
    """Words of each item with their shares, both sides, in one coding.

    Attributes
    ----------
    pred, ref : WeightedWords
        Distinct words of each item; weights sum to 1 in an item that has words.
    table : WordTable
    """

    pred: WeightedWords
    ref: WeightedWords
    table: WordTable


@dataclass(frozen=True)
class Bags:
    """The bags of words of each item, predictions cut first."""

    cut: Cut
    build: str
    model: str

    def compute(self, block: LabelBlock) -> WordBags:
        """Words of the labels kept, counted."""
        table = block.get(Vocabulary(self.build, self.model))
        pred, ref = (_bag(side, table) for side in sides_kept(block, self.cut))
        return WordBags(pred, ref, table)


def sides_kept(block: LabelBlock, cut: Cut) -> tuple[Side, Side]:
    """The predictions that a cut keeps, and the references."""
    ranked = block.get(Ranked())
    return ranked.keep(prefixes(ranked.indptr, block.get(cut))), block.get(Reference())


def _bag(side: Side, table: WordTable) -> WeightedWords:
    # the solver is loaded where a distance is asked for: most scores need none
    from semmetrics.core.transport import WeightedWords

    wptr, flat = take_rows(table.indptr, written_codes(side))
    words = wptr[side.indptr]
    indptr, codes, times = distinct_codes(words, table.codes[flat], max(1, len(table.vectors)))
    return WeightedWords(indptr, codes, times / np.repeat(lengths(words), lengths(indptr)))
