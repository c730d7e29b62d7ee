"""The command ``semmetrics score``: read, score, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from semmetrics.cli.layout import FILE, Command, option, quiet_option
from semmetrics.cli.options import (
    read_given,
    reading_options,
    score_options,
    threshold_option,
    vector_files,
)
from semmetrics.errors import InputError
from semmetrics.options import CERTAINTY

if TYPE_CHECKING:
    from semmetrics.cli.results import Output
    from semmetrics.reports.table import ScoreTable

__all__ = ["command"]

OUT = "Output"
FORMATS = ("table", "json", "csv", "markdown", "latex")
_BESIDE = ("classes", "weights", "taxonomy", "doc_freq")


@click.command(
    "score",
    cls=Command,
    no_args_is_help=True,
    examples=[
        "semmetrics score preds.json gt.json",
        "semmetrics score -m F1 -m 'F1(average=macro)' --top-k 1,3,5 a.csv b.csv gt.csv",
        "semmetrics score --protocol kubany2020 --format latex preds.csv gt.csv",
        "semmetrics score -m F1 --threshold 0.3,0.5,best --classes labels.txt scores.npy gt.npy",
        "semmetrics score -m 'SemF1 WMD' --matches matches.csv --worst 3 preds.json gt.json",
        "semmetrics score --protocol kubany2020 --embedding GoogleNews.bin preds.csv gt.csv",
        "semmetrics score --ci --per-item items.csv --format json -o out.json preds.json gt.json",
        "zcat preds.jsonl.gz | semmetrics score - gt.json",
        "semmetrics score --protocol coco-caption captions.json references.json",
    ],
)
@click.argument("preds", nargs=-1, type=FILE, metavar="PRED...")
@click.argument("gt", type=FILE, metavar="GT", required=False)
@score_options()
@threshold_option
@reading_options()
@option(
    CERTAINTY,
    "--rescore",
    metavar="SIGNATURE",
    help="Compute that signature again on these files, and say where they differ from it.",
)
@option(
    CERTAINTY,
    "--show-signatures",
    "signatures",
    is_flag=True,
    help="Show the whole signature of each score.",
)
@option(
    OUT,
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="json and csv have full precision.",
)
@option(OUT, "-o", "--output", type=FILE, metavar="FILE", help="Write the result there.")
@option(
    OUT,
    "--digits",
    type=click.IntRange(0, 17),
    metavar="N",
    help="Digits after the point. The default is 4, or 2 with --percent.",
)
@option(OUT, "--percent", is_flag=True, help="Multiply values in [0, 1] by 100.")
@option(
    OUT,
    "--runs",
    is_flag=True,
    help="The PRED files are runs of one system: show mean (std, n-1) over them.",
)
@option(
    OUT,
    "--per-item",
    type=FILE,
    metavar="FILE",
    help="Write the values of each item, as .jsonl or .csv.",
)
@option(
    OUT,
    "--per-label",
    type=FILE,
    metavar="FILE",
    help="Write the values and counts of each label, as .json or .csv.",
)
@option(
    OUT,
    "--matches",
    type=FILE,
    metavar="FILE",
    help="Write which prediction matched which true label, how similar they are, and what nothing "
    "matched, by the first semantic measure; .csv, .json or .jsonl.",
)
@option(
    OUT,
    "--worst",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N worst items by the first per-item measure.",
)
@quiet_option()
def command(
    preds: tuple[str, ...], gt: str | None, rescore: str | None, quiet: bool, **given: Any
) -> None:
    """Score predictions against ground truth.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT). Both hold
    the labels of items, joined by id: JSON ({"id": ["label", ...]}), JSONL, CSV, TSV, Parquet, COCO
    instances, or a matrix (.npy, .npz), each also with .gz; "-" is standard input.

    Or they hold captions: {"id": "caption"} against {"id": ["reference", ...]}, COCO results and
    annotations, JSONL, CSV, TSV, Parquet, or lines of text.

    Without -m and --protocol a default set of measures is computed. With --top-k 1,3,5 a measure F1
    is F1@1, F1@3 and F1@5.
    """
    from semmetrics.cli.files import name_files, write_text
    from semmetrics.cli.messages import complain
    from semmetrics.cli.results import (
        Output,
        collect_details,
        collect_remarks,
        render_result,
        write_details,
    )

    if not preds or gt is None:
        raise click.UsageError("name at least one file of predictions and, last, the ground truth")
    output = Output.take(given)
    _check_files(preds, gt, output, given)
    names = name_files(preds)
    given["set_size_probs"] = _by_system(given["set_size_probs"], names)
    options = read_given(given)
    options["keep_rows"] = output.per_item is not None or output.worst is not None
    table = _score(dict(zip(names, preds, strict=True)), gt, rescore, options, quiet=quiet)
    say = _be_silent if quiet else complain
    for line in [*(f"read {line}" for line in table.understood), *table.notes]:
        say(line)
    text, details = render_result(output, table), collect_details(output, table)
    write_details(details)
    write_text(text, output.output)
    for line in collect_remarks(output, table):
        say(line)
    for line in table.differences:
        complain(f"warning: {line}")


def _be_silent(_: str) -> None:
    """Say nothing."""


def _check_files(preds: Sequence[str], gt: str, output: Output, given: Mapping[str, Any]) -> None:
    """Refuse files that are in each other's way, before anything large is read."""
    from semmetrics.cli.files import check_endings, check_inputs, check_outputs
    from semmetrics.cli.results import ENDINGS

    inputs = [*preds, gt, *(given[name] for name in _BESIDE if given[name])]
    inputs += [*given["set_size_probs"], *given["calibration"], *vector_files(given["embedding"])]
    inputs += [entry[1:] for entry in given["ignore"] if entry.startswith("@")]
    check_inputs(inputs)
    check_outputs(
        output.files(),
        inputs,
        remedy="give the output another name (the ground truth is the last file)",
    )
    check_endings(output.files(), ENDINGS)


def _by_system(files: Sequence[str], names: Sequence[str]) -> Any:
    """Give each system its own file, where there are several."""
    if len(files) not in (0, 1, len(names)):
        raise InputError(
            f"--set-size-probs is given {len(files)} times for {len(names)} files of predictions",
            remedy="give it once, or once for each, in their order",
        )
    if len(files) > 1:
        return dict(zip(names, files, strict=True))
    return files[0] if files else None


def _score(
    systems: Mapping[str, str],
    gt: str,
    signature: str | None,
    options: Mapping[str, Any],
    *,
    quiet: bool,
) -> ScoreTable:
    """Score, or compute a signature again, with progress."""
    from semmetrics.cli.messages import show_progress

    with show_progress(quiet=quiet) as progress:
        if signature is None:
            from semmetrics.api.scores import score_systems

            return score_systems(systems, gt, progress=progress, **options)
        from semmetrics.api.scores import rescore_systems

        return rescore_systems(signature, systems, gt, progress=progress, **options)
