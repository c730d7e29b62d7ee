"""Studies: what needs several scores, or none at all.

Comparisons with a baseline, ranks over data sets, agreement with people, maximum discrepancy
competitions, and thresholds of similarity. The functions of `semmetrics` and what they are made of.
"""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    name: f"semmetrics.{home}"
    for home, names in {
        "scoring.protocols": "AGREEMENT_PROTOCOLS AgreementProtocol",
        "scoring.runs": "RunSummary summarize",
        "studies.agreement": "Agreement AgreementDesign AgreementTable Judged measure_agreement meta",
        "studies.comparisons": "ComparisonTable Design Difference compare compare_scores",
        "studies.competition": "CompetitionRanking GlobalRank compute_dominance rank_competition rank_dominance",
        "studies.correlations": "Correlation correlate correlate_values correlation",
        "studies.discrepancy": "DiscrepancySelection add_systems select_discrepant",
        "studies.explain": "tabulate_order",
        "studies.ranks": "Rank Ranking draw_mean_ranks rank_normalized rank_systems",
        "studies.sheets": "inspect_sheets write_annotation_page",
        "studies.significance": "correct_p critical_difference friedman nemenyi_p rank_differences rank_matrix "
        "rank_rows shifted_p shifted_size_p signed_rank_p simulated_p student_t williams_p",
        "studies.values": "compare_values read_values",
        "studies.thresholds": "ThresholdSweep calibrate_threshold calibrate_threshold_on_pairs sweep "
        "sweep_systems",
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
