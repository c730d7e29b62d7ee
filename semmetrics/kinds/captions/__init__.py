"""Captions: sentences about an image, beside references; how they are written and read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from semmetrics.data import public
from semmetrics.data.form import Form, ReadOptions
from semmetrics.data.inputs import Sample, as_data
from semmetrics.data.lists import Lists
from semmetrics.data.matrix import Matrix
from semmetrics.errors import InputError
from semmetrics.kinds.recognition import Certainty, Verdict, names_entries
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
FORM = Form(
    noun="caption",
    columns=(*_NAMES, "comment"),
    keys=(*_NAMES, "refs"),
    formats=tuple(name for name, kinds in FORMATS.items() if "captions" in kinds),
    coco=public.read_coco_captions,
    is_coco=lambda value: public.is_coco_captions(value) or public.is_coco(value),
    single=True,
    blank=True,
    first_id="image_id",
)
_TEXTS = replace(
    FORM,
    coco=partial(public.read_coco_captions, by_own_id=True),
    ids=("caption_id", "sentid"),
    first_id="caption_id",
)
_PHRASE = 2.5  # mean words: lists of longer strings could be captions


def as_captions(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists:
    """Read captions from whatever holds them.

    Parameters
    ----------
    data : path, mapping, sequence, Series, frame, Arrow stream or Lists
        A path (str or PathLike) is read by its format. A mapping from id has a caption or a list
        of captions for each; a sequence has them by position. A list of records
        ``{"image_id": 7, "caption": "a cat"}``, COCO captions with "annotations", frames, mappings
        of columns, and a Series, whose index may repeat ids, are as in files.
    source : str
        What messages call it; of a path that is the path.
    options : ReadOptions, optional
        How files and records are read.

    Returns
    -------
    Lists

    Raises
    ------
    InputError
        If the input is of another kind, or what it holds is wrong.

    Examples
    --------
    >>> as_captions({"a": "a cat", "b": "a dog"}).to_list()
    [['a cat'], ['a dog']]
    """
    return _as_lists(data, FORM, source, options)


def as_texts(
    data: Any, *, source: str = "input", options: ReadOptions | None = None
) -> Lists:
    """Read captions by their own ids, not by those of their images.

    Parameters
    ----------
    data, source, options
        As for `as_captions`.

    Examples
    --------
    >>> annotations = [{"id": 40, "image_id": 7, "caption": "a cat"}]
    >>> found = as_texts({"images": [{"id": 7}], "annotations": annotations})
    >>> list(found.ids), found.to_list()
    (['40'], [['a cat']])
    """
    return _as_lists(data, _TEXTS, source, options)


def _as_lists(data: Any, form: Form, source: str, options: ReadOptions | None) -> Lists:
    found = as_data(data, form, source=source, options=options)
    if isinstance(found, Matrix):
        raise InputError(
            "wrong-format",
            found.source,
            what="a caption",
            format="a matrix",
            wanted="lists of captions",
        )
    return found


def recognise(samples: Sequence[Sample]) -> Verdict:
    """Tell how certain it is that the data are captions: a string an item, or sentences."""
    coco = [public.is_coco_captions(one.value or {}) for one in samples]
    texts = any(one.shape == "text" or one.noun == FORM.noun for one in samples)
    if texts or any(coco) or any(names_entries(one, FORM) for one in samples):
        pairs = zip(coco, samples, strict=True)
        whats = tuple("COCO captions" if is_ else one.what for is_, one in pairs)
        return Verdict(Certainty.CERTAIN, whats=whats)
    shapes = {one.shape for one in samples}
    if "strings" in shapes:
        single = all(one.is_single_words for one in samples)
        return Verdict(
            Certainty.POSSIBLE if single else Certainty.LIKELY, "single words"
        )
    if shapes == {"lists"} and min(one.words for one in samples) >= _PHRASE:
        return Verdict(Certainty.POSSIBLE, "lists of sentences")
    return Verdict(Certainty.NO)
