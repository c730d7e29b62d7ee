"""From what a user names to an embedding."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from semmetrics.embed.base import Embedder
from semmetrics.errors import InputError

__all__ = ["DEFAULT", "KINDS", "open_embedding", "options_of"]

DEFAULT = "static"
KINDS = {
    "static": "the embedding that comes with semmetrics",
    "word2vec": "a word2vec file, binary or text",
    "glove": "a GloVe text file",
    "fasttext": "fastText vectors (.vec) or a model (.bin, with gensim)",
    "kv": "gensim KeyedVectors; a pickle: open only files that you trust",
    "converted": "a folder that 'semmetrics embed convert' wrote",
    "sbert": "a sentence-transformers model, by name or path",
    "transformers": "a transformers model; transformers:first:NAME or transformers:mean:NAME",
    "matrix": "vectors of whole texts: .npy with .txt beside it, .npz or Parquet",
}
_MATRICES = (".npy", ".npz", ".parquet", ".pq")
_PICKLES = (".kv", ".model", ".wordvectors")
_WORDS = ""  # a file of word vectors whose kind its content tells
_OPEN = "open"  # an object that is an embedding already
_TAKEN_BY = {
    "device": (("sbert", "transformers"), "sentence and transformer models"),
    "limit": ((_WORDS, "word2vec", "glove", "fasttext", "kv"), "files of word vectors"),
}


def open_embedding(
    spec: Any = DEFAULT,
    *,
    device: str | None = None,
    batch_size: int = 32,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] | None = False,
) -> Embedder:
    """Open an embedding.

    Parameters
    ----------
    spec : str, path, Embedder, gensim KeyedVectors, SentenceTransformer or callable
        ``NAME``: "static", or a name of the manifest that has been fetched; ``PATH``; or
        ``kind:NAME`` and ``kind:PATH`` with a kind of `KINDS`. An object is taken as it is.
    device : str, optional
        Of sentence and transformer models: "cpu" (when left out), "cuda", "cuda:1", "mps".
    batch_size : int
        Of the same.
    limit : int, optional
        Of files of word vectors: the first words only.
    cache : bool or path
        Keep the vectors of models that read text on disk: sentence and transformer models,
        functions, embeddings of your own; True is the user's cache folder. Word vectors, matrices
        and "static" are faster than any cache, and stay without one.

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        If there is no such name, file or kind, which says what can be named; if there is no such
        device; or if ``device`` or ``limit`` means nothing to such an embedding.

    Examples
    --------
    >>> open_embedding("nonsense")
    Traceback (most recent call last):
    semmetrics.errors.InputError: embedding 'nonsense': ...
    """
    _check_options(spec, device=device, limit=limit)
    if cache == "" or not (cache is None or isinstance(cache, bool | str | os.PathLike)):
        raise InputError(f"cache={cache!r} names no file", remedy="give True, False or a path")
    model = _opened(spec, device or "cpu", batch_size, limit)
    from semmetrics.embed.cache import CachedEmbedder
    from semmetrics.embed.static import StaticEmbedder

    fast = hasattr(model, "find") or isinstance(model, StaticEmbedder | CachedEmbedder)
    if cache is None or cache is False or fast:
        return model
    return CachedEmbedder(model, None if cache is True else cache)


@cache
def _packaged() -> Embedder:
    """The model of the package, read once: it never changes."""
    from semmetrics.embed.static import StaticEmbedder

    return StaticEmbedder()


def options_of(spec: Any) -> tuple[str, ...]:
    """Which of the options "device" and "limit" say something about an embedding.

    Raises
    ------
    InputError
        If there is no such name, file or kind.

    Examples
    --------
    >>> options_of("sbert:all-MiniLM-L6-v2"), options_of("word2vec:words.bin"), options_of("static")
    (('device',), ('limit',), ())
    """
    kind = _kind(spec)[0]
    return tuple(option for option, (kinds, _) in _TAKEN_BY.items() if kind in kinds)


def _check_options(spec: Any, **given: Any) -> None:
    """Refuse an option that says nothing about such an embedding."""
    asked = {option: value for option, value in given.items() if value is not None}
    taken = options_of(spec) if asked else ()
    for option, value in asked.items():
        if option not in taken:
            raise _meaningless(spec, option, value)
    if asked.get("limit", 1) < 1:
        raise InputError(f"limit={given['limit']}", remedy="give a number of words, at least 1")


def _meaningless(spec: Any, option: str, value: Any) -> InputError:
    kind, takers = _kind(spec)[0], _TAKEN_BY[option][1]
    if kind == _OPEN:
        return InputError(
            f"{option}={value!r} comes too late for a model that is open",
            where=type(spec).__name__,
            remedy=f"leave {option} out, and give it where the model is made",
        )
    if (kind, option) == ("converted", "limit"):
        return InputError(
            f"limit={value} is for {takers} that are not converted yet",
            where=os.fspath(spec),
            remedy="give the limit when converting: semmetrics embed convert --limit",
        )
    return InputError(
        f"{option}={value!r} is for {takers}",
        where=f"embedding {os.fspath(spec)!r}",
        remedy=f"leave {option} (--{option}) out, or name one of those",
    )


def _opened(spec: Any, device: str, batch_size: int, limit: int | None) -> Embedder:
    if not isinstance(spec, str | os.PathLike):
        return _object(spec, limit, batch_size)
    kind, rest = _kind(spec)
    return _openers(device, batch_size, limit)[kind](rest)


def _kind(spec: Any) -> tuple[str, str]:
    """The kind of an embedding, and what is left to name it."""
    if not isinstance(spec, str | os.PathLike):
        return ("kv" if _is_keyed(spec) else _OPEN), ""
    text = os.fspath(spec)
    if not text:
        raise InputError("the embedding's name is empty", remedy=f"write a path, or {DEFAULT!r}")
    kind, colon, rest = text.partition(":")
    if colon and kind in KINDS:
        if not rest and kind != "static":
            raise InputError(
                f"embedding {text!r} names nothing", remedy=f"write {kind}:NAME or {kind}:PATH"
            )
        return kind, rest
    if isinstance(spec, str) and text == "static":
        return "static", ""
    path = Path(text)
    return (_kind_of(path), text) if path.exists() else ("converted", str(_fetched(text)))


def _is_embedder(model: Any) -> bool:
    return all(hasattr(model, name) for name in ("embed", "identity", "dimension"))


def _is_keyed(model: Any) -> bool:
    """Whether it is a gensim model, or the word vectors of one."""
    from semmetrics.embed.keyed import is_keyed

    return not _is_embedder(model) and (is_keyed(model) or is_keyed(getattr(model, "wv", None)))


def _object(model: Any, limit: int | None, batch_size: int) -> Embedder:
    from semmetrics.embed.keyed import from_keyed

    if _is_embedder(model):
        embedder: Embedder = model
        return embedder
    if _is_keyed(model):
        return from_keyed(model, limit=limit)
    if hasattr(model, "encode") and hasattr(model, "max_seq_length"):
        from semmetrics.embed.sentence import SentenceEmbedder

        return SentenceEmbedder(model, batch_size=batch_size)
    if callable(model):
        from semmetrics.embed.other import CallableEmbedder

        return CallableEmbedder(model)
    raise InputError(
        f"a {type(model).__name__} is no embedding",
        remedy="give a name, a path, a gensim KeyedVectors, or a function from texts to vectors",
    )


def _openers(
    device: str, batch_size: int, limit: int | None
) -> dict[str, Callable[[str], Embedder]]:
    """For each kind what opens it; nothing heavy is imported before it is needed."""

    def words(kind: str) -> Callable[[str], Embedder]:
        def opened(path: str) -> Embedder:
            from semmetrics.embed.vectors import read_vectors

            return read_vectors(path, kind=kind or None, limit=limit)

        return opened

    def keyed(path: str) -> Embedder:
        from semmetrics.embed.keyed import read_keyed

        return read_keyed(Path(path), limit=limit)

    def converted(path: str) -> Embedder:
        from semmetrics.embed.compact import open_converted

        return open_converted(path)

    def static(path: str) -> Embedder:
        from semmetrics.embed.static import StaticEmbedder

        return StaticEmbedder(Path(path)) if path else _packaged()

    def sentences(name: str) -> Embedder:
        from semmetrics.embed.sentence import SentenceEmbedder

        return SentenceEmbedder(name, device=device, batch_size=batch_size)

    def pooled(name: str) -> Embedder:
        from semmetrics.embed.transformers import POOLINGS, TransformerEmbedder

        first, colon, rest = name.partition(":")
        pooling, name = (first, rest) if colon and first in POOLINGS else ("first", name)
        return TransformerEmbedder(name, pooling=pooling, device=device, batch_size=batch_size)

    def matrix(path: str) -> Embedder:
        from semmetrics.embed.other import read_matrix

        return read_matrix(path)

    return {
        "static": static, "converted": converted, "kv": keyed, "sbert": sentences,
        "transformers": pooled, "matrix": matrix, _WORDS: words(_WORDS),
        **{kind: words(kind) for kind in ("word2vec", "glove", "fasttext")},
    }  # fmt: skip


def _kind_of(path: Path) -> str:
    """The kind of a path that exists; a file of word vectors is told by its content."""
    from semmetrics.embed.compact import META, is_converted

    ending = path.suffix.lower()
    if path.is_dir():
        if is_converted(path) or (path / META).is_file():
            return "converted"
        if (path / "modules.json").is_file():
            return "sbert"
        plain = (path / "config.json").is_file()
        raise InputError(
            "it is a plain transformers model" if plain else "nothing says what is in this folder",
            where=str(path),
            remedy=f"say how it is pooled: transformers:first:{path} or transformers:mean:{path}"
            if plain
            else f"write its kind before it, as in sbert:{path}; the kinds are {', '.join(KINDS)}",
        )
    if ending in _PICKLES:
        raise InputError(
            "such a file can run any code when it is opened",
            where=str(path),
            remedy=f"if you trust it, write kv:{path}",
        )
    return "matrix" if ending in _MATRICES else _WORDS


def _fetched(name: str) -> Path:
    """The folder of vectors that have been fetched by that name."""
    from semmetrics.embed.compact import is_converted
    from semmetrics.embed.manifest import read_manifest

    entries = read_manifest()
    if name in entries:
        if is_converted(entries[name].folder):
            return entries[name].folder
        size = f" ({entries[name].megabytes:,} MB)" if entries[name].megabytes else ""
        raise InputError(
            f"embedding {name!r} has not been fetched",
            remedy=f"run: semmetrics embed fetch {name}{size}",
        )
    raise InputError(
        f"embedding {name!r}: there is no such file and no embedding of that name",
        remedy=f"name a file, one of {', '.join(['static', *entries])}, or a model with its kind "
        f"before it, as in sbert:{name}; the kinds are {', '.join(KINDS)}",
    )
