"""The command ``semmetrics cite``: BibTeX of what defines a measure or a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from semmetrics.cli import names
from semmetrics.cli.layout import Command
from semmetrics.cli.messages import complain

if TYPE_CHECKING:
    from semmetrics.cli.topics import Topic
    from semmetrics.metrics.bibliography import Entry

__all__ = ["command"]


@click.command(
    "cite",
    cls=Command,
    no_args_is_help=True,
    examples=["semmetrics cite F1 AP", "semmetrics cite kubany2020 > references.bib"],
)
@click.argument(
    "topics", nargs=-1, required=True, metavar="MEASURE|PROTOCOL...",
    shell_complete=names.complete(names.topics),
)  # fmt: skip
def command(topics: tuple[str, ...]) -> None:
    """Print BibTeX for the publications that define measures and protocols, each once."""
    from semmetrics.cli.topics import found
    from semmetrics.metrics.bibliography import entry

    entries: dict[Entry, None] = {}
    for text, topic in zip(topics, found(topics), strict=True):
        keys = cited(topic)
        if not keys:
            complain(f"{text} cites no publication")
        entries.update(dict.fromkeys(map(entry, keys)))
    click.echo("\n\n".join(one.bibtex for one in entries))


def cited(topic: Topic) -> tuple[str, ...]:
    """The keys of its publications."""
    from semmetrics.metrics.definition import Measure
    from semmetrics.scoring.protocols import Protocol

    if isinstance(topic, Protocol):
        return (topic.name,)
    return topic.definition.cite if isinstance(topic, Measure) else topic.cite
