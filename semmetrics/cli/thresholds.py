"""The commands ``semmetrics sweep`` and ``semmetrics calibrate``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.flags import (
    digits_option,
    format_option,
    measure_option,
    named_files,
    output_option,
    read_given,
    reading_options,
    score_options,
    split_measures,
)
from semmetrics.cli.help import FILE, Command, option, quiet_option
from semmetrics.errors import InputError

if TYPE_CHECKING:
    from semmetrics.scoring.calibration import Calibration

__all__ = ["calibrate", "sweep"]

WHAT, HOW = "What is computed", "How it is found"
_DATA = ("normalize", "missing", "empty_predictions", "classes")
_MEANING = ("embedding", "lookup", "oov", "device", "max_words", "cache")
_OF_DATA = ("measure", "holdout", "seed", "thresholds", "missing", "empty_predictions")


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
@measure_option(
    WHAT,
    "measures",
    multiple=True,
    help="Measures with a threshold of similarity, such as SemF1 (the default), SemRecall@5; may "
    "be repeated, or hold several with blanks between.",
)
@option(
    WHAT,
    "--thresholds",
    metavar="START:STOP:STEP|T,...",
    help="Thresholds to compute. The default is 0:1:0.01; both ends are computed.",
)
@score_options("top_k", *_DATA, *_MEANING)
@reading_options("labels")
@format_option(help="json and csv have full precision.")
@output_option()
@digits_option(default=4, show_default=True, help="Digits after the point.")
@quiet_option
def sweep(
    preds: str,
    gt: str,
    measures: tuple[str, ...],
    thresholds: str | None,
    form: str,
    output: str | None,
    digits: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Compute semantic measures at many thresholds, in one pass over the data.

    PRED holds predictions and GT the ground truth, as for 'semmetrics score'. Labels are joined and
    looked up once; a value is that of 'semmetrics score' with the same threshold. The highest
    value is not the best threshold: the lower a threshold, the more matches. See 'semmetrics
    calibrate'.
    """
    from semmetrics.cli.files import write_text
    from semmetrics.cli.messages import say_understood, show_progress
    from semmetrics.studies import thresholds as api

    texts = split_measures(measures, "SemF1") if measures else ("SemF1",)
    _check_files([preds, gt], output, given)
    options = read_given(given)
    with show_progress(quiet=quiet) as progress:
        found = api.sweep(
            preds,
            gt,
            measures=texts,
            thresholds=thresholds,
            progress=progress,
            task="labels",
            **options,
        )
    say_understood(found, quiet=quiet)
    write_text(found.render(form, digits=digits), output, form)


@click.command(
    "calibrate",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics calibrate --pairs pairs.csv -o threshold.json",
        "semmetrics calibrate --pairs pairs.csv --criterion youden --embedding words.bin",
        "semmetrics calibrate --holdout 0.2 --seed 7 -o threshold.json preds.json gt.json",
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
    help="Of pairs: what is largest at the threshold. The default is f1.",
)
@measure_option(
    HOW, help="Of PRED and GT: the measure whose contrast is largest. The default is SemF1."
)
@option(
    HOW,
    "--holdout",
    type=float,
    metavar="X",
    help="Of PRED and GT: the share of items that are used. The default is 0.2.",
)
@option(HOW, "--seed", type=int, metavar="N", help="Chooses the items. The default is 12345.")
@option(
    HOW,
    "--thresholds",
    metavar="START:STOP:STEP|T,...",
    help="Of PRED and GT: thresholds to choose from. The default is 0:1:0.01.",
)
@score_options(*_DATA, *_MEANING)
@reading_options("labels")
@format_option("text", "json", help="json is what -o saves.")
@output_option(help="Save the calibration there, for 'semmetrics score --calibration FILE'.")
@quiet_option
def calibrate(
    preds: str | None,
    gt: str | None,
    pairs: str | None,
    form: str,
    output: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Find the threshold of similarity of an embedding.

    On labelled pairs (--pairs): the cosine that best separates those that mean the same from the
    others. Or on predictions and ground truth, without labelled pairs: on a part of the items, the
    threshold at which a measure of predictions with their own references is most above that with
    the references of another item.
    """
    from semmetrics.cli.messages import echo, say, say_understood
    from semmetrics.studies.thresholds import report_calibration

    if output == "-":
        raise InputError("-o names no file", remedy="write --format json for standard output")
    if pairs is not None:
        if preds is not None:
            raise InputError(
                "both --pairs and predictions are given", remedy="calibrate on one of them"
            )
        found = _calibrate_on_pairs(pairs, output, given)
    elif preds is None or gt is None:
        raise click.UsageError("name a file of pairs (--pairs), or predictions and ground truth")
    else:
        found = _calibrate_on_data(preds, gt, output, given)
    say_understood(found, quiet=quiet)
    if output is not None:
        found.save(output)
    else:
        say(["the calibration is not saved; give -o FILE"], quiet=quiet)
    echo(found.to_json() if form == "json" else report_calibration(found), form)


def _calibrate_on_pairs(pairs: str, output: str | None, given: dict[str, Any]) -> Calibration:
    from semmetrics.studies.thresholds import calibrate_threshold_on_pairs

    idle = [f"--{name.replace('_', '-')}" for name in _OF_DATA if given[name] is not None]
    if idle:
        raise InputError(
            f"{', '.join(idle)} means nothing for pairs", remedy="leave that out, or leave --pairs"
        )
    _check_files([pairs], output, given)
    criterion = given.pop("criterion") or "f1"
    options = read_given(given)
    options.pop("classes", None)
    return calibrate_threshold_on_pairs(pairs, criterion=criterion, **options)


def _calibrate_on_data(
    preds: str, gt: str, output: str | None, given: dict[str, Any]
) -> Calibration:
    from semmetrics.studies.thresholds import calibrate_threshold

    if given.pop("criterion") is not None:
        raise InputError("--criterion means nothing without --pairs", remedy="leave it out")
    _check_files([preds, gt], output, given)
    own = {name: given.pop(name) for name in ("measure", "holdout", "seed", "thresholds")}
    return calibrate_threshold(
        preds,
        gt,
        task="labels",
        **{name: value for name, value in own.items() if value is not None},
        **read_given(given),
    )


def _check_files(inputs: list[str], output: str | None, given: Mapping[str, Any]) -> None:
    from semmetrics.cli.files import check_files

    check_files([*inputs, *named_files(given)], {"-o": output})
