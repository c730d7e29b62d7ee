"""Show names and values in messages: quoted, shortened, and without control characters."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterable

_MAX_SHOWN_CHARACTERS = 60

_SHORT_REPR = reprlib.Repr()
_SHORT_REPR.maxstring = _MAX_SHOWN_CHARACTERS
_SHORT_REPR.maxother = _MAX_SHOWN_CHARACTERS
_SHORT_REPR.maxlong = _MAX_SHOWN_CHARACTERS


def _escapes_of_control_characters() -> dict[int, str]:
    """Return the escape sequence of each character that may change how a terminal shows text."""
    escapes = {}
    for code in (*range(32), *range(127, 160)):
        escapes[code] = f"\\x{code:02x}"
    # Line separators and changes of the direction of writing.
    for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A)):
        escapes[code] = f"\\u{code:04x}"
    escapes[ord("\t")] = "\\t"
    escapes[ord("\n")] = "\\n"
    escapes[ord("\r")] = "\\r"
    return escapes


_ESCAPES = _escapes_of_control_characters()
_ESCAPES_WITHIN_LINES = _ESCAPES.copy()
del _ESCAPES_WITHIN_LINES[ord("\t")]
del _ESCAPES_WITHIN_LINES[ord("\n")]


def visible(name: str) -> str:
    r"""Return a name with control characters, line ends and bidirectional marks escaped.

    Examples
    --------
    >>> visible("a\nb\x1b[2J")
    'a\\nb\\x1b[2J'
    """
    if name.isprintable():
        return name
    return name.translate(_ESCAPES)


def printable(text: str) -> str:
    r"""Return text of one or more lines with control characters escaped. Tabs remain.

    Examples
    --------
    >>> printable("a\nb\x1b[2J")
    'a\nb\\x1b[2J'
    """
    return text.translate(_ESCAPES_WITHIN_LINES)


def listing(
    names: Iterable[object], *, most: int = 5, write: Callable[[object], str] = repr
) -> str:
    """Return the first few names, quoted, and the number of other names.

    Parameters
    ----------
    names : iterable
    most : int
        The largest number of names.
    write : callable
        Returns a name as it is shown.

    Examples
    --------
    >>> listing(["a", "b", "c"], most=2), listing("abc", most=2, write=str)
    ("'a', 'b' and 1 more", 'a, b and 1 more')
    """
    all_names = list(names)
    first_names = ", ".join(map(write, all_names[:most]))
    n_others = len(all_names) - most
    if n_others <= 0:
        return first_names
    return f"{first_names} and {n_others} more"


def join_by_or(names: Iterable[object]) -> str:
    """Return names separated by commas, with "or" before the last one.

    Examples
    --------
    >>> join_by_or(["a"]), join_by_or(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    *first_names, last_name = map(str, names)
    if not first_names:
        return last_name
    return f"{', '.join(first_names)} or {last_name}"


def brief(value: object) -> str:
    """Return the representation of a value, shortened if it is long or deep.

    Examples
    --------
    >>> brief([[1, 2, 3, 4, 5, 6, 7], "cat"])
    "[[1, 2, 3, 4, 5, 6, ...], 'cat']"
    """
    is_scalar = getattr(value, "shape", None) == ()
    if is_scalar and hasattr(value, "item"):
        value = value.item()  # a number of NumPy or torch
    try:
        # Arrays are written on several lines.
        return " ".join(_SHORT_REPR.repr(value).split())
    except (RecursionError, ValueError):
        # An object that contains itself, or an integer with too many digits.
        return f"<{type(value).__name__}>"


def shown(value: object) -> str:
    """Return the representation of a value. A long string is truncated."""
    if not isinstance(value, str):
        return brief(value)
    if len(value) <= _MAX_SHOWN_CHARACTERS:
        return repr(value)
    return f"{value[: _MAX_SHOWN_CHARACTERS - 3]!r}..."


def type_with_article(value: object) -> str:
    """Return the type of a value with its article.

    Examples
    --------
    >>> type_with_article(3), type_with_article(0.5)
    ('an int', 'a float')
    """
    if value is None:
        return "null"
    name = type(value).__name__
    article = "a"
    if name[0] in "aeioAEIO":
        article = "an"
    return f"{article} {name}"
