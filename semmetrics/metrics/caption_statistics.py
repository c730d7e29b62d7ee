"""What captions look like: lengths, repeated words, vocabulary.

Conventions
-----------
Lengths and words are those of the tokenizer. Nothing here says whether a caption is right; only
``DuplicatedCaption`` has a better side, which is low. ``Vocabulary`` and ``UniqueCaptions`` are no
functions of sums: they look at the candidates that are there, each once, whatever their weights.
In a resample these are the candidates drawn, fewer than there are, so an interval of
``Vocabulary`` lies below its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.hashing import Hashes, mix
from semmetrics.core.ragged import (
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    take_rows,
)
from semmetrics.metrics import caption_steps
from semmetrics.metrics.caption_overlap import REFERENCE_LENGTH, BleuFamily
from semmetrics.metrics.caption_steps import SKIP_OR_NAN, CaptionBlock
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
    """Find the words that stand so many times in a row, or more.

    Parameters
    ----------
    indptr, codes : int arrays
        Tokens of each text.
    times : int
        At least 1.

    Returns
    -------
    texts, words : int arrays
        The text and the code of each such run.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 4.3.

    Examples
    --------
    >>> indptr, codes = np.array([0, 4, 7]), np.array([5, 6, 6, 6, 6, 5, 6])
    >>> [part.tolist() for part in find_repeated_words(indptr, codes)]
    [[0], [6]]
    """
    again = np.zeros(len(codes), np.int64)
    again[1:] = (codes[1:] == codes[:-1]) & (positions(indptr)[1:] > 0)
    changes = np.flatnonzero(again == 0)
    # a run of n equal words has n - 1 places that repeat the word before
    places = changes[np.diff(changes, append=len(codes)) >= times]
    return row_numbers(indptr)[places], codes[places]


def _is_duplicated(block: CaptionBlock) -> NDArray[Any]:
    table = caption_steps.task_tokens(block.task)
    indptr, flat = take_rows(table.indptr, caption_steps.items_of(block).candidates)
    texts, _ = find_repeated_words(indptr, table.codes[flat])
    return np.isin(np.arange(len(block)), texts)


def _token_numbers(block: CaptionBlock) -> NDArray[Any]:
    widths = lengths(caption_steps.task_tokens(block.task).indptr)
    return widths[caption_steps.items_of(block).candidates]


def _reference_numbers(block: CaptionBlock) -> NDArray[Any]:
    return caption_steps.items_of(block).n_refs


class LengthRatioFamily(BleuFamily):
    """Tokens of the candidates over those of their effective references."""

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Return the ratio; nan where the references are empty."""
        return np.asarray(divide(numbers["testlen"], numbers["reflen"]))


@dataclass(frozen=True, eq=False, repr=False)
class HashColumn:
    """A column of hashes, any number an item, that mean the same in every part of the data.

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
        """Return the parts one after the other."""
        widths = np.concatenate([lengths(part.indptr) for part in parts])
        return HashColumn(
            offsets(widths), np.concatenate([part.hashes for part in parts])
        )

    def distinct(self, weights: Floats) -> Ints:
        """Count the different hashes of the items of positive weight, shape (B,)."""
        names, codes = np.unique(self.hashes, return_inverse=True)
        rows, found = row_numbers(self.indptr), np.empty(len(weights), np.int64)
        for place, drawn in enumerate(weights > 0):
            seen = np.zeros(len(names), np.bool_)
            seen[codes.ravel()[drawn[rows]]] = True
            found[place] = seen.sum()
        return found


def _word_hashes(block: CaptionBlock) -> HashColumn:
    """Hash the distinct words of each candidate."""
    table = caption_steps.task_tokens(block.task)
    words = table.ngrams[0]
    indptr, cells = take_rows(words.indptr, caption_steps.items_of(block).candidates)
    return HashColumn(
        indptr, table.hashes[table.codes[words.places[words.codes[cells]]]]
    )


def _text_hashes(block: CaptionBlock) -> HashColumn:
    """Hash all tokens of each candidate together."""
    table = caption_steps.task_tokens(block.task)
    indptr, flat = take_rows(table.indptr, caption_steps.items_of(block).candidates)
    placed = table.hashes[table.codes[flat]] ^ mix(positions(indptr))
    total = np.zeros(len(flat) + 1, np.uint64)
    np.cumsum(mix(placed), out=total[1:])
    texts = mix(total[indptr[1:]] - total[indptr[:-1]] + mix(lengths(indptr)))
    return HashColumn(np.arange(len(texts) + 1), texts)


@dataclass(frozen=True, repr=False)
class CandidateHashes(Statistic):
    """A step: hashes of what each candidate has, column "hashes"."""

    additive = False
    hashes: Callable[[CaptionBlock], HashColumn]

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the column."""
        return {"hashes": self.hashes(block)}


class DistinctFamily(Family):
    """The number of different hashes of the candidates that are there, or their share of these."""

    def __init__(
        self, hashes: Callable[[CaptionBlock], HashColumn], *, share: bool
    ) -> None:
        self._hashes, self._share = hashes, share

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of the hashes."""
        return CandidateHashes(self._hashes)

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Count what is different in the candidates that are there."""
        number = np.asarray(
            sums["rows"]["hashes"].distinct(sums["weights"]), np.float64
        )
        return (
            divide(number, (sums["weights"] > 0).sum(axis=-1))
            if self._share
            else number
        )

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Count the different hashes of each candidate; None for a share, of which one is all."""
        return (
            None if self._share else lengths(rows["hashes"].indptr).astype(np.float64)
        )


_UNBOUNDED: dict[str, Any] = {"bounds": (0.0, np.inf)}
DuplicatedCaption = caption_steps.caption_measure(
    "DuplicatedCaption",
    caption_steps.CaptionMeans(_is_duplicated),
    "Share of candidates that have a word three or more times in a row.",
    "|{s: s_i = s_(i+1) = s_(i+2) for some i}| / |S|",
    "Wan et al. 2022, section 4.3",
    cite=("wan2022",),
    higher_is_better=False,
)
CaptionLength = caption_steps.caption_measure(
    "CaptionLength",
    caption_steps.CaptionMeans(_token_numbers),
    "Mean number of tokens of a candidate.",
    "Σ |s| / |S|",
    "description",
    **_UNBOUNDED,
)
LengthRatio = caption_steps.caption_measure(
    "LengthRatio",
    LengthRatioFamily(),
    "Tokens of all candidates over tokens of their effective references, as BLEU has them.",
    "Σ |s| / Σ |r(s)|",
    "Papineni et al. 2002, section 2.2.2",
    cite=("papineni2002",),
    options=(REFERENCE_LENGTH, SKIP_OR_NAN),
    **_UNBOUNDED,
)
ReferenceCount = caption_steps.caption_measure(
    "ReferenceCount",
    caption_steps.CaptionMeans(_reference_numbers),
    "Mean number of references of a candidate.",
    "Σ |R(s)| / |S|",
    "description",
    **_UNBOUNDED,
)
Vocabulary = caption_steps.caption_measure(
    "Vocabulary",
    DistinctFamily(_word_hashes, share=False),
    "Number of different tokens in all candidates.",
    "|{w: w in s for some s}|",
    "description",
    interval="jackknife",  # a resample lacks a third of the captions, and their words
    **_UNBOUNDED,
)
UniqueCaptions = caption_steps.caption_measure(
    "UniqueCaptions",
    DistinctFamily(_text_hashes, share=True),
    "Share of different captions among the candidates.",
    "|{s}| / |S|",
    "description",
    interval="jackknife",
)
