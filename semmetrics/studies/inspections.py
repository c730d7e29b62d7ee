"""Votes on annotations: sheets for them, and the annotations that a majority keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from semmetrics.data.read_options import DEFAULTS, ReadOptions
from semmetrics.errors import InputError
from semmetrics.reports import Records
from semmetrics.schema import as_answer
from semmetrics.studies.sheet_rows import (
    Row,
    list_files,
    name_of_sheet,
    read_entries,
    read_sheet,
)


def inspect_sheets(
    given: Any, *, inspectors: int = 3, read: ReadOptions = DEFAULTS
) -> Records:
    """Return a sheet for the votes of inspectors, or the annotations that they keep.

    Parameters
    ----------
    given : path, list of paths, or rows
        Filled sheets of references, or sheets of votes. A sheet of votes has one row
        per annotation and inspector, and yes or no in the column "keep". An annotation
        is kept if more inspectors vote yes than no.
    inspectors : int
    read : ReadOptions

    Returns
    -------
    Records
        The columns of the sheets. A sheet for votes also has "inspector" and "keep".

    Raises
    ------
    InputError
        If the data are not such a sheet, a vote is not yes or no, or an inspector votes
        twice.

    References
    ----------
    Wan et al., 2022, Pattern Recognition, section 3.3: three inspectors, by majority.

    Examples
    --------
    >>> filled = [{"image_id": "1", "annotator": "1", "caption": "a dog"}]
    >>> votes = inspect_sheets(filled, inspectors=2)
    >>> votes[0]
    {'image_id': '1', 'annotator': '1', 'caption': 'a dog', 'inspector': '1', 'keep': ''}
    >>> list(inspect_sheets([{**row, "keep": "yes"} for row in votes])) == filled
    True
    """
    rows: list[Row] = []
    for sheet in list_files(given):
        rows += _read_reference_sheet(sheet, read)
    noun = "caption"
    if any("label" in row for _, row in rows):
        noun = "label"
    columns = ["image_id", "annotator", noun]
    has_votes = any("keep" in row or "inspector" in row for _, row in rows)
    annotations = _collect_annotations(rows, columns, read, has_votes=has_votes)
    if not has_votes:
        return _vote_sheet(annotations, columns, inspectors)
    kept_rows = [annotation.cells for annotation in annotations if annotation.is_kept]
    return Records.from_rows(columns, kept_rows)


class _Annotation(NamedTuple):
    """An annotation, and the votes for it.

    Attributes
    ----------
    cells : dict from column to cell
    votes : dict from inspector to bool
        Whether the inspector keeps it. False in sheets without votes.
    """

    cells: dict[str, Any]
    votes: dict[str, bool]

    @property
    def is_kept(self) -> bool:
        """Whether more inspectors vote yes than no."""
        n_yes = sum(self.votes.values())
        n_no = len(self.votes) - n_yes
        return n_yes > n_no


def _collect_annotations(
    rows: Iterable[Row],
    columns: Sequence[str],
    options: ReadOptions,
    *,
    has_votes: bool,
) -> list[_Annotation]:
    """Return the distinct annotations with their votes.

    Parameters
    ----------
    rows : iterable of Row
    columns : sequence of str
        The columns of an annotation. The last one is the noun of the answer.
    options : ReadOptions
    has_votes : bool

    Raises
    ------
    InputError
        If a row has no answer column, or an inspector votes twice. In sheets without
        votes, if an annotation occurs twice.
    """
    noun = columns[-1]
    annotations: dict[str, _Annotation] = {}
    for where, row in rows:
        if noun not in row:
            raise InputError("not-a-sheet", where, wanted=f"{noun}s", name="references")
        entries = read_entries(row, noun, where, options)
        if not entries:
            continue
        cells = {name: row[name] for name in columns}
        cells[noun] = "\n".join(entries)
        # Cells may be of types without a hash.
        annotation = annotations.setdefault(repr(cells), _Annotation(cells, {}))
        inspector = str(row.get("inspector"))
        if inspector in annotation.votes:
            who = f"annotator {cells['annotator']}"
            if has_votes:
                who = f"inspector {inspector}"
            raise InputError("duplicate", where, role="the entry of", value=who)
        vote = False
        if has_votes:
            vote = as_answer(row.get("keep"), "keep", where)
        annotation.votes[inspector] = vote
    return list(annotations.values())


def _read_reference_sheet(sheet: Any, options: ReadOptions) -> list[Row]:
    """Return the rows of a sheet of captions or labels."""
    for noun in ("caption", "label"):
        rows = read_sheet(sheet, noun, options)
        if rows is not None:
            return rows
    raise InputError(
        "not-a-sheet", name_of_sheet(sheet), wanted="references", name="references"
    )


def _vote_sheet(
    annotations: Iterable[_Annotation], columns: Sequence[str], inspectors: int
) -> Records:
    """Return a sheet with one empty vote per annotation and inspector."""
    rows = []
    for annotation in annotations:
        for number in range(1, inspectors + 1):
            rows.append({**annotation.cells, "inspector": str(number), "keep": ""})
    return Records.from_rows([*columns, "inspector", "keep"], rows)
