"""What is shown of a command before it runs: its help, and the names that a shell completes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from semmetrics.messages import listing
from semmetrics.options import OTHER

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

EXIT_CODES = (
    "Exit codes: 0 done; 2 the input or an option is wrong, one message says where and what to do; "
    "1 a fault of the program; 130 stopped by Ctrl-C; 141 the reader of the output went away."
)
# Readers check what is there and say more than click would; the type completes file names.
FILE = click.Path(readable=False)
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


class Examples(click.Command):
    """A command whose help shows examples."""

    def __init__(self, *args: Any, examples: Sequence[str] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the description, then the examples as they are typed."""
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse what is written; of an option of a measure, or of other commands, say so."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from semmetrics.options import measure_option

            name, remedy = error.option_name, ""
            if any("--measure" in one.opts for one in self.get_params(ctx)):
                remedy = measure_option(name.lstrip("-").replace("-", "_"))
            remedy = remedy or _name_its_commands(name, ctx)
            if not remedy:
                raise
            raise click.UsageError(f"there is no option {name!r}; {remedy}", ctx) from None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options under the titles of their groups."""
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


def _name_its_commands(name: str, ctx: click.Context) -> str:
    """Name the commands that have an option; "" if none has."""
    root = ctx.find_root()
    group = root.command
    if not isinstance(group, click.Group):
        return ""
    every = {one: group.get_command(root, one) for one in group.list_commands(root)}
    have = [one for one, command in every.items()
            if command and any(name in option.opts for option in command.params)]  # fmt: skip
    return f"it is an option of {listing(have, most=4)}" if have else ""


class Group(Examples, click.Group):
    """A command of commands, with examples."""


def measures() -> dict[str, str]:
    """Return measures and aliases, and what each is."""
    from semmetrics.metrics.registry import aliases, all_definitions

    return {d.name: d.summary for d in all_definitions()} | aliases()


def protocols() -> dict[str, str]:
    """Return protocols, and the title of each."""
    from semmetrics.scoring.protocols import PROTOCOLS

    return {name: protocol.title for name, protocol in PROTOCOLS.items()}


def agreement_protocols() -> dict[str, str]:
    """Return protocols of agreement with people, and the title of each."""
    from semmetrics.studies.agreement_protocols import AGREEMENT_PROTOCOLS

    return {name: protocol.title for name, protocol in AGREEMENT_PROTOCOLS.items()}


def topics() -> dict[str, str]:
    """Return what can be explained and cited."""
    return measures() | protocols() | agreement_protocols()


def normalizations() -> dict[str, str]:
    """Return label normalisations, and what each does."""
    from semmetrics.kinds.labels.normalization import NORMALIZATIONS

    return {
        name: (clean.__doc__ or "").strip().split("\n")[0] for name, clean in NORMALIZATIONS.items()
    }


def formats() -> dict[str, str]:
    """Return formats of input files, and their extensions."""
    from semmetrics.data.form import EXTENSIONS
    from semmetrics.options import FORMATS

    return {
        name: ", ".join(end for end, form in EXTENSIONS.items() if form == name) for name in FORMATS
    }


def decoding() -> dict[str, str]:
    """Return examples of decoding rules."""
    return dict.fromkeys(("all", "threshold:0.5", "threshold:best", "cumulative:0.5",
                          "cardinality", "cardinality+scores"), "")  # fmt: skip


COMPLETED: Mapping[str, Callable[[], Mapping[str, str]]] = {
    "measures": measures,
    "protocols": protocols,
    "agreement_protocols": agreement_protocols,
    "normalizations": normalizations,
    "formats": formats,
    "topics": topics,
    "rules": decoding,
    "vectors": dict,
}
"""What a shell completes: names, with what each is."""


def complete(what: str) -> Completer:
    """Return a completer of names, in any case.

    Examples
    --------
    >>> [item.value for item in complete("rules")(None, None, "Card")]
    ['cardinality', 'cardinality+scores']
    """

    def completer(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=text or None)
            for name, text in COMPLETED[what]().items()
            if name.lower().startswith(incomplete.lower())
        ]

    return completer
