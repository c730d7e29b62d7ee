"""Scores of data that are larger than memory or a machine.

This package distributes the work. The scores are computed elsewhere.
"""

from semmetrics.scale.cluster import score_dataset
from semmetrics.scale.partitions import merge_states, partial_scores
from semmetrics.scale.stream import score_stream

__all__ = ["merge_states", "partial_scores", "score_dataset", "score_stream"]
