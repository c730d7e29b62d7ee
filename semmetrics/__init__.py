"""Metrics of label sets, with the numbers that a paper would print and no doubt about them."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from semmetrics._version import __version__

if TYPE_CHECKING:
    from semmetrics.api import score, score_systems
    from semmetrics.data.inputs import as_labels
    from semmetrics.errors import InputError, MissingDependencyError
    from semmetrics.metrics.catalogue import measure
    from semmetrics.metrics.definition import Measure
    from semmetrics.reports.table import ScoreTable
    from semmetrics.reports.threshold_sweep import ThresholdSweep
    from semmetrics.scoring.calibration import Calibration
    from semmetrics.scoring.intervals import Bootstrap
    from semmetrics.scoring.parse import parse
    from semmetrics.scoring.score import Score
    from semmetrics.api.thresholds import calibrate_threshold, calibrate_threshold_on_pairs, sweep

_HOMES = {
    "score": "semmetrics.api",
    "score_systems": "semmetrics.api",
    "as_labels": "semmetrics.data.inputs",
    "InputError": "semmetrics.errors",
    "MissingDependencyError": "semmetrics.errors",
    "measure": "semmetrics.metrics.catalogue",
    "Measure": "semmetrics.metrics.definition",
    "ScoreTable": "semmetrics.reports.table",
    "Bootstrap": "semmetrics.scoring.intervals",
    "parse": "semmetrics.scoring.parse",
    "Score": "semmetrics.scoring.score",
    "ThresholdSweep": "semmetrics.reports.threshold_sweep",
    "Calibration": "semmetrics.scoring.calibration",
    "sweep": "semmetrics.api.thresholds",
    "calibrate_threshold": "semmetrics.api.thresholds",
    "calibrate_threshold_on_pairs": "semmetrics.api.thresholds",
}
_ROOMS = ("metrics",)

__all__ = [
    "Bootstrap",
    "Calibration",
    "InputError",
    "Measure",
    "MissingDependencyError",
    "Score",
    "ScoreTable",
    "ThresholdSweep",
    "__version__",
    "as_labels",
    "calibrate_threshold",
    "calibrate_threshold_on_pairs",
    "measure",
    "parse",
    "score",
    "score_systems",
    "sweep",
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
