"""Open embeddings that a user names.

Conventions
-----------
An embedding is named by ``NAME`` ("static", "same", or a name in the manifest that has been
fetched), by ``PATH``, or by ``kind:NAME`` or ``kind:PATH``. The kind decides how it is opened and
which options apply to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sized
from pathlib import Path
from typing import Any

from semmetrics.data.read_options import DEFAULTS
from semmetrics.embed.converted import is_converted, read_meta, verify
from semmetrics.embed.embedder import (
    CachedEmbedder,
    CallableEmbedder,
    Embedder,
    is_cacheable,
)
from semmetrics.embed.embedding_kinds import (
    KINDS,
    EmbeddingKind,
    kind_of_object,
    kind_of_path,
)
from semmetrics.embed.manifest import read_manifest, vectors_folder
from semmetrics.embed.words import from_words
from semmetrics.errors import InputError

DEFAULT = "static"
SHIPPED = ("static", "same")
"""The models that come with semmetrics."""


# ---- opening ----------------------------------------------------------------------------


def open_embedding(
    spec: Any = DEFAULT,
    *,
    device: str | None = None,
    batch_size: int = 32,
    max_words: int | None = None,
    cache: bool | str | os.PathLike[str] | None = False,
    max_bytes: int = DEFAULTS.max_bytes,
) -> Embedder:
    """Open an embedding.

    Parameters
    ----------
    spec : str, path, Embedder, gensim KeyedVectors, SentenceTransformer, callable or mapping
        ``NAME``: "static", "same", or a name in the manifest that has been fetched. ``PATH``. Or
        ``kind:NAME`` and ``kind:PATH`` with a kind of `KINDS`. A mapping contains vectors of words,
        of one length. Other objects are used as they are.
    device : str, optional
        The device of sentence and transformer models: "cpu" (default), "cuda", "cuda:1" or "mps".
    batch_size : int
        The batch size of sentence and transformer models.
    max_words : int, optional
        Read only the first words of a file of word vectors.
    cache : bool or path
        Store the vectors of models that read text on disk. These are sentence and transformer
        models, functions with a version, and embeddings of your own. True is the user's cache
        folder. Word vectors, matrices, "static" and "same" are faster than any cache and are never
        cached.
    max_bytes : int
        The size limit of input files. A file of word vectors or a matrix may have 16 times as many
        bytes, decompressed. The words of word vectors may have this many bytes.

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        If the name, file, kind or device does not exist, if ``device`` or ``max_words`` does not
        apply to the embedding, or if ``cache`` is set for a function without a version.

    Examples
    --------
    >>> open_embedding("nonsense")
    Traceback (most recent call last):
    semmetrics.errors.InputError: no file and no embedding is named 'nonsense'. Give a file, one
    of static, same, word2vec-googlenews-300, glove-6b-50, glove-6b-100, glove-6b-300,
    glove-42b-300, glove-840b-300, fasttext-crawl-300, fasttext-wiki-news-300, or a model with its
    kind, as in sbert:nonsense (kinds: static, same, word2vec, glove, fasttext, kv, converted,
    sbert, transformers, matrix).
    """
    kind, source = _resolve(spec)
    _check_applies(kind, spec, "device", device)
    _check_applies(kind, spec, "max_words", max_words)
    _check_positive("batch_size", batch_size)
    _check_positive("max_words", max_words)
    _check_cache(cache)
    options = {
        "device": device or "cpu",
        "batch_size": batch_size,
        "max_words": max_words,
        "max_bytes": max_bytes,
    }
    applicable = {name: options[name] for name in options if name in kind.options}
    model = kind.open(source, **applicable)
    if not cache:
        return model
    is_slow = "cache" in kind.options and is_cacheable(model)
    # `CachedEmbedder` raises an error about a function without a version.
    if not is_slow and not isinstance(model, CallableEmbedder):
        return model
    path = None if cache is True else cache
    return CachedEmbedder(model, path)


def _check_applies(kind: EmbeddingKind, spec: Any, option: str, value: Any) -> None:
    """Raise if an option has a value but does not apply to the kind of an embedding."""
    if value is None or option in kind.options:
        return
    where = type(spec).__name__
    what = "an open embedding"
    if isinstance(spec, str | os.PathLike):
        where = f"embedding {os.fspath(spec)!r}"
        what = "an embedding of this kind"
    raise InputError("not-applicable", where, name=option, what=what)


def _check_positive(option: str, value: int | None) -> None:
    """Raise if an option has a value below 1."""
    if value is not None and value < 1:
        raise InputError("bad-option", name=option, value=value, wanted="at least 1")


def _check_cache(cache: object) -> None:
    """Raise if the option ``cache`` is neither a boolean, nor None, nor a path."""
    is_valid = cache is None or isinstance(cache, bool | str | os.PathLike)
    if not is_valid or cache == "":
        wanted = "True, False or a path"
        raise InputError("bad-option", name="cache", value=cache, wanted=wanted)


def open_embeddings(
    specs: Mapping[str, Any],
    *,
    device: str | None = None,
    max_words: int | None = None,
    cache: bool | str | os.PathLike[str] | None = False,
    max_bytes: int = DEFAULTS.max_bytes,
) -> dict[str, Embedder]:
    """Open several embeddings, each with the options that apply to it.

    Parameters
    ----------
    specs : mapping from name to specification
        As in `open_embedding`.
    device, max_words, cache, max_bytes
        As in `open_embedding`. The device is ignored by embeddings that do not run on one, and the
        cache by embeddings that cannot be cached.

    Returns
    -------
    dict of Embedder

    Raises
    ------
    InputError
        If one cannot be opened, or ``max_words`` applies to none of them.
    """
    options_of = {name: opening_options(spec) for name, spec in specs.items()}
    applies = any("max_words" in options for options in options_of.values())
    models = {}
    for name, spec in specs.items():
        options = options_of[name]
        device_of_model = device if "device" in options else None
        # If it applies to none of them, opening the first one raises the error.
        max_words_of_model = max_words
        if applies and "max_words" not in options:
            max_words_of_model = None
        model = open_embedding(
            spec,
            device=device_of_model,
            max_words=max_words_of_model,
            max_bytes=max_bytes,
        )
        if is_cacheable(model):
            model = open_embedding(model, cache=cache)
        models[name] = model
    return models


def opening_options(spec: Any) -> tuple[str, ...]:
    """Return which options of `open_embedding` apply to an embedding.

    Raises
    ------
    InputError
        If there is no such name, file or kind.

    Examples
    --------
    >>> opening_options("sbert:all-MiniLM-L6-v2"), opening_options("word2vec:words.bin")
    (('device', 'batch_size', 'cache'), ('max_words', 'max_bytes'))
    """
    kind, _ = _resolve(spec)
    return kind.options


def _resolve(spec: Any) -> tuple[EmbeddingKind, Any]:
    """Return the kind of an embedding, and the name, path or object to open."""
    if not isinstance(spec, str | os.PathLike):
        return kind_of_object(spec), spec
    text = os.fspath(spec)
    if not text:
        raise _empty_name_error(f"write a path, or {DEFAULT!r}")
    kind, colon, name = text.partition(":")
    if colon and kind in KINDS:
        if not name and kind not in SHIPPED:
            raise _empty_name_error(f"write {kind}:NAME or {kind}:PATH")
        return KINDS[kind], name
    if isinstance(spec, str) and text in SHIPPED:
        return KINDS[text], ""
    path = Path(text)
    if path.exists():
        return kind_of_path(path), text
    return KINDS["converted"], str(_find_fetched(text))


def _empty_name_error(remedy: str) -> InputError:
    """Return the error for an embedding without a name."""
    return InputError("empty", role="the embedding's name", remedy=remedy)


def _find_fetched(name: str) -> Path:
    """Return the folder of vectors in the manifest. They must have been fetched."""
    entries = read_manifest()
    if name not in entries:
        names = ", ".join([*SHIPPED, *entries])
        kinds = ", ".join(KINDS)
        raise InputError("unknown-embedding", value=name, names=names, kinds=kinds)
    entry = entries[name]
    if not is_converted(entry.folder):
        size = f" ({entry.megabytes:,} MB)" if entry.megabytes else ""
        raise InputError("not-fetched", value=name, size=size)
    return entry.folder


# ---- names ------------------------------------------------------------------------------


def resolve_mapping(embedding: Any) -> Any:
    """Return a user's embedding, with mappings from words to vectors turned into word vectors.

    Parameters
    ----------
    embedding : None, specification, Embedder, mapping from word to vector, or mapping from name
        The values of a mapping from name are any of the others.

    Raises
    ------
    InputError
        If the values of a mapping are neither embeddings nor vectors of one length. The message
        names the key.

    Examples
    --------
    >>> resolve_mapping({"cat": [1, 0], "kitten": [1, 0.5]}).identity
    'words-2@58ce4cf87e89'
    >>> resolve_mapping({"cat": [1, 0], "bert": "sbert:bert"})
    Traceback (most recent call last):
    semmetrics.errors.InputError: embedding: 'cat' has a vector, but 'bert' does not. Give a
    vector for each word, or an embedding for each name.
    """
    if not isinstance(embedding, Mapping):
        return embedding
    values = dict(embedding)
    words = []
    names = []
    for key, value in values.items():
        if _is_vector(value):
            words.append(key)
        else:
            names.append(key)
    if words and names:
        raise InputError("mixed-mapping", "embedding", word=words[0], other=names[0])
    if words:
        return from_words(values)
    return {name: _check_value(name, value) for name, value in values.items()}


def _is_vector(value: Any) -> bool:
    """Return whether a value looks like a vector: a list or an array."""
    if isinstance(value, list | tuple):
        return True
    return isinstance(getattr(value, "shape", None), tuple)


def _check_value(name: Any, value: Any) -> Any:
    """Return the embedding with a name, or the word vectors of a mapping.

    Objects that are not embeddings raise an error. Specifications are checked when they are opened.
    """
    where = f"embedding {name!r}"
    if isinstance(value, Mapping):
        return from_words(value, where)
    if isinstance(value, str | os.PathLike):
        return value
    try:
        kind_of_object(value)
    except InputError as error:
        raise error.placed(where) from None
    return value


# ---- descriptions -----------------------------------------------------------------------


def describe(spec: str, *, check: bool = False) -> dict[str, Any]:
    """Describe an embedding in plain values.

    Parameters
    ----------
    spec : str
        As in `open_embedding`.
    check : bool
        First compare the files of converted vectors with their SHA-256.

    Returns
    -------
    dict
        ``identity``, ``dimension``, ``words`` (None for models that read text), ``lookup`` and
        ``threshold`` (None if the model has none). For converted vectors also ``source``,
        ``sha256``, ``licence``, ``zero_vectors``, ``folder`` and ``verified``.

    Raises
    ------
    InputError
        If it cannot be opened, or a SHA-256 differs.
    """
    from semmetrics.embed.lookup import lookup_rule

    folder = _find_converted_folder(spec)
    if check:
        if folder is None:
            raise InputError("not-converted", spec)
        verify(folder)
    model = open_embedding(spec)
    n_words = len(model) if isinstance(model, Sized) else None
    description: dict[str, Any] = {
        "identity": model.identity,
        "dimension": model.dimension,
        "words": n_words,
        "lookup": lookup_rule(model),
        "threshold": getattr(model, "threshold", None),
    }
    if folder is not None:
        meta = read_meta(folder)
        for key in ("source", "sha256", "licence", "zero_vectors"):
            description[key] = meta.get(key)
        description["folder"] = str(folder)
        description["verified"] = check
    return description


def _find_converted_folder(spec: str) -> Path | None:
    """Return the folder of converted vectors that a specification names, or None."""
    path = Path(spec.removeprefix("converted:"))
    fetched = vectors_folder() / spec
    for folder in (path, fetched):
        if is_converted(folder):
            return folder
    return None


def find_shipped(identity: str) -> str | None:
    """Return the name of the package's model with an identity, or None.

    The identity may belong to another version of the model.

    Examples
    --------
    >>> find_shipped("semmetrics-static-320@000000000000"), find_shipped("words-2@58ce4cf87e89")
    ('static', None)
    """
    name = _name_without_dimension(identity)
    for spec in SHIPPED:
        if _name_without_dimension(open_embedding(spec).identity) == name:
            return spec
    return None


def _name_without_dimension(identity: str) -> str:
    """Return the name in an identity, ``name-dimension@hash``."""
    name_and_dimension = identity.rpartition("@")[0]
    return name_and_dimension.rpartition("-")[0]
