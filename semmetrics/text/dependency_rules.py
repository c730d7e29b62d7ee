"""Rules from the grammar of a sentence to its raw tuples, as in SPICE's program.

Conventions
-----------
The grammar is Stanford's collapsed dependencies with propagated conjunctions. An edge
is (governor, dependent, relation), with positions of tokens. A token may have several
governors. A preposition is part of its relation (``nmod:on``, ``nmod:in_front_of``).
Tags are Penn Treebank tags. The words of a raw tuple are lemmas in lower case.

The rules were found by comparing such dependencies with the tuples that SPICE's program
made of them (embeddings/parsing/EVALUATION.md reports how well they agree). Tuples come
in groups, in the order of that program. Within a group its order depends on hash codes.
Here it is the order of the governors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import chain
from typing import TypeAlias

from semmetrics.text.raw_tuples import Parsed

Edge: TypeAlias = tuple[int, int, str]

_PLURAL_TAGS = frozenset(["NNS", "NNPS"])
# In addition to the tags of nouns.
_TAGS_AFTER_PREPOSITION = frozenset(["JJ", "CD", "WDT", "PRP", "DT"])
_SUBJECT_TAGS = frozenset(["DT", "WDT"])
_SUBJECT_RELATIONS = frozenset(["nsubj", "nsubjpass", "acl"])


class _Group(IntEnum):
    """The groups of tuples, in their order."""

    ACTION = 0
    CLAUSE = 1
    STATE = 2
    ADJECTIVE = 3
    MODIFIER = 4
    OWNER = 5
    NUMBER = 6
    COMPOUND = 7


def scene_graph_tuples(
    tags: Sequence[str], edges: Iterable[Edge], lemma: Callable[[int], str]
) -> Parsed:
    """Return the raw tuples of a sentence.

    Parameters
    ----------
    tags : sequence of str
        Part of speech of each token.
    edges : iterable of (governor, dependent, relation)
        Positions of tokens are from 0.
    lemma : callable
        Returns the lemma of the token at a position.

    Examples
    --------
    >>> words = ["two", "dogs", "chase", "a", "red", "ball"]
    >>> edges = [(1, 0, "nummod"), (2, 1, "nsubj"), (2, 5, "dobj"), (5, 4, "amod")]
    >>> tags = ["CD", "NNS", "VBP", "DT", "JJ", "NN"]
    >>> scene_graph_tuples(tags, edges, ["two", "dog", "chase", "a", "red", "ball"].__getitem__)
    [['dog', 'ball', 'chase'], ['ball', 'red'], ['dog', 'two'], ['dog'], ['ball']]
    """
    sorted_edges = sorted(edges)
    sentence = _Sentence(tags, sorted_edges, lemma)
    for governor, dependent, relation in sorted_edges:
        if relation == "acl":
            sentence.add_clause(dependent, governor, relation)
        elif relation in _SUBJECT_RELATIONS:
            sentence.add_clause(governor, dependent, relation)
        else:
            sentence.add_modifier(governor, dependent, relation)
    return [*sentence.tuples(), *sentence.objects()]


class _Sentence:
    """The grammar of a sentence, and its tuples so far."""

    def __init__(
        self,
        tags: Sequence[str],
        edges: Sequence[Edge],
        lemma: Callable[[int], str],
    ) -> None:
        self._tags = tags
        self._lemma = lemma
        self._is_noun = [tag.startswith("NN") for tag in tags]
        self._dependents: dict[int, list[tuple[int, str]]] = {}
        for governor, dependent, relation in edges:
            self._dependents.setdefault(governor, []).append((dependent, relation))
        self._groups: list[Parsed] = [[] for _ in _Group]
        self._parts_of_compounds: set[int] = set()

    def tuples(self) -> Iterable[list[str]]:
        """Return the tuples of attributes and relations."""
        return chain.from_iterable(self._groups)

    def objects(self) -> Parsed:
        """Return the tuples of objects: nouns that are not part of a compound."""
        objects = []
        for position, is_noun in enumerate(self._is_noun):
            if is_noun and position not in self._parts_of_compounds:
                objects.append([self._lemma(position)])
        return objects

    def add_modifier(self, governor: int, dependent: int, relation: str) -> None:
        """Add the attribute or relation between a word and the noun that governs it."""
        tag = self._tags[governor]
        is_noun = self._is_noun[governor]
        if relation == "amod":
            if is_noun or tag.startswith("JJ"):
                self._add(_Group.ADJECTIVE, governor, dependent)
        elif relation in ("nummod", "det:qmod"):
            if tag in _PLURAL_TAGS:
                self._add(_Group.NUMBER, governor, dependent)
        elif is_noun and relation == "compound":
            self._add_compound(governor, dependent)
        elif is_noun and relation.startswith("nmod:"):
            self._add_nominal_modifier(governor, dependent, relation)

    def _add_compound(self, governor: int, dependent: int) -> None:
        """Add a noun that modifies another noun, as in "tennis ball"."""
        if self._is_noun[dependent]:
            self._add(_Group.COMPOUND, governor, dependent)
            self._parts_of_compounds.update((governor, dependent))

    def _add_nominal_modifier(
        self, governor: int, dependent: int, relation: str
    ) -> None:
        """Add the owner of a noun, or a word that a preposition joins to it."""
        tag = self._tags[dependent]
        if not self._is_noun[dependent] and tag not in _TAGS_AFTER_PREPOSITION:
            return
        if relation == "nmod:poss":
            self._add(_Group.OWNER, dependent, governor, "have")
        else:
            self._add(_Group.MODIFIER, governor, dependent, _preposition(relation))

    def add_clause(self, verb: int, subject: int, relation: str) -> None:
        """Add the actions and states of the subject of a verb.

        An adjective or noun may be in place of the verb, as in "the dog is small".
        """
        is_noun = self._is_noun[subject]
        if not is_noun and self._tags[subject] not in _SUBJECT_TAGS:
            return
        was_added = is_noun and self._add_objects(verb, subject, relation)
        if self._dependents_by(verb, "cop"):
            has_state = self._add_state(verb, subject)
            if has_state and self._tags[verb][0] != "J":
                was_added = True
        if not was_added and relation == "nsubj":
            self._add_bare_predicate(verb, subject)

    def _add_bare_predicate(self, verb: int, subject: int) -> None:
        """Add a verb without objects, or an adjective, as a state of its subject."""
        if self._lemma(verb) == "be":
            return
        kind = self._tags[verb][0]
        is_noun = self._is_noun[subject]
        # An adjective. Of a noun also a verb, a modal verb, a noun or a preposition.
        if kind == "J" or (is_noun and kind in "VMNI"):
            self._add(_Group.STATE, subject, verb)

    def _add_objects(self, verb: int, subject: int, subject_relation: str) -> bool:
        """Add a verb with its objects, and return whether it has any."""
        particles = self._dependents_by(verb, "compound:prt")
        phrase = self._join_lemmas([verb, *particles])  # such as "pick up"
        group = _Group.CLAUSE if subject_relation == "acl" else _Group.ACTION
        has_objects = False
        for dependent, relation in self._dependents.get(verb, []):
            if not self._is_noun[dependent]:
                continue
            if relation == "nmod:agent":
                if subject_relation == "acl":
                    self._add(group, subject, dependent, phrase)
                else:
                    self._add(group, dependent, subject, phrase)
                has_objects = True
                continue
            predicate = self._predicate(verb, phrase, relation, subject_relation)
            if predicate is not None:
                self._add(group, subject, dependent, predicate)
                has_objects = True
        return has_objects

    def _predicate(
        self, verb: int, phrase: str, relation: str, subject_relation: str
    ) -> str | None:
        """Return the predicate between a subject and an object of a verb, or None.

        Parameters
        ----------
        verb : int
        phrase : str
            The verb with its particles.
        relation : str
            The relation between the verb and its object.
        subject_relation : str
            The relation between the verb and its subject.
        """
        if subject_relation == "nsubjpass" or relation in ("nmod:poss", "nmod:npmod"):
            return None
        if relation.startswith("nmod:") and self._tags[verb][0] in "VM":
            return f"{phrase} {_preposition(relation)}"
        if relation in ("dobj", "iobj"):
            return phrase
        return None

    def _add_state(self, state: int, subject: int) -> bool:
        """Add a place ("is on the table") or a quality ("is red"), if there is one.

        Returns
        -------
        bool
            Whether there is one.
        """
        is_noun = self._is_noun[subject]
        cases = []
        for case in self._dependents_by(state, "case"):
            if case < state:
                cases.append(case)
        if cases and is_noun:
            positions = []
            for case in cases:
                positions += [case, *self._dependents_by(case, "mwe")]
            self._add(_Group.STATE, subject, state, self._join_lemmas(positions))
            return True
        if not cases and (is_noun or self._tags[state][0] == "J"):
            self._add(_Group.STATE, subject, state)
            return True
        return False

    def _add(self, group: _Group, subject: int, other: int, *predicate: str) -> None:
        """Add a tuple of two tokens, and a predicate if it is a relation."""
        words = [self._lemma(subject), self._lemma(other), *predicate]
        self._groups[group].append(words)

    def _dependents_by(self, governor: int, relation: str) -> list[int]:
        """Return the positions of the dependents of a token with a relation."""
        dependents = self._dependents.get(governor, [])
        return [dependent for dependent, name in dependents if name == relation]

    def _join_lemmas(self, positions: Iterable[int]) -> str:
        return " ".join(map(self._lemma, positions))


def _preposition(relation: str) -> str:
    """Return "in front of" for "nmod:in_front_of"."""
    return relation.removeprefix("nmod:").replace("_", " ")
