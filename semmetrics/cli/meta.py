"""The command ``semmetrics meta``: read judgements, score, measure agreement, write."""

from __future__ import annotations

from typing import Any

import click

from semmetrics.cli.flags import (
    OUTPUT,
    digits_option,
    format_option,
    named_files,
    output_option,
    read_given,
    reading_options,
    score_options,
    signatures_option,
)
from semmetrics.cli.help import FILE, Command, option, quiet_option
from semmetrics.cli.own_measures import import_option
from semmetrics.errors import InputError
from semmetrics.options import (
    AGGREGATIONS,
    AGREEMENT,
    CORRECTIONS,
    JUDGEMENT_TESTS,
    NOT_OF_META,
    WHAT,
)
from semmetrics.studies.agreement_protocols import AGREEMENT_PROTOCOLS

__all__ = ["command"]

JUDGED, HOW = "What people say", "How agreement is measured"


@click.command(
    "meta",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics meta --protocol flickr8k-expert -m 'CIDEr-D ROUGE-L BLEU-4' flickr8k.json",
        "semmetrics meta --protocol pascal-50s -m 'CIDEr-D ROUGE-L' pyCIDErConsensus/",
        "semmetrics meta -m 'F1 SemF1' --statistics kendall-b ratings.csv preds.json gt.json",
        "semmetrics meta --protocol cxc-sits -m CIDEr-D sits_test.csv captions.json refs.json",
    ],
)
@click.argument("ratings", type=FILE, metavar="RATINGS")
@click.argument("preds", type=FILE, metavar="[PRED", required=False)
@click.argument("gts", type=FILE, metavar="GT]", required=False)
@option(
    JUDGED,
    "--protocol",
    type=click.Choice(list(AGREEMENT_PROTOCOLS)),
    help="How the literature measures agreement with a public set of judgements.",
)
@option(
    JUDGED,
    "--columns",
    metavar="ROLE=NAME,...",
    help="Names of columns of RATINGS: rating=score,id=image.",
)
@option(
    JUDGED,
    "--group-by",
    metavar="COLUMN",
    help="Column of RATINGS; each of its values has rows of its own, too.",
)
@option(
    JUDGED,
    "--ids",
    metavar="REGEX",
    help="The part of an id in RATINGS that is compared: the group of the expression, or all that "
    "it finds.",
)
@option(
    HOW,
    "--statistics",
    metavar="NAME,...",
    help=f"{', '.join(AGREEMENT)} or all. The default is the protocol's, or all.",
)
@option(
    HOW,
    "--aggregate",
    type=click.Choice(list(AGGREGATIONS)),
    help="Average several judgements of the same candidate. The default is the protocol's, or "
    "none.",
)
@option(
    HOW,
    "--baseline",
    metavar="MEASURE",
    help="The measure that all others are compared with. The default is the first.",
)
@option(
    HOW,
    "--test",
    type=click.Choice(list(JUDGEMENT_TESTS)),
    default="bootstrap",
    show_default=True,
    help="Resamples of images, moved to a mean difference of 0; or Williams' test, for Pearson's "
    "r of independent judgements.",
)
@option(
    HOW,
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    default="holm",
    show_default=True,
    help="Of p, for the number of differences.",
)
@score_options(without=NOT_OF_META)
@import_option(WHAT)
@reading_options()
@signatures_option()
@format_option(help="json and csv have full precision.")
@output_option()
@digits_option(help="Digits after the point. The default is 4, or 2 with --percent.")
@option(OUTPUT, "--percent", is_flag=True, help="Multiply values by 100, as papers print them.")
@quiet_option
def command(
    ratings: str,
    preds: str | None,
    gts: str | None,
    columns: str | None,
    form: str,
    output: str | None,
    digits: int | None,
    percent: bool,
    signatures: bool,
    quiet: bool,
    protocol: str | None,
    group_by: str | None,
    ids: str | None,
    statistics: str | None,
    aggregate: str | None,
    baseline: str | None,
    test: str,
    correction: str,
    **given: Any,
) -> None:
    """Measure how well measures agree with people, and whether one agrees better than another.

    RATINGS is a public file (Flickr8k-Expert, Flickr8k-CF, Composite, Pascal-50S), or a CSV, TSV,
    JSON or JSONL table: ratings of ids, with PRED and GT as for 'semmetrics score'; ratings of
    captions that stand there with their references; or preferences a, b, preferred. Intervals and
    the bootstrap test resample images, each with all of its judgements.
    """
    from semmetrics.cli.files import check_files, write_report
    from semmetrics.cli.messages import say_understood, show_progress
    from semmetrics.reports.result import draw_signatures
    from semmetrics.studies.agreement import meta

    if preds is not None and gts is None:
        raise click.UsageError("name PRED and GT, or neither")
    files = [ratings, *(one for one in (preds, gts) if one is not None)]
    check_files([*files, *named_files(given)], {"-o": output})
    options = read_given(given)
    with show_progress(quiet=quiet) as progress:
        found = meta(
            ratings, preds, gts, protocol=protocol, statistics=statistics, aggregate=aggregate,
            baseline=baseline, test=test, correction=correction, columns=_name_columns(columns),
            group_by=group_by, ids=ids, progress=progress, **options,
        )  # fmt: skip
    say_understood(found, quiet=quiet)
    digits = (2 if percent else 4) if digits is None else digits
    beside = [draw_signatures(found)] if signatures and form not in ("json", "csv") else []
    write_report(found, beside, form, output, quiet=quiet, digits=digits,
                 scale=100.0 if percent else 1.0)  # fmt: skip


def _name_columns(text: str | None) -> dict[str, str] | None:
    """Return columns by their roles."""
    if text is None:
        return None
    parts = [part.partition("=") for part in text.split(",")]
    wrong = next((part for part in parts if not part[0].strip() or not part[2].strip()), None)
    if wrong is not None:
        raise InputError(f"{''.join(wrong)!r} names no column", where="--columns",
                         remedy="write rating=NAME,id=NAME")  # fmt: skip
    return {role.strip(): name.strip() for role, _, name in parts}
