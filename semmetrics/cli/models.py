"""Options of embeddings that several commands have."""

from __future__ import annotations

from collections.abc import Callable

import click

from semmetrics.cli.shape import F, option

__all__ = ["device_option", "limit_option"]


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
