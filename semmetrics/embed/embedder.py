"""The one interface of embeddings: strings in, a matrix and a known-mask out.

Conventions
-----------
Vectors are float32, one row a text. A text that the model does not know has a row of zeros and is
not known; what stands for it is decided by the out-of-vocabulary policy, not by the model. An
identity, ``name-dimension@hash``, says in signatures which vectors they are.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import UNVERSIONED, own_version
from semmetrics.core.ragged import Bools
from semmetrics.errors import Fact, InputError

Vectors: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, eq=False, repr=False)
class Embedded:
    """Vectors of texts.

    Attributes
    ----------
    vectors : float32 array, shape (texts, dimension)
        As the model gives them, not normalised; zeros where unknown.
    known : bool array, shape (texts,)
    truncated : int
        Texts of which the model read only the beginning.
    composed : bool array, shape (texts,), or None
        Known texts with a word that the model does not list and put together from its pieces;
        None where the model cannot tell.
    tuned : bool array, shape (texts,), or None
        Texts in the vocabulary that the model was tuned on. None if the model was not tuned.
    """

    vectors: Vectors
    known: Bools
    truncated: int = 0
    composed: Bools | None = None
    tuned: Bools | None = None


class Embedder(Protocol):
    """A model that turns texts into vectors.

    Attributes
    ----------
    identity : str
        ``name-dimension@hash``: the name, and the first 12 hex digits of a SHA-256 of what decides
        the vectors (the file, the weights and pooling, the matrix).
    dimension : int
        0 where it is not known before a text has been embedded.
    """

    @property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts; equal texts have equal rows whatever stands beside them."""
        ...


def looks_up_words(embedder: object) -> bool:
    """Return whether a model finds the vectors of listed words, rather than reading texts."""
    return hasattr(embedder, "find")


def is_cacheable(embedder: object) -> bool:
    """Return whether vectors are computed, and slower than a cache on disk.

    A model says so by its attribute ``cacheable``; without one, models that read texts are. A
    function without a version is not: another function could be given its vectors.
    """
    return bool(getattr(embedder, "cacheable", True)) and not looks_up_words(embedder)


def format_identity(name: str, dimension: int, digest: str) -> str:
    """Return what vectors are called in signatures.

    Parameters
    ----------
    name : str
    dimension : int
    digest : str
        In hex, of what decides the vectors.

    Examples
    --------
    >>> format_identity("word2vec-googlenews-300", 300, "21c05ae916a67a4d")
    'word2vec-googlenews-300@21c05ae916a6'
    """
    return f"{_plain(name).removesuffix(f'-{dimension}')}-{dimension}@{digest[:12]}"


def _plain(name: str) -> str:
    """Return a name as it is written in an identity."""
    return re.sub(r"[\s|@:]+", "-", name).strip("-") or "vectors"


def check_finite(
    vectors: NDArray[Any], texts: Sequence[str], where: str, remedy: str
) -> None:
    """Refuse vectors that hold NaN or an infinite number; name their texts.

    Raises
    ------
    InputError
        If there are any.
    """
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1)).tolist()
    if bad:
        names = [texts[row][:60] for row in bad]
        raise InputError("vector-not-finite", where, names=names, remedy=remedy)


def as_matrix(values: Any, texts: Sequence[str], where: str) -> Vectors:
    """Return computed vectors as a float32 matrix with one row a text.

    Raises
    ------
    InputError
        If they are no numbers, or not a row of finite numbers for each text.
    """
    try:
        with np.errstate(over="ignore"):  # what is too large is refused below
            rows = np.array(values, np.float32)
    except (
        TypeError,
        ValueError,
        RuntimeError,
    ):
        # the last: a tensor that has a gradient
        wanted = "an array of numbers"
        raise InputError("wrong-type", where, value=values, wanted=wanted) from None
    if rows.ndim != 2 or len(rows) != len(texts) or not rows.size:
        wanted = f"a row of numbers for each text ({len(texts)})"
        raise InputError(
            "wrong-shape", where, role="the matrix", shape=rows.shape, wanted=wanted
        )
    check_finite(rows, texts, where, "remove the text, or compute its vector again")
    return rows


def embed_unique(embedder: Embedder, texts: Sequence[str]) -> Embedded:
    """Embed each distinct text once and repeat its row.

    Parameters
    ----------
    embedder : Embedder
    texts : sequence of str

    Returns
    -------
    Embedded
        ``truncated`` counts distinct texts.
    """
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    if len(place) == len(texts):
        return embedder.embed(texts)
    once = embedder.embed(list(place))
    rows = np.fromiter((place[text] for text in texts), np.int64, len(texts))
    composed = getattr(once, "composed", None)  # a user's own embedding may not have it
    composed = None if composed is None else composed[rows]
    tuned = getattr(once, "tuned", None)
    if tuned is not None:
        tuned = tuned[rows]
    return Embedded(
        once.vectors[rows], once.known[rows], once.truncated, composed, tuned
    )


def _embed_each(
    embedder: Embedder, texts: list[str]
) -> tuple[Embedded, Bools | None, Bools]:
    """Embed texts; return also which are composed, if known, and which are truncated."""
    found = embedder.embed(texts)
    cut: Bools = np.zeros(len(texts), np.bool_)
    if found.truncated and hasattr(embedder, "is_truncated"):
        cut = embedder.is_truncated(texts)
    # a user's own may not have the second
    return (
        found,
        getattr(found, "composed", None),
        cut,
    )


class CallableEmbedder:
    """A function from texts to vectors. It is asked for texts of the data alone.

    Parameters
    ----------
    function : callable
        From a list of n texts to an array of shape (n, dimension).
    name : str, optional
        For signatures; None is the function's name.
    version : str, optional
        What decides the vectors, such as the version of a service, for the identity. None takes
        the function's attribute ``version``. Without either the identity says "unversioned", and
        no vector is kept in a cache: another function may have the same name.

    Attributes
    ----------
    dimension : int
        Numbers in a vector; 0 before a text has been embedded.

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
        self._version = own_version(function) if version is None else version
        if self._version is not None and not (
            isinstance(version, str | None) and self._version
        ):
            wanted = "a text that changes when the vectors change, such as '2'"
            raise InputError("bad-option", name="version", value=version, wanted=wanted)
        given = getattr(function, "__name__", type(function).__name__)
        self.name = name or ("callable" if given == "<lambda>" else str(given))
        self.dimension = 0

    @property
    def cacheable(self) -> bool:
        """Whether its vectors may be kept on disk: it has a version."""
        return self._version is not None

    @property
    def identity(self) -> str:
        """What the vectors are, for signatures: the same before and after any text is embedded."""
        if self._version is None:
            return _plain(self.name) + UNVERSIONED
        return f"{_plain(self.name)}@{hashlib.sha256(self._version.encode()).hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts; all are known except those whose vector is zero.

        Raises
        ------
        InputError
            If the function does not return a row of finite numbers for each text.
        """
        if not len(texts):
            return Embedded(
                np.zeros((0, self.dimension or 1), np.float32), np.zeros(0, np.bool_)
            )
        vectors = as_matrix(self._function(list(texts)), texts, self.name)
        self.dimension = self.dimension or vectors.shape[1]
        if vectors.shape[1] != self.dimension:
            shapes = {
                "shape": vectors.shape,
                "wanted": f"dimension {self.dimension}, as before",
            }
            raise InputError("wrong-shape", self.name, role="the matrix", **shapes)
        return Embedded(vectors, np.asarray(vectors.any(axis=1), np.bool_))


class _Wrapper:
    """An embedder around another one, whose attributes it has but for those that it hides."""

    hidden: ClassVar[tuple[str, ...]] = ("embedder",)

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder

    @property
    def identity(self) -> str:
        """The identity of the model."""
        return self.embedder.identity

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return self.embedder.dimension

    def __getattr__(self, name: str) -> object:
        """Return what else the model says of itself, such as its threshold."""
        if name in self.hidden:
            raise AttributeError(name)
        return getattr(self.embedder, name)


class CachedEmbedder(_Wrapper):
    """A model whose vectors are kept on disk.

    Parameters
    ----------
    embedder : Embedder
    path : path, optional
        The SQLite file; None is ``embeddings.sqlite`` in the user's cache folder.

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
        self._width = 0
        # known is 0 or 1; 2 or 3 (composed) where the model tells which known texts are composed
        columns = {"vector": "BLOB", "known": "INTEGER", "truncated": "INTEGER"}
        place = cache_folder() / "embeddings.sqlite" if path is None else path
        self._cache = TextCache(place, "vectors", columns)

    @property
    def dimension(self) -> int:
        """Numbers in a vector; of kept ones where the model itself was not asked yet."""
        return self.embedder.dimension or self._width

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts, computed if they are not kept yet."""
        kept = self._cache.rows(self.identity, texts, self._compute)
        self._width = self.dimension or min(
            (len(row[0]) // 4 for row in kept.values()), default=0
        )
        vectors = np.zeros((len(kept), self.dimension or 1), np.float32)
        whole = all(len(vector) == 4 * self.dimension for vector, *_ in kept.values())
        for number, (vector, *_) in enumerate(kept.values() if whole else ()):
            vectors[number] = np.frombuffer(vector, "<f4")
        if not whole or not np.isfinite(vectors).all():
            self._cache.give_up(
                "it is damaged: a vector is not finite, or has another length"
            )
            return self.embedder.embed(texts)
        place = {text: number for number, text in enumerate(kept)}
        rows = np.fromiter((place[text] for text in texts), np.int64, len(texts))
        known = np.array([row[1] for row in kept.values()], np.int64)[rows]
        truncated = np.array([bool(row[2]) for row in kept.values()], np.bool_)
        composed = known == 3 if (known > 1).any() else None
        return Embedded(vectors[rows], known > 0, int(truncated[rows].sum()), composed)

    @property
    def trouble(self) -> Fact | None:
        """Why the file is not used, or that something in it was damaged."""
        return self._cache.trouble

    def _compute(self, texts: list[str]) -> list[tuple[bytes, int, int]]:
        computed, composed, truncated = _embed_each(self.embedder, texts)
        vectors, known = (
            np.ascontiguousarray(computed.vectors, "<f4"),
            computed.known.astype(int),
        )
        if composed is not None:
            known *= 2 + composed.astype(int)
        return [
            (vector.tobytes(), int(state), int(cut))
            for vector, state, cut in zip(vectors, known, truncated, strict=True)
        ]


class RememberingEmbedder(_Wrapper):
    """A model that embeds each text once, however often it is asked for it.

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
        self._rows: dict[str, tuple[Vectors, bool, bool, bool, bool]] = {}
        self._was_tuned = False

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Return the vectors of texts, computed if they are asked for the first time."""
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            found, composed, cut = _embed_each(self.embedder, new)
            made = np.zeros(len(new), np.bool_) if composed is None else composed
            tuned = getattr(found, "tuned", None)
            self._was_tuned = tuned is not None
            if tuned is None:
                tuned = np.zeros(len(new), np.bool_)
            rows = zip(
                found.vectors, found.known.tolist(), made, cut, tuned, strict=True
            )
            self._rows.update(zip(new, rows, strict=True))
        taken = [self._rows[text] for text in texts]
        width = self.dimension or 1
        table = np.array([row[0] for row in taken], np.float32).reshape(
            len(taken), width
        )
        flags = np.array([row[1:] for row in taken], np.bool_).reshape(-1, 4)
        known, composed, cut, is_tuned = flags.T
        tuned = None
        if self._was_tuned:
            tuned = is_tuned
        return Embedded(table, known, int(cut.sum()), composed, tuned)
