"""Every definition, registered: importing this module fills the registry."""

from semmetrics.metrics import label_catalogue as _labels  # noqa: F401  # registers
from semmetrics.metrics.captions import bleu as _bleu  # noqa: F401  # registers
from semmetrics.metrics.captions import cider as _cider  # noqa: F401  # registers
from semmetrics.metrics.captions import descriptive as _descriptive  # noqa: F401  # registers
from semmetrics.metrics.captions import meteor as _meteor  # noqa: F401  # registers
from semmetrics.metrics.captions import meteor_nltk as _meteor_nltk  # noqa: F401  # registers
from semmetrics.metrics.captions import ngsm as _ngsm  # noqa: F401  # registers
from semmetrics.metrics.captions import rouge as _rouge  # noqa: F401  # registers
from semmetrics.metrics.registry import ALIASES, DEFINITIONS, measure

__all__ = ["ALIASES", "DEFINITIONS", "measure"]
