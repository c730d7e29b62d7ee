"""The images on which two systems differ most, found in one pass over what the systems answer.

Conventions
-----------
A measure that is better when it is higher is a similarity: the most discrepant images are those
with its smallest values; of a measure that is better when it is lower, those with its largest. A
measure that is not symmetric is computed both ways, and the mean of both is used.

Images without a value are never selected. Images of equal values are told apart by their id ("id",
in the order of code points; by number where items have no ids), by their position ("position"),
or by a hash of the seed, the two systems and the id ("random"). So the selection depends neither on
blocks nor, but for "position", on the order of the images. Values that rounding alone tells apart
are equal. Most images may have an NGSM of 0: how
many share the value of the last one selected is counted. Where ties decide, "id" selects the same
few images for all pairs, and "random" others for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from semmetrics.core.columns import exact_sums, to_floats
from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.form import has_surrogate
from semmetrics.data.lists import Entry, Lists
from semmetrics.data.tasks import FOUND
from semmetrics.errors import InputError
from semmetrics.messages import brief, pluralize
from semmetrics.metrics.caption_statistics import find_repeated_words
from semmetrics.metrics.definition import Measure
from semmetrics.metrics.ngsm import ngsm_systems
from semmetrics.scoring.plan import Setup
from semmetrics.scoring.score import score_prepared
from semmetrics.text.tokenizers import encode_tokens

Pairs = Sequence[tuple[int, int]]


class AnswerBlock:
    """What systems answer for the same images.

    Parameters
    ----------
    lists : mapping from system to Lists
        Of the same images in the same order.

    Attributes
    ----------
    distinct : list of tuple
        The distinct answers, each the entries of an image.
    codes : int array, shape (systems, images)
        The place of each answer among the distinct ones.
    """

    def __init__(self, lists: Mapping[str, Lists]) -> None:
        known: dict[tuple[Entry, ...], int] = {}
        codes = [
            [known.setdefault(tuple(answer), len(known)) for answer in _answers(one)]
            for one in lists.values()
        ]
        self.lists, self.distinct = lists, list(known)
        self.codes: Ints = np.array(codes, np.int64)

    def __len__(self) -> int:
        return len(self.codes[0])

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
                found = pluralize(len(answer), one.noun)
                raise InputError("several-answers", one.where(place), found=found)
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
        value = self._function(first, second)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError("not-a-number", self.name, role="its value", value=value) from None
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
            raise InputError("no-item-values", measure=self.name)
        statistics = score.statistics
        found = {name: one for name, one in statistics.models.items() if name != FOUND}
        if "tok" in statistics.settings:
            found["tok"] = statistics.settings["tok"]
        self.models.update(found)
        return score.items


TIES = ("id", "position", "random")
_ANSWERS = 1 << 16  # compared at a time
_BITS = 40  # of a value, of which images with equal ones are told apart by the rule for ties


@dataclass(frozen=True)
class PairSelection:
    """The images that were selected for two systems.

    Attributes
    ----------
    first, second : str
        The systems.
    images : tuple of str
        The most discrepant first.
    values : tuple of float
        How alike the systems answer for each.
    n : int
        Images with a value.
    undefined : int
        Images without a value, which are never selected.
    identical : int
        Images for which both answer the same.
    mean : float
        Over the images with a value.
    tied, taken : int
        How many images have the value of the last one selected, and how many of them are selected.
    """

    first: str
    second: str
    images: tuple[str, ...]
    values: tuple[float, ...]
    n: int
    undefined: int
    identical: int
    mean: float
    tied: int
    taken: int


class _Tally:
    """The k smallest values of one pair so far, and counts."""

    def __init__(self, k: int) -> None:
        self._k, self.cut = k, math.inf
        self.kept: list[tuple[float, Any, str, float]] = []
        self.n = self.undefined = self.identical = self.tied = 0
        self.sum = exact_sums(np.zeros(0))

    def update(self, values: Floats, rank: Any, keys: Sequence[Any], names: Sequence[str]) -> None:
        """Add the values of a block; rank and keys order its images where values are equal."""
        defined = ~np.isnan(values)
        self.n += int(defined.sum())
        self.undefined += int(len(values) - defined.sum())
        self.sum += exact_sums(values[defined])
        # to so many bits that equal values, computed in another order, are equal
        fractions, exponents = np.frexp(values)
        rounded = np.ldexp(np.rint(np.ldexp(fractions, _BITS)), exponents - _BITS)
        near = np.flatnonzero(defined & (rounded <= self.cut))
        before, old = self.kept, self.cut
        best = near[np.lexsort((rank[near], rounded[near]))[: self._k]].tolist()
        new = [(float(rounded[p]), keys[p], names[p], float(values[p])) for p in best]
        self.kept = sorted(before + new)[: self._k]
        if len(self.kept) < self._k:
            return
        self.cut = self.kept[-1][0]
        here = int((rounded[near] == self.cut).sum())
        earlier = sum(value == self.cut for value, *_ in before)
        self.tied = here + (self.tied if self.cut == old else earlier)

    def finish(self, first: str, second: str, sign: float) -> PairSelection:
        """Return what was selected."""
        taken = sum(value == self.cut for value, *_ in self.kept)
        return PairSelection(
            first,
            second,
            tuple(name for _, _, name, _ in self.kept),
            tuple(sign * value + 0.0 for *_, value in self.kept),
            self.n,
            self.undefined,
            self.identical,
            sign * float(to_floats(self.sum)[0]) / self.n if self.n else math.nan,
            self.tied,
            taken,
        )


class Selector:
    """The k most discrepant images of each pair of systems, from blocks of any number of images.

    Memory grows with the pairs and k, and by eight bytes an image.

    Parameters
    ----------
    systems : sequence of str
    similarity : Similarity
    k : int
    pairs : sequence of pairs of int, optional
        Of systems; all where left out.
    ties : {"id", "position", "random"}
    seed : int
        Of "random".
    exclude : collection of str
        Images that are not selected.
    """

    def __init__(
        self,
        systems: Sequence[str],
        similarity: Similarity,
        k: int,
        *,
        pairs: Pairs | None = None,
        ties: str = "id",
        seed: int = 0,
        exclude: Iterable[str] = (),
    ) -> None:
        every = [(i, j) for i in range(len(systems)) for j in range(i + 1, len(systems))]
        self.systems, self.pairs = tuple(systems), every if pairs is None else pairs
        self._similarity, self._k, self._ties, self._seed = similarity, k, ties, seed
        self._exclude, self.excluded, self.n = frozenset(exclude), set[str](), 0
        self._tallies = [_Tally(k) for _ in self.pairs]
        self._hashes: list[Hashes] = []
        self.fingerprints = dict.fromkeys(systems, 0)
        self.empty = dict.fromkeys(systems, 0)

    def update(
        self, lists: Mapping[str, Lists], progress: Callable[[int, int], None] | None = None
    ) -> None:
        """Compare the systems on some images, which all Lists have in the same order."""
        number = len(next(iter(lists.values())))
        size = max(1, number if self._similarity.whole else _ANSWERS // len(self.systems))
        for start in range(0, number, size):
            stop = min(start + size, number)
            part = {name: _part(lists[name], start, stop) for name in self.systems}
            self._compare(AnswerBlock(part))
            if progress is not None:
                progress(stop, number)

    def _compare(self, block: AnswerBlock) -> None:
        ids = next(iter(block.lists.values())).ids
        numbered = isinstance(ids, (range, np.ndarray))
        if numbered:
            ids = range(self.n, self.n + len(block))
        names = [str(name) for name in ids]
        _check_characters(names)
        hashes = hash_ids(ids)
        self._hashes.append(hashes)
        self._describe(block, hashes)
        values = self._similarity.compare(block, self.pairs)
        if np.isinf(values).any():
            raise InputError("not-finite", self._similarity.name, role="a value", value=math.inf)
        values = -values if self._similarity.larger else values
        left_out = [place for place, name in enumerate(names) if name in self._exclude]
        self.excluded.update(names[place] for place in left_out)
        values[:, left_out] = np.nan
        order = self._order(names, hashes, numbered=numbered)
        for tally, row, (first, second) in zip(self._tallies, values, self.pairs, strict=True):
            keys, rank = order(first, second)
            tally.update(row, rank, keys, names)
            tally.undefined -= len(left_out)
            tally.identical += int((block.codes[first] == block.codes[second]).sum())
        self.n += len(block)

    def _order(
        self, names: list[str], ids: Hashes, *, numbered: bool
    ) -> Callable[[int, int], tuple[Any, Any]]:
        """Return what gives a pair the keys by which equal values are told apart, and their ranks.

        Keys are compared with those of other blocks.
        """
        numbers = np.arange(self.n, self.n + len(names))
        if self._ties == "random":
            seed = np.full(1, self._seed % 2**64, np.uint64)

            def hashed(first: int, second: int) -> tuple[Any, Any]:
                pair = hash_strings(sorted((self.systems[first], self.systems[second])))
                keys = mix(ids + mix(seed + mix(pair[:1] + mix(pair[1:]))))
                return keys.tolist(), keys

            return hashed
        if self._ties == "position" or numbered:
            found: tuple[Any, Any] = numbers.tolist(), numbers
        else:
            rank = np.empty(len(names), np.int64)
            rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            found = names, rank
        return lambda first, second: found

    def _describe(self, block: AnswerBlock, ids: Hashes) -> None:
        """Add to the fingerprint of each system, and count its empty answers."""
        blank = np.array([not any(str(e).strip() for e in answer) for answer in block.distinct])
        texts = [
            "\x1f".join(e if isinstance(e, str) else "\x1e".join(e) for e in answer)
            for answer in block.distinct
        ]
        _check_characters(texts)
        hashes = mix(hash_strings(texts)) if texts else np.zeros(0, np.uint64)
        for system, codes in zip(block.lists, block.codes, strict=True):
            total = int(mix(ids + hashes[codes]).sum(dtype=np.uint64))
            self.fingerprints[system] = (self.fingerprints[system] + total) % 2**64
            self.empty[system] += int(blank[codes].sum())

    def candidates(self) -> set[str]:
        """Return the images that are selected as far as is known."""
        return {name for tally in self._tallies for _, _, name, _ in tally.kept}

    def finish(self) -> list[PairSelection]:
        """Return what was selected for each pair.

        Raises
        ------
        InputError
            If an id came twice, or there are fewer than k images with a value.
        """
        hashes = np.concatenate(self._hashes) if self._hashes else np.zeros(0, np.uint64)
        if len(np.unique(hashes)) != len(hashes):
            raise InputError("duplicate", "batches", role="an image in", value="two batches")
        sign = -1.0 if self._similarity.larger else 1.0
        made = []
        for tally, (first, second) in zip(self._tallies, self.pairs, strict=True):
            one = tally.finish(self.systems[first], self.systems[second], sign)
            if len(one.images) < self._k:
                raise InputError("too-few-images", f"{one.first} and {one.second}", k=self._k,
                                 n=len(one.images), measure=self._similarity.name)  # fmt: skip
            made.append(one)
        return made


def _check_characters(texts: Sequence[str]) -> None:
    """Refuse what no file can hold, neither a state nor a sheet."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(filter(has_surrogate, texts))
        raise InputError("lone-surrogate", role=brief(wrong)) from None


def align_systems(
    lists: Mapping[str, Lists], missing: str = "error"
) -> tuple[dict[str, Lists], int]:
    """Return the Lists of systems with the same images in the order of the first, and how many not.

    Parameters
    ----------
    lists : mapping from system to Lists
    missing : {"error", "skip"}
        What becomes of images that a system lacks.

    Raises
    ------
    InputError
        If systems have different images under "error", or only some have ids.

    Examples
    --------
    >>> from semmetrics.kinds.captions import as_captions
    >>> systems = {"a": as_captions({"1": "x", "2": "y"}), "b": as_captions({"2": "z", "3": "w"})}
    >>> aligned, left_out = align_systems(systems, "skip")
    >>> aligned["b"].to_list(), left_out
    ([['z']], 2)
    """
    (name, first), *others = lists.items()
    for other, one in others:
        if isinstance(one.ids, range) != isinstance(first.ids, range):
            raise InputError("unlike-items", f"{name} and {other}", only="one of them has ids")
        if isinstance(first.ids, range) and len(one) != len(first):
            only = f"{len(first)} and {pluralize(len(one), 'item')} without ids"
            raise InputError("unlike-items", f"{name} and {other}", only=only)
    if isinstance(first.ids, range):
        return dict(lists), 0
    ids = list(first.ids)
    if all(list(one.ids) == ids for _, one in others):
        return dict(lists), 0
    shared = set(ids).intersection(*(one.ids for _, one in others))
    every = set(ids).union(*(one.ids for _, one in others))
    if missing != "skip" and len(shared) < len(every):
        for system, one in lists.items():
            if absent := sorted(every.difference(one.ids)):
                raise InputError("missing-images", system, n=len(absent), examples=absent)
    if not shared:
        raise InputError("nothing-given", what="images that all systems have",
                         remedy="use the same ids for all")  # fmt: skip
    kept = [id_ for id_ in ids if id_ in shared]
    return {n: _take(one, kept) for n, one in lists.items()}, len(every) - len(shared)


def _take(one: Lists, ids: list[str]) -> Lists:
    place = {id_: number for number, id_ in enumerate(one.ids)}
    rows = np.array([place[id_] for id_ in ids], np.int64)
    where = one.where
    return replace(
        one, ids=ids, side=one.side.take(rows), where=lambda item: where(int(rows[item]))
    )
