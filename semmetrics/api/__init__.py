"""The functions that do in one call what the command line does."""

from semmetrics.api.scores import score, score_systems, system_name

__all__ = ["score", "score_systems", "system_name"]
