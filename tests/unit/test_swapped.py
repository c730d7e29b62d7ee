"""Predictions and ground truth in the wrong order, and sides that only look swapped."""

import numpy as np
import pytest
from reading import saved
from refusals import facts, refused

import semmetrics

RETRIEVAL = {"task": "retrieval", "measures": "MAP"}
RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.71, "d_36": 0.6},
}
JUDGED = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}


@pytest.fixture
def run_path(tmp_path):
    """Return a run in a file of TREC."""
    lines = "1 Q0 101 1 3.5 x\n1 Q0 99 2 3.0 x\n2 Q0 98 1 9.0 x\n2 Q0 102 2 8e0 x\n"
    return saved(tmp_path, "a.run", lines)


@pytest.fixture
def judged_path(tmp_path):
    """Return judgements in a file of TREC."""
    return saved(tmp_path, "a.qrels", "1 0 101 2\n1 0 100 1\n2 0 102 1\n")


@pytest.mark.parametrize("options", [RETRIEVAL, {"measures": "MAP"}, {}])
def test_files_of_trec_in_the_order_of_trec_eval_are_an_error(
    run_path, judged_path, options
):
    with refused("swapped-order"):
        semmetrics.score(judged_path, run_path, **options)


def test_grades_as_predictions_of_a_run_in_a_file_are_an_error(run_path):
    grades = {"1": {"101": 2, "100": 1}, "2": {"102": 1}}

    with refused("swapped-order"):
        semmetrics.score(grades, run_path, **RETRIEVAL)


def test_swapped_batches_and_systems_are_an_error(run_path, judged_path):
    with refused("swapped-order"):
        semmetrics.Scorer(**RETRIEVAL).update(judged_path, run_path)
    with refused("swapped-order"):
        semmetrics.compare({"a": judged_path, "b": judged_path}, run_path, **RETRIEVAL)


@pytest.mark.parametrize(
    "judged",
    [
        JUDGED,
        {"q_1": ["d_25"], "q_2": ["d_11"]},
        {"q_1": {"d_25": 1, "d_12": 0}, "q_2": {"d_12": 1, "d_25": 0}},
        {"q_1": {"d_25": 1.0}, "q_2": {"d_11": 1.0}},
    ],
    ids=["grades", "positives", "0 and 1", "few"],
)
def test_judgements_as_predictions_of_a_run_are_an_error(judged):
    assert semmetrics.score(RUN, judged, **RETRIEVAL)["MAP"].value > 0
    with refused("swapped-order"):
        semmetrics.score(judged, RUN, **RETRIEVAL)


SAME_SIZE = {
    "q_1": {"d_12": 10.0, "d_23": 9.0, "d_25": 8.0, "d_36": 7.0},
    "q_2": {"d_12": 10.0, "d_11": 9.0, "d_25": 8.0, "d_36": 7.0},
}


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        (JUDGED, JUDGED),
        (RUN, RUN),
        (SAME_SIZE, RUN),
        ({query: list(row) for query, row in RUN.items()}, RUN),
        ({"q_1": {"d_12": 3, "d_25": 2}}, {"q_1": {"d_12": 4.5, "d_25": 3, "d_1": 2}}),
        ({"q_1": ["d_12"]}, {"q_1": {"d_12": 0.5, "d_1": 1, "d_2": 0.75}}),
        (JUDGED, {"q_1": {"d_12": 0.9}, "q_2": {"d_11": 0.9}}),
        ({"q_1": {"d_12": 3}}, {"q_1": {"d_12": 0.93, "d_25": 0.93, "d_1": 0.61}}),
    ],
    ids=[
        "grades of both sides",
        "the same run",
        "integers as scores",
        "a ranking without scores",
        "means of two grades",
        "grades of fourths",
        "one candidate per query",
        "equal scores",
    ],
)
def test_rankings_that_only_look_swapped_are_scored(preds, gts):
    assert semmetrics.score(preds, gts, **RETRIEVAL)["MAP"].value >= 0


@pytest.mark.parametrize(
    ("truth", "n_queries"),
    [
        ({"q_1": {"d_12": 0.5, "d_25": 1.0}, "q_2": {"d_11": 1.0}}, [1]),
        (RUN, [2]),
        (JUDGED, []),
    ],
)
def test_queries_with_fractions_as_grades_are_noted(truth, n_queries):
    table = semmetrics.score(RUN, truth, **RETRIEVAL)

    assert [fact.n for fact in facts(table, "fractional-grades")] == n_queries


def test_a_run_as_ground_truth_is_noted(run_path, judged_path):
    (fact,) = facts(semmetrics.score(run_path, run_path, **RETRIEVAL), "run-as-truth")

    assert fact.n == 2
    table = semmetrics.score(run_path, judged_path, missing="skip", **RETRIEVAL)
    assert not facts(table, "run-as-truth")


RESULTS = [{"image_id": 1, "caption": "a cat"}, {"image_id": 2, "caption": "a dog"}]
ANNOTATIONS = {
    "annotations": [
        {"id": 10, "image_id": 1, "caption": "a cat"},
        {"id": 11, "image_id": 2, "caption": "the dog"},
    ]
}


@pytest.mark.parametrize("options", [{"measures": "BLEU-1"}, {}])
def test_caption_annotations_as_predictions_of_results_are_an_error(options):
    with refused("swapped-order"):
        semmetrics.score(ANNOTATIONS, RESULTS, **options)


@pytest.mark.parametrize(
    ("preds", "gts"),
    [
        (RESULTS, ANNOTATIONS),
        (ANNOTATIONS, ANNOTATIONS),
        (ANNOTATIONS, [*RESULTS, {"image_id": 1, "caption": "the cat"}]),
    ],
)
def test_captions_that_only_look_swapped_are_scored(preds, gts):
    table = semmetrics.score(preds, gts, measures="BLEU-1")

    assert table["BLEU-1"].value > 0


SCORED = {"a": {"cat": 0.9, "dog": 0.1}, "b": {"cat": 0.2, "dog": 0.8}}
RANKED = {
    "a": {"cat": 0.9, "dog": 0.3, "cow": 0.1},
    "b": {"bus": 0.8, "car": 0.4, "van": 0.3},
}


@pytest.mark.parametrize("truth", [SCORED, RANKED])
def test_a_ground_truth_that_is_a_ranking_of_labels_is_an_error(truth):
    with refused("swapped-order"):
        semmetrics.score({"a": ["cat"], "b": ["dog", "cat"]}, truth, measures="F1")


def test_swapped_sides_are_an_error_if_a_measure_needs_scores():
    with refused("swapped-sides"):
        semmetrics.score({"a": ["cat"]}, {"a": SCORED["a"]}, measures="mAP")


@pytest.mark.parametrize(
    "truth",
    [
        {"a": {"cat": 0.9, "dog": 0.8}, "b": {"cat": 0.7, "dog": 0.95}},
        {"a": {"cat": 0.9, "dog": 0.3}, "b": {"bus": 0.7}},
        {"a": {"cat": 1.0, "dog": 0.4}, "b": {"bus": 0.7, "dog": 0.2}},
        {"a": {"cat": 1, "dog": 0}, "b": {"cat": 0, "dog": 1}},
    ],
    ids=["confidences", "other numbers of labels", "two per item", "integers"],
)
def test_a_ground_truth_of_labels_may_have_scores(truth):
    preds = {"a": ["cat"], "b": ["dog"]}

    assert 0 <= semmetrics.score(preds, truth, measures="F1")["F1"].value <= 1


MATRIX = np.array([[0.9, 0.1], [0.2, 0.8]])
CLASSES = {"task": "classes", "measures": "Accuracy"}


@pytest.mark.parametrize(
    ("preds", "truth", "options", "code"),
    [
        (np.eye(2, dtype=int), MATRIX, {"measures": "F1"}, "truth-of-scores"),
        ([0, 1], MATRIX, {"classes": ["a", "b"], **CLASSES}, "truth-of-scores"),
        ({"a": "cat", "b": "dog"}, SCORED, CLASSES, "truth-of-class-scores"),
        ({"a": "cat"}, {"a": ["cat", "dog"]}, CLASSES, "several-classes"),
    ],
)
def test_scores_or_several_classes_as_ground_truth_are_an_error(
    preds, truth, options, code
):
    with refused(code):
        semmetrics.score(preds, truth, **options)
