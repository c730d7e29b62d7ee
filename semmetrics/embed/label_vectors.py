"""The vectors of labels: every term looked up once; and how many labels an embedding knows.

References
----------
Kubany et al., 2020, Expert Systems with Applications, table 1 (unknown labels).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np

from semmetrics.core.backend import to_device
from semmetrics.core.ragged import Ints, offsets, order_rows, positions, row_numbers
from semmetrics.core.similarity import unit_rows
from semmetrics.core.threshold_test import ThresholdTest
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.embed.embedder import Embedder, check_finite
from semmetrics.embed.lookup import TermVectors, embed_terms
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass

__all__ = ["Coverage", "LabelVectors", "TextModel", "label_vectors", "measure_coverage"]


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelVectors(TermVectors):
    """Vectors of labels: those of their distinct terms, and which terms each label has.

    Attributes
    ----------
    embedder : Embedder
    terms : tuple of str
        Distinct terms, a row each.
    indptr, rows : int arrays
        The terms of each label.
    device : torch.device, optional
        Where measures compute; the processor, by numpy, where there is none.
    """

    embedder: Embedder
    terms: tuple[str, ...]
    indptr: Ints
    rows: Ints
    device: Any = None

    def __str__(self) -> str:
        """Return what signatures say."""
        return _say(self.embedder, self.lookup, self.oov)

    @cached_property
    def matrix(self) -> Any:
        """Return the vectors where measures compute: as numpy's, or as torch's on the device."""
        return to_device(self.vectors, self.device)

    @cached_property
    def units(self) -> Any:
        """Return vectors of length 1, in the same place; zeros stay zeros."""
        return unit_rows(self.matrix)

    @cached_property
    def threshold_test(self) -> ThresholdTest:
        """Return the test of cosines of terms, on the processor."""
        return ThresholdTest(self.vectors)

    @cached_property
    def first_terms(self) -> Ints:
        """Return the first term of each label that takes part, or -1."""
        first = np.full(len(self.indptr) - 1, -1)
        included = np.flatnonzero(self.included[self.rows])[::-1]
        first[row_numbers(self.indptr)[included]] = self.rows[included]
        return first

    @property
    def terms_of_labels(self) -> list[list[str]]:
        """Return the terms of each label, as the embedding is asked for them."""
        return [
            [self.terms[row] for row in self.rows[a:b]]
            for a, b in zip(self.indptr[:-1], self.indptr[1:], strict=True)
        ]

    @property
    def has_synonyms(self) -> bool:
        """Whether a label has several terms."""
        return len(self.rows) > len(self.indptr) - 1

    @property
    def threshold(self) -> float:
        """The cosine above which labels mean the same: the model's own, else 0.4 (word2vec's)."""
        return float(getattr(self.embedder, "threshold", 0.4))


def _say(embedder: Embedder, lookup: str, oov: str) -> str:
    return f"{embedder.identity}|lookup:{lookup}|oov:{oov}"


@dataclass(frozen=True, eq=False)
class TextModel:
    """An embedding with the rules by which texts are looked up in it, where texts come later.

    Attributes
    ----------
    embedder : Embedder
    lookup, oov : str
        The rule (never "auto") and the policy.
    device : torch.device, optional
        Where measures compute.

    Examples
    --------
    >>> from semmetrics.embed.word_vectors import MatrixEmbedder
    >>> model = TextModel(MatrixEmbedder(np.eye(2), ["red", "cat"]), "words", "zero")
    >>> model.vectors(["red cat", "dog"]).vectors.tolist()
    [[0.5, 0.5], [0.0, 0.0]]
    """

    embedder: Embedder
    lookup: str
    oov: str
    device: Any = None

    def __str__(self) -> str:
        """Return what signatures say."""
        return _say(self.embedder, self.lookup, self.oov)

    def vectors(self, texts: Sequence[str]) -> LabelVectors:
        """Return the vectors of texts, one a label."""
        return label_vectors(
            [(text,) for text in texts],
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
    device: Any = None,
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
    device : torch.device, optional
        Where measures compute.

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
    found = embed_terms(() if whole else terms, embedder, lookup=lookup, oov=oov)
    check_finite(found.vectors, terms, embedder.identity, "check the model")
    return LabelVectors(
        **vars(found),
        embedder=embedder,
        terms=terms,
        indptr=offsets(np.fromiter(map(len, labels), np.int64, len(labels))),
        rows=np.array([place[term] for label in labels for term in label], np.int64),
        device=device,
    )


@dataclass(frozen=True)
class Coverage:
    """How many of a system's labels an embedding knows.

    Attributes
    ----------
    system : str
    images : int
        Items with at least one label.
    labels : int
        Lists of all items, repeats counted.
    terms : int
        The same with each synonym counted.
    unknown : int
        Lists none of whose synonyms is known.
    names : tuple of str
        The distinct unknown labels, the most frequent first.
    composed : int
        Known labels whose terms are all unknown or put together from pieces of words.
    composed_names : tuple of str
        The distinct ones of those, the most frequent first.
    """

    system: str
    images: int
    labels: int
    terms: int
    unknown: int
    names: tuple[str, ...] = ()
    composed: int = 0
    composed_names: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of unknown labels, from 0 to 1; nan without labels."""
        return self.unknown / self.labels if self.labels else float("nan")

    @property
    def synonyms(self) -> float:
        """Terms a label, on average; nan without labels."""
        return self.terms / self.labels if self.labels else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; None for what has no value."""
        shares = {"share": self.share, "synonyms": self.synonyms} if self.labels else {}
        return {
            **asdict(self),
            "names": list(self.names),
            "composed_names": list(self.composed_names),
            "share": None,
            "synonyms": None,
            **shares,
        }


def measure_coverage(
    systems: Mapping[str, Lists],
    embedder: Embedder,
    *,
    lookup: str = "auto",
    top_k: int | None = None,
) -> list[Coverage]:
    """Count the labels of each system that an embedding does not know, or composes of pieces.

    Parameters
    ----------
    systems : mapping from name to Lists
        Their text cleaned already.
    embedder : Embedder
    lookup : str
        The rule of lookup; see `semmetrics.embed.lookup`.
    top_k : int, optional
        Only the first labels of each item, by falling score where labels have scores; the paper's
        table 1 has the first five.

    Returns
    -------
    list of Coverage

    Raises
    ------
    InputError
        If ``top_k`` is below 1, a system is a matrix of scores and ``top_k`` is not given, or the
        rule needs word vectors.

    Examples
    --------
    >>> from semmetrics.kinds.labels import as_labels
    >>> from semmetrics.embed.word_vectors import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(2), ["cat", "dog"])
    >>> labels = as_labels({"a": ["cat", ["hound", "dog"]], "b": ["cow"], "c": []})
    >>> measure_coverage({"vet": labels}, model)
    [Coverage(system='vet', images=2, labels=3, terms=4, unknown=1, names=('cow',), composed=0,
    composed_names=())]
    """
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k={top_k}", remedy="give a number of labels, at least 1")
    return [_count(name, labels, embedder, lookup, top_k) for name, labels in systems.items()]


def _count(
    name: str, labels: Lists, embedder: Embedder, lookup: str, top_k: int | None
) -> Coverage:
    if labels.ranked and top_k is None:
        raise InputError(
            "it scores all classes without saying which are predicted",
            where=labels.source,
            remedy="give top_k (--top-k)",
        )
    side = _first(labels.side, top_k)
    vocabulary = labels.terms
    uses = np.bincount(side.codes, minlength=len(vocabulary))
    found = label_vectors(vocabulary, embedder, lookup=lookup, oov="skip")
    owner, known, whole = row_numbers(found.indptr), *np.zeros((2, len(vocabulary)), np.bool_)
    known[owner[found.known[found.rows]]] = True
    whole[owner[(found.known & ~found.composed)[found.rows]]] = True
    unknown, composed = (
        sorted(np.flatnonzero(chosen & (uses > 0)).tolist(), key=lambda code: -int(uses[code]))
        for chosen in (~known, known & ~whole)
    )
    return Coverage(
        system=name,
        images=int((np.diff(side.indptr) > 0).sum()),
        labels=len(side.codes),
        terms=int(uses @ np.diff(found.indptr)),
        unknown=int(uses[unknown].sum()),
        names=tuple(", ".join(vocabulary[code]) for code in unknown),
        composed=int(uses[composed].sum()),
        composed_names=tuple(", ".join(vocabulary[code]) for code in composed),
    )


def _first(side: Side, top_k: int | None) -> Side:
    """Keep the first labels of each item, by falling score where there are scores."""
    if top_k is None:
        return side
    if side.scores is not None:
        order = order_rows(side.indptr, side.scores)
        side = Side(side.indptr, side.codes[order], side.scores[order])
    return side.keep(positions(side.indptr) < top_k)
