"""Concepts of scene graphs: sets of words, and how similar they are by their synsets.

Conventions
-----------
A *concept* is a set of words or phrases, with the union of their synsets. Two concepts
are *similar* if they have a word or a synset in common. Their *similarity* is 1 if they
have a word in common. Otherwise it is the intersection over the union of their synsets.

The *features* of a concept are its synsets, which are numbers from 0, and its words. A
word is the complement ``~number`` of its concept's number, which is negative.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import chain, count
from typing import TypeAlias

import numpy as np

from semmetrics.core.ragged import (
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    runs_within,
    take_rows,
)
from semmetrics.text.synonyms import SynonymTable

Words: TypeAlias = tuple[str, ...]
Features: TypeAlias = frozenset[int]

MAX_PAIRS_PER_BATCH = 1 << 20


class _ConceptNumbers(dict[str, int]):
    """Numbers of words. A new word gets a concept at its first look-up.

    It does not refer to the `Concepts` that use it. With such a cycle, only the garbage
    collector could free the memory of many concepts.

    Attributes
    ----------
    features : dict of int to frozenset of int
    words : dict of int to tuple of str
    """

    def __init__(self, synonyms: SynonymTable) -> None:
        super().__init__()
        self._synonyms = synonyms
        self.features: dict[int, Features] = {}
        self.words: dict[int, Words] = {}

    def __missing__(self, word: str) -> int:
        synsets = self._synonyms.synsets(word)
        return self.setdefault(word, self.add(synsets, (word,)))

    def add(self, features: Features, words: Words) -> int:
        """Add a concept, and return its number.

        A single word is added to its own features. No concept is visible before it is
        complete, and no number is used twice, so that an interruption or another thread
        cannot do harm.
        """
        for number in count(len(self.features)):
            own_features = features
            if len(words) == 1:
                own_features = features.union([~number])
            # If another thread has used the number meanwhile, its features are returned.
            if self.features.setdefault(number, own_features) is own_features:
                break
        self.words[number] = words
        return number


class Concepts:
    """Concepts by number, and how similar they are.

    Parameters
    ----------
    synonyms : SynonymTable

    Attributes
    ----------
    numbers : mapping from str to int
        The concept of each word or phrase. A new one is added at its first look-up.
    features : mapping from int to frozenset of int
        The features of each concept.
    words : mapping from int to tuple of str
        The words of each concept, sorted.
    identity : str
        Identifies the synonyms, or is empty.

    Examples
    --------
    >>> concepts = Concepts(SynonymTable({"sofa": "1", "couch": "1 2", "lounge": "1 2"}, {}))
    >>> sofa, couch, dog = map(concepts.of, ["sofa", "couch", "dog"])
    >>> concepts.similarity(sofa, couch), concepts.is_similar(sofa, dog)
    (0.5, False)
    >>> concepts.name(concepts.join(sofa, couch))
    'couch/sofa'
    """

    def __init__(self, synonyms: SynonymTable) -> None:
        self.identity = synonyms.identity
        self._numbers = _ConceptNumbers(synonyms)
        self.numbers: Mapping[str, int] = self._numbers
        self.features: Mapping[int, Features] = self._numbers.features
        self.words: Mapping[int, Words] = self._numbers.words
        self._concept_of_words: dict[frozenset[str], int] = {}  # of several words
        self._similarities: dict[tuple[int, int], float] = {}
        self._joined: dict[tuple[int, int], int] = {}
        self._flat_features = _FlatFeatures(self.features)

    def __len__(self) -> int:
        return len(self.features)

    def of(self, words: str | Collection[str]) -> int:
        """Return the concept of a word or phrase, or of several of them."""
        if isinstance(words, str):
            return self.numbers[words]
        key = frozenset(words)
        if len(key) == 1:
            return self.numbers[min(key)]
        if key not in self._concept_of_words:
            features_of_words = [self.features[self.numbers[word]] for word in key]
            features = Features().union(*features_of_words)
            number = self._numbers.add(features, tuple(sorted(key)))
            self._concept_of_words.setdefault(key, number)
        return self._concept_of_words[key]

    def join(self, first: int, second: int) -> int:
        """Return the concept of the words of two concepts."""
        joined = self._joined.get((first, second))
        if joined is None:
            joined = self.of(self.words[first] + self.words[second])
            self._joined[first, second] = joined
        return joined

    def similarity(self, first: int, second: int) -> float:
        """Return how similar two concepts are, in [0, 1]."""
        similarity = self._similarities.get((first, second))
        if similarity is None:
            similarity = _similarity(self.features[first], self.features[second])
            self._similarities[first, second] = similarity
        return similarity

    def is_similar(self, first: int, second: int) -> bool:
        """Return whether two concepts have a word or a synset in common."""
        return not self.features[first].isdisjoint(self.features[second])

    def similar_pairs(
        self, first: Ints, second: Ints
    ) -> tuple[int, Iterator[tuple[Ints, Ints]]]:
        """Find similar concepts in two arrays.

        Returns
        -------
        n_pairs : int
        pairs : iterator of (int array, int array)
            Indices into ``first`` and ``second`` of similar concepts, in batches. A
            pair occurs, and is counted, once for each feature that its concepts have in
            common.
        """
        first_features, first_index = self._flat_features.take(first)
        second_features, second_index = self._flat_features.take(second)
        order = np.argsort(second_features)
        second_features = second_features[order]
        second_index = second_index[order]
        # Each feature of ``first`` occurs in second_features[start:stop].
        start = np.searchsorted(second_features, first_features, "left")
        stop = np.searchsorted(second_features, first_features, "right")
        indptr = offsets(stop - start)
        pairs = _pairs_in_batches(first_index, second_index, start, indptr)
        return int(indptr[-1]), pairs

    def name(self, concept: int) -> str:
        """Return the words of a concept with slashes between them."""
        return "/".join(self.words[concept])


class _FlatFeatures:
    """The features of all concepts in two arrays, to which new concepts are appended.

    Parameters
    ----------
    features : mapping from int to frozenset of int
    """

    def __init__(self, features: Mapping[int, Features]) -> None:
        self._features = features
        # Replaced as one, so that threads see arrays that belong together.
        self._sizes_and_flat = (np.zeros(0, np.int64), np.zeros(0, np.int64))

    def take(self, concepts: Ints) -> tuple[Ints, Ints]:
        """Return all features of concepts, and the index in ``concepts`` of each feature."""
        sizes, flat = self._sizes_and_flat
        n_known = len(sizes)
        n_concepts = len(self._features)
        if n_known < n_concepts:
            new_numbers = range(n_known, n_concepts)
            new_features = [self._features[number] for number in new_numbers]
            new_sizes = np.fromiter(map(len, new_features), np.int64, len(new_features))
            new_flat = np.fromiter(chain.from_iterable(new_features), np.int64)
            sizes = np.concatenate([sizes, new_sizes])
            flat = np.concatenate([flat, new_flat])
            self._sizes_and_flat = (sizes, flat)
        indptr, cells = take_rows(offsets(sizes), concepts)
        return flat[cells], row_numbers(indptr)


def _similarity(first: Features, second: Features) -> float:
    """Return the similarity of concepts with these features."""
    common = first & second
    if not common:
        return 0.0
    if min(common) < 0:  # a word
        return 1.0
    n_synsets = sum(feature >= 0 for feature in first | second)
    return len(common) / n_synsets


def _pairs_in_batches(
    first_index: Ints, second_index: Ints, start: Ints, indptr: Ints
) -> Iterator[tuple[Ints, Ints]]:
    """Yield pairs of indices, in batches.

    Element ``i`` of ``first_index`` is paired with as many elements of
    ``second_index``, from ``start[i]`` on, as row ``i`` of ``indptr`` has.
    """
    sizes = lengths(indptr)
    for run in runs_within(indptr, MAX_PAIRS_PER_BATCH):
        sizes_of_run = sizes[run]
        position_in_row = positions(offsets(sizes_of_run))
        cells = np.repeat(start[run], sizes_of_run) + position_in_row
        yield np.repeat(first_index[run], sizes_of_run), second_index[cells]
