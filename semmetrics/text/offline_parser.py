"""A parser of captions for SPICE that needs no Java: captions to raw tuples, with numpy.

Conventions
-----------
The parser imitates SPICE's own, `semmetrics.text.official_parser`, from whose output it was
learned. Its tuples are not always the same, and a score from them is not SPICE's:
embeddings/parsing/README.md says how it is made, EVALUATION.md beside it how well it agrees.

A small network finds each word's part of speech and the grammatical relations between words;
the rules of `semmetrics.text.scene_graph_rules` make tuples of them. A caption's tuples depend on
that caption alone. A sentence of more than 100 tokens is parsed in pieces.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.text.parser_network import Dependencies, Network
from semmetrics.text.parser_words import Lemmas, WordCutter, affixes, shape, word_form
from semmetrics.text.scene_graph_rules import Edge, RawTuples, scene_graph_tuples
from semmetrics.text.tokens import check_captions

__all__ = ["DATA", "OfflineParser"]

DATA = Path(__file__).with_name("data") / "offline-parser.npz"

_CAPTIONS = 2048  # read ahead
_TOKENS = 800  # computed together
_LONGEST = 100  # tokens parsed together
_CACHED = 50_000  # words kept with their vectors
_REVISION = b"2"  # of network and rules: changes when captions may get other tuples
_LOOSE = "nmod:?"  # a relation by a preposition that is read from the sentence


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
        self._cutter = WordCutter()
        self._places: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)
        self._lemma_of: dict[tuple[str, str], str] = {}

    def parse(self, captions: Sequence[str]) -> Iterator[RawTuples]:
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
        for start in range(0, len(captions), _CAPTIONS):
            yield from self._parse_block(captions[start : start + _CAPTIONS])

    def _parse_block(self, captions: Sequence[str]) -> list[RawTuples]:
        """Parse some captions: the pieces of one length together."""
        pieces: list[list[str]] = []
        owners: list[int] = []
        for index, caption in enumerate(captions):
            for sentence in self._cutter.sentences(caption):
                for start in range(0, len(sentence), _LONGEST):
                    pieces.append(sentence[start : start + _LONGEST])
                    owners.append(index)
        by_length: dict[int, list[int]] = {}
        for place, piece in enumerate(pieces):
            by_length.setdefault(len(piece), []).append(place)
        found: list[RawTuples] = [[] for _ in pieces]
        for length, places in by_length.items():
            size = max(1, _TOKENS // length)
            for start in range(0, len(places), size):
                some = places[start : start + size]
                parsed = self._parse_pieces([pieces[place] for place in some])
                for place, tuples in zip(some, parsed, strict=True):
                    found[place] = tuples
        result: list[RawTuples] = [[] for _ in captions]
        for owner, tuples in zip(owners, found, strict=True):
            result[owner].extend(tuples)
        return result

    def _parse_pieces(self, pieces: Sequence[Sequence[str]]) -> Iterator[RawTuples]:
        """Parse pieces of one length."""
        found = self._network(self._vectors_of(pieces))
        edges = _edges(found, self._network.labels, len(pieces))
        names = self._network.tags
        for tokens, tag_codes, own in zip(pieces, found.tags.tolist(), edges, strict=True):
            tags = [names[code] for code in tag_codes]
            lemmas = [self._lemma(*pair) for pair in zip(tokens, tags, strict=True)]
            yield scene_graph_tuples(tags, _named(own, tokens), lemmas.__getitem__)

    def _lemma(self, token: str, tag: str) -> str:
        known = self._lemma_of.get((token, tag))
        if known is None:
            known = self._lemmas.of(token, tag)
            if len(self._lemma_of) >= _CACHED:
                self._lemma_of.clear()
            self._lemma_of[token, tag] = known
        return known

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
            rows = np.stack([self._vector(token) for token in ordered])
            start = len(self._vectors)
            # Vectors first, then their places: what is interrupted between leaves no place wrong.
            self._vectors = np.concatenate([self._vectors.reshape(-1, rows.shape[1]), rows])
            places.update((token, start + k) for k, token in enumerate(ordered))
        return self._vectors[[[places[token] for token in piece] for piece in pieces]]

    def _vector(self, token: str) -> NDArray[np.float32]:
        word = self._network.words.get(word_form(token), 0)
        return self._network.vector(word, affixes(token), shape(token))


@cache
def _load(data: Path) -> tuple[str, Network, Lemmas]:
    """Read the weights once a process."""
    content = data.read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays: dict[str, Any] = dict(file)
    lemmas = Lemmas(json.loads(bytes(arrays.pop("lemmas"))))
    identity = hashlib.sha256(content + _REVISION).hexdigest()[:12]
    return f"offline@{identity}", Network(arrays), lemmas


def _edges(found: Dependencies, labels: Sequence[str], count: int) -> list[list[Edge]]:
    """Return the named edges of each sentence."""
    names = [labels[code] for code in found.label.tolist()]
    flat = list(zip(found.governor.tolist(), found.dependent.tolist(), names, strict=True))
    bounds = np.searchsorted(found.sentence, np.arange(count + 1)).tolist()
    return [flat[start:stop] for start, stop in pairwise(bounds)]


def _named(edges: list[Edge], tokens: Sequence[str]) -> list[Edge]:
    """Give relations whose preposition is rare its name, which the sentence has."""
    if not any(relation == _LOOSE for _, _, relation in edges):
        return edges
    return [
        (governor, dependent, f"nmod:{_preposition(dependent, edges, tokens)}")
        if relation == _LOOSE
        else (governor, dependent, relation)
        for governor, dependent, relation in edges
    ]


def _preposition(dependent: int, edges: list[Edge], tokens: Sequence[str]) -> str:
    """Return the preposition of a word, or of the first word that it is joined to by "and"."""
    for _ in range(len(tokens)):
        cases = {d for g, d, relation in edges if g == dependent and relation == "case"}
        if cases:
            more = {d for g, d, relation in edges if g in cases and relation == "mwe"}
            return "_".join(tokens[place].lower() for place in sorted(cases | more))
        joined = [g for g, d, relation in edges if d == dependent and relation.startswith("conj")]
        if not joined or joined[0] >= dependent:
            break
        dependent = joined[0]
    return "of"
