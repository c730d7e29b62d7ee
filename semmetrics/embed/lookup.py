"""From label terms to vectors: how a term is looked up, and what stands for unknown ones.

Conventions
-----------
Rules of lookup; of the candidates that a rule tries, the first in the vocabulary is used:

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
whose cosine with every vector is 0, and which is similar to nothing; ``error``. Without a policy
each measure has its own default, which is ``zero``, and ``skip`` for distances (WMD and RWMD): a
vector of zeros is a point like any other, and would be near to something. What was unknown is
counted under every policy, and so is what is *composed*: a term that is known because the model put
together the pieces of a word that it does not list.

References
----------
Kubany et al., 2020, Expert Systems with Applications, footnote 9, and table 1 (unknown labels).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.arguments import check_choice
from semmetrics.core.backend import to_device
from semmetrics.core.cosine_thresholds import ThresholdTest
from semmetrics.core.ragged import (
    Bools,
    Ints,
    offsets,
    order_rows,
    positions,
    row_numbers,
)
from semmetrics.core.similarity import unit_rows
from semmetrics.data.lists import Lists, Side, Terms
from semmetrics.embed.embedder import (
    Embedder,
    Vectors,
    check_finite,
    embed_unique,
    looks_up_words,
)
from semmetrics.errors import InputError

#: The 179 entries of the English stop word list of NLTK (corpora/stopwords, the version that was
#: current in 2020). The list is part of the protocol kubany2020: what data NLTK has is no matter.
_LISTED = Path(__file__).with_name("data") / "stop_words.txt"
STOP_WORDS = frozenset(_LISTED.read_text("utf-8").split())
#: The words that kubany2020 drops before it looks a label up; its code keeps "can" and "all".
_FUNCTION_WORDS = STOP_WORDS - {"can", "all"}

_REMOVED = str.maketrans("", "", "-%#@!?.,/\\\"'[]()")
_LETTERS = "a b c d e f g h i j k l m n o p q r s t u v w x y z empty"
# What NLTK's word tokenisation splits among words without punctuation.
_SPLIT = {
    "cannot": ("can", "not"),
    "gimme": ("gim", "me"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "lemme": ("lem", "me"),
    "wanna": ("wan", "na"),
}
_WORD = re.compile(r"[^\W_]+")


def _candidates(term: str, rule: str) -> tuple[str, ...]:
    """Return the words that a rule tries for a term, in order; () passes it over.

    ``exact``: as it is, with underscores as blanks, with blanks as underscores; then all in lower
    case. ``words``: blanks as underscores and as written; both in lower case, both in title case.
    ``kubany2020``: without the characters and function words that the paper's code drops, the term,
    the term without every ``a_``, the term without every ``the_``; each as it is, without
    underscores, and in title case.

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
        forms = [term, term.replace("_", " "), term.replace(" ", "_")]
        return tuple(dict.fromkeys([*forms, *map(str.lower, forms)]))
    if rule == "words":
        forms = ["_".join(term.split()), term]
        return tuple(
            dict.fromkeys([*forms, *map(str.lower, forms), *map(str.title, forms)])
        )
    cleaned = " ".join(
        part
        for token in term.translate(_REMOVED).split()
        for part in _SPLIT.get(token.lower(), (token,))
        if part not in _FUNCTION_WORDS
    )
    if not cleaned or cleaned in _LETTERS:
        return ()
    forms = [cleaned, cleaned.replace("a_", ""), cleaned.replace("the_", "")]
    return tuple(
        tried for form in forms for tried in (form, form.replace("_", ""), form.title())
    )


OOV = ("unknown", "skip", "zero", "error")
_UNKNOWN = "unknown"
LOOKUPS = ("auto", "kubany2020", "words", "exact", "text")


@dataclass(frozen=True, eq=False, repr=False)
class TermVectors:
    """Vectors of terms.

    Attributes
    ----------
    vectors : float32 array, shape (terms, dimension)
        As the model has them, not normalised; for unknown terms what the policy says.
    known : bool array, shape (terms,)
    composed : bool array, shape (terms,)
        Known terms with a word that was put together from its pieces.
    untuned : bool array, shape (terms,)
        Other known terms that are outside the vocabulary that the model was tuned on. False if it
        was not tuned.
    included : bool array, shape (terms,)
        Terms that take part: all but the unknown ones under ``skip``.
    counts : dict
        ``terms``; ``unknown``; ``composed``; ``untuned``; ``mean_of_words``, found word by word;
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
    untuned: Bools
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
    truncated, means = 0, 0
    words: list[str | None] | None = None
    if rule == "text":
        read = embed_unique(embedder, [term.replace("_", " ") for term in terms])
        vectors, known, truncated = (
            np.array(read.vectors, np.float32),
            read.known,
            read.truncated,
        )
        pieces = getattr(read, "composed", None)
        composed = np.zeros(len(terms), np.bool_) if pieces is None else pieces
        tuned = getattr(read, "tuned", None)
        untuned = np.zeros(len(terms), np.bool_)
        if tuned is not None:
            untuned = known & ~np.asarray(tuned, np.bool_) & ~composed
    else:
        untuned = np.zeros(len(terms), np.bool_)
        vectors, words, composed, means = _look_up(terms, embedder, rule)
        known = np.array([word is not None for word in words], np.bool_)
    counts = {
        "terms": len(terms),
        "unknown": int((~known).sum()),
        "composed": int(composed.sum()),
        "untuned": int(untuned.sum()),
        "mean_of_words": means,
        "zero_vectors": int((known & ~vectors.any(axis=1)).sum()),
        "truncated": truncated,
    }
    if not known.all():
        names = list(
            dict.fromkeys(terms[number] for number in np.flatnonzero(~known).tolist())
        )
        if oov == "error":
            raise InputError("unknown-terms", identity=embedder.identity, names=names)
        vectors[~known] = 0
        if oov == "unknown":
            read = embedder.embed([_UNKNOWN])
            if not read.known[0]:
                raise InputError(
                    "no-unknown-word", identity=embedder.identity, names=names
                )
            vectors[~known] = read.vectors[0]
    included = known.copy() if oov == "skip" else np.ones(len(terms), np.bool_)
    return TermVectors(
        vectors, known, composed, untuned, included, counts, words, rule, oov
    )


def check_rules(lookup: str, oov: str | None) -> None:
    """Refuse rules and policies that do not exist.

    Raises
    ------
    InputError
        If so.
    """
    check_choice("lookup", lookup, LOOKUPS)
    if oov is not None:
        check_choice("oov", oov, OOV)


def lookup_rule(embedder: Embedder, lookup: str = "auto") -> str:
    """Return the rule that is meant: the model's own for "auto".

    Raises
    ------
    InputError
        If the rule needs word vectors and the model has none.
    """
    rule = str(getattr(embedder, "lookup", "text")) if lookup == "auto" else lookup
    if rule != "text" and not looks_up_words(embedder):
        raise InputError("reads-text", rule=rule, identity=embedder.identity)
    return rule


def rules_for(
    embedder: Embedder, lookup: str, oov: str | None, default: str = "zero"
) -> dict[str, str]:
    """Return the rule and the policy that apply to a model.

    The rule ``kubany2020`` and its policy ``unknown`` are for words. A model that reads texts has
    its own rule, and ``zero``.

    Parameters
    ----------
    embedder : Embedder
    lookup : str
    oov : str or None
        The policy that the user or a protocol chose.
    default : str
        The policy of a measure, if none was chosen.
    """
    if lookup == "kubany2020" and lookup_rule(embedder) == "text":
        lookup = "auto"
        oov = "zero" if oov == "unknown" else oov
    return {"lookup": lookup, "oov": default if oov is None else oov}


def _look_up(
    terms: Sequence[str], embedder: Any, rule: str
) -> tuple[Vectors, list[str | None], Bools, int]:
    """Return vectors of terms, the words that stand for them, which are composed, and means."""
    tried = {term: _candidates(term, rule) for term in dict.fromkeys(terms)}
    rows = _find_rows(embedder, tried.values())
    found = {term: _first_known([forms], rows) for term, forms in tried.items()}
    if rule == "kubany2020":
        found = {
            term: () if words == (_UNKNOWN,) else words for term, words in found.items()
        }
    parts: dict[str, list[tuple[str, ...]]] = {}
    if rule == "words":
        parts = {
            term: [
                tuple(dict.fromkeys((w, w.lower(), w.title())))
                for w in _WORD.findall(term)
            ]
            for term, words in found.items()
            if not words
        }
        rows |= _find_rows(embedder, chain.from_iterable(parts.values()))
        found |= {term: _first_known(several, rows) for term, several in parts.items()}
    lists = [found[term] for term in terms]
    vectors = _mean_vectors(embedder, rows, lists)
    words = [" + ".join(some) or None for some in lists]
    means = sum(term in parts and bool(found[term]) for term in terms)
    composed = np.zeros(len(terms), np.bool_)
    if rule == "words" and getattr(embedder, "compose", None) is not None:
        for number, term in enumerate(terms):  # those none of whose words is listed
            written = [forms[0] for forms in parts.get(term, ())]
            if words[number] is None and written:
                made, has_vector = embedder.compose(written)
                if has_vector.any():
                    vectors[number] = made[has_vector].mean(axis=0, dtype=np.float64)
                    words[number] = " + ".join(f"{part}*" for part in written)
                    composed[number] = True
    return vectors, words, composed, means


def _first_known(
    several: Iterable[tuple[str, ...]], rows: Mapping[str, int]
) -> tuple[str, ...]:
    """Return the first known word of each tuple of candidates that has one."""
    return tuple(
        word for forms in several for word in [f for f in forms if f in rows][:1]
    )


def _find_rows(embedder: Any, candidates: Iterable[Iterable[str]]) -> dict[str, int]:
    """Return the rows of those candidates that are known."""
    distinct = list(dict.fromkeys(word for words in candidates for word in words))
    rows = embedder.find(distinct).tolist()
    return {word: row for word, row in zip(distinct, rows, strict=True) if row >= 0}


def _mean_vectors(
    embedder: Any, known: dict[str, int], lists: list[tuple[str, ...]]
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


def _signature(model: LabelVectors | TextModel) -> str:
    """Return what signatures say of a model."""
    return f"{model.embedder.identity}|lookup:{model.lookup}|oov:{model.oov}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
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
        Where measures compute; numpy on the processor if None.
    """

    embedder: Embedder
    terms: tuple[str, ...]
    indptr: Ints
    rows: Ints
    device: Any = None

    __str__ = _signature

    @cached_property
    def matrix(self) -> Any:
        """Return the vectors where measures compute: as numpy's, or as torch's on the device."""
        return to_device(self.vectors, self.device)

    @cached_property
    def units(self) -> Any:
        """Return vectors of length 1, in the same place; zeros stay zeros."""
        return unit_rows(self.matrix)

    @cached_property
    def zero(self) -> Bools:
        """Return which terms have a vector of zeros, which is similar to nothing."""
        zero: Bools = np.all(self.vectors == 0, axis=1)
        return zero

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

    def skip_unknown(self) -> LabelVectors:
        """Return the same vectors under the policy ``skip``, without looking anything up."""
        return replace(self, included=self.known, oov="skip")

    @property
    def terms_of_labels(self) -> list[list[str]]:
        """Return the terms of each label, as the embedding is asked for them."""
        return [
            [self.terms[row] for row in self.rows[a:b]]
            for a, b in zip(self.indptr[:-1], self.indptr[1:], strict=True)
        ]

    def rows_of_label(self, code: int) -> list[int]:
        """Return the terms of a label, as rows."""
        rows: list[int] = self.rows[self.indptr[code] : self.indptr[code + 1]].tolist()
        return rows

    @property
    def has_synonyms(self) -> bool:
        """Whether a label has several terms."""
        return len(self.rows) > len(self.indptr) - 1

    @property
    def threshold(self) -> float:
        """The cosine above which labels mean the same: the model's own, else 0.4 (word2vec's)."""
        return float(getattr(self.embedder, "threshold", 0.4))


@dataclass(frozen=True, eq=False, repr=False)
class TextModel:
    """An embedding with its rules of lookup, for texts that come later.

    Attributes
    ----------
    embedder : Embedder
    lookup, oov : str
        The rule (never "auto") and the policy.
    device : torch.device, optional
        Where measures compute.

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
    device: Any = None

    __str__ = _signature

    def vectors(self, texts: Sequence[str]) -> LabelVectors:
        """Return the vectors of texts, one a label."""
        rules: Any = {"lookup": self.lookup, "oov": self.oov, "device": self.device}
        return label_vectors([(text,) for text in texts], self.embedder, **rules)


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
    untuned : int
        Other known labels none of whose terms is in the vocabulary that the model was tuned on.
    untuned_names : tuple of str
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
    untuned: int = 0
    untuned_names: tuple[str, ...] = ()

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
        shares = (self.share, self.synonyms) if self.labels else (None, None)
        return {**asdict(self), "share": shares[0], "synonyms": shares[1]}


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
    >>> from semmetrics.embed.words import MatrixEmbedder
    >>> model = MatrixEmbedder(np.eye(2), ["cat", "dog"])
    >>> labels = as_labels({"a": ["cat", ["hound", "dog"]], "b": ["cow"], "c": []})
    >>> measure_coverage({"vet": labels}, model)
    [Coverage(system='vet', images=2, labels=3, terms=4, unknown=1, names=('cow',), composed=0,
    composed_names=(), untuned=0, untuned_names=())]
    """
    if top_k is not None and top_k < 1:
        raise InputError("bad-option", name="top_k", value=top_k, wanted="at least 1")
    return [
        _count(name, labels, embedder, lookup, top_k)
        for name, labels in systems.items()
    ]


def _count(
    name: str, labels: Lists, model: Embedder, lookup: str, top_k: int | None
) -> Coverage:
    if labels.ranked and top_k is None:
        raise InputError(
            "needs-option", labels.source, what="a matrix of scores", name="top_k"
        )
    side = labels.side
    # the first labels of each item, by falling score if there are scores
    if top_k is not None:
        if side.scores is not None:
            order = order_rows(side.indptr, side.scores)
            side = Side(side.indptr, side.codes[order], side.scores[order])
        side = side.keep(positions(side.indptr) < top_k)
    vocabulary = labels.terms
    uses = np.bincount(side.codes, minlength=len(vocabulary))
    found = label_vectors(vocabulary, model, lookup=lookup, oov="skip")
    owner = row_numbers(found.indptr)
    known, whole, tuned = np.zeros((3, len(vocabulary)), np.bool_)
    known[owner[found.known[found.rows]]] = True
    whole[owner[(found.known & ~found.composed)[found.rows]]] = True
    tuned[owner[(found.known & ~found.composed & ~found.untuned)[found.rows]]] = True
    unknown, composed, untuned = (
        sorted(
            np.flatnonzero(chosen & (uses > 0)).tolist(),
            key=lambda code: -int(uses[code]),
        )
        for chosen in (~known, known & ~whole, whole & ~tuned)
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
        untuned=int(uses[untuned].sum()),
        untuned_names=tuple(", ".join(vocabulary[code]) for code in untuned),
    )
