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
    OPTIONS_OF_FUNCTION,
    READING,
    Option,
    check_options,
    hint_of,
    reading_of,
)

F = TypeVar("F", bound=Callable[..., Any])

_DOCSTRING_WIDTH = 88
_MODULE_NAME = re.compile(r"\b(?:\w+\.)+(?=\w)")
_UNSPECIFIED_PARAMETERS = re.compile(r"\[(?:(?:Any|\.\.\.)(?:, )?)+\]")
"""Brackets that contain only Any and "..."."""


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
    text = _MODULE_NAME.sub("", text)
    return _TypeText(_UNSPECIFIED_PARAMETERS.sub("", text))


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
    function has the option ``read``, the fields of `ReadOptions` are also keywords.

    Parameters
    ----------
    refused : iterable of str
        Options that are not shown, because the function raises an error for them.
    """
    hidden_names = frozenset(refused)

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        # For a method, this is the name of its class.
        function_name = function.__qualname__.partition(".")[0]

        @wraps(function)
        def with_options(*args: Any, **keywords: Any) -> Any:
            _combine_reading_options(function_name, keywords)
            options = {}
            for name, value in keywords.items():
                if name not in signature.parameters:
                    options[name] = value
            check_options(function_name, options, signature.parameters)
            return function(*args, **keywords)

        _document_options(
            with_options, signature, _shown_options(function_name, hidden_names)
        )
        return cast("F", with_options)

    return decorate


def _shown_options(function_name: str, hidden_names: Collection[str]) -> list[Option]:
    """Return the options that the documentation of a function shows."""
    options = dict(OPTIONS_OF_FUNCTION.get(function_name, OPTIONS))
    if "read" in options:
        options.update(reading_of(function_name))
    return [option for name, option in options.items() if name not in hidden_names]


def _document_options(
    wrapper: Any, signature: inspect.Signature, options: Iterable[Option]
) -> None:
    """Put options into the signature and the docstring of a function with ``**options``."""
    *parameters, options_parameter = signature.parameters.values()
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
    wrapper.__doc__ = docstring.replace(
        f"**{options_parameter.name}", "\n".join(lines), 1
    )


def _combine_reading_options(function_name: str, keywords: dict[str, Any]) -> None:
    """Replace reading options among the keywords by one `ReadOptions` under ``read``.

    Parameters
    ----------
    function_name : str
        The function that receives the keywords.
    keywords : dict
        Changed in place. Numbers of NumPy and torch and class names of Hugging Face also become
        plain values.

    Raises
    ------
    InputError
        If options contradict each other, or the function does not accept them.
    """
    for name, value in keywords.items():
        keywords[name] = _plain_value(value)
    fields = {}
    for name in READING:
        value = keywords.pop(name, None)
        if value is not None:
            fields[name] = value
    accepted = reading_of(function_name)
    for name in fields:
        if name not in accepted:
            what = f"{function_name}, which does not have two sides"
            raise InputError("not-applicable", name=name, what=what)
    if fields:
        if keywords.get("read") is not None:
            names = f"read= and {', '.join(f'{name}=' for name in fields)}"
            raise InputError("conflicting-options", names=names)
        keywords["read"] = make_read_options(fields)
    read = keywords.get("read")
    if not isinstance(read, (ReadOptions, type(None))):
        wanted = "semmetrics.ReadOptions(...)"
        raise InputError("bad-option", name="read", value=read, wanted=wanted)


def _plain_value(value: Any) -> Any:
    """Return a number of NumPy or torch, or a ClassLabel of Hugging Face, as a plain value."""
    if getattr(value, "shape", None) == ():
        return value.item()
    if hasattr(value, "int2str"):
        # A ClassLabel converts integers to class names.
        return value.names
    return value
