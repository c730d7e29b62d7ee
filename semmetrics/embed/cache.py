"""Vectors of slow models kept on disk, so that a text is embedded once and not once a run.

Conventions
-----------
One SQLite file; a vector is found by the model's identity and the text. Several processes may use
it at once: readers do not wait for the writer, and a writer waits up to a minute for another. A
text's vector is the one that was stored first. A file that is damaged is refused, never repaired:
it holds nothing that cannot be computed again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.embed.base import Embedded, Embedder, Vectors
from semmetrics.embed.folders import cache_folder
from semmetrics.errors import InputError

__all__ = ["CachedEmbedder"]

_WAIT = 60.0  # seconds for another process to finish writing
_PAUSE = 0.01  # seconds between two attempts
_MANY = 500  # texts in one question
_BLOCK = 1024  # texts embedded between two writes
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    identity TEXT NOT NULL,
    text BLOB NOT NULL,
    vector BLOB NOT NULL,
    known INTEGER NOT NULL,
    truncated INTEGER NOT NULL,
    PRIMARY KEY (identity, text)
) WITHOUT ROWID
"""
Row = tuple[bytes, int, int]


class CachedEmbedder:
    """A model whose vectors are kept on disk.

    Parameters
    ----------
    embedder : Embedder
    path : path, optional
        The SQLite file; None is ``embeddings.sqlite`` in the user's cache folder.

    Raises
    ------
    InputError
        If the file is damaged or cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from semmetrics.embed.other import CallableEmbedder
    >>> slow = CallableEmbedder(lambda texts: [[len(text)] for text in texts], name="slow")
    >>> path = pathlib.Path(tempfile.mkdtemp(), "cache.sqlite")
    >>> CachedEmbedder(slow, path).embed(["cat", "mouse"]).vectors.tolist()
    [[3.0], [5.0]]
    """

    def __init__(self, embedder: Embedder, path: str | os.PathLike[str] | None = None) -> None:
        self.embedder = embedder
        self.path = cache_folder() / "embeddings.sqlite" if path is None else Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._refused(error) from None
        with self._connected() as connection:
            connection.execute(_SCHEMA)

    @property
    def identity(self) -> str:
        """That of the model."""
        return self.embedder.identity

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self.embedder.dimension

    def __getattr__(self, name: str) -> object:
        """What else the model says of itself, such as its threshold."""
        if name in ("embedder", "lookup", "find", "rows"):
            raise AttributeError(name)
        return getattr(self.embedder, name)

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts, computed where they are not kept yet.

        Raises
        ------
        InputError
            If the file is damaged or cannot be written.
        """
        distinct = list(dict.fromkeys(texts))
        kept = self._read(distinct)
        missing = [text for text in distinct if text not in kept]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            kept |= self._write(block)
        vectors = np.zeros((len(distinct), self.dimension), np.float32)
        size = 4 * self.dimension
        for number, text in enumerate(distinct):
            if len(kept[text][0]) != size:
                raise self._damaged(f"the vector of {text!r:.60} has {len(kept[text][0])} bytes")
            vectors[number] = np.frombuffer(kept[text][0], "<f4")
        if not np.isfinite(vectors).all():
            raise self._damaged("a vector holds a number that is not finite")
        return self._repeated(vectors, [kept[text] for text in distinct], distinct, texts)

    @staticmethod
    def _repeated(
        vectors: Vectors, rows: Sequence[Row], distinct: Sequence[str], texts: Sequence[str]
    ) -> Embedded:
        known = np.array([bool(row[1]) for row in rows], np.bool_)
        cut = np.array([bool(row[2]) for row in rows], np.bool_)
        place = {text: number for number, text in enumerate(distinct)}
        again = np.fromiter((place[text] for text in texts), np.int64, len(texts))
        return Embedded(vectors[again], known[again], int(cut[again].sum()))

    def _read(self, texts: Sequence[str]) -> dict[str, Row]:
        coded = {_coded(text): text for text in texts}
        keys, found = list(coded), {}
        with self._connected() as connection:
            for start in range(0, len(keys), _MANY):
                some = keys[start : start + _MANY]
                marks = ",".join("?" * len(some))
                question = (
                    "SELECT text, vector, known, truncated FROM vectors "
                    f"WHERE identity = ? AND text IN ({marks})"
                )
                for text, *row in connection.execute(question, (self.identity, *some)):
                    found[coded[bytes(text)]] = (bytes(row[0]), int(row[1]), int(row[2]))
        return found

    def _write(self, texts: Sequence[str]) -> dict[str, Row]:
        """Embed texts and keep them; what another process has kept meanwhile counts."""
        read, cut = self.embedder.embed(texts), self._cut(texts)
        vectors = np.ascontiguousarray(read.vectors, "<f4")
        rows = [
            (self.identity, _coded(text), vectors[n].tobytes(), int(read.known[n]), int(cut[n]))
            for n, text in enumerate(texts)
        ]
        with self._connected() as connection:
            connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)
        return self._read(texts)

    def _cut(self, texts: Sequence[str]) -> Bools:
        cut = getattr(self.embedder, "cut", None)
        return np.zeros(len(texts), np.bool_) if cut is None else cut(texts)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction."""
        try:
            with closing(sqlite3.connect(self.path, timeout=_WAIT)) as connection:
                _write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                with connection:
                    yield connection
        except sqlite3.OperationalError as error:
            raise self._refused(error) from None
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from None

    def _refused(self, error: Exception) -> InputError:
        return InputError(
            f"the cache of vectors cannot be used: {error}",
            where=str(self.path),
            remedy="check its folder and the free space, or name another file",
        )

    def _damaged(self, why: str) -> InputError:
        return InputError(
            f"the cache of vectors is damaged: {why}",
            where=str(self.path),
            remedy="remove the file; what was in it is computed again",
        )


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once.

    SQLite does not wait for another process that changes the mode at the same time, as several do
    that find no file yet: so it is waited for here.
    """
    end = time.monotonic() + _WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(_PAUSE)


def _coded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
