"""Similarity of the answers of systems for the same images: NGSM, another measure, a function."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.lists import Entry, Lists
from semmetrics.data.tasks.labels import FOUND_CLASSES
from semmetrics.errors import InputError
from semmetrics.messages import pluralize
from semmetrics.metrics.caption_overlap import ngsm_systems
from semmetrics.metrics.caption_statistics import find_repeated_words
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.parsing import parse_one
from semmetrics.scoring.evaluation import (
    Evaluation,
    choose_kind,
    open_evaluation,
    requested_kind,
)
from semmetrics.scoring.score import score_evaluation
from semmetrics.text.tokenizers import Tokenizer, encode_tokens

Pairs = Sequence[tuple[int, int]]
"""Pairs of systems, by their numbers."""
AnswerFunction = Callable[[Any, Any], float]
"""A user's function of two captions, or of two lists of labels."""


class _CachingTokenizer(Tokenizer, Protocol):
    """A tokenizer that caches the tokens of captions."""

    def forget(self) -> None:
        """Clear the cache."""


# ---- answers -----------------------------------------------------------------------------------


class AnswerBlock:
    """The answers of systems for the same images.

    Parameters
    ----------
    lists : mapping from system to Lists
        All with the same images in the same order.

    Attributes
    ----------
    distinct : list of tuple
        The distinct answers. Each has the entries for an image.
    codes : int array, shape (systems, images)
        The index of each answer in ``distinct``.
    """

    def __init__(self, lists: Mapping[str, Lists]) -> None:
        code_by_answer: dict[tuple[Entry, ...], int] = {}
        codes = []
        for lists_of_system in lists.values():
            codes_of_system = []
            for answer in _iterate_answers(lists_of_system):
                code = code_by_answer.setdefault(tuple(answer), len(code_by_answer))
                codes_of_system.append(code)
            codes.append(codes_of_system)
        self.lists = lists
        self.distinct = list(code_by_answer)
        self.codes: Ints = np.array(codes, np.int64)

    def __len__(self) -> int:
        return len(self.codes[0])

    def texts(self) -> list[str]:
        """Return the distinct answers if each is one string. No entry is an empty string.

        Raises
        ------
        InputError
            If an answer has several entries. The message names the system and the image.
        """
        texts = []
        for code, answer in enumerate(self.distinct):
            if not answer:
                texts.append("")
            elif len(answer) == 1 and isinstance(answer[0], str):
                texts.append(answer[0])
            else:
                raise self._several_answers_error(code)
        return texts

    def _several_answers_error(self, code: int) -> InputError:
        """Return the error of an answer that is not a single string."""
        system, image = np.argwhere(self.codes == code)[0].tolist()
        lists = list(self.lists.values())[system]
        n_entries = pluralize(len(self.distinct[code]), lists.noun)
        return InputError("several-answers", lists.where(image), found=n_entries)


def _iterate_answers(lists: Lists) -> Iterator[list[Entry]]:
    """Yield the entries of each item.

    Only the entries that these items have are read from the vocabulary, which may be large and
    decode its strings on access.
    """
    codes: Ints = lists.side.codes.astype(np.int64)
    lowest = 0
    n_spanned = 0
    if len(codes):
        lowest = int(codes.min())
        n_spanned = int(codes.max()) + 1 - lowest
    if n_spanned <= 2 * len(codes):
        # The usual case. A slice of strings is decoded at once.
        strings = list(lists.vocabulary[lowest : lowest + n_spanned])
        indices = codes - lowest
    else:
        used_codes, indices = np.unique(codes, return_inverse=True)
        strings = [lists.vocabulary[code] for code in used_codes.tolist()]
    entries = [strings[index] for index in indices.tolist()]
    for start, stop in pairwise(lists.side.indptr.tolist()):
        yield entries[start:stop]


# ---- similarities ------------------------------------------------------------------------------


class Comparison(NamedTuple):
    """How alike pairs of systems answer for some images.

    Attributes
    ----------
    values : float array, shape (pairs, images)
        nan if undefined.
    lower_orders : float array, shape (orders, pairs, images)
        NGSM of the lower orders, the highest order first. There are none for other similarities.
    """

    values: Floats
    lower_orders: Floats


class Similarity(ABC):
    """A function of how alike systems answer.

    Attributes
    ----------
    name : str
        The measure with its options.
    models : dict from str to str
        Identities of the models that answers are compared with. Complete after the first
        comparison.
    larger_is_discrepant : bool
        Whether a larger value is more discrepant.
    needs_all_images : bool
        Whether the value of an image depends on other images, so that all images of a batch must
        be compared at once.
    """

    name: str
    models: dict[str, str]
    larger_is_discrepant = False
    needs_all_images = False

    @abstractmethod
    def compare(
        self, block: AnswerBlock, pairs: Pairs, *, lower_orders: bool = False
    ) -> Comparison:
        """Compare the answers of pairs of systems.

        Parameters
        ----------
        block : AnswerBlock
        pairs : sequence of pairs of int
        lower_orders : bool
            Whether to compute the lower orders, if there are any.
        """

    def describe_answers(self, system: str) -> dict[str, int]:
        """Return counts of unusual answers among the answers that were compared."""
        return {}


class NgsmSimilarity(Similarity):
    """NGSM, computed from n-grams that are counted once per caption.

    Parameters
    ----------
    measure : Measure
    tokenizer : caching tokenizer
    """

    def __init__(self, measure: Measure, tokenizer: _CachingTokenizer) -> None:
        self.name = str(measure)
        self.models = {"tok": str(tokenizer.name)}
        self._order = int(str(measure["order"]))
        self._tokenizer = tokenizer
        self._n_duplicated = Counter[str]()
        self._duplicated_words = defaultdict[str, set[str]](set)

    def compare(
        self, block: AnswerBlock, pairs: Pairs, *, lower_orders: bool = False
    ) -> Comparison:
        """Compute the NGSM of the captions of pairs of systems."""
        tokens = self._tokenizer.tokens(block.texts())
        # The captions of a large set would fill the memory.
        self._tokenizer.forget()
        indptr, codes, vocabulary = encode_tokens(tokens)
        self._count_repeated_words(block, indptr, codes, vocabulary)
        grams = count_ngrams(indptr, codes, self._order)
        values = ngsm_systems(grams, block.codes, pairs)
        orders = range(0)
        if lower_orders:
            orders = range(self._order - 1, 0, -1)
        lower = np.zeros((len(orders), *values.shape))
        for row, order in enumerate(orders):
            lower[row] = ngsm_systems(grams[:order], block.codes, pairs)
        return Comparison(values, lower)

    def _count_repeated_words(
        self,
        block: AnswerBlock,
        indptr: Ints,
        codes: NDArray[np.integer],
        vocabulary: Sequence[str],
    ) -> None:
        """Count captions with a word three or more times in a row, and collect the words."""
        n_captions = len(indptr) - 1
        captions, words = find_repeated_words(indptr, codes)
        for system, captions_of_system in zip(block.lists, block.codes, strict=True):
            is_of_system = np.isin(captions, captions_of_system)
            words_of_system = [
                vocabulary[word] for word in words[is_of_system].tolist()
            ]
            self._duplicated_words[system].update(words_of_system)
            n_times_answered = np.bincount(captions_of_system, minlength=n_captions)
            n_duplicated = int(n_times_answered[np.unique(captions)].sum())
            self._n_duplicated[system] += n_duplicated

    def describe_answers(self, system: str) -> dict[str, int]:
        """Return how many captions repeat a word, and how many distinct words are repeated."""
        return {
            "duplicated": self._n_duplicated[system],
            "duplicated_words": len(self._duplicated_words[system]),
        }


class FunctionSimilarity(Similarity):
    """A user's function of the answers of two systems for an image.

    Parameters
    ----------
    function : callable
        Takes two captions, or two lists of labels. A smaller number is more discrepant. The
        function is called once for equal answers of a block.
    single : bool
        Whether an answer is one string instead of a list.
    """

    def __init__(self, function: AnswerFunction, *, single: bool) -> None:
        self.name = name_function(function)
        self.models = {}
        self._function = function
        self._has_single_entries = single

    def compare(
        self, block: AnswerBlock, pairs: Pairs, *, lower_orders: bool = False
    ) -> Comparison:
        """Call the function for the distinct pairs of answers."""
        answers: list[str] | list[list[Entry]]
        if self._has_single_entries:
            answers = block.texts()
        else:
            answers = list(map(list, block.distinct))
        value_by_codes: dict[tuple[int, int], float] = {}
        values = np.empty((len(pairs), len(block)))
        for row, (first, second) in enumerate(pairs):
            first_codes = block.codes[first].tolist()
            second_codes = block.codes[second].tolist()
            code_pairs = zip(first_codes, second_codes, strict=True)
            for column, (first_code, second_code) in enumerate(code_pairs):
                key = (first_code, second_code)
                if key not in value_by_codes:
                    value = self._function(answers[first_code], answers[second_code])
                    value_by_codes[key] = float(value)
                values[row, column] = value_by_codes[key]
        return Comparison(values, np.zeros((0, *values.shape)))


def name_function(function: object) -> str:
    """Return the name by which a state refers to a function.

    Examples
    --------
    >>> name_function(len)
    'function:len'
    """
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"function:{name}"


class MeasureSimilarity(Similarity):
    """Any measure with values per item, with one system as predictions and another as references.

    Parameters
    ----------
    measure : Measure
    setup : Evaluation
        A setup for this measure.
    """

    needs_all_images = True

    def __init__(self, measure: Measure, setup: Evaluation) -> None:
        self.name = str(measure)
        self.models = {}
        self.larger_is_discrepant = not measure.definition.higher_is_better
        self._is_symmetric = measure.definition.symmetric
        self._setup = setup

    def compare(
        self, block: AnswerBlock, pairs: Pairs, *, lower_orders: bool = False
    ) -> Comparison:
        """Compute the values of images, averaged over both ways if the measure is asymmetric."""
        names = list(block.lists)
        values = np.empty((len(pairs), len(block)))
        for row, (i, j) in enumerate(pairs):
            values[row] = self._score_images(block, names[i], names[j])
            if not self._is_symmetric:
                reverse = self._score_images(block, names[j], names[i])
                values[row] = (values[row] + reverse) / 2
        return Comparison(values, np.zeros((0, *values.shape)))

    def _score_images(self, block: AnswerBlock, pred: str, ref: str) -> Floats:
        """Return the value of each image, and record the models that were used."""
        predictions = {pred: block.lists[pred]}
        references = block.lists[ref]
        prepared = self._setup.join(predictions, references, missing="empty")
        score = score_evaluation(prepared)[0]
        if score.items is None or len(score.items) != len(block):
            raise InputError("no-item-values", measure=self.name)
        statistics = score.statistics
        for name, identity in statistics.models.items():
            if name != FOUND_CLASSES:
                self.models[name] = identity
        if "tok" in statistics.settings:
            self.models["tok"] = statistics.settings["tok"]
        return score.items


# ---- choice of a similarity --------------------------------------------------------------------


class OpenedSimilarity(NamedTuple):
    """A similarity, and all that is needed to read the answers it compares.

    Attributes
    ----------
    similarity : Similarity
    setup : Evaluation
        It reads the answers.
    systems : mapping from name to answers
        The given systems. Those that were opened to infer the kind of data stay open.
    """

    similarity: Similarity
    setup: Evaluation
    systems: Mapping[str, Any]


def open_similarity(
    measure: Any, systems: Mapping[str, Any], options: Mapping[str, Any]
) -> OpenedSimilarity:
    """Choose the similarity of a measure or function, and resolve its options.

    Parameters
    ----------
    measure : str, Measure, Definition or callable
    systems : mapping from name to answers
        At least two.
    options : mapping

    Raises
    ------
    InputError
        If the measure or an option is invalid.
    """
    set_options = {name: value for name, value in options.items() if value is not None}
    if callable(measure) and not isinstance(measure, (Measure, Definition)):
        return _open_function(measure, systems, set_options)
    parsed = parse_one(measure, "a competition")
    definition = parsed.definition
    deciding_options = {"task": set_options.get("task"), "measures": [parsed]}
    requested, _ = requested_kind(deciding_options)
    kind = requested or definition.kind
    setup = open_evaluation(kind, {**set_options, "measures": [parsed]})
    similarity: Similarity
    if definition.name == "NGSM" and definition.kind == setup.kind.name:
        similarity = NgsmSimilarity(parsed, setup.options.tokenizer)
    else:
        similarity = MeasureSimilarity(parsed, setup)
    return OpenedSimilarity(similarity, setup, systems)


def _open_function(
    function: AnswerFunction, systems: Mapping[str, Any], options: Mapping[str, Any]
) -> OpenedSimilarity:
    """Return the similarity of a user's function. The kind is inferred from the answers."""
    # The kind is inferred from two sides. The second system takes the place of the ground truth.
    _, second, *_ = systems
    deciding_options = {"task": options.get("task"), "read": options.get("read")}
    kind, _, systems, opened = choose_kind(systems, systems[second], deciding_options)
    form = importlib.import_module(f"semmetrics.kinds.{kind}").FORM
    similarity = FunctionSimilarity(function, single=form.single)
    setup = open_evaluation(kind, options)
    return OpenedSimilarity(similarity, setup, {**systems, second: opened})
