"""A cache of values that are slow to compute from strings, in a SQLite file.

Conventions
-----------
A row contains values and their checksum. Its key is a string and the identity of the function that
computed the values. Several processes may use a file at once: readers do not wait for a writer, and
a writer waits up to a minute for another. The row that was stored first stays.

The cache never stops a run and never changes its values. A row whose checksum does not agree is
removed and computed again. If the file is damaged, locked, read-only, not a cache or on a full
disk, it is not changed and everything is computed. The attribute ``trouble`` then gives the reason.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

from semmetrics.errors import Fact, reason_of
from semmetrics.store.files import AnyPath

Row: TypeAlias = tuple[Any, ...]
"""The values of a string."""

_SECONDS_BETWEEN_ATTEMPTS = 0.01  # to open a table
MAX_WAIT_SECONDS = 60.0  # seconds for another process to finish writing
_TEXTS_PER_QUERY = 500
_TEXTS_PER_WRITE = 1024
_KEY = "identity TEXT NOT NULL, text BLOB NOT NULL"


class TextCache:
    """A table of values that were computed from strings.

    Parameters
    ----------
    path : path
        The SQLite file. It is created if it does not exist.
    table : str
        The name of the table, such as "vectors". Messages show it with spaces in place of
        underscores.
    columns : mapping from name to SQLite type
        The values of a row: "BLOB", "INTEGER", ...

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
    >>> cache.store("len@1", {"dog": (3,), "cat": (9,)})
    >>> cache.find("len@1", ["cat", "dog", "bird"])
    {'cat': (3,), 'dog': (3,)}
    """

    def __init__(self, path: AnyPath, table: str, columns: Mapping[str, str]) -> None:
        self.path = Path(path)
        self.trouble: Fact | None = None
        self._content = table.replace("_", " ")
        self._is_usable = True
        # Earlier versions wrote tables without checksums, under the plain name.
        self._table = f"{table}_checked"
        self._columns = ", ".join([*columns, "checksum"])
        placeholders = ", ".join("?" * (len(columns) + 3))
        self._insert = f"INSERT OR IGNORE INTO {self._table} VALUES ({placeholders})"
        self._transact(
            lambda connection: _create_table(connection, self._table, columns)
        )

    def rows(
        self,
        identity: str,
        texts: Sequence[str],
        compute: Callable[[list[str]], Sequence[Row]],
    ) -> dict[str, Row]:
        """Return the row of each distinct string. Compute and store missing rows.

        Parameters
        ----------
        identity : str
            Identifies the function that computes the rows. Other identities have other rows.
        texts : sequence of str
        compute : callable
            Returns the rows of a list of strings. It is called with one block of missing strings at
            a time. Each block is stored before the next one is computed, so that an interrupted run
            is not lost.
        """
        distinct_texts = list(dict.fromkeys(texts))
        rows = self.find(identity, distinct_texts)
        missing_texts = [text for text in distinct_texts if text not in rows]
        for start in range(0, len(missing_texts), _TEXTS_PER_WRITE):
            block = missing_texts[start : start + _TEXTS_PER_WRITE]
            computed_rows = dict(zip(block, compute(block), strict=True))
            self.store(identity, computed_rows)
            rows.update(computed_rows)
            # Another process may have stored its rows first.
            rows.update(self.find(identity, block))
        return {text: rows[text] for text in distinct_texts}

    def store(self, identity: str, rows: Mapping[str, Row]) -> None:
        """Store the rows of strings that do not have one yet."""
        encoded_identity = _encode(identity)
        stored_rows = []
        for text, values in rows.items():
            keyed_row = (_encode(text), *values)
            checksum = _checksum(encoded_identity, keyed_row)
            stored_rows.append((identity, *keyed_row, checksum))
        self._transact(
            lambda connection: connection.executemany(self._insert, stored_rows)
        )

    def find(self, identity: str, texts: Sequence[str]) -> dict[str, Row]:
        """Return the stored rows of strings. Remove damaged rows."""
        text_by_key = {_encode(text): text for text in texts}
        rows: dict[str, Row] = {}
        self._transact(
            lambda connection: self._read_rows(connection, identity, text_by_key, rows)
        )
        return rows

    def _read_rows(
        self,
        connection: sqlite3.Connection,
        identity: str,
        text_by_key: Mapping[bytes, str],
        rows: dict[str, Row],
    ) -> None:
        """Add the stored rows of strings to ``rows``.

        Rows that were read before an error are therefore used.
        """
        encoded_identity = _encode(identity)
        keys = sorted(text_by_key)  # the order of the rows in the file
        for start in range(0, len(keys), _TEXTS_PER_QUERY):
            block = keys[start : start + _TEXTS_PER_QUERY]
            for *keyed_row, checksum in self._query(connection, identity, block):
                key, *values = keyed_row
                if checksum == _checksum(encoded_identity, keyed_row):
                    rows[text_by_key[key]] = tuple(values)
                else:
                    self._remove_damaged_row(connection, identity, key)

    def _query(
        self, connection: sqlite3.Connection, identity: str, keys: Sequence[bytes]
    ) -> list[Row]:
        """Return the stored rows with these keys: the key, the values and the checksum."""
        placeholders = ",".join("?" * len(keys))
        query = (
            f"SELECT text, {self._columns} FROM {self._table} "
            f"WHERE identity = ? AND text IN ({placeholders})"
        )
        return connection.execute(query, (identity, *keys)).fetchall()

    def _remove_damaged_row(
        self, connection: sqlite3.Connection, identity: str, key: bytes
    ) -> None:
        """Remove a row whose checksum does not agree, and report that."""
        values = {"what": self._content}
        self.trouble = Fact("cache-damaged-rows", where=str(self.path), values=values)
        delete = f"DELETE FROM {self._table} WHERE identity = ? AND text = ?"
        connection.execute(delete, (identity, key))

    def _transact(self, action: Callable[[sqlite3.Connection], object]) -> None:
        """Run an action in one transaction. If it fails, stop using the file."""
        if not self._is_usable:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(
                sqlite3.connect(self.path, timeout=MAX_WAIT_SECONDS)
            ) as connection:
                _set_write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                with connection:
                    action(connection)
        except Exception as error:  # damaged files lead to errors of many types
            self.give_up(reason_of(error))

    def give_up(self, why: object) -> None:
        """Stop using the file."""
        self._is_usable = False
        values = {"what": self._content, "why": str(why)}
        self.trouble = Fact("cache-unusable", where=str(self.path), values=values)


def _create_table(
    connection: sqlite3.Connection, table: str, columns: Mapping[str, str]
) -> None:
    """Create the table if it does not exist. Raise an error if the file is not a cache."""
    tables = connection.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
    )
    for name, sql in tables.fetchall():
        is_cache_table = f"({_KEY}," in str(sql)
        if not name.startswith("sqlite_") and not is_cache_table:
            raise sqlite3.OperationalError(f"table {name} is not of a cache")
    definitions = "".join(f"{name} {kind} NOT NULL, " for name, kind in columns.items())
    connection.execute(
        f"CREATE TABLE IF NOT EXISTS {table} ({_KEY}, {definitions}"
        "checksum BLOB NOT NULL, PRIMARY KEY (identity, text)) WITHOUT ROWID"
    )


def _set_write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging, so that readers and a writer can work at once.

    SQLite does not wait for another process that switches at the same time. Several processes do so
    if the file is new. So this function waits.
    """
    end = time.monotonic() + MAX_WAIT_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
        time.sleep(_SECONDS_BETWEEN_ATTEMPTS)


def as_json(value: Any) -> bytes:
    """Return a value as JSON that is parsed to the same value.

    Characters are not escaped. Two surrogates next to each other would be parsed as one character
    if they were written as escapes.
    """
    return _encode(json.dumps(value, ensure_ascii=False))


def _checksum(identity: bytes, row: Sequence[Any]) -> bytes:
    """Return a checksum of 8 bytes for a row, which begins with its key."""
    digest = hashlib.blake2b(digest_size=8)
    for value in (identity, *row):
        data = value
        if type(value) is not bytes:
            data = _encode(repr(value))
        digest.update(b"%b %d " % (type(value).__name__.encode(), len(data)))
        digest.update(data)
    return digest.digest()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
