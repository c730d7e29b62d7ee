"""Embeddings of one's own: any callable, and matrices that were computed elsewhere."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from semmetrics.data.beside import read_class_list
from semmetrics.data.form import ReadOptions
from semmetrics.data.numpy_files import read_arrays
from semmetrics.data.source import load
from semmetrics.embed.base import Embedded
from semmetrics.embed.formats import ArrayTable
from semmetrics.embed.index import KeyIndex
from semmetrics.embed.vectors import WordVectors, identity, stem
from semmetrics.errors import InputError, listing

__all__ = ["CallableEmbedder", "MatrixEmbedder", "read_matrix"]

Function = Callable[[list[str]], Any]
_PROBE = ["cat", "a dog on a sofa", "traffic light"]
_BYTES = 64 * 2**30


class CallableEmbedder:
    """A function from texts to vectors.

    Parameters
    ----------
    function : callable
        From a list of n texts to an array of shape (n, dimension).
    name : str, optional
        For signatures; None is the function's name.
    version : str, optional
        What decides the vectors, such as the version of a service, for the identity. None takes
        the vectors of three fixed texts.

    Examples
    --------
    >>> lengths = CallableEmbedder(lambda texts: [[len(text), 1] for text in texts], name="length")
    >>> lengths.dimension, lengths.embed(["cat"]).vectors.tolist()
    (2, [[3.0, 1.0]])
    """

    def __init__(
        self, function: Function, *, name: str | None = None, version: str | None = None
    ) -> None:
        self._function, self._version = function, version
        said = getattr(function, "__name__", type(function).__name__)
        self.name = name or ("callable" if said == "<lambda>" else str(said))

    @cached_property
    def _probe(self) -> NDArray[np.float32]:
        return self._called(_PROBE)

    @property
    def dimension(self) -> int:
        """Numbers in a vector."""
        return int(self._probe.shape[1])

    @cached_property
    def identity(self) -> str:
        """What the vectors are, for signatures."""
        told = self._probe.tobytes() if self._version is None else self._version.encode()
        return identity(self.name, self.dimension, hashlib.sha256(told).hexdigest())

    def embed(self, texts: Sequence[str]) -> Embedded:
        """Vectors of texts; all are known, but those whose vector is zero.

        Raises
        ------
        InputError
            If the function does not return a row of finite numbers for each text.
        """
        if not len(texts):
            return Embedded(np.zeros((0, self.dimension), np.float32), np.zeros(0, np.bool_))
        vectors = self._called(list(texts))
        if vectors.shape[1] != self.dimension:
            raise InputError(
                f"it returned {vectors.shape[1]} numbers a text, and {self.dimension} before",
                where=self.name,
                remedy="return rows of one length",
            )
        return Embedded(vectors, np.asarray(vectors.any(axis=1), np.bool_))

    def _called(self, texts: list[str]) -> NDArray[np.float32]:
        returned = self._function(list(texts))
        try:
            with np.errstate(over="ignore"):  # what is too large is refused below
                vectors = np.array(returned, np.float32)
        except (TypeError, ValueError, RuntimeError):  # the last: a tensor that has a gradient
            raise InputError(
                f"it returned a {type(returned).__name__} that is no array of numbers",
                where=self.name,
                remedy="return an array of shape (texts, dimension)",
            ) from None
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1]:
            raise InputError(
                f"it returned shape {vectors.shape} for {len(texts)} texts",
                where=self.name,
                remedy="return an array of shape (texts, dimension)",
            )
        return _finite(vectors, texts, self.name)


def _finite(vectors: NDArray[np.float32], texts: Sequence[str], where: str) -> NDArray[np.float32]:
    bad = ~np.isfinite(vectors).all(axis=1)
    if bad.any():
        text = texts[int(np.flatnonzero(bad)[0])]
        raise InputError(
            f"the vector of {text!r:.60} holds a number that is not finite",
            where=where,
            remedy="remove the text, or compute its vector again",
        )
    return vectors


class MatrixEmbedder(WordVectors):
    """Vectors that were computed elsewhere, one row a text.

    Parameters
    ----------
    vectors : array, shape (texts, dimension)
    texts : sequence of str
        Each once.
    name : str
        For signatures.
    lookup : str
        The rule by which a label's vector is found where none is named; "exact" takes whole
        labels only, "words" also means of words.
    where : str
        What messages call it.

    Raises
    ------
    InputError
        If shapes do not fit, a text is there twice, or a number is not finite.

    Examples
    --------
    >>> model = MatrixEmbedder([[1, 0], [0, 1]], ["cat", "traffic light"])
    >>> model.embed(["cat", "cow"]).known.tolist(), model.lookup
    ([True, False], 'exact')
    """

    def __init__(
        self,
        vectors: ArrayLike,
        texts: Sequence[str],
        *,
        name: str = "matrix",
        lookup: str = "exact",
        where: str = "",
    ) -> None:
        where = where or name
        try:
            with np.errstate(over="ignore"):  # what is too large is refused below
                rows = np.array(vectors, np.float32)
        except (TypeError, ValueError):
            raise InputError("it is no matrix of numbers", where=where, remedy="give one") from None
        if rows.ndim != 2 or len(rows) != len(texts) or not rows.size:
            raise InputError(
                f"the matrix has shape {rows.shape} for {len(texts)} texts",
                where=where,
                remedy="give one row of numbers for each text",
            )
        texts = [str(text) for text in texts]
        _finite(rows, texts, where)
        super().__init__(
            KeyIndex.build(texts, where),
            ArrayTable(rows),
            name=name,
            digest=lambda: _matrix_digest(rows, texts),
            where=where,
        )
        self.lookup = lookup


def _matrix_digest(rows: NDArray[np.float32], texts: Sequence[str]) -> str:
    state = hashlib.sha256("\n".join(texts).encode("utf-8", "surrogatepass"))
    state.update(f" {rows.shape} ".encode())
    state.update(np.ascontiguousarray(rows).data)
    return state.hexdigest()


def read_matrix(
    path: str | os.PathLike[str],
    texts: str | os.PathLike[str] | Sequence[str] | None = None,
    *,
    name: str | None = None,
    lookup: str = "exact",
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
    vectors, found = _parquet(file) if tabular else _arrays(file)
    if texts is not None and not isinstance(texts, str | os.PathLike):
        found = list(texts)
    elif texts is not None or found is None:
        found = _texts_of(file, texts)
    return MatrixEmbedder(vectors, found, name=name or stem(file), lookup=lookup, where=str(path))


def _arrays(file: Path) -> tuple[NDArray[Any], list[str] | None]:
    """The one matrix of numbers and the one list of texts of a .npy or .npz file."""
    arrays = read_arrays(load(file, _BYTES), _BYTES)
    texts = {key: array for key, array in arrays.items() if array.dtype.kind == "U"}
    tables = {key: a for key, a in arrays.items() if a.dtype.kind in "iuf" and a.ndim == 2}
    for what, which in (("matrix of numbers", tables), ("array of texts", texts)):
        if len(which) > 1:
            raise InputError(
                f"it holds more than one {what}: {listing(which)}",
                where=str(file),
                remedy="save one",
            )
    if not tables:
        raise InputError("it holds no matrix of numbers", where=str(file), remedy="save one")
    found = next(iter(texts.values())).ravel().tolist() if texts else None
    return next(iter(tables.values())), found


def _texts_of(file: Path, texts: str | os.PathLike[str] | None) -> list[str]:
    """The texts in a file: the one given, or the one beside the matrix."""
    if texts is None:
        beside = [file.with_suffix(ending) for ending in (".txt", ".json")]
        there = next((path for path in beside if path.is_file()), None)
        if there is None:
            raise InputError(
                "nothing says which texts its rows are of",
                where=str(file),
                remedy=f"write them, one a line, into {beside[0].name} beside it",
            )
        texts = there
    return read_class_list(texts, ReadOptions(max_bytes=_BYTES))


def _parquet(file: Path) -> tuple[NDArray[Any], list[str] | None]:
    source = load(file, _BYTES)
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    try:
        table = parquet.read_table(arrow.BufferReader(source.data), use_threads=False)
    # Damaged files raise nearly anything from inside pyarrow.
    except Exception as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise InputError(
            f"it cannot be read as Parquet: {line}", where=str(file), remedy="write it again"
        ) from None
    kinds = arrow.types
    texts = [f.name for f in table.schema if _is_text(kinds, f.type)]
    lists = [f.name for f in table.schema if _is_list(kinds, f.type)]
    numbers = [f.name for f in table.schema if kinds.is_floating(f.type)]
    if len(texts) != 1 or len(lists) > 1 or not (lists or numbers):
        raise InputError(
            f"its columns are {listing(table.column_names)}",
            where=str(file),
            remedy="give one column of texts, and one of lists of numbers or many of numbers",
        )
    found = table.column(texts[0]).to_pylist()
    if lists:
        rows = table.column(lists[0]).to_pylist()
        vectors = _even(rows, str(file))
    else:
        vectors = np.column_stack([table.column(name).to_numpy() for name in numbers])
    if None in found:
        raise InputError("a text is null", where=str(file), remedy="remove the row")
    return vectors, found


def _is_text(kinds: Any, type_: Any) -> bool:
    """Whether a column holds texts, perhaps as numbers of a dictionary (categories)."""
    plain = type_.value_type if kinds.is_dictionary(type_) else type_
    return bool(kinds.is_string(plain) or kinds.is_large_string(plain))


def _is_list(kinds: Any, type_: Any) -> bool:
    """Whether a column holds lists of numbers."""
    tests = (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list)
    return any(test(type_) for test in tests) and bool(
        kinds.is_floating(type_.value_type) or kinds.is_integer(type_.value_type)
    )


def _even(rows: list[Any], where: str) -> NDArray[Any]:
    width = len(rows[0] or ()) if rows else 0
    for number, row in enumerate(rows):
        if row is None or len(row) != width or None in row:
            raise InputError(
                f"the vector is not one of {width} numbers, as in row 0",
                where=f"{where}, row {number} (from 0)",
                remedy="write rows of one length",
            )
    return np.array(rows, np.float32)
