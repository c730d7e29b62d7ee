"""Thresholds of similarity, in one call: values over thresholds, and the calibration of one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from inspect import signature
from typing import Any

from semmetrics.api import score_systems, system_name
from semmetrics.api.scores import said_kind
from semmetrics.data.beside import as_pairs
from semmetrics.data.form import ReadOptions
from semmetrics.errors import InputError, listing
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.reports.threshold_sweep import ThresholdSweep
from semmetrics.scoring.calibrating import of_contrast, of_pairs, pairs_task
from semmetrics.scoring.calibration import Calibration
from semmetrics.scoring.fits import BEST
from semmetrics.scoring.models import with_models
from semmetrics.scoring.notes import notes_on, unused_cache
from semmetrics.scoring.parse import parse, parse_all
from semmetrics.scoring.statistics import check_kind
from semmetrics.scoring.threshold_points import check_swept, threshold_points

__all__ = ["calibrate_threshold", "calibrate_threshold_on_pairs", "sweep"]

Named = str | Measure | Definition


def sweep(
    preds: Any,
    gts: Any,
    *,
    measures: Iterable[Named] | str = ("SemF1",),
    thresholds: Any = None,
    system: str | None = None,
    **options: Any,
) -> ThresholdSweep:
    """Values of semantic measures at each of many thresholds, in one pass over the data.

    Labels are joined and looked up once, and their similarities computed once.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measures : sequence of str, Measure or Definition
        Measures with a threshold of similarity: "SemF1", "SemRecall(match=optimal)@5".
    thresholds : str or iterable of float, optional
        "START:STOP:STEP" with both ends, or numbers; left out, 0, 0.01, … 1.
    system : str, optional
    **options
        As for ``score_systems``: embedding, lookup, oov, normalize, top_k and so on.

    Returns
    -------
    ThresholdSweep

    Raises
    ------
    InputError
        If a measure has no threshold of similarity, or the input or an option is wrong.

    Examples
    --------
    >>> found = sweep([["bike"], ["cat"]], [["bicycle"], ["car"]], thresholds="0.1:0.9:0.4")
    >>> found.points, found.values
    ((0.1, 0.5, 0.9), {'SemF1': [1.0, 0.5, 0.5]})
    """
    _check_options("sweep", options)
    asked = parse_all([measures] if isinstance(measures, Named) else measures)
    check_swept(asked)
    _check_task(asked, options)
    points = threshold_points(thresholds)
    table = score_systems(
        {system or system_name(preds): preds},
        gts,
        measures=[one.with_options(threshold=point) for one in asked for point in points],
        keep_rows=False,
        **options,
    )
    return ThresholdSweep.of(points, table.scores, table.notes)


def calibrate_threshold(
    preds: Any,
    gts: Any,
    *,
    measure: Named = "SemF1",
    part: float = 0.2,
    seed: int = 12345,
    thresholds: Any = None,
    **options: Any,
) -> Calibration:
    """Find the threshold of an embedding on predictions and ground truth, by contrast.

    On a held part of the items, the measure of predictions with their own references is compared
    with that of the same predictions with the references of another item. The threshold with the
    largest difference is taken, of equal ones the highest. It needs no labelled pairs; the
    criterion is semmetrics' own.

    Parameters
    ----------
    preds, gts
        As for ``score``.
    measure : str, Measure or Definition
        One with a threshold of similarity.
    part : float
        The share of items that are used. An item is chosen by a hash of its id and the seed,
        whatever other items there are.
    seed : int
    thresholds : str or iterable of float, optional
        Those to choose from; left out, 0, 0.01, … 1.
    **options
        As for ``score_systems``: embedding, lookup, oov, normalize and so on.

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If the measure has no threshold of similarity, the part has fewer than two items, the
        predictions go no better with their own references than with others, or the input or an
        option is wrong.

    Examples
    --------
    >>> preds = {"a": ["bike"], "b": ["cat", "dog"], "c": ["boat"]}
    >>> gts = {"a": ["bicycle"], "b": ["kitten"], "c": ["ship"]}
    >>> found = calibrate_threshold(preds, gts, part=1, thresholds="0:0.9:0.1")
    >>> found.criterion, found.n, len(found.curve["contrast"])
    ('SemF1', 3, 10)
    """
    chosen = _calibrated(measure, options)
    points = threshold_points(thresholds)
    for name in ("top_k", "decode", "min_labels", "measures", "protocol", "ci", "calibration"):
        if _given(options.get(name)):
            raise InputError(
                f"{name} does not go with a calibration",
                remedy="write cutoff and rule into the measure: SemF1(decode=threshold:0.5)@5",
            )
    _check_options("calibrate_threshold", options)
    name, probe = system_name(preds), _probe(chosen)
    table = score_systems({name: preds}, gts, measures=[probe], keep_rows=False, **options)
    task: Any = table.tasks[name]
    found = of_contrast(task, chosen, points=points, part=part, seed=seed)
    return replace(found, notes=tuple(table.notes))


def _calibrated(measure: Named, options: Mapping[str, Any]) -> Measure:
    """The one measure to calibrate by; refuses those that cannot be."""
    several = parse(measure) if isinstance(measure, str) else parse_all([measure])
    if len(several) != 1:
        raise InputError(f"{measure} are {len(several)} measures", remedy="calibrate by one")
    check_swept(several)
    _check_task(several, options)
    if several[0]["decode"] == BEST:
        raise InputError(
            f"decode={BEST} is itself fitted", remedy="give a score threshold: decode=threshold:0.5"
        )
    return several[0]


def _given(value: Any) -> bool:
    """Whether an option has a value that asks for something."""
    try:
        return bool(value)
    except ValueError:  # an array of several
        return True


def _check_options(function: str, options: Mapping[str, Any]) -> None:
    """Refuse names that are no options of ``score_systems``, or that the function itself sets."""
    own = ("systems", "gts", "measures", "keep_rows")
    known = [name for name in signature(score_systems).parameters if name not in own]
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=3, cutoff=0.5)
            every = f"choose one of {', '.join(known)}"
            hint = f"did you mean {' or '.join(near)}?" if near else every
            raise InputError(f"{function} has no option {name!r}", remedy=hint)


def _check_task(measures: Iterable[Measure], options: Mapping[str, Any]) -> None:
    """Refuse a task that the measures are not of, before others stand in their place."""
    check_kind(measures, str(said_kind(options.get("task"), None, measures)))


def _probe(measure: Measure) -> Measure:
    """What reads, joins, and looks labels up, and has no threshold of which something is said.

    The cutoff is one that a matrix of scores and lists without scores can have.
    """
    return parse("SoftF1@1")[0].with_options(embedding=measure["embedding"])


def calibrate_threshold_on_pairs(
    pairs: Any,
    embedding: Any = None,
    *,
    criterion: str = "f1",
    lookup: str = "auto",
    oov: str = "zero",
    normalize: str = "none",
    device: str | None = None,
    limit: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    read: ReadOptions | None = None,
) -> Calibration:
    """Find the threshold of an embedding on labelled pairs.

    Parameters
    ----------
    pairs : path, or sequence of (a, b, same)
        A CSV, TSV, JSON or JSONL file with the columns ``a``, ``b`` and ``same``, or such triples.
    embedding : str, path, Embedder or callable, optional
        Left out, the static model that ships with the package.
    criterion : {"f1", "youden", "accuracy"}
        What is largest at the threshold; of equally good thresholds the highest is taken.
    lookup, oov, normalize
        As for ``score_systems``.
    device : str, optional
    limit : int, optional
    cache : bool or path
        As for ``score_systems``.
    read : ReadOptions, optional

    Returns
    -------
    Calibration
        For ``score(calibration=…)``.

    Raises
    ------
    InputError
        If the pairs are not of both kinds, the embedding has a name, or the input or an option is
        wrong.

    Examples
    --------
    >>> pairs = [("car", "automobile", 1), ("bike", "bicycle", 1), ("car", "tree", 0)]
    >>> found = calibrate_threshold_on_pairs(pairs)
    >>> found.value, found.auc, 0.3 < found.threshold < 0.86
    (1.0, 1.0, True)
    """
    if isinstance(embedding, Mapping) and set(embedding) != {"default"}:
        raise InputError(
            f"pairs are compared by one embedding, and names are given: {listing(embedding)}",
            remedy="give the embedding itself (--embedding SPEC)",
        )
    known = as_pairs(pairs) if read is None else as_pairs(pairs, read)
    task = pairs_task(known, normalize)
    rules: dict[str, Any] = {"lookup": lookup, "oov": oov, "device": device, "limit": limit}
    models = with_models({"pairs": task}, parse("SemF1"), embedding, cache=cache, **rules)
    found = of_pairs(models["pairs"], known, criterion=criterion)
    return replace(found, notes=(*notes_on(models, []), *unused_cache(models, cache)))
