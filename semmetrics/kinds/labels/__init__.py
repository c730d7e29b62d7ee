"""Label sets: the labels of each item, such as the objects in an image.

This module reads label sets, and recognises them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from semmetrics.data.form import Form
from semmetrics.data.inputs import as_data
from semmetrics.data.lists import Lists
from semmetrics.data.public import is_coco, is_coco_captions, read_coco_labels
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.samples import Sample
from semmetrics.kinds.labels.numbered_labels import name_numbers
from semmetrics.kinds.labels.read_scores import (
    as_members,
    find_unlike_scores,
    read_matrix,
    with_marks,
)
from semmetrics.kinds.recognition import Certainty, Verdict, names_entries
from semmetrics.options import FORMATS

FORM = Form(
    noun="label",
    columns=("label", "labels", "name", "names", "class", "category", "tag", "tags"),
    keys=("labels", "names", "tags", "categories"),
    formats=tuple(name for name, kinds in FORMATS.items() if "labels" in kinds),
    coco=read_coco_labels,
    is_coco=is_coco,
    scored=True,
)
_MIN_SENTENCE = 5.0  # mean words from which lists of strings could be captions


def as_labels(
    data: Any,
    *,
    source: str = "input",
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
) -> Lists:
    """Read label lists.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, array, tensor, sparse matrix or Arrow stream
        A path (str or PathLike) is read by its format. A mapping or a Series has ids. A sequence
        of label lists is identified by position. A sequence of records, a frame or a mapping of
        columns has ids and labels. An array, tensor or scipy.sparse matrix of items x classes, and
        a frame of numbers, contain 0/1, or scores as floats. A set of labels is sorted.
    source : str
        The name of the input in messages.
    classes : sequence, optional
        The names of a matrix's columns, and of labels that are numbers. These are positions from 0,
        unless one of the names is a number. Rows with 0 or 1 for each class are a matrix.
    options : ReadOptions, optional
        How files are read.

    Returns
    -------
    Lists
        ``ranked`` if every class has a score, and nothing states which of them are predicted.

    Raises
    ------
    InputError
        If the input is of another kind, or its content is invalid.

    Examples
    --------
    >>> as_labels({"a": ["cat", "dog"], "b": []}).to_list()
    [['cat', 'dog'], []]
    """
    return read_labels(data, source, classes, options)


def read_labels(
    data: Any,
    source: str,
    classes: Sequence[str | Sequence[str]] | None = None,
    options: ReadOptions | None = None,
    unknown: tuple[float, ...] = (),
    *,
    scores: str | None = None,
) -> Lists:
    """Read label lists as `as_labels` does, or a ground truth with cells that nobody verified.

    Parameters
    ----------
    data, source, classes, options
        As for `as_labels`.
    unknown : tuple of float
        The values of cells that nobody verified. If there are any, the scores of the result are
        marks.
    scores : {"members", "values"}, optional
        Whether scores of only 0 and 1 are members, which mean whether an item has a label, or
        scores. Without it, they are members if some are 0, and a matrix of 0 and 1 has members.
    """
    form = replace(FORM, integers_as_positions=classes is not None, unknown=unknown)
    labels = as_data(data, form, source=source, names=classes, options=options)
    if unknown:
        return with_marks(labels, unknown)
    if not isinstance(labels, Lists):
        return read_matrix(labels, scores)
    if classes is not None and not labels.by_category:
        labels = name_numbers(labels, classes)
    unlike = find_unlike_scores(labels)
    n_unlike_labels = unlike[0]
    if n_unlike_labels:
        labels = replace(labels, unlike=unlike)
    if scores == "values":
        return labels
    if scores == "members":
        return as_members(labels)
    return labels.chosen()


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Return how certain it is that data are labels: lists of strings that are not sentences."""
    if any(map(_is_certain, samples)):
        certainty = Certainty.CERTAIN
        if any(sample.read.caption_column is not None for sample in samples):
            certainty = Certainty.LIKELY
        return Verdict(certainty, whats=tuple(map(_describe, samples)))
    shapes = {sample.shape for sample in samples}
    if "strings" in shapes and all(sample.is_single_words for sample in samples):
        return Verdict(Certainty.POSSIBLE, "single words")
    if shapes != {"lists"}:
        return Verdict(Certainty.NO)
    if _are_sentences(samples):
        return Verdict(Certainty.POSSIBLE, "lists of sentences")
    return Verdict(Certainty.LIKELY)


def _are_sentences(samples: Sequence[Sample]) -> bool:
    """Return whether the strings of all sides have many words."""
    n_words = min(sample.words for sample in samples)
    return n_words >= _MIN_SENTENCE


def _is_certain(sample: Sample) -> bool:
    """Return whether a side contains labels for certain."""
    if sample.noun is not None:
        return sample.noun == FORM.noun
    if sample.shape in ("columns", "keys"):
        return names_entries(sample, FORM)
    document = sample.value or {}
    if is_coco_captions(document):
        return False
    return sample.shape in ("entries", "matrix", "other") or is_coco(document)


def _describe(sample: Sample) -> str:
    """Return a description of a side."""
    if is_coco(sample.value or {}):
        return "COCO instances"
    return sample.what
