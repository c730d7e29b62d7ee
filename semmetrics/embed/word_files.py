"""Open files of vectors: word2vec, GloVe, fastText, gensim's KeyedVectors, and matrices.

Conventions
-----------
Files of word vectors are mapped into memory, and compressed ones are first decompressed into a
temporary file.

A ``.kv`` file is a pickle, which can run any code when it is opened. It is opened only if it is
named as ``kv:PATH``. Open only files that you trust. A fastText model has vectors for words that it
does not list, which it composes from character n-grams. Only listed words survive conversion.
Files of matrices are read without unpickling.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.core.ragged import Bools
from semmetrics.data.arrays import read_arrays
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_inputs import read_class_list
from semmetrics.data.source import (
    Source,
    enough_memory,
    load,
    translating_read_errors,
    unpacked,
)
from semmetrics.embed.embedder import Vectors
from semmetrics.embed.word_formats import detect_format, scan_words
from semmetrics.embed.word_index import KeyIndex, WordIndex
from semmetrics.embed.words import MatrixEmbedder, WordVectors, content_digest
from semmetrics.errors import InputError, require
from semmetrics.messages import pluralize
from semmetrics.store.files import AnyPath, file_digest

WORD_KINDS = {
    "word2vec": ("binary", "text"),
    "glove": ("glove", "text"),
    "fasttext": ("fasttext", "text"),
}
"""The kinds of word vectors that a user can name, and the formats that each may have."""

_GZIP_MAGIC = b"\x1f\x8b"
_ZIP_MAGIC = b"PK\x03\x04"
_CHUNK_SIZE = 1 << 24
_SIZE_FACTOR = 16
"""How many times larger files of vectors may be than other files."""


# ---- word vectors -----------------------------------------------------------------------


def read_vectors(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    max_words: int | None = None,
    name: str | None = None,
    member: str | None = None,
    max_bytes: int = DEFAULTS.max_bytes,
) -> WordVectors:
    """Open a file of word vectors. Its words are read now, and its vectors when they are needed.

    Parameters
    ----------
    path : str or path
        word2vec (binary or text), GloVe text, or fastText (text, or a model). The file may be
        compressed with gzip or zip.
    kind : {"word2vec", "glove", "fasttext"}, optional
        Default: detected from the content.
    max_words : int, optional
        Read the first words only, which are the most frequent ones.
    name : str, optional
        The name in signatures. Default: the name of the file.
    member : str, optional
        The file in a zip archive.
    max_bytes : int
        The file may have 16 times as many bytes, decompressed.

    Returns
    -------
    WordVectors

    Raises
    ------
    InputError
        If it is missing, of another kind, damaged or truncated.
    """
    file = Path(path)
    where = str(path)
    name = name or _stem(file)
    if max_words is not None and max_words < 1:
        raise InputError(
            "bad-option", name="max_words", value=max_words, wanted="at least 1"
        )
    buffer = map_file(file, member, _SIZE_FACTOR * max_bytes)
    file_format = detect_format(buffer, where)
    if kind is not None and file_format not in WORD_KINDS[kind]:
        raise InputError(
            "wrong-vectors", where, found=_kind_of(file_format), wanted=kind
        )
    if file_format == "fasttext":
        return _read_fasttext_model(file, where, name, max_words)
    with enough_memory(where):
        words, rows = scan_words(buffer, file_format, max_words, where)
        index = WordIndex.build(words)
    digest = partial(_digest_buffer, buffer, max_words)
    return WordVectors(index, rows, name=name, digest=digest, where=where)


def _kind_of(file_format: str) -> str:
    """Return the first kind of word vectors that may have a format."""
    kinds = [kind for kind in WORD_KINDS if file_format in WORD_KINDS[kind]]
    return kinds[0]


def _read_fasttext_model(
    file: Path, where: str, name: str, max_words: int | None
) -> WordVectors:
    """Open a fastText model, which only gensim can read."""
    if file.suffix.lower() in (".gz", ".zip"):
        raise InputError(
            "wrong-format",
            where,
            what="fasttext",
            format=file.suffix,
            wanted="an unpacked file",
        )
    model = _open_with_gensim(file, "fasttext.load_facebook_vectors")
    digest = partial(_digest_file, file, max_words)
    return from_keyed_vectors(
        model, name=name, max_words=max_words, where=where, digest=digest
    )


def _digest_buffer(buffer: mmap.mmap, max_words: int | None) -> str:
    """Return the SHA-256 of a mapped file, for all or the first of its words."""
    return _limited_digest(hashlib.sha256(buffer).hexdigest(), max_words)


def _digest_file(file: Path, max_words: int | None) -> str:
    """Return the SHA-256 of a file, for all or the first of its words."""
    return _limited_digest(file_digest(file), max_words)


def _limited_digest(digest: str, max_words: int | None) -> str:
    """Return the digest of a file, or another digest if only the first words are read."""
    if max_words is None:
        return digest
    return hashlib.sha256(f"{digest} limit {max_words}".encode()).hexdigest()


def _stem(path: Path) -> str:
    """Return the name of a file without its extensions.

    Examples
    --------
    >>> _stem(Path("GoogleNews-vectors-negative300.bin.gz")), _stem(Path("glove.6B.300d.txt"))
    ('GoogleNews-vectors-negative300', 'glove.6B.300d')
    """
    name = re.sub(r"\.(gz|zip)$", "", path.name, flags=re.IGNORECASE)
    extensions = r"\.(bin|txt|vec|kv|model|npy|npz|parquet)$"
    return re.sub(extensions, "", name, flags=re.IGNORECASE)


# ---- mapped files -----------------------------------------------------------------------


def map_file(path: Path, member: str | None, max_bytes: int) -> mmap.mmap:
    """Map a file into memory. A compressed file is first decompressed into a temporary file.

    Parameters
    ----------
    path : Path
        A plain file, or one compressed with gzip or zip.
    member : str, optional
        The file in a zip archive. Needed if there are several.
    max_bytes : int
        The maximum size, decompressed.

    Raises
    ------
    InputError
        If it is missing, empty, too large, or compressed and damaged.
    """
    where = str(path)
    with translating_read_errors(where, None), path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if not magic:
            raise InputError("empty-file", where)
        is_gzip = magic.startswith(_GZIP_MAGIC)
        if not is_gzip and not magic.startswith(_ZIP_MAGIC):
            if os.fstat(file.fileno()).st_size > max_bytes:
                raise InputError("too-large", where, limit=max_bytes)
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        packed_file = (
            nullcontext(file) if is_gzip else _open_member(file, member, where)
        )
        with tempfile.TemporaryFile() as plain, packed_file as stream:
            parts = unpacked(stream, where, max_bytes, _CHUNK_SIZE, packed=is_gzip)
            plain.writelines(parts)
            plain.flush()
            return mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)


@contextmanager
def _open_member(
    file: IO[bytes], member: str | None, where: str
) -> Iterator[IO[bytes]]:
    """Open a file of a zip archive: the named one, or the only one."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
            if member is None and len(names) == 1:
                member = names[0]
            if member not in names:
                raise InputError("wrong-member", where, names=names)
            with archive.open(member) as stream:
                yield stream
    # RuntimeError: the file is encrypted, or compressed by an unknown method.
    except (RuntimeError, zipfile.BadZipFile) as error:
        raise InputError("damaged", where, why=error) from None


# ---- gensim -----------------------------------------------------------------------------


def from_keyed_vectors(
    model: Any,
    *,
    name: str = "keyedvectors",
    max_words: int | None = None,
    where: str = "",
    digest: Callable[[], str] | None = None,
) -> WordVectors:
    """Return the word vectors of a gensim KeyedVectors object, without copying them.

    Parameters
    ----------
    model : gensim.models.KeyedVectors
        Or a model that has one as its attribute ``wv``.
    name : str
        The name in signatures.
    max_words : int, optional
        Use the first words only.
    where : str
        What messages call the object.
    digest : callable, optional
        Returns the SHA-256 of everything that decides the vectors. Default: computed from words
        and vectors.

    Returns
    -------
    WordVectors
        Those of a fastText model also compose vectors of words that are not listed.

    Raises
    ------
    InputError
        If it contains no vectors.
    """
    model = _find_keyed_vectors(model, where)
    vectors = np.asarray(model.vectors)
    words = list(model.index_to_key)[:max_words]
    if vectors.ndim != 2 or len(vectors) < len(words) or not words:
        raise InputError(
            "wrong-shape",
            where or name,
            role="the matrix of vectors",
            shape=vectors.shape,
            wanted=f"a vector for each of {pluralize(len(words), 'word')}",
        )
    rows = model.key_to_index if max_words is None else None
    index = KeyIndex(words, rows)
    if digest is None:
        digest = partial(_digest_keyed_vectors, model, vectors, words)
    compose = None
    if hasattr(model, "vectors_ngrams"):
        compose = partial(_compose_from_ngrams, model)
    return WordVectors(
        index, vectors, name=name, digest=digest, where=where, compose=compose
    )


def _find_keyed_vectors(model: Any, where: str) -> Any:
    """Return a gensim KeyedVectors, or the one in its attribute ``wv``."""
    if not hasattr(model, "key_to_index"):
        model = getattr(model, "wv", model)
    if not hasattr(model, "key_to_index") or not hasattr(model, "vectors"):
        wanted = "a gensim KeyedVectors"
        raise InputError("wrong-type", where, value=model, wanted=wanted)
    return model


def _digest_keyed_vectors(
    model: Any, vectors: NDArray[Any], words: Sequence[str]
) -> str:
    """Return the SHA-256 of words, their vectors, and the vectors of their n-grams if any."""
    tables = [np.ascontiguousarray(vectors[: len(words)], np.float32)]
    ngram_vectors = getattr(model, "vectors_ngrams", None)
    if ngram_vectors is not None:
        tables.append(np.ascontiguousarray(ngram_vectors, np.float32))
    return content_digest(words, *(table.data for table in tables))


def _compose_from_ngrams(model: Any, words: Sequence[str]) -> tuple[Vectors, Bools]:
    """Return the vectors that a fastText model composes, and which words have one."""
    vectors = np.zeros((len(words), model.vector_size), np.float32)
    for number, word in enumerate(words):
        if word:
            vectors[number] = model.get_vector(word)
    has_vector = np.asarray(vectors.any(axis=1), np.bool_)
    return vectors, has_vector


def read_keyed_vectors(
    path: AnyPath, *, max_words: int | None = None, max_bytes: int = DEFAULTS.max_bytes
) -> WordVectors:
    """Open a file that gensim saved. If its arrays are in other files, they are mapped.

    Raises
    ------
    InputError
        If it is missing or cannot be opened.
    MissingDependencyError
        If gensim is not installed.
    """
    file = Path(path)
    limit = _SIZE_FACTOR * max_bytes
    if not file.is_file():
        raise InputError("missing-file", path, remedy="check the path")
    if file.stat().st_size > limit:
        raise InputError("too-large", path, limit=limit)
    model = _open_with_gensim(file, "KeyedVectors.load", mmap="r")
    return from_keyed_vectors(
        model, name=_stem(file), max_words=max_words, where=str(path)
    )


def _open_with_gensim(file: Path, function: str, **options: Any) -> Any:
    """Open a file with a function of ``gensim.models``."""
    models = require("gensim.models", f"opening {file.name}", extra="word2vec")
    try:
        open_file = attrgetter(function)(models)
        return open_file(str(file), **options)
    except MemoryError:
        raise
    except Exception as error:  # damaged pickles and truncated models raise any error
        raise InputError(
            "own-code-failed",
            file,
            what="gensim",
            kind=type(error).__name__,
            why=error,
            remedy="copy or download it again, or save it with the installed version of gensim",
        ) from None


# ---- matrices ---------------------------------------------------------------------------


def read_matrix(
    path: AnyPath, *, max_bytes: int = DEFAULTS.max_bytes
) -> MatrixEmbedder:
    """Read a matrix of vectors and the strings that its rows belong to.

    Parameters
    ----------
    path : str or path
        A .npy file with the matrix. Its strings are in a file of the same name with the extension
        .txt (one per line) or .json (a list). A .npz file with an array of vectors and an array of
        strings (dtype U). A .parquet file with a column of strings, and either one column of lists
        or several columns of numbers. Nothing is unpickled.
    max_bytes : int
        The maximum size of the strings. The matrix may have 16 times as many bytes, decompressed.

    Returns
    -------
    MatrixEmbedder

    Raises
    ------
    InputError
        If a file is missing or damaged, or shapes do not fit.
    """
    file = Path(path)
    where = str(path)
    with enough_memory(where):
        source = load(file, _SIZE_FACTOR * max_bytes)
        texts: list[str] | None
        if file.suffix.lower() in (".parquet", ".pq"):
            vectors, texts = _read_parquet(source)
        else:
            vectors, texts = _read_arrays(source)
        if texts is None:
            texts = _read_texts_of(file, max_bytes)
    return MatrixEmbedder(vectors, texts, name=_stem(file), where=where)


def _read_arrays(source: Source) -> tuple[ArrayLike, list[str] | None]:
    """Return the matrix of a NumPy file, and its array of strings if it has one."""
    matrices = []
    lists = []
    for array in read_arrays(source, source.max_bytes).values():
        if array.dtype.kind == "U":
            lists.append(array)
        elif array.dtype.kind in "iuf" and array.ndim == 2:
            matrices.append(array)
    if len(matrices) != 1 or len(lists) > 1:
        n_matrices = len(matrices)
        raise InputError(
            "wrong-arrays", source.name, matrices=n_matrices, texts=len(lists)
        )
    if not lists:
        return matrices[0], None
    return matrices[0], lists[0].ravel().tolist()


def _read_texts_of(file: Path, max_bytes: int) -> list[str]:
    """Read the strings of a matrix from the file next to it."""
    candidates = [file.with_suffix(".txt"), file.with_suffix(".json")]
    for candidate in candidates:
        if candidate.is_file():
            return read_class_list(candidate, ReadOptions(max_bytes=max_bytes))
    raise InputError("no-texts", file, name=candidates[0].name)


def _read_parquet(source: Source) -> tuple[ArrayLike, list[str]]:
    """Return the vectors and the strings of the columns of a Parquet file."""
    from semmetrics.data.arrow_files import open_arrow

    with open_arrow(source, "parquet") as (schema, batches):
        text_names, list_names, number_names = _sort_columns(schema)
        vector_names = list_names or number_names
        if len(text_names) != 1 or len(list_names) > 1 or not vector_names:
            raise InputError("wrong-columns", source.name, found=schema.names)
        names = [*text_names, *vector_names]
        table_schema = schema.empty_table().select(names).schema
        pyarrow = import_module("pyarrow")
        table = pyarrow.Table.from_batches(batches(names), table_schema)
    texts, *columns = [table.column(name) for name in names]
    if texts.null_count:
        raise InputError("null", source.name, role="a string", remedy="remove the row")
    if list_names:
        return columns[0].to_pylist(), texts.to_pylist()
    matrix = np.column_stack([column.to_numpy() for column in columns])
    return matrix, texts.to_pylist()


def _sort_columns(schema: Any) -> tuple[list[str], list[str], list[str]]:
    """Return the names of the columns of strings, of lists of numbers, and of numbers."""
    from semmetrics.data.arrow_files import has_type

    list_types = ("list", "large_list", "fixed_size_list")
    text_names = []
    list_names = []
    number_names = []
    for field in schema:
        if has_type(field.type, "string", "large_string"):
            text_names.append(field.name)
        elif has_type(field.type, "floating"):
            number_names.append(field.name)
        elif has_type(field.type, *list_types) and has_type(
            field.type.value_type, "floating", "integer"
        ):
            list_names.append(field.name)
    return text_names, list_names, number_names
