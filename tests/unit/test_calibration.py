"""Calibrated thresholds: found on pairs and by contrast, saved, and used by scores."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.semantic import cosine
from oracles.thresholds import area, decisions, pairs_at
from refusals import codes, refused
from tiny import Tiny

import semmetrics
from semmetrics import InputError, calibrate_threshold, calibrate_threshold_on_pairs

VECTORS = {
    "car": [4, 0, 0],
    "auto": [4, 1, 0],
    "bike": [0, 4, 0],
    "cycle": [1, 4, 0],
    "tree": [0, 0, 4],
    "oak": [0, 1, 3],
    "sky": [2, 2, 2],
    "cat": [-1, 2, 4],
    "dog": [-1, 3, 3],
    "sea": [3, -1, 2],
}
MODEL = Tiny(VECTORS)
TRIPLES = [
    ("car", "auto", True),
    ("bike", "cycle", True),
    ("tree", "oak", True),
    ("car", "car", True),
    ("car", "tree", False),
    ("cat", "dog", False),
    ("sky", "sea", False),
    ("car", "bike", False),
]
NAMES = list(VECTORS)


def cosines(pairs, vectors=VECTORS):
    return [1.0 if a == b else cosine(vectors[a], vectors[b]) for a, b, _ in pairs]


# ---- pairs ------------------------------------------------------------------------------------

TRIPLE = st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES), st.booleans())


@given(
    st.lists(TRIPLE, min_size=2, max_size=25),
    st.sampled_from(["f1", "youden", "accuracy"]),
)
def test_pairs_against_the_oracle(pairs, criterion):
    same = [answer for _, _, answer in pairs]
    known = cosines(pairs)
    if len(set(same)) < 2 or len(set(known)) < 2:
        with pytest.raises(InputError):
            calibrate_threshold_on_pairs(pairs, MODEL, criterion=criterion)
        return
    found = calibrate_threshold_on_pairs(pairs, MODEL, criterion=criterion)
    assert (found.method, found.criterion, found.unit) == ("pairs", criterion, "pair")
    assert (found.n, found.embedding, found.holdout) == (
        len(pairs),
        MODEL.identity,
        None,
    )
    assert found.auc == pytest.approx(area(known, same), abs=1e-12)
    thresholds = found.curve["threshold"]
    assert thresholds == pytest.approx(decisions(known), abs=1e-9)
    rows = [pairs_at(known, same, threshold) for threshold in thresholds]
    for name in ("precision", "recall", "f1", "accuracy", "youden"):
        assert found.curve[name] == pytest.approx(
            [row[name] for row in rows], nan_ok=True
        )
    values = found.curve[criterion]
    assert found.value == max(values)
    assert found.threshold == max(
        t for t, value in zip(thresholds, values, strict=True) if value == max(values)
    )


@pytest.mark.parametrize(
    ("name", "text", "code", "where"),
    [
        ("p.json", '[["car", "auto", null]]', "wrong-content", ", element [0]"),
        ("p.jsonl", '"car"\n', "wrong-type", ", line 1"),
        ("p.parquet", "x", None, ""),
        ("p.dat", "x", None, ""),
    ],
)
def test_bad_files_of_pairs(tmp_path, name, text, code, where):
    Path(tmp_path, name).write_text(text, encoding="utf-8")
    with refused(code, f"{tmp_path / name}{where}"):
        calibrate_threshold_on_pairs(tmp_path / name, MODEL)


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        (TRIPLES[4:], {}, "pairs-of-one-kind"),
        ([("car", "car", 1), ("bike", "bike", 0)], {}, "equal-pairs"),
        (3, {}, "wrong-type"),
    ],
)
def test_bad_pairs(pairs, options, message):
    with refused(message):
        calibrate_threshold_on_pairs(pairs, MODEL, **options)


# ---- contrast ---------------------------------------------------------------------------------


def lists(n, seed, size=4):
    rng = np.random.default_rng(seed)
    return {
        f"i{i}": [
            NAMES[j]
            for j in rng.choice(len(NAMES), rng.integers(1, size), replace=False)
        ]
        for i in range(n)
    }


GTS = lists(80, 1)
PREDS = {
    name: [{"car": "auto", "bike": "cycle", "tree": "oak"}.get(x, x) for x in some]
    for name, some in GTS.items()
}


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
def test_bad_options(options, code):
    with refused(code):
        calibrate_threshold(PREDS, GTS, embedding=MODEL, **options)


# ---- files ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def calibration():
    return calibrate_threshold(PREDS, GTS, embedding=MODEL, holdout=0.5)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path, calibration):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        text = pool.submit(pipe.read_text)
        calibration.save(pipe)
        assert text.result() == calibration.to_json() + "\n"
    assert pipe.is_fifo()


def test_a_failed_save_leaves_nothing(tmp_path, calibration):
    with refused("unwritable"):
        calibration.save(tmp_path / "none" / "c.json")
    Path(tmp_path, "folder").mkdir()
    with refused("unwritable"):
        calibration.save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize(
    "change",
    [
        lambda e: [e],
        lambda e: {**e, "schema": "semmetrics.score/1"},
        lambda e: {k: v for k, v in e.items() if k != "oov"},
        lambda e: {**e, "threshold": "0.5"},
        lambda e: {**e, "threshold": True},
        lambda e: {**e, "curve": {"threshold": [0.1]}},
        lambda e: {**e, "curve": {"threshold": 0.1}},
        lambda e: {**e, "curve": {"threshold": [e["threshold"]]}},
        lambda e: {**e, "method": "guess"},
        lambda e: {**e, "items": "not base64!"},
        lambda e: {**e, "settings": {"norm": ["lower"]}},
    ],
)
def test_files_that_are_none(tmp_path, calibration, change):
    path = tmp_path / "c.json"
    path.write_text(json.dumps(change(calibration.to_dict())), encoding="utf-8")
    with refused("not-a-calibration", str(path)):
        semmetrics.score(PREDS, GTS, embedding=MODEL, calibration=path)


# ---- use --------------------------------------------------------------------------------------


def test_positions_are_not_known_again():
    sides = list(PREDS.values()), list(GTS.values())
    found = calibrate_threshold(*sides, embedding=MODEL, holdout=1)
    assert found.items == ""
    assert notes(*sides, found) == ["calibration-items-unknown"]


def test_other_notes(calibration):
    assert notes(PREDS, GTS, calibration, measures="F1")[1:] == ["unused-calibration"]
    assert "other-calibration" in notes(PREDS, GTS, calibration, oov="skip")


def notes(preds, gts, calibration, measures="SemF1", **options):
    return codes(
        semmetrics.score(
            preds,
            gts,
            measures=measures,
            embedding=MODEL,
            calibration=calibration,
            **options,
        )
    )


# ---- the best score threshold of a semantic measure -------------------------------------------


@pytest.mark.parametrize("measure", ["WMD", "SoftF1", "MeanSim", "BagSim", "RWMD"])
def test_measures_without_a_best_score_threshold(measure):
    scored = {name: [(x, 0.5) for x in some] for name, some in PREDS.items()}
    with refused("no-best-threshold"):
        semmetrics.score(
            scored, GTS, measures=f"{measure}(decode=threshold:best)", embedding=MODEL
        )
