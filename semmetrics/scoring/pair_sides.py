"""Images and captions of which all pairs are computed: checked, and made a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from semmetrics.core.ragged import lengths
from semmetrics.data.caption_task import CaptionTask, caption_task
from semmetrics.errors import InputError, brief
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.registry import parse
from semmetrics.text.tokenizers import open_tokenizer

__all__ = ["check_sides", "matrix_measure", "matrix_task"]


def matrix_measure(measure: str | Measure, doc_freq: Any) -> Measure:
    """The measure, with frequencies from where they come from.

    Raises
    ------
    InputError
        If there is no matrix of it.
    """
    found = parse(measure) if isinstance(measure, str) else [measure]
    if len(found) != 1 or found[0].definition.name not in ("CIDEr-D", "CIDEr"):
        raise InputError(
            f"no matrix of {measure} is computed", remedy="choose CIDEr-D or CIDEr, with options"
        )
    if found[0]["df"] == "rows":
        raise InputError("df=rows means nothing for a matrix", remedy="choose df=references")
    return found[0] if doc_freq is None else found[0].with_options(df="given")


def matrix_task(
    references: Sequence[Sequence[str]], captions: Sequence[str], tokenizer: Any, fits: Any
) -> CaptionTask:
    """The references of the images, and all captions as candidates.

    Raises
    ------
    InputError
        If an image has no reference, or anything is no text.
    """
    check_sides(references, captions)
    # the captions as candidates of the first image: which image they stand at does not matter
    candidates = [captions, *[()] * (len(references) - 1)]
    ids = list(map(str, range(len(references))))
    task = caption_task(candidates, references, ids, open_tokenizer(tokenizer), fits=fits)
    without = np.flatnonzero(lengths(task.indptr) == 0)
    if len(without):
        raise InputError(
            f"image {without[0]} has no reference", remedy="leave images without references out"
        )
    return task


def check_sides(references: Any, captions: Any) -> None:
    """Refuse what is no list of lists of texts, and no list of texts.

    Raises
    ------
    InputError
        Says which side, and the number from 0.
    """
    for side, what in ((references, "image"), (captions, "caption")):
        if not _is_list(side):
            raise InputError(
                f"the {what}s are {_article(side)}, not a list", remedy="give a list of them"
            )
        if not len(side):
            raise InputError(f"there is no {what}", remedy="give at least one, in a list")
    for image, texts in enumerate(references):
        if not _is_list(texts):
            raise InputError(
                f"the references of image {image} are {_article(texts)}",
                remedy="give a list of texts for each image",
            )
        _check_texts(texts, f"reference {{}} of image {image}")
    _check_texts(captions, "caption {}")


def _is_list(value: Any) -> bool:
    """Whether it has a length and an order, and is no single text."""
    if isinstance(value, str | bytes | Mapping | Set):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")


def _check_texts(texts: Sequence[Any], name: str) -> None:
    if {*map(type, texts)} <= {str}:
        return
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(
                f"{name.format(number)} is {brief(text)} ({_article(text)}), not a text",
                remedy="give a text for each (numbers are from 0)",
            )


def _article(value: Any) -> str:
    kind = {"str": "text", "NoneType": "None"}.get(type(value).__name__, type(value).__name__)
    return kind if kind == "None" else f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
