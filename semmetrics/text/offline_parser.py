"""A parser of captions for SPICE that needs no Java: captions to raw tuples, with numpy.

Conventions
-----------
The parser imitates SPICE's own, `semmetrics.text.java`, from whose output it was
learned. Its tuples are not always the same, and a score from them is not SPICE's:
embeddings/parsing/README.md says how it is made, EVALUATION.md beside it how well it agrees.

A small network finds each word's part of speech and the grammatical relations between words;
rules make tuples of them. A caption's tuples depend on that caption alone. A sentence of
more than 100 tokens is parsed in pieces.

Tokens keep their case. They are those of the Penn Treebank as far as captions need them: signs are
tokens of their own, but for those within a word or number; "don't" is "do", "n't"; "dog's" is
"dog", "'s". Signs that are neither punctuation nor ASCII (emoji) are dropped. A sentence ends after
".", "!" or "?".

The grammar is that of Stanford's collapsed dependencies with conjunctions propagated: an edge is
(governor, dependent, relation) with places of tokens, a token may have several governors, and a
preposition is part of its relation (``nmod:on``, ``nmod:in_front_of``). Tags are the Penn
Treebank's. A raw tuple is ``[object]``, ``[object, attribute]`` or ``[subject, object, relation]``,
of lemmas in lower case.

The rules are our own, found by comparing such dependencies with the tuples that SPICE's program
made of them (embeddings/parsing/EVALUATION.md says how well they agree). Tuples come
in groups in the order of that program; within a group its order depends on hash codes, and is here
that of the governors.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from semmetrics.text.captions import check_captions
from semmetrics.text.network import Network
from semmetrics.text.raw_tuples import Parsed

Edge: TypeAlias = tuple[int, int, str]

_PLURAL = frozenset(["NNS", "NNPS"])
# What a noun may be joined to by a preposition, beside nouns, and what may be a subject.
_OTHER_OBJECTS = frozenset(["JJ", "CD", "WDT", "PRP", "DT"])
_OTHER_SUBJECTS = frozenset(["DT", "WDT"])
_SUBJECTS = frozenset(["nsubj", "nsubjpass", "acl"])

# The groups of tuples, in their order.
_ACTION, _CLAUSE, _STATE, _ADJECTIVE, _MODIFIER, _OWNER, _NUMBER, _COMPOUND = range(8)


def scene_graph_tuples(
    tags: Sequence[str], edges: Iterable[Edge], lemma: Callable[[int], str]
) -> Parsed:
    """Return the raw tuples of a sentence.

    Parameters
    ----------
    tags : sequence of str
        Part of speech of each token.
    edges : iterable of (governor, dependent, relation)
        Places of tokens from 0.
    lemma : callable
        Gives the lemma of the token at a place.

    Examples
    --------
    >>> words = ["two", "dogs", "chase", "a", "red", "ball"]
    >>> edges = [(1, 0, "nummod"), (2, 1, "nsubj"), (2, 5, "dobj"), (5, 4, "amod")]
    >>> tags = ["CD", "NNS", "VBP", "DT", "JJ", "NN"]
    >>> scene_graph_tuples(tags, edges, ["two", "dog", "chase", "a", "red", "ball"].__getitem__)
    [['dog', 'ball', 'chase'], ['ball', 'red'], ['dog', 'two'], ['dog'], ['ball']]
    """
    sentence, nouns = (
        _Sentence(tags, sorted(edges), lemma),
        [tag.startswith("NN") for tag in tags],
    )
    joined: set[int] = set()  # parts of compounds, which are no objects of their own
    for governor, dependent, relation in sentence.edges:
        if relation in _SUBJECTS:
            verb, thing = (
                (dependent, governor) if relation == "acl" else (governor, dependent)
            )
            sentence.add_clause(verb, thing, relation)
        else:
            sentence.add_modifier(governor, dependent, relation)
            if relation == "compound" and nouns[governor] and nouns[dependent]:
                joined.update((governor, dependent))
    objects = [
        [lemma(place)]
        for place, noun in enumerate(nouns)
        if noun and place not in joined
    ]
    return [*chain.from_iterable(sentence.groups), *objects]


class _Sentence:
    """A sentence's edges by governor, and the tuples found so far."""

    def __init__(
        self, tags: Sequence[str], edges: list[Edge], lemma: Callable[[int], str]
    ) -> None:
        self.edges, self._tags, self._lemma = edges, tags, lemma
        self._nouns = [tag.startswith("NN") for tag in tags]
        self._below: dict[int, list[tuple[int, str]]] = {}
        for governor, dependent, relation in edges:
            self._below.setdefault(governor, []).append((dependent, relation))
        self.groups: list[Parsed] = [[] for _ in range(_COMPOUND + 1)]

    def _add(self, group: int, subject: int, other: int, *predicate: str) -> None:
        self.groups[group].append(
            [self._lemma(subject), self._lemma(other), *predicate]
        )

    def add_modifier(self, governor: int, dependent: int, relation: str) -> None:
        """Add what a word says of the noun that governs it."""
        tag, noun, is_noun = (
            self._tags[governor],
            self._nouns[governor],
            self._nouns[dependent],
        )
        if relation == "amod":
            if noun or tag.startswith("JJ"):
                self._add(_ADJECTIVE, governor, dependent)
        elif relation in ("nummod", "det:qmod"):
            if tag in _PLURAL:
                self._add(_NUMBER, governor, dependent)
        elif relation == "compound":
            if noun and is_noun:
                self._add(_COMPOUND, governor, dependent)
        elif noun and (is_noun or self._tags[dependent] in _OTHER_OBJECTS):
            preposition = relation.removeprefix("nmod:")
            if relation == "nmod:poss":
                self._add(_OWNER, dependent, governor, "have")
            elif preposition != relation:
                self._add(_MODIFIER, governor, dependent, preposition.replace("_", " "))

    def add_clause(self, verb: int, thing: int, relation: str) -> None:
        """Add what a verb, or an adjective or a noun in its place, says of its subject."""
        noun = self._nouns[thing]
        if not noun and self._tags[thing] not in _OTHER_SUBJECTS:
            return
        added = noun and self._add_objects(verb, thing, relation)
        if any(name == "cop" for _, name in self._below.get(verb, [])):
            added = (
                self._add_state(verb, thing) and self._tags[verb][0] != "J"
            ) or added
        if not added and relation == "nsubj" and self._lemma(verb) != "be":
            first = self._tags[verb][0]
            if first == "J" or (noun and first in "VMNI"):
                self._add(_STATE, thing, verb)

    def _add_objects(self, verb: int, thing: int, relation: str) -> bool:
        """Add a verb with its objects; return whether it has any."""
        below, found = self._below.get(verb, []), False
        particles = [place for place, name in below if name == "compound:prt"]
        words = " ".join(map(self._lemma, (verb, *particles)))  # "pick up"
        for other, name in below:
            if not self._nouns[other]:
                continue
            subject, noun, predicate = thing, other, words
            if name == "nmod:agent":
                if relation != "acl":
                    subject, noun = other, thing
            elif relation == "nsubjpass" or name in ("nmod:poss", "nmod:npmod"):
                continue
            elif name.startswith("nmod:") and self._tags[verb][0] in "VM":
                predicate += f" {name.removeprefix('nmod:').replace('_', ' ')}"
            elif name not in ("dobj", "iobj"):
                continue
            self._add(
                _CLAUSE if relation == "acl" else _ACTION, subject, noun, predicate
            )
            found = True
        return found

    def _add_state(self, state: int, thing: int) -> bool:
        """Add a place ("is on the table") or a quality ("is red"); return whether there is one."""
        below, noun = self._below, self._nouns[thing]
        cases = [
            place
            for place, name in below.get(state, [])
            if name == "case" and place < state
        ]
        if cases and noun:
            words = list[int]()
            for case in cases:
                words += case, *(p for p, name in below.get(case, []) if name == "mwe")
            self._add(_STATE, thing, state, " ".join(map(self._lemma, words)))
        elif not cases and (noun or self._tags[state][0] == "J"):
            self._add(_STATE, thing, state)
        else:
            return False
        return True


DATA = Path(__file__).with_name("data") / "offline-parser.npz"

_CAPTIONS = 2048  # read ahead
_TOKENS = 800  # computed together
_LONGEST = 100  # tokens parsed together
_CACHED = 50_000  # words kept with their vectors
_REVISION = b"2"  # of network and rules: changes when captions may get other tuples
_LOOSE = "nmod:?"  # a relation by a preposition that is read from the sentence


BUCKETS = 4096
"""Of hashed affixes; 0 is that of a word that is too short for one."""
SHAPES = 8

_CACHED_WORDS = 200_000  # kept with their tokens
_LONGEST_WORD = 40  # letters of a word that is kept, and of a token

_TITLES = "Mr|Mrs|Ms|Dr|St|Jr|Sr|Mt|Prof|Gen|Col|Capt|Lt|Sgt|Rev|Ave|Blvd|Inc|Co|Corp|Ltd|vs|etc|No"
_APOSTROPHE = "['’]"
_LETTER = r"[^\W\d_]"
_TOKEN = re.compile(
    "|".join(
        [
            rf"can(?=not\b)|{_LETTER}+?(?=n{_APOSTROPHE}t\b)|n{_APOSTROPHE}t\b",
            rf"{_APOSTROPHE}(?:s|re|ve|ll|d|m)\b",
            rf"\d+(?:[.,:/]\d+)+|(?:{_LETTER}\.){{2,}}|(?:{_TITLES})\.|\b{_LETTER}\.(?!\w)",
            rf"{_LETTER}+(?:\.{_LETTER}+)+",
            r"[oO]'clock\b|\w+(?:-\w+)+|\w+(?:&\w+)+|\w+/\w+(?:/\w+)*|\w+",
            r"\.{2,}|-{2,}|``|''|\S",
        ]
    ),
    re.IGNORECASE,
)
_SIMPLE = re.compile(r"[A-Za-z]+")
_BRACKETS = {
    "(": "-LRB-",
    ")": "-RRB-",
    "[": "-LSB-",
    "]": "-RSB-",
    "{": "-LCB-",
    "}": "-RCB-",
}
# brackets of text that is in tokens already
_ROUND = re.compile(r"-[lr][rsc]b-", re.IGNORECASE)
_ENDS = frozenset(".!?")
_CLOSING = frozenset(["''", "'", "-RRB-", "-rrb-"])
_DIGIT = re.compile(r"\d")


def cut_sentences(caption: str) -> list[list[str]]:
    """Return the tokens of each sentence of a caption; no sentence is empty.

    Examples
    --------
    >>> cut_sentences("A dog's ball (red). It isn't new!")
    [['A', 'dog', "'s", 'ball', '-LRB-', 'red', '-RRB-', '.'], ['It', 'is', "n't", 'new', '!']]
    """
    tokens: list[str] = []
    for word in caption.split():
        tokens.extend(
            _cut(word) if len(word) <= _LONGEST_WORD else _cut.__wrapped__(word)
        )
    if _ENDS.isdisjoint(tokens[:-1]):
        return [tokens] if tokens else []
    sentences: list[list[str]] = [[]]
    ended = False
    for token in tokens:
        if ended and token not in _CLOSING:
            sentences.append([])
            ended = False
        sentences[-1].append(token)
        ended = ended or token in _ENDS
    return sentences


@lru_cache(_CACHED_WORDS)
def _cut(word: str) -> tuple[str, ...]:
    """Return the tokens of a word."""
    if _ROUND.fullmatch(word) or (_SIMPLE.fullmatch(word) and word.lower() != "cannot"):
        return (word[:_LONGEST_WORD],)
    found = []
    for match in _TOKEN.finditer(word):
        token = match[0][:_LONGEST_WORD]
        if token in ('"', "“", "”"):
            token = "``" if match.start() == 0 and match.end() < len(word) else "''"
        elif len(token) == 1 and not token.isalnum():
            punctuation = unicodedata.category(token).startswith("P")
            if not (token.isprintable() if token.isascii() else punctuation):
                continue
        found.append(_BRACKETS.get(token, token.replace("’", "'")))
    return tuple(found)


def word_form(token: str) -> str:
    """Return what a token is looked up as: lower case, every digit a 0.

    Examples
    --------
    >>> word_form("B-52s")
    'b-00s'
    """
    return _DIGIT.sub("0", token.lower())


def affixes(token: str) -> list[int]:
    """Return the buckets of a token's last one to four and first two and three letters."""
    form = word_form(token)
    ends = [
        f"{size}{form[-size:]}" if len(form) >= size else "" for size in (1, 2, 3, 4)
    ]
    starts = [f"-{size}{form[:size]}" if len(form) > size else "" for size in (2, 3)]
    return [
        1 + crc32(part.encode()) % (BUCKETS - 1) if part else 0
        for part in ends + starts
    ]


def shape(token: str) -> int:
    """Return a number below `SHAPES` for what a token looks like.

    Examples
    --------
    >>> [shape(token) for token in ("dog", "12", ",", "3rd", "t-shirt", "Dog", "DOG", "iPod")]
    [0, 1, 2, 3, 4, 5, 6, 7]
    """
    if token.isalpha():
        return _case(token)
    if token.isdigit():
        return 1
    if not any(map(str.isalnum, token)):
        return 2
    if any(map(str.isdigit, token)):
        return 3
    return 4 if "-" in token[1:-1] else _case(token)


def _case(token: str) -> int:
    if token.islower():
        return 0
    if token[:1].isupper() and (len(token) == 1 or token[1:].islower()):
        return 5
    return 6 if token.isupper() else 7


_VOWELS = frozenset("aeiouy")


class Lemmas:
    """Dictionary forms of words.

    Parameters
    ----------
    exceptions : mapping from str to str
        ``"N wolves"``, a class of tags and a word, to its lemma where the rules give another.

    Examples
    --------
    >>> lemmas = Lemmas({"N wolves": "wolf"})
    >>> for word, tag in [("Wolves", "NNS"), ("dishes", "NNS"), ("riding", "VBG"), ("red", "JJ")]:
    ...     print(lemmas.of(word, tag))
    wolf
    dish
    ride
    red
    """

    def __init__(self, exceptions: Mapping[str, str]) -> None:
        self._exceptions = exceptions

    @staticmethod
    def key(word: str, tag: str) -> str:
        """Return the key of a word in lower case among the exceptions."""
        return f"{_word_class(tag)} {word}"

    def of(self, word: str, tag: str) -> str:
        """Return the lemma of a word with a tag, in lower case."""
        word = word.lower()
        found = self._exceptions.get(self.key(word, tag))
        return self.by_rule(word, tag) if found is None else found

    @staticmethod
    def by_rule(word: str, tag: str) -> str:
        """Return what the rules alone give for a word in lower case."""
        kind = _word_class(tag)
        if kind == "V":
            for ending in ("ing", "ed"):
                if word.endswith(ending) and not _VOWELS.isdisjoint(
                    word[: -len(ending)]
                ):
                    return _restore(word[: -len(ending)])
        if kind not in ("V", "N") or len(word) < 3 or not word.endswith("s"):
            return word
        if word.endswith(("ss", "us")):
            return word
        if word.endswith("ies"):
            return word[:-3] + "y" if len(word) > 4 else word[:-1]
        return word[
            : -2
            if word.endswith(("ches", "shes", "xes", "sses", "zzes", "oes"))
            else -1
        ]


@lru_cache(_CACHED)
def _lemma(lemmas: Lemmas, word: str, tag: str) -> str:
    return lemmas.of(word, tag)


def _word_class(tag: str) -> str:
    """Return V for verbs, N for plural nouns, and the first letter in lower case for others."""
    return "V" if tag[0] == "V" else "N" if tag == "NNS" else tag[0].lower()


def _restore(stem: str) -> str:
    """Restore a verb whose -ing or -ed is cut off: "rid" to "ride", "runn" to "run"."""
    if stem.endswith("i"):
        return stem[:-1] + "y"
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "aeiouylsz":
        return stem[:-1]
    vowels = [letter in _VOWELS for letter in stem[-3:]]
    if stem.endswith(("at", "iz", "bl", "v", "c", "u", "dg", "rg", "s")):
        return stem if stem.endswith("ss") or vowels[:2] == [True, True] else stem + "e"
    short = len(stem) == 3 and vowels == [False, True, False] and stem[2] not in "wx"
    return stem + "e" if short else stem


class OfflineParser:
    """The parser that ships with the package.

    Parameters
    ----------
    data : path, optional
        A file of other weights.

    Attributes
    ----------
    identity : str
        "offline@" and the first letters of a SHA-256 of its weights and of the revision of what is
        computed with them.

    Examples
    --------
    >>> next(OfflineParser().parse(["A small dog sits on a red sofa."]))
    [['dog', 'sofa', 'sit on'], ['dog', 'small'], ['sofa', 'red'], ['dog'], ['sofa']]
    """

    def __init__(self, data: Path = DATA) -> None:
        self.identity, self._network, self._lemmas = _load(data)
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed]:
        """Parse captions, each on its own.

        Parameters
        ----------
        captions : sequence of str

        Yields
        ------
        list of raw tuples
            For each caption in order; none for an empty caption.

        Raises
        ------
        InputError
            If a caption is not a string; names its index.
        """
        check_captions(captions)
        for first in range(0, len(captions), _CAPTIONS):
            block = captions[first : first + _CAPTIONS]
            pieces = [
                (owner, sentence[start : start + _LONGEST])
                for owner, caption in enumerate(block)
                for sentence in cut_sentences(caption)
                for start in range(0, len(sentence), _LONGEST)
            ]
            by_length: dict[int, list[int]] = {}
            for place, (_, piece) in enumerate(pieces):
                by_length.setdefault(len(piece), []).append(place)
            found: dict[int, Parsed] = {}
            for length, places in by_length.items():
                size = max(1, _TOKENS // length)
                for start in range(0, len(places), size):
                    some = places[start : start + size]
                    parsed = self._parse_pieces([pieces[place][1] for place in some])
                    found.update(zip(some, parsed, strict=True))
            result: list[Parsed] = [[] for _ in block]
            for place, (owner, _) in enumerate(pieces):
                result[owner].extend(found[place])
            yield from result

    def _parse_pieces(self, pieces: Sequence[Sequence[str]]) -> Iterator[Parsed]:
        """Parse pieces of one length."""
        found = self._network(self._vectors_of(pieces))
        labels, names = self._network.labels, self._network.tags
        relations = [labels[code] for code in found.label.tolist()]
        ends = found.governor.tolist(), found.dependent.tolist()
        flat = list(zip(*ends, relations, strict=True))
        bounds = np.searchsorted(found.sentence, np.arange(len(pieces) + 1)).tolist()
        parts = zip(pieces, found.tags.tolist(), pairwise(bounds), strict=True)
        for tokens, codes, (start, stop) in parts:
            tags, edges = [names[code] for code in codes], flat[start:stop]
            lemmas = list(map(_lemma, repeat(self._lemmas), tokens, tags))
            # The sentence has the names of these relations.
            if any(relation == _LOOSE for *_, relation in edges):
                edges = [
                    (g, d, _name_relation(name, d, edges, tokens))
                    for g, d, name in edges
                ]
            yield scene_graph_tuples(tags, edges, lemmas.__getitem__)

    def _vectors_of(self, pieces: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return the vectors of the tokens of pieces of one length."""
        places = self._places
        new = {token for piece in pieces for token in piece if token not in places}
        if new:
            if len(places) + len(new) > _CACHED:
                places.clear()
                self._vectors = self._vectors[:0]
                new = {token for piece in pieces for token in piece}
            ordered = sorted(new)
            words, vector = self._network.words, self._network.vector
            rows = np.stack(
                [
                    vector(words.get(word_form(token), 0), affixes(token), shape(token))
                    for token in ordered
                ]
            )
            start = len(self._vectors)
            # Vectors first, then their places: what is interrupted between leaves no place wrong.
            self._vectors = np.concatenate(
                [self._vectors.reshape(-1, rows.shape[1]), rows]
            )
            places.update((token, start + k) for k, token in enumerate(ordered))
        return self._vectors[[[places[token] for token in piece] for piece in pieces]]


@cache
def _load(data: Path) -> tuple[str, Network, Lemmas]:
    """Read the weights once a process."""
    content = data.read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays: dict[str, Any] = dict(file)
    lemmas = Lemmas(json.loads(bytes(arrays.pop("lemmas"))))
    identity = hashlib.sha256(content + _REVISION).hexdigest()[:12]
    return f"offline@{identity}", Network(arrays), lemmas


def _name_relation(
    name: str, dependent: int, edges: list[Edge], tokens: Sequence[str]
) -> str:
    """Return a relation; a loose one by the preposition of its word, or of the first of several."""
    if name != _LOOSE:
        return name
    for _ in range(len(tokens)):
        cases = {d for g, d, relation in edges if g == dependent and relation == "case"}
        if cases:
            more = {d for g, d, relation in edges if g in cases and relation == "mwe"}
            return "nmod:" + "_".join(
                tokens[place].lower() for place in sorted(cases | more)
            )
        joined = [
            g
            for g, d, relation in edges
            if d == dependent and relation.startswith("conj")
        ]
        if not joined or joined[0] >= dependent:
            break
        dependent = joined[0]
    return "nmod:of"
