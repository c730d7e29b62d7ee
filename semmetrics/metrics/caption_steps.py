"""Steps and checks of caption measures: tokens, references and n-grams of candidates.

Conventions
-----------
An item is a candidate caption. A candidate without reference captions has no value, and
its cause is ``no_reference``. An empty caption is a caption and has a value. Each
distinct caption of a task is tokenised once, for all measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import OneHot
from semmetrics.core.hashing import Hashes, hash_strings
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Codes, Floats, Ints, lengths, row_numbers, take_rows
from semmetrics.data.tasks.base import Block, memoised
from semmetrics.data.tasks.captions import CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Statistic, model_key
from semmetrics.metrics.families import CAUSES, ItemMeans, policy_option, value_columns
from semmetrics.metrics.measure_options import OptionValue
from semmetrics.metrics.registry import define
from semmetrics.text.tokenizers import encode_tokens

CaptionBlock: TypeAlias = Block[CaptionTask]

NO_REFERENCE = policy_option(
    "no_reference", "noref", "skip", "candidates without references"
)
SKIP_OR_NAN = NO_REFERENCE._replace(choices=("skip", "nan"))
"""The policy of functions of sums, to which an item without references adds nothing."""

_TOKEN_LISTS = "token lists"
"""Key in ``task.shared`` of tokens that `joined_tokens` has left for `task_tokens`."""


# ---- tokens --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class TokenTable:
    """The tokens of the distinct captions of a task.

    Attributes
    ----------
    indptr, codes : int arrays
        The token codes of each caption.
    vocabulary : list of str
        The token of each code.
    """

    indptr: Ints
    codes: Codes
    vocabulary: list[str]

    @cached_property
    def ngrams(self) -> list[NGrams]:
        """Counts of the n-grams of orders 1 to 4."""
        return count_ngrams(self.indptr, self.codes)

    @cached_property
    def lists(self) -> list[list[str]]:
        """The tokens of each caption."""
        tokens = [self.vocabulary[code] for code in self.codes.tolist()]
        return [tokens[start:stop] for start, stop in pairwise(self.indptr.tolist())]

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each token of the vocabulary."""
        return hash_strings(self.vocabulary)


def task_tokens(task: CaptionTask, stem: str = "none") -> TokenTable:
    """Return the tokens of all captions of a task, encoded once per stemmer.

    Parameters
    ----------
    task : CaptionTask
    stem : {"none", "porter"}
    """
    key = _token_table_key(stem)
    if key not in task.shared:
        token_lists = task.shared.pop(_TOKEN_LISTS, None)
        if token_lists is None:
            token_lists = task.tokenizer.tokens(task.texts)
        if stem == "porter":
            token_lists = _stem_tokens(token_lists)
        task.shared[key] = TokenTable(*encode_tokens(token_lists))
    table: TokenTable = task.shared[key]
    return table


def _token_table_key(stem: str) -> tuple[str, str]:
    """Return the key of a `TokenTable` in ``task.shared``."""
    return ("token table", stem)


def _stem_tokens(token_lists: list[list[str]]) -> list[list[str]]:
    """Stem all tokens (Porter 1980), each distinct one once."""
    from semmetrics.text.porter import porter_stem

    stem_of: dict[str, str] = {}
    stemmed_lists = []
    for tokens in token_lists:
        for token in tokens:
            if token not in stem_of:
                stem_of[token] = porter_stem(token)
        stemmed_lists.append([stem_of[token] for token in tokens])
    return stemmed_lists


@memoised
def joined_tokens(task: CaptionTask) -> list[str]:
    """Return the tokens of each distinct caption of a task, joined by spaces."""
    if _token_table_key("none") in task.shared:
        token_lists = task_tokens(task).lists
    else:
        # Leave the encoding to the first measure that needs token codes
        token_lists = task.tokenizer.tokens(task.texts)
        task.shared[_TOKEN_LISTS] = token_lists
    return list(map(" ".join, token_lists))


# ---- candidates and references -------------------------------------------------------


class CandidateReferences(NamedTuple):
    """The captions of a block's items, as places in ``task.texts``.

    Attributes
    ----------
    candidates : int array, shape (items,)
    indptr, references : int arrays, shapes (items + 1,) and (pairs,)
        The references of each item.
    """

    candidates: Ints
    indptr: Ints
    references: Ints

    @property
    def n_refs(self) -> Ints:
        """The number of references of each item."""
        return lengths(self.indptr)

    @property
    def pair_items(self) -> Ints:
        """The item of each pair of a candidate and one of its references."""
        return row_numbers(self.indptr)

    @property
    def pair_candidates(self) -> Ints:
        """The candidate of each pair of a candidate and one of its references."""
        return np.repeat(self.candidates, self.n_refs)


@memoised
def captions_of(block: CaptionBlock) -> CandidateReferences:
    """Return the candidate and the references of each item of a block."""
    indptr, references = block.task.item_references(block.start, block.stop)
    candidates = block.task.candidates[block.start : block.stop]
    return CandidateReferences(candidates, indptr, references)


def cause_column(n_refs: Ints) -> OneHot:
    """Return the column "cause" of items whose value depends only on references."""
    cause = np.where(n_refs == 0, CAUSES.index("no_reference"), 0)
    return OneHot(cause.astype(np.int8), len(CAUSES))


class KeyedNGrams(NamedTuple):
    """The n-grams of some captions, with a key for each group and n-gram.

    Attributes
    ----------
    indptr : int array, shape (captions + 1,)
        Offsets of the n-grams of each caption.
    cells : int array, shape (n,)
        Their indices in ``NGrams.codes`` and ``NGrams.counts``.
    keys : int array, shape (n,)
        The number of the group times the number of distinct n-grams, plus the code.
    """

    indptr: Ints
    cells: Ints
    keys: Ints


def key_ngrams(ngrams: NGrams, captions: Ints, groups: Ints) -> KeyedNGrams:
    """Return the n-grams of some captions, with equal keys for equal ones of a group.

    Parameters
    ----------
    ngrams : NGrams
    captions : int array
        Numbers of captions.
    groups : int array, same shape
        The number of each caption's group, such as its image.

    Examples
    --------
    >>> unigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 7, 8, 7, 7]), 1)[0]
    >>> key_ngrams(unigrams, np.array([0, 1]), np.array([5, 5])).keys.tolist()
    [10, 11, 10]
    """
    indptr, cells = take_rows(ngrams.indptr, captions)
    keys = np.repeat(groups * len(ngrams), lengths(indptr))
    keys += ngrams.codes[cells]
    return KeyedNGrams(indptr, cells, keys)


class SharedNGrams(NamedTuple):
    """The n-grams that candidates share with their references.

    All are int arrays, shape (n,), with one entry per pair and shared n-gram.

    Attributes
    ----------
    pairs : the pair of a candidate and a reference
    codes : the n-gram
    candidate_counts, reference_counts : how often either caption has the n-gram
    """

    pairs: Ints
    codes: NDArray[np.integer]
    candidate_counts: Ints
    reference_counts: Ints


def share_ngrams(
    ngrams: NGrams, candidates: Ints, indptr: Ints, references: Ints
) -> SharedNGrams:
    """Find the n-grams that each candidate shares with each of its references.

    Parameters
    ----------
    ngrams : NGrams
    candidates : int array, shape (items,)
        Numbers of captions.
    indptr, references : int arrays, shapes (items + 1,) and (pairs,)
        The numbers of each item's reference captions.

    Examples
    --------
    >>> unigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 7, 8, 7, 7]), 1)[0]
    >>> shared = share_ngrams(unigrams, np.array([0]), np.array([0, 1]), np.array([1]))
    >>> shared.candidate_counts.tolist(), shared.reference_counts.tolist()
    ([2], [2])
    """
    by_candidate = key_ngrams(ngrams, candidates, np.arange(len(candidates)))
    by_reference = key_ngrams(ngrams, references, row_numbers(indptr))
    # The keys of candidates rise, because items and the n-grams of a caption do. The
    # place after all of them has the appended -1, which equals no key.
    places = np.searchsorted(by_candidate.keys, by_reference.keys)
    is_shared = np.append(by_candidate.keys, -1)[places] == by_reference.keys
    shared = np.flatnonzero(is_shared)
    candidate_cells = by_candidate.cells[places[shared]]
    reference_cells = by_reference.cells[shared]
    return SharedNGrams(
        pairs=np.searchsorted(by_reference.indptr, shared, "right") - 1,
        codes=ngrams.codes[reference_cells],
        candidate_counts=ngrams.counts[candidate_cells].astype(np.int64),
        reference_counts=ngrams.counts[reference_cells].astype(np.int64),
    )


def largest_of_rows(values: NDArray[Any], indptr: Ints) -> Floats:
    """Return the largest value of each row, or nan for a row without values.

    Examples
    --------
    >>> largest_of_rows(np.array([1, 3, 2]), np.array([0, 2, 2, 3])).tolist()
    [3.0, nan, 2.0]
    """
    largest = np.full(len(indptr) - 1, np.nan)
    has_values = lengths(indptr) > 0
    if has_values.any():
        starts = indptr[:-1][has_values]
        largest[has_values] = np.maximum.reduceat(values, starts)
    return largest


# ---- means over candidates -----------------------------------------------------------


class ComparedValues(NamedTuple):
    """Values of candidates that may have nothing to compare.

    Attributes
    ----------
    values : float array, shape (items,)
        nan if undefined.
    n_compared : int or bool array, shape (items,)
        How much each candidate has to compare. If it is 0 and the value is undefined, the
        cause is ``no_prediction``.
    """

    values: Floats
    n_compared: NDArray[Any]


@dataclass(frozen=True, repr=False)
class CaptionValues(Statistic):
    """A step: the value of each candidate, by a function of the block and of options.

    Attributes
    ----------
    compute_values : callable
        See `CaptionMeans`.
    options : tuple of pairs
        The names and values of its keyword arguments.
    """

    compute_values: Callable[..., Any]
    options: tuple[tuple[str, OptionValue], ...] = ()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        values = self.compute_values(block, **dict(self.options))
        n_compared: NDArray[Any] = np.array(1)
        if isinstance(values, ComparedValues):
            values, n_compared = values
        n_refs = captions_of(block).n_refs
        # Without references, the cause is "no_reference" and never "no_prediction".
        n_pred = np.where(n_refs > 0, n_compared, 1)
        return value_columns(np.asarray(values, np.float64), n_pred, n_refs)


class CaptionMeans(ItemMeans):
    """Means over candidates.

    Parameters
    ----------
    compute_values : callable
        Takes a block, and the measure's options as keywords. Returns `ComparedValues`, or
        only the array of the candidates' values, nan if undefined.
    """

    def __init__(self, compute_values: Callable[..., Any]) -> None:
        self._compute_values = compute_values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes item values."""
        options = {name: value for name, value in measure.options if name not in CAUSES}
        if "embedding" in options:
            options["embedding"] = model_key(measure)
        return CaptionValues(self._compute_values, tuple(options.items()))


caption_measure = partial(define, cutoff=False, kind="captions")
"""Register a measure of captions, by default without a cutoff."""


# ---- checks --------------------------------------------------------------------------


def check_references(references: Any, where: str = "references") -> None:
    """Raise an error unless references are a list with a list of captions per image."""
    if not is_list(references):
        wanted = "a list with a list of captions for each image"
        raise InputError("wrong-type", where, value=references, wanted=wanted)
    for image, captions in enumerate(references):
        check_captions(captions, f"{where}[{image}]")


def check_captions(captions: Any, where: str) -> None:
    """Raise an error unless captions are a list of strings.

    A single string is an error, because its characters would count as captions.
    """
    if not is_list(captions):
        raise InputError(
            "wrong-type", where, value=captions, wanted="a list of captions"
        )
    for number, text in enumerate(captions):
        if not isinstance(text, str):
            place = f"{where}[{number}]"
            raise InputError("wrong-type", place, value=text, wanted="a string")


def is_list(value: Any) -> bool:
    """Return whether a value has a length and an order, and is not a string."""
    if isinstance(value, str | bytes | Mapping | Set):
        return False
    is_scalar_array = getattr(value, "shape", None) == ()
    if is_scalar_array:
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")
