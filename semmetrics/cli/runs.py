"""The mean and standard deviation over the runs of one system, in the forms of a report."""

from __future__ import annotations

import json
import math
from typing import Any

from semmetrics.comparison.runs import RunSummary, summarize
from semmetrics.reports.grid import draw
from semmetrics.reports.table import ScoreTable

__all__ = ["SCHEMA", "runs_text"]

SCHEMA = "semmetrics.runs/1"


def runs_text(table: ScoreTable, form: str, *, digits: int = 4, scale: float = 1.0) -> str:
    """Mean (std) of each measure; json and csv in full precision, with the values of the runs.

    Examples
    --------
    >>> import semmetrics
    >>> runs = {"seed1": [["cat"], ["dog"]], "seed2": [["cat"], ["cat"]]}
    >>> table = semmetrics.score_systems(runs, [["cat"], ["dog"]], measures=["O-F1"])
    >>> print(runs_text(table, "table"))
    measure  mean (std, n-1) of 2 runs
    O-F1               0.7500 (0.3536)
    """
    summaries = summarize(list(table))
    if form == "json":
        entries = [_entry(summary, table) for summary in summaries]
        return json.dumps(entries, indent=1, ensure_ascii=False, allow_nan=False)
    if form == "csv":
        head = ["measure", "mean", "std", "n", *table.systems]
        return draw([head, *([s.heading, _full(s.mean), _full(s.std), str(s.n),
                              *map(_full, s.values)] for s in summaries)], form)  # fmt: skip
    head = ["measure", f"mean (std, n-1) of {len(table.systems)} runs"]
    return draw([head, *([s.heading, s.text(digits=digits, scale=scale)] for s in summaries)], form)


def _full(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _entry(summary: RunSummary, table: ScoreTable) -> dict[str, Any]:
    scores = [score for score in table if score.heading == summary.heading]
    return {
        "schema": SCHEMA,
        "measure": str(scores[0].measure),
        "heading": summary.heading,
        "mean": summary.mean if math.isfinite(summary.mean) else None,
        "std": summary.std if math.isfinite(summary.std) else None,
        "ddof": summary.ddof,
        "n": summary.n,
        "runs": [
            {
                "system": score.system,
                "value": score.to_dict()["value"],
                "signature": score.signature,
            }
            for score in scores
        ],
    }
