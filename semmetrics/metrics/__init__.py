"""Evaluation metrics as pure functions on arrays. Submodules contain definitions and steps.

Set metrics: ``precision``, ``recall``, ``f1``, ``jaccard``, ``hamming_loss``, ``subset_accuracy``,
``per_label``, ``per_item``. Ranking: ``average_precision``, ``mean_average_precision``,
``label_ranking_average_precision``, ``ranking_loss``, ``coverage_error``. Decoding and sweeps:
``decode``, ``sweep_top_k``, ``sweep_thresholds``, ``best_threshold``. Description:
``cardinality``, ``label_frequencies``, ``label_order``. Retrieval with relevance from a matrix phi:
``top_items``, ``most_similar``, ``similar_images``, ``captions_of_images``,
``images_of_captions``, ``ncs``, ``semantic_recall``, ``ndcg``, ``nsum``. Margins from phi:
``adaptive_margins``, ``sam_triplet_loss``. Zero-shot classification: ``per_class_accuracy``,
``ausuc``, ``seen_unseen_curve``. Scene graphs of captions: ``spice_scores``.
"""

from __future__ import annotations

import importlib
from typing import Any

_FUNCTIONS_BY_MODULE = {
    "arrays": "f1 hamming_loss jaccard per_item per_label precision recall subset_accuracy",
    "label_statistics": "cardinality label_frequencies label_order",
    "item_ranking": "coverage_error label_ranking_average_precision ranking_loss",
    "class_precision": "average_precision mean_average_precision",
    "decoding": "decode",
    "sweeps": "best_threshold sweep_thresholds sweep_top_k",
    "nearest_items": "most_similar top_items",
    "image_similarity": "captions_of_images images_of_captions similar_images",
    "phi_scores": "ncs ndcg nsum semantic_recall",
    "margins": "adaptive_margins sam_triplet_loss",
    "classes": "per_class_accuracy",
    "stacking": "ausuc seen_unseen_curve",
    "spice": "spice_scores",
}
_MODULE_OF_FUNCTION: dict[str, str] = {}
for _module, _functions in _FUNCTIONS_BY_MODULE.items():
    _MODULE_OF_FUNCTION.update(dict.fromkeys(_functions.split(), _module))

__all__ = sorted(_MODULE_OF_FUNCTION)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    """Load a function's module at its first use."""
    if name not in _MODULE_OF_FUNCTION:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(f"{__name__}.{_MODULE_OF_FUNCTION[name]}")
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
