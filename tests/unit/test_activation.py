"""Logits and probabilities: warnings, and the sigmoid and softmax of scores."""

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from refusals import codes, refused
from scipy.special import expit, softmax

import semmetrics
from semmetrics import InputWarning, Scorer
from semmetrics.cli.app import program

TRUTH = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
LOGITS = np.array(
    [[2.5, -1.0, 0.3], [-3.0, 1.5, 0.2], [0.1, 4.0, -0.5], [-2.0, 0.4, -0.1]]
)
PROBABILITIES = expit(LOGITS)
SHARES = softmax(LOGITS, axis=1)


def score_with_warnings(scores, **options):
    """Return a table and the warnings of scoring."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = semmetrics.score(scores, TRUTH, **options)
    return table, caught


def score_by_item(scores, **options):
    """Score with a Scorer that gets one item at a time."""
    scorer = Scorer(**options)
    for row in range(len(TRUTH)):
        scorer.update(scores[row : row + 1], TRUTH[row : row + 1])
    return scorer.compute()


# ---- thresholds of probabilities ----------------------------------------------------------------


def test_logits_with_a_threshold_of_probabilities_raise_one_warning():
    _, caught = score_with_warnings(LOGITS, measures="F1 Recall", threshold=0.5)

    (warning,) = caught
    assert warning.category is InputWarning
    assert warning.filename == __file__
    assert "activation='sigmoid'" in str(warning.message)


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_scorer_warns_once_even_after_a_reset(keep_rows):
    scorer = Scorer(measures="F1", threshold=0.5, keep_rows=keep_rows)

    with pytest.warns(InputWarning, match="activation"):
        scorer.update(LOGITS, TRUTH)
    # Further warnings would be errors.
    scorer.compute()
    scorer.reset()
    scorer.update(LOGITS, TRUTH)


@pytest.mark.parametrize(
    ("scores", "options"),
    [
        (LOGITS, {"measures": "F1(decode=at-least:0)"}),
        (LOGITS, {"measures": "mAP"}),
        (LOGITS, {"measures": "F1@2"}),
        (LOGITS, {"measures": "F1", "threshold": 1.5}),
        (LOGITS, {"measures": "F1", "threshold": "best"}),
        (LOGITS, {"measures": "F1", "threshold": 0.5, "activation": "softmax"}),
        (LOGITS, {"protocol": "coco-multilabel"}),
        (PROBABILITIES * (1 + 1e-6), {"measures": "F1", "threshold": 0.5}),
        (100 * PROBABILITIES, {"measures": "F1", "threshold": 50}),
        (TRUTH.astype(float), {"measures": "F1", "threshold": 0.5}),
    ],
)
def test_scores_and_thresholds_that_fit_raise_no_warning(scores, options):
    _, caught = score_with_warnings(scores, **options)

    assert not caught


# ---- sigmoid and softmax ------------------------------------------------------------------------


def test_the_sigmoid_is_computed_before_labels_are_decoded():
    options = {"measures": "F1", "threshold": 0.5}

    (score,) = semmetrics.score(LOGITS, TRUTH, activation="sigmoid", **options)

    (expected,) = semmetrics.score(PROBABILITIES, TRUTH, **options)
    assert score.value == expected.value
    assert "|activation:sigmoid|" in score.signature
    again = semmetrics.rescore(score.signature, LOGITS, TRUTH)
    assert again[0].value == score.value
    (summed,) = score_by_item(LOGITS, activation="sigmoid", keep_rows=False, **options)
    assert summed.value == score.value


def test_the_softmax_is_over_the_scores_of_an_item():
    options = {"measures": "mAP LRAP"}

    table = semmetrics.score(LOGITS, TRUTH, activation="softmax", **options)

    expected = semmetrics.score(SHARES, TRUTH, **options)
    values = [score.value for score in expected]
    assert [score.value for score in table] == pytest.approx(values)


def test_the_softmax_of_lists_does_not_overflow():
    preds = {"a": {"cat": 800.0, "dog": 800.0}, "b": {"cat": -5.0}}
    gts = {"a": ["cat"], "b": ["cat"]}

    (score,) = semmetrics.score(
        preds, gts, measures="Recall", threshold=0.6, activation="softmax"
    )

    assert score.value == 0.5


def test_labels_without_scores_have_no_activation():
    (score,) = semmetrics.score([["a"]], [["a"]], measures="F1", activation="sigmoid")

    assert "activation" not in score.signature


def test_unknown_activations_raise_an_error():
    with refused("bad-choice", name="activation"):
        semmetrics.score(LOGITS, TRUTH, measures="F1", activation="relu")


@pytest.mark.parametrize(
    ("activation", "scores"),
    [("sigmoid", PROBABILITIES), ("sigmoid", SHARES), ("softmax", SHARES)],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_activation_of_probabilities_raises_a_warning(activation, scores, dtype):
    scores = scores.astype(dtype)
    options = {"measures": "F1 MicroF1", "threshold": 0.5, "activation": activation}

    table, caught = score_with_warnings(scores, **options)

    assert [warning.category for warning in caught] == [InputWarning]
    assert codes(table).count("activated-probabilities") == 1
    for keep_rows in (True, False):
        with pytest.warns(InputWarning):
            by_item = score_by_item(scores, keep_rows=keep_rows, **options)
        assert codes(by_item) == codes(table)


LOGITS_IN_PART = np.where(LOGITS > 3, LOGITS, PROBABILITIES)  # one is outside [0, 1]


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    ("activation", "scores"),
    [
        ("sigmoid", LOGITS_IN_PART),
        ("softmax", LOGITS_IN_PART),
        ("softmax", PROBABILITIES),
        ("softmax", np.vstack([SHARES[:3], LOGITS[3:]])),
        ("softmax", np.vstack([SHARES[:3], 2 * SHARES[3:]])),
    ],
)
def test_an_activation_of_scores_beyond_probabilities_raises_no_warning(
    activation, scores, keep_rows
):
    options = {"measures": "F1", "threshold": 0.5, "activation": activation}

    table, caught = score_with_warnings(scores, **options)
    by_item = score_by_item(scores, keep_rows=keep_rows, **options)

    assert not caught
    assert "activated-probabilities" not in codes(table)
    assert codes(by_item) == codes(table)


# ---- the command line ---------------------------------------------------------------------------


@pytest.fixture
def score_files(tmp_path):
    """Score a file of scores, and return the output."""

    def run(scores, *options):
        preds = tmp_path / "preds.jsonl"
        gts = tmp_path / "gts.jsonl"
        rows = pd.DataFrame(scores, columns=["a", "b", "c"]).to_dict("records")
        items = pd.DataFrame({"id": list("0123"), "labels": rows})
        items.to_json(preds, orient="records", lines=True)
        items.assign(labels=[["a"]] * 4).to_json(gts, orient="records", lines=True)
        arguments = ["score", "-m", "F1", "--threshold", "0.5", *options]
        result = CliRunner().invoke(program, [*arguments, str(preds), str(gts)])
        assert result.exit_code == 0, result.output
        return result.output

    return run


@pytest.mark.parametrize("stream", [[], ["--stream"]])
def test_the_command_line_notes_an_activation_of_probabilities_once(
    score_files, stream
):
    output = score_files(PROBABILITIES, "--activation", "sigmoid", *stream)

    assert output.count("may already be probabilities") == 1
    assert "leave out --activation" in output


def test_the_command_line_notes_logits_once(score_files):
    output = score_files(LOGITS)

    assert output.count("are not probabilities") == 1
    assert "--activation sigmoid" in output
    assert "not probabilities" not in score_files(LOGITS, "--activation", "sigmoid")
