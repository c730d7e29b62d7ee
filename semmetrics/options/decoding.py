"""The rules that turn scores into label sets, as options name them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def decoding_rules(decode: Any, threshold: Any) -> list[str]:
    """Return the rules of ``decode``, then one for each score threshold; each once.

    Examples
    --------
    >>> decoding_rules("cumulative:0.5", [0.25, "best"]), decoding_rules(None, "0.3,0.5")
    (['cumulative:0.5', 'threshold:0.25', 'threshold:best'], ['threshold:0.3', 'threshold:0.5'])
    >>> decoding_rules("threshold:.50", "0.5,1")
    ['threshold:0.5', 'threshold:1.0']
    """
    rules = (
        [decode] if isinstance(decode, str) else [] if decode is None else list(decode)
    )
    if isinstance(threshold, str):
        points: Iterable[Any] = threshold.split(",")
    else:
        listed = hasattr(threshold, "__iter__")
        points = () if threshold is None else threshold if listed else (threshold,)
    texts = [p.strip() if isinstance(p, str) else repr(float(p)) for p in points]
    rules += [f"threshold:{text}" for text in texts]
    return list(dict.fromkeys(map(clean_rule, rules)))


def clean_rule(rule: Any) -> Any:
    """Write the number of a decoding rule in one way; anything else stays for its reader.

    Examples
    --------
    >>> clean_rule("threshold:.50"), clean_rule("threshold:best"), clean_rule("all")
    ('threshold:0.5', 'threshold:best', 'all')
    """
    name, colon, text = rule.partition(":") if isinstance(rule, str) else ("", "", "")
    return f"{name}:{clean_number(text)}" if colon else rule


def clean_number(text: str) -> str:
    """Write a number in one way; what is none stays as it is."""
    try:
        return repr(float(text) + 0.0)  # -0 is 0
    except ValueError:
        return text
