"""The commands ``list``, ``explain``, ``cite``, ``demo`` and ``completion``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import click

from semmetrics.cli import output
from semmetrics.cli.generate import command
from semmetrics.cli.names import known_names
from semmetrics.cli.run import Run
from semmetrics.messages import visible

_LISTS = {
    "measures": {"Other names of measures": "aliases"},
    "protocols": {
        "Protocols (--protocol)": "protocols",
        "Protocols of agreement with people (semmetrics meta --protocol)": "agreement",
    },
    "normalizations": {"Normalisations (--normalize)": "normalizations"},
    "formats": {
        "Input formats (--input-format), each also with .gz": "formats",
        "Output formats (--format)": "results",
    },
}
"""The lists of each topic of ``semmetrics list``. Each title has a topic of `known_names`."""
_DEMO = """\
The example files are in {folder}. Try:

  cd {folder}
  semmetrics score --ci --percent photos/predictions/*.json photos/ground_truth.json
  semmetrics compare -m "F1 SemF1" photos/predictions/*.json photos/ground_truth.json
  semmetrics score captions/model_*.json captions/references.json"""


@command(
    "list",
    {"topic": "[TOPIC]?"},
    output=(),
    imports=True,
    choices={"topic": tuple(_LISTS)},
)
def list_topics(run: Run) -> None:
    """List measures, protocols, label normalisations and file formats.

    'semmetrics explain NAME' explains a measure or a protocol.

    Examples
    --------
    semmetrics list
    semmetrics list measures
    semmetrics list formats
    """
    topics = [run["topic"]] if run["topic"] else list(_LISTS)
    parts: list[str] = []
    for topic in topics:
        if topic == "measures":
            parts += _list_measures()
        for title, names_topic in _LISTS[topic].items():
            parts.append(list_names(title, known_names(names_topic).items()))
    output.echo("\n\n".join(parts))


def list_names(title: str, rows: Iterable[Sequence[str]]) -> str:
    """Return an indented table below its title."""
    from semmetrics.reports import align

    return f"{title}\n{align(list(rows), left=True, indent='  ')}"


def _list_measures() -> list[str]:
    """Return a list of measures for each group. The first one begins with the title."""
    from semmetrics.metrics.registry import all_definitions, group_of

    width = 0
    definitions_by_group: dict[str, list[Any]] = {}
    for definition in all_definitions():
        group = group_of(definition)
        definitions_by_group.setdefault(group, []).append(definition)
        width = max(width, len(definition.name))
    parts = []
    for group, definitions in definitions_by_group.items():
        lines = [f"  {group}"]
        for definition in definitions:
            name = definition.name.ljust(width)
            lines.append(f"    {name}  {definition.summary}")
        parts.append("\n".join(lines))
    parts[0] = f"Measures (-m)\n{parts[0]}"
    return parts


@command(
    "explain",
    {"names": "MEASURE|PROTOCOL..."},
    output=(),
    imports=True,
    choices={"names": "topics"},
)
def explain(run: Run) -> None:
    """Explain a measure or a protocol: equation, source, options, policies.

    The output has averages, options with their defaults and choices, policies for undefined
    values, bounds, traits, and an example.

    Examples
    --------
    semmetrics explain F1
    semmetrics explain 'AP(normalize=hits)@5'
    semmetrics explain kubany2020
    """
    import semmetrics

    output.echo(semmetrics.explain(*run["names"]))


@command(
    "cite",
    {"names": "MEASURE|PROTOCOL..."},
    output=(),
    imports=True,
    choices={"names": "topics"},
)
def cite(run: Run) -> None:
    """Print BibTeX for the publications that define measures and protocols, each once.

    Examples
    --------
    semmetrics cite F1 AP
    semmetrics cite kubany2020 > references.bib
    """
    import semmetrics
    from semmetrics.studies.explain import find_citations, find_topics

    for topic in find_topics(run["names"]):
        if not find_citations(topic):
            name = getattr(topic, "name", topic)
            output.complain(f"{name} cites no publication")
    output.echo(semmetrics.cite(*run["names"]))


@command("demo", {"folder": "[FOLDER]?"}, output=())
def demo(run: Run) -> None:
    """Write example files into a new folder, and print commands that use them.

    The files are predictions of three systems that tagged 300 photos, captions of two systems, and
    their references. The default folder is semmetrics-demo.

    Examples
    --------
    semmetrics demo
    semmetrics demo examples
    """
    from semmetrics.store.examples import copy_examples

    folder = Path(run["folder"] or "semmetrics-demo")
    copy_examples(folder)
    shell_path = folder.as_posix()
    if str(folder).startswith("-"):
        shell_path = f"./{folder}"
    output.echo(_DEMO.format(folder=visible(shlex.quote(shell_path))))


@command(
    "completion",
    {"shell": "SHELL"},
    output=(),
    choices={"shell": ("bash", "zsh", "fish")},
)
def completion(run: Run) -> None:
    """Print the completion script of a shell: bash, zsh or fish.

    It completes commands, options, files, and names of measures, protocols, normalisations and
    formats.

    Examples
    --------
    eval "$(semmetrics completion bash)"   # in ~/.bashrc
    eval "$(semmetrics completion zsh)"    # in ~/.zshrc
    semmetrics completion fish > ~/.config/fish/completions/semmetrics.fish
    """
    from click.shell_completion import get_completion_class

    completion_class = get_completion_class(run["shell"])
    program = click.get_current_context().find_root().command
    script = completion_class(program, {}, "semmetrics", "_SEMMETRICS_COMPLETE")
    output.echo(script.source_template % script.source_vars())
