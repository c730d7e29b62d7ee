"""Options about captions that several commands share."""

from __future__ import annotations

from collections.abc import Callable

import click

from semmetrics.cli.shape import FILE, F, option

__all__ = ["df_option", "tokenizer_option"]

TOKENIZERS = ("ptb", "ptb-java", "13a", "whitespace")


def tokenizer_option(group: str) -> Callable[[F], F]:
    """What makes tokens of captions."""
    return option(
        group,
        "--tokenizer",
        type=click.Choice(TOKENIZERS),
        help="What makes tokens of captions: ptb (the default), as the COCO code does.",
    )


def df_option(group: str) -> Callable[[F], F]:
    """Document frequencies in place of the references'."""
    return option(
        group,
        "--df",
        type=FILE,
        metavar="FILE",
        help="Document frequencies for CIDEr-D and CIDEr, in place of those of the references: "
        ".npz, .json, or a pickle of the COCO code, which is read and never run.",
    )
