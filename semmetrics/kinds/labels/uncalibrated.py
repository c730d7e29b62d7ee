"""Thresholds of similarity that nobody calibrated for the embedding they are used with."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from semmetrics.data.form import DEFAULTS
from semmetrics.kinds import Options, Tasks, each_task
from semmetrics.metrics.definition import Measure
from semmetrics.options import OPTIONS

__all__ = ["uncalibrated_notes"]

_FEW = 150  # items of which a fifth, the share that calibrating holds, are too few for a threshold
_WORD2VEC = re.compile(r"word2vec|google-?news", re.IGNORECASE)
# Options that calibrating takes too, and that change the similarity or the labels.
_TAKEN = ("normalize", "missing", "empty_predictions", "lookup", "oov", "device", "max_words")


def uncalibrated_notes(
    tasks: Tasks, measures: Sequence[Measure], options: Options, inputs: Sequence[Any]
) -> list[str]:
    """Say which embeddings are used with a threshold that is another one's.

    Parameters
    ----------
    tasks : mapping from system and part to LabelTask
    measures : sequence of Measure
        As they were asked for, before the threshold is known.
    options : ResolvedOptions
    inputs : sequence of Lists
        The predictions of each system, then the ground truth.

    Returns
    -------
    list of str
        Each with the command that calibrates the embedding.
    """
    automatic = [measure for measure in measures if measure["threshold"] == "auto"]
    if not automatic or options["calibration"] is not None:
        return []
    models = next(task for _, task in each_task(tasks)).models
    identities = {name: models[name].embedder.identity for name in map(_name, automatic)}
    by_identity = {identities[_name(measure)]: measure for measure in reversed(automatic)}
    first = {_name(measure): measure for measure in reversed(by_identity.values())}
    few = min(len(task) for _, task in each_task(tasks)) < _FEW
    return [
        f"the threshold {models[name].threshold:g} is that of word2vec, and not calibrated for "
        f"{models[name].embedder.identity}: {_remedy(measure, options, inputs, all_items=few)}"
        for name, measure in first.items()
        if not _has_threshold(models[name].embedder, _specification(name, options))
    ]


def _name(measure: Measure) -> str:
    return str(measure["embedding"])


def _has_threshold(embedder: Any, spec: Any) -> bool:
    """Tell whether an embedding names its threshold, or is word2vec's, whose threshold is known."""
    named = isinstance(spec, str) and spec.startswith("word2vec:")
    return hasattr(embedder, "threshold") or named or bool(_WORD2VEC.search(embedder.identity))


def _specification(name: str, options: Options) -> Any:
    given = options["embedding"]
    return given.get(name) if isinstance(given, Mapping) else given


def _remedy(measure: Measure, options: Options, inputs: Sequence[Any], *, all_items: bool) -> str:
    """Write the command that calibrates an embedding; in Python's words where it has no name."""
    name, files = _name(measure), [one.source for one in inputs]
    spec = _specification(name, options)
    if not isinstance(spec, str | os.PathLike) or not all(map(os.path.exists, files)):
        more = ", holdout=1" if all_items else ""
        return (
            f"found = calibrate_threshold(preds, gts, embedding=...{more}), then calibration=found"
        )
    words = ["semmetrics", "calibrate"]
    words += [] if str(measure) == "SemF1" else ["-m", str(measure)]
    words += ["--embedding", os.fspath(spec) if name == "default" else f"{name}={spec}"]
    words += ["--holdout", "1"] if all_items else []
    for option in _TAKEN:
        if option in options.given:
            words += [OPTIONS[option].flag, str(options[option])]
    read = options["read"] or DEFAULTS
    for field in fields(read):
        value = getattr(read, field.name)
        if value != field.default and field.name != "classes":
            flag = "input-format" if field.name == "format" else field.name.replace("_", "-")
            words += [f"--{flag}", str(value)]
    words += ["--classes", "FILE"] if options["classes"] is not None else []
    command = shlex.join([*words, "-o", "threshold.json", files[0], files[-1]])
    return f"{command}, then calibration='threshold.json' (--calibration threshold.json)"
