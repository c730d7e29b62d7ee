"""Check the options that a function was called with."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from semmetrics.arguments import check_choice, check_type
from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, nearest_names
from semmetrics.options.keywords import Options
from semmetrics.options.option import Option
from semmetrics.options.output import OUTPUT
from semmetrics.options.synonyms import (
    measure_option_hint,
    option_of_synonym,
    side_of_synonym,
)
from semmetrics.options.tables import OPTIONS, OPTIONS_OF_FUNCTION, READING, reading_of

_MAX_NAMES_TO_LIST = 8
"""An error lists all options of a function that has at most this many."""


def flag(name: str, value: str = "") -> str:
    """Return an option, and optionally its value, as written on the command line.

    Examples
    --------
    >>> flag("measures"), flag("missing", "skip"), flag("ci", "True")
    ('--measure', '--missing skip', '--ci')
    >>> flag("label_delimiter", " ")
    "--label-delimiter ' '"
    """
    option = OPTIONS.get(name) or READING.get(name) or OUTPUT.get(name)
    flag_name = f"--{name.replace('_', '-')}"
    if option is not None:
        flag_name = option.flag
    is_empty_or_quoted = not value or value[0] in ("'", '"')
    if value in ("\n", "\t"):
        shell_value = f"${value!r}"
    elif is_empty_or_quoted:
        shell_value = value
    else:
        shell_value = shlex.quote(value)
    return f"{flag_name} {shell_value}".removesuffix(" True").rstrip()


def hint_of(name: str) -> Any:
    """Return the type of an option of `semmetrics.score`.

    Examples
    --------
    >>> hint_of("keep_at_least")
    <class 'int'>
    """
    hint = Options.__annotations__[name]
    return getattr(hint, "__origin__", hint)


def is_on(value: Any) -> bool:
    """Return whether the value of an option turns it on.

    None, False, 0, and an empty list, tuple or string do not. All other values do.

    Examples
    --------
    >>> is_on(None), is_on(()), is_on("skip"), is_on({})
    (False, False, True, True)
    """
    if value is None:
        return False
    if isinstance(value, (bool, int, tuple, list, str)):
        return bool(value)
    return True


def is_set(name: str, value: Any) -> bool:
    """Return whether the value of an option turns it on or is a number other than its default.

    Unlike `is_on`, this includes the number 0 if it is not the default.

    Examples
    --------
    >>> is_set("seed", 0), is_set("keep_at_least", 0), is_set("level", None)
    (True, False, False)
    """
    if is_on(value):
        return True
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number:
        return False
    return bool(value != OPTIONS[name].default)


def check_options(
    function: str, options: Mapping[str, Any], parameters: Iterable[str] = ()
) -> None:
    """Check the names and the values of the options that a function was called with.

    Parameters
    ----------
    function : str
        A key of `OPTIONS_OF_FUNCTION`. A function that is not in that table takes all options.
    options : mapping of name to value
    parameters : iterable of str
        The other parameters of the function, which an error may suggest.

    Raises
    ------
    InputError
        If the function does not take an option, or a value is not allowed. The message suggests
        similar names, or names the allowed values.

    Examples
    --------
    >>> check_options("score", {"topk": 3})
    Traceback (most recent call last):
    semmetrics.errors.InputError: score: unknown option 'topk'. Did you mean top_k?
    >>> check_options("score", {"ignore": 5})
    Traceback (most recent call last):
    semmetrics.errors.InputError: ignore=5 is not valid. Expected a string, a path or a list of
    strings.
    """
    known_options = OPTIONS_OF_FUNCTION.get(function, OPTIONS)
    for name, value in options.items():
        if value is None and name in OPTIONS:
            continue
        if name not in known_options:
            _raise_unknown(function, name, parameters, known_options)
        _check_value(name, value, known_options[name])


def _check_value(name: str, value: Any, option: Option) -> None:
    """Raise an error if an option does not allow a value."""
    hint = hint_of(name)
    check_type(name, value, hint)
    if option.choices and hint is not Any:
        check_choice(name, value, option.choices)
    if option.least is not None and value < option.least:
        wanted = f"an integer of at least {option.least}"
        raise InputError("bad-option", name=name, value=value, wanted=wanted)


def _raise_unknown(
    function: str, name: str, parameters: Iterable[str], known: Mapping[str, Option]
) -> NoReturn:
    """Raise the error for an option that a function does not take."""
    parameters = [own for own in parameters if own not in ("self", "options")]
    names = [*parameters, *known]
    remedy = ""
    synonym = option_of_synonym(name)
    side = side_of_synonym(name)
    if side in parameters:
        remedy = f"did you mean {side}? Call {function}(preds, gts), predictions first"
    elif synonym in known:
        remedy = f"did you mean {synonym}?"
    elif "measure" in names or "measures" in names:
        remedy = measure_option_hint(name)
    if name in OPTIONS:
        if not remedy:
            remedy = did_you_mean(name, parameters, "remove it", most=1)
        raise InputError("not-applicable", name=name, what=function, fix=remedy)
    if "read" in known:
        names += reading_of(function)
    if not remedy:
        remedy = _suggest_options(function, name, names)
    raise InputError("unknown-name", function, what="option", value=name, remedy=remedy)


def _suggest_options(function: str, name: str, names: Sequence[str]) -> str:
    """Return the suggestion for an unknown option: a likely name, or the nearest names."""
    if len(names) <= _MAX_NAMES_TO_LIST:
        all_names = ", ".join(sorted(names))
        return did_you_mean(name, names, f"choose one of {all_names}")
    otherwise = f"help(semmetrics.{function}) lists all options"
    nearest = nearest_names(name, names, most=5, cutoff=0.4)
    if nearest:
        otherwise = f"the nearest are {', '.join(nearest)}. {otherwise}"
    return did_you_mean(name, names, otherwise)
