"""Sheets of a competition that annotators filled, read back: references, or ratings of answers.

Conventions
-----------
A sheet is what ``DiscrepancySelection.sheet`` gives or the page to annotate in saves: CSV, TSV,
JSON or JSON lines with the columns "image_id", "annotator", the answer ("caption" or "label") and,
of ratings, "rating". Rows may be added, removed and reordered. A row whose answer or rating is
blank is not filled. Several ratings of an answer are averaged. A cell of labels holds one label a
line, or several between ``label_delimiter``; in JSON it may be a list.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from semmetrics.data.form import DEFAULTS, ReadOptions, canonical_id, number
from semmetrics.data.inputs import format_among, open_input
from semmetrics.data.json_files import json_lines, parse_source
from semmetrics.data.lists import Lists
from semmetrics.data.objects import is_frame
from semmetrics.data.source import Source, enough_memory, load
from semmetrics.data.tables import Rows, field_limit
from semmetrics.errors import FROM_0, InputError, at
from semmetrics.messages import a_kind, listing, pluralize, shown
from semmetrics.reports.records import csv_text
from semmetrics.reports.selection import DiscrepancySelection, answer_text
from semmetrics.scoring.plan import Setup, describe_inputs

__all__ = ["read_ratings", "read_references"]

_KINDS = ("csv", "tsv", "json", "jsonl")
_SUFFIXES = tuple(f".{kind}" for kind in _KINDS)
_EMPTY = ("", "nan", "NaT", "<NA>")  # cells of frames
Row = tuple[str, Mapping[str, Any]]


def read_references(
    given: Any,
    state: DiscrepancySelection,
    setup: Setup,
    missing: str,
    notes: list[str],
    understood: list[str],
) -> dict[str, list[Any]]:
    """Return the references of the images selected, from filled sheets or any other references.

    Parameters
    ----------
    given : path, list of paths, or data
    state : DiscrepancySelection
    setup : Setup
        It reads what is no sheet.
    missing : {"error", "skip"}
        Whether rows of other images in a sheet are an error.
    notes, understood : list of str
        What is odd, and how each input was read, is added.

    Returns
    -------
    dict from image to list
        Images without a reference are not there.

    Raises
    ------
    InputError
        If a sheet is of other images.
    """
    wanted = set(state.images)
    written = {csv_text(image): image for image in wanted}
    found: dict[str, list[Any]] = {}
    read: ReadOptions = setup.options["read"] or DEFAULTS
    for one in _each_file(given):
        rows = _filled_rows(one, state.noun, read)
        if rows is None:
            others = 0
            for image, entries in _lists_of(one, setup, understood):
                filled = [entry for entry in entries if entry and str(entry).strip()]
                others += image not in wanted
                if filled and image in wanted:
                    found.setdefault(image, []).extend(filled)
            if others:
                notes.append(f"references of images that were not selected, not used: {others:,}")
            continue
        if rows and "rating" in rows[0][1]:  # its answers are those of the systems
            raise InputError("this is a sheet of ratings, and no references",
                             where=_name_of(one),
                             remedy="give it as ratings= (--ratings)")  # fmt: skip
        foreign: dict[str, None] = {}
        for where, row in rows:
            image, entries = _id_of(row, where), _entries_of(row, state.noun, where, read)
            image = written.get(image, image)
            if image not in wanted:
                foreign[image] = None
            elif entries:
                found.setdefault(image, []).extend(entries)
        _check_foreign(foreign, "image", one, missing, notes)
    return found


def read_ratings(
    given: Any, state: DiscrepancySelection, read: Any, missing: str, notes: list[str]
) -> dict[tuple[str, str], float]:
    """Return the mean rating of what each system answers for each image.

    Parameters
    ----------
    given : path, list of paths, or rows
    state : DiscrepancySelection
    read : ReadOptions or None
    missing : {"error", "skip"}
        Whether rows of other images or answers are an error.
    notes : list of str
        What is odd is added.

    Returns
    -------
    dict from image and system to float
        What is not rated is not there.

    Raises
    ------
    InputError
        If a rating is no finite number, or a sheet is of other images or answers.
    """
    wanted = {
        (image, answer_text(answer))
        for image, answers in state.answers.items()
        for answer in answers.values()
    }
    written = {(csv_text(image), csv_text(answer)): (image, answer) for image, answer in wanted}
    values: dict[tuple[str, str], list[float]] = {}
    for one in _each_file(given):
        rows = _filled_rows(one, "rating", read or DEFAULTS)
        if rows is None:
            path = isinstance(one, (str, os.PathLike))
            raise InputError(
                "this is no sheet of ratings" if path else f"{a_kind(one)} holds no ratings",
                where=_name_of(one) if path else "ratings",
                remedy=f"give a sheet with the columns image_id, annotator, {state.noun}, rating",
            )  # fmt: skip
        foreign: dict[str, None] = {}
        for where, row in rows:
            image, answer = _id_of(row, where), _text_of(row, state.noun, where)
            image, answer = written.get((image, answer), (image, answer))
            rating = row.get("rating")
            if (image, answer) not in wanted:
                foreign[f"{image}: {answer}"] = None
            elif rating is not None and str(rating).strip():
                values.setdefault((image, answer), []).append(number(rating, where, "rating"))
        _check_foreign(foreign, "answer", one, missing, notes)
    means = {key: math.fsum(some) / len(some) for key, some in values.items()}
    return {
        (image, system): means[image, answer_text(answer)]
        for image, answers in state.answers.items()
        for system, answer in answers.items()
        if (image, answer_text(answer)) in means
    }


def _each_file(given: Any) -> Iterator[Any]:
    """Yield each of several files, opened; anything else as it is."""
    several = isinstance(given, (list, tuple)) and given
    paths = given if several and all(isinstance(g, (str, os.PathLike)) for g in given) else [given]
    return iter(paths)


def _filled_rows(data: Any, column: str, read: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet that are not blank, as those below a spreadsheet's last."""
    rows = _sheet_of(data, column, read)
    return rows and [row for row in rows if any(map(_is_filled, row[1].values()))]


def _is_filled(value: Any) -> bool:
    return value is not None and str(value).strip() not in _EMPTY


def _sheet_of(data: Any, column: str, read: ReadOptions) -> list[Row] | None:
    """Return the rows of a sheet with their places; None where it is none."""
    needed = {"image_id", "annotator", column}
    rows: list[tuple[str, Any]] = []
    if isinstance(data, (str, os.PathLike)):
        source = load(data, read.max_bytes)
        if source.suffix not in _SUFFIXES and read.format not in _KINDS:
            return None
        names, rows = _rows_of(source, read)
        if not rows:  # a sheet without rows is one, too
            return rows if needed <= names else None
    elif is_frame(data) and hasattr(data, "columns"):
        found = data.to_dicts() if hasattr(data, "to_dicts") else data.to_dict("records")
        rows = [(f"row {n}{FROM_0}", row) for n, row in enumerate(found)]
    elif isinstance(data, Iterable) and not isinstance(data, (Mapping, Lists)):
        rows = [(f"row {n}{FROM_0}", row) for n, row in enumerate(data)]
    if not rows or not all(isinstance(row, Mapping) for _, row in rows):
        return None
    return rows if needed <= {*rows[0][1]} else None


def _rows_of(source: Source, read: ReadOptions) -> tuple[set[str], list[tuple[str, Any]]]:
    """Return the names of columns, where there is a header, and the rows with their places."""
    kind = format_among(source, read, "sheets are", _KINDS, told=True)
    with enough_memory(source.name, read.max_bytes):
        if kind in ("csv", "tsv"):
            with field_limit(read.max_line_bytes):
                rows = Rows(source, read, tabs=kind == "tsv")
                return set(rows.header), [
                    (at(source.name, f"line {line}"), dict(zip(rows.header, row, strict=True)))
                    for line, row in rows
                ]
        if kind == "jsonl":
            return set(), [(at(source.name, f"line {n}"), v) for n, v in json_lines(source, [])]
        values = parse_source(source)
        listed = values if isinstance(values, list) else []
        return set(), [(at(source.name, f"element [{n}]"), v) for n, v in enumerate(listed)]


def _lists_of(data: Any, setup: Setup, understood: list[str]) -> Iterator[tuple[str, list[Any]]]:
    """Yield what is no sheet, image by image."""
    lists = setup.read_truth(open_input(data, setup.options["read"] or DEFAULTS))
    understood += describe_inputs([lists])
    if not isinstance(lists, Lists):
        raise InputError("a matrix holds no references", where=lists.source,
                         remedy="give the references of each image")  # fmt: skip
    return zip(map(str, lists.ids), lists.to_list(), strict=True)


def _id_of(row: Mapping[str, Any], where: str) -> str:
    return canonical_id(row.get("image_id"), where)


def _text_of(row: Mapping[str, Any], column: str, where: str) -> str:
    value = row.get(column)
    if value is None or value != value:  # an empty cell of a frame
        return ""
    if not isinstance(value, str):
        raise InputError(f"the {column} {shown(value)} is no text", where=where,
                         remedy=f"write a {column} as a text")  # fmt: skip
    return value


def _entries_of(row: Mapping[str, Any], noun: str, where: str, read: ReadOptions) -> list[str]:
    """Return what stands in a cell that is not blank: a caption, or labels."""
    value = row.get(noun)
    if noun != "label":
        texts = [_text_of(row, noun, where)]
        return [text for text in texts if text.strip()]
    cells = value if isinstance(value, (list, tuple)) else [value]
    lines = [line for cell in cells for line in _text_of({noun: cell}, noun, where).splitlines()]
    if split := read.label_delimiter:
        lines = [part for line in lines for part in line.split(split)]
    return [line.strip() for line in lines if line.strip()]


def _name_of(data: Any) -> str:
    return os.fspath(data) if isinstance(data, (str, os.PathLike)) else "the sheet"


def _check_foreign(
    foreign: Mapping[str, None], noun: str, data: Any, missing: str, notes: list[str]
) -> None:
    """Refuse rows of other images or answers, or count them."""
    if not foreign:
        return
    problem = f"{pluralize(len(foreign), noun, 'are')} not of this competition: {listing(foreign)}"
    name = _name_of(data)
    if missing == "error":
        raise InputError(
            problem,
            where=name,
            remedy="give the sheets of this state, or leave other rows out with missing='skip' "
            "(--missing skip)",
        )
    notes.append(f"{name}: {problem}; not used")
