"""The command ``semmetrics rank``: systems over several data sets."""

from __future__ import annotations

import click

from semmetrics.cli import names
from semmetrics.cli.files import check_inputs, check_outputs, name_files, write_text
from semmetrics.cli.layout import FILE, Command, option

__all__ = ["command"]

FORMATS = ("table", "json", "csv", "markdown", "latex")


@click.command(
    "rank",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics score -m O-F1 --format json -o voc.json bce.json lstm.json gt.json",
        "semmetrics rank voc.json coco.json",
    ],
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="SCORES.json...")
@option(
    "What is ranked",
    "-m",
    "--measure",
    default="O-F1",
    show_default=True,
    metavar="MEASURE",
    shell_complete=names.complete(names.measures),
    help="The measure, or its heading.",
)
@option(
    "Output",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="json and csv have full precision.",
)
@option("Output", "-o", "--output", type=FILE, metavar="FILE", help="Write there instead.")
@option(
    "Output",
    "--digits",
    type=click.IntRange(0, 17),
    default=4,
    show_default=True,
    metavar="N",
    help="After the point.",
)
def command(
    files: tuple[str, ...], measure: str, form: str, output: str | None, digits: int
) -> None:
    """Rank systems over several data sets by a normalised measure.

    Each file is what 'semmetrics score --format json' wrote for one data set, which is named by the
    file. The values of a data set are divided by its best; a system's value is the mean over all
    data sets, and a system that lacks one is listed and not ranked (Pineda, Salvador et al. 2019).
    """
    from semmetrics.comparison.ranks import rank_systems
    from semmetrics.reports.score_text import draw_ranks

    check_inputs(files)
    check_outputs({"-o": output}, files)
    datasets = dict(zip(name_files(files), files, strict=True))
    ranks = rank_systems(datasets, measure)
    write_text(draw_ranks(ranks, list(datasets), measure, form, digits=digits), output)
