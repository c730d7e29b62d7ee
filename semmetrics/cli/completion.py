"""The command ``semmetrics completion``: the script that makes a shell complete names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from semmetrics.cli.layout import Command

__all__ = ["VARIABLE", "command"]

VARIABLE = "_SEMMETRICS_COMPLETE"


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
