"""A measure of all captions for all images: the matrix phi(image, caption).

Conventions
-----------
Rows are images, each with its references, and columns are captions. Alternatively, each reference
is a row of its own. An entry is the value that the measure gives the caption as a candidate for the
image. Unless document frequencies are given, they are counted over the images of the matrix, each
once. Rows are computed in blocks whose boundaries depend only on the shape and the memory limit.

Functions
---------
``caption_matrix`` returns the matrix, in memory or in a file. ``caption_blocks`` yields its rows in
blocks. ``caption_top_k`` returns the largest entries without storing the matrix.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.option_keywords import takes_options
from semmetrics.errors import Fact
from semmetrics.kinds.captions.pair_job import MAX_BYTES_PER_BLOCK, PairJob, Progress
from semmetrics.metrics.definition import Measure


@takes_options()
def caption_matrix(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    *,
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    out: str | os.PathLike[str] | None = None,
    memory: int = MAX_BYTES_PER_BLOCK,
    dtype: Literal["float64", "float32"] = "float64",
    resume: bool = True,
    progress: Progress | None = None,
    notes: list[Fact] | None = None,
    **options: Any,
) -> NDArray[np.floating[Any]]:
    """Return the matrix of a measure: every caption for every image.

    Parameters
    ----------
    references : sequence of sequences of str
        The references of each image, at least one per image. They are the first argument, unlike
        in ``score``, because a row of the matrix is an image.
    captions : sequence of str
    measure : str or Measure
        CIDEr-D, CIDEr, METEOR, SPICE or BagSim, with options.
    rows : {"images", "references"}
        Whether a row is an image with all its references, or a single reference.
    out : path, optional
        A .npy file to write the matrix to. The file appears when the matrix is complete. Until
        then, the numbers are in a file with the extension ``.part`` and the progress is in a file
        with the extension ``.blocks``. A run that was killed is continued and has exactly the
        result of an uninterrupted run.
    memory : int
        The bytes for a block and its temporary arrays, not counting the matrix.
    dtype : {"float64", "float32"}
        The type of the result. Everything is computed in float64.
    resume : bool
        Whether to continue a run that was killed. An existing file ``out`` is then an error. If
        False, everything is computed and replaces the file. A run with a function without a
        version (a tokenizer, embedding or parser) is never continued, because the function may
        have changed.
    progress : callable, optional
        Called with the number of finished rows and the number of all rows.
    notes : list, optional
        Notes on problems are added to this list, such as damaged parses in a cache.
    **options

    Returns
    -------
    array, shape (rows, captions)
        Within the bounds of the measure. If ``out`` is given, a read-only memory map of the file.

    Raises
    ------
    InputError
        If an image has no reference, there is no matrix of the measure, or ``out`` exists already,
        was begun with other inputs, cannot be written, or is being written by another run.

    Examples
    --------
    >>> references = [["a cat sits on a mat"], ["two dogs run on a beach"], ["a man rides a bike"]]
    >>> captions = ["a cat sits on a mat", "dogs run"]
    >>> caption_matrix(references, captions, tokenizer="whitespace").round(3).tolist()
    [[10.0, 0.0], [0.177, 2.376], [0.0, 0.0]]
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, dtype, notes)
    return job.matrix(out, resume=resume, progress=progress)


@takes_options()
def caption_blocks(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    *,
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    memory: int = MAX_BYTES_PER_BLOCK,
    dtype: Literal["float64", "float32"] = "float64",
    **options: Any,
) -> Iterator[tuple[int, NDArray[np.floating[Any]]]]:
    """Yield the rows of ``caption_matrix`` in blocks.

    Parameters
    ----------
    references, captions, measure, rows, memory, dtype
        As for ``caption_matrix``.
    **options

    Yields
    ------
    start : int
        The first row of the block.
    block : array, shape (rows of the block, captions)
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, dtype)
    for start, stop in job.bounds:
        yield start, job.block(start, stop)


@takes_options()
def caption_top_k(
    references: Sequence[Sequence[str]],
    captions: Sequence[str],
    k: int,
    *,
    axis: Literal["captions", "images"] = "captions",
    measure: str | Measure = "CIDEr-D",
    rows: Literal["images", "references"] = "images",
    memory: int = MAX_BYTES_PER_BLOCK,
    notes: list[Fact] | None = None,
    **options: Any,
) -> tuple[Floats, Ints]:
    """Return the k largest entries of each row or column of ``caption_matrix``.

    The matrix is not stored.

    Parameters
    ----------
    references, captions, measure, rows, memory
        As for ``caption_matrix``.
    k : int
    axis : {"captions", "images"}
        Whether to return the k best captions of each row, or the k best rows of each caption.
    notes : list, optional
        Notes on problems are added to this list, as by ``caption_matrix``.
    **options

    Returns
    -------
    values, positions : arrays, shape (rows, k) or (captions, k)
        The values are rounded to 12 decimals and descending. Equal values are in the order of
        their positions.

    Raises
    ------
    InputError
        If k is not between 1 and the number of captions or images.

    Examples
    --------
    >>> references = [["a cat sits on a mat"], ["two dogs run on a beach"], ["a man rides a bike"]]
    >>> caption_top_k(references, ["dogs run", "a cat sits"], 1, tokenizer="whitespace")[1].tolist()
    [[1], [0], [0]]
    """
    job = PairJob.of(references, captions, measure, options, rows, memory, notes=notes)
    return job.top_k(k, axis)
