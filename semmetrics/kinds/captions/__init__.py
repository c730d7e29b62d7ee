"""Captions: sentences about an image. This module reads and recognises them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from semmetrics.data import coco_files
from semmetrics.data.form import Form
from semmetrics.data.inputs import as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.data.read_options import ReadOptions
from semmetrics.data.samples import Sample
from semmetrics.errors import InputError
from semmetrics.kinds.recognition import Certainty, Verdict, has_entry_column
from semmetrics.options import FORMATS

_NAMES = (
    "caption",
    "captions",
    "text",
    "sentence",
    "sentences",
    "reference",
    "references",
)


def _is_coco_file(content: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is a COCO file, of captions or of anything else."""
    return coco_files.is_coco_captions(content) or coco_files.is_coco(content)


FORM = Form(
    noun="caption",
    columns=(*_NAMES, "comment"),
    keys=(*_NAMES, "refs"),
    formats=tuple(name for name, kinds in FORMATS.items() if "captions" in kinds),
    coco=coco_files.read_coco_captions,
    is_coco=_is_coco_file,
    single=True,
    allows_empty=True,
    first_id="image_id",
)
_FORM_BY_CAPTION_ID = replace(
    FORM,
    coco=partial(coco_files.read_coco_captions, by_own_id=True),
    ids=("caption_id", "sentid"),
    first_id="caption_id",
)
_MIN_WORDS_OF_CAPTION = 2.5
"""The mean number of words from which lists of strings could be captions."""


def as_captions(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists:
    """Read captions from a file or an object.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, Arrow stream or Lists
        A path (str or PathLike) is read by its format. A mapping from id has a caption or a list
        of captions for each id. A sequence has them by position. A list of records
        ``{"image_id": 7, "caption": "a cat"}``, COCO captions with "annotations", frames, mappings
        of columns, and a Series, whose index may repeat ids, are read as they are in files.
    source : str
        The name of an object in messages. A path is called by its own name.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists

    Raises
    ------
    InputError
        If the input is of another kind, or its content is wrong.

    Examples
    --------
    >>> as_captions({"a": "a cat", "b": "a dog"}).to_list()
    [['a cat'], ['a dog']]
    """
    return _as_lists(data, FORM, source, options)


def as_texts(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists:
    """Read captions by their own ids instead of the ids of their images.

    Parameters
    ----------
    data, source, options
        As for `as_captions`.

    Examples
    --------
    >>> annotations = [{"id": 40, "image_id": 7, "caption": "a cat"}]
    >>> texts = as_texts({"images": [{"id": 7}], "annotations": annotations})
    >>> list(texts.ids), texts.to_list()
    (['40'], [['a cat']])
    """
    return _as_lists(data, _FORM_BY_CAPTION_ID, source, options)


def _as_lists(data: Any, form: Form, source: str, options: ReadOptions | None) -> Lists:
    """Read captions in a form. A matrix is an error."""
    captions = as_data(data, form, source=source, options=options)
    if isinstance(captions, Matrix):
        raise InputError(
            "wrong-format",
            captions.source,
            what="a caption",
            format="a matrix",
            wanted="lists of captions",
        )
    return captions


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Return how certain it is that the data are captions: one string per item, or sentences."""
    if any(map(_is_named_caption, samples)):
        descriptions = tuple(map(_describe_sample, samples))
        return Verdict(Certainty.CERTAIN, descriptions=descriptions)
    shapes = {sample.shape for sample in samples}
    if "strings" in shapes:
        certainty = Certainty.LIKELY
        if all(sample.is_single_words for sample in samples):
            certainty = Certainty.POSSIBLE
        return Verdict(certainty, "single words")
    if shapes != {"lists"}:
        return Verdict(Certainty.NO)
    fewest_words = min(sample.mean_words for sample in samples)
    if fewest_words >= _MIN_WORDS_OF_CAPTION:
        return Verdict(Certainty.POSSIBLE, "lists of sentences")
    return Verdict(Certainty.NO)


def _is_coco_sample(sample: Sample) -> bool:
    """Return whether a side consists of COCO captions."""
    return coco_files.is_coco_captions(sample.value or {})


def _is_named_caption(sample: Sample) -> bool:
    """Return whether a format, or the name of a column, is for captions."""
    if sample.shape == "text" or sample.noun == FORM.noun:
        return True
    return _is_coco_sample(sample) or has_entry_column(sample, FORM)


def _describe_sample(sample: Sample) -> str:
    """Return the description of one side that is certainly captions."""
    if _is_coco_sample(sample):
        return "COCO captions"
    return sample.what
