"""What is slow to compute or to fetch, kept on disk: tables of texts, and downloads.

Conventions
-----------
A table of a SQLite file holds rows of values, found by an identity (of what computed them) and a
text, each with a checksum. Several processes may use a file at once: readers do not wait for the
writer, and a writer waits up to a minute for another. The row that was stored first is kept.

A cache never stops a run, and never gives it other values. A row whose checksum is another is
computed and kept again. A file that is damaged, locked, full, read-only or no cache is left as it
is, and everything is computed; ``trouble`` tells.

Downloads go on where they stopped, are checked, and are made by one process at a time. A file takes
its name when it is known to be whole: the server said how long it is, or sent it in chunks with an
end, or its SHA-256 is known. If no SHA-256 is given, that of the first download is trusted and kept
(``checksums`` in the cache folder, as sha256sum writes it), and later downloads from the same URL
are compared with it.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from semmetrics._version import __version__
from semmetrics.errors import Fact, InputError
from semmetrics.messages import report_progress
from semmetrics.store import files
from semmetrics.store.files import (
    AnyPath,
    cache_folder,
    file_digest,
    naming,
    open_output,
    publish,
)

if TYPE_CHECKING:
    from http.client import HTTPResponse  # loaded for a download alone

Row: TypeAlias = tuple[Any, ...]
Progress: TypeAlias = Callable[[int, int], None]

_PAUSE = 0.01, 0.1  # seconds between two attempts to open a table, and to lock a file
_WAIT = 60.0  # seconds for another process to finish writing
_QUERY = 500  # texts in one query
_BLOCK = 1024  # texts computed between two writes
_KEY = "identity TEXT NOT NULL, text BLOB NOT NULL"
_CHUNK = 1 << 18
_TIMEOUT = 60.0  # seconds without a byte
_NAME = 150  # bytes of a name; endings are added to it


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

    def __init__(self, path: AnyPath, table: str, columns: Mapping[str, str]) -> None:
        self.path, self._what = Path(path), table.replace("_", " ")
        self.trouble: Fact | None = None
        self._usable = True
        # Tables of another name were written without checksums.
        self._table, self._columns = (
            f"{table}_checked",
            ", ".join([*columns, "checksum"]),
        )
        self._insert = f"INSERT OR IGNORE INTO {self._table} VALUES (?, ?{', ?' * len(columns)}, ?)"
        values = "".join(f"{name} {kind} NOT NULL, " for name, kind in columns.items())

        def create(connection: sqlite3.Connection) -> None:
            tables = connection.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table'"
            )
            for name, sql in tables.fetchall():
                if not name.startswith("sqlite_") and f"({_KEY}," not in str(sql):
                    raise sqlite3.OperationalError(f"table {name} is not of a cache")
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table} ({_KEY}, {values}"
                "checksum BLOB NOT NULL, PRIMARY KEY (identity, text)) WITHOUT ROWID"
            )

        self._transact(create)

    def rows(
        self,
        identity: str,
        texts: Sequence[str],
        compute: Callable[[list[str]], Sequence[Row]],
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
        """
        texts = list(dict.fromkeys(texts))
        found = self.find(identity, texts)
        missing = [text for text in texts if text not in found]
        for start in range(0, len(missing), _BLOCK):
            block = missing[start : start + _BLOCK]
            new = dict(zip(block, compute(block), strict=True))
            self.keep(identity, new)
            # another process may have been first
            found |= new | self.find(identity, block)
        return {text: found[text] for text in texts}

    def keep(self, identity: str, rows: Mapping[str, Row]) -> None:
        """Keep the rows of texts; a text that has one keeps its own."""
        prefix = _encode(identity)
        keyed = [(_encode(text), *row) for text, row in rows.items()]
        checked = [(identity, *row, _checksum(prefix, row)) for row in keyed]
        self._transact(lambda connection: connection.executemany(self._insert, checked))

    def find(self, identity: str, texts: Sequence[str]) -> dict[str, Row]:
        """Return the rows of texts that are there and whole; remove the damaged ones."""
        encoded, prefix = {_encode(text): text for text in texts}, _encode(identity)
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
                    self.trouble = Fact(
                        "cache-damaged-rows", where=str(self.path), values=what
                    )
                    delete = (
                        f"DELETE FROM {self._table} WHERE identity = ? AND text = ?"
                    )
                    connection.execute(delete, (identity, row[0]))

        self._transact(read)
        return found

    def _transact(self, action: Callable[[sqlite3.Connection], object]) -> None:
        """Do something in one transaction; nothing more with a file that cannot be used."""
        if not self._usable:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self.path, timeout=_WAIT)) as connection:
                self._write_ahead(connection)
                connection.execute("PRAGMA synchronous = NORMAL")
                with connection:
                    action(connection)
        except Exception as error:  # what a damaged file leads to has no one kind
            # without number and path
            self.give_up(getattr(error, "strerror", None) or error)

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
        end = time.monotonic() + _WAIT
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > end:
                    raise
            time.sleep(_PAUSE[0])


def as_json(value: Any) -> bytes:
    """Write a value as JSON that is read as it was.

    As escapes, the two halves of a surrogate pair would be read as one character.
    """
    return _encode(json.dumps(value, ensure_ascii=False))


def _checksum(identity: bytes, row: Row) -> bytes:
    """Return eight bytes that differ for almost all other rows; a row begins with its key."""
    hashed = hashlib.blake2b(digest_size=8)
    for value in (identity, *row):
        part = (
            value
            if type(value) is bytes
            else repr(value).encode("utf-8", "surrogatepass")
        )
        hashed.update(b"%b %d " % (type(value).__name__.encode(), len(part)))
        hashed.update(part)
    return hashed.digest()


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# ---- downloads ------------------------------------------------------------------------------


def download_path(url: str) -> Path:
    """Return where a download is kept: a file that no other URL has."""
    return cache_folder() / "downloads" / _name_of(url)


def record_path(url: str) -> Path:
    """Return where the SHA-256 of the first download is kept that was trusted."""
    return cache_folder() / "checksums" / f"{_name_of(url)}.sha256"


def _name_of(url: str) -> str:
    from urllib.parse import unquote, urlsplit

    name = Path(unquote(urlsplit(url).path)).name.replace("\0", "") or "download"
    short = name.encode("utf-8", "ignore")[-_NAME:].decode("utf-8", "ignore")
    return f"{hashlib.sha256(_encode(url)).hexdigest()[:8]}-{short}"


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """Work on a file while no other process does; wait for the one that does.

    The lock is a file beside it with the ending ``.lock``, and ends with the process that holds it.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    path = file.with_name(f"{file.name}.lock")
    with naming(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            locked = path.open("ab")
            if files.lock(locked, path):
                break
            locked.close()
            time.sleep(_PAUSE[1])
    with locked:
        try:
            yield
        finally:
            with suppress(OSError):  # Windows removes no file that is open
                path.unlink()


def download(
    url: str,
    file: Path,
    *,
    sha256: str = "",
    instead: str = "copy the file from elsewhere",
    progress: Progress | None = None,
) -> str:
    """Download a file unless it is there, and check it; hold it `exclusive` meanwhile.

    Parameters
    ----------
    url : str
    file : Path
        It appears when it is complete; until then it is beside it with the ending ``.part``, where
        the next attempt goes on.
    sha256 : str
        What its SHA-256 must be; "" if that is not known, and that of the first download counts.
    instead : str
        What else the user can do if the network fails; the end of messages.
    progress : callable, optional
        Called with bytes done and in all.

    Returns
    -------
    str
        The SHA-256 of the file.

    Raises
    ------
    InputError
        If the server cannot be reached or does not send all, which says how to go on; if the file
        cannot be written, or has another SHA-256, in which case it is removed.
    """
    wanted = sha256 or recorded(url)
    if not file.is_file():
        _fetch(url, file, instead, progress, known=bool(wanted))
    found = file_digest(file)
    if wanted and found != wanted:
        file.unlink()
        remedy = (
            "it was removed; fetch it again, or check whether the file was replaced"
        )
        if not sha256:  # it was that of the first download
            remedy += f": if it was, and you trust it, remove {record_path(url)}"
        raise InputError("wrong-digest", url, found=found, wanted=wanted, remedy=remedy)
    if not wanted:
        record = record_path(url)
        with naming(str(record)):
            record.parent.mkdir(parents=True, exist_ok=True)
        with open_output(record) as out:
            out.write(f"{found}  {file.name}\n")
    return found


def recorded(url: str) -> str:
    """Return the SHA-256 of the first download that was trusted; "" where there was none."""
    with suppress(OSError, UnicodeDecodeError):
        text = record_path(url).read_text("utf-8")[:64]
        if re.fullmatch("[0-9a-f]{64}", text):
            return text
    return ""


def _fetch(
    url: str, file: Path, instead: str, progress: Progress | None, *, known: bool
) -> None:
    import urllib.request
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError

    part, tag = file.with_name(f"{file.name}.part"), file.with_name(f"{file.name}.tag")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        headers = {
            "User-Agent": f"semmetrics/{__version__}",
            "Accept-Encoding": "identity",
        }
        # Without a tag nothing tells that the part is of the file that is there now.
        if (have := _size(part)) and tag.is_file():
            headers |= {"Range": f"bytes={have}-", "If-Range": tag.read_text("utf-8")}
        request = urllib.request.Request(url, headers=headers)
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:
            if not (
                known or response.chunked or response.status == 206 or _length(response)
            ):
                raise InputError("no-length", url, instead=instead)
            _receive(response, part, tag, progress)
    except HTTPError as error:
        error.close()
        if error.code == 416:  # the server cannot go on with this part
            part.unlink(missing_ok=True)
            tag.unlink(missing_ok=True)
        status = f"{error.code} {error.reason}"
        raise InputError("http-error", url, status=status, instead=instead) from None
    except (URLError, HTTPException, TimeoutError, ConnectionError) as error:
        why = getattr(error, "reason", None) or repr(error)
        raise InputError(
            "fetch-failed", url, n=_size(part), why=why, instead=instead
        ) from None
    except OSError as error:
        raise InputError(
            "unwritable", part, why=error.strerror or type(error).__name__
        ) from None
    with naming(str(file)):
        publish(part, file)
    tag.unlink(missing_ok=True)


def _receive(
    response: HTTPResponse, part: Path, tag: Path, progress: Progress | None
) -> None:
    """Write what comes; from the start where the server does not go on."""
    import shutil  # it takes ten modules along

    have, goes_on, total = _size(part), response.status == 206, _length(response)
    if goes_on:
        header = response.headers.get("Content-Range") or ""
        span = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", header)
        if span is None or int(span[1]) != have or int(span[2]) + 1 != int(span[3]):
            part.unlink(missing_ok=True)
            tag.unlink(missing_ok=True)
            raise ConnectionError(f"the server sent {header!r} when asked for the rest")
        total = int(span[3])
    done = have if goes_on else 0
    size = max(0, total - done)
    if size and shutil.disk_usage(part.parent).free < size:
        raise InputError("no-room", part.parent, n=size)
    mark = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if mark and not mark.startswith("W/"):
        tag.write_text(mark, "utf-8")
    with part.open("ab" if goes_on else "wb") as file:
        # What has come is written before more is waited for, as the server may hang.
        while data := response.read1(_CHUNK):
            file.write(data)
            done += len(data)
            report_progress(
                progress, done, max(total, done), "downloading", "B", unit_scale=True
            )
    if total and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")
    if total and done > total:
        part.unlink(missing_ok=True)
        raise ConnectionError(f"it sent {done:,} bytes and announced {total:,}")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _length(response: HTTPResponse) -> int:
    """Return how many bytes are announced; 0 if it is not known."""
    text = response.headers.get("Content-Length") or ""
    return int(text) if re.fullmatch(r"\d{1,18}", text) else 0
