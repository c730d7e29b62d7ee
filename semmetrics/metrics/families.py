"""Families: how the value of a measure is computed from columns with one row per item.

Conventions
-----------
A value is undefined for one of four causes:

``empty``          nothing was predicted and nothing is true (``absent`` for a label)
``no_prediction``  nothing was predicted
``no_reference``   nothing is true
``undefined``      any other reason

The policy for a cause is the option of the measure with the name of the cause. ``nan``
makes the mean undefined, ``0`` and ``1`` are used as the value, and ``skip`` leaves the
value out. Undefined values are counted under every policy.

Families
--------
``ItemMeans``      The mean over items of a value that each item has.
``SumFormulas``    A formula on sums over items.
``CountFormulas``  A formula on counts: the mean of its values over items
                   (``average=example``), or its value on the counts of all items together
                   (``micro``).
``Derived``        A formula on the values of other measures, on one or several parts of
                   the data. It has no columns. Its value in a resample is the formula on
                   the values of its terms in that resample, because all parts of a
                   dataset are resampled with the same weights.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.columns import Coded, Column, Dense, OneHot, as_floats
from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.tasks.base import Block, Step
from semmetrics.metrics.definition import (
    Columns,
    Definition,
    Family,
    Frame,
    Measure,
    Statistic,
    Sums,
)
from semmetrics.metrics.formula_values import (
    OptionValues,
    evaluate_formula,
    formula_options,
)
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import MeasureOption

CAUSES = ("defined", "empty", "no_prediction", "no_reference", "undefined")
"""Why a value is undefined, by code. The code 0 means that it is defined."""
_UNDEFINED_CAUSES = tuple(enumerate(CAUSES))[1:]
"""The codes and names of the causes, without "defined"."""
_EMPTY = CAUSES.index("empty")
_NO_PREDICTION = CAUSES.index("no_prediction")
_NO_REFERENCE = CAUSES.index("no_reference")
_UNDEFINED = CAUSES.index("undefined")
Causes: TypeAlias = NDArray[np.int8]
"""Positions in CAUSES."""

POLICIES = ("nan", "0", "1", "skip")
_VALUE_OF_POLICY = {"nan": np.nan, "0": 0.0, "1": 1.0}
LABEL_AVERAGES = ("macro", "weighted")


# ---- policies for undefined values ----------------------------------------------------


def policy_option(
    name: str,
    short: str,
    default: Any,
    text: str,
    averages: tuple[str, ...] | None = None,
) -> MeasureOption:
    """Return an option for the policy for a cause.

    Parameters
    ----------
    name : str
        The cause.
    short : str
        The key in a signature.
    default : {"nan", "0", "1", "skip"}, or mapping from average to them
    text : str
        What the policy is for, in the help.
    averages : tuple of str, optional
        The averages that the option applies to. Default: all.
    """
    text = f"policy for {text}"
    return MeasureOption(name, short, default, POLICIES, help=text, averages=averages)


def restrict_policies(
    options: Iterable[MeasureOption], causes: Container[str]
) -> tuple[MeasureOption, ...]:
    """Let policies for other causes only have their default, because these never arise.

    Options that are not policies do not change.
    """
    restricted = []
    for option in options:
        if option.choices == POLICIES and option.name not in causes:
            default = option.default_for(None)
            option = option._replace(choices=(default,))
        restricted.append(option)
    return tuple(restricted)


def find_causes(values: Floats, n_pred: Any, n_ref: Any) -> Causes:
    """Return why each value is undefined, as a position in CAUSES. 0 if it is defined.

    Parameters
    ----------
    values : float array
        nan if undefined.
    n_pred, n_ref : arrays, same shape
        How much was predicted, and how much is true.

    Examples
    --------
    >>> values = np.array([0.5, np.nan, np.nan])
    >>> find_causes(values, np.array([1, 0, 0]), np.array([1, 0, 2])).tolist()
    [0, 1, 2]
    """
    causes = np.zeros(values.shape, np.int8)
    is_undefined = np.isnan(values)
    if is_undefined.any():
        no_prediction = np.equal(n_pred, 0)[is_undefined]
        no_reference = np.equal(n_ref, 0)[is_undefined]
        causes[is_undefined] = np.select(
            [no_prediction & no_reference, no_prediction, no_reference],
            [_EMPTY, _NO_PREDICTION, _NO_REFERENCE],
            _UNDEFINED,
        )
    return causes


def value_columns(values: Floats, n_pred: Any, n_ref: Any) -> dict[str, Column]:
    """Return the columns "value" (0 if undefined) and "cause" of values of items."""
    causes = find_causes(values, n_pred, n_ref)
    return {
        "value": Dense(np.where(causes == 0, values, 0.0)),
        "cause": OneHot(causes, len(CAUSES)),
    }


def _policy_name(measure: Measure, cause: str) -> str:
    """Return the name of the option for the policy for a cause."""
    if cause == "empty" and measure["average"] in LABEL_AVERAGES:
        return "absent"
    return cause


def apply_policies(
    measure: Measure, values: Floats, causes: Causes
) -> tuple[Floats, Bools]:
    """Replace undefined values by their policies.

    Parameters
    ----------
    measure : Measure
    values : float array
        nan if undefined.
    causes : int8 array, same shape
        The cause of each value, as a position in CAUSES.

    Returns
    -------
    values : float array, same shape
    is_counted : bool array, same shape
        False for values that a policy leaves out.
    """
    is_counted = np.ones(values.shape, np.bool_)
    if not causes.any():
        return values, is_counted
    values = values.copy()
    for code, cause in _UNDEFINED_CAUSES:
        policy = measure[_policy_name(measure, cause)]
        has_cause = causes == code
        # nan for "skip", and for a cause that cannot arise
        values[has_cause] = _VALUE_OF_POLICY.get(str(policy), np.nan)
        if policy == "skip":
            is_counted[has_cause] = False
    return values, is_counted


def averaged_values(measure: Measure, values: Floats, causes: Causes) -> Floats:
    """Return the values that a mean averages, under the policies. nan if left out."""
    values, is_counted = apply_policies(measure, values, causes)
    return np.where(is_counted, values, np.nan)


# ---- means ----------------------------------------------------------------------------


def mean_of_defined(measure: Measure, sums: Sums) -> Floats:
    """Average over items under the policies.

    Parameters
    ----------
    measure : Measure
    sums : mapping from name to array
        "value" is the sum of the values that are defined, and "cause" the number of items
        with each cause.
    """
    total = as_floats(sums["value"])
    n_by_cause = as_floats(sums["cause"])
    n_counted = n_by_cause[..., 0]
    is_undefined = np.zeros(n_counted.shape, np.bool_)
    for code, cause in _UNDEFINED_CAUSES:
        policy = measure[cause]  # None if the cause cannot arise
        n_items = n_by_cause[..., code]
        if policy == "nan":
            is_undefined |= n_items > 0
        elif policy in ("0", "1"):
            total = total + _VALUE_OF_POLICY[policy] * n_items
            n_counted = n_counted + n_items
    return np.where(is_undefined, np.nan, divide(total, n_counted))


def count_undefined_items(sums: Sums) -> dict[str, int]:
    """Count the items without a value by cause, regardless of weights."""
    # If items have weights, "cause" is a sum of weights, and "cause_items" is a count.
    counts = sums.get("cause_items", sums["cause"]).tolist()
    return {cause: counts[code] for code, cause in _UNDEFINED_CAUSES}


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Average over the last axis. nan if all weights are 0. A value of weight 0 may be nan."""
    weighted = np.where(weights > 0, values, 0.0) * weights
    return np.asarray(divide(weighted.sum(axis=-1), weights.sum(axis=-1)))


def label_mean(
    measure: Measure, values: Floats, support: Floats, is_counted: Bools
) -> Floats:
    """Average over the labels that count.

    ``weighted`` weights each label by its references, if any label has references.

    Parameters
    ----------
    measure : Measure
    values, support : float arrays, shape (..., labels)
        The value and the number of references of each label.
    is_counted : bool array, same shape
    """
    weights = is_counted.astype(np.float64)
    if measure["average"] == "weighted":
        counted_support = np.where(is_counted, support, 0.0)
        has_support = counted_support.any(axis=-1, keepdims=True)
        weights = np.where(has_support, counted_support, weights)
    return weighted_mean(values, weights)


# ---- families -------------------------------------------------------------------------


class ItemMeans(Family):
    """Means over items, from the columns "value" and "cause".

    Attributes
    ----------
    flags : tuple of (column, name)
        Columns that mark items, and the name of the count of marked items, which is shown
        with the counts of undefined items.
    """

    flags: tuple[tuple[str, str], ...] = ()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the items, under the policies."""
        return mean_of_defined(measure, sums)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value by cause, and the items that a flag marks."""
        counts = self.count_by_cause(measure, sums, frame)
        for column, name in self.flags:
            # If items have weights, the column is weighted, and "…_items" is not.
            _, n_marked = sums.get(f"{column}_items", sums[column])
            counts[name] = int(n_marked)
        return counts

    def count_by_cause(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, int]:
        """Count undefined values by cause."""
        return count_undefined_items(sums)

    def values(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> tuple[Floats, Causes]:
        """Return the value of each item, and the cause if it is undefined."""
        return rows["value"].values, rows["cause"].codes

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each item, nan if undefined."""
        values, causes = self.values(measure, rows, frame)
        return np.where(causes == 0, values, np.nan)

    def averaged(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the values that a mean over items averages, nan if left out.

        Returns None if the value is not a mean over items.
        """
        if measure["average"] not in (None, "example"):
            return None
        values, causes = self.values(measure, rows, frame)
        return averaged_values(measure, values, causes)


class SumFormulas(Family):
    """A formula on sums over the items whose column "cause" is 0, for "defined"."""

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Evaluate the formula on sums, or on the numbers of each item."""
        raise NotImplementedError

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Evaluate the formula on the sums.

        The value is nan if no item has a value, or if the policy for the cause of an item
        is "nan".
        """
        numbers = {}
        for name, array in sums.items():
            if not name.startswith("cause"):  # "cause", or "cause_items"
                numbers[name] = as_floats(array)
        n_by_cause = as_floats(sums["cause"])
        is_undefined = n_by_cause[..., 0] == 0
        for code, cause in _UNDEFINED_CAUSES:
            if measure[cause] == "nan":
                is_undefined |= n_by_cause[..., code] > 0
        return np.where(is_undefined, np.nan, self.value(measure, numbers))

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value, by cause."""
        return count_undefined_items(sums)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item."""
        numbers = {}
        for name, column in rows.items():
            if name != "cause":
                numbers[name] = np.asarray(column.values, np.float64)
        is_defined = rows["cause"].codes == 0
        return np.where(is_defined, self.value(measure, numbers), np.nan)


@dataclass(frozen=True, repr=False)
class FormulaValues(Statistic):
    """A formula on the counts of each item.

    Attributes
    ----------
    definition : Definition
    counts : Step
        Columns of counts, with one row for each item, and flags. If there is a column
        "codes", the counts have one row for each distinct combination instead. Then
        "codes" is the row of each item, and there are no flags.
    options : tuple of (name, value)
        The options of the formula.
    """

    definition: Definition
    counts: Step[dict[str, Any]]
    options: OptionValues = ()

    def compute(self, block: Block[Any]) -> dict[str, Any]:
        """Return the columns "value" and "cause", and the flags of the counts."""
        counts = {}
        flags = {}
        codes = None
        for name, column in block.get(self.counts).items():
            if name == "codes":
                codes = column
            elif isinstance(column, OneHot):
                flags[name] = column
            else:
                counts[name] = column.values
        values = evaluate_formula(self.definition, counts, self.options)
        columns: dict[str, Any] = value_columns(
            values, counts["n_pred"], counts["n_ref"]
        )
        if codes is None:
            return {**columns, **flags}
        causes = columns["cause"].codes.take(codes)
        return {
            "value": Coded(codes, columns["value"].values),
            "cause": OneHot(causes, len(CAUSES)),
        }


class CountFormulas(ItemMeans):
    """Formulas on counts, averaged over items or evaluated on the counts of all items."""

    def counts(self, measure: Measure) -> Statistic:
        """Return the step that computes the counts.

        Its columns are the counts that the formula takes, and "n_pred" and "n_ref", from
        which the cause of an undefined value follows. Further columns are flags.
        """
        raise NotImplementedError

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step for values of items (``example``), or for counts."""
        counts = self.counts(measure)
        if measure["average"] != "example":
            return counts
        return FormulaValues(measure.definition, counts, formula_options(measure))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the items, or evaluate the formula on the counts of all."""
        if measure["average"] == "example":
            return super().aggregate(measure, sums, frame)
        values, causes = self.evaluate_pooled(measure, sums, frame)
        averaged = averaged_values(measure, values, causes)
        return averaged[..., 0]  # `pooled_counts` adds this axis of length 1.

    def count_by_cause(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, int]:
        """Count the items without a value, or the undefined values of pooled counts."""
        if measure["average"] == "example":
            return super().count_by_cause(measure, sums, frame)
        _, causes = self.evaluate_pooled(measure, sums, frame)
        counts = {}
        for code, cause in _UNDEFINED_CAUSES:
            counts[_policy_name(measure, cause)] = int((causes == code).sum())
        return counts

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item."""
        if measure["average"] == "example":
            return super().items(measure, rows, frame)
        counts = self.item_counts(measure, rows, frame)
        return evaluate_formula(measure.definition, counts, formula_options(measure))

    def item_counts(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of each item."""
        return {name: rows[name].values for name in measure.definition.arguments}

    def pooled_counts(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of all items together, with a last axis of length 1."""
        names = {*measure.definition.arguments, "n_pred", "n_ref"}
        return {name: as_floats(sums[name])[..., None] for name in names}

    def evaluate_pooled(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Floats, Causes]:
        """Evaluate the formula on the counts of all items together.

        Returns
        -------
        values : float array
            nan if undefined.
        causes : int8 array, same shape
        """
        counts = self.pooled_counts(measure, sums, frame)
        options = formula_options(measure)
        values = evaluate_formula(measure.definition, counts, options)
        return values, find_causes(values, counts["n_pred"], counts["n_ref"])


class Derived(Family):
    """A formula on the values of other measures.

    Subclasses define which measures (`terms`) and the formula (`combine`).
    """

    @abstractmethod
    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that are needed of each part of the data.

        The key is the name of the part, or "" if the data have no parts.
        """

    @abstractmethod
    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Return the value for the values of all terms, which have the order of `terms`.

        Values are numbers, or arrays of one shape.
        """

    def statistic(self, measure: Measure) -> Statistic:
        """Return a step without columns."""
        return Statistic()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return nan, because the value comes from `combine`."""
        return np.full((), np.nan)


def terms_of(measure: Measure) -> Mapping[str, Sequence[Measure]]:
    """Return the terms of a derived measure by part, or nothing for other measures."""
    family = measure.definition.family
    if isinstance(family, Derived):
        return family.terms(measure)
    return {}


def flat_terms(measures: Sequence[Measure]) -> list[Measure]:
    """Replace derived measures by their terms, and return each measure once."""
    terms: list[Measure] = []
    for measure in measures:
        terms_by_part = terms_of(measure)
        if not terms_by_part:
            terms.append(measure)
        for terms_of_part in terms_by_part.values():
            terms.extend(terms_of_part)
    return list(dict.fromkeys(terms))
