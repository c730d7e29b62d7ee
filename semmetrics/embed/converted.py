"""The converted form of word vectors: a folder that is mapped into memory and opens at once.

Conventions
-----------
A folder holds ``vectors.npy`` (float32, one row a word), the word index (``words.utf8``,
``offsets.npy``, ``hashes.npy``, ``order.npy``) and ``meta.json``: name, dimension, source and its
SHA-256, sizes and SHA-256 of the parts, all taken when it is converted. Opening compares sizes;
`verify` compares digests.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.embed.embedder import format_identity
from semmetrics.embed.word_vectors import (
    INDEX_FILES,
    WordIndex,
    WordVectors,
    hash_version,
)
from semmetrics.errors import InputError
from semmetrics.store import file_digest
from semmetrics.store.outputs import replacing

__all__ = ["SCHEMA", "convert", "is_converted", "read_meta", "open_converted", "verify"]

SCHEMA = "semmetrics.vectors/1"
META, VECTORS = "meta.json", "vectors.npy"
_BLOCK = 1 << 14


def is_converted(path: Path) -> bool:
    """Return whether it is the folder of converted vectors."""
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
        What the meta data say of the vectors: their licence, and where they come from.
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
        raise InputError("it exists", where=str(target), remedy="name a new folder, or remove it")
    with replacing(target, folder=True) as place:
        zeros = _write_rows(vectors, place / VECTORS, progress)
        _index(vectors).save(place)
        meta = _meta(vectors, place, licence, source or vectors.where, zeros)
        (place / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False), "utf-8")
    return target


def _write_rows(
    vectors: WordVectors, path: Path, progress: Callable[[int, int], None] | None
) -> int:
    """Write all rows, a block at a time; return the number of zero vectors."""
    total, zeros = len(vectors), 0
    kind = np.dtype(np.float32)
    header = {
        "descr": np.lib.format.dtype_to_descr(kind),
        "fortran_order": False,
        "shape": (total, vectors.dimension),
    }
    # Written and not assigned to a map of the file: on a full disk, that ends the process.
    with path.open("wb") as out:
        np.lib.format.write_array_header_1_0(out, header)
        for start in range(0, total, _BLOCK):
            stop = min(start + _BLOCK, total)
            block = np.ascontiguousarray(vectors.rows(np.arange(start, stop)), kind)
            zeros += int((~block.any(axis=1)).sum())
            out.write(block.data.cast("B"))
            if progress is not None:
                progress(stop, total)
    return zeros


def _index(vectors: WordVectors) -> WordIndex:
    """Return the index of their words in the form that can be saved."""
    if isinstance(vectors.index, WordIndex):
        return vectors.index
    words = vectors.words(np.arange(len(vectors)))
    return WordIndex.build([word.encode("utf-8", "surrogatepass") for word in words])


def _meta(
    vectors: WordVectors, folder: Path, licence: str, source: str, zeros: int
) -> dict[str, Any]:
    digest = vectors.digest
    if vectors.compose is not None:  # vectors of unlisted words are lost
        digest = hashlib.sha256(f"{digest} listed words".encode()).hexdigest()
    return {
        "schema": SCHEMA,
        "name": vectors.name,
        "words": len(vectors),
        "dimension": vectors.dimension,
        "zero_vectors": zeros,
        "identity": format_identity(vectors.name, vectors.dimension, digest),
        "source": source,
        "sha256": digest,
        "licence": licence,
        "hash": hash_version(),
        "semmetrics": __version__,
        "files": {
            name: {"bytes": (folder / name).stat().st_size, "sha256": file_digest(folder / name)}
            for name in (VECTORS, *INDEX_FILES)
        },
    }


def read_meta(folder: Path) -> dict[str, Any]:
    """Return the meta data of a folder of converted vectors.

    Raises
    ------
    InputError
        If they are missing or damaged.
    """
    try:
        meta = json.loads((folder / META).read_text("utf-8"))
        schema = meta["schema"]
    except (OSError, ValueError, KeyError, TypeError):
        raise InputError(
            "it is no folder of converted vectors",
            where=str(folder),
            remedy="convert them: semmetrics embed convert FILE FOLDER",
        ) from None
    if schema != SCHEMA:
        raise InputError(
            f"its schema is {schema!r}, not {SCHEMA!r}",
            where=str(folder),
            remedy="convert the vectors again",
        )
    for key in ("name", "words", "dimension", "sha256", "hash", "files"):
        if key not in meta:
            raise _damaged(folder, f"{META} has no {key!r}")
    return dict(meta)


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
        If a part is missing or has another size than when it was written.
    """
    folder = Path(path)
    meta = read_meta(folder)
    for name, part in meta["files"].items():
        file = folder / name
        if not file.is_file() or file.stat().st_size != part["bytes"]:
            raise _damaged(folder, f"{name} is missing or has another size than it was given")
    if meta["hash"] != hash_version():
        raise _damaged(folder, "its word index is that of another version")
    try:
        rows = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        index = WordIndex.open(folder)
    except (OSError, ValueError) as error:
        raise _damaged(folder, str(error)) from None
    shape = (meta["words"], meta["dimension"])
    if rows.shape != shape or rows.dtype != np.float32 or len(index) != meta["words"]:
        raise _damaged(folder, f"{VECTORS} has shape {rows.shape}, not {shape}")
    sha256 = str(meta["sha256"])
    return WordVectors(
        index, rows, name=str(meta["name"]), digest=lambda: sha256, where=str(folder)
    )


def verify(path: str | os.PathLike[str]) -> None:
    """Compare all parts with the digests that were taken when they were written.

    Raises
    ------
    InputError
        If one differs; names it.
    """
    folder = Path(path)
    for name, part in read_meta(folder)["files"].items():
        if not (folder / name).is_file() or file_digest(folder / name) != part["sha256"]:
            raise _damaged(folder, f"the SHA-256 of {name} is not the one it was given")


def _damaged(folder: Path, what: str) -> InputError:
    return InputError(what, where=str(folder), remedy="it is damaged: convert the vectors again")
