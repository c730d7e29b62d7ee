"""The commands that say what there is: ``semmetrics list``, ``explain`` and ``cite``."""

from __future__ import annotations

import click

from semmetrics.cli import names
from semmetrics.cli.layout import Command
from semmetrics.cli.messages import complain

__all__ = ["cite_command", "explain_command", "list_command"]

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
def list_command(topic: str | None) -> None:
    """Name the measures, protocols, label normalisations and file formats.

    'semmetrics explain NAME' says more of a measure or a protocol.
    """
    parts = {
        "measures": _list_measures,
        "protocols": lambda: _list_names("Protocols (--protocol)", names.protocols()),
        "normalizations": lambda: _list_names(
            "Normalisations (--normalize)", names.normalizations()
        ),
        "formats": _list_formats,
    }
    chosen = TOPICS if topic is None else (topic,)
    click.echo("\n\n".join(parts[name]() for name in chosen))


def _list_names(title: str, texts: dict[str, str]) -> str:
    from semmetrics.reports.forms import align

    rows = [[name, text] for name, text in texts.items()]
    return f"{title}\n{align(rows, left=True, indent='  ')}"


def _list_measures() -> str:
    from semmetrics.metrics.registry import aliases
    from semmetrics.reports.explain import group_definitions

    grouped = group_definitions()
    width = max(len(d.name) for members in grouped.values() for d in members)
    groups = [
        "\n".join([f"  {title}", *(f"    {d.name.ljust(width)}  {d.summary}" for d in members)])
        for title, members in grouped.items()
    ]
    parts = [
        "Measures (-m)\n" + "\n\n".join(groups),
        _list_names("Other names of measures", aliases()),
    ]
    return "\n\n".join(parts)


def _list_formats() -> str:
    read = names.formats() | {"coco": "instances JSON, told by its content; ground truth"}
    title = "Input formats (--input-format), each also with .gz"
    return f"{_list_names(title, read)}\n\n{_list_names('Output formats (--format)', OUTPUT)}"


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
def explain_command(topics: tuple[str, ...]) -> None:
    """Define a measure or a protocol.

    The definition, equation and source; averages, options with their defaults and choices, the
    policies for what is undefined, bounds and traits; an example of use.
    """
    from semmetrics.reports.explain import explain, find_topics

    click.echo("\n\n".join(explain(topic) for topic in find_topics(topics)))


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
def cite_command(topics: tuple[str, ...]) -> None:
    """Print BibTeX for the publications that define measures and protocols, each once."""
    from semmetrics.metrics.bibliography import entry
    from semmetrics.reports.explain import find_citations, find_topics

    keys: list[str] = []
    for text, topic in zip(topics, find_topics(topics), strict=True):
        cited = find_citations(topic)
        if not cited:
            complain(f"{text} cites no publication")
        keys += cited
    entries = dict.fromkeys(map(entry, keys))
    click.echo("\n\n".join(one.bibtex for one in entries))
