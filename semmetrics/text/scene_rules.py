"""From the grammar of a sentence to the raw tuples of its scene graph.

Conventions
-----------
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

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from semmetrics.text.tokenizers import Parsed

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
    return _Sentence(tags, edges, lemma).tuples()


class _Sentence:
    """A sentence's edges by governor, and the tuples found so far."""

    def __init__(
        self, tags: Sequence[str], edges: Iterable[Edge], lemma: Callable[[int], str]
    ) -> None:
        self._edges = sorted(edges)
        self._tags = tags
        self._nouns = [tag.startswith("NN") for tag in tags]
        self._lemma = lemma
        self._below: dict[int, list[tuple[int, str]]] = {}
        for governor, dependent, relation in self._edges:
            self._below.setdefault(governor, []).append((dependent, relation))
        self._groups: list[Parsed] = [[] for _ in range(_COMPOUND + 1)]

    def tuples(self) -> Parsed:
        joined: set[int] = set()  # parts of compounds, which are no objects of their own
        for governor, dependent, relation in self._edges:
            if relation in _SUBJECTS:
                verb, thing = (dependent, governor) if relation == "acl" else (governor, dependent)
                self._add_clause(verb, thing, relation)
            else:
                self._add_modifier(governor, dependent, relation)
                if relation == "compound" and self._nouns[governor] and self._nouns[dependent]:
                    joined.update((governor, dependent))
        objects = [
            [self._lemma(place)]
            for place, noun in enumerate(self._nouns)
            if noun and place not in joined
        ]
        return [one for group in self._groups for one in group] + objects

    def _add_modifier(self, governor: int, dependent: int, relation: str) -> None:
        """Add what a word says of the noun that governs it."""
        lemma, noun = self._lemma, self._nouns[governor]
        if relation == "amod":
            if noun or self._tags[governor].startswith("JJ"):
                self._groups[_ADJECTIVE].append([lemma(governor), lemma(dependent)])
        elif relation in ("nummod", "det:qmod"):
            if self._tags[governor] in _PLURAL:
                self._groups[_NUMBER].append([lemma(governor), lemma(dependent)])
        elif not noun:
            return
        elif relation == "compound":
            if self._nouns[dependent]:
                self._groups[_COMPOUND].append([lemma(governor), lemma(dependent)])
        elif relation.startswith("nmod:") and (
            self._nouns[dependent] or self._tags[dependent] in _OTHER_OBJECTS
        ):
            if relation == "nmod:poss":
                self._groups[_OWNER].append([lemma(dependent), lemma(governor), "have"])
            else:
                self._groups[_MODIFIER].append(
                    [lemma(governor), lemma(dependent), _preposition(relation)]
                )

    def _add_clause(self, verb: int, thing: int, relation: str) -> None:
        """Add what a verb, or an adjective or a noun in its place, says of its subject."""
        noun = self._nouns[thing]
        if not noun and self._tags[thing] not in _OTHER_SUBJECTS:
            return
        below = self._below.get(verb, [])
        added = noun and self._add_objects(verb, thing, relation)
        if any(name == "cop" for _, name in below):
            added = (self._add_state(verb, thing) and self._tags[verb][0] != "J") or added
        if not added and relation == "nsubj":
            tag = self._tags[verb]
            lemma = self._lemma(verb)
            if lemma != "be" and (tag[0] == "J" or (noun and tag[0] in "VMNI")):
                self._groups[_STATE].append([self._lemma(thing), lemma])

    def _add_objects(self, verb: int, thing: int, relation: str) -> bool:
        """Add a verb with its objects; return whether it has any."""
        lemma, passive = self._lemma, relation == "nsubjpass"
        group = self._groups[_CLAUSE if relation == "acl" else _ACTION]
        found = False
        for other, name in self._below.get(verb, []):
            if not self._nouns[other]:
                continue
            if name in ("dobj", "iobj") and not passive:
                group.append([lemma(thing), lemma(other), self._verb(verb)])
            elif name == "nmod:agent":
                doer, done = (thing, other) if relation == "acl" else (other, thing)
                group.append([lemma(doer), lemma(done), self._verb(verb)])
            elif (
                name.startswith("nmod:")
                and not passive
                and self._tags[verb][0] in "VM"
                and name not in ("nmod:poss", "nmod:npmod")
            ):
                predicate = f"{self._verb(verb)} {_preposition(name)}"
                group.append([lemma(thing), lemma(other), predicate])
            else:
                continue
            found = True
        return found

    def _add_state(self, state: int, thing: int) -> bool:
        """Add a place ("is on the table") or a quality ("is red"); return whether there is one."""
        lemma = self._lemma
        noun = self._nouns[thing]
        cases = [
            place for place, name in self._below.get(state, []) if name == "case" and place < state
        ]
        if cases:
            if noun:
                words = [
                    word
                    for case in cases
                    for word in (case, *(p for p, n in self._below.get(case, []) if n == "mwe"))
                ]
                predicate = " ".join(map(lemma, words))
                self._groups[_STATE].append([lemma(thing), lemma(state), predicate])
            return noun
        if noun or self._tags[state][0] == "J":
            self._groups[_STATE].append([lemma(thing), lemma(state)])
            return True
        return False

    def _verb(self, verb: int) -> str:
        """Return a verb's lemma with its particles: "pick up"."""
        particles = [p for p, name in self._below.get(verb, []) if name == "compound:prt"]
        return " ".join(map(self._lemma, (verb, *particles)))


def _preposition(relation: str) -> str:
    return relation[len("nmod:") :].replace("_", " ")
