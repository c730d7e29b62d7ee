"""The command ``semmetrics calibrate``: the threshold of an embedding, found and saved."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli import names
from semmetrics.cli.models import meaning_options
from semmetrics.cli.reading import Reading, label_reading_options
from semmetrics.cli.shape import FILE, Command, option, quiet_option
from semmetrics.cli.threshold_options import data_options

__all__ = ["command"]

HOW, OUT = "How it is found", "Output"


@click.command(
    "calibrate",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics calibrate --pairs pairs.csv -o threshold.json",
        "semmetrics calibrate --pairs pairs.csv --criterion youden --embedding words.bin",
        "semmetrics calibrate --part 0.2 --seed 7 -o threshold.json preds.json gt.json",
        "semmetrics score -m SemF1 --calibration threshold.json preds.json gt.json",
    ],
)
@click.argument("preds", type=FILE, metavar="[PRED", required=False)
@click.argument("gt", type=FILE, metavar="GT]", required=False)
@option(
    HOW,
    "--pairs",
    type=FILE,
    metavar="FILE",
    help="Labelled pairs: CSV, TSV, JSON or JSONL with the columns a, b and same.",
)
@option(
    HOW,
    "--criterion",
    type=click.Choice(["f1", "youden", "accuracy"]),
    help="Of pairs: what is largest at the threshold (f1 when left out).",
)
@option(
    HOW,
    "-m",
    "--measure",
    metavar="MEASURE",
    shell_complete=names.complete(names.measures),
    help="Of PRED and GT: the measure whose contrast is largest (SemF1 when left out).",
)
@option(
    HOW,
    "--part",
    type=float,
    metavar="X",
    help="Of PRED and GT: the share of items that are used (0.2 when left out).",
)
@option(HOW, "--seed", type=int, metavar="N", help="Chooses the items; 12345 when left out.")
@option(
    HOW,
    "--thresholds",
    metavar="START:STOP:STEP|T,...",
    help="Of PRED and GT: those to choose from; 0:1:0.01 when left out.",
)
@data_options
@meaning_options
@label_reading_options
@option(
    OUT,
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json is what -o saves.",
)
@option(
    OUT,
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="Save the calibration there, for 'semmetrics score --calibration FILE'.",
)
@quiet_option()
def command(**given: Any) -> None:
    """Find the threshold of similarity of an embedding.

    On labelled pairs (--pairs): the cosine that best parts those that mean the same from the
    others. Or on predictions and ground truth, without labelled pairs: on a part of the items, the
    threshold at which a measure of predictions with their own references is most above that with
    the references of another item.
    """
    from semmetrics.cli.threshold_jobs import run_calibrate

    reading = Reading.taken(given)
    run_calibrate(reading=reading, **given)
