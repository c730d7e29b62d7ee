"""Names of the decoding rules, which turn scores into label sets."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from semmetrics.errors import InputError


def decoding_rules(decode: Any, threshold: Any) -> list[str]:
    """List the rules of the option ``decode``, then one rule per score threshold.

    Parameters
    ----------
    decode : None, str, or iterable of str
    threshold : None, number, str, or iterable of numbers and str
        A string may have several thresholds, separated by commas.

    Returns
    -------
    list of str
        Without duplicates.

    Examples
    --------
    >>> decoding_rules("cumulative:0.5", [0.25, "best"]), decoding_rules(None, "0.3,0.5")
    (['cumulative:0.5', 'threshold:0.25', 'threshold:best'], ['threshold:0.3', 'threshold:0.5'])
    >>> decoding_rules("threshold:.50", "0.5,1")
    ['threshold:0.5', 'threshold:1.0']
    """
    rules = _list_rules(decode)
    for score_threshold in _list_thresholds(threshold):
        if isinstance(score_threshold, str):
            number = score_threshold.strip()
            if not _is_threshold(number):
                wanted = "numbers such as 0.5, or best"
                raise InputError(
                    "bad-option", name="threshold", value=number, wanted=wanted
                )
        else:
            number = repr(float(score_threshold))
        rules.append(f"threshold:{number}")
    clean_rules = [clean_rule(rule) for rule in rules]
    return list(dict.fromkeys(clean_rules))


def _list_rules(decode: Any) -> list[Any]:
    if decode is None:
        return []
    if isinstance(decode, str):
        return [decode]
    return list(decode)


def _list_thresholds(threshold: Any) -> Iterable[Any]:
    if threshold is None:
        return ()
    if isinstance(threshold, str):
        return threshold.split(",")
    if hasattr(threshold, "__iter__"):
        thresholds: Iterable[Any] = threshold
        return thresholds
    return (threshold,)


def _is_threshold(text: str) -> bool:
    """Return whether a string is a finite number or "best"."""
    if text == "best":
        return True
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def clean_rule(rule: Any) -> Any:
    """Return a decoding rule with its number in a canonical form.

    A value that is not a rule with a number is returned unchanged.

    Examples
    --------
    >>> clean_rule("threshold:.50"), clean_rule("threshold:best"), clean_rule("all")
    ('threshold:0.5', 'threshold:best', 'all')
    """
    if not isinstance(rule, str):
        return rule
    name, colon, number = rule.partition(":")
    if not colon:
        return rule
    return f"{name}:{clean_number(number)}"


def clean_number(text: str) -> str:
    """Return a number in a canonical form, and a string that is not a number unchanged."""
    try:
        number = float(text) + 0.0  # Turns -0.0 into 0.0
    except ValueError:
        return text
    return repr(number)
