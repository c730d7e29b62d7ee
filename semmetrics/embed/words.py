"""Word vectors: words found without loading the vectors, rows read when they are needed.

Conventions
-----------
Vectors are float32 and as the file has them, not normalised. The identity carries the SHA-256 of
the file's content (unpacked), so that a file, the same file packed, and its converted form are the
same vectors in signatures; reading only the first words makes another identity.

The words of large files are kept as UTF-8 bytes, one after the other, with offsets; a word is found
by a binary search for its 64-bit hash and is then compared itself. Of equal words the first row
counts.

The converted form is a folder that is mapped into memory and opens at once. It holds
``vectors.npy`` (float32, one row a word), the word index (``words.utf8``, ``offsets.npy``,
``hashes.npy``, ``order.npy``) and ``meta.json``: name, dimension, source and its SHA-256, sizes and
SHA-256 of the parts, all taken when it is converted. ``checksums.npy`` has a checksum of each row.
Opening compares sizes and a fast checksum of the index, and reading a row compares its checksum, so
damaged vectors raise an error. `verify` compares the SHA-256 of all parts. A folder from before
0.2.0 has no checksums, and is verified when it is opened.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics._version import __version__
from semmetrics.arguments import check_once
from semmetrics.core.backend import to_numpy
from semmetrics.core.hashing import Hashes, bytes_checksum, hash_strings, row_checksums
from semmetrics.core.ragged import Bools, Ints, offsets
from semmetrics.embed.embedder import (
    Embedded,
    Vectors,
    as_matrix,
    check_finite,
    format_identity,
)
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.store.files import file_digest, replacing
from semmetrics.store.matrix_files import npy_header

SCHEMA = "semmetrics.vectors/1"
META, VECTORS = "meta.json", "vectors.npy"
CHECKSUMS = "checksums.npy"
INDEX_FILES = ("hashes.npy", "order.npy", "offsets.npy", "words.utf8")
_BLOCK = 1 << 14
Compose: TypeAlias = Callable[[Sequence[str]], tuple[Vectors, Bools]]


def hash_version() -> str:
    """Return what changes when other hashes are computed than those of a saved index."""
    return f"{int(hash_strings(['semmetrics'])[0]):016x}"


class WordIndex:
    """Words as one block of bytes, found through their sorted hashes.

    Parameters
    ----------
    hashes : uint64 array, shape (words,)
        Rising.
    order : int array, shape (words,)
        The row of each hash; equal hashes by rising row.
    starts : int array, shape (words + 1,)
        Where each row's word begins in ``text``.
    text : bytes or memory map

    Examples
    --------
    >>> index = WordIndex.build([b"cat", b"dog", b"cat"])
    >>> index.find(["dog", "cow", "cat"]).tolist(), index.word(1)
    ([1, -1, 0], 'dog')
    """

    def __init__(
        self, hashes: Hashes, order: NDArray[Any], starts: Ints, text: Any
    ) -> None:
        self._hashes, self._order, self._starts, self._text = (
            hashes,
            order,
            starts,
            text,
        )

    @classmethod
    def build(cls, words: Sequence[bytes]) -> WordIndex:
        """Index words given as UTF-8; bytes that are no UTF-8 are kept, and never found."""
        hashes = hash_strings([word.decode("utf-8", "replace") for word in words])
        order = np.argsort(hashes, kind="stable")
        starts = offsets(np.fromiter(map(len, words), np.int64, len(words)))
        return cls(hashes[order], order.astype(np.int32), starts, b"".join(words))

    def __len__(self) -> int:
        return len(self._order)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, -1 where there is none."""
        rows = np.full(len(words), -1, np.int64)
        if not len(words) or not len(self):
            return rows
        hashes = hash_strings(words)
        place = np.searchsorted(self._hashes, hashes)
        near = np.minimum(place, len(self) - 1)
        for number in np.flatnonzero(self._hashes[near] == hashes).tolist():
            wanted, at = (
                words[number].encode("utf-8", "surrogatepass"),
                int(place[number]),
            )
            while at < len(self) and self._hashes[at] == hashes[number]:
                row = int(self._order[at])
                if self._bytes(row) == wanted:
                    rows[number] = row
                    break
                at += 1
        return rows

    def _bytes(self, row: int) -> bytes:
        return bytes(self._text[int(self._starts[row]) : int(self._starts[row + 1])])

    def word(self, row: int) -> str:
        """Return the word of a row."""
        return self._bytes(row).decode("utf-8", "replace")

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        parts = self._hashes, self._order, self._starts
        for name, part in zip(INDEX_FILES[:3], parts, strict=True):
            np.save(folder / name, part, allow_pickle=False)
        (folder / INDEX_FILES[3]).write_bytes(self._text)

    @classmethod
    def open(cls, folder: Path) -> WordIndex:
        """Map a saved index into memory; nothing is read before it is needed."""
        hashes, order, starts = (
            np.load(folder / name, mmap_mode="r", allow_pickle=False)
            for name in INDEX_FILES[:3]
        )
        with (folder / INDEX_FILES[3]).open("rb") as file:
            text = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if not len(hashes) == len(order) == len(starts) - 1 or int(starts[-1]) != len(
            text
        ):
            raise ValueError("the parts of the word index are of different lengths")
        return cls(hashes, order, starts, text)


class CheckedRows:
    """Rows of a mapped file, each compared with its checksum when it is read.

    Parameters
    ----------
    rows : float32 array, shape (rows, dimension)
    checksums : uint64 array, shape (rows,)
    folder : Path
        Which errors name.

    Attributes
    ----------
    shape : pair of int
    """

    def __init__(self, rows: NDArray[Any], checksums: Hashes, folder: Path) -> None:
        self._rows, self._checksums, self._folder = rows, checksums, folder
        self.shape = rows.shape

    def __getitem__(self, numbers: Ints) -> Vectors:
        rows: Vectors = self._rows[numbers]
        if not np.array_equal(_vector_checksums(rows), self._checksums[numbers]):
            why = f"the checksum of a row of {VECTORS} differs"
            raise InputError("damaged", self._folder, why=why)
        return rows


def _vector_checksums(rows: Vectors) -> Hashes:
    return row_checksums(np.ascontiguousarray(rows, np.float32).view(np.uint32))


def _index_checksum(folder: Path, meta: Mapping[str, Any]) -> str:
    """Return the checksum of all that rows' own checksums leave out."""
    described = {key: value for key, value in meta.items() if key != "index_checksum"}
    text = json.dumps(described, sort_keys=True).encode()
    vectors = np.memmap(folder / VECTORS, np.uint8, "r")
    header = vectors[: max(0, len(vectors) - 4 * meta["words"] * meta["dimension"])]
    parts = [np.frombuffer(text, np.uint8), header]
    parts += [
        np.memmap(folder / name, np.uint8, "r") for name in (*INDEX_FILES, CHECKSUMS)
    ]
    return bytes_checksum(*parts)


class KeyIndex:
    """Words of a mapping from word to row.

    Parameters
    ----------
    words : sequence of str
    rows : mapping from str to int, optional
        Where it is there already.
    """

    def __init__(
        self, words: Sequence[str], rows: Mapping[str, int] | None = None
    ) -> None:
        self._words = words
        self._rows = (
            {word: row for row, word in enumerate(words)} if rows is None else rows
        )

    def __len__(self) -> int:
        return len(self._words)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, -1 where there is none."""
        return np.fromiter(
            (self._rows.get(word, -1) for word in words), np.int64, len(words)
        )

    def word(self, row: int) -> str:
        """Return the word of a row."""
        return self._words[row]


class WordVectors:
    """Vectors of words.

    Parameters
    ----------
    index : WordIndex or KeyIndex
        The rows of words.
    table : array, shape (rows, dimension)
        Or what has its ``shape`` and gives the rows of an array of numbers, as a memory map does.
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
        index: WordIndex | KeyIndex,
        table: Any,
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
        return int(self._table.shape[1])

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what decides the vectors."""
        return self._digest()

    @property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        return format_identity(self.name, self.dimension, self.digest)

    def __len__(self) -> int:
        return len(self.index)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and bool(self.find([word])[0] >= 0)

    def find(self, words: Sequence[str]) -> Ints:
        """Return the row of each word, -1 where there is none."""
        return self.index.find(words)

    def words(self, rows: Ints) -> list[str]:
        """Return the words of rows."""
        return [self.index.word(row) for row in rows.tolist()]

    def rows(self, numbers: Ints) -> Vectors:
        """Return the vectors of rows; those of -1 are zeros.

        Raises
        ------
        InputError
            If a number is not finite; names the word.
        """
        numbers = np.asarray(numbers, np.int64)
        distinct, place = np.unique(numbers, return_inverse=True)
        listed = distinct >= 0
        vectors = np.zeros((len(distinct), self.dimension), np.float32)
        vectors[listed] = self._table[distinct[listed]]
        if not np.isfinite(vectors).all():
            remedy = "it is damaged: copy, convert or download it again"
            check_finite(
                vectors[listed], self.words(distinct[listed]), self.where, remedy
            )
        return vectors[place]

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of words as they are written; what is not listed is unknown."""
        found = self.find(texts)
        vectors, known = self.rows(found), found >= 0
        missing = np.flatnonzero(~known)
        if self.compose is not None and len(missing):
            vectors[missing], known[missing] = self.compose(
                [texts[i] for i in missing.tolist()]
            )
        return Embedded(vectors, known)


class MatrixEmbedder(WordVectors):
    """Vectors that were computed elsewhere, one row a text.

    Parameters
    ----------
    vectors : array, shape (texts, dimension)
    texts : sequence of str
        Each once.
    name : str
        For signatures.
    lookup : str
        The rule by which a label's vector is found where none is named; "exact" takes whole
        labels only, "words" also means of words.
    where : str
        What messages call it.

    Raises
    ------
    InputError
        If shapes do not fit, a text is there twice, or a number is not finite.

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
        check_once(texts, "duplicate", where, role="the text")

        def digest() -> str:
            shape = f" {table.shape} ".encode()
            return content_digest(texts, shape, np.ascontiguousarray(table).data)

        super().__init__(KeyIndex(texts), table, name=name, digest=digest, where=where)
        self.lookup = lookup


def from_words(vectors: Mapping[Any, Any], where: str = "embedding") -> MatrixEmbedder:
    """Return the word vectors of a mapping; their order decides nothing, neither does the type.

    Parameters
    ----------
    vectors : mapping from word to array or list of numbers, of one length
    where : str
        What messages call it.

    Raises
    ------
    InputError
        If a value is no vector of finite numbers, or of another length; names the word.

    Examples
    --------
    >>> model = from_words({"kitten": [1, 0.5], "cat": [1, 0]})
    >>> model.identity, model.embed(["cat", "cow"]).known.tolist(), model.lookup
    ('words-2@58ce4cf87e89', [True, False], 'words')
    """
    values = {word: vectors[word] for word in sorted(vectors, key=str)}
    if not values:
        raise InputError(
            "nothing-given", where, what="words", remedy="give the vector of each"
        )
    rows, length = {}, 0
    # the first word's length is that of all
    for word in [
        next(iter(vectors)),
        *values,
    ]:
        try:
            row = to_numpy(values[word])
        except (
            TypeError,
            ValueError,
            RuntimeError,
        ):
            # a tensor with a gradient raises the last
            row = np.array(None)
        length = length or row.size
        if (
            row.ndim != 1
            or row.size != length
            or not length
            or row.dtype.kind not in "iuf"
        ):
            wanted = f"a list of {length} numbers" if length else "a list of numbers"
            role = f"the vector of {word!r}"
            raise InputError(
                "out-of-range", where, role=role, value=values[word], wanted=wanted
            )
        rows[word] = row
    table, words = np.array([rows[word] for word in values]), list(map(str, values))
    return MatrixEmbedder(table, words, name="words", lookup="words", where=where)


def content_digest(words: Sequence[str], *parts: bytes | memoryview) -> str:
    """Return the SHA-256 of words and of what stands for their vectors, in hex."""
    state = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass"))
    for part in parts:
        state.update(part)
    return state.hexdigest()


def is_converted(path: Path) -> bool:
    """Return whether a path is a folder of converted vectors."""
    return (path / META).is_file() and (path / VECTORS).exists()


def convert(
    vectors: WordVectors,
    folder: str | os.PathLike[str],
    *,
    licence: str = "",
    source: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write word vectors in the form that opens at once.

    Parameters
    ----------
    vectors : WordVectors
    folder : path
        A folder that does not exist yet; it appears when it is complete.
    licence, source : str
        For the metadata: the licence, and where the vectors come from.
    progress : callable, optional
        Called with rows done and rows in all.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        If the folder exists or cannot be written, or a vector is not finite.
    """
    target = Path(folder)
    if target.exists():
        raise InputError("exists", target)
    with replacing(target, folder=True) as place:
        zeros, checksums = _write(vectors, place / VECTORS, progress)
        np.save(place / CHECKSUMS, checksums, allow_pickle=False)
        index = vectors.index
        if not isinstance(index, WordIndex):
            words = vectors.words(np.arange(len(vectors)))
            index = WordIndex.build(
                [word.encode("utf-8", "surrogatepass") for word in words]
            )
        index.save(place)
        digest = vectors.digest
        if vectors.compose is not None:  # vectors of unlisted words are lost
            digest = hashlib.sha256(f"{digest} listed words".encode()).hexdigest()
        meta = {
            "schema": SCHEMA,
            "name": vectors.name,
            "words": len(vectors),
            "dimension": vectors.dimension,
            "zero_vectors": zeros,
            "identity": format_identity(vectors.name, vectors.dimension, digest),
            "source": source or vectors.where,
            "sha256": digest,
            "licence": licence,
            "hash": hash_version(),
            "semmetrics": __version__,
            "files": {
                name: {
                    "bytes": (place / name).stat().st_size,
                    "sha256": file_digest(place / name),
                }
                for name in (VECTORS, CHECKSUMS, *INDEX_FILES)
            },
        }
        meta["index_checksum"] = _index_checksum(place, meta)
        (place / META).write_text(
            json.dumps(meta, indent=1, ensure_ascii=False), "utf-8"
        )
    return target


def _write(
    vectors: WordVectors, path: Path, progress: Callable[[int, int], None] | None
) -> tuple[int, Hashes]:
    """Write all rows, a block at a time; return the number of zero vectors, and checksums."""
    total, zeros, kind = len(vectors), 0, np.dtype(np.float32)
    checksums = np.zeros(total, np.uint64)
    # Written and not assigned to a map of the file: on a full disk, that ends the process.
    with path.open("wb") as out:
        out.write(npy_header((total, vectors.dimension), kind))
        for start in range(0, total, _BLOCK):
            stop = min(start + _BLOCK, total)
            block = np.ascontiguousarray(vectors.rows(np.arange(start, stop)), kind)
            zeros += int((~block.any(axis=1)).sum())
            checksums[start:stop] = _vector_checksums(block)
            out.write(block.data.cast("B"))
            report_progress(progress, stop, total, "converting", "word")
    return zeros, checksums


def read_meta(folder: Path) -> dict[str, Any]:
    """Return the metadata of a folder of converted vectors.

    Raises
    ------
    InputError
        If they are missing or damaged.
    """
    try:
        meta = dict(json.loads((folder / META).read_text("utf-8")))
        schema = meta["schema"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError("not-converted", folder) from None
    keys = ("name", "words", "dimension", "sha256", "hash", "files")
    lacking = [f"{META} has no {key!r}" for key in keys if key not in meta]
    if schema != SCHEMA:
        lacking = [f"its schema is {schema!r}, not {SCHEMA!r}"]
    if lacking:
        raise InputError("damaged", folder, why=lacking[0])
    return meta


def open_converted(path: str | os.PathLike[str]) -> WordVectors:
    """Open converted vectors; nothing is read before it is needed.

    Parameters
    ----------
    path : str or path
        The folder.

    Returns
    -------
    WordVectors

    Raises
    ------
    InputError
        If a part is missing, or differs from what was written.
    """
    folder = Path(path)
    meta = read_meta(folder)
    if "index_checksum" not in meta:  # it was converted before 0.2.0
        verify(folder)
    try:
        has_checksums = "index_checksum" in meta
        _check_parts(folder, meta)
        rows: Any = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        index, shape = WordIndex.open(folder), (meta["words"], meta["dimension"])
        if (
            rows.shape != shape
            or rows.dtype != np.float32
            or len(index) != meta["words"]
        ):
            raise ValueError(f"{VECTORS} has shape {rows.shape}, not {shape}")
        if has_checksums:
            checksums = np.load(folder / CHECKSUMS, mmap_mode="r", allow_pickle=False)
            rows = CheckedRows(rows, checksums, folder)
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError("damaged", folder, why=error) from None
    name, sha256 = str(meta["name"]), str(meta["sha256"])
    return WordVectors(index, rows, name=name, digest=lambda: sha256, where=str(folder))


def _check_parts(folder: Path, meta: dict[str, Any]) -> None:
    """Raise a ValueError if a file has another size, or the index differs from what was written."""
    for name, part in meta["files"].items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != part["bytes"]:
            raise ValueError(f"{name} is missing or has another size")
    if meta["hash"] != hash_version():
        raise ValueError("its word index is from another version")
    has_checksum = "index_checksum" in meta
    if has_checksum and meta["index_checksum"] != _index_checksum(folder, meta):
        raise ValueError("the checksum of its metadata and index differs")


def verify(path: str | os.PathLike[str]) -> None:
    """Compare all parts with the digests that were taken when they were written.

    Raises
    ------
    InputError
        If one differs; names it.
    """
    folder = Path(path)
    for name, part in read_meta(folder)["files"].items():
        if (
            not (folder / name).is_file()
            or file_digest(folder / name) != part["sha256"]
        ):
            raise InputError("damaged", folder, why=f"the SHA-256 of {name} differs")
