"""What caption measures share: tokens, and candidates with their references.

Conventions
-----------
An item is a candidate caption. One without reference captions has no value: its cause is
``no_reference``. An empty caption is a caption, with a value. Each distinct caption of a task is
tokenized once, for all measures.
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
from semmetrics.data.tasks import Block, CaptionTask, kept
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Statistic, Value, model_key
from semmetrics.metrics.families import CAUSES, ItemMeans, policy_option, value_columns
from semmetrics.metrics.registry import define
from semmetrics.text.tokenizers import encode_tokens

CaptionBlock: TypeAlias = Block[CaptionTask]

NO_REFERENCE = policy_option(
    "no_reference", "noref", "skip", "candidates without references"
)
# For a function of sums, to which an item without references can add nothing.
SKIP_OR_NAN = NO_REFERENCE._replace(choices=("skip", "nan"))


@dataclass(frozen=True, eq=False, repr=False)
class TokenTable:
    """The tokens of the distinct captions of a task.

    Attributes
    ----------
    indptr, codes : int arrays
        Tokens of each caption, as numbers.
    vocabulary : list of str
        The token of each number.
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
        words = [self.vocabulary[code] for code in self.codes.tolist()]
        return [words[start:stop] for start, stop in pairwise(self.indptr.tolist())]

    @cached_property
    def hashes(self) -> Hashes:
        """A hash of each token of the vocabulary."""
        return hash_strings(self.vocabulary)


@kept
def task_tokens(task: CaptionTask, stem: str = "none") -> TokenTable:
    """Return the tokens of all captions of a task; ``stem`` is "none" or "porter"."""
    lists = task.shared.pop("token lists", None) or task.tokenizer.tokens(task.texts)
    if stem == "porter":
        from semmetrics.text.porter import porter_stem

        stems = {token: porter_stem(token) for tokens in lists for token in tokens}
        lists = [[stems[token] for token in tokens] for tokens in lists]
    return TokenTable(*encode_tokens(lists))


@kept
def joined_tokens(task: CaptionTask) -> list[str]:
    """Return the tokens of each distinct caption of a task with blanks between them."""
    if (__name__, "task_tokens", "none") in task.shared:
        lists = task_tokens(task).lists
    else:  # numbers of tokens are made when a measure needs them
        lists = task.shared["token lists"] = task.tokenizer.tokens(task.texts)
    return list(map(" ".join, lists))


class CandidateReferences:
    """The captions of a block's items, as numbers of texts.

    Attributes
    ----------
    candidates, n_refs : int arrays, shape (items,)
    indptr, references : int arrays
        The references of each item.
    """

    def __init__(self, block: CaptionBlock) -> None:
        self.indptr, self.references = block.task.pairs(block.start, block.stop)
        self.candidates = block.task.candidates[block.start : block.stop]
        self.n_refs = lengths(self.indptr)

    @property
    def pair_candidates(self) -> Ints:
        """The candidate of each pair of a candidate and one of its references."""
        return np.repeat(self.candidates, self.n_refs)


items_of = kept(CandidateReferences)


def cause_column(n_refs: Ints) -> OneHot:
    """Return the column "cause" of items that lack a value only if they lack references."""
    cause = np.where(n_refs == 0, CAUSES.index("no_reference"), 0)
    return OneHot(cause.astype(np.int8), len(CAUSES))


class SharedCells(NamedTuple):
    """The n-grams that candidates share with each of their references, all int arrays.

    Attributes
    ----------
    pairs : the pair of a candidate and a reference
    codes : the n-gram
    mine, theirs : how often the candidate and the reference have it
    """

    pairs: Ints
    codes: NDArray[np.integer]
    mine: Ints
    theirs: Ints


def share_ngrams(
    grams: NGrams, candidates: Ints, indptr: Ints, references: Ints
) -> SharedCells:
    """Find the n-grams that each candidate shares with each of its references.

    Parameters
    ----------
    grams : NGrams
    candidates : int array, shape (items,)
        Texts.
    indptr, references : int arrays, shapes (items + 1,) and (pairs,)
        The texts of each item's references.

    Examples
    --------
    >>> unigrams = count_ngrams(np.array([0, 3, 5]), np.array([7, 7, 8, 7, 7]), 1)[0]
    >>> shared = share_ngrams(unigrams, np.array([0]), np.array([0, 1]), np.array([1]))
    >>> shared.mine.tolist(), shared.theirs.tolist()
    ([2], [2])
    """
    size = len(grams)
    rows, mine = take_rows(grams.indptr, candidates)
    held = row_numbers(rows) * size + grams.codes[mine]
    rows, theirs = take_rows(grams.indptr, references)
    wanted = np.repeat(row_numbers(indptr) * size, lengths(rows)) + grams.codes[theirs]
    places = np.searchsorted(held, wanted)
    both = np.flatnonzero(np.append(held, -1)[places] == wanted)
    places, theirs = places[both], theirs[both]
    counts = (grams.counts[cells].astype(np.int64) for cells in (mine[places], theirs))
    pairs = np.searchsorted(rows, both, "right") - 1
    return SharedCells(pairs, grams.codes[theirs], *counts)


@dataclass(frozen=True, repr=False)
class CaptionValues(Statistic):
    """A step: a value of each candidate, by a function of the block and of options."""

    values: Callable[..., Any]
    options: tuple[tuple[str, Value], ...] = ()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        found, n_refs = self.values(block, **dict(self.options)), items_of(block).n_refs
        values, n_pred = found if isinstance(found, tuple) else (found, 1)
        n_pred = np.where(n_refs > 0, n_pred, 1)  # without references it is no cause
        return value_columns(np.asarray(values, np.float64), n_pred, n_refs)


class CaptionMeans(ItemMeans):
    """Means over candidates.

    Parameters
    ----------
    values : callable
        Takes a block, and the measure's options by keyword; returns a value of each candidate, nan
        of those that have none. Or these and a number of each candidate: 0 where there is nothing
        of it to compare, which is the cause ``no_prediction``.
    """

    def __init__(self, values: Callable[..., Any]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of item values."""
        options = {name: value for name, value in measure.options if name not in CAUSES}
        if "embedding" in options:
            options["embedding"] = model_key(measure)
        return CaptionValues(self._values, tuple(options.items()))


caption_measure = partial(define, cutoff=False, kind="captions")
"""Register a measure of captions, by default without a cutoff."""


def largest_of_rows(values: NDArray[Any], indptr: Ints) -> Floats:
    """Return the largest value of each row; nan in a row without values.

    Examples
    --------
    >>> largest_of_rows(np.array([1, 3, 2]), np.array([0, 2, 2, 3])).tolist()
    [3.0, nan, 2.0]
    """
    found = np.full(len(indptr) - 1, np.nan)
    some = lengths(indptr) > 0
    if some.any():
        found[some] = np.maximum.reduceat(values, indptr[:-1][some])
    return found


def check_references(references: Any, where: str = "references") -> None:
    """Refuse anything but a list with a list of captions for each image."""
    if not is_list(references):
        wanted = "a list with a list of captions for each image"
        raise InputError("wrong-type", where, value=references, wanted=wanted)
    for image, captions in enumerate(references):
        check_captions(captions, f"{where}[{image}]")


def check_captions(captions: Any, where: str) -> None:
    """Refuse anything but a list of strings; the characters of a string would be captions."""
    if not is_list(captions):
        raise InputError(
            "wrong-type", where, value=captions, wanted="a list of captions"
        )
    for number, text in enumerate(captions):
        if not isinstance(text, str):
            raise InputError(
                "wrong-type", f"{where}[{number}]", value=text, wanted="a string"
            )


def is_list(value: Any) -> bool:
    """Tell whether it has a length and an order, and is not a string."""
    if (
        isinstance(value, str | bytes | Mapping | Set)
        or getattr(value, "shape", None) == ()
    ):
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")
