"""The command ``semmetrics matrix``: CIDEr-D or CIDEr of all captions for all images."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli.caption_options import df_option, tokenizer_option
from semmetrics.cli.reading import Reading, caption_reading_options
from semmetrics.cli.shape import FILE, Command, option, quiet_option

__all__ = ["command"]

WHAT, OUT = "What is computed", "Output"


@click.command(
    "matrix",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics matrix -o phi.npy captions.json references.json",
        "semmetrics matrix --top-k 10 -o best.jsonl captions.json references.json",
        "semmetrics matrix -m CIDEr --df coco.npz -o phi.npy captions.json references.json",
    ],
)
@click.argument("captions", type=FILE, metavar="CAPTIONS")
@click.argument("references", type=FILE, metavar="REFERENCES")
@option(
    WHAT,
    "-m",
    "--measure",
    default="CIDEr-D",
    show_default=True,
    metavar="MEASURE",
    help="CIDEr-D or CIDEr, with its options.",
)
@tokenizer_option(WHAT)
@df_option(WHAT)
@option(
    WHAT,
    "--top-k",
    type=click.IntRange(min=1),
    metavar="K",
    help="The K best captions of each image alone, as JSON lines.",
)
@option(
    WHAT,
    "--axis",
    type=click.Choice(["captions", "images"]),
    help="With --top-k: the best captions of each image (when left out), or images of each "
    "caption.",
)
@option(
    OUT,
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    required=True,
    help="A .npy file of images x captions, and FILE.ids.json with the ids of both; or, with "
    "--top-k, a .jsonl file, or - for standard output. A .npy file that was not finished is "
    "continued.",
)
@option(
    OUT,
    "--dtype",
    type=click.Choice(["float64", "float32"]),
    help="Of the numbers in the .npy file; float64 when left out.",
)
@option(
    OUT,
    "--overwrite",
    is_flag=True,
    help="Compute all of a .npy file that is there already, whatever it is of.",
)
@caption_reading_options
@quiet_option()
def command(**given: Any) -> None:
    """Give each caption to each image, as a candidate for it.

    An entry is what 'semmetrics score' gives the caption for that image's references, with document
    frequencies over all images. Rows are the images of REFERENCES in their order, columns the
    captions of CAPTIONS in theirs.
    """
    from semmetrics.cli.caption_jobs import run_matrix

    reading = Reading.taken(given)
    run_matrix(reading=reading, **given)
