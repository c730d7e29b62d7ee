"""The command ``semmetrics list``: names with one line each."""

from __future__ import annotations

import click

from semmetrics.cli.layout import Command
from semmetrics.cli.names import formats, normalizations, protocols
from semmetrics.reports.grid import aligned

__all__ = ["command"]

TOPICS = ("measures", "protocols", "normalizations", "formats")
OUTPUT = {
    "table": "aligned columns, and beside them what was undefined and why",
    "json": "a list of scores in full precision",
    "csv": "one row a score, in full precision",
    "markdown": "measures as rows, systems as columns",
    "latex": "the same as a tabular in the style of booktabs",
}


@click.command(
    "list",
    cls=Command,
    examples=["semmetrics list", "semmetrics list measures", "semmetrics list formats"],
)
@click.argument("topic", required=False, type=click.Choice(TOPICS))
def command(topic: str | None) -> None:
    """Name the measures, protocols, label normalisations and file formats.

    'semmetrics explain NAME' says more of a measure or a protocol.
    """
    parts = {
        "measures": _measures,
        "protocols": lambda: _lines("Protocols (--protocol)", protocols()),
        "normalizations": lambda: _lines("Normalisations (--normalize)", normalizations()),
        "formats": _formats,
    }
    chosen = TOPICS if topic is None else (topic,)
    click.echo("\n\n".join(parts[name]() for name in chosen))


def _lines(title: str, names: dict[str, str]) -> str:
    rows = [[name, text] for name, text in names.items()]
    return f"{title}\n{aligned(rows, left=True, indent='  ')}"


def _measures() -> str:
    from semmetrics.metrics.registry import aliases, all_definitions, group_of

    every = all_definitions()
    width = max(len(definition.name) for definition in every)
    groups: dict[str, list[str]] = {}
    for definition in every:
        line = f"    {definition.name.ljust(width)}  {definition.summary}"
        groups.setdefault(group_of(definition), []).append(line)
    parts = [
        "Measures (-m)\n"
        + "\n\n".join("\n".join([f"  {title}", *lines]) for title, lines in groups.items()),
        _lines("Other names of measures", aliases()),
    ]
    return "\n\n".join(parts)


def _formats() -> str:
    read = formats() | {"coco": "instances JSON, told by its content; ground truth"}
    return f"{_lines('Input formats (--input-format), each also with .gz', read)}\n\n" + _lines(
        "Output formats (--format)", OUTPUT
    )
