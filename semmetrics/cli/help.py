"""The click classes of semmetrics: help in two lengths, examples, and hints in errors.

``-h`` shows the most used options of a command, ``--help`` all of them, and ``--help KIND`` the
options that apply to a kind of data.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from semmetrics.messages import as_sentence, did_you_mean, listing
from semmetrics.options import (
    KINDS,
    OTHER,
    RESULT_FORMATS,
    Option,
    flag,
    format_hint,
)
from semmetrics.options.synonyms import measure_option_hint, option_of_synonym

EXIT_CODES = (
    "Exit codes: 0 success, 2 wrong input or option, with a message that says "
    "where and how to fix it, 1 internal error, 130 interrupted by Ctrl-C, 141 "
    "the output was closed."
)
_SHOWN_KIND = "semmetrics.help"
"""The key of ``Context.meta`` for the kind whose options ``--help`` shows, or "all"."""
_ALL_KINDS = "all"
"""The value of ``--help`` without a kind."""
_MAX_OPTIONS_IN_BRIEF_HELP = 15
"""``-h`` shows all options of a command that has at most this many."""
_MAX_EXAMPLES_IN_BRIEF_HELP = 4
_MAX_PARAGRAPHS_IN_BRIEF_HELP = 2
_FIRST_CLAUSE = re.compile(
    r"""
    ^(
        (?:
            \([^)]*\)      # parentheses may contain any mark
            | [^(.:;]
            | [.:;](?=\S)  # a mark inside a word, such as 0.5
        ){15,}             # a shorter clause explains too little
    )
    .*
    """,
    re.VERBOSE | re.DOTALL,
)
"""A help text. The group is its first clause, which ends before a period, colon or semicolon."""
_UNGROUPED = Option("", OTHER)


class Formatter(click.HelpFormatter):
    """Writes headings in bold and flags in colour. click removes both without a terminal."""

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        super().write_heading(click.style(heading, bold=True))

    def write_dl(self, rows: Any, *args: Any, **kwargs: Any) -> None:
        """Write flags or commands with their descriptions."""
        coloured_rows = []
        for term, description in rows:
            coloured_rows.append((click.style(term, fg="cyan"), description))
        super().write_dl(coloured_rows, *args, **kwargs)


class Context(click.Context):
    """A context that formats help by `Formatter`."""

    formatter_class = Formatter


class Examples(click.Command):
    """A command whose help contains the examples of its docstring.

    Parameters
    ----------
    help : str, optional
        A docstring with a section "Examples" at its end.
    options : mapping of name to Option
        The descriptions of the options that the command takes.
    kinds : sequence of str
        The kinds of data that ``--help`` can select, if there are several.
    """

    context_class = Context

    def __init__(
        self,
        *args: Any,
        help: str | None = None,
        options: Mapping[str, Option] = MappingProxyType({}),
        kinds: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        docstring = inspect.cleandoc(help or "")
        text, _, examples = docstring.partition("\n\nExamples\n--------\n")
        kwargs["help"] = text
        kwargs.setdefault("epilog", EXIT_CODES)
        super().__init__(*args, **kwargs)
        self.options = options
        self.kinds = kinds
        self.examples = re.sub(r" \\\n +", " ", examples).split("\n")

    def format_help_text(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the description, then the examples verbatim."""
        super().format_help_text(ctx, formatter)
        with formatter.section("Examples"):
            indent = " " * formatter.current_indent
            for example in self.examples:
                formatter.write(f"{indent}{example}\n")


class Command(Examples):
    """A command with options."""

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the complete help for ``--help``, and otherwise a shorter one."""
        if _SHOWN_KIND not in ctx.meta and self.options:
            self._shorten_help(ctx)
        super().format_help(ctx, formatter)

    def _shorten_help(self, ctx: click.Context) -> None:
        """Keep the first paragraphs and examples, and name the command for the complete help."""
        paragraphs = (self.help or "").split("\n\n")
        self.help = "\n\n".join(paragraphs[:_MAX_PARAGRAPHS_IN_BRIEF_HELP])
        self.examples = self.examples[:_MAX_EXAMPLES_IN_BRIEF_HELP]
        self.epilog = f"All options: {ctx.command_path} --help"
        if self.kinds:
            self.epilog += f" [{'|'.join(self.kinds)}]"

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. Errors for unknown options suggest what to write instead."""
        try:
            _, _, parsed = self.make_parser(ctx).parse_args(list(args))
            repeated = _find_repeated_option(parsed)
            if repeated is not None:
                message = f"{repeated.opts[0]} is given twice, but takes one value."
                raise click.UsageError(message, ctx)
            return super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            if error.option_name != "--ci":
                raise
            hint = "Set the level separately, such as --ci --level 0.9."
            raise click.UsageError(f"{error.message} {hint}", ctx) from None
        except click.NoSuchOption as error:
            name = error.option_name
            hint = as_sentence(self._hint_for(name, ctx))
            message = f"unknown option {name!r}. {hint}"
            raise click.UsageError(message, ctx) from None

    def _hint_for(self, name: str, ctx: click.Context) -> str:
        """Return what to write in place of an unknown option."""
        flags = []
        for parameter in self.get_params(ctx):
            flags += [opt for opt in parameter.opts if opt.startswith("--")]
        keyword = name.lstrip("-").replace("-", "_")
        flag_of_synonym = flag(option_of_synonym(keyword) or keyword)
        if flag_of_synonym in flags:
            return f"did you mean {flag_of_synonym}?"
        if "--measure" in flags:
            measure_hint = measure_option_hint(keyword)
            if measure_hint:
                return measure_hint
        owners = _commands_with(name, ctx)
        if owners:
            return f"it is an option of {listing(owners, most=4)}"
        otherwise = f"`{ctx.command_path} --help` lists all options"
        return did_you_mean(name, flags, otherwise)

    def format_options(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Write the options by heading, or only the most used ones for ``-h``."""
        kind = ctx.meta.get(_SHOWN_KIND)
        if kind is None:
            records_by_heading = self._list_common_options(ctx)
        else:
            records_by_heading = self._list_options(ctx, kind)
        headings = list(records_by_heading)
        if OTHER in headings:
            headings.remove(OTHER)
            headings.append(OTHER)
        for heading in headings:
            with formatter.section(heading):
                formatter.write_dl(records_by_heading[heading], col_max=30)

    def _list_common_options(
        self, ctx: click.Context
    ) -> dict[str, list[tuple[str, str]]]:
        """Return the most used options, each with the first clause of its help."""
        show_all = len(self.options) <= _MAX_OPTIONS_IN_BRIEF_HELP
        records = []
        for option, (term, description) in self._list_records(ctx):
            if option.common or show_all:
                records.append((term, _FIRST_CLAUSE.sub(r"\1.", description)))
        if not records:
            return {}
        return {"Options": records}

    def _list_options(
        self, ctx: click.Context, kind: str
    ) -> dict[str, list[tuple[str, str]]]:
        """Return the options that apply to a kind, or all options, by heading."""
        records_by_heading: dict[str, list[tuple[str, str]]] = {}
        for option, record in self._list_records(ctx):
            kinds_of_option = option.kinds or KINDS
            if kind in self.kinds and kind not in kinds_of_option:
                continue
            records_by_heading.setdefault(option.group, []).append(record)
        return records_by_heading

    def _list_records(self, ctx: click.Context) -> list[tuple[Option, tuple[str, str]]]:
        """Return each option with its term and description."""
        records = []
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Argument):
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                option = self.options.get(parameter.name or "", _UNGROUPED)
                records.append((option, record))
        return records


def _find_repeated_option(parsed: Sequence[click.Parameter]) -> click.Option | None:
    """Return the first option with a value that occurs twice but can be set only once."""
    for parameter in parsed:
        if not isinstance(parameter, click.Option):
            continue
        if parameter.multiple or parameter.is_flag:
            continue
        if parsed.count(parameter) > 1:
            return parameter
    return None


def _commands_with(name: str, ctx: click.Context) -> list[str]:
    """Return the commands that have an option."""
    root = ctx.find_root()
    if not isinstance(root.command, click.Group):
        return []
    owners = []
    for title in root.command.list_commands(root):
        command = root.command.get_command(root, title)
        if command and any(name in parameter.opts for parameter in command.params):
            owners.append(title)
    return owners


class Choice(click.Choice[str]):
    """One of several words. The error for another word suggests the most similar words."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        """Return the word, or raise an error."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            message = error.message
            suggestion = did_you_mean(str(value), self.choices)
            if tuple(self.choices) == tuple(RESULT_FORMATS):
                suggestion = format_hint(str(value)) or suggestion
            if suggestion:
                message = f"{message.rstrip('.')}. {as_sentence(suggestion)}"
            raise click.BadParameter(message, ctx, param) from None


class Group(Examples, click.Group):
    """A command with subcommands, such as ``semmetrics embed``."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the subcommand, or raise an error that suggests similar names."""
        name = args[0]
        names = self.list_commands(ctx)
        if name in names or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        hint = did_you_mean(name, names, f"the commands are {', '.join(names)}")
        message = f"{ctx.info_name} has no command {name!r}. {as_sentence(hint)}"
        raise click.UsageError(message, ctx)


def help_options(kinds: Sequence[str]) -> list[click.Option]:
    """Return the options ``-h`` and ``--help``.

    If there are several kinds of data, ``--help`` takes one of them.
    """
    brief = click.Option(
        ["-h"],
        is_flag=True,
        help="Show the most used options.",
        is_eager=True,
        expose_value=False,
        callback=_show_help,
    )
    text = "Show all options."
    settings: dict[str, Any] = {"is_flag": True}
    if kinds:
        text = "Show all options, or the options of one kind of data."
        settings = {
            "is_flag": False,
            "flag_value": _ALL_KINDS,
            "metavar": f"[{'|'.join(kinds)}]",
            "shell_complete": lambda ctx, param, incomplete: [
                kind for kind in kinds if kind.startswith(incomplete)
            ],
        }
    complete = click.Option(
        ["--help"],
        help=text,
        is_eager=True,
        expose_value=False,
        callback=_show_help,
        **settings,
    )
    return [brief, complete]


def _show_help(ctx: click.Context, option: click.Parameter, value: Any) -> None:
    """Print the help if its option is set, and exit.

    ``value`` is True for ``-h``, and "all", True or a kind of data for ``--help``.
    """
    if not value or ctx.resilient_parsing:
        return
    if "--help" in option.opts:
        if isinstance(ctx.command, Examples) and isinstance(value, str):
            _check_kind(value, ctx.command.kinds, ctx, option)
        ctx.meta[_SHOWN_KIND] = value
    click.echo(ctx.get_help(), color=ctx.color)
    ctx.exit()


def _check_kind(
    word: str, kinds: Sequence[str], ctx: click.Context, option: click.Parameter
) -> None:
    """Raise an error if the word after ``--help`` is not a kind of data or a file name."""
    is_file_name = any(character in word for character in "./\\*=-")
    if word != _ALL_KINDS and not is_file_name:
        Choice(kinds).convert(word, option, ctx)
