"""Logits: the warning under a threshold of probabilities, activations, and low precision."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import semmetrics
from semmetrics.cli.app import program
from semmetrics.core.backend import round_to
from semmetrics.metrics.decoding import decode
from tests.refusals import codes, refused

TRUTH = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]])
LOGITS = np.array(
    [[2.5, -1.0, 0.3], [-3.0, 1.5, 0.2], [0.1, 4.0, -0.5], [-2.0, 0.4, -0.1]]
)
PROBABILITIES = 1 / (1 + np.exp(-LOGITS))


def warned(function, *args, **options):
    """Return a result and the warnings that it came with."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = function(*args, **options)
    return result, found


def test_logits_under_a_threshold_of_probabilities_warn_once():
    _, found = warned(
        semmetrics.score, LOGITS, TRUTH, measures=["F1", "Recall"], threshold=0.5
    )
    (one,) = found
    assert one.category is semmetrics.InputWarning
    assert one.filename == __file__
    assert "activation='sigmoid'" in str(one.message)
    options = {"measures": "F1", "threshold": [0.3, 0.5]}
    _, found = warned(
        semmetrics.score_systems, {"a": LOGITS, "b": LOGITS}, TRUTH, **options
    )
    assert len(found) == 1


@pytest.mark.parametrize("keep_rows", [True, False])
def test_a_scorer_warns_once(keep_rows):
    def run():
        scorer = semmetrics.Scorer(measures="F1", threshold=0.5, keep_rows=keep_rows)
        for _ in range(2):
            for row in range(len(TRUTH)):
                scorer.update(LOGITS[row : row + 1], TRUTH[row : row + 1])
            scorer.compute()
            scorer.reset()

    assert len(warned(run)[1]) == 1


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
def test_other_scores_do_not_warn(scores, options):
    assert not warned(semmetrics.score, scores, TRUTH, **options)[1]


@pytest.mark.parametrize("keep_rows", [True, False])
def test_sigmoid_is_computed_before_labels_are_decoded(keep_rows):
    want = semmetrics.score(
        PROBABILITIES, TRUTH, measures=["F1", "MicroF1"], threshold=0.5
    )
    options = {"measures": ["F1", "MicroF1"], "threshold": 0.5, "activation": "sigmoid"}
    got = semmetrics.score(LOGITS, TRUTH, **options)
    assert [one.value for one in got] == [one.value for one in want]
    assert all("|activation:sigmoid|" in one.signature for one in got)
    again = semmetrics.rescore(got[0].signature, LOGITS, TRUTH)
    assert again[0].value == got[0].value
    assert again.differences == []
    scorer = semmetrics.Scorer(keep_rows=keep_rows, **options)
    for row in range(len(TRUTH)):
        scorer.update(LOGITS[row : row + 1], TRUTH[row : row + 1])
    assert [one.value for one in scorer.compute()] == [one.value for one in want]


SHARES = np.exp(LOGITS) / np.exp(LOGITS).sum(1, keepdims=True)
IN_RANGE = [("sigmoid", PROBABILITIES), ("sigmoid", SHARES), ("softmax", SHARES)]
LOGITS_IN_PART = np.where(LOGITS > 3, LOGITS, PROBABILITIES)  # one is outside [0, 1]


def test_the_command_line_notes_an_activation_of_probabilities(tmp_path):
    pred, truth = tmp_path / "pred.jsonl", tmp_path / "gt.jsonl"
    frame = pd.DataFrame(PROBABILITIES, columns=["a", "b", "c"])
    lines = [{"id": str(n), "labels": list(row.items())} for n, row in frame.iterrows()]
    pd.DataFrame(lines).to_json(pred, orient="records", lines=True)
    pd.DataFrame({"id": list("0123"), "labels": [["a"]] * 4}).to_json(
        truth, orient="records", lines=True
    )
    for extra in ([], ["--stream"]):
        args = [
            "score",
            "-m",
            "F1",
            "--threshold",
            "0.5",
            "--activation",
            "sigmoid",
            *extra,
        ]
        done = CliRunner().invoke(program, [*args, str(pred), str(truth)])
        assert done.exit_code == 0, done.output
        assert done.output.count("may already be probabilities") == 1
        assert "leave out --activation" in done.output


@pytest.mark.parametrize(("activation", "scores"), IN_RANGE)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_an_activation_of_probabilities_warns(activation, scores, dtype):
    options = {
        "measures": ["F1", "MicroF1"],
        "threshold": 0.5,
        "activation": activation,
    }
    scores = scores.astype(dtype)
    table, found = warned(semmetrics.score, scores, TRUTH, **options)
    assert [one.category for one in found] == [semmetrics.InputWarning]
    assert codes(table).count("activated-probabilities") == 1

    def run(keep_rows):
        scorer = semmetrics.Scorer(keep_rows=keep_rows, **options)
        for row in range(len(TRUTH)):
            scorer.update(scores[row : row + 1], TRUTH[row : row + 1])
        scorer.compute()
        return scorer.compute()

    for keep_rows in (True, False):
        again, found = warned(run, keep_rows)
        assert [one.category for one in found] == [semmetrics.InputWarning]
        assert codes(again) == codes(table)


@pytest.mark.parametrize("keep_rows", [True, False])
@pytest.mark.parametrize(
    ("activation", "scores"),
    [
        ("sigmoid", LOGITS),
        ("sigmoid", LOGITS_IN_PART),
        ("softmax", LOGITS),
        ("softmax", LOGITS_IN_PART),
        ("softmax", PROBABILITIES),
        ("softmax", np.vstack([SHARES[:3], LOGITS[3:]])),
        ("softmax", np.vstack([SHARES[:3], 2 * SHARES[3:]])),
    ],
)
def test_an_activation_of_logits_does_not_warn(activation, scores, keep_rows):
    options = {"measures": "F1", "threshold": 0.5, "activation": activation}
    table, found = warned(semmetrics.score, scores, TRUTH, **options)
    assert not found
    assert "activated-probabilities" not in codes(table)
    scorer = semmetrics.Scorer(keep_rows=keep_rows, **options)
    for row in range(len(TRUTH)):  # the scores of some batches are all in [0, 1]
        scorer.update(scores[row : row + 1], TRUTH[row : row + 1])
    again, found = warned(scorer.compute)
    assert not found
    assert codes(again) == codes(table)


def test_softmax_is_over_the_scores_of_an_item():
    powers = np.exp(LOGITS)
    want = semmetrics.score(
        powers / powers.sum(1, keepdims=True), TRUTH, measures=["mAP", "LRAP"]
    )
    got = semmetrics.score(
        LOGITS, TRUTH, measures=["mAP", "LRAP"], activation="softmax"
    )
    assert [one.value for one in got] == pytest.approx([one.value for one in want])
    lists = {"a": {"cat": 800.0, "dog": 800.0}, "b": {"cat": -5.0}}
    (got,) = semmetrics.score(
        lists,
        {"a": ["cat"], "b": ["cat"]},
        measures="Recall",
        threshold=0.6,
        activation="softmax",
    )
    assert got.value == 0.5


def test_an_activation_of_lists_changes_nothing():
    (got,) = semmetrics.score([["a"]], [["a"]], measures="F1", activation="sigmoid")
    assert "activation" not in got.signature
    with refused("bad-choice", name="activation"):
        semmetrics.score(LOGITS, TRUTH, measures="F1", activation="relu")


def test_the_command_line_says_it_once(tmp_path):
    pred, truth = tmp_path / "pred.csv", tmp_path / "gt.csv"
    pd.DataFrame(LOGITS, columns=["a", "b", "c"]).rename_axis("id").to_csv(pred)
    pd.DataFrame(TRUTH, columns=["a", "b", "c"]).rename_axis("id").to_csv(truth)
    long = pd.DataFrame(LOGITS, columns=["a", "b", "c"]).rename_axis("id")
    long = long.reset_index().melt("id", var_name="label", value_name="score")
    long.to_csv(pred, index=False)
    args = ["score", "-m", "F1", "--threshold", "0.5", str(pred), str(truth)]
    done = CliRunner().invoke(program, args)
    assert done.exit_code == 0
    assert done.output.count("are not probabilities") == 1
    assert "--activation sigmoid" in done.output
    done = CliRunner().invoke(
        program, [*args[:-2], "--activation", "sigmoid", *args[-2:]]
    )
    assert "not probabilities" not in done.output


LOW = [0.1, 0.2, 0.3, 0.55, 0.65, 0.7, 0.9]


@pytest.mark.parametrize("threshold", LOW)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_threshold_is_compared_in_the_precision_of_the_scores(dtype, threshold):
    scores = np.random.default_rng(0).choice(LOW, (9, 4)).astype(dtype)
    truth = np.random.default_rng(1).integers(0, 2, (9, 4))
    rules = {"threshold": scores > threshold, "at-least": scores >= threshold}
    for rule, chosen in rules.items():
        (want,) = semmetrics.score(chosen.astype(int), truth, measures="MicroF1")
        measure = f"MicroF1(decode={rule}:{threshold})"
        (got,) = semmetrics.score(scores, truth, measures=measure)
        assert got.value == want.value
        scorer = semmetrics.Scorer(measures=measure, keep_rows=False)
        for row in range(len(truth)):
            scorer.update(scores[row : row + 1], truth[row : row + 1])
        assert scorer.compute()[0].value == want.value
    assert (decode(scores, threshold=threshold) == (scores > threshold)).all()


@pytest.mark.parametrize(
    "suffix",
    ["npy", "wide.parquet", "rows.parquet", "objects.parquet", "lists.parquet"],
)
def test_files_have_the_precision_of_their_columns(tmp_path, suffix):
    import pyarrow as pa
    from pyarrow import parquet

    scores = np.array([[0.3, 0.2, 0.7], [0.1, 0.3, 0.31]], np.float32)
    names, path = ["a", "b", "c"], tmp_path / f"pred.{suffix}"
    truth = {"x": ["a", "b"], "y": ["b"]}
    wide = pd.DataFrame(scores, ["x", "y"], names).rename_axis("id").reset_index()
    if suffix == "npy":
        np.save(path, scores)
        truth = np.array([[1, 1, 0], [0, 1, 0]])
    elif suffix == "wide.parquet":
        wide.to_parquet(path)
    elif suffix == "rows.parquet":
        wide.melt("id", var_name="label", value_name="score").to_parquet(path)
    elif suffix == "objects.parquet":
        kind = pa.struct({"label": pa.string(), "confidence": pa.float32()})
        objects = [
            [
                {"label": name, "confidence": score}
                for name, score in zip(names, row, strict=True)
            ]
            for row in scores.tolist()
        ]
        columns = {"id": ["x", "y"], "labels": pa.array(objects, pa.list_(kind))}
        parquet.write_table(pa.table(columns), path)
    else:
        cells = pa.array(scores.tolist(), pa.list_(pa.float32()))
        parquet.write_table(
            pa.table({"id": ["x", "y"], "labels": [names] * 2, "scores": cells}), path
        )
    (got,) = semmetrics.score(
        path, truth, measures="MicroPrecision(decode=threshold:0.3)"
    )
    assert got.value == 0  # neither is above np.float32(0.3)
    (got,) = semmetrics.score(
        path, truth, measures="MicroPrecision(decode=at-least:0.3)"
    )
    assert got.value == 0.5  # a of x and b of y, of four


def test_scalars_of_numpy_have_their_precision():
    preds = {"x": {"a": np.float32(0.3)}}
    for value, want in ((np.float32(0.3), 0), (float(np.float32(0.3)), 1)):
        preds = {"x": {"a": value}}
        (got,) = semmetrics.score(
            preds, {"x": ["a"]}, measures="Recall(decode=threshold:0.3)"
        )
        assert got.value == want


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("lowest", [0.1, -0.5, -3000.0])
def test_the_best_threshold_can_keep_every_label(dtype, lowest):
    scores = np.array([[lowest, 0.2], [0.3, lowest]]).astype(dtype)
    (got,) = semmetrics.score(
        scores, np.ones((2, 2), int), measures="F1", threshold="best"
    )
    assert got.value == 1


@pytest.mark.parametrize("lowest", [-1.0, -256.0, -512.0, -3000.0])
def test_the_best_threshold_of_bfloat16_can_keep_every_label(lowest):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores = torch.tensor([[lowest, 0.2], [0.3, lowest]]).bfloat16()
    (got,) = semmetrics.score(
        scores, np.ones((2, 2), int), measures="F1", threshold="best"
    )
    assert got.value == 1


@pytest.mark.parametrize("value", [0.3, 0.1, 1.0, 1 + 2**-8, 1 + 3 * 2**-9, -0.7, 1e30])
def test_bfloat16_is_what_torch_has(value):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    assert (
        round_to(value, "bfloat16") == torch.tensor(value, dtype=torch.bfloat16).item()
    )


def test_tensors_of_bfloat16_are_compared_as_torch_does():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    scores = torch.tensor(LOW).reshape(7, 1).bfloat16()
    for threshold in LOW:
        chosen = (scores > threshold).numpy().astype(int)
        truth = np.ones((7, 1), int)
        (want,) = semmetrics.score(chosen, truth, measures="MicroRecall")
        (got,) = semmetrics.score(
            scores, truth, measures="MicroRecall", threshold=threshold
        )
        assert got.value == want.value
