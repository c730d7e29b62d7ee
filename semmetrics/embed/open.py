"""From what a user names to an embedding; what it is, in plain values.

Conventions
-----------
An embedding is ``NAME``: "static", or a name of the manifest that has been fetched; ``PATH``; or
``kind:NAME`` and ``kind:PATH``. Each kind says what opens it and which options apply to it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from semmetrics.core.hashing import own_version
from semmetrics.data.form import DEFAULTS
from semmetrics.embed.embedder import CachedEmbedder, CallableEmbedder, Embedder, is_cacheable
from semmetrics.embed.words import META, from_words, is_converted, read_meta, verify
from semmetrics.errors import InputError

DEFAULT = "static"


@dataclass(frozen=True)
class Kind:
    """A kind of embedding.

    Attributes
    ----------
    summary : str
    opener : str
        The module and the function that open it, imported when they are needed; "" if it is open.
    options : tuple of str
        Those of ``device``, ``batch_size``, ``max_words``, ``max_bytes`` and ``cache`` that
        apply. Kinds without ``cache`` are faster than any cache.
    fixed : mapping
        Further arguments of the function.
    """

    summary: str
    opener: str
    options: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def open(self, named: Any, **options: Any) -> Embedder:
        """Open what is named after the kind, or make an embedding of an object."""
        if not self.opener:
            return named  # type: ignore[no-any-return]
        module, _, function = self.opener.partition(".")
        opener = getattr(import_module(f"semmetrics.embed.{module}"), function)
        return opener(named, **self.fixed, **options)  # type: ignore[no-any-return]


_TEXTS = ("device", "batch_size", "cache")
_FILE = ("max_bytes",)
_WORDS = ("max_words", *_FILE)
_READ = "word_files.read_vectors"
#: How each kind is opened, and which options apply to it.
KINDS = {
    "static": Kind("the embedding that comes with semmetrics", "static.open_static"),
    "word2vec": Kind("a word2vec file, binary or text", _READ, _WORDS, {"kind": "word2vec"}),
    "glove": Kind("a GloVe text file", _READ, _WORDS, {"kind": "glove"}),
    "fasttext": Kind(
        "fastText vectors (.vec) or a model (.bin, with gensim)",
        _READ,
        _WORDS,
        {"kind": "fasttext"},
    ),
    "kv": Kind(
        "gensim KeyedVectors; a pickle: open only files that you trust",
        "word_files.read_keyed_vectors",
        _WORDS,
    ),
    "converted": Kind("a folder that 'semmetrics embed convert' wrote", "words.open_converted"),
    "sbert": Kind(
        "a sentence-transformers model, by name or path", "sentence_models.SentenceEmbedder", _TEXTS
    ),
    "transformers": Kind(
        "a transformers model; transformers:first:NAME or transformers:mean:NAME",
        "sentence_models.open_transformer",
        _TEXTS,
    ),
    "matrix": Kind(
        "vectors of whole texts: .npy with .txt beside it, .npz or Parquet",
        "word_files.read_matrix",
        _FILE,
    ),
}
_MATRICES = (".npy", ".npz", ".parquet", ".pq")
_PICKLES = (".kv", ".model", ".wordvectors")


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
        ``NAME``: "static", or a name of the manifest that has been fetched; ``PATH``; or
        ``kind:NAME`` and ``kind:PATH`` with a kind of `KINDS`. A mapping has the vectors of words,
        of one length; another object is taken as it is.
    device : str, optional
        Of sentence and transformer models: "cpu" (when left out), "cuda", "cuda:1", "mps".
    batch_size : int
        Of the same.
    max_words : int, optional
        Of files of word vectors: the first words only.
    cache : bool or path
        Keep the vectors of models that read text on disk: sentence and transformer models,
        functions with a version, embeddings of your own; True is the user's cache folder. Word
        vectors, matrices and "static" are faster than any cache, and stay without one.
    max_bytes : int
        Of files of word vectors and matrices: the limit of other files. Vectors are many, so a
        file may have 16 times as many bytes, unpacked; the words of word vectors may take so many.

    Returns
    -------
    Embedder

    Raises
    ------
    InputError
        If there is no such name, file or kind, which says what can be named; if there is no such
        device; if ``device`` or ``max_words`` does not apply to such an embedding; or if ``cache``
        is to keep a function without a version, which nothing tells from another one.

    Examples
    --------
    >>> open_embedding("nonsense")
    Traceback (most recent call last):
    semmetrics.errors.InputError: embedding 'nonsense': ...
    """
    kind, named = _resolve(spec)
    for name, value in {"device": device, "max_words": max_words}.items():
        if value is not None and name not in kind.options:
            is_name = isinstance(spec, str | os.PathLike)
            where = f"embedding {os.fspath(spec)!r}" if is_name else type(spec).__name__
            what = "an embedding of this kind" if is_name else "an open embedding"
            raise InputError("not-applicable", where, name=name, what=what)
    if max_words is not None and max_words < 1:
        raise InputError("bad-option", name="max_words", value=max_words, wanted="at least 1")
    _check_cache(cache)
    options = {"device": device or "cpu", "batch_size": batch_size, "max_words": max_words}
    options["max_bytes"] = max_bytes
    model = kind.open(named, **{name: options[name] for name in kind.options if name in options})
    cacheable = "cache" in kind.options and is_cacheable(model)
    if cache is None or cache is False or not (cacheable or isinstance(model, CallableEmbedder)):
        return model  # a function without a version is refused below
    return CachedEmbedder(model, None if cache is True else cache)


def open_embeddings(
    specs: Mapping[str, Any],
    *,
    device: str | None = None,
    max_words: int | None = None,
    cache: bool | str | os.PathLike[str] | None = False,
    max_bytes: int = DEFAULTS.max_bytes,
) -> dict[str, Embedder]:
    """Open several embeddings, each with those options that apply to it.

    Parameters
    ----------
    specs : mapping from name to specification
        As for `open_embedding`.
    device, max_words, cache, max_bytes
        As for `open_embedding`; a device is for those that run on one, and a cache for those that
        it can keep.

    Returns
    -------
    dict of Embedder

    Raises
    ------
    InputError
        If one cannot be opened, or ``max_words`` applies to none of them.
    """
    _check_cache(cache)
    options = {name: opening_options(spec) for name, spec in specs.items()}
    unused = not any("max_words" in some for some in options.values())  # the first refuses it
    models = {}
    for name, spec in specs.items():
        function = _resolve(spec)[0].opener == "embedder.CallableEmbedder"
        kept = not function or own_version(spec) is not None
        if isinstance(spec, CallableEmbedder):
            kept = spec.cacheable
        models[name] = open_embedding(
            spec,
            device=device if "device" in options[name] else None,
            max_words=max_words if unused or "max_words" in options[name] else None,
            cache=cache if kept else False,
            max_bytes=max_bytes,
        )
    return models


def _check_cache(cache: Any) -> None:
    """Refuse what is not a place to keep vectors."""
    if cache == "" or not (cache is None or isinstance(cache, bool | str | os.PathLike)):
        raise InputError("bad-option", name="cache", value=cache, wanted="True, False or a path")


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
    return _resolve(spec)[0].options


def describe(spec: str, *, check: bool = False) -> dict[str, Any]:
    """Return what an embedding is, in plain values.

    Parameters
    ----------
    spec : str
        As for `open_embedding`.
    check : bool
        Compare converted vectors with the SHA-256 of their parts first.

    Returns
    -------
    dict
        ``identity``, ``dimension``, ``words`` (None for models that read text), ``lookup``,
        ``threshold`` (None where the model names none); of converted vectors also ``source``,
        ``sha256``, ``licence``, ``zero_vectors``, ``folder`` and ``verified``.

    Raises
    ------
    InputError
        If it cannot be opened, or differs from its SHA-256.
    """
    from semmetrics.embed.fetch import vectors_folder
    from semmetrics.embed.lookup import lookup_rule

    places = (Path(spec.removeprefix("converted:")), vectors_folder() / spec)
    folder = next((place for place in places if is_converted(place)), None)
    if check:
        if folder is None:
            raise InputError("not-converted", spec)
        verify(folder)
    model: Any = open_embedding(spec)
    facts: dict[str, Any] = {
        "identity": model.identity,
        "dimension": model.dimension,
        "words": len(model) if hasattr(model, "__len__") else None,
        "lookup": lookup_rule(model),
        "threshold": getattr(model, "threshold", None),
    }
    if folder is not None:
        meta = read_meta(folder)
        facts |= {key: meta.get(key) for key in ("source", "sha256", "licence", "zero_vectors")}
        facts |= {"folder": str(folder), "verified": check}
    return facts


def _resolve(spec: Any) -> tuple[Kind, Any]:
    """Return the kind of an embedding, and what is left to name it."""
    if not isinstance(spec, str | os.PathLike):
        return _kind_of_object(spec), spec
    text = os.fspath(spec)
    kind, colon, rest = text.partition(":")
    named = colon and kind in KINDS
    if not text or (named and not rest and kind != "static"):
        remedy = f"write {kind}:NAME or {kind}:PATH" if named else f"write a path, or {DEFAULT!r}"
        raise InputError("empty", role="the embedding's name", remedy=remedy)
    if named:
        return KINDS[kind], rest
    if isinstance(spec, str) and text == "static":
        return KINDS["static"], ""
    path = Path(text)
    if path.exists():
        return _kind_of_path(path), text
    return KINDS["converted"], _fetched_folder(text)


def named_or_words(embedding: Any) -> Any:
    """Return what a user gives as embedding, with mappings from words to vectors made word vectors.

    Parameters
    ----------
    embedding : None, specification, Embedder, mapping from word to vector, or mapping from name
        A name stands for any of the others.

    Raises
    ------
    InputError
        If the values of a mapping are neither embeddings nor vectors of one length; names the key.

    Examples
    --------
    >>> named_or_words({"cat": [1, 0], "kitten": [1, 0.5]}).identity
    'words-2@58ce4cf87e89'
    >>> named_or_words({"cat": [1, 0], "bert": "sbert:bert"})
    Traceback (most recent call last):
    semmetrics.errors.InputError: embedding: 'cat' has a vector and 'bert' has none; ...
    """
    if not isinstance(embedding, Mapping):
        return embedding
    given = dict(embedding)
    vectors = {
        key: isinstance(value, list | tuple) or isinstance(getattr(value, "shape", None), tuple)
        for key, value in given.items()
    }
    if all(vectors.values()) and given:
        return from_words(given)
    if any(vectors.values()):
        word, other = (next(key for key in given if vectors[key] is one) for one in (True, False))
        raise InputError("mixed-mapping", "embedding", word=word, other=other)
    models = {}
    for name, value in given.items():
        where = f"embedding {name!r}"
        if isinstance(value, Mapping):
            models[name] = from_words(dict(value), where)
            continue
        try:
            if not isinstance(value, str | os.PathLike):
                _kind_of_object(value)
        except InputError as error:
            raise error.placed(where) from None
        models[name] = value
    return models


def _kind_of_object(model: Any) -> Kind:
    """Return the kind of an object that is an embedding, or can be made one."""
    if isinstance(model, Mapping):
        return Kind("vectors of words", "words.from_words")
    if all(hasattr(model, name) for name in ("embed", "identity", "dimension")):
        return Kind("an open embedding", "", ("cache",) if is_cacheable(model) else ())
    if any(hasattr(words, "key_to_index") for words in (model, getattr(model, "wv", None))):
        return Kind("an object of gensim", "word_files.from_keyed_vectors", ("max_words",))
    if hasattr(model, "encode") and hasattr(model, "max_seq_length"):
        return Kind("a sentence model", KINDS["sbert"].opener, ("batch_size", "cache"))
    if callable(model) and not isinstance(model, type):
        return Kind("a function", "embedder.CallableEmbedder", ("cache",))
    wanted = "a name, a path, a gensim KeyedVectors, a mapping from words to vectors, or a function"
    if callable(getattr(model, "encode", None)):
        wanted += ", such as its method encode"
    raise InputError("wrong-type", value=model, wanted=wanted)


def _kind_of_path(path: Path) -> Kind:
    """Return the kind of a path that exists; the content of a file of word vectors decides."""
    if path.is_dir():
        if is_converted(path) or (path / META).is_file():
            return KINDS["converted"]
        if (path / "modules.json").is_file():
            return KINDS["sbert"]
        example = f"sbert:{path}"
        if (path / "config.json").is_file():  # a plain transformers model
            example = f"transformers:first:{path} or transformers:mean:{path}"
        raise InputError("unclear-folder", path, example=example, kinds=", ".join(KINDS))
    ending = path.suffix.lower()
    if ending in _PICKLES:
        raise InputError("unsafe-pickle", path, path=path)
    if ending in _MATRICES:
        return KINDS["matrix"]
    return Kind("a file of word vectors, whatever its kind", _READ, _WORDS)


def _fetched_folder(name: str) -> str:
    """Return the folder of vectors that have been fetched by that name."""
    from semmetrics.embed.fetch import read_manifest

    entries = read_manifest()
    if name not in entries:
        names = ", ".join(["static", *entries])
        raise InputError("unknown-embedding", value=name, names=names, kinds=", ".join(KINDS))
    entry = entries[name]
    if not is_converted(entry.folder):
        size = f" ({entry.megabytes:,} MB)" if entry.megabytes else ""
        raise InputError("not-fetched", value=name, size=size)
    return str(entry.folder)
