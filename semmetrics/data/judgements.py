"""Human judgements of candidates: ratings of one candidate, or preferences between two.

Conventions
-----------
A judgement is a rating of a candidate, or a preference between two: 1 for the first, -1 for the
second, 0 for neither. The same candidate may be judged several times, by several raters.

A *candidate* is a caption with its references in the same file, or an id of predictions in another
file. Candidates of one image are resampled together. If there is no column of images, the id of its
reference is the image of a candidate.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.lists import gather
from semmetrics.errors import Fact, InputError

CAPTIONS = "captions"
"""The kind of data for scoring captions with their references."""

CandidateKey: TypeAlias = tuple[str, str, tuple[str, ...]]
"""An image, a candidate and its references. Candidates with the same key are the same."""


@dataclass(frozen=True, eq=False, repr=False)
class Judgements:
    """Candidates and human judgements of them.

    Attributes
    ----------
    candidates : list of str
        Captions, or ids of predictions.
    references : list of tuple of str
        The references of each candidate: captions, or one id of the ground truth.
    images : list of str
        The image of each candidate. Candidates of one image are resampled together.
    are_captions : bool
        Whether candidates and references are captions.
    values : float64 array, shape (judgements,)
        Ratings, or preferences in {1, 0, -1}.
    first : int array, shape (judgements,)
        The candidate of each judgement.
    second : int array, shape (judgements,), or None
        The other candidate. None for ratings.
    groups : list of str or None
        The group of each judgement, such as a category.
    source : str
    notes : list
    """

    candidates: list[str]
    references: list[tuple[str, ...]]
    images: list[str]
    are_captions: bool
    values: Floats
    first: Ints
    second: Ints | None
    groups: list[str] | None
    source: str
    notes: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def noun(self) -> str:
        """The name of a judgement in messages."""
        return "rating" if self.second is None else "pair"

    def count_candidates(self, numbers: Ints | None = None) -> int:
        """Count the distinct candidates, all of them or those with some numbers.

        A caption that was rated several times counts once.
        """
        if numbers is None:
            numbers = np.arange(len(self.candidates))
        return len(set(map(self._key_of, np.unique(numbers).tolist())))

    def group_names(self) -> list[str]:
        """Return the groups, in the order of their first judgement."""
        return list(dict.fromkeys(self.groups or ()))

    def of_group(self, name: str | None) -> Bools:
        """Return whether each judgement belongs to a group. All do if the group is None."""
        if name is None or self.groups is None:
            return np.ones(len(self), np.bool_)
        return np.array([group == name for group in self.groups], np.bool_)

    def image_numbers(self) -> tuple[Ints, list[str]]:
        """Return the number of the image of each judgement, and the images."""
        names = list(dict.fromkeys(self.images))
        number_of_image = {name: number for number, name in enumerate(names)}
        numbers = np.array([number_of_image[name] for name in self.images], np.int64)
        if not len(numbers):
            return np.zeros(0, np.int64), names
        return numbers[self.first], names

    def averaged(self) -> Judgements:
        """Return one judgement of each candidate or pair.

        It is the mean of the ratings, or the side that the majority prefers. If both sides have as
        many votes, it is neither.

        Raises
        ------
        InputError
            If judgements of the same candidate or pair are in several groups.

        Examples
        --------
        >>> rated = Judgements(["a", "a"], [("x",)] * 2, ["i"] * 2, True, np.array([1.0, 4.0]),
        ...                    np.arange(2), None, None, "ratings", [])
        >>> rated.averaged().values.tolist(), rated.averaged().candidates
        ([2.5], ['a'])
        """
        # A pair with its sides exchanged is the same pair.
        keys = [tuple(sorted(self._judged(row))) for row in range(len(self))]
        rows_by_key = gather(zip(keys, range(len(self)), strict=True))
        rows_of_judged = list(rows_by_key.values())
        self._check_one_group(rows_of_judged)
        first_rows = np.array([rows[0] for rows in rows_of_judged], np.int64)
        if self.second is None:
            means = self._mean_ratings(rows_of_judged)
            return replace(self.take(first_rows), values=means)
        # Votes are for the side that comes first in order, so that exchanged sides do not matter.
        signs = self._signs_of_sides()
        votes = self.values * signs
        winners = np.array([np.sign(votes[rows].sum()) for rows in rows_of_judged])
        # Back to votes for the first side of each pair.
        return replace(self.take(first_rows), values=winners * signs[first_rows])

    def _check_one_group(self, rows_of_judged: Sequence[list[int]]) -> None:
        """Raise an error if judgements of the same candidate or pair are in several groups."""
        if self.groups is None:
            return
        for rows in rows_of_judged:
            groups = list(dict.fromkeys(self.groups[row] for row in rows))
            if len(groups) > 1:
                candidate = self.candidates[self.first[rows[0]]]
                values = {"value": candidate, "groups": groups}
                raise InputError("two-groups", self.source, **values)

    def _mean_ratings(self, rows_of_judged: Sequence[list[int]]) -> Floats:
        """Return the mean of the ratings in each list of rows.

        Sums are rounded only once, so the order of the ratings does not matter and equal means tie.
        """
        sums = [math.fsum(self.values[rows].tolist()) for rows in rows_of_judged]
        counts = np.array([len(rows) for rows in rows_of_judged], np.int64)
        means: Floats = np.array(sums) / counts
        return means

    def _signs_of_sides(self) -> Floats:
        """Return 1 for pairs whose first candidate comes first in sorted order, -1 for others."""
        signs = np.full(len(self), -1.0)
        for row in range(len(self)):
            pair = self._judged(row)
            if pair[0] == min(pair):
                signs[row] = 1.0
        return signs

    def _judged(self, row: int) -> list[CandidateKey]:
        """Return the candidate or the two candidates of a judgement."""
        keys = [self._key_of(self.first[row])]
        if self.second is not None:
            keys.append(self._key_of(self.second[row]))
        return keys

    def _key_of(self, number: int) -> CandidateKey:
        return self.images[number], self.candidates[number], self.references[number]

    def take(self, rows: Ints) -> Judgements:
        """Return the judgements in some rows, without candidates that none of them judges."""
        sides = [self.first[rows]]
        if self.second is not None:
            sides.append(self.second[rows])
        unique_numbers, new_numbers = np.unique(np.stack(sides), return_inverse=True)
        new_sides = new_numbers.reshape(len(sides), len(rows))
        second = None
        if self.second is not None:
            second = new_sides[1]
        groups = None
        if self.groups is not None:
            groups = [self.groups[row] for row in rows.tolist()]
        numbers = unique_numbers.tolist()
        return replace(
            self,
            candidates=[self.candidates[number] for number in numbers],
            references=[self.references[number] for number in numbers],
            images=[self.images[number] for number in numbers],
            values=self.values[rows],
            first=new_sides[0],
            second=second,
            groups=groups,
        )

    # ---- references ----

    def without_own_references(self, policy: str) -> Judgements:
        """Apply a policy to candidates that are among their own references.

        Parameters
        ----------
        policy : {"keep", "drop-candidate", "drop-reference"}
            Keep them, leave out their judgements, or leave out the reference that they equal.

        Raises
        ------
        InputError
            If no judgement is left, or a candidate has no reference left.
        """
        if not self.are_captions:
            return self
        judgements = self
        is_own = self._are_own_references()
        if is_own.any():
            if policy == "drop-candidate":
                judgements = self._drop_judgements_of(is_own)
            elif policy == "drop-reference":
                judgements = self._drop_own_references(int(is_own.sum()))
        if not len(judgements):
            raise InputError(
                "nothing-given",
                self.source,
                what="judgements left",
                remedy="give candidates that are not among the references",
            )
        if () in judgements.references:
            number = judgements.references.index(())
            where = f"{self.source}, image {judgements.images[number]!r}"
            candidate = judgements.candidates[number]
            raise InputError("only-own-reference", where, value=candidate)
        return judgements

    def _are_own_references(self) -> Bools:
        """Return whether each candidate is among its own references."""
        is_own = np.zeros(len(self.candidates), np.bool_)
        for number, candidate in enumerate(self.candidates):
            references = map(str.strip, self.references[number])
            is_own[number] = candidate.strip() in references
        return is_own

    def _drop_judgements_of(self, is_dropped: Bools) -> Judgements:
        """Leave out the judgements of some candidates."""
        drops = is_dropped[self.first]
        if self.second is not None:
            drops = drops | is_dropped[self.second]
        fact = Fact("own-references", int(drops.sum()), where=self.source)
        rest = self.take(np.flatnonzero(~drops))
        return replace(rest, notes=[*self.notes, fact])

    def _drop_own_references(self, n_candidates: int) -> Judgements:
        """Leave out references that equal their candidate."""
        references = []
        for candidate, own_references in zip(
            self.candidates, self.references, strict=True
        ):
            text = candidate.strip()
            others = (other for other in own_references if other.strip() != text)
            references.append(tuple(others))
        fact = Fact("own-reference-dropped", n_candidates, where=self.source)
        return replace(self, references=references, notes=[*self.notes, fact])

    def caption_sides(self) -> tuple[dict[str, list[str]], dict[str, list[str]], Ints]:
        """Return the captions as inputs of a score, and the position of each candidate in them.

        Candidates with the same image and the same references are in one item.

        Returns
        -------
        candidates, references : mapping from item to captions
        positions : int array, shape (candidates,)
            The position of each candidate if all items are concatenated.
        """
        keys = zip(self.images, self.references, strict=True)
        numbers_by_key = gather(zip(keys, range(len(self.images)), strict=True))
        item_names = name_all([image for image, _ in numbers_by_key])
        candidates: dict[str, list[str]] = {}
        references: dict[str, list[str]] = {}
        order: list[int] = []
        for name, (key, numbers) in zip(
            item_names, numbers_by_key.items(), strict=True
        ):
            _, shared_references = key
            candidates[name] = [self.candidates[number] for number in numbers]
            references[name] = list(shared_references)
            order.extend(numbers)
        positions = np.empty(len(self.candidates), np.int64)
        positions[order] = np.arange(len(positions))
        return candidates, references, positions


def name_all(images: Sequence[str]) -> list[str]:
    """Return a unique name for each set of references.

    It is the image, with a number if the image has several sets.

    Examples
    --------
    >>> name_all(["a", "b", "a"])
    ['a', 'b', 'a (2)']
    """
    n_sets: dict[str, int] = {}
    used_names = set(images)
    names = []
    for image in images:
        number = n_sets.get(image, 0) + 1
        n_sets[image] = number
        name = image
        while number > 1 and name in used_names:
            name = f"{image} ({number})"
            number += 1
        used_names.add(name)
        names.append(name)
    return names


def name_of(system: str, id_: str) -> str:
    """Return the id of a system's prediction among the predictions of several systems."""
    return f"{system}/{id_}"
