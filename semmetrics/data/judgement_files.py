r"""Read human judgements of captions and predictions.

Files
-----
================== ==============================================================================
images             JSON ``{image: {"human_judgement": [{"caption", "rating"}, ...],
                   "ground_truth": [references]}}``: ``flickr8k.json`` (Flickr8k-Expert),
                   ``crowdflower_flickr8k.json`` (Flickr8k-CF), ``composite.json``
Pascal-50S         ``pair_pascal.mat`` with ``consensus_pascal.mat`` next to it, or their folder
table              CSV, TSV, JSON or JSONL, a row for each judgement
================== ==============================================================================

Columns of tables (the option ``columns`` may set other names)
---------------------------------------------------------------
============================= ===================================================================
rating                        a number (also "score", "human", "human_score", "judgement")
a, b, preferred               two candidates, and "a", "b" or "tie"
caption, references           a caption ("mt", "candidate") and the list of its references ("refs",
                              "ground_truth"). In CSV the list is written as in JSON or Python
id                            the id of a prediction and of its reference
candidate, reference          an id of the predictions and one of the ground truth
image ("image_id", "imgid")   the image, which is the unit of resampling
rater ("annotator", "worker") the person who judges
system                        the system of the candidate, if there are several systems
============================= ===================================================================
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semmetrics.data.id_parts import ToId, id_reader
from semmetrics.data.input_formats import format_among
from semmetrics.data.json_files import parse_source
from semmetrics.data.judgements import CandidateKey, Judgements, name_of
from semmetrics.data.pascal import is_pascal, read_pascal
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.data.side_tables import TABLE_FORMATS, opened, read_side_table
from semmetrics.data.source import Source
from semmetrics.errors import FROM_0, Fact, InputError, format_place
from semmetrics.messages import did_you_mean, listing
from semmetrics.schema import JUDGEMENTS, Row, Table, as_id, as_text, is_missing

_VALUE_OF_PREFERENCE = {"a": 1.0, "b": -1.0, "tie": 0.0}
_PAIR_COLUMNS = frozenset({"a", "b", "preferred"})
_COMMON_COLUMNS = frozenset({"image", "rater", "group"})
"""Columns that a table may have in any case."""


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
    """Read human judgements of candidates.

    Parameters
    ----------
    data : path, frame, mapping, or iterable of mappings
    columns : mapping from role to column, optional
    group_by : str, optional
        The column of the group of each judgement. The groups of Pascal-50S are its categories.
    ids : str, optional
        A regular expression that matches the part of an id to compare: its only group, or the
        whole match if it has no group.
    draw_references : int, optional
        Draw this many references of each candidate at random, if it has more. Candidates that are
        compared with each other get the same references.
    seed : int
        The seed for drawing references, and for ties in the votes of Pascal-50S.
    options : ReadOptions
    name : str
        The name of a Python object in messages.
    several : bool
        Whether there are predictions of several systems. The prediction of a system for the id "7"
        is then called "SYSTEM/7", and is compared with the reference of "7".

    Returns
    -------
    Judgements

    Raises
    ------
    InputError
        If there are no judgements, a column is missing, a rating is not a finite number, or a
        rater judges the same candidate twice. The message names the place.

    Examples
    --------
    >>> rows = [{"id": "a", "rating": 4}, {"id": "a", "rating": 2}, {"id": "b", "rating": 1}]
    >>> judgements = read_judgements(rows)
    >>> judgements.candidates, judgements.values.tolist(), judgements.first.tolist()
    (['a', 'b'], [4.0, 2.0, 1.0], [0, 0, 1])
    """
    random = np.random.default_rng(seed)
    to_id = id_reader(ids)
    _check_roles(columns or {})
    pascal_path = _find_pascal(data)
    if pascal_path is not None:
        judgements = read_pascal(pascal_path, random, options)
        is_table = False
    else:
        chosen = dict(columns or {})
        if group_by is not None:
            chosen["group"] = group_by
        table, is_table = _read_rows(data, chosen, options, name, several)
        judgements = _collect(table, to_id)
    notes = [_with_hint(note) for note in judgements.notes]
    judgements = replace(judgements, notes=notes)
    if not is_table:
        table_options = {"columns": columns, "group_by": group_by, "ids": ids}
        _check_not_set(table_options, judgements.source)
    if draw_references is None:
        return judgements
    return _draw_references(judgements, draw_references, random)


def _check_roles(columns: Mapping[str, str]) -> None:
    """Raise an error if a column has an unknown role."""
    roles = [column.role for column in JUDGEMENTS.columns]
    for role in columns:
        if role not in roles:
            choices = f"choose one of {listing(roles, most=20)}"
            remedy = did_you_mean(str(role), roles, choices)
            values = {"what": "role", "value": role, "remedy": remedy}
            raise InputError("unknown-name", "columns", **values)


def _find_pascal(data: Any) -> Path | None:
    """Return the path of Pascal-50S, or None for other data."""
    if not isinstance(data, str | os.PathLike) or not data:
        return None
    path = Path(data)
    return path if is_pascal(path) else None


def _read_rows(
    data: Any,
    chosen: Mapping[str, str],
    options: ReadOptions,
    name: str,
    has_systems: bool,
) -> tuple[Table, bool]:
    """Return the judgements as a table, and whether the data themselves are a table."""
    column_chooser = _ColumnChooser(has_systems)
    with opened(data, options) as source:
        images = source
        if isinstance(source, Source):
            name = source.name
            images = None
            kind = format_among(source, options, "judgements are", TABLE_FORMATS)
            if kind == "json":
                images = source.parsed(parse_source)
        if isinstance(images, Mapping):
            rows = _rows_of_images(images, name)
            return JUDGEMENTS.read(
                rows, name, "{}", choose_columns=column_chooser
            ), False
        table = read_side_table(
            source,
            JUDGEMENTS,
            options,
            name,
            chosen=chosen,
            choose_columns=column_chooser,
        )
        return table, True


def _with_hint(note: Any) -> Any:
    """Return a note on unused columns that also names the option for using them."""
    if isinstance(note, Fact) and note.code == "unused-columns":
        return replace(note, code="unused-judged-columns")
    return note


def _check_not_set(table_options: Mapping[str, Any], source: str) -> None:
    """Raise an error if an option is set that only applies to tables."""
    for name, value in table_options.items():
        if value:
            what = "judgements that are not in a table"
            raise InputError("not-applicable", source, name=name, what=what)


def _draw_references(
    judgements: Judgements, number: int, random: np.random.Generator
) -> Judgements:
    """Draw some references of each judgement at random, and keep their order."""
    references = list(judgements.references)
    for row, first in enumerate(judgements.first.tolist()):
        all_references = judgements.references[first]
        n_references = len(all_references)
        if n_references <= number:
            continue
        drawn = np.sort(random.choice(n_references, number, replace=False))
        references[first] = tuple(all_references[i] for i in drawn.tolist())
        if judgements.second is not None:
            references[judgements.second[row]] = references[first]
    return replace(judgements, references=references)


# ---- rows and their columns ---------------------------------------------------------------------


def _rows_of_images(data: Mapping[Any, Any], name: str) -> Iterator[Row]:
    """Yield the ratings of candidates, with their image and its references."""
    columns = ("image", "references", "caption", "rating")
    for image, record in data.items():
        where = format_place("", "", str(image))
        ratings = None
        references = None
        if isinstance(record, Mapping):
            ratings = record.get("human_judgement")
            references = record.get("ground_truth")
        if not isinstance(ratings, list | tuple):
            raise InputError("not-judged", f"{name}, {where}", value=record)
        if not isinstance(references, list | tuple):
            raise InputError("not-judged", f"{name}, {where}", value=record)
        for number, rating in enumerate(ratings):
            place = f"{where}, judgement {number}{FROM_0}"
            is_mapping = isinstance(rating, Mapping)
            if not is_mapping or not {"caption", "rating"} <= rating.keys():
                wanted = '{"caption": "a dog", "rating": 4}'
                full_place = f"{name}, {place}"
                raise InputError("wrong-type", full_place, value=rating, wanted=wanted)
            cells = (str(image), references, rating["caption"], rating["rating"])
            yield place, columns, cells


class _ColumnChooser:
    """Choose the columns that make up a judgement: the candidates, and a rating or a preference.

    It is called for each distinct header of the rows. All rows must judge the same kind of
    candidates (captions or ids) in the same way (ratings or preferences).

    Parameters
    ----------
    has_systems : bool
        Whether there are several systems, so that a column of systems is needed.
    """

    def __init__(self, has_systems: bool) -> None:
        self._has_systems = has_systems
        self._row_kinds: set[tuple[bool, bool]] = set()

    def __call__(
        self, positions: dict[str, int], names: Sequence[str], where: str
    ) -> dict[str, int]:
        """Return the positions of the columns that are used, by role."""
        positions = dict(positions)
        if "group" in positions and names[positions["group"]] == "system":
            positions.setdefault("system", positions["group"])
        used = self._choose_columns(positions)
        if not used:
            raise self._missing_column_error(positions, names, where)
        used |= _COMMON_COLUMNS
        if self._has_systems:
            used.add("system")
        settled = {role: i for role, i in positions.items() if role in used}
        self._row_kinds.add(("references" in settled, "preferred" in settled))
        if len(self._row_kinds) > 1:
            raise InputError("mixed-rows", where)
        return settled

    def _choose_columns(self, positions: dict[str, int]) -> set[str]:
        """Return the roles that make up a judgement, or an empty set if one is missing.

        If a column has another role than its name suggests, ``positions`` is updated.
        """
        roles = positions.keys()
        if roles >= _PAIR_COLUMNS:
            references = "references" if "references" in roles else "reference"
            return {*_PAIR_COLUMNS, references}
        if "rating" not in roles:
            return set()
        has_text = "caption" in roles or "candidate" in roles
        if "references" in roles and has_text:
            if "caption" not in roles:
                positions["caption"] = positions["candidate"]
            return {"rating", "caption", "references"}
        if "candidate" in roles and "reference" in roles:
            return {"rating", "candidate", "reference"}
        return self._choose_id_column(positions)

    def _choose_id_column(self, positions: dict[str, int]) -> set[str]:
        """Return the roles that make up a rating of a prediction by its id."""
        if self._has_systems and "system" not in positions:
            return set()
        for role in ("id", "candidate", "image"):
            if role in positions:
                positions["id"] = positions.pop(role)
                return {"rating", "id"}
        return set()

    def _missing_column_error(
        self, roles: Collection[str], names: Sequence[str], where: str
    ) -> InputError:
        """Return the error for rows without a column of ratings, of ids or of systems."""
        known_names = {}
        for column in JUDGEMENTS.columns:
            known_names[column.role] = ", ".join(column.known)
        if "rating" not in roles:
            return InputError(
                "no-ratings",
                where,
                role="the rating (for preferences: a, b and preferred)",
                wanted=known_names["rating"],
                found=list(names),
            )
        missing = "system" if self._has_systems else "id"
        return InputError(
            "missing-column",
            where,
            role=f"the {missing}",
            wanted=known_names[missing],
            found=list(names),
            flag="columns",
        )


# ---- judgements of rows -------------------------------------------------------------------------


class _JudgedRow(NamedTuple):
    """The candidates of one judgement.

    Attributes
    ----------
    candidates : list of str
        One candidate, or the two of a preference.
    references : tuple of str
        Empty if the reference of an id has the same id.
    image : str
    """

    candidates: list[str]
    references: tuple[str, ...]
    image: str


@dataclass
class _Candidates:
    """The candidates of all judgements, numbered in order of their first row.

    A caption gets a new number in every row. An id always has the same number.
    """

    are_captions: bool
    names: list[str] = field(default_factory=list)
    references: list[tuple[str, ...]] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    _numbers: dict[CandidateKey, int] = field(default_factory=dict)

    def add(self, judged: _JudgedRow) -> list[int]:
        """Add the candidates of a row, and return their numbers."""
        numbers = []
        for candidate in judged.candidates:
            references = judged.references or (candidate,)
            key = (judged.image, candidate, references)
            if self.are_captions or key not in self._numbers:
                self._numbers[key] = len(self.names)
                self.names.append(candidate)
                self.references.append(references)
                self.images.append(judged.image)
            numbers.append(self._numbers[key])
        return numbers


def _collect(table: Table, to_id: ToId) -> Judgements:
    """Return the judgements in the rows of a table."""
    has_captions = "references" in table.columns
    has_pairs = "preferred" in table.columns
    candidates = _Candidates(has_captions)
    numbers: list[list[int]] = []
    values: list[float] = []
    first_rows: dict[Any, int] = {}
    for number, row in enumerate(table.rows()):
        try:
            value = _read_preference(row) if has_pairs else row["rating"]
            if has_captions:
                judged = _read_captions(row, has_pairs)
            else:
                judged = _read_ids(row, has_pairs, to_id)
            first_row = _find_first_row(first_rows, number, row.get("rater"), judged)
            if first_row != number:
                error_values = {"rater": row["rater"], "names": judged.candidates}
                other = table.where(first_row)
                raise InputError("rated-twice", other=other, **error_values)
        except InputError as error:
            if error.where:
                raise error from None
            raise error.placed(table.where(number)) from None
        values.append(value)
        numbers.append(candidates.add(judged))
    n_sides = 2 if has_pairs else 1
    sides = np.array(numbers, np.int64).reshape(-1, n_sides).T
    second = sides[1] if has_pairs else None
    return Judgements(
        candidates.names,
        candidates.references,
        candidates.images,
        are_captions=has_captions,
        values=np.array(values, np.float64),
        first=sides[0],
        second=second,
        groups=table.columns.get("group"),
        source=table.source,
        notes=table.notes,
    )


def _find_first_row(
    first_rows: dict[Any, int], number: int, rater: Any, judged: _JudgedRow
) -> int:
    """Return the first row in which a rater judges the same candidates.

    Rows without a rater are different judgements.
    """
    if is_missing(rater):
        return number
    candidates = tuple(sorted(judged.candidates))
    key = (str(rater), candidates, judged.references, judged.image)
    return first_rows.setdefault(key, number)


def _read_captions(row: Mapping[str, Any], has_pairs: bool) -> _JudgedRow:
    """Return the captions of a row, their references and their image."""
    cells = [row["a"], row["b"]] if has_pairs else [row["caption"]]
    captions = []
    for cell in cells:
        # A candidate may be empty, like any prediction.
        caption = cell if isinstance(cell, str) else as_text(cell, "the caption")
        captions.append(caption)
    references = _read_references(row["references"])
    image = " / ".join(references)
    if "image" in row:
        image = as_id(row["image"])
    return _JudgedRow(captions, references, image)


def _read_ids(row: Mapping[str, Any], has_pairs: bool, to_id: ToId) -> _JudgedRow:
    """Return the ids of the candidates of a row, the id of their reference, and their image."""
    if has_pairs:
        cells = [row["a"], row["b"]]
    elif "candidate" in row:
        cells = [row["candidate"]]
    else:
        cells = [row["id"]]
    ids = [to_id(cell) for cell in cells]
    references: tuple[str, ...] = ()
    if "reference" in row:
        references = (to_id(row["reference"]),)
    if "system" in row and not has_pairs:
        own_id = ids[0]
        references = references or (own_id,)
        ids = [name_of(as_id(row["system"]), own_id)]
    if "image" in row:
        image = to_id(row["image"])
    elif references:
        image = references[0]
    else:
        image = min(ids)
    return _JudgedRow(ids, references, image)


def _read_preference(row: Mapping[str, Any]) -> float:
    """Return 1 for the first of a pair, -1 for the second, and 0 for a tie.

    The preferred side is "a", "b" or "tie", or the preferred candidate itself.
    """
    preferred = row["preferred"]
    sides = set()
    for side in ("a", "b"):
        if preferred == row[side] and row["a"] != row["b"]:
            sides.add(side)
    word = str(preferred).strip().casefold()
    if word in _VALUE_OF_PREFERENCE:
        sides.add(word)
    if len(sides) > 1:
        raise InputError("ambiguous-side", value=preferred)
    if not sides:
        raise InputError(
            "wrong-content",
            value=repr(preferred),
            wanted="a preference",
            example="a, b or tie",
        )
    return _VALUE_OF_PREFERENCE[sides.pop()]


def _read_references(value: Any) -> tuple[str, ...]:
    """Return the captions of a list, which may be written as a string."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _parse_list(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, str | bytes) or not isinstance(value, Sequence):
        wanted = 'a list such as ["a dog runs", "the dog"]'
        raise InputError("wrong-type", value=value, wanted=wanted)
    if not value:
        remedy = "give at least one"
        raise InputError("empty", role="the list of references", remedy=remedy)
    return tuple(as_text(caption, "the caption") for caption in value)


def _parse_list(text: str) -> Any:
    """Parse a list in JSON or as a Python literal. Return the text if it is neither."""
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    return text
