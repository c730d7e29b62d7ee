"""The decorator that makes a measure of a formula on counts.

Examples
--------
A metric of one's own is a formula on counts of an item, a label or the whole:

>>> from semmetrics.metrics.families import divide
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
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Definition, Option, Value
from semmetrics.metrics.families import SetFamily, set_options
from semmetrics.metrics.registry import add

__all__ = ["measure"]

_COUNTS = ("hit", "n_pred", "n_ref", "total", "precision_sum")
_AVERAGES = ("example", "micro", "macro", "weighted")


def measure(
    *,
    kind: str = "labels",
    averages: tuple[str, ...] = ("example",),
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool = True,
    symmetric: bool = False,
    order_invariant: bool = True,
    source: str = "",
    equation: str = "",
    cite: tuple[str, ...] = (),
    name: str | None = None,
    defaults: Mapping[str, Value] | None = None,
    aliases: Mapping[str, str] | None = None,
) -> Callable[[Callable[..., Any]], Definition]:
    """Make a set metric of a formula on counts, and register it.

    The formula's positional parameters say which counts it takes, all arrays of one shape: ``hit``
    (predictions that match), ``n_pred``, ``n_ref``, and, but for ``average=example``, ``total``
    (items for a label; items times labels for micro); ``precision_sum`` (precision at each hit,
    summed) for ``average=example`` alone. It returns nan where it is undefined. Its keyword-only
    parameters become options of the measure.

    Parameters
    ----------
    kind : str
        What the measure evaluates.
    averages : tuple of {"example", "micro", "macro", "weighted"}
        The first is the default.
    bounds, higher_is_better, symmetric, order_invariant
        Traits; the property tests hold the metric to them.
    source, equation, cite
        Where it comes from.
    name : str, optional
        The function's name when left out.
    defaults : mapping, optional
        Other defaults for the shared options.
    aliases : mapping, optional
        Other names, and the measures that they stand for.

    Returns
    -------
    decorator
        Gives the Definition, which is called with options to choose them.
    """

    def decorate(formula: Callable[..., Any]) -> Definition:
        taken, own = _parameters(formula, averages)
        known = [option.name for option in set_options(averages)]
        wrong = [name for name in defaults or {} if name not in known]
        if wrong:
            raise InputError(
                f"defaults for {listing(wrong)}, which are no shared options",
                remedy=f"these are {listing(known, most=20)}",
            )
        shared = tuple(_with_default(o, defaults or {}) for o in set_options(averages))
        summary = (inspect.getdoc(formula) or "").split("\n")[0]
        return add(
            Definition(
                name=name or formula.__name__,
                kind=kind,
                family=SetFamily(),
                summary=summary,
                equation=equation,
                source=source,
                cite=cite,
                options=shared + own,
                averages=averages,
                bounds=bounds,
                higher_is_better=higher_is_better,
                symmetric=symmetric,
                order_invariant=order_invariant,
                formula=formula,
                arguments=taken,
                extra={"own": frozenset(option.name for option in own)},
            ),
            aliases,
        )

    return decorate


def _with_default(option: Option, defaults: Mapping[str, Value]) -> Option:
    return replace(option, default=defaults[option.name]) if option.name in defaults else option


def _parameters(
    formula: Callable[..., Any], averages: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[Option, ...]]:
    unknown = [average for average in averages if average not in _AVERAGES]
    if unknown or not averages:
        raise InputError(f"averages={averages}", remedy=f"choose among {', '.join(_AVERAGES)}")
    taken, own = [], []
    hints = get_type_hints(formula)
    for name, parameter in inspect.signature(formula).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            own.append(_own_option(name, parameter, hints.get(name, str)))
        elif name in _COUNTS and parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            taken.append(name)
        else:
            raise InputError(
                f"{formula.__name__} takes {name!r}, which is no count",
                remedy=f"the counts are {', '.join(_COUNTS)}; options are keyword-only",
            )
    for count, allowed in (("total", _AVERAGES[1:]), ("precision_sum", _AVERAGES[:1])):
        if count in taken and not set(averages) <= set(allowed):
            raise InputError(f"{count} is known only for averages {', '.join(allowed)}")
    return tuple(taken), tuple(own)


def _own_option(name: str, parameter: inspect.Parameter, hint: Any) -> Option:
    choices = get_args(hint) if get_origin(hint) is Literal else ()
    kind = type(choices[0]) if choices else hint
    if kind not in (str, int, float) or not all(type(choice) is kind for choice in choices):
        raise InputError(
            f"the option {name} is a {hint}", remedy="annotate it str, int, float or Literal[…]"
        )
    required = parameter.default is inspect.Parameter.empty
    default = None if required else parameter.default
    return Option(name, name, default, choices, kind, required=required, help=_help(name))


def _help(name: str) -> str:
    return _HELP.get(name, "an option of the formula")


_HELP = {
    "q": "the number of labels of the data set",
    "normalize": "divide by the hits (Kubany et al. 2020), or by the references",
}
