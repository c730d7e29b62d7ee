"""Definitions of measures, and measures: definitions with a value for every option.

Conventions
-----------
A definition contains the formula of a measure, and its options, bounds, traits and
source. ``str(measure)`` is the name as papers write it, without options that have their
default. The signature contains every option.

The value of a measure comes in two steps. A `Statistic` computes columns with one row per
item. A `Family` computes the value from the columns or their sums.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.tasks.base import Block
from semmetrics.errors import InputError, UnknownKeyError
from semmetrics.messages import did_you_mean, listing
from semmetrics.metrics.hints import SYNONYMS_OF_AVERAGE
from semmetrics.metrics.measure_options import (
    ALL_AVERAGES,
    AUTO,
    MeasureOption,
    OptionValue,
    format_value,
    is_cutoff,
)
from semmetrics.metrics.measure_table import ROWS

Columns: TypeAlias = Mapping[str, Any]
"""Columns by name. Their classes are in `core.columns`, or belong to a statistic."""
Sums: TypeAlias = Mapping[str, Any]
"""Arrays of sums by name.

A statistic that is not additive has "rows", "weights" and "order" instead.
"""
LabelTable: TypeAlias = dict[str, NDArray[Any]]
"""Columns "label", "value" and counts, for the labels of an average over labels."""

DEFAULT_EMBEDDING = "default"
"""The default of the option ``embedding``, which names an embedding."""
USUAL_EMBEDDING = "static"
"""The model that most measures use if the user gives no embedding."""
USUAL_OOV = "zero"
"""The policy of most measures for labels without a vector."""


# ---- from items to values -------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Statistic:
    """A step that computes columns, with one row per item. Subclasses are frozen dataclasses.

    Attributes
    ----------
    additive : bool
        Whether the sums of the columns determine the measure. If not, it needs the rows.
    labels : frozenset of str
        The columns whose sums have a label axis, which is the last axis.
    """

    additive: ClassVar[bool] = True
    labels: ClassVar[frozenset[str]] = frozenset()

    def compute(self, block: Block[Any]) -> dict[str, Any]:
        """Compute the columns by name. This class has none."""
        return {}


@dataclass(frozen=True, eq=False)
class Frame:
    """The label axis, which an aggregate needs in addition to the sums.

    Attributes
    ----------
    labels : tuple of str
    in_reference : bool array, shape (labels,)
        The labels that occur in the ground truth.
    in_union : bool array, shape (labels,)
        The labels that occur in the ground truth or in the predictions of any compared
        system, and the columns of a matrix of either.
    n_listed : int or None
        The length of the class list, whose labels come first. None without a class list.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    has_columns : bool
        Whether a side is a matrix or has 0/1 mappings. All columns or keys are then in
        ``in_union``.
    """

    labels: tuple[str, ...]
    in_reference: Bools
    in_union: Bools
    n_listed: int | None
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    has_columns: bool = False

    @property
    def dictionary_size(self) -> int:
        """The number of labels to rank: the class list, or else all labels of the input."""
        if self.n_listed is None:
            return len(self.labels)
        return self.n_listed

    def universe_name(self, measure: Measure) -> str:
        """Return the name of a measure's label universe: "reference", "union" or "given"."""
        name = measure["labels"]
        is_auto = name == AUTO
        if not name:
            is_auto = measure.definition.needs_dictionary_size
            name = "union"
        if not is_auto:
            return str(name)
        if self.n_listed is None:
            return "union"
        return "given"

    def universe(self, measure: Measure) -> Bools:
        """Return which labels count in a measure."""
        return self.members(self.universe_name(measure))

    def members(self, name: str) -> Bools:
        """Return which labels are in a label universe.

        Raises
        ------
        UnknownKeyError
            If there is no universe of this name.
        InputError
            If the name is "given", and there is no class list.
        """
        if name in self.named:
            members = self.named[name]
            return np.array([label in members for label in self.labels], np.bool_)
        if name == "reference":
            return self.in_reference
        if name == "union":
            return self.in_union
        if name != "given":
            what = "list of labels"
            raise UnknownKeyError("unknown-name", what=what, value=name, remedy="")
        if self.n_listed is not None:
            return np.arange(len(self.labels)) < self.n_listed
        if self.has_columns:
            return self.in_union
        raise InputError("needs-option", what="labels=given", name="classes")


class Family(Protocol):
    """A way to compute the value of a measure from columns or their sums."""

    def statistic(self, measure: Measure) -> Statistic:
        """Return the step that computes the columns of a measure."""

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Compute the value. Leading axes of the sums remain, such as resamples."""

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items or labels without a value, by cause."""
        return {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each item, nan if undefined, or None if items have no values."""
        return None

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> LabelTable | None:
        """Return the counts and the value of each label, or None if labels have no values."""
        return None


# ---- definitions and measures ---------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Definition:
    """A measure without chosen options. Calling it with options returns a `Measure`.

    A definition is identified by its kind and its name.

    Attributes
    ----------
    name : str
    family : Family
    summary : str
        One sentence.
    equation : str
        The formula in plain text.
    source : str
        The paper and the equation.
    cite : tuple of str
        Keys of BibTeX entries.
    options : tuple of MeasureOption
    averages : tuple of str
        The averages that are allowed, the default first. Empty if there is no choice.
    bounds : pair of float
    higher_is_better : bool
    symmetric : bool
        Whether predictions and references can be exchanged.
    order_invariant : bool
        Whether the order of labels in a list does not matter, with the default options.
    cutoff : bool
        Whether ``@k`` is allowed.
    needs_dictionary_size : bool
        Whether the value depends on the number of all labels, scored or not.
    kind : str
        The kind of data.
    needs : frozenset of str
        What the measure needs besides the two sides, such as "scores", "embedding" (of
        labels), "text_embedding" (of whole texts), "taxonomy", "document_frequencies",
        "java" and "word_vectors".
    interval : str
        The default method of confidence intervals. Macro averages use "jackknife-bias"
        instead, unless they skip labels that have no true items.
    formula : callable, optional
        Its positional parameters are counts, its keyword-only parameters are options.
    extra : mapping
        Traits of single measures. "percent": papers print the value times 100, though it
        may be above 1. "lower": the values of the option "part" for which lower is better.
        "ordered": the values of the option "match" for which the order of labels matters.
        "order": the longest n-grams. "open": a function that opens the data of a measure.
        "pairs": a function or class for the matrix of all images and captions. "show" and
        "matches": functions that show how an item or the items of a task are matched.
    oov : str
        The policy for labels without a vector, unless the user sets the option ``oov``.
    own_embedding : str
        The model that compares labels or texts if the user gives no embedding.
    aliases : mapping from name to measure
        Other names, such as ``{"MacroF1": "F1(average=macro)"}``.
    """

    name: str
    family: Family
    summary: str
    equation: str = ""
    source: str = ""
    cite: tuple[str, ...] = ()
    options: tuple[MeasureOption, ...] = ()
    averages: tuple[str, ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    symmetric: bool = False
    order_invariant: bool = True
    cutoff: bool = True
    needs_dictionary_size: bool = False
    kind: str = "labels"
    needs: frozenset[str] = frozenset()
    interval: str = "wilson"
    formula: Callable[..., Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    oov: str = USUAL_OOV
    own_embedding: str = USUAL_EMBEDDING
    aliases: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Definition({self.name!r}, kind={self.kind!r})"

    def printed_scale(self, scale: float) -> float:
        """Return the factor of printed values, if percentages are multiplied by ``scale``.

        Papers print percentages for values in [-1, 1], and for measures with "percent" in
        ``extra``.

        Examples
        --------
        >>> share, distance = Definition("F1", None, ""), Definition("WMD", None, "", bounds=(0, 9))
        >>> share.printed_scale(100), distance.printed_scale(100)
        (100, 1.0)
        """
        lower, upper = self.bounds
        is_share = abs(lower) <= 1 and abs(upper) <= 1
        if is_share or self.extra.get("percent"):
            return scale
        return 1.0

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the formula: counts and options."""
        if not self.formula:
            return ()
        return tuple(inspect.signature(self.formula).parameters)

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The counts that the formula takes."""
        options = self._option_names()
        return tuple(name for name in self.parameters if name not in options)

    def __call__(self, /, *, k: int | None = None, **chosen: OptionValue) -> Measure:
        """Return the measure with these options and this cutoff.

        Raises
        ------
        InputError
            If an option is unknown, not allowed, or does not apply to the chosen average.
        """
        self._check_names(chosen)
        options = self._complete(chosen)
        if k is None:
            return Measure(self, options)
        if not self.cutoff:
            raise InputError("measure-option", option="a cutoff @k", measure=self.name)
        if not is_cutoff(k):
            wanted = "a positive integer below 2**53"
            raise InputError("bad-option", name="k", value=k, wanted=wanted)
        return Measure(self, options, int(k))

    def _option_names(self) -> list[str]:
        return [option.name for option in self.options]

    def _check_names(self, chosen: Mapping[str, OptionValue]) -> None:
        """Raise an error if a chosen option is not an option of the definition."""
        names = self._option_names()
        for name, value in chosen.items():
            if name not in names:
                remedy = self._remedy_for_unknown_option(name, value)
                what = f"{self.name} option"
                raise InputError("unknown-name", what=what, value=name, remedy=remedy)

    def _remedy_for_unknown_option(self, name: str, value: OptionValue) -> str:
        """Return what to write instead of an unknown option."""
        names = self._option_names()
        if name == "beta" and self.name == "F1":
            return f"write FBeta(beta={value})"
        if name in SYNONYMS_OF_AVERAGE and "average" in names:
            return "did you mean average?"
        if not names:
            return "leave it out"
        return did_you_mean(name, names, f"the options are {listing(names, most=20)}")

    def _complete(
        self, chosen: Mapping[str, OptionValue]
    ) -> tuple[tuple[str, OptionValue], ...]:
        """Return the value of every option that applies, chosen or the default."""
        average = None
        if self.averages:
            average = str(chosen.get("average", self.averages[0]))
        values: list[tuple[str, OptionValue]] = []
        for option in self.options:
            if option.name in chosen:
                value = self._read_option(option, chosen[option.name], average)
                values.append((option.name, value))
            elif option.required:
                raise InputError(
                    "missing-option",
                    measure=self.name,
                    option=option.name,
                    help=option.help,
                )
            elif option.applies(average):
                values.append((option.name, option.default_for(average)))
        return tuple(values)

    def _read_option(
        self, option: MeasureOption, value: OptionValue, average: str | None
    ) -> OptionValue:
        """Return the value of a chosen option, converted and checked."""
        if not option.applies(average):
            what = f"{self.name} with average={average}"
            raise InputError("measure-option", option=option.name, measure=what)
        try:
            return option.read(value)
        except InputError as error:
            error.values["in_measure"] = True
            is_own = (self.kind, self.name) not in ROWS
            if is_own and option.name == "average" and value in ALL_AVERAGES:
                averages = tuple(map(str, (*self.averages, value)))
                hint = f" To allow it, define the measure with averages={averages}."
                error.values["hint"] = hint
            raise


@dataclass(frozen=True)
class Measure:
    """A definition with its options chosen, such as ``F1(average=macro)@3``.

    Attributes
    ----------
    definition : Definition
    options : tuple of (name, value)
        Every option that applies, including defaults.
    k : int or None
        The cutoff.
    asked : tuple of str
        The measure as the user wrote it, such as "macrof1". If a cutoff was added later,
        the text with the cutoff comes first. It is not compared.
    """

    definition: Definition
    options: tuple[tuple[str, OptionValue], ...] = ()
    k: int | None = None
    asked: tuple[str, ...] = field(default=(), compare=False)

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better, with these options."""
        parts_to_lower = self.definition.extra.get("lower", ())
        if self["part"] in parts_to_lower:
            return False
        return self.definition.higher_is_better

    @property
    def order_invariant(self) -> bool:
        """Whether the order of labels in a list does not matter, with these options."""
        ordered_matches = self.definition.extra.get("ordered", ())
        if self.k is not None or self["match"] in ordered_matches:
            return False
        return self.definition.order_invariant

    def __getitem__(self, name: str) -> OptionValue:
        """Return the value of an option, or None if it does not apply."""
        return dict(self.options).get(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the options."""
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        """Return the names of the options. ``dict(measure)`` has their values."""
        return tuple(name for name, _ in self.options)

    def __matmul__(self, k: int) -> Measure:
        """Return the measure with a cutoff: ``F1(average="macro") @ 3``."""
        return self.with_options(k=k)

    def with_options(self, *, k: int | None = None, **changed: OptionValue) -> Measure:
        """Return the measure with other values of some options, or another cutoff.

        If the average changes, options that do not apply to the new one are left out.
        """
        average = changed.get("average", self["average"])
        options = {}
        for option in self.definition.options:
            if option.name in self.keys() and option.applies(average):
                options[option.name] = self[option.name]
        options.update(changed)
        if k is None or k == self.k:
            measure = self.definition(k=self.k, **options)
            return replace(measure, asked=self.asked)
        measure = self.definition(k=k, **options)
        asked_with_cutoff = tuple(f"{text}@{k}" for text in self.asked)
        return replace(measure, asked=asked_with_cutoff + self.asked)

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __str__(self) -> str:
        return self.under(self.definition.name)

    def under(self, name: str, fixed: Container[str] = ()) -> str:
        """Write the measure with the name of its definition or of an alias.

        Parameters
        ----------
        name : str
        fixed : container of str
            The options that the alias fixes, which are not written.
        """
        values = dict(self.options)
        average = values.get("average")
        shown = []
        for option in self.definition.options:
            if option.name not in values or option.name in fixed:
                continue
            value = values[option.name]
            if option.required or value != option.default_for(average):
                shown.append(f"{option.name}={format_value(value)}")
        text = name
        if shown:
            text += f"({','.join(shown)})"
        if self.k is not None:
            text += f"@{self.k}"
        return text

    def signature(self) -> list[str]:
        """Return every option that has a value as ``short:value``, the cutoff last."""
        shorts = {option.name: option.short for option in self.definition.options}
        parts = []
        for name, value in self.options:
            if value is not None:
                parts.append(f"{shorts[name]}:{format_value(value)}")
        if self.k is not None:
            parts.append(f"k:{self.k}")
        return parts


# ---- models ---------------------------------------------------------------------------


def model_key(measure: Measure) -> str:
    """Return the key of a measure's embedding among the models of a task.

    The key is the name of the embedding. A measure has a different key if it has another
    policy for labels without a vector, or uses another model when no embedding is given.
    Such a key cannot be the name of an embedding.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> [model_key(measure) for measure in parse_all(["SoftF1", "SemF1", "WMD"])]
    ['default', '#default, own same', '#default, oov skip']
    >>> [model_key(measure) for measure in parse_all(["SemF1(embedding=bert)"])]
    ['bert']
    """
    own_embedding = measure.definition.own_embedding
    differences = []
    if measure["embedding"] == DEFAULT_EMBEDDING and own_embedding != USUAL_EMBEDDING:
        differences.append(f"own {own_embedding}")
    return _join_key(measure, differences)


def shared_model_key(measure: Measure) -> str:
    """Return the key that a measure's embedding has if all definitions share one model.

    States of earlier versions contain this key.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> [shared_model_key(measure) for measure in parse_all(["SoftF1", "SemF1", "WMD"])]
    ['default', 'default', '#default, oov skip']
    """
    return _join_key(measure, [])


def _join_key(measure: Measure, differences: Sequence[str]) -> str:
    """Return the name of a measure's embedding, followed by the differences of its model."""
    parts = [str(measure["embedding"]), *differences]
    if measure.definition.oov != USUAL_OOV:
        parts.append(f"oov {measure.definition.oov}")
    if len(parts) == 1:
        return parts[0]
    return f"#{', '.join(parts)}"
