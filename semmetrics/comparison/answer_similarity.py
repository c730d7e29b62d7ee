"""How alike systems answer for the same images: by NGSM, by any measure of items, by a function.

Conventions
-----------
A measure that is better when it is higher is a similarity: the most discrepant images are those
with its smallest values; of a measure that is better when it is lower, those with its largest. A
measure that is not symmetric is computed both ways, and the mean of both is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from semmetrics.arguments import foreign_errors
from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.lists import Entry, Lists
from semmetrics.data.tasks import FOUND
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, listing, pluralize
from semmetrics.metrics.caption_statistics import find_repeated_words
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.ngsm import ngsm_systems
from semmetrics.scoring.plan import Setup
from semmetrics.scoring.score import score_prepared
from semmetrics.text.tokens import encode_tokens

__all__ = [
    "AnswerBlock",
    "FunctionSimilarity",
    "MeasureSimilarity",
    "NgsmSimilarity",
    "Pairs",
    "Similarity",
    "name_function",
]

Pairs = Sequence[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class AnswerBlock:
    """What systems answer for the same images.

    Attributes
    ----------
    lists : mapping from system to Lists
        Of the same images in the same order.
    """

    lists: Mapping[str, Lists]

    def __len__(self) -> int:
        return len(next(iter(self.lists.values())))

    def parts(self, size: int) -> Iterator[AnswerBlock]:
        """Yield the images in parts of at most so many."""
        for start in range(0, len(self), size):
            stop = min(start + size, len(self))
            yield AnswerBlock({n: _part(one, start, stop) for n, one in self.lists.items()})

    @cached_property
    def _coded(self) -> tuple[list[tuple[Entry, ...]], Ints]:
        known: dict[tuple[Entry, ...], int] = {}
        codes = [
            [known.setdefault(tuple(answer), len(known)) for answer in _answers(one)]
            for one in self.lists.values()
        ]
        return list(known), np.array(codes, np.int64)

    @property
    def distinct(self) -> list[tuple[Entry, ...]]:
        """The distinct answers, each the entries of an image."""
        return self._coded[0]

    @property
    def codes(self) -> Ints:
        """The place of each answer among the distinct ones, shape (systems, images)."""
        return self._coded[1]

    def texts(self) -> list[str]:
        """Return the distinct answers where each is one text; no text is an empty one.

        Raises
        ------
        InputError
            If a system has several for an image; names them.
        """
        for answer in self.distinct:
            if len(answer) > 1 or not all(isinstance(entry, str) for entry in answer):
                system, place = np.argwhere(self.codes == self.distinct.index(answer))[0].tolist()
                one = list(self.lists.values())[system]
                raise InputError(
                    f"there are {pluralize(len(answer), one.noun)}: {listing(answer)}",
                    where=one.where(place),
                    remedy="give each image one caption; name a measure of label sets (such as "
                    "SemF1) where these are labels",
                )
        return [str(answer[0]) if answer else "" for answer in self.distinct]


def _part(lists: Lists, start: int, stop: int) -> Lists:
    """Return some items, which know their places."""
    side, where = lists.side.rows(start, stop), lists.where
    return replace(
        lists, ids=lists.ids[start:stop], side=side, where=lambda item: where(start + item)
    )


def _answers(lists: Lists) -> Iterator[list[Entry]]:
    """Yield the entries of each item, made of the entries that these items have."""
    codes: Ints = lists.side.codes.astype(np.int64)
    first, last = (int(codes.min()), int(codes.max()) + 1) if len(codes) else (0, 0)
    if last - first <= 2 * len(codes):  # as a rule; a slice of texts is made at once
        entries, place = list(lists.vocabulary[first:last]), codes - first
    else:
        used, place = np.unique(codes, return_inverse=True)
        entries = [lists.vocabulary[code] for code in used.tolist()]
    flat = [entries[code] for code in place.tolist()]
    ends = lists.side.indptr.tolist()
    return (flat[start:stop] for start, stop in pairwise(ends))


class Similarity(Protocol):
    """How alike systems answer.

    Attributes
    ----------
    name : str
        The measure, with its options.
    larger : bool
        Whether a larger value is more discrepant.
    whole : bool
        Whether the value of an image depends on other images, which are then compared at once.
    models : mapping
        What it compares with, by identity, such as the tokenizer ("tok") and embeddings; known
        when something has been compared.
    """

    name: str
    larger: bool
    whole: bool
    models: dict[str, str]

    def compare(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return the values of pairs of systems, shape (pairs, images); nan where undefined."""
        ...


class NgsmSimilarity:
    """NGSM, from n-grams that are counted once a caption.

    Parameters
    ----------
    measure : Measure
    tokenizer : Tokenizer

    Attributes
    ----------
    duplicated : mapping from system to int
        How many captions have a word three or more times in a row.
    words : mapping from system to set of str
        Those words.
    """

    larger = whole = False

    def __init__(self, measure: Measure, tokenizer: Any) -> None:
        self.name, self._order = str(measure), int(str(measure["order"]))
        self._tokenizer, self.models = tokenizer, {"tok": str(tokenizer.name)}
        self.duplicated: dict[str, int] = {}
        self.words: dict[str, set[str]] = {}

    def compare(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return the NGSM of the captions of pairs of systems."""
        indptr, codes, vocabulary = encode_tokens(self._tokenizer.tokens(block.texts()))
        self._tokenizer.forget()  # of the captions of a large set it would keep too much
        text, token = find_repeated_words(indptr, codes)
        for system, own in zip(block.lists, block.codes, strict=True):
            mine = np.isin(text, own)
            self.words.setdefault(system, set()).update(vocabulary[t] for t in token[mine].tolist())
            times = np.bincount(own, minlength=len(indptr) - 1)
            found = int(times[np.unique(text)].sum())
            self.duplicated[system] = self.duplicated.get(system, 0) + found
        return ngsm_systems(count_ngrams(indptr, codes, self._order), block.codes, pairs)


class FunctionSimilarity:
    """A function of the user's own, from what two systems answer for an image to a number.

    Parameters
    ----------
    function : callable
        Takes two captions, or two lists of labels; a smaller number is more discrepant. It is
        called once for equal answers of a block.
    single : bool
        Whether an answer is one text, and no list.
    """

    larger = whole = False

    def __init__(self, function: Callable[[Any, Any], float], *, single: bool) -> None:
        self._function, self._single = function, single
        self.name, self.models = name_function(function), dict[str, str]()

    def compare(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return the values of the function."""
        given: list[Any] = block.texts() if self._single else [list(a) for a in block.distinct]
        known: dict[tuple[int, int], float] = {}
        found = np.empty((len(pairs), len(block)))
        for row, (first, second) in enumerate(pairs):
            both = zip(block.codes[first].tolist(), block.codes[second].tolist(), strict=True)
            for column, pair in enumerate(both):
                if pair not in known:
                    known[pair] = self._value(given[pair[0]], given[pair[1]])
                found[row, column] = known[pair]
        return found

    def _value(self, first: Any, second: Any) -> float:
        with foreign_errors(self.name):
            value = self._function(first, second)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"it gives {brief(value)} for {brief(first)} and {brief(second)}",
                where=self.name,
                remedy="give a number, or nan for images that are not to be selected",
            ) from None
        return number


def name_function(function: object) -> str:
    """Return what a state calls a function.

    Examples
    --------
    >>> name_function(len)
    'function:len'
    """
    return f"function:{getattr(function, '__qualname__', type(function).__qualname__)}"


class MeasureSimilarity:
    """Any measure with values of items: one system as predictions, the other as references.

    Parameters
    ----------
    measure : Measure
    setup : Setup
        Opened for that measure.
    """

    whole = True

    def __init__(self, measure: Measure, setup: Setup) -> None:
        self.name, self._setup, self.models = str(measure), setup, dict[str, str]()
        self.larger = not measure.definition.higher_is_better
        self._both = not measure.definition.symmetric

    def compare(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return the values of items; of a measure that is not symmetric the mean of both ways."""
        names = list(block.lists)
        found = np.empty((len(pairs), len(block)))
        for row, (first, second) in enumerate(pairs):
            found[row] = self._items(block, names[first], names[second])
            if self._both:
                found[row] = (found[row] + self._items(block, names[second], names[first])) / 2
        return found

    def _items(self, block: AnswerBlock, first: str, second: str) -> Floats:
        preds = {first: block.lists[first]}
        score = score_prepared(self._setup.prepare(preds, block.lists[second], missing="empty"))[0]
        if score.items is None or len(score.items) != len(block):
            raise InputError(
                f"{self.name} has no value for each image",
                remedy="choose a measure that has: NGSM of captions, SemF1 or F1 of labels",
            )
        statistics = score.statistics
        found = {name: one for name, one in statistics.models.items() if name != FOUND}
        if "tok" in statistics.settings:
            found["tok"] = statistics.settings["tok"]
        self.models.update(found)
        return score.items
