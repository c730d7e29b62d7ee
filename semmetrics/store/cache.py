"""Results of slow models kept on disk, so that a text is computed once and not once a run.

Conventions
-----------
A table of a SQLite file holds rows of values, found by an identity (of what computed them) and a
text. Several processes may use a file at once: readers do not wait for the writer, and a writer
waits up to a minute for another. The row that was stored first is kept. A damaged file is refused,
never repaired: it holds nothing that cannot be computed again.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypeAlias

from semmetrics.errors import InputError

__all__ = ["Row", "TextCache"]

Row: TypeAlias = tuple[Any, ...]

_PAUSE = 0.01  # seconds between two attempts
_QUERY = 500  # texts in one query
_BLOCK = 1024  # texts computed between two writes


class TextCache:
    """A table of what was computed from texts.

    Parameters
    ----------
    path : path
        The SQLite file; created if it does not exist.
    table : str
        What it holds, such as "vectors"; messages say it, too.
    columns : mapping from name to SQLite type
        The values of a row: "BLOB", "INTEGER", ...
    wait : float
        Seconds to wait for another process to finish writing.

    Raises
    ------
    InputError
        If the file is damaged or cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "cache.sqlite")
    >>> cache = TextCache(path, "lengths", {"length": "INTEGER"})
    >>> cache.rows("len@1", ["cat", "mouse"], lambda texts: [(len(text),) for text in texts])
    {'cat': (3,), 'mouse': (5,)}
    >>> cache.rows("len@1", ["cat"], lambda texts: 1 / 0)
    {'cat': (3,)}
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        table: str,
        columns: Mapping[str, str],
        *,
        wait: float = 60.0,
    ) -> None:
        self.path, self._table, self._wait = Path(path), table, wait
        self._columns = ", ".join(columns)
        self._insert = f"INSERT OR IGNORE INTO {table} VALUES (?, ?{', ?' * len(columns)})"
        values = "".join(f"{name} {kind} NOT NULL, " for name, kind in columns.items())
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._unusable(error) from None
        with self._transaction() as connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (identity TEXT NOT NULL, text BLOB NOT NULL, "
                f"{values}PRIMARY KEY (identity, text)) WITHOUT ROWID"
            )

    def rows(
        self, identity: str, texts: Sequence[str], compute: Callable[[list[str]], Sequence[Row]]
    ) -> dict[str, Row]:
        """Return the row of each distinct text; compute and keep those that are missing.

        Parameters
        ----------
        identity : str
            What computes the rows; other identities have rows of their own.
        texts : sequence of str
        compute : callable
            From a list of texts to their rows. Called with a block of missing texts at a time, each
            of which is kept before the next, so that an interrupted run is not lost.

        Raises
        ------
        InputError
            If the file is damaged or cannot be written.
        """
        texts = list(dict.fromkeys(texts))
        found = self._read(identity, texts)
        missing = [text for text in texts if text not in found]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            new = [
                (identity, _encode(text), *row)
                for text, row in zip(block, compute(block), strict=True)
            ]
            with self._transaction() as connection:
                connection.executemany(self._insert, new)
            found |= self._read(identity, block)  # another process may have been first
        return {text: found[text] for text in texts}

    def damaged(self, why: str) -> InputError:
        """Return the error for a damaged file; also for rows that their owner finds damaged."""
        return InputError(
            f"the cache of {self._table} is damaged: {why}",
            where=str(self.path),
            remedy="remove the file; what was in it is computed again",
        )

    def _read(self, identity: str, texts: Sequence[str]) -> dict[str, Row]:
        encoded = {_encode(text): text for text in texts}
        keys, found = list(encoded), {}
        with self._transaction() as connection:
            for start in range(0, len(keys), _QUERY):
                some = keys[start : start + _QUERY]
                query = (
                    f"SELECT text, {self._columns} FROM {self._table} "
                    f"WHERE identity = ? AND text IN ({','.join('?' * len(some))})"
                )
                for text, *row in connection.execute(query, (identity, *some)):
                    found[encoded[bytes(text)]] = tuple(row)
        return found

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """Give a connection for one transaction."""
        try:
            with closing(sqlite3.connect(self.path, timeout=self._wait)) as connection:
                self._write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                with connection:
                    yield connection
        except sqlite3.OperationalError as error:
            raise self._unusable(error) from None
        except sqlite3.DatabaseError as error:
            raise self.damaged(str(error)) from None

    def _write_ahead(self, connection: sqlite3.Connection) -> None:
        """Let readers and a writer work at once.

        SQLite does not wait for another process that changes the mode at the same time, as several
        do that find no file yet: so it is waited for here.
        """
        end = time.monotonic() + self._wait
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE)

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"the cache of {self._table} cannot be used: {error}",
            where=str(self.path),
            remedy="check its folder and the free space, or name another file",
        )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
