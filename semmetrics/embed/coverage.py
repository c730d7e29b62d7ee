"""Count how many labels an embedding knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import (
    Bools,
    Ints,
    lengths,
    order_rows,
    positions,
    row_numbers,
)
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.embed.embedder import Embedder
from semmetrics.embed.label_vectors import LabelVectors, label_vectors
from semmetrics.errors import InputError


@dataclass(frozen=True)
class Coverage:
    """How many of a system's labels an embedding knows.

    Attributes
    ----------
    system : str
    images : int
        Items with at least one label.
    labels : int
        Labels of all items, with repetitions.
    terms : int
        The same, with each synonym counted.
    unknown : int
        Labels without a known synonym.
    names : tuple of str
        The distinct unknown labels, the most frequent first.
    composed : int
        Known labels whose terms are all unknown or composed from pieces of words.
    composed_names : tuple of str
        The distinct labels among them, the most frequent first.
    untuned : int
        Other known labels without a term in the vocabulary that the model was tuned on.
    untuned_names : tuple of str
        The distinct labels among them, the most frequent first.
    """

    system: str
    images: int
    labels: int
    terms: int
    unknown: int
    names: tuple[str, ...] = ()
    composed: int = 0
    composed_names: tuple[str, ...] = ()
    untuned: int = 0
    untuned_names: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """The share of unknown labels, from 0 to 1, or NaN without labels."""
        if not self.labels:
            return float("nan")
        return self.unknown / self.labels

    @property
    def synonyms(self) -> float:
        """The mean number of terms per label, or NaN without labels."""
        if not self.labels:
            return float("nan")
        return self.terms / self.labels

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with None for undefined values."""
        record = {**asdict(self), "share": None, "synonyms": None}
        if self.labels:
            record["share"] = self.share
            record["synonyms"] = self.synonyms
        return record


def measure_coverage(
    systems: Mapping[str, Lists],
    embedder: Embedder,
    *,
    lookup: str = "auto",
    top_k: int | None = None,
) -> list[Coverage]:
    """Count the labels of each system that an embedding does not know, or composes from pieces.

    Parameters
    ----------
    systems : mapping from name to Lists
        With labels that are already normalised.
    embedder : Embedder
    lookup : str
        The lookup rule, as in `semmetrics.embed.lookup`.
    top_k : int, optional
        Use only the first labels of each item, by decreasing score if labels have scores. Table 1
        of the paper uses five.

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
    >>> from semmetrics.embed.words import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(2), ["cat", "dog"])
    >>> labels = as_labels({"a": ["cat", ["hound", "dog"]], "b": ["cow"], "c": []})
    >>> measure_coverage({"vet": labels}, model)
    [Coverage(system='vet', images=2, labels=3, terms=4, unknown=1, names=('cow',), composed=0,
    composed_names=(), untuned=0, untuned_names=())]
    """
    if top_k is not None and top_k < 1:
        raise InputError("bad-option", name="top_k", value=top_k, wanted="at least 1")
    coverages = []
    for name, labels in systems.items():
        coverages.append(_measure_system(name, labels, embedder, lookup, top_k))
    return coverages


def _measure_system(
    name: str, labels: Lists, embedder: Embedder, lookup: str, top_k: int | None
) -> Coverage:
    """Count the labels of one system."""
    if labels.ranked and top_k is None:
        raise InputError(
            "needs-option", labels.source, what="a matrix of scores", name="top_k"
        )
    side = labels.side
    if top_k is not None:
        side = _first_labels(side, top_k)
    vocabulary = labels.terms
    uses = np.bincount(side.codes, minlength=len(vocabulary))
    vectors = label_vectors(vocabulary, embedder, lookup=lookup, oov="skip")

    is_whole_term = vectors.known & ~vectors.composed
    is_tuned_term = is_whole_term & ~vectors.untuned
    is_known = _has_term(vectors, vectors.known)
    is_whole = _has_term(vectors, is_whole_term)
    is_tuned = _has_term(vectors, is_tuned_term)

    unknown = _most_used(~is_known, uses)
    composed = _most_used(is_known & ~is_whole, uses)
    untuned = _most_used(is_whole & ~is_tuned, uses)
    return Coverage(
        system=name,
        images=int((side.sizes > 0).sum()),
        labels=len(side.codes),
        terms=int(uses @ lengths(vectors.indptr)),
        unknown=int(uses[unknown].sum()),
        names=_names_of(unknown, vocabulary),
        composed=int(uses[composed].sum()),
        composed_names=_names_of(composed, vocabulary),
        untuned=int(uses[untuned].sum()),
        untuned_names=_names_of(untuned, vocabulary),
    )


def _first_labels(side: Side, top_k: int) -> Side:
    """Return the first labels of each item, by decreasing score if there are scores."""
    if side.scores is not None:
        order = order_rows(side.indptr, side.scores)
        side = Side(side.indptr, side.codes[order], side.scores[order])
    return side.keep(positions(side.indptr) < top_k)


def _has_term(vectors: LabelVectors, is_chosen: Bools) -> Bools:
    """Return whether each label has a chosen term."""
    n_labels = len(vectors.indptr) - 1
    has_term = np.zeros(n_labels, np.bool_)
    label_of_place = row_numbers(vectors.indptr)
    has_term[label_of_place[is_chosen[vectors.rows]]] = True
    return has_term


def _most_used(is_chosen: Bools, uses: Ints) -> Ints:
    """Return the codes of the chosen labels that are used, the most frequent first."""
    codes = np.flatnonzero(is_chosen & (uses > 0))
    order = np.argsort(-uses[codes], kind="stable")
    return codes[order]


def _names_of(codes: Ints, vocabulary: Sequence[Terms]) -> tuple[str, ...]:
    """Return the names of labels, with synonyms separated by commas."""
    return tuple(", ".join(vocabulary[code]) for code in codes.tolist())
