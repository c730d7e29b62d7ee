"""Checks of what decoding rules are given; each gives its input as an array, or an InputError."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from semmetrics.core.ragged import Bools, Floats, Ints, lengths
from semmetrics.errors import InputError

__all__ = [
    "cardinality_head",
    "refuse",
    "refuse_rows",
    "row_offsets",
    "sorted_scores",
    "starts",
    "threshold_number",
    "whole_number",
]


def sorted_scores(indptr: ArrayLike, scores: ArrayLike) -> tuple[Ints, Floats]:
    """Row offsets, and scores that fall in each row."""
    rows, flat = row_offsets(indptr), np.asarray(scores, np.float64)
    if flat.shape != (rows[-1],):
        raise InputError(f"{rows[-1]} scores are needed, the array has shape {flat.shape}")
    refuse(np.isnan(flat), rows, "a score is NaN", "give every label a number")
    rising = np.zeros(len(flat), np.bool_)
    rising[1:] = flat[1:] > flat[:-1]
    rising[starts(rows)] = False
    refuse(rising, rows, "the scores are not in falling order", "sort each row first")
    return rows, flat


def row_offsets(indptr: ArrayLike) -> Ints:
    """Row offsets: from 0, never falling."""
    rows = np.asarray(indptr, np.int64)
    if rows.ndim != 1 or not len(rows) or rows[0] != 0 or (np.diff(rows) < 0).any():
        raise InputError("indptr must be row offsets: from 0, never falling")
    return rows


def cardinality_head(head: ArrayLike, rows: Ints) -> Floats:
    """A column for each cardinality, a row for each item, no NaN."""
    table = np.asarray(head, np.float64)
    if table.ndim != 2 or len(table) != len(rows) - 1 or not table.shape[1]:
        raise InputError(
            f"the cardinality head has shape {table.shape}",
            remedy=f"give {len(rows) - 1} rows and a column for each cardinality",
        )
    refuse_rows(np.isnan(table), "the cardinality head is NaN")
    return table


def starts(rows: Ints) -> Ints:
    """First flat index of each row that is not empty."""
    return rows[:-1][lengths(rows) > 0]


def whole_number(value: int, name: str) -> int:
    """An option that counts something."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InputError(f"{name} = {value!r} is not an integer") from None
    if number < 0:
        raise InputError(f"{name} = {number} is negative", remedy="give 0 or more")
    return number


def threshold_number(threshold: float) -> float:
    """A threshold that is a number."""
    value = float(threshold)
    if np.isnan(value):
        raise InputError("the threshold is NaN")
    return value


def refuse(bad: Bools, rows: Ints, problem: str, remedy: str) -> None:
    """Name the row of the first score that is wrong."""
    if bad.any():
        row = int(np.searchsorted(rows, bad.argmax(), side="right")) - 1
        raise InputError(problem, where=f"scores, row {row}", remedy=remedy)


def refuse_rows(bad: Bools, problem: str) -> None:
    """Name the first row of the cardinality head that is wrong."""
    if bad.any():
        raise InputError(problem, where=f"head, row {int(bad.any(axis=1).argmax())}")
