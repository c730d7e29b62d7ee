"""The kinds of embeddings: how each is opened, and which options apply to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

from semmetrics.embed.converted import META, is_converted
from semmetrics.embed.embedder import Embedder, is_cacheable
from semmetrics.errors import InputError


@dataclass(frozen=True, repr=False)
class EmbeddingKind:
    """A kind of embedding.

    Attributes
    ----------
    summary : str
    opener : str
        The function that opens it, as "module.function" below ``semmetrics.embed``. It is imported
        when it is needed. "" if the object is an embedding already.
    options : tuple of str
        The options that apply, out of ``device``, ``batch_size``, ``max_words``, ``max_bytes`` and
        ``cache``. Kinds without ``cache`` are faster than any cache.
    fixed : mapping
        Further arguments of the function.
    """

    summary: str
    opener: str
    options: tuple[str, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)

    def open(self, source: Any, **options: Any) -> Embedder:
        """Open an embedding of this kind.

        Parameters
        ----------
        source : object
            The name or path after the kind, or an object that can be used as an embedding.
        **options
            Options that apply to the kind.
        """
        if not self.opener:
            embedder: Embedder = source
            return embedder
        opener: Callable[..., Embedder] = resolve_name(
            f"semmetrics.embed.{self.opener}"
        )
        return opener(source, **self.fixed, **options)


_TEXT_MODEL_OPTIONS = ("device", "batch_size", "cache")
_MATRIX_OPTIONS = ("max_bytes",)
_WORD_OPTIONS = ("max_words", "max_bytes")
_WORD_OPENER = "word_files.read_vectors"

KINDS = {
    "static": EmbeddingKind(
        "the general embedding of semmetrics", "static.open_static"
    ),
    "same": EmbeddingKind(
        "the embedding of semmetrics for matching labels", "same.open_same"
    ),
    "word2vec": EmbeddingKind(
        "a word2vec file, binary or text",
        _WORD_OPENER,
        _WORD_OPTIONS,
        fixed={"kind": "word2vec"},
    ),
    "glove": EmbeddingKind(
        "a GloVe text file", _WORD_OPENER, _WORD_OPTIONS, fixed={"kind": "glove"}
    ),
    "fasttext": EmbeddingKind(
        "fastText vectors (.vec) or a model (.bin, with gensim)",
        _WORD_OPENER,
        _WORD_OPTIONS,
        fixed={"kind": "fasttext"},
    ),
    "kv": EmbeddingKind(
        "gensim KeyedVectors, a pickle: open only files that you trust",
        "word_files.read_keyed_vectors",
        _WORD_OPTIONS,
    ),
    "converted": EmbeddingKind(
        "a folder written by 'semmetrics embed convert'", "converted.open_converted"
    ),
    "sbert": EmbeddingKind(
        "a sentence-transformers model, by name or path",
        "sentence_models.SentenceEmbedder",
        _TEXT_MODEL_OPTIONS,
    ),
    "transformers": EmbeddingKind(
        "a transformers model, as transformers:first:NAME or transformers:mean:NAME",
        "sentence_models.open_transformer",
        _TEXT_MODEL_OPTIONS,
    ),
    "matrix": EmbeddingKind(
        "vectors of whole texts: .npy with a .txt of the same name, .npz or Parquet",
        "word_files.read_matrix",
        _MATRIX_OPTIONS,
    ),
}
"""The kinds that a user can name, as in ``kind:NAME``."""

_MATRIX_EXTENSIONS = (".npy", ".npz", ".parquet", ".pq")
_PICKLE_EXTENSIONS = (".kv", ".model", ".wordvectors")


def kind_of_object(model: Any) -> EmbeddingKind:
    """Return the kind of an object that is an embedding or can be used as one.

    Raises
    ------
    InputError
        If the object cannot be used as an embedding.
    """
    if isinstance(model, Mapping):
        return EmbeddingKind("vectors of words", "words.from_words")
    if _is_embedder(model):
        options = ("cache",) if is_cacheable(model) else ()
        return EmbeddingKind("an open embedding", "", options)
    if _has_keyed_vectors(model):
        return EmbeddingKind(
            "an object of gensim", "word_files.from_keyed_vectors", ("max_words",)
        )
    if _is_sentence_model(model):
        opener = KINDS["sbert"].opener
        return EmbeddingKind("a sentence model", opener, ("batch_size", "cache"))
    if callable(model) and not isinstance(model, type):
        return EmbeddingKind("a function", "embedder.CallableEmbedder", ("cache",))
    wanted = "a name, a path, a gensim KeyedVectors, a mapping from words to vectors, or a function"
    if callable(getattr(model, "encode", None)):
        wanted += ", such as its method encode"
    raise InputError("wrong-type", value=model, wanted=wanted)


def _is_embedder(model: Any) -> bool:
    """Return whether an object has the attributes of an `Embedder`."""
    return all(hasattr(model, name) for name in ("embed", "identity", "dimension"))


def _has_keyed_vectors(model: Any) -> bool:
    """Return whether an object is a gensim KeyedVectors or a model that has one."""
    keyed_vectors = getattr(model, "wv", None)
    return hasattr(model, "key_to_index") or hasattr(keyed_vectors, "key_to_index")


def _is_sentence_model(model: Any) -> bool:
    """Return whether an object is a model of sentence-transformers."""
    return hasattr(model, "encode") and hasattr(model, "max_seq_length")


def kind_of_path(path: Path) -> EmbeddingKind:
    """Return the kind of a path that exists.

    A file of word vectors has a general kind, because its content decides.

    Raises
    ------
    InputError
        If the content of a folder is unclear, or the file is a pickle.
    """
    if path.is_dir():
        return _kind_of_folder(path)
    extension = path.suffix.lower()
    if extension in _PICKLE_EXTENSIONS:
        raise InputError("unsafe-pickle", path, path=path)
    if extension in _MATRIX_EXTENSIONS:
        return KINDS["matrix"]
    summary = "a file of word vectors in any format"
    return EmbeddingKind(summary, _WORD_OPENER, _WORD_OPTIONS)


def _kind_of_folder(path: Path) -> EmbeddingKind:
    """Return the kind of a folder, by the files in it."""
    if is_converted(path) or (path / META).is_file():
        return KINDS["converted"]
    if (path / "modules.json").is_file():
        return KINDS["sbert"]
    example = f"sbert:{path}"
    if (path / "config.json").is_file():  # a plain transformers model
        example = f"transformers:first:{path} or transformers:mean:{path}"
    kinds = ", ".join(KINDS)
    raise InputError("unclear-folder", path, example=example, kinds=kinds)
