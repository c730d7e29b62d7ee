"""The decorator `measure`, which makes a set measure from a formula on counts.

Examples
--------
A measure is a formula on the counts of an item, of a label, or of the whole data:

>>> import numpy as np
>>> from semmetrics.metrics.formulas import divide
>>> @measure(averages=("example", "micro"), source="Szymkiewicz 1934", symmetric=True)
... def OverlapExample(hit, n_pred, n_ref):
...     "Shared labels over the size of the smaller set."
...     return divide(hit, np.minimum(n_pred, n_ref))
>>> str(OverlapExample(average="micro"))
'OverlapExample(average=micro)'
>>> from semmetrics.metrics.registry import forget
>>> forget(OverlapExample)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints, overload

from semmetrics.arguments import check_choice
from semmetrics.errors import InputError
from semmetrics.metrics.definition import Definition
from semmetrics.metrics.measure_options import ALL_AVERAGES, MeasureOption, OptionValue
from semmetrics.metrics.registry import define
from semmetrics.metrics.set_families import SetFamily
from semmetrics.metrics.set_options import set_options

_COUNTS = ("hit", "n_pred", "n_ref", "total", "precision_sum")
_OPTION_HELP = {
    "q": "the number of labels in the dataset",
    "beta": "the weight of recall relative to precision",
    "normalize": "whether to divide by the number of hits (Kubany et al. 2020) or of "
    "references",
}


@overload
def measure(formula: Callable[..., Any], /) -> Definition: ...


@overload
def measure(
    *,
    kind: str = ...,
    averages: str | tuple[str, ...] = ...,
    bounds: tuple[float, float] = ...,
    higher_is_better: bool = ...,
    symmetric: bool = ...,
    order_invariant: bool = ...,
    source: str = ...,
    equation: str = ...,
    cite: tuple[str, ...] = ...,
    name: str | None = ...,
    defaults: Mapping[str, OptionValue] | None = ...,
    policies: Container[str] | None = ...,
    aliases: Mapping[str, str] | None = ...,
) -> Callable[[Callable[..., Any]], Definition]: ...


def measure(
    formula: Callable[..., Any] | None = None,
    /,
    *,
    kind: str = "labels",
    averages: str | tuple[str, ...] = ("example",),
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    symmetric: bool = False,
    order_invariant: bool = True,
    source: str = "",
    equation: str = "",
    cite: tuple[str, ...] = (),
    name: str | None = None,
    defaults: Mapping[str, OptionValue] | None = None,
    policies: Container[str] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Definition | Callable[[Callable[..., Any]], Definition]:
    """Make a set measure from a formula on counts, and register it.

    The positional parameters of the formula are the counts that it takes, all arrays of
    one shape:

    - ``hit`` (predictions that match), ``n_pred`` and ``n_ref``
    - ``total``, except for ``average=example``: the items for a label, and items times
      labels for micro
    - ``precision_sum``, only for ``average=example``: the sum of the precisions at the
      hits

    The formula returns nan for undefined values. Its keyword-only parameters become
    options of the measure. The measure replaces an earlier one of your own with the same
    name.

    Parameters
    ----------
    formula : callable
        Set by ``@measure`` without parentheses.
    kind : {"labels"}
        The kind of data. Formulas on counts are only available for label sets.
    averages : one or a tuple of {"example", "micro", "macro", "weighted"}
        The first is the default.
    bounds, higher_is_better, symmetric, order_invariant
        Properties of the measure, as in `Definition`. The property tests check them.
    source, equation, cite
        Where the measure comes from, as in `Definition`.
    name : str, optional
        Default: the name of the function.
    defaults : mapping, optional
        Other defaults of the shared options.
    policies : tuple of str, optional
        The policies that users can choose, such as "empty". Name those for the cases in
        which the formula can be 0/0. Default: all.
    aliases : mapping, optional
        Other names, and the measures that they mean.

    Returns
    -------
    Definition, or the decorator that returns it
        Call the definition to choose options.

    Raises
    ------
    InputError
        If the kind is not "labels", a parameter of the formula is neither a count nor
        keyword-only, or the name belongs to another measure. Only the names of your own
        measures can be used again.

    Examples
    --------
    >>> from semmetrics.metrics.formulas import divide
    >>> from semmetrics.metrics.registry import forget
    >>> @measure
    ... def Hits(hit, n_ref):
    ...     return divide(hit, n_ref)
    >>> Hits()
    Measure('Hits')
    >>> forget(Hits)
    """
    if kind != "labels":
        raise InputError("measure-of-kind", value=kind)
    if isinstance(averages, str):
        averages = (averages,)

    def define_measure(formula: Callable[..., Any]) -> Definition:
        for average in averages:
            check_choice("averages", average, ALL_AVERAGES)
        own_options = _options_of(formula)
        shared_options = set_options(averages, defaults=defaults, policies=policies)
        shared_names = [option.name for option in shared_options]
        for option_name in defaults or {}:
            check_choice("defaults", option_name, shared_names)
        documentation = inspect.getdoc(formula) or ""
        summary, *_ = documentation.split("\n")
        return define(
            name=name or formula.__name__,
            family=SetFamily(),
            summary=summary,
            equation=equation,
            source=source,
            cite=cite,
            options=shared_options + own_options,
            averages=averages,
            bounds=bounds,
            higher_is_better=higher_is_better,
            symmetric=symmetric,
            order_invariant=order_invariant,
            kind=kind,
            formula=formula,
            aliases=aliases or {},
        )

    if formula is None:
        return define_measure
    return define_measure(formula)


def _options_of(formula: Callable[..., Any]) -> tuple[MeasureOption, ...]:
    """Return options for the keyword-only parameters of a formula.

    Raises
    ------
    InputError
        If another parameter is not a count, or an option has no usable annotation.
    """
    options = []
    hints = get_type_hints(formula)
    for name, parameter in inspect.signature(formula).parameters.items():
        if parameter.kind is parameter.KEYWORD_ONLY:
            options.append(_option_of(parameter, hints.get(name, str)))
        elif name not in _COUNTS:
            raise InputError(
                "wrong-formula",
                measure=formula.__name__,
                problem=f"takes {name!r}",
                remedy=f"use the counts {', '.join(_COUNTS)}. Options are keyword-only",
            )
    return tuple(options)


def _option_of(parameter: inspect.Parameter, hint: Any) -> MeasureOption:
    """Return the option for a keyword-only parameter with a type annotation."""
    name = parameter.name
    choices: tuple[Any, ...] = ()
    value_type = hint
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        value_type = type(choices[0])
    has_one_type = all(type(choice) is value_type for choice in choices)
    if value_type not in (str, int, float) or not has_one_type:
        wanted = "an annotation str, int, float or Literal[…]"
        raise InputError("bad-option", name=name, value=hint, wanted=wanted)
    is_required = parameter.default is parameter.empty
    default = parameter.default
    if is_required:
        default = None
    return MeasureOption(
        name=name,
        short=name,
        default=default,
        choices=choices,
        kind=value_type,
        help=_OPTION_HELP.get(name, "an option of the formula"),
        required=is_required,
    )
