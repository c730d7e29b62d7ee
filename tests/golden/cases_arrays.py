"""The pure functions on arrays."""

from __future__ import annotations

import numpy as np
from golden.harness import Case, call
from golden.inputs import SCORES, SIZES, TRUTH

import semmetrics
from semmetrics import metrics

_PRED, _REF = (SCORES > 0.5).astype(int), TRUTH
_WEIGHTS = 1 + np.arange(10) % 3 / 2
_INDPTR, _CODES = np.array([0, 2, 2, 5, 6]), np.array([1, 0, 2, 1, 0, 1])


def _array_cases() -> list[Case]:
    cases = []
    for name in ("precision", "recall", "f1", "jaccard"):
        function = getattr(metrics, name)
        cases.append(call(name, function, _PRED, _REF))
        cases += [
            call(f"{name}, {average}", function, _PRED, _REF, average=average)
            for average in ("example", "macro", "micro", "weighted", "median")
        ]
        cases.append(call(f"{name}, weights", function, _PRED, _REF, weights=_WEIGHTS))
        cases.append(
            call(
                f"{name}, policies",
                function,
                _PRED,
                _REF,
                average="example",
                empty="0",
                **{
                    "precision": {"no_prediction": "skip"},
                    "recall": {"no_reference": "1"},
                }.get(name, {}),
            )
        )
        cases.append(call(f"{name}, absent", function, _PRED * 0, _REF, absent="1"))
        cases.append(call(f"{name}, a wrong policy", function, _PRED, _REF, empty="2"))
        cases.append(
            call(f"{name}, no such policy", function, _PRED, _REF, emptied="0")
        )
        cases.append(call(f"{name}, bool", function, _PRED > 0, _REF > 0))
    for name in ("hamming_loss", "subset_accuracy"):
        function = getattr(metrics, name)
        cases.append(call(name, function, _PRED, _REF))
        cases.append(call(f"{name}, weights", function, _PRED, _REF, weights=_WEIGHTS))
        cases.append(call(f"{name}, other shapes", function, _PRED[:, 1:], _REF))
        cases.append(call(f"{name}, scores", function, SCORES, _REF))
        cases.append(call(f"{name}, one dimension", function, _PRED[0], _REF[0]))
        cases.append(call(f"{name}, lists", function, _PRED.tolist(), _REF.tolist()))
    for name in ("coverage_error", "label_ranking_average_precision", "ranking_loss"):
        function = getattr(metrics, name)
        cases.append(call(name, function, SCORES, TRUTH))
        cases.append(
            call(f"{name}, weights", function, SCORES, TRUTH, weights=_WEIGHTS)
        )
        cases += [
            call(f"{name}, empty={policy}", function, SCORES, TRUTH, empty=policy)
            for policy in ("skip", 0.0, 1.0, "nan")
        ]
        cases.append(call(f"{name}, nan", function, SCORES * np.nan, TRUTH))
    for name in ("average_precision", "mean_average_precision"):
        function = getattr(metrics, name)
        cases += [
            call(
                f"{name}, {rule}, {ties}",
                function,
                SCORES,
                TRUTH,
                interpolation=rule,
                ties=ties,
            )
            for rule in ("none", "voc2007", "voc2010", "coco101")
            for ties in ("grouped", "ordered")
        ]
        cases.append(
            call(f"{name}, weights", function, SCORES, TRUTH, weights=_WEIGHTS)
        )
        cases.append(
            call(f"{name}, voc2012", function, SCORES, TRUTH, interpolation="voc2012")
        )
        cases.append(
            call(f"{name}, other ties", function, SCORES, TRUTH, ties="random")
        )
    cases += [
        call(f"decode {number}, {rule}", metrics.decode, SCORES, rule, **options)
        for number, (rule, options) in enumerate(
            [
                ("threshold", {}),
                ("threshold", {"threshold": 0.75}),
                ("threshold", {"k": 2}),
                ("threshold", {"threshold": 0.9, "keep_at_least": 1}),
                ("top", {"k": 2}),
                ("top", {}),
                ("cumulative", {"threshold": 0.5}),
                ("cumulative", {}),
                ("cardinality", {"head": SIZES}),
                ("cardinality+scores", {"head": SIZES}),
                ("cardinality", {"head": SIZES, "offset": 1}),
                ("cardinality", {}),
                ("magic", {}),
                ("cardinality", {"head": SIZES[:3]}),
                ("threshold", {"keep_at_least": -1}),
                ("threshold", {"threshold": float("nan")}),
            ]
        )
    ]
    cases.append(call("decode, as it comes", metrics.decode, SCORES))
    cases += [
        call("sweep_top_k", metrics.sweep_top_k, SCORES, TRUTH, [1, 2, 6]),
        call("sweep_top_k of 0", metrics.sweep_top_k, SCORES, TRUTH, [0]),
        call("sweep_thresholds", metrics.sweep_thresholds, SCORES, TRUTH),
        call(
            "sweep_thresholds, given",
            metrics.sweep_thresholds,
            SCORES,
            TRUTH,
            [0.25, 0.5],
        ),
        call("best_threshold", metrics.best_threshold, SCORES, TRUTH),
        *(
            call(
                f"best_threshold, {average}",
                metrics.best_threshold,
                SCORES,
                TRUTH,
                average=average,
            )
            for average in ("micro", "macro", "example", "median")
        ),
        call(
            "best_threshold, given",
            metrics.best_threshold,
            SCORES,
            TRUTH,
            thresholds=[0.25, 0.5, 0.75],
        ),
        call("cardinality", metrics.cardinality, _INDPTR),
        call("cardinality of nothing", metrics.cardinality, [0]),
        call("cardinality, falling", metrics.cardinality, [0, 2, 1]),
        call("label_frequencies", metrics.label_frequencies, _CODES, 4),
        call("label_frequencies, too few", metrics.label_frequencies, _CODES, 1),
        call("label_order", metrics.label_order, _INDPTR, _CODES),
        call("label_order of others", metrics.label_order, _INDPTR, _CODES[:2]),
    ]
    defined = semmetrics.parse("F1")[0].definition
    cases += [
        call("per_item", metrics.per_item, defined, _PRED, _REF),
        call("per_label", metrics.per_label, defined, _PRED, _REF),
        call(
            "per_label, weights",
            metrics.per_label,
            defined,
            _PRED,
            _REF,
            weights=_WEIGHTS,
        ),
        call("no such function", lambda: hasattr(metrics, "f2")),
    ]
    return cases


GROUPS = {"arrays": _array_cases()}
