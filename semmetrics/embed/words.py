"""Word vectors, from a file or from memory.

Conventions
-----------
Vectors are float32 and have the values of the file, not normalised. The identity contains the
SHA-256 of the unpacked content of the file. So a file, its packed version and its converted form
have the same identity, and reading only the first words changes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.arguments import check_once
from semmetrics.core.backend import to_numpy
from semmetrics.core.ragged import Bools, Ints
from semmetrics.embed.embedder import (
    Embedded,
    Vectors,
    as_matrix,
    check_finite,
    format_identity,
)
from semmetrics.embed.word_index import Index, KeyIndex
from semmetrics.errors import InputError

Compose: TypeAlias = Callable[[Sequence[str]], tuple[Vectors, Bools]]
"""Returns vectors of words that have no row, and whether each word has a vector."""


class VectorTable(Protocol):
    """Vectors by row, such as an array or rows of a file that are read when they are needed."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows, and the length of a vector."""
        ...

    def __getitem__(self, rows: Ints, /) -> NDArray[Any]: ...


class WordVectors:
    """Vectors of words.

    Parameters
    ----------
    index : Index
        The rows of words.
    table : array, shape (rows, dimension)
        Or another object with this shape that returns the vectors of an array of row numbers.
    name : str
    digest : callable
        Returns the SHA-256, in hex, of everything that decides the vectors. Called at most once.
    where : str
        What messages call the vectors. Default: the name.
    compose : callable, optional
        Composes vectors of words without a row from their parts.

    Attributes
    ----------
    lookup : str
        The default rule for looking up labels.

    Examples
    --------
    >>> from semmetrics.embed.word_index import WordIndex
    >>> index = WordIndex.build([b"cat", b"dog"])
    >>> vectors = WordVectors(index, np.eye(2), name="toy", digest=lambda: "0" * 64)
    >>> vectors.identity, "cat" in vectors, vectors.find(["dog", "cow"]).tolist()
    ('toy-2@000000000000', True, [1, -1])
    >>> vectors.embed(["dog", "cow"]).known.tolist()
    [True, False]
    """

    lookup = "words"

    def __init__(
        self,
        index: Index,
        table: VectorTable,
        *,
        name: str,
        digest: Callable[[], str],
        where: str = "",
        compose: Compose | None = None,
    ) -> None:
        self.index = index
        self.name = name
        self.where = where or name
        self.compose = compose
        self._table = table
        self._compute_digest = digest

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return int(self._table.shape[1])

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that decides the vectors, in hex."""
        return self._compute_digest()

    @property
    def identity(self) -> str:
        """The name of the vectors in signatures."""
        return format_identity(self.name, self.dimension, self.digest)

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.find([word])[0] >= 0)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, or -1."""
        return self.index.find(words)

    def words(self, rows: Ints) -> list[str]:
        """Return the words of rows."""
        return [self.index.word(row) for row in rows.tolist()]

    def rows(self, numbers: Ints) -> Vectors:
        """Return the vectors of rows, with zeros for the row -1.

        Raises
        ------
        InputError
            If a number is not finite. The message names the word.
        """
        numbers = np.asarray(numbers, np.int64)
        distinct_rows, places = np.unique(numbers, return_inverse=True)
        is_listed = distinct_rows >= 0
        listed_rows = distinct_rows[is_listed]
        vectors = np.zeros((len(distinct_rows), self.dimension), np.float32)
        vectors[is_listed] = self._table[listed_rows]
        if not np.isfinite(vectors).all():
            remedy = "the file is damaged. Copy, convert or download it again"
            words = self.words(listed_rows)
            check_finite(vectors[is_listed], words, self.where, remedy)
        return vectors[places]

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of words, in exactly this spelling."""
        rows = self.find(texts)
        vectors = self.rows(rows)
        known = rows >= 0
        missing = np.flatnonzero(~known)
        if self.compose is not None and len(missing):
            words = [texts[place] for place in missing.tolist()]
            composed_vectors, has_vector = self.compose(words)
            vectors[missing] = composed_vectors
            known[missing] = has_vector
        return Embedded(vectors, known)


class MatrixEmbedder(WordVectors):
    """Vectors that were computed elsewhere, with one row per string.

    Parameters
    ----------
    vectors : array, shape (n_texts, dimension)
    texts : sequence of str
        All different.
    name : str
        The name in signatures.
    lookup : str
        The default rule for looking up labels. "exact" finds whole labels only, "words" also
        averages the vectors of words.
    where : str
        What messages call the vectors.

    Raises
    ------
    InputError
        If shapes do not fit, a string is repeated, or a number is not finite.

    Examples
    --------
    >>> model = MatrixEmbedder([[1, 0], [0, 1]], ["cat", "traffic light"])
    >>> model.embed(["cat", "cow"]).known.tolist(), model.lookup
    ([True, False], 'exact')
    """

    def __init__(
        self,
        vectors: ArrayLike,
        texts: Sequence[str],
        *,
        name: str = "matrix",
        lookup: str = "exact",
        where: str = "",
    ) -> None:
        where = where or name
        texts = [str(text) for text in texts]
        table = as_matrix(vectors, texts, where)
        check_once(texts, "duplicate", where, role="the string")
        digest = partial(_digest_matrix, table, texts)
        super().__init__(KeyIndex(texts), table, name=name, digest=digest, where=where)
        self.lookup = lookup


def _digest_matrix(table: Vectors, texts: Sequence[str]) -> str:
    """Return the SHA-256 of a matrix of vectors and their strings."""
    shape = f" {table.shape} ".encode()
    return content_digest(texts, shape, np.ascontiguousarray(table).data)


def content_digest(words: Sequence[str], *parts: bytes | memoryview) -> str:
    """Return the SHA-256, in hex, of words and of the bytes of their vectors."""
    state = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass"))
    for part in parts:
        state.update(part)
    return state.hexdigest()


# ---- mappings ---------------------------------------------------------------------------


def from_words(vectors: Mapping[Any, Any], where: str = "embedding") -> MatrixEmbedder:
    """Return the word vectors of a mapping.

    The identity depends neither on the order of the words nor on the type of the vectors.

    Parameters
    ----------
    vectors : mapping from word to array or list of numbers, of one length
    where : str
        What messages call the mapping.

    Raises
    ------
    InputError
        If a value is not a vector of finite numbers, or has another length. The message names the
        word.

    Examples
    --------
    >>> model = from_words({"kitten": [1, 0.5], "cat": [1, 0]})
    >>> model.identity, model.embed(["cat", "cow"]).known.tolist(), model.lookup
    ('words-2@58ce4cf87e89', [True, False], 'words')
    """
    if not vectors:
        remedy = "give the vector of each"
        raise InputError("nothing-given", where, what="words", remedy=remedy)
    sorted_words = sorted(vectors, key=str)
    first_word = next(iter(vectors))
    first_vector = _as_array(vectors[first_word])
    # The length of anything but a vector says nothing about the other vectors.
    length = first_vector.size if first_vector.ndim == 1 else 0
    _read_vector(first_word, vectors[first_word], length, where)
    rows = [_read_vector(word, vectors[word], length, where) for word in sorted_words]
    texts = [str(word) for word in sorted_words]
    table = np.array(rows)
    return MatrixEmbedder(table, texts, name="words", lookup="words", where=where)


def _read_vector(word: Any, value: Any, length: int, where: str) -> NDArray[Any]:
    """Return the vector of a word, and raise if it is not a vector of this length."""
    vector = _as_array(value)
    is_vector = vector.ndim == 1 and vector.dtype.kind in "iuf"
    if not is_vector or vector.size != length or not length:
        wanted = f"a list of {length} numbers" if length else "a list of numbers"
        role = f"the vector of {word!r}"
        raise InputError("out-of-range", where, role=role, value=value, wanted=wanted)
    return vector


def _as_array(value: Any) -> NDArray[Any]:
    """Return a value as an array. A value that cannot be converted is an array without axes."""
    try:
        return to_numpy(value)
    except (TypeError, ValueError, RuntimeError):
        # A tensor with a gradient raises RuntimeError.
        return np.array(None)
