"""Metrics of label sets, captions, retrieval and classes: the numbers that papers print."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from semmetrics._version import __version__ as __version__

if TYPE_CHECKING:  # what is loaded at its first use, for editors and type checkers
    from semmetrics.api.agreement import correlate as correlate
    from semmetrics.api.comparisons import compare as compare
    from semmetrics.api.competition import rank_competition as rank_competition
    from semmetrics.api.dataset_ranks import rank_systems as rank_systems
    from semmetrics.api.discrepancy import add_systems as add_systems
    from semmetrics.api.discrepancy import select_discrepant as select_discrepant
    from semmetrics.api.meta_evaluation import meta as meta
    from semmetrics.api.scorer import Scorer as Scorer
    from semmetrics.api.scores import rescore as rescore
    from semmetrics.api.scores import score as score
    from semmetrics.api.scores import score_systems as score_systems
    from semmetrics.api.similarity_thresholds import calibrate_threshold as calibrate_threshold
    from semmetrics.api.similarity_thresholds import (
        calibrate_threshold_on_pairs as calibrate_threshold_on_pairs,
    )
    from semmetrics.api.similarity_thresholds import sweep as sweep
    from semmetrics.comparison.dominance import rank_dominance as rank_dominance
    from semmetrics.data.form import ReadOptions as ReadOptions
    from semmetrics.errors import InputError as InputError
    from semmetrics.errors import MissingDependencyError as MissingDependencyError
    from semmetrics.kinds.captions import as_captions as as_captions
    from semmetrics.kinds.captions.matrix import caption_blocks as caption_blocks
    from semmetrics.kinds.captions.matrix import caption_matrix as caption_matrix
    from semmetrics.kinds.captions.matrix import caption_top_k as caption_top_k
    from semmetrics.kinds.classes import as_classes as as_classes
    from semmetrics.kinds.labels import as_labels as as_labels
    from semmetrics.kinds.retrieval import as_candidates as as_candidates
    from semmetrics.metrics.cider import DocumentFrequencies as DocumentFrequencies
    from semmetrics.metrics.cider import fit_document_frequencies as fit_document_frequencies
    from semmetrics.metrics.definition import Measure as Measure
    from semmetrics.metrics.registry import parse as parse
    from semmetrics.metrics.set_measures import measure as measure
    from semmetrics.reports.agreement_table import AgreementTable as AgreementTable
    from semmetrics.reports.annotation_page import write_annotation_page as write_annotation_page
    from semmetrics.reports.comparison_table import ComparisonTable as ComparisonTable
    from semmetrics.reports.competition_ranking import CompetitionRanking as CompetitionRanking
    from semmetrics.reports.explain import cite as cite
    from semmetrics.reports.explain import explain as explain
    from semmetrics.reports.explain import list_measures as list_measures
    from semmetrics.reports.rank_table import Ranking as Ranking
    from semmetrics.reports.records import Records as Records
    from semmetrics.reports.selection import DiscrepancySelection as DiscrepancySelection
    from semmetrics.reports.table import ScoreTable as ScoreTable
    from semmetrics.reports.threshold_curves import ThresholdSweep as ThresholdSweep
    from semmetrics.reports.validation import validate as validate
    from semmetrics.scoring.calibration import Calibration as Calibration
    from semmetrics.scoring.intervals import Bootstrap as Bootstrap
    from semmetrics.scoring.result import Score as Score

_PUBLIC = {
    "api.comparisons": ("compare",),
    "api.agreement": ("correlate",),
    "api.competition": ("rank_competition",),
    "api.discrepancy": ("add_systems", "select_discrepant"),
    "api.dataset_ranks": ("rank_systems",),
    "api.meta_evaluation": ("meta",),
    "api.scorer": ("Scorer",),
    "api.scores": ("score", "score_systems", "rescore"),
    "api.similarity_thresholds": ("sweep", "calibrate_threshold", "calibrate_threshold_on_pairs"),
    "comparison.dominance": ("rank_dominance",),
    "data.form": ("ReadOptions",),
    "errors": ("InputError", "MissingDependencyError"),
    "kinds.captions": ("as_captions",),
    "kinds.classes": ("as_classes",),
    "kinds.labels": ("as_labels",),
    "kinds.retrieval": ("as_candidates",),
    "metrics.definition": ("Measure",),
    "metrics.cider": ("DocumentFrequencies", "fit_document_frequencies"),
    "metrics.registry": ("parse",),
    "metrics.set_measures": ("measure",),
    "reports.agreement_table": ("AgreementTable",),
    "reports.explain": ("cite", "explain", "list_measures"),
    "reports.annotation_page": ("write_annotation_page",),
    "reports.competition_ranking": ("CompetitionRanking",),
    "reports.comparison_table": ("ComparisonTable",),
    "reports.rank_table": ("Ranking",),
    "reports.records": ("Records",),
    "reports.selection": ("DiscrepancySelection",),
    "reports.table": ("ScoreTable",),
    "reports.threshold_curves": ("ThresholdSweep",),
    "reports.validation": ("validate",),
    "scoring.intervals": ("Bootstrap",),
    "scoring.calibration": ("Calibration",),
    "kinds.captions.matrix": ("caption_blocks", "caption_matrix", "caption_top_k"),
    "scoring.result": ("Score",),
}
_HOMES = {name: f"semmetrics.{home}" for home, names in _PUBLIC.items() for name in names}
_ROOMS = ("metrics",)

__all__ = sorted(["__version__", *_HOMES])  # noqa: PLE0605  (a list, from the table)


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
