r"""Readers of ratings and preferences: public files, and tables of one's own.

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
rater ("annotator", "worker") who says it
============================= ===================================================================
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from semmetrics.arguments import checked_but
from semmetrics.data.form import DEFAULTS, ReadOptions, number
from semmetrics.data.inputs import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.judgements import Judgements
from semmetrics.data.pair_scores import ToId, id_reader, is_missing, read_group
from semmetrics.data.pascal_50s import is_pascal, read_pascal
from semmetrics.data.table_rows import (
    TABLE_FORMATS,
    Noun,
    Row,
    check_named_once,
    opened_table,
    read_rows,
)
from semmetrics.errors import InputError, at
from semmetrics.messages import brief, did_you_mean, listing, shown

__all__ = ["ROLES", "read_judgements"]

ROLES: Mapping[str, tuple[str, ...]] = {
    "rating": ("rating", "score", "human", "human_score", "human_rating", "judgement"),
    "preferred": ("preferred", "preference", "winner"),
    "a": ("a",),
    "b": ("b",),
    "caption": ("caption", "mt", "text"),
    "references": ("references", "refs", "ground_truth"),
    "candidate": ("candidate", "candidate_id"),
    "reference": ("reference", "reference_id"),
    "id": ("id", "item", "item_id"),
    "image": ("image", "image_id", "imgid", "img_id"),
    "rater": ("rater", "annotator", "worker"),
}
"""The roles of columns, each with the names that it is known by."""
_NOUN = Noun("judgement", "an object with a rating", '{"id": "a", "rating": 4}',
             '{"id": "a", "rating": 4}')  # fmt: skip
_image_id = id_reader(None)
_SIDES = {"a": 1.0, "b": -1.0, "tie": 0.0}


@checked_but("data")
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
    for what, given, least in (("seed", seed, 0), ("draw_references", draw_references, 1)):
        if given is not None and given < least:
            raise InputError(f"{what}={given}", remedy=f"give a whole number from {least}")
    random, chosen = np.random.default_rng(seed), _Columns(columns or {}, group_by, ids)
    if isinstance(data, str | os.PathLike) and data != "" and is_pascal(Path(data)):
        chosen.refuse(os.fspath(data))
        found = read_pascal(Path(data), random, options)
    elif isinstance(data, Mapping):
        chosen.refuse(name)
        found = _read_images(data, name)
    else:
        found = _read_table(data, chosen, options, name)
    if not len(found):
        raise InputError("there are no judgements", where=found.source,
                         remedy="write one a row: id and rating")  # fmt: skip
    return found if draw_references is None else _draw(found, draw_references, random)


def _draw(found: Judgements, number: int, random: np.random.Generator) -> Judgements:
    """Draw some references of each judgement, in their order."""
    references = list(found.references)
    for row, first in enumerate(found.first.tolist()):
        of = found.references[first]
        if len(of) > number:
            chosen = np.sort(random.choice(len(of), number, replace=False)).tolist()
            drawn = tuple(of[place] for place in chosen)
            references[first] = drawn
            if found.second is not None:
                references[found.second[row]] = drawn
    return replace(found, references=references)


def _read_images(data: Mapping[Any, Any], name: str) -> Judgements:
    """Read images with their references and the ratings of their candidates."""
    candidates, references, images, values = [], [], [], []
    for image, record in data.items():
        where = at(name, "", str(image))
        judged, truth = (
            _list_of(record, key, where) for key in ("human_judgement", "ground_truth")
        )
        several = tuple(
            _text(one, f"{where}, reference {i} (from 0)") for i, one in enumerate(truth)
        )
        for place, one in enumerate(judged):
            spot = f"{where}, judgement {place} (from 0)"
            if not isinstance(one, Mapping) or not {"caption", "rating"} <= one.keys():
                raise InputError("it has no caption and rating", where=spot,
                                 remedy='write {"caption": "a dog", "rating": 4}')  # fmt: skip
            candidates.append(_text(one["caption"], spot))
            values.append(number(one["rating"], spot, "rating"))
            references.append(several)
            images.append(str(image))
    return Judgements(candidates, references, images, True, np.array(values, np.float64),
                      np.arange(len(values)), None, None, name, [])  # fmt: skip


def _list_of(record: Any, key: str, where: str) -> list[Any]:
    if isinstance(record, int | float):
        raise InputError(f"{shown(record)} is no image with judgements", where=where, remedy="of "
                         'ratings by id write a list of {"id": "a", "rating": 4}')  # fmt: skip
    if not isinstance(record, Mapping) or not isinstance(record.get(key), list | tuple):
        raise InputError(
            f"there is no list {key!r}", where=where,
            remedy='write {"human_judgement": [{"caption": "a dog", "rating": 4}], '
            '"ground_truth": ["a dog runs"]}',
        )  # fmt: skip
    return list(record[key])


def _text(value: Any, where: str) -> str:
    if isinstance(value, str) and value.strip():
        return value
    problem = "the caption is empty" if isinstance(value, str) else f"{shown(value)} is no caption"
    raise InputError(problem, where=where, remedy="write a text")


def _caption(value: Any) -> str:
    """Return a candidate, which may be empty, as one among predictions may."""
    return value if isinstance(value, str) else _text(value, "")


class _Columns:
    """Finds the role of each column of a table."""

    def __init__(self, named: Mapping[str, str], group: str | None, ids: str | None) -> None:
        for role, column in named.items():
            if role not in ROLES or not isinstance(column, str):
                near = did_you_mean(str(role), ROLES, f"there are {listing(ROLES, most=20)}")
                raise InputError(
                    f"columns= names {brief({role: column})}",
                    remedy="give the name of a column" if role in ROLES else near,
                )
        self.named, self.group, self.to_id = named, group, id_reader(ids)
        given = {"columns": named, "group_by": group, "ids": ids}
        self.given = [f"{name}=" for name, value in given.items() if value]

    def refuse(self, where: str) -> None:
        """Refuse options of columns beside data that have none.

        Raises
        ------
        InputError
            If one is given.
        """
        if self.given:
            raise InputError(f"{', '.join(self.given)} beside a file that is no table",
                             where=where, remedy="leave that out")  # fmt: skip

    def find(self, names: Sequence[str] | None, where: str) -> dict[str, int]:
        """Return the place of the column of each role that the table has."""
        if names is None:
            raise InputError("a list has no keys", where=where,
                             remedy='write {"id": "a", "rating": 4}')  # fmt: skip
        folded = [name.strip().casefold() for name in names]
        for column in [*self.named.values(), *([] if self.group is None else [self.group])]:
            if column not in names:
                raise InputError(
                    f"there is no column {column!r}: found {listing(names, most=12)}", where=where,
                    remedy="name others with columns= (--columns) and group_by= (--group-by)",
                )  # fmt: skip
        taken = {*self.named.values(), self.group}
        found = {role: names.index(column) for role, column in self.named.items()}
        for role, known in ROLES.items():
            places = [i for i, name in enumerate(folded) if name in known and names[i] not in taken]
            if role not in found and places:
                found[role] = min(places, key=lambda i: known.index(folded[i]))
        if self.group is not None:
            found["group"] = names.index(self.group)
        settled = _settle(found, names, where)
        check_named_once([names[i] for i in settled.values()], names, where)
        return settled


def _settle(found: dict[str, int], names: Sequence[str], where: str) -> dict[str, int]:
    """Return the roles that make a judgement: what is judged, and what is said of it."""
    has = found.keys()
    if {"a", "b", "preferred"} <= has:
        used = {"a", "b", "preferred", "references" if "references" in has else "reference"}
    elif "rating" not in has:
        raise InputError(
            f"there is no column of ratings: found {listing(names, most=12)}", where=where,
            remedy="call it rating, or name it: columns={'rating': ...} (--columns rating=...); of "
            "preferences write a, b and preferred",
        )  # fmt: skip
    elif "references" in has and ("caption" in has or "candidate" in has):
        if "caption" not in has:
            found["caption"] = found["candidate"]
        used = {"rating", "caption", "references"}
    elif "candidate" in has and "reference" in has:
        used = {"rating", "candidate", "reference"}
    elif "id" in has or "candidate" in has or "image" in has:
        own = next(role for role in ("id", "candidate", "image") if role in has)
        found["id"] = found[own]
        used = {"rating", "id"}
        if own == "image":
            found.pop("image")
    else:
        raise InputError(
            f"there is no column of ids: found {listing(names, most=12)}", where=where,
            remedy="call it id, or name it: columns={'id': ...} (--columns id=...)",
        )  # fmt: skip
    return {role: i for role, i in found.items() if role in used | {"image", "rater", "group"}}


class _Builder:
    """Builds judgements from rows: ids are candidates once, captions as often as they are rated.

    Parameters
    ----------
    to_id : callable
        Makes an id of a cell.
    """

    def __init__(self, to_id: ToId) -> None:
        self._to_id, self._texts = to_id, False
        self._candidates: list[str] = []
        self._references: list[tuple[str, ...]] = []
        self._images: list[str] = []
        self._values: list[float] = []
        self._sides: list[list[int]] = []
        self._groups: list[str] = []
        self._numbers: dict[Any, int] = {}
        self._rated: dict[Any, str] = {}

    def add_row(self, row: Mapping[str, Any], place: str) -> None:
        """Add what a row says, by role."""
        self._texts = "references" in row
        self._values.append(_value(row))
        self._sides.append(self._judged(row, place))
        if "group" in row:
            self._groups.append(read_group(row["group"]))

    def judgements(self, where: str, notes: list[str]) -> Judgements:
        """Return what was added."""
        first, *second = np.array(self._sides or np.zeros((0, 1)), np.int64).T
        return Judgements(
            self._candidates, self._references, self._images, self._texts,
            np.array(self._values, np.float64), first, second[0] if second else None,
            self._groups or None, where, notes,
        )  # fmt: skip

    def _judged(self, row: Mapping[str, Any], place: str) -> list[int]:
        """Return the numbers of the candidates that a row judges."""
        roles = ("a", "b") if "preferred" in row else ("caption",) if self._texts else (
            ("candidate",) if "candidate" in row else ("id",))  # fmt: skip
        if self._texts:
            given = [_caption(row[role]) for role in roles]
            references = _references(row["references"])
            image = _image_id(row["image"]) if "image" in row else " / ".join(references)
        else:
            given = [self._to_id(row[role]) for role in roles]
            references = (self._to_id(row["reference"]),) if "reference" in row else ()
            own = next(iter(references), min(given))
            image = self._to_id(row["image"]) if "image" in row else own
        if "rater" in row and not is_missing(row["rater"]):
            judged = (*sorted(given), references, image)
            self._check_rater(row["rater"], judged, " and ".join(map(shown, given)), place)
        return [self._number(one, references or (one,), image) for one in given]

    def _number(self, candidate: str, references: tuple[str, ...], image: str) -> int:
        key = candidate, references, image
        if self._texts or key not in self._numbers:
            self._numbers[key] = len(self._candidates)
            self._candidates.append(candidate)
            self._references.append(references)
            self._images.append(image)
        return self._numbers[key]

    def _check_rater(self, rater: Any, judged: Any, what: str, place: str) -> None:
        """Refuse a second judgement of the same by the same rater."""
        before = self._rated.setdefault((str(rater), judged), place)
        if before is not place:
            raise InputError(f"the rater {shown(rater)} judges {what} twice, first in "
                             f"{before.rpartition(', ')[2]}", where=place,
                             remedy="keep one of the two; or name the ids that tell them apart, "
                             "as by columns={'candidate': 'caption_id'} (--columns "
                             "candidate=caption_id)")  # fmt: skip


def _read_table(data: Any, columns: _Columns, options: ReadOptions, name: str) -> Judgements:
    notes: list[str] = []
    with opened_table(data, options) as source:
        where = name if source is None else source.name
        if source is not None and _is_json_object(source, options):
            columns.refuse(where)
            return _read_images(source.parsed(parse_source), where)
        builder = _Builder(columns.to_id)
        rows = read_rows(data, source, options, where, notes, _NOUN)
        for place, row in _by_role(rows, columns):
            try:
                builder.add_row(row, place)
            except InputError as error:
                raise error if error.where else error.placed(place) from None
    return builder.judgements(where, notes)


def _by_role(rows: Iterable[Row], columns: _Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each row with its cells by role; all have to be judgements of one form."""
    header: list[str] | None = None
    roles: dict[str, int] = {}
    form: set[str] | None = None
    for place, names, cells in rows:
        if form is None or names != header:
            header, roles = names, columns.find(names, place)
            own = {"references", "preferred"} & roles.keys()
            if form not in (None, own):
                raise InputError("it has other keys than those before", where=place,
                                 remedy="give all judgements the same keys")  # fmt: skip
            form = own
        yield place, {role: cells[i] for role, i in roles.items()}


def _is_json_object(source: Any, options: ReadOptions) -> bool:
    kind = format_among(source, options, "judgements are", TABLE_FORMATS)
    return kind == "json" and isinstance(source.parsed(parse_source), Mapping)


def _value(row: Mapping[str, Any]) -> float:
    if "preferred" not in row:
        return number(row["rating"], "", "rating")
    said = row["preferred"]
    word = str(said).strip().casefold()
    sides = {side for side in ("a", "b") if said == row[side] and row["a"] != row["b"]}
    sides |= {word} & _SIDES.keys()
    if len(sides) > 1:
        raise InputError(f"{shown(said)} is one side, and what the other one is called",
                         remedy="give the candidates other ids")  # fmt: skip
    if not sides:
        raise InputError(f"{shown(said)} is preferred", remedy="write a, b or tie")
    return _SIDES[sides.pop()]


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
        raise InputError(f"{shown(value)} is no list of references",
                         remedy='write ["a dog runs", "the dog"]')  # fmt: skip
    if not value:
        raise InputError("the candidate has no reference",
                         remedy="give each candidate a reference of its image")  # fmt: skip
    return tuple(_text(one, "") for one in value)
