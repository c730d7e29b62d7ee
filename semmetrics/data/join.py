"""Join predictions and ground truth item by item, and align weights with the items.

Conventions
-----------
Items are matched by id, or by position if neither side has ids. An item that only one side has
raises an error, is left out ("skip"), or gets an empty list on the other side ("empty"). Joined
items are in the order of the ground truth.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from semmetrics.arguments import check_choice, check_once, is_iterable
from semmetrics.core.ragged import Floats, Ints
from semmetrics.data.id_parts import PARTS, rename_ids, with_compared_ids
from semmetrics.data.item_ids import Ids, Utf8Strings, take_ids
from semmetrics.data.lists import Lists, Numbering, Side
from semmetrics.data.matrix import Matrix
from semmetrics.errors import InputError
from semmetrics.messages import listing, pluralize

MISSING = ("error", "skip", "empty")
_TRANSPOSE = (
    "A matrix is probably transposed: rows must be items, and columns labels or classes. "
    "Transpose it."
)
"""The fix for a matrix that has as many columns as the other side has items."""


class Joined(NamedTuple):
    """Both sides with the same items in the same order.

    Attributes
    ----------
    ids : sequence of str, range or int array
    pred, ref : Side
        Codes into the vocabulary of each input.
    counts : dict
        How many items were missing on one side, and were left out or became empty:
        "missing_prediction" and "missing_reference", if there are any. How many predictions had
        another name of the id ("joined_names"), or Karpathy's cocoid ("joined_cocoid").
    """

    ids: Ids
    pred: Side
    ref: Side
    counts: dict[str, int]

    def take(self, rows: Ints, counts: dict[str, int]) -> Joined:
        """Return the items in some rows, with other counts."""
        ids = take_ids(self.ids, rows)
        return Joined(ids, self.pred.take(rows), self.ref.take(rows), counts)


class _IdMatch(NamedTuple):
    """The items of both sides matched by id.

    Attributes
    ----------
    pred_rows : int array, shape (references,)
        The prediction of each reference, or -1.
    unpredicted : list of str
        Ids without a prediction.
    unreferenced : dict from str to int
        Ids without a reference, and their rows in the predictions.
    """

    pred_rows: Ints
    unpredicted: list[str]
    unreferenced: dict[str, int]

    @property
    def is_complete(self) -> bool:
        """Whether both sides have the same ids."""
        return not self.unpredicted and not self.unreferenced


# ---- joining ------------------------------------------------------------------------------------


def join(
    pred: Lists,
    ref: Lists,
    *,
    missing: str = "error",
    noun: str = "label",
    gaps: bool = False,
) -> Joined:
    """Match the items of predictions and ground truth.

    Parameters
    ----------
    pred, ref : Lists
    missing : {"error", "skip", "empty"}
        The policy for items that only one side has: raise an error that lists their ids, leave
        them out, or give them an empty list on the other side.
    noun : str
        What an entry of a list is, for messages.
    gaps : bool
        Whether an item with an empty list counts as missing, and the policy applies to it.

    Returns
    -------
    Joined

    Raises
    ------
    InputError
        If items are missing under "error", only one side has ids, or sides without ids differ in
        length.
    """
    check_choice("missing", missing, MISSING)
    if pred.has_ids != ref.has_ids:
        without_ids, with_ids = (ref, pred) if pred.has_ids else (pred, ref)
        values = {"other": with_ids.source}
        if without_ids.source.endswith((".npy", ".npz")):
            values["more"] = " An .npz file can store ids with its matrix."
        raise InputError("one-side-has-ids", without_ids.source, **values)
    renamed_counts: dict[str, int] = {}
    if pred.has_ids:
        pred, renamed_counts = _resolve_other_names(pred, ref)
        # Items with an empty list are left out below.
        id_policy = "empty" if gaps and missing == "skip" else missing
        joined = _join_by_id(pred, ref, id_policy)
    else:
        joined = _join_by_position(pred, ref)
    if gaps:
        joined = _apply_policy_to_gaps(joined, pred, ref, missing, noun)
    return joined._replace(counts=joined.counts | renamed_counts)


def join_rows(
    ids: Ids, ref: Lists, *, source: str, missing: str, columns: int | None = None
) -> tuple[Joined, Ints]:
    """Match the rows of a run, or of a matrix of scores, with the items of the ground truth.

    The rules are those of `join`. If the numbers of items differ, and the matrix has as many
    ``columns`` as the ground truth has items, the error suggests to transpose it.

    Returns
    -------
    joined : Joined
    rows : int array, shape (items,)
        The row of each item, from 0, and -1 for an item without one.
    """
    # Each row is joined as an item whose only entry is the number of the row.
    indptr = np.arange(len(ids) + 1)
    numbers = indptr[:-1].astype(np.int32)
    lists = Lists(ids, [], Side(indptr, numbers), source=source, columns=columns)
    joined = join(lists, ref, missing=missing)
    rows = np.full(len(joined.ids), -1)
    rows[joined.pred.sizes > 0] = joined.pred.codes
    return joined, rows


def _join_by_position(pred: Lists, ref: Lists) -> Joined:
    """Match items by position. Both sides must have the same number of items."""
    n_pred = len(pred)
    n_ref = len(ref)
    if n_pred == n_ref:
        return Joined(ref.ids, pred.side, ref.side, {})
    shorter = pred if n_pred < n_ref else ref
    where = shorter.source
    if len(shorter):
        where = shorter.where(len(shorter) - 1)
    values = {"one": pred.source, "n": n_pred, "other": ref.source, "m": n_ref}
    if pred.columns == n_ref and ref.columns in (None, n_pred):
        values["fix"] = _TRANSPOSE
    raise InputError("other-length", where, **values)


def _join_by_id(pred: Lists, ref: Lists, missing: str) -> Joined:
    """Match items by id, and apply the policy to ids that only one side has."""
    if same_ids(pred.ids, ref.ids):
        return Joined(ref.ids, pred.side, ref.side, {})
    match = _match_ids(pred, ref)
    if not match.is_complete:
        _check_missing_ids(pred, ref, match, missing)
    n_unreferenced = len(match.unreferenced)
    counts = _missing_counts(len(match.unpredicted), n_unreferenced)

    ids = list(ref.ids)
    pred_rows = match.pred_rows
    ref_rows = np.arange(len(ids))
    if missing == "skip":
        ref_rows = np.flatnonzero(pred_rows >= 0)
        pred_rows = pred_rows[ref_rows]
        ids = [ids[row] for row in ref_rows.tolist()]
    elif n_unreferenced:
        ids.extend(match.unreferenced)
        extra_pred_rows = np.array(list(match.unreferenced.values()), np.int64)
        pred_rows = np.concatenate([pred_rows, extra_pred_rows])
        ref_rows = np.concatenate([ref_rows, np.full(n_unreferenced, -1)])
    pred_side = pred.side.take(pred_rows)
    ref_side = ref.side.take(ref_rows)
    return Joined(ids, pred_side, ref_side, counts)


def _match_ids(pred: Lists, ref: Lists) -> _IdMatch:
    """Find the prediction of each reference by its id."""
    row_of_id = pred.rows_by_id()
    rows = (row_of_id.pop(ref_id, -1) for ref_id in ref.ids)
    pred_rows = np.fromiter(rows, np.int64, len(ref))
    without_prediction = np.flatnonzero(pred_rows < 0)
    unpredicted = [ref.ids[row] for row in without_prediction.tolist()]
    return _IdMatch(pred_rows, unpredicted, unreferenced=row_of_id)


def _apply_policy_to_gaps(
    joined: Joined, pred: Lists, ref: Lists, missing: str, noun: str
) -> Joined:
    """Apply the policy to items with an empty list on one side."""
    no_prediction = joined.pred.sizes == 0
    no_reference = joined.ref.sizes == 0
    counts = _missing_counts(int(no_prediction.sum()), int(no_reference.sum()))
    if missing == "error" and counts:
        problems = []
        for lists, is_empty in ((pred, no_prediction), (ref, no_reference)):
            ids = [joined.ids[row] for row in np.flatnonzero(is_empty).tolist()]
            if ids:
                problem = f"{lists.source} has no {noun} for {len(ids)} of the ids"
                problems.append(f"{problem}: {listing(ids)}")
        raise InputError("missing-entries", lost=", and ".join(problems), noun=noun)
    if missing == "skip" and counts:
        rows = np.flatnonzero(~(no_prediction | no_reference))
        return joined.take(rows, counts)
    return joined._replace(counts=counts)


def _missing_counts(n_predictions: int, n_references: int) -> dict[str, int]:
    """Return how many predictions and references are missing, without zeros."""
    counts = {}
    if n_predictions:
        counts["missing_prediction"] = n_predictions
    if n_references:
        counts["missing_reference"] = n_references
    return counts


# ---- ids ----------------------------------------------------------------------------------------


def same_ids(ids: Ids, others: Ids) -> bool:
    """Return whether both sequences have the same ids in the same order."""
    if ids is others:
        return True
    if isinstance(ids, Utf8Strings) and isinstance(others, Utf8Strings):
        return ids == others
    return list(ids) == list(others)


def _resolve_other_names(pred: Lists, ref: Lists) -> tuple[Lists, dict[str, int]]:
    """Replace other names in the ids of predictions by the ids of the ground truth.

    Returns
    -------
    pred : Lists
    counts : dict from str to int
        How many predictions had another name, as in `Joined`.

    Raises
    ------
    InputError
        If two predictions belong to the same item, or if it is not clear which of the two numbers
        of an image the ids are.
    """
    if ref.numbering is None and not ref.aliases:
        return pred, {}
    names = [str(name) for name in pred.ids]
    if ref.numbering is not None and _are_other_numbers(pred, ref.numbering):
        own_ids = ref.numbering.own
        ids = [own_ids.get(name, f"cocoid {name}") for name in names]
        n_renamed = sum(name in own_ids for name in names)
        return rename_ids(pred, ids), {"joined_cocoid": n_renamed}
    if not ref.aliases:
        return pred, {}
    return _resolve_aliases(pred, names, ref)


def _resolve_aliases(
    pred: Lists, names: Sequence[str], ref: Lists
) -> tuple[Lists, dict[str, int]]:
    """Replace ids of predictions that are aliases of items by the ids of these items."""
    ref_ids = set(ref.ids)
    ids = []
    n_renamed = 0
    for name in names:
        own_id = ref.aliases.get(name)
        if own_id is not None and own_id in ref_ids and name not in ref_ids:
            n_renamed += 1
            ids.append(own_id)
        else:
            ids.append(name)
    counts = {"joined_names": n_renamed} if n_renamed else {}
    return rename_ids(pred, ids), counts


def _are_other_numbers(pred: Lists, numbering: Numbering) -> bool:
    """Return whether the ids of predictions are the other numbers of the images.

    The whole file decides if only one of its two numberings contains all ids of the predictions.
    Otherwise the items that were read decide: only one of their two numbers may occur in the ids.

    Raises
    ------
    InputError
        If the ids may be either number, and the two pair predictions with different items.
    """
    names = set(map(str, pred.ids))
    are_ids = names <= numbering.ids
    are_others = names <= numbering.others
    if are_ids != are_others:
        return are_others
    n_others = len(names & numbering.own.keys())
    n_ids = len(names & set(numbering.own.values()))
    if not n_others or not n_ids:
        return n_others > 0
    if all(numbering.own.get(name) == name for name in names):
        return False
    raise InputError("ambiguous-cocoid", pred.source, n=n_ids, m=n_others)


def _check_missing_ids(pred: Lists, ref: Lists, match: _IdMatch, missing: str) -> None:
    """Raise an error for ids that only one side has, unless the policy allows them.

    If the sides share no id at all, but would with an expression of `PARTS`, every policy raises.
    """
    if missing == "error":
        raise _missing_ids_error(pred, ref, match)
    n_unpredicted = len(match.unpredicted)
    n_unreferenced = len(match.unreferenced)
    if n_unpredicted < len(ref) or n_unreferenced < len(pred):
        return
    expression = _suggest_expression(pred, ref)
    if expression is not None:
        lost = _describe_missing_ids(pred, ref, match)
        raise InputError("joinable-ids", lost=lost, expression=expression)


def _missing_ids_error(pred: Lists, ref: Lists, match: _IdMatch) -> InputError:
    """Return the error for ids that only one side has, with the most likely cause."""
    lost = _describe_missing_ids(pred, ref, match)
    expression = _suggest_expression(pred, ref)
    if expression is not None:
        return InputError("joinable-ids", lost=lost, expression=expression)
    for difference, normalize in _SPELLING_DIFFERENCES.items():
        similar_ids = _find_similar_ids(
            match.unpredicted, match.unreferenced, normalize
        )
        if similar_ids is not None:
            return InputError(
                "unlike-ids", lost=lost, names=similar_ids, how=difference
            )
    if len(match.unpredicted) == len(ref):
        return InputError("other-ids", lost=lost)
    return InputError("missing-ids", lost=lost)


def _describe_missing_ids(pred: Lists, ref: Lists, match: _IdMatch) -> str:
    """Return the ids that each side does not have, for messages."""
    problems = []
    for lists, ids in ((pred, match.unpredicted), (ref, list(match.unreferenced))):
        if ids:
            problem = f"{lists.source} is missing {len(ids)} of the ids: {listing(ids)}"
            problems.append(problem)
    return ", and ".join(problems)


def _suggest_expression(pred: Lists, ref: Lists) -> str | None:
    """Return the expression of `PARTS` that makes most ids equal, if one helps at all."""
    if ref.noun == "candidate":  # Retrieval does not have the option `ids`.
        return None
    best_expression = None
    most_shared = _count_shared_ids(pred, ref)
    for expression in PARTS:
        try:
            pred_parts = with_compared_ids(pred, expression)
            ref_parts = with_compared_ids(ref, expression)
        except InputError:  # the expression does not match
            continue
        n_shared = _count_shared_ids(pred_parts, ref_parts)
        if n_shared > most_shared:
            best_expression = expression
            most_shared = n_shared
    return best_expression


def _count_shared_ids(pred: Lists, ref: Lists) -> int:
    """Count the ids that both sides have."""
    ref_ids = set(ref.ids)
    return len(ref_ids.intersection(pred.ids))


def _find_similar_ids(
    ids: Iterable[str], others: Iterable[str], normalize: Callable[[str], str]
) -> list[str] | None:
    """Return the first id that equals one of the others after normalisation, and that one."""
    other_of_form = {normalize(other): other for other in others}
    for own_id in ids:
        form = normalize(own_id)
        if form and other_of_form.get(form):
            return [own_id, other_of_form[form]]
    return None


def _compose_unicode(name: str) -> str:
    """Return an id in Unicode normal form C (NFC)."""
    return unicodedata.normalize("NFC", name)


def _drop_zero_fraction(name: str) -> str:
    """Return "7" for "7.0", and other ids unchanged."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", name)


def _fold_case(name: str) -> str:
    """Return an id without surrounding white space and without case."""
    return name.strip().casefold()


_SPELLING_DIFFERENCES: dict[str, Callable[[str], str]] = {
    "Unicode normal form": _compose_unicode,
    "the .0 of a number": _drop_zero_fraction,
    "case or spaces": _fold_case,
}
"""Functions that make ids equal, by the difference that messages name."""


# ---- values per item ----------------------------------------------------------------------------


def aligned_rows(values: Floats, pred: Lists, ids: Ids) -> Floats:
    """Return the row of each joined item from a matrix with one row per prediction.

    Parameters
    ----------
    values : float array, shape (items of the predictions, columns)
    pred : Lists
    ids : sequence of str, or range
        The ids of the joined items.

    Raises
    ------
    InputError
        If the matrix does not have one row per item of the predictions, or an item has no row.
    """
    values = np.asarray(values)
    n_items = len(pred)
    if values.ndim != 2 or len(values) != n_items:
        raise InputError(
            "wrong-shape",
            role="the cardinality matrix",
            shape=values.shape,
            wanted=f"one row of probabilities for each of {n_items:,} items",
        )
    if same_ids(ids, pred.ids):
        return values
    row_of_id = pred.rows_by_id()
    ids_without_row = [item_id for item_id in ids if item_id not in row_of_id]
    if ids_without_row:
        number = len(ids_without_row)
        raise InputError("no-rows", n=number, what="cardinality", ids=ids_without_row)
    rows = [row_of_id[item_id] for item_id in ids]
    return values[rows]


@dataclass(frozen=True, eq=False)
class Weights:
    """Sample weights as the user provides them.

    Attributes
    ----------
    values : mapping from id to number, or sequence of numbers
        A sequence is in the order of the ground truth.
    source : str
        The name of the weights in messages.
    notes : sequence of Fact
        Notes on the file.
    """

    values: Any
    source: str = "weights"
    notes: Sequence[Any] = ()

    @property
    def is_by_id(self) -> bool:
        """Whether the weights are given by id."""
        return isinstance(self.values, Mapping)

    def align(self, ref: Lists | Matrix, ids: Ids) -> Floats:
        """Return the weight of each joined item.

        Parameters
        ----------
        ref : Lists or Matrix
            The ground truth.
        ids : sequence of str, or range
            The ids of the joined items.

        Raises
        ------
        InputError
            If an item has no weight, or a weight is negative or not a finite number. The message
            names the item.
        """
        weight_by_id = self._by_id(ref)
        names = [str(name) for name in ids]
        unweighted = [name for name in names if name not in weight_by_id]
        if unweighted:
            raise InputError(
                "without-value",
                self.source,
                n=len(unweighted),
                noun="item",
                what="weight",
                names=unweighted,
            )
        weights = np.zeros(len(names))
        for row, name in enumerate(names):
            weights[row] = self._check_weight(name, weight_by_id[name])
        with np.errstate(over="ignore"):
            total = weights.sum()
        if not np.isfinite(total):
            raise InputError("infinite-sum", self.source, role="all sample weights")
        return weights

    def _by_id(self, ref: Lists | Matrix) -> dict[str, Any]:
        """Return the weights by id, before their values are checked.

        A sequence gets the ids of the ground truth.
        """
        values = self.values
        is_sized = hasattr(values, "__len__") and is_iterable(values)
        if isinstance(values, (str, bytes, Set)) or not is_sized:
            wanted = "weights in the order of the ground truth, or by id"
            raise InputError("wrong-type", self.source, value=values, wanted=wanted)
        if isinstance(values, Mapping):
            ids = list(map(str, values))
            check_once(ids, "duplicate-id", self.source)
            return dict(zip(ids, values.values(), strict=True))
        n_weights = len(values)
        if n_weights != len(ref):
            wanted = f"{pluralize(len(ref), 'item')} of the ground truth"
            number = pluralize(n_weights, "weight")
            raise InputError("wrong-count", self.source, wanted=wanted, found=number)
        return dict(zip(map(str, ref.ids), values, strict=True))

    def _check_weight(self, name: str, weight: Any) -> float:
        """Return a weight as a float. It must be finite and not negative."""
        number = math.nan
        # Older versions of NumPy convert an array of one element to a number.
        if not getattr(weight, "ndim", 0):
            try:
                number = float(weight)
            except (TypeError, ValueError, OverflowError):
                number = math.nan
        if isinstance(weight, str) or not 0 <= number < math.inf:
            role = f"the weight of item {name!r}"
            wanted = "a finite, non-negative number"
            raise InputError(
                "out-of-range", self.source, role=role, value=weight, wanted=wanted
            )
        return number


def weigh(
    joined: Joined, weights: Weights | None, ref: Lists
) -> tuple[Joined, Floats | None]:
    """Return the joined items with their weights, without items of weight 0.

    ``counts["weight_0"]`` is the number of items of weight 0. Without weights, nothing changes.
    """
    if weights is None:
        return joined, None
    values = weights.align(ref, joined.ids)
    rows = np.flatnonzero(values)
    n_left_out = len(values) - len(rows)
    if not n_left_out:
        return joined, values
    counts = {**joined.counts, "weight_0": n_left_out}
    return joined.take(rows, counts), values[rows]
