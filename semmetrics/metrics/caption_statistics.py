"""Statistics of captions: lengths, repeated words and vocabulary.

Conventions
-----------
The tokenizer decides what counts as a word, also for lengths. These measures do not judge
whether a caption is right, and only ``DuplicatedCaption`` has a better direction (lower).

``Vocabulary`` and ``UniqueCaptions`` are not functions of sums. They count each candidate
of a positive weight once. A resample contains only some of the candidates, so an interval
of ``Vocabulary`` by resampling lies below its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    starts_run,
    take_rows,
)
from semmetrics.metrics.bleu import REFERENCE_LENGTH, BleuFamily
from semmetrics.metrics.caption_steps import (
    SKIP_OR_NAN,
    CaptionBlock,
    CaptionMeans,
    caption_measure,
    captions_of,
    task_tokens,
)
from semmetrics.metrics.definition import (
    Columns,
    Family,
    Frame,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.formulas import divide


def find_repeated_words(
    indptr: Ints, codes: NDArray[np.integer], times: int = 3
) -> tuple[Ints, NDArray[np.integer]]:
    """Find words that occur at least ``times`` times in a row.

    Parameters
    ----------
    indptr, codes : int arrays
        The tokens of each caption.
    times : int
        At least 1.

    Returns
    -------
    texts, words : int arrays
        The caption and the code of each run of equal words.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 4.3.

    Examples
    --------
    >>> indptr, codes = np.array([0, 4, 7]), np.array([5, 6, 6, 6, 6, 5, 6])
    >>> [part.tolist() for part in find_repeated_words(indptr, codes)]
    [[0], [6]]
    """
    starts_text = positions(indptr) == 0
    run_starts = np.flatnonzero(starts_run(codes) | starts_text)
    run_lengths = np.diff(run_starts, append=len(codes))
    long_runs = run_starts[run_lengths >= times]
    return row_numbers(indptr)[long_runs], codes[long_runs]


# ---- values of candidates ------------------------------------------------------------


def _is_duplicated(block: CaptionBlock) -> Bools:
    """Return whether each candidate has a word three or more times in a row."""
    table = task_tokens(block.task)
    candidates = captions_of(block).candidates
    indptr, places = take_rows(table.indptr, candidates)
    texts, _ = find_repeated_words(indptr, table.codes[places])
    return np.isin(np.arange(len(block)), texts)


def _count_tokens(block: CaptionBlock) -> Ints:
    """Count the tokens of each candidate."""
    table = task_tokens(block.task)
    candidates = captions_of(block).candidates
    return lengths(table.indptr)[candidates]


def _count_references(block: CaptionBlock) -> Ints:
    """Count the references of each candidate."""
    return captions_of(block).n_refs


class LengthRatioFamily(BleuFamily):
    """Tokens of the candidates over tokens of their effective references."""

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return the ratio, or nan if the references are empty."""
        return np.asarray(divide(numbers["testlen"], numbers["reflen"]))


# ---- distinct words and captions -----------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class HashColumn:
    """A column with any number of hashes per item.

    Hashes do not depend on the part of the data, so columns of several parts can be joined.

    Attributes
    ----------
    indptr : int array, shape (items + 1,)
    hashes : uint64 array
    """

    indptr: Ints
    hashes: Hashes

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @staticmethod
    def join(parts: Sequence[HashColumn]) -> HashColumn:
        """Concatenate the items of several columns."""
        sizes = np.concatenate([lengths(part.indptr) for part in parts])
        hashes = np.concatenate([part.hashes for part in parts])
        return HashColumn(offsets(sizes), hashes)

    def count_distinct(self, weights: Floats) -> Ints:
        """Count the distinct hashes of items with a positive weight.

        Parameters
        ----------
        weights : float array, shape (replicates, items)

        Returns
        -------
        int array, shape (replicates,)
        """
        distinct_hashes, codes = np.unique(self.hashes, return_inverse=True)
        codes = codes.ravel()
        item_of_hash = row_numbers(self.indptr)
        counts = np.empty(len(weights), np.int64)
        for replicate, is_item_drawn in enumerate(weights > 0):
            drawn_codes = codes[is_item_drawn[item_of_hash]]
            is_present = np.zeros(len(distinct_hashes), np.bool_)
            is_present[drawn_codes] = True
            counts[replicate] = is_present.sum()
        return counts


def _hash_words(block: CaptionBlock) -> HashColumn:
    """Hash the distinct words of each candidate."""
    table = task_tokens(block.task)
    candidates = captions_of(block).candidates
    unigrams = table.ngrams[0]
    indptr, cells = take_rows(unigrams.indptr, candidates)
    occurrences = unigrams.places[unigrams.codes[cells]]
    tokens = table.codes[occurrences]
    return HashColumn(indptr, table.hashes[tokens])


def _hash_captions(block: CaptionBlock) -> HashColumn:
    """Hash the tokens of each candidate in their order, one hash per candidate."""
    table = task_tokens(block.task)
    candidates = captions_of(block).candidates
    indptr, places = take_rows(table.indptr, candidates)
    # The hash of a token depends on its position, so that the order of tokens matters.
    token_hashes = table.hashes[table.codes[places]] ^ mix(positions(indptr))
    # Sums of hashes, and their differences, are modulo 2**64.
    running_sums = np.zeros(len(places) + 1, np.uint64)
    np.cumsum(mix(token_hashes), out=running_sums[1:])
    sums_of_captions = running_sums[indptr[1:]] - running_sums[indptr[:-1]]
    hashes = mix(sums_of_captions + mix(lengths(indptr)))
    one_hash_each = np.arange(len(hashes) + 1)
    return HashColumn(one_hash_each, hashes)


@dataclass(frozen=True, repr=False)
class CandidateHashes(Statistic):
    """A step: the hashes of each candidate's words, or of the candidate itself."""

    additive = False
    compute_hashes: Callable[[CaptionBlock], HashColumn]

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the column "hashes"."""
        return {"hashes": self.compute_hashes(block)}


class DistinctFamily(Family):
    """The number of distinct hashes of the candidates that are present.

    Parameters
    ----------
    compute_hashes : callable
        Returns the hashes of the candidates of a block.
    is_share : bool
        Whether to divide the number by the number of candidates.
    """

    def __init__(
        self, compute_hashes: Callable[[CaptionBlock], HashColumn], *, is_share: bool
    ) -> None:
        self._compute_hashes = compute_hashes
        self._is_share = is_share

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes the hashes."""
        return CandidateHashes(self._compute_hashes)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Count distinct hashes, or divide their number by the number of candidates."""
        weights = sums["weights"]
        hashes: HashColumn = sums["rows"]["hashes"]
        n_distinct = hashes.count_distinct(weights).astype(np.float64)
        if not self._is_share:
            return n_distinct
        n_candidates = (weights > 0).sum(axis=-1)
        return divide(n_distinct, n_candidates)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Count the distinct hashes of each candidate. A share has no values of items."""
        if self._is_share:
            return None
        return lengths(rows["hashes"].indptr).astype(np.float64)


# ---- definitions ---------------------------------------------------------------------

_UNBOUNDED: dict[str, Any] = {"bounds": (0.0, np.inf)}
DuplicatedCaption = caption_measure(
    "DuplicatedCaption",
    CaptionMeans(_is_duplicated),
    "Share of candidates in which a word occurs at least three times in a row.",
    "|{s: s_i = s_(i+1) = s_(i+2) for some i}| / |S|",
    "Wan et al. 2022, section 4.3",
    cite=("wan2022",),
    higher_is_better=False,
)
CaptionLength = caption_measure(
    "CaptionLength",
    CaptionMeans(_count_tokens),
    "Mean number of tokens per candidate.",
    "Σ |s| / |S|",
    "description",
    **_UNBOUNDED,
)
LengthRatio = caption_measure(
    "LengthRatio",
    LengthRatioFamily(),
    "Total length of the candidates divided by the total effective reference "
    "length of BLEU.",
    "Σ |s| / Σ |r(s)|",
    "Papineni et al. 2002, section 2.2.2",
    cite=("papineni2002",),
    options=(REFERENCE_LENGTH, SKIP_OR_NAN),
    **_UNBOUNDED,
)
ReferenceCount = caption_measure(
    "ReferenceCount",
    CaptionMeans(_count_references),
    "Mean number of references per candidate.",
    "Σ |R(s)| / |S|",
    "description",
    **_UNBOUNDED,
)
Vocabulary = caption_measure(
    "Vocabulary",
    DistinctFamily(_hash_words, is_share=False),
    "Number of distinct tokens in all candidates.",
    "|{w: w in s for some s}|",
    "description",
    interval="jackknife",  # a resample misses a third of the captions and their words
    **_UNBOUNDED,
)
UniqueCaptions = caption_measure(
    "UniqueCaptions",
    DistinctFamily(_hash_captions, is_share=True),
    "Share of distinct captions among the candidates.",
    "|{s}| / |S|",
    "description",
    interval="jackknife",
)
