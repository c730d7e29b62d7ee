"""Pure functions of arrays in ``semmetrics.metrics``."""

from __future__ import annotations

import numpy as np
from golden.harness import Case, call
from golden.inputs import SCORES, SIZES, TRUTH

import semmetrics
from semmetrics import metrics

PREDICTED = (SCORES > 0.5).astype(int)
WEIGHTS = 1 + np.arange(10) % 3 / 2
INDPTR = np.array([0, 2, 2, 5, 6])
CODES = np.array([1, 0, 2, 1, 0, 1])
F1 = semmetrics.parse("F1")[0].definition


def of_members(name: str, **options: object) -> Case:
    """Return a case of a function of two matrices of 0 and 1."""
    function = getattr(metrics, name)
    return call(write_call(name, options), function, PREDICTED, TRUTH, **options)


def of_scores(name: str, **options: object) -> Case:
    """Return a case of a function of a matrix of scores and one of 0 and 1."""
    function = getattr(metrics, name)
    return call(write_call(name, options), function, SCORES, TRUTH, **options)


def decoded(rule: str, **options: object) -> Case:
    """Return a case of a rule of decoding."""
    name = write_call(f"decode {rule}", options)
    return call(name, metrics.decode, SCORES, rule, **options)


def write_call(name: str, options: dict[str, object]) -> str:
    """Write a call, with the names of options that are arrays."""
    for option, value in options.items():
        name += f", {option}"
        if not isinstance(value, np.ndarray):
            name += f"={value}"
    return name


GROUPS = {
    "functions": [
        of_members("jaccard"),
        of_members("f1", average="macro"),
        of_members("f1", weights=WEIGHTS),
        of_members("precision", average="example", empty="0", no_prediction="skip"),
        of_members("recall", average="example", empty="0", no_reference="1"),
        of_members("hamming_loss", weights=WEIGHTS),
        of_members("subset_accuracy", weights=WEIGHTS),
        of_scores("coverage_error"),
        of_scores("ranking_loss", weights=WEIGHTS),
        of_scores("label_ranking_average_precision", empty=1.0),
        of_scores("average_precision", interpolation="none", ties="grouped"),
        of_scores("average_precision", interpolation="voc2007", ties="ordered"),
        of_scores("mean_average_precision", interpolation="voc2010", ties="grouped"),
        of_scores("mean_average_precision", interpolation="coco101", ties="ordered"),
        decoded("threshold", k=2),
        decoded("threshold", threshold=0.9, keep_at_least=1),
        decoded("top", k=2),
        decoded("cumulative", threshold=0.5),
        decoded("cardinality", head=SIZES),
        decoded("cardinality+scores", head=SIZES),
        decoded("cardinality", head=SIZES, offset=1),
        of_scores("sweep_thresholds"),
        of_scores("sweep_top_k", ks=[1, 2, 6]),
        of_scores("best_threshold", average="micro"),
        of_scores("best_threshold", thresholds=[0.25, 0.5, 0.75]),
        call("label_frequencies", metrics.label_frequencies, CODES, 4),
        call("label_order", metrics.label_order, INDPTR, CODES),
        call("per_item", metrics.per_item, F1, PREDICTED, TRUTH),
        call("per_label", metrics.per_label, F1, PREDICTED, TRUTH, weights=WEIGHTS),
    ]
}
