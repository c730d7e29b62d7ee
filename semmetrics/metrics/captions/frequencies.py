"""Document frequencies of n-grams: the fit that CIDEr needs before any caption has a value.

Conventions
-----------
A document is the reference captions of one image together; an n-gram counts once in it, however
often it occurs. An image without references is no document. The weight of an n-gram is
log(documents) - log(max(1, frequency)), 0 for one that every document has, log(documents) for one
that none has.

A fit is frozen: resamples and comparisons do not count again. Fits of different documents add up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields

import numpy as np

from semmetrics.core.hashing import Hashes, hash_strings, mix
from semmetrics.core.ngrams import NGrams, find_rows, sum_equal_rows
from semmetrics.core.ragged import Codes, Floats, Ints
from semmetrics.data.frequency_files import read_frequencies, write_frequencies
from semmetrics.data.frequency_table import FrequencyTable, frequency_table, log_of
from semmetrics.errors import InputError
from semmetrics.metrics.captions.tokens import TokenTable

__all__ = ["DocumentFrequencies"]


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(FrequencyTable):
    """In how many documents each n-gram occurs: a fit that can be saved, loaded and merged.

    Attributes
    ----------
    documents : int or None
        How many documents were counted; None where a file gives a logarithm of no integer.
    log_documents : float
    vocabulary : tuple of str
    grams, counts : tuples of int arrays
        The distinct n-grams of each order as places in the vocabulary, and their frequencies.
    tokenizer, stem : str
        How the tokens were made; "" where that is not known.

    Examples
    --------
    >>> df = DocumentFrequencies.of_counts({("a",): 2, ("a", "man"): 1}, documents=3)
    >>> len(df), (df + df).as_dict()
    (2, {('a',): 4, ('a', 'man'): 2})
    """

    def __len__(self) -> int:
        return sum(map(len, self.counts))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, documents: int | None = None
    ) -> DocumentFrequencies:
        """Read a file of ``save``, JSON, or a pickle of released code, of which nothing is run.

        Parameters
        ----------
        path : path
        documents : int, optional
            How many documents there are, where the file does not say it.

        Raises
        ------
        InputError
            If the file is none of these or a count is impossible.
        """
        return cls._of(read_frequencies(path, documents=documents))

    @classmethod
    def of_counts(
        cls,
        counts: dict[tuple[str, ...], int],
        *,
        documents: int,
        tokenizer: str = "",
        stem: str = "",
    ) -> DocumentFrequencies:
        """From a dict of n-grams.

        Raises
        ------
        InputError
            If a count is no whole number from 0 to the number of documents.
        """
        return cls._of(frequency_table(counts, documents, tokenizer, stem))

    @classmethod
    def _of(cls, table: FrequencyTable) -> DocumentFrequencies:
        return cls(**{field.name: getattr(table, field.name) for field in fields(FrequencyTable)})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it, as JSON where the path ends in .json, otherwise as .npz without pickles."""
        write_frequencies(self, path)

    def as_dict(self) -> dict[tuple[str, ...], int]:
        """The frequency of each n-gram."""
        return {
            tuple([self.vocabulary[code] for code in gram]): count
            for grams, counts in zip(self.grams, self.counts, strict=True)
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True)
        }

    @property
    def hash(self) -> str:
        """12 hex digits of the documents and frequencies, whatever their order."""
        names = hash_strings(self.vocabulary)
        if self.documents is None:
            total = int(np.float64(self.log_documents).view(np.uint64)) ^ 1 << 63
        else:
            total = self.documents
        for grams, counts in zip(self.grams, self.counts, strict=True):
            total += int(mix(_gram_hashes(names, grams) + counts.astype(np.uint64)).sum())
        return f"{int(mix(np.array([total % 2**64], np.uint64))[0]) >> 16:012x}"

    def __add__(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Frequencies in the documents of both, which share none.

        Raises
        ------
        InputError
            If their tokens were made differently, or a number of documents is not known.
        """
        for name in ("tokenizer", "stem"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise InputError(
                    f"document frequencies differ in their {name}: {mine!r} and {theirs!r}",
                    remedy="count both on tokens made in one way",
                )
        if self.documents is None or other.documents is None:
            raise InputError(
                "of one fit only the logarithm of its number of documents is known",
                remedy="give documents= when it is loaded",
            )
        names = dict.fromkeys(self.vocabulary + other.vocabulary)
        vocabulary = {token: code for code, token in enumerate(names)}
        parts = [(table, _coded(table.vocabulary, vocabulary)) for table in (self, other)]
        orders = range(max(len(self.grams), len(other.grams)))
        merged = [
            sum_equal_rows(
                np.concatenate([codes[t.grams[n]] for t, codes in parts if n < len(t.grams)]),
                np.concatenate([t.counts[n] for t, _ in parts if n < len(t.grams)]),
                len(vocabulary),
            )
            for n in orders
        ]
        documents = self.documents + other.documents
        return DocumentFrequencies(
            documents,
            log_of(documents),
            tuple(vocabulary),
            tuple(grams.astype(np.int32) for grams, _ in merged),
            tuple(counts for _, counts in merged),
            self.tokenizer,
            self.stem,
        )

    def weights(self, table: TokenTable) -> list[Floats]:
        """The weight of each distinct n-gram of some captions, for each order.

        Parameters
        ----------
        table : TokenTable

        Returns
        -------
        list of float arrays
            As long as ``table.ngrams``.
        """
        codes = {token: code for code, token in enumerate(self.vocabulary)}
        mine = _coded(table.vocabulary, codes)
        found = (np.maximum(1.0, self._found(ngrams, table, mine)) for ngrams in table.ngrams)
        return [np.maximum(0.0, self.log_documents - np.log(one)) for one in found]

    def check_tokens(self, tokenizer: str, stem: str) -> None:
        """Refuse captions whose tokens are made in another way, where it is known.

        Raises
        ------
        InputError
            If they are.
        """
        made = (("tokenizer", self.tokenizer, tokenizer), ("stem", self.stem, stem))
        for name, mine, theirs in made:
            if mine not in ("", theirs):
                raise InputError(
                    f"document frequencies were counted with {name} {mine}, and the captions "
                    f"have {theirs}",
                    remedy="count and score on tokens made in one way",
                )

    def _found(self, ngrams: NGrams, table: TokenTable, codes: Ints) -> Ints:
        """The frequencies of n-grams; 0 of those not listed."""
        if ngrams.order > len(self.grams):
            return np.zeros(len(ngrams), np.int64)
        asked = codes[ngrams.tokens(table.codes)]
        place = find_rows(self.grams[ngrams.order - 1], asked, len(self.vocabulary))
        return np.append(self.counts[ngrams.order - 1], 0)[place]


def _coded(tokens: Iterable[str], codes: dict[str, int]) -> Ints:
    return np.array([codes.get(token, -1) for token in tokens], np.int64)


def _gram_hashes(names: Hashes, grams: Codes) -> Hashes:
    """A hash of each n-gram: of its tokens in their order."""
    total = np.full(len(grams), grams.shape[1], np.uint64)
    for codes in grams.T:
        total = mix(total ^ names[codes])
    return total
