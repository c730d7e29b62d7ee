"""Phrases of captions that are paraphrases of each other in METEOR's table.

Conventions
-----------
The table is a trie of phrases, `semmetrics.text.paraphrase_table`. It is opened once
per process.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import (
    Bools,
    Codes,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.store.downloads import Progress
from semmetrics.text.paraphrase_table import find_table, load_table


class Phrases(NamedTuple):
    """The phrases of captions that are, or have, a paraphrase in any of the captions.

    Attributes
    ----------
    indptr : int array, shape (captions + 1,)
        Where the phrases of each caption begin. They are ordered by their first word,
        then by size.
    start, size : int arrays, shape (phrases,)
        The position of the first word in the caption, and the number of words.
    codes : int array, shape (phrases,)
        A number below ``n`` that is the same for the same phrase.
    first, second : int arrays, shape (pairs,)
        Codes of phrases and of their paraphrases, in the order of the table.
    n : int
    """

    indptr: Ints
    start: Ints
    size: Ints
    codes: Ints
    first: Ints
    second: Ints
    n: int


class _Occurrences(NamedTuple):
    """Where words and phrases of the trie occur in captions.

    Attributes
    ----------
    first_word : int array, shape (occurrences,)
        Index of the first word in the words of all captions.
    size : int array, shape (occurrences,)
        Number of words.
    node : int array, shape (occurrences,)
        Node in the trie.
    """

    first_word: Ints
    size: Ints
    node: Ints


class Paraphrases:
    """A table of paraphrases.

    Parameters
    ----------
    words, keys, phrases, starts, targets : arrays
        The arrays of `semmetrics.text.paraphrase_table.ParaphraseArrays`.
    """

    def __init__(
        self,
        words: NDArray[np.uint8],
        keys: Ints,
        phrases: Ints,
        starts: Ints,
        targets: Ints,
    ) -> None:
        self.keys = keys
        self.phrases = phrases
        self.starts = starts
        self.targets = targets
        text = words.tobytes().decode().rstrip("\n")
        self._number_of_word = {
            word: number for number, word in enumerate(text.split("\n"))
        }

    def find(self, indptr: Ints, codes: Codes, vocabulary: list[str]) -> Phrases:
        r"""Find the phrases of captions that are paraphrases of each other.

        Parameters
        ----------
        indptr, codes : int arrays
            The words of each caption, as numbers.
        vocabulary : list of str
            The word of each number.

        Examples
        --------
        >>> words, targets = np.frombuffer(b"big\nlarge\nvery", np.uint8), np.array([1, 3])
        >>> table = Paraphrases(words, np.array([6]), np.array([0, 1]), np.arange(3), targets)
        >>> phrases = table.find(np.array([0, 1, 3]), np.array([0, 1, 0]), ["big", "very"])
        >>> phrases.start.tolist(), phrases.size.tolist(), phrases.first.tolist(), phrases.n
        ([], [], [], 0)
        >>> phrases = table.find(np.array([0, 1, 2]), np.array([0, 1]), ["big", "large"])
        >>> phrases.codes.tolist(), phrases.first.tolist(), phrases.second.tolist()
        ([0, 1], [0], [1])
        """
        occurrences = self._find_occurrences(indptr, codes, vocabulary)
        nodes, node_index = np.unique(occurrences.node, return_inverse=True)
        pairs = self._find_pairs(nodes)
        # Nodes without a pair have no code. They are left out.
        paired_nodes, pair_codes = np.unique(pairs, return_inverse=True)
        n = len(paired_nodes)
        first, second = pair_codes.reshape(2, -1)
        code_of_node = np.full(len(nodes), -1)
        code_of_node[paired_nodes] = np.arange(n)
        codes_of_occurrences = code_of_node[node_index]

        order = np.lexsort((occurrences.size, occurrences.first_word))
        order = order[codes_of_occurrences[order] >= 0]
        first_word = occurrences.first_word[order]
        caption = row_numbers(indptr)[first_word]
        n_captions = len(indptr) - 1
        phrases_per_caption = np.bincount(caption, minlength=n_captions)
        return Phrases(
            indptr=offsets(phrases_per_caption),
            start=positions(indptr)[first_word],
            size=occurrences.size[order],
            codes=codes_of_occurrences[order],
            first=first,
            second=second,
            n=n,
        )

    def _find_occurrences(
        self, indptr: Ints, codes: Codes, vocabulary: list[str]
    ) -> _Occurrences:
        """Find words of captions that are in the trie, and the phrases they begin."""
        n_words = len(self._number_of_word)
        numbers = [self._number_of_word.get(word, -1) for word in vocabulary]
        words = np.array(numbers, np.int64)[codes]
        end_of_caption = np.repeat(indptr[1:], lengths(indptr))
        # The number of words from each word to the end of its caption.
        n_left = end_of_caption - np.arange(len(codes))
        first_word = np.flatnonzero(words >= 0)
        node = words[first_word]
        size = 1
        none = words[:0]
        parts = [_Occurrences(none, none, none)]
        while len(first_word):
            sizes = np.full(len(first_word), size)
            parts.append(_Occurrences(first_word, sizes, node))
            # Extend all phrases by the next word, and keep those that are in the trie.
            has_next_word = n_left[first_word] > size
            first_word = first_word[has_next_word]
            node = node[has_next_word]
            next_word = words[first_word + size]
            keys, key_index = np.unique(node * n_words + next_word, return_inverse=True)
            index, is_key = _find_sorted(self.keys, keys)
            is_in_trie = is_key[key_index] & (next_word >= 0)
            first_word = first_word[is_in_trie]
            node = n_words + index[key_index][is_in_trie]
            size += 1
        columns = zip(*parts, strict=True)
        return _Occurrences._make(map(np.concatenate, columns))

    def _find_pairs(self, nodes: Ints) -> Ints:
        """Find the nodes that are paraphrases of each other.

        Parameters
        ----------
        nodes : int array, shape (nodes,)
            Sorted.

        Returns
        -------
        int array, shape (2, pairs)
            Indices into ``nodes`` of phrases and of their paraphrases, in the order of
            the table.
        """
        index, has_paraphrases = _find_sorted(self.phrases, nodes)
        with_paraphrases = np.flatnonzero(has_paraphrases)
        target_indptr, cells = take_rows(self.starts, index[with_paraphrases])
        targets = self.targets[cells]
        second = np.searchsorted(nodes, targets)
        # A target after the last node is compared with -1, which is not a node.
        occurs = np.flatnonzero(np.append(nodes, -1)[second] == targets)
        first = with_paraphrases[row_numbers(target_indptr)]
        return np.stack([first[occurs], second[occurs]])


def _find_sorted(table: Ints, values: Ints) -> tuple[Ints, Bools]:
    """Return the index of each value in a sorted table, and whether it is there."""
    index = np.minimum(np.searchsorted(table, values), len(table) - 1)
    return index, table[index] == values


opened_tables: dict[Path, Paraphrases] = {}


def open_paraphrases(progress: Progress | None = None) -> Paraphrases:
    """Open the table, once per process. It is converted at the first use.

    Parameters
    ----------
    progress : callable, optional
        Called with the number of converted bytes and of all bytes.

    Raises
    ------
    MissingDependencyError
        If pycocoevalcap is not installed.
    InputError
        If the table is damaged, or is not from METEOR 1.5.
    """
    source = find_table()
    if source not in opened_tables:
        opened_tables[source] = Paraphrases(*load_table(source, progress))
    return opened_tables[source]
