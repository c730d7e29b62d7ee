"""Metrics of label sets and captions: the numbers that a paper would print."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from semmetrics._version import __version__

if TYPE_CHECKING:
    from semmetrics.api.scores import rescore, score, score_systems
    from semmetrics.api.similarity_thresholds import (
        calibrate_threshold,
        calibrate_threshold_on_pairs,
        sweep,
    )
    from semmetrics.comparison.ranks import rank_systems
    from semmetrics.data.form import ReadOptions
    from semmetrics.errors import InputError, MissingDependencyError
    from semmetrics.metrics.definition import Measure
    from semmetrics.metrics.document_frequencies import (
        DocumentFrequencies,
        fit_document_frequencies,
    )
    from semmetrics.metrics.registry import parse
    from semmetrics.metrics.set_measures import measure
    from semmetrics.reports.records import Records
    from semmetrics.reports.table import ScoreTable
    from semmetrics.reports.threshold_curves import ThresholdSweep
    from semmetrics.reports.validation import validate
    from semmetrics.scoring.bootstrap import Bootstrap
    from semmetrics.scoring.calibration import Calibration
    from semmetrics.scoring.pair_matrix import caption_blocks, caption_matrix, caption_top_k
    from semmetrics.scoring.score import Score

_HOMES = {
    "score": "semmetrics.api.scores",
    "score_systems": "semmetrics.api.scores",
    "rescore": "semmetrics.api.scores",
    "as_labels": "semmetrics.kinds.labels.reading",
    "InputError": "semmetrics.errors",
    "MissingDependencyError": "semmetrics.errors",
    "measure": "semmetrics.metrics.set_measures",
    "Measure": "semmetrics.metrics.definition",
    "ReadOptions": "semmetrics.data.form",
    "Records": "semmetrics.reports.records",
    "ScoreTable": "semmetrics.reports.table",
    "rank_systems": "semmetrics.comparison.ranks",
    "validate": "semmetrics.reports.validation",
    "Bootstrap": "semmetrics.scoring.bootstrap",
    "parse": "semmetrics.metrics.registry",
    "Score": "semmetrics.scoring.score",
    "ThresholdSweep": "semmetrics.reports.threshold_curves",
    "Calibration": "semmetrics.scoring.calibration",
    "sweep": "semmetrics.api.similarity_thresholds",
    "calibrate_threshold": "semmetrics.api.similarity_thresholds",
    "calibrate_threshold_on_pairs": "semmetrics.api.similarity_thresholds",
    "as_captions": "semmetrics.kinds.captions.reading",
    "caption_blocks": "semmetrics.scoring.pair_matrix",
    "caption_matrix": "semmetrics.scoring.pair_matrix",
    "caption_top_k": "semmetrics.scoring.pair_matrix",
    "DocumentFrequencies": "semmetrics.metrics.document_frequencies",
    "fit_document_frequencies": "semmetrics.metrics.document_frequencies",
}
_ROOMS = ("metrics",)

__all__ = [
    "Bootstrap",
    "Calibration",
    "DocumentFrequencies",
    "InputError",
    "Measure",
    "MissingDependencyError",
    "ReadOptions",
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
    "fit_document_frequencies",
    "measure",
    "parse",
    "rank_systems",
    "rescore",
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
