"""Constraints on nouns for training: which are the same, and which are related but not the same.

Conventions
-----------
Two nouns are the same if they have a sense in common that is a frequent sense of both (see
:func:`embeddings.relations.sense_shares`). Related nouns are siblings, a noun and its hypernym, a
noun and a more distant relative, and a part and its whole, by their frequent senses. Nouns that
have any sense in common, frequent or not, are never related or unrelated.

A noun whose first sense is in a fold that is held out is in no constraint, and a synset of such a
fold makes no nouns the same.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from embeddings.relations import Lexicon, fold, sense_shares
from semmetrics.embed.static import normalise

__all__ = ["NEAR", "RELATED", "Constraints", "Relations"]

RELATED = ("sibling", "hypernym", "distant")
"""Kinds of pairs that are related and not the same. Parts are among the distant ones."""

NEAR = 0.70
"""The cosine of the general model above which a noun and its hypernym count as the same."""

_FREQUENT = 0.2
"""The share of a noun's use from which a sense is frequent."""
_FREQUENT_HEAD = 0.01
"""The same for *mouse* in the synset of *computer mouse*: a noun that another one ends with."""
_SYNONYMS_PER_SYNSET = 4
_LEMMAS_PER_RELATIVE = 2
_SIBLINGS_PER_SYNSET = 2
_PART_RATE = 0.5
_VISIBLE_RATE = 0.9
_SYNONYM_WEIGHT = 2.0

Mask = NDArray[np.bool_]
Places = NDArray[np.int64]


@dataclass(frozen=True)
class Relations:
    """How the nouns of a batch are related: symmetric matrices, shape (nouns, nouns).

    Attributes
    ----------
    same : bool array
        The diagonal is False.
    related : dict of str to bool array
        By the kinds of `RELATED`.
    unrelated : bool array
    """

    same: Mask
    related: dict[str, Mask]
    unrelated: Mask

    def with_near_hypernyms(self, cosines: NDArray[np.float32]) -> Relations:
        """Return the same with nouns and hypernyms that the general model has near as synonyms.

        WordNet separates words that people use for the same thing: its *lady* is a kind of *woman*,
        and its *hallway* a kind of *corridor*. Siblings that are near, such as *left hand* and
        *right hand*, stay related. There is no constraint on more distant relatives that are near.

        Parameters
        ----------
        cosines : array, shape (nouns, nouns)
            Of the general model.
        """
        is_near = cosines > NEAR
        related = dict(self.related)
        same = self.same | (related["hypernym"] & is_near)
        for kind in ("hypernym", "distant"):
            related[kind] = related[kind] & ~is_near
        return Relations(same, related, self.unrelated)


class Constraints:
    """Constraints on the nouns of a lexicon.

    Parameters
    ----------
    lexicon : Lexicon
    held_out : collection of str
        Folds that are left out.

    Attributes
    ----------
    texts : list of str
        All nouns of the lexicon, also those that are held out. A noun's place here is its number.
    members : dict of str to list of int
        The nouns that each synset is a frequent sense of.
    """

    def __init__(self, lexicon: Lexicon, held_out: Collection[str] = ()) -> None:
        self.texts = list(lexicon.nouns)
        self._lexicon = lexicon
        self._held_out = held_out
        self._number_of_synset = {offset: n for n, offset in enumerate(lexicon.synsets)}
        self.members: dict[str, list[int]] = {}
        self._children: dict[str, list[str]] = {}
        entries: dict[str, list[tuple[int, str]]] = {name: [] for name in _MATRICES}
        heads = _heads_of_synonyms(lexicon)
        for number, text in enumerate(self.texts):
            self._add_noun(number, text, heads, entries)
        self._matrices = {name: self._matrix(pairs) for name, pairs in entries.items()}
        for offset in self.members:
            for hypernym in lexicon.synsets[offset].hypernyms:
                self._children.setdefault(hypernym, []).append(offset)
        self._synsets = list(self.members)
        self._cumulated = np.cumsum(self._sampling_weights())

    def _add_noun(
        self,
        number: int,
        text: str,
        heads: Collection[tuple[str, str]],
        entries: dict[str, list[tuple[int, str]]],
    ) -> None:
        """Add a noun's senses and their relatives to the entries of the matrices."""
        synsets = self._lexicon.synsets
        noun = self._lexicon.nouns[text]
        is_held_out = self._lexicon.fold_of(text) in self._held_out
        for offset, share in sense_shares(noun, synsets).items():
            entries["sense"].append((number, offset))
            least = _FREQUENT_HEAD if (text, offset) in heads else _FREQUENT
            is_usable = (
                not synsets[offset].instance and fold(offset) not in self._held_out
            )
            if is_held_out or not is_usable or share < least:
                continue
            self.members.setdefault(offset, []).append(number)
            entries["frequent"].append((number, offset))
            for hypernym in synsets[offset].hypernyms:
                entries["hypernym"].append((number, hypernym))
                for ancestor in synsets[hypernym].hypernyms:
                    entries["ancestor"].append((number, ancestor))
            for part in synsets[offset].parts:
                entries["part"].append((number, part))

    def _matrix(self, pairs: Sequence[tuple[int, str]]) -> Any:
        """Return a sparse matrix of nouns by synsets with ones at the pairs."""
        rows = np.array([number for number, _ in pairs], np.int64)
        columns = np.array(
            [self._number_of_synset[offset] for _, offset in pairs], np.int64
        )
        shape = len(self.texts), len(self._number_of_synset)
        matrix = sp.csr_array(
            (np.ones(len(pairs), np.float32), (rows, columns)), shape=shape
        )
        matrix.sum_duplicates()
        return matrix

    def _sampling_weights(self) -> NDArray[np.float64]:
        """Return the chance of each synset with members to be drawn first."""
        visible = np.array(
            [self._lexicon.synsets[offset].visible for offset in self._synsets]
        )
        weights = np.where(
            visible,
            _VISIBLE_RATE / visible.sum(),
            (1 - _VISIBLE_RATE) / (~visible).sum(),
        )
        has_synonyms = np.array(
            [len(self.members[offset]) > 1 for offset in self._synsets]
        )
        weights *= np.where(has_synonyms, _SYNONYM_WEIGHT, 1.0)
        return np.asarray(weights / weights.sum())

    def constrained(self) -> Places:
        """Return the numbers of the nouns that are in constraints."""
        return np.unique(np.concatenate(list(self.members.values())))

    def sample(self, random: np.random.Generator, size: int) -> Places:
        """Draw synsets with siblings, hypernyms and parts until there are so many nouns.

        Returns
        -------
        int array, shape (size,)
            Distinct numbers of nouns.
        """
        drawn: dict[int, None] = {}
        while len(drawn) < size:
            place = int(np.searchsorted(self._cumulated, random.random()))
            offset = self._synsets[min(place, len(self._synsets) - 1)]
            numbers = self._choose(random, offset, _SYNONYMS_PER_SYNSET)
            for hypernym in self._lexicon.synsets[offset].hypernyms[:1]:
                numbers += self._choose(random, hypernym, _LEMMAS_PER_RELATIVE)
                siblings = self._children[hypernym]
                for _ in range(_SIBLINGS_PER_SYNSET):
                    sibling = siblings[int(random.integers(len(siblings)))]
                    numbers += self._choose(random, sibling, _LEMMAS_PER_RELATIVE)
            parts = self._lexicon.synsets[offset].parts
            if parts and random.random() < _PART_RATE:
                part = parts[int(random.integers(len(parts)))]
                numbers += self._choose(random, part, 1)
            drawn.update(dict.fromkeys(numbers))
        return np.array(list(drawn)[:size], np.int64)

    def _choose(
        self, random: np.random.Generator, offset: str, count: int
    ) -> list[int]:
        """Return members of a synset, so many at most."""
        members = self.members.get(offset, [])
        if len(members) <= count:
            return list(members)
        return [
            members[place]
            for place in random.permutation(len(members))[:count].tolist()
        ]

    def relations(self, numbers: Places) -> Relations:
        """Return how nouns are related.

        Parameters
        ----------
        numbers : int array, shape (nouns,)
        """
        rows = {name: matrix[numbers] for name, matrix in self._matrices.items()}
        shares_sense = _overlap(rows["sense"], rows["sense"])
        same = _overlap(rows["frequent"], rows["frequent"])
        sibling = _overlap(rows["hypernym"], rows["hypernym"]) & ~shares_sense
        hypernym = _either(_overlap(rows["hypernym"], rows["frequent"])) & ~shares_sense
        distant = _overlap(rows["ancestor"], rows["frequent"])
        distant |= _overlap(rows["ancestor"], rows["hypernym"])
        distant |= _overlap(rows["part"], rows["frequent"])
        distant = _either(distant) & ~(shares_sense | sibling | hypernym)
        unrelated = ~(shares_sense | sibling | hypernym | distant)
        np.fill_diagonal(same, False)
        related = dict(zip(RELATED, (sibling, hypernym, distant), strict=True))
        return Relations(same, related, unrelated)


_MATRICES = ("sense", "frequent", "hypernym", "ancestor", "part")


def _heads_of_synonyms(lexicon: Lexicon) -> set[tuple[str, str]]:
    """Return nouns that another noun of a synset ends with, with that synset."""
    heads = set()
    for offset, synset in lexicon.synsets.items():
        texts = {lemma.lower() for lemma in synset.lemmas}
        for text in texts:
            words = normalise(text).split()
            for start in range(1, len(words)):
                head = " ".join(words[start:])
                if head in texts:
                    heads.add((head, offset))
    return heads


def _overlap(left: Any, right: Any) -> Mask:
    """Return which rows of one matrix share a column with which rows of the other."""
    return np.asarray((left @ right.T).todense() > 0)


def _either(mask: Mask) -> Mask:
    """Return a relation in either direction."""
    return mask | mask.T
