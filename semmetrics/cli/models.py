"""Options of embeddings that several commands have."""

from __future__ import annotations

from collections.abc import Callable

import click

from semmetrics.cli import names
from semmetrics.cli.shape import FILE, F, decorated, option

__all__ = ["MEANING", "device_option", "limit_option", "meaning_options"]

MEANING = "What labels mean"


def device_option(group: str) -> Callable[[F], F]:
    """Where models that read text run."""
    return option(
        group,
        "--device",
        metavar="DEVICE",
        help="Where sentence and transformer models run: cpu (the default), cuda, cuda:1, mps.",
    )


def limit_option(group: str) -> Callable[[F], F]:
    """How much of a file of word vectors is read."""
    return option(
        group,
        "--limit",
        type=click.IntRange(min=1),
        metavar="N",
        help="The first N words only, of a file of word vectors.",
    )


def meaning_options(command: F) -> F:
    """The embedding, and how labels are looked up in it."""
    return decorated(
        command,
        option(MEANING, "--embedding", multiple=True, type=FILE, metavar="[NAME=]SPEC",
               help="What labels are compared with: a file of word vectors, a name of 'semmetrics "
               "embed list', or kind:NAME or kind:PATH. Left out, the model that comes with "
               "semmetrics. With NAME= it is that of measures such as 'SemF1(embedding=NAME)'; "
               "may be repeated."),
        option(MEANING, "--lookup", type=click.Choice(names.LOOKUPS), metavar="RULE",
               help="From a label to a vector: auto (the default) is the embedding's own rule; "
               "kubany2020, words, exact, text."),
        option(MEANING, "--oov", type=click.Choice(names.OOV),
               help="What stands for a label without a vector: that of the word 'unknown', "
               "nothing, zeros (the default), or it is an error."),
        device_option(MEANING),
        limit_option(MEANING),
        option(MEANING, "--cache", is_flag=True,
               help="Keep the vectors of sentence and transformer models on disk for the next "
               "run."),
    )  # fmt: skip
