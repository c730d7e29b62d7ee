"""The images on which two systems differ most, found in one pass over what the systems answer.

Conventions
-----------
Images without a value are never selected. Images of equal values are told apart by their id ("id",
in the order of code points; by number where items have no ids), by where they stand ("position"),
or by a hash of the seed, the two systems and the id ("random"). So the selection depends neither on
blocks nor, but for "position", on the order of the images. Values that rounding alone tells apart
are equal. Most images may have an NGSM of 0: how
many share the value of the last one selected is counted. Where ties decide, "id" selects the same
few images for all pairs, and "random" others for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.comparison.answer_similarity import AnswerBlock, Pairs, Similarity
from semmetrics.core.columns import exact_sums, to_floats
from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.items import has_surrogate
from semmetrics.data.lists import Entry, Lists
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, listing, pluralize

__all__ = ["TIES", "PairSelection", "Selector", "align_systems"]

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

    def update(self, values: Floats, rank: Ints, keys: Sequence[Any], names: Sequence[str]) -> None:
        """Add the values of a block; rank and keys order its images where values are equal."""
        defined = ~np.isnan(values)
        self.n += int(defined.sum())
        self.undefined += int(len(values) - defined.sum())
        self.sum += exact_sums(values[defined])
        rounded = _rounded(values)
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


def _rounded(values: Floats) -> Floats:
    """Round to so many bits that equal values, computed in another order, are equal."""
    fractions, exponents = np.frexp(values)
    rounded: Floats = np.ldexp(np.rint(np.ldexp(fractions, _BITS)), exponents - _BITS)
    return rounded


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
        block, before = AnswerBlock({name: lists[name] for name in self.systems}), self.n
        size = len(block) if self._similarity.whole else _ANSWERS // len(self.systems)
        for part in block.parts(max(1, size)):
            self._compare(part)
            if progress is not None:
                progress(self.n - before, len(block))

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
                "a value is infinite", where=self._similarity.name, remedy="give finite numbers"
            )
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
    ) -> Callable[[int, int], tuple[Any, Ints]]:
        """Return what gives a pair the keys by which equal values are told apart, and their ranks.

        Keys are compared with those of other blocks.
        """
        numbers = np.arange(self.n, self.n + len(names))
        if self._ties == "random":
            return lambda first, second: _ranked(mix(ids + self._pair_hash(first, second)))
        if self._ties == "position" or numbered:
            found: tuple[Any, Ints] = numbers.tolist(), numbers
        else:
            rank = np.empty(len(names), np.int64)
            rank[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
            found = names, rank
        return lambda first, second: found

    def _pair_hash(self, first: int, second: int) -> np.uint64:
        """Return a hash of the seed and of the names of two systems, in any order."""
        names = hash_strings(sorted((self.systems[first], self.systems[second])))
        seed = np.full(1, self._seed % 2**64, np.uint64)
        mixed: np.uint64 = mix(seed + mix(names[:1] + mix(names[1:])))[0]
        return mixed

    def _describe(self, block: AnswerBlock, ids: Hashes) -> None:
        """Add to the fingerprint of each system, and count its empty answers."""
        blank = np.array([not any(str(e).strip() for e in answer) for answer in block.distinct])
        texts = ["\x1f".join(map(_entry_text, answer)) for answer in block.distinct]
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
            raise InputError("an id comes in two batches", remedy="give each image once")
        sign = -1.0 if self._similarity.larger else 1.0
        made = []
        for tally, (first, second) in zip(self._tallies, self.pairs, strict=True):
            one = tally.finish(self.systems[first], self.systems[second], sign)
            if len(one.images) < self._k:
                raise InputError(
                    f"k={self._k}, and {pluralize(len(one.images), 'image', 'have')} a value of "
                    f"{self._similarity.name} for {one.first} and {one.second}",
                    remedy="choose a smaller k, or give more images",
                )
            made.append(one)
        return made


def _check_characters(texts: Sequence[str]) -> None:
    """Refuse what no file can hold, neither a state nor a sheet."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(filter(has_surrogate, texts))
        raise InputError(
            f"{brief(wrong)} has half of a surrogate pair (\\ud800 to \\udfff), which is no "
            "character",
            remedy="write the character",
        ) from None


def _ranked(keys: Hashes) -> tuple[list[int], Ints]:
    rank = np.empty(len(keys), np.int64)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return keys.tolist(), rank


def _entry_text(entry: Entry) -> str:
    return entry if isinstance(entry, str) else "\x1e".join(entry)


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
            raise InputError(f"one of {name} and {other} has ids, and the other has none",
                             remedy="give all systems ids, or none")  # fmt: skip
    if isinstance(first.ids, range):
        for other, one in others:
            if len(one) != len(first):
                raise InputError(
                    f"{name} has {pluralize(len(first), 'item')} and {other} has {len(one)}",
                    remedy="items without ids are matched by position: give as many of each "
                    "system, or ids",
                )
        return dict(lists), 0
    ids = list(first.ids)
    if all(list(one.ids) == ids for _, one in others):
        return dict(lists), 0
    shared = set(ids).intersection(*(one.ids for _, one in others))
    every = set(ids).union(*(one.ids for _, one in others))
    if missing != "skip" and len(shared) < len(every):
        raise _lacking(lists, every)
    if not shared:
        raise InputError("the systems share no image", remedy="check that all use the same ids")
    kept = [id_ for id_ in ids if id_ in shared]
    return {n: _take(one, kept) for n, one in lists.items()}, len(every) - len(shared)


def _take(one: Lists, ids: list[str]) -> Lists:
    place = {id_: number for number, id_ in enumerate(one.ids)}
    rows = np.array([place[id_] for id_ in ids], np.int64)
    where = one.where
    return replace(
        one, ids=ids, side=one.side.take(rows), where=lambda item: where(int(rows[item]))
    )


def _lacking(lists: Mapping[str, Lists], every: set[str]) -> InputError:
    lost = []
    for name, one in lists.items():
        absent = sorted(every.difference(one.ids))
        if absent:
            lost.append(f"{name} lacks {len(absent)} of the ids: {listing(absent)}")
    return InputError(
        "; ".join(lost), remedy="add them, or leave them out with missing='skip' (--missing skip)"
    )
