"""The command ``semmetrics df``: document frequencies, counted or converted, and saved."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli.caption_options import tokenizer_option
from semmetrics.cli.reading import Reading, caption_reading_options
from semmetrics.cli.shape import FILE, Command, option, quiet_option

__all__ = ["command"]

HOW, OUT = "How they are counted", "Output"


@click.command(
    "df",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics df -o coco.npz references.json",
        "semmetrics df --stem porter -o coco.json references.json",
        "semmetrics df --convert -o coco.npz coco-val-df.p",
        "semmetrics score -m CIDEr-D --df coco.npz captions.json references.json",
    ],
)
@click.argument("references", type=FILE, metavar="FILE")
@tokenizer_option(HOW)
@option(
    HOW,
    "--stem",
    type=click.Choice(["none", "porter"]),
    help="Whether words are stemmed (none when left out), as in CIDEr(stem=porter).",
)
@option(
    HOW,
    "--convert",
    is_flag=True,
    help="FILE holds document frequencies: .npz, JSON, or a pickle of released code.",
)
@option(
    HOW,
    "--documents",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --convert: how many documents were counted, where the file does not say it.",
)
@option(OUT, "-o", "--output", type=FILE, metavar="FILE", required=True, help="As .npz or .json.")
@caption_reading_options
@quiet_option()
def command(**given: Any) -> None:
    """Count in how many images each n-gram occurs, for CIDEr-D and CIDEr.

    FILE has the references of images, as for 'semmetrics score'; each image is a document. Scores
    of few images mean something only with the frequencies of a larger corpus.
    """
    from semmetrics.cli.caption_jobs import run_df

    reading = Reading.taken(given)
    run_df(reading=reading, **given)
