"""The vectors of a task's labels: every term looked up once, and what stands for unknown ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.above import Deciding
from semmetrics.core.ragged import Bools, Floats, Ints, offsets
from semmetrics.core.similarity import unit_rows
from semmetrics.data.lists import Terms
from semmetrics.embed.base import Embedder, Vectors
from semmetrics.embed.lookup import embed_terms
from semmetrics.errors import InputError, listing

__all__ = ["LabelVectors", "label_vectors"]


@dataclass(frozen=True, eq=False)
class LabelVectors:
    """Vectors of labels, term by term.

    Attributes
    ----------
    embedder : Embedder
    lookup, oov : str
        The rules by which terms were looked up.
    terms : tuple of str
        Distinct terms.
    vectors : float32 array, shape (terms, dimension)
        Not normalised.
    stands : bool array, shape (terms,)
        Terms that take part.
    indptr, rows : int arrays
        The terms of each label.
    counts : mapping
        What was not known.
    """

    embedder: Embedder
    lookup: str
    oov: str
    terms: tuple[str, ...]
    vectors: Vectors
    stands: Bools
    indptr: Ints
    rows: Ints
    counts: dict[str, int]

    def __str__(self) -> str:
        """For signatures."""
        return f"{self.embedder.identity}|lookup:{self.lookup}|oov:{self.oov}"

    @cached_property
    def units(self) -> Floats:
        """Vectors of length 1; zeros stay zeros."""
        units: Floats = unit_rows(self.vectors)
        return units

    @cached_property
    def deciding(self) -> Deciding:
        """Decisions on the cosines of terms."""
        return Deciding(self.vectors)

    @property
    def split(self) -> bool:
        """Whether a label has several terms."""
        return len(self.rows) > len(self.indptr) - 1

    @property
    def threshold(self) -> float:
        """The cosine above which labels mean the same: the model's own, else 0.4 (word2vec's)."""
        return float(getattr(self.embedder, "threshold", 0.4))


def label_vectors(
    labels: Sequence[Terms],
    embedder: Embedder,
    *,
    lookup: str = "auto",
    oov: str = "zero",
    whole: bool = False,
) -> LabelVectors:
    """Look up the terms of labels, each distinct term once.

    Parameters
    ----------
    labels : sequence of tuples of str
        The terms of each label.
    embedder : Embedder
    lookup : str
        The rule from a term to a vector; "auto" is the model's own.
    oov : {"unknown", "skip", "zero", "error"}
    whole : bool
        The model is used for whole lists alone: no term is looked up.

    Returns
    -------
    LabelVectors

    Raises
    ------
    InputError
        If a term is unknown under "error", the rule needs word vectors, or a vector is not
        finite.
    """
    terms = tuple(dict.fromkeys(term for label in labels for term in label))
    place = {term: number for number, term in enumerate(terms)}
    found: Any = embed_terms(() if whole else terms, embedder, lookup=lookup, oov=oov)
    wrong = np.flatnonzero(~np.isfinite(found.vectors).all(axis=1))
    if len(wrong):
        raise InputError(
            f"the vector of {listing(terms[number] for number in wrong.tolist())} "
            "holds a number that is not finite",
            where=embedder.identity,
            remedy="check the model",
        )
    widths = np.fromiter(map(len, labels), np.int64, len(labels))
    rows: NDArray[np.int64] = np.array(
        [place[term] for label in labels for term in label], np.int64
    )
    return LabelVectors(
        embedder=embedder,
        lookup=found.lookup,
        oov=oov,
        terms=terms,
        vectors=found.vectors,
        stands=found.stands,
        indptr=offsets(widths),
        rows=rows,
        counts=dict(found.counts),
    )
