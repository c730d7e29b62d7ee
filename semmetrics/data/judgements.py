"""What people say of candidates: ratings of one, or preferences among two.

Conventions
-----------
A judgement is a rating of a candidate, or a preference between two: 1 for the first, -1 for the
second, 0 for neither. The same candidate may be judged several times, by several raters.

A *candidate* is a caption that stands with its references in the file, or an id of predictions
that are given apart. Candidates of one image are resampled together; where nothing names an image,
a candidate is of the id of its reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.errors import InputError
from semmetrics.frozen import dataclass
from semmetrics.messages import brief, pluralize

__all__ = ["TEXTS", "Judgements", "name_all"]

TEXTS = "captions"
"""The kind of data as which captions that stand beside their references are scored."""


@dataclass(frozen=True, eq=False)
class Judgements:
    """Candidates, and what people say of them.

    Attributes
    ----------
    candidates : list of str
        Captions, or ids of predictions.
    references : list of tuple of str
        Those of each candidate: captions, or one id of the ground truth.
    images : list of str
        Of each candidate; what is resampled together.
    texts : bool
        Whether candidates and references are captions.
    values : float64 array, shape (judgements,)
        Ratings, or preferences in {1, 0, -1}.
    first : int array, shape (judgements,)
        The candidate of each judgement.
    second : int array, shape (judgements,), or None
        The other one; None for ratings.
    groups : list of str or None
        A group of each judgement, such as a category.
    source : str
    notes : list of str
    """

    candidates: list[str]
    references: list[tuple[str, ...]]
    images: list[str]
    texts: bool
    values: Floats
    first: Ints
    second: Ints | None
    groups: list[str] | None
    source: str
    notes: list[str]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def noun(self) -> str:
        """What a judgement is."""
        return "rating" if self.second is None else "pair"

    def count_candidates(self, places: Ints | None = None) -> int:
        """Count all candidates, or those at some places; a caption rated several times is one."""
        chosen = range(len(self.candidates)) if places is None else np.unique(places).tolist()
        return len({(self.images[i], self.candidates[i], self.references[i]) for i in chosen})

    def group_names(self) -> list[str]:
        """Return the groups, in the order of their first judgement."""
        return list(dict.fromkeys(self.groups or ()))

    def of_group(self, name: str | None) -> Bools:
        """Return which judgements belong to a group; all for None."""
        if name is None or self.groups is None:
            return np.ones(len(self), np.bool_)
        return np.array([group == name for group in self.groups], np.bool_)

    def image_numbers(self) -> tuple[Ints, list[str]]:
        """Return the image of each judgement by its number, and the images."""
        names = list(dict.fromkeys(self.images))
        number = {name: place for place, name in enumerate(names)}
        of = np.array([number[name] for name in self.images], np.int64)
        return of[self.first] if len(of) else np.zeros(0, np.int64), names

    def averaged(self) -> Judgements:
        """Return one judgement of each candidate or pair: the mean of its ratings.

        Of preferences, the side that most of them prefer; neither if both have as many.

        Raises
        ------
        InputError
            If there are judgements of the same in several groups.

        Examples
        --------
        >>> rated = Judgements(["a", "a"], [("x",)] * 2, ["i"] * 2, True, np.array([1.0, 4.0]),
        ...                    np.arange(2), None, None, "ratings", [])
        >>> rated.averaged().values.tolist(), rated.averaged().candidates
        ([2.5], ['a'])
        """
        of: dict[Any, list[int]] = {}
        for row in range(len(self)):
            of.setdefault(self._key(row), []).append(row)
        self._check_groups(of.values())
        rows = np.array([several[0] for several in of.values()], np.int64)
        if self.second is None:
            means = [self._mean(self.values[several]) for several in of.values()]
            return replace(self.take(rows), values=np.array(means))
        sides = np.array([1.0 if self._in_order(row) else -1.0 for row in range(len(self))])
        votes = self.values * sides
        leads = np.array([np.sign(votes[several].sum()) for several in of.values()])
        return replace(self.take(rows), values=leads * sides[rows])

    def _mean(self, values: Floats) -> float:
        """Return the mean, rounded once: equal means tie, in whatever order the ratings stand."""
        try:
            return math.fsum(values.tolist()) / len(values)
        except OverflowError:
            raise InputError("the sum of its ratings is infinite", where=self.source,
                             remedy="scale them down") from None  # fmt: skip

    def _check_groups(self, of: Iterable[Sequence[int]]) -> None:
        if self.groups is None:
            return
        for several in of:
            names = list(dict.fromkeys(self.groups[row] for row in several))
            if len(names) > 1:
                text = brief(self.candidates[self.first[several[0]]])
                raise InputError(f"judgements of {text} are in the groups {names[0]!r} and "
                                 f"{names[1]!r}", where=self.source, remedy="leave group_by= "
                                 "(--group-by) out, or do not average")  # fmt: skip

    def _key(self, row: int) -> Any:
        """Return what a row judges; a pair is the same the other way round."""
        return tuple(sorted(self._judged(row)))

    def _in_order(self, row: int) -> bool:
        """Return whether the sides of a pair stand as its key has them."""
        return bool(self._judged(row)[0] == self._key(row)[0])

    def _judged(self, row: int) -> list[tuple[str, str, tuple[str, ...]]]:
        places = [self.first[row]] if self.second is None else [self.first[row], self.second[row]]
        return [(self.images[i], self.candidates[i], self.references[i]) for i in places]

    def take(self, rows: Ints) -> Judgements:
        """Return some of the judgements, with their candidates alone."""
        sides = [self.first[rows]] + ([] if self.second is None else [self.second[rows]])
        kept, places = np.unique(np.stack(sides), return_inverse=True)
        first, *second = places.reshape(len(sides), len(rows))
        kept = kept.tolist()
        return replace(
            self,
            candidates=[self.candidates[i] for i in kept],
            references=[self.references[i] for i in kept],
            images=[self.images[i] for i in kept],
            values=self.values[rows],
            first=first,
            second=second[0] if second else None,
            groups=None if self.groups is None else [self.groups[i] for i in rows.tolist()],
        )

    def without_own_references(self, policy: str) -> Judgements:
        """Apply a policy to candidates that are among their own references.

        Parameters
        ----------
        policy : {"keep", "drop-candidate", "drop-reference"}
            Keep them, leave out their judgements, or leave out the reference that they equal.

        Raises
        ------
        InputError
            If nothing is left, or a candidate is left without a reference.
        """
        if not self.texts:
            return self
        found, own = self, self._are_own()
        if policy == "drop-candidate" and own.any():
            judged = own[self.first]
            judged = judged if self.second is None else judged | own[self.second]
            note = f"{pluralize(int(judged.sum()), self.noun)} of candidates among their own "
            found = replace(self.take(np.flatnonzero(~judged)),
                            notes=[*self.notes, f"{note}references: left out"])  # fmt: skip
        elif policy == "drop-reference" and own.any():
            note = f"{pluralize(int(own.sum()), 'candidate')} among their own references: "
            kept = [
                tuple(one for one in several if one.strip() != text.strip())
                for text, several in zip(self.candidates, self.references, strict=True)
            ]
            found = replace(self, references=kept,
                            notes=[*self.notes, f"{note}compared with the others"])  # fmt: skip
        if not len(found):
            remedy = "give candidates that are not among the references"
            raise InputError("no judgement is left", where=self.source, remedy=remedy)
        found._check_references(self.references if policy == "drop-reference" else found.references)
        return found

    def _are_own(self) -> Bools:
        """Return which candidates are among their references."""
        rows = zip(self.candidates, self.references, strict=True)
        return np.array([text.strip() in map(str.strip, of) for text, of in rows], np.bool_)

    def _check_references(self, before: Sequence[tuple[str, ...]]) -> None:
        """Refuse candidates without references, and say if they had none but themselves."""
        of = zip(self.candidates, self.images, self.references, before, strict=True)
        for text, image, several, all_of_them in of:
            if not several:
                no = "no other reference than itself" if all_of_them else "no reference"
                raise InputError(
                    f"the candidate {brief(text)} has {no}", where=f"{self.source}, "
                    f"image {image!r}", remedy="give each candidate a reference of its image",
                )  # fmt: skip

    def caption_sides(self) -> tuple[dict[str, list[str]], dict[str, list[str]], Ints]:
        """Return the captions as they are scored, and the place of each candidate among them.

        Candidates with the same image and the same references stand together.

        Returns
        -------
        candidates, references : mapping from image to captions
        places : int array, shape (candidates,)
            Where each candidate stands, image by image.
        """
        keys: dict[tuple[str, tuple[str, ...]], list[int]] = {}
        for row, key in enumerate(zip(self.images, self.references, strict=True)):
            keys.setdefault(key, []).append(row)
        names = name_all([image for image, _ in keys])
        places = np.empty(len(self.candidates), np.int64)
        places[[row for rows in keys.values() for row in rows]] = np.arange(len(places))
        return (
            {name: [self.candidates[row] for row in rows]
             for name, rows in zip(names, keys.values(), strict=True)},
            {name: list(several) for name, (_, several) in zip(names, keys, strict=True)},
            places,
        )  # fmt: skip


def name_all(images: Sequence[str]) -> list[str]:
    """Give each set of references a name: the image, with a number where it has several."""
    seen: dict[str, int] = {}
    taken, names = set(images), []
    for image in images:
        number = seen[image] = seen.get(image, 0) + 1
        name = image
        while number > 1 and name in taken:
            name, number = f"{image} ({number})", number + 1
        taken.add(name)
        names.append(name)
    return names
