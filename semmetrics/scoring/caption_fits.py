"""Document frequencies, frozen before captions are scored.

Conventions
-----------
The measure that is computed says where its document frequencies come from, and its signature holds
their hash: of a file that is given (``df=given``), or of the references of the run.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from semmetrics.data.caption_task import CaptionTask
from semmetrics.data.captions import Captions
from semmetrics.errors import InputError
from semmetrics.metrics.captions.documents import fit_frequencies, frequency_hash
from semmetrics.metrics.captions.frequencies import DocumentFrequencies
from semmetrics.metrics.definition import Measure

__all__ = ["as_frequencies", "frozen_captions", "reference_fits"]


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
    source, stem = measure["df"], str(measure["stem"])
    if source is None:
        return measure, ""
    if source == "references" and {"df", f"df/{stem}"} & task.fits.keys():
        measure = measure.with_options(df="given")
    return measure, f"fit:df@{frequency_hash(task, str(measure['df']), stem)}"


def reference_fits(
    captions: Captions, tokenizer: Any, measures: Iterable[Measure]
) -> dict[str, DocumentFrequencies]:
    """Document frequencies of references, as measures need them; for ``CaptionTask.fits``.

    Parameters
    ----------
    captions : Captions
    tokenizer : Tokenizer
    measures : iterable of Measure
    """
    ends = captions.indptr.tolist()
    lists = [captions.texts[a:b] for a, b in pairwise(ends)]
    stems = dict.fromkeys(str(m["stem"]) for m in measures if m["df"] is not None)
    return {f"df/{stem}": fit_frequencies(lists, tokenizer, stem) for stem in stems}
