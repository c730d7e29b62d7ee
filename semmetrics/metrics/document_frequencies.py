"""Counting the document frequencies of a task's references, or of lists of captions.

Conventions
-----------
A document is the reference captions of one image together; an image without references is none.
``df=references`` counts each image of the task once, with or without a candidate. ``df=rows``
counts it once for each candidate, which is what a loop over rows of (candidate, references) counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from semmetrics.core.ragged import Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.block import Block
from semmetrics.data.caption_task import FREQUENCIES, CaptionTask, caption_task
from semmetrics.data.frequency_table import log_of
from semmetrics.errors import InputError
from semmetrics.metrics.captions.frequencies import DocumentFrequencies
from semmetrics.metrics.captions.tokens import Tokens, TokenTable
from semmetrics.metrics.definition import Measure
from semmetrics.text.tokenizers import open_tokenizer

__all__ = [
    "SOURCES",
    "fit_frequencies",
    "frequency_hash",
    "frequency_notes",
    "frequency_weights",
    "task_frequencies",
    "tokens_of",
]

SOURCES = ("references", "rows", "given")


def tokens_of(task: CaptionTask, stem: str) -> TokenTable:
    """The tokens of all captions of a task."""
    block: Block[CaptionTask] = Block(task, 0, 0)
    return block.get(Tokens(stem))


def task_frequencies(
    task: CaptionTask, source: str = "references", stem: str = "none"
) -> DocumentFrequencies:
    """The document frequencies that a measure of a task uses, as a fit to save or to name.

    Parameters
    ----------
    task : CaptionTask
    source : {"references", "rows", "given"}
        The measure's option ``df``; "given" is ``task.fits["df"]``.
    stem : {"none", "porter"}

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    InputError
        If none are given, or those given were counted on other tokens.
    """
    fit = _fixed(task, source, stem)
    if fit is not None:
        return fit
    documents, counts = _counted(task, source, stem)
    return _fit(tokens_of(task, stem), documents, counts, str(task.tokenizer.name), stem)


def frequency_hash(task: CaptionTask, source: str, stem: str) -> str:
    """The hash of the document frequencies that a measure of a task uses; noted in the task."""
    hashes: dict[str, str] = task.shared.setdefault(FREQUENCIES, {})
    key = f"{source}/{stem}"
    if key not in hashes:
        hashes[key] = task_frequencies(task, source, stem).hash
    return hashes[key]


def frequency_weights(task: CaptionTask, source: str, stem: str) -> list[Floats]:
    """The weight of each distinct n-gram of a task's captions, for each order.

    Parameters
    ----------
    task : CaptionTask
    source, stem : str
        As for ``task_frequencies``.
    """
    frequency_hash(task, source, stem)  # so that parts with other frequencies are not merged
    fit = _fixed(task, source, stem)
    if fit is not None:
        return fit.weights(tokens_of(task, stem))
    documents, counts = _counted(task, source, stem)
    return [log_of(documents) - np.log(np.maximum(1.0, found)) for found in counts]


def fit_frequencies(
    captions: CaptionTask | Sequence[Sequence[str]],
    tokenizer: Any = None,
    stem: str = "none",
) -> DocumentFrequencies:
    """Count document frequencies on the references of a task, or on lists of captions.

    Parameters
    ----------
    captions : CaptionTask, or sequence of sequences of str
        Of lists, each is a document: the reference captions of one image.
    tokenizer : Tokenizer or str
        For lists, "ptb" where left out; a task has its own.
    stem : {"none", "porter"}

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    InputError
        If a tokenizer is given with a task.
    """
    if isinstance(captions, CaptionTask):
        if tokenizer is not None:
            raise InputError("a task has its own tokenizer", remedy="leave tokenizer out")
        return task_frequencies(captions, "references", stem)
    names = list(map(str, range(len(captions))))
    words = open_tokenizer("ptb" if tokenizer is None else tokenizer)
    task = caption_task([()] * len(captions), captions, names, words)
    return task_frequencies(task, "references", stem)


def frequency_notes(task: CaptionTask, measures: Iterable[Measure]) -> list[str]:
    """What a user should know of the document frequencies of the measures that use some.

    Parameters
    ----------
    task : CaptionTask
    measures : iterable of Measure

    Returns
    -------
    list of str
        Sentences without a full stop; none where all is well.
    """
    lone = [
        str(measure)
        for measure in measures
        if measure["df"] in ("references", "rows")
        and f"{measure['df']}/{measure['stem']}" not in task.fits
        and int(_times(task, str(measure["df"])).sum()) == 1
    ]
    if not lone:
        return []
    verb = "is" if len(lone) == 1 else "are"
    return [
        f"{', '.join(lone)} {verb} 0 for a single image: give document frequencies of a larger "
        "corpus (df=given, --df FILE)"
    ]


def _fixed(task: CaptionTask, source: str, stem: str) -> DocumentFrequencies | None:
    """The fit that the task has for a measure; None where its references are to be counted."""
    given = task.fits.get(f"{'df' if source == 'given' else source}/{stem}")
    if source == "given":
        given = given or task.fits.get("df")
    if isinstance(given, DocumentFrequencies):
        given.check_tokens(str(task.tokenizer.name), stem)
        return given
    if source == "given":
        raise InputError(
            "df=given needs document frequencies",
            remedy="give them (--df FILE), or choose df=references",
        )
    return None


def _counted(task: CaptionTask, source: str, stem: str) -> tuple[int, list[Ints]]:
    """How many documents there are, and in how many each n-gram is, for each order; kept."""
    key = ("documents", source, stem)
    if key not in task.shared:
        times = _times(task, source)
        task.shared[key] = int(times.sum()), _counts(task, tokens_of(task, stem), times)
    found: tuple[int, list[Ints]] = task.shared[key]
    return found


def _times(task: CaptionTask, source: str) -> Ints:
    """How often each image is a document."""
    some = (lengths(task.indptr) > 0).astype(np.int64)
    return some * np.bincount(task.images, minlength=len(some)) if source == "rows" else some


def _counts(task: CaptionTask, table: TokenTable, times: Ints) -> list[Ints]:
    image = row_numbers(task.indptr)
    result = []
    for ngrams in table.ngrams:
        indptr, cells = take_rows(ngrams.indptr, task.references)
        size = max(1, len(ngrams))
        pairs = np.sort(image[row_numbers(indptr)] * size + ngrams.codes[cells])
        images, codes = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], size)
        found = np.bincount(codes, times[images], len(ngrams))  # whole, below 2**53
        result.append(found.astype(np.int64))
    return result


def _fit(
    table: TokenTable, documents: int, counts: list[Ints], tokenizer: str, stem: str
) -> DocumentFrequencies:
    return DocumentFrequencies(
        documents,
        log_of(documents),
        tuple(table.vocabulary),
        tuple(
            ngrams.tokens(table.codes)[found > 0].astype(np.int32)
            for ngrams, found in zip(table.ngrams, counts, strict=True)
        ),
        tuple(found[found > 0] for found in counts),
        tokenizer,
        stem,
    )
