"""The task of labels: its classes, ignored labels and items, and wrong options."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from refusals import codes, facts, refused

import semmetrics
from semmetrics import as_labels


def task_of(preds, refs, **options):
    """Return the task of a score."""
    table = semmetrics.score(preds, refs, measures="F1", **options)
    return table.scores[0].task


def names(task, side):
    """Return the names of the classes of each item of a side."""
    lists = getattr(task, side)
    classes = [task.classes[code] for code in lists.codes]
    return [list(part) for part in np.split(classes, lists.indptr[1:-1])]


def test_a_column_without_items_does_not_need_a_class():
    matrix = as_labels(np.array([[1, 0]]), classes=["a", "&"])

    task = task_of(matrix, matrix, classes=["a"], normalize="kubany2020")

    assert names(task, "pred") == names(task, "ref") == [["a"]]
    assert task.n_listed == 1


@pytest.mark.parametrize(
    ("labels", "options", "code"),
    [
        (["a", "z", "y"], {"classes": ["a"], "ignore": ["z"]}, "outside-classes"),
        ([], {"classes": ["A", "a"], "normalize": "lower"}, "duplicate"),
        ([["a", "b"], "a | b"], {}, "duplicate"),
        ([], {"classes": ["a", "&"], "normalize": "kubany2020"}, "nothing-left"),
        ([], {"ignore": [["a"]]}, "bad-option"),
        ([], {"empty_predictions": "skip", "weights": [0, 1]}, "zero-weights"),
    ],
)
def test_wrong_classes_and_options_are_an_error(labels, options, code):
    with refused(code):
        task_of({"7": ["a"], "8": []}, {"7": labels, "8": []}, **options)


def test_a_matrix_of_scores_as_ground_truth_is_an_error():
    with refused("truth-of-scores"):
        task_of({"7": ["a"], "8": []}, np.array([[0.5], [0.1]]))


CELLS = [["1", "0"], ["0", "1"]]
MATRIX = np.eye(2, dtype=int)


@pytest.mark.parametrize(
    "rows",
    [
        CELLS,
        np.array(CELLS),
        np.array(CELLS, object),
        [["1.0", "0.0"], ["0.0", "1.0"]],
        np.array([["0.9", "0"], ["1", "0.3"]]),
        np.array([["2", "0"], ["0", "3"]]),
        np.array([["0", "0"], ["0", "0"]]),
    ],
)
def test_a_matrix_stored_as_strings_is_an_error_on_either_side(rows):
    with refused("cells-as-labels", "preds", other="gts", columns=2):
        semmetrics.score(rows, MATRIX, measures="F1")
    with refused("cells-as-labels", "gts", other="preds", columns=2):
        semmetrics.score(MATRIX, rows, measures="F1")


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_batch_of_cells_stored_as_strings_is_an_error(keep_rows):
    scorer = semmetrics.Scorer(measures="F1", keep_rows=keep_rows)

    with refused("cells-as-labels", "preds"):
        scorer.update(np.array(CELLS), MATRIX)
    with refused("unnamed-columns", "gts"):
        scorer.update([["cat"], ["dog"]], MATRIX)


def test_a_file_of_cells_stored_as_strings_is_an_error(tmp_path):
    preds = tmp_path / "preds.json"
    preds.write_text(json.dumps(CELLS))
    gts = tmp_path / "gts.npy"
    np.save(gts, MATRIX)

    with refused("cells-as-labels", str(preds)) as caught:
        semmetrics.score(preds, gts, measures="F1")
    assert "numpy.save" in caught.value.remedy


@pytest.mark.parametrize(
    ("rows", "truth"),
    [
        ([["1", "0"], ["1"]], [[1, 1], [0, 1]]),
        ([["1", "0"], ["0", "1"]], [[1, 1, 0], [1, 1, 0]]),
        ([["2", "0", "1"], ["0", "1", "2"]], [[1, 1, 1], [1, 1, 1]]),
    ],
)
def test_positions_of_columns_may_be_strings(rows, truth):
    table = semmetrics.score(rows, np.array(truth), measures="F1")

    assert table["F1"].value == 1


def test_numbers_may_be_the_names_of_classes():
    options = {"measures": "Recall", "classes": ["0", "1"]}

    assert semmetrics.score(CELLS, MATRIX, **options)["Recall"].value == 1


def test_labels_may_be_ignored_in_their_original_or_normalised_form():
    ignore = ["Traffic Light", "street_sign", "&"]
    options = {"normalize": "kubany2020", "ignore": ignore}

    task = task_of([["traffic_light", "car"]], [["car", "Street sign!"]], **options)

    assert names(task, "pred") == names(task, "ref") == [["car"]]
    assert task.settings["ignore"] == "&,street_sign,traffic_light"


def test_spellings_of_a_label_to_ignore_count_once():
    labels = [["Dog", "cat"]]
    options = {"measures": "F1", "normalize": "lower"}

    found = semmetrics.score(labels, labels, ignore=["dog", "Dog"], **options)
    not_found = semmetrics.score(labels, labels, ignore=["cow", "Cow"], **options)

    assert "ignored-labels-not-found" not in codes(found)
    assert facts(not_found, "ignored-labels-not-found")[0].n == 1


def test_a_label_with_several_names_may_be_ignored():
    ignore = ["Letter box, mailbox"]
    refs = [["car", "letter box, mailbox"]]

    task = task_of([["mailbox"]], refs, normalize="kubany2020", ignore=ignore)

    assert names(task, "pred") == [[]]
    assert names(task, "ref") == [["car"]]


def test_items_without_predictions_may_be_left_out():
    preds = [["a"], [], ["z"]]
    refs = [["a"], ["b"], []]
    options = {"empty_predictions": "skip", "set_size_probs": np.eye(3)}

    task = task_of(preds, refs, weights=[1, 2, 3], **options)

    assert names(task, "pred") == [["a"], ["z"]]
    assert names(task, "ref") == [["a"], []]
    assert task.counts == {"empty_prediction_skipped": 1}
    assert task.ids.tolist() == [0, 2]
    assert task.weights.tolist() == [1, 3]
    assert task.set_size_probs.tolist() == [[1, 0, 0], [0, 0, 1]]


@pytest.mark.parametrize("empty", [{}, []])
def test_nothing_to_evaluate_is_an_error(empty):
    with refused("no-items"):
        task_of(empty, empty)


PRINT_TASK = """
import semmetrics
preds = {"1": {"b", "a", "d"}, "2": ["c", ["x", "y"]], "3": ["z"]}
refs = {"3": [["a", "b"], "e"], "1": {"b", "c"}, "4": [["b", "q"]]}
options = {"measures": "F1", "missing": "empty", "ignore": {"e", "d", "w"}}
task = semmetrics.score(preds, refs, **options).scores[0].task
print(task.ids, task.classes, task.pred, task.ref, task.counts, task.settings, task.fingerprint)
"""


def test_a_task_does_not_depend_on_the_hash_seed_of_the_process():
    outputs = set()
    for seed in ("1", "2", "3"):
        process = subprocess.run(
            [sys.executable, "-c", PRINT_TASK],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(process.stdout)

    assert len(outputs) == 1
