"""Look terms up: the rules from a term to a vector, and policies for unknown terms.

Conventions
-----------
A lookup rule gives the candidates for a term. The first candidate in the vocabulary is used.

``kubany2020``
    The rule of the paper (footnote 9, and its code). A term found as the word "unknown" is unknown.
``words``
    The whole term, otherwise the mean vector of its known words.
``exact``
    The whole term, as it is or with spaces and underscores exchanged, otherwise in lower case.
``text``
    The term as a string with spaces instead of underscores, for models that read text.
``auto``
    The rule that the model names, otherwise ``text``.

An out-of-vocabulary policy decides how to treat unknown terms.

``unknown``
    Use the vector of the word "unknown", so that two unknown terms have cosine 1.
``skip``
    Leave the term out.
``zero``
    Use a vector of zeros. Its cosine with every vector is 0, and it is similar to nothing.
``error``
    Raise an error.

The default depends on the measure. It is ``zero``, except for distances (WMD and RWMD), for which
it is ``skip``: a vector of zeros is a point like any other, and would be near some labels. Unknown
terms are counted under every policy. So are *composed* terms: the model does not list their words,
but composed them from pieces.

References
----------
Kubany et al., 2020, Expert Systems with Applications, footnote 9, and table 1 (unknown labels).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol, cast

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.ragged import Bools, Floats, Ints, lengths, offsets, row_numbers
from semmetrics.embed.embedder import (
    Embedder,
    Vectors,
    as_embedded,
    embed_unique,
    looks_up_words,
)
from semmetrics.errors import InputError

LOOKUPS = ("auto", "kubany2020", "words", "exact", "text")
OOV = ("unknown", "skip", "zero", "error")

_UNKNOWN = "unknown"
"""The word that the policy ``unknown`` uses for unknown terms."""
_WORD = re.compile(r"[^\W_]+")

# ---- rules ------------------------------------------------------------------------------

_STOP_WORDS_FILE = Path(__file__).with_name("data") / "stop_words.txt"
STOP_WORDS = frozenset(_STOP_WORDS_FILE.read_text("utf-8").split())
"""The 179 entries of NLTK's list of English stop words (corpora/stopwords) as of 2020.

The list is part of the protocol kubany2020. NLTK's own data is not used.
"""

_KUBANY_DROPPED_WORDS = STOP_WORDS - {"can", "all"}
"""The words that the paper's code removes from labels."""
_KUBANY_DROPPED_CHARACTERS = str.maketrans("", "", "-%#@!?.,/\\\"'[]()")
_KUBANY_DROPPED_LABELS = "a b c d e f g h i j k l m n o p q r s t u v w x y z empty"
"""The paper's code drops labels that are a part of this string."""
_KUBANY_SPLIT_WORDS = {
    "cannot": ("can", "not"),
    "gimme": ("gim", "me"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "lemme": ("lem", "me"),
    "wanna": ("wan", "na"),
}
"""The words without punctuation that NLTK's tokenizer splits."""


def _candidates(term: str, rule: str) -> tuple[str, ...]:
    """Return the candidates of a rule for a term, the best first. () if the term is dropped.

    Examples
    --------
    >>> _candidates("Traffic_light", "exact")[:3]
    ('Traffic_light', 'Traffic light', 'traffic_light')
    >>> _candidates("traffic light", "words")
    ('traffic_light', 'traffic light', 'Traffic_Light', 'Traffic Light')
    >>> _candidates("parking_meter", "kubany2020")[:3]
    ('parking_meter', 'parkingmeter', 'Parking_Meter')
    >>> _candidates("on_the_road", "kubany2020")[6:]
    ('on_road', 'onroad', 'On_Road')
    >>> [_candidates(term, "kubany2020")[:1] for term in ("t-shirt", "the", "x")]
    [('tshirt',), (), ()]
    """
    if rule == "exact":
        return _exact_candidates(term)
    if rule == "words":
        return _word_candidates(term)
    return _kubany_candidates(term)


def _exact_candidates(term: str) -> tuple[str, ...]:
    """Return a term as it is and with spaces and underscores exchanged, then in lower case."""
    spellings = [term, term.replace("_", " "), term.replace(" ", "_")]
    lower = [spelling.lower() for spelling in spellings]
    return tuple(dict.fromkeys([*spellings, *lower]))


def _word_candidates(term: str) -> tuple[str, ...]:
    """Return a term with underscores and as it is, then in lower case, then in title case."""
    spellings = ["_".join(term.split()), term]
    lower = [spelling.lower() for spelling in spellings]
    title = [spelling.title() for spelling in spellings]
    return tuple(dict.fromkeys([*spellings, *lower, *title]))


def _kubany_candidates(term: str) -> tuple[str, ...]:
    """Return the candidates of the paper's code.

    The term is stripped of some characters and of function words. It is tried as it is, without
    every ``a_``, and without every ``the_``. Each of these is tried as it is, without underscores,
    and in title case.
    """
    words = []
    for token in term.translate(_KUBANY_DROPPED_CHARACTERS).split():
        for word in _KUBANY_SPLIT_WORDS.get(token.lower(), (token,)):
            if word not in _KUBANY_DROPPED_WORDS:
                words.append(word)
    cleaned = " ".join(words)
    if not cleaned or cleaned in _KUBANY_DROPPED_LABELS:
        return ()
    candidates = []
    for form in (cleaned, cleaned.replace("a_", ""), cleaned.replace("the_", "")):
        candidates += [form, form.replace("_", ""), form.title()]
    return tuple(candidates)


def check_rules(lookup: str, oov: str | None) -> None:
    """Raise if a lookup rule or an out-of-vocabulary policy does not exist.

    Raises
    ------
    InputError
    """
    check_choice("lookup", lookup, LOOKUPS)
    if oov is not None:
        check_choice("oov", oov, OOV)


def lookup_rule(embedder: Embedder, lookup: str = "auto") -> str:
    """Return the lookup rule for a model. "auto" is the model's own rule.

    Raises
    ------
    InputError
        If the rule needs word vectors and the model has none.
    """
    rule = lookup
    if lookup == "auto":
        rule = str(getattr(embedder, "lookup", "text"))
    if rule != "text" and not looks_up_words(embedder):
        raise InputError("reads-text", rule=rule, identity=embedder.identity)
    return rule


def rules_for(
    embedder: Embedder, lookup: str, oov: str | None, default: str = "zero"
) -> dict[str, str]:
    """Return the lookup rule and the out-of-vocabulary policy that apply to a model.

    The rule ``kubany2020`` and its policy ``unknown`` are for word vectors. A model that reads text
    uses its own rule and ``zero`` instead.

    Parameters
    ----------
    embedder : Embedder
    lookup : str
    oov : str or None
        The policy that the user or a protocol chose.
    default : str
        The policy of a measure, used if none was chosen.
    """
    if lookup == "kubany2020" and lookup_rule(embedder) == "text":
        lookup = "auto"
        if oov == "unknown":
            oov = "zero"
    if oov is None:
        oov = default
    return {"lookup": lookup, "oov": oov}


# ---- terms ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TermVectors:
    """Vectors of terms.

    Attributes
    ----------
    vectors : float32 array, shape (terms, dimension)
        The model's vectors, not normalised. The policy decides the vectors of unknown terms.
    known : bool array, shape (terms,)
    composed : bool array, shape (terms,)
        Known terms with a word that was composed from its pieces.
    untuned : bool array, shape (terms,)
        Other known terms outside the vocabulary that the model was tuned on. False if it was not
        tuned.
    included : bool array, shape (terms,)
        Terms that count. These are all terms, except unknown ones under ``skip``.
    counts : dict
        The number of ``terms``, of ``unknown``, ``composed`` and ``untuned`` terms, of terms with
        a mean of several lookups (``mean_of_words``), of known terms with a vector of zeros
        (``zero_vectors``), and of terms that the model read only in part (``truncated``).
    words : list of str or None, or None
        The words found for each term, joined by " + ". None for models that read text.
    lookup, oov : str
        The rule (never "auto") and the policy.
    """

    vectors: Vectors
    known: Bools
    composed: Bools
    untuned: Bools
    included: Bools
    counts: dict[str, int]
    words: list[str | None] | None
    lookup: str
    oov: str


class _ModelVectors(NamedTuple):
    """The vectors that a model has for terms, before the policy for unknown terms is applied.

    Attributes
    ----------
    vectors, known, composed, untuned, words
        As in `TermVectors`. The vectors can be overwritten.
    n_means : int
        How many terms were found word by word.
    n_truncated : int
        How many terms the model read only the beginning of.
    """

    vectors: Vectors
    known: Bools
    composed: Bools
    untuned: Bools
    words: list[str | None] | None
    n_means: int
    n_truncated: int


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
    >>> from semmetrics.embed.words import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(3), ["traffic_light", "red", "unknown"], lookup="words")
    >>> found = embed_terms(["Traffic light", "red cow", "cow"], model, oov="unknown")
    >>> found.words, found.known.tolist(), found.vectors[2].tolist()
    (['traffic_light', 'red', None], [True, True, False], [0.0, 0.0, 1.0])
    >>> found.counts["unknown"], found.counts["mean_of_words"]
    (1, 1)
    """
    check_rules(lookup, oov)
    rule = lookup_rule(embedder, lookup)
    if rule == "text":
        model_vectors = _read_terms(terms, embedder)
    else:
        model_vectors = _look_up(terms, cast(WordEmbedder, embedder), rule)
    counts = _count_terms(model_vectors)
    _apply_policy(model_vectors, terms, embedder, oov)
    included = np.ones(len(terms), np.bool_)
    if oov == "skip":
        included = model_vectors.known.copy()
    return TermVectors(
        vectors=model_vectors.vectors,
        known=model_vectors.known,
        composed=model_vectors.composed,
        untuned=model_vectors.untuned,
        included=included,
        counts=counts,
        words=model_vectors.words,
        lookup=rule,
        oov=oov,
    )


def _count_terms(model_vectors: _ModelVectors) -> dict[str, int]:
    """Return the counts of `TermVectors`."""
    is_zero = ~model_vectors.vectors.any(axis=1)
    return {
        "terms": len(model_vectors.known),
        "unknown": int((~model_vectors.known).sum()),
        "composed": int(model_vectors.composed.sum()),
        "untuned": int(model_vectors.untuned.sum()),
        "mean_of_words": model_vectors.n_means,
        "zero_vectors": int((model_vectors.known & is_zero).sum()),
        "truncated": model_vectors.n_truncated,
    }


def _apply_policy(
    model_vectors: _ModelVectors, terms: Sequence[str], embedder: Embedder, oov: str
) -> None:
    """Overwrite the vectors of unknown terms, or raise, as the policy says."""
    is_unknown = ~model_vectors.known
    if not is_unknown.any():
        return
    rows = np.flatnonzero(is_unknown).tolist()
    names = list(dict.fromkeys(terms[row] for row in rows))
    if oov == "error":
        raise InputError("unknown-terms", identity=embedder.identity, names=names)
    model_vectors.vectors[is_unknown] = 0
    if oov == "unknown":
        unknown = embedder.embed([_UNKNOWN])
        if not unknown.known[0]:
            raise InputError("no-unknown-word", identity=embedder.identity, names=names)
        model_vectors.vectors[is_unknown] = unknown.vectors[0]


# ---- models that read text --------------------------------------------------------------


def _read_terms(terms: Sequence[str], embedder: Embedder) -> _ModelVectors:
    """Embed terms with a model that reads text."""
    texts = [term.replace("_", " ") for term in terms]
    embedded = as_embedded(embed_unique(embedder, texts))
    composed = embedded.composed
    if composed is None:
        composed = np.zeros(len(terms), np.bool_)
    untuned = np.zeros(len(terms), np.bool_)
    if embedded.tuned is not None:
        is_tuned = np.asarray(embedded.tuned, np.bool_)
        untuned = embedded.known & ~is_tuned & ~composed
    return _ModelVectors(
        vectors=np.array(embedded.vectors, np.float32),
        known=embedded.known,
        composed=composed,
        untuned=untuned,
        words=None,
        n_means=0,
        n_truncated=embedded.truncated,
    )


# ---- models that look up words ----------------------------------------------------------


class WordEmbedder(Embedder, Protocol):
    """A model that looks up words. It may also have a method ``compose``, as `WordVectors` has."""

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, or -1."""
        ...

    def rows(self, numbers: Ints) -> Vectors:
        """Return the vectors of rows."""
        ...


class _TermWords(NamedTuple):
    """The words in the vocabulary that were found for terms.

    Attributes
    ----------
    words_of : dict of term to list of str
        The words whose mean vector the term has. Empty if it has none.
    parts_of : dict of term to list of str
        The words of each term that was not found as a whole, and was looked up word by word.
    rows : dict of word to int
        The row of each word in ``words_of``.
    """

    words_of: dict[str, list[str]]
    parts_of: dict[str, list[str]]
    rows: dict[str, int]


def _look_up(terms: Sequence[str], embedder: WordEmbedder, rule: str) -> _ModelVectors:
    """Look terms up in word vectors."""
    term_words = _find_whole_terms(terms, embedder, rule)
    if rule == "words":
        term_words = _find_words_of_terms(term_words, embedder)
    word_lists = [term_words.words_of[term] for term in terms]
    vectors = _mean_vectors(embedder, term_words.rows, word_lists)
    words = [_join_words(word_list) for word_list in word_lists]
    n_means = _count_means(terms, word_lists, term_words)
    composed = np.zeros(len(terms), np.bool_)
    for place, term in enumerate(terms):
        if words[place] is not None:
            continue
        parts = term_words.parts_of.get(term, [])
        vector = _compose(parts, embedder)
        if vector is not None:
            vectors[place] = vector
            words[place] = _join_composed(parts)
            composed[place] = True
    return _ModelVectors(
        vectors=vectors,
        known=np.array([word is not None for word in words], np.bool_),
        composed=composed,
        untuned=np.zeros(len(terms), np.bool_),
        words=words,
        n_means=n_means,
        n_truncated=0,
    )


def _count_means(
    terms: Sequence[str], word_lists: Sequence[Sequence[str]], term_words: _TermWords
) -> int:
    """Return how many terms have the mean vector of several words."""
    n_means = 0
    for term, word_list in zip(terms, word_lists, strict=True):
        if word_list and term in term_words.parts_of:
            n_means += 1
    return n_means


def _find_whole_terms(
    terms: Sequence[str], embedder: WordEmbedder, rule: str
) -> _TermWords:
    """Find the first candidate of each term in the vocabulary."""
    candidates_of = {term: _candidates(term, rule) for term in dict.fromkeys(terms)}
    rows = _find_rows(embedder, candidates_of.values())
    words_of = {}
    for term, candidates in candidates_of.items():
        words = _known_words([candidates], rows)
        if rule == "kubany2020" and words == [_UNKNOWN]:
            words = []
        words_of[term] = words
    return _TermWords(words_of, {}, rows)


def _find_words_of_terms(term_words: _TermWords, embedder: WordEmbedder) -> _TermWords:
    """Find the single words of the terms that were not found as a whole."""
    parts_of = {}
    spellings_of = {}
    for term, words in term_words.words_of.items():
        if not words:
            parts_of[term] = _WORD.findall(term)
            spellings_of[term] = [_spellings(part) for part in parts_of[term]]
    spellings = chain.from_iterable(spellings_of.values())
    rows = term_words.rows | _find_rows(embedder, spellings)
    words_of = dict(term_words.words_of)
    for term, spellings_of_words in spellings_of.items():
        words_of[term] = _known_words(spellings_of_words, rows)
    return _TermWords(words_of, parts_of, rows)


def _join_words(words: Sequence[str]) -> str | None:
    """Return words joined as in `TermVectors`, or None if there are none."""
    return " + ".join(words) or None


def _join_composed(words: Sequence[str]) -> str:
    """Return composed words joined as in `TermVectors`, each marked with an asterisk."""
    return " + ".join(f"{word}*" for word in words)


def _compose(words: Sequence[str], embedder: WordEmbedder) -> Floats | None:
    """Return the mean vector of the words that a model can compose, or None if there are none."""
    compose = getattr(embedder, "compose", None)
    if compose is None or not words:
        return None
    vectors, has_vector = compose(words)
    if not has_vector.any():
        return None
    mean: Floats = vectors[has_vector].mean(axis=0, dtype=np.float64)
    return mean


def _spellings(word: str) -> tuple[str, ...]:
    """Return a word as it is, in lower case and in title case."""
    return tuple(dict.fromkeys([word, word.lower(), word.title()]))


def _find_rows(
    embedder: WordEmbedder, candidates: Iterable[Iterable[str]]
) -> dict[str, int]:
    """Return the rows of all candidates that are in the vocabulary."""
    distinct = list(dict.fromkeys(chain.from_iterable(candidates)))
    rows = embedder.find(distinct).tolist()
    return {word: row for word, row in zip(distinct, rows, strict=True) if row >= 0}


def _known_words(
    candidate_lists: Iterable[Iterable[str]], rows: Mapping[str, int]
) -> list[str]:
    """Return the first candidate in the vocabulary from each list that has one."""
    words = []
    for candidates in candidate_lists:
        for candidate in candidates:
            if candidate in rows:
                words.append(candidate)
                break
    return words


def _mean_vectors(
    embedder: WordEmbedder, row_of_word: Mapping[str, int], lists: Sequence[list[str]]
) -> Vectors:
    """Return the mean vector of each list of words, or zeros for an empty list."""
    indptr = offsets(np.fromiter(map(len, lists), np.int64, len(lists)))
    n_words = lengths(indptr)
    rows = [row_of_word[word] for word in chain.from_iterable(lists)]
    vectors_of_words = embedder.rows(np.array(rows, np.int64))
    vectors = np.zeros((len(lists), embedder.dimension), np.float32)
    is_single = n_words == 1
    vectors[is_single] = vectors_of_words[indptr[:-1][is_single]]
    has_several = n_words > 1
    if has_several.any():
        sums = np.zeros(vectors.shape, np.float64)
        np.add.at(sums, row_numbers(indptr), vectors_of_words.astype(np.float64))
        vectors[has_several] = sums[has_several] / n_words[has_several, None]
    return vectors
