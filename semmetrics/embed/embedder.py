"""The interface of embeddings, embeddings from functions, and two kinds of caches.

Conventions
-----------
An embedding turns strings into float32 vectors, one row per string, and reports which strings it
knows. The row of an unknown string is zero. The out-of-vocabulary policy, not the model, decides
how to treat it. The identity of an embedding, ``name-dimension@hash``, identifies its vectors in
signatures.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import UNVERSIONED, own_version
from semmetrics.core.ragged import Bools
from semmetrics.errors import Fact, InputError

Vectors: TypeAlias = NDArray[np.float32]

_N_DIGITS = 12
"""Hex digits of a SHA-256 in an identity."""
_MAX_SHOWN_LENGTH = 60
"""Characters of a string that an error shows."""

# States of a string in the cache. The last two are for models that report composed strings.
_STATE_UNKNOWN = 0
_STATE_KNOWN = 1
_STATE_LISTED = 2
_STATE_COMPOSED = 3


# ---- interface --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Embedded:
    """Vectors of strings.

    Attributes
    ----------
    vectors : float32 array, shape (n_texts, dimension)
        The model's vectors, not normalised. Zeros for unknown strings.
    known : bool array, shape (n_texts,)
    truncated : int
        How many strings were so long that the model read only their beginning.
    composed : bool array, shape (n_texts,), or None
        Known strings with a word that is not in the model's vocabulary and was composed from
        pieces. None if the model cannot tell.
    tuned : bool array, shape (n_texts,), or None
        Strings in the vocabulary that the model was tuned on. None if the model was not tuned.
    """

    vectors: Vectors
    known: Bools
    truncated: int = 0
    composed: Bools | None = None
    tuned: Bools | None = None


class Embedder(Protocol):
    """A model that turns strings into vectors.

    Attributes
    ----------
    identity : str
        ``name-dimension@hash``. The hash is the first 12 hex digits of a SHA-256 of everything that
        decides the vectors, such as the file, or the weights and the pooling.
    dimension : int
        0 if it is unknown before a string has been embedded.
    """

    @property
    def identity(self) -> str:
        """The name of the vectors in signatures."""
        ...

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings. A vector must not depend on the other strings."""
        ...


def looks_up_words(embedder: object) -> bool:
    """Return whether a model looks up words in a list, rather than reading any string."""
    return hasattr(embedder, "find")


def is_cacheable(embedder: object) -> bool:
    """Return whether a cache on disk is faster than the model, and safe.

    The attribute ``cacheable`` of the model decides. Without it, all models are cacheable except
    those that look up words. A function without a version is not, because another function could
    receive its vectors.
    """
    if not getattr(embedder, "cacheable", True):
        return False
    return not looks_up_words(embedder)


def format_identity(name: str, dimension: int, digest: str) -> str:
    """Return the name of vectors in signatures.

    Parameters
    ----------
    name : str
    dimension : int
    digest : str
        A hash, in hex, of everything that decides the vectors.

    Examples
    --------
    >>> format_identity("word2vec-googlenews-300", 300, "21c05ae916a67a4d")
    'word2vec-googlenews-300@21c05ae916a6'
    """
    base = _clean_name(name).removesuffix(f"-{dimension}")
    return f"{base}-{dimension}@{digest[:_N_DIGITS]}"


def _clean_name(name: str) -> str:
    """Replace the characters of a name that have a meaning in signatures."""
    return re.sub(r"[\s|@:]+", "-", name).strip("-") or "vectors"


# ---- vectors ----------------------------------------------------------------------------


def check_finite(
    vectors: NDArray[Any], texts: Sequence[str], where: str, remedy: str
) -> None:
    """Raise if vectors contain NaN or infinite numbers.

    Raises
    ------
    InputError
        The message names the strings.
    """
    is_finite = np.isfinite(vectors).all(axis=1)
    rows = np.flatnonzero(~is_finite).tolist()
    if rows:
        names = [texts[row][:_MAX_SHOWN_LENGTH] for row in rows]
        raise InputError("vector-not-finite", where, names=names, remedy=remedy)


def as_matrix(values: Any, texts: Sequence[str], where: str) -> Vectors:
    """Return computed vectors as a float32 matrix with one row per string.

    Raises
    ------
    InputError
        If they are not numbers, or there is not a row of finite numbers for each string.
    """
    try:
        with np.errstate(over="ignore"):  # `check_finite` finds what overflows
            rows = np.array(values, np.float32)
    except (TypeError, ValueError, RuntimeError):
        # A tensor with a gradient raises RuntimeError.
        wanted = "an array of numbers"
        raise InputError("wrong-type", where, value=values, wanted=wanted) from None
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.size:
        wanted = f"a row of numbers for each string ({len(texts)})"
        raise InputError(
            "wrong-shape", where, role="the matrix", shape=rows.shape, wanted=wanted
        )
    check_finite(rows, texts, where, "remove the text, or recompute its vector")
    return rows


def as_embedded(result: Any) -> Embedded:
    """Return the result of an embedder with all attributes of `Embedded`.

    A user's own embedder may not return the attributes that were added later.
    """
    return Embedded(
        result.vectors,
        result.known,
        result.truncated,
        composed=getattr(result, "composed", None),
        tuned=getattr(result, "tuned", None),
    )


def embed_unique(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed each distinct string once and repeat its row.

    Parameters
    ----------
    embedder : Embedder
    texts : sequence of str

    Returns
    -------
    Embedded
        ``truncated`` counts distinct strings.
    """
    row_of_text = _number_distinct(texts)
    if len(row_of_text) == len(texts):
        return embedder.embed(texts)
    distinct = as_embedded(embedder.embed(list(row_of_text)))
    rows = np.fromiter((row_of_text[text] for text in texts), np.int64, len(texts))
    composed = distinct.composed
    if composed is not None:
        composed = composed[rows]
    tuned = distinct.tuned
    if tuned is not None:
        tuned = tuned[rows]
    return Embedded(
        distinct.vectors[rows],
        distinct.known[rows],
        distinct.truncated,
        composed,
        tuned,
    )


def _number_distinct(texts: Sequence[str]) -> dict[str, int]:
    """Number the distinct strings in order of first appearance."""
    return {text: number for number, text in enumerate(dict.fromkeys(texts))}


def _find_truncated(embedder: Embedder, texts: list[str], embedded: Embedded) -> Bools:
    """Return which strings were truncated, or all False if the model cannot tell."""
    truncated: Bools = np.zeros(len(texts), np.bool_)
    if embedded.truncated and hasattr(embedder, "is_truncated"):
        truncated = embedder.is_truncated(texts)
    return truncated


# ---- functions --------------------------------------------------------------------------


class CallableEmbedder:
    """A function from strings to vectors. It is called with strings of the data only.

    Parameters
    ----------
    function : callable
        From a list of n strings to an array of shape (n, dimension).
    name : str, optional
        The name in signatures. Default: the function's name.
    version : str, optional
        A string that identifies the vectors, such as the version of a service. Default: the
        function's attribute ``version``. Without either, the identity ends in "unversioned", and
        vectors are never cached, because another function may have the same name.

    Attributes
    ----------
    name : str
    dimension : int
        The length of a vector, or 0 before a string has been embedded.

    Examples
    --------
    >>> lengths = CallableEmbedder(lambda texts: [[len(text), 1] for text in texts], name="length")
    >>> lengths.embed(["cat"]).vectors.tolist(), lengths.dimension
    ([[3.0, 1.0]], 2)
    >>> lengths.identity, lengths.cacheable
    ('length@unversioned', False)
    """

    def __init__(
        self,
        function: Callable[[list[str]], Any],
        *,
        name: str | None = None,
        version: str | None = None,
    ) -> None:
        self._function = function
        self._version = version
        if version is None:
            self._version = own_version(function)
        elif not isinstance(version, str) or not version:
            wanted = "a string that changes when the vectors change, such as '2'"
            raise InputError("bad-option", name="version", value=version, wanted=wanted)
        self.name = name or _name_of(function)
        self.dimension = 0

    @property
    def cacheable(self) -> bool:
        """Whether its vectors may be stored on disk, which requires a version."""
        return self._version is not None

    @property
    def identity(self) -> str:
        """The name of the vectors in signatures. It never changes, unlike the dimension."""
        name = _clean_name(self.name)
        if self._version is None:
            return name + UNVERSIONED
        digest = hashlib.sha256(self._version.encode()).hexdigest()
        return f"{name}@{digest[:_N_DIGITS]}"

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings. A string is unknown if its vector is zero.

        Raises
        ------
        InputError
            If the function does not return a row of finite numbers for each string.
        """
        if not len(texts):
            no_vectors = np.zeros((0, self.dimension or 1), np.float32)
            return Embedded(no_vectors, np.zeros(0, np.bool_))
        vectors = as_matrix(self._function(list(texts)), texts, self.name)
        dimension = vectors.shape[1]
        self.dimension = self.dimension or dimension
        if dimension != self.dimension:
            raise InputError(
                "wrong-shape",
                self.name,
                role="the matrix",
                shape=vectors.shape,
                wanted=f"dimension {self.dimension}, as before",
            )
        known = np.asarray(vectors.any(axis=1), np.bool_)
        return Embedded(vectors, known)


def _name_of(function: Callable[..., Any]) -> str:
    """Return the name of a function or of the class of a callable object."""
    name = getattr(function, "__name__", type(function).__name__)
    if name == "<lambda>":
        return "callable"
    return str(name)


# ---- caches -----------------------------------------------------------------------------


class _EmbedderWrapper:
    """Base of embedders around another embedder, which provides all other attributes.

    Attributes
    ----------
    hidden : tuple of str
        Attributes of the inner embedder that the wrapper does not have.
    """

    hidden: ClassVar[tuple[str, ...]] = ("embedder",)

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    @property
    def identity(self) -> str:
        """The identity of the model."""
        return self.embedder.identity

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self.embedder.dimension

    def __getattr__(self, name: str) -> object:
        """Return an attribute of the model, such as its threshold."""
        if name in self.hidden:
            raise AttributeError(name)
        return getattr(self.embedder, name)


class CachedEmbedder(_EmbedderWrapper):
    """A model whose vectors are stored on disk.

    Parameters
    ----------
    embedder : Embedder
    path : path, optional
        The SQLite file. Default: ``embeddings.sqlite`` in the user's cache folder.

    Raises
    ------
    InputError
        If the model is a function without a version.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> slow = CallableEmbedder(lambda texts: [[len(t)] for t in texts], name="slow", version="1")
    >>> path = pathlib.Path(tempfile.mkdtemp(), "cache.sqlite")
    >>> CachedEmbedder(slow, path).embed(["cat", "mouse"]).vectors.tolist()
    [[3.0], [5.0]]
    """

    cacheable = False
    hidden = ("embedder", "lookup", "find", "rows")

    def __init__(
        self, embedder: Embedder, path: str | os.PathLike[str] | None = None
    ) -> None:
        from semmetrics.store.files import cache_folder
        from semmetrics.store.text_cache import TextCache

        if UNVERSIONED in embedder.identity:
            raise InputError("unversioned", embedder.identity)
        super().__init__(embedder)
        self._stored_dimension = 0
        if path is None:
            path = cache_folder() / "embeddings.sqlite"
        columns = {"vector": "BLOB", "known": "INTEGER", "truncated": "INTEGER"}
        self._cache = TextCache(path, "vectors", columns)

    @property
    def dimension(self) -> int:
        """The length of a vector. Stored vectors decide if the model does not know it yet."""
        return self.embedder.dimension or self._stored_dimension

    @property
    def trouble(self) -> Fact | None:
        """Why the file is not used, or that it was damaged. None if all is well."""
        return self._cache.trouble

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings, and embed strings that are not stored yet."""
        stored = self._cache.rows(self.identity, texts, self._compute)
        blobs = [vector for vector, _, _ in stored.values()]
        lengths = [len(blob) // 4 for blob in blobs]
        self._stored_dimension = self.dimension or min(lengths, default=0)
        vectors = self._decode(blobs)
        if vectors is None:
            why = "it is damaged: a vector is not finite, or has a different length"
            self._cache.give_up(why)
            return self.embedder.embed(texts)

        row_of_text = {text: row for row, text in enumerate(stored)}
        rows = np.fromiter((row_of_text[text] for text in texts), np.int64, len(texts))
        states = np.array([state for _, state, _ in stored.values()], np.int64)[rows]
        truncated = np.array([bool(flag) for _, _, flag in stored.values()], np.bool_)
        n_truncated = int(truncated[rows].sum())
        composed = None
        if (states > _STATE_KNOWN).any():
            composed = states == _STATE_COMPOSED
        return Embedded(vectors[rows], states != _STATE_UNKNOWN, n_truncated, composed)

    def _decode(self, blobs: Sequence[bytes]) -> Vectors | None:
        """Return stored vectors, or None if one is not finite or has another length."""
        dimension = self.dimension
        if any(len(blob) != 4 * dimension for blob in blobs):
            return None
        vectors = np.zeros((len(blobs), dimension or 1), np.float32)
        for row, blob in enumerate(blobs):
            vectors[row] = np.frombuffer(blob, "<f4")
        if not np.isfinite(vectors).all():
            return None
        return vectors

    def _compute(self, texts: list[str]) -> list[tuple[bytes, int, int]]:
        """Embed strings, and return the row of each for the cache."""
        embedded = as_embedded(self.embedder.embed(texts))
        truncated = _find_truncated(self.embedder, texts, embedded)
        vectors = np.ascontiguousarray(embedded.vectors, "<f4")
        states_of_known = np.full(len(texts), _STATE_KNOWN)
        if embedded.composed is not None:
            is_composed = embedded.composed
            states_of_known = np.where(is_composed, _STATE_COMPOSED, _STATE_LISTED)
        states = np.where(embedded.known, states_of_known, _STATE_UNKNOWN)
        rows = []
        for vector, state, flag in zip(vectors, states, truncated, strict=True):
            rows.append((vector.tobytes(), int(state), int(flag)))
        return rows


class _StoredText(NamedTuple):
    """The vector of a string.

    Attributes
    ----------
    vector : float32 array, shape (dimension,)
    flags : tuple of bool
        Whether the string is known, composed, truncated and tuned, as in `Embedded`.
    """

    vector: Vectors
    flags: tuple[bool, bool, bool, bool]


class RememberingEmbedder(_EmbedderWrapper):
    """A model that embeds each string only once, and stores its vector in memory.

    Parameters
    ----------
    embedder : Embedder

    Examples
    --------
    >>> def lengths(texts):
    ...     print(len(texts), "embedded")
    ...     return [[len(text)] for text in texts]
    >>> lengths.version = "1"
    >>> model = RememberingEmbedder(CallableEmbedder(lengths))
    >>> model.embed(["cat", "mouse"]).vectors.tolist()
    2 embedded
    [[3.0], [5.0]]
    >>> model.embed(["mouse", "cat"]).vectors.tolist()
    [[5.0], [3.0]]
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._stored: dict[str, _StoredText] = {}
        self._reports_tuned = False

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of strings, and embed new strings."""
        new = [text for text in dict.fromkeys(texts) if text not in self._stored]
        if new:
            self._embed_new(new)
        stored = [self._stored[text] for text in texts]
        shape = (len(stored), self.dimension or 1)
        vectors = np.array([text.vector for text in stored], np.float32).reshape(shape)
        flags = np.array([text.flags for text in stored], np.bool_).reshape(-1, 4)
        known, composed, truncated, is_tuned = flags.T
        tuned = None
        if self._reports_tuned:
            tuned = is_tuned
        return Embedded(vectors, known, int(truncated.sum()), composed, tuned)

    def _embed_new(self, texts: list[str]) -> None:
        """Embed strings and store their vectors."""
        embedded = as_embedded(self.embedder.embed(texts))
        truncated = _find_truncated(self.embedder, texts, embedded)
        composed = embedded.composed
        if composed is None:
            composed = np.zeros(len(texts), np.bool_)
        tuned = embedded.tuned
        self._reports_tuned = tuned is not None
        if tuned is None:
            tuned = np.zeros(len(texts), np.bool_)
        flags = zip(embedded.known, composed, truncated, tuned, strict=True)
        for text, vector, text_flags in zip(
            texts, embedded.vectors, flags, strict=True
        ):
            self._stored[text] = _StoredText(vector, text_flags)
