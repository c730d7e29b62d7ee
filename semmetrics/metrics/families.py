"""Families: from columns of items to a value, and what an undefined value counts as.

Conventions
-----------
A value is undefined for one of four causes: nothing predicted and nothing true (``empty``; for a
label ``absent``), nothing predicted (``no_prediction``), nothing true (``no_reference``), or
another reason (``undefined``). The measure's option of that name decides: ``nan`` makes the mean
undefined, ``0`` and ``1`` are values, ``skip`` leaves it out. What was undefined is counted.

Families
--------
``ItemMeans``      the mean over items of a value that each has
``SumFormulas``    a formula on sums over items
``CountFormulas``  a formula on counts: its mean over items (``average=example``), or its value on
                   the counts of all items together (``micro``)
``Derived``        a formula on the values of other measures, of one part of the data or several. It
                   has no columns. Its replicates are its formula on the replicates of its terms,
                   which are paired: parts of one data set are resampled with the same weights
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
from semmetrics.data.tasks import Block, Step
from semmetrics.errors import InputError, place_in
from semmetrics.metrics import definition as definitions
from semmetrics.metrics.definition import Columns, Definition, Frame, Measure, Sums
from semmetrics.metrics.formulas import divide
from semmetrics.metrics.measure_options import MeasureOption, OptionValue
from semmetrics.metrics.registry import is_own

CAUSES = ("defined", "empty", "no_prediction", "no_reference", "undefined")
Causes: TypeAlias = NDArray[np.int8]
"""Positions in CAUSES."""
Chosen: TypeAlias = tuple[tuple[str, OptionValue], ...]
POLICIES = ("nan", "0", "1", "skip")
LABEL_AVERAGES = ("macro", "weighted")
_NUMBERS = {"nan": np.nan, "0": 0.0, "1": 1.0}


def policy_option(
    name: str,
    short: str,
    default: Any,
    text: str,
    averages: tuple[str, ...] | None = None,
) -> MeasureOption:
    """Return the option that says what an undefined value counts as."""
    return MeasureOption(
        name, short, default, POLICIES, help=f"policy for {text}", averages=averages
    )


def choose_policies(
    options: Iterable[MeasureOption], chosen: Container[str]
) -> tuple[MeasureOption, ...]:
    """Leave a choice to these policies alone; the causes of the others never arise."""
    return tuple(
        option._replace(choices=(option.default_for(None),))
        if option.choices == POLICIES and option.name not in chosen
        else option
        for option in options
    )


def causes(values: Floats, n_pred: Any, n_ref: Any) -> Causes:
    """Say why each value is undefined, as a position in CAUSES; 0 where it is defined."""
    code = np.zeros(values.shape, np.int8)
    bad = np.isnan(values)
    if bad.any():
        nothing, without = np.equal(n_pred, 0)[bad], np.equal(n_ref, 0)[bad]
        code[bad] = np.select([nothing & without, nothing, without], [1, 2, 3], 4)
    return code


def value_columns(values: Floats, n_pred: Any, n_ref: Any) -> dict[str, Column]:
    """Make the columns "value" (0 where undefined) and "cause" of a value of each item."""
    cause = causes(values, n_pred, n_ref)
    return {
        "value": Dense(np.where(cause == 0, values, 0.0)),
        "cause": OneHot(cause, len(CAUSES)),
    }


def cause_option(measure: Measure, cause: str) -> str:
    """Name the option that holds the policy for a cause."""
    return (
        "absent" if cause == "empty" and measure["average"] in LABEL_AVERAGES else cause
    )


def apply_policies(
    measure: Measure, values: Floats, code: Causes
) -> tuple[Floats, Bools]:
    """Replace undefined values, and say which values count.

    Parameters
    ----------
    measure : Measure
    values : float array
        nan where undefined.
    code : int8 array of the same shape
        The cause of each, as a position in CAUSES.
    """
    kept = np.ones(values.shape, np.bool_)
    if code.any():
        values = values.copy()
        for number, name in enumerate(CAUSES[1:], 1):
            policy, where = measure[cause_option(measure, name)], code == number
            kept &= ~where | (policy != "skip")
            values[where] = _NUMBERS.get(str(policy), np.nan)
    return values, kept


def averaged_values(measure: Measure, values: Floats, code: Causes) -> Floats:
    """Return what a mean averages: policies for undefined values, nan for those left out."""
    values, kept = apply_policies(measure, values, code)
    return np.where(kept, values, np.nan)


def mean_of_defined(measure: Measure, sums: Sums) -> Floats:
    """Average over items under the policies, from the sum of values and the count of each cause."""
    total, counts = as_floats(sums["value"]), as_floats(sums["cause"])
    number = counts[..., 0]
    unknown = np.zeros(number.shape, np.bool_)
    for place, name in enumerate(CAUSES[1:], 1):
        # None where the cause cannot arise
        policy, some = (
            measure[name],
            counts[..., place],
        )
        if policy == "nan":
            unknown |= some > 0
        elif policy in ("0", "1"):
            total, number = total + _NUMBERS[policy] * some, number + some
    return np.where(unknown, np.nan, divide(total, number))


def undefined_items(sums: Sums) -> dict[str, int]:
    """Count the items without a value, by cause, whatever their weights."""
    return dict(
        zip(
            CAUSES[1:], sums.get("cause_items", sums["cause"]).tolist()[1:], strict=True
        )
    )


def evaluate_formula(
    definition: Definition, known: dict[str, Any], options: Chosen
) -> Floats:
    """Evaluate the formula of a definition on counts.

    Raises
    ------
    InputError
        If it fails, or gives an infinite value or an array of another shape than the counts.
    """
    formula: Any = definition.formula
    arguments = {name: known[name] for name in definition.arguments}
    try:
        with np.errstate(all="ignore"):  # 0/0 is nan: that the value is undefined
            values = np.asarray(formula(**arguments, **dict(options)), np.float64)
    except Exception as error:
        if isinstance(error, InputError) or not is_own(definition):
            raise
        code = getattr(formula, "__code__", None)
        raise InputError(
            "own-code-failed",
            "" if code is None else place_in(error, code.co_filename),
            what=f"the formula of {definition.name}",
            kind=type(error).__name__,
            why=error,
            remedy="correct it",
        ) from error
    endless = np.isinf(values).any()
    if values.shape != next(iter(known.values())).shape or endless:
        found = "an infinite value" if endless else f"an array of shape {values.shape}"
        raise InputError(
            "wrong-formula",
            measure=definition.name,
            problem=f"gives {found}",
            remedy="return one number for each count, nan if undefined",
        )
    return values


def formula_options(measure: Measure) -> Chosen:
    """Select the options that the formula itself takes."""
    own = measure.definition.parameters
    return tuple((name, value) for name, value in measure.options if name in own)


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Average over the last axis; nan without weights. A value of weight 0 may be nan."""
    total = np.where(weights > 0, values, 0.0) * weights
    return np.asarray(divide(total.sum(axis=-1), weights.sum(axis=-1)))


def label_mean(
    measure: Measure, values: Floats, support: Floats, kept: Bools
) -> Floats:
    """Average over the labels kept; those of ``weighted`` by their references, if any has some."""
    weights = kept.astype(np.float64)
    if measure["average"] == "weighted":
        referred = np.where(kept, support, 0.0)
        weights = np.where(referred.any(axis=-1, keepdims=True), referred, weights)
    return weighted_mean(values, weights)


class ItemMeans(definitions.Family):
    """Means over items of the columns "value" and "cause".

    Attributes
    ----------
    flags : tuple of pairs
        Columns that mark items to be counted beside those without a value, and the name of each
        count.
    """

    flags: tuple[tuple[str, str], ...] = ()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the items, under the policies."""
        return mean_of_defined(measure, sums)

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value, by cause, and those that a flag marks."""
        found = self.by_cause(measure, sums, frame)
        for column, name in self.flags:  # whatever the weights of the items
            found[name] = int(sums.get(f"{column}_items", sums[column])[1])
        return found

    def by_cause(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count what has no value, by cause."""
        return undefined_items(sums)

    def values(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> tuple[Floats, Causes]:
        """Return the value of each item, and why it has none."""
        return rows["value"].values, rows["cause"].codes

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each item."""
        values, cause = self.values(measure, rows, frame)
        return np.where(cause == 0, values, np.nan)

    def averaged(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value that each item has in the mean, nan where left out; None if no mean."""
        if measure["average"] not in (None, "example"):
            return None
        return averaged_values(measure, *self.values(measure, rows, frame))


class SumFormulas(definitions.Family):
    """A formula on sums of numbers over the items that have a value; column "cause" says which."""

    def value(self, measure: Measure, numbers: Mapping[str, Floats]) -> Floats:
        """Evaluate the formula on sums, or on the numbers of each item."""
        raise NotImplementedError

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Evaluate the formula on the sums; nan where no item has a value, or a policy says so."""
        numbers = {
            name: as_floats(sums[name]) for name in sums if not name.startswith("cause")
        }
        counts = as_floats(sums["cause"])
        unknown = counts[..., 0] == 0
        for place, name in enumerate(CAUSES[1:], 1):
            if measure[name] == "nan":
                unknown |= counts[..., place] > 0
        return np.where(unknown, np.nan, self.value(measure, numbers))

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items without a value, by cause."""
        return undefined_items(sums)

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item."""
        numbers = {
            n: np.asarray(c.values, np.float64) for n, c in rows.items() if n != "cause"
        }
        return np.where(rows["cause"].codes == 0, self.value(measure, numbers), np.nan)


@dataclass(frozen=True, repr=False)
class FormulaValues(definitions.Statistic):
    """A formula on the counts of each item: columns "value" and "cause", and the counts' flags.

    Counts may be those that occur, each once, and "codes", which say what each item has.
    """

    definition: Definition
    counts: Step[dict[str, Any]]
    options: Chosen = ()

    def compute(self, block: Block[Any]) -> dict[str, Any]:
        """Evaluate the formula item by item."""
        columns = dict(block.get(self.counts))
        codes = columns.pop("codes", None)
        flags = {name: c for name, c in columns.items() if isinstance(c, OneHot)}
        known = {name: c.values for name, c in columns.items() if name not in flags}
        value = evaluate_formula(self.definition, known, self.options)
        found: dict[str, Any] = value_columns(value, known["n_pred"], known["n_ref"])
        if codes is None:
            return {**found, **flags}
        cause = OneHot(found["cause"].codes.take(codes), len(CAUSES))
        return {"value": Coded(codes, found["value"].values), "cause": cause}


class CountFormulas(ItemMeans):
    """Formulas on counts: the mean over items, or the value on the counts of all items together."""

    def counts(self, measure: Measure) -> definitions.Statistic:
        """Choose the step that counts: columns named as the formula's parameters, and flags."""
        raise NotImplementedError

    def statistic(self, measure: Measure) -> definitions.Statistic:
        """Choose item values for ``example``, counts for other averages."""
        counts = self.counts(measure)
        if measure["average"] != "example":
            return counts
        return FormulaValues(measure.definition, counts, formula_options(measure))

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Average over the items, or evaluate the formula on the counts of all."""
        if measure["average"] == "example":
            return super().aggregate(measure, sums, frame)
        return averaged_values(measure, *self._evaluated(measure, sums, frame))[..., 0]

    def by_cause(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items, or say why all together have no value."""
        if measure["average"] == "example":
            return super().by_cause(measure, sums, frame)
        code = self._evaluated(measure, sums, frame)[1]
        return {
            cause_option(measure, name): int((code == number).sum())
            for number, name in enumerate(CAUSES[1:], 1)
        }

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Evaluate the formula on each item."""
        if measure["average"] == "example":
            return super().items(measure, rows, frame)
        known = self.item_counts(measure, rows, frame)
        return evaluate_formula(measure.definition, known, formula_options(measure))

    def item_counts(
        self, measure: Measure, rows: Columns, frame: Frame
    ) -> dict[str, Floats]:
        """Return the counts of each item."""
        return {name: rows[name].values for name in measure.definition.arguments}

    def together(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, Floats]:
        """Return the counts of all items together; a last axis of length 1 stands for the whole."""
        names = {*measure.definition.arguments, "n_pred", "n_ref"}
        return {name: as_floats(sums[name])[..., None] for name in names}

    def _evaluated(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> tuple[Floats, Causes]:
        known = self.together(measure, sums, frame)
        value = evaluate_formula(measure.definition, known, formula_options(measure))
        return value, causes(value, known["n_pred"], known["n_ref"])


class Derived(definitions.Family):
    """A formula on the values of other measures.

    Subclasses say which (`terms`) and how (`combine`).
    """

    @abstractmethod
    def terms(self, measure: Measure) -> Mapping[str, Sequence[Measure]]:
        """Return the measures that it needs of each part; "" is data that have no parts."""

    @abstractmethod
    def combine(self, measure: Measure, values: Sequence[Any]) -> Any:
        """Combine the values of all terms, in their order: numbers, or arrays of one shape."""

    def statistic(self, measure: Measure) -> definitions.Statistic:
        """Return a step of nothing."""
        return definitions.Statistic()

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Return nan: the value is made of the values of other measures."""
        return np.full((), np.nan)


def terms_of(measure: Measure) -> Mapping[str, Sequence[Measure]]:
    """Return what a derived measure needs of each part; nothing for other measures."""
    family = measure.definition.family
    return family.terms(measure) if isinstance(family, Derived) else {}


def flat_terms(measures: Sequence[Measure]) -> list[Measure]:
    """Return each measure once, and instead of a derived one those that it is made of."""
    every = (terms_of(one) or {"": [one]} for one in measures)
    return list(
        dict.fromkeys(one for parts in every for some in parts.values() for one in some)
    )
