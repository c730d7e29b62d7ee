"""Document frequencies, frozen before captions are scored.

Conventions
-----------
The measure that is computed says where its document frequencies come from, and its signature holds
their hash: of a file that is given (``df=given``), or of the references of the run.
"""

from __future__ import annotations

import os
from typing import Any

from semmetrics.data.caption_task import CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.captions.documents import task_frequencies
from semmetrics.metrics.captions.frequencies import DocumentFrequencies
from semmetrics.metrics.definition import Measure

__all__ = ["as_frequencies", "frozen_captions"]


def as_frequencies(df: Any) -> DocumentFrequencies:
    """Document frequencies from what a user gives: themselves, or a path.

    Raises
    ------
    InputError
        If it is neither, or the file is wrong.
    """
    if isinstance(df, DocumentFrequencies):
        return df
    if isinstance(df, (str, os.PathLike)):
        return DocumentFrequencies.load(df)
    raise InputError(
        f"df= is a {type(df).__name__}", remedy="give a file, or what fit_frequencies returns"
    )


def frozen_captions(measure: Measure, task: CaptionTask) -> tuple[Measure, str]:
    """The measure with its document frequencies chosen; and a note for the signature."""
    source = measure["df"]
    if source is None:
        return measure, ""
    if source == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    fit = task_frequencies(task, str(measure["df"]), str(measure["stem"]))
    return measure, f"fit:df@{fit.hash}"
