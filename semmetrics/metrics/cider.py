"""CIDEr-D and CIDEr: agreement with the references in n-grams, rare ones weighing more.

Conventions
-----------
Captions are tf-idf vectors over the n-grams of one order: how often a caption holds an n-gram,
times the n-gram's weight. A value is the mean over orders 1 to 4 and over references of the cosine
of candidate and reference, times 10. ``CIDEr-D`` clips the candidate's counts to the reference's
and multiplies by exp(-Δ²/2σ²), Δ the difference of the lengths of the two; length counts the
bigrams, as the released code does. ``CIDEr`` does neither.

A document is the reference captions of one image together; an n-gram counts once in it, however
often it occurs. An image without references is not a document. The weight of an n-gram is
log(documents) - log(max(1, frequency)), 0 for one that every document has, log(documents) for one
that none has. With the references of a single image every weight is 0, and so is the value.

``df=references`` counts each image of the task once, with or without a candidate. ``df=rows``
counts it once for each candidate, which is what a loop over rows of (candidate, references) counts.
``df=given`` takes a fit, which is frozen: resamples and comparisons do not count again. Fits of
different documents add up.

An empty caption has value 0; a candidate without references has none (``no_reference``). Sums over
n-grams are exact before one rounding, so that a value does not depend on what other captions there
are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.arguments import check_choice
from semmetrics.core import ragged
from semmetrics.core.hashing import hash_strings, mix
from semmetrics.core.ngrams import NGrams, find_rows, sum_equal_rows
from semmetrics.core.ragged import Floats, Ints
from semmetrics.core.sparse_pairs import Cells, SparsePairs
from semmetrics.data import frequencies
from semmetrics.data.form import DEFAULTS
from semmetrics.data.frequencies import FrequencyTable
from semmetrics.data.tasks import CaptionTask, caption_task, kept
from semmetrics.errors import Fact, InputError
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_steps import NO_REFERENCE, CaptionBlock, TokenTable
from semmetrics.metrics.definition import Measure, Option, one_of
from semmetrics.text.tokenizers import open_tokenizer

SOURCES = ("references", "rows", "given")
Counts: TypeAlias = dict[tuple[str, ...], int]
Path: TypeAlias = str | os.PathLike[str]


@dataclass(frozen=True, eq=False, repr=False)
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
    def load(
        cls,
        path: Path,
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
        table = frequencies.read_frequencies(
            path, documents=documents, max_bytes=max_bytes
        )
        return cls(**vars(table))

    @classmethod
    def from_counts(
        cls, counts: Counts, *, documents: int, tokenizer: str = "", stem: str = ""
    ) -> DocumentFrequencies:
        """Make document frequencies of a dict of n-grams.

        Raises
        ------
        InputError
            If a count is no whole number from 0 to the number of documents.
        """
        return cls(
            **vars(frequencies.table_of_counts(counts, documents, tokenizer, stem))
        )

    def save(self, path: Path) -> None:
        """Write it, as JSON where the path ends in .json, otherwise as .npz without pickles."""
        frequencies.write_frequencies(self, path)

    @property
    def hash(self) -> str:
        """12 hex digits of the documents and frequencies, whatever their order."""
        names = hash_strings(self.vocabulary)
        total = self.documents
        if total is None:
            total = int(np.float64(self.log_documents).view(np.uint64)) ^ 1 << 63
        for grams, counts in zip(self.grams, self.counts, strict=True):
            hashes = np.full(len(grams), grams.shape[1], np.uint64)
            for codes in grams.T:
                hashes = mix(hashes ^ names[codes])
            total += int(mix(hashes + counts.astype(np.uint64)).sum())
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
                raise InputError("other-tokens", name=name, mine=mine, theirs=theirs)
        if self.documents is None or other.documents is None:
            raise InputError("unknown-documents")
        names = dict.fromkeys(self.vocabulary + other.vocabulary)
        vocabulary = {token: code for code, token in enumerate(names)}
        parts = [
            (table, _codes_of(table.vocabulary, vocabulary)) for table in (self, other)
        ]
        merged = []
        for n in range(max(len(self.grams), len(other.grams))):
            some = [
                (codes[t.grams[n]], t.counts[n])
                for t, codes in parts
                if n < len(t.grams)
            ]
            grams, counts = map(np.concatenate, zip(*some, strict=True))
            merged.append(sum_equal_rows(grams, counts, len(vocabulary)))
        documents = self.documents + other.documents
        return DocumentFrequencies(
            documents,
            frequencies.log_of(documents),
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
        known, weights = _codes_of(table.vocabulary, codes), []
        for ngrams in table.ngrams:
            found = np.zeros(len(ngrams), np.int64)
            if ngrams.order <= len(self.grams):
                asked = known[ngrams.tokens(table.codes)]
                place = find_rows(
                    self.grams[ngrams.order - 1], asked, len(self.vocabulary)
                )
                found = np.append(self.counts[ngrams.order - 1], 0)[place]
            weights.append(
                np.maximum(0.0, self.log_documents - np.log(np.maximum(1.0, found)))
            )
        return weights

    def check_tokens(self, tokenizer: str, stem: str) -> None:
        """Refuse captions whose tokens are made in another way, as far as that is known.

        Raises
        ------
        InputError
            If they are.
        """
        for name, theirs in (("tokenizer", tokenizer), ("stem", stem)):
            if (mine := getattr(self, name)) not in ("", theirs):
                raise InputError("other-tokens", name=name, mine=mine, theirs=theirs)


def _codes_of(tokens: Iterable[str], codes: dict[str, int]) -> Ints:
    return np.array([codes.get(token, -1) for token in tokens], np.int64)


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
    table = caption_steps.task_tokens(task, stem)
    grams = (
        ngrams.tokens(table.codes)[found > 0].astype(np.int32)
        for ngrams, found in zip(table.ngrams, counts, strict=True)
    )
    return DocumentFrequencies(
        documents,
        frequencies.log_of(documents),
        tuple(table.vocabulary),
        tuple(grams),
        tuple(found[found > 0] for found in counts),
        str(task.tokenizer.name),
        stem,
    )


@kept
def frequency_hash(task: CaptionTask, source: str, stem: str) -> str:
    """Return the hash of the document frequencies that a measure uses."""
    return task_frequencies(task, source, stem).hash


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
    check_choice("stem", stem, ("none", "porter"))
    if isinstance(captions, CaptionTask):
        if tokenizer is not None:
            raise InputError(
                "not-applicable", name="tokenizer", what="a task, which has its own"
            )
        return task_frequencies(captions, "references", stem)
    caption_steps.check_references(captions, "captions")
    names = list(map(str, range(len(captions))))
    words = open_tokenizer("ptb" if tokenizer is None else tokenizer)
    task = caption_task([()] * len(captions), captions, names, words)
    return task_frequencies(task, "references", stem)


@kept
def known_words(task: CaptionTask, source: str, stem: str) -> tuple[int, int]:
    """Return how many words of a task have a document frequency that was given, and of how many.

    Numbers are not counted, because a table of word numbers has them by chance.
    """
    fit = _given_fit(task, source, stem)
    words = [
        word
        for word in caption_steps.task_tokens(task, stem).vocabulary
        if word.isalpha()
    ]
    if fit is None:
        return len(words), len(words)
    known = set(fit.vocabulary)
    return sum(word in known for word in words), len(words)


def frequency_notes(task: CaptionTask, measures: Iterable[Measure]) -> list[Fact]:
    """Return what a user should know about document frequencies that were counted."""
    lone = [
        str(measure)
        for measure in measures
        if measure["df"] in ("references", "rows")
        and f"{measure['df']}/{measure['stem']}" not in task.fits
        and int(_document_numbers(task, str(measure["df"])).sum()) == 1
    ]
    return [Fact("single-document", len(lone), tuple(lone))] if lone else []


def _given_fit(task: CaptionTask, source: str, stem: str) -> DocumentFrequencies | None:
    """Return the fit that a task has for a measure; None if its references are to be counted."""
    given = task.fits.get(f"{'df' if source == 'given' else source}/{stem}")
    if source == "given":
        given = given or task.fits.get("df")
    if isinstance(given, DocumentFrequencies):
        given.check_tokens(str(task.tokenizer.name), stem)
        return given
    if source == "given":
        raise InputError("needs-option", what="df=given", name="doc_freq")
    return None


@kept
def _count_documents(
    task: CaptionTask, source: str, stem: str
) -> tuple[int, list[Ints]]:
    """Return the number of documents, and in how many each n-gram of each order is."""
    times, image = _document_numbers(task, source), ragged.row_numbers(task.indptr)
    counts = []
    for ngrams in caption_steps.task_tokens(task, stem).ngrams:
        indptr, cells = ragged.take_rows(ngrams.indptr, task.references)
        size = max(1, len(ngrams))
        pairs = np.sort(image[ragged.row_numbers(indptr)] * size + ngrams.codes[cells])
        images, codes = np.divmod(pairs[np.diff(pairs, prepend=-1) > 0], size)
        found = np.bincount(codes, times[images], len(ngrams))  # whole, below 2**53
        counts.append(found.astype(np.int64))
    return int(times.sum()), counts


def _document_numbers(task: CaptionTask, source: str) -> Ints:
    """Return how often each image is a document."""
    some = (ragged.lengths(task.indptr) > 0).astype(np.int64)
    return (
        some * np.bincount(task.images, minlength=len(some))
        if source == "rows"
        else some
    )


KNOWN_WORDS = "words with a given document frequency"
"""What is counted, once per block and measure."""
SCALE = 10.0
# A squared weight is cut in two parts on grids so coarse that sums of them, each times a product of
# counts, stay whole multiples within 53 bits: exact for captions that hold a word up to 500 times.
_HIGH, _LOW = 2.0**24, 2.0**60


def length_penalty(candidates: Ints, references: Ints, sigma: float) -> Floats:
    """Return exp(-Δ²/2σ²) of lengths, elementwise.

    Examples
    --------
    >>> length_penalty(np.array([9, 3]), np.array([9, 9]), 6.0).round(4).tolist()
    [1.0, 0.6065]
    """
    difference = (candidates - references).astype(np.float64)
    # of lengths very far from each other, whose penalty is 0
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(-0.5 * (difference / sigma) ** 2))


@dataclass(frozen=True, eq=False, repr=False)
class TfIdf:
    """The tf-idf vectors of all captions of a task, over the n-grams of one order.

    Attributes
    ----------
    ngrams : NGrams
    weights : float array, shape (distinct n-grams,)
        Not negative.
    held : int
        How many n-grams are squared at a time; a caption may have more.
    """

    ngrams: NGrams
    weights: Floats
    held: int = 1 << 20

    @cached_property
    def norms(self) -> Floats:
        """Euclidean lengths of the vectors, shape (texts,)."""
        ngrams = self.ngrams
        found = np.empty(len(ngrams.indptr) - 1)
        for rows in ragged.runs_within(ngrams.indptr, self.held):
            indptr = ngrams.indptr[rows.start : rows.stop + 1]
            flat = slice(indptr[0], indptr[-1])
            counts = ngrams.counts[flat].astype(np.int64)
            texts = ragged.row_numbers(indptr - indptr[0])
            found[rows] = self.sums(
                texts, ngrams.codes[flat], counts * counts, len(indptr) - 1
            )
        return np.sqrt(found, out=found)

    def squares(self, codes: NDArray[np.integer]) -> tuple[Floats, Floats]:
        """Return squared weights of n-grams, as two parts whose sum they are."""
        squares = self.weights[codes] ** 2
        high = np.rint(squares * _HIGH) / _HIGH
        return high, np.rint((squares - high) * _LOW) / _LOW

    def sums(
        self, rows: Ints, codes: NDArray[np.integer], times: Ints, n_rows: int
    ) -> Floats:
        """Return the sum over the n-grams of each row of times · weight²."""
        high, low = (
            np.bincount(rows, times * part, n_rows) for part in self.squares(codes)
        )
        return np.asarray(high + low)


@kept
def tfidf_vectors(task: CaptionTask, source: str, stem: str) -> list[TfIdf]:
    """Return the vectors of all captions of a task, for each order."""
    table, fit = caption_steps.task_tokens(task, stem), _given_fit(task, source, stem)
    if fit is not None:
        weights = fit.weights(table)
    else:
        documents, counts = _count_documents(task, source, stem)
        log = frequencies.log_of(documents)
        weights = [log - np.log(np.maximum(1.0, found)) for found in counts]
    return [TfIdf(*one) for one in zip(table.ngrams, weights, strict=True)]


def cider_values(
    block: CaptionBlock, *, df: str, stem: str, sigma: float | None = None
) -> Floats:
    """Return CIDEr-D of each candidate, or CIDEr without a sigma; notes the fit that is used."""
    task, items = block.task, caption_steps.items_of(block)
    vectors = tfidf_vectors(task, df, stem)
    block.note(f"#df={df}/{stem}", frozenset([frequency_hash(task, df, stem)]))
    n_known, n_words = known_words(task, df, stem)
    if n_words:
        block.note(KNOWN_WORDS, n_known)
    mine, theirs, n_refs = items.pair_candidates, items.references, items.n_refs
    penalty: Any = 1.0
    if sigma is not None:
        length = vectors[1].ngrams.totals  # bigrams are what the penalty compares
        penalty = length_penalty(length[mine], length[theirs], sigma)
    total = np.zeros(len(block))
    for one in vectors:
        shared = caption_steps.share_ngrams(
            one.ngrams, items.candidates, items.indptr, theirs
        )
        hits = shared.mine if sigma is None else np.minimum(shared.mine, shared.theirs)
        products = one.sums(
            shared.pairs, shared.codes, hits * shared.theirs, len(theirs)
        )
        norms = one.norms[mine] * one.norms[theirs]
        cosines = np.divide(products, norms, out=np.zeros_like(norms), where=norms > 0)
        total += np.bincount(
            ragged.row_numbers(items.indptr), cosines * penalty, len(block)
        )
    values = SCALE * (total / len(vectors) / np.maximum(n_refs, 1))
    return np.where(n_refs > 0, values, np.nan)


# CIDEr-D of every caption against the references of every image: clipped counts are sums over
# levels t = 1, 2, …: min(h, r) = Σ_t [h ≥ t] [r ≥ t]. So an n-gram and a level together are one
# feature; a caption has 1/|h| there and a reference r w²/|r|, and CIDEr-D is a product of sparse
# rows. The length penalty depends on the two lengths alone: captions of one length share the
# references' values times their penalties, added up for each image before the product.


def cider_pairs(task: CaptionTask, measure: Measure) -> SparsePairs:
    """Return products whose entry (image, candidate) is the measure of the candidate for the image.

    Parameters
    ----------
    task : CaptionTask
        Its candidates are the columns, in their order, whatever their images.
    measure : Measure
        Of CIDEr-D or CIDEr.

    Returns
    -------
    SparsePairs
        Rows are images; one without references has zeros.
    """
    source, stem = str(measure["df"]), str(measure["stem"])
    n_known, n_words = known_words(task, source, stem)
    if n_words and not n_known:
        names = [*task.texts]
        raise InputError("nothing-shared", name="doc_freq", noun="caption", names=names)
    sigma, vectors = measure["sigma"], tfidf_vectors(task, source, stem)
    indptr, features, mine, theirs = _count_features(vectors, clip=sigma is not None)
    columns, references = (
        Cells(rows, features[flat], values[flat])
        for (rows, flat), values in (
            (ragged.take_rows(indptr, task.candidates), mine),
            (ragged.take_rows(indptr, task.references), theirs),
        )
    )
    n_refs = ragged.lengths(task.indptr)
    share = np.repeat(SCALE / 4 / np.maximum(n_refs, 1), n_refs)
    reference = ragged.row_numbers(references.indptr)
    values = references.values * share[reference]
    rows = Cells(references.indptr[task.indptr], references.features, values)
    if sigma is None:
        one = np.zeros(len(values), np.int64), np.zeros(len(task), np.int64)
        return SparsePairs(rows, columns, *one, np.ones((1, 1)))
    length = vectors[1].ngrams.totals
    theirs, kinds = np.unique(length[task.references], return_inverse=True)
    mine, classes = np.unique(length[task.candidates], return_inverse=True)
    scale = length_penalty(mine[:, None], theirs, float(sigma))
    return SparsePairs(rows, columns, kinds.ravel()[reference], classes.ravel(), scale)


def _count_features(
    vectors: Sequence[TfIdf], *, clip: bool
) -> tuple[Ints, Ints, NDArray[Any], NDArray[Any]]:
    """Return each n-gram of each order, or each level of it if counts are clipped, as a feature.

    Returns
    -------
    indptr, features : int arrays
        The features of each text.
    mine, theirs : float arrays
        Their values where the text is a candidate, and where it is a reference.
    """
    parts, first = [], 0
    for one in vectors:
        ngrams = one.ngrams
        level, cell = (
            np.zeros(len(ngrams.codes), np.int64),
            np.arange(len(ngrams.codes)),
        )
        if clip:
            indptr = ragged.offsets(ngrams.counts)
            level, cell = ragged.positions(indptr), ragged.row_numbers(indptr)
        grams, size = ngrams.codes[cell], len(ngrams)
        names = grams.astype(np.int64)
        higher, number = np.unique(
            (level * size + grams)[level > 0], return_inverse=True
        )
        names[level > 0] = size + number.ravel()
        text, counts = ragged.row_numbers(ngrams.indptr)[cell], ngrams.counts[cell]
        norms = one.norms[text]
        inverse = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
        theirs = counts * np.add(*one.squares(grams)) * inverse
        parts.append(
            (text, first + names, inverse if clip else counts * inverse, theirs)
        )
        first += size + len(higher)
    row, *columns = map(np.concatenate, zip(*parts, strict=True))
    order = np.argsort(row, kind="stable")
    indptr = ragged.offsets(
        np.bincount(row, minlength=len(vectors[0].ngrams.indptr) - 1)
    )
    features, mine, theirs = (column[order] for column in columns)
    return indptr, features, mine, theirs


def _check_sigma(sigma: float) -> None:
    if not sigma > 0:
        raise InputError(
            "bad-option", name="sigma", value=sigma, wanted="a number above 0"
        )


_SHARED = (
    one_of(
        "df",
        " ".join(SOURCES),
        "what document frequencies are counted on: the images of the "
        "run, its rows, or a fit that is given",
    ),
    one_of("stem", "none porter", "stem words (Porter 1980)"),
    NO_REFERENCE,
)
_SIGMA = Option(
    "sigma",
    "sigma",
    6.0,
    kind=float,
    check=_check_sigma,
    help="length difference at which the penalty is exp(-1/2), in bigrams",
)
_TRAITS: dict[str, Any] = {
    "cite": ("vedantam2015",),
    "bounds": (0.0, SCALE),
    "needs": frozenset({"document_frequencies"}),
    "extra": {"pairs": cider_pairs, "percent": True},
}
CIDErD = caption_steps.caption_measure(
    "CIDEr-D",
    caption_steps.CaptionMeans(cider_values),
    "Clipped tf-idf cosine of n-grams with the references, less for other lengths.",
    "10/4 Σ_n mean_j exp(-(l_c - l_j)²/2σ²) Σ min(g_c, g_j) g_j / (|g_c| |g_j|)",
    "Vedantam et al. 2015, section 7; coco-caption",
    options=(_SIGMA, *_SHARED),
    **_TRAITS,
)
CIDEr = caption_steps.caption_measure(
    "CIDEr",
    caption_steps.CaptionMeans(cider_values),
    "Cosine of the tf-idf vectors of n-grams with the references.",
    "10/4 Σ_n mean_j g_c · g_j / (|g_c| |g_j|)",
    "Vedantam et al. 2015, equations 2 and 3; the authors' code",
    options=_SHARED,
    **_TRAITS,
)
