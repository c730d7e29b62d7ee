"""Every definition for labels, registered: what a name is sought in first."""

from semmetrics.metrics import bag_distances as _distances  # noqa: F401  # registers
from semmetrics.metrics import bag_similarity as _similarity  # noqa: F401  # registers
from semmetrics.metrics import hierarchical as _hierarchical  # noqa: F401  # registers
from semmetrics.metrics import score_measures as _scores  # noqa: F401  # registers
from semmetrics.metrics import semantic as _semantic  # noqa: F401  # registers
from semmetrics.metrics import sets as _sets  # noqa: F401  # registers
from semmetrics.metrics import soft as _soft  # noqa: F401  # registers
from semmetrics.metrics.registry import ALIASES, DEFINITIONS

__all__ = ["ALIASES", "DEFINITIONS"]
