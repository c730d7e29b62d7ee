"""Build the commands of click from the tables of options.

A command is a function of a `Run`, registered by the decorator `command`. Its docstring is the
help, and its options follow from the tables of `semmetrics.options`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import click

from semmetrics.cli.help import Choice, Command, Group, help_options
from semmetrics.cli.names import completer
from semmetrics.cli.run import Run
from semmetrics.options import (
    COMMAND_OPTIONS,
    FORMATS,
    OPTIONS,
    OPTIONS_OF_FUNCTION,
    OUTPUT,
    READING,
    TITLES,
    Option,
    reading_of,
)

F = TypeVar("F", bound=Callable[..., Any])
RESULT = ("form", "output", "digits", "quiet")
"""The options of a command that writes a result."""
DRAWN = (*RESULT, "plot")
"""The options of a command that also draws figures."""
SCALED = (
    "signatures",
    "form",
    "output",
    "digits",
    "percent",
    "plot",
    "html",
    "images",
    "quiet",
)
"""The options of a command that writes values of measures."""
SCORES = (*SCALED, "systems")
"""The options of a command that writes scores of systems."""
FILE = click.Path(readable=False)
"""The type of paths. The readers of semmetrics check files, since their errors explain more."""


class Spec(NamedTuple):
    """The description of a command.

    Attributes
    ----------
    run : callable
        The function of the command. Its argument is a `Run`, and it may return an exit code. Its
        docstring is the help of the command, with examples.
    files : mapping of name to metavar
        The positional arguments, which are files unless they are in ``choices``. A metavar with
        "..." takes several values, and "?" at its end marks an optional argument.
    api_function : str
        The function whose options the command has in addition to its own: a key of `OPTIONS_OF_FUNCTION`, or a
        function that takes all options. By default the name of the command.
    reads : sequence of str
        The kinds of data in the files. Empty if the files have another format.
    output : sequence of str
        The options of `OUTPUT` that the command has.
    choices : mapping of argument to choices
        Arguments that are not files, with their allowed values, or with the topic of
        `names.known_names` whose names a shell completes.
    imports : bool
        Whether the command has the option ``--import`` although it does not have ``--measure``.
    """

    run: Callable[[Run], Any]
    files: Mapping[str, str]
    api_function: str = ""
    reads: Sequence[str] = ()
    output: Sequence[str] = ("quiet",)
    choices: Mapping[str, str | Sequence[str]] = MappingProxyType({})
    imports: bool = False


SPECS: dict[str, Spec] = {}
"""All loaded commands and groups by name. The name of a subcommand begins with the group's name."""


def command(name: str, files: Mapping[str, str], **settings: Any) -> Callable[[F], F]:
    """Register a function as a command. The other keywords are fields of `Spec`."""

    def register(function: F) -> F:
        SPECS[name] = Spec(function, files, **settings)
        return function

    return register


def options_of(name: str) -> dict[str, Option]:
    """Return the options of a command by name, in the order of ``--help``.

    An option of the command itself replaces an option of the same name in the other tables.
    """
    spec = SPECS[name]
    function = spec.api_function or name
    options = dict(COMMAND_OPTIONS.get(name, {}))
    for option_name, option in OPTIONS_OF_FUNCTION.get(function, {}).items():
        exists_on_command_line = bool(option.group)
        if exists_on_command_line:
            options.setdefault(option_name, option)
    for option_name in _reading_options_of(name, spec):
        options.setdefault(option_name, READING[option_name])
    for option_name, option in OUTPUT.items():
        if option_name in spec.output:
            options.setdefault(option_name, option)
    if spec.reads:
        options["format"] = _describe_formats(spec.reads)
    sorted_items = sorted(options.items(), key=lambda item: TITLES.index(item[1].group))
    return dict(sorted_items)


def _reading_options_of(name: str, spec: Spec) -> list[str]:
    """Return the names of the options that describe how the files of a command are read."""
    function = spec.api_function or name
    if not spec.reads:
        if "read" in OPTIONS_OF_FUNCTION.get(function, {}):
            return ["max_bytes"]
        return []
    reading = READING if name == "pairs" else reading_of(function)
    names = []
    for option_name in READING:
        if option_name not in reading:
            continue
        kinds = reading[option_name].kinds
        if not kinds or not set(kinds).isdisjoint(spec.reads):
            names.append(option_name)
    return names


def _describe_formats(kinds: Sequence[str]) -> Option:
    """Return the option ``--input-format`` with the formats of some kinds of data in its help."""
    formats = []
    for name, kinds_of_format in FORMATS.items():
        if not set(kinds).isdisjoint(kinds_of_format):
            formats.append(name)
    choices = f"{', '.join(formats[:-1])} or {formats[-1]}"
    help_text = f"{choices}. By default it is inferred from the file extension."
    return READING["format"]._replace(help=help_text)


def build(name: str) -> click.Command:
    """Build a command, or a group with its subcommands."""
    spec = SPECS[name]
    subcommands = {}
    for full_name in SPECS:
        if full_name.startswith(f"{name} "):
            subcommands[full_name.partition(" ")[2]] = build(full_name)
    if subcommands:
        return Group(name, subcommands, help=spec.run.__doc__, no_args_is_help=True)
    options = options_of(name)
    kinds = spec.reads if len(spec.reads) > 1 else ()
    return Command(
        name.rpartition(" ")[2],
        callback=partial(_run_command, spec, options),
        params=[*_parameters_of(name, options), *help_options(kinds)],
        help=spec.run.__doc__,
        no_args_is_help=not _may_run_without_arguments(spec),
        options=options,
        kinds=kinds,
        add_help_option=False,
    )


def _parameters_of(name: str, options: Mapping[str, Option]) -> list[click.Parameter]:
    """Return the arguments and options of a command, except ``-h`` and ``--help``."""
    spec = SPECS[name]
    parameters: list[click.Parameter] = []
    for argument in spec.files:
        parameters.append(_click_argument(spec, argument))
    own_options = COMMAND_OPTIONS.get(name, {})
    for option_name, option in options.items():
        is_keyword_of_score = option_name in OPTIONS and option_name not in own_options
        parameters.append(_click_option(option, has_default=not is_keyword_of_score))
    takes_measures = any(option.names == "measures" for option in options.values())
    if spec.imports or takes_measures:
        parameters.append(IMPORT)
    return parameters


def _run_command(spec: Spec, options: dict[str, Option], /, **given: Any) -> Any:
    """Run a command with the values of its arguments and options."""
    run = Run(spec.files, spec.choices, options, given)
    return spec.run(run)


def _may_run_without_arguments(spec: Spec) -> bool:
    """Return whether all arguments are written as optional, such as "[FOLDER]?"."""
    metavars = spec.files.values()
    return all(re.fullmatch(r"\[.*\]\?", metavar) for metavar in metavars)


def _click_argument(spec: Spec, name: str) -> click.Argument:
    """Return a positional argument for click."""
    metavar = spec.files[name]
    choices = spec.choices.get(name)
    settings: dict[str, Any] = {}
    if choices is None:
        settings["type"] = FILE
    elif isinstance(choices, str):
        settings["shell_complete"] = completer(choices)
    else:
        settings["type"] = Choice(choices)
    return click.Argument(
        [name],
        nargs=-1 if "..." in metavar else 1,
        metavar=metavar.rstrip("?"),
        required=not metavar.endswith("?"),
        **settings,
    )


def _click_option(option: Option, *, has_default: bool) -> click.Option:
    """Return an option for click.

    With ``has_default=False`` the value is None if the option is not set, so that the function
    that the command calls uses its own default.
    """
    help_text = option.help
    extensions = [ext for ext in option.output_extensions if ext not in ("", "-")]
    if extensions:
        help_text += f" Allowed extensions: {', '.join(extensions)}."
        if "-" in option.output_extensions:
            help_text += " - is standard output."
    help_text += option.default_text()
    settings: dict[str, Any] = {}
    if option.read is bool:
        settings["is_flag"] = True
    else:
        settings["type"] = _click_type(option)
        settings["multiple"] = option.repeat
        settings["nargs"] = option.values
        settings["metavar"] = option.metavar or None
        settings["required"] = option.required
        if has_default and option.default is not None:
            settings["default"] = option.default
    if option.names:
        settings["shell_complete"] = completer(option.names)
    flags = option.flags or (option.flag,)
    return click.Option([*flags, option.name], help=help_text, **settings)


def _click_type(option: Option) -> Any:
    """Return the type of an option's value for click."""
    if option.choices:
        return Choice(option.choices)
    if option.least is not None or option.most is not None:
        return click.IntRange(option.least, option.most)
    if option.file or option.output_extensions:
        return FILE
    return option.read


def _import_files(
    ctx: click.Context, option: click.Parameter, files: Sequence[str]
) -> None:
    """Run the files of ``--import``, except while a shell completes names."""
    if ctx.resilient_parsing or not files:
        return
    from semmetrics.cli.own_measures import import_measures

    for file in files:
        import_measures(file)


IMPORT = click.Option(
    ["--import"],
    type=FILE,
    metavar="FILE.py",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_import_files,
    help="Run a Python file that defines measures of your own with @semmetrics.measure. "
    "Can be repeated.",
)
"""The option ``--import``. It is eager, so that its files run before measures are parsed."""
