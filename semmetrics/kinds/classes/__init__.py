"""Classes: images with one class each, and predicted classes or scores of classes.

This module reads and recognises them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.data.form import Form
from semmetrics.data.inputs import as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, is_membership, members
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.samples import Sample
from semmetrics.errors import InputError
from semmetrics.kinds.recognition import Certainty, Verdict
from semmetrics.options import FORMATS

_NAMES = (
    "label",
    "labels",
    "class",
    "classes",
    "target",
    "targets",
    "prediction",
    "predictions",
    "predicted",
    "truth",
    "category",
    "name",
)
FORM = Form(
    noun="label",
    columns=_NAMES,
    keys=_NAMES,
    formats=tuple(name for name, kinds in FORMATS.items() if "classes" in kinds),
    scored=True,
    single=True,
    integers_as_names=True,
    checked_by_block=True,
)


def as_classes(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str] | None = None,
    options: ReadOptions | None = None,
) -> Lists | Matrix:
    """Read the classes of images, or scores of classes, from a file or an object.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. An array of images x classes has scores. A
        vector of integers, or a sequence, has a class for each image. A mapping from id has a
        class, a list of classes with the best one first, or ``{class: score}``. Integers are names,
        or positions in the class list.
    source : str
        The name of an object in messages. A path is called by its own name.
    classes : sequence of str, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix
        The numbers of a dense matrix are not checked for being finite. Their users do that.

    Raises
    ------
    InputError
        If the input is of another kind, or its content is wrong.

    Examples
    --------
    >>> as_classes(["cat", "dog"]).to_list(), as_classes([3, 0]).to_list()
    ([['cat'], ['dog']], [['3'], ['0']])
    >>> as_classes([[0.9, 0.1]], classes=["cat", "dog"]).vocabulary
    ['cat', 'dog']
    """
    run = as_data(data, FORM, source=source, names=classes, options=options)
    for entry in run.vocabulary:
        if type(entry) is tuple:
            value = list(entry)
            raise InputError(
                "wrong-type", run.source, value=value, wanted="one class name"
            )
    if isinstance(run, Matrix):
        return replace(run, understood=f"{run.understood}, scores of classes")
    return run


def as_truth(data: Lists | Matrix) -> Lists:
    """Return the class of each image.

    Parameters
    ----------
    data : Lists or Matrix
        A matrix has 1 for the class of an image and 0 for the others.

    Raises
    ------
    InputError
        If an image has no class, or several. The message names the image.

    Examples
    --------
    >>> as_truth(as_classes({"a": "cat", "b": "dog"})).to_list()
    [['cat'], ['dog']]
    """
    if isinstance(data, Matrix):
        if not is_membership(data):
            raise InputError("truth-of-scores", data.source)
        data = members(data)
    sizes = data.side.sizes
    wrong_rows = np.flatnonzero(sizes != 1)
    if not len(wrong_rows):
        return data
    if data.has_fractions:
        raise InputError("truth-of-class-scores", data.source)
    row = int(wrong_rows[0])
    n_classes = int(sizes[row])
    code = "several-classes" if n_classes else "wrong-count"
    raise InputError(
        code, data.where(row), n=n_classes, wanted="an image", found="0 classes"
    )


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Return how certain it is that the data are classes.

    A matrix with a name or number for each row can only be scores of classes with the classes of
    images, but the user has to confirm it.
    """
    shapes = [sample.shape for sample in samples]
    first = shapes[0]
    second = shapes[1] if len(shapes) > 1 else ""
    if first == "matrix" and second in ("strings", "vector", "text"):
        return Verdict(Certainty.ASK)
    are_strings = first == second == "strings"
    if are_strings and all(sample.is_single_words for sample in samples):
        return Verdict(Certainty.POSSIBLE, "single words")
    return Verdict(Certainty.NO)
