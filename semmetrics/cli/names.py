"""Names that a shell completes, and the command ``semmetrics completion``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import click
from click.shell_completion import CompletionItem, get_completion_class

from semmetrics.cli.layout import Command

__all__ = [
    "LOOKUPS",
    "OOV",
    "VARIABLE",
    "command",
    "complete",
    "formats",
    "measures",
    "normalizations",
    "protocols",
    "topics",
]

# Those of semmetrics.embed.lookup, which is not loaded to show help.
LOOKUPS = ("auto", "kubany2020", "words", "exact", "text")
OOV = ("unknown", "skip", "zero", "error")
VARIABLE = "_SEMMETRICS_COMPLETE"

Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def measures() -> dict[str, str]:
    """Measures and aliases, and what each is."""
    from semmetrics.metrics.registry import aliases, all_definitions

    return {d.name: d.summary for d in all_definitions()} | aliases()


def protocols() -> dict[str, str]:
    """Protocols, and the title of each."""
    from semmetrics.scoring.protocols import PROTOCOLS

    return {name: protocol.title for name, protocol in PROTOCOLS.items()}


def topics() -> dict[str, str]:
    """What can be explained and cited."""
    return measures() | protocols()


def normalizations() -> dict[str, str]:
    """Label normalisations, and what each does."""
    from semmetrics.kinds.labels.classes import NORMALIZATIONS

    return {name: first_line(clean) for name, clean in NORMALIZATIONS.items()}


def formats() -> dict[str, str]:
    """Formats of input files, and their extensions."""
    from semmetrics.data.form import EXTENSIONS, FORMATS

    ends = {name: [e for e, kind in EXTENSIONS.items() if kind == name] for name in FORMATS}
    return {name: ", ".join(ends[name]) for name in FORMATS}


def first_line(thing: object) -> str:
    """The first line of a docstring."""
    return (thing.__doc__ or "").strip().split("\n")[0]


def complete(names: Callable[[], Mapping[str, str]]) -> Completer:
    """A completer of one name."""

    def completer(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        return items(names(), incomplete)

    return completer


def items(names: Mapping[str, str] | Iterable[str], incomplete: str) -> list[CompletionItem[str]]:
    """The names that begin so, in any case.

    Examples
    --------
    >>> [item.value for item in items({"MacroF1": "", "MicroF1": "", "mAP": ""}, "ma")]
    ['MacroF1', 'mAP']
    """
    texts = names if isinstance(names, Mapping) else dict.fromkeys(names, "")
    return [
        CompletionItem(name, help=text or None)
        for name, text in texts.items()
        if name.lower().startswith(incomplete.lower())
    ]


@click.command(
    "completion",
    cls=Command,
    no_args_is_help=True,
    examples=[
        'eval "$(semmetrics completion bash)"   # in ~/.bashrc',
        'eval "$(semmetrics completion zsh)"    # in ~/.zshrc',
        "semmetrics completion fish > ~/.config/fish/completions/semmetrics.fish",
    ],
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    It completes commands, options and files, and the names of measures, protocols, normalisations
    and formats.
    """
    kind = get_completion_class(shell)
    if kind is None:  # click knows these shells
        raise click.UsageError(f"there is no completion for {shell}")
    program = click.get_current_context().find_root().command
    script = kind(program, {}, "semmetrics", VARIABLE)
    click.echo(script.source_template % script.source_vars())
