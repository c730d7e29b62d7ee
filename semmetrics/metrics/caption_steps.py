"""What caption measures share: tokens, and candidates with their references.

Conventions
-----------
An item is a candidate caption. One without reference captions has no value: its cause is
``no_reference``. An empty caption is a caption, with a value. Each distinct caption of a task is
tokenized once, for all measures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import OneHot
from semmetrics.core.hashing import Hashes, hash_strings
from semmetrics.core.ngrams import NGrams, count_ngrams
from semmetrics.core.ragged import Codes, Floats, Ints, lengths
from semmetrics.data.tasks import Block, CaptionTask
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Measure, Option, Statistic, Value
from semmetrics.metrics.families import CAUSES, POLICIES, ItemMeans, value_columns
from semmetrics.text.tokenizers import encode_tokens

CaptionBlock: TypeAlias = Block[CaptionTask]

NO_REFERENCE = Option(
    "no_reference", "noref", "skip", POLICIES, help="policy for candidates without references"
)
# For a function of sums, to which an item without references can add nothing.
SKIP_OR_NAN = replace(NO_REFERENCE, choices=("skip", "nan"))


@dataclass(frozen=True, eq=False)
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


def task_tokens(task: CaptionTask, stem: str = "none") -> TokenTable:
    """Return the tokens of all captions of a task, made at the first use.

    Parameters
    ----------
    task : CaptionTask
    stem : {"none", "porter"}
    """
    key = ("tokens", stem)
    if key not in task.shared:
        lists = task.shared.pop("token lists", None) or task.tokenizer.tokens(task.texts)
        if stem == "porter":
            from semmetrics.text.tokenizers import porter_stem

            stems = {token: porter_stem(token) for tokens in lists for token in tokens}
            lists = [[stems[token] for token in tokens] for tokens in lists]
        task.shared[key] = TokenTable(*encode_tokens(lists))
    table: TokenTable = task.shared[key]
    return table


def joined_tokens(task: CaptionTask) -> list[str]:
    """Return the tokens of each distinct caption of a task with blanks between them."""
    shared = task.shared
    if "joined tokens" not in shared:
        if ("tokens", "none") in shared:
            lists = task_tokens(task).lists
        else:  # numbers of tokens are made when a measure needs them
            lists = shared["token lists"] = task.tokenizer.tokens(task.texts)
        shared["joined tokens"] = list(map(" ".join, lists))
    texts: list[str] = shared["joined tokens"]
    return texts


@dataclass(frozen=True, eq=False)
class CandidateReferences:
    """The captions of a block's items, as numbers of texts.

    Attributes
    ----------
    candidates : int array, shape (items,)
    indptr, references : int arrays
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
    def pair_candidates(self) -> Ints:
        """The candidate of each pair of a candidate and one of its references."""
        return np.repeat(self.candidates, self.n_refs)


@dataclass(frozen=True)
class References:
    """A step: each candidate of the block with its references."""

    def compute(self, block: CaptionBlock) -> CandidateReferences:
        """Gather the references."""
        indptr, references = block.task.pairs(block.start, block.stop)
        candidates = block.task.candidates[block.start : block.stop]
        return CandidateReferences(candidates, indptr, references)


def cause_column(n_refs: Ints) -> OneHot:
    """Return the column "cause" of items that lack a value only if they lack references."""
    cause = np.where(n_refs == 0, CAUSES.index("no_reference"), 0)
    return OneHot(cause.astype(np.int8), len(CAUSES))


@dataclass(frozen=True)
class CaptionValues:
    """A step: a value of each candidate, by a function of the block and of options."""

    values: Callable[..., NDArray[Any]]
    options: tuple[tuple[str, Value], ...] = ()
    additive: bool = True
    labels: frozenset[str] = frozenset()

    def compute(self, block: CaptionBlock) -> dict[str, Any]:
        """Return the columns "value" and "cause"."""
        values = np.asarray(self.values(block, **dict(self.options)), np.float64)
        n_refs = block.get(References()).n_refs
        return value_columns(values, np.ones(len(values), np.int64), n_refs)


class CaptionMeans(ItemMeans):
    """Means over candidates.

    Parameters
    ----------
    values : callable
        Takes a block, and the measure's options by keyword; returns a value of each candidate, nan
        of those that have none.
    """

    def __init__(self, values: Callable[..., NDArray[Any]]) -> None:
        self._values = values

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step of item values."""
        options = [one for one in measure.options if one[0] not in CAUSES]
        return CaptionValues(self._values, tuple(options))


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
        raise InputError("wrong-type", where, value=captions, wanted="a list of captions")
    if {*map(type, captions)} <= {str}:
        return
    for number, text in enumerate(captions):
        if not isinstance(text, str):
            raise InputError("wrong-type", f"{where}[{number}]", value=text, wanted="a string")


def is_list(value: Any) -> bool:
    """Tell whether it has a length and an order, and is not a string."""
    if isinstance(value, str | bytes | Mapping | Set) or getattr(value, "shape", None) == ():
        return False
    return hasattr(value, "__len__") and hasattr(value, "__iter__")
