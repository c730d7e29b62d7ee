"""Options for reading files, some of which differ between predictions and ground truth."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, ClassVar

from semmetrics.arguments import check_fields
from semmetrics.data.class_lists import check_classes
from semmetrics.errors import Fact, InputError
from semmetrics.options import FORMATS, SIDED, SIDES

_MAX_CACHED_OPTIONS = 64
_DISTINCT_ROLES = (
    ("id", "label"),
    ("id", "score"),
    ("label", "score"),
    ("id", "caption"),
    ("id", "candidate"),
    ("candidate", "score"),
)


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options for reading files. By default, everything is inferred from the file.

    Parameters
    ----------
    format : str, optional
        One of `FORMATS`. "txt" is only for captions. The default is the format of the extension
        without ".gz", and for standard input the format of the content.
    id_column, label_column, score_column, caption_column, candidate_column : str, optional
        Columns of a table, or keys of JSON records. By default, they are recognised by their usual
        names, in any case.
    delimiter : str, optional
        The character between cells of CSV. The default is a comma, and for TSV a tab.
    label_delimiter : str, optional
        The string between the labels or scores in a cell, for CSV with one row per item. By
        default each row is one label. The delimiter applies to both sides. The description of the
        input reports how many rows have several labels.
    max_line_bytes : int
        The largest size of a line of CSV and JSONL, and of a cell of CSV, in UTF-8.
    max_bytes : int
        The largest number of bytes to read, after decompression. The limit of embeddings is 16
        times as high.
    classes : sequence of str, optional
        The class of each column of a matrix.
    split : str, optional
        The split of Karpathy's JSON. The default is all splits.
    pred, gt : ReadOptions, optional
        Formats, columns and delimiters only for the predictions or only for the ground truth. They
        take precedence. Their other fields are ignored.

    Examples
    --------
    >>> ReadOptions(format="xml")
    Traceback (most recent call last):
    semmetrics.errors.InputError: format='xml' is not valid. Choose one of json, jsonl, csv, tsv,
    parquet, arrow, npy, npz, hdf5, coco, txt, flickr, trec.
    """

    format: str | None = None
    id_column: str | None = None
    label_column: str | None = None
    score_column: str | None = None
    caption_column: str | None = None
    candidate_column: str | None = None
    delimiter: str | None = None
    label_delimiter: str | None = None
    max_line_bytes: int = 64 * 2**20
    max_bytes: int = 4 * 2**30
    classes: Sequence[Any] | None = None
    split: str | None = None
    pred: ReadOptions | None = None
    gt: ReadOptions | None = None

    side: ClassVar[str] = ""
    """The side that these options are for: "pred", "gt", or "" for both."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.format is not None and self.format not in FORMATS:
            raise InputError(
                "bad-choice", name="format", value=self.format, choices=FORMATS
            )
        self._check_values()
        self._check_roles()
        if self.classes is not None:
            object.__setattr__(self, "classes", tuple(self.classes))
            check_classes(self.classes, "option classes")

    def _check_values(self) -> None:
        """Raise an error if a delimiter or a limit is not allowed."""
        wanted = None
        delimiter = self.delimiter
        if delimiter is not None and not _is_delimiter(delimiter):
            name = "delimiter"
            wanted = "one character. For tabs use the format tsv"
        elif self.label_delimiter == "":
            name = "label_delimiter"
            wanted = "a string that is not empty"
        elif self.max_line_bytes < 1:
            name = "max_line_bytes"
            wanted = "a positive number of bytes"
        elif self.max_bytes < 1:
            name = "max_bytes"
            wanted = "a positive number of bytes"
        if wanted is not None:
            raise InputError(
                "bad-option", name=name, value=getattr(self, name), wanted=wanted
            )

    def _check_roles(self) -> None:
        """Raise an error if two roles have the same column."""
        for first_role, second_role in _DISTINCT_ROLES:
            column = self.column(second_role)
            if column is not None and column == self.column(first_role):
                roles = f"{first_role} and {second_role}"
                raise InputError("one-column-two-roles", name=column, roles=roles)

    def for_side_inputs(self) -> ReadOptions:
        """Return the options for class lists, weights and matrices, which have their own format."""
        return _side_input_options(self)

    def beside(self) -> ReadOptions:
        """Return ``for_side_inputs()``. Deprecated."""
        message = "ReadOptions.beside was renamed to for_side_inputs"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return self.for_side_inputs()

    def column(self, role: str) -> str | None:
        """Return the column that the options name for a role."""
        name: str | None = getattr(self, f"{role}_column", None)
        return name


def _is_delimiter(text: str) -> bool:
    """Return whether a string can separate the cells of CSV."""
    return len(text) == 1 and text not in '"\r\n\0\ufeff'


class _PredictionOptions(ReadOptions):
    """How to read predictions."""

    side = "pred"


class _TruthOptions(ReadOptions):
    """How to read the ground truth, which does not need a column of scores."""

    side = "gt"


DEFAULTS = ReadOptions()


def make_read_options(keywords: Mapping[str, Any]) -> ReadOptions:
    """Return reading options from keywords. Some may be for one side, such as gt_id_column.

    Examples
    --------
    >>> options = make_read_options({"id_column": "key", "gt_id_column": "image"})
    >>> truth_options(options).id_column, prediction_options(options).id_column
    ('image', 'key')
    """
    shared: dict[str, Any] = {}
    fields_by_side: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    for name, value in keywords.items():
        side, _, field_name = name.partition("_")
        if side in SIDES and field_name in SIDED:
            fields_by_side[side][field_name] = value
        else:
            shared[name] = value
    for side, side_fields in fields_by_side.items():
        if any(value is not None for value in side_fields.values()):
            shared[side] = ReadOptions(**side_fields)
    return ReadOptions(**shared)


def _fields_for_side(options: ReadOptions, side: str) -> dict[str, Any]:
    """Return the values of all fields for one side."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    side_options = values[side]
    values["pred"] = None
    values["gt"] = None
    if side_options is None:
        return values
    for name in SIDED:
        value = getattr(side_options, name)
        if value is not None:
            values[name] = value
    return values


# The functions below are cached, since creating and checking options takes a noticeable part of a
# small score.


@lru_cache(maxsize=_MAX_CACHED_OPTIONS)
def _side_input_options(options: ReadOptions) -> ReadOptions:
    return ReadOptions(
        id_column=options.id_column,
        delimiter=options.delimiter,
        max_line_bytes=options.max_line_bytes,
        max_bytes=options.max_bytes,
    )


@lru_cache(maxsize=_MAX_CACHED_OPTIONS)
def prediction_options(options: ReadOptions) -> ReadOptions:
    """Return the options for predictions."""
    return _PredictionOptions(**_fields_for_side(options, "pred"))


@lru_cache(maxsize=_MAX_CACHED_OPTIONS)
def truth_options(options: ReadOptions) -> ReadOptions:
    """Return the options for the ground truth, which does not need a column of scores."""
    return _TruthOptions(**_fields_for_side(options, "gt"))


def is_truth(options: ReadOptions) -> bool:
    """Return whether these are the options for the ground truth."""
    return isinstance(options, _TruthOptions)


def note_unused_options(
    options: ReadOptions, names: Iterable[str], what: str
) -> list[Fact]:
    """Return a note on the options among ``names`` that are set, or no note if none is.

    Parameters
    ----------
    options : ReadOptions
    names : iterable of str
        Options that have no effect.
    what : str
        What they have no effect on, for the note.
    """
    set_names = tuple(
        name for name in names if getattr(options, name, None) is not None
    )
    if not set_names:
        return []
    return [
        Fact(
            "unused-options",
            len(set_names),
            set_names,
            values={"what": what},
        )
    ]
