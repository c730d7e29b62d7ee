"""Options that ``sweep`` and ``calibrate`` share: how labels are cleaned and joined."""

from __future__ import annotations

import click

from semmetrics.cli import names
from semmetrics.cli.shape import F, decorated, option

__all__ = ["data_options"]

DATA = "What the data are"


def data_options(command: F) -> F:
    """How labels are cleaned and joined."""
    return decorated(
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
