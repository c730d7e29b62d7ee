"""Check that a batch of a `Scorer` can follow the earlier ones.

Conventions
-----------
The first batch with scores decides whether 0 and 1 mark the labels of each item or are scores. If a
later batch suggests that this was wrong, an error names the option ``scores``.
"""

from __future__ import annotations

from typing import NamedTuple

from semmetrics.data.cell_lists import check_styles
from semmetrics.errors import InputError
from semmetrics.messages import listing
from semmetrics.scoring.batch_forms import (
    are_compatible,
    describe_forms,
    has_scores,
    marks_members,
)
from semmetrics.scoring.input_buffer import InputBuffer


class _Difference(NamedTuple):
    """A difference between a batch and the earlier batches.

    Attributes
    ----------
    has, had : str
        The description of the batch, and of the earlier batches.
    """

    has: str
    had: str


def check_can_follow(earlier: InputBuffer, batch: InputBuffer) -> None:
    """Raise an error if a batch cannot follow the earlier batches.

    Raises
    ------
    InputError
        If only one of them has ids, the columns of matrices or the meaning of scores differ, only
        some entries have a score, or entries are written in another style.
    """
    check_styles(batch.styles, earlier.styles, batch.style_place)
    if not earlier.forms or not batch.forms:
        return
    _check_meaning_of_scores(earlier, batch)
    difference = _find_difference(earlier, batch)
    if difference is not None:
        raise InputError("other-batch", batch.place, **difference._asdict())


def _check_meaning_of_scores(earlier: InputBuffer, batch: InputBuffer) -> None:
    """Raise an error if 0 and 1 do not have the same meaning as before."""
    became_scores = marks_members(earlier.forms) and has_scores(batch.forms)
    became_members = has_scores(earlier.forms) and marks_members(batch.forms)
    if became_scores or became_members:
        has = describe_forms(batch.forms)
        had = describe_forms(earlier.forms)
        raise InputError("other-scores", batch.place, has=has, had=had)


def _find_difference(earlier: InputBuffer, batch: InputBuffer) -> _Difference | None:
    """Return the first difference that keeps the batch from following the earlier ones."""
    if (earlier.ids is None) is not (batch.ids is None):
        return _Difference(_describe_ids(batch), _describe_ids(earlier))
    if earlier.columns and batch.columns and earlier.columns != batch.columns:
        return _Difference(_list_columns(batch), _list_columns(earlier))
    if _only_one_names_columns(earlier, batch):
        return _Difference(_describe_names(batch), _describe_names(earlier))
    if earlier.is_federated is not batch.is_federated:
        return _Difference(_describe_federation(batch), _describe_federation(earlier))
    if not are_compatible(earlier.forms | batch.forms):
        return _Difference(describe_forms(batch.forms), describe_forms(earlier.forms))
    return None


def _only_one_names_columns(earlier: InputBuffer, batch: InputBuffer) -> bool:
    """Return whether one of them has columns without names, and the other one has names.

    Entries that are all integers may be the numbers of columns.
    """
    if earlier.has_unnamed_columns is batch.has_unnamed_columns:
        return False
    named = batch if earlier.has_unnamed_columns else earlier
    return not all(str(entry).isdecimal() for entry in named.codes)


# ---- descriptions -------------------------------------------------------------------------------


def _describe_ids(buffer: InputBuffer) -> str:
    return "no ids" if buffer.ids is None else "ids"


def _list_columns(buffer: InputBuffer) -> str:
    names = listing(map(str, buffer.columns))
    return f"the columns {names}"


def _describe_names(buffer: InputBuffer) -> str:
    if buffer.has_unnamed_columns:
        return "columns without names"
    return "labels with names"


def _describe_federation(buffer: InputBuffer) -> str:
    if buffer.is_federated:
        return "neg_category_ids, as in LVIS"
    return "no neg_category_ids"
