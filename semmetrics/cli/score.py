"""The command ``semmetrics score``."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

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
from semmetrics.frozen import dataclass
from semmetrics.messages import pluralize
from semmetrics.options import CERTAINTY, OPTIONS, WHAT

if TYPE_CHECKING:
    from semmetrics.reports.result import Records
    from semmetrics.reports.table import ScoreTable

__all__ = ["by_system", "score"]

ENDINGS = {
    "--per-item": (".jsonl", ".csv"),
    "--per-label": (".json", ".csv"),
    "--matches": (".csv", ".json", ".jsonl"),
    "--confusion": (".csv", ".json", ".jsonl"),
    "--curve": (".csv", ".json", ".jsonl"),
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """What is written, and how; None and empty where nothing was said."""

    signatures: bool
    form: str
    output: str | None
    digits: int | None
    percent: bool
    runs: bool
    per_item: str | None
    per_label: str | None
    matches: str | None
    confusion: str | None
    curve: str | None
    worst: int | None

    def files(self) -> dict[str, str | None]:
        """Return all files that are written, by option."""
        return {
            "-o": self.output,
            "--per-item": self.per_item,
            "--per-label": self.per_label,
            "--matches": self.matches,
            "--confusion": self.confusion,
            "--curve": self.curve,
        }

    def scale(self) -> dict[str, Any]:
        """Return how values are shown."""
        digits = 2 if self.percent else 4
        return {
            "digits": digits if self.digits is None else self.digits,
            "scale": 100.0 if self.percent else 1.0,
        }


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
        "semmetrics score --protocol f30k sims.npy positives.json",
        "semmetrics score --task retrieval --queries-embeddings q.npy --gallery-embeddings g.npy "
        "qrels.trec",
        "semmetrics score --protocol xian2018 --classes all.txt --seen seen.txt "
        "--unseen unseen.txt scores.npy truth.txt",
    ],
)
@click.argument("preds", nargs=-1, type=FILE, metavar="PRED...")
@click.argument("gt", type=FILE, metavar="GT", required=False)
@score_options()
@import_option(WHAT)
@reading_options()
@option(
    CERTAINTY,
    "--rescore",
    metavar="SIGNATURE",
    help="Compute that signature again on these files, and say where they differ from it.",
)
@signatures_option("Show the whole signature of each score.")
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
    "--runs",
    is_flag=True,
    help="The PRED files are runs of one system: show mean (std, n-1) over them.",
)
@output_option("--per-item", help="Write the values of each item, as .jsonl or .csv.")
@output_option("--per-label", help="Write the values and counts of each label, as .json or .csv.")
@output_option(
    "--matches",
    help="Write which prediction matched which true label, how similar they are, and what nothing "
    "matched, by the first semantic measure; .csv, .json or .jsonl.",
)
@output_option(
    "--confusion",
    help="Write how many images of each class are taken for each class; .csv, .json or .jsonl.",
)
@output_option(
    "--curve",
    help="Write the accuracy on seen and unseen classes for every calibrating constant, of AUSUC; "
    ".csv, .json or .jsonl.",
)
@option(
    OUTPUT,
    "--worst",
    type=click.IntRange(min=1),
    metavar="N",
    help="Show the N worst items by the first per-item measure.",
)
@quiet_option
def score(
    preds: tuple[str, ...], gt: str | None, rescore: str | None, quiet: bool, **given: Any
) -> None:
    """Score predictions against ground truth.

    Each PRED file is a system, named by its file; the last file is the ground truth (GT). Both hold
    the labels of items, joined by id: JSON ({"id": ["label", ...]}), JSONL, CSV, TSV, Parquet, COCO
    instances, or a matrix (.npy, .npz), each also with .gz; "-" is standard input.

    Or they hold captions: {"id": "caption"} against {"id": ["reference", ...]}, COCO results and
    annotations, JSONL, CSV, TSV, Parquet, or lines of text.

    Or PRED ranks candidates for queries (--task retrieval): a matrix of similarities (.npy, .npz,
    .h5, JSON), ranked lists, or a TREC run; GT has the positives: {"query": ["candidate", ...]}.

    Or PRED classifies images (--task classes): a matrix of scores, or a class or ranked classes for
    each image; GT has the class of each, such as one a line (.txt).

    Without -m and --protocol a default set of measures is computed. With --top-k 1,3,5 a measure F1
    is F1@1, F1@3 and F1@5.
    """
    from semmetrics.cli.files import check_endings, check_files, name_files, write_text
    from semmetrics.cli.messages import complain, say, say_understood

    instead = any(given[name] is not None for name, one in OPTIONS.items() if one.instead)
    if gt is None or not (preds or instead):
        raise click.UsageError("name at least one file of predictions and, last, the ground truth")
    output = Output(**{name: given.pop(name) for name in Output.__dataclass_fields__})
    check_files(
        [*preds, gt, *named_files(given)],
        output.files(),
        remedy="give the output another name (the ground truth is the last file)",
    )
    check_endings(output.files(), ENDINGS)
    systems: dict[str, str | None] = dict(zip(name_files(preds), preds, strict=True))
    systems = systems or {"embeddings": None}
    names = list(systems)
    given["set_size_probs"] = by_system(given["set_size_probs"], names)
    options = read_given(given)
    needed = (output.per_item, output.worst, output.confusion, output.curve)
    options["keep_rows"] = any(one is not None for one in needed)
    table = _score(systems, gt, rescore, options, quiet=quiet)
    say_understood(table, quiet=quiet)
    text, details = _render(output, table), _collect_details(output, table)
    gaps, requested, remarks = _collect_remarks(output, table)
    write_text(text, output.output, output.form, details)
    say(gaps, quiet=quiet)
    say(requested, quiet=False)
    say(remarks, quiet=quiet)
    for line in table.differences:
        complain(f"warning: {line}")


def by_system(files: Sequence[str], names: Sequence[str]) -> Any:
    """Give each system its own file, where there are several."""
    if len(files) not in (0, 1, len(names)):
        raise InputError(
            f"--set-size-probs is given {len(files)} times for "
            f"{pluralize(len(names), 'file')} of predictions",
            remedy="give it once, or once for each, in their order",
        )
    if len(files) > 1:
        return dict(zip(names, files, strict=True))
    return files[0] if files else None


def _score(
    systems: Mapping[str, str | None],
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


def _render(output: Output, table: ScoreTable) -> str:
    """Write the result in the form asked for."""
    from semmetrics.reports import score_text as text

    if output.runs:
        return text.draw_runs(table, output.form, **output.scale())
    if output.form == "json":
        entries = table.to_dicts()
        for entry, one in zip(entries, table, strict=True):
            if output.per_item is not None and one.items is not None:
                entry["rows"] = output.per_item
        return json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)
    if output.form != "table":
        return table.render(output.form, **output.scale())
    width = _terminal_width() if output.output is None and sys.stdout.isatty() else None
    parts = [text.draw_systems(table, width=width, **output.scale()), *text.report_gaps(table)]
    parts += _draw_worst(output, table)
    parts += [text.report_shared(table)] if len(table) else []
    parts += [text.draw_signatures(table)] if output.signatures else []
    return "\n\n".join(parts)


def _terminal_width() -> int:
    import shutil  # not needed where the output is no terminal

    return shutil.get_terminal_size().columns


def _collect_remarks(output: Output, table: ScoreTable) -> tuple[list[str], list[str], list[str]]:
    """Collect what is said on standard error: gaps, what an option asks for, and remarks."""
    from semmetrics.reports import score_text as text

    gaps, requested, lines = list[str](), list[str](), list[str]()
    if output.form != "table" or output.runs:
        gaps = text.report_gaps(table)
        requested = _draw_worst(output, table)
        if output.signatures and output.form not in ("json", "csv"):
            requested.append(text.draw_signatures(table))
    if output.runs and any(one.ci is not None for one in table):
        lines.append("--ci has no effect on the result of --runs")
    if output.runs and len(table.systems) == 1:
        lines.append("one run has no standard deviation: give the file of each run")
    if output.form in ("json", "csv") and (output.percent or output.digits is not None):
        lines.append(f"--percent and --digits have no effect on {output.form}: full precision")
    if output.matches is not None:
        from semmetrics.reports.details import find_matching_heading

        lines.append(f"{output.matches}: the matches of {find_matching_heading(table.scores)}")
    return _split_lines(gaps), _split_lines(requested), lines


def _split_lines(parts: Sequence[str]) -> list[str]:
    return [line for part in parts for line in part.split("\n")]


def _draw_worst(output: Output, table: ScoreTable) -> list[str]:
    from semmetrics.reports.score_text import draw_worst

    if output.worst is None:
        return []
    with _name_option("--worst"):
        return [draw_worst(table, output.worst, **output.scale())]


@contextmanager
def _name_option(name: str) -> Iterator[None]:
    """Say in an error which option asks for what is not there."""
    try:
        yield
    except InputError as error:
        remedy = f"leave it out, or {error.remedy}"
        raise InputError(error.problem, where=name, remedy=remedy) from None


def _collect_details(output: Output, table: ScoreTable) -> dict[str, Records]:
    """Collect what the files beside the result are to hold, by path.

    Raises
    ------
    InputError
        If no measure has it; names the option.
    """
    collect = {
        "--per-item": table.per_item,
        "--matches": table.matches,
        "--per-label": table.per_label,
        "--confusion": table.confusion,
        "--curve": table.curve,
    }
    found: dict[str, Records] = {}
    for name, path in output.files().items():
        if path is not None and name in collect:
            with _name_option(name):
                found[path] = collect[name]()
    if output.matches is not None and len(table.systems) == 1:
        found[output.matches] = found[output.matches].drop("system")
    return found
