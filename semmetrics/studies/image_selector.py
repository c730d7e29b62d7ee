"""Selection of the most discrepant images of each pair of systems, from blocks of images.

Conventions
-----------
A measure for which higher is better is a similarity, and its smallest values are the most
discrepant. If lower is better, the largest values are. Values that differ only by rounding errors
count as equal. Images without a value are never selected.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from semmetrics.core.hashing import Hashes, hash_ids, hash_strings, mix
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.items import has_surrogate
from semmetrics.data.lists import Entry, Lists, Side
from semmetrics.errors import InputError
from semmetrics.messages import brief, pluralize, report_progress
from semmetrics.scoring.evaluate import Progress
from semmetrics.studies.answer_similarity import AnswerBlock, Pairs, Similarity
from semmetrics.studies.competition_state import PairSelection
from semmetrics.studies.pair_tally import BlockImages, PairTally

MAX_ANSWERS_PER_BLOCK = 1 << 16


# ---- the images of all pairs -------------------------------------------------------------------


class Selected(NamedTuple):
    """The selected images.

    Attributes
    ----------
    pairs : list of PairSelection
    answers : dict from image to dict from system to list
        The answers of both systems of each pair for its images.
    """

    pairs: list[PairSelection]
    answers: dict[str, dict[str, list[Any]]]


class ImageSelector:
    """Selects the most discrepant images of each pair of systems, from blocks of images.

    Memory grows with the number of pairs times k, and by 8 bytes per image.

    Parameters
    ----------
    systems : sequence of str
    similarity : Similarity
    pairs : sequence of pairs of int
        The pairs of systems to compare.
    k : int
        The number of images to select for each pair.
    ties : {"orders", "id", "position", "random"}
        The rule that orders images of equal values.
    seed : int
        The seed of the rule "random".
    exclude : iterable of str
        Images that must not be selected.

    Attributes
    ----------
    n : int
        The number of images compared so far.
    n_left_out : int
        The number of images that some system has no answer for.
    excluded : set of str
        The images among ``exclude`` that occurred.
    noun : str
        The name of one entry of an answer.
    """

    def __init__(
        self,
        systems: Sequence[str],
        similarity: Similarity,
        pairs: Pairs,
        *,
        k: int,
        ties: str,
        seed: int,
        exclude: Iterable[str],
    ) -> None:
        _check_characters(systems)
        self.systems = tuple(systems)
        self.noun = "entry"
        self.n = 0
        self.n_left_out = 0
        self.excluded: set[str] = set()
        self._similarity = similarity
        self._pairs = pairs
        self._k = k
        self._ties = ties
        self._seed = seed
        self._exclude = frozenset(exclude)
        self._tallies = [PairTally(k, systems[i], systems[j]) for i, j in pairs]
        self._hashes: list[Hashes] = []
        self._fingerprints = Counter[str]()
        self._n_empty = Counter[str]()
        # By image, the answer of each system. Only candidates are kept.
        self._answers: dict[str, tuple[tuple[Entry, ...], ...]] = {}

    def update(
        self, lists: Mapping[str, Lists], missing: str, progress: Progress = None
    ) -> None:
        """Compare the answers of the systems for a batch of images.

        Parameters
        ----------
        lists : mapping from system to Lists
        missing : {"error", "skip"}
            Whether images that some system has no answer for raise an error, or are left out.
        progress : callable, optional
        """
        aligned, n_left_out = _align(lists, missing)
        self.n_left_out += n_left_out
        first, *_ = aligned.values()
        self.noun = first.noun
        n_images = len(first)
        size = MAX_ANSWERS_PER_BLOCK // len(self.systems)
        if self._similarity.needs_all_images:
            size = n_images
        size = max(1, size)
        for start in range(0, n_images, size):
            stop = min(start + size, n_images)
            part = {}
            rows = range(start, stop)
            for system, lists_of_system in aligned.items():
                side = lists_of_system.side.rows(start, stop)
                ids = lists_of_system.ids[start:stop]
                part[system] = _take_items(lists_of_system, ids, side, rows)
            self._compare(AnswerBlock(part))
            report_progress(progress, stop, n_images, "comparing answers", "item")

    def _compare(self, block: AnswerBlock) -> None:
        """Compare the answers of a block, and update the tallies of all pairs."""
        first, *_ = block.lists.values()
        ids = first.ids
        has_numbers = isinstance(ids, (range, np.ndarray))
        if has_numbers:
            ids = range(self.n, self.n + len(block))
        names = [str(id_) for id_ in ids]
        _check_characters(names)
        hashes = hash_ids(ids)
        self._hashes.append(hashes)
        self._add_fingerprints(block, hashes)

        comparison = self._similarity.compare(
            block, self._pairs, lower_orders=self._ties == "orders"
        )
        values = self._as_similarities(comparison.values)
        excluded = [index for index, name in enumerate(names) if name in self._exclude]
        self.excluded.update(names[index] for index in excluded)
        values[:, excluded] = np.nan

        images = self._order_images(names, has_ids=not has_numbers)
        for row, tally in enumerate(self._tallies):
            if self._ties == "random":
                images = self._shuffle_images(names, hashes, tally)
            tally.update(values[row], comparison.lower_orders[:, row], images)
            # Excluded images have no value, but are not undefined.
            tally.n_undefined -= len(excluded)
            i, j = self._pairs[row]
            tally.n_identical += int((block.codes[i] == block.codes[j]).sum())
        self.n += len(block)
        self._keep_answers(block, names)

    def _as_similarities(self, values: Floats) -> Floats:
        """Return values whose smallest ones are the most discrepant, after a check."""
        if np.isinf(values).any():
            raise InputError(
                "not-finite", self._similarity.name, role="a value", value=math.inf
            )
        if self._similarity.larger_is_discrepant:
            return -values
        return values

    def _order_images(self, names: Sequence[str], *, has_ids: bool) -> BlockImages:
        """Order the images of a block by id, or by position if they have no ids."""
        rank = np.arange(self.n, self.n + len(names))
        if not has_ids or self._ties not in ("orders", "id"):
            return BlockImages(names, rank, rank.tolist())
        rising = sorted(range(len(names)), key=names.__getitem__)
        rank[rising] = np.arange(len(names))
        return BlockImages(names, rank, names)

    def _shuffle_images(
        self, names: Sequence[str], hashes: Hashes, tally: PairTally
    ) -> BlockImages:
        """Order the images of a block by a hash of the seed, the pair and the id."""
        seed = np.full(1, self._seed % 2**64, np.uint64)
        first, second = np.split(hash_strings(sorted((tally.first, tally.second))), 2)
        pair = mix(first + mix(second))
        seed_and_pair = mix(seed + pair)
        rank = mix(hashes + seed_and_pair)
        return BlockImages(names, rank, rank.tolist())

    def _keep_answers(self, block: AnswerBlock, names: Sequence[str]) -> None:
        """Store the answers for the candidates, and discard all others."""
        candidates: set[str] = set()
        for tally in self._tallies:
            candidates.update(candidate.image for candidate in tally.candidates)
        for image in self._answers.keys() - candidates:
            del self._answers[image]
        for column, name in enumerate(names):
            if name in candidates:
                codes = block.codes[:, column].tolist()
                self._answers[name] = tuple(block.distinct[code] for code in codes)

    def _add_fingerprints(self, block: AnswerBlock, id_hashes: Hashes) -> None:
        """Add to the fingerprint of each system, and count its empty answers."""
        is_empty = np.array(list(map(_is_empty, block.distinct)))
        texts = list(map(_serialize, block.distinct))
        _check_characters(texts)
        answer_hashes = np.zeros(0, np.uint64)
        if texts:
            answer_hashes = mix(hash_strings(texts))
        for system, codes in zip(block.lists, block.codes, strict=True):
            hashes = mix(id_hashes + answer_hashes[codes])
            total = self._fingerprints[system] + int(hashes.sum(dtype=np.uint64))
            self._fingerprints[system] = total % 2**64
            self._n_empty[system] += int(is_empty[codes].sum())

    def describe(self) -> dict[str, dict[str, Any]]:
        """Describe the answers of each system: fingerprint and counts of unusual answers."""
        descriptions = {}
        for system in self.systems:
            descriptions[system] = {
                "fingerprint": f"{self._fingerprints[system]:016x}",
                "empty": self._n_empty[system],
                **self._similarity.describe_answers(system),
            }
        return descriptions

    def limit_total(self, total: int) -> int:
        """Reduce k so that all pairs together have at most ``total`` different images.

        Returns
        -------
        int
            The new k.

        Raises
        ------
        InputError
            If one image of each pair is already too many.
        """
        max_k = min(len(tally.candidates) for tally in self._tallies)
        images: set[str] = set()
        k = 0
        while k < max_k:
            images.update(tally.candidates[k].image for tally in self._tallies)
            if len(images) > total:
                break
            k += 1
        if k == 0 and images:
            raise InputError("total-too-small", total=total, least=len(images))
        if k:
            for tally in self._tallies:
                tally.keep_first(k)
        # If a pair has no image at all, `finish` raises.
        self._k = max(k, 1)
        return self._k

    def finish(self) -> Selected:
        """Return the selected images of each pair, and the answers of its systems for them.

        Raises
        ------
        InputError
            If an id occurred twice, or a pair has fewer than k images with a value.
        """
        self._check_unique()
        sign = -1.0 if self._similarity.larger_is_discrepant else 1.0
        pairs = []
        answers: dict[str, dict[str, list[Any]]] = {}
        for tally, systems_of_pair in zip(self._tallies, self._pairs, strict=True):
            pair = tally.finish(sign)
            if len(pair.images) < self._k:
                raise InputError(
                    "too-few-images",
                    f"{pair.first} and {pair.second}",
                    k=self._k,
                    n=len(pair.images),
                    measure=self._similarity.name,
                )
            pairs.append(pair)
            for image in pair.images:
                answers_for_image = answers.setdefault(image, {})
                for number in systems_of_pair:
                    answer = self._answers[image][number]
                    answers_for_image[self.systems[number]] = _to_lists(answer)
        return Selected(pairs, answers)

    def _check_unique(self) -> None:
        """Check that no image occurred twice."""
        if not self._hashes:
            return
        hashes = np.concatenate(self._hashes)
        if len(np.unique(hashes)) != len(hashes):
            raise InputError(
                "duplicate", "batches", role="an image in", value="two batches"
            )


# ---- answers -----------------------------------------------------------------------------------


def _is_empty(answer: Iterable[Entry]) -> bool:
    """Return whether an answer has no entry besides white space."""
    return not any(str(entry).strip() for entry in answer)


def _serialize(answer: Iterable[Entry]) -> str:
    """Return a string of an answer that differs for different answers."""
    parts = []
    for entry in answer:
        if isinstance(entry, str):
            parts.append(entry)
        else:
            parts.append("\x1e".join(entry))
    return "\x1f".join(parts)


def _to_lists(answer: Iterable[Entry]) -> list[Any]:
    """Return an answer for JSON, with synonyms as lists."""
    entries: list[Any] = []
    for entry in answer:
        if isinstance(entry, str):
            entries.append(entry)
        else:
            entries.append(list(entry))
    return entries


def _check_characters(texts: Sequence[str]) -> None:
    """Check that strings can be written to a file, such as a state or a sheet."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        for text in texts:
            if has_surrogate(text):
                raise InputError("lone-surrogate", role=brief(text)) from None


# ---- images of all systems ---------------------------------------------------------------------


def _align(lists: Mapping[str, Lists], missing: str) -> tuple[Mapping[str, Lists], int]:
    """Return the images that all systems have, in the order of the first system.

    Returns
    -------
    aligned : mapping from system to Lists
    n_left_out : int
        The number of images that some system has no answer for.

    Raises
    ------
    InputError
        If systems have different images and ``missing`` is not "skip", or if only some systems have
        ids.
    """
    _check_same_ids_used(lists)
    first, *others = lists.values()
    if not first.has_ids:
        return lists, 0
    ids = list(first.ids)
    if all(list(other.ids) == ids for other in others):
        return lists, 0
    shared = set(ids)
    all_ids = set(ids)
    for other in others:
        shared.intersection_update(other.ids)
        all_ids.update(other.ids)
    if missing != "skip":
        _check_all_images(lists, all_ids)
    if not shared:
        raise InputError(
            "nothing-given",
            what="images that every system has",
            remedy="use the same ids for all",
        )
    shared_ids = [id_ for id_ in ids if id_ in shared]
    aligned = {}
    for system, lists_of_system in lists.items():
        row_by_id = lists_of_system.rows_by_id()
        rows = np.array([row_by_id[id_] for id_ in shared_ids], np.int64)
        side = lists_of_system.side.take(rows)
        aligned[system] = _take_items(lists_of_system, shared_ids, side, rows)
    return aligned, len(all_ids) - len(shared)


def _check_same_ids_used(lists: Mapping[str, Lists]) -> None:
    """Check that all systems have ids, or that none has and all have as many images."""
    (name, first), *others = lists.items()
    for other_name, other in others:
        if first.has_ids and other.has_ids:
            continue
        if first.has_ids != other.has_ids or len(first) != len(other):
            n_items = pluralize(len(other), "item")
            sizes = f"{len(first)} and {n_items}, not all of them with ids"
            raise InputError("unlike-images", f"{name} and {other_name}", only=sizes)


def _check_all_images(lists: Mapping[str, Lists], all_ids: set[Any]) -> None:
    """Check that every system has all images."""
    for system, lists_of_system in lists.items():
        absent = sorted(all_ids.difference(lists_of_system.ids))
        if absent:
            raise InputError("missing-images", system, n=len(absent), examples=absent)


def _take_items(
    lists: Lists, ids: Any, side: Side, rows: Sequence[int] | Ints
) -> Lists:
    """Return some items. Messages still name their places in the whole input."""
    where = partial(_name_place, lists.where, rows)
    return replace(lists, ids=ids, side=side, where=where)


def _name_place(
    where: Callable[[int], str], rows: Sequence[int] | Ints, item: int
) -> str:
    """Return the place of an item of a part."""
    return where(int(rows[item]))
