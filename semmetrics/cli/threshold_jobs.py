"""What ``semmetrics sweep`` and ``semmetrics calibrate`` do: read, compute, write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from semmetrics.api.thresholds import calibrate_threshold, calibrate_threshold_on_pairs, sweep
from semmetrics.cli.asking import words
from semmetrics.cli.files import check_inputs, check_outputs, strip_endings, write_text
from semmetrics.cli.meaning import embeddings, vector_files
from semmetrics.cli.messages import complain, show_progress
from semmetrics.cli.reading import Reading, understood
from semmetrics.data.normalize import normalization
from semmetrics.errors import InputError
from semmetrics.metrics.registry import cutoffs
from semmetrics.reports.threshold_curves import report_calibration
from semmetrics.scoring.calibration import Calibration

__all__ = ["run_calibrate", "run_sweep"]

_OF_DATA = ("measure", "part", "seed", "thresholds", "missing", "unpredicted")


def run_sweep(
    *,
    preds: str,
    gt: str,
    reading: Reading,
    measures: tuple[str, ...],
    thresholds: str | None,
    top_k: str | None,
    form: str,
    output: str | None,
    digits: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Compute measures over thresholds, and write them.

    Raises
    ------
    InputError
        If the input or an option is wrong; nothing is written then.
    """
    texts = [word for text in measures for word in words(text)]
    if measures and not texts:
        raise InputError("-m names no measure", remedy="write -m SemF1")
    options = _options(given)
    labels = _labels(reading, preds, gt, output, given["embedding"])
    with show_progress(quiet=quiet) as progress:
        found = sweep(
            labels[0],
            labels[1],
            measures=texts or ("SemF1",),
            thresholds=thresholds,
            top_k=None if top_k is None else cutoffs(top_k),
            system=strip_endings(preds),
            classes=reading.class_list(),
            progress=progress,
            **options,
        )
    for line in [*(f"read {line}" for line in understood(labels)), *found.notes]:
        _say(line, quiet=quiet)
    write_text(found.render(form, digits=digits), output)


def run_calibrate(
    *,
    preds: str | None,
    gt: str | None,
    reading: Reading,
    pairs: str | None,
    form: str,
    output: str | None,
    quiet: bool,
    **given: Any,
) -> None:
    """Find a threshold, save it and show it.

    Raises
    ------
    InputError
        If the input or an option is wrong; nothing is written then.
    """
    if output == "-":
        raise InputError("-o names no file", remedy="write --format json for standard output")
    if pairs is not None:
        if preds is not None:
            raise InputError(
                "both --pairs and predictions are given", remedy="calibrate on one of them"
            )
        found = _on_pairs(pairs, reading, output, given)
    elif preds is None or gt is None:
        raise click.UsageError("name a file of pairs (--pairs), or predictions and ground truth")
    else:
        found = _on_data(preds, gt, reading, output, given, quiet=quiet)
    for line in found.notes:
        _say(line, quiet=quiet)
    if output is not None:
        found.save(output)
    else:
        _say("the calibration is not saved; give -o FILE", quiet=quiet)
    click.echo(found.to_json() if form == "json" else report_calibration(found))


def _on_pairs(
    pairs: str, reading: Reading, output: str | None, given: Mapping[str, Any]
) -> Calibration:
    idle = [f"--{name}" for name in _OF_DATA if given[name] is not None]
    if idle:
        raise InputError(
            f"{', '.join(idle)} means nothing for pairs", remedy="leave that out, or leave --pairs"
        )
    _check_files([pairs], output, given["embedding"])
    rules = {name: given[name] for name in ("lookup", "oov", "normalize", "criterion")}
    return calibrate_threshold_on_pairs(
        pairs,
        embeddings(given["embedding"]),
        device=given["device"],
        limit=given["limit"],
        cache=given["cache"],
        read=reading.options(),
        **{name: value for name, value in rules.items() if value is not None},
    )


def _on_data(
    preds: str,
    gt: str,
    reading: Reading,
    output: str | None,
    given: Mapping[str, Any],
    *,
    quiet: bool,
) -> Calibration:
    if given["criterion"] is not None:
        raise InputError("--criterion means nothing without --pairs", remedy="leave it out")
    labels = _labels(reading, preds, gt, output, given["embedding"])
    for line in understood(labels):
        _say(f"read {line}", quiet=quiet)
    said = {name: given[name] for name in ("measure", "part", "seed", "thresholds")}
    return calibrate_threshold(
        labels[0],
        labels[1],
        classes=reading.class_list(),
        **{name: value for name, value in said.items() if value is not None},
        **_options(given),
    )


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of ``score_systems`` about data and meaning."""
    if given["normalize"] is not None:
        normalization(given["normalize"])
    names = ("normalize", "missing", "unpredicted", "lookup", "oov", "device", "limit", "cache")
    return {"embedding": embeddings(given["embedding"]), **{name: given[name] for name in names}}


def _labels(
    reading: Reading, preds: str, gt: str, output: str | None, specs: tuple[str, ...]
) -> list[Any]:
    beside = [] if reading.classes is None else [reading.classes]
    _check_files([preds, gt, *beside], output, specs)
    classes = reading.class_list()
    return [reading.labels(path, classes) for path in (preds, gt)]


def _check_files(inputs: list[str], output: str | None, specs: tuple[str, ...]) -> None:
    check_inputs(inputs)
    check_outputs({"-o": output}, [*inputs, *vector_files(specs)])


def _say(line: str, *, quiet: bool) -> None:
    if not quiet:
        complain(line)
