"""From what a user names to an embedding; what it is, in plain values.

Conventions
-----------
An embedding is ``NAME``: "static", "same", or a name of the manifest that has been fetched;
``PATH``; or ``kind:NAME`` and ``kind:PATH``. Each kind says what opens it and which options apply
to it. The manifest says where well-known word vectors are, and under which licence.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import Any
from urllib.parse import urlsplit

from semmetrics.data.form import DEFAULTS
from semmetrics.embed.embedder import (
    CachedEmbedder,
    CallableEmbedder,
    Embedder,
    is_cacheable,
)
from semmetrics.embed.words import (
    META,
    convert,
    from_words,
    is_converted,
    read_meta,
    verify,
)
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.store.files import cache_folder

DEFAULT = "static"
SHIPPED = ("static", "same")
"""The models that come with semmetrics."""


@dataclass(frozen=True, repr=False)
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
        opener: Callable[..., Embedder] = resolve_name(
            f"semmetrics.embed.{self.opener}"
        )
        return opener(named, **self.fixed, **options)


_TEXTS = ("device", "batch_size", "cache")
_FILE = ("max_bytes",)
_WORDS = ("max_words", *_FILE)
_READ = "word_files.read_vectors"
_PICKLE = "gensim KeyedVectors; a pickle: open only files that you trust"
_PLAIN = "a transformers model; transformers:first:NAME or transformers:mean:NAME"
_FASTTEXT = "fastText vectors (.vec) or a model (.bin, with gensim)"
_SENTENCES = "a sentence-transformers model, by name or path"
_TABLE = "vectors of whole texts: .npy with .txt beside it, .npz or Parquet"
#: How each kind is opened, and which options apply to it.
KINDS = {
    "static": Kind(
        "the general embedding that comes with semmetrics", "static.open_static"
    ),
    "same": Kind(
        "the embedding that comes with semmetrics to match labels", "same.open_same"
    ),
    "word2vec": Kind(
        "a word2vec file, binary or text", _READ, _WORDS, {"kind": "word2vec"}
    ),
    "glove": Kind("a GloVe text file", _READ, _WORDS, {"kind": "glove"}),
    "fasttext": Kind(_FASTTEXT, _READ, _WORDS, {"kind": "fasttext"}),
    "kv": Kind(_PICKLE, "word_files.read_keyed_vectors", _WORDS),
    "converted": Kind(
        "a folder that 'semmetrics embed convert' wrote", "words.open_converted"
    ),
    "sbert": Kind(_SENTENCES, "sentence_models.SentenceEmbedder", _TEXTS),
    "transformers": Kind(_PLAIN, "sentence_models.open_transformer", _TEXTS),
    "matrix": Kind(_TABLE, "word_files.read_matrix", _FILE),
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
        ``NAME``: "static", "same", or a name of the manifest that has been fetched; ``PATH``; or
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
        vectors, matrices, "static" and "same" are faster than any cache, and stay without one.
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
    for name, value in {"batch_size": batch_size, "max_words": max_words}.items():
        if value is not None and value < 1:
            raise InputError("bad-option", name=name, value=value, wanted="at least 1")
    if cache == "" or not (
        cache is None or isinstance(cache, bool | str | os.PathLike)
    ):
        raise InputError(
            "bad-option", name="cache", value=cache, wanted="True, False or a path"
        )
    options = {
        "device": device or "cpu",
        "batch_size": batch_size,
        "max_words": max_words,
    }
    options["max_bytes"] = max_bytes
    model = kind.open(
        named, **{name: options[name] for name in kind.options if name in options}
    )
    cacheable = "cache" in kind.options and is_cacheable(model)
    if not cache or not (cacheable or isinstance(model, CallableEmbedder)):
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
    options = {name: opening_options(spec) for name, spec in specs.items()}
    # the first refuses it
    unused = not any("max_words" in some for some in options.values())
    models = {}
    for name, spec in specs.items():
        model = open_embedding(
            spec,
            device=device if "device" in options[name] else None,
            max_words=max_words if unused or "max_words" in options[name] else None,
            max_bytes=max_bytes,
        )
        models[name] = (
            open_embedding(model, cache=cache) if is_cacheable(model) else model
        )
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
        facts |= {
            key: meta.get(key)
            for key in ("source", "sha256", "licence", "zero_vectors")
        }
        facts |= {"folder": str(folder), "verified": check}
    return facts


def find_shipped(identity: str) -> str | None:
    """Return the name of the package's model with an identity, or None.

    It may be another version of the model.

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
    return identity.rpartition("@")[0].rpartition("-")[0]


def _resolve(spec: Any) -> tuple[Kind, Any]:
    """Return the kind of an embedding, and what is left to name it."""
    if not isinstance(spec, str | os.PathLike):
        return _kind_of_object(spec), spec
    text = os.fspath(spec)
    kind, colon, rest = text.partition(":")
    named = colon and kind in KINDS
    if not text or (named and not rest and kind not in SHIPPED):
        remedy = (
            f"write {kind}:NAME or {kind}:PATH"
            if named
            else f"write a path, or {DEFAULT!r}"
        )
        raise InputError("empty", role="the embedding's name", remedy=remedy)
    if named:
        return KINDS[kind], rest
    if isinstance(spec, str) and text in SHIPPED:
        return KINDS[text], ""
    if Path(text).exists():
        return _kind_of_path(Path(text)), text
    entries = read_manifest()
    if text not in entries:
        names = ", ".join([*SHIPPED, *entries])
        raise InputError(
            "unknown-embedding", value=text, names=names, kinds=", ".join(KINDS)
        )
    entry = entries[text]
    if not is_converted(entry.folder):
        size = f" ({entry.megabytes:,} MB)" if entry.megabytes else ""
        raise InputError("not-fetched", value=text, size=size)
    return KINDS["converted"], str(entry.folder)


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
        key: isinstance(value, list | tuple)
        or isinstance(getattr(value, "shape", None), tuple)
        for key, value in given.items()
    }
    if all(vectors.values()) and given:
        return from_words(given)
    if any(vectors.values()):
        word, other = (
            next(key for key in given if vectors[key] is one) for one in (True, False)
        )
        raise InputError("mixed-mapping", "embedding", word=word, other=other)
    models = {}
    for name, value in given.items():
        where = f"embedding {name!r}"
        models[name] = from_words(value, where) if isinstance(value, Mapping) else value
        try:
            if not isinstance(value, str | os.PathLike):
                _kind_of_object(value)
        except InputError as error:
            raise error.placed(where) from None
    return models


def _kind_of_object(model: Any) -> Kind:
    """Return the kind of an object that is an embedding, or can be made one."""
    if isinstance(model, Mapping):
        return Kind("vectors of words", "words.from_words")
    if all(hasattr(model, name) for name in ("embed", "identity", "dimension")):
        return Kind("an open embedding", "", ("cache",) if is_cacheable(model) else ())
    if any(
        hasattr(words, "key_to_index") for words in (model, getattr(model, "wv", None))
    ):
        return Kind(
            "an object of gensim", "word_files.from_keyed_vectors", ("max_words",)
        )
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
        raise InputError(
            "unclear-folder", path, example=example, kinds=", ".join(KINDS)
        )
    ending = path.suffix.lower()
    if ending in _PICKLES:
        raise InputError("unsafe-pickle", path, path=path)
    if ending in _MATRICES:
        return KINDS["matrix"]
    return Kind("a file of word vectors, whatever its kind", _READ, _WORDS)


MANIFEST = Path(__file__).with_name("manifest.toml")
_REQUIRED = ("url", "kind", "dimension", "licence")
_INSTEAD = "get the file otherwise and run: semmetrics embed convert FILE FOLDER"


def vectors_folder() -> Path:
    """Return the folder of fetched vectors."""
    return cache_folder() / "vectors"


@dataclass(frozen=True, kw_only=True, repr=False)
class Entry:
    """Word vectors that can be fetched.

    Attributes
    ----------
    name, url, kind, licence : str
    dimension : int
    sha256 : str
        Of the file at the URL, or "" if it is not known for certain: then that of the first
        download is trusted and kept, and later ones are compared with it.
    member : str
        The file in a zip archive, or "".
    words, megabytes : int
        For information; 0 where not known.
    page : str
        Where the vectors are described.
    """

    name: str
    url: str
    kind: str
    dimension: int
    licence: str
    sha256: str = ""
    member: str = ""
    words: int = 0
    megabytes: int = 0
    page: str = ""

    @property
    def folder(self) -> Path:
        """The folder of its converted form, once it has been fetched."""
        return vectors_folder() / self.name


def read_manifest(path: str | os.PathLike[str] | None = None) -> dict[str, Entry]:
    """Read a manifest.

    Parameters
    ----------
    path : path, optional
        A TOML file with one table a name; None is the one that comes with the package.

    Returns
    -------
    dict from name to Entry

    Raises
    ------
    InputError
        If it is missing, not TOML, or an entry is not complete; names the entry.

    Examples
    --------
    >>> read_manifest()["word2vec-googlenews-300"].dimension
    300
    """
    from semmetrics.embed.word_files import WORD_KINDS

    file = MANIFEST if path is None else Path(path)
    toml = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        tables = toml.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            "unreadable", file, why=error.strerror or type(error).__name__
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError("unreadable", file, why=f"not TOML: {error}") from None
    known = {field.name: field.type for field in fields(Entry) if field.name != "name"}
    entries = {}
    for name, table in tables.items():
        where, is_name = f"{file}, {name}", re.fullmatch(r"[\w-][\w.-]*", name)
        if not is_name or not isinstance(table, dict):
            raise InputError(
                "wrong-type", where, value=table, wanted="a table [name] of keys"
            )
        for key in [*table, *_REQUIRED]:
            value = table.get(key)
            if type(value).__name__ != known.get(key):
                wanted = known.get(key) or f"only {', '.join(known)}"
                raise InputError(
                    "bad-option", where, name=key, value=value, wanted=wanted
                )
        fits = False
        # brackets that do not close, a port that is not a number
        with suppress(ValueError):
            url = urlsplit(table["url"])
            fits = (
                url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
            )
        if not fits:
            wanted = "an http or https address"
            raise InputError(
                "bad-option", where, name="url", value=table["url"], wanted=wanted
            )
        if (kind := table["kind"]) not in WORD_KINDS:
            raise InputError(
                "bad-choice", where, name="kind", value=kind, choices=WORD_KINDS
            )
        entries[name] = Entry(name=name, **table)
    return entries


@dataclass(frozen=True, repr=False)
class Fetched:
    """What was fetched.

    Attributes
    ----------
    folder : Path
        The converted vectors.
    sha256 : str
        Of the download, or "" if nothing was downloaded.
    checked : str
        What it was compared with: "manifest", the "first download" from the URL, whose SHA-256 was
        kept, or "" if this is the first.
    """

    folder: Path
    sha256: str
    checked: str


def fetch(
    entry: Entry,
    *,
    folder: str | os.PathLike[str] | None = None,
    max_words: int | None = None,
    keep: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    """Download word vectors of the manifest, check and convert them.

    Parameters
    ----------
    entry : Entry
    folder : path, optional
        Where the converted vectors go; None is the user's cache folder.
    max_words : int, optional
        Convert the first words only.
    keep : bool
        Keep the download, beside which a second fetch needs no network.
    progress : callable, optional
        Called with bytes, and then rows, done and in all.

    Returns
    -------
    Fetched

    Raises
    ------
    InputError
        If the network fails, the SHA-256 is another, the vectors are not those expected, or
        something else is in the folder.
    """
    from semmetrics.embed.word_files import read_vectors
    from semmetrics.store.downloads import (
        download,
        download_path,
        record_path,
        recorded,
    )
    from semmetrics.store.files import exclusive

    target = entry.folder if folder is None else Path(folder)
    source = entry.url
    if max_words is not None:
        source += f", the first {pluralize(max_words, 'word')}"
    if target.exists():
        return _existing(target, entry, source)
    file = download_path(entry.url)
    with exclusive(file):
        if target.exists():  # another process has fetched it meanwhile
            return _existing(target, entry, source)
        checked = (
            "manifest"
            if entry.sha256
            else "first download"
            if recorded(entry.url)
            else ""
        )
        sha256 = download(
            entry.url, file, sha256=entry.sha256, instead=_INSTEAD, progress=progress
        )
        names: Any = {
            "kind": entry.kind,
            "name": entry.name,
            "member": entry.member or None,
        }
        try:
            vectors = read_vectors(file, max_words=max_words, **names)
            if vectors.dimension != entry.dimension:
                shape = (len(vectors), vectors.dimension)
                wanted = f"dimension {entry.dimension}, or correct the manifest"
                raise InputError(
                    "wrong-shape", file, role="the file", shape=shape, wanted=wanted
                )
        except InputError:
            if not checked:  # what the server sent may not be the file at all
                file.unlink()
                record_path(entry.url).unlink(missing_ok=True)
            raise
        convert(
            vectors, target, licence=entry.licence, source=source, progress=progress
        )
        if not keep:
            file.unlink()
    return Fetched(target, sha256, checked)


def _existing(folder: Path, entry: Entry, source: str) -> Fetched:
    """Return the vectors that are in a folder; refuse others than those that were asked for."""
    if not is_converted(folder):
        raise InputError("exists", folder)
    meta = read_meta(folder)
    if (meta["name"], meta.get("source")) != (entry.name, source):
        found = f"{meta['name']}, from {meta.get('source')}"
        raise InputError("other-vectors", folder, found=found)
    return Fetched(folder, "", "manifest" if entry.sha256 else "")
