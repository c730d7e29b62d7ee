"""The general embedding that ships with semmetrics. It needs numpy only.

Conventions
-----------
A string is lower-cased, stripped of accents and apostrophes, and split into runs of ``a-z`` and
``0-9``. All other characters separate words. From left to right, the tokenizer takes the longest
run of words that is an entry of the vocabulary. A word that starts no entry is cut into its longest
prefix that is an entry, and ``##`` continuations.

A string that is one entry has the entry's vector, which the sentence model computed for that
string. Any other string has ``mean + sum(parts) / sqrt(entries / 2)``. The part of an entry is its
contribution to longer strings, fitted by the recipe. All vectors have length 1, like the
sentence model's. A string is unknown if it contains no entry, so no Latin letter or digit. A string
with a word that is cut into pieces is *composed*. Its vector is unreliable if the word is a name or
a misspelling.

``embeddings/README.md`` describes how the data was made, and ``embeddings/EVALUATION.md`` how good
it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np

from semmetrics.core.ragged import Ints, offsets, row_numbers
from semmetrics.embed.embedder import Embedded, Vectors
from semmetrics.embed.model_files import (
    ModelFiles,
    PackedRows,
    check_digest,
    reading_model,
)
from semmetrics.store.files import file_digest

FILES = ("static-rows.npy", "static-mean.npy", "static-vocabulary.txt")
"""The files that decide the vectors. The identity is the SHA-256 of their bytes in this order."""

VECTOR_SHARE = np.float32(0.7)
"""The contribution of an entry without a part, as a share of its vector minus the mean."""

_WORD = re.compile(r"[a-z0-9]+")
_APOSTROPHES = re.compile(r"['’`´]")
_LATIN_LETTERS = str.maketrans(
    {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
)
"""Letters that Unicode does not decompose into a Latin letter and an accent."""

_CONTINUATION = "##"
_MAX_WORD_LENGTH = 100
"""Letters of a word that are cut into entries. It keeps the cost linear."""
_MAX_TEXTS_PER_BATCH = 8192


# ---- words ------------------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """Split a string into plain words.

    Examples
    --------
    >>> split_words("Crème-brûlée_DISH (sweet)")
    ['creme', 'brulee', 'dish', 'sweet']
    """
    plain = _APOSTROPHES.sub("", fold_accents(text))
    return _WORD.findall(plain)


def fold_accents(text: str) -> str:
    """Return a string in lower case, with variants of Latin letters replaced by plain ones.

    Examples
    --------
    >>> fold_accents("Smørbrød und Süßes"), fold_accents("Кофе")
    ('smorbrod und susses', 'кофе')
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = [c for c in decomposed if not unicodedata.combining(c)]
    return "".join(letters).translate(_LATIN_LETTERS).lower()


def normalise(text: str) -> str:
    """Return the form of a string that is looked up in the vocabulary.

    Examples
    --------
    >>> normalise("Traffic_light")
    'traffic light'
    """
    return " ".join(split_words(text))


class Tokenizer:
    """Cut strings into vocabulary entries: the longest phrase, then the word, then its pieces.

    Parameters
    ----------
    entries : sequence of str
        Normalised words and phrases, and ``##`` continuations. The number of an entry is its
        position.

    Attributes
    ----------
    numbers : dict of str to int
        The number of each entry.

    Examples
    --------
    >>> tokenizer = Tokenizer(["traffic light", "traffic", "chain", "##saw", "##s"])
    >>> tokenizer("Traffic-light chainsaws"), tokenizer("traffic sign")
    ([0, 2, 3, 4], [1])
    """

    def __init__(self, entries: Sequence[str]) -> None:
        self.numbers = dict(zip(entries, range(len(entries)), strict=True))
        most_spaces = max((entry.count(" ") for entry in entries), default=0)
        self._max_words = most_spaces + 1

    def find(self, text: str) -> int | None:
        """Return the number of the entry for a whole string, or None."""
        number = self.numbers.get(text)
        if number is None or text.startswith(_CONTINUATION):
            number = self.numbers.get(normalise(text))
        return number

    def __call__(self, text: str) -> list[int]:
        """Return the numbers of the entries in a string, from left to right."""
        number = self.numbers.get(text)
        if number is not None and not text.startswith(_CONTINUATION):
            return [number]
        words = split_words(text)
        numbers = []
        start = 0
        while start < len(words):
            max_words = min(self._max_words, len(words) - start)
            for n_words in range(max_words, 0, -1):
                number = self.numbers.get(" ".join(words[start : start + n_words]))
                if number is not None:
                    break
            if number is None:  # not even the first word is an entry, and n_words is 1
                numbers += self._cut_word(words[start])
            else:
                numbers.append(number)
            start += n_words
        return numbers

    def _cut_word(self, word: str) -> list[int]:
        """Return the numbers of the longest prefix of a word and of its continuations.

        A letter is skipped if no entry starts with it.
        """
        word = word[:_MAX_WORD_LENGTH]
        numbers = []
        start = 0
        while start < len(word):
            prefix = _CONTINUATION if start else ""
            for end in range(len(word), start, -1):
                number = self.numbers.get(prefix + word[start:end])
                if number is not None:
                    numbers.append(number)
                    break
            start = end  # start + 1 if no entry was found
        return numbers


# ---- models -----------------------------------------------------------------------------


class _VectorRows(Protocol):
    """Vectors by row, such as a float32 matrix or `PackedRows`."""

    def __len__(self) -> int: ...

    def __getitem__(self, rows: Ints, /) -> Vectors: ...


class StaticModel:
    """A vocabulary with vectors, which are combined into vectors of strings.

    Parameters
    ----------
    entries : sequence of str
        First the continuations, then the other entries that have a part, then those without.
    rows : array or PackedRows
        For each entry that is not a continuation, its vector minus ``mean``. Then the parts.
    mean : float32 array, shape (dimension,)

    Attributes
    ----------
    tokenizer : Tokenizer
    """

    def __init__(
        self, entries: Sequence[str], rows: _VectorRows, mean: Vectors
    ) -> None:
        self.tokenizer = Tokenizer(entries)
        self._rows = rows
        self._mean = np.array(mean, np.float32)
        self._n_continuations = _count_continuations(entries)
        self._n_vectors = len(entries) - self._n_continuations
        self._n_parts = len(rows) - self._n_vectors

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings, of length 1, or zeros if a string has no entry.

        A string with a continuation among its entries is composed.
        """
        entries_of_texts = [self.tokenizer(text) for text in texts]
        n_texts = len(entries_of_texts)
        counts = np.fromiter(map(len, entries_of_texts), np.int64, n_texts)
        indptr = offsets(counts)
        n_entries = int(counts.sum())
        entries = np.fromiter(
            chain.from_iterable(entries_of_texts), np.int64, n_entries
        )
        starts = indptr[:-1]
        vectors = np.zeros((n_texts, len(self._mean)), np.float32)
        for low in range(0, n_texts, _MAX_TEXTS_PER_BATCH):
            batch = slice(low, low + _MAX_TEXTS_PER_BATCH)
            self._fill(vectors[batch], entries, starts[batch], counts[batch])
        composed = np.zeros(n_texts, np.bool_)
        is_continuation = entries < self._n_continuations
        composed[row_numbers(indptr)[is_continuation]] = True
        return Embedded(vectors, counts > 0, composed=composed)

    def _fill(
        self, vectors: Vectors, entries: Ints, starts: Ints, counts: Ints
    ) -> None:
        """Write the vectors of a batch of strings.

        The first entries of all strings are added, then all second entries, and so on. So the sum
        of a string is formed from left to right and does not depend on the rest of the batch.

        Parameters
        ----------
        vectors : float32 array, shape (n_texts, dimension)
            Zeros, which are overwritten.
        entries : int array
            The entries of all strings.
        starts, counts : int arrays, shape (n_texts,)
            The position of the first entry of each string, and the number of its entries.
        """
        single = np.flatnonzero(counts == 1)
        vectors[single] = self._rows[entries[starts[single]] - self._n_continuations]
        for place in range(int(counts.max(initial=0))):
            texts = np.flatnonzero((counts > place) & (counts > 1))
            vectors[texts] += self._contributions(entries[starts[texts] + place])
        several = np.flatnonzero(counts > 1)
        divisors = np.sqrt(counts[several] / 2).astype(np.float32)
        vectors[several] /= divisors[:, None]
        vectors[counts > 0] += self._mean
        scale_to_unit_length(vectors)

    def _contributions(self, entries: Ints) -> Vectors:
        """Return what entries add to longer strings: their part, or a share of their vector."""
        has_part = entries < self._n_parts
        rows_of_parts = self._n_vectors + entries
        rows_of_vectors = entries - self._n_continuations
        contributions = self._rows[np.where(has_part, rows_of_parts, rows_of_vectors)]
        contributions[~has_part] *= VECTOR_SHARE
        return contributions


def _count_continuations(entries: Sequence[str]) -> int:
    """Count the continuations, which come first."""
    for number, entry in enumerate(entries):
        if not entry.startswith(_CONTINUATION):
            return number
    return len(entries)


def scale_to_unit_length(vectors: Vectors) -> Vectors:
    """Scale vectors to length 1 in place, and return them. Zeros stay zeros."""
    length = np.sqrt(np.square(vectors, dtype=np.float64).sum(axis=1))[:, None]
    np.divide(vectors, length, out=vectors, where=length > 0, casting="same_kind")
    return vectors


class StaticEmbedder(StaticModel):
    """The general model of the package, or another model made by the same recipe.

    Parameters
    ----------
    folder : Path, optional
        The folder with its files. Default: the model of the package.

    Attributes
    ----------
    folder : Path
    metadata : dict
        Written by the recipe: name, dimension, threshold, source model, licence, checksums.

    Raises
    ------
    InputError
        If a file is missing, damaged or belongs to another model.

    Examples
    --------
    >>> model = StaticEmbedder()
    >>> embedded = model.embed(["car", "automobile", "tree", "日本"])
    >>> embedded.known.tolist()
    [True, True, True, False]
    >>> cosines = embedded.vectors @ embedded.vectors.T
    >>> bool(cosines[0, 1] > model.threshold > cosines[0, 2])
    True
    """

    cacheable = False

    def __init__(self, folder: Path | None = None) -> None:
        files = ModelFiles(folder, "static.json")
        self.folder = files.folder
        self.metadata = files.metadata
        with reading_model(files.description):
            recorded_shape = (self.metadata["entries"], self.metadata["dimension"])
            self._name = str(self.metadata["name"])
            self._digest = str(self.metadata["sha256"])

        rows_file, mean_file, vocabulary_file = FILES
        entries = files.read_lines(vocabulary_file, "utf-8")
        table = files.map_array(rows_file)
        with reading_model(files.path(rows_file)):
            dimension = 2 * table["codes"].shape[1]
        mean = files.load_array(mean_file)
        with reading_model(files.path(mean_file)):
            mean = np.array(mean, np.float32)

        n_vectors = len(entries) - _count_continuations(entries)
        with reading_model(self.folder):
            has_shape = recorded_shape == (len(entries), dimension)
            has_rows = n_vectors < len(table) <= n_vectors + len(entries)
            if not has_shape or mean.shape != (dimension,) or not has_rows:
                raise ValueError("its files belong to different models")
        super().__init__(entries, PackedRows(table), mean)

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self.metadata["dimension"])

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files that decide the vectors."""
        return tuple(self.folder / name for name in FILES)

    @cached_property
    def identity(self) -> str:
        """``semmetrics-static-<dimension>@`` and the first 12 digits of the files' SHA-256."""
        digest = file_digest(*self.paths)
        check_digest(self.folder, digest, self._digest)
        return f"{self._name}-{self.dimension}@{digest[:12]}"

    @property
    def threshold(self) -> float:
        """The cosine above which two labels match."""
        return float(self.metadata["threshold"])


@cache
def open_static(folder: str = "") -> StaticEmbedder:
    """Open the model in a folder, once. Default: the model of the package."""
    return StaticEmbedder(Path(folder) if folder else None)
