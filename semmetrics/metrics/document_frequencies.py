"""Document frequencies of n-grams: the fit that CIDEr needs before any caption has a value.

Conventions
-----------
A document is the reference captions of one image together; an n-gram counts once in it, however
often it occurs. An image without references is no document. The weight of an n-gram is
log(documents) - log(max(1, frequency)), 0 for one that every document has, log(documents) for one
that none has.

``df=references`` counts each image of the task once, with or without a candidate. ``df=rows``
counts it once for each candidate, which is what a loop over rows of (candidate, references) counts.
A fit is frozen: resamples and comparisons do not count again. Fits of different documents add up.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from semmetrics.arguments import checked, checked_but
from semmetrics.core.hashing import Hashes, hash_strings, mix
from semmetrics.core.ngrams import NGrams, find_rows, sum_equal_rows
from semmetrics.core.ragged import Codes, Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.form import DEFAULTS
from semmetrics.data.frequencies import (
    FrequencyTable,
    log_of,
    read_frequencies,
    table_of_counts,
    write_frequencies,
)
from semmetrics.data.tasks import CaptionTask, caption_task
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.metrics.caption_steps import (
    TokenTable,
    check_caption_lists,
    is_list,
    name_type,
    task_tokens,
)
from semmetrics.metrics.definition import Measure
from semmetrics.text.tokenizers import open_tokenizer

__all__ = [
    "SOURCES",
    "DocumentFrequencies",
    "fit_document_frequencies",
    "frequency_hash",
    "frequency_notes",
    "frequency_weights",
    "task_frequencies",
]

SOURCES = ("references", "rows", "given")


@dataclass(frozen=True, eq=False)
class DocumentFrequencies(FrequencyTable):
    """The number of documents that hold each n-gram: a fit that can be saved, loaded and merged.

    Attributes
    ----------
    documents : int or None
        How many documents were counted; None where a file gives a logarithm of no integer.
    log_documents : float
    vocabulary : tuple of str
    grams, counts : tuples of int arrays
        The distinct n-grams of each order as places in the vocabulary, and their frequencies.
    tokenizer, stem : str
        How the tokens were made; "" where that is not known.

    Examples
    --------
    >>> df = DocumentFrequencies.from_counts({("a",): 2, ("a", "man"): 1}, documents=3)
    >>> len(df), (df + df).as_dict()
    (2, {('a',): 4, ('a', 'man'): 2})
    """

    def __len__(self) -> int:
        return sum(map(len, self.counts))

    @classmethod
    @checked
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        documents: int | None = None,
        max_bytes: int = DEFAULTS.max_bytes,
    ) -> DocumentFrequencies:
        """Read a file of ``save``, JSON, or a pickle of released code, of which nothing is run.

        Parameters
        ----------
        path : path
        documents : int, optional
            How many documents there are, where the file does not say it.
        max_bytes : int
            The most bytes to read, after decompression, and to make of them.

        Raises
        ------
        InputError
            If the file is none of these or a count is impossible.
        """
        table = read_frequencies(path, documents=documents, max_bytes=max_bytes)
        return cls(**vars(table))

    @classmethod
    @checked
    def from_counts(
        cls,
        counts: dict[tuple[str, ...], int],
        *,
        documents: int,
        tokenizer: str = "",
        stem: str = "",
    ) -> DocumentFrequencies:
        """Make document frequencies of a dict of n-grams.

        Raises
        ------
        InputError
            If a count is no whole number from 0 to the number of documents.
        """
        return cls(**vars(table_of_counts(counts, documents, tokenizer, stem)))

    @checked
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it, as JSON where the path ends in .json, otherwise as .npz without pickles."""
        write_frequencies(self, path)

    def as_dict(self) -> dict[tuple[str, ...], int]:
        """Return the frequency of each n-gram."""
        return {
            tuple([self.vocabulary[code] for code in gram]): count
            for grams, counts in zip(self.grams, self.counts, strict=True)
            for gram, count in zip(grams.tolist(), counts.tolist(), strict=True)
        }

    @property
    def hash(self) -> str:
        """12 hex digits of the documents and frequencies, whatever their order."""
        names = hash_strings(self.vocabulary)
        if self.documents is None:
            total = int(np.float64(self.log_documents).view(np.uint64)) ^ 1 << 63
        else:
            total = self.documents
        for grams, counts in zip(self.grams, self.counts, strict=True):
            total += int(mix(_hash_ngrams(names, grams) + counts.astype(np.uint64)).sum())
        return f"{int(mix(np.array([total % 2**64], np.uint64))[0]) >> 16:012x}"

    def __add__(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Add the frequencies of other documents: the two share none.

        Raises
        ------
        InputError
            If their tokens were made differently, or a number of documents is not known.
        """
        for name in ("tokenizer", "stem"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise InputError(
                    f"document frequencies differ in their {name}: {mine!r} and {theirs!r}",
                    remedy="count both on tokens made in one way",
                )
        if self.documents is None or other.documents is None:
            raise InputError(
                "of one fit only the logarithm of its number of documents is known",
                remedy="give documents= when it is loaded",
            )
        names = dict.fromkeys(self.vocabulary + other.vocabulary)
        vocabulary = {token: code for code, token in enumerate(names)}
        parts = [(table, _codes_of(table.vocabulary, vocabulary)) for table in (self, other)]
        orders = range(max(len(self.grams), len(other.grams)))
        merged = [
            sum_equal_rows(
                np.concatenate([codes[t.grams[n]] for t, codes in parts if n < len(t.grams)]),
                np.concatenate([t.counts[n] for t, _ in parts if n < len(t.grams)]),
                len(vocabulary),
            )
            for n in orders
        ]
        documents = self.documents + other.documents
        return DocumentFrequencies(
            documents,
            log_of(documents),
            tuple(vocabulary),
            tuple(grams.astype(np.int32) for grams, _ in merged),
            tuple(counts for _, counts in merged),
            self.tokenizer,
            self.stem,
        )

    def weights(self, table: TokenTable) -> list[Floats]:
        """Return the weight of each distinct n-gram of some captions, for each order.

        Parameters
        ----------
        table : TokenTable

        Returns
        -------
        list of float arrays
            As long as ``table.ngrams``.
        """
        codes = {token: code for code, token in enumerate(self.vocabulary)}
        known = _codes_of(table.vocabulary, codes)
        found = (
            np.maximum(1.0, self._frequencies(ngrams, table, known)) for ngrams in table.ngrams
        )
        return [np.maximum(0.0, self.log_documents - np.log(one)) for one in found]

    @checked
    def check_tokens(self, tokenizer: str, stem: str) -> None:
        """Refuse captions whose tokens are made in another way, as far as that is known.

        Raises
        ------
        InputError
            If they are.
        """
        made = (("tokenizer", self.tokenizer, tokenizer), ("stem", self.stem, stem))
        for name, mine, theirs in made:
            if mine not in ("", theirs):
                raise InputError(
                    f"document frequencies were counted with {name} {mine}, and the captions "
                    f"have {theirs}",
                    remedy="count and score on tokens made in one way",
                )

    def _frequencies(self, ngrams: NGrams, table: TokenTable, codes: Ints) -> Ints:
        """Return the frequencies of n-grams; 0 of those not listed."""
        if ngrams.order > len(self.grams):
            return np.zeros(len(ngrams), np.int64)
        asked = codes[ngrams.tokens(table.codes)]
        place = find_rows(self.grams[ngrams.order - 1], asked, len(self.vocabulary))
        return np.append(self.counts[ngrams.order - 1], 0)[place]


def _codes_of(tokens: Iterable[str], codes: dict[str, int]) -> Ints:
    return np.array([codes.get(token, -1) for token in tokens], np.int64)


def _hash_ngrams(names: Hashes, grams: Codes) -> Hashes:
    """Hash each n-gram: its tokens in their order."""
    total = np.full(len(grams), grams.shape[1], np.uint64)
    for codes in grams.T:
        total = mix(total ^ names[codes])
    return total


def task_frequencies(
    task: CaptionTask, source: str = "references", stem: str = "none"
) -> DocumentFrequencies:
    """Return the document frequencies that a measure of a task uses, to save or to name.

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
    fit = _given_fit(task, source, stem)
    if fit is not None:
        return fit
    documents, counts = _count_documents(task, source, stem)
    return _as_fit(task_tokens(task, stem), documents, counts, str(task.tokenizer.name), stem)


def frequency_hash(task: CaptionTask, source: str, stem: str) -> str:
    """Return the hash of the document frequencies that a measure uses; taken once a task."""
    key = ("hash of document frequencies", source, stem)
    if key not in task.shared:
        task.shared[key] = task_frequencies(task, source, stem).hash
    return str(task.shared[key])


def frequency_weights(task: CaptionTask, source: str, stem: str) -> list[Floats]:
    """Return the weight of each distinct n-gram of a task's captions, for each order.

    Parameters
    ----------
    task : CaptionTask
    source, stem : str
        As for ``task_frequencies``.
    """
    fit = _given_fit(task, source, stem)
    if fit is not None:
        return fit.weights(task_tokens(task, stem))
    documents, counts = _count_documents(task, source, stem)
    return [log_of(documents) - np.log(np.maximum(1.0, found)) for found in counts]


@checked_but("captions")
def fit_document_frequencies(
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
        If a tokenizer is given with a task, or the captions are no list of lists of texts.
    """
    if isinstance(captions, CaptionTask):
        if tokenizer is not None:
            raise InputError("a task has its own tokenizer", remedy="leave tokenizer out")
        return task_frequencies(captions, "references", stem)
    if isinstance(captions, (str, os.PathLike)):
        raise InputError(
            f"the captions are one text, {os.fspath(captions)[:60]!r}, not a list for each image",
            remedy="read a file first: as_captions(path).to_list()",
        )
    if not is_list(captions):
        mapping = isinstance(captions, Mapping)
        raise InputError(
            f"the captions are {name_type(captions)}, not a list",
            remedy="give a list with a list of texts for each image"
            + (": list(captions.values())" if mapping else ""),
        )
    check_caption_lists(captions)
    names = list(map(str, range(len(captions))))
    words = open_tokenizer("ptb" if tokenizer is None else tokenizer)
    task = caption_task([()] * len(captions), captions, names, words)
    return task_frequencies(task, "references", stem)


def frequency_notes(task: CaptionTask, measures: Iterable[Measure]) -> list[str]:
    """Return what a user should know about document frequencies that were counted.

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
        and int(_document_numbers(task, str(measure["df"])).sum()) == 1
    ]
    if not lone:
        return []
    verb = "is" if len(lone) == 1 else "are"
    return [
        f"{', '.join(lone)} {verb} 0 for a single image: give document frequencies of a larger "
        "corpus, doc_freq= (--doc-freq FILE)"
    ]


def _given_fit(task: CaptionTask, source: str, stem: str) -> DocumentFrequencies | None:
    """Return the fit that a task has for a measure; None if its references are to be counted."""
    given = task.fits.get(f"{'df' if source == 'given' else source}/{stem}")
    if source == "given":
        given = given or task.fits.get("df")
    if isinstance(given, DocumentFrequencies):
        given.check_tokens(str(task.tokenizer.name), stem)
        return given
    if source == "given":
        raise InputError(
            "df=given needs document frequencies",
            remedy="give them as doc_freq= (--doc-freq FILE), or choose df=references",
        )
    return None


def _count_documents(task: CaptionTask, source: str, stem: str) -> tuple[int, list[Ints]]:
    """Return the number of documents, and in how many each n-gram of each order is; kept."""
    key = ("documents", source, stem)
    if key not in task.shared:
        times = _document_numbers(task, source)
        task.shared[key] = int(times.sum()), _count_ngrams(task, task_tokens(task, stem), times)
    found: tuple[int, list[Ints]] = task.shared[key]
    return found


def _document_numbers(task: CaptionTask, source: str) -> Ints:
    """Return how often each image is a document."""
    some = (lengths(task.indptr) > 0).astype(np.int64)
    return some * np.bincount(task.images, minlength=len(some)) if source == "rows" else some


def _count_ngrams(task: CaptionTask, table: TokenTable, times: Ints) -> list[Ints]:
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


def _as_fit(
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
