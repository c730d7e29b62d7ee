"""Fill the fields of messages.

Fields
------
A message is a format string, as of ``str.format``, with these fields:

=========================== ====================================================================
``{name}``                  the value as text
``{name!r}``                the value as Python writes it, shortened
``{names:list}``            the first few names, quoted: 'a', 'b' and 3 more
``{names:unquoted}``        all names without quotes: a, b
``{names:or}``              all names without quotes: a, b or c
``{examples:such as}``      ", such as 'a', 'b'", or nothing if there are no examples
``{value:type}``            the type of the value with its article: an int
``{n:item}``                a count with its noun: 1 item, 2 items. A pair of counts: 2 to 5 items
``{noun:plural}``           the plural of a noun
``{text:sentence}``         text as a sentence, with a capital letter and a full stop
``{name:options}``          an option, or several separated by spaces, as the caller writes them
``{name:option names}``     the same without "=" at the end of Python keywords
``{name:or set}``           ", or set" that option, or nothing if the name is empty
``{opt:missing}``           the option ``missing``, as the caller writes it
``{opt:missing=skip}``      the option with its value: ``missing='skip'`` or ``--missing skip``
``{setting}``               the option ``name`` with its ``value``
``{suggestion}``            "Did you mean a or b? ", if ``choices`` are similar to ``value``
``{fix:else Remove it.}``   the value, or the text after "else" if the message has no such value
=========================== ====================================================================

Other format specifications are Python's own, such as ``{value:.4f}``.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from semmetrics.messages.counts import plural, pluralize
from semmetrics.messages.display import brief, join_by_or, listing, type_with_article
from semmetrics.messages.message import Message
from semmetrics.messages.suggestions import did_you_mean

Spelling = Callable[[str, str], str]
"""Writes an option, given its name and the text of its value ("" for none)."""

_ELSE = "else "
"""Starts the format specification of a field with a default."""


def keyword(name: str, value: str = "") -> str:
    """Return an option as Python code writes it.

    Examples
    --------
    >>> keyword("missing"), keyword("missing", "skip"), keyword("level", "0.9")
    ('missing=', "missing='skip'", 'level=0.9')
    """
    is_string = value and value not in ("True", "False", "None")
    if is_string and value[0] not in "0123456789[{('\"<.-":
        return f"{name}={value!r}"
    return f"{name}={value}"


def as_sentence(text: str) -> str:
    """Return text with a capital letter and a full stop.

    A first word that is code stays in lower case. Text of several lines ends with code, and
    gets no full stop.

    Examples
    --------
    >>> as_sentence("remove it"), as_sentence("did you mean F1?"), as_sentence("k=1 is enough")
    ('Remove it.', 'Did you mean F1?', 'k=1 is enough.')
    """
    first_word = text.partition(" ")[0]
    if first_word.rstrip(",:").isalpha():
        text = text[0].upper() + text[1:]
    if not text or "\n" in text or text.endswith((".", "?", "!")):
        return text
    return f"{text}."


def write(text: str, values: Mapping[str, Any], spell: Spelling | None = None) -> str:
    """Fill the fields of a text.

    Parameters
    ----------
    text : str
    values : mapping from str
    spell : callable, optional
        How options are written. Default: as Python keywords.

    Examples
    --------
    >>> write("{n:item} without {role}: {names:list}", {"n": 2, "role": "a score", "names": "ab"})
    "2 items without a score: 'a', 'b'"
    >>> write("Set {opt:missing=skip}.", {})
    "Set missing='skip'."
    """
    return _FieldFormatter(spell or keyword).vformat(text, (), values)


def write_remedy(
    message: Message, values: Mapping[str, Any], spell: Spelling | None = None
) -> str:
    """Return the remedy of a message as sentences, or an empty string.

    Examples
    --------
    >>> write_remedy(Message("the {role} is empty", "{remedy}"), {"remedy": "fill it in"})
    'Fill it in.'
    """
    return as_sentence(write(message.remedy, values, spell).strip())


def write_message(
    message: Message, values: Mapping[str, Any], spell: Spelling | None = None
) -> str:
    """Return the problem of a message and its remedy.

    Examples
    --------
    >>> write_message(Message("{role} is empty", "{remedy}"), {"role": "it", "remedy": "fill it in"})
    'it is empty. Fill it in.'
    >>> write_message(Message("{n:item} left out"), {"n": 2})
    '2 items left out'
    """
    problem = write(message.problem, values, spell)
    remedy = write_remedy(message, values, spell)
    if not remedy:
        return problem
    if problem.endswith((".", "?", "!")):
        return f"{problem} {remedy}"
    return f"{problem}. {remedy}"


class _AnyOption:
    """The value of the field ``{opt:NAME}`` or ``{opt:NAME=VALUE}``."""

    def __init__(self, spell: Spelling) -> None:
        self._spell = spell

    def __format__(self, spec: str) -> str:
        name, _, value = spec.partition("=")
        return self._spell(name, value)


class _Absent:
    """The value of a field that the message does not have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __format__(self, spec: str) -> str:
        if not spec.startswith(_ELSE):
            raise KeyError(self.name)
        return spec.removeprefix(_ELSE)


class _FieldFormatter(string.Formatter):
    """Writes the fields that the docstring of the module lists."""

    def __init__(self, spell: Spelling) -> None:
        self._spell = spell
        self._writers: dict[str, Callable[[Any], str]] = {
            "list": listing,
            "unquoted": _unquoted,
            "or": join_by_or,
            "such as": _such_as,
            "type": type_with_article,
            "plural": plural,
            "sentence": as_sentence,
            "options": self._options,
            "option names": self._option_names,
            "or set": self._or_set,
        }

    def get_value(
        self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> object:
        """Return the value of a field."""
        if key == "opt":
            return _AnyOption(self._spell)
        if key == "setting":
            return self._setting(kwargs)
        if key == "suggestion":
            return _suggestion(kwargs)
        return kwargs.get(str(key), _Absent(str(key)))

    def convert_field(self, value: object, conversion: str | None) -> object:
        """Write a value as Python does, if its field has the conversion ``!r``."""
        if conversion is None:
            return value
        if isinstance(value, _Absent):
            raise KeyError(value.name)
        return brief(value)

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value as its format specification says."""
        if isinstance(value, (_AnyOption, _Absent)):
            return format(value, format_spec)
        if format_spec.startswith(_ELSE):
            return str(value)
        writer = self._writers.get(format_spec)
        if writer is not None:
            return writer(value)
        if isinstance(value, tuple) and format_spec == ",":
            return _range_of_counts(value)
        if _is_noun(format_spec) and _is_count(value):
            return _count(value, format_spec)
        return format(value, format_spec)

    def _options(self, names: str) -> str:
        return ", ".join(self._spell(name, "") for name in names.split())

    def _option_names(self, names: str) -> str:
        spelled_names = map(self._spell_name, names.split())
        return ", ".join(spelled_names)

    def _spell_name(self, name: str) -> str:
        return self._spell(name, "").removesuffix("=")

    def _or_set(self, name: str) -> str:
        if not name:
            return ""
        return f", or set {self._spell(name, '')}"

    def _setting(self, values: Mapping[str, Any]) -> str:
        """Write an option with its value. Options of measures have no flags."""
        name = values["name"]
        value = brief(values["value"])
        if values.get("in_measure") or self._spell is keyword:
            return f"{name}={value}"
        return self._spell(name, value)


def _unquoted(names: Sequence[object]) -> str:
    return ", ".join(map(str, names))


def _such_as(examples: Sequence[object]) -> str:
    if not examples:
        return ""
    return f", such as {listing(examples)}"


def _suggestion(values: Mapping[str, Any]) -> str:
    question = did_you_mean(str(values["value"]), map(str, values["choices"]))
    if not question:
        return ""
    return f"{as_sentence(question)} "


def _is_noun(format_spec: str) -> bool:
    return len(format_spec) > 1 and format_spec[0].isalpha()


def _is_count(value: object) -> bool:
    """Return whether a value is a count, a pair of counts, or the digits of a count."""
    return not isinstance(value, str) or value.isdecimal()


def _range_of_counts(counts: tuple[int, int]) -> str:
    smallest, largest = counts
    return f"{smallest:,} to {largest:,}"


def _count(value: Any, noun: str) -> str:
    if isinstance(value, tuple):
        return f"{_range_of_counts(value)} {plural(noun)}"
    if isinstance(value, str):
        value = int(value)
    return pluralize(value, noun)
