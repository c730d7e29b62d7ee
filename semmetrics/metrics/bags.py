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
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.keys import distinct
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    prefixes,
    row_numbers,
    take_rows,
)
from semmetrics.data.block import Block
from semmetrics.data.label_task import LabelTask
from semmetrics.data.lists import Side
from semmetrics.embed.labels import label_vectors
from semmetrics.metrics.matching import Cut, Ranked, Reference
from semmetrics.metrics.similar import model_of, written

if TYPE_CHECKING:
    from semmetrics.core.pairs import Euclidean

__all__ = [
    "Bags",
    "Vocabulary",
    "WordBags",
    "WordTable",
    "first_terms",
    "sides_kept",
    "terms_of_labels",
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
            vectors = model_of(block.task, self.model)
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
    """

    indptr: Ints
    codes: Ints
    vectors: NDArray[np.float32]

    @cached_property
    def distances(self) -> Euclidean:
        """Distances of pairs of words, each with the same bits whatever else is asked for."""
        from semmetrics.core.pairs import Euclidean

        return Euclidean(self.vectors.astype(np.float64))

    @cached_property
    def points(self) -> Ints:
        """Words by number, one number for equal vectors."""
        return np.unique(self.vectors, axis=0, return_inverse=True)[1].ravel()


def _text_words(vectors: Any) -> WordTable:
    found = [
        [word for term in terms for word in _WORD.findall(term.lower())]
        for terms in terms_of_labels(vectors)
    ]
    place = {word: code for code, word in enumerate(sorted({w for words in found for w in words}))}
    codes = [place[word] for words in found for word in words]
    looked = label_vectors(
        [(word,) for word in place], vectors.embedder, lookup=vectors.lookup, oov=vectors.oov
    )
    indptr = offsets(np.fromiter(map(len, found), np.int64, len(found)))
    return _standing(WordTable(indptr, np.array(codes, np.int64), looked.vectors), looked.stands)


def _label_words(vectors: Any) -> WordTable:
    first = first_terms(vectors)
    kept = first >= 0
    order = np.array(sorted(range(len(vectors.terms)), key=vectors.terms.__getitem__), np.int64)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return WordTable(offsets(kept.astype(np.int64)), place[first[kept]], vectors.vectors[order])


def terms_of_labels(vectors: Any) -> list[list[str]]:
    """The terms of each label, as the model is asked for them."""
    return [
        [vectors.terms[row] for row in vectors.rows[a:b]]
        for a, b in zip(vectors.indptr[:-1], vectors.indptr[1:], strict=True)
    ]


def first_terms(vectors: Any) -> Ints:
    """The first term of each label that takes part, or -1."""
    first = np.full(len(vectors.indptr) - 1, -1)
    standing = np.flatnonzero(vectors.stands[vectors.rows])[::-1]
    first[row_numbers(vectors.indptr)[standing]] = vectors.rows[standing]
    return first


def _standing(table: WordTable, stands: Bools) -> WordTable:
    """Without the words that do not take part."""
    if stands.all():
        return table
    kept = stands[table.codes]
    widths = np.bincount(row_numbers(table.indptr)[kept], minlength=len(table.indptr) - 1)
    return WordTable(offsets(widths), table.codes[kept], table.vectors)


@dataclass(frozen=True, eq=False)
class WordBags:
    """Words of each item with their shares, both sides, in one coding.

    Attributes
    ----------
    pred, ref : tuples of offsets, codes and weights
        Distinct words of each item; weights sum to 1 in an item that has words.
    table : WordTable
    """

    pred: tuple[Ints, Ints, Floats]
    ref: tuple[Ints, Ints, Floats]
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


def _bag(side: Side, table: WordTable) -> tuple[Ints, Ints, Floats]:
    wptr, flat = take_rows(table.indptr, written(side))
    words = wptr[side.indptr]
    indptr, codes, times = distinct(words, table.codes[flat], max(1, len(table.vectors)))
    return indptr, codes, times / np.repeat(lengths(words), lengths(indptr))
