"""Wrong arrays and options of the functions for scores: decoding, ranking and sweeps."""

import numpy as np
import pytest
from refusals import refused

from semmetrics.metrics.class_precision import average_precision
from semmetrics.metrics.classes import per_class_accuracy
from semmetrics.metrics.decoding import decode
from semmetrics.metrics.item_ranking import ranking_loss
from semmetrics.metrics.sweeps import best_threshold, sweep_thresholds, sweep_top_k

SCORES = [[0.1], [0.2]]
TARGETS = [[1], [0]]
HEAD = [[1], [1]]


def test_a_class_outside_the_columns_is_an_error_in_arrays_of_any_shape():
    with refused("out-of-range", "truth, row 1 (from 0)", value=9):
        per_class_accuracy(np.eye(2), [[0, 1], [1, 9]])


@pytest.mark.parametrize(
    ("scores", "code", "place"),
    [
        ([0.1, 0.2], "wrong-shape", ""),
        ([[0.1], [np.nan]], "out-of-range", "scores, row 1 (from 0)"),
    ],
)
def test_decoding_wrong_scores_is_an_error(scores, code, place):
    with refused(code, place):
        decode(scores)


@pytest.mark.parametrize(
    ("strategy", "options", "code"),
    [
        ("best", {}, "bad-choice"),
        ("top", {}, "needs-option"),
        ("top", {"k": -1}, "bad-option"),
        ("top", {"k": 1, "threshold": 0.3}, "not-applicable"),
        ("threshold", {"threshold": np.nan}, "bad-option"),
        ("top", {"k": 1, "keep_at_least": 1}, "not-applicable"),
        ("threshold", {"offset": 1}, "not-applicable"),
        ("threshold", {"head": HEAD}, "not-applicable"),
        ("cardinality", {}, "needs-option"),
        ("cardinality", {"head": HEAD, "offset": -1}, "bad-option"),
        ("cardinality", {"head": [[1]]}, "wrong-shape"),
    ],
)
def test_wrong_options_of_decoding_are_an_error(strategy, options, code):
    with refused(code):
        decode(SCORES, strategy, **options)


@pytest.mark.parametrize(
    ("scores", "strategy", "head", "place"),
    [
        (SCORES, "cardinality", [[1], [np.nan]], "head, row 1 (from 0)"),
        (SCORES, "cardinality+scores", [[0.1], [-0.1]], "head, row 1 (from 0)"),
        ([[np.inf], [0.1]], "cardinality+scores", HEAD, "scores, row 0 (from 0)"),
    ],
)
def test_scores_that_are_not_probabilities_are_an_error_of_some_strategies(
    scores, strategy, head, place
):
    with refused("out-of-range", place):
        decode(scores, strategy, head=head)


@pytest.mark.parametrize(
    ("arrays", "code"),
    [
        ({"scores": [[0.1], [np.nan]]}, "out-of-range"),
        ({"targets": [[1], [2]]}, "out-of-range"),
        ({"scores": np.ma.array(SCORES, mask=True)}, "masked"),
        ({"targets": [[1, 0]]}, "wrong-shape"),
        ({"weights": [1]}, "wrong-shape"),
        ({"weights": [1, -1]}, "out-of-range"),
    ],
)
@pytest.mark.parametrize("function", [ranking_loss, average_precision])
def test_wrong_arrays_of_measures_of_rankings_are_an_error(function, arrays, code):
    arguments = {"scores": SCORES, "targets": TARGETS} | arrays

    with refused(code):
        function(**arguments)


@pytest.mark.parametrize(
    ("function", "cutoffs"),
    [(sweep_top_k, [1, -2]), (sweep_top_k, [1.5]), (sweep_thresholds, [np.nan])],
)
def test_wrong_cutoffs_of_sweeps_are_an_error(function, cutoffs):
    with refused("bad-option"):
        function(SCORES, TARGETS, cutoffs)


@pytest.mark.parametrize(
    ("options", "code"),
    [({"average": "all"}, "bad-choice"), ({"thresholds": []}, "nothing-given")],
)
def test_a_best_threshold_needs_an_average_and_thresholds(options, code):
    with refused(code):
        best_threshold(SCORES, TARGETS, **options)


def test_a_best_threshold_needs_items():
    no_items = np.zeros((0, 1))

    with refused("nothing-given"):
        best_threshold(no_items, no_items)
