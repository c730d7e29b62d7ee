"""Vectors that gensim reads: its own KeyedVectors, and fastText models with their subwords.

Conventions
-----------
A ``.kv`` file is a pickle, which can run any code when it is opened: it is opened only where it is
named as ``kv:PATH``, and only files that you trust should be. A fastText model gives a vector to
words that it does not list, from their character n-grams; only listed words survive conversion.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools
from semmetrics.embed.base import Vectors
from semmetrics.embed.buffers import file_digest
from semmetrics.embed.formats import ArrayTable
from semmetrics.embed.index import KeyIndex
from semmetrics.embed.vectors import WordVectors, limited, stem
from semmetrics.errors import InputError, MissingDependencyError

__all__ = ["from_keyed", "is_keyed", "read_fasttext", "read_keyed"]


def _gensim(name: str, purpose: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependencyError("gensim", purpose, extra="word2vec") from None


def is_keyed(model: object) -> bool:
    """Whether it is a gensim KeyedVectors, or has its attributes."""
    return hasattr(model, "key_to_index") and hasattr(model, "vectors")


def from_keyed(
    model: Any,
    *,
    name: str = "keyedvectors",
    limit: int | None = None,
    where: str = "",
    digest: Callable[[], str] | None = None,
) -> WordVectors:
    """Word vectors of a gensim KeyedVectors object, without copying them.

    Parameters
    ----------
    model : gensim.models.KeyedVectors
        Or a model that has one as its attribute ``wv``.
    name : str
        For signatures.
    limit : int, optional
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
    model = model if is_keyed(model) else getattr(model, "wv", model)
    if not is_keyed(model):
        raise InputError(
            f"a {type(model).__name__} holds no word vectors",
            where=where,
            remedy="give a gensim KeyedVectors",
        )
    vectors, words = np.asarray(model.vectors), list(model.index_to_key)[:limit]
    if vectors.ndim != 2 or len(vectors) < len(words) or not words:
        raise InputError(
            f"its vectors have shape {vectors.shape} for {len(words)} words",
            where=where or name,
            remedy="save it again",
        )
    rows = model.key_to_index if limit is None else {word: row for row, word in enumerate(words)}
    return WordVectors(
        KeyIndex(rows, words),
        ArrayTable(vectors),
        name=name,
        digest=digest or (lambda: _content(words, vectors[: len(words)], model)),
        where=where,
        compose=_composer(model),
    )


def _content(words: Sequence[str], vectors: Any, model: Any) -> str:
    """SHA-256 of the words, of their vectors, and of those of the n-grams where there are some."""
    state = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass"))
    for part in (vectors, getattr(model, "vectors_ngrams", None)):
        if part is not None:
            state.update(np.ascontiguousarray(part, np.float32).data)
    return state.hexdigest()


def _composer(model: Any) -> Any:
    if not hasattr(model, "vectors_ngrams"):
        return None

    def compose(words: Sequence[str]) -> tuple[Vectors, Bools]:
        vectors = np.zeros((len(words), model.vector_size), np.float32)
        for number, word in enumerate(words):
            if word:
                vectors[number] = model.get_vector(word)
        return vectors, np.asarray(vectors.any(axis=1), np.bool_)

    return compose


def read_keyed(path: Path, *, limit: int | None = None, name: str | None = None) -> WordVectors:
    """Open a file that gensim saved, mapped into memory where its arrays stand beside it.

    Raises
    ------
    InputError
        If it is missing or cannot be opened.
    MissingDependencyError
        If gensim is not installed.
    """
    if not path.is_file():
        raise InputError("there is no such file", where=str(path), remedy="check the path")
    models = _gensim("gensim.models", "opening KeyedVectors")
    try:
        model = models.KeyedVectors.load(str(path), mmap="r")
    # What a damaged pickle raises is not bounded.
    except Exception as error:
        raise InputError(
            f"gensim cannot open it: {type(error).__name__}: {error}",
            where=str(path),
            remedy="save it again with KeyedVectors.save of the gensim that is installed here",
        ) from None
    return from_keyed(model, name=name or stem(path), limit=limit, where=str(path))


def read_fasttext(path: Path, *, limit: int | None = None, name: str | None = None) -> WordVectors:
    """Open a fastText model with its subwords; all of it is loaded.

    Raises
    ------
    InputError
        If it is damaged.
    MissingDependencyError
        If gensim is not installed.
    """
    if path.suffix.lower() in (".gz", ".zip"):
        raise InputError(
            "a packed fastText model is not read", where=str(path), remedy="unpack it first"
        )
    fasttext = _gensim("gensim.models.fasttext", "opening fastText models")
    try:
        model = fasttext.load_facebook_vectors(str(path))
    # A cut-off model raises whatever the place of the cut leads to.
    except Exception as error:
        raise InputError(
            f"gensim cannot open it: {type(error).__name__}: {error}",
            where=str(path),
            remedy="copy or download it again",
        ) from None
    return from_keyed(
        model,
        name=name or stem(path),
        limit=limit,
        where=str(path),
        digest=lambda: limited(file_digest(path), limit),
    )
