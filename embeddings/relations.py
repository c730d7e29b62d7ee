"""Pairs of nouns that WordNet relates: to train a model on, and to judge models by.

Conventions
-----------
A noun stands for its first sense, the most frequent one. Two nouns are

``same``
    if they have the same first sense.
``sibling``
    if their first senses share a hypernym: *car* and *bus*.
``hypernym``
    if the first sense of one is a hypernym of the other's: *dog* and *puppy*.
``part``
    if one is a part, member or substance of the other: *car* and *wheel*.
``associated``
    if one is mentioned in the definition of the other: *saddle* and *horse*.
``random``
    if they are drawn independently.

Pairs of which one text contains the other (*dog*, *hot dog*) are left out, since a comparison of
letters would decide them. Pairs that share any sense are in no group but ``same``. Of every group
but ``same`` and ``hypernym``, a noun is drawn with equal chances, and then one of its partners, so
that a synset with a hundred siblings counts no more than one with two.

Synsets are divided into folds by a hash of their name. A noun is in the fold of its first sense. A
model is trained on no pair with a noun of the fold ``test``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from embeddings import wordnet
from semmetrics.embed.static import normalise

__all__ = ["RELATIONS", "Lexicon", "Pairs", "draw", "fold", "sense_shares"]

RELATIONS = ("same", "sibling", "hypernym", "part", "associated", "random")

_TRIES = 6  # draws for each pair that is wanted, some of which have no partner
_FOLDS = {"test": 20, "choice": 30}  # shares in percent, cumulated

Pairs = list[tuple[str, str]]


def fold(synset: str) -> str:
    """Return the fold of a synset: "test" (20%), "choice" (10%) or "fit"."""
    digest = hashlib.sha256(f"same {synset}".encode()).hexdigest()
    percent = int(digest[:8], 16) % 100
    for name, limit in _FOLDS.items():
        if percent < limit:
            return name
    return "fit"


def sense_shares(
    noun: wordnet.Noun, synsets: dict[str, wordnet.Synset]
) -> dict[str, float]:
    """Return how much of a noun's use each of its senses has, at least 0 and at most 1.

    Each sense counts as often as it is tagged, and the k-th sense 1/k times more. The share of a
    sense is the larger of its share in all senses and in the senses for visible things, since label
    sets name visible things.
    """
    use = np.array([n + 1 / k for k, n in enumerate(noun.sense_counts, 1)])
    visible = np.array([synsets[offset].visible for offset in noun.senses])
    shares = use / use.sum()
    if visible.any():
        shares = np.where(visible, use / use[visible].sum(), shares)
    return dict(zip(noun.senses, shares.tolist(), strict=True))


@dataclass(frozen=True)
class Lexicon:
    """Nouns of WordNet that are no names, and its synsets.

    Attributes
    ----------
    nouns : dict of str to Noun
    synsets : dict of str to Synset
    """

    nouns: dict[str, wordnet.Noun] = field(repr=False)
    synsets: dict[str, wordnet.Synset] = field(repr=False)

    @classmethod
    def read(cls, folder: Path = wordnet.FOLDER) -> Lexicon:
        """Read WordNet."""
        nouns = {}
        for noun in wordnet.nouns(folder):
            if not noun.name and normalise(noun.text):
                nouns[noun.text] = noun
        return cls(nouns, {synset.offset: synset for synset in wordnet.synsets(folder)})

    def fold_of(self, text: str) -> str:
        """Return the fold of a noun."""
        return fold(self.nouns[text].senses[0])

    def visible(self, *, tagged: bool = False) -> list[str]:
        """Return the nouns for visible things; if asked for, those in WordNet's tagged texts."""
        nouns = [noun for noun in self.nouns.values() if noun.visible]
        return [noun.text for noun in nouns if noun.count or not tagged]

    def share_sense(self, first: str, second: str) -> bool:
        """Return whether two nouns have a sense in common."""
        return not set(self.nouns[first].senses).isdisjoint(self.nouns[second].senses)


def draw(
    lexicon: Lexicon, texts: Sequence[str], count: int, seed: int
) -> dict[str, Pairs]:
    """Draw pairs of each relation between some nouns.

    Parameters
    ----------
    lexicon : Lexicon
    texts : sequence of str
        Nouns of the lexicon; both nouns of every pair are among them.
    count : int
        Pairs of each relation, at most; of "same" all.
    seed : int

    Returns
    -------
    dict of str to list of pairs
    """
    return _Drawer(lexicon, texts, seed).draw(count)


class _Drawer:
    """Draws pairs between some nouns."""

    def __init__(self, lexicon: Lexicon, texts: Sequence[str], seed: int) -> None:
        self._lexicon = lexicon
        self._texts = list(texts)
        self._random = np.random.default_rng(seed)
        self._by_sense: dict[str, list[str]] = {}
        self._children: dict[str, list[str]] = {}
        for text in self._texts:
            self._by_sense.setdefault(self._sense(text), []).append(text)
        for sense in self._by_sense:
            for hypernym in lexicon.synsets[sense].hypernyms:
                self._children.setdefault(hypernym, []).append(sense)

    def draw(self, count: int) -> dict[str, Pairs]:
        hypernyms = list(self._hypernyms())
        if len(hypernyms) > count:
            places = self._random.permutation(len(hypernyms))[:count]
            hypernyms = [hypernyms[place] for place in places]
        return {
            "same": list(self._same()),
            "sibling": self._draw_partners(self._sibling, count),
            "hypernym": hypernyms,
            "part": self._draw_partners(self._part, count),
            "associated": self._draw_partners(self._associated, count),
            "random": self._draw_partners(lambda _: self._one_of(self._texts), count),
        }

    def _sense(self, text: str) -> str:
        return self._lexicon.nouns[text].senses[0]

    def _same(self) -> Iterator[tuple[str, str]]:
        for texts in self._by_sense.values():
            for first, second in combinations(sorted(texts), 2):
                if not _contains(first, second):
                    yield first, second

    def _hypernyms(self) -> Iterator[tuple[str, str]]:
        for sense, texts in self._by_sense.items():
            for hypernym in self._lexicon.synsets[sense].hypernyms:
                for text in texts:
                    for general in self._by_sense.get(hypernym, []):
                        if self._differ(text, general):
                            yield text, general

    def _differ(self, first: str, second: str) -> bool:
        return not _contains(first, second) and not self._lexicon.share_sense(
            first, second
        )

    def _one_of(self, values: Sequence[str]) -> str | None:
        if not values:
            return None
        return values[int(self._random.integers(len(values)))]

    def _draw_partners(
        self, partner_of: Callable[[str], str | None], count: int
    ) -> Pairs:
        """Draw distinct pairs of a noun and a partner, in the order in which they are drawn."""
        pairs: dict[tuple[str, str], None] = {}
        for _ in range(_TRIES * count):
            text = self._texts[int(self._random.integers(len(self._texts)))]
            partner = partner_of(text)
            if partner is not None and self._differ(text, partner):
                first, second = sorted((text, partner))
                pairs[first, second] = None
            if len(pairs) == count:
                break
        return list(pairs)

    def _sibling(self, text: str) -> str | None:
        sense = self._sense(text)
        hypernym = self._one_of(self._lexicon.synsets[sense].hypernyms)
        if hypernym is None:
            return None
        sibling = self._one_of(
            [other for other in self._children[hypernym] if other != sense]
        )
        return None if sibling is None else self._one_of(self._by_sense[sibling])

    def _part(self, text: str) -> str | None:
        return self._one_of(
            self._with_sense(self._lexicon.synsets[self._sense(text)].parts)
        )

    def _associated(self, text: str) -> str | None:
        """Return a noun of the definition that is related to a noun in no other way."""
        synset = self._lexicon.synsets[self._sense(text)]
        definition = synset.gloss.partition('"')[0]
        near = {synset.offset, *synset.hypernyms, *synset.parts}
        candidates = []
        for word in re.findall("[a-z]+", definition):
            noun = self._lexicon.nouns.get(word)
            if noun is None or noun.senses[0] not in self._by_sense:
                continue
            if word in self._by_sense[noun.senses[0]] and near.isdisjoint(noun.senses):
                candidates.append(word)
        return self._one_of(candidates)

    def _with_sense(self, senses: Iterable[str]) -> list[str]:
        texts = []
        for sense in senses:
            texts += self._by_sense.get(sense, [])
        return texts


def _contains(first: str, second: str) -> bool:
    """Return whether one text contains the other, apart from case and separators."""
    first = normalise(first)
    second = normalise(second)
    return first in second or second in first
