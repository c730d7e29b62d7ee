"""How help reads: examples first, options in groups; and options that know their group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

__all__ = [
    "EXIT_CODES", "FILE", "Command", "Examples", "F", "Option", "decorated", "option",
    "quiet_option",
]  # fmt: skip

EXIT_CODES = (
    "Exit codes: 0 done; 2 the input or an option is wrong, one message says where and what to do; "
    "1 a fault of the program; 130 stopped by Ctrl-C; 141 the reader of the output went away."
)
# Readers check what is there and say more than click would; the type completes file names.
FILE = click.Path(readable=False)
OTHER = "Other options"
F = TypeVar("F", bound=Callable[..., Any])


class Examples(click.Command):
    """A command whose help shows examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The description, then the examples as they are typed."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


class Command(Examples):
    """A command whose help groups its options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("epilog", EXIT_CODES)
        super().__init__(*args, **kwargs)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options under the titles of their groups."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if isinstance(parameter, click.Argument):
                continue
            record = parameter.get_help_record(ctx)
            if record is not None:
                groups.setdefault(getattr(parameter, "group", OTHER), []).append(record)
        for title in sorted(groups, key=OTHER.__eq__):
            with formatter.section(title):
                formatter.write_dl(groups[title], col_max=30)


class Option(click.Option):
    """An option that belongs to a group."""

    def __init__(self, *args: Any, group: str = OTHER, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.group = group


def option(group: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """An option under the title of a group."""
    return click.option(*names, cls=Option, group=group, **settings)


def decorated(command: F, *options: Callable[[F], F]) -> F:
    """A command with options, the first of which its help shows first."""
    for decorate in reversed(options):
        command = decorate(command)
    return command


def quiet_option() -> Callable[[F], F]:
    """The option that silences notes."""
    return option(
        OTHER, "--quiet", "-q", is_flag=True, help="No notes and no progress on standard error."
    )
