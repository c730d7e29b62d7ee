"""Open files of vectors: word vectors, gensim's KeyedVectors and fastText models, and matrices.

Conventions
-----------
A ``.kv`` file is a pickle, which can run any code when it is opened: it is opened only where it is
named as ``kv:PATH``, and only files that you trust should be. A fastText model gives a vector to
words that it does not list, from their character n-grams; only listed words survive conversion.
From files of matrices nothing is unpickled.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools
from semmetrics.data.arrays import read_arrays
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.side_inputs import read_class_list
from semmetrics.data.source import Room, Source, enough_memory, load, too_large
from semmetrics.embed.embedder import Vectors
from semmetrics.embed.word_formats import WORD_KINDS, detect_format, map_file, scan_words
from semmetrics.embed.word_vectors import (
    KeyIndex,
    MatrixEmbedder,
    WordIndex,
    WordVectors,
    content_digest,
)
from semmetrics.errors import InputError, MissingDependencyError
from semmetrics.messages import a_kind, listing, pluralize
from semmetrics.store import file_digest

__all__ = [
    "from_keyed_vectors",
    "read_keyed_vectors",
    "read_matrix",
    "read_vectors",
]

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
        The memory that its words may take; the file may have 16 times as many bytes, unpacked.

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
    if kind is not None and kind not in WORD_KINDS:
        raise InputError(
            f"{kind!r} is no kind of word vectors", remedy=f"use {', '.join(WORD_KINDS)}"
        )
    if max_words is not None and max_words < 1:
        raise InputError(f"max_words={max_words}", remedy="give a number of words, at least 1")
    buffer = map_file(file, member, _MORE * max_bytes)
    form = detect_format(buffer, where)
    if kind is not None and form not in WORD_KINDS[kind]:
        found = next(name for name, forms in WORD_KINDS.items() if form in forms)
        raise InputError(
            f"it is not what {kind}: says, but {found}",
            where=where,
            remedy=f"write {found}:{where}, or leave the kind out",
        )
    if form == "fasttext":
        return _read_fasttext(file, max_words=max_words, name=name)
    with enough_memory(where, max_bytes):
        words, rows = scan_words(buffer, form, max_words, where, Room(where, max_bytes))
        index = WordIndex.build(words)
    return WordVectors(
        index,
        rows,
        name=name,
        digest=lambda: _digest_of_first(hashlib.sha256(buffer).hexdigest(), max_words),
        where=where,
    )


def _digest_of_first(digest: str, max_words: int | None) -> str:
    """Return the digest of the first words of a file."""
    if max_words is None:
        return digest
    return hashlib.sha256(f"{digest} limit {max_words}".encode()).hexdigest()


def _stem(path: Path) -> str:
    """Return the name of a file without its endings.

    Examples
    --------
    >>> _stem(Path("GoogleNews-vectors-negative300.bin.gz")), _stem(Path("glove.6B.300d.txt"))
    ('GoogleNews-vectors-negative300', 'glove.6B.300d')
    """
    name = re.sub(r"\.(gz|zip)$", "", path.name, flags=re.IGNORECASE)
    return re.sub(r"\.(bin|txt|vec|kv|model|npy|npz|parquet)$", "", name, flags=re.IGNORECASE)


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
            f"{a_kind(model)} holds no word vectors",
            where=where,
            remedy="give a gensim KeyedVectors",
        )
    vectors, words = np.asarray(model.vectors), list(model.index_to_key)[:max_words]
    if vectors.ndim != 2 or len(vectors) < len(words) or not words:
        raise InputError(
            f"its vectors have shape {vectors.shape} for {pluralize(len(words), 'word')}",
            where=where or name,
            remedy="save it again",
        )
    return WordVectors(
        KeyIndex(words, model.key_to_index if max_words is None else None),
        vectors,
        name=name,
        digest=digest or partial(_digest_of_model, words, vectors, model),
        where=where,
        compose=_composer(model),
    )


def _digest_of_model(words: Sequence[str], vectors: Any, model: Any) -> str:
    """Return the SHA-256 of words, their vectors, and those of their n-grams if there are any."""
    parts = [vectors[: len(words)], getattr(model, "vectors_ngrams", None)]
    numbers = (np.ascontiguousarray(part, np.float32) for part in parts if part is not None)
    return content_digest(words, *(part.data for part in numbers))


def _composer(model: Any) -> Any:
    """Return what makes vectors of unlisted words, if the model can."""
    if not hasattr(model, "vectors_ngrams"):
        return None

    def compose(words: Sequence[str]) -> tuple[Vectors, Bools]:
        vectors = np.zeros((len(words), model.vector_size), np.float32)
        for number, word in enumerate(words):
            if word:
                vectors[number] = model.get_vector(word)
        return vectors, np.asarray(vectors.any(axis=1), np.bool_)

    return compose


def read_keyed_vectors(
    path: str | os.PathLike[str],
    *,
    max_words: int | None = None,
    name: str | None = None,
    max_bytes: int = DEFAULTS.max_bytes,
) -> WordVectors:
    """Open a file that gensim saved, mapped into memory where its arrays stand beside it.

    Raises
    ------
    InputError
        If it is missing or cannot be opened.
    MissingDependencyError
        If gensim is not installed.
    """
    file = Path(path)
    if not file.is_file():
        raise InputError("there is no such file", where=str(path), remedy="check the path")
    if file.stat().st_size > _MORE * max_bytes:
        raise too_large(str(path), _MORE * max_bytes, times=_MORE)
    return _open_with_gensim(
        file,
        "gensim.models",
        lambda models: models.KeyedVectors.load(str(path), mmap="r"),
        "save it again with KeyedVectors.save of the gensim that is installed here",
        name=name or _stem(file),
        max_words=max_words,
    )


def _read_fasttext(path: Path, *, max_words: int | None, name: str) -> WordVectors:
    """Open a fastText model with its subwords; all of it is loaded."""
    if path.suffix.lower() in (".gz", ".zip"):
        raise InputError(
            "a packed fastText model is not read", where=str(path), remedy="unpack it first"
        )
    return _open_with_gensim(
        path,
        "gensim.models.fasttext",
        lambda fasttext: fasttext.load_facebook_vectors(str(path)),
        "copy or download it again",
        name=name,
        max_words=max_words,
        digest=lambda: _digest_of_first(file_digest(path), max_words),
    )


def _open_with_gensim(
    file: Path,
    module: str,
    load: Callable[[Any], Any],
    remedy: str,
    **options: Any,
) -> WordVectors:
    """Open a file with a module of gensim; turn what goes wrong into one error."""
    try:
        package = import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            "gensim", f"opening {file.name}", extra="word2vec", error=error
        ) from error
    try:
        model = load(package)
    except MemoryError:
        raise
    # What damaged pickles and cut-off models raise is not bounded.
    except Exception as error:
        raise InputError(
            f"gensim cannot open it: {type(error).__name__}: {error}",
            where=str(file),
            remedy=remedy,
        ) from None
    return from_keyed_vectors(model, where=str(file), **options)


def read_matrix(
    path: str | os.PathLike[str],
    texts: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    name: str | None = None,
    lookup: str = "exact",
    max_bytes: int = DEFAULTS.max_bytes,
) -> MatrixEmbedder:
    """Read a matrix of vectors and the texts of its rows.

    Parameters
    ----------
    path : str or path
        .npy: the matrix, its texts in a file beside it; .npz: one array of vectors and one of
        texts (dtype U); .parquet: a column of texts, and one of lists or many of numbers. Nothing
        is unpickled.
    texts : path, or sequence of str, optional
        The texts of the rows; None is the file with the ending .txt or .json beside a .npy file
        (one text a line, or a list).
    name, lookup
        See `MatrixEmbedder`.
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
    tabular = file.suffix.lower() in (".parquet", ".pq")
    with enough_memory(str(path), _MORE * max_bytes):
        source = load(file, _MORE * max_bytes)
        vectors, found = _read_parquet(source) if tabular else _read_arrays(source)
        if texts is not None and not isinstance(texts, str | os.PathLike):
            found = list(texts)
        elif texts is not None or found is None:
            found = _read_texts(file, texts, max_bytes)
    return MatrixEmbedder(vectors, found, name=name or _stem(file), lookup=lookup, where=str(path))


def _read_arrays(source: Source) -> tuple[NDArray[Any], list[str] | None]:
    """Return the one matrix of numbers and the one list of texts of a .npy or .npz file."""
    arrays = read_arrays(source, source.max_bytes)
    texts = {key: array for key, array in arrays.items() if array.dtype.kind == "U"}
    tables = {key: a for key, a in arrays.items() if a.dtype.kind in "iuf" and a.ndim == 2}
    for what, which in (("matrix of numbers", tables), ("array of texts", texts)):
        if len(which) > 1:
            raise InputError(
                f"it holds more than one {what}: {listing(which)}",
                where=source.name,
                remedy="save one",
            )
    if not tables:
        raise InputError("it holds no matrix of numbers", where=source.name, remedy="save one")
    found = next(iter(texts.values())).ravel().tolist() if texts else None
    return next(iter(tables.values())), found


def _read_texts(file: Path, texts: str | os.PathLike[str] | None, max_bytes: int) -> list[str]:
    """Read texts from the file that is given, or from the one beside the matrix."""
    if texts is None:
        beside = [file.with_suffix(ending) for ending in (".txt", ".json")]
        found = next((path for path in beside if path.is_file()), None)
        if found is None:
            raise InputError(
                "nothing says which texts its rows are of",
                where=str(file),
                remedy=f"write them, one a line, into {beside[0].name} beside it",
            )
        texts = found
    return read_class_list(texts, ReadOptions(max_bytes=max_bytes))


def _read_parquet(source: Source) -> tuple[NDArray[Any], list[str]]:
    """Return the vectors and the texts of the columns of a Parquet file."""
    from semmetrics.data.arrow import has_type, open_arrow

    with open_arrow(source, "parquet") as (schema, batches):
        texts = [f.name for f in schema if has_type(f.type, "string", "large_string")]
        lists = [
            field.name
            for field in schema
            if has_type(field.type, "list", "large_list", "fixed_size_list")
            and has_type(field.type.value_type, "floating", "integer")
        ]
        numbers = [f.name for f in schema if has_type(f.type, "floating")]
        if len(texts) != 1 or len(lists) > 1 or not (lists or numbers):
            raise InputError(
                f"its columns are {listing(schema.names)}",
                where=source.name,
                remedy="give one column of texts, and one of lists of numbers or many of numbers",
            )
        names = [*texts, *(lists or numbers)]
        kept = schema.empty_table().select(names).schema
        table = import_module("pyarrow").Table.from_batches(batches(names), kept)
    found, *columns = (table.column(name) for name in names)
    if found.null_count:
        raise InputError("a text is null", where=source.name, remedy="remove the row")
    if lists:
        return _equal_rows(columns[0].to_pylist(), source.name), found.to_pylist()
    return np.column_stack([column.to_numpy() for column in columns]), found.to_pylist()


def _equal_rows(rows: list[Any], where: str) -> NDArray[Any]:
    width = len(rows[0] or ()) if rows else 0
    for number, row in enumerate(rows):
        if row is None or len(row) != width or None in row:
            raise InputError(
                f"the vector is not one of {pluralize(width, 'number')}, as in row 0",
                where=f"{where}, row {number} (from 0)",
                remedy="write rows of one length",
            )
    return np.array(rows, np.float32)
