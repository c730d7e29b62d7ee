"""Read embeddings of queries and of a gallery, whose similarities are a run."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from semmetrics.core.backend import find_device, is_torch, to_device
from semmetrics.data.matrix import Matrix, check_finite
from semmetrics.data.rankings import Products
from semmetrics.errors import InputError
from semmetrics.kinds import note_builders
from semmetrics.kinds.options import ResolvedOptions

EMBEDDINGS = ("queries_embeddings", "gallery_embeddings")
"""The options that give the vectors of both sides."""
_MAX_NUMBERS_PER_BLOCK = 1 << 18  # they stay in a cache of the CPU


class Embeddings(Matrix):
    """Vectors of queries and of a gallery. The values, `Products`, are their similarities."""

    @property
    def contents(self) -> tuple[int, str]:
        """The number of vectors of both sides, and the noun for them."""
        return sum(self.values.shape), "vector"


def read_embeddings(options: ResolvedOptions) -> Embeddings:
    """Read the vectors of both sides, as the options name them.

    Raises
    ------
    InputError
        If only one side is given, the dimensions differ, or a number is not finite.
    """
    for name, other in (EMBEDDINGS, EMBEDDINGS[::-1]):
        if options.value(name) is None:
            raise InputError("needs-option", what=other, name=name)
    queries_option, gallery_option = EMBEDDINGS
    queries = _read_vectors(queries_option, options)
    gallery = _read_vectors(gallery_option, options)
    n_dimensions = queries.shape[1]
    if gallery.shape[1] != n_dimensions:
        wanted = f"vectors of {n_dimensions} dimensions, like the queries"
        raise InputError(
            "wrong-shape",
            gallery_option,
            role="the gallery",
            shape=gallery.shape,
            wanted=wanted,
        )
    dtype = np.result_type(queries.dtype, gallery.dtype)
    notes: list[Any] = []
    if options.similarity == "cosine":
        queries, n_zero_queries = _scale_to_unit_length(queries, dtype)
        gallery, n_zero_candidates = _scale_to_unit_length(gallery, dtype)
        n_zeros = n_zero_queries + n_zero_candidates
        notes = list(note_builders.counted("zero-length-vectors", n_zeros))
    device = _choose_device(options)
    queries = to_device(np.ascontiguousarray(queries, dtype), device)
    gallery = to_device(np.ascontiguousarray(gallery, dtype), device)
    n_vectors = f"{len(queries):,} x {len(gallery):,}"
    size = f"{n_vectors} of {n_dimensions:,} dimensions, {dtype}"
    return Embeddings(
        Products(queries, gallery),
        ids=range(len(queries)),
        vocabulary=(),
        source=_name_source(options),
        understood=f"embeddings, {size}, compared by {options.similarity}",
        notes=notes,
        named=False,
    )


def _read_vectors(name: str, options: ResolvedOptions) -> Any:
    """Return the vectors that an option gives as a float array, shape (vectors, dimensions)."""
    vectors = options.value(name)
    values: Any
    if isinstance(vectors, (str, os.PathLike)):
        from semmetrics.data.side_inputs import read_dense

        formats = ("npy", "npz", "hdf5")
        values = read_dense(
            vectors, options.read.for_side_inputs(), "vectors are", formats
        )
    else:
        from semmetrics.data.objects import plain_matrix

        values = plain_matrix(vectors, name)
        if values.dtype.kind == "f":
            check_finite(values, name)
    if not values.size:
        raise InputError(
            "wrong-shape", name, role="it", shape=values.shape, wanted="vectors"
        )
    if values.dtype.kind != "f" or values.dtype == np.float16:
        return values.astype(np.float32)
    return values


def _scale_to_unit_length(vectors: Any, dtype: Any) -> tuple[Any, int]:
    """Scale vectors to length 1, and count the vectors of length 0, which stay as they are."""
    scaled = np.empty(vectors.shape, dtype)
    n_zeros = 0
    step = max(1, _MAX_NUMBERS_PER_BLOCK // vectors.shape[1])
    for start in range(0, len(vectors), step):
        block = np.asarray(vectors[start : start + step], np.float64)
        largest = np.abs(block).max(axis=1)
        n_zeros += int((largest == 0).sum())
        # Divide by the largest number first, so that squares are finite.
        block = block / np.where(largest > 0, largest, 1.0)[:, None]
        lengths = np.sqrt(np.einsum("ij,ij->i", block, block))
        lengths = np.where(lengths > 0, lengths, 1.0)
        scaled[start : start + step] = block / lengths[:, None]
    return scaled, n_zeros


def _choose_device(options: ResolvedOptions) -> Any:
    """Return the device of the option, or else the device of the queries, or None for NumPy."""
    if options.device:
        return find_device(options.device)
    queries = options.value(EMBEDDINGS[0])
    if is_torch(queries):
        return find_device(str(queries.device))
    return None


def _name_source(options: ResolvedOptions) -> str:
    """Return the paths of the vectors, for messages."""
    paths = []
    for name in EMBEDDINGS:
        value = options.value(name)
        if isinstance(value, str):
            paths.append(value)
    return " and ".join(paths) or "embeddings"
