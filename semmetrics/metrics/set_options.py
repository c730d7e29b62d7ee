"""The options that measures of label sets share."""

from __future__ import annotations

from collections.abc import Container, Mapping

import numpy as np

from semmetrics.errors import InputError
from semmetrics.metrics.families import LABEL_AVERAGES, policy_option, restrict_policies
from semmetrics.metrics.measure_options import (
    MeasureOption,
    OptionValue,
    universe_option,
)
from semmetrics.options import DECODING, clean_rule

_RULES = (
    "all",
    "cardinality",
    "cardinality+scores",
    "cardinality+scores:code",
    "threshold:best",
)
_RULES_WITH_NUMBER = ("threshold", "at-least", "cumulative", "dirichlet")


def check_decode(rule: str) -> str:
    """Check the form of a decoding rule, and normalise its number.

    Examples
    --------
    >>> check_decode("threshold:.50"), check_decode("all")
    ('threshold:0.5', 'all')
    """
    if rule in _RULES:
        return rule
    if not _has_valid_number(rule):
        wanted = f"a decoding rule such as {', '.join(DECODING)}"
        raise InputError("bad-option", name="decode", value=rule, wanted=wanted)
    return str(clean_rule(rule))


def _has_valid_number(rule: str) -> bool:
    """Return whether a decoding rule is a name with a number that it allows."""
    name, _, text = rule.partition(":")
    if name not in _RULES_WITH_NUMBER:
        return False
    try:
        number = float(text)
    except ValueError:
        return False
    if name == "dirichlet" and number <= 0:
        return False
    return bool(np.isfinite(number))


_SHARED_OPTIONS = (
    universe_option(("macro", "micro", "weighted")),
    MeasureOption(
        "duplicates",
        "dup",
        "once",
        ("once", "each"),
        averages=("example",),
        help="whether a repeated label counts once or each time",
    ),
    policy_option(
        "empty",
        "empty",
        "1",
        "items where nothing is predicted and nothing is true",
        ("example", "micro"),
    ),
    policy_option(
        "absent", "absent", "skip", "labels that are on neither side", LABEL_AVERAGES
    ),
    policy_option("no_prediction", "nopred", "0", "0/0 when nothing is predicted"),
    policy_option("no_reference", "noref", "0", "0/0 when nothing is true"),
    policy_option("undefined", "undef", "nan", "any other 0/0"),
    MeasureOption(
        "decode",
        "decode",
        "all",
        help="the decoding rule that turns scores into sets",
        check=check_decode,
    ),
    MeasureOption(
        "keep_at_least",
        "min",
        0,
        kind=int,
        help="the minimum number of labels per item",
        within=(0, np.inf),
    ),
)


def set_options(
    averages: tuple[str, ...],
    *,
    without: tuple[str, ...] = (),
    defaults: Mapping[str, OptionValue] | None = None,
    policies: Container[str] | None = None,
) -> tuple[MeasureOption, ...]:
    """Return the options of a set measure that can be averaged in these ways.

    Parameters
    ----------
    averages : tuple of str
        The first is the default. Options that apply to none of them are left out.
    without : tuple of str
        Options to leave out.
    defaults : mapping from name to value, optional
        Other defaults.
    policies : container of str, optional
        The policies that a user can choose, because their 0/0 can occur. Default: all.
    """
    average = MeasureOption(
        "average", "avg", averages[0], averages, help="how the value is averaged"
    )
    selected = []
    for option in (average, *_SHARED_OPTIONS):
        if option.name in without:
            continue
        if option.averages is not None and not set(averages) & set(option.averages):
            continue
        if defaults is not None and option.name in defaults:
            option = option._replace(default=defaults[option.name])
        selected.append(option)
    if policies is None:
        return tuple(selected)
    return restrict_policies(selected, policies)
