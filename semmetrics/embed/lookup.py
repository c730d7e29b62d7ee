"""From label terms to vectors: how a term is looked up, and what stands for unknown ones.

Conventions
-----------
Rules of lookup; of the candidates that a rule tries, the first that the vocabulary lists is taken:

``kubany2020``
    The paper's (footnote 9, and its code). A term found as the word "unknown" is unknown.
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
whose cosine with every vector is 0; ``error``. What was unknown is counted under every policy, and
so is what is *composed*: a term that is known because the model put together the pieces of a word
that it does not list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, offsets, row_numbers
from semmetrics.embed.embedder import Embedder, Vectors, embed_unique, looks_up_words
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import listing

__all__ = [
    "LOOKUPS",
    "OOV",
    "TermVectors",
    "check_rules",
    "embed_terms",
    "lookup_rule",
    "rules_for",
]

#: The 179 entries of the English stop word list of NLTK (corpora/stopwords, the version that was
#: current in 2020). The list is part of the protocol kubany2020: what data NLTK has is no matter.
STOP_WORDS = frozenset(
    """
    i me my myself we our ours ourselves you you're you've you'll you'd your yours yourself
    yourselves he him his himself she she's her hers herself it it's its itself they them their
    theirs themselves what which who whom this that that'll these those am is are was were be been
    being have has had having do does did doing a an the and but if or because as until while of at
    by for with about against between into through during before after above below to from up down
    in out on off over under again further then once here there when where why how all any both
    each few more most other some such no nor not only own same so than too very s t can will just
    don don't should should've now d ll m o re ve y ain aren aren't couldn couldn't didn didn't
    doesn doesn't hadn hadn't hasn hasn't haven haven't isn isn't ma mightn mightn't mustn mustn't
    needn needn't shan shan't shouldn shouldn't wasn wasn't weren weren't won won't wouldn wouldn't
    """.split()  # noqa: SIM905 - a list to read
)
#: The words that kubany2020 drops before it looks a label up; its code keeps "can" and "all".
_FUNCTION_WORDS = STOP_WORDS - {"can", "all"}

_REMOVED = str.maketrans("", "", "-%#@!?.,/\\\"'[]()")
_LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z empty"
# What NLTK's word tokenisation takes apart among words without punctuation.
_TAKEN_APART = {
    "cannot": ("can", "not"), "gimme": ("gim", "me"), "gonna": ("gon", "na"),
    "gotta": ("got", "ta"), "lemme": ("lem", "me"), "wanna": ("wan", "na"),
}  # fmt: skip
_WORD = re.compile(r"[^\W_]+")


def _clean_kubany2020(term: str) -> str:
    """Drop the characters and function words that the paper's code drops; "" is passed over.

    Examples
    --------
    >>> [_clean_kubany2020(term) for term in ("parking_meter", "t-shirt", "the", "x")]
    ['parking_meter', 'tshirt', '', '']
    """
    kept = [
        part
        for token in term.translate(_REMOVED).split()
        for part in _TAKEN_APART.get(token.lower(), (token,))
        if part not in _FUNCTION_WORDS
    ]
    cleaned = " ".join(kept)
    return "" if cleaned in _LETTERS else cleaned


def _kubany2020_candidates(term: str) -> tuple[str, ...]:
    """Return the words that Kubany et al. 2020 try for a term, in order.

    The term, the term without every ``a_``, the term without every ``the_``; each as it is, without
    underscores, and in title case.

    Examples
    --------
    >>> _kubany2020_candidates("parking_meter")[:3]
    ('parking_meter', 'parkingmeter', 'Parking_Meter')
    >>> _kubany2020_candidates("on_the_road")[6:]
    ('on_road', 'onroad', 'On_Road')
    """
    cleaned = _clean_kubany2020(term)
    if not cleaned:
        return ()
    forms = (cleaned, cleaned.replace("a_", ""), cleaned.replace("the_", ""))
    return tuple(tried for form in forms for tried in (form, form.replace("_", ""), form.title()))


def _exact_candidates(term: str) -> tuple[str, ...]:
    """Return the words tried for a term where the vocabulary lists whole labels, in order.

    As it is, with underscores as blanks, with blanks as underscores; then all in lower case.

    Examples
    --------
    >>> _exact_candidates("Traffic_light")[:3]
    ('Traffic_light', 'Traffic light', 'traffic_light')
    """
    forms = (term, term.replace("_", " "), term.replace(" ", "_"))
    return tuple(dict.fromkeys((*forms, *(form.lower() for form in forms))))


def _phrase_candidates(term: str) -> tuple[str, ...]:
    """Return the words tried for a whole term, in order.

    Blanks as underscores and as written; both in lower case, both in title case.

    Examples
    --------
    >>> _phrase_candidates("traffic light")
    ('traffic_light', 'traffic light', 'Traffic_Light', 'Traffic Light')
    """
    joined = "_".join(term.split())
    return tuple(
        dict.fromkeys((joined, term, joined.lower(), term.lower(), joined.title(), term.title()))
    )


def _word_candidates(term: str) -> list[tuple[str, ...]]:
    """Return the words tried for each word of a term: as it is, in lower case, in title case.

    Examples
    --------
    >>> _word_candidates("T-shirt & tie")
    [('T', 't'), ('shirt', 'Shirt'), ('tie', 'Tie')]
    """
    return [
        tuple(dict.fromkeys((word, word.lower(), word.title()))) for word in _WORD.findall(term)
    ]


OOV = ("unknown", "skip", "zero", "error")
_UNKNOWN = "unknown"
_CANDIDATES: dict[str, Callable[[str], tuple[str, ...]]] = {
    "kubany2020": _kubany2020_candidates,
    "words": _phrase_candidates,
    "exact": _exact_candidates,
}
LOOKUPS = ("auto", *_CANDIDATES, "text")


@dataclass(frozen=True, eq=False)
class TermVectors:
    """Vectors of terms.

    Attributes
    ----------
    vectors : float32 array, shape (terms, dimension)
        As the model has them, not normalised; for unknown terms what the policy says.
    known : bool array, shape (terms,)
    composed : bool array, shape (terms,)
        Known terms with a word that was put together from its pieces.
    included : bool array, shape (terms,)
        Terms that take part: all but the unknown ones under ``skip``.
    counts : dict
        ``terms``; ``unknown``; ``composed``; ``mean_of_words``, found word by word;
        ``zero_vectors``, known terms whose vector is zero; ``truncated``, texts of which the model
        read the beginning.
    words : list of str or None, or None
        The words that stand for each term, joined by " + "; None for models that read text.
    lookup, oov : str
        The rule (never "auto") and the policy.
    """

    vectors: Vectors
    known: Bools
    composed: Bools
    included: Bools
    counts: dict[str, int]
    words: list[str | None] | None
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
    >>> from semmetrics.embed.word_vectors import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(3), ["traffic_light", "red", "unknown"], lookup="words")
    >>> found = embed_terms(["Traffic light", "red cow", "cow"], model, oov="unknown")
    >>> found.words, found.known.tolist(), found.vectors[2].tolist()
    (['traffic_light', 'red', None], [True, True, False], [0.0, 0.0, 1.0])
    >>> found.counts["unknown"], found.counts["mean_of_words"]
    (1, 1)
    """
    check_rules(lookup, oov)
    rule = lookup_rule(embedder, lookup)
    truncated, means = 0, 0
    words: list[str | None] | None = None
    if rule == "text":
        read = embed_unique(embedder, [term.replace("_", " ") for term in terms])
        vectors, known, truncated = np.array(read.vectors, np.float32), read.known, read.truncated
        told = getattr(read, "composed", None)
        composed = np.zeros(len(terms), np.bool_) if told is None else told
    else:
        vectors, words, composed, means = _look_up(terms, embedder, rule)
        known = np.array([word is not None for word in words], np.bool_)
    counts = {
        "terms": len(terms),
        "unknown": int((~known).sum()),
        "composed": int(composed.sum()),
        "mean_of_words": means,
        "zero_vectors": int((known & ~vectors.any(axis=1)).sum()),
        "truncated": truncated,
    }
    _stand_in(vectors, known, terms, embedder, oov)
    included = known.copy() if oov == "skip" else np.ones(len(terms), np.bool_)
    return TermVectors(vectors, known, composed, included, counts, words, rule, oov)


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
    """Return the rule that is meant: the model's own for "auto".

    Raises
    ------
    InputError
        If the rule needs word vectors and the model has none.
    """
    rule = str(getattr(embedder, "lookup", "text")) if lookup == "auto" else lookup
    if rule != "text" and not looks_up_words(embedder):
        raise InputError(
            f"lookup={rule!r} looks words up, and {embedder.identity} reads text",
            remedy="choose lookup='text' (--lookup text), or word vectors",
        )
    return rule


def rules_for(embedder: Embedder, lookup: str, oov: str) -> dict[str, str]:
    """Return the rule and the policy that apply to a model.

    The rule ``kubany2020`` and its policy are for words: a model that reads texts keeps its own.
    """
    if lookup == "kubany2020" and lookup_rule(embedder) == "text":
        return {"lookup": "auto", "oov": "zero"}
    return {"lookup": lookup, "oov": oov}


def _look_up(
    terms: Sequence[str], embedder: Any, rule: str
) -> tuple[Vectors, list[str | None], Bools, int]:
    """Return vectors of terms, the words that stand for them, which are composed, and means."""
    tried = {term: _CANDIDATES[rule](term) for term in dict.fromkeys(terms)}
    rows = _find_rows(embedder, tried.values())
    found = {term: _first_known([forms], rows) for term, forms in tried.items()}
    if rule == "kubany2020":
        found = {term: () if words == (_UNKNOWN,) else words for term, words in found.items()}
    parts: dict[str, list[tuple[str, ...]]] = {}
    if rule == "words":
        parts = {term: _word_candidates(term) for term, words in found.items() if not words}
        rows |= _find_rows(embedder, chain.from_iterable(parts.values()))
        found |= {term: _first_known(several, rows) for term, several in parts.items()}
    lists = [found[term] for term in terms]
    vectors = _mean_vectors(embedder, rows, lists)
    words = [" + ".join(some) or None for some in lists]
    means = sum(term in parts and bool(found[term]) for term in terms)
    composed = np.zeros(len(terms), np.bool_)
    if rule == "words" and getattr(embedder, "compose", None) is not None:
        composed[_compose(embedder, terms, parts, vectors, words)] = True
    return vectors, words, composed, means


def _first_known(several: Iterable[tuple[str, ...]], rows: Mapping[str, int]) -> tuple[str, ...]:
    """Return the first known word of each tuple of candidates that has one."""
    return tuple(word for forms in several for word in [f for f in forms if f in rows][:1])


def _find_rows(embedder: Any, candidates: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the rows of those candidates that are known."""
    distinct = list(dict.fromkeys(word for words in candidates for word in words))
    rows = embedder.find(distinct).tolist()
    return {word: row for word, row in zip(distinct, rows, strict=True) if row >= 0}


def _mean_vectors(
    embedder: Any, known: dict[str, int], lists: Sequence[tuple[str, ...]]
) -> Vectors:
    """Return the mean of the vectors of each list of words; zeros for an empty list."""
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
    embedder: Any,
    terms: Sequence[str],
    parts: Mapping[str, Sequence[tuple[str, ...]]],
    vectors: Vectors,
    words: list[str | None],
) -> list[int]:
    """Make up vectors of terms none of whose words is listed from the parts of their words.

    Return the places of those terms.
    """
    done = []
    for number, term in enumerate(terms):
        written = [forms[0] for forms in parts.get(term, ())]
        if words[number] is None and written:
            made, has_vector = embedder.compose(written)
            if has_vector.any():
                vectors[number] = made[has_vector].mean(axis=0, dtype=np.float64)
                words[number] = " + ".join(f"{part}*" for part in written)
                done.append(number)
    return done


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
            remedy="rename them, or choose oov='skip', 'zero' or 'unknown' (--oov)",
        )
    vectors[~known] = 0
    if oov == "unknown":
        read = embedder.embed([_UNKNOWN])
        if not read.known[0]:
            raise InputError(
                f"{embedder.identity} has no word 'unknown' to stand for {listing(unknown)}",
                remedy="choose oov='skip', 'zero' or 'error' (--oov)",
            )
        vectors[~known] = read.vectors[0]
