"""Metrics of label sets and captions: the numbers that a paper would print."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from semmetrics._version import __version__

if TYPE_CHECKING:
    from semmetrics.api import score, score_systems
    from semmetrics.api.thresholds import calibrate_threshold, calibrate_threshold_on_pairs, sweep
    from semmetrics.comparison.ranks import rank_systems
    from semmetrics.data.caption_inputs import as_captions
    from semmetrics.data.inputs import as_labels
    from semmetrics.errors import InputError, MissingDependencyError
    from semmetrics.metrics.captions.documents import fit_frequencies
    from semmetrics.metrics.captions.frequencies import DocumentFrequencies
    from semmetrics.metrics.definition import Measure
    from semmetrics.metrics.registry import parse
    from semmetrics.metrics.set_measures import measure
    from semmetrics.reports.records import Records
    from semmetrics.reports.table import ScoreTable
    from semmetrics.reports.threshold_curves import ThresholdSweep
    from semmetrics.reports.validation import validate
    from semmetrics.scoring.calibration import Calibration
    from semmetrics.scoring.caption_matrix import caption_blocks, caption_matrix, caption_top_k
    from semmetrics.scoring.intervals import Bootstrap
    from semmetrics.scoring.score import Score

_HOMES = {
    "score": "semmetrics.api",
    "score_systems": "semmetrics.api",
    "as_labels": "semmetrics.data.inputs",
    "InputError": "semmetrics.errors",
    "MissingDependencyError": "semmetrics.errors",
    "measure": "semmetrics.metrics.set_measures",
    "Measure": "semmetrics.metrics.definition",
    "Records": "semmetrics.reports.records",
    "ScoreTable": "semmetrics.reports.table",
    "rank_systems": "semmetrics.comparison.ranks",
    "validate": "semmetrics.reports.validation",
    "Bootstrap": "semmetrics.scoring.intervals",
    "parse": "semmetrics.metrics.registry",
    "Score": "semmetrics.scoring.score",
    "ThresholdSweep": "semmetrics.reports.threshold_curves",
    "Calibration": "semmetrics.scoring.calibration",
    "sweep": "semmetrics.api.thresholds",
    "calibrate_threshold": "semmetrics.api.thresholds",
    "calibrate_threshold_on_pairs": "semmetrics.api.thresholds",
    "as_captions": "semmetrics.data.caption_inputs",
    "caption_blocks": "semmetrics.scoring.caption_matrix",
    "caption_matrix": "semmetrics.scoring.caption_matrix",
    "caption_top_k": "semmetrics.scoring.caption_matrix",
    "DocumentFrequencies": "semmetrics.metrics.captions.frequencies",
    "fit_frequencies": "semmetrics.metrics.captions.documents",
}
_ROOMS = ("metrics",)

__all__ = [
    "Bootstrap",
    "Calibration",
    "DocumentFrequencies",
    "InputError",
    "Measure",
    "MissingDependencyError",
    "Records",
    "Score",
    "ScoreTable",
    "ThresholdSweep",
    "__version__",
    "as_captions",
    "as_labels",
    "calibrate_threshold",
    "calibrate_threshold_on_pairs",
    "caption_blocks",
    "caption_matrix",
    "caption_top_k",
    "fit_frequencies",
    "measure",
    "parse",
    "rank_systems",
    "score",
    "score_systems",
    "sweep",
    "validate",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that importing the package costs little."""
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    if name in _ROOMS:
        return importlib.import_module(f"semmetrics.{name}")
    raise AttributeError(f"module 'semmetrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_ROOMS]
