"""Thresholds of similarity, in one call: values over thresholds, and the calibration of one."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from typing import Any

from semmetrics.api.scores import document_options, system_name, table_of
from semmetrics.arguments import checked
from semmetrics.data.form import ReadOptions
from semmetrics.data.side_inputs import as_pairs
from semmetrics.errors import InputError, render_facts
from semmetrics.kinds.labels.facts import label_facts
from semmetrics.kinds.labels.record import prepare
from semmetrics.messages import brief, listing
from semmetrics.metrics.definition import Definition, Measure
from semmetrics.metrics.registry import all_definitions, parse, parse_all
from semmetrics.options import OPTIONS, check_options, is_given, resolve_options
from semmetrics.reports.threshold_curves import ThresholdSweep
from semmetrics.scoring.calibration import Calibration, of_contrast, of_pairs, pairs_task
from semmetrics.scoring.evaluate import check_kind
from semmetrics.scoring.fits import BEST
from semmetrics.scoring.plan import prepare_systems, resolve_task
from semmetrics.scoring.protocols import listed

__all__ = ["calibrate_threshold", "calibrate_threshold_on_pairs", "sweep"]

Named = str | Measure | Definition
_OTHERS = tuple(n for n, one in OPTIONS.items() if one.kinds and "labels" not in one.kinds)
_OWN = ("measures", "threshold", "keep_rows", *_OTHERS)  # what a sweep sets itself, or has not
_POINTS, _MOST = "0:1:0.01", 10_001
_REMEDY = "write START:STOP:STEP, as 0:1:0.05, or 0.3,0.4,0.5"
_IN_MEASURE = (
    "top_k", "decode", "keep_at_least", "measures", "protocol", "ci", "calibration"
)  # fmt: skip


@document_options(*_OWN)
@checked
def sweep(
    preds: Any,
    gts: Any,
    *,
    measures: Named | Iterable[Named] = ("SemF1",),
    thresholds: str | float | Iterable[float] | None = None,
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
    check_options("sweep", options, [name for name in OPTIONS if name not in _OWN])
    asked = parse_all(listed(measures))
    _check_swept(asked, options)
    points = _threshold_points(thresholds)
    every = [one.with_options(threshold=point) for one in asked for point in points]
    given = {**options, "measures": every, "keep_rows": False}
    table = table_of(prepare_systems({system or system_name(preds): preds}, gts, given))
    return ThresholdSweep.of(points, table)


@document_options(
    *_IN_MEASURE, *_OTHERS, "threshold", "keep_rows", "ci_method", "seed", "resamples", "level",
    "progress",
)  # fmt: skip
@checked
def calibrate_threshold(
    preds: Any,
    gts: Any,
    *,
    measure: Named = "SemF1",
    holdout: float = 0.2,
    seed: int = 12345,
    thresholds: str | float | Iterable[float] | None = None,
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
    holdout : float
        The share of items that are used. An item is chosen by a hash of its id and the seed,
        whatever other items there are.
    seed : int
    thresholds : str or iterable of float, optional
        Those to choose from; left out, 0, 0.01, … 1.
    **options

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
    >>> found = calibrate_threshold(preds, gts, holdout=1, thresholds="0:0.9:0.1")
    >>> found.criterion, found.n, len(found.curve["contrast"])
    ('SemF1', 3, 10)
    """
    check_options(
        "calibrate_threshold",
        options,
        [name for name in OPTIONS if name not in ("threshold", "keep_rows", *_OTHERS)],
    )
    chosen = _calibrated(measure, options)
    points = _threshold_points(thresholds)
    for name in _IN_MEASURE:
        if is_given(options.get(name)):
            raise InputError(
                f"{name} does not go with a calibration",
                remedy="write cutoff and rule into the measure: SemF1(decode=threshold:0.5)@5",
            )
    name = system_name(preds)
    prepared = prepare_systems({name: preds}, gts, {**options, "measures": [chosen]})
    task: Any = prepared.tasks[name][""]
    found = of_contrast(task, chosen, points=points, holdout=holdout, seed=seed)
    notes = (*found.notes, *prepared.notes())
    return replace(found, notes=notes, understood=tuple(prepared.understood()))


def _calibrated(measure: Named, options: Mapping[str, Any]) -> Measure:
    """The one measure to calibrate by; refuses those that cannot be."""
    several = parse(measure) if isinstance(measure, str) else parse_all([measure])
    if len(several) != 1:
        raise InputError(f"{measure} are {len(several)} measures", remedy="calibrate by one")
    _check_swept(several, options)
    if several[0]["decode"] == BEST:
        raise InputError(
            f"decode={BEST} is itself fitted", remedy="give a score threshold: decode=threshold:0.5"
        )
    return several[0]


def _check_swept(measures: Iterable[Measure], options: Mapping[str, Any]) -> None:
    """Refuse measures without a threshold, or with one already, and a task that is not theirs."""
    for measure in measures:
        if measure["threshold"] is None:
            having = [
                definition.name
                for definition in all_definitions()
                if any(option.name == "threshold" for option in definition.options)
            ]
            raise InputError(
                f"{measure} has no threshold of similarity",
                remedy=f"those that have one are {', '.join(having)}; score thresholds are those "
                "of decode=threshold:0.5 (semmetrics score --threshold 0.3,0.5)",
            )
        if measure["threshold"] != "auto":
            raise InputError(
                f"{measure} has its threshold already", remedy="leave threshold out of the measure"
            )
    check_kind(measures, str(resolve_task(options.get("task"), None, measures)))


@checked
def calibrate_threshold_on_pairs(
    pairs: Any,
    embedding: Any = None,
    *,
    criterion: str = "f1",
    lookup: str | None = None,
    oov: str | None = None,
    normalize: str | None = None,
    device: str | None = None,
    max_words: int | None = None,
    cache: bool | str | os.PathLike[str] = False,
    read: ReadOptions | None = None,
) -> Calibration:
    """Find the threshold of an embedding on labelled pairs.

    Parameters
    ----------
    pairs : path, or sequence of (a, b, same)
        A CSV, TSV, JSON or JSONL file with the columns ``a``, ``b`` and ``same``, or such triples.
    embedding : str, path, Embedder, callable or mapping from word to vector, optional
        Left out, the static model that ships with the package.
    criterion : {"f1", "youden", "accuracy"}
        What is largest at the threshold; of equally good thresholds the highest is taken.
    lookup, oov, normalize, device, max_words, cache, read
        As for ``score``.

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
    if isinstance(embedding, Mapping):
        from semmetrics.embed.open import named_or_words

        embedding = named_or_words(embedding)
    if isinstance(embedding, Mapping) and set(embedding) != {"default"}:
        raise InputError(
            f"pairs are compared by one embedding, and names are given: {listing(embedding)}",
            remedy="give the embedding itself as embedding= (--embedding SPEC)",
        )
    given = {"embedding": embedding, "lookup": lookup, "oov": oov, "normalize": normalize}
    given |= {"device": device, "max_words": max_words, "cache": cache, "read": read}
    options = resolve_options(given, "labels")
    said: list[str] = []
    known = as_pairs(pairs, ReadOptions() if read is None else read, said)
    task = pairs_task(known, options["normalize"])
    measures = parse("SemF1")
    tasks = prepare({"pairs": {"": task}}, measures, options)
    found = of_pairs(tasks["pairs"][""], known, criterion=criterion)
    notes = render_facts(label_facts(tasks, measures, options, {}))
    return replace(found, notes=(*map(str, said), *found.notes, *notes))


def _threshold_points(given: Any) -> list[float]:
    """Return thresholds, rising; decimal steps are exact, so that 0.3 is the float 0.3.

    Raises
    ------
    InputError
        If one is no cosine, stands twice, or there are none or more than 10,001.
    """
    given = _POINTS if given is None else given
    if isinstance(given, str):
        found = _steps(given) if ":" in given else [_decimal(part) for part in given.split(",")]
        points = sorted(map(float, found))
    else:
        points = sorted(map(_number, given if isinstance(given, Iterable) else [given]))
    if not points or len(points) > _MOST:
        raise InputError(f"{len(points):,} thresholds", remedy=f"give 1 to {_MOST:,}")
    twice = next((a for a, b in pairwise(points) if a == b), None)
    if twice is not None:
        raise InputError(f"the threshold {twice!r} is given twice", remedy="give each once")
    outside = next((point for point in points if not -1 <= point <= 1), None)
    if outside is not None:
        raise InputError(f"the threshold {outside!r} is no cosine", remedy="give -1 to 1")
    return points


def _steps(text: str) -> list[Decimal]:
    parts = text.split(":")
    if len(parts) != 3:
        raise InputError(f"{text!r} are no thresholds", remedy=_REMEDY)
    start, stop, step = map(_decimal, parts)
    if step <= 0 or stop < start:
        raise InputError(f"{text!r} is no rising row of thresholds", remedy=_REMEDY)
    if (stop - start) / step > _MOST:
        raise InputError(f"{text!r} are more than {_MOST:,} thresholds", remedy="take larger steps")
    return [start + place * step for place in range(int((stop - start) / step) + 1)]


def _decimal(text: str) -> Decimal:
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        number = Decimal("nan")
    if not number.is_finite():
        raise InputError(f"{text!r} is no threshold", remedy=_REMEDY)
    return number


def _number(value: Any) -> float:
    try:
        if isinstance(value, bool):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{brief(value)} is no threshold", remedy="give numbers from -1 to 1")
    return number
