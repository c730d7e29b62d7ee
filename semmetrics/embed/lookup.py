"""From label terms to vectors: how a term is looked up, and what stands for unknown ones.

Conventions
-----------
Rules of lookup:

``kubany2020``
    The paper's: see `semmetrics.embed.rules.kubany2020`. A term found as the word "unknown" is
    unknown.
``words``
    The whole term, else the mean of the vectors of those of its words that are known.
``exact``
    The whole term, as it is written or with underscores for blanks, else in lower case.
``text``
    The term as a text, with blanks for underscores; for models that read text.
``auto``
    The rule that the model names, else ``text``.

Out-of-vocabulary policies: ``unknown``: the vector of the word "unknown" stands for the term, so
two unknown terms have cosine 1; ``skip``: the term takes no part; ``zero``: a vector of zeros,
whose cosine with every vector is 0; ``error``. What was unknown is counted under every policy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, offsets, row_numbers
from semmetrics.embed import rules
from semmetrics.embed.base import Embedder, Vectors, embed_unique
from semmetrics.errors import InputError, listing

__all__ = ["LOOKUPS", "OOV", "TermVectors", "check_rules", "embed_terms", "lookup_rule"]

OOV = ("unknown", "skip", "zero", "error")
UNKNOWN = "unknown"
_LISTS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "kubany2020": rules.kubany2020,
    "words": rules.words,
    "exact": rules.exact,
}
LOOKUPS = ("auto", *_LISTS, "text")


@dataclass(frozen=True, eq=False)
class TermVectors:
    """Vectors of terms.

    Attributes
    ----------
    vectors : float32 array, shape (terms, dimension)
        As the model has them, not normalised; for unknown terms what the policy says.
    known : bool array, shape (terms,)
    stands : bool array, shape (terms,)
        Terms that take part: all but the unknown ones under ``skip``.
    counts : dict
        ``terms``; ``unknown``; ``mean_of_words``, found word by word; ``zero_vectors``, known terms
        whose vector is zero; ``truncated``, texts of which the model read the beginning.
    found : list of str or None, or None
        The words that stand for each term, joined by " + "; None for models that read text.
    lookup, oov : str
        The rule (never "auto") and the policy.
    """

    vectors: Vectors
    known: Bools
    stands: Bools
    counts: dict[str, int]
    found: list[str | None] | None
    lookup: str
    oov: str


def embed_terms(
    terms: Sequence[str], embedder: Embedder, *, lookup: str = "auto", oov: str = "skip"
) -> TermVectors:
    """Look terms up, each distinct one once.

    Parameters
    ----------
    terms : sequence of str
    embedder : Embedder
    lookup : {"auto", "kubany2020", "words", "exact", "text"}
    oov : {"unknown", "skip", "zero", "error"}

    Returns
    -------
    TermVectors

    Raises
    ------
    InputError
        If an option is wrong, the rule needs word vectors, a term is unknown under "error", or the
        model does not know the word "unknown" under "unknown".

    Examples
    --------
    >>> from semmetrics.embed.other import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(3), ["traffic_light", "red", "unknown"], lookup="words")
    >>> found = embed_terms(["Traffic light", "red cow", "cow"], model, oov="unknown")
    >>> found.found, found.known.tolist(), found.vectors[2].tolist()
    (['traffic_light', 'red', None], [True, True, False], [0.0, 0.0, 1.0])
    >>> found.counts["unknown"], found.counts["mean_of_words"]
    (1, 1)
    """
    check_rules(lookup, oov)
    rule = lookup_rule(embedder, lookup)
    counts = {"terms": len(terms), "unknown": 0, "mean_of_words": 0, "zero_vectors": 0,
              "truncated": 0}  # fmt: skip
    found: list[str | None] | None = None
    if rule == "text":
        read = embed_unique(embedder, [term.replace("_", " ") for term in terms])
        vectors, known = np.array(read.vectors, np.float32), read.known
        counts["truncated"] = read.truncated
    else:
        vectors, found = _from_words(terms, embedder, rule, counts)
        known = np.array([word is not None for word in found], np.bool_)
        _compose(terms, embedder, vectors, known, found, rule)
    counts["unknown"] = int((~known).sum())
    counts["zero_vectors"] = int((known & ~vectors.any(axis=1)).sum())
    _stand_in(vectors, known, terms, embedder, oov)
    stands = known.copy() if oov == "skip" else np.ones(len(terms), np.bool_)
    return TermVectors(vectors, known, stands, counts, found, rule, oov)


def check_rules(lookup: str, oov: str) -> None:
    """Refuse rules and policies that do not exist.

    Raises
    ------
    InputError
        If so.
    """
    for name, value, choices in (("lookup", lookup, LOOKUPS), ("oov", oov, OOV)):
        if value not in choices:
            raise InputError(f"{name}={value!r}", remedy=f"choose one of {', '.join(choices)}")


def lookup_rule(embedder: Embedder, lookup: str = "auto") -> str:
    """The rule that is meant: the model's own for "auto".

    Raises
    ------
    InputError
        If the rule needs word vectors and the model has none.
    """
    rule = str(getattr(embedder, "lookup", "text")) if lookup == "auto" else lookup
    if rule != "text" and not hasattr(embedder, "find"):
        raise InputError(
            f"lookup={rule!r} looks words up, and {embedder.identity} reads text",
            remedy="choose lookup='text', or word vectors",
        )
    return rule


def _from_words(
    terms: Sequence[str], embedder: Any, rule: str, counts: dict[str, int]
) -> tuple[Vectors, list[str | None]]:
    """Vectors of terms from those of words, and the words that were found."""
    tried = {term: _LISTS[rule](term) for term in dict.fromkeys(terms)}
    known = _rows_of(embedder, tried.values())
    found = {
        term: tuple(word for word in forms if word in known)[:1] for term, forms in tried.items()
    }
    if rule == "kubany2020":
        found = {term: () if words == (UNKNOWN,) else words for term, words in found.items()}
    if rule == "words":
        parts = {term: rules.words_in(term) for term, words in found.items() if not words}
        known |= _rows_of(embedder, (forms for words in parts.values() for forms in words))
        for term, several in parts.items():
            first = (next((word for word in forms if word in known), None) for forms in several)
            found[term] = tuple(word for word in first if word is not None)
        counts["mean_of_words"] = sum(term in parts and bool(found[term]) for term in terms)
    lists = [found[term] for term in terms]
    vectors = _means(embedder, known, lists)
    return vectors, [" + ".join(words) or None for words in lists]


def _rows_of(embedder: Any, tried: Any) -> dict[str, int]:
    """The rows of all words that are tried and known."""
    distinct = list(dict.fromkeys(word for forms in tried for word in forms))
    rows = embedder.find(distinct).tolist()
    return {word: row for word, row in zip(distinct, rows, strict=True) if row >= 0}


def _means(embedder: Any, known: dict[str, int], lists: Sequence[tuple[str, ...]]) -> Vectors:
    """The mean of the vectors of each list of words; zeros for an empty list."""
    indptr = offsets(np.fromiter(map(len, lists), np.int64, len(lists)))
    numbers = np.array([known[word] for words in lists for word in words], np.int64)
    vectors = np.zeros((len(lists), embedder.dimension), np.float32)
    rows, one = embedder.rows(numbers), np.diff(indptr) == 1
    vectors[one] = rows[indptr[:-1][one]]
    several = np.diff(indptr) > 1
    if several.any():
        total = np.zeros(vectors.shape, np.float64)
        np.add.at(total, row_numbers(indptr), rows.astype(np.float64))
        vectors[several] = total[several] / np.diff(indptr)[several, None]
    return vectors


def _compose(
    terms: Sequence[str], embedder: Any, vectors: Vectors, known: Bools, found: Any, rule: str
) -> None:
    """Words without a row from their parts, where the model can and the rule is not a paper's."""
    missing = np.flatnonzero(~known)
    if getattr(embedder, "compose", None) is None or rule != "words" or not len(missing):
        return
    for number in missing.tolist():
        parts = [forms[0] for forms in rules.words_in(terms[number])]
        if parts:
            made, there = embedder.compose(parts)
            if there.any():
                vectors[number] = made[there].mean(axis=0, dtype=np.float64)
                known[number] = True
                found[number] = " + ".join(f"{part}*" for part in parts)


def _stand_in(
    vectors: Vectors, known: Bools, terms: Sequence[str], embedder: Embedder, oov: str
) -> None:
    """Give unknown terms the vector that the policy names."""
    if known.all():
        return
    unknown = list(dict.fromkeys(terms[number] for number in np.flatnonzero(~known).tolist()))
    if oov == "error":
        raise InputError(
            f"{embedder.identity} does not know {listing(unknown)}",
            remedy="rename them, or choose oov='skip', 'zero' or 'unknown'",
        )
    vectors[~known] = 0
    if oov == "unknown":
        read = embedder.embed([UNKNOWN])
        if not read.known[0]:
            raise InputError(
                f"{embedder.identity} has no word 'unknown' to stand for {listing(unknown)}",
                remedy="choose oov='skip', 'zero' or 'error'",
            )
        vectors[~known] = read.vectors[0]
