"""Word vectors: words found without loading the vectors, rows read when they are needed.

Conventions
-----------
Vectors are float32 and as the file has them, not normalised. The identity carries the SHA-256 of
the file's content (unpacked), so that a file, the same file packed, and its converted form are the
same vectors in signatures; reading only the first words makes another identity.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from semmetrics.core.ragged import Bools, Ints
from semmetrics.embed.base import Embedded, Vectors
from semmetrics.embed.buffers import digest, mapped
from semmetrics.embed.formats import Table, scan, told
from semmetrics.embed.index import Index, WordIndex
from semmetrics.errors import InputError

__all__ = ["KINDS", "WordVectors", "identity", "limited", "read_vectors"]

KINDS = ("word2vec", "glove", "fasttext")
Compose = Callable[[Sequence[str]], tuple[Vectors, Bools]]


def identity(name: str, dimension: int, digest: str) -> str:
    """What vectors are called in signatures.

    Examples
    --------
    >>> identity("word2vec-googlenews-300", 300, "21c05ae916a67a4d")
    'word2vec-googlenews-300@21c05ae916a6'
    """
    plain = re.sub(r"[\s|@:]+", "-", name).strip("-") or "vectors"
    return f"{plain.removesuffix(f'-{dimension}')}-{dimension}@{digest[:12]}"


def limited(digest: str, limit: int | None) -> str:
    """The digest of the first words of a file."""
    if limit is None:
        return digest
    return hashlib.sha256(f"{digest} limit {limit}".encode()).hexdigest()


class WordVectors:
    """Vectors of words.

    Parameters
    ----------
    index : Index
        The rows of words.
    table : Table
        The numbers of rows.
    name : str
    digest : callable
        Gives the SHA-256 of what decides the vectors, in hex; called once, when it is needed.
    where : str
        What messages call the vectors.
    compose : callable, optional
        Vectors of words that have no row, from their parts, and which of them have one.

    Attributes
    ----------
    lookup : str
        The rule by which a label's vector is found where none is named.

    Examples
    --------
    >>> from semmetrics.embed.formats import ArrayTable
    >>> index = WordIndex.build([b"cat", b"dog"])
    >>> table = ArrayTable(np.array([[1, 0], [0, 1]]))
    >>> vectors = WordVectors(index, table, name="toy", digest=lambda: "0" * 64)
    >>> vectors.identity, "cat" in vectors, vectors.find(["dog", "cow"]).tolist()
    ('toy-2@000000000000', True, [1, -1])
    >>> vectors.embed(["dog", "cow"]).known.tolist()
    [True, False]
    """

    lookup = "words"

    def __init__(
        self,
        index: Index,
        table: Table,
        *,
        name: str,
        digest: Callable[[], str],
        where: str = "",
        compose: Compose | None = None,
    ) -> None:
        self.index, self._table, self._digest = index, table, digest
        self.name, self.where, self.compose = name, where or name, compose

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self._table.dimension

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what decides the vectors."""
        return self._digest()

    @property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        return identity(self.name, self.dimension, self.digest)

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.find([word])[0] >= 0)

    def find(self, words: Sequence[str]) -> Ints:
        """The row of each word, -1 where there is none."""
        return self.index.find(words)

    def words(self, rows: Ints) -> list[str]:
        """The words of rows."""
        return [self.index.word(row) for row in rows.tolist()]

    def rows(self, numbers: Ints) -> Vectors:
        """The vectors of rows; those of -1 are zeros.

        Raises
        ------
        InputError
            If a number is not finite; names the word.
        """
        numbers = np.asarray(numbers, np.int64)
        distinct, place = np.unique(numbers, return_inverse=True)
        there = distinct >= 0
        vectors = np.zeros((len(distinct), self.dimension), np.float32)
        vectors[there] = self._table.rows(distinct[there])
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            word = self.index.word(int(distinct[~finite][0]))
            raise InputError(
                f"the vector of {word!r} holds a number that is not finite",
                where=self.where,
                remedy="it is damaged: copy, convert or download it again",
            )
        return vectors[place]

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of words as they are written; what is no word is unknown."""
        found = self.find(texts)
        vectors, known = self.rows(found), found >= 0
        missing = np.flatnonzero(~known)
        if self.compose is not None and len(missing):
            vectors[missing], known[missing] = self.compose([texts[i] for i in missing.tolist()])
        return Embedded(vectors, known)


def read_vectors(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    member: str | None = None,
) -> WordVectors:
    """Open a file of word vectors; its words are read, their vectors when they are needed.

    Parameters
    ----------
    path : str or path
        word2vec (binary or text), GloVe text, or fastText (text, or a model), perhaps packed with
        gzip or zip.
    kind : {"word2vec", "glove", "fasttext"}, optional
        None tells it by the content.
    limit : int, optional
        Read the first words only, which are the most frequent ones.
    name : str, optional
        For signatures; None is the file's name.
    member : str, optional
        The file in a zip archive.

    Returns
    -------
    WordVectors

    Raises
    ------
    InputError
        If it is missing, of another kind, damaged or cut off.
    """
    file = Path(path)
    where, name = str(path), name or stem(file)
    if kind is not None and kind not in KINDS:
        raise InputError(f"{kind!r} is no kind of word vectors", remedy=f"use {', '.join(KINDS)}")
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit}", remedy="give a number of words, at least 1")
    buffer = mapped(file, member)
    form = told(buffer, where)
    _check_kind(kind, form, where)
    if form == "fasttext":
        from semmetrics.embed.keyed import read_fasttext

        return read_fasttext(file, limit=limit, name=name)
    scanned = scan(buffer, form, limit, where)
    return WordVectors(
        WordIndex.build(scanned.words),
        scanned.table,
        name=name,
        digest=lambda: limited(digest(buffer), limit),
        where=where,
    )


def _check_kind(kind: str | None, form: str, where: str) -> None:
    forms = {
        "word2vec": ("binary", "text"),
        "glove": ("glove", "text"),
        "fasttext": ("fasttext", "text"),
    }
    if kind is None or form in forms[kind]:
        return
    names = {"binary": "word2vec", "text": "word2vec", "glove": "glove", "fasttext": "fasttext"}
    raise InputError(
        f"it is not what {kind}: says, but {names[form]}",
        where=where,
        remedy=f"write {names[form]}:{where}, or leave the kind out",
    )


def stem(path: Path) -> str:
    """The name of a file without its endings.

    Examples
    --------
    >>> stem(Path("GoogleNews-vectors-negative300.bin.gz")), stem(Path("glove.6B.300d.txt"))
    ('GoogleNews-vectors-negative300', 'glove.6B.300d')
    """
    name = re.sub(r"\.(gz|zip)$", "", path.name, flags=re.IGNORECASE)
    return re.sub(r"\.(bin|txt|vec|kv|model|npy|npz|parquet)$", "", name, flags=re.IGNORECASE)
