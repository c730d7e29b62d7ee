"""Give functions the options of a score as documented and checked keywords."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable
from functools import cache, wraps
from typing import Any, TypeVar, cast

from semmetrics.data.read_options import ReadOptions, make_read_options
from semmetrics.errors import InputError
from semmetrics.options import (
    OPTIONS,
    READING,
    TAKEN,
    Option,
    check_options,
    hint_of,
    reading_of,
)

F = TypeVar("F", bound=Callable[..., Any])

_DOCSTRING_WIDTH = 88
_HIDDEN_IN_TYPES = re.compile(
    r"\b(?:\w+\.)+(?=\w)|\[(?:(?:typing\.)?Any(?:, )?|\.\.\.(?:, )?)+\]"
)
"""Module names, and brackets that contain only Any and "..."."""


class _TypeText(str):
    """A type as signatures show it: its representation has no quotes."""

    __slots__ = ()
    __repr__ = str.__str__


@cache
def _show_type(hint: Any) -> _TypeText:
    """Return a type without modules and unspecified parameters.

    Examples
    --------
    >>> from collections.abc import Mapping, Sequence
    >>> _show_type(Mapping[Any, Any] | Sequence[int] | None), _show_type("str")
    (Mapping | Sequence[int] | None, str)
    """
    text = hint if isinstance(hint, str) else inspect.formatannotation(hint)
    return _TypeText(_HIDDEN_IN_TYPES.sub("", text))


@cache
def _describe(option: Option) -> tuple[inspect.Parameter, str]:
    """Return an option as a parameter of a signature and as an entry of a docstring."""
    hint = _show_type(hint_of(option.name))
    parameter = inspect.Parameter(
        option.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=option.default,
        annotation=hint,
    )
    text = textwrap.indent(textwrap.fill(option.text(), _DOCSTRING_WIDTH), "    ")
    return parameter, f"{option.name} : {hint}\n{text}"


def takes_options(refused: Iterable[str] = ()) -> Callable[[F], F]:
    """Decorate a function with ``**options`` so that it accepts the options of a score.

    The options appear in its signature and docstring, and any other keyword raises an error. If the
    function has the option ``read``, the fields of `ReadOptions` are keywords too.

    Parameters
    ----------
    refused : iterable of str
        Options that are not shown. The function itself raises an error for them.
    """
    hidden_names = frozenset(refused)

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        called = function.__qualname__.partition(".")[0]

        @wraps(function)
        def with_options(*args: Any, **given: Any) -> Any:
            _take_reading_options(called, given)
            options = {}
            for name, value in given.items():
                if name not in signature.parameters:
                    options[name] = value
            check_options(called, options, signature.parameters)
            return function(*args, **given)

        _document_options(with_options, signature, _shown_options(called, hidden_names))
        return cast("F", with_options)

    return decorate


def _shown_options(called: str, hidden_names: Collection[str]) -> list[Option]:
    """Return the options that the documentation of a function shows."""
    options = dict(TAKEN.get(called, OPTIONS))
    if "read" in options:
        options.update(reading_of(called))
    return [option for name, option in options.items() if name not in hidden_names]


def _document_options(
    wrapper: Any, signature: inspect.Signature, options: Iterable[Option]
) -> None:
    """Put options into the signature and the docstring of a function with ``**options``."""
    *parameters, keywords = signature.parameters.values()
    shown_parameters = []
    for parameter in parameters:
        hint = _show_type(parameter.annotation)
        shown_parameters.append(parameter.replace(annotation=hint))
    lines = []
    for option in options:
        parameter, text = _describe(option)
        shown_parameters.append(parameter)
        lines.append(text)
    wrapper.__signature__ = signature.replace(
        parameters=shown_parameters,
        return_annotation=_show_type(signature.return_annotation),
    )
    # Python 3.13 removes the indentation of docstrings, but older versions do not.
    docstring = inspect.cleandoc(wrapper.__doc__ or "")
    wrapper.__doc__ = docstring.replace(f"**{keywords.name}", "\n".join(lines), 1)


def _take_reading_options(called: str, given: dict[str, Any]) -> None:
    """Replace reading options among the keywords by one `ReadOptions` under ``read``.

    Parameters
    ----------
    called : str
        Name of the function that receives the keywords.
    given : dict
        The keywords. They are changed in place: numbers of NumPy and torch and class names of
        Hugging Face also become plain values.

    Raises
    ------
    InputError
        If options contradict each other, or the function does not accept them.
    """
    for name, value in given.items():
        given[name] = _plain_value(value)
    fields = {}
    for name in READING:
        value = given.pop(name, None)
        if value is not None:
            fields[name] = value
    accepted = reading_of(called)
    for name in fields:
        if name not in accepted:
            what = f"{called}, which has no two sides"
            raise InputError("not-applicable", name=name, what=what)
    if fields:
        if given.get("read") is not None:
            names = f"read= and {', '.join(f'{name}=' for name in fields)}"
            raise InputError("conflicting-options", names=names)
        given["read"] = make_read_options(fields)
    if not isinstance(given.get("read"), (ReadOptions, type(None))):
        wanted = "semmetrics.ReadOptions(...)"
        raise InputError("bad-option", name="read", value=given["read"], wanted=wanted)


def _plain_value(value: Any) -> Any:
    """Return a number of NumPy or torch, or a ClassLabel of Hugging Face, as a plain value."""
    if getattr(value, "shape", None) == ():
        return value.item()
    if hasattr(value, "int2str"):
        # A ClassLabel converts integers to class names.
        return value.names
    return value
