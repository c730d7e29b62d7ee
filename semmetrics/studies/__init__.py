"""Studies: what needs several scores, or none at all.

Comparisons with a baseline, ranks over data sets, agreement with people, maximum
discrepancy competitions, and thresholds of similarity. The functions of `semmetrics`
and what they are made of.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    name: f"semmetrics.{home}"
    for home, names in {
        "scoring.protocols": "AGREEMENT_PROTOCOLS AgreementProtocol",
        "scoring.table": "RunSummary summarize",
        "studies.agreement": "Agreement AgreementDesign Judged measure_agreement",
        "studies.agreement_table": "AgreementTable",
        "studies.meta_evaluation": "meta",
        "studies.comparisons": "ComparisonTable Design Difference compare compare_scores",
        "studies.competition": "CompetitionRanking GlobalRank compute_dominance rank_competition rank_dominance",
        "studies.correlations": "Correlation correlate_values correlation",
        "studies.pair_correlations": "correlate",
        "studies.discrepancy": "DiscrepancySelection add_systems select_discrepant",
        "studies.validation": "tabulate_order",
        "studies.rank_diagram": "draw_mean_ranks",
        "studies.ranking": "Rank Ranking",
        "studies.ranks": "rank_normalized rank_systems",
        "studies.annotation_page": "write_annotation_page",
        "studies.inspections": "inspect_sheets",
        "studies.significance": "correct_p critical_difference friedman nemenyi_p rank_differences rank_matrix "
        "rank_rows shifted_p shifted_size_p signed_rank_p simulated_p student_t williams_p",
        "studies.value_tables": "read_values",
        "studies.values": "compare_values",
        "studies.sweeps": "ThresholdSweep sweep sweep_systems",
        "studies.thresholds": "calibrate_threshold calibrate_threshold_on_pairs",
    }.items()
    for name in names.split()
}

__all__ = sorted(_HOMES)  # noqa: PLE0605  (a list, from the table)


def __getattr__(name: str) -> Any:
    """Load a public name at its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'semmetrics.studies' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return list(_HOMES)
