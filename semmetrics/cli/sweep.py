"""The command ``semmetrics sweep``: semantic measures over thresholds of similarity."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli import names
from semmetrics.cli.models import meaning_options
from semmetrics.cli.reading import Reading, label_reading_options
from semmetrics.cli.shape import FILE, Command, option, quiet_option
from semmetrics.cli.threshold_options import data_options

__all__ = ["command"]

WHAT, OUT = "What is computed", "Output"


@click.command(
    "sweep",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics sweep preds.json gt.json",
        "semmetrics sweep -m 'SemF1 SemRecall' --thresholds 0:1:0.05 preds.json gt.json",
        "semmetrics sweep --embedding words.bin --format csv -o sweep.csv preds.json gt.json",
    ],
)
@click.argument("preds", type=FILE, metavar="PRED")
@click.argument("gt", type=FILE, metavar="GT")
@option(
    WHAT,
    "-m",
    "--measure",
    "--measures",
    "measures",
    multiple=True,
    metavar="MEASURE",
    shell_complete=names.complete(names.measures),
    help="Measures with a threshold of similarity, such as SemF1 (the default), SemRecall@5; may "
    "be repeated, or hold several with blanks between.",
)
@option(
    WHAT,
    "--thresholds",
    metavar="START:STOP:STEP|T,...",
    help="0:1:0.01 when left out; both ends are taken.",
)
@option(WHAT, "--top-k", metavar="K,...", help="Every measure on the first k predictions.")
@data_options
@meaning_options
@label_reading_options
@option(
    OUT,
    "--format",
    "form",
    type=click.Choice(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="json and csv have full precision.",
)
@option(OUT, "-o", "--output", type=FILE, metavar="FILE", help="Write there instead.")
@option(
    OUT,
    "--digits",
    type=click.IntRange(0, 17),
    default=4,
    show_default=True,
    metavar="N",
    help="After the point.",
)
@quiet_option()
def command(**given: Any) -> None:
    """Compute semantic measures at many thresholds, in one pass over the data.

    PRED holds predictions and GT the ground truth, as for 'semmetrics score'. Labels are joined and
    looked up once; a value is that of 'semmetrics score' with the same threshold. The highest
    value is not the best threshold: the lower a threshold, the more matches. See 'semmetrics
    calibrate'.
    """
    from semmetrics.cli.threshold_jobs import run_sweep

    reading = Reading.taken(given)
    run_sweep(reading=reading, **given)
