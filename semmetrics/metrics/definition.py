"""What a measure is: a definition, and a choice of its options.

Conventions
-----------
A definition holds the formula and what is known of it: options, bounds, traits, source. A measure
is a definition with every option chosen. ``str`` gives the name as papers write it and leaves out
defaults; the signature leaves out nothing. The value of an option is text, a whole number or a
number; what is written in a name or a signature is read back as the same value.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from semmetrics.core.ragged import Bools, Floats
from semmetrics.data.tasks import Block
from semmetrics.errors import InputError, UnknownKeyError
from semmetrics.messages import listing

Columns: TypeAlias = Mapping[str, Any]
"""Columns by name, of the classes of `core.columns` or of a statistic's own."""
Sums: TypeAlias = Mapping[str, Any]
"""Arrays of sums by name; of statistics that are not additive "rows", "weights" and "order"."""
Value: TypeAlias = "str | int | float | None"
LabelTable: TypeAlias = dict[str, NDArray[Any]]
"""Columns "label", "value" and counts of the labels that are averaged over."""
_EXACT = 2**53  # whole numbers below it are exact as float64
USUAL_OOV = "zero"
USUAL_EMBEDDING = "static"
DEFAULT_EMBEDDING = "default"
"""The name of the embedding of measures that name none."""
AUTO = "auto"
"""The label universe that is the class list, or without one the labels of both sides."""


class MeasureOption(NamedTuple):
    """An option of a definition.

    Attributes
    ----------
    name, short : str
        As it is written, and its key in a signature.
    default : value, or mapping from average to value
    choices : tuple of values
        All allowed values, where they can be listed.
    kind : type
        What a written value is read as: str, int or float.
    help : str
    averages : tuple of str, or None
        The averages for which it means something; None for all.
    required : bool
    within : pair of numbers
        The least and the largest that is allowed.
    check : callable, optional
        Raises InputError for a value of its kind that is not allowed; returns the one way in which
        an allowed one is written, or None if that is as it stands.
    """

    name: str
    short: str
    default: Value | Mapping[str, Value] = None
    choices: tuple[Value, ...] = ()
    kind: type = str
    help: str = ""
    averages: tuple[str, ...] | None = None
    required: bool = False
    within: tuple[float, float] = (-np.inf, np.inf)
    check: Callable[[Any], Any] | None = None

    def default_for(self, average: Value) -> Value:
        """Return the default under an average."""
        if isinstance(self.default, Mapping):
            return self.default[str(average or "")]
        return self.default

    def applies(self, average: Value) -> bool:
        """Return whether it means something under an average."""
        return self.averages is None or average in self.averages

    def read(self, text: Value) -> Value:
        """Convert a written value to the option's kind; refuse one that is not allowed."""
        if text is None and self.default is None and not self.required:
            return None
        value = text.item() if isinstance(text, np.generic) else text
        written_out = isinstance(value, str) and self.kind is not str
        if written_out or (is_whole(value) and abs(value) < _EXACT):  # type: ignore[arg-type]
            with suppress(ValueError):
                value = self.kind(value)
        fits = (
            isinstance(value, self.kind)
            and not isinstance(value, bool)
            and value == value
        )
        if not fits or (isinstance(value, int) and abs(value) >= _EXACT):
            wanted = {int: "a whole number below 2**53", float: "a number"}.get(
                self.kind, "text"
            )
            raise InputError("bad-option", name=self.name, value=text, wanted=wanted)
        if self.choices and value not in self.choices:
            raise InputError(
                "bad-choice", name=self.name, value=value, choices=self.choices
            )
        if isinstance(value, str) and not self.choices and not _can_be_written(value):
            wanted = "text that can stand in a measure's name: no blanks at its ends, commas only "
            wanted += "inside parentheses that close"
            raise InputError("bad-option", name=self.name, value=value, wanted=wanted)
        least, most = self.within
        if isinstance(value, int | float) and not least <= value <= most:
            bounded = self.kind is float or most < np.inf
            wanted = (
                f"a number in [{least}, {most}]"
                if bounded
                else f"a whole number from {least}"
            )
            raise InputError("bad-option", name=self.name, value=value, wanted=wanted)
        cleaned: Value = None if self.check is None else self.check(value)
        return value if cleaned is None else cleaned


def one_of(name: str, choices: str, text: str, *, short: str = "") -> MeasureOption:
    """Return an option of some choices, with blanks between; the first is the default."""
    words = tuple(choices.split())
    return MeasureOption(name, short or name, words[0], words, help=text)


def universe_option(averages: tuple[str, ...] | None = None) -> MeasureOption:
    """Return the option that says which labels count."""
    text = "the labels that count: the class list, or without one those of both sides (auto); "
    text += "of the ground truth; of both sides; the class list"
    return one_of("labels", f"{AUTO} reference union given", text)._replace(
        averages=averages
    )


def is_whole(value: object) -> bool:
    """Return whether it is a whole number, of Python or numpy; a bool is not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_cutoff(k: object) -> bool:
    """Return whether it is a number of predictions: from 1, and below 2**53."""
    return is_whole(k) and 1 <= int(k) < _EXACT  # type: ignore[call-overload]


def _can_be_written(text: str) -> bool:
    """Return whether a value can be read back from inside an option list."""
    depth = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if depth < 0 or (letter == "," and not depth):
            return False
    return bool(text) and text == text.strip() and not depth


def written(value: Value) -> str:
    """Write a value as it stands in a name or a signature.

    Examples
    --------
    >>> written(0.5), written("greedy")
    ('0.5', 'greedy')
    """
    return repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True, repr=False)
class Statistic:
    """A step that gives columns, one row an item, by itself none; each kind is a frozen dataclass.

    Attributes
    ----------
    additive : bool
        Whether the measure is a function of the columns' sums; otherwise it needs the rows.
    labels : frozenset of str
        The columns whose sums have the label axis last.
    """

    additive: ClassVar[bool] = True
    labels: ClassVar[frozenset[str]] = frozenset()

    def compute(self, block: Block[Any]) -> dict[str, Any]:
        """Compute the columns, by name."""
        return {}


@dataclass(frozen=True, eq=False)
class Frame:
    """The label axis: what an aggregate knows besides the sums.

    Attributes
    ----------
    labels : tuple of str
    in_reference, in_union : bool arrays, shape (labels,)
        Labels in the ground truth of the items; in it or in the predictions of any system compared,
        or a column of a matrix of either.
    given : int or None
        The first so many labels were given as the class list.
    named : mapping from name to set of labels
        Label universes that have a name of their own.
    has_columns : bool
        Whether a side is a matrix or 0/1 mappings, whose columns or keys are all in ``in_union``.
    """

    labels: tuple[str, ...]
    in_reference: Bools
    in_union: Bools
    given: int | None
    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    has_columns: bool = False

    @property
    def dictionary(self) -> int:
        """The number of labels to rank: those given, or all that the input names."""
        return len(self.labels) if self.given is None else self.given

    def universe_name(self, measure: Measure) -> str:
        """Name the labels that count in a measure: "reference", "union" or "given"."""
        name = measure["labels"] or (AUTO if measure.definition.dictionary else "union")
        return str(name) if name != AUTO else "union" if self.given is None else "given"

    def universe(self, measure: Measure) -> Bools:
        """Select the labels that count in a measure; the others count nowhere."""
        return self.members(self.universe_name(measure))

    def members(self, name: str) -> Bools:
        """Select the labels of a universe by its name."""
        if name in self.named:
            return np.fromiter(
                map(self.named[name].__contains__, self.labels), np.bool_
            )
        if name == "reference":
            return self.in_reference
        if name == "union":
            return self.in_union
        if name != "given":
            raise UnknownKeyError(
                "unknown-name", what="list of labels", value=name, remedy=""
            )
        if self.given is None and self.has_columns:
            return self.in_union
        if self.given is None:
            raise InputError("needs-option", what="labels=given", name="classes")
        return np.arange(len(self.labels)) < self.given


class Family(Protocol):
    """A way from the data of items to the value of a measure."""

    def statistic(self, measure: Measure) -> Statistic:
        """Choose the step that gives the columns that the measure needs."""

    def aggregate(self, measure: Measure, sums: Sums, frame: Frame) -> Floats:
        """Compute the value; axes in front of the sums are kept."""

    def undefined(self, measure: Measure, sums: Sums, frame: Frame) -> dict[str, int]:
        """Count the items or labels without a value, by cause."""
        return {}

    def items(self, measure: Measure, rows: Columns, frame: Frame) -> Floats | None:
        """Return the value of each item, nan where undefined; None where an item alone has none."""
        return None

    def per_label(
        self, measure: Measure, sums: Sums, frame: Frame
    ) -> LabelTable | None:
        """Return a column of each count and the value of each label; None without labels."""
        return None


@dataclass(frozen=True, eq=False)
class Definition:
    """A metric: its formula and what is known of it. Calling it with options gives a measure.

    Attributes
    ----------
    name : str
    summary, equation : str
        One sentence; the formula in plain text.
    source : str
        Paper and equation.
    cite : tuple of str
        Keys of BibTeX entries.
    options : tuple of MeasureOption
    averages : tuple of str
        Allowed averages, the default first; empty where there is no such choice.
    bounds : pair of float
    higher_is_better, symmetric, order_invariant : bool
        Symmetric: predictions and references can be exchanged (for the averages given by
        ``symmetric``). Order-invariant: the order of labels in a list does not matter, with the
        default options.
    cutoff : bool
        Whether ``@k`` is allowed.
    dictionary : bool
        Whether the value depends on the number of labels there are, scored or not.
    kind : str
        What it evaluates; a definition is known by its kind and its name.
    interval : str
        The method of its confidence intervals where none is named. Macro averages have
        "jackknife-bias" instead, unless labels without true items are skipped.
    formula : callable, optional
        Its positional parameters are counts, its keyword-only ones options.
    extra : mapping
        What its family has to know; "percent": papers print it times 100, though it may be above 1;
        "lower": values of the option "part" of which lower ones are better; "ordered": values of
        the option "match" under which the order of labels matters.
    needs : frozenset of str
        What it needs beyond the two sides: "scores", "embedding" (of labels), "text_embedding" (of
        whole texts), "taxonomy", "document_frequencies", "java", "word_vectors" and the like.
    oov : str
        What it makes of labels without a vector, unless the option ``oov`` is set.
    own_embedding : str
        The model that compares labels or texts if the user gives no embedding.
    aliases : mapping
        Other names, and the measures that they stand for: ``{"MacroF1": "F1(average=macro)"}``.
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
    dictionary: bool = False
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
        """Return what printed values are multiplied by, where percentages are by ``scale``.

        Papers print values in [-1, 1] in percent, and those of measures that say so.

        Examples
        --------
        >>> share, distance = Definition("F1", None, ""), Definition("WMD", None, "", bounds=(0, 9))
        >>> share.printed_scale(100), distance.printed_scale(100)
        (100, 1.0)
        """
        in_percent = max(map(abs, self.bounds)) <= 1 or self.extra.get("percent")
        return scale if in_percent else 1.0

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The names of what the formula takes: counts and options."""
        return tuple(inspect.signature(self.formula).parameters) if self.formula else ()

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """The counts that the formula takes."""
        options = [option.name for option in self.options]
        return tuple(name for name in self.parameters if name not in options)

    def __call__(self, /, *, k: int | None = None, **chosen: Value) -> Measure:
        """Choose options, and return the measure.

        Raises
        ------
        InputError
            If an option is unknown, not allowed, or means nothing under the chosen average.
        """
        known = [option.name for option in self.options]
        for name in chosen:
            if name not in known:
                remedy = (
                    f"its options are {listing(known, most=20)}"
                    if known
                    else "leave it out"
                )
                what = f"option of {self.name}"
                raise InputError("unknown-name", what=what, value=name, remedy=remedy)
        average = (
            str(chosen.get("average", self.averages[0])) if self.averages else None
        )
        options: list[tuple[str, Value]] = []
        for option in self.options:
            if option.name in chosen:
                value = self._read_option(option, chosen[option.name], average)
                options.append((option.name, value))
            elif option.required:
                raise InputError(
                    "missing-option",
                    measure=self.name,
                    option=option.name,
                    help=option.help,
                )
            elif option.applies(average):
                options.append((option.name, option.default_for(average)))
        if k is not None and not self.cutoff:
            raise InputError("measure-option", option="a cutoff @k", measure=self.name)
        if k is not None and not is_cutoff(k):
            wanted = "a whole number from 1, below 2**53"
            raise InputError("bad-option", name="k", value=k, wanted=wanted)
        return Measure(self, tuple(options), None if k is None else int(k))

    def _read_option(
        self, option: MeasureOption, value: Value, average: str | None
    ) -> Value:
        """Return the value of an option that was chosen."""
        if not option.applies(average):
            what = f"{self.name} with average={average}"
            raise InputError("measure-option", option=option.name, measure=what)
        try:
            return option.read(value)
        except InputError as error:
            error.values["in_measure"] = True
            raise


@dataclass(frozen=True)
class Measure:
    """A definition with its options chosen, such as ``F1(average=macro)@3``.

    Attributes
    ----------
    definition : Definition
    options : tuple of pairs
        Every option that means something here, defaults included.
    k : int or None
        The cutoff.
    asked : tuple of str
        What a user who named it wrote, as "macrof1", and before it the same with a cutoff that was
        added; no part of what it is.
    """

    definition: Definition
    options: tuple[tuple[str, Value], ...] = ()
    k: int | None = None
    asked: tuple[str, ...] = field(default=(), compare=False)

    @property
    def higher_is_better(self) -> bool:
        """Whether it is so of the definition, and of the part that is asked for."""
        extra = self.definition.extra
        return self.definition.higher_is_better and self["part"] not in extra.get(
            "lower", ()
        )

    @property
    def order_invariant(self) -> bool:
        """Whether the order of labels in a list does not matter."""
        if self.k is not None or self["match"] in self.definition.extra.get(
            "ordered", ()
        ):
            return False
        return self.definition.order_invariant

    def __getitem__(self, name: str) -> Value:
        """Return the value of an option; None where it means nothing here."""
        return dict(self.options).get(name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the options."""
        return iter(self.keys())

    def keys(self) -> tuple[str, ...]:
        """Return the names of the options, by which ``dict(measure)`` has their values."""
        return tuple(name for name, _ in self.options)

    def __matmul__(self, k: int) -> Measure:
        """Add a cutoff: ``F1(average="macro") @ 3``."""
        return self.with_options(k=k)

    def with_options(self, *, k: int | None = None, **changed: Value) -> Measure:
        """Change some options, or the cutoff, and return the measure."""
        average = changed.get("average", self["average"])
        kept = {
            option.name: self[option.name]
            for option in self.definition.options
            if option.name in self and option.applies(average)
        }
        made = self.definition(k=self.k if k is None else k, **{**kept, **changed})
        added = (
            () if k in (None, self.k) else tuple(f"{name}@{k}" for name in self.asked)
        )
        return replace(made, asked=(*added, *self.asked))

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __str__(self) -> str:
        return self.under(self.definition.name)

    def under(self, name: str, fixed: Container[str] = ()) -> str:
        """Write it by the name of an alias, without the options that the alias fixes."""
        chosen = dict(self.options)
        average = chosen.get("average")
        shown = [
            f"{option.name}={written(chosen[option.name])}"
            for option in self.definition.options
            if option.name in chosen
            and option.name not in fixed
            and (option.required or chosen[option.name] != option.default_for(average))
        ]
        inside = f"({','.join(shown)})" if shown else ""
        return f"{name}{inside}" + ("" if self.k is None else f"@{self.k}")

    def signature(self) -> list[str]:
        """Write every option that has a value as ``short:value``, the cutoff last."""
        shorts = {option.name: option.short for option in self.definition.options}
        parts = []
        for name, value in self.options:
            if value is not None:
                parts.append(f"{shorts[name]}:{written(value)}")
        return parts if self.k is None else [*parts, f"k:{self.k}"]


def model_key(measure: Measure) -> str:
    """Return the key of a measure's embedding among the models of a task.

    It is the name of the embedding. A measure with another policy for labels without a vector, or
    with another model if no embedding is given, has a key that no embedding can have.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> [model_key(measure) for measure in parse_all(["SoftF1", "SemF1", "WMD"])]
    ['default', '#default, own same', '#default, oov skip']
    >>> [model_key(measure) for measure in parse_all(["SemF1(embedding=bert)"])]
    ['bert']
    """
    definition = measure.definition
    own_models = []
    if (
        measure["embedding"] == DEFAULT_EMBEDDING
        and definition.own_embedding != USUAL_EMBEDDING
    ):
        own_models.append(f"own {definition.own_embedding}")
    return _join_key(measure, own_models)


def shared_model_key(measure: Measure) -> str:
    """Return the key that a measure's embedding has if all definitions have one default model.

    Earlier versions stored it.

    Examples
    --------
    >>> from semmetrics.metrics.parsing import parse_all
    >>> [shared_model_key(measure) for measure in parse_all(["SoftF1", "SemF1", "WMD"])]
    ['default', 'default', '#default, oov skip']
    """
    return _join_key(measure, [])


def _join_key(measure: Measure, differences: Sequence[str]) -> str:
    """Return the name of a measure's embedding with what makes its model another."""
    parts = [str(measure["embedding"]), *differences]
    if measure.definition.oov != USUAL_OOV:
        parts.append(f"oov {measure.definition.oov}")
    if len(parts) == 1:
        return parts[0]
    return f"#{', '.join(parts)}"
