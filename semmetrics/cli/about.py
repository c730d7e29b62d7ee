"""The commands that say what there is: ``list``, ``explain`` and ``cite``; and ``completion``."""

from __future__ import annotations

import click

from semmetrics.cli.help import (
    Command,
    F,
    agreement_protocols,
    complete,
    formats,
    normalizations,
    protocols,
    topics,
)
from semmetrics.cli.messages import complain, echo
from semmetrics.cli.own_measures import import_option

__all__ = ["cite_command", "completion_command", "explain_command", "list_command"]

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
@import_option()
def list_command(topic: str | None) -> None:
    """Name the measures, protocols, label normalisations and file formats.

    'semmetrics explain NAME' says more of a measure or a protocol.
    """
    parts = {
        "measures": _list_measures,
        "protocols": _list_protocols,
        "normalizations": lambda: _list_names("Normalisations (--normalize)", normalizations()),
        "formats": _list_formats,
    }
    echo("\n\n".join(parts[name]() for name in ([topic] if topic else TOPICS)))


def _list_protocols() -> str:
    people = "Protocols of agreement with people (semmetrics meta --protocol)"
    scored = _list_names("Protocols (--protocol)", protocols())
    return f"{scored}\n\n{_list_names(people, agreement_protocols())}"


def _list_names(title: str, texts: dict[str, str]) -> str:
    from semmetrics.reports.result import align

    rows = [[name, text] for name, text in texts.items()]
    return f"{title}\n{align(rows, left=True, indent='  ')}"


def _list_measures() -> str:
    from semmetrics.metrics.registry import aliases
    from semmetrics.studies.explain import group_definitions

    grouped = group_definitions()
    width = max(len(d.name) for members in grouped.values() for d in members)
    groups = [
        "\n".join([f"  {title}", *(f"    {d.name.ljust(width)}  {d.summary}" for d in members)])
        for title, members in grouped.items()
    ]
    others = _list_names("Other names of measures", aliases())
    return "\n\n".join(["Measures (-m)\n" + groups[0], *groups[1:], others])


def _list_formats() -> str:
    read = formats() | {"coco": "instances JSON, told by its content; ground truth"}
    title = "Input formats (--input-format), each also with .gz"
    return f"{_list_names(title, read)}\n\n{_list_names('Output formats (--format)', OUTPUT)}"


def _topics_argument(command: F) -> F:
    return click.argument(
        "names", nargs=-1, required=True, metavar="MEASURE|PROTOCOL...",
        shell_complete=complete(topics),
    )(import_option()(command))  # fmt: skip


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
@_topics_argument
def explain_command(names: tuple[str, ...]) -> None:
    """Define a measure or a protocol.

    The definition, equation and source; averages, options with their defaults and choices, the
    policies for what is undefined, bounds and traits; an example of use.
    """
    from semmetrics.studies.explain import explain, find_topics

    echo("\n\n".join(explain(topic) for topic in find_topics(names)))


@click.command(
    "cite",
    cls=Command,
    no_args_is_help=True,
    examples=["semmetrics cite F1 AP", "semmetrics cite kubany2020 > references.bib"],
)
@_topics_argument
def cite_command(names: tuple[str, ...]) -> None:
    """Print BibTeX for the publications that define measures and protocols, each once."""
    from semmetrics.metrics.bibliography import entry
    from semmetrics.studies.explain import find_citations, find_topics, name_topic

    keys: list[str] = []
    for topic in find_topics(names):
        cited = find_citations(topic)
        if not cited:
            complain(f"{name_topic(topic)} cites no publication")
        keys += cited
    entries = dict.fromkeys(map(entry, keys))
    echo("\n\n".join(one.bibtex for one in entries))


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
def completion_command(shell: str) -> None:
    """Print the completion script of a shell.

    It completes commands, options and files, and the names of measures, protocols, normalisations
    and formats.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:  # click knows these shells
        raise click.UsageError(f"there is no completion for {shell}")
    program = click.get_current_context().find_root().command
    script = kind(program, {}, "semmetrics", "_SEMMETRICS_COMPLETE")
    echo(script.source_template % script.source_vars())
