"""Read or compute the matrices phi, each once for a score.

Rows are images and columns are captions.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.class_lists import check_classes
from semmetrics.data.matrix import Matrix
from semmetrics.data.pair_values import IDS_SUFFIX, read_pair_ids
from semmetrics.data.rankings import PHI, fingerprint
from semmetrics.errors import Fact, InputError, format_place
from semmetrics.kinds import embeddings
from semmetrics.kinds.base import Options
from semmetrics.kinds.captions.pair_job import PAIR_MEASURES
from semmetrics.kinds.retrieval import as_candidates
from semmetrics.kinds.retrieval.captioned_truth import CaptionedTruth
from semmetrics.kinds.retrieval.computed_phi import compute_phi, is_pair_measure
from semmetrics.kinds.retrieval.named_run import check_size
from semmetrics.metrics.registry import kinds_of


class PhiMatrix(NamedTuple):
    """A matrix as it was read or computed.

    Attributes
    ----------
    origin : object
        The array or path that the user gave, or the measure that was computed.
    values : array, shape (images, captions)
    images, captions : list of str or None
        The ids of its rows and columns.
    identity : str
        Its shape and a hash of its values, and how it was computed.
    source : str
        Its name in messages.
    is_computed : bool
    """

    origin: Any
    values: Any
    images: list[str] | None
    captions: list[str] | None
    identity: str
    source: str
    is_computed: bool = False

    def is_of(self, measure: str, images: list[str], captions: list[str]) -> bool:
        """Return whether this is a measure of these images and captions, computed before."""
        if not self.is_computed or self.origin != measure:
            return False
        return self.images == images and self.captions == captions


@dataclass
class OpenedPhi:
    """The matrices that were read and computed for the options of a score.

    Attributes
    ----------
    matrices : dict from name of phi to PhiMatrix
    obstacles : dict from name of phi to str
        Why a phi that a protocol names cannot be computed. Empty if it can.
    notes : list of Fact
        Notes from computing them.
    """

    matrices: dict[str, PhiMatrix] = field(default_factory=dict)
    obstacles: dict[str, str] = field(default_factory=dict)
    notes: list[Fact] = field(default_factory=list)


def opened_phi(options: Options) -> OpenedPhi:
    """Return the matrices that were opened for the options so far."""
    opened: OpenedPhi = options.opened.setdefault(PHI, OpenedPhi())
    return opened


def read_phi(name: str, truth: CaptionedTruth | None, options: Options) -> PhiMatrix:
    """Read or compute the matrix with a name, unless that was done before."""
    opened = opened_phi(options)
    origin = _find_origin(name, truth, options)
    matrix = opened.matrices.get(name)
    if truth is None or not is_pair_measure(origin):
        if matrix is None or matrix.origin is not origin:
            matrix = _open_phi(name, origin, options)
            opened.matrices[name] = matrix
        return matrix
    images = truth.images()
    captions = truth.gallery()
    # Another system may have ranked other images or captions.
    if matrix is not None and matrix.is_of(origin, images, captions):
        return matrix
    values, identity = compute_phi(origin, truth, options, opened.notes)
    matrix = PhiMatrix(
        origin, values, images, captions, identity, f"phi {origin}", is_computed=True
    )
    opened.matrices[name] = matrix
    return matrix


def _find_origin(name: str, truth: CaptionedTruth | None, options: Options) -> Any:
    """Return the phi with a name: a matrix, a path, or a measure to compute.

    Raises
    ------
    InputError
        If there is none, or phi cannot be computed without captions.
    """
    origin = _look_up_phi(name, has_captions=truth is not None, options=options)
    if truth is None and is_pair_measure(origin):
        raise InputError("phi-without-captions", measure=origin)
    return origin


def _look_up_phi(name: str, *, has_captions: bool, options: Options) -> Any:
    """Return the phi of the user with a name, or the file or measure that the name is.

    The name "default" means the only phi of the user or, if captions are given, a measure.
    """
    phi_by_name = embeddings.by_name(options.phi)
    if name == "default" and len(phi_by_name) == 1:
        (name,) = phi_by_name
    if name in phi_by_name:
        return phi_by_name[name]
    if name == "default":
        if phi_by_name:
            raise InputError("several-phi", names=phi_by_name)
        if not has_captions:
            raise InputError("needs-option", what="a measure of phi", name="phi")
        return PAIR_MEASURES[0]
    if Path(name).exists() or is_pair_measure(name):
        return name
    remedy = f"give it: phi={{{name!r}: ...}} (--phi {name}=FILE)"
    raise InputError("unknown-name", what="phi", value=name, remedy=remedy)


def _open_phi(name: str, origin: Any, options: Options) -> PhiMatrix:
    """Read a matrix and, if it has some, the ids of its rows and columns."""
    # Measures that have a matrix are computed and do not get here.
    if _is_other_measure(origin):
        raise InputError("bad-choice", name="phi", value=origin, choices=PAIR_MEASURES)
    data = origin
    if isinstance(origin, list | tuple):
        # Otherwise, integers in rows would be read as names.
        data = np.asarray(origin, np.float64)
    matrix = as_candidates(data, source=f"phi {name}", options=options.read)
    if not isinstance(matrix, Matrix) or matrix.is_sparse:
        raise InputError(
            "wrong-format",
            matrix.source,
            what="phi",
            format=matrix.understood,
            wanted="an array, or a .npy file",
        )
    images, captions = _find_ids(origin, matrix, options)
    identity = fingerprint(matrix.values)
    return PhiMatrix(origin, matrix.values, images, captions, identity, matrix.source)


def _is_other_measure(origin: Any) -> bool:
    """Return whether a phi is the name of a measure that has no matrix."""
    if not isinstance(origin, str) or not kinds_of(origin.partition("(")[0]):
        return False
    return not Path(origin).exists()


def _find_ids(
    origin: Any, matrix: Matrix, options: Options
) -> tuple[list[str] | None, list[str] | None]:
    """Return the ids of images and captions: in a file next to the matrix, or its own."""
    if isinstance(origin, str | os.PathLike):
        ids_path = f"{os.fspath(origin)}{IDS_SUFFIX}"
        if Path(ids_path).exists():
            return _read_ids(ids_path, matrix, options)
    images = [str(name) for name in matrix.ids] if matrix.has_ids else None
    captions = [str(name) for name in matrix.vocabulary] if matrix.named else None
    return images, captions


def _read_ids(
    path: str, matrix: Matrix, options: Options
) -> tuple[list[str], list[str]]:
    """Read the ids of the rows and columns of a matrix from the file next to it."""
    image_ids, caption_ids = read_pair_ids(path, options.read)
    images = [str(image_id) for image_id in image_ids]
    captions = [str(caption_id) for caption_id in caption_ids]
    check_classes(images, format_place(path, "images"), noun="id")
    check_classes(captions, format_place(path, "captions"), noun="id")
    n_rows, n_columns = matrix.values.shape
    check_size(len(images), n_rows, path, "row", -1, "id")
    check_size(len(captions), n_columns, path, "column", -1, "id")
    return images, captions
