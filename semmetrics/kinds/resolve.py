"""What two inputs hold, labels or captions, where nobody has said.

Conventions
-----------
Files and objects that can only be the one or the other say so themselves: matrices, scores, COCO
instances and columns of labels; plain text, columns of captions, and COCO captions. Otherwise lists
of strings on both sides are labels, and a string for each item on either side makes them captions.
Lists that hold sentences on both sides, or single words where strings stand for lists, could be
either, and that is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from semmetrics.data.coco import is_coco, is_coco_captions
from semmetrics.data.form import DEFAULTS, Form, ReadOptions
from semmetrics.data.inputs import Sample, sample_of
from semmetrics.errors import InputError
from semmetrics.kinds.captions.reading import FORM as CAPTIONS
from semmetrics.kinds.labels.reading import FORM as LABELS

__all__ = ["Kind", "kind_of", "kind_of_one"]

_ANY = Form(noun="item", columns=(), keys=())
_FORMS: dict[str, Literal["labels", "captions", "strings", "lists"]] = {
    "strings": "strings",
    "lists": "lists",
    "text": "captions",
}
_PHRASE, _SENTENCE = 2.5, 5.0  # mean words: above those of labels, and those of captions
_REMEDY = "say task='labels' or task='captions' (on the command line --task)"


@dataclass(frozen=True)
class Kind:
    """What is evaluated, and why.

    Attributes
    ----------
    task : {"labels", "captions"}
    understood : str
        What each side was taken for.
    sure : bool
        Whether it could hardly be the other.
    """

    task: Literal["labels", "captions"]
    understood: str
    sure: bool = True


@dataclass(frozen=True)
class _Shape:
    """One side: "labels", "captions", or strings alone that could be either."""

    form: Literal["labels", "captions", "strings", "lists"]
    what: str
    sample: Sample


def kind_of(pred: Any, ref: Any, *, options: ReadOptions | None = None) -> Kind:
    """Tell from a sample of both sides whether labels or captions are evaluated.

    Parameters
    ----------
    pred, ref : Source, path, or what `as_labels` and `as_captions` take
        Of paths only those of ``open_input`` are not read again by the readers.
    options : ReadOptions, optional

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        If both are possible, the sides are of different kinds, or a file cannot be read.

    Examples
    --------
    >>> kind_of({"a": ["cat"]}, {"a": ["cat", "dog"]}).task
    'labels'
    >>> kind = kind_of({"a": "a cat sleeps"}, {"a": ["the cat sleeps"]})
    >>> kind.task, kind.understood
    ('captions', 'predictions: a string an item; ground truth: lists of strings')
    """
    options = options or DEFAULTS
    mine, theirs = (_shape(side, options) for side in (pred, ref))
    forms = {mine.form, theirs.form}
    understood = f"predictions: {mine.what}; ground truth: {theirs.what}"
    if {"labels", "captions"} <= forms:
        raise InputError(f"the two sides are of different kinds: {understood}", remedy=_REMEDY)
    if "labels" in forms:
        return Kind("labels", understood)
    if "captions" in forms:
        return Kind("captions", understood)
    if "strings" in forms:
        if mine.sample.is_single_words and theirs.sample.is_single_words:
            raise InputError(
                f"single words could be labels or captions: {understood}",
                remedy='write labels as lists, ["cat"], also one label; or ' + _REMEDY,
            )
        return Kind("captions", understood)
    words = mine.sample.words, theirs.sample.words
    if min(words) >= _SENTENCE:
        raise InputError(
            f"lists of sentences could be labels or captions: {words[0]:.1f} words on average "
            f"in the predictions, {words[1]:.1f} in the ground truth",
            remedy=_REMEDY,
        )
    return Kind("labels", understood)


def kind_of_one(data: Any, *, options: ReadOptions | None = None) -> Kind:
    """Tell what one side holds, where there is no other; lists of sentences are captions.

    Parameters
    ----------
    data : Source, path, or what `as_labels` and `as_captions` take
    options : ReadOptions, optional

    Returns
    -------
    Kind

    Raises
    ------
    InputError
        If a file cannot be read.

    Examples
    --------
    >>> kind_of_one({"a": ["a man rides a brown horse"]})
    Kind(task='captions', understood='lists of strings of 6.0 words on average', sure=False)
    >>> kind_of_one({"a": ["ice cream", "cat"]}).task
    'labels'
    """
    options = options or DEFAULTS
    shape = _shape(data, options)
    if shape.form != "lists":
        return Kind("labels" if shape.form == "labels" else "captions", shape.what)
    understood = f"{shape.what} of {shape.sample.words:.1f} words on average"
    task: Literal["labels", "captions"] = (
        "captions" if shape.sample.words >= _SENTENCE else "labels"
    )
    return Kind(task, understood, sure=shape.sample.words < _PHRASE)


def _shape(data: Any, options: ReadOptions) -> _Shape:
    sample = sample_of(data, _ANY, options)
    what, form = sample.what, _FORMS.get(sample.shape, "labels")
    if sample.noun is not None:
        form = "captions" if sample.noun == CAPTIONS.noun else "labels"
    elif sample.value is not None and is_coco_captions(sample.value):
        what, form = "COCO captions", "captions"
    elif sample.value is not None and is_coco(sample.value):
        what, form = "COCO instances", "labels"
    elif sample.shape in ("columns", "keys") and _captions_named(sample, options):
        form = "captions"
    return _Shape(form, what, sample)


def _captions_named(sample: Sample, options: ReadOptions) -> bool:
    """Tell from the names of columns or keys whether they have captions, and no labels."""
    records = sample.shape == "keys"
    captions = _plays(sample.names, CAPTIONS, options, records=records)
    if options.caption_column is None:
        return captions and not _plays(sample.names, LABELS, options, records=records)
    return captions


def _plays(names: Sequence[str], form: Form, options: ReadOptions, *, records: bool) -> bool:
    chosen = options.column(form.noun)
    if chosen is not None:
        return chosen in names
    known = form.keys if records else form.columns
    return any(name.strip().casefold() in known for name in names)
