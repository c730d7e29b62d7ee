"""The images of a maximum discrepancy competition: selected, and added to, in one call each.

Conventions
-----------
Systems answer for the same images, which need no references. The images on which two systems differ
most are selected, annotated, and decide between the two; all pairs together give one global rank
(Wan et al. 2022). Selecting keeps a state, to which systems can be added and which is ranked.

The state of a competition is one JSON file: systems, options, a fingerprint of what each system
answers for all images, the images of each pair, and what both answer for those. It ends with a hash
of all this. A file that was edited by hand is refused.

A measure that is better when it is higher is a similarity: the most discrepant images are those
with its smallest values; of a measure that is better when it is lower, those with its largest. A
measure that is not symmetric is computed both ways, and the mean of both is used.

Images without a value are never selected. Images of equal values are told apart by their id ("id",
in the order of code points; by number where items have no ids), by their position ("position"),
or by a hash of the seed, the two systems and the id ("random"). The default is "orders": if NGSM is
0, the smallest NGSM of one order less comes first, and so on down to single words, then the id. So
the selection depends neither on blocks nor, but for "position", on the order of the images. Values
that rounding alone tells apart are equal. Most images may have an NGSM of 0: how many share the
value of the last one selected is counted ("orders" counts those that the lower orders do not tell
apart). Where ties decide, "id" selects the same few images for all pairs, and "random" others for
each.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import chain, combinations, pairwise, product
from typing import Any

import numpy as np

from semmetrics._version import __version__
from semmetrics.arguments import check_choice
from semmetrics.core.columns import exact_sums, to_floats
from semmetrics.core.hashing import Hashes, by_value, hash_ids, hash_strings, mix
from semmetrics.core.ngrams import count_ngrams
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.form import DEFAULTS, takes_options
from semmetrics.data.items import has_surrogate
from semmetrics.data.json_files import parse_source
from semmetrics.data.lists import Entry, Lists, Side
from semmetrics.data.source import enough_memory, load
from semmetrics.data.tasks import FOUND
from semmetrics.errors import FROM_0, Fact, InputError, first_of_each
from semmetrics.kinds.common import counted, finite_or_none, named
from semmetrics.messages import (
    Spelling,
    brief,
    keyword,
    listing,
    pluralize,
    report_progress,
)
from semmetrics.metrics.caption_overlap import ngsm_systems
from semmetrics.metrics.caption_statistics import find_repeated_words
from semmetrics.metrics.definition import DEFAULT_EMBEDDING, Definition, Measure
from semmetrics.metrics.registry import parse, parse_one
from semmetrics.options import OPTIONS
from semmetrics.reports import Records, Result, cells
from semmetrics.scoring.evaluate import Progress
from semmetrics.scoring.evaluation import (
    Evaluation,
    choose_kind,
    describe_inputs,
    open_evaluation,
    requested_kind,
)
from semmetrics.scoring.score import score_evaluation
from semmetrics.store.files import open_output
from semmetrics.text.tokenizers import encode_tokens

Pairs = Sequence[tuple[int, int]]
Function = Callable[[Any, Any], float]
TIES = ("orders", "id", "position", "random")
_SCHEMA = "semmetrics.mad/1"
_UNSAVED = ("facts", "understood")
_IMAGES_OF_A_PAIR = 70  # as in the paper
_ANSWERS = 1 << 16  # compared at a time
_BITS = 40  # of a value, of which images with equal ones are told apart by the rule for ties


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
                system, place = np.argwhere(self.codes == self.distinct.index(answer))[
                    0
                ].tolist()
                one = list(self.lists.values())[system]
                found = pluralize(len(answer), one.noun)
                raise InputError("several-answers", one.where(place), found=found)
        return [str(answer[0]) if answer else "" for answer in self.distinct]


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
        self.duplicated, self.words = Counter[str](), defaultdict[str, set[str]](set)
        self._grams: Sequence[Any] = ()

    def compare(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return the NGSM of the captions of pairs of systems."""
        indptr, codes, vocabulary = encode_tokens(self._tokenizer.tokens(block.texts()))
        self._tokenizer.forget()  # of the captions of a large set it would keep too much
        text, token = find_repeated_words(indptr, codes)
        for system, own in zip(block.lists, block.codes, strict=True):
            mine = np.isin(text, own)
            self.words[system].update(vocabulary[t] for t in token[mine].tolist())
            times = np.bincount(own, minlength=len(indptr) - 1)
            self.duplicated[system] += int(times[np.unique(text)].sum())
        self._grams = count_ngrams(indptr, codes, self._order)
        return ngsm_systems(self._grams, block.codes, pairs)

    def lower_orders(self, block: AnswerBlock, pairs: Pairs) -> Floats:
        """Return NGSM of the lower orders for the block compared last, the highest order first.

        Returns
        -------
        float array, shape (orders - 1, pairs, images)
        """
        values = np.zeros((self._order - 1, len(pairs), len(block)))
        for row, order in enumerate(range(self._order - 1, 0, -1)):
            values[row] = ngsm_systems(self._grams[:order], block.codes, pairs)
        return values


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
        given: list[Any] = (
            block.texts() if self._single else [list(a) for a in block.distinct]
        )
        known: dict[tuple[int, int], float] = {}
        found = np.empty((len(pairs), len(block)))
        for row, (first, second) in enumerate(pairs):
            both = zip(
                block.codes[first].tolist(), block.codes[second].tolist(), strict=True
            )
            for column, pair in enumerate(both):
                if pair not in known:
                    known[pair] = float(self._function(given[pair[0]], given[pair[1]]))
                found[row, column] = known[pair]
        return found


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
    setup : Evaluation
        Opened for that measure.
    """

    whole = True

    def __init__(self, measure: Measure, setup: Evaluation) -> None:
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
                found[row] = (
                    found[row] + self._items(block, names[second], names[first])
                ) / 2
        return found

    def _items(self, block: AnswerBlock, first: str, second: str) -> Floats:
        preds = {first: block.lists[first]}
        score = score_evaluation(
            self._setup.join(preds, block.lists[second], missing="empty")
        )[0]
        if score.items is None or len(score.items) != len(block):
            raise InputError("no-item-values", measure=self.name)
        statistics = score.statistics
        found = {name: one for name, one in statistics.models.items() if name != FOUND}
        if "tok" in statistics.settings:
            found["tok"] = statistics.settings["tok"]
        self.models.update(found)
        return score.items


Similarity = NgsmSimilarity | FunctionSimilarity | MeasureSimilarity
"""How alike systems answer: values of pairs of systems, shape (pairs, images); nan where undefined.

``name`` is the measure with its options; ``larger`` says that a larger value is more discrepant;
``whole`` that the value of an image depends on other images, which are then compared at once;
``models`` has what it compares with by identity, once something has been compared.
"""


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
    """The k smallest values of one pair so far, and counts.

    An image is kept as its value, what tells equal values apart before the rule for ties (values of
    lower orders), its place by that rule, its name, and its value before rounding.
    """

    def __init__(self, k: int, first: str, second: str) -> None:
        self._k, self.first, self.second = k, first, second
        self.cut: tuple[float, tuple[float, ...]] = (math.inf, ())
        self.kept: list[tuple[float, tuple[float, ...], Any, str, float]] = []
        self.n = self.undefined = self.identical = self.tied = 0
        self.sum = exact_sums(np.zeros(0))

    def update(
        self,
        values: Floats,
        lower: Floats,
        rank: Any,
        keys: Sequence[Any],
        names: Sequence[str],
    ) -> None:
        """Add the values of a block.

        Images of equal values are in the order of ``lower``, shape (orders, images), and then of
        rank and keys.
        """
        defined = ~np.isnan(values)
        self.n += int(defined.sum())
        self.undefined += int(len(values) - defined.sum())
        self.sum += exact_sums(values[defined])
        rounded = _rounded(values)
        lower = np.where(rounded == 0, _rounded(lower), 0.0)
        near = np.flatnonzero(defined & (rounded <= self.cut[0]))
        before, old = self.kept, self.cut
        order = np.lexsort((rank[near], *lower[::-1, near], rounded[near]))
        new = []
        for place in near[order[: self._k]].tolist():
            level = float(rounded[place]), tuple(lower[:, place].tolist())
            new.append((*level, keys[place], names[place], float(values[place])))
        self.kept = sorted(before + new)[: self._k]
        if len(self.kept) < self._k:
            return
        self.cut = self.kept[-1][:2]
        is_tied = rounded[near] == self.cut[0]
        for row, value in zip(lower, self.cut[1], strict=True):
            is_tied &= row[near] == value
        here = int(is_tied.sum())
        earlier = sum(image[:2] == self.cut for image in before)
        self.tied = here + (self.tied if self.cut == old else earlier)

    def keep_first(self, k: int) -> None:
        """Keep only the k smallest values."""
        cut = self.kept[k - 1][:2]
        # all images with this value are among those that were kept so far
        if cut != self.cut:
            self.tied = sum(image[:2] == cut for image in self.kept)
        self.kept, self.cut = self.kept[:k], cut

    def finish(self, sign: float) -> PairSelection:
        """Return what was selected."""
        images = tuple(image[3] for image in self.kept)
        values = tuple(sign * image[4] + 0.0 for image in self.kept)
        mean = sign * float(to_floats(self.sum)[0]) / self.n if self.n else math.nan
        taken = sum(image[:2] == self.cut for image in self.kept)
        return PairSelection(
            self.first,
            self.second,
            images,
            values,
            self.n,
            self.undefined,
            self.identical,
            mean,
            self.tied,
            taken,
        )


def _rounded(values: Floats) -> Floats:
    """Round to so many bits that equal values, computed in another order, are equal."""
    fractions, exponents = np.frexp(values)
    return np.asarray(np.ldexp(np.rint(np.ldexp(fractions, _BITS)), exponents - _BITS))


class Selector:
    """The most discrepant images of each pair of systems, from blocks of any number of images.

    Memory grows with the pairs and k, and by eight bytes an image.

    Parameters
    ----------
    state : DiscrepancySelection
        How many images are selected, and how equal ones are told apart.
    systems : sequence of str
    similarity : Similarity
    pairs : sequence of pairs of int
        Of systems.
    exclude : iterable of str
        Images that are not selected.
    """

    def __init__(
        self,
        state: DiscrepancySelection,
        systems: Sequence[str],
        similarity: Similarity,
        pairs: Pairs,
        exclude: Iterable[str],
    ) -> None:
        _check_characters(systems)
        self.systems, self.pairs, self.noun = tuple(systems), pairs, "entry"
        self._similarity, self._state = similarity, state
        self._exclude, self.excluded = frozenset(exclude), set[str]()
        self._tallies = [_Tally(state.k, systems[i], systems[j]) for i, j in pairs]
        self._hashes: list[Hashes] = []
        self._answers: dict[str, tuple[tuple[Entry, ...], ...]] = {}
        self.n = self.left_out = 0
        self.fingerprints, self.empty = Counter[str](), Counter[str]()

    def update(
        self, lists: Mapping[str, Lists], missing: str, progress: Progress = None
    ) -> None:
        """Compare the systems on some images; those that one lacks are an error, or left out."""
        lists, left_out = _align(lists, missing)
        self.left_out += left_out
        first = next(iter(lists.values()))
        self.noun, number = first.noun, len(first)
        size = max(
            1, number if self._similarity.whole else _ANSWERS // len(self.systems)
        )
        for start in range(0, number, size):
            stop = min(start + size, number)
            part = {}
            for name, one in lists.items():
                side = one.side.rows(start, stop)
                part[name] = _part(one, one.ids[start:stop], side, range(start, stop))
            self._compare(AnswerBlock(part))
            report_progress(progress, stop, number, "comparing answers", "item")

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
            raise InputError(
                "not-finite", self._similarity.name, role="a value", value=math.inf
            )
        values = -values if self._similarity.larger else values
        left_out = [place for place, name in enumerate(names) if name in self._exclude]
        self.excluded.update(names[place] for place in left_out)
        values[:, left_out] = np.nan
        # by which equal values are told apart, here and in other blocks
        rank: Any = np.arange(self.n, self.n + len(names))
        keys: Sequence[Any] = rank.tolist()
        if self._state.ties in ("orders", "id") and not numbered:
            rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(
                len(names)
            )
            keys = names
        lower = np.zeros((0, *values.shape))
        if self._state.ties == "orders" and isinstance(
            self._similarity, NgsmSimilarity
        ):
            lower = self._similarity.lower_orders(block, self.pairs)
        seed = np.full(1, self._state.seed % 2**64, np.uint64)
        for place, (tally, row) in enumerate(zip(self._tallies, values, strict=True)):
            first, second = self.pairs[place]
            if self._state.ties == "random":
                pair = hash_strings(sorted((tally.first, tally.second)))
                rank = mix(hashes + mix(seed + mix(pair[:1] + mix(pair[1:]))))
                keys = rank.tolist()
            tally.update(row, lower[:, place], rank, keys, names)
            tally.undefined -= len(left_out)
            tally.identical += int((block.codes[first] == block.codes[second]).sum())
        self.n += len(block)
        # of images that may be selected the answers are kept; all others are let go
        near = {image[3] for tally in self._tallies for image in tally.kept}
        self._answers = {
            name: some for name, some in self._answers.items() if name in near
        }
        for place, name in enumerate(names):
            if name in near:
                codes = block.codes[:, place].tolist()
                self._answers[name] = tuple(block.distinct[code] for code in codes)

    def _describe(self, block: AnswerBlock, ids: Hashes) -> None:
        """Add to the fingerprint of each system, and count its empty answers."""
        blank = np.array(
            [not any(str(e).strip() for e in answer) for answer in block.distinct]
        )
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

    def describe(self) -> dict[str, dict[str, Any]]:
        """Describe what each system answers."""
        found: dict[str, dict[str, Any]] = {
            name: {
                "fingerprint": f"{self.fingerprints[name]:016x}",
                "empty": self.empty[name],
            }
            for name in self.systems
        }
        if isinstance(self._similarity, NgsmSimilarity):
            for name, own in found.items():
                own["duplicated"] = self._similarity.duplicated[name]
                own["duplicated_words"] = len(self._similarity.words[name])
        return found

    def keep_in_total(self, total: int) -> int:
        """Keep as many images of each pair as give at most so many different images.

        Returns
        -------
        int
            The number of images of each pair.

        Raises
        ------
        InputError
            If one image of each pair is already more.
        """
        images, k = set[str](), 0
        for place in range(min(len(tally.kept) for tally in self._tallies)):
            images.update(tally.kept[place][3] for tally in self._tallies)
            if len(images) > total:
                break
            k = place + 1
        if k == 0 and images:
            raise InputError("total-too-small", total=total, least=len(images))
        if k:
            for tally in self._tallies:
                tally.keep_first(k)
        # without any image finish raises
        self._state = replace(self._state, k=max(k, 1))
        return self._state.k

    def finish(self) -> tuple[list[PairSelection], dict[str, dict[str, list[Any]]]]:
        """Return what was selected for each pair, and what the systems of pairs answer for that.

        Raises
        ------
        InputError
            If an id came twice, or there are fewer than k images with a value.
        """
        hashes = (
            np.concatenate(self._hashes) if self._hashes else np.zeros(0, np.uint64)
        )
        if len(np.unique(hashes)) != len(hashes):
            raise InputError(
                "duplicate", "batches", role="an image in", value="two batches"
            )
        sign = -1.0 if self._similarity.larger else 1.0
        made = []
        answers: dict[str, dict[str, list[Any]]] = {}
        for tally, pair in zip(self._tallies, self.pairs, strict=True):
            one = tally.finish(sign)
            if len(one.images) < self._state.k:
                raise InputError(
                    "too-few-images",
                    f"{one.first} and {one.second}",
                    k=self._state.k,
                    n=len(one.images),
                    measure=self._similarity.name,
                )
            made.append(one)
            for image, place in product(one.images, pair):
                mine = [
                    e if isinstance(e, str) else list(e)
                    for e in self._answers[image][place]
                ]
                answers.setdefault(image, {})[self.systems[place]] = mine
        return made, answers


def _check_characters(texts: Sequence[str]) -> None:
    """Refuse what no file can hold, neither a state nor a sheet."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(filter(has_surrogate, texts))
        raise InputError("lone-surrogate", role=brief(wrong)) from None


def _align(lists: Mapping[str, Lists], missing: str) -> tuple[Mapping[str, Lists], int]:
    """Return the same images of all systems in the order of the first, and how many were left out.

    Raises
    ------
    InputError
        If systems have different images under "error", or only some have ids.
    """
    (name, first), *others = lists.items()
    for other, one in others:
        numbered = [isinstance(side.ids, range) for side in (first, one)]
        if any(numbered) and (not all(numbered) or len(one) != len(first)):
            only = f"{len(first)} and {pluralize(len(one), 'item')}, not all of them with ids"
            raise InputError("unlike-images", f"{name} and {other}", only=only)
    ids = list(first.ids)
    if isinstance(first.ids, range) or all(list(one.ids) == ids for _, one in others):
        return lists, 0
    shared = set(ids).intersection(*(one.ids for _, one in others))
    every = set(ids).union(*(one.ids for _, one in others))
    if missing != "skip" and len(shared) < len(every):
        for system, one in lists.items():
            if absent := sorted(every.difference(one.ids)):
                raise InputError(
                    "missing-images", system, n=len(absent), examples=absent
                )
    if not shared:
        raise InputError(
            "nothing-given",
            what="images that all systems have",
            remedy="use the same ids for all",
        )
    kept, aligned = [id_ for id_ in ids if id_ in shared], {}
    for system, one in lists.items():
        place = {id_: number for number, id_ in enumerate(one.ids)}
        rows = np.array([place[id_] for id_ in kept], np.int64)
        aligned[system] = _part(one, kept, one.side.take(rows), rows)
    return aligned, len(every) - len(shared)


def _part(lists: Lists, ids: Any, side: Side, rows: Sequence[int] | Ints) -> Lists:
    """Return some items, which know their places."""
    where = lists.where
    return replace(lists, ids=ids, side=side, where=lambda item: where(int(rows[item])))


@takes_options()
def select_discrepant(
    systems: Any,
    k: int | None = None,
    *,
    total: int | None = None,
    measure: str | Measure | Definition | Function = "NGSM",
    ties: str = "orders",
    seed: int = 12345,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Select, for each pair of systems, the k images on which they differ most.

    With ``total`` all pairs together have at most so many different images. k is then the largest
    number of images of each pair that this allows. Pairs may share images, so k can be larger than
    the total divided by the number of pairs.

    Parameters
    ----------
    systems : mapping from name to answers, or iterable of such mappings
        Captions (or label sets) of each system for the same images: whatever ``score`` takes as
        predictions. Sets that do not fit into memory are given in batches of images; a measure
        whose values depend on other images, such as CIDEr-D, then sees those of its batch.
    k : int, optional
        Images of each pair. The default is 70, as in the paper.
    total : int, optional
        The largest number of different images, in place of k.
    measure : str, Measure, Definition or callable
        What tells how alike two answers are: NGSM, any other measure with values of items, or a
        function of two captions or of two lists of labels, whose smaller values are more
        discrepant.
    ties : {"orders", "id", "position", "random"}
        How images of equal values are told apart: by NGSM of lower orders if NGSM is 0, and then by
        id; by id; by position; or by a hash of the seed, the pair and the id. Most images may share
        the smallest value: "tied" of the pairs counts them. "id" then selects much the same images
        for all pairs, which is little to annotate, and "random" others for each.
    seed : int
        Of "random".
    exclude : path or iterable of str
        Images that are not to be selected, such as those that nobody can describe; the next ones
        are taken. A path names a file with one a line.
    **options

    Returns
    -------
    DiscrepancySelection
        The state of the competition, with the sheets to fill.

    Raises
    ------
    InputError
        If there are fewer than two systems, they have different images, an image has several
        captions, k is larger than the number of images, the total allows no image of each pair, k
        and the total are both given, or an option is wrong.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.2, equation 6 and algorithm 1.

    Examples
    --------
    >>> systems = {
    ...     "a": {"1": "a dog runs on grass", "2": "a red bus"},
    ...     "b": {"1": "a dog runs on sand", "2": "two men talk"},
    ... }
    >>> selection = select_discrepant(systems, k=1)
    >>> selection.pairs[0].images, selection.pairs[0].values
    (('2',), (0.0,))
    >>> select_discrepant(systems, total=2).k
    2
    """
    if k is not None and total is not None:
        raise InputError("conflicting-options", names="k and total")
    for name, number in (("k", k), ("total", total)):
        if number is not None and number < 1:
            raise InputError(
                "bad-option", name=name, value=number, wanted="a whole number from 1"
            )
    check_choice("ties", ties, TIES)
    k = total or k or _IMAGES_OF_A_PAIR
    empty = DiscrepancySelection(
        systems=(),
        measure="",
        k=k,
        ties=ties,
        seed=seed,
        kind="",
        noun="",
        n=0,
        left_out=0,
        excluded=(),
        options={},
        models={},
        inputs={},
        pairs=(),
        answers={},
    )
    return _add(empty, systems, measure, exclude, options, total=total)


@takes_options()
def add_systems(
    selection: DiscrepancySelection | str | os.PathLike[str],
    systems: Any,
    *,
    measure: Function | None = None,
    exclude: Any = (),
    **options: Any,
) -> DiscrepancySelection:
    """Add systems to a competition, or take images out of it.

    Pairs that it has already are kept and not compared again, unless they have an excluded image,
    which the next one of the pair replaces.

    Parameters
    ----------
    selection : DiscrepancySelection or path
    systems : mapping from name to answers, or iterable of such mappings
        Those of the competition, with the same answers as then, and the new ones.
    measure : callable, optional
        The function that the competition was selected with, where it was one.
    exclude : path or iterable of str
        Further images that are not to be selected, such as those that nobody can describe.
    **options
        Those that the state does not hold, such as functions; others are taken from it.

    Returns
    -------
    DiscrepancySelection
        ``sheet(since=selection)`` has the rows that are still to be filled.

    Raises
    ------
    InputError
        If a system of the competition is not given or answers otherwise than then, there is neither
        a new one nor an image to take out, an option differs from that of the state, or as for
        ``select_discrepant``.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.3 and algorithm 2.

    Examples
    --------
    >>> systems = {"a": {"1": "a dog", "2": "a cat"}, "b": {"1": "a dog", "2": "a bus"}}
    >>> before = select_discrepant(systems, k=1)
    >>> after = add_systems(before, {**systems, "c": {"1": "two men", "2": "a cat"}})
    >>> [(pair.first, pair.second, pair.images) for pair in after.pairs]
    [('a', 'b', ('2',)), ('a', 'c', ('1',)), ('b', 'c', ('1',))]
    >>> add_systems(before, systems, exclude=["2"]).images
    ['1']
    """
    before = as_selection(selection, options)
    given = _restored_options(before, options)
    known: Any = before.measure
    if known.startswith("function:"):
        known = measure
        if measure is None or name_function(measure) != before.measure:
            what = before.measure.replace(":", " ")
            raise InputError("give-again", what=what, name="measure")
    elif measure is not None:
        raise InputError("not-applicable", name="measure", what=f"a state of {known}")
    return _add(before, systems, known, exclude, given)


def _add(
    state: DiscrepancySelection,
    systems: Any,
    measure: Any,
    exclude: Any,
    options: Mapping[str, Any],
    *,
    total: int | None = None,
) -> DiscrepancySelection:
    """Compare the systems that a state lacks with all others; all are in each batch."""
    batches = iter([systems] if isinstance(systems, Mapping) else systems)
    first = next(batches, None)
    if not isinstance(first, Mapping) or not all(
        isinstance(n, str) and n for n in first
    ):
        raise InputError(
            "wrong-type", "systems", value=systems, wanted="a mapping of names"
        )
    if len(first) < 2:
        raise InputError("too-few-compared", n=len(first))
    if lost := [name for name in state.systems if name not in first]:
        raise InputError("systems-missing", n=len(lost), systems=lost)
    left_out = list(
        map(str, () if isinstance(exclude, (str, os.PathLike)) else exclude)
    )
    if isinstance(exclude, (str, os.PathLike)):
        lines = load(
            exclude, (options.get("read") or DEFAULTS).max_bytes
        ).text.splitlines()
        left_out = [line.strip() for line in lines if line.strip()]
    new = tuple(name for name in first if name not in state.systems)
    taken_out = {*left_out} & {*state.images}
    if not new and not taken_out:
        raise InputError(
            "nothing-given",
            what="new systems, and no images to take out",
            remedy="add a system, or exclude images that are selected",
        )
    names, known_pairs, known_answers = (
        (*state.systems, *new),
        state.pairs,
        state.answers,
    )
    if taken_out:  # all pairs are compared again
        known_pairs, known_answers, new = (), {}, names
    old = len(state.systems) if known_pairs else 0
    pairs = list(combinations(range(len(names)), 2))
    if old:
        pairs = [(i, j) for j in range(old, len(names)) for i in range(j)]
    first = {name: first[name] for name in names}
    setup, similarity, first = open_similarity(measure, first, options)
    selector = Selector(state, names, similarity, pairs, {*state.excluded, *left_out})
    notes, understood = _compare_batches(
        selector, setup, chain([first], batches), options
    )
    if state.systems:
        _check_unchanged(state, selector, similarity.models)
    if total is not None:
        state = replace(state, k=selector.keep_in_total(total))
    made, answers = selector.finish()
    known: dict[str, Any] = {
        "measure": similarity.name,
        "kind": setup.kind.name,
        "noun": selector.noun,
        "n": selector.n,
        "left_out": selector.left_out,
        "models": dict(similarity.models),
        "options": _saved_options(options, setup),
    }
    state = replace(
        state,
        systems=names,
        pairs=(*known_pairs, *made),
        understood=tuple(understood),
        excluded=tuple(sorted({*state.excluded, *selector.excluded})),
        inputs={**state.inputs, **selector.describe()},
        answers={
            i: {**known_answers.get(i, {}), **answers.get(i, {})}
            for i in {**known_answers, **answers}
        },
        **({} if state.systems else known),
    )
    unknown = (
        name for name in dict.fromkeys(left_out) if name not in selector.excluded
    )
    notes += named("unknown-exclusions", unknown)  # their ids may be written otherwise
    return replace(state, facts=(*notes, *_selection_notes(state, new)))


def _saved_options(options: Mapping[str, Any], setup: Evaluation) -> dict[str, Any]:
    """Return the options as the state keeps them; of an object only that there was one."""
    saved = {
        name: _saved(value)
        for name, value in options.items()
        if value is not None and OPTIONS[name].group  # others are of one call
    }
    if hasattr(setup.options.tokenizer, "name"):
        saved.setdefault("tokenizer", OPTIONS["tokenizer"].default)
    return saved


def _saved(value: Any) -> Any:
    if isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (list, tuple)) and all(
        isinstance(v, (str, int, float)) for v in value
    ):
        return list(value)
    return {"object": type(value).__name__}


def _restored_options(
    state: DiscrepancySelection, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options of a state; what it could not keep is given again."""
    restored = dict(given)
    for name, value in state.options.items():
        mine = given.get(name)
        if name == "embedding":
            mine = _without_name(mine)
        if isinstance(value, dict):
            if mine is None:
                raise InputError(
                    "give-again", what=f"{name}= of type {value['object']}", name=name
                )
        elif mine is not None and _saved(mine) != value:
            raise InputError("state-differs", what=f"{name}={mine!r}, not {value!r}")
        else:
            restored[name] = value
    for name, value in given.items():
        if value is not None and name not in state.options and OPTIONS[name].group:
            raise InputError(
                "not-applicable", name=name, what="a state selected without it"
            )
    return restored


def _without_name(embedding: Any) -> Any:
    """Return an embedding that is given by the default name, as the program does, without it."""
    if isinstance(embedding, Mapping) and list(embedding) == [DEFAULT_EMBEDDING]:
        return embedding[DEFAULT_EMBEDDING]
    return embedding


def as_selection(selection: Any, options: Mapping[str, Any]) -> DiscrepancySelection:
    """Return a selection from itself or from the file that it was saved in."""
    if isinstance(selection, DiscrepancySelection):
        return selection
    read = options.get("read") or DEFAULTS
    return DiscrepancySelection.load(selection, max_bytes=read.max_bytes)


def _check_unchanged(
    state: DiscrepancySelection, selector: Selector, models: Mapping[str, str]
) -> None:
    """Refuse systems that answer otherwise than they did, and what compares them otherwise."""
    for name, before in state.models.items():
        if models.get(name) != before:
            raise InputError(
                "state-differs", what=f"{name}:{models.get(name)}, not {before}"
            )
    if selector.n != state.n:
        now = pluralize(selector.n, "image")
        raise InputError("state-differs", what=f"{now}, not {state.n:,}")
    own = selector.describe()
    changed = [
        n
        for n in state.systems
        if own[n]["fingerprint"] != state.inputs[n]["fingerprint"]
    ]
    if changed:
        raise InputError("state-differs", what=f"other answers of {listing(changed)}")


def _selection_notes(state: DiscrepancySelection, new: Sequence[str]) -> list[Fact]:
    """Note which systems answer alike, and where ties decide what is selected."""
    pairs = [pair for pair in state.pairs if pair.first in new or pair.second in new]
    notes = [
        Fact("same-answers", p.identical, where=f"{p.first} and {p.second}")
        for p in pairs
        if p.identical == state.n
    ]
    tied = [pair for pair in pairs if pair.tied > pair.taken]
    if tied:
        most = max(tied, key=lambda pair: pair.tied)
        rule = "id" if state.ties == "orders" else state.ties
        known = {
            "ties": rule,
            "pair": f"{most.first} and {most.second}",
            "taken": most.taken,
            "tied": most.tied,
        }
        notes.append(Fact("ties-decide", len(tied), values=known))
    notes += counted("undefined-pairs", sum(pair.undefined for pair in pairs))
    for name in new:
        notes += counted(
            "empty-answers", state.inputs[name]["empty"], (), name, noun=state.noun
        )
    return notes


@by_value()
@dataclass(frozen=True, eq=False, kw_only=True)
class DiscrepancySelection(Result):
    """The most discrepant images of each pair of systems: the state of a competition.

    Attributes
    ----------
    systems : tuple of str
    measure : str
        What tells how alike two answers are.
    k : int
        Images of each pair.
    ties : str
        How images of equal values are told apart: "orders", "id", "position" or "random".
    seed : int
        Of "random".
    kind, noun : str
        What is evaluated, and what an entry of an answer is: "captions", "caption".
    n : int
        Images compared.
    left_out : int
        Images that some system lacks.
    excluded : tuple of str
        Images that were not to be selected.
    options : mapping
        Options of the data and of the measure.
    models : mapping
        What answers were compared with, by identity: "tok", embeddings.
    inputs : mapping from system to mapping
        "fingerprint" of what it answers, "empty" answers, and with NGSM the "duplicated" captions,
        in which a word stands three or more times in a row, and how many "duplicated_words".
    pairs : tuple of PairSelection
    answers : mapping from image to mapping from system to list
        What systems answer for the images of their pairs.
    version : str
    facts : tuple of Fact
        What is odd; not saved.
    understood : tuple of str
        How each input was read; not saved.
    """

    systems: tuple[str, ...]
    measure: str
    k: int
    ties: str
    seed: int
    kind: str
    noun: str
    n: int
    left_out: int
    excluded: tuple[str, ...]
    options: Mapping[str, Any]
    models: Mapping[str, str]
    inputs: Mapping[str, Mapping[str, Any]]
    pairs: tuple[PairSelection, ...]
    answers: Mapping[str, Mapping[str, list[Any]]] = field(repr=False)
    version: str = __version__
    facts: tuple[Fact, ...] = field(default=(), repr=False)
    understood: tuple[str, ...] = field(default=(), repr=False)

    @property
    def images(self) -> list[str]:
        """The images of all pairs, each once: what is to be annotated."""
        return list(
            dict.fromkeys(image for pair in self.pairs for image in pair.images)
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it: null for what is undefined."""
        own = {
            name: value for name, value in asdict(self).items() if name not in _UNSAVED
        }
        for pair in own["pairs"]:
            pair["mean"] = finite_or_none(pair["mean"])
        return {"schema": _SCHEMA, **own}

    def _entry(self, spell: Spelling = keyword) -> dict[str, Any]:
        """Return what ``save`` writes."""
        entry = self.to_dict()
        return {**entry, "digest": _digest(entry)}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state as JSON; a file appears only when it is complete.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        with open_output(path) as out:
            out.write(self.to_json() + "\n")

    @staticmethod
    def load(
        path: str | os.PathLike[str], *, max_bytes: int = DEFAULTS.max_bytes
    ) -> DiscrepancySelection:
        """Read what ``save`` wrote, of at most so many bytes.

        Raises
        ------
        InputError
            If the file holds no state of a competition, or was changed.
        """
        source = load(path, max_bytes)
        with enough_memory(source.name):
            entry, where = parse_source(source), source.name
        if not isinstance(entry, Mapping) or entry.get("schema") != _SCHEMA:
            raise InputError("not-a-state", where)
        known = {name: value for name, value in entry.items() if name != "digest"}
        if entry.get("digest") != _digest(known):
            raise InputError("state-edited", where)
        del known["schema"]
        for pair in known["pairs"]:
            pair |= {name: tuple(pair[name]) for name in ("images", "values")}
            pair["mean"] = math.nan if pair["mean"] is None else pair["mean"]
        known["pairs"] = [PairSelection(**pair) for pair in known["pairs"]]
        known |= {name: tuple(known[name]) for name in ("systems", "excluded", "pairs")}
        return _with_own_model(DiscrepancySelection(**known))

    def to_records(self) -> Records:
        """Return one row for each pair and image: place, value, and what both systems answer."""
        rows = [
            {
                "first": pair.first,
                "second": pair.second,
                "place": place,
                "image_id": image,
                "value": value,
                "first_answer": answer_text(self.answers[image][pair.first]),
                "second_answer": answer_text(self.answers[image][pair.second]),
            }
            for pair in self.pairs
            for place, (image, value) in enumerate(
                zip(pair.images, pair.values, strict=True), 1
            )
        ]
        return Records.from_rows([*rows[0]], rows)

    def pair_records(self) -> Records:
        """Return one row for each pair: how alike the systems are, and how the images were cut."""
        last = [pair.values[-1] for pair in self.pairs]
        names = (
            "first",
            "second",
            "n",
            "undefined",
            "identical",
            "mean",
            "tied",
            "taken",
        )
        columns: dict[str, Any] = {
            n: [getattr(pair, n) for pair in self.pairs] for n in names
        }
        return Records({**columns, "mean": np.array(columns["mean"]), "last": last})

    def system_records(self) -> Records:
        """Return one row for each system: empty answers, and duplicated captions where counted."""
        columns = ["system", "fingerprint", "empty", "duplicated", "duplicated_words"]
        rows = [{"system": name, **self.inputs[name]} for name in self.systems]
        return Records.from_rows(columns, rows)

    def _tables(self, digits: int, scale: float) -> list[list[list[str]]]:
        """Return a table of the pairs, and one of the systems."""
        systems = self.system_records().drop("fingerprint")
        if systems.column("duplicated")[0] is None:
            systems = systems.drop("duplicated", "duplicated_words")
        return [cells(self.pair_records(), digits), cells(systems, digits)]

    # ---- sheets to fill ---------------------------------------------------------------------

    def sheet(
        self,
        *,
        ratings: bool = False,
        annotators: int = 3,
        since: DiscrepancySelection | None = None,
    ) -> Records:
        """Return the sheet that annotators fill.

        It names no system. Rows of references are in the order of a hash of the image, rows of
        ratings of one image in that of a hash of the answer.

        Parameters
        ----------
        ratings : bool
            Whether what systems answer is to be rated, each distinct answer to an image once;
            otherwise references are to be written.
        annotators : int
            Rows for each image or answer.
        since : DiscrepancySelection, optional
            An earlier state: its rows are left out.

        Returns
        -------
        Records
            Columns "image_id", "annotator" and "caption" (what an entry is called), which is
            empty; of ratings the answer stands there, and "rating" is empty.
        """
        known = {} if since is None else since._answers_to_fill(ratings)
        rows: list[dict[str, Any]] = []
        for image, answers in self._answers_to_fill(ratings).items():
            new = [answer for answer in answers if answer not in known.get(image, ())]
            rows += (
                {
                    "image_id": image,
                    "annotator": str(number),
                    self.noun: answer,
                    "rating": "",
                }
                for answer, number in product(new, range(1, annotators + 1))
            )
        columns = ["image_id", "annotator", self.noun, "rating"]
        return Records.from_rows(columns if ratings else columns[:-1], rows)

    def _answers_to_fill(self, ratings: bool) -> dict[str, list[str]]:
        """Return the distinct answers of each image, or one empty text for its references."""
        found = {}
        for image in sorted(self.images, key=_hashed):
            texts = (
                {answer_text(a) for a in self.answers[image].values()}
                if ratings
                else {""}
            )
            found[image] = sorted(texts, key=_hashed)
        return found


def _with_own_model(state: DiscrepancySelection) -> DiscrepancySelection:
    """Return a state of an earlier version with the key that its embedding has now."""
    if DEFAULT_EMBEDDING not in state.models:
        return state
    from semmetrics.scoring.earlier import name_static, translate_models

    measures = parse(state.measure, state.kind)
    models = translate_models(state.models, measures)
    options = state.options
    if "embedding" not in options:
        options = name_static(options, measures)
    return replace(state, models=models, options=options)


def answer_text(answer: Sequence[Any]) -> str:
    """Return an answer as a sheet has it: its entries on one line.

    Examples
    --------
    >>> answer_text(["cat", ["bin", "ashcan"]])
    'cat; bin, ashcan'
    """
    return "; ".join(
        entry if isinstance(entry, str) else ", ".join(entry) for entry in answer
    )


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest(entry: Mapping[str, Any]) -> str:
    return _hashed(json.dumps(entry, sort_keys=True, ensure_ascii=True))


def open_similarity(
    measure: Any, systems: Mapping[str, Any], options: Mapping[str, Any]
) -> tuple[Evaluation, Similarity, Mapping[str, Any]]:
    """Return what reads the systems, what compares them, and the systems."""
    given = {name: value for name, value in options.items() if value is not None}
    if callable(measure) and not isinstance(measure, (Measure, Definition)):
        _, second, *_ = systems
        known = {name: given.get(name) for name in ("task", "read")}
        kind, _, systems, opened = choose_kind(systems, systems[second], known)
        form = importlib.import_module(f"semmetrics.kinds.{kind}").FORM
        similarity = FunctionSimilarity(measure, single=form.single)
        return open_evaluation(kind, given), similarity, {**systems, second: opened}
    one = parse_one(measure, "a competition")
    requested, _ = requested_kind({"task": given.get("task"), "measures": [one]})
    kind = requested or one.definition.kind
    setup = open_evaluation(kind, {**given, "measures": [one]})
    if one.definition.name == "NGSM" and one.definition.kind == setup.kind.name:
        return setup, NgsmSimilarity(one, setup.options.tokenizer), systems
    return setup, MeasureSimilarity(one, setup), systems


def _compare_batches(
    selector: Selector,
    setup: Evaluation,
    batches: Iterable[Mapping[str, Any]],
    options: Mapping[str, Any],
) -> tuple[list[Fact], list[str]]:
    """Read and compare all batches; return what is odd, and how the first was read."""
    notes: list[Fact] = []
    understood: list[str] = []
    for number, batch in enumerate(batches):
        if not isinstance(batch, Mapping) or {*batch} != {*selector.systems}:
            raise InputError(
                "other-systems", f"batch {number}{FROM_0}", systems=selector.systems
            )
        lists = {}
        for name in selector.systems:
            lists[name] = one = setup.read(batch[name], name)
            if not isinstance(one, Lists) or one.ranked:
                raise InputError(
                    "wrong-format",
                    name,
                    what="answers",
                    format="scores of labels",
                    wanted="the labels of each image",
                )
        selector.update(
            lists, options.get("missing") or "error", options.get("progress")
        )
        notes += [
            replace(note, where=one.source)
            for one in lists.values()
            for note in one.notes
        ]
        if number == 0:  # there may be thousands
            understood = describe_inputs(list(lists.values()))
    return [
        *first_of_each(notes),
        *counted("images-left-out", selector.left_out),
    ], understood
