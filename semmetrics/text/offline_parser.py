"""A parser of captions for SPICE that needs no Java.

Conventions
-----------
The parser imitates SPICE's own, `semmetrics.text.official_parser`, and was trained on
its output. Its tuples are not always the same, and a score from them is not the
original SPICE. embeddings/parsing/README.md describes how it is made, and EVALUATION.md
next to it how well it agrees.

A small network finds the part of speech of each word and the grammatical relations
between words. Rules make tuples of them. The tuples of a caption depend on that caption
only. A sentence of more than 100 tokens is parsed in pieces.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.text.captions import check_captions
from semmetrics.text.dependency_rules import Edge, scene_graph_tuples
from semmetrics.text.lemmas import Lemmas
from semmetrics.text.network import Dependencies, Network
from semmetrics.text.parser_tokens import affixes, cut_sentences, shape, word_form
from semmetrics.text.raw_tuples import Parsed

DATA = Path(__file__).with_name("data") / "offline-parser.npz"

_REVISION = b"2"  # of network and rules: changes if captions may get other tuples
_MAX_CAPTIONS_PER_BATCH = 2048
_MAX_TOKENS_PER_BATCH = 800
_MAX_TOKENS_PER_PIECE = 100
MAX_CACHED_TOKENS = 50_000
# The network's relation by any preposition. The preposition is read from the sentence.
_ANY_PREPOSITION = "nmod:?"


class _Piece(NamedTuple):
    """A part of a sentence that is parsed at once.

    Attributes
    ----------
    caption : int
        Index of its caption in the batch.
    tokens : list of str
    """

    caption: int
    tokens: list[str]


class OfflineParser:
    """The parser that comes with the package.

    Parameters
    ----------
    data : path, optional
        A file with other weights.

    Attributes
    ----------
    identity : str
        "offline@" and the first digits of a SHA-256 of its weights and of the revision
        of network and rules.

    Examples
    --------
    >>> next(OfflineParser().parse(["A small dog sits on a red sofa."]))
    [['dog', 'sofa', 'sit on'], ['dog', 'small'], ['sofa', 'red'], ['dog'], ['sofa']]
    """

    def __init__(self, data: Path = DATA) -> None:
        self.identity, self._network, self._lemmas = _load(data)
        self._token_vectors = _TokenVectors(self._network)

    def parse(self, captions: Sequence[str]) -> Iterator[Parsed]:
        """Parse captions independently of each other.

        Parameters
        ----------
        captions : sequence of str

        Yields
        ------
        list of raw tuples
            One list per caption, in order. It is empty for an empty caption.

        Raises
        ------
        InputError
            If a caption is not a string. The message has its index.
        """
        check_captions(captions)
        for start in range(0, len(captions), _MAX_CAPTIONS_PER_BATCH):
            batch = captions[start : start + _MAX_CAPTIONS_PER_BATCH]
            yield from self._parse_batch(batch)

    def _parse_batch(self, captions: Sequence[str]) -> list[Parsed]:
        """Return the raw tuples of captions, whose pieces are grouped by length."""
        pieces = _cut_pieces(captions)
        indices_by_length: dict[int, list[int]] = {}
        for index, piece in enumerate(pieces):
            indices_by_length.setdefault(len(piece.tokens), []).append(index)
        parses: dict[int, Parsed] = {}
        for length, indices in indices_by_length.items():
            n_pieces = max(1, _MAX_TOKENS_PER_BATCH // length)
            for start in range(0, len(indices), n_pieces):
                batch = indices[start : start + n_pieces]
                tokens = [pieces[index].tokens for index in batch]
                parses.update(zip(batch, self._parse_pieces(tokens), strict=True))
        tuples: list[Parsed] = [[] for _ in captions]
        for index, piece in enumerate(pieces):
            tuples[piece.caption].extend(parses[index])
        return tuples

    def _parse_pieces(self, pieces: Sequence[Sequence[str]]) -> Iterator[Parsed]:
        """Yield the raw tuples of pieces of the same length."""
        dependencies = self._network(self._token_vectors.of(pieces))
        tag_names = self._network.tags
        tag_codes = dependencies.tags.tolist()
        edges_by_piece = self._list_edges(dependencies, len(pieces))
        for tokens, codes, edges in zip(pieces, tag_codes, edges_by_piece, strict=True):
            tags = [tag_names[code] for code in codes]
            tagged_tokens = zip(tokens, tags, strict=True)
            lemmas = [_lemma(self._lemmas, token, tag) for token, tag in tagged_tokens]
            named_edges = _name_prepositions(edges, tokens)
            yield scene_graph_tuples(tags, named_edges, lemmas.__getitem__)

    def _list_edges(
        self, dependencies: Dependencies, n_pieces: int
    ) -> Iterator[list[Edge]]:
        """Yield the edges of each piece, with the names of relations."""
        label_names = self._network.labels
        relations = [label_names[code] for code in dependencies.label.tolist()]
        governors = dependencies.governor.tolist()
        dependents = dependencies.dependent.tolist()
        edges = list(zip(governors, dependents, relations, strict=True))
        bounds = np.searchsorted(dependencies.sentence, np.arange(n_pieces + 1))
        starts = bounds[:-1].tolist()
        stops = bounds[1:].tolist()
        for start, stop in zip(starts, stops, strict=True):
            yield edges[start:stop]


def _cut_pieces(captions: Sequence[str]) -> list[_Piece]:
    """Return the pieces of the sentences of captions."""
    pieces = []
    for index, caption in enumerate(captions):
        for sentence in cut_sentences(caption):
            for start in range(0, len(sentence), _MAX_TOKENS_PER_PIECE):
                tokens = sentence[start : start + _MAX_TOKENS_PER_PIECE]
                pieces.append(_Piece(index, tokens))
    return pieces


class _TokenVectors:
    """The vectors of tokens, computed once."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._row_of_token: dict[str, int] = {}
        self._vectors = np.zeros((0, 0), np.float32)

    def of(self, pieces: Sequence[Sequence[str]]) -> NDArray[np.float32]:
        """Return the vectors of the tokens of pieces of the same length."""
        row_of_token = self._row_of_token
        tokens = {token for piece in pieces for token in piece}
        new_tokens = tokens.difference(row_of_token)
        if new_tokens:
            if len(row_of_token) + len(new_tokens) > MAX_CACHED_TOKENS:
                row_of_token.clear()
                self._vectors = self._vectors[:0]
                new_tokens = tokens
            self._add(sorted(new_tokens))
        rows = [list(map(row_of_token.__getitem__, piece)) for piece in pieces]
        return self._vectors[rows]

    def _add(self, tokens: Sequence[str]) -> None:
        """Compute and append the vectors of new tokens."""
        vectors = np.stack(list(map(self._compute, tokens)))
        first_row = len(self._vectors)
        old_vectors = self._vectors.reshape(-1, vectors.shape[1])
        # Vectors first: an interruption in between then leaves no wrong row.
        self._vectors = np.concatenate([old_vectors, vectors])
        for row, token in enumerate(tokens, start=first_row):
            self._row_of_token[token] = row

    def _compute(self, token: str) -> NDArray[np.float32]:
        word = self._network.words.get(word_form(token), 0)
        return self._network.vector(word, affixes(token), shape(token))


@cache
def _load(data: Path) -> tuple[str, Network, Lemmas]:
    """Return the identity, network and lemmas of a file, read once per process."""
    content = data.read_bytes()
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        arrays: dict[str, NDArray[Any]] = dict(file)
    exceptions: Mapping[str, str] = json.loads(bytes(arrays.pop("lemmas")))
    digest = hashlib.sha256(content + _REVISION).hexdigest()[:12]
    return f"offline@{digest}", Network(arrays), Lemmas(exceptions)


@lru_cache(MAX_CACHED_TOKENS)
def _lemma(lemmas: Lemmas, word: str, tag: str) -> str:
    return lemmas.of(word, tag)


# ---- prepositions --------------------------------------------------------------------


def _name_prepositions(edges: list[Edge], tokens: Sequence[str]) -> list[Edge]:
    """Replace the relation by any preposition by the preposition of the sentence."""
    named_edges = []
    for governor, dependent, relation in edges:
        name = relation
        if relation == _ANY_PREPOSITION:
            name = _find_preposition(dependent, edges, tokens)
        named_edges.append((governor, dependent, name))
    return named_edges


def _find_preposition(
    dependent: int, edges: Sequence[Edge], tokens: Sequence[str]
) -> str:
    """Return the relation by the preposition of a word, such as "nmod:in_front_of".

    If a word has no preposition, but a conjunction joins it to a word on its left, it has
    the preposition of that word. The default is "of".
    """
    while True:
        cases = _dependents_by("case", {dependent}, edges)
        if cases:
            positions = cases | _dependents_by("mwe", cases, edges)
            words = [tokens[position].lower() for position in sorted(positions)]
            return f"nmod:{'_'.join(words)}"
        joined_to = _find_conjunct(dependent, edges)
        if joined_to is None or joined_to >= dependent:
            return "nmod:of"
        dependent = joined_to


def _dependents_by(
    relation: str, governors: set[int], edges: Sequence[Edge]
) -> set[int]:
    """Return the dependents of some governors by a relation."""
    dependents = set()
    for governor, dependent, name in edges:
        if name == relation and governor in governors:
            dependents.add(dependent)
    return dependents


def _find_conjunct(dependent: int, edges: Sequence[Edge]) -> int | None:
    """Return the word that a word is joined to by a conjunction, or None."""
    for governor, joined, relation in edges:
        if joined == dependent and relation.startswith("conj"):
            return governor
    return None
