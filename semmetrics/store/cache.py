"""What is slow to compute from texts, kept on disk: it is computed once and not once a run.

Conventions
-----------
A table of a SQLite file holds rows of values, found by an identity (of what computed them) and a
text, each with a checksum. Several processes may use a file at once: readers do not wait for the
writer, and a writer waits up to a minute for another. The row that was stored first is kept.

A cache never stops a run, and never gives it other values. A row whose checksum is another is
computed and kept again. A file that is damaged, locked, full, read-only or no cache is left as it
is, and everything is computed; ``trouble`` tells.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from semmetrics.errors import Fact

Row: TypeAlias = tuple[Any, ...]

_PAUSE = 0.01  # seconds between two attempts
_QUERY = 500  # texts in one query
_BLOCK = 1024  # texts computed between two writes
_KEY = "identity TEXT NOT NULL, text BLOB NOT NULL"


class TextCache:
    """A table of what was computed from texts.

    Parameters
    ----------
    path : path
        The SQLite file; created if it does not exist.
    table : str
        What it holds, such as "vectors"; messages say it, too, with blanks for underscores.
    columns : mapping from name to SQLite type
        The values of a row: "BLOB", "INTEGER", ...
    wait : float
        Seconds to wait for another process to finish writing.

    Attributes
    ----------
    trouble : Fact or None
        Why the file is not used, or that rows were damaged.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "cache.sqlite")
    >>> cache = TextCache(path, "lengths", {"length": "INTEGER"})
    >>> cache.rows("len@1", ["cat", "mouse"], lambda texts: [(len(text),) for text in texts])
    {'cat': (3,), 'mouse': (5,)}
    >>> cache.keep("len@1", {"dog": (3,), "cat": (9,)})
    >>> cache.find("len@1", ["cat", "dog", "bird"])
    {'cat': (3,), 'dog': (3,)}
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        table: str,
        columns: Mapping[str, str],
        *,
        wait: float = 60.0,
    ) -> None:
        self.path, self._wait = Path(path), wait
        self._what = table.replace("_", " ")
        self.trouble: Fact | None = None
        self._usable = True
        # Tables of another name were written without checksums.
        self._table, self._columns = f"{table}_checked", ", ".join([*columns, "checksum"])
        self._insert = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?{', ?' * len(columns)}, ?)"
        values = "".join(f"{name} {kind} NOT NULL, " for name, kind in columns.items())
        command = (
            f"CREATE TABLE IF NOT EXISTS {self._table} ({_KEY}, {values}"
            "checksum BLOB NOT NULL, PRIMARY KEY (identity, text)) WITHOUT ROWID"
        )

        def create(connection: sqlite3.Connection) -> None:
            tables = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
            for name, sql in tables.fetchall():
                if not name.startswith("sqlite_") and f"({_KEY}," not in str(sql):
                    raise sqlite3.OperationalError(f"table {name} is not of a cache")
            connection.execute(command)

        self._transact(create)

    def rows(
        self,
        identity: str,
        texts: Sequence[str],
        compute: Callable[[list[str]], Sequence[Row | None]],
    ) -> dict[str, Row]:
        """Return the row of each distinct text; compute and keep those that are missing.

        Parameters
        ----------
        identity : str
            What computes the rows; other identities have rows of their own.
        texts : sequence of str
        compute : callable
            From a list of texts to their rows; None for a text that has none, which is then missing
            in the result. Called with a block of missing texts at a time, each of which is kept
            before the next, so that an interrupted run is not lost.
        """
        texts = list(dict.fromkeys(texts))
        found = self.find(identity, texts)
        missing = [text for text in texts if text not in found]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            made = zip(block, compute(block), strict=True)
            new = {text: tuple(row) for text, row in made if row is not None}
            self.keep(identity, new)
            found |= new | self.find(identity, block)  # another process may have been first
        return {text: found[text] for text in texts if text in found}

    def keep(self, identity: str, rows: Mapping[str, Row]) -> None:
        """Keep the rows of texts; a text that has one keeps its own."""
        prefix = _part(_encode(identity))
        keyed = [(_encode(text), *row) for text, row in rows.items()]
        checked = [(identity, *row, _checksum(prefix, row)) for row in keyed]
        self._transact(lambda connection: connection.executemany(self._insert, checked))

    def find(self, identity: str, texts: Sequence[str]) -> dict[str, Row]:
        """Return the rows of texts that are there and whole; remove the damaged ones."""
        encoded, prefix = {_encode(text): text for text in texts}, _part(_encode(identity))
        keys, found = sorted(encoded), dict[str, Row]()  # rows lie in this order

        def read(connection: sqlite3.Connection) -> None:
            for start in range(0, len(keys), _QUERY):
                some = keys[start : start + _QUERY]
                query = (
                    f"SELECT text, {self._columns} FROM {self._table} "
                    f"WHERE identity = ? AND text IN ({','.join('?' * len(some))})"
                )
                for row in connection.execute(query, (identity, *some)).fetchall():
                    if row[-1] == _checksum(prefix, row[:-1]):
                        found[encoded[row[0]]] = row[1:-1]
                        continue
                    what = {"what": self._what}
                    self.trouble = Fact("cache-damaged-rows", where=str(self.path), values=what)
                    delete = f"DELETE FROM {self._table} WHERE identity = ? AND text = ?"
                    connection.execute(delete, (identity, row[0]))

        self._transact(read)
        return found

    def _transact(self, action: Callable[[sqlite3.Connection], object]) -> None:
        """Do something in one transaction; nothing more with a file that cannot be used."""
        if not self._usable:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=self._wait)) as connection:
                self._write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                with connection:
                    action(connection)
        except (OSError, sqlite3.OperationalError) as error:
            self.give_up(getattr(error, "strerror", None) or error)  # without number and path
        except Exception as error:  # what a damaged file leads to has no one kind
            self.give_up(error)

    def give_up(self, why: object) -> None:
        """Stop using the file."""
        self._usable = False
        values = {"what": self._what, "why": str(why)}
        self.trouble = Fact("cache-unusable", where=str(self.path), values=values)

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


def as_json(value: Any) -> bytes:
    """Write a value as JSON that is read as it was.

    As escapes, the two halves of a surrogate pair would be read as one character.
    """
    return _encode(json.dumps(value, ensure_ascii=False))


def _checksum(prefix: bytes, row: Row) -> bytes:
    """Return eight bytes that differ for almost all other rows.

    ``prefix`` is `_part` of the identity, which many rows share; ``row`` begins with the key.
    """
    hashed = [prefix]
    for value in row:
        if type(value) is bytes:
            hashed += b"bytes %d " % len(value), value  # not copied
        else:
            hashed.append(_part(value))
    return hashlib.blake2b(b"".join(hashed), digest_size=8).digest()


def _part(value: Any) -> bytes:
    if type(value) is bytes:
        return b"bytes %d %b" % (len(value), value)
    part = repr(value).encode("utf-8", "surrogatepass")
    return b"%b %d %b" % (type(value).__name__.encode(), len(part), part)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
