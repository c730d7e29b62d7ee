"""Classes: images that have one class each, beside labels or scores; how both are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths as lengths
from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix, is_membership, members
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
    numbered=True,
    by_block=True,
)


def as_classes(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str] | None = None,
    options: ReadOptions | None = None,
) -> Lists | Matrix:
    """Read the classes of images, or the scores of classes, from whatever holds them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. An array of images x classes holds scores;
        a vector of whole numbers, or a sequence, has a class for each image. A mapping from id has
        a class, a list of classes, the first one first, or ``{class: score}``. Whole numbers are
        names, or places in the class list.
    source : str
        What messages call it; of a path that is the path.
    classes : sequence of str, optional
        The names of a matrix's columns.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists or Matrix
        Whether the numbers of a dense matrix are finite is checked where they are used.

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_classes(["cat", "dog"]).to_list(), as_classes([3, 0]).to_list()
    ([['cat'], ['dog']], [['3'], ['0']])
    >>> as_classes([[0.9, 0.1]], classes=["cat", "dog"]).vocabulary
    ['cat', 'dog']
    """
    found = as_data(data, FORM, source=source, names=classes, options=options)
    entry = next((one for one in found.vocabulary if type(one) is tuple), None)
    if entry is not None:
        raise InputError(
            "wrong-type", found.source, value=list(entry), wanted="one class name"
        )
    if isinstance(found, Matrix):
        return replace(found, understood=f"{found.understood}, scores of classes")
    return found


def as_truth(found: Lists | Matrix) -> Lists:
    """Return the class of each image.

    Parameters
    ----------
    found : Lists or Matrix
        A matrix holds 0/1.

    Raises
    ------
    InputError
        If an image has no class, or several; names it.

    Examples
    --------
    >>> as_truth(as_classes({"a": "cat", "b": "dog"})).to_list()
    [['cat'], ['dog']]
    """
    if isinstance(found, Matrix):
        if not is_membership(found):
            raise InputError("truth-of-scores", found.source)
        found = members(found)
    number = found.side.sizes
    wrong = np.flatnonzero(number != 1)
    if len(wrong) and found.has_fractions:
        raise InputError("truth-of-class-scores", found.source)
    if len(wrong):
        row = int(wrong[0])
        n = int(number[row])
        code, values = "several-classes" if n else "wrong-count", {"found": "0 classes"}
        raise InputError(code, found.where(row), n=n, wanted="an image", **values)
    return found


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Tell how likely it is that the data are classes, which nothing makes certain.

    A matrix beside a name or a number for each row could be nothing else.
    """
    first, second = [*(one.shape for one in samples), ""][:2]
    if first == "matrix" and second in ("strings", "vector", "text"):
        return Verdict(Certainty.ASK)
    if first == second == "strings" and all(one.is_single_words for one in samples):
        return Verdict(Certainty.POSSIBLE, "single words")
    return Verdict(Certainty.NO)
