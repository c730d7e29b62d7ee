"""Calibrated thresholds: found on pairs of labels, saved, and used by scores."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.semantic import cosine
from oracles.thresholds import area, decisions, pairs_at
from refusals import codes, refused
from tiny import Tiny

import semmetrics
from semmetrics import calibrate_threshold, calibrate_threshold_on_pairs

VECTORS = {
    "car": [4, 0, 0],
    "auto": [4, 1, 0],
    "bike": [0, 4, 0],
    "cycle": [1, 4, 0],
    "tree": [0, 0, 4],
    "oak": [0, 1, 3],
    "sky": [2, 2, 2],
    "cat": [-1, 2, 4],
    "sea": [3, -1, 2],
}
MODEL = Tiny(VECTORS)
WORD = st.sampled_from(list(VECTORS))
PAIRS = st.lists(st.tuples(WORD, WORD, st.booleans()), min_size=2, max_size=25)


def similarity(first, second):
    return 1.0 if first == second else cosine(VECTORS[first], VECTORS[second])


@given(PAIRS, st.sampled_from(["f1", "youden", "accuracy"]))
def test_the_threshold_is_the_highest_of_the_best_on_the_curve(pairs, criterion):
    cosines = [similarity(first, second) for first, second, _ in pairs]
    same = [is_same for _, _, is_same in pairs]
    assume(len(set(same)) == 2)
    assume(len(set(cosines)) > 1)

    calibration = calibrate_threshold_on_pairs(pairs, MODEL, criterion=criterion)

    assert calibration.auc == pytest.approx(area(cosines, same), abs=1e-12)
    thresholds = calibration.curve["threshold"]
    assert thresholds == pytest.approx(decisions(cosines), abs=1e-9)
    rows = [pairs_at(cosines, same, threshold) for threshold in thresholds]
    for name in ("precision", "recall", "f1", "accuracy", "youden"):
        expected = [row[name] for row in rows]
        assert calibration.curve[name] == pytest.approx(expected, nan_ok=True)
    points = zip(calibration.curve[criterion], thresholds, strict=True)
    assert (calibration.value, calibration.threshold) == max(points)


@pytest.mark.parametrize(
    ("pairs", "code"),
    [
        ([("car", "tree", False), ("cat", "sea", False)], "pairs-of-one-kind"),
        ([("car", "car", 1), ("bike", "bike", 0)], "equal-pairs"),
        (3, "wrong-type"),
    ],
)
def test_pairs_that_decide_no_threshold_raise_an_error(pairs, code):
    with refused(code):
        calibrate_threshold_on_pairs(pairs, MODEL)


@pytest.mark.parametrize(
    ("name", "text", "code", "place"),
    [
        ("p.json", '[["car", "auto", null]]', "wrong-content", "element [0]"),
        ("p.jsonl", '"car"\n', "wrong-type", "line 1"),
    ],
)
def test_invalid_files_of_pairs_raise_an_error(tmp_path, name, text, code, place):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")

    with refused(code, place=place):
        calibrate_threshold_on_pairs(path, MODEL)


# ---- calibration on predictions -----------------------------------------------------------------


def random_labels(n=80):
    rng = np.random.default_rng(1)
    labels = {}
    for i in range(n):
        labels[f"i{i}"] = rng.permutation(list(VECTORS))[: rng.integers(1, 4)].tolist()
    return labels


SYNONYMS = {"car": "auto", "bike": "cycle", "tree": "oak"}
GTS = random_labels()
PREDS = {}
for item, labels in GTS.items():
    PREDS[item] = [SYNONYMS.get(label, label) for label in labels]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"holdout": 1e-9}, "small-holdout"),
        ({"seed": -1}, "bad-option"),
        ({"measure": "SemF1(threshold=0.3)"}, "not-applicable"),
        ({"top_k": np.array([3, 5])}, "not-applicable"),
        ({"calibration": "x.json"}, "not-applicable"),
        ({"keep_rows": True}, "not-applicable"),
    ],
)
def test_invalid_options_raise_an_error(options, code):
    with refused(code):
        calibrate_threshold(PREDS, GTS, embedding=MODEL, **options)


@pytest.fixture(scope="module")
def calibration():
    return calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=0.5)


def notes_of_score(calibration, preds=PREDS, gts=GTS, measures="SemF1", **options):
    options |= {"embedding": MODEL, "calibration": calibration}
    return codes(semmetrics.score(preds, gts, measures=measures, **options))


def test_items_without_ids_cannot_be_recognised_as_calibration_items():
    preds = list(PREDS.values())
    gts = list(GTS.values())

    calibration = calibrate_threshold(preds, gts, embedding=MODEL, holdout=1)

    notes = notes_of_score(calibration, preds, gts)
    assert notes == ["calibration-items-unknown"]


def test_calibrations_that_do_not_fit_the_score_are_noted(calibration):
    assert "unused-calibration" in notes_of_score(calibration, measures="F1")
    assert "other-calibration" in notes_of_score(calibration, oov="skip")


# ---- files --------------------------------------------------------------------------------------


def test_calibrations_are_saved_to_pipes(tmp_path, calibration):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(pipe.read_text)
        calibration.save(pipe)

    assert text.result() == calibration.to_json() + "\n"
    assert pipe.is_fifo()


def test_a_failed_save_leaves_no_file(tmp_path, calibration):
    folder = tmp_path / "folder"
    folder.mkdir()

    for path in (tmp_path / "none" / "c.json", folder):
        with refused("unwritable"):
            calibration.save(path)

    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "semmetrics.score/1"},
        {"oov": None},
        {"threshold": "0.5"},
        {"threshold": True},
        {"curve": {"threshold": [0.1]}},
        {"curve": {"threshold": 0.1}},
        {"method": "guess"},
        {"items": "not base64!"},
        {"settings": {"norm": ["lower"]}},
    ],
)
def test_files_that_are_no_calibration_raise_an_error(tmp_path, calibration, change):
    path = tmp_path / "c.json"
    entry = {**calibration.to_dict(), **change}
    path.write_text(json.dumps(entry), encoding="utf-8")

    with refused("not-a-calibration", str(path)):
        notes_of_score(path)


@pytest.mark.parametrize("measure", ["WMD", "SoftF1", "MeanSim", "BagSim", "RWMD"])
def test_measures_of_all_labels_have_no_best_threshold(measure):
    preds = {"x": [("car", 0.5)]}

    with refused("no-best-threshold"):
        semmetrics.score(
            preds,
            {"x": ["auto"]},
            measures=f"{measure}(decode=threshold:best)",
            embedding=MODEL,
        )
