r"""What people say of candidates, and its readers: ratings of one, or preferences among two.

Conventions
-----------
A judgement is a rating of a candidate, or a preference between two: 1 for the first, -1 for the
second, 0 for neither. The same candidate may be judged several times, by several raters.

A *candidate* is a caption with its references in the file, or an id of predictions that are given
apart. Candidates of one image are resampled together; if nothing names an image, a candidate is of
the id of its reference.

Files
-----
================== ==============================================================================
images             JSON ``{image: {"human_judgement": [{"caption", "rating"}, ...],
                   "ground_truth": [references]}}``: ``flickr8k.json`` (Flickr8k-Expert),
                   ``crowdflower_flickr8k.json`` (Flickr8k-CF), ``composite.json``
Pascal-50S         ``pair_pascal.mat`` with ``consensus_pascal.mat`` beside it, or their folder
table              CSV, TSV, JSON or JSONL, a row for each judgement
================== ==============================================================================

Columns of tables, of which ``columns`` may name others
-------------------------------------------------------
============================= ===================================================================
rating                        a number (also "score", "human", "human_score", "judgement")
a, b, preferred               two candidates, and "a", "b" or "tie"
caption, references           a caption ("mt", "candidate") and the list of its references ("refs",
                              "ground_truth"); in CSV a list as JSON or Python writes it
id                            of predictions and ground truth alike
candidate, reference          ids of either side
image ("image_id", "imgid")   what is resampled together
rater ("annotator", "worker") who judges
system                        whose prediction is judged, if there are several systems
============================= ===================================================================

Pascal-50S
----------
``pair_pascal.mat``: ``new_input`` (1, 4000), of each pair the image and both captions; ``category``
(1, 4000), 1 to 4 for HC (both by people, correct), HI (one of another image), HM (one by a
machine) and MM (both). ``consensus_pascal.mat``: ``triplets`` (1, 192000), 48 for each pair: a
reference, both captions, and 1 or -1 for the one that is nearer to it.
"""

from __future__ import annotations

import ast
import json
import math
import os
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.core.ragged import Bools, Floats, Ints
from semmetrics.data.arrays import Struct, read_mat
from semmetrics.data.form import DEFAULTS, ReadOptions
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.lists import gather
from semmetrics.data.side_inputs import TABLE_KINDS, id_reader, opened, read_table
from semmetrics.data.source import Source, load
from semmetrics.errors import FROM_0, Fact, InputError, at
from semmetrics.messages import did_you_mean, listing
from semmetrics.schema import JUDGEMENTS, Row, Settle, Table, as_id, as_text, is_missing

TEXTS = "captions"
"""The kind of data as which captions with references beside them are scored."""
_PREFERRED = {"a": 1.0, "b": -1.0, "tie": 0.0}
_CATEGORIES = ("HC", "HI", "HM", "MM")
_PASCAL = ("pair_pascal.mat", "consensus_pascal.mat")
_VARIABLES = ("new_input", "category", "triplets")


@dataclass(frozen=True, eq=False, repr=False)
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
    notes : list
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
    notes: list[Any]

    def __len__(self) -> int:
        return len(self.values)

    @property
    def noun(self) -> str:
        """What a judgement is."""
        return "rating" if self.second is None else "pair"

    def count_candidates(self, places: Ints | None = None) -> int:
        """Count all candidates, or those at some places; a caption rated several times is one."""
        chosen = (
            range(len(self.candidates))
            if places is None
            else np.unique(places).tolist()
        )
        return len(
            {(self.images[i], self.candidates[i], self.references[i]) for i in chosen}
        )

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
        # a pair is the same the other way round
        of = gather((tuple(sorted(self._judged(row))), row) for row in range(len(self)))
        for several in of.values() if self.groups is not None else ():
            names = list(dict.fromkeys(self.groups[row] for row in several))  # type: ignore[index]
            if len(names) > 1:
                judged = self.candidates[self.first[several[0]]]
                raise InputError("two-groups", self.source, value=judged, groups=names)
        rows = np.array([several[0] for several in of.values()], np.int64)
        if self.second is None:
            # rounded once: equal means tie, whatever the order of the ratings
            sums = [math.fsum(self.values[several].tolist()) for several in of.values()]
            means = np.array(sums) / np.fromiter(
                map(len, of.values()), np.int64, len(of)
            )
            return replace(self.take(rows), values=means)
        pairs = (self._judged(row) for row in range(len(self)))
        sides = np.array([1.0 if pair[0] == min(pair) else -1.0 for pair in pairs])
        votes = self.values * sides
        leads = np.array([np.sign(votes[several].sum()) for several in of.values()])
        return replace(self.take(rows), values=leads * sides[rows])

    def _judged(self, row: int) -> list[tuple[str, str, tuple[str, ...]]]:
        places = (
            [self.first[row]]
            if self.second is None
            else [self.first[row], self.second[row]]
        )
        return [
            (self.images[i], self.candidates[i], self.references[i]) for i in places
        ]

    def take(self, rows: Ints) -> Judgements:
        """Return some of the judgements, with their candidates alone."""
        sides = [self.first[rows]] + (
            [] if self.second is None else [self.second[rows]]
        )
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
            groups=None
            if self.groups is None
            else [self.groups[i] for i in rows.tolist()],
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
        rows = zip(self.candidates, self.references, strict=True)
        own = np.array(
            [text.strip() in map(str.strip, of) for text, of in rows], np.bool_
        )
        found = self
        if policy == "drop-candidate" and own.any():
            judged = own[self.first]
            judged = judged if self.second is None else judged | own[self.second]
            fact = Fact("own-references", int(judged.sum()), where=self.source)
            found = replace(
                self.take(np.flatnonzero(~judged)), notes=[*self.notes, fact]
            )
        elif policy == "drop-reference" and own.any():
            fact = Fact("own-reference-dropped", int(own.sum()), where=self.source)
            kept = [
                tuple(one for one in several if one.strip() != text.strip())
                for text, several in zip(self.candidates, self.references, strict=True)
            ]
            found = replace(self, references=kept, notes=[*self.notes, fact])
        if not len(found):
            remedy = "give candidates that are not among the references"
            raise InputError(
                "nothing-given", self.source, what="judgements left", remedy=remedy
            )
        if () in found.references:
            row = found.references.index(())
            where = f"{self.source}, image {found.images[row]!r}"
            raise InputError("only-own-reference", where, value=found.candidates[row])
        return found

    def caption_sides(self) -> tuple[dict[str, list[str]], dict[str, list[str]], Ints]:
        """Return the captions as they are scored, and the place of each candidate among them.

        Candidates with the same image and the same references stand together.

        Returns
        -------
        candidates, references : mapping from image to captions
        places : int array, shape (candidates,)
            Where each candidate stands, image by image.
        """
        each = enumerate(zip(self.images, self.references, strict=True))
        keys = gather((key, row) for row, key in each)
        names = name_all([image for image, _ in keys])
        places = np.empty(len(self.candidates), np.int64)
        places[[row for rows in keys.values() for row in rows]] = np.arange(len(places))
        return (
            {
                name: [self.candidates[row] for row in rows]
                for name, rows in zip(names, keys.values(), strict=True)
            },
            {
                name: list(several)
                for name, (_, several) in zip(names, keys, strict=True)
            },
            places,
        )


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


def read_judgements(
    data: Any,
    *,
    columns: Mapping[str, str] | None = None,
    group_by: str | None = None,
    ids: str | None = None,
    draw_references: int | None = None,
    seed: int = 12345,
    options: ReadOptions = DEFAULTS,
    name: str = "ratings",
    several: bool = False,
) -> Judgements:
    """Read what people say of candidates.

    Parameters
    ----------
    data : path, frame, mapping, or iterable of mappings
    columns : mapping from role to column, optional
    group_by : str, optional
        The column of the group of each judgement. Pascal-50S has its categories.
    ids : str, optional
        A regular expression: an id is its first group, or what it finds where it has none.
    draw_references : int, optional
        Draw so many references of each candidate at random, where it has more; candidates that are
        compared with each other have the same.
    seed : int
        Of that, and of votes of Pascal-50S that are equal.
    options : ReadOptions
    name : str
        What messages call Python objects.
    several : bool
        Whether there are predictions of several systems. The candidate that a system has for the
        id "7" is then called "SYSTEM/7", and compared with the reference of "7".

    Returns
    -------
    Judgements

    Raises
    ------
    InputError
        If there are no judgements, a column is missing, a rating is no finite number, or a rater
        says two things of the same; names the place.

    Examples
    --------
    >>> rows = [{"id": "a", "rating": 4}, {"id": "a", "rating": 2}, {"id": "b", "rating": 1}]
    >>> found = read_judgements(rows)
    >>> found.candidates, found.values.tolist(), found.first.tolist()
    (['a', 'b'], [4.0, 2.0, 1.0], [0, 0, 1])
    """
    random, to_id = np.random.default_rng(seed), id_reader(ids)
    roles = [column.role for column in JUDGEMENTS.columns]
    for role in columns or ():
        if role not in roles:
            remedy = did_you_mean(
                str(role), roles, f"choose one of {listing(roles, most=20)}"
            )
            raise InputError(
                "unknown-name", "columns", what="role", value=role, remedy=remedy
            )
    path = Path(data) if isinstance(data, str | os.PathLike) and data else None
    if path is not None and (path.suffix == ".mat" or path.is_dir()):
        found, tabular = _read_pascal(path, random, options), False
    else:
        with opened(data, options) as source:
            images, settle = source, _settling(several=several)
            if isinstance(source, Source):
                name, images = source.name, None
                if (
                    format_among(source, options, "judgements are", TABLE_KINDS)
                    == "json"
                ):
                    images = source.parsed(parse_source)
            tabular = not isinstance(images, Mapping)
            if tabular:
                chosen = {
                    **(columns or {}),
                    **({} if group_by is None else {"group": group_by}),
                }
                table = read_table(
                    source, JUDGEMENTS, options, name, chosen=chosen, settle=settle
                )
            else:
                table = JUDGEMENTS.read(
                    _rows_of_images(images, name), name, "{}", settle=settle
                )
        found = _collect(table, to_id)
    named = {"columns": columns, "group_by": group_by, "ids": ids}
    found = replace(found, notes=[_with_hint(note) for note in found.notes])
    if given := [one for one, value in named.items() if value and not tabular]:
        what = "judgements that are not a table"
        raise InputError("not-applicable", found.source, name=given[0], what=what)
    return found if draw_references is None else _draw(found, draw_references, random)


def _with_hint(note: Any) -> Any:
    """Return a note on unused columns that names the option which uses them."""
    if isinstance(note, Fact) and note.code == "unused-columns":
        return replace(note, code="unused-judged-columns")
    return note


def name_of(system: str, id_: str) -> str:
    """Return the id of a system's candidate among those of several systems."""
    return f"{system}/{id_}"


def _draw(found: Judgements, number: int, random: np.random.Generator) -> Judgements:
    """Draw some references of each judgement, in their order."""
    references = list(found.references)
    for row, first in enumerate(found.first.tolist()):
        of = found.references[first]
        if len(of) > number:
            places = np.sort(random.choice(len(of), number, replace=False)).tolist()
            references[first] = tuple(of[place] for place in places)
            if found.second is not None:
                references[found.second[row]] = references[first]
    return replace(found, references=references)


def _rows_of_images(data: Mapping[Any, Any], name: str) -> Iterator[Row]:
    """Yield the ratings of candidates, with their image and its references."""
    for image, record in data.items():
        where = at("", "", str(image))
        judged, truth = (
            record.get(key) if isinstance(record, Mapping) else None
            for key in ("human_judgement", "ground_truth")
        )
        if not isinstance(judged, list | tuple) or not isinstance(truth, list | tuple):
            raise InputError("not-judged", f"{name}, {where}", value=record)
        for number, one in enumerate(judged):
            place = f"{where}, judgement {number}{FROM_0}"
            if not isinstance(one, Mapping) or not {"caption", "rating"} <= one.keys():
                raise InputError(
                    "wrong-type",
                    f"{name}, {place}",
                    value=one,
                    wanted='{"caption": "a dog", "rating": 4}',
                )
            cells = str(image), truth, one["caption"], one["rating"]
            yield place, ("image", "references", "caption", "rating"), cells


def _check_rated(
    has: Collection[str], names: Sequence[str], where: str, several: bool
) -> None:
    """Raise an error if no column has the ratings, the ids or the systems."""
    known = {column.role: ", ".join(column.known) for column in JUDGEMENTS.columns}
    if "rating" not in has:
        role = "the rating (of preferences: a, b and preferred)"
        raise InputError(
            "no-ratings", where, role=role, wanted=known["rating"], found=list(names)
        )
    missing = "system" if several else "id"
    raise InputError(
        "missing-column",
        where,
        role=f"the {missing}",
        wanted=known[missing],
        found=list(names),
        flag="columns",
    )


def _settling(*, several: bool) -> Settle:
    """Return what settles the columns of rows, which all have one form.

    It returns the columns that make a judgement: what is judged, and how. A column of systems is
    among them if there are several systems.
    """
    forms = set[frozenset[str]]()

    def settle(
        found: dict[str, int], names: Sequence[str], where: str
    ) -> dict[str, int]:
        if "group" in found and names[found["group"]] == "system":
            found.setdefault("system", found["group"])
        has = found.keys()
        own = next((role for role in ("id", "candidate", "image") if role in has), "")
        if {"a", "b", "preferred"} <= has:
            used = {
                "a",
                "b",
                "preferred",
                "references" if "references" in has else "reference",
            }
        elif {"rating", "references"} <= has and {"caption", "candidate"} & has:
            found.setdefault("caption", found.get("candidate", -1))
            used = {"rating", "caption", "references"}
        elif {"rating", "candidate", "reference"} <= has:
            used = {"rating", "candidate", "reference"}
        elif "rating" in has and own and not (several and "system" not in has):
            found["id"] = found.pop(own)
            used = {"rating", "id"}
        else:
            _check_rated(has, names, where, several)
        used |= {"image", "rater", "group"}
        if several:
            used.add("system")
        settled = {role: i for role, i in found.items() if role in used}
        forms.add(frozenset({"references", "preferred"} & settled.keys()))
        if len(forms) > 1:
            raise InputError("mixed-rows", where)
        return settled

    return settle


def _collect(table: Table, to_id: Any) -> Judgements:
    """Make judgements of rows: ids are candidates once, captions as often as they are rated."""
    texts, pairs = "references" in table.columns, "preferred" in table.columns
    candidates, references = list[str](), list[tuple[str, ...]]()
    images, sides, values = list[str](), list[list[int]](), list[float]()
    numbers: dict[Any, int] = {}
    rated: dict[Any, int] = {}
    for place, row in enumerate(table.rows()):
        try:
            values.append(_preference(row) if pairs else row["rating"])
            role = "caption" if texts else "candidate" if "candidate" in row else "id"
            judged = [row["a"], row["b"]] if pairs else [row[role]]
            if texts:  # a candidate may be empty, as one among predictions may
                given = [
                    o if isinstance(o, str) else as_text(o, "the caption")
                    for o in judged
                ]
                several = _references(row["references"])
                image = as_id(row["image"]) if "image" in row else " / ".join(several)
            else:
                given = [to_id(one) for one in judged]
                several = (to_id(row["reference"]),) if "reference" in row else ()
                if "system" in row and not pairs:
                    several = several or (given[0],)
                    given = [name_of(as_id(row["system"]), given[0])]
                image = (
                    to_id(row["image"])
                    if "image" in row
                    else next(iter(several), min(given))
                )
            rater = row.get("rater")
            if not is_missing(rater):
                before = rated.setdefault(
                    (str(rater), (*sorted(given), several, image)), place
                )
                if before != place:
                    other = table.where(before)
                    raise InputError(
                        "rated-twice", rater=rater, names=given, other=other
                    )
        except InputError as error:
            raise (error if error.where else error.placed(table.where(place))) from None
        sides.append([])
        for one in given:
            key = one, several or (one,), image
            if texts or key not in numbers:
                numbers[key] = len(candidates)
                candidates.append(one)
                references.append(key[1])
                images.append(image)
            sides[-1].append(numbers[key])
    first, *second = np.array(sides or np.zeros((0, 1)), np.int64).T
    return Judgements(
        candidates,
        references,
        images,
        texts,
        np.array(values, np.float64),
        first,
        second[0] if second else None,
        table.columns.get("group"),
        table.source,
        table.notes,
    )


def _preference(row: Mapping[str, Any]) -> float:
    """Return 1 for the first of a pair, -1 for the second, and 0 for a tie."""
    value = row["preferred"]
    sides = {side for side in ("a", "b") if value == row[side] and row["a"] != row["b"]}
    sides |= {str(value).strip().casefold()} & _PREFERRED.keys()
    if len(sides) != 1:
        if sides:
            raise InputError("ambiguous-side", value=value)
        raise InputError(
            "wrong-content",
            value=repr(value),
            wanted="a preference",
            example="a, b or tie",
        )
    return _PREFERRED[sides.pop()]


def _references(value: Any) -> tuple[str, ...]:
    """Return the captions of a list, or of the text of one."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):  # which runs nothing
            try:
                value = read(value)
                break
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
    value = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        wanted = 'a list such as ["a dog runs", "the dog"]'
        raise InputError("wrong-type", value=value, wanted=wanted)
    if not value:
        raise InputError(
            "empty", role="the list of references", remedy="give at least one"
        )
    return tuple(as_text(one, "the caption") for one in value)


def _read_pascal(
    path: Path, random: np.random.Generator, options: ReadOptions
) -> Judgements:
    """Read the pairs, their categories, and the references and votes on each pair.

    Votes that are equal are broken at random.
    """
    folder = path if path.is_dir() else path.parent
    where = os.fspath(folder)
    if folder != path and path.name not in _PASCAL:
        wanted = f"{' or '.join(_PASCAL)}, or their folder"
        raise InputError(
            "wrong-format",
            os.fspath(path),
            what="judgements",
            format="other .mat files",
            wanted=wanted,
        )
    files = (load(folder / name, options.max_bytes) for name in _PASCAL)
    pairs, triplets = (read_mat(one, _VARIABLES) for one in files)
    given, votes = (
        _records(pairs, "new_input", 3, where),
        _records(triplets, "triplets", 4, where),
    )
    kinds = np.atleast_1d(pairs.get("category", ())).tolist()
    if not given or len(kinds) != len(given) or not votes or len(votes) % len(given):
        why = f"{len(given)} pairs, {len(kinds)} categories and {len(votes)} votes do not fit"
        raise InputError("not-pascal", where, why=why)
    each, leads, groups = len(votes) // len(given), list[int](), list[str]()
    candidates, references, images = list[str](), list[tuple[str, ...]](), list[str]()
    for row, (image, *both) in enumerate(given):
        pair, some = (
            [_cell(text) for text in both],
            votes[row * each : (row + 1) * each],
        )
        chosen = {"1": 1, "-1": 2}  # the place of the caption that a vote is for
        won = Counter(_cell(vote[chosen.get(_cell(vote[3]), 3)]) for vote in some)
        if not won.keys() <= {*pair} or kinds[row] not in range(
            1, len(_CATEGORIES) + 1
        ):
            why = "votes are not 1 or -1, on other captions, or the category is not 1 to 4"
            raise InputError("not-pascal", f"{where}, pair {row}{FROM_0}", why=why)
        leads.append(won[pair[0]] - won[pair[1]])
        candidates += pair
        references += [tuple(_cell(reference) for reference, *_ in some)] * 2
        images += [_cell(image)] * 2
        groups.append(_CATEGORIES[int(kinds[row]) - 1])
    values = [
        float(np.sign(lead)) if lead else random.choice([1.0, -1.0]) for lead in leads
    ]
    notes = [Fact("equal-votes", leads.count(0), where=where)] * (0 in leads)
    firsts = np.arange(0, 2 * len(given), 2)
    return Judgements(
        candidates,
        references,
        images,
        True,
        np.array(values),
        firsts,
        firsts + 1,
        groups,
        where,
        notes,
    )


def _records(
    found: Mapping[str, Any], name: str, width: int, where: str
) -> list[tuple[Any, ...]]:
    """Return the records of a MATLAB struct array, as tuples of its fields in their order."""
    value = found.get(name)
    if not isinstance(value, Struct) or len(value.fields) != width:
        raise InputError(
            "not-pascal", where, why=f"no struct array {name} with {width} fields"
        )
    return value.records


def _cell(value: Any) -> str:
    """Return the text inside arrays and cells."""
    while isinstance(value, np.ndarray | list):
        flat = value.ravel().tolist() if isinstance(value, np.ndarray) else value
        value = flat[0] if flat else ""
    number = isinstance(value, float) and value.is_integer()
    return str(int(value) if number else value).strip()
