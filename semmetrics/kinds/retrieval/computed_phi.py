"""Compute phi, a measure of all captions for all images, from the captions of a gallery.

Conventions
-----------
Rows are images and columns are captions. The references of an image are the captions of its
positives, in their order. The matrix has exactly the values of `semmetrics.caption_matrix` for
these references and captions, computed in the same blocks. Document frequencies are counted over
the images that are ranked, each once.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.lists import Lists
from semmetrics.data.rankings import fingerprint
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.base import Options
from semmetrics.kinds.captions import as_texts
from semmetrics.kinds.captions.pair_job import PAIR_MEASURES, PairJob, options_taken
from semmetrics.kinds.retrieval.captioned_truth import CAPTIONS, CaptionedTruth
from semmetrics.options import OPTIONS_OF_FUNCTION

MATRIX_OPTIONS = [
    name
    for name, option in OPTIONS_OF_FUNCTION["caption_matrix"].items()
    if option.kinds
]
"""The options that only a computed phi uses."""
MAX_BYTES_IN_MEMORY = 1 << 30
"""The size of a matrix above which it is in a temporary file."""


def is_pair_measure(phi: Any) -> bool:
    """Return whether a phi is a measure to compute, and not a matrix or a file.

    Examples
    --------
    >>> is_pair_measure("CIDEr(stem=porter)"), is_pair_measure("phi.npy")
    (True, False)
    """
    if not isinstance(phi, str):
        return False
    return phi.partition("(")[0] in PAIR_MEASURES and not Path(phi).exists()


def read_caption_texts(options: Options) -> Lists | None:
    """Read the captions, with one text for each id.

    Raises
    ------
    InputError
        If an id has several texts, so that it is the id of an image, or if options for computing
        phi are given and captions are not.
    """
    if options.captions is None:
        for name in MATRIX_OPTIONS:
            if name in options.set_by_user:
                what = f"{name}= in retrieval"
                raise InputError("needs-option", what=what, name=CAPTIONS)
        return None
    captions = as_texts(options.captions, source=CAPTIONS, options=options.read)
    wrong_rows = np.flatnonzero(captions.side.sizes != 1)
    if len(wrong_rows):
        where = captions.where(int(wrong_rows[0]))
        raise InputError("not-one-text", where, n=len(wrong_rows))
    return captions


class ComputedPhi(NamedTuple):
    """A matrix of a measure.

    Attributes
    ----------
    values : float64 array, shape (images, captions)
        A memory map if it is large.
    identity : str
        Its shape, a hash of its values, and how it was computed.
    """

    values: Any
    identity: str


def compute_phi(
    measure: str, truth: CaptionedTruth, options: Options, notes: list[Fact]
) -> ComputedPhi:
    """Compute a measure of all captions for all images that have positives.

    Parameters
    ----------
    measure : str
        The measure, with options.
    truth : CaptionedTruth
    options : ResolvedOptions
    notes : list
        Notes on problems are added to this list.

    Raises
    ------
    InputError
        If captions are missing, no image has positives, or the measure cannot be computed.
    """
    references, captions = truth.texts()
    options_of_matrix = {}
    for name in options_taken(measure):
        if name in options.set_by_user:
            options_of_matrix[name] = options.value(name)
    if not references:
        remedy = "give the positives of images (rows)"
        raise InputError(
            "nothing-given",
            truth.positives.source,
            what="images with positives",
            remedy=remedy,
        )
    job = PairJob.of(references, captions, measure, options_of_matrix, notes=notes)
    values = _compute_matrix(job, options.progress)
    return ComputedPhi(values, f"{fingerprint(values)};{job.identity}")


def _compute_matrix(job: PairJob, progress: Any) -> Any:
    """Return the matrix, in memory or, if it is large, in a file that is deleted with it."""
    n_rows, n_columns = job.shape
    if 8 * n_rows * n_columns <= MAX_BYTES_IN_MEMORY:
        return job.matrix(progress=progress)
    folder = tempfile.TemporaryDirectory(
        prefix="semmetrics-phi-", ignore_cleanup_errors=True
    )
    with folder as path:
        matrix = job.matrix(Path(path) / "phi.npy", progress=progress)
    # Most systems delete the file here, and the memory map keeps the numbers. Others delete it only
    # when it is not mapped any more.
    if Path(path).exists():
        weakref.finalize(matrix, shutil.rmtree, path, ignore_errors=True)
    return matrix
