"""Studies, which combine several scores or work without scores.

Comparisons with a baseline, ranks over datasets, agreement with people, maximum
discrepancy competitions, and thresholds of similarity. This package has the functions
of `semmetrics` for these, and their building blocks.
"""

from __future__ import annotations

import importlib
from typing import Any

_NAMES_OF_MODULES = {
    "scoring.protocols": "AGREEMENT_PROTOCOLS AgreementProtocol",
    "scoring.runs": "RunSummary summarize",
    "studies.agreement": "Agreement AgreementDesign Judged measure_agreement",
    "studies.agreement_table": "AgreementTable",
    "studies.annotation_page": "write_annotation_page",
    "studies.comparison_table": "ComparisonTable",
    "studies.comparisons": "compare compare_scores",
    "studies.competition": "CompetitionRanking rank_competition",
    "studies.competition_state": "DiscrepancySelection",
    "studies.correlations": "Correlation correlate_values correlation",
    "studies.differences": "Design Difference",
    "studies.discrepancy": "add_systems select_discrepant",
    "studies.dominance": "GlobalRank compute_dominance rank_dominance",
    "studies.inspections": "inspect_sheets",
    "studies.meta_evaluation": "meta",
    "studies.pair_correlations": "correlate",
    "studies.rank_diagram": "draw_mean_ranks",
    "studies.ranking": "Rank Ranking",
    "studies.ranks": "rank_normalized rank_systems",
    "studies.rank_tests": "critical_difference friedman nemenyi_p rank_differences rank_matrix "
    "rank_rows signed_rank_p",
    "studies.significance": "correct_p shifted_p shifted_size_p simulated_p student_t williams_p",
    "studies.sweeps": "ThresholdSweep sweep sweep_systems",
    "studies.thresholds": "calibrate_threshold calibrate_threshold_on_pairs",
    "studies.validation": "tabulate_order",
    "studies.value_tables": "read_values",
    "studies.values": "compare_values",
}
"""The public names of each module, separated by spaces."""

_MODULE_OF_NAME: dict[str, str] = {}
for _module, _names in _NAMES_OF_MODULES.items():
    _MODULE_OF_NAME |= dict.fromkeys(_names.split(), f"semmetrics.{_module}")

__all__ = sorted(_MODULE_OF_NAME)  # noqa: PLE0605  (A list, made from the table.)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module 'semmetrics.studies' has no attribute {name!r}")
    module = importlib.import_module(_MODULE_OF_NAME[name])
    return getattr(module, name)


def __dir__() -> list[str]:
    return list(_MODULE_OF_NAME)
