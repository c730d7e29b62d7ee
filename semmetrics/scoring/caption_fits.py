"""Document frequencies, frozen before captions are scored.

Conventions
-----------
The measure that is computed says where its document frequencies come from, and its signature holds
their hash: of a file that is given (``df=given``), or of the references of the run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from semmetrics.data.caption_task import CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.document_frequencies import (
    DocumentFrequencies,
    frequency_hash,
    task_frequencies,
)

__all__ = ["as_frequencies", "fits_of", "frozen_captions", "unused_frequencies"]


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
        f"df= is a {type(df).__name__}",
        remedy="give a file, or what fit_document_frequencies returns",
    )


def frozen_captions(measure: Measure, task: CaptionTask) -> tuple[Measure, str]:
    """The measure with its document frequencies chosen; and a note for the signature."""
    source = measure["df"]
    if source is None:
        return measure, ""
    if source == "references" and "df" in task.fits:
        measure = measure.with_options(df="given")
    return measure, f"fit:df@{frequency_hash(task, str(measure['df']), str(measure['stem']))}"


def fits_of(task: CaptionTask, measures: Iterable[Measure]) -> dict[str, DocumentFrequencies]:
    """The document frequencies that measures count on a task, for the ``fits`` of another."""
    fits = {}
    for measure in measures:
        source, stem = measure["df"], str(measure["stem"])
        if source in ("references", "rows"):
            fits[f"{source}/{stem}"] = task_frequencies(task, str(source), stem)
    return fits


def unused_frequencies(measures: Sequence[Measure]) -> list[str]:
    """What is said of measures that given document frequencies say nothing to."""
    takers = [m for m in measures if m["df"] in ("references", "given")]
    if not takers:
        return ["df= (--df) has no effect: no measure here takes document frequencies"]
    own = [str(m) for m in measures if m["df"] == "rows"]
    return [f"df= (--df) has no effect on {', '.join(own)}"] if own else []
