"""The command ``semmetrics explain``: all that is known of a measure or a protocol."""

from __future__ import annotations

import click

from semmetrics.cli import names
from semmetrics.cli.layout import Command

__all__ = ["command"]


@click.command(
    "explain",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics explain F1",
        "semmetrics explain 'AP(normalize=hits)@5'",
        "semmetrics explain kubany2020",
    ],
)
@click.argument(
    "topics", nargs=-1, required=True, metavar="MEASURE|PROTOCOL...",
    shell_complete=names.complete(names.topics),
)  # fmt: skip
def command(topics: tuple[str, ...]) -> None:
    """Define a measure or a protocol.

    The definition, equation and source; averages, options with their defaults and choices, the
    policies for what is undefined, bounds and traits; an example of use.
    """
    from semmetrics.cli.topics import explained, found

    click.echo("\n\n".join(explained(topic) for topic in found(topics)))
