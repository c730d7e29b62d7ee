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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import as_floats
from semmetrics.core.hashing import Hashes, hash_strings, mix
from semmetrics.core.ragged import (
    Bools,
    Floats,
    Ints,
    lengths,
    offsets,
    positions,
    row_numbers,
    sum_rows,
    take_rows,
)
from semmetrics.metrics.captions.bleu import REFERENCE_LENGTH, BleuCounts
from semmetrics.metrics.captions.families import (
    SKIP_OR_NAN,
    CountSums,
    References,
    caption_values,
    summed_or_nan,
)
from semmetrics.metrics.captions.tokens import CaptionBlock, Tokens, TokenTable
from semmetrics.metrics.definition import Columns, Definition, Frame, Measure, Statistic, Sums
from semmetrics.metrics.policies import ItemMeans, divide
from semmetrics.metrics.registry import add

__all__ = [
    "CaptionLength",
    "DuplicatedCaption",
    "LengthRatio",
    "ReferenceCount",
    "UniqueCaptions",
    "Vocabulary",
    "has_repeated_word",
]

_TIMES = 3  # a word so many times in a row makes a caption a duplicated one


def has_repeated_word(indptr: Ints, codes: NDArray[np.integer], times: int = _TIMES) -> Bools:
    """Whether a text has a word so many times in a row, or more.

    Parameters
    ----------
    indptr, codes : int arrays
        Tokens of each text.
    times : int
        At least 1.

    Returns
    -------
    bool array, shape (texts,)

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 4.3.

    Examples
    --------
    >>> has_repeated_word(np.array([0, 4, 7]), np.array([5, 6, 6, 6, 6, 5, 6])).tolist()
    [True, False]
    """
    again = np.zeros(len(codes), np.int64)
    again[1:] = (codes[1:] == codes[:-1]) & (positions(indptr)[1:] > 0)
    changes = np.flatnonzero(again == 0)
    # a run of n equal words has n - 1 places that repeat the word before
    runs = np.diff(changes, append=len(codes))
    long = np.zeros(len(codes), np.int64)
    long[changes] = runs >= times
    return sum_rows(long, indptr) > 0


@dataclass(frozen=True)
class ItemNumbers:
    """A number of each candidate: columns "value" and "cause" (there is always a value).

    ``name`` is that of the measure.
    """

    name: str
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """The numbers."""
        beside = block.get(References())
        if self.name == "ReferenceCount":
            values = beside.n_refs
        else:
            values = _of_texts(self.name, block.get(Tokens()), beside.candidates)
        return caption_values(values.astype(np.float64), beside.n_refs)


def _of_texts(name: str, table: TokenTable, texts: Ints) -> NDArray[Any]:
    if name == "DuplicatedCaption":
        indptr, flat = take_rows(table.indptr, texts)
        return has_repeated_word(indptr, table.codes[flat])
    return lengths(table.indptr)[texts]


class ItemNumberFamily(ItemMeans):
    """Means over candidates of a number that each has."""

    def statistic(self, measure: Measure) -> Statistic:
        """The numbers."""
        return ItemNumbers(measure.definition.name)


class LengthRatioFamily(CountSums):
    """Tokens of the candidates over those of their effective references."""

    def statistic(self, measure: Measure) -> Statistic:
        """The counts of BLEU."""
        return BleuCounts(str(measure["reflen"]))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """The ratio of the sums."""
        ratio = divide(as_floats(sums["testlen"]), as_floats(sums["reflen"]))
        return summed_or_nan(measure, sums, ratio)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """The ratio of each candidate; nan also where the references are empty."""
        columns: Any = rows
        return np.asarray(divide(columns["testlen"].values, columns["reflen"].values))


@dataclass(frozen=True, eq=False)
class Hashed:
    """A column of some hashes an item, which say the same in every part of the data.

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
    def join(parts: Sequence[Hashed]) -> Hashed:
        """Parts one after the other."""
        widths = np.concatenate([lengths(part.indptr) for part in parts])
        return Hashed(offsets(widths), np.concatenate([part.hashes for part in parts]))

    def distinct(self, weights: Floats) -> Ints:
        """How many different hashes the items of positive weight have, shape (B,)."""
        names, codes = np.unique(self.hashes, return_inverse=True)
        rows, found = row_numbers(self.indptr), np.empty(len(weights), np.int64)
        for place, drawn in enumerate(weights > 0):
            seen = np.zeros(len(names), np.bool_)
            seen[codes.ravel()[drawn[rows]]] = True
            found[place] = seen.sum()
        return found


@dataclass(frozen=True)
class WordHashes:
    """A hash of each token of the task; made once for all blocks."""

    def compute(self, block: CaptionBlock) -> Hashes:
        """Hash the vocabulary."""
        shared = block.task.shared
        if self not in shared:
            shared[self] = hash_strings(block.get(Tokens()).vocabulary)
        hashes: Hashes = shared[self]
        return hashes


@dataclass(frozen=True)
class CandidateWords:
    """The words of each candidate: column "words"."""

    additive: bool = False
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Hashes of the distinct words."""
        table, candidates = block.get(Tokens()), block.get(References()).candidates
        words = table.ngrams[0]
        indptr, cells = take_rows(words.indptr, candidates)
        tokens = table.codes[words.places[words.codes[cells]]]
        return {"words": Hashed(indptr, block.get(WordHashes())[tokens])}


@dataclass(frozen=True)
class CandidateTexts:
    """Each candidate as a whole: column "text"."""

    additive: bool = False
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """One hash of the tokens."""
        table, candidates = block.get(Tokens()), block.get(References()).candidates
        indptr, flat = take_rows(table.indptr, candidates)
        placed = block.get(WordHashes())[table.codes[flat]] ^ mix(positions(indptr))
        total = np.zeros(len(flat) + 1, np.uint64)
        np.cumsum(mix(placed), out=total[1:])
        texts = mix(total[indptr[1:]] - total[indptr[:-1]] + mix(lengths(indptr)))
        return {"text": Hashed(np.arange(len(candidates) + 1), texts)}


class DistinctFamily(CountSums):
    """Measures of how many different words, or captions, the candidates have."""

    def statistic(self, measure: Measure) -> Statistic:
        """The words, or the captions."""
        return CandidateWords() if measure.definition.name == "Vocabulary" else CandidateTexts()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Their number, for captions as a share of the candidates that are there."""
        rows: Any = sums["rows"]
        if measure.definition.name == "Vocabulary":
            return np.asarray(rows["words"].distinct(sums["weights"]), np.float64)
        items = (sums["weights"] > 0).sum(axis=-1)
        return np.asarray(divide(rows["text"].distinct(sums["weights"]), items))

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """None of the candidates."""
        return {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Different words of each candidate; None for captions, of which each has one."""
        columns: Any = rows
        if measure.definition.name == "Vocabulary":
            return lengths(columns["words"].indptr).astype(np.float64)
        return None


def _description(
    name: str, family: Any, summary: str, equation: str, source: str = "", **more: Any
) -> Definition:
    return add(
        Definition(
            name=name,
            family=family,
            summary=summary,
            equation=equation,
            source=source or "description",
            cutoff=False,
            kind="captions",
            **more,
        )
    )


_ENDLESS: dict[str, Any] = {"bounds": (0.0, np.inf)}
DuplicatedCaption = _description(
    "DuplicatedCaption",
    ItemNumberFamily(),
    "Share of candidates that have a word three or more times in a row.",
    "|{s: s_i = s_(i+1) = s_(i+2) for some i}| / |S|",
    "Wan et al. 2022, section 4.3",
    cite=("wan2022",),
    higher_is_better=False,
)
CaptionLength = _description(
    "CaptionLength",
    ItemNumberFamily(),
    "Mean number of tokens of a candidate.",
    "Σ |s| / |S|",
    **_ENDLESS,
)
LengthRatio = _description(
    "LengthRatio",
    LengthRatioFamily(),
    "Tokens of all candidates over tokens of their effective references, as BLEU has them.",
    "Σ |s| / Σ |r(s)|",
    "Papineni et al. 2002, section 2.2.2",
    cite=("papineni2002",),
    options=(REFERENCE_LENGTH, SKIP_OR_NAN),
    **_ENDLESS,
)
ReferenceCount = _description(
    "ReferenceCount",
    ItemNumberFamily(),
    "Mean number of references of a candidate.",
    "Σ |R(s)| / |S|",
    **_ENDLESS,
)
Vocabulary = _description(
    "Vocabulary",
    DistinctFamily(),
    "Number of different tokens in all candidates.",
    "|{w: w in s for some s}|",
    **_ENDLESS,
)
UniqueCaptions = _description(
    "UniqueCaptions",
    DistinctFamily(),
    "Share of different captions among the candidates.",
    "|{s}| / |S|",
)
