"""Names that other libraries use for options, to suggest the right name in errors."""

from __future__ import annotations

from semmetrics.messages import fold

_SYNONYMS = {
    "measures": ("metric", "metrics", "measure"),
    "top_k": ("k", "ks", "cutoff", "cutoffs", "at", "top"),
    "classes": (
        "labels",
        "class_names",
        "class_list",
        "label_names",
        "target_names",
        "vocabulary",
    ),
    "weights": ("weight", "sample_weight", "sample_weights"),
    "ci": (
        "bootstrap",
        "confidence_interval",
        "confidence_intervals",
        "interval",
        "intervals",
    ),
    "level": ("alpha", "confidence", "confidence_level", "ci_level"),
    "resamples": (
        "n_resamples",
        "n_bootstrap",
        "n_bootstraps",
        "num_resamples",
        "n_boot",
    ),
    "seed": ("random_state", "rng", "random_seed"),
    "ci_method": ("method",),
    "embedding": (
        "encoder",
        "model",
        "model_name",
        "model_type",
        "vectors",
        "word_vectors",
    ),
    "ignore": ("ignore_index", "ignore_labels", "exclude"),
    "threshold": ("thresholds", "score_threshold"),
    "doc_freq": ("df", "idf", "document_frequencies"),
    "queries": ("query_ids", "row_ids"),
    "seen": ("seen_classes", "train_classes", "base_classes"),
    "unseen": ("unseen_classes", "test_classes", "novel_classes"),
    "gallery": ("gallery_ids", "column_ids", "corpus"),
    "normalize": ("normalization", "lowercase", "lower", "preprocess"),
    "tokenizer": ("tokenize", "tokenization"),
    "id_column": ("ids_column", "id_key", "id_col", "id_field", "key_column"),
    "label_column": ("labels_column", "label_key", "label_col"),
    "caption_column": ("captions_column", "caption_key", "caption_col", "text_column"),
    "score_column": ("scores_column", "score_key", "score_col"),
    "task": ("kind", "mode", "task_type"),
}
"""The names of each option in other libraries."""
_SYNONYMS_OF_SIDES = {
    "preds": (
        "y_pred",
        "y_score",
        "pred",
        "prediction",
        "predictions",
        "candidates",
        "hypotheses",
        "hyps",
        "res",
    ),
    "gts": (
        "y_true",
        "gt",
        "ground_truth",
        "truth",
        "target",
        "targets",
        "references",
        "refs",
    ),
}
"""The names of both sides in other libraries."""
_OPTION_OF_SYNONYM: dict[str, str] = {}
for _name, _synonyms in _SYNONYMS.items():
    for _synonym in _synonyms:
        _OPTION_OF_SYNONYM[fold(_synonym)] = _name
# "top_k" is also an option of some functions.
_MEASURE_EXAMPLES = {
    "average": "F1(average=macro)",
    "zero_division": "F1(empty=1)' or 'Precision(no_prediction=skip)",
    "match": "SemF1(match=optimal)",
    "decode": "SemF1(decode=threshold:0.5)",
    "top_k": "SemF1@5",
    "interpolation": "mAP(interpolation=voc2010)",
    "sigma": "CIDEr-D(sigma=5)",
    "stem": "CIDEr(stem=porter)",
    "beta": "ROUGE-L(beta=1)",
    "parser": "SPICE(parser=offline)",
    "rel": "MAP(rel=2)",
    "gain": "nDCG(gain=exponential)@5",
}
"""Measures with an option that other libraries have in the call, by option.

Messages put each of them in single quotes.
"""


def option_of_synonym(name: str) -> str:
    """Return the option that other libraries call by a name, or "" if there is none.

    Examples
    --------
    >>> option_of_synonym("metrics"), option_of_synonym("n-boot"), option_of_synonym("foo")
    ('measures', 'resamples', '')
    """
    return _OPTION_OF_SYNONYM.get(fold(name), "")


def side_of_synonym(name: str) -> str:
    """Return the parameter for the side that other libraries call by a name, or "".

    Examples
    --------
    >>> side_of_synonym("y_true"), side_of_synonym("y_pred"), side_of_synonym("foo")
    ('gts', 'preds', '')
    """
    for side, synonyms in _SYNONYMS_OF_SIDES.items():
        if fold(name) in map(fold, synonyms):
            return side
    return ""


def measure_option_hint(name: str) -> str:
    """Return how to write an option of a measure, or "" if no measure has the option.

    Examples
    --------
    >>> measure_option_hint("parser")
    "write it in the measure, as 'SPICE(parser=offline)'"
    """
    example = _MEASURE_EXAMPLES.get(name.lower())
    if example is None:
        return ""
    return f"write it in the measure, as '{example}'"
