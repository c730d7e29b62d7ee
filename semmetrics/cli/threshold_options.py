"""Options that ``sweep`` and ``calibrate`` share: what the data are, and what labels mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from semmetrics.cli import names
from semmetrics.cli.models import device_option, limit_option
from semmetrics.cli.shape import FILE, option

__all__ = ["data_options", "meaning_options"]

DATA, MEANING = "What the data are", "What labels mean"
F = TypeVar("F", bound=Callable[..., Any])


def data_options(command: F) -> F:
    """How labels are cleaned and joined."""
    return _decorated(
        command,
        option(DATA, "--normalize", metavar="N",
               shell_complete=names.complete(names.normalizations),
               help="What is done to labels before they are compared: none (the default), lower, "
               "kubany2020."),
        option(DATA, "--missing", type=click.Choice(["error", "skip", "empty"]),
               help="An id that only one side has is an error (the default), is left out, or has "
               "an empty list on the other side."),
        option(DATA, "--unpredicted", type=click.Choice(["keep", "skip"]),
               help="Whether items with an empty prediction count (keep, the default)."),
    )  # fmt: skip


def meaning_options(command: F) -> F:
    """The embedding, and how labels are looked up in it."""
    return _decorated(
        command,
        option(MEANING, "--embedding", multiple=True, type=FILE, metavar="[NAME=]SPEC",
               help="What labels are compared with: a file of word vectors, a name of 'semmetrics "
               "embed list', or kind:NAME or kind:PATH. Left out, the model that comes with "
               "semmetrics."),
        option(MEANING, "--lookup", type=click.Choice(names.LOOKUPS), metavar="RULE",
               help="From a label to a vector: auto (the default) is the embedding's own rule; "
               "kubany2020, words, exact, text."),
        option(MEANING, "--oov", type=click.Choice(names.OOV),
               help="What stands for a label without a vector: that of the word 'unknown', "
               "nothing, zeros (the default), or it is an error."),
        device_option(MEANING),
        limit_option(MEANING),
    )  # fmt: skip


def _decorated(command: F, *options: Callable[[F], F]) -> F:
    for decorate in reversed(options):
        command = decorate(command)
    return command
