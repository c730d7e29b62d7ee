"""Scores of labels in 16 and 32 bits are compared with thresholds in their own precision."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import semmetrics
from semmetrics.core.backend import round_to
from semmetrics.metrics.decoding import decode

LEVELS = [0.1, 0.2, 0.3, 0.55, 0.65, 0.7, 0.9]


@pytest.mark.parametrize("threshold", LEVELS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_thresholds_are_rounded_as_the_scores(dtype, threshold):
    scores = np.random.default_rng(0).choice(LEVELS, (9, 4)).astype(dtype)
    truth = np.random.default_rng(1).integers(0, 2, (9, 4))
    assert (decode(scores, threshold=threshold) == (scores > threshold)).all()

    table = semmetrics.score(
        scores,
        truth,
        measures=[
            f"MicroF1(decode=threshold:{threshold})",
            f"MicroF1(decode=at-least:{threshold})",
        ],
    )

    above, at_least = table
    assert above.value == micro_f1(scores > threshold, truth)
    assert at_least.value == micro_f1(scores >= threshold, truth)


def micro_f1(kept, truth):
    (score,) = semmetrics.score(kept.astype(int), truth, measures="MicroF1")
    return score.value


def test_batches_are_compared_in_their_precision():
    scores = np.array([[0.3, 0.2]], np.float32)
    scorer = semmetrics.Scorer(measures="Recall(decode=threshold:0.3)", keep_rows=False)

    scorer.update(scores, np.array([[1, 0]]))

    assert scorer.compute()[0].value == 0


@pytest.mark.parametrize(("score", "recall"), [(np.float32(0.3), 0), (0.3 + 1e-8, 1)])
def test_scalars_of_numpy_have_their_precision(score, recall):
    (result,) = semmetrics.score(
        {"x": {"a": score}}, {"x": ["a"]}, measures="Recall(decode=threshold:0.3)"
    )

    assert result.value == recall


# ---- files --------------------------------------------------------------------------------------

NAMES = ["a", "b", "c"]
SCORES = pd.DataFrame(
    [[0.3, 0.2, 0.7], [0.1, 0.3, 0.31]],
    index=pd.Index(["x", "y"], name="id"),
    columns=NAMES,
    dtype="float32",
)
FLOATS = pa.list_(pa.float32())


def write_array(path):
    path = path.with_suffix(".npy")
    np.save(path, SCORES)
    return path


def write_columns(path):
    SCORES.reset_index().to_parquet(path)
    return path


def write_lists(path):
    scores = pa.array(SCORES.to_numpy().tolist(), FLOATS)
    columns = {"id": ["x", "y"], "labels": [NAMES] * 2, "scores": scores}
    parquet.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("write", [write_array, write_columns, write_lists])
def test_files_have_the_precision_of_their_columns(tmp_path, write):
    path = write(tmp_path / "preds.parquet")
    truth = {"x": ["a", "b"], "y": ["b"]}
    if write is write_array:
        truth = np.array([[1, 1, 0], [0, 1, 0]])

    above, at_least = semmetrics.score(
        path,
        truth,
        measures="MicroPrecision(decode=threshold:0.3) MicroPrecision(decode=at-least:0.3)",
    )

    assert above.value == 0  # none of them is above np.float32(0.3)
    assert at_least.value == 0.5  # a of x and b of y, of four


# ---- the best threshold, and bfloat16 -----------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("lowest", [0.1, -0.5, -3000.0])
def test_the_best_threshold_can_keep_every_label(dtype, lowest):
    scores = np.array([[lowest, 0.2], [0.3, lowest]]).astype(dtype)

    assert best_f1_of_all_labels(scores) == 1


@pytest.mark.parametrize("lowest", [-1.0, -256.0, -512.0, -3000.0])
def test_the_best_threshold_of_bfloat16_can_keep_every_label(lowest):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores = torch.tensor([[lowest, 0.2], [0.3, lowest]]).bfloat16()

    assert best_f1_of_all_labels(scores) == 1


def best_f1_of_all_labels(scores):
    truth = np.ones((2, 2), int)
    (score,) = semmetrics.score(scores, truth, measures="F1", threshold="best")
    return score.value


@pytest.mark.parametrize("value", [0.3, 0.1, 1.0, 1 + 2**-8, 1 + 3 * 2**-9, -0.7, 1e30])
def test_numbers_are_rounded_to_bfloat16_as_by_torch(value):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    expected = torch.tensor(value, dtype=torch.bfloat16).item()

    assert round_to(value, "bfloat16") == expected


@pytest.mark.parametrize("threshold", LEVELS)
def test_tensors_of_bfloat16_are_compared_as_by_torch(threshold):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores = torch.tensor(LEVELS).reshape(7, 1).bfloat16()

    (score,) = semmetrics.score(
        scores, np.ones((7, 1), int), measures="MicroRecall", threshold=threshold
    )

    assert score.value == (scores > threshold).float().mean()
