"""Word vectors in a form that opens at once: a folder that is mapped into memory.

Conventions
-----------
The folder contains ``vectors.npy`` (float32, one row per word), a checksum of each row
(``checksums.npy``), the word index (``words.utf8``, ``offsets.npy``, ``hashes.npy``,
``order.npy``) and ``meta.json``: name, dimension, source and its SHA-256, and the sizes and the
SHA-256 of the other files.

Opening compares the sizes of files and a fast checksum of the index. Reading a row compares the
checksum of the row, so that damaged vectors raise an error. `verify` compares the SHA-256 of all
files. A folder from before 0.2.0 has no checksums and is verified when it is opened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from semmetrics._version import __version__
from semmetrics.core.hashing import Hashes, bytes_checksum, row_checksums
from semmetrics.core.ragged import Ints
from semmetrics.embed.embedder import Vectors, format_identity
from semmetrics.embed.word_index import INDEX_FILES, WordIndex, hash_version
from semmetrics.embed.words import VectorTable, WordVectors
from semmetrics.errors import InputError
from semmetrics.messages import report_progress
from semmetrics.store.files import file_digest, replacing
from semmetrics.store.matrix_files import npy_header

META = "meta.json"
_SCHEMA = "semmetrics.vectors/1"
_VECTORS = "vectors.npy"
_CHECKSUMS = "checksums.npy"
_FILES = (_VECTORS, _CHECKSUMS, *INDEX_FILES)
_REQUIRED_KEYS = ("name", "words", "dimension", "sha256", "hash", "files")
_INDEX_CHECKSUM = "index_checksum"
"""The key of the fast checksum. Folders from before 0.2.0 do not have it."""
_MAX_ROWS_PER_BATCH = 1 << 14


def is_converted(path: Path) -> bool:
    """Return whether a path is a folder of converted vectors."""
    return (path / META).is_file() and (path / _VECTORS).exists()


# ---- checksums --------------------------------------------------------------------------


class CheckedRows:
    """The rows of a mapped file. Each is compared with its checksum when it is read.

    Parameters
    ----------
    rows : float32 array, shape (rows, dimension)
    checksums : uint64 array, shape (rows,)
    folder : Path
        Named in errors.

    Attributes
    ----------
    shape : pair of int
    """

    def __init__(self, rows: NDArray[Any], checksums: Hashes, folder: Path) -> None:
        self.shape = rows.shape
        self._rows = rows
        self._checksums = checksums
        self._folder = folder

    def __getitem__(self, numbers: Ints) -> Vectors:
        """Return the vectors of rows.

        Raises
        ------
        InputError
            If the checksum of a row differs.
        """
        vectors: Vectors = self._rows[numbers]
        checksums = _checksum_vectors(vectors)
        if not np.array_equal(checksums, self._checksums[numbers]):
            why = f"the checksum of a row of {_VECTORS} differs"
            raise InputError("damaged", self._folder, why=why)
        return vectors


def _checksum_vectors(vectors: Vectors) -> Hashes:
    """Return the checksum of each row."""
    rows = np.ascontiguousarray(vectors, np.float32)
    return row_checksums(rows.view(np.uint32))


def _checksum_index(folder: Path, meta: Mapping[str, Any]) -> str:
    """Return the checksum of everything that the checksums of rows do not cover."""
    covered_meta = {key: meta[key] for key in meta if key != _INDEX_CHECKSUM}
    meta_text = json.dumps(covered_meta, sort_keys=True).encode()
    vectors_file = np.memmap(folder / _VECTORS, np.uint8, "r")
    n_vector_bytes = 4 * meta["words"] * meta["dimension"]
    n_header_bytes = max(0, len(vectors_file) - n_vector_bytes)
    parts = [np.frombuffer(meta_text, np.uint8), vectors_file[:n_header_bytes]]
    for name in (*INDEX_FILES, _CHECKSUMS):
        parts.append(np.memmap(folder / name, np.uint8, "r"))
    return bytes_checksum(*parts)


def verify(path: str | os.PathLike[str]) -> None:
    """Compare all files with the SHA-256 that was recorded when they were written.

    Raises
    ------
    InputError
        If a file differs. The message names it.
    """
    folder = Path(path)
    for name, recorded in read_meta(folder)["files"].items():
        file = folder / name
        if not file.is_file() or file_digest(file) != recorded["sha256"]:
            raise InputError("damaged", folder, why=f"the SHA-256 of {name} differs")


# ---- writing ----------------------------------------------------------------------------


class _WrittenRows(NamedTuple):
    """Facts about the vectors that were written.

    Attributes
    ----------
    n_zero_vectors : int
    checksums : uint64 array, shape (rows,)
    """

    n_zero_vectors: int
    checksums: Hashes


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
        A folder that does not exist yet. It appears when it is complete.
    licence, source : str
        Recorded in the metadata: the licence, and the origin of the vectors.
    progress : callable, optional
        Called with the number of rows written, and of all rows.

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
    with replacing(target, folder=True) as temporary:
        written = _write_rows(vectors, temporary / _VECTORS, progress)
        np.save(temporary / _CHECKSUMS, written.checksums, allow_pickle=False)
        _index_words(vectors).save(temporary)
        meta = _describe(vectors, temporary, written.n_zero_vectors, licence, source)
        meta[_INDEX_CHECKSUM] = _checksum_index(temporary, meta)
        text = json.dumps(meta, indent=1, ensure_ascii=False)
        (temporary / META).write_text(text, "utf-8")
    return target


def _write_rows(
    vectors: WordVectors, path: Path, progress: Callable[[int, int], None] | None
) -> _WrittenRows:
    """Write all vectors in batches."""
    n_rows = len(vectors)
    dtype = np.dtype(np.float32)
    n_zero_vectors = 0
    checksums = np.zeros(n_rows, np.uint64)
    # Writing to a memory map instead would end the process on a full disk.
    with path.open("wb") as out:
        out.write(npy_header((n_rows, vectors.dimension), dtype))
        for start in range(0, n_rows, _MAX_ROWS_PER_BATCH):
            stop = min(start + _MAX_ROWS_PER_BATCH, n_rows)
            batch = np.ascontiguousarray(vectors.rows(np.arange(start, stop)), dtype)
            n_zero_vectors += int((~batch.any(axis=1)).sum())
            checksums[start:stop] = _checksum_vectors(batch)
            out.write(batch.data.cast("B"))
            report_progress(progress, stop, n_rows, "converting", "word")
    return _WrittenRows(n_zero_vectors, checksums)


def _index_words(vectors: WordVectors) -> WordIndex:
    """Return the index of the words in the form that can be saved."""
    if isinstance(vectors.index, WordIndex):
        return vectors.index
    words = vectors.words(np.arange(len(vectors)))
    encoded_words = [word.encode("utf-8", "surrogatepass") for word in words]
    return WordIndex.build(encoded_words)


def _describe(
    vectors: WordVectors, folder: Path, n_zero_vectors: int, licence: str, source: str
) -> dict[str, Any]:
    """Return the metadata of vectors whose other files are in a folder."""
    digest = vectors.digest
    if vectors.compose is not None:  # vectors of unlisted words are lost
        digest = hashlib.sha256(f"{digest} listed words".encode()).hexdigest()
    files = {}
    for name in _FILES:
        file = folder / name
        n_bytes = file.stat().st_size
        files[name] = {"bytes": n_bytes, "sha256": file_digest(file)}
    return {
        "schema": _SCHEMA,
        "name": vectors.name,
        "words": len(vectors),
        "dimension": vectors.dimension,
        "zero_vectors": n_zero_vectors,
        "identity": format_identity(vectors.name, vectors.dimension, digest),
        "source": source or vectors.where,
        "sha256": digest,
        "licence": licence,
        "hash": hash_version(),
        "semmetrics": __version__,
        "files": files,
    }


# ---- reading ----------------------------------------------------------------------------


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
    if schema != _SCHEMA:
        why = f"its schema is {schema!r}, not {_SCHEMA!r}"
        raise InputError("damaged", folder, why=why)
    for key in _REQUIRED_KEYS:
        if key not in meta:
            raise InputError("damaged", folder, why=f"{META} has no {key!r}")
    return meta


def open_converted(path: str | os.PathLike[str]) -> WordVectors:
    """Open converted vectors. Only the rows in use are read.

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
        If a file is missing or damaged.
    """
    folder = Path(path)
    meta = read_meta(folder)
    if _INDEX_CHECKSUM not in meta:
        verify(folder)
    try:
        _check_files(folder, meta)
        index, table = _map_files(folder, meta)
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        raise InputError("damaged", folder, why=error) from None
    name = str(meta["name"])
    digest = str(meta["sha256"])
    return WordVectors(
        index, table, name=name, digest=lambda: digest, where=str(folder)
    )


def _check_files(folder: Path, meta: Mapping[str, Any]) -> None:
    """Raise ValueError if a file has another size, or the index is damaged."""
    for name, recorded in meta["files"].items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != recorded["bytes"]:
            raise ValueError(f"{name} is missing or has a different size")
    if meta["hash"] != hash_version():
        raise ValueError("its word index is from another version")
    if _INDEX_CHECKSUM not in meta:
        return
    if meta[_INDEX_CHECKSUM] != _checksum_index(folder, meta):
        raise ValueError("the checksum of its metadata and index differs")


def _map_files(folder: Path, meta: Mapping[str, Any]) -> tuple[WordIndex, VectorTable]:
    """Map the index and the vectors into memory, and raise ValueError if they do not fit."""
    rows = np.load(folder / _VECTORS, mmap_mode="r", allow_pickle=False)
    index = WordIndex.open(folder)
    shape = (meta["words"], meta["dimension"])
    has_shape = rows.shape == shape and len(index) == meta["words"]
    if not has_shape or rows.dtype != np.float32:
        raise ValueError(f"{_VECTORS} has shape {rows.shape}, not {shape}")
    if _INDEX_CHECKSUM not in meta:
        return index, rows
    checksums = np.load(folder / _CHECKSUMS, mmap_mode="r", allow_pickle=False)
    return index, CheckedRows(rows, checksums, folder)
