"""The commands that compare systems: ``compare`` on one data set, ``rank`` over several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    OUTPUT,
    digits_option,
    format_option,
    max_bytes_option,
    measure_option,
    named_files,
    output_option,
    read_given,
    reading_options,
    score_options,
    signatures_option,
)
from semmetrics.cli.help import FILE, Command, option, quiet_option
from semmetrics.cli.own_measures import import_option
from semmetrics.options import COMPARED, CORRECTIONS, RANKED_BY, TESTS, WHAT

if TYPE_CHECKING:
    from semmetrics.studies.ranks import Ranking

__all__ = ["compare", "rank"]

HOW = "How systems are compared"


@click.command(
    "compare",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics compare -m 'F1 MicroF1' old.json new.json gt.json",
        "semmetrics compare --baseline ours a.json b.json ours.json gt.json",
        "semmetrics compare -m 'BLEU-4 CIDEr-D' --test randomization a.json b.json references.json",
        "semmetrics compare -m F1 --differing 5 --format csv -o found.csv a.json b.json gt.json",
    ],
)
@click.argument("preds", nargs=-1, type=FILE, metavar="PRED PRED...")
@click.argument("gt", type=FILE, metavar="GT", required=False)
@option(
    HOW,
    "--test",
    type=click.Choice(list(TESTS)),
    default="interval",
    show_default=True,
    help="How p is found: from the interval of the difference, resamples of the items (moved to a "
    "mean difference of 0, or as sacrebleu has it), items swapped at random, or, for means over "
    "items, Student's or Wilcoxon's test.",
)
@option(
    HOW,
    "--baseline",
    metavar="NAME",
    help="The system that all others are compared with, by its name. The default is the first.",
)
@option(
    HOW,
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default="holm",
    show_default=True,
    help="Of p, for the number of systems and measures.",
)
@score_options(without=("ci", "score_references"), defaults=COMPARED)
@import_option(WHAT)
@reading_options()
@signatures_option()
@format_option(help="json and csv have full precision.")
@output_option()
@digits_option(help="Digits after the point. The default is 4, or 2 with --percent.")
@option(
    OUTPUT,
    "--percent",
    is_flag=True,
    help="Multiply values in [-1, 1], CIDEr, SPICE and SPIDEr by 100, as papers print them.",
)
@option(
    OUTPUT,
    "--differing",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N items on which systems differ most, by the first per-item measure.",
)
@option(
    OUTPUT,
    "--ranks",
    is_flag=True,
    help="Show how often each system has each rank in the resamples, by the first measure.",
)
@quiet_option
def compare(
    preds: tuple[str, ...],
    gt: str | None,
    test: str,
    baseline: str | None,
    correction: str,
    form: str,
    output: str | None,
    digits: int | None,
    percent: bool,
    differing: int | None,
    ranks: bool,
    signatures: bool,
    quiet: bool,
    **given: Any,
) -> None:
    """Compare systems with a baseline, and say which differences are more than chance.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT), as for
    'semmetrics score'. All other systems are compared with the baseline: the difference of each
    measure, its interval from paired resamples, p, p corrected for the number of comparisons, the
    effect size (difference over its standard error and the root of the number of items), and the
    items won, tied and lost.
    """
    from semmetrics.cli.files import check_files, name_files, write_report
    from semmetrics.cli.messages import say_understood, show_progress
    from semmetrics.cli.score import by_system
    from semmetrics.reports.result import draw_signatures
    from semmetrics.studies import comparisons as api
    from semmetrics.studies.comparisons import draw_differing, draw_rank_matrix

    if not preds or gt is None:
        raise click.UsageError("name files of predictions and, last, the ground truth")
    check_files(
        [*preds, gt, *named_files(given)],
        {"-o": output},
        remedy="give the output another name (the ground truth is the last file)",
    )
    names = name_files(preds)
    given["set_size_probs"] = by_system(given["set_size_probs"], names)
    options = read_given(given)
    systems = dict(zip(names, preds, strict=True))
    with show_progress(quiet=quiet) as progress:
        found = api.compare(systems, gt, test=test, baseline=baseline, correction=correction,
                            progress=progress, **options)  # fmt: skip
    say_understood(found, quiet=quiet)
    digits = (2 if percent else 4) if digits is None else digits
    scale = 100.0 if percent else 1.0
    beside = [draw_rank_matrix(found, digits=digits)] if ranks else []
    if differing is not None:
        beside.append(draw_differing(found, differing, digits=digits, scale=scale))
    beside += [draw_signatures(found)] if signatures and form not in ("json", "csv") else []
    write_report(found, beside, form, output, quiet=quiet, digits=digits, scale=scale)


@click.command(
    "rank",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics score -m O-F1 --format json -o voc.json bce.json lstm.json gt.json",
        "semmetrics rank voc.json coco.json",
        "semmetrics rank --by rank --diagram ranks.svg -m F1 voc.json coco.json nus.json",
        "semmetrics rank --differences coco other -m CIDEr-D coco.json other.json",
    ],
)
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="SCORES.json...")
@measure_option(
    "What is ranked", default="O-F1", show_default=True, help="The measure, or its heading."
)
@option(
    HOW,
    "--by",
    type=click.Choice(RANKED_BY),
    default="normalized",
    show_default=True,
    help="Rank by the mean of value over best value, or by the mean rank.",
)
@option(
    HOW,
    "--level",
    type=float,
    metavar="X",
    default=0.95,
    show_default=True,
    help="Level of the critical difference of mean ranks, between 0 and 1.",
)
@option(
    HOW,
    "--differences",
    nargs=2,
    metavar="FIRST SECOND",
    help="Show instead the ranks on two data sets, by name, and how they differ.",
)
@max_bytes_option
@format_option(help="json and csv have full precision.")
@output_option(help="Write there instead.")
@output_option("--diagram", help="Draw mean ranks with their critical difference, as .svg.")
@digits_option(default=4, show_default=True, help="After the point.")
@quiet_option
def rank(
    files: tuple[str, ...],
    measure: str,
    by: str,
    level: float,
    differences: tuple[str, str] | None,
    form: str,
    output: str | None,
    diagram: str | None,
    digits: int,
    max_bytes: int,
    quiet: bool,
) -> None:
    """Rank systems over several data sets, and test whether their ranks are chance.

    Each file is what 'semmetrics score --format json' wrote for one data set, which is named by the
    file. The values of a data set are divided by its best; a system's value is the mean over all
    data sets (Pineda, Salvador et al. 2019). With --by rank it is the mean rank. A system that
    lacks a data set is listed and not ranked. Below are how often each system has each rank, the
    Friedman test, and the critical difference of mean ranks (Nemenyi; Demšar 2006).
    """
    from semmetrics.cli.files import check_endings, check_files, name_files, write_text
    from semmetrics.cli.messages import say
    from semmetrics.studies.ranks import draw_rank_differences, rank_systems, report_ranks

    check_files(files, {"-o": output, "--diagram": diagram})
    check_endings({"--diagram": diagram}, {"--diagram": (".svg",)})
    datasets = dict(zip(name_files(files), files, strict=True))
    found = rank_systems(datasets, measure, by=by, level=level, max_bytes=max_bytes)
    drawn = {} if diagram is None else {diagram: found.to_svg()}
    if differences is not None:
        rows = found.differences(*differences)
        result = draw_rank_differences(rows, *differences, form, digits=digits)
        beside = _name_left_out(found, *differences)
    else:
        result = found.render(form, digits=digits)
        beside = [] if form == "table" else report_ranks(found)
    write_text(result, output, form, drawn)
    say([line for part in beside for line in part.split("\n")], quiet=quiet)


def _name_left_out(ranking: Ranking, first: str, second: str) -> list[str]:
    """Name the systems that one of two data sets lacks."""
    shared = ranking.differences(first, second).column("system")
    every = dict.fromkeys(name for one in (first, second) for name in ranking.values[one])
    lacking = [name for name in every if name not in shared]
    return [f"not on both data sets, and left out: {', '.join(lacking)}"] if lacking else []
