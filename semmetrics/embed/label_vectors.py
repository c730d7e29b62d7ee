"""Vectors of labels, which may have several terms (synonyms)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from semmetrics.core.backend import to_device
from semmetrics.core.cosine_thresholds import ThresholdTest
from semmetrics.core.ragged import Bools, Ints, offsets, row_numbers
from semmetrics.core.similarity import unit_rows
from semmetrics.data.lists import Terms
from semmetrics.embed.embedder import Embedder, check_finite
from semmetrics.embed.lookup import TermVectors, embed_terms

_DEFAULT_THRESHOLD = 0.4
"""The cosine above which labels match, for models that name none. It suits word2vec."""


def _describe_model(embedder: Embedder, lookup: str, oov: str) -> str:
    """Return the part of a signature for a model and its rules."""
    return f"{embedder.identity}|lookup:{lookup}|oov:{oov}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LabelVectors(TermVectors):
    """Vectors of the distinct terms of labels, and the terms of each label.

    Attributes
    ----------
    embedder : Embedder
    terms : tuple of str
        Distinct terms, one per row.
    indptr, rows : int arrays
        The terms of each label, as ragged rows.
    device : torch.device, optional
        The device on which measures are computed. None is numpy on the CPU.
    """

    embedder: Embedder
    terms: tuple[str, ...]
    indptr: Ints
    rows: Ints
    device: object = None

    def __str__(self) -> str:
        return _describe_model(self.embedder, self.lookup, self.oov)

    @cached_property
    def matrix(self) -> Any:
        """The vectors on the device, as an array of numpy or torch."""
        return to_device(self.vectors, self.device)

    @cached_property
    def units(self) -> Any:
        """The vectors on the device, scaled to length 1. Zeros stay zeros."""
        return unit_rows(self.matrix)

    @cached_property
    def is_zero(self) -> Bools:
        """Whether each term has a vector of zeros, which is similar to nothing."""
        is_zero: Bools = np.all(self.vectors == 0, axis=1)
        return is_zero

    @cached_property
    def threshold_test(self) -> ThresholdTest:
        """The test of cosines of terms, on the CPU."""
        return ThresholdTest(self.vectors)

    @cached_property
    def first_terms(self) -> Ints:
        """The first term of each label that counts, or -1."""
        first = np.full(len(self.indptr) - 1, -1)
        places = np.flatnonzero(self.included[self.rows])
        last_to_first = places[::-1]  # of repeated assignments the last one counts
        labels = row_numbers(self.indptr)[last_to_first]
        first[labels] = self.rows[last_to_first]
        return first

    def skip_unknown(self) -> LabelVectors:
        """Return the same vectors under the policy ``skip``, without another lookup."""
        return replace(self, included=self.known, oov="skip")

    @property
    def terms_of_labels(self) -> list[list[str]]:
        """The terms of each label."""
        terms_of_labels = []
        for start, stop in pairwise(self.indptr):
            terms = [self.terms[row] for row in self.rows[start:stop]]
            terms_of_labels.append(terms)
        return terms_of_labels

    def rows_of_label(self, code: int) -> list[int]:
        """Return the rows of the terms of a label."""
        start = self.indptr[code]
        stop = self.indptr[code + 1]
        rows: list[int] = self.rows[start:stop].tolist()
        return rows

    @property
    def has_synonyms(self) -> bool:
        """Whether a label has several terms."""
        n_labels = len(self.indptr) - 1
        return len(self.rows) > n_labels

    @property
    def threshold(self) -> float:
        """The cosine above which labels match: the model's own threshold, otherwise 0.4."""
        return float(getattr(self.embedder, "threshold", _DEFAULT_THRESHOLD))


@dataclass(frozen=True, eq=False, repr=False)
class TextModel:
    """An embedding with its lookup rule and policy, for strings that are not known yet.

    Attributes
    ----------
    embedder : Embedder
    lookup, oov : str
        The rule (never "auto") and the policy.
    device : torch.device, optional
        The device on which measures are computed.

    Examples
    --------
    >>> from semmetrics.embed.words import MatrixEmbedder
    >>> model = TextModel(MatrixEmbedder(np.eye(2), ["red", "cat"]), "words", "zero")
    >>> model.vectors(["red cat", "dog"]).vectors.tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """

    embedder: Embedder
    lookup: str
    oov: str
    device: object = None

    def __str__(self) -> str:
        return _describe_model(self.embedder, self.lookup, self.oov)

    def vectors(self, texts: Sequence[str]) -> LabelVectors:
        """Return the vectors of strings, each as a label with one term."""
        labels = [(text,) for text in texts]
        return label_vectors(
            labels,
            self.embedder,
            lookup=self.lookup,
            oov=self.oov,
            device=self.device,
        )


def label_vectors(
    labels: Sequence[Terms],
    embedder: Embedder,
    *,
    lookup: str = "auto",
    oov: str = "zero",
    whole: bool = False,
    device: object = None,
) -> LabelVectors:
    """Look up the terms of labels, each distinct term once.

    Parameters
    ----------
    labels : sequence of tuples of str
        The terms of each label.
    embedder : Embedder
    lookup : str
        The lookup rule. "auto" is the model's own.
    oov : {"unknown", "skip", "zero", "error"}
        The policy for unknown terms.
    whole : bool
        Do not look up terms, because the model is used for whole lists of labels only.
    device : torch.device, optional
        The device on which measures are computed.

    Returns
    -------
    LabelVectors

    Raises
    ------
    InputError
        If a term is unknown under "error", the rule needs word vectors, or a vector is not
        finite.
    """
    row_of_term: dict[str, int] = {}
    rows = []
    for label in labels:
        for term in label:
            rows.append(row_of_term.setdefault(term, len(row_of_term)))
    terms = tuple(row_of_term)
    n_terms = np.fromiter(map(len, labels), np.int64, len(labels))
    looked_up = () if whole else terms
    term_vectors = embed_terms(looked_up, embedder, lookup=lookup, oov=oov)
    check_finite(term_vectors.vectors, terms, embedder.identity, "check the model")
    return LabelVectors(
        vectors=term_vectors.vectors,
        known=term_vectors.known,
        composed=term_vectors.composed,
        untuned=term_vectors.untuned,
        included=term_vectors.included,
        counts=term_vectors.counts,
        words=term_vectors.words,
        lookup=term_vectors.lookup,
        oov=term_vectors.oov,
        embedder=embedder,
        terms=terms,
        indptr=offsets(n_terms),
        rows=np.array(rows, np.int64),
        device=device,
    )
