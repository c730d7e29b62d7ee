"""Read references and ratings of a competition from filled sheets.

See `semmetrics.studies.sheet_rows` for the format of sheets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, TypeAlias

from semmetrics.data.input_columns import proposing_shared_options
from semmetrics.data.inputs import open_input
from semmetrics.data.lists import Lists
from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.errors import Fact, InputError
from semmetrics.kinds.note_builders import counted, named
from semmetrics.messages import printable
from semmetrics.schema import as_id, as_number
from semmetrics.scoring.evaluation import Evaluation, describe_inputs
from semmetrics.studies.competition_state import DiscrepancySelection, answer_text
from semmetrics.studies.sheet_rows import (
    Row,
    list_files,
    name_of_sheet,
    read_entries,
    read_sheet,
    read_text,
)

_Key: TypeAlias = tuple[str, ...]
"""An image, or an image and an answer."""


def read_references(
    data: Any,
    state: DiscrepancySelection,
    setup: Evaluation,
    missing: str,
    notes: list[Fact],
    understood: list[str],
) -> dict[str, list[Any]]:
    """Return the references of the selected images, from sheets or other references.

    Parameters
    ----------
    data : path, list of paths, or data
    state : DiscrepancySelection
    setup : Evaluation
        Reads the files that are not sheets.
    missing : {"error", "skip"}
        Whether rows of other images in a sheet are an error.
    notes : list of Fact
        Notes on the data are appended.
    understood : list of str
        How each input was read is appended.

    Returns
    -------
    dict from image to list
        Images without a reference are left out.

    Raises
    ------
    InputError
        If a sheet is for other images.
    """
    images = set(state.images)
    keys = {(image,) for image in images}
    references: dict[str, list[Any]] = {}
    options: ReadOptions = setup.options.read
    for sheet in list_files(data):
        rows = read_sheet(sheet, state.noun, options)
        if rows is None:
            lists = _read_lists(sheet, setup, options, understood)
            _add_lists(references, lists, images, notes)
            continue
        if rows and "rating" in rows[0][1]:
            # Its answers are from the systems.
            raise InputError(
                "not-a-sheet",
                name_of_sheet(sheet),
                wanted="references",
                name="ratings",
            )
        matches = _match_rows(keys, sheet, rows, state, missing, notes)
        for (image,), where, row in matches:
            if "keep" in row:
                raise InputError("votes", where)
            entries = read_entries(row, state.noun, where, options)
            if entries:
                references.setdefault(image, []).extend(entries)
    return references


def _read_lists(
    data: Any, setup: Evaluation, options: ReadOptions, understood: list[str]
) -> Lists:
    """Read references that are not in a sheet, and append how they were read."""
    with proposing_shared_options():
        lists = setup.read_truth(open_input(data, options))
    understood += describe_inputs([lists])
    if isinstance(lists, Lists):
        return lists
    raise InputError(
        "wrong-format",
        lists.source,
        what="references",
        format="a matrix",
        wanted="the references of each image",
    )


def _add_lists(
    references: dict[str, list[Any]],
    lists: Lists,
    images: Set[str],
    notes: list[Fact],
) -> None:
    """Add the references of selected images, and count the other images."""
    n_others = 0
    for item_id, entries in zip(lists.ids, lists.to_list(), strict=True):
        image = str(item_id)
        if image not in images:
            n_others += 1
            continue
        filled = [entry for entry in entries if entry and str(entry).strip()]
        if filled:
            references.setdefault(image, []).extend(filled)
    notes += counted("references-not-used", n_others)


def read_ratings(
    data: Any,
    state: DiscrepancySelection,
    options: ReadOptions | None,
    missing: str,
    notes: list[Fact],
) -> dict[tuple[str, str], float]:
    """Return the mean rating of the answer of each system for each image.

    Parameters
    ----------
    data : path, list of paths, or rows
    state : DiscrepancySelection
    options : ReadOptions or None
    missing : {"error", "skip"}
        Whether rows of other images or answers are an error.
    notes : list of Fact
        Notes on the data are appended.

    Returns
    -------
    dict from image and system to float
        Answers without a rating are left out.

    Raises
    ------
    InputError
        If a rating is not a finite number, or a sheet is for other images or answers.
    """
    answer_of: dict[tuple[str, str], _Key] = {}
    for image, answers in state.answers.items():
        for system, answer in answers.items():
            answer_of[image, system] = (image, answer_text(answer))
    keys = set(answer_of.values())

    ratings: dict[_Key, list[float]] = {}
    for sheet in list_files(data):
        rows = read_sheet(sheet, "rating", options or DEFAULTS)
        if rows is None:
            raise InputError(
                "not-a-sheet",
                name_of_sheet(sheet),
                wanted="ratings",
                name="references",
            )
        for key, where, row in _match_rows(keys, sheet, rows, state, missing, notes):
            rating = row.get("rating")
            if _is_filled(rating):
                number = as_number(rating, "the rating", where)
                ratings.setdefault(key, []).append(number)

    means = {}
    for image_and_system, key in answer_of.items():
        if key in ratings:
            means[image_and_system] = math.fsum(ratings[key]) / len(ratings[key])
    return means


def _is_filled(cell: Any) -> bool:
    """Return whether a cell has content other than spaces."""
    return cell is not None and bool(str(cell).strip())


def _match_rows(
    keys: Set[_Key],
    sheet: Any,
    rows: Iterable[Row],
    state: DiscrepancySelection,
    missing: str,
    notes: list[Fact],
) -> Iterator[tuple[_Key, str, Mapping[str, Any]]]:
    """Yield the rows of selected images, or of images and answers, with their key.

    Other rows raise an error after the last row or, with ``missing="skip"``, are
    counted in the notes. Rows of images that were excluded after the sheet was filled
    are left out.
    """
    # Sheets contain keys with escaped control characters.
    key_of_written = {tuple(map(printable, key)): key for key in keys}
    noun = "answer"
    if all(len(key) == 1 for key in keys):
        noun = "image"
    foreign: dict[str, None] = {}
    for where, row in rows:
        written: _Key = (as_id(row.get("image_id"), where=where),)
        if noun == "answer":
            written = (*written, read_text(row, state.noun, where))
        key = key_of_written.get(written, written)
        if key in keys:
            yield key, where, row
        elif key[0] not in state.excluded:
            foreign[": ".join(key)] = None
    if foreign and missing == "error":
        raise InputError(
            "foreign-rows", name_of_sheet(sheet), noun=noun, examples=tuple(foreign)
        )
    notes += named("foreign-rows-ignored", foreign, name_of_sheet(sheet), noun=noun)
