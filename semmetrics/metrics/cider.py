"""CIDEr-D and CIDEr: agreement with the references in n-grams, weighted by rarity.

Conventions
-----------
Captions are tf-idf vectors (`semmetrics.metrics.tfidf`). A value is the mean over orders
1 to 4 and over references of the cosine of candidate and reference, times 10.
``CIDEr-D`` clips the candidate's counts to the reference's and multiplies by
exp(-Δ²/2σ²), with Δ the difference of the two lengths. The length of a caption is its
number of bigrams, as in the released code. ``CIDEr`` does neither.

A document is the set of all reference captions of one image. An n-gram counts once per
document, however often it occurs. An image without references is not a document. The
weight of an n-gram is log(documents) - log(max(1, frequency)): 0 if every document has
it, and log(documents) if none has. With the references of a single image, every weight
is 0, and so is the value.

``df=references`` counts each image of the task once, with or without a candidate.
``df=rows`` counts it once per candidate, as a loop over rows of (candidate, references)
does. ``df=given`` takes a fit that does not change: resamples and comparisons do not
count again. Fits of different documents can be added.

An empty caption has value 0. A candidate without references has no value
(``no_reference``).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.hashing import hash_strings, mix
from semmetrics.core.ngrams import find_rows, sum_equal_rows
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.sparse_pairs import SparsePairs
from semmetrics.data import frequencies
from semmetrics.data.frequencies import FrequencyTable
from semmetrics.data.read_options import DEFAULTS
from semmetrics.data.tasks.base import memoised
from semmetrics.data.tasks.captions import CaptionTask, caption_task
from semmetrics.errors import Fact, InputError
from semmetrics.metrics.caption_steps import (
    NO_REFERENCE,
    CandidateReferences,
    CaptionBlock,
    CaptionMeans,
    TokenTable,
    caption_measure,
    captions_of,
    check_references,
    key_ngrams,
    share_ngrams,
    task_tokens,
)
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.measure_options import MeasureOption, choice_option
from semmetrics.metrics.tfidf import TfIdf, length_penalty, multiply_pairs
from semmetrics.text.tokenizers import open_tokenizer

SOURCES = ("references", "rows", "given")
"""Choices of the option ``df``: where document frequencies are counted."""

KNOWN_WORDS = "words with a given document frequency"
"""Code of the observation with the number of such words. Each block and measure adds it."""

SCALE = 10.0
"""Factor of the mean cosine."""

Counts: TypeAlias = dict[tuple[str, ...], int]
Path: TypeAlias = str | os.PathLike[str]


# ---- document frequencies ------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class DocumentFrequencies(FrequencyTable):
    """The number of documents that contain each n-gram.

    This is a fit that can be saved, loaded and merged.

    Attributes
    ----------
    documents : int or None
        How many documents were counted. None if a file gives a logarithm that is not
        the logarithm of an integer.
    log_documents : float
    vocabulary : tuple of str
    grams, counts : tuples of int arrays
        The distinct n-grams of each order as token codes, and their frequencies.
    tokenizer, stem : str
        How the tokens were made, or "" if unknown.

    Examples
    --------
    >>> df = DocumentFrequencies.from_counts({("a",): 2, ("a", "man"): 1}, documents=3)
    >>> len(df), (df + df).as_dict()
    (2, {('a',): 4, ('a', 'man'): 2})
    """

    def __len__(self) -> int:
        return sum(map(len, self.counts))

    @classmethod
    def _of_table(cls, table: FrequencyTable) -> DocumentFrequencies:
        return cls(
            documents=table.documents,
            log_documents=table.log_documents,
            vocabulary=table.vocabulary,
            grams=table.grams,
            counts=table.counts,
            tokenizer=table.tokenizer,
            stem=table.stem,
        )

    @classmethod
    def load(
        cls,
        path: Path,
        *,
        documents: int | None = None,
        max_bytes: int = DEFAULTS.max_bytes,
    ) -> DocumentFrequencies:
        """Read a file written by ``save``, JSON, or a pickle of released code.

        No code in the pickle is run.

        Parameters
        ----------
        path : path
        documents : int, optional
            How many documents there are, if the file does not give the number.
        max_bytes : int
            The maximum number of bytes to read after decompression, and to build from
            them.

        Raises
        ------
        InputError
            If the file has another form, or a count is impossible.
        """
        table = frequencies.read_frequencies(
            path, documents=documents, max_bytes=max_bytes
        )
        return cls._of_table(table)

    @classmethod
    def from_counts(
        cls, counts: Counts, *, documents: int, tokenizer: str = "", stem: str = ""
    ) -> DocumentFrequencies:
        """Build document frequencies from a dict of n-grams.

        Raises
        ------
        InputError
            If a count is not an integer from 0 to the number of documents.
        """
        table = frequencies.table_of_counts(counts, documents, tokenizer, stem)
        return cls._of_table(table)

    def save(self, path: Path) -> None:
        """Write JSON if the path ends in .json, and otherwise .npz without pickles."""
        frequencies.write_frequencies(self, path)

    @property
    def hash(self) -> str:
        """12 hex digits that identify documents and frequencies in any order."""
        token_hashes = hash_strings(self.vocabulary)
        total = self.documents
        if total is None:
            # The flipped sign bit makes it differ from all numbers of documents.
            log_bits = int(np.float64(self.log_documents).view(np.uint64))
            total = log_bits ^ (1 << 63)
        for grams, counts in zip(self.grams, self.counts, strict=True):
            order = grams.shape[1]
            hashes = np.full(len(grams), order, np.uint64)
            for codes in grams.T:
                hashes = mix(hashes ^ token_hashes[codes])
            total += int(mix(hashes + counts.astype(np.uint64)).sum())
        mixed = mix(np.array([total % 2**64], np.uint64))
        return f"{int(mixed[0]) >> 16:012x}"

    def __add__(self, other: DocumentFrequencies) -> DocumentFrequencies:
        """Add the frequencies of other documents. No document may be in both.

        Raises
        ------
        InputError
            If their tokens were made differently, or a number of documents is unknown.
        """
        for name in ("tokenizer", "stem"):
            mine = getattr(self, name)
            theirs = getattr(other, name)
            if mine != theirs:
                raise InputError("other-tokens", name=name, mine=mine, theirs=theirs)
        if self.documents is None or other.documents is None:
            raise InputError("unknown-documents")
        documents = self.documents + other.documents
        vocabulary = tuple(dict.fromkeys(self.vocabulary + other.vocabulary))
        code_of = {token: code for code, token in enumerate(vocabulary)}
        parts = [
            (self, _encode_tokens(self.vocabulary, code_of)),
            (other, _encode_tokens(other.vocabulary, code_of)),
        ]
        merged_grams = []
        merged_counts = []
        for order in range(1, max(len(self.grams), len(other.grams)) + 1):
            grams, counts = _merge_order(order, parts, len(vocabulary))
            merged_grams.append(grams.astype(np.int32))
            merged_counts.append(counts)
        return DocumentFrequencies(
            documents,
            frequencies.log_of(documents),
            vocabulary,
            tuple(merged_grams),
            tuple(merged_counts),
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
            One per order in ``table.ngrams``.
        """
        code_of = {token: code for code, token in enumerate(self.vocabulary)}
        fit_codes = _encode_tokens(table.vocabulary, code_of)
        weights = []
        for ngrams in table.ngrams:
            n_documents = np.zeros(len(ngrams), np.int64)
            if ngrams.order <= len(self.grams):
                grams = fit_codes[ngrams.tokens(table.codes)]
                n_documents = self._look_up(grams)
            logs = np.log(np.maximum(1.0, n_documents))
            weights.append(np.maximum(0.0, self.log_documents - logs))
        return weights

    def _look_up(self, grams: Ints) -> Ints:
        """Return the frequency of n-grams of one order, 0 if they are not listed.

        Parameters
        ----------
        grams : int array, shape (n-grams, order)
            Token codes, -1 for a token that is not in the vocabulary.
        """
        order = grams.shape[1]
        places = find_rows(self.grams[order - 1], grams, len(self.vocabulary))
        counts = np.append(self.counts[order - 1], 0)  # place -1 is not listed
        return counts[places]

    def check_tokens(self, tokenizer: str, stem: str) -> None:
        """Raise an error if captions are tokenised differently from those of the fit.

        A fit with an unknown tokenizer or stemmer accepts all captions.

        Raises
        ------
        InputError
            If the tokenizer or the stemmer differs.
        """
        for name, theirs in (("tokenizer", tokenizer), ("stem", stem)):
            mine = getattr(self, name)
            if mine not in ("", theirs):
                raise InputError("other-tokens", name=name, mine=mine, theirs=theirs)


def _encode_tokens(tokens: Iterable[str], code_of: dict[str, int]) -> Ints:
    """Return the code of each token, -1 for unknown tokens."""
    return np.array([code_of.get(token, -1) for token in tokens], np.int64)


def _merge_order(
    order: int, parts: Sequence[tuple[DocumentFrequencies, Ints]], n_tokens: int
) -> tuple[NDArray[np.integer], Ints]:
    """Return the n-grams of one order of several fits, and the sum of their counts.

    Parameters
    ----------
    order : int
    parts : sequence of pairs
        A fit, and the code of each of its tokens in the common vocabulary.
    n_tokens : int
        The size of the common vocabulary.
    """
    grams = []
    counts = []
    for fit, codes in parts:
        if order <= len(fit.grams):
            grams.append(codes[fit.grams[order - 1]])
            counts.append(fit.counts[order - 1])
    return sum_equal_rows(np.concatenate(grams), np.concatenate(counts), n_tokens)


def fit_document_frequencies(
    captions: CaptionTask | Sequence[Sequence[str]],
    tokenizer: Any = None,
    stem: str = "none",
) -> DocumentFrequencies:
    """Count document frequencies on the references of a task, or on lists of captions.

    Parameters
    ----------
    captions : CaptionTask, or sequence of sequences of str
        Each list is a document: the reference captions of one image.
    tokenizer : Tokenizer or str
        The tokenizer for lists, "ptb" by default. A task has its own.
    stem : {"none", "porter"}

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    InputError
        If a tokenizer is given with a task, or the captions are not a list of lists of
        strings.
    """
    check_choice("stem", stem, ("none", "porter"))
    if isinstance(captions, CaptionTask):
        if tokenizer is not None:
            what = "a task, which has its own"
            raise InputError("not-applicable", name="tokenizer", what=what)
        return task_frequencies(captions, "references", stem)
    check_references(captions, "captions")
    n_images = len(captions)
    ids = list(map(str, range(n_images)))
    if tokenizer is None:
        tokenizer = "ptb"
    task = caption_task([()] * n_images, captions, ids, open_tokenizer(tokenizer))
    return task_frequencies(task, "references", stem)


# ---- document frequencies of a task --------------------------------------------------


def task_frequencies(
    task: CaptionTask, source: str = "references", stem: str = "none"
) -> DocumentFrequencies:
    """Return the document frequencies that a measure uses for a task.

    Parameters
    ----------
    task : CaptionTask
    source : {"references", "rows", "given"}
        The measure's option ``df``. "given" is ``task.fits["df"]``.
    stem : {"none", "porter"}

    Returns
    -------
    DocumentFrequencies

    Raises
    ------
    InputError
        If the source is "given" and the task has no fit, or the fit was counted on
        other tokens.
    """
    fit = _fit_of_task(task, source, stem)
    if fit is not None:
        return fit
    counted = _count_documents(task, source, stem)
    table = task_tokens(task, stem)
    grams = []
    counts = []
    for ngrams, n_documents in zip(table.ngrams, counted.frequencies, strict=True):
        occurs = n_documents > 0
        grams.append(ngrams.tokens(table.codes)[occurs].astype(np.int32))
        counts.append(n_documents[occurs])
    return DocumentFrequencies(
        counted.n_documents,
        frequencies.log_of(counted.n_documents),
        tuple(table.vocabulary),
        tuple(grams),
        tuple(counts),
        str(task.tokenizer.name),
        stem,
    )


@memoised
def frequency_hash(task: CaptionTask, source: str, stem: str) -> str:
    """Return the hash of the document frequencies that a measure uses."""
    return task_frequencies(task, source, stem).hash


class WordCoverage(NamedTuple):
    """How many of a task's words have a document frequency.

    Only tokens of letters are words. If the entries of a table are the numbers of words
    instead of words, numbers in captions would match them by chance.
    """

    n_known: int
    n_words: int


@memoised
def count_known_words(task: CaptionTask, source: str, stem: str) -> WordCoverage:
    """Count the distinct words of a task, and those with a document frequency."""
    fit = _fit_of_task(task, source, stem)
    vocabulary = task_tokens(task, stem).vocabulary
    words = [token for token in vocabulary if token.isalpha()]
    n_words = len(words)
    if fit is None:
        return WordCoverage(n_words, n_words)
    fitted_words = set(fit.vocabulary)
    n_known = sum(word in fitted_words for word in words)
    return WordCoverage(n_known, n_words)


def frequency_notes(task: CaptionTask, measures: Iterable[Measure]) -> list[Fact]:
    """Return a note on measures whose frequencies were counted on one document."""
    on_one_document = []
    for measure in measures:
        source = measure["df"]
        if source not in ("references", "rows"):
            continue
        if f"{source}/{measure['stem']}" in task.fits:
            continue
        if int(_documents_per_image(task, str(source)).sum()) == 1:
            on_one_document.append(str(measure))
    if not on_one_document:
        return []
    return [Fact("single-document", len(on_one_document), tuple(on_one_document))]


def _fit_of_task(
    task: CaptionTask, source: str, stem: str
) -> DocumentFrequencies | None:
    """Return the fit that a task has for a measure.

    Returns None if the frequencies are to be counted on the task's references.
    """
    if source != "given":
        fit = task.fits.get(f"{source}/{stem}")
    else:
        fit = task.fits.get(f"df/{stem}")
        if fit is None:
            fit = task.fits.get("df")
    if isinstance(fit, DocumentFrequencies):
        fit.check_tokens(str(task.tokenizer.name), stem)
        return fit
    if source == "given":
        raise InputError("needs-option", what="df=given", name="doc_freq")
    return None


class _CountedDocuments(NamedTuple):
    """Document frequencies of the n-grams of a task.

    Attributes
    ----------
    n_documents : int
    frequencies : list of int arrays, shape (distinct n-grams,)
        In how many documents each n-gram occurs, for each order.
    """

    n_documents: int
    frequencies: list[Ints]


@memoised
def _count_documents(task: CaptionTask, source: str, stem: str) -> _CountedDocuments:
    """Count the documents of a task, and those that contain each n-gram."""
    documents_per_image = _documents_per_image(task, source)
    image_of_reference = ragged.row_numbers(task.indptr)
    frequencies_by_order = []
    for ngrams in task_tokens(task, stem).ngrams:
        # Each n-gram of an image counts once.
        keys = key_ngrams(ngrams, task.references, image_of_reference).keys
        keys.sort()
        distinct_keys = keys[ragged.starts_run(keys)]
        images, codes = np.divmod(distinct_keys, max(1, len(ngrams)))
        n_documents = np.bincount(codes, documents_per_image[images], len(ngrams))
        frequencies_by_order.append(n_documents.astype(np.int64))  # exact below 2**53
    return _CountedDocuments(int(documents_per_image.sum()), frequencies_by_order)


def _documents_per_image(task: CaptionTask, source: str) -> Ints:
    """Return how many times each image counts as a document."""
    has_reference = ragged.lengths(task.indptr) > 0
    documents_per_image = has_reference.astype(np.int64)
    if source == "rows":
        documents_per_image *= np.bincount(
            task.images, minlength=len(documents_per_image)
        )
    return documents_per_image


# ---- values --------------------------------------------------------------------------


@memoised
def tfidf_vectors(task: CaptionTask, source: str, stem: str) -> list[TfIdf]:
    """Return the tf-idf vectors of all captions of a task, for each order."""
    table = task_tokens(task, stem)
    fit = _fit_of_task(task, source, stem)
    if fit is not None:
        weights = fit.weights(table)
    else:
        counted = _count_documents(task, source, stem)
        log_documents = frequencies.log_of(counted.n_documents)
        weights = []
        for n_documents in counted.frequencies:
            weights.append(log_documents - np.log(np.maximum(1.0, n_documents)))
    return list(map(TfIdf, table.ngrams, weights))


def cider_values(
    block: CaptionBlock, *, df: str, stem: str, sigma: float | None = None
) -> Floats:
    """Return CIDEr-D of each candidate, or CIDEr without a sigma.

    The block gets notes on the document frequencies.

    Parameters
    ----------
    block : Block
    df : {"references", "rows", "given"}
    stem : {"none", "porter"}
    sigma : float, optional
        The length difference, in bigrams, at which the penalty is exp(-1/2).

    Returns
    -------
    float array, shape (items,), in [0, 10]
        nan without references.
    """
    captions = captions_of(block)
    vectors = tfidf_vectors(block.task, df, stem)
    _note_frequencies(block, df, stem)
    penalties = np.ones(1)  # of all pairs
    if sigma is not None:
        n_bigrams = vectors[1].ngrams.totals
        candidate_lengths = n_bigrams[captions.pair_candidates]
        penalties = length_penalty(
            candidate_lengths, n_bigrams[captions.references], sigma
        )
    sums = np.zeros(len(block))
    for tfidf in vectors:
        cosines = _pair_cosines(tfidf, captions, clip=sigma is not None)
        sums += np.bincount(captions.pair_items, cosines * penalties, len(block))
    n_refs = captions.n_refs
    means = sums / len(vectors) / np.maximum(n_refs, 1)
    return np.where(n_refs > 0, SCALE * means, np.nan)


def _note_frequencies(block: CaptionBlock, df: str, stem: str) -> None:
    """Note which document frequencies are used, and how many words they contain."""
    digest = frequency_hash(block.task, df, stem)
    block.observations.require(f"df={df}/{stem}", digest)
    coverage = count_known_words(block.task, df, stem)
    if coverage.n_words:
        block.observations.count(KNOWN_WORDS, coverage.n_known)


def _pair_cosines(tfidf: TfIdf, captions: CandidateReferences, *, clip: bool) -> Floats:
    """Return the cosine of each candidate with each of its references.

    Parameters
    ----------
    tfidf : TfIdf
    captions : CandidateReferences
    clip : bool
        Whether to clip the candidate's counts to the reference's.

    Returns
    -------
    float array, shape (pairs,)
        0 if a vector is zero.
    """
    references = captions.references
    shared = share_ngrams(
        tfidf.ngrams, captions.candidates, captions.indptr, references
    )
    counts = shared.candidate_counts
    if clip:
        counts = np.minimum(counts, shared.reference_counts)
    products = tfidf.sum_products(
        shared.pairs, shared.codes, counts * shared.reference_counts, len(references)
    )
    norms = tfidf.norms[captions.pair_candidates] * tfidf.norms[references]
    return np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)


def cider_pairs(task: CaptionTask, measure: Measure) -> SparsePairs:
    """Return products whose entry (image, candidate) is the measure of that pair.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images.
    measure : Measure
        CIDEr-D or CIDEr.

    Returns
    -------
    SparsePairs
        Rows are images. An image without references has zeros.

    Raises
    ------
    InputError
        If no word of the task has a document frequency.
    """
    source = str(measure["df"])
    stem = str(measure["stem"])
    coverage = count_known_words(task, source, stem)
    if coverage.n_words and not coverage.n_known:
        names = list(task.texts)
        raise InputError("nothing-shared", name="doc_freq", noun="caption", names=names)
    vectors = tfidf_vectors(task, source, stem)
    sigma = measure["sigma"]
    if sigma is not None:
        sigma = float(sigma)
    return multiply_pairs(task, vectors, sigma=sigma, scale=SCALE)


# ---- definitions ---------------------------------------------------------------------


def _check_sigma(sigma: float) -> None:
    if not sigma > 0:
        wanted = "a number above 0"
        raise InputError("bad-option", name="sigma", value=sigma, wanted=wanted)


_SHARED_OPTIONS = (
    choice_option(
        "df",
        " ".join(SOURCES),
        "where document frequencies are counted: in the references of the images, "
        "in all rows, or in a given corpus",
    ),
    choice_option("stem", "none porter", "whether words are stemmed (Porter 1980)"),
    NO_REFERENCE,
)
_SIGMA = MeasureOption(
    "sigma",
    "sigma",
    6.0,
    kind=float,
    check=_check_sigma,
    help="the difference in length, in bigrams, at which the penalty is exp(-1/2)",
)
_TRAITS: dict[str, Any] = {
    "cite": ("vedantam2015",),
    "bounds": (0.0, SCALE),
    "needs": frozenset({"document_frequencies"}),
    "extra": {"pairs": cider_pairs, "percent": True},
}
CIDErD = caption_measure(
    "CIDEr-D",
    CaptionMeans(cider_values),
    "Cosine similarity of the clipped tf-idf n-gram vectors to those of the "
    "references, with a penalty for differences in length.",
    "10/4 Σ_n mean_j exp(-(l_c - l_j)²/2σ²) Σ min(g_c, g_j) g_j / (|g_c| |g_j|)",
    "Vedantam et al. 2015, section 7; coco-caption",
    options=(_SIGMA, *_SHARED_OPTIONS),
    **_TRAITS,
)
CIDEr = caption_measure(
    "CIDEr",
    CaptionMeans(cider_values),
    "Cosine similarity of the tf-idf n-gram vectors to those of the references.",
    "10/4 Σ_n mean_j g_c · g_j / (|g_c| |g_j|)",
    "Vedantam et al. 2015, equations 2 and 3; the authors' code",
    options=_SHARED_OPTIONS,
    **_TRAITS,
)
