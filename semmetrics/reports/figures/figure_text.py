"""Texts in figures: shortened names, and notes on what a figure leaves out."""

from __future__ import annotations

from semmetrics.messages import pluralize, visible

MINUS = " minus "
"""Between the names of two systems whose difference is shown."""
_MAX_LETTERS_OF_OPERAND = 24


def shorten(text: object, most: int = 32) -> str:
    """Return a name without its middle if it has more than ``most`` letters.

    Examples
    --------
    >>> shorten("a name that goes on and on", 12)
    'a name …d on'
    """
    name = visible(str(text))
    if len(name) <= most:
        return name
    n_last = most // 3
    n_first = most - n_last - 1  # 1 for the ellipsis
    return f"{name[:n_first]}…{name[-n_last:]}"


def shorten_difference(text: object, most: int) -> str:
    """Shorten a name, or both names of a difference such as "new minus old"."""
    operands = str(text).split(MINUS)
    if len(operands) == 1:
        return shorten(text, most)
    return MINUS.join(shorten(name, _MAX_LETTERS_OF_OPERAND) for name in operands)


def join_notes(*notes: str) -> str:
    """Join the notes that are not empty."""
    return "; ".join(filter(None, notes))


def hidden_note(most: int, number: int, noun: str, quality: str = "first") -> str:
    """Return a note if a figure shows only ``most`` of a number of things.

    Examples
    --------
    >>> hidden_note(30, 45, "system", "best")
    'the best 30 of 45 systems'
    """
    if most >= number:
        return ""
    shown = "" if most == 1 else f" {most:,}"
    return f"the {quality}{shown} of {pluralize(number, noun)}"


def undefined_note(number: int) -> str:
    """Return a note on undefined values, if there are any."""
    if not number:
        return ""
    return f"{pluralize(number, 'value')} undefined"
