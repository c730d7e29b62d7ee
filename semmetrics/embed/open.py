"""From what a user names to an embedding."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from semmetrics.embed.base import Embedder
from semmetrics.errors import InputError

__all__ = ["DEFAULT", "KINDS", "open_embedding"]

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


def open_embedding(
    spec: Any = DEFAULT,
    *,
    device: str = "cpu",
    batch_size: int = 32,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
) -> Embedder:
    """Open an embedding.

    Parameters
    ----------
    spec : str, path, Embedder, gensim KeyedVectors, SentenceTransformer or callable
        ``NAME``: "static", or a name of the manifest that has been fetched; ``PATH``; or
        ``kind:NAME`` and ``kind:PATH`` with a kind of `KINDS`. An object is taken as it is.
    device : str
        Of sentence and transformer models: "cpu", "cuda", "cuda:1", "mps".
    batch_size : int
        Of the same.
    limit : int, optional
        Of files of word vectors: the first words only.
    cache : bool or path
        Keep the vectors of sentence and transformer models on disk; True is the user's cache
        folder.

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        If there is no such name, file or kind; says what can be named.

    Examples
    --------
    >>> open_embedding("nonsense")
    Traceback (most recent call last):
    semmetrics.errors.InputError: embedding 'nonsense': ...
    """
    model = _opened(spec, device, batch_size, limit)
    if cache is False or not hasattr(model, "cut"):
        return model
    from semmetrics.embed.cache import CachedEmbedder

    return CachedEmbedder(model, None if cache is True else cache)


def _opened(spec: Any, device: str, batch_size: int, limit: int | None) -> Embedder:
    if not isinstance(spec, str | os.PathLike):
        return _object(spec, limit, batch_size)
    text = os.fspath(spec)
    kind, colon, rest = text.partition(":")
    openers = _openers(device, batch_size, limit)
    if colon and kind in openers:
        if not rest and kind != "static":
            raise InputError(
                f"embedding {text!r} names nothing", remedy=f"write {kind}:NAME or {kind}:PATH"
            )
        return openers[kind](rest)
    if isinstance(spec, str) and text == "static":
        return openers["static"]("")
    path = Path(text)
    return openers[_kind_of(path)](text) if path.exists() else _named(text, openers)


def _object(model: Any, limit: int | None, batch_size: int) -> Embedder:
    from semmetrics.embed.keyed import from_keyed, is_keyed

    if all(hasattr(model, name) for name in ("embed", "identity", "dimension")):
        embedder: Embedder = model
        return embedder
    if is_keyed(model) or is_keyed(getattr(model, "wv", None)):
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

        _no_limit(limit, path)
        return open_converted(path)

    def static(path: str) -> Embedder:
        from semmetrics.embed.static import StaticEmbedder

        return StaticEmbedder(Path(path)) if path else StaticEmbedder()

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
        "transformers": pooled, "matrix": matrix, "": words(""),
        **{kind: words(kind) for kind in ("word2vec", "glove", "fasttext")},
    }  # fmt: skip


def _no_limit(limit: int | None, path: str) -> None:
    if limit is not None:
        raise InputError(
            f"limit={limit} is for files that are not converted yet",
            where=path,
            remedy="give the limit when converting: semmetrics embed convert --limit",
        )


def _kind_of(path: Path) -> str:
    """The kind of a path that exists; "" is a file of word vectors, told by its content."""
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
    return "matrix" if ending in _MATRICES else ""


def _named(name: str, openers: dict[str, Callable[[str], Embedder]]) -> Embedder:
    from semmetrics.embed.compact import is_converted
    from semmetrics.embed.manifest import read_manifest

    entries = read_manifest()
    if name in entries:
        if is_converted(entries[name].folder):
            return openers["converted"](str(entries[name].folder))
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
