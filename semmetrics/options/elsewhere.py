"""What other libraries call an option, and what is an option of a measure here."""

from __future__ import annotations

from semmetrics.messages import fold

# What other libraries call an option, or what here belongs to a measure.
_ELSEWHERE = {
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
_NAMES_ELSEWHERE = {
    fold(other): name for name, others in _ELSEWHERE.items() for other in others
}
_OF_MEASURES = {  # what other libraries have as options of a call, with a measure that has it
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


def option_elsewhere(name: str) -> str:
    """Return the option that other libraries call by a name; "" if there is none.

    Examples
    --------
    >>> option_elsewhere("metrics"), option_elsewhere("n-boot"), option_elsewhere("foo")
    ('measures', 'resamples', '')
    """
    return _NAMES_ELSEWHERE.get(fold(name), "")


def measure_option(name: str) -> str:
    """Return where a name that is no option of a score belongs; "" if not to a measure.

    Examples
    --------
    >>> measure_option("parser")
    "write it in the measure, as 'SPICE(parser=offline)'"
    """
    example = _OF_MEASURES.get(name.lower())
    return f"write it in the measure, as '{example}'" if example else ""
