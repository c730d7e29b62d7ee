"""How many labels an embedding does not know: the table of unknown labels of Kubany et al. 2020."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import order_rows, positions
from semmetrics.data.lists import Lists, Side
from semmetrics.embed.base import Embedder
from semmetrics.embed.lookup import embed_terms
from semmetrics.errors import InputError

__all__ = ["Unknown", "unknown_table"]


@dataclass(frozen=True)
class Unknown:
    """What an embedding does not know of a system's labels.

    Attributes
    ----------
    system : str
    images : int
        Items with at least one label.
    labels : int
        Labels of all items, repeats counted.
    terms : int
        The same with each synonym counted.
    unknown : int
        Labels none of whose synonyms is known.
    names : tuple of str
        The distinct unknown labels, the most frequent first.
    """

    system: str
    images: int
    labels: int
    terms: int
    unknown: int
    names: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        """Unknown labels among all, from 0 to 1; nan without labels."""
        return self.unknown / self.labels if self.labels else float("nan")

    @property
    def synonyms(self) -> float:
        """Terms a label, on average; nan without labels."""
        return self.terms / self.labels if self.labels else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """For JSON; None for what has no value."""
        shares = {"share": self.share, "synonyms": self.synonyms}
        return {
            **asdict(self),
            "names": list(self.names),
            **{key: value if self.labels else None for key, value in shares.items()},
        }


def unknown_table(
    systems: Mapping[str, Lists],
    embedder: Embedder,
    *,
    lookup: str = "auto",
    top_k: int | None = None,
) -> list[Unknown]:
    """Count the labels of each system that an embedding does not know.

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
    list of Unknown

    Raises
    ------
    InputError
        If ``top_k`` is below 1, a system is a matrix of scores and ``top_k`` is not given, or the
        rule needs word vectors.

    Examples
    --------
    >>> from semmetrics import as_labels
    >>> from semmetrics.embed.other import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(2), ["cat", "dog"])
    >>> labels = as_labels({"a": ["cat", ["hound", "dog"]], "b": ["cow"], "c": []})
    >>> unknown_table({"vet": labels}, model)
    [Unknown(system='vet', images=2, labels=3, terms=4, unknown=1, names=('cow',))]
    """
    if top_k is not None and top_k < 1:
        raise InputError(f"top_k={top_k}", remedy="give a number of labels, at least 1")
    return [_count(name, labels, embedder, lookup, top_k) for name, labels in systems.items()]


def _count(name: str, labels: Lists, embedder: Embedder, lookup: str, top_k: int | None) -> Unknown:
    if labels.ranked and top_k is None:
        raise InputError(
            "it scores all classes without saying which are predicted",
            where=labels.source,
            remedy="give top_k (--top-k)",
        )
    side = _first(labels.side, top_k)
    uses = np.bincount(side.codes, minlength=len(labels.terms))
    terms = list(dict.fromkeys(term for label in labels.terms for term in label))
    found = embed_terms(terms, embedder, lookup=lookup, oov="zero")
    known = dict(zip(terms, found.known.tolist(), strict=True))
    bad = [c for c, label in enumerate(labels.terms) if not any(known[t] for t in label)]
    bad = sorted((c for c in bad if uses[c]), key=lambda c: -int(uses[c]))
    widths = np.fromiter(map(len, labels.terms), np.int64, len(labels.terms))
    return Unknown(
        system=name,
        images=int((np.diff(side.indptr) > 0).sum()),
        labels=len(side.codes),
        terms=int(uses @ widths),
        unknown=int(uses[bad].sum()),
        names=tuple(", ".join(labels.terms[c]) for c in bad),
    )


def _first(side: Side, top_k: int | None) -> Side:
    """The first labels of each item, by falling score where there are scores."""
    if top_k is None:
        return side
    if side.scores is not None:
        order = order_rows(side.indptr, side.scores)
        side = Side(side.indptr, side.codes[order], side.scores[order])
    return side.keep(positions(side.indptr) < top_k)
