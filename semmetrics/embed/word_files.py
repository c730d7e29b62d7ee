"""Files of vectors: word2vec, GloVe, fastText, gensim's KeyedVectors, and matrices.

Conventions
-----------
A file of word vectors is one block of bytes, mapped into memory, and unpacked first if it is
packed. It is scanned once for its words and for the places of their numbers, which are read when
they are asked for. A header gives the number of words; all must be there.

A ``.kv`` file is a pickle, which can run any code when it is opened: it is opened only if it is
named as ``kv:PATH``, and only files that you trust should be. A fastText model gives a vector to
words that it does not list, from their character n-grams; only listed words survive conversion.
From files of matrices nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import tempfile
import warnings
import zipfile
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import Bools, Ints
from semmetrics.data.arrays import read_arrays
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.side_inputs import read_class_list
from semmetrics.data.source import Source, enough_memory, load, naming, unpacked
from semmetrics.embed.embedder import Vectors
from semmetrics.embed.words import (
    KeyIndex,
    MatrixEmbedder,
    WordIndex,
    WordVectors,
    content_digest,
)
from semmetrics.errors import InputError, require
from semmetrics.messages import pluralize
from semmetrics.store.files import AnyPath, file_digest

#: What a file of word vectors may be called, and the formats that it may then have.
WORD_KINDS = {
    "word2vec": ("binary", "text"),
    "glove": ("glove", "text"),
    "fasttext": ("fasttext", "text"),
}

_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_CHUNK = 1 << 24
_FASTTEXT = (793712314).to_bytes(4, "little")  # how a fastText model begins
_LONGEST_WORD, _LONGEST_LINE = 1 << 12, 1 << 20
_HEADER = re.compile(rb"(\d{1,12}) (\d{1,6})[ \r]*\n")
_HEADER_ALONE = re.compile(rb"\d{1,12} \d{1,6}[ \r]*")
_MARK = b"\xef\xbb\xbf"  # the byte order mark of UTF-8
_DECIMAL = re.compile(rb"[-+]?\d*\.\d+(e[-+]?\d+)?", re.IGNORECASE)
_CHECKED_WORDS = (
    1000  # words: where a header names another width, the second is wrong already
)
_MORE = 16  # times the bytes of other files: vectors are mapped, or their numbers are what is used


def read_vectors(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    max_words: int | None = None,
    name: str | None = None,
    member: str | None = None,
    max_bytes: int = DEFAULTS.max_bytes,
) -> WordVectors:
    """Open a file of word vectors; its words are read, their vectors when they are needed.

    Parameters
    ----------
    path : str or path
        word2vec (binary or text), GloVe text, or fastText (text, or a model), perhaps packed with
        gzip or zip.
    kind : {"word2vec", "glove", "fasttext"}, optional
        None detects it by the content.
    max_words : int, optional
        Read the first words only, which are the most frequent ones.
    name : str, optional
        For signatures; None is the file's name.
    member : str, optional
        The file in a zip archive.
    max_bytes : int
        The file may have 16 times as many bytes, unpacked.

    Returns
    -------
    WordVectors

    Raises
    ------
    InputError
        If it is missing, of another kind, damaged or cut off.
    """
    file = Path(path)
    where, name = str(path), name or _stem(file)
    if max_words is not None and max_words < 1:
        raise InputError(
            "bad-option", name="max_words", value=max_words, wanted="at least 1"
        )
    buffer = map_file(file, member, _MORE * max_bytes)
    form = detect_format(buffer, where)
    if kind is not None and form not in WORD_KINDS[kind]:
        found = next(name for name, forms in WORD_KINDS.items() if form in forms)
        raise InputError("wrong-vectors", where, found=found, wanted=kind)

    def digest() -> str:
        content = (
            file_digest(file)
            if form == "fasttext"
            else hashlib.sha256(buffer).hexdigest()
        )
        if max_words is None:
            return content
        return hashlib.sha256(f"{content} limit {max_words}".encode()).hexdigest()

    if form == "fasttext":
        if file.suffix.lower() in (".gz", ".zip"):
            wanted = "an unpacked file"
            raise InputError(
                "wrong-format", where, what=form, format=file.suffix, wanted=wanted
            )
        model = _open_with_gensim(file, "fasttext.load_facebook_vectors")
        return from_keyed_vectors(
            model, name=name, max_words=max_words, where=where, digest=digest
        )
    with enough_memory(where):
        words, rows = scan_words(buffer, form, max_words, where)
        index = WordIndex.build(words)
    return WordVectors(index, rows, name=name, digest=digest, where=where)


def _stem(path: Path) -> str:
    """Return the name of a file without its endings.

    Examples
    --------
    >>> _stem(Path("GoogleNews-vectors-negative300.bin.gz")), _stem(Path("glove.6B.300d.txt"))
    ('GoogleNews-vectors-negative300', 'glove.6B.300d')
    """
    name = re.sub(r"\.(gz|zip)$", "", path.name, flags=re.IGNORECASE)
    return re.sub(
        r"\.(bin|txt|vec|kv|model|npy|npz|parquet)$", "", name, flags=re.IGNORECASE
    )


def map_file(path: Path, member: str | None, max_bytes: int) -> mmap.mmap:
    """Map a file into memory; a packed one is first unpacked into a file without a name.

    Parameters
    ----------
    path : Path
        A plain file, or one packed with gzip or zip.
    member : str, optional
        The file in a zip archive; needed where there are several.
    max_bytes : int
        The most bytes, unpacked.

    Raises
    ------
    InputError
        If it is missing, empty, or packed and damaged.
    """
    where = str(path)
    with naming(where, None), path.open("rb") as file:
        start = file.read(4)
        file.seek(0)
        if not start:
            raise InputError("empty-file", where)
        if not start.startswith((_GZIP, _ZIP)):
            if os.fstat(file.fileno()).st_size > max_bytes:
                raise InputError("too-large", where, limit=max_bytes)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        packed = start.startswith(_GZIP)
        opened = nullcontext(file) if packed else _open_member(file, member, where)
        with tempfile.TemporaryFile() as plain, opened as stream:
            plain.writelines(unpacked(stream, where, max_bytes, _CHUNK, packed=packed))
            plain.flush()
            return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)


@contextmanager
def _open_member(
    file: IO[bytes], member: str | None, where: str
) -> Iterator[IO[bytes]]:
    """Open one file of a zip archive."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if member is None and len(names) == 1:
                member = names[0]
            if member not in names:
                raise InputError("wrong-member", where, names=names)
            with archive.open(member) as stream:
                yield stream
    # RuntimeError: encrypted, or packed in a way that Python does not know
    except (RuntimeError, zipfile.BadZipFile) as error:
        raise InputError("damaged", where, why=error) from None


class FileRows:
    """Rows of numbers at their places in a file, read when they are asked for.

    Parameters
    ----------
    buffer : bytes or memory map
    starts, stops : int arrays, shape (rows,)
    dimension : int
    where : str
        The name of the file, for messages.
    binary : bool
        Whether a row is little-endian float32, or decimal numbers.
    """

    def __init__(
        self,
        buffer: Any,
        starts: Ints,
        stops: Ints,
        dimension: int,
        where: str,
        *,
        binary: bool,
    ) -> None:
        self._buffer, self._starts, self._stops = buffer, starts, stops
        self.shape, self._where, self._binary = (len(starts), dimension), where, binary

    def __getitem__(self, numbers: Ints) -> Vectors:
        """Return the rows of those numbers.

        Raises
        ------
        InputError
            If something is not a number; names the line.
        """
        found = np.empty((len(numbers), self.shape[1]), np.float32)
        starts, stops = self._starts[numbers].tolist(), self._stops[numbers].tolist()
        for place, (start, stop) in enumerate(zip(starts, stops, strict=True)):
            part = self._buffer[start:stop]
            row = np.frombuffer(part, "<f4") if self._binary else _parse_numbers(part)
            if row is None or len(row) != self.shape[1]:
                line = self._buffer[:start].count(b"\n") + 1
                why = f"a word does not have {pluralize(self.shape[1], 'number')}"
                raise InputError("damaged", f"{self._where}, line {line}", why=why)
            found[place] = row
        return found


def _parse_numbers(text: bytes) -> NDArray[np.float32] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return np.fromstring(text, np.float32, sep=" ")
        except (ValueError, DeprecationWarning):
            return None


def detect_format(buffer: Any, where: str) -> str:
    """Return what a file is by its content: "binary" or "text" (word2vec), "glove" or "fasttext".

    Raises
    ------
    InputError
        If it is none of these.
    """
    if buffer[:4] == _FASTTEXT:
        return "fasttext"
    head = bytes(buffer[:_LONGEST_LINE])
    header = _HEADER.match(head)
    if header is None:
        marked = head.startswith(_MARK) or _HEADER_ALONE.fullmatch(head)
        if not marked and _count_numbers(head, 0) >= 1:
            return "glove"
        raise InputError("not-word-vectors", where)
    start, dimension = header.end(), int(header[2])
    numbers = _count_numbers(head, start)
    following = head[start:].partition(b"\n")[2]
    if numbers == dimension or (
        numbers > dimension and _count_numbers(following, 0) == dimension
    ):
        return "text"  # of more numbers the first belong to the word: "route 66"
    if numbers > 1:  # bytes do not look like several numbers
        why = f"there are {numbers} numbers after the word, and the header has {dimension}"
        raise InputError("damaged", f"{where}, line 2", why=why)
    line = head[start:].partition(b"\n")[0].rstrip(b" \r")
    last = line.split(b" ")[1:][-dimension:] if dimension > 1 else []
    phrase = _parse_numbers(b" ".join(last)) if len(last) == dimension else None
    return "binary" if phrase is None or phrase.size != dimension else "text"


def _count_numbers(head: bytes, start: int) -> int:
    """Count the numbers after the word in a line of text; -1 if it is not such a line."""
    numbers = _parse_numbers(
        head[start:].partition(b"\n")[0].rstrip(b" \r").partition(b" ")[2]
    )
    return -1 if numbers is None else int(numbers.size)


def scan_words(
    buffer: Any, form: str, max_words: int | None, where: str
) -> tuple[list[bytes], FileRows]:
    """Scan a file for its words, as UTF-8, and the rows of their numbers.

    Parameters
    ----------
    buffer : bytes or memory map
    form : {"binary", "text", "glove"}
    max_words : int, optional
        The first words only.
    where : str
        The name of the file, for messages.

    Raises
    ------
    InputError
        If it is cut off or has lines of different widths.
    """
    header = None if form == "glove" else _HEADER.match(buffer)
    count, dimension = (None, 0) if header is None else (int(header[1]), int(header[2]))
    start = 0 if header is None else header.end()
    del header  # it would keep the map open
    if count is not None and 0 in (count, dimension):
        raise InputError("damaged", where, why="its header has no vectors")
    most = min((n for n in (count, max_words) if n is not None), default=len(buffer))
    scan = _scan_binary if form == "binary" else _scan_text
    words, rows, start = scan(buffer, start, most, dimension, where)
    if count is not None and len(words) < most:
        why = f"it ends after {len(words):,} of {pluralize(count, 'word')}"
        raise InputError("damaged", where, why=why)
    if (
        count is not None
        and max_words is None
        and buffer[start : start + _CHUNK].strip()
    ):
        why = f"there is more after {pluralize(count, 'word')}, which its header has"
        raise InputError("damaged", where, why=why)
    return words, rows


def _scan_binary(
    buffer: Any, start: int, most: int, dimension: int, where: str
) -> tuple[list[bytes], FileRows, int]:
    """Return the words until they are enough or the file ends, their rows, and where it stopped."""
    words, starts, size, end = list[bytes](), array("q"), 4 * dimension, len(buffer)
    find = buffer.find
    for row in range(most):
        blank = find(b" ", start, start + _LONGEST_WORD)
        if blank < 0 and end - start > _LONGEST_WORD:
            raise InputError("damaged", where, why=f"there is no word {row + 1}")
        if blank < 0 or blank + 1 + size > end:
            break
        words.append(buffer[start:blank].lstrip(b"\n"))
        starts.append(blank + 1)
        start = blank + 1 + size
    # where the header names another width, bytes of numbers are read as words
    for row, word in enumerate(words[:_CHECKED_WORDS]):
        if b"\n" in word or b"\0" in word:
            raise InputError(
                "damaged", where, why=f"word {row + 1} does not begin where it should"
            )
    places = np.array(starts, np.int64)
    return (
        words,
        FileRows(buffer, places, places + size, dimension, where, binary=True),
        start,
    )


def _scan_text(
    buffer: Any, start: int, most: int, dimension: int, where: str
) -> tuple[list[bytes], FileRows, int]:
    """As `_scan_binary`; without a dimension, it is that of the first line."""
    words, starts, stops, end = list[bytes](), array("q"), array("q"), len(buffer)
    while start < end and len(words) < most:
        stop = buffer.find(b"\n", start)
        stop = end if stop < 0 else stop
        line = buffer[start:stop].rstrip(b" \r")
        blanks = line.count(b" ")
        dimension = dimension or blanks
        if not line and not buffer[stop:].strip():
            break
        width = (
            line.find(b" ")
            if blanks <= dimension
            else len(line.rsplit(b" ", dimension)[0])
        )
        wide = blanks > dimension and _DECIMAL.fullmatch(
            line[:width].rpartition(b" ")[2]
        )
        if blanks < dimension or not dimension or wide:
            number = buffer[:start].count(b"\n") + 1
            why = f"{pluralize(blanks, 'number')} after the word, not {dimension}"
            raise InputError("damaged", f"{where}, line {number}", why=why)
        words.append(line[:width])
        starts.append(start + width + 1)
        stops.append(start + len(line))
        start = stop + 1
    places = np.array(starts, np.int64), np.array(stops, np.int64)
    return words, FileRows(buffer, *places, dimension, where, binary=False), start


def from_keyed_vectors(
    model: Any,
    *,
    name: str = "keyedvectors",
    max_words: int | None = None,
    where: str = "",
    digest: Callable[[], str] | None = None,
) -> WordVectors:
    """Make word vectors of a gensim KeyedVectors object, without copying them.

    Parameters
    ----------
    model : gensim.models.KeyedVectors
        Or a model that has one as its attribute ``wv``.
    name : str
        For signatures.
    max_words : int, optional
        The first words only.
    where : str
        What messages call it.
    digest : callable, optional
        Gives the SHA-256 of what decides the vectors; None is that of words and vectors.

    Returns
    -------
    WordVectors
        A fastText model's also has vectors for words that are not listed.

    Raises
    ------
    InputError
        If it holds no vectors.
    """
    model = model if hasattr(model, "key_to_index") else getattr(model, "wv", model)
    if not (hasattr(model, "key_to_index") and hasattr(model, "vectors")):
        raise InputError(
            "wrong-type", where, value=model, wanted="a gensim KeyedVectors"
        )
    vectors, words = np.asarray(model.vectors), list(model.index_to_key)[:max_words]
    if vectors.ndim != 2 or len(vectors) < len(words) or not words:
        wanted = f"a vector for each of {pluralize(len(words), 'word')}"
        shape, role = vectors.shape, "the matrix of vectors"
        raise InputError(
            "wrong-shape", where or name, role=role, shape=shape, wanted=wanted
        )

    # of words, their vectors, and those of their n-grams if there are any
    def own_digest() -> str:
        parts = [vectors[: len(words)], getattr(model, "vectors_ngrams", None)]
        numbers = (
            np.ascontiguousarray(part, np.float32) for part in parts if part is not None
        )
        return content_digest(words, *(part.data for part in numbers))

    def compose(words: Sequence[str]) -> tuple[Vectors, Bools]:
        made = np.zeros((len(words), model.vector_size), np.float32)
        for number, word in enumerate(words):
            if word:
                made[number] = model.get_vector(word)
        return made, np.asarray(made.any(axis=1), np.bool_)

    index = KeyIndex(words, model.key_to_index if max_words is None else None)
    digest, made = (
        digest or own_digest,
        compose if hasattr(model, "vectors_ngrams") else None,
    )
    return WordVectors(
        index, vectors, name=name, digest=digest, where=where, compose=made
    )


def read_keyed_vectors(
    path: AnyPath, *, max_words: int | None = None, max_bytes: int = DEFAULTS.max_bytes
) -> WordVectors:
    """Open a file that gensim saved, mapped into memory if its arrays are beside it.

    Raises
    ------
    InputError
        If it is missing or cannot be opened.
    MissingDependencyError
        If gensim is not installed.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("missing-file", path, remedy="check the path")
    if file.stat().st_size > _MORE * max_bytes:
        raise InputError("too-large", path, limit=_MORE * max_bytes)
    model = _open_with_gensim(file, "KeyedVectors.load", mmap="r")
    return from_keyed_vectors(
        model, name=_stem(file), max_words=max_words, where=str(path)
    )


def _open_with_gensim(file: Path, function: str, **options: Any) -> Any:
    """Open a file with a function of gensim."""
    models = require("gensim.models", f"opening {file.name}", extra="word2vec")
    try:
        return attrgetter(function)(models)(str(file), **options)
    except MemoryError:
        raise
    except (
        Exception
    ) as error:  # what damaged pickles and cut-off models raise is not bounded
        remedy = "copy or download it again, or save it with the gensim that is installed here"
        values = {
            "what": "gensim",
            "kind": type(error).__name__,
            "why": error,
            "remedy": remedy,
        }
        raise InputError("own-code-failed", file, **values) from None


def read_matrix(
    path: AnyPath, *, max_bytes: int = DEFAULTS.max_bytes
) -> MatrixEmbedder:
    """Read a matrix of vectors and the texts of its rows.

    Parameters
    ----------
    path : str or path
        .npy: the matrix, its texts in a file beside it with the ending .txt or .json (one text a
        line, or a list); .npz: one array of vectors and one of texts (dtype U); .parquet: a column
        of texts, and one of lists or many of numbers. Nothing is unpickled.
    max_bytes : int
        The most bytes of the texts; the matrix may have 16 times as many, unpacked.

    Returns
    -------
    MatrixEmbedder

    Raises
    ------
    InputError
        If a file is missing or damaged, or shapes do not fit.
    """
    file = Path(path)
    with enough_memory(str(path)):
        source = load(file, _MORE * max_bytes)
        texts: list[str] | None = None
        if file.suffix.lower() in (".parquet", ".pq"):
            vectors, texts = _read_parquet(source)
        else:
            arrays = read_arrays(source, source.max_bytes)
            lists = [array for array in arrays.values() if array.dtype.kind == "U"]
            tables = [
                a for a in arrays.values() if a.dtype.kind in "iuf" and a.ndim == 2
            ]
            if len(tables) != 1 or len(lists) > 1:
                counts = {"matrices": len(tables), "texts": len(lists)}
                raise InputError("wrong-arrays", source.name, **counts)
            vectors, texts = tables[0], lists[0].ravel().tolist() if lists else None
        if texts is None:
            beside = [file.with_suffix(ending) for ending in (".txt", ".json")]
            found = next(filter(Path.is_file, beside), None)
            if found is None:
                raise InputError("no-texts", file, name=beside[0].name)
            texts = read_class_list(found, ReadOptions(max_bytes=max_bytes))
    return MatrixEmbedder(vectors, texts, name=_stem(file), where=str(path))


def _read_parquet(source: Source) -> tuple[ArrayLike, list[str]]:
    """Return the vectors and the texts of the columns of a Parquet file."""
    from semmetrics.data.arrow import has_type, open_arrow

    with open_arrow(source, "parquet") as (schema, batches):
        texts = [f.name for f in schema if has_type(f.type, "string", "large_string")]
        of_rows, of_numbers = (
            ("list", "large_list", "fixed_size_list"),
            ("floating", "integer"),
        )
        rows = (f for f in schema if has_type(f.type, *of_rows))
        lists = [f.name for f in rows if has_type(f.type.value_type, *of_numbers)]
        numbers = [f.name for f in schema if has_type(f.type, "floating")]
        if len(texts) != 1 or len(lists) > 1 or not (lists or numbers):
            raise InputError("wrong-columns", source.name, found=schema.names)
        names = [*texts, *(lists or numbers)]
        kept = schema.empty_table().select(names).schema
        table = import_module("pyarrow").Table.from_batches(batches(names), kept)
    found, *columns = (table.column(name) for name in names)
    if found.null_count:
        raise InputError("null", source.name, role="a text", remedy="remove the row")
    if not lists:
        return np.column_stack(
            [column.to_numpy() for column in columns]
        ), found.to_pylist()
    return columns[0].to_pylist(), found.to_pylist()
