"""Scores of data larger than memory or a machine; it only distributes what others compute."""

from semmetrics.scale.cluster import merge_states, partial_scores, score_dataset
from semmetrics.scale.stream import score_stream

__all__ = ["merge_states", "partial_scores", "score_dataset", "score_stream"]
