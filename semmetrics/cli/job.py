"""What ``semmetrics score`` does: read, score, write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from semmetrics.api.scores import first_opened, said_kind, score_systems
from semmetrics.cli.asking import asked
from semmetrics.cli.files import check_inputs, check_outputs, distinct_names, written
from semmetrics.cli.matches import matched_heading, write_matches
from semmetrics.cli.meaning import vector_files
from semmetrics.cli.messages import complain
from semmetrics.cli.progress import progress_on
from semmetrics.cli.reading import Input, Reading, understood
from semmetrics.cli.rerun import differences
from semmetrics.cli.results import remarks, result
from semmetrics.cli.rows import (
    check_rows,
    item_headings,
    label_scores,
    write_items,
    write_labels,
)
from semmetrics.data.beside import read_matrix, read_numbers
from semmetrics.data.taxonomy_files import as_taxonomy
from semmetrics.errors import InputError
from semmetrics.kinds.resolve import kind_of
from semmetrics.reports.table import ScoreTable
from semmetrics.scoring.signature import Signed, read_signature

__all__ = ["Request", "run"]


@dataclass(frozen=True, kw_only=True)
class Request:
    """What was asked for on the command line; None and empty where nothing was said."""

    preds: tuple[str, ...]
    gt: str | None
    reading: Reading
    measures: tuple[str, ...]
    protocol: str | None
    top_k: str | None
    threshold: str | None
    decode: tuple[str, ...]
    min_labels: int | None
    cardinality: tuple[str, ...]
    task: str | None
    normalize: str | None
    missing: str | None
    unpredicted: str | None
    ignore: tuple[str, ...]
    weights: str | None
    embedding: tuple[str, ...]
    lookup: str | None
    oov: str | None
    calibration: tuple[str, ...]
    device: str | None
    limit: int | None
    cache: bool
    taxonomy: str | None
    tokenizer: str | None
    df: str | None
    human: bool
    ci: bool
    seed: int | None
    resamples: int | None
    level: float | None
    signature: str | None
    signatures: bool
    form: str
    output: str | None
    digits: int | None
    percent: bool
    runs: bool
    per_item: str | None
    per_label: str | None
    matches: str | None
    worst: int | None
    quiet: bool

    def inputs(self) -> list[str]:
        """All files that are read."""
        beside = [self.reading.classes, self.weights, self.taxonomy, self.df, *self.cardinality]
        beside += [*vector_files(self.embedding), *self.calibration]
        ignored = [entry[1:] for entry in self.ignore if entry.startswith("@")]
        return [*self.preds, str(self.gt), *ignored, *(path for path in beside if path)]

    def outputs(self) -> dict[str, str | None]:
        """All files that are written, by option."""
        return {
            "-o": self.output,
            "--per-item": self.per_item,
            "--per-label": self.per_label,
            "--matches": self.matches,
        }


def run(request: Request) -> None:
    """Carry out a request.

    Raises
    ------
    InputError
        If the input or an option is wrong; nothing is written then.
    """
    signed = _check(request)
    options = asked(request, signed)
    table, inputs = _scored(request, options)
    notes = [*(f"read {line}" for line in understood(inputs)), *table.notes]
    warnings = [] if signed is None else differences(str(request.signature).strip(), table)
    say = _silence if request.quiet else complain
    for line in notes:
        say(line)
    _write(request, table)
    for line in remarks(request, table):
        say(line)
    for line in warnings:
        complain(f"warning: {line}")


def _silence(_: str) -> None:
    """Say nothing."""


def _check(request: Request) -> Signed | None:
    """Whether the request makes sense, before anything large is read."""
    if not request.preds or request.gt is None:
        raise click.UsageError("name at least one file of predictions and, last, the ground truth")
    check_inputs(request.inputs())
    check_outputs(
        request.outputs(),
        request.inputs(),
        remedy="give the output another name (the ground truth is the last file)",
    )
    check_rows(request.outputs())
    if len(request.cardinality) not in (0, 1, len(request.preds)):
        raise InputError(
            f"--cardinality is given {len(request.cardinality)} times for "
            f"{len(request.preds)} files of predictions",
            remedy="give it once, or once for each, in their order",
        )
    return None if request.signature is None else read_signature(request.signature)


def _scored(request: Request, options: Mapping[str, Any]) -> tuple[ScoreTable, list[Input]]:
    names = distinct_names(request.preds)
    beside = request.reading.beside()
    classes = request.reading.class_list()
    paths = dict(zip(names, request.preds, strict=True))
    kind, systems, gt = _read(request, paths, options, classes)
    weights = None if request.weights is None else read_numbers(request.weights, beside)
    heads = [read_matrix(path, beside) for path in request.cardinality]
    kinds = None if request.taxonomy is None else as_taxonomy(request.taxonomy, options=beside)
    with progress_on(quiet=request.quiet) as progress:
        table = score_systems(
            systems,
            gt,
            classes=classes,
            weights=weights,
            taxonomy=kinds,
            cardinality=_by_system(heads, names),
            progress=progress,
            keep_rows=request.per_item is not None or request.worst is not None,
            task=kind,
            **options,
        )
    return table, [*systems.values(), gt]


def _read(
    request: Request,
    paths: Mapping[str, Any],
    options: Mapping[str, Any],
    classes: Sequence[str] | None,
) -> tuple[str, dict[str, Input], Input]:
    """What is evaluated, and the inputs; the first system is read once for both."""
    kind = said_kind(request.task, options.get("protocol"), options["measures"])
    gt: Any = str(request.gt)
    if kind is None:
        read = request.reading.options()
        paths, gt = first_opened(paths, gt, read)
        kind = kind_of(next(iter(paths.values())), gt, options=read).task
    captions = request.reading.captions
    read_one = captions if kind == "captions" else partial(request.reading.labels, classes=classes)
    ref = read_one(gt)
    return kind, {name: read_one(path) for name, path in paths.items()}, ref


def _by_system(heads: Sequence[Any], names: Sequence[str]) -> Any:
    if len(heads) > 1:
        return dict(zip(names, heads, strict=True))
    return heads[0] if heads else None


def _write(request: Request, table: ScoreTable) -> None:
    """All outputs, the result last; nothing before all of them can be made."""
    text = result(request, table)
    if request.per_item is not None:
        item_headings(table)
    if request.worst is not None:
        item_headings(table, "--worst")
    if request.matches is not None:
        matched_heading(table)
    if request.per_label is not None:
        label_scores(table)
        write_labels(request.per_label, table)
    if request.per_item is not None:
        write_items(request.per_item, table)
    if request.matches is not None:
        write_matches(request.matches, table)
    if request.output in (None, "-"):
        click.echo(text)
    else:
        with written(str(request.output)) as out:
            out.write(text + "\n")
