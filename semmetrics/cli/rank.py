"""The command ``semmetrics rank``: systems over several data sets."""

from __future__ import annotations

import click

from semmetrics.cli.help import FILE, Command
from semmetrics.cli.options import digits_option, format_option, measure_option, output_option

__all__ = ["command"]


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
@measure_option(
    "What is ranked", default="O-F1", show_default=True, help="The measure, or its heading."
)
@format_option(
    "table", "json", "csv", "markdown", "latex", help="json and csv have full precision."
)
@output_option(help="Write there instead.")
@digits_option(default=4, show_default=True, help="After the point.")
def command(
    files: tuple[str, ...], measure: str, form: str, output: str | None, digits: int
) -> None:
    """Rank systems over several data sets by a normalised measure.

    Each file is what 'semmetrics score --format json' wrote for one data set, which is named by the
    file. The values of a data set are divided by its best; a system's value is the mean over all
    data sets, and a system that lacks one is listed and not ranked (Pineda, Salvador et al. 2019).
    """
    from semmetrics.cli.files import check_files, name_files, write_text
    from semmetrics.comparison.summaries import rank_systems
    from semmetrics.reports.score_text import draw_ranks

    check_files(files, {"-o": output})
    datasets = dict(zip(name_files(files), files, strict=True))
    ranks = rank_systems(datasets, measure)
    write_text(draw_ranks(ranks, list(datasets), measure, form, digits=digits), output)
