"""Reproducible metrics for label sets, captions, retrieval and classification.

Values are computed exactly as the papers define them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from semmetrics._version import __version__ as __version__

# For editors and type checkers. At run time, a name is imported when it is first used.
if TYPE_CHECKING:
    from semmetrics.data.read_options import ReadOptions as ReadOptions
    from semmetrics.errors import InputError as InputError
    from semmetrics.errors import InputWarning as InputWarning
    from semmetrics.errors import MissingDependencyError as MissingDependencyError
    from semmetrics.kinds.captions import as_captions as as_captions
    from semmetrics.kinds.captions.matrix import caption_blocks as caption_blocks
    from semmetrics.kinds.captions.matrix import caption_matrix as caption_matrix
    from semmetrics.kinds.captions.matrix import caption_top_k as caption_top_k
    from semmetrics.kinds.classes import as_classes as as_classes
    from semmetrics.kinds.labels import as_labels as as_labels
    from semmetrics.kinds.retrieval import as_candidates as as_candidates
    from semmetrics.metrics.cider import DocumentFrequencies as DocumentFrequencies
    from semmetrics.metrics.cider import (
        fit_document_frequencies as fit_document_frequencies,
    )
    from semmetrics.metrics.count_measures import measure as measure
    from semmetrics.metrics.definition import Measure as Measure
    from semmetrics.metrics.parsing import parse as parse
    from semmetrics.reports import Records as Records
    from semmetrics.scoring.calibration import Calibration as Calibration
    from semmetrics.scoring.intervals import Bootstrap as Bootstrap
    from semmetrics.scoring.rescore import rescore as rescore
    from semmetrics.scoring.result import Score as Score
    from semmetrics.scoring.score import score as score
    from semmetrics.scoring.score import score_systems as score_systems
    from semmetrics.scoring.scorer import Scorer as Scorer
    from semmetrics.scoring.table import ScoreTable as ScoreTable
    from semmetrics.studies.agreement_table import AgreementTable as AgreementTable
    from semmetrics.studies.annotation_page import (
        write_annotation_page as write_annotation_page,
    )
    from semmetrics.studies.comparison_table import ComparisonTable as ComparisonTable
    from semmetrics.studies.comparisons import compare as compare
    from semmetrics.studies.competition import CompetitionRanking as CompetitionRanking
    from semmetrics.studies.competition import rank_competition as rank_competition
    from semmetrics.studies.competition_state import (
        DiscrepancySelection as DiscrepancySelection,
    )
    from semmetrics.studies.discrepancy import add_systems as add_systems
    from semmetrics.studies.discrepancy import select_discrepant as select_discrepant
    from semmetrics.studies.dominance import rank_dominance as rank_dominance
    from semmetrics.studies.explain import cite as cite
    from semmetrics.studies.explain import explain as explain
    from semmetrics.studies.explain import list_measures as list_measures
    from semmetrics.studies.meta_evaluation import meta as meta
    from semmetrics.studies.pair_correlations import correlate as correlate
    from semmetrics.studies.ranking import Ranking as Ranking
    from semmetrics.studies.ranks import rank_systems as rank_systems
    from semmetrics.studies.sweeps import ThresholdSweep as ThresholdSweep
    from semmetrics.studies.sweeps import sweep as sweep
    from semmetrics.studies.sweeps import sweep_systems as sweep_systems
    from semmetrics.studies.thresholds import calibrate_threshold as calibrate_threshold
    from semmetrics.studies.thresholds import (
        calibrate_threshold_on_pairs as calibrate_threshold_on_pairs,
    )
    from semmetrics.studies.validation import validate as validate

_NAMES_OF_MODULES = {
    "data.read_options": "ReadOptions",
    "errors": "InputError InputWarning MissingDependencyError",
    "kinds.captions": "as_captions",
    "kinds.classes": "as_classes",
    "kinds.labels": "as_labels",
    "kinds.captions.matrix": "caption_blocks caption_matrix caption_top_k",
    "kinds.retrieval": "as_candidates",
    "metrics.cider": "DocumentFrequencies fit_document_frequencies",
    "metrics.definition": "Measure",
    "metrics.parsing": "parse",
    "metrics.count_measures": "measure",
    "reports": "Records",
    "scoring.calibration": "Calibration",
    "scoring.intervals": "Bootstrap",
    "scoring.result": "Score",
    "scoring.rescore": "rescore",
    "scoring.score": "score score_systems",
    "scoring.scorer": "Scorer",
    "scoring.table": "ScoreTable",
    "studies.agreement_table": "AgreementTable",
    "studies.meta_evaluation": "meta",
    "studies.comparison_table": "ComparisonTable",
    "studies.comparisons": "compare",
    "studies.competition": "CompetitionRanking rank_competition",
    "studies.competition_state": "DiscrepancySelection",
    "studies.dominance": "rank_dominance",
    "studies.pair_correlations": "correlate",
    "studies.discrepancy": "add_systems select_discrepant",
    "studies.explain": "cite explain list_measures",
    "studies.validation": "validate",
    "studies.ranking": "Ranking",
    "studies.ranks": "rank_systems",
    "studies.annotation_page": "write_annotation_page",
    "studies.sweeps": "ThresholdSweep sweep sweep_systems",
    "studies.thresholds": "calibrate_threshold calibrate_threshold_on_pairs",
}
"""The public names by the module that defines them, separated by spaces."""
_PUBLIC_MODULES = ("metrics", "plots")


def _find_modules() -> dict[str, str]:
    """Return the module that defines each public name."""
    modules = {}
    for module, names in _NAMES_OF_MODULES.items():
        for name in names.split():
            modules[name] = f"semmetrics.{module}"
    return modules


_MODULE_OF_NAME = _find_modules()

__all__ = sorted(["__version__", *_MODULE_OF_NAME])  # noqa: PLE0605  (it is a list)


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that importing the package costs little."""
    if name in _MODULE_OF_NAME:
        module = importlib.import_module(_MODULE_OF_NAME[name])
        value = getattr(module, name)
        globals()[name] = value
        return value
    if name in _PUBLIC_MODULES:
        return importlib.import_module(f"semmetrics.{name}")
    raise AttributeError(f"module 'semmetrics' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *_PUBLIC_MODULES]
