"""Check the options that a function was given."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from semmetrics.arguments import check_choice, check_type
from semmetrics.errors import InputError
from semmetrics.messages import did_you_mean, nearest_names
from semmetrics.options.elsewhere import measure_option, option_elsewhere
from semmetrics.options.keywords import Options
from semmetrics.options.option import Option
from semmetrics.options.output import OUTPUT
from semmetrics.options.tables import OPTIONS, READING, TAKEN, reading_of


def flag(name: str, value: str = "") -> str:
    """Return an option as the command line has it.

    Examples
    --------
    >>> flag("measures"), flag("missing", "skip"), flag("ci", "True")
    ('--measure', '--missing skip', '--ci')
    >>> flag("label_delimiter", " ")
    "--label-delimiter ' '"
    """
    one = OPTIONS.get(name) or READING.get(name) or OUTPUT.get(name)
    named = one.flag if one else f"--{name.replace('_', '-')}"
    written = value if value[:1] in ("", "'", '"') else shlex.quote(value)
    if value in ("\n", "\t"):
        written = f"${value!r}"
    return f"{named} {written}".removesuffix(" True").rstrip()


def hint_of(name: str) -> Any:
    """Return the type of an option.

    Examples
    --------
    >>> hint_of("keep_at_least")
    <class 'int'>
    """
    hint = Options.__annotations__[name]
    return getattr(hint, "__origin__", hint)


def is_given(value: Any) -> bool:
    """Return whether a value asks for something: not None, False, 0, or an empty list or text.

    Examples
    --------
    >>> is_given(None), is_given(()), is_given("skip"), is_given({})
    (False, False, True, True)
    """
    plain = value is None or isinstance(value, (bool, int, tuple, list, str))
    return bool(value) if plain else True


def is_asked(name: str, value: Any) -> bool:
    """Return whether an option was given a value that asks for something, be it the number 0.

    Examples
    --------
    >>> is_asked("seed", 0), is_asked("keep_at_least", 0), is_asked("level", None)
    (True, False, False)
    """
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_given(value) or (number and value != OPTIONS[name].default)


def check_options(
    function: str, given: Mapping[str, Any], own: Iterable[str] = ()
) -> None:
    """Refuse options that a function does not take, and values that they cannot have.

    The function's own parameters are suggested where they are near.

    Raises
    ------
    InputError
        Names the nearest options, or the types that are allowed.

    Examples
    --------
    >>> check_options("score", {"topk": 3})
    Traceback (most recent call last):
    semmetrics.errors.InputError: score: there is no option 'topk'; did you mean top_k?
    >>> check_options("score", {"ignore": 5})
    Traceback (most recent call last):
    semmetrics.errors.InputError: ignore=5; give a text, a path or a list of texts
    """
    known = TAKEN.get(function, OPTIONS)
    for name, value in given.items():
        if value is None and name in OPTIONS:
            continue
        if name in known:
            one, hint = known[name], hint_of(name)
            check_type(name, value, hint)
            if one.choices and hint is not Any:
                check_choice(name, value, one.choices)
            if one.least is not None and value < one.least:
                wanted = f"a whole number from {one.least}"
                raise InputError("bad-option", name=name, value=value, wanted=wanted)
            continue
        _raise_unknown(function, name, own, known)


def _raise_unknown(
    function: str, name: str, own: Iterable[str], known: Mapping[str, Option]
) -> NoReturn:
    """Raise the error for an option that a function does not have."""
    parameters = [
        parameter for parameter in own if parameter not in ("self", "options")
    ]
    names = [*parameters, *known]
    remedy = ""
    if option_elsewhere(name) in known:
        remedy = f"did you mean {option_elsewhere(name)}?"
    elif "measure" in names or "measures" in names:
        remedy = measure_option(name)
    if name in OPTIONS:
        remedy = remedy or did_you_mean(name, parameters, "remove it", most=1)
        raise InputError("not-applicable", name=name, what=function, fix=remedy)
    if "read" in known:
        names += reading_of(function)
    raise InputError(
        "unknown-name",
        function,
        what="option",
        value=name,
        remedy=remedy or _nearest_options(function, name, names),
    )


_FEW_NAMES = 8  # so many options are listed in full


def _nearest_options(function: str, name: str, names: Sequence[str]) -> str:
    """Return the remedy for an unknown option: a likely name, or the nearest ones."""
    if len(names) <= _FEW_NAMES:
        every = sorted(names)
        return did_you_mean(name, names, f"choose one of {', '.join(every)}")
    near = nearest_names(name, names, most=5, cutoff=0.4)
    nearest = f"the nearest are {', '.join(near)}; " if near else ""
    return did_you_mean(
        name, names, f"{nearest}see help(semmetrics.{function}) for all"
    )
